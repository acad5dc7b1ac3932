//! `lifestreams patterns`: lists the bundled patterns, one per line.

use anyhow::Result;

use super::text::print_to_reader;
use lang::tr;
use life::{Rule, SHELF};

/// Prints the list.
pub(super) fn main() -> Result<()> {
    let rows = SHELF.iter().map(|shelved| {
        let pattern = shelved.pattern();
        let size = format!("{}x{}", pattern.width(), pattern.height());
        let rule = pattern.rule().unwrap_or(Rule::LIFE).to_string();
        let what = tr!(
            "{kind}: {what}",
            kind = shelved.kind(),
            what = shelved.behaviour
        );
        (shelved.name, size, rule, what)
    });
    let rows: Vec<_> = rows.collect();
    let widest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    let name_width = widest(&mut rows.iter().map(|row| row.0.len()));
    let size_width = widest(&mut rows.iter().map(|row| row.1.len()));
    let rule_width = widest(&mut rows.iter().map(|row| row.2.len()));
    for (name, size, rule, what) in rows {
        let line = format!("{name:<name_width$}  {size:>size_width$}  {rule:<rule_width$}  {what}");
        if !print_to_reader(&line)? {
            break;
        }
    }
    Ok(())
}
