//! What a round is, as a program: every instance advances and downloads once, in its stream.

use crate::engine::{Kernel, LatticeId, Layout, Op, Program, Slot, StreamId, Transfer, Viewport};
use crate::life::Rule;
use crate::session::Order;

/// What the rounds of the moment are made of.
#[derive(Clone, Debug)]
pub struct RoundPlan {
    /// The stream of each instance; instance i is lattice i.
    pub streams: Vec<StreamId>,
    /// What steps them.
    pub kernel: &'static Kernel,
    /// By which rule.
    pub rule: Rule,
    /// What is downloaded, if anything.
    pub picture: Option<PicturePlan>,
    /// In which order the host issues the ops; each stream's own order is the same in both.
    pub order: Order,
}

/// What a round downloads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PicturePlan {
    /// Bits, or the reduced view.
    pub transfer: Transfer,
    /// The part of every lattice that its panel shows; used by [`Transfer::View`] alone.
    pub viewport: Viewport,
    /// The one instance that is drawn, or all; used by [`Transfer::View`] alone.
    pub only: Option<usize>,
}

impl PicturePlan {
    /// Every instance's bits.
    pub const BITS: PicturePlan = PicturePlan {
        transfer: Transfer::Bits,
        viewport: Viewport {
            x0: 0,
            y0: 0,
            step: Viewport::ONE,
            width: 4,
            height: 1,
        },
        only: None,
    };
}

impl RoundPlan {
    /// Which instances a round downloads.
    pub fn downloads(&self) -> std::ops::Range<usize> {
        match self.picture {
            None => 0..0,
            Some(PicturePlan {
                transfer: Transfer::View,
                only: Some(one),
                ..
            }) => one..one + 1,
            Some(_) => 0..self.streams.len(),
        }
    }

    /// A round of so many generations whose pictures land in `slot`.
    pub fn program(&self, generations: u32, slot: Slot) -> Program {
        let wanted = self.downloads();
        let mut program = Program::default();
        let instances = || self.streams.iter().enumerate();
        match self.order {
            Order::Depth => {
                for (i, &stream) in instances() {
                    self.advance(&mut program, stream, i, generations);
                    if wanted.contains(&i) {
                        (0..3).for_each(|phase| self.picture(&mut program, stream, i, slot, phase));
                    }
                }
            }
            Order::Breadth => {
                for (i, &stream) in instances() {
                    self.advance(&mut program, stream, i, generations);
                }
                for phase in 0..3 {
                    for (i, &stream) in instances().filter(|(i, _)| wanted.contains(i)) {
                        self.picture(&mut program, stream, i, slot, phase);
                    }
                }
            }
        }
        program
    }

    /// Every lattice's bits into `slot`.
    pub fn checkpoint(&self, slot: Slot) -> Program {
        let mut program = Program::default();
        for (i, &stream) in self.streams.iter().enumerate() {
            let lattice = LatticeId(i as u32);
            self.pack(&mut program, stream, lattice);
            program.push(
                stream,
                Op::Download {
                    lattice,
                    slot,
                    what: Transfer::Bits,
                },
            );
        }
        program
    }

    /// Every lattice out of its present layout into `to`.
    pub fn relayout(&self, to: Layout) -> Program {
        let mut program = Program::default();
        for (i, &stream) in self.streams.iter().enumerate() {
            program.push(
                stream,
                Op::Unpack {
                    lattice: LatticeId(i as u32),
                    to,
                },
            );
        }
        program
    }

    /// Every lattice's bits made anew from its layout.
    pub fn pack_all(&self) -> Program {
        let mut program = Program::default();
        for (i, &stream) in self.streams.iter().enumerate() {
            self.pack(&mut program, stream, LatticeId(i as u32));
        }
        program
    }

    fn pack(&self, program: &mut Program, stream: StreamId, lattice: LatticeId) {
        if self.kernel.layout != Layout::Bits {
            program.push(stream, Op::Pack(lattice));
        }
    }

    fn advance(&self, program: &mut Program, stream: StreamId, instance: usize, generations: u32) {
        if generations > 0 {
            let first = instance as u32;
            let (kernel, rule) = (self.kernel, self.rule);
            let lattices = first..first + 1;
            program.push(
                stream,
                Op::Advance {
                    kernel,
                    lattices,
                    rule,
                    generations,
                    block: kernel.block(),
                },
            );
        }
    }

    /// A picture's ops, one phase after the other: pack, reduce, download; not every picture
    /// needs the first two.
    fn picture(
        &self,
        program: &mut Program,
        stream: StreamId,
        instance: usize,
        slot: Slot,
        phase: u32,
    ) {
        let Some(PicturePlan {
            transfer: what,
            viewport,
            ..
        }) = self.picture
        else {
            return;
        };
        let lattice = LatticeId(instance as u32);
        match (phase, what) {
            (0, _) => self.pack(program, stream, lattice),
            (1, Transfer::View) => program.push(stream, Op::Reduce { lattice, viewport }),
            (1, _) => {}
            _ => program.push(
                stream,
                Op::Download {
                    lattice,
                    slot,
                    what,
                },
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::kernels;

    fn plan(kernel: &str, transfer: Transfer) -> RoundPlan {
        let viewport = Viewport {
            x0: 0,
            y0: 0,
            step: Viewport::ONE,
            width: 4,
            height: 4,
        };
        RoundPlan {
            streams: vec![StreamId(0), StreamId(1)],
            kernel: kernels::find(kernel).unwrap(),
            rule: Rule::LIFE,
            picture: Some(PicturePlan {
                transfer,
                viewport,
                only: None,
            }),
            order: Order::Depth,
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
    fn breadth_first_launches_everything_before_the_first_download() {
        let plan = RoundPlan {
            order: Order::Breadth,
            ..plan("global", Transfer::View)
        };
        let program = plan.program(1, Slot(0));
        let ops = ["global", "pack", "reduce", "download"];
        let want: Vec<_> = ops.iter().flat_map(|&op| [(0, op), (1, op)]).collect();
        assert_eq!(labels(&program), want);
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
}
