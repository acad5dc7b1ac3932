//! Device times from events: the clock and the spans of a program's steps.

use std::rc::Rc;
use std::time::Instant;

use cust::sys;

use super::handles::{Event, EventPool};
use crate::{IssuerId, Nanos, Result, Span, StreamId};

/// An event whose time is known, so that the times of a run are relative to it. A device's clock shows
/// nanoseconds since the engine's start, derived from events.
///
/// The driver returns the time between two events as milliseconds in an `f32`, which loses
/// precision as the time grows. So an anchor is renewed every second. The host knows between which of
/// its own times an anchor fired, so that the clocks of several devices do not drift apart.
pub(super) struct Anchor {
    event: Event,
    nanos: i64,
    /// When the clock showed 0.
    zero: Instant,
    /// When it fired at the earliest and at the latest, by the host's clock.
    fired: [i64; 2],
}

impl Anchor {
    /// An event in an idle stream, which takes microseconds.
    pub(super) fn new(idle: sys::CUstream, zero: Instant) -> Result<Anchor> {
        let event = Event::new(true)?;
        let asked = Instant::now();
        event.record(idle)?;
        event.synchronize()?;
        let fired = [asked, Instant::now()].map(|moment| (moment - zero).as_nanos() as i64);
        Ok(Anchor {
            event,
            nanos: fired[0].midpoint(fired[1]),
            zero,
            fired,
        })
    }

    /// The anchor for events recorded from now on: this one, or a new one after a second.
    pub(super) fn renewed(self: &Rc<Anchor>, idle: sys::CUstream) -> Result<Rc<Anchor>> {
        let age = self.zero.elapsed().as_nanos() as i64 - self.fired[1];
        if age <= 1_000_000_000 {
            return Ok(self.clone());
        }
        let new = Anchor::new(idle, self.zero)?;
        let nanos = self.nanos(&new.event)?;
        let nanos = nanos.clamp(new.fired[0], new.fired[1]);
        Ok(Rc::new(Anchor { nanos, ..new }))
    }

    /// How far its time can be from the host's clock, in nanoseconds.
    pub(super) fn error(&self) -> i64 {
        self.fired[1] - self.fired[0]
    }

    /// The time at which an event fired, on the device's clock.
    pub(super) fn nanos(&self, event: &Event) -> Result<i64> {
        Ok(self.nanos + (f64::from(event.ms_since(&self.event)?) * 1e6) as i64)
    }
}

/// The time that the host spent in the calls of a step until now. Devices' clocks show 0 at `zero`.
pub(super) fn host_span(step: u32, stream: StreamId, began: Instant, zero: Instant) -> Span {
    Span {
        step,
        stream,
        start: Nanos((began - zero).as_nanos() as i64),
        end: Nanos(zero.elapsed().as_nanos() as i64),
    }
}

/// The timing events of some steps of a run, on a device.
pub(super) struct Timing {
    pub(super) gpu: usize,
    /// The issuer whose steps it times.
    pub(super) issuer: IssuerId,
    pub(super) origin: Rc<Anchor>,
    pub(super) timer: Rc<Timer>,
    /// Whether the events return to the pool; a graph keeps its own.
    pub(super) pooled: bool,
}

impl Timing {
    /// Appends the spans of its steps. Every event must have fired.
    pub(super) fn spans(&self, spans: &mut Vec<Span>) -> Result<()> {
        for &(step, stream, [from, to]) in &self.timer.steps {
            let start = Nanos(self.origin.nanos(&self.timer.events[from])?);
            let end = Nanos(self.origin.nanos(&self.timer.events[to])?);
            spans.push(Span {
                step,
                stream,
                start,
                end,
            });
        }
        Ok(())
    }
}

/// Collects the timing events of a program. Steps issued consecutively in one stream share an
/// event: the end of one is the start of the next. Other steps do not, since the stream may have
/// been idle between them.
#[derive(Default)]
pub(super) struct Timer {
    pub(super) events: Vec<Event>,
    /// Each step with its stream, and the indices of the events before and after it.
    pub(super) steps: Vec<(u32, StreamId, [usize; 2])>,
    /// The stream of the last step, and the index of the event after it; `None` if the host waited
    /// since, so that the next step needs its own start event.
    pub(super) latest: Option<(StreamId, usize)>,
}

impl Timer {
    fn record(
        &mut self,
        pool: &mut EventPool,
        stream: StreamId,
        record: impl FnOnce(&Event) -> Result<()>,
    ) -> Result<usize> {
        let event = pool.timing()?;
        record(&event)?;
        self.events.push(event);
        let at = self.events.len() - 1;
        self.latest = Some((stream, at));
        Ok(at)
    }

    /// Records the start of a step, unless the previous step's end event serves.
    pub(super) fn before(
        &mut self,
        pool: &mut EventPool,
        stream: StreamId,
        record: impl FnOnce(&Event) -> Result<()>,
    ) -> Result<()> {
        match self.latest {
            Some((latest, _)) if latest == stream => Ok(()),
            _ => self.record(pool, stream, record).map(|_| ()),
        }
    }

    /// Records the end of a step.
    pub(super) fn after(
        &mut self,
        pool: &mut EventPool,
        step: usize,
        stream: StreamId,
        record: impl FnOnce(&Event) -> Result<()>,
    ) -> Result<()> {
        let (_, from) = self.latest.expect("the step was begun");
        let to = self.record(pool, stream, record)?;
        self.steps.push((step as u32, stream, [from, to]));
        Ok(())
    }
}
