//! The order of work, and what became of histories that once went wrong.

use super::*;

/// A paused session of two lattices, four generations per round.
fn paused() -> State {
    let parameters = SessionParameters {
        size: Size::new(8, 8).unwrap(),
        instances: 2,
        rule: "B3/S23".parse().unwrap(),
        start: soup(1),
        compares: false,
        drawn: Default::default(),
    };
    let mut state = State::new(
        Log::new(parameters),
        0,
        Pacing::new(Pace::Unthrottled, 4, Instant::now()),
        None,
    );
    (state.mode, state.wants_pictures) = (Mode::Paused, false);
    state
}

fn running() -> State {
    let mut state = paused();
    state.mode = Mode::Running;
    state
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
        self.but(|it| (it.snapshot_wanted, it.snapshot_awaited) = (true, true))
    }

    fn without_slots(self) -> EngineFacts {
        self.but(|it| it.can_snapshot = false)
    }
}

impl State {
    fn with_command(mut self, command: Command) -> State {
        enqueue(&mut self.queue, command, false);
        self
    }

    /// Draws in an instance.
    fn draws(&mut self, instance: usize) -> Option<Notice> {
        self.edit(&edit(instance), 7)
    }

    fn next(&self, facts: EngineFacts) -> NextTask {
        next_task(self, &facts, self.pacing.due)
    }

    /// A step of this many generations that nothing interrupts.
    fn steps(&mut self, generations: u32) {
        let now = self.pacing.due;
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
    Command::Save(channel().0)
}

const WAIT: NextTask = NextTask::Wait(None);

/// What comes next: edits do not wait for rounds under way, and moves do; a pause and a save do not wait for
/// the end of a long round, nor a calibration or a periodic copy before a command.
#[test]
fn what_comes_next_follows_from_what_waits() {
    let short = |longest| facts().but(|it| it.longest_round = longest);
    let stepped = |command| {
        let mut state = running().with_command(command);
        state.steps(2);
        state
    };
    let (with, copy) = (
        |command| running().with_command(command),
        NextTask::Snapshot,
    );
    let due = || facts().but(|it| it.snapshot_due = true);
    let wanting = || facts().but(|it| it.wants_calibration = true);
    let behind = || facts().but(|it| it.pending_second_round = Some(4));
    let mut later = running();
    later.pacing.due += Duration::from_millis(5);
    let mut edited = later.clone();
    edited.wants_pictures = true;
    let (now, mut paused_later) = (running().pacing.due, later.clone());
    paused_later.mode = Mode::Paused;
    for (number, (state, facts, next)) in [
        (with(draw(0)), facts().busy(), NextTask::TakeCommand),
        (with(UNDO), facts().busy(), WAIT),
        (with(UNDO), facts(), NextTask::TakeCommand),
        (with(STEP_BACK), facts().busy(), WAIT),
        (with(NEXT_KERNEL), facts().busy(), WAIT),
        (running(), short(3), NextTask::Round(2)), // equal ones
        (stepped(TOGGLE_PAUSE), short(2), NextTask::TakeCommand),
        (stepped(save()), short(2), NextTask::TakeCommand),
        // Rounds go on until a slot is free for a copy that is wanted; what was asked for later waits.
        (with(STEP), facts().wanting(), copy(SnapshotReason::Wanted)),
        (
            with(STEP),
            facts().wanting().without_slots(),
            NextTask::Round(4),
        ),
        (
            paused().with_command(STEP),
            facts().wanting().without_slots(),
            WAIT,
        ),
        (running(), wanting(), NextTask::Calibrate),
        (running(), wanting().busy(), WAIT),
        (with(TOGGLE_PAUSE), wanting(), NextTask::TakeCommand),
        (
            with(TOGGLE_PAUSE),
            wanting().but(|it| it.calibrating = true),
            WAIT,
        ),
        (running(), due(), copy(SnapshotReason::Periodic)),
        (running(), due().without_slots(), NextTask::Round(4)),
        (with(draw(0)), due(), NextTask::TakeCommand),
        // B follows at its pace while both run, and at once when something waits.
        (running(), behind(), NextTask::Round(4)),
        (
            running(),
            behind().busy().but(|it| it.has_room = false),
            WAIT,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(state.next(facts), next, "row {number}");
    }
    for (state, facts, next) in [
        // An edit is shown before the next round is due.
        (edited, facts(), NextTask::Refresh),
        (
            later.clone(),
            behind(),
            NextTask::Wait(Some(later.pacing.due)),
        ),
        (later.with_command(draw(0)), behind(), NextTask::Round(4)),
        (paused_later, behind(), NextTask::Round(4)),
    ] {
        assert_eq!(next_task(&state, &facts, now), next);
    }
}

#[test]
fn an_undo_that_is_lost_with_the_cells_takes_nothing_off_the_log() {
    let mut state = paused();
    let base = state.log.base.clone();
    state.log = Log::from_parts(base, at(0, 4), false, Default::default());
    state.position = at(0, 4);
    state.draws(0);
    state.applied();
    state.steps(4);
    state.copies.coming = vec![at(1, 4)];
    state.undo();
    state.restored(at(1, 4));
    state.arrived(state.pacing.due);
    state.copies.coming = vec![at(0, 4)];
    state.undo();
    state.lost_cells();
    // The copy before the edit is gone; the nearest behind it is taken.
    state.copies.coming = vec![at(1, 9), at(1, 6)];
    state.handle_unreachable_target().unwrap();
    state.restored(at(1, 6));
    assert_eq!(state.next(facts()), NextTask::Arrive);
    state.arrived(state.pacing.due);
    assert_eq!((state.log.end(), state.position), (1, at(1, 6)));
}

#[test]
fn an_edit_ends_a_run_that_a_lesson_paused() {
    let mut state = running();
    state.run_to(100);
    state.pause_for_lesson(true, state.pacing.due);
    assert!(state.draws(0).is_some());
    state.applied();
    state.pause_for_lesson(false, state.pacing.due);
    assert_eq!(state.mode, Mode::Paused);
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
    assert_eq!(state.position, at(0, 999 - 64));
}
