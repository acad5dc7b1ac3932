//! Programs line by line: the CUDA C++ of a rung, with what changed from the rung that it is compared with, and
//! the programs of a lesson side by side.

use crate::ViewOptions;
use engine::Kernel;
use session::Status;
use similar::{Algorithm, ChangeTag, TextDiff};

/// What became of a line since the program that it is compared with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Change {
    /// Both have it.
    Same,
    /// Only this one has it.
    Added,
    /// Only the other one has it.
    Removed,
}

impl Change {
    /// The sign before a line, as in any diff.
    pub fn sign(self) -> char {
        match self {
            Change::Same => ' ',
            Change::Added => '+',
            Change::Removed => '−',
        }
    }
}

/// A line of source.
#[derive(Clone, PartialEq, Debug)]
pub struct SourceLine {
    /// What became of it.
    pub change: Change,
    /// Its text, without a line end.
    pub text: String,
}

impl SourceLine {
    fn new(change: Change, text: &str) -> SourceLine {
        SourceLine {
            change,
            text: text.trim_end().into(),
        }
    }
}

/// The source of a rung.
#[derive(Clone, PartialEq, Debug)]
pub struct RungSource {
    /// Its kernel.
    pub kernel: &'static Kernel,
    /// The rung that it is compared with; `None` for the first.
    pub compared_with: Option<&'static str>,
    /// Its lines, and among them those that it no longer has.
    pub lines: Vec<SourceLine>,
}

impl RungSource {
    /// The source that is shown in the ladder's place, if one is.
    pub fn shown(options: &ViewOptions, status: &Status) -> Option<RungSource> {
        let kernel = status.setting.kernels().nth(options.shown_source()?)?;
        Some(RungSource::of(kernel))
    }

    /// The source of this kernel.
    pub fn of(kernel: &'static Kernel) -> RungSource {
        let [head, code] = kernel.code();
        let before = kernel.compared_with();
        // Of the file's head: what differs, in words.
        let words = head
            .lines()
            .skip_while(|line| !line.starts_with("// Compared"));
        let words = words.take_while(|line| *line != "//");
        let mut lines: Vec<_> = words
            .map(|text| SourceLine::new(Change::Same, text))
            .collect();
        match before {
            None => lines.extend(code.lines().map(|text| SourceLine::new(Change::Same, text))),
            Some(before) => {
                let old = match kernel.own {
                    Some(_) => before.standalone_code(),
                    None => before.code()[1].to_owned(),
                };
                let changes = diff(&old, code, |line| line);
                let line = |(change, [old, new]): (_, [Option<&str>; 2])| {
                    SourceLine::new(change, new.or(old).unwrap_or_default())
                };
                lines.extend(changes.into_iter().map(line));
            }
        }
        RungSource {
            kernel,
            compared_with: before.map(|kernel| kernel.name),
            lines,
        }
    }
}

/// The lines of two programs in the order of a diff: what became of each, and the line in the old and in the
/// new one. `key` gives what of a line counts.
fn diff<'a>(
    old: &'a str,
    new: &'a str,
    key: fn(&str) -> &str,
) -> Vec<(Change, [Option<&'a str>; 2])> {
    let lines = [old, new].map(|text| text.lines().collect::<Vec<_>>());
    let [a, b] = lines
        .each_ref()
        .map(|it| it.iter().map(|it| key(it)).collect::<Vec<_>>());
    let mut diff = TextDiff::configure();
    let diff = diff.algorithm(Algorithm::Patience).diff_slices(&a, &b);
    let changes = diff.iter_all_changes().map(|change| {
        let places = [change.old_index(), change.new_index()];
        let what = match change.tag() {
            ChangeTag::Equal => Change::Same,
            ChangeTag::Insert => Change::Added,
            ChangeTag::Delete => Change::Removed,
        };
        (
            what,
            [0, 1].map(|at| places[at].map(|line| lines[at][line])),
        )
    });
    changes.collect()
}

/// The lines of programs; of two, those are added that the other one has not. What is only indented
/// otherwise is the same.
pub(crate) fn side_by_side(codes: &[&str]) -> Vec<Vec<SourceLine>> {
    let [a, b] = codes else {
        let line = |text| SourceLine::new(Change::Same, text);
        return codes
            .iter()
            .map(|code| code.lines().map(line).collect())
            .collect();
    };
    let mut columns = vec![Vec::new(), Vec::new()];
    for (change, texts) in diff(a, b, str::trim) {
        let change = match change {
            Change::Same => Change::Same,
            Change::Added | Change::Removed => Change::Added,
        };
        for (column, text) in columns.iter_mut().zip(texts) {
            column.extend(text.map(|text| SourceLine::new(change, text)));
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::kernels::{KERNELS, OwnCode, find};

    fn texts(source: &RungSource, changes: &[Change]) -> String {
        let of = |line: &&SourceLine| changes.contains(&line.change);
        let lines = source.lines.iter().filter(of);
        lines.map(|line| format!("{}\n", line.text)).collect()
    }

    #[test]
    fn a_source_is_whole_and_so_is_the_one_that_it_is_compared_with() {
        for kernel in &KERNELS {
            let source = RungSource::of(kernel);
            let [_, code] = kernel.code();
            assert!(code.contains("__global__"), "{}", kernel.name);
            assert!(texts(&source, &[Change::Same, Change::Added]).ends_with(code));
            let Some(before) = kernel.compared_with() else {
                assert_eq!(
                    kernel.name, "global",
                    "only the first rung has none before it"
                );
                continue;
            };
            assert!(before.index() < kernel.index());
            let [_, old] = before.code();
            assert!(texts(&source, &[Change::Same, Change::Removed]).ends_with(old));
        }
    }

    #[test]
    fn what_differs_between_two_programs_is_marked_on_both_sides() {
        for (codes, expected) in [
            (
                ["launch\nwait", "launch\ncopy\nwait"],
                ["  launch   wait", "  launch + copy   wait"],
            ),
            (
                ["launch", "loop\n  launch"],
                ["  launch", "+ loop     launch"],
            ),
            (["launch 1", "launch 2"], ["+ launch 1", "+ launch 2"]),
        ] {
            let line = |it: &SourceLine| format!("{} {}", it.change.sign(), it.text);
            let texts =
                |lines: &Vec<SourceLine>| lines.iter().map(line).collect::<Vec<_>>().join(" ");
            let columns: Vec<_> = side_by_side(&codes).iter().map(texts).collect();
            assert_eq!(columns, expected);
        }
    }

    #[test]
    fn an_own_kernel_is_compared_with_its_rung() {
        let rung = find("shared").unwrap();
        let code = OwnCode {
            rung,
            source: "// from: 02_shared\n".to_owned() + &*rung.standalone_code(),
            rules: None,
            gpu: None,
            cpu: None,
        };
        let source = RungSource::of(Kernel::own(code, rung.block()));
        assert_eq!(source.compared_with, Some("shared"));
        assert_eq!(texts(&source, &[Change::Added, Change::Removed]), "");
    }
}
