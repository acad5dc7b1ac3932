//! A session in a file: its log, its position on it, and its cells.
//!
//! The file is JSON with each lattice as the text of an RLE file, so that it can be read, compared
//! and taken apart with ordinary tools. It has the log, the position on it and copies of the lattices: the
//! session goes on from the newest, and can still go back as far as the log does. What could be redone is
//! not saved.
//!
//! Loading checks everything: a file that this program cannot have written is refused with a
//! sentence that names the field and the line. It takes no more memory than the machine has.

#[cfg(test)]
mod tests;

use crate::copies::{Packed, SavedTimeline, Snapshot};
use crate::log::{Log, Position, Record, SessionParameters};
use crate::{
    DeviceChoice, KernelChoice, OwnRound, Pace, Setting, Setup, Split, StoredKernel, Switches,
    TimeSettings, text,
};
use directories::ProjectDirs;
use engine::Kernel;
use engine::kernels::KERNELS;
use lang::{Message, message, tr};
use life::{
    KnownFile, SaveError, SaveLock, SaveTarget, Size, check_writable, dated_name, grouped,
    read_regular_file, shown,
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::Read as _;
use std::num::NonZeroU32;
use std::path::{Display, Path, PathBuf};
use std::sync::Arc;
use std::{fs, iter};
use workshop::OwnKernel;

/// A session as it is saved in a file.
#[derive(Clone, Debug)]
pub struct SavedSession {
    /// The settings. Instances, size, rule and start are those of the log at the position. Read from a file,
    /// a kernel of the user's own is [stored](Setup::stored_kernel), and its rung in use.
    pub setup: Setup,
    /// B's switches, while A and B are compared; A's are the setup's.
    pub b_switches: Option<Switches>,
    /// Read from a file, how the session differs from it: its kernel does not take the lattices' size, or
    /// it has a start that cannot be made.
    pub notices: Vec<Message>,
    /// The session itself.
    pub timeline: SavedTimeline,
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

impl SavedSession {
    /// Writes the file atomically.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn save(&self, path: &Path) -> Result<(), SaveError> {
        self.write_to(&SaveTarget::find(path)?).map(drop)
    }

    /// Writes a file atomically, and returns its name and the file.
    fn write_to(&self, target: &SaveTarget) -> Result<(PathBuf, fs::File), SaveError> {
        let file = File::of(self);
        target.write(|out| {
            serde_json::to_writer_pretty(&mut *out, &file)?;
            out.write_all(b"\n")
        })
    }

    /// Checks that the file that this session is written to can be opened again.
    fn check(&self) -> Result<(), Message> {
        File::of(self).session().map(drop)
    }

    /// Whether a file is meant to be a session: it begins as one does, and as no pattern does.
    pub fn is_in(path: &Path) -> bool {
        let mut text = Vec::new();
        // What is no file or has no length may block when it is read.
        let is_file = path.metadata().is_ok_and(|it| it.is_file() && it.len() > 0);
        let read = |file: fs::File| file.take(64).read_to_end(&mut text);
        let is_read = is_file && fs::File::open(path).and_then(read).is_ok();
        is_read && text.trim_ascii_start().starts_with(b"{")
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
        let (session, lacks_memory) = text::within_memory(|| read(&text));
        drop(text);
        let refused = |(place, why)| SavedError {
            lacks_memory,
            ..SavedError::new(path, place, why)
        };
        let mut session = session.map_err(refused)?;
        if let Some(stored) = &mut session.setup.stored_kernel {
            Arc::make_mut(stored).file = shown(path);
        }
        Ok(session)
    }
}

/// What is wrong, and where: line and column.
type Fault = ((usize, usize), Message);

/// Reads a file of this format or of version 2.
fn read(text: &[u8]) -> Result<SavedSession, Fault> {
    #[derive(Deserialize)]
    struct Header {
        lifestreams_session: Option<u64>,
    }
    // Faults of the syntax are found here, wherever they are.
    let header = serde_json::from_slice(text);
    let no_session = || message!("this is not a session that lifestreams saved; name another file");
    let header: Header = header.map_err(|error: serde_json::Error| {
        let why = match error.classify() {
            Category::Eof => {
                message!("the file was cut off here; restore a copy of it, or name another file")
            }
            Category::Data => no_session(),
            Category::Syntax | Category::Io => message!(
                "this is not a session that lifestreams saved, or it is damaged here; restore a copy of it, or name another file"
            ),
        };
        ((error.line(), error.column()), why)
    })?;
    let session = match header.lifestreams_session {
        Some(FORMAT) => typed::<File>(text)?.session(),
        Some(2) => {
            let symmetry = b"\"symmetry\":"; // in a text, the quotes would be escaped
            let is_symmetric = text.windows(symmetry.len()).any(|it| it == symmetry);
            typed::<OldFile>(text)?.session(is_symmetric)
        }
        Some(other) => Err(message!(
            "it has format {other}, and this program reads format {own}; use the lifestreams that saved it",
            own = FORMAT
        )),
        None => Err(no_session()),
    };
    session.map_err(|why| ((0, 0), why))
}

/// Reads a text, or says which field is wrong, if one is, on one line that is not too long.
fn typed<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, Fault> {
    /// In characters: a lattice's text may have millions.
    const MAX_LENGTH: usize = 200;
    let mut json = serde_json::Deserializer::from_slice(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let field = error.path().iter().next().map(|_| error.path().to_string());
        let error = error.into_inner();
        let (line, column) = (error.line(), error.column());
        let reason = error.to_string();
        // The place is said with the file's name.
        let place = format!(" at line {line} column {column}");
        let reason = reason.strip_suffix(&place).unwrap_or(&reason).to_owned();
        let why = Message::new(|| {
            let sentence = match &field {
                Some(field) => tr!("'{field}' is wrong: {reason}"),
                None => reason.clone(),
            };
            sentence.chars().take(MAX_LENGTH).collect::<String>()
        });
        ((line, column), why)
    })
}

