//! The effect of every switch and kernel is measured without touching a lattice, and A and B are compared
//! anew when they change. That findings are true is what `experiment`'s simulation shows.

use super::*;
use crate::Finding;

fn size() -> Size {
    Size::new(128, 64).unwrap()
}

/// A session that steps as fast as it can.
fn fast(instances: usize) -> Session {
    let fast = Setup {
        pace: Pace::Unthrottled,
        ..setup(instances, size())
    };
    Session::start(fast, || {}).unwrap()
}

#[test]
fn the_effect_of_every_change_is_measured_and_leaves_every_lattice_as_it_was() {
    let session = fast(4);
    // Other streams, other slots, other pictures, graphs, and with those another layout.
    let switches = [
        Switch::Streams,
        Switch::HostMemory,
        Switch::Transfer,
        Switch::Graphs,
    ];
    let switches = switches.map(SessionAction::CycleSwitch);
    for action in switches.into_iter().chain([SessionAction::NextKernel]) {
        let before = session.status();
        session.act(action);
        let status = wait_for(&session, "the change or why not", |status| {
            (status.setting.switches, status.setting.kernel.name)
                != (before.setting.switches, before.setting.kernel.name)
                || status.notice.is_some() && status.notice != before.notice
        });
        if (status.setting.switches, status.setting.kernel.name)
            == (before.setting.switches, before.setting.kernel.name)
        {
            continue; // this kernel has no choice there
        }
        let status = wait_for(&session, "its effect", |status| {
            let effect = status.lab.last_effect.as_ref();
            effect.is_some_and(|effect| effect.finding.is_some())
        });
        let effect = status.lab.last_effect.clone().unwrap();
        let [before, after] = effect.round_us.map(Option::unwrap);
        if let Some(Finding::Difference { ratio, interval }) = effect.finding {
            assert!((ratio - before / after).abs() < 1e-9, "{effect:?}");
            assert!(interval[0] <= ratio && ratio <= interval[1], "{effect:?}");
        }
    }
    let at = pause(&session);
    session.act(SessionAction::StepGeneration);
    let start = |i| soup(size(), 0.4, 3, i);
    let want = [0, 1, 2, 3].map(|i| reference::run(&start(i), Rule::LIFE, at + 1));
    assert_eq!(pictures_of(&session, size(), 4, at + 1), want);
}

#[test]
fn equal_settings_of_a_and_b_are_not_measured_until_they_differ() {
    let session = fast(4);
    session.act(SessionAction::ToggleComparison);
    let of = |status: &Status| status.lab.comparison.clone();
    let status = wait_for(&session, "A and B", |status| of(status).is_some());
    let a = of(&status).unwrap().switches[0];
    let position = Switch::Streams.position(a, status.setting.kernel);
    session.act(SessionAction::SetSwitch(Switch::Streams, position as u8));
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

#[test]
fn a_paused_session_says_its_new_speed() {
    let session = Session::start(setup(1, Size::new(64, 64).unwrap()), || {}).unwrap();
    session.act(SessionAction::TogglePause);
    wait_for(&session, "a pause", |status| !status.clock.running);
    for (action, pace) in [
        (
            SessionAction::Faster,
            session.status().setting.pace.faster(),
        ),
        (SessionAction::Slower, session.status().setting.pace),
    ] {
        session.act(action);
        let said = |status: &Status| match (pace, &status.notice) {
            (Pace::PerSecond(rounds), Some(notice)) => {
                notice.contains(&format!("{rounds} rounds/s"))
            }
            (Pace::Unthrottled, Some(notice)) => notice.contains("unthrottled"),
            (Pace::Maximum, Some(notice)) => notice.contains("maximum"),
            (_, None) => false,
        };
        let status = wait_for(&session, "the new speed", said);
        assert_eq!(status.setting.pace, pace);
    }
}
