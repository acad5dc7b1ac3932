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

fn small(instances: usize) -> Setup {
    Setup {
        instances,
        size: Size::new(33, 7).unwrap(),
        time: TimeSettings {
            history_bytes: 0,
            ..TimeSettings::DEFAULT
        },
        ..setup(None)
    }
}

#[test]
fn lattices_asked_to_be_larger_twice_at_once_never_become_smaller() {
    use driver::{Driver, Step};
    Driver::run(small(1), vec![Step::Grow(16, 1, None), Step::Grow(8, 1, None)]);
    Driver::run(small(1), vec![Step::Grow(8, 2, None), Step::Grow(8, 1, None)]);
}
