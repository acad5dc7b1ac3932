//! What people read: lines on stdout and stderr, errors in words, and their exit codes: 1 a check failed, 2 the
//! input or the arguments are wrong, 3 the machine lacks something, 130 Ctrl+C ended it.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use engine::EngineError;
use lang::{escape_controls, is_hidden, tr};
use life::{
    MemoryError, PatternError, ReadError, SaveError, read_regular_file, system_reason,
    write_atomically,
};
use session::{NotSaved, SavedError};
use ui::INTERRUPTED;
use window::{ViewError, WindowError};
use workshop::Unchecked;

/// Prints a line on stdout, with its control characters escaped. A reader that has gone away is no
/// error: it has read enough.
pub(super) fn print(line: &str) -> Result<()> {
    print_to_reader(line).map(|_| ())
}

/// Prints a line on stdout, with its control characters escaped. Returns whether the reader is still
/// there: a pipe's, or a terminal that has not hung up.
pub(super) fn print_to_reader(line: &str) -> Result<bool> {
    write_line(&escape_controls(line, &[]))
}

/// Prints a value as JSON. Characters that are not seen are escaped as JSON has it.
pub(super) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    let mut line = String::new();
    for letter in serde_json::to_string(value)?.chars() {
        if is_hidden(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                line += &format!("\\u{unit:04x}");
            }
        } else {
            line.push(letter);
        }
    }
    write_line(&line).map(|_| ())
}

/// Prints a text with its own line breaks and tabs; other control characters are escaped. What comes
/// from outside has no place in it, unless it is escaped.
pub(super) fn print_text(text: &str) -> Result<()> {
    write_line(&escape_controls(text, &['\n', '\t'])).map(|_| ())
}

fn write_line(line: &str) -> Result<bool> {
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(_) if terminal::has_hung_up() => Ok(false),
        answer => Ok(answer.map(|()| true).map_err(NotPrinted)?),
    }
}

/// Output that stdout does not take.
#[derive(Debug, thiserror::Error)]
#[error("{}", tr!("the output cannot be printed: {reason}; send stdout elsewhere", reason = system_reason(.0)))]
pub(super) struct NotPrinted(pub(super) io::Error);

/// Prints a line on stderr, with its control characters escaped. If stderr is closed or full, it is
/// lost.
pub(super) fn say(line: &str) {
    let line = escape_controls(line, &[]);
    let _ = writeln!(io::stderr(), "lifestreams: {line}");
}

/// Writes on the terminal's present line, in place of what stands there.
pub(super) fn write_over(line: &str) {
    // Where stderr is closed there is nobody left to tell.
    let _ = write!(io::stderr(), "\r{line}\x1b[K");
}

/// Rows of cells, each as wide as the widest of its column.
pub(super) fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let width = |at: usize| rows.iter().map(|row| lang::columns(&row[at])).max();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate();
        let cells = cells.map(|(at, cell)| lang::align_left(cell, width(at).unwrap_or(0)));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Lines of a table of which each cell is given with its line and its column, whose heads come first. Both
/// have the order in which they are named first; what is not given is a dash.
pub fn pivot(corner: &str, cells: impl IntoIterator<Item = [String; 3]>) -> Vec<Vec<String>> {
    let mut lines = vec![vec![corner.to_owned()]];
    for [line, column, cell] in cells {
        let at = lines.iter().position(|it| it[0] == line);
        let at = at.unwrap_or_else(|| {
            lines.push(vec![line]);
            lines.len() - 1
        });
        let place = lines[0].iter().position(|it| *it == column);
        let place = place.unwrap_or_else(|| {
            lines[0].push(column);
            lines[0].len() - 1
        });
        let width = lines[at].len().max(place + 1);
        lines[at].resize(width, "–".into());
        lines[at][place] = cell;
    }
    let width = lines[0].len();
    lines
        .iter_mut()
        .for_each(|line| line.resize(width, "–".into()));
    lines
}

/// A check that failed, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct CheckFailed(pub String);

/// That an exercise is not solved, and how to hear why.
pub(super) fn is_wrong(file: &Path) -> anyhow::Error {
    let file = file.display();
    CheckFailed(tr!(
        "{file} is wrong; 'lifestreams exercise check --hint' says why"
    ))
    .into()
}

