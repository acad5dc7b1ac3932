//! A small launch that comes late: behind everybody, or next in turn.

use super::default_stream::spin;
use crate::bench::{DEVICE, at, call, copy, median};
use crate::{Bench, Compare, Group, Lesson, Measured, Part, PartWork, Result};
use engine::lesson_kernels::SPIN;
use engine::{Argument, HostMemory, Priority, Program, StreamKind, StreamSpec};
use lang::{mark, tr};

/// Streams that keep the device busy.
const BUSY: usize = 4;
/// Launches in each of them.
const LAUNCHES: usize = 4;
/// How long a block of theirs lasts.
const BLOCK_NS: u64 = 100_000;
/// How long the late launch lasts.
const LATE_NS: u64 = 20_000;

pub(crate) const PRIORITIES: Lesson = Lesson {
    name: "priorities",
    group: Group::Concepts,
    title: "a small launch that comes late",
    source: "stream priorities in the CUDA C++ Programming Guide",
    intro: "Four streams fill the device with many blocks of 0.1 ms. Then one small launch of \
            0.02 ms comes, in a stream of its own: of the same priority, then of the highest.",
    question: "When is the late launch done: after 0.02 ms, after a block of the others, or \
               after all of them?",
    parts: &[
        Part {
            title: "the same priority",
            work: PartWork::Program(|bench| run(bench, Priority::Normal)),
        },
        Part {
            title: "the highest priority",
            work: PartWork::Program(|bench| run(bench, Priority::High)),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "the highest priority for the late launch",
    }],
    missing_on_cpu: None,
    closing: |outcome| {
        tr!(
            "With the highest priority the late launch comes to its end {}. A priority takes nothing away \
             from blocks that run: it decides whose block goes next when one ends.",
            outcome.compared(0)
        )
    },
};

fn run(bench: &mut Bench, priority: Priority) -> Result<Measured> {
    let busy = bench.streams(BUSY, StreamKind::NonBlocking)?;
    let late = bench.engine()?.create_stream(
        DEVICE,
        StreamSpec {
            priority,
            ..StreamSpec::PLAIN
        },
    )?;
    let done = bench.device_buffer(4)?;
    let done_host = bench.host_buffer(4, HostMemory::Pinned)?;
    // Eight times as many blocks as the device holds at once; the CPU's workers hold one each.
    let sm_count = bench.info().sm_count;
    let (grid, block) = bench.pick((sm_count * 2 * 8, 1024), (1, 1));
    let mut program = Program {
        timed: true,
        ..Program::default()
    };
    for _ in 0..LAUNCHES {
        for &stream in &busy {
            let arguments = [at(done), Argument::U64(BLOCK_NS)];
            program.push(stream, call(&SPIN, grid, block, arguments));
        }
    }
    program.push(late, spin(done, LATE_NS));
    let launches = program.steps.len();
    let (mut waits, mut totals) = (Vec::new(), Vec::new());
    let runs = bench.pick(11, 5);
    let mut last = bench.run(&program)?;
    for _ in 0..runs {
        last = bench.run(&program)?;
        waits.push(last.end_ms(launches - 1));
        totals.push(last.device_ms());
    }
    let mut down = Program::default();
    down.push(late, copy(done, done_host, 4));
    bench.run(&down)?;
    let counted = bench.words(done_host)?[0] as usize;
    let mut measured = Measured::of_time(mark!("the late launch is done after"), median(waits))
        .time(mark!("all launches"), median(totals))
        .check(
            tr!("every launch was counted"),
            counted == launches * (runs + 1),
        );
    measured.trace = Some(bench.timed_round(&program, last));
    Ok(measured)
}
