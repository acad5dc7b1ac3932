//! When an action is possible and why not, and whether what it switches is on.
//!
//! `needs` names every action, so that whoever adds one decides about it. In `check` and `state` stand
//! those alone that have a further condition, or that switch something.

use crate::actions::{Action, EditAction, ViewAction};
use lang::tr;
use session::{
    AUTO_KERNEL, KernelChoice, Pace, SessionAction, Setup, Status, StopWhenStill, Switch,
    timestamps_of_own,
};

/// What must be there for an action to have an effect.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Requirement {
    /// Nothing: it works while the engine starts, too.
    Nothing,
    /// A session that has started; one that has ended still shows its last pictures.
    Session,
    /// An engine: it steps, changes or times lattices.
    Engine,
}

/// What a person looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrontEnd {
    /// The window.
    Window,
    /// The terminal view.
    Terminal,
}

/// Everything that decides whether an action is possible and whether it is on.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Where it is asked for.
    pub front_end: FrontEnd,
    /// The session's figures; `None` while the engine starts.
    pub status: Option<&'a Status>,
    /// Whether requests may be on their way that the figures do not show yet, as when a key is
    /// pressed. What depends on them is then left to the session, which answers in its turn.
    pub has_pending_requests: bool,
    /// How many instances can be shown there.
    pub most_instances: usize,
    /// What is open and on in the front end.
    pub toggles: Toggles,
}

/// What is open and on in a front end.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Toggles {
    /// The timeline is shown.
    pub timeline: bool,
    /// The lab is shown.
    pub lab: bool,
    /// The editor is shown.
    pub editor: bool,
    /// The ladder is shown.
    pub ladder: bool,
    /// It shows a rung's source.
    pub source: bool,
    /// What keeps streams from overlapping is shown.
    pub causes: bool,
    /// The population graph is shown.
    pub population: bool,
    /// It shows all panels together.
    pub population_of_all: bool,
    /// The list of lessons or a lesson is open.
    pub lessons: bool,
    /// A lecture is open.
    pub lecture: bool,
    /// The selected panel is shown alone.
    pub single: bool,
    /// Each panel has a camera of its own.
    pub separate: bool,
    /// Zoomed panels have a minimap.
    pub minimap: bool,
    /// Lines between cells are drawn.
    pub grid_lines: bool,
    /// Live and dead have swapped their colours.
    pub inverted: bool,
    /// Large type and no side panels.
    pub presentation: bool,
    /// The window fills the monitor.
    pub fullscreen: bool,
    /// The window is being recorded.
    pub recording: bool,
    /// A drag draws.
    pub pencil: bool,
    /// The next drag selects an area.
    pub area_selection: bool,
    /// A pattern is being pasted.
    pub ghost: bool,
    /// The theme, in English.
    pub theme: &'static str,
    /// What decides the colours of cells, in English.
    pub colours: &'static str,
}

impl Action {
    /// What must be there for it.
    pub fn needs(self) -> Requirement {
        match self {
            Action::Session(action) if action.needs_engine() => Requirement::Engine,
            Action::Session(_) => Requirement::Session,
            Action::View(action) => action.needs(),
            Action::Edit(action) => action.needs(),
        }
    }

    /// Why it is impossible now, in the reader's language; `None` where it is possible as far as
    /// that can be known.
    pub fn unavailable_reason(self, context: &Context<'_>) -> Option<String> {
        self.check(context).err()
    }

    /// The notice shown when the action is unavailable; `None` if it is available.
    pub fn unavailable_message(self, context: &Context<'_>) -> Option<String> {
        let why = self.unavailable_reason(context)?;
        Some(match self.row() {
            Some(row) => tr!("{what}: {why}", what = row.name()),
            None => why,
        })
    }

    fn check(self, context: &Context<'_>) -> Result<(), String> {
        if self
            .row()
            .is_some_and(|row| !row.front_ends.include(context.front_end))
        {
            return Err(tr!("only in the window").into());
        }
        match (self.needs(), context.status) {
            (Requirement::Nothing, _) => {}
            (Requirement::Session | Requirement::Engine, None) => {
                return Err(tr!("the engine is starting").into());
            }
            (Requirement::Engine, Some(status)) if status.failed.is_some() => {
                return Err(tr!("the session has ended").into());
            }
            (Requirement::Session | Requirement::Engine, Some(_)) => {}
        }
        match self {
            Action::Session(action) => {
                let status = context.status;
                status.map_or(Ok(()), |status| check_session(action, status, context))
            }
            Action::View(action) => action.check(context.status),
            Action::Edit(action) => action.check(context.toggles),
        }
    }

