//! The session in a terminal: panels of half blocks or Braille dots, a line of figures, the
//! timeline as bars of text, a card over it all.
//!
//! What the window draws with pixels stands here in characters: the same camera (its pixels are
//! half a character high, so that they are square), the same palettes, the same chart of a timed
//! round. Nothing here knows a real terminal: everything is painted into ratatui's buffer, of which
//! only what has changed travels.

use ratatui::buffer::Buffer;
use ratatui::layout::Constraint::{Fill, Length};
use ratatui::layout::{Flex, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Clear, Paragraph, Widget as _};

use crate::cards;
use crate::cells::{CellPainter, Glyphs, Pictures, dots};
use crate::input::Field;
use crate::style::{APART, ColourDepth, PALETTE, fitted, ink, paint_lines, wrap};
use crate::timeline::Contents;
use lang::{Message, tr};
use session::{PicturePlan, PictureSource, SessionAction, Side, Status};
use ui::figures::{Figure, Figures, RunState, Urgency, figures};
use ui::finding::ComparisonTexts;
use ui::{Action, App, ViewAction, ViewTransform, request};

/// The fewest columns and rows of a terminal that is of use.
const MIN_TERMINAL_SIZE: [u16; 2] = [32, 10];

/// The smallest panel that shows something, in columns and rows.
const MIN_PANEL: [u16; 2] = [6, 2];

/// The fewest rows of the panels: one with its name.
const MIN_ROWS: u16 = MIN_PANEL[1] + 1;

/// A panel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Panel {
    pub(crate) instance: usize,
    pub(crate) rect: Rect,
    /// The row over it that names it, if there are several.
    pub(crate) label: Rect,
}

/// What only the terminal's painter knows; it outlives every frame.
pub(crate) struct TerminalView {
    /// The keys, or the field for a value, while it is open over all else.
    pub(crate) field: Option<Field>,
    glyphs: Glyphs,
    depth: ColourDepth,
    pictures: Pictures,
    /// The panels of the last frame: those that there is room for; the selected one is among them.
    pub(crate) panels: Vec<Panel>,
    /// The title of the card that covers them, if one does.
    pub(crate) card: Option<String>,
    /// The first line of it that is shown, where it is longer than the screen.
    pub(crate) scroll: usize,
}

impl TerminalView {
    /// With nothing to show yet.
    pub(crate) fn new(glyphs: Glyphs, depth: ColourDepth) -> TerminalView {
        TerminalView {
            field: None,
            glyphs,
            depth,
            pictures: Pictures::default(),
            panels: Vec::new(),
            card: None,
            scroll: 0,
        }
    }

    /// Takes over what is newer; waits for nothing.
    pub(crate) fn update(&mut self, status: &Status, source: &dyn PictureSource) {
        let lattices = &status.lattices;
        self.pictures
            .update(lattices.instances, lattices.size, source);
    }

    /// The pixels of each panel, which are half a character high; none before the first frame and
    /// where the terminal is too small.
    pub(crate) fn pixels(&self) -> Option<[u32; 2]> {
        let panel = self.panels.first()?.rect;
        Some(dots(false, [panel.width, panel.height]))
    }

    /// What panels show of their lattices, as a transform to dots; whether those are Braille's, and how
    /// many a panel has.
    fn target_transform(&self, app: &App) -> Option<(ViewTransform, bool, [u32; 2])> {
        let status = app.status.as_ref()?;
        let (size, panel) = (status.lattices.size, self.panels.first()?.rect);
        let camera = &app.options.camera;
        let transform = camera.target_transform(size, self.pixels()?);
        let is_braille = self.glyphs.is_braille(transform.scale);
        let scale = if is_braille {
            2.0 * transform.scale
        } else {
            transform.scale
        };
        let dots = dots(is_braille, [panel.width, panel.height]);
        Some((ViewTransform { scale, ..transform }, is_braille, dots))
    }

