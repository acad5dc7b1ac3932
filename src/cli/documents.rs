//! The documents that are made from the code's own tables and the bench's records: the READMEs,
//! and what the kernels' headers say was measured. A test holds them equal.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::bench::{Record, factor_words, shown, source_of, times};
use super::readme;
use engine::kernels::{KERNELS, Kernel};
use lang::Language;
use life::write_atomically;
use model::ladder::{Ladder, Work};

/// Where a checkout has its records.
const RECORDS: &str = "assets/bench";

/// The documents of the checkout in this folder, each with its text as it should be.
pub fn documents(root: &Path) -> Result<Vec<(PathBuf, String)>> {
    let records = read_records(&root.join(RECORDS))?;
    // Of the GPU that most is recorded of.
    let of_gpus = records.iter().filter(|record| record.engine == "cuda");
    let with_ladder = of_gpus.filter(|record| record.ladder.is_some());
    let ladder = with_ladder
        .max_by_key(|record| record.tables.len())
        .and_then(|record| Some((record.device.as_str(), record.ladder.as_ref()?)));
    let mut documents = Vec::new();
    let mut headers = Vec::new();
    for (at, kernel) in KERNELS.iter().enumerate() {
        let path = root.join(format!("kernels/ladder/{}.cu", kernel.file));
        let text = read(&path)?;
        let text = with_block(&text, "Measured:", &measured(at, ladder))
            .with_context(|| path.display().to_string())?;
        headers.push(block_of(&text, "Next:"));
        documents.push((path, text));
    }
    let path = root.join("kernels/README.md");
    let table = [("ladder", ladder_table(&headers, ladder))];
    documents.push((path.clone(), with_parts(&read(&path)?, table)?));
    let path = root.join("README.md");
    let parts = readme::parts(&records)?;
    documents.push((path.clone(), with_parts(&read(&path)?, parts)?));
    let path = root.join("README.zh.md");
    let parts = lang::with(Language::Chinese, || readme::parts(&records))?;
    documents.push((path.clone(), with_parts(&read(&path)?, parts)?));
    Ok(documents)
}

/// Makes the documents anew where this is a checkout's folder of records; those that changed.
pub(super) fn renew(records: &Path) -> Result<Vec<PathBuf>> {
    let records = fs::canonicalize(records)?;
    let root = match records.ends_with(RECORDS) {
        true => records.ancestors().nth(2),
        false => None,
    };
    let Some(root) = root.filter(|root| root.join("kernels/ladder").is_dir()) else {
        return Ok(Vec::new());
    };
    let mut renewed = Vec::new();
    for (path, text) in documents(root)? {
        if read(&path)? != text {
            write_atomically(&path, |out| out.write_all(text.as_bytes()))?;
            renewed.push(path);
        }
    }
    Ok(renewed)
}

/// All records, those of GPUs first: what people look for.
fn read_records(folder: &Path) -> Result<Vec<Record>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            files.push(path);
        }
    }
    files.sort();
    let mut records: Vec<Record> = Vec::new();
    for path in files {
        let record = serde_json::from_str(&read(&path)?);
        records.push(record.with_context(|| path.display().to_string())?);
    }
    records.sort_by_key(|record| record.engine != "cuda");
    Ok(records)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// A text with its generated parts made anew. They stand between `<!-- name -->` and
/// `<!-- /name -->`.
fn with_parts(
    text: &str,
    parts: impl IntoIterator<Item = (&'static str, String)>,
) -> Result<String> {
    let mut text = text.to_owned();
    for (name, part) in parts {
        let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
        let start = text.find(&open).map(|at| at + open.len());
        let end = text.find(&close);
        let (Some(start), Some(end)) = (start, end) else {
            bail!("there is no part between {} and {close}", open.trim());
        };
        text.replace_range(start..end, &part);
    }
    Ok(text)
}

/// How the lines of a header's paragraph begin that are not its first.
const HANGING: &str = "//        ";

/// The widest line of a header.
const WIDTH: usize = 89;

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
            0 => format!("// {word}"),
            _ => HANGING.trim_end().to_owned() + &" ".repeat(7),
        };
        new.extend(wrapped(&start, paragraph));
    }
    lines.splice(at..at + old.len(), new);
    Ok(lines.join("\n") + "\n")
}

/// Words in lines of at most [`WIDTH`]; all but the first hang.
fn wrapped(start: &str, text: &str) -> Vec<String> {
    let mut lines = vec![start.to_owned()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is one");
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(format!("{HANGING}  {word}"));
        } else {
            *line += &format!(" {word}");
        }
    }
    lines
}

/// What the header of the rung in this place says was measured: a paragraph, and one for each
/// work.
fn measured(at: usize, ladder: Option<(&str, &Ladder)>) -> Vec<String> {
    let kernel = &KERNELS[at];
    let Some((device, ladder)) = ladder else {
        return vec!["not yet; no record of 'lifestreams bench ladder' has it".into()];
    };
    let place = format!("{device}, commit {}", ladder.commit);
    let mut said = vec![match ladder.sources.get(kernel.name) {
        None => format!("not since {place}; 'lifestreams bench ladder' measures it"),
        Some(source) if *source != source_of(kernel) => {
            format!("not since it was changed; before, {place}:")
        }
        Some(_) => format!("{place}:"),
    }];
    for &work in &ladder.works {
        let Some(rate) = ladder.rate(kernel.name, work) else {
            continue;
        };
        let below: Vec<&str> = KERNELS[..at].iter().map(|kernel| kernel.name).collect();
        let mut sentence = format!("{}: {}", in_ascii(work), shown(rate.median, "cells/s"));
        if let Some([before, first]) = ladder.factors(kernel.name, &below, work) {
            sentence += &format!(", {} {}", times(before.1), file_of(before.0));
            if first.0 != before.0 {
                sentence += &format!(", {} {}", times(first.1), file_of(first.0));
            }
        }
        said.push(sentence);
    }
    if let Some((rate, factor)) = ladder.any_rule(kernel.name) {
        said.push(format!(
            "by {}: {} as fast as by B3/S23",
            rate.rule,
            times(factor)
        ));
    }
    let left_out = ladder.left_out.iter();
    for left in left_out.filter(|left| left.kernel == kernel.name) {
        let work = left.work.map_or("all".into(), in_ascii);
        said.push(format!("{work}: not measured: {}", left.why));
    }
    said
}

