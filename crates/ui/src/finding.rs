//! What was found about two settings, as the class should see it: large, beside the timeline, until
//! the next change; what is said while A and B are compared, and of recorded rounds.

use crate::numbers::{grouped, time_us};

use crate::Action;
use engine::Kernel;
use lang::tr;
use session::{
    AbComparison, Finding, RECORDED_KEY, SessionAction, SettingStatus, Side, Source, Status,
    Switch, Switches, finding_in_words, load_in_words, recorded_in_words, unknown_in_words,
};

use Source::*;

/// How a finding is shown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Tone {
    /// Rounds are still being compared.
    Measuring,
    /// The change made rounds faster.
    Better,
    /// It made them slower, or there is no difference, or none can be told.
    Neutral,
    /// It was recorded on another machine.
    Recorded,
}

/// A finding in words.
#[derive(Clone, PartialEq, Debug)]
pub struct Headline {
    /// What was changed, or that B is set against A; empty where the factor says it all.
    pub subject: String,
    /// The factor with its interval, or that it is being measured.
    pub factor: String,
    /// The times of a round before and after, or A's and B's, and under which load they were measured;
    /// empty before there are any.
    pub times: String,
    /// These times in microseconds.
    pub round_us: [Option<f64>; 2],
    /// How it is shown.
    pub tone: Tone,
}

/// The finding of the comparison of A and B, or else of the last change; `None` if nothing was
/// changed.
pub fn headline(status: &Status) -> Option<Headline> {
    let (subject, round_us, finding, source) =
        match (&status.lab.comparison, &status.lab.last_effect) {
            (Some(ab), _) if ab.is_of_equals() => {
                return Some(Headline {
                    subject: String::new(),
                    factor: same_settings().into(),
                    times: String::new(),
                    round_us: [None; 2],
                    tone: Tone::Neutral,
                });
            }
            (Some(ab), _) => {
                let [_, settings] = settings(ab, status.setting.kernel);
                let each = ab.each;
                let subject = tr!("B ({settings}) against A, N = {each} each");
                (subject, ab.round_us, ab.finding, &ab.source)
            }
            (None, Some(effect)) => {
                let what = effect.what.to_string();
                (what, effect.round_us, effect.finding, &effect.source)
            }
            (None, None) => return None,
        };
    let mut times = String::new();
    if let [Some(before), Some(after)] = round_us {
        let [before, after] = [before, after].map(time_us);
        times = tr!("{before} → {after} per round");
        times = match source {
            MeasuredHere(load) => {
                let load = load_in_words(load, status.engine.name);
                let parts: Vec<_> = [tr!("now {times}")].into_iter().chain(load).collect();
                parts.join(" · ")
            }
            RecordedOn(recorded) => format!("{times} · {}", recorded_in_words(recorded)),
        };
    }
    let tone = match (finding, source) {
        (None, MeasuredHere(_)) => Tone::Measuring,
        (Some(_), RecordedOn(_)) => Tone::Recorded,
        (Some(finding), MeasuredHere(_)) if finding.is_faster() => Tone::Better,
        _ => Tone::Neutral,
    };
    Some(Headline {
        subject,
        factor: finding.map_or_else(|| unknown_in_words(source).into(), finding_in_words),
        times,
        round_us,
        tone,
    })
}

/// The texts for one of the two settings.
#[derive(Clone, PartialEq, Debug)]
pub struct SideTexts {
    /// Which one it is.
    pub side: Side,
    /// The switches in which the two differ, in words.
    pub settings: String,
    /// How long a round takes.
    pub time: String,
}

/// The texts of a comparison.
#[derive(Clone, PartialEq, Debug)]
pub struct ComparisonTexts {
    /// Of A and of B.
    pub sides: [SideTexts; 2],
    /// How B's rounds compare with A's.
    pub factor: String,
    /// Whether their cells are the same, and that in words; `None` before they were compared.
    pub cells: Option<(bool, String)>,
    /// Whether both have the same settings.
    pub is_of_equals: bool,
    /// Whether factor and times were recorded on another machine.
    pub is_recorded: bool,
}

impl ComparisonTexts {
    /// Of a session; `None` if it compares nothing.
    pub fn of(status: &Status) -> Option<ComparisonTexts> {
        let comparison = status.lab.comparison.as_ref()?;
        let settings = settings(comparison, status.setting.kernel);
        let side = |side: Side| SideTexts {
            side,
            settings: settings[side as usize].clone(),
            time: match comparison.round_us[side as usize] {
                _ if comparison.is_of_equals() => tr!("not measured").into(),
                Some(us) => tr!("{} per round", time_us(us)),
                None => unknown_in_words(&comparison.source).into(),
            },
        };
        let cells = |(cells, generation): (u64, u64)| {
            let verb = if cells == 1 {
                tr!("cell differs")
            } else {
                tr!("cells differ")
            };
            let (count, generation) = (grouped(cells), grouped(generation));
            let text = tr!("{} {verb} · checked at generation {}", count, generation);
            (cells == 0, text)
        };
        Some(ComparisonTexts {
            sides: Side::ALL.map(side),
            factor: factor(comparison),
            cells: comparison.differing.map(cells),
            is_of_equals: comparison.is_of_equals(),
            is_recorded: matches!(comparison.source, RecordedOn(_)),
        })
    }

