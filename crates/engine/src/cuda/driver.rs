//! Finding the driver and reading its answers.

use cust::device::{Device, DeviceAttribute};
use cust::error::CudaError;
use cust::sys::{self, CUresult};

use crate::{DeviceInfo, EngineError, Result};

/// The oldest driver that has every function this engine calls (CUDA 11.4, driver 470).
const OLDEST_DRIVER: i32 = 11_040;

/// Turns a driver's answer into ours; `call` names the function for the message.
pub(super) fn check(call: &'static str, code: CUresult) -> Result<()> {
    if code == CUresult::CUDA_SUCCESS {
        Ok(())
    } else {
        Err(failed(call, code as u32))
    }
}

/// The same for what `cust` answers.
pub(super) fn cust<T>(call: &'static str, answer: Result<T, CudaError>) -> Result<T> {
    answer.map_err(|error| failed(call, error as u32))
}

#[cold]
fn failed(call: &'static str, code: u32) -> EngineError {
    let code = result_code(code);
    let reason = describe(code);
    // After these the context answers nothing else; see the driver API's list of results.
    const FATAL: &[u32] = &[
        4, 201, 214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719,
    ];
    if code == 2 {
        return EngineError::OutOfMemory {
            place: "device",
            what: format!("the driver's {call}"),
            needed_mib: 1,
        };
    }
    if FATAL.contains(&code) {
        EngineError::ContextLost(format!("{call}: {reason}"))
    } else {
        EngineError::Driver { call, reason }
    }
}

/// The driver's own number where the enum had no name for it.
fn result_code(code: u32) -> u32 {
    match (code, cuda_loader::last_unknown_code()) {
        (999, known) if known != 0 => known,
        _ => code,
    }
}

/// A result code in the driver's own words.
fn describe(code: u32) -> String {
    match cuda_loader::error_text_of(code) {
        Some(text) => format!("{text} (CUDA error {code})"),
        None => format!("CUDA error {code}"),
    }
}

/// Opens and initialises the driver; how many devices there are, or why it cannot be used.
pub(super) fn initialise() -> Result<u32> {
    let no = |why: String| EngineError::NoCuda(why);
    cuda_loader::open().map_err(|why| {
        no(format!(
            "no NVIDIA driver is installed here ({why}): install it for CUDA, or use --device cpu"
        ))
    })?;
    // Not through `cust`, whose error has no name for some of the answers below.
    // SAFETY: no precondition.
    let answer = result_code(unsafe { sys::cuInit(0) } as u32);
    if answer != 0 {
        let remedy = match answer {
            100 => {
                "no NVIDIA GPU is visible; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu"
            }
            802 => "the GPU is not ready; check nvidia-smi, or use --device cpu",
            803 => {
                "the driver's library and its kernel module differ; reboot or reinstall the driver, or use --device cpu"
            }
            _ => "check nvidia-smi, or use --device cpu",
        };
        return Err(no(format!(
            "the NVIDIA driver does not start: {}; {remedy}",
            describe(answer)
        )));
    }
    let version = driver_version();
    if version < OLDEST_DRIVER {
        return Err(no(format!(
            "the NVIDIA driver is too old: it supports CUDA {}, and 11.4 (driver 470) is needed; update it, or use --device cpu",
            shown(version)
        )));
    }
    let count = cust("cuDeviceGetCount", Device::num_devices())?;
    if count == 0 {
        return Err(no("no NVIDIA GPU is visible; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu".into()));
    }
    Ok(count)
}

fn driver_version() -> i32 {
    let mut version = 0;
    // SAFETY: `version` is valid for the write; on failure it stays 0.
    unsafe { sys::cuDriverGetVersion(&mut version) };
    version
}

fn shown(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// What people know a device by.
pub(super) fn describe_device(device: Device) -> Result<DeviceInfo> {
    let attribute = |which| cust("cuDeviceGetAttribute", device.get_attribute(which));
    let major = attribute(DeviceAttribute::ComputeCapabilityMajor)?;
    let minor = attribute(DeviceAttribute::ComputeCapabilityMinor)?;
    Ok(DeviceInfo {
        name: cust("cuDeviceGetName", device.name())?,
        driver: format!("CUDA {}, sm_{major}{minor}", shown(driver_version())),
        capability: Some((major as u32, minor as u32)),
        units: attribute(DeviceAttribute::MultiprocessorCount)? as u32,
        memory: device.total_memory().ok().map(|bytes| bytes as u64),
        cache: attribute(DeviceAttribute::L2CacheSize)
            .ok()
            .and_then(|bytes| u64::try_from(bytes).ok())
            .filter(|&bytes| bytes > 0),
        copy_engines: attribute(DeviceAttribute::AsyncEngineCount)? as u32,
        kernel_time_limit: attribute(DeviceAttribute::KernelExecTimeout)? != 0,
        pci_bus_id: pci_bus_id(device),
    })
}

fn pci_bus_id(device: Device) -> Option<String> {
    let mut text = [0u8; 32];
    // SAFETY: the buffer is as long as said.
    let code = unsafe { sys::cuDeviceGetPCIBusId(text.as_mut_ptr().cast(), 32, device.as_raw()) };
    let end = text.iter().position(|&b| b == 0)?;
    (code == CUresult::CUDA_SUCCESS && end > 0)
        .then(|| String::from_utf8_lossy(&text[..end]).to_ascii_lowercase())
}
