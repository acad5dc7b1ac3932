//! What is said while two settings are compared: what differs in them, how long each takes, and that
//! their cells are the same.

use crate::numbers::{grouped, time_us_to};
use engine::Kernel;
use lang::tr;
use session::{AbComparison, Finding, Side, Source, Switch, finding_in_words, unknown_in_words};

/// The texts for one of the two settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SideTexts {
    /// Which one it is.
    pub side: Side,
    /// The switches in which the two differ, in words.
    pub settings: String,
    /// How long a round takes.
    pub time: String,
}

/// The texts of a comparison.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComparisonTexts {
    /// Of A and of B.
    pub sides: [SideTexts; 2],
    /// How B's rounds compare with A's, in words and in fewer.
    pub factor: [String; 2],
    /// Whether their cells are the same, and that in words; `None` before they were compared.
    pub cells: Option<(bool, String)>,
    /// Whether both have the same settings.
    pub is_of_equals: bool,
    /// Whether factor and times were recorded on another machine.
    pub is_recorded: bool,
}

impl ComparisonTexts {
    /// Of this comparison, whose instances this kernel steps.
    pub fn of(comparison: &AbComparison, kernel: &Kernel) -> ComparisonTexts {
        let settings = settings(comparison, kernel);
        let digits = comparison.finding.map_or(2, |finding| finding.digits());
        let side = |side: Side| SideTexts {
            side,
            settings: settings[side as usize].clone(),
            time: match comparison.round_us[side as usize] {
                _ if comparison.is_of_equals() => tr!("not measured").into(),
                Some(us) => tr!("{} per round", time_us_to(us, digits)),
                None => unknown_in_words(&comparison.source).into(),
            },
        };
        ComparisonTexts {
            sides: Side::ALL.map(side),
            factor: factor(comparison),
            cells: sameness(comparison.differing),
            is_of_equals: comparison.is_of_equals(),
            is_recorded: is_recorded(comparison),
        }
    }

    /// One short line per fact, for the terminal. `has_finding` leaves out the factor, which the
    /// [finding](crate::finding::Headline) shows already.
    pub fn in_short(&self, has_finding: bool) -> Vec<String> {
        let side = |it: &SideTexts| {
            let label = format!("{} {}", it.side.name(), it.settings);
            tr!("{label}: {value}", value = it.time)
        };
        let [_, factor] = &self.factor;
        let factor = Some(factor.clone()).filter(|_| !has_finding);
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
    let in_words = comparison
        .switches
        .map(|switches| Switch::ALL.map(|switch| switch.in_words(switches, kernel)));
    let [a, b] = &in_words;
    let differing: Vec<usize> = (0..a.len()).filter(|&at| a[at] != b[at]).collect();
    if differing.is_empty() {
        return Side::ALL.map(|_| tr!("the same settings").into());
    }
    in_words.each_ref().map(|words| {
        let words: Vec<&str> = differing.iter().map(|&at| words[at].as_str()).collect();
        words.join(" · ")
    })
}

fn is_recorded(comparison: &AbComparison) -> bool {
    matches!(comparison.source, Source::RecordedOn(_))
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
        let short = if is_recorded(comparison) {
            "–"
        } else {
            "…"
        };
        return [unknown_in_words(&comparison.source).into(), short.into()];
    };
    let factor = finding_in_words(finding);
    let long = match finding {
        Finding::Difference { .. } => tr!("B against A: {factor}"),
        Finding::NoDifference { .. }
        | Finding::NotResolved { .. }
        | Finding::ChangesWithLoad { .. } => tr!("A and B: {factor}"),
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
        grouped(generation)
    );
    Some((cells == 0, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::HostMemory;
    use engine::kernels::find;
    use lang::Language;
    use session::{Order, Streams, Switches, TransferChoice, Wait};

    fn comparison(b: Switches, finding: Option<Finding>) -> AbComparison {
        AbComparison {
            round_us: finding.map_or([None; 2], |_| [Some(1000.0), Some(4000.0)]),
            finding,
            differing: None,
            ..crate::fixtures::comparison(b)
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
        let want = ["a stream each · page-locked", "one stream · pageable"];
        assert_eq!(settings(&comparison(b, None), kernel), want);
        let want = ["the same settings"; 2];
        assert_eq!(settings(&comparison(Switches::DEFAULT, None), kernel), want);
    }

    #[test]
    fn every_setting_is_named_in_words_of_the_language() {
        let b = Switches {
            streams: Streams::PerInstance,
            host_memory: HostMemory::Pageable,
            wait: Wait::Each,
            order: Order::Depth,
            graphs: true,
            transfer: TransferChoice::View,
            block: Some((32, 32)),
        };
        let a = Switches {
            streams: Streams::One,
            ..Switches::DEFAULT
        };
        let mut compared = comparison(b, None);
        compared.switches[0] = a;
        let kernel = find("global").unwrap();
        let [_, english] = settings(&compared, kernel);
        assert_eq!(
            english,
            "a stream each · pageable · the host waits for each stream · depth-first · \
             with graphs · transfer view · blocks of 32x32"
        );
        let [_, chinese] = test_support::with(Language::Chinese, || settings(&compared, kernel));
        assert_eq!(
            chinese,
            "各用一个流 · 可分页内存 · 主机逐流等待 · 深度优先 · 用 CUDA 图 · 传输 view · \
             线程块为 32x32"
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
        let none = Finding::of(1.0, [0.99, 1.015]);
        assert_eq!(say(Some(none))[0], "A and B: no difference (within 2 %)");
        let unclear = Finding::of(1.0, [0.99, 1.09]);
        assert_eq!(say(Some(unclear))[0], "A and B: not resolved: at most 9 %");
        assert_eq!(say(None)[0], "measuring …");
        let equal = comparison(Switches::DEFAULT, Some(unclear));
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
            "A a stream each: 1.00 ms per round",
            "B one stream: 4.00 ms per round",
            "4.0× slower ± 0.2",
            "0 cells differ · generation 60",
        ];
        assert_eq!(texts.in_short(false), parts);
        parts.remove(2);
        assert_eq!(texts.in_short(true), parts);
    }
}