/// The version of the format, which stands at the beginning of a file.
const FORMAT: u64 = 3;

/// A session's file.
#[derive(Serialize, Deserialize)]
struct File {
    lifestreams_session: u64,
    settings: Settings,
    running: bool,
    selected: usize,
    timeline: SavedTimeline,
}

impl File {
    fn of(session: &SavedSession) -> File {
        File {
            lifestreams_session: FORMAT,
            settings: Settings::of(session),
            running: session.running,
            selected: session.selected,
            timeline: session.timeline.clone(),
        }
    }

    /// The session, after checks that its parts fit together.
    fn session(self) -> Result<SavedSession, Message> {
        let File {
            mut settings,
            mut timeline,
            running,
            selected,
            ..
        } = self;
        timeline.validate()?;
        let rung = settings.kernel;
        if let Some(rounds) = settings.pace
            && !(Pace::MIN_PER_SECOND..=Pace::MAX_PER_SECOND).contains(&rounds)
        {
            return Err(message!(
                "its pace is {rounds} rounds/s; take {slowest} to {fastest}",
                slowest = Pace::MIN_PER_SECOND,
                fastest = Pace::MAX_PER_SECOND
            ));
        }
        let history = settings.time.history_bytes;
        if history > TimeSettings::MAX_HISTORY_BYTES {
            return Err(message!(
                "its history takes {} bytes; take at most {most}",
                history,
                most = TimeSettings::MAX_HISTORY_BYTES
            ));
        }
        let stored = settings.own_kernel.map(|own| own.read(rung));
        let mut stored = stored.transpose()?;
        let parameters = timeline.log.parameters(timeline.position.records);
        let mut switches = [Some(&mut settings.switches), settings.b_switches.as_mut()];
        for switches in switches.iter().flatten() {
            let why = || switches.incompatibility(rung);
            if why().is_some() {
                return Err(Message::new(|| why().unwrap_or_default()));
            }
        }
        let kernel = nearest_rung(rung, parameters.size);
        let mut notices = Vec::new();
        if kernel != rung {
            notices.push(message!(
                "Kernel {unsuited} does not support the lattice size in this file; {kernel} takes its place",
                unsuited = rung.name,
                kernel = kernel.name
            ));
            let switches = switches.iter_mut().flatten();
            switches.for_each(|switches| **switches = switches.fitted_to(kernel));
            stored.iter_mut().for_each(|stored| stored.in_use = false);
        }
        let instances = parameters.instances;
        if selected >= instances {
            return Err(message!(
                "instance {selected} is selected, but there are {instances}, counted from 0"
            ));
        }
        let own_round = |source| Arc::new(OwnRound::new(source, instances));
        Ok(SavedSession {
            setup: Setup {
                instances,
                size: parameters.size,
                rule: parameters.rule,
                start: parameters.start,
                setting: Setting {
                    kernel,
                    switches: settings.switches,
                    own_round: settings.own_round.map(own_round),
                },
                own_kernel: None,
                stored_kernel: stored.map(Arc::new),
                kernel_choice: KernelChoice::Explicit,
                device: settings.device,
                split: Split::default(), // whoever opens the file says so
                generations_per_round: settings.generations_per_round.get(),
                pace: match settings.pace {
                    _ if settings.maximum => Pace::Maximum,
                    Some(rounds) => Pace::PerSecond(rounds),
                    None => Pace::Unthrottled,
                },
                rounds: None,
                time: settings.time,
            },
            b_switches: settings.b_switches,
            notices,
            timeline,
            running,
            selected,
            drafts: Drafts {
                round: settings.round_draft,
                kernel: settings.kernel_draft,
            },
        })
    }
}

