//! `lifestreams round` writes a round to begin with, and checks rounds that a person wrote; `lifestreams
//! exercise` lists the exercises, starts them and checks what a person made of them.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

use super::kernel;
use super::options::{ExerciseCommand, KernelCheckArguments, RoundCommand};
use super::text::{
    BadArguments, CheckFailed, columns, is_wrong, print, print_json, read_bytes, refuse, say,
    write_new,
};
use lang::{Message, tr};
use lesson::{EXERCISES, Exercise, ExerciseProgress, Task};
use script::{Fault, Place, ScriptErrorKind, Verdict, Work};
use session::DeviceChoice;
use ui::code_editor::Code;

pub(super) fn main(command: &RoundCommand) -> Result<()> {
    match command {
        RoundCommand::New { file } => {
            write_new(file, &script::new_round())?;
            let path = file.display();
            print(&tr!(
                "wrote {file}; check it with 'lifestreams round check {file}'",
                file = path
            ))
        }
        RoundCommand::Check {
            file,
            instances,
            json,
        } => {
            let verdict = Verdict::of(&read(file)?, Work::Lattices, *instances as u32, &[]);
            report(file, &verdict, *json)?;
            if *json {
                return Ok(());
            }
            let path = file.display();
            print(&tr!("{path}: right for N = {n}", n = instances))
        }
    }
}

/// The text of a script's file.
pub(super) fn read(path: &Path) -> Result<String> {
    let text = script::decode(read_bytes(path)?);
    Ok(text.map_err(|error| BadArguments(located(path, error.place, &error.message)))?)
}

/// Prints what is wrong, a line each, or everything as JSON.
///
/// # Errors
/// If anything is wrong.
pub(super) fn report(path: &Path, verdict: &Verdict, json: bool) -> Result<()> {
    if let Err(error) = &verdict.faults {
        match error.kind {
            ScriptErrorKind::TooLong => {
                return refuse(located(path, error.place, &error.message));
            }
            ScriptErrorKind::NoThread => return Err(error.message.clone().into()),
            ScriptErrorKind::Wrong => {}
        }
    }
    if json {
        print_json(&in_json(path, verdict))?;
    } else {
        match &verdict.faults {
            Ok(faults) => lines(path, faults)
                .iter()
                .try_for_each(|line| print(line))?,
            Err(error) => print(&located(path, error.place, &error.message))?,
        }
    }
    if verdict.is_right() {
        return Ok(());
    }
    let (path, n) = (path.display(), verdict.items);
    Err(CheckFailed(tr!("{path} is wrong for N = {n}")).into())
}

/// What `--json` prints; of a fault's places, the call that is to be changed comes first.
fn in_json(path: &Path, verdict: &Verdict) -> Value {
    let place = |place: Place| json!({"line": place.line, "column": place.column});
    let fault = |kind: &str, places: Vec<Place>, calls: Vec<usize>, sentence: &Message| {
        let places: Vec<Value> = places.into_iter().map(place).collect();
        let sentence = lang::english(sentence);
        json!({"kind": kind, "places": places, "calls": calls, "sentence": sentence})
    };
    let faults: Vec<Value> = match &verdict.faults {
        Ok(faults) => {
            let one = |it: &Fault| fault(it.name, it.places.clone(), it.calls.clone(), &it.message);
            faults.iter().map(one).collect()
        }
        Err(error) => {
            let places = error.place.into_iter().collect();
            vec![fault("script", places, Vec::new(), &error.message)]
        }
    };
    json!({
        "file": path.display().to_string(),
        "n": verdict.items,
        "right": verdict.is_right(),
        "faults": faults,
    })
}

/// A sentence about a place in a file, as editors read it.
pub(super) fn located(path: &Path, place: Option<Place>, sentence: &str) -> String {
    let path = path.display();
    match place {
        Some(Place { line, column }) => format!("{path}:{line}:{column}: {sentence}"),
        None => format!("{path}: {sentence}"),
    }
}

