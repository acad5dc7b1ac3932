//! A GPU as a machine for kernels. The engine's context is this process's own, which ends when a kernel has
//! spoilt it.

use crate::check::{Contents, Device, POISON, Value};
use crate::declarations::OwnKernel;
use crate::fault::{CompilerError, Fault};
use engine::buffer_kernels::ArgumentType;
use engine::cuda::{CudaEngine, Ordinals};
use engine::kernels::{GpuCode, Launch};
use engine::{
    Argument, BufferKernel, BufferLaunch, BufferLocation, BufferOffset, BufferOp, DeviceId,
    DriverFault, Engine, EngineError, HostMemory, Loss, Occupancy, Op, Program, StreamId,
    StreamSpec,
};
use std::time::{Duration, Instant};

const DEVICE: DeviceId = DeviceId(0);

/// Guard words on each side of a buffer: more than a row of most lattices, since rows are what kernels miss.
const GUARD: usize = 16 << 10;

/// A GPU, and the kernel that was loaded last.
pub(crate) struct Gpu {
    engine: CudaEngine,
    stream: StreamId,
    kernel: Option<&'static BufferKernel>,
    /// How long a launch may take.
    limit: Duration,
}

impl Gpu {
    /// Opens the GPU of this number.
    pub(crate) fn open(ordinal: u32) -> engine::Result<Gpu> {
        let mut engine = CudaEngine::open(Ordinals::One(ordinal))?;
        let stream = engine.create_stream(DEVICE, StreamSpec::PLAIN)?;
        Ok(Gpu {
            engine,
            stream,
            kernel: None,
            limit: Duration::ZERO,
        })
    }

    /// Its compute capability, which code for it must suit.
    pub(crate) fn capability(&self) -> Option<(u32, u32)> {
        self.engine.devices()[0].capability
    }

    /// Takes a kernel's code, which is never unloaded.
    pub(crate) fn load(
        &mut self,
        own: &OwnKernel,
        code: GpuCode,
        limit: Duration,
    ) -> Result<(), Fault> {
        let symbol = own.symbol();
        if let GpuCode::Ptx(text) = &code {
            let taken = parameter_sizes(text, symbol).ok_or(Fault::NoSymbol {
                symbol: symbol.into(),
            })?;
            own.check_parameters(taken)?;
        }
        let parameter = |bytes| match bytes {
            8 => ArgumentType::Buffer,
            _ => ArgumentType::U32,
        };
        let parameters = own.rung.parameters.iter();
        let parameters: Vec<ArgumentType> = parameters.map(|it| parameter(it.bytes())).collect();
        self.kernel = Some(Box::leak(Box::new(BufferKernel {
            name: symbol,
            parameters: parameters.leak(),
            own: own.kernel(Some(code), None).own.as_ref(),
        })));
        self.limit = limit;
        Ok(())
    }

    fn launching(&self, shape: Launch, arguments: Vec<Argument>) -> Op {
        let kernel = self.kernel.expect("a kernel was loaded");
        let launch = BufferLaunch {
            kernel,
            shape,
            arguments,
        };
        BufferOp::Launch(launch).into()
    }

    /// What the driver says of the kernel in such a launch.
    pub(crate) fn facts(&mut self, shape: Launch) -> Result<Option<Occupancy>, Fault> {
        let op = self.launching(shape, Vec::new());
        self.engine.occupancy(DEVICE, &op).map_err(fault)
    }

    /// Waits for what was submitted, as long as a launch may take.
    fn wait(&mut self) -> Result<(), Fault> {
        let (began, mut completed) = (Instant::now(), Vec::new());
        loop {
            self.engine.poll(&mut completed).map_err(fault)?;
            if !completed.is_empty() {
                return Ok(());
            }
            if began.elapsed() > self.limit {
                return Err(Fault::TooLong {
                    seconds: self.limit.as_secs() as u32,
                    thread: None,
                });
            }
            self.engine.wait(Duration::from_millis(1));
        }
    }
}

