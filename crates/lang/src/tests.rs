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
fn a_name_without_a_value_is_that_of_a_variable() {
    install();
    let n = 7;
    let said = || [tr!("{n} rounds/s"), tr!("{n} rounds/s", n = n + 1)];
    assert_eq!(said(), ["7 rounds/s", "8 rounds/s"]);
    let [variable, given] = with(Language::Chinese, said);
    assert_eq!(language(), Language::English);
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
    use crate::numbers::{bytes, digits, grouped, quantity, si, time_us};
    for (shown, want) in [
        (si(4.714e12), "4.71 T"),
        (si(60.0), "60.0 "),
        (si(0.0), "0 "),
        (si(999.6), "1.00 k"),
        (si(f64::NAN), "0 "),
        (bytes(512), "512 B"),
        (bytes(2 << 20), "2.00 MiB"),
        (time_us(12.34), "12.3 µs"),
        (time_us(999.6), "1.00 ms"),
        (time_us(9.996), "10.0 µs"),
        (time_us(99.96), "100 µs"),
        (grouped(12_345_678), "12,345,678"),
        (grouped(7), "7"),
        (digits(66_291.98), "66,300"),
        (digits(999.6), "1,000"),
        (digits(0.0513), "0.05"),
        (quantity(2307.9, "ms"), "2.31 s"),
        (quantity(13.0657, "times"), "13.1×"),
        (quantity(59.3e12, "cells/s"), "59.3 Tcell/s"),
        (quantity(8000.0, "rounds/s"), "8,000 rounds/s"),
    ] {
        assert_eq!(shown, want);
    }
}

#[test]
fn a_message_is_read_in_the_language_of_the_reader() {
    install();
    let [plain, counted] = [
        crate::message!("Redo"),
        crate::message!("up to {} ahead", 7),
    ];
    assert_eq!((&*plain, &*counted), ("Redo", "up to 7 ahead"));
    with(Language::Chinese, || {
        assert_eq!(&*plain, crate::text("Redo"));
        assert!(counted.contains('7') && !counted.contains("ahead"));
    });
    let cause = Message::from("CUDA_ERROR_UNKNOWN");
    let same = with(Language::Chinese, || cause.to_string());
    assert_eq!(same, "CUDA_ERROR_UNKNOWN");
}
