//! The functions that the kernels' sources define, and their PTX.

use super::{Kernel, OwnCode};
use crate::{BufferKernel, SupportKernel};
use life::Rule;
use std::borrow::Cow;

/// A function that a program launches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Function {
    /// Of the ladder.
    Ladder {
        kernel: &'static Kernel,
        /// Index in [`Kernel::entries`].
        entry: usize,
        /// The rule whose network it has; B3/S23 if it has none.
        rule: Rule,
    },
    /// Of a kernel that serves the ladder.
    Support(SupportKernel),
    /// Of a kernel that takes buffers.
    Buffer(&'static BufferKernel),
}

impl Function {
    /// Whether its blocks can record timestamps.
    pub(crate) fn has_timestamps(self) -> bool {
        match self {
            Function::Ladder { kernel, .. } => kernel.block_timestamps,
            Function::Buffer(kernel) => kernel.own.is_none(),
            Function::Support(_) => false,
        }
    }

    /// The rule whose network it has; `None` for a function that takes every rule.
    pub(crate) fn network(self) -> Option<Rule> {
        match self {
            Function::Ladder { rule, .. } if rule != Rule::LIFE => Some(rule),
            _ => None,
        }
    }

    /// The function that takes every rule, in place of one with a network.
    pub(crate) fn of_every_rule(mut self) -> Function {
        if let Function::Ladder { rule, .. } = &mut self {
            *rule = Rule::LIFE;
        }
        self
    }

    /// Its file, its symbol there, and a user's own code in the place of that file.
    pub(crate) fn place(self) -> (&'static str, Cow<'static, str>, Option<&'static OwnCode>) {
        match self {
            Function::Support(kernel) => {
                let row = kernel.row();
                (row.file, row.symbol.into(), None)
            }
            Function::Buffer(kernel) => (kernel.name, kernel.name.into(), kernel.own),
            Function::Ladder { kernel, entry, .. } => {
                let symbol = kernel.entries[entry];
                let symbol = match self.network() {
                    Some(_) => format!("{symbol}_by_network").into(),
                    None => symbol.into(),
                };
                (kernel.file, symbol, kernel.own.as_ref())
            }
        }
    }
}

/// An embedded source file and its PTX, which the driver compiles for the GPU.
pub struct Ptx {
    /// Stem of the file in `kernels/ladder`, `kernels/support` or `kernels/lessons`.
    pub stem: &'static str,
    /// SHA-256 of its sources, in hexadecimal digits.
    pub hash: &'static str,
    /// The CUDA C++.
    pub source: &'static str,
    /// The PTX.
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/ptx.rs"));

impl Ptx {
    /// The PTX of every source file.
    pub const ALL: &'static [Ptx] = EMBEDDED;

    /// The PTX of `kernels/*/{stem}.cu`.
    pub fn find(stem: &str) -> Option<&'static Ptx> {
        EMBEDDED.iter().find(|ptx| ptx.stem == stem)
    }

    /// Symbols of its functions, in order.
    pub fn symbols(&self) -> impl Iterator<Item = &'static str> {
        let heads = self
            .text
            .lines()
            .filter_map(|line| line.strip_prefix(ENTRY));
        heads.map(|rest| rest.trim_end_matches('('))
    }

    /// The text with this function only, so that the driver compiles nothing else.
    pub fn only(&self, symbol: &str) -> String {
        let wanted = format!("{ENTRY}{symbol}(");
        let mut skips = false;
        let mut rest = String::with_capacity(self.text.len());
        for line in self.text.lines() {
            skips |= line.starts_with(ENTRY) && line != wanted;
            if !skips {
                rest.push_str(line);
                rest.push('\n');
            }
            skips &= line != "}";
        }
        rest
    }
}

const ENTRY: &str = ".visible .entry ";
