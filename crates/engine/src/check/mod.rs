//! The program validator that both engines share.
//!
//! A [`Validator`] knows an engine's devices, streams, events, buffers, lattices and slots, and the
//! [state](LatticeState) that every lattice will have once all issued work is done. An engine handles a
//! program in five steps:
//!
//! 1. [validate](Validator::validate) it; the returned [`Plan`] lists the memory it needs,
//! 2. allocate that memory,
//! 3. bind the host slots of its downloads,
//! 4. issue its steps, and
//! 5. [commit](States::commit) the states it leaves.
//!
//! A failure before the last step leaves the states as they were. So an invalid program has no
//! effect, and both engines report it with the same message.

mod buffers;
#[cfg(test)]
mod tests;

use crate::error::{bail, invalid, known};
use crate::kernels::{Batch, Function, KERNELS};
use crate::{
    Band, BufferId, BufferLocation, BufferOp, DeviceId, DeviceInfo, EngineError, EventId, IssuerId,
    LatticeId, LatticeOp, LatticeState, Layout, Measure, Op, OrderOp, PreparedId, Program, Result,
    RowCopy, Slot, SlotsSpec, Step, StreamId, SupportKernel, Transfer,
};
pub(crate) use buffers::check_size as check_buffer_size;
use buffers::{BufferFacts, Buffers};
use life::Size;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// An engine's devices, streams, events, buffers and slots, and the states of its lattices.
#[derive(Default)]
pub(crate) struct Validator {
    /// The devices, one context each.
    pub devices: Vec<DeviceInfo>,
    streams: Vec<StreamFacts>,
    /// The device of every event.
    events: Vec<DeviceId>,
    buffers: Buffers,
    /// The host slots, and how many lattices existed when they were allocated.
    slots: (SlotsSpec, usize),
    prepared: Vec<Option<Prepared>>,
    /// Counts replacements of memory that a prepared program may refer to. A prepared program is
    /// valid only while the count is unchanged.
    memory: u64,
    pub lattices: Lattices,
    pub states: States,
}

#[derive(Clone, Copy)]
struct StreamFacts {
    device: DeviceId,
    is_default: bool,
}

/// The lattices, and the memory allocated for them besides their cells.
#[derive(Default)]
pub(crate) struct Lattices {
    pub groups: Vec<GroupFacts>,
    /// The group of each lattice.
    group_of: Vec<u32>,
}

/// The memory and functions that a program needs before its first step is issued. (Host slots are
/// listed by [`Program::downloads`](crate::Program::downloads); the engine plans memory for block
/// timestamps itself.)
#[derive(Default, Debug)]
pub(crate) struct Plan {
    /// Groups whose views need more memory: group index, and words per lattice.
    pub views: BTreeMap<usize, usize>,
    /// Groups that need memory for measures.
    pub measures: BTreeSet<usize>,
    /// Functions that are launched on each device, each once.
    pub functions: Vec<(DeviceId, Function)>,
    /// Whether the program changes cells. If it fails halfway, every lattice must be restored.
    pub changes_cells: bool,
}

impl Plan {
    #[inline]
    fn launches(&mut self, device: DeviceId, function: Function) {
        if !self.functions.contains(&(device, function)) {
            self.functions.push((device, function));
        }
    }
}

/// Lattices of one size, created in one call and one allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupFacts {
    pub device: DeviceId,
    pub first: LatticeId,
    pub count: usize,
    pub size: Size,
    /// How many groups of about this size the device steps at the same time: the bands per device, or 1
    /// for whole lattices.
    groups: u32,
    /// Words allocated for each lattice's view.
    pub view_capacity: usize,
    /// Whether memory for measures is allocated.
    pub has_measures_memory: bool,
}

impl GroupFacts {
    /// Ids of the group's lattices, in ascending order.
    pub(crate) fn lattices(&self) -> impl Iterator<Item = LatticeId> + Clone + use<> {
        (self.first.0..self.first.0 + self.count as u32).map(LatticeId)
    }

    /// How many lattices of about this size the device has.
    pub(crate) fn alike(&self) -> u32 {
        self.count as u32 * self.groups
    }

