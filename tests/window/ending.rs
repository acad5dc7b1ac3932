//! How it starts and ends, whoever ends it.

use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, PropMode};
use x11rb::wrapper::ConnectionExt as _;

use crate::common::{
    PROGRAM, TIMEOUT, command, frames_of, lifestreams, names, run, scratch, wait_for,
};
use crate::display::Display;
use crate::shown::{Shown, on_display, says_what_was_found};

#[test]
fn a_monitor_that_is_not_there_is_an_error_that_lists_them() {
    let folder = scratch();
    let display = Display::start(folder.path());
    let line = "--device cpu --size 64x64 --monitor nope";
    let ended = run(&mut on_display(&display, folder.path(), line));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let said = "no monitor 'nope'; available: 0 (";
    assert!(ended.stderr.contains(said), "{ended:?}");
}

#[test]
fn a_display_that_no_window_opens_on_has_lines() {
    let folder = scratch();
    for (depth, options, said) in [
        (16, [].as_slice(), "of 16 bits per pixel"),
        (30, &[], "of 30 bits per pixel"),
        (24, &["-extension", "RANDR"], "the extension RANDR 1.3"),
    ] {
        let display = Display::of(folder.path(), depth, options);
        let line = "--device cpu --size 64x64 --frames 8";
        let ended = run(&mut on_display(&display, folder.path(), line)).succeeds();
        assert!(
            ended.stderr.contains(said),
            "{depth}, {options:?}: {ended:?}"
        );
    }
}

/// winit panics about a scale of 0, and of less.
#[test]
fn a_window_opens_whatever_the_desktop_says_of_its_dpi() {
    let folder = scratch();
    let display = Display::start(folder.path());
    let (x, screen) = x11rb::connect(Some(&display.name)).unwrap();
    let root = x.setup().roots[screen].root;
    let set = |window, name: u32, kind: u32, value: &[u8]| {
        let replace = PropMode::REPLACE;
        let set = x.change_property8(replace, window, name, kind, value);
        set.unwrap().check().unwrap();
    };
    let opens = || {
        let line = "--device cpu --size 64x64 --frames 3";
        let ended = run(&mut on_display(&display, folder.path(), line)).succeeds();
        says_what_was_found(&ended);
    };
    let resources = AtomEnum::RESOURCE_MANAGER.into();
    set(root, resources, AtomEnum::STRING.into(), b"Xft.dpi:\t0\n");
    opens();
    let atom = |name: &[u8]| x.intern_atom(false, name).unwrap().reply().unwrap().atom;
    let daemon = atom(b"_XSETTINGS_S0");
    x.set_selection_owner(root, daemon, x11rb::CURRENT_TIME)
        .unwrap();
    let name = atom(b"_XSETTINGS_SETTINGS");
    // Byte order, serial number, one setting: a number of this name, its serial number, -1.
    let settings = b"\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\x07\0Xft/DPI\0\0\0\0\0\xFF\xFF\xFF\xFF";
    set(root, name, name, settings);
    opens();
}

/// Libraries of the window panic where they can open no file.
#[test]
fn few_open_files_are_an_error_or_enough() {
    let folder = scratch();
    let display = Display::start(folder.path());
    for limit in (4..=20).chain([64]) {
        let mut shell = command("sh", folder.path());
        let line = format!("ulimit -n {limit} && exec \"$@\"");
        shell.args(["-c", &line, "sh", PROGRAM, "--display", "window"]);
        shell.args(["--frames", "1", "--size", "64x64", "--device", "cpu"]);
        let ended = run(shell.env("DISPLAY", &display.name));
        match ended.code {
            Some(0) => assert!(limit > 16, "{limit}: {ended:?}"),
            _ => ended.refuses(3, &["cannot open 16 more files; raise its limit"]),
        }
        assert!(limit < 64 || ended.code == Some(0), "{ended:?}");
    }
}

/// Screen readers are met on the session's bus.
#[test]
fn a_bus_that_is_missing_or_answers_nobody_holds_up_no_window() {
    let folder = scratch();
    let display = Display::start(folder.path());
    let silent = folder.path().join("silent");
    let _bus = UnixListener::bind(&silent).unwrap();
    for bus in [folder.path().join("missing"), silent] {
        let line = "--device cpu --size 64x64 --frames 3";
        let mut command = on_display(&display, folder.path(), line);
        let address = format!("unix:path={}", bus.display());
        let ended = run(command.env("DBUS_SESSION_BUS_ADDRESS", address)).succeeds();
        says_what_was_found(&ended);
    }
}

#[test]
fn the_window_managers_close_ends_it_with_success() {
    let mut shown = Shown::open("--instances 2");
    // The window manager may not have the window yet, and then the key is nobody's: it is pressed
    // again, as a person would.
    let mut pressed: Option<Instant> = None;
    wait_for("the window's end", || {
        if pressed.is_none_or(|at| at.elapsed() > Duration::from_secs(5)) {
            shown.key("alt+F4");
            pressed = Some(Instant::now());
        }
        (!shown.running.runs()).then_some(())
    });
    let (ended, _display) = shown.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    says_what_was_found(&ended);
}

