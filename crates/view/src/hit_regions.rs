//! Places of the painted interface that answer the mouse: a tooltip where something has a meaning,
//! a click where something is a button.
//!
//! What is painted by hand notes its places while it is painted; the scene then lets egui show
//! the tip and take the click. egui keeps the list between frames, so that the window can ask
//! whether a move of the mouse makes a difference.

use egui::{Id, Painter, Pos2, Rect, Sense};

use crate::dialogs::UiRequest;
use model::Action;

#[derive(Clone, Debug)]
struct HitRegion {
    rect: Rect,
    tip: String,
    request: Option<UiRequest>,
}

/// The places of one frame.
#[derive(Clone, Debug, Default)]
struct HitRegions(Vec<HitRegion>);

fn id() -> Id {
    Id::unique("hit regions")
}

fn register(painter: &Painter, region: HitRegion) {
    painter.ctx().data_mut(|data| {
        data.get_temp_mut_or_default::<HitRegions>(id())
            .0
            .push(region);
    });
}

/// Registers a tooltip for `rect`, unless `tip` is empty.
pub(crate) fn tip(painter: &Painter, rect: Rect, tip: &str) {
    if !tip.is_empty() {
        let tip = tip.into();
        let request = None;
        register(painter, HitRegion { rect, tip, request });
    }
}

/// Registers `rect` as a button for an action. Returns whether the pointer is over it.
pub(crate) fn button(painter: &Painter, rect: Rect, tip: &str, action: impl Into<Action>) -> bool {
    request(painter, rect, tip, UiRequest::Act(action.into()))
}

/// Registers `rect` as a button that makes a request. Returns whether the pointer is over it.
pub(crate) fn request(painter: &Painter, rect: Rect, tip: &str, request: UiRequest) -> bool {
    let (tip, request) = (tip.into(), Some(request));
    register(painter, HitRegion { rect, tip, request });
    let at = painter.ctx().input(|input| input.pointer.hover_pos());
    at.is_some_and(|at| rect.contains(at))
}

/// Forgets the last frame's.
pub(crate) fn clear(context: &egui::Context) {
    context.data_mut(|data| data.get_temp_mut_or_default::<HitRegions>(id()).0.clear());
}

/// The index of the topmost region of the last frame at a point.
pub(crate) fn at(context: &egui::Context, at: Pos2) -> Option<usize> {
    context.data_mut(|data| {
        let regions = &data.get_temp_mut_or_default::<HitRegions>(id()).0;
        regions.iter().rposition(|region| region.rect.contains(at))
    })
}

/// Whether one of the last frame's buttons is here.
pub(crate) fn has_button_at(context: &egui::Context, at: Pos2) -> bool {
    context.data_mut(|data| {
        let regions = &data.get_temp_mut_or_default::<HitRegions>(id()).0;
        let mut buttons = regions.iter().filter(|region| region.request.is_some());
        buttons.any(|region| region.rect.contains(at))
    })
}

/// Shows tips and takes clicks; below all dialogs.
pub(crate) fn show(ui: &egui::Ui, requests: &mut Vec<UiRequest>) {
    let regions = ui
        .ctx()
        .data_mut(|data| data.get_temp_mut_or_default::<HitRegions>(id()).clone());
    for (index, region) in regions.0.iter().enumerate() {
        let sense = match region.request {
            Some(_) => Sense::CLICK,
            None => Sense::hover(),
        };
        let response = ui.interact(region.rect, id().with(index), sense);
        if let (true, Some(request)) = (response.clicked(), &region.request) {
            requests.push(request.clone());
        }
        if !region.tip.is_empty() {
            response.on_hover_text(lang::keep_units(&region.tip));
        }
    }
}

/// The buttons of the last frame, and what each asks for.
#[cfg(test)]
pub(crate) fn buttons(context: &egui::Context) -> Vec<(Rect, UiRequest)> {
    context.data_mut(|data| {
        let regions = &data.get_temp_mut_or_default::<HitRegions>(id()).0;
        let button = |region: &HitRegion| Some((region.rect, region.request.clone()?));
        regions.iter().filter_map(button).collect()
    })
}

/// The places of the last frame that have a tip, in the order in which they were painted.
#[cfg(test)]
pub(crate) fn places(context: &egui::Context) -> Vec<Rect> {
    context.data_mut(|data| {
        let regions = &data.get_temp_mut_or_default::<HitRegions>(id()).0;
        let tipped = regions.iter().filter(|region| !region.tip.is_empty());
        tipped.map(|region| region.rect).collect()
    })
}
