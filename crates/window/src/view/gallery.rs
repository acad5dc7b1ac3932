//! Every screen that the program has, with made-up sessions, in the windows that lectures have.
//!
//! `structure` checks what each one paints, without a GPU: no text is cut or lies over another,
//! nothing docked covers a panel. `golden` draws some of them and compares each with its stored
//! picture. To look at all of them, set `LIFESTREAMS_GALLERY` to a directory and run
//! `cargo test -p view gallery_of -- --ignored`; `LIFESTREAMS_SHOT` names some, and
//! `LIFESTREAMS_WINDOWS=1024x768,3840x2160` other windows.

mod golden;
mod overlays;
mod panels;
mod side_panels;
mod structure;

use egui::epaint::ClippedShape;

use crate::view::frame::paint_over;
use crate::view::hud::style;
use crate::view::layout::{PixelRect, WindowLayout};
use crate::view::offscreen::FrameContents;
use crate::view::scene::context;
use crate::view::timeline::layout::TimelineLayout;
use crate::view::{Dialog, Dialogs, Frame, TimelineView};
use lang::Language;
use life::Size;
use session::Status;
use session::trace::TimedRound;
use test_support::with;
use ui::code_editor::{RoundContext, judge};
use ui::fixtures::{Timed, TimedAs, TimedBefore, status, timed_round};
use ui::prediction::OpTimes;
use ui::{AdapterFacts, CodeEditor, Drawing, EditOverlay, LessonScreen, SidePanel, ViewOptions};

/// A window: its pixels, and pixels per point.
type Window = ([u32; 2], f32);

const LANGUAGES: [Language; 2] = [Language::English, Language::Chinese];

/// The windows that every screen is looked at in.
const WINDOWS: [Window; 4] = [
    ([1280, 720], 1.0),
    ([1920, 1080], 1.0),
    ([1280, 720], 2.0),
    ([1920, 1080], 2.0),
];

/// A screen: what differs from a session that runs and shows its panels.
#[derive(Clone, Copy)]
struct Scenario {
    name: &'static str,
    instances: usize,
    size: (u64, u64),
    /// Whether the engine still starts: there are no figures yet.
    starting: bool,
    status: fn(&mut Status),
    theme: usize,
    side: Option<SidePanel>,
    timeline: bool,
    presentation: bool,
    /// Other options, given the lattices' size and about a panel's.
    options: fn(&mut ViewOptions, Size, [u32; 2]),
    round: fn(u32) -> TimedRound,
    /// Whether the round before a change stands above it.
    changed: bool,
    lesson: Option<fn() -> LessonScreen>,
    dialog: Option<fn() -> Dialog>,
    edit_overlay: fn(&mut EditOverlay),
    editor: fn(&mut CodeEditor),
    drawing: fn(&mut Drawing),
    /// What the mouse does before.
    mouse: fn(&mut Mouse<'_>),
    /// Other windows than the usual ones.
    windows: &'static [Window],
}

/// A session that runs and shows its panels.
fn screen(name: &'static str) -> Scenario {
    Scenario {
        name,
        instances: 16,
        size: (256, 256),
        starting: false,
        status: |_| {},
        theme: 0,
        side: None,
        timeline: false,
        presentation: false,
        options: |_, _, _| {},
        round: timed_round,
        changed: false,
        lesson: None,
        dialog: None,
        edit_overlay: |_| {},
        editor: |_| {},
        drawing: |_| {},
        mouse: |_| {},
        windows: &WINDOWS,
    }
}

/// What differs: each method sets the field of its name.
impl Scenario {
    fn instances(self, instances: usize) -> Scenario {
        Scenario { instances, ..self }
    }

    fn size(self, width: u64, height: u64) -> Scenario {
        Scenario {
            size: (width, height),
            ..self
        }
    }

    fn starting(self) -> Scenario {
        Scenario {
            starting: true,
            ..self
        }
    }

