//! Lattices on an engine. `start` makes them from a setup; `runs` turns completions into events, steps the
//! lattices to an end, and brings the results to the host.
//!
//! Here is a round, from its request to its submission: what it steps, and with what; its program, in which
//! every lattice advances and downloads once, in its stream; what settings need when they are first met
//! (streams, host slots, the layout of the cells). Transfers of cells (new lattices, edits, snapshots) are
//! issued between rounds.
//!
//! A [`Sim`] has no setting. It knows of every lattice where its cells are (generation, layout, stream)
//! and what is allocated (streams, one layout besides the bits, host slots, graphs). These are facts about
//! the engine, true after every call, also one that failed: there is nothing to roll back. A setting that
//! the engine has no memory for leaves the lattices as bits, and the next round converts them again.
//!
//! Generations are counted only once the engine has accepted what steps them. After an error that may have
//! left half of a program done ([`EngineError::loses_lattices`], or a failed call of the driver) nothing
//! is counted and the cells are unknown: [`Sim::abandon`], then [`Sim::set_lattices`] with all of them.

use crate::fastest::{MAX_ROUND, RoundLength};
use crate::setup::NewCells;
use crate::trace::StepFacts;
use crate::{IsolatedOp, Order, PicturePlan, Setting, Streams, Switches, Wait};
use engine::{
    Completion, DeviceId, Engine, EngineError, EventId, IssuedStep, Kernel, LatticeId, LatticeOp,
    Layout, Measure, Op, OrderOp, PreparedId, Program, ReduceRegion, Result, RunId, Scope, Slot,
    Slots, SlotsSpec, Step, StreamId, StreamKind, StreamSpec, Transfer, nvtx,
};
use life::{Rule, Size};
use script::CallKind;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

pub use runs::{Event, Results, RoundMeasures, read_lattice};
pub use start::{ensure_room, make_on_devices, open, open_engine, start_lattice};

mod runs;
mod start;

/// Lattices, what they are stepped with, and what is downloaded of them.
#[derive(Clone, PartialEq, Debug)]
pub struct Share {
    /// They follow one another.
    pub lattices: Range<usize>,
    /// Their rounds have it.
    pub setting: Setting,
    /// What their rounds download, if anything.
    pub picture: Option<PicturePlan>,
}

impl Share {
    /// The lattices that a round downloads.
    pub fn downloads(&self) -> Range<usize> {
        match self.picture {
            None => 0..0,
            Some(PicturePlan {
                transfer: Transfer::View,
                only: Some(one),
                ..
            }) => {
                if self.lattices.contains(&one) {
                    one..one + 1
                } else {
                    0..0
                }
            }
            Some(_) => self.lattices.clone(),
        }
    }
}

/// A round that is asked for.
#[derive(Clone, Copy, Default, Debug)]
pub struct Request {
    /// At 0 it only downloads.
    pub generations: u32,
    /// Whether its event has spans.
    pub timed: bool,
    /// Whether every second timed round records when and where its blocks ran: those without show what
    /// that costs.
    pub block_timestamps: bool,
    /// Whether its lattices are measured.
    pub measured: bool,
    /// A number that its pictures are given: that of the last edit.
    pub edits: u64,
}

impl Request {
    /// So many generations.
    pub fn of(generations: u32) -> Request {
        Request {
            generations,
            ..Request::default()
        }
    }
}

/// A round: all that its program depends on. (The streams follow from the setting.)
#[derive(Clone, PartialEq, Debug)]
pub struct Round {
    /// What it steps, and with what.
    pub share: Share,
    /// The lattices' rule.
    pub rule: Rule,
    /// At 0 it only downloads.
    pub generations: u32,
    /// Where pictures go to.
    pub slot: Slot,
    /// Where measures go to, if the lattices are measured.
    pub measures: Option<Slot>,
}

impl Round {
    /// The setting that it is stepped with.
    pub fn setting(&self) -> &Setting {
        &self.share.setting
    }

    /// Launches per lattice.
    pub fn launches(&self) -> u32 {
        self.setting().kernel.launches(self.generations.max(1))
    }
}

impl Sim {
    /// A round's program, in the streams that [`Sim::ensure`] has made for its setting. On several devices, a
    /// user's order is breadth-first.
    fn program(&self, round: &Round) -> Program {
        let mut maker = Maker {
            round,
            program: Program::default(),
        };
        let (setting, lattices) = (round.setting(), &round.share.lattices);
        let streams = self.made.of[setting.switches.streams.sharing() as usize].as_deref();
        let streams = streams.expect("they were made before");
        let places = self.engine.places();
        let batched = setting.switches.streams == Streams::Batch;
        let groups = || groups(streams, lattices.clone(), batched);
        let own = setting.own_calls(lattices.len()).filter(|_| places == 1);
        match (setting.switches.order, own) {
            // A round that steps nothing only downloads: the user's order has no say in that.
            (Order::Own, Some(own)) if round.generations > 0 => {
                maker.own(&own.calls, &self.made.own);
            }
            (Order::Depth, _) => {
                for (stream, group) in groups() {
                    maker.advance(stream, group.clone());
                    maker.whole_picture(stream, &group);
                }
            }
            (Order::Breadth | Order::Own, _) => {
                groups().for_each(|(stream, group)| maker.advance(stream, group));
                for phase in 0..PHASES {
                    groups().for_each(|(stream, group)| maker.picture(stream, group, phase));
                }
            }
        }
        if setting.switches.wait == Wait::All {
            let mut first = 0;
            for (_, count) in shares(streams.len(), places) {
                let stream = streams[first];
                maker
                    .program
                    .push(stream, OrderOp::Synchronize(Scope::Device));
                first += count;
            }
        }
        maker.program
    }
}

