//! Lattices, stepped by a kernel as the rung's launches step them.

use engine::kernels::{Batch, Iteration, Launch, Parameter};
use life::{Rule, Size};

use crate::device::{Argument, Buffer, Device};
use crate::fault::Fault;
use crate::layouts::first_difference;
use crate::{Case, OwnKernel};

/// The words of lattices after so many generations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stepped {
    pub generation: u32,
    pub words: Vec<u32>,
}

/// A kernel on a machine.
pub(crate) struct Stepper<'a> {
    pub device: &'a dyn Device,
    pub own: &'a OwnKernel,
}

/// Adjacent lattices of one size, and their rule.
#[derive(Clone, Copy)]
pub(crate) struct Lattices {
    pub size: Size,
    pub rule: Rule,
    pub count: u32,
}

impl Stepper<'_> {
    /// Steps a case's lattices, whose words these are; what they are after each launch.
    pub(crate) fn step_case(
        &self,
        case: &Case,
        starts: &[u32],
        at_end: bool,
    ) -> Result<Vec<Stepped>, Fault> {
        let rung = self.own.rung;
        let mut one = self.device.allocate(starts.len(), at_end)?;
        let mut other = self.device.allocate(starts.len(), at_end)?;
        let after = case.compared_after(rung);
        let mut found: Vec<Stepped> = Vec::new();
        for generation in after {
            let begins_anew = rung.iteration == Iteration::InKernel;
            if begins_anew || found.is_empty() {
                one.fill(starts)?;
            }
            other.fill(&[])?;
            let count = match found.last() {
                Some(last) if !begins_anew => generation - last.generation,
                _ => generation,
            };
            self.launch(case.lattices(), [&*one, &*other], count)?;
            let (in_one, in_other) = (one.read()?, other.read()?);
            for contents in [&in_one, &in_other] {
                if contents.is_before_written || contents.is_behind_written {
                    return Err(Fault::WritesBeside {
                        case: case.clone(),
                        is_behind: contents.is_behind_written,
                    });
                }
            }
            let only_reads = rung.parameters.contains(&Parameter::From) && !begins_anew;
            if only_reads {
                let input = found.last().map_or(starts, |last| &last.words);
                self.check_input(case, input, &in_one.words, generation)?;
            }
            let is_swapped = rung.swaps_buffers(count);
            if is_swapped {
                std::mem::swap(&mut one, &mut other);
            }
            found.push(Stepped {
                generation,
                words: if is_swapped { in_other } else { in_one }.words,
            });
        }
        Ok(found)
    }

    /// Steps lattices, whose words these are, by some generations.
    pub(crate) fn step(
        &self,
        lattices: Lattices,
        words: &[u32],
        generations: u32,
    ) -> Result<Vec<u32>, Fault> {
        let rung = self.own.rung;
        let mut one = self.device.allocate(words.len(), true)?;
        let mut other = self.device.allocate(words.len(), true)?;
        one.fill(words)?;
        let each = rung.iteration.generations_per_launch();
        let mut left = generations;
        while left > 0 {
            let count = left.min(each);
            self.launch(lattices, [&*one, &*other], count)?;
            left -= count;
            if rung.swaps_buffers(count) {
                std::mem::swap(&mut one, &mut other);
            }
        }
        Ok(one.read()?.words)
    }

    /// The launch for these lattices.
    pub(crate) fn shape(&self, lattices: Lattices) -> Launch {
        let batch = Batch::of(lattices.count, lattices.count);
        let (block, sm_count) = (self.own.block, self.device.sm_count());
        self.own.rung.launch(lattices.size, block, batch, sm_count)
    }

    fn launch(
        &self,
        lattices: Lattices,
        buffers: [&dyn Buffer; 2],
        generations: u32,
    ) -> Result<(), Fault> {
        let [from, to] = buffers.map(Buffer::address);
        let parameters = self.own.rung.parameters.iter();
        let mut given: Vec<Argument> = parameters
            .map(|parameter| match parameter {
                Parameter::From | Parameter::Cells => from.into(),
                Parameter::To => to.into(),
                Parameter::Width => lattices.size.width().into(),
                Parameter::Height => lattices.size.height().into(),
                Parameter::RuleTable => lattices.rule.table().into(),
                Parameter::Generations => generations.into(),
                other => unreachable!("a rung takes {other:?}"),
            })
            .collect();
        self.device
            .launch(self.shape(lattices), &mut given, buffers)
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
