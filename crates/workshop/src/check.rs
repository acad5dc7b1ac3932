//! Whether a kernel is right: it steps cases, and its results are compared with each other and with those of
//! the reference.

use engine::Layout;
use engine::kernels::{Batch, Iteration, Launch, Parameter};
use life::{Lattice, Rule, Size, reference};

use crate::case::Case;
use crate::declarations::OwnKernel;
use crate::fault::Fault;
use crate::layouts::{POISON, first_difference, words_of};

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
            Parameter::Width => Value::Number(self.size.width()),
            Parameter::Height => Value::Number(self.size.height()),
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

/// The words of adjacent lattices.
fn words_of_all(lattices: &[Lattice], layout: Layout) -> Vec<u32> {
    let words = lattices.iter().flat_map(|it| words_of(it, layout));
    words.collect()
}
