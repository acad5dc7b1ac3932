//! One rule over every screen, in its windows and in both languages, looked at without a GPU: nothing is cut and
//! nothing lies over anything, every text stands out from what is beneath it and is in the language, everything
//! has a name and is said once, and where nothing changes nothing moves and nothing is painted again.
//!
//! Shapes come in the order in which they are painted. A card (help, a dialog, a tip) may lie over
//! what was painted before it; nothing else may.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use egui::accesskit::{Action, Node, NodeId, Role};
use egui::epaint::TextShape;
use egui::{Color32, FontFamily, Pos2, Rect, Shape, accesskit_root_id};

use crate::view::gallery::{LANGUAGES, Painted, Scenario, WINDOWS, named, screens::SCREENS};
use crate::view::layout::WindowLayout;
use crate::view::scene::context;
use engine::kernels::KERNELS;
use lang::{Language, tr};
use session::Streams;
use test_support::with;
use ui::theme::{COUNT, Palette, contrast, floats};

/// Points that count as no overlap and no cut: the room around letters. They have a pixel of it on each
/// side, which are more points where the interface is small.
const SLACK: f32 = 2.5;
/// What scrolls is at least as high: a line that is cut there is not cut everywhere.
const MIN_SCROLLED: f32 = 60.0;

/// A text that can be seen.
struct VisibleText {
    text: String,
    rect: Rect,
    /// Whether a card is beneath it.
    on_card: bool,
}

struct Looking<'a> {
    palette: &'a Palette<Color32>,
    screen: Rect,
    /// How far texts may reach into one another: the room around both.
    room: f32,
    /// Whether texts are to be in no other language than this one, if there is such a rule.
    only: Option<Language>,
    /// Whether everything so far lies under a dialog.
    carded: bool,
    cards: Vec<Rect>,
    /// What texts may lie on, the topmost last.
    backgrounds: Vec<(Rect, Color32)>,
    seen: Vec<VisibleText>,
    wrong: Vec<String>,
}

