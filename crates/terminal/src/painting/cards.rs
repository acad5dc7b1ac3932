//! What stands over the panels: the keys, the switches, the ladder, a lesson.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Padding, Paragraph, Widget as _};

use crate::painting::TerminalView;
use crate::painting::colours::{ColourDepth, PALETTE};
use lang::tr;
use model::actions::{FrontEnd, Row, TABLE, Topic};
use model::{Status, Switch};
use screen::ladder::{LadderChart, Rung};
use screen::numbers::si;
use screen::{LessonPage, LessonScreen, Screen, SidePanel};

/// A title and lines.
struct Card {
    title: String,
    lines: Vec<Line<'static>>,
    /// The line that must be seen.
    seen: Option<usize>,
}

/// Paints the topmost card, if there is one, into the middle of `area`.
pub(super) fn paint(
    view: &mut TerminalView,
    screen: &Screen<'_>,
    status: &Status,
    area: Rect,
    buffer: &mut Buffer,
) {
    let depth = view.depth;
    let card = if view.help {
        keys(depth)
    } else if let Some(lesson) = screen.lesson {
        match lesson {
            LessonScreen::Page(page) => page_of(page, depth, area.width.into()),
            LessonScreen::List { entries, selected } => Card {
                title: tr!("Lessons · Enter opens").into(),
                lines: entries
                    .iter()
                    .enumerate()
                    .map(|(at, entry)| {
                        let text = format!("{:<14} {}", entry.name, entry.title);
                        let line = Line::from(text).style(depth.text(PALETTE.value));
                        if at == *selected {
                            line.reversed()
                        } else {
                            line
                        }
                    })
                    .collect(),
                seen: Some(*selected),
            },
        }
    } else {
        match screen.options.side {
            Some(SidePanel::Lab) => switches(status, depth),
            Some(SidePanel::Ladder) => ladder(status, depth),
            // The terminal does not draw the population graph.
            Some(SidePanel::Population) | None => return,
        }
    };
    let widest = card.lines.iter().map(Line::width).max().unwrap_or(0);
    let width = (widest.max(lang::columns(&card.title) + 24) as u16 + 4).min(area.width);
    let lines = card.lines.len();
    let text = Paragraph::new(card.lines);
    let height = (lines as u16).saturating_add(2).min(area.height);
    let room = usize::from(height.saturating_sub(2));
    let most = lines.saturating_sub(room);
    view.scroll = view.scroll.min(most);
    if let Some(seen) = card.seen {
        view.scroll = view.scroll.clamp((seen + 1).saturating_sub(room), seen);
    }
    let place = Rect::new(
        area.x + (area.width - width) / 2,
        area.y + (area.height - height) / 2,
        width,
        height,
    );
    let foot = if most > 0 {
        let last = (view.scroll + room).min(lines);
        tr!(
            " {}–{last} of {lines} · ↑ ↓ · Esc closes ",
            view.scroll + 1,
            last = last,
            lines = lines
        )
    } else {
        tr!(" Esc closes ").into()
    };
    let block = Block::bordered()
        .border_style(depth.text(PALETTE.label))
        .title(Span::styled(
            format!(" {} ", card.title),
            depth.text(PALETTE.accent).bold(),
        ))
        .title_bottom(Line::styled(foot, depth.text(PALETTE.label)).right_aligned())
        .padding(Padding::horizontal(1));
    Clear.render(place, buffer);
    text.scroll((view.scroll as u16, 0))
        .block(block)
        .render(place, buffer);
}

/// The keys that work here, by topic.
fn keys(depth: ColourDepth) -> Card {
    let here = |row: &&Row| row.front_ends.include(FrontEnd::Terminal);
    let rows = TABLE.iter().filter(here);
    let widest = rows.map(|row| lang::columns(&row.keys())).max();
    let widest = widest.unwrap_or(0);
    let mut lines = Vec::new();
    for topic in Topic::ALL {
        let line = |row: &Row| {
            let keys = lang::align_right(&row.keys(), widest) + "  ";
            Line::from(vec![
                Span::styled(keys, depth.text(PALETTE.accent)),
                Span::styled(row.help(), depth.text(PALETTE.value)),
            ])
        };
        let rows: Vec<Line<'static>> = topic.rows().filter(here).map(line).collect();
        if rows.is_empty() {
            continue;
        }
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.push(Line::styled(
            topic.title(),
            depth.text(PALETTE.value).bold(),
        ));
        lines.extend(rows);
    }
    Card {
        title: tr!("Keyboard shortcuts").into(),
        lines,
        seen: None,
    }
}

