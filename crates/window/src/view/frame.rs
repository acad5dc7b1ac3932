//! A frame of the window: what it is made from, where everything in it stands, and the painting of
//! all of it but the cells.

use egui::accesskit::{Action::Click, Role};
use egui::{CursorIcon, Id, Rect, RichText, Sense, Ui, WidgetInfo, accesskit_root_id, vec2};

use crate::view::cell_ages::unavailable_reason;
use crate::view::dialogs::{DialogContext, Dialogs};
use crate::view::layout::{self, Dock, LayoutRequest, PRESENTATION, WindowLayout, lay_out};
use crate::view::style::{self, Palette, UiRequest, ask, opaque, regular};
use crate::view::{
    causes, code_editor, hud, lab, ladder, lecture, lesson, over_panels, population, timeline,
    toolbar,
};
use lang::{Message, message, tr};
use session::{PicturePlan, SessionAction, Status, TransferChoice};
use ui::figures::{Urgency, figures};
use ui::finding::ComparisonTexts;
use ui::lab::Lab;
use ui::{
    App, CodeEditor, ColourBy, LadderChart, PopulationChart, RungSource, SidePanel, ViewOptions,
    ViewTransform, request,
};

/// How wide the edge of a pane is for the mouse, in points.
const EDGE: f32 = 6.0;

/// Panels that are said one by one, at most.
const MAX_PANELS_SAID: usize = 64;

/// Everything a frame is made from, but the pictures.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// What is shown.
    pub app: &'a App,
    /// Shown where [`ViewOptions::side`](ui::ViewOptions) says so.
    pub editor: &'a CodeEditor,
    /// The target's size in pixels.
    pub pixels: [u32; 2],
    /// Pixels per point.
    pub scale: f32,
}

impl<'a> Frame<'a> {
    /// What the window is to hold beside panels and HUD: by the settings, not by what was
    /// measured, so that nothing moves from round to round.
    fn layout_request(&self, status: &Status) -> LayoutRequest {
        let (app, options) = (self.app, &self.app.options);
        let comparison = status.lab.comparison.as_ref().map(|it| it.each);
        let instances = status.lattices.instances;
        LayoutRequest {
            // As high as a lane for each instance needs, whatever the streams: F2 moves nothing.
            lanes: options.timeline.then_some(instances),
            is_presentation: self.is_enlarged(),
            sm_count: (options.timeline && status.lab.block_timestamps)
                .then(|| timeline::lanes::sm_count(status)),
            side: options.side,
            panes: options.panes,
            lecture: app.drawing.lecture.as_ref().map(lecture::height),
            lesson: app.lessons.screen().is_some(),
            zoom: options.interface_scale,
            comparison: comparison.filter(|_| app.single_instance().is_none()),
            cell_pixels: options.camera.cell_pixels(),
        }
    }

    /// How large a point is.
    pub(crate) fn pixels_per_point(&self) -> f32 {
        let zoom = self.app.options.interface_scale;
        layout::pixels_per_point(self.pixels, self.scale, zoom, self.is_enlarged())
    }

    /// Whether it is a presentation; a lesson's page is as large as its room takes all the same.
    fn is_enlarged(&self) -> bool {
        self.app.options.presentation && self.app.lessons.screen().is_none()
    }

    /// The target, in points.
    pub(crate) fn rect(&self) -> Rect {
        let size = vec2(self.pixels[0] as f32, self.pixels[1] as f32);
        Rect::from_min_size(egui::Pos2::ZERO, size / self.pixels_per_point())
    }

    /// Has egui use its points from this pass on; what it is told.
    pub(crate) fn zoom(
        &self,
        context: &egui::Context,
        mut input: egui::RawInput,
    ) -> egui::RawInput {
        // [`egui::Context::set_zoom_factor`] would scale the screen of the last pass.
        let zoom = self.pixels_per_point() / self.scale;
        context.options_mut(|options| options.zoom_factor = zoom);
        if let Some(viewport) = input.viewports.get_mut(&egui::ViewportId::ROOT) {
            viewport.native_pixels_per_point = Some(self.scale);
        }
        input.screen_rect = Some(self.rect());
        input
    }

    /// The colours to paint it in.
    pub(crate) fn palette(&self) -> Palette {
        ui::theme::palette(self.app.options.theme).map(opaque)
    }

    /// What decides colours here, or why it is not what was asked for, in one sentence.
    pub(crate) fn colour_by(&self, max_side: u32) -> Result<ColourBy, String> {
        let Some(status) = &self.app.status else {
            return Ok(ColourBy::State);
        };
        let mode = self.app.options.colour_by;
        unavailable_reason(
            mode,
            status.lattices.instances,
            status.lattices.size,
            status.setting.transfer,
            max_side,
        )
        .map_or(Ok(mode), Err)
    }