    /// Whether what it switches is on; `None` where it switches nothing on or off.
    pub fn state(self, context: &Context<'_>) -> Option<bool> {
        match self {
            Action::Session(action) => context
                .status
                .and_then(|status| session_state(action, status)),
            Action::View(action) => action.state(context.toggles),
            Action::Edit(action) => action.state(context.toggles),
        }
    }
}

impl Action {
    /// The present position of what it switches or sets, in a word or a number; `None` where there is
    /// none.
    pub fn position(self, context: &Context<'_>) -> Option<String> {
        let toggle = |is_on| if is_on { tr!("on") } else { tr!("off") };
        match self {
            Action::Session(action) => context
                .status
                .and_then(|status| session_position(action, status)),
            Action::View(ViewAction::Prompt(prompt)) => prompt.value(context.status?),
            Action::View(ViewAction::NextTheme) => Some(lang::text(context.toggles.theme).into()),
            Action::View(ViewAction::NextColourMode) => {
                Some(lang::text(context.toggles.colours).into())
            }
            Action::View(_) | Action::Edit(_) => None,
        }
        .or_else(|| self.state(context).map(toggle).map(String::from))
    }
}

/// See [`Action::position`]; switches that are on or off have none of their own.
fn session_position(action: SessionAction, status: &Status) -> Option<String> {
    let setting = &status.setting;
    match action {
        SessionAction::CycleSwitch(switch) => {
            let choices = switch.choices(setting.switches, setting.context());
            let at = switch.position(setting.switches, setting.kernel);
            choices.into_iter().nth(at).map(|choice| choice.label)
        }
        SessionAction::NextKernel | SessionAction::PreviousKernel => {
            Some(setting.kernel.name.into())
        }
        SessionAction::Faster | SessionAction::Slower => Some(setting.pace.to_string()),
        SessionAction::NextStopWhenStill => Some(
            match setting.time.stop_when_still {
                StopWhenStill::Never => tr!("never"),
                StopWhenStill::Selected => tr!("selected"),
                StopWhenStill::All => tr!("all"),
            }
            .into(),
        ),
        _ => None,
    }
}

fn has_several_panels(status: &Status) -> Result<(), String> {
    if status.lattices.instances > 1 {
        return Ok(());
    }
    Err(tr!("there is only one panel").into())
}

fn check_session(
    action: SessionAction,
    status: &Status,
    context: &Context<'_>,
) -> Result<(), String> {
    let has_pending_requests = context.has_pending_requests;
    let ensure_shown = |instances: usize| match context.most_instances {
        most if instances > most => Err(tr!("at most {most} can be shown here")),
        _ => Ok(()),
    };
    match action {
        SessionAction::SetInstances(count) => ensure_shown(count.into()),
        SessionAction::SelectNext | SessionAction::SelectPrevious => has_several_panels(status),
        SessionAction::DoubleInstances | SessionAction::HalveInstances
            if status.lab.comparison.is_some() && !has_pending_requests =>
        {
            Err(tr!("A and B are compared; key B ends that").into())
        }
        SessionAction::DoubleInstances
            if status.lattices.instances * 2 > Setup::MAX_INSTANCES && !has_pending_requests =>
        {
            Err(tr!("there are at most {}", Setup::MAX_INSTANCES))
        }
        SessionAction::DoubleInstances => ensure_shown(status.lattices.instances * 2),
        SessionAction::HalveInstances if !has_pending_requests => has_several_panels(status),
        SessionAction::ToggleComparison if status.lattices.instances < 2 => {
            Err(tr!("A and B need at least two panels").into())
        }
        SessionAction::CycleSwitch(switch) if !has_pending_requests => switch
            .next(status.setting.switches, status.setting.context())
            .map(drop),
        SessionAction::SetSwitch(switch, at) if !has_pending_requests => {
            let choices = switch.choices(status.setting.switches, status.setting.context());
            let choice = choices.into_iter().nth(at.into());
            choice.and_then(|it| it.unavailable).map_or(Ok(()), Err)
        }
        SessionAction::ToggleRecorded
            if !status.engine.is_cpu() && status.lab.recording.is_none() =>
        {
            Err(tr!("a GPU computes here, and is measured").into())
        }
        SessionAction::ToggleBlockTimestamps if status.lab.recording.is_some() => {
            Err(tr!("recorded rounds have no block timestamps").into())
        }
        SessionAction::ToggleBlockTimestamps
            if !status.engine.is_cpu() && !status.setting.kernel.block_timestamps =>
        {
            Err(timestamps_of_own().into())
        }
        SessionAction::UseKernel(at) => {
            let Some(kernel) = status.setting.kernels().nth(at.into()) else {
                return Ok(());
            };
            let mut devices = status.engine.devices.iter();
            let sized = kernel.validate_size(status.lattices.size);
            sized
                .and_then(|()| {
                    devices.try_for_each(|it| kernel.validate_device(it, status.lattices.size))
                })
                .map_err(|error| error.to_string())
        }
        _ => Ok(()),
    }
}

