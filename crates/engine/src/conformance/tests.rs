//! The CPU engine, held against the reference: every check, and random tori.

use std::num::NonZeroUsize;

use proptest::prelude::*;

use super::{Cases, Fixture, Outcome, rules, verify};
use crate::cpu::CpuEngine;
use crate::kernels::{KERNELS, SupportedSizes};
use crate::{Cut, Engine, EngineError};
use life::{Rule, Size};

fn engine() -> Box<dyn Engine> {
    Box::new(CpuEngine::new(NonZeroUsize::new(2).unwrap()))
}

#[track_caller]
fn assert_right(name: &str, outcome: &Outcome) {
    assert_eq!(outcome.wrong, Vec::<String>::new(), "{name}");
    assert!(outcome.cases > 0, "{name}");
}

#[test]
fn every_check_agrees() {
    let (mut whole, mut in_bands) = (0, 0);
    verify::<EngineError>(engine(), Cases::quick(), &mut |report| {
        match report.outcome {
            Ok(outcome) => assert_right(report.name, &outcome),
            // Kernels that take squares alone have none in bands.
            Err(why) => assert!(report.is_split, "{why}"),
        }
        *if report.is_split {
            &mut in_bands
        } else {
            &mut whole
        } += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!((whole, in_bands), (KERNELS.len() + 14, KERNELS.len() + 12));
}

/// Lattices in bands on more devices than two, with halos longer than some bands.
#[test]
fn lattices_in_bands_agree() {
    for (devices, per_device, halo) in [(2, 2, 32), (3, 1, 1), (4, 2, 7), (8, 1, 16)] {
        let workers = NonZeroUsize::new(2).unwrap();
        let engine = Box::new(CpuEngine::with(Some(workers), devices));
        let cases = Cases {
            generations: vec![1, 9, 41],
            max_cells: 6000,
            ..Cases::quick()
        };
        let fixture = Fixture::new(engine, cases).unwrap();
        let mut fixture = fixture.split(Cut { per_device, halo }).unwrap();
        for kernel in KERNELS.iter().filter(|kernel| !kernel.cooperative) {
            if fixture.validate_device(kernel).is_ok() {
                let outcome = fixture.check_kernel(kernel).unwrap();
                assert_right(kernel.name, &outcome);
            }
        }
        // Here bands meet others of the same device, and of the next one.
        if per_device == 2 {
            assert_right("seams", &fixture.check(Fixture::check_seams).unwrap());
        }
    }
}

/// Every rule, by each kernel on every awkward size that it takes.
#[test]
fn every_rule_agrees_on_awkward_tori() {
    let cases = Cases {
        rules: rules(),
        generations: vec![1, 2, 3, 9],
        ..Cases::quick()
    };
    let mut fixture = Fixture::new(engine(), cases).unwrap();
    for kernel in &KERNELS {
        assert_right(kernel.name, &fixture.check_kernel(kernel).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_tori_and_rules_agree(
        width in 0u64..400, height in 1u64..80, less in 0u64..32,
        birth in 0u16..512, survival in 0u16..512, generations in 1u32..14,
    ) {
        // Kernels have code of their own for B3/S23.
        let rules = vec![Rule::from_masks(birth, survival), Rule::LIFE];
        for kernel in &KERNELS {
            let size = match kernel.sides {
                SupportedSizes::WidthsFrom(cells) => Size::new(u64::from(cells) + width, height),
                SupportedSizes::NearSquares(most) => {
                    let side = 32 * ((width % u64::from(most / 32)).max(1) + 1);
                    Size::new(side - less, side - height % 32)
                }
                SupportedSizes::Any | SupportedSizes::Between { .. } => {
                    Size::new(1 + width % 180, height)
                }
            };
            let size = size.unwrap();
            if kernel.supports(size) {
                let cases = Cases {
                    sizes: vec![size],
                    rules: rules.clone(),
                    generations: vec![generations],
                    ..Cases::quick()
                };
                let mut fixture = Fixture::new(engine(), cases).unwrap();
                assert_right(kernel.name, &fixture.check_kernel(kernel).unwrap());
            }
        }
    }
}
