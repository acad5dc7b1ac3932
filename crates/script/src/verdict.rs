//! What the check of a script found.

use crate::{Fault, Requirement, Round, Script, ScriptError, Work, check};

/// What the check of a script found for some number of items.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// The number of items: the first that goes wrong, or else the last that was tried.
    pub items: u32,
    /// What is wrong: nothing if it is right; or why the script makes no round.
    pub faults: Result<Vec<Fault>, ScriptError>,
    /// What the script orders for so many items, right or not; without calls if it makes no round.
    pub round: Round,
}

impl Verdict {
    /// Checks a script for so many items.
    pub fn of(source: &str, work: Work, items: u32, requirements: &[Requirement]) -> Verdict {
        let made = Script::compile(source, work).and_then(|script| script.round(items));
        let (faults, round) = match made {
            Ok(round) => (Ok(check(&round, items, work, requirements)), round),
            Err(error) => (Err(error), Round::default()),
        };
        Verdict {
            items,
            faults,
            round,
        }
    }

    /// Whether nothing is wrong.
    pub fn is_right(&self) -> bool {
        self.faults.as_ref().is_ok_and(Vec::is_empty)
    }
}