/// The lattices of each op and its stream: one lattice, or in a batch all that share a stream.
fn groups(
    streams: &[StreamId],
    mut rest: Range<usize>,
    batched: bool,
) -> impl Iterator<Item = (StreamId, Range<usize>)> + '_ {
    std::iter::from_fn(move || {
        let first = rest.next()?;
        while batched && !rest.is_empty() && streams[rest.start] == streams[first] {
            rest.next();
        }
        Some((streams[first], first..rest.start))
    })
}

/// The phases of a picture: pack; reduce and measure; download and wait.
const PHASES: u32 = 3;

fn ids(lattices: Range<usize>) -> Range<u32> {
    lattices.start as u32..lattices.end as u32
}

/// A round's program under construction.
struct Maker<'a> {
    round: &'a Round,
    program: Program,
}

impl Maker<'_> {
    /// The calls of a user's round. At its downloads are all ops of a picture, in the download's stream.
    fn own(&mut self, calls: &[script::Call], (streams, events): &(Vec<StreamId>, Vec<EventId>)) {
        let lattice = |item: u32| {
            let at = self.round.share.lattices.start + item as usize;
            at..at + 1
        };
        for call in calls {
            let stream = streams[call.stream as usize];
            let op = match call.kind {
                CallKind::Advance(item) => {
                    self.advance(stream, lattice(item));
                    continue;
                }
                CallKind::Download(item) => {
                    self.whole_picture(stream, &lattice(item));
                    continue;
                }
                CallKind::Record(event) => OrderOp::Record(events[event as usize]),
                CallKind::Wait(event) => OrderOp::Wait(events[event as usize]),
                CallKind::Synchronize => OrderOp::Synchronize(Scope::Stream),
                // Calls on arrays are in no round of lattices.
                CallKind::Upload(_) | CallKind::Scale(_) => continue,
            };
            self.program.push(stream, op);
        }
    }

    fn advance(&mut self, stream: StreamId, lattices: Range<usize>) {
        let Round {
            generations, rule, ..
        } = *self.round;
        if generations > 0 {
            let setting = self.round.setting();
            let advance = LatticeOp::Advance {
                kernel: setting.kernel.stepping(rule),
                rule,
                generations,
                block: setting.switches.block_of(setting.kernel),
            };
            self.program.push(stream, advance.on(ids(lattices)));
        }
    }

    fn whole_picture(&mut self, stream: StreamId, group: &Range<usize>) {
        (0..PHASES).for_each(|phase| self.picture(stream, group.clone(), phase));
    }

    /// A picture's ops, one phase after the other; not every picture needs the first two.
    fn picture(&mut self, stream: StreamId, all: Range<usize>, phase: u32) {
        let wanted = self.round.share.downloads();
        // A round that steps nothing has nothing to measure.
        let measures = self.round.measures.filter(|_| self.round.generations > 0);
        let group = all.start.max(wanted.start)..all.end.min(wanted.end);
        let picture = self.round.share.picture.filter(|_| !group.is_empty());
        let transfer = picture.map(|picture| picture.transfer);
        match (phase, picture) {
            (0, _) if measures.is_some() => self.pack(stream, all),
            (0, Some(_)) if transfer != Some(Transfer::Cells) => self.pack(stream, group),
            (1, _) => {
                if let (Some(Transfer::View), Some(picture)) = (transfer, picture) {
                    let (lattices, region) = (ids(group), picture.region);
                    self.program
                        .push(stream, LatticeOp::Reduce(region).on(lattices));
                }
                if measures.is_some() {
                    self.program.push(stream, LatticeOp::Measure.on(ids(all)));
                }
            }
            (2, _) => {
                if let Some(what) = transfer {
                    let download = Op::download(ids(group), self.round.slot, what);
                    self.program.push(stream, download);
                }
                if let Some(slot) = measures {
                    let download = Op::download(ids(all), slot, Transfer::Measure);
                    self.program.push(stream, download);
                }
                if self.round.setting().switches.wait == Wait::Each {
                    self.program
                        .push(stream, OrderOp::Synchronize(Scope::Stream));
                }
            }
            _ => {}
        }
    }

    fn pack(&mut self, stream: StreamId, group: Range<usize>) {
        if self.round.setting().kernel.layout != Layout::Bits {
            self.program.push(stream, LatticeOp::Pack.on(ids(group)));
        }
    }
}

