//! What is kept: a session that goes on from its file as if it had never ended.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::common::{
    self, Running, frames_of, lifestreams, names, needs, picture_of, program, scratch, wait_for,
};

const START: &str = "--size 70x40 --instances 3 --seed 11 --kernel bits --device cpu";

/// The newest lattices of a session's file, each as the text of its cells with its generation.
fn lattices(file: &Path) -> Vec<(String, u64)> {
    let text = fs::read_to_string(file).unwrap();
    let session: serde_json::Value = serde_json::from_str(&text).unwrap();
    let newest = common::newest_copy(&session);
    let generation = newest["position"]["generation"].as_u64().unwrap();
    let lattices = newest["lattices"].as_array().unwrap().iter();
    lattices
        .map(|cells| (common::cells_of(cells.as_str().unwrap()), generation))
        .collect()
}

/// What the simulator has after so many generations from the start.
fn simulated(folder: &Path, generations: u64) -> Vec<(String, u64)> {
    let saved = format!("saved-{generations}");
    let line = format!("run {START} -g {generations} --save {saved}");
    lifestreams(folder, &line).done();
    names(&folder.join(&saved))
        .iter()
        .map(|name| fs::read_to_string(folder.join(&saved).join(name)).unwrap())
        .map(|text| (common::cells_of(&text), generations))
        .collect()
}

#[test]
fn a_session_goes_on_as_if_it_had_never_ended() {
    let folder = scratch();
    let folder = folder.path();
    let file = folder.join("s.json");
    let go = |line: &str| {
        let continues = file.exists();
        let ended =
            lifestreams(folder, &format!("--display none --session s.json {line}")).succeeds();
        let said = "continuing the session in s.json";
        assert_eq!(ended.stderr.contains(said), continues, "{ended:?}");
        let saved = "the session is saved in s.json";
        assert!(ended.stderr.contains(saved), "{ended:?}");
    };
    go(&format!("--rounds 12 --generations-per-round 2 {START}"));
    assert_eq!(lattices(&file), simulated(folder, 24));
    // What the file says of sizes, kernels and rounds is what counts now.
    go("--rounds 5 --size 8x8 --kernel global");
    assert_eq!(lattices(&file), simulated(folder, 34));
    go("--rounds 0");
    assert_eq!(lattices(&file), simulated(folder, 34));
    let text = fs::read_to_string(&file).unwrap();
    for part in [
        "\"kernel\": \"bits\"",
        "\"seed\": 11",
        "\"generations_per_round\": 2",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(names(folder).iter().all(|name| !name.contains("partial")));
}

#[test]
fn a_broken_file_is_named_with_its_place_and_left_alone() {
    let folder = scratch();
    let file = folder.path().join("s.json");
    let line = format!("--display none --rounds 1 --session s.json {START}");
    assert_eq!(lifestreams(folder.path(), &line).code, Some(0));
    let good = fs::read_to_string(&file).unwrap();
    for (from, to, words) in [
        ("\"bits\"", "\"nothing\"", "no kernel 'nothing'"),
        ("{", "[", "not a session that lifestreams saved"),
        ("70x40", "70x", "'70x' is not a size"),
        ("x = 70", "x = 7y", "line 1, column"),
    ] {
        let broken = good.replacen(from, to, 1);
        assert_ne!(broken, good);
        fs::write(&file, &broken).unwrap();
        let ended = lifestreams(folder.path(), &line);
        ended.refuses(2, &["s.json, line ", ", column ", words]);
        assert_eq!(fs::read_to_string(&file).unwrap(), broken);
    }
    let broken = &good[..good.len() / 2];
    fs::write(&file, broken).unwrap();
    let ended = lifestreams(folder.path(), &line);
    ended.refuses(2, &["the file was cut off here", "restore a copy of it"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), broken);
    let nowhere = line.replace("s.json", "nowhere/s.json");
    let ended = lifestreams(folder.path(), &nowhere);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("there is no folder"), "{ended:?}");
}

