//! Sessions that are kept and taken up again.

use super::*;

fn lattices(session: &Session) -> Vec<Lattice> {
    let kept = session.kept().recv_timeout(PATIENCE).unwrap();
    let lattices = kept.lattices.iter();
    lattices.map(|(lattice, _)| (**lattice).clone()).collect()
}

/// A and B come back: both settings, every lattice, and what was before them.
#[test]
fn two_halves_are_kept_and_come_back_as_they_were() {
    let size = Size::new(70, 33).unwrap();
    let several = Setup {
        switches: Switches {
            order: Order::Breadth,
            ..Switches::DEFAULT
        },
        rounds: Some(3),
        ..setup(5, size)
    };
    let session = Session::start(several, || {}).unwrap();
    wait_for(&session, "three rounds", |status| !status.running);
    let before = lattices(&session);
    session.act(Action::ToggleHalves);
    session.act(Action::NextOf(Switch::Wait));
    session.act(Action::TogglePause);
    let parted = wait_for(&session, "rounds of both", |status| {
        status.halves.is_some() && status.newest_generation > 6
    });
    session.act(Action::TogglePause);
    let kept = session.kept().recv_timeout(PATIENCE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.json");
    kept.save(&path).unwrap();
    drop(session);

    let from = Kept::load(&path).unwrap();
    let setup = Setup {
        rounds: Some(0), // stands still
        ..from.setup.clone()
    };
    let keep = Keep {
        path: None,
        from: Some(from),
    };
    let session = Session::start_from(setup, keep, || {}).unwrap();
    let again = wait_for(&session, "both again", |status| status.halves.is_some());
    let settings = |status: &Status| status.halves.as_ref().unwrap().switches;
    assert_eq!(settings(&again), settings(&parted));
    let of = |kept: &Kept| -> Vec<_> { kept.lattices.clone() };
    let as_kept = session.kept().recv_timeout(PATIENCE).unwrap();
    assert!(of(&as_kept) == of(&kept), "every lattice and generation");
    session.act(Action::ToggleHalves);
    wait_for(&session, "one again", |status| status.halves.is_none());
    assert!(lattices(&session) == before, "every lattice from before");
}