    /// The batch of a launch that steps `launched` of an op's `of` lattices, while the streams of other
    /// bands step as many.
    pub(crate) fn batch(&self, launched: u32, of: u32) -> Batch {
        Batch {
            launched,
            in_all: of * self.groups,
            on_device: self.alike(),
        }
    }
}

impl Lattices {
    /// Index of a lattice's group. Panics for an unknown lattice.
    pub(crate) fn group_of(&self, lattice: LatticeId) -> usize {
        self.group_of[lattice.index()] as usize
    }

    /// A lattice's group. Panics for an unknown lattice.
    pub(crate) fn of(&self, lattice: LatticeId) -> &GroupFacts {
        &self.groups[self.group_of(lattice)]
    }

    /// A lattice's group, or `None` for an unknown lattice.
    pub(crate) fn find(&self, lattice: LatticeId) -> Option<&GroupFacts> {
        let group = self.group_of.get(lattice.index())?;
        Some(&self.groups[*group as usize])
    }
}

/// Resources: checks and bookkeeping.
impl Validator {
    pub(crate) fn new(devices: Vec<DeviceInfo>) -> Validator {
        Validator {
            devices,
            ..Validator::default()
        }
    }

    /// Errors for an unknown device.
    pub(crate) fn check_device(&self, device: DeviceId) -> Result<()> {
        known(self.devices.get(usize::from(device.0)), device).map(drop)
    }

    /// The device of an event. Errors for an unknown event.
    pub(crate) fn device_of(&self, event: EventId) -> Result<DeviceId> {
        known(self.events.get(event.0 as usize), event).copied()
    }

    /// Registers another context on an existing device.
    pub(crate) fn add_context(&mut self, of: DeviceId) -> DeviceId {
        self.devices.push(self.devices[usize::from(of.0)].clone());
        DeviceId(self.devices.len() as u16 - 1)
    }

    /// A context's default stream, if it was created.
    pub(crate) fn default_stream(&self, device: DeviceId) -> Option<StreamId> {
        let mut streams = self.streams.iter();
        let at = streams.position(|it| it.is_default && it.device == device);
        at.map(|at| StreamId(at as u32))
    }

    pub(crate) fn add_stream(&mut self, device: DeviceId, is_default: bool) -> StreamId {
        self.streams.push(StreamFacts { device, is_default });
        StreamId(self.streams.len() as u32 - 1)
    }

    pub(crate) fn add_event(&mut self, device: DeviceId) -> EventId {
        self.events.push(device);
        EventId(self.events.len() as u32 - 1)
    }

    pub(crate) fn add_buffer(
        &mut self,
        device: DeviceId,
        bytes: usize,
        place: BufferLocation,
    ) -> BufferId {
        let all = &mut self.buffers.all;
        all.push(Some(BufferFacts {
            device,
            bytes,
            place,
        }));
        BufferId(all.len() as u32 - 1)
    }

    /// Records that every buffer was dropped.
    pub(crate) fn drop_buffers(&mut self) {
        self.memory += 1;
        self.buffers.all.fill_with(|| None);
    }

    /// Registers a group of new lattices.
    pub(crate) fn add_lattices(
        &mut self,
        device: DeviceId,
        count: usize,
        size: Size,
        band: Option<Band>,
    ) {
        let Lattices { groups, group_of } = &mut self.lattices;
        let first = LatticeId(group_of.len() as u32);
        let group = groups.len() as u32;
        group_of.resize(group_of.len() + count, group);
        groups.push(GroupFacts {
            device,
            first,
            count,
            size,
            groups: band.map_or(1, |band| band.per_device),
            view_capacity: 0,
            has_measures_memory: false,
        });
        self.states.add(count, band);
    }

    /// Records a reservation for `layout`: `allocated` says for each group whether its memory was
    /// allocated. Memory of other layouts is gone in either case.
    pub(crate) fn reserve(&mut self, layout: Layout, allocated: &[bool]) {
        self.memory += 1;
        for (group, allocated) in self.lattices.groups.iter().zip(allocated) {
            for lattice in group.lattices() {
                let state = &mut self.states.committed[lattice.index()];
                state.reserve(layout, *allocated);
            }
        }
    }

