//! Numbers with units, and where axes end.

pub use lang::numbers::{bytes, grouped, si, time_us, time_us_to};

/// The least number not below `value` (and 1) that is one of `steps` times a power of ten: where an
/// axis ends, or its ticks stand.
pub fn nice(value: f64, steps: &[f64]) -> f64 {
    let power = 10f64.powf(value.max(1.0).log10().floor());
    let reached = |step: &&f64| **step * power >= value * (1.0 - 1e-9);
    steps.iter().find(reached).map_or(10.0, |step| *step) * power
}
