//! What a command does when nothing else is under way: where it leads, and which records it adds to
//! the log. The account of the log says so, by simpler means than the session's.

use super::driver::{Driver, Step};
use super::*;
use crate::log::{Author, CellChange, Content, Position};

/// More turns than any command waits.
const MAX_TURNS: usize = 10_000;

/// What is asked for at rest.
#[derive(Clone, Debug)]
pub(super) enum Alone {
    /// One command; it leads where it should.
    Command(Box<Step>),
    /// An edit, and a copy and a step right behind it; and a loss after so many turns, before any copy has been
    /// read.
    CopyAfter(Edit, Option<u32>),
    /// Edits with so many turns between them, of which so many copies are read, and a loss.
    LoseWhileReading(Vec<Edit>, u32, u32),
    /// Edits while rounds go on, or during a run to a generation.
    Edits(Vec<(Edit, u32)>, bool),
    /// Everything is undone and redone.
    UndoAndRedoAll,
    /// More steps than may wait.
    KeyHeldDown,
    /// A lesson opens after so many turns, and closes.
    Lesson(u32),
    /// A way back is stopped, while an edit waits for its end.
    StopOnTheWay(Edit),
}

impl Driver {
    pub(super) fn ask_alone(&mut self, alone: Alone) {
        if !self.is_undisturbed() {
            return;
        }
        match alone {
            Alone::Command(step) => self.ask(*step),
            Alone::CopyAfter(edit, lost) => self.copy_after(edit, lost),
            Alone::LoseWhileReading(edits, turns, read) => {
                self.lose_while_reading(edits, turns, read)
            }
            Alone::Edits(edits, runs_to) => self.edit_running(edits, runs_to),
            Alone::UndoAndRedoAll => self.undo_and_redo_all(),
            Alone::KeyHeldDown => self.hold_step(),
            Alone::Lesson(turns) => self.open_lesson(turns),
            Alone::StopOnTheWay(edit) => self.stop_on_the_way(edit),
        }
    }

    /// Comes to rest. Returns whether nothing will keep the next commands from what they should do.
    fn is_undisturbed(&mut self) -> bool {
        self.settle();
        let worker = &self.worker;
        let may_stop = worker.state.position.generation > 500 // see `turn`
            || worker.state.pacing.pace == Pace::Maximum
            || worker.setup.time.stop_when_still != StopWhenStill::Never;
        worker.ended.is_none() && !self.script.has_faults() && !may_stop
    }

    /// Whether the memory for history is so small that positions are forgotten.
    pub(super) fn is_forgetful(&self) -> bool {
        self.worker.setup.time.history_bytes < 1 << 20
    }

    fn act(&mut self, action: SessionAction) {
        self.step(Step::Act(action));
    }

    fn turn_while(&mut self, so: impl Fn(&SessionWorker) -> bool) {
        let turns = (0..MAX_TURNS).take_while(|_| so(&self.worker) && self.turn());
        assert!(turns.count() < MAX_TURNS, "{:?}", self.worker.state);
    }

    /// Asks for something at rest, and compares what it leads to with what it should.
    fn ask(&mut self, step: Step) {
        let here = self.worker.state.position;
        let is_run = matches!(step, Step::Act(SessionAction::TogglePause));
        let expected = self.expected(&step);
        self.step(step.clone());
        if is_run {
            self.turn_while(|worker| !worker.state.queue.is_empty());
            return assert!(self.worker.is_running(), "it does not run");
        }
        self.turn_until_rest();
        let Some((target, added)) = expected else {
            return;
        };
        let at = self.worker.state.position;
        if at != target && self.is_forgetful() && added.is_none() {
            // As far back as anything is kept, or nothing was done.
            return assert!(at == here || target < at && at < here, "at {at:?}");
        }
        assert_eq!(at, target, "from {here:?}");
        let is_toggle = matches!(step, Step::Act(SessionAction::ToggleComparison));
        if is_toggle && at < here && !self.is_forgetful() {
            self.act(SessionAction::Redo);
            self.turn_until_rest();
            let back = self.worker.state.position;
            assert_eq!(back, here, "one redo comes back to what was left");
        }
        if let Some(content) = added {
            let log = &self.reference;
            let last = log.items.last().expect("a record");
            assert_eq!((last.author, &last.content), (Author::Person, &content));
            assert_eq!(log.end(), at.records);
            let goes_on = matches!(&step, Step::Edit(edit) if edit.continues_stroke);
            let back = log.undo(at).map(|back| back.to);
            assert!(goes_on || back == Some(here), "undo leads to {back:?}");
        }
    }

    /// Where this leads from rest, and what it adds to the log.
    fn expected(&mut self, step: &Step) -> Option<(Position, Option<Content>)> {
        match step {
            Step::Act(action) => self.expected_of(*action),
            Step::Edit(edit) => Some(self.adding(Content::Cells {
                instance: edit.instance % self.worker.setup.instances,
                cells: CellChange::Edit(edit.change.clone()),
            })),
            _ => None,
        }
    }

