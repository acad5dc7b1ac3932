//! Every kind of screen that the program has, with made-up sessions, in the windows that lectures have.
//!
//! `structure` checks what each one paints and says, without a GPU. `golden` draws some of them and compares
//! each with its stored picture. To look at all of them, set `LIFESTREAMS_GALLERY` to a directory and run
//! `cargo test -p window gallery_of -- --ignored`; `LIFESTREAMS_SHOT` names some.

mod golden;
mod screens;
mod structure;

use std::time::Duration;

use egui::accesskit::{Node, NodeId};
use egui::epaint::ClippedShape;

use crate::view::frame::paint_over;
use crate::view::layout::WindowLayout;
use crate::view::offscreen::FrameContents;
use crate::view::style;
use crate::view::{Dialogs, Frame};
use lang::Language;
use life::Size;
use session::Status;
use session::trace::TimedRound;
use test_support::with;
use ui::code_editor::{Code, RoundContext, judge};
use ui::fixtures::{Timed, TimedAs, TimedBefore, status, timed_round};
use ui::prediction::OpTimes;
use ui::{AdapterFacts, Drawing, SidePanel, ViewOptions};

/// A window: its pixels, and pixels per point.
type Window = ([u32; 2], f32);

const LANGUAGES: [Language; 2] = [Language::English, Language::Chinese];

/// The windows that every screen is looked at in: a usual one, a small projector's, one that is small since
/// its points are large, and a large monitor's.
const WINDOWS: [Window; 4] = [
    ([1280, 720], 1.0),
    ([1024, 768], 1.0),
    ([1280, 720], 2.0),
    ([3840, 2160], 2.0),
];

/// Frames after which nothing is painted again: in its first ones, a dialog or a card measures itself.
const RESTS: usize = 4;

/// A screen: its name, and what differs from a session that runs and shows its panels.
type Row = (&'static str, fn(&mut Scenario));

/// A screen in a window.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    window: Window,
    /// The windows that it is looked at in.
    windows: &'static [Window],
    status: Status,
    /// Whether the engine still starts: there are no figures yet.
    starting: bool,
    options: ViewOptions,
    contents: FrameContents,
    dialogs: Dialogs,
    round: fn(u32) -> TimedRound,
    /// Whether the round before a change stands above it.
    changed: bool,
    /// What the mouse does before.
    mouse: fn(&mut Scenario, &WindowLayout),
    /// Where it rests.
    pointer: Option<[f64; 2]>,
}

/// What is painted of a screen once it has come to rest, and what of it a screen reader is told.
struct Painted {
    shapes: Vec<ClippedShape>,
    nodes: Vec<(NodeId, Node)>,
    /// When it wants to be painted again.
    again: Duration,
}

impl Scenario {
    fn new(&(name, differs): &Row, window: Window) -> Scenario {
        let adapter = AdapterFacts {
            name: "NVIDIA GeForce RTX 3060".into(),
            backend: "Vulkan".into(),
            driver: String::new(),
            software: false,
            pci_bus_id: None,
        };
        let mut it = Scenario {
            name,
            window,
            windows: &WINDOWS,
            status: status(16, Size::new(256, 256).unwrap()),
            starting: false,
            options: ViewOptions::default(),
            contents: FrameContents {
                drawing: Drawing {
                    frames_per_second: Some(59.9),
                    adapter: Some(adapter),
                    ..Drawing::default()
                },
                ..FrameContents::default()
            },
            dialogs: Dialogs::default(),
            round: timed_round,
            changed: false,
            mouse: |_, _| {},
            pointer: None,
        };
        differs(&mut it);
        it.judge();
        let layout = it.frame().layout();
        if let Some((layout, _)) = layout {
            (it.mouse)(&mut it, &layout);
        }
        it
    }

    /// So many lattices of this size: before anything else of the status.
    fn grid(&mut self, instances: usize, width: u64, height: u64) {
        self.status = status(instances, Size::new(width, height).unwrap());
    }

    /// Shows the round, and what follows from it.
    fn judge(&mut self) {
        let streams = self.status.lattices.instances as u32;
        let (timeline, editor) = (&mut self.contents.timeline, &mut self.contents.editor);
        if self.changed {
            timeline.update(&TimedBefore(streams));
        } else {
            timeline.update(&TimedAs((self.round)(streams)));
        }
        timeline
            .timeline
            .judge(&self.status, &self.contents.drawing);
        let text = editor.text.clone();
        let alone = self.status.lab.isolated.as_ref();
        let alone = alone.zip(timeline.timeline.chart.as_ref());
        let times = alone.and_then(|(ops, chart)| OpTimes::of(ops, &chart.round));
        let context = RoundContext::of(&self.status, times, &text);
        if editor.code == Code::Round {
            let findings = judge(&text, editor.round_task(), &context);
            editor.take_findings(&text, Some(findings));
        }
        let is_edited = self.options.side == Some(SidePanel::Editor);
        timeline.show_race(editor.race().filter(|_| is_edited));
        let population = &mut self.contents.population;
        population.update(&Timed(streams), &self.status, &self.options);
    }

