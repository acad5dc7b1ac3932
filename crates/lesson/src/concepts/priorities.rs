//! A small launch that comes late: behind everybody, or next in turn.

use super::default_stream::Counter;
use crate::prelude::*;
use engine::Priority;

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
    source: Origin::Guide("Stream Priorities"),
    intro: "Four streams fill the device with many blocks of 0.1 ms. Then one small launch of \
            0.02 ms comes, in a stream of its own: of the same priority, then of the highest.",
    question: "The late launch in a stream of the highest priority: how much sooner is it done?",
    choices: Choices::Factors(0, &[1.0, 5.0, 25.0, 100.0]),
    parts: &[
        Part {
            title: "the same priority",
            code: "cudaStreamCreateWithPriority(
    &late, cudaStreamNonBlocking, lowest);
for (int n = 0; n < LAUNCHES; n++)
    for (int i = 0; i < 4; i++)
        spin<<<many, 1024, 0, stream[i]>>>(100 * us);
spin<<<1, 1, 0, late>>>(20 * us);",
            work: PartWork::Programs(|bench| late_launch(bench, Priority::Normal)),
        },
        Part {
            title: "the highest priority",
            code: "cudaStreamCreateWithPriority(
    &late, cudaStreamNonBlocking, highest);
for (int n = 0; n < LAUNCHES; n++)
    for (int i = 0; i < 4; i++)
        spin<<<many, 1024, 0, stream[i]>>>(100 * us);
spin<<<1, 1, 0, late>>>(20 * us);",
            work: PartWork::Programs(|bench| late_launch(bench, Priority::High)),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "the highest priority for the late launch",
        faster: "The late launch went before blocks that had been waiting.",
        none: "So no block was waiting that the late launch could have gone before.",
        slower: "Here the priority did not help the late launch.",
    }],
    missing_on_cpu: None,
    closing: Closing::Text(
        "A priority takes nothing away from blocks that run: it decides whose block \
         goes next when one ends.",
    ),
};

/// Busy streams, and the launch that comes late.
fn late_launch(bench: &mut Bench, priority: Priority) -> Result<Programs> {
    let busy = bench.streams(BUSY, StreamKind::NonBlocking)?;
    let spec = StreamSpec {
        priority,
        ..StreamSpec::PLAIN
    };
    let late = bench.engine()?.create_stream(DEVICE, spec)?;
    let counter = Counter::new(bench)?;
    // Eight times as many blocks as the device holds at once; the CPU's workers hold one each.
    let (grid, block) = bench.pick((bench.info.sm_count * 2 * 8, 1024), (1, 1));
    let mut program = Program::default().with_spans();
    for _ in 0..LAUNCHES {
        for &stream in &busy {
            program.push(stream, counter.spins(grid, block, BLOCK_NS));
        }
    }
    program.push(late, counter.spin(LATE_NS));
    let launches = program.steps.len();
    let figures = move |runs: &[Ran]| {
        let waited = runs[0].end_ms(launches - 1);
        Measured::of_time(mark!("the late launch is done after"), waited)
            .time(mark!("all launches"), runs[0].device_ms())
    };
    Ok(Programs::new(program, figures, move |bench, _, runs| {
        counter.check(bench, late, launches * runs)
    }))
}
