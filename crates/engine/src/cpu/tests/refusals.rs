//! What the engine refuses, and that a refusal leaves no trace.

use super::*;
use crate::Kernel;

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
fn programs_that_cannot_be_are_refused() {
    let mut bench = Bench::new(1, "256x256");
    let unpack = Op::Unpack {
        lattices: FIRST.alone(),
        to: Layout::I32,
    };
    let planar = Op::Unpack {
        lattices: FIRST.alone(),
        to: Layout::Planar,
    };
    let viewport = Viewport {
        x0: 0,
        y0: 0,
        step: Viewport::ONE,
        width: 6,
        height: 1,
    };
    let view = Op::Download {
        lattices: FIRST.alone(),
        slot: Slot(0),
        what: Transfer::View,
    };
    static STRANGE: Kernel = Kernel {
        name: "strange",
        ..copy_of_bits()
    };
    let strange = Op::Advance {
        kernel: &STRANGE,
        lattices: 0..1,
        rule: Rule::LIFE,
        generations: 1,
        block: (32, 8),
    };
    for (op, why) in [
        (advance("global", FIRST, 1), "wants layout I32"),
        (advance("sync-shared", FIRST, 1), "at most 24576 cells"),
        (advance("bits", LatticeId(1), 1), "no lattice 1"),
        (advance("planar", FIRST, 1), "wants layout Planar"),
        (planar, "layout Planar is not reserved"),
        (strange, "no twin"),
        (
            Op::Upload {
                lattice: FIRST,
                words: [0; 3].into(),
            },
            "3 words",
        ),
        (
            Op::Reduce {
                lattices: FIRST.alone(),
                viewport,
            },
            "Viewport",
        ),
        (view, "before one is made"),
        (download(FIRST, 3), "no Slot(3)"),
        (Op::Record(EventId(0)), "no EventId(0)"),
    ] {
        let error = bench.refused(op);
        assert!(error.contains(why), "{error}");
    }
    let nowhere = program([(StreamId(7), Op::Pack(FIRST.alone()))]);
    assert!(bench.engine.submit(&nowhere).is_err());
    bench.engine.reserve(Layout::Bits).unwrap();
    assert!(bench.refused(unpack).contains("not reserved"));
    assert!(
        bench
            .engine
            .create_stream(DeviceId(1), StreamSpec::PLAIN)
            .is_err()
    );
}

#[test]
fn planes_need_a_width_of_whole_words() {
    let mut bench = Bench::new(1, "75x41");
    bench.engine.reserve(Layout::Planar).unwrap();
    let unpack = Op::Unpack {
        lattices: FIRST.alone(),
        to: Layout::Planar,
    };
    assert!(
        bench
            .refused(unpack)
            .contains("75x41 cannot be in layout Planar")
    );
    for (kernel, limit) in [
        (
            "planar",
            "takes widths that are a multiple of 32, not 75x41",
        ),
        (
            "multistep",
            "takes widths that are a multiple of 128, not 75x41",
        ),
        (
            "resident",
            "takes lattices of 32x32, 64x64, 128x128 or 256x256, not 75x41",
        ),
        (
            "cluster",
            "takes lattices of 512x512, 1024x1024 or 2048x2048, not 75x41",
        ),
    ] {
        let error = bench.refused(advance(kernel, FIRST, 1));
        assert!(error.contains(limit), "{error}");
        assert!(error.contains("--kernel bits does"), "{error}");
    }
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

const fn copy_of_bits() -> Kernel {
    Kernel {
        name: "bits",
        file: "",
        symbol: "",
        title: "",
        layout: Layout::Bits,
        iteration: crate::kernels::Iteration::Launches,
        blocks: &[(1, 1)],
        rows_per_thread: 1,
        shared_bytes: |_, _| 0,
        in_place: false,
        cluster: 1,
        batched: false,
        sides: crate::kernels::Sides::Any,
        most_cells: None,
    }
}
