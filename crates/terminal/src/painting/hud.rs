//! The line of figures at the foot, the messages below it, and the panels' titles.

use ratatui::buffer::Buffer;
use ratatui::layout::Constraint::{Fill, Length};
use ratatui::layout::{Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Padding, Paragraph, Widget as _};

use crate::painting::colours::{ColourDepth, PALETTE};
use crate::painting::layout::{Panel, TerminalLayout};
use crate::painting::text::{APART, wrap, wrap_parts};
use crate::painting::{MIN_TERMINAL_SIZE, TerminalFrame};
use lang::{Message, tr};
use session::{SessionAction, Status};
use ui::figures::{RunState, Urgency};
use ui::{Action, Figure, Figures, LessonScreen, PanelFacts, ViewAction};

/// Says that there is no room, and how much is needed.
pub(super) fn too_small(area: Rect, buffer: &mut Buffer) {
    let [columns, rows] = MIN_TERMINAL_SIZE;
    let sentence = tr!("too small: at least {columns} × {rows} characters are needed");
    let lines = wrap(&sentence, area.width.into()).join("\n");
    Paragraph::new(lines).render(area, buffer);
}

/// Names a panel, and says whether it is the selected one.
pub(super) fn paint_label(
    facts: &PanelFacts,
    panel: &Panel,
    depth: ColourDepth,
    buffer: &mut Buffer,
) {
    let Some(place) = panel.label else { return };
    let side = facts.side_of(panel.instance);
    let side = side.map_or(String::new(), |side| format!("{} ", side.name()));
    let (sign, style) = if panel.instance == facts.selected {
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
    tone: Tone,
}

/// How the foot is to be seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tone {
    /// Something that was asked for is not there.
    Notice,
    /// True all the time.
    Accent,
    /// Keys.
    Label,
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
        let mut tone = Tone::Accent;
        if frame.sources.options.timeline && !has_timeline {
            let missing = tr!("The terminal is too small for the timeline").to_owned();
            parts.insert(0, missing);
            let with_it = wrap_parts(&parts, columns);
            if with_it.len() <= most {
                (lines, tone) = (with_it, Tone::Notice);
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
            tone = Tone::Label;
        }
        lines.truncate(most);
        Foot { lines, tone }
    }

    fn style(&self, depth: ColourDepth) -> Style {
        match self.tone {
            Tone::Notice => depth.on(PALETTE.on_notice, PALETTE.notice),
            Tone::Accent => depth.text(PALETTE.accent),
            Tone::Label if depth == ColourDepth::None => Style::new().dim(),
            Tone::Label => depth.text(PALETTE.label),
        }
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
    paint_lines(&places.foot.lines, places.foot.style(depth), foot, buffer);
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
    } else if let Some((first, last)) = places.shown()
        && last - first + 1 < status.lattices.instances
    {
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
    let style = match urgency {
        Urgency::Failure => depth.on(PALETTE.on_failed, PALETTE.failed),
        Urgency::Effect | Urgency::Notice => depth.on(PALETTE.on_notice, PALETTE.notice),
        Urgency::Warning => return None,
    };
    Some((sentence.to_string(), style))
}

/// The keys that matter most, as many as there is room for.
fn hints(frame: &TerminalFrame<'_>, status: &Status, room: usize) -> String {
    let pause = match frame.screen.lesson.as_deref() {
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
