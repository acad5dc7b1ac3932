//! Dots as characters: half blocks, Braille, or plain ASCII.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};

use crate::painting::colours::ColourDepth;
use ui::ViewOptions;
use ui::theme::{brightness, reduced};
use ui::theme::{bytes, theme, tint};

/// What panels are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Glyphs {
    /// Half blocks if each cell then has a dot of its own, else Braille
    Auto,
    /// Half blocks: a dot is half a character, with a shade of its own
    Blocks,
    /// Braille: eight dots per character, on or off
    Braille,
    /// Only ASCII characters, everywhere
    Ascii,
}

impl Glyphs {
    /// The dots for a lattice drawn with so many pixels (half characters) a cell.
    pub(super) fn dots(self, pixels_per_cell: f64) -> Dots {
        match self {
            Glyphs::Auto if pixels_per_cell < 1.0 => Dots::BRAILLE,
            Glyphs::Braille => Dots::BRAILLE,
            Glyphs::Ascii => Dots {
                ascii: true,
                ..Dots::PIXELS
            },
            Glyphs::Auto | Glyphs::Blocks => Dots::PIXELS,
        }
    }
}

/// How many dots a character has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Dots {
    /// In a row.
    pub(super) across: u32,
    /// In a column.
    pub(super) down: u32,
    ascii: bool,
}

impl Dots {
    /// Half characters: the pixels that the camera counts in.
    pub(super) const PIXELS: Dots = Dots {
        across: 1,
        down: 2,
        ascii: false,
    };

    const BRAILLE: Dots = Dots {
        across: 2,
        down: 4,
        ascii: false,
    };

    /// The dots of so many columns and rows.
    pub(super) fn of(self, characters: [u16; 2]) -> [u32; 2] {
        [
            u32::from(characters[0]) * self.across,
            u32::from(characters[1]) * self.down,
        ]
    }
}

/// Shades from dead to live; as many as a palette's ramp has, so that few characters change.
const SHADES: f32 = 8.0;

/// From dead to live in plain characters.
const ASCII: &[u8] = b" .:-=+*#%@";

