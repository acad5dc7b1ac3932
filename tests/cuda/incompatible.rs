//! Programs that cannot be, on both engines: refused in the same words, and without a trace.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use engine::buffer_kernels::{BARRIER, COPY_RATE, GRAY, LOP3_RATE, MANDELBROT, MEET, SCALE, SPIN};
use engine::cpu::CpuEngine;
use engine::cuda::{CudaEngine, Ordinals};
use engine::kernels::{Iteration, Kernel, SupportedSizes};
use engine::{
    Argument, BufferId, BufferKernel, BufferLocation, BufferOp, Completion, DeviceId, Engine,
    EngineError, EventId, IssuerId, LatticeId, LatticeOp, Layout, MemoryOp, Op, OrderOp,
    PageLocation, PreparedId, Priority, Program, ReduceRegion, Scope, Slot, Slots, SlotsSpec,
    StreamId, StreamKind, StreamSpec, Transfer, WordEdit,
};
use life::{Lattice, Rule, Size, reference, soup};
use proptest::prelude::*;

use crate::ops::{
    D0, PAGEABLE, PINNED, advance, alone, at, call, copy, download, issued, program, record, spin,
    wait,
};

const NOWHERE: u32 = 99;

/// Lattices 0 to 2 are of this size, on the first device; 3 is of [`WIDE`], and 4 of the first
/// size again, in another context.
const SMALL: (u64, u64) = (29, 23);
const WIDE: (u64, u64) = (128, 256);
const LATTICES: u32 = 5;
/// The lattice that programs which work are about.
const GOOD: u32 = 0;

/// An engine with something of everything that programs can be wrong about.
struct Stage {
    engine: Box<dyn Engine>,
    slots: Arc<dyn Slots>,
    spec: SlotsSpec,
    ids: Ids,
    /// The cells that each lattice has.
    cells: Vec<Lattice>,
}

/// What there is on both engines, by the same numbers.
#[derive(Clone, Copy)]
struct Ids {
    stream: StreamId,
    second: StreamId,
    default: StreamId,
    foreign: StreamId,
    event: EventId,
    foreign_event: EventId,
    device: BufferId,
    foreign_device: BufferId,
    pinned: BufferId,
    pageable: BufferId,
    pooled: BufferId,
    gone: BufferId,
}

fn size_of(lattice: u32) -> Size {
    let (width, height) = if lattice == 3 { WIDE } else { SMALL };
    Size::new(width, height).unwrap()
}

impl Stage {
    fn new(mut engine: Box<dyn Engine>) -> Stage {
        let further = engine.create_context(D0).unwrap();
        let buffer = |engine: &mut dyn Engine, device, place| {
            engine.create_buffer(device, 256, place).unwrap()
        };
        let gone = buffer(&mut *engine, D0, BufferLocation::Device);
        engine.drop_buffers().unwrap();
        engine.create_lattices(D0, 3, size_of(0)).unwrap();
        engine.create_lattices(D0, 1, size_of(3)).unwrap();
        engine.create_lattices(further, 1, size_of(4)).unwrap();
        engine.reserve(Layout::I32).unwrap();
        let spec = SlotsSpec {
            pinned: 2,
            pageable: 1,
            picture_words: size_of(0).words(),
            snapshots: 1,
            measures: 1,
        };
        let slots = engine.allocate_slots(spec).unwrap();
        let of = |kind| StreamSpec {
            kind,
            priority: Priority::Normal,
        };
        let mut stream = |device, kind| engine.create_stream(device, of(kind)).unwrap();
        let ids = Ids {
            stream: stream(D0, StreamKind::NonBlocking),
            second: stream(D0, StreamKind::NonBlocking),
            default: stream(D0, StreamKind::Default),
            foreign: stream(further, StreamKind::NonBlocking),
            event: engine.create_event(D0).unwrap(),
            foreign_event: engine.create_event(further).unwrap(),
            device: buffer(&mut *engine, D0, BufferLocation::Device),
            foreign_device: buffer(&mut *engine, further, BufferLocation::Device),
            pinned: buffer(&mut *engine, D0, PINNED),
            pageable: buffer(&mut *engine, D0, PAGEABLE),
            pooled: buffer(&mut *engine, D0, BufferLocation::Pool),
            gone,
        };
        let cells = (0..LATTICES).map(|i| soup(size_of(i), 0.4, 3, u64::from(i)));
        let mut stage = Stage {
            engine,
            slots,
            spec,
            ids,
            cells: cells.collect(),
        };
        let uploads = (0..LATTICES).map(|i| {
            let words = stage.cells[i as usize].words();
            (stage.stream_of(i), Op::upload(LatticeId(i), words))
        });
        let uploads = program(uploads.collect::<Vec<_>>());
        stage.run(&uploads);
        stage
    }

    /// A stream of a lattice's device.
    fn stream_of(&self, lattice: u32) -> StreamId {
        match lattice {
            4 => self.ids.foreign,
            _ => self.ids.stream,
        }
    }

    fn run(&mut self, program: &Program) {
        self.engine.submit(program).unwrap();
        self.finish();
    }

    /// Waits until nothing runs; whether the last run has finished.
    fn finish(&mut self) -> bool {
        self.engine.synchronize().unwrap();
        let mut completions = Vec::new();
        self.engine.poll(&mut completions).unwrap();
        matches!(completions.last(), Some(Completion::Finished { .. }))
    }

