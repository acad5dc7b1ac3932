//! Nothing is cut off and nothing covers a panel, whatever the window.

use egui::{Rect, Shape};

use crate::view::dialogs::style;
use crate::view::frame::paint;
use crate::view::hud::install_fonts;
use crate::view::layout::Dock;
use crate::view::widget_painter::WidgetPainter;
use crate::view::{Frame, TimelineView};
use lang::Language;
use life::Size;
use session::{Effect, Finding, Status, Switch};
use ui::fixtures::{Timed, effect, status};
use ui::{AdapterFacts, Drawing, LessonScreen, Population, Sources, ViewOptions};

const WINDOWS: [[u32; 2]; 10] = [
    [800, 500],
    [1280, 800],
    [1920, 1080],
    [3840, 2160],
    [600, 1000],
    [1000, 1000],
    [480, 360],
    [400, 800],
    [120, 90],
    [2560, 700],
];

pub(crate) fn drawing() -> Drawing {
    Drawing {
        adapter: Some(AdapterFacts {
            name: "llvmpipe (LLVM 15.0.6, 256 bits)".into(),
            backend: "Vulkan".into(),
            driver: "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)".into(),
            software: true,
            pci_bus_id: None,
        }),
        forwarded: false,
        frames_per_second: Some(29.97),
        notice: Some("Saved lifestreams-20261121-110812.png".into()),
        ..Drawing::default()
    }
}

