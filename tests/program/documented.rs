//! Every command line in README, docs/ and `--help` starts.

use std::fs;
use std::path::Path;

use crate::common::{Running, TIMEOUT, lifestreams, names, program, scratch, wait_for};

/// Commands of other programs, by their beginning, and why they are not started.
const NOT_STARTED: [(&str, &str); 6] = [
    ("cargo ", "it builds this project"),
    ("scripts/", "it runs these tests"),
    ("apt-get ", "it changes the machine"),
    ("docker ", "it needs an image"),
    ("-v ", "the line before it starts docker"),
    ("nsys ", "it is NVIDIA's; what it starts also stands alone"),
];

/// What is started in the place of a documented line: with a file's name for FILE, and no display.
#[rustfmt::skip]
const INSTEAD: [(&str, &str); 15] = [
    ("", "--display none --rounds 1"),
    ("--device cuda --instances 1 --size 65536",
     "--device cuda --instances 1 --size 65536 --display none --rounds 1"),
    ("--display none --session FILE --rounds N", "--display none --session kept --rounds 1"),
    ("--display terminal", "--display none --rounds 1"),
    ("--instances 16", "--instances 16 --display none --rounds 1"),
    ("--pattern gosper-gun --size 256x256", "--pattern gosper-gun --size 256x256 --display none --rounds 1"),
    ("COMMAND --help", "run --help"),
    ("bench recording", "bench recording --device cuda"),
    ("kernel check", "kernel check mine.cu"),
    ("kernel new", "kernel new other.cu"),
    ("lecture", "lecture --display none --rounds 1"),
    ("lesson NAME", "lesson barrier"),
    ("lecture check FILE", "lecture check lecture.toml"),
    ("lecture rehearse FILE", "lecture rehearse lecture.toml"),
    ("round check FILE", "round check round.rhai"),
];

/// The lines of a document's blocks, and what stands between backticks.
fn code_in(document: &str) -> Vec<String> {
    let mut is_block = false;
    let code = document.lines().flat_map(|line| {
        is_block ^= line.starts_with("```");
        let spans: Vec<_> = line.split('`').skip(1).step_by(2).collect();
        let before_remark = line.trim_start().split("  ").next();
        if is_block {
            before_remark.into_iter().collect()
        } else {
            spans
        }
    });
    code.map(String::from).collect()
}

/// All of README, docs/ and the help of the program and its commands.
fn documented(folder: &Path) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut code = Vec::new();
    for part in [".", "docs", "docs/zh"].map(|part| root.join(part)) {
        for page in names(&part).iter().filter(|it| it.ends_with(".md")) {
            code.extend(code_in(&fs::read_to_string(part.join(page)).unwrap()));
        }
    }
    lifestreams(folder, "man pages").done();
    for page in names(&folder.join("pages")) {
        let command = page
            .trim_end_matches(".1")
            .trim_start_matches("lifestreams")
            .replace('-', " ");
        let help = lifestreams(folder, &format!("{command} --help"))
            .done()
            .stdout;
        let unwrapped = help.split_whitespace().collect::<Vec<_>>().join(" ");
        code.extend(code_in(&format!(
            "```\n{help}\n```\n{}",
            unwrapped.replace('\'', "`")
        )));
    }
    code
}

#[test]
fn every_documented_command_line_starts() {
    let folder = scratch();
    let folder = folder.path();
    let code = documented(folder);
    for (beginning, why) in NOT_STARTED {
        let stands = code.iter().any(|it| it.starts_with(beginning));
        assert!(stands, "{beginning} stands nowhere: {why}");
    }
    let mut lines = Vec::new();
    for line in &code {
        let is_other = NOT_STARTED.iter().any(|it| line.starts_with(it.0));
        let Some(line) = format!("{line} ")
            .strip_prefix("lifestreams ")
            .map(String::from)
        else {
            let is_drawing = line.contains('←');
            assert!(
                is_other || is_drawing || !line.contains(" lifestreams "),
                "{line}"
            );
            continue;
        };
        let row = INSTEAD.iter().find(|row| row.0 == line.trim());
        let started = row.map_or(line.trim(), |row| row.1).to_owned();
        if !lines.contains(&started) {
            lines.push(started);
        }
    }
    assert!(lines.len() > 30, "{lines:?}");
    // First what writes the files that others read.
    lines.sort_by_key(|it| !it.contains(" new") && !it.contains(" next"));
    fs::create_dir_all(folder.join("assets/bench")).unwrap();
    let lecture = "title = \"One\"\n[[step]]\ntext = \"One\"\n";
    fs::write(folder.join("lecture.toml"), lecture).unwrap();
    for (at, line) in lines.iter().enumerate() {
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
        assert!(has_started || is_unsolved, "{line}: {ended:?}");
    }
}
