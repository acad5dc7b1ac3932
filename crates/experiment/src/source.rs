//! Where figures come from, and under which load they were measured.

use serde::{Deserialize, Serialize};

/// Where figures come from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// They were measured by this program, on this machine, under this load.
    MeasuredHere(Load),
    /// They were recorded.
    RecordedOn(Recorded),
}

/// Where and when something was recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Recorded {
    /// The device's name.
    pub device: String,
    /// The day, as `YYYY-MM-DD`.
    pub date: String,
    /// The commit that was built.
    pub commit: String,
}

impl Default for Source {
    /// Measured here, with nothing known of the load yet.
    fn default() -> Source {
        Source::MeasuredHere(Load::default())
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
    fn figures_say_in_data_where_they_come_from() {
        let json = |source| serde_json::to_value(source).unwrap();
        assert_eq!(json(Source::default())["measured-here"]["rounds"], 0);
        let recorded = json(Source::RecordedOn(Recorded {
            device: "NVIDIA H200".into(),
            ..Recorded::default()
        }));
        assert_eq!(recorded["recorded-on"]["device"], "NVIDIA H200");
    }
}
