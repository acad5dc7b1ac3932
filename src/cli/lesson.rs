//! `lifestreams lesson`: lists the lessons, or runs them and prints what was measured.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::options::LessonArguments;
use super::text::{CheckFailed, columns, print, print_json, print_text, say};
use lang::tr;
use lesson::Speedup;
use lesson::{Group, LESSONS, Lesson, LessonError, Outcome, PartOutcome, Progress};
use session::finding_in_words;
use window::picture_file::{Image, write_png};

pub(super) fn main(arguments: &LessonArguments) -> Result<()> {
    let Some(name) = &arguments.name else {
        return list();
    };
    if arguments.child {
        let (mut requests, mut answers) = (std::io::stdin().lock(), std::io::stdout().lock());
        let device = arguments.device;
        return lesson::serve_connections(device, &mut requests, &mut answers).map_err(unwrapped);
    }
    if let Some(path) = &arguments.picture {
        life::check_writable(path)?;
    }
    let all = name == "all";
    let chosen: Vec<&'static Lesson> = if all {
        LESSONS.iter().collect()
    } else {
        lesson::find(name).into_iter().collect()
    };
    let mut outcomes = Vec::new();
    for lesson in chosen {
        let outcome = run(lesson, arguments)?;
        if let Some(path) = &arguments.picture {
            save(&outcome, path, all)?;
        }
        outcomes.push(outcome);
    }
    if arguments.json {
        // What only pages show.
        for part in outcomes.iter_mut().flat_map(|it| &mut it.parts) {
            (part.interval_ms, part.trace) = (None, None);
        }
        match (all, &outcomes[..]) {
            (false, [one]) => print_json(one)?,
            _ => print_json(&outcomes)?,
        }
    }
    let failed: Vec<String> = outcomes
        .iter()
        .flat_map(|outcome| {
            let wrong = outcome.checks.iter().filter(|check| !check.passed);
            wrong.map(|check| format!("{}: {}", outcome.lesson, check.what))
        })
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(CheckFailed(tr!("failed: {}", failed.join("; "))).into())
}

/// So that the exit code is that of what went wrong beneath.
pub(super) fn unwrapped(error: LessonError) -> anyhow::Error {
    match error {
        LessonError::Engine(error) => error.into(),
        other => other.into(),
    }
}

fn list() -> Result<()> {
    let row = |it: &Lesson| vec![it.name.to_owned(), lang::text(it.title).to_owned()];
    let lines = columns(&LESSONS.iter().map(row).collect::<Vec<_>>());
    for group in Group::ALL {
        print(group.title())?;
        let of_group = LESSONS
            .iter()
            .zip(&lines)
            .filter(|(it, _)| it.group == group);
        of_group
            .into_iter()
            .try_for_each(|(_, line)| print(&format!("  {line}")))?;
    }
    print("")?;
    print(tr!(
        "'lifestreams lesson NAME' runs one, 'lifestreams lesson all' every one"
    ))
}

