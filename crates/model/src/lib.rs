//! Types shared by the session and the front ends: what a user can request ([`Action`], with the
//! one table of them), the [`Switches`], what a session is and shows ([`Setup`], [`Status`],
//! [`Pictures`], [`Trace`]), and what was measured ([`population`], [`Overlap`], [`ladder`]).
//!
//! The session publishes these types, and what paints them (`ui`, `window`, `terminal`) needs no
//! other of it.

pub mod actions;
pub mod diagnosis;
mod edits;
mod finding;
mod kernel_choice;
pub mod ladder;
pub mod overlap;
mod own_round;
mod picture_plan;
mod pictures;
pub mod population;
pub mod prediction;
pub mod recording;
mod settled;
mod setup;
mod speedup;
mod status;
mod switches;
mod time;
pub mod trace;

pub use actions::{Action, EditAction, SessionAction, ViewAction};
pub use diagnosis::Diagnosis;
pub use edits::{Area, Change, Edit, Patch};
pub use experiment::{Finding, Load, Recorded, Side, Source, median};
pub use finding::{finding_in_words, load_in_words, recorded_in_words, unknown_in_words};
pub use kernel_choice::{DEFAULT_KERNEL, KernelChoice, default_kernels};
pub use overlap::{Bound, IsolatedOp, Overlap, Resource};
pub use own_round::{OwnOrder, OwnRound, OwnRoundError};
pub use picture_plan::PicturePlan;
pub use pictures::{LiveArea, Picture, PictureSource, Pictures};
pub use population::Series;
pub use settled::Settled;
pub use setup::{DEFAULT_DENSITY, DeviceChoice, Pace, Setup, Split, Start, StoredKernel};
pub use speedup::{Speedup, SpeedupPoint, SpeedupSeries};
pub use status::{
    AbComparison, ClockStatus, Effect, EngineStatus, LabStatus, LatticeStatus, NOTICE_TIME,
    PanelStatus, RateStatus, Recomputing, RecordedStatus, SettingStatus, Status, time_left,
};
pub use switches::{Choice, Order, Streams, Switch, SwitchContext, Switches, TransferChoice, Wait};
pub use time::{StopWhenStill, TimeSettings};
pub use trace::Trace;
