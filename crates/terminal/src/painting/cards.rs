//! What stands over the panels: the keys, the switches, the ladder, a lesson.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Padding, Paragraph, Widget as _};

use crate::help::Help;
use crate::painting::colours::{ColourDepth, PALETTE};
use crate::painting::text::wrap;
use crate::painting::{TerminalFrame, TerminalView};
use crate::prompt::PromptField;
use lang::tr;
use lesson::Speedup;
use ui::actions::{Row, TABLE, Topic};
use ui::lab::SwitchRow;
use ui::ladder::Rung;
use ui::numbers::si;
use ui::rung_source::{Change, SourceLine};
use ui::{LadderChart, LessonEntry, LessonPage, LessonScreen, RungSource, Sources};

/// A title and lines.
struct Card {
    title: String,
    lines: Vec<Line<'static>>,
    /// The lines that must be seen.
    seen: Option<Range<usize>>,
    /// Minimum columns and lines, so that its size does not change with its content.
    min_size: [usize; 2],
    /// Which entry of a list is selected, from 1, and how many there are.
    entry: Option<[usize; 2]>,
    /// What Escape does.
    escape: &'static str,
}

impl Card {
    fn new(title: impl Into<String>, lines: Vec<Line<'static>>) -> Card {
        Card {
            title: title.into(),
            lines,
            seen: None,
            min_size: [0, 0],
            entry: None,
            escape: tr!("Esc closes"),
        }
    }

    /// With the title between blanks in the border, or over the lines where the border is too short
    /// for it.
    fn with_title_inside(self, depth: ColourDepth, columns: usize) -> Card {
        let in_border = format!(" {} ", self.title);
        if lang::columns(&in_border) <= columns + 2 {
            return Card {
                title: in_border,
                ..self
            };
        }
        let style = depth.text(PALETTE.accent).bold();
        let title = wrap(&self.title, columns).into_iter();
        let mut lines: Vec<Line<'static>> = title.map(|line| Line::styled(line, style)).collect();
        lines.push(Line::default());
        let over = lines.len();
        lines.extend(self.lines);
        let [min_columns, min_rows] = self.min_size;
        Card {
            title: String::new(),
            lines,
            seen: self.seen.map(|seen| seen.start + over..seen.end + over),
            min_size: [min_columns, min_rows + over.min(min_rows)],
            ..self
        }
    }
}

