//! What a launch in the default stream does to all the others.

use crate::bench::{at, call, copy};
use crate::{Bench, Compare, Group, Lesson, Measured, Part, PartWork, Result};
use engine::lesson_kernels::SPIN;
use engine::{Argument, BufferId, HostMemory, Op, Program, StreamKind};
use lang::{mark, tr};

const STREAMS: usize = 8;
/// How long each launch lasts.
const SPIN_NS: u64 = 500_000;

pub(crate) const DEFAULT_STREAM: Lesson = Lesson {
    name: "default-stream",
    group: Group::Concepts,
    title: "the stream that waits for all, and all for it",
    source: "the tutorials on the legacy default stream",
    intro: "Eight launches of half a millisecond, a stream each. Then with a launch of next to \
            nothing in the default stream between each two: first where the eight streams are \
            blocking ones, as cudaStreamCreate makes them, then where they are not.",
    question: "Eight launches that run at once, and between them seven that do nothing: how \
               long does it take together?",
    parts: &[
        Part {
            title: "blocking streams, nothing in the default stream",
            work: PartWork::Program(|bench| run(bench, StreamKind::Blocking, false)),
        },
        Part {
            title: "blocking streams, and launches in the default stream",
            work: PartWork::Program(|bench| run(bench, StreamKind::Blocking, true)),
        },
        Part {
            title: "non-blocking streams, and launches in the default stream",
            work: PartWork::Program(|bench| run(bench, StreamKind::NonBlocking, true)),
        },
    ],
    compared: &[
        Compare {
            slow: 1,
            fast: 0,
            label: "without the default stream",
        },
        Compare {
            slow: 1,
            fast: 2,
            label: "non-blocking instead of blocking streams",
        },
    ],
    missing_on_cpu: None,
    closing: |outcome| {
        tr!(
            "Without the launches in the default stream it is {}, with non-blocking streams {}. \
             The default stream waits for all blocking streams, and they for it{}.",
            outcome.compared(0),
            outcome.compared(1),
            outcome.explain(
                0,
                tr!(": one forgotten stream argument makes a program serial"),
                tr!("; here nothing ran side by side in the first place")
            )
        )
    },
};

/// A launch of one thread that lasts so long and counts itself.
pub(super) fn spin(done: BufferId, nanoseconds: u64) -> Op {
    call(&SPIN, 1, 1, [at(done), Argument::U64(nanoseconds)])
}

fn run(bench: &mut Bench, kind: StreamKind, between: bool) -> Result<Measured> {
    let streams = bench.streams(STREAMS, kind)?;
    let default = bench.streams(1, StreamKind::Default)?[0];
    let done = bench.device_buffer(4)?;
    let done_host = bench.host_buffer(4, HostMemory::Pinned)?;
    let mut program = Program::default();
    for (i, &stream) in streams.iter().enumerate() {
        if between && i > 0 {
            program.push(default, spin(done, 0));
        }
        program.push(stream, spin(done, SPIN_NS));
    }
    let runs = bench.pick(11, 5);
    let ms = bench.median_ms(runs, &program)?;
    program.timed = true;
    let timed = bench.run(&program)?;
    let mut down = Program::default();
    down.push(default, copy(done, done_host, 4));
    bench.run(&down)?;
    let counted = bench.words(done_host)?[0] as usize;
    let launches = program.steps.len();
    let mut measured = Measured::of_time(mark!("all launches"), ms)
        .figure(mark!("launches"), launches as f64, "")
        .check(
            tr!("every launch was counted"),
            counted == launches * (runs + 2),
        );
    measured.trace = Some(bench.timed_round(&program, timed));
    Ok(measured)
}
