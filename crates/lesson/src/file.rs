//! Lessons as files: what a lesson says, asks and measures.

use std::path::Path;
use std::sync::LazyLock;

use engine::{Kernel, kernels};
use lang::{Message, message, tr};
use script::{Dynamic, Place, Recipe, ScriptError};
use serde::{Deserialize, Deserializer};
use session::Switches;
use toml::Spanned;
use toml::de::DeTable;

/// A text as it is in English, which is also the key of its translation.
pub type Text = &'static str;

/// The longest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The lessons that come with the program, in the order of the list.
const SHIPPED: [&str; 29] = [
    include_str!("../../../assets/lessons/conway.toml"),
    include_str!("../../../assets/lessons/conway-streams.toml"),
    include_str!("../../../assets/lessons/conway-sync.toml"),
    include_str!("../../../assets/lessons/conway-sync-shared.toml"),
    include_str!("../../../assets/lessons/multi-kernel.toml"),
    include_str!("../../../assets/lessons/multi-kernel-streams.toml"),
    include_str!("../../../assets/lessons/multi-kernel-events.toml"),
    include_str!("../../../assets/lessons/multi-kernel-threads.toml"),
    include_str!("../../../assets/lessons/event.toml"),
    include_str!("../../../assets/lessons/context.toml"),
    include_str!("../../../assets/lessons/mandelbrot-sync.toml"),
    include_str!("../../../assets/lessons/rgb-to-gray.toml"),
    include_str!("../../../assets/lessons/pinned.toml"),
    include_str!("../../../assets/lessons/chunks.toml"),
    include_str!("../../../assets/lessons/depth.toml"),
    include_str!("../../../assets/lessons/unified-memory.toml"),
    include_str!("../../../assets/lessons/peer-copy.toml"),
    include_str!("../../../assets/lessons/one-torus.toml"),
    include_str!("../../../assets/lessons/default-stream.toml"),
    include_str!("../../../assets/lessons/dependencies.toml"),
    include_str!("../../../assets/lessons/speedup.toml"),
    include_str!("../../../assets/lessons/issue-order.toml"),
    include_str!("../../../assets/lessons/connections.toml"),
    include_str!("../../../assets/lessons/graphs.toml"),
    include_str!("../../../assets/lessons/host-functions.toml"),
    include_str!("../../../assets/lessons/stream-memory.toml"),
    include_str!("../../../assets/lessons/priorities.toml"),
    include_str!("../../../assets/lessons/occupancy.toml"),
    include_str!("../../../assets/lessons/barrier.toml"),
];

/// Every lesson that comes with the program, in the order of the list.
pub static LESSONS: LazyLock<Vec<Lesson>> = LazyLock::new(|| {
    let read = |file: &&str| Lesson::read(file).unwrap_or_else(|fault| panic!("{fault:?}: {file}"));
    SHIPPED.iter().map(read).collect()
});

/// The shipped lesson of this name.
pub fn find(name: &str) -> Option<&'static Lesson> {
    LESSONS.iter().find(|lesson| lesson.name == name)
}

/// The file of a shipped lesson; empty if there is none of this name.
pub fn shipped_file(name: &str) -> &'static str {
    let files = LESSONS.iter().zip(SHIPPED);
    let file = files.into_iter().find(|(lesson, _)| lesson.name == name);
    file.map_or("", |(_, file)| file)
}

