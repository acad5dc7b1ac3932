//! `lifestreams patterns`: lists the bundled patterns, one per line.

use anyhow::Result;

use super::text::{columns, print_to_reader};
use lang::tr;
use life::{Rule, SHELF};

pub(super) fn main() -> Result<()> {
    let rows = SHELF.iter().map(|shelved| {
        let pattern = shelved.pattern();
        let size = format!("{}x{}", pattern.width(), pattern.height());
        let rule = pattern.rule().unwrap_or(Rule::LIFE).to_string();
        let (kind, what) = (shelved.kind(), shelved.behaviour);
        vec![shelved.name.into(), size, rule, tr!("{kind}: {what}")]
    });
    for line in columns(&rows.collect::<Vec<_>>()) {
        if !print_to_reader(&line)? {
            break;
        }
    }
    Ok(())
}
