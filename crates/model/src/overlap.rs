//! How much of a round's work overlaps, what bounds it, and why nothing does.
//!
//! Every op of a round is first run alone, one at a time, which gives its own time; then the same
//! round is run as it is. The factor is the sum of the ops' own times over the time of the round
//! on the device. What each resource needs at least comes from the same times of the ops. A short
//! op takes longer alone than among others (it wakes an idle device, and is bounded by events), which
//! would make the factor too large, but never larger than the slowest resource allows: a round is
//! taken to last at least as long as that resource needs.

use std::collections::HashMap;

use serde::Serialize;

use crate::trace::{StepFacts, StepKind};
use crate::{Order, Status, Streams, Switches, Wait};
use engine::{DeviceId, HostMemory, Nanos};

/// What a round's ops share, and what one of them may be short of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// The host: its calls come one after the other.
    Host,
    /// The engine that copies to the host: one copy at a time.
    CopyEngine,
    /// The multiprocessors (or the CPU's workers), were they all kept busy.
    Units,
    /// The longest stream: its ops come one after the other.
    Stream,
}

/// The least time that a round's work needs of a resource.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Bound {
    /// Of which.
    pub resource: Resource,
    /// How long, in microseconds.
    pub us: f64,
}

/// An op that ran alone.
#[derive(Clone, Copy, Debug)]
pub struct IsolatedOp {
    /// What it is.
    pub facts: StepFacts,
    /// Which device it ran on.
    pub device: DeviceId,
    /// How long it took, as bounded by events.
    pub took: Nanos,
    /// Which part of the device's units it keeps busy, from 0 to 1.
    pub share: f64,
}

/// What a calibration found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Overlap {
    /// The sum of the ops' own times, each run alone, in microseconds.
    pub alone_us: f64,
    /// The same ops together, from the first's start to the last's end, in microseconds.
    pub together_us: f64,
    /// What each resource needs at least; the longest first.
    pub bounds: Vec<Bound>,
}

impl Overlap {
    /// Of ops that were run alone, and a round of them that took `together_us`, in which the host
    /// was inside its calls for `host_us`.
    pub fn of(alone: &[IsolatedOp], together_us: f64, host_us: f64) -> Overlap {
        let mut streams: HashMap<_, f64> = HashMap::new();
        let mut copies: HashMap<_, f64> = HashMap::new();
        let mut units: HashMap<_, f64> = HashMap::new();
        for op in alone {
            let us = op.took.as_us();
            *streams.entry(op.facts.stream).or_default() += us;
            *units.entry(op.device).or_default() += us * op.share;
            if op.facts.kind == StepKind::Download {
                *copies.entry(op.device).or_default() += us;
            }
        }
        let longest = |sums: &mut dyn Iterator<Item = f64>| sums.fold(0.0, f64::max);
        let mut bounds = vec![
            (Resource::Host, host_us),
            (Resource::CopyEngine, longest(&mut copies.into_values())),
            (Resource::Units, longest(&mut units.into_values())),
            (Resource::Stream, longest(&mut streams.into_values())),
        ];
        bounds.retain(|(_, us)| *us > 0.0);
        bounds.sort_by(|a, b| b.1.total_cmp(&a.1));
        Overlap {
            alone_us: alone.iter().map(|op| op.took.as_us()).sum(),
            together_us,
            bounds: bounds
                .into_iter()
                .map(|(resource, us)| Bound { resource, us })
                .collect(),
        }
    }

    /// How long a round is taken to last, in microseconds: at least as long as the slowest resource
    /// needs.
    pub fn round_us(&self) -> f64 {
        let slowest = self.bounds.first().map_or(0.0, |slowest| slowest.us);
        self.together_us.max(slowest)
    }

    /// The sum of the ops' own times over the time that they took together; at most what the
    /// slowest resource allows.
    pub fn factor(&self) -> f64 {
        self.alone_us / self.round_us()
    }

    /// Whether more overlap is impossible: the slowest resource is busy (nearly) all the time.
    pub fn is_at_the_bound(&self) -> bool {
        let bound = self.upper_bound();
        bound.is_some_and(|(most, _)| most < 1.05 * self.factor())
    }

    /// The factor that the slowest resource allows, and which it is.
    pub fn upper_bound(&self) -> Option<(f64, Resource)> {
        let slowest = self.bounds.first()?;
        Some((self.alone_us / slowest.us, slowest.resource))
    }

    /// Whether ops hardly overlap: the factor is below 1.05.
    pub fn is_negligible(&self) -> bool {
        self.factor() < 1.05
    }

    /// Why ops with these settings, in several streams, do not overlap.
    fn cause_of_none(&self, switches: Switches, engine: &str) -> NoOverlap {
        let slowest = self.bounds.first();
        match slowest.filter(|bound| bound.us >= BUSY * self.round_us()) {
            // All memory of the CPU engine is alike.
            _ if switches.host_memory == HostMemory::Pageable && engine != "cpu" => {
                NoOverlap::PageableCopies
            }
            _ if switches.wait == Wait::Each && switches.order == Order::Depth => {
                NoOverlap::HostWaits
            }
            Some(bound) => NoOverlap::Bound(bound.resource),
            None => NoOverlap::Delayed,
        }
    }
}

/// The part of a round from which on a resource that is busy for so long is what bounds it.
const BUSY: f64 = 0.75;

/// Why the ops of a round do not overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoOverlap {
    /// There is one instance, and so one stream.
    OneInstance,
    /// All instances share one stream.
    OneStream,
    /// One launch steps all instances, and one copy downloads them.
    Batch,
    /// The host waits in each copy to pageable memory.
    PageableCopies,
    /// The host waits for each instance before it issues the next one's ops.
    HostWaits,
    /// This resource is busy all the time.
    Bound(Resource),
    /// The round was delayed by the host or by other programs.
    Delayed,
}

impl NoOverlap {
    /// Why the ops of this session's rounds do not overlap: by its settings or, where those let
    /// them, by what was measured; `None` if they do overlap or that is not measured yet.
    pub fn of(status: &Status) -> Option<NoOverlap> {
        let switches = status.setting.switches;
        if status.engine.devices.len() == 1 {
            match switches.streams {
                _ if status.lattices.instances == 1 => return Some(NoOverlap::OneInstance),
                Streams::One | Streams::Default => return Some(NoOverlap::OneStream),
                Streams::Batch => return Some(NoOverlap::Batch),
                Streams::PerInstance => {}
            }
        }
        let measured = status.lab.overlap.as_ref();
        let negligible = measured.filter(|overlap| overlap.is_negligible())?;
        Some(negligible.cause_of_none(switches, status.engine.name))
    }
}
