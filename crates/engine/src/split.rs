//! Lattices that all devices of an engine step together.
//!
//! A [`SplitEngine`] gives each device [`Band`]s of every lattice and turns programs on lattices into
//! programs on bands. What its users see is one device with whole lattices: ops, completions and [`Slots`] are
//! those of a whole lattice.

use crate::error::{bail, invalid, known};
use crate::{
    Band, BufferId, BufferLocation, BufferOffset, BufferOp, Completion, Cut, DeviceId, DeviceInfo,
    Engine, EngineError, EventId, Feature, HostMemory, IssuedStep, LatticeId, LatticeOp, Layout,
    Measure, Nanos, Occupancy, Op, OrderOp, PreparedId, Program, ReduceRegion, Result, RowCopy,
    RunId, Slot, Slots, SlotsSpec, Step, StreamId, StreamSpec, Transfer, WordEdit,
};
use life::Size;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// An engine whose lattices lie in bands on all devices of another one.
pub struct SplitEngine {
    inner: Box<dyn Engine>,
    /// How its lattices are cut.
    cut: Cut,
    toruses: Arc<Toruses>,
    /// What is known of each lattice after the work that was submitted.
    known: Vec<Known>,
    streams: Vec<SplitStream>,
    /// Of each event, that of each band's stream.
    events: Vec<Vec<EventId>>,
    slots: Option<Arc<SplitSlots>>,
    /// Downloads that have not landed from every band, by run, first lattice and slot.
    landings: HashMap<(RunId, u32, Slot), Landing>,
    /// The steps of the last timed run.
    issued: Option<(RunId, Vec<IssuedStep>)>,
}

/// What is known of a lattice after the work that was submitted.
#[derive(Clone, Copy, Default)]
struct Known {
    /// How many generations its bands can be stepped until their halos are wrong.
    good_for: u32,
    /// The region that was reduced last.
    region: Option<ReduceRegion>,
}

/// A stream for each band, and the events that order the copies of halos between them.
struct SplitStream {
    bands: Vec<StreamId>,
    /// Recorded once a band may be copied from.
    stepped: Vec<EventId>,
    /// Recorded once a band has its halos.
    copied: Vec<EventId>,
}

impl SplitEngine {
    /// Splits the lattices that will be created on an engine, which has none.
    ///
    /// # Errors
    /// A device fails; then the engine is given back.
    pub fn new(
        mut inner: Box<dyn Engine>,
        cut: Cut,
    ) -> Result<SplitEngine, (Box<dyn Engine>, EngineError)> {
        if let Err(error) = connect(&mut *inner) {
            return Err((inner, error));
        }
        Ok(SplitEngine {
            inner,
            cut,
            toruses: Arc::default(),
            known: Vec::new(),
            streams: Vec::new(),
            events: Vec::new(),
            slots: None,
            landings: HashMap::new(),
            issued: None,
        })
    }

    /// The device of each band. A lattice with fewer rows than bands has only the first of them.
    fn devices_of_bands(&self) -> impl Iterator<Item = DeviceId> + use<> {
        let cut = self.cut;
        let bands = self.inner.devices().len() * cut.per_device as usize;
        (0..bands).map(move |band| cut.device(band))
    }

    fn event_of_each_band(&mut self) -> Result<Vec<EventId>> {
        let mut devices = self.devices_of_bands();
        devices.try_fold(Vec::new(), |mut events, device| {
            events.push(self.inner.create_event(device)?);
            Ok(events)
        })
    }

    fn bands(&self, size: Size) -> Vec<Band> {
        Band::divide(size, self.inner.devices().len(), self.cut)
    }

    /// An error about bands, as one about whole lattices. `others`: the cells of other bands that the
    /// device has already.
    fn of_whole(&self, mut error: EngineError, others: u64) -> EngineError {
        if let EngineError::OutOfMemory { fits, .. } = &mut error
            && let Some(band) = *fits
        {
            let room = band.cells() + others;
            let longer =
                (self.inner.devices().len() as f64 * room as f64 / band.cells() as f64).sqrt();
            let side = (f64::from(band.width) * longer) as u64;
            let has_bands_as_large = |size| {
                let largest = self.stepped_sizes(size).first().copied();
                largest.is_some_and(|it| u64::from(self.cut.per_device) * it.cells() <= room)
            };
            let largest = Size::new(side, side).ok();
            *fits = largest.and_then(|size| life::memory::largest(size, has_bands_as_large));
        }
        error
    }

