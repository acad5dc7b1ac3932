//! How much of a round's work overlaps, and what bounds it.
//!
//! Every op of a round is first run alone, one at a time, and then the same round is run as it is. An
//! op's own time is the shorter of both: alone a short op takes longer (it wakes an idle device), and
//! among others an op may wait for what they use. The factor is the sum of the own times over the
//! time of the round. So it is never more than the number of ops that ran at once on average, nor
//! more than the slowest resource allows: a round is taken to last at least as long as that resource
//! needs.

use std::collections::HashMap;

use super::TimedOp;
use session::trace::StepKind;

/// What a round's ops share, and what one of them may be short of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    /// Of which.
    pub resource: Resource,
    /// How long, in microseconds.
    pub us: f64,
}

/// How much of a timed round overlaps.
#[derive(Clone, PartialEq, Debug)]
pub struct Overlap {
    /// The sum of the ops' own times, in microseconds.
    pub alone_us: f64,
    /// The same ops together: the time of the round, in microseconds.
    pub together_us: f64,
    /// What each resource needs at least; the longest first.
    pub bounds: Vec<Bound>,
}

impl Overlap {
    /// Of a round's ops, which took `together_us`, in which the host was inside its calls for
    /// `host_us`.
    pub(crate) fn of(ops: &[TimedOp<'_>], together_us: f64, host_us: f64) -> Overlap {
        let mut streams: HashMap<_, f64> = HashMap::new();
        let mut copies: HashMap<_, f64> = HashMap::new();
        let mut units: HashMap<_, f64> = HashMap::new();
        for op in ops {
            *streams.entry(op.facts.stream).or_default() += op.own_us;
            *units.entry(op.device).or_default() += op.own_us * op.share;
            // A CPU's workers copy as they step.
            if op.facts.kind == StepKind::Download && op.share == 0.0 {
                *copies.entry(op.device).or_default() += op.own_us;
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
            alone_us: ops.iter().map(|op| op.own_us).sum(),
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
}