/// The order in which a shade's dots are set, in sixteenths: shades by dots that do not dance.
const ORDER: [[u8; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// How a panel is painted.
pub(super) struct Paint<'a> {
    pub(super) dots: Dots,
    pub(super) depth: ColourDepth,
    pub(super) options: &'a ViewOptions,
    /// As [`Status::number_of`](session::Status::number_of).
    pub(super) number: usize,
    /// Dots a cell.
    pub(super) scale: f64,
}

impl Paint<'_> {
    /// Paints a panel of these densities, dot by dot and row by row.
    pub(super) fn panel(&self, densities: &[Option<u8>], rect: Rect, buffer: &mut Buffer) {
        let width = u32::from(rect.width) * self.dots.across;
        let reduced = reduced(1.0 / self.scale);
        let shade = |x: u32, y: u32| -> Option<f32> {
            let density = densities.get((y * width + x) as usize).copied()??;
            let brightness = brightness(f32::from(density) / 255.0, reduced);
            Some(if self.options.invert {
                1.0 - brightness
            } else {
                brightness
            })
        };
        let ramp = self.ramp();
        for row in 0..rect.height {
            for column in 0..rect.width {
                let (x, y) = (
                    u32::from(column) * self.dots.across,
                    u32::from(row) * self.dots.down,
                );
                let (symbol, style) = if self.dots.ascii {
                    ascii(shade(x, y), shade(x, y + 1))
                } else if self.dots == Dots::BRAILLE {
                    self.braille(|dx, dy| shade(x + dx, y + dy), x, y, &ramp)
                } else {
                    self.blocks(shade(x, y), shade(x, y + 1), &ramp)
                };
                if let Some(cell) = buffer.cell_mut((rect.x + column, rect.y + row)) {
                    cell.set_char(symbol).set_style(style);
                }
            }
        }
    }

    /// From dead to live.
    fn ramp(&self) -> [Color; 9] {
        let theme = theme(self.options.theme);
        let own = tint(self.number);
        std::array::from_fn(|step| {
            let colour = if theme.tinted {
                let (dead, t) = (theme.ramp[0], step as f32 / SHADES);
                [0, 1, 2, 3].map(|c| dead[c] + (own[c] - dead[c]) * t)
            } else {
                theme.ramp[step]
            };
            self.depth.colour(bytes(colour))
        })
    }

    fn blocks(&self, top: Option<f32>, bottom: Option<f32>, ramp: &[Color; 9]) -> (char, Style) {
        if !self.depth.has_shades() {
            let [top, bottom] = [top, bottom].map(|shade| shade.is_some_and(|shade| shade >= 0.5));
            let symbol = match (top, bottom) {
                (false, false) => ' ',
                (true, false) => '▀',
                (false, true) => '▄',
                (true, true) => '█',
            };
            return (symbol, Style::reset());
        }
        let colour = |shade: Option<f32>| {
            shade.map_or(Color::Reset, |shade| {
                ramp[(shade * SHADES).round() as usize]
            })
        };
        let (top, bottom) = (colour(top), colour(bottom));
        if top == bottom {
            (' ', Style::reset().bg(bottom))
        } else {
            ('▀', Style::reset().fg(top).bg(bottom))
        }
    }

    fn braille(
        &self,
        shade: impl Fn(u32, u32) -> Option<f32>,
        x: u32,
        y: u32,
        ramp: &[Color; 9],
    ) -> (char, Style) {
        const BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let (mut bits, mut inside) = (0, false);
        for (dy, row) in BITS.iter().enumerate() {
            for (dx, bit) in row.iter().enumerate() {
                let Some(shade) = shade(dx as u32, dy as u32) else {
                    continue;
                };
                inside = true;
                let at = [(y as usize + dy) % 4, (x as usize + dx) % 4];
                let least = (f32::from(ORDER[at[0]][at[1]]) + 0.5) / 16.0;
                if shade > least {
                    bits |= bit;
                }
            }
        }
        let style = match (self.depth.has_shades(), inside) {
            (true, true) => Style::reset().fg(ramp[8]).bg(ramp[0]),
            _ => Style::reset(),
        };
        let symbol = match bits {
            0 => ' ',
            _ => char::from_u32(0x2800 + bits).unwrap_or(' '),
        };
        (symbol, style)
    }
}

fn ascii(top: Option<f32>, bottom: Option<f32>) -> (char, Style) {
    let mean = (top.unwrap_or(0.0) + bottom.or(top).unwrap_or(0.0)) / 2.0;
    let at = (mean * (ASCII.len() - 1) as f32).round() as usize;
    (ASCII[at].into(), Style::reset())
}

/// Replaces painted symbols by ASCII, for terminals without Unicode.
pub(super) fn to_ascii(area: Rect, buffer: &mut Buffer) {
    for position in area.positions() {
        let Some(cell) = buffer.cell_mut(position) else {
            continue;
        };
        if !cell.symbol().is_ascii() {
            let plain = plain(cell.symbol().chars().next().unwrap_or(' '));
            cell.set_char(plain);
        }
    }
}

fn plain(symbol: char) -> char {
    match symbol {
        '×' => 'x',
        'µ' => 'u',
        '·' | '…' => '.',
        '–' | '−' | '─' => '-',
        '│' | '┃' => '|',
        '▶' | '▸' | '→' => '>',
        '◂' | '←' => '<',
        '↑' => '^',
        '↓' => 'v',
        '‖' => '"',
        '█' => '#',
        '▓' => '%',
        '▒' => '+',
        '░' => '.',
        '²' => '2',
        '┌' | '┐' | '└' | '┘' | '■' | '✓' => '*',
        '✗' => 'x',
        _ => '?',
    }
}
