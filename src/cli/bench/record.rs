//! Measurements with their machine and commit: printed, and stored as JSON.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::spread;
use crate::cli::options::TABLES;
use crate::cli::text::columns;
use engine::DeviceInfo;
use experiment::Executor;
use lang::numbers::quantity;
use life::write_atomically;
use session::DeviceChoice;
use session::instances::open_engine;
use ui::ladder::Ladder;
use window::list_adapters;

/// Everything measured on one device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// `cuda` or `cpu`.
    pub engine: String,
    /// The computing device.
    pub device: String,
    /// Of the latest run.
    #[serde(flatten)]
    pub origin: Origin,
    /// The tables; each has an origin of its own, since each can be measured by itself.
    pub tables: Vec<Table>,
    /// The ladder, with a commit of its own: it is measured by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ladder: Option<Ladder>,
}

/// The build that was measured, and the machine's software.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Origin {
    /// The computing device's driver.
    pub driver: String,
    /// The drawing GPU, if there is one.
    pub adapter: Option<String>,
    /// The commit that was built.
    pub commit: String,
}

/// Figures that belong together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    /// Its name on the command line: `default`, `frame`, `ui` …
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Its origin.
    pub origin: Origin,
    /// The figures.
    pub rows: Vec<Row>,
}

/// A figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// What was measured.
    pub what: String,
    /// The median of the runs.
    pub median: f64,
    /// The lowest; of settings that are compared, the low end of the interval.
    pub lowest: f64,
    /// The highest; of settings that are compared, the high end of the interval.
    pub highest: f64,
    /// Of all three.
    pub unit: String,
    /// How many runs, or how many windows of many rounds.
    pub runs: usize,
    /// Whether there were windows, in which settings were compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_windows: bool,
}

impl Record {
    /// An empty one for this machine.
    pub(super) fn of(device: DeviceChoice, adapter: Option<&str>) -> Result<Record> {
        let engine = open_engine(device)?;
        let join = |part: fn(&DeviceInfo) -> &str| {
            let parts: Vec<&str> = engine.devices().iter().map(part).collect();
            parts.join(" + ")
        };
        let (device, driver) = (join(|it| &it.name), join(|it| &it.driver));
        let wanted = adapter.unwrap_or_default().to_lowercase();
        let adapter = list_adapters()
            .into_iter()
            .map(|adapter| adapter.title())
            .find(|title| title.to_lowercase().contains(&wanted));
        let commit = env!("LIFESTREAMS_COMMIT").to_string();
        Ok(Record {
            engine: engine.name().into(),
            device,
            origin: Origin {
                driver,
                adapter,
                commit,
            },
            tables: Vec::new(),
            ladder: None,
        })
    }

    /// Where and with what.
    pub fn title(&self) -> String {
        self.origin.title(&self.device)
    }

    /// Adds a table that this run measured.
    pub(super) fn add(&mut self, table: Table) {
        let origin = self.origin.clone();
        self.tables.push(Table { origin, ..table });
    }

    /// Adds the tables and the ladder of an older record that were not measured again.
    fn over(mut self, old: Record) -> Record {
        let measured = |table: &Table| self.tables.iter().any(|new| new.name == table.name);
        let kept: Vec<Table> = old.tables.into_iter().filter(|it| !measured(it)).collect();
        self.tables.extend(kept);
        let place = |table: &Table| TABLES.iter().position(|name| *name == table.name);
        self.tables
            .sort_by_key(|it| place(it).unwrap_or(TABLES.len()));
        self.ladder = self.ladder.or(old.ladder);
        self
    }

    /// Its file in a folder, named after the device.
    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        };
        let name: String = self.device.chars().map(plain).collect();
        let parts: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
        folder.join(format!("{}.json", parts.join("-")))
    }

    /// Writes it to its file. Tables that were not measured again stay there.
    pub(super) fn write(&self, folder: &Path) -> Result<PathBuf> {
        let path = self.path(folder);
        let whole = match std::fs::read_to_string(&path) {
            Ok(text) => {
                let old: Record = serde_json::from_str(&text)
                    .with_context(|| format!("{} is no record; move it away", path.display()))?;
                self.clone().over(old)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => self.clone(),
            Err(error) => Err(error).with_context(|| path.display().to_string())?,
        };
        let text = serde_json::to_string_pretty(&whole)? + "\n";
        write_atomically(&path, |out| out.write_all(text.as_bytes()))?;
        Ok(path)
    }
}

