//! Every command line in README, docs/ and `--help` starts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Running, TIMEOUT, lifestreams, names, program, scratch, wait_for};

/// What is started in the place of a documented line, if not that itself: with a file's name for FILE,
/// without a display, and with less to measure.
#[rustfmt::skip]
const INSTEAD: [(&str, &str); 21] = [
    ("", "--display none --rounds 1"),
    ("--device cuda --instances 1 --size 65536",
     "--device cuda --instances 1 --size 65536 --display none --rounds 1"),
    ("--display none --session FILE --rounds N", "--display none --session kept --rounds 1"),
    ("--display terminal", "--display none --rounds 1"),
    ("--instances 16", "--instances 16 --display none --rounds 1"),
    ("--pattern gosper-gun --size 256x256", "--pattern gosper-gun --size 256x256 --display none --rounds 1"),
    ("<COMMAND>", "run --help"),
    ("COMMAND --help", "run --help"),
    ("bench --write", "bench ladder --small --device cpu --write out"),
    ("bench ladder --write", "bench ladder --small --device cpu --write out"),
    ("bench recording", "bench recording --help"),
    ("bench recording --write", "bench recording --help"),
    ("kernel check", "kernel check mine.cu"),
    ("kernel new", "kernel new other.cu"),
    ("lecture", "lecture --display none --rounds 1"),
    ("lecture <COMMAND>", "lecture --help"),
    ("lecture check FILE", "lecture check lecture.toml"),
    ("lecture rehearse FILE", "lecture rehearse lecture.toml --device cpu"),
    ("lesson NAME", "lesson pinned"),
    ("round check FILE", "round check round.rhai"),
    ("verify", "verify --small"),
];

/// Names of what the program does not do: options are refused, and no document and no source has any.
#[rustfmt::skip]
const DROPPED: [&str; 15] = [
    // A census of soups.
    "--until-still", "--seeds",
    // What a pattern is.
    "Ctrl+I`", "Ctrl+I |", "IdentifySelection",
    // Soups with symmetry.
    "--symmetry", "Shift+U`", "Shift+U |", "SetSymmetry", "soup-c1", "soup-d8",
    // A graph with a loop.
    "while-graph", "while_condition", "cuGraphAddNode",
    // One torus on several GPUs beside one.
    "bench split",
];

/// What stands in a document's blocks up to a remark, and between backticks.
fn code_in(document: &str) -> Vec<&str> {
    let mut is_block = false;
    let code = document.lines().flat_map(|line| {
        is_block ^= line.starts_with("```");
        let before_remark = line.trim_start().split("  ").next();
        if is_block {
            before_remark.into_iter().collect::<Vec<_>>()
        } else {
            line.split('`').skip(1).step_by(2).collect()
        }
    });
    code.collect()
}

/// The arguments of each command line in README, docs/ and the help of the program and its commands.
fn documented(folder: &Path) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut lines = BTreeSet::new();
    let mut take = |code: &str| {
        let is_named = code == "lifestreams" || code.starts_with("lifestreams ");
        lines.extend(is_named.then(|| code["lifestreams".len()..].trim().to_owned()));
    };
    for part in [".", "docs", "docs/zh"].map(|part| root.join(part)) {
        // The changelog also names commands of the past.
        let is_page = |it: &&String| it.ends_with(".md") && *it != "CHANGELOG.md";
        for page in names(&part).iter().filter(is_page) {
            let text = fs::read_to_string(part.join(page)).unwrap();
            code_in(&text).into_iter().for_each(&mut take);
        }
    }
    lifestreams(folder, "man pages").done();
    for page in names(&folder.join("pages")) {
        let command = page
            .trim_end_matches(".1")
            .trim_start_matches("lifestreams");
        let line = format!("{} --help", command.replace('-', " "));
        let help = lifestreams(folder, &line).done().stdout;
        for line in help.lines() {
            take(line.trim_start().split("  ").next().unwrap_or_default());
        }
        let unwrapped = help.split_whitespace().collect::<Vec<_>>().join(" ");
        unwrapped.split('\'').skip(1).step_by(2).for_each(&mut take);
    }
    lines
}

