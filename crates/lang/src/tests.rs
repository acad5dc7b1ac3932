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
