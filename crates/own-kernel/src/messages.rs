//! What the program and its child process say to each other, over the child's standard input and output.

use std::io::{self, Read, Write};
use std::sync::atomic::AtomicBool;

use engine::kernels::GpuCode;
use platform::contained::{Ended, Process};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::compilers::GpuCompiler;
use crate::{Case, Facts, Fault};

/// What a child is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Take a kernel. For the emulator, its library follows; a GPU's is compiled unless its code is
    /// given.
    Load {
        /// The kernel's source, for its declarations.
        source: String,
        /// The code, if it was compiled before.
        code: Option<GpuCode>,
        /// Seconds that a launch may take.
        seconds: u32,
    },
    /// Check the kernel in cases drawn from this seed.
    Check {
        /// The seed.
        seed: u64,
    },
    /// Find the line behind which a barrier is missing.
    FindBarrier {
        /// What the cases were drawn from.
        seed: u64,
        /// The case that has a race.
        case: Case,
        /// The lines that it may be.
        lines: Vec<u32>,
    },
    /// Step a lattice, whose bits follow.
    Step {
        /// Width and height in cells.
        sides: (u32, u32),
        /// The rule.
        rule: String,
        /// The generations.
        generations: u32,
        /// Seconds that a launch may take.
        seconds: u32,
    },
}

/// What a child answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// The kernel can run.
    Loaded {
        /// Its code for the GPU.
        code: Option<GpuCode>,
        /// What compiled that, if it was compiled now.
        compiler: Option<GpuCompiler>,
    },
    /// Every case is right.
    Right {
        /// How many there were.
        cases: usize,
        /// What the driver says about the kernel.
        facts: Option<Facts>,
    },
    /// Something is wrong.
    Wrong(Fault),
    /// Behind this line a barrier was missing, or behind none.
    Barrier(Option<u32>),
    /// The lattice was stepped; its bits follow.
    Stepped,
    /// There is no compiler for the GPU.
    NoCompiler,
    /// The compiler could not be started, or a file not written.
    Failed(String),
    /// A call of the driver failed before the kernel ran.
    NoGpu {
        /// The driver's function.
        call: String,
        /// The driver's error code.
        code: u32,
    },
}

/// Maximum bytes of a message or of what follows it.
const MAX_BYTES: u64 = 1 << 32;

/// Sends a message and what follows it.
pub(crate) fn send<T: Serialize>(
    output: &mut impl Write,
    message: &T,
    following: &[u8],
) -> io::Result<()> {
    let json = serde_json::to_vec(message)?;
    for part in [&json, following] {
        output.write_all(&(part.len() as u64).to_le_bytes())?;
        output.write_all(part)?;
    }
    output.flush()
}

/// Waits for a message and what follows it.
pub(crate) fn receive<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<(T, Vec<u8>)> {
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

/// Has a child answer a request.
///
/// # Errors
/// How it ended, which it then has.
pub(crate) fn ask(
    process: &mut Process,
    request: &Request,
    following: &[u8],
    cancel: &AtomicBool,
) -> io::Result<Result<(Answer, Vec<u8>), Ended>> {
    process.ask(cancel, |input, output| {
        send(input, request, following)?;
        receive(output)
    })
}