/// The devices and the number of instances of each: consecutive instances share a device.
fn shares(instances: usize, devices: usize) -> impl Iterator<Item = (DeviceId, usize)> {
    let share = move |device: usize| device * instances / devices;
    (0..devices)
        .map(move |device| (DeviceId(device as u16), share(device + 1) - share(device)))
        .filter(|(_, count)| *count > 0)
}

/// Picture slots per instance: one being drawn, the newest, one being filled.
pub const PICTURE_SLOTS: u8 = 3;

/// Measure slots per instance: one for each picture slot.
pub const MEASURE_SLOTS: u8 = PICTURE_SLOTS;

/// Rounds in flight at once: the next is queued while one runs, so the device never waits for the
/// host.
pub const MAX_IN_FLIGHT: usize = 2;

/// Where a lattice is, once all issued work is done.
#[derive(Clone, Copy)]
struct LatticeFacts {
    generation: u64,
    layout: Layout,
    /// The stream of the last work on it. All earlier work on it comes before that.
    stream: StreamId,
    /// Whether it has cells: not before the first ones are set, nor after [`Sim::abandon`].
    is_set: bool,
}

/// Lattices on an engine; see the module's documentation.
pub struct Sim {
    engine: Box<dyn Engine>,
    /// The size of every lattice.
    pub size: Size,
    pub(crate) rule: Rule,
    lattices: Vec<LatticeFacts>,
    /// The layout that memory is allocated for besides [`Layout::Bits`].
    reserved: Layout,
    made: Made,
    /// The host slots.
    pub(crate) slots: Arc<dyn Slots>,
    spec: SlotsSpec,
    /// The latest used last.
    graphs: Vec<Graph>,
    /// The view that was last reduced, and of which lattice alone.
    viewed: Option<(ReduceRegion, Option<usize>)>,
    in_flight: VecDeque<InFlight>,
    completions: Vec<Completion>,
    /// The longest rounds allowed of a kernel and switches.
    longest: Vec<(&'static Kernel, Switches, RoundLength)>,
    /// When the last round ended.
    ended: Option<Instant>,
    /// Number of timed rounds.
    timed: u64,
    calibration: Option<Calibration>,
}

/// A program that the engine has accepted and not completed.
struct InFlight {
    run: RunId,
    /// The time just before its first call.
    issued: Instant,
    kind: Kind,
    steps: Arc<[StepFacts]>,
    /// The last edit in its pictures.
    edits: u64,
    /// The generation of the lattices that it works on.
    generation: u64,
}

enum Kind {
    /// A round, issued step by step or replayed as a graph; one of no generations only downloads.
    Round { round: Arc<Round>, replayed: bool },
    /// All lattices' bits into the whole-lattice slot of this index.
    Snapshot(u8),
    /// One step of a round that runs op by op.
    IsolatedStep(Arc<Round>),
    /// Anything else; its completion is ignored.
    Other,
}

impl Kind {
    /// The round that it is of.
    fn round(&self) -> Option<&Arc<Round>> {
        match self {
            Kind::Round { round, .. } | Kind::IsolatedStep(round) => Some(round),
            Kind::Snapshot(_) | Kind::Other => None,
        }
    }
}

/// A graph, and what it was prepared from.
struct Graph {
    round: Arc<Round>,
    timed: bool,
    /// Which buffers held the cells: a graph contains their addresses.
    parities: Vec<u8>,
    prepared: PreparedId,
    steps: Arc<[StepFacts]>,
}
/// A calibration under way.
struct Calibration {
    round: Arc<Round>,
    edits: u64,
    left: VecDeque<Step>,
    /// The op that runs; of one on lattices in bands, what each device got.
    running: Vec<IsolatedOp>,
    done: Vec<IsolatedOp>,
}

/// Maximum number of launches in a graph: capturing more takes seconds and gigabytes.
pub const MAX_GRAPH_LAUNCHES: u64 = 1 << 16;

impl Sim {
    /// The engine, for its facts and figures.
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// Number of lattices.
    pub fn instances(&self) -> usize {
        self.lattices.len()
    }

    /// The generation of a lattice, as of the last program issued.
    pub fn generation(&self, lattice: usize) -> u64 {
        self.lattices[lattice].generation
    }

    /// Whether nothing is in flight and no calibration is under way.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_empty() && self.calibration.is_none()
    }

    /// Number of rounds and other programs in flight.
    pub fn depth(&self) -> usize {
        self.in_flight.len()
    }

    /// The size of an instance's picture in 32-bit words.
    fn picture_words(&self, picture: PicturePlan) -> usize {
        match picture.transfer {
            Transfer::Bits => self.size.words(),
            Transfer::Rows { count, .. } => self.size.words_per_row() * count as usize,
            Transfer::View => self.engine.view_words(picture.region),
            Transfer::Cells => self.size.cells() as usize,
            Transfer::Measure => Measure::WORDS,
        }
    }

