//! What a launch in the default stream does to all the others.

use crate::prelude::*;
use engine::buffer_kernels::SPIN;

const STREAMS: usize = 8;
/// How long each launch lasts.
const SPIN_NS: u64 = 500_000;

pub(crate) const DEFAULT_STREAM: Lesson = Lesson {
    name: "default-stream",
    group: Group::Concepts,
    title: "the default stream waits for all others, and they wait for it",
    source: Origin::Guide("Default Stream"),
    intro: "Eight launches of half a millisecond, a stream each. Then with a launch of next to \
            nothing in the default stream between each two: first where the eight streams are \
            blocking ones, as cudaStreamCreate makes them, then where they are not.",
    question: "Eight launches of 0.5 ms, each in a stream of its own, with an empty launch in the default stream between each two: how much faster without the empty ones?",
    choices: Choices::Factors(0, &[1.0, 2.0, 8.0]),
    parts: &[
        Part {
            title: "blocking streams, nothing in the default stream",
            code: "for (int i = 0; i < 8; i++)
    cudaStreamCreate(&stream[i]);
for (int i = 0; i < 8; i++) {
    spin<<<1, 1, 0, stream[i]>>>(500 * us);
}
cudaDeviceSynchronize();",
            work: PartWork::Programs(|bench| spins(bench, StreamKind::Blocking, false)),
        },
        Part {
            title: "blocking streams, and launches in the default stream",
            code: "for (int i = 0; i < 8; i++)
    cudaStreamCreate(&stream[i]);
for (int i = 0; i < 8; i++) {
    if (i > 0) spin<<<1, 1>>>(0);
    spin<<<1, 1, 0, stream[i]>>>(500 * us);
}
cudaDeviceSynchronize();",
            work: PartWork::Programs(|bench| spins(bench, StreamKind::Blocking, true)),
        },
        Part {
            title: "non-blocking streams, and launches in the default stream",
            code: "for (int i = 0; i < 8; i++)
    cudaStreamCreateWithFlags(
        &stream[i], cudaStreamNonBlocking);
for (int i = 0; i < 8; i++) {
    if (i > 0) spin<<<1, 1>>>(0);
    spin<<<1, 1, 0, stream[i]>>>(500 * us);
}
cudaDeviceSynchronize();",
            work: PartWork::Programs(|bench| spins(bench, StreamKind::NonBlocking, true)),
        },
    ],
    compared: &[
        Compare {
            slow: 1,
            fast: 0,
            label: "without the default stream",
            faster: "One forgotten stream argument makes a program serial.",
            none: "Here nothing ran side by side in the first place.",
            slower: "Here the launches in the default stream held nothing up.",
        },
        Compare {
            slow: 1,
            fast: 2,
            label: "non-blocking instead of blocking streams",
            faster: "Non-blocking streams do not wait for the default stream.",
            none: "Here non-blocking streams gained nothing.",
            slower: "Here non-blocking streams gained nothing at all.",
        },
    ],
    missing_on_cpu: None,
    closing: Closing::Text("The default stream waits for all blocking streams, and they for it."),
};

/// A number on the device that launches count up.
#[derive(Clone, Copy)]
pub(super) struct Counter {
    device: BufferId,
    host: BufferId,
}

impl Counter {
    pub(super) fn new(bench: &mut Bench) -> Result<Counter> {
        Ok(Counter {
            device: bench.device_buffer(4)?,
            host: bench.pinned_buffer(4)?,
        })
    }

    /// A launch of one thread that lasts so long and counts itself.
    pub(super) fn spin(&self, nanoseconds: u64) -> Op {
        self.spins(1, 1, nanoseconds)
    }

    /// A launch of `grid` blocks of `block` threads that each last so long; it counts itself once.
    pub(super) fn spins(&self, grid: u32, block: u32, nanoseconds: u64) -> Op {
        let arguments = [at(self.device), Argument::U64(nanoseconds)];
        call(&SPIN, grid, block, arguments)
    }

    /// How many launches have been counted.
    pub(super) fn read(&self, bench: &mut Bench, stream: StreamId) -> Result<usize> {
        let down = copy(self.device, self.host, 4);
        bench.run(&Program::in_stream(stream, [down]))?;
        Ok(bench.words(self.host)?[0] as usize)
    }

    /// Checks that as many launches have been counted.
    pub(super) fn check(
        &self,
        bench: &mut Bench,
        stream: StreamId,
        launches: usize,
    ) -> Result<Measured> {
        let counted = self.read(bench, stream)?;
        Ok(Measured::default().check(tr!("every launch was counted"), counted == launches))
    }
}

/// Eight launches that last, and what is between them.
fn spins(bench: &mut Bench, kind: StreamKind, between: bool) -> Result<Programs> {
    let streams = bench.streams(STREAMS, kind)?;
    let default = bench.streams(1, StreamKind::Default)?[0];
    let counter = Counter::new(bench)?;
    let mut program = Program::default();
    for (i, &stream) in streams.iter().enumerate() {
        if between && i > 0 {
            program.push(default, counter.spin(0));
        }
        program.push(stream, counter.spin(SPIN_NS));
    }
    let launches = program.steps.len();
    let wall = wall(mark!("all launches"));
    Ok(Programs::new(program, wall, move |bench, _, runs| {
        let measured = counter.check(bench, default, launches * runs)?;
        Ok(measured.figure(mark!("launches"), launches as f64, ""))
    }))
}
