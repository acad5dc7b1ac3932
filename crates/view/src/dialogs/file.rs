//! A path that is typed in, where the desktop has no dialog for files.
//!
//! The field stays open until the file was read or written: what is typed meanwhile, and behind a
//! path that failed, is still a path.

use egui::text::CCursorRange;
use egui::text_edit::TextEditState;
use egui::{Event, Key, Modifiers, RichText, TextEdit};

use crate::dialogs::{DialogContext, UiRequest, style};
use lang::tr;

/// What a path is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileTask {
    /// Its pattern or session is opened.
    Open,
    /// Cells are saved to it.
    Save,
}

/// The open field.
#[derive(Clone, PartialEq, Debug)]
pub struct FileDialog {
    task: FileTask,
    typed: String,
    /// Why the last try failed.
    why: Option<String>,
    /// Whether a path was entered, and nobody has said yet what came of it.
    pending: bool,
    /// Whether what stands in the field is only a proposal, which the first letter replaces.
    proposed: bool,
}

impl FileDialog {
    /// With a path to begin with, and why that failed if it did.
    pub fn new(task: FileTask, typed: String, why: Option<String>) -> FileDialog {
        FileDialog {
            task,
            typed,
            proposed: why.is_none(),
            why,
            pending: false,
        }
    }

    /// Whether it waits for what comes of its path.
    pub fn is_pending(&self) -> bool {
        self.pending
    }

    /// Says why its path cannot be, and waits for another one.
    pub fn refuse(&mut self, why: String) {
        self.why = Some(why);
        self.pending = false;
    }

    /// Lays it out; whether it stays open.
    pub(super) fn show(
        &mut self,
        context: &egui::Context,
        cx: DialogContext<'_>,
        requests: &mut Vec<UiRequest>,
    ) -> bool {
        let left = style::dialog(context, cx, ("file", Some(0.08), 560.0), |ui| {
            let (heading, hint, button) = match self.task {
                FileTask::Save => (
                    tr!("Save to"),
                    tr!("a path that ends in .rle, .cells, .lif or .mc"),
                    tr!("Save"),
                ),
                FileTask::Open => (
                    tr!("Open a pattern in the selected panel, or a session"),
                    tr!("the path of a .rle, .cells, .lif, .mc or .json file"),
                    tr!("Open"),
                ),
            };
            ui.heading(heading);
            let id = ui.make_persistent_id("path");
            // egui forgets the selection of a field that is without the focus for a moment: a proposal
            // is selected, and has the focus, before every letter that may be its first.
            if self.proposed {
                let mut state = TextEditState::load(ui.ctx(), id).unwrap_or_default();
                let all = CCursorRange::select_all_str(&self.typed);
                state.cursor.set_char_range(Some(all));
                state.store(ui.ctx(), id);
                self.proposed = !ui.input(|input| input.events.iter().any(decides));
            }
            if cx.is_top {
                ui.memory_mut(|memory| memory.request_focus(id));
            }
            let field = TextEdit::singleline(&mut self.typed)
                .id(id)
                .hint_text(hint)
                .desired_width(f32::INFINITY);
            let field = ui.add(field);
            if cx.is_top {
                field.request_focus();
            }
            if let Some(why) = &self.why {
                ui.label(RichText::new(why).color(cx.palette.rejected));
            }
            let entered = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
            let done = ui.button(button).clicked() || entered;
            if done && !self.pending && !self.typed.trim().is_empty() {
                let path = home(self.typed.trim());
                requests.push(match self.task {
                    FileTask::Open => UiRequest::OpenFile(path),
                    FileTask::Save => UiRequest::SaveFile(path),
                });
                self.pending = true;
            }
        });
        !left
    }
}

/// Whether an event decides what becomes of a proposal: it is replaced, or taken up and mended.
fn decides(event: &Event) -> bool {
    matches!(
        event,
        Event::Key { pressed: true, .. }
            | Event::Text(_)
            | Event::Paste(_)
            | Event::Cut
            | Event::Ime(_)
            | Event::PointerButton { pressed: true, .. }
    )
}

/// A path that begins with `~/` is in the person's folder.
fn home(typed: &str) -> String {
    match (typed.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => typed.into(),
    }
}