    /// Whether a calibration is under way.
    pub fn is_calibrating(&self) -> bool {
        self.calibration.is_some()
    }

    /// Issues a round of a share, for which [`Sim::ensure`] has made what it needs, if fewer than two are
    /// in flight and a slot is free; answers whether it did. Lattices that a round of another setting has
    /// left in another layout are converted first. `newest` says whether a slot holds somebody's newest
    /// picture. A round that must be timed alone is issued when nothing is in flight.
    pub fn issue(
        &mut self,
        share: &Share,
        request: Request,
        newest: impl Fn(Slot) -> bool,
    ) -> Result<bool> {
        if self.in_flight.len() >= MAX_IN_FLIGHT || self.is_calibrating() {
            return Ok(false);
        }
        if self.is_outside(share) {
            if self.is_idle() {
                self.enter(share)?;
            }
            return Ok(false);
        }
        let Some(round) = self.round(share, request, newest) else {
            return Ok(false);
        };
        let steps = round.generations > 0;
        let nodes = u64::from(round.launches()) * self.instances() as u64;
        let replays = share.setting.switches.graphs
            && steps
            && nodes <= MAX_GRAPH_LAUNCHES
            && !self.engine.is_split(); // a graph is one device's
        // A graph has events of its own, whose times must be read before it is launched again.
        if replays && request.timed && self.is_being_filled(share, round.slot) {
            return Ok(false);
        }
        self.note_view(share);
        let _range = steps.then(|| nvtx::range("round"));
        let issued = if replays {
            self.replay(round, request)
        } else {
            let mut program = self.program(&round);
            program.timed = request.timed && steps;
            self.timed += u64::from(program.timed);
            program.block_timestamps =
                program.timed && request.block_timestamps && self.timed % 2 == 1;
            let kind = Kind::Round {
                round,
                replayed: false,
            };
            self.submit(&program, kind, request.edits)
        };
        match issued {
            // A reader took the slot just now; another will be free.
            Err(EngineError::SlotBusy) => Ok(false),
            other => other.map(|()| true),
        }
    }

    /// The round that is asked for, if a slot is free.
    fn round(
        &self,
        share: &Share,
        request: Request,
        newest: impl Fn(Slot) -> bool,
    ) -> Option<Arc<Round>> {
        let measures = request.measured && request.generations > 0;
        let slot = match share.picture {
            None if measures && self.is_being_filled(share, Slot(0)) => return None,
            None => Slot(0),
            Some(_) => self.free_slot(share, newest)?,
        };
        let measure = self.spec.measure_slot(slot.0 % MEASURE_SLOTS);
        Some(Arc::new(Round {
            share: share.clone(),
            rule: self.rule,
            generations: request.generations,
            slot,
            measures: measures.then_some(measure),
        }))
    }

    /// A free picture slot. Prefers slots that do not hold a newest picture; takes one of those only when
    /// nothing is in flight. (That picture is then unreadable until its successor has landed; nothing is
    /// torn.)
    fn free_slot(&self, share: &Share, newest: impl Fn(Slot) -> bool) -> Option<Slot> {
        let of_its_memory = if share.setting.is_pinned() {
            0..self.spec.pinned
        } else {
            self.spec.pinned..self.spec.pictures()
        };
        let is_free = |slot: &Slot| {
            let free = |i: usize| self.slots.is_free(LatticeId(i as u32), *slot);
            !self.is_being_filled(share, *slot) && share.downloads().all(free)
        };
        let slots = || of_its_memory.clone().map(Slot).filter(is_free);
        let spare = slots().find(|&slot| !newest(slot));
        spare.or_else(|| slots().next().filter(|_| self.is_idle()))
    }

    /// Whether a round in flight fills this slot of the same lattices: it may have landed, but what it
    /// brought has not been taken yet.
    fn is_being_filled(&self, share: &Share, slot: Slot) -> bool {
        let fills = |it: &InFlight| {
            let round = it.kind.round();
            round.is_some_and(|round| {
                round.slot == slot && round.share.lattices.start == share.lattices.start
            })
        };
        self.in_flight.iter().any(fills)
    }

    /// Releases the graphs of another view: a larger one takes the place of theirs in memory.
    fn note_view(&mut self, share: &Share) {
        let view = share.picture.filter(|it| it.transfer == Transfer::View);
        let view = view.map(|it| (it.region, it.only));
        if view.is_some() && self.viewed != view {
            self.viewed = view;
            self.release_graphs(|it| {
                let picture = it.share.picture;
                picture.is_none_or(|it| it.transfer != Transfer::View)
            });
        }
    }

