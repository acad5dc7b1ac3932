//! What the header of each kernel's file says was measured.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use engine::kernels::KERNELS;
use lang::numbers::{digits, quantity};
use lifestreams::cli::Record;
use textwrap::WordSeparator;
use ui::ladder::{Ladder, Workload};

use crate::documents::text_of;

/// The kernels' files, each with its header as it should be.
pub(crate) fn headers(root: &Path, record: &Record) -> Result<Vec<(PathBuf, String)>> {
    let ladder = record.ladder.as_ref().expect("it has one");
    let mut files = Vec::new();
    for (at, kernel) in KERNELS.iter().enumerate() {
        let path = file(root, kernel.file);
        let text = with_block(
            &text_of(&path)?,
            "Measured:",
            &measured(at, &record.device, ladder),
        );
        files.push((
            path.clone(),
            text.with_context(|| path.display().to_string())?,
        ));
    }
    Ok(files)
}

/// Of each kernel, what its header says is next.
pub(crate) fn next(root: &Path) -> Result<Vec<String>> {
    let texts = KERNELS
        .iter()
        .map(|kernel| text_of(&file(root, kernel.file)));
    texts.map(|text| Ok(block_of(&text?, "Next:"))).collect()
}

fn file(root: &Path, stem: &str) -> PathBuf {
    root.join(format!("kernels/ladder/{stem}.cu"))
}

/// How the lines of a header's paragraph begin that are not its first.
const HANGING: &str = "//        ";

/// The widest line of a header.
const MAX_WIDTH: usize = 89;

/// The lines of a header's paragraph: from the one that begins with the word to the last that
/// hangs from it.
fn lines_of<'a>(text: &'a str, word: &str) -> Option<(usize, Vec<&'a str>)> {
    let first = format!("// {word}");
    let header = text.lines().take_while(|line| line.starts_with("//"));
    let before = header.clone().take_while(|line| !line.starts_with(&first));
    let at = before.count();
    let mut rest = header.skip(at);
    let lines: Vec<&str> = std::iter::once(rest.next()?)
        .chain(rest.take_while(|line| line.starts_with(HANGING)))
        .collect();
    Some((at, lines))
}

/// A header's paragraph as one sentence, without its word; empty where there is none.
fn block_of(text: &str, word: &str) -> String {
    let lines = lines_of(text, word).map_or(Vec::new(), |(_, lines)| lines);
    let words = lines.iter().flat_map(|line| line.split_whitespace());
    let own = |part: &&str| *part != "//" && *part != word;
    words.filter(own).collect::<Vec<_>>().join(" ")
}

/// A kernel's text with another paragraph in place of the one of this word.
fn with_block(text: &str, word: &str, paragraphs: &[String]) -> Result<String> {
    let Some((at, old)) = lines_of(text, word) else {
        bail!("its header has no line '// {word}'");
    };
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    let mut new = Vec::new();
    for (number, paragraph) in paragraphs.iter().enumerate() {
        let start = match number {
            0 => format!("// {word} "),
            _ => HANGING.to_owned(),
        };
        let hanging = format!("{HANGING}  ");
        let options = textwrap::Options::new(MAX_WIDTH).word_separator(WordSeparator::AsciiSpace);
        let options = options.initial_indent(&start).subsequent_indent(&hanging);
        let wrapped = textwrap::wrap(paragraph, options).into_iter();
        new.extend(wrapped.map(Cow::into_owned));
    }
    lines.splice(at..at + old.len(), new);
    Ok(lines.join("\n") + "\n")
}

/// What the header of the rung in this place says was measured: a paragraph, and one for each
/// work.
fn measured(at: usize, device: &str, ladder: &Ladder) -> Vec<String> {
    let kernel = &KERNELS[at];
    let place = format!("{device}, commit {}", ladder.commit);
    let mut said = vec![match ladder.sources.get(kernel.name) {
        None => format!("not since {place}; 'lifestreams bench ladder' measures it"),
        Some(source) if *source != kernel.source() => {
            format!("not since it was changed; before, {place}:")
        }
        Some(_) => format!("{place}:"),
    }];
    for &work in &ladder.works {
        let Some(rate) = ladder.rate(kernel.name, work) else {
            continue;
        };
        let below: Vec<&str> = KERNELS[..at].iter().map(|kernel| kernel.name).collect();
        let mut sentence = format!("{}: {}", in_ascii(work), quantity(rate.median, "cells/s"));
        if let Some([before, first]) = ladder.factors(kernel.name, &below, work) {
            sentence += &format!(", {} {}", times(before.1), file_of(before.0));
            if first.0 != before.0 {
                sentence += &format!(", {} {}", times(first.1), file_of(first.0));
            }
        }
        said.push(sentence);
    }
    if let Some((rate, factor)) = ladder.other_rule_rate(kernel.name) {
        let factor = times(factor);
        said.push(format!("by {}: {factor} the rate of B3/S23", rate.rule));
    }
    let left_out = ladder.left_out.iter();
    for left in left_out.filter(|left| left.kernel == kernel.name) {
        let work = left.work.map_or("all".into(), in_ascii);
        said.push(format!("{work}: not measured: {}", left.why));
    }
    said
}

fn in_ascii(work: Workload) -> String {
    format!("{} x {}x{}", work.instances, work.side, work.side)
}

fn times(factor: f64) -> String {
    format!("{} times", digits(factor))
}

fn file_of(kernel: &str) -> &'static str {
    let found = KERNELS.iter().find(|row| row.name == kernel);
    found.map_or("?", |row| row.file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "// The idea.\n//\n// Bound: much,\n//        and more.\n// Measured: not \
                          yet\n//        at all\n// Next: the\n//        rest.\n\n// Measured: here\n";

    #[test]
    fn a_paragraph_of_a_header_is_replaced_and_nothing_else() {
        let new = ["a device:".to_owned(), "16 x 8x8: fast".to_owned()];
        let text = with_block(HEADER, "Measured:", &new).unwrap();
        let want = "// Measured: a device:\n//        16 x 8x8: fast\n// Next:";
        assert!(text.contains(want), "{text}");
        assert!(text.ends_with("\n\n// Measured: here\n"));
        assert_eq!(text.lines().count(), HEADER.lines().count());
        assert_eq!(with_block(&text, "Measured:", &new).unwrap(), text);
        assert_eq!(block_of(&text, "Next:"), "the rest.");
        assert_eq!(block_of(&text, "Never:"), "");
        assert!(with_block("// No.\n", "Measured:", &new).is_err());
    }

    #[test]
    fn long_sentences_hang() {
        let long = vec!["word ".repeat(40).trim().to_owned()];
        let text = with_block(HEADER, "Measured:", &long).unwrap();
        assert!(text.lines().all(|line| line.len() < 90));
        assert_eq!(block_of(&text, "Measured:"), long[0]);
    }
}
