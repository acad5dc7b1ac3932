//! Shows what was recorded on a GPU instead of measurements, while the CPU steps the lattices.

use super::SessionWorker;
use crate::command::Notice;
use crate::recording::Recording;
use crate::{Effect, Finding, Pace, RecordedStatus, Setting, Source, Status, recorded_in_words};
use engine::Result;
use lang::{Message, message};

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
        self.lab.statistics.restart();
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
            .then(|| self.lattices.setting());
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
