//! What people ask for, done between two rounds.

use std::time::{Duration, Instant};

use super::{Pilot, starts};
use crate::engine::kernels::KERNELS;
use crate::engine::{Kernel, Result};
use crate::session::worlds::Worlds;
use crate::session::{Action, Choice, Command, Pace, PicturePlan, Start, Switch};

use super::recovery::Checkpoints;

/// How long after a switch its effect is told.
const EFFECT_AFTER: Duration = Duration::from_secs(2);

/// A switch that was made, and how long a round took before.
pub(super) struct Switched {
    what: String,
    before_us: Option<f64>,
    at: Instant,
}

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
            Command::Act(action) => matches!(
                action,
                Action::ResetPanel
                    | Action::ResetAll
                    | Action::NewSeed
                    | Action::NextKernel
                    | Action::PreviousKernel
                    | Action::NextOf(_)
                    | Action::Choose(..)
            ),
            Command::View(view) => worlds.needs_slots(Some(*view)).is_some(),
            Command::Close => false,
        };
        waits && (!worlds.is_idle() || self.left_of_round.is_some() || !self.pending.is_empty())
    }

    pub(super) fn put_off(&mut self, command: Command) {
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
        if !idle || self.left_of_round.is_some() {
            if since.elapsed() > PATIENCE {
                let what = "what was asked for waits for the launch under way";
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
            Command::Close => Ok(()),
        }
    }

    pub(super) fn act(&mut self, action: Action) -> Result<()> {
        self.changed = true;
        match action {
            Action::TogglePause => {
                self.running = !self.running;
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
            Action::Faster => self.set_pace(self.pace.faster()),
            Action::Slower => self.set_pace(self.pace.slower()),
            Action::ResetPanel => self.restart(self.selected..self.selected + 1)?,
            Action::ResetAll => self.restart(0..self.setup.instances)?,
            Action::NewSeed => {
                self.setup.start = match self.setup.start {
                    Start::Soup { density, seed } => Start::Soup {
                        density,
                        seed: seed + 1,
                    },
                    Start::Lattices(_) => Start::Soup {
                        density: 0.3,
                        seed: 1,
                    },
                };
                self.restart(0..self.setup.instances)?;
            }
            Action::NextKernel => self.change_kernel(1)?,
            Action::PreviousKernel => self.change_kernel(KERNELS.len() - 1)?,
            Action::NextOf(switch) => match switch.next(self.setup.switches, self.setup.kernel) {
                Ok(choice) => self.set_switches(switch, choice)?,
                Err(why) => self.say(why),
            },
            Action::Choose(switch, at) => {
                let choices = switch.choices(self.setup.switches, self.setup.kernel);
                match choices.into_iter().nth(at.into()) {
                    Some(Choice {
                        refusal: Some(why), ..
                    }) => self.say(why),
                    Some(choice) => self.set_switches(switch, choice)?,
                    None => {}
                }
            }
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

    pub(super) fn step(&mut self, generations: u32) {
        self.running = false;
        self.setup.rounds = None;
        self.statistics.restart();
        // A key that is held down must not queue minutes of work.
        if self.steps.len() < 2 {
            self.steps.push_back(generations);
        }
    }

    pub(super) fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
        self.due = Instant::now();
        self.statistics.restart();
    }

    pub(super) fn restart(&mut self, instances: std::ops::Range<usize>) -> Result<()> {
        self.refresh = true;
        self.checkpoints.stale = true;
        let starts = starts(&self.setup, instances);
        self.worlds
            .as_mut()
            .map_or(Ok(()), |worlds| worlds.upload(starts))
    }

    /// Goes `ahead` kernels on in the table, past those that do not take this size.
    pub(super) fn change_kernel(&mut self, ahead: usize) -> Result<()> {
        let mut at = self.setup.kernel.index();
        let kernel: &'static Kernel = loop {
            at = (at + ahead) % KERNELS.len();
            if KERNELS[at].admit(self.setup.size).is_ok() {
                break &KERNELS[at];
            }
        };
        let Some(worlds) = &mut self.worlds else {
            return Ok(());
        };
        worlds.set_kernel(kernel)?;
        self.setup.kernel = kernel;
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
        let anew = worlds.needs_slots(plan).is_some();
        if anew {
            // Checkpoints live in the slots that are given back.
            self.last_known = Some(self.last_lattices());
        }
        let Some(worlds) = &mut self.worlds else {
            return Ok(());
        };
        if worlds.set_picture(plan)? {
            self.pictures.replace_slots(worlds.slots().clone());
            self.checkpoints = Checkpoints {
                stale: true,
                ..Default::default()
            };
        }
        self.refresh |= before != plan;
        self.changed = true;
        Ok(())
    }

    fn set_switches(&mut self, switch: Switch, choice: Choice) -> Result<()> {
        let (was, now) = (self.setup.switches, choice.switches);
        if let Some(worlds) = &mut self.worlds {
            if was.streams != now.streams {
                worlds.set_streams(was.streams, now.streams)?;
            }
            worlds.set_order(now.order);
            worlds.set_graphs(now.graphs);
        }
        self.setup.switches = now;
        self.switch(&format!(
            "{} {}: {}",
            switch.name(),
            choice.label,
            choice.effect
        ));
        Ok(())
    }

    /// Says what was switched; its measured effect follows.
    fn switch(&mut self, what: &str) {
        let now = Instant::now();
        let before_us = self.statistics.round_us();
        self.statistics.restart();
        self.notice = Some((what.into(), now));
        self.switched = Some(Switched {
            what: what.into(),
            before_us,
            at: now,
        });
    }

    /// Two seconds after a switch: by what factor the time of a round changed.
    pub(super) fn tell_effect(&mut self, now: Instant) {
        let due = |switched: &mut Switched| now - switched.at >= EFFECT_AFTER;
        let Some(switched) = self.switched.take_if(due) else {
            return;
        };
        if let (Some(before), Some(after)) = (switched.before_us, self.statistics.round_us()) {
            let effect = effect(before, after);
            self.notice = Some((format!("{}: {effect}", switched.what), now));
            self.changed = true;
        }
    }
}

/// The time of a round before and after, and the factor between them, in words.
fn effect(before_us: f64, after_us: f64) -> String {
    let factor = (before_us / after_us).max(after_us / before_us);
    let times = match (factor < 1.05, after_us < before_us) {
        (true, _) => "no difference".into(),
        (_, true) => format!("{factor:.1} times as fast"),
        (_, false) => format!("{factor:.1} times as long"),
    };
    let ms = |us: f64| format!("{:.3} ms", us / 1e3);
    format!(
        "a round takes {}, before it took {}: {times}",
        ms(after_us),
        ms(before_us)
    )
}

#[cfg(test)]
mod tests {
    use super::effect;

    #[test]
    fn an_effect_is_told_as_it_is() {
        assert!(
            effect(1660.0, 170.0).ends_with("0.170 ms, before it took 1.660 ms: 9.8 times as fast")
        );
        assert!(effect(170.0, 1660.0).ends_with("9.8 times as long"));
        assert!(effect(170.0, 172.0).ends_with("no difference"));
    }
}
