//! `lifestreams lesson`: lists the lessons, or runs them and prints what was measured.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Result;

use serde_json::Value;

use super::options::{LessonArguments, LessonCommand};
use super::text::{
    BadArguments, CheckFailed, columns, print, print_json, print_text, refuse, say, write_new,
};
use lang::tr;
use lesson::Speedup;
use lesson::{Group, LESSONS, Lesson, LessonError, LessonImage, Outcome};
use session::finding_in_words;
use window::picture_file::{Image, write_png};

pub(super) fn main(arguments: &LessonArguments) -> Result<()> {
    match &arguments.what {
        Some(LessonCommand::Check { file }) => {
            let lesson = find(file)?;
            return print(&tr!(
                "{lesson}: {count} parts",
                lesson = lesson.name,
                count = lesson.parts.len()
            ));
        }
        Some(LessonCommand::New { file, from }) => {
            write_new(file, lesson::shipped_file(from))?;
            return print(&tr!(
                "{file}: a copy of the lesson {from}",
                file = file.display()
            ));
        }
        None => (),
    }
    let Some(name) = &arguments.name else {
        return list();
    };
    if arguments.child
        && let Some(lesson) = lesson::find(name)
    {
        let (mut requests, mut answers) = (std::io::stdin().lock(), std::io::stdout().lock());
        let device = arguments.device;
        return lesson::serve_connections(lesson, device, &mut requests, &mut answers)
            .map_err(unwrapped);
    }
    if let Some(path) = &arguments.picture {
        life::check_writable(path)?;
    }
    let all = name == "all";
    let lessons: Vec<&'static Lesson> = if all {
        LESSONS.iter().collect()
    } else {
        vec![find(Path::new(name))?]
    };
    let mut outcomes = Vec::new();
    for lesson in lessons {
        outcomes.push(run(lesson, arguments)?);
    }
    if let Some(path) = &arguments.picture {
        save(outcomes.iter().flat_map(|it| &it.pictures), path)?;
    }
    if arguments.json {
        match (all, &outcomes[..]) {
            (false, [one]) => print_json(&in_json(one)?)?,
            _ => print_json(&outcomes.iter().map(in_json).collect::<Result<Vec<_>>>()?)?,
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

/// The shipped lesson of this name, or else that of a file.
pub(super) fn find(path: &Path) -> Result<&'static Lesson> {
    let name = path.to_string_lossy();
    if let Some(lesson) = lesson::find(&name) {
        return Ok(lesson);
    }
    if !path.exists() {
        let names = LESSONS.iter().map(|it| (it.name.to_owned(), it.name));
        return refuse(match life::nearest(&name, names) {
            Some(near) => tr!("there is no lesson or file '{name}'; did you mean {near}?"),
            None => {
                tr!("there is no lesson or file '{name}'; 'lifestreams lesson' lists the lessons")
            }
        });
    }
    Lesson::open(path).map_err(|fault| {
        let place = fault.place.map(|it| format!(":{}:{}", it.line, it.column));
        let place = place.unwrap_or_default();
        BadArguments(format!("{}{place}: {}", path.display(), fault.message)).into()
    })
}

/// An outcome, with the ops of its rounds instead of what only pages show.
fn in_json(outcome: &Outcome) -> Result<Value> {
    let mut json = serde_json::to_value(outcome)?;
    for (part, of) in outcome.parts.iter().enumerate() {
        let json = &mut json["parts"][part];
        json["ops"] = serde_json::to_value(of.ops())?;
        if let Some(fields) = json.as_object_mut() {
            fields.remove("trace");
        }
    }
    Ok(json)
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
        let all = LESSONS.iter().zip(&lines);
        for (_, line) in all.filter(|(it, _)| it.group == group) {
            print(&format!("  {line}"))?;
        }
    }
    print("")?;
    print(tr!(
        "'lifestreams lesson NAME' runs one, 'lifestreams lesson all' every one"
    ))
}

