//! Programs captured once and replayed as CUDA graphs: one launch by the host instead of hundreds.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use cust::sys::{self, CUstreamCaptureMode};

use super::CudaEngine;
use super::calls::Sink;
use super::driver::{check, half_done};
use super::event::Event;
use super::runs::{Replay, Run};
use super::slots::CudaSlots;
use super::timing::{TimedStep, Timer, Timing};
use crate::{IssuerId, LatticeId, Op, Program, Result, RunId, Slot, Span, StreamId};

/// A program captured for replay, as one graph per device.
pub(super) struct Prepared {
    pub(super) parts: Vec<Part>,
    /// The downloads of all parts, to bind before a replay.
    pub(super) downloads: Vec<(LatticeId, Slot)>,
    pub(super) _slots: Option<Arc<CudaSlots>>,
}

/// One device's graph.
pub(super) struct Part {
    pub(super) gpu: usize,
    pub(super) graph: Graph,
    pub(super) downloads: Arc<[GraphDownload]>,
    pub(super) events: Rc<Vec<Event>>,
    pub(super) steps: Arc<[TimedStep]>,
}

/// A download in a graph, and the event that each replay records after it, so that the picture is
/// available before the whole round is done. (On an H200 such a node has no measurable cost. Right
/// after a launch the event counts as not fired.)
pub(super) struct GraphDownload {
    pub(super) lattices: Range<u32>,
    pub(super) slot: Slot,
    pub(super) event: Event,
}

/// An instantiated graph.
pub(super) struct Graph(sys::CUgraphExec);

impl Graph {
    /// Captures what `issue` issues to `origin` and to streams that wait for it.
    pub(super) fn capture(
        origin: sys::CUstream,
        issue: impl FnOnce() -> Result<()>,
    ) -> Result<Graph> {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is alive; the capture is ended below.
        check("cuStreamBeginCapture", unsafe {
            sys::cuStreamBeginCapture_v2(origin, mode)
        })?;
        let issued = issue();
        let mut graph = std::ptr::null_mut();
        // SAFETY: `graph` is valid for the write. After a failed issue it may come back null.
        let ended = check("cuStreamEndCapture", unsafe {
            sys::cuStreamEndCapture(origin, &mut graph)
        });
        let instantiated = issued.and(ended).and_then(|()| {
            let mut exec = std::ptr::null_mut();
            // SAFETY: the graph is complete, `exec` is valid for the write.
            let code = unsafe { sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0) };
            check("cuGraphInstantiateWithFlags", code).map(|()| Graph(exec))
        });
        if !graph.is_null() {
            // SAFETY: destroyed once; an instantiated graph does not need it.
            unsafe { sys::cuGraphDestroy(graph) };
        }
        let graph = instantiated?;
        // Prepares the first replay. Old drivers lack this call; their first replay is slower.
        // SAFETY: graph and stream are alive.
        unsafe { sys::cuGraphUpload(graph.0, origin) };
        Ok(graph)
    }

    pub(super) fn launch(&self, stream: sys::CUstream) -> Result<()> {
        // SAFETY: graph and stream are alive, and so are the addresses in the graph: the validator
        // rejects a replay after memory was replaced.
        check("cuGraphLaunch", unsafe {
            sys::cuGraphLaunch(self.0, stream)
        })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: destroyed once; the driver keeps what still runs.
        unsafe { sys::cuGraphExecDestroy(self.0) };
    }
}

impl CudaEngine {
    /// Captures a valid program whose memory is allocated, as one graph per device. The lattices'
    /// states change only in a draft.
    pub(super) fn capture_all(&mut self, program: &Program) -> Result<Prepared> {
        self.check.states.begin();
        let used = self.streams_used(program);
        let parts = used
            .iter()
            .map(|(gpu, streams)| self.capture(*gpu, streams, program))
            .collect::<Result<Vec<Part>>>()?;
        Ok(Prepared {
            parts,
            downloads: program.downloads().collect(),
            _slots: self.slots.clone(),
        })
    }

