//! A part that another process measures, because its driver has another number of connections.

use std::io::{BufRead, BufReader, Error, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde::{Deserialize, Serialize};
use session::DeviceChoice;

use crate::bench::{Bench, LessonError, Result};
use crate::file::{Lesson, Part};
use crate::outcome::{Experiment, Measured};
use crate::script_run::ScriptRun;

/// What the child says of a run, as one line of JSON on stdout.
#[derive(Serialize, Deserialize)]
struct Answer {
    ms: f64,
    /// Whether every check passed.
    right: bool,
}

impl From<Error> for LessonError {
    fn from(error: Error) -> LessonError {
        LessonError::Child(error.to_string())
    }
}

/// The measurement itself, in a process whose driver has started with some connections: for each line
/// of `requests` a run of the lesson's first part, and a line of JSON about it to `answers`.
///
/// # Errors
/// Where the engine fails, or the parent is gone.
pub fn serve(
    lesson: &Lesson,
    device: DeviceChoice,
    requests: &mut dyn BufRead,
    answers: &mut dyn Write,
) -> Result<()> {
    let bench = Bench::open(device)?;
    let mut run = ScriptRun::new(&lesson.parts[0], lesson.timed, &bench)?;
    let mut request = String::new();
    while requests.read_line(&mut request)? > 0 {
        let ms = run.sample()?.compared_ms();
        let checks = run.check()?.checks;
        let right = checks.iter().all(|check| check.passed);
        let answer = serde_json::to_string(&Answer { ms, right }).map_err(Error::from)?;
        writeln!(answers, "{answer}")?;
        answers.flush()?;
        request.clear();
    }
    Ok(())
}

/// A process with a number of connections. It ends once its stdin is closed.
pub(crate) struct Connected {
    child: Child,
    answers: BufReader<ChildStdout>,
    label: &'static str,
}

impl Connected {
    pub(crate) fn new(lesson: &Lesson, part: &Part, bench: &Bench) -> Result<Connected> {
        let connections = part.connections.unwrap_or_default().to_string();
        let mut child = Command::new(std::env::current_exe()?)
            .args([
                "lesson",
                lesson.name,
                "--child",
                "--device",
                &bench.choice.to_string(),
            ])
            .env("CUDA_DEVICE_MAX_CONNECTIONS", connections)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let answers = child.stdout.take().expect("it is piped");
        Ok(Connected {
            answers: BufReader::new(answers),
            child,
            label: lesson.timed,
        })
    }

    fn ask(&mut self) -> std::io::Result<String> {
        if let Some(requests) = &mut self.child.stdin {
            requests.write_all(b"\n")?;
        }
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(answer)
    }

    /// What the child says of its end.
    fn why(&mut self) -> String {
        self.child.stdin = None;
        let mut said = String::new();
        if let Some(errors) = &mut self.child.stderr {
            let _ = errors.read_to_string(&mut said); // then there is nothing to say
        }
        said.trim().into()
    }
}

impl Experiment for Connected {
    fn sample(&mut self) -> Result<Measured> {
        let answer = self.ask().unwrap_or_default();
        let answer: Answer = serde_json::from_str(&answer)
            .map_err(|error| LessonError::Child(format!("{error}: {}", self.why())))?;
        let what = lang::tr!("every check of the other process passed");
        let mut measured = Measured::of_time(self.label, answer.ms);
        measured.check(what, answer.right);
        Ok(measured)
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        let _ = self.child.wait(); // it ends by itself, since that closes its stdin
    }
}