/// A lesson.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Lesson {
    /// What people type.
    #[serde(deserialize_with = "name")]
    pub name: Text,
    /// With which others it is listed.
    pub group: Group,
    /// What it is about, in a few words.
    #[serde(deserialize_with = "text")]
    pub title: Text,
    /// Where it comes from.
    pub source: Origin,
    /// What is done, in a sentence or two.
    #[serde(deserialize_with = "text")]
    pub intro: Text,
    /// What the class should say before it sees.
    #[serde(deserialize_with = "text")]
    pub question: Text,
    /// What it may say of a comparison: the time of the part that is expected to be slower over that of the
    /// other, in ascending order; 1 is no difference.
    #[serde(default)]
    pub factors: Vec<f64>,
    /// Which of the comparisons that is.
    #[serde(default)]
    pub asked: usize,
    /// What else it may say.
    #[serde(default, rename = "choice")]
    pub choices: Vec<Choice>,
    /// The figure by which a choice is right, and an end is chosen.
    pub answer: Option<Answer>,
    /// What the time that is compared is of.
    #[serde(deserialize_with = "text")]
    pub timed: Text,
    /// Whether the times of operations are part of its page.
    #[serde(default)]
    pub ops: bool,
    /// What is measured.
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
    /// Which parts are set against each other.
    #[serde(default, rename = "compare")]
    pub compared: Vec<Compare>,
    /// What the CPU engine lacks, if the lesson is about that.
    #[serde(rename = "missing")]
    pub missing_on_cpu: Option<Missing>,
    /// How it ends, beside what is concluded from each comparison.
    #[serde(default, rename = "closing")]
    pub closings: Vec<Closing>,
}

/// How lessons are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// The book chapter's programs.
    Book,
    /// Copies over the bus.
    Copies,
    /// The concepts behind them.
    Concepts,
}

impl Group {
    /// All of them, in the order of the list.
    pub const ALL: [Group; 3] = [Group::Book, Group::Copies, Group::Concepts];

    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Group::Book => tr!("The book's programs"),
            Group::Copies => tr!("Copies"),
            Group::Concepts => tr!("Concepts"),
        }
    }
}

/// Where a lesson comes from.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(
    rename_all = "kebab-case",
    expecting = "a source such as { other = \"my course\" }"
)]
pub enum Origin {
    /// A chapter of Brian Tuomanen's book, *Hands-On GPU Programming with Python and CUDA*, and the file of a
    /// program of it.
    Book(u8, String),
    /// A section of NVIDIA's *CUDA C++ Programming Guide*.
    Guide(String),
    /// A section of NVIDIA's *CUDA C++ Best Practices Guide*.
    BestPractices(String),
    /// Whatever its author says.
    Other(String),
}

impl Origin {
    /// As a reader finds it.
    pub fn in_words(&self) -> String {
        match self {
            Origin::Book(chapter, program) => tr!(
                "Tuomanen, Hands-On GPU Programming with Python and CUDA, chapter {chapter}: {program}"
            ),
            Origin::Guide(section) => tr!("NVIDIA, CUDA C++ Programming Guide: {}", section),
            Origin::BestPractices(section) => {
                tr!("NVIDIA, CUDA C++ Best Practices Guide: {}", section)
            }
            Origin::Other(source) => source.clone(),
        }
    }
}

/// The parts of a lesson that are looked at together, side by side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scene {
    /// One or two parts; of two that are compared, the one that is expected to be slower first.
    pub parts: Vec<usize>,
    /// Which of the lesson's comparisons is theirs.
    pub comparison: Option<usize>,
}

/// One of the answers to a lesson's question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What it says.
    #[serde(deserialize_with = "text")]
    pub text: Text,
    /// Whether it always holds.
    #[serde(default)]
    pub right: bool,
    /// The lesson's figure from which on it holds.
    pub from: Option<f64>,
    /// The time of the first part which is the longest, if it holds: a figure or an op.
    pub of: Option<String>,
}

/// Which figure answers a lesson's question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Of which part.
    pub part: usize,
    /// Its label.
    pub figure: String,
    /// Whether it says nothing on the CPU engine.
    #[serde(default)]
    pub gpu: bool,
}

/// What a lesson is about and the CPU engine lacks.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Missing {
    /// A noun, after "The CPU engine has no".
    #[serde(deserialize_with = "text")]
    pub what: Text,
    /// What a GPU would show: the conclusion on the CPU engine.
    #[serde(deserialize_with = "text")]
    pub on_gpu: Text,
}

