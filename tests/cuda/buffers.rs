//! Buffers, and ops on them that only lessons use, on both engines: they leave the same bytes.

use std::time::Duration;

use engine::cuda::{CudaEngine, Ordinals};
use engine::{
    BufferLocation, BufferOp, DeviceId, Engine, EngineError, Feature, MemoryOp, PageLocation,
    StreamSpec,
};

use crate::ops::{
    D0, Lab, PAGEABLE, PINNED, Variable, alone, at, copy, on_both, on_cpu, program, record, spin,
    wait,
};

/// How long ops take that others have to wait for.
const LENGTH: Duration = Duration::from_millis(50);

#[test]
fn copies_go_between_any_places() {
    on_both(|lab| {
        let [stream] = lab.streams();
        for kind in [PINNED, PAGEABLE] {
            let (from, to) = (lab.filled(kind, &[1, 2, 3, 4]), lab.filled(kind, &[7; 6]));
            let [one, other] = [4, 4].map(|words| lab.buffer(BufferLocation::Device, words));
            let ops = [
                copy(at(from, 0), at(one, 0), 16),
                copy(at(one, 4), at(other, 8), 8),
                copy(at(other, 0), at(to, 4), 16),
            ];
            lab.run(&program(ops.map(|op| (stream, op))));
            assert_eq!(lab.words(to), [7, 0, 0, 2, 3, 7], "what is new is zero");
            // On a GPU, also what is on the device can be seen and written.
            if lab.is_cuda() {
                lab.engine.access(other, &mut |words| words[1] = 5).unwrap();
                assert_eq!(lab.words(other), [0, 5, 2, 3]);
            } else {
                lab.engine
                    .access(other, &mut |_| panic!("it is called"))
                    .unwrap_err();
            }
        }
        let last = lab.buffer(PINNED, 1);
        lab.engine.drop_buffers().unwrap();
        lab.engine
            .access(last, &mut |_| panic!("it is gone"))
            .unwrap_err();
        let gone = program([(stream, BufferOp::HostFunction(last).into())]);
        let error = lab.engine.submit(&gone).unwrap_err().to_string();
        assert!(error.contains("there is no BufferId"), "{error}");
        assert!(lab.buffer(PINNED, 1) > last, "an id was used again");
    });
}

#[test]
fn a_host_function_runs_in_the_order_of_its_stream_and_keeps_nobody_waiting() {
    on_both(|lab| {
        let ([stream], over) = (lab.streams(), lab.event());
        let host = lab.filled(PINNED, &[5; 4]);
        let (device, start) = (at(lab.device, 0), at(host, 0));
        let ops = [
            copy(start, device, 16),
            spin(device, LENGTH),
            copy(device, start, 16),
            BufferOp::HostFunction(host).into(),
        ];
        let steps = program(ops.map(|op| (stream, op)));
        let mut recorded = steps.clone();
        recorded.push(stream, record(over));
        lab.engine.submit(&recorded).unwrap();
        assert!(!lab.engine.query(over).unwrap(), "the call waited");
        assert_eq!(lab.words(host), [!6, !5, !5, !5]);
        let prepared = lab.engine.prepare(&steps).unwrap();
        lab.engine.replay(prepared).unwrap();
        lab.engine.replay(prepared).unwrap();
        assert_eq!(lab.words(host), [!6, !5, !5, !5]);
    });
}

#[test]
fn memory_of_a_pool_is_there_from_its_allocation_to_its_end() {
    on_both(|lab| {
        let [stream] = lab.streams();
        let (pooled, host) = (
            lab.buffer(BufferLocation::Pool, 4),
            lab.filled(PINNED, &[7; 4]),
        );
        let round = [
            MemoryOp::SetReleaseThreshold(1 << 20).into(),
            MemoryOp::Allocate(pooled).into(),
            copy(at(host, 0), at(pooled, 0), 16),
            spin(at(pooled, 0), LENGTH),
            copy(at(pooled, 0), at(host, 0), 16),
            MemoryOp::Free(pooled).into(),
        ];
        let steps = program(
            [&round[..], &round]
                .concat()
                .into_iter()
                .map(|op| (stream, op)),
        );
        for _ in 0..2 {
            lab.engine.submit(&steps).unwrap();
        }
        let look = &mut |_: &mut [u32]| panic!("it is not allocated");
        lab.engine.access(pooled, look).unwrap_err();
        assert_eq!(lab.words(host), [11, 7, 7, 7]);
        lab.engine.drop_buffers().unwrap();
    });
}

