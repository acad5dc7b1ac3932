//! The editor of one's own round or kernel, beside the panels and the timeline: the text with the lines
//! that are wrong marked, what was found in it below, and buttons that run and save it.

use std::collections::HashSet;

use egui::text::LayoutJob;
use egui::{
    Align2, Color32, FontId, Frame as Margins, Id, Margin, Rect, ScrollArea, Shape, TextBuffer,
    TextEdit, Ui, pos2, vec2,
};
use egui_extras::syntax_highlighting::{CodeTheme, TokenType, highlight};

use crate::view::Frame;
use crate::view::dialogs::UiRequest;
use crate::view::hud::style::*;
use crate::view::hud::{choice_button, close_button, text_button};
use crate::view::widget_painter::WidgetPainter;
use lang::tr;
use ui::code_editor::{Code, Guess, PredictionTexts, rung_to_copy};
use ui::theme::Palette;
use ui::{Action, CodeEditor, ViewAction};

const PAD: f32 = 14.0;
const TITLE: f32 = 30.0;
const TABS: f32 = 24.0;
/// What was found: a line, and sentences below it.
const SUMMARY: f32 = 26.0;
const SENTENCES: f32 = 84.0;
const BUTTONS: f32 = 28.0;
/// The type of the text, and what the numbers of its lines take.
const TYPE: f32 = 14.0;
const GUTTER: f32 = 36.0;
/// Lines that a sentence takes at most.
const SENTENCE_LINES: usize = 5;

/// What can be asked for in the editor.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum EditorRequest {
    /// The text was changed to this one.
    Edit(String),
    /// The text is to be saved.
    Save,
    /// The text was changed and its file's, too: the file's replaces it, or it stays.
    Settle {
        /// Whether the file's does.
        reload: bool,
    },
    /// How fast the user predicts the round to be.
    Guess(Guess),
    /// The round or the kernel is shown.
    Show(Code),
    /// A copy of the rung in use takes the kernel's place.
    NewKernel,
}

/// The field of a text, by which the window asks whether it has the keys.
pub(crate) fn field(code: Code) -> Id {
    Id::unique(("code editor", code.extension()))
}

/// Paints the editor into its rectangle.
pub(crate) fn paint(painter: &WidgetPainter, frame: &Frame<'_>, rect: Rect) {
    let (editor, palette) = (frame.editor, &painter.palette);
    let line = (1.0, palette.rule);
    painter.vline(rect.right() - 0.5, rect.y_range(), line);
    painter.hline(rect.x_range(), rect.top() + 0.5, line);
    let inside = rect.shrink2(vec2(PAD, 6.0));
    let title = inside.with_max_y(inside.top() + TITLE);
    let close = ViewAction::ToggleEditor;
    let left = close_button(painter, title.right_center(), close);
    let room = left - title.left() - 12.0;
    let font = medium(18.0);
    let text = fitted(painter, &name(editor), font, palette.value, room);
    put(painter, title.left_center(), Align2::LEFT_CENTER, text);
    let tabs = inside.with_min_y(title.bottom() + 2.0);
    let tabs = tabs.with_max_y(tabs.top() + TABS);
    paint_tabs(painter, frame, tabs);
    let buttons = inside.with_min_y(inside.bottom() - BUTTONS);
    let sentences = inside.with_max_y(buttons.top() - 4.0);
    let sentences = sentences.with_min_y(sentences.bottom() - SENTENCES);
    let summary = inside.with_max_y(sentences.top());
    let summary = summary.with_min_y(summary.bottom() - SUMMARY);
    let code = inside
        .with_min_y(tabs.bottom() + 4.0)
        .with_max_y(summary.top() - 4.0);
    paint_code(painter, editor, code);
    paint_summary(painter, frame, summary);
    let status = frame.sources.status;
    let status = status.filter(|_| !editor.conflict());
    match status.and_then(|status| editor.predictions(status)) {
        Some(predictions) => paint_predictions(painter, editor, &predictions, sentences),
        None => paint_sentences(painter, editor, sentences),
    }
    paint_buttons(painter, frame, buttons);
}

/// What stands in the title: the exercise, or the file's name, with a sign while the text differs from it.
fn name(editor: &CodeEditor) -> String {
    if let Some(exercise) = editor.exercise() {
        return lang::text(exercise.title).into();
    }
    match editor.path().and_then(|path| path.file_name()) {
        None if editor.code() == Code::Kernel => tr!("A kernel of your own").into(),
        None => tr!("A round of your own").into(),
        Some(name) if editor.is_edited() => format!("● {}", life::shown(name)),
        Some(name) => life::shown(name),
    }
}

