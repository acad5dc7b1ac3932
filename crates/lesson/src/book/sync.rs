//! All generations in one launch: one block per lattice, and a barrier between generations.

use crate::prelude::*;

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
    source: Origin::Book(4, "conway_gpu_syncthreads.py"),
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
            work: PartWork::Alone(|bench| launches(bench, 1, 1, "sync-global", 100_000)),
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
            work: PartWork::Alone(|bench| launches(bench, 1, 1, "sync-global", 10_000_000)),
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
    source: Origin::Book(4, "conway_gpu_syncthreads_shared.py"),
    intro: "The same lattice of 32 × 32 cells, copied once into the block's shared memory, \
            stepped there, and written back at the end. Then sixteen such lattices: one after \
            the other in one stream, and in sixteen streams.",
    question: "Shared memory is on the multiprocessor itself: how much faster is it than global memory here?",
    choices: Choices::Factors(0, &[1.0, 1.2, 2.0, 10.0]),
    parts: &[
        Part {
            title: "global memory, 100,000 generations",
            code: IN_GLOBAL_MEMORY,
            work: PartWork::Alone(|bench| launches(bench, 1, 1, "sync-global", 100_000)),
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
            work: PartWork::Alone(|bench| launches(bench, 1, 1, "sync-shared", 100_000)),
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
            work: PartWork::Alone(|bench| launches(bench, 1, 1, "sync-shared", 10_000_000)),
        },
        Part {
            title: "sixteen lattices, one stream, 20,000 generations",
            code: "for (int i = 0; i < 16; i++)
    sync_shared<<<1, dim3(32, 32), 0, stream>>>(
        cells[i], 20000);
cudaDeviceSynchronize();",
            work: PartWork::Alone(|bench| launches(bench, 16, 1, "sync-shared", 20_000)),
        },
        Part {
            title: "sixteen lattices, sixteen streams, 20,000 generations",
            code: "for (int i = 0; i < 16; i++)
    sync_shared<<<1, dim3(32, 32), 0, stream[i]>>>(
        cells[i], 20000);
cudaDeviceSynchronize();",
            work: PartWork::Alone(|bench| launches(bench, 16, 16, "sync-shared", 20_000)),
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

/// Lattices in so many streams, which each stay in one block for so many generations: in one launch where
/// the device sets no limit to its time. On the CPU, a tenth of the generations.
fn launches(
    bench: &mut Bench,
    instances: usize,
    streams: usize,
    kernel_name: &str,
    generations: u32,
) -> Result<Programs> {
    let streams = bench.streams(streams, StreamKind::NonBlocking)?;
    let lattices = BenchLattices::new(
        bench,
        instances,
        square(32),
        kernel(kernel_name),
        &streams,
        0,
    )?;
    let generations = bench.pick(generations, generations / 10);
    // The module is loaded, and the clock of a GPU that was idle goes up.
    let warm = 1000.min(generations);
    let mut program = Program::default().with_spans();
    lattices.advance(&mut program, warm);
    let first = bench.run(&program)?.device_ms().max(1e-3);
    let most = if bench.info.kernel_time_limit {
        ((500.0 / first * f64::from(warm)) as u32).max(1)
    } else {
        u32::MAX
    };
    program.steps.clear();
    for done in (0..generations).step_by(most as usize) {
        lattices.advance(&mut program, most.min(generations - done));
    }
    let launches = generations.div_ceil(most);
    let figures = move |runs: &[Ran]| {
        let ms = runs[0].device_ms();
        let rate = instances as f64 * f64::from(generations) / ms / 1e3;
        Measured::of_time(mark!("on the device"), ms)
            .figure(GENERATION, ms * 1e6 / f64::from(generations), "ns")
            .figure(mark!("generations per second"), rate, "M/s")
    };
    let check = move |bench: &mut Bench, _: &Ran, runs: usize| {
        let stepped = u64::from(warm) + runs as u64 * u64::from(generations);
        let wrong = lattices.wrong(bench, stepped)?;
        let cells = tr!("the cells after {} generations", stepped);
        let measured = Measured::default().check(cells, wrong == 0);
        Ok(if bench.is_cpu() {
            measured.note(tr!("on the CPU engine, a tenth of these generations"))
        } else if launches > 1 {
            measured.note(tr!(
                "in {launches} launches: the system ends kernels that run for seconds, where this \
                 device drives a display"
            ))
        } else {
            measured
        })
    };
    Ok(Programs {
        shows_round: false,
        is_warm: true,
        ..Programs::new(program, figures, check)
    })
}
