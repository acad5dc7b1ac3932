//! What is said while two settings are compared: what differs in them, how long each takes, and that
//! their cells are the same.

use serde::{Deserialize, Serialize};

use crate::numbers::{grouped, time_us};
use engine::Kernel;
use lang::tr;
use model::{AbComparison, Finding, Side, Switch};

/// What is said of one of the two settings.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SideTexts {
    /// Which one it is.
    pub side: Side,
    /// The switches in which the two differ, in words, and in fewer where there is no room for those.
    pub settings: [String; 2],
    /// How long a round takes.
    pub time: String,
}

/// What is said of a comparison.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ComparisonTexts {
    /// Of A and of B.
    pub sides: [SideTexts; 2],
    /// How B's rounds compare with A's, in words and in fewer.
    pub factor: [String; 2],
    /// Whether their cells are the same, and that in words; `None` before they were compared.
    pub cells: Option<(bool, String)>,
}

impl ComparisonTexts {
    /// Of this comparison, whose instances this kernel steps.
    pub fn of(comparison: &AbComparison, kernel: &Kernel) -> ComparisonTexts {
        let settings = settings(comparison, kernel);
        let side = |side: Side| SideTexts {
            side,
            settings: settings[side as usize].clone(),
            time: match comparison.round_us[side as usize] {
                Some(us) => tr!("{} per round", time_us(us)),
                None => tr!("measuring …").into(),
            },
        };
        ComparisonTexts {
            sides: Side::ALL.map(side),
            factor: factor(comparison),
            cells: sameness(comparison.differing),
        }
    }

    /// All of it in one line, for whoever has no more.
    pub fn in_one_line(&self) -> String {
        let side = |it: &SideTexts| format!("{} {}: {}", it.side.name(), it.settings[1], it.time);
        let [a, b] = self.sides.each_ref().map(side);
        let [_, factor] = &self.factor;
        let cells = self.cells.as_ref().map(|(_, text)| text.clone());
        let parts = [Some(a), Some(b), Some(factor.clone()), cells];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

/// The switches in which A and B differ, in words, and in fewer where there is no room for those.
fn settings(comparison: &AbComparison, kernel: &Kernel) -> [[String; 2]; 2] {
    let position = |side: Side, switch: Switch| {
        let now = comparison.switches[side as usize];
        let mut choices = switch.choices(now, kernel);
        choices.swap_remove(switch.position(now, kernel)).label
    };
    let differing: Vec<Switch> = Switch::ALL
        .into_iter()
        .filter(|&switch| position(Side::A, switch) != position(Side::B, switch))
        .collect();
    Side::ALL.map(|side| {
        let labels = differing.iter().map(|&switch| position(side, switch));
        let short: Vec<String> = labels.collect();
        let names = differing.iter().map(|switch| switch.name());
        let long: Vec<String> = names
            .zip(&short)
            .map(|(name, label)| format!("{name} {label}"))
            .collect();
        if differing.is_empty() {
            return [tr!("the same settings").into(), tr!("the same").into()];
        }
        [long, short].map(|words| words.join(" · "))
    })
}

/// How B's rounds compare with A's, in words and in fewer.
fn factor(comparison: &AbComparison) -> [String; 2] {
    let Some(finding) = comparison.finding else {
        return [tr!("measuring …").into(), "…".into()];
    };
    let factor = finding.in_words();
    let long = match finding {
        Finding::Difference { .. } => tr!("B against A: {factor}", factor = factor),
        Finding::NoDifference { .. } => tr!("A and B: {factor}", factor = factor),
        Finding::TooNoisy => factor.clone(),
    };
    [long, factor]
}

/// Whether their cells are the same, and that in words; `None` before they were compared.
fn sameness(differing: Option<(u64, u64)>) -> Option<(bool, String)> {
    let (cells, generation) = differing?;
    let verb = if cells == 1 {
        tr!("cell differs")
    } else {
        tr!("cells differ")
    };
    let text = tr!(
        "{} {verb} · generation {}",
        grouped(cells),
        grouped(generation),
        verb = verb
    );
    Some((cells == 0, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::HostMemory;
    use engine::kernels::find;
    use model::{Streams, Switches};

    fn comparison(b: Switches, finding: Option<Finding>) -> AbComparison {
        AbComparison {
            switches: [Switches::DEFAULT, b],
            round_us: finding.map_or([None; 2], |_| [Some(1000.0), Some(4000.0)]),
            finding,
            differing: None,
            each: 8,
        }
    }

    #[test]
    fn only_what_differs_is_named() {
        let kernel = find("bits").unwrap();
        let b = Switches {
            streams: Streams::One,
            host_memory: HostMemory::Pageable,
            ..Switches::DEFAULT
        };
        let [a, b] = settings(&comparison(b, None), kernel);
        assert_eq!(a[0], "streams per-instance · host memory pinned");
        assert_eq!(b, ["streams one · host memory pageable", "one · pageable"]);
        let [a, b] = settings(&comparison(Switches::DEFAULT, None), kernel);
        assert_eq!(
            (a[0].as_str(), b[1].as_str()),
            ("the same settings", "the same")
        );
    }

    #[test]
    fn b_is_set_against_a_as_it_was_found() {
        let say = |finding| factor(&comparison(Switches::DEFAULT, finding));
        let slower = Finding::of(0.25, [0.24, 0.26]);
        let want = ["B against A: 4.0× slower ± 0.2", "4.0× slower ± 0.2"];
        assert_eq!(say(Some(slower)), want);
        let none = Finding::NoDifference { within: 0.03 };
        assert_eq!(say(Some(none))[0], "A and B: no difference (within 3 %)");
        assert_eq!(say(Some(Finding::TooNoisy))[0], "too noisy here to tell");
        assert_eq!(say(None)[0], "measuring …");
    }

    #[test]
    fn cells_are_the_same_or_it_is_a_fault() {
        assert_eq!(sameness(None), None);
        let same = (true, "0 cells differ · generation 1,234".to_owned());
        assert_eq!(sameness(Some((0, 1234))), Some(same));
        let fault = (false, "1 cell differs · generation 9".to_owned());
        assert_eq!(sameness(Some((1, 9))), Some(fault));
    }

    #[test]
    fn one_line_has_both_times_the_factor_and_the_cells() {
        let b = Switches {
            streams: Streams::One,
            ..Switches::DEFAULT
        };
        let mut compared = comparison(b, Some(Finding::of(0.25, [0.24, 0.26])));
        compared.differing = Some((0, 60));
        let line = ComparisonTexts::of(&compared, find("bits").unwrap()).in_one_line();
        for part in [
            "A per-instance: 1.00 ms",
            "B one: 4.00 ms",
            "4.0× slower ± 0.2",
            "0 cells differ",
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
    }
}