/// The texts of a file, or of all files in a folder; not the oracle's records, which keep dropped names.
fn texts_of(path: &Path, texts: &mut Vec<(PathBuf, String)>) {
    if path.ends_with("tests/oracle") {
        return;
    }
    if path.is_dir() {
        for name in names(path) {
            texts_of(&path.join(name), texts);
        }
    } else if let Ok(text) = fs::read_to_string(path) {
        texts.push((path.to_owned(), text));
    }
}

#[test]
fn dropped_names_are_refused_and_stand_nowhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    for name in names(root) {
        let is_source = [
            "assets", "crates", "docs", "examples", "scripts", "src", "tests", "xtask",
        ];
        let is_page = name.ends_with(".md") && name != "CHANGELOG.md";
        if is_page || is_source.contains(&&*name) {
            texts_of(&root.join(name), &mut texts);
        }
    }
    assert!(texts.len() > 500, "{}", texts.len());
    let list = Path::new(file!()).file_name();
    let mut found = Vec::new();
    for (path, text) in texts.iter().filter(|text| text.0.file_name() != list) {
        let dropped = DROPPED.iter().filter(|name| text.contains(**name));
        found.extend(dropped.map(|name| format!("{}: {name}", path.display())));
    }
    assert!(found.is_empty(), "{found:#?}");
    let folder = scratch();
    for option in DROPPED.iter().filter(|name| name.starts_with("--")) {
        for line in [format!("{option} 1"), format!("run -g 1 {option}")] {
            lifestreams(folder.path(), &line).refuses(2, &["unexpected argument", option]);
        }
    }
}

#[test]
fn every_documented_command_line_starts() {
    let folder = scratch();
    let folder = folder.path();
    let documented = documented(folder);
    assert!(documented.len() > 30, "{documented:?}");
    for (line, _) in INSTEAD {
        assert!(documented.contains(line), "'{line}' stands nowhere");
    }
    let instead = |line: &String| INSTEAD.into_iter().find(|row| row.0 == line);
    let started = documented
        .iter()
        .map(|line| instead(line).map_or(&**line, |row| row.1));
    let mut started: Vec<&str> = started.collect::<BTreeSet<_>>().into_iter().collect();
    // First what writes the files that others read.
    started.sort_by_key(|it| !it.contains(" new") && !it.contains(" next"));
    let lecture = "title = \"One\"\n[[step]]\ntext = \"One\"\n";
    fs::write(folder.join("lecture.toml"), lecture).unwrap();
    fs::create_dir(folder.join("out")).unwrap();
    let mut failed = Vec::new();
    for (at, line) in started.into_iter().enumerate() {
        let mut command = program(folder);
        command.env("XDG_CONFIG_HOME", folder.join(at.to_string())); // some save options
        if line.contains("--device cuda") {
            command.env("LIFESTREAMS_LIBCUDA", crate::driver::library());
            command
                .env("FAKE_CUDA_DEVICES", "2")
                .env("FAKE_CUDA_DRY", "1");
            command.env("FAKE_CUDA_MEMORY", (8u64 << 30).to_string());
        }
        // What measures for minutes has started once it prints something.
        let mut running = Running::start(command.args(line.split_whitespace()));
        let goes_on = wait_for(line, || {
            let runs = running.runs();
            (!runs || !running.printed().is_empty()).then_some(runs)
        });
        if goes_on {
            running.signal("INT");
        }
        let ended = running.end(TIMEOUT);
        let is_unsolved = line == "exercise check" && ended.code == Some(1);
        let has_started = matches!(ended.code, Some(0 | 130)) || ended.signal == Some(2);
        if !has_started && !is_unsolved {
            failed.push(format!("{line}: {ended:?}"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
