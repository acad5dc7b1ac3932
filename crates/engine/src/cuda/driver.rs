//! Opens the driver and translates its results; owns its handles, and tells a device's time.

use crate::{
    DeviceInfo, DriverFault, EngineError, Feature, IssuerId, Loss, Nanos, Priority, Result, Span,
    StreamId, StreamKind, StreamSpec,
};
use cust::device::{Device, DeviceAttribute};
use cust::error::CudaError;
use cust::sys::CUdevice_attribute_enum::*;
use cust::sys::{self, CUresult};
use lang::{Message, message};
use std::ffi::CStr;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Instant;

/// The oldest supported CUDA version: 11.4 (driver 470) has every function this engine calls.
const OLDEST_DRIVER: (u32, u32) = (11, 4);

/// The oldest supported compute capability; the PTX targets it.
const MIN_CAPABILITY: (u32, u32) = (5, 0);

/// Result codes that concern one call only: bad arguments, a missing object, a state that forbids
/// the call. The context stays usable. Any other code, known or not, counts as the end of the
/// context, as the driver API documents for most of them: later calls might return the same code
/// forever, or lose work silently.
const SURVIVED: &[RangeInclusive<u32>] = &[
    1..=3,     // a value, memory, cuInit not called
    5..=8,     // the profiler
    34..=36,   // a stub library, a call that needs a newer driver
    100..=102, // a device that is not there
    200..=200, // an image
    202..=213, // contexts and mapped arrays
    215..=219, // limits, peers, PTX
    221..=225, // the compiler of PTX
    300..=304, // files and the operating system
    400..=402, // handles and states
    500..=500, // a name
    600..=600, // not ready
    701..=701, // too many resources for a launch
    703..=705, // texturing, peers
    708..=708, // the primary context is active
    711..=713, // peers, registered memory
    720..=720, // a cooperative launch
    800..=804, // not permitted, not supported, not ready
    900..=915, // captures, graphs, clusters
];

/// Converts a driver result; `call` names the function in the error.
pub(super) fn check(call: &'static str, code: CUresult) -> Result<()> {
    if code == CUresult::CUDA_SUCCESS {
        Ok(())
    } else {
        Err(failed(call, code as u32))
    }
}

/// Converts a result of `cust`.
pub(super) fn cust<T>(call: &'static str, answer: Result<T, CudaError>) -> Result<T> {
    answer.map_err(|error| failed(call, error as u32))
}

#[cold]
fn failed(call: &'static str, code: u32) -> EngineError {
    let fault = fault(call, result_code(code));
    if fault.code == 2 {
        EngineError::DriverOutOfMemory(call)
    } else if SURVIVED.iter().any(|codes| codes.contains(&fault.code)) {
        EngineError::Driver(fault)
    } else {
        EngineError::ContextLost(Loss::Driver(fault))
    }
}

fn fault(call: &'static str, code: u32) -> DriverFault {
    DriverFault {
        call,
        code,
        text: cuda_loader::error_text_of(code),
    }
}

/// Converts an error during start-up, when there are no lattices to lose and no memory is allocated.
pub(super) fn at_start(error: EngineError) -> EngineError {
    match error {
        EngineError::ContextLost(Loss::Driver(why)) => EngineError::UnusableGpu(message!(
            "the GPU cannot be used: {why}; check nvidia-smi, or use --device cpu"
        )),
        EngineError::DriverOutOfMemory(call) => EngineError::UnusableGpu(message!(
            "the GPU has no memory left to start ({call}): other programs hold it; close those that nvidia-smi lists, or use --device cpu"
        )),
        other => other,
    }
}

/// Converts an error during work that changes cells: an unknown part of the lattices was stepped,
/// so all must be restored.
pub(super) fn into_partially_applied(error: EngineError) -> EngineError {
    match error {
        EngineError::OutOfMemory { .. }
        | EngineError::DriverOutOfMemory(_)
        | EngineError::Driver(_) => EngineError::PartiallyApplied(error.reason()),
        other => other, // the context is lost, or the driver was not called
    }
}

/// Errors for a device that is too old for the kernels.
pub(super) fn validate_device(device: &DeviceInfo) -> Result<()> {
    match device.capability {
        Some(has) if has < MIN_CAPABILITY => Err(EngineError::UnusableGpu(message!(
            "{device} has compute capability {}.{}, and {}.{} or newer is needed; use --device cpu",
            has.0,
            has.1,
            MIN_CAPABILITY.0,
            MIN_CAPABILITY.1,
            device = device.name
        ))),
        _ => Ok(()),
    }
}

