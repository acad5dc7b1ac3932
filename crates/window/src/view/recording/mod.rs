//! Pictures in a row as a file that moves: GIF, and MP4 where there is an ffmpeg.
//!
//! A thread of its own encodes. Whoever draws offers pictures and never waits: where the encoder is
//! behind, a picture is left out, and the one before it stands longer. The file takes its name only
//! once it is whole.

mod gif;
mod mp4;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, channel, sync_channel,
};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::view::ViewError;
use crate::view::picture_file::Image;
use lang::tr;
use life::{PendingFile, SaveError, SaveTarget, check_writable, grouped};
use model::words::shown;
use mp4::Ffmpeg;

/// Pictures that may wait for the encoder.
const WAITING: usize = 6;

/// How long an encoder may make no progress. Longer than any of its steps takes, such as ffmpeg's
/// last one, which writes a long film a second time.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a killed ffmpeg may take to end, and its unfinished file to be removed.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// How often to look at an encoder that is waited for.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// How long a picture stands where nothing else says so.
const USUAL: Duration = Duration::from_millis(40);

/// What a file is, by its name's ending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RecordingFormat {
    /// `.gif`: 256 colours a picture.
    Gif,
    /// `.mp4`: by ffmpeg.
    Mp4,
}

impl RecordingFormat {
    /// By a file's name.
    pub(crate) fn of(path: &Path) -> Option<RecordingFormat> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "gif" => Some(RecordingFormat::Gif),
            "mp4" => Some(RecordingFormat::Mp4),
            _ => None,
        }
    }
}

/// Takes pictures one after the other.
trait Encode: Send {
    /// Takes one that stands for so long.
    fn frame(&mut self, image: &Image, lasts: Duration) -> io::Result<()>;
    /// The file is whole.
    fn end(self: Box<Self>) -> io::Result<()>;
}

/// A picture, and when it was drawn.
struct Shot {
    image: Image,
    at: Duration,
}

/// A finished recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// The file.
    pub path: PathBuf,
    /// Its pictures.
    pub frames: u64,
}

/// How many frames there are, in words.
pub(crate) fn frames(count: u64) -> String {
    match count {
        1 => tr!("1 frame").into(),
        _ => tr!("{} frames", grouped(count)),
    }
}

/// A recording under way.
#[derive(Debug)]
pub struct Recorder {
    shots: Arc<Mutex<Option<SyncSender<Shot>>>>,
    thread: JoinHandle<Result<Recorded, ViewError>>,
    encoding: Arc<Encoding>,
    stall: StallWatch,
    path: PathBuf,
    size: [u32; 2],
    taken: u64,
    left_out: u64,
}

/// What the encoder's thread and others know of the encoding.
#[derive(Debug)]
struct Encoding {
    /// Number of pictures that are encoded.
    written: AtomicU64,
    ffmpeg: Option<Arc<Ffmpeg>>,
    /// Closed once the thread has ended.
    ended: Mutex<Receiver<()>>,
    /// Why it failed, if it did.
    failure: OnceLock<String>,
}

impl Encoding {
    /// Grows with each step of the encoder.
    fn progress(&self) -> u64 {
        let taken = self.ffmpeg.as_ref().map_or(0, |ffmpeg| ffmpeg.taken());
        self.written.load(Ordering::Relaxed) + taken
    }

    fn kill(&self) {
        if let Some(ffmpeg) = &self.ffmpeg {
            ffmpeg.kill();
        }
    }
}

/// Tells when an encoder that has something to do makes no progress.
#[derive(Debug)]
struct StallWatch {
    progress: u64,
    since: Instant,
}

impl StallWatch {
    fn new(encoding: &Encoding) -> StallWatch {
        StallWatch {
            progress: encoding.progress(),
            since: Instant::now(),
        }
    }

    /// Whether there was no progress for [`STALL_TIMEOUT`]; then there is never any, because a stuck
    /// ffmpeg is killed.
    fn is_stalled(&mut self, encoding: &Encoding) -> bool {
        if encoding.progress() != self.progress {
            *self = StallWatch::new(encoding);
        }
        let is_stalled = self.since.elapsed() > platform::timeout(STALL_TIMEOUT);
        if is_stalled {
            encoding.kill();
        }
        is_stalled
    }
}

impl Recorder {
    /// Whether a recording can begin at this path, as far as that shows before there is a picture.
    ///
    /// # Errors
    /// As [`Recorder::begin`].
    pub fn check(path: &Path) -> Result<(), ViewError> {
        let kind = kind_of(path)?;
        check_writable(path)?;
        match kind {
            RecordingFormat::Mp4 => mp4::check(),
            RecordingFormat::Gif => Ok(()),
        }
    }

