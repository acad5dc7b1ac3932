//! Where everything stands, in characters; the line of figures at the foot, the messages below it, and the
//! panels' titles.

use ratatui::buffer::Buffer;
use ratatui::layout::Constraint::{Fill, Length};
use ratatui::layout::{Layout, Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Padding, Paragraph, Widget as _};

use crate::painting::colours::{ColourDepth, PALETTE};
use crate::painting::glyphs::Dots;
use crate::painting::text::{APART, wrap, wrap_parts};
use crate::painting::timeline::Contents;
use crate::painting::{MIN_TERMINAL_SIZE, TerminalFrame};
use lang::{Message, tr};
use session::{SessionAction, Side, Status, Streams};
use ui::figures::{RunState, Urgency};
use ui::{Action, Figure, Figures, LessonScreen, ViewAction};

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

    /// The pixels of a panel, which are half a character high.
    pub(crate) fn pixels(&self) -> [u32; 2] {
        Dots::PIXELS.of(self.panel)
    }

    /// The panel at a character.
    pub(crate) fn panel_at(&self, at: Position) -> Option<&Panel> {
        self.panels.iter().find(|panel| panel.rect.contains(at))
    }
}

/// The lines of a lecture's step, at most half of the screen; none while a lesson covers it.
fn lecture(frame: &TerminalFrame<'_>, area: Rect) -> Vec<String> {
    let step = frame.sources.drawing.lecture.as_ref();
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

/// Says that there is no room, and how much is needed.
pub(super) fn too_small(area: Rect, buffer: &mut Buffer) {
    let [columns, rows] = MIN_TERMINAL_SIZE;
    let sentence = tr!("too small: at least {columns} × {rows} characters are needed");
    let lines = wrap(&sentence, area.width.into()).join("\n");
    Paragraph::new(lines).render(area, buffer);
}

/// Names a panel, and says whether it is the selected one.
pub(super) fn paint_label(status: &Status, panel: &Panel, depth: ColourDepth, buffer: &mut Buffer) {
    let Some(place) = panel.label else { return };
    // An odd one out belongs to neither A nor B.
    let compared = status.lab.comparison.as_ref();
    let side = compared.and_then(|both| Side::ALL.get(panel.instance / both.each.max(1)));
    let side = side.map_or(String::new(), |side| format!("{} ", side.name()));
    let (sign, style) = if panel.instance == status.panels.selected {
        ("▸", depth.on(PALETTE.on_accent, PALETTE.accent))
    } else {
        (" ", depth.text(PALETTE.label))
    };
    Line::styled(format!("{sign}{side}{}", panel.instance), style).render(place, buffer);
}

/// What stands below the figures all the time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Foot {
    /// Line by line.
    pub(super) lines: Vec<String>,
    /// How it is to be seen; none if it is about keys.
    urgency: Option<Urgency>,
}

impl Foot {
    /// For so many columns and at most so many rows, with a timeline or without one.
    pub(super) fn of(
        frame: &TerminalFrame<'_>,
        status: &Status,
        has_timeline: bool,
        [columns, most]: [usize; 2],
    ) -> Foot {
        let columns = columns.saturating_sub(2);
        let mut parts = Vec::new();
        if let Some(comparison) = &frame.screen.comparison {
            parts.extend(comparison.in_short(has_timeline));
        }
        let mut lines = wrap_parts(&parts, columns);
        let mut urgency = Some(Urgency::Warning);
        if frame.sources.options.timeline && !has_timeline {
            let missing = tr!("The terminal is too small for the timeline").to_owned();
            parts.insert(0, missing);
            let with_it = wrap_parts(&parts, columns);
            if with_it.len() <= most {
                (lines, urgency) = (with_it, Some(Urgency::Notice));
            }
        }
        if lines.is_empty() {
            let is_warning = |(urgency, _): &&(Urgency, Message)| *urgency == Urgency::Warning;
            let figures = frame.screen.figures.as_ref();
            let warning = figures.and_then(|it| it.messages.iter().find(is_warning));
            lines.extend(warning.iter().flat_map(|(_, text)| wrap(text, columns)));
        }
        if lines.is_empty() {
            lines.push(hints(frame, status, columns));
            urgency = None;
        }
        lines.truncate(most);
        Foot { lines, urgency }
    }
}

