//! Whether a kernel is right: it steps cases, and its results are compared with each other and with the
//! engine's own.

use engine::{Layout, cpu};
use life::Lattice;

use crate::device::Device;
use crate::fault::Fault;
use crate::layouts::{first_difference, words_of};
use crate::stepping::{Stepped, Stepper};
use crate::{Case, OwnKernel};

/// Runs cases until one is wrong.
pub(crate) fn check_cases(
    device: &dyn Device,
    own: &OwnKernel,
    cases: &[Case],
) -> Result<(), Fault> {
    // By turns beyond the end of its buffers and before their beginning a kernel meets memory that it may
    // not touch.
    let mut numbered = cases.iter().enumerate();
    numbered.try_for_each(|(number, case)| check_case(device, own, case, number % 2 == 0))
}

/// Runs a case several times, and compares the results.
pub(crate) fn check_case(
    device: &dyn Device,
    own: &OwnKernel,
    case: &Case,
    at_end: bool,
) -> Result<(), Fault> {
    let stepper = Stepper { device, own };
    let (size, layout) = (case.size(), own.rung.layout);
    let lattices = case.starts();
    let starts = words_of_all(&lattices, layout);
    device.begin_run(0);
    let first = stepper.step_case(case, &starts, at_end)?;
    for number in 1..device.runs() {
        device.begin_run(number);
        let stepped = stepper.step_case(case, &starts, at_end)?;
        let mut both = first.iter().zip(&stepped);
        if let Some((one, other)) = both.find(|(one, other)| one != other) {
            let difference = first_difference(size, layout, &other.words, &one.words);
            return Err(Fault::Race {
                case: case.clone(),
                generation: one.generation,
                cell: difference.cell,
                is_between_blocks: device.reorders_blocks(number),
                barrier_after: None,
            });
        }
    }
    compare(own, case, lattices, &first)
}

/// The words of adjacent lattices.
fn words_of_all(lattices: &[Lattice], layout: Layout) -> Vec<u32> {
    let words = lattices.iter().flat_map(|it| words_of(it, layout));
    words.collect()
}

/// Compares the lattices after each launch with those of an exact stepper.
fn compare(
    own: &OwnKernel,
    case: &Case,
    starts: Vec<Lattice>,
    stepped: &[Stepped],
) -> Result<(), Fault> {
    let (size, layout) = (case.size(), own.rung.layout);
    let start = |lattice| cpu::Stepper::new(&lattice, case.rule());
    let lattices: Result<Vec<_>, _> = starts.into_iter().map(start).collect();
    let mut lattices = lattices.map_err(|_| Fault::TooMuchMemory {
        bytes: size.cells() / 4,
    })?;
    let mut generation = 0;
    for stepped in stepped {
        for lattice in &mut lattices {
            (generation..stepped.generation).for_each(|_| lattice.step());
        }
        generation = stepped.generation;
        let stepped_here: Vec<Lattice> = lattices.iter().map(cpu::Stepper::lattice).collect();
        let expected = words_of_all(&stepped_here, layout);
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
