//! A round: what it steps, what it is stepped with, and its program: every lattice advances and downloads
//! once, in its stream.

use std::ops::Range;
use std::sync::Arc;

use crate::{Order, OwnRound, PicturePlan, Setup, Streams, Switches, Wait};
use engine::{
    DeviceId, EventId, HostMemory, Kernel, LatticeOp, Layout, Op, OrderOp, Program, Scope, Slot,
    StreamId, Transfer,
};
use life::Rule;
use script::CallKind;

/// What a round is stepped with: an argument of the round. How many generations it has is not part of
/// it: that changes from round to round.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// How the round is issued, copied and waited for.
    pub switches: Switches,
    /// The round that a user wrote; [`Order::Own`] takes it.
    pub own_round: Option<Arc<OwnRound>>,
}

impl PartialEq for Setting {
    fn eq(&self, other: &Setting) -> bool {
        let own = |it: &Setting| it.own_round.as_ref().map(Arc::as_ptr);
        (self.kernel, self.switches, own(self)) == (other.kernel, other.switches, own(other))
    }
}

impl Setting {
    /// A setup's.
    pub fn of(setup: &Setup) -> Setting {
        Setting {
            kernel: setup.kernel,
            switches: setup.switches,
            own_round: setup.own_round.clone(),
        }
    }

    /// With another kernel, and without the switches that it does not take.
    #[must_use]
    pub fn with_kernel(&self, kernel: &'static Kernel) -> Setting {
        Setting {
            kernel,
            switches: self.switches.fitted_to(kernel),
            ..self.clone()
        }
    }

    /// With other switches.
    #[must_use]
    pub fn with_switches(&self, switches: Switches) -> Setting {
        Setting {
            switches,
            ..self.clone()
        }
    }

    /// These lattices, stepped with it.
    pub fn share(&self, lattices: Range<usize>, picture: Option<PicturePlan>) -> Share {
        Share {
            lattices,
            setting: self.clone(),
            picture,
        }
    }

    pub(crate) fn is_pinned(&self) -> bool {
        self.switches.host_memory == HostMemory::Pinned
    }

    /// Whether one op steps all lattices of a stream, so that all must be in the same one of two buffers.
    pub(crate) fn aligns_buffers(&self) -> bool {
        let has_two = self.kernel.layout != Layout::Bits && !self.kernel.is_in_place();
        self.switches.streams == Streams::Batch && has_two
    }

    /// The calls of the user's round for so many lattices, if that is the order.
    pub(crate) fn own_calls(&self, lattices: usize) -> Option<&Arc<script::Round>> {
        let own = self.own_round.as_ref()?;
        own.round_of(lattices)
            .filter(|_| self.switches.order == Order::Own)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OwnRound, PicturePlan, Switches};
    use engine::{ReduceRegion, kernels};
    use std::sync::Arc;

    const STREAMS: [StreamId; 4] = [StreamId(0), StreamId(1), StreamId(2), StreamId(3)];

    /// A depth-first round of two lattices.
    fn round(kernel: &str, transfer: Transfer) -> Round {
        let switches = Switches {
            order: Order::Depth,
            ..Switches::DEFAULT
        };
        let picture = PicturePlan {
            transfer,
            region: ReduceRegion::of_cells(4, 4),
            only: None,
        };
        let setting = Setting {
            kernel: kernels::find(kernel).unwrap(),
            switches,
            own_round: None,
        };
        Round {
            share: setting.share(0..2, Some(picture)),
            rule: Rule::LIFE,
            generations: 1,
            slot: Slot(0),
            measures: None,
        }
    }

    fn with_switches(mut round: Round, change: impl FnOnce(&mut Switches)) -> Round {
        change(&mut round.share.setting.switches);
        round
    }

    fn showing_only(mut round: Round, lattice: usize) -> Round {
        round.share.picture.as_mut().unwrap().only = Some(lattice);
        round
    }

    fn program_in(round: &Round, streams: &[StreamId]) -> Program {
        round.program(RoundStreams {
            of: streams,
            places: 1,
            own: (&[StreamId(7), StreamId(8)], &[EventId(3)]),
        })
    }

    fn program(round: &Round) -> Program {
        program_in(round, &STREAMS)
    }

    fn labels(program: &Program) -> Vec<(u32, &'static str)> {
        program
            .steps
            .iter()
            .map(|step| (step.stream.0, step.op.label()))
            .collect()
    }

    #[test]
    fn a_round_of_bits_launches_and_downloads() {
        let program = program(&round("bits", Transfer::Bits));
        let want = [(0, "bits"), (0, "download"), (1, "bits"), (1, "download")];
        assert_eq!(labels(&program), want);
    }

    #[test]
    fn a_measured_round_packs_once_and_downloads_both() {
        let measured = |kernel, transfer, slot: u8| {
            let mut round = round(kernel, transfer);
            round.share.lattices = 0..1;
            (round.slot, round.measures) = (Slot(slot), Some(Slot(5 + slot % 3)));
            round
        };
        let of = |round: Round| {
            let program = program(&round);
            let ops = program.steps.iter().map(|step| step.op.label());
            let slots = program.downloads().map(|(_, slot)| slot.0);
            (ops.collect::<Vec<_>>(), slots.collect::<Vec<_>>())
        };
        let bits = of(measured("bits", Transfer::Bits, 2));
        assert_eq!(
            bits,
            (vec!["bits", "measure", "download", "download"], vec![2, 7])
        );
        let view = of(measured("global", Transfer::View, 4));
        let ops = [
            "global", "pack", "reduce", "measure", "download", "download",
        ];
        assert_eq!(view, (ops.to_vec(), vec![4, 6]));
        let mut none = measured("planar", Transfer::Bits, 0);
        none.share.picture = None;
        assert_eq!(
            of(none),
            (vec!["planar", "pack", "measure", "download"], vec![5])
        );
        let mut pictures = measured("bits", Transfer::Bits, 0);
        pictures.generations = 0;
        assert_eq!(
            labels(&program(&pictures)),
            [(0, "download")],
            "nothing to measure"
        );
    }

