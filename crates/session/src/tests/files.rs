//! Session files, what there is no memory for, and work that panics.

use super::*;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// A session with a file of its own.
fn start_in(path: &Path) -> Session {
    let file = SessionFile::reserve(path).unwrap();
    Session::start_from(setup(2), file, || {}).unwrap()
}

/// Lattices and a session that there is no memory for are refused: the present ones go on, and the session
/// still has its file.
#[test]
fn what_there_is_no_memory_for_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.json");
    let session = start_in(&own);
    // 8 GiB of bits each, and copies of them.
    let large = Size::new(262_144, 262_144).unwrap();
    let mut from = saved(&session);
    (from.setup.size, from.setup.instances) = (large, 16);
    session.act(SessionAction::SetInstances(16));
    wait_for(&session, "16", |status| status.lattices.instances == 16);
    for asks in [&|| session.act(SessionAction::SetSize(large)), &|| {
        session.open(from.clone(), "own.json".into())
    }] as [&dyn Fn(); 2]
    {
        asks();
        let refused = wait_for_notice(&session, "iB");
        let now = refused.clock.generation;
        let on = wait_for(&session, "more rounds", |it| it.clock.generation > now + 5);
        assert_eq!((on.lattices.size, on.lattices.instances), (size(), 16));
        session.act(SessionAction::SetRule(Rule::LIFE));
        wait_for_notice(&session, "already");
    }
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
    let session = start_in(&path);
    let count = || std::fs::read_dir(folder.path()).unwrap().count();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let (path, saver) = (&path, session.saver().unwrap());
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
    let refused = session.save_to_its_file().unwrap_err().to_string();
    assert!(refused.contains("own.json was changed by"), "{refused}");
    assert_eq!(std::fs::read(&path).unwrap(), text[1..]);
    assert_eq!(count(), 3);
}

/// A file is reserved until its session ends, or until another session is opened in its place: then the
/// former is saved there, and the opened one is never written over.
#[test]
fn a_file_is_reserved_as_long_as_a_session_saves_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.json");
    let is_reserved = || SessionFile::reserve(&path).is_err();
    let session = start_in(&path);
    assert!(is_reserved());
    session.act(SessionAction::SetInstances(3));
    let mut from = saved(&session);
    from.selected = 1;
    session.open(from, "own.json".into());
    wait_for_notice(&session, "Opened the session own.json");
    assert!(!is_reserved());
    let load = || SavedSession::load(&path).unwrap();
    assert_eq!((load().setup.instances, load().selected), (3, 0));
    session.act(SessionAction::SetInstances(4));
    wait_for(&session, "four", |status| status.lattices.instances == 4);
    session.save_to_its_file().unwrap(); // it has none any more
    assert_eq!(load().setup.instances, 3);
    let other = start_in(&path);
    assert!(is_reserved());
    let saver = other.saver().unwrap();
    drop(other);
    assert!(!is_reserved());
    assert_eq!(saver.save(), Ok(None), "it is another session's file now");
}

#[test]
fn work_that_panics_is_said() {
    let session = start(setup(1));
    session.in_background("test", || panic!("as the test wants"));
    wait_for_notice(&session, "internal: as the test wants");
    drop(session);
    // The session's own thread calls this.
    let calls = AtomicU64::new(0);
    let call = move || calls.fetch_add(1, Ordering::Relaxed);
    let wake = move || assert!(call() != 9, "as the test wants");
    let session = Session::start(setup(1), wake).unwrap();
    while session.status().failed.is_none() {}
    let failed = session.status().failed.clone();
    assert_eq!(failed.as_deref(), Some("internal: as the test wants"));
    saved(&session); // it answers on
}
