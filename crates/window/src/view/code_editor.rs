//! The editor of one's own round or kernel, beside the panels and the timeline: the text with the lines
//! that are wrong marked, what was found in it below, and buttons that run and save it.

use egui::text::{LayoutJob, TextFormat};
use egui::{Frame as Margins, *};
use egui_extras::syntax_highlighting::{CodeTheme, TokenType, highlight};

use crate::view::style::*;
use lang::tr;
use session::Status;
use ui::code_editor::{Code, Findings, rung_to_copy};
use ui::rung_source::{Change, SourceLine};
use ui::{Action, CodeEditor, ViewAction};

/// What was found: a line, sentences below it, and the buttons.
const FOOT: f32 = 152.0;
const SENTENCES: f32 = 84.0;
/// The least and the usual type of the text, of which 50 columns are to be seen, and what the numbers of its lines take.
const TYPE: [f32; 2] = [11.0, 14.0];
const COLUMNS: f32 = 50.0;
const GUTTER: f32 = 36.0;

/// The field of a text, by which the window asks whether it has the keys.
pub(crate) fn field(code: Code) -> Id {
    Id::unique(("code editor", code.extension()))
}

/// Shows the editor in its rectangle.
pub(crate) fn show(ui: &mut Ui, editor: &CodeEditor, status: &Status, rect: Rect) {
    let palette = palette(ui);
    side_panel(ui, rect, &name(editor), ViewAction::ToggleEditor, |ui| {
        ui.spacing_mut().item_spacing = vec2(6.0, 4.0);
        ui.spacing_mut().button_padding.x = 7.0;
        let styles = &mut ui.style_mut().text_styles;
        styles.insert(TextStyle::Body, regular(14.0));
        styles.insert(TextStyle::Button, regular(13.0));
        ui.horizontal(|ui| show_tabs(ui, editor, status));
        let card = Margins::new()
            .fill(palette.code_background)
            .corner_radius(4);
        card.inner_margin(Margin::symmetric(4, 6)).show(ui, |ui| {
            ui.set_max_height(ui.available_height() - FOOT);
            show_code(ui, editor);
        });
        show_summary(ui, editor);
        // Of one height, whatever was found: the text above it stays where it is.
        ui.allocate_ui(vec2(ui.available_width(), SENTENCES), |ui| {
            let area = ScrollArea::vertical().id_salt("sentences");
            area.auto_shrink(false).show(ui, |ui| {
                let sentences = |ui: &mut Ui| {
                    for sentence in editor.sentences(status) {
                        ui.label(lang::keep_units(&sentence));
                    }
                };
                // What to do is a hint that is to be opened; what does not compile is said at once.
                let hint = |name| CollapsingHeader::new(tr!("Hint")).id_salt(name);
                let is_marked = |it: &Findings| editor.code == Code::Kernel && !it.lines.is_empty();
                let is_said = editor.is_right() || editor.findings.as_ref().is_some_and(is_marked);
                match editor.exercise.filter(|_| !is_said) {
                    Some(it) => _ = hint(it.name).show(ui, sentences),
                    None => sentences(ui),
                }
            });
        });
        ui.horizontal(|ui| show_buttons(ui, editor, status));
    });
}

/// What stands in the title: the exercise, or the file's name, with a sign while the text differs from it.
fn name(editor: &CodeEditor) -> String {
    if let Some(exercise) = editor.exercise {
        return lang::text(exercise.title).into();
    }
    match editor.path().and_then(|path| path.file_name()) {
        None if editor.code == Code::Kernel => tr!("A kernel of your own").into(),
        None => tr!("A round of your own").into(),
        Some(name) if editor.is_edited() => format!("● {}", life::shown(name)),
        Some(name) => life::shown(name),
    }
}

