//! The background pool: threads that read and pack large lattices beside the session's thread.

use std::sync::LazyLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Two threads: one lattice can be read while another is packed.
const THREADS: usize = 2;

/// Runs work on a background thread, or on this one if the pool could not be created.
pub(super) fn spawn(work: impl FnOnce() + Send + 'static) {
    #[cfg(test)]
    let Some(work) = deferred::put_off(work) else {
        return;
    };
    static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
        let pool = ThreadPoolBuilder::new()
            .num_threads(THREADS)
            .thread_name(|i| format!("background {i}"))
            .build();
        pool.inspect_err(|why| tracing::warn!("{why}: lattices are copied between rounds"))
            .ok()
    });
    match &*POOL {
        Some(pool) => pool.spawn(work),
        None => work(),
    }
}

/// Background work that a test runs on its own thread, when it chooses.
#[cfg(test)]
pub(crate) mod deferred {
    use std::cell::RefCell;
    use std::collections::VecDeque;

    type Job = Box<dyn FnOnce()>;

    thread_local! {
        static WAITING: RefCell<Option<VecDeque<Job>>> = const { RefCell::new(None) };
    }

    /// From now on, work that this thread spawns waits for [`run_one`].
    pub(crate) fn begin() {
        WAITING.set(Some(VecDeque::new()));
    }

    /// Runs the oldest waiting piece of work. Returns whether there was one.
    pub(crate) fn run_one() -> bool {
        let work = WAITING.with_borrow_mut(|waiting| waiting.as_mut()?.pop_front());
        work.is_some_and(|work| {
            work();
            true
        })
    }

    /// Queues work if this thread's work waits, or else returns it.
    pub(super) fn put_off<W: FnOnce() + 'static>(work: W) -> Option<W> {
        WAITING.with_borrow_mut(|waiting| match waiting {
            Some(waiting) => {
                waiting.push_back(Box::new(work));
                None
            }
            None => Some(work),
        })
    }
}