fn in_ascii(work: Work) -> String {
    format!("{} x {}x{}", work.instances, work.side, work.side)
}

fn file_of(kernel: &str) -> &'static str {
    let found = KERNELS.iter().find(|row| row.name == kernel);
    found.map_or("?", |row| row.file)
}

/// The ladder, a line a rung: its idea, what it reaches, by what factor, and what is next.
fn ladder_table(next: &[String], ladder: Option<(&str, &Ladder)>) -> String {
    let mut text = match ladder {
        Some((device, ladder)) => {
            let limit = ladder.limits.cells_per_second();
            let limit = limit.map_or(String::new(), |limit| {
                format!("; the limit is {}", shown(limit, "cells/s"))
            });
            format!("Measured: {device}, commit {}{limit}.\n\n", ladder.commit)
        }
        None => {
            String::from("Not measured yet: `lifestreams bench ladder --write` fills it in.\n\n")
        }
    };
    text += "| Rung | Idea | Fastest measured | For the rung before | What is next |\n|---|---|---|---|---|\n";
    for ((at, kernel), next) in KERNELS.iter().enumerate().zip(next) {
        let [most, factor] =
            ladder.map_or_else(Default::default, |(_, ladder)| cells(at, kernel, ladder));
        text += &format!(
            "| [{file}](ladder/{file}.cu) | {} | {most} | {factor} | {next} |\n",
            kernel.title,
            file = kernel.file
        );
    }
    text
}

/// What a rung reaches at most, and its factor with the first work that the rung before has done
/// too.
fn cells(at: usize, kernel: &Kernel, ladder: &Ladder) -> [String; 2] {
    let Some(best) = ladder.best(kernel.name) else {
        return ["not measured", ""].map(String::from);
    };
    let stale = match ladder.sources.get(kernel.name) {
        Some(source) if *source == source_of(kernel) => "",
        _ => " (before it was changed)",
    };
    let most = format!("{}{stale}, {}", shown(best.median, "cells/s"), best.work);
    let before = at.checked_sub(1).map(|before| KERNELS[before].name);
    let together = |work: &&Work| {
        let both = [Some(kernel.name), before].into_iter().flatten();
        both.into_iter()
            .all(|name| ladder.rate(name, **work).is_some())
    };
    let work = ladder.works.iter().find(together);
    let work = work.or_else(|| ladder.works.iter().find(|&&work| work == best.work));
    let factor = work.map_or("–".into(), |&work| {
        factor_words(ladder, at, work)[0].clone()
    });
    let factor = match (at, work) {
        (0, _) | (_, None) => "–".into(),
        (_, Some(work)) => format!("{factor}, {work}"),
    };
    [most, factor]
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ladder::made_up;

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

    #[test]
    fn a_header_says_of_what_its_figures_are() {
        let mut ladder = made_up::ladder();
        let bits = KERNELS.iter().position(|k| k.name == "bits").unwrap();
        let says = |ladder: &Ladder| measured(bits, Some(("NVIDIA H200", ladder))).join("\n");
        assert!(measured(bits, None)[0].starts_with("not yet"));
        assert!(says(&ladder).starts_with("not since NVIDIA H200, commit 0123456789ab;"));
        ladder
            .sources
            .insert("bits".into(), source_of(&KERNELS[bits]));
        assert_eq!(
            says(&ladder),
            "NVIDIA H200, commit 0123456789ab:\n\
             16 x 1024x1024: 1.56 Tcells/s, 6.25 times 03_sync_global, 39.1 times 01_global\n\
             1 x 16384x16384: 3.12 Tcells/s, 15.6 times 02_shared, 39.1 times 01_global\n\
             by B36/S23: 0.50 times as fast as by B3/S23"
        );
        ladder.sources.insert("bits".into(), "another".into());
        assert!(says(&ladder).starts_with("not since it was changed; before, NVIDIA H200"));
        let planar = measured(bits + 1, Some(("NVIDIA H200", &ladder))).join("\n");
        assert!(
            planar.contains("1 x 16384x16384: not measured: it hung"),
            "{planar}"
        );
    }

    #[test]
    fn the_projectors_table_has_a_line_a_rung() {
        let ladder = made_up::ladder();
        let next: Vec<String> = KERNELS
            .iter()
            .map(|kernel| format!("after {}", kernel.name))
            .collect();
        let table = ladder_table(&next, Some(("NVIDIA H200", &ladder)));
        let rows: Vec<&str> = table
            .lines()
            .filter(|line| line.starts_with("| ["))
            .collect();
        assert_eq!(rows.len(), KERNELS.len());
        assert!(
            rows[0].contains("| 80.0 Gcells/s (before it was changed), 1 × 16384² | – |"),
            "{table}"
        );
        assert!(
            rows[1].contains("| 2.50 times, 16 × 1024² | after shared |"),
            "{table}"
        );
    }
}
