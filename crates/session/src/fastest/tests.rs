//! What is chosen: from the table, by timings, by the estimate; and that requests are respected.

use super::*;
use engine::kernels::find;

const H200: &str = "NVIDIA H200";

fn gpu(name: &str) -> DeviceInfo {
    DeviceInfo {
        name: name.into(),
        driver: "CUDA driver 13.0, sm_90".into(),
        capability: Some((9, 0)),
        sm_count: 132,
        memory: Some(141 << 30),
        cache: Some(50 << 20),
        copy_engines: 2,
        kernel_time_limit: false,
        pci_bus_id: None,
    }
}

fn cpu() -> DeviceInfo {
    DeviceInfo {
        capability: None,
        sm_count: 8,
        ..gpu("some CPU")
    }
}

fn work(devices: &[DeviceInfo], instances: usize, width: u64, height: u64) -> Work<'_> {
    Work {
        devices,
        size: Size::new(width, height).unwrap(),
        instances,
        rule: Rule::LIFE,
        pictures: false,
    }
}

fn candidate(kernel: &str, streams: Streams, graphs: bool) -> Candidate {
    Candidate {
        kernel: find(kernel).unwrap(),
        streams,
        graphs,
    }
}

/// A table with one run: `cooperative` in a batch before `bits` in graphs.
fn table() -> PickTable {
    let recorded = |kernel: &str, streams, graphs, cells_per_second| RecordedCandidate {
        kernel: kernel.into(),
        streams,
        graphs,
        cells_per_second,
    };
    PickTable {
        devices: vec![DevicePicks {
            device: H200.into(),
            commit: String::new(),
            works: vec![RecordedRounds {
                cells: 1 << 20,
                instances: 16,
                generations: 1,
                kernels: vec!["bits".into(), "cooperative".into()],
            }],
            runs: vec![RecordedRun {
                width: 1024,
                height: 1024,
                instances: 16,
                is_life: true,
                fastest: vec![
                    recorded("cooperative", Streams::Batch, false, 28e12),
                    recorded("bits", Streams::PerInstance, true, 5.6e12),
                ],
            }],
        }],
    }
}

#[track_caller]
fn plan(work: &Work, requested: &Requested, timed: &[Timed]) -> FastestPlan {
    FastestPlan::of(work, requested, &table(), timed).expect("a plan")
}

#[test]
fn a_recorded_run_is_taken_with_its_submission_and_its_rate() {
    let devices = [gpu(H200)];
    let plan = plan(&work(&devices, 16, 1024, 1024), &Requested::NOTHING, &[]);
    assert_eq!(
        plan.candidate,
        candidate("cooperative", Streams::Batch, false)
    );
    assert_eq!(plan.basis, Basis::Recorded);
    assert_eq!(plan.kernel_choice(), KernelChoice::Recorded);
    assert_eq!(plan.switches.streams, Streams::Batch);
    let rate = plan.generations_per_second.unwrap();
    assert!((rate - 28e12 / f64::from(16 << 20)).abs() < 1.0, "{rate}");
    assert!(!plan.is_worth_timing(u64::MAX));
    // 28 T cells per second are 1.67 million generations per second: 75 ms of them.
    let rounds = plan.rounds(Duration::from_millis(75)).generations();
    assert_eq!(rounds, (rate * 0.075) as u32);
}

#[test]
fn near_work_takes_the_fastest_recorded_kernel_that_takes_it() {
    let devices = [gpu(H200)];
    for (instances, width, height, kernel) in [
        (8, 1024, 1024, "cooperative"),
        (16, 1000, 1000, "cooperative"),
        (16, 1000, 600, "cooperative"),
        (16, 5200, 200, "bits"), // too wide for the other
    ] {
        let work = work(&devices, instances, width, height);
        let plan = plan(&work, &Requested::NOTHING, &[]);
        let what = format!("{instances} × {width} × {height}");
        assert_eq!(plan.candidate.kernel.name, kernel, "{what}");
        assert_eq!(plan.basis, Basis::Recorded, "{what}");
    }
}

#[test]
fn work_that_is_not_in_the_table_is_estimated_and_then_timed() {
    let [h200, unknown] = [[gpu(H200)], [gpu("another GPU")]];
    let highlife = "B36/S23".parse::<Rule>().unwrap();
    for work in [
        work(&h200, 1056, 128, 128), // far from what was recorded
        work(&unknown, 16, 1024, 1024),
        Work {
            rule: highlife,
            ..work(&h200, 16, 1024, 1024)
        },
    ] {
        let estimated = plan(&work, &Requested::NOTHING, &[]);
        assert_eq!(estimated.basis, Basis::Estimated, "{work:?}");
        assert!(estimated.is_worth_timing(1 << 40), "{work:?}");
        assert!(!estimated.is_worth_timing(1), "{work:?}");
        let timed = [
            (1e5, "bits", true),
            (2e5, "planar", true),
            (1.5e5, "planar", false),
        ];
        let timed = timed.map(|(generations_per_second, kernel, graphs)| Timed {
            candidate: candidate(kernel, Streams::PerInstance, graphs),
            generations_per_second,
        });
        let plan = plan(&work, &Requested::NOTHING, &timed);
        assert_eq!(plan.candidate, timed[1].candidate, "{work:?}");
        assert_eq!(plan.basis, Basis::Timed(2), "{work:?}");
        assert_eq!(plan.kernel_choice(), KernelChoice::Benchmarked(2));
    }
}

