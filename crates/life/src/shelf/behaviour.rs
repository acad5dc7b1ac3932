//! Behaviour of patterns in Conway's Life.

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