    fn parities(&self) -> Vec<u8> {
        (0..LATTICES)
            .map(|i| self.engine.parity(LatticeId(i)))
            .collect()
    }

    /// Every slot is free, and another round of every lattice is what the reference makes of it.
    fn is_as_it_was(&mut self, parities: &[u8], why: &str) {
        assert_eq!(self.parities(), parities, "{why}");
        for lattice in (0..LATTICES).map(LatticeId) {
            for slot in (0..self.spec.count()).map(Slot) {
                assert!(
                    self.slots.is_free(lattice, slot),
                    "{lattice:?} {slot:?}: {why}"
                );
            }
        }
        let snapshot = Slot(self.spec.pictures());
        let round = (0..LATTICES).flat_map(|i| {
            let stream = self.stream_of(i);
            let bits = download(i..i + 1, snapshot.0, Transfer::Bits);
            [(stream, advance("bits", i..i + 1, 1)), (stream, bits)]
        });
        let round = program(round.collect::<Vec<_>>());
        self.run(&round);
        for (i, cells) in self.cells.iter_mut().enumerate() {
            *cells = reference::run(cells, Rule::LIFE, 1);
            let look = &mut |words: &[u32]| assert_eq!(words, cells.words(), "{i}: {why}");
            assert!(self.slots.read(LatticeId(i as u32), snapshot, look));
        }
    }
}

fn bare_engines() -> [Box<dyn Engine>; 2] {
    let cpu = CpuEngine::new(NonZeroUsize::new(2).unwrap());
    let cuda = CudaEngine::open(Ordinals::First).unwrap();
    [Box::new(cpu), Box::new(cuda)]
}

fn engines() -> [Stage; 2] {
    bare_engines().map(Stage::new)
}

fn reduce(lattices: std::ops::Range<u32>, width: u32, height: u32) -> Op {
    let region = ReduceRegion::of_cells(width, height);
    LatticeOp::Reduce(region).on(lattices)
}

fn memory(op: MemoryOp) -> Op {
    BufferOp::Memory(op).into()
}

fn upload(lattice: u32, words: usize) -> Op {
    Op::upload(LatticeId(lattice), &vec![0; words])
}

fn set_soup(lattice: u32, seed: u64) -> Op {
    LatticeOp::Soup(life::Soup {
        density: 0.3,
        seed,
        instance: lattice.into(),
    })
    .on(LatticeId(lattice).as_range())
}

fn edit(lattice: u32, edits: &[(u32, u32)]) -> Op {
    let edits = edits.iter().map(|&(word, mask)| WordEdit {
        word,
        mask,
        bits: 0,
    });
    LatticeOp::Edit(edits.collect()).on(LatticeId(lattice).as_range())
}

/// A kernel that is in no table.
static STRANGE: Kernel = Kernel {
    name: "strange",
    file: "strange",
    entries: &["strange"],
    by_network: false,
    parameters: &[],
    title: "",
    layout: Layout::Bits,
    iteration: Iteration::Launches,
    blocks: &[(32, 8)],
    rows_per_thread: 1,
    shared_bytes: |_, _| 0,
    cooperative: false,
    batched: false,
    sides: SupportedSizes::Any,
    max_cells: None,
    block_timestamps: true,
    own: None,
};

static STRANGE_CALL: BufferKernel = BufferKernel {
    name: "strange",
    parameters: &[],
    own: None,
};

/// What is wrong with a program, and how that is said.
type Wrong = (&'static str, Program, &'static str);

