//! A case's lattices, stepped by a kernel in the emulator.

use std::ffi::c_void;

use engine::Layout;
use engine::kernels::{Batch, Iteration, Parameter};
use life::{Lattice, Size};

use crate::fault::{Fault, Found, Thread};
use crate::{Case, OwnKernel};
use emulator::{FaultKind, KernelFault, Library};

/// What no kernel writes.
pub(crate) const POISON: u32 = 0xa5a5_a5a5;

/// The words of lattices after so many generations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stepped {
    pub generation: u32,
    pub words: Vec<u32>,
}

/// Memory of the kernel's between two pages that it may not touch.
struct Buffer {
    at: *mut u32,
    words: usize,
    /// All words between the pages, the buffer's among them.
    room: &'static mut [u32],
}

impl Buffer {
    fn new(library: &Library, words: usize, at_end: bool) -> Result<Buffer, Fault> {
        let (at, room) = library
            .allocate(words, at_end)
            .ok_or(Fault::TooMuchMemory {
                bytes: 4 * words as u64,
            })?;
        Ok(Buffer { at, words, room })
    }

    /// Where it begins among the words between the pages.
    fn first(&self) -> usize {
        (self.at as usize - self.room.as_ptr() as usize) / 4
    }

    fn words(&self) -> &[u32] {
        &self.room[self.first()..][..self.words]
    }

    fn fill(&mut self, words: &[u32]) {
        let first = self.first();
        self.room[first..][..self.words].copy_from_slice(words);
    }

    /// Makes it such that what is never written shows.
    fn poison(&mut self) {
        self.room.fill(POISON);
    }

    /// Whether the words before it and behind it are as they were.
    fn check_guards(&self, case: &Case) -> Result<(), Fault> {
        let (before, rest) = self.room.split_at(self.first());
        let is_written = |words: &[u32]| words.iter().any(|word| *word != POISON);
        let behind = &rest[self.words..];
        if !is_written(before) && !is_written(behind) {
            return Ok(());
        }
        Err(Fault::WritesBeside {
            case: case.clone(),
            is_behind: is_written(behind),
        })
    }

    /// How far an address is from it, if that is near: negative before it, 1 for the first byte behind.
    fn distance(&self, address: usize) -> Option<i64> {
        const NEAR: i64 = 1 << 20;
        let (begin, end) = (
            self.at as usize as i64,
            (self.at as usize + 4 * self.words) as i64,
        );
        let address = address as i64;
        let distance = if address < begin {
            address - begin
        } else {
            address - end + 1
        };
        (distance.abs() < NEAR).then_some(distance)
    }
}

/// Kernel and library.
pub(crate) struct Stepper<'a> {
    pub library: &'a Library,
    pub own: &'a OwnKernel,
    /// Seconds that a launch may take.
    pub seconds: u32,
}

