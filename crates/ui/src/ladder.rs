//! The live ladder: every rung's rate on a log axis, where the present kernel is among them, and
//! the limit.
//!
//! Computes the chart; `view::ladder` lays it out and paints it.

use std::borrow::Cow;

use crate::numbers::si;
use lang::tr;
pub use record::{DeviceLimits, LOP3_PER_WORD, Ladder, LeftOut, Rate, Workload, recorded};
use session::Status;

/// Ladders for the tests of whoever shows them.
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
mod record;

/// Where a rung's rate comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateSource {
    /// It was recorded on this device with work like this session's.
    Recorded,
    /// It was recorded on this device, with other work: the rung's best.
    Other,
    /// The kernel reached it in this session.
    Session,
}

/// A rung and its rate, if there is one.
#[derive(Clone, PartialEq, Debug)]
pub struct Rung {
    /// The kernel's place in the engine's table.
    pub index: usize,
    /// The kernel's name.
    pub name: Cow<'static, str>,
    /// Its idea in a few words.
    pub idea: Cow<'static, str>,
    /// Cells a second.
    pub mark: Option<(f64, RateSource)>,
    /// Whether it steps the lattices now.
    pub present: bool,
    /// Whether it supports this lattice size and every device of the session.
    pub possible: bool,
}

impl Rung {
    /// What it is, and what its mark says.
    pub fn tip(&self) -> String {
        let caption = match self.mark {
            _ if !self.possible => tr!("does not support this lattice size or device").into(),
            None => tr!("not measured here yet").into(),
            Some((rate, source)) => {
                let whence = match source {
                    RateSource::Recorded => tr!("recorded on this device for similar lattices"),
                    RateSource::Other => tr!("best recorded on this device, for other lattices"),
                    RateSource::Session => tr!("measured in this session"),
                };
                tr!("{}cell/s, {whence}", si(rate))
            }
        };
        format!("{}; {caption}", self.idea)
    }
}

/// Everything that the ladder shows.
#[derive(Clone, PartialEq, Debug)]
pub struct LadderChart {
    /// From the top of the ladder, the user's own kernel or the fastest idea, to the first rung.
    pub rungs: Vec<Rung>,
    /// What the present kernel does, in cells per second.
    pub live: Option<f64>,
    /// What the device does at most, in cells per second.
    pub limit: Option<f64>,
    /// The axis that all rates are on.
    pub axis: LogAxis,
    /// What the present kernel does, in words.
    pub headline: String,
    /// What the marks show: the lattices and the commit they were recorded with, and the limit.
    pub caption: String,
}

impl LadderChart {
    /// The ladder as of this status.
    pub fn of(status: &Status) -> LadderChart {
        let ladder = status.engine.devices.first();
        let ladder = ladder.and_then(|device| recorded(&device.name));
        let work = ladder.and_then(|ladder| {
            ladder.nearest_workload(status.lattices.instances, status.lattices.size.cells())
        });
        let recorded = ladder.zip(work);
        let mut kernels: Vec<_> = status.setting.kernels().collect();
        kernels.reverse();
        let rungs: Vec<Rung> = kernels
            .into_iter()
            .map(|kernel| Rung {
                index: kernel.index(),
                idea: kernel.idea(),
                name: kernel.name.into(),
                mark: mark(status, recorded, kernel.name),
                present: kernel == status.setting.kernel,
                possible: kernel.supports(status.lattices.size)
                    && status
                        .engine
                        .devices
                        .iter()
                        .all(|of| kernel.validate_device(of, status.lattices.size).is_ok()),
            })
            .collect();
        let live = status.rates.stepping;
        let limit = ladder.and_then(|ladder| ladder.limits.cells_per_second());
        let marks = rungs.iter().filter_map(|rung| Some(rung.mark?.0));
        let axis = LogAxis::over(marks.chain(live).chain(limit));
        let of_limit = live.zip(limit).map_or(String::new(), |(live, limit)| {
            tr!(", {} of the limit", percent(live / limit))
        });
        let headline = match live {
            Some(live) => tr!(
                "{} {}cell/s{of_limit}",
                status.setting.kernel.name,
                si(live)
            ),
            None => tr!("{}: no round timed yet", status.setting.kernel.name),
        };
        LadderChart {
            rungs,
            live,
            limit,
            axis,
            headline,
            caption: caption(recorded),
        }
    }
}

fn mark(
    status: &Status,
    recorded: Option<(&Ladder, Workload)>,
    kernel: &str,
) -> Option<(f64, RateSource)> {
    if let Some((ladder, work)) = recorded {
        let like = ladder
            .rate(kernel, work)
            .map(|rate| (rate, RateSource::Recorded));
        let best = || ladder.best(kernel).map(|rate| (rate, RateSource::Other));
        if let Some((rate, source)) = like.or_else(best) {
            return Some((rate.median, source));
        }
    }
    let reached = status
        .rates
        .reached
        .iter()
        .find(|(name, _)| *name == kernel);
    reached.map(|(_, rate)| (*rate, RateSource::Session))
}

fn caption(recorded: Option<(&Ladder, Workload)>) -> String {
    match recorded {
        Some((ladder, work)) => {
            let limit = match ladder.limits.lop3_per_second {
                Some(_) => tr!("The limit: 15 logical operations per 64 cells."),
                None => tr!("No limit was measured."),
            };
            tr!(
                "Recorded with {work}, commit {}. {limit}",
                ladder.commit)
        }
        None => tr!(
            "No results are recorded for this device; 'lifestreams bench ladder' measures them. K steps through the kernels."
        )
        .into(),
    }
}

/// A part of one, with two digits.
fn percent(part: f64) -> String {
    let percent = 100.0 * part;
    match percent {
        percent if percent < 0.095 => format!("{percent:.3} %"),
        percent if percent < 0.95 => format!("{percent:.2} %"),
        percent if percent < 9.5 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

/// Powers of ten between which all rates are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogAxis {
    /// The exponent at its left end.
    pub from: i32,
    /// The exponent at its right end.
    pub to: i32,
}

impl LogAxis {
    /// Around these rates, and two powers wide at least.
    pub fn over(rates: impl Iterator<Item = f64>) -> LogAxis {
        let powers = rates
            .filter(|rate| *rate > 0.0)
            .map(|rate| rate.log10().clamp(0.0, 18.0));
        let (from, to) = powers.fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), power| {
            (from.min(power), to.max(power))
        });
        if from > to {
            return LogAxis { from: 9, to: 12 };
        }
        let (from, to) = (from.floor() as i32, to.ceil() as i32);
        LogAxis {
            from: from.min(to - 2),
            to,
        }
    }

    /// How far along the axis a rate is, from 0 to 1.
    pub fn part(self, rate: f64) -> f32 {
        let power = rate.max(1.0).log10();
        ((power - f64::from(self.from)) / f64::from(self.to - self.from)).clamp(0.0, 1.0) as f32
    }

    /// Every power, and how it is written.
    pub fn ticks(self) -> impl Iterator<Item = (f32, String)> {
        (self.from..=self.to).map(move |power| {
            let rate = 10f64.powi(power);
            let text = si(rate);
            let (digits, prefix) = text.split_once(' ').unwrap_or((&text, ""));
            let digits = digits.split('.').next().unwrap_or(digits);
            (self.part(rate), format!("{digits} {prefix}"))
        })
    }
}
