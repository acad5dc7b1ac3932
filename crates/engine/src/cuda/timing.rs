//! Device times from events: the clock and the spans of a program's steps.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use cust::sys;

use super::calls::HostTime;
use super::handles::{Event, EventPool};
use crate::{IssuerId, Nanos, Result, Span, StreamId};

/// A device's clock: nanoseconds since the engine's start, derived from events.
///
/// The driver returns the time between two events as milliseconds in an `f32`, which loses
/// precision as the time grows. So an anchor event is renewed every second, and times are relative
/// to it. The host knows between which of its own times an anchor fired, so that the clocks of
/// several devices do not drift apart.
pub(super) struct Clock {
    anchor: RefCell<Rc<Anchor>>,
}

struct Anchor {
    event: Event,
    nanos: i64,
    /// When the clock showed 0.
    zero: Instant,
    /// When it fired at the earliest and at the latest, by the host's clock.
    fired: [i64; 2],
}

impl Anchor {
    /// An event in an idle stream, which takes microseconds.
    fn new(idle: sys::CUstream, zero: Instant) -> Result<Anchor> {
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
}

/// The anchor that a run's times are relative to.
#[derive(Clone)]
pub(super) struct Origin(Rc<Anchor>);

impl Clock {
    /// Starts the clock on an idle stream, with 0 at the time `zero`.
    pub(super) fn new(idle: sys::CUstream, zero: Instant) -> Result<Clock> {
        let anchor = Anchor::new(idle, zero)?;
        Ok(Clock {
            anchor: RefCell::new(Rc::new(anchor)),
        })
    }

    /// How far the latest anchor's time can be from the host's clock, in nanoseconds.
    pub(super) fn error(&self) -> i64 {
        let [earliest, latest] = self.anchor.borrow().fired;
        latest - earliest
    }

    /// Returns the anchor for events recorded from now on.
    pub(super) fn origin(&self, idle: sys::CUstream) -> Result<Origin> {
        let old = self.anchor.borrow().clone();
        let age = old.zero.elapsed().as_nanos() as i64 - old.fired[1];
        if age > 1_000_000_000 {
            let new = Anchor::new(idle, old.zero)?;
            let nanos = Origin(old).nanos(&new.event)?;
            let nanos = nanos.clamp(new.fired[0], new.fired[1]);
            *self.anchor.borrow_mut() = Rc::new(Anchor { nanos, ..new });
        }
        Ok(Origin(self.anchor.borrow().clone()))
    }
}

impl Origin {
    /// Converts a host time to the device's clock.
    pub(super) fn of(&self, moment: Instant) -> Nanos {
        Nanos((moment - self.0.zero).as_nanos() as i64)
    }

    /// The time at which an event fired, on the device's clock.
    pub(super) fn nanos(&self, event: &Event) -> Result<i64> {
        Ok(self.0.nanos + (f64::from(event.ms_since(&self.0.event)?) * 1e6) as i64)
    }
}

/// A step between two timing events of its stream.
#[derive(Clone, Copy)]
pub(super) struct TimedStep {
    pub(super) step: u32,
    pub(super) stream: StreamId,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The timing events of a run and the steps between them.
pub(super) struct Timing {
    pub(super) gpu: usize,
    pub(super) origin: Origin,
    pub(super) events: Rc<Vec<Event>>,
    pub(super) steps: Arc<[TimedStep]>,
    /// Whether the events return to the pool; a graph keeps its own.
    pub(super) pooled: bool,
    /// Time the host spent in the calls.
    pub(super) host: Vec<Span>,
}

impl Timing {
    /// Appends the spans of its steps. Every event must have fired.
    pub(super) fn spans(&self, spans: &mut Vec<Span>) -> Result<()> {
        for timed in &*self.steps {
            let start = Nanos(self.origin.nanos(&self.events[timed.from])?);
            let end = Nanos(self.origin.nanos(&self.events[timed.to])?);
            spans.push(Span {
                step: timed.step,
                stream: timed.stream,
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
pub(super) struct Timer {
    pub(super) gpu: usize,
    /// The issuer whose steps it times.
    pub(super) issuer: IssuerId,
    origin: Origin,
    pub(super) events: Vec<Event>,
    pub(super) steps: Vec<TimedStep>,
    /// The stream of the last step, and the index of the event after it.
    latest: Option<(StreamId, usize)>,
    /// Time the host spent in the calls.
    host: Vec<Span>,
}

impl Timer {
    pub(super) fn new(gpu: usize, issuer: IssuerId, origin: Origin) -> Timer {
        Timer {
            gpu,
            issuer,
            origin,
            events: Vec::new(),
            steps: Vec::new(),
            latest: None,
            host: Vec::new(),
        }
    }

    /// Records the time the host spent in a step's calls.
    pub(super) fn host(&mut self, time: &HostTime) {
        let (start, end) = (self.origin.of(time.began), self.origin.of(time.ended));
        self.host.push(Span {
            step: time.step,
            stream: time.stream,
            start,
            end,
        });
    }

    /// Records that the host waited, so the next step needs its own start event.
    pub(super) fn pause(&mut self) {
        self.latest = None;
    }

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
        self.steps.push(TimedStep {
            step: step as u32,
            stream,
            from,
            to,
        });
        Ok(())
    }

    pub(super) fn finish(self) -> Timing {
        let (events, steps) = (Rc::new(self.events), self.steps.into());
        Timing {
            gpu: self.gpu,
            origin: self.origin,
            events,
            steps,
            pooled: true,
            host: self.host,
        }
    }
}
