//! A whole session on the CPU engine, with its threads, its time and its files. What keys lead to is what
//! the worker's tests show, without a thread.

mod files;
mod idle;
mod own_kernel;

use std::time::{Duration, Instant};

use super::*;
use crate::reference_kernel::ReferenceKernel;
use crate::{DeviceChoice, Finding, KernelChoice, Pace, Start, Switch};
use engine::kernels;
use life::{Rule, Size, reference, soup};

const TIMEOUT: Duration = Duration::from_secs(240);

fn size() -> Size {
    Size::new(64, 20).unwrap()
}

fn setup(instances: usize) -> Setup {
    let kernel = kernels::find("bits").unwrap();
    Setup {
        start: Start::soup(0.4, 3),
        pace: Pace::PerSecond(500.0),
        ..Setup::new(instances, size(), kernel, DeviceChoice::Cpu)
    }
}

fn start(setup: Setup) -> Session {
    Session::start(setup, || {}).unwrap()
}

/// The status, once it is as wanted.
fn wait_for(session: &Session, what: &str, wanted: impl Fn(&Status) -> bool) -> Arc<Status> {
    let began = Instant::now();
    loop {
        let status = session.status();
        assert_eq!(status.failed, None);
        if wanted(&status) {
            return status;
        }
        assert!(began.elapsed() < TIMEOUT, "{what}: {status:#?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits for a notice with these words.
fn wait_for_notice(session: &Session, words: &str) -> Arc<Status> {
    wait_for(session, words, |status| {
        let notice = status.notice.as_deref();
        notice.is_some_and(|it| it.contains(words))
    })
}

fn saved(session: &Session) -> SavedSession {
    session.saved().recv_timeout(TIMEOUT).unwrap()
}

/// Pauses a session that runs: its cells are those of the reference.
fn assert_cells(session: &Session, instances: u64) {
    session.act(SessionAction::TogglePause);
    let paused = wait_for(session, "a pause", |status| !status.clock.running);
    let want = |i| {
        let start = soup(size(), 0.4, 3, i);
        Arc::new(reference::run(&start, Rule::LIFE, paused.clock.generation))
    };
    let saved = saved(session);
    let newest = saved.timeline.copies.last().unwrap();
    assert_eq!(newest.position.generation, paused.clock.generation);
    let want: Vec<_> = (0..instances).map(want).collect();
    assert!(newest.lattices().unwrap() == want);
}

/// That findings are true is what `experiment`'s simulation shows.
#[test]
fn the_effect_of_every_change_is_measured_and_loses_no_cell() {
    let session = start(Setup {
        pace: Pace::Unthrottled,
        ..setup(4)
    });
    let act = |action| session.act(action);
    let [own, other] = ["shared", "planar"].map(|rung| ReferenceKernel::new(rung).kernel);
    let round = "for i in 0..N { advance(i, 0); record(i, 0); wait(i, 1); download(i, 1); }";
    let changes: [(&dyn Fn(), &str); 5] = [
        (
            &|| act(SessionAction::CycleSwitch(Switch::Graphs)),
            "graphs",
        ),
        (
            &|| act(SessionAction::NextKernel),
            "kernel planar instead of bits",
        ),
        (
            &|| session.set_own_kernel(own),
            "kernel own instead of planar",
        ),
        (
            &|| session.set_own_kernel(other),
            "own kernel: this version instead of the one before",
        ),
        (
            &|| drop(session.set_own_round(round.into())),
            "own round instead of breadth-first",
        ),
    ];
    for (change, words) in changes {
        change();
        let status = wait_for(&session, words, |status| {
            let effect = status.lab.last_effect.as_ref();
            effect.is_some_and(|it| it.finding.is_some() && it.what.contains(words))
        });
        let effect = status.lab.last_effect.clone().unwrap();
        let [before, after] = effect.round_us.map(Option::unwrap);
        if let Some(Finding::Difference { ratio, interval }) = effect.finding {
            assert!((ratio - before / after).abs() < 1e-9, "{effect:?}");
            assert!(interval[0] <= ratio && ratio <= interval[1], "{effect:?}");
        }
    }
    assert_cells(&session, 4);
}

#[test]
fn equal_settings_of_a_and_b_are_not_measured_until_they_differ() {
    let session = start(Setup {
        pace: Pace::Unthrottled,
        ..setup(4)
    });
    session.act(SessionAction::ToggleComparison);
    session.act(SessionAction::SetSwitch(Switch::Streams, 0));
    let of = |status: &Status| status.lab.comparison.clone();
    let is_equal = |status: &Status| of(status).is_some_and(|it| it.is_of_equals());
    let equal = wait_for(&session, "equal settings", is_equal);
    // Of different settings, so many rounds have times.
    let later = wait_for(&session, "many rounds", |status| {
        status.rates.rounds > equal.rates.rounds + 500
    });
    let comparison = of(&later).unwrap();
    assert_eq!((comparison.round_us, comparison.finding), ([None; 2], None));
    session.act(SessionAction::CycleSwitch(Switch::Streams));
    let has_finding = |status: &Status| of(status).is_some_and(|it| it.finding.is_some());
    let found = wait_for(&session, "a finding", has_finding);
    assert!(!is_equal(&found));
}

/// At the maximum pace a round has as many generations as fit in a frame, and no cell is lost; below it a
/// round has as many as before. A session that starts so picks its kernel and its submission, too.
#[test]
fn the_maximum_pace_fits_rounds_into_frames() {
    let is_long = |status: &Status| {
        status.setting.pace == Pace::Maximum && status.setting.generations_per_round >= 64
    };
    let session = start(Setup {
        pace: Pace::Unthrottled,
        generations_per_round: 3,
        ..setup(2)
    });
    session.act(SessionAction::Faster);
    wait_for(&session, "longer rounds", is_long);
    assert_cells(&session, 2);
    session.act(SessionAction::Slower);
    wait_for(&session, "those before", |status| {
        let setting = &status.setting;
        (setting.pace, setting.generations_per_round) == (Pace::Unthrottled, 3)
    });
    let session = start(Setup {
        pace: Pace::Maximum,
        kernel_choice: KernelChoice::AutoWithSubmission,
        ..setup(3)
    });
    let picked = wait_for(&session, "long rounds", is_long);
    assert_eq!(picked.setting.kernel_choice, KernelChoice::Estimated);
}
