//! What happens where a file cannot be saved as usual: nothing that was computed is lost, nothing of
//! anybody else's is written over, and nothing is left behind.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::common::{self, Ended, Running, lifestreams, names, program, scratch, wait_for};

const START: &str = "--size 70x40 --instances 3 --seed 11 --kernel bits --device cpu";

/// A session without an end in this file, once it has computed something.
fn session_in(folder: &Path, file: &str) -> Running {
    let running = start(folder, &format!("--display none --session {file} {START}"));
    running.wait_printed("generation ");
    running
}

fn start(folder: &Path, line: &str) -> Running {
    Running::start(program(folder).args(line.split(' ')))
}

fn stop(running: Running) -> Ended {
    running.signal("TERM");
    running.end(common::TIMEOUT)
}

/// The last line on stderr has all of these words in it.
#[track_caller]
fn says_last(ended: &Ended, words: &[&str]) {
    let last = ended.stderr.lines().next_back().unwrap_or_default();
    assert!(words.iter().all(|word| last.contains(word)), "{ended:?}");
}

/// The one file in this folder that is neither hidden nor one of these.
fn other_file(folder: &Path, known: &[&str]) -> PathBuf {
    let mut names = names(folder);
    names.retain(|name| !known.contains(&name.as_str()));
    let [name] = names.as_slice() else {
        panic!("one file beside {known:?}, not {names:?}");
    };
    folder.join(name)
}

/// The generation that a saved session continues at, which the program itself must find in it.
fn continues(folder: &Path, file: &Path) -> u64 {
    let line = format!("--display none --rounds 0 --session {}", file.display());
    let ended = lifestreams(folder, &line).succeeds();
    assert!(ended.stderr.contains("continuing the session"), "{ended:?}");
    let generation = ended.stdout.strip_prefix("generation ").unwrap();
    let digits = generation.split(|c: char| !c.is_ascii_digit()).next();
    digits.unwrap().parse().unwrap()
}

const STATE: &str = "state/lifestreams";

#[test]
fn a_session_whose_folder_has_gone_is_saved_in_the_folder_for_state() {
    let folder = scratch();
    let folder = folder.path();
    let mut before = Vec::new();
    for name in ["s.json".to_owned(), format!("{}.json", "long".repeat(62))] {
        fs::create_dir(folder.join("deeper")).unwrap();
        let running = session_in(folder, &format!("deeper/{name}"));
        fs::remove_dir_all(folder.join("deeper")).unwrap();
        let ended = stop(running);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let known: Vec<&str> = before.iter().map(String::as_str).collect();
        let saved = other_file(&folder.join(STATE), &known);
        says_last(
            &ended,
            &[
                &format!("cannot save deeper/{name}: there is no folder deeper"),
                &format!("the session is saved in {} instead", saved.display()),
            ],
        );
        assert!(continues(folder, &saved) > 0);
        before.push(saved.file_name().unwrap().to_str().unwrap().to_owned());
    }
    assert!(before[0].starts_with("s-20"), "{before:?}");
    assert!(before[1].starts_with("longlong"), "{before:?}");
}

#[test]
fn where_nothing_at_all_can_be_saved_both_reasons_are_told() {
    let folder = scratch();
    let folder = folder.path();
    fs::create_dir(folder.join("deeper")).unwrap();
    fs::write(folder.join("state"), "a file, where the folder would be").unwrap();
    let running = session_in(folder, "deeper/s.json");
    fs::remove_dir_all(folder.join("deeper")).unwrap();
    let ended = stop(running);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    says_last(
        &ended,
        &[
            "cannot save deeper/s.json: there is no folder deeper",
            "nor could it be saved in ",
            "state/lifestreams/s-20",
            "is not a folder",
        ],
    );
}

