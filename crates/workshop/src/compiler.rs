//! A C++ compiler of this machine, and what it says.

use crate::fault::{CompilerError, Failure, Fault, Unchecked};
use platform::contained;
use platform::contained::{Ended, Limits};
use std::path::{Path, PathBuf, absolute};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::{env, fs};

/// The files of the emulator.
const FILES: [(&str, &str); 3] = [
    ("emulator.cpp", include_str!("../cpp/emulator.cpp")),
    ("emulator.h", include_str!("../cpp/emulator.h")),
    ("launch.h", include_str!("../cpp/launch.h")),
];

/// The files that a kernel's source may include.
pub(crate) const HEADERS: [(&str, &str); 2] = [
    ("cuda.h", include_str!("../../../kernels/cuda.h")),
    ("life.cuh", include_str!("../../../kernels/life.cuh")),
];

/// Options for kernels and emulator. Traps take the place of messages: an index out of an array's
/// bounds ends the launch. One thread launches, that of a process for these kernels.
const OPTIONS: [&str; 9] = [
    "-std=c++17",
    "-DEMULATOR_ONE_THREAD",
    "-fPIC",
    "-w",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-U_FORTIFY_SOURCE",
    "-fdiagnostics-color=never",
    "-fno-diagnostics-show-caret",
];

/// The name of a kernel's source in messages.
pub(crate) const SOURCE_NAME: &str = "kernel.cu";

const LIMITS: Limits = Limits {
    time: Duration::from_secs(30),
    resident: 2 << 30,
    address_space: Some(4 << 30),
};

/// A C++ compiler, and a folder with the emulator, compiled once.
#[derive(Debug)]
pub struct CppCompiler {
    compiler: PathBuf,
    folder: PathBuf,
}

impl CppCompiler {
    /// The path of a compiler: the one that `$CXX` names, else `c++`, `g++` or `clang++` on the `PATH`.
    pub fn find() -> Option<PathBuf> {
        let named = env::var_os("CXX").filter(|named| !named.is_empty());
        let names = named
            .into_iter()
            .chain(["c++", "g++", "clang++"].map(Into::into));
        names
            .map(PathBuf::from)
            .find_map(|name| find_program(&name))
    }

    /// Compiles the emulator with a compiler, in a folder.
    ///
    /// # Errors
    /// The compiler cannot be started, or does not take the emulator; or its folder cannot be written.
    pub fn open(compiler: PathBuf, folder: &Path) -> Result<CppCompiler, Failure> {
        let folder = folder.to_owned();
        for (name, text) in FILES.into_iter().chain(HEADERS) {
            fs::write(folder.join(name), text)?;
        }
        let cpp = CppCompiler { compiler, folder };
        let mut command = cpp.command();
        command.args(["-O2", "-c", "emulator.cpp", "-o", "emulator.o"]);
        run_compiler(command, &AtomicBool::new(false))?;
        Ok(cpp)
    }

    /// Compiles a translated kernel to a library in its folder.
    pub fn library(&self, cpp: &str, cancel: &AtomicBool) -> Result<PathBuf, Failure> {
        let source = "kernel.cpp";
        fs::write(self.folder.join(source), cpp)?;
        let library = self.folder.join("kernel.so");
        let mut command = self.command();
        command.args(["-O1", "-shared", "-Wl,-Bsymbolic", "-include", "emulator.h"]);
        command.args(["-fsanitize=bounds", "-fsanitize-undefined-trap-on-error"]);
        command
            .arg(source)
            .arg("emulator.o")
            .arg("-o")
            .arg(&library);
        run_compiler(command, cancel)?;
        Ok(library)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.compiler);
        command
            .current_dir(&self.folder)
            .args(OPTIONS)
            .args(["-I", "."]);
        command.env("TMPDIR", &self.folder).env("LC_ALL", "C");
        command
    }
}

/// Runs the compiler within its limits.
///
/// # Errors
/// It does not compile what it is given, or was ended.
fn run_compiler(command: Command, cancel: &AtomicBool) -> Result<(), Failure> {
    let (ended, said) = contained::run(command, LIMITS, cancel)?;
    match ended {
        Ended::ByItself(status) if status.success() => Ok(()),
        Ended::ByItself(_) | Ended::TooMuchMemory => Err(refused(&String::from_utf8_lossy(&said))),
        Ended::TooLong => Err(Failure::Wrong(Fault::CompilesTooLong {
            seconds: LIMITS.time.as_secs(),
        })),
        Ended::Cancelled => Err(Failure::Unchecked(Unchecked::Cancelled)),
    }
}

/// The path from the root of a program on the `PATH`, or of one that is named with its folder.
pub(crate) fn find_program(name: &Path) -> Option<PathBuf> {
    let path = match name.components().count() {
        1 => env::var_os("PATH")?,
        _ => ".".into(),
    };
    let files = env::split_paths(&path).filter_map(|folder| absolute(folder.join(name)).ok());
    files.into_iter().find(|file| is_program(file))
}