impl Missing {
    /// What it is, and what that means for times.
    pub(crate) fn in_words(self) -> String {
        tr!(
            "The CPU engine has no {what}: results are verified, but CPU timings are not representative",
            what = lang::text(self.what)
        )
    }
}

/// An end of a lesson.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closing {
    /// The lesson's figure from which on it holds; at any if there is none.
    pub from: Option<f64>,
    /// What it says; `{value}` stands for the figure.
    #[serde(deserialize_with = "text")]
    pub text: Text,
}

/// A part of a lesson: a script, or rounds of lattices.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// What it is, in a few words.
    #[serde(deserialize_with = "text")]
    pub title: Text,
    /// The same in CUDA C++: what matters of it, a few lines that a class reads at a glance.
    pub code: String,
    /// A remark on its figures; may be empty.
    #[serde(default, deserialize_with = "text")]
    pub note: Text,
    /// The same on the CPU engine, in its place; may be empty.
    #[serde(default, rename = "note-on-cpu", deserialize_with = "text")]
    pub note_on_cpu: Text,
    /// Which time is compared.
    #[serde(default)]
    pub time: TimeOf,
    /// By what it is divided.
    #[serde(default = "one")]
    pub divide: f64,
    /// Whether it finds the number `TIMES`, for its script and those of later parts: with it the second op
    /// lasts as long as the first.
    #[serde(default)]
    pub balance: bool,
    /// How many connections the driver has to the device: then another process measures it.
    pub connections: Option<u32>,
    /// What the script orders is measured.
    pub script: Option<Spanned<String>>,
    /// Rounds are measured.
    pub rounds: Option<Rounds>,
}

/// Which time of a script is compared with other parts'.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeOf {
    /// From the first call until everything is done.
    #[default]
    Wall,
    /// From the first op's start to the last op's end.
    Device,
    /// From the first op's start to the end of the op that was issued last.
    Last,
    /// The median of the launches.
    Launch,
}

/// Rounds of lattices: the time of one, as the mean of several in a row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rounds {
    /// How many lattices.
    pub instances: usize,
    /// Their width and height.
    pub size: u64,
    /// What steps them.
    #[serde(deserialize_with = "kernel")]
    pub kernel: &'static Kernel,
    /// Generations per round.
    pub generations: u32,
    /// Generations per round on the CPU engine, if others.
    pub on_cpu: Option<u32>,
    /// Rounds in a row; a fifth of them on the CPU engine.
    pub in_a_row: u32,
    /// How rounds are issued, copied and waited for.
    #[serde(default)]
    pub set: Switches,
    /// Whether they are measured for 1, 2, 4 … instances, up to this number or to a session's.
    #[serde(default)]
    pub sweep: bool,
}

/// Two parts whose times are set against each other.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compare {
    /// The part that is expected to be slower.
    pub slow: usize,
    /// The part that is expected to be faster.
    pub fast: usize,
    /// What is learned from it, in a few words.
    #[serde(deserialize_with = "text")]
    pub label: Text,
    /// What is concluded if it is. If that is not resolved, or changes with the load, all lessons say the
    /// same.
    #[serde(default, deserialize_with = "text")]
    pub faster: Text,
    /// What is concluded if there is no difference; empty where nothing is concluded in any case.
    #[serde(default, deserialize_with = "text")]
    pub none: Text,
    /// What is concluded if it is slower.
    #[serde(default, deserialize_with = "text")]
    pub slower: Text,
}

fn one() -> f64 {
    1.0
}

fn name<'de, D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
    Ok(String::deserialize(from)?.leak())
}

/// A text in English, and maybe in Chinese.
fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields, expecting = "a text such as title.en = \"…\"")]
    struct Said {
        en: String,
        zh: Option<String>,
    }
    let Said { en, zh } = Said::deserialize(from)?;
    let english: Text = en.leak();
    if let Some(chinese) = zh {
        lang::add_chinese(english, chinese);
    }
    Ok(english)
}

