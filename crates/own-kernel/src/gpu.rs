//! A GPU as a machine for kernels, by the driver's functions: its context is this process's own, which
//! ends when a kernel has spoilt it.

use std::cell::Cell;
use std::ffi::{CString, c_void};
use std::ptr::{from_mut, null_mut};
use std::thread;
use std::time::{Duration, Instant};

use cust::sys::{
    self, CUdevice_attribute_enum as Attribute, CUfunction_attribute_enum as OfFunction,
};
use emulator::CompilerError;
use engine::kernels::{GpuCode, Launch};

use crate::compilers::Target;
use crate::device::{Argument, Buffer, Contents, Device, POISON};
use crate::fault::Fault;
use crate::{Facts, OwnKernel};

/// A call of the driver that failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DriverError {
    pub call: &'static str,
    pub code: u32,
}

/// Why a kernel was not loaded.
pub(crate) enum NotLoaded {
    /// It is wrong.
    Wrong(Fault),
    /// The GPU cannot be used.
    Driver(DriverError),
}

impl From<DriverError> for NotLoaded {
    fn from(error: DriverError) -> NotLoaded {
        NotLoaded::Driver(error)
    }
}

fn check(call: &'static str, result: sys::CUresult) -> Result<(), DriverError> {
    let code = match (result as u32, cuda_loader::last_unknown_code()) {
        (0, _) => return Ok(()),
        (999, known) if known != 0 => known,
        (code, _) => code,
    };
    Err(DriverError { call, code })
}

/// A GPU with this process's context, current on the thread that opened it.
#[derive(Debug)]
pub(crate) struct Gpu {
    device: sys::CUdevice,
    /// Recorded behind each launch.
    launched: sys::CUevent,
}

/// What code for the GPU of this number must suit; `None` if it cannot be used.
pub fn gpu_target(ordinal: u32) -> Option<Target> {
    Gpu::open(ordinal).and_then(|gpu| gpu.target()).ok()
}

impl Gpu {
    /// Opens the GPU of this number.
    pub(crate) fn open(ordinal: u32) -> Result<Gpu, DriverError> {
        const NO_DRIVER: u32 = 303;
        const DISABLE_TIMING: u32 = 2;
        cuda_loader::open().map_err(|_| DriverError {
            call: "dlopen",
            code: NO_DRIVER,
        })?;
        let (mut device, mut context, mut launched) = (0, null_mut(), null_mut());
        // SAFETY: every address is valid for the write of what the function gives.
        unsafe {
            check("cuInit", sys::cuInit(0))?;
            check("cuDeviceGet", sys::cuDeviceGet(&mut device, ordinal as i32))?;
            check(
                "cuDevicePrimaryCtxRetain",
                sys::cuDevicePrimaryCtxRetain(&mut context, device),
            )?;
            check("cuCtxSetCurrent", sys::cuCtxSetCurrent(context))?;
            check(
                "cuEventCreate",
                sys::cuEventCreate(&mut launched, DISABLE_TIMING),
            )?;
        }
        Ok(Gpu { device, launched })
    }

    /// What code for it must suit.
    pub(crate) fn target(&self) -> Result<Target, DriverError> {
        let major = self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let mut driver = 0;
        // SAFETY: the address is valid for the write.
        let result = unsafe { sys::cuDriverGetVersion(&mut driver) };
        check("cuDriverGetVersion", result)?;
        let driver = driver as u32;
        Ok(Target {
            capability: (major, minor),
            driver: (driver / 1000, driver % 1000 / 10),
        })
    }

    fn attribute(&self, which: Attribute) -> Result<u32, DriverError> {
        let mut value = 0;
        // SAFETY: the address is valid for the write.
        let result = unsafe { sys::cuDeviceGetAttribute(&mut value, which, self.device) };
        check("cuDeviceGetAttribute", result)?;
        Ok(value as u32)
    }

