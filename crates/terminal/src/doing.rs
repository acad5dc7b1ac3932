//! What the terminal does of what a person asks for; the rest is the session's.

use std::time::Instant;

use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::Position;

use super::{Shown, keys};
use app::World;

use lang::tr;
use model::Action;
use model::actions::KEYS;
use view::{LessonScreen, SidePanel, theme};

/// A mouse button that is held.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drag {
    at: Position,
    moved: bool,
}

impl<W: World> Shown<W> {
    pub(super) fn event(&mut self, event: Event) {
        match event {
            Event::Key(event) => self.key(&event),
            Event::Mouse(event) => self.mouse(event),
            // The next frame asks for the size.
            Event::Resize(..) => {}
            _ => return,
        }
        self.pacer.want(Instant::now());
    }

    fn key(&mut self, event: &KeyEvent) {
        if self.lessons.is_list() && event.code == KeyCode::Enter {
            return self.open_lesson();
        }
        if self.view.has_card() && !self.lessons.is_list() {
            let lines = match event.code {
                KeyCode::Up => -1,
                KeyCode::Down => 1,
                KeyCode::PageUp => -10,
                KeyCode::PageDown => 10,
                _ => 0,
            };
            if lines != 0 {
                return self.view.scroll(lines);
            }
        }
        if let Some(action) = keys::action(event) {
            self.act(action);
        }
    }

    fn act(&mut self, action: Action) {
        let action = self.lessons.instead(action);
        match action {
            Action::ToggleSingle => self.view.options.single ^= true,
            Action::ZoomIn => self.zoom(1.5, None),
            Action::ZoomOut => self.zoom(1.0 / 1.5, None),
            Action::PanLeft => self.pan([1.0, 0.0]),
            Action::PanRight => self.pan([-1.0, 0.0]),
            Action::PanUp => self.pan([0.0, 1.0]),
            Action::PanDown => self.pan([0.0, -1.0]),
            Action::Fit => {
                let status = self.world.status();
                self.view.toggle_fit(&status, self.area);
            }
            Action::ToggleTimeline => self.show_timeline(!self.view.options.timeline),
            Action::ToggleLab => self.show_card(|options| options.toggle_side(SidePanel::Lab)),
            Action::ToggleLadder => {
                self.show_card(|options| options.toggle_side(SidePanel::Ladder));
            }
            Action::ToggleHelp => self.show_card(|options| (options.help ^= true, ())),
            Action::ToggleLessons => self.with_lessons(|lessons, source| {
                if lessons.screen.is_none() {
                    lessons.show_list(source);
                } else {
                    lessons.close(source);
                }
            }),
            Action::NextPage => self.with_lessons(|lessons, source| lessons.turn(source, true)),
            Action::PreviousPage => {
                self.with_lessons(|lessons, source| lessons.turn(source, false));
            }
            Action::NextColours => {
                let options = &mut self.view.options;
                options.colours = (options.colours + 1) % theme::COUNT;
                let name = theme::theme(options.colours).name;
                self.note(tr!("colours: {name}", name = name));
            }
            Action::Invert => self.view.options.invert ^= true,
            Action::NextLanguage => lang::set(lang::language().other()),
            Action::Escape => self.escape(),
            Action::Quit => self.quit = true,
            // Stamps have no place here to be looked at.
            Action::ToggleBlocks => self.only_in_window(action),
            other => {
                if !self.world.act(other) {
                    self.only_in_window(other);
                }
            }
        }
    }

    fn only_in_window(&mut self, action: Action) {
        let row = KEYS.iter().find(|row| row.action == action);
        let what = row.map_or(tr!("that"), |row| row.help());
        self.note(tr!("{what}: only in the window", what = what));
    }

    fn escape(&mut self) {
        let options = &mut self.view.options;
        if options.help {
            options.help = false;
        } else if self.lessons.screen.is_some() {
            self.with_lessons(|lessons, source| lessons.leave(source));
        } else if options.side.is_some() {
            options.side = None;
        } else if options.timeline {
            self.show_timeline(false);
        } else {
            options.single = false;
        }
    }

    fn show_card<T>(&mut self, change: impl FnOnce(&mut view::ViewOptions) -> T) {
        change(&mut self.view.options);
        self.view.scroll_to_top();
    }

    fn show_timeline(&mut self, shown: bool) {
        self.view.options.timeline = shown;
        self.world.act(Action::WatchOverlap(shown));
    }

    fn zoom(&mut self, factor: f64, at: Option<Position>) {
        let status = self.world.status();
        self.view.zoom(factor, at, &status, self.area);
    }

    /// An eighth of a panel.
    fn pan(&mut self, part: [f64; 2]) {
        let status = self.world.status();
        let part = part.map(|part| part / 8.0);
        self.view.pan_by_part(part, &status, self.area);
    }

    fn with_lessons(
        &mut self,
        does: impl FnOnce(&mut app::lessons::Lessons, &mut dyn app::LessonSource),
    ) {
        self.view.scroll_to_top();
        match self.world.lessons() {
            Some(source) => does(&mut self.lessons, source),
            None => self.note(tr!("there are no lessons here")),
        }
    }

    fn open_lesson(&mut self) {
        if let Some(LessonScreen::List { selected, .. }) = self.lessons.screen {
            self.with_lessons(|lessons, source| lessons.open(source, selected));
        }
    }

    fn mouse(&mut self, event: MouseEvent) {
        let at = Position::new(event.column, event.row);
        match event.kind {
            MouseEventKind::ScrollUp if self.view.has_card() => self.view.scroll(-3),
            MouseEventKind::ScrollDown if self.view.has_card() => self.view.scroll(3),
            MouseEventKind::ScrollUp => self.zoom(1.25, Some(at)),
            MouseEventKind::ScrollDown => self.zoom(1.0 / 1.25, Some(at)),
            MouseEventKind::Down(MouseButton::Left | MouseButton::Middle) => {
                self.drag = Some(Drag { at, moved: false });
            }
            MouseEventKind::Drag(MouseButton::Left | MouseButton::Middle) => self.dragged(at),
            MouseEventKind::Up(MouseButton::Left) => {
                let clicked = self.drag.take().is_some_and(|drag| !drag.moved);
                let status = self.world.status();
                let instance = self.view.instance_at(at, &status, self.area);
                if let (true, Some(instance)) = (clicked && !self.view.has_card(), instance) {
                    self.world.act(Action::Select(instance));
                }
            }
            _ => {}
        }
    }

    fn dragged(&mut self, to: Position) {
        let Some(drag) = &mut self.drag else { return };
        let by = [
            i32::from(to.x) - i32::from(drag.at.x),
            i32::from(to.y) - i32::from(drag.at.y),
        ];
        *drag = Drag {
            at: to,
            moved: true,
        };
        let status = self.world.status();
        self.view.pan_by_characters(by, &status, self.area);
    }
}
