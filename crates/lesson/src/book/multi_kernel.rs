//! Two hundred arrays, a small launch each: one after the other, and in two hundred streams.

use crate::prelude::*;
use session::median;

/// Arrays.
const ARRAYS: usize = 200;
/// Floats of each.
const LENGTH: usize = 1 << 20;
/// Times 2 and divided by 2 so often.
pub(super) const TIMES: i32 = 50;
/// The same for two hundred arrays on the CPU, where fifty take seconds.
const FEW_TIMES: i32 = 5;
/// The one block of a launch, of 64 threads.
pub(super) const SHAPE: (u32, u32) = (1, 64);

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
    source: Origin::Book(5, "multi-kernel.py"),
    intro: WORK,
    question: "A launch has 64 threads: what part of the device works?",
    choices: Choices::Words {
        choices: &["all of it", "64 multiprocessors", "one multiprocessor"],
        right: |_| Some(2),
    },
    parts: &[Part {
        title: "in the default stream",
        code: IN_DEFAULT_STREAM,
        work: PartWork::Programs(|bench| arrays(bench, 1, HostMemory::Pageable, false)),
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
    source: Origin::Book(5, "multi-kernel_streams.py"),
    intro: WORK,
    question: "How much faster are 200 streams than the default stream?",
    choices: Choices::Factors(0, &[1.0, 5.0, 20.0, 200.0]),
    parts: &[
        Part {
            title: "one after the other, as in multi-kernel",
            code: IN_DEFAULT_STREAM,
            work: PartWork::Programs(|bench| arrays(bench, 1, HostMemory::Pageable, false)),
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
            work: PartWork::Programs(|bench| arrays(bench, ARRAYS, HostMemory::Pageable, false)),
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
            work: PartWork::Programs(|bench| arrays(bench, ARRAYS, HostMemory::Pinned, false)),
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
    source: Origin::Book(5, "multi-kernel_events.py"),
    intro: "The two hundred streams again, with an event before and behind every launch: their \
            mean and their standard deviation.",
    question: "All launches do the same work: how much shorter is one between its two events when it runs alone?",
    choices: Choices::Factors(0, &[1.0, 2.0, 5.0, 20.0]),
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
            work: PartWork::Programs(|bench| arrays(bench, ARRAYS, HostMemory::Pageable, true)),
        },
        Part {
            title: "one launch at a time",
            code: "cudaEventRecord(start, stream);
scale<<<1, 64, 0, stream>>>(array);
cudaEventRecord(end, stream);
cudaStreamSynchronize(stream);
cudaEventElapsedTime(&ms, start, end);",
            work: PartWork::Programs(lone),
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

/// An array on the device and on the host.
#[derive(Clone, Copy)]
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
        let both = [self.host, self.device].map(|it| place(it, 0));
        scaled(both, Array::BYTES, times, SHAPE)
    }
}

/// Makes the numbers anew that the last run made infinite.
pub(super) fn plant(bench: &mut Bench, arrays: &[Array]) -> Result<()> {
    for array in arrays {
        bench.plant(array.host, array.seed)?;
    }
    Ok(())
}

/// How many of these arrays are what they should be.
pub(super) fn right(bench: &mut Bench, arrays: &[Array]) -> Result<usize> {
    let mut right = 0;
    for array in arrays {
        right += usize::from(bench.is_scaled(array.host, array.seed)?);
    }
    Ok(right)
}

/// Two hundred arrays on their way in so many streams, one being the default stream: from pageable memory
/// first all copies up, then all launches, then all copies down; else array by array. `launches`: whether
/// the launches' own times are what is wanted.
fn arrays(
    bench: &mut Bench,
    streams: usize,
    memory: HostMemory,
    launches: bool,
) -> Result<Programs> {
    let is_serial = streams == 1;
    let kind = if is_serial {
        StreamKind::Default
    } else {
        StreamKind::NonBlocking
    };
    let streams = bench.streams(streams, kind)?;
    let times = bench.pick(TIMES, FEW_TIMES);
    let mut arrays = Vec::new();
    let mut each = Vec::new();
    for i in 0..ARRAYS {
        let array = Array {
            device: bench.shared_buffer(i, Array::BYTES, None)?,
            host: bench.shared_buffer(i, Array::BYTES, Some(memory))?,
            stream: streams[i % streams.len()],
            seed: i as u64,
        };
        bench.fill_floats(array.host, array.seed)?;
        let ops = array.ops(times).into_iter().enumerate();
        each.extend(ops.map(|(phase, op)| (phase, array.stream, op)));
        arrays.push(array);
    }
    if memory == HostMemory::Pageable {
        each.sort_by_key(|(phase, ..)| *phase);
    }
    let is_launch = |(step, (phase, ..)): (usize, &(usize, _, _))| (*phase == 1).then_some(step);
    let steps: Vec<usize> = each.iter().enumerate().filter_map(is_launch).collect();
    let launch_times =
        move |ran: &Ran| -> Vec<f64> { steps.iter().map(|&step| ran.step_ms(step)).collect() };
    let mut program = Program::default();
    for (_, stream, op) in each {
        program.push(stream, op);
    }
    // Beside launches of milliseconds the events of a timed run cost nothing.
    let is_timed = launches || is_serial;
    program.timed = is_timed;
    let times = launch_times.clone();
    let figures = move |runs: &[Ran]| {
        let total = runs[0].wall_ms;
        let together = mark!("copies and launches together");
        if !is_timed {
            return Measured::of_time(together, total);
        }
        let times = times(&runs[0]);
        let (mean, deviation) = mean_and_deviation(&times);
        let middle = median(times).expect("a program with launches");
        if launches {
            Measured::of_time(LAUNCH, middle)
                .time(mark!("a launch, the mean"), mean)
                .time(mark!("its standard deviation"), deviation)
                .time(together, total)
        } else {
            Measured::of_time(together, total).figure(LAUNCH, middle, "ms")
        }
    };
    let (planted, shows_round) = (arrays.clone(), is_timed || !bench.is_cpu());
    let check = move |bench: &mut Bench, ran: &Ran, _| {
        let mut measured = Measured::default();
        if shows_round && !is_timed {
            let middle = median(launch_times(ran)).expect("a program with launches");
            measured = measured.figure(LAUNCH, middle, "ms");
        }
        if bench.is_cpu() {
            measured = measured.note(tr!("on the CPU engine, five times instead of fifty"));
        }
        Ok(measured.check(
            tr!(
                "{ARRAYS} arrays returned unchanged, except for one value in each that overflows by design",
                ARRAYS = ARRAYS
            ),
            right(bench, &arrays)? == ARRAYS,
        ))
    };
    Ok(Programs {
        before: Box::new(move |bench, _| plant(bench, &planted)),
        shows_round,
        ..Programs::new(program, figures, check)
    })
}

const LAUNCH: &str = mark!("a launch, the median");

/// One launch at a time.
fn lone(bench: &mut Bench) -> Result<Programs> {
    let array = Array {
        device: bench.device_buffer(Array::BYTES)?,
        host: bench.pinned_buffer(Array::BYTES)?,
        stream: bench.stream()?,
        seed: SEED,
    };
    bench.fill_floats(array.host, array.seed)?;
    let ops = array.ops(bench.pick(TIMES, FEW_TIMES));
    let program = Program::in_stream(array.stream, ops).with_spans();
    let figures = |runs: &[Ran]| {
        let middle = median(runs.iter().map(|it| it.step_ms(1)));
        let label = mark!("a launch, the median of five");
        Measured::of_time(label, middle.expect("five launches"))
    };
    Ok(Programs {
        repeats: 5,
        shows_round: false,
        ..Programs::scaling(program, array.host, figures)
    })
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