/// Runs a lesson; prints what people read before and after, unless JSON is wanted.
fn run(lesson: &'static Lesson, arguments: &LessonArguments) -> Result<Outcome> {
    let tell = |lines: Vec<String>| {
        if arguments.json {
            return Ok(());
        }
        print_text(&lines.join("\n"))
    };
    let mut lines = vec![
        format!("{}: {}", lesson.name, lang::text(lesson.title)),
        format!("({})\n", lesson.source.in_words()),
        format!("{}\n", lang::text(lesson.intro)),
        format!("? {}", lang::text(lesson.question)),
    ];
    let choices = (1..).zip(lesson.choices_in_words());
    lines.extend(choices.map(|(number, choice)| format!("  {number}  {choice}")));
    lines.push(String::new());
    tell(lines)?;
    let silent = &mut |_| ControlFlow::Continue(());
    let outcome = lesson::run(lesson, arguments.device, None, silent).map_err(unwrapped)?;
    let mut lines = Vec::new();
    let is_recorded = outcome.recorded_in_words().is_some();
    if !is_recorded {
        lines.extend(outcome.speedup.iter().flat_map(curve_lines));
        // Where the engine lacks what the lesson is about, its times would say otherwise.
        if outcome.missing.is_none() {
            lines.extend(part_lines(lesson, &outcome));
        }
        lines.extend(finding_lines(&outcome));
    }
    for check in &outcome.checks {
        let verdict = if check.passed {
            tr!("ok")
        } else {
            tr!("WRONG")
        };
        lines.push(format!("{}  {}", lang::align_right(verdict, 8), check.what));
    }
    lines.extend(outcome.missing.iter().map(|it| format!("\n{it}")));
    if !is_recorded {
        lines.push(format!("\n{}", outcome.closing));
        lines.push(tr!("On {} ({}).", outcome.device, outcome.engine) + "\n");
    }
    let shown = outcome.shown();
    if let Some(recorded) = shown.recorded_in_words() {
        lines.push(format!("{}\n", lang::sentence_case(&recorded)));
        lines.extend(part_lines(lesson, shown));
        lines.extend(finding_lines(shown));
        lines.push(format!("\n{}\n", shown.closing));
    }
    tell(lines)?;
    Ok(outcome)
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

/// What the parts measured.
fn part_lines(lesson: &Lesson, outcome: &Outcome) -> Vec<String> {
    let mut lines = Vec::new();
    for (of, part) in lesson.parts.iter().zip(&outcome.parts) {
        let figures = part.figures.iter().map(|it| vec![it.name(), it.in_words()]);
        let ops = part.ops();
        let rows = figures.chain(ops.iter().map(|it| vec![it.name(), it.in_words()]));
        let mut rows = columns(&rows.collect::<Vec<_>>());
        rows.extend(Some(of.remarks(part)).filter(|it| !it.is_empty()));
        lines.push(lang::text(part.title).to_owned());
        lines.extend(rows.iter().map(|row| format!("  {row}")));
    }
    lines
}

/// A speed-up curve, a line for each number of instances.
fn curve_lines(speedup: &Speedup) -> Vec<String> {
    let rows = (0..speedup.measured()).map(|nth| {
        let [instances, rates] = speedup.row(nth);
        format!("  {instances}: {rates}")
    });
    let head = [speedup.caption(), Speedup::meaning().into()];
    head.into_iter().chain(rows).collect()
}

/// Writes pictures: the first under the name given, the others with a number behind it.
fn save<'a>(pictures: impl Iterator<Item = &'a LessonImage>, path: &Path) -> Result<()> {
    let mut pictures = pictures.enumerate().peekable();
    if pictures.peek().is_none() {
        say(tr!("no picture was made"));
    }
    for (i, picture) in pictures {
        let behind = if i > 0 {
            format!("-{}", i + 1)
        } else {
            String::new()
        };
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