    fn frame(&self) -> Frame<'_> {
        let status = (!self.starting).then_some(&self.status);
        let (pixels, scale) = self.window;
        let contents = &self.contents;
        contents
            .frame(status, &self.options, pixels, scale)
            .composed()
    }

    /// Shows it to `show`, frame by frame, until it has come to rest, or in other windows than the first one until
    /// all of it is there.
    fn frames(
        &mut self,
        clock: &mut f64,
        mut show: impl FnMut(&Frame<'_>, &mut Dialogs, egui::RawInput),
    ) {
        let mut dialogs = std::mem::take(&mut self.dialogs);
        let frame = self.frame();
        let layout = frame.layout();
        let has_card = self.contents.timeline.pointer.is_some() || dialogs.takes_keys();
        let count = match (self.window == WINDOWS[0], has_card) {
            (true, _) => RESTS,
            (_, true) => 2,
            _ => 1,
        };
        for number in 0..count {
            *clock += 1.0;
            let mut input = egui::RawInput {
                time: Some(*clock),
                ..Default::default()
            };
            if number == 0 {
                let rests = self.pointer.zip(layout.as_ref());
                input.events.push(match rests {
                    Some((at, (layout, _))) => egui::Event::PointerMoved(layout.point(at)),
                    None => egui::Event::PointerGone,
                });
            }
            show(&frame, &mut dialogs, input);
        }
        self.dialogs = dialogs;
    }

    fn painted(&mut self, context: &egui::Context, clock: &mut f64) -> Painted {
        let palette = self.frame().palette();
        style::apply_style(context, &palette);
        context.memory_mut(|memory| memory.data.clear());
        let mut painted = None;
        self.frames(clock, |frame, dialogs, mut input| {
            input.max_texture_side = Some(8192);
            let place = frame.layout();
            let mut output = paint_over(context, frame, place.as_ref(), dialogs, input);
            let tree = output.platform_output.accesskit_update.take();
            let viewport = output.viewport_output.get(&egui::ViewportId::ROOT);
            painted = Some(Painted {
                nodes: tree.map_or_else(Vec::new, |tree| tree.nodes),
                again: viewport.map_or(Duration::MAX, |viewport| viewport.repaint_delay),
                shapes: std::mem::take(&mut output.shapes),
            });
            output.drop_without_applying_deltas();
        });
        painted.expect("a frame at least")
    }

    fn title(&self, language: Language) -> String {
        let ([width, height], scale) = self.window;
        format!("{}-{width}x{height}@{scale}-{language:?}", self.name)
    }
}

/// The screen of this name in a window.
fn named(name: &str, window: Window) -> Scenario {
    let row = screens::SCREENS.iter().find(|row| row.0 == name);
    Scenario::new(
        row.unwrap_or_else(|| panic!("no screen is called {name}")),
        window,
    )
}

/// The screen of this name in a usual window: the frame and the dialogs that are open.
pub(crate) fn with_screen<T>(name: &str, look: impl FnOnce(&Frame<'_>, Dialogs) -> T) -> T {
    let mut it = named(name, WINDOWS[0]);
    let dialogs = std::mem::take(&mut it.dialogs);
    look(&it.frame(), dialogs)
}

#[test]
#[ignore = "for a person to look at"]
fn gallery_of_screens() {
    let directory = std::env::var_os("LIFESTREAMS_GALLERY").expect("LIFESTREAMS_GALLERY=DIRECTORY");
    let only = std::env::var("LIFESTREAMS_SHOT").unwrap_or_default();
    let mut stage = golden::Stage::new();
    for row in screens::SCREENS {
        for &window in Scenario::new(row, WINDOWS[0]).windows {
            for language in LANGUAGES {
                with(language, || {
                    let mut it = Scenario::new(row, window);
                    let title = it.title(language);
                    if title.contains(&only) {
                        let path = std::path::Path::new(&directory).join(format!("{title}.png"));
                        crate::view::picture_file::write_png(&stage.picture(&mut it), &path)
                            .unwrap();
                    }
                });
            }
        }
    }
}
