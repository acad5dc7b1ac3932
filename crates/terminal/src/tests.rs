//! Whole screens, at sizes from too small to large.

use std::path::Path;
use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use crate::cells::{Glyphs, Pictures};
use crate::input::Field;
use crate::style::ColourDepth;
use crate::view::{TerminalView, tile};
use engine::{ReduceRegion, Transfer};
use lang::Language;
use life::{Size, soup};
use session::{Status, Streams, Switches};
use ui::actions::Setting;
use ui::fixtures::{
    self, FixturePictures, Timed, comparison, effect, serial_round, status, timed_round,
};
use ui::{App, AppOptions, SidePanel, ViewTransform};

fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

/// What is painted.
struct View {
    field: Option<Field>,
    status: Status,
    app: App,
}

impl View {
    fn new(status: Status) -> View {
        let options = AppOptions::default();
        View {
            field: None,
            status,
            app: App::new(options, Arc::new(|| {}), Arc::default()),
        }
    }

    /// With this changed.
    fn of(change: Change) -> View {
        let mut view = View::new(status(8, size(512, 512)));
        change(&mut view);
        view
    }

    /// Paints a frame on a screen of so many columns and rows.
    fn paint(&mut self, by: &mut TerminalView, [columns, rows]: [u16; 2]) -> Terminal<TestBackend> {
        self.app.timeline.judge(&self.status, &self.app.drawing);
        self.app.status = Some(Arc::new(self.status.clone()));
        self.app.lessons.update();
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let draw = |to: &mut ratatui::Frame| by.paint(&self.app, to.area(), to.buffer_mut());
        terminal.draw(draw).unwrap();
        terminal
    }

    /// The characters of a screen, line by line.
    fn text(&mut self, [columns, rows]: [u16; 2]) -> Vec<String> {
        let mut painter = TerminalView::new(Glyphs::Auto, ColourDepth::True);
        painter.field.clone_from(&self.field);
        let terminal = self.paint(&mut painter, [columns, rows]);
        let buffer = terminal.backend().buffer();
        let line = |y| -> String { (0..columns).map(|x| buffer[(x, y)].symbol()).collect() };
        (0..rows).map(line).collect()
    }
}