    fn status(self, status: fn(&mut Status)) -> Scenario {
        Scenario { status, ..self }
    }

    fn theme(self, theme: usize) -> Scenario {
        Scenario { theme, ..self }
    }

    fn side(self, side: SidePanel) -> Scenario {
        Scenario {
            side: Some(side),
            ..self
        }
    }

    fn timeline(self) -> Scenario {
        Scenario {
            timeline: true,
            ..self
        }
    }

    fn presentation(self) -> Scenario {
        Scenario {
            presentation: true,
            ..self
        }
    }

    fn options(self, options: fn(&mut ViewOptions, Size, [u32; 2])) -> Scenario {
        Scenario { options, ..self }
    }

    fn round(self, round: fn(u32) -> TimedRound) -> Scenario {
        Scenario { round, ..self }
    }

    fn changed(self) -> Scenario {
        Scenario {
            changed: true,
            ..self
        }
    }

    fn lesson(self, lesson: fn() -> LessonScreen) -> Scenario {
        Scenario {
            lesson: Some(lesson),
            ..self
        }
    }

    fn dialog(self, dialog: fn() -> Dialog) -> Scenario {
        Scenario {
            dialog: Some(dialog),
            ..self
        }
    }

    fn edit_overlay(self, edit_overlay: fn(&mut EditOverlay)) -> Scenario {
        Scenario {
            edit_overlay,
            ..self
        }
    }

    fn editor(self, editor: fn(&mut CodeEditor)) -> Scenario {
        Scenario { editor, ..self }
    }

    fn drawing(self, drawing: fn(&mut Drawing)) -> Scenario {
        Scenario { drawing, ..self }
    }

    fn mouse(self, mouse: fn(&mut Mouse<'_>)) -> Scenario {
        Scenario { mouse, ..self }
    }

    fn windows(self, windows: &'static [Window]) -> Scenario {
        Scenario { windows, ..self }
    }
}

/// All of them.
fn screens() -> Vec<Scenario> {
    [
        panels::screens(),
        side_panels::screens(),
        overlays::screens(),
    ]
    .concat()
}

/// What the mouse can do to what is painted.
struct Mouse<'a> {
    timeline: &'a mut TimelineView,
    pointer: &'a mut Option<[f64; 2]>,
    layout: &'a WindowLayout,
    status: &'a Status,
}

impl Mouse<'_> {
    /// Over the timeline, this far to the right and down.
    fn over_timeline(&mut self, x: f64, y: f64) {
        if let Some(rect) = self.layout.timeline {
            self.timeline.hover(Some(within(rect, x, y)));
        }
    }

    /// Over a block of the multiprocessors' rows, wherever one is.
    fn over_a_block(&mut self) {
        let Some(rect) = self.layout.timeline else {
            return;
        };
        let places = (0..200).map(|y| within(rect, 0.4, f64::from(y) / 200.0));
        let over = |at: &[f64; 2]| self.timeline.is_over_a_block(*at, self.layout, self.status);
        let blocks: Vec<_> = places.filter(over).collect();
        self.timeline.hover(blocks.get(blocks.len() / 2).copied());
    }

    /// On the word that freezes the timeline.
    fn click_live(&mut self) {
        if let Some(places) = TimelineLayout::of(self.layout) {
            let chip = places.chip.center();
            let at = [chip.x, chip.y].map(|side| f64::from(side * self.layout.pixels_per_point));
            self.timeline.toggle_frozen();
            self.timeline.hover(Some(at));
        }
    }

    /// Over the lab.
    fn over_lab(&mut self, x: f64, y: f64) {
        if let Some(rect) = self.layout.side_rect(SidePanel::Lab) {
            *self.pointer = Some(within(rect, x, y));
        }
    }
}

fn within(rect: PixelRect, x: f64, y: f64) -> [f64; 2] {
    [
        f64::from(rect.x) + x * f64::from(rect.width),
        f64::from(rect.y) + y * f64::from(rect.height),
    ]
}

