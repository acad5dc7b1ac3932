//! The status of a session: its figures, measured or, in their place, recorded on a GPU; and the overlap of a
//! round's ops.

use super::SessionWorker;
use super::lab::{LabStatus, RecordedStatus};
use super::snapshots::RETRY_INTERVAL;
use super::watching::Measuring;
use crate::command::{Command, Notice, refuse};
use crate::instances::Sim;
use crate::prediction::{MAX_PREDICTED_CALLS, OpTimes, isolated, predict};
use crate::state::{Mode, part_of_round};
use crate::status::{ClockStatus, EngineStatus, LatticeStatus, Recomputing, SettingStatus};
use crate::trace::{Recording, TimedRound};
use crate::{
    IsolatedOp, Order, Pace, Request, SessionAction, Setting, Status, Switches, recorded_in_words,
    time_left,
};
use engine::Result;
use lang::{Message, message};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a move takes at least that is shown as such.
const MIN_SHOWN_MOVE: Duration = Duration::from_millis(200);

impl SessionWorker {
    /// The figures at this time.
    pub(super) fn make_status(&self, now: Instant) -> Status {
        let mut status = Status {
            engine: self.engine_status(),
            lattices: LatticeStatus::of(&self.setup),
            setting: self.setting_status(),
            clock: self.clock_status(now),
            rates: self.rate_status(now),
            lab: LabStatus {
                isolated: self.lab.isolated.clone().filter(|_| self.lab.is_watching),
                comparison: self.comparison(),
                last_effect: self.lab.last_effect.clone(),
                tells_effect: matches!(self.publisher.notice, Some((Notice::Effect, _))),
                block_timestamps: self.lab.block_timestamps,
                timestamp_overhead: self.lab.timestamp_overhead(),
                recording: None,
            },
            panels: self.watch.status(),
            notice: self
                .progress(now)
                .or_else(|| self.publisher.message().cloned()),
            halted: self.halted.clone(),
            failed: self.ended.clone(),
        };
        self.put_recorded(&mut status);
        status
    }

    /// What computes, for the status.
    fn engine_status(&self) -> EngineStatus {
        let Some(sim) = &self.sim else {
            return EngineStatus::default();
        };
        if let Some(recording) = self.recording {
            return EngineStatus {
                name: "recorded",
                devices: vec![recording.device.clone()],
                queues: Some(recording.queues),
                ..EngineStatus::default()
            };
        }
        let engine = sim.engine();
        EngineStatus {
            name: engine.name(),
            devices: engine.devices().to_vec(),
            queues: (engine.name() == "cuda").then(platform::connections),
            cut: engine.cut(),
            clock_error_us: engine.clock_error().as_us(),
        }
    }

    /// How lattices are stepped, for the status.
    pub(super) fn setting_status(&self) -> SettingStatus {
        let mut status = SettingStatus {
            switches: self.changed_setting().switches,
            chosen_kernel: self
                .chosen
                .as_ref()
                .map(|it| it.setting.kernel)
                .filter(|it| *it != self.setup.setting.kernel),
            own_order: self.context().own_order,
            pace: self.state.pacing.pace,
            ..SettingStatus::of(&self.setup)
        };
        if let Some(instances) = &self.sim {
            let present = self.present();
            status.transfer = present.picture.map_or(status.transfer, |it| it.transfer);
            status.bytes_per_round = instances.bytes_per_round(&present);
            status.generations_per_round =
                part_of_round(self.state.pacing.generations(), self.longest_round());
        }
        status
    }

    fn clock_status(&self, now: Instant) -> ClockStatus {
        let is_complete = |sim: &Sim| sim.is_idle() && self.lagging_side().is_none();
        // Somebody waits to see its effect on cells.
        let is_edit = |command: &&Command| {
            use SessionAction::{Redo, Undo};
            matches!(
                command,
                Command::Edit(..) | Command::ReadCells(..) | Command::Act(Undo | Redo)
            )
        };
        ClockStatus {
            running: self.is_running(),
            generation: self.state.position.generation,
            run_to: match &self.state.mode {
                Mode::RunningTo(run_to) => Some(run_to.generation),
                _ => None,
            },
            oldest: self.state.oldest_reachable().map(|oldest| {
                let start = self.state.log.start_of(self.state.position);
                oldest.max(start).generation
            }),
            recomputing: self.recomputing(now),
            waiting_edits: self.state.queue.iter().filter(is_edit).count(),
            finished: self.state.has_all_rounds()
                && self.state.cells_known
                && self.state.moving().is_none()
                && self.sim.as_ref().is_some_and(is_complete),
        }
    }

    /// How much of a move is done, unless it has only just begun: most are over at once.
    fn recomputing(&self, now: Instant) -> Option<Recomputing> {
        let moving = self.state.moving()?;
        let took = now - moving.since?;
        let progress = self.state.progress().unwrap_or(0.0);
        (took >= MIN_SHOWN_MOVE).then_some(Recomputing {
            target: moving.target.generation,
            percent: (100.0 * progress) as u8,
            seconds_left: (progress > 0.0)
                .then(|| took.as_secs_f64() * (1.0 - progress) / progress),
        })
    }