impl Looking<'_> {
    fn at(&mut self, shape: &Shape, clip: Rect) {
        match shape {
            Shape::Vec(inner) => inner.iter().for_each(|shape| self.at(shape, clip)),
            Shape::Rect(rect) if rect.fill.a() > 0 => {
                self.background(rect.rect.intersect(clip), rect.fill);
            }
            Shape::Text(text) if !text.galley.text().trim().is_empty() => {
                let rect = shape.visual_bounding_rect();
                self.place(text.galley.text(), rect, clip);
                if rect.intersects(clip) {
                    self.contrast(text, rect);
                    self.language(text);
                }
            }
            _ => {}
        }
    }

    /// What lies under it cannot be seen any more.
    fn background(&mut self, rect: Rect, fill: Color32) {
        let veil = fill.a() < 255 && rect.contains_rect(self.screen.shrink(1.0));
        if veil {
            self.compare();
            self.carded = true;
            return self.seen.clear();
        }
        if fill.a() == 255 {
            self.backgrounds.push((rect, fill));
        }
        if fill.a() < 200 || !rect.is_positive() {
            return;
        }
        let covered = |seen: &VisibleText| {
            let over = seen.rect.intersect(rect);
            over.is_positive() && over.width().min(over.height()) > SLACK
        };
        if [self.palette.dialog, self.palette.raised].contains(&fill) {
            self.cards.push(rect);
        } else {
            for seen in self.seen.iter().filter(|seen| covered(seen)) {
                self.wrong
                    .push(format!("'{}' is painted over by {rect:?}", seen.text));
            }
        }
        self.seen.retain(|seen| !covered(seen));
    }

    fn place(&mut self, text: &str, rect: Rect, clip: Rect) {
        // As the lists of dialogs do, and texts of several lines.
        let is_long = self.carded || text.contains('\n') || clip.height() >= MIN_SCROLLED;
        let scrolls = is_long && clip.height() < self.screen.height() - 1.0;
        let shown = rect.intersect(clip);
        if !shown.is_positive() && scrolls {
            return;
        }
        let [x, y] = [rect.width() - shown.width(), rect.height() - shown.height()];
        // A list that scrolls ends somewhere.
        if x > SLACK || (y > SLACK && !scrolls) {
            self.wrong.push(format!("'{text}' is cut off: {rect:?}"));
        }
        if !self.screen.expand(SLACK).contains_rect(shown) {
            self.wrong.push(format!("'{text}' leaves the window"));
        }
        self.seen.push(VisibleText {
            text: text.into(),
            rect: shown,
            on_card: self.carded || self.cards.iter().any(|card| card.contains_rect(shown)),
        });
    }

    fn compare(&mut self) {
        for (index, a) in self.seen.iter().enumerate() {
            for b in &self.seen[index + 1..] {
                let over = a.rect.intersect(b.rect);
                if over.is_positive() && over.width().min(over.height()) > self.room {
                    self.wrong
                        .push(format!("'{}' and '{}' overlap", a.text, b.text));
                }
            }
        }
    }

    /// A text has the contrast that WCAG 2 asks for: 4.5, or 3 where type is large.
    fn contrast(&mut self, text: &TextShape, rect: Rect) {
        let mut under = self.backgrounds.iter().rev();
        let under = under.find(|(under, _)| under.contains(rect.center()));
        let background = under.map_or(self.palette.background, |it| it.1);
        for section in &text.galley.job.sections {
            let own = section.format.color;
            let colour = match text.override_text_color {
                Some(colour) => colour,
                None if own == Color32::PLACEHOLDER => text.fallback_color,
                None => own,
            };
            // What cannot be chosen is faint on purpose, and WCAG exempts it. Black and white stand on
            // what is an instance's, by `text_on`.
            let exempt = text.galley.text() == "…"
                || colour == self.palette.faint
                || colour.a() < 255
                || [Color32::BLACK, Color32::WHITE].contains(&colour);
            let least = if section.format.font_id.size >= 24.0 {
                3.0
            } else {
                4.5
            };
            let [ink, paper] = [background.blend(colour), background].map(|colour| {
                let [r, g, b, _] = colour.to_array();
                floats([r, g, b])
            });
            // Eight bits a channel cost a light theme a few parts in a hundred.
            if !exempt && contrast(ink, paper) < 0.95 * least {
                let text = text.galley.text();
                self.wrong
                    .push(format!("'{text}' in {colour:?} on {background:?} is faint"));
            }
        }
    }

    /// In Chinese no English is left but names, code without its remarks, and what is cut.
    fn language(&mut self, text: &TextShape) {
        let mut sections = text.galley.job.sections.iter();
        let is_code = sections.any(|it| it.format.font_id.family == FontFamily::Monospace);
        let text = text.galley.text();
        let is_code = is_code && !text.trim_start().starts_with("//");
        let is_whole = !is_code && !text.ends_with('…');
        let word = english(text).filter(|_| is_whole && self.only == Some(Language::Chinese));
        let say = |word| format!("'{word}' is English in '{text}'");
        self.wrong.extend(word.map(say));
    }
}

/// Names, units and marks that are the same in every language.
const SAME: &str = "
    cuda CUDA sm sm_ GPU NVIDIA GeForce RTX Laptop driver Vulkan llvmpipe LLVM bits Tcell cell KiB MiB
    auto bits view i32 on off per instance one default batch pinned pageable poll each all depth
    breadth kernel commit Esc Enter Ctrl Shift Space Tab Backspace Delete PgUp PgDn Home End wheel
    amber cividis hues phosphor paper saved lifestreams png PNG Rust cust RLE rle cells lif json mod
    English Chinese Gcell GiB done end query session bench ladder __syncthreads syncthreads sync SM
    rhai round FILE cpu own Day Night HighLife Life Maze Replicator Seeds
    AVX CPU Test Unknown HBM abcd CUDA_ERROR_ILLEGAL_ADDRESS xyzzy rotate HiLife EACCES gif
";

/// Screens with what a user wrote or that keeps its English names: code, patterns, lessons.
const WRITTEN: [&str; 8] = [
    "editor",
    "ladder-source",
    "lecture",
    "lesson",
    "odd-lesson",
    "odd-palette",
    "palette",
    "shelf",
];

/// An English word of a text that is no name and in no path.
fn english(text: &str) -> Option<&str> {
    let is_same = |word: &str| {
        let mut kernels = KERNELS.iter().flat_map(|kernel| kernel.name.split('-'));
        SAME.split_whitespace().any(|it| it == word) || kernels.any(|it| it == word)
    };
    let texts = text
        .split_whitespace()
        .filter(|it| !it.starts_with(['/', '~']));
    let mut words = texts.flat_map(|it| it.split(|c: char| !c.is_ascii_alphabetic() && c != '_'));
    words.find(|word| word.len() > 2 && !word.starts_with("cu") && !is_same(word))
}

