//! The GPUs of an engine, what was created on them, and the functions that each has loaded.

use super::driver::{self, Anchor, Event, EventPool, OwnedContext, RawStream, check, cust};
use super::memory::{Buffer, CudaSlots, DeviceWords, Group, HostWords, MirroredWords};
use crate::check::{Plan, Validator};
use crate::error::invalid;
use crate::kernels::instrumentation::instrument;
use crate::kernels::{Function, GpuCode, Launch, MAX_PARAMETERS, Parameter, Ptx, no_own_code};
use crate::rule_network::{RuleNetwork, specialise};
use crate::{
    DeviceId, EngineError, HostMemory, LatticeId, MemoryUse, Program, Result, Slot, StreamId,
    StreamSpec, SupportKernel,
};
use cust::device::{Device, DeviceAttribute};
use cust::link::Linker;
use cust::module::Module;
use cust::sys;
use lang::message;
use life::Rule;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::rc::Rc;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// The GPUs of an engine and what was created on them.
pub(super) struct Resources {
    // Fields drop in this order: what refers to contexts, then the contexts.
    pub(super) events: Vec<Event>,
    pub(super) streams: Vec<Stream>,
    /// By [`BufferId`](crate::BufferId); `None` once dropped.
    pub(super) buffers: Vec<Option<Buffer>>,
    pub(super) slots: Option<Arc<CudaSlots>>,
    /// The time at which every device's clock shows 0.
    pub(super) zero: Instant,
    pub(super) gpus: Vec<Gpu>,
    /// Validates programs and tracks the lattices' states.
    pub(super) check: Validator,
}

pub(super) struct Stream {
    pub(super) gpu: usize,
    pub(super) raw: RawStream,
    /// The number of replays on its GPU that it already waits for.
    pub(super) replays_seen: u64,
}

impl Resources {
    /// Makes a GPU's context current on this thread.
    pub(super) fn make_current(&self, gpu: usize) -> Result<()> {
        self.gpus[gpu].context.make_current()
    }

    /// Waits until nothing runs on any device, even if one fails.
    pub(super) fn synchronize(&self) -> Result<()> {
        let mut answer = Ok(());
        for gpu in &self.gpus {
            let current = gpu.context.make_current();
            answer = answer.and(current.and_then(|()| driver::synchronize()));
        }
        answer
    }

    /// The driver's handle of a stream. Panics for an unknown stream.
    pub(super) fn raw(&self, stream: StreamId) -> sys::CUstream {
        self.streams[stream.0 as usize].raw.0
    }

    /// The index of a device or context in `gpus`.
    pub(super) fn gpu_at(&self, device: DeviceId) -> Result<usize> {
        self.check.check_device(device)?;
        Ok(usize::from(device.0))
    }

    /// The index of a stream's GPU. Panics for an unknown stream.
    pub(super) fn gpu_of(&self, stream: StreamId) -> usize {
        self.streams[stream.0 as usize].gpu
    }

    /// Allocates the memory and loads the functions that a program needs, before any step is
    /// issued. Neither is possible while a stream is being captured, and a failure here leaves
    /// every lattice unchanged.
    pub(super) fn allocate_for(&mut self, program: &Program, plan: &Plan) -> Result<()> {
        let groups = &mut self.check.lattices.groups;
        for (&group, &words) in &plan.views {
            let facts = &mut groups[group];
            let gpu = &mut self.gpus[usize::from(facts.device.0)];
            gpu.context.make_current()?;
            gpu.groups[facts.on_device].grow_views(words, gpu.idle_stream.0)?;
            facts.view_capacity = words;
        }
        for &group in &plan.measures {
            let facts = &mut groups[group];
            let gpu = &mut self.gpus[usize::from(facts.device.0)];
            gpu.context.make_current()?;
            gpu.groups[facts.on_device].make_measures()?;
            facts.has_measures_memory = true;
        }
        for &(device, function) in &plan.functions {
            let gpu = &mut self.gpus[usize::from(device.0)];
            gpu.context.make_current()?;
            gpu.functions.get(function, false)?;
            if program.block_timestamps && function.has_timestamps() {
                gpu.functions.get(function, true)?;
            }
        }
        let slots = self.slots.as_ref();
        slots.map_or(Ok(()), |slots| slots.allocate_for(program.downloads()))
    }

    /// Waits until the functions of a program that are being compiled are loaded.
    pub(super) fn finish_compiling(&mut self, plan: &Plan) {
        for &(device, function) in &plan.functions {
            let gpu = &mut self.gpus[usize::from(device.0)];
            gpu.functions.finish_compiling(function);
        }
    }