/// Arguments that contradict one another or the machine.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct BadArguments(pub String);

/// The error of arguments that contradict one another or the machine.
pub(super) fn refuse<T>(why: impl Into<String>) -> Result<T> {
    Err(BadArguments(why.into()).into())
}

/// A file that is not read, and why.
pub(super) fn unreadable(path: &Path, why: impl std::fmt::Display) -> BadArguments {
    let path = path.display();
    BadArguments(tr!("{path} cannot be read: {why}"))
}

/// The longest file that is read as a text. A script that is too long, but not that long, is refused by a
/// sentence of its own.
const MAX_BYTES: u64 = 1 << 20;

/// What a file holds, which may be nothing.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, BadArguments> {
    match read_regular_file(path, MAX_BYTES) {
        Err(ReadError::Empty) => Ok(Vec::new()),
        bytes => bytes.map_err(|why| unreadable(path, why)),
    }
}

/// What a file says.
pub(super) fn read_text(path: &Path) -> Result<String, BadArguments> {
    String::from_utf8(read_bytes(path)?).map_err(|why| unreadable(path, why))
}

/// Writes a file that does not exist yet.
pub(super) fn write_new(path: &Path, text: &str) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        let path = path.display();
        return refuse(tr!(
            "{path} exists already and was not changed; name another file or folder"
        ));
    }
    Ok(write_atomically(path, |file| {
        file.write_all(text.as_bytes())
    })?)
}

/// A run that Ctrl+C ended after what it had done, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Interrupted(pub String);

/// Whether an error is that of a check of a kernel that Ctrl+C ended.
pub(super) fn is_cancelled(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(Unchecked::Cancelled))
}

/// Set when the user no longer wants to wait.
pub(super) fn cancelled() -> Arc<AtomicBool> {
    let cancel = Arc::new(AtomicBool::new(false));
    let signalled = Arc::clone(&cancel);
    platform::on_signals(move || signalled.store(true, Ordering::Relaxed)).ok();
    cancel
}

/// What an error says, with what it was about before it.
pub(super) fn in_words(error: &anyhow::Error) -> String {
    let said = error.chain().map(|cause| {
        let of_system = cause.downcast_ref::<io::Error>();
        of_system.map_or_else(|| cause.to_string(), system_reason)
    });
    said.collect::<Vec<_>>().join(": ")
}

/// The exit code for an error, by what is at its root.
pub(super) fn exit_code(error: &anyhow::Error) -> ExitCode {
    let code = error.chain().find_map(|cause| {
        let refused = cause.downcast_ref::<SavedError>();
        if cause.is::<CheckFailed>() {
            Some(1)
        } else if cause.is::<Interrupted>() || is_cancelled(cause) {
            Some(INTERRUPTED as u8)
        } else if cause.is::<MemoryError>()
            || matches!(cause.downcast_ref(), Some(PatternError::Memory(_)))
            || refused.is_some_and(|it| it.lacks_memory)
        {
            Some(3)
        } else if cause.is::<BadArguments>() || cause.is::<PatternError>() || refused.is_some() {
            Some(2)
        } else if let Some(error) = cause.downcast_ref::<SaveError>() {
            Some(if error.is_disk_full { 3 } else { 2 })
        } else if let Some(error) = cause.downcast_ref::<NotSaved>() {
            Some(if error.machine_lacks { 3 } else { 2 })
        } else if let Some(error) = cause.downcast_ref::<EngineError>() {
            Some(if matches!(error, EngineError::UnsupportedSize(_)) {
                2
            } else {
                3
            })
        } else if let Some(error) = cause.downcast_ref::<ViewError>() {
            Some(error.exit_code())
        } else {
            cause.downcast_ref().map(WindowError::exit_code)
        }
    });
    ExitCode::from(code.unwrap_or(3)) // a display, a library, a device
}