impl Device for Gpu {
    fn launch(
        &mut self,
        _: usize,
        shape: Launch,
        values: &[Value],
        input: &[u32],
        _: bool,
    ) -> Result<[Contents; 2], Fault> {
        // One behind the other, each between its guard words, and aligned as memory of its own is.
        let each = (input.len() + 2 * GUARD).next_multiple_of(64);
        let bytes = 4 * 2 * each;
        let mut create = |place| {
            self.engine
                .create_buffer(DEVICE, bytes, place)
                .map_err(fault)
        };
        let host = create(BufferLocation::Host(HostMemory::Pinned))?;
        let device = create(BufferLocation::Device)?;
        let fill = &mut |room: &mut [u32]| {
            room.fill(POISON);
            room[GUARD..][..input.len()].copy_from_slice(input);
        };
        self.engine.access(host, fill).map_err(fault)?;
        let at = |buffer, words| BufferOffset {
            buffer,
            offset: 4 * words,
        };
        let argument = |value: &Value| match *value {
            Value::Input => Argument::Buffer(at(device, GUARD)),
            Value::Output => Argument::Buffer(at(device, each + GUARD)),
            Value::Number(number) => Argument::U32(number),
        };
        let copy = |from, to| BufferOp::Copy {
            from: at(from, 0),
            to: at(to, 0),
            bytes,
        };
        let launch = self.launching(shape, values.iter().map(argument).collect());
        let steps = [copy(host, device).into(), launch, copy(device, host).into()];
        let program = Program::in_stream(self.stream, steps);
        self.engine.submit(&program).map_err(fault)?;
        // After a fault nothing is freed: that would wait for a launch that may have no end.
        self.wait()?;
        let mut both = None;
        let read = &mut |room: &mut [u32]| {
            let split = |room| Contents::split(room, GUARD, input.len());
            let (one, other) = room.split_at(each);
            both = Some([split(one), split(other)]);
        };
        self.engine.access(host, read).map_err(fault)?;
        self.engine.drop_buffers().map_err(fault)?;
        Ok(both.expect("the buffer was visited"))
    }

    fn sm_count(&self) -> u32 {
        self.engine.devices()[0].sm_count
    }

    fn runs(&self) -> usize {
        2
    }
}

/// What an error of the engine says of the kernel.
fn fault(error: EngineError) -> Fault {
    const ILLEGAL_ADDRESS: u32 = 700;
    const OUT_OF_MEMORY: u32 = 2;
    const UNKNOWN: u32 = 999;
    let (code, text) = match error {
        EngineError::ContextLost(Loss::Driver(DriverFault {
            code: ILLEGAL_ADDRESS,
            ..
        })) => {
            return Fault::OutOfBounds {
                thread: None,
                bytes: None,
            };
        }
        EngineError::OwnCodeRefused(why) => {
            let errors = vec![CompilerError {
                line: None,
                column: None,
                text: why.to_string(),
            }];
            return Fault::DoesNotCompile { errors, more: 0 };
        }
        EngineError::ContextLost(Loss::Driver(fault)) | EngineError::Driver(fault) => {
            (fault.code, fault.text.unwrap_or_default())
        }
        other if other.lacks_memory() => (OUT_OF_MEMORY, other.to_string()),
        other => (UNKNOWN, other.to_string()),
    };
    Fault::Driver { code, text }
}

/// The bytes of each parameter of a function, as PTX declares them; `None` if it does not.
fn parameter_sizes(ptx: &str, symbol: &str) -> Option<Vec<usize>> {
    let (_, rest) = ptx.split_once(&format!(".entry {symbol}("))?;
    let (list, _) = rest.split_once(')')?;
    let parameters = list.split(',').filter(|it| it.contains(".param"));
    let sizes = parameters.map(|parameter| {
        // The type follows the words that have a dot and no number behind their first letter.
        let number = |word: &str| word.strip_prefix('.')?.get(1..)?.parse().ok();
        let bits: usize = parameter.split_whitespace().rev().find_map(number)?;
        let elements = parameter.split_once('[');
        let elements = elements.and_then(|(_, rest)| rest.split(']').next()?.parse().ok());
        Some(bits / 8 * elements.unwrap_or(1))
    });
    sizes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rungs;
    use engine::kernels::Ptx;

    #[test]
    fn parameters_are_read_from_ptx() {
        for rung in rungs() {
            let text = &Ptx::find(rung.file).unwrap().text;
            let given: Vec<usize> = rung.parameters.iter().map(|it| it.bytes()).collect();
            let symbol = rung.entries[0];
            assert_eq!(parameter_sizes(text, symbol), Some(given), "{symbol}");
        }
        let structure = ".entry f(\n\t.param .align 8 .b8 f_param_0[24],\n\t.param .u64 .ptr .align 1 f_param_1\n)";
        assert_eq!(parameter_sizes(structure, "f"), Some(vec![24, 8]));
        assert_eq!(parameter_sizes(structure, "g"), None);
    }
}
