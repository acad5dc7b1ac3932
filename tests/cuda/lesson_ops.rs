//! Ops that only lessons use, on both engines: they leave the same bytes.

use std::num::NonZeroUsize;

use engine::buffer_kernels::SPIN;
use engine::cpu::CpuEngine;
use engine::cuda::{CudaEngine, Ordinals};
use engine::{
    Argument, BufferId, BufferLaunch, BufferLocation, DeviceId, Engine, HostFunction, HostMemory,
    Op, StreamId, StreamSpec,
};

use crate::ops::{alone, at, copy, program};

const D0: DeviceId = DeviceId(0);
const PINNED: BufferLocation = BufferLocation::Host(HostMemory::Pinned);

/// What `act` gives on each engine, which must be the same.
fn on_both<T: PartialEq + std::fmt::Debug>(mut act: impl FnMut(&mut dyn Engine) -> T) -> T {
    let _alone = alone();
    let on_cpu = act(&mut CpuEngine::new(NonZeroUsize::new(3).unwrap()));
    let on_cuda = act(&mut CudaEngine::open(Ordinals::First).unwrap());
    assert_eq!(on_cpu, on_cuda);
    on_cpu
}

fn stream(engine: &mut dyn Engine) -> StreamId {
    engine.create_stream(D0, StreamSpec::PLAIN).unwrap()
}

/// A buffer with these words.
fn buffer(engine: &mut dyn Engine, place: BufferLocation, words: &[u32]) -> BufferId {
    let buffer = engine.create_buffer(D0, 4 * words.len(), place).unwrap();
    if place != BufferLocation::Device {
        let fill = &mut |to: &mut [u32]| to.copy_from_slice(words);
        engine.access(buffer, fill).unwrap();
    }
    buffer
}

fn words(engine: &mut dyn Engine, buffer: BufferId) -> Vec<u32> {
    let mut words = Vec::new();
    engine
        .access(buffer, &mut |of| words = of.to_vec())
        .unwrap();
    words
}

/// A launch of 50 ms that then adds 1 to a word.
fn spin(word: BufferId) -> Op {
    Op::LaunchOnBuffers(BufferLaunch {
        kernel: &SPIN,
        grid: 1,
        block: 1,
        shared_bytes: 0,
        arguments: vec![Argument::Buffer(at(word, 0)), Argument::U64(50_000_000)],
    })
}

#[test]
fn a_host_function_runs_in_the_order_of_its_stream_and_keeps_nobody_waiting() {
    on_both(|engine| {
        let stream = stream(engine);
        let device = buffer(engine, BufferLocation::Device, &[0; 4]);
        let host = buffer(engine, PINNED, &[5; 4]);
        let invert = Op::HostFunction(HostFunction::Invert, host);
        let ops = [
            copy(at(host, 0), at(device, 0), 16),
            spin(device),
            copy(at(device, 0), at(host, 0), 16),
            invert,
        ];
        let steps = program(ops.map(|op| (stream, op)));
        let over = engine.create_event(D0).unwrap();
        let mut recorded = steps.clone();
        recorded.push(stream, Op::Record(over));
        engine.submit(&recorded).unwrap();
        assert!(!engine.query(over).unwrap(), "the call waited");
        assert_eq!(words(engine, host), [!6, !5, !5, !5]);
        let prepared = engine.prepare(&steps).unwrap();
        for _ in 0..2 {
            engine.replay(prepared).unwrap();
        }
        words(engine, host)
    });
}
