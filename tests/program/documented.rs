//! `--help`, the manual page and the shell completions; every command line in README, docs/ and `--help` starts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::{Running, TIMEOUT, command, hold, lifestreams, names, scratch, wait_for};

/// What is started in the place of a documented line, if not that itself: with a file's name for FILE,
/// without a display, and with less to measure.
#[rustfmt::skip]
const INSTEAD: [(&str, &str); 24] = [
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
    ("lesson <COMMAND>", "lesson --help"),
    ("lesson mine.toml", "lesson mine.toml --device cpu"),
    ("lesson new mine.toml --from pinned", "lesson new other.toml --from pinned"),
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

/// The changelog, the oracle's records and this list keep them.
#[test]
fn dropped_names_are_refused_and_stand_nowhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let grep = "$ ! grep -rIF --exclude=CHANGELOG.md --exclude=documented.rs --exclude-dir=oracle \
                --exclude-dir={target,.git}";
    let list: String = DROPPED.iter().map(|name| format!(" -e '{name}'")).collect();
    hold(root, &[(&format!("{grep}{list} ."), 0, "")]);
    for option in DROPPED.iter().filter(|name| name.starts_with("--")) {
        let said = format!("unexpected argument | {option}");
        for line in [format!("{option} 1"), format!("run -g 1 {option}")] {
            hold(root, &[(&line, 2, &said)]);
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
    fs::write(folder.join("mine.toml"), lesson::shipped_file("pinned")).unwrap();
    fs::create_dir(folder.join("out")).unwrap();
    let mut failed = Vec::new();
    for (at, line) in started.into_iter().enumerate() {
        let mut command = command(folder, line);
        command.env("XDG_CONFIG_HOME", folder.join(at.to_string())); // some save options
        if line.contains("--device cuda") {
            command.env("LIFESTREAMS_LIBCUDA", crate::driver::library());
            let gpus = [("DEVICES", 2), ("DRY", 1), ("MEMORY", 8u64 << 30)];
            command.envs(gpus.map(|(name, it)| (format!("FAKE_CUDA_{name}"), it.to_string())));
        }
        // What measures for minutes has started once it prints something.
        let mut running = Running::start(&mut command);
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

#[test]
fn help_is_in_groups_and_every_option_is_explained() {
    let folder = scratch();
    for (line, most) in [("-h", 135), ("--help", 500)] {
        let said = "Commands: | What is stepped, and where: | How rounds are issued, copied and waited for (F2 to F8): \
                    | How it is shown, and for how long: | Examples: | Exit codes:";
        hold(&folder, &[(line, 0, said)]);
        let help = lifestreams(folder.path(), line).done().stdout;
        assert!(help.lines().count() < most, "{help}");
        for line in help.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

#[test]
fn manual_and_completions_are_of_use() {
    let folder = scratch();
    // As bash does it when the Tab key is pressed.
    let ask = "$ source <(lifestreams completions bash); COMP_WORDS=(lifestreams --display t); \
               COMP_CWORD=2; _lifestreams lifestreams t --display; echo ${COMPREPLY[@]}";
    let pages = "$ cd pages; ls lifestreams{,-run,-snapshot,-lesson,-bench,-completions}.1";
    #[rustfmt::skip]
    hold(&folder, &[
        ("man pages", 0, ""),
        (pages, 0, ""),
        ("man", 0, ".SH NAME | .SH OPTIONS | Exit codes: | NO_COLOR"),
        (ask, 0, "terminal\n"),
        ("completions zsh", 0, "generations-per-round"),
        ("completions fish", 0, "generations-per-round"),
        ("completions elvish", 0, "generations-per-round"),
        ("completions powershell", 0, "generations-per-round"),
    ]);
}
