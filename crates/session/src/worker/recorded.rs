//! Shows what was recorded on a GPU instead of measurements, while the CPU steps the lattices.

use super::SessionWorker;
use crate::publisher::Notice;
use crate::recording::Recording;
use crate::{Effect, Finding, Pace, RecordedStatus, Source, Status, Switches, recorded_in_words};
use engine::{Kernel, Result};
use lang::{Message, message};

/// A kernel and switches.
type Setting = (&'static Kernel, Switches);

impl SessionWorker {
    /// Shows recorded rounds from now on, or measures again. Nothing may be in flight.
    pub(super) fn toggle_recorded(&mut self) -> Result<Option<Notice>> {
        let instances = self.lattices.instances.as_ref();
        if instances.is_some_and(|it| it.engine().name() != "cpu") {
            let why = message!("a GPU computes here, and is measured");
            return Ok(Some(Notice::Refused(why)));
        }
        self.drop_measurement()?;
        if self.lab.block_timestamps() {
            self.toggle_block_timestamps();
        }
        let recording = (!self.lattices.is_recorded()).then(Recording::shipped);
        self.change_slots(false, |lattices| lattices.set_recording(recording))?;
        if recording.is_none() {
            self.publisher.show_rounds(None, None);
            if self.comparison.is_some() {
                self.measure_a_and_b();
            }
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

    /// The setting that keys change: B's while two are compared.
    fn present_setting(&self) -> Setting {
        (self.lattices.setup().kernel, self.lattices.switches())
    }

    /// How two settings compare, as recorded; `None` if rounds are measured here.
    pub(super) fn compare_recorded(
        &self,
        settings: [Setting; 2],
    ) -> Option<([Option<f64>; 2], Option<Finding>, Source)> {
        let recording = self.lattices.recording()?;
        let generations = self.state.pacing.generations();
        let found = settings.map(|setting| self.lattices.recorded(setting, generations));
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

    /// What a change from this kernel and these switches did to a round, as recorded; `None` if that is
    /// measured here.
    pub(super) fn recorded_effect(
        &self,
        change: &Message,
        kernel: &'static Kernel,
        switches: Switches,
    ) -> Option<Effect> {
        let settings = [(kernel, switches), self.present_setting()];
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
        let setup = self.lattices.setup();
        let of_a = self
            .comparison
            .is_some()
            .then_some((setup.kernel, setup.switches));
        let before = of_a.or(self.lab.before_change);
        let generations = self.state.pacing.generations();
        let shown = [Some(self.present_setting()), before];
        let found = shown.map(|setting| self.lattices.recorded(setting?, generations));
        let present = found[0].map(|(_, setting)| setting);
        let key = (self.lattices.round_work(generations), shown);
        if self.lab.recorded.as_ref() == Some(&key) {
            return;
        }
        let [round, before] = found.map(|it| it.map(|(_, setting)| setting.round.clone()));
        self.publisher.show_rounds(round, before);
        self.lab.isolated = present.map(|setting| setting.isolated());
        self.lab.recorded = Some(key);
    }

    /// Replaces measured figures by recorded ones, if those are shown.
    pub(super) fn put_recorded(&self, status: &mut Status) {
        let Some(recording) = self.lattices.recording() else {
            return;
        };
        let generations = self.state.pacing.generations();
        let found = self.lattices.recorded(self.present_setting(), generations);
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