    /// What the session should send for the panels of the last frame.
    pub(crate) fn request(&self, app: &App) -> Option<PicturePlan> {
        let (transform, _, panel) = self.target_transform(app)?;
        let status = app.status.as_ref()?;
        let lattices = &status.lattices;
        Some(request(
            (lattices.size, lattices.instances),
            (transform, panel),
            app.single_instance(),
            (status.setting.switches.transfer, 0), // a byte a dot, if nothing else is asked for
            u32::MAX,                              // the terminal has no textures
        ))
    }

    /// Paints a frame; a session that has not started yet has no status.
    pub(crate) fn paint(&mut self, app: &App, area: Rect, buffer: &mut Buffer) {
        let [columns, rows] = MIN_TERMINAL_SIZE;
        self.panels.clear();
        if area.width < columns || area.height < rows {
            let sentence = tr!("too small: at least {columns} × {rows} characters are needed");
            let lines = wrap(&sentence, area.width.into());
            Paragraph::new(lines.join("\n")).render(area, buffer);
        } else if let Some(status) = &app.status {
            self.paint_session(app, status, area, buffer);
        }
        self.depth.reduce(buffer);
    }

    fn paint_session(&mut self, app: &App, status: &Status, area: Rect, buffer: &mut Buffer) {
        let columns = usize::from(area.width) - 2;
        let figures = &figures(status, &app.options, &app.drawing);
        let (mut foot, foot_style) = foot(status, figures, app.options.timeline, columns);
        let mut lecture = lecture(app, columns);
        lecture.truncate(usize::from(area.height) / 2 - usize::from(MIN_ROWS));
        foot.truncate(usize::from(area.height) / 3);
        let (state, state_style) = state(figures);
        let shown = known_figures(&state, figures);
        let shown = fitted(shown, columns, usize::from(area.height) / 12);
        let height = shown.len() as u16;
        let above = area.height - height - (lecture.len() + foot.len()) as u16;
        let timeline = app
            .options
            .timeline
            .then(|| Contents::of(&app.timeline, status, columns, [above, MIN_ROWS]));
        let [top, panels, bars, line, bottom] = area.layout(&Layout::vertical([
            Length(lecture.len() as u16),
            Fill(1),
            Length(timeline.as_ref().map_or(0, |it| it.height)),
            Length(height),
            Length(foot.len() as u16),
        ]));
        self.panels = tile(panels, status, app.single_instance());
        self.paint_panels(app, status, buffer);
        paint_lines(&lecture, ink(PALETTE.accent), top, buffer);
        if let Some(timeline) = timeline {
            timeline.paint(bars, buffer);
        }
        paint_lines(&shown, ink(PALETTE.value), line, buffer);
        let state = Rect::new(line.x, line.y, lang::columns(&state) as u16 + 2, 1);
        buffer.set_style(state, state_style);
        paint_lines(&foot, foot_style, bottom, buffer);
        let shown = (&mut self.card, &mut self.scroll);
        cards::paint(self.field.as_ref(), shown, app, panels.union(bars), buffer);
        if let Some((urgency, sentence)) = notice(figures, app.options.timeline) {
            // Whole, over what is above the figures.
            let lines = wrap(&sentence.to_string(), columns);
            let height = (lines.len() as u16).min(line.y);
            let place = Rect {
                y: line.y - height,
                height,
                ..line
            };
            Clear.render(place, buffer);
            paint_lines(&lines, style_of(*urgency), place, buffer);
        }
    }

