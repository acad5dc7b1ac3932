//! The worker without its thread, turn by turn: each thing in an order that chance would rarely
//! bring.

mod driver;
mod expected;
mod oracle;
mod order;
mod random;

use super::*;
use crate::instances::Sim;
use crate::log::at;
use crate::scripted_engine::{Call, Fault, Gpus, Issued};
use crate::state::MoveReason;
use crate::{Change, Edit, Split, Start, StopWhenStill, Switch, TimeSettings, Wait};
use driver::{Driver, Reopen, Step};
use engine::{EngineError, EventId, Op, OrderOp, Scope, StreamId, kernels};
use expected::Alone;
use life::{Lattice, Size};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{TryRecvError, channel};

fn setup(rounds: Option<u64>) -> Setup {
    let kernel = kernels::find("bits").unwrap();
    Setup {
        start: Start::soup(0.4, 3),
        rounds,
        ..Setup::new(2, Size::new(96, 64).unwrap(), kernel, DeviceChoice::Cpu)
    }
}

/// Small lattices with a history as short as can be.
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

/// A worker on a real engine, with real time, which continues a saved session, if there is one.
fn worker_from(setup: Setup, from: Option<SavedSession>) -> Made {
    let (sender, received) = channel();
    let (engines, clock) = (Engines::default(), Box::new(Instant::now));
    let worker = SessionWorker::new(setup, from, engines, clock, sender, Box::new(|| {}));
    (worker.unwrap(), received)
}

type Made = (SessionWorker, Receiver<Command>);

fn instances(worker: &SessionWorker) -> &Sim {
    worker.sim.as_ref().unwrap()
}

fn generation(worker: &SessionWorker) -> u64 {
    worker.state.position.generation
}

fn act(worker: &mut SessionWorker, action: SessionAction) {
    worker.dispatch(Command::Act(action));
}

fn save(worker: &mut SessionWorker) -> Receiver<SavedSession> {
    let (query, saved) = channel();
    worker.dispatch(Command::Save(query));
    saved
}

/// A session at its start.
fn saved() -> SavedSession {
    let mut driver = Driver::new(setup(Some(0)));
    let saved = save(&mut driver.worker);
    driver.step(Step::Settle);
    saved.try_recv().unwrap()
}

fn dot(instance: usize, x: u32, y: u32) -> Edit {
    Edit {
        instance,
        change: Change::Draw {
            cells: [[x, y]].into(),
            alive: true,
        },
        continues_stroke: false,
    }
}

