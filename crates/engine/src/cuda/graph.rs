//! Programs captured once and replayed as CUDA graphs: one launch by the host instead of hundreds.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use cust::sys::{self, CUstreamCaptureMode};

use super::calls::Sink;
use super::driver::{check, into_partially_applied};
use super::event::Event;
use super::resources::Resources;
use super::runs::{GraphDownload, Replay, Runs};
use super::slots::CudaSlots;
use super::timing::{TimedStep, Timer, Timing};
use crate::{IssuerId, LatticeId, LatticeOp, Op, Program, Result, RunId, Slot, Span, StreamId};

/// A program captured for replay, as one graph per device.
pub(super) struct Prepared {
    parts: Vec<Part>,
    /// The downloads of all parts, to bind before a replay.
    downloads: Vec<(LatticeId, Slot)>,
    _slots: Option<Arc<CudaSlots>>,
}

/// One device's graph.
struct Part {
    gpu: usize,
    graph: Graph,
    downloads: Arc<[GraphDownload]>,
    events: Rc<Vec<Event>>,
    steps: Arc<[TimedStep]>,
}

/// An instantiated graph.
struct Graph(sys::CUgraphExec);

impl Graph {
    /// Captures what `issue` issues to `origin` and to streams that wait for it.
    fn capture(origin: sys::CUstream, issue: impl FnOnce() -> Result<()>) -> Result<Graph> {
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

    fn launch(&self, stream: sys::CUstream) -> Result<()> {
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

impl Prepared {
    /// Captures a valid program whose memory is allocated, as one graph per device. The lattices'
    /// states change only in a draft.
    pub(super) fn capture(resources: &mut Resources, program: &Program) -> Result<Prepared> {
        resources.check.states.begin();
        let used = resources.streams_used(program);
        let parts = used
            .iter()
            .map(|(gpu, streams)| Part::capture(resources, *gpu, streams, program))
            .collect::<Result<Vec<Part>>>()?;
        Ok(Prepared {
            parts,
            downloads: program.downloads().collect(),
            _slots: resources.slots.clone(),
        })
    }

    /// Starts the program. Its graphs wait for all work in their streams.
    pub(super) fn replay(
        &self,
        resources: &mut Resources,
        runs: &mut Runs,
        changes_cells: bool,
    ) -> Result<RunId> {
        resources.bind(self.downloads.iter().copied())?;
        let run = runs.begin(self.parts.len());
        let mut begun = false;
        let mut parts = self.parts.iter();
        match parts.try_for_each(|part| part.launch(run, resources, runs, &mut begun)) {
            Ok(()) => Ok(run),
            Err(error) => {
                runs.abandon(run, self.downloads.iter().copied(), resources);
                Err(if begun && changes_cells {
                    into_partially_applied(error)
                } else {
                    error
                })
            }
        }
    }
}

impl Part {
    /// Captures one device's steps of a program.
    fn capture(
        resources: &mut Resources,
        gpu: usize,
        streams: &[StreamId],
        program: &Program,
    ) -> Result<Part> {
        resources.make_current(gpu)?;
        let origin = resources.gpus[gpu].graph_stream.raw();
        let fork = Event::new(false)?;
        let joins: Vec<Event> = streams
            .iter()
            .map(|_| Event::new(false))
            .collect::<Result<_>>()?;
        let mut timer = Timer::new(gpu, IssuerId(0), resources.gpus[gpu].origin()?);
        let mut downloads = Vec::new();
        let graph = Graph::capture(origin, || {
            fork.record(origin)?;
            for stream in streams {
                fork.make_stream_wait(resources.raw(*stream))?;
            }
            for (index, step) in program.steps.iter().enumerate() {
                if resources.gpu_of(step.stream) != gpu {
                    continue;
                }
                let raw = resources.raw(step.stream);
                let record = |event: &Event| event.record_external(raw);
                if program.timed {
                    timer.before(&mut resources.gpus[gpu].pool, step.stream, record)?;
                }
                resources.issue(gpu, step, &mut Sink::Now, None)?;
                if program.timed {
                    timer.after(&mut resources.gpus[gpu].pool, index, step.stream, record)?;
                }
                if let Op::Lattices(lattices, LatticeOp::Download { slot, .. }) = &step.op {
                    let event = resources.gpus[gpu].pool.plain()?;
                    event.record_external(raw)?;
                    downloads.push(GraphDownload {
                        lattices: lattices.clone(),
                        slot: *slot,
                        event,
                    });
                }
            }
            for (stream, join) in streams.iter().zip(&joins) {
                join.record(resources.raw(*stream))?;
                join.make_stream_wait(origin)?;
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

    /// Launches the graph; `begun` tells whether a launch was attempted.
    fn launch(
        &self,
        run: RunId,
        resources: &mut Resources,
        runs: &mut Runs,
        begun: &mut bool,
    ) -> Result<()> {
        resources.make_current(self.gpu)?;
        let raw = resources.gpus[self.gpu].graph_stream.raw();
        for (stream, markers) in resources.streams.iter().zip(&runs.markers) {
            if let (true, Some(marker)) = (stream.gpu == self.gpu, markers.back()) {
                marker.event.make_stream_wait(raw)?;
            }
        }
        let gpu = &mut resources.gpus[self.gpu];
        let timed = !self.steps.is_empty();
        let origin = timed.then(|| gpu.origin()).transpose()?;
        let began = Instant::now();
        *begun = true;
        self.graph.launch(raw)?;
        let launched = Instant::now();
        let end = gpu.pool.plain()?;
        end.record(raw)?;
        gpu.replays += 1;
        let downloads = self.downloads.clone();
        let landed = vec![false; downloads.len()];
        runs.replays.push_back(Replay {
            run,
            gpu: self.gpu,
            end,
            downloads,
            landed,
            timed,
        });
        if let Some(origin) = origin {
            let call = Span {
                step: Span::WHOLE,
                stream: self.steps.first().map_or(StreamId(0), |step| step.stream),
                start: origin.of(began),
                end: origin.of(launched),
            };
            runs.of(run).timings.push(Timing {
                gpu: self.gpu,
                origin,
                events: self.events.clone(),
                steps: self.steps.clone(),
                pooled: false,
                host: vec![call],
            });
        }
        Ok(())
    }
}