/// Every switch and its positions, the present one marked, the others refused where they cannot
/// be.
fn switches(status: &Status, depth: ColourDepth) -> Card {
    let mut lines = Vec::new();
    for (at, switch) in Switch::ALL.into_iter().enumerate() {
        let name = lang::align_left(switch.name(), 12);
        let head = format!("F{}  {name} ", at + 2);
        let mut spans = vec![Span::styled(head, depth.text(PALETTE.accent))];
        let choices = switch.choices(status.switches, status.kernel);
        let present = switch.position(status.switches, status.kernel);
        for (at, choice) in choices.iter().enumerate() {
            let style = match (at == present, &choice.unavailable) {
                (true, _) => depth.text(PALETTE.value).reversed(),
                (false, None) => depth.text(PALETTE.value),
                (false, Some(_)) => depth.text(PALETTE.label).dim().crossed_out(),
            };
            spans.push(Span::styled(format!(" {} ", choice.label), style));
        }
        lines.push(Line::from(spans));
        if let Some(choice) = choices.get(present) {
            let text = format!("{:17}{}", "", choice.effect);
            lines.push(Line::styled(text, depth.text(PALETTE.label)));
        }
    }
    Card {
        title: tr!("Switches").into(),
        lines,
        seen: None,
    }
}

fn ladder(status: &Status, depth: ColourDepth) -> Card {
    let chart = LadderChart::of(status);
    let rate = |rung: &Rung| rung.mark.map(|(rate, _)| rate);
    let most = chart.rungs.iter().filter_map(rate).fold(0.0, f64::max);
    let mut lines = vec![
        Line::styled(chart.headline, depth.text(PALETTE.accent)),
        Line::default(),
    ];
    for rung in &chart.rungs {
        let rate = rate(rung);
        let bar = match rate {
            // Seven decades on forty columns.
            Some(rate) if rate > 0.0 => {
                let part = 1.0 + (rate / most).log10() / 7.0;
                "█".repeat((40.0 * part.clamp(0.0, 1.0)).round() as usize)
            }
            _ => String::new(),
        };
        let rate = rate.map_or("–".into(), |rate| format!("{}cell/s", si(rate)));
        let style = if rung.present {
            depth.text(PALETTE.value).reversed()
        } else {
            depth.text(PALETTE.value)
        };
        lines.push(Line::from(vec![
            Span::styled(format!("{:<14}", rung.name), style),
            Span::styled(format!(" {rate:>13} "), depth.text(PALETTE.value)),
            Span::styled(bar, depth.text(PALETTE.accent)),
        ]));
    }
    lines.extend([
        Line::default(),
        Line::styled(chart.caption, depth.text(PALETTE.label)),
    ]);
    Card {
        title: tr!("The ladder").into(),
        lines,
        seen: None,
    }
}

fn page_of(page: &LessonPage, depth: ColourDepth, columns: usize) -> Card {
    let columns = columns.saturating_sub(6).clamp(20, 76);
    let mut lines: Vec<Line<'static>> = Vec::new();
    let mut say = |text: &str, style: Style| {
        let wrapped = text.lines().flat_map(|line| wrap(line, columns));
        lines.extend(wrapped.map(|line| Line::styled(line, style)));
    };
    for (text, style) in [
        (&page.text, depth.text(PALETTE.value)),
        (&page.question, depth.text(PALETTE.accent).bold()),
    ] {
        if !text.is_empty() {
            say(text, style);
            say(" ", style);
        }
    }
    for (what, value) in &page.rows {
        say(&format!("{what}: {value}"), depth.text(PALETTE.value));
    }
    for (what, passed) in &page.checks {
        let (sign, style) = match passed {
            true => ("✓", depth.text(PALETTE.running)),
            false => ("✗", depth.text(PALETTE.failed_text)),
        };
        say(&format!("{sign} {what}"), style);
    }
    if page.busy {
        say(tr!("measuring …"), depth.text(PALETTE.accent));
    }
    if !page.note.is_empty() {
        say(" ", Style::new());
        say(&page.note, depth.text(PALETTE.label));
    }
    Card {
        title: tr!("{} · {} of {} · ← →", page.title, page.number, page.of),
        lines,
        seen: None,
    }
}

/// A line broken between words into lines of at most so many columns; a longer word is broken too.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let options = textwrap::Options::new(columns).wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    let lines = textwrap::wrap(text, options).into_iter();
    lines.map(|line| line.into_owned()).collect()
}