/// Paints what can be written, and the button for a new kernel.
fn paint_tabs(painter: &WidgetPainter, frame: &Frame<'_>, row: Rect) {
    let shown = frame.editor.code();
    let mut corner = row.left_top();
    for code in Code::ALL {
        let name = code.name().to_owned();
        let request = UiRequest::Editor(EditorRequest::Show(code));
        let is_shown = Some(code == shown);
        let right = choice_button(painter, corner, row.height(), name, is_shown, request);
        corner.x = right + 6.0;
    }
    let status = frame.sources.status.filter(|_| shown == Code::Kernel);
    if let Some(status) = status {
        corner.x += 12.0;
        let rung = rung_to_copy(status.setting.kernel);
        let name = tr!("New from {rung}", rung = rung.file);
        let request = UiRequest::Editor(EditorRequest::NewKernel);
        text_button(painter, corner, row.height(), name, request);
    }
}

fn paint_code(painter: &WidgetPainter, editor: &CodeEditor, rect: Rect) {
    painter.rect_filled(rect, 4.0, painter.palette.code_background);
    let inside = rect.shrink2(vec2(4.0, 6.0));
    let wrong = editor.wrong_lines();
    painter.lay_out(inside, "code editor", |ui| {
        // Another text begins at its top.
        let exercise = editor.exercise().map(|it| it.name);
        let of_text = (editor.code().extension(), editor.path(), exercise);
        let area = ScrollArea::vertical().id_salt(of_text);
        area.auto_shrink(false).show(ui, |ui| {
            if let Some(text) = lay_out_text(ui, painter, editor, &wrong) {
                painter.ask(UiRequest::Editor(EditorRequest::Edit(text)));
            }
        });
    });
}

/// Lays out the text and the numbers of its lines; the text that it was changed to.
fn lay_out_text(
    ui: &mut Ui,
    painter: &WidgetPainter,
    editor: &CodeEditor,
    wrong: &HashSet<u32>,
) -> Option<String> {
    let palette = &painter.palette;
    let mut text = editor.text().to_string();
    let (language, name) = match editor.code() {
        // Rhai's words are Rust's.
        Code::Round => ("rs", tr!("The script of the round")),
        Code::Kernel => ("cpp", tr!("The source of the kernel")),
    };
    let field_id = field(editor.code());
    let theme = code_theme(palette, TYPE);
    let mut layouter = |ui: &Ui, text: &dyn TextBuffer, width: f32| {
        let job = highlight(ui.ctx(), ui.style(), &theme, text.as_str(), language);
        ui.fonts_mut(|fonts| fonts.layout_job(wrapped(job, width)))
    };
    let mut margin = Margins::NONE;
    margin.inner_margin = Margin::ZERO;
    let marks = ui.painter().add(Shape::Noop);
    let row = ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.add_space(GUTTER);
        let size = vec2(ui.available_width(), ui.available_height());
        let field = TextEdit::multiline(&mut text).id(field_id);
        let field = field.layouter(&mut layouter).lock_focus(true).frame(margin);
        let field = field.cursor_at_end(false).desired_width(size.x);
        field.min_size(size).show(ui)
    });
    let shown = row.inner;
    let context = ui.ctx();
    context.accesskit_node_builder(field_id, |node| node.set_label(name));
    // Behind the text: the lines that are wrong, and the numbers of all.
    let is_wrong = |line: u32| wrong.contains(&line);
    let (mut number, mut is_first) = (1, true);
    let mut grounds = Vec::new();
    for row in &shown.galley.rows {
        let rect = row.rect().translate(shown.galley_pos.to_vec2());
        let all = Rect::from_x_y_ranges(ui.max_rect().x_range(), rect.y_range());
        let is_seen = ui.clip_rect().intersects(all);
        if is_wrong(number) && is_seen {
            let colour = translucent(palette.failed, 90);
            grounds.push(Shape::rect_filled(all, 0.0, colour));
        }
        let clip = ui.clip_rect().y_range().expand(1.0);
        let is_whole = clip.contains(all.top()) && clip.contains(all.bottom());
        if is_first && is_whole {
            let colour = if is_wrong(number) {
                palette.failed_text
            } else {
                palette.faint
            };
            let font = FontId::monospace(0.86 * TYPE);
            let at = pos2(rect.left() - 10.0, rect.center().y);
            let number = number.to_string();
            let painter = ui.painter();
            painter.text(at, Align2::RIGHT_CENTER, number, font, colour);
        }
        is_first = row.ends_with_newline;
        number += u32::from(is_first);
    }
    ui.painter().set(marks, Shape::Vec(grounds));
    shown.response.changed().then_some(text)
}

fn wrapped(mut job: LayoutJob, width: f32) -> LayoutJob {
    job.wrap.max_width = width;
    job
}

