//! What is kept of what is seen and edited: pictures, recordings, sessions, and lattices by saved RLE, which
//! the mouse drew on, which were pasted, opened and dropped.

use std::fs;
use std::path::Path;

use life::reference::step;
use life::{Lattice, Pattern, Rule};

use crate::common::{frames_of, names, picture_of, scratch, wait_for};
use crate::shown::{ASKS, DEAD, Picture, SIDES, Shown, size};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::*;
use x11rb::wrapper::ConnectionExt as _;

/// The names in a folder that end so.
fn files(folder: &Path, ending: &str) -> Vec<String> {
    let mut names = names(folder);
    names.retain(|name| name.ends_with(ending));
    names
}

#[test]
fn its_picture_is_saved_as_it_is_seen() {
    let (shown, state) = Shown::paused("--instances 4");
    let panels = shown.shows(&[0, 1, 2, 3], state.generation);
    let seen = shown.rest();
    let folder = shown.folder.path();
    for number in 1..=2 {
        shown.key("o");
        wait_for("a picture's file", || {
            (files(folder, ".png").len() == number).then_some(())
        });
    }
    for name in files(folder, ".png") {
        assert!(name.starts_with("lifestreams-"), "{name}");
        let (info, bytes) = picture_of(&folder.join(&name));
        let picture = Picture {
            width: info.width as usize,
            height: info.height as usize,
            pixels: bytes.chunks(4).map(|p| [p[0], p[1], p[2]]).collect(),
        };
        assert_eq!((picture.width, picture.height), (1280, 800));
        for &panel in &panels {
            assert!(
                picture.cut(panel) == seen.cut(panel),
                "the panel at {panel:?}"
            );
        }
    }
    // What cannot be saved ends nothing: the folder that it was started in is gone.
    fs::remove_dir_all(folder).unwrap();
    shown.key("o");
    shown.leaves(&seen, "a notice");
    fs::create_dir(folder).unwrap();
    shown.quit();
}

#[test]
fn a_recording_begins_and_ends_by_key_and_holds_nothing_up() {
    let shown = Shown::open("--instances 2 --density 0.4");
    let before = shown.press("Page_Down", "SelectNext").generation;
    shown.key("shift+o");
    shown.hears("notice: Recording lifestreams-", 5);
    let meanwhile = shown.press("Page_Down", "SelectNext");
    assert!(meanwhile.running && meanwhile.generation > before);
    shown.then("shift+o", "notice: Saved lifestreams-");
    let after = shown.press("Page_Down", "SelectNext");
    assert!(after.running && after.generation > meanwhile.generation);
    let [name] = &files(shown.folder.path(), ".gif")[..] else {
        panic!("one recording");
    };
    let frames: Vec<_> = frames_of(&shown.folder.path().join(name)).collect();
    let (count, differ) = (frames.len(), frames.iter().any(|frame| *frame != frames[0]));
    assert!(count > 3 && differ, "{count} pictures");
    let said = format!(": {count} ");
    assert!(shown.running.said().contains(&said), "{said}");
    shown.quit();
}

/// Without `--session` a session is saved in a new file; opened, it goes on where it was saved. Where the
/// folder of its own file has gone, it is saved elsewhere, by key and at the end, and each time it is said
/// where.
#[test]
fn a_session_is_saved_and_opened_again() {
    let (shown, _) = Shown::paused("--instances 2 --kernel bits");
    let before = shown.saved("before.rle");
    shown.then("ctrl+z", "Nothing to undo");
    shown.then("shift+s", "the session is saved in /");
    assert_eq!(shown.heard("WARN"), 0, "{}", shown.running.said());
    shown.press("period", "StepGeneration");
    assert_ne!(shown.saved("later.rle"), before);
    shown.then("ctrl+o", ASKS);
    let name = &files(shown.folder.path(), ".json")[0];
    shown.enter_path(name, "Opened the session");
    assert_eq!(shown.saved("after.rle"), before);
    shown.quit();
    let folder = scratch();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let shown = Shown::open_in(folder, "--instances 2 --session inner/kept.json");
    fs::remove_dir_all(inner).unwrap();
    shown.then("shift+s", "WARN cannot save inner/kept.json");
    let state = shown.folder.path().join("state/lifestreams");
    assert_eq!(names(&state).len(), 1);
    shown.key("ctrl+q");
    let (ended, _display) = shown.end();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let last = ended.stderr.lines().next_back().unwrap();
    assert!(last.contains("the session is saved in /"), "{ended:?}");
}

