//! What the thread does between two turns, without a thread: each in an order that chance would
//! rarely bring.

use std::sync::mpsc::{TryRecvError, channel};

use super::*;
use crate::Kept;
use engine::{LatticeId, kernels};
use life::{Rule, Size};
use model::{Change, Edit};
use model::{DeviceChoice, Start, Switches, TimeSettings};

const PATIENCE: Duration = Duration::from_secs(240);

fn pilot(rounds: Option<u64>) -> Pilot {
    let setup = Setup {
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
    };
    Pilot::new(setup, Box::new(|| {})).unwrap()
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
