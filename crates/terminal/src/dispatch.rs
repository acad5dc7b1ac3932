//! Carries out actions: the terminal's own here, the session's by handing them on.

use std::sync::Arc;

use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::Position;

use super::TerminalApp;
use crate::keys::{self, Answer, Field};
use crate::painting::{TerminalFrame, TerminalLayout, places};
use ui::{Action, Screen, ViewAction};

use lang::{Message, tr};
use life::Pattern;
use session::{Change, Edit, SessionAction, Status};

/// A mouse button that is held.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drag {
    at: Position,
    moved: bool,
}

impl TerminalApp {
    pub(super) fn event(&mut self, event: Event) {
        match event {
            Event::Key(event) => self.key(&event),
            Event::Mouse(event) => self.mouse(event),
            Event::Paste(text) => self.paste(text),
            // The next frame asks for the size.
            Event::Resize(..) => {}
            Event::FocusGained | Event::FocusLost => return,
        }
        self.pacer.request_frame();
    }

    /// Types a pasted text where something is typed, otherwise places the pattern that it is.
    fn paste(&mut self, text: String) {
        if self.view.field.is_none() {
            let (Ok(said) | Err(said)) = self.place_pattern(text);
            return self.show_notice(said);
        }
        for letter in text.chars().filter(|letter| !letter.is_control()) {
            self.key(&KeyEvent::from(KeyCode::Char(letter)));
        }
    }

    /// Places a pattern in the middle of the selected panel; returns what to say of it.
    fn place_pattern(&self, text: String) -> Result<String, String> {
        let pattern = Pattern::from_text(tr!("the clipboard"), text)
            .map_err(|error| tr!("Not a pattern: {error}"))?;
        if let (Some(status), Some(session)) = (self.app.status(), &self.app.session) {
            let cells = pattern.centred_in(status.lattices.size);
            session.edit(Edit {
                instance: status.panels.selected,
                change: Change::Place {
                    pattern: Arc::new(cells.map_err(|error| error.to_string())?),
                    at: [0, 0],
                    overwrites_dead: false,
                },
                continues_stroke: false,
            });
        }
        let (wide, high) = pattern.live_sides();
        let mut said = vec![tr!("Pasted {wide} × {high} cells")];
        said.extend(pattern.remarks().iter().map(Message::to_string));
        Ok(said.join("; "))
    }

    fn key(&mut self, event: &KeyEvent) {
        let is_value = |field: &Field| field.setting.is_some();
        let is_asked = self.view.field.as_ref().is_some_and(is_value);
        let is_lesson = self.app.lessons.screen().is_some() && self.view.field.is_none();
        let is_list = self.app.lessons.is_list() && is_lesson;
        if self.has_card() && !is_list && !is_asked {
            let lines = match event.code {
                KeyCode::Up => -1,
                KeyCode::Down => 1,
                KeyCode::PageUp if !is_lesson => -10,
                KeyCode::PageDown if !is_lesson => 10,
                _ => 0,
            };
            if lines != 0 {
                return self.scroll(lines);
            }
        }
        if let Some(mut field) = self.view.field.take() {
            let before = field.typed.len();
            let most = self.app.sources(None, &self.timeline).most_instances();
            let answer = field.key(event, most);
            if field.typed.len() != before {
                self.view.scroll = 0;
            }
            // A key that acts while others are looked up leaves them open.
            let stays = answer == Answer::Stays || answer != Answer::Closes && !is_value(&field);
            self.view.field = Some(field).filter(|_| stays);
            if let Answer::Acts(action) = answer {
                self.act(action);
            }
            return;
        }
        if let Some(chord) = keys::chord(event) {
            let action = self.app.remap_key(chord, keys::action(event));
            action.into_iter().for_each(|it| self.act(it));
        }
    }

