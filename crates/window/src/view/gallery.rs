//! Every kind of screen that the program has, with made-up sessions, in the windows that lectures have.
//!
//! `structure` checks what each one paints and says, without a GPU. Each painter and each kind of colour is in
//! one of the golden pictures here: screens as they were last looked at, reduced to 80 × 45 pixels, a file each
//! in `tests/screens`. A reduced pixel is the mean of some hundreds, so that it hardly knows how an edge was
//! smoothed, and yet notices a colour, a line of type or an edge that moved by a few pixels.
//! `LIFESTREAMS_RENEW=1 cargo nextest run -p window golden` stores them anew. Look at all screens first: set
//! `LIFESTREAMS_GALLERY` to a directory and run `cargo test -p window gallery_of -- --ignored`;
//! `LIFESTREAMS_SHOT` names some.

mod screens;
mod structure;

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use egui::accesskit::{Node, NodeId};
use egui::epaint::ClippedShape;

use crate::view::frame::paint_over;
use crate::view::layout::WindowLayout;
use crate::view::offscreen::{read, target};
use crate::view::picture_file::{Image, write_png};
use crate::view::pixel_tests::lavapipe;
use crate::view::style;
use crate::view::{Dialogs, Frame, Gpu, Scene};
use lang::Language::{self, Chinese, English};
use life::{Lattice, Size, soup};
use session::Status;
use session::prediction::OpTimes;
use session::trace::TimedRound;
use test_support::with;
use ui::code_editor::{Code, RoundContext, judge};
use ui::fixtures::{FixturePictures, Timed, aged, serial_round, status, timed_round};
use ui::{AdapterFacts, App, AppOptions, CodeEditor, ColourBy, SidePanel};

/// A window: its pixels, and pixels per point.
type Window = ([u32; 2], f32);

const LANGUAGES: [Language; 2] = [English, Chinese];

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
struct Scenario {
    name: &'static str,
    window: Window,
    /// The windows that it is looked at in.
    windows: &'static [Window],
    status: Status,
    /// Whether the engine still starts: there are no figures yet.
    starting: bool,
    app: App,
    editor: CodeEditor,
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

impl Image {
    /// The red, green and blue bytes of a pixel.
    pub(super) fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let at = 4 * (y as usize * self.width as usize + x as usize);
        [self.rgba[at], self.rgba[at + 1], self.rgba[at + 2]]
    }
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
        let mut app = App::new(AppOptions::default(), Arc::new(|| {}), Arc::default());
        app.in_window = true;
        app.drawing.frames_per_second = Some(59.9);
        app.drawing.adapter = Some(adapter);
        let mut it = Scenario {
            name,
            window,
            windows: &WINDOWS,
            status: status(16, Size::new(256, 256).unwrap()),
            starting: false,
            app,
            editor: CodeEditor::default(),
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
        let (timeline, editor) = (&mut self.app.timeline, &mut self.editor);
        let round = (self.round)(streams);
        let timed = if self.changed {
            Timed(serial_round(streams), Some(round))
        } else {
            Timed(round, None)
        };
        timeline.update(&timed);
        timeline.judge(&self.status, &self.app.drawing);
        let text = editor.text.clone();
        let alone = self.status.lab.isolated.as_ref();
        let alone = alone.zip(timeline.chart.as_ref());
        let times = alone.and_then(|(ops, chart)| OpTimes::of(ops, &chart.round));
        let context = RoundContext::of(&self.status, times, &text);
        if editor.code == Code::Round {
            let findings = judge(&text, editor.round_task(), &context);
            editor.take_findings(&text, Some(findings));
        }
        let is_edited = self.app.options.side == Some(SidePanel::Editor);
        timeline.show_race(editor.race().filter(|_| is_edited));
        let population = &mut self.app.population;
        population.update(&timed, &self.status, &self.app.options);
        self.app.lessons.update();
        self.app.status = (!self.starting).then(|| Arc::new(self.status.clone()));
    }

