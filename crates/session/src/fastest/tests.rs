//! What is chosen, and that requests are respected.

use std::collections::BTreeMap;
use std::fs;

use super::*;
use engine::kernels::find;
use serde_json::Value;

fn gpu() -> DeviceInfo {
    DeviceInfo {
        name: "an H200".into(),
        driver: "CUDA driver 13.0, sm_90".into(),
        capability: Some((9, 0)),
        sm_count: 132,
        memory: Some(141 << 30),
        cache: Some(50 << 20),
        bandwidth: Some(4_800_000_000_000),
        copy_engines: 2,
        kernel_time_limit: false,
        pci_bus_id: None,
    }
}

fn cpu() -> DeviceInfo {
    DeviceInfo {
        capability: None,
        sm_count: 8,
        ..gpu()
    }
}

fn work(devices: &[DeviceInfo], instances: usize, width: u64, height: u64) -> Work<'_> {
    Work {
        devices,
        size: Size::new(width, height).unwrap(),
        instances,
        bands: 1,
        pictures: false,
        generations: None,
    }
}

fn setting(kernel: &str, streams: Streams, graphs: bool) -> Setting {
    Setting {
        kernel: find(kernel).unwrap(),
        switches: Switches {
            streams,
            graphs,
            ..Switches::DEFAULT
        },
        own_round: None,
    }
}

#[track_caller]
fn plan(work: &Work, requested: &Requested) -> FastestPlan {
    FastestPlan::all(work, requested).swap_remove(0)
}

