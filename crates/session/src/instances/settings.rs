//! Changes of settings between two rounds: kernel, rule, switches, and what is downloaded.

use super::issue::Kind;
use super::{Instances, Measuring, PICTURE_SLOTS, shares, validate_kernel};
use crate::round::RoundPlan;
use crate::{PicturePlan, Side, Streams, Switches};
use engine::{
    Engine, Kernel, Layout, Result, Slot, SlotsSpec, StreamId, StreamKind, StreamSpec, Transfer,
    nvtx,
};
use life::Rule;

impl Instances {
    /// Checks that a kernel accepts these lattices and that every device can run it.
    ///
    /// # Errors
    /// The reason if not.
    pub fn validate(&self, kernel: &Kernel) -> Result<()> {
        validate_kernel(&*self.engine, kernel, self.size)
    }

    /// Changes the kernel between two rounds; every lattice keeps its cells.
    pub fn set_kernel(&mut self, kernel: &'static Kernel) -> Result<()> {
        self.validate(kernel)?;
        self.set_alternative(None)?;
        self.forget_prepared();
        if kernel.layout != self.plan().kernel.layout {
            self.convert_layout(kernel.layout)?;
        }
        for plan in &mut self.plans {
            plan.kernel = kernel;
            plan.switches = plan.switches.fitted_to(kernel);
        }
        self.reset_longest_round();
        // The drawing side changes its request a moment later.
        self.request = self.request.map(|request| self.supported_plan(request));
        self.plan_pictures();
        Ok(())
    }

    /// Converts every lattice from its bits into a layout.
    pub(super) fn change_layout(&mut self, layout: Layout) -> Result<()> {
        self.engine.reserve(layout)?;
        self.enter_layout(layout)
    }

    /// Converts every lattice from its bits into a layout whose memory is reserved.
    pub(super) fn enter_layout(&mut self, layout: Layout) -> Result<()> {
        let unpack = self.plan().relayout(layout);
        self.submit(&unpack, Kind::Other, None)
    }

    /// Changes the rule between two rounds. What is compiled for it is compiled in the background.
    pub fn set_rule(&mut self, rule: Rule) {
        self.forget_prepared();
        for plan in &mut self.plans {
            plan.rule = rule;
        }
        let program = self.next_program(1, Slot(0));
        if let Err(why) = self.engine.compile_in_background(&program) {
            // The next round says why.
            tracing::debug!("nothing is compiled for {rule}: {}", lang::english(why));
        }
    }

    /// Sets which rounds measure their lattices.
    pub fn set_measuring(&mut self, measuring: Measuring) {
        if self.measuring != measuring {
            self.measuring = measuring;
            self.forget_prepared();
            self.plan_pictures();
        }
    }

    /// Changes how rounds are issued, copied and waited for: A's, or during a
    /// comparison B's. Waits until nothing runs if streams or slots change.
    pub fn set_switches(&mut self, side: Side, switches: Switches) -> Result<()> {
        self.set_alternative(None)?;
        self.forget_prepared();
        let before = self.plans[side as usize].switches;
        if before.streams != switches.streams {
            // Work in the old and the new streams is not ordered.
            self.engine.synchronize()?;
            let made = self.streams_for(switches.streams)?;
            let range = self.plans[side as usize].instances.clone();
            for plan in &mut self.plans {
                plan.streams[range.clone()].copy_from_slice(&made[range.clone()]);
            }
            self.update_device_streams();
        }
        self.plans[side as usize].switches = switches;
        self.reset_longest_round();
        let settled = self.update_slots().and_then(|()| self.plan_own_round());
        if settled.is_err() {
            let streams = switches.streams; // those are in place
            self.plans[side as usize].switches = Switches { streams, ..before };
        }
        if before.streams != switches.streams {
            self.align_buffers()?;
        }
        settled
    }

    /// Sets whether every second timed round records block timestamps.
    pub fn set_block_timestamps(&mut self, block_timestamps: bool) {
        self.block_timestamps = block_timestamps;
    }

    /// Sets what rounds download. If the slots do not fit, waits until nothing runs and allocates
    /// others.
    pub fn set_picture(&mut self, picture: Option<PicturePlan>) -> Result<()> {
        let picture = picture.map(|picture| self.supported_plan(picture));
        if self.request == picture {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.request, picture);
        let view = picture.filter(|picture| picture.transfer == Transfer::View);
        self.last_view = view.or(self.last_view);
        self.forget_prepared();
        self.update_slots().inspect_err(|_| self.request = before)
    }

    /// Falls back to bits if the layout does not allow pictures of cells, or if lattices lie in bands.
    fn supported_plan(&self, picture: PicturePlan) -> PicturePlan {
        match picture.transfer {
            Transfer::Cells if !self.allows_cells(self.own_plan()) => PicturePlan {
                transfer: Transfer::Bits,
                ..picture
            },
            _ => picture,
        }
    }

    fn allows_cells(&self, plan: &RoundPlan) -> bool {
        plan.kernel.layout == Layout::I32 && !self.engine.is_split()
    }

    /// Whether such pictures need other slots than the present ones.
    pub fn needs_slots(&self, request: Option<PicturePlan>) -> bool {
        self.wanted_slots(request).is_some()
    }

