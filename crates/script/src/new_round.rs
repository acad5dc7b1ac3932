//! Files to begin a round with: what stands above a script as comments.

use std::fmt::Write as _;

use lang::{align_left, text, tr};

use crate::Work;
use crate::interpreter::functions;

/// A round that is right, as a file that needs no other document, in this thread's language.
pub fn new_round() -> String {
    let lines = [
        tr!("A round of N instances: each is advanced once and downloaded once."),
        tr!("Calls in one stream run one after another; streams run side by side."),
        "",
    ];
    let command = tr!(
        "To check it: {command}",
        command = "lifestreams round check FILE"
    );
    let lines = lines.map(str::to_owned).into_iter().chain([command]);
    commented(lines, &Work::Lattices.usage())
        + "for i in 0..N {\n    advance(i, i);\n    download(i, i);\n}\n"
}

/// Lines as comments, and below them what can be called, and what each call does.
pub fn commented(lines: impl Iterator<Item = String>, usage: &[(&str, &'static str)]) -> String {
    let widths = usage.iter().map(|(call, _)| call.len());
    let width = widths.max().unwrap_or_default();
    let usage = usage
        .iter()
        .map(|(call, meaning)| format!("{}  {}", align_left(call, width), text(meaning)));
    let gap = usage.len().min(1);
    let mut commented = String::new();
    for line in lines.chain(vec![String::new(); gap]).chain(usage) {
        let _ = writeln!(commented, "{}", format!("// {line}").trim_end());
    }
    commented + "\n"
}

impl Work {
    /// What a script can call, and what each call does; English, also the key of the translation.
    pub fn usage(self) -> Vec<(&'static str, &'static str)> {
        let functions = functions(self).into_iter();
        functions.map(|it| (it.usage, it.meaning)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Script, check};
    use lang::Language;

    #[test]
    fn a_new_round_is_right() {
        for language in [Language::English, Language::Chinese] {
            let source = test_support::with(language, new_round);
            for items in [1, 2, 16] {
                let round = Script::compile(&source, Work::Lattices)
                    .unwrap()
                    .round(items)
                    .unwrap();
                assert_eq!(check(&round, items, Work::Lattices, &[]), []);
            }
        }
    }
}