/// Programs that are wrong in one step, which comes after one that is right.
#[rustfmt::skip]
fn wrong_steps(ids: &Ids) -> Vec<(&'static str, StreamId, Op, &'static str)> {
    use Argument::{Buffer, F32, I32, U32, U64};
    let Ids {
        stream,
        foreign,
        device,
        pinned,
        ..
    } = *ids;
    let on_device = Buffer(at(device, 0)); // 64 words
    let size = size_of(GOOD);
    let words = size.words();
    let region = |region| LatticeOp::Reduce(region).on(0..1);
    let view = ReduceRegion::of_cells(4, 1);
    let by = |kernel: &str, block| match advance(kernel, 0..1, 1) {
        Op::Lattices(lattices, LatticeOp::Advance { kernel, rule, generations, .. }) => LatticeOp::Advance { kernel, rule, generations, block }.on(lattices),
        _ => unreachable!(),
    };
    let strange = LatticeOp::Advance { kernel: &STRANGE, rule: Rule::LIFE, generations: 1, block: (32, 8) }.on(0..1);
    vec![
        // Ids that are not there.
        ("unknown stream", StreamId(NOWHERE), LatticeOp::Pack.on(0..1), "no StreamId(99)"),
        ("unknown stream, no lattice", StreamId(NOWHERE), LatticeOp::Pack.on(0..0), "no StreamId(99)"),
        ("unknown event recorded", stream, record(EventId(NOWHERE)), "no EventId(99)"),
        ("unknown event awaited", stream, wait(EventId(NOWHERE)), "no EventId(99)"),
        ("unknown lattice packed", stream, LatticeOp::Pack.on(NOWHERE..NOWHERE + 1), "no LatticeId(99)"),
        ("a range beyond the last lattice", foreign, advance("bits", 4..6, 1), "no LatticeId(5)"),
        ("a range without end", foreign, advance("bits", 4..u32::MAX, 1), "no LatticeId(5)"),
        ("an unknown kernel", stream, strange, "no kernel strange"),
        ("an unknown called kernel", stream, call(&STRANGE_CALL, 1, 1, &[]), "no kernel strange"),
        // Other devices.
        ("a foreign lattice advanced", stream, advance("bits", 4..5, 1), "LatticeId(4) is not on the stream's device"),
        ("a range into another device", stream, advance("bits", 3..5, 1), "LatticeId(4) is not on the stream's device"),
        ("a foreign event recorded", stream, record(ids.foreign_event), "not on the stream's device"),
        ("an event recorded by a foreign stream", foreign, record(ids.event), "not on the stream's device"),
        ("a copy from a foreign buffer", stream, copy(at(ids.foreign_device, 0), at(pinned, 0), 4), "not on the stream's device"),
        ("a copy between two that a stream is not of", foreign, copy(at(device, 0), at(device, 4), 4), "not on the stream's device"),
        ("a copy to a foreign buffer", stream, copy(at(pinned, 0), at(ids.foreign_device, 0), 4), "not on the stream's device"),
        ("a call with a foreign buffer", stream, spin(at(ids.foreign_device, 0), Duration::ZERO), "not on the stream's device"),
        // Layouts.
        ("a kernel in another layout", stream, advance("global", 0..1, 1), "global needs layout I32"),
        ("a planar kernel in bits", stream, advance("planar", 3..4, 1), "planar needs layout Planar"),
        ("a layout that is not reserved", stream, Op::unpack(3..4, Layout::Planar), "layout Planar is not reserved"),
        ("a layout that the size does not take", stream, Op::unpack(0..1, Layout::Planar), "29x23 cannot be in layout Planar"),
        ("cells in layout bits", stream, download(0..1, 0, Transfer::Cells), "no i32 cells"),
        // Kernels.
        ("a width of fewer cells than planes", stream, advance("planar", 0..1, 1), "kernel 'planar' supports widths from 32 cells on, not 29x23; use --kernel bits"),
        ("a width of less than a lane", stream, advance("multistep", 0..1, 1), "kernel 'multistep' supports widths from 128 cells on, not 29x23; use --kernel bits"),
        ("no square", stream, advance("resident", 3..4, 1), "kernel 'resident' supports lattices from 32x32 to 256x256, whose sides are the same multiple of 32 once they are rounded up, not 128x256; use --kernel bits"),
        ("too few columns for blocks together", stream, advance("cooperative", 3..4, 1), "cooperative"),
        ("too many cells", stream, advance("sync-shared", 3..4, 1), "kernel 'sync-shared' supports at most 24,576 cells, not 128x256; use --kernel bits"),
        ("a size only of the last of a range", stream, advance("sync-shared", 0..4, 1), "sync-shared"),
        ("another block", stream, by("bits", (7, 3)), "not 7x3"),
        ("another block, of one warp", stream, by("multistep", (32, 8)), "not 32x8"),
        ("no block", stream, by("bits", (0, 0)), "not 0x0"),
        // Uploads and edits.
        ("an upload too short", stream, upload(GOOD, words - 1), "22 words"),
        ("an upload too long", stream, upload(GOOD, words + 1), "24 words"),
        ("an empty upload", stream, upload(GOOD, 0), "0 words"),
        ("an edit beyond", stream, edit(GOOD, &[(words as u32, 1)]), "29x23"),
        ("an edit far beyond", stream, edit(GOOD, &[(u32::MAX, 1)]), "29x23"),
        ("an edit beyond the width", stream, edit(GOOD, &[(1, 1 << 29)]), "29x23"),
        ("edits in disorder", stream, edit(GOOD, &[(1, 1), (0, 1)]), "not in order"),
        ("an edit twice", stream, edit(GOOD, &[(1, 1), (1, 1)]), "not in order"),
        // Views.
        ("a view of no whole words", stream, region(ReduceRegion { width: 6, ..view }), "ReduceRegion"),
        ("a view of no width", stream, region(ReduceRegion { width: 0, ..view }), "ReduceRegion"),
        ("a view of no height", stream, region(ReduceRegion { height: 0, ..view }), "ReduceRegion"),
        ("a view too high", stream, region(ReduceRegion { height: 65_536, ..view }), "ReduceRegion"),
        ("a view of no cells", stream, region(ReduceRegion { step: 0, ..view }), "ReduceRegion"),
        ("a view backwards", stream, region(ReduceRegion { step: -1, ..view }), "ReduceRegion"),
        ("a view of too large steps", stream, region(ReduceRegion { step: 1 << 42, ..view }), "ReduceRegion"),
        ("a view that overflows", stream, region(ReduceRegion { x0: i64::MAX, ..view }), "ReduceRegion"),
        ("a view never reduced", stream, download(0..1, 0, Transfer::View), "reduce it first"),
        ("no rows", stream, download(0..1, 3, Transfer::Rows { first: 0, count: 0 }), "has no Rows"),
        ("rows beyond the last", stream, download(0..1, 3, Transfer::Rows { first: 20, count: 4 }), "has no Rows"),
        ("rows without end", stream, download(0..1, 3, Transfer::Rows { first: 1, count: u32::MAX }), "has no Rows"),
        ("a measure never made", stream, download(0..1, 4, Transfer::Measure), "not been measured"),
        // Slots.
        ("a slot out of range", stream, download(0..1, 5, Transfer::Bits), "no Slot(5)"),
        ("bits in a measure's slot", stream, download(0..1, 4, Transfer::Bits), "Slot(4) has 8"),
        ("bits in a picture's slot", stream, download(3..4, 0, Transfer::Bits), "Slot(0) has 23"),
        ("bits in too small a slot of the last", stream, download(2..4, 0, Transfer::Bits), "Slot(0) has 23"),
        // Copies.
        ("a copy of nothing", stream, copy(at(device, 0), at(pinned, 0), 0), "0 bytes"),
        ("a copy of no whole words", stream, copy(at(device, 0), at(pinned, 0), 6), "6 bytes"),
        ("a copy from an odd offset", stream, copy(at(device, 2), at(pinned, 0), 4), "offset 2"),
        ("a copy to an odd offset", stream, copy(at(device, 0), at(pinned, 3), 4), "offset 3"),
        ("a copy beyond the source", stream, copy(at(device, 8), at(pinned, 0), 252), "252 bytes"),
        ("a copy beyond the target", stream, copy(at(device, 0), at(pinned, 8), 252), "252 bytes"),
        ("a copy from far beyond", stream, copy(at(device, usize::MAX - 3), at(pinned, 0), 8), "8 bytes"),
        ("a copy from host to host", stream, copy(at(ids.pageable, 0), at(pinned, 0), 4), "host to host"),
        ("a copy from nowhere", stream, copy(at(BufferId(NOWHERE), 0), at(pinned, 0), 4), "no BufferId(99)"),
        ("a copy to nowhere", stream, copy(at(pinned, 0), at(BufferId(NOWHERE), 0), 4), "no BufferId(99)"),
        ("a copy from what was given back", stream, copy(at(ids.gone, 0), at(pinned, 0), 4), "no BufferId(0)"),
        ("a host function on the device", stream, BufferOp::HostFunction(device).into(), "cannot be used like this in Device"),
        ("a host function on nothing", stream, BufferOp::HostFunction(BufferId(NOWHERE)).into(), "no BufferId(99)"),
        // Memory.
        ("allocation of device memory", stream, memory(MemoryOp::Allocate(device)), "cannot be used like this in Device"),
        ("advice on device memory", stream, memory(MemoryOp::AdviseReadMostly(device)), "cannot be used like this in Device"),
        ("a prefetch of a pool's memory", stream, memory(MemoryOp::Prefetch(ids.pooled, PageLocation::Host)), "cannot be used like this in Pool"),
        ("allocation on another device", foreign, memory(MemoryOp::Allocate(ids.pooled)), "not on the stream's device"),
        ("allocation without an end", stream, memory(MemoryOp::Allocate(ids.pooled)), "allocated and not freed"),
        ("an end without allocation", stream, memory(MemoryOp::Free(ids.pooled)), "not allocated in this stream"),
        ("a copy from what is not allocated", stream, copy(at(ids.pooled, 0), at(pinned, 0), 4), "not allocated in this stream"),
        ("a call with what is not allocated", stream, spin(at(ids.pooled, 0), Duration::ZERO), "not allocated in this stream"),
        // Calls.
        ("too few arguments", stream, call(&SCALE, 1, 32, &[on_device]), "3 arguments, not 1"),
        ("too many arguments", stream, call(&SPIN, 1, 1, &[on_device, U64(0), U64(0)]), "2 arguments, not 3"),
        ("a number of another kind", stream, call(&SCALE, 1, 32, &[on_device, U32(1), I32(1)]), "scale takes I32, not U32"),
        ("a number for a buffer", stream, call(&SPIN, 1, 1, &[U64(0), U64(0)]), "spin takes Buffer"),
        ("a buffer of the host", stream, spin(at(pinned, 0), Duration::ZERO), "not on the device"),
        ("a buffer from nowhere", stream, spin(at(BufferId(NOWHERE), 0), Duration::ZERO), "no BufferId(99)"),
        ("the end of a buffer", stream, spin(at(device, 256), Duration::ZERO), "from offset 256"),
        ("no blocks", stream, call(&SPIN, 0, 1, &[on_device, U64(0)]), "0 blocks"),
        ("no threads", stream, call(&SPIN, 1, 0, &[on_device, U64(0)]), "0 threads"),
        ("too many threads", stream, call(&SPIN, 1, 1025, &[on_device, U64(0)]), "1025 threads"),
        ("an array too short", stream, call(&SCALE, 1, 32, &[on_device, I32(65), I32(1)]), "260 bytes"),
        ("a negative length", stream, call(&SCALE, 1, 32, &[on_device, I32(-1), I32(1)]), "length of -1"),
        ("pixels of no whole words", stream, call(&GRAY, 1, 32, &[on_device, on_device, I32(3)]), "length of 3"),
        ("too many pixels", stream, call(&GRAY, 1, 32, &[on_device, on_device, I32(68)]), "272 bytes"),
        ("too many numbers", stream, call(&MANDELBROT, 1, 32, &[on_device, on_device, I32(33), I32(1), F32(2.0)]), "264 bytes"),
        ("a meeting at a buffer's end", stream, call(&MEET, 1, 1, &[on_device, U32(1), U64(0), Buffer(at(device, 256))]), "from offset 256"),
        ("a barrier between blocks", stream, barrier(on_device, 2, 32, 8), "2 blocks"),
        ("a barrier of part of a warp", stream, barrier(on_device, 1, 31, 8), "31 threads"),
        ("a barrier over no cells", stream, barrier(on_device, 1, 32, 0), "cannot run in 1 blocks of 32 threads"),
        ("a barrier over too many cells", stream, barrier(on_device, 1, 32, 9), "288 bytes"),
        ("a word for each of too many threads", stream, call(&LOP3_RATE, 3, 32, &[on_device, U32(1), I32(1)]), "384 bytes"),
        ("too many quads", stream, call(&COPY_RATE, 1, 32, &[on_device, on_device, U64(17)]), "272 bytes"),
        ("quads beyond counting", stream, call(&COPY_RATE, 1, 32, &[on_device, on_device, U64(u64::MAX)]), "bytes from offset 0"),
    ]
}

