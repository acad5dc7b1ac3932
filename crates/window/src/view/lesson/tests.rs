//! No word of a lesson is cut, whatever the window.

use crate::view::hud::tests::{each_lesson, texts};
use egui::Shape;
use life::Size;
use ui::fixtures::{lesson_page, recorded_page, speedup_page, status};
use ui::{LessonScreen, ViewOptions};

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
fn the_speed_up_curve_has_its_axes_and_a_sign_a_point_in_every_window() {
    let status = status(16, Size::new(512, 512).unwrap());
    let screen = LessonScreen::Page(speedup_page(5, true));
    let mut seen = 0;
    each_lesson(
        &status,
        &ViewOptions::default(),
        &screen,
        |frame, shapes| {
            let rect = frame.rect();
            if rect.width() >= 600.0 && rect.height() >= 350.0 {
                seen += 1;
                let at = |wanted| texts(shapes).find(|(text, _)| *text == wanted).unwrap().1;
                let height = at("N").top() - at("speed-up").bottom();
                assert!(height > 0.15 * rect.height(), "{:?}", frame.pixels);
                let signs = shapes
                    .iter()
                    .filter(|shape| matches!(shape, Shape::Circle(_)));
                assert_eq!(signs.count(), 5, "{:?}", frame.pixels);
            }
        },
    );
    assert!(seen > 8, "{seen}");
}

#[test]
fn the_hud_s_sentences_are_still_said() {
    let mut status = status(16, Size::new(512, 512).unwrap());
    status.failed = Some("the CUDA context is lost".into());
    let page = LessonScreen::Page(lesson_page(false));
    let mut seen = 0;
    each_lesson(&status, &ViewOptions::default(), &page, |frame, shapes| {
        let is_large = frame.rect().height() >= 200.0;
        let said = texts(shapes).any(|(text, _)| text.contains("context is lost"));
        assert!(said || !is_large, "{:?}", frame.pixels);
        seen += usize::from(is_large);
    });
    assert!(seen > 10);
}