/// A lattice with these cells of a row alive.
fn row(cells: std::ops::Range<u32>, y: u32) -> Lattice {
    let mut lattice = Lattice::new(size());
    cells.for_each(|x| lattice.set(x, y, true));
    lattice
}

#[test]
fn what_is_drawn_undone_and_pasted_is_what_is_saved() {
    let (shown, _) = Shown::paused("--instances 1 --density 0 --kernel bits");
    let panel = shown.rest().rectangles(DEAD)[0];
    let to = |cell| shown.point(panel.middle(cell, SIDES));
    let drag = |from, over| shown.drag(&[from, over].map(|cell| panel.middle(cell, SIDES)));
    let drawn = row(10..21, 10);
    shown.then("d", "notice: Pencil on");
    drag([10, 10], [20, 10]);
    assert_eq!(shown.saved("drawn.rle"), drawn);
    shown.press("ctrl+z", "Undo");
    assert_eq!(shown.saved("undone.cells").population(), 0);
    shown.press("ctrl+y", "Redo");
    // A generation on and back again; a command found by typing clears, and is undone.
    let next = shown.step("period", "StepGeneration");
    assert_eq!(shown.saved("stepped.rle"), step(&drawn, Rule::LIFE));
    shown.press("BackSpace", "StepBack");
    assert_eq!(shown.step("period", "StepGeneration"), next);
    shown.press("BackSpace", "StepBack");
    shown.key("ctrl+k c l e a r Return");
    shown.rest();
    assert_eq!(shown.saved("cleared.rle").population(), 0);
    shown.press("ctrl+z", "Undo");
    assert_eq!(shown.saved("uncleared.rle"), drawn);
    // A part is selected by the tool, and a click elsewhere drops it; by Shift it is cut and brought back.
    shown.then("shift+a", "notice: Drag over cells to select them");
    drag([10, 10], [20, 12]);
    shown.then("ctrl+c", "notice: Copied 11x3 cells");
    to([30, 20]);
    shown.mouse("click 1");
    let all = format!("notice: Copied {}x{} cells", SIDES[0], SIDES[1]);
    shown.then("ctrl+c", &all);
    shown.mouse("keydown shift");
    drag([10, 10], [20, 10]);
    shown.mouse("keyup shift");
    shown.then("ctrl+x", "notice: Copied 11x1 cells");
    shown.key("Escape"); // the selection goes
    assert_eq!(shown.saved("cut.rle").population(), 0);
    shown.press("ctrl+z", "Undo");
    assert_eq!(shown.saved("uncut.rle"), drawn);
    // It is rotated and placed elsewhere.
    shown.then("ctrl+v", "notice: Click to place");
    shown.key("greater");
    to([30, 30]);
    shown.mouse("click 1");
    shown.key("Escape"); // the selection goes
    let mut both = drawn;
    (25..36).for_each(|y| both.set(30, y, true));
    assert_eq!(shown.saved("pasted.rle"), both);
    // What cannot be written is said, and kept for another try.
    shown.then("ctrl+s", ASKS);
    let why = "a path is to be typed in: cannot save /nowhere/all.rle";
    shown.enter_path("/nowhere/all.rle", why);
    shown.enter_path("again.rle", "notice: Saved");
    // Nor what cannot be read: it names its line, and leaves the panel as it was.
    let broken = shown.folder.path().join("broken.rle");
    fs::write(&broken, "x = 3, y = 3\nbo$?!\n").unwrap();
    shown.then("ctrl+o", ASKS);
    shown.enter_path("broken.rle", "broken.rle, line 2, column 4");
    shown.enter_path("stepped.rle", "notice: Opened stepped.rle");
    shown.press("ctrl+z", "Undo");
    assert_eq!(shown.saved("still.rle"), both);
    shown.quit();
}