/// Errors if a device or the driver lacks a feature of one device.
pub(super) fn check_feature(device: Device, feature: Feature) -> Result<()> {
    let attribute = match feature {
        Feature::MemoryPools => CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
        Feature::ManagedMemory => CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
        Feature::PeerCopies | Feature::Bands => return Ok(()),
    };
    let mut has = 0;
    // SAFETY: `has` is valid for the write.
    check("cuDeviceGetAttribute", unsafe {
        sys::cuDeviceGetAttribute(&mut has, attribute, device.as_raw())
    })?;
    match has {
        0 => Err(EngineError::Unsupported(message!(
            "this device does not support {feature}"
        ))),
        _ => Ok(()),
    }
}

/// The driver's original code, if the enum has no name for it.
fn result_code(code: u32) -> u32 {
    match (code, cuda_loader::last_unknown_code()) {
        (999, known) if known != 0 => known,
        _ => code,
    }
}

/// Opens and initialises the driver and returns the number of devices.
pub(super) fn initialise() -> Result<u32> {
    let no = |why| Err(EngineError::NoCuda(why));
    let file = match cuda_loader::open() {
        Ok(file) => file,
        Err(why) => {
            return no(message!(
                "no NVIDIA driver is installed here ({why}): install it for CUDA, or use --device cpu"
            ));
        }
    };
    // Not through `cust`, whose error type lacks some codes.
    // SAFETY: no precondition.
    let answer = result_code(unsafe { sys::cuInit(0) } as u32);
    if answer != 0 {
        let remedy = match answer {
            34 => message!(
                "{file} is the stub of a CUDA toolkit; install the driver, take the stub's folder out of LD_LIBRARY_PATH, or use --device cpu"
            ),
            100 => no_gpu(),
            802 => message!("the GPU is not ready; check nvidia-smi, or use --device cpu"),
            803 => message!(
                "the driver's library and its kernel module differ; reboot or reinstall the driver, or use --device cpu"
            ),
            804 => message!(
                "this driver or GPU does not support the forward-compatible library {file}; update the driver, take the library's folder out of LD_LIBRARY_PATH, or use --device cpu"
            ),
            999 => message!(
                "{file} gives no reason; load the kernel module with 'sudo nvidia-modprobe -u', reboot, or use --device cpu"
            ),
            _ => message!("check nvidia-smi, or use --device cpu"),
        };
        return no(message!(
            "the NVIDIA driver does not start: {reason}; {remedy}",
            reason = fault("cuInit", answer).reason()
        ));
    }
    match driver_version() {
        (0, 0) => {
            return no(message!(
                "the NVIDIA driver does not say which CUDA it supports; reinstall it, or use --device cpu"
            ));
        }
        version @ (major, minor) if version < OLDEST_DRIVER => {
            return no(message!(
                "the NVIDIA driver is too old: it supports CUDA {major}.{minor}, and 11.4 (driver 470) is needed; update it, or use --device cpu"
            ));
        }
        _ => {}
    }
    match cust("cuDeviceGetCount", Device::num_devices()).map_err(at_start)? {
        0 => no(no_gpu()),
        count => Ok(count),
    }
}

fn no_gpu() -> Message {
    message!(
        "no NVIDIA GPU is visible; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu"
    )
}

/// The newest CUDA version that the driver supports, major and minor; 0.0 if it does not say.
pub fn driver_version() -> (u32, u32) {
    let mut version = 0;
    // SAFETY: `version` is valid for the write; on failure it stays 0.
    unsafe { sys::cuDriverGetVersion(&mut version) };
    let version = version as u32;
    (version / 1000, version % 1000 / 10)
}

/// Lists the devices that the driver reports, without opening any.
pub fn list_devices() -> Result<Vec<DeviceInfo>> {
    let count = initialise()?;
    let info = |ordinal| Ok(describe(ordinal, count).map_err(at_start)?.1);
    (0..count).map(info).collect()
}

/// The default device, or why there is none.
pub fn first_device() -> Result<DeviceInfo> {
    let (_, info) = describe(0, initialise()?).map_err(at_start)?;
    validate_device(&info).map(|()| info)
}

