//! What the worker's random histories do not reach: plans that cannot be entered, results that are streamed,
//! the streams of a timed round.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use super::*;
use crate::scripted_engine::{Call, Fault, Script};
use crate::trace::TimedRound;
use crate::{Order, OwnRound, Split, Streams};
use engine::kernels;
use life::{Lattice, reference};

fn setup(instances: usize, kernel: &str) -> Setup {
    let kernel = kernels::find(kernel).unwrap();
    Setup {
        start: Start::soup(0.4, 3),
        ..Setup::new(
            instances,
            Size::new(70, 20).unwrap(),
            kernel,
            DeviceChoice::Cpu,
        )
    }
}

/// An engine that can be told to fail, with several devices where lattices are split.
fn scripted(split: Split) -> (Arc<Script>, Box<dyn Engine>) {
    let script = Arc::new(Script::default());
    let choice = match split {
        Split::On => DeviceChoice::Cuda,
        Split::Auto | Split::Off => DeviceChoice::Cpu,
    };
    let engine = script.open(choice, false).unwrap();
    (script, engine)
}

/// A setup's lattices, this many generations later.
fn later(setup: &Setup, generations: u64) -> Vec<Lattice> {
    let start = |i| start_lattice(setup, i).unwrap();
    let later = |i| reference::run(&start(i), setup.rule, generations);
    (0..setup.instances).map(later).collect()
}

/// Lattices are bits before they have a start, whatever the layout of the kernel that is requested. A plan
/// that cannot be entered gives way to the next one, whatever it left behind.
#[test]
fn a_plan_is_entered_before_there_is_a_start_or_passed_over() {
    let entered = |name: &str, kernel, fault: Option<Fault>| {
        let mut setup = setup(2, name);
        let requested = Requested {
            kernel,
            ..Requested::NOTHING
        };
        let (script, engine) = scripted(Split::Auto);
        let mut sim = Sim::new(engine, &setup, 1).unwrap();
        if let Some(fault) = fault {
            script.fail(Call::Allocate, 0, fault);
        }
        let plan = sim.start_fastest(&mut setup, &requested, None, None);
        let share = sim.all(&plan.unwrap().setting, None);
        assert!(!script.has_faults(), "{fault:?}");
        sim.run(&share, 3, 3, None).unwrap();
        assert!(sim.fetch().unwrap() == later(&setup, 3), "{name}");
        setup.setting.kernel
    };
    for (name, other) in [("global", "bits"), ("bits", "planar"), ("planar", "planar")] {
        let kernel = kernels::find(other);
        assert_eq!(Some(entered(name, kernel, None)), kernel);
    }
    for fault in [Fault::OutOfMemory, Fault::Refused] {
        entered("global", None, Some(fault));
    }
}

/// A round of no generations would only download, and a run of such rounds never end.
#[test]
fn the_first_round_of_a_large_lattice_steps_a_generation() {
    let setup = setup(1, "bits");
    let sim = Sim::new(scripted(Split::Auto).1, &setup, 0).unwrap();
    let large = Sim {
        size: Size::new(65536, 65536).unwrap(),
        ..sim
    };
    assert_eq!(large.round_lengths(&setup.setting).generations(), 1);
}

/// Rows come in order, each once, however many at a time, and populations without a copy; rounds go
/// on afterwards.
#[test]
fn lattices_are_counted_and_streamed_without_a_slot_for_all_of_one() {
    for name in ["global", "bits", "planar"] {
        let mut setup = setup(3, name);
        let (script, engine) = scripted(Split::Auto);
        let mut sim = Sim::new(engine, &setup, 1).unwrap();
        sim.start(&mut setup, None).unwrap();
        let share = sim.all(&setup.setting, None);
        for (rows, generations) in [(1, 3), (7, 6), (20, 9)] {
            sim.run(&share, 3, 3, None).unwrap();
            let want = later(&setup, generations);
            let populations: Vec<u64> = want.iter().map(Lattice::population).collect();
            let mut results = sim.results_by(rows).unwrap();
            assert_eq!(results.populations().unwrap(), populations, "{name}");
            for (instance, lattice) in want.iter().enumerate() {
                let mut words = Vec::new();
                let take = |part: &[u32]| {
                    let left = lattice.words().len() - words.len();
                    assert_eq!(part.len(), left.min(3 * rows as usize));
                    words.extend_from_slice(part);
                    Ok(())
                };
                results.rows(instance, take).unwrap().unwrap();
                assert!(words == lattice.words(), "{name}: {rows} rows at a time");
            }
            // Whoever takes them may fail; where a device has no memory the host counts.
            let refuse = |_: &[u32]| Err(io::Error::other("full"));
            let refused = results.rows(1, refuse).unwrap();
            assert_eq!(refused.unwrap_err().to_string(), "full");
            script.fail(Call::Submit, 0, Fault::OutOfMemory);
            assert_eq!(results.populations().unwrap(), populations, "{name}");
            assert!(!script.has_faults());
        }
    }
}

#[test]
fn a_timed_own_round_numbers_its_streams_as_the_script_does() {
    let script = "for i in 0..N { advance(i, 0); record(i, 0); wait(i, 1); download(i, 1); }";
    // Each stream with the GPU that it is on, where there are several.
    for (split, gpus) in [
        (Split::Auto, vec![None]),
        (Split::On, [0, 1, 2].map(Some).into()),
    ] {
        let streams = gpus.into_iter().flat_map(|gpu| [(gpu, 0), (gpu, 1)]);
        let wanted: BTreeSet<_> = streams.collect();
        let mut setup = Setup {
            split,
            ..setup(3, "bits")
        };
        setup.setting.own_round = Some(Arc::new(OwnRound::new(script.into(), 3)));
        setup.setting.switches.order = Order::Own;
        let mut sim = Sim::new(scripted(split).1, &setup, 1).unwrap();
        let share = sim.all(&setup.setting, Some(PicturePlan::BITS));
        sim.start(&mut setup, share.picture).unwrap();
        let mut found = Vec::new();
        let mut take = |round: TimedRound| {
            let of_lattices = round.steps.iter().filter(|it| it.instance.is_some());
            let numbers = of_lattices.map(|it| (it.gpu, it.own_number.unwrap()));
            found.push(numbers.collect::<BTreeSet<_>>());
        };
        sim.run(&share, 2, 1, Some(&mut take)).unwrap();
        assert_eq!(found, [wanted.clone(), wanted]);
    }
}

/// A batch is one launch only while all its lattices are in the same one of their two buffers.
#[test]
fn a_lattice_that_is_set_stays_in_its_batch() {
    let mut setup = setup(3, "sync-global");
    setup.setting.switches.streams = Streams::Batch;
    let mut sim = Sim::new(scripted(Split::Auto).1, &setup, 1).unwrap();
    sim.start(&mut setup, None).unwrap();
    let share = sim.all(&setup.setting, None);
    sim.run(&share, 1, 1, None).unwrap();
    let cells = start_lattice(&setup, 1).unwrap();
    sim.set_lattices(vec![(1, cells)]).unwrap();
    sim.run(&share, 2, 1, None).unwrap();
    let parities = [0, 1, 2].map(|i| sim.engine().parity(engine::LatticeId(i)));
    assert_eq!(parities, [parities[0]; 3]);
}