    /// Binds the slots of all downloads, or none if one is busy.
    pub(super) fn bind(
        &self,
        downloads: impl Iterator<Item = (LatticeId, Slot)> + Clone,
    ) -> Result<()> {
        let slots = self.slots.as_ref();
        slots.map_or(Ok(()), |slots| slots.locks.bind_all(downloads))
    }

    /// The GPUs a program uses, each with its streams in the order of first use.
    pub(super) fn streams_used(&self, program: &Program) -> Vec<(usize, Vec<StreamId>)> {
        let mut used: Vec<(usize, Vec<StreamId>)> = Vec::new();
        let mut known = vec![false; self.streams.len()];
        for step in &program.steps {
            let gpu = self.gpu_of(step.stream);
            if std::mem::replace(&mut known[step.stream.0 as usize], true) {
                continue;
            }
            match used.iter_mut().find(|(g, _)| *g == gpu) {
                Some((_, streams)) => streams.push(step.stream),
                None => used.push((gpu, vec![step.stream])),
            }
        }
        used
    }
}

// One GPU: its context, its functions, its lattices.

/// One GPU, or another context on it. Fields drop in order: the context last.
pub(super) struct Gpu {
    pub(super) groups: Vec<Group>,
    pub(super) pool: EventPool,
    /// Unused memory for block timestamps.
    pub(super) timestamp_pool: Vec<MirroredWords>,
    /// Offset between `%globaltimer` and the events' clock, and when it was measured.
    skew: Option<(i64, Instant)>,
    /// The device's clock.
    pub(super) anchor: Rc<Anchor>,
    /// For the clock's anchors, and for copies that are waited for.
    pub(super) idle_stream: RawStream,
    /// The stream for graph launches.
    pub(super) graph_stream: RawStream,
    /// The number of graphs launched.
    pub(super) replays: u64,
    /// The default stream, once created.
    pub(super) default_stream: Option<StreamId>,
    pub(super) functions: Functions,
    pub(super) device: Device,
    pub(super) sm_count: u32,
    pub(super) context: Arc<OwnedContext>,
}

impl Gpu {
    /// Uses a context of the device, which must be current. The device's clock shows 0 at `zero`.
    pub(super) fn new(device: Device, context: OwnedContext, zero: Instant) -> Result<Gpu> {
        let context = Arc::new(context);
        let idle_stream = RawStream::new(StreamSpec::PLAIN)?;
        let sm_count = device.get_attribute(DeviceAttribute::MultiprocessorCount);
        Ok(Gpu {
            sm_count: cust("cuDeviceGetAttribute", sm_count)? as u32,
            groups: Vec::new(),
            pool: EventPool::default(),
            timestamp_pool: Vec::new(),
            skew: None,
            anchor: Anchor::new(idle_stream.0, zero)?.into(),
            idle_stream,
            graph_stream: RawStream::new(StreamSpec::PLAIN)?,
            replays: 0,
            default_stream: None,
            functions: Functions::new(context.clone()),
            device,
            context,
        })
    }

    /// The anchor for the times of events recorded from now on.
    pub(super) fn origin(&mut self) -> Result<Rc<Anchor>> {
        self.anchor = self.anchor.renewed(self.idle_stream.0)?;
        Ok(self.anchor.clone())
    }

    /// Takes large enough memory for block timestamps from the pool, or allocates it.
    pub(super) fn take_timestamp_memory(&mut self, words: usize) -> Result<MirroredWords> {
        let fits = |memory: &MirroredWords| memory.host.words >= words;
        if let Some(found) = self.timestamp_pool.iter().position(fits) {
            return Ok(self.timestamp_pool.swap_remove(found));
        }
        self.timestamp_pool.pop(); // too small; the new one replaces it
        let (words, what) = (words.next_power_of_two(), MemoryUse::BlockTimestamps);
        Ok(MirroredWords {
            device: DeviceWords::uninitialized(&self.context, words, what)?,
            host: HostWords::new(&self.context, words, HostMemory::Pinned, what)?,
        })
    }

    /// See [`MemoryOp::SetReleaseThreshold`](crate::MemoryOp::SetReleaseThreshold).
    pub(super) fn set_release_threshold(&self, mut bytes: u64) -> Result<()> {
        let mut pool = std::ptr::null_mut();
        // SAFETY: `pool` is valid for the write.
        check("cuDeviceGetDefaultMemPool", unsafe {
            sys::cuDeviceGetDefaultMemPool(&mut pool, self.device.as_raw())
        })?;
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the pool is the device's own; the attribute is a number of 64 bits.
        check("cuMemPoolSetAttribute", unsafe {
            sys::cuMemPoolSetAttribute(pool, threshold, (&raw mut bytes).cast())
        })
    }