/// Drags a file over the window and lets go, as a file manager does (XDND, version 5).
fn drop_file(shown: &Shown, file: &Path) {
    let (x, target, none) = (&shown.display.x, shown.window, EventMask::NO_EVENT);
    let own = x.generate_id().unwrap();
    let class = WindowClass::INPUT_ONLY;
    let root = shown.display.root;
    x.create_window(0, own, root, 0, 0, 1, 1, 0, class, 0, &Default::default())
        .unwrap();
    let atom = |name: &str| {
        let asked = x.intern_atom(false, name.as_bytes()).unwrap();
        asked.reply().unwrap().atom
    };
    let tell = |what: &str, data: [u32; 4]| {
        let [a, b, c, d] = data;
        let message = ClientMessageEvent::new(32, target, atom(what), [own, a, b, c, d]);
        x.send_event(false, target, none, message).unwrap();
        x.flush().unwrap();
    };
    let now = x11rb::CURRENT_TIME;
    x.set_selection_owner(own, atom("XdndSelection"), now)
        .unwrap();
    tell("XdndEnter", [5 << 24, atom("text/uri-list"), 0, 0]);
    tell("XdndPosition", [0, 0, now, atom("XdndActionCopy")]);
    let asked = wait_for("a request for the file", || {
        match x.poll_for_event().unwrap()? {
            Event::SelectionRequest(asked) => Some(asked),
            _ => None,
        }
    });
    let (to, property, replace) = (asked.requestor, asked.property, PropMode::REPLACE);
    let uri = format!("file://{}\r\n", file.display());
    x.change_property8(replace, to, property, asked.target, uri.as_bytes())
        .unwrap();
    let there = SelectionNotifyEvent {
        response_type: SELECTION_NOTIFY_EVENT,
        sequence: 0,
        time: asked.time,
        requestor: to,
        selection: asked.selection,
        target: asked.target,
        property,
    };
    x.send_event(false, to, none, there).unwrap();
    tell("XdndDrop", [0, now, 0, 0]);
}

/// Without a desktop's portal there is a field for the path; a drop needs neither.
#[test]
fn what_is_dropped_comes_to_the_selected_panel_and_a_broken_file_changes_nothing() {
    let (shown, _) = Shown::paused("--instances 2 --density 0 --kernel bits");
    assert_eq!(shown.press("Page_Down", "SelectNext").selected, 1);
    let glider = "x = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n";
    let wanted = Pattern::from_text("glider", glider).unwrap();
    let wanted = wanted.centred_in(size()).unwrap();
    #[rustfmt::skip]
    let rows = [
        ("glider.rle", glider, "notice: Opened glider.rle"),
        ("broken.cells", "!Name: broken\n.O.\n..%\n", "broken.cells, line 3, column 3"),
        ("wide.rle", "x = 999, y = 1\n999o!\n", "wide.rle is 999x1 cells, larger than the lattice 60x45; use --size 1998x45"),
    ];
    for (number, (name, text, what)) in rows.into_iter().enumerate() {
        let path = shown.folder.path().join(name);
        fs::write(&path, text).unwrap();
        let before = shown.heard(what);
        drop_file(&shown, &path);
        shown.hears(what, before);
        let saved = shown.saved(&format!("dropped{number}.rle"));
        assert!(saved == wanted, "{name}");
    }
    shown.press("Page_Up", "SelectPrevious");
    assert_eq!(shown.saved("other.rle").population(), 0);
    shown.quit();
}
