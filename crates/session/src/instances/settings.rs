//! What rounds are made of, changed between two of them: the kernel, the rule, the switches, and
//! what is downloaded.

use super::issue::Kind;
use super::{Instances, Measuring, PICTURE_SLOTS, shares, validate_devices};
use crate::round::RoundPlan;
use engine::{
    Engine, Kernel, Layout, Result, SlotsSpec, StreamId, StreamKind, StreamSpec, Transfer,
};
use life::Rule;
use model::PicturePlan;
use model::{Streams, Switches, TransferChoice};

impl Instances {
    /// Whether a kernel takes these lattices and every device can run it.
    ///
    /// # Errors
    /// Why not.
    pub fn validate(&self, kernel: &Kernel) -> Result<()> {
        kernel.admit(self.size)?;
        validate_devices(&*self.engine, kernel)
    }

    /// Changes the kernel between two rounds; every lattice keeps its cells.
    pub fn set_kernel(&mut self, kernel: &'static Kernel) -> Result<()> {
        self.validate(kernel)?;
        self.forget_prepared();
        let layout = kernel.layout;
        let before = self.plan().kernel.layout;
        if layout != before {
            let pack = self.plan().pack_all();
            self.submit(&pack, Kind::Other, None)?;
            // The bits are complete before another layout's memory is given back.
            if let Err(error) = self.change_layout(layout) {
                if !error.loses_lattices() {
                    self.change_layout(before)?; // the lattices go on as they were
                }
                return Err(error);
            }
        }
        for plan in &mut self.plans {
            plan.kernel = kernel;
            plan.switches = plan.switches.fitted_to(kernel);
        }
        // The drawing side learns of the kernel a moment later.
        self.request = self.request.map(|request| self.possible(request));
        self.plan_pictures();
        Ok(())
    }

    /// Brings every lattice from its bits, which are complete, into a layout.
    fn change_layout(&mut self, layout: Layout) -> Result<()> {
        self.engine.reserve(layout)?;
        self.enter_layout(layout)
    }

    /// Makes every lattice's cells anew from its bits, in a layout that there is memory for.
    pub(super) fn enter_layout(&mut self, layout: Layout) -> Result<()> {
        let unpack = self.plan().relayout(layout);
        self.submit(&unpack, Kind::Other, None)
    }

    /// Changes the rule between two rounds.
    pub(crate) fn set_rule(&mut self, rule: Rule) {
        self.forget_prepared();
        for plan in &mut self.plans {
            plan.rule = rule;
        }
    }

    /// Says which rounds measure their lattices from now on.
    pub(crate) fn set_measuring(&mut self, measuring: Measuring) {
        if self.measuring != measuring {
            self.measuring = measuring;
            self.forget_prepared();
            self.plan_pictures();
        }
    }

    /// Changes how rounds (in a comparison, A's or B's) are issued, copied and waited for.
    /// Waits until nothing runs where streams or slots change. Answers whether the slots were
    /// made anew.
    pub fn set_switches(&mut self, half: usize, switches: Switches) -> Result<bool> {
        self.forget_prepared();
        let before = self.plans[half].switches;
        if self.plans[half].switches.streams != switches.streams {
            // Between the old streams and the new ones there is no order.
            self.engine.synchronize()?;
            let made = self.streams_of(switches.streams)?;
            let range = self.plans[half].instances.clone();
            for plan in &mut self.plans {
                plan.streams[range.clone()].copy_from_slice(&made[range.clone()]);
            }
            self.renew_devices();
        }
        self.plans[half].switches = switches;
        let settled = self.settle_slots();
        if settled.is_err() {
            let streams = switches.streams; // those are in place
            self.plans[half].switches = Switches { streams, ..before };
        }
        if before.streams != switches.streams {
            self.align_buffers()?;
        }
        settled
    }

    /// Whether every second timed round is stamped by its blocks from now on.
    pub fn set_stamped(&mut self, stamped: bool) {
        self.stamped = stamped;
    }

    /// Says what rounds download from now on; makes the slots anew where they do not suit, for
    /// which it waits until nothing runs. Answers whether they were.
    pub fn set_picture(&mut self, picture: Option<PicturePlan>) -> Result<bool> {
        let picture = picture.map(|picture| self.possible(picture));
        if self.request == picture {
            return Ok(false);
        }
        let before = std::mem::replace(&mut self.request, picture);
        self.forget_prepared();
        self.settle_slots().inspect_err(|_| self.request = before)
    }

