//! How it starts and ends, whoever ends it.

use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, PropMode};
use x11rb::wrapper::ConnectionExt as _;

use crate::common::{TIMEOUT, frames_of, lifestreams, names, run, scratch, wait_for};
use crate::shown::{Display, LOG, Shown, on_display, says_what_was_found};

#[test]
fn it_starts_and_ends_by_itself_or_says_why_not() {
    let folder = scratch();
    let display = Display::start(folder.path());
    #[rustfmt::skip]
    let rows = [
        ("--monitor nope", 2, "no monitor 'nope'; available: 0 ("),
        ("--device cuda", 3, "no NVIDIA driver is installed here"),
        ("--size 262144 --kernel bits --instances 64", 3, "use fewer --instances"),
        ("--adapter voodoo", 2, "'voodoo'"),
        ("--frames 60 --size 64", 0, "; drawing with "),
        ("--frames 1 --size 64 --record 1.gif", 0, ""),
        ("--frames 4 --size 64 --record 4.gif", 0, ""),
        ("--rounds 30 --size 64", 0, "; drawing with "),
    ];
    for (line, code, said) in rows {
        let whole = format!("--display window {line}");
        let mut command = on_display(&display, folder.path(), &whole);
        command.env("LIFESTREAMS_LIBCUDA", "/nowhere/libcuda.so");
        let ended = run(command.env("LIFESTREAMS_LOG", LOG));
        assert_eq!(ended.code, Some(code), "{line}: {ended:?}");
        assert!(ended.stderr.contains(said), "{line}: {ended:?}");
        assert!(!ended.stderr.contains("panicked"), "{line}: {ended:?}");
        // As without a window: so many pictures, however few they are.
        let frames = match line.split_once("--record ") {
            Some((_, gif)) => frames_of(&folder.path().join(gif)).count(),
            None => ended.stderr.matches(" presented\n").count(),
        };
        let wanted = match line.split(' ').nth(1).filter(|_| line.contains("--frames")) {
            Some(count) => frames.to_string() == count,
            None => code != 0 || frames > 0,
        };
        assert!(wanted, "{line}: {frames} frames");
    }
}

/// What stops no window, or has one sentence: libraries of the window panic where they can open no file, and
/// screen readers are met on the session's bus, which may be missing or answer nobody.
#[test]
fn it_opens_or_has_lines_whatever_is_missing_around_it() {
    let folder = scratch();
    let line = "--device cpu --size 64x64 --frames 3";
    for (depth, options, said) in [
        (16, [].as_slice(), "of 16 bits per pixel"),
        (24, &["-extension", "RANDR"], "the extension RANDR 1.3"),
    ] {
        let display = Display::of(folder.path(), depth, options);
        let ended = run(&mut on_display(&display, folder.path(), line)).succeeds();
        assert!(
            ended.stderr.contains(said),
            "{depth}, {options:?}: {ended:?}"
        );
    }
    let display = Display::start(folder.path());
    let silent = folder.path().join("silent");
    let _bus = UnixListener::bind(&silent).unwrap();
    for bus in [folder.path().join("missing"), silent] {
        let mut command = on_display(&display, folder.path(), line);
        let address = format!("unix:path={}", bus.display());
        says_what_was_found(&run(command.env("DBUS_SESSION_BUS_ADDRESS", address)).succeeds());
    }
    for limit in [12, 64] {
        let line = format!("$ ulimit -n {limit}; exec lifestreams --display window {line}");
        let ended = run(&mut on_display(&display, folder.path(), &line));
        if limit < 64 {
            ended.refuses(3, "cannot open 16 more files; raise its limit");
        } else {
            ended.succeeds();
        }
    }
}

/// winit panics about a scale of 0, and of less.
#[test]
fn a_window_opens_whatever_the_desktop_says_of_its_dpi() {
    let folder = scratch();
    let display = Display::start(folder.path());
    let (x, root) = (&display.x, display.root);
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
    // Quitting in a long launch takes no longer: some hundred milliseconds, and a launch takes minutes.
    let shown = Shown::open("--instances 2 --generations-per-round 60000");
    let told = Instant::now();
    shown.quit();
    assert!(
        told.elapsed() < Duration::from_secs(15),
        "{:?}",
        told.elapsed()
    );
}

/// Everything is saved, and what was recorded is whole.
fn is_all_kept(folder: &Path) {
    let names = names(folder);
    let gif = names.iter().find(|name| name.ends_with(".gif"));
    let count = frames_of(&folder.join(gif.expect("a recording"))).count();
    let is_left = |name: &String| name.ends_with(".partial") || name.starts_with(".kept");
    assert!(count > 0 && !names.iter().any(is_left), "{names:?}");
    let line = "--display none --rounds 0 --session kept.json";
    lifestreams(folder, line).succeeds();
}

/// As by Ctrl+Q by a signal; also where the display goes away, and where it stands still: then the window's
/// thread waits for it, so another one saves, and further signals do not cut that short.
#[test]
fn whatever_ends_it_everything_is_saved() {
    for (what, code) in [
        ("TERM", 0),
        ("gone", 3),
        ("paused and gone", 3),
        ("still", 0),
    ] {
        let mut shown = Shown::open("--instances 2 --session kept.json");
        if what.starts_with("paused") {
            shown.press("space", "TogglePause");
        }
        shown.key("shift+o");
        shown.hears("notice: Recording lifestreams-", 2);
        match what {
            "TERM" => shown.running.signal("TERM"),
            "still" => {
                shown.display.stop();
                shown.running.signal("INT");
                shown.running.signal("TERM");
                let kept = shown.folder.path().join("kept.json");
                wait_for("the session", || kept.exists().then_some(()));
                shown.running.signal("INT");
            }
            _ => shown.display.kill(),
        }
        let (folder, _display) = (shown.folder, shown.display);
        let ended = shown.running.end(TIMEOUT);
        assert_eq!(ended.code, Some(code), "{what}: {ended:?}");
        assert!(!ended.stderr.contains("panicked"), "{what}: {ended:?}");
        let mut said = ended
            .stderr
            .lines()
            .filter(|line| line.starts_with("lifestreams: "));
        let saved = |line: &str| line.starts_with("lifestreams: the session is saved in ");
        assert!(said.any(saved), "{what}: {ended:?}");
        let broken = "the connection to the display has broken; start again";
        assert_eq!(
            said.next().is_some_and(|line| line.contains(broken)),
            code == 3,
            "{ended:?}"
        );
        is_all_kept(folder.path());
    }
}