    /// Loads a kernel's code.
    pub(crate) fn load(
        &self,
        own: &OwnKernel,
        code: &GpuCode,
        limit: Duration,
    ) -> Result<GpuKernel<'_>, NotLoaded> {
        if let GpuCode::Ptx(text) = code
            && let Some(taken) = parameter_sizes(text, own.symbol())
        {
            own.check_parameters(taken).map_err(NotLoaded::Wrong)?;
        }
        let module = load_module(code)?;
        let mut kernel = GpuKernel {
            gpu: self,
            module,
            function: null_mut(),
            sm_count: self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            limit,
            largest: Cell::new(None),
        };
        let symbol = CString::new(own.symbol()).expect("a symbol has no 0");
        // SAFETY: the module is loaded, the address valid for the write, and the name ends with 0.
        let found =
            unsafe { sys::cuModuleGetFunction(&mut kernel.function, module, symbol.as_ptr()) };
        match check("cuModuleGetFunction", found) {
            Err(DriverError { code: 500, .. }) => Err(NotLoaded::Wrong(Fault::NoSymbol {
                symbol: own.symbol().into(),
            })),
            other => Ok(other.map(|()| kernel)?),
        }
    }
}

/// Has the driver load code, which it compiles if it is PTX.
fn load_module(code: &GpuCode) -> Result<sys::CUmodule, NotLoaded> {
    const LOG_BYTES: usize = 8 << 10;
    let image = match code {
        GpuCode::Ptx(text) => CString::new(text.as_bytes())
            .unwrap_or_default()
            .into_bytes_with_nul(),
        GpuCode::Cubin(bytes) => bytes.clone(),
    };
    let mut log = vec![0u8; LOG_BYTES];
    let mut options = [
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    // A size is given in the place of an address.
    let mut values = [
        log.as_mut_ptr().cast::<c_void>(),
        std::ptr::without_provenance_mut(LOG_BYTES),
    ];
    let mut module = null_mut();
    // SAFETY: the image is whole, PTX ends with 0, and the log has as many bytes as the options say.
    let loaded = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            image.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    let Err(error) = check("cuModuleLoadDataEx", loaded) else {
        return Ok(module);
    };
    let log = String::from_utf8_lossy(&log);
    let said = log.trim_matches(['\0', '\n']).lines().next();
    match said.filter(|said| !said.is_empty()) {
        // Such as too much shared memory, which the compiler does not see.
        Some(said) => Err(NotLoaded::Wrong(Fault::DoesNotCompile {
            errors: vec![CompilerError {
                line: None,
                column: None,
                text: said.chars().take(200).collect(),
            }],
            more: 0,
        })),
        None => Err(error.into()),
    }
}

/// The bytes of each parameter of a function, as PTX declares them; `None` if it does not.
fn parameter_sizes(ptx: &str, symbol: &str) -> Option<Vec<usize>> {
    let (_, rest) = ptx.split_once(&format!(".entry {symbol}("))?;
    let (list, _) = rest.split_once(')')?;
    let parameters = list.split(',').filter(|it| it.contains(".param"));
    parameters
        .map(|parameter| {
            let mut bits = None;
            for word in parameter.split_whitespace() {
                let is_type = word.starts_with(['.']) && word.len() > 2;
                bits = word
                    .get(2..)
                    .filter(|_| is_type)
                    .and_then(|it| it.parse().ok())
                    .or(bits);
            }
            let elements = parameter
                .split_once('[')
                .and_then(|(_, rest)| rest.split(']').next()?.parse().ok());
            bits.map(|bits: usize| bits / 8 * elements.unwrap_or(1))
        })
        .collect()
}

/// A kernel on a GPU.
pub(crate) struct GpuKernel<'a> {
    gpu: &'a Gpu,
    module: sys::CUmodule,
    function: sys::CUfunction,
    sm_count: u32,
    /// How long a launch may take.
    limit: Duration,
    /// The launch so far with the most shared memory.
    largest: Cell<Option<Launch>>,
}

/// What a driver's error of a kernel's launch says of the kernel.
fn fault(error: DriverError) -> Fault {
    const ILLEGAL_ADDRESS: u32 = 700;
    match error.code {
        ILLEGAL_ADDRESS => Fault::OutOfBounds {
            thread: None,
            bytes: None,
        },
        code => Fault::Driver {
            code,
            text: cuda_loader::error_text_of(code).unwrap_or_default(),
        },
    }
}

