//! What was measured, where, of which commit: printed, kept as JSON, shown in the README.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::{named, shown, spread};
use life::write_atomically;
use model::DeviceChoice;
use model::ladder::Ladder;
use view::list_adapters;

/// Everything measured in one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// `cuda` or `cpu`.
    pub engine: String,
    /// The computing device.
    pub device: String,
    /// Its driver.
    pub driver: String,
    /// The drawing GPU, if there is one.
    pub adapter: Option<String>,
    /// The commit that was built.
    pub commit: String,
    /// The tables.
    pub tables: Vec<Table>,
    /// The ladder, with a commit of its own: it is measured by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ladder: Option<Ladder>,
}

/// Figures that belong together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Table {
    /// What one asks for: `step`, `frame`, `start`.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The figures.
    pub rows: Vec<Row>,
}

/// A figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    /// What was measured.
    pub what: String,
    /// The median of the runs.
    pub median: f64,
    /// The lowest.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
    /// Of all three.
    pub unit: String,
    /// How many runs.
    pub runs: usize,
}

impl Record {
    /// An empty one for this machine.
    pub(super) fn of(device: DeviceChoice, adapter: Option<&str>) -> Result<Record> {
        let (engine, device, driver) = named(device)?;
        let wanted = adapter.unwrap_or_default().to_lowercase();
        let adapter = list_adapters()
            .into_iter()
            .map(|adapter| adapter.title())
            .find(|title| title.to_lowercase().contains(&wanted));
        let commit = env!("LIFESTREAMS_COMMIT").to_string();
        Ok(Record {
            engine: engine.into(),
            device,
            driver,
            adapter,
            commit,
            tables: Vec::new(),
            ladder: None,
        })
    }

    /// Where and with what.
    pub(crate) fn title(&self) -> String {
        let drawing = self
            .adapter
            .as_ref()
            .map_or(String::new(), |a| format!("; drawing: {a}"));
        let commit = &self.commit[..self.commit.len().min(12)];
        format!(
            "{} ({}){drawing}; commit {commit}",
            self.device, self.driver
        )
    }

    /// With what an older one has besides.
    fn over(mut self, old: Record) -> Record {
        let ladder = self.ladder.take().or(old.ladder.clone());
        if self.tables.is_empty() && !old.tables.is_empty() {
            return Record { ladder, ..old };
        }
        // Tables of one record come from one build: of another, they would not be comparable.
        if old.title() == self.title() {
            let kept = |table: &Table| self.tables.iter().all(|new| new.name != table.name);
            let kept: Vec<Table> = old.tables.into_iter().filter(kept).collect();
            self.tables.extend(kept);
        }
        Record { ladder, ..self }
    }

    /// Writes it into a folder, under the device's name.
    pub(super) fn write(&self, folder: &Path) -> Result<PathBuf> {
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        };
        let name: String = self.device.chars().map(plain).collect();
        let parts: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
        let path = folder.join(format!("{}.json", parts.join("-")));
        let old = std::fs::read_to_string(&path).ok();
        let old = old.and_then(|text| serde_json::from_str::<Record>(&text).ok());
        let whole = match old {
            Some(old) => self.clone().over(old),
            None => self.clone(),
        };
        let text = serde_json::to_string_pretty(&whole)? + "\n";
        write_atomically(&path, |out| out.write_all(text.as_bytes()))?;
        Ok(path)
    }
}

impl Table {
    pub(super) fn new(name: &str, title: &str) -> Table {
        Table {
            name: name.into(),
            title: title.into(),
            rows: Vec::new(),
        }
    }

    /// Adds a figure from its runs.
    pub(super) fn add(&mut self, what: impl Into<String>, unit: &str, runs: &[f64]) {
        let [median, lowest, highest] = spread(runs);
        self.rows.push(Row {
            what: what.into(),
            median,
            lowest,
            highest,
            unit: unit.into(),
            runs: runs.len(),
        });
    }

    /// As text.
    pub(super) fn shown(&self) -> String {
        let mut text = format!("\n{}: {}\n", self.name, self.title);
        let width = self
            .rows
            .iter()
            .map(|row| row.what.chars().count())
            .max()
            .unwrap_or(0);
        for row in &self.rows {
            let pad = width - row.what.chars().count();
            text += &format!("  {}{:pad$}  {}\n", row.what, "", row.figures());
        }
        text.trim_end().into()
    }
}

impl Row {
    /// The median with its unit.
    pub(crate) fn value(&self) -> String {
        shown(self.median, &self.unit)
    }

    fn figures(&self) -> String {
        let Row {
            median,
            lowest,
            highest,
            unit,
            ..
        } = self;
        if self.runs == 1 {
            return shown(*median, unit);
        }
        format!(
            "{} ({} to {})",
            shown(*median, unit),
            shown(*lowest, unit),
            shown(*highest, unit)
        )
    }
}

/// A record as the README shows it; its lessons have a table of their own there.
pub(crate) fn markdown(record: &Record) -> String {
    let mut text = format!("**{}**\n", record.title());
    for table in record.tables.iter().filter(|table| table.name != "lesson") {
        text += &format!(
            "\n| {} | median (lowest to highest) |\n|---|---|\n",
            table.title
        );
        for row in &table.rows {
            text += &format!("| {} | {} |\n", row.what, row.figures());
        }
    }
    if let Some(ladder) = &record.ladder {
        text += &format!("\n{}", super::ladder_markdown(ladder, &record.device));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ladder::made_up;

    fn record(commit: &str, tables: &[&str]) -> Record {
        let table = |name: &&str| Table::new(name, commit);
        Record {
            engine: "cuda".into(),
            device: "NVIDIA H200".into(),
            driver: "CUDA 13.0".into(),
            adapter: None,
            commit: commit.into(),
            tables: tables.iter().map(table).collect(),
            ladder: None,
        }
    }

    #[test]
    fn a_ladder_alone_leaves_the_tables_and_tables_leave_the_ladder() {
        let old = record("old", &["step", "frame"]);
        let ladder = Some(made_up::ladder());
        let mut new = record("new", &[]);
        new.ladder = ladder.clone();
        let both = new.over(old);
        assert_eq!((both.commit.as_str(), both.tables.len()), ("old", 2));
        assert_eq!(both.ladder, ladder);

        let later = record("new", &["step"]).over(both.clone());
        assert_eq!((later.commit.as_str(), later.tables.len()), ("new", 1));
        assert_eq!(later.ladder, ladder);

        let same = record("old", &["step"]).over(both);
        let names: Vec<_> = same.tables.iter().map(|table| &*table.name).collect();
        assert_eq!(names, ["step", "frame"]);
    }
}
