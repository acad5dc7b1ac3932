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

/// Larger lattices: what lived is in their middle, and the way back leads to what was.
#[test]
fn a_session_goes_on_with_larger_lattices_and_back() {
    let size = Size::new(70, 33).unwrap();
    let small = Setup {
        kernel: kernels::find("sync-shared").unwrap(), // takes no large ones
        rounds: Some(3),
        ..setup(2, size)
    };
    let session = Session::start(small, || {}).unwrap();
    wait_for(&session, "three rounds", |status| !status.running);
    let before = session.kept().recv_timeout(PATIENCE).unwrap();
    let larger = Size::new(400, 300).unwrap();
    let next = session
        .succeeded_by(before.larger(larger).unwrap(), || {})
        .unwrap();
    drop(session);
    let after = next.kept().recv_timeout(PATIENCE).unwrap();
    assert_eq!(after.setup.size, larger);
    assert!(after.setup.kernel.admit(larger).is_ok());
    for (was, is) in before.lattices.iter().zip(&after.lattices) {
        assert_eq!(was.1, is.1, "its generation");
        assert!(is.0.part(165, 133, size) == *was.0, "in the middle");
        assert_eq!(is.0.population(), was.0.population(), "and nothing else");
    }
    let back = next.succeeded_by(before.clone(), || {}).unwrap();
    drop(next);
    let back = back.kept().recv_timeout(PATIENCE).unwrap();
    assert!(back.lattices == before.lattices && back.setup.size == size);
}

/// Larger lattices that there is no memory for are refused before one is made.
#[test]
fn larger_lattices_than_there_is_memory_for_are_refused() {
    let session = Session::start(setup(16, Size::new(70, 33).unwrap()), || {}).unwrap();
    let kept = session.kept().recv_timeout(PATIENCE).unwrap();
    // 8 GiB of bits each, and copies of them.
    let error = kept
        .larger(Size::new(262_144, 262_144).unwrap())
        .unwrap_err();
    assert!(
        error.needed_mib > error.free_mib && error.fits.is_some(),
        "{error}"
    );
}
