//! How many threads a multiprocessor holds, and whether more are faster.

use crate::bench::{DEVICE, median};
use crate::work::{DENSITY, SEED, kernel, square};
use crate::{Bench, Group, Lesson, Measured, Outcome, Part, PartWork, Result};
use engine::{LatticeId, Layout, Op, Program, Slot, SlotsSpec, StreamSpec, Transfer};
use lang::tr;
use life::{Rule, reference, soup};
use session::instances::read_lattice;

const SIDE: u64 = 1024;

pub(crate) const OCCUPANCY: Lesson = Lesson {
    name: "occupancy",
    group: Group::Concepts,
    title: "shapes of a block, and the threads at work",
    source: "occupancy in the CUDA C++ Best Practices Guide, and the key F8",
    intro: "One lattice of 1024 x 1024 cells, one thread per cell, in blocks of every shape the \
            kernel takes. For each: what part of the threads that a multiprocessor can hold it \
            does hold, and how long a generation takes.",
    question: "Is the shape with the most threads at work the fastest?",
    parts: &[Part {
        title: "kernel 'global', block by block",
        work: PartWork::Program(run),
    }],
    compared: &[],
    missing_on_cpu: Some("multiprocessors, and so no occupancy"),
    closing,
};

fn closing(outcome: &Outcome) -> String {
    let times = outcome.parts[0].figures.iter();
    let times = times.filter(|figure| figure.unit == "µs");
    let order = |a: &&crate::Figure, b: &&crate::Figure| a.value.total_cmp(&b.value);
    let (Some(best), Some(worst)) = (times.clone().min_by(order), times.max_by(order)) else {
        return String::new();
    };
    tr!(
        "{} was the fastest shape, {}× faster than {}. Threads that wait for memory cost nothing as long as others can run: having enough of them, in rows of 32 that are contiguous in memory, matters more than the last per cent of occupancy.",
        best.label,
        format_args!("{:.2}", worst.value / best.value),
        worst.label
    )
}

fn run(bench: &mut Bench) -> Result<Measured> {
    bench.renew()?;
    let (kernel, size) = (kernel("global"), square(SIDE));
    let start = soup(size, DENSITY, SEED, 0);
    let engine = bench.engine()?;
    engine.create_lattices(DEVICE, 1, size)?;
    engine.reserve(kernel.layout)?;
    let slots = engine.allocate_slots(SlotsSpec {
        pinned: 0,
        pageable: 0,
        picture_words: 0,
        snapshots: 1,
        measures: 0,
    })?;
    let stream = engine.create_stream(DEVICE, StreamSpec::PLAIN)?;
    let lattice = LatticeId(0);
    let per_launch = bench.pick(20, 2);
    let mut measured = Measured::default();
    let mut wrong = Vec::new();
    let want = reference::run(&start, Rule::LIFE, 2);
    for &(across, down) in kernel.blocks {
        let advance = |generations| Op::Advance {
            kernel,
            lattices: 0..1,
            rule: Rule::LIFE,
            generations,
            block: (across, down),
        };
        let mut program = Program::default();
        let words = start.words().into();
        program.push(stream, Op::Upload { lattice, words });
        let to = Layout::I32;
        program.push(
            stream,
            Op::Unpack {
                lattices: lattice.as_range(),
                to,
            },
        );
        program.push(stream, advance(2));
        program.push(stream, Op::Pack(lattice.as_range()));
        let (slot, what) = (Slot(0), Transfer::Bits);
        program.push(
            stream,
            Op::Download {
                lattices: lattice.as_range(),
                slot,
                what,
            },
        );
        bench.run(&program)?;
        let shape = format!("{across}x{down}");
        if read_lattice(&*slots, 0, slot, size)? != want {
            wrong.push(shape.clone());
        }

        let mut program = Program {
            timed: true,
            ..Program::default()
        };
        program.push(stream, advance(per_launch));
        let mut times = Vec::new();
        for _ in 0..5 {
            times.push(bench.run(&program)?.step_ms(0) * 1e3 / f64::from(per_launch));
        }
        measured = measured.figure(shape.clone(), median(times), "µs");
        if let Some(found) = bench.engine()?.occupancy(DEVICE, &advance(1))? {
            let threads = f64::from(found.blocks_per_sm * found.block_threads);
            let part = 100.0 * threads / f64::from(found.max_threads_per_sm);
            measured = measured
                .figure(
                    tr!("{shape}: blocks a multiprocessor", shape = shape),
                    found.blocks_per_sm.into(),
                    "",
                )
                .figure(tr!("{shape}: of its threads", shape = shape), part, "%");
        }
    }
    let what = tr!(
        "two generations in blocks of {} shapes",
        kernel.blocks.len()
    );
    Ok(measured
        .note(tr!("µs: a generation of the lattice"))
        .check(what, wrong.is_empty()))
}
