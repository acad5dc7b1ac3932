//! With no display the program goes on without a window: it says so in one line, prints figures,
//! and ends when it is through or told to.

use std::fs;
use std::time::{Duration, Instant};

use crate::common::{
    Ended, Running, TIMEOUT, lifestreams, lifestreams_with, program, scratch, signal, wait_for,
};

/// Small lattices, so that a slow machine shows what a fast one does.
const SMALL: &str = "--instances 3 --device cpu";

/// It ended with 0, said one line of what was found and used, and printed figures; the last generation.
#[track_caller]
fn went_on_without_a_window(ended: &Ended, why: &str) -> u64 {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended.says_one_sentence(&[why, "Computing on", "without a window; Ctrl+C stops it"]);
    let mut generation = None;
    for line in ended.stdout.lines() {
        let rest = line.strip_prefix("generation ").expect(line);
        // What is over at once has no rates.
        let rates = ["rounds/s", "cell/s"].map(|rate| rest.contains(rate));
        assert!(rates == [true; 2] || rates == [false; 2], "{line}");
        assert!(!rest.contains("- "), "{line}");
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
        generation = Some(digits.unwrap().parse().unwrap());
    }
    generation.expect("figures")
}

#[test]
fn rounds_end_it_whatever_is_stepped_and_however() {
    let folder = scratch();
    let unset = "neither DISPLAY nor WAYLAND_DISPLAY is set";
    let broken = "no window can be opened here";
    let [x, wayland] = ["DISPLAY", "WAYLAND_DISPLAY"];
    type Variables<'a> = &'a [(&'a str, &'a str)];
    #[rustfmt::skip]
    let rows: [(&str, u64, Variables, &str); 7] = [
        ("--rounds 0 --size 32", 0, &[], unset),
        ("--rounds 12 --size 32 --generations-per-round 7", 84, &[], unset),
        ("--rounds 3 --size 32", 3, &[(x, ":987654")], broken),
        ("--rounds 3 --size 32", 3, &[(wayland, "nowhere"), (x, ":987654")], broken),
        ("--rounds 5 --size 32 --kernel bits --streams one --transfer view", 5, &[], unset),
        ("--rounds 40 --size 32 --pace unthrottled --generations-per-round 2", 80, &[], unset),
        ("--frames 10 --size 32 --instances 1", u64::MAX, &[], unset),
    ];
    for (line, generation, variables, why) in rows {
        let ended = lifestreams_with(folder.path(), variables, &format!("{line} --device cpu"));
        let reached = went_on_without_a_window(&ended, why);
        if generation == u64::MAX {
            assert!(reached >= 9, "{line}: {ended:?}");
        } else {
            assert_eq!(reached, generation, "{line}: {ended:?}");
        }
    }
    let line = format!("--rounds 40 --size 32 --pace max {SMALL}");
    let generation = went_on_without_a_window(&lifestreams(folder.path(), &line), unset);
    assert!(generation > 200, "as many as fit in a frame: {generation}");
}

#[test]
fn a_signal_ends_it_at_once_with_success_and_a_line_comes_every_second() {
    let folder = scratch();
    for name in ["INT", "TERM", "HUP", "QUIT"] {
        let mut command = program(folder.path());
        let running = Running::start(command.args(["--size", "32"]).args(SMALL.split(' ')));
        let line = |count| move |said: String| (said.lines().count() >= count).then(Instant::now);
        let first = wait_for("figures", || line(1)(running.printed()));
        if name == "INT" {
            let third = wait_for("further figures", || line(3)(running.printed()));
            // They may come late on a busy machine, and the next then sooner; all of them not.
            let apart = third.duration_since(first).as_secs_f64();
            assert!((1.2..20.0).contains(&apart), "{apart} s for two seconds");
        }
        let told = Instant::now();
        running.signal(name);
        let ended = running.end(TIMEOUT);
        // Much less; but this machine may be busy.
        assert!(
            told.elapsed() < Duration::from_secs(10),
            "{name}: {ended:?}"
        );
        assert!(went_on_without_a_window(&ended, "DISPLAY") > 1, "{ended:?}");
    }
    // Even in a long launch, which is under way most likely.
    let mut command = program(folder.path());
    let line = "--size 512 --instances 4 --device cpu --generations-per-round 4000000000";
    let running = Running::start(command.args(line.split(' ')));
    running.wait_said("Ctrl+C stops it");
    std::thread::sleep(Duration::from_millis(700));
    running.signal("INT");
    running.end(TIMEOUT).succeeds();
}

/// As a terminal that was stopped by Ctrl+S, or a pager that waits for a key.
#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_takes_nothing_holds_up_no_signal() {
    use std::io::Write as _;
    let folder = scratch();
    let path = |name: &str| folder.path().join(name);
    let line = format!("--display none --session kept.json --size 32 {SMALL}");
    lifestreams(folder.path(), &format!("--rounds 1 {line}")).succeeds();
    let (_reader, mut full) = std::io::pipe().unwrap();
    full.write_all(&[b' '; 1 << 16]).unwrap(); // as much as it holds
    let mut command = program(folder.path());
    command.args(line.split(' ')).stdout(full);
    command.stderr(fs::File::create(path("said")).unwrap());
    let mut child = command.spawn().unwrap();
    let said = || fs::read_to_string(path("said")).unwrap();
    wait_for("the session", || {
        said().contains("continuing the session").then_some(())
    });
    fs::remove_file(path("kept.json")).unwrap();
    signal(child.id(), "TERM");
    let code = wait_for("its end", || child.try_wait().unwrap());
    assert_eq!(code.code(), Some(0), "{}", said());
    assert!(path("kept.json").exists());
    let last = "lifestreams: the session is saved in kept.json";
    assert_eq!(said().lines().last(), Some(last));
}