/// The colours of words, as listed code has them.
fn code_theme(palette: &Palette<Color32>, size: f32) -> CodeTheme {
    let mut theme = CodeTheme::dark(size);
    for (token, colour) in [
        (TokenType::Comment, palette.faint),
        (TokenType::Function, palette.accent),
        (TokenType::Keyword, palette.recorded),
        (TokenType::Literal, palette.value),
        (TokenType::StringLiteral, palette.running),
        (TokenType::Punctuation, palette.label),
    ] {
        theme.format_mut(token).color = colour;
    }
    theme
}

/// Paints in a line what was found, and whether it runs.
fn paint_summary(painter: &WidgetPainter, frame: &Frame<'_>, rect: Rect) {
    let palette = &painter.palette;
    let (text, colour) = match frame.editor.summary() {
        None if frame.editor.is_checking() => (tr!("Checking …").into(), palette.label),
        None => {
            let key = Action::from(ViewAction::RunRound).key();
            let text = tr!("{key} checks it, and runs it if it is right");
            (text, palette.label)
        }
        Some(text) if frame.editor.is_right() => (text, palette.running),
        Some(text) => (text, palette.failed_text),
    };
    let text = fitted(painter, &text, medium(15.0), colour, rect.width());
    put(painter, rect.left_center(), Align2::LEFT_CENTER, text);
}

/// Paints the first sentences about the text, as many as there is room for, and how many follow.
fn paint_sentences(painter: &WidgetPainter, editor: &CodeEditor, rect: Rect) {
    let palette = &painter.palette;
    let paragraph = |text: &str, colour| {
        let font = regular(14.0);
        paragraph(painter, text, font, colour, rect.width(), SENTENCE_LINES)
    };
    if editor.conflict() {
        let text = tr!("The file was changed by another program, and the text here was edited");
        let text = paragraph(text, palette.accent);
        return put(painter, rect.left_top(), Align2::LEFT_TOP, text);
    }
    let mut y = rect.top();
    for (at, sentence) in editor.sentences().enumerate() {
        let text = paragraph(&sentence, palette.value);
        let rest = editor.sentence_count() - at;
        let more = if rest > 1 { 18.0 } else { 0.0 };
        if at > 0 && y + text.size().y + more > rect.bottom() {
            let text = paragraph(&tr!("and {rest} more"), palette.label);
            return put(painter, pos2(rect.left(), y), Align2::LEFT_TOP, text);
        }
        let height = text.size().y;
        put(painter, pos2(rect.left(), y), Align2::LEFT_TOP, text);
        y += height + 2.0;
    }
}

/// Paints what is to be predicted with its buttons, what the window predicts, and what was measured.
fn paint_predictions(
    painter: &WidgetPainter,
    editor: &CodeEditor,
    texts: &PredictionTexts,
    rect: Rect,
) {
    let palette = &painter.palette;
    let line = |y: f32, text: &str, colour| {
        let text = fitted(painter, text, regular(14.0), colour, rect.width());
        put(painter, pos2(rect.left(), y), Align2::LEFT_TOP, text);
    };
    line(rect.top(), texts.question, palette.label);
    let mut corner = pos2(rect.left(), rect.top() + 20.0);
    for guess in Guess::ALL {
        let is_chosen = Some(editor.guessed() == Some(guess));
        let request = UiRequest::Editor(EditorRequest::Guess(guess));
        let name = guess.name().to_owned();
        let height = 22.0;
        let right = choice_button(painter, corner, height, name, is_chosen, request);
        corner.x = right + 6.0;
    }
    for (text, at) in texts.lines.iter().zip([45.0, 64.0]) {
        line(rect.top() + at, text, palette.value);
    }
}

/// Paints the buttons, and beside them whether the session runs this text.
fn paint_buttons(painter: &WidgetPainter, frame: &Frame<'_>, row: Rect) {
    let editor = frame.editor;
    let run = ViewAction::RunRound;
    let key = Action::from(run).key();
    let buttons = if editor.conflict() {
        let settle = |reload| UiRequest::Editor(EditorRequest::Settle { reload });
        [
            (tr!("Load the file").into(), settle(true)),
            (tr!("Keep this text").into(), settle(false)),
        ]
    } else {
        [
            (tr!("Run ({key})"), UiRequest::Act(run.into())),
            (
                tr!("Save (Ctrl+S)").into(),
                UiRequest::Editor(EditorRequest::Save),
            ),
        ]
    };
    let mut corner = row.left_top();
    for (name, request) in buttons {
        let right = text_button(painter, corner, row.height(), name, request);
        corner.x = right + 6.0;
    }
    let Some(is_current) = frame.sources.status.and_then(|it| editor.runs(it)) else {
        return;
    };
    let palette = &painter.palette;
    let (text, colour) = if is_current {
        (tr!("runs"), palette.running)
    } else {
        (tr!("edited since it ran"), palette.label)
    };
    let room = row.right() - corner.x;
    let text = fitted(painter, text, regular(14.0), colour, room);
    put(painter, row.right_center(), Align2::RIGHT_CENTER, text);
}
