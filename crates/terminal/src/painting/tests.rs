//! Whole screens, at sizes from too small to large.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::style::{Color, Modifier};

use super::*;
use engine::Transfer;
use life::Lattice;
use session::{Picture, Trace};
use ui::actions::Setting;
use ui::fixtures::{self, FixturePictures, comparison, effect, soup, status, timed_round};
use ui::{Drawing, LessonScreen, Population, SidePanel, Timeline};

/// Lattices, and a timed round of sixteen streams.
struct Source(FixturePictures);

impl PictureSource for Source {
    fn visit_newer(&self, seen: &mut [u64], draw: &mut dyn FnMut(usize, &Picture, &[u32])) {
        self.0.visit_newer(seen, draw);
    }

    fn newer_trace(&self, seen: u64) -> Option<Trace> {
        let mut trace = Trace::default();
        trace.add(timed_round(16));
        (seen == 0).then_some(trace)
    }
}

fn lattices(count: usize, size: Size) -> Vec<Lattice> {
    (0..count).map(|i| soup(size, 0.3, i as u64)).collect()
}

fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

/// Paints a frame on a screen of so many columns and rows.
fn screen(view: &mut View, status: &Status, [columns, rows]: [u16; 2]) -> Terminal<TestBackend> {
    let source = Source(FixturePictures::bits(&lattices(
        status.lattices.instances,
        status.lattices.size,
    )));
    view.update(status, &source);
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal
        .draw(|frame| view.paint(Some(status), frame.area(), frame.buffer_mut()))
        .unwrap();
    terminal
}

/// The characters of a screen, line by line.
fn text(terminal: &Terminal<TestBackend>) -> Vec<String> {
    let buffer = terminal.backend().buffer();
    let line = |y| -> String {
        let cells = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol());
        cells.collect()
    };
    (0..buffer.area.height).map(line).collect()
}

/// A painter and what it paints, beside the status.
struct View {
    painter: TerminalView,
    options: ViewOptions,
    drawing: Drawing,
    population: Population,
    timeline: Timeline,
    lesson: Option<LessonScreen>,
}

impl View {
    fn new(glyphs: Glyphs, depth: ColourDepth) -> View {
        View {
            painter: TerminalView::new(glyphs, depth),
            options: ViewOptions::default(),
            drawing: Drawing::default(),
            population: Population::default(),
            timeline: Timeline::default(),
            lesson: None,
        }
    }