fn barrier(cells: Argument, grid: u32, block: u32, width: i32) -> Op {
    use Argument::{I32, U32, U64};
    let numbers = [I32(width), I32(8), U32(0), I32(1), I32(1), U64(0)];
    let arguments: Vec<_> = [cells, cells].into_iter().chain(numbers).collect();
    call(&BARRIER, grid, block, &arguments)
}

/// Programs that are wrong as a whole, or by what their own steps leave.
#[rustfmt::skip]
fn wrong_programs(ids: &Ids) -> Vec<Wrong> {
    let Ids {
        stream,
        second,
        event,
        ..
    } = *ids;
    let on = |ops: Vec<Op>| Program::in_stream(stream, ops).with_spans();
    let (allocate, free) = (memory(MemoryOp::Allocate(ids.pooled)), memory(MemoryOp::Free(ids.pooled)));
    vec![
        ("allocated twice", on(vec![allocate.clone(), allocate.clone(), free.clone()]), "allocated and not freed"),
        ("used after its end", on(vec![allocate.clone(), free.clone(), copy(at(ids.pooled, 0), at(ids.pinned, 0), 4)]), "not allocated in this stream"),
        ("freed in another stream", program([(stream, allocate.clone()), (second, free.clone())]), "not allocated in this stream"),
        ("allocated by one of several threads", issued(vec![(0, stream, allocate), (0, stream, free), (1, second, LatticeOp::Pack.on(0..1))]), "one of several threads"),
        ("cells after an upload", on(vec![Op::unpack(0..1, Layout::I32), upload(0, 23), download(0..1, 0, Transfer::Cells)]), "no i32 cells"),
        ("a kernel after unpacking", on(vec![Op::unpack(0..1, Layout::I32), advance("bits", 0..1, 1)]), "bits needs layout Bits"),
        ("a kernel of a range in two layouts", on(vec![Op::unpack(1..2, Layout::I32), advance("bits", 0..3, 1)]), "LatticeId(1) is in layout I32"),
        ("a view that has grown out of its slot", on(vec![reduce(0..1, 4, 47), download(0..1, 0, Transfer::View)]), "47 words"),
        ("the view of a neighbour", on(vec![reduce(0..1, 4, 1), download(0..2, 0, Transfer::View)]), "LatticeId(1) has no view"),
        ("the measure of a neighbour", on(vec![LatticeOp::Measure.on(0..1), download(0..2, 4, Transfer::Measure)]), "LatticeId(1) has not been measured"),
        ("a slot twice", on(vec![download(0..1, 0, Transfer::Bits), download(0..1, 0, Transfer::Bits)]), "LatticeId(0) is in use"),
        ("a slot twice, in ranges", on(vec![download(0..2, 0, Transfer::Bits), download(1..3, 0, Transfer::Bits)]), "LatticeId(1) is in use"),
        ("an event of another issuer", issued(vec![(0, stream, record(event)), (1, second, wait(event))]), "another issuer"),
        ("an event that another issuer records later", issued(vec![(1, second, wait(event)), (2, stream, record(event))]), "another issuer"),
        ("an event of two issuers", issued(vec![(1, stream, record(event)), (2, second, record(event)), (2, second, wait(event))]), "another issuer"),
    ]
}