fn kernel<'de, D: Deserializer<'de>>(from: D) -> Result<&'static Kernel, D::Error> {
    let name = String::deserialize(from)?;
    let names = || kernels::KERNELS.each_ref().map(|it| it.name).join(", ");
    let unknown = || {
        let message = message!(
            "There is no kernel '{name}'; there are {names}.",
            name = name,
            names = names()
        );
        serde::de::Error::custom(message)
    };
    kernels::find(&name).ok_or_else(unknown)
}

impl Lesson {
    /// What is looked at one after the other: every comparison, and every part that is in none.
    pub fn scenes(&self) -> Vec<Scene> {
        let compared = self.compared.iter().enumerate();
        let mut scenes: Vec<Scene> = compared
            .map(|(at, compare)| Scene {
                parts: vec![compare.slow, compare.fast],
                comparison: Some(at),
            })
            .collect();
        let is_seen = |part: &usize| scenes.iter().any(|scene| scene.parts.contains(part));
        let others: Vec<usize> = (0..self.parts.len())
            .filter(|part| !is_seen(part))
            .collect();
        scenes.extend(others.chunks(2).map(|parts| Scene {
            parts: parts.into(),
            comparison: None,
        }));
        scenes.sort_by_key(|scene| (scene.parts.iter().copied().min(), scene.comparison));
        scenes
    }

    /// The scene that its question is about.
    pub fn asked(&self) -> usize {
        if self.factors.is_empty() {
            return 0;
        }
        let is_asked = |scene: &Scene| scene.comparison == Some(self.asked);
        self.scenes().iter().position(is_asked).unwrap_or(0)
    }

    /// Reads a lesson, and everything that it says in another language, which stays in memory.
    ///
    /// # Errors
    /// The first place that is no lesson.
    pub fn read(file: &str) -> Result<Lesson, ScriptError> {
        toml::from_str(file).map_err(|error| {
            let place = error.span().map(|span| Place::behind(&file[..span.start]));
            ScriptError::new(Message::of(error.message()), place)
        })
    }

    /// Reads a lesson's file, which stays in memory.
    ///
    /// # Errors
    /// The file cannot be read, or its first fault.
    pub fn open(path: &Path) -> Result<&'static Lesson, ScriptError> {
        let bytes = life::read_regular_file(path, MAX_BYTES);
        let bytes = bytes.map_err(|error| ScriptError::new(Message::of(error), None))?;
        let file = script::decode(bytes)?;
        let lesson = Lesson::read(&file)?;
        lesson.check(&file)?;
        Ok(Box::leak(Box::new(lesson)))
    }

    /// Finds what the types of the file do not say.
    pub(crate) fn check(&self, file: &str) -> Result<(), ScriptError> {
        let fault = |key, nth, message| Err(ScriptError::new(message, place_of(file, key, nth)));
        let choices = self.factors.len() + self.choices.len();
        if self.factors.is_empty() == self.choices.is_empty() || !(2..=9).contains(&choices) {
            let message = message!("A lesson has either 2 to 9 factors or 2 to 9 choices.");
            let is_of_factors = self.choices.is_empty();
            return fault(if is_of_factors { "factors" } else { "choice" }, 0, message);
        }
        if !self.factors.is_sorted() {
            return fault("factors", 0, message!("Factors are in ascending order."));
        }
        if !self.factors.is_empty() && self.asked >= self.compared.len() {
            let message = message!(
                "There is no [[compare]] number {asked}, counted from 0, which the factors are about.",
                asked = self.asked
            );
            let is_given = self.asked > 0;
            return fault(if is_given { "asked" } else { "factors" }, 0, message);
        }
        let compared = self.compared.iter().enumerate();
        let compared =
            compared.flat_map(|(nth, it)| [it.slow, it.fast].map(|it| ("compare", nth, it)));
        let answer = self.answer.iter().map(|it| ("answer", 0, it.part));
        for (key, nth, part) in compared.chain(answer) {
            if part >= self.parts.len() {
                let message = message!("There is no [[part]] number {part}, counted from 0.");
                return fault(key, nth, message);
            }
        }
        if let Some(nth) = self.compared.iter().position(|it| it.slow == it.fast) {
            return fault(
                "compare",
                nth,
                message!("A part is compared with another one."),
            );
        }
        for (nth, part) in self.parts.iter().enumerate() {
            if part.divide <= 0.0 {
                return fault(
                    "part",
                    nth,
                    message!("A time is divided by a number above 0."),
                );
            }
            if part.script.is_some() == part.rounds.is_some() {
                let message = message!("A part has either a script or rounds.");
                return fault("part", nth, message);
            }
            let Some(script) = &part.script else { continue };
            part.recipe(true, 1, 1.0).map_err(|mut error| {
                // The text begins in the line after the quotation marks.
                let mut place = Place::behind(&file[..script.span().start]);
                if let Some(within) = error.place {
                    place = Place {
                        line: place.line + within.line,
                        ..within
                    };
                }
                error.place = Some(place);
                error
            })?;
        }
        Ok(())
    }
}