impl SavedTimeline {
    /// Checks what was read from a file.
    fn validate(&mut self) -> Result<(), Message> {
        let (log, here) = (&mut self.log, self.position);
        log.validate()?;
        let positions = self.copies.iter().map(|copy| copy.position);
        for position in iter::once(here).chain(positions) {
            let generation = position.generation;
            if generation > life::MAX_GENERATION {
                return Err(message!(
                    "it has generation {generation}; take at most {most}",
                    most = life::MAX_GENERATION
                ));
            }
            if !log.contains(position) {
                return Err(message!(
                    "generation {} with {} records applied is not on its log",
                    generation,
                    position.records
                ));
            }
            if position > here {
                return Err(message!(
                    "its newest lattices are of generation {}, which comes after its position, generation {}",
                    generation,
                    here.generation
                ));
            }
        }
        for copy in &self.copies {
            let parameters = log.parameters(copy.position.records);
            let (count, instances) = (copy.sizes().len(), parameters.instances);
            let what = message!("its newest lattices");
            if count != instances {
                return Err(message!(
                    "{what}: there are {count} for {instances} instances"
                ));
            }
            let mut sizes = copy.sizes().enumerate();
            if let Some((at, has)) = sizes.find(|(_, size)| *size != parameters.size) {
                return Err(message!(
                    "{what}: instance {at} has size {has}, not {size}",
                    size = parameters.size
                ));
            }
        }
        let lacks = |at: Position| self.copies.iter().all(|copy| copy.position != at);
        if !log.is_start && lacks(log.begin) {
            return Err(message!("it lacks the lattices that its log begins with"));
        }
        if log.comparison().is_some_and(|at| at < here && lacks(at)) {
            return Err(message!(
                "it lacks the lattices before A and B were compared"
            ));
        }
        Ok(())
    }
}