/// What can be clicked has a name and a place, and nothing says again what it says.
fn check_names(nodes: &[(NodeId, Node)], wrong: &mut Vec<String>) {
    let nodes: HashMap<_, _> = nodes.iter().map(|(id, node)| (*id, node)).collect();
    let (mut named, mut labels) = (Vec::new(), Vec::new());
    let mut open = vec![accesskit_root_id().accesskit_id()];
    while let Some(node) = open.pop().and_then(|id| nodes.get(&id)) {
        // What stands behind a dialog is not said at all, with all that is in it.
        open.extend(node.children().iter().filter(|id| !nodes[*id].is_hidden()));
        let role = node.role();
        let name = if role == Role::Label {
            node.value()
        } else {
            node.label()
        };
        let name = name.unwrap_or_default();
        let bounds = node.bounds().unwrap_or_default();
        // A scroll bar is called what it is.
        let acts = node.supports_action(Action::Click) && role != Role::ScrollBar;
        let is_nameless = name.is_empty() && node.labelled_by().is_empty();
        let is_empty = bounds.width() <= 0.0 || bounds.height() <= 0.0;
        if (acts || role == Role::Button) && (is_nameless || is_empty || role == Role::Unknown) {
            wrong.push(format!(
                "{role:?} '{name}' has no name, role or place: {node:?}"
            ));
        }
        match role {
            Role::Button | Role::Image => named.push((name, bounds)),
            Role::Label if !name.is_empty() => labels.push((name, bounds)),
            _ => {}
        }
    }
    for (text, inside) in labels {
        let says = |(name, rect): &&(&str, egui::accesskit::Rect)| {
            name.contains(text) && !rect.intersect(inside).is_empty()
        };
        if let Some((name, _)) = named.iter().find(says) {
            wrong.push(format!("'{text}' is said again in '{name}'"));
        }
    }
}

/// Where texts may stand that are on no card.
fn places(layout: &WindowLayout) -> Vec<Rect> {
    let comparison = layout.comparison.into_iter().flat_map(|comparison| {
        let [a, b] = comparison.headers;
        [comparison.band, a, b]
    });
    let docked = [
        layout.dock.rect(),
        layout.timeline,
        layout.side.map(|(_, rect)| rect),
        layout.toolbar,
        layout.lecture,
        layout.lesson,
    ];
    // Panels have their numbers, and how they go on is said on them.
    let panels = (0..layout.tiling.count).map(|place| layout.tiling.rect(place));
    let places = docked.into_iter().flatten().chain(comparison).chain(panels);
    places.map(|rect| layout.points(rect)).collect()
}

/// In points, how long a panel's longer side must be.
fn least_side(instances: usize) -> f64 {
    match instances {
        0..=17 => 40.0,
        18..=64 => 24.0,
        _ => 8.0,
    }
}

/// The texts without a number, and where they are.
fn labels(painted: &Painted) -> Vec<(String, Pos2)> {
    let shapes = painted
        .shapes
        .iter()
        .filter_map(|clipped| match &clipped.shape {
            Shape::Text(text) => Some((text.galley.text().to_owned(), text.pos)),
            _ => None,
        });
    shapes
        .filter(|(text, _)| !text.contains(|c: char| c.is_ascii_digit()))
        .collect()
}

