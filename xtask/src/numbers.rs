//! Numbers as people write them: three digits, a unit, thousands set apart.

/// A number with three significant digits: `66,300`, `12.3`, `0.374`.
pub(crate) fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = value.abs().log10().floor() as i32;
    let scale = 10f64.powi(magnitude - 2);
    let rounded = (value / scale).round() * scale;
    // Rounding may carry: 999.6 is 1,000.
    let magnitude = rounded.abs().log10().floor() as i32;
    let decimals = usize::try_from(2 - magnitude).unwrap_or(0);
    with_thousands(&format!("{rounded:.decimals$}"))
}

/// A factor: `13.1×`, and below 1 with two decimals: `0.09×`.
pub(crate) fn factor(value: f64) -> String {
    format!("{}×", digits_or_hundredths(value))
}

/// A part as a percentage: `89.5 %`, `0.05 %`.
pub(crate) fn percent(part: f64) -> String {
    format!("{} %", digits_or_hundredths(100.0 * part))
}

/// Three digits, but no more than two decimals.
pub(crate) fn digits_or_hundredths(value: f64) -> String {
    if value.abs() < 1.0 {
        format!("{value:.2}")
    } else {
        digits(value)
    }
}

/// A whole number, thousands set apart.
pub(crate) fn whole(value: u64) -> String {
    with_thousands(&value.to_string())
}

/// The unit to print a value of this unit in, and what to divide it by.
fn scaled(value: f64, unit: &str) -> (f64, String) {
    const PREFIXES: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    match unit {
        "ms" if value.abs() >= 1e3 => (1e3, " s".into()),
        "ms" if value.abs() < 0.1 && value != 0.0 => (1e-3, " µs".into()),
        "times" => (1.0, "×".into()),
        "" => (1.0, String::new()),
        "cells/s" | "/s" | "B/s" => {
            let unit = unit.replace("cells", "cell");
            let prefix = PREFIXES
                .into_iter()
                .find(|(scale, _)| value.abs() >= *scale);
            let (scale, prefix) = prefix.unwrap_or((1.0, ""));
            (scale, format!(" {prefix}{unit}"))
        }
        "rounds/s" | "frames/s" => (1.0, String::new()),
        other => (1.0, format!(" {other}")),
    }
}

/// A measured value with its unit: `7.81 ms`. Rounds and frames per second are plain numbers; their
/// table says what they are.
pub(crate) fn quantity(value: f64, unit: &str) -> String {
    let (scale, shown) = scaled(value, unit);
    format!("{}{shown}", digits_of(value / scale, unit))
}

fn digits_of(value: f64, unit: &str) -> String {
    match unit {
        "%" => with_thousands(&format!("{value:.1}")),
        "times" => digits_or_hundredths(value),
        _ => digits(value),
    }
}

/// The median with its unit, and the lowest and highest where they are far apart.
pub(crate) fn spread([median, lowest, highest]: [f64; 3], unit: &str) -> String {
    const WORTH_SAYING: f64 = 0.1;
    let text = quantity(median, unit);
    if highest - lowest <= WORTH_SAYING * median.abs() {
        return text;
    }
    let (scale, _) = scaled(median, unit);
    let [lowest, highest] = [lowest, highest].map(|value| digits_of(value / scale, unit));
    let to = if lowest.starts_with('−') {
        " … "
    } else {
        "–"
    };
    format!("{text} ({lowest}{to}{highest})")
}

fn with_thousands(number: &str) -> String {
    let (sign, number) = match number.strip_prefix('-') {
        Some(rest) => ("−", rest),
        None => ("", number),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut text = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if !fraction.is_empty() {
        text += &format!(".{fraction}");
    }
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_no_more() {
        let shown = [
            66_291.98,
            12.98,
            0.373_723,
            999.6,
            0.0,
            1_234_567.0,
            -1.5,
            7.0,
        ]
        .map(digits);
        let want = [
            "66,300",
            "13.0",
            "0.374",
            "1,000",
            "0",
            "1,230,000",
            "−1.50",
            "7.00",
        ];
        assert_eq!(shown, want);
    }

    #[test]
    fn units_fit_their_values() {
        assert_eq!(quantity(7.812749, "ms"), "7.81 ms");
        assert_eq!(quantity(0.0418, "ms"), "41.8 µs");
        assert_eq!(quantity(2307.9, "ms"), "2.31 s");
        assert_eq!(quantity(59.3e12, "cells/s"), "59.3 Tcell/s");
        assert_eq!(quantity(13.0657, "times"), "13.1×");
        assert_eq!(quantity(66_291.98, "rounds/s"), "66,300");
        assert_eq!(quantity(-32.43, "%"), "−32.4 %");
        assert_eq!(percent(0.895), "89.5 %");
        assert_eq!(percent(0.000_513), "0.05 %");
        assert_eq!(factor(0.0884), "0.09×");
    }

    #[test]
    fn a_range_stands_where_runs_differ() {
        assert_eq!(spread([0.598, 0.597, 0.599], "ms"), "0.598 ms");
        assert_eq!(spread([-1.82, -4.48, 0.83], "%"), "−1.8 % (−4.5 … 0.8)");
        assert_eq!(spread([297.1, 284.1, 427.0], "ms"), "297 ms (284–427)");
        assert_eq!(
            spread([58.7e9, 50.0e9, 58.8e9], "cells/s"),
            "58.7 Gcell/s (50.0–58.8)"
        );
    }
}
