use life::{Behaviour, Rule};

/// What a pattern was found to be, alone on an empty plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Identity {
    /// It comes again, in place or elsewhere.
    Repeats(Behaviour),
    /// Its last cell is dead in this generation.
    Dies(u32),
    /// It did not come again in so many generations.
    Unknown {
        /// The generations.
        generations: u32,
        /// Live cells in the last of them.
        population: u64,
    },
    /// It has no live cells.
    Empty,
    /// There is no lattice with enough room around it.
    TooLarge,
    /// No pattern is alone, as this rule gives birth in empty space.
    BirthInEmptySpace(Rule),
}
