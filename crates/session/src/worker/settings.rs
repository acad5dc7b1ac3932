//! Changes how rounds are stepped: pace, kernel, switches, pictures.

use std::sync::Arc;
use std::time::Duration;

use super::SessionWorker;
use crate::lattices::Lattices;
use crate::notice::Notice;
use crate::state::Mode;
use engine::kernels::KERNELS;
use engine::{Kernel, Result};
use lang::{Message, message};
use model::{Choice, InWords, Pace, PicturePlan, Side, Switch};

impl SessionWorker {
    /// Sets the pace, found from the present one.
    pub(super) fn set_pace(&mut self, other: impl FnOnce(Pace) -> Pace) -> Notice {
        let (pace, now) = (other(self.state.pacing.pace()), self.now());
        self.state.pacing.set_pace(pace, now);
        self.lab.statistics.restart();
        Notice::Done(match pace {
            Pace::PerSecond(_) => message!("Speed: at most {pace}", pace = pace),
            Pace::Unthrottled => message!("Speed: unthrottled"),
            Pace::Maximum => {
                message!("Speed: maximum, as many generations per round as fit in a frame")
            }
        })
    }

    /// Sets how many generations a round has; at the maximum pace, once that ends.
    pub(super) fn choose_generations(&mut self, count: u32) -> Notice {
        let count = count.max(1);
        Notice::Done(if self.state.pacing.choose(count) {
            self.lab.changed();
            self.lab.statistics.restart();
            message!("{count} generations per round", count = count)
        } else {
            message!(
                "{count} generations per round, once the speed is not the maximum",
                count = count
            )
        })
    }

    /// At the maximum pace, fits the generations per round to the time that a round took: as many
    /// as fit in a frame. Not while settings are compared by the time of their rounds.
    pub(super) fn fit_rounds(&mut self, generations: u32, took: Duration) {
        let Some(instances) = &self.lattices.instances else {
            return;
        };
        let is_compared = instances.is_comparing() || self.lab.measurement.is_some();
        let pacing = &self.state.pacing;
        if pacing.pace() != Pace::Maximum || *self.state.mode() != Mode::Running || is_compared {
            return;
        }
        let mut rounds = instances.round_length(Pace::FRAME, pacing.generations());
        rounds.learn(generations, took);
        self.state.pacing.fit(rounds.generations());
    }

    /// Selects the kernel `ahead` places on in the table, skipping unavailable kernels.
    pub(super) fn change_kernel(&mut self, ahead: usize) -> Result<Option<Notice>> {
        let Some(instances) = &self.lattices.instances else {
            return Ok(None);
        };
        let now = self.lattices.setup().kernel.index();
        let mut others = (1..KERNELS.len()).map(|by| (now + by * ahead) % KERNELS.len());
        match others.find(|&at| instances.validate(&KERNELS[at]).is_ok()) {
            Some(at) => self.set_kernel(&KERNELS[at]),
            None => Ok(Some(Notice::Refused(message!(
                "No other kernel can step these lattices"
            )))),
        }
    }

    /// Selects the kernel at this place in the table, if it is available.
    pub(super) fn use_kernel(&mut self, at: usize) -> Result<Option<Notice>> {
        let (Some(instances), Some(kernel)) = (&self.lattices.instances, KERNELS.get(at)) else {
            return Ok(None);
        };
        match instances.validate(kernel) {
            Ok(()) => self.set_kernel(kernel),
            Err(why) => Ok(Some(Notice::Refused(Message::new(|| why.in_words())))),
        }
    }

    fn set_kernel(&mut self, kernel: &'static Kernel) -> Result<Option<Notice>> {
        self.publish_last_known(Duration::ZERO); // before the engine is asked for anything
        self.drop_measurement()?;
        let (before, requested) = (self.lattices.setup().kernel, self.lattices.setup().switches);
        self.lattices.set_kernel(kernel)?;
        self.notify(Notice::Done(match requested.incompatibility(kernel) {
            None => message!("kernel {}: {}", kernel.name, lang::text(kernel.title)),
            Some(why) => {
                let now = self.lattices.setup().switches;
                let (streams, transfer) = (now.streams, now.transfer);
                message!(
                    "{why}; changed to streams {streams}, transfer {transfer}",
                    why = why,
                    streams = streams,
                    transfer = transfer
                )
            }
        }));
        self.lab.changed();
        if self.comparison.is_none() && before.name != kernel.name {
            let what = message!(
                "kernel {kernel} instead of {before}",
                kernel = kernel.name,
                before = before.name
            );
            self.measure_change(what, before, requested)?;
        }
        self.lab.statistics.restart();
        // Other pictures may be possible with this kernel.
        if let Some(view) = self.lattices.view() {
            self.set_view(view)?;
        }
        Ok(None)
    }

