//! A session in a file: its log, its position on it, and its cells.
//!
//! The file is JSON with each lattice as the text of an RLE file, so that it can be read, compared
//! and taken apart with ordinary tools. It has the base of the log, the records since, the position
//! and the newest snapshot: the session goes on from the snapshot, and can still go back as far as
//! the log does. What could be redone is not saved.
//!
//! Loading checks everything: a file that this program cannot have written is refused with a
//! sentence that names the field and the line. It takes no more memory than the machine has.

mod cells;
mod file;

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};
use serde_json::error::Category;

use crate::log::{Log, Position};
use engine::kernels;
use lang::tr;
use life::{Lattice, SaveError, SaveTarget, read_regular_file};
use model::words::{self, shown};
use model::{DeviceChoice, InWords, KernelChoice, Pace, Setup, Switches, TimeSettings};

/// A session as it is saved in a file.
#[derive(Clone, Debug)]
pub struct SavedSession {
    /// The settings. Instances, size, rule and start are those of the main log at its position.
    pub setup: Setup,
    /// The session itself.
    pub main: SavedTimeline,
    /// The comparison of A and B, while there is one.
    pub comparison: Option<SavedComparison>,
    /// Whether rounds follow one another.
    pub running: bool,
    /// The selected instance.
    pub selected: usize,
}

/// A log, a position on it, and cells to continue from.
#[derive(Clone, Debug)]
pub struct SavedTimeline {
    /// The log.
    pub log: Log,
    /// The session's position on the log.
    pub position: Position,
    /// The lattices of the log's base, unless that is a start.
    pub base: Option<Vec<Arc<Lattice>>>,
    /// The newest known lattices and their position, which is that of the session or earlier.
    pub newest: (Position, Vec<Arc<Lattice>>),
}

/// A comparison of two settings.
#[derive(Clone, Debug)]
pub struct SavedComparison {
    /// B's switches; A's are the setup's.
    pub second: Switches,
    /// The comparison's own log.
    pub timeline: SavedTimeline,
}

/// The reason why a session's file was refused.
#[derive(Debug, thiserror::Error)]
#[error("{}", tr!("{path}{place}: {reason}; the file was not changed", path = .path, place = .place, reason = .reason))]
pub struct SavedError {
    /// The file.
    pub path: String,
    place: Place,
    reason: String,
    /// Whether the file is valid, but this machine lacks memory for its lattices.
    pub lacks_memory: bool,
}

/// A line and a column, counted from 1, or none.
#[derive(Clone, Copy, Debug)]
struct Place(usize, usize);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place(0, _) => Ok(()),
            Place(line, column) => write!(f, ", line {line}, column {column}"),
        }
    }
}

/// Maximum size of a file in bytes.
const MAX_FILE_BYTES: u64 = 16 << 30;

/// The first bytes of a file; `None` for what is no file or has no length, which may block when read.
fn beginning(path: &Path) -> Option<Vec<u8>> {
    let about = path.metadata().ok()?;
    if !about.is_file() || about.len() == 0 {
        return None;
    }
    let mut text = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(64).read_to_end(&mut text).ok()?;
    Some(text)
}