    /// The progress of a long move.
    fn progress(&self, now: Instant) -> Option<Message> {
        let (moving, progress) = (self.state.moving()?, self.state.progress()?);
        if moving.total < 2 * u64::from(moving.chunk) {
            return None;
        }
        let (target, percent) = (moving.target.generation, (100.0 * progress) as u8);
        Some(match self.recomputing(now).and_then(|it| it.seconds_left) {
            Some(seconds) => message!(
                "Computing up to generation {target} from the nearest snapshot: {percent} %, {left} left; Space stops this",
                left = time_left(seconds)
            ),
            None => message!(
                "Computing up to generation {target} from the nearest snapshot: {percent} %; Space stops this"
            ),
        })
    }
}

// Shows what was recorded on a GPU instead of measurements, while the CPU steps the lattices.

impl SessionWorker {
    /// Shows recorded rounds from now on, or measures again. Nothing may be in flight.
    pub(super) fn toggle_recorded(&mut self) -> Result<Option<Notice>> {
        let instances = self.sim.as_ref();
        if instances.is_some_and(|it| it.engine().name() != "cpu") {
            return Ok(refuse(message!("a GPU computes here, and is measured")));
        }
        self.drop_change();
        if self.lab.block_timestamps {
            self.toggle_block_timestamps();
        }
        let recording = (!self.is_recorded()).then(Recording::shipped);
        let before = std::mem::replace(&mut self.recording, recording);
        let shares = self.shares_in_use();
        if let Err(error) = self.enter(&shares) {
            self.recording = before;
            return Err(error);
        }
        if recording.is_none() {
            self.publisher.trace.lock().replace(None, None);
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

    /// Draws the recorded rounds of the present setting, and above them those before a change, or A's.
    pub(super) fn show_recorded_rounds(&mut self) {
        if !self.is_recorded() {
            return;
        }
        let of_a = self.is_comparing().then(|| self.setup.setting.clone());
        let before = of_a.or(self.lab.before_change.clone());
        let shown = [Some(self.changed_setting()), before];
        let recorded = |setting: &Option<Setting>| Some(self.recorded(setting.as_ref()?)?.1);
        let [present, before] = shown.each_ref().map(recorded);
        let key = (self.round_work(), shown);
        if self.lab.recorded.as_ref() == Some(&key) {
            return;
        }
        let shown = present.map(|it| (it.round.clone(), it.isolated()));
        let (round, isolated) = shown.or_else(|| self.predicted()).unzip();
        let before = before.map(|it| it.round.clone());
        self.publisher.trace.lock().replace(round, before);
        self.lab.isolated = isolated;
        self.lab.recorded = Some(key);
    }

    /// The user's round and its ops alone, as predicted from recorded rounds that the host issues breadth-first.
    fn predicted(&self) -> Option<(TimedRound, Arc<[IsolatedOp]>)> {
        let setting = self.changed_setting();
        let calls = setting.own_calls(self.round_work().instances)?;
        let breadth_first = setting.with_switches(Switches {
            order: Order::Breadth,
            ..setting.switches
        });
        let (_, recorded) = self.recorded(&breadth_first)?;
        let times = OpTimes::of(&recorded.isolated(), &recorded.round)?;
        let round = (calls.calls.len() <= MAX_PREDICTED_CALLS).then(|| predict(calls, &times))?;
        let isolated = isolated(&round, &times);
        Some((round, isolated))
    }

    /// Replaces measured figures by recorded ones, if those are shown.
    pub(super) fn put_recorded(&self, status: &mut Status) {
        let Some(recording) = self.recording else {
            return;
        };
        let present = self.changed_setting();
        let found = self.recorded(&present).map(|(_, setting)| setting);
        let group = recording.group(&self.round_work());
        let nearest = group.and_then(|it| it.nearest(present.kernel, present.switches));
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
            nearest: nearest.map(|it| (&*it.kernel, it.switches)),
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
            && !self.is_recorded()
            && self.lab.isolated.is_none()
            && self.trial.is_none()
            && !self.state.has_records_ahead()
            && self.state.mode == Mode::Running
            && generations <= self.longest_round()
    }

    /// Begins a round that runs op by op. Nothing may be in flight.
    pub(super) fn calibrate(&mut self) -> Result<()> {
        let now = self.now();
        let share = self.present();
        let request = Request {
            measured: self.watch.measuring != Measuring::Never,
            edits: self.state.last_edit,
            ..Request::of(self.state.pacing.generations())
        };
        let pictures = self.publisher.pictures.clone();
        let newest = |slot| pictures.holds_newest(slot, share.downloads());
        let is_ready = self.ensure(std::slice::from_ref(&share))?;
        let Some(sim) = &mut self.sim else {
            return Ok(());
        };
        if is_ready && sim.begin_calibration(&share, request, newest)? {
            self.lab.calibrating = Some(share);
            self.state.stepped(request.generations, now);
            self.snapshots.is_stale = true;
        } else {
            self.retry_at = Some(now + RETRY_INTERVAL);
        }
        Ok(())
    }

    /// Drops a finished calibration's result if the setting has changed meanwhile.
    pub(super) fn check_calibration(&mut self) {
        if self.lab.calibrating.take() != Some(self.present()) {
            self.lab.isolated = None;
        }
    }
}
