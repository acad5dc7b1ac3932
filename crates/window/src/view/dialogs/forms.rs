//! Dialogs in which something is typed or chosen: a file, values, what can be done with a panel, and whether the
//! kernel in a session's file may run.
//!
//! A path is asked for where the desktop has no dialog for files. That dialog stays open until the file was read
//! or written: what is typed meanwhile, and behind a path that failed, is still a path.
//!
//! In a form the focus of the keyboard is egui's: Tab and the arrows move it, Enter or Space chooses.

use std::sync::Arc;

use egui::*;

use crate::view::dialogs::picker::{Item, show_item};
use crate::view::dialogs::{self, DialogContext, UiRequest};
use crate::view::widgets::ask;
use lang::tr;
use session::{SessionAction, StoredKernel};
use ui::actions::Setting;
use ui::{Action, EditAction, ViewAction};

/// The width of a form, in points.
const WIDTH: f32 = 620.0;

/// The file that cells are saved to where nothing else is said.
pub(crate) const PATTERN_FILE: &str = "pattern.rle";

/// What a path is for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum FileTask {
    /// Its pattern or session is opened.
    Open,
    /// Cells are saved to it.
    Save,
}

/// The open dialog.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FileDialog {
    task: FileTask,
    typed: String,
    /// Why the last try failed.
    why: Option<String>,
    /// Whether a path was entered, and nobody has said yet what came of it.
    pub(super) pending: bool,
}

impl FileDialog {
    /// With a path to begin with, and why that failed if it did.
    pub(crate) fn new(task: FileTask, typed: String, why: Option<String>) -> FileDialog {
        FileDialog {
            task,
            typed,
            why,
            pending: false,
        }
    }

    /// Says why its path cannot be, and waits for another one.
    pub(crate) fn refuse(&mut self, why: String) {
        self.why = Some(why);
        self.pending = false;
    }

    /// Lays it out; whether it stays open.
    pub(super) fn show(&mut self, cx: DialogContext<'_>) -> bool {
        let (heading, hint, button, proposed) = match self.task {
            FileTask::Save => (
                tr!("Save to"),
                tr!("a path that ends in .rle or .cells"),
                tr!("Save"),
                PATTERN_FILE,
            ),
            FileTask::Open => (
                tr!("Open a pattern in the selected panel, a session or a round"),
                tr!("the path of a .rle, .cells, .lif, .mc, .json or .rhai file"),
                tr!("Open"),
                "",
            ),
        };
        let left = dialogs::dialog(cx, ("file", heading), None, WIDTH, |ui| {
            let shown = if proposed.is_empty() { hint } else { proposed };
            let field = TextEdit::singleline(&mut self.typed).hint_text(shown);
            let field = field.desired_width(f32::INFINITY);
            let field = ui.add(field).accessible_name(hint);
            if cx.is_top {
                dialogs::hold_focus(&field);
            }
            if let Some(why) = &self.why {
                ui.label(RichText::new(why).color(cx.palette.rejected));
            }
            let mut done = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
            ui.horizontal(|ui| {
                done |= ui.button(button).clicked();
                if ui.button(tr!("Cancel")).clicked() {
                    ui.close();
                }
            });
            let path = match self.typed.trim() {
                "" => proposed,
                typed => typed,
            };
            if done && !self.pending && !path.is_empty() {
                let path = home(path);
                let request = match self.task {
                    FileTask::Open => UiRequest::OpenFile(path),
                    FileTask::Save => UiRequest::SaveFile(path),
                };
                ask(cx.context, request);
                self.pending = true;
            }
        });
        !left
    }
}

/// A path that begins with `~/` is in the person's folder.
fn home(typed: &str) -> String {
    match (typed.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => typed.into(),
    }
}

/// Asks whether a kernel may run; whether the question stays open.
pub(super) fn show_kernel(kernel: &Arc<StoredKernel>, cx: DialogContext<'_>) -> bool {
    let StoredKernel { source, file, .. } = &**kernel;
    let mut stays = true;
    let title = ("kernel", tr!("Run the kernel in this file?"));
    let left = dialogs::dialog(cx, title, None, 900.0, |ui| {
        ui.label(tr!(
            "{file} has this kernel ({lines} lines). It is code and would run with your rights; it was not run here before.",
            lines = source.lines().count()
        ));
        let text = lang::escape_controls(source, &['\n', '\t']);
        let height = 0.6 * cx.screen.height();
        let lines = ScrollArea::both().max_height(height);
        lines.min_scrolled_height(height).show(ui, |ui| {
            ui.add(Label::new(RichText::new(text).monospace()).extend());
        });
        // No key: the question may come while something else is typed.
        if ui.button(tr!("Run it")).clicked() {
            ask(cx.context, UiRequest::RunKernel(kernel.clone()));
            stays = false;
        }
    });
    stays && !left
}

/// What can be done with the selected panel.
const PANEL_MENU: [Action; 14] = {
    use Action::{Edit, Session, View};
    use EditAction::*;
    use ViewAction::*;
    [
        View(ToggleSingle),
        View(Fit),
        View(ToggleMinimap),
        Session(SessionAction::ResetPanel),
        Edit(FillRandomly),
        Edit(ClearSelection),
        Edit(SelectAll),
        Edit(CopyCells),
        Edit(PastePattern),
        Edit(ToggleShelf),
        Edit(OpenPattern),
        Edit(SavePattern),
        View(SavePanelPicture),
        View(ToggleMenu),
    ]
};

