//! What was found about two settings, as the class should see it: large, beside the timeline, until
//! the next change.

use crate::comparison::{ComparisonTexts, same_settings};
use crate::numbers::time_us_to;
use lang::tr;
use session::{
    AbComparison, Source, Status, finding_in_words, load_in_words, recorded_in_words,
    unknown_in_words,
};

/// How a finding is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Headline {
    /// What was changed, or that B is set against A; empty where the factor says it all.
    pub subject: String,
    /// The factor with its interval, or that it is being measured.
    pub factor: String,
    /// The times of a round before and after, or A's and B's, and under which load they were measured;
    /// empty before there are any.
    pub times: String,
    /// How it is shown.
    pub tone: Tone,
}

/// The finding of the comparison of A and B, or else of the last change; `None` if nothing was
/// changed.
pub fn headline(status: &Status) -> Option<Headline> {
    if status
        .lab
        .comparison
        .as_ref()
        .is_some_and(AbComparison::is_of_equals)
    {
        return Some(Headline {
            subject: String::new(),
            factor: same_settings().into(),
            times: String::new(),
            tone: Tone::Neutral,
        });
    }
    let (subject, round_us, finding, source) =
        match (&status.lab.comparison, &status.lab.last_effect) {
            (Some(ab), _) => {
                let [_, b] = ComparisonTexts::of(ab, status.setting.kernel).sides;
                let subject = tr!(
                    "B ({settings}) against A, N = {each} each",
                    settings = b.settings,
                    each = ab.each
                );
                (subject, ab.round_us, ab.finding, &ab.source)
            }
            (None, Some(effect)) => {
                let what = effect.what.to_string();
                (what, effect.round_us, effect.finding, &effect.source)
            }
            (None, None) => return None,
        };
    let digits = finding.map_or(2, |finding| finding.digits());
    let times = match round_us {
        [Some(before), Some(after)] => {
            let [before, after] = [before, after].map(|us| time_us_to(us, digits));
            let times = tr!("{before} → {after} per round");
            match source {
                Source::MeasuredHere(load) => {
                    let load = load_in_words(load, status.engine.name);
                    let now = tr!("now {times}");
                    std::iter::once(now)
                        .chain(load)
                        .collect::<Vec<_>>()
                        .join(" · ")
                }
                Source::RecordedOn(recorded) => {
                    format!("{times} · {}", recorded_in_words(recorded))
                }
            }
        }
        _ => String::new(),
    };
    let (factor, tone) = match (finding, source) {
        (None, Source::RecordedOn(_)) => (unknown_in_words(source).into(), Tone::Neutral),
        (Some(finding), Source::RecordedOn(_)) => (finding_in_words(finding), Tone::Recorded),
        (None, Source::MeasuredHere(_)) => (unknown_in_words(source).into(), Tone::Measuring),
        (Some(finding), Source::MeasuredHere(_)) => {
            let is_better = finding.is_faster();
            let tone = if is_better {
                Tone::Better
            } else {
                Tone::Neutral
            };
            (finding_in_words(finding), tone)
        }
    };
    Some(Headline {
        subject,
        factor,
        times,
        tone,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{comparison, effect, status};
    use life::Size;
    use session::{Effect, Finding, Load, Recorded, Streams, Switches};

    fn changed(finding: Option<Finding>) -> Option<Headline> {
        let mut status = status(16, Size::new(64, 64).unwrap());
        status.lab.last_effect = Some(Effect {
            what: "one shared stream".into(),
            finding,
            ..effect()
        });
        headline(&status)
    }

    #[test]
    fn a_change_is_told_with_its_times_and_only_a_gain_is_good_news() {
        let slower = changed(Some(Finding::of(0.078, [0.077, 0.079]))).unwrap();
        assert_eq!(slower.subject, "one shared stream");
        assert_eq!(slower.factor, "12.8× slower ± 0.2");
        assert_eq!(slower.times, "now 170 µs → 2.18 ms per round");
        assert_eq!(slower.tone, Tone::Neutral);
        let tone = |finding| changed(finding).unwrap().tone;
        assert_eq!(tone(Some(Finding::of(2.0, [1.9, 2.1]))), Tone::Better);
        assert_eq!(tone(Some(Finding::of(1.1, [0.8, 1.5]))), Tone::Neutral);
        assert_eq!(tone(None), Tone::Measuring);
    }

    #[test]
    fn times_say_under_which_load_or_on_which_device_they_were_measured() {
        let mut status = status(16, Size::new(64, 64).unwrap());
        status.engine.name = "cpu";
        let mut load = Load::default();
        load.add(1.0, 1.5, true);
        load.add(1.0, 1.5, false);
        let mut times = |source| {
            status.lab.last_effect = Some(Effect {
                finding: Some(Finding::of(0.078, [0.06, 0.09])),
                source,
                ..effect()
            });
            headline(&status).unwrap().times
        };
        let here = "now 170 µs → 2.2 ms per round · 50 % of rounds preempted · 1.5 cores used";
        assert_eq!(times(Source::MeasuredHere(load)), here);
        let there = "170 µs → 2.2 ms per round · \
                     recorded on NVIDIA H200, 2026-11-26, commit 0123abcd";
        let recorded = Recorded {
            device: "NVIDIA H200".into(),
            date: "2026-11-26".into(),
            commit: "0123abcd".into(),
        };
        assert_eq!(times(Source::RecordedOn(recorded)), there);
    }

    #[test]
    fn while_a_and_b_are_compared_they_are_what_is_told() {
        let mut status = status(16, Size::new(64, 64).unwrap());
        assert_eq!(headline(&status), None);
        let b = Switches {
            streams: Streams::One,
            ..Switches::DEFAULT
        };
        status.lab.comparison = Some(AbComparison {
            round_us: [Some(100.0), None],
            finding: None,
            ..comparison(b)
        });
        let told = headline(&status).unwrap();
        assert_eq!(told.subject, "B (one stream) against A, N = 8 each");
        assert_eq!(told.times, "");
        assert_eq!(told.factor, "measuring …");
        if let Some(comparison) = &mut status.lab.comparison {
            comparison.switches = [b; 2];
            comparison.finding = Some(Finding::of(1.1, [0.8, 1.5]));
        }
        let told = headline(&status).unwrap();
        assert_eq!(told.factor, "A and B have the same settings");
        assert_eq!((told.subject.as_str(), told.tone), ("", Tone::Neutral));
    }
}
