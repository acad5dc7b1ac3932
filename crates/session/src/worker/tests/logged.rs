//! How loudly a piece of work logs, for tests.

use std::sync::{Arc, Mutex};

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// The levels of what this thread logs meanwhile, at INFO or above.
pub(super) fn levels_of(work: impl FnOnce()) -> Vec<Level> {
    let levels = Arc::new(Mutex::new(Vec::new()));
    tracing::subscriber::with_default(Collector(levels.clone()), work);
    levels.lock().unwrap().clone()
}

struct Collector(Arc<Mutex<Vec<Level>>>);

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO
    }

    fn event(&self, event: &Event<'_>) {
        self.0.lock().unwrap().push(*event.metadata().level());
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
