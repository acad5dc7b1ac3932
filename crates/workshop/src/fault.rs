//! What is wrong with a kernel.

use crate::case::Case;
use lang::{Message, tr};
use life::system_reason;
use serde::{Deserialize, Serialize};
use std::{fmt, io};

/// The first thing that is wrong with a kernel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The compiler refuses it.
    DoesNotCompile {
        /// The first of its errors.
        errors: Vec<CompilerError>,
        /// How many more there are.
        more: usize,
    },
    /// The compiler needed more than this many seconds.
    CompilesTooLong {
        /// The limit.
        seconds: u64,
    },
    /// It does not define its kernel.
    NoSymbol {
        /// The kernel's name.
        symbol: String,
    },
    /// It defines its kernel twice.
    SymbolTwice {
        /// The kernel's name.
        symbol: String,
        /// The lines.
        lines: [u32; 2],
    },
    /// The kernel is not `extern "C"`.
    NotExternC {
        /// The kernel's name.
        symbol: String,
        /// The line.
        line: u32,
    },
    /// The kernel's parameters are not those of the rung.
    BadParameters {
        /// The kernel's name.
        symbol: String,
        /// The rung's file.
        rung: String,
    },
    /// A cell is not what the rule says.
    WrongCell {
        /// The lattice and the rule.
        case: Case,
        /// The first generation that is wrong.
        generation: u32,
        /// Column and row.
        cell: (u32, u32),
        /// Whether the cell should be alive.
        expected: bool,
        /// What it is.
        found: Found,
        /// How many cells of the generation are wrong.
        wrong_cells: u64,
    },
    /// Bits behind the last cell of a row are set.
    BitsBeyondWidth {
        /// The lattice and the rule.
        case: Case,
        /// The generation.
        generation: u32,
        /// The row.
        row: u32,
    },
    /// It writes to what it may only read.
    InputChanged {
        /// The lattice and the rule.
        case: Case,
        /// The generation.
        generation: u32,
        /// Column and row.
        cell: (u32, u32),
    },
    /// The result depends on the order of threads or blocks.
    Race {
        /// The lattice and the rule.
        case: Case,
        /// The first generation that differs.
        generation: u32,
        /// Column and row of the first cell that differs.
        cell: (u32, u32),
        /// Whether it takes another order of the blocks to see it.
        is_between_blocks: bool,
        /// The line behind which `__syncthreads()` makes every order give the right result.
        barrier_after: Option<u32>,
    },
    /// Some threads of a block do not come to a barrier.
    BarrierDiverged {
        /// The barrier's line.
        line: u32,
        /// The line of the barrier where others wait; `None` if those have finished.
        other_line: Option<u32>,
        /// How many wait at the first line.
        arrived: u32,
        /// How many threads the block has.
        threads: u32,
        /// The block.
        block: [u32; 3],
    },
    /// Some lanes of a warp do not come to the exchange of others.
    WarpDiverged {
        /// The exchange's line.
        line: u32,
        /// The line where others wait, if they do.
        other_line: Option<u32>,
        /// How many lanes wait at the first line.
        arrived: u32,
        /// The block.
        block: [u32; 3],
    },
    /// It reads or writes memory that is not its own.
    OutOfBounds {
        /// The thread, where the machine says it.
        thread: Option<Thread>,
        /// How many bytes before a buffer (negative) or behind its last byte, if it is near one.
        bytes: Option<i64>,
    },
    /// It wrote beside a buffer.
    WritesBeside {
        /// The lattice and the rule.
        case: Case,
        /// Whether behind it; else before it.
        is_behind: bool,
    },
    /// It wrote behind the shared memory of a block.
    SharedOverrun {
        /// The bytes that the block has.
        bytes: u32,
    },
    /// The index of an array is out of bounds.
    BadIndex {
        /// The thread.
        thread: Thread,
    },
    /// An integer is divided by 0.
    BadDivision {
        /// The thread.
        thread: Thread,
    },
    /// A launch did not end.
    TooLong {
        /// The limit in seconds.
        seconds: u32,
        /// A thread that ran then, if known.
        thread: Option<Thread>,
    },
    /// It used more memory than this.
    TooMuchMemory {
        /// The limit in bytes.
        bytes: u64,
    },
    /// A launch ended with an error of the driver.
    Driver {
        /// The error's code.
        code: u32,
        /// What the driver says.
        text: String,
    },
    /// The process ended without an answer.
    Crashed,
}