/// Paints the topmost card, if there is one, into the middle of `area`.
pub(super) fn paint(
    view: &mut TerminalView,
    frame: &TerminalFrame<'_>,
    area: Rect,
    buffer: &mut Buffer,
) {
    let (screen, depth) = (frame.screen, view.depth);
    // Without the border and a blank at each side.
    let columns = usize::from(area.width.saturating_sub(4));
    let card = if let Some(field) = &view.prompt {
        prompt(field, frame.sources, depth, columns)
    } else if let Some(help) = &view.help {
        keys(help, depth, columns)
    } else if let Some(lesson) = screen.lesson.as_deref() {
        match lesson {
            LessonScreen::Page(page) => page_of(page, depth, columns),
            LessonScreen::List { entries, selected } => lessons(entries, *selected, depth, columns),
        }
    } else if let Some(lab) = &screen.lab {
        switches(&lab.switches, depth, columns)
    } else if let Some(source) = &screen.source {
        rung_source(source, depth, columns)
    } else if let Some(chart) = &screen.ladder {
        ladder(chart, depth, columns)
    } else {
        // The terminal does not draw the population graph.
        return;
    };
    let card = card.with_title_inside(depth, columns);
    let widest = card.lines.iter().map(Line::width).max().unwrap_or(0);
    let [min_columns, min_rows] = card.min_size;
    let widest = widest.max(min_columns).max(lang::columns(&card.title) + 24);
    let width = (widest as u16 + 4).min(area.width);
    let lines = card.lines.len();
    let text = Paragraph::new(card.lines);
    let height = lines.max(min_rows) as u16;
    let height = height.saturating_add(2).min(area.height);
    let room = usize::from(height.saturating_sub(2));
    let most = lines.saturating_sub(room);
    view.scroll = view.scroll.min(most);
    if let Some(seen) = card.seen {
        let first = seen.end.saturating_sub(room).min(seen.start);
        view.scroll = view.scroll.clamp(first, seen.start);
    }
    let place = Rect::new(
        area.x + (area.width - width) / 2,
        area.y + (area.height - height) / 2,
        width,
        height,
    );
    let whole = match card.entry {
        Some([at, count]) => Some(tr!(
            " {at} of {count} · ↑ ↓ · {escape} ",
            escape = card.escape
        )),
        None => (most > 0).then(|| {
            tr!(
                " {}–{last} of {lines} · ↑ ↓ · {escape} ",
                view.scroll + 1,
                last = (view.scroll + room).min(lines),
                escape = card.escape
            )
        }),
    };
    let scrolls = whole.map(|whole| [whole, format!(" ↑ ↓ · {} ", card.escape)]);
    let fits = |text: &String| lang::columns(text) + 2 <= usize::from(width);
    let foot = scrolls.into_iter().flatten().find(fits);
    let foot = foot.unwrap_or_else(|| format!(" {} ", card.escape));
    let block = Block::bordered()
        .border_style(depth.text(PALETTE.label))
        .title(Span::styled(card.title, depth.text(PALETTE.accent).bold()))
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

/// What is typed into a field, and what is wrong with it or what the value is now.
fn prompt(field: &PromptField, sources: Sources<'_>, depth: ColourDepth, columns: usize) -> Card {
    let most = sources.most_instances();
    let read = field.setting.read(&field.typed, most);
    let (below, style) = match (&field.refused, read, sources.status) {
        (Some(why), ..) => (why.clone(), depth.text(PALETTE.accent)),
        (None, Err(why), _) if !field.typed.is_empty() => (why, depth.text(PALETTE.label)),
        (None, _, Some(status)) => (
            field.setting.present(status, most),
            depth.text(PALETTE.label),
        ),
        (None, _, None) => Default::default(),
    };
    let shown = match field.typed.as_str() {
        "" => Line::from(vec![
            Span::raw("▏"),
            Span::styled(field.setting.example(), depth.text(PALETTE.label)),
        ]),
        typed => Line::styled(format!("{typed}▏"), depth.text(PALETTE.value)),
    };
    let mut lines = vec![shown, Line::default()];
    let below = wrap(&below, columns.min(MAX_PROMPT)).into_iter();
    lines.extend(below.map(|line| Line::styled(line, style)));
    Card {
        // As wide and high whatever it says: nothing moves.
        min_size: [MAX_PROMPT.min(columns), 5],
        ..Card::new(field.setting.title(), lines)
    }
}

/// The most columns of a field's texts.
const MAX_PROMPT: usize = 60;

/// The lessons, their names in a column; a title goes on in the next line where it is too long for
/// these columns, and starts there where few are left beside the names.
fn lessons(entries: &[LessonEntry], selected: usize, depth: ColourDepth, columns: usize) -> Card {
    let names = entries.iter().map(|entry| lang::columns(&entry.name));
    let widest = names.max().unwrap_or(0);
    let is_beside = widest + GAP + MIN_TEXT <= columns;
    let indent = if is_beside { widest + GAP } else { GAP };
    let mut lines = Vec::new();
    let mut seen = None;
    for (at, entry) in entries.iter().enumerate() {
        let first = lines.len();
        let mut titles = wrap(&entry.title, columns.saturating_sub(indent)).into_iter();
        let mut texts = if is_beside {
            let name = lang::align_left(&entry.name, widest);
            let title = titles.next().unwrap_or_default();
            vec![format!("{name}{:GAP$}{title}", "")]
        } else {
            wrap(&entry.name, columns)
        };
        texts.extend(titles.map(|title| format!("{:indent$}{title}", "")));
        let style = if at == selected {
            depth.text(PALETTE.value).reversed()
        } else {
            depth.text(PALETTE.value)
        };
        lines.extend(texts.into_iter().map(|text| Line::styled(text, style)));
        if at == selected {
            seen = Some(first..lines.len());
        }
    }
    Card {
        seen,
        entry: Some([selected + 1, entries.len()]),
        ..Card::new(tr!("Lessons · Enter opens"), lines)
    }
}

/// The keys that work here and have what was typed, by topic; as large as all of them.
fn keys(help: &Help, depth: ColourDepth, columns: usize) -> Card {
    let all = key_lines(&[], depth, columns);
    let widest = all.iter().map(Line::width).max().unwrap_or(0);
    let min_size = [widest, all.len()];
    let title = tr!("Keyboard shortcuts");
    if help.typed().is_empty() {
        let title = format!("{title} · {}", tr!("Type to search"));
        return Card {
            min_size,
            ..Card::new(title, all)
        };
    }
    let mut found = key_lines(&help.words(), depth, columns);
    if found.is_empty() {
        let nothing = Line::styled(tr!("No matching command"), depth.text(PALETTE.label));
        found.push(nothing);
    }
    Card {
        min_size,
        escape: tr!("Esc clears"),
        ..Card::new(format!("{title} · {}▏", help.typed()), found)
    }
}

/// The fewest columns for a text beside a name or keys.
const MIN_TEXT: usize = 20;
/// Between a name or keys and the text.
const GAP: usize = 2;

/// The rows that have all of these words, below their topics. What a key does goes on in the next
/// line where it is too long for these columns, and starts there where few are left beside the keys.
fn key_lines(words: &[String], depth: ColourDepth, columns: usize) -> Vec<Line<'static>> {
    let here = |row: &&Row| row.in_terminal;
    let rows = TABLE.iter().filter(here);
    let widest = rows.map(|row| lang::columns(&row.keys())).max();
    let widest = widest.unwrap_or(0);
    let is_beside = widest + GAP + MIN_TEXT <= columns;
    let indent = if is_beside { widest + GAP } else { GAP };
    let keys = depth.text(PALETTE.accent);
    let help = depth.text(PALETTE.value);
    let mut lines = Vec::new();
    for topic in Topic::ALL {
        let row_lines = |row: &Row| -> Vec<Line<'static>> {
            let texts = wrap(row.help(), columns.saturating_sub(indent));
            let mut texts = texts.into_iter();
            let mut lines = Vec::new();
            if is_beside {
                let of_row = lang::align_right(&row.keys(), widest) + " ".repeat(GAP).as_str();
                lines.push(Line::from(vec![
                    Span::styled(of_row, keys),
                    Span::styled(texts.next().unwrap_or_default(), help),
                ]));
            } else {
                let of_row = wrap(&row.keys(), columns).into_iter();
                lines.extend(of_row.map(|line| Line::styled(line, keys)));
            }
            let rest = texts.map(|text| format!("{:indent$}{text}", ""));
            lines.extend(rest.map(|line| Line::styled(line, help)));
            lines
        };
        let found = topic.rows().filter(here);
        let found = found.filter(|row| row.is_found_by(words));
        let rows: Vec<Line<'static>> = found.flat_map(row_lines).collect();
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

/// Columns of a switch's key and name.
const SWITCH: usize = 17;

/// Every switch and its positions, the present one marked, the others refused where they cannot
/// be.
fn switches(switches: &[SwitchRow], depth: ColourDepth, columns: usize) -> Card {
    let mut lines = Vec::new();
    for row in switches {
        let name = lang::align_left(&row.name, 12);
        let head = format!("{}  {name} ", row.key);
        let mut spans = vec![Span::styled(head, depth.text(PALETTE.accent))];
        let mut used = SWITCH;
        for (at, position) in row.positions.iter().enumerate() {
            let style = match (at == row.present, &position.unavailable) {
                (true, _) => depth.text(PALETTE.value).reversed(),
                (false, None) => depth.text(PALETTE.value),
                (false, Some(_)) => depth.text(PALETTE.label).dim().crossed_out(),
            };
            let label = format!(" {} ", position.label);
            if used + lang::columns(&label) > columns && used > SWITCH {
                let indent = Span::raw(" ".repeat(SWITCH));
                lines.push(Line::from(std::mem::replace(&mut spans, vec![indent])));
                used = SWITCH;
            }
            used += lang::columns(&label);
            spans.push(Span::styled(label, style));
        }
        lines.push(Line::from(spans));
        if let Some(position) = row.positions.get(row.present) {
            // Below the first letter of the positions, each of which has a blank before it.
            let indent = SWITCH + 1;
            let texts = wrap(&position.effect, columns.saturating_sub(indent));
            let texts = texts
                .into_iter()
                .map(|text| format!("{:indent$}{text}", ""));
            let style = depth.text(PALETTE.label);
            lines.extend(texts.map(|text| Line::styled(text, style)));
        }
    }
    Card::new(tr!("Switches"), lines)
}

/// Columns of a kernel's name and its rate.
const RUNG: usize = 29;
/// Columns of the longest bar.
const MAX_BAR: usize = 40;

fn ladder(chart: &LadderChart, depth: ColourDepth, columns: usize) -> Card {
    let rate = |rung: &Rung| rung.mark.map(|(rate, _)| rate);
    let most = chart.rungs.iter().filter_map(rate).fold(0.0, f64::max);
    let columns = columns.min(RUNG + MAX_BAR);
    let bars = columns.saturating_sub(RUNG) as f64;
    let say = |text: &str, style: Style| -> Vec<Line<'static>> {
        let lines = wrap(text, columns).into_iter();
        lines.map(|line| Line::styled(line, style)).collect()
    };
    let mut lines = say(&chart.headline, depth.text(PALETTE.accent));
    lines.push(Line::default());
    for rung in &chart.rungs {
        let rate = rate(rung);
        let bar = match rate {
            // Seven decades on all columns.
            Some(rate) if rate > 0.0 => {
                let part = 1.0 + (rate / most).log10() / 7.0;
                "█".repeat((bars * part.clamp(0.0, 1.0)).round() as usize)
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
        lines.extend(say(&rung.idea, depth.text(PALETTE.label)));
    }
    lines.push(Line::default());
    lines.extend(say(&chart.caption, depth.text(PALETTE.label)));
    Card::new(tr!("The ladder"), lines)
}

/// A rung's source; what changed from the rung that it is compared with has the signs of a diff.
fn rung_source(source: &RungSource, depth: ColourDepth, columns: usize) -> Card {
    let of = |line: SourceLine| {
        let style = depth.text(match line.change {
            Change::Added => PALETTE.running,
            Change::Removed => PALETTE.failed_text,
            Change::Same => PALETTE.value,
        });
        Line::styled(format!("{} {}", line.change.sign(), line.text), style)
    };
    let lines = source
        .wrapped(columns.saturating_sub(2).max(20))
        .into_iter();
    let title = match source.compared_with {
        Some(before) => tr!(
            "{name} (+ and −: against {kernel})",
            name = source.kernel.name,
            kernel = before
        ),
        None => source.kernel.name.into(),
    };
    Card::new(title, lines.map(of).collect())
}

fn page_of(page: &LessonPage, depth: ColourDepth, columns: usize) -> Card {
    let columns = columns.clamp(20, 76);
    let mut lines: Vec<Line<'static>> = Vec::new();
    let mut say = |text: &str, style: Style| {
        let wrapped = text.lines().flat_map(|line| wrap(line, columns));
        lines.extend(wrapped.map(|line| Line::styled(line, style)));
    };
    let [value, label] = [PALETTE.value, PALETTE.label].map(|colour| depth.text(colour));
    let (accent, running) = (depth.text(PALETTE.accent), depth.text(PALETTE.running));
    let measured = if page.recorded.is_empty() {
        value
    } else {
        depth.text(PALETTE.recorded)
    };
    say(&page.about, label);
    say(" ", value);
    if !page.intro.is_empty() {
        say(&page.intro, value);
        say(" ", value);
    }
    say(&page.question, accent.bold());
    for (at, choice) in page.choices.iter().enumerate() {
        let sign = if choice.is_chosen { '▶' } else { ' ' };
        let right = if choice.is_right { " ✓" } else { "" };
        let style = if choice.is_right { running } else { value };
        say(&format!("{sign}{}  {}{right}", at + 1, choice.text), style);
    }
    if !page.recorded.is_empty() {
        say(" ", value);
        say(&page.recorded, measured);
    }
    if let Some(speedup) = &page.speedup {
        say(" ", value);
        for text in [&speedup.caption(), Speedup::meaning()] {
            say(text, label);
        }
        for nth in 0..speedup.measured() {
            let [instances, rates] = speedup.row(nth);
            say(&format!("{instances}: {rates}"), measured);
        }
        for series in &speedup.series {
            if let Some(why) = &series.unavailable {
                say(&format!("{}: {why}", lang::shown(&series.title)), label);
            }
        }
    }
    for column in &page.columns {
        say(" ", value);
        say(&column.title, value.bold());
        for line in &column.code {
            let sign = if line.is_changed { '±' } else { ' ' };
            say(
                &format!("{sign} {}", line.text),
                if line.is_changed { running } else { label },
            );
        }
        for (what, figure) in &column.figures {
            say(&format!("{what}: {figure}"), measured);
        }
        say(&column.note, label);
    }
    if !page.bars.is_empty() {
        say(" ", value);
    }
    let longest = page
        .bars
        .iter()
        .map(|bar| bar.milliseconds)
        .fold(1e-9, f64::max);
    for bar in &page.bars {
        let length = (bar.milliseconds / longest * (columns as f64 - 2.0)).round() as usize;
        let (fill, style, text) = if bar.is_prediction {
            ("░", accent, value)
        } else {
            ("█", measured, measured)
        };
        say(&format!("{}: {}", bar.label, bar.text), text);
        say(&fill.repeat(length.max(1)), style);
    }
    if let Some(progress) = &page.progress {
        say(" ", value);
        say(progress, accent);
    }
    if !page.conclusion.is_empty() {
        say(" ", value);
        say(&page.conclusion, measured);
    }
    for (what, passed) in &page.checks {
        let (sign, style) = if *passed {
            ("✓", running)
        } else {
            ("✗", depth.text(PALETTE.failed_text))
        };
        say(&format!("{sign} {what}"), style);
    }
    if !page.note.is_empty() {
        say(" ", value);
        say(&page.note, label);
    }
    let title = tr!("{} · {} of {} · ← →", page.title, page.number, page.of);
    Card::new(title, lines)
}
