//! `lifestreams lecture`: reads a lecture's file, and gives, checks or rehearses it.
//!
//! A step sets options of the command line, read by the same parsers: its setting is what `lifestreams
//! lecture` with these options, and with those of all steps before, would start.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use anyhow::Result;
use clap::builder::Resettable;
use clap::{Args as _, FromArgMatches as _, Parser as _};
use serde::Deserialize;
use toml::{Spanned, Value};

use super::bench::measure::{compare, with_pictures};
use super::options::{Cli, Command, Common, LectureArguments, LectureCommand};
use super::text::{self, BadArguments, print, read_text};
use super::{config, window};
use experiment::Plan;
use lang::{Language, Message, tr};
use lesson::Lesson;
use life::check_writable;
use session::trace::Recording;
use session::{DeviceChoice, Finding, Pace, Setup, finding_in_words, recorded_in_words};
use ui::{Lecture, LectureOptions, LecturePanel, LectureStep, Notes};

/// The lectures that come with the program.
const SHIPPED: [(&str, &str); 2] = [
    (
        "ten-minutes",
        include_str!("../../assets/lectures/ten-minutes.toml"),
    ),
    (
        "chapter-5",
        include_str!("../../assets/lectures/chapter-5.toml"),
    ),
];

/// What a step can set: the options that a session can change while it runs.
const SETTINGS: [&str; 14] = [
    "instances",
    "size",
    "rule",
    "density",
    "kernel",
    "streams",
    "host-memory",
    "wait",
    "order",
    "graphs",
    "transfer",
    "block",
    "generations-per-round",
    "pace",
];

/// Gives, checks or rehearses a lecture; a size that is asked for stays in every step.
pub(super) fn main(arguments: &LectureArguments) -> Result<()> {
    match &arguments.what {
        Some(LectureCommand::Check { lecture }) => {
            let lecture = read(lecture, &plain(DeviceChoice::Cpu))?.0;
            let count = lecture.steps.len();
            print(&tr!("{lecture}: {count} steps", lecture = lecture.title))
        }
        Some(LectureCommand::Rehearse { lecture, device }) => rehearse(lecture, *device),
        None => start(arguments),
    }
}

/// The lectures that come with the program.
pub(super) fn shipped(device: DeviceChoice) -> Result<Vec<Lecture>> {
    let lecture = |(name, _)| Ok(read(Path::new(name), &plain(device))?.0);
    SHIPPED.into_iter().map(lecture).collect()
}

/// The same for a list that a front end shows: none where they have no room in memory.
pub(super) fn for_a_list() -> Vec<Lecture> {
    shipped(DeviceChoice::Auto).unwrap_or_default()
}

fn start(arguments: &LectureArguments) -> Result<()> {
    for path in arguments.notes.iter().chain(&arguments.report) {
        check_writable(path)?;
    }
    let (lecture, first) = read(&arguments.lecture, arguments)?;
    let lecture = LectureOptions {
        lecture,
        notes: match &arguments.notes {
            Some(path) => Notes::File(path.clone()),
            None => Notes::Stdout,
        },
        report: arguments.report.clone(),
    };
    window::main(&first.common, &first.window, Some(lecture), for_a_list())
}

/// What was recorded of the change from one step to the next.
fn compare_recorded(before: &LectureStep, after: &LectureStep) -> Option<Finding> {
    let (group, before) = before.recorded()?;
    Some(group.compare(before, after.recorded()?.1)?.1)
}

/// What a step's change does to a round here.
fn measure(before: &LectureStep, after: &LectureStep) -> Result<Option<Finding>> {
    let (mut sim, share) = with_pictures(&before.setup)?;
    let plan = Plan::Windows(lesson::limits());
    let executor = compare(&mut sim, &share.setting, after.measured(), plan)?;
    Ok(executor.across_windows(0, 1).map(|it| it.1))
}

/// Measures what every step changes, and every lesson, and says what of it is resolved here; or says what was
/// recorded of them.
fn rehearse(path: &Path, device: DeviceChoice) -> Result<()> {
    let lecture = read(path, &plain(device))?.0;
    if device == DeviceChoice::Recorded {
        let recorded = recorded_in_words(&Recording::shipped().recorded);
        print(&lang::sentence_case(&recorded))?;
    }
    let mut before: Option<&LectureStep> = None;
    for (number, step) in (1..).zip(&lecture.steps) {
        let name = tr!("Step {number} of {of}", of = lecture.steps.len());
        if let Some(before) = before.filter(|before| step.is_one_change_from(before)) {
            let found = match device {
                DeviceChoice::Recorded => compare_recorded(before, step),
                _ => measure(before, step)?,
            };
            let found = found.map_or(tr!("not resolved").into(), finding_in_words);
            print(&format!("{name}: {found}"))?;
        }
        if let Some(lesson) = step.lesson {
            let outcome = lesson::run(lesson, device, None, &mut |_| ControlFlow::Continue(()));
            let outcome = outcome.map_err(super::lesson::unwrapped)?;
            let found = outcome.shown().findings_in_words();
            print(&format!("{name}, {}: {found}", lesson.name))?;
        }
        before = Some(step);
    }
    Ok(())
}