/// How what is as urgent is to be seen, or keys, which are not.
fn style_of(urgency: Option<Urgency>, depth: ColourDepth) -> Style {
    match urgency {
        Some(Urgency::Failure) => depth.on(PALETTE.on_failed, PALETTE.failed),
        Some(Urgency::Effect | Urgency::Notice) => depth.on(PALETTE.on_notice, PALETTE.notice),
        Some(Urgency::Warning) => depth.text(PALETTE.accent),
        None if depth == ColourDepth::None => Style::new().dim(),
        None => depth.text(PALETTE.label),
    }
}

/// Paints the figures and the foot.
pub(super) fn paint(
    depth: ColourDepth,
    frame: &TerminalFrame<'_>,
    status: &Status,
    places: &TerminalLayout,
    buffer: &mut Buffer,
) {
    let Some(figures) = &frame.screen.figures else {
        return;
    };
    let top = places.hud;
    let recomputing = tr!("» recomputing {percent}", percent = figures.pace);
    let (state, style) = match figures.state {
        RunState::Ended => (tr!("■ ENDED"), depth.on(PALETTE.on_failed, PALETTE.failed)),
        RunState::Running => (
            tr!("▶ running"),
            depth.on(PALETTE.running, PALETTE.running_background),
        ),
        RunState::Paused => (tr!("‖ PAUSED"), depth.on(PALETTE.on_accent, PALETTE.accent)),
        RunState::Recomputing => (
            recomputing.as_str(),
            depth.on(PALETTE.on_notice, PALETTE.notice),
        ),
    };
    let line = in_line(figures, frame, status, places);
    let room = |state: &str| usize::from(top.width).saturating_sub(lang::columns(state) + 3);
    // The sign alone, where the word would cost one of the most important figures.
    let state = if important(&line) > room(state) {
        state.split(' ').next().unwrap_or(state)
    } else {
        state
    };
    let figures = format!(" {}", fitted(&line, room(state)));
    let state = Span::styled(format!(" {state} "), style);
    let [first, foot] = top.layout(&Layout::vertical([Length(1), Fill(1)]));
    Line::from(vec![
        state,
        Span::styled(figures, depth.text(PALETTE.value)),
    ])
    .render(first, buffer);
    paint_lines(
        &places.foot.lines,
        style_of(places.foot.urgency, depth),
        foot,
        buffer,
    );
}

/// Paints what is urgent or has just happened, whole: over the foot if both are a line, else over
/// what is above the figures.
pub(super) fn paint_notice(
    depth: ColourDepth,
    frame: &TerminalFrame<'_>,
    places: &TerminalLayout,
    buffer: &mut Buffer,
) {
    let Some((text, style)) = notice(depth, frame, places) else {
        return;
    };
    let hud = places.hud;
    let lines = wrap(&text, usize::from(hud.width.saturating_sub(2)));
    let is_over_foot = lines.len() == 1 && places.foot.lines.len() == 1;
    let height = (lines.len() as u16).min(hud.y);
    let y = if is_over_foot {
        hud.y + 1
    } else {
        hud.y - height
    };
    let place = Rect { y, height, ..hud };
    Clear.render(place, buffer);
    paint_lines(&lines, style, place, buffer);
}

/// Lines of a style that fills their place, a blank before each.
pub(super) fn paint_lines(lines: &[String], style: Style, place: Rect, buffer: &mut Buffer) {
    let margin = Block::new().padding(Padding::left(1));
    let text = Paragraph::new(lines.join("\n")).style(style);
    text.block(margin).render(place, buffer);
}

/// The rank of the generation.
const GENERATION: u8 = 0;
/// The rank of the kernel: a terminal has no toolbar that shows it.
const KERNEL: u8 = 1;
/// The rank of how instances share streams, which no toolbar shows either.
const STREAMS: u8 = 2;
/// The rank of which panels are on this page, where there are several pages.
const PAGE: u8 = 3;
/// The rank of the first of the other figures.
const OTHERS: u8 = 4;
/// The rank of how fast rounds may follow one another.
const PACE: u8 = OTHERS + 8;