    fn expected_of(&mut self, action: SessionAction) -> Option<(Position, Option<Content>)> {
        let here = self.worker.state.position;
        let per_round = self.worker.state.pacing.generations().into();
        let parameters = self.reference.parameters(here.records).clone();
        // A round of the user's own must be right for A's instances alone.
        let setting = self.worker.setup.setting.clone();
        let half = setting.own_calls(parameters.instances / 2);
        let lacks_half = setting.switches.order == crate::Order::Own && half.is_none();
        let target = match action {
            SessionAction::StepGeneration => self.after(here, 1, false),
            SessionAction::StepRound => self.after(here, per_round, false),
            SessionAction::StepBack => self.back_to(here.generation.saturating_sub(1)),
            SessionAction::StepRoundBack => self.back_to(here.generation.saturating_sub(per_round)),
            SessionAction::RunTo(generation) if generation >= here.generation => {
                self.after(here, generation - here.generation, true)
            }
            SessionAction::RunTo(before) if before < parameters.start.generation() => here,
            SessionAction::RunTo(before) => self.back_to(before),
            SessionAction::ResetPanel => {
                let instance = self.worker.watch.selected;
                let cells = CellChange::Start;
                return Some(self.adding(Content::Cells { instance, cells }));
            }
            SessionAction::ResetAll => {
                return Some(self.adding(Content::Start(parameters.start)));
            }
            SessionAction::NewSeed => {
                let mut start = parameters.start;
                match &mut start {
                    Start::Soup { seed, .. } => *seed += 1,
                    Start::Lattices { .. } => start = Start::soup(0.3, 1),
                }
                return Some(self.adding(Content::Start(start)));
            }
            SessionAction::Undo => match self.reference.undo(here) {
                Some(back) if back.removes => back.to,
                Some(back) => self.after(back.to, 0, false),
                None => here,
            },
            SessionAction::ToggleComparison if parameters.compares => {
                self.reference.comparison().expect("a record")
            }
            SessionAction::ToggleComparison if parameters.instances < 2 || lacks_half => here,
            SessionAction::ToggleComparison => return Some(self.adding(Content::Compare)),
            SessionAction::SetRule(rule) if rule != parameters.rule => {
                return Some(self.adding(Content::Rule(rule)));
            }
            SessionAction::SetSize(size) => return Some(self.resizing(size, parameters.instances)),
            SessionAction::SetInstances(count) => {
                return Some(self.resizing(parameters.size, count.into()));
            }
            SessionAction::DoubleInstances => {
                return Some(self.resizing(parameters.size, 2 * parameters.instances));
            }
            SessionAction::HalveInstances => {
                return Some(self.resizing(parameters.size, parameters.instances / 2));
            }
            SessionAction::Redo | SessionAction::TogglePause | SessionAction::SetDensity(_) => {
                return None;
            }
            _ => here,
        };
        Some((target, None))
    }

    /// After so many generations more, with everything that is due on the way. A run ends at a start.
    fn after(&mut self, mut at: Position, mut generations: u64, is_run: bool) -> Position {
        let log = &self.reference;
        loop {
            while log.next_at(at) == Some(at.generation) {
                let is_start = matches!(log.items[at.records as usize].content, Content::Start(_));
                at = log.after(at.records + 1);
                if is_start && is_run {
                    generations = 0;
                }
            }
            if generations == 0 {
                return at;
            }
            let next = log.next_at(at).map(|next| next - at.generation);
            let stepped = next.map_or(generations, |next| next.min(generations));
            at.generation += stepped;
            generations -= stepped;
        }
    }

    /// Back to a generation of the present start.
    fn back_to(&mut self, generation: u64) -> Position {
        let here = self.worker.state.position;
        let log = &self.reference;
        if here.generation == log.start_of(here).generation {
            return here;
        }
        log.at_generation(here, generation)
    }

    /// After a change of the grid, unless it is no change, or of A's and B's instances.
    fn resizing(&mut self, size: Size, instances: usize) -> (Position, Option<Content>) {
        let here = self.worker.state.position;
        let now = self.reference.parameters(here.records);
        let is_more = !now.compares && instances > 0;
        if (size, instances) == (now.size, now.instances) || instances != now.instances && !is_more
        {
            return (here, None);
        }
        self.adding(Content::Grid { size, instances })
    }

    /// After a record that is added here.
    fn adding(&self, added: Content) -> (Position, Option<Content>) {
        let mut at = self.worker.state.position;
        at.records += 1;
        if let Content::Start(start) = &added {
            at.generation = start.generation();
        }
        (at, Some(added))
    }

    /// Edits an instance and asks for its cells, and then for a step: they are those before it. If the session
    /// ends before that step, they are the newest on the host.
    fn copy_after(&mut self, edit: Edit, lost: Option<u32>) {
        let mut at = self.worker.state.position;
        at.records += 1;
        let instance = edit.instance % self.worker.setup.instances;
        let (query, copy) = channel();
        self.step(Step::Edit(edit));
        self.worker.dispatch(Command::ReadCells(instance, query));
        self.act(SessionAction::StepGeneration);
        if let Some(turns) = lost {
            self.turns_without_reading(turns);
            self.step(Step::Fail(Call::Poll, 0, Fault::Lost));
        }
        self.turn_until_rest();
        if self.worker.ended.is_some() && self.worker.state.position <= at {
            return self.cell_reads.push((instance, copy));
        }
        let want = self.reference.cells(at).swap_remove(instance);
        assert_eq!(copy.try_recv(), Ok((want, at.generation)), "{at:?}");
    }

