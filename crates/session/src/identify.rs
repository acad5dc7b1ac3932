//! What a pattern does alone on an empty plane: whether it is a still life, an oscillator or a
//! spaceship.

use std::time::{Duration, Instant};

use engine::Result;
use engine::cpu::Stepper;
use life::{Behaviour, Lattice, Rule, Size};
use model::Identity;

/// The longest period that is found.
const MAX_PERIOD: u32 = 2048;

/// How long it may take.
const MAX_TIME: Duration = Duration::from_secs(5);

/// Steps a pattern alone until it comes again, in place or elsewhere. The torus around it is so large
/// that it does not meet itself meanwhile.
///
/// # Errors
/// The host has too little memory.
pub fn identify(pattern: &Lattice, rule: Rule) -> Result<Identity> {
    if rule.next(false, 0) {
        return Ok(Identity::BirthInEmptySpace(rule));
    }
    let Some((x, y, size)) = pattern.live_part() else {
        return Ok(Identity::Empty);
    };
    let start = pattern.part(x, y, size);
    let side = |own: u32| u64::from(own) + 2 * u64::from(MAX_PERIOD + 1);
    let Ok(plane) = Size::new(side(size.width()), side(size.height())) else {
        return Ok(Identity::TooLarge);
    };
    let placed = start.in_the_middle_of(plane)?;
    let population = start.population();
    let mut stepper = Stepper::new(&placed, rule)?;
    let (mut generations, mut alive) = (0, population);
    let began = Instant::now();
    while generations < MAX_PERIOD && began.elapsed() < MAX_TIME {
        stepper.step();
        generations += 1;
        alive = stepper.population();
        if alive == 0 {
            return Ok(Identity::Dies(generations));
        }
        if alive == population
            && let Some(by) = displacement(&start, &stepper.lattice())
        {
            let behaviour = match by {
                (0, 0) if generations == 1 => Behaviour::Still,
                (0, 0) => Behaviour::Oscillates {
                    period: generations,
                },
                by => Behaviour::Travels {
                    period: generations,
                    by,
                },
            };
            return Ok(Identity::Repeats(behaviour));
        }
    }
    Ok(Identity::Unknown {
        generations,
        population: alive,
    })
}

/// By how many columns and rows the live cells differ from a pattern in the middle; `None` if they are
/// others.
fn displacement(pattern: &Lattice, now: &Lattice) -> Option<(i32, i32)> {
    let (x, y, size) = now.live_part()?;
    let is_same = size == pattern.size() && now.part(x, y, size) == *pattern;
    let from_middle = |at: u32| at as i32 - (MAX_PERIOD + 1) as i32;
    is_same.then(|| (from_middle(x), from_middle(y)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::{Pattern, Shelved};

    /// What a pattern file's text is.
    fn identity(text: &str, rule: Rule) -> Identity {
        let pattern = Pattern::from_text("a.rle", text).unwrap();
        let cells = pattern.live_part().unwrap();
        let cells = cells.unwrap_or_else(|| Lattice::new(Size::new(3, 3).unwrap()));
        identify(&cells, rule).unwrap()
    }

    #[test]
    fn patterns_of_the_shelf_are_what_the_shelf_says() {
        for name in [
            "block",
            "eater-1",
            "blinker",
            "pulsar",
            "pentadecathlon",
            "glider",
            "lwss",
            "weekender",
            "loafer",
            "twin-bees-shuttle",
        ] {
            let shelved = Shelved::find(name).unwrap();
            let cells = shelved.pattern().live_part().unwrap().unwrap();
            let found = identify(&cells, Rule::LIFE).unwrap();
            assert_eq!(found, Identity::Repeats(shelved.behaviour), "{name}");
        }
    }

    #[test]
    fn what_is_none_of_them_is_said() {
        let replicator: Rule = "B1357/S1357".parse().unwrap();
        let without_death: Rule = "B3/S012345678".parse().unwrap();
        let antilife: Rule = "B0123478/S01234678".parse().unwrap();
        assert_eq!(identity("!", Rule::LIFE), Identity::Empty);
        assert_eq!(identity("2o!", Rule::LIFE), Identity::Dies(1));
        assert_eq!(identity("o!", without_death), {
            Identity::Repeats(Behaviour::Still)
        });
        let empty_space = Identity::BirthInEmptySpace(antilife);
        assert_eq!(identity("o!", antilife), empty_space);
        match identity("o!", replicator) {
            Identity::Unknown {
                generations,
                population,
            } => assert!(generations > 0 && population > 1),
            other => panic!("{other:?}"),
        }
    }
}
