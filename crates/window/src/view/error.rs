//! What can go wrong in drawing, each with its remedy.

use lang::tr;
use life::SaveError;

/// Why something could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// No adapter at all, or none that draws to this window.
    #[error("{}", tr!("no graphics driver can draw here ({it}); install your GPU's Vulkan driver, or the software one: apt-get install libvulkan1 mesa-vulkan-drivers", it = .0))]
    NoAdapter(String),
    /// No adapter of the name asked for.
    #[error("{}", tr!("no drawing GPU matches '{requested}'; available: {}", there_are(.present), requested = .requested))]
    NoSuchAdapter {
        /// The name asked for.
        requested: String,
        /// The names there are.
        present: Vec<String>,
    },
    /// The adapter gave no device.
    #[error("{}", tr!("the drawing GPU '{adapter}' cannot be used ({reason}); choose another with --adapter", adapter = .adapter, reason = .reason))]
    NoDevice {
        /// Its name.
        adapter: String,
        /// The driver's words.
        reason: String,
    },
    /// The drawing GPU was lost and did not come back.
    #[error("{}", tr!("the drawing GPU is lost ({it}); start again, or choose another with --adapter", it = .0))]
    DeviceLost(String),
    /// Memory of the drawing GPU ran out.
    #[error("{}", tr!("the drawing GPU is out of memory; use fewer --instances or --transfer view"))]
    OutOfMemory,
    /// A defect of this program.
    #[error("{}", tr!("internal: drawing failed: {it}", it = .0))]
    Internal(String),
    /// More instances than can be drawn.
    #[error("{}", tr!("{requested} instances cannot be drawn: at most {most}; use fewer --instances, or 'run'", requested = .requested, most = .most))]
    TooMany {
        /// How many were asked for.
        requested: usize,
        /// The most there can be.
        most: usize,
    },
    /// A picture larger than the adapter draws.
    #[error("{}", tr!("a picture of {width}x{height} pixels cannot be drawn here: both sides must be from 1 to {most}", width = .width, height = .height, most = .most))]
    PictureSize {
        /// Width asked for, in pixels.
        width: u32,
        /// Height asked for, in pixels.
        height: u32,
        /// The longest side there can be.
        most: u32,
    },
    /// What was asked for cannot be recorded.
    #[error("{0}")]
    Record(String),
    /// Writing a recording took too long.
    #[error("{0}")]
    Encoder(String),
    /// A picture could not be written.
    #[error("{0}")]
    Write(SaveError),
}

impl From<SaveError> for ViewError {
    fn from(error: SaveError) -> ViewError {
        ViewError::Write(error)
    }
}

impl ViewError {
    pub(crate) fn cannot_present(adapter: String) -> ViewError {
        ViewError::NoDevice {
            adapter,
            reason: tr!("it cannot present to this window").into(),
        }
    }

    /// 2 where the arguments are wrong, 3 where the machine lacks something, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            ViewError::NoSuchAdapter { .. }
            | ViewError::Record(_)
            | ViewError::TooMany { .. }
            | ViewError::PictureSize { .. } => 2,
            ViewError::Write(error) => {
                if error.is_disk_full {
                    3
                } else {
                    2
                }
            }
            ViewError::NoAdapter(_)
            | ViewError::NoDevice { .. }
            | ViewError::DeviceLost(_)
            | ViewError::Encoder(_)
            | ViewError::OutOfMemory => 3,
            ViewError::Internal(_) => 1,
        }
    }
}

fn there_are(present: &[String]) -> String {
    match present {
        [] => tr!("none").into(),
        some => some.join("; "),
    }
}