impl Fault {
    /// Whether it says that the emulator did not manage, and nothing of what the kernel does.
    pub fn is_of_emulator(&self) -> bool {
        use Fault::*;
        matches!(
            self,
            DoesNotCompile { .. }
                | CompilesTooLong { .. }
                | TooLong { thread: None, .. }
                | TooMuchMemory { .. }
        )
    }

    /// The lines of the source that it is about, those of the first fault first.
    pub fn lines(&self) -> Vec<u32> {
        use Fault::*;
        match self {
            DoesNotCompile { errors, .. } => errors.iter().filter_map(|error| error.line).collect(),
            SymbolTwice { lines, .. } => lines.to_vec(),
            NotExternC { line, .. } => vec![*line],
            BarrierDiverged {
                line, other_line, ..
            }
            | WarpDiverged {
                line, other_line, ..
            } => [*line].into_iter().chain(*other_line).collect(),
            BadIndex { thread } | BadDivision { thread } => thread.after_line.into_iter().collect(),
            OutOfBounds { thread, .. } | TooLong { thread, .. } => {
                let line = thread.and_then(|thread| thread.after_line);
                line.into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Fault::*;
        let sentence = match self {
            DoesNotCompile { errors, more } => {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                let errors = errors.join("; ");
                match more {
                    0 => tr!("does not compile: {}", errors),
                    more => tr!("does not compile: {errors}; and {more} more errors"),
                }
            }
            CompilesTooLong { seconds } => {
                tr!("the compiler did not finish within {} s", seconds)
            }
            NoSymbol { symbol } => {
                tr!("there is no kernel {symbol}; define extern \"C\" __global__ void {symbol}(…)")
            }
            SymbolTwice { symbol, lines } => tr!(
                "{symbol} is defined twice, in lines {first} and {second}",
                first = lines[0],
                second = lines[1]
            ),
            NotExternC { symbol, line } => tr!(
                "line {line}: {symbol} is not extern \"C\", so it could not be found by its name"
            ),
            BadParameters { symbol, rung } => {
                tr!("the parameters of {symbol} are not those of {rung}")
            }
            WrongCell {
                case,
                generation,
                cell: (x, y),
                expected,
                found,
                wrong_cells,
            } => tr!(
                "generation {generation}: cell {x}, {y} is {found} instead of {expected} ({cells} wrong cells; {case})",
                expected = if *expected { tr!("alive") } else { tr!("dead") },
                cells = wrong_cells
            ),
            BitsBeyondWidth {
                case,
                generation,
                row,
            } => tr!(
                "generation {generation}: bits beyond the width are not 0 in row {row} ({case})"
            ),
            InputChanged {
                case,
                generation,
                cell: (x, y),
            } => tr!(
                "generation {generation}: the kernel changed its input at cell {x}, {y} ({case})"
            ),
            Race {
                case,
                generation,
                cell: (x, y),
                is_between_blocks,
                barrier_after,
            } => match (barrier_after, is_between_blocks) {
                (Some(line), _) => tr!(
                    "a race: the result depends on the order of threads; __syncthreads() is missing after line {line} (first seen at generation {generation}, cell {x}, {y}; {case})"
                ),
                (None, false) => tr!(
                    "a race: the result depends on the order of threads (first seen at generation {generation}, cell {x}, {y}; {case})"
                ),
                (None, true) => tr!(
                    "a race: the result depends on the order of blocks (first seen at generation {generation}, cell {x}, {y}; {case})"
                ),
            },
            BarrierDiverged {
                line,
                other_line: None,
                arrived,
                threads,
                ..
            } => tr!(
                "line {line}: only {arrived} of {threads} threads reach __syncthreads(), the others have finished"
            ),
            BarrierDiverged {
                line,
                other_line: Some(other),
                arrived,
                threads,
                ..
            } => tr!(
                "line {line}: only {arrived} of {threads} threads reach this __syncthreads(), others wait in line {other}"
            ),
            WarpDiverged {
                line,
                other_line: None,
                ..
            } => tr!(
                "line {}: a warp's lanes exchange values, but some do not take part",
                line
            ),
            WarpDiverged {
                line,
                other_line: Some(other),
                ..
            } => tr!("line {line}: a warp's lanes exchange values, but some wait in line {other}"),
            OutOfBounds {
                thread: Some(thread),
                bytes,
            } => match bytes {
                Some(bytes) if *bytes > 0 => {
                    tr!("{thread} accesses memory {bytes} bytes past the end of a lattice")
                }
                Some(bytes) => tr!(
                    "{thread} accesses memory {bytes} bytes before the beginning of a lattice",
                    bytes = bytes.abs()
                ),
                None => tr!("{} accesses memory that is not its own", thread),
            },
            OutOfBounds { thread: None, .. } => {
                tr!("the kernel accesses memory that is not its own").into()
            }
            WritesBeside { case, is_behind } => match is_behind {
                true => tr!("the kernel writes past the end of a lattice ({})", case),
                false => tr!(
                    "the kernel writes before the beginning of a lattice ({})",
                    case
                ),
            },
            SharedOverrun { bytes } => tr!(
                "the kernel writes past the {} bytes of shared memory that a block has",
                bytes
            ),
            BadIndex { thread } => tr!("{} uses an index beyond the end of an array", thread),
            BadDivision { thread } => {
                tr!("{} divides an integer by 0", thread)
            }
            TooLong { seconds, thread } => match thread {
                Some(thread) => {
                    tr!("a launch did not finish within {seconds} s; {thread} was still running")
                }
                None => tr!("the kernel did not finish within {} s", seconds),
            },
            TooMuchMemory { bytes } => {
                tr!("the kernel used more than {} MiB of memory", bytes >> 20)
            }
            Driver { code, text } => tr!("a launch fails: {text} (the driver's error {code})"),
            Crashed => tr!("the process that ran the kernel ended without an answer").into(),
        };
        f.write_str(&sentence)
    }
}

/// A thread, and where it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Thread {
    /// The index of its block.
    pub block: [u32; 3],
    /// Its index in the block.
    pub thread: [u32; 3],
    /// The last line of the kernel that it is known to have completed.
    pub after_line: Option<u32>,
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let index = |[x, y, z]: [u32; 3]| match z {
            0 => format!("{x}, {y}"),
            _ => format!("{x}, {y}, {z}"),
        };
        let (thread, block) = (index(self.thread), index(self.block));
        f.write_str(&match self.after_line {
            Some(line) => tr!("thread ({thread}) of block ({block}), after line {line},"),
            None => tr!("thread ({thread}) of block ({block})"),
        })
    }
}