    /// Begins a file for pictures of this width and height.
    ///
    /// # Errors
    /// [`ViewError::Record`] where the name's ending says nothing or there is no ffmpeg,
    /// [`ViewError::Write`] where nothing can be written there.
    pub fn begin(path: &Path, size: [u32; 2]) -> Result<Recorder, ViewError> {
        let kind = kind_of(path)?;
        Recorder::begin_at(path, kind, SaveTarget::find(path)?, size)
    }

    /// The same, but no file that has this name by the end is replaced: a number comes behind it.
    ///
    /// # Errors
    /// As [`Recorder::begin`].
    pub fn begin_beside(path: &Path, size: [u32; 2]) -> Result<Recorder, ViewError> {
        let target = SaveTarget::beside(path.to_owned());
        Recorder::begin_at(path, kind_of(path)?, target, size)
    }

    fn begin_at(
        path: &Path,
        kind: RecordingFormat,
        target: SaveTarget,
        size: [u32; 2],
    ) -> Result<Recorder, ViewError> {
        let cannot = |error: io::Error| ViewError::from(SaveError::new(path, &error));
        let partial = target.create_partial().map_err(cannot)?;
        let mut ffmpeg = None;
        let encoder: Box<dyn Encode> = match kind {
            RecordingFormat::Gif => {
                Box::new(gif::Gif::begin(partial.as_file(), size).map_err(cannot)?)
            }
            RecordingFormat::Mp4 => {
                let mp4 = mp4::Mp4::begin(partial.path(), size)?;
                ffmpeg = Some(mp4.ffmpeg());
                Box::new(mp4)
            }
        };
        let (shots, received) = sync_channel(WAITING);
        let (ending, ended) = channel();
        let encoding = Arc::new(Encoding {
            written: AtomicU64::new(0),
            ffmpeg,
            ended: Mutex::new(ended),
            failure: OnceLock::new(),
        });
        let (shared, named) = (encoding.clone(), path.to_owned());
        let thread = std::thread::Builder::new()
            .name("record".into())
            .spawn(move || {
                let _ending = ending; // dropped, and so told, when the thread ends
                let encoded = encode(&received, encoder, &shared.written);
                let recorded = match encoded.and_then(|()| target.persist(partial)) {
                    Ok((path, _)) => Ok(Recorded {
                        path,
                        frames: shared.written.load(Ordering::Relaxed),
                    }),
                    Err(error) => Err(lost(&named, &error)),
                };
                if let Err(error) = &recorded {
                    let _ = shared.failure.set(error.to_string()); // set here alone
                }
                recorded
            })
            .map_err(cannot)?;
        Ok(Recorder {
            shots: Arc::new(Mutex::new(Some(shots))),
            thread,
            stall: StallWatch::new(&encoding),
            encoding,
            path: path.to_owned(),
            size,
            taken: 0,
            left_out: 0,
        })
    }

