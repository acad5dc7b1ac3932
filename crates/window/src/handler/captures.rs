//! What the window leaves in files: pictures of it or of a panel, and recordings.
//!
//! A picture is rendered again and read back; another thread encodes and writes it. A recording
//! takes at most half of this thread's time.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::handler::{Handler, Recording, frame_of, then};
use crate::view::ViewError;
use crate::view::picture_file::Image;
use crate::view::recording::{Recorder, frames};

use lang::{message, tr};
use life::dated_stem;
use ui::{EmergencySave, say_last};

/// The least time between two pictures of a recording.
const MIN_FRAME_INTERVAL: Duration = Duration::from_millis(40);

impl Handler {
    /// Begins to record, or ends it.
    pub(super) fn toggle_recording(&mut self) {
        if self.recording.is_some() {
            self.end_recording();
        } else {
            let mut recording = Recording::new(format!("{}.gif", dated_stem()).into());
            recording.named = false;
            self.recording = Some(recording);
        }
    }

    /// Takes the frame that was just presented into the recording, if one is due.
    pub(super) fn record(&mut self) {
        let now = Instant::now();
        if self.app.status.is_none() || self.recording.as_ref().is_none_or(|of| of.next > now) {
            return;
        }
        let taken = self.picture_of_now(self.app.options.single);
        let (Some(recording), emergency_save) = (&mut self.recording, &self.app.emergency_save)
        else {
            return;
        };
        let size = recording.recorder.as_ref().map(|it| it.size);
        let is_other = |image: &Image| size.is_some_and(|it| it != [image.width, image.height]);
        let is_resized = taken.as_ref().is_ok_and(is_other);
        let went_on = taken.and_then(|image| recording.take(image, now, emergency_save));
        recording.next = now + MIN_FRAME_INTERVAL.max(2 * now.elapsed());
        let named = recording.named;
        match went_on {
            Ok(Some(progress)) => self.show_notice(progress),
            Ok(None) if is_resized => {
                let fewer = self
                    .app
                    .frames
                    .is_some_and(|most| self.frames_counted() < most);
                self.end_recording();
                let why = message!("Recording stopped: the window's size changed");
                self.show_notice(why.clone());
                if named && fewer {
                    self.failed.get_or_insert(ViewError::Refused(why).into());
                }
            }
            Ok(None) => self.end_recording(), // its end says why
            Err(error) => {
                self.end_recording();
                self.show_notice(error.to_string());
                if named {
                    self.failed.get_or_insert(error.into());
                }
            }
        }
    }

    /// How many of the frames there are that `--frames` asks for: the pictures of the recording that
    /// `--record` began, for as long as it goes on, else the frames that were presented.
    pub(super) fn frames_counted(&self) -> u64 {
        match &self.recording {
            Some(Recording {
                named: true,
                recorder,
                ..
            }) => recorder.as_ref().map_or(0, |it| it.taken),
            _ => self.presented,
        }
    }

    /// Ends the recording, if there is one; its file is whole a little later.
    pub(crate) fn end_recording(&mut self) {
        let Some(Recording {
            recorder: Some(recorder),
            named,
            ..
        }) = self.recording.take()
        else {
            return;
        };
        let whole = recorder.end();
        let wait = move || {
            let (said, failure) = match whole() {
                Ok(done) => {
                    if let Some(video) = done.video {
                        say_last(vec![video]);
                    }
                    let file = in_its_folder(&done.path);
                    let frames = frames(done.frames);
                    let said = tr!("Saved {file}: {frames}");
                    (said, None)
                }
                Err(error) => (error.to_string(), Some(error)),
            };
            then(move |it| it.recording_ended(said, failure.filter(|_| named)))
        };
        let failed = move |it: &mut Handler, why: String| {
            let failure = named.then(|| ViewError::Refused(why.clone().into()));
            it.recording_ended(why, failure);
        };
        self.run_to_the_end(wait, failed);
    }

    /// A recording's file is whole, or why not; the error is the program's failure, too, if `--record` asked
    /// for the recording.
    fn recording_ended(&mut self, said: String, failure: Option<ViewError>) {
        if let Some(error) = failure {
            self.failed.get_or_insert(error.into());
        }
        self.show_notice(said);
    }

    /// The picture of what the window shows, or of the selected panel alone.
    pub(super) fn picture_of_now(&mut self, panel: bool) -> Result<Image, ViewError> {
        let Some(screen) = &mut self.surface else {
            return Err(ViewError::Refused(message!(
                "no window to take a picture of"
            )));
        };
        // What only the person at the window is told of.
        let drawing = &mut self.app.drawing;
        let told = (drawing.notice.take(), drawing.recording.take());
        let frame = frame_of(&self.app, &self.editor, screen);
        let shown = self.app.status.as_ref().filter(|_| panel);
        let place = shown.zip(frame.layout()).map(|(status, (layout, _))| {
            let alone = self.app.single_instance().map(|_| 0);
            layout.tiling.rect(alone.unwrap_or(status.panels.selected))
        });
        let image = screen.picture(&frame);
        (self.app.drawing.notice, self.app.drawing.recording) = told;
        let image = image?;
        Ok(match place {
            Some(place) => image.cut(place),
            None => image,
        })
    }
}

/// A file as the notice of it names it: with the folder that it is in.
pub(super) fn in_its_folder(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (whole.file_name(), whole.parent()) {
        (Some(name), Some(folder)) => tr!(
            "{name} in {folder}",
            name = name.display(),
            folder = folder.display()
        ),
        _ => path.display().to_string(),
    }
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

    /// For how long it has gone on: nothing before its first picture.
    pub(super) fn lasted(&self, now: Instant) -> Duration {
        let began = self.recorder.as_ref().map_or(now, |_| self.began);
        now.saturating_duration_since(began)
    }

    /// Takes the picture of this moment; the recorder begins with the first. How the recording goes, in words;
    /// nothing if no more can be written.
    fn take(
        &mut self,
        image: Image,
        now: Instant,
        emergency_save: &EmergencySave,
    ) -> Result<Option<String>, ViewError> {
        let size = [image.width, image.height];
        let recorder = match &mut self.recorder {
            Some(recorder) => recorder,
            None => {
                self.began = now;
                let begun = Recorder::begin(&self.path, self.named, size)?;
                emergency_save.add_recording(begun.finisher());
                self.recorder.insert(begun)
            }
        };
        let goes_on = recorder.offer(image, now - self.began);
        Ok(goes_on.then(|| recorder.progress()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_file_is_named_with_its_folder() {
        let said = in_its_folder("/home/ada/films/life.gif".as_ref());
        assert_eq!(said, "life.gif in /home/ada/films");
        let here = std::env::current_dir().unwrap();
        let said = in_its_folder("life.gif".as_ref());
        assert_eq!(said, format!("life.gif in {}", here.display()));
    }
}