    pub(super) fn set_view(&mut self, view: PicturePlan) -> Result<()> {
        let Some(instances) = &self.lattices.instances else {
            return Ok(());
        };
        let is_other = instances.own_plan().picture != Some(view);
        if is_other {
            self.lab.changed();
        }
        let frees = instances.needs_slots(Some(view));
        self.change_slots(frees, |lattices| lattices.set_view(view))?;
        if is_other {
            self.state.want_pictures();
        }
        self.publisher.mark_changed();
        Ok(())
    }

    /// Makes a change that may allocate other slots, and uses those afterwards, even if the change
    /// itself failed after the allocation. `frees` says that it is known to free the present ones.
    pub(super) fn change_slots(
        &mut self,
        frees: bool,
        change: impl FnOnce(&mut Lattices) -> Result<()>,
    ) -> Result<()> {
        let slots = |lattices: &Lattices| lattices.instances.as_ref().map(|it| it.slots().clone());
        // A weak reference: the slots must not be kept alive.
        let Some(before) = slots(&self.lattices).map(|slots| Arc::downgrade(&slots)) else {
            return Ok(());
        };
        if frees {
            self.save_from_slots();
        }
        // Copies in slots may be gone from now on.
        self.safety_copy.mark_stale();
        self.publish_last_known(Duration::ZERO);
        let changed = change(&mut self.lattices);
        if let Some(slots) = slots(&self.lattices)
            && !std::ptr::addr_eq(before.as_ptr(), Arc::as_ptr(&slots))
        {
            self.publisher.pictures().replace_slots(slots);
            self.snapshots.clear_slots();
            self.state.want_pictures();
        }
        changed
    }

    /// Some snapshots are only in the slots, which are about to be freed: keeps those elsewhere.
    pub(super) fn save_from_slots(&mut self) {
        if let Some(instances) = &self.lattices.instances {
            self.snapshots
                .save_from_slots(instances, self.state.log().bytes());
        }
    }

    /// Sets a switch to its next possible position.
    pub(super) fn cycle_switch(&mut self, switch: Switch) -> Result<Option<Notice>> {
        let (switches, kernel) = (self.lattices.switches(), self.lattices.setup().kernel);
        match switch.next(switches, kernel) {
            Ok(choice) => self.set_switch(switch, choice),
            Err(_) => {
                let why = move || switch.next(switches, kernel).err().unwrap_or_default();
                Ok(Some(Notice::Refused(Message::new(why))))
            }
        }
    }

    /// Sets a switch to this position, if that is possible.
    pub(super) fn choose(&mut self, switch: Switch, at: usize) -> Result<Option<Notice>> {
        let (switches, kernel) = (self.lattices.switches(), self.lattices.setup().kernel);
        let choice = move || switch.choices(switches, kernel).into_iter().nth(at);
        match choice() {
            Some(choice) if choice.unavailable.is_none() => self.set_switch(switch, choice),
            Some(_) => {
                let why = move || choice().and_then(|it| it.unavailable).unwrap_or_default();
                Ok(Some(Notice::Refused(Message::new(why))))
            }
            None => Ok(None),
        }
    }

    /// Sets a switch to a choice, and begins to measure its effect.
    fn set_switch(&mut self, switch: Switch, choice: Choice) -> Result<Option<Notice>> {
        let before = self.lattices.switches();
        let kernel = self.lattices.setup().kernel;
        let side = self.lattices.changed_side();
        self.drop_measurement()?;
        let frees = self.lattices.needs_slots_for(choice.switches);
        let set = self.change_slots(frees, |lattices| lattices.set_switches(choice.switches));
        // Also if the engine is lost: the one in its place has the switches.
        self.fit_block_timestamps();
        set?;
        self.lab.changed();
        let effect = move || {
            let choices = switch.choices(choice.switches, kernel);
            let now = choices
                .into_iter()
                .nth(switch.position(choice.switches, kernel));
            now.map_or(String::new(), |choice| choice.effect)
        };
        let what = match switch {
            Switch::Block => message!("blocks of {}: {}", choice.label, effect()),
            _ => Message::new(effect),
        };
        self.lab.previous = Some(before);
        if side == Side::A && before != choice.switches {
            self.measure_change(what.clone(), kernel, before)?;
        }
        self.lab.statistics.restart();
        Ok(Some(match self.lab.last_effect {
            Some(_) => Notice::Effect,
            None => Notice::Done(what),
        }))
    }

    /// Turns block timestamps of timed rounds on or off.
    pub(super) fn toggle_block_timestamps(&mut self) -> Option<Notice> {
        if self.lattices.switches().graphs && !self.lab.block_timestamps() {
            return Some(Notice::Refused(message!(
                "Block timestamps are unavailable with graphs; {key} turns graphs off",
                key = Switch::Graphs.key()
            )));
        }
        let are_on = self.lab.toggle_block_timestamps();
        if let Some(instances) = &mut self.lattices.instances {
            instances.set_block_timestamps(are_on);
        }
        None
    }

    /// Turns block timestamps off where graphs were turned on.
    pub(super) fn fit_block_timestamps(&mut self) {
        if self.lattices.switches().graphs && self.lab.block_timestamps() {
            self.toggle_block_timestamps();
        }
    }
}
