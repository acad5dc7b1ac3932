//! What the thread does between two turns, without a thread: each in an order that chance would
//! rarely bring.

use std::sync::mpsc::{TryRecvError, channel};

use super::*;
use crate::Kept;
use engine::{EngineError, LatticeId, kernels};
use life::{Rule, Size};
use model::{Action, Change, Edit};
use model::{DeviceChoice, Start, StopWhenStill, Switches, TimeSettings};

const PATIENCE: Duration = Duration::from_secs(240);

fn pilot(rounds: Option<u64>) -> Pilot {
    Pilot::new(setup(rounds), Box::new(|| {})).unwrap()
}

fn setup(rounds: Option<u64>) -> Setup {
    Setup {
        instances: 2,
        size: Size::new(96, 64).unwrap(),
        rule: Rule::LIFE,
        start: Start::Soup {
            density: 0.4,
            seed: 3,
        },
        kernel: kernels::find("bits").unwrap(),
        kernel_choice: KernelChoice::Asked,
        device: DeviceChoice::Cpu,
        switches: Switches::DEFAULT,
        generations_per_round: 1,
        pace: Pace::Unthrottled,
        rounds,
        time: TimeSettings::DEFAULT,
    }
}

/// Two soups so thin that they die down at once, reseeded.
fn dying() -> Setup {
    let mut setup = setup(None);
    setup.time.reseed = true;
    setup.start = Start::Soup {
        density: 0.01,
        seed: 3,
    };
    setup
}

/// Which panel is filled anew, once every one has died down for a while.
fn reseeded(pilot: &mut Pilot) -> Option<usize> {
    turn_until(pilot, "all die down", |pilot| pilot.watch.are_all_settled());
    pilot.reseed_one(Instant::now() + Duration::from_secs(60));
    let asked = pilot.pending.iter().find_map(|(command, _)| match command {
        Command::Reseed(instance) => Some(*instance),
        _ => None,
    });
    turn_until(pilot, "it is filled", |pilot| pilot.pending.is_empty());
    asked
}

/// Turns until this is so.
fn turn_until(pilot: &mut Pilot, what: &str, mut so: impl FnMut(&mut Pilot) -> bool) {
    let (_commands, received) = channel();
    let began = Instant::now();
    while !so(pilot) {
        assert!(pilot.turn(&received), "{what}");
        assert!(began.elapsed() < PATIENCE, "{what}");
    }
}

fn asked_to_keep(pilot: &mut Pilot) -> Receiver<Kept> {
    let (answer, kept) = channel();
    pilot.keep(answer);
    kept
}

fn draw(pilot: &mut Pilot, x: u32, joins: bool) {
    let change = Change::Draw {
        cells: [[x, 5]].into(),
        alive: true,
    };
    let edit = Edit {
        instance: 0,
        change,
        joins,
    };
    pilot.ask(editing::Asked::Edit(edit, x.into()));
    turn_until(pilot, "an edit", |pilot| {
        !pilot.editor.is_busy() && !pilot.editor.is_fetching()
    });
}

#[test]
fn who_waits_for_a_copy_gets_it_though_the_slots_are_others_now() {
    let mut pilot = pilot(Some(0));
    let kept = asked_to_keep(&mut pilot);
    pilot.take_slots(true);
    turn_until(&mut pilot, "a copy to keep", |_| match kept.try_recv() {
        Ok(kept) => kept.lattices.len() == 2,
        Err(TryRecvError::Empty) => false,
        Err(TryRecvError::Disconnected) => panic!("who waited was forgotten"),
    });
    let kept = asked_to_keep(&mut pilot);
    pilot.fail("of a sudden".into());
    assert!(kept.try_recv().is_ok(), "the last copy there was");
}

#[test]
fn what_was_never_taken_up_is_never_written_over() {
    let mut pilot = pilot(Some(0));
    let kept = asked_to_keep(&mut pilot);
    turn_until(&mut pilot, "a copy", |_| kept.try_recv().is_ok());
    let kept = asked_to_keep(&mut pilot);
    let mut from = None;
    turn_until(&mut pilot, "a copy", |_| {
        from = kept.try_recv().ok();
        from.is_some()
    });
    let restore = Command::Restore(Box::new(from.unwrap()));
    pilot.put_off(restore);
    let waits = asked_to_keep(&mut pilot);
    pilot.fail("before it was done".into());
    let late = asked_to_keep(&mut pilot);
    for kept in [waits, late] {
        let answer = kept.try_recv();
        assert!(matches!(answer, Err(TryRecvError::Disconnected)));
    }
}

#[test]
fn a_stroke_is_copied_where_it_begins_and_where_it_rests() {
    let mut pilot = pilot(None);
    draw(&mut pilot, 1, false);
    turn_until(&mut pilot, "the copy of its first cell", |pilot| {
        !pilot.copies_soon() && !pilot.checkpoints.under_way && !pilot.is_reading()
    });
    draw(&mut pilot, 2, true);
    let now = Instant::now();
    pilot.stroke_goes_on(now);
    assert!(pilot.past.is_wanted(), "the lattices are others now");
    assert!(pilot.waits_for_stroke(now), "but the stroke goes on");
    assert!(!pilot.waits_for_stroke(now + Duration::from_secs(1)));
    pilot.push_step(1);
    assert!(!pilot.waits_for_stroke(now), "a step by hand needs it");
    pilot.steps.clear();
    pilot.running = false;
    assert!(!pilot.waits_for_stroke(now), "and so does a pause");
    turn_until(&mut pilot, "the copy of where it rests", |pilot| {
        !pilot.past.is_wanted()
    });
}

