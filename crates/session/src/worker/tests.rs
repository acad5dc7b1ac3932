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
    Driver::run(
        small(1),
        vec![Step::Grow(16, 1, None), Step::Grow(8, 1, None)],
    );
    Driver::run(
        small(1),
        vec![Step::Grow(8, 2, None), Step::Grow(8, 1, None)],
    );
}

/// Once the rounds of a move ran past it without an end.
#[test]
fn a_record_that_is_refused_on_the_way_does_not_let_the_move_run_on_for_ever() {
    use driver::{Driver, Step};
    use scripted::{Call, Fault};
    let setup = Setup {
        rounds: Some(3),
        generations_per_round: 4,
        time: TimeSettings::DEFAULT,
        ..small(2)
    };
    let steps = vec![
        Step::Settle,
        Step::Fail(Call::Submit, 5, Fault::OutOfMemory),
        Step::Fail(Call::Submit, 2, Fault::Midway),
        Step::Settle,
        Step::Act(Action::NewSeed),
        draw(0, 1, 1),
    ];
    Driver::run(setup, steps);
}

fn draw(instance: usize, x: u32, y: u32) -> driver::Step {
    driver::Step::Edit(model::Edit {
        instance,
        change: model::Change::Draw {
            cells: [[x, y]].into(),
            alive: true,
        },
        joins: false,
    })
}

/// Once copies were made without an end, and the move never arrived.
#[test]
fn copies_of_two_instances_wait_until_a_move_has_arrived() {
    use driver::{Driver, Step};
    use scripted::{Call, Fault};
    let steps = vec![
        Step::Act(Action::TogglePause),
        Step::SetRule("B36/S23".parse().unwrap()),
        Step::Fail(Call::Submit, 2, Fault::Midway),
        Step::Act(Action::TogglePause),
        Step::Copy(0),
        Step::Copy(1),
        Step::Copy(0),
    ];
    Driver::run(small(2), steps);
}

/// Once B made its round over and over.
#[test]
fn a_move_of_two_halves_ends_where_their_rounds_are_made_in_parts() {
    use driver::{Driver, Step};
    crate::instances::limit::set(Some(2));
    let setup = Setup {
        generations_per_round: 3,
        ..small(2)
    };
    let steps = vec![
        Step::Act(Action::ToggleHalves),
        Step::Settle,
        Step::Act(Action::ResetPanel),
        Step::Act(Action::ResetPanel),
        Step::Act(Action::TogglePause),
        Step::Reading(0, 0, 4),
        Step::Turns(18),
        Step::Act(Action::StepBack),
    ];
    Driver::run(setup, steps);
}
