//! A sentence that is stored, and read in the language of whoever reads it.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::{Language, language, single_line, with};

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

    /// The text in this thread's language.
    pub fn text(&self) -> &str {
        match (language(), &self.0.chinese) {
            (Language::Chinese, Some(chinese)) => chinese,
            (Language::Chinese | Language::English, _) => &self.0.english,
        }
    }
}

impl std::error::Error for Message {}

impl Deref for Message {
    type Target = str;

    fn deref(&self) -> &str {
        self.text()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
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

/// A [`Message`] from what [`tr!`](crate::tr) takes.
#[macro_export]
macro_rules! message {
    ($($text:tt)+) => {
        $crate::Message::new(|| $crate::tr!($($text)+))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_in_the_language_of_the_reader() {
        crate::tests::install();
        let [plain, counted] = [message!("Redo"), message!("up to {} ahead", 7)];
        assert_eq!((&*plain, &*counted), ("Redo", "up to 7 ahead"));
        with(Language::Chinese, || {
            assert_eq!(&*plain, crate::text("Redo"));
            assert!(counted.contains('7') && !counted.contains("ahead"));
        });
        let cause = Message::from("CUDA_ERROR_UNKNOWN");
        let same = with(Language::Chinese, || cause.to_string());
        assert_eq!(same, "CUDA_ERROR_UNKNOWN");
    }
}