#[test]
fn a_copy_waits_for_whoever_reads_its_slot_and_rounds_go_on() {
    let mut pilot = pilot(None);
    let mut filled = Vec::new();
    for _ in 0..2 {
        let kept = asked_to_keep(&mut pilot);
        turn_until(&mut pilot, "a copy", |_| kept.try_recv().is_ok());
        filled.push(pilot.checkpoints.latest.as_ref().unwrap().0);
    }
    assert_ne!(filled[0], filled[1]);
    turn_until(&mut pilot, "all of it read", |pilot| {
        !pilot.is_reading() && !pilot.checkpoints.under_way
    });
    let clock = |pilot: &Pilot| pilot.worlds.as_ref().unwrap().clock();
    let slots = pilot.worlds.as_ref().unwrap().slots().clone();
    let read = slots.read(LatticeId(1), filled[0], &mut |_| {
        let second = slots.read(LatticeId(0), filled[1], &mut |_| {
            let kept = asked_to_keep(&mut pilot);
            let (began, mut early) = (clock(&pilot), None);
            turn_until(&mut pilot, "rounds", |pilot| {
                early = early.take().or(kept.try_recv().ok());
                clock(pilot) > began + 50
            });
            assert!(early.is_none(), "its slot is read");
        });
        assert!(second);
    });
    assert!(read);
    let kept = asked_to_keep(&mut pilot);
    turn_until(&mut pilot, "a copy", |_| kept.try_recv().is_ok());
}

#[test]
fn a_lost_engine_goes_on_to_the_generation_that_was_asked_for() {
    let mut pilot = pilot(Some(0));
    pilot.run_to(5000).unwrap();
    turn_until(&mut pilot, "some rounds", |pilot| {
        pilot.worlds.as_ref().unwrap().clock() > 0
    });
    pilot.recover("for a test").unwrap();
    turn_until(&mut pilot, "the end", |pilot| !pilot.running);
    assert_eq!(pilot.worlds.as_ref().unwrap().generations()[0], 5000);
}

#[test]
fn a_panel_that_somebody_drew_in_is_never_filled_with_a_soup() {
    let mut pilot = Pilot::new(dying(), Box::new(|| {})).unwrap();
    draw(&mut pilot, 7, false);
    let generation = |pilot: &Pilot, i: usize| pilot.worlds.as_ref().unwrap().generations()[i];
    for _ in 0..2 {
        assert_eq!(reseeded(&mut pilot), Some(1));
    }
    let clock = pilot.worlds.as_ref().unwrap().clock();
    assert_eq!(generation(&pilot, 0), clock, "it goes on");
    assert!(generation(&pilot, 1) < clock, "it began anew");
    // Reset by hand it is a soup as all others, until somebody goes back to before.
    pilot.act(Action::ResetPanel).unwrap();
    assert_eq!(reseeded(&mut pilot), Some(0));
    pilot.watch.went_back();
    assert_eq!(reseeded(&mut pilot), Some(1));
}

#[test]
fn what_was_opened_is_never_filled_with_a_soup() {
    // Patterns.
    let dead = || Arc::new(Lattice::new(dying().size));
    let patterns = Setup {
        start: Start::Lattices {
            lattices: vec![dead()],
            generation: 0,
        },
        ..dying()
    };
    let mut pilot = Pilot::new(patterns, Box::new(|| {})).unwrap();
    assert_eq!(reseeded(&mut pilot), None);
    // A session.
    let mut pilot = Pilot::new(dying(), Box::new(|| {})).unwrap();
    let kept = Kept {
        setup: dying(),
        lattices: vec![(dead(), 12), (dead(), 12)],
        halves: None,
        running: true,
        selected: 0,
    };
    pilot.restore(kept).unwrap();
    assert_eq!(reseeded(&mut pilot), None);
}

#[test]
fn what_stops_once_all_panels_are_still_fills_none_of_them() {
    let mut setup = dying();
    setup.time.stop_when_still = StopWhenStill::All;
    let mut pilot = Pilot::new(setup, Box::new(|| {})).unwrap();
    turn_until(&mut pilot, "all die down", |pilot| {
        pilot.watch.are_all_settled()
    });
    pilot.running = true;
    assert_eq!(reseeded(&mut pilot), None);
}