    /// The longest round allowed of a setting, so that it takes at most [`MAX_ROUND`] and its calls some
    /// 40 ms: nothing stops in the middle of a round.
    pub fn longest_round(&self, setting: &Setting) -> u32 {
        #[cfg(test)]
        if let Some(max) = limit::get() {
            return max;
        }
        self.round_lengths(setting).generations()
    }

    /// The longest rounds of a setting: as they were last found, or of a kernel whose speed is not known
    /// yet.
    pub fn round_lengths(&self, setting: &Setting) -> RoundLength {
        /// Launches of all instances: some 40 ms of calls.
        const LAUNCHES: u32 = 1 << 14;
        /// Cells stepped by the first round, unless a generation has more: the slowest rung takes less
        /// than half a second for them on one core.
        const FIRST_CELLS: u64 = 1 << 28;
        /// The same of a kernel of a user's own, which may be much slower.
        const FIRST_OWN_CELLS: u64 = 1 << 22;
        let (kernel, switches) = (setting.kernel, setting.switches);
        let mut known = self.longest.iter();
        if let Some(known) = known.find(|it| (it.0, it.1) == (kernel, switches)) {
            return known.2;
        }
        let launches = (LAUNCHES / self.instances() as u32).max(1);
        let first = match kernel.own {
            None => FIRST_CELLS,
            Some(_) => FIRST_OWN_CELLS,
        };
        let first = first / (self.size.cells() * self.instances() as u64).max(1);
        RoundLength::adapting(kernel, launches, MAX_ROUND, first.max(1) as u32)
    }

    /// Submits a program, and notes what it does to its lattices once the engine has accepted it.
    fn submit(&mut self, program: &Program, kind: Kind, edits: u64) -> Result<()> {
        let Some(first) = program.steps.first() else {
            return Ok(());
        };
        let issued = Instant::now();
        self.join(program)?;
        let run = self.engine.submit(program)?;
        for step in &program.steps {
            let lattices = step.op.lattices();
            for lattice in &mut self.lattices[lattices.start as usize..lattices.end as usize] {
                lattice.stream = step.stream;
                if let Op::Lattices(_, LatticeOp::Advance { generations, .. }) = step.op {
                    lattice.generation += u64::from(generations);
                }
            }
        }
        let first = match &kind {
            Kind::Round { round, .. } => round.share.lattices.start,
            _ => first.op.lattices().start as usize,
        };
        self.in_flight.push_back(InFlight {
            run,
            issued,
            kind,
            steps: self.facts(program, Some(run)),
            edits,
            generation: self.lattices[first].generation,
        });
        Ok(())
    }

