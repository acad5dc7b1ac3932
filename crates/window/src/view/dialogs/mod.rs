//! Windows of egui's own over the scene: they take keys and the mouse, and ask for actions.
//!
//! While a dialog is open, the topmost one takes the keys, and no key acts on the window but those
//! that the action table lets act [in dialogs](ui::actions::Row::in_dialogs); while the mouse is
//! over a dialog, no click, drag or wheel reaches the panels.
//!
//! A path is asked for where the desktop has no dialog for files. That dialog stays open until the file was read
//! or written: what is typed meanwhile, and behind a path that failed, is still a path.
//!
//! In a form the focus of the keyboard is egui's: Tab and the arrows move it, Enter or Space chooses.

mod picker;

pub(crate) use picker::{DialogContext, Picker};
use picker::{Item, LINE, dialog, hold_focus, show_item};

use egui::*;
use std::mem::{Discriminant, discriminant, take};
use std::sync::Arc;

use crate::view::requests::{UiRequest, ask};
use lang::tr;
use life::Kind;
use session::{SessionAction, StoredKernel};
use ui::actions::{Setting, TABLE, Topic};
use ui::{Action, EditAction, ViewAction};

/// A dialog that is open.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Dialog {
    /// The command palette, with lectures, lessons and exercises beside the actions.
    Commands(Picker),
    /// The lectures, the lessons and the exercises.
    Lessons(Picker),
    /// A file that is chosen or a path that is typed in.
    File(FileDialog),
    /// The shelf.
    Shelf(Picker),
    /// What changes values, or what can be done with a panel.
    Form(Form),
    /// The question whether a kernel may run.
    Kernel(Arc<StoredKernel>),
    /// The action table by topic, for those who do not know the keys.
    Menu(Picker),
    /// The keys.
    Help(Picker),
}

/// The dialogs that are open, one of a kind; they live as long as the window, or as the off-screen
/// renderer.
#[derive(Debug, Default)]
pub(crate) struct Dialogs {
    /// The topmost last.
    open: Vec<Dialog>,
    /// The kinds of those that were open in the last frame, and the frame from which on they were.
    since: (Vec<Discriminant<Dialog>>, u64),
    /// Keys typed before the dialog that they are meant for was laid out.
    held: Vec<Event>,
}

impl Dialog {
    /// Lays it out; whether it stays open.
    fn show(&mut self, cx: DialogContext<'_>) -> bool {
        let it = cx.app;
        let one = f32::INFINITY;
        let (stays, picked) = match self {
            Dialog::File(file) => return file.show(cx),
            Dialog::Form(form) => return form.show(cx),
            Dialog::Kernel(kernel) => return show_kernel(kernel, cx),
            Dialog::Commands(picker) => {
                let items = |_| picker::commands(it);
                picker.show(cx, tr!("Find a command"), one, &[], false, items)
            }
            Dialog::Lessons(picker) => {
                let items = |_| picker::lessons(it).collect();
                let title = tr!("Lectures, lessons and exercises");
                picker.show(cx, title, one, &[], true, items)
            }
            Dialog::Shelf(picker) => {
                let title = tr!("Patterns: click one to take it, then click a panel to place it");
                let kinds = Kind::ALL.map(picker::kind_title);
                let tabs = Vec::from_iter([tr!("All")].into_iter().chain(kinds));
                let kind = |tab: usize| Some(Kind::ALL[tab.checked_sub(1)?]);
                let patterns = |tab| picker::patterns(kind(tab));
                picker.show(cx, title, 260.0, &tabs, true, patterns)
            }
            Dialog::Menu(picker) => {
                let tabs = Topic::ALL.map(Topic::title);
                let rows = |tab: usize| Topic::ALL[tab].rows().map(Item::Acts).collect();
                picker.show(cx, tr!("Menu"), one, &tabs, false, rows)
            }
            Dialog::Help(picker) => {
                let title = tr!("Keyboard shortcuts");
                let (stays, picked) = picker.show(cx, title, 280.0, &[], true, |_| {
                    // What a lecture changes comes first.
                    let mut rows = Vec::from_iter(&*TABLE);
                    rows.sort_by_key(|row| row.topic != Topic::Switches);
                    rows.into_iter().map(Item::Acts).collect()
                });
                // Any row closes it; these do no more.
                let closing = [ViewAction::ToggleHelp, ViewAction::Escape];
                let closing = closing.map(|it| UiRequest::Act(it.into()));
                (stays, picked.filter(|it| !closing.contains(it)))
            }
        };
        if let Some(picked) = picked {
            ask(cx.context, picked);
        }
        stays
    }

