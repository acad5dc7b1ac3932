//! The settings by which the lattices are stepped, and their change: pace, kernel, switches, pictures, block timestamps.
//!
//! The engine has no setting: each round is given one. A change asks the engine first, and takes the setting
//! afterwards; so a refused one has changed nothing.

use super::lab::{Chosen, SessionWorker, Trial, shown};
use super::snapshots::RETRY_INTERVAL;
use crate::command::{Notice, Wanted, refuse};
use crate::copies::Snapshot;
use crate::engines::{kernel_for, on_cpu};
use crate::fastest::{FastestPlan, Requested};
use crate::instances::Sim;
use crate::log::{Author, Content, SessionParameters};
use crate::state::{Mode, part_of_round};
use crate::status::SettingStatus;
use crate::trace::Recording;
use crate::{
    Choice, DEFAULT_KERNEL, KernelChoice, NewCells, Order, OwnOrder, OwnRound, OwnRoundError, Pace,
    PicturePlan, SLOWER_KEY, Setting, Setup, Share, Streams, Switch, SwitchContext, Switches,
    TransferChoice, Wait, default_kernels, recorded_in_words, timestamps_of_own,
};
use engine::{EngineError, Kernel, Layout, Result, Transfer, kernels};
use lang::{Message, message, tr};
use life::{Size, grouped};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

impl SessionWorker {
    /// The size of the lattices and their number.
    fn grid(&self) -> (Size, usize) {
        (self.setup.size, self.setup.instances)
    }

    /// Whether the fastest setting is to be taken, or the chosen one back.
    pub(super) fn is_kernel_due(&self, wants_fastest: bool) -> bool {
        match &self.chosen {
            None => wants_fastest,
            Some(chosen) => !wants_fastest || chosen.grid != self.grid(),
        }
    }

    /// The plans for the chosen switches, the fastest by the estimate first.
    fn plans(&self, requested: impl FnOnce(&Setting) -> Requested) -> Vec<FastestPlan> {
        let (mut setting, _) = self.chosen_setting();
        setting.switches.block = None; // it is one kernel's
        if setting.switches.transfer == TransferChoice::Cells {
            setting.switches.transfer = TransferChoice::Auto; // few kernels have cells
        }
        let instances = self.sim.as_ref();
        instances.map_or(Vec::new(), |it| it.plans(&requested(&setting)))
    }

    /// The setup with these parameters, and with a kernel that accepts lattices of their size.
    pub(super) fn setup_for(&self, parameters: &SessionParameters) -> Setup {
        let Setup {
            setting,
            kernel_choice,
            ..
        } = &self.setup;
        let kernel = self.kernel_of(setting, *kernel_choice, parameters.size);
        let mut setup = self.setup.clone();
        setup.setting = setting.with_kernel(kernel);
        parameters.clone().set(&mut setup);
        setup.fit_own_round();
        setup
    }

