//! The topics of the action table, which help, menu and documents are grouped by.

use crate::actions::{Row, TABLE};
use lang::tr;

/// What an action is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Topic {
    /// Running, stepping, going back, starting again.
    Time,
    /// Drawing, selecting, pasting.
    Cells,
    /// Which panels are seen, from where, in which colours.
    View,
    /// How rounds are issued: kernel, streams, memory, order.
    Switches,
    /// What was measured.
    Measuring,
    /// Lessons, and showing the program to a class.
    Lessons,
    /// What is opened, saved, recorded.
    Files,
    /// Help, palette, menu, language, end.
    Program,
}

impl Topic {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Topic; 8] = [
        Topic::Time,
        Topic::Cells,
        Topic::View,
        Topic::Switches,
        Topic::Measuring,
        Topic::Lessons,
        Topic::Files,
        Topic::Program,
    ];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Topic::Time => tr!("Time"),
            Topic::Cells => tr!("Cells and patterns"),
            Topic::View => tr!("Panels and view"),
            Topic::Switches => tr!("CUDA switches"),
            Topic::Measuring => tr!("Measuring"),
            Topic::Lessons => tr!("Lessons"),
            Topic::Files => tr!("Files and recording"),
            Topic::Program => tr!("Program"),
        }
    }

    /// Its heading in one word, for the menu.
    pub fn short_title(self) -> &'static str {
        match self {
            Topic::Time => tr!("Time"),
            Topic::Cells => tr!("Cells"),
            Topic::View => tr!("View"),
            Topic::Switches => tr!("CUDA"),
            Topic::Measuring => tr!("Measuring"),
            Topic::Lessons => tr!("Lessons"),
            Topic::Files => tr!("Files"),
            Topic::Program => tr!("Program"),
        }
    }

    /// Its rows, in the table's order.
    pub fn rows(self) -> impl Iterator<Item = &'static Row> {
        TABLE.iter().filter(move |row| row.topic == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_has_rows_and_the_table_is_in_the_order_of_topics() {
        assert!(TABLE.is_sorted_by_key(|row| row.topic));
        for topic in Topic::ALL {
            assert!(topic.rows().count() > 0, "{topic:?}");
        }
        let rows: usize = Topic::ALL.map(|topic| topic.rows().count()).iter().sum();
        assert_eq!(rows, TABLE.len());
    }
}
