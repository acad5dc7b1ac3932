//! A C++ compiler of this machine, and what it says.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use platform::contained::{self, Ended, Limits};

/// The files that translated kernels and the emulator need.
const FILES: [(&str, &str); 5] = [
    ("emulator.cpp", include_str!("../cpp/emulator.cpp")),
    ("emulator.h", include_str!("../cpp/emulator.h")),
    ("launch.h", include_str!("../cpp/launch.h")),
    ("cuda.h", include_str!("../../../kernels/cuda.h")),
    ("life.cuh", include_str!("../../../kernels/life.cuh")),
];

/// Options for kernels and emulator. Traps take the place of messages: an index out of an array's
/// bounds ends the launch.
const OPTIONS: [&str; 8] = [
    "-std=c++17",
    "-fPIC",
    "-w",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-U_FORTIFY_SOURCE",
    "-fdiagnostics-color=never",
    "-fno-diagnostics-show-caret",
];

/// The name of a kernel's source in messages.
pub const SOURCE_NAME: &str = "kernel.cu";

const LIMITS: Limits = Limits {
    time: Duration::from_secs(30),
    resident: 2 << 30,
    address_space: Some(4 << 30),
};

/// A C++ compiler, and a folder with the emulator, compiled once; the folder goes with it.
#[derive(Debug)]
pub struct CppCompiler {
    compiler: PathBuf,
    folder: TempDir,
}

/// Why a kernel could not be compiled.
#[derive(Debug)]
pub enum NotCompiled {
    /// The compiler refuses it: the first of its errors, and how many more there are.
    Refused(Vec<CompilerError>, usize),
    /// The compiler took too long: the limit in seconds.
    TooLong(u64),
    /// The user did not want to wait for it.
    Cancelled,
    /// It cannot be started, or a file cannot be written.
    Failed(io::Error),
}

/// A message of the compiler.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CompilerError {
    /// The line of the source; `None` if it is about another file.
    pub line: Option<u32>,
    /// The column, in bytes from 1.
    pub column: Option<u32>,
    /// What it says.
    pub text: String,
}

impl CppCompiler {
    /// Finds a compiler and compiles the emulator. `None` if there is no compiler: neither the one that
    /// `$CXX` names nor `c++`, `g++` or `clang++` on the `PATH`.
    ///
    /// # Errors
    /// The compiler cannot be started, or does not take the emulator; or its folder cannot be written.
    pub fn open() -> io::Result<Option<CppCompiler>> {
        let named = env::var_os("CXX").filter(|named| !named.is_empty());
        let names = named
            .into_iter()
            .chain(["c++", "g++", "clang++"].map(Into::into));
        let Some(compiler) = names.map(PathBuf::from).find_map(|name| find(&name)) else {
            return Ok(None);
        };
        let folder = tempfile::Builder::new()
            .prefix("lifestreams-kernel-")
            .tempdir()?;
        for (name, text) in FILES {
            fs::write(folder.path().join(name), text)?;
        }
        let cpp = CppCompiler { compiler, folder };
        let mut command = cpp.command();
        command.args(["-O2", "-c", "emulator.cpp", "-o", "emulator.o"]);
        match cpp.compile(command, &AtomicBool::new(false)) {
            Ok(()) => Ok(Some(cpp)),
            Err(NotCompiled::Failed(error)) => Err(error),
            Err(other) => Err(io::Error::other(format!(
                "{} does not compile the emulator: {other:?}",
                cpp.compiler.display()
            ))),
        }
    }

    /// The compiler.
    pub fn compiler(&self) -> &Path {
        &self.compiler
    }

