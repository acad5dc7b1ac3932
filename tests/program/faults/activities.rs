//! Sessions that do one thing each, for tests of what a fault in the middle of it comes to; and
//! whether what such a session saves is what its log says.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::kernels;
use life::{Lattice, Size, reference};
use session::log::{Content, Log, Position};
use session::{
    Change, DeviceChoice, Edit, Pace, SavedSession, Session, SessionAction, Setup, Split, Start,
    Status, Switches,
};

pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// What a session is doing when a fault strikes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Activity {
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
    Reshape,
}

pub(crate) const ACTIVITIES: [Activity; 12] = {
    use Activity::*;
    [
        Running, Stroke, Undo, StepBack, RunTo, Compare, Graphs, Lesson, Save, NewSeed, Grow,
        Reshape,
    ]
};

/// Three small lattices.
pub(crate) fn setup(device: DeviceChoice) -> Setup {
    let kernel = kernels::find("bits").unwrap();
    Setup {
        start: Start::soup(0.4, 11),
        ..Setup::new(3, Size::new(45, 37).unwrap(), kernel, device)
    }
}

pub(crate) fn session(activity: Activity, device: DeviceChoice, split: Split) -> Session {
    let switches = Switches {
        graphs: activity == Activity::Graphs,
        ..Switches::DEFAULT
    };
    let setup = Setup {
        split,
        pace: Pace::PerSecond(400.0),
        ..setup(device)
    };
    Session::start(setup.with_switches(switches), || {}).unwrap()
}

pub(crate) fn stroke(session: &Session, from: u32) {
    for x in from..from + 4 {
        session.edit(Edit {
            instance: 1,
            change: Change::Draw {
                cells: Arc::new([[x % 45, 7], [x % 45, 8]]),
                alive: true,
            },
            continues_stroke: x != from,
        });
    }
}

/// What comes before the fault is armed.
pub(crate) fn prepare(activity: Activity, session: &Session) {
    reach(session, 6);
    match activity {
        Activity::Undo => {
            stroke(session, 3);
            reach(session, session.status().clock.generation + 6);
        }
        Activity::StepBack | Activity::RunTo | Activity::Grow => {
            session.act(SessionAction::TogglePause);
            wait_for("the pause", session, |status| !status.clock.running);
        }
        _ => {}
    }
}

pub(crate) fn act(activity: Activity, session: &Session) {
    use SessionAction::*;
    let now = session.status().clock.generation;
    let all = |actions: &[SessionAction]| {
        for action in actions {
            session.act(*action);
        }
    };
    match activity {
        Activity::Running | Activity::Graphs => reach(session, now + 12),
        Activity::Stroke => stroke(session, 20),
        Activity::Undo => all(&[Undo, Undo, Redo]),
        Activity::StepBack => all(&[StepBack; 3]),
        Activity::RunTo => {
            all(&[RunTo(now + 40)]);
            reach(session, now + 40);
        }
        Activity::Compare => {
            all(&[ToggleComparison]);
            std::thread::sleep(Duration::from_millis(30));
            all(&[ToggleComparison]);
        }
        Activity::Lesson => {
            session.pause_for_lesson(true);
            session.pause_for_lesson(false);
        }
        Activity::Save => drop(session.saved().recv_timeout(LIMIT)),
        Activity::NewSeed => {
            all(&[NewSeed]);
            stroke(session, 5);
        }
        Activity::Grow => {
            all(&[SetSize(Size::new(70, 50).unwrap())]);
            stroke(session, 9);
        }
        Activity::Reshape => {
            let size = SetSize(Size::new(31, 50).unwrap());
            let rule = SetRule("B36/S23".parse().unwrap());
            all(&[DoubleInstances, size, rule, Undo, SetInstances(2)]);
            stroke(session, 9);
        }
    }
}

/// Pauses a session once it is where it wants to be, and what it saves then; and why it has
/// ended, if it has.
pub(crate) fn settled(session: &Session) -> (Option<SavedSession>, Option<String>) {
    // What was asked for and every recovery come first.
    let status = wait_for("the end of what was asked", session, |status| {
        status.failed.is_some() || status.clock.run_to.is_none()
    });
    if status.clock.running && status.failed.is_none() {
        session.act(SessionAction::TogglePause);
    }
    let saved = session.saved().recv_timeout(LIMIT).ok();
    (
        saved,
        session.status().failed.as_ref().map(ToString::to_string),
    )
}

/// Every lattice of a saved session is what its log makes of its start.
pub(crate) fn check(what: &str, saved: &SavedSession) {
    let timeline = &saved.timeline;
    let (log, newest) = (&timeline.log, timeline.copies.last());
    let Some(newest) = newest else { return };
    let (position, lattices) = (newest.position, newest.lattices().unwrap());
    assert!(
        log.contains(timeline.position),
        "{what}: {:?}",
        timeline.position
    );
    let base = timeline
        .copies
        .iter()
        .find(|copy| copy.position == log.base());
    let want = replay(log, base.map(|copy| copy.lattices().unwrap()), position);
    assert_eq!(want.len(), lattices.len(), "{what}");
    for (instance, (want, got)) in want.iter().zip(&lattices).enumerate() {
        assert!(want == got, "{what}: instance {instance} at {position:?}");
    }
}

/// What a log makes of its base, by the reference step.
fn replay(log: &Log, base: Option<Vec<Arc<Lattice>>>, to: Position) -> Vec<Arc<Lattice>> {
    let start = log.base_parameters();
    let mut lattices = match base {
        Some(base) => base,
        None => (0..start.instances)
            .map(|i| start.start_lattice(i).unwrap())
            .collect(),
    };
    let mut here = log.base();
    while here < to {
        let parameters = log.parameters(here.records);
        let next = log
            .record(here.records)
            .filter(|_| here.records < to.records);
        let until = next.map_or(to.generation, |record| record.generation);
        let steps = until - here.generation;
        // The odd one stays as it is while A and B are compared.
        let instances = parameters
            .each()
            .map_or(parameters.instances, |each| 2 * each);
        for lattice in lattices.iter_mut().take(instances) {
            *lattice = Arc::new(reference::run(lattice, parameters.rule, steps));
        }
        here.generation = until;
        let Some(record) = next else { break };
        let after = log.parameters(here.records + 1);
        match &record.content {
            Content::Start(_) => {
                for (instance, lattice) in lattices.iter_mut().enumerate() {
                    *lattice = after.start_lattice(instance).unwrap();
                }
            }
            Content::Cells { instance, cells } => {
                for one in parameters.instances_of(*instance) {
                    cells
                        .apply(&parameters, *instance, &mut lattices[one])
                        .unwrap();
                }
            }
            Content::Rule(_) => {}
            Content::Compare => {
                let (a, b) = lattices.split_at_mut(parameters.instances / 2);
                b[..a.len()].clone_from_slice(a);
            }
            Content::Grid { size, .. } => {
                lattices.truncate(after.instances);
                for lattice in &mut lattices {
                    *lattice = Arc::new(lattice.resized(*size).unwrap());
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
        status.failed.is_some() || status.halted.is_some() || status.clock.generation >= generation
    });
}

/// The status, once it is so.
#[track_caller]
pub(crate) fn wait_for(what: &str, session: &Session, so: impl Fn(&Status) -> bool) -> Arc<Status> {
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
