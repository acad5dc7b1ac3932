//! Stepping a lattice until it settles: the host decides when to stop, or a graph does.

use crate::bench::{at, call, copy, copy_between, inside, start};
use crate::work::{DENSITY, square};
use crate::{
    Bench, Choices, Closing, Compare, Experiment, Group, Lesson, Measured, Missing, Origin, Part,
    PartWork, Ran, Result,
};
use engine::buffer_kernels::SETTLE;
use engine::{
    Argument, BufferId, BufferOffset, HostMemory, Loop, Op, PreparedId, Program, StreamId,
};
use lang::{mark, tr};
use life::{Lattice, Rule, reference, soup};
use model::trace::TimedRound;

const SIDE: u32 = 64;
const CELLS: usize = (SIDE * SIDE) as usize;
/// A soup that settles after some hundred generations.
const SEED: u64 = 1;
/// Runs of the body, of two generations each, after which somebody must have made a mistake.
const MAX_RUNS: u32 = 10_000;

pub(crate) const WHILE_GRAPH: Lesson = Lesson {
    name: "while-graph",
    group: Group::Concepts,
    title: "who decides when to stop?",
    source: Origin::Guide("Conditional Graph Nodes"),
    intro: "A soup of 64 × 64 cells is stepped until it is still or only blinks: a kernel sets a flag if a cell \
            differs from two generations ago. First, the host copies the flag after every two generations and \
            launches again. Then a graph does this by itself: its WHILE node repeats the two launches as long \
            as the flag is set.",
    question: "The graph decides whether to go on, not the host: how much sooner does the lattice settle?",
    choices: Choices::Factors {
        comparison: 0,
        factors: &[1.0, 2.0, 5.0, 20.0],
    },
    parts: &[
        Part {
            title: "the host decides",
            code: "do {
    cudaMemcpyAsync(flag, zero, 4,
               cudaMemcpyHostToDevice, stream);
    settle<<<16, 256, 0, stream>>>(a, b, flag);
    settle<<<16, 256, 0, stream>>>(b, a, flag);
    cudaMemcpyAsync(again, flag, 4,
               cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
} while (*again);",
            work: PartWork::Program(|bench| Settling::prepare(bench, false)),
        },
        Part {
            title: "the graph decides",
            code: "// captured once, as the body of the WHILE node:
    settle<<<16, 256, 0, stream>>>(a, b, flag);
    settle<<<16, 256, 0, stream>>>(b, a, flag);
    condition<<<1, 1, 0, stream>>>(node, flag);
// condition calls
//     cudaGraphSetConditional(node, *flag);
//     and sets the flag back.

cudaGraphLaunch(graph, stream);",
            work: PartWork::Program(|bench| Settling::prepare(bench, true)),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "a WHILE node instead of the host",
        faster: "The host's way takes two launches, two copies and a wait every time; the graph is launched only \
                 once.",
        none: "Here, the host decides as fast as the device.",
        slower: "Here, the WHILE node needs more time between two runs than the host does.",
    }],
    missing_on_cpu: Some(Missing {
        what: "CUDA graphs (it repeats the steps itself)",
        on_gpu: "On a GPU, the graph goes on by itself, while the host would have to wait for every flag.",
        on_cpu: None,
    }),
    closing: Closing::Text(
        "A kernel sets the condition of the node (cudaGraphSetConditional, CUDA 12.4), so the number of \
         generations need not be known at launch.",
    ),
};

/// A lattice that is stepped until it settles.
struct Settling {
    stream: StreamId,
    /// The lattice and the generation before, on the device.
    cells: [BufferId; 2],
    /// The mark, and how often the body ran.
    state: BufferId,
    start: Lattice,
    /// The start, and the cells at the end.
    host: [BufferId; 2],
    mark: BufferId,
    zero: BufferId,
    graph: Option<(Program, PreparedId)>,
    runs: u32,
}