/// Settings that do not influence the cells.
#[derive(Serialize, Deserialize)]
struct Settings {
    #[serde(with = "text::kernel")]
    kernel: &'static Kernel,
    #[serde(with = "text")]
    device: DeviceChoice,
    switches: Switches,
    #[serde(skip_serializing_if = "Option::is_none")]
    b_switches: Option<Switches>,
    generations_per_round: NonZeroU32,
    /// Rounds per second, or `null` for as many as possible.
    pace: Option<f64>,
    /// Whether rounds have as many generations as fit in a frame.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    maximum: bool,
    time: TimeSettings,
    /// The script of the round that a user wrote, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    own_round: Option<Arc<str>>,
    /// The kernel that a user wrote, if any. While it is in use, `kernel` is its rung.
    #[serde(skip_serializing_if = "Option::is_none")]
    own_kernel: Option<KernelSource>,
    /// The script of a round in the editor.
    #[serde(skip_serializing_if = "Option::is_none")]
    round_draft: Option<Arc<str>>,
    /// The source of a kernel in the editor.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel_draft: Option<Arc<str>>,
}

/// A kernel of the user's own.
#[derive(Serialize, Deserialize)]
struct KernelSource {
    source: String,
    in_use: bool,
}

impl KernelSource {
    fn of(setup: &Setup) -> Option<KernelSource> {
        let stored = setup.stored_kernel.as_ref();
        // Lattices of another size may have another rung meanwhile.
        let stored = stored.map(|it| (&*it.source, it.in_use && it.rung == setup.setting.kernel));
        let own = setup.own_kernel.and_then(|kernel| kernel.own.as_ref());
        let runs = own.map(|own| (own.source.as_str(), setup.setting.kernel.own.is_some()));
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
        Settings {
            kernel: setup.setting.kernel.rung(),
            device: setup.device,
            switches: setup.setting.switches,
            b_switches: session.b_switches,
            generations_per_round: setup
                .generations_per_round
                .try_into()
                .unwrap_or(NonZeroU32::MIN),
            pace: match setup.pace {
                Pace::PerSecond(rounds) => Some(rounds),
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
            own_round: setup
                .setting
                .own_round
                .as_ref()
                .map(|own| own.source.clone()),
            own_kernel: KernelSource::of(setup),
            round_draft: session.drafts.round.clone(),
            kernel_draft: session.drafts.kernel.clone(),
        }
    }
}

/// The rung that is nearest to this one among those that take lattices of this size.
fn nearest_rung(rung: &'static Kernel, size: Size) -> &'static Kernel {
    let rungs = KERNELS.iter().filter(|kernel| kernel.supports(size));
    let nearest = rungs.min_by_key(|kernel| kernel.index().abs_diff(rung.index()));
    nearest.unwrap_or(rung)
}

// Files of version 2, which releases before this one have saved.

#[derive(Deserialize)]
struct OldFile {
    settings: Settings,
    running: bool,
    selected: usize,
    main: OldTimeline,
    /// A and B on a log of their own.
    comparison: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct OldTimeline {
    base: OldBase,
    records: VecDeque<Record>,
    position: Position,
    newest: Snapshot,
}

#[derive(Deserialize)]
struct OldBase {
    position: Position,
    is_start: bool,
    #[serde(flatten)]
    parameters: SessionParameters,
    /// Its lattices, unless it is a start or the newest ones are the same.
    lattices: Option<Vec<Packed>>,
}

impl OldTimeline {
    /// With `is_symmetric` it begins with its newest lattices and has nothing later.
    fn timeline(self, is_symmetric: bool) -> Result<SavedTimeline, Message> {
        let (newest, base) = (self.newest, self.base);
        let mut log = Log::from_parts(base.parameters, base.position, base.is_start, self.records);
        if is_symmetric {
            let position = newest.position;
            log.discard_from(position.records);
            log.begin_with(position, newest.lattices().map_err(Message::of)?);
            return Ok(SavedTimeline {
                log,
                position,
                copies: Vec::new(),
            });
        }
        let begin = base.lattices.map(|lattices| Snapshot {
            position: base.position,
            lattices,
        });
        Ok(SavedTimeline {
            log,
            position: self.position,
            copies: begin.into_iter().chain([newest]).collect(),
        })
    }
}

impl OldFile {
    /// The session, without a comparison of A and B. Soups with symmetry cannot be made any more.
    fn session(self, is_symmetric: bool) -> Result<SavedSession, Message> {
        let file = File {
            lifestreams_session: FORMAT,
            settings: self.settings,
            running: self.running,
            selected: self.selected,
            timeline: self.main.timeline(is_symmetric)?,
        };
        let mut session = file.session()?;
        if self.comparison.is_some() {
            session.notices.push(message!(
                "The comparison of A and B in this file has ended; every lattice is as it was before"
            ));
        }
        if is_symmetric {
            session.notices.push(message!(
                "Symmetric soups are not supported: the session begins with the file's lattices of generation {}",
                grouped(session.timeline.position.generation)
            ));
        }
        Ok(session)
    }
}

// The file of a session: how it is written, and where else if that is impossible.

/// A session that is not in its file: either it could not be saved, or it is saved in another file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct NotSaved {
    /// The sentence.
    pub message: Message,
    /// Whether the machine lacks something: room on the disk of its file, or a device that answers.
    pub machine_lacks: bool,
}

impl NotSaved {
    /// What could not be written for this reason. `told` says in which other file it is, if there is a
    /// folder for that; it may not have been written there either.
    pub fn elsewhere(
        error: &SaveError,
        written: Option<Result<PathBuf, SaveError>>,
        told: impl FnOnce(Display) -> Message,
    ) -> NotSaved {
        NotSaved {
            message: match written {
                None => Message::of(error),
                Some(Ok(path)) => told(path.display()),
                Some(Err(second)) => message!(
                    "{error}; nor could it be saved in {path}: {reason}",
                    path = second.path.display(),
                    reason = second.reason
                ),
            },
            machine_lacks: error.is_disk_full,
        }
    }
}

/// The folder for this program's state, in which what cannot be saved where it should is saved.
pub fn state_folder() -> Option<PathBuf> {
    let folders = ProjectDirs::from("", "", "lifestreams")?;
    let folder = folders.state_dir().unwrap_or(folders.data_local_dir());
    // Where it cannot be made, neither can a file in it, which says why.
    let _ = fs::create_dir_all(folder);
    Some(folder.to_owned())
}

/// Where a session is saved, and what it continues.
#[derive(Clone, Debug, Default)]
pub struct SessionFile {
    /// The file to save the session in, if any.
    pub(crate) own: OwnFile,
    /// The saved session to continue; `None` for a new session.
    pub from: Option<SavedSession>,
}

impl SessionFile {
    /// Reserves this file for a new session, until the session ends or leaves the file. The file is
    /// taken as it is now: a change by another program after this call is noticed.
    ///
    /// # Errors
    /// Nothing can be saved there, or another process has reserved it.
    pub fn reserve(path: &Path) -> Result<SessionFile, SaveError> {
        check_writable(path)?;
        let lock = SaveTarget::find(path)?.lock()?;
        if lock.is_none() {
            tracing::warn!(
                "no lock can be made next to {}: another process that saves there is not noticed",
                shown(path)
            );
        }
        let file = FileInUse {
            path: path.to_owned(),
            written: Mutex::new(Written {
                own: fs::File::open(path).and_then(KnownFile::new).ok(),
                elsewhere: None,
            }),
            _lock: lock,
        };
        Ok(SessionFile {
            own: OwnFile(Arc::new(Mutex::new(Some(Arc::new(file))))),
            from: None,
        })
    }

    /// The file to save the session in, if any.
    pub fn path(&self) -> Option<PathBuf> {
        Some(self.own.get()?.path.clone())
    }
}

/// The file that a session is saved in, if any, until another session is opened in its place.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnFile(Arc<Mutex<Option<Arc<FileInUse>>>>);

/// A file that is reserved for a session.
#[derive(Debug)]
pub(crate) struct FileInUse {
    pub path: PathBuf,
    written: Mutex<Written>,
    _lock: Option<SaveLock>,
}

/// Where a session was saved.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// State of the session's own file after its last read or write; `None` if it did not exist.
    own: Option<KnownFile>,
    /// The file that took its place when nothing could be saved in it.
    elsewhere: Option<(PathBuf, KnownFile)>,
}

impl OwnFile {
    pub(crate) fn get(&self) -> Option<Arc<FileInUse>> {
        self.0.lock().clone()
    }

