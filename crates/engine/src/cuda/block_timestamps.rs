//! Block timestamps: when and where each block ran, recorded by instrumented kernels (see
//! [`instrumentation`](crate::kernels::instrumentation)).
//!
//! Launches of [`LatticeOp::Advance`] and [`BufferOp::Launch`] are recorded: per op and lattice the last ones, at
//! most [`MAX_LAUNCHES`] per op, and per program, in its order, as many as fit [`MAX_BYTES`]. Other
//! launches run without instrumentation.

use super::driver::check;
use super::gpu::Gpu;
use super::memory::MirroredWords;
use crate::check::Lattices;
use crate::kernels::Launch;
use crate::kernels::instrumentation::RECORD_BYTES;
use crate::{BlockTimestamp, BufferOp, LatticeId, LatticeOp, Nanos, Op, Program, Result, StreamId};
use cust::sys;
use std::ops::Range;

/// Maximum recorded launches per op.
const MAX_LAUNCHES: u32 = 64;

/// Maximum memory in bytes for one program's block timestamps on a device.
const MAX_BYTES: usize = 64 << 20;

const RECORD_WORDS: usize = RECORD_BYTES / 4;

/// Recorded launches: the last ones of an op on one lattice or batch.
struct Piece {
    stream: StreamId,
    step: u32,
    /// Index of the lattice or batch in the op.
    part: u32,
    /// Index of its first record.
    first: usize,
    blocks: u32,
    launches: u32,
}

/// Where an op's launches on one lattice or batch write their records.
#[derive(Clone, Copy)]
pub(super) struct TimestampTarget {
    at: sys::CUdeviceptr,
    blocks: u32,
    launches: u32,
}

impl TimestampTarget {
    /// The record address for launch `index` of `count`; `None` if that launch is not recorded.
    pub(super) fn of(self, index: u32, count: u32) -> Option<sys::CUdeviceptr> {
        let skipped = count - self.launches.min(count);
        let nth = u64::from(index.checked_sub(skipped)?);
        Some(self.at + nth * u64::from(self.blocks) * RECORD_BYTES as u64)
    }

    /// The records of lattice `index` of `count`, if a batch is launched one lattice at a time.
    pub(super) fn share(self, index: u32, count: u32) -> TimestampTarget {
        let blocks = self.blocks / count;
        TimestampTarget {
            at: self.at + u64::from(index * blocks) * RECORD_BYTES as u64,
            blocks,
            launches: self.launches,
        }
    }
}

/// The block timestamps of one program on one device.
pub(super) struct TimestampRecorder {
    memory: MirroredWords,
    pieces: Vec<Piece>, // in issue order
    taken: usize,
    /// The range of records of each stream.
    streams: Vec<(StreamId, Range<usize>)>,
    /// The value of `%globaltimer` when the device's clock shows 0.
    skew: i64,
}