/// The last one says at which generation it ends, too.
#[test]
#[rustfmt::skip]
fn what_once_went_wrong_does_not_come_back() {
    use SessionAction::*;
    use Step::{Act, Fail, Settle, Turns, View};
    let rule = Act(SetRule("B36/S23".parse().unwrap()));
    let resize = |width, height| Act(SetSize(Size::new(width, height).unwrap()));
    let view = |transfer| View(PicturePlan { transfer, ..PicturePlan::BITS });
    let with_history = |setup: Setup| Setup { time: TimeSettings::DEFAULT, ..setup };
    let lost = || Fail(Call::Poll, 0, Fault::Lost);
    let copy_after = |of, lost| Step::Alone(Alone::CopyAfter(dot(of, 1, 1), lost));
    // What a refused size had allocated stayed on the engine, and the lattices that were put back got the
    // memory of another size.
    let refused = |call, calls| {
        let size = Size::new(128, 4).unwrap();
        let steps = vec![Fail(call, calls, Fault::OutOfMemory), resize(33, 8)];
        (Setup { size, ..small(1) }, steps)
    };
    let mut histories: Vec<_> = (0..6).map(|calls| refused(Call::Allocate, calls)).collect();
    histories.push(refused(Call::Submit, 0));
    histories.extend([
        // The round of a refused calibration was stepped anyway, and its generations were not counted.
        (small(1), vec![
            Step::WatchOverlap(true), Act(TogglePause), Turns(1),
            Fail(Call::Submit, 2, Fault::OutOfMemory), Act(TogglePause), Act(TogglePause),
            Act(StepGeneration), rule.clone(), Act(TogglePause),
        ]),
        // Snapshots were made without an end, and the move never arrived.
        (small(2), vec![
            Act(TogglePause), rule, Fail(Call::Submit, 2, Fault::Midway), Act(TogglePause),
            Step::Copy(0), Step::Copy(1), Step::Copy(0),
        ]),
        // The recovery begins with one instance, and forgot who waits for the second.
        (with_history(small(1)), vec![
            Step::Alone(Alone::Command(Box::new(Act(SetInstances(2))))),
            Step::OwnKernel("bits".into(), 1),
            copy_after(1, None),
        ]),
        // The session ended with an error, because the slots were still those for bits.
        (small(1), vec![
            Act(UseKernel(kernels::find("global").unwrap().index() as u8)),
            view(engine::Transfer::Cells), Turns(20),
        ]),
        // After an end of the comparison for lack of memory, all instances were still stepped as one.
        (small(3), vec![
            Act(ToggleComparison), view(engine::Transfer::View), Act(TogglePause), Settle,
            Act(TogglePause), Act(ToggleComparison), Fail(Call::Allocate, 0, Fault::OutOfMemory),
        ]),
        // Only the first half was ever converted back, and asked for its pictures without an end.
        (Setup { setting: small(2).setting.with_kernel(kernels::find("planar").unwrap()), ..small(2) }, vec![
            Act(ToggleComparison), Fail(Call::Allocate, 1, Fault::OutOfMemory),
            Step::OwnKernel("bits".into(), 0), Settle, Act(ToggleComparison),
        ]),
        // The log was saved as redone, with the position from before the redo.
        (small(2), vec![
            Step::Edit(dot(1, 0, 0)), Act(Undo), Settle, Act(StepRound), Settle,
            Fail(Call::Submit, 0, Fault::Refused), Act(Redo),
        ]),
        // The rung stood in for a kernel from a file, and was given a block that the kernel does not take.
        (small(1), vec![
            Fail(Call::Submit, 3, Fault::Midway), Step::OwnKernel("shared".into(), 0), Act(StepRound),
            Step::Reload(Reopen::InPlace), Act(CycleSwitch(Switch::Block)), Step::Reload(Reopen::AtStart),
        ]),
        // An edit that was undone before it could be applied counted as one still to be shown, for ever.
        (small(3), vec![
            Act(ResetPanel), Turns(6), Step::Edit(dot(0, 0, 0)), Act(Faster),
            Fail(Call::Submit, 0, Fault::Midway), Step::Save,
            Step::Alone(Alone::Command(Box::new(Act(NextKernel)))), Act(Undo),
        ]),
        // Slots were replaced before the copy in them was read: who waited for it got cells of the step after it.
        (small(2), vec![
            Step::OwnKernel("shared".into(), 0), Turns(12), Act(ToggleComparison), view(engine::Transfer::Cells),
            Fail(Call::Allocate, 1, Fault::OutOfMemory), Act(StepRoundBack), copy_after(0, None),
        ]),
        // A copy that had arrived from after three losses was not read before the next one, which ended the session.
        (small(1), vec![lost(), lost(), lost(), copy_after(0, Some(15))]),
        // Exactly as many rounds are made as were asked for, whatever was lost.
        (with_history(Setup { rounds: Some(400), ..small(2) }), vec![
            Fail(Call::Submit, 60, Fault::Midway), Turns(2000), lost(),
        ]),
    ]);
    let mut end = 0;
    for (setup, steps) in histories {
        let mut driver = Driver::new(setup);
        steps.into_iter().for_each(|step| driver.step(step));
        driver.step(Step::Settle);
        assert!(!driver.worker.is_comparing() || driver.script.failed() == 0);
        end = generation(&driver.worker);
    }
    assert_eq!(end, 400);
}

/// Whatever fails on the way back to fewer lattices, B's switches come again with the comparison; and leaving it
/// does not pause.
#[test]
fn a_comparison_comes_again_as_it_was_and_is_left_while_rounds_go_on() {
    use SessionAction::{RunTo, SetInstances, SetSize, SetSwitch, ToggleComparison, TogglePause};
    let setup = Setup {
        time: TimeSettings::DEFAULT,
        ..small(2)
    };
    for after in 0..4 {
        let mut driver = Driver::new(setup.clone());
        let act = |driver: &mut Driver, action| {
            driver.step(Step::Act(action));
            driver.turn_until_rest();
        };
        act(&mut driver, RunTo(20));
        act(&mut driver, SetInstances(4));
        act(&mut driver, ToggleComparison);
        act(&mut driver, SetSwitch(Switch::Wait, 1));
        act(&mut driver, SetSize(Size::new(34, 7).unwrap()));
        let b = driver.worker.changed_setting().switches;
        assert_eq!(b.wait, Wait::Each);
        driver.step(Step::Fail(Call::Submit, after, Fault::OutOfMemory));
        act(&mut driver, RunTo(5));
        assert!(!driver.worker.is_comparing());
        act(&mut driver, RunTo(40));
        assert_eq!(driver.worker.changed_setting().switches, b);
        driver.step(Step::Act(TogglePause));
        driver.step(Step::Turns(9));
        driver.step(Step::Act(ToggleComparison));
        driver.step(Step::Turns(60));
        assert!(!driver.worker.is_comparing());
        assert!(driver.worker.is_running());
    }
}