    /// Pictures of cells are possible only where the lattices are laid out so: bits otherwise.
    fn possible(&self, picture: PicturePlan) -> PicturePlan {
        match (picture.transfer, self.plan().kernel.layout) {
            (Transfer::Cells, Layout::Bits | Layout::Planar) => PicturePlan {
                transfer: Transfer::Bits,
                ..picture
            },
            _ => picture,
        }
    }

    /// Whether such pictures need other slots than there are.
    pub(crate) fn needs_slots(&self, request: Option<PicturePlan>) -> bool {
        let (comparing, bits) = (self.is_comparing(), self.all_bits());
        let pictures = self
            .plans
            .iter()
            .map(|plan| picture_of(request, plan, comparing, bits));
        self.wanted_slots(pictures).is_some()
    }

    /// Whether switches need other slots than there are.
    pub(crate) fn switches_need_slots(&self, half: usize, switches: Switches) -> bool {
        let changed = RoundPlan {
            switches,
            ..self.plans[half].clone()
        };
        self.request.is_some() && changed.pinned() != self.plans[half].pinned()
    }

    /// Sets what each plan downloads.
    pub(super) fn plan_pictures(&mut self) {
        let (comparing, bits) = (self.is_comparing(), self.all_bits());
        let measuring = self.measuring != Measuring::Never && !comparing;
        let spec = self.spec;
        for plan in &mut self.plans {
            plan.picture = picture_of(self.request, plan, comparing, bits);
            plan.measures = measuring.then(|| spec.measure_slot(0));
        }
    }

    /// Makes the slots anew if the plans' pictures need others; whether it did.
    pub(super) fn settle_slots(&mut self) -> Result<bool> {
        let (comparing, bits) = (self.is_comparing(), self.all_bits());
        let pictures = self
            .plans
            .iter()
            .map(|plan| picture_of(self.request, plan, comparing, bits));
        let anew = self.wanted_slots(pictures);
        if let Some(spec) = anew {
            self.slots = self.engine.allocate_slots(spec)?;
            self.spec = spec;
            // What was in flight has ended, in slots that are gone.
            self.in_flight.iter_mut().for_each(|old| old.forget_slots());
        }
        self.plan_pictures();
        Ok(anew.is_some())
    }

    /// The slots needed for such pictures, or `None` if the present ones fit.
    fn wanted_slots(
        &self,
        pictures: impl Iterator<Item = Option<PicturePlan>>,
    ) -> Option<SlotsSpec> {
        let words = pictures
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
            checkpoints: has.checkpoints,
            measures: has.measures,
        })
    }

    /// A stream for every instance, shared or not; made once.
    pub(super) fn streams_of(&mut self, how: Streams) -> Result<Vec<StreamId>> {
        let how = how.sharing();
        if let Some(made) = &self.streams[how as usize] {
            return Ok(made.clone());
        }
        let instances = self.instances();
        let made = make_streams(&mut *self.engine, instances, how)?;
        self.streams[how as usize] = Some(made.clone());
        Ok(made)
    }

    /// Notes a stream of each device for every plan.
    pub(super) fn renew_devices(&mut self) {
        let devices = self.engine.devices().len();
        for plan in &mut self.plans {
            plan.devices = one_of_each_device(&plan.streams, devices);
        }
    }
}

/// What a plan downloads of what the drawing side asked for; all instances' bits are so many bytes.
fn picture_of(
    request: Option<PicturePlan>,
    plan: &RoundPlan,
    comparing: bool,
    all_bits: u64,
) -> Option<PicturePlan> {
    let mut picture = request?;
    if comparing {
        picture.transfer = match plan.switches.transfer {
            TransferChoice::Bits => Transfer::Bits,
            TransferChoice::Cells => Transfer::Cells,
            TransferChoice::View => Transfer::View,
            TransferChoice::Auto if all_bits <= PicturePlan::MOST_BITS_BYTES => Transfer::Bits,
            TransferChoice::Auto => Transfer::View,
        };
    }
    // The drawing side learns of another kernel a moment later.
    if picture.transfer == Transfer::Cells && plan.kernel.layout != Layout::I32 {
        picture.transfer = Transfer::Bits;
    }
    Some(picture)
}

/// The stream of each instance.
pub(super) fn make_streams(
    engine: &mut dyn Engine,
    instances: usize,
    how: Streams,
) -> Result<Vec<StreamId>> {
    let mut streams = Vec::with_capacity(instances);
    for (device, count) in shares(instances, engine.devices().len()) {
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
