//! Device times from events: the clock, and the spans of a program's steps.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use cust::sys;

use super::event::Event;
use super::gpu::Gpu;
use crate::engine::{Nanos, Result, Span, StreamId};

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
    made: std::time::Instant,
}

/// The anchor that a run's times are counted from.
#[derive(Clone)]
pub(super) struct Origin(Rc<Anchor>);

impl Clock {
    /// Starts the clock at 0, on an idle stream.
    pub(super) fn new(idle: sys::CUstream) -> Result<Clock> {
        let event = Event::new(true)?;
        event.record(idle)?;
        let anchor = Anchor {
            event,
            nanos: 0,
            made: std::time::Instant::now(),
        };
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
            let made = std::time::Instant::now();
            *self.anchor.borrow_mut() = Rc::new(Anchor { event, nanos, made });
        }
        Ok(Origin(self.anchor.borrow().clone()))
    }
}

impl Origin {
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

/// Collects the timing events of a program: consecutive steps of a stream share one.
pub(super) struct Timer {
    pub(super) gpu: usize,
    origin: Origin,
    pub(super) events: Vec<Event>,
    pub(super) steps: Vec<TimedStep>,
    latest: Vec<Option<usize>>, // by stream
}

impl Timer {
    pub(super) fn new(gpu: usize, origin: Origin, streams: usize) -> Timer {
        let latest = vec![None; streams];
        Timer {
            gpu,
            origin,
            events: Vec::new(),
            steps: Vec::new(),
            latest,
        }
    }

    fn mark(
        &mut self,
        gpu: &mut Gpu,
        stream: StreamId,
        record: impl FnOnce(&Event) -> Result<()>,
    ) -> Result<usize> {
        let event = gpu.pool.timing()?;
        record(&event)?;
        self.events.push(event);
        let at = self.events.len() - 1;
        self.latest[stream.0 as usize] = Some(at);
        Ok(at)
    }

    /// Marks where a step begins, unless the step before it in the stream ends there.
    pub(super) fn before(
        &mut self,
        gpu: &mut Gpu,
        stream: StreamId,
        record: impl FnOnce(&Event) -> Result<()>,
    ) -> Result<()> {
        match self.latest[stream.0 as usize] {
            Some(_) => Ok(()),
            None => self.mark(gpu, stream, record).map(|_| ()),
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
        let from = self.latest[stream.0 as usize].expect("the step was begun");
        let to = self.mark(gpu, stream, record)?;
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
        }
    }
}