    fn paint_panels(&self, app: &App, status: &Status, buffer: &mut Buffer) {
        let Some((transform, is_braille, _)) = self.target_transform(app) else {
            return;
        };
        let painter = CellPainter {
            is_braille,
            has_colours: self.depth != ColourDepth::None,
            options: &app.options,
            transform,
        };
        for panel in &self.panels {
            let instance = (panel.instance, status.number_of(panel.instance));
            painter.paint(&self.pictures, instance, panel.rect, buffer);
            // An odd one out belongs to neither A nor B.
            let compared = status.lab.comparison.as_ref();
            let side = compared.and_then(|both| Side::ALL.get(panel.instance / both.each.max(1)));
            let side = side.map_or(String::new(), |side| format!("{} ", side.name()));
            let (sign, style) = if panel.instance == status.panels.selected {
                ("▸", ink(PALETTE.on_accent).bg(PALETTE.accent.into()))
            } else {
                (" ", ink(PALETTE.label))
            };
            Line::styled(format!("{sign}{side}{}", panel.instance), style)
                .render(panel.label, buffer);
        }
    }
}

/// Whether it runs, as a sign and a word, and how that is to be seen.
fn state(figures: &Figures) -> (String, Style) {
    let (state, colour, background) = match figures.state {
        RunState::Ended => (tr!("■ ENDED").into(), PALETTE.on_failed, PALETTE.failed),
        RunState::Running => (
            tr!("▶ running").into(),
            PALETTE.running,
            PALETTE.running_background,
        ),
        RunState::Paused => (tr!("‖ PAUSED").into(), PALETTE.on_accent, PALETTE.accent),
        RunState::Recomputing => {
            let state = tr!("» recomputing {percent}", percent = figures.pace);
            (state, PALETTE.on_notice, PALETTE.notice)
        }
    };
    (state, ink(colour).bg(background.into()))
}

/// The state and the figures that are known, those first that the window's toolbar shows.
fn known_figures(state: &str, figures: &Figures) -> impl Iterator<Item = String> {
    let first = &figures.essentials;
    let is_other = |it: &&Figure| first.iter().all(|essential| essential.label != it.label);
    let others = figures.groups.iter().flatten().filter(is_other);
    let said = |it: &Figure| tr!("{label}: {value}", label = it.label, value = it.value);
    let known = |it: &&Figure| it.is_known();
    let generation = format!("{state}  {}", said(&figures.headline));
    // Beside the kernel, what takes the chosen one back.
    let notes = first.iter().map(|it| it.note.clone());
    let first = first.iter().rev().filter(known).map(said);
    let others = others.filter(known).map(said);
    let notes = notes.filter(|note| !note.is_empty());
    let said = first
        .chain(notes)
        .chain(others)
        .chain([figures.pace.clone()]);
    [generation].into_iter().chain(said)
}

/// The lines of a lecture's step; none while a lesson covers it.
fn lecture(app: &App, columns: usize) -> Vec<String> {
    let step = app.drawing.lecture.as_ref();
    let Some(step) = step.filter(|_| app.lessons.screen().is_none()) else {
        return Vec::new();
    };
    let choices = step.choices.iter().zip(1..).map(|(choice, number)| {
        let sign = match (choice.is_right, choice.is_chosen) {
            (true, _) => "✓",
            (false, true) => "▸",
            (false, false) => " ",
        };
        format!("{sign}{number} {}", choice.text)
    });
    let choices = choices.collect::<Vec<_>>().join(APART);
    let head = format!("{}/{} {}", step.number, step.of, step.text);
    let texts = [&head, &step.result, &step.question, &choices].into_iter();
    texts
        .filter(|text| !text.is_empty())
        .flat_map(|text| wrap(text, columns))
        .collect()
}