/// A line for each fault; those of the same kind at the same places, which a loop makes, share one.
fn lines(path: &Path, faults: &[Fault]) -> Vec<String> {
    let is_same =
        |a: &Fault, b: &Fault| !a.places.is_empty() && a.name == b.name && a.places == b.places;
    let mut alike: Vec<(&Fault, usize)> = Vec::new();
    for fault in faults {
        match alike.iter_mut().find(|(first, _)| is_same(first, fault)) {
            Some((_, others)) => *others += 1,
            None => alike.push((fault, 0)),
        }
    }
    let line = |(fault, others): &(&Fault, usize)| {
        let line = located(path, fault.places.first().copied(), &fault.message);
        match others {
            0 => line,
            others => tr!("{fault} The same goes for {others} more.", fault = line),
        }
    };
    alike.iter().map(line).collect()
}

pub(super) fn exercise(command: &ExerciseCommand) -> Result<()> {
    let Some(path) = ExerciseProgress::path() else {
        return refuse(tr!(
            "there is no folder for progress in the exercises here: HOME is not set"
        ));
    };
    let progress = progress_in(&path);
    match command {
        ExerciseCommand::List => list(&progress),
        ExerciseCommand::Start { exercise } => start(exercise, &path),
        ExerciseCommand::Next => match progress.next() {
            Some(exercise) => start(exercise, &path),
            None => print(tr!("every exercise is solved")),
        },
        ExerciseCommand::Check {
            exercise,
            hint,
            json,
        } => {
            let Some(exercise) = exercise.or(progress.current()) else {
                return refuse(tr!(
                    "no exercise is in progress; 'lifestreams exercise next' starts one"
                ));
            };
            check_exercise(exercise, &path, *hint, *json)
        }
    }
}

/// The progress so far: none if its file is not readable, which is said.
fn progress_in(path: &Path) -> ExerciseProgress {
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
    PathBuf::from(exercise.name).with_extension(Code::of_exercise(exercise).extension())
}

fn list(progress: &ExerciseProgress) -> Result<()> {
    let rows = (1..).zip(EXERCISES).map(|(number, exercise)| {
        let current = progress.current();
        let state = if progress.is_solved(exercise) {
            tr!("  (solved)")
        } else if current.is_some_and(|it| it.name == exercise.name) {
            tr!("  (in progress)")
        } else {
            ""
        };
        let title = lang::text(exercise.title);
        vec![
            format!("{number}  {}", exercise.name),
            format!("{title}{state}"),
        ]
    });
    let lines = columns(&rows.collect::<Vec<_>>());
    lines.iter().try_for_each(|line| print(line))?;
    print("")?;
    print(tr!(
        "'lifestreams exercise start NAME' writes one into this folder"
    ))
}

fn start(exercise: &Exercise, path: &Path) -> Result<()> {
    let file = file(exercise);
    write_new(&file, &exercise.file())?;
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

/// Checks an exercise. What is wrong is a hint that is to be asked for, but for what does not compile.
fn check_exercise(exercise: &Exercise, path: &Path, hint: bool, json: bool) -> Result<()> {
    let file = file(exercise);
    let reported = match &exercise.task {
        Task::Round(task) => {
            let verdict = task.check(&read(&file)?);
            match &verdict.faults {
                Ok(faults) if !(faults.is_empty() || hint || json) => Err(is_wrong(&file)),
                _ => report(&file, &verdict, json),
            }
        }
        Task::Kernel(task) => {
            let arguments = KernelCheckArguments {
                file: file.clone(),
                device: DeviceChoice::Auto,
                json,
            };
            kernel::check(&arguments, Some((task, hint)))
        }
    };
    if matches!(&reported, Err(error) if !error.is::<CheckFailed>()) {
        return reported;
    }
    // Without a GPU, nothing tells how fast a kernel is.
    let rung = match &exercise.task {
        Task::Kernel(task) if kernel::gpu_that_times(DeviceChoice::Auto)?.is_none() => {
            task.faster_than
        }
        _ => None,
    };
    let progress = update(path, |progress| {
        progress.start(exercise);
        if reported.is_ok() && rung.is_none() {
            progress.solve(exercise);
        }
    })?;
    reported?;
    if json {
        return Ok(());
    }
    if let Some(rung) = rung {
        return print(&tr!(
            "{file}: right; whether it is faster than {rung} stays open without a GPU",
            file = file.display()
        ));
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
