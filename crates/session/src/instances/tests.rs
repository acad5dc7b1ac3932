//! Instances on the CPU engine: one clock, comparisons, and submissions that fail.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::scripted_engine::{Call, Fault, Script};
use crate::trace::TimedRound;
use crate::{KernelChoice, Order, Side, Start, Streams, Switches};
use engine::{WordEdit, kernels};
use life::{Lattice, Rule, Size, reference, soup};

mod own_round;

const SEED: u64 = 3;
const DENSITY: f64 = 0.4;

fn setup(instances: usize) -> Setup {
    let size = Size::new(64, 20).unwrap();
    Setup {
        start: Start::soup(DENSITY, SEED),
        ..Setup::new(instances, size, kernel("bits"), DeviceChoice::Cpu)
    }
}

/// The same with other switches.
fn with_switches(instances: usize, change: impl FnOnce(&mut Switches)) -> Setup {
    let mut setup = setup(instances);
    change(&mut setup.switches);
    setup
}

fn kernel(name: &str) -> &'static Kernel {
    kernels::find(name).unwrap()
}

fn engine() -> Box<dyn Engine> {
    open_engine(DeviceChoice::Cpu).unwrap()
}

fn started(setup: &Setup) -> Instances {
    let mut instances = Instances::new(engine(), setup, 2).unwrap();
    instances.start(&mut setup.clone()).unwrap();
    instances
}

/// Instances that have not started, on an engine that can be told to fail.
fn scripted(setup: &Setup, snapshots: u8) -> (Arc<Script>, Instances) {
    let script = Arc::new(Script::default());
    let engine = script.open(DeviceChoice::Cpu).unwrap();
    let instances = Instances::new(engine, setup, snapshots).unwrap();
    (script, instances)
}

/// The first lattices of a setup, this many generations later.
fn later(setup: &Setup, generations: u64) -> Vec<Lattice> {
    let later = |i| {
        let start = soup(setup.size, DENSITY, SEED, i as u64);
        reference::run(&start, setup.rule, generations)
    };
    (0..setup.instances).map(later).collect()
}

/// A round of no generations would only download, and a run of such rounds never end.
#[test]
fn the_first_round_of_a_large_lattice_steps_a_generation() {
    let large = Size::new(65536, 65536).unwrap();
    let first = issue::longest_round(kernel("bits"), large, 1);
    assert_eq!(first.generations(), 1);
}

/// Lattices are bits before they have a start, whatever the layout of the kernel that is requested.
#[test]
fn a_requested_kernel_is_entered_before_there_is_a_start() {
    for name in ["global", "bits", "planar"] {
        let mut setup = setup(2);
        setup.kernel = kernel(name);
        let requested = Requested {
            kernel: Some(setup.kernel),
            ..Requested::NOTHING
        };
        let mut instances = Instances::new(engine(), &setup, 2).unwrap();
        let plan = instances.start_fastest(&mut setup, &requested, None);
        assert_eq!(plan.unwrap().candidate.kernel.name, name);
        instances.run(3, 3, None).unwrap();
        assert_eq!(instances.fetch().unwrap(), later(&setup, 3), "{name}");
    }
}

/// Everything that happens until nothing is in flight.
fn events(instances: &mut Instances) -> Vec<Event> {
    let mut events = Vec::new();
    loop {
        instances.poll(|event| events.push(event)).unwrap();
        if instances.is_idle() {
            return events;
        }
        instances.wait(Duration::from_millis(1));
    }
}

/// Issues a round as soon as there is room for it, and waits for it; what happens meanwhile.
fn round(instances: &mut Instances, generations: u32) -> Vec<Event> {
    let mut before = Vec::new();
    while !instances
        .issue_round(generations, false, |_| false)
        .unwrap()
    {
        instances.poll(|event| before.push(event)).unwrap();
    }
    before.extend(events(instances));
    before
}

/// Ends a round that was issued by A alone.
fn end_round(instances: &mut Instances) {
    if let Some(generations) = instances.pending_second_round() {
        round(instances, generations);
    }
}

/// The instances and generations of the pictures among these events.
fn pictures(events: &[Event]) -> Vec<(usize, u64)> {
    let mut pictures: Vec<_> = events
        .iter()
        .flat_map(|event| match event {
            Event::Pictures {
                instances,
                generation,
                ..
            } => instances.clone().map(|i| (i, *generation)).collect(),
            _ => Vec::new(),
        })
        .collect();
    pictures.sort_unstable();
    pictures
}