    /// Where everything stands, and what the panels show.
    pub(crate) fn layout(&self) -> Option<(WindowLayout, ViewTransform)> {
        let status = self.app.status.as_ref()?;
        let one = self.app.single_instance();
        let panels = one.map_or(status.lattices.instances, |_| 1);
        let request = self.layout_request(status);
        let layout = lay_out(
            self.pixels,
            self.scale,
            panels,
            status.lattices.size,
            &request,
        );
        let camera = &self.app.options.camera;
        Some((
            layout,
            camera.target_transform(status.lattices.size, layout.tiling.panel),
        ))
    }

    /// What the session should send for it.
    pub(crate) fn request(&self, max_side: u32) -> Option<PicturePlan> {
        let (status, (layout, transform)) = (self.app.status.as_ref()?, self.layout()?);
        Some(request(
            (status.lattices.size, status.lattices.instances),
            (transform, layout.tiling.panel),
            self.app.single_instance(),
            (requested_transfer(status), PicturePlan::MAX_AUTO_BITS_BYTES),
            max_side,
        ))
    }
}

/// The transfer to request. During a comparison, the reduced view if A or B uses it, because only
/// the drawing side knows its region.
fn requested_transfer(status: &Status) -> TransferChoice {
    let Some(comparison) = &status.lab.comparison else {
        return status.setting.switches.transfer;
    };
    match comparison.switches.map(|of| of.transfer) {
        [_, TransferChoice::View] => TransferChoice::View,
        [first, _] => first,
    }
}

/// Lays out and paints everything of a frame but its cells, in its points.
pub(crate) fn paint_over(
    context: &egui::Context,
    frame: &Frame<'_>,
    place: Option<&(WindowLayout, ViewTransform)>,
    dialogs: &mut Dialogs,
    input: egui::RawInput,
) -> egui::FullOutput {
    let input = frame.zoom(context, input);
    context.run_ui(input, |ui| {
        lay_over(ui.ctx(), frame, place, dialogs);
    })
}

/// Lays out and paints the same within a frame that egui has begun.
pub(crate) fn lay_over(
    context: &egui::Context,
    frame: &Frame<'_>,
    place: Option<&(WindowLayout, ViewTransform)>,
    dialogs: &mut Dialogs,
) {
    let palette = &frame.palette();
    context.accesskit_node_builder(accesskit_root_id(), |node| node.set_label("lifestreams"));
    let screen = frame.rect();
    let mut ui = style::root(context, screen, palette, !dialogs.takes_keys());
    paint(&mut ui, frame, place);
    let seen = DialogContext {
        context,
        app: frame.app,
        palette,
        screen,
        is_top: true,
        is_new: true,
    };
    dialogs.show(seen);
}

/// Paints everything of a frame but the cells; all lengths are points.
pub(crate) fn paint(ui: &mut Ui, frame: &Frame<'_>, place: Option<&(WindowLayout, ViewTransform)>) {
    let (app, options) = (frame.app, &frame.app.options);
    let (Some(status), Some((layout, transform))) = (&app.status, place) else {
        return starting(ui, app.drawing.notice.as_deref());
    };
    let mut figures = figures(status, options, &app.drawing);
    if let Some(sentence) = no_room(options, layout) {
        figures.notify(sentence);
    }
    // The finding stands over the lanes, or in the step of a lecture; what is true all the time would stand
    // under each step of a presentation.
    let is_presented = app.options.presentation;
    figures.messages.retain(|it| match it.0 {
        Urgency::Effect if is_presented && app.drawing.lecture.is_some() => false,
        Urgency::Effect => layout.timeline.is_none() || layout.is_short,
        Urgency::Warning => !is_presented,
        _ => true,
    });
    let only = app.single_instance();
    over_panels::paint_marks(ui, status, only, layout);
    say_panels(ui, status, only, layout);
    over_panels::paint_minimap(ui, app, layout, *transform);
    over_panels::paint_edits(ui, app, layout, *transform);
    match layout.dock {
        Dock::Hidden => {}
        Dock::Side(rect) => hud::show_side(ui, layout.points(rect), &figures),
        Dock::Bar(rect) => {
            let all = figures.groups.iter().flatten();
            let shown = if is_presented {
                Vec::from_iter(&figures.essentials)
            } else {
                [&figures.headline].into_iter().chain(all).collect()
            };
            hud::show_cells(ui, layout.points(rect), &figures, &shown);
        }
    }
    if let Some(rect) = layout.toolbar {
        toolbar::show(ui, app, layout.points(rect));
    }
    if let (Some(step), Some(rect)) = (&app.drawing.lecture, layout.lecture) {
        lecture::show(ui, step, layout.points(rect));
    }
    timeline::paint(ui, &app.timeline, status, layout);
    population::paint_tags(ui, status, only, layout);
    if let Some((panel, rect)) = layout.side {
        let rect = layout.points(rect);
        match panel {
            SidePanel::Lab => lab::show(ui, &Lab::of(status), rect),
            SidePanel::Causes => causes::show(ui, &app.timeline, status, rect),
            SidePanel::Editor => code_editor::show(ui, frame.editor, status, rect),
            SidePanel::Population => {
                population::show(ui, &PopulationChart::of(&app.population, status), rect);
            }
            SidePanel::Ladder => match RungSource::shown(options, status) {
                Some(source) => ladder::show_source(ui, &source, rect),
                None => ladder::show(ui, &LadderChart::of(status), rect),
            },
        }
    }
    show_edges(ui, layout);
    if let (Some(rect), Some(page)) = (layout.lesson, app.lessons.screen()) {
        let is_lectures = app.drawing.lecture.is_some();
        // Its buttons are where those of a step are, and as large.
        let is_large = app.options.presentation && is_lectures;
        let large = if is_large { PRESENTATION } else { 1.0 };
        lesson::show(
            ui,
            page,
            &figures.messages,
            is_lectures,
            large,
            layout.points(rect),
        );
    }
    if let (Some(shown), Some(places)) = (ComparisonTexts::of(status), &layout.comparison) {
        over_panels::show_comparison(ui, &shown, places, layout);
    }
}

