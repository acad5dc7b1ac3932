//! What people read, in their language.
//!
//! The English stands in the code, where it is used: `tr!("one each")`, or with values
//! `tr!("up to {} ahead", n)`. It is also the key of the catalogue, `assets/lang/zh.toml`, which has
//! the Chinese. Texts that stand in tables (keys, kernels, lessons) are looked up by [`text`] where
//! they are shown. A test fails for each text that the catalogue lacks, and for each entry that
//! nothing uses.
//!
//! One language holds for the whole program ([`set`]); a thread can have its own for a while
//! ([`with`]), so that a picture in Chinese can be drawn beside one in English.

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};

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
    /// What the person's locale asks for: Chinese for `zh`, else English.
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

    /// The other one.
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

/// Makes it the language of the whole program.
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

/// Does something with another language, on this thread alone.
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

static CHINESE: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let catalogue = toml::from_str(include_str!("../../../assets/lang/zh.toml"));
    catalogue.unwrap_or_else(|error| {
        tracing::error!("assets/lang/zh.toml: {error}");
        HashMap::new()
    })
});

/// The text in this thread's language, if that is not English and the catalogue has it.
pub fn translated(english: &str) -> Option<&'static str> {
    match language() {
        Language::English => None,
        Language::Chinese => CHINESE.get(english).map(String::as_str),
    }
}

/// The text in this thread's language; as it is where it has no translation.
pub fn text(english: &'static str) -> &'static str {
    translated(english).unwrap_or(english)
}

/// The same of a text that was kept: a copy in this thread's language.
pub fn shown(english: &str) -> String {
    translated(english).unwrap_or(english).into()
}

/// Without spaces between two Chinese characters: a template has them around a value that may be
/// either Latin or Chinese.
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

/// Columns that a text takes where letters are of one width: two for a Chinese character.
pub fn columns(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// The text with spaces in front of it, as many columns as that at least.
pub fn to_the_right(text: &str, columns: usize) -> String {
    let spaces = columns.saturating_sub(self::columns(text));
    format!("{}{text}", " ".repeat(spaces))
}

/// The text with spaces behind it, as many columns as that at least.
pub fn to_the_left(text: &str, columns: usize) -> String {
    let spaces = columns.saturating_sub(self::columns(text));
    format!("{text}{}", " ".repeat(spaces))
}

/// A text in this thread's language: `tr!("one each")` is a `&'static str`, and with values, as
/// `format!` takes them but each named or plain (`{}`, `{n}`), `tr!("{n} of {}", all, n = 3)` is a
/// `String`.
#[macro_export]
macro_rules! tr {
    ($text:literal $(,)?) => {
        $crate::text($text)
    };
    ($text:literal, $($values:tt)+) => {
        match $crate::translated($text) {
            None => format!($text, $($values)+),
            Some(template) => $crate::closed($crate::runtime_format!(template, $($values)+)),
        }
    };
}

/// The text as it is: for a table, where [`text`] looks it up once it is shown.
#[macro_export]
macro_rules! mark {
    ($text:literal) => {
        $text
    };
}

// `tr!` expands to it in crates that do not depend on `tr` themselves.
#[doc(hidden)]
pub use ::tr::runtime_format;
