//! A context made by hand, used, and destroyed.

use std::time::Instant;

use super::multi_kernel::{Array, TIMES};
use crate::prelude::*;

pub(crate) const CONTEXT: Lesson = Lesson {
    name: "context",
    group: Group::Book,
    title: "make, use and destroy a context",
    source: Origin::Book(5, "simple_context_create.py"),
    intro: "A context is made, given memory, a stream and a kernel, asked to do something, and \
            destroyed with all that it holds.",
    question: "Which takes longest: making a context, its first work, or the same work again?",
    choices: Choices::Words {
        choices: &[
            "making the context",
            "its first work",
            "the same work again",
        ],
        right: |outcome| outcome.largest(0, &[MAKING, FIRST, AGAIN]),
    },
    parts: &[Part {
        title: "by hand",
        code: "cuCtxCreate(&context, 0, device);
cuMemAlloc(&array, bytes);
cuMemcpyHtoD(array, host, bytes);
cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1,
               0, stream, arguments, nullptr);
cuMemcpyDtoH(host, array, bytes);
cuCtxDestroy(context);",
        work: PartWork::Once(run),
    }],
    compared: &[],
    missing_on_cpu: Some(Missing {
        what: "contexts that cost anything",
        on_gpu: "A GPU would show what a context costs: memory and time to make it, and kernels to \
                 load before their first launch. The CPU engine has nothing to make or to load.",
        on_cpu: None,
    }),
    closing: Closing::Text(
        "The figures are of one run each. A context has its own memory and its own modules: \
         kernels are loaded into it before they run there first. So programs make a context \
         at their start and keep it.",
    ),
};

const MAKING: &str = mark!("making it");
const FIRST: &str = mark!("its first work: copy, launch, copy");
const AGAIN: &str = mark!("the same work again");

fn run(bench: &mut Bench) -> Result<Measured> {
    let began = Instant::now();
    let context = bench.engine()?.create_context(DEVICE)?;
    let making = ms_since(began);

    let pageable = BufferLocation::Host(HostMemory::Pageable);
    let array = Array {
        stream: bench.engine()?.create_stream(context, StreamSpec::PLAIN)?,
        device: bench.buffer_in(context, Array::BYTES, BufferLocation::Device)?,
        host: bench.buffer_in(context, Array::BYTES, pageable)?,
        seed: SEED,
    };
    let program = Program::in_stream(array.stream, array.ops(TIMES));
    let mut right = true;
    let mut uses = Vec::new();
    for seed in 1..=2 {
        bench.fill_floats(array.host, seed)?;
        uses.push(bench.run(&program)?.wall_ms);
        right &= bench.is_scaled(array.host, seed)?;
    }

    let began = Instant::now();
    bench.close();
    let destroying = ms_since(began);
    Ok(Measured::default()
        .time(MAKING, making)
        .time(FIRST, uses[0])
        .time(AGAIN, uses[1])
        .time(mark!("destroying it, and the engine with it"), destroying)
        .check(
            tr!("both times the array returned unchanged, except for the value that overflows by design"),
            right,
        ))
}
