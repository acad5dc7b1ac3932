//! Names and numbers formatted for messages.

use std::io::ErrorKind;
use std::path::Path;

use lang::tr;

/// A file's name or path with control characters escaped, so that it cannot affect a terminal.
pub fn shown(path: impl AsRef<Path>) -> String {
    lang::single_line(path.as_ref().display().to_string())
}

/// The letters and digits of a name, in lower case, with `&` as "and": for comparing names however
/// they are typed.
pub(crate) fn plain(name: &str) -> String {
    let name = name.replace('&', "and");
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Minimum similarity, from 0 to 1, for a suggestion.
const MIN_LIKENESS: f64 = 0.88;

/// Thousands apart: `12,345,678`.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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

/// What went wrong with a file, without the system's number for it.
pub fn system_reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => tr!("there is no such file").into(),
        ErrorKind::PermissionDenied => tr!("this user has no permission for it").into(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => tr!("the disk is full").into(),
        _ => {
            let text = error.to_string();
            let number = text.find(" (os error ").unwrap_or(text.len());
            text[..number].to_owned()
        }
    }
}

/// The value of the most similar known name, if it is similar enough.
pub(crate) fn nearest<T>(name: &str, known: impl IntoIterator<Item = (String, T)>) -> Option<T> {
    let likeness = |(known, with): (String, T)| (strsim::jaro_winkler(name, &known), with);
    let all = known.into_iter().map(likeness);
    let best = all.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(alike, _)| *alike >= MIN_LIKENESS)
        .map(|(_, with)| with)
}

/// `1 lattice` or `N lattices`.
pub fn counted_lattices(count: usize) -> String {
    match count {
        1 => tr!("1 lattice").into(),
        _ => tr!("{count} lattices", count = count),
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
    fn a_reason_has_no_number_of_the_system() {
        let said = |error: std::io::Error| system_reason(&error);
        assert_eq!(said(ErrorKind::NotFound.into()), "there is no such file");
        let busy = std::io::Error::from_raw_os_error(16);
        assert!(busy.to_string().contains("os error"), "{busy}");
        assert!(!said(busy).contains("os error"));
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

    #[test]
    fn one_is_one() {
        assert_eq!([1, 2].map(counted_lattices), ["1 lattice", "2 lattices"]);
    }
}
