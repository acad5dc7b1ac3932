//! What is wrong with a kernel of the user's own.

use std::borrow::Cow;

use engine::Kernel;
use lang::tr;
use life::{Rule, system_reason};
use own_kernel::{
    Case, CheckError, CompilerError, Facts, Fault, Found, NoWorkshop, SourceError, Thread,
};

use super::InWords;
use super::quantities::shown;

impl InWords for SourceError {
    fn in_words(&self) -> String {
        match self {
            SourceError::TooLarge(bytes) => {
                tr!("the source is larger than {} KiB", bytes >> 10)
            }
            SourceError::NotText => tr!("the source is not a text in UTF-8").into(),
            SourceError::NoRung => {
                tr!("no line says which rung it comes from; add one, such as // from: 02_shared")
                    .into()
            }
            SourceError::UnknownRung { line, name } => tr!(
                "line {line}: no kernel of one's own can begin with '{name}'; take one of: {rungs}",
                rungs = rung_names()
            ),
            SourceError::BadRule { line, text } => {
                tr!("line {line}: '{text}' is not a rule; take any, or rules such as B3/S23")
            }
            SourceError::BadBlock { line, text, shapes } => {
                let shapes = shapes
                    .iter()
                    .map(|(across, down)| format!("{across}x{down}"));
                tr!(
                    "line {line}: blocks cannot be '{text}'; take one of: {shapes}",
                    shapes = shapes.collect::<Vec<_>>().join(", ")
                )
            }
        }
    }
}

/// The files of the rungs that a kernel of one's own may begin with.
pub fn rung_names() -> String {
    let names = own_kernel::rungs().map(|rung| rung.file);
    names.collect::<Vec<_>>().join(", ")
}

impl InWords for NoWorkshop {
    fn in_words(&self) -> String {
        match self {
            NoWorkshop::NoCppCompiler => tr!(
                "no C++ compiler found, which a kernel needs without a GPU: apt-get install g++"
            )
            .into(),
            NoWorkshop::BadCppCompiler(compiler, fault) => tr!(
                "{compiler} does not compile the emulator: {why}; set CXX to another C++ compiler",
                compiler = shown(compiler),
                why = fault.in_words()
            ),
            NoWorkshop::Io(error) => system_reason(error),
        }
    }
}

impl InWords for CheckError {
    fn in_words(&self) -> String {
        match self {
            CheckError::Cancelled => tr!("the check was interrupted").into(),
            CheckError::NoCompiler => tr!(
                "no compiler for a GPU found: pip install {}",
                own_kernel::compilers::PACKAGE
            ),
            CheckError::Gpu { call, code } => {
                tr!("the GPU cannot check kernels: {call} fails with error {code}")
            }
            CheckError::Io(error) => system_reason(error),
        }
    }
}

/// What is said of the kernel in use beside its name: what it is about, or that it does not step the rule.
pub fn use_of(kernel: &'static Kernel, rule: Rule) -> Cow<'static, str> {
    if kernel.stepping(rule) == kernel {
        return idea(kernel);
    }
    let rung = kernel.rung().file;
    tr!("it does not step {rule}: {rung} does instead").into()
}

/// What decides how many threads an SM holds, and how many those are.
pub fn facts_in_words(facts: &Facts) -> Vec<String> {
    let threads = facts.blocks_per_sm * facts.block_threads;
    let occupancy = 100.0 * f64::from(threads) / f64::from(facts.max_threads_per_sm.max(1));
    vec![
        tr!(
            "{registers} registers and {local} B of spilled or local memory per thread",
            registers = facts.registers,
            local = facts.local_bytes
        ),
        tr!(
            "{shared} B of shared memory per block",
            shared = facts.shared_bytes
        ),
        tr!(
            "{blocks} blocks of {threads} threads per SM: occupancy {percent} %",
            blocks = facts.blocks_per_sm,
            threads = facts.block_threads,
            percent = occupancy.round()
        ),
    ]
}

/// What a kernel is about, in a few words: its idea, or the rung that the user wrote it from.
pub fn idea(kernel: &Kernel) -> Cow<'static, str> {
    match &kernel.own {
        None => lang::text(kernel.title).into(),
        Some(own) => tr!("from {file}", file = own.rung.file).into(),
    }
}