impl Device for GpuKernel<'_> {
    fn allocate(&self, words: usize, _: bool) -> Result<Box<dyn Buffer + '_>, Fault> {
        let mut base = 0;
        let bytes = 4 * (words + 2 * Memory::GUARD);
        // SAFETY: the address is valid for the write.
        let result = unsafe { sys::cuMemAlloc_v2(&mut base, bytes) };
        check("cuMemAlloc", result).map_err(fault)?;
        let launched = self.gpu.launched;
        Ok(Box::new(Memory {
            base,
            words,
            launched,
        }))
    }

    fn launch(
        &self,
        shape: Launch,
        parameters: &mut [Argument],
        _: [&dyn Buffer; 2],
    ) -> Result<(), Fault> {
        /// More parameters than any kernel declares, since the driver reads as many as it declares.
        const MAX_PARAMETERS: usize = 1024;
        const MAX_BYTES: usize = 32 << 10;
        /// The dynamic shared memory that a launch has without asking.
        const USUAL_SHARED: u64 = 48 << 10;
        let shared_bytes = shape.shared_bytes;
        if self
            .largest
            .get()
            .is_none_or(|it| it.shared_bytes <= shared_bytes)
        {
            self.largest.set(Some(shape));
        }
        let mut zeros = vec![0u64; MAX_BYTES / 8];
        let mut given: Vec<*mut c_void> = parameters
            .iter_mut()
            .map(|it| from_mut(it).cast())
            .collect();
        given.resize(MAX_PARAMETERS, zeros.as_mut_ptr().cast());
        let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
        // SAFETY: the function is loaded, and every parameter that it may declare points to memory. What
        // it does with them is its author's doing; it has this context for itself.
        unsafe {
            if shared_bytes > USUAL_SHARED {
                let result = sys::cuFuncSetAttribute(
                    self.function,
                    OfFunction::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    shared_bytes as i32,
                );
                check("cuFuncSetAttribute", result).map_err(fault)?;
            }
            let result = sys::cuLaunchKernel(
                self.function,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                shared_bytes as u32,
                null_mut(),
                given.as_mut_ptr(),
                null_mut(),
            );
            check("cuLaunchKernel", result).map_err(fault)?;
            let result = sys::cuEventRecord(self.gpu.launched, null_mut());
            check("cuEventRecord", result).map_err(fault)?;
        }
        self.wait()
    }

    fn sm_count(&self) -> u32 {
        self.sm_count
    }

    fn runs(&self) -> usize {
        2
    }

    fn begin_run(&self, _: usize) {}

    fn reorders_blocks(&self, _: usize) -> bool {
        false
    }

    fn facts(&self) -> Result<Option<Facts>, Fault> {
        let Some(shape) = self.largest.get() else {
            return Ok(None);
        };
        let of_function = |which| {
            let mut value = 0;
            // SAFETY: the function is loaded, and the address valid for the write.
            let result = unsafe { sys::cuFuncGetAttribute(&mut value, which, self.function) };
            check("cuFuncGetAttribute", result).map_err(fault)?;
            Ok(value as u32)
        };
        let block_threads: u32 = shape.block.iter().product();
        let mut blocks_per_sm = 0;
        // SAFETY: as above.
        let result = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks_per_sm,
                self.function,
                block_threads as i32,
                shape.shared_bytes as usize,
            )
        };
        check("cuOccupancyMaxActiveBlocksPerMultiprocessor", result).map_err(fault)?;
        let max_threads = Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR;
        let own_shared = of_function(OfFunction::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        Ok(Some(Facts {
            registers: of_function(OfFunction::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            shared_bytes: own_shared + shape.shared_bytes as u32,
            local_bytes: of_function(OfFunction::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            blocks_per_sm: blocks_per_sm as u32,
            block_threads,
            max_threads_per_sm: self.gpu.attribute(max_threads).map_err(fault)?,
        }))
    }
}

/// What the driver says of an event that is still to come.
const NOT_READY: u32 = 600;

/// Whether the launch before this event runs. To free anything would wait for it, without an end if it has
/// none; this process then ends soon.
fn runs(launched: sys::CUevent) -> bool {
    // SAFETY: the event exists as long as the process.
    unsafe { sys::cuEventQuery(launched) as u32 == NOT_READY }
}

impl GpuKernel<'_> {
    /// Waits for the end of the launch, as long as it may take.
    fn wait(&self) -> Result<(), Fault> {
        /// Most launches end sooner, and a sleep takes longer than they do.
        const BUSY: Duration = Duration::from_millis(1);
        let began = Instant::now();
        loop {
            // SAFETY: the event was recorded.
            let result = unsafe { sys::cuEventQuery(self.gpu.launched) };
            match check("cuEventQuery", result) {
                Err(DriverError {
                    code: NOT_READY, ..
                }) => {}
                other => return other.map_err(fault),
            }
            let waited = began.elapsed();
            if waited > self.limit {
                return Err(Fault::TooLong {
                    seconds: self.limit.as_secs() as u32,
                    thread: None,
                });
            }
            if waited > BUSY {
                thread::sleep(Duration::from_micros(100));
            }
        }
    }
}