/// The panels, as large as possible. Where not all have room, a page of them with the selected one.
pub(crate) fn tile(area: Rect, status: &Status, only: Option<usize>) -> Vec<Panel> {
    let lattices = &status.lattices;
    let aspect = f64::from(lattices.size.width) / f64::from(lattices.size.height);
    let aspect = aspect.clamp(1.0 / 16.0, 16.0);
    let all = only.map_or(lattices.instances, |_| 1);
    let label = u16::from(lattices.instances > 1);
    let across = usize::from((area.width + 1) / (MIN_PANEL[0] + 1)).max(1);
    let down = usize::from(area.height / (MIN_PANEL[1] + label)).max(1);
    let count = all.min(across * down);
    // By the full page, so that the last one's panels are as large as the others'.
    let fitted = |columns: usize| -> [u16; 2] {
        let room = [
            (area.width + 1) / columns as u16 - 1,
            area.height / count.div_ceil(columns) as u16 - label,
        ];
        // Pixels are half a character high, so that they are square.
        let [width, height] = [f64::from(room[0]), 2.0 * f64::from(room[1])];
        let used = [width.min(height * aspect), height.min(width / aspect) / 2.0];
        [0, 1].map(|axis| (used[axis].ceil() as u16).clamp(1, room[axis].max(1)))
    };
    let possible = (1..=count.min(across)).filter(|&columns| count.div_ceil(columns) <= down);
    let columns = possible.max_by_key(|&columns| {
        let [width, height] = fitted(columns).map(u32::from);
        (width * height, std::cmp::Reverse(columns))
    });
    let columns = columns.unwrap_or(across);
    let [width, height] = fitted(columns);
    let rows = vec![Length(height + label); count.div_ceil(columns)];
    let rows = area.layout_vec(&Layout::vertical(rows).flex(Flex::Center));
    let places = rows.into_iter().flat_map(|row| {
        row.layout_vec(
            &Layout::horizontal(vec![Length(width); columns])
                .spacing(1)
                .flex(Flex::Center),
        )
    });
    let first = only.unwrap_or(status.panels.selected.min(all - 1) / count * count);
    let panel = |(instance, place): (usize, Rect)| {
        let [label, rect] = place.layout(&Layout::vertical([Length(label), Fill(1)]));
        Panel {
            instance,
            rect,
            label,
        }
    };
    let last = (first + count).min(lattices.instances);
    (first..last).zip(places).map(panel).collect()
}

/// What stands below the figures all the time: how A and B compare, or else a warning, or else keys.
fn foot(
    status: &Status,
    figures: &Figures,
    has_timeline: bool,
    columns: usize,
) -> (Vec<String>, Style) {
    let is_warning = |(urgency, _): &&(Urgency, Message)| *urgency == Urgency::Warning;
    let warning = figures.messages.iter().find(is_warning);
    let text = match (ComparisonTexts::of(status), warning) {
        (Some(comparison), _) => comparison.in_short(has_timeline).join(APART),
        (None, Some((_, warning))) => warning.to_string(),
        (None, None) => return (hints(columns), ink(PALETTE.label)),
    };
    (wrap(&text, columns), style_of(Urgency::Warning))
}

/// How what is as urgent is to be seen.
fn style_of(urgency: Urgency) -> Style {
    match urgency {
        Urgency::Failure => ink(PALETTE.on_failed).bg(PALETTE.failed.into()),
        Urgency::Effect | Urgency::Notice => ink(PALETTE.on_notice).bg(PALETTE.notice.into()),
        Urgency::Warning => ink(PALETTE.accent),
    }
}

/// What is urgent or has just happened. The timeline's head has the finding of the last change.
fn notice(figures: &Figures, has_timeline: bool) -> Option<&(Urgency, Message)> {
    let mut messages = figures.messages.iter();
    let first = messages.find(|it| !(has_timeline && it.0 == Urgency::Effect));
    first.filter(|it| it.0 != Urgency::Warning)
}

/// The keys that matter most, as many as there is room for.
fn hints(columns: usize) -> Vec<String> {
    let hints: [Action; 8] = [
        ViewAction::ToggleHelp.into(),
        ViewAction::Quit.into(),
        SessionAction::TogglePause.into(),
        SessionAction::NextKernel.into(),
        ViewAction::ToggleTimeline.into(),
        ViewAction::ToggleSingle.into(),
        ViewAction::ToggleLab.into(),
        ViewAction::ToggleLessons.into(),
    ];
    let hints = hints.into_iter().filter_map(Action::row);
    fitted(
        hints.map(|row| format!("{} {}", row.action.key(), row.name())),
        columns,
        1,
    )
}