    /// Does something with the painter and a frame.
    fn with<T>(
        &mut self,
        status: Option<&Status>,
        does: impl FnOnce(&mut TerminalView, &TerminalFrame<'_>) -> T,
    ) -> T {
        let sources = Sources {
            status,
            options: &self.options,
            drawing: &self.drawing,
            population: &self.population,
            timeline: &self.timeline,
            lesson: self.lesson.as_ref(),
            edit_overlay: None,
        };
        let screen = &Screen::of(sources);
        does(&mut self.painter, &TerminalFrame { screen, sources })
    }

    fn update(&mut self, status: &Status, source: &dyn PictureSource) {
        if self.options.timeline {
            self.timeline.update(source);
        }
        self.with(Some(status), |painter, frame| painter.update(frame, source));
    }

    fn paint(&mut self, status: Option<&Status>, area: Rect, buffer: &mut Buffer) {
        self.with(status, |painter, frame| painter.paint(frame, area, buffer));
    }

    fn request(&mut self, status: &Status, area: Rect) -> Option<PicturePlan> {
        self.with(Some(status), |painter, frame| painter.request(frame, area))
    }

    fn places(&mut self, status: &Status, area: Rect) -> Option<TerminalLayout> {
        self.with(Some(status), |_, frame| places(frame, area))
    }
}

fn view() -> View {
    View::new(Glyphs::Auto, ColourDepth::True)
}

#[test]
fn all_panels_stand_apart_with_their_names_on_every_screen() {
    let sides = [(512, 512), (1000, 10), (10, 1000)];
    for [columns, rows] in [[80, 24], [200, 60], [32, 10], [120, 12], [40, 70]] {
        for (instances, (w, h)) in [1, 2, 7, 16, 200]
            .into_iter()
            .flat_map(|n| sides.map(|it| (n, it)))
        {
            let here = format!("{instances} of {w} × {h} on {columns} × {rows}");
            let mut status = status(instances, size(w, h));
            for selected in [0, instances / 2, instances - 1] {
                status.panels.selected = selected;
                let places = view()
                    .places(&status, Rect::new(0, 0, columns, rows))
                    .unwrap();
                let has_panel = places.panels.iter().any(|panel| panel.instance == selected);
                assert!(has_panel, "{here}: {selected} has no panel");
                // No character is two panels', and none is the foot's.
                let mut taken = std::collections::HashSet::new();
                for panel in &places.panels {
                    let whole = panel.label.unwrap_or(panel.rect).union(panel.rect);
                    assert!(
                        whole.right() <= columns && whole.bottom() <= rows - 2,
                        "{here}"
                    );
                    assert!(whole.positions().all(|at| taken.insert(at)), "{here}");
                }
            }
        }
    }
}

#[test]
fn cells_with_room_are_half_blocks_of_their_own_colour() {
    let size = size(20, 12);
    let status = status(1, size);
    let mut view = view();
    let lattice = lattices(1, size).remove(0);
    let terminal = screen(&mut view, &status, [40, 14]);
    let places = view.places(&status, Rect::new(0, 0, 40, 14)).unwrap();
    let rect = places.panels[0].rect;
    assert_eq!((rect.width, rect.height), (40, 12), "two pixels per cell");
    let [live, dead] = [Color::Rgb(0xFF, 0xC8, 0x57), Color::Rgb(0x0C, 0x0A, 0x08)];
    for y in 0..12 {
        for x in 0..20 {
            let cell = &terminal.backend().buffer()[(rect.x + 2 * x, rect.y + y)];
            let colour = if lattice.get(x.into(), y.into()) {
                live
            } else {
                dead
            };
            assert_eq!((cell.symbol(), cell.bg), (" ", colour), "{x}, {y}");
        }
    }
}

#[test]
fn without_colours_every_half_block_is_a_cell_and_all_is_said_by_signs() {
    let area = Rect::new(0, 0, 90, 30);
    let mut status = status(2, size(44, 44));
    status.panels.selected = 1;
    let mut view = View::new(Glyphs::Auto, ColourDepth::None);
    let terminal = screen(&mut view, &status, [area.width, area.height]);
    let buffer = terminal.backend().buffer();
    for cell in buffer.content() {
        let colours = [cell.fg, cell.bg];
        assert!(colours.iter().all(|c| *c == Color::Reset), "{cell:?}");
    }
    let places = view.places(&status, area).unwrap();
    for (panel, lattice) in places.panels.iter().zip(lattices(2, size(44, 44))) {
        assert_eq!((panel.rect.width, panel.rect.height), (44, 22));
        for (x, y) in (0..22).flat_map(|y| (0..44).map(move |x| (x, y))) {
            let (column, row) = (u32::from(x), 2 * u32::from(y));
            let symbol = match [0, 1].map(|below| lattice.get(column, row + below)) {
                [false, false] => " ",
                [true, false] => "▀",
                [false, true] => "▄",
                [true, true] => "█",
            };
            let cell = &buffer[(panel.rect.x + x, panel.rect.y + y)];
            assert_eq!(cell.symbol(), symbol, "{column}, {row}");
        }
    }
    let label = places.panels[1].label.unwrap();
    let cell = &buffer[(label.x, label.y)];
    assert!(cell.symbol() == "▸" && cell.modifier.contains(Modifier::REVERSED));
}

/// What each screen shows, in `tests/oracle/terminal.txt`: panels are empty there.
#[test]
fn screens_stay_as_they_are() {
    type Change = fn(&mut View, &mut Status);
    let timeline: Change = |view, _| view.options.timeline = true;
    let typed: Change = |view, _| {
        let mut help = Field::new(None);
        for letter in "pause".chars() {
            help.key(&KeyEvent::from(KeyCode::Char(letter)), 1);
        }
        view.painter.field = Some(help);
    };
    let keys: Change = |view, _| view.painter.field = Some(Field::new(None));
    let prompt: Change = |view, _| view.painter.field = Some(Field::new(Some(Setting::Size)));
    let ladder: Change = |view, _| view.options.side = Some(SidePanel::Ladder);
    let source: Change = |view, _| {
        view.options.side = Some(SidePanel::Ladder);
        view.options.source = engine::kernels::find("shared").map(|kernel| kernel.index());
    };
    let lab: Change = |view, _| view.options.side = Some(SidePanel::Lab);
    let page: Change = |view, _| view.lesson = Some(LessonScreen::Page(fixtures::recorded_page()));
    let curve: Change = |view, _| {
        view.lesson = Some(LessonScreen::Page(fixtures::speedup_page(3, false)));
    };
    let lecture: Change = |view, _| {
        view.drawing.lecture = Some(fixtures::lecture_screen());
    };
    let cause: Change = |view, status| {
        view.options.timeline = true;
        status.setting.switches = one_stream();
        let round = fixtures::serial_round(16);
        status.lab.isolated = Some(fixtures::isolated(&round, 0.05));
        view.update(status, &fixtures::TimedAs(round));
    };
    let changed: Change = |view, status| {
        status.lab.tells_effect = true;
        status.lab.last_effect = Some(effect());
        view.update(status, &fixtures::TimedBefore(8));
    };
    let before: Change = |view, status| {
        view.options.timeline = true;
        status.lab.last_effect = Some(effect());
        view.update(status, &fixtures::TimedBefore(8));
    };
    let halves: Change = |view, status| {
        view.options.timeline = true;
        status.lab.comparison = Some(comparison(one_stream()));
        view.update(status, &fixtures::TimedBefore(8));
    };
    #[rustfmt::skip]
    let screens: [(&str, [u16; 2], Change); 24] = [
        ("figures", [50, 10], |_, _| {}),
        ("figures", [60, 10], |_, _| {}),
        ("figures", [80, 12], |_, _| {}),
        ("figures", [160, 10], |_, _| {}),
        ("too small", [31, 10], keys),
        ("too small", [10, 3], timeline),
        ("help", [80, 24], keys),
        ("help, a word typed", [110, 24], typed),
        ("a field", [80, 16], prompt),
        ("ladder", [100, 60], ladder),
        ("a rung's source", [100, 60], source),
        ("lab", [100, 30], lab),
        ("a page", [80, 80], page),
        ("a curve", [80, 40], curve),
        ("a lecture's step", [80, 24], lecture),
        ("timeline", [160, 40], timeline),
        ("timeline, folded", [80, 24], timeline),
        ("timeline, nearly none", [80, 10], timeline),
        ("a cause against overlap", [160, 40], cause),
        ("a change", [120, 16], changed),
        ("before and after", [100, 30], before),
        ("before and after, one has room", [160, 11], before),
        ("A and B", [80, 24], halves),
        ("A and B, one has room", [160, 11], halves),
    ];
    let mut shown = String::new();
    let mut show = |name: &str, glyphs, [columns, rows]: [u16; 2], change: Change| {
        let mut status = status(8, size(512, 512));
        let mut view = View::new(glyphs, ColourDepth::True);
        change(&mut view, &mut status);
        let empty = vec![Lattice::new(status.lattices.size); 8];
        view.update(&status, &Source(FixturePictures::bits(&empty)));
        let area = Rect::new(0, 0, columns, rows);
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let paint = |view: &mut View, frame: &mut ratatui::Frame| {
            view.paint(Some(&status), area, frame.buffer_mut());
        };
        terminal.draw(|frame| paint(&mut view, frame)).unwrap();
        shown += &format!("==== {name}, {columns} × {rows}, {glyphs:?}\n");
        for line in text(&terminal) {
            assert!(glyphs != Glyphs::Ascii || line.is_ascii(), "{line}");
            shown += line.trim_end();
            shown.push('\n');
        }
    };
    for (name, at, change) in screens {
        show(name, Glyphs::Auto, at, change);
    }
    show("timeline", Glyphs::Ascii, [100, 30], timeline);
    show("help", Glyphs::Ascii, [100, 30], keys);
    test_support::with(lang::Language::Chinese, || {
        show("before and after", Glyphs::Auto, [100, 30], before);
        show("a page", Glyphs::Auto, [80, 60], page);
    });
    test_support::compare_with_stored("terminal.txt", &shown);
}

fn one_stream() -> session::Switches {
    session::Switches {
        streams: session::Streams::One,
        ..session::Switches::DEFAULT
    }
}

/// Text without blanks: as it is, wherever it is broken into lines.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn no_finding_and_no_notice_is_cut_at_any_width() {
    let both = [lang::Language::English, lang::Language::Chinese];
    for language in both {
        test_support::with(language, || {
            let mut changed = status(2, size(16, 16));
            changed.lab.last_effect = Some(effect());
            let mut compared = status(2, size(16, 16));
            compared.lab.comparison = Some(comparison(one_stream()));
            let mut equal = status(2, size(16, 16));
            equal.lab.comparison = Some(comparison(session::Switches::DEFAULT));
            let mut noticed = changed.clone();
            noticed.notice = Some(lang::message!(
                "Key B returns to generation {from}; A and B alternate; {first} to {last} change B",
                from = "1,234,567",
                first = "F2",
                last = "F8"
            ));
            for status in [changed, compared, equal, noticed] {
                let mut view = view();
                view.options.timeline = true;
                view.update(&status, &fixtures::TimedBefore(2));
                for columns in widths() {
                    for rows in [10, 16, 24] {
                        uncut(&mut view, &status, [columns, rows]);
                    }
                }
            }
        });
    }
}

