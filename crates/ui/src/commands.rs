//! What toolbar and menu offer, as data: each command with its words and keys, whether it is on,
//! and why it is impossible where it is. Painters choose the icons.

use std::time::Duration;

use crate::actions::{Context, Row, Toggles, Topic};
use crate::{Action, EditAction, ViewAction};
use lang::tr;
use session::{SessionAction, Switch};

/// A row of the action table, as it is at this moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// What it asks for.
    pub action: Action,
    /// What it does, in a few words.
    pub text: String,
    /// Its keys, and how the mouse does it.
    pub keys: String,
    /// Whether it is on, where it switches something.
    pub is_on: Option<bool>,
    /// The present position of what it switches or sets; empty where there is none.
    pub position: String,
    /// Why it is impossible now.
    pub unavailable: Option<String>,
}

impl Command {
    /// The command of a row.
    pub fn of(row: &Row, context: &Context<'_>) -> Command {
        Command {
            action: row.action,
            text: row.help().into(),
            keys: row.keys(),
            is_on: row.action.state(context),
            position: row.action.position(context).unwrap_or_default(),
            unavailable: row.action.unavailable_reason(context),
        }
    }
}

/// A heading of the menu and what stands below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MenuTopic {
    /// The heading, in a word.
    pub title: String,
    /// The lines.
    pub commands: Vec<Command>,
}

/// The menu: the whole action table, by topic.
pub(crate) fn menu(context: &Context<'_>) -> Vec<MenuTopic> {
    let topic = |topic: Topic| MenuTopic {
        title: topic.short_title().into(),
        commands: topic.rows().map(|row| Command::of(row, context)).collect(),
    };
    Topic::ALL.map(topic).into()
}

/// What can be done with the selected panel: its menu.
pub fn panel_menu(context: &Context<'_>) -> Vec<Command> {
    let actions: [Action; 14] = [
        ViewAction::ToggleSingle.into(),
        ViewAction::Fit.into(),
        ViewAction::ToggleMinimap.into(),
        SessionAction::ResetPanel.into(),
        EditAction::FillRandomly.into(),
        EditAction::ClearSelection.into(),
        EditAction::SelectAll.into(),
        EditAction::CopyCells.into(),
        EditAction::PastePattern.into(),
        EditAction::ToggleShelf.into(),
        EditAction::OpenPattern.into(),
        EditAction::SavePattern.into(),
        ViewAction::SavePanelPicture.into(),
        ViewAction::ToggleMenu.into(),
    ];
    let rows = actions.into_iter().filter_map(Action::row);
    rows.map(|row| Command::of(row, context)).collect()
}

/// A button of the toolbar.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolbarButton {
    /// What stands on it.
    pub label: String,
    /// What a click does.
    pub command: Command,
}

/// How many buttons a toolbar has, whatever they are.
pub const TOOLBAR_BUTTONS: usize = 14;

