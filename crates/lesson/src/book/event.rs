//! Two events around a long launch, asked while it runs and when it is over.

use super::multi_kernel::{SHAPE, TIMES};
use crate::prelude::*;

/// Floats.
const LENGTH: usize = 100 << 20;

pub(crate) const EVENT: Lesson = Lesson {
    name: "event",
    group: Group::Book,
    title: "has the launch started, has it ended, how long did it take?",
    source: Origin::Book(5, "simple_event_example.py"),
    intro: "One launch of 64 threads over 100 × 1024 × 1024 floats, an event before it and one \
            behind it. The host asks both at once after the call has returned, waits, and asks \
            again.",
    question: "The launch call has returned: has the event that was recorded after it completed?",
    choices: Choices::Words {
        choices: &[
            "no: the launch has not begun",
            "no: the launch is running",
            "yes",
        ],
        right: |outcome| {
            let asked = |label| outcome.value(0, label) == 1.0;
            outcome.parts.first()?;
            Some(match (asked(STARTED), asked(ENDED)) {
                (_, true) => 2,
                (true, false) => 1,
                (false, false) => 0,
            })
        },
    },
    parts: &[Part {
        title: "one launch between two events",
        code: "cudaEventRecord(start, stream);
scale<<<1, 64, 0, stream>>>(array);
cudaEventRecord(end, stream);
bool started = cudaEventQuery(start) == cudaSuccess;
bool ended = cudaEventQuery(end) == cudaSuccess;
cudaEventSynchronize(end);
cudaEventElapsedTime(&ms, start, end);",
        work: PartWork::Once(run),
    }],
    compared: &[],
    missing_on_cpu: None,
    closing: Closing::OfFigures(|outcome| {
        let asked = |label| outcome.value(0, label) == 1.0;
        let early = match (asked(STARTED), asked(ENDED)) {
            (_, true) => tr!("was already over (this device was quicker than the question)"),
            (true, false) => tr!("was running"),
            (false, false) => tr!("had not even begun"),
        };
        tr!(
            "When the call had returned, the launch {early} this time. A launch call only queues the work: \
             the host learns of the end from an event, and may do something else until then."
        )
    }),
};

const STARTED: &str = mark!("started, queried right after the call (1 is yes)");
const ENDED: &str = mark!("ended, queried right after the call (1 is yes)");

fn run(bench: &mut Bench) -> Result<Measured> {
    let stream = bench.stream()?;
    let device = bench.device_buffer(4 * LENGTH)?;
    let pageable = BufferLocation::Host(HostMemory::Pageable);
    let host = bench.buffer_in(DEVICE, 4 * LENGTH, pageable)?;
    bench.fill_floats(host, 1)?;
    let both = [host, device].map(|it| place(it, 0));
    let [up, between, down] = scaled(both, 4 * LENGTH, TIMES, SHAPE);
    let [_, short, _] = scaled(both, 4 * 64, TIMES, SHAPE);
    // The module is loaded.
    bench.run(&Program::in_stream(stream, [up, short]))?;

    let before = bench.engine()?.create_event(DEVICE)?;
    let behind = bench.engine()?.create_event(DEVICE)?;
    let ops = [
        OrderOp::Record(before).into(),
        between,
        OrderOp::Record(behind).into(),
    ];
    let program = Program::in_stream(stream, ops).with_spans();
    let started = bench.start(&program)?;
    let engine = bench.engine()?;
    let at_once = [engine.query(before)?, engine.query(behind)?];
    let ran = bench.finish(started)?;
    let engine = bench.engine()?;
    let at_last = [engine.query(before)?, engine.query(behind)?];

    bench.run(&Program::in_stream(stream, [down]))?;
    let right = bench.is_scaled(host, 1)?;

    let ms = ran.step_ms(1);
    let number = |yes: bool| f64::from(u8::from(yes));
    let mut measured = Measured::of_time(mark!("between the events"), ms)
        .figure(STARTED, number(at_once[0]), "")
        .figure(ENDED, number(at_once[1]), "")
        .figure(
            mark!("started, queried after waiting for it"),
            number(at_last[0]),
            "",
        )
        .figure(
            mark!("ended, queried after waiting for it"),
            number(at_last[1]),
            "",
        )
        .time(mark!("the host was inside the call"), ran.call_ms)
        .check(
            tr!("once waited for, it has started and ended"),
            at_last == [true; 2],
        )
        .check(
            tr!("no event fires before the one in front of it"),
            at_once != [false, true],
        )
        .check(
            tr!("the array returned unchanged, except for one value that overflows by design"),
            right,
        );
    measured.trace = Some(bench.timed_round(&program, ran));
    Ok(measured)
}
