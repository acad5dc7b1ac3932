//! What is said while two settings are compared: what differs in them, how long each takes, and that
//! their cells are the same.

use crate::numbers::{grouped, time_us};
use engine::Kernel;
use lang::tr;
use model::{AbComparison, Switch};

/// The names of the two settings.
pub const NAMES: [&str; 2] = ["A", "B"];

/// The switches in which A and B differ, in words, and in fewer where there is no room for those.
pub fn settings(comparison: &AbComparison, kernel: &Kernel) -> [[String; 2]; 2] {
    let position = |half: usize, switch: Switch| {
        let now = comparison.switches[half];
        let mut choices = switch.choices(now, kernel);
        choices.swap_remove(switch.position(now, kernel)).label
    };
    let differing: Vec<Switch> = Switch::ALL
        .into_iter()
        .filter(|&switch| position(0, switch) != position(1, switch))
        .collect();
    [0, 1].map(|half| {
        let labels = differing.iter().map(|&switch| position(half, switch));
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

/// How A's and B's rounds compare, in words and in fewer.
pub fn factor(comparison: &AbComparison) -> [String; 2] {
    let [Some(a), Some(b)] = comparison.round_us else {
        return [tr!("measuring …").into(), "…".into()];
    };
    let (slow, fast, factor) = if a >= b {
        ("A", "B", a / b)
    } else {
        ("B", "A", b / a)
    };
    if factor < 1.02 {
        return [
            tr!(
                "A and B take the same time per round ({factor}×)",
                factor = format_args!("{factor:.2}")
            ),
            tr!(
                "the same time ({factor}×)",
                factor = format_args!("{factor:.2}")
            ),
        ];
    }
    [
        tr!(
            "{slow} is {factor}× slower per round than {fast}",
            slow = slow,
            factor = format_args!("{factor:.2}"),
            fast = fast
        ),
        tr!(
            "{slow} is {factor}× slower than {fast}",
            slow = slow,
            factor = format_args!("{factor:.2}"),
            fast = fast
        ),
    ]
}

/// Whether their cells are the same, and that in words; `None` before they were compared.
pub fn sameness(differing: Option<(u64, u64)>) -> Option<(bool, String)> {
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

/// All of it in one line, for whoever has no more.
pub fn in_one_line(comparison: &AbComparison, kernel: &Kernel) -> String {
    let settings = settings(comparison, kernel);
    let time = |side: usize| match comparison.round_us[side] {
        Some(us) => tr!("{} per round", time_us(us)),
        None => tr!("measuring …").into(),
    };
    let side = |side: usize| format!("{} {}: {}", NAMES[side], settings[side][1], time(side));
    let [factor, _] = factor(comparison);
    let cells = sameness(comparison.differing).map(|(_, text)| text);
    let parts = [Some(side(0)), Some(side(1)), Some(factor), cells];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::HostMemory;
    use engine::kernels::find;
    use model::{Streams, Switches};

    fn comparison(b: Switches, round_us: [Option<f64>; 2]) -> AbComparison {
        AbComparison {
            switches: [Switches::DEFAULT, b],
            round_us,
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
        let [a, b] = settings(&comparison(b, [None, None]), kernel);
        assert_eq!(a[0], "streams per-instance · host memory pinned");
        assert_eq!(b, ["streams one · host memory pageable", "one · pageable"]);
        let [a, b] = settings(&comparison(Switches::DEFAULT, [None, None]), kernel);
        assert_eq!(
            (a[0].as_str(), b[1].as_str()),
            ("the same settings", "the same")
        );
    }

    #[test]
    fn the_slower_half_is_named_with_its_factor() {
        let say = |a, b| factor(&comparison(Switches::DEFAULT, [a, b]))[0].clone();
        assert_eq!(
            say(Some(100.0), Some(830.0)),
            "B is 8.30× slower per round than A"
        );
        assert_eq!(
            say(Some(150.0), Some(100.0)),
            "A is 1.50× slower per round than B"
        );
        assert_eq!(
            say(Some(101.0), Some(100.0)),
            "A and B take the same time per round (1.01×)"
        );
        assert_eq!(say(Some(1.0), None), "measuring …");
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
        let mut compared = comparison(b, [Some(1000.0), Some(4000.0)]);
        compared.differing = Some((0, 60));
        let line = in_one_line(&compared, find("bits").unwrap());
        for part in [
            "A per-instance: 1.00 ms",
            "B one: 4.00 ms",
            "4.00× slower",
            "0 cells differ",
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
    }
}
