//! The lab: every switch with its key and its positions, and the calls that the present ones make.

use crate::calls::{Calls, calls};
use model::{Status, Switch};

/// What the lab shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lab {
    /// In the order of their keys.
    pub switches: Vec<SwitchRow>,
    /// The calls of a round, in every language.
    pub calls: Calls,
}

/// A switch and its positions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchRow {
    /// Which one.
    pub switch: Switch,
    /// The key that takes the next position.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Its positions.
    pub positions: Vec<SwitchPosition>,
    /// The place of the present one among them.
    pub present: usize,
}

/// A position of a switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchPosition {
    /// What it is called, as its option is.
    pub label: String,
    /// What it does, in one line.
    pub effect: String,
    /// The reason if it is unavailable.
    pub unavailable: Option<String>,
}

impl Lab {
    /// The switches and the calls of this status.
    pub fn of(status: &Status) -> Lab {
        Lab {
            switches: switches(status),
            calls: calls(status),
        }
    }
}

/// Every switch, as of this status.
pub fn switches(status: &Status) -> Vec<SwitchRow> {
    let row = |switch: Switch| {
        let choices = switch.choices(status.setting.switches, status.setting.kernel);
        let present = choices
            .iter()
            .position(|it| it.switches == status.setting.switches);
        let positions = choices.into_iter().map(|choice| SwitchPosition {
            label: choice.label,
            effect: choice.effect,
            unavailable: choice.unavailable,
        });
        SwitchRow {
            switch,
            key: switch.key(),
            name: switch.name().into(),
            positions: positions.collect(),
            present: present.unwrap_or(0),
        }
    };
    Switch::ALL.into_iter().map(row).collect()
}