    /// The completion of a download from every band, once this one is the last.
    fn landed(&mut self, run: RunId, bands: &Range<u32>, slot: Slot) -> Option<Completion> {
        let key = (run, self.toruses.lattice_of_band(bands.start)?, slot);
        let landing = self.landings.get_mut(&key)?;
        landing.left -= 1;
        if landing.left > 0 {
            return None;
        }
        let Landing { lattices, .. } = self.landings.remove(&key)?;
        Some(Completion::Downloaded {
            run,
            lattices,
            slot,
        })
    }
}

impl Engine for SplitEngine {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn devices(&self) -> &[DeviceInfo] {
        self.inner.devices()
    }

    fn cut(&self) -> Option<Cut> {
        Some(self.cut)
    }

    fn stepped_sizes(&self, size: Size) -> Vec<Size> {
        let bands = self.bands(size);
        let mut sizes: Vec<Size> = bands.iter().filter_map(|band| band.size().ok()).collect();
        sizes.sort_unstable_by_key(|size| std::cmp::Reverse(size.height));
        sizes.dedup();
        sizes
    }

    fn view_words(&self, region: ReduceRegion) -> usize {
        4 * region.words()
    }

    fn create(&mut self, _: DeviceId, count: usize, size: Size, band: Option<Band>) -> Result<()> {
        if band.is_some() {
            bail!("lattices in bands have no bands or rows of their own");
        }
        let bands = self.bands(size);
        for (index, &band) in bands.iter().enumerate() {
            let beside = bands[..index].iter().filter(|it| it.device == band.device);
            let (device, size) = (band.device, band.size()?);
            let created = self.inner.create(device, count, size, Some(band));
            created.map_err(|error| {
                let others = beside.filter_map(|band| band.size().ok());
                self.of_whole(error, others.map(Size::cells).sum())
            })?;
        }
        Arc::make_mut(&mut self.toruses).add(count, bands);
        let all = self.known.len() + count;
        self.known.resize(all, Known::default());
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        self.toruses = Arc::default();
        self.known.clear();
        self.streams.clear();
        self.events.clear();
        self.slots = None;
        self.landings.clear();
        self.issued = None;
        self.inner.clear()
    }

    fn reserve(&mut self, layout: Layout) -> Result<()> {
        // Cells may have become those of an earlier pack, with its halos.
        self.known.iter_mut().for_each(|known| known.good_for = 0);
        let reserved = self.inner.reserve(layout);
        reserved.map_err(|error| self.of_whole(error, 0))
    }

    fn allocate_slots(&mut self, spec: SlotsSpec) -> Result<Arc<dyn Slots>> {
        let inner = self.inner.allocate_slots(spec)?;
        let slots = Arc::new(SplitSlots {
            inner,
            toruses: self.toruses.clone(),
            contents: Default::default(),
        });
        self.slots = Some(slots.clone());
        Ok(slots)
    }

    fn create_stream(&mut self, _: DeviceId, spec: StreamSpec) -> Result<StreamId> {
        let mut bands = Vec::new();
        for device in self.devices_of_bands() {
            bands.push(self.inner.create_stream(device, spec)?);
        }
        // A context has one default stream.
        let known = self.streams.iter().position(|it| it.bands == bands);
        if let Some(known) = known {
            return Ok(StreamId(known as u32));
        }
        let (stepped, copied) = (self.event_of_each_band()?, self.event_of_each_band()?);
        self.streams.push(SplitStream {
            bands,
            stepped,
            copied,
        });
        Ok(StreamId(self.streams.len() as u32 - 1))
    }

    fn name_stream(&mut self, stream: StreamId, name: &str) {
        for (band, &stream) in self.streams[stream.0 as usize].bands.iter().enumerate() {
            self.inner.name_stream(stream, &format!("{name}, {band}"));
        }
    }

    fn create_context(&mut self, device: DeviceId) -> Result<DeviceId> {
        self.inner.create_context(device)
    }

    fn check_feature(&self, device: DeviceId, feature: Feature) -> Result<()> {
        self.inner.check_feature(device, feature)
    }

    fn create_buffer(
        &mut self,
        device: DeviceId,
        bytes: usize,
        place: BufferLocation,
    ) -> Result<BufferId> {
        self.inner.create_buffer(device, bytes, place)
    }

    fn access(&mut self, buffer: BufferId, visit: &mut dyn FnMut(&mut [u32])) -> Result<()> {
        self.inner.access(buffer, visit)
    }

