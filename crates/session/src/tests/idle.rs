//! What the session's thread costs while little or nothing happens, and how soon it answers.

use super::*;

/// The processor time of the thread of this process with such a name so far.
fn cpu_time(name: &str) -> Duration {
    let mut ticks = 0;
    for task in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
        let read = |file| std::fs::read_to_string(task.path().join(file)).unwrap_or_default();
        if read("comm").trim() == name {
            // Nanoseconds on a processor come first.
            let own = read("schedstat");
            ticks += own
                .split_whitespace()
                .next()
                .and_then(|it| it.parse::<u64>().ok())
                .unwrap_or(0);
        }
    }
    Duration::from_nanos(ticks)
}

/// The part of a second that the session's thread is on a processor.
fn load(wait: Duration) -> f64 {
    let before = cpu_time("engine");
    std::thread::sleep(wait);
    (cpu_time("engine") - before).as_secs_f64() / wait.as_secs_f64()
}

#[test]
fn a_paused_session_sleeps_and_a_running_one_works_only_for_its_rounds() {
    let size = Size::new(256, 256).unwrap();
    let session = Session::start(
        Setup {
            pace: Pace::PerSecond(60.0),
            ..setup(4, size)
        },
        || {},
    )
    .unwrap();
    wait_for(&session, "some rounds", |status| status.rates.rounds > 20);
    let running = load(Duration::from_secs(2));
    session.act(SessionAction::TogglePause);
    wait_for(&session, "a pause", |status| !status.clock.running);
    std::thread::sleep(Duration::from_secs(2)); // a copy, notices
    let paused = load(Duration::from_secs(2));
    // Measured: 0.05 and 0.0005. A loop that is busy has 1.
    assert!(paused < 0.01, "paused: {paused:.4}");
    assert!(running < 0.5, "running: {running:.4}");
    eprintln!("paused {paused:.5}, at 60 rounds per second {running:.5}");
}

/// At one round a second an edit is seen at once, not with the next round.
#[test]
fn an_edit_is_shown_before_the_next_round_is_due() {
    let size = Size::new(64, 64).unwrap();
    let session = Session::start(
        Setup {
            pace: Pace::PerSecond(0.2),
            ..setup(1, size)
        },
        || {},
    )
    .unwrap();
    wait_for(&session, "a round", |status| status.rates.rounds > 0);
    for i in 0..5 {
        let asked = Instant::now();
        let number = session.edit(Edit {
            instance: 0,
            change: Change::Draw {
                cells: [[i, 3]].into(),
                alive: true,
            },
            continues_stroke: i > 0,
        });
        let mut shown = 0;
        while shown < number {
            session
                .pictures()
                .visit_newer(&mut [0], &mut |_, picture, _| shown = picture.edits);
            assert!(asked.elapsed() < Duration::from_secs(2), "edit {number}");
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}
