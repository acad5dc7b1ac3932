//! What every screen paints, looked at without a GPU, in every window and in larger ones.
//!
//! Shapes come in the order in which they are painted. A card (help, a dialog, a tip) may lie over
//! what was painted before it; nothing else may.

use std::collections::BTreeSet;

use egui::epaint::ClippedShape;
use egui::{Color32, Rect, Shape, pos2, vec2};

use crate::view::gallery::{LANGUAGES, Scenario, Set, Window, screens, title};
use crate::view::hud::style::opaque;
use crate::view::layout::WindowLayout;
use crate::view::scene::context;
use test_support::with;
use ui::theme::{Palette, Rgb};

/// Other windows of lectures, beside [`WINDOWS`]: of small projectors, and of a large monitor of two
/// pixels per point.
///
/// [`WINDOWS`]: super::WINDOWS
const OTHERS: [Window; 3] = [([1024, 768], 1.0), ([1280, 800], 1.0), ([3840, 2160], 2.0)];

/// Points that count as no overlap and no cut: the room around letters. They have a pixel of it on each
/// side, which are more points where the interface is small.
const SLACK: f32 = 2.5;

/// The backgrounds of what may lie over other things.
const CARDS: [Rgb; 2] = [Palette::DARK.dialog, Palette::DARK.raised];

/// A text that can be seen.
#[derive(Clone, Debug)]
struct VisibleText {
    text: String,
    rect: Rect,
    /// Whether a card is beneath it.
    on_card: bool,
}

/// What scrolls is at least as high: a line that is cut there is not cut everywhere.
const MIN_SCROLLED: f32 = 60.0;

/// Looks at what is painted: the texts that can be seen, and what is wrong with them.
fn look_at(
    shapes: &[ClippedShape],
    screen: Rect,
    points_per_pixel: f32,
) -> (Vec<VisibleText>, Vec<String>) {
    let mut looking = Looking {
        screen,
        room: SLACK.max(2.0 * points_per_pixel),
        carded: false,
        cards: Vec::new(),
        seen: Vec::new(),
        wrong: Vec::new(),
    };
    for clipped in shapes {
        looking.at(&clipped.shape, clipped.clip_rect);
    }
    looking.compare();
    (looking.seen, looking.wrong)
}

struct Looking {
    screen: Rect,
    /// How far texts may reach into one another: the room around both.
    room: f32,
    /// Whether everything so far lies under a dialog.
    carded: bool,
    cards: Vec<Rect>,
    seen: Vec<VisibleText>,
    wrong: Vec<String>,
}