fn edit_of_word(word: u32) -> Arc<[WordEdit]> {
    let edit = WordEdit {
        word,
        mask: 0xff,
        bits: 0x5a,
    };
    [edit].into()
}

#[test]
fn rounds_are_counted_and_pictures_say_their_generation() {
    let setup = Setup {
        start: Start::Lattices {
            lattices: vec![Arc::new(soup(Size::new(64, 20).unwrap(), DENSITY, SEED, 0))],
            generation: 1000,
        },
        ..setup(1)
    };
    let mut instances = started(&setup);
    instances.set_picture(Some(PicturePlan::BITS)).unwrap();
    assert_eq!(instances.generation(), 1000);
    assert_eq!(pictures(&round(&mut instances, 0)), [(0, 1000)]);
    assert_eq!(pictures(&round(&mut instances, 3)), [(0, 1003)]);
    assert_eq!(instances.generation(), 1003);
    assert_eq!(instances.fetch().unwrap(), later(&setup, 3));
    instances.set_generation(7);
    assert_eq!(pictures(&round(&mut instances, 1)), [(0, 8)]);
}

#[test]
fn in_a_comparison_the_clock_is_that_of_a_and_b_follows() {
    let setup = setup(5);
    let mut instances = started(&setup);
    instances.set_picture(Some(PicturePlan::BITS)).unwrap();
    round(&mut instances, 2);
    let second = Switches {
        streams: Streams::One,
        ..Switches::DEFAULT
    };
    instances.compare(Some(second)).unwrap();
    assert!(instances.is_comparing());
    assert_eq!(instances.pending_second_round(), None);
    let of_a = round(&mut instances, 3);
    assert_eq!(pictures(&of_a), [(0, 5), (1, 5)]);
    assert_eq!(
        (instances.generation(), instances.pending_second_round()),
        (5, Some(3))
    );
    // Pictures between A's round and B's say where each of them is.
    let between = round(&mut instances, 0);
    assert_eq!(pictures(&between), [(0, 5), (1, 5), (2, 2), (3, 2)]);
    assert_eq!(instances.pending_second_round(), Some(3));
    let of_b = round(&mut instances, 3);
    assert_eq!(pictures(&of_b), [(2, 5), (3, 5)]);
    assert_eq!(
        (instances.generation(), instances.pending_second_round()),
        (5, None)
    );
    let before = instances.fetch().unwrap();
    // Whoever sets all lattices anew leaves nothing to B.
    round(&mut instances, 1);
    assert_eq!(instances.pending_second_round(), Some(1));
    let lattices = before.into_iter().map(Arc::new).enumerate();
    instances.set_lattices(lattices.collect()).unwrap();
    instances.set_generation(5);
    assert_eq!(instances.pending_second_round(), None);
    instances.compare(None).unwrap();
    assert!(!instances.is_comparing());
    assert_eq!(instances.generation(), 5);
    let mut want = later(&setup, 5);
    want[4] = later(&setup, 2).pop().unwrap();
    assert_eq!(instances.fetch().unwrap(), want, "the last has no partner");
}

#[test]
fn a_calibrated_round_is_counted_when_every_lattice_has_been_stepped() {
    let setup = with_switches(3, |it| it.order = crate::Order::Depth);
    let mut instances = started(&setup);
    instances.set_picture(Some(PicturePlan::BITS)).unwrap();
    events(&mut instances);
    assert!(instances.begin_calibration(4, |_| false).unwrap());
    assert_eq!(instances.generation(), 0);
    let comes_between = instances.issue_round(1, false, |_| false);
    assert!(!comes_between.unwrap());
    assert!(!instances.issue_snapshot(0).unwrap());
    let events = events(&mut instances);
    assert_eq!(pictures(&events), [(0, 4), (1, 4), (2, 4)]);
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::Calibrated(alone) if alone.len() == 6))
    );
    assert_eq!(instances.generation(), 4);
    assert_eq!(instances.fetch().unwrap(), later(&setup, 4));
}