/// What can be written, and the button for a new kernel.
fn show_tabs(ui: &mut Ui, editor: &CodeEditor, status: &Status) {
    let shown = editor.code;
    ui.scope(|ui| {
        chosen_have_the_accent(ui);
        for code in Code::ALL {
            let button = Button::new(code.name()).selected(code == shown);
            let request = UiRequest::ShowCode(code);
            requests(&ui.add(button), request);
        }
    });
    if shown == Code::Kernel {
        ui.add_space(12.0);
        let rung = rung_to_copy(status.setting.kernel);
        let button = ui.button(tr!("New from {rung}", rung = rung.file));
        requests(&button, UiRequest::NewKernel);
    }
}

fn show_code(ui: &mut Ui, editor: &CodeEditor) {
    // Another text begins at its top.
    let exercise = editor.exercise.map(|it| it.name);
    let of_text = (editor.code.extension(), editor.path(), exercise);
    let area = ScrollArea::vertical().id_salt(of_text).auto_shrink(false);
    ui.horizontal_top(|ui| {
        ui.add_space(GUTTER);
        area.show(ui, |ui| {
            if let Some(text) = lay_out_text(ui, editor) {
                ask(ui.ctx(), UiRequest::EditCode(text));
            }
        });
    });
}

/// Has the editor scroll to the first line that is wrong, if one is.
pub(crate) fn go_to_fault(context: &Context) {
    context.data_mut(|data| data.insert_temp(Id::unique("goes to the fault"), true));
}

/// Lays out the text, and beside it the numbers of its lines; the text that it was changed to.
fn lay_out_text(ui: &mut Ui, editor: &CodeEditor) -> Option<String> {
    let palette = palette(ui);
    let mut text = editor.text.to_string();
    let (language, name) = match editor.code {
        // Rhai's words are Rust's.
        Code::Round => ("rs", tr!("The script of the round")),
        Code::Kernel => ("cpp", tr!("The source of the kernel")),
    };
    let field_id = field(editor.code);
    let font = (ui.available_width() / (COLUMNS * LETTER)).clamp(TYPE[0], TYPE[1]);
    let mut theme = match text_on(palette.code_background) {
        Color32::BLACK => CodeTheme::light(font),
        _ => CodeTheme::dark(font),
    };
    theme.format_mut(TokenType::Comment).color = palette.faint;
    let mut layouter = |ui: &Ui, text: &dyn TextBuffer, width| {
        let mut job = highlight(ui.ctx(), ui.style(), &theme, text.as_str(), language);
        job.wrap.max_width = width;
        ui.fonts_mut(|fonts| fonts.layout_job(job))
    };
    // What stands at the left of the text stays there when that scrolls.
    let seen = ui.clip_rect();
    let seen = seen.with_min_x(ui.max_rect().left() - GUTTER);
    let mut painter = ui.painter().clone();
    painter.set_clip_rect(seen);
    let marks = painter.add(Shape::Noop);
    let size = ui.available_size();
    let field = TextEdit::multiline(&mut text).id(field_id);
    let field = field
        .layouter(&mut layouter)
        .lock_focus(true)
        .frame(Margins::NONE);
    let field = field.cursor_at_end(false).desired_width(size.x);
    let shown = field.min_size(size).show(ui);
    ui.ctx()
        .accesskit_node_builder(field_id, |node| node.set_label(name));
    // Behind the text: the lines that are wrong, and the numbers of all.
    let wrong = editor.findings.as_ref().map_or(&[][..], |it| &it.lines);
    let goes = |data: &mut util::IdTypeMap| data.remove_temp(Id::unique("goes to the fault"));
    let goes: Option<bool> = ui.data_mut(goes);
    let mut grounds = Vec::new();
    // Long lines wrap: only the first row of one has its number.
    let (mut number, mut is_first) = (1, true);
    for row in &shown.galley.rows {
        let rect = row.rect().translate(shown.galley_pos.to_vec2());
        let all = Rect::from_x_y_ranges(seen.x_range(), rect.y_range());
        if wrong.contains(&number) {
            let colour = translucent(palette.failed, 90);
            grounds.push(Shape::rect_filled(all, 0.0, colour));
        }
        if goes.is_some() && wrong.first() == Some(&number) {
            ui.scroll_to_rect(rect.with_max_x(rect.left()), Some(Align::Center));
        }
        if is_first && seen.expand(1.0).contains_rect(all) {
            let font = FontId::monospace(0.86 * font);
            let at = pos2(seen.left() + GUTTER - 10.0, rect.center().y);
            painter.text(at, Align2::RIGHT_CENTER, number, font, palette.faint);
        }
        is_first = row.ends_with_newline;
        if is_first {
            number += 1;
        }
    }
    painter.set(marks, Shape::Vec(grounds));
    shown.response.changed().then_some(text)
}