impl Origin {
    /// In words, behind the device that was measured.
    pub fn title(&self, device: &str) -> String {
        let Origin {
            driver,
            adapter,
            commit,
        } = self;
        let drawing = adapter
            .as_ref()
            .map_or(String::new(), |adapter| format!("; drawing: {adapter}"));
        let commit = &commit[..commit.len().min(12)];
        format!("{device} ({driver}){drawing}; commit {commit}")
    }
}

impl Table {
    /// An empty one; [`Record::add`] says from where it is.
    pub(super) fn new(name: &str, title: &str) -> Table {
        Table {
            name: name.into(),
            title: title.into(),
            origin: Origin::default(),
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
            in_windows: false,
        });
    }

    /// Adds a figure with its interval, from this many windows.
    pub(super) fn add_windows(
        &mut self,
        what: String,
        unit: &str,
        value: f64,
        [low, high]: [f64; 2],
        windows: usize,
    ) {
        self.rows.push(Row {
            what,
            median: value,
            lowest: low.min(value),
            highest: high.max(value),
            unit: unit.into(),
            runs: windows,
            in_windows: true,
        });
    }

    /// Adds the time of a subject's rounds in milliseconds.
    pub(super) fn add_time(&mut self, what: String, executor: &Executor, subject: usize) {
        let time = executor.times().map_or(f64::NAN, |times| times[subject]);
        let interval = executor.interval(subject).unwrap_or([time; 2]);
        self.add_windows(what, "ms", time, interval, executor.windows());
    }

    /// Adds the time of the second subject's rounds, as a multiple of the first one's.
    pub(super) fn add_factor(&mut self, what: String, executor: &Executor) {
        if let Some((found, _)) = executor.across_windows(1, 0) {
            let (ratio, windows) = (found.ratio, executor.windows());
            self.add_windows(what, "times", ratio, found.interval, windows);
        }
    }

    /// As text.
    pub(super) fn shown(&self) -> String {
        let mut text = format!("\n{}: {}\n", self.name, self.title);
        let rows = self.rows.iter().map(|row| {
            let of = if row.in_windows { "windows" } else { "runs" };
            let range = format!("{}; {} {of}", row.range(), row.runs);
            vec![row.what.clone(), range]
        });
        for line in columns(&rows.collect::<Vec<_>>()) {
            text += &format!("  {line}\n");
        }
        text.trim_end().into()
    }
}

impl Row {
    /// The median with its unit, and the lowest and the highest.
    pub fn range(&self) -> String {
        let shown = [self.median, self.lowest, self.highest].map(|it| quantity(it, &self.unit));
        let [median, lowest, highest] = shown;
        if lowest == highest {
            return median;
        }
        format!("{median} ({lowest} to {highest})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ui::fixtures;

    fn record(commit: &str, tables: &[&str]) -> Record {
        let mut record = Record {
            engine: "cuda".into(),
            device: "NVIDIA H200".into(),
            origin: Origin {
                driver: format!("driver of {commit}"),
                adapter: None,
                commit: commit.into(),
            },
            tables: Vec::new(),
            ladder: None,
        };
        for name in tables {
            record.add(Table::new(name, commit));
        }
        record
    }

    #[test]
    fn what_is_measured_anew_is_replaced_and_all_else_stays_with_its_own_commit() {
        let folder = tempfile::tempdir().unwrap();
        let mut old = record("old", &["default", "frame", "lesson"]);
        old.ladder = Some(fixtures::ladder());
        old.write(folder.path()).unwrap();
        let path = record("new", &["ui", "frame"])
            .write(folder.path())
            .unwrap();
        assert_eq!(path.file_name().unwrap(), "nvidia-h200.json");
        let text = std::fs::read_to_string(&path).unwrap();
        let new: Record = serde_json::from_str(&text).unwrap();
        let tables = new.tables.iter();
        let tables: Vec<_> = tables.map(|it| (&*it.name, &*it.origin.commit)).collect();
        let wanted = [
            ("default", "old"),
            ("frame", "new"),
            ("ui", "new"),
            ("lesson", "old"),
        ];
        assert_eq!((&tables[..], &new.ladder), (&wanted[..], &old.ladder));
        assert_eq!(new.tables[0].origin.driver, "driver of old");
        // What is no record is left as it is.
        std::fs::write(&path, "{}").unwrap();
        let error = old.write(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is no record; move it away"), "{error}");
        assert_eq!(std::fs::read_to_string(path).unwrap(), "{}");
    }
}
