//! Windows of egui's own over the scene: they take keys and the mouse, and ask for actions.
//!
//! While a dialog is open, the topmost one takes the keys, and no key acts on the window but those
//! that the action table lets act [in dialogs](ui::actions::Row::in_dialogs); while the mouse is
//! over a dialog, no click, drag or wheel reaches the panels.

mod forms;
mod picker;

pub(crate) use forms::{
    FileDialog, FileList, FileTask, KernelDialog, PATTERN_FILE, Popup, PromptDialog,
};
pub(crate) use picker::Picker;

use egui::{
    Align, Align2, Area, Color32, Context, Event, Id, Layout, Modal, Order, Rect, Response, Sense,
    Ui, UiKind, pos2, vec2,
};
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use crate::view::Frame;
use lang::tr;
use lesson::ExerciseProgress;
use life::{Kind, Shelved};
use picker::Look;
use session::StoredKernel;
use ui::actions::{Setting, Topic};
use ui::code_editor::{Code, Guess};
use ui::theme::Palette;
use ui::{Action, ViewAction};

/// A dialog that is open.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Dialog {
    /// The command palette, with lessons and exercises beside the actions.
    Commands(Picker, ExerciseProgress),
    /// The lessons and the exercises.
    Lessons(Picker, ExerciseProgress),
    /// A file that is chosen or a path that is typed in.
    File(FileDialog),
    /// The shelf.
    Shelf(Picker),
    /// What changes a figure, or what can be done with a panel.
    Popup(Popup),
    /// A value that is typed in.
    Prompt(PromptDialog),
    /// The question whether a kernel may run.
    Kernel(KernelDialog),
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
    /// Keys typed before the dialog that they are meant for was laid out.
    key_buffer: KeyBuffer,
}

/// What a person asked for by a widget.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum UiRequest {
    /// As if its key had been pressed.
    Act(Action),
    /// The controls of these values, beside the place where they stand.
    Change(&'static [Setting], Rect),
    /// The file that was chosen or whose path was typed in is to be opened.
    OpenFile(String),
    /// Cells are to be saved to a path that was typed in.
    SaveFile(String),
    /// A pattern was taken from the shelf.
    Shelved(&'static Shelved),
    /// The lesson of this place in their list.
    Lesson(usize),
    /// The exercise of this place among them.
    Exercise(usize),
    /// The kernel that came with a session may run.
    RunKernel(Arc<StoredKernel>),
    /// The ladder shows the source of this rung, or its chart again.
    ShowSource(Option<usize>),
    /// The ladder shows the PTX of a kernel of the user's own, or its source again.
    ShowPtx(bool),
    /// The text in the editor was changed to this one.
    EditCode(String),
    /// The text in the editor is to be saved.
    SaveCode,
    /// The text in the editor was changed and its file's, too: the file's replaces it, or it stays.
    SettleCode {
        /// Whether the file's does.
        reload: bool,
    },
    /// How fast the user predicts the round to be.
    Guess(Guess),
    /// The editor shows the round or the kernel.
    ShowCode(Code),
    /// A copy of the rung in use takes the kernel's place in the editor.
    NewKernel,
    /// The timeline keeps the round that it shows, or goes on.
    FreezeTimeline,
}

/// What a dialog is laid out with.
#[derive(Clone, Copy)]
pub(crate) struct DialogContext<'a> {
    /// egui's own.
    pub context: &'a Context,
    /// What is shown beneath it.
    pub frame: &'a Frame<'a>,
    /// The frame's colours.
    pub palette: &'a Palette<Color32>,
    /// The whole window, in pixels.
    pub screen: Rect,
    /// Whether nothing lies over it, so that keys are its own.
    pub is_top: bool,
}

