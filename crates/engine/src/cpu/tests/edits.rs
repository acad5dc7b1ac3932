//! Tests of edits in every layout, on awkward sizes.

use proptest::prelude::*;

use super::*;
use crate::WordEdit;

fn edit(edits: Vec<WordEdit>) -> Op {
    Op::Edit {
        lattice: FIRST,
        edits: edits.into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Edits between generations change exactly the edited cells, with every kernel.
    #[test]
    fn cells_are_set_in_every_layout(
        width in 1u64..140, height in 1u64..40, whole: bool, seed: u64,
        cells in prop::collection::vec((any::<u32>(), any::<u32>(), any::<bool>()), 0..40),
    ) {
        let width = if whole { 32 * width.div_ceil(8) } else { width };
        let size = Size::new(width, height).unwrap();
        for kernel in KERNELS.iter().filter(|kernel| kernel.validate_size(size).is_ok()) {
            let mut bench = Bench::new(1, &size.to_string());
            bench.soups[0] = soup(size, seed);
            bench.engine.reserve(kernel.layout).unwrap();
            let stream = bench.streams[0];
            let (lattices, to) = (FIRST.as_range(), kernel.layout);
            let start = [bench.upload(0), Op::Unpack { lattices, to }, advance(kernel.name, FIRST, 1)];
            bench.run(start.map(|op| (stream, op)));
            let before = generations_later(&bench.soups[0], Rule::LIFE, 1);
            let mut after = before.clone();
            for (x, y, alive) in &cells {
                after.set(x % size.width(), y % size.height(), *alive);
            }
            let edits = edit(WordEdit::between(&before, &after));
            let parity = bench.engine.parity(FIRST);
            bench.run([(stream, edits), (stream, advance(kernel.name, FIRST, 0))]);
            prop_assert_eq!(bench.engine.parity(FIRST), parity);
            prop_assert_eq!(&bench.lattice(FIRST), &after, "{} of {}", kernel.name, size);
            bench.run([(stream, advance(kernel.name, FIRST, 2))]);
            let later = generations_later(&after, Rule::LIFE, 2);
            prop_assert_eq!(bench.lattice(FIRST), later, "{} of {}, later", kernel.name, size);
        }
    }
}

#[test]
fn edits_that_cannot_be_are_refused() {
    let mut bench = Bench::new(1, "33x2");
    let word = |word, mask| WordEdit {
        word,
        mask,
        bits: 0,
    };
    for edits in [
        vec![word(4, 1)],
        vec![word(1, 2)],
        vec![word(1, 1), word(0, 1)],
    ] {
        let error = bench.refused(edit(edits));
        assert!(error.to_lowercase().contains("edit"), "{error}");
    }
    let prepared = program([(bench.streams[0], edit(vec![word(0, 1)]))]);
    let error = bench.engine.prepare(&prepared).unwrap_err();
    assert!(error.to_string().contains("edit"), "{error}");
}
