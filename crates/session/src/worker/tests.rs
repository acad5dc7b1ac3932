//! The worker without its thread, turn by turn: each thing in an order that chance would rarely
//! bring.

mod driver;
mod expected;
mod logged;
mod oracle;
mod random;

use std::sync::mpsc::{TryRecvError, channel};

use super::*;
use crate::command::Query;
use crate::copies::Snapshot;
use crate::instances::Sim;
use crate::log::{Position, at};
use crate::saved::{Drafts, SavedSession, SavedTimeline};
use crate::scripted_engine::{Call, Fault, Gpus};
use crate::state::MoveReason;
use crate::{
    Change, DeviceChoice, Edit, Pace, PicturePlan, SessionAction, Split, Start, StopWhenStill,
    Streams, Switch, TimeSettings,
};
use driver::{Driver, Step};
use engine::kernels::OwnStepError;
use engine::{EngineError, kernels};
use expected::Alone;
use life::{Lattice, Size};
use tracing::Level;

const TIMEOUT: Duration = Duration::from_secs(240);

fn setup(rounds: Option<u64>) -> Setup {
    let kernel = kernels::find("bits").unwrap();
    Setup {
        start: Start::soup(0.4, 3),
        rounds,
        ..Setup::new(2, Size::new(96, 64).unwrap(), kernel, DeviceChoice::Cpu)
    }
}

/// Two soups so thin that they die down at once, reseeded.
fn dying() -> Setup {
    let mut setup = setup(None);
    setup.time.reseed = true;
    setup.start = Start::soup(0.01, 3);
    setup
}

/// A worker on a real engine, with real time; its background reports to the receiver.
fn worker(setup: Setup) -> Made {
    worker_from(setup, None)
}

/// The same, which continues a saved session, if there is one.
fn worker_from(setup: Setup, from: Option<SavedSession>) -> Made {
    let (sender, received) = channel();
    let (engines, clock) = (Engines::default(), Box::new(Instant::now));
    let worker = SessionWorker::new(setup, from, engines, clock, sender, Box::new(|| {}));
    (worker.unwrap(), received)
}

type Made = (SessionWorker, Receiver<Command>);

/// Turns until this is so.
fn turn_until(made: &mut Made, what: &str, mut so: impl FnMut(&mut SessionWorker) -> bool) {
    let began = Instant::now();
    let (worker, received) = made;
    while !so(worker) {
        assert!(worker.run_once(received), "{what}");
        assert!(began.elapsed() < TIMEOUT, "{what}");
    }
}

fn instances(worker: &SessionWorker) -> &Sim {
    worker.lattices.sim.as_ref().unwrap()
}

fn generation(worker: &SessionWorker) -> u64 {
    worker.state.position().generation
}

fn act(made: &mut Made, action: SessionAction) {
    made.0.dispatch(Command::Act(action));
}

/// The positions of all copies, finished or under way.
fn copies_of(made: &Made) -> Vec<Position> {
    made.0.state.timeline.copies.all_positions().collect()
}

fn save(worker: &mut SessionWorker) -> Receiver<SavedSession> {
    let (query, saved) = Query::new();
    worker.dispatch(Command::Save(query));
    saved
}

/// The session in a form that can be saved, once there is a copy of its lattices.
fn saved_session(made: &mut Made) -> SavedSession {
    let answer = save(&mut made.0);
    let mut saved = None;
    turn_until(made, "a saved session", |_| {
        saved = answer.try_recv().ok();
        saved.is_some()
    });
    saved.unwrap()
}

