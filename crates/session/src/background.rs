//! The background pool: threads for work on large lattices that nobody waits for.

use std::sync::LazyLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// One lattice can be read while another is packed.
const THREADS: usize = 2;

/// Runs the work on a background thread; on this one where the system gives no more threads.
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

/// Work that tests do at a time of their own choosing, on their own thread.
#[cfg(test)]
pub(crate) mod deferred {
    use std::cell::RefCell;
    use std::collections::VecDeque;

    type Work = Box<dyn FnOnce()>;

    thread_local! {
        static WAITING: RefCell<Option<VecDeque<Work>>> = const { RefCell::new(None) };
    }

    /// From now on, what this thread gives to the pool waits for [`run_one`].
    pub(crate) fn begin() {
        WAITING.set(Some(VecDeque::new()));
    }

    /// Does the piece of work that has waited longest; whether there was one.
    pub(crate) fn run_one() -> bool {
        let work = WAITING.with_borrow_mut(|waiting| waiting.as_mut()?.pop_front());
        work.is_some_and(|work| {
            work();
            true
        })
    }

    /// Puts work off, if this thread's work waits; hands it back otherwise.
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
