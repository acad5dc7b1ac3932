//! Where in the lattices something happens, by their pictures: what a view that nobody has moved
//! follows.
//!
//! A lattice is looked at in tiles, once in so many pictures. A tile is active while it keeps
//! reaching states that it has not been in lately: still lifes and oscillators of short periods are not.

use life::Size;

/// A tile's side in cells: a whole number of words.
const TILE: usize = 64;

/// One picture in so many is looked at.
const LOOK_EVERY: usize = 8;

/// The states of a tile that are remembered.
const STATES: usize = 8;

/// After so many looks that showed nothing new a tile is no longer active; a glider has left it.
const ACTIVE_LOOKS: u8 = 2;

/// After so many, what is seen is quiet.
const QUIET_LOOKS: u8 = 6;

/// A lattice is dull if at most one of so many of its tiles is active.
const DULL_TILES: usize = 50;

/// With more lattices than these nobody follows single panels: they are not looked at.
const MAX_LATTICES: usize = 64;

/// What a part of a lattice that is seen has to offer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Outlook {
    /// Something happens in it, or it is not known yet.
    Lively,
    /// More happens around this cell.
    Elsewhere([f64; 2]),
    /// Hardly anything happens in the whole lattice: at most a few gliders.
    Dull,
}

#[derive(Clone, Copy, Default)]
struct Tile {
    states: [u64; STATES],
    next: usize,
    quiet_looks: u8,
}

impl Tile {
    fn see(&mut self, state: u64) {
        if self.states.contains(&state) {
            self.quiet_looks = self.quiet_looks.saturating_add(1);
        } else {
            self.states[self.next] = state;
            self.next = (self.next + 1) % STATES;
            self.quiet_looks = 0;
        }
    }

    fn is_active(self) -> bool {
        self.quiet_looks < ACTIVE_LOOKS
    }
}

/// One lattice's tiles, row by row.
#[derive(Clone, Default)]
struct Watched {
    pictures: usize,
    looks: usize,
    tiles: Vec<Tile>,
}

/// See the module.
pub(crate) struct Activity {
    size: Size,
    lattices: Vec<Watched>,
}

impl Activity {
    /// For so many lattices of this size, of which nothing is known.
    pub(crate) fn new(instances: usize, size: Size) -> Activity {
        Activity {
            size,
            lattices: match instances {
                0..=MAX_LATTICES => vec![Watched::default(); instances],
                _ => Vec::new(),
            },
        }
    }

    /// Tiles across and down.
    fn tiles(&self) -> [usize; 2] {
        [self.size.width(), self.size.height()].map(|side| (side as usize).div_ceil(TILE))
    }

