//! The keys by topic, from the action table.

use anyhow::Result;
use ui::actions::Topic;

use crate::text::{Both, Table};

/// A table for each topic.
pub(crate) fn by_topic() -> Result<String> {
    let mut text = String::new();
    for topic in Topic::ALL {
        let heads = [Both("Key", "按键"), Both("What it does", "作用")];
        let mut table = Table::new(heads.map(Both::get));
        for row in topic.rows() {
            table.row([row.keys(), row.help().to_owned()]);
        }
        text += &format!("\n## {}\n\n{}", topic.title(), table.markdown()?);
    }
    Ok(text.trim_start().to_owned() + "\n")
}