/// Programs that cannot be prepared.
#[rustfmt::skip]
fn unpreparable(ids: &Ids) -> Vec<Wrong> {
    let Ids {
        stream,
        second,
        default,
        event,
        device,
        pageable,
        ..
    } = *ids;
    let one = |op: Op| program([(stream, op)]);
    let round = one(advance("bits", 0..1, 1));
    let mut several = round.clone();
    several.push_from(IssuerId(1), second, LatticeOp::Pack.on(1..2));
    let block_timestamps = Program {
        block_timestamps: true,
        ..round.clone()
    };
    vec![
        ("stamped", block_timestamps, "a program with block timestamps"),
        ("several issuers", several, "several threads"),
        ("the default stream", program([(default, LatticeOp::Pack.on(0..1))]), "the default stream"),
        ("waiting for a stream", one(OrderOp::Synchronize(Scope::Stream).into()), "waiting on the host"),
        ("waiting for a device", one(OrderOp::Synchronize(Scope::Device).into()), "waiting on the host"),
        ("an upload", one(upload(GOOD, 23)), "an upload"),
        ("an edit", one(edit(GOOD, &[])), "an edit"),
        ("a pageable slot", one(download(0..1, 2, Transfer::Bits)), "pageable memory"),
        ("a copy to pageable memory", one(copy(at(device, 0), at(pageable, 0), 4)), "pageable memory"),
        ("a copy from pageable memory", one(copy(at(pageable, 0), at(device, 0), 4)), "pageable memory"),
        ("memory of a pool", program([MemoryOp::Allocate(ids.pooled), MemoryOp::Free(ids.pooled)].map(|op| (stream, memory(op)))), "managing memory"),
        ("a wait for an event from before", one(wait(event)), "has not recorded"),
        ("a wait before its record", program([(stream, wait(event)), (second, record(event))]), "has not recorded"),
    ]
}

