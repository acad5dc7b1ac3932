//! Memory that a stream allocates and frees itself, and the pool that it comes from.

use crate::prelude::*;

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
    choices: Choices::Factors(0, &[1.0, 2.0, 5.0, 20.0]),
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
            work: PartWork::Programs(|bench| rounds(bench, Some(0))),
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
            work: PartWork::Programs(|bench| rounds(bench, Some(u64::MAX))),
        },
        Part {
            title: "allocated once",
            code: "cudaMemcpyAsync(array, host, 1 << 20,
           cudaMemcpyHostToDevice, stream);
scale<<<64, 256, 0, stream>>>(array);
cudaMemcpyAsync(host, array, 1 << 20,
           cudaMemcpyDeviceToHost, stream);
cudaStreamSynchronize(stream);",
            work: PartWork::Programs(|bench| rounds(bench, None)),
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

/// Rounds that each use an array for a moment, with the release threshold of the pool; with none, the array
/// is there all the time.
fn rounds(bench: &mut Bench, threshold: Option<u64>) -> Result<Programs> {
    let host = bench.pinned_buffer(USED)?;
    let location = match threshold {
        Some(_) => BufferLocation::Pool,
        None => BufferLocation::Device,
    };
    let array = bench.buffer_in(DEVICE, BYTES, location)?;
    let both = [host, array].map(|it| place(it, 0));
    let mut ops = scaled(both, USED, 1, (64, 256)).to_vec();
    if let Some(threshold) = threshold {
        let memory = |op| BufferOp::Memory(op).into();
        let keeps = MemoryOp::SetReleaseThreshold(threshold);
        ops.splice(0..0, [keeps, MemoryOp::Allocate(array)].map(memory));
        ops.push(memory(MemoryOp::Free(array)));
    }
    let program = Program::in_stream(bench.stream()?, ops);
    bench.fill_floats(host, SEED)?;
    let figures = |runs: &[Ran]| {
        // Before the first, the memory is as the last part left it: kept by the pool or not.
        let runs = &runs[1..];
        let mean = |of: fn(&Ran) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        Measured::of_time(mark!("a round"), mean(|it| it.wall_ms))
            .time(mark!("time in host calls"), mean(|it| it.call_ms))
    };
    Ok(Programs {
        repeats: 1 + ROUNDS,
        ..Programs::scaling(program, host, figures)
    })
}
