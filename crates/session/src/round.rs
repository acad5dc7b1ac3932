//! The program of a round: every instance advances and downloads once, in its stream.

use std::ops::Range;
use std::sync::Arc;

use crate::instances::MEASURE_SLOTS;
use crate::{Order, PicturePlan, Streams, Switches, Wait};
use engine::{
    EventId, HostMemory, Kernel, LatticeOp, Layout, Op, OrderOp, Program, Scope, Slot, StreamId,
    Transfer,
};
use life::Rule;
use script::CallKind;

/// The settings that a round's program is made from.
#[derive(Clone, Debug)]
pub struct RoundPlan {
    /// The instances to step; instance i is lattice i.
    pub instances: Range<usize>,
    /// The stream of every instance, also of instances that are not stepped.
    pub streams: Vec<StreamId>,
    /// One stream of each device in use.
    pub devices: Vec<StreamId>,
    /// The kernel that steps them.
    pub kernel: &'static Kernel,
    /// The rule.
    pub rule: Rule,
    /// The pictures to download, if any.
    pub picture: Option<PicturePlan>,
    /// The first of [`MEASURE_SLOTS`] slots that measures
    /// go to, if the lattices are measured.
    pub measures: Option<Slot>,
    /// How the round is issued, copied and waited for; the order within a stream is always the same.
    pub switches: Switches,
    /// The user's round, if that is the order.
    pub own: Option<OwnCalls>,
}

/// A round that a user wrote, with the streams and events that its numbers stand for.
#[derive(Clone, Debug)]
pub struct OwnCalls {
    /// Its calls, on items counted from 0: from the plan's first instance on.
    pub round: Arc<script::Round>,
    /// At least as many as it uses.
    pub streams: Vec<StreamId>,
    /// The same of its events.
    pub events: Vec<EventId>,
}

impl RoundPlan {
    /// The instances that a round downloads.
    pub fn downloads(&self) -> Range<usize> {
        match self.picture {
            None => 0..0,
            Some(PicturePlan {
                transfer: Transfer::View,
                only: Some(one),
                ..
            }) if self.instances.contains(&one) => one..one + 1,
            Some(PicturePlan {
                transfer: Transfer::View,
                only: Some(_),
                ..
            }) => 0..0,
            Some(_) => self.instances.clone(),
        }
    }

    /// The program of a round of this many generations with pictures in `slot`.
    pub fn program(&self, generations: u32, slot: Slot) -> Program {
        let mut round = Round {
            plan: self,
            program: Program::default(),
            generations,
            slot,
        };
        let groups = || {
            let groups = self.groups(self.instances.clone());
            groups.map(|group| (self.streams[group.start], group))
        };
        match (self.switches.order, &self.own) {
            // A round that steps nothing only downloads: the user's order has no say in that.
            (Order::Own, Some(own)) if generations > 0 => round.own(own),
            (Order::Depth, _) => {
                for (stream, group) in groups() {
                    round.advance(stream, group.clone());
                    round.whole_picture(stream, &group);
                }
            }
            (Order::Breadth | Order::Own, _) => {
                groups().for_each(|(stream, group)| round.advance(stream, group));
                for phase in 0..PHASES {
                    groups().for_each(|(stream, group)| round.picture(stream, group, phase));
                }
            }
        }
        if self.switches.wait == Wait::All {
            for &stream in &self.devices {
                round
                    .program
                    .push(stream, OrderOp::Synchronize(Scope::Device));
            }
        }
        round.program
    }

    /// Whether its pictures land in page-locked memory.
    pub fn pinned(&self) -> bool {
        self.switches.host_memory == HostMemory::Pinned
    }

    /// The program that downloads every lattice's bits into `slot`.
    pub fn snapshot(&self, slot: Slot) -> Program {
        self.of_all(|program, stream, group| {
            self.pack(program, stream, group.clone());
            program.push(stream, Op::download(ids(group), slot, Transfer::Bits));
        })
    }

    /// The program that measures every lattice's bits and downloads the measures into `slot`.
    pub fn measure_all(&self, slot: Slot) -> Program {
        self.of_all(|program, stream, group| {
            program.push(stream, LatticeOp::Measure.on(ids(group.clone())));
            program.push(stream, Op::download(ids(group), slot, Transfer::Measure));
        })
    }