    fn drop_buffers(&mut self) -> Result<()> {
        self.inner.drop_buffers()
    }

    fn query(&mut self, event: EventId) -> Result<bool> {
        let events = self.events.get(event.0 as usize).cloned();
        let mut events = events.unwrap_or_default().into_iter();
        events.try_fold(true, |fired, event| Ok(self.inner.query(event)? && fired))
    }

    fn issued_steps(&self, run: RunId) -> Option<&[IssuedStep]> {
        let (timed, steps) = self.issued.as_ref()?;
        (*timed == run).then_some(steps)
    }

    fn clock_error(&self) -> Nanos {
        self.inner.clock_error()
    }

    fn unsplit(self: Box<Self>) -> Box<dyn Engine> {
        self.inner
    }

    fn occupancy(&mut self, device: DeviceId, op: &Op) -> Result<Option<Occupancy>> {
        let Op::Lattices(lattices, of_bands) = op else {
            return self.inner.occupancy(device, op);
        };
        let bands = self.toruses.bands_on(device, lattices);
        bands.map_or(Ok(None), |bands| {
            self.inner.occupancy(device, &of_bands.clone().on(bands))
        })
    }

    fn create_event(&mut self, _: DeviceId) -> Result<EventId> {
        let events = self.event_of_each_band()?;
        self.events.push(events);
        Ok(EventId(self.events.len() as u32 - 1))
    }

    fn submit(&mut self, program: &Program) -> Result<RunId> {
        let translated = Translation::of(program, self)?;
        let inner = &mut self.inner;
        let mut submit = || inner.submit(&translated.program);
        let run = match &self.slots {
            Some(slots) => slots.expect(&translated.landings, submit)?,
            None => submit()?,
        };
        self.known = translated.known;
        for landing in translated.landings {
            let key = (run, landing.lattices.start, landing.slot);
            self.landings.insert(key, landing);
        }
        if program.timed {
            self.issued = Some((run, translated.issued));
        }
        Ok(run)
    }

    fn load(&mut self, program: &Program) -> Result<()> {
        let translated = Translation::of(program, self)?;
        self.inner.load(&translated.program)
    }

    fn compile_in_background(&mut self, program: &Program) -> Result<()> {
        let translated = Translation::of(program, self)?;
        self.inner.compile_in_background(&translated.program)
    }

    fn prepare(&mut self, _: &Program) -> Result<PreparedId> {
        Err(invalid!(
            "a program on lattices in bands cannot be prepared"
        ))
    }

    fn replay(&mut self, prepared: PreparedId) -> Result<RunId> {
        self.inner.replay(prepared)
    }

    fn release(&mut self, prepared: PreparedId) {
        self.inner.release(prepared);
    }

    fn parity(&self, lattice: LatticeId) -> u8 {
        // The bands of a lattice are always at the same one.
        let bands = self.toruses.bands_on(DeviceId(0), &lattice.as_range());
        bands.map_or(0, |bands| self.inner.parity(LatticeId(bands.start)))
    }

    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        let mut of_bands = Vec::new();
        let polled = self.inner.poll(&mut of_bands);
        for completion in of_bands {
            match completion {
                Completion::Downloaded {
                    run,
                    lattices,
                    slot,
                } => completions.extend(self.landed(run, &lattices, slot)),
                finished @ Completion::Finished { .. } => completions.push(finished),
            }
        }
        polled
    }

    fn wait(&mut self, timeout: Duration) {
        self.inner.wait(timeout);
    }

    fn synchronize(&mut self) -> Result<()> {
        self.inner.synchronize()
    }
}

// Direct copies between devices.

/// Allows direct copies between any two devices, and tries each: between some, they are possible and
/// bring wrong bytes. Those go through the host.
fn connect(engine: &mut dyn Engine) -> Result<()> {
    let devices = engine.devices().len() as u16;
    for one in (0..devices).map(DeviceId) {
        for other in (0..one.0).map(DeviceId) {
            allow(engine, [one, other], true)?;
            let unchanged =
                arrives_unchanged(engine, one, other)? && arrives_unchanged(engine, other, one)?;
            if !unchanged {
                allow(engine, [one, other], false)?;
            }
        }
    }
    // Also the streams that the trials took.
    engine.clear()
}

/// Allows or forbids two devices to reach each other's memory.
fn allow(engine: &mut dyn Engine, [one, other]: [DeviceId; 2], is_allowed: bool) -> Result<()> {
    engine.set_peer_access(one, other, is_allowed)?;
    engine.set_peer_access(other, one, is_allowed)?;
    Ok(())
}

