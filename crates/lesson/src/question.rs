//! What the class is asked to predict, and where a lesson comes from.

use super::Outcome;
use lang::tr;
use session::Finding;

/// Where a lesson comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A chapter of Brian Tuomanen's book, *Hands-On GPU Programming with Python and CUDA*, and the file of a
    /// program of it.
    Book(u8, &'static str),
    /// A section of NVIDIA's *CUDA C++ Programming Guide*.
    Guide(&'static str),
    /// A section of NVIDIA's *CUDA C++ Best Practices Guide*.
    BestPractices(&'static str),
}

impl Origin {
    /// As a reader finds it.
    pub fn in_words(self) -> String {
        match self {
            Origin::Book(chapter, program) => tr!(
                "Tuomanen, Hands-On GPU Programming with Python and CUDA, chapter {chapter}: {program}"
            ),
            Origin::Guide(section) => tr!("NVIDIA, CUDA C++ Programming Guide: {}", section),
            Origin::BestPractices(section) => {
                tr!("NVIDIA, CUDA C++ Best Practices Guide: {}", section)
            }
        }
    }
}

/// What the class may predict.
#[derive(Clone, Copy, Debug)]
pub enum Choices {
    /// How much faster one part is than another: which of the lesson's comparisons, and the time of the
    /// part that is expected to be slower over that of the other, in ascending order; 1 is no difference.
    Factors(usize, &'static [f64]),
    /// Sentences.
    Words {
        /// All of them.
        choices: &'static [&'static str],
        /// Which of them holds, by what was measured; `None` if that does not say.
        right: fn(&Outcome) -> Option<usize>,
    },
}

impl Choices {
    /// Each choice, as it is read.
    pub fn in_words(&self) -> Vec<String> {
        match self {
            Choices::Factors(_, factors) => factors.iter().copied().map(factor_in_words).collect(),
            Choices::Words { choices, .. } => choices.iter().map(|it| lang::shown(it)).collect(),
        }
    }

    /// The factor that a choice stands for, and of which of the lesson's comparisons.
    pub fn factor(&self, choice: usize) -> Option<(usize, f64)> {
        match self {
            Choices::Factors(comparison, factors) => Some((*comparison, *factors.get(choice)?)),
            Choices::Words { .. } => None,
        }
    }

    /// Which choice is nearest to what was measured; `None` if that was not resolved, or the engine lacks
    /// what the lesson is about.
    pub fn right(&self, outcome: &Outcome) -> Option<usize> {
        match self {
            _ if outcome.missing.is_some() => None,
            Choices::Words { right, .. } => right(outcome),
            Choices::Factors(comparison, factors) => {
                nearest_factor(factors, outcome.factors.get(*comparison)?.finding)
            }
        }
    }
}

/// Which of some factors is nearest to what was measured; `None` if that was not resolved.
pub fn nearest_factor(factors: &[f64], finding: Finding) -> Option<usize> {
    let measured = match finding {
        Finding::Difference { ratio, .. } => ratio,
        Finding::NoDifference { .. } => 1.0,
        Finding::NotResolved { .. } | Finding::ChangesWithLoad { .. } => return None,
    };
    let distance = |factor: &f64| (factor / measured).ln().abs();
    let places = factors.iter().map(distance).enumerate();
    let nearest = places.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(nearest.0)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LESSONS;

    #[test]
    fn every_lesson_has_choices_that_differ_and_can_be_typed() {
        for lesson in LESSONS {
            let name = lesson.name;
            let words = lesson.choices.in_words();
            assert!((2..=9).contains(&words.len()), "{name}");
            for (at, choice) in words.iter().enumerate() {
                assert!(!words[..at].contains(choice), "{name}: {choice}");
            }
            if let Choices::Factors(comparison, factors) = lesson.choices {
                assert!(factors.is_sorted(), "{name}");
                assert!(comparison < lesson.compared.len(), "{name}");
            }
        }
    }
}