#[test]
fn both_engines_refuse_the_same_programs_in_the_same_words_and_without_a_trace() {
    let _alone = alone();
    let mut stages = engines();
    let ids = stages[0].ids;
    let right = [
        (ids.stream, advance("bits", 0..3, 3)),
        (ids.stream, Op::unpack(2..3, Layout::I32)),
        (ids.stream, download(1..3, 1, Transfer::Bits)),
    ];
    let mut wrong = wrong_programs(&ids);
    wrong.extend(
        wrong_steps(&ids)
            .into_iter()
            .map(|(what, stream, op, why)| {
                let steps = right.iter().cloned().chain([(stream, op)]);
                (what, program(steps), why)
            }),
    );
    let submitted = wrong.iter().map(|wrong| (true, wrong));
    let unpreparable = unpreparable(&ids);
    let prepared = unpreparable.iter().map(|wrong| (false, wrong));
    for (is_submitted, (what, program, why)) in submitted.chain(prepared) {
        let [cpu, cuda] = stages.each_mut().map(|stage| {
            let parities = stage.parities();
            let error = if is_submitted {
                stage.engine.submit(program).expect_err(what)
            } else {
                stage.engine.prepare(program).expect_err(what)
            };
            if is_submitted && !why.contains("in use") {
                let prepared = stage.engine.prepare(program).expect_err(what);
                let other = prepared.to_string().contains("cannot be prepared");
                assert!(prepared == error || other, "{what}: {prepared}");
            }
            stage.is_as_it_was(&parities, what);
            error
        });
        assert!(cpu.to_string().contains(why), "{what}: {cpu}");
        assert_eq!(cpu, cuda, "{what}");
    }
}

#[test]
fn a_slot_that_is_read_is_refused_in_the_same_words() {
    let _alone = alone();
    let mut stages = engines();
    let errors = stages.each_mut().map(|stage| {
        let parities = stage.parities();
        let (stream, slots) = (stage.ids.stream, stage.slots.clone());
        let steps = [
            (stream, advance("bits", 0..3, 1)),
            (stream, download(0..3, 0, Transfer::Bits)),
        ];
        let mut error = None;
        assert!(slots.read(LatticeId(1), Slot(0), &mut |_| {
            error = stage.engine.submit(&program(steps.clone())).err();
        }));
        stage.is_as_it_was(&parities, "a slot that is read");
        error.unwrap()
    });
    assert_eq!(errors[0], EngineError::SlotBusy(LatticeId(1), Slot(0)));
    assert_eq!(errors[0], errors[1]);
}

#[test]
fn slots_that_were_never_made_are_refused_in_the_same_words() {
    let _alone = alone();
    let errors = bare_engines().map(|mut engine| {
        engine.create_lattices(D0, 1, size_of(0)).unwrap();
        let stream = engine.create_stream(D0, StreamSpec::PLAIN).unwrap();
        let steps = program([(stream, download(0..1, 0, Transfer::Bits))]);
        let missing = [
            engine.submit(&steps).unwrap_err(),
            engine.query(EventId(0)).unwrap_err(),
            engine
                .create_stream(DeviceId(1), StreamSpec::PLAIN)
                .unwrap_err(),
            engine
                .create_buffer(D0, 6, BufferLocation::Device)
                .unwrap_err(),
            engine
                .create_buffer(D0, 0, BufferLocation::Device)
                .unwrap_err(),
            engine.replay(PreparedId(0)).unwrap_err(),
        ];
        assert_eq!(engine.parity(LatticeId(7)), 0);
        missing
    });
    assert!(
        errors[0][0]
            .to_string()
            .contains("LatticeId(0) has no Slot(0)"),
        "{}",
        errors[0][0]
    );
    assert_eq!(errors[0], errors[1]);
}