/// Whether a pattern that is copied from one device to another arrives there.
fn arrives_unchanged(engine: &mut dyn Engine, from: DeviceId, to: DeviceId) -> Result<bool> {
    const BYTES: usize = 1 << 16;
    let pinned = BufferLocation::Host(HostMemory::Pinned);
    let [sent, received] = [(); 2].map(|()| engine.create_buffer(from, BYTES, pinned));
    let (sent, received) = (sent?, received?);
    let [here, there] =
        [from, to].map(|on| engine.create_buffer(on, BYTES, BufferLocation::Device));
    let (here, there) = (here?, there?);
    let pattern = |i: usize| (i as u32).wrapping_mul(0x9e37_79b9);
    engine.access(sent, &mut |words| {
        let words = words.iter_mut().enumerate();
        words.for_each(|(i, word)| *word = pattern(i));
    })?;
    for (device, source, target) in [(from, sent, here), (to, here, there), (to, there, received)] {
        let stream = engine.create_stream(device, StreamSpec::PLAIN)?;
        engine.submit(&Program::in_stream(stream, [copy(source, target, BYTES)]))?;
        engine.synchronize()?;
    }
    let mut same = false;
    engine.access(received, &mut |words| {
        same = words
            .iter()
            .enumerate()
            .all(|(i, word)| *word == pattern(i));
    })?;
    engine.drop_buffers()?;
    engine.poll(&mut Vec::new())?;
    Ok(same)
}

fn copy(from: BufferId, to: BufferId, bytes: usize) -> Op {
    let start = |buffer| BufferOffset { buffer, offset: 0 };
    BufferOp::Copy {
        from: start(from),
        to: start(to),
        bytes,
    }
    .into()
}

// Host slots of whole lattices, put together from those of their bands.

/// The slots of lattices in bands.
struct SplitSlots {
    inner: Arc<dyn Slots>,
    toruses: Arc<Toruses>,
    /// What each slot has, or will have once the downloads into it have landed.
    contents: Mutex<HashMap<(LatticeId, Slot), Content>>,
}

impl SplitSlots {
    /// Submits downloads and notes what they bring. Meanwhile, which may be long, nobody waits: what
    /// the slots have is not known, so they cannot be read.
    fn expect<T>(&self, landings: &[Landing], submit: impl FnOnce() -> Result<T>) -> Result<T> {
        let expected = || landings.iter().flat_map(Landing::contents);
        let before: Vec<_> = expected()
            .filter_map(|(slot, _)| self.contents.lock().remove_entry(&slot))
            .collect();
        let submitted = submit();
        match &submitted {
            Ok(_) => self.contents.lock().extend(expected()),
            Err(_) => self.contents.lock().extend(before),
        }
        submitted
    }

    fn content(&self, lattice: LatticeId, slot: Slot) -> Option<Content> {
        self.contents.lock().get(&(lattice, slot)).copied()
    }

    /// Calls `visit` with the slots of all bands from `parts.len()` on behind `parts`, each held
    /// until it returns. Returns `false` without a call if one cannot be read.
    fn with_parts(
        &self,
        bands: &[LatticeId],
        slot: Slot,
        parts: &[&[u32]],
        visit: &mut dyn FnMut(&[&[u32]]),
    ) -> bool {
        let Some(&band) = bands.get(parts.len()) else {
            visit(parts);
            return true;
        };
        let mut all = false;
        self.inner.read(band, slot, &mut |words| {
            let parts = [parts, &[words]].concat();
            all = self.with_parts(bands, slot, &parts, visit);
        });
        all
    }
}

/// The words of a whole lattice's slot.
fn put_together(torus: &Torus, content: Content, parts: &[&[u32]]) -> Vec<u32> {
    match content {
        Content::Rows { first, count } => {
            let per_row = torus.size().words_per_row();
            let mut words = Vec::with_capacity(per_row * count as usize);
            let rows = torus
                .bands
                .iter()
                .filter_map(|band| band.own_part(first, count));
            for (rows, part) in rows.zip(parts) {
                words.extend_from_slice(&part[..per_row * rows.count as usize]);
            }
            words
        }
        Content::View(region) => {
            let mut alive = vec![0u64; 4 * region.words()];
            for part in parts {
                let counts = alive.iter_mut().zip(*part);
                counts.for_each(|(alive, count)| *alive += u64::from(*count));
            }
            region.bytes_of(&alive, torus.size())
        }
        Content::Measure => {
            let measures = parts.iter().map(|part| Measure::from_words(part));
            measures
                .fold(Measure::default(), Measure::plus)
                .to_words()
                .to_vec()
        }
    }
}