    /// Records that slots were allocated for all current lattices.
    pub(crate) fn set_slots(&mut self, spec: SlotsSpec) {
        self.memory += 1;
        self.slots = (spec, self.lattices.group_of.len());
    }

    /// See [`Engine::parity`](crate::Engine::parity).
    pub(crate) fn parity(&self, lattice: LatticeId) -> u8 {
        let known = self.lattices.find(lattice).is_some();
        let state = known.then(|| self.states.committed[lattice.index()]);
        state.map_or(0, |state| state.parity | state.bits_parity << 1)
    }
}

/// Rules for programs.
impl Validator {
    /// Returns the memory that a program needs, or why the program is invalid. Drafts the states it
    /// leaves.
    pub(crate) fn validate(&mut self, program: &Program) -> Result<Plan> {
        self.states.begin();
        self.buffers.allocated.clear();
        let mut plan = Plan::default();
        let has_several_issuers = has_several_issuers(program);
        if has_several_issuers {
            check_issuers(program)?;
        }
        for step in &program.steps {
            let stream = self.stream(step.stream)?;
            match &step.op {
                Op::Lattices(lattices, op) => {
                    self.validate_on(lattices.clone(), op, stream.device, &mut plan)?;
                }
                Op::Buffers(BufferOp::Memory(_)) if has_several_issuers => {
                    bail!(
                        "{} cannot be issued by one of several threads",
                        step.op.label()
                    );
                }
                Op::Buffers(op) => {
                    let launched = self.buffers.validate(op, (step.stream, stream.device))?;
                    launched
                        .into_iter()
                        .for_each(|it| plan.launches(stream.device, it));
                }
                Op::Order(OrderOp::Synchronize(_)) => {}
                Op::Order(OrderOp::Wait(event)) => drop(self.device_of(*event)?),
                Op::Order(OrderOp::Record(event)) => {
                    if self.device_of(*event)? != stream.device {
                        bail!("{event:?} is not on the stream's device");
                    }
                }
            }
        }
        match self.buffers.allocated.first() {
            Some((buffer, _)) => Err(invalid!("{buffer:?} is allocated and not freed")),
            None => Ok(plan),
        }
    }

    fn stream(&self, id: StreamId) -> Result<StreamFacts> {
        known(self.streams.get(id.0 as usize), id).copied()
    }

    /// Validates an op on lattices, which must be on `device`, and drafts the states it leaves.
    fn validate_on(
        &mut self,
        mut rest: Range<u32>,
        op: &LatticeOp,
        device: DeviceId,
        plan: &mut Plan,
    ) -> Result<()> {
        match op {
            LatticeOp::Advance { kernel, block, .. } => {
                let mut known = KERNELS.iter();
                if kernel.own.is_none() && !known.any(|known| std::ptr::eq(known, *kernel)) {
                    bail!("there is no kernel {}", kernel.name);
                }
                kernel.validate_block(*block)?;
            }
            LatticeOp::Reduce(region) => region.check()?,
            _ => {}
        }
        while !rest.is_empty() {
            let lattice = LatticeId(rest.start);
            let facts = known(self.lattices.find(lattice), lattice)?;
            if facts.device != device {
                bail!("{lattice:?} is not on the stream's device");
            }
            // Lattices of one group in one state need only one check.
            let end = rest.end.min(facts.first.0 + facts.count as u32);
            let (count, state) = self.states.run(&(rest.start..end));
            let run = rest.start..rest.start + count;
            rest.start = run.end;
            if let Some(function) = self.check_run(&run, op, state, plan)? {
                plan.launches(device, function);
            }
            plan.changes_cells |= state.is_changed_by(op);
            self.states.change(run, state, state.after(op));
        }
        Ok(())
    }