    fn frame(&self) -> Frame<'_> {
        let (pixels, scale) = self.window;
        Frame {
            app: &self.app,
            editor: &self.editor,
            pixels,
            scale,
        }
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
        let has_card = self.app.timeline.pointer.is_some() || dialogs.takes_keys();
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

/// The screen of this name in a usual window.
pub(crate) fn with_screen<T>(name: &str, look: impl FnOnce(&Frame<'_>) -> T) -> T {
    look(&named(name, WINDOWS[0]).frame())
}

const SMALL: Window = WINDOWS[0];
const LARGE: Window = ([1920, 1080], 2.0);

/// The screens that are stored, and how.
const GOLDEN: [(&str, Window, Language); 8] = [
    ("blocks", SMALL, English),
    ("comparison-differ-all", SMALL, Chinese),
    ("ladder-timeline", SMALL, English),
    ("lesson-page", LARGE, English),
    ("minimap", LARGE, English),
    ("population-of-all-timeline", LARGE, Chinese),
    ("presentation-timeline", SMALL, English),
    ("selection", SMALL, Chinese),
];

/// A reduced picture's sides.
const SIDES: [u32; 2] = [80, 45];
/// How far a part of a reduced pixel's colour may be from what is stored, of 255.
const TOLERANCE: u8 = 5;

#[test]
fn golden_screens_look_as_they_are_stored() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/screens");
    let renew = std::env::var_os("LIFESTREAMS_RENEW").is_some();
    let mut stage = Stage::new();
    let mut stale = Vec::new();
    for (name, window, language) in GOLDEN {
        let draw = || reduced(&stage.picture(&mut named(name, window)));
        let drawn = with(language, draw);
        let path = folder.join(format!("{name}.png"));
        let stored = load(&path).unwrap_or_default();
        let apart = drawn.rgba.iter().zip(&stored).map(|(a, b)| a.abs_diff(*b));
        let (most, at) = apart.zip(0u32..).max().unwrap_or_default();
        if most <= TOLERANCE && drawn.rgba.len() == stored.len() {
            continue;
        }
        if renew {
            write_png(&drawn, &path).unwrap();
        } else {
            let at = [at / 4 % SIDES[0], at / 4 / SIDES[0]];
            stale.push(format!(
                "{name}: {most} of 255 apart at {at:?} of {SIDES:?}"
            ));
        }
    }
    assert!(
        stale.is_empty(),
        "look at them (gallery_of_screens), then LIFESTREAMS_RENEW=1 cargo nextest run \
         -p window golden: {stale:#?}"
    );
    let files = fs::read_dir(folder).unwrap();
    let files: BTreeSet<_> = files.map(|file| file.unwrap().file_name()).collect();
    let known = GOLDEN.map(|(name, ..)| format!("{name}.png").into());
    assert_eq!(files, BTreeSet::from(known), "nothing else is stored");
}

/// A stored picture's pixels as RGBA, if there is one.
fn load(path: &Path) -> Option<Vec<u8>> {
    let mut decoder = png::Decoder::new(BufReader::new(File::open(path).ok()?));
    decoder.set_transformations(png::Transformations::ALPHA);
    let mut reader = decoder.read_info().ok()?;
    let mut rgba = vec![0; reader.output_buffer_size()?];
    reader.next_frame(&mut rgba).ok()?;
    Some(rgba)
}

/// The means of the pixels that each one stands for.
fn reduced(image: &Image) -> Image {
    let edge = |axis: usize, at: u32| at * [image.width, image.height][axis] / SIDES[axis];
    let mut rgba = Vec::new();
    for (row, column) in (0..SIDES[1]).flat_map(|row| (0..SIDES[0]).map(move |it| (row, it))) {
        let (mut sum, mut count) = ([0; 3], 0);
        for y in edge(1, row)..edge(1, row + 1) {
            for x in edge(0, column)..edge(0, column + 1) {
                let pixel = image.pixel(x, y);
                (0..3).for_each(|part| sum[part] += u32::from(pixel[part]));
                count += 1;
            }
        }
        rgba.extend(sum.map(|sum| ((sum + count / 2) / count) as u8));
        rgba.push(255);
    }
    Image {
        width: SIDES[0],
        height: SIDES[1],
        rgba,
    }
}

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// Draws screens, one after another, on one device.
struct Stage {
    gpu: Gpu,
    targets: HashMap<[u32; 2], wgpu::Texture>,
    /// egui's clock, which never goes back.
    clock: f64,
}

impl Stage {
    fn new() -> Stage {
        Stage {
            gpu: lavapipe(),
            targets: HashMap::new(),
            clock: 0.0,
        }
    }

