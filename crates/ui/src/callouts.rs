//! Hints of a machine's first runs: what a newcomer should try, each with its key.

use lang::tr;
use model::{Action, SessionAction, Switch, ViewAction};

/// What a callout is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callout {
    /// The switch between one stream and many.
    Streams,
    /// The streams' timeline.
    Timeline,
    /// The lessons.
    Lessons,
}

impl Callout {
    /// All of them, from the left, as their buttons stand.
    pub const ALL: [Callout; 3] = [Callout::Streams, Callout::Timeline, Callout::Lessons];

    /// What its button does.
    pub fn action(self) -> Action {
        match self {
            Callout::Streams => SessionAction::CycleSwitch(Switch::Streams).into(),
            Callout::Timeline => ViewAction::ToggleTimeline.into(),
            Callout::Lessons => ViewAction::ToggleLessons.into(),
        }
    }

    /// Whether an action does what it points at, by whatever key or entry.
    pub fn is_done_by(self, action: Action) -> bool {
        let chosen = matches!(
            action,
            Action::Session(SessionAction::SetSwitch(Switch::Streams, _))
        );
        action == self.action() || chosen && self == Callout::Streams
    }

    /// What it says beside the key.
    pub fn text(self) -> &'static str {
        match self {
            Callout::Streams => tr!("Compare one stream with many"),
            Callout::Timeline => tr!("See what overlaps"),
            Callout::Lessons => tr!("Short lessons with measurements"),
        }
    }
}
