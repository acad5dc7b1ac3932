//! Ten host threads that launch: a context each, and one context for all.

use std::time::Instant;

use super::multi_kernel::{Array, TIMES, plant, right};
use crate::prelude::*;
use engine::IssuerId;

const THREADS: u8 = 10;

pub(crate) const MULTI_KERNEL_THREADS: Lesson = Lesson {
    name: "multi-kernel-threads",
    group: Group::Book,
    title: "ten host threads, a context each, and one for all",
    source: Origin::Book(5, "multi-kernel_multi-thread.py"),
    intro: "Ten threads of the host, an array of 1024 × 1024 floats each: up, multiplied by 2 \
            and divided by 2 fifty times, down. First every thread makes a context of its own, \
            as the book has it; then all use one.",
    question: "Ten contexts on one device: how much faster is one context for all ten threads?",
    choices: Choices::Factors(0, &[1.0, 2.0, 10.0]),
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
            work: PartWork::Alone(|bench| threads(bench, true)),
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
            work: PartWork::Alone(|bench| threads(bench, false)),
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

/// Ten threads' arrays, each in a context of its own or all in one.
fn threads(bench: &mut Bench, contexts: bool) -> Result<Programs> {
    let mut homes: Vec<DeviceId> = vec![DEVICE; THREADS.into()];
    let began = Instant::now();
    if contexts {
        for home in &mut homes {
            *home = bench.engine()?.create_context(DEVICE)?;
        }
    }
    let making = ms_since(began);
    let mut program = Program::default();
    let mut arrays = Vec::new();
    for (i, home) in (0..).zip(homes) {
        let host = BufferLocation::Host(HostMemory::Pageable);
        let array = Array {
            stream: bench.engine()?.create_stream(home, StreamSpec::PLAIN)?,
            device: bench.buffer_in(home, Array::BYTES, BufferLocation::Device)?,
            host: bench.buffer_in(home, Array::BYTES, host)?,
            seed: i.into(),
        };
        bench.fill_floats(array.host, array.seed)?;
        for op in array.ops(TIMES) {
            program.push_from(IssuerId(i + 1), array.stream, op);
        }
        arrays.push(array);
    }
    let planted = arrays.clone();
    let check = move |bench: &mut Bench, _: &Ran, _| {
        let mut measured = Measured::default();
        if contexts {
            measured = measured.time(mark!("making ten contexts"), making);
        }
        Ok(measured.check(
            tr!("10 arrays returned unchanged, except for one value in each that overflows by design"),
            right(bench, &arrays)? == arrays.len(),
        ))
    };
    Ok(Programs {
        before: Box::new(move |bench, _| plant(bench, &planted)),
        ..Programs::new(program, wall(mark!("ten threads together")), check)
    })
}
