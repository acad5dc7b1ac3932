//! Whether a kernel is right: it steps cases, and its results are compared with each other and with those of
//! the reference.

use crate::case::Case;
use crate::declarations::OwnKernel;
use crate::fault::{Fault, Found};
use engine::Layout;
use engine::kernels::{Batch, Iteration, Launch, Parameter};
use life::{Lattice, Rule, Size, SplitMix64, reference};

/// A machine with a kernel loaded to it.
pub(crate) trait Device {
    /// Launches the kernel over two buffers and waits for its end. Both have as many words as the input and
    /// guard words around them; one has the input, all else is [`POISON`]. Where the machine can, they end
    /// right before what nobody may touch, or begin right behind. `run` counts from 0; on some machines the
    /// order of threads depends on it.
    fn launch(
        &mut self,
        run: usize,
        shape: Launch,
        values: &[Value],
        input: &[u32],
        at_end: bool,
    ) -> Result<[Contents; 2], Fault>;

    /// Its number of SMs, from which grids are computed.
    fn sm_count(&self) -> u32;

    /// How often each case runs, to see whether the results differ.
    fn runs(&self) -> usize;
}

/// Runs before this one differ from the first in the order of threads alone, those from it on in that of
/// blocks, too.
pub(crate) const FIRST_OF_BLOCKS: usize = 2;

/// What a kernel is given for a parameter.
pub(crate) enum Value {
    /// The address of the buffer that has the input.
    Input,
    /// The address of the other one.
    Output,
    Number(u32),
}

/// What is in a buffer.
pub(crate) struct Contents {
    pub words: Vec<u32>,
    /// Whether guard words before it were written.
    pub is_before_written: bool,
    /// Whether guard words behind it were written.
    pub is_behind_written: bool,
}

impl Contents {
    /// Splits words into those of a buffer and the guard words around it.
    pub(crate) fn split(room: &[u32], first: usize, words: usize) -> Contents {
        let is_written = |words: &[u32]| words.iter().any(|word| *word != POISON);
        Contents {
            words: room[first..][..words].to_vec(),
            is_before_written: is_written(&room[..first]),
            is_behind_written: is_written(&room[first + words..]),
        }
    }
}

/// A kernel on a machine, and the adjacent lattices of one size that it steps.
pub(crate) struct Stepper<'a> {
    pub device: &'a mut dyn Device,
    pub own: &'a OwnKernel,
    pub size: Size,
    pub rule: Rule,
    pub lattices: u32,
}

impl Stepper<'_> {
    /// Steps the lattices of these words by some generations.
    pub(crate) fn step(
        &mut self,
        mut words: Vec<u32>,
        generations: u32,
    ) -> Result<Vec<u32>, Fault> {
        let rung = self.own.rung;
        let mut left = generations;
        while left > 0 {
            let count = left.min(rung.iteration.generations_per_launch());
            let [one, other] = self.launch(0, &words, count, true)?;
            words = if rung.swaps_buffers(count) {
                other
            } else {
                one
            }
            .words;
            left -= count;
        }
        Ok(words)
    }

    fn launch(
        &mut self,
        run: usize,
        input: &[u32],
        generations: u32,
        at_end: bool,
    ) -> Result<[Contents; 2], Fault> {
        let value = |parameter: &Parameter| match parameter {
            Parameter::From | Parameter::Cells => Value::Input,
            Parameter::To => Value::Output,
            Parameter::Width => Value::Number(self.size.width),
            Parameter::Height => Value::Number(self.size.height),
            Parameter::RuleTable => Value::Number(self.rule.table()),
            Parameter::Generations => Value::Number(generations),
            other => unreachable!("a rung takes {other:?}"),
        };
        let values: Vec<Value> = self.own.rung.parameters.iter().map(value).collect();
        let shape = shape(self.own, self.size, self.lattices, self.device.sm_count());
        self.device.launch(run, shape, &values, input, at_end)
    }

    /// Steps a case's lattices, whose words these are; what they are after each launch, with its generation.
    fn step_case(
        &mut self,
        case: &Case,
        starts: &[u32],
        run: usize,
        at_end: bool,
    ) -> Result<Vec<(u32, Vec<u32>)>, Fault> {
        let rung = self.own.rung;
        let begins_anew = rung.iteration == Iteration::InKernel;
        let mut found: Vec<(u32, Vec<u32>)> = Vec::new();
        for generation in case.compared_after(rung) {
            let (before, input) = match found.last() {
                Some((before, words)) if !begins_anew => (*before, &words[..]),
                _ => (0, starts),
            };
            let count = generation - before;
            let both = self.launch(run, input, count, at_end)?;
            let is_written = |it: &&Contents| it.is_before_written || it.is_behind_written;
            if let Some(beside) = both.iter().find(is_written) {
                return Err(Fault::WritesBeside {
                    case: case.clone(),
                    is_behind: beside.is_behind_written,
                });
            }
            let [one, other] = both;
            let only_reads = rung.parameters.contains(&Parameter::From) && !begins_anew;
            if only_reads && one.words != input {
                return Err(Fault::InputChanged {
                    case: case.clone(),
                    generation,
                    cell: first_difference(self.size, rung.layout, &one.words, input).cell,
                });
            }
            let stepped = if rung.swaps_buffers(count) {
                other
            } else {
                one
            };
            found.push((generation, stepped.words));
        }
        Ok(found)
    }
}

