//! What `run` computes is what an independent simulator computes (`tests/independent.py`, with numpy), of
//! soups of many sizes and rules. That all kernels, and all ways of running them, do the same is for the
//! conformance suites; how patterns are read and placed, for the tests of `life`.

use std::fmt::Write;
use std::fs;

use crate::common::{hold, lifestreams, names, scratch};
use engine::kernels::KERNELS;
use life::{Rule, Size, SplitMix64};

const SIZES: [&str; 37] = [
    "1x1", "1x2", "2x1", "1x3", "3x1", "1x37", "37x1", "1x64", "64x1", "2x2", "2x3", "3x2", "3x3",
    "2x33", "33x2", "4x4", "31x5", "32x5", "33x5", "31x31", "32x32", "33x33", "63x7", "64x7",
    "65x7", "64x64", "65x63", "95x3", "96x1", "97x2", "101x17", "129x9", "160x130", "128x128",
    "128x3", "384x21", "1024x9",
];

const RULES: [&str; 8] = [
    "B3/S23",
    "B36/S23",
    "B0/S8",
    "B1357/S1357",
    "B/S",
    "B012345678/S",
    "B/S012345678",
    "B2/S",
];

#[test]
fn soups_are_stepped_as_the_independent_simulator_does() {
    let folder = scratch();
    let folder = folder.path();
    // Saves into a new folder.
    let run = |line: &str, into: &str| {
        let line = format!("run {line} --device cpu --save {into}");
        lifestreams(folder, &line).done();
    };
    let mut dice = SplitMix64(20_240_229);
    let mut claims = String::new();
    for (case, size) in SIZES.into_iter().enumerate() {
        // By a rule of the list, and by one nobody has heard of.
        let rule = match RULES.get(case / 2 % RULES.len()) {
            Some(rule) if case % 2 == 0 => rule.parse().unwrap(),
            _ => Rule::from_masks(dice.below(512) as u16, dice.below(512) as u16),
        };
        let line = format!(
            "--size {size} --rule {rule} --seed {} --density 0.{} --instances {} \
             --generations-per-round {}",
            dice.below(u64::MAX),
            1 + dice.below(9),
            1 + dice.below(3),
            1 + dice.below(5),
        );
        let size: Size = size.parse().unwrap();
        let kernels: Vec<_> = KERNELS.iter().filter(|it| it.supports(size)).collect();
        let kernel = kernels[case % kernels.len()].name;
        let generations = 1 + dice.below(12);
        run(&format!("{line} -g 0"), &case.to_string());
        let end = format!("{case}-{kernel}");
        run(&format!("{line} --kernel {kernel} -g {generations}"), &end);
        for name in names(&folder.join(&end)) {
            writeln!(claims, "{case}/{name} {generations} {end}/{name}").unwrap();
        }
    }
    fs::write(folder.join("claims"), claims).unwrap();
    // Where scripts/test puts numpy.
    let root = env!("CARGO_MANIFEST_DIR");
    let check = format!(
        "$ export PYTHONPATH={root}/target/tools:$PYTHONPATH; python3 {root}/tests/independent.py <claims"
    );
    hold(folder, &[(&check, 0, "")]);
}