/// What is painted for a frame of every window at every scale.
pub(crate) fn each(
    status: &Status,
    options: &ViewOptions,
    check: impl FnMut(&Frame<'_>, &[Shape]),
) {
    let mut timeline = TimelineView::default();
    timeline.update(&Timed(status.lattices.instances as u32));
    each_with(status, options, |_| timeline.clone(), check);
}

/// The same, with what the timeline shows.
pub(crate) fn each_with(
    status: &Status,
    options: &ViewOptions,
    timeline: impl Fn([u32; 2]) -> TimelineView,
    check: impl FnMut(&Frame<'_>, &[Shape]),
) {
    each_frame(status, options, timeline, None, drawing(), check);
}

/// The same, with a lesson and everything beside it.
pub(crate) fn each_lesson(
    status: &Status,
    options: &ViewOptions,
    lesson: &LessonScreen,
    check: impl FnMut(&Frame<'_>, &[Shape]),
) {
    each_frame(
        status,
        options,
        |_| TimelineView::default(),
        Some(lesson),
        drawing(),
        check,
    );
}

pub(crate) fn each_frame(
    status: &Status,
    options: &ViewOptions,
    timeline: impl Fn([u32; 2]) -> TimelineView,
    lesson: Option<&LessonScreen>,
    drawing: Drawing,
    mut check: impl FnMut(&Frame<'_>, &[Shape]),
) {
    let mut population = Population::default();
    population.update(&Timed(0), status, options);
    let context = egui::Context::default();
    install_fonts(&context);
    for pixels in WINDOWS {
        let timeline = timeline(pixels);
        for scale in [1.0, 1.25, 2.0] {
            let plain = Frame::plain(status, options).with_timeline(&timeline);
            let frame = Frame {
                sources: Sources {
                    drawing: &drawing,
                    population: &population,
                    lesson,
                    ..plain.sources
                },
                pixels,
                scale,
                ..plain
            };
            let frame = frame.composed();
            let shapes = painted(&context, &frame);
            check(&frame, &shapes);
        }
    }
}

/// What a frame is painted with.
pub(crate) fn painted(context: &egui::Context, frame: &Frame<'_>) -> Vec<Shape> {
    style::apply_style(context, &frame.palette());
    let input = frame.zoom(context, Default::default());
    let mut output = context.run_ui(input, |ui| {
        let painter = WidgetPainter::new(ui.ctx(), frame.rect(), &frame.palette(), true);
        paint(&painter, frame, frame.layout().as_ref());
    });
    let shapes = std::mem::take(&mut output.shapes);
    output.drop_without_applying_deltas();
    let is_seen = |clipped: &egui::epaint::ClippedShape| {
        let place = clipped.shape.visual_bounding_rect();
        clipped.clip_rect.intersects(place)
    };
    let seen = shapes.into_iter().filter(is_seen);
    seen.map(|clipped| clipped.shape).collect()
}

/// All texts but empty ones, and where they are.
pub(crate) fn texts(shapes: &[Shape]) -> impl Iterator<Item = (&str, Rect)> {
    shapes.iter().filter_map(|shape| match shape {
        Shape::Text(text) if !text.galley.text().is_empty() => {
            Some((text.galley.text(), shape.visual_bounding_rect()))
        }
        _ => None,
    })
}

pub(crate) fn busy() -> Status {
    let mut status = status(200, Size::new(262_144, 131_072).unwrap());
    status.clock.generation = 123_456_789_012;
    status.lattices.seed = Some(u64::MAX);
    status.engine.devices[0].name = "NVIDIA GeForce RTX 4090 Laptop GPU".into();
    status.notice = Some(
        "kernel 'sync-shared' supports at most 24576 cells, not 1024x1024; use --kernel bits"
            .into(),
    );
    status
}

/// One that is shown as a presentation.
fn presented() -> Status {
    let mut status = busy();
    status.lab.last_effect = Some(Effect {
        what: "host memory pageable".into(),
        round_us: [Some(170.0), Some(16_600.0)],
        finding: Some(Finding::of(0.0102, [0.0095, 0.011])),
        ..effect()
    });
    status
}

#[test]
fn a_change_s_effect_is_said_once_and_never_cut() {
    for language in [Language::English, Language::Chinese] {
        test_support::with(language, || {
            for switch in Switch::ALL {
                let status = status(16, Size::new(1024, 1024).unwrap());
                for choice in switch.choices(status.setting.switches, status.setting.kernel) {
                    says_once(&status, choice.effect.as_str());
                }
            }
        });
    }
}

/// However long it is in words: a factor, or that there is none yet.
#[test]
fn a_presentation_shows_the_whole_finding() {
    for language in [Language::English, Language::Chinese] {
        for finding in [
            Finding::of(10.0, [8.04, 11.96]),
            Finding::NotResolved {
                at_most: Some(0.25),
            },
        ] {
            test_support::with(language, || shows_whole(finding));
        }
    }
}

fn shows_whole(finding: Finding) {
    let mut status = presented();
    status.lab.last_effect.as_mut().unwrap().finding = Some(finding);
    let options = ViewOptions {
        presentation: true,
        ..Default::default()
    };
    let mut seen = 0;
    each(&status, &options, |frame, shapes| {
        let [width, height] = frame.pixels.map(|side| side as f32 / frame.scale);
        if width < 1280.0 || height < 700.0 || width < 1.3 * height {
            return;
        }
        seen += 1;
        let factor = &frame.screen.finding.as_ref().unwrap().factor;
        let is_whole = texts(shapes).any(|(text, _)| text.ends_with(factor));
        assert!(
            is_whole,
            "'{factor}' in {:?} at {}",
            frame.pixels, frame.scale
        );
    });
    assert!(seen > 2, "{seen}");
}

/// With the timeline, over its lanes; without it, beside the panels.
fn says_once(status: &Status, what: &str) {
    let effect = Effect {
        what: what.into(),
        round_us: [Some(1234.5), Some(123.4)],
        finding: Some(Finding::of(10.0, [8.04, 11.96])),
        ..effect()
    };
    let mut status = status.clone();
    status.lab.tells_effect = true;
    let factor = effect.in_short();
    status.lab.last_effect = Some(effect);
    for timeline in [true, false] {
        let options = ViewOptions {
            timeline,
            ..Default::default()
        };
        let mut seen = 0;
        let mut view = TimelineView::default();
        view.update(&Timed(16));
        each_frame(
            &status,
            &options,
            |_| view.clone(),
            None,
            Drawing::default(),
            |frame, shapes| {
                let (layout, _) = frame.layout().unwrap();
                let [width, height] = frame.pixels.map(|side| side as f32 / frame.scale);
                let is_side = matches!(layout.dock, Dock::Side(_));
                if width < 1280.0
                    || height < 700.0
                    || !is_side
                    || layout.timeline.is_some() != timeline
                {
                    return;
                }
                seen += 1;
                let say = format!("'{what}' in {:?} at {}", frame.pixels, frame.scale);
                let with_factor = shapes.iter().filter_map(|shape| match shape {
                    Shape::Text(text) if text.galley.text().contains(&factor) => Some(&text.galley),
                    _ => None,
                });
                let with_factor: Vec<_> = with_factor.collect();
                assert_eq!(with_factor.len(), 1, "{say}");
                assert!(!with_factor[0].elided, "{say}");
                let whole = texts(shapes).any(|(text, _)| text.contains(what));
                assert!(whole, "{say}");
            },
        );
        assert!(seen > 0, "timeline: {timeline}");
    }
}

#[test]
fn numbers_move_nothing_but_themselves() {
    let places = |status: &Status| {
        let mut places = Vec::new();
        each(status, &ViewOptions::default(), |_, shapes| {
            let labels =
                texts(shapes).filter(|(text, _)| !text.contains(|c: char| c.is_ascii_digit()));
            places.extend(labels.map(|(text, rect)| (text.to_owned(), rect.min)));
        });
        places
    };
    let early = status(16, Size::new(512, 512).unwrap());
    let mut late = early.clone();
    late.clock.generation = 987_654_321;
    (
        late.rates.cells_per_second,
        late.rates.generations_per_second,
    ) = (1.0, 7.5);
    late.rates.launch_us = Some(98_765.4);
    late.setting.bytes_per_round = 3;
    assert_eq!(places(&early), places(&late));
}
