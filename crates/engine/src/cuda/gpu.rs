//! A GPU: its context, the functions that it has loaded, how they are launched, and its lattices.

use super::calls::rows_from;
use super::driver::{self, Anchor, Event, EventPool, OwnedContext, RawStream, check, cust};
use super::memory::{DeviceWords, HostWords, MirroredWords};
use crate::check::Lattices;
use crate::error::invalid;
use crate::kernels::cooperative::Division;
use crate::kernels::instrumentation::instrument;
use crate::kernels::{
    Function, GpuCode, Kernel, Launch, MAX_PARAMETERS, Parameter, Ptx, no_own_code,
};
use crate::rule_network::{RuleNetwork, specialise};
use crate::{
    EngineError, HostMemory, LatticeId, Layout, Measure, MemoryUse, Result, StreamSpec,
    SupportKernel, WordEdit,
};
use cust::device::{Device, DeviceAttribute};
use cust::link::Linker;
use cust::module::Module;
use cust::sys;
use lang::message;
use life::{Rule, Size};
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// One GPU, or another context on it. Fields drop in order: the context last.
pub(super) struct Gpu {
    pub pool: EventPool,
    /// Unused memory for block timestamps.
    pub timestamp_pool: Vec<MirroredWords>,
    /// Offset between `%globaltimer` and the events' clock, and when it was measured.
    skew: Option<(i64, Instant)>,
    /// The device's clock.
    pub anchor: Rc<Anchor>,
    /// For the clock's anchors, and for copies that are waited for.
    pub idle_stream: RawStream,
    /// The stream for graph launches.
    pub graph_stream: RawStream,
    /// The number of graphs launched.
    pub replays: u64,
    pub functions: Functions,
    pub device: Device,
    pub sm_count: u32,
    pub context: Arc<OwnedContext>,
}

