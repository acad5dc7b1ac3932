//! Kernels of a user's own on both engines. The tests' driver knows the rungs alone, so on the GPU their code
//! is that of the rung; on the CPU it is the reference.

use engine::cuda::{CudaEngine, Ordinals};
use engine::kernels::{self, GpuCode, Layout, OwnCode, OwnStepError, OwnStepper, Ptx};
use engine::{DeviceInfo, EngineError, Kernel, LatticeOp, Loss, Op, Transfer};
use life::{Lattice, Rule, Size, reference};

use crate::ops::{Lab, alone, download, on_both, on_cpu, on_cuda};

/// What the tests' driver takes for machine code.
const CUBIN: &str = "\x7fELF";

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
                let later = reference::run(&lattice, rule, generations.into());
                words.copy_from_slice(later.words());
                Ok(())
            }
        }
    }
}

fn own(
    rung: &str,
    gpu: impl FnOnce(String) -> Option<GpuCode>,
    cpu: Option<Box<dyn OwnStepper>>,
) -> &'static Kernel {
    let rung = kernels::find(rung).unwrap();
    let text = Ptx::find(rung.file).unwrap().only(rung.entries[0]);
    let code = OwnCode {
        rung,
        source: String::new(),
        rules: None,
        gpu: gpu(text),
        cpu,
    };
    Kernel::own(code, rung.block())
}

/// For either.
fn both(rung: &str) -> &'static Kernel {
    own(
        rung,
        |text| Some(GpuCode::Ptx(text)),
        Some(Box::new(Reference)),
    )
}

#[test]
fn own_kernels_step_by_their_own_code_and_keep_the_bits_of_the_last_pack() {
    let rule: Rule = "B36/S23".parse().unwrap();
    for rung in ["bits", "shared", "sync-global", "planar", "multistep"] {
        let kernel = both(rung);
        for size in ["33x7", "64x20", "128x64", "545x13"] {
            if !kernel.supports(size.parse().unwrap()) {
                continue;
            }
            on_both(|lab| {
                let soups = lab.soups(1, size);
                lab.engine.reserve(kernel.layout).unwrap();
                let by = |kernel, generations| Op::advance(kernel, 0..1, rule, generations);
                let pack = || LatticeOp::Pack.on(0..1);
                let bits = || download(0..1, 2, Transfer::Bits);
                let enter = Op::unpack(0..1, kernel.layout);
                lab.run(&soups.program([enter, by(kernel, 3), pack(), by(kernel, 2), bits()]));
                let packed = match kernel.layout {
                    Layout::Bits => 5, // its cells are the bits
                    _ => 3,
                };
                let of = |generations| reference::run(&soups.starts[0], rule, generations);
                assert_eq!(soups.read(0, 2), of(packed).words(), "{rung} on {size}");
                // Replayed, with the rung's own steps behind it.
                let round = [
                    by(kernel, 2),
                    by(kernels::find(rung).unwrap(), 2),
                    pack(),
                    bits(),
                ];
                let prepared = lab.engine.prepare(&soups.program(round)).unwrap();
                for generations in [9, 13] {
                    lab.engine.replay(prepared).unwrap();
                    lab.finish();
                    assert_eq!(
                        soups.read(0, 2),
                        of(generations).words(),
                        "{rung} on {size}"
                    );
                }
            });
        }
    }
}

#[test]
fn block_timestamps_are_of_what_the_instrumenter_takes() {
    for rung in ["bits", "shared", "sync-global", "planar", "multistep"] {
        let without = own(
            rung,
            |text| Some(GpuCode::Ptx(text.replace("\tret;", "\t@%p1 ret;"))),
            None,
        );
        let cubin = |text| Some(GpuCode::Cubin(format!("{CUBIN}{text}").into_bytes()));
        let cubin = own(rung, cubin, None);
        on_cuda(|lab| {
            let soups = lab.soups(1, "128x64");
            lab.engine.reserve(cubin.layout).unwrap();
            lab.run(&soups.program([Op::unpack(0..1, cubin.layout)]));
            for (kernel, has_stamps) in [(both(rung), true), (without, false), (cubin, false)] {
                let mut steps = soups.program([Op::advance(kernel, 0..1, Rule::LIFE, 5)]);
                steps.block_timestamps = true;
                assert_eq!(
                    !lab.run(&steps).block_timestamps.is_empty(),
                    has_stamps,
                    "{rung}"
                );
            }
            let back = [LatticeOp::Pack.on(0..1), download(0..1, 2, Transfer::Bits)];
            lab.run(&soups.program(back));
            let want = reference::run(&soups.starts[0], Rule::LIFE, 15);
            assert_eq!(soups.read(0, 2), want.words(), "{rung}");
        });
    }
}

#[test]
fn code_that_fails_or_is_not_there_is_said() {
    let advance = |kernel, rule: &str| Op::advance(kernel, 0..1, rule.parse().unwrap(), 1);
    let other = Ptx::find("02_shared").unwrap().only("life_shared");
    let (of_gpu, of_cpu) = (
        own("bits", |text| Some(GpuCode::Ptx(text)), None),
        own("bits", |_| None, Some(Box::new(Reference))),
    );
    on_both(|lab| {
        let soups = lab.soups(1, "128x64");
        let foreign = if lab.is_cuda() { of_cpu } else { of_gpu };
        let refused = lab
            .engine
            .submit(&soups.program([advance(foreign, "B3/S23")]));
        let said = if lab.is_cuda() {
            "your kernel was compiled for the CPU, and a GPU computes"
        } else {
            "your kernel was compiled for a GPU, and the CPU computes"
        };
        assert_eq!(refused.unwrap_err().to_string(), said);
        lab.run(&soups.program([download(0..1, 2, Transfer::Bits)]));
        assert_eq!(soups.read(0, 2), soups.starts[0].words());
    });
    // What the driver takes but for its symbol stays in the context, so nothing is said of leaks here.
    let _alone = alone();
    let mut lab = Lab::new(Box::new(CudaEngine::open(Ordinals::First).unwrap()));
    let soups = lab.soups(1, "128x64");
    for text in ["this is no PTX".to_owned(), other] {
        let kernel = own("bits", |_| Some(GpuCode::Ptx(text)), None);
        let refused = lab
            .engine
            .submit(&soups.program([advance(kernel, "B3/S23")]));
        assert!(
            matches!(refused, Err(EngineError::OwnCodeRefused(_))),
            "{refused:?}"
        );
    }
    let refused = of_gpu.validate_device(&DeviceInfo::default(), Size::new(128, 64).unwrap());
    assert!(refused.is_err());
    for (rule, why) in [
        ("B/S23", OwnStepError::TooLong),
        ("B/S2", OwnStepError::Crashed),
    ] {
        let mut lab = on_cpu(1);
        let steps = lab.soups(1, "33x7").program([advance(of_cpu, rule)]);
        lab.engine.submit(&steps).unwrap();
        let lost = Err(EngineError::ContextLost(Loss::OwnKernel(why)));
        assert_eq!(lab.engine.synchronize(), lost);
    }
}
