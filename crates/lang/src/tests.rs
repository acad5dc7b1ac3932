use super::*;
use crate::tr;

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
    let said = || (tr!("Redo"), tr!("up to {} ahead", 7));
    assert_eq!(said(), ("Redo", "up to 7 ahead".into()));
    let (short, long) = with(Language::Chinese, said);
    assert_eq!(short, super::CHINESE["Redo"]);
    assert!(long.contains('7') && !long.contains("ahead"), "{long}");
    assert_eq!(language(), Language::English);
}
