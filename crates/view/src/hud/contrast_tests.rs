//! Every text keeps the contrast that WCAG 2 asks for (4.5, or 3 where type is large), in every
//! theme: what is painted is looked at, text by text, with the ground that lies under it.

use std::collections::{BTreeSet, HashSet};

use egui::{Color32, Pos2, Rect, Shape};

use crate::Frame;
use crate::hud::style::GROUND;
use crate::hud::tests::{busy, each, each_lesson};
use crate::theme::{interface, of};
use life::Size;
use model::Halves;
use screen::SidePanel;
use screen::fixtures::{lesson_list, lesson_page, status};
use screen::theme::{COUNT, contrast, theme};
use screen::{LessonScreen, ViewOptions};

/// The filled shapes so far, the topmost last.
type Grounds = Vec<(Rect, Color32)>;

fn opaque_under(grounds: &Grounds, at: Pos2) -> Color32 {
    let under = grounds.iter().rev().find(|(rect, _)| rect.contains(at));
    under.map_or(GROUND, |(_, colour)| *colour)
}

/// Walks what is painted in its order; tells of each letter's colour, height and ground.
fn letters(
    shapes: &[Shape],
    grounds: &mut Grounds,
    tell: &mut dyn FnMut(&str, Color32, f32, Color32),
) {
    for shape in shapes {
        match shape {
            Shape::Vec(inner) => letters(inner, grounds, tell),
            Shape::Rect(rect) if rect.fill.a() == 255 => grounds.push((rect.rect, rect.fill)),
            Shape::Text(text) => {
                let galley = &text.galley;
                let under = opaque_under(grounds, text.visual_bounding_rect().center());
                for section in &galley.job.sections {
                    let own = section.format.color;
                    let ink = match text.override_text_color {
                        Some(ink) => ink,
                        None if own == Color32::PLACEHOLDER => text.fallback_color,
                        None => own,
                    };
                    tell(galley.text(), ink, section.format.font_id.size, under);
                }
            }
            _ => {}
        }
    }
}

/// What has been looked at: ink, ground, and whether type is large.
type Seen = HashSet<(Color32, Color32, bool)>;

/// Notes the texts that do not stand out.
fn check(shapes: &[Shape], unit: f32, seen: &mut Seen, faint: &mut BTreeSet<String>) {
    letters(shapes, &mut Vec::new(), &mut |text, ink, size, ground| {
        // 24 pixels at the unit of a small window are what WCAG calls large.
        let large = size >= 24.0 * unit;
        let least = if large { 3.0 } else { 4.5 };
        let exempt = text.is_empty() || text == "…" || DISABLED.contains(&ink);
        if exempt || !seen.insert((ink, ground, large)) {
            return;
        }
        for theme in (0..COUNT).map(theme) {
            let apart = contrast(of(interface(&theme, ink)), of(interface(&theme, ground)));
            // Eight bits a channel cost a light theme a few parts in a hundred.
            if apart < 0.95 * least {
                let name = theme.name;
                faint.insert(format!(
                    "{name}: '{text}' in {ink:?} on {ground:?}: {apart:.2}"
                ));
            }
        }
    });
}

/// What cannot be chosen is faint on purpose; WCAG exempts it.
const DISABLED: [Color32; 1] = [Color32::from_rgb(0x7C, 0x84, 0x90)];

#[test]
fn every_text_stands_out_in_every_theme() {
    let mut compared = status(16, Size::new(512, 512).unwrap());
    compared.halves = Some(Halves {
        switches: [model::Switches::DEFAULT; 2],
        round_us: [Some(123.4), Some(1234.5)],
        differing: Some((3, 123_456)),
        each: 8,
    });
    let mut failed = busy();
    failed.failed = Some("the engine is gone".into());
    let shown = |timeline, side| ViewOptions {
        timeline,
        side,
        ..Default::default()
    };
    let screens = [
        (busy(), shown(true, Some(SidePanel::Lab))),
        (failed, shown(false, Some(SidePanel::Ladder))),
        (compared, shown(false, None)),
    ];
    let (mut seen, mut faint) = (HashSet::new(), BTreeSet::new());
    let mut look = |frame: &Frame<'_>, shapes: &[Shape]| {
        check(
            shapes,
            frame.layout().unwrap().0.unit,
            &mut seen,
            &mut faint,
        );
    };
    for (status, options) in screens {
        each(&status, &options, &mut look);
    }
    for lesson in [lesson_list(6), LessonScreen::Page(lesson_page(false))] {
        each_lesson(&busy(), &lesson, &mut look);
    }
    assert!(seen.len() > 20, "{seen:?}");
    assert!(faint.is_empty(), "{faint:#?}");
}