    /// Takes note of a lattice's newest cells, 32 to a word.
    pub(crate) fn note(&mut self, instance: usize, words: &[u32]) {
        let [across, down] = self.tiles();
        let Some(watched) = self.lattices.get_mut(instance) else {
            return;
        };
        watched.pictures += 1;
        // Not all in the same frame.
        if !(watched.pictures + instance).is_multiple_of(LOOK_EVERY) {
            return;
        }
        watched.looks += 1;
        watched.tiles.resize(across * down, Tile::default());
        let rows = words.chunks(self.size.words_per_row());
        let mut states = vec![1u64; across];
        for (y, row) in rows.enumerate() {
            for (state, words) in states.iter_mut().zip(row.chunks(TILE / 32)) {
                for word in words {
                    *state = (*state ^ u64::from(*word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                    *state ^= *state >> 29;
                }
            }
            if (y + 1) % TILE == 0 || y + 1 == self.size.height() as usize {
                let tiles = &mut watched.tiles[y / TILE * across..][..across];
                for (tile, state) in tiles.iter_mut().zip(&mut states) {
                    tile.see(std::mem::replace(state, 1));
                }
            }
        }
    }

    /// What a part of a lattice has to offer, of `sides` cells about `centre`.
    pub(crate) fn outlook(&self, instance: usize, centre: [f64; 2], sides: [f64; 2]) -> Outlook {
        let Some(watched) = self.lattices.get(instance) else {
            return Outlook::Lively;
        };
        if watched.looks <= STATES {
            return Outlook::Lively;
        }
        let [across, down] = self.tiles();
        let lattice = [self.size.width(), self.size.height()].map(f64::from);
        let middle = |at: usize| [at % across, at / across].map(|n| (n as f64 + 0.5) * TILE as f64);
        // On a torus, on each axis.
        let away = |at: usize| {
            let cell = middle(at);
            [0, 1].map(|axis| {
                let apart = (cell[axis] - centre[axis]).rem_euclid(lattice[axis]);
                apart.min(lattice[axis] - apart)
            })
        };
        let active: Vec<usize> = (0..watched.tiles.len())
            .filter(|&at| watched.tiles[at].is_active())
            .collect();
        let half = TILE as f64 / 2.0;
        let is_seen = |at: usize| (0..2).all(|axis| away(at)[axis] < sides[axis] / 2.0 + half);
        let is_lively = |at: usize| watched.tiles[at].quiet_looks < QUIET_LOOKS && is_seen(at);
        if (0..watched.tiles.len()).any(is_lively) {
            return Outlook::Lively;
        }
        if active.len() * DULL_TILES <= watched.tiles.len() {
            return Outlook::Dull;
        }
        let is_active = |column: usize, row: usize| {
            let at = row % down * across + column % across;
            usize::from(watched.tiles[at].is_active())
        };
        // Where most tiles around are active; the nearest of these.
        let worth = |at: &usize| {
            let (column, row) = (at % across + across, at / across + down);
            let around = (row - 1..=row + 1)
                .flat_map(|row| (column - 1..=column + 1).map(move |column| (column, row)));
            let busy: usize = around.map(|(column, row)| is_active(column, row)).sum();
            let [x, y] = away(*at);
            (busy, std::cmp::Reverse(x.hypot(y) as u64))
        };
        let best = active.into_iter().max_by_key(worth);
        best.map_or(Outlook::Dull, |at| Outlook::Elsewhere(middle(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::{Lattice, Rule};

    /// An activity that has seen so many looks at a lattice that starts with these live cells.
    fn seen(looks: usize, side: u64, live: &[[u32; 2]]) -> Activity {
        let size = Size::new(side, side).unwrap();
        let mut lattice = Lattice::new(size);
        for &[x, y] in live {
            lattice.set(x, y, true);
        }
        let mut activity = Activity::new(1, size);
        for _ in 0..looks * LOOK_EVERY {
            activity.note(0, lattice.words());
            lattice = life::reference::step(&lattice, Rule::LIFE);
        }
        activity
    }

    /// A glider, a block, and an R-pentomino, each at a corner.
    fn glider([x, y]: [u32; 2]) -> Vec<[u32; 2]> {
        [[1, 0], [2, 1], [0, 2], [1, 2], [2, 2]]
            .map(|[dx, dy]| [x + dx, y + dy])
            .into()
    }

    fn pentomino([x, y]: [u32; 2]) -> Vec<[u32; 2]> {
        [[1, 0], [2, 0], [0, 1], [1, 1], [1, 2]]
            .map(|[dx, dy]| [x + dx, y + dy])
            .into()
    }

    #[test]
    fn a_view_of_ash_is_told_where_something_happens() {
        let blinker = [[20, 20], [21, 20], [22, 20]];
        let live = [blinker.to_vec(), pentomino([400, 300])].concat();
        let view = [100.0, 100.0];
        let activity = seen(14, 512, &live);
        let Outlook::Elsewhere([x, y]) = activity.outlook(0, [20.0, 20.0], view) else {
            panic!("the pentomino is not found");
        };
        assert!(
            (x - 400.0).abs() < 100.0 && (y - 300.0).abs() < 100.0,
            "{x}, {y}"
        );
        assert_eq!(activity.outlook(0, [x, y], view), Outlook::Lively);
    }

    #[test]
    fn a_lattice_of_ash_and_a_glider_is_dull_but_not_where_the_glider_is_seen() {
        let blinker = [[20, 20], [21, 20], [22, 20]];
        let live = [blinker.to_vec(), glider([300, 300])].concat();
        let activity = seen(12, 1024, &live);
        assert_eq!(activity.outlook(0, [20.0, 20.0], [100.0; 2]), Outlook::Dull);
        let at = 300.0 + 12.0 * LOOK_EVERY as f64 / 4.0;
        assert_eq!(activity.outlook(0, [at; 2], [100.0; 2]), Outlook::Lively);
    }

    #[test]
    fn nothing_is_said_before_enough_was_seen() {
        let activity = seen(STATES, 256, &[[20, 20], [21, 20], [22, 20]]);
        assert_eq!(activity.outlook(0, [200.0; 2], [50.0; 2]), Outlook::Lively);
    }
}
