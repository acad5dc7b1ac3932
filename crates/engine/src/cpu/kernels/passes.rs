//! Launches of the planar kernels: passes over a lattice, by one thread or by a team on idle cores.
//!
//! The threads of a team stay for many passes. Each one keeps its share of the rows, so that they
//! stay in its core's cache, and passes only its outer rows to its neighbours ([`Exchange`]). Now and
//! then the team is formed anew, since the engine may stop or other work may want the cores.

use std::cell::RefCell;
use std::mem;
use std::ops::Range;
use std::thread::LocalKey;

use super::{Launch, Pair, ROWS};
use crate::cpu::exchange::{ABOVE, BELOW, Exchange};
use crate::cpu::planar_rows::{PlanarRows, Rows, Shape, Source, halo_rows};
use crate::cpu::vector::Lanes;
use crate::cpu::worker_pool::Team;

/// Minimum work of a thread, in vectors times generations. Less is not worth waking it.
const MIN_SHARE_WORK: usize = 1 << 13;

/// Minimum vectors of a share. With fewer, threads mostly wait for each other.
const MIN_SHARE_VECTORS: usize = 1 << 9;

/// Minimum rows of a share, of which neighbours need the outer ones.
const MIN_SHARE_ROWS: usize = 2 * ROWS;

/// Passes of one length by one team.
#[derive(Clone, Copy)]
struct Passes {
    /// Generations of each.
    depth: usize,
    count: usize,
}

/// Runs all generations of a launch. `depth` is how many a pass has for shares of at least so many
/// rows, with so many vectors each; `step` steps rows by that many generations.
pub(super) fn run(
    launch: &Launch,
    cells: &mut Pair<PlanarRows>,
    depth: fn(rows: usize, across: usize) -> usize,
    step: impl Fn(Source, usize, &mut [Lanes]) + Sync,
) {
    let vectors = cells.now.vectors.len();
    let (groups, across) = (cells.now.shape.groups(), cells.now.shape.across());
    let mut left = launch.generations as usize;
    while left > 0 && launch.goes_on() {
        let useful = (vectors.saturating_mul(left) / MIN_SHARE_WORK)
            .min(vectors / MIN_SHARE_VECTORS)
            .min(groups * ROWS / MIN_SHARE_ROWS);
        let team = launch.worker_pool.team(useful);
        let depth = match depth(groups / team.threads() * ROWS, across).min(left) {
            0 | 1 => 1,
            // After an even number, the rows to store are aligned to groups of four.
            several => several & !1,
        };
        let most = team.max_share_work() * team.threads() / (vectors * depth);
        let count = most.clamp(1, left / depth);
        run_passes(team, Passes { depth, count }, cells, &step);
        left -= depth * count;
    }
}

fn run_passes(
    team: Team,
    passes: Passes,
    cells: &mut Pair<PlanarRows>,
    step: &(impl Fn(Source, usize, &mut [Lanes]) + Sync),
) {
    let (shape, threads) = (&cells.now.shape, team.threads());
    let (now, next) = (&mut cells.now.vectors[..], &mut cells.next.vectors[..]);
    if threads == 1 {
        run_alone(passes, shape, [now, next], step);
    } else {
        let length = Exchange::vectors(shape, passes.depth, threads);
        with_memory(&HALOS, length, |halos| {
            let exchange = &Exchange::new(passes.depth, threads, halos);
            let shares = shares(shape, threads, [now, next]);
            team.run(shares, |i, share| share.run(passes, exchange, i, step));
        });
    }
    if passes.count % 2 == 1 {
        cells.flip();
    }
}

/// Runs passes on this thread, whose rows are their own neighbours.
fn run_alone(
    Passes { depth, count }: Passes,
    shape: &Shape,
    [mut now, mut next]: [&mut [Lanes]; 2],
    step: &impl Fn(Source, usize, &mut [Lanes]),
) {
    let halo = halo_rows(depth);
    let (rows, known) = (shape.rows() as isize, depth as isize);
    with_memory(&HALOS, 2 * halo * shape.across(), |halos| {
        let (above, below) = halos.split_at_mut(halo * shape.across());
        for _ in 0..count {
            let own = Rows::new(shape, 0, now);
            own.copy(-known..0, above, halo - depth);
            own.copy(rows..rows + known, below, 0);
            let halos = [&*above, &*below];
            let first = 0;
            step(Source { own, halos, first }, depth, next);
            mem::swap(&mut now, &mut next);
        }
    });
}

