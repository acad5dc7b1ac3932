//! Helper threads that share the work of stepping one lattice when cores are idle.
//!
//! With many streams every worker has an op of its own and does it alone. With fewer, a worker
//! splits the rows of a lattice among idle cores, pass by pass. Stream order is unaffected: the op
//! is done when all of its rows are.

use std::hint;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::kernels::ROWS;
use super::vector::Lanes;

/// Tracks the engine's idle cores and runs helpers on them.
pub(super) struct WorkerPool {
    cores: usize,
    /// Workers that are currently running an op.
    busy: AtomicUsize,
    /// One helper thread fewer than cores, started on first use; `None` inside if they cannot be
    /// started.
    helpers: OnceLock<Option<ThreadPool>>,
}

/// Minimum work of a share, in vectors times generations. Less is not worth handing to another
/// thread.
const MIN_SHARE_WORK: usize = 1 << 13;

/// How long the thread that shares out work waits for the others without sleeping.
const MAX_SPIN: Duration = Duration::from_micros(100);

impl WorkerPool {
    /// A pool for this many cores.
    pub(super) fn new(cores: usize) -> WorkerPool {
        WorkerPool {
            cores,
            busy: AtomicUsize::new(0),
            helpers: OnceLock::new(),
        }
    }

    /// Runs an op and counts this worker's core as busy meanwhile.
    pub(super) fn run<T>(&self, op: impl FnOnce() -> T) -> T {
        struct Busy<'a>(&'a AtomicUsize);
        impl Drop for Busy<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.busy.fetch_add(1, Ordering::Relaxed);
        let _busy = Busy(&self.busy);
        op()
    }

    /// Decides how to split `rows` rows among the cores that are idle now. A share has at least
    /// `min_rows` rows; a row costs `work_per_row` vectors times generations.
    pub(super) fn split(&self, rows: usize, min_rows: usize, work_per_row: usize) -> RowSplit<'_> {
        if rows * work_per_row < 2 * MIN_SHARE_WORK {
            // Saves a small lattice the divisions below.
            return RowSplit {
                helpers: None,
                rows: rows.next_multiple_of(ROWS),
            };
        }
        let busy = self.busy.load(Ordering::Relaxed).max(1);
        let idle = self.cores.saturating_sub(busy);
        let min_rows = min_rows.max(MIN_SHARE_WORK / work_per_row.max(1)).max(1);
        let count = (1 + idle).min(rows / min_rows).max(1);
        let helpers = match count {
            1 => None,
            _ => self
                .helpers
                .get_or_init(|| start_helpers(self.cores - 1))
                .as_ref(),
        };
        let count = helpers.map_or(1, |_| count);
        RowSplit {
            helpers,
            rows: rows.div_ceil(count).next_multiple_of(ROWS),
        }
    }
}

fn start_helpers(threads: usize) -> Option<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads);
    let pool = pool.thread_name(|i| format!("cpu helper {i}"));
    pool.start_handler(|_| platform::lower_thread_priority())
        .build()
        .ok()
}

/// A division of rows into shares.
pub(super) struct RowSplit<'a> {
    helpers: Option<&'a ThreadPool>,
    /// Rows per share; the last share may have fewer.
    rows: usize,
}

/// A contiguous share of a lattice's rows.
pub(super) struct Share<'a> {
    /// Index of the first row.
    pub(super) first: usize,
    /// The rows' vectors, row by row.
    pub(super) out: &'a mut [Lanes],
}

impl RowSplit<'_> {
    /// Runs `work` on every share of `out`, whose rows have `across` vectors. This thread runs the
    /// first share, and then waits for the others.
    pub(super) fn for_each(&self, out: &mut [Lanes], across: usize, work: impl Fn(Share) + Sync) {
        let shares = out.chunks_mut(self.rows * across).enumerate();
        let mut shares = shares.map(|(i, out)| Share {
            first: i * self.rows,
            out,
        });
        let Some(helpers) = self.helpers else {
            return shares.for_each(work);
        };
        let own = shares.next();
        let unfinished = &AtomicUsize::new(shares.len());
        helpers.in_place_scope(|scope| {
            let work = &work;
            shares.for_each(|share| {
                scope.spawn(move |_| {
                    work(share);
                    unfinished.fetch_sub(1, Ordering::Relaxed);
                });
            });
            own.into_iter().for_each(work);
            // The others finish at about the same time, so sleeping and waking would take longer.
            let began = Instant::now();
            while unfinished.load(Ordering::Relaxed) > 0 && began.elapsed() < MAX_SPIN {
                hint::spin_loop();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of shares, and how often each row was in one.
    fn split_rows(worker_pool: &WorkerPool, rows: usize, work: usize) -> (usize, Vec<u32>) {
        let shares = AtomicUsize::new(0);
        let mut out = vec![Lanes::default(); rows];
        let split = worker_pool.split(rows, 1, work);
        split.for_each(&mut out, 1, |Share { first, out }| {
            shares.fetch_add(1, Ordering::Relaxed);
            for (i, row) in out.iter_mut().enumerate() {
                row.0[0] += 1;
                row.0[1] = (first + i) as u32;
            }
        });
        assert!((0..).zip(&out).all(|(i, row)| row.0[1] == i));
        (
            shares.into_inner(),
            out.iter().map(|row| row.0[0]).collect(),
        )
    }

    #[test]
    fn idle_cores_help_and_busy_ones_do_not() {
        let worker_pool = WorkerPool::new(4);
        let enough = 1 << 20;
        for rows in [1, 16, 37, 100] {
            let (_, seen) = split_rows(&worker_pool, rows, enough);
            assert_eq!(seen, vec![1; rows]);
        }
        worker_pool.run(|| assert_eq!(split_rows(&worker_pool, 64, enough).0, 4));
        worker_pool
            .run(|| worker_pool.run(|| assert_eq!(split_rows(&worker_pool, 64, enough).0, 3)));
        worker_pool.run(|| assert_eq!(split_rows(&worker_pool, 64, 1).0, 1, "too little to share"));
        assert_eq!(split_rows(&WorkerPool::new(1), 64, enough).0, 1);
    }
}