    /// Where it has its files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Compiles a translated kernel to a library of this name in its folder.
    pub fn library(
        &self,
        name: &str,
        cpp: &str,
        cancel: &AtomicBool,
    ) -> Result<PathBuf, NotCompiled> {
        let source = format!("{name}.cpp");
        fs::write(self.folder().join(&source), cpp).map_err(NotCompiled::Failed)?;
        let library = self.folder().join(format!("{name}.so"));
        let mut command = self.command();
        command.args(["-O1", "-shared", "-Wl,-Bsymbolic", "-include", "emulator.h"]);
        command.args(["-fsanitize=bounds", "-fsanitize-undefined-trap-on-error"]);
        command
            .arg(source)
            .arg("emulator.o")
            .arg("-o")
            .arg(&library);
        self.compile(command, cancel)?;
        Ok(library)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.compiler);
        command
            .current_dir(self.folder())
            .args(OPTIONS)
            .args(["-I", "."]);
        command.env("TMPDIR", self.folder()).env("LC_ALL", "C");
        command
    }

    fn compile(&self, command: Command, cancel: &AtomicBool) -> Result<(), NotCompiled> {
        let (ended, said) = contained::run(command, LIMITS, cancel).map_err(NotCompiled::Failed)?;
        match ended {
            Ended::ByItself(status) if status.success() => Ok(()),
            Ended::ByItself(_) | Ended::TooMuchMemory => {
                let (errors, more) = errors(&String::from_utf8_lossy(&said));
                Err(NotCompiled::Refused(errors, more))
            }
            Ended::TooLong => Err(NotCompiled::TooLong(LIMITS.time.as_secs())),
            Ended::Cancelled => Err(NotCompiled::Cancelled),
        }
    }
}

/// The path of a program on the `PATH`, or of one that is named with its folder.
fn find(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return name.is_file().then(|| name.to_owned());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// The errors in what a compiler says: the first ones, shortened, and how many more there are.
fn errors(said: &str) -> (Vec<CompilerError>, usize) {
    const MAX_ERRORS: usize = 5;
    const MAX_LETTERS: usize = 200;
    let shortened = |text: &str| text.trim().chars().take(MAX_LETTERS).collect::<String>();
    let mut found = Vec::new();
    for line in said.lines() {
        // FILE:LINE:COLUMN: error: TEXT
        let Some((place, text)) = line.split_once("error: ") else {
            continue;
        };
        let place = place.trim_end().trim_end_matches("fatal").trim_end();
        let of_source = place
            .strip_prefix(SOURCE_NAME)
            .and_then(|it| it.strip_prefix(':'));
        let mut numbers = of_source
            .unwrap_or("")
            .split(':')
            .map(|number| number.parse().ok());
        found.push(CompilerError {
            line: numbers.next().flatten(),
            column: numbers.next().flatten(),
            text: shortened(text),
        });
    }
    // The linker's messages have another form.
    if found.is_empty() {
        let last = said
            .lines()
            .filter(|line| line.contains("undefined"))
            .map(shortened)
            .next();
        let last = last.or_else(|| said.lines().next_back().map(shortened));
        found.push(CompilerError {
            line: None,
            column: None,
            text: last.unwrap_or_default(),
        });
    }
    let more = found.len().saturating_sub(MAX_ERRORS);
    found.truncate(MAX_ERRORS);
    (found, more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read() {
        let said = "In file included from <command-line>:\n\
                    kernel.cu: In function 'void f()':\n\
                    kernel.cu:12:5: error: 'g' was not declared\n\
                    kernel.cu:13:5: warning: unused\n\
                    ./life.cuh:3:1: fatal error: no\n";
        let (found, more) = errors(said);
        let read: Vec<_> = found
            .iter()
            .map(|it| (it.line, it.column, &it.text[..]))
            .collect();
        assert_eq!(
            read,
            [
                (Some(12), Some(5), "'g' was not declared"),
                (None, None, "no")
            ]
        );
        assert_eq!(more, 0);
        let (found, more) = errors(&"kernel.cu:1:1: error: x\n".repeat(100));
        assert_eq!((found.len(), more), (5, 95));
        let (found, _) = errors("collect2: ld returned 1\nundefined reference to `f'\n");
        assert_eq!(found[0].text, "undefined reference to `f'");
    }
}
