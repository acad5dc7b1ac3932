//! Pictures in a row as a file that moves: GIF, APNG, and MP4 where there is an ffmpeg.
//!
//! A thread of its own encodes. Whoever draws offers pictures and never waits: where the encoder is
//! behind, a picture is left out, and the one before it stands longer. The file takes its name only
//! once it is whole.

mod apng;
mod gif;
mod mp4;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, channel, sync_channel,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::ViewError;
use crate::picture_file::Image;
use lang::tr;
use life::{SaveError, SaveTarget, check_writable, shown};

/// Pictures that may wait for the encoder.
const WAITING: usize = 6;

/// How long a picture stands where nothing else says so.
const USUAL: Duration = Duration::from_millis(40);

/// What a file is, by its name's ending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordingFormat {
    /// `.gif`: 256 colours a picture.
    Gif,
    /// `.png` or `.apng`: every colour.
    Apng,
    /// `.mp4`: by ffmpeg.
    Mp4,
}

impl RecordingFormat {
    /// By a file's name.
    pub fn of(path: &Path) -> Option<RecordingFormat> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "gif" => Some(RecordingFormat::Gif),
            "png" | "apng" => Some(RecordingFormat::Apng),
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

/// A recording under way.
#[derive(Debug)]
pub struct Recorder {
    shots: Arc<Mutex<Option<SyncSender<Shot>>>>,
    thread: JoinHandle<Result<Recorded, ViewError>>,
    ended: Arc<Mutex<Receiver<()>>>,
    path: PathBuf,
    size: [u32; 2],
    taken: u64,
    left_out: u64,
    written: Arc<AtomicU64>,
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
            RecordingFormat::Gif | RecordingFormat::Apng => Ok(()),
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
        let encoder: Box<dyn Encode> = match kind {
            RecordingFormat::Gif => {
                Box::new(gif::Gif::begin(partial.as_file(), size).map_err(cannot)?)
            }
            RecordingFormat::Apng => {
                Box::new(apng::Apng::begin(partial.as_file(), size).map_err(cannot)?)
            }
            RecordingFormat::Mp4 => Box::new(mp4::Mp4::begin(partial.path(), size)?),
        };
        let (shots, received) = sync_channel(WAITING);
        let written = Arc::new(AtomicU64::new(0));
        let (count, named) = (written.clone(), path.to_owned());
        let (ending, ended) = channel();
        let thread = std::thread::Builder::new()
            .name("record".into())
            .spawn(move || {
                let _ending = ending; // dropped, and so told, when the thread ends
                let cannot = |error: io::Error| ViewError::from(SaveError::new(&named, &error));
                encode(&received, encoder, &count).map_err(cannot)?;
                let (path, _) = target.persist(partial).map_err(cannot)?;
                let frames = count.load(Ordering::Relaxed);
                Ok(Recorded { path, frames })
            })
            .map_err(cannot)?;
        Ok(Recorder {
            shots: Arc::new(Mutex::new(Some(shots))),
            thread,
            ended: Arc::new(Mutex::new(ended)),
            path: path.to_owned(),
            size,
            taken: 0,
            left_out: 0,
            written,
        })
    }

    /// Offers a picture that was drawn so long after the first one; waits for nothing. Whether the
    /// recording goes on: one of another size, or a disk that is full, ends it.
    pub fn offer(&mut self, image: Image, at: Duration) -> bool {
        if [image.width, image.height] != self.size {
            return false;
        }
        let shots = lock(&self.shots);
        match shots
            .as_ref()
            .map(|shots| shots.try_send(Shot { image, at }))
        {
            Some(Ok(())) => self.taken += 1,
            Some(Err(TrySendError::Full(_))) => self.left_out += 1,
            Some(Err(TrySendError::Disconnected(_))) | None => return false,
        }
        true
    }

    /// The same, but waits until the encoder takes it.
    pub fn give(&mut self, image: Image, at: Duration) -> bool {
        self.taken += 1;
        let shots = lock(&self.shots).clone();
        shots.is_some_and(|shots| shots.send(Shot { image, at }).is_ok())
    }

    /// What ends it from any thread.
    pub fn finisher(&self) -> Finisher {
        Finisher {
            shots: Arc::downgrade(&self.shots),
            ended: self.ended.clone(),
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
        let waiting = self.taken - self.written.load(Ordering::Relaxed).min(self.taken);
        let mut text = tr!("Recording {name}: {} pictures", self.taken, name = name);
        if waiting > 1 {
            text += &tr!(", {waiting} still to write", waiting = waiting);
        }
        if self.left_out > 0 {
            text += &tr!(", {} dropped", self.left_out);
        }
        text
    }

    /// Ends the recording. The returned function waits until the file is complete.
    pub fn end(self) -> impl FnOnce() -> Result<Recorded, ViewError> + Send + 'static {
        let Recorder { shots, thread, .. } = self;
        *lock(&shots) = None;
        move || {
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
    ended: Arc<Mutex<Receiver<()>>>,
}

impl Finisher {
    /// Whether writing has ended, successfully or not.
    pub fn is_over(&self) -> bool {
        lock(&self.ended).try_recv() == Err(TryRecvError::Disconnected)
    }

    /// Accepts no more pictures and waits until the file is complete, at most `limit`. Returns whether
    /// writing ended in time.
    pub fn finish(&self, limit: Duration) -> bool {
        if let Some(shots) = self.shots.upgrade() {
            *lock(&shots) = None;
        }
        lock(&self.ended).recv_timeout(limit) == Err(RecvTimeoutError::Disconnected)
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
            "{path} cannot be recorded: the name must end in .gif, .png or .mp4",
            path = shown(path)
        ))
    })
}

#[cfg(test)]
mod tests;
