//! Dialogs in which something is typed or chosen: a file, a value, the values of a figure beside it, what can be
//! done with a panel, and whether the kernel in a session's file may run.
//!
//! A file is asked for where the desktop has no dialog for that: a path that is typed in, or a file to open that
//! is clicked in the list of those in the present folder. That dialog stays open until the file was read or
//! written: what is typed meanwhile, and behind a path that failed, is still a path.
//!
//! In a popup the focus of the keyboard is egui's: Tab and the arrows move it, Enter or Space chooses.

use std::sync::Arc;

use egui::{
    Event, Key, Label, Modifiers, Rect, RichText, ScrollArea, Slider, SliderClamping, TextEdit, Ui,
};

use crate::view::dialogs::picker::{Item, LINE, show_item};
use crate::view::dialogs::{self, DialogContext, UiRequest};
use lang::tr;
use session::{SessionAction, Status, StoredKernel};
use ui::actions::{Amount, Setting};
use ui::{Action, EditAction, ViewAction};

/// Lines of the list that are seen at once, at most.
const LINES: f32 = 12.0;

/// The file that cells are saved to where nothing else is said.
pub(crate) const PATTERN_FILE: &str = "pattern.rle";

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
    /// The path that is meant where nothing is typed.
    proposed: &'static str,
}

