//! What a user can ask a session for, and what must be there for it.

use crate::Switch;
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

/// Why a kernel of the user's own has no block timestamps.
pub fn timestamps_of_own() -> &'static str {
    tr!("block timestamps cannot be added to the code of your kernel")
}
