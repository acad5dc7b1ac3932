//! The type of the interface, text that fits its place, egui's style in the HUD's colours, and what panels are
//! laid out in. Colours are kept in egui's context, where every widget finds them.

use std::sync::{Arc, LazyLock};

pub(crate) use crate::view::requests::{UiRequest, ask, asks, requests};

use egui::accesskit::Role;
use egui::emath::GuiRounding as _;
use egui::text::{LayoutJob, TextWrapping};
use egui::*;

use lang::tr;
use ui::theme::Rgb;
use ui::{Action, ViewAction};

/// A letter's width and a line's height in code, of the type's size.
pub(crate) const LETTER: f32 = 0.604;
pub(crate) const LEADING: f32 = 1.3;

/// An opaque colour as egui has it.
pub(crate) fn opaque([red, green, blue]: Rgb) -> Color32 {
    Color32::from_rgb(red, green, blue)
}

/// The same colour, but only this opaque.
pub(crate) fn translucent(colour: Color32, alpha: u8) -> Color32 {
    Color32::from_rgba_unmultiplied(colour.r(), colour.g(), colour.b(), alpha)
}

/// From here on, buttons that are on have the accent.
pub(crate) fn chosen_have_the_accent(ui: &mut Ui) {
    let palette = palette(ui);
    let visuals = ui.visuals_mut();
    visuals.selection.bg_fill = palette.accent;
    visuals.selection.stroke.color = palette.on_accent;
}

/// How what can be used looks from here on: at rest, under the pointer and pressed.
pub(crate) fn usable(ui: &mut Ui) -> [&mut egui::style::WidgetVisuals; 3] {
    let widgets = &mut ui.visuals_mut().widgets;
    [
        &mut widgets.inactive,
        &mut widgets.hovered,
        &mut widgets.active,
    ]
}

/// Black or white, whichever stands out more from a bright or dark colour.
pub(crate) fn text_on(background: Color32) -> Color32 {
    let [red, green, blue, _] = Rgba::from(background).to_array();
    // Where both have a contrast of 4.6.
    if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 {
        Color32::BLACK
    } else {
        Color32::WHITE
    }
}