impl FileDialog {
    /// With a path to begin with, and why that failed if it did.
    pub(crate) fn new(task: FileTask, typed: String, why: Option<String>) -> FileDialog {
        FileDialog {
            task,
            typed,
            proposed: match task {
                FileTask::Open => "",
                FileTask::Save => PATTERN_FILE,
            },
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
            let shown = match self.proposed {
                "" => hint,
                proposed => proposed,
            };
            let field = TextEdit::singleline(&mut self.typed).hint_text(shown);
            let field = field.desired_width(f32::INFINITY);
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
                (self.typed, self.why) = (path, None);
            }
            let done = done.inner || is_clicked;
            let path = match self.typed.trim() {
                "" => self.proposed,
                typed => typed,
            };
            if done && !self.pending && !path.is_empty() {
                let path = home(path);
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
    fn show(&self, ui: &mut Ui, cx: DialogContext<'_>) -> Option<String> {
        ui.add_space(6.0);
        let label = |ui: &mut Ui, text: String| {
            let text = RichText::new(text).color(cx.palette.label);
            ui.add(Label::new(text).wrap());
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

/// A path that begins with `~/` is in the person's folder.
fn home(typed: &str) -> String {
    match (typed.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => typed.into(),
    }
}

/// The open question.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct KernelDialog(pub(crate) Arc<StoredKernel>);

impl KernelDialog {
    /// Lays it out; whether it stays open.
    pub(super) fn show(&mut self, cx: DialogContext<'_>, requests: &mut Vec<UiRequest>) -> bool {
        let StoredKernel { source, file, .. } = &*self.0;
        let mut stays = true;
        let left = dialogs::dialog(
            cx,
            ("kernel", tr!("Run the kernel in this file?")),
            0.06,
            900.0,
            |ui| {
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
                    requests.push(UiRequest::RunKernel(self.0.clone()));
                    stays = false;
                }
            },
        );
        stays && !left
    }
}

/// The width, in points; with kernels, which have a longer title each.
const WIDTH: f32 = 480.0;
const WIDTH_OF_KERNELS: f32 = 760.0;

/// What can be done with the selected panel.
const PANEL_MENU: [Action; 14] = [
    Action::View(ViewAction::ToggleSingle),
    Action::View(ViewAction::Fit),
    Action::View(ViewAction::ToggleMinimap),
    Action::Session(SessionAction::ResetPanel),
    Action::Edit(EditAction::FillRandomly),
    Action::Edit(EditAction::ClearSelection),
    Action::Edit(EditAction::SelectAll),
    Action::Edit(EditAction::CopyCells),
    Action::Edit(EditAction::PastePattern),
    Action::Edit(EditAction::ToggleShelf),
    Action::Edit(EditAction::OpenPattern),
    Action::Edit(EditAction::SavePattern),
    Action::View(ViewAction::SavePanelPicture),
    Action::View(ViewAction::ToggleMenu),
];

/// The open popup.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Popup {
    beside: Rect,
    /// None where it is of a panel.
    controls: Vec<Control>,
}

/// What changes a value.
#[derive(Clone, PartialEq, Debug)]
struct Control {
    setting: Setting,
    /// A field, for values that are no choice and no amount.
    field: Option<PromptDialog>,
    /// The amount to which a slider is dragged.
    dragged: Option<u64>,
}

impl Control {
    fn new(setting: &Setting) -> Control {
        let field = match setting {
            Setting::Size | Setting::Rule => Some(PromptDialog::new(*setting, String::new())),
            _ => None,
        };
        Control {
            setting: *setting,
            field,
            dragged: None,
        }
    }

    /// Lays it out; whether the popup stays open.
    fn show(
        &mut self,
        ui: &mut Ui,
        cx: DialogContext<'_>,
        status: &Status,
        requests: &mut Vec<UiRequest>,
    ) -> bool {
        let title = RichText::new(self.setting.title()).color(cx.palette.label);
        let title = ui.label(title).id;
        let entered = self
            .field
            .as_mut()
            .is_some_and(|field| field.show_field(ui, cx, requests, focus_is_free(ui)));
        let (it, setting) = (&cx.frame.sources, self.setting);
        let most = it.most_instances();
        if let Some(amount) = setting.amount(status, most) {
            self.show_amount(ui, &amount, title, |typed| {
                let read = setting.read(typed, most);
                requests.extend(read.map(|action| UiRequest::Act(action.into())));
            });
        }
        let choices = setting.choices(status).into_iter();
        let choices = choices.map(|choice| Item::of_position(choice.text.clone(), &choice, it));
        !entered & !show_lines(ui, cx, choices, requests)
    }

    /// Lays out a slider with its number; `set` is called with what is chosen by it.
    fn show_amount(
        &mut self,
        ui: &mut Ui,
        amount: &Amount,
        title: egui::Id,
        set: impl FnOnce(&str),
    ) {
        let mut value = self.dragged.unwrap_or(amount.now);
        ui.spacing_mut().slider_width = 0.7 * ui.available_width();
        let slider = Slider::new(&mut value, amount.bounds.clone())
            .logarithmic(*amount.bounds.start() > 0)
            .clamping(SliderClamping::Never)
            .update_while_editing(false)
            .suffix(amount.unit);
        let slider = ui.add(slider).labelled_by(title);
        if focus_is_free(ui) {
            slider.request_focus();
        }
        // A size that is dragged over is no wish: lattices are made for the last one.
        self.dragged = slider.dragged().then_some(value);
        let is_set = slider.drag_stopped() || slider.changed() && self.dragged.is_none();
        if is_set && value != amount.now {
            set(&format!("{value}{}", amount.unit));
        }
    }
}

impl Popup {
    /// The controls of the values that stand at this place.
    pub(crate) fn of_settings(settings: &[Setting], beside: Rect) -> Popup {
        Popup {
            beside,
            controls: settings.iter().map(Control::new).collect(),
        }
    }

    /// What can be done with the selected panel, in which this point lies.
    pub(crate) fn of_panel(at: egui::Pos2) -> Popup {
        Popup {
            beside: Rect::from_min_max(at, at),
            controls: Vec::new(),
        }
    }

    /// Lays it out; whether it stays open.
    pub(super) fn show(&mut self, cx: DialogContext<'_>, requests: &mut Vec<UiRequest>) -> bool {
        let Some(status) = cx.frame.sources.status else {
            return false;
        };
        let mut stays = true;
        let settings: Vec<Setting> = self.controls.iter().map(|it| it.setting).collect();
        let name = format!("popup {settings:?}");
        let width = if settings.contains(&Setting::Kernel) {
            WIDTH_OF_KERNELS
        } else {
            WIDTH
        };
        let left = dialogs::popup(cx, self.beside, &name, width, |ui, height| {
            let scroll = ScrollArea::vertical().max_height(height);
            scroll.min_scrolled_height(height).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 3.0;
                for control in &mut self.controls {
                    stays &= control.show(ui, cx, status, requests);
                }
                if self.controls.is_empty() {
                    let rows = PANEL_MENU.into_iter().filter_map(Action::row);
                    let items = rows.map(|row| Item::of_row(row, &cx.frame.sources));
                    stays &= !show_lines(ui, cx, items, requests);
                }
            });
        });
        stays && !left
    }
}

/// Lays out lines, each of which asks for something; whether one was chosen.
fn show_lines(
    ui: &mut Ui,
    cx: DialogContext<'_>,
    items: impl Iterator<Item = Item>,
    requests: &mut Vec<UiRequest>,
) -> bool {
    let mut lines = Vec::new();
    for item in items {
        let line = show_item(ui, cx, &item, None, ui.available_width());
        if line.clicked() {
            requests.push(item.request);
            return true;
        }
        let is_present_choice = item.state == Some(true) && item.position.is_empty();
        lines.push((is_present_choice, line));
    }
    let present = lines.iter().find(|(is_present, _)| *is_present);
    let present = present.or(lines.first());
    if let (Some((_, line)), true) = (present, focus_is_free(ui)) {
        line.request_focus();
        line.scroll_to_me(None);
    }
    false
}

/// Whether nothing has the keyboard's focus, as when a popup has just opened.
fn focus_is_free(ui: &Ui) -> bool {
    ui.memory(|memory| memory.focused().is_none())
}

/// The open field.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PromptDialog {
    setting: Setting,
    typed: String,
    /// Whether Enter was pressed with a text that is no such value.
    refused: bool,
    /// Keys typed after Enter in the same frame, which belong to the next frame.
    later: Vec<Event>,
}

