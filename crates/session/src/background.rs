//! The background pool: threads for work on large lattices that nobody waits for.

use std::sync::LazyLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// One lattice can be read while another is packed.
const THREADS: usize = 2;

/// Runs the work on a background thread; on this one where the system gives no more threads.
pub(super) fn spawn(work: impl FnOnce() + Send + 'static) {
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
