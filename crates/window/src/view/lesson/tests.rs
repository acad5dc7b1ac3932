//! No word of a lesson is cut, whatever the window.

use super::*;
use crate::view::hud::tests::{each_lesson, texts};
use crate::view::layout::{LayoutRequest, LessonPlace, lay_out};
use egui::Shape;
use life::Size;
use ui::ViewOptions;
use ui::fixtures::{lesson_list, lesson_page, recorded_page, speedup_page, status};

#[test]
fn every_word_of_a_page_is_shown_in_windows_of_a_lecture() {
    let status = status(16, Size::new(512, 512).unwrap());
    let options = ViewOptions::default();
    for page in [lesson_page(false), lesson_page(true), recorded_page()] {
        let screen = LessonScreen::Page(page.clone());
        let mut seen = 0;
        each_lesson(&status, &options, &screen, |frame, shapes| {
            let [width, height] = frame.pixels.map(|side| side as f32 / frame.scale);
            if width < 800.0 || height < 500.0 {
                return;
            }
            seen += 1;
            let (layout, _) = frame.layout().unwrap();
            let place = layout.points(layout.lesson.unwrap());
            let mut wanted = vec![page.title.clone(), page.question.clone()];
            wanted.push(page.conclusion.clone());
            for column in &page.columns {
                wanted.extend(column.code.iter().map(|line| line.text.clone()));
                let figures = column.figures.iter();
                wanted.extend(figures.flat_map(|(a, b)| [a.clone(), b.clone()]));
            }
            let bars = page.bars.iter();
            wanted.extend(bars.flat_map(|bar| [bar.label.clone(), bar.text.clone()]));
            wanted.extend(page.checks.iter().map(|(check, _)| check.clone()));
            wanted.push(page.note.clone());
            if !page.recorded.is_empty() {
                wanted.push(page.recorded.clone());
            }
            for wanted in wanted {
                let kept = lang::keep_units(&wanted);
                let found = texts(shapes).find(|(text, _)| *text == kept);
                let say = format!("'{wanted}' in {:?} at {}", frame.pixels, frame.scale);
                let (_, rect) = found.unwrap_or_else(|| panic!("no {say}"));
                assert!(place.contains_rect(rect), "{rect:?} of {place:?}: {say}");
            }
        });
        assert!(seen > 5, "{seen}");
    }
}

#[test]
fn the_speed_up_curve_has_its_axes_and_signs_in_every_window() {
    let status = status(16, Size::new(512, 512).unwrap());
    let options = ViewOptions::default();
    let screen = LessonScreen::Page(speedup_page(5, true));
    let mut seen = 0;
    each_lesson(&status, &options, &screen, |frame, shapes| {
        let [width, height] = frame.pixels.map(|side| side as f32 / frame.scale);
        if width < 600.0 || height < 350.0 {
            return;
        }
        seen += 1;
        let say = format!("{:?} at {}", frame.pixels, frame.scale);
        let (layout, _) = frame.layout().unwrap();
        let place = layout.points(layout.lesson.unwrap());
        let found = |wanted: &str| {
            let kept = lang::keep_units(wanted);
            let mut within = texts(shapes).filter(|(_, rect)| place.contains_rect(*rect));
            let found = within.find(|(text, _)| *text == kept);
            found.unwrap_or_else(|| panic!("no '{wanted}' in {say}")).1
        };
        let [top, bottom] = ["speed-up", "N"].map(found);
        assert!(bottom.top() - top.bottom() > 0.15 * place.height(), "{say}");
        assert!(found("1").center().x < found("16").center().x, "{say}");
        for name in ["one stream for all", "a stream each", "a batch", "ideal"] {
            let named = found(name);
            assert!(named.left() > found("8").right(), "beside its end in {say}");
        }
        // One sign a point.
        let is_ours = |shape: &&Shape| matches!(shape, Shape::Circle(circle) if place.contains(circle.center));
        assert_eq!(shapes.iter().filter(is_ours).count(), 5, "{say}");
    });
    assert!(seen > 8, "{seen}");
}

#[test]
fn the_selected_entry_is_always_seen() {
    let wanted = LayoutRequest {
        lesson: Some(LessonPlace::Beside),
        ..Default::default()
    };
    let size = Size::new(512, 512).unwrap();
    for window in [[1280, 800], [800, 500], [700, 1100]] {
        let layout = lay_out(window, 1.0, 16, size, &wanted);
        let rect = layout.points(layout.lesson.unwrap());
        let LessonScreen::List { entries, .. } = lesson_list(0) else {
            unreachable!("a list");
        };
        let rows = list_rows(&entries).len();
        assert_eq!(rows, entries.len() + 1, "the exercises have a heading");
        for selected in 0..rows {
            let (first, places) = row_places(rect, rows, selected);
            assert!(
                (first..first + places.len()).contains(&selected),
                "{window:?}"
            );
            assert!(places.iter().all(|place| rect.contains_rect(*place)));
        }
    }
}

#[test]
fn the_hud_s_sentences_are_still_said() {
    let mut status = status(16, Size::new(512, 512).unwrap());
    status.failed = Some("the CUDA context is lost".into());
    let options = ViewOptions::default();
    let mut seen = 0;
    each_lesson(&status, &options, &lesson_list(3), |frame, shapes| {
        let said = texts(shapes).any(|(text, _)| text.contains("context is lost"));
        assert!(said, "{:?}", frame.pixels);
        seen += 1;
    });
    assert!(seen > 10);
}
