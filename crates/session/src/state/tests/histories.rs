//! Random histories: whatever is asked at whatever moment, and whatever fails, every request is
//! taken in its turn, no edit is lost, and the cells are those that follow from what was asked.
//!
//! `LIFESTREAMS_HISTORIES` says how many, `LIFESTREAMS_SEED` which the first one is. One that
//! fails is made as short as it can be before it is shown.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::super::*;
use super::choices::{Choices, shrunk};
use super::model::{Model, Outcome, ensure};

/// How many there are in the gate.
const HISTORIES: u64 = 10_000;

/// More turns than any queue takes once nothing fails.
const MAX_TURNS: usize = 4_000;

fn from_environment(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |text| text.parse().expect("a number"))
}

/// Lives through one, until everything asked is done, undone and redone.
fn live_through(model: &mut Model) -> Outcome {
    let turns = 30 + model.choices.below(70);
    for _ in 0..turns {
        if model.choices.below(4) == 3 {
            model.ask_something();
        }
        model.turn()?;
        if model.has_ended {
            return Ok(());
        }
    }
    model.is_calm = true;
    come_to_rest(model)?;
    if model.has_ended {
        return Ok(());
    }
    let (end, here) = (model.state.log.end(), model.state.position);
    let mut undone = 0;
    loop {
        let before = model.state.position;
        model.enqueue(Request::Undo);
        come_to_rest(model)?;
        if model.state.position == before {
            break; // nothing is left, or nothing leads there
        }
        undone += 1;
        ensure!(undone <= 2 * end + 2, "undo without an end");
    }
    for _ in 0..undone {
        model.enqueue(Request::Redo);
        come_to_rest(model)?;
    }
    ensure!(
        model.state.log.end() == end,
        "redo has not brought all back"
    );
    ensure!(
        model.state.position == here,
        "redo leads to {:?}, not {here:?}",
        model.state.position
    );
    Ok(())
}

fn come_to_rest(model: &mut Model) -> Outcome {
    for _ in 0..MAX_TURNS {
        if model.turn()? || model.has_ended {
            return Ok(());
        }
        let runs = matches!(model.state.mode, Mode::Running);
        if runs && model.state.requests.is_empty() {
            model.enqueue(Request::TogglePause);
        }
    }
    Err(format!("no rest: {:?}", model.state.mode))
}

fn outcome(choices: Choices) -> (Outcome, Vec<u64>) {
    let mut model = Model::new(choices);
    let lived = catch_unwind(AssertUnwindSafe(|| live_through(&mut model)));
    let lived = lived.unwrap_or_else(|_| Err("a panic".into()));
    (lived, std::mem::take(&mut model.choices.tape))
}

#[test]
fn whatever_happens_the_cells_are_those_that_follow_from_what_was_asked() {
    let count = from_environment("LIFESTREAMS_HISTORIES", HISTORIES);
    let first = from_environment("LIFESTREAMS_SEED", 0);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let live = |thread: u64| {
        (first + thread..first + count)
            .step_by(threads as usize)
            .find_map(|seed| {
                let (lived, tape) = outcome(Choices::random(seed));
                lived.err().map(|_| (seed, tape))
            })
    };
    let failed = std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads)
            .map(|at| scope.spawn(move || live(at)))
            .collect();
        all.into_iter()
            .filter_map(|thread| thread.join().unwrap())
            .min()
    });
    let Some((seed, tape)) = failed else {
        return;
    };
    let fails = |tape: &[u64]| outcome(Choices::from_tape(tape)).0.is_err();
    let tape = shrunk(tape, fails);
    show(seed, &tape);
}

/// Lives through a history once more, and says what happens in it.
fn show(seed: u64, tape: &[u64]) -> ! {
    let mut model = Model::new(Choices::from_tape(tape));
    model.is_reported = true;
    let lived = live_through(&mut model);
    panic!("history {seed}: {lived:?}; shortened to {tape:?}");
}
