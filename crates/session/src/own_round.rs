//! A round that a user wrote: its script, and the calls that it makes for the present instances.

use std::sync::Arc;

use lang::Message;
use script::{Place, Round, Verdict, Work};

/// A round that a user wrote, for a number of instances.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnRound {
    /// The script.
    pub source: Arc<str>,
    /// How many instances it is made for.
    pub instances: usize,
    /// What it orders, or why it cannot run.
    pub round: Result<Arc<Round>, OwnRoundError>,
    /// The same for half as many instances, as a comparison of A and B steps on each side.
    pub half: Result<Arc<Round>, OwnRoundError>,
}

/// Why a round cannot run: what is wrong first.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnRoundError {
    /// Where in the script, if it has a place.
    pub place: Option<Place>,
    /// What.
    pub message: Message,
}

impl OwnRound {
    /// Runs a script for this many instances, and checks what it orders.
    pub fn new(source: Arc<str>, instances: usize) -> OwnRound {
        let made = |instances| made(&source, instances);
        OwnRound {
            round: made(instances),
            half: made(instances / 2),
            instances,
            source,
        }
    }

    /// What it orders for so many instances: those that it is made for, or half as many. `None` if that
    /// is not right, or unknown.
    pub fn round_of(&self, instances: usize) -> Option<&Arc<Round>> {
        match instances {
            all if all == self.instances => self.round.as_ref().ok(),
            half if half == self.instances / 2 => self.half.as_ref().ok(),
            _ => None,
        }
    }
}

fn made(source: &str, instances: usize) -> Result<Arc<Round>, OwnRoundError> {
    let verdict = Verdict::of(source, Work::Lattices, instances as u32, &[]);
    let (place, message) = match &verdict.faults {
        Err(error) => (error.place, &error.message),
        Ok(faults) => match faults.first() {
            None => return Ok(Arc::new(verdict.round)),
            Some(fault) => (fault.places().first().copied(), &fault.message),
        },
    };
    let message = message.clone();
    Err(OwnRoundError { place, message })
}

/// Whether [`Order::Own`] can be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OwnOrder {
    /// No round was written.
    #[default]
    Unwritten,
    /// The round that was written is not right for the present number of instances.
    Wrong,
    /// Several devices compute.
    SeveralDevices,
    /// It can.
    Available {
        /// Whether the host waits in the round.
        synchronizes: bool,
    },
}

impl OwnOrder {
    /// Of a round that steps this many instances, where so many devices compute.
    pub fn of(round: Option<&OwnRound>, instances: usize, devices: usize) -> OwnOrder {
        match round.map(|round| round.round_of(instances)) {
            None => OwnOrder::Unwritten,
            Some(None) => OwnOrder::Wrong,
            Some(Some(_)) if devices > 1 => OwnOrder::SeveralDevices,
            Some(Some(round)) => OwnOrder::Available {
                synchronizes: round.synchronizes(),
            },
        }
    }
}