#[test]
fn quitting_in_a_long_launch_takes_no_longer() {
    let shown = Shown::open("--instances 2 --generations-per-round 60000");
    shown.key("ctrl+q");
    let told = Instant::now();
    let (ended, _display) = shown.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    // Some hundred milliseconds; a launch takes minutes.
    let took = told.elapsed();
    assert!(took < Duration::from_secs(15), "{took:?}");
}

#[test]
fn a_display_that_goes_away_ends_it_with_3_and_a_sentence() {
    for pause in [false, true] {
        let mut shown = Shown::open("--instances 2 --session kept.json");
        if pause {
            shown.press("space", "TogglePause");
        }
        shown.key("shift+o");
        shown.hears("notice: Recording lifestreams-", 2);
        shown.display.kill();
        let folder = shown.folder;
        let ended = shown.running.end(TIMEOUT);
        assert_eq!(ended.code, Some(3), "{ended:?}");
        let lines = ended.stderr.lines();
        let said: Vec<_> = lines
            .filter(|line| line.starts_with("lifestreams: "))
            .collect();
        assert_eq!(said.len(), 3, "{said:?}");
        let saved = "lifestreams: the session is saved in ";
        assert!(
            said[1].starts_with(saved) && said[1].ends_with("kept.json"),
            "{said:?}"
        );
        let sentence = "the connection to the display has broken; start again";
        assert!(said[2].contains(sentence), "{said:?}");
        assert!(!ended.stderr.contains("panicked"), "{ended:?}");
        // Everything is saved all the same.
        let names = names(folder.path());
        let gif = names.iter().find(|name| name.ends_with(".gif"));
        let count = frames_of(&folder.path().join(gif.expect("a recording"))).count();
        assert!(count > 0 && !names.iter().any(|name| name.ends_with(".partial")));
        let line = "--display none --rounds 0 --session kept.json";
        lifestreams(folder.path(), line).succeeds();
    }
}

#[test]
fn frames_and_rounds_end_it() {
    for (line, least) in [("--frames 60", 60), ("--frames 1", 1), ("--rounds 30", 1)] {
        let folder = scratch();
        let display = Display::start(folder.path());
        let full = format!("{line} --size 64x64 --display window");
        let mut command = on_display(&display, folder.path(), &full);
        let ended = run(command.env("LIFESTREAMS_LOG", "off,lifestreams=trace"));
        assert_eq!(ended.code, Some(0), "{line}: {ended:?}");
        let frames = ended.stderr.matches(" presented\n").count();
        assert!(frames >= least, "{line}: {frames} frames");
        assert!(line != "--frames 60" || frames == 60, "{frames} frames");
        if line != "--frames 1" {
            says_what_was_found(&ended);
        }
    }
}

#[test]
fn a_start_that_fails_closes_the_window_again() {
    let folder = scratch();
    let display = Display::start(folder.path());
    for (line, code, words) in [
        ("--device cuda", 3, "no NVIDIA driver is installed here"),
        (
            "--size 262144x262144 --kernel bits --instances 64 --device cpu",
            3,
            "use fewer --instances",
        ),
        ("--adapter voodoo", 2, "'voodoo'"),
    ] {
        let mut command = on_display(&display, folder.path(), line);
        command.env("LIFESTREAMS_LIBCUDA", "/nowhere/libcuda.so");
        run(&mut command).refuses(code, &[words]);
    }
}

/// As by Ctrl+Q: the session is saved, and what was recorded is whole.
#[test]
fn a_signal_ends_it_with_everything_saved() {
    for signal in ["TERM", "QUIT"] {
        let shown = Shown::open("--instances 2 --session kept.json");
        shown.key("shift+o");
        shown.hears("Recording lifestreams-", 0);
        shown.running.signal(signal);
        let (display, folder) = (shown.display, shown.folder);
        let ended = shown.running.end(TIMEOUT);
        assert_eq!(ended.code, Some(0), "{signal}: {ended:?}");
        let names = names(folder.path());
        assert!(names.iter().any(|name| name == "kept.json"), "{names:?}");
        assert!(names.iter().any(|name| name.ends_with(".gif")), "{names:?}");
        drop(display);
    }
}

/// The window's thread waits for the display, so another one saves; further signals do not cut that
/// short.
#[test]
fn a_display_that_stands_still_holds_up_no_signal() {
    let shown = Shown::open("--instances 2 --session kept.json");
    shown.key("shift+o");
    shown.hears("notice: Recording lifestreams-", 2);
    shown.display.stop();
    for signal in ["INT", "TERM"] {
        shown.running.signal(signal);
    }
    let kept = shown.folder.path().join("kept.json");
    wait_for("the session", || kept.exists().then_some(()));
    shown.running.signal("INT");
    let ended = shown.running.end(TIMEOUT).succeeds();
    let mut lines = ended.stderr.lines();
    let last = lines.rfind(|line| line.starts_with("lifestreams: "));
    assert_eq!(last, Some("lifestreams: the session is saved in kept.json"));
    let names = names(shown.folder.path());
    assert!(names.iter().any(|name| name.ends_with(".gif")), "{names:?}");
    let left = |name: &&String| {
        [".kept", ".lifestreams"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    assert_eq!(names.iter().find(left), None, "{names:?}");
    let line = "--display none --rounds 0 --session kept.json";
    lifestreams(shown.folder.path(), line).succeeds();
}
