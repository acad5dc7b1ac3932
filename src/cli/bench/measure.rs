//! How everything is measured, and the records of it: printed, and stored as JSON.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::cli::options::TABLES;
use crate::cli::text::{columns, say};
use engine::{DeviceInfo, Kernel, kernels};
use experiment::{Executor, Plan, Round, Turn};
use lang::numbers::quantity;
use life::{Size, write_atomically};
use session::instances::{Event, Sim, open_engine};
use session::trace::TimedRound;
use session::{DeviceChoice, PicturePlan, Request, Setting, Setup, Share, Switches};
use ui::ladder::Ladder;
use window::list_adapters;

/// Runs of each measurement.
pub(super) const RUNS: usize = 5;

/// How long a run takes at least.
pub(super) const RUN: Duration = Duration::from_millis(250);

/// Says how far a measurement is.
pub(super) type Tell<'a> = &'a dyn Fn(&str) -> Result<()>;

/// A setup to measure.
pub(super) fn setup(
    kernel: &str,
    instances: usize,
    side: u64,
    device: DeviceChoice,
) -> Result<Setup> {
    let kernel = kernels::find(kernel).expect("a kernel of the table");
    let size = Size::new(side, side)?;
    Ok(Setup::new(instances, size, kernel, device))
}

/// The setup's lattices, uploaded, and their rounds, which download pictures of bits.
pub(crate) fn with_pictures(setup: &Setup) -> Result<(Sim, Share)> {
    let mut sim = Sim::new(open_engine(setup.device)?, setup, 0)?;
    sim.set_to_start(setup)?;
    sim.finish()?;
    let share = sim.all(&setup.setting, Some(PicturePlan::BITS));
    sim.ensure(std::slice::from_ref(&share))?;
    Ok((sim, share))
}