/// Widths of terminals: close to one another where little fits.
fn widths() -> impl Iterator<Item = u16> {
    (32..=80).step_by(3).chain((82..=200).step_by(13))
}

/// Looks for all that is to be said on a screen of this size.
fn uncut(view: &mut View, status: &Status, at: [u16; 2]) {
    let lines = text(&screen(view, status, at));
    let all: String = lines.iter().map(|line| squeezed(line)).collect();
    let says = |text: &str| {
        assert!(
            all.contains(&squeezed(text)),
            "{text} at {at:?}: {lines:#?}"
        )
    };
    if let Some(notice) = &status.notice {
        says(notice); // it may lie over the timeline for its seconds
        return;
    }
    let area = Rect::new(0, 0, at[0], at[1]);
    let has_timeline = view.places(status, area).unwrap().timeline.is_some();
    if has_timeline {
        let found = ui::finding::headline(status).unwrap();
        says(&found.factor);
        says(&found.subject);
        says(&found.times);
    } else {
        assert!(at[1] < 24, "{at:?}: {lines:#?}");
        if status.lab.comparison.is_none() {
            says(lang::tr!("The terminal is too small for the timeline"));
        }
    }
    if let Some(comparison) = &status.lab.comparison {
        let texts = ui::finding::ComparisonTexts::of(comparison, status.setting.kernel);
        let short = texts.in_short(has_timeline);
        short.iter().for_each(|part| says(part));
    }
    let figures = lines.iter().find(|line| line.contains('▶'));
    assert!(figures.is_some(), "{lines:#?}");
}