    /// The program that converts every lattice from its bits into layout `to`.
    pub fn relayout(&self, to: Layout) -> Program {
        self.of_all(|program, stream, group| {
            let lattices = ids(group);
            program.push(stream, LatticeOp::Unpack(to).on(lattices));
        })
    }

    /// The program that packs every lattice's cells into bits.
    pub fn pack_all(&self) -> Program {
        self.of_all(|program, stream, group| self.pack(program, stream, group))
    }

    /// The program of these ops for every lattice.
    fn of_all(&self, ops: impl Fn(&mut Program, StreamId, Range<usize>)) -> Program {
        let mut program = Program::default();
        let groups = self.groups(0..self.streams.len());
        groups.for_each(|group| ops(&mut program, self.streams[group.start], group));
        program
    }

    fn pack(&self, program: &mut Program, stream: StreamId, group: Range<usize>) {
        if self.kernel.layout != Layout::Bits {
            program.push(stream, LatticeOp::Pack.on(ids(group)));
        }
    }

    /// The instances of each op: one, or in a batch all that share a stream.
    fn groups(&self, mut rest: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let batched = self.switches.streams == Streams::Batch;
        std::iter::from_fn(move || {
            let first = rest.next()?;
            while batched && !rest.is_empty() && self.streams[rest.start] == self.streams[first] {
                rest.next();
            }
            Some(first..rest.start)
        })
    }
}

/// The phases of a picture: pack; reduce and measure; download and wait.
const PHASES: u32 = 3;

fn ids(instances: Range<usize>) -> Range<u32> {
    instances.start as u32..instances.end as u32
}

/// A round under construction.
struct Round<'a> {
    plan: &'a RoundPlan,
    program: Program,
    generations: u32,
    slot: Slot,
}