fn session_state(action: SessionAction, status: &Status) -> Option<bool> {
    match action {
        SessionAction::TogglePause => Some(status.clock.running && status.failed.is_none()),
        SessionAction::NextStopWhenStill => {
            Some(status.setting.time.stop_when_still != StopWhenStill::Never)
        }
        SessionAction::ToggleReseed => Some(status.setting.time.reseed),
        SessionAction::ToggleComparison => Some(status.lab.comparison.is_some()),
        SessionAction::ToggleBlockTimestamps => Some(status.lab.block_timestamps),
        SessionAction::ToggleRecorded => Some(status.lab.recording.is_some()),
        SessionAction::UseKernel(at) => Some(match status.setting.kernel_choice {
            KernelChoice::Estimated => at == AUTO_KERNEL,
            _ => status.setting.kernel.index() == usize::from(at),
        }),
        SessionAction::SetPace(at) => {
            Some(Pace::ALL.get(usize::from(at)) == Some(&status.setting.pace))
        }
        SessionAction::SetSize(size) => Some(status.lattices.size == size),
        SessionAction::SetRule(rule) => Some(status.lattices.rule == rule),
        SessionAction::CycleSwitch(Switch::Graphs) => Some(status.setting.switches.graphs),
        SessionAction::SetSwitch(switch, at) => {
            Some(switch.position(status.setting.switches, status.setting.kernel) == usize::from(at))
        }
        _ => None,
    }
}

impl ViewAction {
    fn needs(self) -> Requirement {
        match self {
            ViewAction::Prompt(_) | ViewAction::MeasureSpeedup | ViewAction::RunRound => {
                Requirement::Engine
            }
            ViewAction::ToggleCauses
            | ViewAction::TogglePopulation
            | ViewAction::TogglePopulationOfAll
            | ViewAction::ToggleSingle
            | ViewAction::ZoomIn
            | ViewAction::ZoomOut
            | ViewAction::PanLeft
            | ViewAction::PanRight
            | ViewAction::PanUp
            | ViewAction::PanDown
            | ViewAction::Fit
            | ViewAction::ToggleLadder
            | ViewAction::ToggleSource
            | ViewAction::ToggleLab
            | ViewAction::ToggleEditor
            | ViewAction::ToggleLessons
            | ViewAction::OpenLesson
            | ViewAction::ToggleLecture
            | ViewAction::NextPage
            | ViewAction::PreviousPage
            | ViewAction::MeasureAgain
            | ViewAction::Predict(_)
            | ViewAction::ToggleTimeline
            | ViewAction::ToggleGridLines
            | ViewAction::ToggleSeparateCameras
            | ViewAction::ToggleMinimap
            | ViewAction::NextColourMode
            | ViewAction::SavePanelPicture => Requirement::Session,
            ViewAction::NextTheme
            | ViewAction::Invert
            | ViewAction::ToggleFullscreen
            | ViewAction::SavePicture
            | ViewAction::ToggleRecording
            | ViewAction::ToggleCommands
            | ViewAction::ToggleMenu
            | ViewAction::TogglePresentation
            | ViewAction::EnlargeInterface
            | ViewAction::ReduceInterface
            | ViewAction::DefaultInterface
            | ViewAction::NextLanguage
            | ViewAction::ToggleHelp
            | ViewAction::Escape
            | ViewAction::Quit => Requirement::Nothing,
        }
    }