impl Slots for SplitSlots {
    fn read(&self, lattice: LatticeId, slot: Slot, visit: &mut dyn FnMut(&[u32])) -> bool {
        let (Some(torus), Some(content)) = (self.toruses.of(lattice), self.content(lattice, slot))
        else {
            return false;
        };
        let brings = |band: &Band| match content {
            Content::Rows { first, count } => band.own_part(first, count).is_some(),
            Content::View(_) | Content::Measure => true,
        };
        let brought = torus.bands.iter().enumerate().filter(|(_, it)| brings(it));
        let bands: Vec<_> = brought
            .map(|(band, _)| torus.band_of(band, lattice))
            .collect();
        let mut is_as_known = false;
        let all = self.with_parts(&bands, slot, &[], &mut |parts| {
            // Something else may have landed before all parts were held.
            is_as_known = self.content(lattice, slot) == Some(content);
            if is_as_known {
                visit(&put_together(torus, content, parts));
            }
        });
        all && is_as_known
    }

    fn is_free(&self, lattice: LatticeId, slot: Slot) -> bool {
        let torus = self.toruses.of(lattice);
        torus.is_none_or(|torus| {
            let is_free = |band| self.inner.is_free(torus.band_of(band, lattice), slot);
            (0..torus.bands.len()).all(is_free)
        })
    }
}

// Which bands a lattice consists of.

/// All lattices of a [`SplitEngine`], in groups that were created together.
#[derive(Clone, Default)]
struct Toruses(Vec<Torus>);

/// Lattices of one size that were created together. The same band of each is in lattices of the inner
/// engine that follow one another.
#[derive(Clone)]
struct Torus {
    /// The lattices.
    lattices: Range<u32>,
    /// Its bands from the first row on; a device has adjacent ones.
    bands: Vec<Band>,
    /// The inner engine's lattice that is the first one's first band.
    first_band: u32,
}

impl Torus {
    fn size(&self) -> Size {
        self.bands[0].torus
    }

    /// Rows of the halo at each end of a band.
    fn halo(&self) -> u32 {
        self.bands[0].halo
    }

    /// The inner engine's lattice that is this band of a lattice.
    fn band_of(&self, band: usize, lattice: LatticeId) -> LatticeId {
        LatticeId(self.bands_of(band, &lattice.as_range()).start)
    }

    /// The inner engine's lattices that are this band of some of the lattices.
    fn bands_of(&self, band: usize, lattices: &Range<u32>) -> Range<u32> {
        let count = self.lattices.len() as u32;
        let first = self.first_band + band as u32 * count;
        let place = |lattice: u32| first + (lattice - self.lattices.start);
        place(lattices.start)..place(lattices.end)
    }

    fn all_bands(&self) -> Range<u32> {
        let count = self.lattices.len() * self.bands.len();
        self.first_band..self.first_band + count as u32
    }
}

impl Toruses {
    /// Adds lattices whose bands the inner engine has created, band by band.
    fn add(&mut self, count: usize, bands: Vec<Band>) {
        let (first, first_band) = self
            .0
            .last()
            .map_or((0, 0), |last| (last.lattices.end, last.all_bands().end));
        self.0.push(Torus {
            lattices: first..first + count as u32,
            bands,
            first_band,
        });
    }

    /// The group of a lattice, if there is such a lattice.
    fn of(&self, lattice: LatticeId) -> Option<&Torus> {
        self.0
            .iter()
            .find(|torus| torus.lattices.contains(&lattice.0))
    }

    /// Some lattices, by group.
    fn groups<'a>(
        &'a self,
        lattices: &'a Range<u32>,
    ) -> impl Iterator<Item = (&'a Torus, Range<u32>)> + 'a {
        self.0.iter().filter_map(|torus| {
            let start = lattices.start.max(torus.lattices.start);
            let end = lattices.end.min(torus.lattices.end);
            (start < end).then_some((torus, start..end))
        })
    }

    /// A device's first bands of lattices, those of the first one's group; `None` if it has none.
    fn bands_on(&self, device: DeviceId, lattices: &Range<u32>) -> Option<Range<u32>> {
        let (torus, lattices) = self.groups(lattices).next()?;
        let first = torus.bands.iter().position(|band| band.device == device)?;
        Some(torus.bands_of(first, &lattices))
    }

    /// The lattice that one of the inner engine's is a band of.
    fn lattice_of_band(&self, band: u32) -> Option<u32> {
        let torus = self.0.iter().find(|it| it.all_bands().contains(&band))?;
        let within = (band - torus.first_band) % torus.lattices.len() as u32;
        Some(torus.lattices.start + within)
    }
}

