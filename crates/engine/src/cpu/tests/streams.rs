//! Tests of streams with lattices: order, waits, and early downloads.

use std::ops::Range;

use super::*;

#[test]
fn a_wait_holds_a_stream_until_the_mark_is_passed() {
    let mut bench = Bench::new(2, "512x512");
    let [first, second] = bench.streams[..] else {
        unreachable!()
    };
    let event = bench.engine.create_event(DeviceId(0)).unwrap();
    let completions = bench.run([
        (first, advance("bits", FIRST, 200)),
        (first, Op::Record(event)),
        (second, Op::Wait(event)),
        (second, advance("bits", FIRST, 1)),
    ]);
    let spans = spans(&completions);
    assert!(spans[2].end >= spans[1].start && spans[3].start >= spans[0].end);
    let expected = bench.soups[0].clone();
    let mut single = Bench::new(1, "512x512");
    assert_eq!(single.soups[0], expected);
    single.run([(single.streams[0], advance("bits", FIRST, 201))]);
    assert_eq!(bench.lattice(FIRST), single.lattice(FIRST));
}

#[test]
fn a_downloaded_picture_does_not_wait_for_the_run() {
    let mut bench = Bench::new(2, "64x64");
    let [first, second] = bench.streams[..] else {
        unreachable!()
    };
    let endless = Op::Advance {
        kernel: find("bits").unwrap(),
        lattices: 0..1,
        rule: Rule::LIFE,
        generations: u32::MAX,
        block: (32, 8),
    };
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