/// A device and its properties.
pub(super) fn describe(ordinal: u32, present: u32) -> Result<(Device, DeviceInfo)> {
    if ordinal >= present {
        return Err(EngineError::no_such_device(ordinal, present));
    }
    let device = cust("cuDeviceGet", Device::get_device(ordinal))?;
    let attribute = |which| cust("cuDeviceGetAttribute", device.get_attribute(which));
    let major = attribute(DeviceAttribute::ComputeCapabilityMajor)?;
    let minor = attribute(DeviceAttribute::ComputeCapabilityMinor)?;
    let known = |which| {
        let value = attribute(which).ok()?;
        u64::try_from(value).ok().filter(|&value| value > 0)
    };
    let (newest, sub) = driver_version();
    // In kHz and bits; each cycle of the clock transfers twice.
    let bandwidth = known(DeviceAttribute::MemoryClockRate)
        .zip(known(DeviceAttribute::GlobalMemoryBusWidth))
        .map(|(clock, width)| 2 * 1000 * clock * (width / 8));
    let info = DeviceInfo {
        name: cust("cuDeviceGetName", device.name())?,
        driver: format!("CUDA {newest}.{sub}, sm_{major}{minor}"),
        capability: Some((major as u32, minor as u32)),
        sm_count: attribute(DeviceAttribute::MultiprocessorCount)? as u32,
        memory: device.total_memory().ok().map(|bytes| bytes as u64),
        cache: known(DeviceAttribute::L2CacheSize),
        bandwidth,
        copy_engines: attribute(DeviceAttribute::AsyncEngineCount)? as u32,
        kernel_time_limit: attribute(DeviceAttribute::KernelExecTimeout)? != 0,
        pci_bus_id: pci_bus_id(device),
    };
    Ok((device, info))
}

fn pci_bus_id(device: Device) -> Option<String> {
    let mut text = [0u8; 32];
    // SAFETY: the buffer has 32 bytes, as passed.
    let code = unsafe { sys::cuDeviceGetPCIBusId(text.as_mut_ptr().cast(), 32, device.as_raw()) };
    let text = CStr::from_bytes_until_nul(&text).ok()?.to_string_lossy();
    (code == CUresult::CUDA_SUCCESS && !text.is_empty()).then(|| text.to_ascii_lowercase())
}

// Contexts, streams and events: the driver's handles, each released once.

/// A device's primary context or an additional one, released on drop. (`cust` only supports primary
/// contexts.)
pub(super) struct OwnedContext {
    pub raw: sys::CUcontext,
    device: sys::CUdevice,
    is_primary: bool,
}

// SAFETY: a context handle is valid on every thread.
unsafe impl Send for OwnedContext {}
// SAFETY: as above; the driver's functions are thread-safe.
unsafe impl Sync for OwnedContext {}

impl OwnedContext {
    /// Retains the device's primary context, or creates another one, and makes it current.
    pub(super) fn new(device: Device, is_primary: bool) -> Result<OwnedContext> {
        let mut raw = std::ptr::null_mut();
        let device = device.as_raw();
        // SAFETY: `raw` is valid for the write.
        let (call, code) = unsafe {
            if is_primary {
                let code = sys::cuDevicePrimaryCtxRetain(&mut raw, device);
                ("cuDevicePrimaryCtxRetain", code)
            } else {
                ("cuCtxCreate", sys::cuCtxCreate_v2(&mut raw, 0, device))
            }
        };
        check(call, code)?;
        let context = OwnedContext {
            raw,
            device,
            is_primary,
        };
        if !is_primary {
            // Creation pushes it onto this thread's context stack; this crate only ever replaces the
            // top.
            let mut top = std::ptr::null_mut();
            // SAFETY: `top` is valid for the write.
            check("cuCtxPopCurrent", unsafe {
                sys::cuCtxPopCurrent_v2(&mut top)
            })?;
        }
        context.make_current().map(|()| context)
    }