#[test]
fn no_text_of_a_lesson_s_page_is_cut_at_any_width() {
    let status = status(2, size(16, 16));
    let page = fixtures::recorded_page();
    let mut of_page = vec![page.title.clone(), page.question.clone(), page.note.clone()];
    of_page.extend(page.choices.iter().map(|choice| choice.text.clone()));
    let figures = page.columns.iter().flat_map(|column| &column.figures);
    of_page.extend(figures.map(|(what, value)| format!("{what}: {value}")));
    of_page.extend(
        page.bars
            .iter()
            .map(|bar| format!("{}: {}", bar.label, bar.text)),
    );
    of_page.extend(page.checks.iter().map(|(what, _)| what.clone()));
    let curve = fixtures::speedup_page(5, true);
    let of_curve = vec![curve.title.clone(), curve.conclusion.clone()];
    let mut view = view();
    for (page, texts) in [(page, of_page), (curve, of_curve)] {
        view.lesson = Some(LessonScreen::Page(page));
        for columns in widths() {
            let lines = text(&screen(&mut view, &status, [columns, 160]));
            let card = lines.iter().filter_map(|line| {
                let from = line.find(['│', '┌', '└'])?;
                let to = line.rfind(['│', '┐', '┘'])?;
                Some(squeezed(line[from..to].trim_matches(['│', '┌', '─'])))
            });
            let all: String = card.collect();
            for text in &texts {
                assert!(
                    all.contains(&squeezed(text)),
                    "{text} at {columns}: {lines:#?}"
                );
            }
        }
    }
}

