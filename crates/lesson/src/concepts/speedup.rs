//! The speed-up curve: more and more instances, in one stream, in a stream each, and as a batch.

use crate::prelude::*;
use session::{Streams, Switches};

/// The lesson that the key of the speed-up curve opens.
pub const SPEEDUP: Lesson = Lesson {
    name: "speedup",
    group: Group::Concepts,
    title: "1, 2, 4 … instances: the speed-up curve",
    source: Origin::Guide("Concurrent Kernel Execution"),
    intro: "Rounds of 1, 2, 4 … lattices: all in one stream, in a stream each, and as a batch, one \
            launch for all of them. In the window they have the size and the kernel of the \
            session, elsewhere 256 × 256 cells. Each round brings every cell to the host as a bit.",
    question: "Instances in a stream each instead of all in one stream: how much faster is a round?",
    choices: Choices::Factors(0, &[1.0, 2.0, 4.0, 16.0]),
    parts: &[
        Part {
            title: "one stream for all",
            code: "for (int i = 0; i < N; i++)
    step<<<grid, block, 0, stream>>>(next[i], cells[i]);
for (int i = 0; i < N; i++)
    cudaMemcpyAsync(host[i], bits[i], bytes,
               cudaMemcpyDeviceToHost, stream);",
            work: PartWork::Sweep(sweep(Streams::One)),
        },
        Part {
            title: "a stream each",
            code: "for (int i = 0; i < N; i++)
    step<<<grid, block, 0, stream[i]>>>(next[i], cells[i]);
for (int i = 0; i < N; i++)
    cudaMemcpyAsync(host[i], bits[i], bytes,
               cudaMemcpyDeviceToHost, stream[i]);",
            work: PartWork::Sweep(sweep(Streams::PerInstance)),
        },
        Part {
            title: "a batch",
            code: "dim3 all(grid.x, grid.y, N);
step<<<all, block, 0, stream>>>(next, cells);
cudaMemcpyAsync(host, bits, N * bytes,
           cudaMemcpyDeviceToHost, stream);",
            work: PartWork::Sweep(sweep(Streams::Batch)),
        },
    ],
    compared: &[
        Compare {
            slow: 0,
            fast: 1,
            label: "a stream each instead of one stream",
            faster: "Operations of different streams overlapped.",
            none: "Here one stream had kept everything busy already.",
            slower: "Here one stream had kept everything busy already, and a stream each cost more.",
        },
        Compare {
            slow: 1,
            fast: 2,
            label: "a batch instead of a stream each",
            faster: "So it pays to launch once for all instances.",
            none: "So the launches of a stream each cost next to nothing here.",
            slower: "A batch has a price too: no download begins before the last lattice is stepped.",
        },
    ],
    missing_on_cpu: Some(Missing {
        what: "SMs that one instance leaves idle",
        on_gpu: "A GPU would show how many instances run at once. In one stream they follow one \
                 another: twice as many take twice as long. In a stream each they overlap, and a \
                 round takes hardly longer until the SMs are full. A batch also saves the host all \
                 launches but one. On the CPU engine one instance can keep every core busy.",
        on_cpu: None,
    }),
    closing: Closing::Text("That is for all instances; the curves also show fewer."),
};

const fn sweep(streams: Streams) -> Rounds {
    Rounds {
        instances: 16,
        side: 256,
        kernel: "sync-global",
        switches: Switches {
            streams,
            ..Switches::DEFAULT
        },
        generations_per_round: 8,
        rounds: 10,
    }
}