/// A lecture's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: Text,
    #[serde(rename = "step")]
    steps: Vec<Spanned<Step>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    #[serde(default)]
    set: BTreeMap<String, Spanned<Value>>,
    show: Option<Vec<LecturePanel>>,
    lesson: Option<Spanned<String>>,
    text: Option<Text>,
    question: Option<Text>,
    faster: Option<Spanned<Vec<f64>>>,
    slower: Option<Spanned<Vec<f64>>>,
    note: Option<Text>,
}

/// A text for all languages, or one for each.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
#[serde(expecting = "take a text, or one for each language: { en = \"…\", zh = \"…\" }")]
enum Text {
    All(String),
    Each { en: String, zh: String },
}

impl Text {
    fn message(&self) -> Message {
        Message::new(|| {
            let text = match (self, lang::language()) {
                (Text::All(text), _) => text,
                (Text::Each { en, .. }, Language::English) => en,
                (Text::Each { zh, .. }, Language::Chinese) => zh,
            };
            // Lines of the file are no lines of the screen.
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        })
    }
}

/// No options but the device.
fn plain(device: DeviceChoice) -> LectureArguments {
    let words = ["lifestreams", "lecture", &format!("--device={device}")];
    match Cli::parse_from(words).command {
        Some(Command::Lecture(arguments)) => *arguments,
        _ => unreachable!("the words name the command"),
    }
}

/// A shipped lecture of this name, or else that of a file, on top of these options; and those of its first
/// step.
fn read(path: &Path, typed: &LectureArguments) -> Result<(Lecture, LectureArguments)> {
    let shipped = SHIPPED.iter().find(|(name, _)| path == Path::new(name));
    let text = match shipped {
        Some((_, text)) => (*text).to_owned(),
        None => read_text(path)?,
    };
    let folder = path.parent().unwrap_or(path);
    parse(&text, folder, typed).map_err(|(span, why)| {
        let before = &text[..text.floor_char_boundary(span.start)];
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.chars().rev().take_while(|it| *it != '\n').count();
        let path = path.display();
        BadArguments(format!("{path}:{line}:{column}: {why}")).into()
    })
}

/// The lecture in a text, whose lessons' files are in a folder, and the options of its first step.
fn parse(
    text: &str,
    folder: &Path,
    typed: &LectureArguments,
) -> Result<(Lecture, LectureArguments), Located> {
    let file: File = toml::from_str(text).map_err(|error| {
        let span = error.span();
        (span.unwrap_or(0..0), error.message().to_owned())
    })?;
    let mut options = typed.clone();
    let (mut steps, mut asked, mut first) = (Vec::new(), Vec::new(), None);
    for step in file.steps {
        let values = step.get_ref().set.values().next();
        let span = values.map_or(step.span(), Spanned::span);
        let step = step.into_inner();
        for (name, value) in &step.set {
            let fault = |why| (value.span(), why);
            if !SETTINGS.contains(&name.as_str()) {
                return Err(fault(tr!(
                    "'{name}' cannot be set by a step; take one of: {settings}",
                    settings = SETTINGS.join(", ")
                )));
            }
            let text = config::option_value(value.get_ref());
            let text = text.ok_or_else(|| fault(tr!("{name} must be a text or a number")))?;
            match name.as_str() {
                "size" if typed.common.size.is_some() => {}
                name => set(&mut options, name, &text).map_err(fault)?,
            }
        }
        let fault = |why: String| (span.clone(), why);
        let setup = setup(&options).map_err(|why| fault(text::in_words(&why)))?;
        if !Pace::ALL.contains(&setup.pace) {
            let why = tr!(
                "take a pace that the keys + and − reach, such as 10, 60, 240, unthrottled or max"
            );
            return Err(fault(why.into()));
        }
        first.get_or_insert_with(|| options.clone());
        let factors = step.faster.as_ref().or(step.slower.as_ref());
        asked.push(factors.map(Spanned::span));
        let choices = choices(&step)?;
        let lesson = step.lesson.as_ref().map(|it| lesson_of(it, folder));
        steps.push(LectureStep {
            setup,
            lesson: lesson.transpose()?,
            shows: step.show,
            text: step.text.as_ref().map(Text::message),
            question: step.question.as_ref().map(Text::message),
            choices,
            note: step.note.as_ref().map(Text::message),
        });
    }
    let Some(first) = first else {
        return Err((0..0, tr!("a lecture has at least one [[step]]").into()));
    };
    for (at, span) in asked.into_iter().enumerate() {
        let Some(span) = span else { continue };
        let is_one_change = |next: &LectureStep| next.is_one_change_from(&steps[at]);
        if steps[at].question.is_none() {
            return Err((span, tr!("choices need a question").into()));
        } else if !steps.get(at + 1).is_some_and(is_one_change) {
            let why = tr!(
                "choices are about what the next step does to a round: it must change one switch or the kernel, and nothing else"
            );
            return Err((span, why.into()));
        }
    }
    let title = file.title.message();
    Ok((Lecture { title, steps }, first))
}

