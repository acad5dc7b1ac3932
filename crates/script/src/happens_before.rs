//! Which calls' work is over before another's may begin: vector clocks over streams.

use std::collections::HashMap;
use std::sync::Arc;

use crate::{Call, CallKind};

/// The order of the calls so far. A clock has one number a stream: one more than the index of the latest
/// call there whose work is over. Streams and events share clocks until a wait changes one, so that a
/// round takes `streams` numbers for each event that waits changed, at worst, and none for a call.
pub(crate) struct HappensBefore {
    streams: Vec<Stream>,
    /// What the latest record of each event comes after.
    events: HashMap<u32, Moment>,
    host: Arc<Vec<u32>>,
    /// How often the host waited.
    host_waits: usize,
    calls: u32,
}

/// What the next call of a stream comes after.
#[derive(Clone)]
struct Stream {
    now: Moment,
    /// How many waits of the host it includes.
    host_waits: usize,
}

/// Calls that are over: those of other streams by a clock, those of its own stream by a number.
#[derive(Clone)]
struct Moment {
    clock: Arc<Vec<u32>>,
    stream: usize,
    own: u32,
}

impl HappensBefore {
    pub(crate) fn new(streams: u32) -> HappensBefore {
        let clock = Arc::new(vec![0; streams as usize]);
        let stream = |stream| Stream {
            now: Moment {
                clock: Arc::clone(&clock),
                stream,
                own: 0,
            },
            host_waits: 0,
        };
        HappensBefore {
            streams: (0..streams as usize).map(stream).collect(),
            events: HashMap::new(),
            host: clock,
            host_waits: 0,
            calls: 0,
        }
    }

    /// Adds the next call of the host.
    pub(crate) fn push(&mut self, call: &Call) {
        let index = call.stream as usize;
        let stream = &mut self.streams[index];
        if stream.host_waits < self.host_waits {
            join(&mut stream.now.clock, &self.host);
            stream.host_waits = self.host_waits;
        }
        match call.kind {
            CallKind::Wait(event) => {
                if let Some(recorded) = self.events.get(&event) {
                    recorded.join_into(&mut stream.now.clock);
                }
            }
            CallKind::Record(event) => {
                self.events.insert(event, stream.now.clone());
            }
            CallKind::Synchronize => {
                stream.now.join_into(&mut self.host);
                self.host_waits += 1;
            }
            CallKind::Advance(_)
            | CallKind::Upload(_)
            | CallKind::Scale(_)
            | CallKind::Download(_) => {}
        }
        self.calls += 1;
        stream.now.own = self.calls;
    }

    /// Whether the work of an earlier call is over before the newest call's begins.
    pub(crate) fn is_before_newest(&self, earlier: (usize, &Call), newest: &Call) -> bool {
        let (index, call) = earlier;
        let clock = &self.streams[newest.stream as usize].now.clock;
        call.stream == newest.stream || clock[call.stream as usize] as usize > index
    }

    /// Whether an event has been recorded.
    pub(crate) fn is_recorded(&self, event: u32) -> bool {
        self.events.contains_key(&event)
    }
}

impl Moment {
    fn join_into(&self, clock: &mut Arc<Vec<u32>>) {
        join(clock, &self.clock);
        if clock[self.stream] < self.own {
            Arc::make_mut(clock)[self.stream] = self.own;
        }
    }
}

/// Takes the later of each number; copies the clock only if that changes it.
fn join(clock: &mut Arc<Vec<u32>>, other: &Arc<Vec<u32>>) {
    let is_later = |(own, other): (&u32, &u32)| other > own;
    if Arc::ptr_eq(clock, other) || !clock.iter().zip(other.iter()).any(is_later) {
        return;
    }
    for (own, other) in Arc::make_mut(clock).iter_mut().zip(other.iter()) {
        *own = (*own).max(*other);
    }
}
