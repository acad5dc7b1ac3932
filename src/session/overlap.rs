//! How much of a round's work overlaps, and what bounds it.
//!
//! Every op of a round is first run alone, one at a time, which gives its own time; then the same
//! round is run as it is. The factor is the sum of the ops' own times over the time of the round
//! on the device.

use serde::Serialize;

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
    /// The sum of the ops' own times over the time that they took together.
    pub fn factor(&self) -> f64 {
        self.alone_us / self.together_us
    }

    /// The factor that the slowest resource allows, and which it is.
    pub fn most(&self) -> Option<(f64, Resource)> {
        let slowest = self.bounds.first()?;
        Some((self.alone_us / slowest.us, slowest.resource))
    }

    /// Whether streams bring nothing here.
    pub fn is_none(&self) -> bool {
        self.factor() < 1.05
    }
}
