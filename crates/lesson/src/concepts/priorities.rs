//! A small launch that comes late: behind everybody, or next in turn.

use super::default_stream::Counter;
use crate::bench::DEVICE;
use crate::{
    Bench, Choices, Closing, Compare, Experiment, Group, Lesson, Measured, Origin, Part, PartWork,
    Ran, Result,
};
use engine::{Priority, Program, StreamId, StreamKind, StreamSpec};
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
    source: Origin::Guide("Stream Priorities"),
    intro: "Four streams fill the device with many blocks of 0.1 ms. Then one small launch of \
            0.02 ms comes, in a stream of its own: of the same priority, then of the highest.",
    question: "The late launch in a stream of the highest priority: how much sooner is it done?",
    choices: Choices::Factors {
        comparison: 0,
        factors: &[1.0, 5.0, 25.0, 100.0],
    },
    parts: &[
        Part {
            title: "the same priority",
            code: "cudaStreamCreateWithPriority(
    &late, cudaStreamNonBlocking, lowest);
for (int n = 0; n < LAUNCHES; n++)
    for (int i = 0; i < 4; i++)
        spin<<<many, 1024, 0, stream[i]>>>(100 * us);
spin<<<1, 1, 0, late>>>(20 * us);",
            work: PartWork::Program(|bench| LateLaunch::prepare(bench, Priority::Normal)),
        },
        Part {
            title: "the highest priority",
            code: "cudaStreamCreateWithPriority(
    &late, cudaStreamNonBlocking, highest);
for (int n = 0; n < LAUNCHES; n++)
    for (int i = 0; i < 4; i++)
        spin<<<many, 1024, 0, stream[i]>>>(100 * us);
spin<<<1, 1, 0, late>>>(20 * us);",
            work: PartWork::Program(|bench| LateLaunch::prepare(bench, Priority::High)),
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
struct LateLaunch {
    late: StreamId,
    counter: Counter,
    program: Program,
    runs: usize,
    last: Option<Ran>,
}

impl LateLaunch {
    fn prepare(bench: &mut Bench, priority: Priority) -> Result<Box<dyn Experiment>> {
        let busy = bench.streams(BUSY, StreamKind::NonBlocking)?;
        let late = bench.engine()?.create_stream(
            DEVICE,
            StreamSpec {
                priority,
                ..StreamSpec::PLAIN
            },
        )?;
        let counter = Counter::new(bench)?;
        // Eight times as many blocks as the device holds at once; the CPU's workers hold one each.
        let sm_count = bench.info().sm_count;
        let (grid, block) = bench.pick((sm_count * 2 * 8, 1024), (1, 1));
        let mut program = Program::default().with_spans();
        for _ in 0..LAUNCHES {
            for &stream in &busy {
                program.push(stream, counter.spins(grid, block, BLOCK_NS));
            }
        }
        program.push(late, counter.spin(LATE_NS));
        bench.run(&program)?;
        Ok(Box::new(LateLaunch {
            late,
            counter,
            program,
            runs: 1,
            last: None,
        }))
    }
}

impl Experiment for LateLaunch {
    fn sample(&mut self, bench: &mut Bench) -> Result<Measured> {
        let ran = bench.run(&self.program)?;
        self.runs += 1;
        let waited = ran.end_ms(self.program.steps.len() - 1);
        let measured = Measured::of_time(mark!("the late launch is done after"), waited)
            .time(mark!("all launches"), ran.device_ms());
        self.last = Some(ran);
        Ok(measured)
    }

    fn inspect(&mut self, bench: &mut Bench) -> Result<Measured> {
        let counted = self.counter.read(bench, self.late)?;
        let launches = self.program.steps.len();
        let mut measured = Measured::default().check(
            tr!("every launch was counted"),
            counted == launches * self.runs,
        );
        let last = self.last.take();
        measured.trace = last.map(|ran| bench.timed_round(&self.program, ran));
        Ok(measured)
    }
}
