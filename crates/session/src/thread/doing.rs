//! What people ask for, done between two rounds.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Pilot;
use super::editing::Asked;
use crate::Command;
use crate::worlds::Worlds;
use engine::kernels::KERNELS;
use engine::{Kernel, Result};
use lang::tr;
use life::Lattice;
use model::KernelChoice;
use model::{Action, Choice, Pace, PicturePlan, Start};

/// How long something may wait before it is said that it does.
const PATIENCE: Duration = Duration::from_millis(300);

impl Pilot {
    /// Whether something must wait until nothing runs, as the driver would wait for it then: the
    /// thread would hear nobody meanwhile, and a launch may take minutes.
    pub(super) fn must_wait(&self, command: &Command) -> bool {
        let Some(worlds) = &self.worlds else {
            return false;
        };
        let waits = match command {
            // What waits is about the panel that was selected when it was asked for.
            // And what acts on cells comes behind what was asked of them before.
            Command::Act(
                Action::SelectNext
                | Action::SelectPrevious
                | Action::Select(_)
                | Action::Undo
                | Action::Redo
                | Action::StepGeneration
                | Action::StepRound,
            ) => {
                return !self.pending.is_empty();
            }
            Command::Reseed(_) | Command::Restore(_) => true,
            Command::Keep(_) | Command::Say(_) | Command::Tell(_) => return false,
            Command::Act(action) => matches!(
                action,
                Action::ResetPanel
                    | Action::StepBack
                    | Action::RoundBack
                    | Action::RunTo(_)
                    | Action::ResetAll
                    | Action::NewSeed
                    | Action::UseKernel(_)
                    | Action::NextKernel
                    | Action::PreviousKernel
                    | Action::NextOf(_)
                    | Action::Choose(..)
                    | Action::ToggleHalves
            ),
            // Behind one that waits, or that would be the last word.
            Command::View(view) => {
                let waits = |(command, _): &(Command, Instant)| matches!(command, Command::View(_));
                worlds.needs_slots(Some(*view)) || self.pending.iter().any(waits)
            }
            Command::Ask(_) => return !self.pending.is_empty(),
            Command::Close => false,
        };
        let under_way = self.editor.is_busy()
            || self.is_reading()
            || !worlds.is_idle()
            || self.left_of_round.is_some()
            || worlds.owed().is_some();
        waits && (under_way || !self.pending.is_empty())
    }

    pub(super) fn put_off(&mut self, command: Command) {
        self.unrestored |= matches!(command, Command::Restore(_));
        if let Command::View(_) = command {
            let views = |(command, _): &(Command, Instant)| matches!(command, Command::View(_));
            self.pending.retain(|pending| !views(pending)); // the last one counts
        }
        self.pending.push_back((command, Instant::now()));
    }

    /// Does what waited, once nothing runs.
    pub(super) fn obey_pending(&mut self) -> Result<()> {
        let Some((_, since)) = self.pending.front() else {
            return Ok(());
        };
        let idle = self.worlds.as_ref().is_none_or(Worlds::is_idle);
        let busy = self.editor.is_busy() || self.is_reading() || self.left_of_round.is_some();
        if !idle || busy || self.owed().is_some() {
            if since.elapsed() > PATIENCE {
                let what = tr!("what was asked for waits for the launch under way");
                self.notice = Some((what.into(), Instant::now()));
                self.changed = true;
            }
            return Ok(());
        }
        match self.pending.pop_front() {
            Some((command, _)) => self.obey(command),
            None => Ok(()),
        }
    }

    pub(super) fn obey(&mut self, command: Command) -> Result<()> {
        match command {
            Command::Act(action) => {
                let done = self.act(action);
                self.log(action);
                done
            }
            Command::View(request) => self.set_view(request),
            Command::Reseed(instance) => self.reseed(instance),
            Command::Ask(asked) => {
                self.ask(asked);
                Ok(())
            }
            Command::Restore(kept) => self.restore(*kept),
            Command::Keep(answer) => {
                self.keep(answer);
                Ok(())
            }
            Command::Say(sentence) => {
                self.say(sentence);
                self.changed = true;
                (self.wake)();
                Ok(())
            }
            Command::Tell(sentence) => {
                self.tell(sentence);
                (self.wake)();
                Ok(())
            }
            Command::Close => Ok(()),
        }
    }

    /// Does what needs no engine; everything else comes too late.
    pub(super) fn obey_after_the_end(&mut self, command: Command) -> Result<()> {
        let select = |action: &Action| {
            matches!(
                action,
                Action::SelectNext | Action::SelectPrevious | Action::Select(_)
            )
        };
        match command {
            Command::Ask(asked) => {
                self.ask(asked);
                self.answer_from_the_last();
                Ok(())
            }
            Command::Act(action) if action.needs_engine() => {
                self.tell(tr!("the session has ended").into());
                (self.wake)();
                Ok(())
            }
            Command::Act(action) if !select(&action) => Ok(()),
            Command::View(_) | Command::Reseed(_) | Command::Restore(_) => Ok(()),
            command => self.obey(command),
        }
    }