/// What a wrong cell is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// Alive.
    Alive,
    /// Dead.
    Dead,
    /// Never written.
    Unwritten,
    /// A number that is neither 0 nor 1.
    Number(i32),
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::Alive => f.write_str(tr!("alive")),
            Found::Dead => f.write_str(tr!("dead")),
            Found::Unwritten => f.write_str(tr!("not written")),
            Found::Number(number) => number.fmt(f),
        }
    }
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

impl fmt::Display for CompilerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        match (self.line, self.column) {
            (Some(line), Some(column)) => f.write_str(&tr!("line {line}, column {column}: {text}")),
            (Some(line), None) => f.write_str(&tr!("line {line}: {text}")),
            (None, _) => f.write_str(text),
        }
    }
}

/// Why a kernel did not pass.
#[derive(Debug)]
pub enum Failure {
    /// Something is wrong with it.
    Wrong(Fault),
    /// It was not checked.
    Unchecked(Unchecked),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Wrong(fault)
    }
}

impl From<Unchecked> for Failure {
    fn from(why: Unchecked) -> Failure {
        Failure::Unchecked(why)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Unchecked(error.into())
    }
}

/// Why a kernel was not checked.
#[derive(Debug, thiserror::Error)]
pub enum Unchecked {
    /// The emulator needs a C++ compiler, and none was found.
    #[error("{}", tr!("no C++ compiler found, which a kernel needs without a GPU: apt-get install g++"))]
    NoCppCompiler,
    /// The user did not want to wait for it.
    #[error("{}", tr!("the check was interrupted"))]
    Cancelled,
    /// Anything else that this computer lacks, such as a compiler for the GPU.
    #[error("{0}")]
    Failed(Message),
}

impl From<io::Error> for Unchecked {
    fn from(error: io::Error) -> Unchecked {
        Unchecked::Failed(Message::new(|| system_reason(&error)))
    }
}
