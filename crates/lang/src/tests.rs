use super::*;
use crate::tr;

/// Installs the catalogue of the checkout.
pub(crate) fn install() {
    install_catalogue(include_str!("../../../assets/lang/zh.toml"));
}

#[test]
fn locales_that_are_chinese_are() {
    for (locale, language) in [
        ("zh_CN.UTF-8", Language::Chinese),
        ("zh-Hans-CN", Language::Chinese),
        ("zh", Language::Chinese),
        ("en_US.UTF-8", Language::English),
        ("zhx", Language::English),
        ("C", Language::English),
        ("", Language::English),
    ] {
        assert_eq!(Language::of_locale(locale), language, "{locale}");
    }
}

#[test]
fn a_thread_may_have_its_own() {
    install();
    let said = || (tr!("Redo"), tr!("up to {} ahead", 7));
    assert_eq!(said(), ("Redo", "up to 7 ahead".into()));
    let (short, long) = with(Language::Chinese, said);
    assert_eq!(short, CHINESE.get().unwrap()["Redo"]);
    assert!(long.contains('7') && !long.contains("ahead"), "{long}");
    assert_eq!(language(), Language::English);
}

#[test]
fn a_name_without_a_value_is_that_of_a_variable() {
    install();
    let n = 7;
    let said = || [tr!("{n} rounds/s"), tr!("{n} rounds/s", n = n + 1)];
    assert_eq!(said(), ["7 rounds/s", "8 rounds/s"]);
    let [variable, given] = with(Language::Chinese, said);
    assert!(
        variable.contains('7') && given.contains('8'),
        "{variable}, {given}"
    );
}

#[test]
fn no_value_breaks_a_line_moves_the_cursor_or_sounds_the_bell() {
    let hostile = "a\u{1b}]0;title\u{7}\rb\u{9b}31m\n\tc\u{202e}elr.\u{2066}\u{200b}\u{feff}";
    let escaped =
        "a\\u{1b}]0;title\\u{7}\\rb\\u{9b}31m\\n\\tc\\u{202e}elr.\\u{2066}\\u{200b}\\u{feff}";
    for language in [Language::English, Language::Chinese] {
        let said = with(language, || tr!("up to {} ahead", hostile));
        assert!(said.contains(escaped) && !said.contains(is_hidden));
    }
    for message in [crate::message!("up to {} ahead", hostile), hostile.into()] {
        assert!(message.contains(escaped), "{message}");
    }
    assert_eq!(escape_controls(hostile, &[]), escaped);
    assert_eq!(
        escape_controls("两行\n\tü\u{7}", &['\n', '\t']),
        "两行\n\tü\\u{7}"
    );
}

#[test]
fn a_number_keeps_its_unit_and_a_size_stays_whole() {
    for (text, want) in [
        (
            "no difference (within 10 %) here",
            "no difference (within 10_%) here",
        ),
        ("27 → 24 ms per round", "27 → 24_ms per round"),
        (
            "at 4.71 Tcell/s, 8.1× faster",
            "at 4.71_Tcell/s, 8.1× faster",
        ),
        ("16 of 256 × 256 cells", "16 of 256_×_256 cells"),
        ("每回合 12.3 µs，约 3 %", "每回合 12.3_µs，约 3_%"),
        ("3 streams, 4 boxes", "3 streams, 4 boxes"),
    ] {
        assert_eq!(keep_units(text), want.replace('_', "\u{a0}"));
    }
}

#[test]
fn numbers_have_three_digits() {
    use crate::numbers::{bytes, digits, grouped, quantity, si, time_us, time_us_to};
    assert_eq!(si(4.714e12), "4.71 T");
    assert_eq!(si(60.0), "60.0 ");
    assert_eq!(si(0.0), "0 ");
    assert_eq!(si(999.6), "1.00 k");
    assert_eq!(si(f64::NAN), "0 ");
    assert_eq!(bytes(512), "512 B");
    assert_eq!(bytes(2 << 20), "2.00 MiB");
    assert_eq!(time_us(12.34), "12.3 µs");
    assert_eq!(time_us(999.6), "1.00 ms");
    assert_eq!(time_us(9.996), "10.0 µs");
    assert_eq!(time_us(99.96), "100 µs");
    let two = [1234.0, 9.96, 12.34, 99.6, 234.0].map(|us| time_us_to(us, 2));
    assert_eq!(two, ["1.2 ms", "10 µs", "12 µs", "100 µs", "230 µs"]);
    assert_eq!(grouped(12_345_678), "12,345,678");
    assert_eq!(grouped(7), "7");
    let shown = [66_291.98, 999.6, 0.0513].map(digits);
    assert_eq!(shown, ["66,300", "1,000", "0.05"]);
    assert_eq!(quantity(2307.9, "ms"), "2.31 s");
    assert_eq!(quantity(13.0657, "times"), "13.1×");
    assert_eq!(quantity(59.3e12, "cells/s"), "59.3 Tcell/s");
    assert_eq!(quantity(8000.0, "rounds/s"), "8,000 rounds/s");
}