// A program on lattices, as one on their bands.

/// A program on the bands of lattices.
struct Translation {
    program: Program,
    /// Its steps on lattices; only of a timed program.
    issued: Vec<IssuedStep>,
    /// What is known of each lattice after it.
    known: Vec<Known>,
    landings: Vec<Landing>,
}

/// A download that comes from several bands.
struct Landing {
    lattices: Range<u32>,
    slot: Slot,
    /// What the slot of each lattice gets.
    contents: Vec<Content>,
    /// Bands from which it has not landed.
    left: usize,
}

impl Landing {
    /// The slots that it fills, and what each gets.
    fn contents(&self) -> impl Iterator<Item = ((LatticeId, Slot), Content)> {
        let lattices = self.lattices.clone().map(LatticeId);
        let slots = lattices.map(|lattice| (lattice, self.slot));
        slots.zip(self.contents.iter().copied())
    }
}

/// What a slot of whole lattices has, in a part of each band.
#[derive(Clone, Copy, PartialEq)]
enum Content {
    /// Rows of the torus.
    Rows {
        /// The first one.
        first: u32,
        /// How many.
        count: u32,
    },
    /// The bytes of a region.
    View(ReduceRegion),
    /// A measure.
    Measure,
}

/// A step that is being translated.
struct Translator<'a> {
    engine: &'a SplitEngine,
    step: &'a Step,
    stream: &'a SplitStream,
    done: &'a mut Translation,
    /// The band of the last step.
    last: &'a mut Option<usize>,
}

/// The lattices of an op, as far as they are of one group.
struct Part<'a> {
    op: &'a LatticeOp,
    torus: &'a Torus,
    lattices: Range<u32>,
}

impl Translation {
    fn of(program: &Program, engine: &SplitEngine) -> Result<Translation> {
        let mut done = Translation {
            program: Program {
                steps: Vec::with_capacity(program.steps.len() * 2),
                ..*program
            },
            issued: Vec::new(),
            known: engine.known.clone(),
            landings: Vec::new(),
        };
        let mut last = None;
        for step in &program.steps {
            let stream = engine.streams.get(step.stream.0 as usize);
            let translator = Translator {
                engine,
                step,
                stream: known(stream, step.stream)?,
                done: &mut done,
                last: &mut last,
            };
            translator.translate()?;
        }
        Ok(done)
    }
}