#[test]
fn preparing_moves_no_state_and_a_replay_needs_the_state_that_it_was_prepared_from() {
    let _alone = alone();
    let mut stages = engines();
    let errors = stages.each_mut().map(|stage| {
        let stream = stage.ids.stream;
        let on = |ops: Vec<Op>| Program::in_stream(stream, ops).with_spans();
        let parities = stage.parities();
        // What is made in a prepared program is not there before it has been replayed.
        let made = vec![
            reduce(0..1, 4, 1),
            LatticeOp::Measure.on(0..1),
            Op::unpack(1..2, Layout::I32),
            advance("global", 1..2, 1),
            advance("bits", 2..3, 1),
        ];
        let made = stage.engine.prepare(&on(made)).unwrap();
        let mut errors = Vec::new();
        for early in [
            download(0..1, 0, Transfer::View),
            download(0..1, 4, Transfer::Measure),
            advance("global", 1..2, 1),
        ] {
            errors.push(stage.engine.submit(&on(vec![early])).unwrap_err());
        }
        stage.is_as_it_was(&parities, "prepared");
        // The round that was made there has moved every lattice on.
        errors.push(stage.engine.replay(made).unwrap_err());
        stage.is_as_it_was(&stage.parities(), "a replay was refused");
        stage.engine.replay(made).unwrap();
        assert!(stage.finish());
        for now in [
            download(0..1, 0, Transfer::View),
            download(0..1, 4, Transfer::Measure),
            download(1..2, 1, Transfer::Bits),
        ] {
            stage.run(&on(vec![now]));
        }
        let later = on(vec![
            LatticeOp::Pack.on(1..2),
            Op::unpack(1..2, Layout::Bits),
        ]);
        stage.run(&later);
        for cells in &mut stage.cells[1..3] {
            *cells = reference::run(cells, Rule::LIFE, 1);
        }
        let parities = stage.parities();
        stage.is_as_it_was(&parities, "replayed");
        // A view of another length than the one that a prepared download copies.
        let view = stage
            .engine
            .prepare(&on(vec![download(0..1, 0, Transfer::View)]))
            .unwrap();
        let again = on(vec![advance("bits", 0..1, 1), reduce(0..1, 4, 1)]);
        stage.run(&again);
        stage.cells[0] = reference::run(&stage.cells[0], Rule::LIFE, 1);
        stage.run(&on(vec![reduce(0..1, 4, 2)]));
        errors.push(stage.engine.replay(view).unwrap_err());
        stage.engine.release(view);
        errors.push(stage.engine.replay(view).unwrap_err());
        let old = stage
            .engine
            .prepare(&on(vec![LatticeOp::Pack.on(0..1)]))
            .unwrap();
        stage.slots = stage.engine.allocate_slots(stage.spec).unwrap();
        errors.push(stage.engine.replay(old).unwrap_err());
        errors
    });
    assert_eq!(errors[0], errors[1]);
    let said: Vec<String> = errors[0].iter().map(ToString::to_string).collect();
    for (said, why) in said.iter().zip([
        "reduce it first",
        "not been measured",
        "needs layout I32",
        "another state",
        "replaced",
        "there is no PreparedId(1)",
        "replaced",
    ]) {
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn an_empty_program_ends_when_it_is_submitted_and_when_it_is_replayed() {
    let _alone = alone();
    for mut stage in engines() {
        let nothing = Program::default();
        stage.engine.submit(&nothing).unwrap();
        assert!(stage.finish());
        let prepared = stage.engine.prepare(&nothing).unwrap();
        for _ in 0..2 {
            stage.engine.replay(prepared).unwrap();
            assert!(stage.finish());
        }
        let of_no_lattice = program([(stage.ids.stream, advance("bits", 1..1, 1))]);
        stage.run(&of_no_lattice);
        let prepared = stage.engine.prepare(&of_no_lattice).unwrap();
        stage.engine.replay(prepared).unwrap();
        assert!(stage.finish());
    }
}

#[test]
fn a_view_that_grows_leaves_its_neighbours_as_they_are() {
    let _alone = alone();
    let views = engines().map(|mut stage| {
        let stream = stage.ids.stream;
        stage.run(&program([(stream, reduce(0..3, 8, 2))]));
        stage.run(&program(
            [2, 3, 5].map(|height| (stream, reduce(1..2, 8, height))),
        ));
        stage.run(&program([(stream, download(0..3, 0, Transfer::View))]));
        [0, 1, 2].map(|i| {
            let mut view = Vec::new();
            let look = &mut |words: &[u32]| view = words[..if i == 1 { 10 } else { 4 }].to_vec();
            assert!(stage.slots.read(LatticeId(i), Slot(0), look));
            view
        })
    });
    assert!(views[0].iter().flatten().any(|word| *word != 0));
    assert_eq!(views[0], views[1]);
}

#[test]
fn a_reserve_that_fails_leaves_the_state_that_there_is() {
    let _alone = alone();
    let [_, mut stage] = engines();
    let ids = stage.ids;
    let on = |ops: Vec<Op>| Program::in_stream(ids.stream, ops).with_spans();
    stage.engine.reserve(Layout::Planar).unwrap();
    stage.run(&on(vec![Op::unpack(3..4, Layout::Planar)]));
    // 2 GiB at 4 bytes per cell, of which the fake driver has 1.
    let large = Size::new(1 << 14, 1 << 14).unwrap();
    stage.engine.create_lattices(D0, 1, large).unwrap();
    let failed = stage.engine.reserve(Layout::I32);
    let full = matches!(failed, Err(EngineError::OutOfMemory { .. }));
    assert!(full, "{failed:?}");
    let parities = stage.parities();
    stage.is_as_it_was(&parities, "a failed reserve");
    let mut refused = |stream, op, why: &str| {
        let error = stage.engine.submit(&program([(stream, op)])).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    };
    let gone = "needs layout Planar, but LatticeId(3) is in layout Bits";
    refused(ids.stream, advance("planar", 3..4, 1), gone);
    refused(ids.stream, Op::unpack(3..4, Layout::Planar), "not reserved");
    refused(ids.stream, Op::unpack(5..6, Layout::I32), "not reserved");
    refused(ids.foreign, Op::unpack(4..5, Layout::I32), "not reserved");
    // Those for which there was memory have it, and keep their cells when it is asked for again.
    let there = vec![Op::unpack(0..1, Layout::I32), advance("global", 0..1, 1)];
    stage.run(&on(there));
    stage.engine.reserve(Layout::I32).unwrap_err();
    let back = vec![LatticeOp::Pack.on(0..1), Op::unpack(0..1, Layout::Bits)];
    stage.run(&on(back));
    stage.cells[0] = reference::run(&stage.cells[0], Rule::LIFE, 1);
    let parities = stage.parities();
    stage.is_as_it_was(&parities, "a reserve that failed again");
}

/// A step of a random program: for the validator to judge.
fn any_op() -> impl Strategy<Value = Op> {
    let lattices = (0u32..4, 0u32..3).prop_map(|(first, count)| first..(first + count).min(4));
    let layout = prop_oneof![Just(Layout::Bits), Just(Layout::I32), Just(Layout::Planar)];
    let kernel = prop::sample::select(vec![
        "global",
        "shared",
        "sync-global",
        "sync-shared",
        "bits",
        "planar",
        "multistep",
    ]);
    let transfer = prop_oneof![
        Just(Transfer::Bits),
        Just(Transfer::View),
        Just(Transfer::Cells),
        Just(Transfer::Measure),
        (0u32..30, 0u32..30).prop_map(|(first, count)| Transfer::Rows { first, count }),
    ];
    prop_oneof![
        2 => lattices.clone().prop_map(|range| LatticeOp::Pack.on(range)),
        3 => (lattices.clone(), layout).prop_map(|(lattices, to)| Op::unpack(lattices, to)),
        6 => (lattices.clone(), kernel, 0u32..4).prop_map(|(l, kernel, n)| advance(kernel, l, n)),
        1 => (lattices.clone(), 0u32..4, 0u32..3).prop_map(|(l, w, h)| reduce(l, 4 * w, h)),
        1 => lattices.clone().prop_map(|range| LatticeOp::Measure.on(range)),
        2 => (lattices, 0u8..6, transfer).prop_map(|(l, slot, what)| download(l, slot, what)),
        1 => (0u32..4, 0usize..60).prop_map(|(l, words)| upload(l, words)),
        1 => (0u32..4, any::<u64>()).prop_map(|(l, seed)| set_soup(l, seed)),
        2 => (0u32..4, 0u32..50, any::<u32>()).prop_map(|(l, word, mask)| edit(l, &[(word, mask & 0x1fff)])),
    ]
}

/// A lattice as the ops' definitions have it, stepped by the reference.
#[derive(Clone)]
struct ReferenceLattice {
    layout: Layout,
    cells: Lattice,
    /// The bits, as of the last pack.
    bits: Lattice,
}

impl ReferenceLattice {
    fn apply(&mut self, op: &Op) {
        match op {
            Op::Lattices(_, LatticeOp::Upload(words)) => {
                self.cells = Lattice::from_words(self.cells.size(), words.to_vec());
                self.layout = Layout::Bits;
            }
            Op::Lattices(_, LatticeOp::Soup(soup)) => {
                self.cells = soup.lattice(self.cells.size());
                self.layout = Layout::Bits;
            }
            Op::Lattices(_, LatticeOp::Edit(edits)) => {
                let mut words = self.cells.words().to_vec();
                edits
                    .iter()
                    .for_each(|edit| edit.apply(&mut words[edit.word as usize]));
                self.cells = Lattice::from_words(self.cells.size(), words);
            }
            Op::Lattices(_, LatticeOp::Pack) => self.bits = self.cells.clone(),
            Op::Lattices(_, LatticeOp::Unpack(to)) => {
                self.layout = *to;
                self.cells = self.bits.clone();
            }
            Op::Lattices(_, LatticeOp::Advance { generations, .. }) => {
                self.cells = reference::run(&self.cells, Rule::LIFE, u64::from(*generations));
            }
            _ => {}
        }
        if self.layout == Layout::Bits {
            self.bits = self.cells.clone();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]
    /// Whatever is asked, both engines judge it alike; what they accept is what the reference makes
    /// of it, and what they refuse leaves everything as it was.
    #[test]
    fn random_programs_are_refused_or_are_what_the_reference_makes_of_them(
        programs in prop::collection::vec(
            (prop::collection::vec(any_op(), 1..6), any::<bool>()), 1..12),
        planar: bool,
    ) {
        let _alone = alone();
        let mut stages = engines();
        let ids = stages[0].ids;
        if planar {
            for stage in &mut stages {
                stage.engine.reserve(Layout::Planar).unwrap();
            }
        }
        let model = |cells: &Lattice| ReferenceLattice {
            layout: Layout::Bits,
            cells: cells.clone(),
            bits: cells.clone(),
        };
        let mut models: Vec<ReferenceLattice> = stages[0].cells.iter().map(model).collect();
        for (ops, prepare) in programs {
            // One stream: between two there would be no order.
            let steps = program(ops.into_iter().map(|op| (ids.stream, op)));
            let answers = stages.each_mut().map(|stage| {
                let parities = stage.parities();
                let answer = if prepare {
                    let prepared = stage.engine.prepare(&steps);
                    assert_eq!(stage.parities(), parities);
                    prepared.and_then(|prepared| stage.engine.replay(prepared))
                } else {
                    stage.engine.submit(&steps)
                };
                if answer.is_err() {
                    assert_eq!(stage.parities(), parities);
                } else {
                    assert!(stage.finish());
                }
                answer.map(drop)
            });
            prop_assert_eq!(&answers[0], &answers[1]);
            prop_assert_eq!(stages[0].parities(), stages[1].parities());
            if answers[0].is_ok() {
                for step in &steps.steps {
                    for lattice in step.op.lattices() {
                        models[lattice as usize].apply(&step.op);
                    }
                }
            }
        }
        for stage in &mut stages {
            let snapshot = stage.spec.pictures();
            let bits = program([(ids.stream, download(0..4, snapshot, Transfer::Bits))]);
            stage.run(&bits);
            for (i, model) in (0..4).zip(&models) {
                let look = &mut |words: &[u32]| {
                    assert_eq!(words, model.bits.words(), "{}", stage.engine.name());
                };
                assert!(stage.slots.read(LatticeId(i), Slot(snapshot), look));
            }
        }
    }
}
