//! MP4, by an ffmpeg that is installed: nothing of it is in this program.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use super::Encode;
use crate::ViewError;
use crate::picture_file::Image;
use lang::tr;

/// Pictures a second: ffmpeg is given each one as often as it lasts.
const RATE: u32 = 25;

pub(super) struct Mp4 {
    ffmpeg: Child,
    /// None once it has ended before its time.
    to: Option<ChildStdin>,
    /// Time that has not been filled with pictures yet.
    pending: Duration,
}

/// Whether there is an ffmpeg.
pub(super) fn check() -> Result<(), ViewError> {
    let mut ffmpeg = Command::new("ffmpeg");
    let ffmpeg = ffmpeg.arg("-version").stdin(Stdio::null());
    let started = ffmpeg.stdout(Stdio::null()).stderr(Stdio::null()).status();
    started.map(|_| ()).map_err(|error| cannot_start(&error))
}

fn cannot_start(error: &io::Error) -> ViewError {
    ViewError::Record(match error.kind() {
        io::ErrorKind::NotFound => {
            tr!("an MP4 needs ffmpeg, which is not installed: apt-get install ffmpeg, or name a .gif or .png").into()
        }
        _ => tr!("ffmpeg cannot be started: {error}", error = error),
    })
}

impl Mp4 {
    pub(super) fn begin(path: &Path, [width, height]: [u32; 2]) -> Result<Mp4, ViewError> {
        let size = format!("{width}x{height}");
        let rate = RATE.to_string();
        let mut command = Command::new("ffmpeg");
        // Ctrl+C is for this program, which then tells ffmpeg that there is no more.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut ffmpeg = command
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
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| cannot_start(&error))?;
        let to = ffmpeg.stdin.take();
        let to = to.ok_or_else(|| ViewError::Record(tr!("ffmpeg does not accept data").into()))?;
        Ok(Mp4 {
            ffmpeg,
            to: Some(to),
            pending: Duration::ZERO,
        })
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
            self.pending = self.pending.saturating_sub(each);
        }
        Ok(())
    }

    fn end(mut self: Box<Self>) -> io::Result<()> {
        self.close()
    }
}

impl Mp4 {
    /// Says that there is no more, and waits for what ffmpeg says to that.
    fn close(&mut self) -> io::Result<()> {
        self.to = None;
        let mut said = String::new();
        if let Some(mut stderr) = self.ffmpeg.stderr.take() {
            stderr.read_to_string(&mut said)?;
        }
        let status = self.ffmpeg.wait()?;
        if status.success() {
            return Ok(());
        }
        let reason = said.lines().rev().find(|line| !line.trim().is_empty());
        Err(io::Error::other(tr!(
            "ffmpeg ended with {status}: {reason}",
            status = status,
            reason = reason.unwrap_or(tr!("it gives no reason"))
        )))
    }
}
