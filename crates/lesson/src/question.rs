//! What the class is asked to predict.

use crate::file::Lesson;
use crate::outcome::Outcome;
use lang::tr;
use session::Finding;

impl Lesson {
    /// What the class may predict: each choice, as it is read.
    pub fn choices_in_words(&self) -> Vec<String> {
        let factors = self.factors.iter().copied().map(factor_in_words);
        let words = self.choices.iter().map(|it| lang::text(it.text).to_owned());
        factors.chain(words).collect()
    }

    /// The factor that a choice stands for, and of which of the lesson's comparisons.
    pub fn factor(&self, choice: usize) -> Option<(usize, f64)> {
        Some((self.asked, *self.factors.get(choice)?))
    }

    /// Which choice is nearest to what was measured; `None` if that was not resolved, or the engine lacks
    /// what the lesson is about.
    pub fn right(&self, outcome: &Outcome) -> Option<usize> {
        if outcome.missing.is_some() || outcome.parts.is_empty() {
            return None;
        }
        if !self.factors.is_empty() {
            return nearest_factor(&self.factors, outcome.factors.get(self.asked)?.finding);
        }
        if let Some(right) = self.choices.iter().position(|it| it.right) {
            return Some(right);
        }
        let value = self.answered(outcome);
        let at = |choice: &super::Choice| match &choice.of {
            Some(label) => outcome.parts[0].milliseconds(label),
            None => choice
                .from
                .filter(|from| value.is_some_and(|value| *from <= value)),
        };
        let held = self.choices.iter().map(at).enumerate();
        let held = held.filter_map(|(choice, value)| Some((choice, value?)));
        let last = held.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(last.0)
    }
}

/// Which of some factors is nearest to what was measured, over all of its interval; `None` if two of them are, or
/// there were too few rounds for an interval.
pub fn nearest_factor(factors: &[f64], finding: Finding) -> Option<usize> {
    let nearest = |measured: f64| {
        let distance = |factor: &f64| (factor / measured).ln().abs();
        let places = factors.iter().map(distance).enumerate();
        Some(places.min_by(|a, b| a.1.total_cmp(&b.1))?.0)
    };
    let [first, last] = finding.interval()?.map(nearest);
    first.filter(|_| first == last)
}

/// A factor as a choice; less than 1 is slower.
pub fn factor_in_words(factor: f64) -> String {
    let times = (100.0 * factor.max(1.0 / factor)).round() / 100.0;
    if times == 1.0 {
        tr!("no difference").into()
    } else if factor < 1.0 {
        tr!("{factor}× slower", factor = times)
    } else {
        tr!("{factor}× faster", factor = times)
    }
}
