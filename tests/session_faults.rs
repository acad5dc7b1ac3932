//! Faults of the driver in whatever a session does: each session goes on, or ends in a sentence,
//! and what it saves is, cell by cell, what its log says.
#![allow(unsafe_code)] // the environment is set before any other thread is there

mod driver;

use std::ffi::CString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::kernels;
use libloading::Library;
use life::{Lattice, Rule, Size, reference};
use model::{
    Action, Change, DeviceChoice, Edit, KernelChoice, Pace, Setup, Start, Status, Switch, Switches,
    TimeSettings,
};
use session::log::{Content, Log, Position};
use session::{SavedSession, SavedTimeline, Session};

const INSTANCES: usize = 3;
const LIMIT: Duration = Duration::from_secs(120);

/// What a session is doing when a fault strikes.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Activity {
    Running,
    Stroke,
    Undo,
    StepBack,
    RunTo,
    Compare,
    Graphs,
    Lesson,
    Save,
    NewSeed,
    Grow,
}

const ACTIVITIES: [Activity; 11] = [
    Activity::Running,
    Activity::Stroke,
    Activity::Undo,
    Activity::StepBack,
    Activity::RunTo,
    Activity::Compare,
    Activity::Graphs,
    Activity::Lesson,
    Activity::Save,
    Activity::NewSeed,
    Activity::Grow,
];

/// The calls that a session makes, each with the codes that it answers: out of memory, and an
/// error that a context does not survive.
const FAULTS: [(&str, &[i32]); 11] = [
    ("cuLaunchKernel", &[2, 700]),
    ("cuMemcpyDtoHAsync_v2", &[2, 700]),
    ("cuMemcpyHtoDAsync_v2", &[2, 700]),
    ("cuMemcpyHtoD_v2", &[2, 700]),
    ("cuEventRecord", &[2, 700]),
    ("cuEventQuery", &[2, 700]),
    ("cuStreamWaitEvent", &[2, 700]),
    ("cuMemAlloc_v2", &[2]),
    ("cuMemHostAlloc", &[2]),
    ("cuGraphLaunch", &[2, 700]),
    ("cuGraphInstantiate_v2", &[2]),
];

/// The fake driver in this process.
struct Driver(Library);

impl Driver {
    fn start() -> Driver {
        let path = driver::library();
        // SAFETY: this program has this one test, and it has started nothing yet.
        unsafe {
            std::env::set_var("LIFESTREAMS_LIBCUDA", &path);
            std::env::set_var("FAKE_CUDA_RECOVERS", "1");
        }
        // SAFETY: our own library.
        Driver(unsafe { Library::new(path) }.unwrap())
    }

    /// Arms a fault, or none; whether the one before has struck.
    fn arm(&self, fault: &str) -> bool {
        let text = CString::new(fault).unwrap();
        // SAFETY: the function takes a text that it copies.
        unsafe {
            let arm = self
                .0
                .get::<unsafe extern "C" fn(*const std::ffi::c_char) -> i32>(b"fake_cuda_arm\0");
            arm.unwrap()(text.as_ptr()) != 0
        }
    }
}

fn session(switches: Switches) -> Session {
    let setup = Setup {
        instances: INSTANCES,
        size: Size::new(45, 37).unwrap(),
        rule: Rule::LIFE,
        start: Start::Soup {
            density: 0.4,
            seed: 11,
        },
        kernel: kernels::find("bits").unwrap(),
        kernel_choice: KernelChoice::Asked,
        device: DeviceChoice::CudaOrdinal(0),
        switches,
        generations_per_round: 1,
        pace: Pace::PerSecond(400.0),
        rounds: None,
        time: TimeSettings::DEFAULT,
    };
    Session::start(setup, || {}).unwrap()
}

fn stroke(session: &Session, from: u32) {
    for x in from..from + 4 {
        session.edit(Edit {
            instance: 1,
            change: Change::Draw {
                cells: Arc::new([[x % 45, 7], [x % 45, 8]]),
                alive: true,
            },
            joins: x != from,
        });
    }
}

/// What comes before the fault is armed.
fn prepare(activity: Activity, session: &Session) {
    reach(session, 6);
    match activity {
        Activity::Undo => {
            stroke(session, 3);
            reach(session, session.status().generation + 6);
        }
        Activity::StepBack | Activity::RunTo | Activity::Grow => {
            session.act(Action::TogglePause);
            wait_for("the pause", session, |status| !status.running);
        }
        _ => {}
    }
}

fn act(activity: Activity, session: &Session) {
    let now = session.status().generation;
    match activity {
        Activity::Running | Activity::Graphs => reach(session, now + 12),
        Activity::Stroke => stroke(session, 20),
        Activity::Undo => {
            session.act(Action::Undo);
            session.act(Action::Undo);
            session.act(Action::Redo);
        }
        Activity::StepBack => (0..3).for_each(|_| {
            session.act(Action::StepBack);
        }),
        Activity::RunTo => {
            session.act(Action::RunTo(now + 40));
        }
        Activity::Compare => {
            session.act(Action::ToggleHalves);
            std::thread::sleep(Duration::from_millis(30));
            session.act(Action::ToggleHalves);
        }
        Activity::Lesson => {
            session.act(Action::PauseForLesson(true));
            session.act(Action::PauseForLesson(false));
        }
        Activity::Save => drop(session.saved().recv_timeout(LIMIT)),
        Activity::NewSeed => {
            session.act(Action::NewSeed);
            stroke(session, 5);
        }
        Activity::Grow => {
            session.grow(Size::new(70, 50).unwrap(), None);
            stroke(session, 9);
        }
    }
}

