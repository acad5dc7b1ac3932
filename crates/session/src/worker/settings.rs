//! Changes how rounds are stepped: pace, kernel, switches, pictures; and compares rounds before and after a
//! change.
//!
//! Rounds that differ from the others in anything else than the setting do not count: those stepped by
//! hand, cut short, or timed by events.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::SessionWorker;
use crate::command::{Notice, Query};
use crate::fastest::Requested;
use crate::instances::Sim;
use crate::lattices::Chosen;
use crate::lattices::{Subject, Trial, shown};
use crate::state::Mode;
use crate::{
    Choice, DEFAULT_KERNEL, Effect, KernelChoice, Order, OwnRound, OwnRoundError, Pace,
    PicturePlan, SLOWER_KEY, Setting, Setup, Share, Streams, Switch, SwitchContext, Switches, Wait,
    timestamps_of_own,
};
use engine::{EngineError, Kernel, Result, kernels};
use lang::{Message, message, tr};
use life::grouped;

/// Number of cells of all lattices up to which kernels of different layouts are compared: each change
/// between them converts every lattice.
const MAX_CONVERTED_CELLS: u64 = 1 << 28;

/// How long nothing was asked of the session before equal settings are compared.
const IDLE_BEFORE_EQUAL_SETTINGS: Duration = Duration::from_secs(10);

