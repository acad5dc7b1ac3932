//! Tests of invalid programs: they return errors and have no effect. `tests/cuda/incompatible.rs`
//! checks a long table of them on both engines.

use super::*;

#[test]
fn a_slot_in_use_is_refused_and_nothing_is_queued() {
    let mut bench = Bench::new(1, "64x64");
    let stream = bench.streams[0];
    let before = bench.lattice(FIRST);
    let slots = bench.slots.clone();
    let engine = &mut bench.engine;
    assert!(slots.read(FIRST, Slot(0), &mut |_| {
        let steps = [
            (stream, advance("bits", FIRST, 1)),
            (stream, download(FIRST, 1)),
            (stream, download(FIRST, 0)),
        ];
        let busy = engine.submit(&program(steps));
        assert_eq!(busy, Err(EngineError::SlotBusy(FIRST, Slot(0))));
        assert!(slots.is_free(FIRST, Slot(1)), "what was bound is released");
    }));
    assert_eq!(bench.engine.parity(FIRST), 0);
    assert_eq!(bench.lattice(FIRST), before);
    let twice = [(stream, download(FIRST, 0)), (stream, download(FIRST, 0))];
    let busy = bench.engine.submit(&program(twice));
    assert_eq!(busy, Err(EngineError::SlotBusy(FIRST, Slot(0))));
}

#[test]
fn what_no_machine_has_is_refused() {
    let mut engine = CpuEngine::new(NonZeroUsize::MIN);
    let size = Size::new(1 << 18, 1 << 18).unwrap();
    let error = engine
        .create_lattices(DeviceId(0), 1 << 20, size)
        .unwrap_err();
    assert!(matches!(error, EngineError::OutOfMemory { .. }), "{error}");
    engine
        .create_lattices(DeviceId(0), 1, Size::new(8, 8).unwrap())
        .unwrap();
    assert_eq!(engine.parity(FIRST), 0);
}