/// Makes Roboto (digits of one width) the type of everything; egui's own stand in for signs that
/// it lacks, and Noto Sans SC for Chinese. Layout finds the glyph of a letter in the first that has
/// it, so that Latin text is the same in both languages.
pub fn install_fonts(context: &egui::Context) {
    let mut fonts = FontDefinitions::default();
    let code = fonts.families[&FontFamily::Monospace].clone();
    let faces: [(&str, &'static [u8]); 3] = [
        (
            "roboto",
            include_bytes!("../../../../assets/fonts/Roboto-Regular.ttf"),
        ),
        (
            "roboto-medium",
            include_bytes!("../../../../assets/fonts/Roboto-Medium.ttf"),
        ),
        (
            CHINESE,
            include_bytes!("../../../../assets/fonts/NotoSansSC-Regular.otf"),
        ),
    ];
    for (name, bytes) in faces {
        let mut data = FontData::from_static(bytes);
        if name == CHINESE {
            // Its characters hang lower than Latin capitals and figures: up, so that both have one middle.
            data.tweak.y_offset_factor = -0.06;
        }
        fonts.font_data.insert(name.into(), Arc::new(data));
        let own = [name.into(), CHINESE.into()].into_iter();
        let family = own.chain(code.iter().cloned()).collect();
        fonts.families.insert(FontFamily::Name(name.into()), family);
    }
    let regular = fonts.families[&FontFamily::Name("roboto".into())].clone();
    fonts.families.insert(FontFamily::Proportional, regular);
    // Code has remarks.
    let code = fonts.families.entry(FontFamily::Monospace).or_default();
    code.push(CHINESE.into());
    context.set_fonts(fonts);
}

const CHINESE: &str = "noto-sans-sc";

pub(crate) fn regular(size: f32) -> FontId {
    FontId::new(size, FontFamily::Proportional)
}

pub(crate) fn medium(size: f32) -> FontId {
    static MEDIUM: LazyLock<FontFamily> =
        LazyLock::new(|| FontFamily::Name("roboto-medium".into()));
    FontId::new(size, MEDIUM.clone())
}

/// Shows one line, cut with … where it must be.
pub(crate) fn truncated(ui: &mut Ui, text: impl Into<WidgetText>) -> Response {
    ui.add(Label::new(text).truncate())
}

/// The size of type in which words have room in a line: `most`, or less down to `least`.
pub(crate) fn type_size(words: &str, room: f32, [least, most]: [f32; 2]) -> f32 {
    (room / (0.53 * lang::columns(words) as f32)).clamp(least, most)
}

/// One line of at most `width`, cut with … where it must be.
pub(crate) fn fitted(
    painter: &Painter,
    text: &str,
    font: FontId,
    colour: Color32,
    width: f32,
) -> Arc<Galley> {
    let mut job = LayoutJob::simple_singleline(text.into(), font, colour);
    job.wrap = TextWrapping::truncate_at_width(width);
    painter.layout_job(job)
}

/// A paragraph of at most `rows` rows, cut with …; a number and its unit stay in one row.
pub(crate) fn paragraph(
    painter: &Painter,
    text: &str,
    font: FontId,
    colour: Color32,
    width: f32,
    rows: usize,
) -> Arc<Galley> {
    let text = lang::keep_units(text);
    let mut job = LayoutJob::simple(text, font, colour, width);
    job.wrap.max_rows = rows;
    painter.layout_job(job)
}

/// Paints a galley where `align` of it is at `at`; egui has it on whole pixels. Something else says it to a
/// screen reader.
pub(crate) fn put(painter: &Painter, at: Pos2, align: Align2, galley: Arc<Galley>) {
    let corner = align.anchor_size(at, galley.size()).min;
    painter.galley(corner, galley, Color32::WHITE); // it has colours of its own
}

/// Adds rectangles on whole pixels, which egui does not see to in meshes: no edge is blurred.
pub(crate) fn put_mesh(painter: &Painter, mut mesh: Mesh) {
    for vertex in &mut mesh.vertices {
        vertex.pos = vertex.pos.round_to_pixels(painter.pixels_per_point());
    }
    painter.add(Shape::mesh(mesh));
}

/// Gives every dialog its style, in these colours.
pub(crate) fn apply_style(context: &egui::Context, palette: &Palette) {
    context.set_theme(egui::Theme::Dark);
    let mut style = egui::Style {
        // A dialog is there at once: nothing fades, and a picture of one is always the same.
        animation_time: 0.0,
        ..Default::default()
    };
    style.text_styles = [
        (TextStyle::Small, regular(13.0)),
        (TextStyle::Body, regular(16.0)),
        (TextStyle::Button, regular(16.0)),
        (TextStyle::Heading, medium(20.0)),
        (TextStyle::Monospace, egui::FontId::monospace(15.0)),
    ]
    .into();
    // A drag that misses an edge selects nothing.
    style.interaction.selectable_labels = false;
    let spacing = &mut style.spacing;
    spacing.item_spacing = vec2(8.0, 5.0);
    spacing.window_margin = Margin::same(14);
    spacing.menu_margin = Margin::same(10);
    spacing.button_padding = vec2(9.0, 4.0);
    spacing.interact_size *= 1.2;
    // That there is more is seen without a pointer.
    spacing.scroll.dormant_handle_opacity = 0.5;
    style.visuals = visuals(palette);
    context.set_style_of(egui::Theme::Dark, style);
}

fn visuals(palette: &Palette) -> Visuals {
    let mut visuals = Visuals::dark();
    let line = |colour| Stroke::new(1.0, colour);
    visuals.window_fill = palette.dialog;
    visuals.panel_fill = palette.dialog;
    visuals.window_stroke = line(palette.dialog_edge);
    visuals.window_corner_radius = CornerRadius::same(8);
    visuals.menu_corner_radius = CornerRadius::same(6);
    visuals.window_shadow = egui::Shadow::NONE;
    visuals.popup_shadow = egui::Shadow::NONE;
    visuals.extreme_bg_color = palette.field;
    visuals.faint_bg_color = palette.dialog_stripe;
    visuals.selection.bg_fill = palette.selected;
    visuals.selection.stroke = line(palette.accent);
    visuals.text_cursor.stroke = Stroke::new(2.0, palette.accent);
    visuals.text_cursor.blink = false; // a window at rest draws nothing
    let composition = &mut visuals.ime_composition;
    composition.active_underline_stroke.color = palette.composed;
    composition.inactive_underline_stroke.color = palette.composed.linear_multiply(0.5);
    let widgets = &mut visuals.widgets;
    for (widget, background, text_colour) in [
        (&mut widgets.noninteractive, palette.dialog, palette.label),
        (&mut widgets.inactive, palette.raised, palette.value),
        (
            &mut widgets.hovered,
            palette.raised_pointed,
            palette.highlight,
        ),
        (
            &mut widgets.active,
            palette.raised_pointed,
            palette.highlight,
        ),
        (&mut widgets.open, palette.raised, palette.value),
    ] {
        widget.bg_fill = background;
        widget.weak_bg_fill = background;
        widget.bg_stroke = line(palette.rule);
        widget.fg_stroke = line(text_colour);
        widget.corner_radius = CornerRadius::same(4);
        widget.expansion = 0.0;
    }
    visuals
}

/// An interface's colours, as egui has them.
pub(crate) type Palette = ui::theme::Palette<Color32>;

/// A whole window, behind all dialogs; only where it is enabled its widgets can be used.
pub(crate) fn root(context: &Context, screen: Rect, palette: &Palette, is_enabled: bool) -> Ui {
    context.data_mut(|data| data.insert_temp(Id::NULL, *palette));
    let builder = UiBuilder::new().max_rect(screen);
    let mut ui = Ui::new(context.clone(), Id::unique("widgets"), builder);
    if !is_enabled {
        ui.visuals_mut().disabled_alpha = 1.0; // it stands behind a dialog, and is no other
        ui.disable();
    }
    context.accesskit_node_builder(ui.unique_id(), |node| {
        node.set_role(Role::Group);
        if !is_enabled {
            node.set_hidden();
        }
    });
    ui
}

/// The colours to paint with.
pub(crate) fn palette(ui: &Ui) -> Palette {
    let palette = ui.data(|data| data.get_temp(Id::NULL));
    palette.expect("a root has colours")
}

/// Whether a screen reader, or a test, reads what is painted.
pub(crate) fn is_read(ui: &Ui) -> bool {
    let context = ui.ctx();
    ui.is_enabled()
        && context
            .accesskit_node_builder(ui.unique_id(), |_| ())
            .is_some()
}

/// Lays out widgets within a rectangle.
pub(crate) fn lay_out(ui: &mut Ui, rect: Rect, name: &str, add: impl FnOnce(&mut Ui)) {
    ui.scope_builder(UiBuilder::new().id_salt(name).max_rect(rect), |ui| {
        ui.set_clip_rect(rect);
        add(ui);
    });
}

/// Words in this type and colour.
pub(crate) fn styled(words: impl Into<String>, font: FontId, colour: Color32) -> RichText {
    RichText::new(words).font(font).color(colour)
}

/// A row of what stands at its right end, and from the left what has the rest of it, cut with … where it
/// must be.
pub(crate) fn both_ends() -> Sides {
    Sides::new().shrink_left().truncate()
}

/// Gives a widget a tip, made once it is seen or read: a screen reader says it, too.
pub(crate) fn tip<T: AsRef<str>>(shown: Response, text: impl Fn() -> T) {
    let describe = |node: &mut accesskit::Node| node.set_description(text().as_ref());
    shown.ctx.accesskit_node_builder(shown.id, describe);
    // egui would ask about a dozen things of each widget, in each frame.
    if !shown.contains_pointer() && !shown.hovered() {
        return;
    }
    let show = |ui: &mut Ui| {
        ui.set_max_width(ui.spacing().tooltip_width); // however long it is
        ui.label(lang::keep_units(text().as_ref()));
    };
    let tip = if shown.enabled() {
        Tooltip::for_enabled(&shown)
    } else {
        Tooltip::for_disabled(&shown)
    };
    tip.show(show);
}

/// Shows a title with the button that closes what it stands over, as the key of this action does.
pub(crate) fn title(ui: &mut Ui, title: RichText, key: ViewAction, close: impl FnOnce(&mut Ui)) {
    let text = tr!("Close ({key}) ×", key = Action::from(key).key());
    let button = |ui: &mut Ui| {
        if ui.button(RichText::new(text).small()).clicked() {
            close(ui);
        }
    };
    both_ends().show(ui, |ui| ui.label(title), button);
}

/// Shows a side panel: its edges, its title with the button that closes it, and its contents below.
pub(crate) fn side_panel(
    ui: &mut Ui,
    rect: Rect,
    words: &str,
    close: ViewAction,
    contents: impl FnOnce(&mut Ui),
) {
    let (palette, painter) = (palette(ui), ui.painter());
    let line = (1.0, palette.rule);
    painter.vline(rect.right() - 0.5, rect.y_range(), line);
    painter.hline(rect.x_range(), rect.top() + 0.5, line);
    lay_out(ui, rect.shrink2(vec2(14.0, 6.0)), "side panel", |ui| {
        let widgets = &mut ui.visuals_mut().widgets;
        widgets.noninteractive.fg_stroke.color = palette.value;
        let words = RichText::new(words).font(medium(18.0));
        let request = UiRequest::Act(close.into());
        title(ui, words, close, |ui| ask(ui.ctx(), request));
        contents(ui);
    });
}
