//! What a session does next, decided from its state and a few facts about the engine.

use std::time::Instant;

use crate::SessionAction;
use crate::command::{Command, When};
use crate::log::{CellChange, Content, Record};
use crate::state::{Mode, Move, State};

/// Facts about the engine and the snapshots that [`next_task`] decides by.
#[derive(Clone, Default, Debug)]
pub(crate) struct EngineFacts {
    /// Nothing is in flight on the engine, and nothing is being read from its slots.
    pub(crate) engine_idle: bool,
    /// Another round may be issued.
    pub(crate) has_room: bool,
    /// Maximum number of generations of a round.
    pub(crate) longest_round: u32,
    /// A calibration is under way: a round that runs op by op.
    pub(crate) calibrating: bool,
    /// A calibration is wanted and possible.
    pub(crate) wants_calibration: bool,
    /// The fastest kernel is to take the place of the chosen one, or the other way round.
    pub(crate) kernel_due: bool,
    /// Generations of a comparison's round that A has made and B has not.
    pub(crate) pending_second_round: Option<u32>,
    /// A slot is free for a snapshot, and all lattices are at one generation.
    pub(crate) can_snapshot: bool,
    /// The host has a copy of the present cells.
    pub(crate) has_copy: bool,
    /// A periodic snapshot is due.
    pub(crate) snapshot_due: bool,
    /// Somebody waits for a snapshot of the present position.
    pub(crate) snapshot_wanted: bool,
}

/// Why all lattices are copied into a host slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SnapshotReason {
    /// The last snapshot is old.
    Periodic,
    /// The user is about to change cells, or a move passes its waypoint.
    Landmark,
    /// Cells are needed on the host.
    Wanted,
}

/// The next piece of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NextTask {
    /// Sleep until this time, or until something happens.
    Wait(Option<Instant>),
    /// Take the first command.
    TakeCommand,
    /// Apply the record that is due.
    Apply,
    /// Issue a round of this many generations.
    Round(u32),
    /// Copy all lattices into a host slot.
    Snapshot(SnapshotReason),
    /// Set the lattices to the cells at the start of the move's route.
    Restore,
    /// End the move: it has reached its target.
    Arrive,
    /// Download pictures without stepping.
    Refresh,
    /// Run a round op by op.
    Calibrate,
    /// Take the fastest kernel, or the chosen one back.
    FitKernel,
}

/// Decides the next piece of work.
pub(crate) fn next_task(state: &State, facts: &EngineFacts, now: Instant) -> NextTask {
    let wait = NextTask::Wait(None);
    if facts.calibrating {
        return wait;
    }
    // A move's cells are set first: until then the cells may be lost.
    if let Some(moving) = state.moving()
        && !moving.begun
    {
        if let Some(Command::Act(SessionAction::TogglePause)) = state.queue.front() {
            return NextTask::TakeCommand;
        }
        return only_if(facts.engine_idle, NextTask::Restore);
    }
    if let Some(generations) = facts.pending_second_round {
        return b_round(state, generations, facts, now);
    }
    if let Some(record) = state.due_record() {
        return apply_due(state, record, facts);
    }
    // While no slot is free for the snapshot, rounds go on, but later commands wait.
    let waits_for_slot = facts.snapshot_wanted;
    if waits_for_slot && facts.can_snapshot {
        return NextTask::Snapshot(SnapshotReason::Wanted);
    }
    let first = state.queue.front().map(|command| command.needs().when);
    if first.is_some_and(|when| when <= When::InTurn) {
        return NextTask::TakeCommand;
    }
    match &state.mode {
        Mode::Moving(moving) => return go_on_moving(state, moving, facts),
        Mode::Stepping(left) => return round(state, (*left).into(), facts),
        Mode::Paused | Mode::Running | Mode::RunningTo(_) => {}
    }
    if facts.kernel_due {
        return only_if(facts.engine_idle, NextTask::FitKernel);
    }
    if let Some(when) = first.filter(|_| !waits_for_slot) {
        return match when {
            When::AtOnce | When::InTurn | When::NoMove => NextTask::TakeCommand,
            When::EngineIdle | When::AllCellsOnHost if !facts.engine_idle => wait,
            When::AllCellsOnHost if !facts.has_copy && facts.can_snapshot => {
                NextTask::Snapshot(SnapshotReason::Wanted)
            }
            When::AllCellsOnHost if !facts.has_copy => wait,
            When::EngineIdle | When::AllCellsOnHost => NextTask::TakeCommand,
        };
    }
    if facts.wants_calibration && state.mode == Mode::Running {
        return only_if(facts.engine_idle, NextTask::Calibrate);
    }
    if facts.snapshot_due && facts.can_snapshot {
        return NextTask::Snapshot(SnapshotReason::Periodic);
    }
    match &state.mode {
        Mode::Running if now >= state.pacing.due => {
            let wanted = state.pacing.left();
            round(state, wanted.into(), facts)
        }
        Mode::Running if state.wants_pictures && facts.has_room => NextTask::Refresh,
        Mode::Running => NextTask::Wait(Some(state.pacing.due)),
        Mode::RunningTo(run_to) => {
            let left = run_to
                .generation
                .saturating_sub(state.position().generation);
            round(state, left.min(run_to.chunk.into()), facts)
        }
        Mode::Paused | Mode::Stepping(_) | Mode::Moving(_) => {
            only_if(state.wants_pictures && facts.has_room, NextTask::Refresh)
        }
    }
}

