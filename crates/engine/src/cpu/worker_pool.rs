//! Helper threads that share the work of stepping one lattice when cores are idle.
//!
//! With many streams every worker has an op of its own and does it alone. With fewer, a worker
//! shares a lattice's rows with helpers. Stream order is unaffected: the op is done when all of its
//! rows are.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{hint, thread};

/// Tracks the engine's idle cores and runs helpers on them.
pub(super) struct WorkerPool {
    cores: usize,
    /// Workers that are currently running an op.
    busy: AtomicUsize,
    /// Helpers that are in a team.
    taken: AtomicUsize,
    /// How often in a row a team was slower than its first thread alone, as where other programs
    /// take the cores.
    failures: AtomicUsize,
    /// For how many calls there is no team after that.
    pause: AtomicUsize,
    /// One helper thread fewer than cores, started on first use; `None` inside if they cannot be
    /// started.
    helpers: OnceLock<Option<ThreadPool>>,
}

/// The most failures that count: with each, the pause is twice as long.
const MAX_FAILURES: usize = 7;

thread_local! {
    /// How long a thread of a team has waited for others.
    static WAITED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

impl WorkerPool {
    /// A pool for this many cores.
    pub(super) fn new(cores: usize) -> WorkerPool {
        WorkerPool {
            cores,
            busy: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            failures: AtomicUsize::new(0),
            pause: AtomicUsize::new(0),
            helpers: OnceLock::new(),
        }
    }

    /// Runs an op and counts this worker's core as busy meanwhile.
    pub(super) fn run<T>(&self, op: impl FnOnce() -> T) -> T {
        self.busy.fetch_add(1, Ordering::Relaxed);
        let _busy = Countdown(&self.busy, 1);
        op()
    }

    /// Forms a team of this thread and a worker's part of the cores that are idle now, of at most
    /// `max` threads.
    pub(super) fn team(&self, max: usize) -> Team<'_> {
        let mut team = Team {
            pool: self,
            helpers: None,
            taken: Countdown(&self.taken, 0),
        };
        let busy = self.busy.load(Ordering::Relaxed).max(1);
        let wanted = (self.cores.saturating_sub(busy) / busy).min(max.saturating_sub(1));
        let pauses = |pause: usize| pause.checked_sub(1);
        if wanted == 0 || update(&self.pause, pauses).is_ok() {
            return team;
        }
        let helpers = self.helpers.get_or_init(|| start_helpers(self.cores - 1));
        if helpers.is_some() {
            team.helpers = helpers.as_ref();
            let free = |taken| wanted.min(self.cores - 1 - taken);
            let before = update(&self.taken, |taken| Some(taken + free(taken)));
            team.taken.1 = before.map_or(0, free);
        }
        team
    }
}

fn update(
    number: &AtomicUsize,
    change: impl FnMut(usize) -> Option<usize>,
) -> Result<usize, usize> {
    number.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change)
}

/// Subtracts from a number when dropped.
struct Countdown<'a>(&'a AtomicUsize, usize);

impl Drop for Countdown<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Release);
    }
}

fn start_helpers(threads: usize) -> Option<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads);
    let pool = pool.thread_name(|i| format!("cpu helper {i}"));
    pool.start_handler(|_| platform::lower_thread_priority())
        .build()
        .ok()
}

/// The calling thread and helpers that no other team has, so that they may wait for each other.
pub(super) struct Team<'a> {
    pool: &'a WorkerPool,
    helpers: Option<&'a ThreadPool>,
    /// The number of helpers.
    taken: Countdown<'a>,
}

impl Team<'_> {
    /// The number of threads, this one included.
    pub(super) fn threads(&self) -> usize {
        1 + self.taken.1
    }

    /// Runs `work` on each share, of which there are as many as threads.
    pub(super) fn run<S: Send>(self, shares: Vec<S>, work: impl Fn(S) + Sync) {
        let mut shares = shares.into_iter();
        let own = shares.next();
        let Some(helpers) = self.helpers.filter(|_| shares.len() > 0) else {
            return own.into_iter().for_each(work);
        };
        let unfinished = &AtomicUsize::new(shares.len());
        WAITED.set(Duration::ZERO);
        let began = Instant::now();
        helpers.in_place_scope(|scope| {
            let work = &work;
            shares.for_each(|share| {
                scope.spawn(move |_| {
                    let _unfinished = Countdown(unfinished, 1);
                    work(share);
                });
            });
            own.into_iter().for_each(work);
            wait(|| (unfinished.load(Ordering::Relaxed) == 0).then_some(()));
        });
        self.learn(began.elapsed(), WAITED.get());
    }

    /// Takes into account how long the team ran, and how much of that this thread waited.
    fn learn(&self, ran: Duration, waited: Duration) {
        let threads = self.threads() as u32;
        let pool = self.pool;
        let failures = pool.failures.load(Ordering::Relaxed);
        if threads * ran.saturating_sub(waited) > ran {
            pool.failures
                .store(failures.saturating_sub(1), Ordering::Relaxed);
        } else {
            let failures = (failures + 1).min(MAX_FAILURES);
            pool.failures.store(failures, Ordering::Relaxed);
            pool.pause.store(1 << failures, Ordering::Relaxed);
        }
    }
}

/// Waits for another thread of a team. While each has a core of its own, they are at most some
/// microseconds apart, and sleeping and waking would take longer; but the other one may need this
/// core.
pub(super) fn wait<T>(poll: impl Fn() -> Option<T>) -> T {
    if let Some(result) = poll() {
        return result;
    }
    let began = Instant::now();
    loop {
        let waited = began.elapsed();
        if let Some(result) = poll() {
            WAITED.set(WAITED.get() + waited);
            return result;
        }
        match waited.as_micros() {
            0..10 => hint::spin_loop(),
            10..200 => thread::yield_now(),
            _ => thread::sleep(Duration::from_micros(20)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn teams_share_the_idle_cores() {
        let pool = &WorkerPool::new(8);
        let threads = |max| pool.team(max).threads();
        pool.run(|| {
            assert_eq!([0, 1, 3, 100].map(threads), [1, 1, 3, 8]);
            let all = pool.team(8);
            let alone = pool.team(8);
            assert_eq!(alone.threads(), 1, "no helper is in two teams");
            alone.run(vec![()], |()| ());
            drop(all);
            pool.run(|| {
                assert_eq!(threads(8), 4, "each of two workers has half of the cores");
                pool.run(|| assert_eq!(threads(8), 2));
            });
            assert_eq!(threads(8), 8);
        });
        assert_eq!(WorkerPool::new(1).team(8).threads(), 1);
    }

    #[test]
    fn every_share_has_a_thread_of_its_own() {
        let pool = WorkerPool::new(4);
        for _ in 0..100 {
            let team = pool.team(4);
            let threads = team.threads(); // one while teams pause on a busy machine
            let arrived = AtomicUsize::new(0);
            team.run(vec![1; threads], |share| {
                arrived.fetch_add(share, Ordering::Relaxed);
                wait(|| (arrived.load(Ordering::Relaxed) == threads).then_some(()));
            });
            assert_eq!(arrived.into_inner(), threads);
        }
    }
}
