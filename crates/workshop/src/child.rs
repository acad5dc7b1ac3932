//! The process in which kernels run, so that a crash, an endless loop or a wild write ends that process
//! alone; and what it is asked over its standard input and output.

use crate::case::Case;
use crate::check::{
    Device, Stepper, cases, cases_for_gpu, check_case, lattice_of, shape, words_of,
};
use crate::declarations::OwnKernel;
use crate::emulator::Emulated;
use crate::fault::{Failure, Fault, Unchecked};
use crate::gpu::Gpu;
use crate::nvrtc::GpuCompiler;
use engine::Occupancy;
use engine::cuda::driver_version;
use engine::kernels::GpuCode;
use life::{Lattice, Size};
use platform::contained::{Ended, Limits, Process};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::{fs, io};

/// What runs the kernels of a [`Workshop`](crate::Workshop).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Machine {
    /// The GPU of this number.
    Gpu(u32),
    /// This computer's CPU, which runs the kernel compiled as C++. It finds races, too, but its times
    /// mean nothing.
    Emulator,
}

/// What a child is to do.
#[derive(Serialize, Deserialize)]
pub(crate) enum Request {
    /// Check a kernel in cases drawn from a seed. For the emulator, its library follows; for a GPU, the
    /// source is compiled.
    Check {
        source: String,
        /// Seconds that a launch may take.
        seconds: u32,
        seed: u64,
    },
    /// Find the line behind which a barrier is missing in the kernel that was checked.
    FindBarrier {
        /// What the cases were drawn from.
        seed: u64,
        /// The case that has a race.
        case: Case,
        /// The lines that it may be.
        lines: Vec<u32>,
    },
    /// Take a kernel that is right, whose library follows.
    Load { source: String },
    /// Step a lattice, whose bits follow.
    Step {
        sides: (u32, u32),
        rule: String,
        generations: u32,
        /// Seconds that a launch may take.
        seconds: u32,
    },
}

/// What a child answers if nothing is wrong.
#[derive(Serialize, Deserialize)]
pub(crate) enum Answer {
    /// Every case is right.
    Right {
        /// How many there were.
        cases: usize,
        /// The kernel's code for the GPU, and what compiled it.
        compiled: Option<(GpuCode, GpuCompiler)>,
        facts: Option<Occupancy>,
    },
    /// Behind this line a barrier was missing, or behind none.
    Barrier(Option<u32>),
    /// The kernel can step lattices, or has stepped one, whose bits follow.
    Ready,
    /// There is no compiler for the GPU.
    NoCompiler,
    /// The kernel was not checked: why.
    Unchecked(String),
}

/// Makes commands that call [`serve`].
pub(crate) type Child = Arc<dyn Fn() -> Command + Send + Sync>;

/// Starts a process that runs kernels, and may write files in this folder.
pub(crate) fn start(
    child: &Child,
    folder: &Path,
    machine: Machine,
    time: Duration,
) -> io::Result<Process> {
    let mut command = child();
    command.arg(folder).env("TMPDIR", folder);
    let limits = match machine {
        Machine::Emulator => Limits {
            time,
            resident: 1 << 30,
            address_space: Some(4 << 30),
        },
        Machine::Gpu(ordinal) => {
            command.arg(ordinal.to_string());
            Limits {
                time,
                // It has the driver in its memory, and a compiler.
                resident: 4 << 30,
                address_space: None,
            }
        }
    };
    Process::answering(command, limits)
}

/// A child's answer to a request, and the bytes that follow it. What ends the process, or is missing of its
/// answer, is wrong with the kernel.
pub(crate) fn ask(
    process: &mut Process,
    request: &Request,
    following: &[u8],
    cancel: &AtomicBool,
) -> Result<(Answer, Vec<u8>), Failure> {
    let limits = process.limits;
    let answered = process.ask(cancel, |input, output| {
        send(input, request, following)?;
        receive::<Result<Answer, Fault>>(output)
    })?;
    let (answer, following) = answered.map_err(|ended| Failure::of(ended, limits))?;
    Ok((answer?, following))
}

impl Failure {
    /// That a process with these limits ended before it answered: something is wrong with its kernel.
    pub fn of(ended: Ended, limits: Limits) -> Failure {
        match ended {
            Ended::Cancelled => Unchecked::Cancelled.into(),
            Ended::TooLong => Failure::Wrong(Fault::TooLong {
                seconds: limits.time.as_secs() as u32,
                thread: None,
            }),
            Ended::TooMuchMemory => Failure::Wrong(Fault::TooMuchMemory {
                bytes: limits.resident,
            }),
            Ended::ByItself(_) => Fault::Crashed.into(),
        }
    }
}

/// Sends a message and what follows it.
fn send<T: Serialize>(output: &mut impl Write, message: &T, following: &[u8]) -> io::Result<()> {
    let json = serde_json::to_vec(message)?;
    for part in [&json, following] {
        output.write_all(&(part.len() as u64).to_le_bytes())?;
        output.write_all(part)?;
    }
    output.flush()
}

/// Waits for a message and what follows it.
fn receive<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<(T, Vec<u8>)> {
    const MAX_BYTES: u64 = 1 << 32;
    let mut part = || {
        let mut length = [0; 8];
        input.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length);
        if length > MAX_BYTES {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        let mut bytes = Vec::new();
        let read = input.take(length).read_to_end(&mut bytes)? as u64;
        if read < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes)
    };
    let (json, following) = (part()?, part()?);
    Ok((serde_json::from_slice(&json)?, following))
}

