//! Comparing two settings, A and B, each on half of the instances.
//!
//! A record of the log begins it: B's lattices take the cells of A's. Whether it is on follows from the position,
//! also after an undo, a jump, a recovery or in a session from a file; only B's switches are remembered.

use super::{RETRY_INTERVAL, SessionWorker};
use crate::command::Notice;
use crate::copies::Snapshot;
use crate::recording::Recording;
use crate::state::Mode;
use crate::trial::{Subject, Trial};
use crate::watch::Measuring;
use crate::{
    AbComparison, Effect, Finding, NewCells, Order, Pace, RecordedStatus, Request, Setting, Source,
    Status, Streams, Switch, Switches, recorded_in_words,
};
use engine::Result;
use lang::{Message, message};
use life::grouped;

impl SessionWorker {
    /// Begins or ends a comparison. Nothing may be in flight.
    pub(super) fn toggle_comparison(&mut self) -> Result<Option<Notice>> {
        let setup = &self.lattices.setup;
        if self.lattices.is_comparing() {
            self.state.end_comparison();
            return Ok(None);
        }
        if setup.instances < 2 {
            return Ok(Some(Notice::Refused(message!(
                "A and B need two instances or more; start with --instances 2"
            ))));
        }
        if let Some(own) = &setup.setting.own_round
            && setup.setting.switches.order == Order::Own
            && own.half.is_err()
        {
            let each = own.instances / 2;
            return Ok(Some(Notice::Refused(message!(
                "The round of your own is not right for {each} instances, as many as A and B have each"
            ))));
        }
        if self.lattices.is_kernel_due(false) {
            self.fit_kernel(false)?; // chosen settings are compared
        }
        self.lab.b_switches = Some(self.other_switches());
        Ok(self.state.begin_comparison())
    }

    /// Gives B's lattices the cells of A's. All lattices are on the host.
    pub(super) fn apply_comparison(&mut self) -> Result<()> {
        let lattices = self.present_copy().map(Snapshot::lattices).transpose()?;
        let trial = self.trial_of_halves(self.b_setting());
        let shares = self
            .lattices
            .shares(&self.lattices.setup.setting, Some(&trial));
        self.enter(&shares)?;
        if let (Some(lattices), Some(sim)) = (lattices, &mut self.lattices.sim) {
            let [a, b] = [0, 1].map(|side| shares[side].lattices.clone());
            let cells = lattices[a].iter().cloned().map(NewCells::from);
            sim.set_lattices(b.zip(cells).collect())?;
        }
        if self.state.moving().is_none() {
            self.notify(Notice::Done(message!(
                "Key B returns to generation {from}; A and B alternate; {first} to {last} change B",
                from = grouped(self.state.position().generation),
                first = Switch::ALL[0].key(),
                last = Switch::ALL[Switch::ALL.len() - 1].key()
            )));
        }
        Ok(())
    }

    /// Begins to step A and B apart, or ends that, as the log says.
    pub(super) fn follow_comparison(&mut self, compares: bool) {
        if compares == self.lattices.is_comparing() {
            return;
        }
        self.forget_effect();
        self.lab.changed();
        if compares {
            self.lab.differing = None;
            self.lattices.trial = Some(self.trial_of_halves(self.b_setting()));
        } else {
            self.lab.b_switches = Some(self.lattices.changed_setting().switches);
            self.lattices.trial = None;
        }
    }

    /// A trial of the present setting, A's, and this one, B's.
    pub(super) fn trial_of_halves(&mut self, b: Setting) -> Trial {
        self.new_trial(Subject::Halves(self.lattices.setup.instances / 2), b)
    }

    /// B's setting when a comparison begins.
    fn b_setting(&self) -> Setting {
        let now = &self.lattices.setup.setting;
        let b_switches = self.lab.b_switches.unwrap_or_else(|| self.other_switches());
        now.with_switches(b_switches).with_kernel(now.kernel)
    }

