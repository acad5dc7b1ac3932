//! What is painted, whatever the window: nothing is cut off or covers a panel, what cannot be is said with its
//! reason, and every word of a lesson is shown.
//!
//! In Chinese no English is left but names: what is painted is looked at, word by word. And every text keeps the
//! contrast that WCAG 2 asks for (4.5, or 3 where type is large), in every theme: text by text, with the
//! background that lies under it. Painters take all colours from the palette.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use egui::{Color32, FontFamily, Rect, Shape};

use crate::view::frame::paint;
use crate::view::gallery::each_painted;
use crate::view::hud::{install_fonts, style};
use crate::view::layout::Dock;
use crate::view::widget_painter::WidgetPainter;
use crate::view::{Frame, TimelineView};
use engine::kernels::KERNELS;
use lang::Language;
use life::Size;
use session::{Effect, Finding, Status, Switch};
use ui::fixtures::{Timed, effect, lesson_page, recorded_page, speedup_page, status};
use ui::theme::{COUNT, contrast, floats, theme};
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

/// Names, units and marks that are the same in every language.
const SAME: &str = "
    cuda CUDA sm sm_ GPU NVIDIA GeForce RTX Laptop driver Vulkan llvmpipe LLVM bits Tcell cell KiB MiB
    auto bits view i32 on off per instance one default batch pinned pageable poll each all depth
    breadth kernel commit Esc Enter Ctrl Shift Space Tab Backspace Delete PgUp PgDn Home End wheel
    amber cividis hues phosphor paper saved lifestreams png PNG Rust cust RLE rle cells lif json mod
    English Chinese Gcell GiB done end query session bench ladder __syncthreads syncthreads sync SM
    rhai round FILE cpu own Day Night HighLife Life Maze Replicator Seeds
    CPU Test Unknown HBM abcd CUDA_ERROR_ILLEGAL_ADDRESS xyzzy rotate HiLife EACCES gif
";

/// Screens with what a user wrote or that keeps its English names: code, patterns, lessons.
const WRITTEN: [&str; 8] = [
    "camera-theme-paper-",
    "editor",
    "ladder-source",
    "lecture",
    "lesson",
    "odd-lesson",
    "palette-refused",
    "shelf",
];

fn is_same(word: &str) -> bool {
    SAME.split_whitespace().any(|it| it == word)
        || KERNELS
            .iter()
            .any(|kernel| kernel.name.split('-').any(|part| part == word))
}

/// The English words of a text, but for names and paths.
fn english(text: &str) -> Vec<&str> {
    let texts = text
        .split_whitespace()
        .filter(|it| !it.starts_with(['/', '~']));
    texts
        .flat_map(|text| text.split(|c: char| !c.is_ascii_alphabetic() && c != '_'))
        .filter(|word| word.len() > 2 && !word.starts_with("cu") && !is_same(word))
        .collect()
}

fn note_english<'a>(shapes: impl IntoIterator<Item = &'a Shape>, left: &mut BTreeSet<String>) {
    for shape in shapes {
        match shape {
            Shape::Vec(inner) => note_english(inner, left),
            Shape::Text(text) => {
                let galley = &text.galley;
                // Code, but for its remarks, is the same.
                let mut families = galley
                    .job
                    .sections
                    .iter()
                    .map(|it| &it.format.font_id.family);
                let code = families.any(|family| *family == FontFamily::Monospace);
                let text = galley.text();
                let code = code && !text.trim_start().starts_with("//");
                let cut = text.ends_with('…');
                if !code && !cut && !english(text).is_empty() {
                    left.insert(text.to_owned());
                }
            }
            _ => {}
        }
    }
}

#[test]
fn no_english_is_left_on_any_screen() {
    let mut left = BTreeSet::new();
    each_painted(Language::Chinese, 0, |name, _, shapes| {
        let is_written = WRITTEN.iter().any(|start| name.starts_with(start));
        if !is_written {
            let mut found = BTreeSet::new();
            note_english(shapes.iter().map(|clipped| &clipped.shape), &mut found);
            left.extend(found.into_iter().map(|text| format!("{name}: {text}")));
        }
    });
    assert!(left.is_empty(), "{left:#?}");
}

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
fn check_contrast(
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
            check_contrast(frame, &shapes, &mut seen, &mut faint);
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
