//! Files where the desktop has no dialog for them: a path that is typed in, or a file to open that
//! is clicked in the list of those in the present folder.
//!
//! The dialog stays open until the file was read or written: what is typed meanwhile, and behind a
//! path that failed, is still a path.

use egui::text::CCursorRange;
use egui::text_edit::TextEditState;
use egui::{Event, ImeEvent, Key, Modifiers, RichText, ScrollArea, TextEdit};

use crate::view::dialogs::picker::{Item, LINE, show_item};
use crate::view::dialogs::{self, DialogContext, UiRequest};
use lang::tr;

/// Lines of the list that are seen at once, at most.
const LINES: f32 = 12.0;

/// What a path is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileTask {
    /// Its pattern or session is opened.
    Open,
    /// Cells are saved to it.
    Save,
}

/// The files of a folder that can be opened.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FileList {
    /// The folder's path.
    pub folder: String,
    /// The names of its patterns and sessions, the newest first; or why they are not known.
    pub names: Result<Vec<String>, String>,
    /// How many older ones are left out.
    pub left_out: usize,
}

/// The open dialog.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FileDialog {
    task: FileTask,
    typed: String,
    /// What can be clicked.
    list: Option<FileList>,
    /// Why the last try failed.
    why: Option<String>,
    /// Whether a path was entered, and nobody has said yet what came of it.
    pending: bool,
    /// Whether what stands in the field is only a proposal, which the first letter replaces.
    proposed: bool,
}

impl FileDialog {
    /// With a path to begin with, and why that failed if it did.
    pub(crate) fn new(task: FileTask, typed: String, why: Option<String>) -> FileDialog {
        FileDialog {
            task,
            typed,
            proposed: why.is_none(),
            why,
            list: None,
            pending: false,
        }
    }

    /// With files to click.
    pub(crate) fn listing(self, list: FileList) -> FileDialog {
        let list = Some(list);
        FileDialog { list, ..self }
    }

    /// Whether it waits for what comes of its path.
    pub(crate) fn is_pending(&self) -> bool {
        self.pending
    }

    /// Says why its path cannot be, and waits for another one.
    pub(crate) fn refuse(&mut self, why: String) {
        self.why = Some(why);
        self.pending = false;
    }

    /// Lays it out; whether it stays open.
    pub(super) fn show(&mut self, cx: DialogContext<'_>, requests: &mut Vec<UiRequest>) -> bool {
        let (heading, hint, button) = match self.task {
            FileTask::Save => (
                tr!("Save to"),
                tr!("a path that ends in .rle or .cells"),
                tr!("Save"),
            ),
            FileTask::Open => (
                tr!("Open a pattern in the selected panel, a session or a round"),
                tr!("the path of a .rle, .cells, .lif, .mc, .json or .rhai file"),
                tr!("Open"),
            ),
        };
        let left = dialogs::dialog(cx, ("file", heading), 0.08, 560.0, |ui| {
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
            if cx.is_top && !ui.memory(|memory| memory.has_focus(id)) {
                ui.memory_mut(|memory| memory.request_focus(id));
            }
            let field = TextEdit::singleline(&mut self.typed)
                .id(id)
                .hint_text(hint)
                .desired_width(f32::INFINITY);
            let field = ui.add(field).accessible_name(hint);
            if cx.is_top {
                dialogs::hold_focus(&field);
            }
            if let Some(why) = &self.why {
                ui.label(RichText::new(why).color(cx.palette.rejected));
            }
            let entered = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
            let done = ui.horizontal(|ui| {
                let done = ui.button(button).clicked() || entered;
                if ui.button(tr!("Cancel")).clicked() {
                    ui.close();
                }
                done
            });
            let clicked = self.list.as_ref().and_then(|list| list.show(ui, cx));
            let is_clicked = clicked.is_some();
            if let Some(path) = clicked {
                (self.typed, self.proposed, self.why) = (path, false, None);
            }
            let done = done.inner || is_clicked;
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

impl FileList {
    /// Lays it out; returns the path of the file that was clicked.
    fn show(&self, ui: &mut egui::Ui, cx: DialogContext<'_>) -> Option<String> {
        ui.add_space(6.0);
        let label = |ui: &mut egui::Ui, text: String| {
            let text = RichText::new(text).color(cx.palette.label);
            ui.add(egui::Label::new(text).wrap());
        };
        let folder = &self.folder;
        let names = match &self.names {
            Err(why) => {
                label(ui, tr!("The files in {folder} cannot be listed: {why}"));
                return None;
            }
            Ok(names) if names.is_empty() => {
                label(ui, tr!("No patterns or sessions in {folder}"));
                return None;
            }
            Ok(names) => names,
        };
        label(
            ui,
            tr!("Patterns and sessions in {folder}, the newest first"),
        );
        let mut clicked = None;
        let most = (LINES * LINE).min(0.5 * cx.screen.height());
        let height = (names.len() as f32 * LINE).min(most);
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            let scroll = ScrollArea::vertical().max_height(height);
            let scroll = scroll.min_scrolled_height(height).auto_shrink(false);
            scroll.show(ui, |ui| {
                for name in names {
                    let path = std::path::Path::new(folder).join(name);
                    let path = path.to_string_lossy().into_owned();
                    let item = Item::of(name.clone(), UiRequest::OpenFile(path.clone()));
                    if show_item(ui, cx, &item, None, ui.available_width()).clicked() {
                        clicked = Some(path);
                    }
                }
            });
        });
        if self.left_out > 0 {
            label(ui, tr!("{} older ones are not listed", self.left_out));
        }
        clicked
    }
}

/// Whether an event decides what becomes of a proposal: it is replaced, or taken up and mended.
fn decides(event: &Event) -> bool {
    match event {
        // Wayland sends empty ones all the time.
        Event::Ime(ImeEvent::Preedit { text, .. }) => !text.is_empty(),
        Event::Key { pressed, .. } | Event::PointerButton { pressed, .. } => *pressed,
        event => matches!(
            event,
            Event::Text(_) | Event::Paste(_) | Event::Cut | Event::Ime(_)
        ),
    }
}

/// A path that begins with `~/` is in the person's folder.
fn home(typed: &str) -> String {
    match (typed.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => typed.into(),
    }
}
