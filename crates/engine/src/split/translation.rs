//! A program on lattices, as one on their bands.

use std::ops::Range;
use std::sync::Arc;

use super::torus::{Torus, Toruses};
use super::{Known, SplitStream};
use crate::{
    Band, EventId, LatticeId, Layout, Op, Program, ProgramError, ReduceRegion, Resource, Result,
    Slot, Step, Transfer, WordEdit,
};
use life::Size;

/// A program on the bands of lattices.
pub(super) struct Translation {
    pub(super) program: Program,
    /// Its steps on lattices, each with the size of the part that it works on; only of a timed program.
    pub(super) issued: Vec<(Step, Size)>,
    /// What is known of each lattice after it.
    pub(super) known: Vec<Known>,
    pub(super) landings: Vec<Landing>,
}

/// A download that comes from several devices.
#[derive(Clone)]
pub(super) struct Landing {
    pub(super) lattices: Range<u32>,
    pub(super) slot: Slot,
    pub(super) content: Content,
    /// Devices from which it has not landed.
    pub(super) left: usize,
}

/// What a slot of whole lattices has, in a part on each device.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Content {
    /// Rows of the torus.
    Rows {
        /// The first one.
        first: u32,
        /// How many.
        count: u32,
    },
    /// The bytes of a region.
    View(ReduceRegion),
    /// A measure.
    Measure,
}

/// A translation under way.
struct Translator<'a> {
    toruses: &'a Toruses,
    streams: &'a [SplitStream],
    events: &'a [Vec<EventId>],
    timed: bool,
    done: Translation,
}

impl Translation {
    pub(super) fn of(
        program: &Program,
        toruses: &Toruses,
        streams: &[SplitStream],
        events: &[Vec<EventId>],
        known: &[Known],
    ) -> Result<Translation> {
        let mut translator = Translator {
            toruses,
            streams,
            events,
            timed: program.timed,
            done: Translation {
                program: Program {
                    steps: Vec::with_capacity(program.steps.len() * 2),
                    ..Program {
                        steps: Vec::new(),
                        ..*program
                    }
                },
                issued: Vec::new(),
                known: known.to_vec(),
                landings: Vec::new(),
            },
        };
        program
            .steps
            .iter()
            .try_for_each(|step| translator.step(step))?;
        Ok(translator.done)
    }
}