#[test]
fn settings_are_written_on_request_alone_and_what_is_typed_wins() {
    let folder = scratch();
    let folder = folder.path();
    let json = |line: &str| -> serde_json::Value {
        let ended = lifestreams(folder, &format!("run -g 1 --json --device cpu {line}"));
        serde_json::from_str(&ended.done().stdout).unwrap()
    };
    assert_eq!(json("--size 8x8")["instances"], 16);
    let path = lifestreams(folder, "config path").done().stdout;
    let path = Path::new(path.trim());
    assert!(path.starts_with(folder) && !path.exists(), "{path:?}");
    lifestreams(
        folder,
        "config save --instances 3 --kernel bits --size 24x16 --density 0.5",
    )
    .done();
    let shown = lifestreams(folder, "config").done().stdout;
    assert!(shown.contains("instances = 3"), "{shown}");
    let kept = json("");
    for (name, value) in [("instances", 3), ("width", 24), ("height", 16)] {
        assert_eq!(kept[name], value, "{name}");
    }
    assert_eq!(kept["kernel"], "bits");
    let typed = json("--instances 2 --kernel global");
    assert_eq!(
        (&typed["instances"], &typed["kernel"]),
        (&2.into(), &"global".into())
    );
    // What one group of options keeps together is still options alone.
    lifestreams(folder, "config save --theme hues --reseed on --graphs on").done();
    let shown = lifestreams(folder, "config").done().stdout;
    assert_eq!(shown.matches(" = ").count(), 3, "{shown}");
    assert_eq!(json("--size 8x8")["instances"], 16);
    lifestreams(folder, "config save --lang zh").done();
    for (line, words) in [
        ("run -g 1 --instances 1 --size 8x8 --device cpu", "1 代用时"),
        ("devices", "将在"),
    ] {
        let said = lifestreams(folder, line).done().stdout;
        assert!(said.contains(words), "{said}");
        let said = lifestreams(folder, &format!("{line} --lang en")).done();
        assert!(!said.stdout.contains(words), "{said:?}");
    }
    fs::write(path, "instances = 3\n\ncolour = 1\n").unwrap();
    let odd = lifestreams(folder, "run -g 1 --size 8x8 --device cpu").succeeds();
    let line =
        "config.toml, line 3: --colour is not an option that can be saved, so it is ignored\n";
    assert!(odd.stderr.ends_with(line), "{odd:?}");
    lifestreams(folder, "config path").done();
    let refused = lifestreams(folder, "config save --frames 3");
    refused.refuses(2, &["--frames applies to a single run"]);
}

/// Settings are lines in the order of their names, behind the file's first line.
#[test]
fn a_saved_option_that_conflicts_is_named_with_its_line() {
    let folder = scratch();
    let folder = folder.path();
    let small = "--size 8x8 --device cpu";
    let run = &format!("run -g 1 {small}");
    let snapshot = &format!("snapshot -o a.png --window-size 320x200 --rounds 1 {small}");
    let window = &format!("--display none --rounds 1 {small}");
    let all = &[run, snapshot, window][..];
    let batch = "line 3: the saved --streams batch cannot be used here: kernel 'bits' steps one";
    let block = "line 2: the saved --block 1x1 cannot be used here: ";
    let of_batch = "--kernel sync-global --streams batch --wait all";
    let of_run = "--transfer view --size 9x9";
    let view = "line 3: the saved --transfer view cannot be used here: run draws nothing";
    let torus = "line 2: the saved --size 9x9 cannot be used here: --size is 9x9 and --rule names";
    let of_display = "--display terminal";
    let display = "line 2: the saved --display terminal cannot be used here: a terminal has no";
    for (saved, lines, more, why) in [
        (of_batch, all, "--kernel bits", batch),
        (of_batch, all, "", ""),
        // What is typed goes before what is saved of its own switch.
        (of_batch, all, "--kernel bits --streams one", ""),
        (of_batch, all, "--kernel bits --pattern glider", batch),
        ("--block 1x1", all, "--kernel bits", block),
        (of_run, &[run], "", view),
        (of_run, &[window], "", ""),
        (of_run, &[run], "--transfer bits", ""),
        (
            of_run,
            &[&"run -g 1 --device cpu".into()],
            "--transfer bits --rule B3/S23:T8,8",
            torus,
        ),
        (
            of_display,
            &[&format!("--frames 1 {small}")],
            "--record a.gif",
            display,
        ),
        (of_display, &[window], "--record a.gif", ""),
    ] {
        lifestreams(folder, &format!("config save {saved}")).done();
        for line in lines {
            let ended = lifestreams(folder, format!("{line} {more}").trim());
            if why.is_empty() {
                ended.succeeds();
            } else {
                ended.refuses(2, &["config.toml, ", why]);
            }
        }
    }
    // What is typed must go together by itself.
    let typed = lifestreams(folder, &format!("{run} --kernel bits --streams batch"));
    typed.refuses(
        2,
        &["lifestreams: kernel 'bits' steps one lattice per launch"],
    );
    // A saved session has its own settings.
    lifestreams(folder, &format!("{window} --session s.json")).succeeds();
    lifestreams(folder, "config save --kernel bits --streams batch").done();
    lifestreams(folder, "--display none --rounds 1 --session s.json").succeeds();
}