impl Translator<'_> {
    fn translate(mut self) -> Result<()> {
        match &self.step.op {
            Op::Order(op) => self.order(*op),
            Op::Buffers(_) => {
                self.push(0, self.step.op.clone(), None);
                Ok(())
            }
            Op::Lattices(_, LatticeOp::CopyRows { .. }) => Err(invalid!(
                "lattices in bands have no bands or rows of their own"
            )),
            Op::Lattices(lattices, op) => {
                let toruses = &self.engine.toruses;
                let last = LatticeId(lattices.end.saturating_sub(1));
                if !lattices.is_empty() {
                    known(toruses.of(last), last)?;
                }
                let mut groups = toruses.groups(lattices);
                groups.try_for_each(|(torus, lattices)| {
                    self.part(&Part {
                        op,
                        torus,
                        lattices,
                    })
                })
            }
        }
    }

    /// Appends an op for each band, on the band's event if it is about one.
    fn order(&mut self, op: OrderOp) -> Result<()> {
        for band in 0..self.stream.bands.len() {
            let of_band = |event: EventId| {
                let events = self.engine.events.get(event.0 as usize);
                known(events.map(|events| events[band]), event)
            };
            let op = match op {
                OrderOp::Synchronize(scope) => OrderOp::Synchronize(scope),
                OrderOp::Record(event) => OrderOp::Record(of_band(event)?),
                OrderOp::Wait(event) => OrderOp::Wait(of_band(event)?),
            };
            self.push(band, op.into(), None);
        }
        Ok(())
    }

    /// Appends a step to a band's stream. In a program that bands take one after the other, it waits for
    /// the last step of another band: an event of an exchange serves, as its wait follows at once.
    fn push(&mut self, band: usize, op: Op, part: Option<(&Range<u32>, Size)>) {
        let last = self.last.replace(band).filter(|last| *last != band);
        if let Some(last) = last.filter(|_| self.done.program.band_by_band) {
            let event = self.stream.stepped[last];
            self.append(last, OrderOp::Record(event).into(), None);
            self.append(band, OrderOp::Wait(event).into(), None);
        }
        self.append(band, op, part);
    }

    /// Appends a step to a band's stream; of an op on the band, with the lattices that it is a band of
    /// and the size of its part.
    fn append(&mut self, band: usize, op: Op, part: Option<(&Range<u32>, Size)>) {
        let of_band = Step {
            issuer: self.step.issuer,
            stream: self.stream.bands[band],
            op,
        };
        if self.done.program.timed {
            let (op, size) = match (part, &of_band.op) {
                (Some((lattices, size)), Op::Lattices(_, op)) => {
                    (op.clone().on(lattices.clone()), size)
                }
                _ => (of_band.op.clone(), Size::new(1, 1).expect("a cell")), // nobody asks
            };
            self.done.issued.push(IssuedStep {
                device: self.engine.cut.device(band),
                step: Step { op, ..of_band },
                stream: self.step.stream,
                size,
            });
        }
        self.done.program.steps.push(of_band);
    }

    fn part(&mut self, part: &Part) -> Result<()> {
        match part.op {
            LatticeOp::Advance {
                kernel,
                generations,
                ..
            } => self.advance(part, kernel.layout, *generations),
            LatticeOp::Download { slot, what } => self.download(part, *slot, *what)?,
            LatticeOp::Upload(words) => {
                let size = part.torus.size();
                if words.len() != size.words() {
                    bail!(
                        "an upload of {} words to {:?}, which has {}",
                        words.len(),
                        LatticeId(part.lattices.start),
                        size.words()
                    );
                }
                self.on_bands(part, |band| {
                    Some(LatticeOp::Upload(words_of_band(band, words)))
                });
            }
            LatticeOp::Edit(edits) => {
                WordEdit::check_all(edits, part.torus.size())?;
                self.on_bands(part, |band| {
                    let edits = edits_of_band(band, edits);
                    (!edits.is_empty()).then_some(LatticeOp::Edit(edits))
                });
            }
            op => {
                self.on_bands(part, |_| Some(op.clone()));
            }
        }
        for known in self.known(part) {
            match part.op {
                LatticeOp::Upload(_) => known.good_for = part.torus.halo(),
                // Of a soup the halo has any cells; an edit is in one band alone; bits that are
                // unpacked may be older than the halo.
                LatticeOp::Soup(_) | LatticeOp::Edit(_) | LatticeOp::Unpack(_) => {
                    known.good_for = 0;
                }
                LatticeOp::Reduce(region) => known.region = Some(*region),
                _ => {}
            }
        }
        Ok(())
    }

    /// Appends an op for each band that has one; how many they are.
    fn on_bands(&mut self, part: &Part, op: impl Fn(Band) -> Option<LatticeOp>) -> usize {
        let mut count = 0;
        for (index, &band) in part.torus.bands.iter().enumerate() {
            if let Some(op) = op(band) {
                let op = op.on(part.torus.bands_of(index, &part.lattices));
                let of = (&part.lattices, band.own_size());
                self.push(index, op, Some(of));
                count += 1;
            }
        }
        count
    }

    fn known(&mut self, part: &Part) -> &mut [Known] {
        &mut self.done.known[part.lattices.start as usize..part.lattices.end as usize]
    }

    /// Advances bands by as many generations at a time as their halos are good for.
    fn advance(&mut self, part: &Part, layout: Layout, generations: u32) {
        let mut left = generations;
        loop {
            let now = left.min(part.torus.halo());
            if self.known(part).iter().any(|known| known.good_for < now) {
                self.exchange(part, layout);
            }
            let mut op = part.op.clone();
            if let LatticeOp::Advance { generations, .. } = &mut op {
                *generations = now;
            }
            self.on_bands(part, |_| Some(op.clone()));
            for known in self.known(part) {
                known.good_for -= now;
            }
            left -= now;
            if left == 0 {
                return;
            }
        }
    }

    /// Copies all halos anew. Each band's stream fetches its own, once the others have stepped their
    /// bands; none steps on before the others have fetched its rows.
    fn exchange(&mut self, part: &Part, layout: Layout) {
        let stream = self.stream;
        let &Part {
            torus,
            ref lattices,
            ..
        } = part;
        let bands = &torus.bands;
        let copies: Vec<_> = bands.iter().map(|band| band.halo_copies(bands)).collect();
        let copies_from = |band: usize, other: usize| {
            band != other && copies[band].iter().any(|(from, _)| *from == other)
        };
        for band in 0..bands.len() {
            let event = stream.stepped[band];
            self.push(band, OrderOp::Record(event).into(), None);
        }
        for band in 0..bands.len() {
            for other in (0..bands.len()).filter(|&other| copies_from(band, other)) {
                let event = stream.stepped[other];
                self.push(band, OrderOp::Wait(event).into(), None);
            }
            for lattice in lattices.clone().map(LatticeId) {
                for &(from, rows) in &copies[band] {
                    let copy = LatticeOp::CopyRows {
                        from: torus.band_of(from, lattice),
                        rows,
                        layout,
                    };
                    let op = copy.on(torus.bands_of(band, &lattice.as_range()));
                    let of = (&lattice.as_range(), bands[band].own_size());
                    self.push(band, op, Some(of));
                }
            }
            let event = stream.copied[band];
            self.push(band, OrderOp::Record(event).into(), None);
        }
        for band in 0..bands.len() {
            for other in (0..bands.len()).filter(|&other| copies_from(other, band)) {
                let event = stream.copied[other];
                self.push(band, OrderOp::Wait(event).into(), None);
            }
        }
        for known in self.known(part) {
            known.good_for = torus.halo();
        }
    }

    fn download(&mut self, part: &Part, slot: Slot, what: Transfer) -> Result<()> {
        let (size, first) = (part.torus.size(), LatticeId(part.lattices.start));
        let content = |known: &Known| match what {
            Transfer::Bits => Ok(Content::Rows {
                first: 0,
                count: size.height,
            }),
            Transfer::Rows { first: row, count } => match row.checked_add(count) {
                Some(end) if count > 0 && end <= size.height => {
                    Ok(Content::Rows { first: row, count })
                }
                _ => Err(invalid!("{first:?} of {size} has no {what:?}")),
            },
            Transfer::View => match known.region {
                Some(region) => Ok(Content::View(region)),
                None => Err(invalid!("{first:?} has no view: reduce it first")),
            },
            Transfer::Measure => Ok(Content::Measure),
            Transfer::Cells => Err(invalid!(
                "{first:?} has no i32 cells: it is in layout {:?}",
                Layout::Bits
            )),
        };
        let contents = self.known(part).iter().map(content);
        let contents: Vec<Content> = contents.collect::<Result<_, _>>()?;
        let left = self.on_bands(part, |band| {
            let what = match contents[0] {
                Content::Rows { first, count } => {
                    let RowCopy { from, count, .. } = band.own_part(first, count)?;
                    Transfer::Rows { first: from, count }
                }
                Content::View(_) | Content::Measure => what,
            };
            Some(LatticeOp::Download { slot, what })
        });
        self.done.landings.push(Landing {
            lattices: part.lattices.clone(),
            slot,
            contents,
            left,
        });
        Ok(())
    }
}

