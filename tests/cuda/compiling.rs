//! A rule's function is compiled in the background, over the tests' own driver.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use engine::{LatticeOp, Layout, Op, Transfer};
use life::{Rule, reference};

use crate::ops::{Variable, advance_by, download, on_cuda};

#[test]
fn the_function_for_every_rule_serves_until_the_rule_s_own_is_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let [high_life, day_and_night] = ["B36/S23", "B3678/S34678"].map(|rule| rule.parse().unwrap());
    let _log = Variable::set("FAKE_CUDA_LOG", log.to_str().unwrap());
    on_cuda(|lab| {
        let soups = lab.soups(1, "128x64");
        lab.engine.reserve(Layout::Planar).unwrap();
        let step = |rule| soups.program([advance_by("planar", 0..1, rule, 1)]);
        lab.run(&soups.program([Op::unpack(0..1, Layout::Planar)]));
        // The function for every rule is loaded by a rule that has no other.
        lab.run(&step(Rule::LIFE));
        {
            let _load = Variable::set("FAKE_CUDA_COMPILE_US", "3000000");
            lab.engine.compile_in_background(&step(high_life)).unwrap();
            thread::sleep(Duration::from_millis(200)); // so that most likely the compiler is at work
            let began = Instant::now();
            lab.engine.submit(&step(high_life)).unwrap();
            let took = began.elapsed();
            assert!(took < Duration::from_secs(2), "compiling held up a launch");
            // Compiling it a second time would be a waste.
            lab.engine.compile_in_background(&step(high_life)).unwrap();
            lab.engine.load(&step(high_life)).unwrap();
        }
        lab.run(&step(high_life));
        // Who cannot do with a slower one waits.
        lab.engine
            .compile_in_background(&step(day_and_night))
            .unwrap();
        lab.engine.load(&step(day_and_night)).unwrap();
        lab.run(&step(day_and_night));
        lab.run(&soups.program([LatticeOp::Pack.on(0..1), download(0..1, 0, Transfer::Bits)]));
        let after = [(Rule::LIFE, 1), (high_life, 2), (day_and_night, 1)];
        let want = after
            .into_iter()
            .fold(soups.starts[0].clone(), |cells, (rule, generations)| {
                reference::run(&cells, rule, generations)
            });
        assert_eq!(soups.read(0, 0), want.words());
    });
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
    on_cuda(|lab| {
        let soups = lab.soups(1, "128x64");
        lab.engine.reserve(Layout::Planar).unwrap();
        let op = advance_by("planar", 0..1, "B36/S23".parse().unwrap(), 1);
        let steps = soups.program([Op::unpack(0..1, Layout::Planar), op]);
        let _load = Variable::set("FAKE_CUDA_COMPILE_US", "200000");
        lab.engine.compile_in_background(&steps).unwrap();
    });
}
