//! Sessions that are saved and go on from a file, and lattices that grow.

use super::*;

fn saved(session: &Session) -> SavedSession {
    session.saved().recv_timeout(TIMEOUT).unwrap()
}

/// A and B come back: both settings, every lattice, and what was before them.
#[test]
fn two_halves_are_saved_and_come_back_as_they_were() {
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
    wait_for(&session, "three rounds", |status| status.clock.finished);
    let before = newest_lattices(&session);
    session.act(SessionAction::ToggleComparison);
    session.act(SessionAction::CycleSwitch(Switch::Wait));
    session.act(SessionAction::TogglePause);
    let parted = wait_for(&session, "rounds of both", |status| {
        status.lab.comparison.is_some() && status.clock.generation > 6
    });
    session.act(SessionAction::TogglePause);
    wait_for(&session, "a pause", |status| !status.clock.running);
    let compared = newest_lattices(&session);
    let kept = saved(&session);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.json");
    kept.save(&path).unwrap();
    drop(session);

    let from = SavedSession::load(&path).unwrap();
    let setup = Setup {
        rounds: Some(0), // stands still
        ..from.setup.clone()
    };
    let file = SessionFile {
        from: Some(from),
        ..SessionFile::default()
    };
    let session = Session::start_from(setup, file, || {}).unwrap();
    let again = wait_for(&session, "both again", |status| {
        status.lab.comparison.is_some()
    });
    let settings = |status: &Status| status.lab.comparison.as_ref().unwrap().switches;
    assert_eq!(settings(&again), settings(&parted));
    assert!(newest_lattices(&session) == compared, "every lattice");
    session.act(SessionAction::ToggleComparison);
    wait_for(&session, "one again", |status| {
        status.lab.comparison.is_none()
    });
    assert!(
        newest_lattices(&session) == before,
        "every lattice from before"
    );
}