    pub(super) fn act(&mut self, action: Action) -> Result<()> {
        self.changed = true;
        if let Action::TogglePause
        | Action::StepGeneration
        | Action::StepRound
        | Action::StepBack
        | Action::RoundBack
        | Action::RunTo(_) = action
        {
            self.paused_for_lesson = None; // the person decides
        }
        match action {
            Action::PauseForLesson(true) if self.running => {
                self.paused_for_lesson = Some(self.run_to.take().map(|of| of.generation));
                self.running = false;
                self.statistics.restart();
            }
            Action::PauseForLesson(true) => {}
            Action::PauseForLesson(false) => self.go_on_after_lesson()?,
            Action::TogglePause => {
                self.running = !self.running;
                self.halted = None;
                self.run_to = None;
                self.steps.clear();
                if self
                    .setup
                    .rounds
                    .is_some_and(|rounds| self.issued >= rounds)
                {
                    self.setup.rounds = None; // they are through; the person wants more
                }
                self.due = Instant::now();
                self.statistics.restart();
            }
            Action::StepGeneration => self.step(1),
            Action::StepRound => self.step(self.setup.generations_per_round),
            Action::StepBack => self.go_back(1)?,
            Action::RoundBack => self.go_back(self.setup.generations_per_round.into())?,
            Action::RunTo(generation) => self.run_to(generation)?,
            Action::NextStopWhenStill => self.next_stop_when_still(),
            Action::ToggleReseed => self.toggle_reseed(),
            Action::WatchPopulation(shown) => self.watch_populations(shown),
            Action::Faster => self.set_pace(self.pace.faster()),
            Action::Slower => self.set_pace(self.pace.slower()),
            Action::ResetPanel => self.reset(self.selected..self.selected + 1)?,
            Action::ResetAll => self.reset(0..self.setup.instances)?,
            Action::NewSeed => {
                self.setup.start = match self.setup.start {
                    Start::Soup { density, seed } => Start::Soup {
                        density,
                        seed: seed.wrapping_add(1),
                    },
                    Start::Lattices { .. } => Start::Soup {
                        density: 0.3,
                        seed: 1,
                    },
                };
                self.reset(0..self.setup.instances)?;
            }
            Action::UseKernel(at) => self.use_kernel(at.into())?,
            Action::NextKernel => self.change_kernel(1)?,
            Action::PreviousKernel => self.change_kernel(KERNELS.len() - 1)?,
            Action::NextOf(switch) => {
                match switch.next(self.current_switches(), self.setup.kernel) {
                    Ok(choice) => self.throw(switch, choice)?,
                    Err(why) => self.say(why),
                }
            }
            Action::Choose(switch, at) => {
                let choices = switch.choices(self.current_switches(), self.setup.kernel);
                match choices.into_iter().nth(at.into()) {
                    Some(Choice {
                        refusal: Some(why), ..
                    }) => self.say(why),
                    Some(choice) => self.throw(switch, choice)?,
                    None => {}
                }
            }
            Action::ToggleHalves => self.toggle_halves()?,
            Action::ToggleBlocks => self.toggle_stamps(),
            Action::WatchOverlap(watching) => self.lab.watch(watching),
            Action::Undo => self.ask(Asked::Undo(self.selected, 0)),
            Action::Redo => self.ask(Asked::Redo(self.selected, 0)),
            Action::SelectNext => self.selected = (self.selected + 1) % self.setup.instances,
            Action::SelectPrevious => {
                self.selected = (self.selected + self.setup.instances - 1) % self.setup.instances;
            }
            Action::Select(i) => self.selected = i.min(self.setup.instances - 1),
            _ => {}
        }
        Ok(())
    }

    /// What came of an action, for `LIFESTREAMS_LOG=debug`.
    pub(super) fn log(&self, action: Action) {
        let state = if self.running { "running" } else { "paused" };
        let generation = self.worlds.as_ref().map_or(0, |w| w.generations()[0]);
        let (kernel, selected) = (self.setup.kernel.name, self.selected);
        tracing::debug!(
            "{action:?}: {state} at generation {generation}, kernel {kernel}, instance {selected} selected"
        );
    }

    fn go_on_after_lesson(&mut self) -> Result<()> {
        let Some(run_to) = self.paused_for_lesson.take() else {
            return Ok(());
        };
        if self.failed.is_some() {
            return Ok(());
        }
        let generations = self.worlds.as_ref().map(|worlds| worlds.generations());
        let now = generations.map_or(0, |generations| generations[self.selected]);
        match run_to {
            Some(generation) if generation > now => return self.run_to(generation),
            Some(_) => {} // it has got there otherwise
            None => self.running = true,
        }
        self.due = Instant::now();
        self.statistics.restart();
        Ok(())
    }

