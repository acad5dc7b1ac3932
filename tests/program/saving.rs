//! What happens where a file cannot be saved as usual: nothing of anybody else's is written over,
//! and nothing is left behind.

use std::fs;
use std::path::Path;

use crate::common::{self, Ended, Running, lifestreams, names, program, scratch, wait_for};

const START: &str = "--size 70x40 --instances 3 --seed 11 --kernel bits --device cpu";

fn start(folder: &Path, line: &str) -> Running {
    Running::start(program(folder).args(line.split(' ')))
}

fn stop(running: Running) -> Ended {
    running.signal("TERM");
    running.end(common::TIMEOUT)
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