    /// Captures one device's steps of a program.
    fn capture(&mut self, gpu: usize, streams: &[StreamId], program: &Program) -> Result<Part> {
        self.make_current(gpu)?;
        let origin = self.gpus[gpu].graph_stream.raw();
        let fork = Event::new(false)?;
        let joins: Vec<Event> = streams
            .iter()
            .map(|_| Event::new(false))
            .collect::<Result<_>>()?;
        let mut timer = Timer::new(gpu, IssuerId(0), self.gpus[gpu].origin()?);
        let mut downloads = Vec::new();
        let graph = Graph::capture(origin, || {
            fork.record(origin)?;
            for stream in streams {
                fork.hold(self.streams[stream.0 as usize].raw.raw())?;
            }
            for (index, step) in program.steps.iter().enumerate() {
                if self.gpu_of(step.stream) != gpu {
                    continue;
                }
                let raw = self.streams[step.stream.0 as usize].raw.raw();
                let record = |event: &Event| event.record_external(raw);
                if program.timed {
                    timer.before(&mut self.gpus[gpu], step.stream, record)?;
                }
                self.issue(gpu, step, &mut Sink::Now, None)?;
                if program.timed {
                    timer.after(&mut self.gpus[gpu], index, step.stream, record)?;
                }
                if let Op::Download { lattices, slot, .. } = &step.op {
                    let event = self.gpus[gpu].pool.plain()?;
                    event.record_external(raw)?;
                    downloads.push(GraphDownload {
                        lattices: lattices.clone(),
                        slot: *slot,
                        event,
                    });
                }
            }
            for (stream, join) in streams.iter().zip(&joins) {
                join.record(self.streams[stream.0 as usize].raw.raw())?;
                join.hold(origin)?;
            }
            Ok(())
        })?;
        // Not returned to the pool: an event last recorded in a capture cannot be queried, even if
        // the next record is a graph node.
        drop((fork, joins));
        Ok(Part {
            gpu,
            graph,
            downloads: downloads.into(),
            events: Rc::new(timer.events),
            steps: timer.steps.into(),
        })
    }

    /// Starts a prepared program. Its graphs wait for all work in their streams.
    pub(super) fn replay_taken(
        &mut self,
        program: &Prepared,
        changes_cells: bool,
    ) -> Result<RunId> {
        self.bind(program.downloads.iter().copied())?;
        let run = self.runs.begin();
        if program.parts.is_empty() {
            self.empty_runs.push(run);
            return Ok(run);
        }
        let open = Run {
            open: program.parts.len(),
            ..Default::default()
        };
        self.runs.open.insert(run, open);
        let mut begun = false;
        if let Err(error) = self.launch_parts(run, program, &mut begun) {
            self.abandon(run, program.downloads.iter().copied());
            return Err(if begun && changes_cells {
                half_done(error)
            } else {
                error
            });
        }
        self.idle_polls = 0;
        Ok(run)
    }

    /// Launches one graph per device; `begun` tells whether a launch was attempted.
    fn launch_parts(&mut self, run: RunId, program: &Prepared, begun: &mut bool) -> Result<()> {
        for part in &program.parts {
            self.make_current(part.gpu)?;
            let raw = self.gpus[part.gpu].graph_stream.raw();
            for (stream, markers) in self.streams.iter().zip(&self.runs.markers) {
                if let (true, Some(marker)) = (stream.gpu == part.gpu, markers.back()) {
                    marker.event.hold(raw)?;
                }
            }
            let timed = !part.steps.is_empty();
            let origin = timed.then(|| self.gpus[part.gpu].origin()).transpose()?;
            let began = Instant::now();
            *begun = true;
            part.graph.launch(raw)?;
            let launched = Instant::now();
            let end = self.gpus[part.gpu].pool.plain()?;
            end.record(raw)?;
            self.gpus[part.gpu].replays += 1;
            let downloads = part.downloads.clone();
            let landed = vec![false; downloads.len()];
            self.runs.replays.push_back(Replay {
                run,
                gpu: part.gpu,
                end,
                downloads,
                landed,
                timed,
            });
            if let Some(origin) = origin {
                let call = Span {
                    step: Span::WHOLE,
                    stream: part.steps.first().map_or(StreamId(0), |step| step.stream),
                    start: origin.of(began),
                    end: origin.of(launched),
                };
                let timing = Timing {
                    gpu: part.gpu,
                    origin,
                    events: part.events.clone(),
                    steps: part.steps.clone(),
                    pooled: false,
                    host: vec![call],
                };
                let open = self.runs.open.get_mut(&run).expect("the run was opened");
                open.timings.push(timing);
            }
        }
        Ok(())
    }
}
