//! All generations in one launch: one block per lattice, and a barrier between generations.

use crate::work::InKernel;
use crate::{Closing, Compare, Group, Lesson, Part, PartWork};

pub(crate) const CONWAY_SYNC: Lesson = Lesson {
    name: "conway-sync",
    group: Group::Book,
    title: "the generations inside the kernel",
    source: "the book's conway_gpu_syncthreads",
    intro: "A lattice of 32 x 32 cells, one thread per cell, one block. The kernel itself goes from \
            generation to generation: __syncthreads keeps its threads together.",
    question: "A launch takes the host some microseconds: how long is a generation where there \
               is no launch?",
    parts: &[
        Part {
            title: "100,000 generations in one launch",
            work: alone("sync-global", 100_000),
        },
        Part {
            title: "10,000,000 generations in one launch",
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
    source: "the book's conway_gpu_syncthreads_shared",
    intro: "The same lattice of 32 x 32 cells, copied once into the block's shared memory, \
            stepped there, and written back at the end. Then sixteen such lattices: one after \
            the other in one stream, and in sixteen streams.",
    question: "Shared memory is on the multiprocessor itself: how much faster is it? And \
               how much faster are sixteen streams than one?",
    parts: &[
        Part {
            title: "global memory, 100,000 generations",
            work: alone("sync-global", 100_000),
        },
        Part {
            title: "shared memory, 100,000 generations",
            work: alone("sync-shared", 100_000),
        },
        Part {
            title: "shared memory, 10,000,000 generations",
            work: alone("sync-shared", 10_000_000),
        },
        Part {
            title: "sixteen lattices, one stream, 20,000 generations",
            work: sixteen(false),
        },
        Part {
            title: "sixteen lattices, sixteen streams, 20,000 generations",
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
