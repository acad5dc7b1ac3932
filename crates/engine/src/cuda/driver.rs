//! Opens the driver and translates its results.

use std::ffi::CStr;
use std::ops::RangeInclusive;

use cust::device::{Device, DeviceAttribute};
use cust::error::CudaError;
use cust::sys::CUdevice_attribute_enum::*;
use cust::sys::{self, CUresult};

use lang::{Message, message};

use crate::{DeviceInfo, DriverFault, EngineError, Feature, Loss, Result};

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

/// The name and properties of a device.
pub(super) fn describe_device(device: Device) -> Result<DeviceInfo> {
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
    Ok(DeviceInfo {
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
    })
}

fn pci_bus_id(device: Device) -> Option<String> {
    let mut text = [0u8; 32];
    // SAFETY: the buffer has 32 bytes, as passed.
    let code = unsafe { sys::cuDeviceGetPCIBusId(text.as_mut_ptr().cast(), 32, device.as_raw()) };
    let text = CStr::from_bytes_until_nul(&text).ok()?.to_string_lossy();
    (code == CUresult::CUDA_SUCCESS && !text.is_empty()).then(|| text.to_ascii_lowercase())
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
