//! A kernel that a user wrote, in the place of a rung.

use super::instrumentation::instrument;
use super::{Kernel, OwnStepError};
use crate::EngineError;
use lang::message;
use life::{Rule, Size};
use std::fmt;
use std::hash::{Hash, Hasher};

/// What takes the place of a rung's code. A kernel with it has the rung's symbol, parameters, layout and
/// launches. Every code is equal to itself alone.
#[derive(Debug)]
pub struct OwnCode {
    /// The rung that it takes the place of.
    pub rung: &'static Kernel,
    /// Its CUDA C++.
    pub source: String,
    /// The rules that it steps; `None` for every rule.
    pub rules: Option<Vec<Rule>>,
    /// What a GPU runs, if it was compiled for one.
    pub gpu: Option<GpuCode>,
    /// What the CPU engine runs, if there is such a thing.
    pub cpu: Option<Box<dyn OwnStepper>>,
}

impl PartialEq for OwnCode {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for OwnCode {}

impl Hash for OwnCode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self, state);
    }
}

/// The error for a kernel of a user's own that was compiled for another kind of device.
pub(crate) fn no_own_code(is_gpu: bool) -> EngineError {
    EngineError::Unavailable(if is_gpu {
        message!("your kernel was compiled for the CPU, and a GPU computes")
    } else {
        message!("your kernel was compiled for a GPU, and the CPU computes")
    })
}

/// Compiled code for a GPU.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuCode {
    /// PTX, which the driver compiles.
    Ptx(String),
    /// Machine code of one architecture.
    Cubin(Vec<u8>),
}

/// Steps lattices on the CPU by a kernel of a user's own; called by several threads at once.
pub trait OwnStepper: Send + Sync + fmt::Debug {
    /// Steps one lattice, given and returned as its bits ([`Layout::Bits`](super::Layout)), by
    /// some generations.
    ///
    /// # Errors
    /// The kernel did not come to a result; the words are as before.
    fn step(
        &self,
        words: &mut [u32],
        size: Size,
        rule: Rule,
        generations: u32,
    ) -> Result<(), OwnStepError>;
}

impl Kernel {
    /// What steps lattices by this rule: the kernel itself, or the rung of one that a user wrote for other
    /// rules alone.
    pub fn stepping(&'static self, rule: Rule) -> &'static Kernel {
        let rules = self.own.as_ref().and_then(|own| own.rules.as_ref());
        match rules {
            Some(rules) if !rules.contains(&rule) => self.rung(),
            _ => self,
        }
    }

    /// The name of every kernel of a user's own.
    pub const OWN: &'static str = "own";

    /// A kernel that launches blocks of this shape, by code in place of a rung's. It stays in memory until
    /// the program ends, like what the driver loads of it.
    pub fn own(code: OwnCode, block: (u32, u32)) -> &'static Kernel {
        let rung = code.rung;
        // Block timestamps can be added to PTX of a form that compilers give.
        let block_timestamps = match &code.gpu {
            Some(GpuCode::Ptx(text)) => instrument(text).is_ok(),
            Some(GpuCode::Cubin(_)) | None => false,
        };
        Box::leak(Box::new(Kernel {
            name: Self::OWN,
            blocks: Box::leak(Box::new([block])),
            block_timestamps,
            own: Some(code),
            ..*rung
        }))
    }
}
