//! What patterns do.

use lang::tr;
use life::{Behaviour, Kind};

use super::InWords;

impl InWords for Kind {
    fn in_words(&self) -> String {
        match self {
            Kind::StillLife => tr!("still life"),
            Kind::Oscillator => tr!("oscillator"),
            Kind::Spaceship => tr!("spaceship"),
            Kind::Gun => tr!("gun"),
            Kind::Methuselah => tr!("methuselah"),
            Kind::Puffer => tr!("puffer"),
        }
        .into()
    }
}

/// In a few words, such as `period 4, c/4 diagonally`.
impl InWords for Behaviour {
    fn in_words(&self) -> String {
        match *self {
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
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use life::Shelved;

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
            assert_eq!(behaviour.in_words(), words);
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
            assert_eq!(shelved.behaviour.in_words(), words);
        }
    }
}
