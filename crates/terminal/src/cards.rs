//! What stands over the panels: the keys, the switches, the ladder, a lesson.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Padding, Paragraph, Widget as _};

use crate::input::Field;
use crate::style::{PALETTE, ink, wrap};
use lang::tr;
use lesson::{LESSONS, Speedup};
use ui::actions::{Row, Setting, TABLE, Topic, search};
use ui::lab::{self, SwitchRow};
use ui::numbers::si;
use ui::rung_source::{Change, SourceLine};
use ui::{App, LadderChart, LessonPage, RungSource, SidePanel};

/// A title and lines.
struct Card {
    title: String,
    lines: Vec<Line<'static>>,
    /// The lines that must be seen.
    seen: Option<Range<usize>>,
}

impl Card {
    fn new(title: impl Into<String>, lines: Vec<Line<'static>>) -> Card {
        let title = title.into();
        Card {
            title,
            lines,
            seen: None,
        }
    }
}

/// Paints the topmost card, if there is one, over the top of `area`; the title of the one `shown`, and the
/// first line of it that is.
pub(super) fn paint(
    field: Option<&Field>,
    (shown, first): (&mut Option<String>, &mut usize),
    app: &App,
    area: Rect,
    buffer: &mut Buffer,
) {
    // Without the border and a blank at each side.
    let columns = usize::from(area.width.saturating_sub(4));
    let card = if let Some(field) = field {
        Some(match (field.setting, field.lesson) {
            (Some(setting), _) => prompt(field, setting, app, columns),
            (None, Some(selected)) => lessons(selected, app, columns),
            (None, None) => keys(&field.typed, columns),
        })
    } else if let Some(page) = app.lessons.screen() {
        Some(page_of(page, columns.min(76)))
    } else {
        let status = app.status.as_deref();
        status.and_then(|status| match app.options.side? {
            SidePanel::Lab => Some(switches(&lab::switches(status), columns)),
            SidePanel::Ladder => Some(match RungSource::shown(&app.options, status) {
                Some(source) => rung_source(&source, columns),
                None => ladder(&LadderChart::of(status), columns),
            }),
            // The window alone draws the others.
            SidePanel::Causes | SidePanel::Population | SidePanel::Editor => None,
        })
    };
    let Some(card) = card else {
        *shown = None;
        return;
    };
    if shown.as_ref() != Some(&card.title) {
        *first = 0; // what else a card shows begins at its top
    }
    let lines = card.lines.len();
    let height = (lines as u16).saturating_add(2).min(area.height);
    let room = usize::from(height.saturating_sub(2));
    let mut top = (*first).min(lines - room);
    if let Some(seen) = card.seen {
        top = top.clamp(seen.end.saturating_sub(room).min(seen.start), seen.start);
    }
    *first = top;
    let scrolls = (lines > room).then(|| {
        tr!(
            " {from}–{to} of {} · ↑ ↓ ",
            lines,
            from = top + 1,
            to = top + room
        )
    });
    let block = Block::bordered()
        .border_style(ink(PALETTE.label))
        .title(Line::styled(
            format!(" {} ", card.title),
            ink(PALETTE.accent).bold(),
        ))
        .title_bottom(scrolls.unwrap_or_default())
        .title_bottom(Line::raw(format!(" {} ", tr!("Esc closes"))).right_aligned())
        .padding(Padding::horizontal(1));
    let place = Rect { height, ..area };
    Clear.render(place, buffer);
    let text = Paragraph::new(card.lines).scroll((top as u16, 0));
    text.block(block).render(place, buffer);
    *shown = Some(card.title);
}

/// A text in lines of a style.
fn say(text: &str, style: Style, columns: usize) -> Vec<Line<'static>> {
    let lines = text.lines().flat_map(|line| wrap(line, columns));
    lines.map(|line| Line::styled(line, style)).collect()
}

/// A name, which is set in so many columns, and beside it its text, which goes on below itself where it is
/// too long for the card's `columns`.
fn named(
    name: &str,
    text: &str,
    [widest, columns]: [usize; 2],
    styles: [Style; 2],
) -> Vec<Line<'static>> {
    let indent = widest + 2;
    let mut names = Some(name).into_iter();
    let lines = wrap(text, columns.saturating_sub(indent).max(8)).into_iter();
    let lines = lines.map(|text| {
        let name = lang::align_left(names.next().unwrap_or_default(), indent);
        Line::from(vec![
            Span::styled(name, styles[0]),
            Span::styled(text, styles[1]),
        ])
    });
    lines.collect()
}