    /// Makes it current on the calling thread. The driver is asked which one is: another engine on
    /// this thread may have made its own current, or none when it was dropped.
    pub(super) fn make_current(&self) -> Result<()> {
        if current() == self.raw {
            return Ok(());
        }
        // SAFETY: the context is alive.
        check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.raw) })
    }

    /// Allows or forbids this context to reach memory of another device's. Returns `false` if it cannot
    /// reach it, or reaches as many others as it can.
    pub(super) fn set_peer_access(&self, peer: &OwnedContext, is_allowed: bool) -> Result<bool> {
        self.make_current()?;
        // SAFETY: both contexts are alive.
        let (call, code) = unsafe {
            if is_allowed {
                let code = sys::cuCtxEnablePeerAccess(peer.raw, 0);
                ("cuCtxEnablePeerAccess", code)
            } else {
                let code = sys::cuCtxDisablePeerAccess(peer.raw);
                ("cuCtxDisablePeerAccess", code)
            }
        };
        match code {
            CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
            | CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED => Ok(true),
            CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED | CUresult::CUDA_ERROR_TOO_MANY_PEERS => {
                Ok(false)
            }
            code => check(call, code).map(|()| true),
        }
    }

    /// Calls `act` with this context current and then restores the previous one. For drops, which
    /// may happen on any thread during another context's work.
    pub(super) fn within(&self, act: impl FnOnce()) {
        let before = current();
        if self.make_current().is_ok() {
            act();
            if before != self.raw {
                // SAFETY: it was current before; null means no context.
                unsafe { sys::cuCtxSetCurrent(before) };
            }
        }
    }
}

/// The calling thread's context, or null.
fn current() -> sys::CUcontext {
    let mut raw = std::ptr::null_mut();
    // SAFETY: `raw` is valid for the write; on failure it stays null.
    unsafe { sys::cuCtxGetCurrent(&mut raw) };
    raw
}

impl Drop for OwnedContext {
    fn drop(&mut self) {
        let ours = current() == self.raw;
        // SAFETY: released once, in the way it was created, after everything in it was freed. The
        // thread does not keep a handle to a destroyed context.
        unsafe {
            if ours {
                sys::cuCtxSetCurrent(std::ptr::null_mut());
            }
            if self.is_primary {
                sys::cuDevicePrimaryCtxRelease_v2(self.device);
            } else {
                sys::cuCtxDestroy_v2(self.raw);
            }
        }
    }
}

/// Blocks until everything in the current context is done.
pub(super) fn synchronize() -> Result<()> {
    // SAFETY: no precondition.
    check("cuCtxSynchronize", unsafe { sys::cuCtxSynchronize() })
}

/// CU_STREAM_LEGACY: the handle of the current context's default stream, in which synchronous
/// copies run too.
const LEGACY: usize = 1;

/// A stream, destroyed on drop unless it is the default stream. (`cust::Stream::new` silently
/// ignores NON_BLOCKING.)
pub(super) struct RawStream(pub sys::CUstream);

impl RawStream {
    /// Creates a stream of the current context.
    pub(super) fn new(spec: StreamSpec) -> Result<RawStream> {
        let flags = match spec.kind {
            StreamKind::NonBlocking => 1, // CU_STREAM_NON_BLOCKING
            StreamKind::Blocking => 0,    // CU_STREAM_DEFAULT
            StreamKind::Default => {
                return Ok(RawStream(std::ptr::without_provenance_mut(LEGACY)));
            }
        };
        // The highest priority is the smallest number.
        let (mut lowest, mut priority) = (0, 0);
        if spec.priority == Priority::High {
            // SAFETY: both are valid for the write; a context is current.
            check("cuCtxGetStreamPriorityRange", unsafe {
                sys::cuCtxGetStreamPriorityRange(&mut lowest, &mut priority)
            })?;
        }
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is valid for the write; a context is current.
        let code = unsafe { sys::cuStreamCreateWithPriority(&mut raw, flags, priority) };
        check("cuStreamCreateWithPriority", code).map(|()| RawStream(raw))
    }
}

impl Drop for RawStream {
    fn drop(&mut self) {
        if self.0.addr() != LEGACY {
            // SAFETY: destroyed once; the driver finishes queued work first.
            unsafe { sys::cuStreamDestroy_v2(self.0) };
        }
    }
}

/// An event of one device. (`cust`'s `wait_event` consumes its `Event`, so it cannot be reused.)
pub(super) struct Event(pub sys::CUevent);

impl Event {
    pub(super) fn new(timing: bool) -> Result<Event> {
        let mut raw = std::ptr::null_mut();
        let flags = if timing { 0 } else { 2 }; // CU_EVENT_DISABLE_TIMING
        // SAFETY: `raw` is valid for the write; a context is current.
        let code = unsafe { sys::cuEventCreate(&mut raw, flags) };
        check("cuEventCreate", code).map(|()| Event(raw))
    }

    /// Records the event in a stream.
    pub(super) fn record(&self, stream: sys::CUstream) -> Result<()> {
        // SAFETY: event and stream are alive and of one context.
        check("cuEventRecord", unsafe {
            sys::cuEventRecord(self.0, stream)
        })
    }

