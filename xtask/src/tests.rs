//! The documents in the checkout are what is generated, and lead nowhere that does not exist.

use std::fs;
use std::path::Path;

use lang::Language;

use crate::{PARTS, documents, pages, parts_of, text_of, with_parts, write};

/// The longest README.
const MAX_README_LINES: usize = 150;

/// With `LIFESTREAMS_RENEW=1` they are written first, as the pictures of the screens are.
#[test]
fn documents_are_what_is_generated() {
    if std::env::var_os("LIFESTREAMS_RENEW").is_some() {
        write().unwrap();
    }
    for (path, text) in documents().unwrap() {
        let is_new = text_of(&path).unwrap() == text;
        assert!(is_new, "`cargo xtask docs` renews {}", path.display());
    }
}

#[test]
fn a_stale_part_is_made_anew_and_nothing_else() {
    let whole = text_of(&crate::root().join("docs/kernels.md")).unwrap();
    let stale = whole.replacen("| `bits`", "| `bist`", 1);
    assert_ne!(stale, whole);
    assert_eq!(with_parts(&stale, &[]).unwrap(), whole);
    assert!(with_parts("<!-- nothing -->\n", &[]).is_err());
}

#[test]
fn every_part_stands_in_some_page() {
    let pages = pages().unwrap();
    let texts: Vec<String> = pages
        .iter()
        .map(|(path, _)| text_of(path).unwrap())
        .collect();
    for (name, _) in PARTS {
        let has = |text: &&String| parts_of(text).contains(&name);
        assert!(texts.iter().any(|text| has(&text)), "no page has {name}");
    }
}

#[test]
fn a_chinese_page_has_the_chapters_of_the_english_one() {
    let chapters = |page: &Path| {
        let text = text_of(page).unwrap();
        text.lines().filter(|line| line.starts_with('#')).count()
    };
    let pages = pages().unwrap().into_iter();
    let chinese: Vec<_> = pages.filter(|(_, of)| *of == Language::Chinese).collect();
    assert!(chinese.len() > 5, "{chinese:?}");
    for (page, _) in chinese {
        let english = page
            .to_str()
            .unwrap()
            .replace("/zh/", "/")
            .replace(".zh.md", ".md");
        assert_eq!(chapters(&page), chapters(english.as_ref()), "{english}");
    }
}

#[test]
fn links_lead_somewhere() {
    for (path, _) in pages().unwrap() {
        let text = text_of(&path).unwrap();
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            if target.starts_with("https://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let to = match file {
                "" => path.clone(),
                file => path.parent().unwrap().join(file),
            };
            assert!(to.is_file(), "{}: {target}", path.display());
            let there = fs::read_to_string(&to).unwrap_or_default();
            let has = |line: &str| line.starts_with('#') && slug(line) == anchor;
            let found = anchor.is_empty() || there.lines().any(has);
            assert!(found, "{}: {target} has no such chapter", path.display());
        }
    }
}

/// A chapter's anchor, as GitHub makes it.
fn slug(line: &str) -> String {
    let title = line.trim_start_matches('#').trim().to_lowercase();
    let kept = title
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn the_readme_is_short() {
    for name in ["README.md", "README.zh.md"] {
        let lines = text_of(&crate::root().join(name)).unwrap().lines().count();
        assert!(lines <= MAX_README_LINES, "{name} has {lines} lines");
    }
}

#[test]
fn the_architecture_page_has_every_crate() {
    let root = crate::root();
    let text = text_of(&root.join("docs/architecture.md")).unwrap();
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(text.contains(&format!("`{name}`")), "it lacks {name}");
    }
}
