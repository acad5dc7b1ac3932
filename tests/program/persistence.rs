//! What is kept: sessions that go on from their file, options, recordings; and what becomes of all that
//! where a file cannot be saved as usual: nothing that was computed is lost, nothing of anybody else's is
//! written over, and nothing is left behind.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::common::{
    Running, TIMEOUT, cells_of, command, hold, lifestreams, names, newest_copy, says, scratch,
};

const START: &str = "--size 70x40 --instances 3 --seed 11 --kernel bits --device cpu";

pub(crate) fn read(file: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// The newest lattices of a session's file, each as the text of its cells, and their generation.
pub(crate) fn lattices(file: &Path) -> (Vec<String>, u64) {
    let session = read(file);
    let newest = newest_copy(&session);
    let texts = newest["lattices"].as_array().unwrap().iter();
    let cells = texts
        .map(|cells| cells_of(cells.as_str().unwrap()))
        .collect();
    (cells, newest["position"]["generation"].as_u64().unwrap())
}

/// What `run` has after so many generations from the start.
pub(crate) fn simulated(folder: &Path, start: &str, generations: u64) -> (Vec<String>, u64) {
    let into = scratch();
    let line = format!(
        "run {start} -g {generations} --save {}",
        into.path().display()
    );
    lifestreams(folder, &line).done();
    let files = names(into.path()).into_iter();
    let text = |name| cells_of(&fs::read_to_string(into.path().join(name)).unwrap());
    (files.map(text).collect(), generations)
}

#[test]
fn a_session_goes_on_as_if_it_had_never_ended() {
    let folder = scratch();
    let folder = folder.path();
    // The file is still to be made, behind the link.
    fs::create_dir(folder.join("kept")).unwrap();
    symlink("kept/real.json", folder.join("s.json")).unwrap();
    let file = folder.join("kept/real.json");
    for (line, generation, said) in [
        (
            format!("--rounds 12 --generations-per-round 2 {START}"),
            24,
            "",
        ),
        // What the file says of cells, sizes, kernels and rounds is what counts now.
        (
            "--rounds 5 --size 8x8 --kernel global --seed 3".into(),
            34,
            "--seed has no effect with --session",
        ),
        ("--rounds 0".into(), 34, "continuing the session in s.json"),
    ] {
        let line = format!("--display none --session s.json {line}");
        let ended = lifestreams(folder, &line).succeeds();
        assert!(ended.stderr.contains(said), "{ended:?}");
        assert!(
            ended.stderr.contains("the session is saved in s.json"),
            "{ended:?}"
        );
        assert_eq!(lattices(&file), simulated(folder, START, generation));
    }
    assert!(folder.join("s.json").is_symlink());
    assert_eq!(names(&folder.join("kept")), ["real.json"]);
    // One that is cut off is refused with its place, and left as it is.
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.len() / 2]).unwrap();
    let cut = "s.json, line | , column | the file was cut off here | restore a copy of it";
    hold(folder, &[("--display none --session s.json", 2, cut)]);
    assert!(fs::read_to_string(&file).unwrap() == text[..text.len() / 2]);
}

#[test]
fn options_are_saved_on_request_alone_and_what_is_typed_wins() {
    let folder = scratch();
    let folder = folder.path();
    let path = lifestreams(folder, "config path").done().stdout;
    let path = Path::new(path.trim());
    let run = "run -g 1 --json --device cpu";
    let typed = format!("{run} --instances 2 --kernel global");
    hold(
        folder,
        &[(&format!("{run} --size 8"), 0, "\"instances\":16")],
    );
    assert!(path.starts_with(folder) && !path.exists(), "{path:?}");
    #[rustfmt::skip]
    hold(folder, &[
        ("config save --instances 3 --kernel bits --size 24x16 --density 0.5", 0, ""),
        ("config", 0, "instances = \"3\""),
        (run, 0, "\"instances\":3 | \"kernel\":\"bits\" | \"width\":24 | \"height\":16"),
        (&typed, 0, "\"instances\":2 | \"kernel\":\"global\" | \"width\":24"),
        // What one group of options keeps together is still options alone.
        ("config save --theme hues --reseed on --graphs on", 0, ""),
        (&format!("{run} --size 8"), 0, "\"instances\":16"),
        ("config save --lang zh", 0, ""),
        ("run -g 1 --instances 1 --size 8 --device cpu", 0, "1 代用时"),
        ("devices", 0, "将在"),
        ("run -g 1 --instances 1 --size 8 --device cpu --lang en", 0, " alive"),
    ]);
    fs::write(path, "instances = 3\n\ncolour = 1\n").unwrap();
    let line = "config.toml: --colour is not an option that can be saved, so it is ignored\n";
    hold(folder, &[("run -g 1 --size 8 --device cpu", 0, line)]);
}