#[test]
fn a_name_too_long_for_a_file_is_refused_before_anything_starts() {
    let folder = scratch();
    let long = "x".repeat(300);
    for line in [
        format!("--display none --session {long}.json {START}"),
        format!("--display none --frames 1 --record {long}.gif {START}"),
    ] {
        lifestreams(folder.path(), &line).refuses(2, &["its name is too long; choose a shorter"]);
    }
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn a_second_session_on_a_file_is_refused_and_the_first_one_named() {
    let folder = scratch();
    let folder = folder.path();
    symlink("s.json", folder.join("link.json")).unwrap();
    for signal in ["KILL", "TERM"] {
        let first = session_in(folder, "s.json");
        for name in ["s.json", "./s.json", "link.json"] {
            let line = format!("--display none --session {name} {START}");
            let process = format!("process {} is using it", first.id());
            let second = lifestreams(folder, &line);
            second.refuses(2, &[&format!("cannot save {name}: "), &process]);
        }
        // To look at it is no harm.
        let other = session_in(folder, "other.json");
        assert_eq!(stop(other).code, Some(0));
        first.signal(signal);
        first.end(common::TIMEOUT);
    }
    assert!(continues(folder, Path::new("link.json")) > 0);
    assert_eq!(names(folder), ["link.json", "other.json", "s.json"]);
}

#[test]
fn a_file_that_another_program_has_changed_meanwhile_is_kept() {
    let folder = scratch();
    let folder = folder.path();
    lifestreams(
        folder,
        &format!("--display none --rounds 5 --session other.json {START}"),
    );
    let other = fs::read(folder.join("other.json")).unwrap();
    // It appears; it is exchanged for another one; it is written to.
    type Change = fn(&Path);
    let changes: [(bool, Change); 3] = [
        (false, |at| {
            drop(fs::copy(at.with_file_name("other.json"), at))
        }),
        (true, |at| {
            let copy = at.with_file_name("copy.json");
            fs::copy(at.with_file_name("other.json"), &copy).unwrap();
            fs::rename(copy, at).unwrap();
        }),
        (true, |at| {
            fs::write(at, fs::read(at.with_file_name("other.json")).unwrap()).unwrap()
        }),
    ];
    for (exists, change) in changes {
        let _ = fs::remove_file(folder.join("s.json"));
        if exists {
            let line = format!("--display none --rounds 1 --session s.json {START}");
            assert_eq!(lifestreams(folder, &line).code, Some(0));
        }
        let running = session_in(folder, "s.json");
        change(&folder.join("s.json"));
        let ended = stop(running);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let beside = other_file(folder, &["other.json", "s.json"]);
        says_last(
            &ended,
            &[
                "s.json was changed by another program meanwhile and is kept",
                &format!("the session is saved in {} instead", beside.display()),
            ],
        );
        assert_eq!(fs::read(folder.join("s.json")).unwrap(), other);
        assert!(continues(folder, &beside) > 0);
        fs::remove_file(beside).unwrap();
    }
}

#[test]
fn a_file_with_several_names_is_not_cut_off_from_them() {
    let folder = scratch();
    let folder = folder.path();
    let link = |name: &str| {
        fs::write(folder.join(name), "old").unwrap();
        fs::hard_link(folder.join(name), folder.join(format!("also-{name}"))).unwrap();
    };
    let words = ["it is one of 2 hard links", "cp"];
    for name in ["s.json", "a.gif", "t.json"] {
        link(name);
    }
    for line in [
        format!("--display none --session s.json {START}"),
        format!("--display none --frames 1 --record a.gif {START}"),
        format!("run -g 1 --trace t.json {START}"),
    ] {
        lifestreams(folder, &line).refuses(2, &words);
    }
    for name in ["s.json", "a.gif", "t.json"] {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), "old");
    }
    fs::remove_file(folder.join("s.json")).unwrap();
    // It gets its other name while the session runs.
    let line = format!("--display none --rounds 1 --session s.json {START}");
    assert_eq!(lifestreams(folder, &line).code, Some(0));
    let running = session_in(folder, "s.json");
    fs::hard_link(folder.join("s.json"), folder.join("late.json")).unwrap();
    let ended = stop(running);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let saved = other_file(&folder.join(STATE), &[]);
    says_last(&ended, &[words[0], &saved.display().to_string()]);
    assert!(continues(folder, &saved) > 0);
}

/// The hidden files in a folder.
fn hidden(folder: &Path) -> Vec<String> {
    let mut names = names(folder);
    names.retain(|name| name.starts_with('.'));
    names
}

#[test]
fn what_killed_recordings_leave_behind_is_removed_by_the_next_one() {
    let folder = scratch();
    let folder = folder.path();
    let endless = format!("--display none --record a.gif --frames 100000 {START}");
    let begin = |count: usize| {
        let running = start(folder, &endless);
        wait_for("a recording under way", || {
            let sizes = hidden(folder)
                .into_iter()
                .map(|name| fs::metadata(folder.join(name)).map_or(0, |file| file.len()));
            (sizes.filter(|&size| size > 0).count() == count).then_some(())
        });
        running
    };
    for _ in 0..3 {
        begin(1).signal("KILL");
    }
    // Two at a time, one killed: what the other writes is left alone.
    let (kept, killed) = (begin(1), begin(2));
    killed.signal("KILL");
    drop(killed);
    let line = format!("--display none --record a.gif --frames 2 {START}");
    lifestreams(folder, &line).done();
    assert_eq!(hidden(folder).len(), 1, "{:?}", hidden(folder));
    assert_eq!(stop(kept).code, Some(0));
    assert_eq!(names(folder), ["a.gif"]);
    let text = fs::read(folder.join("a.gif")).unwrap();
    assert_eq!(text.last(), Some(&b';'), "a whole GIF");
}
