//! Everything that can be asked of a session.
//!
//! Commands wait in one queue and are taken in order, but for those that are done as soon as they arrive. What a command refers to relatively (the next kernel, a round back, the start in
//! force) is found when it is taken, since earlier ones may change it; the panel that it concerns is the
//! one that was selected when it was asked.

use crate::log::{CellChange, Position};
use crate::saved::{OwnFile, SavedSession};
use crate::{Edit, OwnRound, OwnRoundError, PicturePlan, Setup, Switch};
use engine::Kernel;
use lang::{Message, tr};
use life::{Lattice, Rule, Size};
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// Something to tell the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Notice {
    /// What was done.
    Done(Message),
    /// What the last change does to the time of a round, which the status says elsewhere.
    Effect,
    /// Why a command was refused.
    Refused(Message),
    /// What went wrong.
    Warning(Message),
}

/// Tells why a command is refused.
pub(crate) fn refuse(why: Message) -> Option<Notice> {
    Some(Notice::Refused(why))
}

/// Something that is asked of a session. Whoever asked may have gone when it is answered.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// What a row of the table of actions stands for.
    Act(SessionAction),
    /// Takes everything of this setup that a running session can change.
    Apply(Box<Setup>),
    /// A lesson has opened (`true`) or closed.
    PauseForLesson(bool),
    /// Whether populations are measured for someone who looks at them.
    WatchPopulation(bool),
    /// Whether the overlap of a round's work is measured for someone who looks at it.
    WatchOverlap(bool),
    /// Downloads other pictures from now on.
    View(PicturePlan),
    /// Edits a lattice. The number identifies the edit in pictures.
    Edit(Edit, u64),
    /// Changes the cells of an instance, on behalf of the user.
    Cells(usize, CellChange),
    /// Fills an instance that died with a soup, on behalf of the program.
    Reseed(usize, CellChange),
    /// Makes this script the round of the order that is one's own, and takes that order; sends the round,
    /// or why it is not right.
    SetOwnRound(Arc<str>, Sender<Result<Arc<OwnRound>, OwnRoundError>>),
    /// Steps the lattices by this kernel of the user's own, and keeps it beside the rungs.
    SetOwnKernel(&'static Kernel),
    /// Begins anew at a generation and pauses, with this lattice in place of an instance's and the others
    /// as they are, all as large as this one.
    OpenPattern(usize, Arc<Lattice>, u64),
    /// Sends an instance's lattice and generation.
    ReadCells(usize, Sender<(Arc<Lattice>, u64)>),
    /// Sends the session in a form that can be saved.
    Save(Sender<SavedSession>),
    /// Continues a saved session, whose setup this one has.
    Open(Box<SavedSession>),
    /// Replaces the session, whose file this is, by a saved one from a file of this name.
    Replace(Box<SavedSession>, OwnFile, String),
    /// Shows a notice.
    Notify(Notice),
    /// A background task has finished: the loop takes its result.
    Ready,
    /// Ends the thread.
    Close,
}

/// Somebody who waits for a copy that was begun later.
pub(crate) struct Waiter {
    pub wants: Wanted,
    /// The position of the copy, once it is under way.
    pub copy: Option<Position>,
}

/// What somebody waits for.
pub(crate) enum Wanted {
    /// One instance's cells and their generation.
    Cells(usize, Sender<(Arc<Lattice>, u64)>),
    /// A session to save.
    Session(Sender<SavedSession>),
}

// What a user can ask a session for.

/// The key of [`SessionAction::Slower`]. It and the next are named in sentences of a session; a test of
/// the front ends' table compares them.
pub const SLOWER_KEY: &str = "−";
/// The key of [`SessionAction::ToggleRecorded`].
pub const RECORDED_KEY: &str = "J";

/// What a session does.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Debug,
    strum::VariantNames,
    serde::Serialize,
    serde::Deserialize,
)]
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
    SetSize(#[serde(with = "crate::text")] Size),
    /// This rule.
    SetRule(#[serde(with = "crate::text")] Rule),
    /// Every instance with the next soup, of this density in thousandths.
    SetDensity(u16),
    /// This many generations per round.
    SetGenerationsPerRound(u32),
    /// The kernel at this place in the engine's table.
    UseKernel(u8),
    /// The kernel of the program's choice.
    AutoKernel,
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
