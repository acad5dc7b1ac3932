//! The engine's errors.

use engine::kernels::{OwnStepError, SupportedSizes};
use engine::{
    BufferLocation, DriverFault, EngineError, Feature, HostMemory, Layout, Loss, MemoryUse,
    Missing, NoCuda, ProgramError, SizeLimit, UnusableGpu,
};
use lang::tr;
use life::memory::remedy;
use life::{counted_lattices, grouped};

use super::{InWords, shown};

impl InWords for EngineError {
    fn in_words(&self) -> String {
        match self {
            EngineError::NoCuda(why) => why.in_words(),
            EngineError::NoSuchDevice { requested, present } => tr!(
                "no CUDA device {requested}: this machine has {present}; 'lifestreams devices' lists them"
            ),
            EngineError::OutOfMemory {
                place,
                what,
                needed_mib,
                fits,
            } => tr!(
                "out of {place} memory: {needed_mib} MiB for {what}; {}",
                remedy(*fits),
                place = place_in_words(*place),
                what = use_in_words(*what)
            ),
            EngineError::Memory(error) => error.to_string(),
            EngineError::NoThread => tr!(
                "cannot start a thread; raise the process limit (ulimit -u) or close other programs"
            )
            .into(),
            EngineError::UnsupportedSize {
                kernel,
                limit,
                size,
                instead,
            } => tr!(
                "kernel '{kernel}' supports {limit}, not {size}; use --kernel {instead}",
                limit = limit.in_words()
            ),
            EngineError::TooFewSms {
                kernel,
                needed,
                size,
                device,
                has,
                instead,
            } => tr!(
                "kernel '{kernel}' needs {needed} SMs for lattices of {size}, and {device} has {has}; --kernel {instead} runs there"
            ),
            EngineError::NoOwnCode { is_gpu: true } => {
                tr!("your kernel was compiled for the CPU, and a GPU computes").into()
            }
            EngineError::NoOwnCode { is_gpu: false } => {
                tr!("your kernel was compiled for a GPU, and the CPU computes").into()
            }
            EngineError::OwnCodeRefused(fault) => tr!(
                "the driver does not load your kernel: {reason}",
                reason = result_in_words(fault)
            ),
            EngineError::UnusableGpu(why) => why.in_words(),
            EngineError::BadBlock {
                kernel,
                block,
                shapes,
            } => {
                let named = |(across, down): &(u32, u32)| format!("{across}x{down}");
                let shapes: Vec<_> = shapes.iter().map(named).collect();
                tr!(
                    "kernel '{kernel}' takes blocks of {shapes}, not {block}",
                    shapes = shapes.join(", "),
                    block = named(block)
                )
            }
            EngineError::Unsupported(feature, missing) => match missing {
                Missing::Device => tr!(
                    "this device does not support {feature}",
                    feature = feature_in_words(*feature)
                ),
                Missing::SecondDevice => tr!(
                    "there is only one GPU here, and {feature} need two",
                    feature = feature_in_words(*feature)
                ),
                Missing::Function(name) => tr!(
                    "the NVIDIA driver is too old for {feature}: it lacks {function}; update it",
                    feature = feature_in_words(*feature),
                    function = name
                ),
                Missing::Cuda(major, minor) => tr!(
                    "the NVIDIA driver is too old for {feature}: CUDA {major}.{minor} is needed; update it",
                    feature = feature_in_words(*feature)
                ),
            },
            EngineError::ContextLost(loss @ Loss::OwnKernel(_)) => {
                tr!("your kernel failed: {it}", it = loss.in_words())
            }
            EngineError::ContextLost(loss) => tr!(
                "the engine is lost ({it}); every lattice must be restored",
                it = loss.in_words()
            ),
            EngineError::PartiallyApplied(error) => tr!(
                "work on the lattices failed midway ({it}); every lattice must be restored",
                it = error.in_words()
            ),
            EngineError::DriverOutOfMemory(call) => tr!(
                "out of device memory in {call}; use fewer --instances, a smaller --size or --kernel bits"
            ),
            EngineError::Driver(fault) => tr!(
                "{call} failed: {reason}; check nvidia-smi, or use --device cpu",
                call = fault.call,
                reason = result_in_words(fault)
            ),
            EngineError::InvalidProgram(ProgramError::NoKernel) => tr!(
                "internal: {it}",
                it = tr!("no kernel fits these lattices and options")
            ),
            // A bug: the phrase is for whoever mends it.
            EngineError::SlotBusy(..) => tr!("internal: {it}", it = self),
            EngineError::InvalidProgram(error) => tr!("internal: {it}", it = error),
        }
    }
}

