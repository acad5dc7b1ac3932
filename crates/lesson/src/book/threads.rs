//! Ten host threads that launch: a context each, and one context for all.

use std::time::Instant;

use super::multi_kernel::Array;
use crate::bench::{DEVICE, median};
use crate::{Bench, Compare, Group, Lesson, Measured, Part, PartWork, Result, data};
use engine::{BufferLocation, DeviceId, HostMemory, IssuerId, Program, StreamSpec};
use lang::{mark, tr};

const THREADS: u8 = 10;

pub(crate) const MULTI_KERNEL_THREADS: Lesson = Lesson {
    name: "multi-kernel-threads",
    group: Group::Book,
    title: "ten host threads, a context each, and one for all",
    source: "the book's multi-kernel_multi-thread",
    intro: "Ten threads of the host, an array of 1024 x 1024 floats each: up, multiplied by 2 \
            and divided by 2 fifty times, down. First every thread makes a context of its own, \
            as the book has it; then all use one.",
    question: "Ten contexts on one device: do their launches run at the same time?",
    parts: &[
        Part {
            title: "a context for each thread, as the book has it",
            work: PartWork::Program(|bench| run(bench, true)),
        },
        Part {
            title: "one context for all",
            work: PartWork::Program(|bench| run(bench, false)),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "one context instead of ten",
    }],
    missing_on_cpu: Some("contexts in which memory and time are apart"),
    closing: |outcome| {
        tr!(
            "One context for ten threads is {}.{} Contexts are to a GPU what processes are to a \
             processor: they take turns, and each has its memory and its modules to itself. \
             Threads that work together share one, and have a stream each.",
            outcome.compared(0),
            outcome.explain(
                0,
                tr!(" Launches of different contexts do not run side by side."),
                ""
            )
        )
    },
};

fn run(bench: &mut Bench, contexts: bool) -> Result<Measured> {
    bench.renew()?;
    let began = Instant::now();
    let mut homes: Vec<DeviceId> = vec![DEVICE; THREADS.into()];
    if contexts {
        for home in &mut homes {
            *home = bench.engine()?.create_context(DEVICE)?;
        }
    }
    let making = began.elapsed().as_secs_f64() * 1e3;

    let mut program = Program::default();
    let mut arrays = Vec::new();
    for (i, &home) in homes.iter().enumerate() {
        let stream = bench.engine()?.create_stream(home, StreamSpec::PLAIN)?;
        let host = BufferLocation::Host(HostMemory::Pageable);
        let array = Array {
            device: bench.buffer_in(home, Array::BYTES, BufferLocation::Device)?,
            host: bench.buffer_in(home, Array::BYTES, host)?,
            stream,
            seed: i as u64,
        };
        array.fill(bench)?;
        let issuer = IssuerId(i as u8 + 1);
        for op in array.ops() {
            program.push_from(issuer, stream, op);
        }
        arrays.push(array);
    }
    bench.run(&program)?; // the module is loaded, in every context
    let mut walls = Vec::new();
    for _ in 0..bench.pick(5, 3) {
        for array in &arrays {
            bench.access(array.host, &mut |words| data::plant(words, array.seed))?;
        }
        walls.push(bench.run(&program)?.wall_ms());
    }
    program.timed = true;
    let timed = bench.run(&program)?;
    let mut right = 0;
    for array in &arrays {
        right += usize::from(array.is_right(bench)?);
    }
    let mut measured = Measured::of_time(mark!("ten threads together"), median(walls));
    if contexts {
        measured = measured.time(mark!("making ten contexts"), making);
    }
    measured.trace = Some(bench.timed_round(&program, timed));
    Ok(measured.check(
        tr!("10 arrays returned unchanged, except for one value in each that overflows by design"),
        right == arrays.len(),
    ))
}