impl Stepper<'_> {
    /// Steps a case's lattices, in the order that the library has been given; what they are after each
    /// launch.
    pub(crate) fn step(&self, case: &Case, at_end: bool) -> Result<Vec<Stepped>, Fault> {
        let rung = self.own.rung;
        let starts = case
            .starts()
            .iter()
            .flat_map(|lattice| words_of(lattice, rung.layout))
            .collect::<Vec<_>>();
        let mut buffers = [
            Buffer::new(self.library, starts.len(), at_end)?,
            Buffer::new(self.library, starts.len(), at_end)?,
        ];
        let after = case.compared_after(rung);
        let mut found: Vec<Stepped> = Vec::new();
        for generation in after {
            let begins_anew = rung.iteration == Iteration::InKernel;
            if begins_anew || found.is_empty() {
                buffers[0].poison();
                buffers[0].fill(&starts);
            }
            buffers[1].poison();
            let count = match found.last() {
                Some(last) if !begins_anew => generation - last.generation,
                _ => generation,
            };
            self.launch(case, &buffers, count)?;
            buffers
                .iter()
                .try_for_each(|buffer| buffer.check_guards(case))?;
            let only_reads = rung.parameters.contains(&Parameter::From) && !begins_anew;
            if only_reads {
                let input = found.last().map_or(&starts, |last| &last.words);
                self.check_input(case, input, buffers[0].words(), generation)?;
            }
            if rung.swaps_buffers(if begins_anew { count } else { 1 }) {
                buffers.swap(0, 1);
            }
            found.push(Stepped {
                generation,
                words: buffers[0].words().to_vec(),
            });
        }
        Ok(found)
    }

    fn launch(&self, case: &Case, buffers: &[Buffer; 2], generations: u32) -> Result<(), Fault> {
        /// A GPU's number of SMs, from which grids are computed.
        const SM_COUNT: u32 = 132;
        let (own, size) = (self.own, case.size());
        let lattices = Batch::of(case.lattices, case.lattices);
        let shape = own.rung.launch(size, own.block, lattices, SM_COUNT);
        let (mut from, mut to) = (buffers[0].at, buffers[1].at);
        let (mut width, mut height) = (case.width, case.height);
        let (mut rule, mut count) = (case.rule().table(), generations);
        let mut given: Vec<*mut c_void> = own
            .rung
            .parameters
            .iter()
            .map(|parameter| match parameter {
                Parameter::From | Parameter::Cells => (&raw mut from).cast(),
                Parameter::To => (&raw mut to).cast(),
                Parameter::Width => (&raw mut width).cast(),
                Parameter::Height => (&raw mut height).cast(),
                Parameter::RuleTable => (&raw mut rule).cast(),
                Parameter::Generations => (&raw mut count).cast(),
                other => unreachable!("a rung takes {other:?}"),
            })
            .collect();
        // SAFETY: the parameters have the sizes that the kernel declares (`check_parameters`), and the
        // buffers are as large as the lattices. What the kernel does beyond that is its author's doing;
        // it has this process for itself.
        let answer = unsafe { self.library.launch(own.symbol(), shape, &mut given) };
        answer.map_err(|fault| self.fault(fault, buffers, shape.shared_bytes as u32))
    }

    fn fault(&self, fault: KernelFault, buffers: &[Buffer; 2], shared_bytes: u32) -> Fault {
        let thread = Thread {
            block: fault.block,
            thread: fault.thread,
            after_line: (fault.line > 0).then_some(fault.line),
        };
        let distances = buffers
            .iter()
            .filter_map(|buffer| buffer.distance(fault.address));
        match fault.kind {
            FaultKind::BarrierDiverged => Fault::BarrierDiverged {
                line: fault.line,
                other_line: fault.other_line,
                arrived: fault.arrived,
                threads: fault.threads,
                block: fault.block,
            },
            FaultKind::WarpDiverged => Fault::WarpDiverged {
                line: fault.line,
                other_line: fault.other_line,
                arrived: fault.arrived,
                block: fault.block,
            },
            FaultKind::SharedOverrun => Fault::SharedOverrun {
                bytes: shared_bytes,
            },
            FaultKind::BadAccess => Fault::OutOfBounds {
                thread,
                bytes: distances.min_by_key(|distance| distance.abs()),
            },
            FaultKind::BadIndex => Fault::BadIndex { thread },
            FaultKind::BadDivision => Fault::BadDivision { thread },
            FaultKind::TooLong | FaultKind::Deadlock => Fault::TooLong {
                seconds: self.seconds,
                thread: Some(thread),
            },
            FaultKind::NoSuchKernel | FaultKind::BadShape => Fault::Crashed,
        }
    }

    /// Whether the kernel left its input unchanged.
    fn check_input(
        &self,
        case: &Case,
        was: &[u32],
        is: &[u32],
        generation: u32,
    ) -> Result<(), Fault> {
        if was == is {
            return Ok(());
        }
        Err(Fault::InputChanged {
            case: case.clone(),
            generation,
            cell: first_difference(case.size(), self.own.rung.layout, is, was).cell,
        })
    }
}