/// The buttons, from the left. While cells are edited, those in the middle are for cells; the others
/// stay where they are. While the window is recorded, that button stops it, and says for how long it
/// has been.
pub(crate) fn toolbar(context: &Context<'_>, recording: Option<Duration>) -> Vec<ToolbarButton> {
    let (session, view, edit) = (Action::Session, Action::View, Action::Edit);
    let is_running = context.status.is_some_and(|status| status.clock.running);
    let first = [
        (
            if is_running { tr!("Pause") } else { tr!("Run") },
            session(SessionAction::TogglePause),
        ),
        (tr!("Back"), session(SessionAction::StepBack)),
        (tr!("Step"), session(SessionAction::StepGeneration)),
        (tr!("Slower"), session(SessionAction::Slower)),
        (tr!("Faster"), session(SessionAction::Faster)),
    ];
    let streams = SessionAction::CycleSwitch(Switch::Streams);
    let middle = if is_editing(context.toggles) {
        [
            (tr!("Undo"), session(SessionAction::Undo)),
            (tr!("Redo"), session(SessionAction::Redo)),
            (tr!("Patterns"), edit(EditAction::ToggleShelf)),
            (tr!("Fill"), edit(EditAction::FillRandomly)),
            (tr!("Clear"), edit(EditAction::ClearSelection)),
        ]
    } else {
        [
            (tr!("Kernel"), session(SessionAction::NextKernel)),
            (tr!("Streams"), session(streams)),
            (tr!("Timeline"), view(ViewAction::ToggleTimeline)),
            (tr!("Lab"), view(ViewAction::ToggleLab)),
            (tr!("Lessons"), view(ViewAction::ToggleLessons)),
        ]
    };
    let clock = recording.map(|lasted| {
        let seconds = lasted.as_secs();
        let clock = format!("{}:{:02}", seconds / 60, seconds % 60);
        tr!("Stop {clock}")
    });
    let record = clock.as_deref().unwrap_or(tr!("Record"));
    let last = [
        (tr!("Draw"), edit(EditAction::TogglePencil)),
        (tr!("Select"), edit(EditAction::ToggleAreaSelection)),
        (record, view(ViewAction::ToggleRecording)),
        (tr!("Help"), view(ViewAction::ToggleHelp)),
    ];
    let button = |(label, action): (&str, Action)| {
        let command = Command::of(action.row()?, context);
        let label = label.into();
        Some(ToolbarButton { label, command })
    };
    let all = first.into_iter().chain(middle).chain(last);
    all.filter_map(button).collect()
}

/// Whether the mouse edits cells: it draws, selects or places a pattern.
fn is_editing(on: Toggles) -> bool {
    on.pencil || on.area_selection || on.ghost
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::{FrontEnd, TABLE};
    use crate::fixtures::status;
    use life::Size;

    fn with<T>(toggles: Toggles, does: impl FnOnce(&Context<'_>) -> T) -> T {
        let status = status(4, Size::new(64, 64).unwrap());
        does(&Context {
            front_end: FrontEnd::Window,
            status: Some(&status),
            has_pending_requests: false,
            most_instances: usize::MAX,
            toggles,
        })
    }

    fn labels(toggles: Toggles, recording: Option<Duration>) -> Vec<String> {
        let buttons = with(toggles, |context| toolbar(context, recording));
        buttons.into_iter().map(|button| button.label).collect()
    }

    #[test]
    fn the_menu_has_every_row_of_the_table_in_its_order() {
        let menu = with(Toggles::default(), menu);
        let commands = menu.iter().flat_map(|topic| &topic.commands);
        let actions: Vec<Action> = commands.map(|command| command.action).collect();
        let rows: Vec<Action> = TABLE.iter().map(|row| row.action).collect();
        assert_eq!(actions, rows);
    }

    #[test]
    fn while_cells_are_edited_undo_and_patterns_are_a_click_away_and_the_pencil_stays() {
        let usual = labels(Toggles::default(), None);
        assert_eq!(usual.len(), TOOLBAR_BUTTONS);
        assert!(!usual.contains(&"Undo".into()));
        let (pencil, area_selection, ghost) = (true, true, true);
        let off = Toggles::default();
        for toggles in [
            Toggles { pencil, ..off },
            Toggles {
                area_selection,
                ..off
            },
            Toggles { ghost, ..off },
        ] {
            let editing = labels(toggles, None);
            assert_eq!(editing.len(), TOOLBAR_BUTTONS);
            for wanted in ["Undo", "Redo", "Patterns"] {
                assert!(editing.contains(&wanted.into()), "{editing:?}");
            }
            assert_eq!((&editing[..5], &editing[10..]), (&usual[..5], &usual[10..]));
        }
    }

    #[test]
    fn while_recording_its_button_says_stop_and_for_how_long() {
        let off = Toggles::default();
        let seconds = |count| Some(Duration::from_secs(count));
        assert_eq!(labels(off, seconds(75))[12], "Stop 1:15");
        assert_eq!(labels(off, None)[12], "Record");
        assert_eq!(labels(off, seconds(75))[13], "Help");
    }
}