    /// Whether switches need other slots than the present ones.
    pub fn switches_need_slots(&self, side: Side, switches: Switches) -> bool {
        let changed = RoundPlan {
            switches,
            ..self.plans[side as usize].clone()
        };
        self.request.is_some() && changed.pinned() != self.plans[side as usize].pinned()
    }

    /// Sets what each plan downloads.
    pub(super) fn plan_pictures(&mut self) {
        let measuring = self.measuring != Measuring::Never && !self.is_comparing();
        let measures = measuring.then(|| self.spec.measure_slot(0));
        let pictures: Vec<_> = self.pictures(self.request).collect();
        for (plan, picture) in self.plans.iter_mut().zip(pictures) {
            (plan.picture, plan.measures) = (picture, measures);
        }
    }

    /// The pictures of each plan, given the drawing side's request.
    fn pictures(
        &self,
        request: Option<PicturePlan>,
    ) -> impl Iterator<Item = Option<PicturePlan>> + '_ {
        let plans = self.plans.iter();
        plans.map(move |plan| self.picture_of(plan, request))
    }

    /// The pictures of a plan, given the drawing side's request. That says what to transfer, but for
    /// A and B and for the alternative, which has other switches.
    fn picture_of(&self, plan: &RoundPlan, request: Option<PicturePlan>) -> Option<PicturePlan> {
        let mut picture = request?;
        let choice = plan.switches.transfer;
        let chosen = choice.transfer(self.all_bits(), PicturePlan::MAX_AUTO_BITS_BYTES);
        let same = plan.switches.transfer == self.own_plan().switches.transfer;
        if self.is_comparing() {
            picture.transfer = chosen;
        } else if !same {
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
        if picture.transfer == Transfer::Cells && !self.allows_cells(plan) {
            picture.transfer = Transfer::Bits;
        }
        Some(picture)
    }

    /// Allocates other slots if the plans' pictures need them.
    pub(super) fn update_slots(&mut self) -> Result<()> {
        if let Some(spec) = self.wanted_slots(self.request) {
            self.slots = self.engine.allocate_slots(spec)?;
            self.spec = spec;
            // Programs in flight have ended, and their slots are gone.
            self.in_flight.iter_mut().for_each(|old| old.forget_slots());
        }
        self.plan_pictures();
        Ok(())
    }

    /// The slots needed for such pictures, or `None` if the present ones fit.
    fn wanted_slots(&self, request: Option<PicturePlan>) -> Option<SlotsSpec> {
        let words = self
            .pictures(request)
            .flatten()
            .map(|picture| self.picture_words(picture))
            .max()?;
        let slots = |pinned: bool| {
            let used = self.plans.iter().any(|plan| plan.pinned() == pinned);
            if used { PICTURE_SLOTS } else { 0 }
        };
        let (pinned, pageable) = (slots(true), slots(false));
        let has = self.spec;
        let enough = has.picture_words >= words && has.picture_words <= words * 4;
        let suits = (has.pinned, has.pageable) == (pinned, pageable) && enough;
        (!suits).then_some(SlotsSpec {
            pinned,
            pageable,
            picture_words: words,
            snapshots: has.snapshots,
            measures: has.measures,
        })
    }

    /// The stream of every instance for a way of sharing, created once.
    pub(super) fn streams_for(&mut self, how: Streams) -> Result<Vec<StreamId>> {
        let how = how.sharing();
        if let Some(made) = &self.streams[how as usize] {
            return Ok(made.clone());
        }
        let instances = self.instances();
        let made = make_streams(&mut *self.engine, instances, how)?;
        self.streams[how as usize] = Some(made.clone());
        Ok(made)
    }

    /// Updates every plan's stream of each device.
    pub(super) fn update_device_streams(&mut self) {
        let devices = self.engine.places();
        for plan in &mut self.plans {
            plan.devices = one_of_each_device(&plan.streams, devices);
        }
    }
}

/// The stream of each instance.
pub(super) fn make_streams(
    engine: &mut dyn Engine,
    instances: usize,
    how: Streams,
) -> Result<Vec<StreamId>> {
    let mut streams = Vec::with_capacity(instances);
    for (device, count) in shares(instances, engine.places()) {
        let kind = match how {
            Streams::Default => StreamKind::Default,
            Streams::PerInstance | Streams::One | Streams::Batch => StreamKind::NonBlocking,
        };
        let spec = StreamSpec {
            kind,
            ..StreamSpec::PLAIN
        };
        if how == Streams::PerInstance {
            for _ in 0..count {
                streams.push(engine.create_stream(device, spec)?);
            }
        } else {
            let shared = engine.create_stream(device, spec)?;
            streams.extend(std::iter::repeat_n(shared, count));
        }
    }
    if nvtx::is_attached() {
        for (&stream, instance) in streams.iter().zip(0..) {
            engine.name_stream(stream, &how.stream_name(instance, None));
        }
    }
    Ok(streams)
}

/// One stream of each device, given every instance's.
pub(super) fn one_of_each_device(streams: &[StreamId], devices: usize) -> Vec<StreamId> {
    let firsts = shares(streams.len(), devices).scan(0, |first, (_, count)| {
        let stream = streams[*first];
        *first += count;
        Some(stream)
    });
    firsts.collect()
}