impl Settling {
    fn prepare(bench: &mut Bench, in_graph: bool) -> Result<Box<dyn Experiment>> {
        let start = soup(square(SIDE.into()), DENSITY, SEED, 0);
        let [a, b] = [
            bench.device_buffer(4 * CELLS)?,
            bench.device_buffer(4 * CELLS)?,
        ];
        let pinned = |bench: &mut Bench, bytes| bench.host_buffer(bytes, HostMemory::Pinned);
        let mut settling = Settling {
            stream: bench.stream()?,
            cells: [a, b],
            state: bench.device_buffer(8)?,
            start,
            host: [pinned(bench, 4 * CELLS)?, pinned(bench, 4 * CELLS)?],
            mark: pinned(bench, 4)?,
            zero: pinned(bench, 4)?,
            graph: None,
            runs: 0,
        };
        let first = &settling.start;
        bench.access(settling.host[0], &mut |words| {
            for (word, (x, y)) in words.iter_mut().zip(places()) {
                *word = first.get(x, y).into();
            }
        })?;
        if in_graph {
            let repeated = Op::While(Loop {
                body: settling.two_generations([]).into(),
                state: BufferOffset {
                    buffer: settling.state,
                    offset: 0,
                },
                max_runs: MAX_RUNS,
            });
            let program = Program::in_stream(settling.stream, [repeated]).with_spans();
            let graph = bench.engine()?.prepare(&program)?;
            settling.graph = Some((program, graph));
        }
        settling.sample(bench)?;
        Ok(Box::new(settling))
    }

    /// Two launches that step the lattice, and ops before them.
    fn two_generations(&self, before: impl IntoIterator<Item = Op>) -> Program {
        let step = |from: BufferId, to: BufferId| {
            let side = Argument::I32(SIDE as i32);
            let rule = Argument::U32(Rule::LIFE.table());
            let arguments = [at(from), at(to), side, side, rule, inside(self.state, 0)];
            call(&SETTLE, 16, 256, arguments)
        };
        let [a, b] = self.cells;
        let launches = [step(a, b), step(b, a)];
        Program::in_stream(self.stream, before.into_iter().chain(launches))
    }

    /// Puts the start into both buffers.
    fn reset(&self, bench: &mut Bench) -> Result<()> {
        let up = self.cells.map(|cells| copy(self.host[0], cells, 4 * CELLS));
        bench.run(&Program::in_stream(self.stream, up)).map(drop)
    }

    /// Steps until the lattice has settled. Returns what ran, as one program.
    fn settle(&mut self, bench: &mut Bench, timed: bool) -> Result<(Program, Ran)> {
        self.reset(bench)?;
        if let Some((program, graph)) = &self.graph {
            let started = bench.start_prepared(*graph)?;
            let (program, ran) = (program.clone(), bench.finish(started)?);
            let count = BufferOffset {
                buffer: self.state,
                offset: 4,
            };
            let down = copy_between(count, start(self.mark), 4);
            bench.run(&Program::in_stream(self.stream, [down]))?;
            self.runs = bench.words(self.mark)?[0];
            return Ok((program, ran));
        }
        let mut pass = self.two_generations([copy(self.zero, self.state, 4)]);
        pass.push(self.stream, copy(self.state, self.mark, 4));
        pass.timed = timed;
        let (mut program, mut ran) = (Program::default(), Ran::default());
        for run in 1..=MAX_RUNS {
            ran.append(bench.run(&pass)?, program.steps.len());
            self.runs = run;
            if timed {
                program.steps.extend(pass.steps.iter().cloned());
            }
            if bench.words(self.mark)? == [0] {
                break;
            }
        }
        Ok((program, ran))
    }
}

impl Experiment for Settling {
    fn sample(&mut self, bench: &mut Bench) -> Result<Measured> {
        let (_, ran) = self.settle(bench, false)?;
        let ms = ran.wall_ms();
        let generations = 2.0 * f64::from(self.runs);
        Ok(Measured::of_time(mark!("until it settles"), ms)
            .figure(mark!("generations"), generations, "")
            .time(mark!("time per generation"), ms / generations))
    }

    fn inspect(&mut self, bench: &mut Bench) -> Result<Measured> {
        let (program, ran) = self.settle(bench, true)?;
        let down = copy(self.cells[0], self.host[1], 4 * CELLS);
        bench.run(&Program::in_stream(self.stream, [down]))?;
        let cells = bench.words(self.host[1])?;
        let generations = 2 * u64::from(self.runs);
        let [before, last] =
            [generations - 2, generations].map(|at| reference::run(&self.start, Rule::LIFE, at));
        let same = places()
            .zip(&cells)
            .all(|((x, y), cell)| *cell == u32::from(last.get(x, y)));
        let mut measured = Measured::default()
            .check(
                tr!("after {generations} generations every cell matches the reference"),
                same,
            )
            .check(
                tr!("the cells equal those of two generations ago"),
                before == last,
            );
        measured.trace = Some(TimedRound {
            replayed: self.graph.is_some(),
            ..bench.timed_round(&program, ran)
        });
        Ok(measured)
    }
}

fn places() -> impl Iterator<Item = (u32, u32)> {
    (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y)))
}
