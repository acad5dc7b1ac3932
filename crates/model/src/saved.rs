//! Why a session is not saved in its file, and why a file is refused, as data:
//! [`words`](crate::words) has the sentences.

use std::path::PathBuf;

use engine::Kernel;
use lang::Message;
use life::{MemoryError, ReadError, Rule, SaveError, Size, TextError};

use crate::{InWords, Switches};

/// A session that is not in its file: either it could not be saved, or it is saved in another file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", self.in_words())]
pub enum NotSaved {
    /// Another program changed the first file, so the session is in the second one.
    Changed(PathBuf, PathBuf),
    /// The file could not be written. The session is in another one, if there is a folder for that and
    /// it could be written.
    Failed(SaveError, Option<Result<PathBuf, SaveError>>),
    /// The session is not in this file or folder: the device did not finish its work in so many seconds.
    NoAnswer(PathBuf, u64),
    /// The device did not finish its work, so the session was saved as it was before.
    Outdated {
        /// The file.
        path: PathBuf,
        /// How long it was waited for.
        seconds: u64,
        /// How many seconds ago the session was so.
        age: u64,
        /// Its generation then.
        generation: u64,
    },
    /// The session of this file was never restored, so it stays.
    NeverRestored(PathBuf),
    /// The first file stays, as the session could not be opened from it again: why. It is in the second one.
    WouldNotOpen(PathBuf, String, PathBuf),
    /// The page or the notes of a lecture could not be written. They are in another file, if there is a
    /// folder for that and it could be written.
    Lecture(SaveError, Option<Result<PathBuf, SaveError>>),
}

impl NotSaved {
    /// Whether the machine lacks something: room on the disk of its file, or a device that answers.
    pub fn machine_lacks(&self) -> bool {
        match self {
            NotSaved::Changed(..) | NotSaved::NeverRestored(_) | NotSaved::WouldNotOpen(..) => {
                false
            }
            NotSaved::Failed(error, _) | NotSaved::Lecture(error, _) => error.is_disk_full,
            NotSaved::NoAnswer(..) | NotSaved::Outdated { .. } => true,
        }
    }
}

/// The reason why a session's file was refused.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.in_words())]
pub struct SavedError {
    /// The file.
    pub path: PathBuf,
    /// Line and column, counted from 1; 0 where none is to blame.
    pub place: (usize, usize),
    /// What is wrong.
    pub fault: SavedFault,
}

impl SavedError {
    /// Whether the file is valid, but this machine lacks memory for its lattices.
    pub fn lacks_memory(&self) -> bool {
        matches!(self.fault, SavedFault::Memory(_))
    }
}

/// Lattices of a session's file.
#[derive(Clone, Copy, Debug)]
pub enum SavedLattices {
    /// The newest ones.
    Newest,
    /// Those that the log begins with.
    First,
    /// Those of a start.
    OfStart,
    /// A pattern that was placed.
    Pattern,
}

/// What is wrong with a session's file. Of two numbers or values, the first is the one that is wrong,
/// unless they are named.
#[derive(Debug)]
pub enum SavedFault {
    /// It cannot be read.
    Unreadable(ReadError),
    /// It ends too soon.
    CutOff,
    /// It is no JSON.
    Syntax,
    /// It is no session.
    NoSession,
    /// It has this format, not the one that is read.
    Format(u64, u64),
    /// There is no memory for its lattices.
    Memory(MemoryError),
    /// A field is wrong, or if none is named the whole.
    Field(Option<String>, Box<SavedFault>),
    /// A value is of another type, no such value, or not for these lattices.
    Value(Message),
    /// No kernel has this name.
    NoKernel(String),
    /// The user's own kernel was written from the first rung, and the second one is in use.
    OtherRung(&'static Kernel, &'static Kernel),
    /// A lattice is no RLE.
    Rle(TextError),
    /// A lattice is not whole.
    NotWhole,
    /// A lattice lacks its torus.
    NoTorus,
    /// A lattice is larger than its torus.
    LargerThanTorus,
    /// Something is wrong in the comparison of A and B.
    InComparison(Box<SavedFault>),
    /// Something is wrong in this record.
    InRecord(u64, Box<SavedFault>),
    /// The number of rounds per second is out of range.
    Pace(f64),
    /// The history has too many bytes.
    History(u64),
    /// The number of instances is out of range.
    Instances(usize),
    /// The generation is too large.
    Generation(u64),
    /// A number of the log is too large.
    LogNumber(u64),
    /// The density is no probability.
    Density(f64),
    /// The switches cannot be together, or not with this kernel.
    Incompatible(Switches, &'static Kernel),
    /// The selected instance is none of so many.
    Selected(usize, usize),
    /// A person drew on an instance that is none of so many.
    Drawn(usize, usize),
    /// Cells change of an instance that is none of so many.
    Changed(usize, usize),
    /// A cell is not on a lattice of this size.
    OffLattice([u32; 2], Size),
    /// An area is larger than a lattice of this size.
    LargeArea(Size, Size),
    /// There are counterparts without a comparison.
    Counterparts,
    /// Instance 0 has this counterpart, of so many instances.
    OtherCounterpart(usize, usize),
    /// There are no counterparts in a comparison.
    NoCounterparts,
    /// The log begins with a start at this generation, but the start has another.
    StartGeneration(u64, u64),
    /// A record has a generation before that of the clock.
    Backwards {
        /// The record.
        number: u64,
        /// Its generation.
        generation: u64,
        /// The generation on the clock.
        now: u64,
    },
    /// This generation with so many records applied is not on the log.
    OffLog(u64, u64),
    /// The newest lattices have a generation after that of the position.
    AfterPosition(u64, u64),
    /// The lattices that the log begins with are not there.
    NoFirstLattices,
    /// There are lattices where the log begins with a start.
    LatticesAtStart,
    /// The lattices that the log begins with are there twice.
    FirstLatticesTwice,
    /// A start has no lattice.
    EmptyStart,
    /// There are so many lattices for another number of instances.
    Count(SavedLattices, usize, usize),
    /// The lattice of this instance has another size.
    Size(SavedLattices, usize, Size, Size),
    /// A lattice has another rule.
    Rule(SavedLattices, Option<usize>, Rule, Rule),
    /// A lattice has another generation.
    LatticeGeneration(SavedLattices, Option<usize>, u64, u64),
}
