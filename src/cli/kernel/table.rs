//! The table of rates that `kernel check` prints.

use super::timing::{KernelRate, Timing};
use engine::Kernel;
use engine::kernels::find;
use lang::numbers::digits;
use lang::tr;
use ui::ladder::Workload;

/// A line for each kernel, the user's own first: its rate with each work in Gcell/s, and the factor by
/// which the user's own is faster.
pub(super) fn table(timing: &Timing, own: &str) -> Vec<String> {
    let mut works: Vec<Workload> = Vec::new();
    let mut kernels: Vec<(&str, bool)> = Vec::new();
    for rate in &timing.rates {
        if !works.contains(&rate.work) {
            works.push(rate.work);
        }
        let kernel = (&*rate.kernel, rate.recompiled);
        if !kernels.contains(&kernel) {
            kernels.push(kernel);
        }
    }
    let mut lines = vec![vec!["Gcell/s".to_owned()]];
    lines[0].extend(works.iter().map(Workload::to_string));
    for (kernel, recompiled) in kernels {
        let name = match find(kernel) {
            Some(rung) if recompiled => tr!("{rung}, recompiled", rung = rung.file),
            Some(rung) => rung.file.to_owned(),
            None => own.to_owned(),
        };
        let mut line = vec![name];
        for work in &works {
            let of = |rate: &&KernelRate| {
                rate.work == *work && rate.kernel == kernel && rate.recompiled == recompiled
            };
            line.push(timing.rates.iter().find(of).map_or("–".into(), cell));
        }
        lines.push(line);
    }
    columns(&lines)
}

/// A rate with three digits, and the factor for a rung.
fn cell(rate: &KernelRate) -> String {
    let shown = digits(rate.median / 1e9);
    if rate.kernel == Kernel::OWN {
        return shown;
    }
    format!("{shown} ({:.2}×)", rate.own_is_faster_by)
}

/// Lines of cells, the first to the left, each other column to the right of what is widest in it.
fn columns(lines: &[Vec<String>]) -> Vec<String> {
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let line = |line: &Vec<String>| {
        let cells = line.iter().enumerate().map(|(at, cell)| match at {
            0 => format!("{cell:<0$}", width(at)),
            _ => format!("   {cell:>0$}", width(at)),
        });
        cells.collect::<String>()
    };
    lines.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_stand_in_columns() {
        let rate = |kernel: &str, side, median: f64| KernelRate {
            kernel: kernel.trim_end_matches('*').into(),
            recompiled: kernel.ends_with('*'),
            work: Workload { instances: 1, side },
            median,
            lowest: median,
            highest: median,
            own_is_faster_by: 150e9 / median,
        };
        let timing = Timing {
            rule: "B3/S23".into(),
            rates: vec![
                rate(Kernel::OWN, 1024, 150e9),
                rate("shared*", 1024, 120e9),
                rate("shared", 1024, 100e9),
                rate(Kernel::OWN, 16_384, 150e9),
                rate("shared", 16_384, 7.5e9),
                rate("bits", 16_384, 10_000e9),
            ],
            left_out: Vec::new(),
            limits: Default::default(),
        };
        let expected = [
            "Gcell/s                   1 × 1024²       1 × 16384²",
            "mine.cu                         150              150",
            "02_shared, recompiled   120 (1.25×)                –",
            "02_shared               100 (1.50×)    7.50 (20.00×)",
            "05_bits                           –   10,000 (0.01×)",
        ];
        assert_eq!(table(&timing, "mine.cu"), expected);
    }
}
