//! The bundled patterns by kind, and their behaviour.
//!
//! Each row states what its pattern does and on how large a torus; tests run every pattern to check
//! that. Name, discoverer and year are in the pattern's file.

mod behaviour;
#[cfg(test)]
mod tests;

pub use behaviour::{Behaviour, Kind};

use Behaviour::{Fires, Oscillates, Puffs, Settles, Still, Travels};

use super::Pattern;
use super::words::{nearest, plain};

/// A bundled pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shelved {
    /// Name without blanks, which is also its file name in `assets/patterns/`.
    pub name: &'static str,
    /// What the pattern does.
    pub behaviour: Behaviour,
    /// Side in cells of a square torus large enough for this behaviour.
    pub side: u32,
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
    ($name:literal, $side:literal, $behaviour:expr) => {
        Shelved {
            name: $name,
            behaviour: $behaviour,
            side: $side,
            text: include_str!(concat!("../../../../assets/patterns/", $name, ".rle")),
        }
    };
}

/// All bundled patterns by kind, small or quick ones first.
pub const SHELF: &[Shelved] = &[
    file!("block", 16, Still),
    file!("tub", 16, Still),
    file!("boat", 16, Still),
    file!("beehive", 16, Still),
    file!("ship", 16, Still),
    file!("loaf", 16, Still),
    file!("pond", 16, Still),
    file!("eater-1", 16, Still),
    file!("blinker", 16, Oscillates(2)),
    file!("toad", 16, Oscillates(2)),
    file!("beacon", 16, Oscillates(2)),
    file!("clock", 16, Oscillates(2)),
    file!("pulsar", 32, Oscillates(3)),
    file!("caterer", 16, Oscillates(3)),
    file!("mold", 16, Oscillates(4)),
    file!("octagon-2", 16, Oscillates(5)),
    file!("fumarole", 16, Oscillates(5)),
    file!("101", 32, Oscillates(5)),
    file!("figure-eight", 32, Oscillates(8)),
    file!("galaxy", 32, Oscillates(8)),
    file!("29p9", 16, Oscillates(9)),
    file!("dinner-table", 32, Oscillates(12)),
    file!("tumbler", 16, Oscillates(14)),
    file!("pentadecathlon", 32, Oscillates(15)),
    file!("queen-bee-shuttle", 32, Oscillates(30)),
    file!("22p36", 32, Oscillates(36)),
    file!("twin-bees-shuttle", 32, Oscillates(46)),
    file!("glider", 16, Travels(4, 1, 1)),
    file!("lwss", 16, Travels(4, -2, 0)),
    file!("mwss", 16, Travels(4, -2, 0)),
    file!("hwss", 16, Travels(4, -2, 0)),
    file!("schick-engine", 64, Travels(12, -6, 0)),
    file!("coe-ship", 64, Travels(16, 8, 0)),
    file!("30p5h2v0", 32, Travels(5, 0, -2)),
    file!("turtle", 32, Travels(3, -1, 0)),
    file!("dart", 32, Travels(3, 0, -1)),
    file!("25p3h1v0.1", 32, Travels(3, 0, -1)),
    file!("weekender", 32, Travels(7, 0, -2)),
    file!("crab", 32, Travels(4, -1, -1)),
    file!("canada-goose", 32, Travels(4, -1, -1)),
    file!("big-glider", 32, Travels(4, -1, -1)),
    file!("spider", 64, Travels(5, 0, -1)),
    file!("loafer", 32, Travels(7, -1, 0)),
    file!("copperhead", 32, Travels(10, 0, -1)),
    file!("gosper-gun", 128, Fires(30, 1)),
    file!("bi-gun", 256, Fires(46, 2)),
    file!("ak-94", 256, Fires(94, 1)),
    file!("simkin-gun", 256, Fires(120, 1)),
    file!("century", 64, Settles(103, 15)),
    file!("herschel", 128, Settles(128, 24)),
    file!("diehard", 128, Settles(130, 0)),
    file!("b-heptomino", 128, Settles(148, 28)),
    file!("pi-heptomino", 128, Settles(173, 55)),
    file!("thunderbird", 128, Settles(243, 46)),
    file!("r-pentomino", 2048, Settles(1103, 116)),
    file!("acorn", 4096, Settles(5206, 633)),
    file!("blinker-puffer-1", 512, Puffs(8, -4, 0, 3)),
    file!("backrake-1", 512, Puffs(8, 0, -4, 5)),
    file!("pufferfish", 512, Puffs(12, 0, -6, 8)),
    file!("space-rake", 512, Puffs(20, 10, 0, 5)),
    file!("puffer-1", 1024, Puffs(128, 0, -64, 26)),
    file!("switch-engine", 2048, Puffs(288, -24, -24, 32)),
];