/// What happened, without what it means for the lattices.
pub fn reason(error: &EngineError) -> String {
    match error {
        EngineError::ContextLost(loss) => loss.in_words(),
        EngineError::PartiallyApplied(error) => error.in_words(),
        other => other.in_words(),
    }
}

/// The driver's text for a result, with the number.
fn result_in_words(fault: &DriverFault) -> String {
    match &fault.text {
        Some(text) => format!("{text} (CUDA error {})", fault.code),
        None => format!("CUDA error {}", fault.code),
    }
}

fn call_in_words(fault: &DriverFault) -> String {
    format!("{}: {}", fault.call, result_in_words(fault))
}

impl InWords for NoCuda {
    fn in_words(&self) -> String {
        match self {
            NoCuda::NoDriver(why) => tr!(
                "no NVIDIA driver is installed here ({why}): install it for CUDA, or use --device cpu"),
            NoCuda::DriverFails(fault, file) => {
                let file = shown(file);
                let remedy = match fault.code {
                    34 => tr!(
                        "{file} is the stub of a CUDA toolkit; install the driver, take the stub's folder out of LD_LIBRARY_PATH, or use --device cpu"
                    ),
                    100 => tr!(
                        "no NVIDIA GPU is visible; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu"
                    ).into(),
                    802 => tr!("the GPU is not ready; check nvidia-smi, or use --device cpu").into(),
                    803 => tr!(
                        "the driver's library and its kernel module differ; reboot or reinstall the driver, or use --device cpu"
                    ).into(),
                    804 => tr!(
                        "this driver or GPU does not support the forward-compatible library {file}; update the driver, take the library's folder out of LD_LIBRARY_PATH, or use --device cpu"
                    ),
                    999 => tr!(
                        "{file} gives no reason; load the kernel module with 'sudo nvidia-modprobe -u', reboot, or use --device cpu"
                    ),
                    _ => tr!("check nvidia-smi, or use --device cpu").into(),
                };
                tr!(
                    "the NVIDIA driver does not start: {reason}; {remedy}",
                    reason = result_in_words(fault))
            }
            NoCuda::UnknownVersion => tr!(
                "the NVIDIA driver does not say which CUDA it supports; reinstall it, or use --device cpu"
            )
            .into(),
            NoCuda::OldDriver(major, minor) => tr!(
                "the NVIDIA driver is too old: it supports CUDA {major}.{minor}, and 11.4 (driver 470) is needed; update it, or use --device cpu"),
            NoCuda::NoGpu => tr!(
                "no NVIDIA GPU is visible; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu"
            )
            .into(),
        }
    }
}

impl InWords for UnusableGpu {
    fn in_words(&self) -> String {
        match self {
            UnusableGpu::Fails(fault) => tr!(
                "the GPU cannot be used: {why}; check nvidia-smi, or use --device cpu",
                why = call_in_words(fault)
            ),
            UnusableGpu::Full(call) => tr!(
                "the GPU has no memory left to start ({call}): other programs hold it; close those that nvidia-smi lists, or use --device cpu"
            ),
            UnusableGpu::Old {
                device,
                has,
                needed,
            } => tr!(
                "{device} has compute capability {}.{}, and {}.{} or newer is needed; use --device cpu",
                has.0,
                has.1,
                needed.0,
                needed.1
            ),
        }
    }
}

impl InWords for Loss {
    fn in_words(&self) -> String {
        let failed = |op: &'static str, why: &str| tr!("{op} failed: {why}", op = lang::text(op));
        match self {
            Loss::Driver(fault) => call_in_words(fault),
            Loss::Panic(op, why) => failed(op, why),
            Loss::Op(op, error) => failed(op, &error.in_words()),
            Loss::OwnKernel(OwnStepError::TooLong) => tr!("it took too long").into(),
            Loss::OwnKernel(OwnStepError::Crashed) => tr!("it crashed").into(),
            Loss::Thread => tr!("internal: its thread panicked").into(),
            Loss::Error(error) => reason(error),
            Loss::NoSnapshot => tr!("no snapshot of the lattices is left").into(),
        }
    }
}

