//! Work on large lattices that nobody has to wait for, on threads of its own.

use std::sync::LazyLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// One lattice can be read while another is packed.
const THREADS: usize = 2;

/// Does it aside; at once where there can be no more threads.
pub(super) fn aside(work: impl FnOnce() + Send + 'static) {
    static THREADS_ASIDE: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
        let pool = ThreadPoolBuilder::new().num_threads(THREADS);
        let named = pool.thread_name(|i| format!("aside {i}"));
        let made = named.build();
        made.inspect_err(|why| tracing::warn!("{why}: lattices are copied between rounds"))
            .ok()
    });
    match &*THREADS_ASIDE {
        Some(pool) => pool.spawn(work),
        None => work(),
    }
}
