//! Lattices that all devices of an engine step together.
//!
//! A [`SplitEngine`] gives each device [`Band`]s of every lattice and turns programs on lattices into
//! programs on bands ([`translation`]). What its users see is one device with whole lattices: ops,
//! completions and [`Slots`] are those of a whole lattice.

use crate::error::{bail, invalid};
use crate::{
    BufferId, BufferLocation, BufferOffset, BufferOp, Completion, DeviceId, DeviceInfo, Engine,
    EngineError, EventId, Feature, HostMemory, IssuedStep, LatticeId, Layout, Measure, Nanos,
    Occupancy, Op, PreparedId, Program, ReduceRegion, Result, RowCopy, RunId, Slot, Slots,
    SlotsSpec, StreamId, StreamSpec,
};
use life::Size;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use translation::Content;
use translation::{Landing, Translation};

mod translation;

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
            let side = (f64::from(band.width()) * longer) as u64;
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
        sizes.sort_unstable_by_key(|size| std::cmp::Reverse(size.height()));
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

// Bands: a torus that is cut into rows, so that several devices step it.

/// Some rows of a torus, which a lattice of its own holds between copies of the rows above and below
/// them.
///
/// The lattice is stepped as if it were a torus itself. So a generation spoils a row of the halo at
/// each end, and after `halo` generations the halo must be copied anew from the bands that have its
/// rows ([`LatticeOp::CopyRows`](crate::LatticeOp::CopyRows)); the band's own rows are right all the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Band {
    /// The size of the torus.
    pub torus: Size,
    /// The first of the band's own rows on the torus.
    pub first: u32,
    /// How many they are; at least one.
    pub rows: u32,
    /// Rows of the halo above them, and as many below.
    pub halo: u32,
    /// The device that has them.
    pub device: DeviceId,
    /// How many bands of the torus each device has, and steps at the same time.
    pub per_device: u32,
}

/// How tori are cut into bands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// How many bands a device has, each in a stream of its own.
    pub per_device: u32,
    /// Rows of the halo at each end of a band.
    pub halo: u32,
}

impl Cut {
    /// The fastest cut for the largest tori.
    ///
    /// With two bands on a device, the blocks of one stream have the SMs while the last ones of the
    /// other's launch end: an H200 steps a torus of 32768² as two bands at 49.1 instead of 47.4 Tcell/s.
    ///
    /// A halo of h rows is stepped beside the band's own and copied every h generations. With an
    /// exchange of time e, and t for a row's generation, what that costs is least where
    /// 2 t h² = e: on two H100 (50 µs; 1.3 ns at 65536 cells) at 140 rows. Four H200, whose
    /// bands have fewer rows, are up to 3 % faster with 90 rows than with 120, and two are as fast. The
    /// number is a multiple of the four or six generations of a launch.
    pub const DEFAULT: Cut = Cut {
        per_device: 2,
        halo: 96,
    };

    /// The fastest cut of a torus for `devices` devices. Where launches are short, the exchange of twice
    /// as many bands costs more than a second stream brings.
    pub fn of(torus: Size, devices: usize) -> Cut {
        const MIN_CELLS_OF_TWO: u64 = 1 << 28; // per device
        let has_two = torus.cells() >= MIN_CELLS_OF_TWO * devices as u64;
        Cut {
            per_device: if has_two { 2 } else { 1 },
            ..Cut::DEFAULT
        }
    }

    /// The device of a band, by the band's index.
    fn device(self, band: usize) -> DeviceId {
        DeviceId((band / self.per_device as usize) as u16)
    }
}

impl Band {
    /// Cuts a torus into `cut.per_device` bands for each device, whose heights differ by at most a row;
    /// into fewer if it has fewer rows. A halo is at most as high as the torus.
    pub fn divide(torus: Size, devices: usize, cut: Cut) -> Vec<Band> {
        let height = u64::from(torus.height());
        let bands = (devices * cut.per_device as usize).min(height as usize);
        let start = |band: usize| (band as u64 * height / bands as u64) as u32;
        let band = |i| Band {
            torus,
            first: start(i),
            rows: start(i + 1) - start(i),
            halo: cut.halo.min(torus.height()),
            device: cut.device(i),
            per_device: cut.per_device,
        };
        (0..bands).map(band).collect()
    }

    /// The size of the lattice: the band's own rows and both halos.
    ///
    /// # Errors
    /// There is no lattice so high.
    pub fn size(self) -> Result<Size> {
        let height = u64::from(self.rows) + 2 * u64::from(self.halo);
        let size = Size::new(self.torus.width().into(), height);
        size.map_err(|_| invalid!("a band of {} is too high", self.torus))
    }

    /// The size of the band's own rows.
    pub fn own_size(self) -> Size {
        Size::new(self.torus.width().into(), self.rows.into()).expect("a part of the torus")
    }

    /// The number that the lattice's first row has on the torus, where numbers go on around it: it is
    /// negative if that row is above row 0.
    pub(crate) fn first_of_halo(self) -> i64 {
        i64::from(self.first) - i64::from(self.halo)
    }

    /// The row of the lattice that is the band's own row `row` of the torus; `None` for a row of
    /// another band.
    pub fn own_row(self, row: u32) -> Option<u32> {
        let within = row.checked_sub(self.first)?;
        (within < self.rows).then_some(within + self.halo)
    }

    /// The parts of rows `first..first + count` of the torus that are the band's own, as rows of the
    /// lattice and as rows behind `first`.
    fn own_part(self, first: u32, count: u32) -> Option<RowCopy> {
        let from = first.max(self.first);
        let end = (first + count).min(self.first + self.rows);
        (from < end).then(|| RowCopy {
            from: from - self.first + self.halo,
            to: from - first,
            count: end - from,
        })
    }

    /// The rows of the halo, each with the index of the band that has it as its own.
    pub fn halo_copies(self, bands: &[Band]) -> Vec<(usize, RowCopy)> {
        let height = i64::from(self.torus.height());
        let mut copies = Vec::new();
        for start in [0, self.halo + self.rows] {
            let (mut to, end) = (start, start + self.halo);
            while to < end {
                let row = (self.first_of_halo() + i64::from(to)).rem_euclid(height) as u32;
                let band = bands.partition_point(|band| band.first + band.rows <= row);
                let owner = bands[band];
                let count = (owner.first + owner.rows - row).min(end - to);
                let from = row - owner.first + owner.halo;
                copies.push((band, RowCopy { from, to, count }));
                to += count;
            }
        }
        copies
    }
}