impl Looking {
    fn at(&mut self, shape: &Shape, clip: Rect) {
        match shape {
            Shape::Vec(inner) => inner.iter().for_each(|shape| self.at(shape, clip)),
            Shape::Rect(rect) if rect.fill.a() > 0 => {
                self.background(rect.rect.intersect(clip), rect.fill);
            }
            Shape::Text(text) if !text.galley.text().trim().is_empty() => {
                let rect = shape.visual_bounding_rect();
                self.text(text.galley.text(), rect, clip);
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
        let card = CARDS.map(opaque).contains(&fill) && rect.area() > 0.0;
        if fill.a() < 200 || !rect.is_positive() {
            return;
        }
        let covered = |seen: &VisibleText| {
            let over = seen.rect.intersect(rect);
            over.is_positive() && over.width().min(over.height()) > SLACK
        };
        if card {
            self.cards.push(rect);
        } else {
            for seen in self.seen.iter().filter(|seen| covered(seen)) {
                self.wrong
                    .push(format!("'{}' is painted over by {rect:?}", seen.text));
            }
        }
        self.seen.retain(|seen| !covered(seen));
    }

    fn text(&mut self, text: &str, rect: Rect, clip: Rect) {
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
}

/// Where texts may stand that are on no card.
fn places(layout: &WindowLayout) -> Vec<Rect> {
    let comparison = layout.comparison.into_iter().flat_map(|comparison| {
        let [a, b] = session::Side::ALL.map(|side| comparison.header(side));
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

/// What is wrong with a screen in a window.
fn faults(set: &mut Set, context: &egui::Context, clock: &mut f64) -> Vec<String> {
    let place = set.frame().layout();
    // Cards are told by their colours, and in a light theme other roles may round to the same.
    set.options.theme = 0;
    let shapes = set.painted(context, clock);
    let frame = set.frame();
    let (seen, mut wrong) = look_at(
        &shapes,
        frame.rect(),
        frame.rect().width() / set.window.0[0] as f32,
    );
    let Some((layout, _)) = &place else {
        return wrong;
    };
    if frame.sources.status.is_none() {
        return wrong;
    }
    let places = places(layout);
    for seen in seen.iter().filter(|seen| !seen.on_card) {
        let inside = |place: &Rect| place.expand(SLACK).contains_rect(seen.rect);
        if !places.iter().any(inside) {
            wrong.push(format!("'{}' stands beside its place", seen.text));
        }
    }
    let panel = layout.tiling.panel;
    let small = f64::from(set.window.1) * least_side(set.screen);
    if panel
        .into_iter()
        .max()
        .is_none_or(|side| f64::from(side) < small)
    {
        wrong.push(format!("panels of {panel:?} pixels"));
    }
    wrong
}

/// In points, how long a panel's longer side must be.
fn least_side(screen: Scenario) -> f64 {
    match screen.instances {
        0..=17 => 40.0,
        18..=64 => 24.0,
        _ => 8.0,
    }
}

fn check(screens: impl Iterator<Item = Scenario>, windows: impl Fn(&Scenario) -> Vec<Window>) {
    let mut wrong = BTreeSet::new();
    let mut all: Vec<(Scenario, Window)> = screens
        .flat_map(|screen| {
            windows(&screen)
                .into_iter()
                .map(move |window| (screen, window))
        })
        .collect();
    // Window by window, so that type of a size is made once.
    all.sort_by_key(|(_, (pixels, scale))| (*pixels, (100.0 * scale) as u32));
    for alike in all.chunk_by(|(_, a), (_, b)| a == b) {
        let (context, mut clock) = (context(), 0.0);
        for language in LANGUAGES {
            for &(screen, window) in alike {
                let title = title(&screen, window, language);
                let mut transform = || faults(&mut Set::new(screen, window), &context, &mut clock);
                for fault in with(language, &mut transform) {
                    wrong.insert(format!("{title}: {fault}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn nothing_is_cut_and_nothing_lies_over_anything_on_any_screen() {
    check(screens().into_iter(), |screen| screen.windows.to_vec());
}

#[test]
fn nor_where_a_point_has_two_pixels() {
    check(screens().into_iter(), |_| OTHERS.to_vec());
}

#[test]
fn what_is_wrong_is_found() {
    let context = context();
    let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, 300.0));
    let input = || egui::RawInput {
        screen_rect: Some(screen),
        ..Default::default()
    };
    let word = |painter: &egui::Painter, x: f32, y: f32| {
        let font = crate::view::hud::style::regular(20.0);
        painter.text(
            pos2(x, y),
            egui::Align2::LEFT_TOP,
            "word",
            font,
            Color32::WHITE,
        );
    };
    type Paints = fn(&egui::Painter, &dyn Fn(&egui::Painter, f32, f32));
    let cases: [(Paints, &str); 6] = [
        (|p, word| word(p, 10.0, 10.0), ""),
        (
            |p, word| [10.0, 30.0].into_iter().for_each(|x| word(p, x, 10.0)),
            "overlap",
        ),
        (|p, word| word(p, 380.0, 10.0), "is cut off"),
        (
            |p, word| {
                word(
                    &p.with_clip_rect(Rect::from_min_max(pos2(0.0, 0.0), pos2(90.0, 20.0))),
                    10.0,
                    10.0,
                )
            },
            "is cut off",
        ),
        (
            |p, word| {
                word(p, 10.0, 10.0);
                p.rect_filled(
                    Rect::from_min_max(pos2(20.0, 0.0), pos2(90.0, 90.0)),
                    0.0,
                    Color32::BLACK,
                );
            },
            "is painted over",
        ),
        (
            |p, word| {
                word(p, 10.0, 10.0);
                p.rect_filled(
                    Rect::from_min_max(pos2(20.0, 0.0), pos2(90.0, 90.0)),
                    0.0,
                    opaque(CARDS[0]),
                );
            },
            "",
        ),
    ];
    for (paints, wanted) in cases {
        let mut output = context.run_ui(input(), |ui| {
            paints(&ui.ctx().layer_painter(egui::LayerId::background()), &word);
        });
        let shapes = std::mem::take(&mut output.shapes);
        output.drop_without_applying_deltas();
        let (_, wrong) = look_at(&shapes, screen, 1.0);
        match wanted {
            "" => assert!(wrong.is_empty(), "{wrong:?}"),
            _ => assert!(
                wrong.iter().any(|it| it.contains(wanted)),
                "{wanted}: {wrong:?}"
            ),
        }
    }
}