fn copy(worker: &mut SessionWorker, instance: usize) -> Receiver<(Arc<Lattice>, u64)> {
    let (query, copy) = Query::new();
    worker.dispatch(Command::ReadCells(instance, query));
    copy
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

fn draw(instance: usize, x: u32, y: u32) -> Step {
    Step::Edit(dot(instance, x, y))
}

/// Draws a cell, and has it on the log.
fn draw_now(made: &mut Made, continues_stroke: bool) {
    let edit = Edit {
        continues_stroke,
        ..dot(0, 7, 5)
    };
    let end = made.0.state.log().end();
    made.0.dispatch(Command::Edit(edit, end + 1));
    turn_until(made, "an edit", |worker| {
        worker.state.log().end() > end && worker.state.position().records > end
    });
}

/// Which panel is filled again, once all have been dead for a while.
fn reseeded(made: &mut Made) -> Option<usize> {
    turn_until(made, "all die down", |worker| {
        worker.watch.are_all_settled()
    });
    made.0.reseed_one(Instant::now() + Duration::from_secs(60));
    let commands = made.0.state.queue.iter();
    let asked = commands.into_iter().find_map(|command| match command {
        Command::Reseed { instance, .. } => Some(*instance),
        _ => None,
    });
    turn_until(made, "it is filled", |worker| {
        worker.state.queue.is_empty() && !worker.state.has_records_ahead()
    });
    asked
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

/// Regression test: what a refused size had allocated stayed on the engine, and the lattices that were put
/// back got the memory of another size.
#[test]
fn a_size_that_is_refused_at_any_allocation_leaves_the_lattices_as_they_are() {
    for (call, calls) in (0..6)
        .map(|calls| (Call::Allocate, calls))
        .chain([(Call::Submit, 0)])
    {
        let setup = Setup {
            size: Size::new(128, 4).unwrap(),
            ..small(1)
        };
        let steps = vec![
            Step::Fail(call, calls, Fault::OutOfMemory),
            Step::Act(SessionAction::SetSize(Size::new(33, 8).unwrap())),
        ];
        Driver::run(setup, steps);
    }
}

/// Regression test: the round of the refused calibration was stepped anyway, and its generations were
/// not counted.
#[test]
fn a_calibration_whose_first_op_is_refused_has_not_begun() {
    let steps = vec![
        Step::WatchOverlap(true),
        Step::Act(SessionAction::TogglePause),
        Step::Turns(1),
        Step::Fail(Call::Submit, 2, Fault::OutOfMemory),
        Step::Act(SessionAction::TogglePause),
        Step::Act(SessionAction::TogglePause),
        Step::Act(SessionAction::StepGeneration),
        Step::Act(SessionAction::SetRule("B36/S23".parse().unwrap())),
        Step::Act(SessionAction::TogglePause),
    ];
    Driver::run(small(1), steps);
}

/// Once snapshots were made without an end, and the move never arrived.
#[test]
fn copies_of_two_instances_wait_until_a_move_has_arrived() {
    let steps = vec![
        Step::Act(SessionAction::TogglePause),
        Step::Act(SessionAction::SetRule("B36/S23".parse().unwrap())),
        Step::Fail(Call::Submit, 2, Fault::Midway),
        Step::Act(SessionAction::TogglePause),
        Step::Copy(0),
        Step::Copy(1),
        Step::Copy(0),
    ];
    Driver::run(small(2), steps);
}

/// Regression test: the recovery begins with one instance, and forgot who waits for the second.
#[test]
fn a_copy_is_answered_after_a_recovery_that_begins_with_fewer_instances() {
    let edit = Edit {
        instance: 1,
        change: Change::Draw {
            cells: [[0, 0]].into(),
            alive: false,
        },
        continues_stroke: false,
    };
    let steps = vec![
        Step::Alone(Alone::Command(Box::new(Step::Act(
            SessionAction::SetInstances(2),
        )))),
        Step::OwnKernel("bits", Some(OwnStepError::TooLong)),
        Step::Alone(Alone::CopyAfter(edit)),
    ];
    let setup = Setup {
        time: TimeSettings::DEFAULT,
        ..small(1)
    };
    Driver::run(setup, steps);
}

/// Regression test: B kept a batch with a kernel that has none, and the session was not saved in its file.
#[test]
fn b_is_fitted_to_the_kernel_that_another_size_has() {
    let setup = Setup {
        kernel: kernels::find("resident").unwrap(),
        size: Size::new(32, 32).unwrap(),
        ..small(2)
    };
    let batch = Streams::Batch as u8;
    let steps = vec![
        Step::Act(SessionAction::ToggleComparison),
        Step::Settle,
        Step::Act(SessionAction::SetSwitch(Switch::Streams, batch)),
        Step::Settle,
        Step::Act(SessionAction::SetSize(Size::new(31, 32).unwrap())),
        Step::Settle,
        Step::Save,
    ];
    Driver::run(setup, steps);
}

#[test]
fn who_waits_for_a_copy_gets_it_though_the_slots_are_others_now() {
    let mut made = worker(setup(Some(0)));
    let saved = save(&mut made.0);
    turn_until(&mut made, "a copy under way", |worker| {
        worker
            .state
            .timeline
            .copies
            .all_positions()
            .next()
            .is_some()
    });
    let plan = PicturePlan {
        transfer: engine::Transfer::View,
        region: engine::ReduceRegion::of_cells(4, 1),
        only: None,
    };
    made.0.dispatch(Command::View(plan));
    turn_until(&mut made, "a copy to save", |_| match saved.try_recv() {
        Ok(saved) => saved.main.copies[0].sizes().len() == 2,
        Err(TryRecvError::Empty) => false,
        Err(TryRecvError::Disconnected) => panic!("who waited was forgotten"),
    });
    let saved = save(&mut made.0);
    made.0.fail("no reason".into());
    assert!(saved.try_recv().is_ok(), "the last copy there was");
}

#[test]
fn a_copy_of_an_instance_that_is_not_there_is_refused() {
    let mut made = worker(setup(Some(0)));
    let missing = copy(&mut made.0, 2);
    let there = copy(&mut made.0, 1);
    turn_until(&mut made, "a copy", |_| there.try_recv().is_ok());
    assert_eq!(missing.try_recv(), Err(TryRecvError::Disconnected));
    made.0.fail("no reason".into());
    let missing = copy(&mut made.0, 2);
    assert_eq!(missing.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn a_file_that_was_never_taken_up_is_never_written_over() {
    let mut made = worker(setup(Some(0)));
    let from = saved_session(&mut made);
    let mut made = worker_from(setup(Some(0)), Some(from));
    let waits = save(&mut made.0);
    made.0.fail("no reason".into());
    let late = save(&mut made.0);
    for saved in [waits, late] {
        let answer = saved.try_recv();
        assert!(matches!(answer, Err(TryRecvError::Disconnected)));
    }
}

#[test]
fn a_stroke_is_copied_where_it_begins_and_not_at_each_of_its_segments() {
    let mut made = worker(setup(None));
    turn_until(&mut made, "some rounds", |worker| worker.state.rounds() > 3);
    draw_now(&mut made, false);
    let first = made.0.state.log().record(0).unwrap().generation;
    let before = at(0, first);
    assert!(copies_of(&made).contains(&before));
    let known = copies_of(&made).len();
    for _ in 0..5 {
        let rounds = made.0.state.rounds();
        turn_until(&mut made, "a round", |worker| {
            worker.state.rounds() > rounds
        });
        draw_now(&mut made, true);
    }
    let later = copies_of(&made);
    let more = later.iter().filter(|at| at.records > 0).count();
    assert!(later.len() <= known + more && more <= 2, "{later:?}");
}

#[test]
fn a_lost_engine_goes_on_to_the_generation_that_was_asked_for() {
    let mut made = worker(setup(Some(0)));
    act(&mut made, SessionAction::RunTo(5000));
    turn_until(&mut made, "some rounds", |worker| generation(worker) > 0);
    made.0.handle_error(EngineError::thread_panicked(), true);
    turn_until(&mut made, "the end", |worker| !worker.is_running());
    assert_eq!(generation(&made.0), 5000);
    assert_eq!(instances(&made.0).generation(0), 5000);
}

#[test]
fn a_panel_that_somebody_drew_in_is_never_filled_with_a_soup() {
    let mut made = worker(dying());
    draw_now(&mut made, false);
    for _ in 0..2 {
        assert_eq!(reseeded(&mut made), Some(1));
    }
    // Reset by hand it is a soup as all others, until somebody goes back to before.
    act(&mut made, SessionAction::ResetPanel);
    assert_eq!(reseeded(&mut made), Some(0));
    act(&mut made, SessionAction::Undo);
    act(&mut made, SessionAction::Undo);
    act(&mut made, SessionAction::TogglePause);
    turn_until(&mut made, "it runs", |worker| {
        worker.state.queue.is_empty() && *worker.state.mode() == Mode::Running
    });
    assert_eq!(reseeded(&mut made), Some(1));
}

#[test]
fn what_was_opened_or_asked_empty_is_never_filled_with_a_soup() {
    // Patterns.
    let dead = || Arc::new(Lattice::new(dying().size));
    let patterns = Setup {
        start: Start::Lattices {
            lattices: vec![dead()],
            generation: 0,
        },
        ..dying()
    };
    assert_eq!(reseeded(&mut worker(patterns.clone())), None);
    let empty = Setup {
        start: Start::soup(0.0, 3),
        ..dying()
    };
    assert_eq!(reseeded(&mut worker(empty)), None);
    // A session.
    let at = at(0, 12);
    let main = SavedTimeline {
        log: Log::from_parts(
            SessionParameters::of(&patterns),
            at,
            false,
            Default::default(),
        ),
        position: at,
        copies: vec![Snapshot::new(at, &[dead(), dead()]).unwrap()],
    };
    let session = SavedSession {
        setup: patterns,
        notices: Vec::new(),
        main,
        comparison: None,
        running: true,
        selected: 0,
        drafts: Drafts::default(),
    };
    let mut made = worker_from(dying(), Some(session));
    turn_until(&mut made, "it is open", |worker| {
        !worker.safety_copy.restore_pending && generation(worker) > 12
    });
    assert_eq!(reseeded(&mut made), None);
}

#[test]
fn what_stops_once_all_panels_are_still_fills_none_of_them() {
    let mut setup = dying();
    setup.time.stop_when_still = StopWhenStill::All;
    let mut made = worker(setup);
    turn_until(&mut made, "all die down", |worker| {
        worker.watch.are_all_settled()
    });
    act(&mut made, SessionAction::TogglePause);
    assert_eq!(reseeded(&mut made), None);
}

#[test]
fn looking_for_dead_panels_measures_one_round_in_sixteen_and_tells_nobody() {
    let mut made = worker(dying());
    let (mut rounds, mut measured) = (made.0.state.rounds(), 0);
    let mut was_next = false;
    turn_until(&mut made, "some rounds", |worker| {
        if worker.state.rounds() > rounds {
            assert_eq!(worker.state.rounds(), rounds + 1, "a turn issues one round");
            measured += u32::from(was_next);
            rounds = worker.state.rounds();
        }
        was_next = worker.measures_next();
        rounds == 160
    });
    assert_eq!(measured, 10);
    assert!(
        made.0.watch.status().settled.is_empty(),
        "nobody asked how they go on"
    );
}

#[test]
fn a_session_that_has_ended_says_so_and_does_nothing() {
    let mut made = worker(setup(Some(0)));
    made.0.fail("no reason".into());
    act(&mut made, SessionAction::TogglePause);
    assert!(!made.0.is_running());
    let said = made.0.publisher.take_notice();
    assert_eq!(said, "the session has ended");
    act(&mut made, SessionAction::Select(1));
    assert_eq!(
        made.0.watch.selected, 1,
        "its panels can still be looked at"
    );
}

#[test]
fn a_session_that_has_ended_says_that_it_opens_no_other() {
    let mut made = worker(setup(Some(0)));
    turn_until(&mut made, "the start", |worker| worker.state.cells_known());
    let saved = saved_session(&mut made);
    // What still waits when it ends, and what comes behind that.
    let replace = || {
        let name = "saved.json".into();
        Command::Replace(Box::new(saved.clone()), Default::default(), name)
    };
    let refuses = |worker: &mut SessionWorker| {
        let said = worker.publisher.take_notice();
        said == "nothing was opened: the session has ended; start the program again"
    };
    made.0.dispatch(replace());
    made.0.fail("no reason".into());
    assert!(refuses(&mut made.0));
    made.0.dispatch(replace());
    assert!(refuses(&mut made.0));
}

#[test]
fn a_change_of_the_kernel_says_which_one_steps_now() {
    let mut made = worker(setup(Some(0)));
    let before = made.0.lattices.setup.kernel;
    act(&mut made, SessionAction::NextKernel);
    turn_until(&mut made, "another kernel", |worker| {
        worker.lattices.setup.kernel.name != before.name
    });
    let now = made.0.lattices.setup.kernel;
    let said = made.0.publisher.take_notice();
    assert_eq!(said, format!("kernel {}: {}", now.name, now.title));
}

#[test]
fn where_a_way_has_led_is_said() {
    use SessionAction::{ResetAll, RunTo, StepBack, Undo};
    let mut driver = Driver::new(small(2));
    let says = |driver: &mut Driver, action, words: &str| {
        driver.step(Step::Act(action));
        driver.turn_until_rest();
        let said = driver.worker.publisher.take_notice();
        assert_eq!(said, words);
    };
    says(&mut driver, RunTo(400), "Reached generation 400");
    driver.step(draw(0, 1, 1));
    for (action, words) in [
        (RunTo(900), "Reached generation 900"),
        (Undo, "Back to generation 400, just after the last edit"),
        (Undo, "Undone: the last edit; at generation 400"),
        (RunTo(100), "Back to generation 100"),
        (RunTo(0), "Back to generation 0"),
        (
            StepBack,
            "Already at the start (generation 0); Ctrl+Z undoes the start",
        ),
    ] {
        says(&mut driver, action, words);
    }
    driver.step(Step::Act(RunTo(1000)));
    driver.step(Step::Turns(9));
    let words = "Stopped before generation 1000: the cells were changed";
    says(&mut driver, ResetAll, words);
}

#[test]
fn a_panel_that_was_filled_again_is_named_for_a_while() {
    let mut made = worker(dying());
    let now = Instant::now();
    assert!(made.0.make_status(now).panels.reseeded.is_empty());
    let instance = reseeded(&mut made).unwrap();
    assert_eq!(*made.0.make_status(now).panels.reseeded, [instance]);
    assert!(!made.0.watch.forget_reseeds(now));
    let later = Instant::now() + 2 * crate::NOTICE_TIME;
    assert!(made.0.watch.forget_reseeds(later));
    assert!(made.0.make_status(later).panels.reseeded.is_empty());
}

#[test]
fn what_is_computed_again_is_no_pause_and_has_no_rates() {
    let mut made = worker(setup(None));
    turn_until(&mut made, "some rounds", |worker| generation(worker) > 2);
    let now = Instant::now();
    assert_eq!(made.0.make_status(now).clock.recomputing, None);
    let target = made.0.state.position();
    let reason = MoveReason::Opening;
    made.0.state.begin_move(target, reason, Mode::Paused);
    made.0.state.time_move(now);
    // Most are over before anyone sees them.
    assert_eq!(made.0.make_status(now).clock.recomputing, None);
    let status = made.0.make_status(now + Duration::from_secs(1));
    let recomputing = status.clock.recomputing.unwrap();
    assert_eq!(
        (recomputing.target, recomputing.percent),
        (target.generation, 0)
    );
    assert_eq!(status.rates.rounds_per_second, 0.0);
}

#[test]
fn no_session_is_through_while_generations_are_computed_again() {
    let mut made = worker(setup(Some(0)));
    turn_until(&mut made, "the end", |worker| {
        worker.make_status(Instant::now()).clock.finished
    });
    let target = made.0.state.position();
    let reason = MoveReason::Opening;
    made.0.state.begin_move(target, reason, Mode::Paused);
    assert!(!made.0.make_status(Instant::now()).clock.finished);
}

#[test]
fn a_session_that_has_ended_answers_from_the_last_lattices() {
    let mut made = worker(setup(Some(0)));
    let copy_of_all = saved_session(&mut made).main.copies.pop().unwrap();
    let (position, known) = (copy_of_all.position, copy_of_all.lattices().unwrap());
    // One is asked for before the end and waits, behind what waits for the launch under way, and
    // one comes after it.
    act(&mut made, SessionAction::NewSeed);
    let early = copy(&mut made.0, 0);
    made.0.fail("no reason".into());
    let late = copy(&mut made.0, 1);
    act(&mut made, SessionAction::NewSeed);
    for (copy, known) in [early, late].iter().zip(&known) {
        let copy = copy.try_recv().expect("an answer");
        assert!(copy.0 == *known && copy.1 == position.generation);
    }
    assert!(made.0.state.queue.is_empty());
}

#[test]
fn a_refused_request_is_logged_as_information_and_a_loss_as_a_warning() {
    let mut driver = Driver::new(small(1));
    driver.step(Step::Settle);
    let lines = logged::of(|| {
        for action in [
            SessionAction::Undo,
            SessionAction::Redo,
            SessionAction::ToggleComparison,
        ] {
            driver.step_and_settle(Step::Act(action));
        }
    });
    let refused = [
        "Nothing to undo",
        "Nothing to redo",
        "A and B need two instances or more; start with --instances 2",
    ];
    assert_eq!(lines, refused.map(|text| (Level::INFO, text.to_owned())));
    driver.step(Step::Fail(Call::Submit, 0, Fault::Midway));
    let lines = logged::of(|| driver.step(Step::Act(SessionAction::StepGeneration)));
    assert_eq!(lines, [], "nothing has happened yet");
    let lines = logged::of(|| driver.step(Step::Settle));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0].0, Level::WARN);
    assert!(lines[0].1.starts_with("The engine was lost"), "{lines:?}");
}

#[test]
fn failures_one_after_the_other_end_the_session() {
    let mut made = worker(setup(None));
    let refused = || EngineError::DriverOutOfMemory("cuLaunchKernel");
    made.0.handle_error(refused(), true);
    assert!(!made.0.is_running() && made.0.health.ended().is_none());
    assert!(
        made.0.health.halted().is_some(),
        "somebody may have it go on"
    );
    act(&mut made, SessionAction::TogglePause);
    turn_until(&mut made, "a round", |worker| worker.state.rounds() > 0);
    assert!(made.0.is_running() && made.0.health.halted().is_none());
    for _ in 0..8 {
        made.0.handle_error(refused(), true);
    }
    assert!(made.0.health.ended().is_some(), "it would go on for ever");
}

#[test]
fn losses_one_after_the_other_end_the_session_and_it_keeps_answering() {
    let mut driver = Driver::new(small(2));
    driver.step(Step::Turns(9));
    for _ in 0..4 {
        driver.step(Step::Fail(Call::Submit, 0, Fault::Lost));
        driver.step(Step::Turns(4));
    }
    assert!(driver.worker.health.ended().is_some());
    driver.step(Step::Settle);
}

/// Regression test: the lost GPU was opened again for larger lattices, and for smaller ones when
/// growing was undone.
#[test]
fn lattices_grow_and_shrink_again_on_the_devices_that_a_recovery_left() {
    for (device, left, split) in [
        (DeviceChoice::CudaOrdinal(0), Gpus::AllLost, Split::Auto),
        (DeviceChoice::Cuda, Gpus::AllLost, Split::On),
        (DeviceChoice::Cuda, Gpus::OneLost, Split::Auto),
        (DeviceChoice::Cuda, Gpus::OneLost, Split::On),
    ] {
        let mut driver = Driver::new(Setup {
            device,
            split,
            time: TimeSettings::DEFAULT,
            ..small(2)
        });
        driver.step(Step::Turns(9));
        driver.script.set_gpus(left);
        driver.step(Step::Fail(Call::Submit, 0, Fault::Lost));
        driver.step_and_settle(Step::Turns(9));
        let before = driver.worker.lattices.setup.size;
        let after = Size::new(38, 10).unwrap();
        for (action, size) in [
            (SessionAction::SetSize(after), after),
            (SessionAction::Undo, before),
            (SessionAction::Redo, after),
        ] {
            driver.step_and_settle(Step::Act(action));
            let found = driver.worker.lattices.setup.size;
            assert_eq!(found, size, "{device:?} {left:?}");
            let is_split = instances(&driver.worker).engine().is_split();
            let has_several = (split, left) == (Split::On, Gpus::OneLost);
            assert_eq!(is_split, has_several, "{device:?} {left:?}");
        }
    }
}

/// Whatever order a round of the user's own has, no cell is lost with the device.
#[test]
fn a_round_of_ones_own_goes_on_after_a_lost_device() {
    let round = "for i in 0..N { advance(i, 0); record(i, 0); wait(i, 1); download(i, 1); }";
    let on_one = small(4);
    let on_several = Setup {
        device: DeviceChoice::Cuda,
        split: Split::On,
        ..small(4)
    };
    for after in 0..8 {
        for (fault, setup) in [(Fault::Lost, &on_one), (Fault::Midway, &on_several)] {
            let mut driver = Driver::new(setup.clone());
            let (query, answer) = Query::new();
            let command = Command::SetOwnRound(round.into(), query);
            driver.worker.dispatch(command);
            driver.step(Step::Settle);
            answer.try_recv().unwrap().unwrap();
            driver.step(Step::Act(SessionAction::TogglePause));
            driver.step(draw(1, 2, 2));
            driver.step(Step::Fail(Call::Submit, after, fault));
            driver.step_and_settle(Step::Turns(200));
            assert_eq!(driver.script.failed(), 1);
            let setup = &driver.worker.lattices.setup;
            assert_eq!(setup.switches.order, crate::Order::Own);
        }
    }
}

/// Whatever was lost, exactly as many rounds are made as were asked for.
#[test]
fn rounds_that_were_lost_are_made_again_and_counted_once() {
    let mut made = worker(setup(Some(400)));
    turn_until(&mut made, "a copy", |worker| {
        worker.state.rounds() > 20
            && worker
                .state
                .timeline
                .copies
                .all_positions()
                .next()
                .is_some()
    });
    let lose = |made: &mut Made| {
        made.0.handle_error(
            EngineError::PartiallyApplied(EngineError::NoThread.reason()),
            true,
        )
    };
    lose(&mut made);
    for _ in 0..2 {
        turn_until(&mut made, "the end", |worker| {
            !worker.is_running()
                && worker.state.moving().is_none()
                && worker.make_status(Instant::now()).clock.finished
        });
        assert_eq!(generation(&made.0), 400);
        assert_eq!(instances(&made.0).generation(0), 400);
        assert_eq!(made.0.state.rounds(), 400);
        // All of them were issued, and the last were lost.
        lose(&mut made);
    }
}

/// Regression test: the session ended with an error, because the slots were still those for bits.
#[test]
fn cells_wanted_just_before_another_kernel_find_slots_for_them() {
    let view = PicturePlan {
        transfer: engine::Transfer::Cells,
        ..PicturePlan::BITS
    };
    let global = kernels::find("global").unwrap().index() as u8;
    let steps = vec![
        Step::Act(SessionAction::UseKernel(global)),
        Step::View(view),
        Step::Turns(20),
    ];
    Driver::run(small(1), steps);
}

/// Regression test: after such an end of the comparison, all instances were still stepped as one.
#[test]
fn a_comparison_ends_though_there_is_no_memory_for_other_slots() {
    let view = PicturePlan {
        transfer: engine::Transfer::View,
        ..PicturePlan::BITS
    };
    let steps = vec![
        Step::Act(SessionAction::ToggleComparison),
        Step::View(view),
        Step::Act(SessionAction::TogglePause),
        Step::Settle,
        Step::Act(SessionAction::TogglePause),
        Step::Act(SessionAction::ToggleComparison),
        Step::Fail(Call::Allocate, 0, Fault::OutOfMemory),
        Step::Settle,
    ];
    let mut driver = Driver::new(small(3));
    steps.into_iter().for_each(|step| driver.step(step));
    assert!(driver.worker.comparison.is_none());
}

/// Regression test: the only copy at the pinned position was given up for one of a later position, and
/// the session went on from that one.
#[test]
fn a_comparison_leads_back_though_there_is_no_memory_for_history() {
    let mut setup = small(2);
    setup.time.history_bytes = 700;
    let mut driver = Driver::new(setup);
    for x in 0..4 {
        driver.step_and_settle(draw(0, x, 0));
    }
    for to in [400, 300] {
        driver.step_and_settle(Step::Act(SessionAction::RunTo(to)));
    }
    let before = driver.worker.state.position();
    for _ in 0..2 {
        driver.step_and_settle(Step::Act(SessionAction::ToggleComparison));
    }
    assert!(driver.worker.comparison.is_none());
    assert_eq!(driver.worker.state.position(), before);
}

/// Regression test: B's cells were saved as they were a part of a round earlier.
#[test]
fn a_comparison_saved_in_the_middle_of_a_round_in_parts_has_bs_cells_of_that_generation() {
    crate::instances::limit::set(Some(2));
    let setup = Setup {
        generations_per_round: 4,
        ..small(2)
    };
    let steps = vec![
        Step::Act(SessionAction::ToggleComparison),
        Step::Act(SessionAction::StepBack),
        Step::Act(SessionAction::RunTo(12)),
        Step::Turns(29),
        Step::Turns(8),
        Step::Act(SessionAction::StepBack),
        Step::Act(SessionAction::TogglePause),
        Step::Act(SessionAction::TogglePause),
        Step::Turns(15),
        Step::Save,
        Step::Settle,
    ];
    Driver::run(setup, steps);
}

#[test]
fn equal_settings_are_compared_once_while_nothing_is_asked() {
    let mut made = worker(Setup {
        pace: Pace::PerSecond(1000.0),
        ..small(2)
    });
    turn_until(&mut made, "a round", |worker| {
        worker.lab.statistics.rounds() > 1
    });
    assert!(made.0.lattices.trial.is_none());
    let last = made.0.lab.last_command.unwrap();
    made.0.lab.last_command = Some(last - Duration::from_secs(10));
    let is_measuring = |worker: &mut SessionWorker| worker.lattices.trial.is_some();
    turn_until(&mut made, "a comparison", is_measuring);
    turn_until(&mut made, "its end", |worker| worker.lab.spread.is_some());
    assert!(made.0.lab.spread.is_some_and(|factor| factor >= 1.0));
    assert_eq!(made.0.lab.last_effect, None, "nothing was changed");
    let rounds = made.0.lab.statistics.rounds();
    turn_until(&mut made, "more rounds", |worker| {
        worker.lab.statistics.rounds() > rounds + 5
    });
    assert!(made.0.lattices.trial.is_none(), "once");
}
