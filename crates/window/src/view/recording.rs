//! Pictures in a row: a GIF, or numbered PNG files, of which ffmpeg makes a video.
//!
//! A thread of its own encodes. Whoever draws offers pictures and never waits: where the encoder is
//! behind, a picture is left out, and the one before it stands longer. A file takes its name only
//! once it is whole.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use ::gif::{Encoder, EncodingError, Frame, Repeat};

use crate::view::ViewError;
use crate::view::picture_file::{Image, write_png};
use lang::{message, tr};
use life::{PendingFile, SaveError, SaveTarget, check_writable, grouped};

/// Pictures that may wait for the encoder.
const WAITING: usize = 6;

/// How long an encoder may take for the pictures that wait for it.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// How often to look at an encoder that is waited for.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// How long a picture stands where nothing else says so.
const USUAL: Duration = Duration::from_millis(40);

/// Whether a recording of this name is a GIF (256 colours a picture), and not a PNG file for each picture,
/// with its number behind the name.
fn is_gif(path: &Path) -> Result<bool, ViewError> {
    let ending = path.extension().unwrap_or_default();
    let ending = ending.to_string_lossy().to_ascii_lowercase();
    let file = path.display();
    Err(ViewError::Refused(match ending.as_str() {
        "gif" => return Ok(true),
        "png" => return Ok(false),
        "mp4" => {
            let pictures = path.with_extension("png");
            message!(
                "{file} cannot be recorded: record numbered pictures with --record {pictures}, and make a video of them with: {line}",
                pictures = pictures.display(),
                line = ffmpeg_line(&pictures, 1.0 / USUAL.as_secs_f64(), None)
            )
        }
        _ => message!("{file} cannot be recorded: the name must end in .gif or .png"),
    }))
}

/// A picture, and when it was drawn.
type Shot = (Image, Duration);

/// A finished recording.
#[derive(Clone, PartialEq, Debug)]
pub struct Recorded {
    /// The file.
    pub path: PathBuf,
    /// Its pictures.
    pub frames: u64,
    /// How numbered pictures become a video, in a sentence.
    pub video: Option<String>,
}

/// The file of a picture of this number, from 1 on.
fn numbered(path: &Path, number: u64) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().display();
    path.with_file_name(format!("{stem}-{number:04}.png"))
}

