//! Nothing of the lab is cut or covered, whatever the window.

use egui::Rect;

use super::*;
use crate::view::Frame;
use crate::view::hud::tests::{each, texts};
use crate::view::layout::{LayoutRequest, lay_out};
use engine::kernels::KERNELS;
use lang::Language;
use life::Size;
use session::Switch;
use ui::ViewOptions;
use ui::fixtures::status;

fn shown() -> ViewOptions {
    ViewOptions {
        side: Some(ui::SidePanel::Lab),
        timeline: true,
        ..Default::default()
    }
}

fn some_status() -> Status {
    status(16, Size::new(512, 512).unwrap())
}

fn lab_of(frame: &Frame<'_>) -> Option<Rect> {
    let (layout, _) = frame.layout()?;
    let rect = layout.side_rect(ui::SidePanel::Lab)?;
    Some(layout.points(rect))
}

#[test]
fn everything_of_it_is_there_and_inside() {
    // One with many shapes of blocks, and one with few.
    for kernel in &KERNELS[1..3] {
        let mut status = some_status();
        status.setting.kernel = kernel;
        let mut seen = 0;
        each(&status, &shown(), |frame, shapes| {
            let Some(lab) = lab_of(frame) else { return };
            seen += 1;
            let say = format!("{:?} at {}", frame.pixels, frame.scale);
            for (text, rect) in texts(shapes).filter(|(_, rect)| lab.shrink(1.0).intersects(*rect))
            {
                assert!(lab.contains_rect(rect), "'{text}' {rect:?} in {say}");
                assert!(
                    !text.contains('…') || text.contains("rule"),
                    "'{text}' in {say}"
                );
            }
            for switch in Switch::ALL {
                let choices = switch.choices(status.setting.switches, kernel);
                let labels = choices.iter().map(|choice| choice.label.as_str());
                for wanted in labels.chain([switch.name(), each_round()]) {
                    let found =
                        texts(shapes).any(|(text, rect)| text == wanted && lab.contains_rect(rect));
                    assert!(found, "'{wanted}' in {say}");
                }
            }
        });
        assert!(seen > 10, "{seen}");
    }
}

#[test]
fn whatever_cannot_be_says_why_also_on_a_projector() {
    let mut status = some_status();
    status.setting.kernel = engine::kernels::find("bits").unwrap();
    let refused = switches(&status).into_iter().flat_map(|row| {
        let name = row.name;
        let positions = row.positions.into_iter();
        positions.filter_map(move |it| it.unavailable.map(|why| (name.clone(), it.label, why)))
    });
    let refused: Vec<_> = refused.collect();
    assert!(refused.len() > 1, "{refused:?}");
    let mut said = 0;
    each(&status, &shown(), |frame, shapes| {
        let Some(lab) = lab_of(frame) else { return };
        said += 1;
        let texts: Vec<_> = texts(shapes)
            .filter(|(_, rect)| lab.contains_rect(*rect))
            .map(|(text, _)| text)
            .collect();
        let say = format!("{:?} at {}", frame.pixels, frame.scale);
        for (switch, label, why) in &refused {
            let reason = format!("{switch} {label} is unavailable: {why}");
            let name = format!("{switch} {label}");
            let is_said = |text: &&str| {
                text.contains(&reason) || text.starts_with("Unavailable") && text.contains(&name)
            };
            assert!(texts.iter().any(is_said), "{name} in {say}");
        }
    });
    assert!(said > 10);
}

/// With both, the timeline stands beside the lab and takes no height from the code.
#[test]
fn many_lines_of_code_are_seen_beside_the_timeline() {
    let both = LayoutRequest {
        side: Some(ui::SidePanel::Lab),
        lanes: Some(16),
        toolbar: true,
        ..Default::default()
    };
    for language in [Language::English, Language::Chinese] {
        test_support::with(language, || {
            for window in [[1024, 768], [1280, 800], [1920, 1080], [3840, 2160]] {
                for kernel in &KERNELS {
                    let mut status = some_status();
                    status.setting.kernel = kernel;
                    let layout = lay_out(window, 1.0, 16, status.lattices.size, &both);
                    let timeline = layout.timeline.expect("there is room for both");
                    assert!(timeline.x > 0, "beside the lab");
                    let places = places(&layout, &status).unwrap();
                    let calls = calls(&status);
                    for language in CallLanguage::ALL {
                        let seen = places.code_lines(calls.of(language));
                        assert!(seen >= 12, "{seen} of '{}' in {window:?}", kernel.name);
                    }
                }
            }
        });
    }
}

#[test]
fn the_wheel_scrolls_as_far_as_there_is_code() {
    let status = some_status();
    let wanted = LayoutRequest {
        side: Some(ui::SidePanel::Lab),
        lanes: Some(16),
        ..Default::default()
    };
    let layout = lay_out([800, 500], 1.0, 16, status.lattices.size, &wanted);
    let places = places(&layout, &status).unwrap();
    let calls = calls(&status);
    let code = calls.of(CallLanguage::Cpp);
    let hidden = code.len() - places.code_lines(code);
    assert!(hidden > 0);
    let mut lab = LabView::default();
    let first = code[lab.first_line(&places, code)].as_str();
    assert_eq!(first, "// each round", "where not all has room");
    lab.scroll(-99, &layout, &status);
    assert_eq!(lab.first_line(&places, code), 0);
    lab.scroll(99, &layout, &status);
    assert_eq!(lab.first_line(&places, code), hidden);
    lab.show_calls(CallLanguage::Rust);
    assert_eq!(lab.scrolled, None, "at its usual line");
}