/// A piece of work if that can be now, or else nothing.
fn only_if(can_be: bool, work: NextTask) -> NextTask {
    if can_be { work } else { NextTask::Wait(None) }
}

/// A round of at most `wanted` generations, up to the next record.
fn round(state: &State, wanted: u64, facts: &EngineFacts) -> NextTask {
    let wanted = state.until_next(wanted);
    only_if(
        facts.has_room,
        NextTask::Round(part_of_round(wanted, facts.longest_round)),
    )
}

/// The generations of the first of the equal rounds, as far as possible, as which a round is issued
/// where rounds have at most `longest` generations.
pub(crate) fn part_of_round(generations: u32, longest: u32) -> u32 {
    let parts = generations.div_ceil(longest.max(1)).max(1);
    generations.div_ceil(parts)
}

/// B's round after A's: at the pace while both run, at once if something waits.
fn b_round(state: &State, generations: u32, facts: &EngineFacts, now: Instant) -> NextTask {
    let at_once = state.mode != Mode::Running || !state.queue.is_empty();
    if !at_once && now < state.pacing.due {
        NextTask::Wait(Some(state.pacing.due))
    } else {
        only_if(facts.has_room, NextTask::Round(generations))
    }
}

/// The work that a due record needs before it is applied, or its application.
fn apply_due(state: &State, record: &Record, facts: &EngineFacts) -> NextTask {
    let (here, wait) = (state.position(), NextTask::Wait(None));
    // An edit can be undone: a snapshot is made before it.
    if state.begins_edit(record) && !state.is_at_hand(here) {
        return only_if(
            facts.can_snapshot,
            NextTask::Snapshot(SnapshotReason::Landmark),
        );
    }
    let needs_cells = match &record.content {
        Content::Cells { cells, .. } => match cells {
            CellChange::Edit(change) if change.reads_cells() => true,
            CellChange::Edit(_) | CellChange::Start | CellChange::Soup { .. } => {
                return NextTask::Apply;
            }
        },
        Content::Start(_) | Content::Rule(_) => false,
        Content::Grid { .. } | Content::Compare => true,
    };
    match facts {
        EngineFacts {
            engine_idle: false, ..
        } => wait,
        EngineFacts { has_copy, .. } if *has_copy || !needs_cells => NextTask::Apply,
        EngineFacts {
            can_snapshot: true, ..
        } => NextTask::Snapshot(SnapshotReason::Wanted),
        EngineFacts { .. } => wait,
    }
}

fn go_on_moving(state: &State, moving: &Move, facts: &EngineFacts) -> NextTask {
    let here = state.position();
    if here >= moving.target {
        return NextTask::Arrive;
    }
    if moving.waypoint == Some(here.generation) && here.records == moving.target.records {
        return only_if(
            facts.can_snapshot,
            NextTask::Snapshot(SnapshotReason::Landmark),
        );
    }
    let end = if here.records == moving.target.records {
        moving.target.generation
    } else {
        u64::MAX
    };
    let waypoint = moving.waypoint.filter(|&at| at > here.generation);
    let end = waypoint.map_or(end, |at| end.min(at));
    let left = end - here.generation;
    round(state, left.min(moving.chunk.into()), facts)
}
