//! One rule over every screen, in its windows and in both languages, looked at without a GPU: nothing is cut and
//! nothing lies over anything, every text stands out from what is beneath it and is in the language, everything
//! has a name and is said once, and where nothing changes nothing moves and nothing is painted again. Then what
//! a screen reader hears of some, and what it can do.
//!
//! Shapes come in the order in which they are painted. A card (help, a dialog, a tip) may lie over
//! what was painted before it; nothing else may.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use egui::accesskit::Action::Click;
use egui::accesskit::{Node, NodeId, Role, Toggled};
use egui::epaint::TextShape;
use egui::{Color32, Event, FontFamily, ImeEvent, Key, Pos2, Rect, Shape, accesskit_root_id};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use crate::view::dialogs::Dialogs;
use crate::view::frame::lay_over;
use crate::view::gallery::screens::{ODD, SCREENS, SMALL, WHOLE};
use crate::view::gallery::{LANGUAGES, Painted, Row, Scenario, WINDOWS, named};
use crate::view::layout::WindowLayout;
use crate::view::over_panels::minimap;
use crate::view::requests::{UiRequest, take_requests};
use crate::view::scene::context;
use crate::view::style::{self, install_fonts};
use engine::kernels::KERNELS;
use lang::Language;
use session::Streams;
use test_support::{compare_with_stored, stored, with};
use ui::Camera;
use ui::fixtures::contrast;
use ui::theme::{COUNT, Palette, floats};

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
    /// Whether all of it must be seen without scrolling.
    is_whole: bool,
    /// Whether texts of several lines scroll aside, too.
    is_edited: bool,
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
        let is_part = clip.height() < self.screen.height() - 1.0;
        let scrolls = is_long && is_part && !self.is_whole;
        let shown = rect.intersect(clip);
        if !shown.is_positive() && scrolls {
            return;
        }
        let [x, y] = [rect.width() - shown.width(), rect.height() - shown.height()];
        // A list that scrolls ends somewhere.
        let goes_aside = scrolls && self.is_edited && text.contains('\n');
        if (x > SLACK && !goes_aside) || (y > SLACK && !scrolls) {
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
const WRITTEN: [&str; 9] = [
    "editor",
    "help-typed",
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
        let acts = node.supports_action(Click) && role != Role::ScrollBar;
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
    // Panels have their numbers, and how they go on is said on them.
    let panels = (0..layout.tiling.count).map(|place| layout.tiling.rect(place));
    let places = layout.docked().chain(comparison).chain(panels);
    places.map(|rect| layout.points(rect)).collect()
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
        is_whole: it.windows == WHOLE,
        is_edited: it.app.options.side == Some(ui::SidePanel::Editor),
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
    let lacks = it.app.options.timeline && layout.timeline.is_none()
        || it.app.options.side.is_some() && layout.side.is_none();
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
    let least = match it.status.lattices.instances {
        0..=17 => 38.0,
        18..=64 => 24.0,
        _ => 8.0,
    };
    if (panel[0].max(panel[1]) as f32) < it.window.1 * least {
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
    let mut wrong = BTreeSet::new();
    let seen = SCREENS
        .iter()
        .map(|row| (row, Scenario::new(row, WINDOWS[0]).windows));
    let seen = Vec::from_iter(seen);
    // Window by window, so that type of a size is made once.
    let windows = [&WINDOWS[..], SMALL, &ODD[1..], WHOLE].concat(); // its first one is small, too
    for (number, window) in windows.into_iter().enumerate() {
        let (context, mut clock) = (context(), 0.0);
        context.enable_accesskit();
        for language in LANGUAGES {
            for (row, _) in seen.iter().filter(|it| it.1.contains(&window)) {
                with(language, || {
                    let mut it = Scenario::new(row, window);
                    // Each theme in a usual window.
                    it.app.options.theme = (2 * number + language as usize) % COUNT;
                    let title = it.title(language);
                    let faults = faults(&mut it, &context, &mut clock);
                    wrong.extend(faults.into_iter().map(|fault| format!("{title}: {fault}")));
                });
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What the interface asks for, and the dialogs that are open.
struct Heard {
    requests: RefCell<Vec<UiRequest>>,
    dialogs: RefCell<Dialogs>,
}

/// The screen of this name in a usual window, before a screen reader.
fn heard<T>(name: &str, look: impl FnOnce(&mut Harness<'_>, &Heard) -> T) -> T {
    let mut it = named(name, WINDOWS[0]);
    let heard = Heard {
        requests: RefCell::default(),
        dialogs: RefCell::new(std::mem::take(&mut it.dialogs)),
    };
    let frame = &it.frame();
    let (palette, place) = (frame.palette(), frame.layout());
    let mut harness = Harness::builder()
        .with_size(frame.rect().size())
        .allow_missing_glyphs()
        .with_context_setup(move |context| {
            install_fonts(context);
            style::apply_style(context, &palette);
        })
        .build_ui(|ui| {
            let dialogs = &mut heard.dialogs.borrow_mut();
            lay_over(ui.ctx(), frame, place.as_ref(), dialogs);
            let asked = take_requests(ui.ctx());
            heard.requests.borrow_mut().extend(asked);
        });
    harness.run_steps(2);
    look(&mut harness, &heard)
}

/// Screens of which is stored what each says, what each of its buttons asks for, and what is asked for
/// while these are typed: texts, and keys by their names; between two frames what `+` joins.
const STORED: [(&str, &str); 27] = [
    ("panels", ""),
    ("pencil", ""),
    ("presentation", ""),
    ("comparison-differ-all", ""),
    ("lecture", ""),
    ("lab-refused", ""),
    ("ladder", ""),
    ("ladder-source", ""),
    ("population", ""),
    ("causes-several", ""),
    ("editor-predicted", "//"),
    ("editor-exercise", ""),
    ("editor-kernel", ""),
    ("editor-kernel-error", ""),
    ("editor-race", ""),
    ("failed", ""),
    ("help-typed", ""),
    ("lesson-failed", ""),
    ("lesson-speedup", ""),
    ("menu-presented", ""),
    ("open-a-file", "a.rle Enter b Enter"),
    ("palette-refused", "Enter"),
    ("popup-grid", "17x+Enter+Backspace Enter"),
    ("popup-kernel", "Up Enter"),
    ("popup-panel", ""),
    ("prompt-rule", "Enter ghlife Enter"),
    ("timeline-changed", ""),
];

/// A line for each thing that a screen reader finds: its role, its name, its state, its tip, and what a
/// click asks for.
fn spoken(name: &str, harness: &mut Harness<'_>, heard: &Heard) -> String {
    let mut lines = Vec::new();
    let mut clickable = Vec::new();
    for node in harness.query_all_by(|_| true) {
        let node = node.accesskit_node();
        let name = match node.role() {
            Role::Label => node.value(),
            _ => node.label(),
        };
        // What is hidden, with all that is in it, is in the tree and not read.
        let mut within = std::iter::successors(Some(node), |it| it.parent());
        let is_hidden = within.any(|it| it.is_hidden());
        let Some(name) = name.filter(|name| !name.is_empty() && !is_hidden) else {
            continue;
        };
        let mut line = format!("{:?} '{name}'", node.role());
        if node.is_disabled() {
            line += " disabled";
        }
        match (node.toggled(), node.is_selected()) {
            (Some(Toggled::True), _) | (_, Some(true)) => line += " on",
            (Some(_), _) => line += " off",
            _ => {}
        }
        if let Some(tip) = node.description().filter(|tip| *tip != name) {
            line += &format!(" | {tip}");
        }
        if node.data().supports_action(Click) && !node.is_disabled() && node.role() != Role::Label {
            clickable.push((lines.len(), node.role(), name));
        }
        lines.push(line);
    }
    let has_dialog = heard.dialogs.borrow().takes_keys();
    for (line, role, label) in clickable {
        let first = harness.query_all_by_role_and_label(role, &label).next();
        first.expect("it was there").click_accesskit();
        harness.run_steps(2);
        for request in heard.requests.take() {
            lines[line] += &match request {
                UiRequest::Change(settings, _) => format!(" -> change {settings:?}"),
                request => format!(" -> {request:?}"),
            };
        }
        // A click may have closed it.
        if has_dialog {
            heard.dialogs.replace(named(name, WINDOWS[0]).dialogs);
            harness.run_steps(2);
        }
    }
    lines.join("\n") + "\n"
}

/// What has the keys first, and what is asked for while this is typed.
fn typed(words: &str, harness: &mut Harness<'_>, heard: &Heard) -> String {
    if let Some(text) = harness.query_by_role(Role::MultilineTextInput) {
        text.focus();
        harness.run_steps(1);
    }
    let focused = harness.get_by(|node| node.is_focused());
    let mut lines = format!("keys: {:?}\n", focused.accesskit_node().role());
    for word in words.split(' ') {
        for part in word.split('+') {
            harness.input_mut().events.push(match Key::from_name(part) {
                None => Event::Text(part.into()),
                Some(key) => Event::Key {
                    key,
                    physical_key: None,
                    pressed: true,
                    repeat: false,
                    modifiers: Default::default(),
                },
            });
        }
        harness.run_steps(3);
        lines += &format!("{word} -> {:?}\n", heard.requests.take());
    }
    lines
}

/// In English, and one in Chinese.
#[test]
fn screens_say_what_is_stored() {
    let compare = |name: &str, words: &str, file: &str| {
        let mut said = heard(name, |harness, heard| spoken(name, harness, heard));
        if !words.is_empty() {
            said += &heard(name, |harness, heard| typed(words, harness, heard));
        }
        compare_with_stored(&format!("../structure/{file}.txt"), &said);
    };
    for (name, words) in STORED {
        with(Language::English, || compare(name, words, name));
    }
    with(Language::Chinese, || compare("panels", "", "panels-zh"));
    let files = std::fs::read_dir(stored("../structure")).unwrap();
    assert_eq!(files.count(), STORED.len() + 1);
}

#[test]
fn what_is_unavailable_says_why_under_the_mouse() {
    heard("palette-refused", |harness, _| {
        let reasons = |harness: &Harness<'_>| {
            let said = harness.query_all_by(|_| true);
            let said = said.filter_map(|node| node.accesskit_node().value());
            said.filter(|it| it.contains("need at least two panels"))
                .count()
        };
        let before = reasons(harness);
        harness
            .get_by_label("Compare two settings, A and B")
            .hover();
        harness.run_steps(60);
        assert_eq!(reasons(harness), before + 1);
    });
}

#[test]
fn an_input_method_composes_in_every_field_without_interruption() {
    for name in ["palette", "open-a-file", "shelf", "help", "prompt-rule"] {
        heard(name, |harness, heard| {
            let mut compose = |event| {
                harness.event(Event::Ime(event));
                harness.run_steps(1);
                harness.output().platform_output.ime
            };
            for text in ["n", "ni", "ni h"] {
                let told = compose(ImeEvent::Preedit {
                    text: text.into(),
                    active_range_chars: None,
                });
                let told = told.expect("a field with the focus");
                assert!(!told.should_interrupt_composition, "{name}: {text}");
            }
            compose(ImeEvent::Commit("你好".into()));
            let dialogs = format!("{:?}", heard.dialogs.borrow());
            assert!(dialogs.contains("你好\""), "{dialogs}");
        });
    }
}

#[test]
fn a_minimap_is_in_a_panel_that_shows_a_part_and_leads_to_the_cell_under_the_mouse() {
    let changes: [Row; 4] = [
        ("shown", |_| {}),
        ("shown alone", |it| it.app.options.single = true),
        ("hidden", |it| it.app.options.hides_minimap = true),
        ("whole", |it| it.app.options.camera = Camera::default()),
    ];
    for (name, change) in changes {
        let mut it = named("minimap", WINDOWS[0]);
        change(&mut it);
        let frame = it.frame();
        let (layout, _) = frame.layout().unwrap();
        let small = minimap(frame.app, &layout);
        assert_eq!(small.is_some(), name.starts_with("shown"), "{name}");
        let Some(small) = small else { continue };
        let place = if it.app.options.single { 0 } else { 6 };
        let [panel, rect] = [layout.tiling.rect(place), small.rect].map(|rect| layout.points(rect));
        assert!(small.instance == 6 && panel.contains_rect(rect), "{rect:?}");
        let at = |x: f64, y: f64| {
            let rect = small.rect;
            let [x, y] = [x * f64::from(rect.width), y * f64::from(rect.height)];
            small.cell_at([f64::from(rect.x) + x, f64::from(rect.y) + y])
        };
        let (first, last) = (at(0.0, 0.0), at(0.999, 0.999));
        assert!(first.iter().all(|at| at.abs() < 6.0), "{first:?}");
        assert!(last[0] > 500.0 && last[1] > 250.0, "{last:?}");
        assert!(at(-0.01, 0.0)[0] < 0.0);
    }
}