impl Translator<'_> {
    fn step(&mut self, step: &Step) -> Result<()> {
        let stream = self.streams.get(step.stream.0 as usize);
        let stream = stream.ok_or(ProgramError::Unknown(Resource::Stream(step.stream)))?;
        match &step.op {
            Op::Record(event) => self.on_each_event(step, stream, *event, Op::Record),
            Op::Wait(event) => self.on_each_event(step, stream, *event, Op::Wait),
            op @ Op::Synchronize(_) => {
                for device in 0..stream.devices.len() {
                    self.push(step, stream, device, op.clone(), None);
                }
                Ok(())
            }
            Op::CopyRows { .. } => Err(ProgramError::SplitTwice.into()),
            op if op.lattices().is_empty() => {
                self.push(step, stream, 0, op.clone(), None);
                Ok(())
            }
            op => {
                let lattices = op.lattices();
                let last = LatticeId(lattices.end - 1);
                if self.toruses.of(last).is_none() {
                    return Err(ProgramError::Unknown(Resource::Lattice(last)).into());
                }
                let toruses = self.toruses;
                toruses
                    .groups(&lattices)
                    .try_for_each(|(torus, lattices)| self.on_torus(step, stream, torus, lattices))
            }
        }
    }

    /// Appends a step for a device; of an op on a band, with the lattices that it is a band of and the
    /// size of its part.
    fn push(
        &mut self,
        step: &Step,
        stream: &SplitStream,
        device: usize,
        op: Op,
        part: Option<(Range<u32>, Size)>,
    ) {
        let step = Step {
            issuer: step.issuer,
            stream: stream.devices[device],
            op,
        };
        if self.timed {
            let (op, size) = match part {
                Some((lattices, size)) => (step.op.on(lattices), size),
                None => (step.op.clone(), Size::new(1, 1).expect("a cell")), // nobody asks
            };
            self.done.issued.push((Step { op, ..step }, size));
        }
        self.done.program.steps.push(step);
    }

    fn on_each_event(
        &mut self,
        step: &Step,
        stream: &SplitStream,
        event: EventId,
        op: fn(EventId) -> Op,
    ) -> Result<()> {
        let events = self.events.get(event.0 as usize);
        let events = events.ok_or(ProgramError::Unknown(Resource::Event(event)))?;
        for (device, &event) in events.iter().enumerate() {
            self.push(step, stream, device, op(event), None);
        }
        Ok(())
    }

    /// An op on some lattices of one group.
    fn on_torus(
        &mut self,
        step: &Step,
        stream: &SplitStream,
        torus: &Torus,
        lattices: Range<u32>,
    ) -> Result<()> {
        let all = lattices.start as usize..lattices.end as usize;
        match &step.op {
            Op::Advance {
                kernel,
                generations,
                ..
            } => {
                let mut left = *generations;
                loop {
                    let good_for = self.done.known[all.clone()].iter().map(|it| it.good_for);
                    let mut now = good_for.min().unwrap_or(0);
                    if left > now {
                        self.exchange(step, stream, torus, &lattices, kernel.layout);
                        now = torus.bands[0].halo;
                    }
                    now = now.min(left);
                    let mut op = step.op.clone();
                    if let Op::Advance { generations, .. } = &mut op {
                        *generations = now;
                    }
                    self.on_all_bands(step, stream, torus, &lattices, &op);
                    for known in &mut self.done.known[all.clone()] {
                        known.good_for -= now;
                    }
                    left -= now;
                    if left == 0 {
                        return Ok(());
                    }
                }
            }
            Op::Download { slot, what, .. } => {
                self.download(step, stream, torus, lattices, *slot, *what)?;
                return Ok(());
            }
            Op::Upload { words, .. } => {
                let size = torus.size();
                if words.len() != size.words() {
                    let lattice = LatticeId(lattices.start);
                    let error = ProgramError::UploadWords(lattice, words.len(), size.words());
                    return Err(error.into());
                }
                for (device, band) in torus.bands.iter().enumerate() {
                    let lattice = LatticeId(torus.bands_of(device, &lattices).start);
                    let words = words_of_band(*band, words);
                    let op = Op::Upload { lattice, words };
                    let part = (lattices.clone(), band.own_size());
                    self.push(step, stream, device, op, Some(part));
                }
                self.done.known[all.start].good_for = torus.bands[0].halo;
                return Ok(());
            }
            Op::Edit { edits, .. } => {
                WordEdit::check_all(edits, torus.size())?;
                for (device, band) in torus.bands.iter().enumerate() {
                    let edits = edits_of_band(*band, edits);
                    if edits.is_empty() {
                        continue;
                    }
                    let lattice = LatticeId(torus.bands_of(device, &lattices).start);
                    let op = Op::Edit { lattice, edits };
                    let part = (lattices.clone(), band.own_size());
                    self.push(step, stream, device, op, Some(part));
                }
            }
            op => self.on_all_bands(step, stream, torus, &lattices, op),
        }
        for known in &mut self.done.known[all] {
            match &step.op {
                // Of a soup the halo has any cells; an edit is in one band alone; bits that are
                // unpacked may be older than the halo.
                Op::Soup { .. } | Op::Edit { .. } | Op::Unpack { .. } => known.good_for = 0,
                Op::Reduce { region, .. } => known.region = Some(*region),
                _ => {}
            }
        }
        Ok(())
    }

    fn on_all_bands(
        &mut self,
        step: &Step,
        stream: &SplitStream,
        torus: &Torus,
        lattices: &Range<u32>,
        op: &Op,
    ) {
        for (device, band) in torus.bands.iter().enumerate() {
            let bands = torus.bands_of(device, lattices);
            let part = (lattices.clone(), band.own_size());
            self.push(step, stream, device, op.on(bands), Some(part));
        }
    }

    /// Copies all halos anew. Each device fetches its own, once the others have stepped their bands;
    /// none steps on before the others have fetched what is its.
    fn exchange(
        &mut self,
        step: &Step,
        stream: &SplitStream,
        torus: &Torus,
        lattices: &Range<u32>,
        layout: Layout,
    ) {
        let bands = &torus.bands;
        let copies: Vec<_> = bands.iter().map(|band| band.halo_copies(bands)).collect();
        let copies_from = |device: usize, other: usize| {
            device != other && copies[device].iter().any(|(from, _)| *from == other)
        };
        for device in 0..bands.len() {
            let event = stream.stepped[device];
            self.push(step, stream, device, Op::Record(event), None);
        }
        for device in 0..bands.len() {
            for other in (0..bands.len()).filter(|&other| copies_from(device, other)) {
                let event = stream.stepped[other];
                self.push(step, stream, device, Op::Wait(event), None);
            }
            for lattice in lattices.clone().map(|lattice| lattice..lattice + 1) {
                let to = LatticeId(torus.bands_of(device, &lattice).start);
                for &(from, rows) in &copies[device] {
                    let op = Op::CopyRows {
                        from: LatticeId(torus.bands_of(from, &lattice).start),
                        to,
                        rows,
                        layout,
                    };
                    let part = (lattice.clone(), bands[device].own_size());
                    self.push(step, stream, device, op, Some(part));
                }
            }
            let event = stream.copied[device];
            self.push(step, stream, device, Op::Record(event), None);
        }
        for device in 0..bands.len() {
            for other in (0..bands.len()).filter(|&other| copies_from(other, device)) {
                let event = stream.copied[other];
                self.push(step, stream, device, Op::Wait(event), None);
            }
        }
        for lattice in lattices.clone() {
            self.done.known[lattice as usize].good_for = bands[0].halo;
        }
    }

    fn download(
        &mut self,
        step: &Step,
        stream: &SplitStream,
        torus: &Torus,
        lattices: Range<u32>,
        slot: Slot,
        what: Transfer,
    ) -> Result<()> {
        let (size, first) = (torus.size(), LatticeId(lattices.start));
        let content = match what {
            Transfer::Bits => Content::Rows {
                first: 0,
                count: size.height(),
            },
            Transfer::Rows { first: row, count } => {
                let end = row.checked_add(count);
                if count == 0 || end.is_none_or(|end| end > size.height()) {
                    return Err(ProgramError::NoRows(first, size, what).into());
                }
                Content::Rows { first: row, count }
            }
            Transfer::View => {
                let region = self.done.known[first.index()].region;
                Content::View(region.ok_or(ProgramError::NoView(first))?)
            }
            Transfer::Measure => Content::Measure,
            Transfer::Cells => return Err(ProgramError::NoCells(first, Layout::Bits).into()),
        };
        let mut left = 0;
        for (device, band) in torus.bands.iter().enumerate() {
            let what = match content {
                Content::Rows { first, count } => match band.own_part(first, count) {
                    None => continue,
                    Some(rows) => Transfer::Rows {
                        first: rows.from,
                        count: rows.count,
                    },
                },
                Content::View(_) | Content::Measure => what,
            };
            let bands = torus.bands_of(device, &lattices);
            let part = (lattices.clone(), band.own_size());
            self.push(
                step,
                stream,
                device,
                Op::download(bands, slot, what),
                Some(part),
            );
            left += 1;
        }
        self.done.landings.push(Landing {
            lattices,
            slot,
            content,
            left,
        });
        Ok(())
    }
}

