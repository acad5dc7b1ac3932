//! What stands over the panels: the keys, the switches, the ladder, a lesson.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Padding, Paragraph, Widget as _};

use crate::help::Help;
use crate::painting::TerminalView;
use crate::painting::colours::{ColourDepth, PALETTE};
use crate::painting::hud::cut;
use lang::tr;
use model::actions::{FrontEnd, Row, TABLE, Topic};
use model::{Status, Switch};
use screen::ladder::{LadderChart, Rung};
use screen::numbers::si;
use screen::{LessonEntry, LessonPage, LessonScreen, Screen, SidePanel};

/// A title and lines.
struct Card {
    title: String,
    lines: Vec<Line<'static>>,
    /// The line that must be seen.
    seen: Option<usize>,
    /// Columns and lines that it is made for, whatever it holds.
    least: [usize; 2],
    /// What Escape does.
    escape: &'static str,
}

impl Card {
    fn new(title: impl Into<String>, lines: Vec<Line<'static>>) -> Card {
        Card {
            title: title.into(),
            lines,
            seen: None,
            least: [0, 0],
            escape: tr!("Esc closes"),
        }
    }
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
    let card = if let Some(help) = &view.help {
        keys(help, depth)
    } else if let Some(lesson) = screen.lesson {
        match lesson {
            LessonScreen::Page(page) => page_of(page, depth, area.width.into()),
            LessonScreen::List { entries, selected } => {
                lessons(entries, *selected, depth, area.width.into())
            }
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
    let [columns, rows] = card.least;
    let widest = widest.max(columns).max(lang::columns(&card.title) + 24);
    let width = (widest as u16 + 4).min(area.width);
    let lines = card.lines.len();
    let text = Paragraph::new(card.lines);
    let height = lines.max(rows) as u16;
    let height = height.saturating_add(2).min(area.height);
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
            " {}–{last} of {lines} · ↑ ↓ · {escape} ",
            view.scroll + 1,
            last = last,
            lines = lines,
            escape = card.escape
        )
    } else {
        format!(" {} ", card.escape)
    };
    let block = Block::bordered()
        .border_style(depth.text(PALETTE.label))
        .title(Span::styled(
            format!(" {} ", card.title),
            depth.text(PALETTE.accent).bold(),
        ))
        .title_bottom(Line::styled(foot, depth.text(PALETTE.label)).right_aligned())
        .padding(Padding::horizontal(1));
    clear_halves(place, buffer);
    Clear.render(place, buffer);
    text.scroll((view.scroll as u16, 0))
        .block(block)
        .render(place, buffer);
}

/// A wide character that ends below the card's left border would be drawn over it.
pub(super) fn clear_halves(card: Rect, buffer: &mut Buffer) {
    let Some(beside) = card.x.checked_sub(1) else {
        return;
    };
    for y in card.y..card.bottom() {
        if let Some(cell) = buffer.cell_mut((beside, y))
            && lang::columns(cell.symbol()) > 1
        {
            cell.set_symbol(" ");
        }
    }
}

/// The lessons, their names in a column; a title that is too long for so many columns is cut.
fn lessons(entries: &[LessonEntry], selected: usize, depth: ColourDepth, columns: usize) -> Card {
    let names = entries.iter().map(|entry| lang::columns(&entry.name)).max();
    let line = |(at, entry): (usize, &LessonEntry)| {
        let name = lang::align_left(&entry.name, names.unwrap_or(0));
        let text = cut(
            &format!("{name}  {}", entry.title),
            columns.saturating_sub(4),
        );
        let line = Line::from(text).style(depth.text(PALETTE.value));
        match at == selected {
            true => line.reversed(),
            false => line,
        }
    };
    let lines = entries.iter().enumerate().map(line).collect();
    Card {
        seen: Some(selected),
        ..Card::new(tr!("Lessons · Enter opens"), lines)
    }
}

/// The keys that work here and have what was typed, by topic; as large as all of them.
fn keys(help: &Help, depth: ColourDepth) -> Card {
    let all = key_lines(&[], depth);
    let widest = all.iter().map(Line::width).max().unwrap_or(0);
    let least = [widest, all.len()];
    let title = tr!("Keyboard shortcuts");
    if help.typed().is_empty() {
        let title = format!("{title} · {}", tr!("Type to search"));
        return Card {
            least,
            ..Card::new(title, all)
        };
    }
    let mut found = key_lines(&help.words(), depth);
    if found.is_empty() {
        let nothing = Line::styled(tr!("No matching command"), depth.text(PALETTE.label));
        found.push(nothing);
    }
    Card {
        least,
        escape: tr!("Esc clears"),
        ..Card::new(format!("{title} · {}▏", help.typed()), found)
    }
}

/// The rows that have all of these words, below their topics.
fn key_lines(words: &[String], depth: ColourDepth) -> Vec<Line<'static>> {
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
        let found = topic.rows().filter(here);
        let found = found.filter(|row| row.is_found_by(words));
        let rows: Vec<Line<'static>> = found.map(line).collect();
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
    lines
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
            // Below the first letter of the choices, each of which has a blank before it.
            let text = format!("{:18}{}", "", choice.effect);
            lines.push(Line::styled(text, depth.text(PALETTE.label)));
        }
    }
    Card::new(tr!("Switches"), lines)
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
    Card::new(tr!("The ladder"), lines)
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
    if let Some(speedup) = &page.speedup {
        say(&speedup.caption(), depth.text(PALETTE.label));
        for nth in 0..speedup.measured() {
            let [instances, rates] = speedup.row(nth);
            say(&format!("{instances}: {rates}"), depth.text(PALETTE.value));
        }
        for series in &speedup.series {
            if let Some(why) = &series.unavailable {
                let title = lang::text(series.title);
                say(&format!("{title}: {why}"), depth.text(PALETTE.label));
            }
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
    let title = tr!("{} · {} of {} · ← →", page.title, page.number, page.of);
    Card::new(title, lines)
}

/// A line broken between words into lines of at most so many columns; a longer word is broken too.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let options = textwrap::Options::new(columns).wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    let lines = textwrap::wrap(text, options).into_iter();
    lines.map(|line| line.into_owned()).collect()
}