    /// Has a program that is about to be issued wait for work in flight on the same lattices in other
    /// streams: after a change of the setting, and between the rounds of a user's own. Within the program,
    /// the first op on a lattice comes before its others.
    ///
    /// It takes an event for each stream waited for, and a wait for each pair of streams. A round that works
    /// on every lattice in one stream, always the same, needs none. These are a program of their own, which
    /// is never timed: they are not calls of the round.
    fn join(&mut self, program: &Program) -> Result<()> {
        if self.in_flight.is_empty() {
            return Ok(()); // what is not in flight is done
        }
        let mut pairs = Vec::new();
        let mut is_joined = vec![false; self.lattices.len()];
        for step in &program.steps {
            for lattice in step.op.lattices().map(|it| it as usize) {
                let last = self.lattices[lattice].stream;
                if !std::mem::replace(&mut is_joined[lattice], true) && last != step.stream {
                    pairs.push((last, step.stream, self.device_of(lattice)));
                }
            }
        }
        if pairs.is_empty() {
            return Ok(());
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut joins = Program::default();
        for waits in pairs.chunk_by(|a, b| a.0 == b.0) {
            let (last, _, device) = waits[0];
            let event = match self.made.joins.get(&last) {
                Some(event) => *event,
                None => self.engine.create_event(device)?,
            };
            self.made.joins.insert(last, event);
            joins.push(last, OrderOp::Record(event));
            for &(_, stream, _) in waits {
                joins.push(stream, OrderOp::Wait(event));
            }
        }
        // Nobody asks for its completion: what comes behind it is later.
        self.engine.submit(&joins).map(drop)
    }

    fn device_of(&self, lattice: usize) -> DeviceId {
        let mut first = 0;
        let mut devices = shares(self.instances(), self.engine.places());
        let has_it = devices.find(|(_, count)| {
            first += count;
            lattice < first
        });
        has_it.map_or(DeviceId(0), |(device, _)| device)
    }

    /// Facts about a timed program's steps, for showing their spans; of one that was issued on lattices in
    /// bands, about what each device got.
    fn facts(&self, program: &Program, run: Option<RunId>) -> Arc<[StepFacts]> {
        let view = self.viewed.map_or(0, |(it, _)| self.engine.view_words(it));
        let own = &self.made.own.0;
        let facts = |step: &Step, stream: StreamId, size: Size, gpu: Option<u16>| StepFacts {
            gpu,
            own_number: own.iter().position(|it| *it == stream).map(|at| at as u32),
            ..StepFacts::of(step, size, view as u64 * 4)
        };
        if let Some(issued) = run.and_then(|run| self.engine.issued_steps(run)) {
            let of = |it: &IssuedStep| facts(&it.step, it.stream, it.size, Some(it.device.0));
            return issued.iter().map(of).collect();
        }
        if !program.timed {
            return Arc::default();
        }
        let has_several = self.engine.places() > 1;
        let of = |step: &Step| {
            let lattices = Some(step.op.lattices()).filter(|it| has_several && !it.is_empty());
            let gpu = lattices.map(|it| self.device_of(it.start as usize).0);
            facts(step, step.stream, self.size, gpu)
        };
        program.steps.iter().map(of).collect()
    }
}

/// Streams and events: created when a setting first needs them, and used again by others.
#[derive(Default)]
struct Made {
    /// The stream of every lattice, for each way of sharing them.
    of: [Option<Vec<StreamId>>; 3],
    /// Those of users' rounds.
    own: (Vec<StreamId>, Vec<EventId>),
    /// The event after which others wait for a stream.
    joins: HashMap<StreamId, EventId>,
}

impl Sim {
    /// All that are in use are named together, as all slots are allocated together. What none of them
    /// needs is freed. To be called before every round; mostly there is nothing to do. Answers `false` if
    /// memory has to be replaced that programs in flight use: then it is tried again when they are
    /// complete.
    ///
    /// # Errors
    /// A kernel does not accept the lattices, or memory is lacking. Nothing has to be undone.
    pub fn ensure(&mut self, shares: &[Share]) -> Result<bool> {
        let spec = self.wanted_slots(shares);
        let is_used = |layout| {
            let mut all = shares.iter();
            all.any(|it| it.setting.kernel.layout == layout)
        };
        let is_superfluous = self.reserved != Layout::Bits && !is_used(self.reserved);
        if !self.is_idle() && (spec.is_some() || is_superfluous) {
            return Ok(false);
        }
        for Share { setting, .. } in shares {
            self.validate(setting.kernel)?;
            self.make_streams_of(setting)?;
        }
        if is_superfluous {
            self.reserve(Layout::Bits)?;
        }
        if let Some(spec) = spec {
            self.release_graphs(|_| false);
            self.slots = self.engine.allocate_slots(spec)?;
            self.spec = spec;
        }
        let rule = self.rule;
        let is_used = |it: &Round| shares.iter().any(|share| share.setting == *it.setting());
        self.release_graphs(|it| it.rule == rule && is_used(it));
        Ok(true)
    }

    /// Whether [`Sim::ensure`] would replace the slots, with all pictures and snapshots in them.
    pub fn replaces_slots(&self, shares: &[Share]) -> bool {
        self.wanted_slots(shares).is_some()
    }

    /// The slots that these shares' pictures need, or `None` if the present ones fit.
    fn wanted_slots(&self, shares: &[Share]) -> Option<SlotsSpec> {
        let pictures = shares.iter().filter_map(|it| it.picture);
        let words = pictures.map(|picture| self.picture_words(picture)).max()?;
        let slots = |pinned| {
            let used = shares.iter().any(|it| it.setting.is_pinned() == pinned);
            if used { PICTURE_SLOTS } else { 0 }
        };
        let (pinned, pageable, has) = (slots(true), slots(false), self.spec);
        let enough = has.picture_words >= words && has.picture_words <= words * 4;
        let suits = (has.pinned, has.pageable) == (pinned, pageable) && enough;
        (!suits).then_some(SlotsSpec {
            pinned,
            pageable,
            picture_words: words,
            ..has
        })
    }

    fn make_streams_of(&mut self, setting: &Setting) -> Result<()> {
        let (how, instances) = (setting.switches.streams.sharing(), self.instances());
        let places = self.engine.places();
        if self.made.of[how as usize].is_none() {
            let made = make_streams(&mut *self.engine, instances, how)?;
            self.made.of[how as usize] = Some(made);
        }
        let own = &mut self.made.own;
        for round in [instances, instances / 2]
            .iter()
            .filter_map(|&it| setting.own_calls(it))
            .filter(|_| places == 1)
        {
            while own.0.len() < round.streams() as usize {
                let stream = self.engine.create_stream(DeviceId(0), StreamSpec::PLAIN)?;
                if nvtx::is_attached() {
                    let name = Streams::PerInstance.stream_name(own.0.len() as u32, None);
                    self.engine.name_stream(stream, &name);
                }
                own.0.push(stream);
            }
            while own.1.len() < round.events() as usize {
                own.1.push(self.engine.create_event(DeviceId(0))?);
            }
        }
        Ok(())
    }

    /// Checks that a kernel accepts these lattices and that every device can run it.
    ///
    /// # Errors
    /// The reason if not.
    pub fn validate(&self, kernel: &Kernel) -> Result<()> {
        validate_kernel(&*self.engine, kernel, self.size)
    }

