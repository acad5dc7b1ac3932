//! Translation of the interface.
//!
//! English texts are in the code, where they are used: `tr!("one each")`, or with values `tr!("up
//! to {n} ahead")`. The English text is also the key of the Chinese catalogue,
//! `assets/lang/zh.toml`, which the program installs ([`install_catalogue`]). Texts in tables
//! (keys, kernels, lessons) are looked up by [`text`] when they are displayed. A test fails for
//! each text that the catalogue lacks, and for each unused entry.
//!
//! What is stored for later is a [`Message`]: it has its text in every language.
//!
//! The whole program has one language ([`set`]). A thread can use another temporarily ([`with`]),
//! for example to draw one picture in Chinese and one in English.

pub mod numbers;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;

/// A language of the interface.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, clap::ValueEnum)]
pub enum Language {
    /// English
    #[default]
    #[value(name = "en")]
    English,
    /// Chinese, simplified
    #[value(name = "zh")]
    Chinese,
}

impl Language {
    /// The language of the user's locale: Chinese for `zh`, else English.
    pub fn by_locale() -> Language {
        Language::of_locale(&sys_locale::get_locale().unwrap_or_default())
    }

    fn of_locale(locale: &str) -> Language {
        let language = locale.split(['-', '_', '.', '@']).next();
        match language {
            Some(it) if it.eq_ignore_ascii_case("zh") => Language::Chinese,
            _ => Language::English,
        }
    }

    /// The other language.
    pub fn other(self) -> Language {
        match self {
            Language::English => Language::Chinese,
            Language::Chinese => Language::English,
        }
    }
}

static ALL: AtomicU8 = AtomicU8::new(Language::English as u8);

thread_local! {
    static OWN: Cell<Option<Language>> = const { Cell::new(None) };
}

/// Sets the language of the whole program.
pub fn set(language: Language) {
    ALL.store(language as u8, Ordering::Relaxed);
}

/// The language of this thread.
pub fn language() -> Language {
    OWN.get()
        .unwrap_or(if ALL.load(Ordering::Relaxed) == Language::Chinese as u8 {
            Language::Chinese
        } else {
            Language::English
        })
}

/// Runs `what` with another language, on this thread only.
pub fn with<T>(language: Language, what: impl FnOnce() -> T) -> T {
    struct Restore(Option<Language>);
    impl Drop for Restore {
        fn drop(&mut self) {
            OWN.set(self.0);
        }
    }
    let _restore = Restore(OWN.replace(Some(language)));
    what()
}

/// What is said, in English whatever the language, as in logs and JSON.
pub fn english(said: impl fmt::Display) -> String {
    with(Language::English, || said.to_string())
}

static CHINESE: OnceLock<HashMap<String, String>> = OnceLock::new();

/// What files brought along beside the catalogue.
static ADDED: RwLock<BTreeMap<&str, &str>> = RwLock::new(BTreeMap::new());

/// Adds the Chinese of a text, for as long as the program runs.
pub fn add_chinese(english: &'static str, chinese: String) {
    let mut added = ADDED.write();
    added.entry(english).or_insert(chinese.leak());
}

/// Installs the Chinese catalogue, a TOML table from English to Chinese. The program does this before
/// it says anything, so that a changed sentence rebuilds the program and not the crates that it is
/// made of. A second catalogue is ignored.
pub fn install_catalogue(toml: &str) {
    CHINESE.get_or_init(|| {
        toml::from_str(toml).unwrap_or_else(|error| {
            tracing::error!("the Chinese catalogue: {error}");
            HashMap::new()
        })
    });
}

/// The translation into this thread's language; `None` for English, or if the catalogue lacks the
/// text or is not installed.
pub fn translated(english: &str) -> Option<&'static str> {
    match language() {
        Language::English => None,
        Language::Chinese => {
            let known = CHINESE.get().and_then(|it| it.get(english));
            let added = || ADDED.read().get(english).copied();
            known.map(String::as_str).or_else(added)
        }
    }
}