    /// Whether it lists actions.
    fn is_list(&self) -> bool {
        use Dialog::*;
        matches!(self, Commands(_) | Lessons(_) | Menu(_) | Help(_))
    }

    fn is_of_kind(&self, other: &Dialog) -> bool {
        discriminant(self) == discriminant(other)
    }
}

impl Dialogs {
    /// With this dialog open.
    pub(crate) fn of(dialog: Dialog) -> Dialogs {
        Dialogs {
            open: vec![dialog],
            ..Dialogs::default()
        }
    }

    /// Opens a dialog over the others, in place of one of its kind; a list of actions, in place of
    /// any other such list.
    pub(crate) fn open(&mut self, dialog: Dialog) {
        let replaces =
            |other: &Dialog| other.is_of_kind(&dialog) || other.is_list() && dialog.is_list();
        self.open.retain(|other| !replaces(other));
        self.open.push(dialog);
    }

    /// Closes the dialog of this one's kind; opens this one if there is none.
    pub(crate) fn toggle(&mut self, dialog: Dialog) {
        match self.open.iter().position(|other| other.is_of_kind(&dialog)) {
            Some(at) => drop(self.open.remove(at)),
            None => self.open(dialog),
        }
    }

    /// Closes the topmost dialog.
    pub(crate) fn close_top(&mut self) {
        self.open.pop();
    }

    /// Whether keys are for a dialog, and not for the window.
    pub(crate) fn takes_keys(&self) -> bool {
        !self.open.is_empty()
    }

    /// The field whose path was entered, while it waits for what comes of that.
    pub(crate) fn pending_file(&mut self) -> Option<&mut FileDialog> {
        self.open.iter_mut().find_map(|dialog| match dialog {
            Dialog::File(file) => Some(file).filter(|file| file.pending),
            _ => None,
        })
    }

    /// Closes that field: its path was good.
    pub(crate) fn close_pending_file(&mut self) {
        self.open
            .retain(|dialog| !matches!(dialog, Dialog::File(file) if file.pending));
    }

    /// Lays out what is open, the topmost last.
    ///
    /// Where frames are slow, several keys fall between the one that opens a dialog and its first
    /// frame. In that one egui lays it out unseen and disabled, to learn its size, so that a field takes
    /// no keys though it has the focus; and where egui lays a frame out again (`request_discard`), it
    /// has no events the second time. The keys are kept for the next frame. So are the keys after an
    /// Enter: a field takes the text as it is after all keys of a frame.
    pub(crate) fn show(&mut self, cx: DialogContext<'_>) {
        let (kinds, frame) = (
            self.open.iter().map(discriminant).collect(),
            cx.context.cumulative_frame_nr(),
        );
        if self.since.0 != kinds {
            self.since = (kinds, frame);
        }
        let is_new = self.since.1 == frame;
        let Some(top) = self.open.len().checked_sub(1) else {
            return self.held.clear();
        };
        self.held.extend(take_keys(cx.context));
        let is_enter = |it: &Event| {
            matches!(
                it,
                Event::Key {
                    key: Key::Enter,
                    pressed: true,
                    ..
                }
            )
        };
        let entered = self.held.iter().position(is_enter);
        let count = match entered {
            _ if is_new => 0,
            Some(at) => at + 1,
            None => self.held.len(),
        };
        let mut keys = self.held.drain(..count).collect();
        if !self.held.is_empty() {
            cx.context.request_repaint();
        }
        let mut at = 0;
        self.open.retain_mut(|dialog| {
            let is_top = at == top;
            at += 1;
            if is_top {
                cx.context.input_mut(|input| input.events.append(&mut keys));
            }
            let is_new = is_new && is_top;
            let cx = DialogContext {
                is_top,
                is_new,
                ..cx
            };
            dialog.show(cx)
        });
    }
}

