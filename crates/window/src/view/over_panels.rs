//! What lies over the panels of cells and beside them: frames and numbers of their instances, edits that no
//! picture shows yet with the selection and the pattern that is being pasted, a minimap, and how A and B compare.
//!
//! The minimap is a small picture of the whole lattice in the corner of a panel that shows a part of it, with
//! that part framed; it leads the camera. It is drawn from the same bits as the panel, by state. Where a reduced
//! view crosses the bus there is nothing of the rest, and the frame stands on a plain background.

use egui::*;

use crate::view::layout::{ComparisonPlaces, PixelRect, WindowLayout, in_pixels};
use crate::view::lesson::sign;
use crate::view::panels::Minimap;
use crate::view::style::*;
use engine::Transfer;
use lang::tr;
use life::{Lattice, Run, Size};
use session::{Area, Change, Side, Status};
use ui::finding::{ComparisonTexts, SideTexts};
use ui::theme::{bytes, theme, tint};
use ui::{App, Camera, PanelPart, ViewTransform};

/// A number's place, in points.
const NUMBER: [f32; 2] = [21.0, 15.0];

/// With more panels than these none has a number: nobody reads them, and each costs.
const MAX_NUMBERS: usize = 64;

/// A panel has a number if each of its sides is this many times the number's.
const MIN_PANEL: f32 = 2.0;

/// Paints frames and numbers of all panels, or of the one instance that is shown.
pub(crate) fn paint_marks(ui: &Ui, status: &Status, only: Option<usize>, layout: &WindowLayout) {
    if status.lattices.instances < 2 {
        return;
    }
    let (painter, palette) = (ui.painter(), &palette(ui));
    let gap = layout.tiling.gap as f32 / layout.pixels_per_point;
    let width = (gap / 2.0).min(2.0);
    let panel = layout.points(layout.tiling.rect(0)).size();
    let is_large = panel.x >= MIN_PANEL * NUMBER[0] && panel.y >= MIN_PANEL * NUMBER[1];
    let has_numbers = layout.tiling.count <= MAX_NUMBERS && is_large;
    // A low panel keeps most of its cells.
    let number_size = Vec2::from(NUMBER) * (panel.y / 90.0).clamp(0.75, 1.0);
    let mut frames = Mesh::default();
    for place in 0..layout.tiling.count {
        let rect = layout.points(layout.tiling.rect(place));
        if !rect.is_positive() {
            continue; // it belongs to neither A nor B
        }
        let number = status.number_of(only.unwrap_or(place));
        let colour = palette.instance(number);
        let around = rect.expand(width);
        for side in [
            around.with_max_y(rect.top()),
            around.with_min_y(rect.bottom()),
            around.with_max_x(rect.left()),
            around.with_min_x(rect.right()),
        ] {
            frames.add_colored_rect(side, colour);
        }
        if has_numbers {
            let place = Rect::from_min_size(rect.min, number_size);
            painter.rect_filled(place, 2.0, colour);
            // The panel says it to a screen reader.
            let (text, ink) = (number.to_string(), text_on(colour));
            let text = painter.layout_no_wrap(text, medium(0.77 * number_size.y), ink);
            put(painter, place.center(), Align2::CENTER_CENTER, text);
        }
    }
    put_mesh(painter, frames);
    let selected = status.panels.selected.min(status.lattices.instances - 1);
    let rect = layout.points(layout.tiling.rect(selected));
    // One that belongs to neither A nor B has no panel.
    if only.is_none() && rect.is_positive() {
        // White stands out beside dark cells (where the theme is light: black beside light ones).
        let stroke = Stroke::new((gap - width).clamp(1.0, 2.0), palette.value);
        painter.rect_stroke(rect.expand(width), 0.0, stroke, StrokeKind::Outside);
    }
}

/// The most runs of cells that are painted one by one; of what has more, the outline.
const MAX_RUNS: usize = 20_000;

/// A panel that is painted on, where it shows cells.
struct Sheet {
    painter: Painter,
    palette: Palette,
    corner: Pos2,
    transform: ViewTransform,
    size: Size,
    live: Color32,
    dead: Color32,
    pixels_per_point: f32,
}

