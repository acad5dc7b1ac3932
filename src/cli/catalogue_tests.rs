//! The catalogue holds what the code says, no more and no less.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};

/// The first literal of each `tr!`, `message!` and `mark!` below this folder.
fn marked(folder: &Path, texts: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            marked(&path, texts);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let source = std::fs::read_to_string(&path).unwrap();
            let tokens: TokenStream = source.parse().expect("Rust");
            gather(tokens, texts);
        }
    }
}

fn gather(tokens: TokenStream, texts: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let before = at.checked_sub(2).map(|from| &tokens[from..at]);
        if let Some([TokenTree::Ident(name), TokenTree::Punct(sign)]) = before
            && (name == "tr" || name == "message" || name == "mark")
            && sign.as_char() == '!'
            && let Some(TokenTree::Literal(literal)) = group.stream().into_iter().next()
        {
            let literal: syn::LitStr = syn::parse_str(&literal.to_string()).unwrap();
            texts.insert(literal.value());
        }
        gather(group.stream(), texts);
    }
}

/// The texts of tables, which are looked up where they are shown.
fn tabled() -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    for row in ui::actions::TABLE.iter() {
        texts.extend([row.help, row.mouse].map(str::to_owned));
    }
    for kernel in &engine::kernels::KERNELS {
        texts.insert(kernel.title.into());
    }
    for lesson in lesson::LESSONS {
        texts.extend([lesson.title, lesson.intro, lesson.question].map(str::to_owned));
        if let lesson::Choices::Words { choices, .. } = lesson.choices {
            texts.extend(choices.iter().map(|choice| (*choice).to_owned()));
        }
        texts.extend(lesson.parts.iter().map(|part| part.title.to_owned()));
        for it in lesson.compared {
            texts.extend([it.label, it.faster, it.none, it.slower].map(str::to_owned));
        }
        if let Some(missing) = lesson.missing_on_cpu {
            let on_cpu = missing.on_cpu.into_iter().flatten();
            let all = [missing.what, missing.on_gpu].into_iter().chain(on_cpu);
            texts.extend(all.map(str::to_owned));
        }
        if let lesson::Closing::Text(text) = lesson.closing {
            texts.insert(text.into());
        }
    }
    for exercise in lesson::EXERCISES {
        texts.insert(exercise.title.into());
        texts.extend(exercise.text.iter().map(|text| (*text).to_owned()));
    }
    texts.remove("");
    texts
}

fn used() -> BTreeSet<String> {
    let mut texts = tabled();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    marked(&root.join("src"), &mut texts);
    for entry in std::fs::read_dir(root.join("crates")).unwrap() {
        marked(&entry.unwrap().path().join("src"), &mut texts);
    }
    texts
}

fn catalogue() -> BTreeMap<String, String> {
    toml::from_str(super::CATALOGUE).unwrap()
}

#[test]
fn every_text_has_its_chinese_and_every_entry_is_used() {
    let (used, known) = (used(), catalogue().into_keys().collect::<BTreeSet<_>>());
    assert!(used.len() > 80, "{}", used.len());
    let lacking: Vec<_> = used.difference(&known).collect();
    assert!(lacking.is_empty(), "without Chinese: {lacking:#?}");
    let left: Vec<_> = known.difference(&used).collect();
    assert!(left.is_empty(), "nothing uses {left:#?}");
}

/// What stands in braces, sorted.
fn placeholders(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = text
        .split('{')
        .skip(1)
        .map(|rest| rest.split('}').next().unwrap_or_default())
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn both_languages_have_the_same_placeholders() {
    for (english, chinese) in catalogue() {
        let (of_english, of_chinese) = (placeholders(&english), placeholders(&chinese));
        // Plain ones may be numbered where Chinese has another order.
        let numbered: Vec<String> = (0..of_english.len()).map(|at| at.to_string()).collect();
        let plain = of_english.iter().all(|it| it.is_empty());
        let same = of_english == of_chinese || (plain && of_chinese == numbered);
        assert!(same, "{english}: {of_english:?}\n{chinese}: {of_chinese:?}");
        let known = |it: &&str| it.chars().all(|c| c.is_alphanumeric() || c == '_');
        assert!(
            of_english.iter().all(known),
            "{english}: no format in braces"
        );
    }
}

#[test]
fn every_character_has_a_glyph() {
    let context = egui::Context::default();
    window::install_fonts(&context);
    context
        .run_ui(Default::default(), |_| {})
        .drop_without_applying_deltas();
    let text: String = catalogue().into_values().collect();
    let mut lacking: BTreeSet<char> = text.chars().filter(|letter| *letter != '\n').collect();
    let font = egui::FontId::default();
    context.fonts_mut(|fonts| lacking.retain(|letter| !fonts.has_glyph(&font, *letter)));
    assert!(lacking.is_empty(), "scripts/build-font: {lacking:?}");
}
