//! What the child process does: it runs a compiled kernel over its cases, so that a crash, an endless loop
//! or a wild write ends that process alone.

use std::fs;
use std::io;
use std::path::Path;

use life::{Lattice, reference};
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::stepping::{Stepped, Stepper, first_difference, words_of};
use crate::{Case, OwnKernel};
use emulator::{BlockOrder, Library, Order, ThreadOrder};

/// What a child is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The kernel's source, for its declarations.
    pub source: String,
    /// The library, in the child's folder.
    pub library: String,
    /// What cases are drawn from.
    pub seed: u64,
    /// Seconds that a launch may take.
    pub seconds: u32,
    /// Lines behind which a barrier may be missing, for a case that has a race.
    pub lines: Option<(Case, Vec<u32>)>,
}

/// What a child answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// Every case is right: how many there were.
    Right(usize),
    /// Something is wrong.
    Wrong(Fault),
    /// Behind this line a barrier was missing, or behind none.
    Barrier(Option<u32>),
}

/// The files of a child's folder.
pub(crate) const REQUEST: &str = "request.json";
pub(crate) const ANSWER: &str = "answer.json";

/// The orders that a kernel runs in. The first two are enough to see that two threads of a block use the
/// same memory without a barrier between them, the third to see it of blocks.
const ORDERS: [Order; 4] = {
    const fn order(threads: ThreadOrder, blocks: BlockOrder) -> Order {
        Order {
            threads,
            blocks,
            seed: 7,
        }
    }
    [
        order(ThreadOrder::Forward, BlockOrder::Forward),
        order(ThreadOrder::Backward, BlockOrder::Forward),
        order(ThreadOrder::Forward, BlockOrder::Backward),
        order(ThreadOrder::Random, BlockOrder::Random),
    ]
};

/// How many of the orders leave the blocks in theirs.
const THREAD_ORDERS: usize = 2;

/// Does what the request in a folder asks, in this process, which should end afterwards.
///
/// # Errors
/// A file of the folder cannot be read or written.
pub fn serve(folder: &Path) -> io::Result<()> {
    let request: Request = serde_json::from_slice(&fs::read(folder.join(REQUEST))?)?;
    let answer = answer(folder, &request)?;
    fs::write(folder.join(ANSWER), serde_json::to_vec(&answer)?)
}

fn answer(folder: &Path, request: &Request) -> io::Result<Answer> {
    let own = OwnKernel::read(request.source.clone().into_bytes()).map_err(io::Error::other)?;
    // SAFETY: the parent linked it from a translation and the emulator. Initialisers of the user's own
    // run; this process is theirs.
    let library = unsafe { Library::open(folder.join(&request.library)) };
    let library = library.map_err(io::Error::other)?;
    if let Some(fault) = bad_parameters(&library, &own) {
        return Ok(Answer::Wrong(fault));
    }
    library.contain(request.seconds);
    let stepper = Stepper {
        library: &library,
        own: &own,
        seconds: request.seconds,
    };
    if let Some((case, lines)) = &request.lines {
        let with_barrier = |line: u32, case: &Case| {
            library.set_extra_barrier(Some(line));
            check_case(&stepper, case, true).is_ok()
        };
        let all = Case::all(&own, request.seed);
        let mut repairing = lines
            .iter()
            .copied()
            .filter(|line| with_barrier(*line, case));
        let first = repairing.next();
        let of_all = |line: &u32| all.iter().all(|case| with_barrier(*line, case));
        let of_all = first.into_iter().chain(repairing).find(of_all);
        return Ok(Answer::Barrier(of_all.or(first)));
    }
    let cases = Case::all(&own, request.seed);
    for (number, case) in cases.iter().enumerate() {
        // By turns beyond the end of its buffers and before their beginning a kernel meets a page that it
        // may not touch.
        if let Err(fault) = check_case(&stepper, case, number % 2 == 0) {
            return Ok(Answer::Wrong(fault));
        }
    }
    Ok(Answer::Right(cases.len()))
}

/// Whether the kernel takes what the rung's launches give.
fn bad_parameters(library: &Library, own: &OwnKernel) -> Option<Fault> {
    let taken = library.parameters(own.symbol()).unwrap_or_default();
    let taken: Vec<usize> = taken.into_iter().map(|(bytes, _)| bytes).collect();
    let given: Vec<usize> = own.rung.parameters.iter().map(|it| it.bytes()).collect();
    (taken != given).then(|| Fault::BadParameters {
        symbol: own.symbol().into(),
        rung: own.rung.file.into(),
    })
}

/// Runs a case in every order, and compares the results with each other and with the reference.
fn check_case(stepper: &Stepper, case: &Case, at_end: bool) -> Result<(), Fault> {
    let (size, layout) = (case.size(), stepper.own.rung.layout);
    let mut first: Option<Vec<Stepped>> = None;
    for (number, order) in ORDERS.into_iter().enumerate() {
        stepper.library.set_order(order);
        let stepped = stepper.step(case, at_end)?;
        let Some(first) = &first else {
            first = Some(stepped);
            continue;
        };
        let differing = first.iter().zip(&stepped).find(|(one, other)| one != other);
        if let Some((one, other)) = differing {
            let difference = first_difference(size, layout, &other.words, &one.words);
            return Err(Fault::Race {
                case: case.clone(),
                generation: one.generation,
                cell: difference.cell,
                is_between_blocks: number >= THREAD_ORDERS,
                barrier_after: None,
            });
        }
    }
    let (mut lattices, mut generation) = (case.starts(), 0);
    for stepped in first.into_iter().flatten() {
        let more = u64::from(stepped.generation - generation);
        generation = stepped.generation;
        let next = |lattice: &Lattice| reference::run(lattice, case.rule(), more);
        lattices = lattices.iter().map(next).collect();
        let expected: Vec<u32> = lattices
            .iter()
            .flat_map(|it| words_of(it, layout))
            .collect();
        if stepped.words == expected {
            continue;
        }
        let difference = first_difference(size, layout, &stepped.words, &expected);
        let case = case.clone();
        return Err(if difference.cell.0 >= size.width() {
            Fault::BitsBeyondWidth {
                case,
                generation,
                row: difference.cell.1,
            }
        } else {
            Fault::WrongCell {
                case,
                generation,
                cell: difference.cell,
                expected: difference.expected,
                found: difference.found,
                wrong_cells: difference.cells,
            }
        });
    }
    Ok(())
}