    /// The value of `%globaltimer` when this device's clock shows 0. Measured again after a second:
    /// a kernel reads `%globaltimer` between two events. Blocks until that kernel is done.
    pub(super) fn skew(&mut self) -> Result<i64> {
        if let Some((nanos, measured)) = self.skew
            && measured.elapsed().as_secs_f64() < 1.0
        {
            return Ok(nanos);
        }
        let function = self
            .functions
            .get(Function::Support(SupportKernel::Clock), false)?;
        let memory = self.take_timestamp_memory(8)?;
        let origin = self.origin()?;
        let stream = self.idle_stream.0;
        let (before, after) = (Event::new(true)?, Event::new(true)?);
        let mut best = (i64::MAX, 0);
        for _ in 0..4 {
            // Use the shortest of four: the first may wait for the function to load, and any may
            // wait for other work on the device.
            before.record(stream)?;
            let at = memory.device.at; // 8 bytes are written, 32 allocated
            let parameters = SupportKernel::Clock.row().parameters;
            let arguments = Arguments::fill(parameters, &[(Parameter::To, at)])?;
            // SAFETY: the function takes this address, which is of the current context.
            unsafe { launch(function, Launch::over(1, 1, (1, 1)), &arguments, stream) }?;
            after.record(stream)?;
            // SAFETY: there are 8 bytes on both sides; the stream is waited for before they are read.
            check("cuMemcpyDtoHAsync", unsafe {
                sys::cuMemcpyDtoHAsync_v2(memory.host.at.cast(), at, 8, stream)
            })?;
            // SAFETY: the stream is alive.
            check("cuStreamSynchronize", unsafe {
                sys::cuStreamSynchronize(stream)
            })?;
            // SAFETY: the copy above wrote two words there.
            let shown = unsafe { memory.host.at.cast::<u64>().read_unaligned() } as i64;
            let (from, to) = (origin.nanos(&before)?, origin.nanos(&after)?);
            let middle = from + (to - from) / 2;
            best = best.min((to - from, shown.wrapping_sub(middle)));
        }
        self.timestamp_pool.push(memory);
        let (_, nanos) = best;
        self.skew = Some((nanos, Instant::now()));
        Ok(nanos)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // The fields free memory of this context.
        let _ = self.context.make_current();
        self.functions.stop_compiling();
    }
}

// The functions of one GPU: the PTX that the driver has compiled, loaded on first use. They stay loaded
// until the context ends, since a graph may have them.

/// The loaded functions of one context, which must be current in every call.
pub(super) struct Functions {
    known: HashMap<Key, Known>,
    modules: Vec<Module>,
    context: Arc<OwnedContext>,
}

/// A function, and whether block timestamps are added to it.
type Key = (Function, bool);

enum Known {
    /// Another thread has the driver compile it.
    Compiling(JoinHandle<Result<Loaded>>),
    Ready(sys::CUfunction),
    /// The driver could not compile it, which is a network.
    Refused,
}

/// The PTX of a function: of a user's own code, or of a kernel file.
fn ptx((function, has_timestamps): Key) -> Result<String> {
    let (file, symbol, own) = function.place();
    let text = match own.and_then(|own| own.gpu.as_ref()) {
        Some(GpuCode::Ptx(text)) => text.clone(),
        _ => {
            let ptx = Ptx::find(file).ok_or_else(|| invalid!("there is no file {file}"))?;
            ptx.only(&symbol)
        }
    };
    let unchanged = |why| invalid!("{symbol} cannot be changed: {why}");
    let text = match function.network() {
        Some(rule) => specialise(&text, &RuleNetwork::of(rule)).map_err(unchanged)?,
        None => text,
    };
    if has_timestamps {
        return instrument(&text).map_err(unchanged);
    }
    Ok(text)
}

/// A module, and the one function that it was loaded for.
struct Loaded {
    module: Module,
    function: sys::CUfunction,
}

// SAFETY: the driver's handles are valid on every thread.
unsafe impl Send for Loaded {}

impl Loaded {
    /// Loads a function of the module that `load` has the driver make. The context must be current.
    fn new(key: Key, load: impl FnOnce() -> Result<Module>) -> Result<Loaded> {
        let module = load()?;
        let (_, symbol, _) = key.0.place();
        let function = cust("cuModuleGetFunction", module.get_function(&*symbol))?.to_raw();
        Ok(Loaded { module, function })
    }