/// What was undone before a session was saved stays undone; what was done can still be undone.
#[test]
fn a_session_from_a_file_goes_back_as_far_as_before() {
    let size = Size::new(40, 24).unwrap();
    let setup = Setup {
        rounds: Some(0),
        ..setup(2, size)
    };
    let session = Session::start(setup.clone(), || {}).unwrap();
    session.act(SessionAction::RunTo(20));
    wait_for(&session, "generation 20", |status| {
        status.clock.generation == 20
    });
    let change = Change::Clear(Area::whole(size));
    session.edit(Edit {
        instance: 1,
        change,
        continues_stroke: false,
    });
    session.act(SessionAction::RunTo(50));
    wait_for(&session, "generation 50", |status| {
        status.clock.generation == 50
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.json");
    saved(&session).save(&path).unwrap();
    drop(session);
    let from = SavedSession::load(&path).unwrap();
    let file = SessionFile {
        from: Some(from),
        ..SessionFile::reserve(&path).unwrap()
    };
    let session = Session::start_from(setup.clone(), file, || {}).unwrap();
    let of = |generation| {
        let all = (0..2).map(|i| reference::run(&soup(size, 0.4, 3, i), Rule::LIFE, generation));
        all.map(Arc::new).collect::<Vec<_>>()
    };
    session.act(SessionAction::Undo); // to just after the edit
    session.act(SessionAction::Undo);
    wait_for(&session, "what was before the edit", |status| {
        status.notice.as_deref() == Some("Undone: the last edit; at generation 20")
    });
    assert_eq!(newest_lattices(&session), of(20));
    session.act(SessionAction::RunTo(7));
    wait_for(&session, "generation 7", |status| {
        status.clock.generation == 7
    });
    assert_eq!(newest_lattices(&session), of(7));
    session.save_to_its_file().unwrap();
    assert_eq!(
        SavedSession::load(&path).unwrap().main.position.generation,
        7
    );
}

/// Larger lattices: what lived is in their middle, and undo leads to what was.
#[test]
fn a_session_goes_on_with_larger_lattices_and_back() {
    let size = Size::new(70, 33).unwrap();
    let small = Setup {
        kernel: kernels::find("sync-shared").unwrap(), // takes no large ones
        rounds: Some(3),
        ..setup(2, size)
    };
    let session = Session::start(small, || {}).unwrap();
    wait_for(&session, "three rounds", |status| status.clock.finished);
    let before = newest_lattices(&session);
    let larger = Size::new(400, 300).unwrap();
    session.grow(larger, None);
    let grown = wait_for(&session, "larger lattices", |status| {
        status.lattices.size == larger
    });
    assert!(grown.setting.kernel.validate_size(larger).is_ok());
    assert_eq!(grown.clock.generation, 3);
    let after = newest_lattices(&session);
    for (was, is) in before.iter().zip(&after) {
        assert!(is.part(165, 133, size) == **was, "in the middle");
        assert_eq!(is.population(), was.population(), "and nothing else");
    }
    let shown = pictures_of(&session, larger, 2, 3);
    assert!(shown.iter().zip(&after).all(|(shown, is)| *shown == **is));
    session.act(SessionAction::Undo);
    wait_for(&session, "the lattices from before", |status| {
        status.lattices.size == size && status.clock.generation == 3 && !status.clock.running
    });
    assert!(newest_lattices(&session) == before);
    session.act(SessionAction::Redo);
    wait_for(&session, "larger lattices", |status| {
        status.lattices.size == larger
    });
    assert!(newest_lattices(&session) == after);
}

/// Larger lattices that there is no memory for are refused, and everything goes on.
#[test]
fn larger_lattices_than_there_is_memory_for_are_refused() {
    let size = Size::new(70, 33).unwrap();
    let session = Session::start(setup(16, size), || {}).unwrap();
    // 8 GiB of bits each, and copies of them.
    session.grow(Size::new(262_144, 262_144).unwrap(), None);
    let refused = wait_for(&session, "a word of that", |status| {
        status
            .notice
            .as_deref()
            .is_some_and(|it| it.contains("MiB") || it.contains("GiB"))
    });
    assert_eq!(refused.lattices.size, size);
    let now = refused.clock.generation;
    wait_for(&session, "more rounds", |status| {
        status.clock.generation > now + 5
    });
}

/// A session is opened in place of another one, of other lattices and another kernel, while A and B
/// are compared: the former is saved in its file, and the opened one is never written over.
#[test]
fn a_session_is_opened_in_place_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let size = Size::new(70, 33).unwrap();
    let other = Setup {
        kernel: kernels::find("shared").unwrap(),
        rounds: Some(4),
        ..setup(3, size)
    };
    let session = Session::start(other, || {}).unwrap();
    wait_for(&session, "four rounds", |status| status.clock.finished);
    let wanted = newest_lattices(&session);
    saved(&session).save(&path("other.json")).unwrap();
    drop(session);
    let written = std::fs::read(path("other.json")).unwrap();

    let file = SessionFile::reserve(&path("own.json")).unwrap();
    let own = setup(2, Size::new(40, 24).unwrap());
    let session = Session::start_from(own, file, || {}).unwrap();
    session.act(SessionAction::ToggleComparison);
    wait_for(&session, "a comparison", |status| {
        status.lab.comparison.is_some()
    });
    let from = SavedSession::load(&path("other.json")).unwrap();
    assert!(SavedSession::is_in(&path("other.json")));
    session.open(from, "own.json".into());
    let opened = wait_for(&session, "the other session", |status| {
        status.lattices.size == size && status.clock.generation == 4 && !status.clock.running
    });
    assert_eq!(
        opened.notice.as_deref(),
        Some("Opened the session own.json")
    );
    assert_eq!(opened.lattices.instances, 3);
    assert_eq!(opened.setting.kernel.name, "shared");
    assert!(opened.lab.comparison.is_none());
    assert!(newest_lattices(&session) == wanted, "every lattice");
    let left = SavedSession::load(&path("own.json")).unwrap();
    assert!(left.comparison.is_some() && left.main.log.parameters(0).instances == 2);
    session.act(SessionAction::StepGeneration);
    wait_for(&session, "a step", |status| status.clock.generation == 5);
    let before = std::fs::read(path("own.json")).unwrap();
    session.save_to_its_file().unwrap(); // it has none any more
    assert!(std::fs::read(path("own.json")).unwrap() == before);
    assert!(std::fs::read(path("other.json")).unwrap() == written);
    // It goes back as far as it did.
    session.act(SessionAction::RunTo(0));
    wait_for(&session, "its start", |status| status.clock.generation == 0);
}

/// A session that there is no memory for is refused, and the present one goes on.
#[test]
fn a_session_that_there_is_no_memory_for_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.json");
    let size = Size::new(70, 33).unwrap();
    let file = SessionFile::reserve(&own).unwrap();
    let session = Session::start_from(setup(2, size), file, || {}).unwrap();
    let mut from = saved(&session);
    from.setup.size = Size::new(262_144, 262_144).unwrap();
    from.setup.instances = 16;
    session.open(from, "own.json".into());
    wait_for(&session, "a word of that", |status| {
        let notice = status.notice.as_deref();
        notice.is_some_and(|it| it.contains("MiB") || it.contains("GiB"))
    });
    let now = session.status().clock.generation;
    let on = wait_for(&session, "more rounds", |status| {
        status.clock.generation > now + 5
    });
    assert_eq!((on.lattices.size, on.lattices.instances), (size, 2));
    // It still has its file.
    std::fs::remove_file(&own).unwrap();
    session.save_to_its_file().unwrap();
    assert!(SavedSession::load(&own).is_ok());
}

