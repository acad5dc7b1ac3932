//! What belongs together: the groups that the menu is made of.

use crate::Switch;
use crate::actions::{Action, Binding, KEYS};
use lang::tr;

/// A part of the menu.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Group {
    /// What is opened, saved and left.
    File,
    /// What changes cells.
    Edit,
    /// What moves time.
    Run,
    /// What is seen, and how.
    View,
    /// What is taught.
    Lab,
    /// What helps.
    Help,
}

impl Group {
    /// All of them, in the menu's order.
    pub const ALL: [Group; 6] = [
        Group::File,
        Group::Edit,
        Group::Run,
        Group::View,
        Group::Lab,
        Group::Help,
    ];

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Group::File => tr!("File"),
            Group::Edit => tr!("Edit"),
            Group::Run => tr!("Run"),
            Group::View => tr!("View"),
            Group::Lab => tr!("Lab"),
            Group::Help => tr!("Help"),
        }
    }

    /// Where an action begins or joins a group; any other stands where the row above it does.
    fn begins(action: Action) -> Option<Group> {
        Some(match action {
            Action::OpenPattern | Action::SavePicture | Action::SavePanelPicture | Action::Quit => {
                Group::File
            }
            Action::NewSeed | Action::TogglePencil | Action::ToggleShelf => Group::Edit,
            Action::TogglePause | Action::ResetPanel | Action::ResetAll => Group::Run,
            Action::SelectNext
            | Action::TogglePopulation
            | Action::ToggleGridLines
            | Action::TogglePresentation
            | Action::ToggleFullscreen => Group::View,
            Action::NextKernel | Action::NextOf(Switch::Streams) => Group::Lab,
            Action::ToggleCommands | Action::ToggleHelp | Action::Escape => Group::Help,
            _ => return None,
        })
    }
}

/// The table of keys by group, each in the table's order; groups of nothing are left out.
pub fn grouped() -> Vec<(Group, Vec<&'static Binding>)> {
    let mut group = Group::Run;
    let mut groups = Group::ALL.map(|group| (group, Vec::new()));
    for row in KEYS {
        group = Group::begins(row.action).unwrap_or(group);
        groups[group as usize].1.push(row);
    }
    groups
        .into_iter()
        .filter(|(_, rows)| !rows.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_one_group_and_neighbours_stay_together() {
        let groups = grouped();
        let rows: usize = groups.iter().map(|(_, rows)| rows.len()).sum();
        assert_eq!(rows, KEYS.len());
        let of = |action| {
            let has = |(_, rows): &&(Group, Vec<&Binding>)| {
                rows.iter().any(|row: &&Binding| row.action == action)
            };
            groups.iter().find(has).map(|(group, _)| *group)
        };
        assert_eq!(of(Action::StepRound), Some(Group::Run));
        assert_eq!(of(Action::PanLeft), Some(Group::View));
        assert_eq!(of(Action::NextOf(Switch::Block)), Some(Group::Lab));
        assert_eq!(of(Action::Quit), Some(Group::File));
        assert_eq!(of(Action::Redo), Some(Group::Edit));
        assert_eq!(of(Action::SaveSession), Some(Group::File));
    }
}
