//! `lifestreams exercise`: lists the exercises, starts them and checks what a person made of them.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::failure::{BadArguments, CheckFailed};
use super::kernel;
use super::options::{ExerciseCommand, KernelCheckArguments};
use super::round;
use super::text::{print, say};
use lang::tr;
use lesson::{EXERCISES, Exercise, ExerciseProgress, Task};

pub(super) fn main(command: &ExerciseCommand) -> Result<()> {
    let path = ExerciseProgress::path().ok_or_else(|| {
        BadArguments(
            tr!("there is no folder for progress in the exercises here: HOME is not set").into(),
        )
    })?;
    let progress = read(&path);
    match command {
        ExerciseCommand::List => list(&progress),
        ExerciseCommand::Start { exercise } => start(exercise, &path),
        ExerciseCommand::Next => match progress.next() {
            Some(exercise) => start(exercise, &path),
            None => print(tr!("every exercise is solved")),
        },
        ExerciseCommand::Check { exercise, json } => {
            let exercise = exercise.or(progress.current()).ok_or_else(|| {
                BadArguments(
                    tr!("no exercise is in progress; 'lifestreams exercise next' starts one")
                        .into(),
                )
            })?;
            check(exercise, &path, *json)
        }
    }
}

/// The progress so far: none if its file is not readable, which is said.
fn read(path: &Path) -> ExerciseProgress {
    ExerciseProgress::read(path).unwrap_or_else(|why| {
        say(&tr!(
            "{path} cannot be read: {why}; no exercise counts as solved",
            path = path.display()
        ));
        ExerciseProgress::default()
    })
}

/// Changes the progress. A damaged file is kept, which is said.
fn update(path: &Path, change: impl FnOnce(&mut ExerciseProgress)) -> Result<ExerciseProgress> {
    let (progress, kept) = ExerciseProgress::update(path, change)?;
    if let Some(kept) = kept {
        say(&tr!("the damaged file is kept as {}", kept.display()));
    }
    Ok(progress)
}

fn file(exercise: &Exercise) -> PathBuf {
    PathBuf::from(exercise.name).with_extension(exercise.extension())
}

fn list(progress: &ExerciseProgress) -> Result<()> {
    let widths = EXERCISES.iter().map(|it| it.name.len());
    let width = widths.max().unwrap_or(0);
    for (number, exercise) in (1..).zip(EXERCISES) {
        let is_current = progress
            .current()
            .is_some_and(|it| it.name == exercise.name);
        let state = if progress.is_solved(exercise) {
            tr!("  (solved)")
        } else if is_current {
            tr!("  (in progress)")
        } else {
            ""
        };
        let title = lang::text(exercise.title);
        print(&format!(
            "{number}  {:width$}  {title}{state}",
            exercise.name
        ))?;
    }
    print("")?;
    print(tr!(
        "'lifestreams exercise start NAME' writes one into this folder"
    ))
}

fn start(exercise: &Exercise, path: &Path) -> Result<()> {
    let file = file(exercise);
    round::write_new(&file, &exercise.file())?;
    update(path, |progress| progress.start(exercise))?;
    print(&format!(
        "{}: {}",
        exercise.name,
        lang::text(exercise.title)
    ))?;
    for sentence in exercise.text {
        print(lang::text(sentence))?;
    }
    print(&tr!(
        "Edit {file}; 'lifestreams exercise check' checks it",
        file = file.display()
    ))
}

fn check(exercise: &Exercise, path: &Path, json: bool) -> Result<()> {
    let file = file(exercise);
    let reported = match &exercise.task {
        Task::Round(task) => {
            let source = round::read(&file)?;
            round::report(&file, &task.check(&source), json)
        }
        Task::Kernel(task) => kernel::check(&KernelCheckArguments::of(&file, json), Some(task)),
    };
    if matches!(&reported, Err(error) if !error.is::<CheckFailed>()) {
        return reported;
    }
    let progress = update(path, |progress| {
        progress.start(exercise);
        if reported.is_ok() {
            progress.solve(exercise);
        }
    })?;
    reported?;
    if json {
        return Ok(());
    }
    print(&tr!(
        "{file}: right, and {name} is solved",
        file = file.display(),
        name = exercise.name
    ))?;
    print(match progress.next() {
        Some(_) => tr!("'lifestreams exercise next' starts the next one"),
        None => tr!("every exercise is solved"),
    })
}