/// Rows that a thread of a team keeps, in both buffers.
struct Share<'a> {
    shape: &'a Shape,
    /// Index of the first row.
    first: usize,
    now: &'a mut [Lanes],
    next: &'a mut [Lanes],
}

/// Divides both buffers into shares.
fn shares<'a>(
    shape: &'a Shape,
    count: usize,
    [mut now, mut next]: [&'a mut [Lanes]; 2],
) -> Vec<Share<'a>> {
    let share = |i| {
        let [start, end] = [i, i + 1].map(|i| i * shape.groups() / count);
        let own = ..(end - start) * shape.group();
        Share {
            shape,
            first: start * ROWS,
            now: now.split_off_mut(own).expect("groups of every share"),
            next: next.split_off_mut(own).expect("groups of every share"),
        }
    };
    (0..count).map(share).collect()
}

impl Share<'_> {
    /// Runs passes as share `i` of a team.
    fn run(
        self,
        Passes { depth, count }: Passes,
        exchange: &Exchange,
        i: usize,
        step: &impl Fn(Source, usize, &mut [Lanes]),
    ) {
        let Share {
            shape,
            first,
            mut now,
            mut next,
        } = self;
        let first_pass = Rows::new(shape, first, now);
        let _member = exchange.join();
        for side in [ABOVE, BELOW] {
            exchange.give(i, side, 0, first_pass);
        }
        let mut parts = parts(first_pass, depth);
        for pass in 0..count {
            for (sides, part) in &parts {
                let taken = [ABOVE, BELOW]
                    .map(|side| sides.contains(&side).then(|| exchange.take(i, side, pass)));
                let halos = taken.each_ref().map(|halo| match halo {
                    Some(halo) => &halo[..],
                    None => &[],
                });
                let from = Source {
                    own: Rows::new(shape, first, now),
                    halos,
                    first: first + part.start,
                };
                let across = shape.across();
                step(
                    from,
                    depth,
                    &mut next[part.start * across..part.end * across],
                );
                drop(taken);
                for &side in *sides {
                    exchange.give(i, side, pass + 1, Rows::new(shape, first, next));
                }
            }
            mem::swap(&mut now, &mut next);
            // From the top and from the bottom in turns: so each part needs rows that a neighbour
            // has stepped a while ago.
            parts.reverse();
        }
    }
}

/// Divides a share's rows into parts to step one after the other, each with the sides where it needs
/// rows of neighbours. A pass of several generations would step rows between parts twice.
fn parts(own: Rows, depth: usize) -> Vec<(&'static [usize], Range<usize>)> {
    let rows = own.vectors.len() / own.shape.across();
    let middle = (own.end() - own.first) / 2 / ROWS * ROWS;
    if depth > 1 || middle == 0 {
        return vec![(&[ABOVE, BELOW], 0..rows)];
    }
    vec![(&[ABOVE], 0..middle), (&[BELOW], middle..rows)]
}

thread_local! {
    /// Memory of a thread's passes.
    pub(super) static SCRATCH: RefCell<Vec<Lanes>> = const { RefCell::new(Vec::new()) };

    /// Memory for the halos of all shares of a thread's launch.
    static HALOS: RefCell<Vec<Lanes>> = const { RefCell::new(Vec::new()) };
}

/// Calls `work` with this many vectors of a thread's memory, whose contents are arbitrary.
pub(super) fn with_memory(
    memory: &'static LocalKey<RefCell<Vec<Lanes>>>,
    length: usize,
    work: impl FnOnce(&mut [Lanes]),
) {
    memory.with_borrow_mut(|memory| {
        memory.resize(memory.len().max(length), Lanes::default());
        work(&mut memory[..length]);
    });
}