    /// During capture: adds a node that records the event at each replay.
    pub(super) fn record_external(&self, stream: sys::CUstream) -> Result<()> {
        // SAFETY: event and stream are alive and of one context. 1 is CU_EVENT_RECORD_EXTERNAL.
        check("cuEventRecordWithFlags", unsafe {
            sys::cuEventRecordWithFlags(self.0, stream, 1)
        })
    }

    /// Makes a stream wait for the event.
    pub(super) fn make_stream_wait(&self, stream: sys::CUstream) -> Result<()> {
        // SAFETY: event and stream are alive.
        check("cuStreamWaitEvent", unsafe {
            sys::cuStreamWaitEvent(stream, self.0, 0)
        })
    }

    /// Whether the event has fired.
    pub(super) fn fired(&self) -> Result<bool> {
        // SAFETY: the event is alive.
        match unsafe { sys::cuEventQuery(self.0) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => check("cuEventQuery", code).map(|()| true),
        }
    }

    /// Milliseconds from an earlier event to this one, at the driver's resolution of 0.5 µs.
    fn ms_since(&self, earlier: &Event) -> Result<f32> {
        let mut ms = 0.0;
        // SAFETY: both events are alive and were made for timing.
        let code = unsafe { sys::cuEventElapsedTime(&mut ms, earlier.0, self.0) };
        check("cuEventElapsedTime", code).map(|()| ms)
    }

    fn synchronize(&self) -> Result<()> {
        // SAFETY: the event is alive.
        check("cuEventSynchronize", unsafe {
            sys::cuEventSynchronize(self.0)
        })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is destroyed once. The result does not matter, even after a lost
        // context.
        unsafe { sys::cuEventDestroy_v2(self.0) };
    }
}

/// A device's unused events, for reuse: without timing, which is cheaper, and with it.
#[derive(Default)]
pub(super) struct EventPool {
    pub plain: Vec<Event>,
    pub timing: Vec<Event>,
}

impl EventPool {
    /// Takes an event without timing.
    pub(super) fn plain(&mut self) -> Result<Event> {
        self.plain.pop().map_or_else(|| Event::new(false), Ok)
    }

    /// Takes an event with timing.
    fn timing(&mut self) -> Result<Event> {
        self.timing.pop().map_or_else(|| Event::new(true), Ok)
    }
}

// Device times from events: the clock and the spans of a program's steps.

/// An event whose time is known, so that the times of a run are relative to it. A device's clock shows
/// nanoseconds since the engine's start, derived from events.
///
/// The driver returns the time between two events as milliseconds in an `f32`, which loses
/// precision as the time grows. So an anchor is renewed every second. The host knows between which of
/// its own times an anchor fired, so that the clocks of several devices do not drift apart.
pub(super) struct Anchor {
    event: Event,
    nanos: i64,
    /// When the clock showed 0.
    zero: Instant,
    /// When it fired at the earliest and at the latest, by the host's clock.
    fired: [i64; 2],
}

impl Anchor {
    /// An event in an idle stream, which takes microseconds.
    pub(super) fn new(idle: sys::CUstream, zero: Instant) -> Result<Anchor> {
        let event = Event::new(true)?;
        let asked = Instant::now();
        event.record(idle)?;
        event.synchronize()?;
        let fired = [asked, Instant::now()].map(|moment| (moment - zero).as_nanos() as i64);
        Ok(Anchor {
            event,
            nanos: fired[0].midpoint(fired[1]),
            zero,
            fired,
        })
    }

    /// The anchor for events recorded from now on: this one, or a new one after a second.
    pub(super) fn renewed(self: &Rc<Anchor>, idle: sys::CUstream) -> Result<Rc<Anchor>> {
        let age = self.zero.elapsed().as_nanos() as i64 - self.fired[1];
        if age <= 1_000_000_000 {
            return Ok(self.clone());
        }
        let new = Anchor::new(idle, self.zero)?;
        let nanos = self.nanos(&new.event)?;
        let nanos = nanos.clamp(new.fired[0], new.fired[1]);
        Ok(Rc::new(Anchor { nanos, ..new }))
    }

    /// How far its time can be from the host's clock, in nanoseconds.
    pub(super) fn error(&self) -> i64 {
        self.fired[1] - self.fired[0]
    }