impl Gpu {
    /// Uses a context of the device, which must be current. The device's clock shows 0 at `zero`.
    pub(super) fn new(device: Device, context: OwnedContext, zero: Instant) -> Result<Gpu> {
        let context = Arc::new(context);
        let idle_stream = RawStream::new(StreamSpec::PLAIN)?;
        let sm_count = device.get_attribute(DeviceAttribute::MultiprocessorCount);
        Ok(Gpu {
            sm_count: cust("cuDeviceGetAttribute", sm_count)? as u32,
            pool: EventPool::default(),
            timestamp_pool: Vec::new(),
            skew: None,
            anchor: Anchor::new(idle_stream.0, zero)?.into(),
            idle_stream,
            graph_stream: RawStream::new(StreamSpec::PLAIN)?,
            replays: 0,
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
        let function = self.functions.get(SupportKernel::CLOCK.function(), false)?;
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
            let parameters = SupportKernel::CLOCK.parameters;
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
    let (file, symbol) = (function.file, function.symbol());
    let text = match function.own.and_then(|own| own.gpu.as_ref()) {
        Some(GpuCode::Ptx(text)) => text.clone(),
        _ => {
            let ptx = Ptx::find(file).ok_or_else(|| invalid!("there is no file {file}"))?;
            ptx.only(&symbol)
        }
    };
    let unchanged = |why| invalid!("{symbol} cannot be changed: {why}");
    let text = match function.network {
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
        let function = module.get_function(&*key.0.symbol());
        let function = cust("cuModuleGetFunction", function)?.to_raw();
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
    fn new(context: Arc<OwnedContext>) -> Functions {
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
        if function.network.is_some() {
            let any_rule = Function {
                network: None,
                ..function
            };
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
        let code = function
            .own
            .map(|own| own.gpu.as_ref().ok_or_else(|| no_own_code(true)));
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
        if function.network.is_none()
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
                let (symbol, why) = (key.0.symbol(), lang::english(why));
                let rule = key.0.network.unwrap_or(Rule::LIFE);
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
    fn stop_compiling(&mut self) {
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

// The lattices of one size on a GPU, and their device memory.

impl Lattices {
    /// Splits an op's lattices into the ranges that one launch can step on a device with this many
    /// SMs: adjacent lattices for a batched kernel, else single ones.
    pub(crate) fn batches(
        &self,
        kernel: &Kernel,
        range: Range<u32>,
        sm_count: u32,
    ) -> Vec<Range<u32>> {
        let group = |i: u32| self.group_of(LatticeId(i));
        let mut batches: Vec<Range<u32>> = Vec::new();
        let mut max = (usize::MAX, 1); // group, and lattices of it per launch
        for i in range {
            if max.0 != group(i) {
                let facts = self.of(LatticeId(i));
                let batch = kernel.max_batch(facts.size, facts.alike(), sm_count);
                max = (group(i), batch as usize);
            }
            let follows =
                |batch: &&mut Range<u32>| batch.len() < max.1 && group(batch.end - 1) == group(i);
            match batches.last_mut().filter(follows) {
                Some(batch) => batch.end = i + 1,
                None => batches.push(i..i + 1),
            }
        }
        batches
    }
}

/// Lattices of one size that were created together, with one allocation per buffer.
pub(super) struct Group {
    size: Size,
    count: usize,
    /// The two bit buffers.
    bits: [DeviceWords; 2],
    /// The two buffers of another layout, if one is reserved.
    reserved: Option<(Layout, [DeviceWords; 2])>,
    /// Mail between the blocks that step a lattice, and its words per lattice; reserved with the
    /// planar words if `cooperative` supports the size.
    pub mail: Option<(DeviceWords, usize)>,
    /// Edits that `edit_cells` applies.
    edits: DeviceWords,
    /// The reduced views, and the words allocated for each.
    pub view: Option<(DeviceWords, usize)>,
    /// Partial measures, one per block of each lattice; then one measure per lattice; then the bits at
    /// the previous measure; then a count of finished blocks per lattice. Once needed.
    measures: Option<DeviceWords>,
}

const WORDS_AN_EDIT: usize = size_of::<WordEdit>() / 4;

/// The number of edits of a lattice that fit.
pub(super) fn max_edits(size: Size) -> usize {
    size.words().min(WordEdit::MAX_PER_COPY)
}

fn no_memory(what: MemoryUse) -> EngineError {
    invalid!("there is no memory for {what:?}")
}

/// The address of a lattice's part of a group's memory, and the words from one part to the next.
pub(super) fn part(
    memory: &Option<(DeviceWords, usize)>,
    index: usize,
    what: MemoryUse,
) -> Result<(sys::CUdeviceptr, usize)> {
    let (words, stride) = memory.as_ref().ok_or_else(|| no_memory(what))?;
    Ok((words.word(index * stride), *stride))
}

/// Bytes of so many lattices in a layout: their bits, edits and buffers. What else they need is
/// little beside those.
fn bytes(size: Size, count: usize, layout: Layout) -> u64 {
    let words = match layout {
        Layout::Bits => 0,
        Layout::I32 | Layout::Planar => 2 * layout.words(size),
    };
    let one = 2 * size.words() + max_edits(size) * WORDS_AN_EDIT + words;
    4 * one as u64 * count as u64
}

/// Adds to an out-of-memory error the largest size of which `count` lattices would fit, if the
/// `allocated` bytes that they have now were freed. The context must be current.
fn with_size_that_fits(
    mut error: EngineError,
    count: usize,
    size: Size,
    layout: Layout,
    allocated: u64,
) -> EngineError {
    if let EngineError::OutOfMemory { fits, .. } = &mut error {
        let (mut free, mut all) = (0, 0);
        // SAFETY: both are valid for the write.
        let known = unsafe { sys::cuMemGetInfo_v2(&mut free, &mut all) };
        let usable = (free as u64 + allocated) / 16 * 15; // the rest for streams, code and views
        let largest = life::memory::largest(size, |size| bytes(size, count, layout) <= usable);
        *fits = largest.filter(|_| known == sys::CUresult::CUDA_SUCCESS);
    }
    error
}

impl Group {
    /// Allocates lattices whose cells are all dead, in a context that must be current.
    pub(super) fn new(context: &Arc<OwnedContext>, count: usize, size: Size) -> Result<Group> {
        let allocate = || {
            let words = count * size.words();
            let what = MemoryUse::Lattices(Layout::Bits, count);
            let edits = count * max_edits(size) * WORDS_AN_EDIT;
            Ok(Group {
                size,
                count,
                bits: [
                    DeviceWords::zeroed(context, words, what)?,
                    DeviceWords::uninitialized(context, words, what)?,
                ],
                edits: DeviceWords::uninitialized(context, edits, MemoryUse::Edits)?,
                reserved: None,
                mail: None,
                view: None,
                measures: None,
            })
        };
        allocate().map_err(|why| with_size_that_fits(why, count, size, Layout::Bits, 0))
    }

    /// The context of its memory.
    pub(super) fn context(&self) -> &Arc<OwnedContext> {
        &self.edits.context
    }

    /// Enlarges the views and keeps their contents. Waits for running work.
    pub(super) fn grow_views(&mut self, words: usize, idle: sys::CUstream) -> Result<()> {
        let all = words * self.count;
        let larger = DeviceWords::uninitialized(self.context(), all, MemoryUse::Views)?;
        if let Some((smaller, pitch)) = &self.view {
            driver::synchronize()?;
            let copy = sys::CUDA_MEMCPY2D {
                dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
                dstDevice: larger.at,
                dstPitch: words * 4,
                ..rows_from(smaller.at, pitch * 4, pitch * 4, self.count)
            };
            // SAFETY: both sides have a row for each lattice, and nothing else uses them.
            check("cuMemcpy2DAsync", unsafe {
                sys::cuMemcpy2DAsync_v2(&copy, idle)
            })?;
            driver::synchronize()?;
        }
        self.view = Some((larger, words));
        Ok(())
    }

    /// The address of a lattice's bit buffer with this parity.
    pub(super) fn bits_at(&self, index: usize, parity: u8) -> sys::CUdeviceptr {
        self.bits[usize::from(parity)].word(index * self.size.words())
    }

    /// The address of a lattice's edits.
    pub(super) fn edits_at(&self, index: usize) -> sys::CUdeviceptr {
        self.edits
            .word(index * max_edits(self.size) * WORDS_AN_EDIT)
    }

    /// The address of a lattice's buffer with this parity, in a layout. Errors if the layout is not
    /// reserved.
    pub(super) fn buffer_at(
        &self,
        layout: Layout,
        index: usize,
        parity: u8,
    ) -> Result<sys::CUdeviceptr> {
        match &self.reserved {
            _ if layout == Layout::Bits => Ok(self.bits_at(index, parity)),
            Some((reserved, buffers)) if *reserved == layout => {
                Ok(buffers[usize::from(parity)].word(index * layout.words(self.size)))
            }
            _ => Err(no_memory(MemoryUse::Lattices(layout, self.count))),
        }
    }

    /// Allocates memory for measures. Waits for running work.
    pub(super) fn make_measures(&mut self) -> Result<()> {
        let [.., words] = self.parts_of_measures(self.count);
        let measures = DeviceWords::zeroed(self.context(), words, MemoryUse::Measures)?;
        self.measures = Some(measures);
        Ok(())
    }

    /// The addresses of a lattice's partial measures, of its measure, of its bits at the previous one,
    /// and of its count of finished blocks.
    pub(super) fn measures_at(&self, index: usize) -> Result<[sys::CUdeviceptr; 4]> {
        let measures = self.measures.as_ref();
        let measures = measures.ok_or_else(|| no_memory(MemoryUse::Measures))?;
        Ok(self.parts_of_measures(index).map(|at| measures.word(at)))
    }

    /// The words before each part of a lattice's measures; of one behind the last, all words.
    fn parts_of_measures(&self, index: usize) -> [usize; 4] {
        let blocks = Launch::measure(self.size, 1).grid[0] as usize;
        let mut start = 0;
        [
            blocks * Measure::WORDS,
            Measure::WORDS,
            self.size.words(),
            1,
        ]
        .map(|words| {
            let at = start + index * words;
            start += self.count * words;
            at
        })
    }

    /// Frees all layouts except this one and [`Layout::Bits`].
    pub(super) fn keep_only(&mut self, layout: Layout) {
        self.reserved = self.reserved.take().filter(|(of, _)| *of == layout);
        self.mail = self.mail.take().filter(|_| self.reserved.is_some());
    }

    /// Whether a layout is allocated, or cannot be used for this size.
    pub(super) fn has(&self, layout: Layout) -> bool {
        let is_reserved = self.reserved.as_ref().is_some_and(|(of, _)| *of == layout);
        layout == Layout::Bits || is_reserved || !layout.supports(self.size)
    }

    /// Allocates a layout, unless it already is, on a device with so many SMs and lattices of about
    /// this size.
    pub(super) fn reserve(&mut self, layout: Layout, alike: u32, sm_count: u32) -> Result<()> {
        let (count, size) = (self.count, self.size);
        let bits = bytes(size, count, Layout::Bits);
        self.allocate(layout, alike, sm_count)
            .map_err(|why| with_size_that_fits(why, count, size, layout, bits))
    }

    fn allocate(&mut self, layout: Layout, alike: u32, sm_count: u32) -> Result<()> {
        if self.has(layout) {
            return Ok(());
        }
        let words = self.count * layout.words(self.size);
        let what = MemoryUse::Lattices(layout, self.count);
        let buffer = || DeviceWords::uninitialized(self.context(), words, what);
        let buffers = [buffer()?, buffer()?];
        if layout == Layout::Planar
            && let Some(division) = Division::for_mail(self.size, alike, sm_count)
        {
            // The kernel takes an address even if there is no mail, so allocate a word.
            let words = division.mail_words.max(1);
            let mail = DeviceWords::zeroed(self.context(), words * self.count, MemoryUse::Mail)?;
            self.mail = Some((mail, words));
        }
        self.reserved = Some((layout, buffers));
        Ok(())
    }
}