/// What is typed into a field, and what is wrong with it or what the value is now.
fn prompt(field: &Field, setting: Setting, app: &App, columns: usize) -> Card {
    let label = ink(PALETTE.label);
    let (below, style) = match (&field.refused, setting.read(&field.typed), &app.status) {
        (Some(why), ..) => (why.clone(), ink(PALETTE.accent)),
        (None, Err(why), _) if !field.typed.is_empty() => (why, label),
        (None, _, Some(status)) => (setting.present(status), label),
        (None, _, None) => Default::default(),
    };
    let shown = match field.typed.as_str() {
        "" => Line::from(vec![Span::raw("▏"), Span::styled(setting.example(), label)]),
        typed => Line::styled(format!("{typed}▏"), ink(PALETTE.value)),
    };
    let mut lines = vec![shown, Line::default()];
    lines.extend(say(&below, style, columns));
    Card::new(setting.title(), lines)
}

/// The lectures, then the lessons, their names in a column.
fn lessons(selected: usize, app: &App, columns: usize) -> Card {
    let names = LESSONS.iter().map(|lesson| lang::columns(lesson.name));
    let widths = [names.max().unwrap_or(0), columns];
    let mut card = Card::new(tr!("Lectures and lessons · Enter opens"), Vec::new());
    let lectures = app.lectures.iter();
    let lectures = lectures.map(|it| (tr!("Lecture"), it.title.to_string()));
    let lessons = LESSONS.iter();
    let lessons = lessons.map(|it| (it.name, lang::text(it.title).to_owned()));
    for (at, (name, title)) in lectures.chain(lessons).enumerate() {
        let (first, is_selected) = (card.lines.len(), at == selected);
        let style = if is_selected {
            ink(PALETTE.value).reversed()
        } else {
            ink(PALETTE.value)
        };
        card.lines.extend(named(name, &title, widths, [style; 2]));
        if is_selected {
            card.seen = Some(first..card.lines.len());
        }
    }
    card
}

/// The keys that work here and have what was typed, by topic.
fn keys(typed: &str, columns: usize) -> Card {
    // Without the mouse, which is the terminal's.
    let keys = |row: &Row| {
        let names: Vec<String> = row.chords().map(|it| it.to_string()).collect();
        names.join(", ")
    };
    let here = TABLE.iter().filter(|row| row.in_terminal);
    let widest = here.map(|row| lang::columns(&keys(row))).max();
    let widths = [widest.unwrap_or(0), columns];
    let value = ink(PALETTE.value);
    let words = search::words(typed);
    let mut lines = Vec::new();
    for topic in Topic::ALL {
        let found = topic
            .rows()
            .filter(|row| row.in_terminal && row.is_found_by(&words));
        let rows = found
            .flat_map(|row| named(&keys(row), row.help(), widths, [ink(PALETTE.accent), value]));
        let rows: Vec<Line<'static>> = rows.collect();
        if !rows.is_empty() {
            lines.push(Line::styled(topic.title(), value.bold()));
            lines.extend(rows);
            lines.push(Line::default());
        }
    }
    lines.pop();
    if lines.is_empty() {
        lines = say(tr!("No matching command"), ink(PALETTE.label), columns);
    }
    let shown = match typed {
        "" => tr!("Type to search").to_owned(),
        typed => format!("{typed}▏"),
    };
    Card::new(format!("{} · {shown}", tr!("Keyboard shortcuts")), lines)
}

/// Every switch and its positions, the present one marked, as are those that cannot be.
fn switches(switches: &[SwitchRow], columns: usize) -> Card {
    let name = |row: &SwitchRow| format!("{}  {}", row.switch.key(), row.switch.name());
    let widest = switches.iter().map(|row| lang::columns(&name(row))).max();
    let widths = [widest.unwrap_or(0), columns];
    let [accent, value, label] = [PALETTE.accent, PALETTE.value, PALETTE.label].map(ink);
    let lines = switches.iter().flat_map(|row| {
        let positions = row.positions.iter().enumerate().map(|(at, position)| {
            let sign = match &position.unavailable {
                _ if at == row.present => '▸',
                None => ' ',
                Some(_) => '✗',
            };
            format!("{sign}{}", position.label)
        });
        let positions = positions.collect::<Vec<_>>().join("  ");
        let mut lines = named(&name(row), &positions, widths, [accent, value]);
        if let Some(position) = row.positions.get(row.present) {
            // Below the first letter of the positions, each of which has a sign before it.
            let widths = [widths[0] + 1, columns];
            lines.extend(named("", &position.effect, widths, [label; 2]));
        }
        lines
    });
    Card::new(tr!("Switches"), lines.collect())
}

/// The columns of a rate.
const RATE: usize = 12;

