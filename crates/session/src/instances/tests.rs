//! Lattices on the CPU engine: their clocks, rounds of changing settings, and submissions that fail.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::round::Request;
use crate::scripted_engine::{Call, Fault, Script};
use crate::trace::TimedRound;
use crate::{KernelChoice, Order, Start, Streams, Switches};
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

/// Lattices, and what their rounds are made with.
struct Stepped {
    sim: Sim,
    setting: Setting,
    picture: Option<PicturePlan>,
}

impl std::ops::Deref for Stepped {
    type Target = Sim;

    fn deref(&self) -> &Sim {
        &self.sim
    }
}

impl std::ops::DerefMut for Stepped {
    fn deref_mut(&mut self) -> &mut Sim {
        &mut self.sim
    }
}

impl Stepped {
    /// Lattices that have not started.
    fn on(engine: Box<dyn Engine>, setup: &Setup, snapshots: u8) -> Stepped {
        Stepped {
            sim: Sim::new(engine, setup, snapshots).unwrap(),
            setting: Setting::of(setup),
            picture: None,
        }
    }

    /// The same at their start, with pictures of bits.
    fn started_on(engine: Box<dyn Engine>, setup: &Setup) -> Stepped {
        let mut stepped = Stepped::on(engine, setup, 2);
        stepped.picture = Some(PicturePlan::BITS);
        let (mut setup, picture) = (setup.clone(), stepped.picture);
        stepped.sim.start(&mut setup, picture).unwrap();
        stepped.setting = Setting::of(&setup);
        stepped
    }

    fn share(&self) -> Share {
        self.sim.all(&self.setting, self.picture)
    }

    fn issue(&mut self, request: Request) -> Result<bool> {
        let share = self.share();
        Ok(self.sim.ensure(std::slice::from_ref(&share))?
            && self.sim.issue(&share, request, |_| false)?)
    }

    fn calibrate(&mut self, generations: u32) -> Result<bool> {
        let share = self.share();
        let request = Request::of(generations);
        self.sim.begin_calibration(&share, request, |_| false)
    }

    fn step(&mut self, generations: u64, per_round: u32) {
        let share = self.share();
        self.sim.run(&share, generations, per_round, None).unwrap();
    }

    /// Everything that happens until nothing is in flight.
    fn events(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            self.poll(|event| events.push(event)).unwrap();
            if self.is_idle() {
                return events;
            }
            self.wait(Duration::from_millis(1));
        }
    }

    /// Issues a round as soon as there is room for it, and waits for it; what happens meanwhile.
    fn round(&mut self, generations: u32) -> Vec<Event> {
        let mut before = Vec::new();
        while !self.issue(Request::of(generations)).unwrap() {
            self.poll(|event| before.push(event)).unwrap();
        }
        before.extend(self.events());
        before
    }
}

fn started(setup: &Setup) -> Stepped {
    Stepped::started_on(engine(), setup)
}

/// An engine that can be told to fail.
fn scripted() -> (Arc<Script>, Box<dyn Engine>) {
    let script = Arc::new(Script::default());
    let engine = script.open(DeviceChoice::Cpu).unwrap();
    (script, engine)
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
    let stepped = Stepped::on(engine(), &setup(1), 0);
    let large = Sim {
        size: Size::new(65536, 65536).unwrap(),
        ..stepped.sim
    };
    assert_eq!(large.round_lengths(&stepped.setting).generations(), 1);
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
        let mut instances = Stepped::on(engine(), &setup, 2);
        let plan = instances.start_fastest(&mut setup, &requested, None, None);
        assert_eq!(plan.unwrap().setting.kernel.name, name);
        instances.setting = Setting::of(&setup);
        instances.step(3, 3);
        assert_eq!(instances.fetch().unwrap(), later(&setup, 3), "{name}");
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
    assert_eq!(instances.generation(0), 1000);
    assert_eq!(pictures(&instances.round(0)), [(0, 1000)]);
    assert_eq!(pictures(&instances.round(3)), [(0, 1003)]);
    assert_eq!(instances.generation(0), 1003);
    assert_eq!(instances.fetch().unwrap(), later(&setup, 3));
    instances.set_generation(7);
    assert_eq!(pictures(&instances.round(1)), [(0, 8)]);
}

/// Halves of the lattices have rounds, settings and generations of their own.
#[test]
fn a_share_is_stepped_alone() {
    let setup = setup(5);
    let mut instances = started(&setup);
    instances.round(2);
    let other = instances.setting.with_switches(Switches {
        streams: Streams::One,
        ..Switches::DEFAULT
    });
    let halves = [
        instances.setting.share(0..2, instances.picture),
        other.share(2..4, instances.picture),
    ];
    assert!(instances.ensure(&halves).unwrap());
    let mut round = |share: &Share, generations| {
        let request = Request::of(generations);
        let issued = instances.sim.issue(share, request, |_| false);
        assert!(issued.unwrap());
        pictures(&instances.events())
    };
    assert_eq!(round(&halves[0], 3), [(0, 5), (1, 5)]);
    assert_eq!(round(&halves[0], 0), [(0, 5), (1, 5)]);
    assert_eq!(
        round(&halves[1], 0),
        [(2, 2), (3, 2)],
        "where each of them is"
    );
    assert_eq!(round(&halves[1], 3), [(2, 5), (3, 5)]);
    let generations = [0, 2, 4].map(|i| instances.generation(i));
    assert_eq!(generations, [5, 5, 2]);
    let mut want = later(&setup, 5);
    want[4] = later(&setup, 2).pop().unwrap();
    assert_eq!(instances.fetch().unwrap(), want, "the last is in neither");
}