#[test]
fn snapshots_come_back_as_they_were() {
    for name in ["bits", "planar", "sync-global"] {
        let setup = Setup {
            kernel: kernel(name),
            ..setup(3)
        };
        let mut instances = started(&setup);
        round(&mut instances, 5);
        assert!(instances.issue_snapshot(1).unwrap());
        // Rounds behind it change nothing about it.
        let events = round(&mut instances, 2);
        assert!(
            events
                .iter()
                .any(|event| matches!(event, Event::Snapshot { index: 1 }))
        );
        let slots = instances.slots().clone();
        let slot = instances.snapshot_slot(1);
        let read = |i| read_lattice(&*slots, i, slot, setup.size).unwrap();
        let snapshot: Vec<Lattice> = (0..3).map(read).collect();
        assert_eq!(snapshot, later(&setup, 5), "{name}");
        // While somebody reads it, it is not overwritten.
        slots.read(engine::LatticeId(2), slot, &mut |_| {
            assert!(!instances.issue_snapshot(1).unwrap());
        });
        let lattices = snapshot.into_iter().map(Arc::new).enumerate();
        instances.set_lattices(lattices.collect()).unwrap();
        instances.set_generation(5);
        round(&mut instances, 1);
        assert_eq!(instances.generation(), 6);
        assert_eq!(instances.fetch().unwrap(), later(&setup, 6), "{name}");
    }
}

#[test]
fn another_rule_and_another_kernel_take_effect_between_two_rounds() {
    for graphs in [false, true] {
        let setup = with_switches(2, |it| it.graphs = graphs);
        let mut instances = started(&setup);
        let mut want = later(&setup, 0);
        for (rule, name) in [
            ("B36/S23", "bits"),
            ("B2/S", "sync-global"),
            ("B3/S23", "bits"),
        ] {
            let rule: Rule = rule.parse().unwrap();
            instances.set_rule(rule);
            instances.set_kernel(kernel(name)).unwrap();
            for _ in 0..3 {
                round(&mut instances, 2);
            }
            for lattice in &mut want {
                *lattice = reference::run(lattice, rule, 6);
            }
            assert_eq!(instances.fetch().unwrap(), want, "{rule}");
        }
        assert_eq!(instances.generation(), 18);
    }
}

#[test]
fn pictures_say_which_edit_they_show() {
    let setup = setup(2);
    let mut instances = started(&setup);
    instances.set_picture(Some(PicturePlan::BITS)).unwrap();
    let edit = edit_of_word(3);
    instances.edit(&[1], &edit).unwrap();
    instances.set_edit_number(4);
    instances.set_edit_number(2);
    assert_eq!(instances.edit_number(), 4);
    let shown = round(&mut instances, 0)
        .into_iter()
        .map(|event| match event {
            Event::Pictures { edits, .. } => edits,
            _ => 4,
        });
    assert!(shown.into_iter().all(|edit| edit == 4));
    let got = instances.fetch().unwrap();
    let mut want = later(&setup, 0);
    let mut words = want[1].words().to_vec();
    edit[0].apply(&mut words[3]);
    want[1] = Lattice::from_words(setup.size, words);
    assert_eq!(got, want);
}

/// A batch is one launch only while all its lattices are in the same one of their two buffers.
#[test]
fn a_lattice_that_is_set_stays_in_its_batch() {
    let batch = |streams| Setup {
        kernel: kernel("sync-global"),
        ..with_switches(3, |it| it.streams = streams)
    };
    for streams in [Streams::Batch, Streams::PerInstance] {
        let setup = batch(streams);
        let mut instances = started(&setup);
        instances.run(1, 1, None).unwrap();
        instances
            .set_lattices(starts(&setup, 1..2).unwrap())
            .unwrap();
        instances
            .set_switches(Side::A, batch(Streams::Batch).switches)
            .unwrap();
        let parities = [0, 1, 2].map(|i| instances.engine().parity(engine::LatticeId(i)));
        assert_eq!(parities, [parities[0]; 3], "{streams}");
        instances.run(2, 1, None).unwrap();
        let mut want = later(&setup, 3);
        want[1] = later(&setup, 2).swap_remove(1);
        assert_eq!(instances.fetch().unwrap(), want);
    }
}

/// What a session does, one thing after the other; at each of them the generation is that of the
/// cells. Answers how many things were done before one failed, and why.
fn do_things(instances: &mut Instances, setup: &Setup) -> Result<(), (usize, EngineError)> {
    let second = Switches {
        streams: Streams::One,
        ..setup.switches
    };
    type Thing<'a> = Box<dyn Fn(&mut Instances) -> Result<()> + 'a>;
    let step = |generations: u32| -> Thing<'_> {
        Box::new(move |instances| {
            while !instances.issue_round(generations, false, |_| false)? {
                instances.poll(|_| {})?;
            }
            Ok(())
        })
    };
    let to_kernel = |name: &'static str| -> Thing<'_> {
        Box::new(move |instances| {
            instances.finish()?;
            instances.set_kernel(kernel(name))
        })
    };
    let things: Vec<Thing<'_>> = vec![
        step(1),
        step(2),
        step(1),
        Box::new(|instances| {
            instances.finish()?;
            instances.issue_snapshot(0).map(|_| ())
        }),
        to_kernel("sync-global"),
        step(3),
        step(3),
        Box::new(|instances| {
            instances.finish()?;
            while !instances.begin_calibration(2, |_| false)? {}
            instances.finish()
        }),
        to_kernel("planar"),
        step(1),
        Box::new(move |instances| {
            instances.finish()?;
            instances.compare(Some(second))
        }),
        step(2),
        step(2),
        Box::new(|instances| {
            instances.finish()?;
            instances.compare(None)
        }),
        step(1),
        Box::new(|instances| instances.fetch().map(|_| ())),
    ];
    for (done, thing) in things.iter().enumerate() {
        thing(instances).map_err(|error| (done, error))?;
    }
    Ok(())
}

