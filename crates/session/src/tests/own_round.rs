//! A round that a user wrote: set, compared, saved and opened, and made anew for other instances.

use super::*;
use crate::{OwnOrder, OwnRound, OwnRoundError};

const COPIES_ELSEWHERE: &str =
    "for i in 0..N { advance(i, 0); record(i, 0); wait(i, 1); download(i, 1); }";
/// Right for four instances alone.
const FOUR: &str = "for i in 0..4 { advance(i, i % 2); download(i, i % 2); }";

fn set(session: &Session, source: &str) -> Result<Arc<OwnRound>, OwnRoundError> {
    let answer = session.set_own_round(source.into());
    answer.recv_timeout(TIMEOUT).unwrap()
}

fn order(status: &Status) -> Order {
    status.setting.switches.order
}

pub(super) fn size() -> Size {
    Size::new(64, 20).unwrap()
}

/// Pauses: the cells are those of the reference.
pub(super) fn assert_cells(session: &Session, instances: u64) {
    let at = pause(session);
    let want = (0..instances).map(|i| {
        let start = soup(size(), 0.4, 3, i);
        reference::run(&start, Rule::LIFE, at)
    });
    let got = newest_lattices(session);
    assert!(got.iter().map(|it| &**it).eq(&want.collect::<Vec<_>>()));
}

#[test]
fn a_script_becomes_the_order_and_its_effect_is_measured() {
    let session = Session::start(setup(4, size()), || {}).unwrap();
    wait_for(&session, "rounds", |status| status.rates.rounds > 3);
    let status = session.status();
    assert_eq!(status.setting.own_order, OwnOrder::Unwritten);
    let wrong = set(&session, "for i in 0..N { advance(i, 0); download(i, 1); }");
    let why = wrong.unwrap_err();
    assert!(why.message.contains("nothing orders it"), "{why:?}");
    let broken = set(&session, "advance(");
    assert!(broken.unwrap_err().place.is_some());
    let status = session.status();
    assert_eq!(
        (order(&status), &status.setting.own_round),
        (Order::Breadth, &None)
    );

    // Where instances share a stream and the host waits, a round of one's own says both itself.
    session.act(SessionAction::CycleSwitch(Switch::Streams));
    let own = set(&session, COPIES_ELSEWHERE).unwrap();
    assert_eq!(own.round().unwrap().streams(), 2);
    let status = wait_for(&session, "the order", |it| order(it) == Order::Own);
    assert_eq!(status.setting.own_round, Some(own));
    assert_eq!(status.setting.switches.streams, Streams::PerInstance);
    let status = wait_for(&session, "its effect", |status| {
        let effect = status.lab.last_effect.as_ref();
        effect.is_some_and(|effect| effect.finding.is_some())
    });
    let effect = status.lab.last_effect.as_ref().unwrap().in_words();
    assert!(
        effect.starts_with("own round instead of breadth-first: "),
        "{effect}"
    );
    // F5 leaves it and comes back.
    session.act(SessionAction::CycleSwitch(Switch::Order));
    wait_for(&session, "breadth", |it| order(it) == Order::Breadth);
    session.act(SessionAction::CycleSwitch(Switch::Order));
    session.act(SessionAction::CycleSwitch(Switch::Order));
    wait_for(&session, "the order", |it| order(it) == Order::Own);
    session.act(SessionAction::CycleSwitch(Switch::Streams));
    wait_for_notice(&session, "chooses its streams itself");
    assert_cells(&session, 4);
}

#[test]
fn an_own_round_is_compared_as_a_or_b() {
    let session = Session::start(setup(4, size()), || {}).unwrap();
    set(&session, FOUR).unwrap();
    session.act(SessionAction::ToggleComparison);
    wait_for_notice(&session, "not right for 2 instances");
    set(&session, COPIES_ELSEWHERE).unwrap();
    session.act(SessionAction::ToggleComparison);
    let compared = |status: &Status| {
        let comparison = status.lab.comparison.as_ref();
        comparison.map(|it| it.switches.map(|of| of.order))
    };
    wait_for(&session, "both", |status| {
        compared(status) == Some([Order::Own, Order::Breadth])
    });
    assert!(set(&session, FOUR).is_err(), "each has two");
    session.act(SessionAction::ToggleComparison);
    wait_for(&session, "the end", |status| compared(status).is_none());
    assert_cells(&session, 4);
}

#[test]
fn a_saved_own_round_goes_on_or_gives_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.json");
    let session = Session::start(setup(4, size()), || {}).unwrap();
    set(&session, FOUR).unwrap();
    let saved = session.saved().recv_timeout(TIMEOUT).unwrap();
    saved.save(&path).unwrap();
    drop(session);
    let load = || SavedSession::load(&path).unwrap();
    let is_own = |status: &Status| {
        order(status) == Order::Own && status.setting.own_round == load().setup.own_round
    };
    // Opened at the start, and in the place of another.
    let file = SessionFile {
        from: Some(load()),
        ..SessionFile::default()
    };
    let session = Session::start_from(load().setup, file, || {}).unwrap();
    wait_for(&session, "its order", is_own);
    drop(session);
    let session = Session::start(setup(2, size()), || {}).unwrap();
    session.open(load(), "own.json".into());
    wait_for(&session, "its order", is_own);
    // Of other instances it is made anew, or gives way.
    session.act(SessionAction::SetInstances(5));
    wait_for_notice(&session, "not right for 5 instances; back to breadth-first");
    assert_eq!(order(&session.status()), Order::Breadth);
    session.act(SessionAction::CycleSwitch(Switch::Order));
    session.act(SessionAction::CycleSwitch(Switch::Order));
    set(&session, COPIES_ELSEWHERE).unwrap();
    session.act(SessionAction::SetInstances(6));
    let status = wait_for(&session, "six", |status| status.lattices.instances == 6);
    assert_eq!(order(&status), Order::Own);
    assert_eq!(status.setting.own_round.as_ref().unwrap().instances(), 6);
    drop(session);
    // A script that is no longer right.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("for i in 0..4", "for i in 0..3")).unwrap();
    let file = SessionFile {
        from: Some(load()),
        ..SessionFile::default()
    };
    let session = Session::start_from(load().setup, file, || {}).unwrap();
    wait_for_notice(&session, "back to breadth-first");
    assert_eq!(order(&session.status()), Order::Breadth);
}
