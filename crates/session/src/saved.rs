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
mod reading;

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::error::Category;

use crate::copies::Snapshot;
use crate::log::{Log, Position};
use crate::{
    DeviceChoice, KernelChoice, OwnRound, Pace, Setup, Split, StoredKernel, Switches, TimeSettings,
};
use engine::Kernel;
use engine::kernels::{self, KERNELS};
use lang::{Message, message, tr};
use life::{SaveError, SaveTarget, Size, read_regular_file, shown};
use own_kernel::OwnKernel;

/// A session as it is saved in a file.
#[derive(Clone, Debug)]
pub struct SavedSession {
    /// The settings. Instances, size, rule and start are those of the main log at its position. Read
    /// from a file, a kernel of the user's own is [stored](Setup::stored_kernel), and its rung in use.
    pub setup: Setup,
    /// Read from a file, how the session differs from it: its kernel does not take the lattices' size, or
    /// it has a start that cannot be made.
    pub notices: Vec<Message>,
    /// The session itself.
    pub main: SavedTimeline,
    /// The comparison of A and B, while there is one.
    pub comparison: Option<SavedComparison>,
    /// Whether rounds follow one another.
    pub running: bool,
    /// The selected instance.
    pub selected: usize,
    /// Texts in the editor.
    pub drafts: Drafts,
}

/// Texts that the user wrote in the editor, run or not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Drafts {
    /// A round's script.
    pub round: Option<Arc<str>>,
    /// A kernel's source.
    pub kernel: Option<Arc<str>>,
}

/// A log, a position on it, and cells to continue from.
#[derive(Clone, Debug)]
pub struct SavedTimeline {
    /// The log.
    pub log: Log,
    /// The session's position on the log.
    pub position: Position,
    /// Copies from which it goes on, ascending: of the log's base, unless that is a start, and the newest
    /// that leads to the position.
    pub copies: Vec<Snapshot>,
}

/// A comparison of two settings.
#[derive(Clone, Debug)]
pub struct SavedComparison {
    /// B's switches; A's are the setup's.
    pub second: Switches,
    /// The comparison's own log.
    pub timeline: SavedTimeline,
}

/// Why a session's file was refused: where and why.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SavedError {
    message: Message,
    /// Whether the file is valid, but this machine lacks memory for its lattices.
    pub lacks_memory: bool,
}

