//! What a piece of work logs, for tests.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// The messages that this thread logs meanwhile, at the level INFO or above.
pub(super) fn of(work: impl FnOnce()) -> Vec<(Level, String)> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    tracing::subscriber::with_default(Collector(lines.clone()), work);
    lines.lock().unwrap().clone()
}

struct Collector(Arc<Mutex<Vec<(Level, String)>>>);

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO
    }

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        let line = (*event.metadata().level(), message.0);
        self.0.lock().unwrap().push(line);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}
