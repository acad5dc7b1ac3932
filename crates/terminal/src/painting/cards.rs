//! What stands over the panels: the keys, the switches, the ladder, a lesson.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Padding, Paragraph, Widget as _};

use crate::keys::Field;
use crate::painting::colours::{ColourDepth, PALETTE};
use crate::painting::text::wrap;
use crate::painting::{TerminalFrame, TerminalView};
use lang::tr;
use lesson::{LESSONS, Speedup};
use ui::actions::{Row, Setting, TABLE, Topic, search};
use ui::lab::SwitchRow;
use ui::ladder::Rung;
use ui::numbers::si;
use ui::rung_source::{Change, SourceLine};
use ui::{LadderChart, LessonPage, LessonScreen, RungSource, Sources};

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
        let mut lines: Vec<Line<'static>> = say(&self.title, style, columns).collect();
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
    let card = if let Some(field) = &view.field {
        match field.setting {
            Some(setting) => prompt(field, setting, frame.sources, depth, columns),
            None => keys(&field.typed, depth, columns),
        }
    } else if let Some(lesson) = frame.sources.lesson {
        match lesson {
            LessonScreen::Page(page) => page_of(page, depth, columns),
            LessonScreen::List { selected } => lessons(*selected, depth, columns),
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
    let place = area.centered(Constraint::Length(width), Constraint::Length(height));
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

/// A text in lines of a style.
fn say(text: &str, style: Style, columns: usize) -> impl Iterator<Item = Line<'static>> {
    let lines = wrap(text, columns).into_iter();
    lines.map(move |line| Line::styled(line, style))
}

/// What is typed into a field, and what is wrong with it or what the value is now.
fn prompt(
    field: &Field,
    setting: Setting,
    sources: Sources<'_>,
    depth: ColourDepth,
    columns: usize,
) -> Card {
    let most = sources.most_instances();
    let read = setting.read(&field.typed, most);
    let (below, style) = match (&field.refused, read, sources.status) {
        (Some(why), ..) => (why.clone(), depth.text(PALETTE.accent)),
        (None, Err(why), _) if !field.typed.is_empty() => (why, depth.text(PALETTE.label)),
        (None, _, Some(status)) => (setting.present(status, most), depth.text(PALETTE.label)),
        (None, _, None) => Default::default(),
    };
    let shown = match field.typed.as_str() {
        "" => Line::from(vec![
            Span::raw("▏"),
            Span::styled(setting.example(), depth.text(PALETTE.label)),
        ]),
        typed => Line::styled(format!("{typed}▏"), depth.text(PALETTE.value)),
    };
    let mut lines = vec![shown, Line::default()];
    lines.extend(say(&below, style, columns.min(MAX_PROMPT)));
    Card {
        // As wide and high whatever it says: nothing moves.
        min_size: [MAX_PROMPT.min(columns), 5],
        ..Card::new(setting.title(), lines)
    }
}

/// The most columns of a field's texts.
const MAX_PROMPT: usize = 60;

/// The fewest columns for a text beside a name or keys.
const MIN_TEXT: usize = 20;
/// Between a name or keys and the text.
const GAP: usize = 2;

/// A name, which is set in so many columns, and beside it its text, which goes on in the next line where it
/// is too long for the card's `columns`; it starts there where few are left beside the name.
fn named(
    name: &str,
    text: &str,
    [widest, columns]: [usize; 2],
    styles: [Style; 2],
) -> Vec<Line<'static>> {
    let is_beside = widest + GAP + MIN_TEXT <= columns;
    let indent = if is_beside { widest + GAP } else { GAP };
    let name = if is_beside {
        vec![lang::align_left(name, widest)]
    } else {
        wrap(name, columns)
    };
    let mut text = wrap(text, columns.saturating_sub(indent)).into_iter();
    let mut lines: Vec<Line<'static>> = name
        .into_iter()
        .map(|name| Line::styled(name, styles[0]))
        .collect();
    if is_beside {
        let beside = format!("{:GAP$}{}", "", text.next().unwrap_or_default());
        lines[0].push_span(Span::styled(beside, styles[1]));
    }
    lines.extend(text.map(|text| Line::styled(format!("{:indent$}{text}", ""), styles[1])));
    lines
}

