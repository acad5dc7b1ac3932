//! Tests of `--help`, the manual page and the shell completions.

use crate::common::{hold, lifestreams, scratch};

#[test]
fn help_is_in_groups_and_every_option_is_explained() {
    let folder = scratch();
    for (line, most) in [("-h", 135), ("--help", 500)] {
        let said = "Commands: | What is stepped, and where: | How rounds are issued, copied and waited for (F2 to F8): \
                    | How it is shown, and for how long: | Examples: | Exit codes:";
        hold(folder.path(), &[], &[(line, 0, said)]);
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
    hold(folder.path(), &[], &[
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