/// A screen in a window, ready to be drawn.
struct Set {
    screen: Scenario,
    window: Window,
    status: Option<Status>,
    options: ViewOptions,
    contents: FrameContents,
    /// Where the mouse rests.
    pointer: Option<[f64; 2]>,
    dialogs: Dialogs,
}

impl Set {
    fn new(screen: Scenario, window: Window) -> Set {
        let size = screen.lattice_size();
        let streams = screen.instances as u32;
        let mut status = status(screen.instances, size);
        (screen.status)(&mut status);
        let mut set = Set {
            screen,
            window,
            options: ViewOptions {
                theme: screen.theme,
                side: screen.side,
                timeline: screen.timeline,
                presentation: screen.presentation,
                ..Default::default()
            },
            contents: FrameContents {
                drawing: Drawing {
                    frames_per_second: Some(59.9),
                    adapter: Some(AdapterFacts {
                        name: "NVIDIA GeForce RTX 3060".into(),
                        backend: "Vulkan".into(),
                        driver: String::new(),
                        software: false,
                        pci_bus_id: None,
                    }),
                    ..Default::default()
                },
                lesson: screen.lesson.map(|lesson| lesson()),
                ..Default::default()
            },
            pointer: None,
            dialogs: screen
                .dialog
                .map_or_else(Dialogs::default, |dialog| Dialogs::of(dialog())),
            status: Some(status),
        };
        (screen.options)(&mut set.options, size, [700, 700]);
        (screen.drawing)(&mut set.contents.drawing);
        (screen.edit_overlay)(&mut set.contents.edit_overlay);
        (screen.editor)(&mut set.contents.editor);
        if screen.changed {
            set.contents.timeline.update(&TimedBefore(streams));
        } else {
            set.contents
                .timeline
                .update(&TimedAs((screen.round)(streams)));
        }
        let status = set.status.as_ref().unwrap();
        let (text, chart) = (
            set.contents.editor.text().clone(),
            set.contents.timeline.timeline().chart(),
        );
        let alone = status.lab.isolated.as_ref().zip(chart);
        let times = alone.and_then(|(ops, chart)| OpTimes::of(ops, &chart.round));
        let context = RoundContext::of(status, times, &text);
        let findings = judge(&text, set.contents.editor.round_task(), &context);
        set.contents.editor.take_findings(&text, findings);
        let is_edited = set.options.side == Some(SidePanel::Editor);
        set.contents
            .timeline
            .show_race(set.contents.editor.race().filter(|_| is_edited));
        set.contents
            .population
            .update(&Timed(streams), status, &set.options);
        let (layout, _) = set.frame().layout().unwrap();
        (screen.mouse)(&mut Mouse {
            timeline: &mut set.contents.timeline,
            pointer: &mut set.pointer,
            layout: &layout,
            status,
        });
        if screen.starting {
            set.status = None;
        }
        set
    }

