//! Behaviour of patterns in Conway's Life.

use std::fmt;

use lang::tr;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shelved;

    #[test]
    fn behaviours_are_said_in_a_few_words() {
        for (behaviour, words) in [
            (Behaviour::Travels(4, 1, 1), "period 4, c/4 diagonally"),
            (Behaviour::Travels(4, -2, 0), "period 4, c/2 level"),
            (Behaviour::Travels(7, 0, -2), "period 7, 2c/7 upright"),
            (Behaviour::Travels(6, 2, 1), "period 6, c/3 obliquely"),
        ] {
            assert_eq!(behaviour.to_string(), words);
        }
        for row in [
            "block => period 1",
            "pulsar => period 3",
            "gosper-gun => a glider every 30 generations",
            "bi-gun => 2 gliders every 46 generations",
            "diehard => 130 generations, then nothing",
            "r-pentomino => 1103 generations, then 116 cells",
            "blinker-puffer-1 => period 8, c/2 level, 3 cells more each time",
        ] {
            let (name, words) = row.split_once(" => ").unwrap();
            let shelved = Shelved::find(name).expect("a pattern of the shelf");
            assert_eq!(shelved.behaviour.to_string(), words);
        }
    }
}
