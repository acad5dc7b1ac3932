//! With no display the program goes on without a window: it says so in one line, prints figures,
//! and ends when it is through or told to.

use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::common::{
    Ended, Running, TIMEOUT, command, lifestreams, lifestreams_with, scratch, spawn, wait_for,
};

const UNSET: &str = "neither DISPLAY nor WAYLAND_DISPLAY is set";

/// Small lattices, so that a slow machine shows what a fast one does.
const SMALL: &str = "--size 32 --instances 3 --device cpu";

/// It ended with 0, said one line of what was found and used, and printed figures; the last generation.
#[track_caller]
fn went_on_without_a_window(ended: &Ended, why: &str) -> u64 {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended.says_one_sentence(&format!(
        "{why} | Computing on | without a window; Ctrl+C stops it"
    ));
    let generations = ended.stdout.lines().map(|line| {
        let rest = line.strip_prefix("generation ").expect(line);
        // What is over at once has no rates.
        let [rounds, cells] = ["rounds/s", "cell/s"].map(|rate| rest.contains(rate));
        assert!(rounds == cells && !rest.contains("- "), "{line}");
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
        digits.unwrap().parse().unwrap()
    });
    generations.fold(None, |_, it| Some(it)).expect("figures")
}

#[test]
fn rounds_end_it_whatever_is_stepped_and_however() {
    let folder = scratch();
    let broken = "no window can be opened here";
    let nowhere = [("WAYLAND_DISPLAY", "nowhere"), ("DISPLAY", ":987654")];
    #[rustfmt::skip]
    let rows = [
        ("--rounds 0", 0..=0, &[][..], UNSET),
        ("--rounds 12 --generations-per-round 7", 84..=84, &[], UNSET),
        ("--rounds 3", 3..=3, &nowhere[1..], broken),
        ("--rounds 3", 3..=3, &nowhere, broken),
        ("--rounds 5 --kernel bits --streams one --transfer view", 5..=5, &[], UNSET),
        ("--rounds 40 --pace unthrottled --generations-per-round 2", 80..=80, &[], UNSET),
        ("--frames 10", 9..=u64::MAX, &[], UNSET),
        // As many as fit in a frame.
        ("--rounds 40 --pace max", 201..=u64::MAX, &[], UNSET),
    ];
    for (line, generations, variables, why) in rows {
        let ended = lifestreams_with(folder.path(), variables, &format!("{line} {SMALL}"));
        let reached = went_on_without_a_window(&ended, why);
        assert!(generations.contains(&reached), "{line}: {ended:?}");
    }
}

#[test]
fn a_signal_ends_it_at_once_with_success_and_a_line_comes_every_second() {
    let folder = scratch();
    for name in ["INT", "TERM", "HUP", "QUIT"] {
        let running = Running::start(&mut command(folder.path(), SMALL));
        let line = |count| {
            let is_there = || running.printed().lines().count() >= count;
            wait_for("figures", || is_there().then(Instant::now))
        };
        let first = line(1);
        if name == "INT" {
            // They may come late on a busy machine, and the next then sooner; all of them not.
            let apart = line(3).duration_since(first).as_secs_f64();
            assert!((1.2..20.0).contains(&apart), "{apart} s for two seconds");
        }
        running.signal(name);
        // Much sooner; but this machine may be busy.
        let ended = running.end(Duration::from_secs(10));
        assert!(went_on_without_a_window(&ended, UNSET) > 1, "{ended:?}");
    }
    // Even in a long launch, which is under way most likely.
    let line = "--size 512 --instances 4 --device cpu --generations-per-round 4000000000";
    let running = Running::start(&mut command(folder.path(), line));
    running.wait("Ctrl+C stops it");
    std::thread::sleep(Duration::from_millis(700));
    running.signal("INT");
    running.end(TIMEOUT).succeeds();
}

/// As a terminal that was stopped by Ctrl+S, or a pager that waits for a key.
#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_takes_nothing_holds_up_no_signal() {
    let folder = scratch();
    let path = |name: &str| folder.path().join(name);
    let line = format!("--display none --session kept.json {SMALL}");
    lifestreams(folder.path(), &format!("--rounds 1 {line}")).succeeds();
    let (_reader, mut full) = std::io::pipe().unwrap();
    full.write_all(&[b' '; 1 << 16]).unwrap(); // as much as it holds
    let mut command = command(folder.path(), &line);
    command.stderr(fs::File::create(path("said")).unwrap());
    let mut child = spawn(command.stdout(full));
    let said = || fs::read_to_string(path("said")).unwrap();
    wait_for("the session", || {
        said().contains("continuing the session").then_some(())
    });
    fs::remove_file(path("kept.json")).unwrap();
    crate::common::signal(child.id(), "TERM");
    let code = wait_for("its end", || child.try_wait().unwrap());
    assert_eq!(code.code(), Some(0), "{}", said());
    assert!(path("kept.json").exists());
    let last = "lifestreams: the session is saved in kept.json";
    assert_eq!(said().lines().last(), Some(last));
}
