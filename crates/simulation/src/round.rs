//! The program of a round: every instance advances and downloads once, in its stream.

use std::ops::Range;

use crate::instances::MEASURE_SLOTS;
use engine::{HostMemory, Kernel, Layout, Op, Program, Scope, Slot, StreamId, Transfer};
use life::Rule;
use model::{Order, PicturePlan, Streams, Switches, Wait};

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
        let groups = || self.groups(self.instances.clone());
        match self.switches.order {
            Order::Depth => {
                for group in groups() {
                    round.advance(group.clone());
                    (0..PHASES).for_each(|phase| round.picture(group.clone(), phase));
                }
            }
            Order::Breadth => {
                groups().for_each(|group| round.advance(group));
                for phase in 0..PHASES {
                    groups().for_each(|group| round.picture(group, phase));
                }
            }
        }
        if self.switches.wait == Wait::All {
            for &stream in &self.devices {
                round.program.push(stream, Op::Synchronize(Scope::Device));
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
        self.of_all(|program, group| {
            self.pack(program, group.clone());
            self.download(program, group, slot, Transfer::Bits);
        })
    }

    /// The program that measures every lattice's bits and downloads the measures into `slot`.
    pub fn measure_all(&self, slot: Slot) -> Program {
        self.of_all(|program, group| {
            let stream = self.streams[group.start];
            program.push(stream, Op::Measure(ids(group.clone())));
            self.download(program, group, slot, Transfer::Measure);
        })
    }

    /// The program that converts every lattice from its bits into layout `to`.
    pub fn relayout(&self, to: Layout) -> Program {
        self.of_all(|program, group| {
            let (stream, lattices) = (self.streams[group.start], ids(group));
            program.push(stream, Op::Unpack { lattices, to });
        })
    }

    /// The program that packs every lattice's cells into bits.
    pub fn pack_all(&self) -> Program {
        self.of_all(|program, group| self.pack(program, group))
    }

    /// The program of these ops for every lattice.
    fn of_all(&self, ops: impl Fn(&mut Program, Range<usize>)) -> Program {
        let mut program = Program::default();
        let groups = self.groups(0..self.streams.len());
        groups.for_each(|group| ops(&mut program, group));
        program
    }

    fn download(&self, program: &mut Program, group: Range<usize>, slot: Slot, what: Transfer) {
        let (stream, lattices) = (self.streams[group.start], ids(group));
        program.push(stream, Op::download(lattices, slot, what));
    }

    fn pack(&self, program: &mut Program, group: Range<usize>) {
        if self.kernel.layout != Layout::Bits {
            program.push(self.streams[group.start], Op::Pack(ids(group)));
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
    fn advance(&mut self, instances: Range<usize>) {
        if self.generations > 0 {
            let RoundPlan { kernel, rule, .. } = *self.plan;
            self.program.push(
                self.plan.streams[instances.start],
                Op::Advance {
                    kernel,
                    lattices: instances.start as u32..instances.end as u32,
                    rule,
                    generations: self.generations,
                    block: self.plan.switches.block_of(kernel),
                },
            );
        }
    }

    /// A picture's ops, one phase after the other; not every picture needs the first two.
    fn picture(&mut self, group: Range<usize>, phase: u32) {
        let stream = self.plan.streams[group.start];
        let wanted = self.plan.downloads();
        let all = group.clone();
        // A round that steps nothing has nothing to measure.
        let measures = self.plan.measures.filter(|_| self.generations > 0);
        let group = group.start.max(wanted.start)..group.end.min(wanted.end);
        let picture = self.plan.picture.filter(|_| !group.is_empty());
        let transfer = picture.map(|picture| picture.transfer);
        match (phase, picture) {
            (0, _) if measures.is_some() => self.plan.pack(&mut self.program, all),
            (0, Some(_)) if transfer != Some(Transfer::Cells) => {
                self.plan.pack(&mut self.program, group);
            }
            (1, _) => {
                if let (Some(Transfer::View), Some(picture)) = (transfer, picture) {
                    let (lattices, region) = (ids(group), picture.region);
                    let reduce = Op::Reduce { lattices, region };
                    self.program.push(stream, reduce);
                }
                if measures.is_some() {
                    self.program.push(stream, Op::Measure(ids(all)));
                }
            }
            (2, _) => {
                if let Some(what) = transfer {
                    let (program, slot) = (&mut self.program, self.slot);
                    self.plan.download(program, group, slot, what);
                }
                if let Some(first) = measures {
                    let slot = Slot(first.0 + self.slot.0 % MEASURE_SLOTS);
                    let program = &mut self.program;
                    self.plan.download(program, all, slot, Transfer::Measure);
                }
                if self.plan.switches.wait == Wait::Each {
                    self.program.push(stream, Op::Synchronize(Scope::Stream));
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
        let region = ReduceRegion {
            x0: 0,
            y0: 0,
            step: ReduceRegion::ONE,
            width: 4,
            height: 4,
        };
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
