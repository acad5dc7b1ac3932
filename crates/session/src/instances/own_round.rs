//! The round that a user wrote: its streams and events, and the order between it and other work.
//!
//! Work on a lattice is otherwise always in the lattice's own stream, so that it is in order by itself.
//! A user's round may advance a lattice in one stream and download it in another, and the next round,
//! edits and snapshots are in others again. Before a program is issued while others are in flight, each
//! of its streams waits for the streams that last worked on the same lattices ([`Instances::join`]): an
//! event for each stream waited for, and a wait for each pair of streams. A round that works on every
//! lattice in one stream, always the same, needs none. With a stream that computes and one that copies
//! it is one event and one wait a round; the next round's first launch waits for the round's last copy
//! then. These are a program of their own, which is never timed: they are not the user's calls.

use std::sync::Arc;

use super::Instances;
use crate::round::OwnCalls;
use crate::{Order, OwnRound, Streams};
use engine::{DeviceId, EventId, OrderOp, Program, Result, StreamId, StreamSpec, nvtx};

/// Streams and events of users' rounds: created when a round first needs them, and used again by others.
#[derive(Default)]
pub(super) struct OwnStreams {
    streams: Vec<StreamId>,
    events: Vec<EventId>,
    /// Events that order programs.
    joins: Vec<EventId>,
    /// The stream of the last work on each lattice; empty until there are streams. All earlier work on
    /// the lattice comes before that.
    last: Vec<StreamId>,
}

impl OwnStreams {
    /// Notes where a program works, which the engine has accepted.
    pub(super) fn issued(&mut self, program: &Program) {
        for step in &program.steps {
            for lattice in step.op.lattices() {
                if let Some(last) = self.last.get_mut(lattice as usize) {
                    *last = step.stream;
                }
            }
        }
    }
}

impl Instances {
    /// Sets the round that plans in the order [`Order::Own`] take.
    ///
    /// # Errors
    /// The engine cannot create its streams.
    pub fn set_own_round(&mut self, own_round: Option<Arc<OwnRound>>) -> Result<()> {
        self.set_alternative(None)?;
        self.forget_prepared();
        self.own_round = own_round;
        self.plan_own_round()
    }

    /// Gives every plan in that order the round for as many instances as it steps. Without one, or on
    /// several devices, such a plan is breadth-first.
    pub(super) fn plan_own_round(&mut self) -> Result<()> {
        let is_alone = self.engine.places() == 1;
        for at in 0..self.plans.len() {
            let plan = &self.plans[at];
            let is_own = plan.switches.order == Order::Own && is_alone;
            let own = self.own_round.as_ref().filter(|_| is_own);
            let round = own.and_then(|own| own.round_of(plan.instances.len()));
            let own = round.cloned().map(|round| self.own_calls(round));
            self.plans[at].own = own.transpose()?;
        }
        Ok(())
    }

    fn own_calls(&mut self, round: Arc<script::Round>) -> Result<OwnCalls> {
        let own = &mut self.own_streams;
        while own.streams.len() < round.streams() as usize {
            let stream = self.engine.create_stream(DeviceId(0), StreamSpec::PLAIN)?;
            if nvtx::is_attached() {
                let name = Streams::PerInstance.stream_name(own.streams.len() as u32, None);
                self.engine.name_stream(stream, &name);
            }
            own.streams.push(stream);
        }
        while own.events.len() < round.events() as usize {
            own.events.push(self.engine.create_event(DeviceId(0))?);
        }
        if own.last.is_empty() {
            own.last = self.plans[0].streams.clone();
        }
        Ok(OwnCalls {
            round,
            streams: own.streams.clone(),
            events: own.events.clone(),
        })
    }

    /// Has a program that is about to be issued wait for work in flight on the same lattices in other
    /// streams. Within the program, the first op on a lattice comes before its others.
    pub(super) fn join(&mut self, program: &Program) -> Result<()> {
        let own = &mut self.own_streams;
        if own.last.is_empty() || self.in_flight.is_empty() {
            return Ok(()); // what is not in flight is done
        }
        let mut pairs = Vec::new();
        let mut is_joined = vec![false; own.last.len()];
        for step in &program.steps {
            for lattice in step.op.lattices() {
                let last = own.last[lattice as usize];
                let is_first = !std::mem::replace(&mut is_joined[lattice as usize], true);
                if is_first && last != step.stream {
                    pairs.push((last, step.stream));
                }
            }
        }
        if pairs.is_empty() {
            return Ok(());
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut joins = Program::default();
        for (at, waits) in pairs.chunk_by(|a, b| a.0 == b.0).enumerate() {
            if at == own.joins.len() {
                own.joins.push(self.engine.create_event(DeviceId(0))?);
            }
            let event = own.joins[at];
            joins.push(waits[0].0, OrderOp::Record(event));
            for &(_, stream) in waits {
                joins.push(stream, OrderOp::Wait(event));
            }
        }
        // Nobody asks for its completion: what comes behind it is later.
        self.engine.submit(&joins).map(drop)
    }
}