#[test]
fn a_session_that_is_too_far_from_its_lattices_says_how_long_it_takes() {
    let folder = scratch();
    let folder = folder.path();
    let (good, line) = saved_session(folder);
    let mut session: serde_json::Value = serde_json::from_str(&good).unwrap();
    let far = 1u64 << 62;
    session["timeline"]["position"]["generation"] = far.into();
    fs::write(folder.join("s.json"), session.to_string()).unwrap();
    let mut command = program(folder);
    let mut running = Running::start(command.args(line.split(' ')));
    wait_for("an estimate", || {
        assert!(running.runs(), "{}", running.said());
        let printed = running.printed();
        printed.contains(" years left; Ctrl+C").then_some(())
    });
    let said =
        "recomputing generation 4,611,686,018,427,387,904 from the nearest saved lattices: 0 %";
    assert!(running.printed().contains(said), "{}", running.printed());
    running.signal("INT");
    running.end(common::TIMEOUT).succeeds();
    let text = fs::read_to_string(folder.join("s.json")).unwrap();
    let saved: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(saved["timeline"]["position"]["generation"], far);
    let [before, done] = [1, lattices(&folder.join("s.json"))[0].1];
    assert!(done > before, "generation {done} is saved");
    let recording = lifestreams(
        folder,
        "--display none --record a.gif --frames 2 --session s.json",
    );
    assert_eq!(recording.code, Some(2), "{recording:?}");
    assert!(
        recording
            .stderr
            .contains(" years left, and a recording waits for 600 s"),
        "{recording:?}"
    );
}

#[test]
fn a_recording_without_a_display_has_a_frame_a_round() {
    let folder = scratch();
    let folder = folder.path();
    let record = |file: &str| {
        let line = format!("--display none --record {file} --frames 3 {START}");
        lifestreams(folder, &line)
    };
    record("a.gif").done();
    let frames: Vec<_> = frames_of(&folder.join("a.gif")).collect();
    // RGBA.
    assert_eq!(frames[0].len(), 1280 * 800 * 4);
    assert_eq!(frames.len(), 3);
    for pair in frames.windows(2) {
        assert!(pair[0] != pair[1], "a round later it is another picture");
    }
    let pictures = record("b.png").succeeds();
    let line = "with: ffmpeg -framerate 25 -i b-%04d.png -frames:v 3 -vf \
                'crop=trunc(iw/2)*2:trunc(ih/2)*2' -pix_fmt yuv420p b.mp4\n";
    assert!(pictures.stderr.ends_with(line), "{pictures:?}");
    let written: Vec<_> = names(folder)
        .into_iter()
        .filter(|name| name.starts_with('b'))
        .collect();
    assert_eq!(written, ["b-0001.png", "b-0002.png", "b-0003.png"]);
    let pictures = written.iter().map(|name| picture_of(&folder.join(name)).1);
    let pictures: Vec<_> = pictures.collect();
    assert_eq!(pictures[0].len(), frames[0].len());
    for pair in pictures.windows(2) {
        assert!(pair[0] != pair[1], "a round later it is another picture");
    }
    let endless = format!("--display none --record c.gif {START}");
    lifestreams(folder, &endless).refuses(2, &["--frames N"]);
    assert_eq!(
        names(folder)
            .iter()
            .filter(|name| name.starts_with('.'))
            .count(),
        0
    );
}