/// Whichever submission fails, and whether before or amid its work: the generation is that of the
/// cells, at once where nothing was done and after `abandon` and `set_lattices` otherwise.
#[test]
fn a_submission_that_fails_leaves_generation_and_cells_in_step() {
    for graphs in [false, true] {
        let setup = with_switches(4, |it| it.graphs = graphs);
        for fault in [Fault::Refused, Fault::Midway] {
            let mut failures = 0;
            loop {
                let (script, mut instances) = scripted(&setup, 2);
                instances.start(&mut setup.clone()).unwrap();
                instances.set_picture(Some(PicturePlan::BITS)).unwrap();
                script.fail(Call::Submit, failures, fault);
                let Err((done, error)) = do_things(&mut instances, &setup) else {
                    break;
                };
                failures += 1;
                let what = format!("{error}, thing {done}, {fault:?}, graphs {graphs}");
                if fault == Fault::Midway {
                    assert!(error.loses_lattices(), "{what}");
                    instances.abandon().unwrap();
                    assert!(instances.is_idle(), "{what}");
                    assert_eq!(instances.pending_second_round(), None, "{what}");
                    let all = starts(&setup, 0..setup.instances).unwrap();
                    instances.set_lattices(all).unwrap();
                    instances.set_generation(0);
                } else if instances.is_calibrating() {
                    instances.finish().unwrap(); // what was refused is done now
                }
                end_round(&mut instances);
                let generation = instances.generation();
                assert_eq!(
                    instances.fetch().unwrap(),
                    later(&setup, generation),
                    "{what}"
                );
                // And rounds go on from there, of whatever kernel.
                for name in ["bits", "sync-global", "planar"] {
                    instances.set_kernel(kernel(name)).unwrap();
                    instances.run(2, 1, None).unwrap();
                }
                let generation = instances.generation();
                assert_eq!(
                    instances.fetch().unwrap(),
                    later(&setup, generation),
                    "{what}"
                );
            }
            assert!(failures > 20, "{failures}");
        }
    }
}

/// A plan that cannot be entered gives way to the next one, whatever it left behind.
#[test]
fn a_plan_that_cannot_be_entered_is_passed_over() {
    let open = Setup {
        kernel_choice: KernelChoice::Auto,
        kernel: kernel("global"),
        generations_per_round: 2,
        ..setup(2)
    };
    for fault in [Fault::Midway, Fault::OutOfMemory, Fault::Refused] {
        let (script, mut instances) = scripted(&open, 1);
        script.fail(Call::Submit, 1, fault);
        let mut setup = open.clone();
        instances.start(&mut setup).unwrap();
        assert!(!script.has_faults(), "{fault:?}");
        assert_eq!(instances.generation(), 0);
        round(&mut instances, 3);
        assert_eq!(instances.fetch().unwrap(), later(&open, 3));
    }
}

/// Rows come in order, each once, however many at a time, and populations without a copy; rounds go
/// on afterwards.
#[test]
fn lattices_are_counted_and_streamed_without_a_slot_for_all_of_one() {
    for name in ["global", "bits", "planar"] {
        let setup = Setup {
            size: Size::new(70, 20).unwrap(),
            kernel: kernel(name),
            ..setup(3)
        };
        let (script, mut instances) = scripted(&setup, 0);
        instances.start(&mut setup.clone()).unwrap();
        instances.set_picture(Some(PicturePlan::BITS)).unwrap();
        let mut generations = 0;
        for rows in [1, 7, 20] {
            round(&mut instances, 3);
            generations += 3;
            let want = later(&setup, generations);
            let populations: Vec<u64> = want.iter().map(Lattice::population).collect();
            let mut results = instances.results_by(rows).unwrap();
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