/// Why an own kernel has no block timestamps.
pub fn timestamps_of_own() -> &'static str {
    tr!("block timestamps cannot be added to the code of your kernel")
}

impl InWords for CompilerError {
    fn in_words(&self) -> String {
        let text = &self.text;
        match (self.line, self.column) {
            (Some(line), Some(column)) => tr!("line {line}, column {column}: {text}"),
            (Some(line), None) => tr!("line {line}: {text}"),
            (None, _) => text.clone(),
        }
    }
}

impl InWords for Fault {
    fn in_words(&self) -> String {
        match self {
            Fault::DoesNotCompile { errors, more } => {
                let errors: Vec<String> = errors.iter().map(InWords::in_words).collect();
                let errors = errors.join("; ");
                match more {
                    0 => tr!("does not compile: {}", errors),
                    more => tr!(
                        "does not compile: {errors}; and {more} more errors"),
                }
            }
            Fault::CompilesTooLong { seconds } => {
                tr!("the compiler did not finish within {} s", seconds)
            }
            Fault::NoSymbol { symbol } => tr!(
                "there is no kernel {symbol}; define extern \"C\" __global__ void {symbol}(…)"),
            Fault::SymbolTwice { symbol, lines } => tr!(
                "{symbol} is defined twice, in lines {first} and {second}",
                first = lines[0],
                second = lines[1]
            ),
            Fault::NotExternC { symbol, line } => tr!(
                "line {line}: {symbol} is not extern \"C\", so it could not be found by its name"),
            Fault::BadParameters { symbol, rung } => tr!(
                "the parameters of {symbol} are not those of {rung}"),
            Fault::WrongCell {
                case,
                generation,
                cell: (x, y),
                expected,
                found,
                wrong_cells,
            } => tr!(
                "generation {generation}: cell {x}, {y} is {found} instead of {expected} ({cells} wrong cells; {case})",
                found = found.in_words(),
                expected = if *expected { tr!("alive") } else { tr!("dead") },
                cells = wrong_cells,
                case = case.in_words()
            ),
            Fault::BitsBeyondWidth {
                case,
                generation,
                row,
            } => tr!(
                "generation {generation}: bits beyond the width are not 0 in row {row} ({case})",
                case = case.in_words()
            ),
            Fault::InputChanged {
                case,
                generation,
                cell: (x, y),
            } => tr!(
                "generation {generation}: the kernel changed its input at cell {x}, {y} ({case})",
                case = case.in_words()
            ),
            Fault::Race {
                case,
                generation,
                cell: (x, y),
                is_between_blocks,
                barrier_after,
            } => {
                let (case, generation) = (case.in_words(), *generation);
                match (barrier_after, is_between_blocks) {
                    (Some(line), _) => tr!(
                        "a race: the result depends on the order of threads; __syncthreads() is missing after line {line} (first seen at generation {generation}, cell {x}, {y}; {case})"),
                    (None, false) => tr!(
                        "a race: the result depends on the order of threads (first seen at generation {generation}, cell {x}, {y}; {case})"),
                    (None, true) => tr!(
                        "a race: the result depends on the order of blocks (first seen at generation {generation}, cell {x}, {y}; {case})"),
                }
            }
            Fault::BarrierDiverged {
                line,
                other_line: None,
                arrived,
                threads,
                ..
            } => tr!(
                "line {line}: only {arrived} of {threads} threads reach __syncthreads(), the others have finished"),
            Fault::BarrierDiverged {
                line,
                other_line: Some(other),
                arrived,
                threads,
                ..
            } => tr!(
                "line {line}: only {arrived} of {threads} threads reach this __syncthreads(), others wait in line {other}"),
            Fault::WarpDiverged {
                line,
                other_line: None,
                ..
            } => tr!(
                "line {}: a warp's lanes exchange values, but some do not take part",
                line
            ),
            Fault::WarpDiverged {
                line,
                other_line: Some(other),
                ..
            } => tr!(
                "line {line}: a warp's lanes exchange values, but some wait in line {other}"),
            Fault::OutOfBounds {
                thread: Some(thread),
                bytes,
            } => match bytes {
                Some(bytes) if *bytes > 0 => tr!(
                    "{thread} accesses memory {bytes} bytes past the end of a lattice",
                    thread = thread.in_words()),
                Some(bytes) => tr!(
                    "{thread} accesses memory {bytes} bytes before the beginning of a lattice",
                    thread = thread.in_words(),
                    bytes = bytes.abs()
                ),
                None => tr!("{} accesses memory that is not its own", thread.in_words()),
            },
            Fault::OutOfBounds { thread: None, .. } => {
                tr!("the kernel accesses memory that is not its own").into()
            }
            Fault::WritesBeside { case, is_behind } => {
                let case = case.in_words();
                match is_behind {
                    true => tr!("the kernel writes past the end of a lattice ({})", case),
                    false => tr!(
                        "the kernel writes before the beginning of a lattice ({})",
                        case
                    ),
                }
            }
            Fault::SharedOverrun { bytes } => tr!(
                "the kernel writes past the {} bytes of shared memory that a block has",
                bytes
            ),
            Fault::BadIndex { thread } => tr!(
                "{} uses an index beyond the end of an array",
                thread.in_words()
            ),
            Fault::BadDivision { thread } => {
                tr!("{} divides an integer by 0", thread.in_words())
            }
            Fault::TooLong { seconds, thread } => match thread {
                Some(thread) => tr!(
                    "a launch did not finish within {seconds} s; {thread} was still running",
                    thread = thread.in_words()
                ),
                None => tr!("the kernel did not finish within {} s", seconds),
            },
            Fault::TooMuchMemory { bytes } => {
                tr!("the kernel used more than {} MiB of memory", bytes >> 20)
            }
            Fault::Driver { code, text } => tr!(
                "a launch fails: {text} (the driver's error {code})"),
            Fault::Crashed => tr!("the process that ran the kernel ended without an answer").into(),
            Fault::FailsWhenTimed { instances, side } => tr!(
                "a launch fails with {instances} lattices of {side} × {side} cells, with which it is timed"),
            Fault::WrongWhenTimed {
                instances,
                side,
                is_after: false,
            } => tr!(
                "cells are wrong with {instances} lattices of {side} × {side} cells, with which it is timed"),
            Fault::WrongWhenTimed { is_after: true, .. } => tr!(
                "cells were right before the timing and are wrong after it: a result must depend on nothing but the input"
            )
            .into(),
            Fault::TooFast {
                instances,
                side,
                cells_per_second,
                limit,
                is_memory,
            } => {
                let [rate, limit] = [cells_per_second, limit].map(|rate| format!("{:.0}", rate / 1e9));
                let limit = match is_memory {
                    true => tr!("the GPU's memory allows {} Gcell/s at most", limit),
                    false => tr!("the GPU's instructions allow {} Gcell/s at most", limit),
                };
                tr!(
                    "{rate} Gcell/s with {instances} lattices of {side} × {side} cells is too fast to be true: {limit}")
            }
        }
    }
}

impl InWords for Thread {
    fn in_words(&self) -> String {
        let index = |[x, y, z]: [u32; 3]| match z {
            0 => format!("{x}, {y}"),
            _ => format!("{x}, {y}, {z}"),
        };
        let (thread, block) = (index(self.thread), index(self.block));
        match self.after_line {
            Some(line) => tr!("thread ({thread}) of block ({block}), after line {line},"),
            None => tr!("thread ({thread}) of block ({block})"),
        }
    }
}

impl InWords for Found {
    fn in_words(&self) -> String {
        match self {
            Found::Alive => tr!("alive").into(),
            Found::Dead => tr!("dead").into(),
            Found::Unwritten => tr!("not written").into(),
            Found::Number(number) => number.to_string(),
        }
    }
}

impl InWords for Case {
    fn in_words(&self) -> String {
        tr!(
            "{rule} on {width} × {height} cells",
            rule = &self.rule,
            width = self.width,
            height = self.height
        )
    }
}
