//! A recording of the window under way.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::view::ViewError;
use crate::view::picture_file::Image;
use crate::view::recording::Recorder;
use ui::EmergencySave;

/// A recording under way.
pub(super) struct Recording {
    pub(super) recorder: Option<Recorder>,
    path: PathBuf,
    /// Whether `--record` named it: then a file of that name is replaced, and what goes wrong with it
    /// is the program's failure. Else a number comes behind the name, and the person is told.
    pub(super) named: bool,
    began: Instant,
    pub(super) next: Instant,
}

impl Recording {
    pub(super) fn new(path: PathBuf) -> Recording {
        let now = Instant::now();
        Recording {
            recorder: None,
            path,
            named: true,
            began: now,
            next: now,
        }
    }

    /// For how long it has gone on, in whole seconds: nothing before its first picture.
    pub(super) fn lasted(&self, now: Instant) -> Duration {
        let began = self.recorder.as_ref().map(|_| self.began);
        let lasted = began.map_or(Duration::ZERO, |began| now.saturating_duration_since(began));
        Duration::from_secs(lasted.as_secs())
    }

    /// Takes the picture of this moment; the recorder begins with the first.
    pub(super) fn take(
        &mut self,
        image: Image,
        now: Instant,
        emergency_save: &EmergencySave,
    ) -> Result<Taken, ViewError> {
        let size = [image.width, image.height];
        let recorder = match &mut self.recorder {
            Some(recorder) => recorder,
            None => {
                self.began = now;
                let begun = if self.named {
                    Recorder::begin(&self.path, size)?
                } else {
                    Recorder::begin_beside(&self.path, size)?
                };
                emergency_save.add_recording(Box::new(begun.finisher()));
                self.recorder.insert(begun)
            }
        };
        if recorder.size() != size {
            return Ok(Taken::Resized);
        }
        Ok(if recorder.offer(image, now - self.began) {
            Taken::Recorded(recorder.progress())
        } else {
            Taken::Ended
        })
    }
}

/// What became of a picture that a recording was offered.
pub(super) enum Taken {
    /// It is in it; how the recording goes, in words.
    Recorded(String),
    /// It has another size than those before it.
    Resized,
    /// Nothing more can be written.
    Ended,
}
