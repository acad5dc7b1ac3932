//! Where a figure comes from, and under which load it was measured.

use serde::{Deserialize, Serialize};

/// Where a figure comes from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// It was measured by this program, on this machine.
    MeasuredHere,
    /// It was recorded on the device of this name.
    RecordedOn(String),
}

/// A figure with its source.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Figure<T> {
    /// The figure, in the unit that its place gives.
    pub value: T,
    /// Where it comes from.
    pub source: Source,
}

impl<T> Figure<T> {
    /// A figure that was measured here.
    pub fn measured(value: T) -> Figure<T> {
        Figure {
            value,
            source: Source::MeasuredHere,
        }
    }

    /// A figure that was recorded on a device.
    pub fn recorded(value: T, device: impl Into<String>) -> Figure<T> {
        Figure {
            value,
            source: Source::RecordedOn(device.into()),
        }
    }
}

/// What else the machine did while rounds were measured.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Load {
    /// Rounds that were measured.
    pub rounds: u64,
    /// Those during which the system took a core from this program.
    pub preempted: u64,
    /// The time of these rounds, in seconds.
    pub wall_seconds: f64,
    /// The time that this program computed meanwhile, in seconds, added over its threads.
    pub cpu_seconds: f64,
}

impl Load {
    /// Counts a round that took this many seconds, in which the program computed for so many, and
    /// whether the system took a core from it meanwhile.
    pub fn add(&mut self, wall_seconds: f64, cpu_seconds: f64, is_preempted: bool) {
        self.rounds += 1;
        self.preempted += u64::from(is_preempted);
        self.wall_seconds += wall_seconds;
        self.cpu_seconds += cpu_seconds;
    }

    /// The fraction of rounds that were preempted; `None` without rounds.
    pub fn preempted_share(&self) -> Option<f64> {
        (self.rounds > 0).then(|| self.preempted as f64 / self.rounds as f64)
    }

    /// How many cores the program had on average; `None` without rounds.
    pub fn cores(&self) -> Option<f64> {
        (self.wall_seconds > 0.0).then(|| self.cpu_seconds / self.wall_seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_what_rounds_had_of_the_machine() {
        let mut load = Load::default();
        assert_eq!((load.preempted_share(), load.cores()), (None, None));
        load.add(0.5, 1.0, true);
        load.add(1.5, 2.0, false);
        assert_eq!(
            (load.preempted_share(), load.cores()),
            (Some(0.5), Some(1.5))
        );
    }

    #[test]
    fn a_figure_says_in_data_where_it_comes_from() {
        let json = |figure| serde_json::to_value(figure).unwrap();
        assert_eq!(json(Figure::measured(2.5))["source"], "measured-here");
        let recorded = json(Figure::recorded(2.5, "NVIDIA H200"));
        assert_eq!(recorded["source"]["recorded-on"], "NVIDIA H200");
    }
}
