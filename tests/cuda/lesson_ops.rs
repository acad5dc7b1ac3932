//! Ops that only lessons use, on both engines: they leave the same bytes.

use std::num::NonZeroUsize;

use engine::buffer_kernels::SPIN;
use engine::cpu::CpuEngine;
use engine::cuda::{CudaEngine, Ordinals};
use engine::kernels::Launch;
use engine::{
    Argument, BufferId, BufferLaunch, BufferLocation, BufferOp, DeviceId, Engine, EngineError,
    Feature, HostMemory, MemoryOp, Op, OrderOp, PageLocation, StreamId, StreamSpec,
};

use crate::cuda_lab::{Variable, query};
use crate::ops::{alone, at, copy, program};

const D0: DeviceId = DeviceId(0);
const PINNED: BufferLocation = BufferLocation::Host(HostMemory::Pinned);

/// What `act` gives on each engine, which must be the same.
fn on_both<T: PartialEq + std::fmt::Debug>(mut act: impl FnMut(&mut dyn Engine) -> T) -> T {
    let _alone = alone();
    let on_cpu = act(&mut CpuEngine::new(NonZeroUsize::new(3).unwrap()));
    let mut cuda = CudaEngine::open(Ordinals::First).unwrap();
    let leaked = query("fake_cuda_leaked");
    let on_cuda = act(&mut cuda);
    drop(cuda);
    assert_eq!(
        query("fake_cuda_leaked"),
        leaked,
        "something was left behind"
    );
    assert_eq!(on_cpu, on_cuda);
    on_cpu
}

fn stream(engine: &mut dyn Engine) -> StreamId {
    engine.create_stream(D0, StreamSpec::PLAIN).unwrap()
}