impl SessionWorker {
    /// Sets the pace, found from the present one.
    pub(super) fn set_pace(&mut self, other: impl FnOnce(Pace) -> Pace) -> Notice {
        let (pace, now) = (other(self.state.pacing.pace), self.now());
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
            message!("{count} generations per round")
        } else {
            message!("{count} generations per round, once the speed is not the maximum")
        })
    }

    /// At the maximum pace, fits the generations per round to the time that a round took: as many
    /// as fit in a frame. Not while settings are compared by the time of their rounds.
    pub(super) fn fit_rounds(&mut self, generations: u32, took: Duration) {
        let Some(instances) = &self.lattices.sim else {
            return;
        };
        let is_compared = self.lattices.trial.is_some();
        let pacing = &self.state.pacing;
        if pacing.pace != Pace::Maximum || self.state.mode != Mode::Running || is_compared {
            return;
        }
        let setting = self.lattices.present().setting;
        let mut rounds = instances.round_length(&setting, Pace::FRAME, pacing.generations());
        rounds.learn(generations, took);
        self.state.pacing.fit(rounds.generations());
    }

    /// The kernels that can be selected: the rungs, and the user's own.
    fn kernels(&self) -> impl Iterator<Item = &'static Kernel> + use<> {
        kernels::with_own(self.lattices.setup.own_kernel)
    }

    /// Says which kernel steps the lattices, if their size or the memory has put it in the place of
    /// this one.
    pub(super) fn tell_kernel(&mut self, before: &'static Kernel) {
        let Setup { setting, size, .. } = &self.lattices.setup;
        let (kernel, switches, size) = (setting.kernel, setting.switches, *size);
        if kernel.name == DEFAULT_KERNEL && kernel != before {
            self.notify(kernel_set(kernel, [switches; 2]));
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

    /// Selects the next kernel, or the one before, skipping unavailable kernels.
    pub(super) fn change_kernel(&mut self, is_next: bool) -> Result<Option<Notice>> {
        let Some(instances) = &self.lattices.sim else {
            return Ok(None);
        };
        let setup = &self.lattices.setup;
        // After the last one comes the program's choice.
        let mut others: Vec<_> = self.kernels().map(Some).chain([None]).collect();
        let here = match setup.kernel_choice {
            KernelChoice::Estimated => others.len() - 1,
            _ => setup.setting.kernel.index(),
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

    /// Selects the kernel at this place among those that can be selected, if it is available.
    pub(super) fn use_kernel(&mut self, at: u8) -> Result<Option<Notice>> {
        let kernel = self.kernels().nth(at.into());
        kernel.map_or(Ok(None), |kernel| self.use_if_available(kernel))
    }

    /// Selects the program's choice: at the maximum pace and in a run the fastest setting.
    pub(super) fn use_auto_kernel(&mut self) -> Result<Option<Notice>> {
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
        self.state.wants_fastest() && !self.lattices.is_comparing() && !self.lattices.is_recorded()
    }

    /// Takes the fastest setting in the place of the chosen one, or the chosen one back. Nothing may be in
    /// flight.
    pub(super) fn fit_kernel(&mut self, takes_fastest: bool) -> Result<()> {
        self.state.pacing.left = None;
        let fitted = if takes_fastest {
            self.take_fastest()
        } else {
            let (chosen, choice) = self.lattices.chosen_setting();
            let size = self.lattices.setup.size;
            let kernel = self.lattices.kernel_of(&chosen, choice, size);
            let trial = self.trial_by(kernel);
            self.change(chosen.with_kernel(kernel), trial, choice, None)
                .map(|()| None)
        };
        let first_round = fitted.as_ref().ok().copied().flatten();
        if let Err(error) = fitted {
            if error.loses_lattices() {
                return Err(error);
            }
            self.lattices.chosen = None; // it goes on as it is
            self.notify(Notice::Warning(Message::of(error)));
        }
        if self.lattices.is_kernel_due(takes_fastest) {
            self.state.keep_kernel(true);
        }
        let per_round = first_round.unwrap_or(self.state.pacing.chosen);
        self.state.pacing.fit(per_round);
        let now = self.lattices.setup.setting.kernel;
        let (Setting { kernel: before, .. }, _) = self.lattices.chosen_setting();
        if now != before {
            let (kernel, chosen) = (now.name, before.name);
            self.notify(Notice::Done(match &self.state.mode {
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
        self.publisher.is_changed = true;
        Ok(())
    }

    /// The comparison of A and B, if there is one, with this kernel; nothing of it is measured yet.
    pub(super) fn trial_by(&mut self, kernel: &'static Kernel) -> Option<Trial> {
        let is_comparing = self.lattices.is_comparing();
        let b = self.lattices.changed_setting().with_kernel(kernel);
        is_comparing.then(|| self.trial_of_halves(b))
    }

    /// Takes the fastest setting in the place of the chosen one. Returns the generations of its first
    /// round at the maximum pace.
    fn take_fastest(&mut self) -> Result<Option<u32>> {
        let (setting, kernel_choice) = self.lattices.chosen_setting();
        let mut taken = Ok(None);
        for plan in self.lattices.plans(Requested::switches) {
            let first_round = plan.rounds(Pace::FRAME).generations();
            let chosen = Chosen {
                setting: setting.clone(),
                kernel_choice,
                fastest: plan.setting.switches,
                grid: self.lattices.grid(),
            };
            let trial = self.trial_by(plan.setting.kernel);
            let choice = KernelChoice::Estimated;
            let changed = self.change(plan.setting, trial, choice, Some(chosen));
            let lacks_memory = changed.as_ref().is_err_and(EngineError::lacks_memory);
            taken = changed.map(|()| Some(first_round));
            if !lacks_memory {
                break;
            }
        }
        taken
    }

    /// Steps the lattices with another setting, if the engine can, and compares its rounds with those of
    /// the trial's. Nothing may be in flight. Where there is no memory for both settings of a change, it is
    /// made, and its effect not measured. `chosen` is what the setting takes the place of for a while.
    ///
    /// # Errors
    /// The engine refuses the setting, and the one before stays; or it is lost, and the one in its place
    /// has it.
    fn change(
        &mut self,
        setting: Setting,
        mut trial: Option<Trial>,
        kernel_choice: KernelChoice,
        chosen: Option<Chosen>,
    ) -> Result<()> {
        self.drop_change();
        let shares = self.lattices.shares(&setting, trial.as_ref());
        let mut entered = self.enter(&shares);
        if let Err(error) = &entered
            && error.lacks_memory()
            && trial.take_if(|it| it.each().is_none()).is_some()
        {
            let error = lang::english(error);
            tracing::info!("the effect of the change is not measured: {error}");
            entered = self.enter(&self.lattices.shares(&setting, None));
        }
        if entered.as_ref().is_err_and(|it| !it.loses_lattices()) {
            return entered;
        }
        let (kernel, setup) = (setting.kernel, &mut self.lattices.setup);
        (setup.setting, setup.kernel_choice) = (setting, kernel_choice);
        if kernel.own.is_some() {
            setup.own_kernel = Some(kernel);
            setup.stored_kernel = None;
        }
        (self.lattices.chosen, self.lattices.trial) = (chosen, trial);
        self.fit_block_timestamps();
        self.lab.changed();
        entered
    }

    /// Makes a [`change`](Self::change), in words `what`, and begins to measure its effect against the setting
    /// `before`, if there is one; not while A and B are compared, by `halves` then.
    fn change_measured(
        &mut self,
        what: &Message,
        [before, setting]: [Setting; 2],
        halves: Option<Trial>,
        (kernel_choice, chosen): (KernelChoice, Option<Chosen>),
    ) -> Result<()> {
        let is_measured = halves.is_none() && before != setting;
        let subject = || Subject::Change(what.clone());
        let trial = match halves {
            None if is_measured && self.can_compare(&before, &setting) => {
                Some(self.new_trial(subject(), before.clone()))
            }
            halves => halves,
        };
        self.change(setting, trial, kernel_choice, chosen)?;
        if is_measured {
            if let Some(effect) = self.recorded_effect(what, &before) {
                self.lab.before_change = Some(before);
                self.lab.last_effect = Some(effect);
            }
            self.publish_effect();
        }
        Ok(())
    }

    /// Makes what rounds of these shares need, and converts the lattices for them. Nothing may be in flight.
    ///
    /// # Errors
    /// The engine refuses, and rounds go on with what they had; or it is lost.
    pub(super) fn enter(&mut self, shares: &[Share]) -> Result<()> {
        self.publish_last_known(Duration::ZERO); // before the engine is asked for anything
        self.ensure(shares)?;
        let Some(sim) = &mut self.lattices.sim else {
            return Ok(());
        };
        shown(shares).iter().try_for_each(|share| sim.enter(share))
    }

    /// Makes what rounds of these shares need. If that replaces slots, what was in them is saved before, and
    /// the new ones are used afterwards. Answers `false` if programs in flight hinder it.
    pub(super) fn ensure(&mut self, shares: &[Share]) -> Result<bool> {
        let replaces = |it: &&Sim| it.is_idle() && it.replaces_slots(shares);
        let before = self.lattices.sim.as_ref().filter(replaces);
        // A weak reference: the slots must not be kept alive.
        let before = before.map(|it| Arc::downgrade(it.slots()));
        if before.is_some() {
            self.save_from_slots();
            self.safety_copy.is_current = false;
            self.publish_last_known(Duration::ZERO);
        }
        let Some(sim) = &mut self.lattices.sim else {
            return Ok(false);
        };
        let ensured = sim.ensure(shares);
        let slots = sim.slots();
        if before.is_some_and(|before| !std::ptr::addr_eq(before.as_ptr(), Arc::as_ptr(slots))) {
            let pictures = &self.publisher.pictures;
            pictures.replace(slots.clone(), sim.instances(), sim.size());
            self.forget_slots();
            self.state.wants_pictures = true;
        }
        ensured
    }

    /// Selects this kernel, if it is available; one of the user's own takes the place of the one before.
    pub(super) fn use_if_available(&mut self, kernel: &'static Kernel) -> Result<Option<Notice>> {
        let Some(instances) = &self.lattices.sim else {
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
        let own_before = self.lattices.setup.own_kernel;
        let before = self.lattices.setup.setting.clone();
        let setting = self.lattices.chosen_setting().0.with_kernel(kernel);
        let change = if before.kernel.name == kernel.name {
            message!("own kernel: this version instead of the one before")
        } else {
            message!(
                "kernel {kernel} instead of {before}",
                kernel = kernel.name,
                before = before.kernel.name
            )
        };
        let switches = [before.switches, setting.switches];
        // The same kernel with other switches is no change of it.
        let before = if before.kernel == kernel {
            setting.clone()
        } else {
            before
        };
        let halves = self.trial_by(kernel);
        self.change_measured(&change, [before, setting], halves, (kernel_choice, None))?;
        if let Some(stored) = &mut self.lattices.setup.stored_kernel {
            Arc::make_mut(stored).in_use = false;
        }
        self.state
            .keep_kernel(kernel_choice == KernelChoice::Explicit);
        self.state.pacing.fit(self.state.pacing.chosen);
        if self.lattices.setup.own_kernel != own_before {
            let reached = &mut self.lab.statistics.reached;
            reached.retain(|(name, _)| *name != Kernel::OWN);
        }
        Ok(Some(match self.lab.before_change {
            Some(_) => Notice::Effect, // as recorded
            None => kernel_set(kernel, switches),
        }))
    }

    pub(super) fn set_view(&mut self, view: PicturePlan) -> Result<()> {
        if self.lattices.sim.is_none() {
            return Ok(());
        }
        let is_other = self.lattices.present().picture != Some(view);
        if is_other {
            (self.lab.isolated, self.lab.recorded) = (None, None);
        }
        let before = self.lattices.set_view(Some(view));
        let shares = self.lattices.shares_in_use();
        if let Err(error) = self.ensure(&shares) {
            if !error.loses_lattices() {
                self.lattices.set_view(before);
            }
            return Err(error);
        }
        if is_other {
            self.state.wants_pictures = true;
        }
        self.publisher.is_changed = true;
        Ok(())
    }

    /// Sets a switch to the position that `choice` finds, if there is one and it is possible.
    pub(super) fn set_switch(
        &mut self,
        switch: Switch,
        choice: impl Fn(Switches, SwitchContext) -> Option<Result<Choice, String>>,
    ) -> Result<Option<Notice>> {
        let (setting, context) = (self.lattices.changed_setting(), self.lattices.context());
        let before = setting.switches;
        let choice = || choice(before, context);
        match choice() {
            Some(Ok(it)) => self.set_switches(switch, setting.with_switches(it.switches), before),
            Some(Err(_)) => Ok(Some(Notice::Refused(Message::new(|| {
                choice().and_then(Result::err).unwrap_or_default()
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
        let instances = self.lattices.sim.as_ref();
        if instances.is_some_and(|it| it.engine().places() > 1) {
            query.answer(Err(OwnRoundError {
                place: None,
                message: message!("a round of your own runs on one device"),
            }));
            return Ok(None);
        }
        let own = Arc::new(OwnRound::new(source, self.lattices.setup.instances));
        // A comparison may also lie ahead.
        let checked = if self.state.log.comparison().is_some() {
            own.round.as_ref().and_then(|_| own.half.as_ref())
        } else {
            own.round.as_ref()
        };
        let synchronizes = match checked {
            Ok(round) => round.synchronizes(),
            Err(why) => {
                query.answer(Err(why.clone()));
                return Ok(None);
            }
        };
        let setting = self.lattices.changed_setting();
        let mut before = setting.switches;
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
        let setting = Setting {
            switches,
            own_round: Some(own.clone()),
            ..setting
        };
        let notice = self.set_switches(Switch::Order, setting, before)?;
        query.answer(Ok(own));
        Ok(notice)
    }

    /// Sets the switches and the user's round, of B while A and B are compared, and begins to measure the
    /// effect of `switch` against `before`.
    fn set_switches(
        &mut self,
        switch: Switch,
        setting: Setting,
        before: Switches,
    ) -> Result<Option<Notice>> {
        let what = self.change_in_words(switch, setting.switches, before);
        let (now, halves) = if self.lattices.is_comparing() {
            let a = Setting {
                own_round: setting.own_round.clone(),
                ..self.lattices.setup.setting.clone()
            };
            (a, Some(self.trial_of_halves(setting.clone())))
        } else {
            (setting.clone(), None)
        };
        let choice = self.lattices.setup.kernel_choice;
        let chosen = self.lattices.chosen.clone();
        let settings = [setting.with_switches(before), now];
        self.change_measured(&what, settings, halves, (choice, chosen))?;
        self.lab.previous = Some(before);
        Ok(Some(match self.lab.last_effect {
            Some(_) => Notice::Effect,
            None => Notice::Done(what),
        }))
    }

    /// What a change of a switch does, in words.
    fn change_in_words(&self, switch: Switch, switches: Switches, before: Switches) -> Message {
        let kernel = self.lattices.setup.setting.kernel;
        let instances = self.lattices.sim.as_ref();
        let engine = instances.map(|instances| instances.engine().name());
        let engine = engine.filter(|_| !self.lattices.is_recorded());
        match (switch, engine) {
            (Switch::HostMemory, Some("cpu")) => {
                message!("host memory: all alike on the CPU engine")
            }
            (Switch::Graphs, Some("cpu")) => message!("graphs: the CPU engine has none"),
            (Switch::Order, _) if switches.order == Order::Own => before.order.own_instead(),
            _ => Message::new(|| {
                let [label, effect, _] = switch.texts(switches, kernel);
                match switch {
                    Switch::Block => tr!("blocks of {}: {}", label, effect),
                    _ => effect,
                }
            }),
        }
    }

    /// Turns block timestamps of timed rounds on or off.
    pub(super) fn toggle_block_timestamps(&mut self) -> Option<Notice> {
        if self.lattices.is_recorded() && !self.lab.block_timestamps {
            return Some(Notice::Refused(message!(
                "recorded rounds have no block timestamps"
            )));
        }
        if let (Some(why), false) = (self.no_timestamps(), self.lab.block_timestamps) {
            return Some(Notice::Refused(why));
        }
        self.lab.toggle_block_timestamps();
        None
    }

    /// Why rounds with the present settings have no block timestamps.
    fn no_timestamps(&self) -> Option<Message> {
        let instances = self.lattices.sim.as_ref();
        let is_on_gpu = instances.is_some_and(|it| it.engine().name() == "cuda");
        if self.lattices.changed_setting().switches.graphs {
            Some(message!(
                "Block timestamps are unavailable with graphs; {key} turns graphs off",
                key = Switch::Graphs.key()
            ))
        } else if is_on_gpu && !self.lattices.setup.setting.kernel.block_timestamps {
            Some(Message::new(timestamps_of_own))
        } else {
            None
        }
    }

    /// Turns block timestamps off where the present settings have none.
    pub(super) fn fit_block_timestamps(&mut self) {
        if self.no_timestamps().is_some() && self.lab.block_timestamps {
            self.toggle_block_timestamps();
        }
    }
}

/// Says that this kernel is in use; the switches before and now differ if it does not take the former.
fn kernel_set(kernel: &'static Kernel, [before, now]: [Switches; 2]) -> Notice {
    Notice::Done(Message::new(|| match before.incompatibility(kernel) {
        None => tr!("kernel {}: {}", kernel.name, kernel.idea()),
        Some(why) => tr!(
            "{why}; changed to streams {streams}, transfer {transfer}",
            streams = now.streams,
            transfer = now.transfer
        ),
    }))
}

/// Trials.
impl SessionWorker {
    /// A trial of the present setting and another one.
    pub(super) fn new_trial(&mut self, subject: Subject, other: Setting) -> Trial {
        self.lab.trials += 1;
        let spread = self.lab.spread.unwrap_or(1.0);
        Trial::new(subject, other, self.lab.trials, spread)
    }

    /// Whether rounds before and after a change can be compared, if there is the memory for both.
    fn can_compare(&self, before: &Setting, after: &Setting) -> bool {
        let setup = &self.lattices.setup;
        let cells = setup.size.cells() * setup.instances as u64;
        let has_one_layout = before.kernel.layout == after.kernel.layout;
        !self.lattices.is_recorded() && (has_one_layout || cells <= MAX_CONVERTED_CELLS)
    }

    /// Stops comparing a change's rounds; its effect stays unknown.
    pub(super) fn drop_change(&mut self) {
        self.forget_effect();
        self.lattices.trial.take_if(|it| it.each().is_none());
    }

    /// Begins to compare rounds of equal settings, once per session, if nothing was asked of it for a
    /// while and it runs so slowly that rounds one at a time are no slower.
    pub(super) fn measure_equal_settings(&mut self, now: Instant) {
        let is_long_ago = |at: Instant| now - at >= IDLE_BEFORE_EQUAL_SETTINGS;
        let is_idle = self.lab.last_command.is_some_and(is_long_ago)
            && self.state.mode == Mode::Running
            && matches!(self.state.pacing.pace, Pace::PerSecond(_))
            && self.state.queue.is_empty()
            && !self.lab.is_watching;
        let is_free = self.lattices.trial.is_none() && !self.lattices.is_recorded();
        if is_idle && is_free && self.lab.spread.is_none() && self.is_engine_idle() {
            let same = self.lattices.setup.setting.clone();
            self.lattices.trial = Some(self.new_trial(Subject::EqualSettings, same));
        }
    }

    fn is_engine_idle(&self) -> bool {
        self.lattices.sim.as_ref().is_some_and(Sim::is_idle)
    }

    /// Ends a trial that has its finding, once nothing is in flight.
    pub(super) fn end_trial_when_over(&mut self) {
        let is_over = |it: &Trial| it.each().is_none() && !it.is_under_way();
        if !self.is_engine_idle() || !self.lattices.trial.as_ref().is_some_and(is_over) {
            return;
        }
        self.publish_effect();
        match self.lattices.trial.take() {
            Some(Trial {
                subject: Subject::EqualSettings,
                executor,
                ..
            }) => {
                self.lab.spread = executor.excess();
                tracing::debug!("equal settings differ by {:?}", self.lab.spread);
            }
            _ => {
                self.lab.statistics.restart();
                if let Some(effect) = &self.lab.last_effect {
                    tracing::debug!("{}", effect.in_words());
                    self.notify(Notice::Effect);
                }
            }
        }
    }

    /// Forgets the effect that is shown, and the rounds before the change.
    pub(super) fn forget_effect(&mut self) {
        (self.lab.last_effect, self.lab.before_change) = (None, None);
        self.lab.recorded = None; // it is drawn anew
        self.publisher.lock_trace().setting_changed();
    }

    /// Updates the effect that is shown.
    pub(super) fn publish_effect(&mut self) {
        let Some(trial) = &self.lattices.trial else {
            return;
        };
        if let Subject::Change(change) = &trial.subject {
            let (round_us, finding, source) = trial.measured();
            self.lab.last_effect = Some(Effect {
                what: change.clone(),
                round_us,
                finding,
                source,
            });
        }
    }
}