/// Paints pending edits, the selection and a pattern to be placed over the panels.
pub(crate) fn paint_edits(ui: &Ui, app: &App, layout: &WindowLayout, transform: ViewTransform) {
    let (Some(status), edit_overlay) = (&app.status, &app.edit_overlay) else {
        return;
    };
    let sheet = |instance: usize| {
        let place = match app.single_instance() {
            None => instance,
            Some(only) if only == instance => 0,
            Some(_) => return None,
        };
        let panel = layout.points(layout.tiling.rect(place));
        let [dead, live] = colours(app.options.theme, status.number_of(instance));
        let size = status.lattices.size;
        let mut sheet = Sheet {
            painter: ui.painter().clone(),
            palette: palette(ui),
            corner: panel.min,
            transform,
            size,
            live,
            dead,
            pixels_per_point: layout.pixels_per_point,
        };
        // Where the panel goes around the torus, the cells are seen again; elsewhere there is background.
        let (mut seen, all) = (panel, sheet.rect([0, 0], [size.width, size.height]));
        let around = transform.goes_around(size, layout.tiling.panel);
        for axis in [0, 1].into_iter().filter(|&axis| !around[axis]) {
            seen.min[axis] = seen.min[axis].max(all.min[axis]);
            seen.max[axis] = seen.max[axis].min(all.max[axis]);
        }
        sheet.painter.set_clip_rect(seen);
        panel.is_positive().then_some(sheet)
    };
    for (_, edit) in &edit_overlay.pending {
        if let Some(sheet) = sheet(edit.instance) {
            sheet.change(&edit.change);
        }
    }
    if let Some((instance, area)) = edit_overlay.selection
        && let Some(sheet) = sheet(instance)
    {
        sheet.fill_area(area, translucent(sheet.palette.selection_veil, 0x30));
        sheet.outline_area(area, sheet.palette.accent);
    }
    if let Some(ghost) = &edit_overlay.ghost
        && let Some((instance, at)) = ghost.corner()
        && let Some(sheet) = sheet(instance)
    {
        sheet.pattern(&ghost.pattern, at, sheet.live.gamma_multiply(0.75));
        sheet.outline(at, ghost.pattern.size(), sheet.palette.label);
    }
}

/// Dead and live cells, as the panel of this number has them.
fn colours(at: usize, number: usize) -> [Color32; 2] {
    let theme = theme(at);
    let live = if theme.tinted {
        tint(number)
    } else {
        theme.ramp[8]
    };
    [theme.ramp[0], live].map(|colour| opaque(bytes(colour)))
}

impl Sheet {
    fn change(&self, change: &Change) {
        match change {
            Change::Draw { cells, alive } => {
                let colour = if *alive { self.live } else { self.dead };
                for cell in cells.iter() {
                    self.filled(cell.map(i64::from), [1, 1], colour);
                }
            }
            Change::Place { pattern, at, .. } => {
                self.pattern(pattern, at.map(i64::from), self.live);
            }
            Change::Clear(area) => self.fill_area(*area, self.dead),
            // Which cells live then is seen once they do.
            other => {
                let area = other.area().into_iter();
                area.for_each(|area| self.outline_area(area, self.palette.label));
            }
        }
    }

    /// Live cells.
    fn pattern(&self, pattern: &Lattice, [x, y]: [i64; 2], colour: Color32) {
        let runs: Vec<Run> = pattern.runs().take(MAX_RUNS + 1).collect();
        if runs.len() > MAX_RUNS {
            return self.outline([x, y], pattern.size(), colour);
        }
        for run in runs {
            let at = [x + i64::from(run.x), y + i64::from(run.y)];
            self.filled(at, [run.length, 1], colour);
        }
    }

    fn fill_area(&self, area: Area, colour: Color32) {
        let sides = [area.size.width, area.size.height];
        self.filled([area.x, area.y].map(i64::from), sides, colour);
    }

    fn outline_area(&self, area: Area, colour: Color32) {
        self.outline([area.x, area.y].map(i64::from), area.size, colour);
    }

