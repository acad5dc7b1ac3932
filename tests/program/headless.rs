//! With no display the program goes on without a window: it says so in one line, prints figures,
//! and ends when it is through or told to.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{
    Ended, PROGRAM, Running, command, lifestreams, lifestreams_with, program, run, scratch,
};

/// Small lattices, so that a slow machine shows what a fast one does.
const SMALL: &str = "--size 32x32 --instances 3 --device cpu";

/// It ended with 0, said one line of what was found and used, and printed figures.
#[track_caller]
fn went_on_without_a_window(ended: &Ended, why: &str) {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended.says_one_sentence(&[why, "Computing on", "without a window; Ctrl+C stops it"]);
    let lines: Vec<_> = ended.stdout.lines().collect();
    assert!(!lines.is_empty(), "figures: {ended:?}");
    for line in lines {
        let rest = line.strip_prefix("generation ").expect(line);
        // What is over at once has no rates.
        let rates = ["rounds/s", "cell/s"].map(|rate| rest.contains(rate));
        assert!(rates == [true; 2] || rates == [false; 2], "{line}");
        assert!(!rest.contains("- "), "{line}");
    }
}

/// The generation in the last line of figures.
fn last_generation(ended: &Ended) -> u64 {
    let line = ended.stdout.lines().last().expect("figures");
    let rest = line.strip_prefix("generation ").expect("a generation");
    let end = rest.find(|c: char| !c.is_ascii_digit());
    rest[..end.unwrap_or(rest.len())].parse().unwrap()
}

#[test]
fn few_open_files_are_enough() {
    let folder = scratch();
    for line in ["run -g 1", "--display none --rounds 1"] {
        for limit in [4, 8, 16] {
            let mut shell = command("sh", folder.path());
            let line = format!("ulimit -n {limit} && exec {PROGRAM} {line} {SMALL}");
            run(shell.args(["-c", &line])).succeeds();
        }
    }
}

#[test]
fn frames_and_rounds_end_it() {
    let folder = scratch();
    let ended = lifestreams(folder.path(), &format!("--frames 10 {SMALL}"));
    went_on_without_a_window(&ended, "neither DISPLAY nor WAYLAND_DISPLAY is set");
    assert!(last_generation(&ended) >= 9, "{ended:?}");
    for (rounds, per_round) in [(0, 1), (1, 1), (25, 1), (12, 7)] {
        let line = format!("--rounds {rounds} --generations-per-round {per_round} {SMALL}");
        let ended = lifestreams(folder.path(), &line);
        went_on_without_a_window(&ended, "neither DISPLAY nor WAYLAND_DISPLAY is set");
        assert_eq!(
            last_generation(&ended),
            rounds * per_round,
            "{line}: {ended:?}"
        );
    }
}

#[test]
fn at_the_maximum_pace_rounds_have_as_many_generations_as_fit_in_a_frame() {
    let folder = scratch();
    for (line, least) in [
        ("--pace max", 200),
        ("--pace max --kernel bits", 200),
        ("--pace unthrottled --generations-per-round 2", 80),
        ("--pace 500", 40),
    ] {
        let ended = lifestreams(folder.path(), &format!("--rounds 40 {line} {SMALL}"));
        went_on_without_a_window(&ended, "DISPLAY");
        let generation = last_generation(&ended);
        assert!(generation >= least, "{line}: {ended:?}");
        assert!(least >= 200 || generation == least, "{line}: {ended:?}");
    }
    let refused = lifestreams(folder.path(), "--pace fast");
    refused.refuses(
        2,
        &[
            "fast",
            "take a number of rounds per second, unthrottled or max",
        ],
    );
}

#[test]
fn every_kernel_and_way_of_running_goes_on() {
    let folder = scratch();
    for ways in [
        "--kernel global",
        "--kernel shared --graphs on",
        "--kernel sync-shared --streams one",
        "--kernel bits --graphs on --streams one",
        "--kernel bits --transfer view",
        "--pattern missing-torus.rle",
        "--size 1x1 --kernel bits",
        "--instances 300",
    ] {
        fs::write(folder.path().join("missing-torus.rle"), "x = 3, y = 1\n3o!").unwrap();
        let small = SMALL
            .split_once("--device")
            .map(|(_, device)| format!("--device{device}"));
        let size = if ways.contains("--size") {
            ""
        } else {
            "--size 32x32"
        };
        let line = format!("--rounds 5 {ways} {size} {}", small.unwrap());
        let ended = lifestreams(folder.path(), &line);
        went_on_without_a_window(&ended, "DISPLAY");
        assert_eq!(last_generation(&ended), 5, "{line}: {ended:?}");
    }
}