/// Words of a planar row.
fn planar_words_per_row(size: Size) -> u32 {
    (Layout::Planar.words(size) / size.height() as usize) as u32
}

/// The column of a bit of a planar word.
fn planar_column(size: Size, plane: u32, word: u32) -> u32 {
    (plane * size.width() / 32 + word) % size.width()
}

/// A lattice in a layout, by the layout's definition.
pub(crate) fn words_of(lattice: &Lattice, layout: Layout) -> Vec<u32> {
    let size = lattice.size();
    let rows = 0..size.height();
    match layout {
        Layout::Bits => lattice.words().to_vec(),
        Layout::I32 => {
            let cells = rows.flat_map(|y| (0..size.width()).map(move |x| lattice.get(x, y)));
            cells.map(u32::from).collect()
        }
        Layout::Planar => {
            let places = rows.flat_map(|y| (0..planar_words_per_row(size)).map(move |x| (x, y)));
            let bit =
                |plane, x, y| u32::from(lattice.get(planar_column(size, plane, x), y)) << plane;
            places
                .map(|(x, y)| (0..32).map(|plane| bit(plane, x, y)).sum())
                .collect()
        }
    }
}

/// Where words of adjacent lattices differ from what they should be.
pub(crate) struct Difference {
    /// Column and row of the first cell; for bits beyond the width, the column is not in the lattice.
    pub cell: (u32, u32),
    pub expected: bool,
    pub found: Found,
    /// How many cells differ.
    pub cells: u64,
}

/// The first cell of words that differ, and how many there are. A cell is counted in every plane that
/// has it.
pub(crate) fn first_difference(
    size: Size,
    layout: Layout,
    is: &[u32],
    expected: &[u32],
) -> Difference {
    let per_row = (layout.words(size) / size.height() as usize) as u32;
    let differing = is
        .iter()
        .zip(expected)
        .enumerate()
        .filter(|(_, (is, expected))| is != expected);
    let mut first: Option<Difference> = None;
    let mut cells = 0;
    for (index, (&is, &expected)) in differing {
        let index = (index % layout.words(size)) as u32;
        let (word, row) = (index % per_row, index / per_row);
        let bit = (is ^ expected).trailing_zeros();
        let (column, expected_alive, alive) = match layout {
            Layout::I32 => (word, expected == 1, is == 1),
            Layout::Bits => (
                32 * word + bit,
                expected >> bit & 1 == 1,
                is >> bit & 1 == 1,
            ),
            Layout::Planar => {
                let column = planar_column(size, bit, word);
                (column, expected >> bit & 1 == 1, is >> bit & 1 == 1)
            }
        };
        cells += match layout {
            Layout::I32 => 1,
            Layout::Bits | Layout::Planar => u64::from((is ^ expected).count_ones()),
        };
        let found = match layout {
            _ if is == POISON => Found::Unwritten,
            Layout::I32 if is > 1 => Found::Number(is as i32),
            _ if alive => Found::Alive,
            _ => Found::Dead,
        };
        first.get_or_insert(Difference {
            cell: (column, row),
            expected: expected_alive,
            found,
            cells: 0,
        });
    }
    let first = first.expect("the words differ");
    Difference { cells, ..first }
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::soup;

    #[test]
    fn a_difference_is_found_in_every_layout() {
        for layout in [Layout::I32, Layout::Bits, Layout::Planar] {
            let size = Size::new(70, 5).unwrap();
            let lattice = soup(size, 0.5, 1, 0);
            let mut other = lattice.clone();
            other.set(69, 3, !lattice.get(69, 3));
            let (is, expected) = (words_of(&other, layout), words_of(&lattice, layout));
            let difference = first_difference(size, layout, &is, &expected);
            assert_eq!(difference.cell, (69, 3), "{layout:?}");
            assert_eq!(difference.expected, lattice.get(69, 3));
            let planes = if layout == Layout::Planar {
                1..=32
            } else {
                1..=1
            };
            assert!(planes.contains(&difference.cells));
        }
    }
}