    /// Errors if an op is incompatible with lattices of one group that are in one state. Plans the
    /// memory that it needs, and returns the function that it launches.
    fn check_run(
        &self,
        run: &Range<u32>,
        op: &LatticeOp,
        state: LatticeState,
        plan: &mut Plan,
    ) -> Result<Option<Function>> {
        let lattice = LatticeId(run.start);
        let group = self.lattices.group_of(lattice);
        let facts = &self.lattices.groups[group];
        let size = facts.size;
        match op {
            LatticeOp::Advance {
                kernel,
                rule,
                block,
                ..
            } => {
                kernel.validate_size(size)?;
                if kernel.layout != state.layout {
                    bail!(
                        "{} needs layout {:?}, but {lattice:?} is in layout {:?}",
                        kernel.name,
                        kernel.layout,
                        state.layout
                    );
                }
                let device = &self.devices[usize::from(facts.device.0)];
                kernel.validate_device(device, size)?;
                let launch = kernel.launch(size, *block, facts.batch(1, 1), device.sm_count);
                return Ok(Some(kernel.function(launch.entry, *rule)));
            }
            LatticeOp::Reduce(region) => {
                let words = state.words_of_view(*region);
                if words > facts.view_capacity {
                    let most = plan.views.entry(group).or_insert(words);
                    *most = words.max(*most);
                }
            }
            LatticeOp::Measure if !facts.has_measures_memory => {
                plan.measures.insert(group);
            }
            LatticeOp::Download { slot, what } => {
                self.check_download(lattice, *slot, *what, state, size)?;
            }
            LatticeOp::CopyRows { from, rows, layout } => {
                let mut each = run.clone().map(LatticeId);
                each.try_for_each(|to| self.check_rows(*from, to, *rows, *layout))?;
            }
            _ => {}
        }
        Ok(op.check(lattice, size, state)?.map(SupportKernel::function))
    }

    fn check_download(
        &self,
        lattice: LatticeId,
        slot: Slot,
        what: Transfer,
        state: LatticeState,
        size: Size,
    ) -> Result<()> {
        let words = match what {
            Transfer::Bits => size.words(),
            Transfer::Rows { first, count } => {
                let end = first.checked_add(count);
                if count == 0 || end.is_none_or(|end| end > size.height) {
                    bail!("{lattice:?} of {size} has no {what:?}");
                }
                size.words_per_row() * count as usize
            }
            Transfer::View if state.view_words == 0 => {
                bail!("{lattice:?} has no view: reduce it first");
            }
            Transfer::View => state.view_words as usize,
            Transfer::Cells if state.layout != Layout::I32 => {
                bail!(
                    "{lattice:?} has no i32 cells: it is in layout {:?}",
                    state.layout
                );
            }
            Transfer::Cells => size.cells() as usize,
            Transfer::Measure if !state.measured => {
                bail!("{lattice:?} has not been measured");
            }
            Transfer::Measure => Measure::WORDS,
        };
        let (spec, lattices) = self.slots;
        if lattice.index() >= lattices || slot.0 >= spec.count() {
            bail!("{lattice:?} has no {slot:?}");
        }
        let capacity = spec.words(slot, size.words());
        if capacity < words {
            bail!("{what:?} of {lattice:?} needs {words} words, but {slot:?} has {capacity}");
        }
        Ok(())
    }

    /// Errors unless rows can be copied between two lattices, the second of which is known.
    fn check_rows(
        &self,
        from: LatticeId,
        to: LatticeId,
        rows: RowCopy,
        layout: Layout,
    ) -> Result<()> {
        let source = known(self.lattices.find(from), from)?.size;
        let target = known(self.lattices.find(to), to)?.size;
        let fits = |first: u32, size: Size| {
            let end = first.checked_add(rows.count);
            rows.count > 0 && end.is_some_and(|end| end <= size.height)
        };
        let are_apart = from != to || rows.from.abs_diff(rows.to) >= rows.count;
        let is_in_layout = |lattice| self.states.get(lattice).layout == layout;
        if source.width == target.width
            && is_in_layout(from)
            && is_in_layout(to)
            && fits(rows.from, source)
            && fits(rows.to, target)
            && are_apart
        {
            return Ok(());
        }
        Err(invalid!(
            "{rows:?} cannot be copied from {from:?} to {to:?}"
        ))
    }

