//! The lab: the session's values, every switch with its key and its positions, and the calls that
//! the present ones make.

use crate::actions::Setting;
use crate::calls::calls;
use lang::tr;
use session::{Status, Switch};

/// What the lab shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lab {
    /// Of the lattices, and of their rounds.
    pub values: [ValueRow; 2],
    /// In the order of their keys.
    pub switches: Vec<SwitchRow>,
    /// The calls of a round, line by line.
    pub calls: Vec<String>,
}

/// Values that stand in one line, each with the settings that change it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueRow {
    /// What they are of.
    pub name: &'static str,
    /// The settings that change a value, and the value in a few characters.
    pub values: Vec<(&'static [Setting], String)>,
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
            values: values(status),
            switches: switches(status),
            calls: calls(status),
        }
    }
}

/// What the switches act on, as of this status.
fn values(status: &Status) -> [ValueRow; 2] {
    const LATTICES: [&[Setting]; 4] = [
        &[Setting::Instances],
        &[Setting::Size],
        &[Setting::Rule],
        &[Setting::Density],
    ];
    const ROUNDS: [&[Setting]; 3] = [
        &[Setting::Kernel],
        &[Setting::GenerationsPerRound],
        &[Setting::Pace],
    ];
    let in_short = |settings: &'static [Setting]| {
        let value = settings[0].value(status).unwrap_or_else(|| "–".into());
        let text = match settings[0] {
            Setting::GenerationsPerRound => tr!("{} gen", value),
            _ => value,
        };
        (settings, text)
    };
    [
        ValueRow {
            name: tr!("lattices"),
            values: LATTICES.into_iter().map(in_short).collect(),
        },
        ValueRow {
            name: tr!("round"),
            values: ROUNDS.into_iter().map(in_short).collect(),
        },
    ]
}

/// Every switch, as of this status.
pub fn switches(status: &Status) -> Vec<SwitchRow> {
    let row = |switch: Switch| {
        let choices = switch.choices(status.setting.switches, status.setting.context());
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
            key: switch.key().into(),
            name: switch.name().into(),
            positions: positions.collect(),
            present: present.unwrap_or(0),
        }
    };
    Switch::ALL.into_iter().map(row).collect()
}
