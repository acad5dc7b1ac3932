//! Memory that a stream allocates and frees itself, and the pool that it comes from.

use crate::bench::{DEVICE, call, copy_between, inside, start};
use crate::{
    Bench, Choices, Closing, Compare, Experiment, Group, Lesson, Measured, Missing, Origin, Part,
    PartWork, Result,
};
use engine::buffer_kernels::SCALE;
use engine::{Argument, BufferId, BufferLocation, BufferOp, HostMemory, MemoryOp, Program};
use lang::{mark, tr};

/// Bytes of the memory that is allocated.
const BYTES: usize = 256 << 20;
/// Bytes of it that are used.
const USED: usize = 1 << 20;
/// Rounds of a sample.
const ROUNDS: usize = 10;

pub(crate) const STREAM_MEMORY: Lesson = Lesson {
    name: "stream-memory",
    group: Group::Concepts,
    title: "what an allocation costs, and how a pool avoids it",
    source: Origin::Guide("Stream Ordered Memory Allocator"),
    intro: "In each round, a stream allocates 256 MiB, copies 1 MiB into it, launches a kernel, copies the \
            result back and frees the memory; then the host waits. First, the pool returns freed memory to \
            the system, which is the default (release threshold 0). Then the pool keeps it. Last, the memory \
            is allocated once, before the rounds.",
    question: "The pool keeps the freed memory instead of returning it: how much faster is a round?",
    choices: Choices::Factors {
        comparison: 0,
        factors: &[1.0, 2.0, 5.0, 20.0],
    },
    parts: &[
        Part {
            title: "allocated each round, returned to the system",
            code: "threshold = 0;
cudaMemPoolSetAttribute(pool,
           cudaMemPoolAttrReleaseThreshold, &threshold);
cudaMallocAsync(&array, 256 << 20, stream);
cudaMemcpyAsync(array, host, 1 << 20,
           cudaMemcpyHostToDevice, stream);
scale<<<64, 256, 0, stream>>>(array);
cudaMemcpyAsync(host, array, 1 << 20,
           cudaMemcpyDeviceToHost, stream);
cudaFreeAsync(array, stream);
cudaStreamSynchronize(stream);",
            work: PartWork::Program(|bench| Rounds::prepare(bench, Some(0))),
        },
        Part {
            title: "allocated each round, kept by the pool",
            code: "threshold = UINT64_MAX;
cudaMemPoolSetAttribute(pool,
           cudaMemPoolAttrReleaseThreshold, &threshold);
cudaMallocAsync(&array, 256 << 20, stream);
cudaMemcpyAsync(array, host, 1 << 20,
           cudaMemcpyHostToDevice, stream);
scale<<<64, 256, 0, stream>>>(array);
cudaMemcpyAsync(host, array, 1 << 20,
           cudaMemcpyDeviceToHost, stream);
cudaFreeAsync(array, stream);
cudaStreamSynchronize(stream);",
            work: PartWork::Program(|bench| Rounds::prepare(bench, Some(u64::MAX))),
        },
        Part {
            title: "allocated once",
            code: "cudaMemcpyAsync(array, host, 1 << 20,
           cudaMemcpyHostToDevice, stream);
scale<<<64, 256, 0, stream>>>(array);
cudaMemcpyAsync(host, array, 1 << 20,
           cudaMemcpyDeviceToHost, stream);
cudaStreamSynchronize(stream);",
            work: PartWork::Program(|bench| Rounds::prepare(bench, None)),
        },
    ],
    compared: &[
        Compare {
            slow: 0,
            fast: 1,
            label: "the pool keeps freed memory",
            faster: "The pool hands out the memory that it kept without asking the system.",
            none: "The system's allocation is too cheap here to notice.",
            slower: "Here, keeping the memory made rounds slower.",
        },
        Compare {
            slow: 1,
            fast: 2,
            label: "allocated once instead of from the pool",
            faster: "Taking memory from the pool still costs something in every round.",
            none: "Memory from the pool costs no more than memory allocated once.",
            slower: "Here, memory allocated once was slower than memory from the pool.",
        },
    ],
    missing_on_cpu: Some(Missing {
        what: "memory pool (the system allocates its memory)",
        on_gpu: "On a GPU, the driver would map the memory again in every round unless its pool keeps it.",
        on_cpu: None,
    }),
    closing: Closing::Text(
        "cudaMalloc and cudaFree may wait for the device; cudaMallocAsync and cudaFreeAsync are queued in a \
         stream. When the host waits, the pool returns free memory to the system, except for as much as its \
         release threshold allows it to keep.",
    ),
};

/// Rounds that each use an array for a moment.
struct Rounds {
    host: BufferId,
    program: Program,
}

impl Rounds {
    /// With the release threshold of the pool; with none, the array is there all the time.
    fn prepare(bench: &mut Bench, threshold: Option<u64>) -> Result<Box<dyn Experiment>> {
        let stream = bench.stream()?;
        let host = bench.host_buffer(USED, HostMemory::Pinned)?;
        let array = match threshold {
            Some(_) => bench.buffer_in(DEVICE, BYTES, BufferLocation::Pool)?,
            None => bench.device_buffer(BYTES)?,
        };
        let use_it = [
            copy_between(start(host), start(array), USED),
            call(
                &SCALE,
                64,
                256,
                [
                    inside(array, 0),
                    Argument::I32(USED as i32 / 4),
                    Argument::I32(1),
                ],
            ),
            copy_between(start(array), start(host), USED),
        ];
        let mut program = Program::default();
        if let Some(threshold) = threshold {
            program.push(
                stream,
                BufferOp::Memory(MemoryOp::SetReleaseThreshold(threshold)),
            );
            program.push(stream, BufferOp::Memory(MemoryOp::Allocate(array)));
        }
        use_it.into_iter().for_each(|op| program.push(stream, op));
        if threshold.is_some() {
            program.push(stream, BufferOp::Memory(MemoryOp::Free(array)));
        }
        let mut rounds = Rounds { host, program };
        rounds.sample(bench)?;
        Ok(Box::new(rounds))
    }
}

impl Experiment for Rounds {
    fn sample(&mut self, bench: &mut Bench) -> Result<Measured> {
        // The memory is as the last part left it: kept by the pool or not.
        bench.run(&self.program)?;
        let (mut wall, mut calls) = (0.0, 0.0);
        for _ in 0..ROUNDS {
            let ran = bench.run(&self.program)?;
            wall += ran.wall_ms();
            calls += ran.call.as_secs_f64() * 1e3;
        }
        let rounds = ROUNDS as f64;
        Ok(Measured::of_time(mark!("a round"), wall / rounds)
            .time(mark!("time in host calls"), calls / rounds))
    }

    fn inspect(&mut self, bench: &mut Bench) -> Result<Measured> {
        bench.fill_floats(self.host, 5)?;
        let timed = bench.run_timed(&mut self.program)?;
        let right = bench.is_scaled(self.host, 5)?;
        let mut measured = Measured::default().check(
            tr!("the array returned unchanged, except for the value that overflows by design"),
            right,
        );
        measured.trace = Some(bench.timed_round(&self.program, timed));
        Ok(measured)
    }
}
