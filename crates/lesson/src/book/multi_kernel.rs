//! Two hundred arrays, a small launch each: one after the other, and in two hundred streams.

use crate::bench::{at, call, copy};
use crate::{
    Bench, Choices, Closing, Compare, Experiment, Group, Lesson, Measured, Origin, Part, PartWork,
    Ran, Result, data,
};

use engine::buffer_kernels::SCALE;
use engine::{
    Argument, BufferId, BufferLocation, BufferOp, HostMemory, Op, Program, StreamId, StreamKind,
};
use lang::{mark, tr};
use session::median;

/// Arrays.
const ARRAYS: usize = 200;
/// Floats of each.
pub(super) const LENGTH: usize = 1 << 20;
/// Times 2 and divided by 2 so often.
pub(super) const TIMES: i32 = 50;
/// The same for two hundred arrays on the CPU, where fifty take seconds.
const FEW_TIMES: i32 = 5;
/// The one block of a launch.
const THREADS: u32 = 64;

const WORK: &str = "200 arrays of 1024 × 1024 floats go up, each is multiplied by 2 and divided \
                    by 2 fifty times over in a launch of one block of 64 threads, and comes down.";

/// All arrays in the default stream.
const IN_DEFAULT_STREAM: &str = "for (int i = 0; i < 200; i++)
    cudaMemcpyAsync(array[i], host[i], bytes,
               cudaMemcpyHostToDevice);
for (int i = 0; i < 200; i++)
    scale<<<1, 64>>>(array[i]);
for (int i = 0; i < 200; i++)
    cudaMemcpyAsync(host[i], array[i], bytes,
               cudaMemcpyDeviceToHost);
cudaDeviceSynchronize();";

pub(crate) const MULTI_KERNEL: Lesson = Lesson {
    name: "multi-kernel",
    group: Group::Book,
    title: "two hundred small launches, one after the other",
    source: Origin::Book {
        chapter: 5,
        program: "multi-kernel.py",
    },
    intro: WORK,
    question: "A launch has 64 threads: what part of the device works?",
    choices: Choices::Words {
        choices: &["all of it", "64 multiprocessors", "one multiprocessor"],
        right: |_| Some(2),
    },
    parts: &[Part {
        title: "in the default stream",
        code: IN_DEFAULT_STREAM,
        work: PartWork::Program(|bench| Arrays::prepare(bench, &SERIAL)),
    }],
    compared: &[],
    missing_on_cpu: None,
    closing: Closing::Text(
        "Each launch is one block, and a block has one multiprocessor: the others wait. \
         Nothing in the program says that the arrays have nothing to do with one another: \
         that is what streams are for (multi-kernel-streams).",
    ),
};

pub(crate) const MULTI_KERNEL_STREAMS: Lesson = Lesson {
    name: "multi-kernel-streams",
    group: Group::Book,
    title: "the same in two hundred streams",
    source: Origin::Book {
        chapter: 5,
        program: "multi-kernel_streams.py",
    },
    intro: WORK,
    question: "How much faster are 200 streams than the default stream?",
    choices: Choices::Factors {
        comparison: 0,
        factors: &[1.0, 5.0, 20.0, 200.0],
    },
    parts: &[
        Part {
            title: "one after the other, as in multi-kernel",
            code: IN_DEFAULT_STREAM,
            work: PartWork::Program(|bench| Arrays::prepare(bench, &SERIAL)),
        },
        Part {
            title: "200 streams, as the book has it",
            code: "for (int i = 0; i < 200; i++)
    cudaMemcpyAsync(array[i], host[i], bytes,
               cudaMemcpyHostToDevice, stream[i]);
for (int i = 0; i < 200; i++)
    scale<<<1, 64, 0, stream[i]>>>(array[i]);
for (int i = 0; i < 200; i++)
    cudaMemcpyAsync(host[i], array[i], bytes,
               cudaMemcpyDeviceToHost, stream[i]);
cudaDeviceSynchronize();",
            work: PartWork::Program(|bench| Arrays::prepare(bench, &STREAMS)),
        },
        Part {
            title: "200 streams and page-locked memory, an array after the other",
            code: "for (int i = 0; i < 200; i++)
    cudaMallocHost(&host[i], bytes);
for (int i = 0; i < 200; i++) {
    cudaMemcpyAsync(array[i], host[i], bytes,
               cudaMemcpyHostToDevice, stream[i]);
    scale<<<1, 64, 0, stream[i]>>>(array[i]);
    cudaMemcpyAsync(host[i], array[i], bytes,
               cudaMemcpyDeviceToHost, stream[i]);
}
cudaDeviceSynchronize();",
            work: PartWork::Program(|bench| Arrays::prepare(bench, &RIGHT)),
        },
    ],
    compared: &[
        Compare {
            slow: 0,
            fast: 1,
            label: "200 streams instead of the default stream",
            faster: "Launches no longer run one block at a time: the copies, the host's calls and \
                     how many blocks run at once are the limits now.",
            none: "Here one stream had kept everything busy already.",
            slower: "Here one stream had kept everything busy already, and 200 cost more.",
        },
        Compare {
            slow: 1,
            fast: 2,
            label: "page-locked instead of pageable memory",
            faster: "Copies from page-locked memory do not hold up the host.",
            none: "So the copies were not the bottleneck here.",
            slower: "Page-locked memory was no help on this machine.",
        },
        Compare {
            slow: 0,
            fast: 2,
            label: "both",
            faster: "",
            none: "",
            slower: "",
        },
    ],
    missing_on_cpu: None,
    closing: Closing::Text(""),
};

