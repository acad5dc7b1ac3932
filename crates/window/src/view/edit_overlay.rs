//! Paints the overlay for editing: the selection, the pattern that is being pasted, and edits that no
//! picture shows yet.

use egui::{Color32, Rect, Stroke, StrokeKind, vec2};

use crate::view::Frame;
use crate::view::hud::style::{opaque, translucent};
use crate::view::layout::WindowLayout;
use crate::view::widget_painter::WidgetPainter;
use life::{Lattice, Run, Size};
use session::Change;
use ui::ViewTransform;
use ui::theme::{bytes, theme, tint};

/// The most runs of cells that are painted one by one; of what has more, the outline.
const MAX_RUNS: usize = 20_000;

/// A panel that is painted on.
struct Sheet {
    painter: WidgetPainter,
    panel: Rect,
    transform: ViewTransform,
    size: Size,
    /// On which axes the panel goes around the torus.
    around: [bool; 2],
    live: Color32,
    dead: Color32,
    pixels_per_point: f32,
}

/// Paints pending edits, the selection and a pattern to be placed over the panels.
pub(crate) fn paint(painter: &WidgetPainter, frame: &Frame<'_>, layout: &WindowLayout) {
    let (Some(status), Some(edit_overlay)) = (frame.sources.status, frame.sources.edit_overlay)
    else {
        return;
    };
    let sheet = |instance: usize| {
        let place = match frame.sources.single_instance() {
            None => instance,
            Some(only) if only == instance => 0,
            Some(_) => return None,
        };
        let panel = layout.points(layout.tiling.rect(place));
        let [dead, live] = colours(frame, instance);
        let camera = frame.sources.options.camera;
        panel.is_positive().then(|| Sheet {
            painter: painter.with_clip_rect(panel),
            panel,
            transform: camera.shown(status.lattices.size, layout.tiling.panel),
            size: status.lattices.size,
            around: camera.goes_around(status.lattices.size, layout.tiling.panel),
            live,
            dead,
            pixels_per_point: layout.pixels_per_point,
        })
    };
    for (_, edit) in &edit_overlay.pending {
        if let Some(sheet) = sheet(edit.instance) {
            sheet.change(&edit.change);
        }
    }
    if let Some((instance, area)) = edit_overlay.selection
        && let Some(sheet) = sheet(instance)
    {
        let at = [i64::from(area.x), i64::from(area.y)];
        let veil = translucent(painter.palette.selection_veil, 0x30);
        sheet.filled(at, [area.size.width(), area.size.height()], veil);
        sheet.outline(at, area.size, painter.palette.accent);
    }
    if let Some(ghost) = &edit_overlay.ghost
        && let Some((instance, at)) = ghost.corner()
        && let Some(sheet) = sheet(instance)
    {
        sheet.pattern(&ghost.pattern, at, sheet.live.gamma_multiply(0.75));
        sheet.outline(at, ghost.pattern.size(), painter.palette.label);
    }
}

/// Dead and live cells, as the panel has them.
fn colours(frame: &Frame<'_>, instance: usize) -> [Color32; 2] {
    let theme = theme(frame.sources.options.theme);
    let live = if theme.tinted {
        let number = |status: &session::Status| status.number_of(instance);
        tint(frame.sources.status.map_or(instance, number))
    } else {
        theme.ramp[8]
    };
    let both = [theme.ramp[0], live].map(|colour| opaque(bytes(colour)));
    if frame.sources.options.invert {
        [both[1], both[0]]
    } else {
        both
    }
}

impl Sheet {
    fn change(&self, change: &Change) {
        match change {
            Change::Draw { cells, alive } => {
                let colour = if *alive { self.live } else { self.dead };
                for &[x, y] in cells.iter() {
                    self.run([i64::from(x), i64::from(y)], 1, colour);
                }
            }
            Change::Place { pattern, at, .. } => {
                self.pattern(pattern, at.map(i64::from), self.live);
            }
            Change::Clear(area) => {
                let at = [i64::from(area.x), i64::from(area.y)];
                self.filled(at, [area.size.width(), area.size.height()], self.dead);
            }
            Change::Fill { area, .. } | Change::Flip { area, .. } | Change::Rotate { area, .. } => {
                let at = [i64::from(area.x), i64::from(area.y)];
                self.outline(at, area.size, self.painter.palette.label);
            }
        }
    }