/// Values that are typed in or chosen.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Form {
    /// What it stands below; in the middle of the window where that is none.
    beside: Option<Rect>,
    /// None where it is of a panel.
    fields: Vec<Field>,
}

/// A value, with what is typed for it.
#[derive(Clone, PartialEq, Debug)]
struct Field {
    setting: Setting,
    typed: String,
    /// Whether Enter was pressed with a text that is no such value.
    refused: bool,
}

impl Form {
    /// For a value, with this typed already.
    pub(crate) fn prompt(setting: Setting, typed: String) -> Form {
        let field = Field {
            setting,
            typed,
            refused: false,
        };
        Form {
            beside: None,
            fields: vec![field],
        }
    }

    /// For the values that stand at this place.
    pub(crate) fn of_settings(settings: &[Setting], beside: Rect) -> Form {
        let field = |setting: &Setting| Form::prompt(*setting, String::new()).fields;
        Form {
            beside: Some(beside),
            fields: settings.iter().flat_map(field).collect(),
        }
    }

    /// What can be done with the selected panel, in which this point lies.
    pub(crate) fn of_panel(at: Pos2) -> Form {
        Form::of_settings(&[], Rect::from_min_max(at, at))
    }

    /// Lays it out; whether it stays open.
    pub(super) fn show(&mut self, cx: DialogContext<'_>) -> bool {
        let settings = Vec::from_iter(self.fields.iter().map(|it| it.setting));
        let title = match settings.first() {
            Some(setting) => setting.title(),
            None => tr!("selected panel"),
        };
        let name = format!("form {settings:?}");
        let mut is_done = false;
        let left = dialogs::dialog(cx, (&name, title), self.beside, WIDTH, |ui| {
            let scroll = ScrollArea::vertical().max_height(0.66 * cx.screen.height());
            scroll.auto_shrink([false, true]).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 3.0;
                // The first one, as when a form has just opened.
                let mut takes_focus = cx.is_new || ui.memory(|it| it.focused().is_none());
                for (at, field) in self.fields.iter_mut().enumerate() {
                    if at > 0 {
                        ui.add_space(8.0);
                        ui.heading(field.setting.title());
                    }
                    is_done |= field.show(ui, cx, &mut takes_focus);
                }
                if settings.is_empty() {
                    let rows = PANEL_MENU.into_iter().filter_map(Action::row);
                    is_done |= show_lines(ui, cx, rows.map(Item::Acts), &mut takes_focus);
                }
            });
        });
        !is_done && !left
    }
}

impl Field {
    /// Lays out a field for what can be typed, with what is said below it, and what can be chosen; whether
    /// either was done.
    fn show(&mut self, ui: &mut Ui, cx: DialogContext<'_>, takes_focus: &mut bool) -> bool {
        let (status, setting) = (cx.app.status.as_deref(), self.setting);
        if Setting::TYPED.contains(&setting) {
            let id = ui.next_auto_id();
            // Before the field sees it: it would lose its focus.
            let entered = ui.memory(|memory| memory.has_focus(id))
                && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
            let field = TextEdit::singleline(&mut self.typed).hint_text(setting.example());
            let field = ui.add(field.id(id).desired_width(f32::INFINITY));
            let field = field.accessible_name(setting.title());
            if std::mem::take(takes_focus) {
                dialogs::hold_focus(&field);
            }
            self.refused &= !field.changed();
            match (setting.read(&self.typed), status) {
                (Ok(action), _) if entered => {
                    ask(cx.context, UiRequest::Act(action.into()));
                    return true;
                }
                (Err(why), _) if entered || self.refused => {
                    self.refused = true;
                    ui.label(RichText::new(why).color(cx.palette.accent));
                }
                (Err(why), _) if !self.typed.is_empty() => drop(ui.label(why)),
                (_, Some(status)) => drop(ui.label(setting.present(status))),
                (_, None) => {}
            }
        }
        let choices = status.map_or(Vec::new(), |status| setting.choices(status));
        let choices = choices.into_iter().map(|it| Item::Sets(None, it));
        show_lines(ui, cx, choices, takes_focus)
    }
}

/// Lays out lines, each of which asks for something; whether one was chosen.
fn show_lines(
    ui: &mut Ui,
    cx: DialogContext<'_>,
    items: impl Iterator<Item = Item>,
    takes_focus: &mut bool,
) -> bool {
    let mut first = None;
    for item in items {
        let line = show_item(ui, cx, item, false, None, ui.available_width());
        if line.clicked() {
            ask(cx.context, item.request());
            return true;
        }
        // The present choice before the first one.
        let is_present = matches!(item, Item::Sets(_, position) if position.is_on);
        first = first.filter(|_| !is_present).or(Some(line));
    }
    if let Some(line) = first
        && std::mem::take(takes_focus)
    {
        line.request_focus();
        line.scroll_to_me(None);
    }
    false
}
