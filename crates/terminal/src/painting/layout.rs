//! Where everything stands, in characters. Pure arithmetic, as the window's.

use ratatui::layout::Constraint::{Fill, Length};
use ratatui::layout::{Layout, Position, Rect};

use crate::painting::TerminalFrame;
use crate::painting::hud::Foot;
use crate::painting::text::{wrap, wrap_parts};
use crate::painting::timeline::Contents;
use session::{Status, Streams};

/// The smallest panel that shows something, in columns and rows.
const MIN_PANEL: [u16; 2] = [6, 2];

/// The fewest rows of the panels: one with its name.
const MIN_ROWS: u16 = MIN_PANEL[1] + 1;

/// A panel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Panel {
    pub(super) instance: usize,
    pub(super) rect: Rect,
    /// The row over it that names it, if there are several.
    pub(super) label: Option<Rect>,
}

/// The whole screen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TerminalLayout {
    /// Those that there is room for; the selected one is among them.
    pub(super) panels: Vec<Panel>,
    /// Columns and rows of each.
    pub(super) panel: [u16; 2],
    /// Below the panels, and what stands there.
    pub(super) timeline: Option<(Contents, Rect)>,
    /// The row of figures, and below it the foot.
    pub(super) hud: Rect,
    /// What stands below the figures all the time.
    pub(super) foot: Foot,
    /// The lines of a lecture's step, above everything.
    pub(super) lecture: Vec<String>,
}

impl TerminalLayout {
    /// Of a terminal with at least [`super::MIN_TERMINAL_SIZE`] columns and rows. The timeline's text
    /// is whole, and has what rows that takes; without room for that there is no timeline.
    pub(super) fn new(area: Rect, frame: &TerminalFrame<'_>, status: &Status) -> TerminalLayout {
        let options = frame.sources.options;
        let lecture = lecture(frame, area);
        let height = usize::from(area.height) - lecture.len();
        let room = [area.width.into(), height - usize::from(MIN_ROWS) - 1];
        let mut foot = Foot::of(frame, status, options.timeline, room);
        let above = height - 1 - foot.lines.len();
        let contents = options.timeline.then(|| {
            let most = above.saturating_sub(MIN_ROWS.into());
            Contents::of(frame.screen, lanes(status), area.width, most)
        });
        let timeline = contents.flatten();
        if timeline.is_none() {
            foot = Foot::of(frame, status, false, room);
        }
        let of_timeline = timeline.as_ref().map_or(0, |it| it.height(above));
        let [_, above, below, hud] = area.layout(&Layout::vertical([
            Length(lecture.len() as u16),
            Fill(1),
            Length(of_timeline as u16),
            Length(1 + foot.lines.len() as u16),
        ]));
        let (panels, panel) = tile(above, status, options.single_instance(status));
        TerminalLayout {
            panels,
            panel,
            timeline: timeline.map(|contents| (contents, below)),
            hud,
            foot,
            lecture,
        }
    }

    /// The panel at a character.
    pub(super) fn panel_at(&self, at: Position) -> Option<&Panel> {
        self.panels.iter().find(|panel| panel.rect.contains(at))
    }

    /// The instance whose panel stands at a character.
    pub(crate) fn instance_at(&self, at: Position) -> Option<usize> {
        Some(self.panel_at(at)?.instance)
    }

    /// The first and the last instance that has a panel.
    pub(super) fn shown(&self) -> Option<(usize, usize)> {
        let first = self.panels.first()?.instance;
        Some((first, self.panels.last()?.instance))
    }
}

/// The lines of a lecture's step, at most half of the screen; none while a lesson covers it.
fn lecture(frame: &TerminalFrame<'_>, area: Rect) -> Vec<String> {
    let step = frame.sources.drawing.lecture.as_deref();
    let Some(step) = step.filter(|_| frame.sources.lesson.is_none()) else {
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
    let choices: Vec<String> = choices.collect();
    let columns = usize::from(area.width.saturating_sub(2));
    let head = format!("{}/{} {}", step.number, step.of, step.text);
    let texts = [head, step.result.clone(), step.question.clone()];
    let mut lines: Vec<String> = texts
        .iter()
        .filter(|text| !text.is_empty())
        .flat_map(|text| wrap(text, columns))
        .collect();
    lines.extend(wrap_parts(&choices, columns));
    lines.truncate(usize::from(area.height / 2).saturating_sub(usize::from(MIN_ROWS)));
    lines
}

/// The lanes of a round that has not been timed yet.
fn lanes(status: &Status) -> usize {
    match status.setting.switches.streams {
        Streams::PerInstance => status.lattices.instances,
        Streams::One | Streams::Default | Streams::Batch => 1,
    }
}

/// The columns that make panels largest; where not all panels have room, a page of them with the
/// selected one.
fn tile(area: Rect, status: &Status, only: Option<usize>) -> (Vec<Panel>, [u16; 2]) {
    let aspect = f64::from(status.lattices.size.width()) / f64::from(status.lattices.size.height());
    let aspect = aspect.clamp(1.0 / 16.0, 16.0);
    let label = u16::from(only.is_none() && status.lattices.instances > 1);
    let all = only.map_or(status.lattices.instances, |_| 1).max(1);
    let across = usize::from((area.width + 1) / (MIN_PANEL[0] + 1)).max(1);
    let down = usize::from(area.height / (MIN_PANEL[1] + label)).max(1);
    let count = all.min(across * down);
    let first = match only {
        Some(only) => only,
        None => status.panels.selected.min(all - 1) / count * count,
    };
    let here = count.min(status.lattices.instances - first).max(1);
    // By the full page, so that the last one's panels are as large as the others'.
    let fitted = |columns: usize| -> [u16; 2] {
        let rows = count.div_ceil(columns);
        let width = (area.width + 1) / columns as u16 - 1;
        let height = (area.height / rows as u16).saturating_sub(label);
        // Pixels are half a character high, so that they are square.
        let room = [f64::from(width), 2.0 * f64::from(height)];
        let width_used = room[0].min(room[1] * aspect);
        let height_used = room[1].min(room[0] / aspect);
        [
            (width_used.ceil() as u16).clamp(1, width.max(1)),
            ((height_used / 2.0).ceil() as u16).clamp(1, height.max(1)),
        ]
    };
    let columns = (1..=count.min(across))
        .filter(|&columns| count.div_ceil(columns) <= down)
        .max_by_key(|&columns| {
            let [width, height] = fitted(columns).map(u32::from);
            (width * height, std::cmp::Reverse(columns))
        })
        .unwrap_or(across);
    let panel = fitted(columns);
    let rows = count.div_ceil(columns) as u16;
    let pitch = [panel[0] + 1, panel[1] + label];
    let used = [pitch[0] * columns as u16 - 1, pitch[1] * rows];
    let origin = [
        area.x + area.width.saturating_sub(used[0]) / 2,
        area.y + area.height.saturating_sub(used[1]) / 2,
    ];
    let place = |at: usize| {
        let x = origin[0] + pitch[0] * (at % columns) as u16;
        let y = origin[1] + pitch[1] * (at / columns) as u16;
        Panel {
            instance: first + at,
            rect: Rect::new(x, y + label, panel[0], panel[1]),
            label: (label > 0).then(|| Rect::new(x, y, panel[0], 1)),
        }
    };
    ((0..here).map(place).collect(), panel)
}