    /// Another session was opened, which must not be written to this file; or the session ends.
    pub(crate) fn leave(&self) {
        *self.0.lock() = None;
    }
}

impl FileInUse {
    /// Writes the session in this file, unless another program has changed that: then next to it.
    pub(crate) fn write(&self, saved: &SavedSession) -> Result<PathBuf, NotSaved> {
        let mut written = self.written.lock();
        let is_changed = fs::metadata(&self.path).is_ok_and(|now| {
            let own = written.own.as_ref();
            !own.is_some_and(|own| own.is_unchanged(&now))
        });
        let dated = self.path.with_file_name(dated_name(&self.path, "json"));
        // What another program wrote is kept, whatever is to be written.
        let fault = if is_changed {
            None
        } else {
            saved.check().err()
        };
        if is_changed || fault.is_some() {
            let beside = written.write_new(saved, &dated)?;
            let (path, beside) = (self.path.display(), beside.display());
            let message = match fault {
                None => message!(
                    "{path} was changed by another program meanwhile and is kept; the session is saved in {beside} instead"
                ),
                Some(why) => message!(
                    "{path} was not changed, because this session could not be opened from it again: {why}; it is saved in {beside} instead, please report it"
                ),
            };
            return Err(NotSaved {
                message,
                machine_lacks: false,
            });
        }
        let target = SaveTarget::find(&self.path);
        match target.and_then(|target| saved.write_to(&target)) {
            Ok((path, file)) => {
                written.own = KnownFile::new(file).ok();
                Ok(path)
            }
            Err(error) => {
                let name = dated.file_name().unwrap_or_default();
                Err(written.write_in_state_folder(saved, name, error))
            }
        }
    }
}

impl Written {
    /// Writes the session in a new file with a date in its name. Returns the file's path.
    pub(crate) fn write_new(
        &mut self,
        saved: &SavedSession,
        path: &Path,
    ) -> Result<PathBuf, NotSaved> {
        // Nobody named it, so where it is must be said.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.write_elsewhere(saved, &path).map_err(|error| {
            let name = path.file_name().unwrap_or_default();
            self.write_in_state_folder(saved, name, error)
        })
    }

    /// Writes a session that could not be saved where it should be in the folder for this program's
    /// state, under a name with a date. Returns what to say.
    fn write_in_state_folder(
        &mut self,
        saved: &SavedSession,
        name: &OsStr,
        error: SaveError,
    ) -> NotSaved {
        let written = state_folder().map(|folder| self.write_elsewhere(saved, &folder.join(name)));
        NotSaved::elsewhere(&error, written, |elsewhere| {
            message!("{error}; the session is saved in {elsewhere} instead")
        })
    }

    /// Writes the session in a new file, or again in the one that it was last saved in instead of
    /// its own. Returns the file's path.
    fn write_elsewhere(&mut self, saved: &SavedSession, new: &Path) -> Result<PathBuf, SaveError> {
        let again = self
            .elsewhere
            .take()
            .filter(|(path, known)| fs::metadata(path).is_ok_and(|now| known.is_unchanged(&now)));
        let target = match again {
            Some((path, _)) => SaveTarget::find(&path)?,
            None => SaveTarget::beside(new.to_owned()),
        };
        let (path, file) = saved.write_to(&target)?;
        self.elsewhere = KnownFile::new(file).ok().map(|known| (path.clone(), known));
        Ok(path)
    }
}
