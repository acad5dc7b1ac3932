//! In Chinese no English is left but names: what is painted is looked at, word by word.

use std::collections::BTreeSet;

use egui::{FontFamily, Shape};

use crate::view::dialogs::DialogContext;
use crate::view::hud::install_fonts;
use crate::view::hud::tests::{busy, painted};
use crate::view::{Dialog, FileTask, PromptDialog};
use crate::view::{Dialogs, FileDialog, Frame, Picker, TimelineView};
use engine::kernels::{KERNELS, find};
use lang::Language;
use life::Size;
use session::{Settled, Status, StopWhenStill};
use ui::actions::{Setting, Topic};
use ui::fixtures::{
    Timed, TimedAs, comparison, isolated, round_with_block_timestamps, status, timed_round,
};
use ui::{ColourBy, Population, SidePanel, Sources, ViewOptions};

/// Names, units and marks that are the same in every language.
const SAME: &str = "
    cuda CUDA sm sm_ GPU NVIDIA GeForce RTX Laptop driver Vulkan llvmpipe LLVM bits Tcell cell KiB MiB
    auto bits view i32 on off per instance one default batch pinned pageable poll each all depth
    breadth kernel commit Esc Enter Ctrl Shift Space Tab Backspace Delete PgUp PgDn Home End wheel
    amber cividis hues phosphor paper saved lifestreams png PNG Rust cust RLE rle cells lif json mod
    English Chinese Gcell GiB done end query session bench ladder __syncthreads syncthreads sync SM
    rhai round FILE
";

fn is_same(word: &str) -> bool {
    SAME.split_whitespace().any(|it| it == word)
        || KERNELS
            .iter()
            .any(|kernel| kernel.name.split('-').any(|part| part == word))
}

/// The English words of a text, but for names.
fn english(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_alphabetic() && c != '_')
        .filter(|word| word.len() > 2 && !word.starts_with("cu") && !is_same(word))
        .collect()
}

fn note(shapes: &[Shape], left: &mut BTreeSet<String>) {
    for shape in shapes {
        match shape {
            Shape::Vec(inner) => note(inner, left),
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

/// One with every figure about time.
pub(super) fn settled() -> Status {
    let mut settled = status(16, Size::new(512, 512).unwrap());
    settled.clock.running = false;
    settled.setting.kernel = find("planar").unwrap();
    settled.clock.run_to = Some(1_000_000);
    settled.clock.oldest = Some(12);
    settled.setting.time.stop_when_still = StopWhenStill::All;
    settled.setting.time.reseed = true;
    settled.panels.settled = [
        Settled::Dead,
        Settled::Still,
        Settled::Period(2),
        Settled::Repeats(30),
    ]
    .into_iter()
    .cycle()
    .take(16)
    .map(Some)
    .collect();
    settled
}

/// States with every kind of figure and sentence.
fn states() -> Vec<(Status, ViewOptions)> {
    let size = Size::new(512, 512).unwrap();
    let mut compared = status(16, size);
    compared.lab.comparison = Some(comparison(session::Switches::DEFAULT));
    let settled = settled();
    let mut overlapping = status(16, size);
    overlapping.lab.isolated = Some(isolated(&timed_round(16), 0.05));
    let mut alone = status(1, size);
    alone.lab.isolated = Some(isolated(&timed_round(1), 0.05));
    let mut ended = status(1, size);
    ended.failed = Some("没有引擎".into());
    let mut counted = busy();
    counted.notice = None;
    let shown = |change: fn(&mut ViewOptions)| {
        let mut options = ViewOptions::default();
        change(&mut options);
        options
    };
    vec![
        (
            counted,
            shown(|it| (it.timeline, it.side) = (true, Some(SidePanel::Lab))),
        ),
        (
            overlapping,
            shown(|it| (it.timeline, it.side) = (true, Some(SidePanel::Ladder))),
        ),
        (
            alone,
            shown(|it| (it.timeline, it.side) = (true, Some(SidePanel::Causes))),
        ),
        (
            settled.clone(),
            shown(|it| it.side = Some(SidePanel::Population)),
        ),
        (
            settled,
            shown(|it| (it.side, it.population_of_all) = (Some(SidePanel::Population), true)),
        ),
        (compared, ViewOptions::default()),
        (ended, shown(|it| it.presentation = true)),
        (status(16, size), shown(|it| it.colour_by = ColourBy::Age)),
    ]
}

#[test]
fn no_english_is_left_in_the_window() {
    let mut left = BTreeSet::new();
    test_support::with(Language::Chinese, || {
        let context = egui::Context::default();
        install_fonts(&context);
        for (status, options) in states() {
            let (mut timeline, mut block_timestamps) =
                (TimelineView::default(), TimelineView::default());
            timeline.update(&Timed(status.lattices.instances as u32));
            block_timestamps.update(&TimedAs(round_with_block_timestamps(
                status.lattices.instances as u32,
                132,
            )));
            for timeline in [timeline, block_timestamps] {
                let mut population = Population::default();
                population.update(&Timed(0), &status, &options);
                let plain = Frame::plain(&status, &options).with_timeline(&timeline);
                let frame = Frame {
                    sources: Sources {
                        population: &population,
                        ..plain.sources
                    },
                    pixels: [1920, 1080],
                    ..plain
                };
                let frame = frame.composed();
                note(&painted(&context, &frame), &mut left);
            }
        }
    });
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn no_english_is_left_in_dialogs() {
    let status = status(16, Size::new(64, 64).unwrap());
    let options = ViewOptions::default();
    let frame = Frame {
        pixels: [1280, 8000],
        ..Frame::plain(&status, &options)
    };
    let frame = test_support::with(Language::Chinese, || frame.composed());
    let file = |task| Dialog::File(FileDialog::new(task, String::new(), None));
    let menus = Topic::ALL.map(|topic| Dialog::Menu(Picker::new("", topic as usize)));
    // Not the shelf: its patterns and their authors keep their English names.
    let prompts =
        Setting::TYPED.map(|prompt| Dialog::Prompt(PromptDialog::new(prompt, String::new())));
    let dialogs = menus.into_iter().chain(prompts).chain([
        Dialog::Commands(Picker::default(), Vec::new()),
        Dialog::Help(Picker::default()),
        file(FileTask::Save),
        file(FileTask::Open),
    ]);
    let mut left = BTreeSet::new();
    test_support::with(Language::Chinese, || {
        for dialog in dialogs {
            let mut dialogs = Dialogs::of(dialog);
            let context = egui::Context::default();
            install_fonts(&context);
            // A dialog measures itself in its first frame and is painted from the second on.
            for _ in 0..2 {
                let input = frame.zoom(&context, Default::default());
                let mut output = context.run_ui(input, |ui| {
                    let seen = DialogContext {
                        context: ui.ctx(),
                        frame: &frame,
                        palette: &frame.palette(),
                        screen: frame.rect(),
                        is_top: true,
                    };
                    dialogs.show(seen, &mut Vec::new());
                });
                let shapes = std::mem::take(&mut output.shapes);
                let shapes: Vec<_> = shapes.into_iter().map(|clipped| clipped.shape).collect();
                note(&shapes, &mut left);
                output.drop_without_applying_deltas();
            }
        }
    });
    assert!(left.is_empty(), "{left:#?}");
}
