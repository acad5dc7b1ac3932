//! What a launch in the default stream does to all the others.

use crate::bench::{at, call, copy};
use crate::{
    Bench, Compare, Conclusions, Experiment, Group, Lesson, Measured, Part, PartWork, Ran, Result,
};
use engine::buffer_kernels::SPIN;
use engine::{Argument, BufferId, HostMemory, Op, Program, StreamId, StreamKind};
use lang::{mark, tr};

const STREAMS: usize = 8;
/// How long each launch lasts.
const SPIN_NS: u64 = 500_000;

pub(crate) const DEFAULT_STREAM: Lesson = Lesson {
    name: "default-stream",
    group: Group::Concepts,
    title: "the default stream waits for all others, and they wait for it",
    source: "the tutorials on the legacy default stream",
    intro: "Eight launches of half a millisecond, a stream each. Then with a launch of next to \
            nothing in the default stream between each two: first where the eight streams are \
            blocking ones, as cudaStreamCreate makes them, then where they are not.",
    question: "Eight launches that run at once, and between them seven that do nothing: how \
               long does it take together?",
    parts: &[
        Part {
            title: "blocking streams, nothing in the default stream",
            work: PartWork::Program(|bench| Spins::prepare(bench, StreamKind::Blocking, false)),
        },
        Part {
            title: "blocking streams, and launches in the default stream",
            work: PartWork::Program(|bench| Spins::prepare(bench, StreamKind::Blocking, true)),
        },
        Part {
            title: "non-blocking streams, and launches in the default stream",
            work: PartWork::Program(|bench| Spins::prepare(bench, StreamKind::NonBlocking, true)),
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
        let without = outcome.conclude(
            0,
            Conclusions {
                faster: tr!("One forgotten stream argument makes a program serial."),
                none: tr!("Here nothing ran side by side in the first place."),
                slower: tr!("Here the launches in the default stream held nothing up."),
            },
        );
        let kinds = outcome.conclude(
            1,
            Conclusions {
                faster: tr!("Non-blocking streams do not wait for the default stream."),
                none: tr!("Here non-blocking streams gained nothing."),
                slower: tr!("Here non-blocking streams gained nothing at all."),
            },
        );
        tr!(
            "{} {} The default stream waits for all blocking streams, and they for it.",
            without,
            kinds
        )
    },
};

/// A launch of one thread that lasts so long and counts itself.
pub(super) fn spin(done: BufferId, nanoseconds: u64) -> Op {
    call(&SPIN, 1, 1, [at(done), Argument::U64(nanoseconds)])
}

/// Eight launches that last, and what is between them.
struct Spins {
    default: StreamId,
    done: BufferId,
    done_host: BufferId,
    program: Program,
    runs: usize,
}

impl Spins {
    fn prepare(bench: &mut Bench, kind: StreamKind, between: bool) -> Result<Box<dyn Experiment>> {
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
        let mut spins = Spins {
            default,
            done,
            done_host,
            program,
            runs: 0,
        };
        spins.run(bench)?;
        Ok(Box::new(spins))
    }

    fn run(&mut self, bench: &mut Bench) -> Result<Ran> {
        self.runs += 1;
        bench.run(&self.program)
    }
}

impl Experiment for Spins {
    fn sample(&mut self, bench: &mut Bench) -> Result<Measured> {
        let ms = self.run(bench)?.wall_ms();
        Ok(Measured::of_time(mark!("all launches"), ms))
    }

    fn inspect(&mut self, bench: &mut Bench) -> Result<Measured> {
        self.program.timed = true;
        let timed = self.run(bench)?;
        self.program.timed = false;
        let mut down = Program::default();
        down.push(self.default, copy(self.done, self.done_host, 4));
        bench.run(&down)?;
        let counted = bench.words(self.done_host)?[0] as usize;
        let launches = self.program.steps.len();
        let mut measured = Measured::default()
            .figure(mark!("launches"), launches as f64, "")
            .check(
                tr!("every launch was counted"),
                counted == launches * self.runs,
            );
        measured.trace = Some(bench.timed_round(&self.program, timed));
        Ok(measured)
    }
}
