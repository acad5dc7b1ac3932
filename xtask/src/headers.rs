//! What the header of each kernel's file says was measured.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
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
        let text = with_measured(&text_of(&path)?, &measured(at, &record.device, ladder));
        files.push((
            path.clone(),
            text.with_context(|| path.display().to_string())?,
        ));
    }
    Ok(files)
}

fn file(root: &Path, stem: &str) -> PathBuf {
    root.join(format!("kernels/ladder/{stem}.cu"))
}

/// How the paragraph begins, and its lines but the first.
const FIRST: &str = "// Measured: ";
const HANGING: &str = "//        ";

/// The widest line of a header.
const MAX_WIDTH: usize = 89;

/// A kernel's text with these sentences as the header's paragraph of measurements, a line or more each.
fn with_measured(text: &str, sentences: &[String]) -> Result<String> {
    let lines: Vec<&str> = text.lines().collect();
    let start = lines
        .iter()
        .position(|line| line.starts_with(FIRST.trim_end()));
    let start = start.with_context(|| format!("its header has no line '{FIRST}'"))?;
    let old = lines[start + 1..].iter();
    let end = start + 1 + old.take_while(|line| line.starts_with(HANGING)).count();
    let mut new: Vec<Cow<str>> = Vec::new();
    for (number, sentence) in sentences.iter().enumerate() {
        let options = textwrap::Options::new(MAX_WIDTH)
            .word_separator(WordSeparator::AsciiSpace)
            .initial_indent(if number == 0 { FIRST } else { HANGING })
            .subsequent_indent("//          ");
        new.extend(textwrap::wrap(sentence, options));
    }
    let before = lines[..start].iter().map(|line| Cow::from(*line));
    let after = lines[end..].iter().map(|line| Cow::from(*line));
    let all: Vec<_> = before.chain(new).chain(after).collect();
    Ok(all.join("\n") + "\n")
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

    #[test]
    fn a_paragraph_of_a_header_is_replaced_and_nothing_else() {
        const HEADER: &str = "// The idea.\n//\n// Bound: much,\n//        and more.\n\
                              // Measured: not yet\n//        at all\n// Next: the\n//        rest.\n";
        let new = ["a device:".to_owned(), "word ".repeat(40)];
        let text = with_measured(HEADER, &new).unwrap();
        let want = "and more.\n// Measured: a device:\n//        word word";
        assert!(text.contains(want), "{text}");
        assert!(
            text.ends_with(" word\n// Next: the\n//        rest.\n"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.len() < 90));
        assert_eq!(text.matches("word").count(), 40);
        assert_eq!(with_measured(&text, &new).unwrap(), text);
        assert!(with_measured("// No.\n", &new).is_err());
    }
}