impl SavedSession {
    /// Writes the file atomically.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn save(&self, path: &Path) -> Result<(), SaveError> {
        self.write_to(&SaveTarget::find(path)?).map(drop)
    }

    /// Writes a file atomically, and returns its name and the file.
    pub(crate) fn write_to(&self, target: &SaveTarget) -> Result<(PathBuf, File), SaveError> {
        let file = file::File::of(self);
        target.write(|out| {
            serde_json::to_writer_pretty(&mut *out, &file)?;
            out.write_all(b"\n")
        })
    }

    /// Whether a file is meant to be a session: it begins as one does, and as no pattern does.
    pub fn is_in(path: &Path) -> bool {
        beginning(path).is_some_and(|text| text.trim_ascii_start().starts_with(b"{"))
    }

    /// Whether a file begins as every session that this program saves.
    pub fn was_saved_in(path: &Path) -> bool {
        let begins =
            |text: Vec<u8>| String::from_utf8_lossy(&text).contains("\"lifestreams_session\"");
        beginning(path).is_some_and(begins)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, is not a valid session, or needs more memory than is free.
    pub fn load(path: &Path) -> Result<SavedSession, SavedError> {
        let text = read_regular_file(path, MAX_FILE_BYTES).map_err(|error| {
            let reason = tr!("it cannot be read: {error}", error = error.in_words());
            SavedError::new(path, Place(0, 0), reason)
        })?;
        SavedSession::parse(path, text)
    }

    /// Reads the text of a file.
    fn parse(path: &Path, text: Vec<u8>) -> Result<SavedSession, SavedError> {
        let (file, lacking) = cells::within_memory(|| read(&text));
        let file = file.map_err(|(place, reason)| match lacking {
            Some(error) => SavedError {
                lacks_memory: true,
                ..SavedError::new(path, place, error.in_words())
            },
            None => SavedError::new(path, place, reason),
        })?;
        drop(text); // before anything else is made
        let session = file.session();
        session.map_err(|reason| SavedError::new(path, Place(0, 0), reason))
    }
}

impl SavedError {
    fn new(path: &Path, place: Place, reason: String) -> SavedError {
        SavedError {
            path: shown(path),
            place,
            reason,
            lacks_memory: false,
        }
    }
}

/// Reads a file of this format, or says where and why that is impossible.
fn read(text: &[u8]) -> Result<file::File, (Place, String)> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let file = serde_path_to_error::deserialize(&mut json);
    let (error, field) = match (file, json.end()) {
        (Ok(file), Ok(())) => return Ok(file),
        (Ok(_), Err(error)) => (error, None),
        (Err(error), _) => {
            let field = error.path().iter().next().map(|_| error.path().to_string());
            (error.into_inner(), field)
        }
    };
    let place = Place(error.line(), error.column());
    let reason = match error.classify() {
        Category::Eof => {
            tr!("the file was cut off here; restore a copy of it, or name another file").into()
        }
        Category::Data => check_format(format_of(text))
            .err()
            .unwrap_or_else(|| wrong(field.as_deref(), &error)),
        Category::Syntax | Category::Io => tr!(
            "this is not a session that lifestreams saved, or it is damaged here; restore a copy of it, or name another file"
        )
        .into(),
    };
    Err((place, reason))
}

/// What is wrong with a field, or with the file as a whole, on one line that is not too long.
fn wrong(field: Option<&str>, error: &serde_json::Error) -> String {
    /// In characters: a lattice's text may have millions.
    const MAX_LENGTH: usize = 200;
    let reason = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = reason.strip_suffix(&place).unwrap_or(&reason); // said with the file's name
    let sentence = match field {
        Some(field) => tr!(
            "'{field}' is wrong: {reason}",
            field = field,
            reason = reason
        ),
        None => reason.to_owned(),
    };
    lang::single_line(sentence.chars().take(MAX_LENGTH).collect())
}

/// The version of the format, which stands at the beginning of a file.
const FORMAT: u64 = 2;

/// The format of a file that cannot be read, unless it is no session.
fn format_of(text: &[u8]) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Header {
        lifestreams_session: Option<u64>,
    }
    match serde_json::from_slice(text) {
        Ok(Header {
            lifestreams_session: format,
        }) => format,
        Err(error) if error.is_data() => None,
        Err(_) => Some(FORMAT), // what is wrong comes behind the header
    }
}

fn check_format(format: Option<u64>) -> Result<(), String> {
    match format {
        Some(FORMAT) => Ok(()),
        Some(other) => Err(tr!(
            "it has format {other}, and this program reads format {own}; use the lifestreams that saved it",
            other = other,
            own = FORMAT
        )),
        None => Err(tr!("this is not a session that lifestreams saved; name another file").into()),
    }
}

/// Settings that do not influence the cells.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    kernel: KernelName,
    device: Text<DeviceChoice>,
    switches: Switches,
    generations_per_round: NonZeroU32,
    /// Rounds per second, or `null` for as many as possible.
    pace: Option<f64>,
    /// Whether rounds have as many generations as fit in a frame.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    maximum: bool,
    time: TimeSettings,
}