    /// [Validates](Self::validate) a program that is captured once and replayed: errors also for steps that
    /// a CUDA graph cannot contain.
    pub(crate) fn validate_preparable(&mut self, program: &Program) -> Result<Plan> {
        let unpreparable = |what| Err(invalid!("{what} cannot be prepared"));
        if program.block_timestamps {
            return unpreparable("a program with block timestamps");
        }
        if has_several_issuers(program) {
            return unpreparable("a program that several threads issue");
        }
        for (at, step) in program.steps.iter().enumerate() {
            let stream = self.stream(step.stream)?;
            if stream.is_default {
                return unpreparable("work in the default stream");
            }
            match &step.op {
                Op::Lattices(_, op) if let Some(what) = op.unpreparable() => {
                    return unpreparable(what);
                }
                Op::Lattices(_, LatticeOp::Download { slot, .. })
                    if self.slots.0.is_pageable(*slot) =>
                {
                    return unpreparable("a download to pageable memory");
                }
                Op::Buffers(BufferOp::Memory(_)) => return unpreparable("managing memory"),
                Op::Buffers(BufferOp::Copy { from, to, .. }) => {
                    self.buffers.check_copy_preparable(*from, *to)?;
                }
                Op::Order(OrderOp::Synchronize(_)) => return unpreparable("waiting on the host"),
                Op::Order(OrderOp::Wait(event)) => {
                    let records = |step: &Step| {
                        let same =
                            matches!(step.op, Op::Order(OrderOp::Record(of)) if of == *event);
                        let device = self.stream(step.stream).map(|of| of.device);
                        same && device == Ok(stream.device)
                    };
                    self.device_of(*event)?;
                    if !program.steps[..at].iter().any(records) {
                        return unpreparable(
                            "a wait for an event that the program has not recorded",
                        );
                    }
                }
                _ => {}
            }
        }
        self.validate(program)
    }
}

/// A prepared program and the states it was prepared from.
pub(crate) struct Prepared {
    pub program: Arc<Program>,
    /// Whether a replay changes cells.
    pub changes_cells: bool,
    /// The states that its lattices must have at replay, and how it uses the view of each.
    before: Vec<(LatticeId, LatticeState, Option<ViewUse>)>,
    /// [`Validator::memory`] when it was prepared.
    memory: u64,
}

/// How a prepared program uses a lattice's view.
struct ViewUse {
    /// Whether it downloads the view without reducing it first.
    is_read: bool,
    /// The words that were allocated for the view when the program was prepared.
    capacity: usize,
}

/// Prepared programs, and the conditions for replaying them.
impl Validator {
    /// Stores a program that its engine has prepared after validation.
    pub(crate) fn add_prepared(&mut self, program: &Program, plan: &Plan) -> PreparedId {
        let mut lattices = BTreeMap::new();
        for step in &program.steps {
            let Op::Lattices(range, op) = &step.op else {
                continue;
            };
            let is_read = match op {
                LatticeOp::Reduce(_) => Some(false),
                LatticeOp::Download {
                    what: Transfer::View,
                    ..
                } => Some(true),
                _ => None,
            };
            for lattice in range.clone().map(LatticeId) {
                let first = lattices.entry(lattice).or_insert(is_read);
                *first = first.or(is_read);
            }
        }
        let before = lattices.into_iter().map(|(lattice, is_read)| {
            let capacity = self.view_capacity(lattice);
            let view = is_read.map(|is_read| ViewUse { is_read, capacity });
            (lattice, self.states.committed[lattice.index()], view)
        });
        let prepared = Prepared {
            program: Arc::new(program.clone()),
            changes_cells: plan.changes_cells,
            before: before.collect(),
            memory: self.memory,
        };
        self.prepared.push(Some(prepared));
        PreparedId(self.prepared.len() as u32 - 1)
    }

    /// Returns a prepared program, or an error if it cannot be replayed now.
    pub(crate) fn validate_replay(&self, id: PreparedId) -> Result<&Prepared> {
        let prepared = self.prepared.get(id.0 as usize);
        let prepared = known(prepared.and_then(Option::as_ref), id)?;
        let moved = |(lattice, _, view): &(LatticeId, LatticeState, Option<ViewUse>)| {
            let view = view.as_ref();
            view.is_some_and(|view| view.capacity != self.view_capacity(*lattice))
        };
        if prepared.memory != self.memory || prepared.before.iter().any(moved) {
            bail!("memory that {id:?} uses was replaced since it was prepared");
        }
        for (lattice, before, view) in &prepared.before {
            let now = self.states.committed[lattice.index()];
            let is_read = view.as_ref().is_some_and(|view| view.is_read);
            if !now.has_buffers_of(*before) || is_read && now.view_words != before.view_words {
                bail!("{id:?} was prepared from another state of {lattice:?}");
            }
        }
        Ok(prepared)
    }