/// Runs a lesson; prints what people read on the way, unless JSON is wanted.
fn run(lesson: &'static Lesson, arguments: &LessonArguments) -> Result<Outcome> {
    let told = !arguments.json;
    let mut broken = None;
    let mut tell_line = |line: String| {
        if told && broken.is_none() {
            broken = print_text(&line).err();
        }
    };
    tell_line(format!("{}: {}", lesson.name, lang::text(lesson.title)));
    tell_line(format!("({})\n", lesson.source.in_words()));
    tell_line(format!("{}\n", lang::text(lesson.intro)));
    tell_line(format!("? {}", lang::text(lesson.question)));
    for (at, choice) in lesson.choices.in_words().iter().enumerate() {
        tell_line(format!("  {}  {choice}", at + 1));
    }
    tell_line(String::new());
    let outcome = lesson::run(lesson, arguments.device, None, &mut |progress| {
        let lines = match progress {
            Progress::Measuring(_) | Progress::Waiting { .. } => Vec::new(),
            Progress::Swept(speedup) => curve_lines(&speedup),
            Progress::Measured(part) if lesson.missing_on_cpu.is_none() => part_lines(&part),
            // Where the engine lacks what the lesson is about, its times would say otherwise.
            Progress::Measured(_) => Vec::new(),
        };
        lines.into_iter().for_each(&mut tell_line);
        ControlFlow::Continue(())
    })
    .map_err(unwrapped)?;
    let is_recorded = outcome.recorded_in_words().is_some();
    if !is_recorded {
        if lesson.missing_on_cpu.is_some() && outcome.missing.is_none() {
            let parts = outcome.parts.iter().flat_map(part_lines);
            parts.for_each(&mut tell_line);
        }
        finding_lines(&outcome).into_iter().for_each(&mut tell_line);
    }
    for check in &outcome.checks {
        let verdict = if check.passed {
            tr!("ok")
        } else {
            tr!("WRONG")
        };
        tell_line(format!("{}  {}", lang::align_right(verdict, 8), check.what));
    }
    if let Some(missing) = &outcome.missing {
        tell_line(format!("\n{missing}"));
    }
    if outcome.is_unrecorded {
        let sentence = lang::sentence_case(tr!("nothing was recorded of this lesson on a GPU"));
        tell_line(format!("\n{sentence}"));
    }
    if !is_recorded {
        tell_line(format!("\n{}", outcome.closing));
        tell_line(tr!("On {} ({}).", outcome.device, outcome.engine) + "\n");
    }
    if let Some(recorded) = outcome.shown().recorded_in_words() {
        let outcome = outcome.shown();
        tell_line(format!("{}\n", lang::sentence_case(&recorded)));
        let parts = outcome.parts.iter().flat_map(part_lines);
        let lines = parts.chain(finding_lines(outcome));
        lines.for_each(&mut tell_line);
        tell_line(format!("\n{}\n", outcome.closing));
    }
    match broken {
        Some(error) => Err(error),
        None => Ok(outcome),
    }
}

/// What was found of each comparison, below an empty line.
fn finding_lines(outcome: &Outcome) -> Vec<String> {
    let findings = outcome.factors.iter().map(|factor| {
        let label = lang::text(factor.label);
        let finding = finding_in_words(factor.finding);
        let found = tr!("{label}: {finding}");
        format!("  {found}")
    });
    let windows = outcome.windows_in_words();
    let windows = windows.map(|windows| format!("  ({windows})"));
    let first = std::iter::once(String::new());
    first.chain(findings).chain(windows).collect()
}

/// What a part measured.
fn part_lines(part: &PartOutcome) -> Vec<String> {
    let rows = part.figures.iter().map(|figure| {
        let value = format!("{:>9} {}", figure.digits(), figure.unit);
        vec![figure.name(), value]
    });
    let figures = columns(&rows.collect::<Vec<_>>()).into_iter();
    let figures = figures.map(|line| format!("  {line}"));
    let title = std::iter::once(lang::text(part.title).to_owned());
    let note = part.note.iter();
    let note = note.map(|note| format!("  {}", lang::shown(note)));
    title.chain(figures).chain(note).collect()
}

/// The newest points of a speed-up curve, below a head if they are the first.
fn curve_lines(speedup: &Speedup) -> Vec<String> {
    let Some(newest) = speedup.measured().checked_sub(1) else {
        return Vec::new();
    };
    let [instances, rates] = speedup.row(newest);
    let mut lines = vec![format!("  {instances}: {rates}")];
    if newest == 0 {
        lines.splice(0..0, [speedup.caption(), Speedup::meaning().into()]);
    }
    lines
}

/// Writes a lesson's pictures: the first under the name given, the others with a number behind it;
/// where all lessons are run, with the lesson's name behind it too.
fn save(outcome: &Outcome, path: &Path, all: bool) -> Result<()> {
    if outcome.pictures.is_empty() && !all {
        say(&tr!("{} has no picture", outcome.lesson));
    }
    for (i, picture) in outcome.pictures.iter().enumerate() {
        let mut behind = String::new();
        if all {
            behind += &format!("-{}", outcome.lesson);
        }
        if i > 0 {
            behind += &format!("-{}", i + 1);
        }
        let image = Image {
            width: picture.width,
            height: picture.height,
            rgba: picture.rgba.to_vec(),
        };
        write_png(&image, &named(path, &behind))?;
    }
    Ok(())
}

fn named(path: &Path, behind: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or("png".as_ref());
    path.with_file_name(format!("{stem}{behind}.{}", extension.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_pictures_have_a_number_behind_their_name() {
        let path = Path::new("folder/a.b.png");
        assert_eq!(named(path, ""), path);
        assert_eq!(named(path, "-2"), Path::new("folder/a.b-2.png"));
        assert_eq!(named(Path::new("a"), "-2"), Path::new("a-2.png"));
    }
}