#[test]
fn saved_options_that_conflict_are_named_with_their_file() {
    let folder = scratch();
    let small = "--size 8x8 --device cpu";
    let run = format!("run -g 1 {small}");
    let window = format!("--display none --rounds 1 {small}");
    let of_batch = "--kernel sync-global --streams batch";
    let batch = "lifestreams: kernel 'bits' steps one lattice | config.toml: --streams batch)";
    #[rustfmt::skip]
    let rows = [
        (of_batch, format!("{run} --kernel bits"), batch),
        (of_batch, format!("{window} --kernel bits"), batch),
        // What is typed goes before what is saved of its own switch.
        (of_batch, format!("{window} --kernel bits --streams one"), ""),
        ("--transfer view", run.clone(), "run draws nothing | config.toml: --transfer view)"),
        ("--size 9x9", "run -g 1 --device cpu --rule B3/S23:T8,8".into(), "--rule names | config.toml: --size 9x9)"),
        ("--display terminal", format!("--frames 1 {small} --record a.gif"), "only the window has pictures | config.toml: --display terminal)"),
        // A saved session has its own settings.
        ("", format!("{window} --session s.json"), ""),
        ("--kernel bits --streams batch", "--display none --rounds 1 --session s.json".into(), ""),
    ];
    for (saved, line, why) in rows {
        let save = format!("config save {saved}");
        let code = i32::from(!why.is_empty()) * 2;
        hold(&folder, &[(&save, 0, ""), (&line, code, why)]);
    }
}

#[test]
fn a_session_that_is_too_far_from_its_lattices_says_how_long_it_takes() {
    let folder = scratch();
    let folder = folder.path();
    let file = folder.join("s.json");
    let line = "--display none --session s.json";
    lifestreams(folder, &format!("{line} --rounds 1 {START}")).succeeds();
    let mut session = read(&file);
    let far = 1u64 << 62;
    session["timeline"]["position"]["generation"] = far.into();
    fs::write(&file, session.to_string()).unwrap();
    let running = start(folder, &format!("{line} --rounds 0"));
    running.wait(" years left; Ctrl+C");
    let said =
        "recomputing generation 4,611,686,018,427,387,904 from the nearest saved lattices: 0 %";
    assert!(running.printed().contains(said), "{}", running.printed());
    running.signal("INT");
    running.end(TIMEOUT).succeeds();
    assert_eq!(read(&file)["timeline"]["position"]["generation"], far);
    assert!(lattices(&file).1 > 1, "what was recomputed is saved");
}

fn start(folder: &Path, line: &str) -> Running {
    Running::start(&mut command(folder, line))
}

#[test]
fn a_signal_leaves_a_session_which_nobody_else_may_use_meanwhile() {
    let folder = scratch();
    let folder = folder.path();
    let line = format!("--display none --session s.json {START}");
    let running = start(folder, &line);
    running.wait("generation");
    // To go on with it at the same time is refused.
    let process = format!(
        "cannot save ./s.json: | process {} is using it",
        running.id()
    );
    hold(
        folder,
        &[("--display none --session ./s.json", 2, &process)],
    );
    running.signal("TERM");
    running.end(TIMEOUT).succeeds();
    assert_eq!(names(folder), ["s.json"]);
    let kept = lattices(&folder.join("s.json"));
    assert_eq!(kept, simulated(folder, START, kept.1));
}

/// Where a session cannot be saved in its file, and what becomes of it: while it runs, something happens to
/// the folder `deeper` with its file.
#[test]
fn a_session_that_cannot_be_saved_in_its_file_is_saved_elsewhere() {
    let folder = scratch();
    let folder = folder.path();
    let saved = " | the session is saved in ";
    let gone = "cannot save deeper/s.json: there is no folder deeper";
    let changed = "s.json was changed by another program meanwhile and is kept";
    let nor = " | nor could it be saved in  | state/lifestreams/s-20 | is not a folder";
    for (happens, said, more, place) in [
        ("$ rm -r deeper", gone, saved, "state/lifestreams"),
        ("$ echo another >deeper/s.json", changed, saved, "deeper"),
        ("$ rm -r deeper state; echo a file >state", gone, nor, ""),
    ] {
        hold(folder, &[("$ rm -rf deeper; mkdir deeper", 0, "")]);
        let line = format!("--display none --session deeper/s.json {START}");
        let running = start(folder, &line);
        running.wait("generation ");
        hold(folder, &[(happens, 0, "")]);
        running.signal("TERM");
        let ended = running.end(TIMEOUT);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let last = ended.stderr.lines().next_back().unwrap_or_default();
        says(last, &format!("{said}{more}"), happens);
        if !place.is_empty() {
            let mut saved = names(&folder.join(place));
            saved.retain(|name| name != "s.json" && !name.starts_with('.'));
            let [name] = &saved[..] else {
                panic!("one file: {saved:?}")
            };
            assert!(last.contains(name), "{ended:?}");
            let line = format!("--display none --rounds 0 --session {place}/{name}");
            hold(folder, &[(&line, 0, "continuing the session")]);
        }
    }
}
