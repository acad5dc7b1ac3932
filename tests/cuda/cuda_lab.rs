//! What only the CUDA engine has: copies that block a call, block timestamps, occupancy, functions that are
//! compiled in the background, several GPUs.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use engine::cuda::{CudaEngine, Ordinals};
use engine::kernels::{self, Batch};
use engine::{
    DeviceId, Engine, IssuerId, LatticeId, LatticeOp, Layout, Op, Program, StreamKind, StreamSpec,
    Transfer,
};
use life::{Rule, reference};

use crate::ops::{
    D0, Variable, advance, advance_by, alone, arm, download, in_some_try, on_cpu, on_cuda, program,
};

const MS: Duration = Duration::from_millis(1);

/// How far the clocks that are brought together may be apart where the host is held up between
/// two readings; wrong units or epochs are farther.
const SLACK: i64 = 500_000_000;

#[test]
fn a_download_to_pageable_memory_blocks_its_call() {
    on_cuda(|lab| {
        let soups = lab.soups(2, "45x23");
        in_some_try(|times| {
            let ops = [0, 1, 2].map(|slot| {
                [
                    lab.spin(100 * times * MS),
                    download(0..1, slot, Transfer::Bits),
                ]
            });
            let ran = lab.run(&soups.program(ops.into_iter().flatten()));
            assert_eq!(ran.downloads, 3);
            let took =
                [1, 3, 5].map(|step| ran.host(step).length().0 > (50_000_000 * times).into());
            (took == [false, true, false], took)
        });
        for slot in 0..3 {
            assert_eq!(soups.read(0, slot), soups.starts[0].words(), "slot {slot}");
        }
    });
}

#[test]
fn a_replay_is_reported_though_a_poll_failed_meanwhile() {
    on_cuda(|lab| {
        let soups = lab.soups(1, "45x23");
        let steps = soups.program([download(0..1, 0, Transfer::Bits)]);
        let prepared = lab.engine.prepare(&steps).unwrap();
        lab.engine.replay(prepared).unwrap();
        arm(c"cuEventQuery:400:0:1");
        let failed = lab.engine.poll(&mut Vec::new()).unwrap_err();
        assert!(!failed.loses_lattices(), "{failed}");
        assert_eq!(lab.finish().downloads, 1);
        assert_eq!(soups.read(0, 0), soups.starts[0].words());
    });
}

#[test]
fn blocks_say_when_and_where_they_ran() {
    on_cuda(|lab| {
        let soups = lab.soups(3, "45x23");
        lab.engine.reserve(Layout::I32).unwrap();
        let [free] = lab.streams();
        let (elsewhere, there) = lab.elsewhere(StreamKind::NonBlocking, 2 * MS);
        let sm_count = lab.engine.devices()[0].sm_count;
        let blocks = |kernel: &str, size: &str| {
            let kernel = kernels::find(kernel).unwrap();
            let (size, batch) = (size.parse().unwrap(), Batch::of(1, 1));
            let grid = kernel.launch(size, kernel.block(), batch, sm_count).grid;
            grid.iter().product::<u32>() as usize
        };
        let mut steps = soups.program([
            advance("bits", 0..2, 3),
            Op::unpack(0..1, Layout::I32),
            advance("sync-global", 0..1, 50),
            advance("global", 0..1, 100), // 64 launches an op at most are recorded
            LatticeOp::Pack.on(0..1),
            download(0..1, 0, Transfer::Bits),
        ]);
        steps.push_from(IssuerId(1), free, lab.spin(10 * MS));
        steps.push_from(IssuerId(2), elsewhere, there);
        steps.block_timestamps = true;
        for last in [153, 306] {
            let ran = lab.run(&steps);
            let of = |step: u32| {
                ran.block_timestamps
                    .iter()
                    .filter(move |it| it.step == step)
            };
            let counts = [0, 1, 2, 3, 4, 5, 6, 7].map(|step| of(step).count());
            let (bits, global) = (blocks("bits", "45x23"), blocks("global", "45x23"));
            assert!(global > 1);
            assert_eq!(counts, [6 * bits, 0, 1, 64 * global, 0, 0, 1, 1]);
            for stamp in &ran.block_timestamps {
                let span = ran.span(stamp.step);
                let inside =
                    stamp.start.0 > span.start.0 - SLACK && stamp.end.0 < span.end.0 + SLACK;
                assert!(stamp.start <= stamp.end && inside, "{stamp:?} in {span:?}");
            }
            assert!(of(6).all(|stamp| stamp.end.0 - stamp.start.0 >= 10_000_000));
            let want = reference::run(&soups.starts[0], Rule::LIFE, last);
            assert_eq!(soups.read(0, 0), want.words(), "they changed the cells");
            // The program begins with the layout that it ended in.
            lab.run(&soups.program([Op::unpack(0..1, Layout::Bits)]));
        }
        steps.block_timestamps = false;
        assert!(lab.run(&steps).block_timestamps.is_empty());
        // A batch is one launch, unless not all of its lattices are in the same of two buffers.
        lab.engine.clear().unwrap();
        let soups = lab.soups(3, "128x128");
        lab.engine.reserve(Layout::Planar).unwrap();
        let mut steps = soups.program([
            Op::unpack(0..3, Layout::Planar),
            advance("resident", 0..3, 7),
            advance("multistep", 1..2, 9), // three launches, into the other buffer
            advance("resident", 0..3, 2),
        ]);
        steps.block_timestamps = true;
        let ran = lab.run(&steps);
        let of = |step| {
            ran.block_timestamps
                .iter()
                .filter(|it| it.step == step)
                .count()
        };
        assert_eq!(
            [1, 2, 3].map(of),
            [3, 3 * blocks("multistep", "128x128"), 3]
        );
    });
}

