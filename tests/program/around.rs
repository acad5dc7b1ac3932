//! Tests of `--help`, the manual page and the shell completions.

use std::fs;

use crate::common::{PROGRAM, command, lifestreams, names, run, scratch};

#[test]
fn help_is_in_groups_and_every_option_is_explained() {
    let folder = scratch();
    for (line, most) in [("-h", 135), ("--help", 500)] {
        let help = lifestreams(folder.path(), line).done().stdout;
        for heading in [
            "Commands:",
            "What is stepped, and where:",
            "How rounds are issued, copied and waited for (F2 to F8):",
            "How it is shown, and for how long:",
            "Examples:",
            "Exit codes:",
        ] {
            assert!(help.contains(heading), "{heading}: {help}");
        }
        assert!(help.lines().count() < most, "{help}");
        for line in help.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let folder = scratch();
    lifestreams(folder.path(), "man pages").done();
    let pages = names(&folder.path().join("pages"));
    for command in ["", "-run", "-snapshot", "-lesson", "-bench", "-completions"] {
        let name = format!("lifestreams{command}.1");
        assert!(pages.contains(&name), "{name}: {pages:?}");
    }
    let page = fs::read_to_string(folder.path().join("pages/lifestreams.1")).unwrap();
    for part in [
        ".SH NAME",
        ".SH OPTIONS",
        ".SH KEYS",
        ".SH \"EXIT STATUS\"",
        ".SS Time",
        "Run / pause",
    ] {
        let unquoted = part.replace('"', "");
        assert!(
            page.contains(part) || page.contains(&unquoted),
            "{part}: {page}"
        );
    }
    let printed = lifestreams(folder.path(), "man").done().stdout;
    assert_eq!(printed.trim_end(), page.trim_end());
    fs::write(folder.path().join("file"), "").unwrap();
    let refused = lifestreams(folder.path(), "man file");
    refused.refuses(2, &["file"]);
}

#[test]
fn a_shell_takes_the_completions() {
    let folder = scratch();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = lifestreams(folder.path(), &format!("completions {shell}"));
        let script = script.done().stdout;
        assert!(script.contains("generations-per-round"), "{shell}");
    }
    // As bash does it when the Tab key is pressed.
    let ask = format!(
        "source <({PROGRAM} completions bash); COMP_WORDS=(lifestreams --display t); \
         COMP_CWORD=2; _lifestreams lifestreams t --display; echo ${{COMPREPLY[@]}}"
    );
    let said = run(command("bash", folder.path()).args(["-c", &ask])).done();
    assert_eq!(said.stdout.trim(), "terminal");
    lifestreams(folder.path(), "completions tcsh").refuses(2, &["tcsh", "bash"]);
}