/// A program in type of this size, as one text of so many columns: remarks are dimmed, and what is new or gone is
/// marked; by signs too in a diff, whose lines are wrapped.
pub(crate) fn program(
    lines: &[SourceLine],
    columns: usize,
    is_diff: bool,
    size: f32,
    palette: &Palette,
) -> LayoutJob {
    let mut job = LayoutJob::default();
    for (number, line) in lines.iter().enumerate() {
        let is_comment = line.text.trim_start().starts_with("//");
        let color = match line.change {
            Change::Added => palette.running,
            Change::Removed => palette.failed_text,
            Change::Same if is_comment => palette.faint,
            Change::Same => palette.value,
        };
        let mut format = TextFormat {
            font_id: FontId::monospace(size),
            line_height: Some(LEADING * size),
            color,
            ..TextFormat::default()
        };
        if line.change == Change::Added {
            format.background = palette.running_background;
        }
        let end = if number > 0 { "\n" } else { "" };
        let text = if is_diff {
            let sign = line.change.sign();
            let indent = line.text.len() - line.text.trim_start().len() + 4;
            let margin = format!("{sign} {}", " ".repeat(indent));
            lang::wrapped(&format!("{sign} {}", line.text), columns, &margin)
        } else {
            line.text.clone()
        };
        // A mark goes from edge to edge.
        let width = match line.change {
            Change::Added => columns,
            Change::Same | Change::Removed => 0,
        };
        let lines = text.lines().map(|it| format!("{it:width$}"));
        let text = Vec::from_iter(lines).join("\n");
        job.append(&format!("{end}{text}"), 0.0, format);
    }
    job
}

/// In a line what was found, and whether it runs; a click goes to the first fault.
fn show_summary(ui: &mut Ui, editor: &CodeEditor) {
    let palette = palette(ui);
    let (text, colour) = match editor.summary() {
        None if editor.is_checking || editor.code == Code::Round => {
            (tr!("Checking …").into(), palette.label)
        }
        None => {
            let key = Action::from(ViewAction::RunRound).key();
            let text = tr!("{key} checks it, and runs it if it is right");
            (text, palette.label)
        }
        Some(text) if editor.is_right() => (text.into(), palette.running),
        Some(text) => (text.into(), palette.failed_text),
    };
    let summary = Label::new(styled(text, medium(15.0), colour)).truncate();
    if ui.add(summary.sense(Sense::CLICK)).clicked() {
        go_to_fault(ui.ctx());
    }
}

/// The buttons, and beside them whether the session runs this text.
fn show_buttons(ui: &mut Ui, editor: &CodeEditor, status: &Status) {
    let palette = palette(ui);
    let run = Action::from(ViewAction::RunRound);
    let name = tr!("Run ({key})", key = run.key());
    asks(&ui.button(name), run);
    requests(&ui.button(tr!("Save (Ctrl+S)")), UiRequest::SaveCode);
    if editor.is_solved() {
        requests(&ui.button(tr!("Next exercise")), UiRequest::NextExercise);
    }
    match editor.runs(status) {
        Some(true) => _ = truncated(ui, RichText::new(tr!("runs")).color(palette.running)),
        Some(false) => _ = truncated(ui, tr!("edited since it ran")),
        None => {}
    }
}
