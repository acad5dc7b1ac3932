//! The keys by topic.

use anyhow::{Result, bail};
use model::Switch;
use model::actions::{Action, KEYS};

use crate::text::{Both, Table};

/// Every row of the key table has its topic here, in the order of the document.
const TOPICS: &[(Both, &[Action])] = &[
    (
        Both("Time", "时间"),
        &[
            Action::TogglePause,
            Action::StepGeneration,
            Action::StepRound,
            Action::StepBack,
            Action::RoundBack,
            Action::AskGeneration,
            Action::Faster,
            Action::Slower,
            Action::NextStopWhenStill,
            Action::ToggleReseed,
            Action::ResetPanel,
            Action::ResetAll,
            Action::NewSeed,
        ],
    ),
    (
        Both("The lab: one switch at a time", "实验台：一次改变一个开关"),
        &[
            Action::NextOf(Switch::Streams),
            Action::NextOf(Switch::HostMemory),
            Action::NextOf(Switch::Wait),
            Action::NextOf(Switch::Order),
            Action::NextOf(Switch::Graphs),
            Action::NextOf(Switch::Transfer),
            Action::NextOf(Switch::Block),
            Action::NextKernel,
            Action::PreviousKernel,
            Action::ToggleHalves,
        ],
    ),
    (
        Both("What is measured", "测量结果"),
        &[
            Action::ToggleTimeline,
            Action::ToggleBlocks,
            Action::ToggleLab,
            Action::ToggleLadder,
            Action::TogglePopulation,
            Action::PopulationOfAll,
            Action::ToggleLessons,
        ],
    ),
    (
        Both("Panels and view", "面板与视角"),
        &[
            Action::SelectNext,
            Action::SelectPrevious,
            Action::ToggleSingle,
            Action::ZoomIn,
            Action::ZoomOut,
            Action::PanLeft,
            Action::PanRight,
            Action::PanUp,
            Action::PanDown,
            Action::Fit,
            Action::ToggleSeparate,
            Action::ToggleMinimap,
            Action::ToggleGridLines,
            Action::NextColours,
            Action::NextColourBy,
            Action::Invert,
        ],
    ),
    (
        Both("Editing", "编辑"),
        &[
            Action::TogglePencil,
            Action::SelectAll,
            Action::ClearSelection,
            Action::FillRandomly,
            Action::FlipSideways,
            Action::FlipUpsideDown,
            Action::TurnLeft,
            Action::TurnRight,
            Action::CopyCells,
            Action::PastePattern,
            Action::TurnGhostLeft,
            Action::TurnGhostRight,
            Action::Undo,
            Action::Redo,
        ],
    ),
    (
        Both("Patterns, pictures, sessions", "图案、画面、会话"),
        &[
            Action::ToggleShelf,
            Action::OpenPattern,
            Action::SavePattern,
            Action::SavePicture,
            Action::SavePanelPicture,
            Action::ToggleRecording,
            Action::SaveSession,
        ],
    ),
    (
        Both("The program", "程序"),
        &[
            Action::ToggleHelp,
            Action::ToggleCommands,
            Action::ToggleMenu,
            Action::TogglePresentation,
            Action::ToggleFullscreen,
            Action::EnlargeInterface,
            Action::ReduceInterface,
            Action::UsualInterface,
            Action::NextLanguage,
            Action::Escape,
            Action::Quit,
        ],
    ),
];

/// A table for each topic.
pub(crate) fn by_topic() -> Result<String> {
    for row in KEYS {
        let topics = TOPICS.iter().filter(|(_, of)| of.contains(&row.action));
        let times = topics.count();
        if times != 1 {
            bail!(
                "{:?} has {times} topics instead of one: see xtask/src/keys.rs",
                row.action
            );
        }
    }
    let mut text = String::new();
    for (topic, actions) in TOPICS {
        let heads = [Both("Key", "按键"), Both("What it does", "作用")];
        let mut table = Table::new(heads.map(Both::get));
        for action in *actions {
            let Some(row) = KEYS.iter().find(|row| row.action == *action) else {
                bail!("{action:?} has a topic and no key: see xtask/src/keys.rs");
            };
            table.row([row.keys(), row.help().to_owned()]);
        }
        text += &format!("\n## {}\n\n{}", topic.get(), table.markdown()?);
    }
    Ok(text.trim_start().to_owned() + "\n")
}
