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

/// What suits works on a device, where a round has so many generations, what is chosen first: as measured, where no recording has it. A window's rounds have few generations, and the pictures of all but
/// bits must be packed. A CPU has no graphs to gain from; it steps planar words wherever a row is wide enough
/// for them, and large lattices in tiles. A graph is prepared only where that pays, an i32 per cell is left
/// out where it would fill the memory, instances are counted on each device, and so many streams as 1056
/// would take longer to create than to use.
const CHOSEN: &str = include_str!("chosen.txt");

#[test]
fn the_table_knows_what_suits_a_device() {
    let (gpus, cpus) = ([gpu(), gpu()], [cpu()]);
    let small = [DeviceInfo {
        sm_count: 1,
        ..gpu()
    }];
    let row = |row: &str| {
        let (what, _) = row.split_once(": ").unwrap();
        let (of, count) = what.split_once(", ").unwrap_or((what, "0"));
        let count: u64 = count.split(' ').next().unwrap().parse().unwrap();
        let [size, instances, device] = of.rsplitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let devices = match device {
            "cpu" => &cpus[..],
            "small" => &small,
            "2 gpus" => &gpus,
            _ => &gpus[..1],
        };
        let (size, is_window): (Size, _) = (size.parse().unwrap(), device == "window");
        let work = Work {
            generations: (!is_window && count > 0).then_some(count),
            ..work(
                devices,
                instances.parse().unwrap(),
                size.width.into(),
                size.height.into(),
            )
        };
        let now = setting("bits", Streams::PerInstance, false);
        let requested = if is_window {
            Requested::all_but_the_kernel(&now, count as u32)
        } else {
            Requested::NOTHING
        };
        let all = candidates(&work, &requested).into_iter().map(
            |Setting {
                 kernel, switches, ..
             }| {
                let graphs = if switches.graphs { " graphs" } else { "" };
                format!("{} {}{graphs}", kernel.name, switches.streams)
            },
        );
        format!("{what}: {}\n", all.collect::<Vec<_>>().join(", "))
    };
    let found: String = CHOSEN.lines().map(row).collect();
    assert!(found == CHOSEN, "{found}");
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
    assert_eq!(chosen.kernel_choice, KernelChoice::Explicit);
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
            let is_respected = requested.kernel.is_none_or(|it| it == one.kernel)
                && requested.streams.is_none_or(|it| it == switches.streams)
                && requested.graphs.is_none_or(|it| it == switches.graphs)
                && switches.block == requested.switches.block
                && switches.wait == requested.switches.wait;
            assert!(is_respected, "{requested:?}: {one:?}");
            assert_eq!(switches.incompatibility(one.kernel), None, "{one:?}");
        }
        let mut rounds = plan(&work, &requested).rounds(Duration::from_millis(75));
        if let Some(generations) = requested.generations {
            rounds.learn(3, Duration::from_secs(9));
            assert_eq!(rounds.generations(), generations);
        }
    }
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