    /// Edits an instance while rounds go on, and loses the engine before every copy has been read.
    fn lose_while_reading(&mut self, edits: Vec<Edit>, turns: u32, read: u32) {
        let instance = edits[0].instance;
        self.act(SessionAction::TogglePause);
        for edit in edits {
            self.step(Step::Edit(Edit { instance, ..edit }));
            self.turns_without_reading(turns);
        }
        self.pause();
        self.turns_without_reading(4);
        (0..read).for_each(|_| self.step(Step::Background(false)));
        self.step(Step::Fail(Call::Poll, 1, Fault::Lost));
        self.settle();
        self.act(SessionAction::Undo);
        self.settle();
    }

    /// Edits while rounds go on. Every edit is on the log afterwards, in this order; a run to a
    /// generation ends with the first.
    fn edit_running(&mut self, edits: Vec<(Edit, u32)>, runs_to: bool) {
        let far = self.worker.state.position.generation + 300;
        self.act(if runs_to {
            SessionAction::RunTo(far)
        } else {
            SessionAction::TogglePause
        });
        let mut asked = Vec::new();
        let mut before = None;
        for (edit, turns) in edits {
            // The number of lattices is asked each time: a kernel that fails may take the session back to fewer.
            let instance = edit.instance % self.worker.setup.instances;
            let is_of_last = before.replace(instance) == Some(instance);
            let goes_on = edit.continues_stroke && is_of_last;
            let cells = CellChange::Edit(edit.change.clone());
            asked.push((Content::Cells { instance, cells }, goes_on));
            self.step(Step::Edit(edit));
            self.step(Step::Turns(turns));
        }
        self.turn_while(|worker| !worker.state.queue.is_empty());
        assert!(!runs_to || !self.worker.is_running(), "the run goes on");
        self.settle();
        let items = self.reference.items.iter();
        let edits: Vec<_> = items.filter(|item| item.author == Author::Person).collect();
        let edits = &edits[edits.len() - asked.len()..];
        let contents = edits.iter().map(|item| &item.content);
        assert!(
            contents.eq(asked.iter().map(|(content, _)| content)),
            "an edit is lost"
        );
        for (two, (_, goes_on)) in edits.windows(2).zip(&asked[1..]) {
            assert_eq!(two[0].entry == two[1].entry, *goes_on, "an entry");
        }
    }

    /// Undoes everything, and redoes it.
    fn undo_and_redo_all(&mut self) {
        let before = (self.worker.state.log.end(), self.worker.state.position);
        let mut undone = 0;
        loop {
            let here = self.worker.state.position;
            self.act(SessionAction::Undo);
            self.turn_until_rest();
            if self.worker.state.position == here {
                break;
            }
            undone += 1;
            assert!(undone <= 2 * before.0 + 2, "undo without an end");
        }
        for _ in 0..undone {
            self.act(SessionAction::Redo);
            self.turn_until_rest();
        }
        let after = (self.worker.state.log.end(), self.worker.state.position);
        assert_eq!(after, before, "redo leads elsewhere");
    }

    /// Asks for more steps than may wait.
    fn hold_step(&mut self) {
        let target = self.after(self.worker.state.position, 4, false);
        (0..9).for_each(|_| self.act(SessionAction::StepGeneration));
        self.turn_until_rest();
        assert_eq!(self.worker.state.position, target);
    }

    /// Opens a lesson while it runs, and closes it.
    fn open_lesson(&mut self, turns: u32) {
        self.act(SessionAction::TogglePause);
        self.step(Step::Turns(turns));
        if !self.worker.is_running() {
            return;
        }
        for opens in [true, false] {
            self.step(Step::PauseForLesson(opens));
            self.turn_while(|worker| !worker.state.queue.is_empty());
            assert_eq!(self.worker.is_running(), !opens);
        }
    }

    /// Stops on the way back, with an edit that waits for the end of the way.
    fn stop_on_the_way(&mut self, edit: Edit) {
        self.act(SessionAction::StepBack);
        self.turn_while(|worker| worker.state.moving().is_none_or(|it| !it.begun));
        let target = self.worker.state.moving().map(|moving| moving.target);
        // With a start on the way, the last record may lead there at once.
        let here = self.worker.state.position;
        let is_ahead = |target: &Position| here < *target && here.records == target.records;
        let Some(target) = target.filter(is_ahead) else {
            return;
        };
        self.step(Step::Edit(edit));
        self.act(SessionAction::TogglePause);
        self.turn_while(|worker| worker.state.moving().is_some());
        let position = self.worker.state.position;
        assert!(position < target, "it is not stopped");
        let [here, there] = [position, target].map(|it| it.generation);
        let said = self.worker.publisher.message().expect("why it stopped");
        assert_eq!(
            **said,
            format!("Stopped at generation {here}, on the way to {there}")
        );
    }
}
