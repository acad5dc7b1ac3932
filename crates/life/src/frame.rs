//! What the readers of all formats find besides cells, and the rules that files have.

use crate::run::Extent;
use crate::text::{self, Flaw, blanks, count_numbers, lines, printable};
use crate::{Rule, RuleError, Size};
use lang::{Message, message};
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

/// Data of a pattern besides its cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Frame {
    /// Columns; may be 0.
    pub width: u32,
    /// Rows; may be 0.
    pub height: u32,
    /// Bounding box of the live cells.
    pub live: Extent,
    /// Column and row of the pattern's top left, in a format whose cells have coordinates. The origin,
    /// column 0 and row 0, is the middle. Such a pattern begins and ends with live cells.
    pub corner: Option<[i64; 2]>,
    pub rule: Option<Rule>,
    pub torus: Option<Size>,
    /// The generation of the cells; 0 if the text does not say.
    pub generation: u64,
    pub remarks: Remarks,
}

/// What was interpreted differently from the text and should be reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Remarks {
    /// The highest state of a cell; 0 for a text with two states.
    pub states: u8,
    /// The text's rule has several states and was replaced by one with two.
    pub history: bool,
    /// The text has no `!` at its end.
    pub no_end: bool,
    /// The generation is beyond [`MAX_GENERATION`].
    pub far_generation: bool,
}

/// The maximum start generation of a pattern; it leaves as many generations to run.
pub const MAX_GENERATION: u64 = 1 << 62;

impl Frame {
    /// Parses the generation from leading digits; 0 if there are none.
    pub(crate) fn read_generation(&mut self, text: &[u8]) {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
        let generation = digits.fold(0u64, |so_far, digit| {
            let shifted = so_far.saturating_mul(10);
            shifted.saturating_add(u64::from(digit - b'0'))
        });
        self.remarks.far_generation = generation > MAX_GENERATION;
        self.generation = if self.remarks.far_generation {
            0
        } else {
            generation
        };
    }

    /// Has the pattern begin and end with its live cells.
    pub(crate) fn fit(&mut self, [width, height]: [i64; 2], corner: [i64; 2]) {
        (self.width, self.height) = (width as u32, height as u32);
        self.corner = Some(corner);
        self.live = Extent((width > 0).then_some([0, width, 0, height]));
    }

    /// Reads the rule and the torus from a text that begins at this offset, with any blanks around it.
    pub(crate) fn read_rule(&mut self, text: &[u8], at: usize) -> Result<(), Flaw> {
        let read = read_rule(text.trim_ascii());
        self.take_rule(read.map_err(|error| (at + blanks(text), error.message))?);
        Ok(())
    }

    /// Sets the rule and the torus.
    pub(crate) fn take_rule(&mut self, read: RuleAndTorus) {
        (self.rule, self.torus) = (Some(read.rule), read.torus);
        self.remarks.history = read.history;
    }
}

impl Remarks {
    /// Records a cell's state and returns whether the cell is alive. In LifeHistory and similar
    /// rules odd states are alive.
    pub(crate) fn see(&mut self, state: u8) -> bool {
        if state > 1 {
            self.states = self.states.max(state);
        }
        state % 2 == 1
    }
}

/// Maximum length of a rule in bytes. Valid rules have at most about 50.
const MAX_RULE: usize = 200;

/// A rule as users type it and files have it, with an optional torus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleAndTorus {
    /// The rule.
    pub rule: Rule,
    /// The torus.
    pub torus: Option<Size>,
    /// Whether it replaces a rule of several states, such as LifeHistory.
    pub(crate) history: bool,
}

/// The rule and, after a colon, the torus.
pub(crate) fn read_rule(text: &[u8]) -> Result<RuleAndTorus, RuleError> {
    let text = shortened(text);
    let (rule, topology) = match text.split_once(':') {
        Some((rule, topology)) => (rule, Some(topology)),
        None => (text.as_str(), None),
    };
    let (rule, history) = match without_history(rule) {
        Some(rule) => (rule, true),
        None => (rule.parse()?, false),
    };
    let torus = topology.map(read_torus).transpose();
    let torus = torus.map_err(|message| RuleError {
        message,
        is_notation: true,
    })?;
    Ok(RuleAndTorus {
        rule,
        torus: torus.flatten(),
        history,
    })
}