/// On a GPU like an H200, the estimate alone finds what was measured to be the fastest there.
#[test]
fn the_estimate_knows_what_suits_a_gpu() {
    let devices = [gpu("another GPU")];
    for (instances, side, kernel, streams) in [
        (1, 65_536, "multistep", Streams::PerInstance),
        (16, 1024, "cooperative", Streams::Batch),
        (1056, 128, "resident", Streams::Batch),
        (256, 256, "cooperative", Streams::Batch),
        (64, 512, "cooperative", Streams::Batch),
        (16, 128, "cooperative", Streams::Batch),
    ] {
        let work = work(&devices, instances, side, side);
        let plan = FastestPlan::of(&work, &Requested::NOTHING, &PickTable::default(), &[]);
        let plan = plan.expect("a plan");
        let want = candidate(kernel, streams, false);
        assert_eq!(plan.candidate, want, "{instances} × {side}²");
    }
}

/// On a CPU, too: planar words wherever a row is wide enough for them, and every thread.
#[test]
fn the_estimate_knows_what_suits_a_cpu() {
    let devices = [cpu()];
    for (instances, width, height, layout) in [
        (1, 4096, 4096, Layout::Planar),
        (16, 1000, 600, Layout::Planar),
        (100, 100, 100, Layout::Planar),
        (16, 63, 57, Layout::Planar),
        (16, 31, 57, Layout::Bits),
        (4, 5, 1000, Layout::Bits),
    ] {
        let work = work(&devices, instances, width, height);
        let plan = FastestPlan::of(&work, &Requested::NOTHING, &PickTable::default(), &[]);
        let candidate = plan.expect("a plan").candidate;
        let what = format!("{instances} × {width}x{height}: {candidate:?}");
        assert_eq!(candidate.kernel.layout, layout, "{what}");
        assert_eq!(candidate.streams, Streams::PerInstance, "{what}");
    }
}

#[test]
fn what_is_requested_is_respected_and_the_rest_is_chosen() {
    let devices = [gpu(H200)];
    let work = work(&devices, 16, 1024, 1024);
    let nothing = Requested::NOTHING;
    let bits = find("bits");
    let of_kernel = Requested {
        kernel: bits,
        ..nothing
    };
    let chosen = plan(&work, &of_kernel, &[]);
    let recorded = candidate("bits", Streams::PerInstance, true);
    assert_eq!(
        (chosen.candidate, chosen.basis),
        (recorded, Basis::Recorded)
    );
    assert_eq!(chosen.kernel_choice(), KernelChoice::Explicit);
    for requested in [
        Requested {
            streams: Some(Streams::One),
            ..nothing
        },
        Requested {
            streams: Some(Streams::Batch),
            ..nothing
        },
        Requested {
            streams: Some(Streams::Default),
            ..nothing
        },
        Requested {
            graphs: Some(true),
            ..nothing
        },
        Requested {
            graphs: Some(false),
            kernel: bits,
            ..nothing
        },
        Requested {
            generations: Some(3),
            ..nothing
        },
        Requested {
            switches: Switches {
                block: Some((16, 16)),
                ..Switches::DEFAULT
            },
            ..nothing
        },
        Requested {
            switches: Switches {
                wait: model::Wait::Each,
                ..Switches::DEFAULT
            },
            ..nothing
        },
    ] {
        let all = candidates(&work, &requested);
        assert!(!all.is_empty(), "{requested:?}");
        for one in all
            .iter()
            .copied()
            .chain([plan(&work, &requested, &[]).candidate])
        {
            let switches = requested.switches_of(one);
            assert!(requested.kernel.is_none_or(|kernel| kernel == one.kernel));
            assert!(
                requested
                    .streams
                    .is_none_or(|streams| streams == one.streams)
            );
            assert!(requested.graphs.is_none_or(|graphs| graphs == one.graphs));
            assert_eq!(switches.block, requested.switches.block);
            assert_eq!(switches.wait, requested.switches.wait);
            assert_eq!(switches.incompatibility(one.kernel), None, "{one:?}");
        }
        let rounds = plan(&work, &requested, &[]).rounds(Duration::from_millis(75));
        if let Some(generations) = requested.generations {
            let mut rounds = rounds;
            rounds.learn(3, Duration::from_secs(9));
            assert_eq!(rounds.generations(), generations);
        }
    }
}