    /// Whether a share's lattices are in another layout than its kernel's, or not in the same one of two
    /// buffers where they are stepped by one launch.
    fn is_outside(&self, share: &Share) -> bool {
        let mut lattices = self.lattices[share.lattices.clone()].iter();
        if lattices.any(|it| it.layout != share.setting.kernel.layout) {
            return true;
        }
        let parity = |i: usize| self.engine.parity(LatticeId(i as u32)) & 1;
        let mut all = share.lattices.clone();
        share.setting.aligns_buffers() && all.any(|i| parity(i) != parity(share.lattices.start))
    }

    /// Converts a share's lattices into its kernel's layout, where they are not yet. [`Sim::issue`] does so
    /// too. Before a change of the setting it is called to find out whether there is enough memory. Nothing may be in flight.
    ///
    /// # Errors
    /// There is no memory for the layout. The lattices are bits then.
    pub fn enter(&mut self, share: &Share) -> Result<()> {
        let to = share.setting.kernel.layout;
        if !self.is_outside(share) {
            return Ok(());
        }
        if to != Layout::Bits && to != self.reserved {
            self.reserve(to)?;
        }
        let lattices = &mut self.lattices[share.lattices.clone()];
        let unset = lattices.iter_mut().filter(|it| !it.is_set);
        unset.for_each(|it| it.layout = to); // of the cells that it is given
        let convert = self.packed(
            share.lattices.clone(),
            false,
            |program, stream, lattices| {
                program.push(stream, LatticeOp::Unpack(to).on(lattices));
            },
        );
        self.submit(&convert, Kind::Other, 0)?;
        let lattices = &mut self.lattices[share.lattices.clone()];
        lattices.iter_mut().for_each(|it| it.layout = to);
        Ok(())
    }

    /// Allocates memory for a layout besides the bits, in the place of another one's. All lattices are bits
    /// afterwards, also if there is no memory.
    fn reserve(&mut self, layout: Layout) -> Result<()> {
        let pack = self.packed(0..self.instances(), false, |_, _, _| {});
        self.submit(&pack, Kind::Other, 0)?;
        self.release_graphs(|_| false);
        let reserved = self.engine.reserve(layout);
        self.reserved = layout;
        let set = self.lattices.iter_mut();
        set.for_each(|it| it.layout = Layout::Bits);
        if reserved.as_ref().is_err_and(|it| !it.loses_lattices()) {
            self.engine
                .reserve(Layout::Bits) // which needs no memory
                .map_err(EngineError::into_lost)?;
            self.reserved = Layout::Bits;
        }
        reserved
    }

