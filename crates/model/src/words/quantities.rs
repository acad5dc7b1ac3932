//! Names and times, formatted for messages.

use std::path::Path;

use lang::tr;
use life::grouped;

/// A file's name or path with control characters escaped, so that it cannot affect a terminal.
pub fn shown(path: impl AsRef<Path>) -> String {
    lang::single_line(path.as_ref().display().to_string())
}

/// A time to come, in the units that matter.
pub fn time_left(seconds: f64) -> String {
    const HOURS_A_YEAR: u64 = 8766;
    let seconds = seconds.ceil() as u64;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes} min {:02} s", seconds % 60),
        (..100, _) => format!("{hours} h {minutes:02} min"),
        (..HOURS_A_YEAR, _) => tr!("{} days", hours / 24),
        _ => {
            // Two digits: speed does not stay the same for so long.
            let years = hours / HOURS_A_YEAR;
            let unit = 10u64.pow(years.max(1).ilog10().saturating_sub(1));
            tr!("{} years", grouped(years / unit * unit))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_moves_no_cursor() {
        assert_eq!(shown("a\u{1b}[2Jb\nc.rle"), "a\\u{1b}[2Jb\\nc.rle");
        assert_eq!(shown("Käfer 1.rle"), "Käfer 1.rle");
    }

    #[test]
    fn a_time_to_come_is_in_units_that_matter() {
        let day = 86_400.0;
        for (seconds, words) in [
            (0.2, "1 s"),
            (59.0, "59 s"),
            (59.4, "1 min 00 s"),
            (117.0, "1 min 57 s"),
            (3_599.0, "59 min 59 s"),
            (7_260.0, "2 h 01 min"),
            (4.5 * day, "4 days"),
            (300.0 * day, "300 days"),
            (1_000.0 * day, "2 years"),
            (366.0 * 345_678.0 * day, "340,000 years"),
        ] {
            assert_eq!(time_left(seconds), words);
        }
        assert!(time_left(f64::INFINITY).ends_with(" years"));
    }
}