    /// The kernel of a setting that was chosen so, or another one that takes lattices of this size.
    fn kernel_of(
        &self,
        setting: &Setting,
        kernel_choice: KernelChoice,
        size: Size,
    ) -> &'static Kernel {
        let instances = self.sim.as_ref();
        let stepped = instances.map(|it| it.engine().stepped_sizes(size));
        let sizes = [vec![size], stepped.unwrap_or_default()].concat();
        let takes = |it: &&Kernel| sizes.iter().all(|&size| it.supports(size));
        let by_default = match kernel_choice {
            KernelChoice::FirstFitting => default_kernels(setting.switches).find(takes),
            _ => None,
        };
        by_default.unwrap_or_else(|| kernel_for(&sizes, setting.kernel))
    }

    /// What decides which positions of the switches can be taken.
    pub(super) fn context(&self) -> SwitchContext<'static> {
        let instances = self.sim.as_ref();
        let devices = instances.map_or(1, |it| it.engine().places());
        let stepped = self.setup.instances / if self.is_comparing() { 2 } else { 1 };
        SwitchContext {
            kernel: self.setup.setting.kernel,
            own_order: OwnOrder::of(self.setup.setting.own_round.as_deref(), stepped, devices),
        }
    }

    /// What steps lattices that are set to this: while recorded rounds are shown, what the CPU is fastest
    /// with.
    fn stepped(&self, setting: &Setting) -> Setting {
        match self.recording {
            None => setting.clone(),
            Some(_) => on_cpu(setting, self.setup.size),
        }
    }

    /// The shares in use, if this is the present setting: of a trial by side (A and B, or before and after a
    /// change), otherwise one alone.
    pub(super) fn shares(&self, now: &Setting, trial: Option<&Trial>) -> Vec<Share> {
        let now = self.stepped(now);
        let sim = self.sim.as_ref();
        let all = sim.map_or(self.setup.instances, Sim::instances);
        let is_comparing = trial.is_some_and(|it| it.each().is_some());
        let share = |lattices: Range<usize>, setting: Setting| Share {
            picture: self.picture(&setting, &now, is_comparing),
            lattices,
            setting,
        };
        let other = |trial: &Trial| self.stepped(&trial.other);
        match trial.map(|trial| (trial.each(), other(trial))) {
            None => vec![share(0..all, now.clone())],
            Some((None, before)) => vec![share(0..all, before), share(0..all, now.clone())],
            Some((Some(each), b)) => {
                vec![share(0..each, now.clone()), share(each..2 * each, b)]
            }
        }
    }

    /// The shares in use at present.
    pub(super) fn shares_in_use(&self) -> Vec<Share> {
        self.shares(&self.setup.setting, self.trial.as_ref())
    }

    /// The present setting's share; A's in a comparison.
    pub(super) fn present(&self) -> Share {
        let trial = self.trial.as_ref().filter(|it| it.each().is_some());
        self.shares(&self.setup.setting, trial).swap_remove(0)
    }

    /// What a setting's rounds download while `now` is the present one. The drawing side says what to
    /// transfer, but for A and B, and for the setting before a change, which has other switches.
    fn picture(&self, setting: &Setting, now: &Setting, is_comparing: bool) -> Option<PicturePlan> {
        let mut picture = self.view?;
        let sim = self.sim.as_ref()?;
        let is_split = sim.engine().is_split();
        let allows_cells = |it: &Setting| it.kernel.layout == Layout::I32 && !is_split;
        if picture.transfer == Transfer::Cells && !allows_cells(now) {
            picture.transfer = Transfer::Bits;
        }
        let choice = setting.switches.transfer;
        let chosen = choice.transfer(sim.all_bits(), PicturePlan::MAX_AUTO_BITS_BYTES);
        if is_comparing {
            picture.transfer = chosen;
        } else if choice != now.switches.transfer {
            // Only the drawing side knows of which region a view is.
            picture = match (chosen, self.last_view) {
                (Transfer::View, Some(view)) => view,
                (Transfer::View, None) => PicturePlan::BITS,
                (transfer, _) => PicturePlan {
                    transfer,
                    ..picture
                },
            };
        }
        // The drawing side changes its request a moment after a change of the kernel.
        if picture.transfer == Transfer::Cells && !allows_cells(setting) {
            picture.transfer = Transfer::Bits;
        }
        Some(picture)
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

    /// Maximum number of generations of a round of every setting in use.
    pub(super) fn longest_round(&self) -> u32 {
        let Some(sim) = &self.sim else {
            return u32::MAX;
        };
        let longest = |setting: &Setting| sim.longest_round(&self.stepped(setting));
        let now = longest(&self.setup.setting);
        let other = self.trial.as_ref().map(|it| longest(&it.other));
        other.map_or(now, |other| other.min(now))
    }

    /// The kernel of the user's own by which rounds are stepped.
    pub(super) fn own_kernel(&self) -> Option<&'static Kernel> {
        let other = self.trial.as_ref().map(|it| it.other.kernel);
        let mut kernels = [Some(self.setup.setting.kernel), other]
            .into_iter()
            .flatten();
        kernels.find(|it| it.own.is_some() && !self.is_recorded())
    }

    /// Sets what the drawing side wants to see. Returns what it wanted before.
    pub(super) fn swap_view(&mut self, view: Option<PicturePlan>) -> Option<PicturePlan> {
        let seen = view.filter(|it| it.transfer == Transfer::View);
        self.last_view = seen.or(self.last_view);
        std::mem::replace(&mut self.view, view)
    }
}