/// Where an entry of a lesson's file is, such as the second `[[compare]]`; `None` if it is not there.
fn place_of(file: &str, key: &str, nth: usize) -> Option<Place> {
    let file_read = DeTable::parse(file).ok()?;
    let entry = file_read.get_ref().get(key)?;
    let entry = entry.get_ref().get(nth).unwrap_or(entry);
    Some(Place::behind(&file[..entry.span().start]))
}

impl Part {
    /// What its script wants of an engine, with what scripts know: whether it is the CPU's, how many
    /// multiprocessors there are, and what a part with `balance` has found.
    pub(crate) fn recipe(&self, is_cpu: bool, sms: u32, times: f64) -> Result<Recipe, ScriptError> {
        let source = self.script.as_ref().map_or("", |it| it.get_ref());
        let known = vec![
            ("CPU", Dynamic::from(is_cpu)),
            ("SMS", Dynamic::from(i64::from(sms))),
            ("TIMES", Dynamic::from(times as i64)),
        ];
        Recipe::of(source, known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml::Value;

    /// Every text that has no Chinese.
    fn lacking(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Table(table) => {
                if let Some(english) = table.get("en")
                    && !table.contains_key("zh")
                {
                    found.push(english.to_string());
                }
                table.values().for_each(|it| lacking(it, found));
            }
            Value::Array(all) => all.iter().for_each(|it| lacking(it, found)),
            _ => (),
        }
    }

    #[test]
    fn every_shipped_lesson_is_right_in_both_languages() {
        for file in SHIPPED {
            let lesson = Lesson::read(file).unwrap();
            assert_eq!(lesson.check(file), Ok(()), "{}", lesson.name);
            let mut found = Vec::new();
            lacking(&toml::from_str(file).unwrap(), &mut found);
            assert!(found.is_empty(), "{}: {found:?}", lesson.name);
        }
    }

    #[test]
    fn the_lesson_of_the_guide_is_right() {
        for guide in [
            include_str!("../../../docs/own-lesson.md"),
            include_str!("../../../docs/zh/own-lesson.md"),
        ] {
            let (_, rest) = guide.split_once("```toml\n").unwrap();
            let (file, _) = rest.split_once("```\n").unwrap();
            assert_eq!(Lesson::read(file).unwrap().check(file), Ok(()));
        }
    }

    #[test]
    fn a_wrong_file_has_its_sentence_and_its_place() {
        let pinned = SHIPPED.iter().find(|it| it.contains("\"pinned\"")).unwrap();
        for (was, is, said) in [
            ("name = ", "nane = ", "1:1: unknown field `nane`"),
            (
                "slow = 0",
                "slow = 1",
                "65:1: A part is compared with another one.",
            ),
            (
                "code = ",
                "divide = 0\ncode = ",
                "19:1: A time is divided by a number above 0.",
            ),
            (
                "check();\n",
                "",
                "This looks at the result: call it after check().",
            ),
            (
                "timed.en = \"there and back\"\ntimed.zh = \"往返\"",
                "timed = \"a round\"",
                "11:9: invalid type: string \"a round\", expected a text such as title.en",
            ),
            ("\"copies\"", "\"copy\"", "2:9: unknown variant `copy`"),
            ("group = \"copies\"\n", "", "missing field `group`"),
            ("title.en = ", "title.fr = ", "unknown field `fr`"),
            (
                "factors = [1.0",
                "factors = [9.0",
                "10:12: Factors are in ascending order.",
            ),
            (
                "factors = [",
                "asked = 3\nfactors = [",
                "10:9: There is no [[compare]] number 3",
            ),
            ("factors = [", "factor = [", "unknown field `factor`"),
            (
                "slow = 0",
                "slow = 2",
                "65:1: There is no [[part]] number 2, counted from 0.",
            ),
            ("slow = 0", "slow = -1", "invalid value: integer `-1`"),
            (
                "copy(up, array, 0)",
                "copi(up, array, 0)",
                "There is no function 'copi' here; did you mean copy?",
            ),
            (
                "copy(up, array, 0)",
                "copy(up, array)",
                "It is called as copy(from, to, stream).",
            ),
            (
                "copy(up, array, 0)",
                "copy(up, array, -1)",
                "There is no stream -1: take 0 to 1023.",
            ),
            (
                "copy(up, array, 0)",
                "copy(up, part(array, 0, 4), 0)",
                "A copy is between two arrays of one length",
            ),
            (
                "copy(up, array, 0)",
                "launch(\"copy\", 1, 1, 0, up, 1)",
                "There is no 'copy' here; there are scale, ",
            ),
            (
                "copy(up, array, 0)",
                "launch(\"scale\", 1, 1, 0, up, 1)",
                "scale takes at least one block of 1 to 1024 threads, and after the stream: array, i32, i32.",
            ),
            (
                "copy(up, array, 0)",
                "advance(0, 1, 0)",
                "There are no lattices",
            ),
            (
                "measure();",
                "check();",
                "First comes measure(), with before()",
            ),
            (
                "copy(up, array, 0);\ncopy(array, down, 0);\n",
                "",
                "29:10: Nothing is measured",
            ),
            (
                "let bytes = 4 << 20",
                "let bytes = 3",
                "An array has a multiple of 4 bytes",
            ),
            (
                "same(down, up)",
                "same(down, array)",
                "The host reaches arrays in its own or in unified memory",
            ),
            (
                "\"floats\"",
                "\"float\"",
                "There is no 'float' here; there are floats, cells",
            ),
            ("script = '''", "rounds = '''", "invalid type: string"),
            (
                "code = ",
                "time = \"all\"\ncode = ",
                "unknown variant `all`",
            ),
        ] {
            let file = pinned.replacen(was, is, 1);
            let fault = Lesson::read(&file).and_then(|lesson| lesson.check(&file));
            let fault = fault.err().unwrap_or_else(|| panic!("{is}"));
            let place = fault.place.map(|it| format!("{}:{}: ", it.line, it.column));
            let whole = place.unwrap_or_default() + &*fault.message;
            assert!(whole.contains(said), "{is}: {whole}");
            if was == "copy(up, array, 0)" {
                let Place { line, column } = fault.place.unwrap();
                let line = file.lines().nth(line as usize - 1).unwrap();
                assert!(column == 1 && line.contains(is), "{is}: {line}");
            }
        }
    }
}
