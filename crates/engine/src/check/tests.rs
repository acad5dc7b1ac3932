//! State transitions of one lattice, drafts, and plans.

use std::sync::Arc;

use super::*;
use crate::ReduceRegion;
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

fn upload(words: usize) -> LatticeOp {
    LatticeOp::Upload(Arc::from(vec![0; words]))
}

#[test]
fn what_goes_back_to_earlier_bits_changes_cells() {
    let stepped = LatticeState::NEW
        .after(&LatticeOp::Unpack(Layout::I32))
        .after(&advance("global", 1));
    assert!(!LatticeState::NEW.is_changed_by(&LatticeOp::Unpack(Layout::I32)));
    assert!(stepped.is_changed_by(&LatticeOp::Unpack(Layout::I32)));
    assert!(
        !stepped
            .after(&LatticeOp::Pack)
            .is_changed_by(&LatticeOp::Unpack(Layout::Bits))
    );
    assert!(stepped.is_changed_by(&upload(1)));
    assert!(!stepped.is_changed_by(&LatticeOp::Measure));
}

#[test]
fn a_layout_that_is_given_back_takes_its_cells_with_it() {
    let start = LatticeState::NEW.after(&advance("bits", 1));
    let mut state = start.after(&LatticeOp::Unpack(Layout::I32));
    state.reserve(Layout::I32, true);
    state = state.after(&advance("global", 1));
    let before = state;
    state.reserve(Layout::I32, true);
    assert!(state.has_buffers_of(before), "it was reserved already");
    for (layout, allocated) in [
        (Layout::Planar, true),
        (Layout::I32, false),
        (Layout::Bits, true),
    ] {
        let mut state = before;
        state.reserve(layout, allocated);
        assert!(state.has_buffers_of(start), "{layout:?}");
        let reserved = if allocated { layout } else { Layout::Bits };
        assert_eq!(state.reserved, reserved);
        assert!(state.bits_current);
    }
}

/// A validator with one device and two groups of lattices.
fn validator() -> Validator {
    let device = DeviceInfo {
        capability: Some((8, 6)),
        sm_count: 1,
        ..DeviceInfo::default()
    };
    let mut check = Validator::new(vec![device]);
    check.add_stream(StreamId(0), DeviceId(0), false);
    check.add_lattices(DeviceId(0), 2, Size::new(512, 512).unwrap(), None);
    check.add_lattices(DeviceId(0), 3, Size::new(33, 5).unwrap(), None);
    check.reserve(Layout::I32, &[true, true]);
    check
}

fn program(ops: impl IntoIterator<Item = Op>) -> Program {
    Program::in_stream(StreamId(0), ops)
}

fn reduce(lattices: std::ops::Range<u32>, height: u32) -> Op {
    let region = ReduceRegion::of_cells(8, height);
    LatticeOp::Reduce(region).on(lattices)
}

#[test]
fn a_plan_says_which_memory_a_program_needs() {
    let mut check = validator();
    let ops = [
        reduce(0..3, 2),
        reduce(4..5, 7),
        LatticeOp::Measure.on(1..4),
        LatticeOp::Measure.on(4..5),
        reduce(2..3, 3),
    ];
    let plan = check.validate(&program(ops.clone())).unwrap();
    assert_eq!(plan.views, BTreeMap::from([(0, 4), (1, 14)]));
    assert_eq!(plan.measures, BTreeSet::from([0, 1]));
    assert!(!plan.changes_cells && !plan.several_issuers);
    let functions = [SupportKernel::Reduce, SupportKernel::Measure];
    let functions = functions.map(|kernel| (DeviceId(0), Function::Support(kernel)));
    assert_eq!(plan.functions, functions);
    check.lattices.groups[1].view_capacity = 14;
    check.lattices.groups[0].has_measures_memory = true;
    let plan = check.validate_preparable(&program(ops)).unwrap();
    assert_eq!(plan.views, BTreeMap::from([(0, 4)]));
    assert_eq!(plan.measures, BTreeSet::from([1]));
}

#[test]
fn a_plan_names_every_function_that_is_launched() {
    let mut check = validator();
    let ops = [
        LatticeOp::Unpack(Layout::I32).on(0..1),
        advance("global", 1).on(0..1),
        LatticeOp::Pack.on(0..5),
        advance("shared", 1).on(0..1),
    ];
    let plan = check.validate(&program(ops)).unwrap();
    let of_support = plan
        .functions
        .iter()
        .filter_map(|(_, function)| match function {
            Function::Support(kernel) => Some(*kernel),
            Function::Ladder { .. } | Function::Buffer(_) => None,
        });
    let kernels = [SupportKernel::UnpackI32, SupportKernel::PackI32];
    assert_eq!(of_support.collect::<Vec<_>>(), kernels);
    let of_ladder = plan
        .functions
        .iter()
        .filter_map(|(_, function)| match function {
            Function::Ladder { kernel, .. } => Some(kernel.name),
            Function::Support(_) | Function::Buffer(_) => None,
        });
    assert_eq!(of_ladder.collect::<Vec<_>>(), ["global", "shared"]);
    assert!(plan.changes_cells);
}

#[test]
fn a_plan_names_the_networks_of_rules_once() {
    let mut check = validator();
    check.reserve(Layout::Planar, &[true, true]);
    let rule: Rule = "B36/S23".parse().unwrap();
    let by = |kernel: &str, by: Rule| {
        let mut op = advance(kernel, 1);
        if let LatticeOp::Advance { rule, .. } = &mut op {
            *rule = by;
        }
        op.on(0..1)
    };
    let ops = [
        by("planar", rule),
        by("planar", rule),
        by("planar", Rule::LIFE),
    ];
    let unpack = LatticeOp::Unpack(Layout::Planar).on(0..1);
    let ops = [unpack].into_iter().chain(ops);
    let plan = check.validate(&program(ops.collect::<Vec<_>>())).unwrap();
    let planar = find("planar").unwrap();
    let by = |rule| Function::Ladder {
        kernel: planar,
        entry: 0,
        rule,
    };
    let unpack = Function::Support(SupportKernel::UnpackPlanar);
    let launched = [unpack, by(rule), by(Rule::LIFE)];
    let launched = launched.map(|function| (DeviceId(0), function));
    assert_eq!(plan.functions, launched, "each once");
}

#[test]
fn a_device_that_lacks_what_a_kernel_needs_is_refused() {
    let mut check = validator();
    check.devices[0].capability = Some((9, 0));
    check.devices[0].sm_count = 20;
    let size = Size::new(4096, 4096).unwrap();
    check.add_lattices(DeviceId(0), 1, size, None);
    check.reserve(Layout::Planar, &[true, true, true]);
    let ops = [LatticeOp::Unpack(Layout::Planar), advance("cooperative", 1)];
    let program = program(ops.map(|op| op.on(5..6)));
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
    let split = |kernel, range| {
        let kernel = find(kernel).unwrap();
        let batches = check.lattices.batches(kernel, range, 132);
        let ends = batches.iter().map(|batch| (batch.start, batch.end));
        ends.collect::<Vec<_>>()
    };
    assert_eq!(split("resident", 5..9), [(5, 9)]);
    assert_eq!(split("bits", 5..7), [(5, 6), (6, 7)]);
    let groups = [(69_999, 70_000), (70_000, 70_002)];
    assert_eq!(split("resident", 69_999..70_002), groups);
    let halves = [(0, 65_535), (65_535, 70_000)];
    assert_eq!(split("resident", 0..70_000), halves);
}