pub(crate) const MULTI_KERNEL_EVENTS: Lesson = Lesson {
    name: "multi-kernel-events",
    group: Group::Book,
    title: "what events say about two hundred launches",
    source: Origin::Book {
        chapter: 5,
        program: "multi-kernel_events.py",
    },
    intro: "The two hundred streams again, with an event before and behind every launch: their \
            mean and their standard deviation.",
    question: "All launches do the same work: how much shorter is one between its two events when it runs alone?",
    choices: Choices::Factors {
        comparison: 0,
        factors: &[1.0, 2.0, 5.0, 20.0],
    },
    parts: &[
        Part {
            title: "200 streams, each launch between two events",
            code: "for (int i = 0; i < 200; i++) {
    cudaEventRecord(start[i], stream[i]);
    scale<<<1, 64, 0, stream[i]>>>(array[i]);
    cudaEventRecord(end[i], stream[i]);
}
cudaDeviceSynchronize();
for (int i = 0; i < 200; i++)
    cudaEventElapsedTime(&ms[i], start[i], end[i]);",
            work: PartWork::Program(|bench| Arrays::prepare(bench, &EVENTS)),
        },
        Part {
            title: "one launch at a time",
            code: "cudaEventRecord(start, stream);
scale<<<1, 64, 0, stream>>>(array);
cudaEventRecord(end, stream);
cudaStreamSynchronize(stream);
cudaEventElapsedTime(&ms, start, end);",
            work: PartWork::Program(Lone::prepare),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "a launch alone instead of one among 200",
        faster: "Between its two events, a launch among 200 also waits for a free \
                 multiprocessor, or shares one.",
        none: "Here the launches were not in each other's way.",
        slower: "Among 200 launches, a single one was no slower here.",
    }],
    missing_on_cpu: None,
    closing: Closing::Text(
        "Events bound a launch from outside: whatever happens between them is in their \
         figure.",
    ),
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
    pub(super) fn ops(&self, times: i32) -> [Op; 3] {
        [
            copy(self.host, self.device, Array::BYTES),
            scale(self.device, LENGTH as i32, times),
            copy(self.device, self.host, Array::BYTES),
        ]
    }

    /// Makes the number anew that the last run made infinite.
    pub(super) fn plant(&self, bench: &mut Bench) -> Result<()> {
        bench.access(self.host, &mut |words| data::plant(words, self.seed))
    }
}

/// One block of 64 threads over this many floats, fifty times.
pub(super) fn launch(array: BufferId, length: i32) -> Op {
    scale(array, length, TIMES)
}

fn scale(array: BufferId, length: i32, times: i32) -> Op {
    let numbers = [at(array), Argument::I32(length), Argument::I32(times)];
    call(&SCALE, 1, THREADS, numbers)
}

/// Two hundred arrays on their way.
struct Arrays {
    way: &'static Way,
    arrays: Vec<Array>,
    program: Program,
    /// The last run with its steps timed.
    timed: Option<Ran>,
}

impl Arrays {
    fn prepare(bench: &mut Bench, way: &'static Way) -> Result<Box<dyn Experiment>> {
        let streams = bench.streams(way.streams, way.kind)?;
        let mut arrays = Vec::new();
        for i in 0..ARRAYS {
            let host = BufferLocation::Host(way.memory);
            let array = Array {
                device: bench.shared_buffer(i, Array::BYTES, BufferLocation::Device)?,
                host: bench.shared_buffer(i, Array::BYTES, host)?,
                stream: streams[i % streams.len()],
                seed: i as u64,
            };
            bench.fill_floats(array.host, array.seed)?;
            arrays.push(array);
        }
        let mut program = Program::default();
        let times = bench.pick(TIMES, FEW_TIMES);
        let each: Vec<[Op; 3]> = arrays.iter().map(|array| array.ops(times)).collect();
        if way.breadth {
            for phase in 0..3 {
                for (array, ops) in arrays.iter().zip(&each) {
                    program.push(array.stream, ops[phase].clone());
                }
            }
        } else {
            for (array, ops) in arrays.iter().zip(each) {
                ops.into_iter()
                    .for_each(|op| program.push(array.stream, op));
            }
        }
        // Beside launches of milliseconds the events of a timed run cost nothing.
        program.timed = way.launches || way.streams == 1;
        // The module is loaded and all memory touched before the clock runs.
        bench.run(&program)?;
        Ok(Box::new(Arrays {
            way,
            arrays,
            program,
            timed: None,
        }))
    }