#[test]
fn the_keys_are_whole_however_narrow_the_terminal_is_and_seen_by_scrolling() {
    use ui::actions::TABLE;
    let status = status(4, size(32, 32));
    for [columns, rows] in [[32, 200], [50, 200], [80, 24], [160, 24]] {
        let mut view = view();
        view.painter.field = Some(Field::new(None));
        let mut seen: Vec<String> = Vec::new();
        for _ in 0..200 {
            let lines = text(&screen(&mut view, &status, [columns, rows]));
            let card = lines.iter().filter(|line| line.contains('│'));
            let inside = card.map(|line| line.split('│').nth(1).unwrap().trim().to_owned());
            let inside: Vec<String> = inside.collect();
            let new = if seen.is_empty() { 0 } else { inside.len() - 1 };
            if seen.ends_with(&inside) {
                break;
            }
            seen.extend_from_slice(&inside[new..]);
            view.painter.scroll += 1;
        }
        let said = seen.join(" ");
        let said: Vec<&str> = said.split_whitespace().collect();
        // A line may end behind a hyphen.
        let said = said.join(" ").replace("- ", "-");
        for row in TABLE {
            let here = row.in_terminal;
            assert_eq!(said.contains(row.help), here, "{} at {columns}", row.help);
            for chord in row.chords().filter(|_| here) {
                assert!(said.contains(&chord.to_string()), "{chord} at {columns}");
            }
        }
        assert!(!said.contains('…'), "{columns}: {said}");
    }
}

#[test]
fn a_card_s_border_hides_the_wide_character_that_it_cuts() {
    let (width, height) = (40, 6);
    for shift in [0, 1] {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        for y in 0..height {
            buffer.set_string(shift, y, "流".repeat(19), ratatui::style::Style::new());
        }
        let card = Rect::new(10, 1, 20, 4);
        cards::clear_halves(card, &mut buffer);
        for y in card.y..card.bottom() {
            let beside = buffer[(card.x - 1, y)].symbol();
            assert!(lang::columns(beside) <= 1, "{beside}");
        }
        let untouched = buffer[(card.x - 1, 0)].symbol();
        assert_eq!(untouched == "流", shift == 1, "{untouched}");
    }
}

#[test]
fn the_request_is_for_the_dots_that_there_are() {
    let (small, large) = (size(60, 45), size(16_384, 16_384));
    let area = Rect::new(0, 0, 80, 24);
    let mut view = view();
    let mut request = |lattice| view.request(&status(16, lattice), area).unwrap();
    assert_eq!(request(small).transfer, Transfer::Bits);
    let plan = request(large);
    assert_eq!(plan.transfer, Transfer::View);
    let places = view.places(&status(16, large), area).unwrap();
    let region = plan.region;
    assert_eq!(region.height, 4 * u32::from(places.panel[1]));
    assert!(region.width >= 2 * u32::from(places.panel[0]));
    assert!(region.words() * 4 < 2000, "{region:?}");
}
