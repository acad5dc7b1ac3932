//! Colours, as many as a terminal has, and text in lines of so many columns.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::widgets::{Block, Padding, Paragraph, Widget as _};

use ui::theme::{Palette, Rgb};

/// The roles' colours: the dark interface's, as most terminals are dark and none says what it is.
pub(crate) const PALETTE: Palette = Palette::DARK;

/// Between things that are said one after the other.
pub(crate) const APART: &str = " · ";

/// How many colours there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ColourDepth {
    /// None, or none are wanted.
    None,
    /// 256: a cube of 6 × 6 × 6, and greys.
    Indexed,
    /// All.
    True,
}

impl ColourDepth {
    /// By the environment, as programs agree upon: `NO_COLOR`, `COLORTERM`, `TERM`. Who does not say how
    /// many there are has 256, or shows the nearest of its sixteen.
    pub(crate) fn detect(variable: impl Fn(&str) -> Option<String>) -> ColourDepth {
        let there = |name: &str| variable(name).filter(|value| !value.is_empty());
        let term = there("TERM").unwrap_or_default();
        let many = there("COLORTERM").is_some_and(|value| value == "truecolor" || value == "24bit");
        let is_plain = matches!(&*term, "" | "dumb") || term.starts_with("vt");
        if there("NO_COLOR").is_some() || is_plain || term.contains("mono") {
            ColourDepth::None
        } else if many || term.ends_with("-direct") {
            ColourDepth::True
        } else {
            ColourDepth::Indexed
        }
    }

    /// Takes the nearest colours that there are for those that were painted. Without any, what has a
    /// background of its own is reversed.
    pub(crate) fn reduce(self, buffer: &mut Buffer) {
        if self == ColourDepth::True {
            return;
        }
        for cell in &mut buffer.content {
            if self == ColourDepth::None && cell.bg != Color::Reset {
                cell.modifier |= Modifier::REVERSED;
            }
            for colour in [&mut cell.fg, &mut cell.bg] {
                *colour = match (self, *colour) {
                    (ColourDepth::None, _) => Color::Reset,
                    (_, Color::Rgb(red, green, blue)) => {
                        Color::Indexed(indexed([red, green, blue]))
                    }
                    (_, other) => other,
                }
            }
        }
    }
}

/// Type of a colour.
pub(crate) fn ink(colour: Rgb) -> Style {
    Style::new().fg(colour.into())
}

/// The levels of the cube's sides.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The nearest of 256 colours.
fn indexed(colour: Rgb) -> u8 {
    let nearest = colour.map(|value| {
        let off = |&at: &usize| LEVELS[at].abs_diff(value);
        (0..6).min_by_key(off).unwrap_or(0)
    });
    let mean = colour.map(u32::from).iter().sum::<u32>() / 3;
    let step = (mean.saturating_sub(3) / 10).min(23) as u8;
    let distance = |other: Rgb| -> u32 {
        let off = (0..3).map(|at| u32::from(other[at].abs_diff(colour[at])));
        off.map(|off| off * off).sum()
    };
    if distance([8 + 10 * step; 3]) < distance(nearest.map(|at| LEVELS[at])) {
        232 + step
    } else {
        nearest.iter().fold(0, |index, at| 6 * index + *at as u8) + 16
    }
}

/// Wraps a line at `columns`; words that are longer are broken. A number and its unit count as one
/// word.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let options = textwrap::Options::new(columns).wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    let text = lang::keep_units(text);
    let lines = textwrap::wrap(&text, options).into_iter();
    lines.map(|line| line.replace('\u{a0}', " ")).collect()
}

/// Parts one after the other in lines, at most so many of them, up to the first that has no room.
pub(crate) fn fitted(
    parts: impl IntoIterator<Item = String>,
    columns: usize,
    most: usize,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        let room = |line: &String| {
            lang::columns(line) + lang::columns(APART) + lang::columns(&part) <= columns
        };
        if let Some(line) = lines.last_mut().filter(|line| room(line)) {
            line.push_str(APART);
            line.push_str(&part);
        } else if lines.len() < most.max(1) {
            lines.push(part);
        } else {
            break;
        }
    }
    lines
}

/// Lines of a style that fills their place, a blank before each.
pub(crate) fn paint_lines(lines: &[String], style: Style, place: Rect, buffer: &mut Buffer) {
    let margin = Block::new().padding(Padding::left(1));
    let text = Paragraph::new(lines.join("\n")).style(style);
    text.block(margin).render(place, buffer);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_how_many_colours_there_are() {
        for (term, others, depth) in [
            ("xterm", "", ColourDepth::Indexed),
            ("vt220", "", ColourDepth::None),
            ("", "COLORTERM=truecolor", ColourDepth::None),
            ("xterm", "COLORTERM=truecolor", ColourDepth::True),
            ("xterm", "COLORTERM=truecolor NO_COLOR=1", ColourDepth::None),
            ("xterm", "COLORTERM=truecolor NO_COLOR=", ColourDepth::True),
        ] {
            let all = format!("TERM={term} {others}");
            let pairs = || all.split(' ').filter_map(|pair| pair.split_once('='));
            let find = |name: &str| Some(pairs().find(|pair| pair.0 == name)?.1.to_owned());
            assert_eq!(ColourDepth::detect(find), depth, "{all}");
        }
        let nearest = [[0; 3], [255; 3], [255, 0, 0], [128; 3]].map(indexed);
        assert_eq!(nearest, [16, 231, 196, 244]);
    }
}