    /// The program that packs lattices' cells into bits, unless that was done, and does something with these;
    /// each op is for as many lattices as share a stream, a layout and the buffers in use. Those without
    /// cells are left out.
    fn packed(
        &self,
        lattices: Range<usize>,
        is_done: bool,
        mut then: impl FnMut(&mut Program, StreamId, Range<u32>),
    ) -> Program {
        let mut program = Program::default();
        let key = |i: usize| {
            let parity = self.engine.parity(LatticeId(i as u32));
            (self.lattices[i].stream, self.lattices[i].layout, parity)
        };
        let all: Vec<usize> = lattices.filter(|&i| self.lattices[i].is_set).collect();
        for group in all.chunk_by(|&a, &b| a + 1 == b && key(a) == key(b)) {
            let (stream, layout, _) = key(group[0]);
            let lattices = ids(group[0]..group[0] + group.len());
            if layout != Layout::Bits && !is_done {
                program.push(stream, LatticeOp::Pack.on(lattices.clone()));
            }
            then(&mut program, stream, lattices);
        }
        program
    }
}

/// Checks that a kernel steps lattices of this size, whole ones and those of the devices, and that
/// every device can run it.
///
/// # Errors
/// The reason if not.
fn validate_kernel(engine: &dyn Engine, kernel: &Kernel, size: Size) -> Result<()> {
    // Lattices in bands become whole where one device is left, or another program opens them.
    kernel.validate_size(size)?;
    engine.stepped_sizes(size).into_iter().try_for_each(|size| {
        kernel.validate_size(size)?;
        let mut devices = engine.devices().iter();
        devices.try_for_each(|device| kernel.validate_device(device, size))
    })
}

/// The stream of each lattice.
fn make_streams(engine: &mut dyn Engine, instances: usize, how: Streams) -> Result<Vec<StreamId>> {
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

// Graphs: rounds that are prepared once and replayed.

/// Graphs that are kept: of two settings, three slots, two parities, timed or not, measured or not.
const MAX_GRAPHS: usize = 64;

impl Sim {
    /// Issues a round as a graph, which is prepared if none is known.
    fn replay(&mut self, round: Arc<Round>, request: Request) -> Result<()> {
        let parity = |i: usize| self.engine.parity(LatticeId(i as u32));
        let parities: Vec<u8> = round.share.lattices.clone().map(parity).collect();
        let is_it = |it: &Graph| {
            (it.timed, &it.parities) == (request.timed, &parities) && it.round == round
        };
        let graph = match self.graphs.iter().position(is_it) {
            Some(at) => self.graphs.remove(at),
            None => self.prepare(round.clone(), parities, request.timed)?,
        };
        let issued = Instant::now();
        let run = self.engine.replay(graph.prepared);
        let steps = graph.steps.clone();
        self.graphs.push(graph);
        if self.graphs.len() > MAX_GRAPHS {
            let oldest = self.graphs.remove(0);
            self.engine.release(oldest.prepared);
        }
        let run = run?;
        if round.setting().switches.wait == Wait::All {
            self.engine.synchronize()?;
        }
        let lattices = &mut self.lattices[round.share.lattices.clone()];
        for lattice in lattices.iter_mut() {
            lattice.generation += u64::from(round.generations);
        }
        self.in_flight.push_back(InFlight {
            run,
            issued,
            generation: lattices[0].generation,
            kind: Kind::Round {
                round,
                replayed: true,
            },
            steps,
            edits: request.edits,
        });
        Ok(())
    }

    fn prepare(&mut self, round: Arc<Round>, parities: Vec<u8>, timed: bool) -> Result<Graph> {
        let mut program = self.program(&round);
        // The host cannot wait inside a graph; it waits after it.
        program
            .steps
            .retain(|step| !matches!(step.op, Op::Order(OrderOp::Synchronize(_))));
        program.timed = timed;
        let prepared = self.engine.prepare(&program)?;
        Ok(Graph {
            steps: self.facts(&program, None),
            round,
            timed,
            parities,
            prepared,
        })
    }

    fn release_graphs(&mut self, is_kept: impl Fn(&Round) -> bool) {
        for graph in self.graphs.extract_if(.., |it| !is_kept(&it.round)) {
            self.engine.release(graph.prepared);
        }
    }
}

// Transfers of cells: sets and changes lattices, downloads snapshots.
//
// Not to be used during a calibration ([`Sim::is_calibrating`]), while some lattices are a
// round ahead of others.

impl Sim {
    /// Sets the generation of all lattices.
    pub fn set_generation(&mut self, generation: u64) {
        let lattices = self.lattices.iter_mut();
        lattices.for_each(|it| it.generation = generation);
    }

    /// Sets lattices, given by index, to other cells or soups, each in its own stream. The generation is
    /// set by [`Sim::set_generation`].
    pub fn set_lattices(&mut self, lattices: Vec<(usize, impl Into<NewCells>)>) -> Result<()> {
        let mut program = Program::default();
        let mut set = Vec::with_capacity(lattices.len());
        for (lattice, cells) in lattices {
            let facts = self.lattices[lattice];
            let id = LatticeId(lattice as u32);
            program.push(facts.stream, cells.into().op(id)?);
            if facts.layout != Layout::Bits {
                program.push(facts.stream, Op::unpack(id.as_range(), facts.layout));
            }
            set.push(lattice);
        }
        self.submit(&program, Kind::Other, 0)?;
        for lattice in set {
            self.lattices[lattice].is_set = true;
        }
        Ok(())
    }

    /// Does an op to several lattices, each in its own stream, after everything issued before.
    pub fn change(&mut self, lattices: &[usize], op: &LatticeOp) -> Result<()> {
        let mut program = Program::default();
        for &i in lattices {
            let op = op.clone().on(LatticeId(i as u32).as_range());
            program.push(self.lattices[i].stream, op);
        }
        self.submit(&program, Kind::Other, 0)
    }

    /// The host slot for whole lattices with this index.
    pub fn snapshot_slot(&self, index: u8) -> Slot {
        Slot(self.spec.pictures() + index)
    }

    /// Downloads every lattice's bits into the whole-lattice slot `index`.
    /// [`Event::Snapshot`] follows. Returns `false` if that slot is being read, or
    /// during a calibration.
    pub fn issue_snapshot(&mut self, index: u8) -> Result<bool> {
        if self.is_calibrating() {
            return Ok(false);
        }
        let (slot, all) = (self.snapshot_slot(index), 0..self.instances());
        let program = self.packed(all, false, |program, stream, lattices| {
            program.push(stream, Op::download(lattices, slot, Transfer::Bits));
        });
        match self.submit(&program, Kind::Snapshot(index), 0) {
            Ok(()) => Ok(true),
            Err(EngineError::SlotBusy) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// A lower limit of generations per round, for tests.
#[cfg(test)]
pub mod limit {
    use std::cell::Cell;

    thread_local! {
        static LONGEST_ROUND: Cell<Option<u32>> = const { Cell::new(None) };
    }

    /// Sets it for this thread.
    pub fn set(max: Option<u32>) {
        LONGEST_ROUND.set(max);
    }

    pub(super) fn get() -> Option<u32> {
        LONGEST_ROUND.get()
    }
}
