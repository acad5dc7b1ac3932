//! The lab's switches, thrown between two rounds; and two halves that run two settings.

use super::{Measuring, PICTURE_SLOTS, Worlds, shares};
use crate::round::RoundPlan;
use engine::{Engine, Layout, Result, SlotsSpec, StreamId, StreamKind, StreamSpec, Transfer};
use model::PicturePlan;
use model::{Streams, Switches, TransferChoice};

impl Worlds {
    /// Changes how rounds of all instances, or of a half, are issued, copied and waited for.
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

    /// Parts the instances into two halves, the first as it is and the second with other
    /// switches; or makes them one again, with the first's. Waits until nothing runs. Answers
    /// whether the slots were made anew.
    pub fn split(&mut self, second: Option<Switches>) -> Result<bool> {
        self.engine.synchronize()?;
        self.forget_prepared();
        self.turn = 0;
        self.plans.truncate(1);
        let all = self.instances();
        let streams = self.plans[0].switches.streams;
        self.plans[0].streams = self.streams_of(streams)?;
        self.plans[0].instances = 0..all;
        if let Some(switches) = second {
            let each = all / 2;
            self.plans[0].instances = 0..each;
            let other = RoundPlan {
                instances: each..2 * each,
                ..self.plans[0].clone()
            };
            self.plans.push(other);
            let answer = self.set_switches(1, switches);
            if answer.is_err() {
                self.plans.truncate(1);
                self.plans[0].instances = 0..all;
                self.plans[0].streams = self.streams_of(streams)?;
                self.renew_devices();
                self.plan_pictures();
            }
            return answer;
        }
        self.renew_devices();
        self.settle_slots()
    }

    /// The generations of the round that A has made and B has not, if there is one.
    pub fn owed(&self) -> Option<u32> {
        (self.turn > 0).then_some(self.owed)
    }

    /// Whether the instances are two halves.
    pub fn is_split(&self) -> bool {
        self.plans.len() > 1
    }

    /// Whether every second timed round is stamped by its blocks from now on.
    pub fn set_stamped(&mut self, stamped: bool) {
        self.stamped = stamped;
    }

    /// Says what rounds download from now on; makes the slots anew where they do not suit, for
    /// which it waits until nothing runs. Answers whether they were.
    pub fn set_picture(&mut self, picture: Option<PicturePlan>) -> Result<bool> {
        if self.request == picture {
            return Ok(false);
        }
        let before = std::mem::replace(&mut self.request, picture);
        self.forget_prepared();
        self.settle_slots().inspect_err(|_| self.request = before)
    }

    /// Whether such pictures need other slots than there are.
    pub fn needs_slots(&self, request: Option<PicturePlan>) -> bool {
        let (split, bits) = (self.is_split(), self.all_bits());
        let pictures = self
            .plans
            .iter()
            .map(|plan| picture_of(request, plan, split, bits));
        self.wanted_slots(pictures).is_some()
    }

    /// Whether switches need other slots than there are.
    pub fn switches_need_slots(&self, half: usize, switches: Switches) -> bool {
        let changed = RoundPlan {
            switches,
            ..self.plans[half].clone()
        };
        self.request.is_some() && changed.pinned() != self.plans[half].pinned()
    }

    /// Sets what each plan downloads.
    pub(super) fn plan_pictures(&mut self) {
        let (split, bits) = (self.is_split(), self.all_bits());
        let measuring = self.measuring != Measuring::Never && !split;
        let spec = self.spec;
        for plan in &mut self.plans {
            plan.picture = picture_of(self.request, plan, split, bits);
            plan.measures = measuring.then(|| spec.measure_slot(0));
        }
    }

    fn settle_slots(&mut self) -> Result<bool> {
        let (split, bits) = (self.is_split(), self.all_bits());
        let pictures = self
            .plans
            .iter()
            .map(|plan| picture_of(self.request, plan, split, bits));
        let anew = self.wanted_slots(pictures);
        if let Some(spec) = anew {
            self.slots = self.engine.allocate_slots(spec)?;
            self.spec = spec;
            // What was under way has ended, in slots that are gone.
            self.under_way.iter_mut().for_each(|old| old.forget_slots());
        }
        self.plan_pictures();
        Ok(anew.is_some())
    }

    /// The slots for such pictures, if they are not those that there are.
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
    fn streams_of(&mut self, how: Streams) -> Result<Vec<StreamId>> {
        let how = how.sharing();
        if let Some(made) = &self.streams[how as usize] {
            return Ok(made.clone());
        }
        let instances = self.instances();
        let made = make_streams(&mut *self.engine, instances, how)?;
        self.streams[how as usize] = Some(made.clone());
        Ok(made)
    }

    /// Bytes of all instances' bits.
    pub fn all_bits(&self) -> u64 {
        4 * self.size.words() as u64 * self.instances() as u64
    }

    fn renew_devices(&mut self) {
        let devices = self.engine.devices().len();
        for plan in &mut self.plans {
            plan.devices = one_of_each_device(&plan.streams, devices);
        }
    }
}

/// What a plan downloads of what whoever draws asked for; all instances' bits are so many bytes.
fn picture_of(
    request: Option<PicturePlan>,
    plan: &RoundPlan,
    split: bool,
    all_bits: u64,
) -> Option<PicturePlan> {
    let mut picture = request?;
    if split {
        picture.transfer = match plan.switches.transfer {
            TransferChoice::Bits => Transfer::Bits,
            TransferChoice::Cells => Transfer::Cells,
            TransferChoice::View => Transfer::View,
            TransferChoice::Auto if all_bits <= PicturePlan::MOST_BITS_BYTES => Transfer::Bits,
            TransferChoice::Auto => Transfer::View,
        };
    }
    // Who draws learns of another kernel a moment later.
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