    /// Has the driver compile PTX, or take it from its cache. Calls of other threads wait meanwhile.
    fn of_ptx(key: Key) -> Result<Loaded> {
        let text = ptx(key)?;
        Loaded::new(key, || {
            cust("cuModuleLoadDataEx", Module::from_ptx(text, &[]))
        })
    }

    /// As [`Loaded::of_ptx`] by the driver's linker, which lets other threads' launches through while
    /// it compiles, but has no cache.
    fn by_linker(key: Key) -> Result<Loaded> {
        let text = ptx(key)? + "\0";
        Loaded::new(key, || {
            let mut linker = cust("cuLinkCreate", Linker::new())?;
            cust("cuLinkAddData", linker.add_ptx(text))?;
            let cubin = cust("cuLinkComplete", linker.complete())?;
            cust("cuModuleLoadDataEx", Module::from_cubin(cubin, &[]))
        })
    }
}

/// The first line that the driver's compiler says of PTX that it refuses, such as that it uses too much
/// shared memory.
fn compiler_log(code: &GpuCode) -> Option<String> {
    const LOG_BYTES: usize = 8 << 10;
    let GpuCode::Ptx(text) = code else {
        return None;
    };
    let text = CString::new(text.as_str()).ok()?;
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
    let mut module = std::ptr::null_mut();
    // SAFETY: the text ends with 0, and the log has as many bytes as the options say. A module is not
    // expected; it would stay.
    unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    let log = String::from_utf8_lossy(&log);
    let line = log.trim_matches(['\0', '\n']).lines().next()?;
    (!line.is_empty()).then(|| line.chars().take(200).collect())
}

impl Functions {
    pub(super) fn new(context: Arc<OwnedContext>) -> Functions {
        Functions {
            known: HashMap::new(),
            modules: Vec::new(),
            context,
        }
    }

    /// The function, loading it on first use: one with block timestamps if `has_timestamps`, which takes
    /// the address of the records as an additional last argument.
    ///
    /// A function of the ladder is the one with the rule's network, if there is one and the driver
    /// compiles it, else the one that takes every rule. Compiles a network on first use, which takes
    /// up to a second; while one is compiled in the background, the function that takes every rule
    /// serves, if that is loaded.
    pub(super) fn get(
        &mut self,
        function: Function,
        has_timestamps: bool,
    ) -> Result<sys::CUfunction> {
        let mut key = (function, has_timestamps);
        if function.network().is_some() {
            let any_rule = function.of_every_rule();
            let is_ready = match self.known.get(&key) {
                Some(Known::Compiling(thread)) => {
                    thread.is_finished() || !self.known.contains_key(&(any_rule, false))
                }
                Some(Known::Ready(_) | Known::Refused) => true,
                None => {
                    if self.known.len() < MAX_FUNCTIONS {
                        self.keep_network(key, Loaded::of_ptx(key));
                    }
                    true
                }
            };
            if is_ready && let Some(function) = self.network(key) {
                return Ok(function);
            }
            key.0 = any_rule;
        }
        if let Some(Known::Ready(function)) = self.known.get(&key) {
            return Ok(*function);
        }
        let (_, _, own) = function.place();
        let code = own.map(|own| own.gpu.as_ref().ok_or_else(|| no_own_code(true)));
        let code = code.transpose()?;
        let loaded = match code {
            Some(GpuCode::Cubin(code)) => Loaded::new(key, || {
                cust("cuModuleLoadDataEx", Module::from_cubin(code, &[]))
            }),
            _ => Loaded::of_ptx(key),
        };
        // Unless the context is lost or memory runs out, it is a user's code that the driver does not
        // take.
        let loaded = loaded.map_err(|error| match (code, error) {
            (Some(code), EngineError::Driver(fault)) => EngineError::OwnCodeRefused(message!(
                "the driver does not load your kernel: {reason}",
                reason = compiler_log(code).unwrap_or_else(|| fault.reason())
            )),
            (_, other) => other,
        })?;
        let function = loaded.function;
        self.keep(key, loaded);
        Ok(function)
    }

    /// Starts to compile a function with the network of a rule, if it is one and not known.
    pub(super) fn compile_in_background(&mut self, function: Function) -> Result<()> {
        let key = (function, false);
        if function.network().is_none()
            || self.known.contains_key(&key)
            || self.known.len() >= MAX_FUNCTIONS
        {
            return Ok(());
        }
        let context = self.context.clone();
        let compile = move || {
            context.make_current()?;
            Loaded::by_linker(key)
        };
        let thread = thread::Builder::new()
            .name("compiler".into())
            .spawn(compile);
        let thread = thread.map_err(|_| EngineError::NoThread)?;
        self.known.insert(key, Known::Compiling(thread));
        Ok(())
    }