/// Sets an option as a step has it.
fn set(options: &mut LectureArguments, name: &str, text: &str) -> Result<(), String> {
    let common = &mut options.common;
    match name {
        "pace" => options.window.pace = Some(text.parse()?),
        "kernel" | "block" if common.kernel_file.is_some() => {
            return Err(tr!("{name} cannot be set beside --kernel-file"));
        }
        _ => {
            // Without defaults, which would take back what is set already.
            let command = Common::augment_args_for_update(clap::Command::new("lecture"));
            let command = command.mut_args(|it| it.default_value(Resettable::Reset));
            let matches = command.try_get_matches_from(["lecture", &format!("--{name}={text}")]);
            let updated = matches.and_then(|it| common.update_from_arg_matches(&it));
            updated.map_err(|error| config::in_a_line(&error))?;
        }
    }
    Ok(())
}

/// What is wrong in a lecture's file, after its place in the text.
type Located = (Range<usize>, String);

/// The whole setting of a step. The lattices' start is the session's, so that files of patterns are not
/// read for each step.
fn setup(arguments: &LectureArguments) -> Result<Setup> {
    let mut common = arguments.common.clone();
    common.pattern.clear();
    let setup = common.setup()?;
    Ok(Setup {
        pace: arguments.window.pace.unwrap_or(setup.pace),
        ..setup
    })
}

/// The shipped lesson of this name, or else that of a file, from a lecture's folder.
fn lesson_of(name: &Spanned<String>, folder: &Path) -> Result<&'static Lesson, Located> {
    if let Some(shipped) = lesson::find(name.get_ref()) {
        return Ok(shipped);
    }
    let of_file = super::lesson::find(&folder.join(name.get_ref()));
    of_file.map_err(|why| (name.span(), text::in_words(&why)))
}

