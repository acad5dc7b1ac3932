//! A rule's function is compiled in the background, over the tests' own driver.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use engine::cuda::{CudaEngine, Ordinals};
use engine::{
    DeviceId, Engine, LatticeId, LatticeOp, Layout, Op, Slot, SlotsSpec, StreamSpec, Transfer,
};
use life::{Rule, Size, reference, soup};

use crate::cuda_lab::{Variable, query};
use crate::ops::{advance_by, alone, download, program};

#[test]
fn the_function_for_every_rule_serves_until_the_rule_s_own_is_compiled() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let _log = Variable::set("FAKE_CUDA_LOG", log.to_str().unwrap());
    let mut engine = CudaEngine::open(Ordinals::First).unwrap();
    let (device, size) = (DeviceId(0), Size::new(128, 64).unwrap());
    engine.create_lattices(device, 1, size).unwrap();
    engine.reserve(Layout::Planar).unwrap();
    let stream = engine.create_stream(device, StreamSpec::PLAIN).unwrap();
    let spec = SlotsSpec {
        pinned: 1,
        pageable: 0,
        picture_words: size.words(),
        snapshots: 0,
        measures: 0,
    };
    let slots = engine.allocate_slots(spec).unwrap();
    let lattice = LatticeId(0);
    let step = |rule| program([(stream, advance_by("planar", 0..1, rule, 1))]);
    let start = soup(size, 0.4, 3, 0);
    let upload = Op::upload(lattice, start.words());
    let unpack = Op::unpack(0..1, Layout::Planar);
    let uploaded = program([(stream, upload), (stream, unpack)]);
    engine.submit(&uploaded).unwrap();

    // The function for every rule is loaded by a rule that has no other.
    engine.submit(&step(Rule::LIFE)).unwrap();
    let high_life: Rule = "B36/S23".parse().unwrap();
    {
        let _load = Variable::set("FAKE_CUDA_COMPILE_US", "3000000");
        engine.compile_in_background(&step(high_life)).unwrap();
        thread::sleep(Duration::from_millis(200)); // so that most likely the compiler is at work
        let began = Instant::now();
        engine.submit(&step(high_life)).unwrap();
        assert!(
            began.elapsed() < Duration::from_secs(2),
            "compiling held up a launch"
        );
        // Compiling it a second time would be a waste.
        engine.compile_in_background(&step(high_life)).unwrap();
        engine.load(&step(high_life)).unwrap();
    }
    engine.submit(&step(high_life)).unwrap();
    // Who cannot do with a slower one waits.
    let day_and_night: Rule = "B3678/S34678".parse().unwrap();
    engine.compile_in_background(&step(day_and_night)).unwrap();
    engine.load(&step(day_and_night)).unwrap();
    engine.submit(&step(day_and_night)).unwrap();

    let download = download(0..1, 0, Transfer::Bits);
    let back = program([(stream, LatticeOp::Pack.on(0..1)), (stream, download)]);
    engine.submit(&back).unwrap();
    engine.synchronize().unwrap();
    engine.poll(&mut Vec::new()).unwrap();
    let after = [(Rule::LIFE, 1), (high_life, 2), (day_and_night, 1)];
    let want = after.into_iter().fold(start, |cells, (rule, generations)| {
        reference::run(&cells, rule, generations)
    });
    let look = &mut |words: &[u32]| assert_eq!(words, want.words());
    assert!(slots.read(lattice, Slot(0), look));
    drop(engine);

    let log = fs::read_to_string(&log).unwrap();
    let launched = log.lines().filter_map(|line| {
        let op = line.split(" op=").nth(1)?.split(' ').next()?;
        op.strip_prefix("life_planar")
    });
    let want = ["", "", "_by_network", "_by_network"];
    assert_eq!(launched.collect::<Vec<_>>(), want);
}

#[test]
fn an_engine_that_is_dropped_while_it_compiles_leaves_nothing() {
    let _alone = alone();
    let mut engine = CudaEngine::open(Ordinals::First).unwrap();
    let (device, size) = (DeviceId(0), Size::new(128, 64).unwrap());
    engine.create_lattices(device, 1, size).unwrap();
    engine.reserve(Layout::Planar).unwrap();
    let stream = engine.create_stream(device, StreamSpec::PLAIN).unwrap();
    let op = advance_by("planar", 0..1, "B36/S23".parse().unwrap(), 1);
    let steps = program([(stream, Op::unpack(0..1, Layout::Planar)), (stream, op)]);
    let _load = Variable::set("FAKE_CUDA_COMPILE_US", "200000");
    engine.compile_in_background(&steps).unwrap();
    drop(engine);
    assert_eq!(query("fake_cuda_leaked"), 0);
    assert_eq!(query("fake_cuda_contexts"), 0);
}