    pub(super) fn step(&mut self, generations: u32) {
        self.running = false;
        self.run_to = None;
        self.setup.rounds = None;
        self.statistics.restart();
        // A key that is held down must not queue minutes of work.
        if self.steps.len() < 4 {
            self.push_step(generations);
        }
    }

    /// What is asked for from now on comes behind it.
    pub(super) fn push_step(&mut self, generations: u32) {
        self.steps.push_back(generations);
        self.steps_asked += 1;
    }

    pub(super) fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
        self.due = Instant::now();
        self.statistics.restart();
    }

    /// Brings instances back to their starts, as a person asked.
    fn reset(&mut self, instances: std::ops::Range<usize>) -> Result<()> {
        // What was drawn comes back when A and B are one again.
        if !self.lab.is_split() {
            self.watch.seeded(instances.clone());
        }
        self.restart(instances)
    }

    pub(super) fn restart(&mut self, instances: std::ops::Range<usize>) -> Result<()> {
        let starts = self.starts(instances);
        self.set_lattices(starts)
    }

    /// Sets instances to lattices of these generations, each in its own stream; nothing is under
    /// way.
    pub(super) fn set_lattices(&mut self, lattices: Vec<(usize, Arc<Lattice>, u64)>) -> Result<()> {
        self.refresh = true;
        self.checkpoints.stale = true;
        if let Some(run_to) = self.leave_run_to() {
            let generation = run_to.generation;
            self.tell(tr!(
                "stopped: other lattices came on the way to generation {generation}",
                generation = generation
            ));
        }
        for (instance, ..) in &lattices {
            self.watch.replaced(*instance..instance + 1);
            self.history_changed(*instance..instance + 1);
        }
        self.worlds
            .as_mut()
            .map_or(Ok(()), |worlds| worlds.upload(lattices))
    }

    /// Goes `ahead` kernels on in the table, past those that cannot be here.
    pub(super) fn change_kernel(&mut self, ahead: usize) -> Result<()> {
        let Some(worlds) = &mut self.worlds else {
            return Ok(());
        };
        let mut at = self.setup.kernel.index();
        let kernel: &'static Kernel = loop {
            at = (at + ahead) % KERNELS.len();
            if worlds.admit(&KERNELS[at]).is_ok() {
                break &KERNELS[at];
            }
        };
        self.set_kernel(kernel)
    }

    /// The kernel of this place in the table, if it can be here.
    fn use_kernel(&mut self, at: usize) -> Result<()> {
        let (Some(worlds), Some(kernel)) = (&self.worlds, KERNELS.get(at)) else {
            return Ok(());
        };
        if let Err(why) = worlds.admit(kernel) {
            self.say(why.to_string());
            return Ok(());
        }
        self.set_kernel(kernel)
    }

    fn set_kernel(&mut self, kernel: &'static Kernel) -> Result<()> {
        let Some(worlds) = &mut self.worlds else {
            return Ok(());
        };
        worlds.set_kernel(kernel)?;
        self.setup.kernel = kernel;
        self.setup.kernel_choice = KernelChoice::Asked;
        let asked = self.setup.switches;
        self.setup.switches = asked.fitted_to(kernel);
        if let Some(why) = asked.refusal(kernel) {
            let now = self.setup.switches;
            let (streams, transfer) = (now.streams, now.transfer);
            let what = tr!(
                "{why}: now streams {streams}, transfer {transfer}",
                why = why,
                streams = streams,
                transfer = transfer
            );
            self.notice = Some((what, Instant::now()));
        }
        self.lab.kernel_changed(kernel);
        self.statistics.restart();
        Ok(())
    }

    pub(super) fn set_view(&mut self, view: PicturePlan) -> Result<()> {
        self.view = Some(view);
        let plan = Some(view);
        let Some(worlds) = &mut self.worlds else {
            return Ok(());
        };
        let before = worlds.plan().picture;
        if before != plan {
            self.lab.changed();
        }
        let anew = worlds.needs_slots(plan);
        if anew {
            // Checkpoints live in the slots that are given back.
            self.last_known = Some(self.last_lattices());
        }
        let Some(worlds) = &mut self.worlds else {
            return Ok(());
        };
        if worlds.set_picture(plan)? {
            self.pictures.replace_slots(worlds.slots().clone());
            self.past.lost_one();
            self.editor.forget_copies();
            self.checkpoints.begin_anew();
        }
        self.refresh |= before != plan;
        self.changed = true;
        Ok(())
    }
}
