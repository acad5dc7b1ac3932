//! Rounds prepared once and replayed: one launch for the host instead of hundreds.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use cust::sys::{self, CUstreamCaptureMode};

use super::calls::Sink;
use super::driver::{check, half_done};
use super::event::Event;
use super::issue::{State, no_lattice, unpacked_by};
use super::runs::{Replay, Run};
use super::slots::CudaSlots;
use super::timing::{TimedStep, Timer, Timing};
use super::{CudaEngine, buffers};
use crate::{EngineError, IssuerId, LatticeId, Op, Program, Result, RunId, Slot, Span, StreamId};

/// A program captured for replay, a graph a device.
pub(super) struct Prepared {
    pub(super) parts: Vec<Part>,
    /// The states it was captured from, and those it leaves behind.
    pub(super) states: Vec<(LatticeId, State, State)>,
    /// Downloads of all parts, to be bound before a replay.
    pub(super) downloads: Vec<(LatticeId, Slot)>,
    /// The engine's allocations as they were; a graph holds their addresses.
    pub(super) epoch: u64,
    pub(super) _slots: Option<Arc<CudaSlots>>,
}

/// One device's graph.
pub(super) struct Part {
    pub(super) gpu: usize,
    pub(super) graph: Graph,
    pub(super) downloads: Arc<[Landing]>,
    pub(super) events: Rc<Vec<Event>>,
    pub(super) steps: Arc<[TimedStep]>,
}

/// A download in a graph, and the event that each replay records behind it, so that its picture
/// is known to be there before the rest of the round is. (On an H200 such a node costs nothing
/// that can be measured, and right after a launch the event counts as not fired.)
pub(super) struct Landing {
    pub(super) lattices: Range<u32>,
    pub(super) slot: Slot,
    pub(super) event: Event,
}

/// An instantiated graph.
pub(super) struct Graph(sys::CUgraphExec);

impl Graph {
    /// Captures what `issue` puts into `origin` and into streams that wait for it.
    pub(super) fn capture(
        origin: sys::CUstream,
        issue: impl FnOnce() -> Result<()>,
    ) -> Result<Graph> {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is alive; every capture begun is ended below.
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
        // Readies the first replay; old drivers lack it and are only slower then.
        // SAFETY: graph and stream are alive.
        unsafe { sys::cuGraphUpload(graph.0, origin) };
        Ok(graph)
    }

