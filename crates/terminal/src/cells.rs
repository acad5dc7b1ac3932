//! The newest pictures of lattices, and panels of them in characters: half blocks or Braille.

use engine::ReduceRegion;
use life::Size;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::symbols::Marker;
use ratatui::widgets::Widget as _;
use ratatui::widgets::canvas::{Canvas, Painter, Shape};

use session::PictureSource;
use ui::theme::{brightness, bytes, reduced, theme, tint};
use ui::{ViewOptions, ViewTransform, density};

/// What panels are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Glyphs {
    /// Half blocks if each cell then has a dot of its own, else Braille
    Auto,
    /// Half blocks: a dot is half a character, with a shade of its own
    Blocks,
    /// Braille: eight dots per character, on or off
    Braille,
}

impl Glyphs {
    /// Whether a lattice that is drawn with so many pixels (half characters) a cell is made of Braille dots.
    pub(super) fn is_braille(self, pixels_per_cell: f64) -> bool {
        match self {
            Glyphs::Auto => pixels_per_cell < 1.0,
            Glyphs::Braille => true,
            Glyphs::Blocks => false,
        }
    }
}

/// The newest picture of every instance.
#[derive(Debug, Default)]
pub(super) struct Pictures {
    size: Option<Size>,
    pictures: Vec<(Option<ReduceRegion>, Vec<u32>)>,
    seen: Vec<u64>,
}

impl Pictures {
    /// Takes over what is newer.
    pub(super) fn update(&mut self, instances: usize, size: Size, source: &dyn PictureSource) {
        if self.size != Some(size) {
            *self = Pictures {
                size: Some(size),
                ..Pictures::default()
            };
        }
        self.pictures.resize(instances, (None, Vec::new()));
        self.seen.resize(instances, 0);
        let pictures = &mut self.pictures;
        source.visit_newer(&mut self.seen, &mut |instance, picture, words| {
            // Lattices that were just resized are ahead of the status for a moment.
            if picture.region.is_none() && words.len() != size.words() {
                return;
            }
            let (region, kept) = &mut pictures[instance];
            *region = picture.region;
            kept.clear();
            kept.extend_from_slice(words);
        });
    }

    /// The share of live cells under each dot of a view, or how much of the cell in its middle lives, from 0
    /// to 255, row by row; `None` off the lattice.
    pub(super) fn densities(
        &self,
        instance: usize,
        transform: ViewTransform,
        [width, height]: [u32; 2],
    ) -> Vec<Option<u8>> {
        let (Some(size), Some((region, words))) = (self.size, self.pictures.get(instance)) else {
            return Vec::new();
        };
        let around = transform.goes_around(size, [width, height]);
        let cell = |axis: usize, dot: u32, side: u32| {
            let at = transform.origin[axis] + (f64::from(dot) + 0.5) / transform.scale;
            let (at, side) = (at.floor() as i64, i64::from(side));
            let is_on = around[axis] || (0..side).contains(&at);
            is_on.then(|| at.rem_euclid(side) as u32)
        };
        let alive = |[x, y]: [u32; 2]| {
            let cell = [cell(0, x, size.width)?, cell(1, y, size.height)?];
            Some(density(*region, size, cell, words))
        };
        let dots = (0..height).flat_map(|y| (0..width).map(move |x| [x, y]));
        dots.map(alive).collect()
    }
}

/// Shades from dead to live; as many as a palette's ramp has, so that few characters change.
const SHADES: f32 = 8.0;

/// The order in which a shade's dots are set, in sixteenths: shades by dots that do not dance.
const ORDER: [[u8; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// The dots of so many columns and rows. In half blocks they are the pixels that the camera counts in.
pub(super) fn dots(is_braille: bool, [columns, rows]: [u16; 2]) -> [u32; 2] {
    let dots = [columns.into(), 2 * u32::from(rows)];
    dots.map(|dots| if is_braille { 2 * dots } else { dots })
}

/// How panels are painted.
pub(super) struct CellPainter<'a> {
    pub(super) is_braille: bool,
    /// Without colours, dots are on or off.
    pub(super) has_colours: bool,
    pub(super) options: &'a ViewOptions,
    /// Of cells to dots.
    pub(super) transform: ViewTransform,
}

/// A colour for each dot, where it has one.
struct Dots<F>(F, [u32; 2]);

impl<F: Fn(usize, usize) -> Option<Color>> Shape for Dots<F> {
    fn draw(&self, painter: &mut Painter) {
        let [width, height] = self.1.map(|dots| dots as usize);
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            if let Some(colour) = (self.0)(x, y) {
                painter.paint(x, y, colour);
            }
        }
    }
}

impl CellPainter<'_> {
    /// Paints an instance of this [number](session::Status::number_of).
    pub(super) fn paint(
        &self,
        pictures: &Pictures,
        (instance, number): (usize, usize),
        rect: Rect,
        buffer: &mut Buffer,
    ) {
        let dots = dots(self.is_braille, [rect.width, rect.height]);
        let densities = pictures.densities(instance, self.transform, dots);
        let reduction = reduced(1.0 / self.transform.scale);
        let colour = |shade: f32| self.colour(number, (shade * SHADES).round() as usize);
        let dot = |x: usize, y: usize| -> Option<Color> {
            let density = densities.get(y * dots[0] as usize + x).copied()??;
            let shade = brightness(f32::from(density) / 255.0, reduction);
            if self.has_colours && !self.is_braille {
                return (shade * SHADES >= 0.5).then(|| colour(shade));
            }
            let least = (f32::from(ORDER[y % 4][x % 4]) + 0.5) / 16.0;
            (shade > least).then(|| colour(1.0))
        };
        let marker = if self.is_braille {
            Marker::Braille
        } else {
            Marker::HalfBlock
        };
        let dots = Dots(dot, dots);
        let canvas = Canvas::default()
            .marker(marker)
            .background_color(colour(0.0));
        canvas
            .paint(|context| context.draw(&dots))
            .render(rect, buffer);
    }

    /// The colour of a shade, from dead to live.
    fn colour(&self, number: usize, shade: usize) -> Color {
        if !self.has_colours {
            return Color::Reset;
        }
        let theme = theme(self.options.theme);
        let (dead, live) = (theme.ramp[0], tint(number));
        let tinted = [0, 1, 2, 3].map(|c| dead[c] + (live[c] - dead[c]) * shade as f32 / SHADES);
        bytes(if theme.tinted {
            tinted
        } else {
            theme.ramp[shade]
        })
        .into()
    }
}