/// Lets the edges of the panes beside and below the panels be dragged; a double click puts one back.
fn show_edges(ui: &mut Ui, layout: &WindowLayout) {
    let (beside, below) = match layout.side {
        Some((_, side)) if side.x < layout.area.x => (Some(side), layout.timeline),
        side => (None, layout.timeline.or(side.map(|it| it.1))),
    };
    for (axis, pane) in [beside, below].into_iter().enumerate() {
        let Some(pane) = pane.map(|it| layout.points(it)) else {
            continue;
        };
        let (edge, cursor) = match axis {
            0 => (
                pane.with_min_x(pane.right() - EDGE),
                CursorIcon::ResizeColumn,
            ),
            _ => (pane.with_max_y(pane.top() + EDGE), CursorIcon::ResizeRow),
        };
        let edge = ui.interact(edge, Id::unique(("edge", axis)), Sense::CLICK | Sense::DRAG);
        let edge = edge.on_hover_and_drag_cursor(cursor);
        edge.widget_info(|| WidgetInfo::labeled(Role::Splitter, true, tr!("Edge of the pane")));
        let to = edge.interact_pointer_pos().filter(|_| edge.dragged());
        let size = to.map(|to| [to.x - pane.left(), pane.bottom() - to.y][axis]);
        if size.is_some() || edge.double_clicked() {
            ask(ui.ctx(), UiRequest::Resize(axis, size));
        }
    }
}

/// Has each panel said, unless there are too many for anyone to listen to. A screen reader can select it; the
/// mouse is followed by the window.
fn say_panels(ui: &Ui, status: &Status, only: Option<usize>, layout: &WindowLayout) {
    if !style::is_read(ui) || layout.tiling.count > MAX_PANELS_SAID {
        return;
    }
    for place in 0..layout.tiling.count {
        let instance = only.unwrap_or(place);
        let rect = layout.points(layout.tiling.rect(place));
        if !rect.is_positive() {
            continue;
        }
        let settled = status.panels.settled.get(instance).copied().flatten();
        let how = settled.map_or(String::new(), |how| format!(", {how}"));
        let name = tr!("instance {instance}") + how.as_str();
        let (id, context) = (ui.scope_id().with(("panel", instance)), ui.ctx());
        let panel = ui.interact(rect, id, Sense::hover());
        panel.widget_info(|| WidgetInfo::labeled(Role::Image, true, &name));
        context.accesskit_node_builder(id, |node| {
            node.add_action(Click);
            node.set_selected(instance == status.panels.selected);
        });
        if context.input(|input| input.has_accesskit_action_request(id, Click)) {
            ask(
                context,
                UiRequest::Act(SessionAction::Select(instance).into()),
            );
        }
    }
}

/// Says which of the things to be shown has no room in this window.
fn no_room(options: &ViewOptions, layout: &WindowLayout) -> Option<Message> {
    let no_timeline = options.timeline && layout.timeline.is_none();
    match options.side {
        _ if layout.lesson.is_some() => None,
        Some(_) if layout.side.is_none() => {
            Some(message!("The window is too small for the side panel"))
        }
        Some(_) if no_timeline => Some(message!(
            "The side panel takes the timeline's place in this window"
        )),
        None if no_timeline => Some(message!("The window is too small for the timeline")),
        _ => None,
    }
}

/// While the engine starts there is nothing else to show.
fn starting(ui: &mut Ui, notice: Option<&str>) {
    let text = notice.unwrap_or(tr!("starting the engine …"));
    let text = RichText::new(lang::keep_units(text)).font(regular(20.0));
    ui.centered_and_justified(|ui| ui.label(text));
}
