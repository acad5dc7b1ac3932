//! Machine code as text, by NVIDIA's disassemblers.

use std::fs::{self, File};
use std::io;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use platform::contained::{self, Ended};

use super::programs::{LIMITS, program};

/// The disassemblers, and how each prints machine code.
const NAMES: [(&str, &str); 2] = [("nvdisasm", "--print-code"), ("cuobjdump", "--dump-sass")];

/// The machine code (SASS) of a cubin as text; `None` if there is no disassembler, neither on the `PATH`
/// nor where toolkits have theirs.
///
/// # Errors
/// The disassembler cannot be started, or does not take the code.
pub fn disassemble(cubin: &[u8], cancel: &AtomicBool) -> io::Result<Option<String>> {
    let mut known = NAMES.into_iter();
    let Some((path, option)) = known.find_map(|(name, option)| Some((program(name)?, option)))
    else {
        return Ok(None);
    };
    let folder = tempfile::Builder::new()
        .prefix("lifestreams-sass-")
        .tempdir()?;
    let [code, text] = ["code.cubin", "code.sass"].map(|name| folder.path().join(name));
    fs::write(&code, cubin)?;
    let mut command = Command::new(path);
    command.arg(option).arg(&code);
    let output = File::create(&text)?.into();
    match contained::run_into(output, command, LIMITS, cancel)? {
        (Ended::ByItself(status), _) if status.success() => {
            let bytes = fs::read(&text)?;
            Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
        }
        (Ended::ByItself(_), said) => {
            let said = String::from_utf8_lossy(&said);
            Err(io::Error::other(said.trim().to_owned()))
        }
        (Ended::TooLong, _) => Err(io::ErrorKind::TimedOut.into()),
        (Ended::TooMuchMemory, _) => Err(io::ErrorKind::OutOfMemory.into()),
        (Ended::Cancelled, _) => Err(io::ErrorKind::Interrupted.into()),
    }
}
