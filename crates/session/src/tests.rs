//! A whole session on the CPU engine, with its threads, its time and its files. What keys lead to is what
//! the worker's tests show, without a thread.

use super::*;
use crate::scripted_engine::{ReferenceKernel, own_kernel};
use crate::{DeviceChoice, Finding, KernelChoice, Pace, Start, Switch};
use engine::kernels::{GpuCode, OwnCode, Ptx};
use engine::{Kernel, kernels};
use life::{Rule, Size, reference, soup};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

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
        let shown = status.rates.round_us.unwrap();
        assert!(shown == after || !(0.95..=1.05).contains(&(shown / after)));
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

// A kernel that a user wrote, where it is not compiled or has no end.

fn wait_for_kernel(session: &Session, kernel: &'static Kernel) {
    wait_for(session, kernel.name, |it| it.setting.kernel == kernel);
}

#[test]
fn a_saved_own_kernel_gives_way_to_its_rung_where_it_is_not_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.json");
    let session = start(setup(2));
    session.set_own_kernel(own_kernel("bits", None));
    wait_for_notice(&session, "your kernel was compiled for a GPU");
    let own = ReferenceKernel::new("shared").kernel;
    session.set_own_kernel(own);
    wait_for_kernel(&session, own);
    saved(&session).save(&path).unwrap();
    let session = start(setup(2));
    let open = || session.open(SavedSession::load(&path).unwrap(), "own.json".into());
    open();
    let words = "The kernel of your own in this file is not compiled here; 02_shared takes";
    let setting = &wait_for_notice(&session, words).setting;
    assert_eq!((setting.kernel, setting.own_kernel), (own.rung(), None));
    // It is saved all the same, until another one is written; which kernel is in use, too.
    let source = own.own.as_ref().unwrap().source.as_str();
    let assert_kept = |in_use| {
        let stored = saved(&session).setup.stored_kernel.unwrap();
        assert_eq!((&*stored.source, stored.in_use), (source, in_use));
    };
    assert_kept(true);
    session.act(SessionAction::UseKernel(0));
    wait_for_kernel(&session, &kernels::KERNELS[0]);
    assert_kept(false);
    // One of this session does not take its place.
    let other = ReferenceKernel::new("planar").kernel;
    session.set_own_kernel(other);
    wait_for_kernel(&session, other);
    open();
    wait_for_kernel(&session, own.rung());
    assert_kept(true);
    // A file in which it is not that of the rung.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"shared\"", "\"global\"")).unwrap();
    let error = SavedSession::load(&path).unwrap_err().to_string();
    let why = "the kernel of your own is written from 02_shared, and 'global' is in use";
    assert!(error.contains(why), "{error}");
}

/// The tests' driver has no kernel without an end: a GPU must be there.
#[test]
#[ignore = "needs a GPU"]
fn an_own_kernel_without_an_end_on_a_gpu_gives_way_on_the_cpu() {
    let bits = kernels::find("bits").unwrap();
    let text = Ptx::find(bits.file).unwrap().only("life_bits");
    let endless = text.replacen("\tret;", "$ENDLESS:\n\tbra.uni \t$ENDLESS;\n\tret;", 1);
    let code = OwnCode {
        rung: bits,
        source: String::new(),
        rules: None,
        gpu: Some(GpuCode::Ptx(endless)),
        cpu: None,
    };
    let device = DeviceChoice::Cuda;
    let session = start(Setup { device, ..setup(2) });
    wait_for(&session, "rounds", |status| status.rates.rounds > 3);
    session.set_own_kernel(Kernel::own(code, bits.block()));
    wait_for_notice(
        &session,
        "Your kernel failed (it took too long); 05_bits takes",
    );
    let status = wait_for(&session, "the CPU", |it| it.engine.is_cpu());
    assert_eq!(status.setting.kernel, bits);
    let rounds = status.rates.rounds;
    wait_for(&session, "rounds", |it| it.rates.rounds > rounds + 3);
    assert_cells(&session, 2);
}

// What the session's thread costs while little or nothing happens, and how soon it answers.

/// The part of a second that this thread (a folder in `/proc`) is on a processor.
fn load(thread: &Path, wait: Duration) -> f64 {
    let on_processor = || {
        let figures = std::fs::read_to_string(thread.join("schedstat")).unwrap();
        let nanoseconds = figures.split_whitespace().next().unwrap().parse();
        Duration::from_nanos(nanoseconds.unwrap())
    };
    let before = on_processor();
    std::thread::sleep(wait);
    (on_processor() - before).as_secs_f64() / wait.as_secs_f64()
}

#[test]
fn a_paused_session_sleeps_and_a_running_one_works_only_for_its_rounds() {
    let thread = Arc::new(OnceLock::new());
    // Sessions of other tests have threads of the same name in this process.
    let woken = thread.clone();
    let session = Session::start(
        Setup {
            pace: Pace::PerSecond(60.0),
            ..setup(4)
        },
        move || {
            if std::thread::current().name() == Some("engine") {
                woken.get_or_init(|| std::fs::canonicalize("/proc/thread-self").unwrap());
            }
        },
    )
    .unwrap();
    wait_for(&session, "some rounds", |status| status.rates.rounds > 20);
    let thread: &std::path::PathBuf = thread.get().expect("the session's thread wakes the window");
    let running = load(thread, Duration::from_secs(2));
    session.act(SessionAction::TogglePause);
    wait_for(&session, "a pause", |status| !status.clock.running);
    std::thread::sleep(Duration::from_secs(2)); // a copy, notices
    let paused = load(thread, Duration::from_secs(2));
    // Measured: 0.05 and 0.0005. A loop that is busy has 1.
    assert!(paused < 0.01, "paused: {paused:.4}");
    assert!(running < 0.5, "running: {running:.4}");
    eprintln!("paused {paused:.5}, at 60 rounds per second {running:.5}");
}

// Session files, requests for more memory than there is, and work that panics.

/// A session with a file of its own.
fn start_in(path: &Path) -> Session {
    let file = SessionFile::reserve(path).unwrap();
    Session::start_from(setup(2), file, || {}).unwrap()
}

/// Lattices that need more memory than there is are refused, and so is a session's file with such lattices:
/// the present ones go on, and the session still has its file.
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

#[test]
fn a_users_round_is_predicted_where_recorded_rounds_are_shown() {
    let kernel = kernels::find("sync-global").unwrap();
    let size = Size::new(1024, 1024).unwrap();
    let session = start(Setup::new(2, size, kernel, DeviceChoice::Recorded));
    session.watch_overlap(true);
    let source = "for i in 0..N { advance(i, 0); download(i, 0); }";
    drop(session.set_own_round(source.into()));
    let is_predicted =
        |status: &Status| status.lab.isolated.is_some() && status.rates.round_us.is_none();
    let status = wait_for(&session, "a prediction", is_predicted);
    let trace = session.trace();
    let (round, isolated) = (
        trace.drawn().unwrap(),
        status.lab.isolated.as_ref().unwrap(),
    );
    assert_eq!((round.steps.len(), isolated.len()), (4, 4));
    let alone: i64 = isolated.iter().map(|op| op.took.0).sum();
    assert!(round.length().unwrap().0 >= alone, "one after the other");
}
