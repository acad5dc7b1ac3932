//! The bundled patterns by kind, and their behaviour.
//!
//! Each row states what its pattern does; tests run every pattern to check that. Name, discoverer and year
//! are in the pattern's file.

#[cfg(test)]
mod tests;

use Behaviour::{Fires, Oscillates, Puffs, Settles, Still, Travels};
use std::fmt;

use super::Pattern;
use super::words::{nearest, plain};
use lang::tr;

/// A bundled pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shelved {
    /// Name without blanks, which is also its file name in `assets/patterns/`.
    pub name: &'static str,
    /// What the pattern does.
    pub behaviour: Behaviour,
    /// An RLE text.
    text: &'static str,
}

impl Shelved {
    /// Finds a bundled pattern by name, ignoring case.
    pub fn find(name: &str) -> Option<&'static Shelved> {
        let is_it = |shelved: &&Shelved| shelved.name.eq_ignore_ascii_case(name);
        SHELF.iter().find(is_it)
    }

    /// The bundled pattern with the most similar name or full name, if it is similar enough.
    pub fn near(name: &str) -> Option<&'static Shelved> {
        let full = |shelved: &Shelved| shelved.pattern().notes().name.unwrap_or_default();
        let short = SHELF.iter().map(|shelved| (plain(shelved.name), shelved));
        let long = SHELF.iter().map(|shelved| (plain(&full(shelved)), shelved));
        nearest(&plain(name), short.chain(long))
    }

    /// The kind it is listed under.
    pub const fn kind(&self) -> Kind {
        self.behaviour.kind()
    }

    /// The pattern, parsed.
    pub fn pattern(&self) -> Pattern {
        Pattern::from_text(self.name, self.text).expect("the shelf's patterns are tested")
    }
}

/// A row for a file in `assets/patterns/`.
macro_rules! file {
    ($name:literal, $behaviour:expr) => {
        Shelved {
            name: $name,
            behaviour: $behaviour,
            text: include_str!(concat!("../../../assets/patterns/", $name, ".rle")),
        }
    };
}

/// All bundled patterns by kind, small or quick ones first.
pub const SHELF: &[Shelved] = &[
    file!("block", Still),
    file!("tub", Still),
    file!("boat", Still),
    file!("beehive", Still),
    file!("ship", Still),
    file!("loaf", Still),
    file!("pond", Still),
    file!("eater-1", Still),
    file!("blinker", Oscillates(2)),
    file!("toad", Oscillates(2)),
    file!("beacon", Oscillates(2)),
    file!("clock", Oscillates(2)),
    file!("pulsar", Oscillates(3)),
    file!("caterer", Oscillates(3)),
    file!("mold", Oscillates(4)),
    file!("octagon-2", Oscillates(5)),
    file!("fumarole", Oscillates(5)),
    file!("101", Oscillates(5)),
    file!("figure-eight", Oscillates(8)),
    file!("galaxy", Oscillates(8)),
    file!("29p9", Oscillates(9)),
    file!("dinner-table", Oscillates(12)),
    file!("tumbler", Oscillates(14)),
    file!("pentadecathlon", Oscillates(15)),
    file!("queen-bee-shuttle", Oscillates(30)),
    file!("22p36", Oscillates(36)),
    file!("twin-bees-shuttle", Oscillates(46)),
    file!("glider", Travels(4, 1, 1)),
    file!("lwss", Travels(4, -2, 0)),
    file!("mwss", Travels(4, -2, 0)),
    file!("hwss", Travels(4, -2, 0)),
    file!("schick-engine", Travels(12, -6, 0)),
    file!("coe-ship", Travels(16, 8, 0)),
    file!("30p5h2v0", Travels(5, 0, -2)),
    file!("turtle", Travels(3, -1, 0)),
    file!("dart", Travels(3, 0, -1)),
    file!("25p3h1v0.1", Travels(3, 0, -1)),
    file!("weekender", Travels(7, 0, -2)),
    file!("crab", Travels(4, -1, -1)),
    file!("canada-goose", Travels(4, -1, -1)),
    file!("big-glider", Travels(4, -1, -1)),
    file!("spider", Travels(5, 0, -1)),
    file!("loafer", Travels(7, -1, 0)),
    file!("copperhead", Travels(10, 0, -1)),
    file!("gosper-gun", Fires(30, 1)),
    file!("bi-gun", Fires(46, 2)),
    file!("ak-94", Fires(94, 1)),
    file!("simkin-gun", Fires(120, 1)),
    file!("century", Settles(103, 15)),
    file!("herschel", Settles(128, 24)),
    file!("diehard", Settles(130, 0)),
    file!("b-heptomino", Settles(148, 28)),
    file!("pi-heptomino", Settles(173, 55)),
    file!("thunderbird", Settles(243, 46)),
    file!("r-pentomino", Settles(1103, 116)),
    file!("acorn", Settles(5206, 633)),
    file!("blinker-puffer-1", Puffs(8, -4, 0, 3)),
    file!("backrake-1", Puffs(8, 0, -4, 5)),
    file!("pufferfish", Puffs(12, 0, -6, 8)),
    file!("space-rake", Puffs(20, 10, 0, 5)),
    file!("puffer-1", Puffs(128, 0, -64, 26)),
    file!("switch-engine", Puffs(288, -24, -24, 32)),
];