/// Compares the time of a round, in milliseconds, with a setting (subject 0) and with the same of another
/// kernel and other switches (subject 1), with one round in flight: rounds of both step the same lattices in
/// turn, in windows some seconds apart, as in lessons.
///
/// # Errors
/// There is no room for both on the device, or the engine fails.
pub(crate) fn compare(
    sim: &mut Sim,
    before: &Setting,
    (kernel, switches): (&'static Kernel, Switches),
    plan: Plan,
) -> Result<Executor> {
    let after = Setting {
        kernel,
        ..before.with_switches(switches)
    };
    let share = |setting| sim.all(setting, Some(PicturePlan::whole(setting)));
    let shares = [before, &after].map(share);
    sim.finish()?;
    sim.ensure(&shares)?;
    let mut executor = Executor::new(2, 7, plan);
    execute(&mut executor, &mut |subject| {
        sim.enter(&shares[subject])?;
        sim.finish()?;
        let before = platform::usage();
        let (took, _) = round(sim, &shares[subject], Request::of(1))?;
        let used = platform::usage();
        Ok(Round {
            time: took.as_secs_f64() * 1e3,
            lasted: took,
            cpu: used.cpu - before.cpu,
            is_preempted: used.is_preempted_since(before),
        })
    })?;
    Ok(executor)
}

/// Makes the rounds that an executor asks for, each by `round`, until it is done.
pub(super) fn execute(
    executor: &mut Executor,
    round: &mut dyn FnMut(usize) -> Result<Round>,
) -> Result<()> {
    loop {
        match executor.next_turn() {
            Turn::Round(subject) => {
                executor.record(round(subject)?, Instant::now());
            }
            Turn::Wait(time) => std::thread::sleep(time),
            Turn::Done => return Ok(()),
        }
    }
}

/// Issues a round and waits for its end. Returns how long it took; if it was timed, how, and its launches per
/// instance.
pub(super) fn round(
    sim: &mut Sim,
    share: &Share,
    request: Request,
) -> Result<(Duration, Option<(TimedRound, u32)>)> {
    let mut ended = Default::default();
    let one = |issued| (issued == 0).then_some(request);
    rounds(sim, share, one, |event| {
        if let Event::Round { took, timed, round } = event {
            ended = (took, timed.map(|timed| (timed, round.launches())));
        }
    })?;
    Ok(ended)
}

/// Issues the rounds that `next` returns for the number of rounds issued so far, and handles all events until
/// it returns none and the last round has ended.
pub(super) fn rounds(
    sim: &mut Sim,
    share: &Share,
    next: impl Fn(u64) -> Option<Request>,
    mut hear: impl FnMut(Event),
) -> Result<()> {
    let (mut issued, mut done) = (0, 0);
    loop {
        let request = next(issued);
        if let Some(request) = request
            && sim.issue(share, request, |_| false)?
        {
            issued += 1;
        }
        sim.poll(|event| {
            done += u64::from(matches!(event, Event::Round { .. }));
            hear(event);
        })?;
        if request.is_none() && done == issued {
            return Ok(());
        }
        if request.is_none() || sim.depth() > 1 {
            sim.wait(Duration::from_millis(1));
        }
    }
}

/// Whether a device surely has the memory for a setup (its bits and another layout's, both twice,
/// in half of it); says on stderr what is left out.
pub(super) fn fits(setup: &Setup) -> Result<bool> {
    let engine = open_engine(setup.device)?;
    let bytes = 4 * setup.size.bytes() * setup.instances as u64;
    let memory = engine.devices().first().and_then(|device| device.memory);
    let fits = memory.is_some_and(|memory| bytes < memory / 2);
    if !fits {
        let (instances, size) = (setup.instances, setup.size);
        say(&format!(
            "left out: {instances} × {size}, too large for this device"
        ));
    }
    Ok(fits)
}

/// The median of some runs, the lowest and the highest.
pub(crate) fn spread(runs: &[f64]) -> [f64; 3] {
    let mut sorted = runs.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    [
        sorted[sorted.len() / 2],
        sorted[0],
        sorted[sorted.len() - 1],
    ]
}

// Measurements with their machine and commit: printed, and stored as JSON.

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
    /// Its name on the command line: `default` or `frame`
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
        self.push(what.into(), unit, spread(runs), runs.len());
    }

    /// Adds the time of a subject's rounds in milliseconds.
    pub(super) fn add_time(&mut self, what: String, executor: &Executor, subject: usize) {
        let times = executor.times.as_ref();
        let time = times.map_or(f64::NAN, |times| times[subject]);
        let [low, high] = executor.interval(subject).unwrap_or([time; 2]);
        self.push(what, "ms", [time, low, high], executor.windows());
    }

    /// Adds the time of the second subject's rounds, as a multiple of the first one's.
    pub(super) fn add_factor(&mut self, what: String, executor: &Executor) {
        if let Some((found, _)) = executor.across_windows(1, 0) {
            let (ratio, [low, high]) = (found.ratio, found.interval);
            self.push(what, "times", [ratio, low, high], executor.windows());
        }
    }

    fn push(&mut self, what: String, unit: &str, [median, low, high]: [f64; 3], runs: usize) {
        self.rows.push(Row {
            what,
            median,
            lowest: low.min(median),
            highest: high.max(median),
            unit: unit.into(),
            runs,
        });
    }

    /// As text.
    pub(super) fn shown(&self) -> String {
        let mut text = format!("\n{}: {}\n", self.name, self.title);
        let rows = self.rows.iter().map(|row| {
            let range = format!("{}; n = {}", row.range(), row.runs);
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
    use crate::cli::bench::frame;
    use experiment::Limits;
    use ui::fixtures;

    #[test]
    fn both_settings_are_measured_in_every_window() {
        let setup = setup("bits", 4, 64, DeviceChoice::Cpu).unwrap();
        let (mut sim, share) = with_pictures(&setup).unwrap();
        let limits = Limits {
            window: Duration::ZERO,
            ..Limits::three_windows(Duration::from_millis(1))
        };
        let changed = (kernels::find("global").unwrap(), setup.setting.switches);
        let executor = compare(&mut sim, &share.setting, changed, Plan::Windows(limits)).unwrap();
        let mut table = Table::new("frame", &frame::apart(&limits));
        table.add_time("before".into(), &executor, 0);
        table.add_time("after".into(), &executor, 1);
        table.add_factor("the factor".into(), &executor);
        let [before, after, factor] = [0, 1, 2].map(|row| table.rows[row].median);
        assert!((factor * before / after - 1.0).abs() < 1e-9, "{table:?}");
        let text = table.shown();
        let title = "compared in 3 windows 0.001 s apart";
        assert!(
            text.contains(title) && text.matches("; n = 3").count() == 3,
            "{text}"
        );
    }

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
        old.ladder = ui::ladder::recorded(fixtures::DEVICE).cloned();
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
