//! What is kept of what is seen: pictures and recordings.

use std::fs;
use std::path::Path;

use crate::common::{frames_of, names, picture_of, run, scratch, wait_for};
use crate::display::{Display, Picture};
use crate::shown::{Shown, on_display};

#[test]
fn its_picture_is_saved_as_it_is_seen() {
    let (shown, state) = Shown::paused("--instances 4");
    let panels = shown.shows(&[0, 1, 2, 3], state.generation);
    let seen = shown.rest();
    let pictures = || -> Vec<String> {
        let mut names = names(shown.folder.path());
        names.retain(|name| name.ends_with(".png"));
        names
    };
    for number in 1..=2 {
        shown.key("o");
        wait_for("a picture's file", || {
            (pictures().len() == number).then_some(())
        });
    }
    for name in pictures() {
        assert!(name.starts_with("lifestreams-"), "{name}");
        let (info, bytes) = picture_of(&shown.folder.path().join(&name));
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
    let partial: Vec<_> = names(shown.folder.path())
        .into_iter()
        .filter(|name| name.starts_with(".lifestreams"))
        .collect();
    assert!(partial.is_empty(), "{partial:?}");
    shown.quit();
}

#[test]
fn a_picture_that_cannot_be_saved_ends_nothing() {
    let (mut shown, state) = Shown::paused("--instances 1");
    shown.shows(&[0], state.generation);
    let plain = shown.rest();
    // The folder it was started in is gone.
    fs::remove_dir_all(shown.folder.path()).unwrap();
    shown.key("o");
    shown.leaves(&plain, "a notice");
    assert!(shown.running.runs());
    fs::create_dir(shown.folder.path()).unwrap();
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
    assert_eq!(
        shown.heard("a path is to be typed in"),
        0,
        "nothing is asked"
    );
    let said = shown.running.said();
    let (_, rest) = said.rsplit_once("notice: Saved ").unwrap();
    let (file, pictures) = rest.lines().next().unwrap().split_once(": ").unwrap();
    let (name, folder) = file.split_once(" in ").unwrap();
    assert_eq!(Path::new(folder), shown.folder.path());
    let mut files = names(shown.folder.path());
    files.retain(|file| file.starts_with("lifestreams-"));
    assert_eq!(files, [name]);
    let frames: Vec<_> = frames_of(&shown.folder.path().join(name)).collect();
    let (count, differ) = (frames.len(), frames.iter().any(|frame| *frame != frames[0]));
    assert!(count > 3 && differ, "{count} pictures");
    let numbered = pictures.split(' ').next().unwrap().parse();
    assert_eq!(numbered, Ok(count), "{pictures}");
    shown.quit();
}

/// As without a window: so many pictures, however few they are.
#[test]
fn a_recording_of_so_many_frames_has_so_many_pictures() {
    let folder = scratch();
    let display = Display::start(folder.path());
    let recorded = |line: &str| {
        let line = format!("{line} --display window --instances 2 --size 64x64 --device cpu");
        run(&mut on_display(&display, folder.path(), &line))
    };
    for frames in [1, 3, 40] {
        recorded(&format!("--record {frames}.gif --frames {frames}")).succeeds();
        let count = frames_of(&folder.path().join(format!("{frames}.gif"))).count();
        assert_eq!(count, frames);
    }
    let ended = recorded("--record a.avi --frames 3");
    ended.refuses(2, &["a.avi cannot be recorded", ".gif or .png"]);
}

#[test]
fn a_session_that_is_saved_is_no_warning() {
    let shown = Shown::open("--instances 2 --session kept.json");
    shown.then("shift+s", "the session is saved in kept.json");
    assert_eq!(shown.heard("WARN"), 0, "{}", shown.running.said());
    shown.key("ctrl+q");
    let (ended, _display) = shown.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let said = "lifestreams: the session is saved in kept.json";
    assert!(ended.stderr.lines().any(|line| line == said), "{ended:?}");
}

/// Where its folder has gone, a session is saved elsewhere, by key and at the end, and each time it
/// is said where.
#[test]
fn a_session_without_its_folder_is_saved_in_another() {
    let folder = scratch();
    let (inner, state) = (folder.path().join("inner"), "state/lifestreams");
    fs::create_dir(&inner).unwrap();
    let shown = Shown::open_in(folder, "--instances 2 --session inner/kept.json");
    fs::remove_dir_all(inner).unwrap();
    shown.then("shift+s", "cannot save inner/kept.json: there is no folder");
    let state = shown.folder.path().join(state);
    assert_eq!(names(&state).len(), 1);
    shown.key("ctrl+q");
    let (ended, _display) = shown.end();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let last = ended.stderr.lines().next_back().unwrap();
    assert!(last.contains("the session is saved in /"), "{ended:?}");
}

/// Without `--session` a session is saved in a new file; opened, it goes on where it was saved.
#[test]
fn a_session_is_saved_in_a_new_file_and_opened_again() {
    let (shown, _) = Shown::paused("--instances 2 --kernel bits");
    let before = shown.saved("before.rle");
    shown.then("shift+s", "the session is saved in /");
    let names = names(shown.folder.path());
    let name = names.iter().find(|name| name.ends_with(".json")).unwrap();
    shown.press("period", "StepGeneration");
    assert_ne!(shown.saved("later.rle"), before);
    shown.ask_path("ctrl+o");
    let path = shown.folder.path().join(name);
    shown.enter_path(&path, "Opened the session");
    assert_eq!(shown.saved("after.rle"), before);
    shown.quit();
}