    fn filled(&self, at: [i64; 2], sides: [u32; 2], colour: Color32) {
        for rect in self.rects(at, sides) {
            self.painter.rect_filled(rect, 0.0, colour);
        }
    }

    fn outline(&self, at: [i64; 2], size: Size, colour: Color32) {
        const LINE: f32 = 1.5;
        // One that lies on the panel's edge is seen too; and, by the background's colour around it, one
        // among cells of its own colour.
        let around = Stroke::new(3.0 * LINE, self.palette.background);
        for rect in self.rects(at, [size.width, size.height]) {
            for (rect, stroke) in [
                (rect, around),
                (rect.shrink(LINE), Stroke::new(LINE, colour)),
            ] {
                self.painter
                    .rect_stroke(rect, 0.0, stroke, StrokeKind::Inside);
            }
        }
    }

    /// Everywhere that these cells are seen: on a torus not only there where their numbers say.
    fn rects(&self, [x, y]: [i64; 2], sides: [u32; 2]) -> impl Iterator<Item = Rect> {
        let [width, height] = [self.size.width, self.size.height].map(i64::from);
        let (x, y) = (x.rem_euclid(width), y.rem_euclid(height));
        let turns = [-1, 0, 1];
        let all = turns.into_iter().flat_map(move |down| {
            turns.map(move |right| self.rect([x + right * width, y + down * height], sides))
        });
        all.filter(|rect| self.painter.clip_rect().intersects(*rect))
    }

    /// Where cells lie, a pixel at least, in points.
    fn rect(&self, [x, y]: [i64; 2], sides: [u32; 2]) -> Rect {
        let [left, top] = self.transform.to_pixels([x as f64, y as f64]);
        let [width, height] =
            sides.map(|cells| (f64::from(cells) * self.transform.scale).max(1.0) as f32);
        let corner = vec2(left as f32, top as f32) / self.pixels_per_point;
        Rect::from_min_size(
            self.corner + corner,
            vec2(width, height) / self.pixels_per_point,
        )
    }
}

/// The most of a panel's sides that it takes.
const MAX_PANEL_SHARE: f64 = 0.3;
/// The longest side, in points.
const MAX_SIDE: f64 = 220.0;
/// In less pixels nothing can be seen.
const MIN_SIDE_PIXELS: f64 = 36.0;

/// The minimap of a frame, if its panels show a part and there is room for it.
pub(crate) fn minimap(app: &App, layout: &WindowLayout) -> Option<Minimap> {
    let (status, options) = (app.status.as_ref()?, &app.options);
    let (size, panel) = (status.lattices.size, layout.tiling.panel);
    if options.hides_minimap || !options.camera.is_zoomed(size, panel) {
        return None;
    }
    let instance = status.panels.selected.min(status.lattices.instances - 1);
    let panel = layout
        .tiling
        .rect(options.single_instance(status).map_or(instance, |_| 0));
    let longest = MAX_SIDE * f64::from(layout.pixels_per_point);
    let lattice = [size.width, size.height].map(f64::from);
    let fits = |side: u32, cells: f64| (MAX_PANEL_SHARE * f64::from(side)).min(longest) / cells;
    let scale = fits(panel.width, lattice[0]).min(fits(panel.height, lattice[1]));
    let sides = lattice.map(|cells| cells * scale);
    if sides[0].max(sides[1]) < MIN_SIDE_PIXELS {
        return None;
    }
    let [width, height] = sides.map(|side| side.round().max(3.0) as u32);
    let margin = in_pixels(6.0, layout.pixels_per_point);
    Some(Minimap {
        instance,
        rect: PixelRect {
            x: (panel.x + panel.width).checked_sub(width + margin)?,
            y: (panel.y + panel.height).checked_sub(height + margin)?,
            width,
            height,
        },
        transform: Camera::default().target_transform(size, [width, height]),
    })
}