    /// The time at which an event fired, on the device's clock.
    pub(super) fn nanos(&self, event: &Event) -> Result<i64> {
        Ok(self.nanos + (f64::from(event.ms_since(&self.event)?) * 1e6) as i64)
    }
}

/// The time that the host spent in the calls of a step until now. Devices' clocks show 0 at `zero`.
pub(super) fn host_span(step: u32, stream: StreamId, began: Instant, zero: Instant) -> Span {
    Span {
        step,
        stream,
        start: Nanos((began - zero).as_nanos() as i64),
        end: Nanos(zero.elapsed().as_nanos() as i64),
    }
}

/// The timing events of some steps of a run, on a device.
pub(super) struct Timing {
    pub gpu: usize,
    /// The issuer whose steps it times.
    pub issuer: IssuerId,
    pub origin: Rc<Anchor>,
    pub timer: Rc<Timer>,
    /// Whether the events return to the pool; a graph keeps its own.
    pub pooled: bool,
}

impl Timing {
    /// Appends the spans of its steps. Every event must have fired.
    pub(super) fn spans(&self, spans: &mut Vec<Span>) -> Result<()> {
        let at = |event: usize| self.origin.nanos(&self.timer.events[event]).map(Nanos);
        for &(step, stream, [from, to]) in &self.timer.steps {
            spans.push(Span {
                step,
                stream,
                start: at(from)?,
                end: at(to)?,
            });
        }
        Ok(())
    }
}

/// Collects the timing events of a program. Steps issued consecutively in one stream share an
/// event: the end of one is the start of the next. Other steps do not, since the stream may have
/// been idle between them.
#[derive(Default)]
pub(super) struct Timer {
    pub events: Vec<Event>,
    /// Each step with its stream, and the indices of the events before and after it.
    pub steps: Vec<(u32, StreamId, [usize; 2])>,
    /// The stream of the last step, and the index of the event after it; `None` if the host waited
    /// since, so that the next step needs its own start event.
    pub latest: Option<(StreamId, usize)>,
}

impl Timer {
    fn record(
        &mut self,
        pool: &mut EventPool,
        stream: StreamId,
        record: impl FnOnce(&Event) -> Result<()>,
    ) -> Result<usize> {
        let event = pool.timing()?;
        record(&event)?;
        self.events.push(event);
        let at = self.events.len() - 1;
        self.latest = Some((stream, at));
        Ok(at)
    }

    /// Records the start of a step, unless the previous step's end event serves.
    pub(super) fn before(
        &mut self,
        pool: &mut EventPool,
        stream: StreamId,
        record: impl FnOnce(&Event) -> Result<()>,
    ) -> Result<()> {
        match self.latest {
            Some((latest, _)) if latest == stream => Ok(()),
            _ => self.record(pool, stream, record).map(|_| ()),
        }
    }

    /// Records the end of a step.
    pub(super) fn after(
        &mut self,
        pool: &mut EventPool,
        step: usize,
        stream: StreamId,
        record: impl FnOnce(&Event) -> Result<()>,
    ) -> Result<()> {
        let (_, from) = self.latest.expect("the step was begun");
        let to = self.record(pool, stream, record)?;
        self.steps.push((step as u32, stream, [from, to]));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_that_says_nothing_of_one_call_ends_the_context() {
        for code in [
            4, 46, 201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 806,
            999, 1234,
        ] {
            let error = failed("cuEventQuery", code);
            assert!(
                matches!(error, EngineError::ContextLost(_)),
                "{code}: {error}"
            );
        }
        for code in [1, 101, 209, 218, 301, 400, 401, 500, 701, 801, 900] {
            let error = failed("cuLaunchKernel", code);
            assert!(matches!(error, EngineError::Driver(_)), "{code}: {error}");
        }
        let error = failed("cuMemAlloc", 2);
        assert_eq!(error, EngineError::DriverOutOfMemory("cuMemAlloc"));
    }

    #[test]
    fn what_is_wrong_at_the_start_is_not_said_of_lattices() {
        let lost = || failed("cuDeviceGetName", 719);
        let why = fault("cuDeviceGetName", 719).to_string();
        assert!(
            why.starts_with("cuDeviceGetName: ") && why.contains("CUDA error 719"),
            "{why}"
        );
        let said = format!("the engine is lost ({why}); every lattice must be restored");
        assert_eq!(lost().to_string(), said);
        let said = format!("the GPU cannot be used: {why}; check nvidia-smi, or use --device cpu");
        assert_eq!(at_start(lost()).to_string(), said);
    }
}