#[test]
fn a_window_s_rounds_have_rows_of_their_own() {
    let devices = [gpu(H200)];
    let work = Work {
        pictures: true,
        ..work(&devices, 16, 1024, 1024)
    };
    let requested = Requested::all_but_the_kernel(Switches::DEFAULT, 1);
    let known = plan(&work, &requested, &[]);
    assert_eq!(
        known.candidate,
        candidate("bits", Streams::PerInstance, false)
    );
    assert_eq!(known.basis, Basis::Recorded);
    // With switches of which nothing was recorded, it is timed.
    let graphs = Switches {
        graphs: true,
        ..Switches::DEFAULT
    };
    let requested = Requested::all_but_the_kernel(graphs, 1);
    assert_eq!(plan(&work, &requested, &[]).basis, Basis::Estimated);
}

#[test]
fn candidates_take_the_lattices_and_suit_the_device() {
    let gpus = [gpu(H200)];
    let small = [DeviceInfo {
        sm_count: 1,
        ..gpu("small")
    }];
    let cpus = [cpu()];
    let names = |work: &Work| {
        let all = candidates(work, &Requested::NOTHING);
        all.iter().map(|one| one.kernel.name).collect::<Vec<_>>()
    };
    assert!(names(&work(&gpus, 16, 1024, 1024)).contains(&"cooperative"));
    assert!(!names(&work(&small, 16, 1024, 1024)).contains(&"cooperative"));
    // An i32 per cell is left out where it would fill the memory.
    let large = names(&work(&gpus, 1, 16_384, 16_384));
    assert!(
        large
            .iter()
            .all(|name| find(name).unwrap().layout != Layout::I32)
    );
    assert!(names(&work(&gpus, 1, 100, 100)).contains(&"sync-shared"));
    // The CPU has no graphs to gain from.
    let on_cpu = candidates(&work(&cpus, 16, 1024, 1024), &Requested::NOTHING);
    assert!(on_cpu.iter().all(|one| !one.graphs) && !on_cpu.is_empty());
    // So many streams would take longer to create than to use.
    let many = candidates(&work(&gpus, 1056, 128, 128), &Requested::NOTHING);
    assert!(many.iter().all(|one| one.streams != Streams::PerInstance));
}

#[test]
fn rounds_come_to_take_the_time_they_should() {
    let devices = [gpu("another GPU"), gpu("another GPU")];
    let target = Duration::from_millis(75);
    for (instances, side) in [(1, 65_536), (16, 1024), (1056, 128), (100, 96), (1, 1000)] {
        let work = work(&devices[..1], instances, side, side);
        for candidate in candidates(&work, &Requested::NOTHING) {
            let timed = [Timed {
                candidate,
                generations_per_second: 40.0,
            }];
            let table = PickTable::default();
            let plan = FastestPlan::of(&work, &Requested::NOTHING, &table, &timed).unwrap();
            for per_second in [1.0, 1e3, 1e6] {
                let mut rounds = plan.rounds(target);
                for _ in 0..20 {
                    let generations = rounds.generations();
                    let took = f64::from(generations) / per_second;
                    rounds.learn(generations, Duration::from_secs_f64(took));
                }
                let generations = rounds.generations();
                let seconds = f64::from(generations) / per_second;
                let launches = candidate.launches(generations, instances);
                let what = format!("{candidate:?}, {per_second}: {generations}");
                let per_launch = match candidate.kernel.iteration {
                    Iteration::InKernel => 1,
                    iteration => iteration.generations_per_launch(),
                };
                assert!(generations.is_multiple_of(per_launch), "{what}");
                let is_least = generations <= 2 * per_launch;
                let is_most = launches >= 256;
                assert!(seconds < 0.151 || is_least, "{what}");
                assert!(seconds > 0.02 || is_most, "{what}");
                assert!(launches <= 1 << 14, "{what}");
                let is_one_graph = !candidate.graphs
                    || generations == per_launch
                    || !candidate.kernel.swaps_buffers(generations);
                assert!(is_one_graph, "{what}");
            }
        }
    }
}

#[test]
fn instances_are_counted_on_each_device() {
    let devices = [gpu(H200), gpu(H200)];
    let both = plan(&work(&devices, 32, 1024, 1024), &Requested::NOTHING, &[]);
    assert_eq!(both.basis, Basis::Recorded, "as 16 on one");
    let unlike = [gpu(H200), gpu("another GPU")];
    let unlike = plan(&work(&unlike, 32, 1024, 1024), &Requested::NOTHING, &[]);
    assert_eq!(unlike.basis, Basis::Estimated);
}
