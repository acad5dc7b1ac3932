//! Two hundred arrays, a small launch each: one after the other, and in two hundred streams.

use crate::bench::{at, call, copy, median};
use crate::{Bench, Compare, Group, Lesson, Measured, Part, PartWork, Result, data};
use engine::Op;
use engine::lesson_kernels::SCALE;
use engine::{Argument, BufferId, HostMemory, Program, StreamId, StreamKind};
use lang::{mark, tr};

/// Arrays.
const ARRAYS: usize = 200;
/// Floats of each.
pub(super) const LENGTH: usize = 1 << 20;
/// Times 2 and divided by 2 so often.
const TIMES: i32 = 50;
/// The one block of a launch.
const THREADS: u32 = 64;

const WORK: &str = "200 arrays of 1024 x 1024 floats go up, each is multiplied by 2 and divided \
                    by 2 fifty times over in a launch of one block of 64 threads, and comes down.";

pub(crate) const MULTI_KERNEL: Lesson = Lesson {
    name: "multi-kernel",
    group: Group::Book,
    title: "two hundred small launches, one after the other",
    source: "the book's multi-kernel",
    intro: WORK,
    question: "A launch has 64 threads: what part of the device works?",
    parts: &[Part {
        title: "in the default stream",
        work: PartWork::Program(|bench| run(bench, &SERIAL)),
    }],
    compared: &[],
    missing_on_cpu: None,
    closing: |outcome| {
        tr!(
            "Each launch, of one block, took {} ms and had one multiprocessor. Nothing in \
             the program says that the arrays have nothing to do with one another: that is what \
             streams are for (multi-kernel-streams).",
            format_args!("{:.2}", outcome.value(0, "a launch, the median"))
        )
    },
};

pub(crate) const MULTI_KERNEL_STREAMS: Lesson = Lesson {
    name: "multi-kernel-streams",
    group: Group::Book,
    title: "the same in two hundred streams",
    source: "the book's multi-kernel_streams",
    intro: WORK,
    question: "How much faster are 200 streams than one: by a factor of 200, by the number of \
               multiprocessors, or by less?",
    parts: &[
        Part {
            title: "one after the other, as in multi-kernel",
            work: PartWork::Program(|bench| run(bench, &SERIAL)),
        },
        Part {
            title: "200 streams, as the book has it",
            work: PartWork::Program(|bench| run(bench, &STREAMS)),
        },
        Part {
            title: "200 streams and page-locked memory, an array after the other",
            work: PartWork::Program(|bench| run(bench, &RIGHT)),
        },
    ],
    compared: &[
        Compare {
            slow: 0,
            fast: 1,
            label: "200 streams instead of the default stream",
        },
        Compare {
            slow: 1,
            fast: 2,
            label: "page-locked instead of pageable memory",
        },
        Compare {
            slow: 0,
            fast: 2,
            label: "both",
        },
    ],
    missing_on_cpu: None,
    closing: |outcome| {
        tr!("200 streams are {}; with page-locked memory as well it is {}. {}", outcome.compared(0), outcome.compared(2), outcome.explain(
                0,
                tr!("What bounds it now is no longer one block at a time, but the copies, the host's \
                 calls and how many blocks run at once."),
                tr!("Here one stream had kept everything busy already.")
            ))
    },
};

pub(crate) const MULTI_KERNEL_EVENTS: Lesson = Lesson {
    name: "multi-kernel-events",
    group: Group::Book,
    title: "what events say about two hundred launches",
    source: "the book's multi-kernel_events",
    intro: "The two hundred streams again, with an event before and behind every launch: their \
            mean and their standard deviation.",
    question: "All launches do the same work: do their events say the same?",
    parts: &[
        Part {
            title: "200 streams, each launch between two events",
            work: PartWork::Program(|bench| run(bench, &EVENTS)),
        },
        Part {
            title: "one launch at a time",
            work: PartWork::Program(launches_alone),
        },
    ],
    compared: &[],
    missing_on_cpu: None,
    closing: |outcome| {
        let factor =
            outcome.parts[0].time_ms.unwrap_or(0.0) / outcome.parts[1].time_ms.unwrap_or(1.0);
        tr!(
            "Between its two events a launch among 200 takes {factor}× the time of one \
             alone. Events bound a launch from outside: waiting for a free multiprocessor, or \
             sharing one, is in their figure too.",
            factor = format_args!("{factor:.2}")
        )
    },
};

/// How the arrays are worked through.
struct Way {
    streams: usize,
    kind: StreamKind,
    memory: HostMemory,
    /// All copies up, then all launches, then all copies down; else array by array.
    breadth: bool,
    /// Whether the launches' own times are what is wanted.
    launches: bool,
}

const SERIAL: Way = Way {
    streams: 1,
    kind: StreamKind::Default,
    memory: HostMemory::Pageable,
    breadth: true,
    launches: false,
};

const STREAMS: Way = Way {
    streams: ARRAYS,
    kind: StreamKind::NonBlocking,
    ..SERIAL
};

const RIGHT: Way = Way {
    memory: HostMemory::Pinned,
    breadth: false,
    ..STREAMS
};

const EVENTS: Way = Way {
    launches: true,
    ..STREAMS
};

/// An array on the device and on the host.
pub(super) struct Array {
    pub(super) device: BufferId,
    pub(super) host: BufferId,
    pub(super) stream: StreamId,
    pub(super) seed: u64,
}

