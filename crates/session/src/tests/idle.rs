//! What the session's thread costs while little or nothing happens, and how soon it answers.

use std::path::Path;
use std::sync::OnceLock;

use super::*;

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
