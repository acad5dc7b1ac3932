//! The order of work, and what became of histories that once went wrong.

use std::sync::Arc;

use super::*;
use crate::log::{SessionParameters, at};
use crate::next_task::{EngineFacts, NextTask, SnapshotReason, next_task};
use crate::{Change, Pace, SessionAction, Start};
use life::Size;

/// A paused session of two lattices, four generations per round.
fn paused() -> State {
    let parameters = SessionParameters {
        size: Size::new(8, 8).unwrap(),
        instances: 2,
        rule: "B3/S23".parse().unwrap(),
        start: soup(1),
        counterparts: None,
        drawn: Default::default(),
    };
    let mut state = State::new(
        Timeline::new(Log::new(parameters), 0),
        Pacing::new(Pace::Unthrottled, 4, Instant::now()),
        None,
    );
    (state.mode, state.refresh) = (Mode::Paused, false);
    state
}

fn running() -> State {
    State {
        mode: Mode::Running,
        ..paused()
    }
}

fn soup(seed: u64) -> Start {
    Start::soup(0.3, seed)
}

/// An engine at rest, with no copy of anything.
fn facts() -> EngineFacts {
    EngineFacts {
        engine_idle: true,
        has_room: true,
        can_snapshot: true,
        longest_round: u32::MAX,
        ..EngineFacts::default()
    }
}

impl EngineFacts {
    fn but(mut self, change: impl FnOnce(&mut EngineFacts)) -> EngineFacts {
        change(&mut self);
        self
    }

    fn busy(self) -> EngineFacts {
        self.but(|it| it.engine_idle = false)
    }

    fn wanting(self) -> EngineFacts {
        self.but(|it| it.snapshot_wanted = true)
    }

    fn without_slots(self) -> EngineFacts {
        self.but(|it| it.can_snapshot = false)
    }
}

impl State {
    fn with_command(mut self, command: Command) -> State {
        self.enqueue(command);
        self
    }

    /// Draws in an instance.
    fn draws(&mut self, instance: usize) -> Option<Notice> {
        self.edit(&edit(instance), 7)
    }

    fn next(&self, facts: EngineFacts) -> NextTask {
        next_task(self, &facts, self.pacing.due())
    }

    /// A step of this many generations that nothing interrupts.
    fn steps(&mut self, generations: u32) {
        let now = self.pacing.due();
        self.stepped(generations, now);
    }
}

fn edit(instance: usize) -> Edit {
    let cells = Arc::from([[1, 1]]);
    Edit {
        instance,
        change: Change::Draw { cells, alive: true },
        continues_stroke: false,
    }
}

fn draw(instance: usize) -> Command {
    Command::Edit(edit(instance), 7)
}

const TOGGLE_PAUSE: Command = Command::Act(SessionAction::TogglePause);
const STEP: Command = Command::Act(SessionAction::StepGeneration);
const STEP_BACK: Command = Command::Act(SessionAction::StepBack);
const UNDO: Command = Command::Act(SessionAction::Undo);
const NEXT_KERNEL: Command = Command::Act(SessionAction::NextKernel);

fn save() -> Command {
    Command::Save(crate::command::Query::new().0)
}

const WAIT: NextTask = NextTask::Wait(None);

#[test]
fn edits_do_not_wait_for_rounds_under_way_and_moves_do() {
    let state = running().with_command(draw(0));
    assert_eq!(state.next(facts().busy()), NextTask::TakeCommand);
    for command in [UNDO, STEP_BACK, NEXT_KERNEL] {
        let state = running().with_command(command);
        assert_eq!(state.next(facts().busy()), WAIT);
        assert_eq!(state.next(facts()), NextTask::TakeCommand);
    }
}

#[test]
fn a_long_round_is_several_and_counted_once() {
    let short = || facts().but(|it| it.longest_round = 3);
    let mut state = running();
    assert_eq!(state.next(short()), NextTask::Round(2), "equal ones");
    state.steps(2);
    assert_eq!((state.rounds, state.pacing.is_in_a_round()), (0, true));
    assert_eq!(state.next(short()), NextTask::Round(2));
    state.steps(2);
    assert_eq!((state.rounds, state.pacing.is_in_a_round()), (1, false));
}

#[test]
fn a_pause_and_a_save_do_not_wait_for_the_end_of_a_long_round() {
    let short = || facts().but(|it| it.longest_round = 2);
    for command in [TOGGLE_PAUSE, save()] {
        let mut state = running().with_command(command);
        state.steps(2);
        assert_eq!(state.next(short()), NextTask::TakeCommand);
    }
}

#[test]
fn a_copy_that_is_wanted_comes_before_the_next_round_and_command() {
    let state = running().with_command(STEP);
    let copy = NextTask::Snapshot(SnapshotReason::Wanted);
    assert_eq!(state.next(facts().wanting()), copy);
    // Rounds go on until a slot is free for it; what was asked for later waits.
    let without = facts().wanting().without_slots();
    assert!(matches!(state.next(without), NextTask::Round(_)));
    let without = facts().wanting().without_slots();
    assert_eq!(paused().with_command(STEP).next(without), WAIT);
}

#[test]
fn b_follows_at_its_pace_while_both_run_and_at_once_when_something_waits() {
    let behind = || facts().but(|it| it.pending_second_round = Some(4));
    let mut state = running();
    let now = state.pacing.due();
    state.pacing.hurry(now + Duration::from_millis(5));
    let waits = NextTask::Wait(Some(state.pacing.due()));
    assert_eq!(next_task(&state, &behind(), now), waits);
    assert_eq!(
        next_task(&state, &behind(), state.pacing.due()),
        NextTask::Round(4)
    );
    assert_eq!(
        next_task(
            &state,
            &behind().busy().but(|it| it.has_room = false),
            state.pacing.due()
        ),
        WAIT
    );
    let requested = state.clone().with_command(draw(0));
    assert_eq!(next_task(&requested, &behind(), now), NextTask::Round(4));
    state.mode = Mode::Paused;
    assert_eq!(next_task(&state, &behind(), now), NextTask::Round(4));
}

