//! The ladder in words, for the terminal.

use engine::kernels::{KERNELS, Kernel};
use lang::numbers::{digits, quantity};
use ui::ladder::{LOP3_PER_WORD, Ladder, Rate, Workload};

/// The heads of the columns; a rung's name and how it was launched have none.
const HEADS: [&str; 7] = [
    "",
    "median (lowest to highest)",
    "of the LOP3 limit",
    "of the copy rate",
    "for the rung before",
    "for the first",
    "",
];

/// What stands below them for a rung with some work.
type Line = [String; HEADS.len()];

/// As text for the terminal.
pub(in crate::cli::bench) fn text(ladder: &Ladder) -> String {
    let mut text = String::from("\nladder: ");
    text += &policy(ladder).join("\n  ");
    for &work in &ladder.works {
        let lines = lines(ladder, work);
        if !lines.is_empty() {
            let all = [vec![HEADS.map(String::from)], lines].concat();
            text += &format!("\n\n  {work}\n{}", columns(&all));
        }
    }
    for sentence in any_rules(ladder).into_iter().chain(left_out(ladder)) {
        text += &format!("\n  {sentence}");
    }
    text
}

/// How the rates were measured, and the limit that they are compared with.
pub fn policy(ladder: &Ladder) -> Vec<String> {
    let mut said = Vec::new();
    if ladder.engine == "cpu" {
        said.push("On the CPU engine, over smaller lattices than a GPU's.".to_owned());
    }
    if ladder.small {
        said.push("Short runs over small lattices, only to see that it works.".into());
    }
    said.push(
        "Random cells of density 0.3; every rung's cells are compared before it is timed; \
         medians of three runs, by events."
            .into(),
    );
    said.push(match ladder.limits.lop3_per_second {
        Some(rate) => format!(
            "LOP3: {}, so at most {} at {LOP3_PER_WORD} for 32 cells.",
            quantity(rate, "/s"),
            quantity(ladder.limits.cells_per_second().unwrap_or(0.0), "cells/s")
        ),
        None => "No LOP3 limit was measured on this device.".into(),
    });
    if let Some(rate) = ladder.limits.copied_per_second {
        let rate = quantity(rate, "B/s");
        said.push(format!("Copies: {rate}, read and written."));
    }
    said.push(match ladder.cache {
        Some(bytes) => format!(
            "Caches are as the runs before left them: lattices of at most {:.1} MiB, both buffers \
             counted, stay in the last cache, larger ones stream from memory; the share of the \
             copy rate is that of the latter.",
            bytes as f64 / f64::from(1 << 20)
        ),
        None => "Caches are as the runs before left them; how large they are is not known.".into(),
    });
    said
}

fn lines(ladder: &Ladder, work: Workload) -> Vec<Line> {
    let of = |(at, kernel): (usize, &'static Kernel)| {
        let rate = ladder.rate(kernel.name, work)?;
        let limit = ladder.limits.cells_per_second();
        let factors = factors_in_words(ladder, at, work);
        let [before, first] = factors.unwrap_or_else(|| ["–", "–"].map(String::from));
        Some([
            kernel.name.into(),
            figures(rate),
            limit.map_or("–".into(), |limit| percent(rate.median / limit)),
            ladder.copy_share(kernel, rate).map_or("–".into(), percent),
            before,
            first,
            rate.how.clone(),
        ])
    };
    KERNELS.iter().enumerate().filter_map(of).collect()
}

/// The factors by which the rung in this place is faster than the one before and than the first one.
pub fn factors_in_words(ladder: &Ladder, at: usize, work: Workload) -> Option<[String; 2]> {
    let below: Vec<&str> = KERNELS[..at].iter().map(|kernel| kernel.name).collect();
    let [(near, before), (_, first)] = ladder.factors(KERNELS[at].name, &below, work)?;
    // The very next one goes without saying.
    let named = if below.last() == Some(&near) {
        String::new()
    } else {
        format!(" `{near}`")
    };
    Some([
        format!("{}×{named}", digits(before)),
        format!("{}×", digits(first)),
    ])
}

fn any_rules(ladder: &Ladder) -> Vec<String> {
    let one = |kernel: &Kernel| {
        let (rate, factor) = ladder.other_rule_rate(kernel.name)?;
        Some(format!(
            "By {}, {}: `{}` {}, {}× the rate of B3/S23",
            rate.rule,
            rate.work,
            kernel.name,
            figures(rate),
            digits(factor)
        ))
    };
    KERNELS.iter().filter_map(one).collect()
}

fn left_out(ladder: &Ladder) -> Vec<String> {
    let one = |left: &ui::ladder::LeftOut| {
        let work = left.work.map_or(String::new(), |work| format!(", {work}"));
        format!("Not measured: `{}`{work}: {}", left.kernel, left.why)
    };
    ladder.left_out.iter().map(one).collect()
}

fn figures(rate: &Rate) -> String {
    let [median, lowest, highest] =
        [rate.median, rate.lowest, rate.highest].map(|value| quantity(value, "cells/s"));
    format!("{median} ({lowest} to {highest})")
}

fn percent(part: f64) -> String {
    format!("{} %", digits(100.0 * part))
}

/// Lines of cells, each as wide as its column's widest.
fn columns(lines: &[Line]) -> String {
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let line = |line: &Line| {
        let cells = line.iter().enumerate();
        let cells = cells.map(|(at, cell)| format!(" {cell:0$} ", width(at)));
        format!("   {}", cells.collect::<String>().trim_end())
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ui::ladder::fixtures::ladder;

    #[test]
    fn a_rung_is_measured_against_the_limits_and_the_rungs_below() {
        let ladder = ladder();
        let [small, large] = [0, 1].map(|at| lines(&ladder, ladder.works[at]));
        let of = |lines: &[Line], name: &str| {
            let line = lines.iter().find(|line| line[0] == name);
            line.unwrap()[1..6].to_vec()
        };
        // 71.3 Tcell/s at most; 128 MiB go through memory, 64 do not, nor do what no cache holds.
        let global = [
            "40.0 Gcell/s (39.2 Gcell/s to 40.4 Gcell/s)",
            "0.06 %",
            "7.80 %",
            "–",
            "–",
        ];
        assert_eq!(of(&small, "global"), global);
        let near = ["2.19 %", "–", "6.25× `sync-global`", "39.1×"];
        assert_eq!(of(&small, "bits")[1..], near);
        let far = ["4.39 %", "19.1 %", "15.6× `shared`", "39.1×"];
        assert_eq!(of(&large, "bits")[1..], far);
        let text = text(&ladder);
        assert!(text.contains("71.3 Tcell/s at 7.5 for 32 cells"));
        let other = "By B36/S23, 16 × 1024²: `bits` 781 Gcell/s (766 Gcell/s to 789 Gcell/s), \
                     0.50× the rate of B3/S23";
        assert!(text.contains(other), "{text}");
        assert!(text.contains("Not measured: `planar`, 1 × 16384²: it hung"));
    }

    #[test]
    fn the_terminal_shows_the_same_in_columns() {
        let text = text(&ladder());
        assert!(text.contains("\n  16 × 1024²\n"));
        let mut lines = text.lines().skip_while(|line| !line.contains(HEADS[2]));
        let head = lines.next().unwrap();
        let at = head[..head.find(HEADS[2]).unwrap()].chars().count();
        let rows: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
        assert!(rows.len() > 4);
        for row in rows {
            let cell: String = row.chars().skip(at).take_while(|&c| c != ' ').collect();
            assert!(cell.parse::<f64>().is_ok(), "{row}");
        }
    }
}
