//! Behaviour of patterns in Conway's Life.

use std::fmt;

use lang::tr;

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
            Behaviour::Oscillates { .. } => Kind::Oscillator,
            Behaviour::Travels { .. } => Kind::Spaceship,
            Behaviour::Fires { .. } => Kind::Gun,
            Behaviour::Settles { .. } => Kind::Methuselah,
            Behaviour::Puffs { .. } => Kind::Puffer,
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
            Behaviour::Oscillates { period } => tr!("period {period}"),
            Behaviour::Travels { period, by } => {
                tr!("period {period}, {}", speed(period, by))
            }
            Behaviour::Fires { period, gliders: 1 } => {
                tr!("a glider every {period} generations")
            }
            Behaviour::Fires { period, gliders } => {
                tr!("{gliders} gliders every {period} generations")
            }
            Behaviour::Settles {
                generation,
                population: 0,
            } => tr!("{generation} generations, then nothing"),
            Behaviour::Settles {
                generation,
                population,
            } => tr!("{generation} generations, then {population} cells"),
            Behaviour::Puffs { period, by, growth } => tr!(
                "period {period}, {speed}, {growth} cells more each time",
                speed = speed(period, by)
            ),
        })
    }
}

/// The speed of a pattern that moves by so many columns and rows per period, in units of c, which is
/// one cell per generation.
fn speed(period: u32, by: (i32, i32)) -> String {
    let (dx, dy) = (by.0.unsigned_abs(), by.1.unsigned_abs());
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
    use crate::Shelved;

    #[test]
    fn behaviours_are_said_in_a_few_words() {
        let travels = |period, right, down| Behaviour::Travels {
            period,
            by: (right, down),
        };
        for (behaviour, words) in [
            (travels(4, 1, 1), "period 4, c/4 diagonally"),
            (travels(4, -2, 0), "period 4, c/2 level"),
            (travels(7, 0, -2), "period 7, 2c/7 upright"),
            (travels(6, 2, 1), "period 6, c/3 obliquely"),
        ] {
            assert_eq!(behaviour.to_string(), words);
        }
        for (name, words) in [
            ("block", "period 1"),
            ("pulsar", "period 3"),
            ("gosper-gun", "a glider every 30 generations"),
            ("bi-gun", "2 gliders every 46 generations"),
            ("diehard", "130 generations, then nothing"),
            ("r-pentomino", "1103 generations, then 116 cells"),
            (
                "blinker-puffer-1",
                "period 8, c/2 level, 3 cells more each time",
            ),
        ] {
            let shelved = Shelved::find(name).expect("a pattern of the shelf");
            assert_eq!(shelved.behaviour.to_string(), words);
        }
    }
}