/// The command that makes a video of numbered pictures.
fn ffmpeg_line(path: &Path, per_second: f64, frames: Option<u64>) -> String {
    let quoted = |path: PathBuf| {
        let text = path.display().to_string();
        let is_plain = |letter: char| letter.is_alphanumeric() || "-_./%".contains(letter);
        if text.chars().all(is_plain) {
            text
        } else {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let pictures = path.with_file_name(format!("{}-%04d.png", stem.replace('%', "%%")));
    // Pictures of a longer recording may be there, too.
    let frames = frames.map_or(String::new(), |frames| format!(" -frames:v {frames}"));
    format!(
        "ffmpeg -framerate {} -i {}{frames} -vf 'crop=trunc(iw/2)*2:trunc(ih/2)*2' -pix_fmt yuv420p {}",
        (100.0 * per_second).round() / 100.0,
        quoted(pictures),
        quoted(path.with_extension("mp4"))
    )
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
    encoding: Arc<Encoding>,
    /// When the encoder had room for a picture last.
    last: Instant,
    /// The width and height of its pictures.
    pub size: [u32; 2],
    /// Number of pictures taken, which is the number in the file.
    pub taken: u64,
    left_out: u64,
}

/// What the encoder's thread and others know of the encoding.
#[derive(Debug)]
struct Encoding {
    path: PathBuf,
    /// Where pictures go; closed, the encoder ends.
    shots: Mutex<Option<SyncSender<Shot>>>,
    /// Number of pictures that are encoded.
    written: AtomicU64,
    /// What came of it, once the thread has ended.
    ended: OnceLock<Result<Recorded, ViewError>>,
}

impl Encoding {
    fn progress(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    fn shots(&self) -> MutexGuard<'_, Option<SyncSender<Shot>>> {
        self.shots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the thread has ended, at most so long.
    fn wait(&self, limit: Duration) -> Result<Recorded, ViewError> {
        let until = Instant::now() + limit;
        loop {
            if let Some(ended) = self.ended.get() {
                return ended.clone();
            }
            if Instant::now() > until {
                return Err(ViewError::Lacking(message!(
                    "the recording {path} is lost: writing it took too long; record to another disk",
                    path = self.path.display()
                )));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Recorder {
    /// Whether a recording can begin at this path, as far as that shows before there is a picture.
    ///
    /// # Errors
    /// As [`Recorder::begin`].
    pub fn check(path: &Path) -> Result<(), ViewError> {
        let first = if is_gif(path)? {
            path.to_owned()
        } else {
            numbered(path, 1)
        };
        Ok(check_writable(first)?)
    }

    /// Begins a file for pictures of this width and height, or a file for each of them. A GIF of this name
    /// is replaced or, where it may not be, gets a number behind the name by the end.
    ///
    /// # Errors
    /// [`ViewError::Refused`] where the name's ending says nothing, [`ViewError::Write`] where nothing
    /// can be written there.
    pub fn begin(path: &Path, replaces: bool, size: [u32; 2]) -> Result<Recorder, ViewError> {
        if !is_gif(path)? {
            check_writable(numbered(path, 1))?;
            return Recorder::begin_with(path, size, pictures);
        }
        let named = path.to_owned();
        let target = if replaces {
            SaveTarget::find(path)?
        } else {
            SaveTarget::beside(named.clone())
        };
        let cannot = move |error: io::Error| ViewError::from(SaveError::new(&named, &error));
        let partial = target.create_partial().map_err(&cannot)?;
        let mut gif = Gif::begin(partial.as_file(), size).map_err(&cannot)?;
        Recorder::begin_with(path, size, move |encoding, shots| {
            let encoded = encode(encoding, shots, |image, lasts| gif.frame(image, lasts));
            let whole = encoded
                .and_then(|()| gif.end())
                .and_then(|()| target.persist(partial));
            let (path, _) = whole.map_err(cannot)?;
            Ok(Recorded {
                path,
                frames: encoding.progress(),
                video: None,
            })
        })
    }

    /// Starts the thread that encodes.
    fn begin_with(
        path: &Path,
        size: [u32; 2],
        record: impl FnOnce(&Encoding, &Receiver<Shot>) -> Result<Recorded, ViewError> + Send + 'static,
    ) -> Result<Recorder, ViewError> {
        let (shots, received) = sync_channel(WAITING);
        let encoding = Arc::new(Encoding {
            path: path.to_owned(),
            shots: Mutex::new(Some(shots)),
            written: AtomicU64::new(0),
            ended: OnceLock::new(),
        });
        let of_thread = encoding.clone();
        let work = move || {
            let recorded = platform::catch_panic(|| record(&of_thread, &received));
            let broken = |it| ViewError::Refused(message!("internal: {it}"));
            let recorded = recorded.map_err(broken).flatten();
            let _ = of_thread.ended.set(recorded); // set here alone
        };
        let thread = std::thread::Builder::new().name("record".into());
        let started = thread.spawn(work);
        started.map_err(|error| SaveError::new(path, &error))?;
        Ok(Recorder {
            encoding,
            last: Instant::now(),
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
        let sent = match &*self.encoding.shots() {
            Some(shots) => shots.try_send((image, at)),
            None => return false,
        };
        match sent {
            Ok(()) => {
                self.taken += 1;
                self.last = Instant::now();
                true
            }
            Err(TrySendError::Full(_)) => {
                self.left_out += 1;
                self.last.elapsed() <= platform::timeout(STALL_TIMEOUT)
            }
            Err(TrySendError::Disconnected(_)) => false,
        }
    }

    /// What ends it from any thread, for when the thread that records is blocked.
    pub fn finisher(&self) -> Arc<dyn PendingFile> {
        self.encoding.clone()
    }

    /// How it goes, in words.
    pub fn progress(&self) -> String {
        let name = self.encoding.path.file_name().unwrap_or_default().display();
        let waiting = self.taken - self.encoding.progress().min(self.taken);
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
        let encoding = self.encoding.clone();
        drop(self);
        move || encoding.wait(platform::timeout(STALL_TIMEOUT))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        *self.encoding.shots() = None;
    }
}

impl PendingFile for Encoding {
    fn is_over(&self) -> bool {
        self.ended.get().is_some()
    }

    fn finish(&self, limit: Duration) -> Result<(), String> {
        *self.shots() = None;
        let ended = self.wait(limit);
        ended.map(drop).map_err(|error| error.to_string())
    }
}

/// Writes each picture to a file of its own.
fn pictures(encoding: &Encoding, shots: &Receiver<Shot>) -> Result<Recorded, ViewError> {
    let (path, mut number, mut lasted) = (&encoding.path, 0, Duration::ZERO);
    encode(encoding, shots, |image, lasts| {
        number += 1;
        lasted += lasts;
        write_png(image, &numbered(path, number))
    })?;
    let per_second = number as f64 / lasted.max(USUAL).as_secs_f64();
    let line = ffmpeg_line(path, per_second, Some(number));
    Ok(Recorded {
        path: numbered(path, 1),
        frames: number,
        video: (number > 0).then(|| tr!("make a video of the pictures with: {line}")),
    })
}

/// Encodes until there is no more; each picture stands until the next one comes, the last as long as the one
/// before it.
fn encode<E>(
    encoding: &Encoding,
    shots: &Receiver<Shot>,
    mut frame: impl FnMut(&Image, Duration) -> Result<(), E>,
) -> Result<(), E> {
    let (mut held, mut lasts) = (shots.recv().ok(), USUAL);
    while let Some((image, at)) = held {
        held = shots.recv().ok();
        if let Some((_, next)) = &held {
            lasts = next.saturating_sub(at);
        }
        frame(&image, lasts)?;
        encoding.written.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// How roughly colours are chosen, from 1 to 30; pictures come fast.
const SPEED: i32 = 20;

/// A GIF under way: each picture with 256 colours of its own, exact where it has no more.
struct Gif {
    encoder: Encoder<BufWriter<File>>,
    /// Of a hundredth of a second, what the delays so far have left over.
    pending: Duration,
}

impl Gif {
    fn begin(file: &File, size: [u32; 2]) -> io::Result<Gif> {
        let [width, height] = sides(size)?;
        let out = BufWriter::new(file.try_clone()?);
        let mut encoder = Encoder::new(out, width, height, &[]).map_err(broken)?;
        encoder.set_repeat(Repeat::Infinite).map_err(broken)?;
        Ok(Gif {
            encoder,
            pending: Duration::ZERO,
        })
    }

    /// Takes a picture that stands for so long.
    fn frame(&mut self, image: &Image, lasts: Duration) -> io::Result<()> {
        let [width, height] = sides([image.width, image.height])?;
        let mut rgba = image.rgba.clone();
        let mut frame = Frame::from_rgba_speed(width, height, &mut rgba, SPEED);
        // Viewers take less than two hundredths for ten.
        let hundredths = ((lasts + self.pending).as_millis() / 10).clamp(2, 6000);
        let given = Duration::from_millis(hundredths as u64 * 10);
        self.pending = (lasts + self.pending).saturating_sub(given);
        frame.delay = hundredths as u16;
        self.encoder.write_frame(&frame).map_err(broken)
    }

    /// Finishes the file.
    fn end(self) -> io::Result<()> {
        let out = self.encoder.into_inner().map_err(broken)?;
        out.into_inner()
            .map_err(|error| error.into_error())?
            .sync_all()
    }
}

fn sides(size: [u32; 2]) -> io::Result<[u16; 2]> {
    match size.map(u16::try_from) {
        [Ok(width), Ok(height)] => Ok([width, height]),
        _ => Err(io::Error::other(tr!(
            "a GIF has at most 65535 pixels per side"
        ))),
    }
}

fn broken(error: EncodingError) -> io::Error {
    match error {
        EncodingError::Io(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(size: [u32; 2], seed: u8) -> Image {
        let pixel = |i: u32| [seed.wrapping_add(i as u8), 40 * (i % 4) as u8, seed, 255];
        Image {
            width: size[0],
            height: size[1],
            rgba: (0..size[0] * size[1]).flat_map(pixel).collect(),
        }
    }

    /// So many small pictures, each offered until the encoder has room for it.
    fn recorded(mut recorder: Recorder, frames: u8) -> Recorded {
        for frame in 0..frames {
            let at = Duration::from_millis(40 * u64::from(frame));
            let taken = recorder.taken;
            while recorder.taken == taken {
                assert!(recorder.offer(image([12, 5], frame), at));
            }
        }
        recorder.end()().unwrap()
    }

    #[test]
    fn a_gif_has_every_picture_and_its_time_and_replaces_none_that_nobody_named() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = folder.path().join("of-now.gif");
        std::fs::write(&wanted, "an older one").unwrap();
        for name in ["of-now-2.gif", "of-now-3.gif"] {
            let recorder = Recorder::begin(&wanted, false, [12, 5]).unwrap();
            let done = recorded(recorder, 5);
            assert_eq!((&done.path, done.frames), (&folder.path().join(name), 5));
            let mut options = ::gif::DecodeOptions::new();
            options.set_color_output(::gif::ColorOutput::RGBA);
            let mut reader = options.read_info(File::open(&done.path).unwrap()).unwrap();
            for frame in 0..5 {
                let read = reader.read_next_frame().unwrap().unwrap();
                assert_eq!(read.delay, 4, "hundredths of a second");
                assert_eq!(read.buffer[..], image([12, 5], frame).rgba[..]);
            }
        }
        assert_eq!(std::fs::read(&wanted).unwrap(), b"an older one");
    }

    #[test]
    fn numbered_pictures_have_a_file_each_and_the_line_that_makes_a_video() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a film, 100%.png");
        let done = recorded(Recorder::begin(&path, true, [12, 5]).unwrap(), 3);
        for number in 1..=3 {
            let mut wanted = Vec::new();
            crate::view::picture_file::encode(&image([12, 5], number - 1), &mut wanted).unwrap();
            let file = std::fs::read(numbered(&path, number.into())).unwrap();
            assert!(file == wanted, "picture {number}");
        }
        let video = done.video.unwrap();
        let of = format!("'{}/a film, 100%%-%04d.png'", folder.path().display());
        let line = format!("with: ffmpeg -framerate 25 -i {of} -frames:v 3 -vf '");
        assert!(video.contains(&line), "{video}");
        let file = format!("'{}/a film, 100%.mp4'", folder.path().display());
        assert!(video.ends_with(&file), "{video}");
    }

    #[test]
    fn what_comes_too_fast_is_left_out_and_never_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let size = [400, 300];
        let mut recorder = Recorder::begin(&folder.path().join("a.gif"), true, size).unwrap();
        for frame in 0..60u8 {
            assert!(recorder.offer(image(size, frame), Duration::from_millis(frame.into())));
        }
        let other = image([4, 4], 0);
        assert!(!recorder.offer(other, Duration::ZERO), "another size");
        let (taken, left_out) = (recorder.taken, recorder.left_out);
        assert_eq!(taken + left_out, 60);
        assert_eq!(recorder.end()().unwrap().frames, taken);
    }
}