/// The words of a band's lattice, halos and all, from those of the torus.
fn words_of_band(band: Band, torus: &[u32]) -> Arc<[u32]> {
    let per_row = band.torus.words_per_row();
    let height = i64::from(band.torus.height);
    let rows = i64::from(band.rows + 2 * band.halo);
    let mut words = Vec::with_capacity(rows as usize * per_row);
    for row in 0..rows {
        let row = (band.first_of_halo() + row).rem_euclid(height) as usize;
        words.extend_from_slice(&torus[row * per_row..][..per_row]);
    }
    words.into()
}

/// The edits of a band's own rows, as those of its lattice.
fn edits_of_band(band: Band, edits: &[WordEdit]) -> Arc<[WordEdit]> {
    let per_row = band.torus.words_per_row() as u64;
    let row_of = |edit: &WordEdit| u64::from(edit.word) / per_row;
    let start = edits.partition_point(|edit| row_of(edit) < band.first.into());
    let end = edits.partition_point(|edit| row_of(edit) < (band.first + band.rows).into());
    let offset = -band.first_of_halo() * per_row as i64;
    let moved = |edit: &WordEdit| WordEdit {
        word: (i64::from(edit.word) + offset) as u32,
        ..*edit
    };
    edits[start..end].iter().map(moved).collect()
}