impl Dialog {
    /// Lays it out; whether it stays open.
    fn show(&mut self, cx: DialogContext<'_>, requests: &mut Vec<UiRequest>) -> bool {
        let it = &cx.frame.sources;
        match self {
            Dialog::Commands(picker, solved) => {
                let look = Look {
                    name: "commands",
                    title: tr!("Find a command"),
                    hint: tr!("Type a command"),
                    width: 660.0,
                    column: 660.0,
                    lines: 14.0,
                    tabs: Vec::new(),
                };
                picker.show(cx, &look, |_| picker::commands(it, solved), requests)
            }
            Dialog::Lessons(picker, solved) => {
                let look = Look {
                    name: "lessons",
                    title: tr!("Lessons"),
                    hint: tr!("Search: click here and type"),
                    width: 860.0,
                    column: 860.0,
                    lines: 32.0,
                    tabs: Vec::new(),
                };
                picker.show(cx, &look, |_| picker::lessons(solved).collect(), requests)
            }
            Dialog::File(file) => file.show(cx, requests),
            Dialog::Shelf(picker) => {
                let kinds = Kind::ALL.map(picker::kind_title);
                let look = Look {
                    name: "shelf",
                    title: tr!("Patterns: click one to take it, then click a panel to place it"),
                    hint: tr!("Search: name, author, kind or what it does"),
                    width: 1080.0,
                    column: 260.0,
                    lines: f32::INFINITY,
                    tabs: [tr!("All")].into_iter().chain(kinds).collect(),
                };
                let kind = |tab: usize| Some(Kind::ALL[tab.checked_sub(1)?]);
                let patterns = |tab| picker::patterns(kind(tab), it);
                picker.show(cx, &look, patterns, requests)
            }
            Dialog::Popup(popup) => popup.show(cx, requests),
            Dialog::Prompt(prompt) => prompt.show(cx, requests),
            Dialog::Kernel(kernel) => kernel.show(cx, requests),
            Dialog::Menu(picker) => {
                let look = Look {
                    name: "menu",
                    title: tr!("Menu"),
                    hint: tr!("Type a command"),
                    width: 720.0,
                    column: 720.0,
                    lines: 20.0,
                    tabs: Topic::ALL.map(Topic::short_title).into(),
                };
                let rows = |tab: usize| picker::rows(Some(Topic::ALL[tab]), it);
                picker.show(cx, &look, rows, requests)
            }
            Dialog::Help(picker) => {
                let look = Look {
                    name: "help",
                    title: tr!("Keyboard shortcuts"),
                    hint: tr!("Search: click here and type"),
                    width: 1240.0,
                    column: 390.0,
                    lines: f32::INFINITY,
                    tabs: Vec::new(),
                };
                let mut picked = Vec::new();
                let stays = picker.show(cx, &look, |_| picker::rows(None, it), &mut picked);
                // Any row closes it; these do no more.
                let closing = [ViewAction::ToggleHelp, ViewAction::Escape];
                let closing = closing.map(|it| UiRequest::Act(it.into()));
                requests.extend(picked.into_iter().filter(|it| !closing.contains(it)));
                stays
            }
        }
    }

    /// Whether it lists actions.
    fn is_list(&self) -> bool {
        match self {
            Dialog::Commands(..) | Dialog::Lessons(..) | Dialog::Menu(_) | Dialog::Help(_) => true,
            Dialog::File(_)
            | Dialog::Shelf(_)
            | Dialog::Popup(_)
            | Dialog::Prompt(_)
            | Dialog::Kernel(_) => false,
        }
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
            Dialog::File(file) => Some(file).filter(|file| file.is_pending()),
            _ => None,
        })
    }

    /// Closes that field: its path was good.
    pub(crate) fn close_pending_file(&mut self) {
        self.open
            .retain(|dialog| !matches!(dialog, Dialog::File(file) if file.is_pending()));
    }

    /// Lays out what is open, the topmost last, and adds what was asked for.
    pub(crate) fn show(&mut self, cx: DialogContext<'_>, requests: &mut Vec<UiRequest>) {
        let kinds = self.open.iter().map(discriminant).collect();
        self.key_buffer.hold(cx.context, kinds);
        let Some(top) = self.open.len().checked_sub(1) else {
            return;
        };
        let (mut keys, mut at) = (take_keys(cx.context), 0);
        self.open.retain_mut(|dialog| {
            let is_top = at == top;
            at += 1;
            if is_top {
                cx.context.input_mut(|input| input.events.append(&mut keys));
            }
            dialog.show(DialogContext { is_top, ..cx }, requests)
        });
    }
}

/// The kinds of the dialogs that are open.
type Open = Vec<Discriminant<Dialog>>;

/// Keys that come before the dialog that they are for has been laid out once.
///
/// Where frames are slow, several keys fall between the one that opens a dialog and its first
/// frame. In that one egui lays it out unseen and disabled, to learn its size, so that a field takes
/// no keys though it has the focus; and where egui lays a frame out again (`request_discard`), it
/// has no events the second time. The keys are kept for the next frame.
#[derive(Debug, Default)]
struct KeyBuffer {
    /// What was open, and in which frame that was seen first.
    since: (Open, u64),
    events: Vec<Event>,
}