/// Does what requests on standard input ask, until there are no more. `folder` is where this process may
/// write files. Whatever else it writes to standard output goes nowhere.
///
/// # Errors
/// A request or its files cannot be read, or an answer cannot be written.
pub fn serve(folder: &Path, machine: Machine) -> io::Result<()> {
    let mut output = platform::contained::take_stdout()?;
    let mut input = io::stdin().lock();
    // Opened before anything is asked, since it takes long.
    let mut gpu = match machine {
        Machine::Gpu(ordinal) => Some(Gpu::open(ordinal)),
        Machine::Emulator => None,
    };
    let mut loaded = None;
    loop {
        let (request, following) = match receive(&mut input) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        };
        let mut stepped = Vec::new();
        let answer = match (request, &mut gpu) {
            (_, Some(Err(error))) => Ok(Answer::Unchecked(error.to_string())),
            (request, Some(Ok(gpu))) => check_on_gpu(gpu, request),
            (request, None) => emulate(folder, &mut loaded, request, &following, &mut stepped),
        };
        let answer = match answer {
            Ok(answer) => Ok(answer),
            Err(Failure::Wrong(fault)) => Err(fault),
            Err(Failure::Unchecked(why)) => Ok(Answer::Unchecked(why.to_string())),
        };
        send(&mut output, &answer, &stepped)?;
    }
}

/// Does what a request asks in the emulator, with the kernel that was loaded last.
fn emulate(
    folder: &Path,
    loaded: &mut Option<(OwnKernel, Emulated)>,
    request: Request,
    following: &[u8],
    stepped: &mut Vec<u8>,
) -> Result<Answer, Failure> {
    if let Request::Check { source, .. } | Request::Load { source } = &request {
        let own = read(source)?;
        let file = tempfile::Builder::new().suffix(".so").tempfile_in(folder)?;
        fs::write(file.path(), following)?;
        let emulated = Emulated::load(file.path(), &own)?;
        *loaded = Some((own, emulated));
    }
    let none = io::Error::from(io::ErrorKind::InvalidInput);
    let (own, emulated) = loaded.as_mut().ok_or(none)?;
    Ok(match request {
        Request::Load { .. } => Answer::Ready,
        Request::Check { seconds, seed, .. } => {
            emulated.contain(seconds);
            let cases = cases(own, seed);
            check_cases(emulated, own, &cases)?;
            Answer::Right {
                cases: cases.len(),
                compiled: None,
                facts: None,
            }
        }
        Request::FindBarrier { seed, case, lines } => {
            Answer::Barrier(find_barrier(emulated, own, seed, &case, &lines))
        }
        Request::Step {
            sides: (width, height),
            rule,
            generations,
            seconds,
        } => {
            let size = Size::new(width.into(), height.into()).map_err(io::Error::other)?;
            let lattice = Lattice::from_words(size, bytemuck::pod_collect_to_vec(following));
            emulated.contain(seconds);
            let mut stepper = Stepper {
                device: emulated,
                own,
                size,
                rule: rule.parse().map_err(io::Error::other)?,
                lattices: 1,
            };
            let layout = own.rung.layout;
            let words = stepper.step(words_of(&lattice, layout), generations)?;
            let lattice = lattice_of(size, &words, layout);
            *stepped = bytemuck::cast_slice(lattice.words()).to_vec();
            Answer::Ready
        }
    })
}

fn read(source: &str) -> io::Result<OwnKernel> {
    OwnKernel::read(source.into()).map_err(io::Error::other)
}

/// Compiles a kernel for the GPU and checks it there.
fn check_on_gpu(gpu: &mut Gpu, request: Request) -> Result<Answer, Failure> {
    let Request::Check {
        source,
        seconds,
        seed,
    } = request
    else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput).into());
    };
    let (Some(compiler), Some(capability)) = (GpuCompiler::find(), gpu.capability()) else {
        return Ok(Answer::NoCompiler);
    };
    let code = compiler.compile(&source, capability, driver_version())?;
    let own = &read(&source)?;
    gpu.load(own, code.clone(), Duration::from_secs(seconds.into()))?;
    let cases = cases_for_gpu(own, seed);
    check_cases(gpu, own, &cases)?;
    let launch = |case: &Case| shape(own, case.size(), case.lattices, gpu.sm_count());
    let shapes = cases.iter().map(launch);
    let largest = shapes.max_by_key(|shape| shape.shared_bytes);
    Ok(Answer::Right {
        cases: cases.len(),
        compiled: Some((code, compiler)),
        facts: largest.map_or(Ok(None), |shape| gpu.facts(shape))?,
    })
}

/// Runs cases until one is wrong.
fn check_cases(device: &mut dyn Device, own: &OwnKernel, cases: &[Case]) -> Result<(), Fault> {
    // By turns beyond the end of its buffers and before their beginning a kernel meets memory that it may
    // not touch.
    let mut numbered = cases.iter().enumerate();
    numbered.try_for_each(|(number, case)| check_case(device, own, case, number % 2 == 0))
}

/// The first line behind which a barrier mends this case, or better all.
fn find_barrier(
    kernel: &mut Emulated,
    own: &OwnKernel,
    seed: u64,
    case: &Case,
    lines: &[u32],
) -> Option<u32> {
    let mut is_mended = |line: u32, case: &Case| {
        kernel.set_extra_barrier(line);
        check_case(kernel, own, case, true).is_ok()
    };
    let all = cases(own, seed);
    let mut first = None;
    for &line in lines {
        if is_mended(line, case) {
            if all.iter().all(|case| is_mended(line, case)) {
                return Some(line);
            }
            first = first.or(Some(line));
        }
    }
    first
}
