//! `lifestreams round`: writes a round to begin with, and checks rounds that a person wrote.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use super::failure::{BadArguments, CheckFailed, unreadable};
use super::options::RoundCommand;
use super::text::{print, print_json};
use lang::tr;
use life::{ReadError, read_regular_file, write_atomically};
use script::{Fault, Place, Script, ScriptErrorKind, Verdict, Work};

/// The longest file that is read; longer ones than a script may be are refused by a sentence of their own.
const MAX_BYTES: u64 = 1 << 20;

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

/// Writes a file that does not exist yet.
pub(super) fn write_new(path: &Path, text: &str) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        let path = path.display();
        let why = tr!("{path} exists already and was not changed; name another file or folder");
        return Err(BadArguments(why).into());
    }
    Ok(write_atomically(path, |file| {
        file.write_all(text.as_bytes())
    })?)
}

/// The text of a script's file.
pub(super) fn read(path: &Path) -> Result<String> {
    let bytes = match read_regular_file(path, MAX_BYTES) {
        Err(ReadError::Empty) => Ok(Vec::new()),
        bytes => bytes,
    };
    let text = Script::decode(bytes.map_err(|why| unreadable(path, why))?);
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
                return Err(BadArguments(located(path, error.place, &error.message)).into());
            }
            ScriptErrorKind::NoThread => return Err(error.message.clone().into()),
            ScriptErrorKind::Wrong => {}
        }
    }
    if json {
        print_json(&Report::of(path, verdict))?;
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
    let is_same = |a: &Fault, b: &Fault| {
        let places = a.places();
        !places.is_empty() && a.name == b.name && places == b.places()
    };
    let mut alike: Vec<(&Fault, usize)> = Vec::new();
    for fault in faults {
        match alike.iter_mut().find(|(first, _)| is_same(first, fault)) {
            Some((_, others)) => *others += 1,
            None => alike.push((fault, 0)),
        }
    }
    let line = |(fault, others): &(&Fault, usize)| {
        let line = located(path, fault.places().first().copied(), &fault.message);
        match others {
            0 => line,
            others => tr!("{fault} The same goes for {others} more.", fault = line),
        }
    };
    alike.iter().map(line).collect()
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    file: String,
    n: u32,
    right: bool,
    faults: Vec<ReportedFault>,
}

#[derive(Serialize)]
struct ReportedFault {
    kind: &'static str,
    /// The call that is to be changed comes first.
    places: Vec<ReportedPlace>,
    /// The indices of the same calls in the round.
    calls: Vec<usize>,
    sentence: String,
}

#[derive(Serialize)]
struct ReportedPlace {
    line: u32,
    column: u32,
}

impl Report {
    fn of(path: &Path, verdict: &Verdict) -> Report {
        let reported = |place: Place| ReportedPlace {
            line: place.line,
            column: place.column,
        };
        let faults = match &verdict.faults {
            Ok(faults) => faults
                .iter()
                .map(|fault| ReportedFault {
                    kind: fault.name,
                    places: fault.places().into_iter().map(reported).collect(),
                    calls: fault.calls.iter().map(|it| it.index).collect(),
                    sentence: lang::english(&fault.message),
                })
                .collect(),
            Err(error) => vec![ReportedFault {
                kind: "script",
                places: error.place.map(reported).into_iter().collect(),
                calls: Vec::new(),
                sentence: lang::english(&error.message),
            }],
        };
        Report {
            file: path.display().to_string(),
            n: verdict.items,
            right: verdict.is_right(),
            faults,
        }
    }
}