/// The launch for so many adjacent lattices.
pub(crate) fn shape(own: &OwnKernel, size: Size, lattices: u32, sm_count: u32) -> Launch {
    let batch = Batch::of(lattices, lattices);
    own.rung.launch(size, own.block, batch, sm_count)
}

/// Runs a case several times, and compares the results.
pub(crate) fn check_case(
    device: &mut dyn Device,
    own: &OwnKernel,
    case: &Case,
    at_end: bool,
) -> Result<(), Fault> {
    let (size, rule, layout, runs) = (case.size(), case.rule(), own.rung.layout, device.runs());
    let mut lattices = case.starts();
    let starts = words_of_all(&lattices, layout);
    let mut stepper = Stepper {
        device,
        own,
        size,
        rule,
        lattices: case.lattices,
    };
    let first = stepper.step_case(case, &starts, 0, at_end)?;
    for run in 1..runs {
        let stepped = stepper.step_case(case, &starts, run, at_end)?;
        let mut both = first.iter().zip(&stepped);
        if let Some(((generation, one), (_, other))) = both.find(|(one, other)| one != other) {
            return Err(Fault::Race {
                case: case.clone(),
                generation: *generation,
                cell: first_difference(size, layout, other, one).cell,
                is_between_blocks: run >= FIRST_OF_BLOCKS,
                barrier_after: None,
            });
        }
    }
    let mut before = 0;
    for (generation, words) in first {
        for lattice in &mut lattices {
            *lattice = reference::run(lattice, rule, u64::from(generation - before));
        }
        before = generation;
        let expected = words_of_all(&lattices, layout);
        if words == expected {
            continue;
        }
        let difference = first_difference(size, layout, &words, &expected);
        let case = case.clone();
        return Err(if difference.cell.0 >= size.width {
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

/// The words of adjacent lattices.
fn words_of_all(lattices: &[Lattice], layout: Layout) -> Vec<u32> {
    let words = lattices.iter().flat_map(|it| words_of(it, layout));
    words.collect()
}

// The lattices and rules that a kernel is checked with.

/// Odd and even sizes, narrow ones, and those around a word, a block and a lane.
#[rustfmt::skip]
const SIZES: [(u64, u64); 18] = [
    (33, 17), (64, 64), (96, 40), (127, 65), (1, 1), (2, 3), (5, 4), (31, 9), (32, 8), (65, 33),
    (128, 96), (130, 21), (160, 35), (257, 8), (384, 5), (512, 33), (1000, 7), (3, 70),
];

/// Sizes that a GPU steps at once, odd and even, over many blocks.
const LARGE_SIZES: [(u64, u64); 5] = [
    (2048, 2048),
    (1023, 1025),
    (513, 700),
    (4096, 33),
    (129, 2047),
];

/// Of so many cells one generation is stepped, of fewer two: the CPU compares them all.
const HUGE: u64 = 2 << 20;

const DENSITIES: [f64; 5] = [0.3, 0.5, 0.15, 0.8, 0.65];
const GENERATIONS: [u32; 6] = [1, 4, 2, 5, 3, 9];

/// Rules that many kernels get wrong.
const RULES: [&str; 8] = [
    "B3/S23",
    "B36/S23",
    "B2/S",
    "B3/S23",
    "B0123478/S34678",
    "B1357/S02468",
    "B0/S8",
    "B012345678/S012345678",
];

/// How many cases a kernel is checked with.
const COUNT: usize = 60;

/// Those of these sizes that a kernel's rung supports.
fn supported(own: &OwnKernel, sides: &[(u64, u64)]) -> impl Iterator<Item = Size> {
    let sizes = sides.iter();
    let sizes = sizes.map(|&(width, height)| Size::new(width, height).expect("a lattice"));
    sizes.filter(|it| own.rung.supports(*it))
}

/// The cases for a kernel that the emulator runs: every size that its rung supports, by rules that it declares.
pub(crate) fn cases(own: &OwnKernel, seed: u64) -> Vec<Case> {
    let mut numbers = SplitMix64(seed);
    let sizes: Vec<Size> = supported(own, &SIZES).collect();
    let case = |number: usize| {
        let size = sizes[number % sizes.len()];
        let round = number / sizes.len();
        let rule = match &own.rules {
            Some(rules) => rules[(number + round) % rules.len()],
            // Every third one is drawn.
            None if number % 3 == 2 => {
                let masks = numbers.draw();
                Rule::from_masks(masks as u16, (masks >> 16) as u16)
            }
            None => {
                let rule = RULES[(number / 3 * 2 + number % 3 + round) % RULES.len()];
                rule.parse().expect("a rule")
            }
        };
        Case {
            width: size.width,
            height: size.height,
            rule: rule.to_string(),
            density: DENSITIES[(number + round) % DENSITIES.len()],
            seed: numbers.draw(),
            generations: GENERATIONS[(number + round) % GENERATIONS.len()],
            lattices: if own.rung.batched {
                1 + (number as u32 + 1) % 2
            } else {
                1
            },
        }
    };
    (0..COUNT).map(case).collect()
}

/// The cases for a kernel that a GPU runs: the same, and large lattices.
pub(crate) fn cases_for_gpu(own: &OwnKernel, seed: u64) -> Vec<Case> {
    let mut cases = cases(own, seed);
    // They take the rules and the soups of others.
    let large: Vec<Case> = supported(own, &LARGE_SIZES)
        .zip(&cases)
        .map(|(size, case)| Case {
            width: size.width,
            height: size.height,
            generations: if size.cells() > HUGE { 1 } else { 2 },
            lattices: 1,
            ..case.clone()
        })
        .collect();
    cases.extend(large);
    cases
}

// Lattices in the kernels' layouts, by the layouts' definitions.

/// What no kernel writes.
pub(crate) const POISON: u32 = 0xa5a5_a5a5;

/// Words of a row.
fn words_per_row(size: Size, layout: Layout) -> u32 {
    (layout.words(size) / size.height as usize) as u32
}

/// The column of a bit of a row's word, which may be beyond the width.
fn column(size: Size, layout: Layout, word: u32, bit: u32) -> u32 {
    match layout {
        Layout::I32 => word,
        Layout::Bits => 32 * word + bit,
        Layout::Planar => (bit * size.width / 32 + word) % size.width,
    }
}

/// How many bits of a word are cells.
fn bits_per_word(layout: Layout) -> u32 {
    match layout {
        Layout::I32 => 1,
        Layout::Bits | Layout::Planar => 32,
    }
}

/// A lattice in a layout, by the layout's definition.
pub fn words_of(lattice: &Lattice, layout: Layout) -> Vec<u32> {
    let size = lattice.size();
    let mut words = Vec::with_capacity(layout.words(size));
    for y in 0..size.height {
        words.extend((0..words_per_row(size, layout)).map(|word| {
            let is_alive = |&bit: &u32| {
                let x = column(size, layout, word, bit);
                x < size.width && lattice.get(x, y)
            };
            let alive = (0..bits_per_word(layout)).filter(is_alive);
            alive.map(|bit| 1 << bit).sum::<u32>()
        }));
    }
    words
}

/// The lattice of these words in a layout: [`words_of`] the other way round.
pub fn lattice_of(size: Size, words: &[u32], layout: Layout) -> Lattice {
    let mut lattice = Lattice::new(size);
    let per_row = words_per_row(size, layout);
    for (y, row) in (0..).zip(words.chunks_exact(per_row as usize)) {
        for (index, word) in (0..).zip(row) {
            for bit in 0..bits_per_word(layout) {
                let x = column(size, layout, index, bit);
                if x < size.width {
                    lattice.set(x, y, word >> bit & 1 == 1);
                }
            }
        }
    }
    lattice
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
    let per_row = words_per_row(size, layout);
    let differing = is.iter().zip(expected).enumerate();
    let differing = differing.filter(|(_, (is, expected))| is != expected);
    let mut first: Option<Difference> = None;
    let mut cells = 0;
    for (index, (&is, &expected)) in differing {
        let index = (index % layout.words(size)) as u32;
        let (word, row) = (index % per_row, index / per_row);
        let (bit, count) = match layout {
            Layout::I32 => (0, 1),
            Layout::Bits | Layout::Planar => {
                let differ = is ^ expected;
                (differ.trailing_zeros(), differ.count_ones())
            }
        };
        cells += u64::from(count);
        let is_alive = |word: u32| word >> bit & 1 == 1;
        let found = match layout {
            _ if is == POISON => Found::Unwritten,
            Layout::I32 if is > 1 => Found::Number(is as i32),
            _ if is_alive(is) => Found::Alive,
            _ => Found::Dead,
        };
        first.get_or_insert(Difference {
            cell: (column(size, layout, word, bit), row),
            expected: is_alive(expected),
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
    fn every_layout_gives_the_lattice_back_and_finds_a_difference() {
        for layout in [Layout::I32, Layout::Bits, Layout::Planar] {
            for (width, height) in [(32, 3), (33, 2), (70, 5), (127, 4), (128, 3), (1000, 2)] {
                let size = Size::new(width, height).unwrap();
                let lattice = soup(size, 0.5, 1, 0);
                let expected = words_of(&lattice, layout);
                let back = lattice_of(size, &expected, layout);
                assert_eq!(back, lattice, "{layout:?}, {size}");
                let (x, y) = (size.width - 1, size.height - 2);
                let mut other = lattice.clone();
                other.set(x, y, !lattice.get(x, y));
                let is = words_of(&other, layout);
                let found = first_difference(size, layout, &is, &expected);
                assert_eq!((found.cell, found.expected), ((x, y), lattice.get(x, y)));
                let most = if layout == Layout::Planar { 32 } else { 1 };
                assert!((1..=most).contains(&found.cells), "{layout:?}, {size}");
            }
        }
    }
}