    /// B's first switches: those before the last change, or another way of sharing streams; for a round of
    /// the user's own, another order.
    fn other_switches(&self) -> Switches {
        let (setup, context) = (&self.lattices.setup, self.lattices.context());
        let (now, kernel) = (setup.setting.switches, setup.setting.kernel);
        let has_half = setup
            .setting
            .own_round
            .as_ref()
            .is_some_and(|it| it.half.is_ok());
        let fits = |other: &Switches| {
            *other != now
                && context.incompatibility(other).is_none()
                && (other.order != Order::Own || has_half)
        };
        let other = match (now.order, now.streams) {
            (Order::Own, _) => Switches {
                order: Order::Breadth,
                ..now
            },
            (_, Streams::PerInstance) => Switches {
                streams: Streams::One,
                ..now
            },
            _ => Switches {
                streams: Streams::PerInstance,
                ..now
            },
        };
        let previous = self.lab.previous.map(|before| before.fitted_to(kernel));
        previous.filter(fits).unwrap_or(other)
    }

    /// The comparison, for the status.
    pub(super) fn comparison(&self) -> Option<AbComparison> {
        let trial = self.lattices.trial.as_ref()?;
        let each = trial.each()?;
        let settings = [self.lattices.setup.setting.clone(), trial.other.clone()];
        let switches = settings.each_ref().map(|it: &Setting| it.switches);
        let recorded = self.compare_recorded(settings);
        let (round_us, finding, source) = recorded.unwrap_or_else(|| trial.measured());
        Some(AbComparison {
            switches,
            round_us,
            finding,
            source,
            differing: self.lab.differing,
            each,
        })
    }
}

// Shows what was recorded on a GPU instead of measurements, while the CPU steps the lattices.

impl SessionWorker {
    /// Shows recorded rounds from now on, or measures again. Nothing may be in flight.
    pub(super) fn toggle_recorded(&mut self) -> Result<Option<Notice>> {
        let instances = self.lattices.sim.as_ref();
        if instances.is_some_and(|it| it.engine().name() != "cpu") {
            let why = message!("a GPU computes here, and is measured");
            return Ok(Some(Notice::Refused(why)));
        }
        self.drop_change();
        if self.lab.block_timestamps {
            self.toggle_block_timestamps();
        }
        let recording = (!self.lattices.is_recorded()).then(Recording::shipped);
        let before = std::mem::replace(&mut self.lattices.recording, recording);
        let shares = self.lattices.shares_in_use();
        if let Err(error) = self.enter(&shares) {
            self.lattices.recording = before;
            return Err(error);
        }
        if recording.is_none() {
            self.publisher.lock_trace().replace(None, None);
        }
        self.lab.changed();
        Ok(Some(Notice::Done(match recording {
            Some(recording) => message!(
                "Now rounds {what}",
                what = recorded_in_words(&recording.recorded)
            ),
            None => message!("Rounds are measured on this machine"),
        })))
    }

    /// How two settings compare, as recorded; `None` if rounds are measured here.
    pub(super) fn compare_recorded(
        &self,
        settings: [Setting; 2],
    ) -> Option<([Option<f64>; 2], Option<Finding>, Source)> {
        let recording = self.lattices.recording?;
        let generations = self.state.pacing.generations();
        let found = settings.map(|setting| self.lattices.recorded(&setting, generations));
        let compared = match found {
            [Some((group, before)), Some((_, after))] => group.compare(before, after),
            _ => None,
        };
        let source = Source::RecordedOn(recording.recorded.clone());
        Some(match compared {
            Some((us, finding)) => (us.map(Some), Some(finding), source),
            None => ([None; 2], None, source),
        })
    }

    /// What a change from this setting to the present one did to a round, as recorded; `None` if that is
    /// measured here.
    pub(super) fn recorded_effect(&self, change: &Message, before: &Setting) -> Option<Effect> {
        let settings = [before.clone(), self.lattices.changed_setting()];
        let (round_us, finding, source) = self.compare_recorded(settings)?;
        Some(Effect {
            what: change.clone(),
            round_us,
            finding,
            source,
        })
    }