    /// Live cells; around the torus.
    fn pattern(&self, pattern: &Lattice, [x, y]: [i64; 2], colour: Color32) {
        let mut runs = Vec::new();
        for run in runs_of(pattern) {
            if runs.len() == MAX_RUNS {
                return self.outline([x, y], pattern.size(), colour);
            }
            runs.push(run);
        }
        for run in runs {
            let at = [x + i64::from(run.x), y + i64::from(run.y)];
            self.run(at, run.length, colour);
        }
    }

    /// Cells side by side, around the torus.
    fn run(&self, [x, y]: [i64; 2], length: u32, colour: Color32) {
        let (width, height) = (i64::from(self.size.width()), i64::from(self.size.height()));
        let (x, y) = (x.rem_euclid(width), y.rem_euclid(height));
        let first = length.min((width - x) as u32);
        self.filled([x, y], [first, 1], colour);
        if first < length {
            self.filled([0, y], [length - first, 1], colour);
        }
    }

    fn filled(&self, at: [i64; 2], sides: [u32; 2], colour: Color32) {
        for rect in self.rects(at, sides) {
            self.painter.rect_filled(rect, 0.0, colour);
        }
    }

    fn outline(&self, at: [i64; 2], size: Size, colour: Color32) {
        for rect in self.rects(at, [size.width(), size.height()]) {
            self.outlined(rect, colour);
        }
    }

    fn outlined(&self, rect: Rect, colour: Color32) {
        const LINE: f32 = 1.5;
        // One that lies on the panel's edge is seen too; and, by the background's colour around it, one
        // among cells of its own colour.
        let around = Stroke::new(3.0 * LINE, self.painter.palette.background);
        let stroke = Stroke::new(LINE, colour);
        self.painter
            .rect_stroke(rect, 0.0, around, StrokeKind::Inside);
        self.painter
            .rect_stroke(rect.shrink(LINE), 0.0, stroke, StrokeKind::Inside);
    }

    /// Everywhere that these cells are seen: on a torus not only there where their numbers say.
    fn rects(&self, [x, y]: [i64; 2], [width, height]: [u32; 2]) -> impl Iterator<Item = Rect> {
        let turns = |axis: usize, side: u32| {
            if self.around[axis] {
                [0, -1, 1].map(|turns| Some(turns * i64::from(side)))
            } else {
                [Some(0), None, None]
            }
        };
        let (columns, rows) = (turns(0, self.size.width()), turns(1, self.size.height()));
        let all = rows.into_iter().flatten().flat_map(move |down| {
            let shifted = move |right| self.rect([x + right, y + down], width, height);
            columns.into_iter().flatten().map(shifted)
        });
        all.filter(|rect| self.panel.intersects(*rect))
    }

    /// Where cells lie, a pixel at least, in points.
    fn rect(&self, [x, y]: [i64; 2], width: u32, height: u32) -> Rect {
        let [left, top] = self.transform.to_pixels([x as f64, y as f64]);
        let side = |cells: u32| (f64::from(cells) * self.transform.scale).max(1.0) as f32;
        let corner = vec2(left as f32, top as f32) / self.pixels_per_point;
        let size = vec2(side(width), side(height)) / self.pixels_per_point;
        Rect::from_min_size(self.panel.min + corner, size)
    }
}

pub(crate) fn runs_of(pattern: &Lattice) -> impl Iterator<Item = Run> {
    let size = pattern.size();
    (0..size.height()).flat_map(move |y| {
        let mut x = 0;
        std::iter::from_fn(move || {
            while x < size.width() && !pattern.get(x, y) {
                x += 1;
            }
            let first = x;
            while x < size.width() && pattern.get(x, y) {
                x += 1;
            }
            (x > first).then_some(Run {
                x: first,
                y,
                length: x - first,
            })
        })
    })
}