/// A lost GPU is not opened again for another session.
#[test]
fn a_session_is_opened_on_the_devices_that_a_recovery_left() {
    for (device, left, split) in [
        (DeviceChoice::CudaOrdinal(0), Gpus::AllLost, Split::Auto),
        (DeviceChoice::Cuda, Gpus::AllLost, Split::On),
        (DeviceChoice::Cuda, Gpus::OneLost, Split::On),
    ] {
        let mut driver = Driver::new(Setup {
            device,
            split,
            ..small(2)
        });
        *driver.script.gpus.lock() = left;
        driver.step(Step::Fail(Call::Submit, 0, Fault::Lost));
        driver.step_and_settle(Step::Turns(9));
        driver.step(Step::Reload(Reopen::InPlace));
        let is_split = instances(&driver.worker).engine().is_split();
        assert_eq!(is_split, left == Gpus::OneLost, "{device:?}");
    }
}

#[test]
fn a_stroke_is_copied_where_it_begins_and_not_at_each_of_its_segments() {
    let mut driver = Driver::new(setup(None));
    let mut copies = Vec::new();
    for x in 0..6 {
        driver.step(Step::Turns(9));
        driver.step(Step::Edit(Edit {
            continues_stroke: x > 0,
            ..dot(0, x, 5)
        }));
        driver.step(Step::Turns(30));
        copies = driver.worker.state.copies.all_positions().collect();
    }
    let first = driver.worker.state.log.record(0).unwrap().generation;
    assert!(copies.contains(&at(0, first)), "{copies:?}");
    let later = copies.iter().filter(|it| it.records > 0);
    assert!(later.count() <= 2, "{copies:?}");
}

#[test]
fn what_is_computed_again_is_neither_a_pause_nor_the_end_and_has_no_rates() {
    let mut worker = worker_from(setup(Some(0)), None).0;
    let now = Instant::now();
    let target = worker.state.position;
    worker
        .state
        .begin_move(target, MoveReason::Opening, Mode::Paused);
    worker.state.time_move(now);
    // Most are over before anyone sees them.
    let recomputing = [0, 1].map(|seconds| {
        let status = worker.make_status(now + Duration::from_secs(seconds));
        let is_counted = status.clock.finished || status.rates.rounds_per_second > 0.0;
        assert!(!is_counted);
        status.clock.recomputing.map(|it| (it.target, it.percent))
    });
    assert_eq!(recomputing, [None, Some((target.generation, 0))]);
}

