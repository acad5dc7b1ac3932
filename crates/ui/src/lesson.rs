//! Lessons on screen: the list of them, or the page of one.

use std::sync::Arc;

use crate::Chart;
use lesson::{LessonImage, Speedup};
use similar::{Algorithm, ChangeTag, TextDiff};

/// The page of a lesson: its question and what the class may predict, the settings that are
/// compared side by side, and what was measured of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LessonPage {
    /// The lesson's title.
    pub title: String,
    /// Where it comes from, what it needs and how long it takes.
    pub about: String,
    /// What is done, in a sentence or two; empty once something is measured.
    pub intro: String,
    /// What the class is asked to predict.
    pub question: String,
    /// What it may say.
    pub choices: Vec<LessonChoice>,
    /// Which step of the lesson is shown, from 1: the question, then each comparison.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// What is compared, or seen by itself.
    pub columns: Vec<LessonColumn>,
    /// Where and when columns' figures, rounds, bars and the conclusion were recorded; empty if they were
    /// measured here.
    pub recorded: String,
    /// A timed round of each column, on one axis, where both have one.
    pub rounds: Vec<Chart>,
    /// What was predicted and what was measured; empty where nothing is compared.
    pub bars: Vec<TimeBar>,
    /// What is concluded from it; may be empty.
    pub conclusion: String,
    /// A remark on it; may be empty.
    pub note: String,
    /// What was checked, and whether it holds.
    pub checks: Vec<(String, bool)>,
    /// How far the measurement is, while it goes on.
    pub progress: Option<String>,
    /// The speed-up curve, as far as it is measured.
    pub speedup: Option<Arc<Speedup>>,
    /// What the lesson painted.
    pub pictures: Vec<LessonImage>,
}

/// Something that the class may predict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LessonChoice {
    /// What it says.
    pub text: String,
    /// Whether the class has chosen it.
    pub is_chosen: bool,
    /// Whether it is the one that was measured.
    pub is_right: bool,
}

/// A setting of a lesson.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LessonColumn {
    /// What it is, in a few words.
    pub title: String,
    /// The program, line by line.
    pub code: Vec<CodeLine>,
    /// What was measured, and the value with its unit.
    pub figures: Vec<(String, String)>,
    /// A remark on them; may be empty.
    pub note: String,
}

/// A line of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeLine {
    /// Its text.
    pub text: String,
    /// Whether the setting beside it has no such line.
    pub is_changed: bool,
}

/// A time, as a bar.
#[derive(Clone, PartialEq, Debug)]
pub struct TimeBar {
    /// Of what.
    pub label: String,
    /// Its length.
    pub milliseconds: f64,
    /// The interval that the time lies in, if there were enough runs.
    pub interval: Option<[f64; 2]>,
    /// The time with its unit.
    pub text: String,
    /// Whether it was predicted and not measured.
    pub is_prediction: bool,
}

/// What stands in the window while lessons are open.
#[derive(Clone, PartialEq, Debug)]
pub enum LessonScreen {
    /// All lessons, beside the panels.
    List {
        /// The one that Enter opens.
        selected: usize,
    },
    /// The page of one, in place of everything else.
    Page(Box<LessonPage>),
}

/// The lines of programs; of two, those are marked that the other one has not.
pub(crate) fn side_by_side(codes: &[&str]) -> Vec<Vec<CodeLine>> {
    let line = |text: &str, is_changed| CodeLine {
        text: text.trim_end().into(),
        is_changed,
    };
    let [a, b] = codes else {
        let lines = |code: &&str| code.lines().map(|text| line(text, false)).collect();
        return codes.iter().map(lines).collect();
    };
    // What is only indented otherwise is the same.
    let [a, b]: [Vec<&str>; 2] = [a, b].map(|code| code.lines().collect());
    let [old, new] = [&a, &b].map(|lines| lines.iter().map(|it| it.trim()).collect::<Vec<_>>());
    let mut columns = vec![Vec::new(), Vec::new()];
    let mut diff = TextDiff::configure();
    let diff = diff.algorithm(Algorithm::Patience).diff_slices(&old, &new);
    for change in diff.iter_all_changes() {
        let is_changed = change.tag() != ChangeTag::Equal;
        let places = [(change.old_index(), &a), (change.new_index(), &b)];
        for (column, (place, lines)) in columns.iter_mut().zip(places) {
            column.extend(place.map(|at| line(lines[at], is_changed)));
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_marked_on_both_sides() {
        let shown = |codes: &[&str]| {
            let line =
                |it: &CodeLine| format!("{}{}", if it.is_changed { "!" } else { "" }, it.text);
            let columns = side_by_side(codes).into_iter();
            let texts = columns.map(|lines| lines.iter().map(line).collect::<Vec<_>>().join(" "));
            texts.collect::<Vec<_>>()
        };
        let columns = shown(&["launch\nwait", "launch\ncopy\nwait"]);
        assert_eq!(columns, ["launch wait", "launch !copy wait"]);
        let columns = shown(&["launch", "loop\n  launch"]);
        assert_eq!(columns, ["launch", "!loop   launch"]);
        let columns = shown(&["launch 1", "launch 2"]);
        assert_eq!(columns, ["!launch 1", "!launch 2"]);
        assert_eq!(shown(&["launch\nwait"]), ["launch wait"]);
    }
}