/// Whether a file may be executed.
#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// Whether a file may be executed.
#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// What a compiler says of a source that it refuses: the first errors, shortened.
pub(crate) fn refused(said: &str) -> Failure {
    const MAX_ERRORS: usize = 5;
    let lines: Vec<&str> = said.lines().collect();
    let mut found: Vec<CompilerError> = (0..lines.len())
        .filter_map(|at| nvidia_error(&lines[at..]).or_else(|| gcc_error(lines[at])))
        .collect();
    // Linkers and assemblers have other forms.
    if found.is_empty() {
        let names_a_symbol =
            |line: &&str| line.contains("undefined") || line.contains("Unresolved");
        let mut lines = lines.into_iter().filter(|line| !line.trim().is_empty());
        let line = lines.clone().find(names_a_symbol).or(lines.next_back());
        found.push(CompilerError {
            line: None,
            column: None,
            text: shortened(line.unwrap_or_default()),
        });
    }
    let more = found.len().saturating_sub(MAX_ERRORS);
    found.truncate(MAX_ERRORS);
    Failure::Wrong(Fault::DoesNotCompile {
        errors: found,
        more,
    })
}

/// `FILE:LINE:COLUMN: error: TEXT`, as g++ and clang say it.
fn gcc_error(line: &str) -> Option<CompilerError> {
    let (place, text) = line
        .split_once(": error: ")
        .or_else(|| line.split_once(": fatal error: "))?;
    let of_source = place
        .strip_prefix(SOURCE_NAME)
        .and_then(|it| it.strip_prefix(':'));
    let mut numbers = of_source
        .unwrap_or("")
        .split(':')
        .map(|number| number.parse().ok());
    Some(CompilerError {
        line: numbers.next().flatten(),
        column: numbers.next().flatten(),
        text: shortened(text),
    })
}

/// `FILE(LINE): error: TEXT`, as NVRTC says it. Two lines below, `^` shows the column, behind two
/// blanks that the source has not.
fn nvidia_error(lines: &[&str]) -> Option<CompilerError> {
    let (place, said) = lines[0].split_once("): ")?;
    let (file, line) = place.rsplit_once('(')?;
    let (kind, text) = said.split_once(": ")?;
    let kind = kind.strip_prefix("catastrophic ").unwrap_or(kind);
    if kind != "error" && !kind.starts_with("error #") {
        return None;
    }
    let is_of_source = file == SOURCE_NAME;
    let caret = lines.get(2).filter(|line| line.trim() == "^");
    Some(CompilerError {
        line: line.parse().ok().filter(|_| is_of_source),
        column: caret
            .filter(|_| is_of_source)
            .and_then(|line| (line.find('^')? as u32).checked_sub(1)),
        text: shortened(text),
    })
}

/// A message, as long as a sentence can quote.
fn shortened(text: &str) -> String {
    const MAX_LETTERS: usize = 200;
    text.trim().chars().take(MAX_LETTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line, column and text of each error, and how many more there are.
    fn read(said: &str) -> String {
        let Failure::Wrong(Fault::DoesNotCompile { errors, more }) = refused(said) else {
            panic!("{said}");
        };
        let place = |it: Option<u32>| it.map_or("-".to_owned(), |it| it.to_string());
        let said = |it: CompilerError| {
            let (line, column) = (place(it.line), place(it.column));
            format!("{line}:{column} {}\n", it.text)
        };
        errors.into_iter().map(said).collect::<String>() + &more.to_string()
    }

    #[test]
    fn errors_are_read() {
        let said = "In file included from <command-line>:\n\
                    kernel.cu: In function 'void f()':\n\
                    kernel.cu:12:5: error: 'g' was not declared\n\
                    kernel.cu:13:5: warning: unused\n\
                    ./life.cuh:3:1: fatal error: no\n";
        assert_eq!(read(said), "12:5 'g' was not declared\n-:- no\n0");
        let many = "kernel.cu:1:1: error: x\n".repeat(100);
        assert_eq!(read(&many), "1:1 x\n".repeat(5) + "95");
        let said = "kernel.cu(5): error: identifier \"foo\" is undefined\n      a[0] = foo;\n             ^\n\n\
                    kernel.cu(4): warning #177-D: variable \"x\" was declared but never referenced\n\
                    \x20 \tint x;\n  \t    ^\n\n\
                    kernel.cu(8): catastrophic error: #error directive: no\n  #error no\n   ^\n\n\
                    life.cuh(3): error #20-D: other\n  int y;\n      ^\n\n\
                    3 errors detected in the compilation of \"kernel.cu\".\n";
        assert_eq!(
            read(said),
            "5:12 identifier \"foo\" is undefined\n8:2 #error directive: no\n-:- other\n0"
        );
        for (said, line) in [
            (
                "ptxas fatal   : Unresolved extern function '_Z1gi'\n\n",
                "ptxas fatal   : Unresolved extern function '_Z1gi'",
            ),
            (
                "collect2: ld returned 1\nundefined reference to `f'\n",
                "undefined reference to `f'",
            ),
        ] {
            assert_eq!(read(said), format!("-:- {line}\n0"));
        }
    }
}