#[test]
fn looking_for_dead_panels_measures_one_round_in_sixteen_and_times_none_of_them() {
    let mut pilot = Pilot::new(dying(), Box::new(|| {})).unwrap();
    let (mut rounds, mut measured) = (pilot.issued, 0);
    let mut was_next = false;
    turn_until(&mut pilot, "some rounds", |pilot| {
        if pilot.issued > rounds {
            assert_eq!(pilot.issued, rounds + 1, "a turn issues one round");
            measured += u32::from(was_next);
            rounds = pilot.issued;
        }
        was_next = pilot.worlds.as_ref().unwrap().is_next_an_exception();
        rounds == 160
    });
    assert_eq!(measured, 10);
    assert!(
        pilot.watch.settled().is_empty(),
        "nobody asked how they go on"
    );
}

#[test]
fn a_notice_leaves_the_picture_that_is_still_to_come_and_one_that_failed_is_not_tried_again() {
    let mut pilot = pilot(Some(0));
    turn_until(&mut pilot, "the first picture", |pilot| !pilot.refresh);
    pilot.refresh = true;
    pilot.say("something".into());
    assert!(pilot.refresh, "the picture is still wanted");
    turn_until(&mut pilot, "the picture", |pilot| !pilot.refresh);
    // One that cannot be: of an instance that is not there.
    let view = PicturePlan {
        only: Some(77),
        ..PicturePlan::BITS
    };
    let _ = pilot.set_view(view);
    pilot.refresh = true;
    turn_until(&mut pilot, "an end of trying", |pilot| !pilot.refresh);
}

#[test]
fn a_session_that_has_ended_says_so_and_does_nothing() {
    let mut pilot = pilot(Some(0));
    pilot.fail("of a sudden".into());
    pilot
        .obey_after_the_end(Command::Act(Action::TogglePause))
        .unwrap();
    assert!(!pilot.running);
    let (said, _) = pilot.notice.take().unwrap();
    assert_eq!(said, "the session has ended");
    pilot
        .obey_after_the_end(Command::Act(Action::Select(1)))
        .unwrap();
    assert_eq!(pilot.selected, 1, "its panels can still be looked at");
}

#[test]
fn a_session_that_has_ended_answers_from_the_last_lattices() {
    let mut pilot = pilot(Some(0));
    let kept = asked_to_keep(&mut pilot);
    let mut known = None;
    turn_until(&mut pilot, "a copy to keep", |_| {
        known = kept.try_recv().ok();
        known.is_some()
    });
    let ask = |instance| {
        let (answer, copy) = channel();
        (Command::Ask(editing::Asked::Copy(instance, answer)), copy)
    };
    // One is asked for before the end and waits, behind what waits for the launch under way, and
    // one comes after it.
    let (waiting, early) = ask(0);
    pilot.put_off(Command::Act(Action::NewSeed));
    pilot.put_off(waiting);
    pilot.fail("of a sudden".into());
    let (asked, late) = ask(1);
    let (commands, received) = channel();
    commands.send(asked).unwrap();
    commands.send(Command::Act(Action::NewSeed)).unwrap();
    let mut copies = Vec::new();
    let began = Instant::now();
    while copies.len() < 2 {
        assert!(began.elapsed() < PATIENCE, "no answer");
        assert!(pilot.turn(&received));
        copies.extend(
            [&early, &late]
                .iter()
                .filter_map(|copy| copy.try_recv().ok()),
        );
    }
    let known = known.unwrap().lattices;
    for (copy, known) in copies.iter().zip(&known) {
        assert!(copy.0 == known.0 && copy.1 == known.1);
    }
    assert!(pilot.editor.waiting() == 0 && pilot.pending.is_empty());
}

#[test]
fn failures_one_after_the_other_end_the_session() {
    let mut pilot = pilot(None);
    let refused = || EngineError::DriverOutOfMemory("cuLaunchKernel");
    pilot.meet(refused(), true);
    assert!(!pilot.running && pilot.failed.is_none());
    assert!(pilot.halted.is_some(), "somebody may have it go on");
    pilot.act(Action::TogglePause).unwrap();
    assert!(pilot.running && pilot.halted.is_none());
    turn_until(&mut pilot, "a round", |pilot| pilot.issued > 0);
    for _ in 0..8 {
        pilot.meet(refused(), true);
    }
    assert!(pilot.failed.is_some(), "it would go on for ever");
}

#[test]
fn rounds_that_were_lost_are_not_counted() {
    let mut pilot = pilot(Some(400));
    let under_way = |pilot: &mut Pilot| pilot.issued > 20 && pilot.checkpoints.latest.is_some();
    turn_until(&mut pilot, "a copy", under_way);
    pilot.recover("for a test").unwrap();
    let generations = pilot.worlds.as_ref().unwrap().generations().to_vec();
    assert_eq!(generations, [pilot.issued; 2]);
    turn_until(&mut pilot, "the end", |pilot| {
        !pilot.running && pilot.worlds.as_ref().unwrap().is_idle()
    });
    let generations = pilot.worlds.as_ref().unwrap().generations().to_vec();
    assert_eq!(generations, [400; 2]);
    // All of them were issued, and the last were lost.
    pilot.recover("for a test").unwrap();
    turn_until(&mut pilot, "the end", |pilot| {
        !pilot.running && pilot.worlds.as_ref().unwrap().is_idle()
    });
    let generations = pilot.worlds.as_ref().unwrap().generations().to_vec();
    assert_eq!(generations, [400; 2]);
}
