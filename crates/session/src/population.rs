//! Population, births and deaths over time, each lattice's and all together, in bounded memory.

use std::collections::VecDeque;
use std::ops::Range;

use engine::Measure;

/// The most samples of a series; when there are more, each two become one.
pub const MAX_SAMPLES: usize = 512;

/// Some measures in a row, as one.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sample {
    /// The first measure's generation.
    pub from: u64,
    /// The last one's.
    pub to: u64,
    /// How many measures they were.
    measures: u32,
    /// Generations between the measures whose births and deaths it has; 0 if it has none.
    pub step: u64,
    /// How many of them came so many generations after the one before, and so have births and deaths
    /// that can be compared.
    changes: u32,
    population: u64,
    births: u64,
    deaths: u64,
}

impl Sample {
    /// Of a measure so many generations after the one before.
    fn of(generation: u64, measure: Measure, step: u64) -> Sample {
        let [births, deaths] = match step {
            0 => [0, 0], // against nothing, or against another lattice
            _ => [measure.births, measure.deaths],
        };
        Sample {
            from: generation,
            to: generation,
            measures: 1,
            step,
            changes: u32::from(step > 0),
            population: measure.population,
            births,
            deaths,
        }
    }

    fn and(self, later: Sample) -> Sample {
        // Births over different numbers of generations do not add up.
        let (changes, births, deaths) = if self.step == later.step {
            (self.changes, self.births, self.deaths)
        } else {
            (0, 0, 0)
        };
        Sample {
            from: self.from,
            to: later.to,
            measures: self.measures + later.measures,
            step: later.step,
            changes: changes + later.changes,
            population: self.population + later.population,
            births: births + later.births,
            deaths: deaths + later.deaths,
        }
    }

    /// The mean number of live cells.
    pub fn population(&self) -> f64 {
        self.population as f64 / f64::from(self.measures.max(1))
    }

    /// The mean number of cells born from one measure to the next.
    pub fn births(&self) -> f64 {
        self.births as f64 / f64::from(self.changes.max(1))
    }

    /// The mean number of cells that died from one measure to the next.
    pub fn deaths(&self) -> f64 {
        self.deaths as f64 / f64::from(self.changes.max(1))
    }
}

/// How one population went.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Series {
    /// The oldest first; the last one may be of fewer measures.
    pub samples: Vec<Sample>,
    /// Measures of a whole sample.
    each: u32,
    /// Generations between the last two measures; births and deaths count cells that differ between the
    /// two.
    pub step: u64,
    /// The last measure; it has no births and deaths if there was none before.
    pub last: Measure,
}

impl Series {
    /// The last measure's generation.
    pub fn generation(&self) -> Option<u64> {
        self.samples.last().map(|sample| sample.to)
    }

    /// Adds a measure.
    pub fn push(&mut self, generation: u64, measure: Measure) {
        // The session went back, or restarted: drop the samples from this generation on.
        let gone_back = self.generation().is_some_and(|last| last >= generation);
        if gone_back {
            self.samples.retain(|sample| sample.to < generation);
        }
        let is_first = gone_back || self.samples.is_empty();
        self.step = self.generation().map_or(0, |last| generation - last);
        self.last = if is_first {
            Measure {
                births: 0,
                deaths: 0,
                ..measure
            }
        } else {
            measure
        };
        let step = if is_first { 0 } else { self.step };
        let sample = Sample::of(generation, measure, step);
        let each = self.each.max(1);
        match self.samples.last_mut() {
            Some(open) if open.measures < each => *open = open.and(sample),
            _ => self.samples.push(sample),
        }
        if self.samples.len() > MAX_SAMPLES {
            self.each = 2 * each;
            let two = |two: &[Sample]| two[1..].iter().fold(two[0], |sum, &more| sum.and(more));
            self.samples = self.samples.chunks(2).map(two).collect();
        }
    }
}

/// Every lattice's series, and that of all together.
#[derive(Default, Debug)]
pub struct Populations {
    each: Vec<Series>,
    all: Series,
    sums: Sums,
    sequence: u64,
}

/// Rounds that not all lattices' measures have come of.
#[derive(Default, Debug)]
struct Sums {
    /// The round that is first in `open`.
    first: u64,
    open: VecDeque<(u64, Measure, usize)>,
    /// The next round of each lattice.
    next: Vec<u64>,
}