#[test]
fn a_calibration_waits_until_nothing_is_under_way_and_for_commands() {
    let wanting = facts().but(|it| it.wants_calibration = true);
    assert_eq!(running().next(wanting.clone()), NextTask::Calibrate);
    assert_eq!(running().next(wanting.clone().busy()), WAIT);
    let requested = running().with_command(TOGGLE_PAUSE);
    assert_eq!(requested.next(wanting.clone()), NextTask::TakeCommand);
    let calibrating = wanting.but(|it| it.calibrating = true);
    assert_eq!(requested.next(calibrating), WAIT);
}

#[test]
fn a_periodic_copy_takes_its_turn_between_rounds() {
    let due = facts().but(|it| it.snapshot_due = true);
    assert_eq!(
        running().next(due.clone()),
        NextTask::Snapshot(SnapshotReason::Periodic)
    );
    assert_eq!(
        running().next(due.clone().without_slots()),
        NextTask::Round(4)
    );
    let requested = running().with_command(draw(0));
    assert_eq!(requested.next(due), NextTask::TakeCommand);
}

#[test]
fn the_number_of_an_edit_goes_with_its_own_record() {
    let mut state = paused();
    state.draws(0);
    state.applied();
    state.draws(1);
    state.lost_cells();
    state.restored(at(0, 0));
    assert_eq!(state.due_edit_number(), None, "of the first edit");
    state.applied();
    assert_eq!(state.due_edit_number(), Some(7));
}

#[test]
fn a_redo_that_nothing_leads_to_leaves_the_log_as_it_was() {
    let mut state = paused();
    state.steps(4);
    state.draws(0);
    state.applied();
    state.timeline.copies.coming = vec![at(0, 4)];
    state.undo();
    state.restored(at(0, 4));
    state.arrived(state.pacing.due());
    state.steps(8);
    state.redo();
    assert_eq!(state.timeline.log.end(), 1);
    state.timeline.copies.coming.clear();
    let answer = state.handle_unreachable_target();
    assert!(matches!(answer, Some(Notice::Refused(_))));
    assert_eq!((state.timeline.log.end(), &state.mode), (0, &Mode::Paused));
    assert_eq!(
        state.next(facts()),
        WAIT,
        "the edit is not applied once more"
    );
}

#[test]
fn an_undo_that_is_lost_with_the_cells_takes_nothing_off_the_log() {
    let mut state = paused();
    let base = state.timeline.log.base_parameters().clone();
    state.timeline.log = Log::from_parts(base, at(0, 4), false, Default::default());
    state.timeline.here = at(0, 4);
    state.draws(0);
    state.applied();
    state.steps(4);
    state.timeline.copies.coming = vec![at(1, 4)];
    state.undo();
    state.restored(at(1, 4));
    state.arrived(state.pacing.due());
    state.timeline.copies.coming = vec![at(0, 4)];
    state.undo();
    state.lost_cells();
    // The copy before the edit is gone; the nearest behind it is taken.
    state.timeline.copies.coming = vec![at(1, 9), at(1, 6)];
    state.handle_unreachable_target().unwrap();
    state.restored(at(1, 6));
    assert_eq!(state.next(facts()), NextTask::Arrive);
    state.arrived(state.pacing.due());
    assert_eq!(
        (state.timeline.log.end(), state.timeline.here),
        (1, at(1, 6))
    );
}

#[test]
fn an_edit_ends_a_run_that_a_lesson_paused() {
    let mut state = running();
    state.run_to(100);
    state.pause_for_lesson(true, state.pacing.due());
    assert!(state.draws(0).is_some());
    state.applied();
    state.pause_for_lesson(false, state.pacing.due());
    assert_eq!(state.mode, Mode::Paused);
}

#[test]
fn whoever_wants_more_than_the_rounds_asked_for_gets_them_after_a_loss_too() {
    let mut state = running();
    state.max_rounds = Some(1);
    state.steps(4);
    assert_eq!(state.mode, Mode::Paused);
    state.lost_cells();
    state.toggle_pause(state.pacing.due());
    state.restored(at(0, 0));
    state.steps(4);
    state.arrived(state.pacing.due());
    state.steps(4);
    assert_eq!((&state.mode, state.rounds), (&Mode::Running, 2));
}

#[test]
fn on_a_long_way_a_pause_and_a_save_overtake_what_waits_for_its_end() {
    let mut state = paused();
    state.steps(50);
    state.run_to(40);
    state.restored(at(0, 0));
    for command in [draw(0), STEP, save(), TOGGLE_PAUSE] {
        state.enqueue(command);
    }
    let order = |command: &Command| match command {
        Command::Act(SessionAction::TogglePause) => "pause",
        Command::Edit(..) => "edit",
        Command::Save(_) => "save",
        _ => "step",
    };
    let order: Vec<_> = state.queue.iter().map(order).collect();
    assert_eq!(order, ["pause", "edit", "save", "step"]);
}

#[test]
fn on_a_long_way_back_a_copy_is_made_for_the_next_step_back() {
    let mut state = paused();
    state.steps(1000);
    state.step_back(1);
    state.restored(at(0, 0));
    while let NextTask::Round(generations) = state.next(facts()) {
        state.steps(generations);
    }
    let landmark = NextTask::Snapshot(SnapshotReason::Landmark);
    assert_eq!(state.next(facts()), landmark);
    assert_eq!(state.timeline.here, at(0, 999 - 64));
}