impl Array {
    /// The bytes of one.
    pub(super) const BYTES: usize = 4 * LENGTH;

    /// Its copy up, its launch, its copy down.
    pub(super) fn ops(&self) -> [Op; 3] {
        [
            copy(self.host, self.device, Array::BYTES),
            launch(self.device, LENGTH as i32),
            copy(self.device, self.host, Array::BYTES),
        ]
    }

    /// Fills it on the host.
    pub(super) fn fill(&self, bench: &mut Bench) -> Result<()> {
        bench.access(self.host, &mut |words| data::fill_floats(words, self.seed))
    }

    /// Whether what came down is right.
    pub(super) fn is_right(&self, bench: &mut Bench) -> Result<bool> {
        let mut right = false;
        bench.access(self.host, &mut |words| {
            right = data::is_scaled(words, self.seed)
        })?;
        Ok(right)
    }
}

/// One block of 64 threads over so many floats.
pub(super) fn launch(array: BufferId, length: i32) -> Op {
    let numbers = [at(array), Argument::I32(length), Argument::I32(TIMES)];
    call(&SCALE, 1, THREADS, numbers)
}

fn run(bench: &mut Bench, way: &Way) -> Result<Measured> {
    let streams = bench.streams(way.streams, way.kind)?;
    let mut arrays = Vec::new();
    for i in 0..ARRAYS {
        let array = Array {
            device: bench.device_buffer(Array::BYTES)?,
            host: bench.host_buffer(Array::BYTES, way.memory)?,
            stream: streams[i % streams.len()],
            seed: i as u64,
        };
        array.fill(bench)?;
        arrays.push(array);
    }
    let mut program = Program::default();
    let each: Vec<[Op; 3]> = arrays.iter().map(Array::ops).collect();
    if way.breadth {
        for phase in 0..3 {
            for (array, ops) in arrays.iter().zip(&each) {
                program.push(array.stream, ops[phase].clone());
            }
        }
    } else {
        for (array, ops) in arrays.iter().zip(each) {
            for op in ops {
                program.push(array.stream, op);
            }
        }
    }

    // The module is loaded before the clock runs.
    let mut first = Program::default();
    first.push(streams[0], launch(arrays[0].device, 64));
    bench.run(&first)?;
    let again = |bench: &mut Bench, program: &Program| {
        for array in &arrays {
            bench.access(array.host, &mut |words| data::plant(words, array.seed))?;
        }
        bench.run(program)
    };
    // Beside launches of milliseconds the events of a timed run cost nothing.
    program.timed = way.launches || way.streams == 1;
    let mut walls = Vec::new();
    let mut ran = again(bench, &program)?;
    for _ in 0..bench.pick(3, 1) {
        if !bench.is_cpu() {
            ran = again(bench, &program)?; // the first one touched all memory
        }
        walls.push(ran.wall_ms());
    }
    if !program.timed && !bench.is_cpu() {
        program.timed = true;
        ran = again(bench, &program)?;
    }
    let steps = program.steps.iter().enumerate();
    let launches: Vec<f64> = steps
        .filter(|(_, step)| program.timed && matches!(step.op, Op::LaunchOnBuffers(_)))
        .map(|(i, _)| ran.step_ms(i))
        .collect();
    let trace = program.timed.then(|| bench.timed_round(&program, ran));
    let mut right = 0;
    for array in &arrays {
        right += usize::from(array.is_right(bench)?);
    }

    let total = median(walls);
    let mut measured = Measured::default();
    if way.launches {
        let (mean, deviation) = mean_and_deviation(&launches);
        measured.time_ms = Some(mean);
        measured = measured
            .time(mark!("a launch, the mean"), mean)
            .time(mark!("its standard deviation"), deviation);
        measured = measured.time(mark!("copies and launches together"), total);
    } else {
        measured.time_ms = Some(total);
        measured = measured.time(mark!("copies and launches together"), total);
        if !launches.is_empty() {
            measured = measured.figure(mark!("a launch, the median"), median(launches), "ms");
        }
    }
    measured.trace = trace;
    Ok(measured.check(
        tr!(
            "{ARRAYS} arrays returned unchanged, except for one value in each that overflows by design",
            ARRAYS = ARRAYS
        ),
        right == ARRAYS,
    ))
}

fn launches_alone(bench: &mut Bench) -> Result<Measured> {
    let array = Array {
        device: bench.device_buffer(Array::BYTES)?,
        host: bench.host_buffer(Array::BYTES, HostMemory::Pinned)?,
        stream: bench.stream()?,
        seed: 1,
    };
    array.fill(bench)?;
    let mut program = Program {
        timed: true,
        ..Program::default()
    };
    for op in array.ops() {
        program.push(array.stream, op);
    }
    let mut times = Vec::new();
    for _ in 0..5 {
        bench.access(array.host, &mut |words| data::plant(words, 1))?;
        times.push(bench.run(&program)?.step_ms(1));
    }
    let right = array.is_right(bench)?;
    Ok(
        Measured::of_time(mark!("a launch, the median of five"), median(times)).check(
            tr!("the array returned unchanged, except for the value that overflows by design"),
            right,
        ),
    )
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_standard_deviation() {
        let (mean, deviation) = mean_and_deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((mean, deviation), (5.0, 2.0));
    }
}