    pub(super) fn launch(&self, stream: sys::CUstream) -> Result<()> {
        // SAFETY: graph and stream are alive; the addresses in it are (see Prepared::epoch).
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
    /// Captures a program, a graph a device.
    pub(super) fn capture_all(&mut self, program: &Program) -> Result<Prepared> {
        self.admit(program)?;
        let before = self.states(program);
        let used = self.streams_used(program)?;
        let parts: Result<Vec<Part>> = used
            .iter()
            .map(|(gpu, streams)| self.capture(*gpu, streams, program))
            .collect();
        // Issuing into the capture moved the states on; nothing has run yet.
        let states = before
            .into_iter()
            .map(|(id, state)| {
                let after = std::mem::replace(&mut self.homes[id.index()].state, state);
                (id, state, after)
            })
            .collect();
        let parts = parts?;
        let landings = parts.iter().flat_map(|part| part.downloads.iter());
        let downloads = landings
            .flat_map(|landing| {
                landing
                    .lattices
                    .clone()
                    .map(|l| (LatticeId(l), landing.slot))
            })
            .collect();
        let (epoch, _slots) = (self.memory_epoch(), self.slots.clone());
        Ok(Prepared {
            parts,
            states,
            downloads,
            epoch,
            _slots,
        })
    }

    /// Refuses what a graph cannot hold.
    fn admit(&self, program: &Program) -> Result<()> {
        let refuse = |why: &str| Err(EngineError::BadProgram(format!("{why} cannot be prepared")));
        if program.stamped {
            return refuse("a stamped program");
        }
        for step in &program.steps {
            if step.issuer != program.steps[0].issuer {
                return refuse("what several threads issue");
            }
            if self.is_default(step.stream) {
                return refuse("work of the default stream");
            }
            match &step.op {
                Op::Upload { .. } => return refuse("an upload, whose address a graph would keep,"),
                Op::Edit { .. } => return refuse("an edit, whose address a graph would keep,"),
                Op::Synchronize(_) => return refuse("the host's waiting"),
                Op::Download { slot, .. } if self.is_pageable(*slot) => {
                    return refuse("a download to pageable memory");
                }
                Op::Copy { from, to, .. } => {
                    for region in [from, to] {
                        if buffers::find(&self.buffers, region.buffer)?.is_pageable() {
                            return refuse("a copy of pageable memory");
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn is_pageable(&self, slot: Slot) -> bool {
        let slots = self.slots.as_ref();
        slots.is_some_and(|slots| slots.is_pageable(slot))
    }

    /// Grows whenever memory that a graph may hold the address of moves.
    fn memory_epoch(&self) -> u64 {
        let groups = self.gpus.iter().flat_map(|gpu| &gpu.groups);
        self.epoch + groups.map(|group| group.view_moves).sum::<u64>()
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
        self.load_functions(gpu, program)?;
        let graph = Graph::capture(origin, || {
            fork.record(origin)?;
            for stream in streams {
                fork.hold(self.streams[stream.0 as usize].raw.raw())?;
            }
            for (index, step) in program.steps.iter().enumerate() {
                if self.gpu_of(step.stream)? != gpu {
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
                    downloads.push(Landing {
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
        // Not given back to the pool: an event last recorded in a capture cannot be asked, even
        // where the next record is a node of a graph.
        drop((fork, joins));
        Ok(Part {
            gpu,
            graph,
            downloads: downloads.into(),
            events: Rc::new(timer.events),
            steps: timer.steps.into(),
        })
    }

    /// Does what cannot be done while a stream is captured: loads modules, makes room for views.
    pub(super) fn load_functions(&mut self, gpu: usize, program: &Program) -> Result<()> {
        for step in &program.steps {
            match &step.op {
                Op::Advance { kernel, .. } => {
                    self.gpus[gpu].function(kernel.file, kernel.symbol)?;
                }
                Op::Pack(_) => {
                    // Of which layout is known only when it is issued.
                    self.gpus[gpu].function("pack", "pack_i32")?;
                    self.gpus[gpu].function("pack_planar", "pack_planar")?;
                }
                Op::Unpack { to, .. } => {
                    let (file, symbol) = unpacked_by(*to);
                    self.gpus[gpu].function(file, symbol)?;
                }
                Op::Reduce { lattices, viewport } => {
                    self.gpus[gpu].function("reduce", "reduce_bits")?;
                    viewport.check()?;
                    for lattice in lattices.clone().map(LatticeId) {
                        let home = self.homes.get(lattice.index());
                        let home = home.ok_or_else(|| no_lattice(lattice))?;
                        if home.gpu == gpu {
                            let (group, index) = (home.group, home.index);
                            self.gpus[gpu].groups[group].view_at(index, viewport.words())?;
                        }
                    }
                }
                Op::Edit { .. } => {
                    self.gpus[gpu].function("edit", "edit_cells")?;
                }
                Op::Measure(lattices) => {
                    self.gpus[gpu].function("measure", "measure_bits")?;
                    for lattice in lattices.clone().map(LatticeId) {
                        let home = self.homes.get(lattice.index());
                        let home = home.ok_or_else(|| no_lattice(lattice))?;
                        if home.gpu == gpu {
                            self.gpus[gpu].groups[home.group].reserve_measures()?;
                        }
                    }
                }
                Op::Call(call) => {
                    self.gpus[gpu].function(call.kernel.name, call.kernel.symbol)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The states of the lattices that a program touches.
    fn states(&self, program: &Program) -> Vec<(LatticeId, State)> {
        let mut states = Vec::new();
        for step in &program.steps {
            for id in step.op.lattices().map(LatticeId) {
                if let Some(home) = self.homes.get(id.index())
                    && !states.iter().rev().take(4).any(|(known, _)| *known == id)
                {
                    states.push((id, home.state));
                }
            }
        }
        states.sort_by_key(|(id, _)| *id);
        states.dedup_by_key(|(id, _)| *id);
        states
    }

    /// Starts a prepared program; its graphs run behind whatever their streams hold.
    pub(super) fn replay_taken(&mut self, program: &Prepared) -> Result<RunId> {
        if program.epoch != self.memory_epoch() {
            return Err(EngineError::BadProgram(
                "memory moved since it was prepared".into(),
            ));
        }
        let differs =
            |(id, state, _): &&(LatticeId, State, State)| self.homes[id.index()].state != *state;
        if let Some((id, ..)) = program.states.iter().find(differs) {
            let why = format!("{id:?} is not in the state it was prepared from");
            return Err(EngineError::BadProgram(why));
        }
        self.bind(program.downloads.iter().copied())?;
        let run = self.runs.begin();
        let open = Run {
            open: program.parts.len(),
            ..Default::default()
        };
        self.runs.open.insert(run, open);
        if let Err(error) = self.launch_parts(run, program) {
            self.abandon(run, program.downloads.iter().copied());
            return Err(half_done(error));
        }
        for (id, _, after) in &program.states {
            self.homes[id.index()].state = *after;
        }
        self.idle_polls = 0;
        Ok(run)
    }

    fn launch_parts(&mut self, run: RunId, program: &Prepared) -> Result<()> {
        for part in &program.parts {
            self.make_current(part.gpu)?;
            let raw = self.gpus[part.gpu].graph_stream.raw();
            for (stream, marks) in self.streams.iter().zip(&self.runs.marks) {
                if let (true, Some(mark)) = (stream.gpu == part.gpu, marks.back()) {
                    mark.event.hold(raw)?;
                }
            }
            let timed = !part.steps.is_empty();
            let origin = timed.then(|| self.gpus[part.gpu].origin()).transpose()?;
            let began = Instant::now();
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