/// A session's own saves are no changes by another program, however often and fast they follow one
/// another, and whoever removes the file meanwhile.
#[test]
fn a_session_saves_in_its_own_file_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.json");
    let file = SessionFile::reserve(&path).unwrap();
    let session = Session::start_from(setup(2, Size::new(40, 24).unwrap()), file, || {}).unwrap();
    let count = || std::fs::read_dir(folder.path()).unwrap().count();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let saver = session.saver().unwrap();
            let (path, saver) = (&path, saver);
            scope.spawn(move || {
                for _ in 0..10 {
                    assert_eq!(saver.save().as_ref(), Ok(&Some(path.clone())));
                }
            });
        }
    });
    assert_eq!(count(), 2, "the file and its lock");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(session.save_to_its_file(), Ok(Some(path.clone())));
    let text = std::fs::read(&path).unwrap();
    std::fs::write(&path, &text[1..]).unwrap();
    let refused = session.save_to_its_file().unwrap_err();
    assert!(
        refused.to_string().contains("own.json was changed by"),
        "{refused}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), text[1..]);
    assert_eq!(count(), 3);
}

/// A file is reserved until its session ends, or until another session is opened in its place.
#[test]
fn a_file_is_reserved_as_long_as_a_session_saves_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.json");
    let start = || {
        let file = SessionFile::reserve(&path).unwrap();
        Session::start_from(setup(2, Size::new(40, 24).unwrap()), file, || {}).unwrap()
    };
    let is_reserved = || SessionFile::reserve(&path).is_err();
    let session = start();
    assert!(is_reserved());
    let from = saved(&session);
    session.open(from, "own.json".into());
    wait_for(&session, "the opened session", |status| {
        status.notice.as_deref() == Some("Opened the session own.json")
    });
    assert!(!is_reserved());
    let other = start();
    assert!(is_reserved());
    let saver = other.saver().unwrap();
    drop(other);
    assert!(!is_reserved());
    assert_eq!(saver.save(), Ok(None), "it is another session's file now");
}