    fn frame(&self) -> Frame<'_> {
        let (status, (pixels, scale)) = (self.status.as_ref(), self.window);
        let frame = self.contents.frame(status, &self.options, pixels, scale);
        frame.composed()
    }

    /// What is painted of it, once it has come to rest.
    fn painted(&mut self, context: &egui::Context, clock: &mut f64) -> Vec<ClippedShape> {
        let palette = self.frame().palette();
        style::apply_style(context, &palette);
        context.memory_mut(|memory| memory.data.clear());
        let (frames, place) = (self.frames(), self.frame().layout());
        let mut dialogs = std::mem::take(&mut self.dialogs);
        let mut shapes = Vec::new();
        for number in 0..frames {
            *clock += 1.0;
            let mut input = self.input(number, *clock);
            input.max_texture_side = Some(8192);
            let (frame, place) = (self.frame(), place.as_ref());
            let (mut output, _) = paint_over(context, &frame, &palette, place, &mut dialogs, input);
            shapes = std::mem::take(&mut output.shapes);
            output.drop_without_applying_deltas();
        }
        shapes
    }

    /// Frames until it has come to rest: a dialog or a card measures itself in its first one.
    fn frames(&self) -> usize {
        let has_card = self.contents.timeline.pointer.is_some();
        if has_card || self.dialogs.takes_keys() {
            2
        } else {
            1
        }
    }

    /// What comes in the frame of this number: the mouse rests somewhere, or is gone.
    fn input(&self, number: usize, clock: f64) -> egui::RawInput {
        let mut input = egui::RawInput {
            time: Some(clock),
            ..Default::default()
        };
        if number == 0 {
            let pointer = self.pointer.zip(self.frame().layout());
            let pointer = pointer.map(|(at, (layout, _))| layout.point(at));
            let rests = pointer.map_or(egui::Event::PointerGone, egui::Event::PointerMoved);
            input.events.push(rests);
        }
        input
    }
}

/// Every screen in the first of its windows, in English: its title, the frame and the dialogs that are
/// open.
pub(crate) fn each_frame(mut look: impl FnMut(&str, &Frame<'_>, Dialogs)) {
    for screen in screens() {
        let window = screen.windows[0];
        let mut set = Set::new(screen, window);
        let dialogs = std::mem::take(&mut set.dialogs);
        let title = title(&screen, window, Language::English);
        look(&title, &set.frame(), dialogs);
    }
}

/// What is painted of every screen in the first of its windows, in a language and a theme.
pub(crate) fn each_painted(
    language: Language,
    theme: usize,
    mut look: impl FnMut(&str, &Frame<'_>, Vec<ClippedShape>),
) {
    let (context, mut clock) = (context(), 0.0);
    with(language, || {
        for screen in screens() {
            let mut set = Set::new(screen, screen.windows[0]);
            set.options.theme = theme;
            let shapes = set.painted(&context, &mut clock);
            look(screen.name, &set.frame(), shapes);
        }
    });
}

impl Scenario {
    fn lattice_size(&self) -> Size {
        Size::new(self.size.0, self.size.1).unwrap()
    }
}

/// What a screen in a window is called.
fn title(screen: &Scenario, ([width, height], scale): Window, language: Language) -> String {
    let language = match language {
        Language::English => "en",
        Language::Chinese => "zh",
    };
    format!("{}-{width}x{height}@{scale}-{language}", screen.name)
}

#[test]
fn names_are_apart() {
    let mut names: Vec<_> = screens().iter().map(|screen| screen.name).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
    assert!(names.iter().all(|name| !name.is_empty()));
}

#[test]
#[ignore = "for a person to look at"]
fn gallery_of_screens() {
    let directory = std::path::PathBuf::from(
        std::env::var("LIFESTREAMS_GALLERY").expect("LIFESTREAMS_GALLERY=DIRECTORY"),
    );
    let only = std::env::var("LIFESTREAMS_SHOT").unwrap_or_default();
    let others: Vec<Window> = std::env::var("LIFESTREAMS_WINDOWS").map_or(Vec::new(), |list| {
        let window = |text: &str| {
            let (width, height) = text.split_once('x').expect("WIDTHxHEIGHT");
            ([width, height].map(|side| side.parse().unwrap()), 1.0)
        };
        list.split(',').map(window).collect()
    });
    let mut stage = golden::Stage::new();
    for screen in screens() {
        let windows = if others.is_empty() {
            screen.windows
        } else {
            &others
        };
        for &window in windows {
            for language in LANGUAGES {
                let title = title(&screen, window, language);
                if title.contains(&only) {
                    let draw = || stage.picture(&mut Set::new(screen, window));
                    let image = with(language, draw);
                    let path = directory.join(format!("{title}.png"));
                    crate::view::picture_file::write_png(&image, &path).unwrap();
                }
            }
        }
    }
}
