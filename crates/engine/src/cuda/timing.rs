//! Device times from events: the clock, and the spans of a program's steps.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use cust::sys;

use super::calls::HostTime;
use super::event::Event;
use super::gpu::Gpu;
use crate::{IssuerId, Nanos, Result, Span, StreamId};

/// A device's clock: nanoseconds since the engine's start, read off events.
///
/// The driver gives the time between two events as milliseconds in an `f32`, which loses
/// precision as the gap grows. So an anchor event is renewed every second, and times are counted
/// from the anchor.
pub(super) struct Clock {
    anchor: RefCell<Rc<Anchor>>,
}

struct Anchor {
    event: Event,
    nanos: i64,
    made: Instant,
}

/// The anchor that a run's times are counted from.
#[derive(Clone)]
pub(super) struct Origin(Rc<Anchor>);

impl Clock {
    /// Starts the clock on an idle stream, as if it had shown 0 at the moment `zero`: so the
    /// clocks of several contexts agree within microseconds.
    pub(super) fn new(idle: sys::CUstream, zero: Instant) -> Result<Clock> {
        let event = Event::new(true)?;
        event.record(idle)?;
        event.synchronize()?;
        let made = Instant::now();
        let nanos = (made - zero).as_nanos() as i64;
        let anchor = Anchor { event, nanos, made };
        Ok(Clock {
            anchor: RefCell::new(Rc::new(anchor)),
        })
    }

    /// The anchor for events recorded from now on.
    pub(super) fn origin(&self, idle: sys::CUstream) -> Result<Origin> {
        let old = self.anchor.borrow().clone();
        if old.made.elapsed().as_secs_f64() > 1.0 {
            let event = Event::new(true)?;
            event.record(idle)?;
            event.synchronize()?; // the stream is idle: some microseconds, once a second
            let nanos = old.nanos + (f64::from(event.ms_since(&old.event)?) * 1e6) as i64;
            let made = Instant::now();
            *self.anchor.borrow_mut() = Rc::new(Anchor { event, nanos, made });
        }
        Ok(Origin(self.anchor.borrow().clone()))
    }
}

impl Origin {
    /// A moment of the host's clock, on the device's.
    pub(super) fn of(&self, moment: Instant) -> Nanos {
        let (Anchor { nanos, made, .. }, signed) =
            (&*self.0, |d: std::time::Duration| d.as_nanos() as i64);
        match moment.checked_duration_since(*made) {
            Some(later) => Nanos(nanos + signed(later)),
            None => Nanos(nanos - signed(*made - moment)),
        }
    }

    /// When an event fired, on the device's clock.
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
    /// Whether the events go back to the pool; a graph keeps its own.
    pub(super) pooled: bool,
    /// How long the host was inside the calls.
    pub(super) host: Vec<Span>,
}

impl Timing {
    /// The spans of its steps; every event must have fired.
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

/// Collects the timing events of a program. Steps that are issued one right after the other in a
/// stream share one: what ends one begins the next. Others do not, for between them the stream
/// may have had nothing to do.
pub(super) struct Timer {
    pub(super) gpu: usize,
    /// Whose steps it times.
    pub(super) issuer: IssuerId,
    origin: Origin,
    pub(super) events: Vec<Event>,
    pub(super) steps: Vec<TimedStep>,
    /// The stream of the last step, and the event behind it.
    latest: Option<(StreamId, usize)>,
    /// How long the host was inside the calls.
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

    /// Notes how long the host was inside a step's calls.
    pub(super) fn host(&mut self, time: &HostTime) {
        let (start, end) = (self.origin.of(time.began), self.origin.of(time.ended));
        self.host.push(Span {
            step: time.step,
            stream: time.stream,
            start,
            end,
        });
    }

    /// Notes that the host waited: what comes next begins anew.
    pub(super) fn pause(&mut self) {
        self.latest = None;
    }

    fn record(
        &mut self,
        gpu: &mut Gpu,
        stream: StreamId,
        record: impl FnOnce(&Event) -> Result<()>,
    ) -> Result<usize> {
        let event = gpu.pool.timing()?;
        record(&event)?;
        self.events.push(event);
        let at = self.events.len() - 1;
        self.latest = Some((stream, at));
        Ok(at)
    }

    /// Marks where a step begins, unless the step before it in the stream ends there.
    pub(super) fn before(
        &mut self,
        gpu: &mut Gpu,
        stream: StreamId,
        record: impl FnOnce(&Event) -> Result<()>,
    ) -> Result<()> {
        match self.latest {
            Some((latest, _)) if latest == stream => Ok(()),
            _ => self.record(gpu, stream, record).map(|_| ()),
        }
    }

    /// Marks where a step ends.
    pub(super) fn after(
        &mut self,
        gpu: &mut Gpu,
        step: usize,
        stream: StreamId,
        record: impl FnOnce(&Event) -> Result<()>,
    ) -> Result<()> {
        let (_, from) = self.latest.expect("the step was begun");
        let to = self.record(gpu, stream, record)?;
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
