//! Two lines at the foot: figures, and what the person should know; and each panel's name.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::painting::colours::{ColourDepth, PALETTE};
use crate::painting::layout::{Panel, TerminalLayout};
use crate::painting::{Frame, MIN_TERMINAL_SIZE};
use lang::{Message, tr};
use model::{Action, SessionAction, Status, ViewAction};
use screen::figures::{State, Urgency, repeats_finding};
use screen::{Figure, Figures, PanelFacts};

/// Says that there is no room, and how much is needed.
pub(super) fn too_small(area: Rect, buffer: &mut Buffer) {
    let [columns, rows] = MIN_TERMINAL_SIZE;
    let sentence = tr!(
        "too small: at least {columns} × {rows} characters are needed",
        columns = columns,
        rows = rows
    );
    let width = usize::from(area.width);
    let options = textwrap::Options::new(width).wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    let lines = textwrap::wrap(&sentence, options);
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        buffer.set_stringn(area.x, y, line, area.width.into(), Style::reset());
    }
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
    let selected = panel.instance == facts.selected;
    let sign = if selected { "▸" } else { " " };
    let name = format!("{sign}{side}{}", panel.instance);
    let style = if selected {
        depth.on(PALETTE.on_accent, PALETTE.accent)
    } else {
        depth.text(PALETTE.label)
    };
    if selected {
        buffer.set_style(place, style);
    }
    buffer.set_stringn(place.x, place.y, name, place.width.into(), style);
}

/// Paints both lines.
pub(super) fn paint(
    depth: ColourDepth,
    frame: &Frame<'_>,
    status: &Status,
    places: &TerminalLayout,
    buffer: &mut Buffer,
) {
    let Some(figures) = &frame.screen.figures else {
        return;
    };
    let [top, bottom] = [0, 1].map(|row| Rect {
        y: places.hud.y + row,
        height: 1,
        ..places.hud
    });
    let (state, style) = match figures.state {
        State::Ended => (tr!("■ ENDED"), depth.on(PALETTE.on_failed, PALETTE.failed)),
        State::Running => (
            tr!("▶ running"),
            depth.on(PALETTE.running, PALETTE.running_background),
        ),
        State::Paused => (tr!("‖ PAUSED"), depth.on(PALETTE.on_accent, PALETTE.accent)),
    };
    buffer.set_string(top.x, top.y, format!(" {state} "), style);
    let used = lang::columns(state) as u16 + 3;
    let room = usize::from(top.width.saturating_sub(used));
    let line = fitted(&in_line(figures, frame, status, places), room);
    let style = depth.text(PALETTE.value);
    buffer.set_stringn(top.x + used, top.y, line, room, style);
    let (text, style) = second(depth, figures, frame, status, places);
    buffer.set_style(bottom, style);
    let text = cut(&text, usize::from(bottom.width).saturating_sub(1));
    buffer.set_string(bottom.x + 1, bottom.y, text, style);
}

/// The text, cut to at most `most` characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    if lang::columns(text) <= most {
        return text.into();
    }
    let mut cut = String::new();
    for letter in text.chars() {
        let longer = format!("{cut}{letter}");
        if lang::columns(&longer) >= most {
            break;
        }
        cut = longer;
    }
    cut.push('…');
    cut
}

/// The rank of how instances share streams: a terminal has no toolbar that shows it.
const STREAMS: u8 = 1;
/// The rank of how fast rounds may follow one another.
const PACE: u8 = 8;
/// The rank of which panels are on this page, where there are several pages.
const PAGE: u8 = 2;

/// The figures in short, each with its rank, and which panels are seen.
fn in_line(
    figures: &Figures,
    frame: &Frame<'_>,
    status: &Status,
    places: &TerminalLayout,
) -> Vec<(u8, String)> {
    let all = std::iter::once(&figures.headline).chain(figures.groups.iter().flatten());
    let known = all.filter(|it| it.is_known());
    let streams = tr!("streams");
    let rank = |it: &Figure| match it.label == streams {
        true => STREAMS,
        false => it.rank,
    };
    let mut line: Vec<(u8, String)> = known.map(|it| (rank(it), it.in_short())).collect();
    if !figures.pace.is_empty() {
        line.push((PACE, figures.pace.clone()));
    }
    let single = frame.single_instance().filter(|_| status.instances > 1);
    if let Some(instance) = single {
        let text = tr!("instance {}, {} in all", instance, status.instances);
        line.push((PAGE, text));
    } else if let Some((first, last)) = places.shown()
        && last - first + 1 < status.instances
    {
        let text = tr!(
            "instances {first}–{last} of {}",
            status.instances,
            first = first,
            last = last
        );
        line.push((PAGE, text));
    }
    line
}

/// What there is room for, in its order: by rank, up to the first that has none.
fn fitted(figures: &[(u8, String)], room: usize) -> String {
    const APART: &str = " · ";
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

/// The most urgent sentence, or the keys that matter most.
fn second(
    depth: ColourDepth,
    figures: &Figures,
    frame: &Frame<'_>,
    status: &Status,
    places: &TerminalLayout,
) -> (String, Style) {
    // The timeline's head has the finding of the last change.
    let has_head = places.timeline.is_some();
    let is_new = |it: &&(Urgency, Message)| !(has_head && repeats_finding(it, status));
    match figures.messages.iter().find(is_new) {
        Some((Urgency::Failure, why)) => {
            return (why.to_string(), depth.on(PALETTE.on_failed, PALETTE.failed));
        }
        Some((Urgency::Notice, notice)) => {
            let style = depth.on(PALETTE.on_notice, PALETTE.notice);
            return (notice.to_string(), style);
        }
        Some((Urgency::Warning, _)) | None => {}
    }
    if frame.options.timeline && places.timeline.is_none() {
        let sentence = tr!("the terminal is too small for the timeline");
        return (sentence.into(), depth.on(PALETTE.on_notice, PALETTE.notice));
    }
    if let Some(comparison) = &frame.screen.comparison {
        return (comparison.in_one_line(), depth.text(PALETTE.accent));
    }
    let is_warning = |(urgency, _): &&(Urgency, Message)| *urgency == Urgency::Warning;
    if let Some((_, warning)) = figures.messages.iter().find(is_warning) {
        return (warning.to_string(), depth.text(PALETTE.accent));
    }
    let hints: [(Action, &str); 8] = [
        (ViewAction::ToggleHelp.into(), tr!("keys")),
        (ViewAction::Quit.into(), tr!("quit")),
        (SessionAction::TogglePause.into(), tr!("pause")),
        (SessionAction::NextKernel.into(), tr!("kernel")),
        (ViewAction::ToggleTimeline.into(), tr!("timeline")),
        (ViewAction::ToggleSingle.into(), tr!("one panel")),
        (ViewAction::ToggleLab.into(), tr!("switches")),
        (ViewAction::ToggleLessons.into(), tr!("lessons")),
    ];
    let hints = (0..).zip(hints);
    let hints = hints.map(|(rank, (action, word))| (rank, format!("{} {word}", action.key())));
    let hints: Vec<(u8, String)> = hints.collect();
    let room = usize::from(places.hud.width).saturating_sub(1);
    let style = match depth {
        ColourDepth::None => Style::new().dim(),
        _ => depth.text(PALETTE.label),
    };
    (fitted(&hints, room), style)
}
