//! Every text keeps the contrast that WCAG 2 asks for (4.5, or 3 where type is large), in every
//! theme: what is painted is looked at, text by text, with the background that lies under it.
//! Painters take all colours from the palette.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use egui::{Color32, Rect, Shape};

use crate::view::Frame;
use crate::view::gallery::each_painted;
use lang::Language;
use ui::theme::{COUNT, contrast, floats, theme};

/// The filled shapes so far, the topmost last; the HUD's background is the first.
type Backgrounds = Vec<(Rect, Color32)>;

/// Walks what is painted in its order; tells of each letter's colour, height and background.
fn letters(
    shapes: &[Shape],
    backgrounds: &mut Backgrounds,
    tell: &mut dyn FnMut(&str, Color32, f32, Color32),
) {
    for shape in shapes {
        match shape {
            Shape::Vec(inner) => letters(inner, backgrounds, tell),
            Shape::Rect(rect) if rect.fill.a() == 255 => backgrounds.push((rect.rect, rect.fill)),
            Shape::Text(text) => {
                let galley = &text.galley;
                let at = text.visual_bounding_rect().center();
                let under = backgrounds.iter().rev().find(|(rect, _)| rect.contains(at));
                let under = under.unwrap_or(&backgrounds[0]).1;
                for section in &galley.job.sections {
                    let own = section.format.color;
                    let text_colour = match text.override_text_color {
                        Some(text_colour) => text_colour,
                        None if own == Color32::PLACEHOLDER => text.fallback_color,
                        None => own,
                    };
                    tell(
                        galley.text(),
                        text_colour,
                        section.format.font_id.size,
                        under,
                    );
                }
            }
            _ => {}
        }
    }
}

/// What has been looked at: ink, background, and whether type is large.
type CheckedColours = HashSet<(Color32, Color32, bool)>;

/// Notes the texts that do not stand out.
fn check(
    frame: &Frame<'_>,
    shapes: &[Shape],
    seen: &mut CheckedColours,
    faint: &mut BTreeSet<String>,
) {
    let palette = frame.palette();
    let mut backgrounds = vec![(Rect::EVERYTHING, palette.background)];
    letters(
        shapes,
        &mut backgrounds,
        &mut |text, text_colour, size, background| {
            // That is what WCAG calls large.
            let large = size >= 24.0;
            let least = if large { 3.0 } else { 4.5 };
            // What cannot be chosen is faint on purpose, and WCAG exempts it. Black and white stand on
            // what is an instance's, by `text_on`.
            let exempt = text.is_empty()
                || text == "…"
                || text_colour == palette.faint
                || text_colour.a() < 255
                || [Color32::BLACK, Color32::WHITE].contains(&text_colour);
            if exempt || !seen.insert((text_colour, background, large)) {
                return;
            }
            let [r, g, b, _] = background.blend(text_colour).to_array();
            let [under_r, under_g, under_b, _] = background.to_array();
            let apart = contrast(floats([r, g, b]), floats([under_r, under_g, under_b]));
            // Eight bits a channel cost a light theme a few parts in a hundred.
            if apart < 0.95 * least {
                let name = theme(frame.sources.options.theme).name;
                faint.insert(format!(
                    "{name}: '{text}' in {text_colour:?} on {background:?}: {apart:.2}"
                ));
            }
        },
    );
}

#[test]
fn every_text_stands_out_in_every_theme() {
    let mut faint = BTreeSet::new();
    for theme in 0..COUNT {
        let mut seen = HashSet::new();
        each_painted(Language::English, theme, |_, frame, shapes| {
            let shapes: Vec<_> = shapes.into_iter().map(|clipped| clipped.shape).collect();
            check(frame, &shapes, &mut seen, &mut faint);
        });
        assert!(seen.len() > 20, "{seen:?}");
    }
    assert!(faint.is_empty(), "{faint:#?}");
}

#[test]
fn painters_name_roles_and_no_colours() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/view");
    let mut found = BTreeSet::new();
    note_literals(&source, &mut found);
    // The file that turns roles into egui's colours. For a new colour, add a role to the palette.
    assert_eq!(found, BTreeSet::from([source.join("hud/style.rs")]));
}

/// The painters' files that make colours or use egui's constants.
fn note_literals(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    let is_colour = |rest: &str| rest.starts_with("from_") || rest.starts_with(char::is_uppercase);
    let has_colour = |line: &str| {
        let hex = line.contains("rgb(0x") || line.contains("hex(0x");
        hex || line.split("Color32::").skip(1).any(is_colour)
    };
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.contains("tests") || ["gallery", "theme", "theme.rs"].contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            note_literals(&path, found);
        } else if std::fs::read_to_string(&path)
            .unwrap()
            .lines()
            .any(has_colour)
        {
            found.insert(path);
        }
    }
}
