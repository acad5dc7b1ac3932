//! How the shares of a lattice pass their outer rows to each other.
//!
//! A share's pass needs rows of both neighbours from the pass before, and nothing of the others. So
//! no thread waits for all of them: each one gives its outer rows to its neighbours, and waits for
//! theirs only.

use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use super::vector::Lanes;
use super::worker_pool;

/// A share's connection to the shares above and below it, or `None` if it is the whole torus.
pub(super) struct Neighbours(Option<[Link; 2]>);

/// One of the two ends of the connection between neighbours.
struct Link {
    to: SyncSender<Vec<Lanes>>,
    from: Receiver<Vec<Lanes>>,
}

impl Link {
    /// Both ends.
    fn pair() -> (Link, Link) {
        // A neighbour is at most one pass ahead.
        let (to_lower, from_upper) = sync_channel(2);
        let (to_upper, from_lower) = sync_channel(2);
        let link = |to, from| Link { to, from };
        (link(to_lower, from_lower), link(to_upper, from_upper))
    }
}

impl Neighbours {
    /// The neighbours of each share around the torus.
    pub(super) fn around(shares: usize) -> Vec<Neighbours> {
        if shares == 1 {
            return vec![Neighbours(None)];
        }
        let (below, mut above): (Vec<_>, Vec<_>) = (0..shares).map(|_| Link::pair()).unzip();
        above.rotate_right(1);
        let both = above.into_iter().zip(below);
        both.map(|(above, below)| Neighbours(Some([above, below])))
            .collect()
    }

    /// Gives the neighbours above and below the rows that they need, and waits for theirs. `None` if
    /// the thread of a neighbour has panicked.
    pub(super) fn exchange(&self, rows: &mut [Vec<Lanes>; 2]) -> Option<()> {
        let Some(links) = &self.0 else {
            // What the upper neighbour gets from below is this share's own.
            rows.swap(0, 1);
            return Some(());
        };
        for (link, rows) in links.iter().zip(&mut *rows) {
            link.to.send(mem::take(rows)).ok()?;
        }
        for (link, rows) in links.iter().zip(rows) {
            *rows = worker_pool::wait(|| match link.from.try_recv() {
                Err(TryRecvError::Empty) => None,
                received => Some(received.ok()),
            })?;
        }
        Some(())
    }
}
