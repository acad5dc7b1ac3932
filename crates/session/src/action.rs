//! What a user can ask a session for, and why it cannot be.

use crate::{Setup, Status, Switch};
use lang::tr;
use life::{Rule, Size};

/// What [`SessionAction::UseKernel`] has in the place of a number for the program's choice.
pub const AUTO_KERNEL: u8 = u8::MAX;

/// The key of [`SessionAction::Slower`]. It and the next are named in sentences of a session; a test of
/// the front ends' table compares them.
pub const SLOWER_KEY: &str = "−";
/// The key of [`SessionAction::ToggleRecorded`].
pub const RECORDED_KEY: &str = "J";

/// What a session does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, strum::VariantNames)]
pub enum SessionAction {
    /// Runs, or pauses.
    TogglePause,
    /// Pauses, and steps every instance one generation.
    StepGeneration,
    /// Pauses, and makes one round.
    StepRound,
    /// Pauses, and goes one generation back.
    StepBack,
    /// Pauses, and goes one round back.
    StepRoundBack,
    /// Runs to this generation, or goes back to it.
    RunTo(u64),
    /// Stops by itself never, when the selected panel is still or periodic, or when all are.
    NextStopWhenStill,
    /// Fills dead panels with new soups, or leaves them.
    ToggleReseed,
    /// More rounds per second, up to as many as the engine makes.
    Faster,
    /// Fewer rounds per second.
    Slower,
    /// The pace at this place of [`Pace::ALL`](crate::Pace::ALL).
    SetPace(u8),
    /// Sets the selected instance back to its start.
    ResetPanel,
    /// Sets every instance back to its start.
    ResetAll,
    /// Fills every instance with a new soup, of the next seed.
    NewSeed,
    /// This many instances.
    SetInstances(u16),
    /// Twice as many instances.
    DoubleInstances,
    /// Half as many instances.
    HalveInstances,
    /// Lattices of this size, enlarged or reduced about their middle.
    SetSize(Size),
    /// This rule.
    SetRule(Rule),
    /// Every instance with the next soup, of this density in thousandths.
    SetDensity(u16),
    /// This many generations per round.
    SetGenerationsPerRound(u32),
    /// The kernel at this place in the engine's table, or the program's choice: [`AUTO_KERNEL`].
    UseKernel(u8),
    /// The next kernel that takes this size.
    NextKernel,
    /// The previous kernel that takes this size.
    PreviousKernel,
    /// The next possible position of a switch.
    CycleSwitch(Switch),
    /// This position of a switch.
    SetSwitch(Switch, u8),
    /// Compares two settings, A and B, side by side, or goes back to one.
    ToggleComparison,
    /// Takes timestamps in every block of a timed round, or stops.
    ToggleBlockTimestamps,
    /// Shows rounds that were recorded on a GPU instead of measurements, or measures again.
    ToggleRecorded,
    /// Undoes the last edit.
    Undo,
    /// Redoes the edit that was undone last.
    Redo,
    /// Selects the next panel.
    SelectNext,
    /// Selects the previous panel.
    SelectPrevious,
    /// Selects this panel.
    Select(usize),
    /// Saves the session to its file, or to a new one.
    SaveSession,
}

impl SessionAction {
    /// Why a session of this status would refuse it, in the reader's language; `None` where nothing is
    /// known against it. Where requests are on their way that the status does not show yet, the session's
    /// own answer counts.
    pub fn refusal(self, status: &Status) -> Option<String> {
        let (setting, lab) = (&status.setting, &status.lab);
        let instances = status.lattices.instances;
        let one_panel = || (instances < 2).then(|| tr!("there is only one panel").into());
        match self {
            SessionAction::SelectNext | SessionAction::SelectPrevious => one_panel(),
            SessionAction::DoubleInstances | SessionAction::HalveInstances
                if lab.comparison.is_some() =>
            {
                Some(tr!("A and B are compared; key B ends that").into())
            }
            SessionAction::DoubleInstances => (instances * 2 > Setup::MAX_INSTANCES)
                .then(|| tr!("there are at most {}", Setup::MAX_INSTANCES)),
            SessionAction::HalveInstances => one_panel(),
            SessionAction::ToggleComparison => {
                (instances < 2).then(|| tr!("A and B need at least two panels").into())
            }
            SessionAction::CycleSwitch(switch) => {
                switch.next(setting.switches, setting.context()).err()
            }
            SessionAction::SetSwitch(switch, at) => {
                let choices = switch.choices(setting.switches, setting.context());
                choices.into_iter().nth(at.into())?.unavailable
            }
            SessionAction::ToggleRecorded => {
                let is_measured = !status.engine.is_cpu() && lab.recording.is_none();
                is_measured.then(|| tr!("a GPU computes here, and is measured").into())
            }
            SessionAction::ToggleBlockTimestamps if lab.recording.is_some() => {
                Some(tr!("recorded rounds have no block timestamps").into())
            }
            SessionAction::ToggleBlockTimestamps => {
                let has_none = !status.engine.is_cpu() && !setting.kernel.block_timestamps;
                has_none.then(|| timestamps_of_own().into())
            }
            SessionAction::UseKernel(at) => {
                let (kernel, size) = (setting.kernels().nth(at.into())?, status.lattices.size);
                let mut devices = status.engine.devices.iter();
                let fits = kernel.validate_size(size);
                let fits =
                    fits.and_then(|()| devices.try_for_each(|it| kernel.validate_device(it, size)));
                fits.err().map(|error| error.to_string())
            }
            _ => None,
        }
    }
}

/// Why a kernel of the user's own has no block timestamps.
pub fn timestamps_of_own() -> &'static str {
    tr!("block timestamps cannot be added to the code of your kernel")
}
