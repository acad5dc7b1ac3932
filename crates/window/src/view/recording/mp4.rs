//! MP4, by an ffmpeg that is installed: nothing of it is in this program.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{Encode, lock};
use crate::view::ViewError;
use crate::view::picture_file::Image;
use lang::tr;

/// Pictures a second: ffmpeg is given each one as often as it lasts.
const RATE: u32 = 25;

/// How long `ffmpeg -version` may take.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// How long to wait for ffmpeg's last message once it has ended: a process that it started may keep
/// its stderr open.
const LAST_MESSAGE_TIMEOUT: Duration = Duration::from_secs(1);

/// How many characters of ffmpeg's last message are shown.
const MAX_MESSAGE: usize = 200;

/// How often to look whether ffmpeg has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// An ffmpeg that runs, for its encoder and for whoever may have to end it.
#[derive(Debug)]
pub(super) struct Ffmpeg {
    child: Mutex<Child>,
    was_killed: AtomicBool,
    /// Number of pictures that it has taken, each as often as it lasts.
    taken: AtomicU64,
}

impl Ffmpeg {
    fn spawn(command: &mut Command) -> Result<Ffmpeg, ViewError> {
        // Ctrl+C is for this program, which then tells ffmpeg that there is no more. Also, what
        // ffmpeg starts is killed with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let child = command.spawn().map_err(|error| cannot_start(&error))?;
        Ok(Ffmpeg {
            child: Mutex::new(child),
            was_killed: AtomicBool::new(false),
            taken: AtomicU64::new(0),
        })
    }

    /// Waits for its end, at most `limit`; `None` if it still runs.
    fn wait(&self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        let began = Instant::now();
        loop {
            // Unlocked between two looks, so that another thread can kill it.
            let status = lock(&self.child).try_wait()?;
            if status.is_some() || began.elapsed() > limit {
                return Ok(status);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Kills it, and what it started, if it still runs.
    pub(super) fn kill(&self) {
        let mut child = lock(&self.child);
        if let Ok(None) = child.try_wait() {
            self.was_killed.store(true, Ordering::Release);
            #[cfg(unix)]
            let _ = rustix::process::kill_process_group(
                rustix::process::Pid::from_child(&child),
                rustix::process::Signal::KILL,
            );
            let _ = child.kill();
        }
    }

    /// Number of pictures that it has taken, each as often as it lasts.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

/// Whether there is an ffmpeg that answers.
pub(super) fn check() -> Result<(), ViewError> {
    let mut ffmpeg = Command::new("ffmpeg");
    let ffmpeg = ffmpeg.arg("-version").stdin(Stdio::null());
    let started = Ffmpeg::spawn(ffmpeg.stdout(Stdio::null()).stderr(Stdio::null()))?;
    let timeout = platform::timeout(VERSION_TIMEOUT);
    let ended = started.wait(timeout);
    if ended.map_err(|error| cannot_start(&error))?.is_none() {
        started.kill();
        return Err(ViewError::Encoder(tr!(
            "ffmpeg does not work here: 'ffmpeg -version' did not end within {} s; reinstall it, or name a .gif",
            timeout.as_secs()
        )));
    }
    Ok(())
}

fn cannot_start(error: &io::Error) -> ViewError {
    ViewError::Record(match error.kind() {
        io::ErrorKind::NotFound => tr!(
            "an MP4 needs ffmpeg, which is not installed: apt-get install ffmpeg, or name a .gif"
        )
        .into(),
        _ => tr!("ffmpeg cannot be started: {error}"),
    })
}

pub(super) struct Mp4 {
    ffmpeg: Arc<Ffmpeg>,
    /// None once it has ended before its time.
    to: Option<ChildStdin>,
    last_message: Receiver<String>,
    /// Time that has not been filled with pictures yet.
    pending: Duration,
}

impl Mp4 {
    pub(super) fn begin(path: &Path, [width, height]: [u32; 2]) -> Result<Mp4, ViewError> {
        let size = format!("{width}x{height}");
        let rate = RATE.to_string();
        let mut command = Command::new("ffmpeg");
        command
            .args(["-loglevel", "error", "-y", "-f", "rawvideo"])
            .args(["-pix_fmt", "rgba", "-s", &size, "-r", &rate, "-i", "-"])
            // What every player takes: an even number of pixels a side, colours at half of them.
            .args(["-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2"])
            .args([
                "-pix_fmt",
                "yuv420p",
                "-movflags",
                "+faststart",
                "-f",
                "mp4",
            ])
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let ffmpeg = Ffmpeg::spawn(&mut command)?;
        let mut child = lock(&ffmpeg.child);
        let (to, stderr) = (child.stdin.take(), child.stderr.take());
        drop(child);
        let to = to.ok_or_else(|| ViewError::Record(tr!("ffmpeg does not accept data").into()))?;
        let last_message = keep_last_line(stderr).map_err(|error| cannot_start(&error))?;
        Ok(Mp4 {
            ffmpeg: Arc::new(ffmpeg),
            to: Some(to),
            last_message,
            pending: Duration::ZERO,
        })
    }

    pub(super) fn ffmpeg(&self) -> Arc<Ffmpeg> {
        self.ffmpeg.clone()
    }

    /// Says that there is no more, and waits for what ffmpeg says to that, or for another thread to
    /// kill it.
    fn close(&mut self) -> io::Result<()> {
        self.to = None;
        let status = self.ffmpeg.wait(Duration::MAX)?;
        if status.is_some_and(|status| status.success()) {
            return Ok(());
        }
        let said = self.last_message.recv_timeout(LAST_MESSAGE_TIMEOUT);
        let said = said.ok().filter(|said| !said.is_empty());
        let reason = said.as_deref().unwrap_or(tr!("it gives no reason"));
        if self.ffmpeg.was_killed.load(Ordering::Acquire) {
            let why = tr!("ffmpeg took too long and was killed ({reason}); name a .gif instead");
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        let status = status.map_or_else(String::new, |status| status.to_string());
        Err(io::Error::other(tr!(
            "ffmpeg ended with {status}: {reason}"
        )))
    }
}

impl Encode for Mp4 {
    fn frame(&mut self, image: &Image, lasts: Duration) -> io::Result<()> {
        let each = Duration::from_secs(1) / RATE;
        self.pending += lasts;
        while self.pending >= each / 2 {
            let to = self.to.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
            if let Err(error) = to.write_all(&image.rgba) {
                // It has ended, and knows better why.
                return self.close().and(Err(error));
            }
            self.ffmpeg.taken.fetch_add(1, Ordering::Relaxed);
            self.pending = self.pending.saturating_sub(each);
        }
        Ok(())
    }

    fn end(mut self: Box<Self>) -> io::Result<()> {
        self.close()
    }
}

/// Reads what ffmpeg says to its end, so that ffmpeg never waits for a reader; then sends the last
/// line that is not blank.
fn keep_last_line(stderr: Option<ChildStderr>) -> io::Result<Receiver<String>> {
    let (sender, last) = channel();
    let read = move || {
        let mut last = String::new();
        let lines = stderr.map(|stderr| BufReader::new(stderr).split(b'\n'));
        for line in lines.into_iter().flatten().map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            if !line.trim().is_empty() {
                last = line.trim().chars().take(MAX_MESSAGE).collect();
            }
        }
        let _ = sender.send(last); // nobody asks where all went well
    };
    let thread = std::thread::Builder::new().name("ffmpeg".into());
    thread.spawn(read)?;
    Ok(last)
}
