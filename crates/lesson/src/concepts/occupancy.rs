//! How many threads a multiprocessor holds, and whether more are faster.

use crate::Outcome;
use crate::outcome::MeasuredValue;
use crate::prelude::*;
use session::median;

const SIDE: u64 = 1024;

pub(crate) const OCCUPANCY: Lesson = Lesson {
    name: "occupancy",
    group: Group::Concepts,
    title: "block shapes and occupancy",
    source: Origin::BestPractices("Occupancy"),
    intro: "One lattice of 1024 × 1024 cells, one thread per cell, in blocks of every shape the \
            kernel takes. For each: the occupancy, which is the share of the threads an SM \
            can hold that are resident, and how long a generation takes. Then the fastest shape \
            against the next one, and against the slowest.",
    question: "Is the shape with the highest occupancy the fastest?",
    choices: Choices::Words {
        choices: &["yes", "no"],
        right: fastest_has_highest_occupancy,
    },
    parts: &[
        Part {
            title: "kernel 'global', block by block",
            code: "for (dim3 block : shapes) {
    dim3 grid(1024 / block.x, 1024 / block.y);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, step, block.x * block.y, 0);
    step<<<grid, block>>>(next, cells);
}",
            work: PartWork::Once(survey),
        },
        Part {
            title: "the slowest shape of these, again",
            code: "step<<<grid, slowest>>>(next, cells);",
            work: PartWork::Alone(|bench| shape(bench, SLOWEST)),
        },
        Part {
            title: "the second fastest, again",
            code: "step<<<grid, second>>>(next, cells);",
            work: PartWork::Alone(|bench| shape(bench, SECOND)),
        },
        Part {
            title: "the fastest, again",
            code: "step<<<grid, fastest>>>(next, cells);",
            work: PartWork::Alone(|bench| shape(bench, FASTEST)),
        },
    ],
    compared: &[
        Compare {
            slow: 1,
            fast: 3,
            label: "the fastest shape instead of the slowest",
            faster: "A shape matters if it has too few threads to hide memory latency, or if its \
                     rows are narrower than a warp, so that loads are not coalesced.",
            none: "So every shape has enough threads to hide memory latency.",
            slower: "So the fastest shape was first in the table only by chance.",
        },
        Compare {
            slow: 2,
            fast: 3,
            label: "the fastest shape instead of the second fastest",
            faster: "Compare their occupancy in the table: the highest need not be the fastest.",
            none: "So several shapes are equally fast: the table's order is chance.",
            slower: "So the table's order is chance.",
        },
    ],
    missing_on_cpu: Some(Missing {
        what: "multiprocessors, and so no occupancy",
        on_gpu: "A GPU would show how many threads of each shape a multiprocessor holds at once, and \
                 whether that decides how fast the shape is. The CPU engine has no multiprocessors \
                 to fill.",
        on_cpu: None,
    }),
    closing: Closing::Text(""),
};

/// What is said of a shape, behind its name.
const RESIDENT: &str = mark!("resident blocks per SM");
const OCCUPANCY_OF: &str = mark!("occupancy");

/// What is kept for the later parts: the places of shapes in the kernel's table.
const FASTEST: &str = "fastest";
const SECOND: &str = "second";
const SLOWEST: &str = "slowest";

/// A lattice on an engine with nothing else on it.
fn lattice(bench: &mut Bench) -> Result<BenchLattices> {
    let stream = bench.stream()?;
    BenchLattices::new(bench, 1, square(SIDE), kernel("global"), &[stream], 0)
}

/// Sets the lattice to its start, and says whether two generations from there are right.
fn is_right(lattice: &BenchLattices, bench: &mut Bench, block: (u32, u32)) -> Result<bool> {
    lattice.restart(bench)?;
    let advance = lattice.advance_one(0, 2, block);
    bench.run(&Program::in_stream(lattice.streams[0], [advance]))?;
    Ok(lattice.wrong(bench, 2)? == 0)
}

