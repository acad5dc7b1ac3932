//! Default names with date and time, for files that are saved without a name.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// `lifestreams-YYYYMMDD-HHMMSS` of now, in UTC.
pub fn dated_stem() -> String {
    dated("lifestreams")
}

/// Maximum length in bytes of what precedes a date: every file system has names of twice this.
const MAX_STEM_BYTES: usize = 64;

/// A file's name with the time in UTC behind it: `NAME-YYYYMMDD-HHMMSS.ENDING`. A long one is cut.
pub fn dated_name(path: &Path, ending: &str) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let cut = stem.floor_char_boundary(MAX_STEM_BYTES);
    format!("{}.{ending}", dated(&stem[..cut]))
}

/// The present day in UTC: `YYYY-MM-DD`.
pub fn date() -> String {
    let now = timestamp(now());
    format!("{}-{}-{}", &now[..4], &now[4..6], &now[6..8])
}

fn dated(stem: &str) -> String {
    format!("{stem}-{}", timestamp(now()))
}

/// Seconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |time| time.as_secs())
}

/// `YYYYMMDD-HHMMSS` of `seconds` since 1970, in UTC.
fn timestamp(seconds: u64) -> String {
    // Days to a civil date: years are counted from March, so that the leap day comes last.
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_dates() {
        assert_eq!(timestamp(0), "19700101-000000");
        assert_eq!(timestamp(951_827_696), "20000229-123456");
        assert_eq!(timestamp(1_798_761_599), "20261231-235959");
    }

    #[test]
    fn a_dated_name_is_cut_between_letters() {
        let name = |stem: &str| dated_name(Path::new(&format!("folder/{stem}.life")), "json");
        assert!(name("s").starts_with("s-2") && name("s").ends_with(".json"));
        let long = name(&"生命".repeat(100));
        assert!(long.starts_with("生命生命") && long.len() < 100, "{long}");
    }
}
