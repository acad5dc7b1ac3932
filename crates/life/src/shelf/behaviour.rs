//! Behaviour of patterns in Conway's Life.

use crate::Symmetry;
use lang::tr;
use std::fmt;

/// A pattern's behaviour, in numbers that tests check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behaviour {
    /// It never changes.
    Still,
    /// Returns to its start after `period` generations, not earlier.
    Oscillates {
        /// The period in generations.
        period: u32,
    },
    /// Reappears elsewhere after `period` generations, not earlier.
    Travels {
        /// The period in generations.
        period: u32,
        /// Columns to the right and rows down per period.
        by: (i32, i32),
    },
    /// Stays in place and emits gliders.
    Fires {
        /// The period in generations.
        period: u32,
        /// Gliders per period.
        gliders: u32,
    },
    /// Evolves for long until only still lifes, oscillators and gliders are left.
    Settles {
        /// The first generation in that state.
        generation: u32,
        /// The number of live cells then.
        population: u32,
    },
    /// Travels and leaves debris or emits gliders.
    Puffs {
        /// The period in generations.
        period: u32,
        /// Columns to the right and rows down per period.
        by: (i32, i32),
        /// Additional live cells per period.
        growth: u32,
    },
    /// Keeps its symmetry.
    Symmetric(Symmetry),
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
    /// A random start with symmetry.
    Soup,
}

impl Kind {
    /// All kinds, in list order.
    pub const ALL: [Kind; 7] = [
        Kind::StillLife,
        Kind::Oscillator,
        Kind::Spaceship,
        Kind::Gun,
        Kind::Methuselah,
        Kind::Puffer,
        Kind::Soup,
    ];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::StillLife => tr!("still life"),
            Kind::Oscillator => tr!("oscillator"),
            Kind::Spaceship => tr!("spaceship"),
            Kind::Gun => tr!("gun"),
            Kind::Methuselah => tr!("methuselah"),
            Kind::Puffer => tr!("puffer"),
            Kind::Soup => tr!("soup"),
        })
    }
}

impl Behaviour {
    /// The kind of a pattern with this behaviour.
    pub const fn kind(self) -> Kind {
        match self {
            Behaviour::Still => Kind::StillLife,
            Behaviour::Oscillates { .. } => Kind::Oscillator,
            Behaviour::Travels { .. } => Kind::Spaceship,
            Behaviour::Fires { .. } => Kind::Gun,
            Behaviour::Settles { .. } => Kind::Methuselah,
            Behaviour::Puffs { .. } => Kind::Puffer,
            Behaviour::Symmetric(_) => Kind::Soup,
        }
    }
}

/// In a few words, such as `period 4, c/4 diagonally`.
impl fmt::Display for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Behaviour::Still => f.write_str(tr!("period 1")),
            Behaviour::Oscillates { period } => {
                f.write_str(&tr!("period {period}", period = period))
            }
            Behaviour::Travels { period, by } => f.write_str(&tr!(
                "period {period}, {}",
                Speed { period, by },
                period = period
            )),
            Behaviour::Fires { period, gliders: 1 } => {
                f.write_str(&tr!("a glider every {period} generations", period = period))
            }
            Behaviour::Fires { period, gliders } => f.write_str(&tr!(
                "{gliders} gliders every {period} generations",
                gliders = gliders,
                period = period
            )),
            Behaviour::Settles {
                generation,
                population: 0,
            } => f.write_str(&tr!(
                "{generation} generations, then nothing",
                generation = generation
            )),
            Behaviour::Settles {
                generation,
                population,
            } => f.write_str(&tr!(
                "{generation} generations, then {population} cells",
                generation = generation,
                population = population
            )),
            Behaviour::Puffs { period, by, growth } => {
                let speed = Speed { period, by };
                f.write_str(&tr!(
                    "period {period}, {speed}, {growth} cells more each time",
                    period = period,
                    speed = speed,
                    growth = growth
                ))
            }
            Behaviour::Symmetric(symmetry) => {
                f.write_str(&tr!("symmetry {symmetry}", symmetry = symmetry))
            }
        }
    }
}

/// A speed in units of c, which is one cell per generation.
struct Speed {
    period: u32,
    by: (i32, i32),
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dx, dy) = (self.by.0.unsigned_abs(), self.by.1.unsigned_abs());
        let cells = dx.max(dy);
        let common = greatest_divisor(cells, self.period);
        if cells > common {
            write!(f, "{}", cells / common)?;
        }
        write!(f, "c/{}", self.period / common)?;
        match (dx, dy) {
            (0, _) => f.write_str(tr!(" upright")),
            (_, 0) => f.write_str(tr!(" level")),
            _ if dx == dy => f.write_str(tr!(" diagonally")),
            _ => f.write_str(tr!(" obliquely")),
        }
    }
}

fn greatest_divisor(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        greatest_divisor(b, a % b)
    }
}

pub(super) const STILL: Behaviour = Behaviour::Still;

pub(super) const fn oscillates(period: u32) -> Behaviour {
    Behaviour::Oscillates { period }
}

pub(super) const fn travels(period: u32, right: i32, down: i32) -> Behaviour {
    Behaviour::Travels {
        period,
        by: (right, down),
    }
}

pub(super) const fn fires(period: u32, gliders: u32) -> Behaviour {
    Behaviour::Fires { period, gliders }
}

pub(super) const fn settles(generation: u32, population: u32) -> Behaviour {
    Behaviour::Settles {
        generation,
        population,
    }
}

pub(super) const fn puffs(period: u32, right: i32, down: i32, growth: u32) -> Behaviour {
    Behaviour::Puffs {
        period,
        by: (right, down),
        growth,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaviours_are_said_in_a_few_words() {
        for (behaviour, words) in [
            (STILL, "period 1"),
            (oscillates(3), "period 3"),
            (travels(4, 1, 1), "period 4, c/4 diagonally"),
            (travels(4, -2, 0), "period 4, c/2 level"),
            (travels(7, 0, -2), "period 7, 2c/7 upright"),
            (travels(6, 2, 1), "period 6, c/3 obliquely"),
            (fires(30, 1), "a glider every 30 generations"),
            (fires(46, 2), "2 gliders every 46 generations"),
            (settles(130, 0), "130 generations, then nothing"),
            (settles(1103, 116), "1103 generations, then 116 cells"),
            (
                puffs(8, -4, 0, 3),
                "period 8, c/2 level, 3 cells more each time",
            ),
            (Behaviour::Symmetric(Symmetry::D2X), "symmetry D2x"),
        ] {
            assert_eq!(behaviour.to_string(), words);
        }
    }
}