/// Takes the keys out of a frame's events.
fn take_keys(context: &Context) -> Vec<Event> {
    use Event::*;
    let is_typed =
        |it: &mut Event| matches!(it, Key { .. } | Text(_) | Ime(_) | Copy | Cut | Paste(_));
    context.input_mut(|input| input.events.extract_if(.., is_typed).collect())
}

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
    pending: bool,
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
    fn show(&mut self, cx: DialogContext<'_>) -> bool {
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
        let left = dialog(cx, ("file", heading), None, WIDTH, |ui| {
            let shown = if proposed.is_empty() { hint } else { proposed };
            let field = TextEdit::singleline(&mut self.typed).hint_text(shown);
            let field = field.desired_width(f32::INFINITY);
            let field = ui.add(field).accessible_name(hint);
            if cx.is_top {
                hold_focus(&field);
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
fn show_kernel(kernel: &Arc<StoredKernel>, cx: DialogContext<'_>) -> bool {
    let StoredKernel { source, file, .. } = &**kernel;
    let mut stays = true;
    let title = ("kernel", tr!("Run the kernel in this file?"));
    let left = dialog(cx, title, None, 900.0, |ui| {
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
    fn show(&mut self, cx: DialogContext<'_>) -> bool {
        let settings = Vec::from_iter(self.fields.iter().map(|it| it.setting));
        let title = match settings.first() {
            Some(setting) => setting.title(),
            None => tr!("selected panel"),
        };
        let name = format!("form {settings:?}");
        let mut is_done = false;
        let left = dialog(
            cx,
            (&name, &lang::sentence_case(title)),
            self.beside,
            WIDTH,
            |ui| {
                let scroll = ScrollArea::vertical().min_scrolled_height(0.78 * cx.screen.height());
                scroll.auto_shrink([false, true]).show(ui, |ui| {
                    ui.spacing_mut().item_spacing.y = 3.0;
                    // The first one, as when a form has just opened.
                    let mut takes_focus = cx.is_new || ui.memory(|it| it.focused().is_none());
                    for (at, field) in self.fields.iter_mut().enumerate() {
                        if at > 0 {
                            ui.add_space(8.0);
                            ui.heading(lang::sentence_case(field.setting.title()));
                        }
                        is_done |= field.show(ui, cx, &mut takes_focus);
                    }
                    if settings.is_empty() {
                        let rows = PANEL_MENU.into_iter().filter_map(Action::row);
                        is_done |= show_lines(ui, cx, rows.map(Item::Acts), &mut takes_focus);
                    }
                });
            },
        );
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
            if take(takes_focus) {
                hold_focus(&field);
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
        let size = vec2(ui.available_width(), LINE);
        let line = show_item(ui, cx, item, false, None, size);
        if line.clicked() {
            ask(cx.context, item.request());
            return true;
        }
        // The present choice before the first one.
        let is_present = matches!(item, Item::Sets(_, position) if position.is_on);
        first = first.filter(|_| !is_present).or(Some(line));
    }
    if let Some(line) = first
        && take(takes_focus)
    {
        line.request_focus();
        line.scroll_to_me(None);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_list_of_actions_is_open_at_a_time() {
        let help = || Dialog::Help(Picker::default());
        let mut dialogs = Dialogs::of(Dialog::Menu(Picker::default()));
        dialogs.toggle(Dialog::Shelf(Picker::default()));
        dialogs.toggle(help());
        dialogs.close_top();
        assert_eq!(dialogs.open, [Dialog::Shelf(Picker::default())]);
        dialogs.toggle(help());
        dialogs.toggle(help());
        assert_eq!(dialogs.open.len(), 1);
    }
}