#[test]
fn no_fault_of_the_driver_loses_or_changes_a_cell() {
    let driver = Driver::start();
    let (mut struck, mut ended, mut all) = (0, 0, 0);
    for activity in ACTIVITIES {
        for (call, codes) in FAULTS {
            for &code in codes {
                if call.starts_with("cuGraph") != (activity == Activity::Graphs) {
                    continue;
                }
                for after in [0, 5] {
                    let fault = format!("{call}:{code}:{after}:1");
                    let what = format!("{fault} while {activity:?}");
                    let session = session(Switches {
                        graphs: activity == Activity::Graphs,
                        ..Switches::DEFAULT
                    });
                    prepare(activity, &session);
                    let before = session.status().generation;
                    driver.arm(&fault);
                    act(activity, &session);
                    let (saved, failed) = settled(&session);
                    all += 1;
                    struck += usize::from(driver.arm(""));
                    ended += usize::from(failed.is_some());
                    let saved = saved.unwrap_or_else(|| panic!("{what}: nothing was saved"));
                    check(&what, &saved);
                    // A call that was refused stops the run, and says so.
                    let halted = session.status().halted.is_some();
                    if activity == Activity::RunTo && failed.is_none() && !halted {
                        assert_eq!(saved.main.position.generation, before + 40, "{what}");
                    }
                }
            }
        }
    }
    println!("{all} sessions, {struck} faults struck, {ended} sessions ended by them");
    assert!(struck * 3 > all, "{struck} faults of {all} struck");
}

/// Pauses a session once it is where it wants to be, and what it saves then; and why it has
/// ended, if it has.
fn settled(session: &Session) -> (Option<SavedSession>, Option<String>) {
    // What was asked for and every recovery come first.
    let status = wait_for("the end of what was asked", session, |status| {
        status.failed.is_some() || status.time.run_to.is_none()
    });
    if status.running && status.failed.is_none() {
        session.act(Action::TogglePause);
    }
    let saved = session.saved().recv_timeout(LIMIT).ok();
    (saved, session.status().failed.clone())
}

/// Every lattice of a saved session is what its log makes of its start.
fn check(what: &str, saved: &SavedSession) {
    check_timeline(what, &saved.main);
    if let Some(comparison) = &saved.comparison {
        check_timeline(what, &comparison.timeline);
    }
}

fn check_timeline(what: &str, timeline: &SavedTimeline) {
    let (log, (position, lattices)) = (&timeline.log, &timeline.newest);
    assert!(
        log.passes(timeline.position),
        "{what}: {:?}",
        timeline.position
    );
    let want = replay(log, timeline.base.as_deref(), *position);
    assert_eq!(want.len(), lattices.len(), "{what}");
    let stepped = log.scene(position.records).stepped();
    for (instance, (want, got)) in want.iter().zip(lattices).enumerate() {
        if stepped.contains(&instance) {
            assert!(want == got, "{what}: instance {instance} at {position:?}");
        }
    }
}

/// What a log makes of its base, by the reference step.
fn replay(log: &Log, base: Option<&[Arc<Lattice>]>, to: Position) -> Vec<Arc<Lattice>> {
    let start = log.base_scene();
    let mut lattices = match base {
        Some(base) => base.to_vec(),
        None => (0..start.instances)
            .map(|i| start.start_lattice(i).unwrap())
            .collect(),
    };
    let mut here = log.base();
    while here < to {
        let scene = log.scene(here.records);
        let next = log
            .record(here.records)
            .filter(|_| here.records < to.records);
        let until = next.map_or(to.generation, |record| record.generation);
        let steps = until - here.generation;
        for instance in scene.stepped() {
            let stepped = reference::run(&lattices[instance], scene.rule, steps);
            lattices[instance] = Arc::new(stepped);
        }
        here.generation = until;
        let Some(record) = next else { break };
        let after = log.scene(here.records + 1);
        match &record.content {
            Content::Start(_) => {
                for (instance, lattice) in lattices.iter_mut().enumerate() {
                    *lattice = after.start_lattice(instance).unwrap();
                }
            }
            Content::Cells { instance, cells } => {
                for one in scene.instances_of(*instance) {
                    cells.apply(&scene, *instance, &mut lattices[one]).unwrap();
                }
            }
            Content::Rule(_) => {}
            Content::Grid { size, .. } => {
                for lattice in &mut lattices {
                    *lattice = Arc::new(lattice.in_the_middle_of(*size).unwrap());
                }
                for instance in lattices.len()..after.instances {
                    lattices.push(after.start_lattice(instance).unwrap());
                }
            }
        }
        here = log.after_next(here);
    }
    lattices
}

fn reach(session: &Session, generation: u64) {
    wait_for("some generations", session, |status| {
        status.failed.is_some() || status.halted.is_some() || status.generation >= generation
    });
}

#[track_caller]
fn wait_for(what: &str, session: &Session, so: impl Fn(&Status) -> bool) -> Arc<Status> {
    let began = Instant::now();
    loop {
        let status = session.status();
        if so(&status) {
            return status;
        }
        assert!(
            began.elapsed() < LIMIT,
            "waited for {what} in vain: {status:?}"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}
