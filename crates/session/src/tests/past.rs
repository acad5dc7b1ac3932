//! Edits that come while rounds go on as fast as they can.

use super::*;

fn copy(session: &Session, instance: usize) -> Lattice {
    let copy = session.copy(instance).recv_timeout(TIMEOUT);
    let (lattice, _) = copy.unwrap_or_else(|why| panic!("{why}: {:#?}", session.status()));
    (*lattice).clone()
}

#[test]
fn an_opened_pattern_starts_paused_at_its_generation_beside_the_other_lattices() {
    let size = Size::new(64, 48).unwrap();
    for opened in [size, Size::new(100, 60).unwrap()] {
        let session = Session::start(setup(2, size), || {}).unwrap();
        wait_for(&session, "rounds", |status| status.clock.generation > 3);
        let pattern = Arc::new(soup(opened, 0.3, 9, 0));
        session.open_pattern(1, pattern.clone(), 2);
        wait_for(&session, "the pattern", |status| {
            !status.clock.running && status.clock.generation == 2
        });
        assert_eq!(copy(&session, 1), *pattern);
        let other = copy(&session, 0);
        session.act(SessionAction::Undo);
        wait_for(&session, "undone", |status| status.clock.generation > 3);
        assert_eq!(copy(&session, 0).resized(opened).unwrap(), other);
    }
}
