//! Changes how rounds are stepped: pace, kernel, switches, pictures.

use std::sync::Arc;
use std::time::Duration;

use super::SessionWorker;
use crate::command::Query;
use crate::lattices::Lattices;
use crate::publisher::Notice;
use crate::state::Mode;
use crate::{
    AUTO_KERNEL, DEFAULT_KERNEL, KernelChoice, Order, OwnRound, OwnRoundError, Pace, PicturePlan,
    SLOWER_KEY, Setup, Side, Streams, Switch, Switches, Wait, timestamps_of_own,
};
use engine::{Kernel, Result, kernels};
use lang::{Message, message, tr};
use life::grouped;

impl SessionWorker {
    /// Sets the pace, found from the present one.
    pub(super) fn set_pace(&mut self, other: impl FnOnce(Pace) -> Pace) -> Notice {
        let (pace, now) = (other(self.state.pacing.pace()), self.now());
        self.state.pacing.set_pace(pace, now);
        self.lab.statistics.restart();
        Notice::Done(match pace {
            Pace::PerSecond(_) => message!("Speed: at most {pace}"),
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
            message!("{count} generations per round")
        } else {
            message!("{count} generations per round, once the speed is not the maximum")
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

    /// The kernels that can be selected: the rungs, and the user's own.
    fn kernels(&self) -> impl Iterator<Item = &'static Kernel> + use<> {
        kernels::with_own(self.lattices.setup().own_kernel)
    }

    /// Says which kernel steps the lattices, if their size or the memory has put it in the place of
    /// this one.
    pub(super) fn tell_kernel(&mut self, before: &'static Kernel) {
        let Setup {
            kernel,
            size,
            switches,
            ..
        } = *self.lattices.setup();
        if kernel.name == DEFAULT_KERNEL && kernel != before {
            self.tell_kernel_set(kernel, [switches; 2]);
        } else if kernel != before {
            let (kernel, other) = (kernel.name, before.name);
            self.notify(Notice::Done(match before.size_limit(size) {
                Some(limit) => {
                    message!("Kernel {kernel} steps lattices of {size}: {other} supports {limit}")
                }
                None => message!(
                    "Kernel {kernel} steps lattices of {size}: there is too little memory for {other}"
                ),
            }));
        }
    }

    /// Says that this kernel is in use; the switches before and now differ if it does not take the former.
    fn tell_kernel_set(&mut self, kernel: &'static Kernel, [before, now]: [Switches; 2]) {
        let told = Message::new(|| match before.incompatibility(kernel) {
            None => tr!("kernel {}: {}", kernel.name, kernel.idea()),
            Some(why) => tr!(
                "{why}; changed to streams {streams}, transfer {transfer}",
                streams = now.streams,
                transfer = now.transfer
            ),
        });
        self.notify(Notice::Done(told));
    }

    /// Selects the next kernel, or the one before, skipping unavailable kernels.
    pub(super) fn change_kernel(&mut self, is_next: bool) -> Result<Option<Notice>> {
        let Some(instances) = &self.lattices.instances else {
            return Ok(None);
        };
        let setup = self.lattices.setup();
        // After the last one comes the program's choice.
        let mut others: Vec<_> = self.kernels().map(Some).chain([None]).collect();
        let here = match setup.kernel_choice {
            KernelChoice::Estimated => others.len() - 1,
            _ => setup.kernel.index(),
        };
        others.rotate_left(here);
        others.remove(0); // the present one
        if !is_next {
            others.reverse();
        }
        let is_valid = |it: &&Option<_>| it.is_none_or(|it| instances.validate(it).is_ok());
        match others.iter().find(is_valid) {
            Some(Some(kernel)) => self.set_kernel(kernel, KernelChoice::Explicit),
            Some(None) => self.use_auto_kernel(),
            None => Ok(Some(Notice::Refused(message!(
                "No other kernel can step these lattices"
            )))),
        }
    }

    /// Selects the kernel at this place among those that can be selected, if it is available, or the
    /// program's choice.
    pub(super) fn use_kernel(&mut self, at: u8) -> Result<Option<Notice>> {
        match self.kernels().nth(at.into()) {
            _ if at == AUTO_KERNEL => self.use_auto_kernel(),
            Some(kernel) => self.use_if_available(kernel),
            None => Ok(None),
        }
    }

    /// Selects the program's choice: at the maximum pace and in a run the fastest setting.
    fn use_auto_kernel(&mut self) -> Result<Option<Notice>> {
        self.state.keep_kernel(false);
        let kernel = self.lattices.auto_kernel(self.state.pacing.generations());
        match kernel.filter(|_| !self.wants_fastest()) {
            Some(kernel) => self.set_kernel(kernel, KernelChoice::Estimated),
            None => Ok(None), // it follows
        }
    }

    /// Whether the fastest setting is to step the lattices: not while settings are compared, nor in the
    /// place of recorded rounds.
    pub(super) fn wants_fastest(&self) -> bool {
        self.state.wants_fastest() && self.comparison.is_none() && !self.lattices.is_recorded()
    }

    /// Takes the fastest setting in the place of the chosen one, or the chosen one back. Nothing may be in
    /// flight.
    pub(super) fn fit_kernel(&mut self, takes_fastest: bool) -> Result<()> {
        self.publish_last_known(Duration::ZERO); // before the engine is asked for anything
        self.drop_measurement()?;
        self.state.pacing.end_round();
        let mut first_round = None;
        let fitted = self.change_slots(false, |lattices| {
            if !takes_fastest {
                return lattices.take_chosen();
            }
            first_round = lattices.take_fastest()?;
            Ok(())
        });
        self.fit_block_timestamps();
        if let Err(error) = fitted {
            if error.loses_lattices() {
                return Err(error);
            }
            self.lattices.forget_chosen(); // it goes on as it is
            self.notify(Notice::Warning(Message::of(error)));
        }
        if self.lattices.is_kernel_due(takes_fastest) {
            self.state.keep_kernel(true);
        }
        let per_round = first_round.unwrap_or(self.state.pacing.chosen());
        self.state.pacing.fit(per_round);
        let (now, before) = (
            self.lattices.setup().kernel,
            self.lattices.chosen_setup().kernel,
        );
        if now != before {
            let (kernel, chosen) = (now.name, before.name);
            self.notify(Notice::Done(match self.state.mode() {
                Mode::RunningTo(run_to) => message!(
                    "Running to generation {generation} by the fastest kernel, {kernel}; {chosen} comes back there",
                    generation = grouped(run_to.generation)
                ),
                _ => message!(
                    "Speed: maximum, by the fastest kernel, {kernel}; {key} takes {chosen} back",
                    key = SLOWER_KEY
                ),
            }));
        }
        self.lab.changed();
        self.lab.statistics.restart();
        self.publisher.mark_changed();
        // Other pictures may be possible with this kernel.
        self.lattices
            .view()
            .map_or(Ok(()), |view| self.set_view(view))
    }

    /// Selects this kernel, if it is available; one of the user's own takes the place of the one before.
    pub(super) fn use_if_available(&mut self, kernel: &'static Kernel) -> Result<Option<Notice>> {
        let Some(instances) = &self.lattices.instances else {
            return Ok(None);
        };
        match instances.validate(kernel) {
            Ok(()) => self.set_kernel(kernel, KernelChoice::Explicit),
            Err(why) => Ok(Some(Notice::Refused(Message::of(why)))),
        }
    }

    fn set_kernel(
        &mut self,
        kernel: &'static Kernel,
        kernel_choice: KernelChoice,
    ) -> Result<Option<Notice>> {
        self.publish_last_known(Duration::ZERO); // before the engine is asked for anything
        self.drop_measurement()?;
        let Setup {
            kernel: before,
            own_kernel: own_before,
            switches: requested,
            ..
        } = *self.lattices.setup();
        self.lattices.set_kernel(kernel, kernel_choice)?;
        self.state
            .keep_kernel(kernel_choice == KernelChoice::Explicit);
        self.state.pacing.fit(self.state.pacing.chosen());
        if self.lattices.setup().own_kernel != own_before {
            self.lab.statistics.forget_reached(Kernel::OWN);
        }
        self.fit_block_timestamps();
        let switches = [requested, self.lattices.setup().switches];
        self.tell_kernel_set(kernel, switches);
        self.lab.changed();
        if self.comparison.is_none() && before != kernel {
            let change = if before.name == kernel.name {
                message!("own kernel: this version instead of the one before")
            } else {
                message!(
                    "kernel {kernel} instead of {before}",
                    kernel = kernel.name,
                    before = before.name
                )
            };
            self.measure_change(change, before, requested)?;
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
            self.forget_slots();
            self.state.want_pictures();
        }
        changed
    }

    /// Some snapshots are only in the slots, which are about to be freed: keeps those elsewhere.
    pub(super) fn save_from_slots(&mut self) {
        if let Some(instances) = &self.lattices.instances {
            self.snapshots
                .save_from_slots(instances, &mut self.state.timeline);
        }
    }

    /// Sets a switch to its next possible position.
    pub(super) fn cycle_switch(&mut self, switch: Switch) -> Result<Option<Notice>> {
        let (switches, context) = (self.lattices.switches(), self.lattices.context());
        match switch.next(switches, context) {
            Ok(choice) => self.set_switch(switch, choice.switches, switches),
            Err(_) => Ok(Some(Notice::Refused(Message::new(|| {
                switch.next(switches, context).err().unwrap_or_default()
            })))),
        }
    }

    /// Sets a switch to this position, if that is possible.
    pub(super) fn choose(&mut self, switch: Switch, at: usize) -> Result<Option<Notice>> {
        let (switches, context) = (self.lattices.switches(), self.lattices.context());
        match switch.choices(switches, context).into_iter().nth(at) {
            Some(choice) if choice.unavailable.is_none() => {
                self.set_switch(switch, choice.switches, switches)
            }
            Some(choice) => Ok(Some(Notice::Refused(Message::new(|| {
                let why = context.incompatibility(&choice.switches);
                why.unwrap_or_default()
            })))),
            None => Ok(None),
        }
    }

    /// Makes a script the user's round and takes its order, if what it orders is right; otherwise
    /// nothing changes. Its effect is measured against the built-in order before it, or breadth-first.
    pub(super) fn set_own_round(
        &mut self,
        source: Arc<str>,
        query: Query<Result<Arc<OwnRound>, OwnRoundError>>,
    ) -> Result<Option<Notice>> {
        let instances = self.lattices.instances.as_ref();
        if instances.is_some_and(|it| it.engine().places() > 1) {
            query.answer(Err(OwnRoundError {
                place: None,
                message: message!("a round of your own runs on one device"),
            }));
            return Ok(None);
        }
        let own = Arc::new(OwnRound::new(source, self.lattices.setup().instances));
        let checked = match self.comparison {
            Some(_) => own.round().and_then(|_| own.half()),
            None => own.round(),
        };
        let synchronizes = match checked {
            Ok(round) => round.synchronizes(),
            Err(why) => {
                query.answer(Err(why.clone()));
                return Ok(None);
            }
        };
        let mut before = self.lattices.switches();
        let switches = Switches {
            order: Order::Own,
            streams: Streams::PerInstance,
            wait: Wait::Poll,
            graphs: before.graphs && !synchronizes,
            ..before
        };
        if before.order == Order::Own {
            before.order = Order::Breadth;
        }
        self.drop_measurement()?;
        self.lattices.set_own_round(own.clone())?;
        let notice = self.set_switch(Switch::Order, switches, before)?;
        query.answer(Ok(own));
        Ok(notice)
    }

    /// Sets a switch, and begins to measure the effect against `before`.
    fn set_switch(
        &mut self,
        switch: Switch,
        switches: Switches,
        before: Switches,
    ) -> Result<Option<Notice>> {
        let kernel = self.lattices.setup().kernel;
        let side = self.lattices.changed_side();
        self.drop_measurement()?;
        let frees = self.lattices.needs_slots_for(switches);
        let set = self.change_slots(frees, |lattices| lattices.set_switches(switches));
        // Also if the engine is lost: the one in its place has the switches.
        self.fit_block_timestamps();
        set?;
        self.lab.changed();
        let instances = self.lattices.instances.as_ref();
        let engine = instances.map(|instances| instances.engine().name());
        let engine = engine.filter(|_| !self.lattices.is_recorded());
        let change = match (switch, engine) {
            (Switch::HostMemory, Some("cpu")) => {
                message!("host memory: all alike on the CPU engine")
            }
            (Switch::Graphs, Some("cpu")) => message!("graphs: the CPU engine has none"),
            (Switch::Order, _) if switches.order == Order::Own => before.order.own_instead(),
            _ => Message::new(|| {
                let at = switch.position(switches, kernel);
                let choice = switch.choices(switches, kernel).into_iter().nth(at);
                choice.map_or(String::new(), |choice| match switch {
                    Switch::Block => tr!("blocks of {}: {}", choice.label, choice.effect),
                    _ => choice.effect,
                })
            }),
        };
        self.lab.previous = Some(before);
        if side == Side::A && before != switches {
            self.measure_change(change.clone(), kernel, before)?;
        }
        self.lab.statistics.restart();
        Ok(Some(match self.lab.last_effect {
            Some(_) => Notice::Effect,
            None => Notice::Done(change),
        }))
    }

    /// Turns block timestamps of timed rounds on or off.
    pub(super) fn toggle_block_timestamps(&mut self) -> Option<Notice> {
        if self.lattices.is_recorded() && !self.lab.block_timestamps() {
            return Some(Notice::Refused(message!(
                "recorded rounds have no block timestamps"
            )));
        }
        if let (Some(why), false) = (self.no_timestamps(), self.lab.block_timestamps()) {
            return Some(Notice::Refused(why));
        }
        let are_on = self.lab.toggle_block_timestamps();
        if let Some(instances) = &mut self.lattices.instances {
            instances.set_block_timestamps(are_on);
        }
        None
    }

    /// Why rounds with the present settings have no block timestamps.
    fn no_timestamps(&self) -> Option<Message> {
        let instances = self.lattices.instances.as_ref();
        let is_on_gpu = instances.is_some_and(|it| it.engine().name() == "cuda");
        if self.lattices.switches().graphs {
            Some(message!(
                "Block timestamps are unavailable with graphs; {key} turns graphs off",
                key = Switch::Graphs.key()
            ))
        } else if is_on_gpu && !self.lattices.setup().kernel.block_timestamps {
            Some(Message::new(timestamps_of_own))
        } else {
            None
        }
    }

    /// Turns block timestamps off where the present settings have none.
    pub(super) fn fit_block_timestamps(&mut self) {
        if self.no_timestamps().is_some() && self.lab.block_timestamps() {
            self.toggle_block_timestamps();
        }
    }
}