/// Also where there is no display, as here: nothing has been started that could miss one.
#[test]
fn a_recording_that_cannot_be_is_refused_before_anything_starts() {
    let folder = scratch();
    for (file, words) in [
        ("a.avi", "must end in .gif or .png"),
        (
            "a.mp4",
            "make a video of them with: ffmpeg -framerate 25 -i a-%04d.png",
        ),
        ("missing/a.gif", "there is no folder"),
    ] {
        for display in ["window", "auto", "none"] {
            let line = format!("--display {display} --record {file} --frames 3 {START}");
            lifestreams(folder.path(), &line).refuses(2, &[file, words]);
        }
    }
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

/// A session of a round in `s.json`, and the line that goes on with it for no more.
fn saved_session(folder: &Path) -> (String, String) {
    let start = format!("--display none --rounds 1 --session s.json {START}");
    lifestreams(folder, &start);
    let text = fs::read_to_string(folder.join("s.json")).unwrap();
    (text, "--display none --rounds 0 --session s.json".into())
}

#[test]
fn a_number_that_nothing_can_be_counted_on_by_is_refused_with_its_bounds() {
    let folder = scratch();
    let folder = folder.path();
    let (good, line) = saved_session(folder);
    let session: serde_json::Value = serde_json::from_str(&good).unwrap();
    for (pointer, value, words) in [
        ("/settings/pace", "1e-20", "take 0.001 to 1000000000"),
        ("/settings/pace", "0", "take 0.001 to"),
        ("/settings/pace", "1e300", "take 0.001 to"),
        (
            "/timeline/position/generation",
            "18446744073709551615",
            "generation 18446744073709551615; take at most",
        ),
        (
            "/settings/time/history_bytes",
            "18446744073709551615",
            "take at most",
        ),
    ] {
        let mut broken = session.clone();
        *broken.pointer_mut(pointer).expect(pointer) = serde_json::from_str(value).unwrap();
        let broken = broken.to_string();
        fs::write(folder.join("s.json"), &broken).unwrap();
        lifestreams(folder, &line).refuses(2, &["s.json", words]);
        assert_eq!(fs::read_to_string(folder.join("s.json")).unwrap(), broken);
    }
    // The slowest pace is one that a session stands.
    let mut slow = session.clone();
    slow["settings"]["pace"] = serde_json::Value::from(0.001);
    fs::write(folder.join("s.json"), slow.to_string()).unwrap();
    lifestreams(folder, &line).succeeds();
}

#[test]
fn what_is_no_regular_file_is_neither_waited_for_nor_read_without_end() {
    needs("mkfifo", "coreutils");
    let folder = scratch();
    let folder = folder.path();
    common::run(common::command("mkfifo", folder).arg("pipe")).succeeds();
    symlink("/dev/zero", folder.join("zero")).unwrap();
    fs::create_dir(folder.join("deeper")).unwrap();
    for (name, words) in [
        ("pipe", "it is a pipe or a device"),
        ("zero", "it is a pipe or a device"),
        ("deeper", "it is a folder"),
    ] {
        let line = format!("--display none --session {name} {START}");
        lifestreams(folder, &line).refuses(2, &[name, words]);
    }
    let config = lifestreams(folder, "config path").done().stdout;
    let config = Path::new(config.trim());
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    for from in ["pipe", "zero"] {
        let _ = fs::remove_file(config);
        symlink(folder.join(from), config).unwrap();
        let line = format!("run -g 1 {START}");
        lifestreams(folder, &line).refuses(2, &["config.toml cannot be read", "regular file"]);
        lifestreams(folder, "config").refuses(2, &["config.toml cannot be read"]);
    }
}

#[test]
fn a_session_that_could_not_be_saved_is_refused_before_it_starts() {
    let folder = scratch();
    symlink("nowhere/at/all.json", folder.path().join("link.json")).unwrap();
    for file in ["nowhere/s.json", "link.json"] {
        // Nothing ends this one.
        let line = format!("--display none --session {file} {START}");
        lifestreams(folder.path(), &line).refuses(2, &[file, "there is no folder"]);
    }
    assert!(folder.path().join("link.json").is_symlink());
    assert_eq!(names(folder.path()), ["link.json"]);
}

#[test]
fn a_saved_file_keeps_its_permissions_and_a_link_is_followed() {
    let folder = scratch();
    let folder = folder.path();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let close = |path: &Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    };
    let line = format!("--display none --rounds 1 --session s.json {START}");
    // The file is still to be made, behind the link.
    fs::create_dir(folder.join("kept")).unwrap();
    symlink("kept/real.json", folder.join("s.json")).unwrap();
    let go = || {
        lifestreams(folder, &line).succeeds();
    };
    go();
    let real = folder.join("kept/real.json");
    assert!(folder.join("s.json").is_symlink());
    assert_eq!(lattices(&real), simulated(folder, 1));
    close(&real);
    go();
    assert_eq!(lattices(&real), simulated(folder, 2));
    assert_eq!(mode(&real), 0o600);
    lifestreams(folder, "config save --instances 3").done();
    let config = lifestreams(folder, "config path").done().stdout;
    let config = Path::new(config.trim());
    close(config);
    lifestreams(folder, "config save --instances 4").done();
    assert_eq!(mode(config), 0o600);
    // A recording is a file like any other.
    symlink("kept/real.gif", folder.join("a.gif")).unwrap();
    let line = format!("--display none --record a.gif --frames 1 {START}");
    for _ in 0..2 {
        lifestreams(folder, &line).done();
        assert!(folder.join("a.gif").is_symlink());
        close(&folder.join("kept/real.gif"));
    }
    assert_eq!(mode(&folder.join("kept/real.gif")), 0o600);
}