/// A buffer with these words.
fn buffer(engine: &mut dyn Engine, place: BufferLocation, words: &[u32]) -> BufferId {
    let buffer = engine.create_buffer(D0, 4 * words.len(), place).unwrap();
    if !matches!(place, BufferLocation::Device | BufferLocation::Pool) {
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
    BufferOp::Launch(BufferLaunch {
        kernel: &SPIN,
        shape: Launch::in_row(1, 1),
        arguments: vec![Argument::Buffer(at(word, 0)), Argument::U64(50_000_000)],
    })
    .into()
}

#[test]
fn a_host_function_runs_in_the_order_of_its_stream_and_keeps_nobody_waiting() {
    on_both(|engine| {
        let stream = stream(engine);
        let device = buffer(engine, BufferLocation::Device, &[0; 4]);
        let host = buffer(engine, PINNED, &[5; 4]);
        let invert = BufferOp::HostFunction(host).into();
        let ops = [
            copy(at(host, 0), at(device, 0), 16),
            spin(device),
            copy(at(device, 0), at(host, 0), 16),
            invert,
        ];
        let steps = program(ops.map(|op| (stream, op)));
        let over = engine.create_event(D0).unwrap();
        let mut recorded = steps.clone();
        recorded.push(stream, OrderOp::Record(over));
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

#[test]
fn memory_of_a_pool_is_there_from_its_allocation_to_its_end() {
    let kept = on_both(|engine| {
        let stream = stream(engine);
        let pooled = buffer(engine, BufferLocation::Pool, &[0; 4]);
        let host = buffer(engine, PINNED, &[7; 4]);
        let round = [
            BufferOp::Memory(MemoryOp::SetReleaseThreshold(1 << 20)).into(),
            BufferOp::Memory(MemoryOp::Allocate(pooled)).into(),
            copy(at(host, 0), at(pooled, 0), 16),
            spin(pooled),
            copy(at(pooled, 0), at(host, 0), 16),
            BufferOp::Memory(MemoryOp::Free(pooled)).into(),
        ];
        let twice = round.iter().chain(&round).cloned();
        let steps = program(twice.map(|op| (stream, op)));
        for _ in 0..2 {
            engine.submit(&steps).unwrap();
        }
        let look = &mut |_: &mut [u32]| panic!("it is not allocated");
        engine.access(pooled, look).unwrap_err();
        let left = words(engine, host);
        engine.drop_buffers().unwrap();
        left
    });
    assert_eq!(kept, [11, 7, 7, 7]);
}

#[test]
fn host_and_device_use_unified_memory_at_one_address() {
    let left = on_both(|engine| {
        let stream = stream(engine);
        let unified = buffer(engine, BufferLocation::Managed, &[40; 3]);
        let device = buffer(engine, BufferLocation::Device, &[0; 3]);
        let ops = [
            BufferOp::Memory(MemoryOp::AdviseReadMostly(unified)).into(),
            BufferOp::Memory(MemoryOp::Prefetch(unified, PageLocation::Device)).into(),
            spin(unified),
            copy(at(unified, 0), at(device, 0), 12),
            spin(device),
            copy(at(device, 0), at(unified, 4), 4),
            BufferOp::Memory(MemoryOp::Prefetch(unified, PageLocation::Host)).into(),
        ];
        let steps = program(ops.map(|op| (stream, op)));
        for _ in 0..2 {
            engine.submit(&steps).unwrap();
        }
        words(engine, unified)
    });
    assert_eq!(left, [42, 43, 40]);
}

/// Copies to a second device and back, waits there for the first copy, and gives what came back.
fn there_and_back(engine: &mut dyn Engine, peer: DeviceId) -> Vec<u32> {
    let here = stream(engine);
    let there = engine.create_stream(peer, StreamSpec::PLAIN).unwrap();
    let host = buffer(engine, PINNED, &[20; 4]);
    let own = buffer(engine, BufferLocation::Device, &[0; 4]);
    let other = engine
        .create_buffer(peer, 16, BufferLocation::Device)
        .unwrap();
    let [arrived, left] = [D0, peer].map(|device| engine.create_event(device).unwrap());
    let steps = program([
        (here, copy(at(host, 0), at(own, 0), 16)),
        (here, spin(own)),
        (here, copy(at(own, 0), at(other, 0), 16)),
        (here, OrderOp::Record(arrived).into()),
        (there, OrderOp::Wait(arrived).into()),
        (there, spin(other)),
        (there, copy(at(other, 0), at(own, 4), 8)),
        (there, OrderOp::Record(left).into()),
        (here, OrderOp::Wait(left).into()),
        (here, copy(at(own, 0), at(host, 0), 16)),
    ]);
    engine.submit(&steps).unwrap();
    assert!(engine.prepare(&steps).is_err(), "two graphs");
    words(engine, host)
}

#[test]
fn buffers_are_copied_between_contexts_and_between_devices() {
    let back = on_both(|engine| {
        let further = engine.create_context(D0).unwrap();
        there_and_back(engine, further)
    });
    assert_eq!(back, [21, 22, 20, 20]);
    let _alone = alone();
    let _devices = Variable::set("FAKE_CUDA_DEVICES", "2");
    let one = CudaEngine::open(Ordinals::First).unwrap();
    let missing = EngineError::no_second_device(Feature::PeerCopies);
    assert_eq!(one.check_feature(D0, Feature::PeerCopies), Err(missing));
    drop(one);
    let mut engine = CudaEngine::open(Ordinals::All).unwrap();
    engine.check_feature(D0, Feature::PeerCopies).unwrap();
    assert_eq!(there_and_back(&mut engine, DeviceId(1)), back);
    for is_allowed in [true, true, false, false, true] {
        for (device, peer) in [(0, 1), (1, 0)] {
            let (device, peer) = (DeviceId(device), DeviceId(peer));
            assert_eq!(engine.set_peer_access(device, peer, is_allowed), Ok(true));
        }
        assert_eq!(there_and_back(&mut engine, DeviceId(1)), back);
    }
    assert_eq!(engine.set_peer_access(D0, D0, true), Ok(false));
}

#[test]
fn a_device_that_lacks_a_feature_refuses_its_buffers() {
    let _alone = alone();
    for (attribute, place, feature) in [
        ("115", BufferLocation::Pool, Feature::MemoryPools),
        ("89", BufferLocation::Managed, Feature::ManagedMemory),
    ] {
        let lacks = Variable::set("FAKE_CUDA_LACKS", attribute);
        let mut engine = CudaEngine::open(Ordinals::First).unwrap();
        let error =
            EngineError::Unsupported(format!("this device does not support {feature}").into());
        assert_eq!(engine.check_feature(D0, feature), Err(error.clone()));
        assert_eq!(engine.create_buffer(D0, 16, place), Err(error));
        drop(lacks);
        engine.check_feature(D0, feature).unwrap();
        engine.create_buffer(D0, 16, place).unwrap();
    }
}
