//! Losses of an engine, and which devices go on after one: of a session, and of a run.

use crate::DeviceChoice;
use crate::log::Position;
use engine::{EngineError, Result};

/// Losses in a row that are survived.
const MAX_LOSSES: u32 = 3;

/// Losses since the host last had a copy from after one.
#[derive(Default)]
pub struct Losses {
    pub(crate) in_a_row: u32,
    /// The furthest position at a loss.
    at: Option<Position>,
}

impl Losses {
    /// Counts a loss at a position. Returns `false` if there were too many in a row.
    pub fn survive(&mut self, position: Position) -> bool {
        self.in_a_row += 1;
        self.at = self.at.max(Some(position));
        self.in_a_row <= MAX_LOSSES
    }

    /// Forgets them if the host now has a copy from after the furthest one.
    pub fn copied(&mut self, position: Position) {
        if self.at.is_some_and(|at| position > at) {
            *self = Losses::default();
        }
    }

    /// The devices to try after a loss, one after the other. If the CPU `may_take_over`, a device
    /// that is lost again at once is not tried a second time.
    pub fn devices(&self, choice: DeviceChoice, may_take_over: bool) -> Vec<DeviceChoice> {
        match (may_take_over, self.in_a_row) {
            (false, _) => vec![choice],
            (true, 0 | 1) => vec![choice, DeviceChoice::Cpu],
            (true, _) => vec![DeviceChoice::Cpu],
        }
    }
}

/// What `make` gives on the first of these devices that can be used, in the place of what was lost.
///
/// # Errors
/// No device can be used: that of the last one, or what lost it.
pub fn make_again<T>(
    lost: EngineError,
    devices: Vec<DeviceChoice>,
    mut make: impl FnMut(DeviceChoice) -> Result<T>,
) -> Result<T> {
    let mut made = Err(lost);
    for choice in devices {
        made = make(choice);
        match &made {
            Ok(_) => break,
            Err(error) => tracing::warn!("{choice} does not go on: {}", lang::english(error)),
        }
    }
    made
}
