//! Calibration: a round whose ops run one at a time, which gives each op's time without overlap.
//!
//! It is a real round: the lattices advance and its pictures are drawn. But each op is submitted only
//! when the one before it has ended.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Sim;
use super::issue::Kind;
use crate::IsolatedOp;
use crate::round::{Request, Round, Share};
use crate::trace::StepFacts;
use engine::{
    BufferOp, DeviceId, EngineError, LatticeOp, Nanos, Op, Program, Result, Slot, Span, Step,
};

/// A calibration under way.
pub(super) struct Calibration {
    round: Arc<Round>,
    edits: u64,
    left: VecDeque<Step>,
    /// The op that runs; of one on lattices in bands, what each device got.
    running: Vec<IsolatedOp>,
    done: Vec<IsolatedOp>,
}

impl Sim {
    /// Begins a round whose ops run alone, one after the other; what they took comes as
    /// [`Event::Calibrated`](super::Event::Calibrated). No round or snapshot is issued meanwhile. Answers
    /// whether it could begin now: nothing must be in flight. A later op that cannot be submitted is tried
    /// again by the next [`Sim::poll`]; if the first cannot be, no calibration has begun.
    pub fn begin_calibration(
        &mut self,
        share: &Share,
        request: Request,
        newest: impl Fn(Slot) -> bool,
    ) -> Result<bool> {
        if !self.is_idle() {
            return Ok(false);
        }
        if self.is_outside(share) {
            self.enter(share)?;
            return Ok(false);
        }
        let Some(round) = self.round(share, request, newest) else {
            return Ok(false);
        };
        self.note_view(share);
        let mut program = round.program(self.streams_of(&share.setting));
        // Nothing to wait for: each op begins when the one before it has ended.
        let is_work = |op: &Op| !matches!(op, Op::Order(_));
        program.steps.retain(|step| is_work(&step.op));
        self.calibration = Some(Calibration {
            round,
            edits: request.edits,
            left: program.steps.into(),
            running: Vec::new(),
            done: Vec::new(),
        });
        let begun = self.run_next_alone();
        if begun.is_err() {
            self.calibration = None; // nothing has run, so no round has begun
        }
        begun.map(|()| true)
    }

    /// Whether a calibration is under way.
    pub fn is_calibrating(&self) -> bool {
        self.calibration.is_some()
    }

    /// Submits the next op, if none runs.
    pub(super) fn run_next_alone(&mut self) -> Result<()> {
        if !self.in_flight.is_empty() {
            return Ok(());
        }
        let has_ops = |it: &mut Calibration| !it.left.is_empty();
        let Some(mut calibration) = self.calibration.take_if(has_ops) else {
            return Ok(());
        };
        let program = Program {
            steps: vec![calibration.left[0].clone()],
            timed: true,
            band_by_band: true,
            ..Program::default()
        };
        let kind = Kind::IsolatedStep(calibration.round.clone());
        let mut done = self.submit(&program, kind, calibration.edits);
        if done.is_ok() {
            calibration.left.pop_front();
            let running = self.isolated(&program);
            done = running.map(|running| calibration.running = running);
        }
        self.calibration = Some(calibration);
        match done {
            // It is tried again: the round must be completed.
            Err(EngineError::SlotBusy(..)) => Ok(()),
            done => done,
        }
    }

    /// The op of a program that runs alone; of one on lattices in bands, what each device got.
    fn isolated(&mut self, program: &Program) -> Result<Vec<IsolatedOp>> {
        let submitted = self.in_flight.back().expect("it was submitted");
        let facts = submitted.steps.clone();
        let steps: Vec<(DeviceId, Step)> = match self.engine.issued_steps(submitted.run) {
            Some(issued) => issued
                .iter()
                .map(|it| (it.device, it.step.clone()))
                .collect(),
            None => {
                let step = program.steps[0].clone();
                let device = self.device_of(step.op.lattices().start as usize);
                vec![(device, step)]
            }
        };
        let isolated = |((device, step), &facts): ((DeviceId, Step), &StepFacts)| {
            Ok(IsolatedOp {
                facts,
                device,
                took: Nanos(0),
                share: self.share(device, &step.op)?,
            })
        };
        steps.into_iter().zip(&*facts).map(isolated).collect()
    }

    /// Notes an op's time alone. Returns the times of all ops after the last one.
    pub(super) fn measured_alone(&mut self, spans: &[Span]) -> Option<Vec<IsolatedOp>> {
        let calibration = self.calibration.as_mut()?;
        for (step, alone) in (0..).zip(calibration.running.drain(..)) {
            let span = spans.iter().find(|span| span.step == step);
            let took = span.map_or(Nanos(0), |span| span.length());
            calibration.done.push(IsolatedOp { took, ..alone });
        }
        let is_over = |it: &mut Calibration| it.left.is_empty();
        Some(self.calibration.take_if(is_over)?.done)
    }

    /// The fraction of its device's units that an op keeps busy: on a GPU, its blocks of those that
    /// fit at once, and 0 for a copy; on the CPU, one worker.
    fn share(&mut self, device: DeviceId, op: &Op) -> Result<f64> {
        let sm_count = self.engine.devices()[usize::from(device.0)].sm_count;
        if self.engine.name() == "cpu" {
            return Ok(1.0 / f64::from(sm_count.max(1)));
        }
        use LatticeOp::{CopyRows, Download, Upload};
        if let Op::Lattices(_, Upload(_) | Download { .. } | CopyRows { .. })
        | Op::Buffers(BufferOp::Copy { .. }) = op
        {
            return Ok(0.0);
        }
        let occupancy = self.engine.occupancy(device, op)?;
        Ok(occupancy.map_or(1.0, |o| {
            let fit = f64::from(o.blocks_per_sm.max(1)) * f64::from(o.sm_count.max(1));
            (o.blocks as f64 / fit).min(1.0)
        }))
    }
}