/// The lessons, their names in a column.
fn lessons(selected: usize, depth: ColourDepth, columns: usize) -> Card {
    let names = LESSONS.iter().map(|lesson| lang::columns(lesson.name));
    let widths = [names.max().unwrap_or(0), columns];
    let mut lines = Vec::new();
    let mut seen = None;
    for (at, lesson) in LESSONS.iter().enumerate() {
        let first = lines.len();
        let value = depth.text(PALETTE.value);
        let style = if at == selected {
            value.reversed()
        } else {
            value
        };
        let title = lang::text(lesson.title);
        lines.extend(named(lesson.name, title, widths, [style; 2]));
        if at == selected {
            seen = Some(first..lines.len());
        }
    }
    Card {
        seen,
        entry: Some([selected + 1, LESSONS.len()]),
        ..Card::new(tr!("Lessons · Enter opens"), lines)
    }
}

/// The keys that work here and have what was typed, by topic; as large as all of them.
fn keys(typed: &str, depth: ColourDepth, columns: usize) -> Card {
    let all = key_lines(&[], depth, columns);
    let widest = all.iter().map(Line::width).max().unwrap_or(0);
    let min_size = [widest, all.len()];
    let title = tr!("Keyboard shortcuts");
    let (shown, escape, lines) = match typed {
        "" => (tr!("Type to search").to_owned(), tr!("Esc closes"), all),
        typed => {
            let found = key_lines(&search::words(typed), depth, columns);
            (format!("{typed}▏"), tr!("Esc clears"), found)
        }
    };
    let nothing = || Line::styled(tr!("No matching command"), depth.text(PALETTE.label));
    let lines = if lines.is_empty() {
        vec![nothing()]
    } else {
        lines
    };
    Card {
        min_size,
        escape,
        ..Card::new(format!("{title} · {shown}"), lines)
    }
}

/// The rows that have all of these words, below their topics.
fn key_lines(words: &[String], depth: ColourDepth, columns: usize) -> Vec<Line<'static>> {
    let here = |row: &&Row| row.in_terminal;
    let rows = TABLE.iter().filter(here);
    let widest = rows.map(|row| lang::columns(&row.keys())).max();
    let widths = [widest.unwrap_or(0), columns];
    let value = depth.text(PALETTE.value);
    let styles = [depth.text(PALETTE.accent), value];
    let mut lines = Vec::new();
    for topic in Topic::ALL {
        let found = topic.rows().filter(here);
        let found = found.filter(|row| row.is_found_by(words));
        let rows: Vec<Line<'static>> = found
            .flat_map(|row| named(&row.keys(), row.help(), widths, styles))
            .collect();
        if rows.is_empty() {
            continue;
        }
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.push(Line::styled(topic.title(), value.bold()));
        lines.extend(rows);
    }
    lines
}

/// Columns of a switch's key and name.
const SWITCH: usize = 17;