    /// Words allocated for a lattice's view.
    fn view_capacity(&self, lattice: LatticeId) -> usize {
        self.lattices.of(lattice).view_capacity
    }

    /// Commits the states that a replay leaves.
    pub(crate) fn commit_replay(&mut self, id: PreparedId) {
        self.states.begin();
        if let Some(Some(prepared)) = self.prepared.get(id.0 as usize) {
            for step in &prepared.program.steps {
                if let Op::Lattices(lattices, op) = &step.op {
                    self.states.apply(lattices.clone(), op);
                }
            }
        }
        self.states.commit();
    }

    /// Removes a prepared program.
    pub(crate) fn release(&mut self, id: PreparedId) {
        if let Some(prepared) = self.prepared.get_mut(id.0 as usize) {
            *prepared = None;
        }
    }
}

/// Whether several host threads issue a program.
pub(crate) fn has_several_issuers(program: &Program) -> bool {
    let mut steps = program.steps.windows(2);
    steps.any(|pair| pair[0].issuer != pair[1].issuer)
}

/// Errors if a step waits for an event that another issuer records in the same program: the order
/// of the record and the wait would be undefined.
fn check_issuers(program: &Program) -> Result<()> {
    let mut recorded: HashMap<EventId, BTreeSet<IssuerId>> = HashMap::new();
    for Step { issuer, op, .. } in &program.steps {
        if let Op::Order(OrderOp::Record(event)) = *op {
            recorded.entry(event).or_default().insert(*issuer);
        }
    }
    for Step { issuer, op, .. } in &program.steps {
        if let Op::Order(OrderOp::Wait(event)) = *op
            && let Some(by) = recorded.get(&event)
            && let Some(other) = by.iter().find(|by| *by != issuer)
        {
            bail!("{issuer:?} waits for {event:?}, which another issuer, {other:?}, records");
        }
    }
    Ok(())
}

/// The issuers of a program's steps, in ascending order.
pub(crate) fn issuers(program: &Program) -> Vec<IssuerId> {
    let mut issuers: Vec<_> = program.steps.iter().map(|step| step.issuer).collect();
    issuers.dedup();
    issuers.sort_unstable();
    issuers.dedup();
    issuers
}

// The states of all lattices, tracked when work is issued, before it runs.

/// The states of all lattices: committed ones, and a draft for the program being validated or
/// issued. A draft has no effect until it is committed.
#[derive(Default)]
pub(crate) struct States {
    pub committed: Vec<LatticeState>,
    /// Each with the number of its draft.
    drafted: Vec<(u64, LatticeState)>,
    /// Number of the current draft; 0 means none.
    draft: u64,
    /// Ranges of lattices that the draft changes.
    touched: Vec<Range<u32>>,
}

impl States {
    /// Appends `count` new lattices, each for a band if there is one.
    fn add(&mut self, count: usize, band: Option<Band>) {
        let all = self.committed.len() + count;
        let new = LatticeState {
            band,
            ..LatticeState::NEW
        };
        self.committed.resize(all, new);
        self.drafted.resize(all, (0, new));
    }

    /// Starts a new draft from the committed states.
    pub(crate) fn begin(&mut self) {
        self.touched.clear();
        self.draft += 1;
    }

    /// A lattice's state in the current draft.
    #[inline]
    pub(crate) fn get(&self, lattice: LatticeId) -> LatticeState {
        match self.drafted[lattice.index()] {
            (draft, state) if draft == self.draft => state,
            _ => self.committed[lattice.index()],
        }
    }

    /// The state of the first lattice, and how many lattices from it on share that state. The range
    /// must not be empty.
    #[inline]
    fn run(&self, lattices: &Range<u32>) -> (u32, LatticeState) {
        let state = self.get(LatticeId(lattices.start));
        let others = lattices.start + 1..lattices.end;
        let same = others.take_while(|other| self.get(LatticeId(*other)) == state);
        (1 + same.count() as u32, state)
    }