impl Round<'_> {
    /// The calls of a user's round. At its downloads are all ops of a picture, in the download's stream.
    fn own(&mut self, own: &OwnCalls) {
        let instance = |item: u32| {
            let at = self.plan.instances.start + item as usize;
            at..at + 1
        };
        for call in &own.round.calls {
            let stream = own.streams[call.stream as usize];
            match call.kind {
                CallKind::Advance(item) => self.advance(stream, instance(item)),
                CallKind::Download(item) => self.whole_picture(stream, &instance(item)),
                CallKind::Record(event) => {
                    let event = own.events[event as usize];
                    self.program.push(stream, OrderOp::Record(event));
                }
                CallKind::Wait(event) => {
                    let event = own.events[event as usize];
                    self.program.push(stream, OrderOp::Wait(event));
                }
                CallKind::Synchronize => {
                    self.program
                        .push(stream, OrderOp::Synchronize(Scope::Stream));
                }
                // Calls on arrays are in no round of lattices.
                CallKind::Upload(_) | CallKind::Scale(_) => {}
            }
        }
    }

    fn advance(&mut self, stream: StreamId, instances: Range<usize>) {
        if self.generations > 0 {
            let RoundPlan { kernel, rule, .. } = *self.plan;
            self.program.push(
                stream,
                LatticeOp::Advance {
                    kernel: kernel.stepping(rule),
                    rule,
                    generations: self.generations,
                    block: self.plan.switches.block_of(kernel),
                }
                .on(instances.start as u32..instances.end as u32),
            );
        }
    }

    fn whole_picture(&mut self, stream: StreamId, group: &Range<usize>) {
        (0..PHASES).for_each(|phase| self.picture(stream, group.clone(), phase));
    }

    /// A picture's ops, one phase after the other; not every picture needs the first two.
    fn picture(&mut self, stream: StreamId, group: Range<usize>, phase: u32) {
        let wanted = self.plan.downloads();
        let all = group.clone();
        // A round that steps nothing has nothing to measure.
        let measures = self.plan.measures.filter(|_| self.generations > 0);
        let group = group.start.max(wanted.start)..group.end.min(wanted.end);
        let picture = self.plan.picture.filter(|_| !group.is_empty());
        let transfer = picture.map(|picture| picture.transfer);
        match (phase, picture) {
            (0, _) if measures.is_some() => self.plan.pack(&mut self.program, stream, all),
            (0, Some(_)) if transfer != Some(Transfer::Cells) => {
                self.plan.pack(&mut self.program, stream, group);
            }
            (1, _) => {
                if let (Some(Transfer::View), Some(picture)) = (transfer, picture) {
                    let (lattices, region) = (ids(group), picture.region);
                    let reduce = LatticeOp::Reduce(region).on(lattices);
                    self.program.push(stream, reduce);
                }
                if measures.is_some() {
                    self.program.push(stream, LatticeOp::Measure.on(ids(all)));
                }
            }
            (2, _) => {
                if let Some(what) = transfer {
                    let download = Op::download(ids(group), self.slot, what);
                    self.program.push(stream, download);
                }
                if let Some(first) = measures {
                    let slot = Slot(first.0 + self.slot.0 % MEASURE_SLOTS);
                    let download = Op::download(ids(all), slot, Transfer::Measure);
                    self.program.push(stream, download);
                }
                if self.plan.switches.wait == Wait::Each {
                    self.program
                        .push(stream, OrderOp::Synchronize(Scope::Stream));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{ReduceRegion, kernels};

    fn plan(kernel: &str, transfer: Transfer) -> RoundPlan {
        let region = ReduceRegion::of_cells(4, 4);
        RoundPlan {
            instances: 0..2,
            streams: vec![StreamId(0), StreamId(1)],
            devices: vec![StreamId(0)],
            kernel: kernels::find(kernel).unwrap(),
            rule: Rule::LIFE,
            picture: Some(PicturePlan {
                transfer,
                region,
                only: None,
            }),
            measures: None,
            switches: Switches {
                order: Order::Depth,
                ..Switches::DEFAULT
            },
            own: None,
        }
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
        let program = plan("bits", Transfer::Bits).program(1, Slot(0));
        let want = [(0, "bits"), (0, "download"), (1, "bits"), (1, "download")];
        assert_eq!(labels(&program), want);
    }

    #[test]
    fn a_measured_round_packs_once_and_downloads_both() {
        let measured = |kernel, transfer| RoundPlan {
            measures: Some(Slot(5)),
            instances: 0..1,
            ..plan(kernel, transfer)
        };
        let of = |plan: RoundPlan, slot| {
            let program = plan.program(1, Slot(slot));
            let ops = program.steps.iter().map(|step| step.op.label());
            let slots = program.downloads().map(|(_, slot)| slot.0);
            (ops.collect::<Vec<_>>(), slots.collect::<Vec<_>>())
        };
        let bits = of(measured("bits", Transfer::Bits), 2);
        assert_eq!(
            bits,
            (vec!["bits", "measure", "download", "download"], vec![2, 7])
        );
        let view = of(measured("global", Transfer::View), 4);
        let ops = [
            "global", "pack", "reduce", "measure", "download", "download",
        ];
        assert_eq!(view, (ops.to_vec(), vec![4, 6]));
        let none = RoundPlan {
            picture: None,
            ..measured("planar", Transfer::Bits)
        };
        assert_eq!(
            of(none, 0),
            (vec!["planar", "pack", "measure", "download"], vec![5])
        );
        let program = measured("bits", Transfer::Bits).program(0, Slot(0));
        assert_eq!(labels(&program), [(0, "download")], "nothing to measure");
    }

    #[test]
    fn breadth_first_launches_everything_before_the_first_download() {
        let plan = RoundPlan {
            switches: Switches::DEFAULT,
            ..plan("global", Transfer::View)
        };
        let program = plan.program(1, Slot(0));
        let ops = ["global", "pack", "reduce", "download"];
        let want: Vec<_> = ops.iter().flat_map(|&op| [(0, op), (1, op)]).collect();
        assert_eq!(labels(&program), want);
    }

    #[test]
    fn a_batch_is_an_op_for_all_that_share_a_stream() {
        let plan = |streams: Vec<StreamId>, how| RoundPlan {
            instances: 0..streams.len(),
            streams,
            switches: Switches {
                streams: how,
                ..Switches::DEFAULT
            },
            ..plan("resident", Transfer::View)
        };
        let lattices = |plan: &RoundPlan| -> Vec<(&str, u32, u32)> {
            let steps = plan.program(5, Slot(0)).steps.into_iter();
            let of = |op: Op| (op.label(), op.lattices().start, op.lattices().end);
            steps.map(|step| of(step.op)).collect()
        };
        let [a, b] = [StreamId(0), StreamId(1)];
        let ops = ["resident", "pack", "reduce", "download"];
        let all = plan(vec![a; 3], Streams::Batch);
        assert_eq!(lattices(&all), ops.map(|op| (op, 0, 3)));
        let two_devices = plan(vec![a, a, b], Streams::Batch);
        let of_both = ops.map(|op| [(op, 0, 2), (op, 2, 3)]);
        assert_eq!(lattices(&two_devices), of_both.as_flattened());
        let one_stream = plan(vec![a; 3], Streams::One);
        assert_eq!(lattices(&one_stream).len(), 4 * 3);
        let mut one_drawn = all;
        one_drawn.picture.as_mut().unwrap().only = Some(1);
        let wanted = [
            ("resident", 0, 3),
            ("pack", 1, 2),
            ("reduce", 1, 2),
            ("download", 1, 2),
        ];
        assert_eq!(lattices(&one_drawn), wanted);
    }

    #[test]
    fn other_layouts_pack_and_views_reduce() {
        let program = plan("global", Transfer::View).program(3, Slot(0));
        let want = ["global", "pack", "reduce", "download"];
        assert_eq!(labels(&program)[..4], want.map(|label| (0, label)));
    }

    #[test]
    fn a_refresh_has_no_launch_and_one_panel_one_download() {
        let mut plan = plan("bits", Transfer::View);
        plan.picture.as_mut().unwrap().only = Some(1);
        assert_eq!(
            labels(&plan.program(0, Slot(0))),
            [(1, "reduce"), (1, "download")]
        );
    }

    #[test]
    fn cells_cross_the_bus_as_they_are() {
        let program = plan("global", Transfer::Cells).program(1, Slot(0));
        assert_eq!(labels(&program)[..2], [(0, "global"), (0, "download")]);
    }

    #[test]
    fn a_users_round_is_issued_as_written() {
        use CallKind::{Advance, Download, Record, Synchronize, Wait};
        let place = script::Place { line: 1, column: 1 };
        let call = |(stream, kind)| script::Call {
            kind,
            stream,
            place,
        };
        let calls = [
            (0, Advance(0)),
            (0, Advance(1)),
            (0, Record(0)),
            (1, Wait(0)),
            (1, Download(1)),
            (1, Download(0)),
            (1, Synchronize),
        ];
        let mut own = RoundPlan {
            switches: Switches {
                order: Order::Own,
                ..Switches::DEFAULT
            },
            own: Some(OwnCalls {
                round: Arc::new(script::Round {
                    calls: calls.map(call).into(),
                }),
                streams: vec![StreamId(7), StreamId(8)],
                events: vec![EventId(3)],
            }),
            ..plan("global", Transfer::Bits)
        };
        let round = [
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
        assert_eq!(labels(&own.program(1, Slot(0))), round);
        let of_all = [(0, "pack"), (1, "pack"), (0, "download"), (1, "download")];
        assert_eq!(labels(&own.program(0, Slot(0))), of_all, "only pictures");
        own.instances = 2..4;
        let lattices = own.program(1, Slot(0)).steps.into_iter();
        let lattices = lattices.map(|step| step.op.lattices()).take(2);
        assert_eq!(lattices.collect::<Vec<_>>(), [2..3, 3..4], "B's");
        own.own = None;
        own.instances = 0..2;
        let breadth = labels(&own.program(1, Slot(0)));
        assert_eq!(breadth[..2], [(0, "global"), (1, "global")]);
    }

    #[test]
    fn the_host_waits_where_it_is_told_to() {
        let waiting = |wait, order| {
            let switches = Switches {
                wait,
                order,
                ..Switches::DEFAULT
            };
            let plan = RoundPlan {
                switches,
                ..plan("bits", Transfer::Bits)
            };
            let program = plan.program(1, Slot(0));
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
    fn a_plan_leaves_other_instances_alone() {
        let mut plan = plan("bits", Transfer::View);
        plan.instances = 1..2;
        assert!(
            labels(&plan.program(1, Slot(0)))
                .iter()
                .all(|&(stream, _)| stream == 1)
        );
        plan.picture.as_mut().unwrap().only = Some(0);
        assert_eq!(labels(&plan.program(1, Slot(0))), [(1, "bits")]);
    }
}