    fn run(&self, bench: &mut Bench) -> Result<Ran> {
        for array in &self.arrays {
            array.plant(bench)?;
        }
        bench.run(&self.program)
    }

    /// The times of the launches of a timed run, in milliseconds.
    fn launches(&self, ran: &Ran) -> Vec<f64> {
        let steps = self.program.steps.iter().enumerate();
        let launches =
            steps.filter(|(_, step)| matches!(step.op, Op::Buffers(BufferOp::Launch(_))));
        launches.map(|(i, _)| ran.step_ms(i)).collect()
    }
}

impl Experiment for Arrays {
    fn sample(&mut self, bench: &mut Bench) -> Result<Measured> {
        let ran = self.run(bench)?;
        let total = ran.wall_ms();
        let together = mark!("copies and launches together");
        let mut measured = if self.way.launches {
            let launches = self.launches(&ran);
            let (mean, deviation) = mean_and_deviation(&launches);
            let middle = median(launches).expect("a program with launches");
            Measured::of_time(mark!("a launch, the median"), middle)
                .time(mark!("a launch, the mean"), mean)
                .time(mark!("its standard deviation"), deviation)
                .time(together, total)
        } else {
            Measured::of_time(together, total)
        };
        if self.program.timed {
            if !self.way.launches {
                let launches = median(self.launches(&ran)).expect("a program with launches");
                measured = measured.figure(mark!("a launch, the median"), launches, "ms");
            }
            self.timed = Some(ran);
        }
        Ok(measured)
    }

    fn inspect(&mut self, bench: &mut Bench) -> Result<Measured> {
        let mut measured = Measured::default();
        if !self.program.timed && !bench.is_cpu() {
            self.program.timed = true;
            let timed = self.run(bench)?;
            let launches = median(self.launches(&timed)).expect("a program with launches");
            measured = measured.figure(mark!("a launch, the median"), launches, "ms");
            self.timed = Some(timed);
            self.program.timed = false;
        }
        let mut right = 0;
        for array in &self.arrays {
            right += usize::from(bench.is_scaled(array.host, array.seed)?);
        }
        if let Some(timed) = self.timed.take() {
            measured.trace = Some(bench.timed_round(&self.program, timed));
        }
        if bench.is_cpu() {
            measured = measured.note(tr!("on the CPU engine, five times instead of fifty"));
        }
        Ok(measured.check(
            tr!(
                "{ARRAYS} arrays returned unchanged, except for one value in each that overflows by design",
                ARRAYS = ARRAYS
            ),
            right == ARRAYS,
        ))
    }
}

/// One launch at a time.
struct Lone {
    array: Array,
    program: Program,
}

impl Lone {
    fn prepare(bench: &mut Bench) -> Result<Box<dyn Experiment>> {
        let array = Array {
            device: bench.device_buffer(Array::BYTES)?,
            host: bench.host_buffer(Array::BYTES, HostMemory::Pinned)?,
            stream: bench.stream()?,
            seed: 1,
        };
        bench.fill_floats(array.host, array.seed)?;
        let ops = array.ops(bench.pick(TIMES, FEW_TIMES));
        let program = Program::in_stream(array.stream, ops).with_spans();
        bench.run(&program)?;
        Ok(Box::new(Lone { array, program }))
    }
}

impl Experiment for Lone {
    fn sample(&mut self, bench: &mut Bench) -> Result<Measured> {
        let mut times = Vec::new();
        for _ in 0..5 {
            self.array.plant(bench)?;
            times.push(bench.run(&self.program)?.step_ms(1));
        }
        Ok(Measured::of_time(
            mark!("a launch, the median of five"),
            median(times).expect("five launches"),
        ))
    }

    fn inspect(&mut self, bench: &mut Bench) -> Result<Measured> {
        let right = bench.is_scaled(self.array.host, self.array.seed)?;
        Ok(Measured::default().check(
            tr!("the array returned unchanged, except for the value that overflows by design"),
            right,
        ))
    }
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
