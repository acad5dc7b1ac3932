//! The population graph: live cells, and births and deaths, over time, of the selected panel or of
//! all together; and what is known of how panels go on.
//!
//! Computes the chart; `view::population` lays it out and paints it.

use crate::ViewOptions;
use crate::numbers::{grouped, si};
use crate::timeline::scale::nice;
use lang::tr;
use session::population::Sample;
use session::{PictureSource, Series, Status};

/// What the graph shows; it lives as long as the window, closed or not.
#[derive(Clone, Debug, Default)]
pub struct Population {
    series: Option<Series>,
    /// Of which instance, or of all.
    of: Option<usize>,
    /// Of the newest that was looked at.
    sequence: u64,
}

impl Population {
    /// Takes over what has come. Waits for nothing; not to be called while the graph is closed.
    pub fn update(&mut self, source: &dyn PictureSource, status: &Status, options: &ViewOptions) {
        let of = (!options.population_of_all).then_some(status.panels.selected);
        if of != self.of {
            *self = Population {
                of,
                ..Population::default()
            };
        }
        if let Some((sequence, series)) = source.newer_population(of, self.sequence) {
            self.sequence = sequence;
            self.series = Some(series);
        }
    }

    /// Whether there is anything to show.
    pub fn has_samples(&self) -> bool {
        let series = self.series.as_ref();
        series.is_some_and(|series| series.samples.len() > 1)
    }
}

/// Everything that the graph shows.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PopulationChart {
    /// Whose it is.
    pub title: String,
    /// The population now.
    pub headline: String,
    /// How it goes on, or what births and deaths are.
    pub caption: String,
    /// From the oldest to the newest.
    pub samples: Vec<Sample>,
    /// The upper end of the axis of live cells.
    pub y_max: f64,
    /// Generations between the newest two measures. Births and deaths over another number of generations
    /// are not shown beside these.
    pub step: u64,
    /// The upper end of the axis of births and deaths, in cells per so many generations.
    pub change_y_max: f64,
    /// The last births.
    pub born: String,
    /// The last deaths.
    pub died: String,
}

impl PopulationChart {
    /// The graph as of this status.
    pub fn of(population: &Population, status: &Status) -> PopulationChart {
        let lattices = population
            .of
            .map_or(status.lattices.instances as u64, |_| 1);
        let title = match population.of {
            Some(i) => tr!("Population of instance {i}"),
            None => tr!(
                "Population of all {}",
                grouped(status.lattices.instances as u64)
            ),
        };
        let series = population.series.as_ref();
        let Some(series) = series.filter(|series| !series.samples.is_empty()) else {
            return PopulationChart {
                title,
                headline: match status.lab.comparison {
                    Some(_) => tr!("Not counted while A and B are compared").into(),
                    None => tr!("No round has been measured yet").into(),
                },
                y_max: 1.0,
                change_y_max: 1.0,
                born: tr!("born").into(),
                died: tr!("died").into(),
                ..PopulationChart::default()
            };
        };
        let samples = series.samples.clone();
        let most = samples.iter().map(Sample::population).fold(1.0, f64::max);
        let step = series.step;
        let alike = samples.iter().filter(|sample| sample.step == step);
        let changes = alike.flat_map(|sample| [sample.births(), sample.deaths()]);
        let most_changes = changes.fold(1.0, f64::max);
        let cells = status.lattices.size.cells() as f64 * lattices as f64;
        let part = 100.0 * series.last.population as f64 / cells;
        let settled = |i: usize| status.panels.settled.get(i).copied().flatten();
        let all = || status.panels.settled.iter().flatten().count();
        PopulationChart {
            title,
            headline: tr!(
                "{} alive, {part} %",
                grouped(series.last.population),
                part = format_args!("{part:.1}")
            ),
            caption: match population.of {
                Some(i) => settled(i).map_or(tr!("not settled").into(), |how| how.to_string()),
                None => tr!(
                    "{} of {} panels are still or periodic",
                    grouped(all() as u64),
                    grouped(status.panels.settled.len() as u64)
                ),
            },
            y_max: nice(most, &[1.0, 2.0, 5.0]),
            step,
            change_y_max: nice(most_changes, &[1.0, 2.0, 5.0]),
            born: change(tr!("born"), series.last.births, step),
            died: change(tr!("died"), series.last.deaths, step),
            samples,
        }
    }

    /// The first and the last generation.
    pub fn ends(&self) -> Option<(u64, u64)> {
        Some((self.samples.first()?.from, self.samples.last()?.to))
    }
}

/// Births or deaths since the measure before; over several generations they are only what came of
/// them all together.
fn change(what: &str, cells: u64, generations: u64) -> String {
    match generations {
        0 | 1 => format!("{what} {}", si(cells as f64).trim_end()),
        many => tr!(
            "{what} {} in {} generations",
            si(cells as f64).trim_end(),
            grouped(many)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn births_over_several_generations_are_told_as_such() {
        assert_eq!(change("born", 1234, 1), "born 1.23 k");
        assert_eq!(change("died", 12, 1000), "died 12.0 in 1,000 generations");
    }
}