    /// A screen's picture, once it has come to rest: three soups, and what has become of them, of which ages and
    /// trails are made.
    fn picture(&mut self, it: &mut Scenario) -> Image {
        let pixels = it.window.0;
        let device = &self.gpu.device;
        let texture = self
            .targets
            .entry(pixels)
            .or_insert_with(|| target(device, pixels, FORMAT));
        let mut scene = Scene::new(&self.gpu, FORMAT);
        let size = it.status.lattices.size;
        let soups = [1, 2, 3].map(|seed| aged(soup(size, 0.3, seed, 0), 12));
        let mut lattices: Vec<Lattice> = soups
            .into_iter()
            .cycle()
            .take(it.status.lattices.instances)
            .collect();
        let last = if it.app.options.colour_by == ColourBy::State {
            0
        } else {
            8
        };
        for generation in 0..=last {
            let pictures = FixturePictures::of(lattices.iter().enumerate(), generation);
            scene.update(&it.frame(), &pictures);
            if generation < last {
                lattices = lattices.into_iter().map(|it| aged(it, 1)).collect();
            }
        }
        let view = texture.create_view(&Default::default());
        it.frames(&mut self.clock, |frame, dialogs, input| {
            scene.draw(frame, dialogs, input, &view);
        });
        let image = read(&self.gpu, texture).unwrap();
        self.gpu.trouble().unwrap();
        image
    }
}

/// Shelf, presentation, a larger window, Chinese: the letters that they need go with them.
#[test]
fn what_is_closed_is_freed() {
    let stage = Stage::new();
    let (mut scene, mut clock) = (Scene::new(&stage.gpu, FORMAT), 0.0);
    let mut held = |name, window: Window| {
        let texture = target(&stage.gpu.device, window.0, FORMAT);
        let view = texture.create_view(&Default::default());
        named(name, window).frames(&mut clock, |frame, dialogs, input| {
            scene.draw(frame, dialogs, input, &view);
        });
        let [width, height] = scene.context().fonts(|fonts| fonts.font_image_size());
        width * height
    };
    let (before, mut more) = (held("panels", SMALL), 0);
    for (name, window) in [
        ("shelf", SMALL),
        ("shelf", SMALL),
        ("menu-presented", WINDOWS[3]),
    ] {
        let during = with(Chinese, || held(name, window));
        more += usize::from(during > before);
        let after = held("panels", SMALL);
        assert!(after <= before, "{after} of {name}");
    }
    assert!(more >= 2, "{more}");
}

#[test]
fn a_picture_while_a_dialog_is_open_leaves_the_mouse_to_it() {
    let stage = Stage::new();
    let mut scene = Scene::new(&stage.gpu, FORMAT);
    let texture = target(&stage.gpu.device, SMALL.0, FORMAT);
    let view = texture.create_view(&Default::default());
    let mut it = named("palette", SMALL);
    it.pointer = Some([640.0, 300.0]);
    it.frames(&mut 0.0, |frame, dialogs, input| {
        scene.draw(frame, dialogs, input, &view);
    });
    let is_its = |scene: &Scene| scene.context().egui_wants_pointer_input();
    assert!(is_its(&scene), "the palette is under the mouse");
    let frame = it.frame();
    scene.draw_for_capture(&frame, &view);
    assert!(is_its(&scene), "and still is");
    scene.draw(&frame, &mut Dialogs::default(), Default::default(), &view);
    assert!(!is_its(&scene), "until it is closed");
}

#[test]
#[ignore = "for a person to look at"]
fn gallery_of_screens() {
    let directory = std::env::var_os("LIFESTREAMS_GALLERY").expect("LIFESTREAMS_GALLERY=DIRECTORY");
    let only = std::env::var("LIFESTREAMS_SHOT").unwrap_or_default();
    let mut stage = Stage::new();
    for row in screens::SCREENS {
        for &window in Scenario::new(row, WINDOWS[0]).windows {
            for language in LANGUAGES {
                with(language, || {
                    let mut it = Scenario::new(row, window);
                    let title = it.title(language);
                    if title.contains(&only) {
                        let path = Path::new(&directory).join(format!("{title}.png"));
                        write_png(&stage.picture(&mut it), &path).unwrap();
                    }
                });
            }
        }
    }
}