/// The works of a recording with the rates of kernels, in cells per second.
fn recorded(file: &str) -> BTreeMap<(usize, u64, u64), Vec<(String, f64)>> {
    let path = format!(
        "{}/../../assets/bench/{file}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let all: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut works: BTreeMap<_, Vec<(String, f64)>> = BTreeMap::new();
    let tables = all["tables"].as_array().unwrap().iter();
    for table in tables.filter(|table| table["name"] == "default") {
        for row in table["rows"].as_array().unwrap() {
            // Such as: 16 × 1000 × 600, `chosen …` / `best other …`: no switches
            let what = row["what"].as_str().unwrap();
            let (work, settings) = what.split_once(", `").unwrap();
            let (settings, which) = settings.split_once("`: ").unwrap();
            let [chosen, other] = settings.split_once("` / `").unwrap().into();
            let setting = match which {
                "no switches" => chosen,
                "best other switches" => other,
                _ => continue,
            };
            let kernel = setting.split(' ').next().unwrap();
            let mut sides = work.split(',').next().unwrap().split(" × ");
            let mut side = || Some(sides.next()?.trim_end_matches('²').parse().unwrap());
            let (instances, width) = (side().unwrap(), side().unwrap());
            let work = (instances as usize, width, side().unwrap_or(width));
            // Another rule is another work.
            if !what.contains("B36/S23") {
                let rate = row["median"].as_f64().unwrap();
                works.entry(work).or_default().push((kernel.into(), rate));
            }
        }
    }
    for rate in all["ladder"]["rates"].as_array().unwrap() {
        if rate["rule"] == "B3/S23" {
            let side = rate["work"]["side"].as_u64().unwrap();
            let instances = rate["work"]["instances"].as_u64().unwrap() as usize;
            let kernel = rate["kernel"].as_str().unwrap().to_owned();
            let rates = works.entry((instances, side, side)).or_default();
            rates.push((kernel, rate["median"].as_f64().unwrap()));
        }
    }
    works
}

/// Recordings that are older than `deep` say nothing of it.
#[test]
fn the_table_is_near_the_best_of_every_recorded_work() {
    let devices = [gpu()];
    let mut compared = 0;
    for file in ["nvidia-h100-80gb-hbm3", "nvidia-h200"] {
        for ((instances, width, height), rates) in recorded(file) {
            let work = work(&devices, instances, width, height);
            let kernel = plan(&work, &Requested::NOTHING).setting.kernel.name;
            let best = rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
            let of_it = rates.iter().filter(|(name, _)| name == kernel);
            let what = format!("{file}: {instances} × {width} × {height}, {kernel}");
            match of_it.map(|(_, rate)| rate / best).reduce(f64::max) {
                None => assert_eq!(kernel, "deep", "{what}"),
                Some(share) => {
                    println!("{what}: {:.1} % of the best", 100.0 * share);
                    assert!(share >= 0.95, "{what}: {share} of {rates:?}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= 36, "{compared}");
}

/// What was measured and is in no recording.
#[test]
fn the_table_knows_what_suits_a_gpu() {
    use Streams::{Batch, PerInstance};
    let devices = [gpu()];
    for (instances, width, height, kernel, streams, graphs) in [
        (1, 65_536, 65_536, "deep", PerInstance, true),
        (1, 32_768, 32_768, "deep", PerInstance, true),
        (1, 16_384, 16_384, "deep", PerInstance, true),
        (4, 5000, 3000, "deep", Batch, true),
        (256, 2048, 2048, "deep", Batch, true),
        (16, 1024, 1024, "cooperative", Batch, false),
        (16, 100, 1000, "bits", PerInstance, true),
        (1056, 256, 256, "resident", Batch, false),
        (1, 32, 32, "resident", PerInstance, false),
    ] {
        let work = work(&devices, instances, width, height);
        let plan = plan(&work, &Requested::NOTHING);
        let want = setting(kernel, streams, graphs);
        assert_eq!(plan.setting, want, "{instances} × {width} × {height}");
        assert_eq!(plan.kernel_choice(), KernelChoice::Estimated);
    }
}

#[test]
fn a_graph_is_prepared_only_where_that_pays() {
    let devices = [gpu()];
    for (generations, graphs) in [(12, false), (1000, false), (1 << 30, true)] {
        let work = Work {
            generations: Some(generations),
            ..work(&devices, 1, 16_384, 16_384)
        };
        let plan = plan(&work, &Requested::NOTHING);
        assert_eq!(plan.setting.switches.graphs, graphs, "{generations}");
    }
}

/// A window's rounds have few generations, and the pictures of all but bits must be packed.
#[test]
fn short_rounds_with_pictures_stay_in_bits() {
    let devices = [gpu()];
    let of_window = |generations| {
        let work = Work {
            pictures: true,
            ..work(&devices, 16, 1024, 1024)
        };
        let requested = Requested::all_but_the_kernel(
            &setting("bits", Streams::PerInstance, false),
            generations,
        );
        plan(&work, &requested).setting.kernel.name
    };
    assert_eq!(of_window(1), "bits");
    assert_eq!(of_window(64), "cooperative");
}

/// On a CPU: planar words wherever a row is wide enough for them, and every thread.
#[test]
fn the_table_knows_what_suits_a_cpu() {
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
        let candidate = plan(&work, &Requested::NOTHING).setting;
        let what = format!("{instances} × {width}x{height}: {candidate:?}");
        assert_eq!(candidate.kernel.layout, layout, "{what}");
        assert_eq!(candidate.switches.streams, Streams::PerInstance, "{what}");
    }
}

/// Measured on a server's CPU: large lattices are stepped in tiles, others stay where they are.
#[test]
fn large_lattices_are_stepped_in_tiles_on_a_cpu() {
    let devices = [cpu()];
    for (instances, width, height, kernel) in [
        (1, 16_384, 16_384, "multistep"),
        (1, 5000, 3000, "multistep"),
        (4, 4096, 4096, "multistep"),
        (1, 2048, 2048, "multistep"),
        (16, 1024, 1024, "cooperative"),
        (1000, 100, 100, "resident"),
    ] {
        let work = work(&devices, instances, width, height);
        let plan = plan(&work, &Requested::NOTHING);
        assert_eq!(
            plan.setting.kernel.name, kernel,
            "{instances} × {width}x{height}"
        );
    }
}

#[test]
fn what_is_requested_is_respected_and_the_rest_is_chosen() {
    let devices = [gpu()];
    let work = work(&devices, 16, 1024, 1024);
    let with = |change: fn(&mut Requested)| {
        let mut requested = Requested::NOTHING;
        change(&mut requested);
        requested
    };
    let of_kernel = with(|it| it.kernel = find("bits"));
    let chosen = plan(&work, &of_kernel);
    assert_eq!(Some(chosen.setting.kernel), of_kernel.kernel);
    assert_eq!(chosen.kernel_choice(), KernelChoice::Explicit);
    for requested in [
        with(|it| it.streams = Some(Streams::One)),
        with(|it| it.streams = Some(Streams::Batch)),
        with(|it| it.streams = Some(Streams::Default)),
        with(|it| it.graphs = Some(true)),
        with(|it| (it.graphs, it.kernel) = (Some(false), find("bits"))),
        with(|it| it.generations = Some(3)),
        with(|it| it.switches.block = Some((16, 16))),
        with(|it| it.switches.wait = crate::Wait::Each),
    ] {
        let all = candidates(&work, &requested);
        assert!(!all.is_empty(), "{requested:?}");
        for one in all.into_iter().chain([plan(&work, &requested).setting]) {
            let switches = one.switches;
            assert!(requested.kernel.is_none_or(|kernel| kernel == one.kernel));
            assert!(
                requested
                    .streams
                    .is_none_or(|streams| streams == switches.streams)
            );
            assert!(
                requested
                    .graphs
                    .is_none_or(|graphs| graphs == switches.graphs)
            );
            assert_eq!(switches.block, requested.switches.block);
            assert_eq!(switches.wait, requested.switches.wait);
            assert_eq!(switches.incompatibility(one.kernel), None, "{one:?}");
        }
        let rounds = plan(&work, &requested).rounds(Duration::from_millis(75));
        if let Some(generations) = requested.generations {
            let mut rounds = rounds;
            rounds.learn(3, Duration::from_secs(9));
            assert_eq!(rounds.generations(), generations);
        }
    }
}

#[test]
fn candidates_take_the_lattices_and_suit_the_device() {
    let gpus = [gpu()];
    let small = [DeviceInfo {
        sm_count: 1,
        ..gpu()
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
    assert!(on_cpu.iter().all(|one| !one.switches.graphs) && !on_cpu.is_empty());
    // So many streams would take longer to create than to use.
    let many = candidates(&work(&gpus, 1056, 128, 128), &Requested::NOTHING);
    assert!(
        many.iter()
            .all(|one| one.switches.streams != Streams::PerInstance)
    );
}

#[test]
fn rounds_come_to_take_the_time_they_should() {
    let devices = [gpu()];
    let target = Duration::from_millis(75);
    for (instances, side) in [(1, 65_536), (16, 1024), (1056, 128), (100, 96), (1, 1000)] {
        let work = work(&devices, instances, side, side);
        for plan in FastestPlan::all(&work, &Requested::NOTHING) {
            let candidate = &plan.setting;
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
                let is_one_graph = !candidate.switches.graphs
                    || generations == per_launch
                    || !candidate.kernel.swaps_buffers(generations);
                assert!(is_one_graph, "{what}");
            }
        }
    }
}

#[test]
fn instances_are_counted_on_each_device() {
    let devices = [gpu(), gpu()];
    let [both, one] = [(&devices[..], 32), (&devices[..1], 16)].map(|(devices, instances)| {
        plan(&work(devices, instances, 1024, 1024), &Requested::NOTHING)
    });
    assert_eq!(both.setting, one.setting);
}