    /// One short line per fact, for the terminal. `has_finding` leaves out the factor, which the
    /// [finding](crate::finding::Headline) shows already.
    pub fn in_short(&self, has_finding: bool) -> Vec<String> {
        let side = |it: &SideTexts| {
            let label = format!("{} {}", it.side.name(), it.settings);
            tr!("{label}: {value}", value = it.time)
        };
        let factor = Some(self.factor.clone()).filter(|_| !has_finding);
        let sides = if self.is_of_equals {
            Vec::new()
        } else {
            self.sides.iter().map(side).collect()
        };
        let cells = match &self.cells {
            Some((_, text)) => text.clone(),
            None => tr!("comparing the cells …").into(),
        };
        sides.into_iter().chain(factor).chain([cells]).collect()
    }
}

/// The switches in which A and B differ, in words.
fn settings(comparison: &AbComparison, kernel: &Kernel) -> [String; 2] {
    let [a, b] = comparison.switches;
    let differing = a.differing(b, kernel);
    if differing.is_empty() {
        return Side::ALL.map(|_| tr!("the same settings").into());
    }
    comparison.switches.map(|of| {
        let words = differing.iter().map(|it| it.in_words(of, kernel));
        words.collect::<Vec<_>>().join(" · ")
    })
}

/// The sentence shown in place of a factor where A and B are equal.
fn same_settings() -> &'static str {
    tr!("A and B have the same settings")
}

/// How B's rounds compare with A's.
fn factor(comparison: &AbComparison) -> String {
    if comparison.is_of_equals() {
        return same_settings().into();
    }
    let Some(finding) = comparison.finding else {
        return unknown_in_words(&comparison.source).into();
    };
    let factor = finding_in_words(finding);
    match finding {
        Finding::Difference { .. } => tr!("B against A: {factor}"),
        Finding::NoDifference { .. }
        | Finding::NotResolved { .. }
        | Finding::ChangesWithLoad { .. } => tr!("A and B: {factor}"),
    }
}

/// What is said where recorded rounds are shown instead of measurements.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedTexts {
    /// Whether the round that is drawn was recorded, or predicted from recorded ops, or neither.
    pub badge: &'static str,
    /// Where and when rounds were recorded.
    pub origin: String,
    /// How fast the cells go here, in relation to the recorded rounds; empty while that is unknown.
    pub pace: String,
    /// That none were recorded with the present setting, and what was; empty if some were.
    pub missing: String,
}

impl RecordedTexts {
    /// Of a session; `None` if it measures.
    pub fn of(status: &Status) -> Option<RecordedTexts> {
        let recording = status.lab.recording.as_ref()?;
        let pace = match recording.pace {
            None => String::new(),
            Some(pace) if pace > 0.95 => tr!("cells: this machine's CPU, at the same pace").into(),
            Some(pace) => tr!(
                "cells: this machine's CPU, at 1/{part} of that GPU's pace",
                part = format!("{:.0}", (1.0 / pace).max(2.0))
            ),
        };
        let what = recorded_in_words(&recording.recorded);
        let has_setting = status.rates.round_us.is_some();
        // Only of a user's round are ops known without a recording: as they are predicted.
        let is_predicted = !has_setting && status.lab.isolated.is_some();
        let (badge, origin) = if is_predicted {
            let origin = tr!("predicted from operations {what}");
            (tr!("predicted"), origin)
        } else if has_setting {
            (tr!("recorded"), what)
        } else {
            (tr!("not recorded"), what)
        };
        let missing = match recording.nearest {
            _ if has_setting || is_predicted => String::new(),
            Some(nearest) => tr!(
                "There is no recording of this setting; press {keys}",
                keys = keys_to(nearest, &status.setting)
            ),
            None => tr!(
                "There are no recordings of such lattices, but of 1, 2, 4 … 64 of 1024 × 1024 cells, and of every step of the lectures; press {key} to measure on this CPU",
                key = RECORDED_KEY
            ),
        };
        Some(RecordedTexts {
            badge,
            origin: lang::sentence_case(&origin),
            pace,
            missing,
        })
    }
}

/// The keys that lead from a setting to this kernel and these switches, each with what it sets.
fn keys_to((kernel, switches): (&str, Switches), from: &SettingStatus) -> String {
    let switch = |it: Switch| {
        let choice = it.choice(switches, from.kernel.into());
        format!("{} ({} {})", it.key(), it.name(), choice.label)
    };
    let keys = switches.differing(from.switches, from.kernel);
    let key = Action::from(SessionAction::NextKernel).key();
    let kernel = (kernel != from.kernel.name).then(|| tr!("{key} (kernel {kernel})"));
    keys.into_iter()
        .map(switch)
        .chain(kernel)
        .collect::<Vec<_>>()
        .join(", ")
}
