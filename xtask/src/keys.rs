//! The keys by topic, from the action table.

use anyhow::Result;
use ui::actions::Topic;

use crate::text::{Both, markdown};

/// A table for each topic.
pub(crate) fn by_topic() -> Result<String> {
    let heads = [Both("Key", "按键"), Both("What it does", "作用")].map(Both::get);
    let mut text = String::new();
    for topic in Topic::ALL {
        let rows = topic.rows().map(|row| [row.keys(), row.help().to_owned()]);
        text += &format!("\n## {}\n\n{}", topic.title(), markdown(&heads, rows)?);
    }
    Ok(text.trim_start().to_owned() + "\n")
}
