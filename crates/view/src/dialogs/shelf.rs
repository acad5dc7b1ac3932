//! The shelf: the patterns that come with the program, by kind, each with its picture.

use egui::accesskit::Role;
use egui::{Rect, RichText, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use crate::dialogs::{DialogContext, UiRequest, style};
use crate::edit_overlay::runs_of;
use lang::tr;
use life::{Kind, Lattice, Run, SHELF, Shelved, Size};
use model::InWords;

/// Cells of a picture at most, across and down.
const CELLS: u64 = 56;

/// The open shelf.
#[derive(Clone, PartialEq, Debug)]
pub struct Shelf {
    items: Vec<ShelfItem>,
}

/// A pattern as it is listed.
#[derive(Clone, PartialEq, Debug)]
struct ShelfItem {
    shelved: &'static Shelved,
    name: String,
    /// Who found it, and often when.
    author: Option<String>,
    does: String,
    picture: Vec<Run>,
    size: Size,
}

impl Default for Shelf {
    fn default() -> Shelf {
        Shelf {
            items: SHELF.iter().map(ShelfItem::of).collect(),
        }
    }
}

impl ShelfItem {
    fn of(shelved: &'static Shelved) -> ShelfItem {
        let pattern = shelved.pattern();
        let most = Size::new(CELLS, CELLS).expect("a picture's size");
        let (picture, _): (Lattice, u32) = pattern.thumbnail(most);
        let notes = pattern.notes();
        ShelfItem {
            shelved,
            name: notes.name.unwrap_or_else(|| shelved.name.into()),
            author: notes.author,
            does: shelved.behaviour.in_words(),
            picture: runs_of(&picture).collect(),
            size: picture.size(),
        }
    }
}

impl Shelf {
    /// Lays it out; whether it stays open.
    pub(super) fn show(
        &mut self,
        context: &egui::Context,
        cx: DialogContext<'_>,
        requests: &mut Vec<UiRequest>,
    ) -> bool {
        let (unit, screen) = (cx.unit, cx.screen);
        let mut stays = true;
        let left = style::dialog(context, cx, "shelf", None, 1080.0, |ui| {
            let width = ui.available_width();
            let heading = tr!("Patterns: click one to take it, then click a panel to place it");
            style::heading(ui, heading);
            let columns = ((width / (250.0 * unit)) as usize).max(1);
            let space = ui.spacing().item_spacing.x;
            let across = (width - 12.0 * unit) / columns as f32 - space;
            let high = 0.74 * screen.height();
            let scroll = ScrollArea::vertical().max_height(high);
            scroll.min_scrolled_height(high).show(ui, |ui| {
                for kind in Kind::ALL {
                    let of_kind = |item: &&ShelfItem| item.shelved.kind() == kind;
                    let items: Vec<&ShelfItem> = self.items.iter().filter(of_kind).collect();
                    ui.add_space(6.0 * unit);
                    ui.label(
                        RichText::new(title(kind))
                            .heading()
                            .color(cx.palette.accent),
                    );
                    for row in items.chunks(columns) {
                        ui.horizontal(|ui| {
                            for item in row {
                                if paint(ui, cx, item, across) {
                                    requests.push(UiRequest::Shelved(item.shelved));
                                    stays = false;
                                }
                            }
                        });
                    }
                }
            });
        });
        stays && !left
    }
}

/// A kind of which there are several.
fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::StillLife => tr!("Still lifes"),
        Kind::Oscillator => tr!("Oscillators"),
        Kind::Spaceship => tr!("Spaceships"),
        Kind::Gun => tr!("Guns"),
        Kind::Methuselah => tr!("Methuselahs"),
        Kind::Puffer => tr!("Puffers and rakes"),
        Kind::Soup => tr!("Soups with symmetry"),
    }
}

/// Paints a pattern's place; whether it was clicked.
fn paint(ui: &mut Ui, cx: DialogContext<'_>, item: &ShelfItem, width: f32) -> bool {
    let (unit, palette) = (cx.unit, cx.palette);
    let high = 72.0 * unit;
    let (rect, response) = ui.allocate_exact_size(vec2(width, high), Sense::click());
    let name = format!("{}: {}", item.name, item.does);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    if !ui.is_rect_visible(rect) {
        return false;
    }
    let painter = ui.painter_at(rect);
    let background = if response.hovered() {
        palette.shelf_pointed
    } else {
        palette.shelf
    };
    painter.rect_filled(rect, 4.0 * unit, background);
    let side = high - 8.0 * unit;
    let frame = Rect::from_min_size(rect.min + vec2(4.0, 4.0) * unit, vec2(side, side));
    painter.rect_filled(frame, 2.0 * unit, palette.shelf_picture);
    if response.hovered() {
        let stroke = Stroke::new(unit.max(1.0), palette.accent);
        painter.rect_stroke(rect, 4.0 * unit, stroke, StrokeKind::Inside);
    }
    let most = item.size.width().max(item.size.height()) as f32;
    let cell = ((side - 6.0 * unit) / most).min(5.0 * unit);
    let drawn = vec2(item.size.width() as f32, item.size.height() as f32) * cell;
    let corner = frame.center() - drawn / 2.0;
    for run in &item.picture {
        let at = pos2(
            corner.x + run.x as f32 * cell,
            corner.y + run.y as f32 * cell,
        );
        let cells = Rect::from_min_size(at, vec2(run.length as f32, 1.0) * cell);
        painter.rect_filled(cells, 0.0, palette.accent);
    }
    let left = frame.right() + 8.0 * unit;
    let lines = [
        (Some(&item.name), 15.0, palette.value),
        (Some(&item.does), 13.0, palette.label),
        (item.author.as_ref(), 12.0, palette.label),
    ];
    let mut top = rect.top() + 8.0 * unit;
    for (text, height, colour) in lines {
        let Some(text) = text else { continue };
        let font = egui::FontId::proportional(height * unit);
        let room = rect.right() - left - 4.0 * unit;
        let mut job = egui::text::LayoutJob::simple_singleline(text.clone(), font, colour);
        job.wrap = egui::text::TextWrapping::truncate_at_width(room);
        let galley = painter.layout_job(job);
        let next = galley.size().y;
        painter.galley(pos2(left, top), galley, colour);
        top += next + 2.0 * unit;
    }
    response.clicked()
}