    /// Does what a person asked for, or says why it is impossible.
    fn act(&mut self, action: Action) {
        let goes_on = matches!(
            action,
            Action::Session(_)
                | Action::View(
                    ViewAction::Predict(_)
                        | ViewAction::NextTheme
                        | ViewAction::Invert
                        | ViewAction::NextLanguage
                )
        );
        if !goes_on {
            self.view.scroll = 0; // what else a card shows begins at its top
        }
        let Some(Action::View(action)) = self.app.act(action) else {
            return;
        };
        match action {
            ViewAction::ZoomIn => self.zoom(1.5, None),
            ViewAction::ZoomOut => self.zoom(1.0 / 1.5, None),
            // An eighth of a panel.
            ViewAction::PanLeft => self.pan(|[width, _]| [f64::from(width) / 8.0, 0.0]),
            ViewAction::PanRight => self.pan(|[width, _]| [f64::from(width) / -8.0, 0.0]),
            ViewAction::PanUp => self.pan(|[_, height]| [0.0, f64::from(height) / 8.0]),
            ViewAction::PanDown => self.pan(|[_, height]| [0.0, f64::from(height) / -8.0]),
            ViewAction::Fit => {
                if let Some((status, places)) = self.places() {
                    let (size, pattern) = (status.lattices.size, self.app.pattern());
                    let camera = &mut self.app.options.camera;
                    camera.toggle_fit(size, places.pixels(), pattern);
                }
            }
            ViewAction::ToggleTimeline => self.app.show_timeline(!self.app.options.timeline),
            ViewAction::ToggleHelp => self.view.field = Some(Field::new(None)),
            ViewAction::Prompt(setting) => self.view.field = Some(Field::new(Some(setting))),
            ViewAction::Quit => self.quit = true,
            // The table gives the others to the window alone.
            _ => {}
        }
    }

    /// Where everything stands, as of the last frame.
    fn places(&self) -> Option<(Arc<Status>, TerminalLayout)> {
        let status = self.app.status()?;
        let sources = self.app.sources(Some(&status), &self.timeline);
        let screen = &Screen::of(sources);
        let frame = TerminalFrame { screen, sources };
        let places = places(&frame, self.area)?;
        Some((status, places))
    }

    fn has_card(&self) -> bool {
        self.view.has_card(&self.app.sources(None, &self.timeline))
    }

    /// Moves a card's lines up by so many.
    fn scroll(&mut self, lines: isize) {
        self.view.scroll = self.view.scroll.saturating_add_signed(lines);
    }

    /// Zooms by a factor about a character, if a panel is there, or about the panels' middle.
    fn zoom(&mut self, factor: f64, at: Option<Position>) {
        let Some((status, places)) = self.places() else {
            return;
        };
        let (size, pixels) = (status.lattices.size, places.pixels());
        let camera = &mut self.app.options.camera;
        let Some(at) = at else {
            return camera.zoom(factor, size, pixels);
        };
        if let Some(panel) = places.panel_at(at) {
            let pixel = [
                f64::from(at.x - panel.rect.x) + 0.5,
                f64::from(at.y - panel.rect.y) * 2.0 + 1.0,
            ];
            camera.zoom_at(factor, pixel, size, pixels);
        }
    }

    /// Moves what is shown as a hand moves paper: by so many of the pixels that a panel has.
    fn pan(&mut self, by: impl Fn([u32; 2]) -> [f64; 2]) {
        if let Some((status, places)) = self.places() {
            let pixels = places.pixels();
            let camera = &mut self.app.options.camera;
            camera.pan(by(pixels), status.lattices.size, pixels);
        }
    }

    fn mouse(&mut self, event: MouseEvent) {
        let at = Position::new(event.column, event.row);
        match event.kind {
            MouseEventKind::ScrollUp if self.has_card() => self.scroll(-3),
            MouseEventKind::ScrollDown if self.has_card() => self.scroll(3),
            MouseEventKind::ScrollUp => self.zoom(1.25, Some(at)),
            MouseEventKind::ScrollDown => self.zoom(1.0 / 1.25, Some(at)),
            MouseEventKind::Down(MouseButton::Left | MouseButton::Middle) => {
                self.drag = Some(Drag { at, moved: false });
            }
            MouseEventKind::Drag(MouseButton::Left | MouseButton::Middle) => self.dragged(at),
            MouseEventKind::Up(MouseButton::Left) => {
                let clicked = self.drag.take().is_some_and(|drag| !drag.moved);
                let places = self.places().filter(|_| clicked && !self.has_card());
                let panel = places.and_then(|(_, places)| places.panel_at(at).copied());
                if let Some(panel) = panel {
                    self.app.send(SessionAction::Select(panel.instance));
                }
            }
            _ => {}
        }
    }

    fn dragged(&mut self, to: Position) {
        let Some(drag) = &mut self.drag else { return };
        let [x, y] = [(to.x, drag.at.x), (to.y, drag.at.y)]
            .map(|(to, from)| f64::from(to) - f64::from(from));
        *drag = Drag {
            at: to,
            moved: true,
        };
        self.pan(|_| [x, 2.0 * y]);
    }
}
