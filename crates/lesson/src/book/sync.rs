//! All generations in one launch: one block per lattice, and a barrier between generations.

use crate::work::GENERATION;
use crate::work::InKernel;
use crate::{Choices, Closing, Compare, Group, Lesson, Origin, Part, PartWork};

/// A hundred thousand generations in one launch, in global memory.
const IN_GLOBAL_MEMORY: &str = "__global__ void sync_global(int* a, int* b, int generations) {
    for (int g = 0; g < generations; g++) {
        next(b, a);
        __syncthreads();
        swap(a, b);
    }
}
sync_global<<<1, dim3(32, 32)>>>(a, b, 100000);";

pub(crate) const CONWAY_SYNC: Lesson = Lesson {
    name: "conway-sync",
    group: Group::Book,
    title: "the generations inside the kernel",
    source: Origin::Book {
        chapter: 4,
        program: "conway_gpu_syncthreads.py",
    },
    intro: "A lattice of 32 × 32 cells, one thread per cell, one block. The kernel itself goes from \
            generation to generation: __syncthreads keeps its threads together.",
    question: "A launch takes the host some microseconds: how long does a generation take without one?",
    choices: Choices::Words {
        choices: &["about 10 µs, as a launch", "about 1 µs", "less than 0.5 µs"],
        right: |outcome| {
            // On the CPU engine a barrier takes as long as a launch.
            if outcome.engine == "cpu" {
                return None;
            }
            let generation = outcome.parts.last()?.milliseconds(GENERATION)?;
            Some(if generation > 3e-3 {
                0
            } else if generation > 0.5e-3 {
                1
            } else {
                2
            })
        },
    },
    parts: &[
        Part {
            title: "100,000 generations in one launch",
            code: IN_GLOBAL_MEMORY,
            work: alone("sync-global", 100_000),
        },
        Part {
            title: "10,000,000 generations in one launch",
            code: "__global__ void sync_global(int* a, int* b, int generations) {
    for (int g = 0; g < generations; g++) {
        next(b, a);
        __syncthreads();
        swap(a, b);
    }
}
sync_global<<<1, dim3(32, 32)>>>(a, b, 10000000);",
            work: alone("sync-global", 10_000_000),
        },
    ],
    compared: &[],
    missing_on_cpu: None,
    closing: Closing::Text(
        "The time of a generation in the figures has no launch in it, only a barrier: one \
         launch steps as many generations as one likes. But a barrier reaches no further than \
         a block, and a block has one multiprocessor: the others had nothing to do.",
    ),
};

pub(crate) const CONWAY_SYNC_SHARED: Lesson = Lesson {
    name: "conway-sync-shared",
    group: Group::Book,
    title: "the same in shared memory",
    source: Origin::Book {
        chapter: 4,
        program: "conway_gpu_syncthreads_shared.py",
    },
    intro: "The same lattice of 32 × 32 cells, copied once into the block's shared memory, \
            stepped there, and written back at the end. Then sixteen such lattices: one after \
            the other in one stream, and in sixteen streams.",
    question: "Shared memory is on the multiprocessor itself: how much faster is it than global memory here?",
    choices: Choices::Factors {
        comparison: 0,
        factors: &[1.0, 1.2, 2.0, 10.0],
    },
    parts: &[
        Part {
            title: "global memory, 100,000 generations",
            code: IN_GLOBAL_MEMORY,
            work: alone("sync-global", 100_000),
        },
        Part {
            title: "shared memory, 100,000 generations",
            code: "__global__ void sync_shared(int* cells, int generations) {
    __shared__ int a[32][32], b[32][32];
    a[y][x] = cells[y * 32 + x];
    __syncthreads();
    for (int g = 0; g < generations; g++) {
        next(b, a);
        __syncthreads();
        swap(a, b);
    }
    cells[y * 32 + x] = a[y][x];
}
sync_shared<<<1, dim3(32, 32)>>>(cells, 100000);",
            work: alone("sync-shared", 100_000),
        },
        Part {
            title: "shared memory, 10,000,000 generations",
            code: "__global__ void sync_shared(int* cells, int generations) {
    __shared__ int a[32][32], b[32][32];
    a[y][x] = cells[y * 32 + x];
    __syncthreads();
    for (int g = 0; g < generations; g++) {
        next(b, a);
        __syncthreads();
        swap(a, b);
    }
    cells[y * 32 + x] = a[y][x];
}
sync_shared<<<1, dim3(32, 32)>>>(cells, 10000000);",
            work: alone("sync-shared", 10_000_000),
        },
        Part {
            title: "sixteen lattices, one stream, 20,000 generations",
            code: "for (int i = 0; i < 16; i++)
    sync_shared<<<1, dim3(32, 32), 0, stream>>>(
        cells[i], 20000);
cudaDeviceSynchronize();",
            work: sixteen(false),
        },
        Part {
            title: "sixteen lattices, sixteen streams, 20,000 generations",
            code: "for (int i = 0; i < 16; i++)
    sync_shared<<<1, dim3(32, 32), 0, stream[i]>>>(
        cells[i], 20000);
cudaDeviceSynchronize();",
            work: sixteen(true),
        },
    ],
    compared: &[
        Compare {
            slow: 0,
            fast: 1,
            label: "shared instead of global memory",
            faster: "Shared memory is on the multiprocessor itself.",
            none: "So small a lattice fits in the caches too, which are as near.",
            slower: "So small a lattice fits in the caches too, and they were faster here.",
        },
        Compare {
            slow: 3,
            fast: 4,
            label: "sixteen streams instead of one",
            faster: "A block keeps one multiprocessor busy, and only streams (or a larger grid) \
                     give the others work.",
            none: "Here one stream left nothing idle that the others could have used.",
            slower: "Here one stream left nothing idle, and sixteen are more to manage.",
        },
    ],
    missing_on_cpu: None,
    closing: Closing::Text(""),
};

const fn alone(kernel: &'static str, generations: u32) -> PartWork {
    PartWork::InKernel(InKernel {
        instances: 1,
        streams: true,
        side: 32,
        kernel,
        generations,
    })
}

const fn sixteen(streams: bool) -> PartWork {
    PartWork::InKernel(InKernel {
        instances: 16,
        streams,
        side: 32,
        kernel: "sync-shared",
        generations: 20_000,
    })
}