#[test]
fn host_and_device_use_unified_memory_at_one_address() {
    on_both(|lab| {
        let [stream] = lab.streams();
        let unified = lab.filled(BufferLocation::Managed, &[40; 3]);
        let (device, start) = (at(lab.device, 0), at(unified, 0));
        let ops = [
            MemoryOp::AdviseReadMostly(unified).into(),
            MemoryOp::Prefetch(unified, PageLocation::Device).into(),
            spin(start, LENGTH),
            copy(start, device, 12),
            spin(device, LENGTH),
            copy(device, at(unified, 4), 4),
            MemoryOp::Prefetch(unified, PageLocation::Host).into(),
        ];
        let steps = program(ops.map(|op| (stream, op)));
        for _ in 0..2 {
            lab.engine.submit(&steps).unwrap();
        }
        assert_eq!(lab.words(unified), [42, 43, 40]);
    });
}

/// Copies to a second device and back, and waits there for the first copy.
fn there_and_back(lab: &mut Lab, peer: DeviceId) {
    let ([here], host) = (lab.streams(), lab.filled(PINNED, &[20; 4]));
    let there = lab.engine.create_stream(peer, StreamSpec::PLAIN).unwrap();
    let other = lab.engine.create_buffer(peer, 16, BufferLocation::Device);
    let [host_start, own, other] = [host, lab.device, other.unwrap()].map(|it| at(it, 0));
    let [arrived, left] = [D0, peer].map(|device| lab.engine.create_event(device).unwrap());
    let steps = program([
        (here, copy(host_start, own, 16)),
        (here, spin(own, LENGTH)),
        (here, copy(own, other, 16)),
        (here, record(arrived)),
        (there, wait(arrived)),
        (there, spin(other, LENGTH)),
        (there, copy(other, at(lab.device, 4), 8)),
        (there, record(left)),
        (here, wait(left)),
        (here, copy(own, host_start, 16)),
    ]);
    lab.engine.submit(&steps).unwrap();
    assert!(lab.engine.prepare(&steps).is_err(), "two graphs");
    assert_eq!(lab.words(host), [21, 22, 20, 20]);
}

#[test]
fn buffers_are_copied_between_contexts_and_between_devices() {
    on_both(|lab| {
        let further = lab.engine.create_context(D0).unwrap();
        there_and_back(lab, further);
    });
    let _alone = alone();
    let _devices = Variable::set("FAKE_CUDA_DEVICES", "2");
    let one = CudaEngine::open(Ordinals::First).unwrap();
    let missing = EngineError::no_second_device(Feature::PeerCopies);
    assert_eq!(one.check_feature(D0, Feature::PeerCopies), Err(missing));
    drop(one);
    let mut lab = Lab::new(Box::new(CudaEngine::open(Ordinals::All).unwrap()));
    lab.engine.check_feature(D0, Feature::PeerCopies).unwrap();
    there_and_back(&mut lab, DeviceId(1));
    for is_allowed in [true, true, false, false, true] {
        for (device, peer) in [(0, 1), (1, 0)] {
            let (device, peer) = (DeviceId(device), DeviceId(peer));
            assert_eq!(
                lab.engine.set_peer_access(device, peer, is_allowed),
                Ok(true)
            );
        }
        there_and_back(&mut lab, DeviceId(1));
    }
    assert_eq!(lab.engine.set_peer_access(D0, D0, true), Ok(false));
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

/// The CPU engine asks how much memory there is.
#[test]
fn what_no_machine_has_is_refused() {
    let engine = &mut on_cpu(1).engine;
    let huge = "262144x262144".parse().unwrap();
    let refused = [
        engine.create_lattices(D0, 1 << 20, huge),
        engine
            .create_buffer(D0, 1 << 60, BufferLocation::Device)
            .map(drop),
        engine.create_buffer(D0, 1 << 60, PINNED).map(drop),
    ];
    let spec = engine::SlotsSpec {
        pinned: 255,
        picture_words: 1 << 50,
        ..engine::SlotsSpec::default()
    };
    engine
        .create_lattices(D0, 1, "8x8".parse().unwrap())
        .unwrap();
    let slots = engine.allocate_slots(spec).map(drop);
    for error in refused.into_iter().chain([slots]) {
        assert!(
            matches!(error, Err(EngineError::OutOfMemory { .. })),
            "{error:?}"
        );
    }
    assert_eq!(engine.parity(engine::LatticeId(0)), 0, "the first");
}