impl Populations {
    /// The series of one lattice, or of all together, if it is newer than `seen`, and its number.
    pub fn newer(&self, of: Option<usize>, seen: u64) -> Option<(u64, Series)> {
        let series = match of {
            Some(i) => self.each.get(i)?,
            None => &self.all,
        };
        (self.sequence > seen).then(|| (self.sequence, series.clone()))
    }

    /// Forgets everything; there are this many lattices.
    pub fn clear(&mut self, lattices: usize) {
        *self = Populations {
            each: vec![Series::default(); lattices],
            sequence: self.sequence + 1,
            ..Populations::default()
        };
        self.sums.next = vec![0; lattices];
    }

    /// Some lattices are others now: theirs begin anew, and rounds are counted from here.
    pub fn begin_anew(&mut self, lattices: Range<usize>) {
        for i in lattices {
            if let Some(series) = self.each.get_mut(i) {
                *series = Series::default();
            }
        }
        let lattices = self.each.len();
        self.sums = Sums {
            next: vec![0; lattices],
            ..Sums::default()
        };
        self.sequence += 1;
    }

    /// Takes in what one round's measure of a lattice found.
    pub fn record(&mut self, lattice: usize, generation: u64, measure: Measure) {
        let lattices = self.each.len();
        let Some(series) = self.each.get_mut(lattice) else {
            return;
        };
        series.push(generation, measure);
        self.sequence += 1;
        let Measure { births, deaths, .. } = series.last;
        let round = self.sums.next[lattice];
        self.sums.next[lattice] += 1;
        let at = (round - self.sums.first) as usize;
        if at == self.sums.open.len() {
            self.sums.open.push_back((0, Measure::default(), 0));
        }
        let Some((newest, sum, count)) = self.sums.open.get_mut(at) else {
            return;
        };
        *newest = generation.max(*newest);
        sum.population += measure.population;
        sum.births += births;
        sum.deaths += deaths;
        *count += 1;
        while let Some(&(generation, sum, count)) = self.sums.open.front()
            && count == lattices
        {
            self.all.push(generation, sum);
            self.sums.open.pop_front();
            self.sums.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds measures of the same births and deaths at these generations.
    fn push(series: &mut Series, generations: impl Iterator<Item = u64>, births: u64, deaths: u64) {
        for generation in generations {
            let measure = Measure {
                population: generation,
                births,
                deaths,
                hash: 0,
            };
            series.push(generation, measure);
        }
    }

    #[test]
    fn a_series_is_bounded_and_keeps_its_means_until_it_goes_back() {
        let mut series = Series::default();
        push(&mut series, 0..100_000, 7, 3);
        let samples = &series.samples;
        assert!(samples.len() <= MAX_SAMPLES && samples.len() > MAX_SAMPLES / 2 - 2);
        assert_eq!((samples[0].from, series.generation()), (0, Some(99_999)));
        for (a, b) in samples.iter().zip(&samples[1..]) {
            assert_eq!(a.to + 1, b.from);
            assert_eq!(a.population(), (a.from + a.to) as f64 / 2.0);
            assert_eq!((b.births(), b.deaths()), (7.0, 3.0));
        }
        // Another lattice: what lies ahead is taken away.
        push(&mut series, 40..=40, 800, 900);
        let newest = (
            series.generation(),
            series.last.population,
            series.last.births,
        );
        assert_eq!(newest, (Some(40), 40, 0));
        assert!(series.samples.iter().all(|it| it.to <= 40));
    }

    /// As when the graph is opened, after few measures, and each round is measured from then on.
    #[test]
    fn births_over_other_spans_of_generations_are_not_mixed() {
        let mut series = Series::default();
        push(&mut series, (0..160).step_by(16), 1, 1);
        let births = |series: &Series, step| {
            let samples = series.samples.iter().filter(|it| it.step == step);
            let births: Vec<f64> = samples.map(Sample::births).collect();
            (
                births.len(),
                births.iter().sum::<f64>() / births.len() as f64,
            )
        };
        push(&mut series, 145..400, 50, 40);
        assert_eq!(series.step, 1);
        assert_eq!(births(&series, 16), (9, 1.0));
        assert_eq!(births(&series, 1).1, 50.0);
        push(&mut series, 400..2000, 50, 40);
        let (count, each) = births(&series, 1);
        assert!(count > 200 && each == 50.0, "{count} {each}");
    }
}
