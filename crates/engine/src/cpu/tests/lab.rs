//! A test engine with device words in which ops can meet, to observe what runs concurrently.

use super::*;
use crate::buffer_kernels::{MEET, SPIN};
use crate::kernels::Launch;
use crate::{
    Argument, BufferKernel, BufferLaunch, BufferOffset, HostMemory, IssuerId, Priority, StreamKind,
};

/// Timeout for what must happen.
pub(super) const LONG: Duration = Duration::from_secs(120);

/// Time to wait to see that something does not happen.
pub(super) const SHORT: Duration = Duration::from_millis(40);

/// An engine with two buffers of equal size, one on the device and one on the host.
pub(super) struct Lab {
    pub(super) engine: CpuEngine,
    pub(super) device: BufferId,
    pub(super) host: BufferId,
    words: usize,
    plain: StreamId,
}

impl Lab {
    pub(super) fn new(workers: usize) -> Lab {
        let words = 64;
        let mut engine = CpuEngine::new(NonZeroUsize::new(workers).unwrap());
        let mut buffer = |place| engine.create_buffer(DeviceId(0), 4 * words, place).unwrap();
        let device = buffer(BufferLocation::Device);
        let host = buffer(BufferLocation::Host(HostMemory::Pinned));
        let plain = engine.create_stream(DeviceId(0), StreamSpec::PLAIN);
        Lab {
            plain: plain.unwrap(),
            engine,
            device,
            host,
            words,
        }
    }

    pub(super) fn stream(&mut self, device: DeviceId, kind: StreamKind) -> StreamId {
        let priority = Priority::Normal;
        let spec = StreamSpec { kind, priority };
        self.engine.create_stream(device, spec).unwrap()
    }

    pub(super) fn streams(&mut self, count: usize) -> Vec<StreamId> {
        let stream = |_| self.stream(DeviceId(0), StreamKind::NonBlocking);
        (0..count).map(stream).collect()
    }

    /// A word of the device buffer, as an argument.
    pub(super) fn word(&self, word: usize) -> Argument {
        Argument::Buffer(BufferOffset {
            buffer: self.device,
            offset: 4 * word,
        })
    }

    /// An op that counts up word 0 and waits until `wanted` ops have done so; word `place` then
    /// says whether they did.
    pub(super) fn meet(&self, place: usize, wanted: u32, timeout: Duration) -> Op {
        let timeout = Argument::U64(timeout.as_nanos() as u64);
        let wanted = Argument::U32(wanted);
        call(&MEET, [self.word(0), wanted, timeout, self.word(place)])
    }

    /// An op that takes this long.
    pub(super) fn spin(&self, length: Duration) -> Op {
        let length = Argument::U64(length.as_nanos() as u64);
        call(&SPIN, [self.word(self.words - 1), length])
    }

    /// An op that is done immediately, in any context.
    pub(super) fn nothing(&self) -> Op {
        LatticeOp::Pack.on(0..0)
    }

    /// Runs a program to completion.
    pub(super) fn run(&mut self, program: &Program) -> Ran {
        self.engine.submit(program).unwrap();
        self.finish()
    }

    /// Waits for the only run.
    pub(super) fn finish(&mut self) -> Ran {
        self.engine.synchronize().unwrap();
        let mut completions = Vec::new();
        self.engine.poll(&mut completions).unwrap();
        let Some(Completion::Finished { spans, host, .. }) = completions.pop() else {
            panic!("the run has finished")
        };
        Ran { spans, host }
    }

    /// Returns the words of the device buffer and zeroes them.
    pub(super) fn take(&mut self) -> Vec<u32> {
        let bytes = 4 * self.words;
        let (device, host) = (self.device, self.host);
        let copy = |from, to| {
            Op::Buffers(BufferOp::Copy {
                from: start(from),
                to: start(to),
                bytes,
            })
        };
        let plain = self.plain;
        self.run(&program([(plain, copy(device, host))]));
        let mut words = Vec::new();
        let mut take = |all: &mut [u32]| {
            words = all.to_vec();
            all.fill(0);
        };
        self.engine.access(host, &mut take).unwrap();
        self.run(&program([(plain, copy(host, device))]));
        words
    }
}

/// The result of a run.
pub(super) struct Ran {
    pub(super) spans: Vec<Span>,
    pub(super) host: Vec<Span>,
}

impl Ran {
    /// The span of a step.
    pub(super) fn span(&self, step: u32) -> Span {
        let span = self.spans.iter().find(|span| span.step == step);
        *span.expect("the step has a span")
    }
}

pub(super) fn start(buffer: BufferId) -> BufferOffset {
    let offset = 0;
    BufferOffset { buffer, offset }
}

pub(super) fn call<const N: usize>(kernel: &'static BufferKernel, arguments: [Argument; N]) -> Op {
    BufferOp::Launch(BufferLaunch {
        kernel,
        shape: Launch::in_row(1, 32),
        arguments: arguments.into(),
    })
    .into()
}

/// A program of steps by several issuers.
pub(super) fn issued(steps: impl IntoIterator<Item = (u8, StreamId, Op)>) -> Program {
    let mut program = program([]);
    for (issuer, stream, op) in steps {
        program.push_from(IssuerId(issuer), stream, op);
    }
    program
}

/// Whether no two of these spans overlap.
pub(super) fn apart(mut spans: Vec<Span>) -> bool {
    spans.sort_by_key(|span| span.start);
    spans.windows(2).all(|pair| pair[0].end <= pair[1].start)
}