/// A text with which files and arguments would colour a terminal, sound its bell and forge a line.
const HOSTILE: &str = "\u{1b}[31mred\u{7}\nlifestreams: forged\tline";

/// `refuses` finds escapes and lines that are none of the program's; bells and tabs are looked for
/// here.
#[test]
fn nothing_from_files_or_arguments_is_obeyed_by_a_terminal() {
    let folder = scratch();
    let folder = folder.path();
    let (good, line) = saved_session(folder);
    let refused = |ended: &common::Ended, words: &[&str]| {
        ended.refuses(2, words);
        assert!(!ended.stderr.contains(['\u{7}', '\t']), "{ended:?}");
    };
    let quoted = serde_json::to_string(HOSTILE).unwrap();
    for from in ["\"per-instance\"", "\"bits\"", "\"70x40\""] {
        let broken = good.replacen(from, &quoted, 1);
        assert_ne!(broken, good);
        fs::write(folder.join("s.json"), &broken).unwrap();
        refused(&lifestreams(folder, &line), &["s.json, line ", "u{1b}"]);
    }
    fs::write(folder.join(format!("{HOSTILE}.rle")), "x = 3, y = 3\nz!").unwrap();
    fs::write(
        folder.join("rule.rle"),
        "x = 3, y = 3, rule = \u{1b}red\u{7}\tline\no!",
    )
    .unwrap();
    for word in [
        format!("--{HOSTILE}"),
        format!("--size={HOSTILE}"),
        format!("--rule={HOSTILE}"),
        format!("--kernel={HOSTILE}"),
        format!("--instances={HOSTILE}"),
        format!("--session={HOSTILE}/s.json"),
        format!("--record={HOSTILE}.avi"),
        format!("--pattern={HOSTILE}"),
        format!("--pattern={HOSTILE}.rle"),
        "--pattern=rule.rle".into(),
        HOSTILE.into(),
    ] {
        let mut command = program(folder);
        let words = ["--display", "none", "--frames", "1", &word];
        refused(&common::run(command.args(words)), &["red"]);
    }
    let config = lifestreams(folder, "config path").done().stdout;
    let config = Path::new(config.trim());
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(config, format!("{quoted} = 1")).unwrap();
    let ignored = lifestreams(folder, &format!("run -g 1 {START}")).succeeds();
    assert!(ignored.stderr.contains("u{1b}[31mred"), "{ignored:?}");
    assert!(
        !ignored.stderr.contains(['\u{1b}', '\u{7}', '\t']),
        "{ignored:?}"
    );
    assert_eq!(ignored.stderr.lines().count(), 1, "{ignored:?}");
    for text in [
        format!("kernel = {quoted}"),
        format!("{quoted} = [1]"),
        "# \u{1b}[31mred\u{7}\ninstances = 3\n".into(),
    ] {
        fs::write(config, text).unwrap();
        refused(
            &lifestreams(folder, &format!("run -g 1 {START}")),
            &["config.toml"],
        );
        let shown = lifestreams(folder, "config");
        assert!(!shown.stdout.contains(['\u{1b}', '\u{7}']), "{shown:?}");
    }
}

