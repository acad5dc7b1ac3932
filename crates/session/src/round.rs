//! A round: what it steps, what it is stepped with, and its program: every lattice advances and downloads
//! once, in its stream.

use crate::{Order, PicturePlan, Setting, Streams, Wait};
use engine::{
    DeviceId, EventId, LatticeOp, Layout, Op, OrderOp, Program, Scope, Slot, StreamId, Transfer,
};
use life::Rule;
use script::CallKind;
use std::ops::Range;

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

/// The streams and events that a round's setting takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundStreams<'a> {
    /// The stream of each lattice, including lattices outside the round.
    pub(crate) of: &'a [StreamId],
    /// The number of devices that lattices lie on.
    pub(crate) places: usize,
    /// Those that the numbers of a user's round stand for.
    pub(crate) own: (&'a [StreamId], &'a [EventId]),
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

    /// Its program. On several devices, a user's order is breadth-first.
    pub(crate) fn program(&self, streams: RoundStreams<'_>) -> Program {
        let mut maker = Maker {
            round: self,
            program: Program::default(),
        };
        let (setting, lattices) = (self.setting(), &self.share.lattices);
        let batched = setting.switches.streams == Streams::Batch;
        let groups = || groups(streams.of, lattices.clone(), batched);
        let own = setting.own_calls(lattices.len());
        let own = own.filter(|_| streams.places == 1);
        match (setting.switches.order, own) {
            // A round that steps nothing only downloads: the user's order has no say in that.
            (Order::Own, Some(own)) if self.generations > 0 => maker.own(&own.calls, streams.own),
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
            for (_, count) in shares(streams.of.len(), streams.places) {
                let stream = streams.of[first];
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

pub(crate) fn ids(lattices: Range<usize>) -> Range<u32> {
    lattices.start as u32..lattices.end as u32
}

/// A round's program under construction.
struct Maker<'a> {
    round: &'a Round,
    program: Program,
}

impl Maker<'_> {
    /// The calls of a user's round. At its downloads are all ops of a picture, in the download's stream.
    fn own(&mut self, calls: &[script::Call], (streams, events): (&[StreamId], &[EventId])) {
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
pub(crate) fn shares(instances: usize, devices: usize) -> impl Iterator<Item = (DeviceId, usize)> {
    let share = move |device: usize| device * instances / devices;
    (0..devices)
        .map(move |device| (DeviceId(device as u16), share(device + 1) - share(device)))
        .filter(|(_, count)| *count > 0)
}