/// Paints the frames; the cells are the panels' work.
pub(crate) fn paint_minimap(ui: &Ui, app: &App, layout: &WindowLayout, transform: ViewTransform) {
    let (Some(status), Some(small)) = (&app.status, minimap(app, layout)) else {
        return;
    };
    let (rect, palette, painter) = (layout.points(small.rect), palette(ui), ui.painter());
    let frame = |rect: Rect, width: f32, colour: Color32, kind: StrokeKind| {
        painter.rect_stroke(rect, 0.0, Stroke::new(width, colour), kind);
    };
    if status.setting.transfer == Transfer::View {
        painter.rect_filled(rect, 0.0, palette.background);
    }
    frame(rect, 1.0, palette.background, StrokeKind::Inside);
    frame(rect, 1.0, palette.label, StrokeKind::Outside);
    // What is seen stands out from afar, as the selected panel does.
    let parts = transform.pieces(status.lattices.size, layout.tiling.panel);
    for (width, colour) in [(4.0, palette.background), (2.0, palette.value)] {
        for part in &parts {
            let part = rect_in(&small, part, layout).intersect(rect);
            frame(part, width, colour, StrokeKind::Outside);
        }
    }
}

/// What a part of a panel shows as a rectangle of the minimap.
fn rect_in(small: &Minimap, part: &PanelPart, layout: &WindowLayout) -> Rect {
    let [from, to] = [[0, 0], part.sides].map(|corner| {
        let cell = part.transform.to_cells(corner.map(f64::from));
        let [x, y] = small.transform.to_pixels(cell).map(f64::round);
        layout.points(small.rect).min + vec2(x as f32, y as f32) / layout.pixels_per_point
    });
    // However little is seen, there is something to see of it.
    Rect::from_min_max(from, to.max(from + vec2(2.0, 2.0)))
}

/// Shows band and headers; none of it lies over a panel.
pub(crate) fn show_comparison(
    ui: &mut Ui,
    shown: &ComparisonTexts,
    places: &ComparisonPlaces,
    layout: &WindowLayout,
) {
    let palette = palette(ui);
    let figures = if shown.is_recorded {
        palette.recorded
    } else {
        palette.value
    };
    let band = layout.points(places.band).shrink2(vec2(10.0, 0.0));
    let (cells, colour) = match &shown.cells {
        None => (tr!("comparing the cells …").into(), palette.label),
        Some((true, text)) => (format!("{}  {text}", sign(true)), palette.running),
        Some((false, text)) => (format!("{}  {text}", sign(false)), palette.value),
    };
    lay_out(ui, band, "comparison", |ui| {
        let cells = styled(cells, medium(16.0), colour);
        let factor = styled(&shown.factor, medium(18.0), figures);
        let ends = both_ends().shrink_right().height(band.height());
        ends.show(ui, |ui| ui.label(factor), |ui| ui.label(cells));
    });
    for texts in &shown.sides {
        let place = layout.points(places.headers[texts.side as usize]);
        show_header(ui, place.shrink2(vec2(6.0, 3.0)), texts, figures);
    }
}

/// The letter of one of the two, its settings and its time.
fn show_header(ui: &mut Ui, rect: Rect, texts: &SideTexts, time_colour: Color32) {
    let palette = palette(ui);
    let letter = rect.with_max_x(rect.left() + rect.height());
    // They differ in lightness too.
    let colour = match texts.side {
        Side::A => palette.accent,
        Side::B => palette.comparison_b,
    };
    ui.painter().rect_filled(rect, 6.0, palette.comparison);
    ui.painter().rect_filled(letter, 6.0, colour);
    let font = medium(0.62 * rect.height());
    let name = styled(texts.side.name(), font, palette.on_bright);
    ui.put(letter, Label::new(name));
    let inside = rect.with_min_x(letter.right() + 10.0);
    lay_out(ui, inside, texts.side.name(), |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let size = |usual: f32| medium(usual.min(0.42 * rect.height())); // two rows
        let rows = [
            (&texts.time, size(18.0), time_colour),
            (&texts.settings, size(18.0), palette.value),
        ];
        for (text, font, colour) in rows {
            truncated(ui, styled(text, font, colour));
        }
    });
}
