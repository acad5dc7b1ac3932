//! Ten host threads that launch: a context each, and one context for all.

use std::time::Instant;

use super::multi_kernel::{Array, TIMES};
use crate::bench::DEVICE;
use crate::{
    Bench, Choices, Closing, Compare, Experiment, Group, Lesson, Measured, Missing, Origin, Part,
    PartWork, Ran, Result,
};
use engine::{BufferLocation, DeviceId, HostMemory, IssuerId, Program, StreamSpec};
use lang::{mark, tr};

const THREADS: u8 = 10;

pub(crate) const MULTI_KERNEL_THREADS: Lesson = Lesson {
    name: "multi-kernel-threads",
    group: Group::Book,
    title: "ten host threads, a context each, and one for all",
    source: Origin::Book {
        chapter: 5,
        program: "multi-kernel_multi-thread.py",
    },
    intro: "Ten threads of the host, an array of 1024 × 1024 floats each: up, multiplied by 2 \
            and divided by 2 fifty times, down. First every thread makes a context of its own, \
            as the book has it; then all use one.",
    question: "Ten contexts on one device: how much faster is one context for all ten threads?",
    choices: Choices::Factors {
        comparison: 0,
        factors: &[1.0, 2.0, 10.0],
    },
    parts: &[
        Part {
            title: "a context for each thread, as the book has it",
            code: "void work(int i) {
    cuCtxCreate(&context[i], 0, device);
    cuMemcpyHtoDAsync(array[i], host[i], bytes, stream[i]);
    cuLaunchKernel(scale[i], 1, 1, 1, 64, 1, 1,
               0, stream[i], arguments[i], nullptr);
    cuMemcpyDtoHAsync(host[i], array[i], bytes, stream[i]);
    cuCtxSynchronize();
}",
            work: PartWork::Program(|bench| Threads::prepare(bench, true)),
        },
        Part {
            title: "one context for all",
            code: "void work(int i) {
    cuCtxSetCurrent(context);
    cuMemcpyHtoDAsync(array[i], host[i], bytes, stream[i]);
    cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1,
               0, stream[i], arguments[i], nullptr);
    cuMemcpyDtoHAsync(host[i], array[i], bytes, stream[i]);
    cuStreamSynchronize(stream[i]);
}",
            work: PartWork::Program(|bench| Threads::prepare(bench, false)),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "one context instead of ten",
        faster: "Launches of different contexts took turns.",
        none: "So these launches were too short for taking turns to show.",
        slower: "On this machine ten contexts were not in each other's way.",
    }],
    missing_on_cpu: Some(Missing {
        what: "contexts with separate memory that take turns",
        on_gpu: "A GPU would show that contexts are to it what processes are to a processor: they take \
                 turns, so that launches of different contexts do not run side by side. The CPU \
                 engine has one pool of threads for all.",
        on_cpu: None,
    }),
    closing: Closing::Text(
        "Contexts are to a GPU what processes are to a processor: each has its memory \
         and its modules to itself. Threads that work together share one, and have a stream \
         each.",
    ),
};

/// Ten threads' arrays, on an engine of their own.
struct Threads {
    bench: Bench,
    arrays: Vec<Array>,
    program: Program,
    /// How long it took to make the contexts, in milliseconds.
    making: Option<f64>,
}

impl Threads {
    fn prepare(bench: &Bench, contexts: bool) -> Result<Box<dyn Experiment>> {
        let mut bench = bench.another()?;
        let mut homes: Vec<DeviceId> = vec![DEVICE; THREADS.into()];
        let mut making = None;
        if contexts {
            let began = Instant::now();
            for home in &mut homes {
                *home = bench.engine()?.create_context(DEVICE)?;
            }
            making = Some(began.elapsed().as_secs_f64() * 1e3);
        }
        let mut program = Program::default();
        let mut arrays = Vec::new();
        for (i, &home) in homes.iter().enumerate() {
            let stream = bench.engine()?.create_stream(home, StreamSpec::PLAIN)?;
            let host = BufferLocation::Host(HostMemory::Pageable);
            let array = Array {
                device: bench.buffer_in(home, Array::BYTES, BufferLocation::Device)?,
                host: bench.buffer_in(home, Array::BYTES, host)?,
                stream,
                seed: i as u64,
            };
            bench.fill_floats(array.host, array.seed)?;
            let issuer = IssuerId(i as u8 + 1);
            for op in array.ops(TIMES) {
                program.push_from(issuer, stream, op);
            }
            arrays.push(array);
        }
        bench.run(&program)?; // the module is loaded, in every context
        Ok(Box::new(Threads {
            bench,
            arrays,
            program,
            making,
        }))
    }

    fn run(&mut self) -> Result<Ran> {
        for array in &self.arrays {
            array.plant(&mut self.bench)?;
        }
        self.bench.run(&self.program)
    }
}

impl Experiment for Threads {
    fn sample(&mut self, _bench: &mut Bench) -> Result<Measured> {
        let ms = self.run()?.wall_ms();
        Ok(Measured::of_time(mark!("ten threads together"), ms))
    }

    fn inspect(&mut self, _bench: &mut Bench) -> Result<Measured> {
        self.program.timed = true;
        let timed = self.run()?;
        self.program.timed = false;
        let mut right = 0;
        for array in &self.arrays {
            right += usize::from(self.bench.is_scaled(array.host, array.seed)?);
        }
        let mut measured = Measured::default();
        if let Some(making) = self.making {
            measured = measured.time(mark!("making ten contexts"), making);
        }
        measured.trace = Some(self.bench.timed_round(&self.program, timed));
        Ok(measured.check(
            tr!("10 arrays returned unchanged, except for one value in each that overflows by design"),
            right == self.arrays.len(),
        ))
    }

    fn has_own_engine(&self) -> bool {
        true
    }
}
