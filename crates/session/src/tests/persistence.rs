//! Session files, and refusals where memory runs out.

use super::*;

fn saved(session: &Session) -> SavedSession {
    session.saved().recv_timeout(TIMEOUT).unwrap()
}

/// Larger lattices that there is no memory for are refused, and everything goes on.
#[test]
fn larger_lattices_than_there_is_memory_for_are_refused() {
    let size = Size::new(70, 33).unwrap();
    let session = Session::start(setup(16, size), || {}).unwrap();
    // 8 GiB of bits each, and copies of them.
    let large = Size::new(262_144, 262_144).unwrap();
    session.act(SessionAction::SetSize(large));
    assert_eq!(refused_for_memory(&session).lattices.size, size);
}

/// Waits until a lack of memory has been said, and for some more rounds.
fn refused_for_memory(session: &Session) -> Arc<Status> {
    let refused = wait_for(session, "a word of that", |status| {
        let notice = status.notice.as_deref();
        notice.is_some_and(|it| it.contains("MiB") || it.contains("GiB"))
    });
    let now = refused.clock.generation;
    wait_for(session, "more rounds", |status| {
        status.clock.generation > now + 5
    })
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
    let on = refused_for_memory(&session);
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

#[test]
fn work_that_panics_is_said() {
    let session = Session::start(setup(1, Size::new(32, 32).unwrap()), || {}).unwrap();
    session.in_background("test", || panic!("as the test wants"));
    wait_for_notice(&session, "internal: as the test wants");
    drop(session);
    // The session's own thread calls this.
    let calls = AtomicU64::new(0);
    let call = move || calls.fetch_add(1, Ordering::Relaxed);
    let wake = move || assert!(call() != 9, "as the test wants");
    let session = Session::start(setup(1, Size::new(32, 32).unwrap()), wake).unwrap();
    while session.status().failed.is_none() {}
    let failed = session.status().failed.clone();
    assert_eq!(failed.as_deref(), Some("internal: as the test wants"));
    saved(&session); // it answers on
}