/// What is wrong with a screen in a window.
fn faults(it: &mut Scenario, context: &egui::Context, clock: &mut f64) -> Vec<String> {
    let painted = it.painted(context, clock);
    let is_written = WRITTEN.iter().any(|start| it.name.starts_with(start));
    let frame = it.frame();
    let (screen, palette) = (frame.rect(), frame.palette());
    let mut looking = Looking {
        palette: &palette,
        screen,
        room: SLACK.max(2.0 * screen.width() / it.window.0[0] as f32),
        only: Some(lang::language()).filter(|_| !is_written),
        carded: false,
        cards: Vec::new(),
        backgrounds: Vec::new(),
        seen: Vec::new(),
        wrong: Vec::new(),
    };
    for clipped in &painted.shapes {
        looking.at(&clipped.shape, clipped.clip_rect);
    }
    looking.compare();
    let (seen, mut wrong) = (looking.seen, looking.wrong);
    check_names(&painted.nodes, &mut wrong);
    if it.window == WINDOWS[0] && painted.again < Duration::from_secs(1) {
        wrong.push(format!("it is painted again in {:?}", painted.again));
    }
    let Some((layout, _)) = frame.layout() else {
        return wrong;
    };
    let lacks = it.options.timeline && layout.timeline.is_none()
        || it.options.side.is_some() && layout.side.is_none();
    let says = |seen: &VisibleText| {
        seen.text.contains("too small") || seen.text.contains("takes the timeline")
    };
    if lacks && lang::language() == Language::English && !seen.iter().any(says) {
        wrong.push("it does not say that something has no room".into());
    }
    let places = places(&layout);
    for (number, place) in places.iter().enumerate() {
        let meets = |other: &&Rect| place.intersect(**other).shrink(0.1).is_positive();
        if let Some(other) = places[number + 1..].iter().find(meets) {
            wrong.push(format!("{place:?} lies over {other:?}"));
        }
        if !screen.expand(0.1).contains_rect(*place) {
            wrong.push(format!("{place:?} leaves the window"));
        }
    }
    for seen in seen.iter().filter(|seen| !seen.on_card) {
        let inside = |place: &Rect| place.expand(SLACK).contains_rect(seen.rect);
        if !places.iter().any(inside) {
            wrong.push(format!("'{}' stands beside its place", seen.text));
        }
    }
    let panel = layout.tiling.panel;
    let small = f64::from(it.window.1) * least_side(it.status.lattices.instances);
    if f64::from(panel[0].max(panel[1])) < small {
        wrong.push(format!("panels of {panel:?} pixels"));
    }
    if it.window == WINDOWS[0] {
        // Numbers move nothing but themselves, and streams no place.
        let before = labels(&painted);
        it.status.clock.generation = 987_654_321;
        it.status.rates.generations_per_second = 7.5;
        it.status.rates.launch_us = Some(98_765.4);
        let after = labels(&it.painted(context, clock));
        let moved = before.iter().zip(&after).find(|(a, b)| a != b);
        wrong.extend(moved.map(|(a, b)| format!("{a:?} moves: {b:?}")));
        it.status.setting.switches.streams = Streams::Batch;
        let streams = it.frame().layout();
        wrong.extend((streams.unwrap().0 != layout).then(|| "streams move it".into()));
    }
    wrong
}

#[test]
fn every_screen_is_whole_legible_named_and_at_rest() {
    let mut all = Vec::new();
    for row in SCREENS {
        for &window in Scenario::new(row, WINDOWS[0]).windows {
            all.extend(LANGUAGES.map(|language| (window, language, row)));
        }
    }
    // Window by window, so that type of a size is made once.
    all.sort_by_key(|((pixels, scale), language, _)| {
        (
            *pixels,
            (100.0 * scale) as u32,
            *language == Language::Chinese,
        )
    });
    let mut wrong = BTreeSet::new();
    for (number, alike) in all.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).enumerate() {
        let (context, mut clock) = (context(), 0.0);
        context.enable_accesskit();
        for &(window, language, row) in alike {
            with(language, || {
                let mut it = Scenario::new(row, window);
                it.options.theme = number % COUNT;
                let title = it.title(language);
                let faults = faults(&mut it, &context, &mut clock);
                wrong.extend(faults.into_iter().map(|fault| format!("{title}: {fault}")));
            });
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// It names the key of recorded rounds, which a class without a GPU has to find.
#[test]
fn the_compute_devices_note_needs_no_scrolling_at_1280_by_800() {
    let (context, mut clock) = (context(), 0.0);
    for (language, kernel) in LANGUAGES
        .iter()
        .flat_map(|it| KERNELS.iter().map(move |k| (it, k)))
    {
        with(*language, || {
            let mut it = named("recorded-on-the-cpu", ([1280, 800], 1.0));
            it.status.setting.kernel = kernel;
            let note = tr!(
                "{driver}; {key}: rounds recorded on a GPU",
                driver = it.status.engine.devices[0].driver,
                key = "J"
            );
            let painted = it.painted(&context, &mut clock);
            let in_view = painted.shapes.iter().any(|painted| match &painted.shape {
                Shape::Text(text) if text.galley.text() == note => {
                    let rect = painted.shape.visual_bounding_rect();
                    painted.clip_rect.expand(SLACK).contains_rect(rect)
                }
                _ => false,
            });
            assert!(in_view, "{} in {language:?}: {note}", kernel.name);
        });
    }
}