/// Names with line breaks are good names: what is done with them is said in whole lines.
#[test]
fn no_name_of_a_file_or_folder_forges_a_line() {
    let folder = scratch();
    let folder = folder.path();
    let inner = folder.join(HOSTILE);
    fs::create_dir(&inner).unwrap();
    let own = |name: &str| format!("{HOSTILE}/{name}");
    let pattern = format!("#N {HOSTILE}\n#O {HOSTILE}\nx = 3, y = 3, rule = LifeHistory\nA.!")
        .replace("\nlifestreams", "\n#C lifestreams");
    fs::write(inner.join("a.rle"), pattern).unwrap();
    let (a, b, json, png, gif) = (
        own("a.rle"),
        own("b"),
        own("s.json"),
        own("a.png"),
        own("a.gif"),
    );
    let start = ["--device", "cpu", "--size", "8x8"];
    #[rustfmt::skip]
    let rows = [
        // The pattern's remark and the figures, and the two files' names.
        (&["run", "-g", "1", "--pattern", &a, "--save", &b][..], [1, 4]),
        (&["snapshot", "-o", &png], [0, 0]),
        (&["--display", "none", "--frames", "1", "--session", &json], [2, 1]),
        (&["--display", "none", "--frames", "1", "--session", &json], [3, 1]),
        (&["--display", "none", "--frames", "1", "--record", &gif], [0, 0]),
    ];
    for (words, lines) in rows {
        let ended = common::run(program(folder).args(words).args(start)).succeeds();
        let said = [&ended.stderr, &ended.stdout];
        assert_eq!(said.map(|text| text.lines().count()), lines, "{ended:?}");
        for text in said {
            assert!(!text.contains(['\u{1b}', '\u{7}', '\t']), "{ended:?}");
            assert!(!text.contains("\nlifestreams: forged"), "{ended:?}");
        }
    }
    for words in [&["config", "path"][..], &["config"], &["config", "save"]] {
        let mut command = program(folder);
        let ended = common::run(command.args(words).env("XDG_CONFIG_HOME", &inner));
        assert_eq!(
            (ended.code, ended.stdout.lines().count()),
            (Some(0), 1),
            "{ended:?}"
        );
    }
}

#[test]
fn a_signal_leaves_a_whole_recording_and_a_session() {
    for signal in ["TERM", "HUP"] {
        let folder = scratch();
        let folder = folder.path();
        let mut command = program(folder);
        let line =
            format!("--display none --record a.gif --frames 100000 --session s.json {START}");
        let running = Running::start(command.args(line.split(' ')));
        wait_for("a picture on the disk", || {
            let names = names(folder);
            let partial = names.iter().find(|name| name.ends_with(".partial"))?;
            let length = fs::metadata(folder.join(partial)).ok()?.len();
            (length > 50_000).then_some(())
        });
        running.signal(signal);
        let ended = running.end(common::TIMEOUT);
        assert_eq!(ended.code, Some(0), "{signal}: {ended:?}");
        assert_eq!(names(folder), ["a.gif", "s.json"]);
        let count = frames_of(&folder.join("a.gif")).count();
        assert!((1..100_000).contains(&count), "{count} pictures");
        let kept = lattices(&folder.join("s.json"));
        assert_eq!(kept, simulated(folder, kept[0].1));
    }
}
