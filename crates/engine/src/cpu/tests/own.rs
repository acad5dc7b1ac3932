//! Kernels of a user's own: they step in every layout, and their errors say which.

use super::*;
use crate::Loss;
use crate::kernels::{OwnCode, OwnStepError, OwnStepper};

/// Steps as the reference does; fails where the rule has no birth.
#[derive(Debug)]
struct Reference;

impl OwnStepper for Reference {
    fn step(
        &self,
        words: &mut [u32],
        size: Size,
        rule: Rule,
        generations: u32,
    ) -> Result<(), OwnStepError> {
        let lattice = Lattice::from_words(size, words.to_vec());
        assert_eq!(lattice.words(), words, "bits beyond the width are 0");
        match rule.to_string().as_str() {
            "B/S23" => Err(OwnStepError::TooLong),
            "B/S2" => Err(OwnStepError::Crashed),
            _ => {
                let later = generations_later(&lattice, rule, generations);
                words.copy_from_slice(later.words());
                Ok(())
            }
        }
    }
}

fn own(rung: &str, cpu: Option<Box<dyn OwnStepper>>) -> &'static crate::Kernel {
    let rung = find(rung).unwrap();
    let code = OwnCode {
        rung,
        source: String::new(),
        rules: None,
        gpu: None,
        cpu,
    };
    crate::Kernel::own(code, rung.block())
}

fn advance_by(kernel: &'static crate::Kernel, rule: &str, generations: u32) -> Op {
    LatticeOp::Advance {
        kernel,
        rule: rule.parse().unwrap(),
        generations,
        block: kernel.block(),
    }
    .on(FIRST.as_range())
}

#[test]
fn an_own_kernel_steps_in_its_rungs_layout_and_keeps_the_bits_of_the_last_pack() {
    for rung in ["bits", "shared", "sync-global", "planar", "multistep"] {
        let kernel = own(rung, Some(Box::new(Reference)));
        for size in ["33x7", "64x20", "545x13"] {
            let mut bench = Bench::new(1, size);
            bench.engine.reserve(kernel.layout).unwrap();
            let (stream, start) = (bench.streams[0], bench.soups[0].clone());
            let unpack = LatticeOp::Unpack(kernel.layout).on(FIRST.as_range());
            let is_supported = kernel.supports(start.size());
            if !is_supported {
                continue;
            }
            let steps = [
                unpack,
                advance_by(kernel, "B3/S23", 3),
                LatticeOp::Pack.on(FIRST.as_range()),
                advance_by(kernel, "B36/S23", 2),
                download(FIRST, 1),
            ];
            bench.run(steps.map(|op| (stream, op)));
            let packed = generations_later(&start, Rule::LIFE, 3);
            let later = generations_later(&packed, "B36/S23".parse().unwrap(), 2);
            let downloaded = if kernel.layout == Layout::Bits {
                &later // its cells are the bits
            } else {
                &packed
            };
            let is_there = bench.slots.read(FIRST, Slot(1), &mut |words| {
                assert_eq!(words, downloaded.words(), "{rung} on {size}");
            });
            assert!(is_there);
            assert_eq!(bench.lattice(FIRST), later, "{rung} on {size}");
        }
    }
}

#[test]
fn what_an_own_kernel_failed_of_is_the_loss() {
    let kernel = own("bits", Some(Box::new(Reference)));
    for (rule, why) in [
        ("B/S23", OwnStepError::TooLong),
        ("B/S2", OwnStepError::Crashed),
    ] {
        let mut bench = Bench::new(1, "33x7");
        let stream = bench.streams[0];
        let steps = program([(stream, advance_by(kernel, rule, 1))]);
        bench.engine.submit(&steps).unwrap();
        let lost = bench.engine.synchronize();
        let expected = EngineError::ContextLost(Loss::OwnKernel(why));
        assert_eq!(lost, Err(expected));
    }
}

#[test]
fn an_own_kernel_without_code_for_the_cpu_is_refused() {
    let mut bench = Bench::new(1, "33x7");
    let error = bench.refused(advance_by(own("bits", None), "B3/S23", 1));
    let expected = crate::kernels::no_own_code(false);
    assert_eq!(error, expected.to_string());
    assert_eq!(bench.lattice(FIRST), bench.soups[0]);
}
