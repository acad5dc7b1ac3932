//! The CPU engine, held against the reference: every check, and random tori.

use conformance::{AWKWARD, Cases, Fixture, Outcome, rules};
use engine::kernels::{KERNELS, SupportedSizes};
use engine::{Engine, Kernel};
use life::{Rule, Size};
use model::DeviceChoice;
use proptest::prelude::*;
use simulation::instances::open_engine;

fn engine() -> Box<dyn Engine> {
    open_engine(DeviceChoice::Cpu).unwrap()
}

#[track_caller]
fn assert_right(name: &str, outcome: &Outcome) {
    assert_eq!(outcome.wrong, Vec::<String>::new(), "{name}");
    assert!(outcome.cases > 0, "{name}");
}

#[test]
fn every_check_agrees() {
    let mut names = Vec::new();
    conformance::verify(engine(), DeviceChoice::Cpu, true, &mut |report| {
        assert_right(report.name, &report.outcome?);
        names.push(report.name);
        Ok(())
    })
    .unwrap();
    assert_eq!(names.len(), KERNELS.len() + 13);
}

/// Every rule, by each kernel on every awkward size that it takes.
#[test]
fn every_rule_agrees_on_awkward_tori() {
    let cases = Cases {
        rules: rules(),
        generations: vec![1, 2, 3, 9],
        ..Cases::quick()
    };
    assert_eq!(cases.sizes.len(), AWKWARD.len());
    let mut fixture = Fixture::new(engine(), cases).unwrap();
    for kernel in &KERNELS {
        assert_right(kernel.name, &fixture.check_kernel(kernel).unwrap());
    }
}

/// Steps a soup by a kernel, and also by B3/S23, for which kernels have code of their own.
fn check(kernel: &'static Kernel, size: Size, rule: Rule, generations: u32) {
    let cases = Cases {
        sizes: vec![size],
        rules: vec![rule, Rule::LIFE],
        generations: vec![generations],
        ..Cases::quick()
    };
    let mut fixture = Fixture::new(engine(), cases).unwrap();
    assert_right(kernel.name, &fixture.check_kernel(kernel).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_tori_and_rules_agree(
        width in 1u64..180, height in 1u64..20,
        birth in 0u16..512, survival in 0u16..512, generations in 1u32..6,
    ) {
        let size = Size::new(width, height).unwrap();
        let rule = Rule::from_masks(birth, survival);
        for kernel in KERNELS.iter().filter(|kernel| kernel.validate_size(size).is_ok()) {
            check(kernel, size, rule, generations);
        }
    }

    #[test]
    fn random_tori_of_planar_words_agree(
        width in 0u64..400, height in 1u64..80, less in 0u64..32,
        birth in 0u16..512, survival in 0u16..512, generations in 1u32..14,
    ) {
        for kernel in &KERNELS {
            let size = match kernel.sides {
                SupportedSizes::WidthsFrom(cells) => Size::new(u64::from(cells) + width, height),
                SupportedSizes::NearSquares(most) => {
                    let side = 32 * ((width % u64::from(most / 32)).max(1) + 1);
                    Size::new(side - less, side - height % 32)
                }
                // Steps on the CPU as the one before does.
                SupportedSizes::Any | SupportedSizes::Between { .. } => continue,
            };
            check(kernel, size.unwrap(), Rule::from_masks(birth, survival), generations);
        }
    }
}