/// The two-state rule behind `LifeHistory`, `B36/S23History` or `LifeSuper`. Odd states are alive
/// and even ones dead.
fn without_history(text: &str) -> Option<Rule> {
    let text = text.trim();
    let rule = ["history", "super"].iter().find_map(|suffix| {
        let (rule, end) = text.split_at_checked(text.len().checked_sub(suffix.len())?)?;
        end.eq_ignore_ascii_case(suffix).then_some(rule)
    });
    rule?.parse().ok()
}

/// The torus of `T100,80`, or of `T100`, which is square; `None` for `T0,0`, an infinite plane.
/// Golly's other topologies (planes, Klein bottles, twists, shifts, one infinite side) are not
/// supported.
fn read_torus(topology: &str) -> Result<Option<Size>, Message> {
    let sides = || {
        let sides = topology.trim().strip_prefix(['T', 't'])?;
        let (width, height) = sides.split_once(',').unwrap_or((sides, sides));
        let side = |text: &str| text.trim().parse::<u64>().ok();
        Some((side(width)?, side(height)?)).filter(|(w, h)| (*w == 0) == (*h == 0))
    };
    let (width, height) = sides().ok_or_else(|| {
        let shown: String = topology.trim().chars().take(40).collect();
        message!(
            "'{it}' is no torus, and only a torus can be run; write its sides, such as :T100,100, or leave it out",
            it = shown
        )
    })?;
    if width == 0 {
        return Ok(None);
    }
    let size = Size::new(width, height).map(Some);
    size.map_err(|it| message!("the torus {it}"))
}

impl FromStr for RuleAndTorus {
    type Err = Message;

    /// Reads `B3/S23`, `Day & Night` or `B3/S23:T64,64`; `LifeHistory` is Conway's Life.
    fn from_str(text: &str) -> Result<RuleAndTorus, Message> {
        read_rule(text.as_bytes()).map_err(|error| error.message)
    }
}

/// The text without control characters, shortened with a mark if it is too long.
fn shortened(text: &[u8]) -> String {
    let mut shown = printable(&text[..text.len().min(MAX_RULE)]);
    shown.extend((text.len() > MAX_RULE).then_some('…'));
    shown
}

// What formats there are.

/// A format of pattern files.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// Runs of cells; all programs support it.
    Rle,
    /// Rows of `.` and `O`.
    Plaintext,
    /// Blocks of rows of `.` and `*`.
    Life105,
    /// The columns and rows of the live cells.
    Life106,
    /// A quadtree of shared squares, for patterns that are huge and repeat themselves.
    Macrocell,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 5] = [
        Format::Rle,
        Format::Plaintext,
        Format::Life105,
        Format::Life106,
        Format::Macrocell,
    ];

    /// The name, and how files' names end; `lif` and `life` mean Life 1.05: texts of Life 1.06 state their
    /// version in the first line.
    const fn named(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Format::Rle => ("RLE", &["rle"]),
            Format::Plaintext => ("plaintext", &["cells"]),
            Format::Life105 => ("Life 1.05", &["lif", "life"]),
            Format::Life106 => ("Life 1.06", &["lif"]),
            Format::Macrocell => ("macrocell", &["mc"]),
        }
    }

    /// The file extension without the dot; `lif` for both versions of Life.
    pub const fn extension(self) -> &'static str {
        self.named().1[0]
    }

    /// The format that a file name's extension implies, if any.
    pub fn of_name(name: impl AsRef<Path>) -> Option<Format> {
        let extension = name.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        let has_it = |format: &Format| format.named().1.contains(&&*extension);
        Format::ALL.into_iter().find(has_it)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.named().0)
    }
}

// Name, author and comments of pattern files.