#[test]
fn asked_for_no_window_it_says_so() {
    let folder = scratch();
    let ended = lifestreams(folder.path(), &format!("--display none --rounds 2 {SMALL}"));
    went_on_without_a_window(&ended, "--display none");
    assert!(ended.stderr.contains("on the CPU"), "{ended:?}");
}

#[test]
fn it_names_why_the_cpu_computes_where_nobody_asked_for_it() {
    let folder = scratch();
    let nowhere = [("LIFESTREAMS_LIBCUDA", "/nowhere/libcuda.so")];
    let ended = lifestreams_with(folder.path(), &nowhere, "--rounds 1 --size 32x32");
    went_on_without_a_window(&ended, "no NVIDIA driver is installed here");
}

#[test]
fn signals_end_it_at_once_with_success() {
    let folder = scratch();
    for name in ["INT", "TERM", "HUP", "QUIT"] {
        let mut command = program(folder.path());
        let mut running = Running::start(command.args(SMALL.split(' ')));
        running.wait_printed("generation ");
        assert!(running.runs(), "it runs until it is stopped");
        running.signal(name);
        let told = Instant::now();
        let ended = running.end(crate::common::TIMEOUT);
        // Much less; but this machine may be busy.
        assert!(
            told.elapsed() < Duration::from_secs(10),
            "{name}: {ended:?}"
        );
        went_on_without_a_window(&ended, "DISPLAY");
        assert!(last_generation(&ended) > 1, "{name}: {ended:?}");
        assert!(
            ended.stdout.lines().count() >= 2,
            "a line per second, and a last one: {ended:?}"
        );
    }
}

#[test]
fn a_signal_ends_it_even_in_a_long_launch() {
    let folder = scratch();
    let mut command = program(folder.path());
    command.args("--size 512x512 --instances 4 --device cpu".split(' '));
    command.args(["--generations-per-round", "4000000000"]);
    let running = Running::start(&mut command);
    running.wait_said("Ctrl+C stops it");
    std::thread::sleep(Duration::from_millis(700)); // for the launch to be under way, most likely
    running.signal("INT");
    let ended = running.end(crate::common::TIMEOUT).succeeds();
    ended.says_one_sentence(&["Ctrl+C stops it"]);
}

