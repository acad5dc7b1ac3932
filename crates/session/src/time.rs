//! What a session does with time beside stepping: when it stops by itself, and how far back it
//! remembers.

/// When rounds stop because nothing new will come.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Debug,
    Default,
    serde::Serialize,
    serde::Deserialize,
    strum::Display,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum StopWhenStill {
    /// Never.
    #[default]
    Never,
    /// When the selected panel is dead, still or periodic.
    Selected,
    /// When every panel is.
    All,
}

impl StopWhenStill {
    /// The next of them, as a key goes through them.
    pub fn next(self) -> StopWhenStill {
        match self {
            StopWhenStill::Never => StopWhenStill::Selected,
            StopWhenStill::Selected => StopWhenStill::All,
            StopWhenStill::All => StopWhenStill::Never,
        }
    }
}

/// When the session stops by itself, whether it reseeds panels, and how much history it keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeSettings {
    /// When rounds stop because nothing new will come.
    pub stop_when_still: StopWhenStill,
    /// Whether dead panels are filled with a new soup.
    pub reseed: bool,
    /// Bytes of the host's memory for going back; too few for two copies of all lattices, and
    /// there is no going back.
    pub history_bytes: u64,
}

impl TimeSettings {
    /// The most memory for going back, in bytes.
    pub const MAX_HISTORY_BYTES: u64 = 1 << 44;

    /// As usual: nothing stops, and 256 MiB of the past.
    pub const DEFAULT: TimeSettings = TimeSettings {
        stop_when_still: StopWhenStill::Never,
        reseed: false,
        history_bytes: 256 << 20,
    };
}