/// What the class may say of the next step's change: factors above 1 are faster.
fn choices(step: &Step) -> Result<Vec<f64>, Located> {
    let (factors, is_faster) = match (&step.faster, &step.slower) {
        (None, None) => return Ok(Vec::new()),
        (Some(_), Some(slower)) => {
            let why = tr!("give either 'faster' or 'slower'");
            return Err((slower.span(), why.into()));
        }
        (Some(faster), None) => (faster, true),
        (None, Some(slower)) => (slower, false),
    };
    let (span, factors) = (factors.span(), factors.get_ref());
    let is_ascending = factors.is_sorted_by(|a, b| a < b);
    if !(2..=9).contains(&factors.len()) || factors[0] < 1.0 || !is_ascending {
        let why = tr!("take 2 to 9 factors from 1 on, in ascending order");
        return Err((span, why.into()));
    }
    let ratio = |&factor: &f64| if is_faster { factor } else { 1.0 / factor };
    Ok(factors.iter().map(ratio).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::kernels::KERNELS;
    use session::trace::{RecordedSetting, RoundWork};
    use session::{RecordedStatus, Setting, Status, Switch};
    use ui::RecordedTexts;

    fn shipped(name: &str, device: DeviceChoice) -> Lecture {
        read(Path::new(name), &plain(device)).unwrap().0
    }

    #[test]
    fn a_step_takes_no_longer_to_read_the_later_it_comes() {
        let step = "[[step]]\nset = { size = 64, wait = 'each', order = 'depth', graphs = false, pace = 60 }\n";
        let options = plain(DeviceChoice::Cpu);
        let [few, many] = [50, 400].map(|steps| {
            let before = platform::usage().cpu;
            let text = format!("title = 'Long'\n{}", step.repeat(steps));
            let read = parse(&text, Path::new(""), &options).expect("a lecture").0;
            assert_eq!(read.steps.len(), steps);
            platform::usage().cpu - before
        });
        assert!(many < few * 16, "{few:?}, {many:?}");
    }

    #[test]
    fn every_round_and_lesson_of_the_shipped_lectures_is_recorded_and_every_change_has_its_finding()
    {
        for (name, _) in SHIPPED {
            let steps = shipped(name, DeviceChoice::Recorded).steps;
            for (at, step) in steps.iter().enumerate() {
                let is_recorded = |it| lesson::recorded(it).is_some();
                assert!(step.lesson.is_none_or(is_recorded), "{name}: {at}");
                assert!(step.recorded().is_some(), "{name}: {at}");
                if at > 0 && step.is_one_change_from(&steps[at - 1]) {
                    let finding = compare_recorded(&steps[at - 1], step).unwrap();
                    let is_known = if steps[at - 1].question.is_some() {
                        matches!(finding, Finding::Difference { .. })
                    } else {
                        !matches!(finding, Finding::NotResolved { at_most: None })
                    };
                    assert!(is_known, "{name}, step {}: {finding:?}", at + 1);
                }
            }
        }
    }

    /// The keys of README's lecture in any order, from its start and from each step of the lectures.
    #[test]
    fn every_path_of_a_lecture_is_recorded_or_says_what_to_press() {
        let recording = Recording::shipped();
        let mut options = plain(DeviceChoice::Recorded);
        options.common.instances = 16;
        let steps = SHIPPED.map(|(name, _)| shipped(name, DeviceChoice::Recorded).steps);
        let setups = steps.into_iter().flatten().map(|step| step.setup);
        let (mut seen, mut unrecorded) = (Vec::new(), 0);
        for start in setups.chain([setup(&options).unwrap()]) {
            let work = RoundWork::of(&start, start.instances, start.generations_per_round);
            let group = recording.group(&work).unwrap();
            let mut left = vec![start];
            while let Some(setup) = left.pop() {
                let now = (work.clone(), setup.setting.clone());
                if seen.contains(&now) {
                    continue;
                }
                seen.push(now);
                let Setting {
                    kernel, switches, ..
                } = setup.setting;
                let nearest = group.nearest(kernel, switches).unwrap();
                let mut status = Status::before_start(&setup);
                let found = group.find(kernel, switches);
                status.rates.round_us = found.map(RecordedSetting::round_us);
                status.lab.recording = Some(RecordedStatus {
                    recorded: recording.recorded.clone(),
                    nearest: Some((&nearest.kernel, nearest.switches)),
                    pace: None,
                });
                let missing = RecordedTexts::of(&status).unwrap().missing;
                let (mut keys, mut pressed) = (String::new(), switches);
                for switch in Switch::ALL {
                    let wanted = switch.position(nearest.switches, kernel);
                    if wanted != switch.position(switches, kernel) {
                        keys += switch.key();
                        pressed = switch.positions(pressed, kernel)[wanted];
                    }
                }
                if kernel.name == nearest.kernel {
                    assert!(group.find(kernel, pressed).is_some(), "{missing}");
                } else {
                    keys += "K";
                }
                let said = missing.split(['(', ' ']).filter(|word| {
                    let mut all = Switch::ALL.iter().map(|it| it.key()).chain(["K"]);
                    all.any(|key| key == *word)
                });
                assert_eq!(said.collect::<String>(), keys, "{missing}");
                unrecorded += usize::from(!keys.is_empty());
                let with = |setting: Setting| Setup {
                    setting,
                    ..setup.clone()
                };
                for switch in [Switch::Streams, Switch::HostMemory, Switch::Graphs] {
                    let next = switch.next(switches, kernel.into());
                    let next = next.map(|it| with(setup.setting.with_switches(it.switches)));
                    left.extend(next.ok());
                }
                let kernels = KERNELS.iter().filter(|it| it.supports(setup.size));
                left.extend(kernels.map(|it| with(setup.setting.with_kernel(it))));
            }
        }
        assert!(
            seen.len() > 50 && unrecorded > 10,
            "{unrecorded} of {}",
            seen.len()
        );
    }

    #[test]
    fn the_shipped_lectures_say_everything_in_both_languages() {
        let has_chinese = |text: &Message| {
            let chinese = test_support::with(Language::Chinese, || text.to_string());
            chinese
                .chars()
                .any(|it| ('\u{4e00}'..'\u{9fff}').contains(&it))
        };
        for (name, _) in SHIPPED {
            let lecture = shipped(name, DeviceChoice::Cpu);
            for step in &lecture.steps {
                for text in [&step.text, &step.question, &step.note]
                    .into_iter()
                    .flatten()
                {
                    assert!(has_chinese(text), "{text}");
                }
            }
        }
    }
}