// Changes of the settings.

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
        let Some(instances) = &self.sim else {
            return;
        };
        let is_compared = self.trial.is_some();
        let pacing = &self.state.pacing;
        if pacing.pace != Pace::Maximum || self.state.mode != Mode::Running || is_compared {
            return;
        }
        let setting = self.present().setting;
        let mut rounds = instances.round_length(&setting, Pace::FRAME, pacing.generations());
        rounds.learn(generations, took);
        self.state.pacing.fit(rounds.generations());
    }

    /// Says which kernel steps the lattices, if their size or the memory has put it in the place of
    /// this one.
    pub(super) fn tell_kernel(&mut self, before: &'static Kernel) {
        let Setup { setting, size, .. } = &self.setup;
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
        let Some(instances) = &self.sim else {
            return Ok(None);
        };
        let setup = &self.setup;
        // After the last one comes the program's choice.
        let mut others: Vec<_> = kernels::with_own(setup.own_kernel)
            .map(Some)
            .chain([None])
            .collect();
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
            None => Ok(refuse(message!("No other kernel can step these lattices"))),
        }
    }

    /// Selects the kernel at this place among those that can be selected, if it is available.
    pub(super) fn use_kernel(&mut self, at: u8) -> Result<Option<Notice>> {
        let kernel = kernels::with_own(self.setup.own_kernel).nth(at.into());
        kernel.map_or(Ok(None), |kernel| self.use_if_available(kernel))
    }

    /// Selects the program's choice: at the maximum pace and in a run the fastest setting.
    pub(super) fn use_auto_kernel(&mut self) -> Result<Option<Notice>> {
        self.keep_kernel(false);
        let generations = self.state.pacing.generations();
        let plans = self.plans(|it| Requested::all_but_the_kernel(it, generations));
        let kernel = plans.first().map(|plan| plan.setting.kernel);
        match kernel.filter(|_| !self.wants_fastest()) {
            Some(kernel) => self.set_kernel(kernel, KernelChoice::Estimated),
            None => Ok(None), // it follows
        }
    }

    /// Sets whether the maximum pace, or the run under way, leaves the kernel as the user chose it.
    pub(super) fn keep_kernel(&mut self, keeps: bool) {
        self.state.pacing.keeps_kernel = keeps;
        if let Mode::RunningTo(run_to) = &mut self.state.mode {
            run_to.keeps_kernel = keeps;
        }
    }

    /// Whether the fastest setting is to step the lattices, whichever the user chose: at the maximum pace and in
    /// a run to a generation, unless the user chose one since; not while settings are compared, nor in the
    /// place of recorded rounds.
    pub(super) fn wants_fastest(&self) -> bool {
        let pacing = &self.state.pacing;
        let keeps_chosen = match &self.state.mode {
            Mode::RunningTo(run_to) => run_to.keeps_kernel,
            _ => pacing.pace != Pace::Maximum || pacing.keeps_kernel,
        };
        !keeps_chosen && !self.is_comparing() && !self.is_recorded()
    }

    /// Takes the fastest setting in the place of the chosen one, or the chosen one back. Nothing may be in
    /// flight.
    pub(super) fn fit_kernel(&mut self, takes_fastest: bool) -> Result<()> {
        self.state.pacing.left = None;
        let fitted = if takes_fastest {
            self.take_fastest()
        } else {
            let (chosen, choice) = self.chosen_setting();
            let size = self.setup.size;
            let kernel = self.kernel_of(&chosen, choice, size);
            let trial = self.trial_by(kernel);
            self.change(chosen.with_kernel(kernel), trial, choice, None)
                .map(|()| None)
        };
        let first_round = fitted.as_ref().ok().copied().flatten();
        if let Err(error) = fitted {
            if error.loses_lattices() {
                return Err(error);
            }
            self.chosen = None; // it goes on as it is
            self.notify(Notice::Warning(Message::of(error)));
        }
        if self.is_kernel_due(takes_fastest) {
            self.keep_kernel(true);
        }
        let per_round = first_round.unwrap_or(self.state.pacing.chosen);
        self.state.pacing.fit(per_round);
        let now = self.setup.setting.kernel;
        let (Setting { kernel: before, .. }, _) = self.chosen_setting();
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
        let is_comparing = self.is_comparing();
        let b = self.changed_setting().with_kernel(kernel);
        is_comparing.then(|| self.trial_of_halves(b))
    }

    /// Takes the fastest setting in the place of the chosen one. Returns the generations of its first
    /// round at the maximum pace.
    fn take_fastest(&mut self) -> Result<Option<u32>> {
        let (setting, kernel_choice) = self.chosen_setting();
        let mut taken = Ok(None);
        for plan in self.plans(Requested::switches) {
            let first_round = plan.rounds(Pace::FRAME).generations();
            let chosen = Chosen {
                setting: setting.clone(),
                kernel_choice,
                fastest: plan.setting.switches,
                grid: self.grid(),
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
        let shares = self.shares(&setting, trial.as_ref());
        let mut entered = self.enter(&shares);
        if let Err(error) = &entered
            && error.lacks_memory()
            && trial.take_if(|it| it.each().is_none()).is_some()
        {
            let error = lang::english(error);
            tracing::info!("the effect of the change is not measured: {error}");
            entered = self.enter(&self.shares(&setting, None));
        }
        if entered.as_ref().is_err_and(|it| !it.loses_lattices()) {
            return entered;
        }
        let (kernel, setup) = (setting.kernel, &mut self.setup);
        (setup.setting, setup.kernel_choice) = (setting, kernel_choice);
        if kernel.own.is_some() {
            setup.own_kernel = Some(kernel);
            setup.stored_kernel = None;
        }
        (self.chosen, self.trial) = (chosen, trial);
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
        let trial = match halves {
            None if is_measured => self.trial_of_change(what, [&before, &setting]),
            halves => halves,
        };
        self.change(setting, trial, kernel_choice, chosen)?;
        if is_measured {
            self.show_effect(what, before);
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
        let Some(sim) = &mut self.sim else {
            return Ok(());
        };
        shown(shares).iter().try_for_each(|share| sim.enter(share))
    }

    /// Makes what rounds of these shares need. If that replaces slots, what was in them is saved before, and
    /// the new ones are used afterwards. Answers `false` if programs in flight hinder it: it is tried again.
    pub(super) fn ensure(&mut self, shares: &[Share]) -> Result<bool> {
        let replaces = |it: &&Sim| it.is_idle() && it.replaces_slots(shares);
        let before = self.sim.as_ref().filter(replaces);
        // A weak reference: the slots must not be kept alive.
        let before = before.map(|it| Arc::downgrade(&it.slots));
        if before.is_some() {
            self.save_from_slots();
            self.publish_last_known(Duration::ZERO);
        }
        let Some(sim) = &mut self.sim else {
            return Ok(false);
        };
        let ensured = sim.ensure(shares);
        let slots = &sim.slots;
        if before.is_some_and(|before| !std::ptr::addr_eq(before.as_ptr(), Arc::as_ptr(slots))) {
            let pictures = &self.publisher.pictures;
            pictures.replace(slots.clone(), sim.instances(), sim.size);
            self.forget_slots();
            self.state.wants_pictures = true;
        }
        if matches!(ensured, Ok(false)) {
            self.retry_at = Some(self.now() + RETRY_INTERVAL);
        }
        ensured
    }

    /// Selects this kernel, if it is available; one of the user's own takes the place of the one before.
    pub(super) fn use_if_available(&mut self, kernel: &'static Kernel) -> Result<Option<Notice>> {
        let Some(instances) = &self.sim else {
            return Ok(None);
        };
        match instances.validate(kernel) {
            Ok(()) => self.set_kernel(kernel, KernelChoice::Explicit),
            Err(why) => Ok(refuse(Message::of(why))),
        }
    }

    fn set_kernel(
        &mut self,
        kernel: &'static Kernel,
        kernel_choice: KernelChoice,
    ) -> Result<Option<Notice>> {
        let own_before = self.setup.own_kernel;
        let before = self.setup.setting.clone();
        let setting = self.chosen_setting().0.with_kernel(kernel);
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
        if let Some(stored) = &mut self.setup.stored_kernel {
            Arc::make_mut(stored).in_use = false;
        }
        self.keep_kernel(kernel_choice == KernelChoice::Explicit);
        self.state.pacing.fit(self.state.pacing.chosen);
        if self.setup.own_kernel != own_before {
            let reached = &mut self.lab.statistics.reached;
            reached.retain(|(name, _)| *name != Kernel::OWN);
        }
        Ok(Some(match self.lab.before_change {
            Some(_) => Notice::Effect, // as recorded
            None => kernel_set(kernel, switches),
        }))
    }

    pub(super) fn set_view(&mut self, view: PicturePlan) -> Result<()> {
        if self.sim.is_none() {
            return Ok(());
        }
        let is_other = self.present().picture != Some(view);
        if is_other {
            (self.lab.isolated, self.lab.recorded) = (None, None);
        }
        let before = self.swap_view(Some(view));
        let shares = self.shares_in_use();
        if let Err(error) = self.ensure(&shares) {
            if !error.loses_lattices() {
                self.swap_view(before);
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
        let (setting, context) = (self.changed_setting(), self.context());
        let before = setting.switches;
        let choice = || choice(before, context);
        match choice() {
            Some(Ok(it)) => self.set_switches(switch, setting.with_switches(it.switches), before),
            Some(Err(_)) => Ok(refuse(Message::new(|| {
                choice().and_then(Result::err).unwrap_or_default()
            }))),
            None => Ok(None),
        }
    }

    /// Makes a script the user's round and takes its order, if what it orders is right; otherwise
    /// nothing changes. Its effect is measured against the built-in order before it, or breadth-first.
    pub(super) fn set_own_round(
        &mut self,
        source: Arc<str>,
        query: Sender<Result<Arc<OwnRound>, OwnRoundError>>,
    ) -> Result<Option<Notice>> {
        let instances = self.sim.as_ref();
        if instances.is_some_and(|it| it.engine().places() > 1) {
            let _ = query.send(Err(OwnRoundError {
                place: None,
                message: message!("a round of your own runs on one device"),
            }));
            return Ok(None);
        }
        let own = Arc::new(OwnRound::new(source, self.setup.instances));
        // A comparison may also lie ahead.
        let checked = if self.state.log.comparison().is_some() {
            own.round.as_ref().and_then(|_| own.half.as_ref())
        } else {
            own.round.as_ref()
        };
        let synchronizes = match checked {
            Ok(round) => round.synchronizes(),
            Err(why) => {
                let _ = query.send(Err(why.clone()));
                return Ok(None);
            }
        };
        let setting = self.changed_setting();
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
        let _ = query.send(Ok(own));
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
        let (now, halves) = if self.is_comparing() {
            let a = Setting {
                own_round: setting.own_round.clone(),
                ..self.setup.setting.clone()
            };
            (a, Some(self.trial_of_halves(setting.clone())))
        } else {
            (setting.clone(), None)
        };
        let choice = self.setup.kernel_choice;
        let chosen = self.chosen.clone();
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
        let kernel = self.setup.setting.kernel;
        let engine = self.engine_name().filter(|_| !self.is_recorded());
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

// Block timestamps, and recorded rounds.

impl SessionWorker {
    /// Turns block timestamps of timed rounds on or off.
    pub(super) fn toggle_block_timestamps(&mut self) -> Option<Notice> {
        if self.is_recorded() && !self.lab.block_timestamps {
            return refuse(message!("recorded rounds have no block timestamps"));
        }
        if let (Some(why), false) = (self.no_timestamps(), self.lab.block_timestamps) {
            return refuse(why);
        }
        self.lab.block_timestamps ^= true;
        self.lab.launches = Default::default();
        None
    }

    /// Shows recorded rounds from now on, or measures again. Nothing may be in flight.
    pub(super) fn toggle_recorded(&mut self) -> Result<Option<Notice>> {
        if self.engine_name().is_some_and(|it| it != "cpu") {
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

    /// Why rounds with the present settings have no block timestamps.
    fn no_timestamps(&self) -> Option<Message> {
        let is_on_gpu = self.engine_name() == Some("cuda");
        if self.changed_setting().switches.graphs {
            Some(message!(
                "Block timestamps are unavailable with graphs; {key} turns graphs off",
                key = Switch::Graphs.key()
            ))
        } else if is_on_gpu && !self.setup.setting.kernel.block_timestamps {
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

// Comparing two settings, A and B, each on half of the instances.
// A record of the log begins it: B's lattices take the cells of A's. Whether it is on follows from the position,
// also after an undo, a jump, a recovery or in a session from a file; only B's switches are remembered.

impl SessionWorker {
    /// Begins or ends a comparison. Nothing may be in flight.
    pub(super) fn toggle_comparison(&mut self) -> Result<Option<Notice>> {
        let setup = &self.setup;
        if self.is_comparing() {
            self.state.end_comparison();
            return Ok(None);
        }
        if setup.instances < 2 {
            return Ok(refuse(message!("A and B need at least two panels")));
        }
        if let Some(own) = &setup.setting.own_round
            && setup.setting.switches.order == Order::Own
            && own.half.is_err()
        {
            let each = own.instances / 2;
            return Ok(refuse(message!(
                "The round of your own is not right for {each} instances, as many as A and B have each"
            )));
        }
        if self.is_kernel_due(false) {
            self.fit_kernel(false)?; // chosen settings are compared
        }
        self.lab.b_switches = Some(self.other_switches());
        Ok(self.state.change(Author::Person, Content::Compare))
    }

    /// Gives B's lattices the cells of A's. All lattices are on the host.
    pub(super) fn apply_comparison(&mut self) -> Result<()> {
        let lattices = self.present_copy().map(Snapshot::lattices).transpose()?;
        let trial = self.trial_of_halves(self.b_setting());
        let shares = self.shares(&self.setup.setting, Some(&trial));
        self.enter(&shares)?;
        if let (Some(lattices), Some(sim)) = (lattices, &mut self.sim) {
            let [a, b] = [0, 1].map(|side| shares[side].lattices.clone());
            let cells = lattices[a].iter().cloned().map(NewCells::from);
            sim.set_lattices(b.zip(cells).collect())?;
        }
        if self.state.moving().is_none() {
            self.notify(Notice::Done(message!(
                "Key B returns to generation {from}; A and B alternate; {first} to {last} change B",
                from = grouped(self.state.position.generation),
                first = Switch::ALL[0].key(),
                last = Switch::ALL[Switch::ALL.len() - 1].key()
            )));
        }
        Ok(())
    }

    /// Begins to step A and B apart, or ends that, as the log says.
    pub(super) fn follow_comparison(&mut self, compares: bool) {
        if compares == self.is_comparing() {
            return;
        }
        self.forget_effect();
        self.lab.changed();
        if compares {
            self.lab.differing = None;
            self.trial = Some(self.trial_of_halves(self.b_setting()));
        } else {
            self.lab.b_switches = Some(self.changed_setting().switches);
            self.trial = None;
        }
    }

    /// B's setting when a comparison begins.
    fn b_setting(&self) -> Setting {
        let now = &self.setup.setting;
        let b_switches = self.lab.b_switches.unwrap_or_else(|| self.other_switches());
        now.with_switches(b_switches).with_kernel(now.kernel)
    }

    /// B's first switches: those before the last change, or another way of sharing streams; for a round of
    /// the user's own, another order.
    fn other_switches(&self) -> Switches {
        let (setup, context) = (&self.setup, self.context());
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

    /// Follows a change of the log or the position: drops void snapshots and updates the setup.
    pub(super) fn log_changed(&mut self) {
        self.safety_copy.is_current = false;
        self.state.drop_void();
        let parameters = self.state.parameters();
        let compares = parameters.compares;
        parameters.set(&mut self.setup);
        self.follow_comparison(compares);
        self.watch.selected = self.watch.selected.min(self.setup.instances - 1);
        // A move may begin where there were fewer instances than at its end.
        if self.state.moving().is_none() {
            // Who waits for an instance that is gone finds the channel closed.
            let instances = self.setup.instances;
            self.waiters
                .retain(|it| !matches!(it.wants, Wanted::Cells(i, _) if i >= instances));
        }
    }
}