impl InWords for SizeLimit {
    fn in_words(&self) -> String {
        match *self {
            SizeLimit::Cells(most) => tr!("at most {most} cells", most = grouped(most)),
            SizeLimit::Sides(SupportedSizes::Any) => tr!("lattices of any size").into(),
            SizeLimit::Sides(SupportedSizes::WidthsFrom(cells)) => {
                tr!("widths from {cells} cells on")
            }
            SizeLimit::Sides(SupportedSizes::NearSquares(most)) => tr!(
                "lattices from 32x32 to {most}x{most}, whose sides are the same multiple of 32 once they are rounded up"
            ),
            SizeLimit::Sides(SupportedSizes::Between { widths, min_height }) => tr!(
                "widths from {from} to {to} cells and heights from {height} cells on",
                from = widths.0,
                to = widths.1,
                height = min_height
            ),
        }
    }
}

fn feature_in_words(feature: Feature) -> &'static str {
    match feature {
        Feature::MemoryPools => tr!("stream-ordered allocation"),
        Feature::ManagedMemory => tr!("page faults in unified memory"),
        Feature::WhileGraphs => tr!("loops in CUDA graphs"),
        Feature::PeerCopies => tr!("copies between GPUs"),
        Feature::Bands => tr!("lattices in bands"),
    }
}

fn place_in_words(place: BufferLocation) -> &'static str {
    match place {
        BufferLocation::Device | BufferLocation::Pool => tr!("device"),
        BufferLocation::Managed => tr!("unified"),
        BufferLocation::Host(HostMemory::Pinned) => tr!("page-locked host"),
        BufferLocation::Host(HostMemory::Pageable) => tr!("host"),
    }
}

fn use_in_words(what: MemoryUse) -> String {
    match what {
        MemoryUse::Lattices(count, Layout::Bits) => {
            tr!("{lattices} in bits", lattices = counted_lattices(count))
        }
        MemoryUse::Lattices(count, Layout::I32) => tr!(
            "{lattices} at 4 bytes per cell",
            lattices = counted_lattices(count)
        ),
        MemoryUse::Lattices(count, Layout::Planar) => tr!(
            "{lattices} in planar words",
            lattices = counted_lattices(count)
        ),
        MemoryUse::Edits => tr!("the edits").into(),
        MemoryUse::Views => tr!("the reduced views").into(),
        MemoryUse::Measures => tr!("the measures of lattices").into(),
        MemoryUse::Mail => tr!("mail between blocks").into(),
        MemoryUse::Buffer => tr!("a buffer").into(),
        MemoryUse::BlockTimestamps => tr!("the block timestamps of a program's kernels").into(),
        MemoryUse::Slot(count) => tr!(
            "a host slot for {lattices}",
            lattices = counted_lattices(count)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::kernels::find;
    use life::Size;

    #[test]
    fn a_size_that_a_kernel_does_not_support_is_said_with_the_limit_and_a_kernel_that_does() {
        let small = Size::new(31, 41).unwrap();
        for (kernel, size, limit) in [
            ("planar", small, "widths from 32 cells on, not 31x41"),
            ("multistep", small, "widths from 128 cells on, not 31x41"),
            (
                "resident",
                small,
                "lattices from 32x32 to 256x256, whose sides are the same multiple of 32 once they \
                 are rounded up, not 31x41",
            ),
            (
                "cooperative",
                small,
                "widths from 128 to 5120 cells and heights from 16 cells on, not 31x41",
            ),
            (
                "sync-shared",
                Size::new(512, 512).unwrap(),
                "at most 24,576 cells, not 512x512",
            ),
        ] {
            let error = find(kernel).unwrap().validate_size(size).unwrap_err();
            let said = error.in_words();
            let wanted = format!("kernel '{kernel}' supports {limit}; use --kernel bits");
            assert_eq!(said, wanted);
        }
    }

    #[test]
    fn what_is_wrong_at_the_start_is_not_said_of_lattices() {
        let fault = |code, text: &str| DriverFault {
            call: "cuDeviceGetName",
            code,
            text: Some(text.into()),
        };
        for (error, wanted) in [
            (
                EngineError::UnusableGpu(UnusableGpu::Fails(fault(719, "launch failure"))),
                "the GPU cannot be used: cuDeviceGetName: launch failure (CUDA error 719); \
                 check nvidia-smi, or use --device cpu",
            ),
            (
                EngineError::NoCuda(NoCuda::DriverFails(fault(803, "mismatch"), "libcuda.so.1")),
                "the NVIDIA driver does not start: mismatch (CUDA error 803); the driver's library \
                 and its kernel module differ; reboot or reinstall the driver, or use --device cpu",
            ),
            (
                EngineError::ContextLost(Loss::Driver(fault(719, "launch failure"))),
                "the engine is lost (cuDeviceGetName: launch failure (CUDA error 719)); every \
                 lattice must be restored",
            ),
        ] {
            assert_eq!(error.in_words(), wanted);
        }
    }
}
