//! Tests of streams with lattices: early downloads.

use std::ops::Range;

use super::*;

#[test]
fn a_downloaded_picture_does_not_wait_for_the_run() {
    let mut bench = Bench::new(2, "64x64");
    let [first, second] = bench.streams[..] else {
        unreachable!()
    };
    let endless = LatticeOp::Advance {
        kernel: find("bits").unwrap(),
        rule: Rule::LIFE,
        generations: u32::MAX,
        block: (32, 8),
    }
    .on(0..1);
    let run = bench.engine.submit(&program([
        (first, endless),
        (second, download(LatticeId(1), 0)),
    ]));
    let mut completions = Vec::new();
    while completions.is_empty() {
        bench.engine.wait(Duration::from_secs(1));
        bench.engine.poll(&mut completions).unwrap();
    }
    let [
        Completion::Downloaded {
            run: of,
            lattices: Range { start: 1, end: 2 },
            slot: Slot(0),
        },
    ] = completions[..]
    else {
        panic!("{completions:?}")
    };
    assert_eq!(of, run.unwrap());
    let soup = bench.soups[1].clone();
    assert!(
        bench
            .slots
            .read(LatticeId(1), Slot(0), &mut |words| assert_eq!(
                words,
                soup.words()
            ))
    );
    let started = Instant::now();
    drop(bench);
    assert!(
        started.elapsed() < Duration::from_secs(30),
        "what runs is abandoned"
    );
}