/// The text in this thread's language; English if there is no translation.
pub fn text(english: &'static str) -> &'static str {
    translated(english).unwrap_or(english)
}

/// Like [`text`], for a text that is not static: a copy in this thread's language.
pub fn shown(english: &str) -> String {
    translated(english).unwrap_or(english).into()
}

/// Removes spaces between two Chinese characters. Templates have spaces around values, which may be
/// Latin or Chinese.
pub fn closed(text: String) -> String {
    let chinese =
        |letter: Option<char>| letter.is_some_and(|it| ('\u{4e00}'..='\u{9fff}').contains(&it));
    let mut closed = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let before = closed.chars().next_back();
        if letter != ' ' || !chinese(before) || !chinese(letters.peek().copied()) {
            closed.push(letter);
        }
    }
    closed
}

/// Whether a character is not seen: it controls something, or changes the order of those around it.
pub fn is_hidden(letter: char) -> bool {
    let is_format = matches!(letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    is_format || letter.is_control()
}

/// A character that a text from elsewhere brought into code, and what to do.
pub fn stray_in_words(letter: char) -> String {
    let code = format!("U+{:04X}", u32::from(letter));
    match letter {
        '“' | '”' | '„' | '‘' | '’' | '«' | '»' => {
            crate::tr!("the typographic quotation mark {letter} ({code}); type a plain one")
        }
        _ if letter.is_whitespace() => {
            crate::tr!("a space that is not a plain one ({code}); type a plain space")
        }
        _ if is_hidden(letter) => crate::tr!("an invisible character ({code}); delete it"),
        _ => crate::tr!("the character {letter} ({code}), which the language does not have"),
    }
}

/// The text with its control and hidden characters escaped, except those to keep: what files, folders
/// and arguments are called must not break a line, move a cursor, sound a bell or look like another name.
pub fn escape_controls<'a>(text: &'a str, keep: &[char]) -> Cow<'a, str> {
    let is_escaped = |letter: char| is_hidden(letter) && !keep.contains(&letter);
    if !text.contains(is_escaped) {
        return text.into();
    }
    let mut escaped = String::new();
    for letter in text.chars() {
        if is_escaped(letter) {
            escaped.extend(letter.escape_default());
        } else {
            escaped.push(letter);
        }
    }
    escaped.into()
}

/// Like [`escape_controls`], for a text of one line: all of them are escaped.
pub fn single_line(text: String) -> String {
    match escape_controls(&text, &[]) {
        Cow::Borrowed(_) => text,
        Cow::Owned(escaped) => escaped,
    }
}

/// Units that stay in the line of their number.
const UNITS: [&str; 12] = [
    "%", "ns", "µs", "ms", "s", "B", "KiB", "MiB", "GiB", "TiB", "×", "x",
];

/// With a capital letter, if it begins with a letter that has one.
pub fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// The text with no-break spaces where a line should not end: between a number and its unit, and
/// around the × of a size.
pub fn keep_units(text: &str) -> String {
    const NO_BREAK: char = '\u{a0}';
    let mut kept = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        let rest = &text[at + letter.len_utf8()..];
        let end = rest.find(|it: char| !it.is_alphabetic() && !"%×".contains(it));
        let word = &rest[..end.unwrap_or(rest.len())];
        let is_before_unit = kept.ends_with(|it: char| it.is_ascii_digit())
            && (UNITS.contains(&word) || word.ends_with("cell"));
        let is_in_size = kept.ends_with("\u{a0}×") || kept.ends_with("\u{a0}x");
        match letter {
            ' ' if is_before_unit || is_in_size => kept.push(NO_BREAK),
            letter => kept.push(letter),
        }
    }
    kept
}