// Behaviour of patterns in Conway's Life.

/// A pattern's behaviour, in numbers that tests check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behaviour {
    /// It never changes.
    Still,
    /// Returns to its start after this many generations, not earlier.
    Oscillates(u32),
    /// Reappears after this many generations, not earlier, so many columns to the right and rows down.
    Travels(u32, i32, i32),
    /// Stays in place, and each time this many generations are over emits so many gliders.
    Fires(u32, u32),
    /// Evolves until only still lifes, oscillators and gliders are left: in this generation for the first
    /// time, with so many live cells.
    Settles(u32, u32),
    /// Travels and leaves debris or emits gliders: a period in generations, columns to the right, rows
    /// down and additional live cells per period.
    Puffs(u32, i32, i32, u32),
}

/// The kinds of patterns in lists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Never changes.
    StillLife,
    /// Returns.
    Oscillator,
    /// Travels.
    Spaceship,
    /// Sends off gliders.
    Gun,
    /// Small, and settles late.
    Methuselah,
    /// Travels and leaves something behind.
    Puffer,
}

impl Kind {
    /// All kinds, in list order.
    pub const ALL: [Kind; 6] = [
        Kind::StillLife,
        Kind::Oscillator,
        Kind::Spaceship,
        Kind::Gun,
        Kind::Methuselah,
        Kind::Puffer,
    ];
}

impl Behaviour {
    /// The kind of a pattern with this behaviour.
    pub const fn kind(self) -> Kind {
        match self {
            Behaviour::Still => Kind::StillLife,
            Behaviour::Oscillates(..) => Kind::Oscillator,
            Behaviour::Travels(..) => Kind::Spaceship,
            Behaviour::Fires(..) => Kind::Gun,
            Behaviour::Settles(..) => Kind::Methuselah,
            Behaviour::Puffs(..) => Kind::Puffer,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::StillLife => tr!("still life"),
            Kind::Oscillator => tr!("oscillator"),
            Kind::Spaceship => tr!("spaceship"),
            Kind::Gun => tr!("gun"),
            Kind::Methuselah => tr!("methuselah"),
            Kind::Puffer => tr!("puffer"),
        })
    }
}

/// In a few words, such as `period 4, c/4 diagonally`.
impl fmt::Display for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match *self {
            Behaviour::Still => tr!("period 1").into(),
            Behaviour::Oscillates(period) => tr!("period {period}"),
            Behaviour::Travels(period, right, down) => {
                tr!("period {period}, {}", speed(period, right, down))
            }
            Behaviour::Fires(period, 1) => tr!("a glider every {period} generations"),
            Behaviour::Fires(period, gliders) => {
                tr!("{gliders} gliders every {period} generations")
            }
            Behaviour::Settles(generation, 0) => tr!("{generation} generations, then nothing"),
            Behaviour::Settles(generation, population) => {
                tr!("{generation} generations, then {population} cells")
            }
            Behaviour::Puffs(period, right, down, growth) => tr!(
                "period {period}, {speed}, {growth} cells more each time",
                speed = speed(period, right, down)
            ),
        })
    }
}

/// The speed of a pattern that moves by so many columns and rows per period, in units of c, which is
/// one cell per generation.
fn speed(period: u32, right: i32, down: i32) -> String {
    let (dx, dy) = (right.unsigned_abs(), down.unsigned_abs());
    let cells = dx.max(dy);
    let common = greatest_divisor(cells, period);
    let factor = match cells / common {
        1 => String::new(),
        factor => factor.to_string(),
    };
    let direction = match (dx, dy) {
        (0, _) => tr!(" upright"),
        (_, 0) => tr!(" level"),
        _ if dx == dy => tr!(" diagonally"),
        _ => tr!(" obliquely"),
    };
    format!("{factor}c/{}{direction}", period / common)
}

fn greatest_divisor(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        greatest_divisor(b, a % b)
    }
}