#[test]
fn a_calibrated_round_is_counted_when_every_lattice_has_been_stepped() {
    let setup = with_switches(3, |it| it.order = crate::Order::Depth);
    let mut instances = started(&setup);
    instances.events();
    assert!(instances.calibrate(4).unwrap());
    assert_eq!(instances.generation(2), 0);
    let comes_between = instances.issue(Request::of(1));
    assert!(!comes_between.unwrap());
    assert!(!instances.issue_snapshot(0).unwrap());
    let events = instances.events();
    assert_eq!(pictures(&events), [(0, 4), (1, 4), (2, 4)]);
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::Calibrated(alone) if alone.len() == 6))
    );
    assert_eq!(instances.generation(0), 4);
    assert_eq!(instances.fetch().unwrap(), later(&setup, 4));
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
            let share = instances.share();
            instances.set_rule(rule, &[share]);
            instances.setting = instances.setting.with_kernel(kernel(name));
            for _ in 0..3 {
                instances.round(2);
            }
            for lattice in &mut want {
                *lattice = reference::run(lattice, rule, 6);
            }
            assert_eq!(instances.fetch().unwrap(), want, "{rule}");
        }
        assert_eq!(instances.generation(0), 18);
    }
}

#[test]
fn pictures_say_which_edit_they_show() {
    let setup = setup(2);
    let mut instances = started(&setup);
    let edit = edit_of_word(3);
    instances.edit(&[1], &edit).unwrap();
    let request = Request {
        edits: 4,
        ..Request::of(0)
    };
    while !instances.issue(request).unwrap() {
        instances.poll(|_| {}).unwrap();
    }
    let edits = |event: Event| match event {
        Event::Pictures { edits, .. } => Some(edits),
        _ => None,
    };
    let shown: Vec<u64> = instances.events().into_iter().filter_map(edits).collect();
    assert_eq!(shown, [4; 2]);
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
        instances.step(1, 1);
        instances
            .set_lattices(starts(&setup, 1..2).unwrap())
            .unwrap();
        instances.setting = Setting::of(&batch(Streams::Batch));
        instances.step(2, 1);
        let parities = [0, 1, 2].map(|i| instances.engine().parity(engine::LatticeId(i)));
        assert_eq!(parities, [parities[0]; 3], "{streams}");
        let mut want = later(&setup, 3);
        want[1] = later(&setup, 2).swap_remove(1);
        assert_eq!(instances.fetch().unwrap(), want);
    }
}

/// What a session does, one thing after the other; at each of them the generation is that of the
/// cells. Answers how many things were done before one failed, and why.
fn do_things(instances: &mut Stepped) -> Result<(), (usize, EngineError)> {
    type Thing<'a> = Box<dyn Fn(&mut Stepped) -> Result<()> + 'a>;
    let step = |generations: u32| -> Thing<'_> {
        Box::new(move |instances| {
            while !instances.issue(Request::of(generations))? {
                instances.poll(|_| {})?;
            }
            Ok(())
        })
    };
    let with = |change: fn(&Setting) -> Setting| -> Thing<'_> {
        Box::new(move |instances| {
            instances.finish()?;
            instances.setting = change(&instances.setting);
            let share = instances.share();
            instances.ensure(std::slice::from_ref(&share))?;
            instances.enter(&share)
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
        with(|it| it.with_kernel(kernel("sync-global"))),
        step(3),
        step(3),
        Box::new(|instances| {
            instances.finish()?;
            while !instances.calibrate(2)? {
                instances.finish()?;
            }
            instances.finish()
        }),
        with(|it| it.with_kernel(kernel("planar"))),
        step(1),
        with(|it| {
            it.with_switches(Switches {
                streams: Streams::One,
                ..it.switches
            })
        }),
        step(2),
        step(2),
        with(|it| {
            it.with_switches(Switches {
                streams: Streams::PerInstance,
                ..it.switches
            })
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
                let (script, engine) = scripted();
                let mut instances = Stepped::started_on(engine, &setup);
                script.fail(Call::Submit, failures, fault);
                let Err((done, error)) = do_things(&mut instances) else {
                    break;
                };
                failures += 1;
                let what = format!("{error}, thing {done}, {fault:?}, graphs {graphs}");
                if fault == Fault::Midway {
                    assert!(error.loses_lattices(), "{what}");
                    instances.abandon().unwrap();
                    assert!(instances.is_idle(), "{what}");
                    let all = starts(&setup, 0..setup.instances).unwrap();
                    instances.set_lattices(all).unwrap();
                    instances.set_generation(0);
                } else if instances.is_calibrating() {
                    instances.finish().unwrap(); // what was refused is done now
                }
                let generation = instances.generation(0);
                assert_eq!(
                    instances.fetch().unwrap(),
                    later(&setup, generation),
                    "{what}"
                );
                // And rounds go on from there, of whatever kernel.
                for name in ["bits", "sync-global", "planar"] {
                    instances.setting = instances.setting.with_kernel(kernel(name));
                    instances.step(2, 1);
                }
                let generation = instances.generation(0);
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
    for fault in [Fault::OutOfMemory, Fault::Refused] {
        let (script, engine) = scripted();
        let mut instances = Stepped::on(engine, &open, 1);
        script.fail(Call::Allocate, 0, fault);
        let mut setup = open.clone();
        instances.start(&mut setup, None).unwrap();
        instances.setting = Setting::of(&setup);
        assert!(!script.has_faults(), "{fault:?}");
        assert_eq!(instances.generation(0), 0);
        instances.round(3);
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
        let (script, engine) = scripted();
        let mut instances = Stepped::started_on(engine, &setup);
        let mut generations = 0;
        for rows in [1, 7, 20] {
            instances.round(3);
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