/// Every rung's name and rate, and below them its idea; the present one is marked.
fn ladder(chart: &LadderChart, columns: usize) -> Card {
    let names = chart.rungs.iter().map(|rung| lang::columns(&rung.name));
    let widths = [names.max().unwrap_or(0), columns];
    let [accent, value, label] = [PALETTE.accent, PALETTE.value, PALETTE.label].map(ink);
    let mut lines = say(&chart.headline, accent, columns);
    lines.extend(say(&chart.caption, label, columns));
    lines.push(Line::default());
    for rung in &chart.rungs {
        let style = if rung.present {
            value.reversed()
        } else {
            value
        };
        // Beside the rate a bar of it, which is logarithmic, from 100 M to 100 T.
        let room = columns.saturating_sub(widths[0] + RATE + 2) as f64;
        let rate = |(rate, _): (f64, _)| {
            let part = ((rate.log10() - 8.0) / 6.0).clamp(0.0, 1.0);
            let bar = "█".repeat((part * room) as usize);
            format!("{:>RATE$} {bar}", format!("{}cell/s", si(rate)))
        };
        let rate = rung.mark.map_or("–".into(), rate);
        lines.extend(named(&rung.name, &rate, widths, [style, value]));
        lines.extend(say(&rung.idea, label, columns));
    }
    Card::new(tr!("The ladder"), lines)
}

/// A rung's source; what changed from the rung that it is compared with has the signs of a diff.
fn rung_source(source: &RungSource, columns: usize) -> Card {
    let of = |line: &SourceLine| {
        let style = ink(match line.change {
            Change::Added => PALETTE.running,
            Change::Removed => PALETTE.failed_text,
            Change::Same => PALETTE.value,
        });
        say(
            &format!("{} {}", line.change.sign(), line.text),
            style,
            columns,
        )
    };
    let title = match source.compared_with {
        Some(before) => tr!(
            "{name} (+ and −: against {kernel})",
            name = source.kernel.name,
            kernel = before
        ),
        None => source.kernel.name.into(),
    };
    Card::new(title, source.lines.iter().flat_map(of).collect())
}

/// What a lesson's page says, in sections with a blank line between.
fn page_of(page: &LessonPage, columns: usize) -> Card {
    let [value, label, accent, running, failed] = [
        PALETTE.value,
        PALETTE.label,
        PALETTE.accent,
        PALETTE.running,
        PALETTE.failed_text,
    ]
    .map(ink);
    let measured = match page.recorded.as_str() {
        "" => value,
        _ => ink(PALETTE.recorded),
    };
    let one = |text: &str, style: Style| vec![(text.to_owned(), style)];
    let mut question = one(&page.question, accent.bold());
    if page.choices.is_empty() {
        question.clear();
    }
    question.extend(page.choices.iter().zip(1..).map(|(choice, number)| {
        let sign = if choice.is_chosen { '▶' } else { ' ' };
        let (right, style) = if choice.is_right {
            (" ✓", running)
        } else {
            ("", value)
        };
        (format!("{sign}{number}  {}{right}", choice.text), style)
    }));
    let mut concluded = one(&page.conclusion, measured);
    concluded.extend(page.checks.iter().map(|(what, passed)| match passed {
        true => (format!("✓ {what}"), running),
        false => (format!("✗ {what}"), failed),
    }));
    // The answer below its question, where it is seen without scrolling.
    let mut sections = vec![
        one(&page.about, label),
        one(&page.intro, value),
        question,
        one(&page.recorded, measured),
        concluded,
    ];
    if let Some(speedup) = &page.speedup {
        let mut curves = one(&speedup.caption(), label);
        curves.extend(one(Speedup::meaning(), label));
        curves.extend((0..speedup.measured()).map(|nth| {
            let [instances, rates] = speedup.row(nth);
            (format!("{instances}: {rates}"), measured)
        }));
        curves.extend(speedup.series.iter().filter_map(|series| {
            let why = series.unavailable.as_ref()?;
            Some((format!("{}: {why}", lang::shown(&series.title)), label))
        }));
        sections.push(curves);
    }
    for column in &page.columns {
        let mut texts = one(&column.title, value.bold());
        texts.extend(column.code.iter().map(|line| {
            // Neither program is the older one.
            let (sign, style) = match line.change {
                Change::Same => (' ', label),
                Change::Added | Change::Removed => ('±', running),
            };
            (format!("{sign} {}", line.text), style)
        }));
        let ops = column.ops.iter().map(|it| (it.name(), it.in_words()));
        let figures = column.figures.iter().cloned().chain(ops);
        texts.extend(figures.map(|(what, figure)| (format!("{what}: {figure}"), measured)));
        texts.extend(one(&column.note, label));
        sections.push(texts);
    }
    let lengths = page.bars.iter().map(|bar| bar.milliseconds);
    let longest = lengths.fold(1e-9, f64::max);
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
    sections.extend([
        bars.collect(),
        one(page.progress.as_deref().unwrap_or_default(), accent),
        one(&page.note, label),
    ]);
    // With a blank line between those that say something.
    let mut lines: Vec<Line<'static>> = Vec::new();
    for section in sections {
        let texts = section.iter();
        let said: Vec<_> = texts
            .flat_map(|(text, style)| say(text, *style, columns))
            .collect();
        if !lines.is_empty() && !said.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(said);
    }
    let title = tr!(
        "{} of {} · {title} · ← →",
        page.number,
        page.of,
        title = page.title
    );
    Card::new(title, lines)
}
