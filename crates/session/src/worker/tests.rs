//! The worker without its thread, turn by turn.

mod driver;
mod random;
mod scripted;

use super::*;
use engine::kernels;
use life::{Rule, Size};
use model::{Action, Pace, Start, Switches, TimeSettings};

fn setup(rounds: Option<u64>) -> Setup {
    Setup {
        instances: 2,
        size: Size::new(96, 64).unwrap(),
        rule: Rule::LIFE,
        start: Start::Soup {
            density: 0.4,
            seed: 3,
        },
        kernel: kernels::find("bits").unwrap(),
        kernel_choice: KernelChoice::Asked,
        device: DeviceChoice::Cpu,
        switches: Switches::DEFAULT,
        generations_per_round: 1,
        pace: Pace::Unthrottled,
        rounds,
        time: TimeSettings::DEFAULT,
    }
}
