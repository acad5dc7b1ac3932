//! How many colours a terminal has, and the nearest one of those.

use ratatui::style::{Color, Style};

use ui::theme::{Palette, Rgb};

/// The roles' colours: the dark interface's, as most terminals are dark and none says what it is.
pub(super) const PALETTE: Palette = Palette::DARK;

/// How many colours there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColourDepth {
    /// None, or none are wanted.
    None,
    /// The sixteen that every terminal has.
    Basic,
    /// 256: a cube of 6 × 6 × 6, and greys.
    Indexed,
    /// All.
    True,
}

impl ColourDepth {
    /// By the environment, as programs agree upon: `NO_COLOR`, `COLORTERM`, `TERM`.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> ColourDepth {
        let there = |name: &str| variable(name).filter(|value| !value.is_empty());
        let term = there("TERM").unwrap_or_default();
        let many = there("COLORTERM").is_some_and(|value| value == "truecolor" || value == "24bit");
        if there("NO_COLOR").is_some() || matches!(term.as_str(), "" | "dumb") {
            ColourDepth::None
        } else if many || term.ends_with("-direct") {
            ColourDepth::True
        } else if term.contains("256color") {
            ColourDepth::Indexed
        } else if term.contains("mono") || term.starts_with("vt") {
            ColourDepth::None
        } else {
            ColourDepth::Basic
        }
    }

    /// The nearest colour.
    pub(super) fn colour(self, [red, green, blue]: Rgb) -> Color {
        match self {
            ColourDepth::None => Color::Reset,
            ColourDepth::Basic => basic([red, green, blue]),
            ColourDepth::Indexed => Color::Indexed(indexed([red, green, blue])),
            ColourDepth::True => Color::Rgb(red, green, blue),
        }
    }

    /// Type of a colour.
    pub(super) fn text(self, colour: Rgb) -> Style {
        match self {
            ColourDepth::None => Style::new(),
            _ => Style::new().fg(self.colour(colour)),
        }
    }

    /// Type of a colour on a background of another; reversed where there are no colours.
    pub(super) fn on(self, text_colour: Rgb, background: Rgb) -> Style {
        match self {
            ColourDepth::None => Style::new().reversed(),
            _ => self.text(text_colour).bg(self.colour(background)),
        }
    }

    /// Whether shades can be told apart.
    pub(super) fn has_shades(self) -> bool {
        matches!(self, ColourDepth::Indexed | ColourDepth::True)
    }
}

/// The levels of the cube's sides.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

fn indexed(colour: [u8; 3]) -> u8 {
    let nearest = colour.map(|value| {
        let off = |&at: &usize| LEVELS[at].abs_diff(value);
        (0..6).min_by_key(off).unwrap_or(0)
    });
    let [r, g, b] = nearest;
    let cube = nearest.map(|at| LEVELS[at]);
    let mean = colour.map(u32::from).iter().sum::<u32>() / 3;
    let step = (mean.saturating_sub(3) / 10).min(23);
    let grey = [8 + 10 * step as u8; 3];
    if distance(grey, colour) < distance(cube, colour) {
        232 + step as u8
    } else {
        (16 + 36 * r + 6 * g + b) as u8
    }
}

fn distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    (0..3)
        .map(|at| u32::from(a[at].abs_diff(b[at])).pow(2))
        .sum()
}

/// By which of red, green and blue are strong.
fn basic(colour: [u8; 3]) -> Color {
    use Color::{Black, Blue, Cyan, Gray, Green, Magenta, Red, Yellow};
    const ALL: [Color; 8] = [Black, Red, Green, Yellow, Blue, Magenta, Cyan, Gray];
    let most = colour.into_iter().max().unwrap_or(0).max(128);
    let strong = |at: usize| usize::from(colour[at] > most / 2) << at;
    ALL[strong(0) | strong(1) | strong(2)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_how_many_colours_there_are() {
        let full = [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];
        for (pairs, depth) in [
            (vec![full[0]], ColourDepth::Indexed),
            (vec![("TERM", "xterm")], ColourDepth::Basic),
            (vec![("TERM", "dumb")], ColourDepth::None),
            (vec![], ColourDepth::None),
            (full.into(), ColourDepth::True),
            (vec![full[0], full[1], ("NO_COLOR", "1")], ColourDepth::None),
            (vec![full[0], full[1], ("NO_COLOR", "")], ColourDepth::True),
        ] {
            let find = |name: &str| {
                let pair = pairs.iter().find(|(key, _)| *key == name);
                pair.map(|(_, value)| value.to_string())
            };
            assert_eq!(ColourDepth::detect(find), depth, "{pairs:?}");
        }
    }

    #[test]
    fn the_nearest_of_256_is_the_cubes_or_a_grey() {
        assert_eq!(indexed([0, 0, 0]), 16);
        assert_eq!(indexed([255, 255, 255]), 231);
        assert_eq!(indexed([255, 0, 0]), 196);
        assert_eq!(indexed([128, 128, 128]), 244);
        assert_eq!(basic([250, 5, 5]), Color::Red);
    }
}
