//! A popup beside what was clicked: the controls of a figure's values, or what can be done with a
//! panel. The focus of the keyboard is egui's: Tab and the arrows move it, Enter or Space chooses.

use egui::{Rect, RichText, ScrollArea, Slider, SliderClamping, Ui};

use crate::view::dialogs::picker::{Item, show_item};
use crate::view::dialogs::{self, DialogContext, PromptDialog, UiRequest};
use session::{SessionAction, Status};
use ui::actions::{Amount, Setting};
use ui::{Action, EditAction, ViewAction};

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
