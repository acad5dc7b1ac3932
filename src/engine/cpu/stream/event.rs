//! Events, as marks in streams.
//!
//! Each [`Op::Record`](crate::engine::Op::Record) submitted makes a mark; a
//! [`Op::Wait`](crate::engine::Op::Wait) looks for the mark that was the latest when it was
//! submitted, and for no later one, as in CUDA.

use crate::engine::StreamId;

/// The marks of an event that are not passed yet, and who is held by them.
#[derive(Default)]
pub(super) struct Event {
    latest: u64,
    ahead: Vec<u64>,
    held: Vec<(u64, StreamId)>,
}

impl Event {
    /// Makes a mark.
    pub(super) fn mark(&mut self) -> u64 {
        self.latest += 1;
        self.ahead.push(self.latest);
        self.latest
    }

    /// The latest mark; 0, which holds nobody, if there never was one.
    pub(super) fn latest(&self) -> u64 {
        self.latest
    }

    /// Whether a mark is not passed yet; then it holds the stream.
    pub(super) fn holds(&mut self, mark: u64, stream: StreamId) -> bool {
        let ahead = self.ahead.contains(&mark);
        if ahead {
            self.held.push((mark, stream));
        }
        ahead
    }

    /// Passes a mark; the streams that it held.
    pub(super) fn pass(&mut self, mark: u64) -> Vec<StreamId> {
        self.ahead.retain(|&ahead| ahead != mark);
        self.held
            .extract_if(.., |(by, _)| *by == mark)
            .map(|(_, stream)| stream)
            .collect()
    }
}