/// Every switch and its positions, the present one marked, the others refused where they cannot
/// be.
fn switches(switches: &[SwitchRow], depth: ColourDepth, columns: usize) -> Card {
    let [value, label] = [PALETTE.value, PALETTE.label].map(|colour| depth.text(colour));
    let mut lines: Vec<Line<'static>> = Vec::new();
    for row in switches {
        let head = format!("{}  {} ", row.key, lang::align_left(&row.name, 12));
        let mut line = Line::styled(head, depth.text(PALETTE.accent));
        for (at, position) in row.positions.iter().enumerate() {
            let style = match (at == row.present, &position.unavailable) {
                (true, _) => value.reversed(),
                (false, None) => value,
                (false, Some(_)) => label.dim().crossed_out(),
            };
            let position = Span::styled(format!(" {} ", position.label), style);
            if line.width() + position.width() > columns && line.spans.len() > 1 {
                lines.push(std::mem::replace(&mut line, Line::from(" ".repeat(SWITCH))));
            }
            line.push_span(position);
        }
        lines.push(line);
        if let Some(position) = row.positions.get(row.present) {
            // Below the first letter of the positions, each of which has a blank before it.
            let indent = SWITCH + 1;
            let texts = wrap(&position.effect, columns.saturating_sub(indent)).into_iter();
            lines.extend(texts.map(|text| Line::styled(format!("{:indent$}{text}", ""), label)));
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
    let label = depth.text(PALETTE.label);
    let mut lines = Vec::from_iter(say(&chart.headline, depth.text(PALETTE.accent), columns));
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
        let value = depth.text(PALETTE.value);
        let style = if rung.present {
            value.reversed()
        } else {
            value
        };
        lines.push(Line::from(vec![
            Span::styled(format!("{:<14}", rung.name), style),
            Span::styled(format!(" {rate:>13} "), value),
            Span::styled(bar, depth.text(PALETTE.accent)),
        ]));
        lines.extend(say(&rung.idea, label, columns));
    }
    lines.push(Line::default());
    lines.extend(say(&chart.caption, label, columns));
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

/// What a lesson's page says, in sections with a blank line between.
fn page_of(page: &LessonPage, depth: ColourDepth, columns: usize) -> Card {
    let columns = columns.clamp(20, 76);
    let [value, label, accent, running] = [
        PALETTE.value,
        PALETTE.label,
        PALETTE.accent,
        PALETTE.running,
    ]
    .map(|colour| depth.text(colour));
    let measured = if page.recorded.is_empty() {
        value
    } else {
        depth.text(PALETTE.recorded)
    };
    let of = |text: &str, style: Style| vec![(text.to_owned(), style)];
    let mut question = of(&page.question, accent.bold());
    question.extend(page.choices.iter().zip(1..).map(|(choice, number)| {
        let sign = if choice.is_chosen { '▶' } else { ' ' };
        let (right, style) = if choice.is_right {
            (" ✓", running)
        } else {
            ("", value)
        };
        (format!("{sign}{number}  {}{right}", choice.text), style)
    }));
    let mut sections = vec![
        of(&page.about, label),
        of(&page.intro, value),
        question,
        of(&page.recorded, measured),
    ];
    if let Some(speedup) = &page.speedup {
        let mut said = of(&speedup.caption(), label);
        said.extend(of(Speedup::meaning(), label));
        for nth in 0..speedup.measured() {
            let [instances, rates] = speedup.row(nth);
            said.push((format!("{instances}: {rates}"), measured));
        }
        for series in &speedup.series {
            let why = series.unavailable.iter();
            let said_of = |why| format!("{}: {why}", lang::shown(&series.title));
            said.extend(why.map(|why| (said_of(why), label)));
        }
        sections.push(said);
    }
    for column in &page.columns {
        let mut said = of(&column.title, value.bold());
        said.extend(column.code.iter().map(|line| {
            let (sign, style) = if line.is_changed {
                ('±', running)
            } else {
                (' ', label)
            };
            (format!("{sign} {}", line.text), style)
        }));
        let figures = column.figures.iter();
        said.extend(figures.map(|(what, figure)| (format!("{what}: {figure}"), measured)));
        said.extend(of(&column.note, label));
        sections.push(said);
    }
    let times = page.bars.iter().map(|bar| bar.milliseconds);
    let longest = times.fold(1e-9, f64::max);
    let bars = page.bars.iter().flat_map(|bar| {
        let length = (bar.milliseconds / longest * (columns as f64 - 2.0)).round() as usize;
        let (fill, style, text) = if bar.is_prediction {
            ("░", accent, value)
        } else {
            ("█", measured, measured)
        };
        let said = format!("{}: {}", bar.label, bar.text);
        [(said, text), (fill.repeat(length.max(1)), style)]
    });
    let checks = page.checks.iter().map(|(what, passed)| {
        let (sign, style) = if *passed {
            ("✓", running)
        } else {
            ("✗", depth.text(PALETTE.failed_text))
        };
        (format!("{sign} {what}"), style)
    });
    let conclusion = of(&page.conclusion, measured).into_iter();
    sections.extend([
        bars.collect(),
        of(page.progress.as_deref().unwrap_or_default(), accent),
        conclusion.chain(checks).collect(),
        of(&page.note, label),
    ]);
    let mut lines: Vec<Line<'static>> = Vec::new();
    for section in sections {
        let texts = section.iter().flat_map(|(text, style)| {
            let lines = text.lines();
            lines.flat_map(|line| say(line, *style, columns))
        });
        let texts: Vec<Line<'static>> = texts.collect();
        if !texts.is_empty() && !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(texts);
    }
    let title = tr!("{} · {} of {} · ← →", page.title, page.number, page.of);
    Card::new(title, lines)
}