#[test]
fn occupancy_is_what_the_driver_says() {
    on_cuda(|lab| {
        let soups = lab.soups(1, "45x23");
        lab.engine.reserve(Layout::I32).unwrap();
        lab.run(&soups.program([Op::unpack(0..1, Layout::I32)]));
        // A kernel that packs has a thread per cell, as the one that steps.
        for (op, blocks, block_threads, blocks_per_sm) in [
            (advance("global", 0..1, 1), 6, 256, 8),
            (LatticeOp::Pack.on(0..1), 6, 256, 8),
            (lab.spin(MS), 1, 1, 32),
        ] {
            let it = lab.engine.occupancy(D0, &op).unwrap().unwrap();
            let found = (it.blocks, it.block_threads, it.blocks_per_sm);
            assert_eq!(found, (blocks, block_threads, blocks_per_sm), "{op:?}");
            assert_eq!((it.sm_count, it.max_threads_per_sm), (4, 2048));
        }
        let measure = LatticeOp::Measure.on(0..1);
        assert_eq!(lab.engine.occupancy(D0, &measure).unwrap(), None);
    });
}

/// The CPU engine's stamps are of whole ops: which worker did them, and when.
#[test]
fn stamps_say_which_worker_did_a_kernel_and_when() {
    let mut lab = on_cpu(2);
    let soups = lab.soups(2, "64x64");
    let ops = [
        advance("bits", 0..1, 40),
        LatticeOp::Pack.on(0..1),
        download(0..1, 0, Transfer::Bits),
        advance("bits", 1..2, 40),
    ];
    for (timed, block_timestamps) in [(true, true), (false, true), (true, false)] {
        let steps = Program {
            timed,
            block_timestamps,
            ..soups.program(ops.clone())
        };
        let ran = lab.run(&steps);
        let which: Vec<u32> = ran
            .block_timestamps
            .iter()
            .map(|stamp| stamp.step)
            .collect();
        assert_eq!(
            which,
            if block_timestamps {
                vec![0, 1, 3]
            } else {
                vec![]
            }
        );
        assert_eq!(ran.spans.len(), if timed { 4 } else { 0 });
        for stamp in &ran.block_timestamps {
            let is_whole = || {
                ran.span(stamp.step).start == stamp.start && ran.span(stamp.step).end == stamp.end
            };
            assert!(stamp.sm < 2 && (!timed || is_whole()));
        }
    }
}

// A rule's function is compiled in the background.

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

/// Each of a GPU's launches waits for those of the others.
#[test]
fn no_gpu_waits_until_another_is_issued_its_work() {
    const GPUS: u16 = 3;
    let _alone = alone();
    let _kernels = Variable::set("FAKE_CUDA_DRY", "1");
    let _devices = Variable::set("FAKE_CUDA_DEVICES", &GPUS.to_string());
    let mut engine = CudaEngine::open(Ordinals::All).unwrap();
    let mut steps = Vec::new();
    for lattice in (0..12).map(LatticeId) {
        let device = DeviceId(lattice.0 as u16 % GPUS);
        let size = "32x8".parse().unwrap();
        engine.create_lattices(device, 1, size).unwrap();
        let stream = engine.create_stream(device, StreamSpec::PLAIN).unwrap();
        steps.push((stream, advance("bits", lattice.as_range(), 64)));
    }
    let program = program(steps);
    engine.load(&program).unwrap();
    let _meeting = Variable::set("FAKE_CUDA_MEET", &GPUS.to_string());
    engine.submit(&program).unwrap();
    engine.synchronize().unwrap();
}
