//! The documents in the checkout are what is generated, complete in both languages, and lead
//! nowhere that does not exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lifestreams::engine::kernels::KERNELS;
use lifestreams::lang::Language;
use lifestreams::life::{Rule, Size};
use lifestreams::session::ladder::{Ladder, LeftOut, Limits, Rate, Work};

use crate::documents::{self, PARTS, pages, parts_of, read};

/// The longest README.
const MAX_README_LINES: usize = 150;

#[test]
fn documents_are_what_is_generated() {
    let stale = documents::stale(crate::root()).unwrap();
    assert!(stale.is_empty(), "run `cargo xtask docs`: {}", stale.join("\n"));
}

#[test]
fn a_stale_part_is_found_and_renewed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    copy(crate::root(), root);
    let page = root.join("docs/zh/keys.md");
    let whole = read(&page).unwrap();
    fs::write(&page, whole.replacen("| Space", "| Blank", 1)).unwrap();
    let stale = documents::stale(root).unwrap();
    assert_eq!(stale.len(), 1, "{stale:?}");
    assert!(stale[0].contains("should: | Space"), "{stale:?}");
    assert!(!documents::check(root).unwrap());
    documents::write(root).unwrap();
    assert_eq!(read(&page).unwrap(), whole);
    assert!(documents::check(root).unwrap());
}

/// What documents are made of and go into.
fn copy(from: &Path, to: &Path) {
    for folder in ["docs", "docs/zh", "kernels", "kernels/ladder", "assets/bench", "."] {
        fs::create_dir_all(to.join(folder)).unwrap();
        for entry in fs::read_dir(from.join(folder)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let wanted = [".md", ".cu", ".json"].iter().any(|end| name.ends_with(end));
            if wanted && entry.path().is_file() {
                fs::copy(entry.path(), to.join(folder).join(name)).unwrap();
            }
        }
    }
}

#[test]
fn every_part_stands_in_some_page() {
    let pages = pages(crate::root()).unwrap();
    let texts: Vec<String> = pages.iter().map(|(path, _)| read(path).unwrap()).collect();
    for (name, _) in PARTS {
        let has = |text: &&String| parts_of(text).contains(&name);
        assert!(texts.iter().any(|text| has(&text)), "no page has {name}");
    }
}

#[test]
fn both_languages_have_the_same_pages_parts_and_chapters() {
    let mut seen: BTreeMap<String, [Option<(Vec<String>, usize)>; 2]> = BTreeMap::new();
    for (path, language) in pages(crate::root()).unwrap() {
        if path.ends_with("kernels/README.md") {
            continue; // English alone
        }
        let text = read(&path).unwrap();
        let parts = parts_of(&text).into_iter().map(String::from).collect();
        let chapters = text.lines().filter(|line| line.starts_with('#')).count();
        let name = path.file_name().unwrap().to_str().unwrap();
        let name = name.replace(".zh.md", ".md");
        let of = usize::from(language == Language::Chinese);
        seen.entry(name).or_default()[of] = Some((parts, chapters));
    }
    assert!(seen.len() > 8, "{seen:?}");
    for (name, [english, chinese]) in seen {
        assert!(english.is_some() && english == chinese, "{name}: {english:?} {chinese:?}");
    }
}

#[test]
fn links_lead_somewhere() {
    for (path, _) in pages(crate::root()).unwrap() {
        let text = read(&path).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.starts_with("https://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let to = match file {
                "" => path.clone(),
                file => path.parent().unwrap().join(file),
            };
            assert!(to.is_file(), "{}: {target}", path.display());
            let there = read_text(&to);
            let has = |line: &str| line.starts_with('#') && slug(line) == anchor;
            let found = anchor.is_empty() || there.lines().any(has);
            assert!(found, "{}: {target} has no such chapter", path.display());
        }
    }
}

fn read_text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// A chapter's anchor, as GitHub makes it.
fn slug(line: &str) -> String {
    let title = line.trim_start_matches('#').trim().to_lowercase();
    let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn the_readme_is_short() {
    for name in ["README.md", "README.zh.md"] {
        let lines = read(&crate::root().join(name)).unwrap().lines().count();
        assert!(lines <= MAX_README_LINES, "{name} has {lines} lines");
    }
}

#[test]
fn the_architecture_page_has_every_crate() {
    let root = crate::root();
    for page in ["docs/architecture.md", "docs/zh/architecture.md"] {
        let text = read(&root.join(page)).unwrap();
        for entry in fs::read_dir(root.join("crates")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(text.contains(&format!("`{name}`")), "{page} lacks {name}");
        }
    }
}

/// A ladder as it might be: every rung with two works, as far as it takes them; 'planar' fails
/// at the larger one.
pub fn fixture() -> Ladder {
    let works = [(16, 1024), (1, 16_384)].map(|(instances, side)| Work { instances, side });
    let (mut rates, mut left_out) = (Vec::new(), Vec::new());
    for (rung, kernel) in KERNELS.iter().enumerate() {
        for (at, work) in works.into_iter().enumerate() {
            let size = Size::new(work.side, work.side).unwrap();
            let why = match kernel.admit(size) {
                Err(error) => Some(error.to_string()),
                Ok(()) if kernel.name == "planar" && at == 1 => Some("it hung".into()),
                Ok(()) => None,
            };
            if let Some(why) = why {
                left_out.push(LeftOut {
                    kernel: kernel.name.into(),
                    work: Some(work),
                    why,
                });
                continue;
            }
            let median = 4e10 * 2.5f64.powi(rung as i32) * (1.0 + at as f64);
            let rate = |rule: &str, median: f64| Rate {
                kernel: kernel.name.into(),
                work,
                rule: rule.into(),
                how: "graphs of 48 generations".into(),
                median,
                lowest: 0.98 * median,
                highest: 1.01 * median,
                runs: 3,
            };
            rates.push(rate(&Rule::LIFE.to_string(), median));
            if kernel.name == "bits" && at == 0 {
                rates.push(rate("B36/S23", median / 2.0));
            }
        }
    }
    Ladder {
        engine: "cuda".into(),
        small: false,
        commit: "0123456789ab".into(),
        driver: "CUDA 13.0, sm_90".into(),
        cache: Some(50 << 20),
        limits: Limits {
            lop3_per_second: Some(16.7e12),
            copied_per_second: Some(4.1e12),
        },
        works: works.into(),
        rates,
        left_out,
        sources: BTreeMap::new(),
    }
}