impl Drop for GpuKernel<'_> {
    fn drop(&mut self) {
        if !runs(self.gpu.launched) {
            // SAFETY: it was loaded once, and nothing of it runs. Where the context is lost it fails.
            unsafe { sys::cuModuleUnload(self.module) };
        }
    }
}

/// Memory of the GPU, with guard words before and behind.
struct Memory {
    base: sys::CUdeviceptr,
    words: usize,
    /// The event behind the last launch.
    launched: sys::CUevent,
}

impl Memory {
    /// Guard words on each side: more than a row of most lattices, since rows are what kernels miss.
    const GUARD: usize = 16 << 10;
}

impl Buffer for Memory {
    fn address(&self) -> u64 {
        self.base + 4 * Self::GUARD as u64
    }

    fn words(&self) -> usize {
        self.words
    }

    fn fill(&mut self, words: &[u32]) -> Result<(), Fault> {
        assert!(words.len() <= self.words);
        // SAFETY: so many words were allocated.
        unsafe {
            let all = self.words + 2 * Self::GUARD;
            let result = sys::cuMemsetD32_v2(self.base, POISON, all);
            check("cuMemsetD32", result).map_err(fault)?;
            if words.is_empty() {
                return Ok(());
            }
            let result =
                sys::cuMemcpyHtoD_v2(self.address(), words.as_ptr().cast(), size_of_val(words));
            check("cuMemcpyHtoD", result).map_err(fault)
        }
    }

    fn read(&self) -> Result<Contents, Fault> {
        let mut room = vec![0u32; self.words + 2 * Self::GUARD];
        // SAFETY: so many words were allocated on both sides.
        let result =
            unsafe { sys::cuMemcpyDtoH_v2(room.as_mut_ptr().cast(), self.base, 4 * room.len()) };
        check("cuMemcpyDtoH", result).map_err(fault)?;
        Ok(Contents::split(&room, Self::GUARD, self.words))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if !runs(self.launched) {
            // SAFETY: it was allocated once, and nothing that uses it runs. Where the context is lost it
            // fails.
            unsafe { sys::cuMemFree_v2(self.base) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rungs;
    use engine::kernels::Ptx;

    #[test]
    fn parameters_are_read_from_ptx() {
        for rung in rungs() {
            let text = Ptx::find(rung.file).unwrap().text;
            let given: Vec<usize> = rung.parameters.iter().map(|it| it.bytes()).collect();
            let symbol = rung.entries[0].symbol;
            assert_eq!(parameter_sizes(text, symbol), Some(given), "{symbol}");
        }
        let structure = ".entry f(\n\t.param .align 8 .b8 f_param_0[24],\n\t.param .u64 .ptr .align 1 f_param_1\n)";
        assert_eq!(parameter_sizes(structure, "f"), Some(vec![24, 8]));
        assert_eq!(parameter_sizes(structure, "g"), None);
    }
}
