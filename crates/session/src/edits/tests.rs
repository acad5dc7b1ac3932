//! States for undo come back as they were.

use std::sync::Arc;

use life::{Size, soup};
use proptest::prelude::*;

use super::*;

fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_state_comes_back_from_a_history(
        width in 1u64..80, height in 1u64..20, densities in prop::collection::vec(0f64..1.0, 1..12),
    ) {
        let mut history = History::default();
        let mut states = Vec::new();
        for (density, generation) in densities.into_iter().zip(0..) {
            let state = Arc::new(soup(size(width, height), density, generation, 0));
            history.push(state.clone(), generation, usize::MAX);
            states.push((state, generation));
        }
        prop_assert_eq!(history.len(), states.len());
        // One in the middle of it all goes and comes again.
        let top = history.pop().unwrap();
        history.push(top.0, top.1, usize::MAX);
        for state in states.into_iter().rev() {
            prop_assert_eq!(history.pop(), Some(state));
        }
        prop_assert!(history.pop().is_none() && history.is_empty());
    }
}

#[test]
fn strokes_of_a_large_lattice_that_stands_still_take_some_bytes_each() {
    let mut lattice = soup(size(4096, 4096), 0.5, 1, 0);
    let mut history = History::default();
    for i in 0..20 {
        history.push(Arc::new(lattice.clone()), 0, usize::MAX);
        lattice.set(i, i, !lattice.get(i, i));
    }
    let began = std::time::Instant::now();
    while history.bytes() == 0 && began.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // 2 MiB each; lz4 packs what is all zero 255 to 1.
    assert!(history.bytes() <= 19 * 10_000, "{}", history.bytes());
    assert_eq!(history.len(), 20);
}