/// A launch of several generations, and how many those are.
fn generations(lattice: &BenchLattices, bench: &Bench, block: (u32, u32)) -> (Program, f64) {
    let generations = bench.pick(20, 2);
    let advance = lattice.advance_one(0, generations, block);
    let program = Program::in_stream(lattice.streams[0], [advance]).with_spans();
    (program, generations.into())
}

/// Which of the choices holds: whether no shape has a higher occupancy than the fastest.
fn fastest_has_highest_occupancy(outcome: &Outcome) -> Option<usize> {
    let figures = &outcome.parts.first()?.figures;
    let mut shapes = Vec::new();
    for figure in figures.iter().filter(|figure| figure.unit == "%") {
        let time = |it: &&MeasuredValue| it.unit == "µs" && figure.label.starts_with(&it.label);
        shapes.push((figures.iter().find(time)?.value, figure.value));
    }
    let fastest = shapes.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let is_highest = shapes.iter().all(|shape| shape.1 <= fastest.1);
    Some(if is_highest { 0 } else { 1 })
}

fn survey(shared: &mut Bench) -> Result<Measured> {
    let bench = &mut shared.another();
    let lattice = lattice(bench)?;
    let blocks = lattice.kernel.blocks;
    let mut right = true;
    for &block in blocks {
        right &= is_right(&lattice, bench, block)?;
    }
    // In turn, so that all meet a clock that goes up; the first turn warms up.
    let mut times = vec![Vec::new(); blocks.len()];
    for turn in 0..6 {
        for (&block, times) in blocks.iter().zip(&mut times) {
            let (program, generations) = generations(&lattice, bench, block);
            let ms = bench.run(&program)?.step_ms(0) / generations;
            if turn > 0 {
                times.push(ms);
            }
        }
    }
    let mut measured = Measured::default();
    let mut order = Vec::new();
    for (place, (&block, times)) in blocks.iter().zip(times).enumerate() {
        let shape = format!("{}x{}", block.0, block.1);
        let ms = median(times).expect("five turns");
        order.push((ms, place));
        measured = measured.figure(shape.clone(), ms * 1e3, "µs");
        let op = lattice.advance_one(0, 1, block);
        if let Some(found) = bench.engine()?.occupancy(DEVICE, &op)? {
            let resident = found.blocks_per_sm;
            let threads = f64::from(resident * found.block_threads);
            let part = 100.0 * threads / f64::from(found.max_threads_per_sm);
            measured = measured
                .figure(format!("{shape}: {RESIDENT}"), resident.into(), "")
                .figure(format!("{shape}: {OCCUPANCY_OF}"), part, "%");
        }
    }
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (name, at) in [(FASTEST, 0), (SECOND, 1), (SLOWEST, order.len() - 1)] {
        shared.kept.insert(name, order[at].1 as f64);
    }
    let what = tr!("two generations in blocks of {} shapes", blocks.len());
    Ok(measured
        .note(tr!("µs: a generation of the lattice"))
        .check(what, right))
}

/// A shape of the survey.
fn shape(bench: &mut Bench, which: &str) -> Result<Programs> {
    let lattice = lattice(bench)?;
    let place = bench.kept.get(which).copied().unwrap_or(0.0) as usize;
    let block = lattice.kernel.blocks[place];
    let (program, generations) = generations(&lattice, bench, block);
    let figures =
        move |runs: &[Ran]| Measured::of_time(GENERATION, runs[0].step_ms(0) / generations);
    let check = move |bench: &mut Bench, _: &Ran, _| {
        let right = is_right(&lattice, bench, block)?;
        Ok(Measured::default()
            .figure("blockDim.x", block.0.into(), "")
            .figure("blockDim.y", block.1.into(), "")
            .check(tr!("two generations of the lattice"), right))
    };
    Ok(Programs {
        shows_round: false,
        ..Programs::new(program, figures, check)
    })
}