    fn check(self, status: Option<&Status>) -> Result<(), String> {
        match self {
            ViewAction::ToggleSingle
            | ViewAction::ToggleSeparateCameras
            | ViewAction::MeasureSpeedup => status.map_or(Ok(()), has_several_panels),
            _ => Ok(()),
        }
    }

    fn state(self, on: Toggles) -> Option<bool> {
        match self {
            ViewAction::ToggleCauses => Some(on.causes),
            ViewAction::TogglePopulation => Some(on.population),
            ViewAction::TogglePopulationOfAll => Some(on.population_of_all),
            ViewAction::ToggleSingle => Some(on.single),
            ViewAction::ToggleLadder => Some(on.ladder),
            ViewAction::ToggleSource => Some(on.source),
            ViewAction::ToggleLab => Some(on.lab),
            ViewAction::ToggleEditor => Some(on.editor),
            ViewAction::ToggleLessons => Some(on.lessons),
            ViewAction::ToggleLecture => Some(on.lecture),
            ViewAction::ToggleTimeline => Some(on.timeline),
            ViewAction::ToggleGridLines => Some(on.grid_lines),
            ViewAction::ToggleSeparateCameras => Some(on.separate),
            ViewAction::ToggleMinimap => Some(on.minimap),
            ViewAction::Invert => Some(on.inverted),
            ViewAction::ToggleFullscreen => Some(on.fullscreen),
            ViewAction::ToggleRecording => Some(on.recording),
            ViewAction::TogglePresentation => Some(on.presentation),
            _ => None,
        }
    }
}

impl EditAction {
    fn needs(self) -> Requirement {
        match self {
            EditAction::TogglePencil
            | EditAction::ClearSelection
            | EditAction::CutCells
            | EditAction::FillRandomly
            | EditAction::FlipHorizontal
            | EditAction::FlipVertical
            | EditAction::RotateLeft
            | EditAction::RotateRight
            | EditAction::RotatePastedLeft
            | EditAction::RotatePastedRight
            | EditAction::PastePattern
            | EditAction::OpenPattern
            | EditAction::ToggleShelf => Requirement::Engine,
            // The last cells of an ended session can still be taken from it.
            EditAction::SelectAll
            | EditAction::ToggleAreaSelection
            | EditAction::CopyCells
            | EditAction::SavePattern => Requirement::Session,
        }
    }

    fn check(self, on: Toggles) -> Result<(), String> {
        match self {
            EditAction::RotatePastedLeft | EditAction::RotatePastedRight if !on.ghost => {
                Err(tr!("no pattern is being pasted").into())
            }
            _ => Ok(()),
        }
    }

    fn state(self, on: Toggles) -> Option<bool> {
        match self {
            EditAction::TogglePencil => Some(on.pencil),
            EditAction::ToggleAreaSelection => Some(on.area_selection),
            _ => None,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::actions::TABLE;
    use life::Size;
    use session::DeviceChoice;

    /// A window of a session with this status.
    pub(in crate::actions) fn context(status: &Status) -> Context<'_> {
        Context {
            front_end: FrontEnd::Window,
            status: Some(status),
            has_pending_requests: false,
            most_instances: 64,
            toggles: Toggles::default(),
        }
    }

    #[test]
    fn what_is_toggled_is_on_or_off_unless_it_is_a_dialog() {
        let size = Size::new(64, 64).unwrap();
        let status = Status::before_start(&Setup::new(
            2,
            size,
            &engine::kernels::KERNELS[0],
            DeviceChoice::Cpu,
        ));
        let context = context(&status);
        let dialogs = [
            ViewAction::ToggleCommands.into(),
            ViewAction::ToggleMenu.into(),
            ViewAction::ToggleHelp.into(),
            EditAction::ToggleShelf.into(),
        ];
        for action in TABLE.iter().map(|row| row.action) {
            if format!("{action:?}").contains("Toggle") {
                let is_switch = action.state(&context).is_some();
                assert_ne!(is_switch, dialogs.contains(&action), "{action:?}");
            }
        }
    }
}