    /// Waits until a function is loaded, if it is being compiled.
    pub(super) fn finish_compiling(&mut self, function: Function) {
        self.network((function, false));
    }

    /// The function with the network of a rule, waiting for it if it is being compiled; `None` if it
    /// was not asked for or the driver cannot compile it.
    fn network(&mut self, key: Key) -> Option<sys::CUfunction> {
        if matches!(self.known.get(&key), Some(Known::Compiling(_)))
            && let Some(Known::Compiling(thread)) = self.known.remove(&key)
        {
            let loaded = thread.join();
            let loaded = loaded.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            self.keep_network(key, loaded);
        }
        match self.known.get(&key) {
            Some(Known::Ready(function)) => Some(*function),
            _ => None,
        }
    }

    /// Keeps a network. If the driver could not compile it, logs why.
    fn keep_network(&mut self, key: Key, loaded: Result<Loaded>) {
        match loaded {
            Ok(loaded) => self.keep(key, loaded),
            Err(why) => {
                let ((_, symbol, _), why) = (key.0.place(), lang::english(why));
                let rule = key.0.network().unwrap_or(Rule::LIFE);
                tracing::warn!("{symbol} is not compiled for {rule}, its table is used: {why}");
                self.known.insert(key, Known::Refused);
            }
        }
    }

    fn keep(&mut self, key: Key, loaded: Loaded) {
        self.modules.push(loaded.module);
        self.known.insert(key, Known::Ready(loaded.function));
    }

    /// Waits for functions that are still being compiled and unloads them.
    pub(super) fn stop_compiling(&mut self) {
        for (_, known) in self.known.drain() {
            if let Known::Compiling(thread) = known {
                drop(thread.join());
            }
        }
    }
}

/// Maximum functions before no more networks are loaded: each takes some hundred kilobytes of the
/// device's memory.
const MAX_FUNCTIONS: usize = 1024;

/// A kernel's arguments, each at the start of a 64-bit word: GPUs and their hosts are little-endian.
#[derive(Clone, Copy, Default)]
pub(super) struct Arguments {
    words: [u64; MAX_PARAMETERS],
    count: usize,
}

/// What the parameters of a launch are, in any order.
pub(super) type Values = [(Parameter, u64)];

impl Arguments {
    /// Fills a kernel's parameters. Errors if one has no value.
    pub(super) fn fill(parameters: &[Parameter], values: &Values) -> Result<Arguments> {
        let mut all = Arguments::default();
        for parameter in parameters {
            let value = values.iter().find(|(of, _)| of == parameter);
            let &(_, word) =
                value.ok_or_else(|| invalid!("{parameter:?} of a kernel has no value"))?;
            let fits = parameter.bytes() == 8 || word <= u32::MAX.into();
            debug_assert!(fits, "{parameter:?} is {word}");
            all.push(word);
        }
        Ok(all)
    }

    pub(super) fn push(&mut self, word: u64) {
        self.words[self.count] = word;
        self.count += 1;
    }
}

/// Launches a kernel.
///
/// # Safety
/// The function, the stream and the addresses among the arguments must be valid and belong
/// to the current context, and the function must take these arguments.
pub(super) unsafe fn launch(
    function: sys::CUfunction,
    shape: Launch,
    arguments: &Arguments,
    stream: sys::CUstream,
) -> Result<()> {
    let mut addresses = [std::ptr::null_mut(); MAX_PARAMETERS];
    for (address, word) in addresses
        .iter_mut()
        .zip(&arguments.words[..arguments.count])
    {
        *address = std::ptr::from_ref(word).cast_mut().cast();
    }
    // `cuLaunchKernel` has one more parameter, for another way to pass arguments.
    macro_rules! call {
        ($call:ident $(, $unused:expr)?) => {{
            let code = sys::$call(
                function,
                shape.grid[0],
                shape.grid[1],
                shape.grid[2],
                shape.block[0],
                shape.block[1],
                shape.block[2],
                shape.shared_bytes as u32,
                stream,
                addresses.as_mut_ptr(),
                $($unused)?
            );
            check(stringify!($call), code)
        }};
    }
    // SAFETY: the caller guarantees it.
    unsafe {
        if shape.cooperative {
            call!(cuLaunchCooperativeKernel)
        } else {
            call!(cuLaunchKernel, std::ptr::null_mut())
        }
    }
}
