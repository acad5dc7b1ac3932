//! Sessions that do one thing each, for tests of what a fault in the middle of it comes to; and
//! whether what such a session saves is what its log says.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::kernels;
use life::Size;
use session::SessionAction::*;
use session::{
    Change, DeviceChoice, Edit, Pace, SavedSession, Session, SessionAction, SessionFile, Setup,
    Split, Start, Status,
};

pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// What a session is doing when a fault strikes: its name, what comes before the fault is armed, and what it
/// does then.
pub(crate) type Activity = (&'static str, fn(&Session), fn(&Session));

pub(crate) const GRAPHS: &str = "graphs";
pub(crate) const STEP_BACK: &str = "step-back";
pub(crate) const RUN: &str = "run-to";

pub(crate) const ACTIVITIES: [Activity; 12] = [
    ("rounds", |_| (), |it| run_on(it, 12)),
    (GRAPHS, |_| (), |it| run_on(it, 12)),
    ("stroke", |_| (), |it| stroke(it, 20)),
    (
        "undo",
        |it| {
            stroke(it, 3);
            run_on(it, 6);
        },
        |it| all(it, &[Undo, Undo, Redo]),
    ),
    (STEP_BACK, pause, |it| all(it, &[StepBack; 3])),
    (RUN, pause, |it| {
        let to = generation(it) + 40;
        it.act(RunTo(to));
        reach(it, to);
    }),
    (
        "comparison",
        |_| (),
        |it| {
            it.act(ToggleComparison);
            std::thread::sleep(Duration::from_millis(30));
            it.act(ToggleComparison);
        },
    ),
    (
        "lesson",
        |_| (),
        |it| {
            it.pause_for_lesson(true);
            it.pause_for_lesson(false);
        },
    ),
    ("save", |_| (), |it| drop(it.saved().recv_timeout(LIMIT))),
    (
        "new-seed",
        |_| (),
        |it| {
            it.act(NewSeed);
            stroke(it, 5);
        },
    ),
    ("grow", pause, |it| {
        it.act(SetSize(size(70, 50)));
        stroke(it, 9);
    }),
    (
        "reshape",
        |_| (),
        |it| {
            let rule = SetRule("B36/S23".parse().unwrap());
            let grid = [DoubleInstances, SetSize(size(31, 50)), rule, Undo];
            all(it, &grid);
            it.act(SetInstances(2));
            stroke(it, 9);
        },
    ),
];

pub(crate) fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

pub(crate) fn generation(session: &Session) -> u64 {
    session.status().clock.generation
}

fn all(session: &Session, actions: &[SessionAction]) {
    actions.iter().for_each(|action| session.act(*action));
}

pub(crate) fn stroke(session: &Session, from: u32) {
    for x in from..from + 4 {
        session.edit(
            Edit {
                instance: 1,
                change: Change::Draw {
                    cells: Arc::new([[x % 45, 7], [x % 45, 8]]),
                    alive: true,
                },
                continues_stroke: x != from,
            },
            0,
        );
    }
}

fn pause(session: &Session) {
    session.act(TogglePause);
    wait_for("the pause", session, |status| !status.clock.running);
}

fn reach(session: &Session, generation: u64) {
    wait_for("some generations", session, |status| {
        status.failed.is_some() || status.halted.is_some() || status.clock.generation >= generation
    });
}

fn run_on(session: &Session, generations: u64) {
    reach(session, generation(session) + generations);
}

/// Three small lattices, at the beginning of an activity.
pub(crate) fn session(activity: Activity, device: DeviceChoice, split: Split) -> Session {
    let kernel = kernels::find("bits").unwrap();
    let mut setup = Setup {
        start: Start::soup(0.4, 11),
        split,
        pace: Pace::PerSecond(400.0),
        ..Setup::new(3, size(45, 37), kernel, device)
    };
    setup.setting.switches.graphs = activity.0 == GRAPHS;
    let session = Session::start(setup, || {}).unwrap();
    reach(&session, 6);
    activity.1(&session);
    session
}

/// The status, once it is so.
#[track_caller]
pub(crate) fn wait_for(what: &str, session: &Session, so: impl Fn(&Status) -> bool) {
    let began = Instant::now();
    while !so(&session.status()) {
        let waited = began.elapsed();
        assert!(waited < LIMIT, "{what}: {:?}", session.status());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Pauses a session once it is where it wants to be, and what it saves then; and why it has
/// ended, if it has.
pub(crate) fn settled(session: &Session) -> (Option<SavedSession>, Option<String>) {
    // What was asked for and every recovery come first.
    wait_for("the end of what was asked", session, |status| {
        status.failed.is_some() || status.clock.run_to.is_none()
    });
    let status = session.status();
    if status.clock.running && status.failed.is_none() {
        session.act(TogglePause);
    }
    let saved = session.saved().recv_timeout(LIMIT).ok();
    let failed = session.status().failed.as_ref().map(ToString::to_string);
    (saved, failed)
}

/// Every lattice of a saved session is what the CPU makes of its log from its base on.
pub(crate) fn check(what: &str, saved: &SavedSession) {
    let Some(newest) = saved.timeline.copies.last() else {
        return;
    };
    let mut from = saved.clone();
    (from.running, from.timeline.position) = (false, newest.position);
    let base = from.timeline.log.begin;
    from.timeline.copies.retain(|copy| copy.position == base);
    let setup = Setup {
        device: DeviceChoice::Cpu,
        ..from.setup.clone()
    };
    let mut file = SessionFile::default();
    file.from = Some(from);
    let again = Session::start_from(setup, file, || {}).unwrap();
    for (instance, lattice) in newest.lattices().unwrap().into_iter().enumerate() {
        let copy = again.copy(instance).recv_timeout(LIMIT);
        let wanted = (lattice, newest.position.generation);
        assert!(copy == Ok(wanted), "{what}: instance {instance}");
    }
}
