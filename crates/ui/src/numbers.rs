//! Formats numbers with units: SI prefixes, bytes, times.

/// Three significant digits with an SI prefix: `4.71 T`, `60.0 `; the unit follows directly.
pub fn si(value: f64) -> String {
    scaled(value, 1000.0, &["", "k", "M", "G", "T", "P", "E"])
}

/// Bytes with a binary prefix: `2.00 MiB`.
pub fn bytes(value: u64) -> String {
    if value < 1024 {
        return format!("{value} B");
    }
    scaled(
        value as f64,
        1024.0,
        &["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"],
    ) + "B"
}

/// A time given in microseconds: `12.3 µs`, `1.20 ms`.
pub fn time_us(us: f64) -> String {
    time_us_to(us, 3)
}

/// The same, with the 2 or 3 digits that the measurement supports.
pub fn time_us_to(us: f64, digits: usize) -> String {
    match us {
        us if us < 1e3 => significant(us, digits) + " µs",
        us if us < 1e6 => significant(us / 1e3, digits) + " ms",
        us => significant(us / 1e6, digits) + " s",
    }
}

pub use life::grouped;

/// The least number not below `value` (and 1) that is one of `steps` times a power of ten: where an
/// axis ends, or its ticks stand.
pub fn nice(value: f64, steps: &[f64]) -> f64 {
    let power = 10f64.powf(value.max(1.0).log10().floor());
    let reached = |step: &&f64| **step * power >= value * (1.0 - 1e-9);
    steps.iter().find(reached).map_or(10.0, |step| *step) * power
}

fn scaled(value: f64, base: f64, prefixes: &[&str]) -> String {
    let mut value = if value.is_finite() {
        value.max(0.0)
    } else {
        0.0
    };
    let mut prefix = 0;
    // 999.5 would be written as 1000.
    while value >= base.min(999.5) && prefix + 1 < prefixes.len() {
        value /= base;
        prefix += 1;
    }
    format!("{} {}", significant(value, 3), prefixes[prefix])
}

/// A number with two or three digits, and at most as many after the point as below 10.
fn significant(value: f64, digits: usize) -> String {
    let unit = 10f64.powi(digits as i32 - 1);
    match (value * unit).round() / unit {
        _ if value == 0.0 => "0".into(),
        below if below < 10.0 => format!("{value:.0$}", digits - 1),
        _ if (value * unit / 10.0).round() < 10.0 * unit => format!("{value:.0$}", digits - 2),
        _ => format!("{:.0}", (value * unit / 100.0).round() / unit * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(si(4.714e12), "4.71 T");
        assert_eq!(si(60.0), "60.0 ");
        assert_eq!(si(0.0), "0 ");
        assert_eq!(si(999.6), "1.00 k");
        assert_eq!(si(f64::NAN), "0 ");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(2 << 20), "2.00 MiB");
        assert_eq!(time_us(12.34), "12.3 µs");
        assert_eq!(time_us(1234.0), "1.23 ms");
        assert_eq!(time_us(9.996), "10.0 µs");
        assert_eq!(time_us(99.96), "100 µs");
        let two = [1234.0, 9.96, 12.34, 99.6, 234.0].map(|us| time_us_to(us, 2));
        assert_eq!(two, ["1.2 ms", "10 µs", "12 µs", "100 µs", "230 µs"]);
        assert_eq!(grouped(12_345_678), "12,345,678");
        assert_eq!(grouped(7), "7");
    }
}