/// A pattern's name, author and comments, one string per line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Notes {
    /// The pattern's name.
    pub name: Option<String>,
    /// The author, often with a year.
    pub author: Option<String>,
    /// The other comments, one per line.
    pub comments: Vec<String>,
}

impl Notes {
    /// The notes of a text of this format. Control characters become `U+FFFD`, and a second name or
    /// author becomes a comment.
    pub(crate) fn of(text: &[u8], format: Format) -> Notes {
        let mut notes = Notes::default();
        for (_, line) in lines(text, text::start(text)) {
            let Some((letter, text)) = read_line(line.trim_ascii_start(), format) else {
                if format == Format::Rle && !line.starts_with(b"#") && line.contains(&b'!') {
                    break;
                }
                continue;
            };
            let title = match letter {
                NAME => Some(&mut notes.name),
                AUTHOR => Some(&mut notes.author),
                _ => None,
            };
            match title.filter(|title| title.is_none()) {
                Some(title) => *title = Some(printable(text.trim_ascii())),
                // Without the blank after its mark.
                None => {
                    let text = text.strip_prefix(b" ").unwrap_or(text);
                    notes.comments.push(printable(text));
                }
            }
        }
        notes
    }

    /// Writes the notes as lines, with what comes before name, author and comments in a format.
    pub(crate) fn write(
        &self,
        [name, author, comment]: [&str; 3],
        out: &mut (impl Write + ?Sized),
    ) -> io::Result<()> {
        let named = self.name.iter().map(|text| (name, text));
        let by = self.author.iter().map(|text| (author, text));
        let comments = self.comments.iter().map(|text| (comment, text));
        for (prefix, text) in named.chain(by).chain(comments) {
            // A line break must not be written: the rest would be read as cells.
            let text = text.replace(char::is_control, " ");
            writeln!(out, "{}", format!("{prefix}{text}").trim_end())?;
        }
        Ok(())
    }
}

/// The letters that mark names, authors and comments.
const NAME: u8 = b'N';
const AUTHOR: u8 = b'O';
const COMMENT: u8 = b'C';

/// The kind of a comment line, as a letter, and its content; `None` if it is none.
fn read_line(line: &[u8], format: Format) -> Option<(u8, &[u8])> {
    if format == Format::Plaintext {
        return line.strip_prefix(b"!").map(titled);
    }
    let (&letter, text) = line.strip_prefix(b"#")?.split_first()?;
    let is_life = matches!(format, Format::Life105 | Format::Life106);
    match letter {
        // Golly's record of the saved part of the universe.
        COMMENT if text.starts_with(b"XRLE") => None,
        // In a macrocell, the position of the origin.
        AUTHOR if format == Format::Macrocell && count_numbers(text) == Some(2) => None,
        // In Life 1.05, `#N` alone means the normal rule.
        NAME if is_life && text.trim_ascii().is_empty() => None,
        b'D' if is_life => Some(titled(text)),
        NAME | AUTHOR | COMMENT => Some((letter, text)),
        b'c' | b'D' => Some((COMMENT, text)),
        _ => None,
    }
}

/// A comment that may start with `Name:` or `Author:`.
fn titled(text: &[u8]) -> (u8, &[u8]) {
    let titles = [(NAME, "Name:"), (AUTHOR, "Author:")];
    let found = titles.into_iter().find_map(|(letter, title)| {
        let (start, rest) = text.trim_ascii_start().split_at_checked(title.len())?;
        let is_it = start.eq_ignore_ascii_case(title.as_bytes());
        is_it.then_some((letter, rest))
    });
    found.unwrap_or((COMMENT, text))
}

/// What a pattern file says of its cells before them.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The size of the lattice.
    pub size: Size,
    /// The rule; plaintext cannot store it.
    pub rule: Rule,
    /// Whether the lattice is a whole torus, not a part of one. RLE stores that.
    pub torus: bool,
    /// The generation; plaintext cannot store it.
    pub generation: u64,
    /// Name, author and comments.
    pub notes: &'a Notes,
}

/// A function that writes the words of a lattice.
pub type Writer = fn(Head, &[u32], &mut dyn Write) -> io::Result<()>;