/// The figures in short, each with its rank, and which panels are seen.
fn in_line(
    figures: &Figures,
    frame: &TerminalFrame<'_>,
    status: &Status,
    places: &TerminalLayout,
) -> Vec<(u8, String)> {
    let known = figures.groups.iter().flatten().filter(|it| it.is_known());
    let streams = tr!("streams");
    let rank = |it: &Figure| match it {
        it if it.value == status.setting.kernel.name => KERNEL,
        it if it.label == streams => STREAMS,
        it => OTHERS + it.rank,
    };
    let mut line = vec![(GENERATION, figures.headline.in_short())];
    line.extend(known.map(|it| (rank(it), it.in_short())));
    if !figures.pace.is_empty() {
        line.push((PACE, figures.pace.clone()));
    }
    let single = frame
        .sources
        .single_instance()
        .filter(|_| status.lattices.instances > 1);
    if let Some(instance) = single {
        let text = tr!(
            "instance {}, {} in all",
            instance,
            status.lattices.instances
        );
        line.push((PAGE, text));
    } else if let [first, .., last] = &places.panels[..]
        && places.panels.len() < status.lattices.instances
    {
        let (first, last) = (first.instance, last.instance);
        let text = tr!("instances {first}–{last} of {}", status.lattices.instances);
        line.push((PAGE, text));
    }
    line
}

/// The columns of the generation, the kernel and the streams beside each other.
fn important(figures: &[(u8, String)]) -> usize {
    let figures = figures.iter().filter(|(rank, _)| *rank <= STREAMS);
    let columns = figures.map(|(_, text)| lang::columns(text) + lang::columns(APART));
    columns.sum::<usize>().saturating_sub(lang::columns(APART))
}

/// What there is room for, in its order: by rank, up to the first that has none.
fn fitted(figures: &[(u8, String)], room: usize) -> String {
    let mut by_rank: Vec<usize> = (0..figures.len()).collect();
    by_rank.sort_by_key(|&at| figures[at].0);
    let mut used = 0;
    let fits = |at: &usize| {
        used += lang::columns(&figures[*at].1) + lang::columns(APART);
        used <= room + lang::columns(APART)
    };
    let mut kept: Vec<usize> = by_rank.into_iter().take_while(fits).collect();
    kept.sort_unstable();
    let kept = kept.into_iter().map(|at| figures[at].1.as_str());
    kept.collect::<Vec<_>>().join(APART)
}

/// What is urgent or has just happened.
fn notice(
    depth: ColourDepth,
    frame: &TerminalFrame<'_>,
    places: &TerminalLayout,
) -> Option<(String, Style)> {
    // The timeline's head has the finding of the last change.
    let has_head = places.timeline.is_some();
    let is_new = |it: &&(Urgency, Message)| !(has_head && it.0 == Urgency::Effect);
    let figures = frame.screen.figures.as_ref()?;
    let (urgency, sentence) = figures.messages.iter().find(is_new)?;
    let is_of_foot = *urgency == Urgency::Warning;
    (!is_of_foot).then(|| (sentence.to_string(), style_of(Some(*urgency), depth)))
}

/// The keys that matter most, as many as there is room for.
fn hints(frame: &TerminalFrame<'_>, status: &Status, room: usize) -> String {
    let pause = match frame.sources.lesson {
        Some(LessonScreen::List { .. }) => tr!("open"),
        Some(LessonScreen::Page(_)) => tr!("next page"),
        None if status.clock.running => tr!("pause"),
        None => tr!("run"),
    };
    let hints: [(Action, &str); 8] = [
        (ViewAction::ToggleHelp.into(), tr!("keys")),
        (ViewAction::Quit.into(), tr!("quit")),
        (SessionAction::TogglePause.into(), pause),
        (SessionAction::NextKernel.into(), tr!("kernel")),
        (ViewAction::ToggleTimeline.into(), tr!("timeline")),
        (ViewAction::ToggleSingle.into(), tr!("one panel")),
        (ViewAction::ToggleLab.into(), tr!("switches")),
        (ViewAction::ToggleLessons.into(), tr!("lessons")),
    ];
    let hints = (0..).zip(hints);
    let hints = hints.map(|(rank, (action, word))| (rank, format!("{} {word}", action.key())));
    let hints: Vec<(u8, String)> = hints.collect();
    fitted(&hints, room)
}