/// The words of a band's lattice, halos and all, from those of the torus.
fn words_of_band(band: Band, torus: &[u32]) -> Arc<[u32]> {
    let per_row = band.torus.words_per_row();
    let height = i64::from(band.torus.height());
    let rows = i64::from(band.rows + 2 * band.halo);
    let mut words = Vec::with_capacity(rows as usize * per_row);
    for row in 0..rows {
        let row = (band.first_of_halo() + row).rem_euclid(height) as usize;
        words.extend_from_slice(&torus[row * per_row..][..per_row]);
    }
    words.into()
}

/// The edits of a band's own rows, as those of its lattice.
fn edits_of_band(band: Band, edits: &[WordEdit]) -> Arc<[WordEdit]> {
    let per_row = band.torus.words_per_row() as u64;
    let row_of = |edit: &WordEdit| u64::from(edit.word) / per_row;
    let start = edits.partition_point(|edit| row_of(edit) < band.first.into());
    let end = edits.partition_point(|edit| row_of(edit) < (band.first + band.rows).into());
    let offset = -band.first_of_halo() * per_row as i64;
    let moved = |edit: &WordEdit| WordEdit {
        word: (i64::from(edit.word) + offset) as u32,
        ..*edit
    };
    edits[start..end].iter().map(moved).collect()
}