    /// Drafts the change of these lattices from one shared state to another.
    #[inline]
    fn change(&mut self, lattices: Range<u32>, from: LatticeState, to: LatticeState) {
        if from != to {
            let entries = &mut self.drafted[lattices.start as usize..lattices.end as usize];
            entries.fill((self.draft, to));
            self.touched.push(lattices);
        }
    }

    /// Drafts the effect of a compatible op on lattices.
    pub(crate) fn apply(&mut self, mut rest: Range<u32>, op: &LatticeOp) {
        while !rest.is_empty() {
            let (count, state) = self.run(&rest);
            let run = rest.start..rest.start + count;
            rest.start = run.end;
            self.change(run, state, state.after(op));
        }
    }

    /// Makes the draft the committed states.
    pub(crate) fn commit(&mut self) {
        for range in &self.touched {
            let range = range.start as usize..range.end as usize;
            let drafted = self.drafted[range.clone()].iter();
            for (committed, (_, drafted)) in self.committed[range].iter_mut().zip(drafted) {
                *committed = *drafted;
            }
        }
        self.begin();
    }
}

// Which host slots a download fills and which are being read.

/// The locks of all lattices' slots: a slot is bound to one download, or read by any number of
/// threads.
#[derive(Default)]
pub(crate) struct SlotLocks {
    /// Readers of each slot, by lattice; [`BOUND`] while a download is pending.
    readers: Vec<AtomicU32>,
    per_lattice: usize,
}

const BOUND: u32 = u32::MAX;

impl SlotLocks {
    pub(crate) fn new(lattices: usize, per_lattice: u8) -> SlotLocks {
        let per_lattice = usize::from(per_lattice);
        let all = 0..lattices * per_lattice;
        SlotLocks {
            readers: all.map(|_| AtomicU32::new(0)).collect(),
            per_lattice,
        }
    }

    fn of(&self, lattice: LatticeId, slot: Slot) -> Option<&AtomicU32> {
        let slot = usize::from(slot.0);
        let at = lattice.index() * self.per_lattice + slot;
        self.readers.get(at).filter(|_| slot < self.per_lattice)
    }

    /// Binds all these slots to downloads, or none if one is bound or being read.
    pub(crate) fn bind_all(
        &self,
        downloads: impl Iterator<Item = (LatticeId, Slot)> + Clone,
    ) -> Result<()> {
        for (bound, (lattice, slot)) in downloads.clone().enumerate() {
            let bind = |readers: &AtomicU32| {
                readers.compare_exchange(0, BOUND, Ordering::Acquire, Ordering::Relaxed)
            };
            if self
                .of(lattice, slot)
                .map(bind)
                .is_none_or(|it| it.is_err())
            {
                self.unbind_all(downloads.take(bound));
                return Err(EngineError::SlotBusy);
            }
        }
        Ok(())
    }

    /// Makes bound slots readable, once nothing will be written to them.
    pub(crate) fn unbind_all(&self, downloads: impl Iterator<Item = (LatticeId, Slot)>) {
        for (lattice, slot) in downloads {
            if let Some(readers) = self.of(lattice, slot) {
                readers.store(0, Ordering::Release);
            }
        }
    }

    /// Adds a reader, until the answer is dropped; `None` if there is no such slot or a download into
    /// it is pending.
    pub(crate) fn read(&self, lattice: LatticeId, slot: Slot) -> Option<Reading<'_>> {
        let readers = self.of(lattice, slot)?;
        let one_more = |now: u32| (now < BOUND - 1).then(|| now + 1);
        let added = readers.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more);
        added.is_ok().then_some(Reading(readers))
    }

    /// Whether a slot could be bound now.
    pub(crate) fn is_free(&self, lattice: LatticeId, slot: Slot) -> bool {
        let readers = self.of(lattice, slot);
        readers.is_some_and(|readers| readers.load(Ordering::Relaxed) == 0)
    }
}

/// Counts a reader until dropped, also by a panic.
pub(crate) struct Reading<'a>(&'a AtomicU32);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}
