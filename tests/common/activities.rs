//! Sessions that do one thing each, for tests of what a fault in the middle of it comes to; and
//! whether what such a session saves is what its log says.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::kernels;
use life::Size;
use session::{
    Change, DeviceChoice, Edit, Pace, SavedSession, Session, SessionAction, SessionFile, Setup,
    Split, Start, Status, Switches,
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

/// A saved session's newest lattices are what a session on the CPU makes of its log from the base.
pub(crate) fn check(what: &str, saved: &SavedSession) {
    let mut again = saved.clone();
    let timeline = &mut again.timeline;
    let Some(newest) = saved.timeline.copies.last() else {
        return;
    };
    assert!(timeline.log.contains(timeline.position), "{what}");
    let (base, position) = (timeline.log.base(), newest.position);
    timeline.copies.retain(|copy| copy.position == base);
    timeline.position = position;
    let there = timeline.log.parameters(position.records);
    again.running = false;
    again.setup = Setup {
        device: DeviceChoice::Cpu,
        split: Split::Auto,
        size: there.size,
        instances: there.instances,
        rule: there.rule,
        start: there.start,
        ..again.setup
    };
    let (setup, mut file) = (again.setup.clone(), SessionFile::default());
    file.from = Some(again);
    let session = Session::start_from(setup, file, || {}).unwrap();
    wait_for("the position", &session, |status| {
        status.clock.recomputing.is_none() && status.clock.generation == position.generation
    });
    let again = session.saved().recv_timeout(LIMIT).unwrap();
    let got = again.timeline.copies.last().expect("a copy");
    assert_eq!(got.position, position, "{what}");
    let [want, got] = [got, newest].map(|copy| copy.lattices().unwrap());
    assert!(want == got, "{what}: the cells at {position:?}");
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
