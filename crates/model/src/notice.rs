//! What a session tells the user, as data: [`words`](crate::words) has the sentences.

use std::path::PathBuf;

use engine::{EngineError, Kernel};
use lang::Message;
use life::{Rule, Size};

use crate::saved::NotSaved;
use crate::{
    InWords, Order, Pace, Recomputing, Recorded, Settled, StopWhenStill, Switch, SwitchContext,
    Switches,
};

/// Something to tell the user.
#[derive(Clone, Debug)]
pub enum Notice {
    /// What a command did.
    Done(Done),
    /// What the last change does to the time of a round, which the status says elsewhere.
    Effect,
    /// Why a command was refused.
    Refused(Refusal),
    /// What went wrong.
    Warning(Failure),
}

impl Notice {
    /// The sentence, unless the status says it elsewhere.
    pub fn message(&self) -> Option<Message> {
        match self {
            Notice::Done(it) => Some(it.message()),
            Notice::Effect => None,
            Notice::Refused(it) => Some(it.message()),
            Notice::Warning(it) => Some(it.message()),
        }
    }
}

/// What a session has done, or does. Numbers without a name are generations.
#[derive(Clone, Debug)]
pub enum Done {
    /// The CPU computes for want of a GPU, of which recorded rounds can be shown.
    RecordedRoundsOffered,
    /// Recorded rounds are shown, or rounds are measured again.
    RecordedRounds(Option<Recorded>),
    /// A move goes on.
    Going(Recomputing),
    /// A run to a generation has arrived.
    Reached(u64),
    /// A change of cells ended a run to this generation.
    RunEnded(u64),
    /// A pause ended a move, here, on the way to a target.
    MoveEnded(u64, u64),
    /// A step back at the start changed nothing.
    AtStart(u64),
    /// A step back came to the oldest generation that is kept.
    AtOldest(u64),
    /// A move back has arrived.
    BackTo(u64),
    /// An undo came to just after the last edit.
    BackToEdit(u64),
    /// The last edit is undone.
    Undone(u64),
    /// What was undone is done again.
    Redone(u64),
    /// The lattices have another rule.
    RuleSet(Rule),
    /// The lattices have another size than before.
    Resized(Size, Size),
    /// There is another number of instances than before.
    InstancesSet(usize, usize),
    /// When rounds stop automatically.
    StopSet(StopWhenStill),
    /// Whether dead panels are reseeded.
    ReseedSet(bool),
    /// The selected panel stopped the rounds, or all of them did.
    Settled(Option<Settled>),
    /// The pace is set.
    PaceSet(Pace),
    /// A round has so many generations.
    GenerationsSet(u32),
    /// A round has so many generations once the pace is not the maximum.
    GenerationsSetForLater(u32),
    /// A kernel is in use; the switches before and now differ if it does not take the former.
    KernelSet(&'static Kernel, [Switches; 2]),
    /// The first kernel steps lattices of this size, as the second, the default or the one before,
    /// cannot.
    KernelStandsIn([&'static Kernel; 2], Size),
    /// The fastest kernel, which is the first, takes the place of the second until the maximum pace
    /// ends, or at this generation a run.
    FastestKernel([&'static Kernel; 2], Option<u64>),
    /// A switch is set.
    SettingChanged(SettingChange),
    /// Breadth-first took the place of the user's own round, which is not right for so many instances.
    OwnRoundLeft(usize),
    /// The first kernel, of an opened file, does not take lattices of their size: the second took its place.
    KernelUnsuited(&'static Kernel, &'static Kernel),
    /// An opened file has a soup with symmetry, which cannot be made: the session begins with the file's
    /// lattices of this generation.
    BegunWithNewest(u64),
    /// The kernel of the user's own in an opened file is not compiled: its rung took its place.
    OwnKernelLeft(&'static Kernel),
    /// A and B are compared from this generation on.
    ComparisonBegun(u64),
    /// A and B are no longer compared.
    ComparisonEnded,
    /// A command waits for a long launch.
    WaitingForLaunch,
    /// The session is saved in this file.
    Saved(PathBuf),
    /// The session of a file with this name is open.
    Opened(String),
}

/// A change of a setting whose effect on the time of a round is measured.
#[derive(Clone, Copy, Debug)]
pub enum SettingChange {
    /// The second kernel took the place of the first.
    Kernel([&'static Kernel; 2]),
    /// A switch was set, which gave these switches with this kernel.
    Switch(Switch, Switches, &'static Kernel),
    /// The user's own round took the place of this order.
    OwnRound(Order),
    /// The kind of host memory was set on the CPU engine, whose memory is all of one kind.
    HostMemoryOfCpu,
    /// Graphs were switched on or off on the CPU engine, which has none.
    GraphsOfCpu,
}

/// Why a session does not do what it was asked. Numbers without a name are generations.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// The session has ended.
    Ended,
    /// The session has ended, so none is opened in its place.
    NotOpened,
    /// The number of instances stays while A and B are compared.
    Comparing,
    /// No such number of instances is possible.
    InstancesOutOfRange,
    /// There are so many instances already.
    AlreadyThatMany(usize),
    /// The lattices have this size already.
    AlreadyThatSize(Size),
    /// The lattices have this rule already.
    AlreadyThatRule(Rule),
    /// There is no such instance any more.
    InstanceGone(usize),
    /// Nothing before the present generation is kept.
    NothingEarlier,
    /// The start, at this generation, comes after the one that was asked for.
    BeforeStart(u64),
    /// There is no edit to undo.
    NothingToUndo,
    /// Nothing was undone.
    NothingToRedo,
    /// The generation where it was is no longer kept.
    NotKept(u64),
    /// The target of a move was discarded on the way.
    HistoryDiscarded,
    /// A comparison needs two instances.
    TooFewToCompare,
    /// No other kernel can step the lattices.
    NoOtherKernel,
    /// The kernel cannot step the lattices.
    Kernel(EngineError),
    /// No other position of the switch goes with these switches and this kernel.
    NoOtherPosition(Switch, Switches, SwitchContext<'static>),
    /// The switches cannot be together, or not here.
    Incompatible(Switches, SwitchContext<'static>),
    /// The user's own round is not right for so many instances, as A and B have each.
    OwnRoundOfHalf(usize),
    /// Graphs have no block timestamps.
    TimestampsInGraphs,
    /// Recorded rounds have no block timestamps.
    TimestampsRecorded,
    /// The code of the user's own kernel is of a form to which block timestamps are not added.
    TimestampsOfOwn,
    /// A GPU computes, so that nothing recorded is needed.
    GpuComputes,
}

/// What went wrong in a session.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The engine refused or failed.
    Engine(EngineError),
    /// A lost engine was replaced.
    EngineReplaced {
        /// Why it was lost.
        lost: EngineError,
        /// The generation from which the session continues.
        generation: u64,
        /// Whether it continues on the CPU.
        on_cpu: bool,
        /// The user's own kernel, if it was in use: its rung takes its place.
        own_kernel: Option<&'static Kernel>,
    },
    /// The engine was lost for the first reason, and could not be replaced for the second.
    EngineNotReplaced(EngineError, EngineError),
    /// The engine was lost so many times in a row, the last time for this reason.
    EngineLostOften(u32, EngineError),
    /// Lost lattices could only be restored as of this generation.
    RestoredOnly(u64),
    /// Nothing is left to restore lattices from.
    NoSnapshot,
    /// A saved session could not be continued.
    NotContinued(EngineError),
    /// The session is not in its file.
    NotSaved(NotSaved),
    /// The system starts no thread, for this reason.
    NoThread(String),
    /// The program has a flaw: work panicked, with this message.
    Internal(String),
    /// The session's thread has ended by itself.
    ThreadEnded,
}