/// Its panels can still be looked at. That it answers those who wait is what the random histories show.
#[test]
fn a_session_that_has_ended_says_so_and_does_nothing_else() {
    let worker = &mut Driver::new(setup(Some(0))).worker;
    let replace = || {
        let name = "saved.json".into();
        Command::Replace(Box::new(saved()), Default::default(), name)
    };
    // Some is asked for before the end and waits, behind what waits for the launch under way.
    act(worker, SessionAction::NewSeed);
    let (query, beyond) = channel();
    worker.dispatch(Command::ReadCells(2, query));
    worker.dispatch(replace());
    worker.fail("no reason".into());
    worker.next();
    let says = |worker: &mut SessionWorker, words: &str| {
        let said = worker.publisher.message().map(ToString::to_string);
        worker.publisher.notice = None;
        assert_eq!(said.unwrap_or_default(), words);
    };
    let opens_none = "nothing was opened: the session has ended; start the program again";
    says(worker, opens_none);
    worker.dispatch(replace());
    says(worker, opens_none);
    act(worker, SessionAction::TogglePause);
    says(worker, "the session has ended");
    assert!(!worker.is_running() && worker.state.queue.is_empty());
    act(worker, SessionAction::Select(1));
    assert_eq!(worker.watch.selected, 1);
    assert_eq!(beyond.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn a_file_that_was_never_taken_up_is_never_written_over() {
    let mut worker = worker_from(setup(Some(0)), Some(saved())).0;
    let waits = save(&mut worker);
    worker.fail("no reason".into());
    worker.next();
    for saved in [waits, save(&mut worker)] {
        let answer = saved.try_recv();
        assert!(matches!(answer, Err(TryRecvError::Disconnected)));
    }
}

#[test]
fn failures_one_after_the_other_end_the_session_and_it_keeps_answering() {
    let mut driver = Driver::new(small(2));
    driver.step(Step::Turns(9));
    let refused = || EngineError::DriverOutOfMemory("cuLaunchKernel");
    driver.worker.handle_error(refused(), true);
    let health = |driver: &Driver| {
        let worker = &driver.worker;
        (worker.halted.is_some(), worker.ended.is_some())
    };
    assert_eq!(health(&driver), (true, false), "somebody may have it go on");
    driver.step(Step::Act(SessionAction::TogglePause));
    driver.step(Step::Turns(9));
    assert_eq!(health(&driver), (false, false));
    (0..8).for_each(|_| driver.worker.handle_error(refused(), true));
    assert!(health(&driver).1, "it would go on for ever");
    let mut driver = Driver::new(small(2));
    driver.step(Step::Turns(9));
    for _ in 0..4 {
        driver.step(Step::Fail(Call::Submit, 0, Fault::Lost));
        driver.step(Step::Turns(4));
    }
    assert!(health(&driver).1);
    driver.step(Step::Settle);
}

#[test]
fn equal_settings_are_compared_once_while_nothing_is_asked() {
    let mut driver = Driver::new(Setup {
        pace: Pace::PerSecond(1000.0),
        ..small(2)
    });
    driver.step(Step::Turns(20));
    assert!(driver.worker.trial.is_none());
    driver.step(Step::Pass(Duration::from_secs(10)));
    driver.step(Step::Turns(9));
    assert!(driver.worker.trial.is_some());
    while driver.worker.lab.spread.is_none() && driver.turn() {}
    assert!(driver.worker.lab.spread.is_some_and(|factor| factor >= 1.0));
    assert_eq!(driver.worker.lab.last_effect, None, "nothing was changed");
    driver.step(Step::Pass(Duration::from_secs(10)));
    driver.step(Step::Turns(90));
    assert!(driver.worker.trial.is_none(), "once");
}

// Whether what an engine was given orders all work on a lattice: by streams, by events, or by the host.

/// How far each stream has come, as another one knows.
type Clock = HashMap<StreamId, u32>;

fn learn(clock: &mut Clock, other: &Clock) {
    for (&stream, &count) in other {
        let known = clock.entry(stream).or_default();
        *known = count.max(*known);
    }
}

/// Checks that every two ops on one lattice are ordered.
pub(super) fn check_order(all: &[Issued]) {
    let mut streams: HashMap<StreamId, Clock> = HashMap::new();
    let mut events: HashMap<EventId, Clock> = HashMap::new();
    let mut host = Clock::new();
    let mut last: HashMap<u32, (StreamId, u32, &str)> = HashMap::new();
    for Issued {
        program, is_graph, ..
    } in all
    {
        if program.steps.is_empty() || *is_graph {
            // What comes before a graph is done before it, and so on.
            streams.values().for_each(|clock| learn(&mut host, clock));
        }
        for step in program.steps.iter().filter(|_| !is_graph) {
            let clock = streams.entry(step.stream).or_default();
            learn(clock, &host);
            let count = clock.entry(step.stream).or_default();
            *count += 1;
            let count = *count;
            match step.op {
                Op::Order(OrderOp::Record(event)) => drop(events.insert(event, clock.clone())),
                Op::Order(OrderOp::Wait(event)) => learn(clock, &events[&event]),
                Op::Order(OrderOp::Synchronize(Scope::Stream)) => learn(&mut host, clock),
                _ => {}
            }
            for lattice in step.op.lattices() {
                let now = (step.stream, count, step.op.label());
                if let Some(before) = last.insert(lattice, now) {
                    let known = clock.get(&before.0).copied().unwrap_or(0);
                    let is_ordered = known >= before.1;
                    assert!(
                        is_ordered,
                        "{now:?} is not behind {before:?} on lattice {lattice}"
                    );
                }
            }
        }
    }
}
