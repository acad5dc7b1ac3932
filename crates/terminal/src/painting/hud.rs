//! Two lines at the foot: figures, and what the person should know; and each panel's name.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::painting::MIN_TERMINAL_SIZE;
use crate::painting::colours::{ColourDepth, PALETTE};
use crate::painting::layout::{Panel, TerminalLayout};
use lang::{Message, tr};
use model::{Action, Pace, SessionAction, Status, ViewAction};
use screen::Screen;
use screen::comparison::in_one_line;
use screen::figures::streams;
use screen::finding::is_said_by;
use screen::numbers::{grouped, si, time_us};

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
pub(super) fn paint_label(status: &Status, panel: &Panel, depth: ColourDepth, buffer: &mut Buffer) {
    let Some(place) = panel.label else { return };
    let side = match &status.comparison {
        Some(comparison) if panel.instance < comparison.each => "A ",
        Some(comparison) if panel.instance < 2 * comparison.each => "B ",
        _ => "",
    };
    let selected = panel.instance == status.selected;
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
    screen: &Screen<'_>,
    status: &Status,
    places: &TerminalLayout,
    buffer: &mut Buffer,
) {
    let [top, bottom] = [0, 1].map(|row| Rect {
        y: places.hud.y + row,
        height: 1,
        ..places.hud
    });
    let state = match (&status.failed, status.running) {
        (Some(_), _) => (tr!("■ ENDED"), depth.on(PALETTE.on_failed, PALETTE.failed)),
        (None, true) => (
            tr!("▶ running"),
            depth.on(PALETTE.running, PALETTE.running_background),
        ),
        (None, false) => (tr!("‖ PAUSED"), depth.on(PALETTE.on_accent, PALETTE.accent)),
    };
    buffer.set_string(top.x, top.y, format!(" {} ", state.0), state.1);
    let used = lang::columns(state.0) as u16 + 3;
    let figures = figures(screen, status, places);
    let room = usize::from(top.width.saturating_sub(used));
    let line = fitted(&figures, room);
    let style = depth.text(PALETTE.value);
    buffer.set_stringn(top.x + used, top.y, line, room, style);
    let (text, style) = second(depth, screen, status, places);
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

/// Figures, each with its rank: where room is short, the highest go first.
fn figures(screen: &Screen<'_>, status: &Status, places: &TerminalLayout) -> Vec<(u8, String)> {
    let streams = tr!("streams: {}", streams(status));
    let mut figures = vec![
        (1, tr!("gen {}", grouped(status.generation))),
        (0, status.kernel.name.into()),
        (3, streams),
        (
            2,
            tr!("{} gen/s", si(status.generations_per_second).trim_end()),
        ),
        (4, format!("{}cell/s", si(status.cells_per_second))),
    ];
    if let Some(us) = status.launch_us {
        figures.push((6, tr!("{} per launch", time_us(us))));
    }
    if let Some(rate) = screen.drawing.frames_per_second.filter(|_| status.running) {
        figures.push((5, tr!("{rate} frames/s", rate = format_args!("{rate:.0}"))));
    }
    let pace = match status.pace {
        Pace::Unthrottled => tr!("unthrottled").into(),
        Pace::Maximum => tr!("maximum").into(),
        pace => tr!("at most {pace}", pace = pace),
    };
    figures.push((8, pace));
    if let Some((first, last)) = places.shown().filter(|_| !screen.options.single)
        && last - first + 1 < status.instances
    {
        figures.push((
            2,
            tr!(
                "instances {first}–{last} of {}",
                status.instances,
                first = first,
                last = last
            ),
        ));
    } else if screen.options.single && status.instances > 1 {
        figures.push((
            2,
            tr!("instance {}, {} in all", status.selected, status.instances),
        ));
    }
    let (width, height) = (status.size.width(), status.size.height());
    figures.push((7, format!("{} × {width}×{height}", status.instances)));
    figures.push((9, status.engine.to_owned()));
    figures
}

/// As many figures of the lowest ranks as there is room for, in their order.
fn fitted(figures: &[(u8, String)], room: usize) -> String {
    let line = |most: u8| {
        let kept = figures.iter().filter(|(rank, _)| *rank <= most);
        kept.map(|(_, text)| text.as_str())
            .collect::<Vec<_>>()
            .join(" · ")
    };
    let fits = |line: &String| lang::columns(line) <= room;
    (0..=9)
        .rev()
        .map(line)
        .find(fits)
        .unwrap_or_else(|| cut(&line(0), room))
}

/// The most urgent sentence, or the keys that matter most.
fn second(
    depth: ColourDepth,
    screen: &Screen<'_>,
    status: &Status,
    places: &TerminalLayout,
) -> (String, Style) {
    if let Some(why) = &status.failed {
        return (why.to_string(), depth.on(PALETTE.on_failed, PALETTE.failed));
    }
    // The timeline's head has the finding of the last change.
    let has_head = places.timeline.is_some();
    let is_new = |notice: &&Message| !(has_head && is_said_by(notice, status));
    let of_session = status.notice.as_ref().filter(is_new);
    if let Some(notice) = screen.drawing.notice.as_ref().or(of_session) {
        return (
            notice.to_string(),
            depth.on(PALETTE.on_notice, PALETTE.notice),
        );
    }
    if screen.options.timeline && places.timeline.is_none() {
        let sentence = tr!("the terminal is too small for the timeline");
        return (sentence.into(), depth.on(PALETTE.on_notice, PALETTE.notice));
    }
    if let Some(comparison) = &status.comparison {
        let line = in_one_line(comparison, status.kernel);
        return (line, depth.text(PALETTE.accent));
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
    let hints = hints.map(|(action, word)| format!("{} {word}", action.key()));
    let style = match depth {
        ColourDepth::None => Style::new().dim(),
        _ => depth.text(PALETTE.label),
    };
    (hints.join(" · "), style)
}