impl TimestampRecorder {
    /// Plans the records for a program's steps in these streams. `None` if no launch is recorded.
    pub(super) fn plan(
        program: &Program,
        streams: &[StreamId],
        lattices: &Lattices,
        gpu: &mut Gpu,
    ) -> Result<Option<TimestampRecorder>> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut records = 0;
        for (step, of) in program.steps.iter().enumerate() {
            if !streams.contains(&of.stream) {
                continue;
            }
            for (part, (shape, launches)) in launches(&of.op, lattices, gpu.sm_count)
                .into_iter()
                .enumerate()
            {
                let (blocks, _) = shape.counts();
                let wanted = blocks * u64::from(launches);
                if wanted == 0 || (records as u64 + wanted) * 32 > MAX_BYTES as u64 {
                    continue;
                }
                records += wanted as usize;
                pieces.push(Piece {
                    stream: of.stream,
                    step: step as u32,
                    part: part as u32,
                    first: 0,
                    blocks: blocks as u32,
                    launches,
                });
            }
        }
        if records == 0 {
            return Ok(None);
        }
        // The records of a stream are contiguous, so one copy fetches them.
        let mut ranges = Vec::new();
        let mut first = 0;
        for &stream in streams {
            let began = first;
            for piece in pieces.iter_mut().filter(|piece| piece.stream == stream) {
                piece.first = first;
                first += piece.blocks as usize * piece.launches as usize;
            }
            if first > began {
                ranges.push((stream, began..first));
            }
        }
        let skew = gpu.skew()?;
        Ok(Some(TimestampRecorder {
            memory: gpu.take_timestamp_memory(records * RECORD_WORDS)?,
            pieces,
            taken: 0,
            streams: ranges,
            skew,
        }))
    }

    /// The target for a part of a step. Must be called in issue order.
    pub(super) fn take(&mut self, step: u32, part: u32) -> Option<TimestampTarget> {
        let piece = self.pieces.get(self.taken)?;
        if (piece.step, piece.part) != (step, part) {
            return None;
        }
        self.taken += 1;
        Some(TimestampTarget {
            at: self.memory.device.word(piece.first * RECORD_WORDS),
            blocks: piece.blocks,
            launches: piece.launches,
        })
    }

    /// The address of a stream's records, where the host has them, and their bytes; `None` if the
    /// stream has none.
    fn records(&self, stream: StreamId) -> Option<(sys::CUdeviceptr, *mut u32, usize)> {
        let (_, range) = self.streams.iter().find(|(of, _)| *of == stream)?;
        let first = range.start * RECORD_WORDS;
        let (device, host) = (&self.memory.device, &self.memory.host);
        let bytes = range.len() * RECORD_BYTES;
        Some((device.word(first), host.at.wrapping_add(first), bytes))
    }

    /// Zeroes a stream's records, in that stream.
    pub(super) fn clear(&self, stream: StreamId, raw: sys::CUstream) -> Result<()> {
        let Some((at, _, bytes)) = self.records(stream) else {
            return Ok(());
        };
        // SAFETY: the records are allocated, and no earlier writer is running.
        check("cuMemsetD8Async", unsafe {
            sys::cuMemsetD8Async(at, 0, bytes, raw)
        })
    }

    /// Copies a stream's records to the host, after the stream's last step.
    pub(super) fn fetch(&self, stream: StreamId, raw: sys::CUstream) -> Result<()> {
        let Some((at, to, bytes)) = self.records(stream) else {
            return Ok(());
        };
        // SAFETY: the records are allocated on both sides; the host reads them only after the run.
        check("cuMemcpyDtoHAsync", unsafe {
            sys::cuMemcpyDtoHAsync_v2(to.cast(), at, bytes, raw)
        })
    }

    /// Returns the timestamps, once the run is complete, and the memory for reuse.
    pub(super) fn block_timestamps(self) -> (Vec<BlockTimestamp>, MirroredWords) {
        // SAFETY: the allocation has that many initialised words, and every stream's copy has
        // ended.
        let words =
            unsafe { std::slice::from_raw_parts(self.memory.host.at, self.memory.host.words) };
        let mut block_timestamps = Vec::new();
        for piece in &self.pieces[..self.taken] {
            let count = piece.blocks as usize * piece.launches as usize;
            let records = words[piece.first * RECORD_WORDS..].chunks_exact(RECORD_WORDS);
            for record in records.take(count) {
                let long = |at: usize| u64::from(record[at]) | u64::from(record[at + 1]) << 32;
                let (start, end) = (long(0), long(2));
                if start == 0 {
                    continue; // the block was never recorded
                }
                block_timestamps.push(BlockTimestamp {
                    step: piece.step,
                    sm: record[4],
                    start: Nanos((start as i64).wrapping_sub(self.skew)),
                    end: Nanos((end.max(start) as i64).wrapping_sub(self.skew)),
                });
            }
        }
        (block_timestamps, self.memory)
    }
}

/// The launch configuration and the number of recorded launches, for each lattice or batch of an
/// op.
fn launches(op: &Op, all: &Lattices, sm_count: u32) -> Vec<(Launch, u32)> {
    match op {
        Op::Buffers(BufferOp::Launch(call)) if call.kernel.own.is_none() => vec![(call.shape, 1)],
        Op::Lattices(
            lattices,
            LatticeOp::Advance {
                kernel,
                generations,
                block,
                ..
            },
        ) if kernel.block_timestamps => {
            let batches = all.batches(kernel, lattices.clone(), sm_count);
            let each = (MAX_LAUNCHES / (batches.len() as u32).max(1)).max(1);
            let launches = kernel.launches(*generations).min(each);
            let shape = |batch: &Range<u32>| {
                let group = all.of(LatticeId(batch.start));
                let count = batch.len() as u32;
                kernel.launch(group.size, *block, group.batch(count, count), sm_count)
            };
            batches
                .iter()
                .map(shape)
                .take(MAX_LAUNCHES as usize)
                .map(|shape| (shape, launches))
                .collect()
        }
        _ => Vec::new(),
    }
}
