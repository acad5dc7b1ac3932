//! Which exercises a person has solved, in a file on their machine.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;
use lang::{Message, message};
use life::{ReadError, SaveError, dated_name, read_regular_file, write_atomically};
use serde::{Deserialize, Serialize};

use crate::exercise::{EXERCISES, Exercise};

/// The longest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The names of the exercise in progress and of the solved ones. Names from other versions of the program
/// are kept.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExerciseProgress {
    current: Option<String>,
    solved: BTreeSet<String>,
}

impl ExerciseProgress {
    /// Where the file is, or would be; `None` if the platform has no folder for it.
    pub fn path() -> Option<PathBuf> {
        let folders = ProjectDirs::from("", "", "lifestreams")?;
        Some(folders.data_local_dir().join("exercises.json"))
    }

    /// Reads the file; no progress if there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged.
    pub fn read(path: &Path) -> Result<ExerciseProgress, Message> {
        match read_regular_file(path, MAX_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|_| message!("it is damaged")),
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                Ok(ExerciseProgress::default())
            }
            Err(error) => Err(Message::of(error)),
        }
    }

    /// Changes the file, whatever other processes note there meanwhile, and makes its folder. A damaged file
    /// gets another name, which is returned with the changed progress.
    ///
    /// # Errors
    /// The folder or the file cannot be written; an existing file is unchanged.
    pub fn update(
        path: &Path,
        change: impl FnOnce(&mut ExerciseProgress),
    ) -> Result<(ExerciseProgress, Option<PathBuf>), SaveError> {
        let failed = |error| SaveError::new(path, &error);
        let folder = path.parent().unwrap_or(path);
        fs::create_dir_all(folder).map_err(failed)?;
        let lock = File::open(folder);
        // Not every system locks folders. It lasts until the end of this function.
        let _ = lock.as_ref().map(File::lock);
        let mut kept = None;
        let mut progress = ExerciseProgress::read(path).or_else(|_| {
            let beside = path.with_file_name(dated_name(path, "json"));
            fs::rename(path, &beside).map_err(failed)?;
            kept = Some(beside);
            Ok(ExerciseProgress::default())
        })?;
        change(&mut progress);
        write_atomically(path, |file| {
            serde_json::to_writer(&mut *file, &progress)?;
            writeln!(file)
        })?;
        Ok((progress, kept))
    }

    /// The exercise in progress.
    pub fn current(&self) -> Option<&'static Exercise> {
        let current = self.current.as_deref()?;
        EXERCISES.iter().find(|it| it.name == current)
    }

    /// Makes this exercise the one in progress.
    pub fn start(&mut self, exercise: &Exercise) {
        self.current = Some(exercise.name.to_owned());
    }

    /// Notes that this exercise is solved.
    pub fn solve(&mut self, exercise: &Exercise) {
        self.solved.insert(exercise.name.to_owned());
    }

    /// Whether this exercise is solved.
    pub fn is_solved(&self, exercise: &Exercise) -> bool {
        self.solved.contains(exercise.name)
    }

    /// The first unsolved exercise after the one in progress; those before it come last, and then itself.
    pub fn next(&self) -> Option<&'static Exercise> {
        let current = self.current().map(|it| it.name);
        let after = EXERCISES.iter().position(|it| Some(it.name) == current);
        let (before, after) = EXERCISES.split_at(after.map_or(0, |at| at + 1));
        after.iter().chain(before).find(|it| !self.is_solved(it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_what_all_have_written_and_a_damaged_file_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("not/yet/exercises.json");
        let read = || ExerciseProgress::read(&path);
        let update = |change: &dyn Fn(&mut ExerciseProgress)| {
            ExerciseProgress::update(&path, change).unwrap()
        };
        assert_eq!(read().unwrap(), ExerciseProgress::default());
        let updated = update(&|progress| {
            progress.start(&EXERCISES[2]);
            progress.solve(&EXERCISES[0]);
        });
        assert_eq!(updated, (read().unwrap(), None));
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\"current\":\"race\",\"solved\":[\"overlap\"]}\n");
        for damaged in [
            "",
            "{",
            "\0\0",
            "{\"current\": 3}",
            "{\"solved\": null}",
            "{\"other\": 1}",
        ] {
            fs::write(&path, damaged).unwrap();
            assert!(read().is_err(), "{damaged}");
            let (progress, kept) = update(&|_| ());
            assert_eq!(progress, ExerciseProgress::default());
            assert_eq!(fs::read_to_string(kept.unwrap()).unwrap(), damaged);
        }
        std::thread::scope(|scope| {
            for exercise in EXERCISES {
                scope.spawn(|| update(&|progress| progress.solve(exercise)));
            }
        });
        let next = || read().unwrap().next().map(|it| it.name);
        assert_eq!(next(), None);
        fs::write(&path, "{\"solved\":[\"of-another-version\"]}").unwrap();
        assert_eq!(next(), Some("overlap"));
        assert!(ExerciseProgress::read(folder.path()).is_err());
    }

    #[test]
    fn the_next_exercise_is_the_first_unsolved_one_behind_the_one_in_progress() {
        let mut progress = ExerciseProgress::default();
        let next = |progress: &ExerciseProgress| progress.next().map(|it| it.name);
        assert_eq!(next(&progress), Some("overlap"));
        progress.start(&EXERCISES[0]);
        assert_eq!(next(&progress), Some("order"));
        progress.start(EXERCISES.last().unwrap());
        assert_eq!(next(&progress), Some("overlap"));
        let but_one = EXERCISES.iter().filter(|it| it.name != "events");
        but_one.for_each(|it| progress.solve(it));
        assert_eq!(next(&progress), Some("events"));
        progress.solve(&EXERCISES[5]);
        assert_eq!(next(&progress), None);
    }
}