    /// Offers a picture that was drawn so long after the first one; waits for nothing. Whether the
    /// recording goes on: one of another size, a disk that is full, or a stuck encoder ends it.
    pub fn offer(&mut self, image: Image, at: Duration) -> bool {
        if [image.width, image.height] != self.size {
            return false;
        }
        match self.send(Shot { image, at }) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                self.left_out += 1;
                !self.stall.is_stalled(&self.encoding)
            }
            Err(TrySendError::Disconnected(_)) => false,
        }
    }

    /// The same, but waits until the encoder takes it, or until `is_cancelled`.
    pub fn give(&mut self, image: Image, at: Duration, is_cancelled: impl Fn() -> bool) -> bool {
        let mut shot = Shot { image, at };
        loop {
            shot = match self.send(shot) {
                Ok(()) => return true,
                Err(TrySendError::Full(shot)) => shot,
                Err(TrySendError::Disconnected(_)) => return false,
            };
            if is_cancelled() || self.stall.is_stalled(&self.encoding) {
                return false;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Hands a picture to the encoder, if it has room for one.
    fn send(&mut self, shot: Shot) -> Result<(), TrySendError<Shot>> {
        match &*lock(&self.shots) {
            Some(shots) => shots.try_send(shot)?,
            None => return Err(TrySendError::Disconnected(shot)),
        }
        self.taken += 1;
        Ok(())
    }

    /// What ends it from any thread.
    pub fn finisher(&self) -> Finisher {
        Finisher {
            shots: Arc::downgrade(&self.shots),
            encoding: self.encoding.clone(),
            path: self.path.clone(),
        }
    }

    /// Number of pictures taken, which is the number in the file.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The width and height of its pictures.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// How it goes, in words.
    pub fn progress(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().display();
        let waiting = self.taken
            - self
                .encoding
                .written
                .load(Ordering::Relaxed)
                .min(self.taken);
        let frames = frames(self.taken);
        let mut text = tr!("Recording {name}: {frames}");
        if waiting > 1 {
            text += &tr!(", {waiting} still to write");
        }
        if self.left_out > 0 {
            text += &tr!(", {} dropped", self.left_out);
        }
        text
    }

    /// Ends the recording. The returned function waits until the file is complete, or the encoder
    /// is stuck.
    pub fn end(self) -> impl FnOnce() -> Result<Recorded, ViewError> + Send + 'static {
        let finisher = self.finisher();
        let Recorder { shots, thread, .. } = self;
        *lock(&shots) = None;
        move || {
            if !finisher.wait(Duration::MAX) {
                return Err(ViewError::Encoder(finisher.too_slow()));
            }
            let broken =
                |_| ViewError::Record(tr!("internal: the recording's thread panicked").into());
            thread.join().map_err(broken).flatten()
        }
    }
}

/// Ends a recording from another thread, for when the thread that records is blocked.
#[derive(Clone, Debug)]
pub struct Finisher {
    shots: Weak<Mutex<Option<SyncSender<Shot>>>>,
    encoding: Arc<Encoding>,
    path: PathBuf,
}

impl Finisher {
    /// Waits until the thread has ended, at most `limit` and as long as the encoder makes progress;
    /// then an ffmpeg is killed. Returns whether the thread has ended.
    fn wait(&self, limit: Duration) -> bool {
        let (began, mut stall) = (Instant::now(), StallWatch::new(&self.encoding));
        while !self.is_over() {
            if began.elapsed() > limit || stall.is_stalled(&self.encoding) {
                self.encoding.kill();
                let ended = lock(&self.encoding.ended);
                return ended.recv_timeout(KILL_TIMEOUT) == Err(RecvTimeoutError::Disconnected);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        true
    }

    /// Says that even the end of the encoder took too long.
    fn too_slow(&self) -> String {
        tr!(
            "the recording {path} is lost: writing it took too long; record to another disk",
            path = shown(&self.path)
        )
    }
}

impl PendingFile for Finisher {
    fn is_over(&self) -> bool {
        lock(&self.encoding.ended).try_recv() == Err(TryRecvError::Disconnected)
    }

    fn finish(&self, limit: Duration) -> Result<(), String> {
        if let Some(shots) = self.shots.upgrade() {
            *lock(&shots) = None;
        }
        if !self.wait(limit) {
            return Err(self.too_slow());
        }
        self.encoding.failure.get().cloned().map_or(Ok(()), Err)
    }
}

/// The error of a recording that could not be encoded or written.
fn lost(path: &Path, error: &io::Error) -> ViewError {
    match error.kind() {
        io::ErrorKind::TimedOut => ViewError::Encoder(tr!(
            "the recording {path} is lost: {error}",
            path = shown(path)
        )),
        _ => SaveError::new(path, error).into(),
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Encodes until there is no more; each picture stands until the next one comes.
fn encode(
    shots: &Receiver<Shot>,
    mut encoder: Box<dyn Encode>,
    written: &AtomicU64,
) -> io::Result<()> {
    let mut before: Option<(Shot, Duration)> = None;
    for shot in shots {
        let mut lasts = USUAL;
        if let Some((held, _)) = before.take() {
            lasts = shot.at.saturating_sub(held.at);
            encoder.frame(&held.image, lasts)?;
            written.fetch_add(1, Ordering::Relaxed);
        }
        before = Some((shot, lasts));
    }
    if let Some((held, lasts)) = before {
        encoder.frame(&held.image, lasts)?;
        written.fetch_add(1, Ordering::Relaxed);
    }
    encoder.end()
}

/// What the file will be.
fn kind_of(path: &Path) -> Result<RecordingFormat, ViewError> {
    RecordingFormat::of(path).ok_or_else(|| {
        ViewError::Record(tr!(
            "{path} cannot be recorded: the name must end in .gif or .mp4",
            path = shown(path)
        ))
    })
}

#[cfg(test)]
mod tests;