/// The catalogue holds what the code says, no more and no less.
#[cfg(test)]
mod catalogue_tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    use proc_macro2::{TokenStream, TokenTree};

    /// The first literal of each `tr!`, `message!` and `mark!` below this folder.
    fn marked(folder: &Path, texts: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                marked(&path, texts);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let source = std::fs::read_to_string(&path).unwrap();
                let tokens: TokenStream = source.parse().expect("Rust");
                gather(tokens, texts);
            }
        }
    }

    fn gather(tokens: TokenStream, texts: &mut BTreeSet<String>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            let TokenTree::Group(group) = token else {
                continue;
            };
            let before = at.checked_sub(2).map(|from| &tokens[from..at]);
            if let Some([TokenTree::Ident(name), TokenTree::Punct(sign)]) = before
                && (name == "tr" || name == "message" || name == "mark")
                && sign.as_char() == '!'
                && let Some(TokenTree::Literal(literal)) = group.stream().into_iter().next()
            {
                let literal: syn::LitStr = syn::parse_str(&literal.to_string()).unwrap();
                texts.insert(literal.value());
            }
            gather(group.stream(), texts);
        }
    }

    /// The texts of tables, which are looked up where they are shown.
    fn tabled() -> BTreeSet<String> {
        let mut texts = BTreeSet::new();
        for row in ui::actions::TABLE.iter() {
            texts.extend([row.help, row.mouse].map(str::to_owned));
        }
        for kernel in &engine::kernels::KERNELS {
            texts.insert(kernel.title.into());
        }
        for exercise in lesson::EXERCISES {
            texts.insert(exercise.title.into());
            texts.extend(exercise.text.iter().map(|text| (*text).to_owned()));
        }
        texts.remove("");
        texts
    }

    fn used() -> BTreeSet<String> {
        let mut texts = tabled();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        marked(&root.join("src"), &mut texts);
        for entry in std::fs::read_dir(root.join("crates")).unwrap() {
            marked(&entry.unwrap().path().join("src"), &mut texts);
        }
        texts
    }

    fn catalogue() -> BTreeMap<String, String> {
        toml::from_str(crate::cli::CATALOGUE).unwrap()
    }

    #[test]
    fn every_text_has_its_chinese_and_every_entry_is_used() {
        let (used, known) = (used(), catalogue().into_keys().collect::<BTreeSet<_>>());
        assert!(used.len() > 80, "{}", used.len());
        let lacking: Vec<_> = used.difference(&known).collect();
        assert!(lacking.is_empty(), "without Chinese: {lacking:#?}");
        let left: Vec<_> = known.difference(&used).collect();
        assert!(left.is_empty(), "nothing uses {left:#?}");
    }

    /// What stands in braces, sorted.
    fn placeholders(text: &str) -> Vec<&str> {
        let mut found: Vec<&str> = text
            .split('{')
            .skip(1)
            .map(|rest| rest.split('}').next().unwrap_or_default())
            .collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn both_languages_have_the_same_placeholders() {
        for (english, chinese) in catalogue() {
            let (of_english, of_chinese) = (placeholders(&english), placeholders(&chinese));
            // Plain ones may be numbered where Chinese has another order.
            let numbered: Vec<String> = (0..of_english.len()).map(|at| at.to_string()).collect();
            let plain = of_english.iter().all(|it| it.is_empty());
            let same = of_english == of_chinese || (plain && of_chinese == numbered);
            assert!(same, "{english}: {of_english:?}\n{chinese}: {of_chinese:?}");
            let known = |it: &&str| it.chars().all(|c| c.is_alphanumeric() || c == '_');
            assert!(
                of_english.iter().all(known),
                "{english}: no format in braces"
            );
        }
    }

    #[test]
    fn every_character_has_a_glyph() {
        let context = egui::Context::default();
        window::install_fonts(&context);
        context
            .run_ui(Default::default(), |_| {})
            .drop_without_applying_deltas();
        let text: String = catalogue().into_values().collect();
        let mut lacking: BTreeSet<char> = text.chars().filter(|letter| *letter != '\n').collect();
        let font = egui::FontId::default();
        context.fonts_mut(|fonts| lacking.retain(|letter| !fonts.has_glyph(&font, *letter)));
        assert!(lacking.is_empty(), "scripts/build-font: {lacking:?}");
    }
}