impl PromptDialog {
    /// A field with this typed already.
    pub(crate) fn new(setting: Setting, typed: String) -> PromptDialog {
        PromptDialog {
            setting,
            typed,
            refused: false,
            later: Vec::new(),
        }
    }

    /// Lays it out; whether it stays open.
    pub(super) fn show(&mut self, cx: DialogContext<'_>, requests: &mut Vec<UiRequest>) -> bool {
        let mut entered = false;
        let left = dialogs::dialog(cx, ("prompt", self.setting.title()), 0.12, 420.0, |ui| {
            entered = self.show_field(ui, cx, requests, cx.is_top);
        });
        !entered && !left
    }

    /// Lays out the field and what is said below it, with the focus if it `takes_focus`; whether a
    /// value was entered.
    pub(super) fn show_field(
        &mut self,
        ui: &mut Ui,
        cx: DialogContext<'_>,
        requests: &mut Vec<UiRequest>,
        takes_focus: bool,
    ) -> bool {
        let id = ui.next_auto_id();
        let has_focus = takes_focus || ui.memory(|memory| memory.has_focus(id));
        // Before the field sees it: it would lose its focus.
        let entered = has_focus && ui.input_mut(|input| self.up_to_enter(&mut input.events));
        if !self.later.is_empty() {
            ui.ctx().request_repaint();
        }
        let field = TextEdit::singleline(&mut self.typed).hint_text(self.setting.example());
        let field = ui.add(field.id(id).desired_width(f32::INFINITY));
        let field = field.accessible_name(self.setting.title());
        if takes_focus {
            dialogs::hold_focus(&field);
        }
        self.refused &= !field.changed();
        let sources = cx.frame.sources;
        let most = sources.most_instances();
        let read = self.setting.read(&self.typed, most);
        if let (Ok(action), true) = (&read, entered) {
            requests.push(UiRequest::Act((*action).into()));
            return true;
        }
        self.refused |= entered && read.is_err();
        match (read, sources.status) {
            (Err(why), _) if self.refused => {
                ui.label(RichText::new(why).color(cx.palette.accent));
            }
            (Err(why), _) if !self.typed.is_empty() => drop(ui.label(why)),
            (_, Some(status)) => drop(ui.label(self.setting.present(status, most))),
            (_, None) => {}
        }
        false
    }

    /// Leaves of the events those in front of Enter, and keeps those behind it for the next frame;
    /// whether Enter is among them.
    fn up_to_enter(&mut self, events: &mut Vec<Event>) -> bool {
        events.splice(0..0, std::mem::take(&mut self.later));
        let is_enter = |event: &Event| {
            let Event::Key { key, pressed, .. } = event else {
                return false;
            };
            *key == Key::Enter && *pressed
        };
        let Some(at) = events.iter().position(is_enter) else {
            return false;
        };
        self.later = events.split_off(at + 1);
        events.truncate(at);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::Modifiers;

    #[test]
    fn what_is_typed_behind_enter_is_for_later() {
        let key = |key| Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        let (typed, enter) = (Event::Text("7".into()), key(Key::Enter));
        let mut field = PromptDialog::new(Setting::Generation, String::new());
        let mut events = vec![typed.clone(), enter.clone(), key(Key::Backspace), enter];
        assert!(field.up_to_enter(&mut events));
        assert_eq!(events, [typed]);
        let mut next = Vec::new();
        assert!(field.up_to_enter(&mut next));
        assert_eq!(next, [key(Key::Backspace)]);
        assert!(!field.up_to_enter(&mut Vec::new()));
    }
}
