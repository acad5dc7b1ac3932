//! Kernels of a user's own in the CUDA engine, over the tests' own driver, which knows the rungs alone:
//! their code is that of the rung.

use engine::cuda::{CudaEngine, Ordinals};
use engine::kernels::{self, GpuCode, Layout, OwnCode, Ptx};
use engine::{
    BlockTimestamp, Completion, DeviceId, DeviceInfo, Engine, EngineError, Kernel, LatticeId,
    LatticeOp, Op, Slot, Slots, SlotsSpec, StreamId, StreamSpec, Transfer,
};
use life::{Lattice, Rule, Size, reference, soup};
use std::sync::Arc;

use crate::ops::{alone, download, program};

/// What the tests' driver takes for machine code.
const CUBIN: &str = "\x7fELF";

fn own(rung: &str, gpu: impl FnOnce(String) -> Option<GpuCode>) -> &'static Kernel {
    let rung = kernels::find(rung).unwrap();
    let text = Ptx::find(rung.file).unwrap().only(rung.entries[0].symbol);
    let code = OwnCode {
        rung,
        source: String::new(),
        rules: None,
        gpu: gpu(text),
        cpu: None,
    };
    Kernel::own(code, rung.block())
}

fn ptx(rung: &str) -> &'static Kernel {
    own(rung, |text| Some(GpuCode::Ptx(text)))
}

/// An engine with a lattice of a soup.
struct Bench {
    engine: CudaEngine,
    stream: StreamId,
    slots: Arc<dyn Slots>,
    start: Lattice,
}

impl Bench {
    fn new() -> Bench {
        let mut engine = CudaEngine::open(Ordinals::First).unwrap();
        let (device, size) = (DeviceId(0), Size::new(128, 64).unwrap());
        engine.create_lattices(device, 1, size).unwrap();
        let stream = engine.create_stream(device, StreamSpec::PLAIN).unwrap();
        let spec = SlotsSpec {
            pinned: 1,
            picture_words: size.words(),
            ..SlotsSpec::default()
        };
        let slots = engine.allocate_slots(spec).unwrap();
        let start = soup(size, 0.4, 3, 0);
        let upload = Op::upload(LatticeId(0), start.words());
        engine.submit(&program([(stream, upload)])).unwrap();
        Bench {
            engine,
            stream,
            slots,
            start,
        }
    }

    /// Steps the lattice, which is in the kernel's layout then.
    fn step(
        &mut self,
        kernel: &'static Kernel,
        rule: Rule,
        generations: u32,
    ) -> Result<Vec<BlockTimestamp>, EngineError> {
        let advance = Op::advance(kernel, 0..1, rule, generations);
        let mut steps = program([(self.stream, advance)]);
        (steps.timed, steps.block_timestamps) = (true, true);
        self.engine.submit(&steps)?;
        self.engine.synchronize()?;
        let mut done = Vec::new();
        self.engine.poll(&mut done)?;
        let stamps = done.into_iter().find_map(|completion| match completion {
            Completion::Finished {
                block_timestamps, ..
            } => Some(block_timestamps),
            _ => None,
        });
        Ok(stamps.unwrap())
    }

    fn enter(&mut self, layout: Layout) {
        self.engine.reserve(layout).unwrap();
        let unpack = Op::unpack(0..1, layout);
        let entered = self.engine.submit(&program([(self.stream, unpack)]));
        entered.unwrap();
        self.engine.synchronize().unwrap();
        self.engine.poll(&mut Vec::new()).unwrap();
    }

    fn assert_cells(&mut self, want: &Lattice) {
        let pack = (self.stream, LatticeOp::Pack.on(0..1));
        let back = (self.stream, download(0..1, 0, Transfer::Bits));
        self.engine.submit(&program([pack, back])).unwrap();
        self.engine.synchronize().unwrap();
        self.engine.poll(&mut Vec::new()).unwrap();
        let look = &mut |words: &[u32]| assert_eq!(words, want.words());
        assert!(self.slots.read(LatticeId(0), Slot(0), look));
    }
}

#[test]
fn own_kernels_step_by_their_own_code_in_every_form_of_it() {
    let _alone = alone();
    let high_life: Rule = "B36/S23".parse().unwrap();
    for rung in ["bits", "shared", "sync-global", "planar", "multistep"] {
        let mut bench = Bench::new();
        let kernel = ptx(rung);
        bench.enter(kernel.layout);
        let stamps = bench.step(kernel, high_life, 5).unwrap();
        assert!(!stamps.is_empty(), "{rung} records timestamps");
        // The instrumenter takes neither; and both have another version's symbol.
        let without = own(rung, |text| {
            let text = text.replace("\tret;", "\t@%p1 ret;");
            Some(GpuCode::Ptx(text))
        });
        let cubin = own(rung, |text| {
            Some(GpuCode::Cubin(format!("{CUBIN}{text}").into_bytes()))
        });
        for other in [without, cubin] {
            assert_eq!(bench.step(other, high_life, 5).unwrap(), []);
        }
        bench
            .step(kernels::find(rung).unwrap(), high_life, 2)
            .unwrap();
        let want = reference::run(&bench.start, high_life, 17);
        bench.assert_cells(&want);
    }
}

#[test]
fn an_own_kernel_is_captured_into_a_graph() {
    let _alone = alone();
    let mut bench = Bench::new();
    let advance = Op::advance(ptx("bits"), 0..1, Rule::LIFE, 2);
    let round = program([(bench.stream, advance)]);
    let prepared = bench.engine.prepare(&round).unwrap();
    bench.engine.replay(prepared).unwrap();
    bench.engine.replay(prepared).unwrap();
    let want = reference::run(&bench.start, Rule::LIFE, 4);
    bench.assert_cells(&want);
}

#[test]
fn code_that_cannot_be_loaded_or_is_not_there_is_refused() {
    let _alone = alone();
    let mut bench = Bench::new();
    let other = Ptx::find("02_shared").unwrap().only("life_shared");
    for text in ["this is no PTX".to_owned(), other] {
        let kernel = own("bits", |_| Some(GpuCode::Ptx(text)));
        let refused = bench.step(kernel, Rule::LIFE, 1).unwrap_err();
        let is_it = matches!(refused, EngineError::OwnCodeRefused(_));
        assert!(is_it, "{refused:?}");
    }
    let kernel = own("bits", |_| None);
    let refused = bench.step(kernel, Rule::LIFE, 1).unwrap_err();
    let said = "your kernel was compiled for the CPU, and a GPU computes";
    assert_eq!(refused.to_string(), said);
    // On the CPU it is refused for another reason.
    let size = bench.start.size();
    let refused = ptx("bits").validate_device(&DeviceInfo::default(), size);
    let said = "your kernel was compiled for a GPU, and the CPU computes";
    assert_eq!(refused.unwrap_err().to_string(), said);
    let want = bench.start.clone();
    bench.assert_cells(&want);
}