    /// Draws the recorded rounds of the present setting, and above them those before a change, or A's.
    pub(super) fn show_recorded_rounds(&mut self) {
        if !self.lattices.is_recorded() {
            return;
        }
        let of_a = self
            .lattices
            .is_comparing()
            .then(|| self.lattices.setup.setting.clone());
        let before = of_a.or(self.lab.before_change.clone());
        let generations = self.state.pacing.generations();
        let shown = [Some(self.lattices.changed_setting()), before];
        let recorded = |setting: &Option<Setting>| {
            let setting = setting.as_ref()?;
            self.lattices.recorded(setting, generations)
        };
        let found = shown.each_ref().map(recorded);
        let present = found[0].map(|(_, setting)| setting);
        let key = (self.lattices.round_work(generations), shown);
        if self.lab.recorded.as_ref() == Some(&key) {
            return;
        }
        let [round, before] = found.map(|it| it.map(|(_, setting)| setting.round.clone()));
        self.publisher.lock_trace().replace(round, before);
        self.lab.isolated = present.map(|setting| setting.isolated());
        self.lab.recorded = Some(key);
    }

    /// Replaces measured figures by recorded ones, if those are shown.
    pub(super) fn put_recorded(&self, status: &mut Status) {
        let Some(recording) = self.lattices.recording else {
            return;
        };
        let generations = self.state.pacing.generations();
        let present = self.lattices.changed_setting();
        let found = self.lattices.recorded(&present, generations);
        let found = found.map(|(_, setting)| setting);
        let rates = &mut status.rates;
        rates.round_us = found.map(|setting| setting.round_us());
        rates.launch_us = found.map(|setting| setting.launch_us);
        rates.stepping = found.map(|setting| setting.cells_per_second);
        rates.reached.clear();
        // While two settings are compared, their rounds alternate.
        let sides = status.lab.comparison.as_ref().map_or(1.0, |_| 2.0);
        let pace = found
            .filter(|_| rates.rounds_per_second > 0.0)
            .map(|setting| {
                let most = 1e6 / (sides * setting.round_us());
                let wanted = match status.setting.pace {
                    Pace::PerSecond(rounds) => most.min(rounds / sides),
                    Pace::Unthrottled | Pace::Maximum => most,
                };
                (rates.rounds_per_second / wanted).min(1.0)
            });
        status.lab.recording = Some(RecordedStatus {
            recorded: recording.recorded.clone(),
            has_setting: found.is_some(),
            pace,
        });
    }
}

// Runs rounds op by op, with whose times the overlap of a round is computed.

impl SessionWorker {
    /// Whether to run a round op by op: its overlap is wanted and not known. Not in the middle of a
    /// round, before a record ahead, or while stepping by hand.
    pub(super) fn wants_calibration(&self) -> bool {
        let generations = self.state.pacing.generations();
        self.lab.is_watching
            && !self.lattices.is_recorded()
            && self.lab.isolated.is_none()
            && self.lattices.trial.is_none()
            && !self.state.has_records_ahead()
            && self.state.mode == Mode::Running
            && generations <= self.lattices.longest_round()
    }

    /// Begins a round that runs op by op. Nothing may be in flight.
    pub(super) fn calibrate(&mut self) -> Result<()> {
        let now = self.now();
        let share = self.lattices.present();
        let request = Request {
            measured: self.watch.measuring != Measuring::Never,
            edits: self.state.last_edit,
            ..Request::of(self.state.pacing.generations())
        };
        let pictures = self.publisher.pictures.clone();
        let newest = |slot| pictures.holds_newest(slot, share.downloads());
        let is_ready = self.ensure(std::slice::from_ref(&share))?;
        let Some(sim) = &mut self.lattices.sim else {
            return Ok(());
        };
        if is_ready && sim.begin_calibration(&share, request, newest)? {
            self.lab.calibrating = Some(share);
            self.state.stepped(request.generations, now);
            self.snapshots.is_stale = true;
        } else {
            self.lattices.retry_at = Some(now + RETRY_INTERVAL);
        }
        Ok(())
    }

    /// Drops a finished calibration's result if the setting has changed meanwhile.
    pub(super) fn check_calibration(&mut self) {
        if self.lab.calibrating.take() != Some(self.lattices.present()) {
            self.lab.isolated = None;
        }
    }
}
