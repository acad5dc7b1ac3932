//! What is said while two settings are compared: what differs in them, how long each takes, and that
//! their cells are the same.

use serde::{Deserialize, Serialize};

use crate::numbers::{grouped, time_us};
use engine::Kernel;
use lang::tr;
use model::{AbComparison, Finding, Side, Switch};

/// The texts for one of the two settings.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SideTexts {
    /// Which one it is.
    pub side: Side,
    /// The switches in which the two differ, in words, and in fewer where there is no room for those.
    pub settings: [String; 2],
    /// How long a round takes.
    pub time: String,
}

/// The texts of a comparison.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ComparisonTexts {
    /// Of A and of B.
    pub sides: [SideTexts; 2],
    /// How B's rounds compare with A's, in words and in fewer.
    pub factor: [String; 2],
    /// Whether their cells are the same, and that in words; `None` before they were compared.
    pub cells: Option<(bool, String)>,
    /// Whether both have the same settings.
    pub is_of_equals: bool,
}

impl ComparisonTexts {
    /// Of this comparison, whose instances this kernel steps.
    pub fn of(comparison: &AbComparison, kernel: &Kernel) -> ComparisonTexts {
        let settings = settings(comparison, kernel);
        let side = |side: Side| SideTexts {
            side,
            settings: settings[side as usize].clone(),
            time: match comparison.round_us[side as usize] {
                _ if comparison.is_of_equals() => tr!("not measured").into(),
                Some(us) => tr!("{} per round", time_us(us)),
                None => tr!("measuring …").into(),
            },
        };
        ComparisonTexts {
            sides: Side::ALL.map(side),
            factor: factor(comparison),
            cells: sameness(comparison.differing),
            is_of_equals: comparison.is_of_equals(),
        }
    }

    /// All of it in a few words each, for whoever has only lines; what B is against A is left out
    /// where the [finding](crate::finding::Headline) is in sight.
    pub fn in_short(&self, has_finding: bool) -> Vec<String> {
        let side = |it: &SideTexts| {
            let label = format!("{} {}", it.side.name(), it.settings[1]);
            tr!("{label}: {value}", label = label, value = it.time)
        };
        let [_, factor] = &self.factor;
        let factor = Some(factor.clone()).filter(|_| !has_finding);
        let sides = match self.is_of_equals {
            true => Vec::new(),
            false => self.sides.iter().map(side).collect(),
        };
        let cells = match &self.cells {
            Some((_, text)) => text.clone(),
            None => tr!("comparing the cells …").into(),
        };
        sides.into_iter().chain(factor).chain([cells]).collect()
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

/// Says that there is nothing to measure.
pub(crate) fn same_settings() -> &'static str {
    tr!("A and B have the same settings")
}

/// How B's rounds compare with A's, in words and in fewer.
fn factor(comparison: &AbComparison) -> [String; 2] {
    if comparison.is_of_equals() {
        return [same_settings().into(), same_settings().into()];
    }
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
        let b = Switches {
            streams: Streams::One,
            ..Switches::DEFAULT
        };
        let say = |finding| factor(&comparison(b, finding));
        let slower = Finding::of(0.25, [0.24, 0.26]);
        let want = ["B against A: 4.0× slower ± 0.2", "4.0× slower ± 0.2"];
        assert_eq!(say(Some(slower)), want);
        let none = Finding::NoDifference { within: 0.03 };
        assert_eq!(say(Some(none))[0], "A and B: no difference (within 3 %)");
        assert_eq!(say(Some(Finding::TooNoisy))[0], "too noisy here to tell");
        assert_eq!(say(None)[0], "measuring …");
        let equal = comparison(Switches::DEFAULT, Some(Finding::TooNoisy));
        let texts = ComparisonTexts::of(&equal, find("bits").unwrap());
        assert_eq!(texts.factor[0], "A and B have the same settings");
        assert_eq!(texts.sides[1].time, "not measured");
        let short = ["A and B have the same settings", "comparing the cells …"];
        assert_eq!(texts.in_short(false), short);
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
    fn in_short_it_has_both_times_the_factor_and_the_cells() {
        let b = Switches {
            streams: Streams::One,
            ..Switches::DEFAULT
        };
        let mut compared = comparison(b, Some(Finding::of(0.25, [0.24, 0.26])));
        compared.differing = Some((0, 60));
        let texts = ComparisonTexts::of(&compared, find("bits").unwrap());
        let mut parts = vec![
            "A per-instance: 1.00 ms per round",
            "B one: 4.00 ms per round",
            "4.0× slower ± 0.2",
            "0 cells differ · generation 60",
        ];
        assert_eq!(texts.in_short(false), parts);
        parts.remove(2);
        assert_eq!(texts.in_short(true), parts);
    }
}