    #[test]
    fn breadth_first_launches_everything_before_the_first_download() {
        let round = with_switches(round("global", Transfer::View), |it| {
            it.order = Order::Breadth
        });
        let program = program(&round);
        let ops = ["global", "pack", "reduce", "download"];
        let want: Vec<_> = ops.iter().flat_map(|&op| [(0, op), (1, op)]).collect();
        assert_eq!(labels(&program), want);
    }

    #[test]
    fn a_batch_is_an_op_for_all_that_share_a_stream() {
        let lattices = |streams: &[StreamId], how, only: Option<usize>| -> Vec<(&str, u32, u32)> {
            let round = with_switches(round("resident", Transfer::View), |it| {
                (it.streams, it.order) = (how, Order::Breadth);
            });
            let mut round = only.map_or(round.clone(), |only| showing_only(round, only));
            round.share.lattices = 0..streams.len();
            let steps = program_in(&round, streams).steps.into_iter();
            let of = |op: Op| (op.label(), op.lattices().start, op.lattices().end);
            steps.map(|step| of(step.op)).collect()
        };
        let [a, b] = [StreamId(0), StreamId(1)];
        let ops = ["resident", "pack", "reduce", "download"];
        let all = lattices(&[a; 3], Streams::Batch, None);
        assert_eq!(all, ops.map(|op| (op, 0, 3)));
        let two_devices = lattices(&[a, a, b], Streams::Batch, None);
        let of_both = ops.map(|op| [(op, 0, 2), (op, 2, 3)]);
        assert_eq!(two_devices, of_both.as_flattened());
        assert_eq!(lattices(&[a; 3], Streams::One, None).len(), 4 * 3);
        let one_drawn = lattices(&[a; 3], Streams::Batch, Some(1));
        let wanted = [
            ("resident", 0, 3),
            ("pack", 1, 2),
            ("reduce", 1, 2),
            ("download", 1, 2),
        ];
        assert_eq!(one_drawn, wanted);
    }

    #[test]
    fn other_layouts_pack_and_views_reduce() {
        let program = program(&round("global", Transfer::View));
        let want = ["global", "pack", "reduce", "download"];
        assert_eq!(labels(&program)[..4], want.map(|label| (0, label)));
    }

    #[test]
    fn a_refresh_has_no_launch_and_one_panel_one_download() {
        let mut round = showing_only(round("bits", Transfer::View), 1);
        round.generations = 0;
        assert_eq!(labels(&program(&round)), [(1, "reduce"), (1, "download")]);
    }

    #[test]
    fn cells_cross_the_bus_as_they_are() {
        let program = program(&round("global", Transfer::Cells));
        assert_eq!(labels(&program)[..2], [(0, "global"), (0, "download")]);
    }

    #[test]
    fn a_users_round_is_issued_as_written() {
        let script = "for i in 0..N { advance(i, 0); } record(0, 0); wait(0, 1);
            for i in 0..N { download(N - 1 - i, 1); } synchronize(1);";
        let mut own = with_switches(round("global", Transfer::Bits), |it| it.order = Order::Own);
        let script = OwnRound::new(script.into(), 4);
        assert_eq!((script.round().err(), script.half().err()), (None, None));
        own.share.setting.own_round = Some(Arc::new(script));
        let calls = [
            (7, "global"),
            (7, "global"),
            (7, "record"),
            (8, "wait"),
            (8, "pack"),
            (8, "download"),
            (8, "pack"),
            (8, "download"),
            (8, "synchronize"),
        ];
        assert_eq!(labels(&program(&own)), calls);
        own.generations = 0;
        let of_all = [(0, "pack"), (1, "pack"), (0, "download"), (1, "download")];
        assert_eq!(labels(&program(&own)), of_all, "only pictures");
        (own.generations, own.share.lattices) = (1, 2..4);
        let lattices = program(&own).steps.into_iter();
        let lattices = lattices.map(|step| step.op.lattices()).take(2);
        assert_eq!(lattices.collect::<Vec<_>>(), [2..3, 3..4], "B's");
        (own.share.setting.own_round, own.share.lattices) = (None, 0..2);
        let breadth = labels(&program(&own));
        assert_eq!(breadth[..2], [(0, "global"), (1, "global")]);
    }

    #[test]
    fn the_host_waits_where_it_is_told_to() {
        let waiting = |wait, order| {
            let round = with_switches(round("bits", Transfer::Bits), |it| {
                (it.wait, it.order) = (wait, order);
            });
            let program = program(&round);
            let labels = labels(&program).into_iter();
            labels
                .map(|(stream, label)| format!("{}{stream}", &label[..1]))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(waiting(Wait::Each, Order::Depth), "b0 d0 s0 b1 d1 s1");
        assert_eq!(waiting(Wait::Each, Order::Breadth), "b0 b1 d0 s0 d1 s1");
        assert_eq!(waiting(Wait::All, Order::Depth), "b0 d0 b1 d1 s0");
        assert_eq!(waiting(Wait::Poll, Order::Breadth), "b0 b1 d0 d1");
    }

    #[test]
    fn a_round_leaves_other_lattices_alone() {
        let mut round = round("bits", Transfer::View);
        round.share.lattices = 1..2;
        let all = labels(&program(&round));
        assert!(all.iter().all(|&(stream, _)| stream == 1));
        let round = showing_only(round, 0);
        assert_eq!(labels(&program(&round)), [(1, "bits")]);
    }
}
