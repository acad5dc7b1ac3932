//! Numbers as people read them: with three digits, and a unit.

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
    match us {
        us if us < 999.5 => digits(us) + " µs",
        us if us < 999.5e3 => digits(us / 1e3) + " ms",
        us => digits(us / 1e6) + " s",
    }
}

/// Three significant digits, but no more than two decimals: `1,230`, `13.1`, `0.09`.
pub fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = |value: f64| value.abs().log10().floor() as i32;
    let unit = 10f64.powi(magnitude(value) - 2);
    let rounded = (value / unit).round() * unit;
    // Rounding may carry: 9.996 is 10.0.
    match 2 - magnitude(rounded) {
        ..=0 => grouped(rounded as u64),
        decimals => format!("{value:.0$}", decimals.min(2) as usize),
    }
}

/// A value in the unit that records name: `7.81 ms`, `59.3 Tcell/s`, `13.1×`.
pub fn quantity(value: f64, unit: &str) -> String {
    match unit {
        "µs" => time_us(value),
        "ms" => time_us(value * 1e3),
        "s" => time_us(value * 1e6),
        "times" => digits(value) + "×",
        "cells/s" => si(value) + "cell/s",
        "/s" | "B/s" => si(value) + unit,
        "" => digits(value),
        _ => format!("{} {unit}", digits(value)),
    }
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
    format!("{} {}", digits(value), prefixes[prefix])
}