#[test]
fn all_panels_stand_apart_with_their_names_on_every_screen() {
    let sides = [(512, 512), (1000, 10), (10, 1000)];
    for [columns, rows] in [[80, 24], [200, 60], [32, 10], [120, 12], [40, 70]] {
        for instances in [1, 2, 7, 16, 200] {
            for (width, height) in sides {
                let mut status = status(instances, size(width, height));
                for selected in [0, instances / 2, instances - 1] {
                    status.panels.selected = selected;
                    let area = Rect::new(0, 1, columns, rows - 3);
                    let panels = tile(area, &status, None);
                    let here = format!(
                        "{instances} of {width} × {height} on {columns} × {rows}: {panels:?}"
                    );
                    assert!(
                        panels.iter().any(|panel| panel.instance == selected),
                        "{here}"
                    );
                    // No character is two panels', and none is the foot's.
                    let mut taken = std::collections::HashSet::new();
                    for panel in &panels {
                        let whole = panel.label.union(panel.rect);
                        assert!(
                            whole
                                .positions()
                                .all(|at| area.contains(at) && taken.insert(at)),
                            "{here}"
                        );
                        assert!(
                            panel.rect.height > 0 && instances == 1 || panel.label.height == 1,
                            "{here}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn dots_are_as_dense_as_their_cells_of_bits_and_of_views() {
    let size = size(160, 96);
    let lattices = [soup(size, 0.3, 5, 0)];
    for (origin, scale) in [
        ([0, 0], 0.25),
        ([150, 90], 0.25),
        ([150, 90], 2.0),
        ([0, 0], 0.2),
    ] {
        let one = ReduceRegion::ONE;
        let region = ReduceRegion {
            x0: origin[0] * one,
            y0: origin[1] * one,
            step: (one as f64 / scale) as i64,
            width: 32,
            height: 19,
        };
        let transform = ViewTransform {
            origin: origin.map(|cell| cell as f64),
            scale,
        };
        let want = engine::conformance::reduced(region, &lattices[0]);
        let want: Vec<Option<u8>> = want.into_iter().map(Some).collect();
        let source = if region.step >= one {
            FixturePictures::views(&lattices, region)
        } else {
            FixturePictures::bits(&lattices)
        };
        let mut pictures = Pictures::default();
        pictures.update(1, size, &source);
        assert_eq!(
            pictures.densities(0, transform, [32, 19]),
            want,
            "{origin:?}, {scale}"
        );
        let off = ViewTransform {
            origin: [-1.0, 0.0],
            scale: 0.2,
        };
        let row = pictures.densities(0, off, [34, 1]);
        assert!(row[0].is_some() && row[32..] == [None, None], "{row:?}");
    }
}

#[test]
fn half_blocks_are_cells_with_colours_and_without() {
    let lattices = [1, 2].map(|seed| soup(size(44, 44), 0.3, seed, 0));
    for depth in [ColourDepth::True, ColourDepth::None] {
        let mut view = View::new(status(2, size(44, 44)));
        view.status.panels.selected = 1;
        let mut painter = TerminalView::new(Glyphs::Auto, depth);
        painter.update(&view.status, &FixturePictures::bits(&lattices));
        let terminal = view.paint(&mut painter, [90, 30]);
        let buffer = terminal.backend().buffer();
        for (panel, lattice) in painter.panels.iter().zip(&lattices) {
            assert_eq!((panel.rect.width, panel.rect.height), (44, 22));
            for (x, y) in (0..22).flat_map(|y| (0..44).map(move |x| (x, y))) {
                let cell = &buffer[(panel.rect.x + x, panel.rect.y + y)];
                let alive = [0, 1].map(|below| lattice.get(x.into(), 2 * u32::from(y) + below));
                let symbol = match alive {
                    [false, false] => " ",
                    [true, false] => "▀",
                    [false, true] => "▄",
                    [true, true] => "█",
                };
                assert_eq!(cell.symbol(), symbol, "{x}, {y}");
                let live = Color::Rgb(0xFF, 0xC8, 0x57);
                assert!(depth == ColourDepth::None || alive == [false; 2] || cell.fg == live);
            }
        }
        let label = painter.panels[1].label;
        let cell = &buffer[(label.x, label.y)];
        let is_reversed = cell.modifier.contains(Modifier::REVERSED);
        assert!(cell.symbol() == "▸" && is_reversed == (depth == ColourDepth::None));
        let plain = |cell: &ratatui::buffer::Cell| [cell.fg, cell.bg] == [Color::Reset; 2];
        assert_eq!(
            buffer.content().iter().all(plain),
            depth == ColourDepth::None
        );
    }
}

#[test]
fn the_request_is_for_the_dots_that_there_are() {
    let mut view = View::new(status(16, size(16_384, 16_384)));
    let mut painter = TerminalView::new(Glyphs::Auto, ColourDepth::True);
    view.paint(&mut painter, [80, 24]);
    let plan = painter.request(&view.app).unwrap();
    let (pixels, region) = (painter.pixels().unwrap(), plan.region);
    assert_eq!(plan.transfer, Transfer::View);
    let has_all = region.height == 2 * pixels[1] && region.width >= 2 * pixels[0];
    assert!(has_all && region.words() * 4 < 2000, "{region:?}");
}

type Change = fn(&mut View);

const ONE: Switches = Switches {
    streams: Streams::One,
    ..Switches::DEFAULT
};

/// What screens show, in what sizes.
#[rustfmt::skip]
const SCREENS: [(&str, &[[u16; 2]], Change); 18] = [
    ("figures", &[[50, 10], [80, 12], [160, 10]], |_| {}),
    ("help", &[[80, 24]], |view| view.field = Some(Field::default())),
    ("too small", &[[31, 10], [10, 3]], |_| {}),
    ("help, a word typed", &[[110, 24]], |view| {
        view.field = Some(Field { typed: "pause".into(), ..Field::default() });
    }),
    ("a field", &[[80, 16]], |view| {
        view.field = Some(Field { setting: Some(Setting::Size), ..Field::default() });
    }),
    ("ladder", &[[100, 60]], |view| view.app.options.side = Some(SidePanel::Ladder)),
    ("a rung's source", &[[100, 60]], |view| {
        view.app.options.side = Some(SidePanel::Ladder);
        view.app.options.source = engine::kernels::find("shared").map(|kernel| kernel.index());
    }),
    ("lab", &[[100, 30]], |view| view.app.options.side = Some(SidePanel::Lab)),
    ("a page", &[[80, 80]], |view| {
        view.app.lessons.show_page(fixtures::recorded_page());
    }),
    ("a curve", &[[80, 40]], |view| {
        view.app.lessons.show_page(fixtures::speedup_page(3, false));
    }),
    ("a lecture's step", &[[80, 24]], |view| {
        view.app.drawing.lecture = Some(fixtures::lecture_screen());
    }),
    ("lectures and lessons", &[[80, 24]], |view| {
        view.app.lectures = vec![fixtures::lecture_options(Path::new("")).lecture];
        view.field = Some(Field { lesson: Some(0), ..Field::default() });
    }),
    ("timeline", &[[160, 40], [80, 24], [80, 10]], |view| {
        view.app.timeline.update(&Timed(timed_round(16), None));
        view.app.options.timeline = true;
    }),
    ("a cause against overlap", &[[160, 40]], |view| {
        view.app.options.timeline = true;
        view.status.setting.switches = ONE;
        let round = fixtures::serial_round(16);
        view.status.lab.isolated = Some(fixtures::isolated(&round, 0.05));
        view.app.timeline.update(&Timed(round, None));
    }),
    ("a change", &[[120, 16]], |view| {
        view.status.lab.tells_effect = true;
        view.status.lab.last_effect = Some(effect());
    }),
    ("before and after", &[[100, 30], [160, 11]], |view| {
        view.app.options.timeline = true;
        view.status.lab.last_effect = Some(effect());
        view.app.timeline.update(&Timed(serial_round(8), Some(timed_round(8))));
    }),
    ("A and B", &[[80, 24], [160, 11]], |view| {
        view.app.options.timeline = true;
        view.status.lab.comparison = Some(comparison(ONE));
        view.app.timeline.update(&Timed(serial_round(8), Some(timed_round(8))));
    }),
    ("A and B alike", &[[80, 24]], |view| {
        view.status.lab.comparison = Some(comparison(Switches::DEFAULT));
    }),
];

/// What each screen shows, in `tests/oracle/terminal.txt`: panels are empty there.
#[test]
fn screens_stay_as_they_are() {
    let mut shown = String::new();
    let mut show = |at: [u16; 2], (name, _, change): (&str, &[[u16; 2]], Change)| {
        let mut view = View::of(change);
        shown += &format!("==== {name}, {} × {}\n", at[0], at[1]);
        for line in view.text(at) {
            shown += line.trim_end();
            shown.push('\n');
        }
    };
    for screen in SCREENS {
        screen.1.iter().for_each(|at| show(*at, screen));
    }
    test_support::with(Language::Chinese, || {
        for (at, name) in [([100, 30], "before and after"), ([80, 60], "a page")] {
            let screen = SCREENS.into_iter().find(|screen| screen.0 == name);
            show(at, screen.unwrap());
        }
    });
    test_support::compare_with_stored("terminal.txt", &shown);
}

/// What must be read beside cards, whole.
fn must_be_read(view: &View) -> Vec<String> {
    let mut texts = Vec::new();
    if let Some(step) = &view.app.drawing.lecture {
        texts.extend([&step.text, &step.question, &step.result].map(String::clone));
        texts.extend(step.choices.iter().map(|choice| choice.text.clone()));
    }
    let has_timeline = view.app.options.timeline;
    if let Some(compared) = ui::finding::ComparisonTexts::of(&view.status) {
        texts.extend(compared.in_short(has_timeline));
    }
    if let (true, Some(found)) = (has_timeline, ui::finding::headline(&view.status)) {
        texts.extend([found.factor, found.subject, found.times]);
    }
    texts.extend(view.status.lab.tells_effect.then(|| effect().in_short()));
    texts
}

/// Cards say the same at every width, but for the length of bars.
#[test]
fn no_text_is_cut_at_any_width() {
    let squeezed = |text: &str| -> String {
        let text = text.trim_matches('│').chars();
        text.filter(|it| !it.is_whitespace() && !"█░".contains(*it))
            .collect()
    };
    for language in [Language::English, Language::Chinese] {
        test_support::with(language, || {
            for (name, _, change) in SCREENS {
                let widths = [160, 110, 80, 64].map(|columns| {
                    let mut view = View::of(change);
                    let lines = view.text([columns, 24]);
                    let all: String = lines.iter().map(|line| squeezed(line)).collect();
                    for text in must_be_read(&view) {
                        let is_read = all.contains(&squeezed(&text));
                        assert!(is_read, "{name}, {columns}: {text}: {lines:#?}");
                    }
                    let lines = view.text([columns, 300]).into_iter();
                    let card = lines.filter(|line| line.starts_with('│'));
                    card.map(|line| squeezed(&line)).collect::<String>()
                });
                assert!(
                    widths.iter().all(|it| *it == widths[0]),
                    "{name}: {widths:#?}"
                );
            }
        });
    }
}