impl KeyBuffer {
    /// Takes the keys of a frame in which a dialog is new, and gives them back in the next one.
    /// Called before anything is laid out, also where egui lays a frame out twice.
    fn hold(&mut self, context: &Context, open: Open) {
        let frame = context.cumulative_frame_nr();
        if open.is_empty() {
            self.events.clear();
        }
        if self.since.0 != open {
            self.since = (open, frame);
        }
        if self.since.0.is_empty() {
            return;
        }
        context.input_mut(|input| {
            if self.since.1 == frame {
                self.events.extend(input.events.extract_if(.., is_typed));
            } else {
                input.events.splice(0..0, self.events.drain(..));
            }
        });
        if !self.events.is_empty() {
            context.request_repaint();
        }
    }
}

/// Takes the keys out of a frame's events.
fn take_keys(context: &Context) -> Vec<Event> {
    context.input_mut(|input| input.events.extract_if(.., is_typed).collect())
}

fn is_typed(event: &mut Event) -> bool {
    matches!(
        event,
        Event::Key { .. }
            | Event::Text(_)
            | Event::Ime(_)
            | Event::Copy
            | Event::Cut
            | Event::Paste(_)
    )
}

/// Lays out a dialog over the dimmed scene, below its title and the button that closes it: its name, how far
/// its top is from the window's as a share of the height, and its width in points. Whether it was left: by
/// that button, or by a click beside it.
fn dialog(
    cx: DialogContext<'_>,
    (name, title): (&str, &str),
    top: f32,
    width: f32,
    contents: impl FnOnce(&mut Ui),
) -> bool {
    let id = Id::unique(name);
    let down = vec2(0.0, top * cx.screen.height());
    let area = Modal::default_area(id).anchor(Align2::CENTER_TOP, down);
    show(cx, Modal::new(id).area(area), width, |ui| {
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                close_button(ui);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(egui::Label::new(egui::RichText::new(title).heading()).truncate());
                });
            });
        });
        contents(ui);
    })
}

/// Lays out a dialog below or above a place, over the scene, which stays to be seen: its width in points, and
/// its contents, which are told how high they can be. Whether it was left, by a click beside it.
fn popup(
    cx: DialogContext<'_>,
    beside: Rect,
    name: &str,
    width: f32,
    contents: impl FnOnce(&mut Ui, f32),
) -> bool {
    let id = Id::unique(name);
    let below = cx.screen.bottom() - beside.bottom();
    let (pivot, corner, room) = if below >= beside.top() {
        (Align2::LEFT_TOP, beside.left_bottom(), below)
    } else {
        (Align2::LEFT_BOTTOM, beside.left_top(), beside.top())
    };
    let area = Area::new(id).kind(UiKind::Modal).order(Order::Foreground);
    let margins = 2.0 * f32::from(cx.context.global_style().spacing.menu_margin.top);
    let right = cx.screen.right() - width - margins - 6.0;
    let corner = pos2(corner.x.min(right), corner.y);
    let area = area.sense(Sense::hover()).pivot(pivot).fixed_pos(corner);
    let modal = Modal::new(id).area(area.constrain_to(cx.screen));
    let modal = modal.backdrop_color(cx.palette.background.gamma_multiply(0.15));
    let room = room - margins - 4.0;
    show(cx, modal, width, |ui| contents(ui, room))
}

fn show(cx: DialogContext<'_>, modal: Modal, width: f32, contents: impl FnOnce(&mut Ui)) -> bool {
    let modal = modal.show(cx.context, |ui| {
        ui.set_width(width.min(0.92 * cx.screen.width()));
        contents(ui);
    });
    modal.backdrop_response.clicked() || modal.response.should_close()
}

/// Gives a widget the keys. Asking again in each frame would end what an input method composes.
fn hold_focus(widget: &Response) {
    if !widget.has_focus() {
        widget.request_focus();
    }
}

/// Lays out the button that closes the dialog.
fn close_button(ui: &mut Ui) {
    let key = Action::from(ViewAction::Escape).key();
    let text = egui::RichText::new(tr!("Close ({key}) ×")).small();
    if ui.button(text).clicked() {
        ui.close();
    }
}

#[cfg(test)]
mod tests;