#[test]
fn a_line_of_figures_comes_every_second() {
    let folder = scratch();
    let mut command = program(folder.path());
    command
        .args(SMALL.split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut times = Vec::new();
    for line in lines.take(3) {
        assert!(line.unwrap().starts_with("generation "));
        times.push(Instant::now());
    }
    crate::common::signal(child.id(), "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    // They may come late on a busy machine, and the next then sooner; all of them not.
    let apart = (times[2] - times[0]).as_secs_f64();
    assert!((1.2..20.0).contains(&apart), "{apart} s for two seconds");
}

#[test]
fn it_ends_when_nobody_reads_its_figures_any_more() {
    let folder = scratch();
    let line = format!("{PROGRAM} {SMALL} | head -n 1");
    let ended = run(command("sh", folder.path()).args(["-c", &line]));
    went_on_without_a_window(&ended, "DISPLAY");
    assert!(ended.took < crate::common::TIMEOUT, "{ended:?}");
}

/// As a terminal that was stopped by Ctrl+S, or a pager that waits for a key.
#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_takes_nothing_holds_up_no_signal() {
    use std::io::Write as _;
    let folder = scratch();
    let path = |name: &str| folder.path().join(name);
    let line = format!("--display none --session kept.json {SMALL}");
    lifestreams(folder.path(), &format!("--rounds 1 {line}")).succeeds();
    let (_reader, mut full) = std::io::pipe().unwrap();
    full.write_all(&[b' '; 1 << 16]).unwrap(); // as much as it holds
    let mut command = program(folder.path());
    command.args(line.split(' ')).stdout(full);
    command.stderr(fs::File::create(path("said")).unwrap());
    let mut child = command.spawn().unwrap();
    let said = || fs::read_to_string(path("said")).unwrap();
    crate::common::wait_for("the session", || {
        said().contains("continuing the session").then_some(())
    });
    fs::remove_file(path("kept.json")).unwrap();
    crate::common::signal(child.id(), "TERM");
    let code = crate::common::wait_for("its end", || child.try_wait().unwrap());
    assert_eq!(code.code(), Some(0), "{}", said());
    assert!(path("kept.json").exists());
    let last = "lifestreams: the session is saved in kept.json";
    assert_eq!(said().lines().last(), Some(last));
}

#[cfg(target_os = "linux")]
#[test]
fn a_ladder_that_is_interrupted_takes_its_rung_s_process_with_it() {
    let folder = scratch();
    let line = ["bench", "ladder", "--device", "cpu"];
    let running = Running::start(program(folder.path()).args(line));
    let parent = running.id();
    let children = || {
        let path = format!("/proc/{parent}/task/{parent}/children");
        fs::read_to_string(path).unwrap_or_default()
    };
    let child = crate::common::wait_for("a rung's process", || {
        Some(children().trim().to_owned()).filter(|child| !child.is_empty())
    });
    running.signal("INT");
    let ended = running.end(crate::common::TIMEOUT);
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(
        !Path::new("/proc").join(&child).exists(),
        "{child} still runs"
    );
}

#[test]
fn what_was_too_short_to_measure_has_no_rate() {
    let folder = scratch();
    let line = format!("--display none --rounds 0 {SMALL}");
    let ended = lifestreams(folder.path(), &line);
    assert_eq!(ended.stdout, "generation 0\n");
}

#[test]
fn a_window_that_was_asked_for_is_not_quietly_left_out() {
    let folder = scratch();
    let line = format!("--display window --frames 1 {SMALL}");
    lifestreams(folder.path(), &line).refuses(
        3,
        &["set DISPLAY or WAYLAND_DISPLAY", "use --display terminal"],
    );
}

#[test]
fn a_display_that_does_not_answer_is_as_none() {
    let folder = scratch();
    let variables: [&[(&str, &str)]; 4] = [
        &[("DISPLAY", ":987654")],
        &[("DISPLAY", "nonsense")],
        &[("WAYLAND_DISPLAY", "wayland-nowhere")],
        &[
            ("WAYLAND_DISPLAY", "wayland-nowhere"),
            ("DISPLAY", ":987654"),
        ],
    ];
    for variables in variables {
        let line = format!("--display window --frames 1 {SMALL}");
        let ended = lifestreams_with(folder.path(), variables, &line);
        ended.refuses(3, &["no window can be opened here"]);
        let ended = lifestreams_with(folder.path(), variables, &format!("--rounds 3 {SMALL}"));
        went_on_without_a_window(&ended, "no window can be opened here");
    }
}

#[test]
fn empty_variables_are_as_unset() {
    let folder = scratch();
    let variables = [("DISPLAY", ""), ("WAYLAND_DISPLAY", "")];
    let ended = lifestreams_with(folder.path(), &variables, &format!("--rounds 2 {SMALL}"));
    went_on_without_a_window(&ended, "neither DISPLAY nor WAYLAND_DISPLAY is set");
}

#[test]
fn libraries_that_windows_need_are_named_with_their_packages() {
    for library in [
        "libXcursor.so.1",
        "libXi.so.6",
        "libxkbcommon-x11.so.0",
        "libX11.so.6",
    ] {
        let folder = scratch();
        // An empty file of that name is one that cannot be loaded.
        fs::write(folder.path().join(library), "").unwrap();
        let path = folder.path().to_str().unwrap();
        let variables = [("DISPLAY", ":987654"), ("LD_LIBRARY_PATH", path)];
        let line = format!("--display window --frames 1 {SMALL}");
        let ended = lifestreams_with(folder.path(), &variables, &line);
        ended.refuses(
            3,
            &[library, "cannot be loaded; apt-get install libxcursor1"],
        );
        let ended = lifestreams_with(folder.path(), &variables, &format!("--rounds 2 {SMALL}"));
        went_on_without_a_window(&ended, library);
    }
}

#[test]
fn every_field_of_a_report_is_documented() {
    let folder = scratch();
    let line = "run -g 1 --size 8x8 --device cpu --json";
    let ended = lifestreams(folder.path(), line).succeeds();
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/formats.md");
    let text = fs::read_to_string(page).unwrap();
    for field in report.as_object().unwrap().keys() {
        assert!(text.contains(&format!("`{field}`")), "{field}");
    }
}