impl SavedError {
    /// Line and column are counted from 1; 0 where none is to blame.
    fn new(path: &Path, (line, column): (usize, usize), reason: Message) -> SavedError {
        let place = match line {
            0 => String::new(),
            _ => format!(", line {line}, column {column}"),
        };
        SavedError {
            message: message!(
                "{path}{place}: {reason}; the file was not changed",
                path = path.display()
            ),
            lacks_memory: false,
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

    /// Checks that the file that this session is written to can be opened again.
    pub(crate) fn check(&self) -> Result<(), Message> {
        file::File::of(self).session().map(drop)
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
        match read_regular_file(path, MAX_FILE_BYTES) {
            Ok(text) => SavedSession::parse(path, text),
            Err(error) => {
                let why = message!("it cannot be read: {error}");
                Err(SavedError::new(path, (0, 0), why))
            }
        }
    }

    /// Reads the text of a file.
    fn parse(path: &Path, text: Vec<u8>) -> Result<SavedSession, SavedError> {
        let file = read(path, &text)?;
        drop(text); // before anything else is made
        let session = file.session();
        let mut session = session.map_err(|why| SavedError::new(path, (0, 0), why))?;
        if let Some(stored) = &mut session.setup.stored_kernel {
            Arc::make_mut(stored).file = shown(path);
        }
        Ok(session)
    }
}

/// Reads a file of this format, or says where and why that is impossible.
fn read(path: &Path, text: &[u8]) -> Result<file::File, SavedError> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let (file, reading) = reading::read(|| serde_path_to_error::deserialize(&mut json));
    let (error, field) = match (file, json.end()) {
        (Ok(file), Ok(())) => return Ok(file),
        (Ok(_), Err(error)) => (error, None),
        (Err(error), _) => {
            let field = error.path().iter().next().map(|_| error.path().to_string());
            (error.into_inner(), field)
        }
    };
    let why = match (error.classify(), reading.fault) {
        (_, Some(why)) if reading.lacks_memory => why,
        (Category::Eof, _) => {
            message!("the file was cut off here; restore a copy of it, or name another file")
        }
        (Category::Data, why) => check_format(format_of(text)).err().unwrap_or_else(|| {
            let why = why.unwrap_or_else(|| type_fault(&error));
            field_fault(field.as_deref(), &why)
        }),
        (Category::Syntax | Category::Io, _) => message!(
            "this is not a session that lifestreams saved, or it is damaged here; restore a copy of it, or name another file"
        ),
    };
    Err(SavedError {
        lacks_memory: reading.lacks_memory,
        ..SavedError::new(path, (error.line(), error.column()), why)
    })
}

/// What the parser says, without the place, which is said with the file's name.
fn type_fault(error: &serde_json::Error) -> Message {
    let reason = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    reason.strip_suffix(&place).unwrap_or(&reason).into()
}

/// What is wrong with a field, or if none is named the whole, on one line that is not too long.
fn field_fault(field: Option<&str>, reason: &Message) -> Message {
    /// In characters: a lattice's text may have millions.
    const MAX_LENGTH: usize = 200;
    Message::new(|| {
        let sentence = match field {
            Some(field) => tr!("'{field}' is wrong: {reason}"),
            None => reason.to_string(),
        };
        sentence.chars().take(MAX_LENGTH).collect::<String>()
    })
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

fn check_format(format: Option<u64>) -> Result<(), Message> {
    match format {
        Some(FORMAT) => Ok(()),
        Some(other) => Err(message!(
            "it has format {other}, and this program reads format {own}; use the lifestreams that saved it",
            own = FORMAT
        )),
        None => Err(message!(
            "this is not a session that lifestreams saved; name another file"
        )),
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
    /// The script of the round that a user wrote, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_round: Option<String>,
    /// The kernel that a user wrote, if any. While it is in use, `kernel` is its rung.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_kernel: Option<KernelSource>,
    /// The script of a round in the editor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    round_draft: Option<String>,
    /// The source of a kernel in the editor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kernel_draft: Option<String>,
}

/// A kernel of the user's own.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct KernelSource {
    source: String,
    in_use: bool,
}

impl KernelSource {
    fn of(setup: &Setup) -> Option<KernelSource> {
        let stored = setup.stored_kernel.as_ref();
        // Lattices of another size may have another rung meanwhile.
        let stored = stored.map(|it| (&*it.source, it.in_use && it.rung == setup.kernel));
        let own = setup.own_kernel.and_then(|kernel| kernel.own.as_ref());
        let runs = own.map(|own| (own.source.as_str(), setup.kernel.own.is_some()));
        let (source, in_use) = runs.or(stored)?;
        Some(KernelSource {
            source: source.to_owned(),
            in_use,
        })
    }

    /// What it declares, with `rung` in use.
    fn read(self, rung: &'static Kernel) -> Result<StoredKernel, Message> {
        let kernel = OwnKernel::read(self.source.into_bytes()).map_err(Message::of)?;
        if self.in_use && kernel.rung != rung {
            return Err(message!(
                "the kernel of your own is written from {own}, and '{used}' is in use",
                own = kernel.rung.file,
                used = rung.name
            ));
        }
        Ok(StoredKernel {
            source: kernel.source.into(),
            rung: kernel.rung,
            in_use: self.in_use,
            file: String::new(),
        })
    }
}

impl Settings {
    fn of(session: &SavedSession) -> Settings {
        let setup = &session.setup;
        let paces = Pace::MIN_PER_SECOND..=Pace::MAX_PER_SECOND;
        Settings {
            kernel: KernelName(setup.kernel.rung()),
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
            own_round: setup.own_round.as_ref().map(|own| own.source().to_string()),
            own_kernel: KernelSource::of(setup),
            round_draft: session.drafts.round.as_deref().map(str::to_owned),
            kernel_draft: session.drafts.kernel.as_deref().map(str::to_owned),
        }
    }

    /// A session with these settings, after checks that they fit its lattices.
    fn session(
        mut self,
        main: SavedTimeline,
        mut comparison: Option<SavedComparison>,
        running: bool,
        selected: usize,
    ) -> Result<SavedSession, Message> {
        if let Some(rounds) = self.pace
            && !(Pace::MIN_PER_SECOND..=Pace::MAX_PER_SECOND).contains(&rounds)
        {
            return Err(message!(
                "its pace is {rounds} rounds/s; take {slowest} to {fastest}",
                slowest = Pace::MIN_PER_SECOND,
                fastest = Pace::MAX_PER_SECOND
            ));
        }
        let history = self.time.history_bytes;
        if history > TimeSettings::MAX_HISTORY_BYTES {
            return Err(message!(
                "its history takes {} bytes; take at most {most}",
                history,
                most = TimeSettings::MAX_HISTORY_BYTES
            ));
        }
        let stored = self.own_kernel.map(|own| own.read(self.kernel.0));
        let mut stored = stored.transpose()?;
        let parameters = main.log.parameters(main.position.records);
        let compared = comparison.as_ref().map(|comparison| &comparison.timeline);
        let compared = compared.map(|own| own.log.parameters(own.position.records));
        let second = comparison.as_mut().map(|comparison| &mut comparison.second);
        let mut switches = [Some(&mut self.switches), second];
        for switches in switches.iter().flatten() {
            let why = || switches.incompatibility(self.kernel.0);
            if why().is_some() {
                return Err(Message::new(|| why().unwrap_or_default()));
            }
        }
        // During a comparison the lattices may have another size than before and after it.
        let sizes = std::iter::once(&parameters).chain(&compared);
        let sizes: Vec<_> = sizes.map(|parameters| parameters.size).collect();
        let kernel = nearest_rung(self.kernel.0, &sizes);
        let mut notices = Vec::new();
        if kernel != self.kernel.0 {
            notices.push(message!(
                "Kernel {unsuited} does not support the lattice size in this file; {kernel} takes its place",
                unsuited = self.kernel.0.name,
                kernel = kernel.name
            ));
            let switches = switches.iter_mut().flatten();
            switches.for_each(|switches| **switches = switches.fitted_to(kernel));
            stored.iter_mut().for_each(|stored| stored.in_use = false);
        }
        let instances = compared.as_ref().unwrap_or(&parameters).instances;
        if selected >= instances {
            return Err(message!(
                "instance {selected} is selected, but there are {instances}, counted from 0"
            ));
        }
        let own_round = |source: String| OwnRound::new(source.into(), parameters.instances);
        let own_round = self.own_round.map(own_round);
        Ok(SavedSession {
            setup: Setup {
                instances: parameters.instances,
                size: parameters.size,
                rule: parameters.rule,
                start: parameters.start,
                kernel,
                own_kernel: None,
                stored_kernel: stored.map(Arc::new),
                kernel_choice: KernelChoice::Explicit,
                device: self.device.0,
                split: Split::default(), // whoever opens the file says so
                switches: self.switches,
                own_round: own_round.map(Arc::new),
                generations_per_round: self.generations_per_round.get(),
                pace: match self.pace {
                    _ if self.maximum => Pace::Maximum,
                    Some(rounds) => Pace::PerSecond(rounds),
                    None => Pace::Unthrottled,
                },
                rounds: None,
                time: self.time,
            },
            notices,
            main,
            comparison,
            running,
            selected,
            drafts: Drafts {
                round: self.round_draft.map(Arc::from),
                kernel: self.kernel_draft.map(Arc::from),
            },
        })
    }
}

/// The rung that is nearest to this one among those that take lattices of these sizes.
fn nearest_rung(rung: &'static Kernel, sizes: &[Size]) -> &'static Kernel {
    let takes = |kernel: &Kernel| sizes.iter().all(|it| kernel.supports(*it));
    let rungs = KERNELS.iter().filter(|kernel| takes(kernel));
    let nearest = rungs.min_by_key(|kernel| kernel.index().abs_diff(rung.index()));
    nearest.unwrap_or(rung)
}

/// A value that is text in the file.
struct Text<T>(T);

impl<T: fmt::Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text<T>, D::Error> {
        let text = String::deserialize(from)?;
        let value = text.parse().map(Text);
        value.map_err(|error| reading::refuse(Message::of(error)))
    }
}

struct KernelName(&'static Kernel);

impl Serialize for KernelName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.name)
    }
}

impl<'de> Deserialize<'de> for KernelName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<KernelName, D::Error> {
        let name = String::deserialize(from)?;
        let found = kernels::find(&name).map(KernelName);
        found.ok_or_else(|| reading::refuse(message!("there is no kernel '{name}'")))
    }
}