impl Settings {
    fn of(setup: &Setup) -> Settings {
        let paces = Pace::MIN_PER_SECOND..=Pace::MAX_PER_SECOND;
        Settings {
            kernel: KernelName(setup.kernel),
            device: Text(setup.device),
            switches: setup.switches,
            generations_per_round: setup
                .generations_per_round
                .try_into()
                .unwrap_or(NonZeroU32::MIN),
            pace: match setup.pace {
                // As `Pace::period` understands those beyond.
                Pace::PerSecond(rounds) => Some(rounds.max(*paces.start()).min(*paces.end())),
                Pace::Unthrottled | Pace::Maximum => None,
            },
            maximum: setup.pace == Pace::Maximum,
            time: TimeSettings {
                history_bytes: setup
                    .time
                    .history_bytes
                    .min(TimeSettings::MAX_HISTORY_BYTES),
                ..setup.time
            },
        }
    }

    /// A session with these settings, after checks that they fit its lattices.
    fn session(
        self,
        main: SavedTimeline,
        comparison: Option<SavedComparison>,
        running: bool,
        selected: usize,
    ) -> Result<SavedSession, String> {
        let (slowest, fastest) = (Pace::MIN_PER_SECOND, Pace::MAX_PER_SECOND);
        if let Some(rounds) = self.pace
            && !(slowest..=fastest).contains(&rounds)
        {
            return Err(tr!(
                "its pace is {rounds} rounds/s; take {slowest} to {fastest}",
                rounds = rounds,
                slowest = slowest,
                fastest = fastest
            ));
        }
        let most = TimeSettings::MAX_HISTORY_BYTES;
        if self.time.history_bytes > most {
            return Err(tr!(
                "its history takes {} bytes; take at most {most}",
                self.time.history_bytes,
                most = most
            ));
        }
        let kernel = self.kernel.0;
        let parameters = main.log.parameters(main.position.records);
        let compared = comparison.as_ref().map(|comparison| &comparison.timeline);
        let compared = compared.map(|own| own.log.parameters(own.position.records));
        for parameters in std::iter::once(&parameters).chain(&compared) {
            kernel
                .validate_size(parameters.size)
                .map_err(|error| error.in_words())?;
        }
        let second = comparison.as_ref().map(|comparison| comparison.second);
        for switches in std::iter::once(self.switches).chain(second) {
            switches.incompatibility(kernel).map_or(Ok(()), Err)?;
        }
        let instances = compared.as_ref().unwrap_or(&parameters).instances;
        if selected >= instances {
            return Err(tr!(
                "instance {selected} is selected, but there are {instances}, counted from 0",
                selected = selected,
                instances = instances
            ));
        }
        Ok(SavedSession {
            setup: Setup {
                instances: parameters.instances,
                size: parameters.size,
                rule: parameters.rule,
                start: parameters.start,
                kernel,
                kernel_choice: KernelChoice::Explicit,
                device: self.device.0,
                switches: self.switches,
                generations_per_round: self.generations_per_round.get(),
                pace: match self.pace {
                    _ if self.maximum => Pace::Maximum,
                    Some(rounds) => Pace::PerSecond(rounds),
                    None => Pace::Unthrottled,
                },
                rounds: None,
                time: self.time,
            },
            main,
            comparison,
            running,
            selected,
        })
    }
}

/// A value that is text in the file.
struct Text<T>(T);

impl<T: fmt::Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de, T: FromStr<Err: InWords>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text<T>, D::Error> {
        let text = String::deserialize(from)?;
        words::read(&text).map(Text).map_err(D::Error::custom)
    }
}

struct KernelName(&'static kernels::Kernel);

impl Serialize for KernelName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.name)
    }
}

impl<'de> Deserialize<'de> for KernelName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<KernelName, D::Error> {
        let name = String::deserialize(from)?;
        let found = kernels::find(&name).map(KernelName);
        found.ok_or_else(|| D::Error::custom(tr!("there is no kernel '{name}'", name = name)))
    }
}