/// Width of a text in terminal columns; a Chinese character takes two.
pub fn columns(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// Right-aligns a text in at least this many columns.
pub fn align_right(text: &str, columns: usize) -> String {
    let spaces = columns.saturating_sub(self::columns(text));
    format!("{}{text}", " ".repeat(spaces))
}

/// Left-aligns a text in at least this many columns.
pub fn align_left(text: &str, columns: usize) -> String {
    let spaces = columns.saturating_sub(self::columns(text));
    format!("{text}{}", " ".repeat(spaces))
}

/// Breaks a line at its spaces into rows of at most so many columns, unless a word is longer. Every row but the
/// first begins with the margin.
pub fn wrapped(line: &str, most: usize, margin: &str) -> String {
    let (mut rows, mut width) = (String::new(), 0);
    for word in line.split_inclusive(' ') {
        if width > 0 && width + columns(word.trim_end()) > most {
            rows = format!("{}\n{margin}", rows.trim_end());
            width = columns(margin);
        }
        rows += word;
        width += columns(word);
    }
    rows
}

/// A sentence in every language: what happened is put into words once, and switching the language
/// changes what is already on screen. It is one line: control characters are escaped.
///
/// [`message!`](crate::message!) makes one from the text that [`tr!`](crate::tr) takes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Message(Arc<Texts>);

#[derive(PartialEq, Eq, Hash, Debug)]
struct Texts {
    english: String,
    /// `None` if it is the same as the English.
    chinese: Option<String>,
}

impl Message {
    /// The sentence that `say` gives in each language.
    pub fn new<T: Into<String>>(say: impl Fn() -> T) -> Message {
        let [english, chinese] = [Language::English, Language::Chinese]
            .map(|language| single_line(with(language, || say().into())));
        Message(Arc::new(Texts {
            chinese: (chinese != english).then_some(chinese),
            english,
        }))
    }

    /// What is said in each language.
    pub fn of(said: impl fmt::Display) -> Message {
        Message::new(|| said.to_string())
    }
}

impl std::error::Error for Message {}

impl Deref for Message {
    type Target = str;

    /// The text in this thread's language.
    fn deref(&self) -> &str {
        match (language(), &self.0.chinese) {
            (Language::Chinese, Some(chinese)) => chinese,
            (Language::Chinese | Language::English, _) => &self.0.english,
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

/// A text that is the same in every language, such as a driver's words.
impl<T: Into<String>> From<T> for Message {
    fn from(text: T) -> Message {
        Message(Arc::new(Texts {
            english: single_line(text.into()),
            chinese: None,
        }))
    }
}

/// A text in this thread's language. `tr!("one each")` is a `&'static str`. With values, which are
/// positional (`{}`) or named (`{n}`), `tr!("{n} of {}", all, n = 3)` is a `String` of one line:
/// control characters in the values are escaped. A name without a value is that of a variable.
#[macro_export]
macro_rules! tr {
    ($($text:tt)+) => {
        $crate::capture!($crate::translate!($($text)+))
    };
}

/// What [`tr!`] gives, with a value for each name in the text.
#[doc(hidden)]
#[macro_export]
macro_rules! translate {
    ($text:literal $(,)?) => {
        $crate::text($text)
    };
    ($text:literal, $($values:tt)+) => {
        match $crate::translated($text) {
            None => $crate::single_line(format!($text, $($values)+)),
            Some(template) => $crate::single_line($crate::closed(
                $crate::runtime_format!(template, $($values)+)
            )),
        }
    };
}

/// A [`Message`] from what [`tr!`](crate::tr) takes.
#[macro_export]
macro_rules! message {
    ($($text:tt)+) => {
        $crate::Message::new(|| $crate::tr!($($text)+))
    };
}

/// Marks a text in a table for translation; [`text`] translates it when it is displayed.
#[macro_export]
macro_rules! mark {
    ($text:literal) => {
        $text
    };
}

// `tr!` expands to them in crates that do not depend on where they are from.
#[doc(hidden)]
pub use ::lang_macros::capture;
#[doc(hidden)]
pub use ::tr::runtime_format;
