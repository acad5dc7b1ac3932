//! What the ops of `tests/cuda/` cannot show: what changes cells, large devices, and how batches are split.

use std::sync::Arc;

use super::*;
use crate::kernels::find;
use life::Rule;

fn advance(kernel: &str, generations: u32) -> LatticeOp {
    let kernel = find(kernel).unwrap();
    LatticeOp::Advance {
        kernel,
        rule: Rule::LIFE,
        generations,
        block: kernel.block(),
    }
}

/// A device with a stream and a lattice that can be in this layout.
fn validator(device: DeviceInfo, size: &str, layout: Layout) -> Validator {
    let mut check = Validator::new(vec![device]);
    check.add_stream(DeviceId(0), false);
    check.add_lattices(DeviceId(0), 1, size.parse().unwrap(), None);
    check.reserve(layout, &[true]);
    check
}

#[test]
fn what_goes_back_to_earlier_bits_changes_cells() {
    let unpack = LatticeOp::Unpack(Layout::I32);
    let unpacked = LatticeState::NEW.after(&unpack);
    let stepped = unpacked.after(&advance("global", 1));
    let packed = stepped.after(&LatticeOp::Pack);
    let states = [LatticeState::NEW, unpacked, stepped, packed];
    let changes = states.map(|state| state.is_changed_by(&unpack));
    assert_eq!(changes, [false, false, true, false]);
    let others = [LatticeOp::Upload(Arc::from([0])), LatticeOp::Measure];
    assert_eq!(others.map(|op| stepped.is_changed_by(&op)), [true, false]);
}

/// What is launched is loaded before the first step is issued; an engine would load it later, too.
#[test]
fn a_plan_names_every_function_that_is_launched_once() {
    let mut check = validator(DeviceInfo::default(), "33x5", Layout::I32);
    let ops = [
        LatticeOp::Unpack(Layout::I32),
        advance("global", 1),
        LatticeOp::Pack,
        advance("shared", 1),
        advance("global", 2),
        LatticeOp::Measure,
    ];
    let program = Program::in_stream(StreamId(0), ops.map(|op| op.on(0..1)));
    let plan = check.validate(&program).unwrap();
    let entries = plan.functions.iter().map(|(_, function)| function.entry);
    let entries: Vec<&str> = entries.collect();
    let expected = [
        "unpack_i32",
        "life_global",
        "pack_i32",
        "life_shared",
        "measure_bits",
    ];
    assert_eq!(entries, expected);
}

#[test]
fn a_device_that_lacks_what_a_kernel_needs_is_refused() {
    let device = DeviceInfo {
        capability: Some((9, 0)),
        sm_count: 20,
        ..DeviceInfo::default()
    };
    let mut check = validator(device, "4096x4096", Layout::Planar);
    let ops = [LatticeOp::Unpack(Layout::Planar), advance("cooperative", 1)];
    let program = Program::in_stream(StreamId(0), ops.map(|op| op.on(0..1)));
    let error = check.validate(&program).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("needs 32 SMs") && error.contains("has 20;"),
        "{error}"
    );
    check.devices[0].sm_count = 32;
    check.validate(&program).unwrap();
}

#[test]
fn a_batch_is_of_one_group_and_fits_a_grid() {
    let mut check = Validator::new(Vec::new());
    let size = Size::new(128, 128).unwrap();
    check.add_lattices(DeviceId(0), 70_000, size, None);
    check.add_lattices(DeviceId(0), 3, size, None);
    let split = |range| {
        let kernel = find("resident").unwrap();
        let batches = check.lattices.batches(kernel, range, 132);
        let ends = batches.iter().map(|batch| (batch.start, batch.end));
        ends.collect::<Vec<_>>()
    };
    let groups = [(69_999, 70_000), (70_000, 70_002)];
    assert_eq!(split(69_999..70_002), groups);
    let halves = [(0, 65_535), (65_535, 70_000)];
    assert_eq!(split(0..70_000), halves);
}
