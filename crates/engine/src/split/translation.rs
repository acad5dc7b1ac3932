//! A program on lattices, as one on their bands.

use super::{Known, SplitEngine, SplitStream, Torus};
use crate::error::{bail, invalid, known};
use crate::{
    Band, EventId, IssuedStep, LatticeId, LatticeOp, Layout, Op, OrderOp, Program, ReduceRegion,
    Result, RowCopy, Slot, Step, Transfer, WordEdit,
};
use life::Size;
use std::ops::Range;
use std::sync::Arc;

/// A program on the bands of lattices.
pub(super) struct Translation {
    pub(super) program: Program,
    /// Its steps on lattices; only of a timed program.
    pub(super) issued: Vec<IssuedStep>,
    /// What is known of each lattice after it.
    pub(super) known: Vec<Known>,
    pub(super) landings: Vec<Landing>,
}

/// A download that comes from several bands.
pub(super) struct Landing {
    pub(super) lattices: Range<u32>,
    pub(super) slot: Slot,
    /// What the slot of each lattice gets.
    contents: Vec<Content>,
    /// Bands from which it has not landed.
    pub(super) left: usize,
}

impl Landing {
    /// The slots that it fills, and what each gets.
    pub(super) fn contents(&self) -> impl Iterator<Item = ((LatticeId, Slot), Content)> {
        let lattices = self.lattices.clone().map(LatticeId);
        let slots = lattices.map(|lattice| (lattice, self.slot));
        slots.zip(self.contents.iter().copied())
    }
}

/// What a slot of whole lattices has, in a part of each band.
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

/// A step that is being translated.
struct Translator<'a> {
    engine: &'a SplitEngine,
    step: &'a Step,
    stream: &'a SplitStream,
    done: &'a mut Translation,
    /// The band of the last step.
    last: &'a mut Option<usize>,
}

/// The lattices of an op, as far as they are of one group.
struct Part<'a> {
    op: &'a LatticeOp,
    torus: &'a Torus,
    lattices: Range<u32>,
}

impl Translation {
    pub(super) fn of(program: &Program, engine: &SplitEngine) -> Result<Translation> {
        let mut done = Translation {
            program: Program {
                steps: Vec::with_capacity(program.steps.len() * 2),
                ..*program
            },
            issued: Vec::new(),
            known: engine.known.clone(),
            landings: Vec::new(),
        };
        let mut last = None;
        for step in &program.steps {
            let stream = engine.streams.get(step.stream.0 as usize);
            let translator = Translator {
                engine,
                step,
                stream: known(stream, step.stream)?,
                done: &mut done,
                last: &mut last,
            };
            translator.translate()?;
        }
        Ok(done)
    }
}

impl Translator<'_> {
    fn translate(mut self) -> Result<()> {
        match &self.step.op {
            Op::Order(op) => self.order(*op),
            Op::Buffers(_) => {
                self.push(0, self.step.op.clone(), None);
                Ok(())
            }
            Op::Lattices(_, LatticeOp::CopyRows { .. }) => Err(invalid!(
                "lattices in bands have no bands or rows of their own"
            )),
            Op::Lattices(lattices, op) => {
                let toruses = &self.engine.toruses;
                let last = LatticeId(lattices.end.saturating_sub(1));
                if !lattices.is_empty() {
                    known(toruses.of(last), last)?;
                }
                let mut groups = toruses.groups(lattices);
                groups.try_for_each(|(torus, lattices)| {
                    self.part(&Part {
                        op,
                        torus,
                        lattices,
                    })
                })
            }
        }
    }

    /// Appends an op for each band, on the band's event if it is about one.
    fn order(&mut self, op: OrderOp) -> Result<()> {
        for band in 0..self.stream.bands.len() {
            let of_band = |event: EventId| {
                let events = self.engine.events.get(event.0 as usize);
                known(events.map(|events| events[band]), event)
            };
            let op = match op {
                OrderOp::Synchronize(scope) => OrderOp::Synchronize(scope),
                OrderOp::Record(event) => OrderOp::Record(of_band(event)?),
                OrderOp::Wait(event) => OrderOp::Wait(of_band(event)?),
            };
            self.push(band, op.into(), None);
        }
        Ok(())
    }

    /// Appends a step to a band's stream. In a program that bands take one after the other, it waits for
    /// the last step of another band: an event of an exchange serves, as its wait follows at once.
    fn push(&mut self, band: usize, op: Op, part: Option<(&Range<u32>, Size)>) {
        let last = self.last.replace(band).filter(|last| *last != band);
        if let Some(last) = last.filter(|_| self.done.program.band_by_band) {
            let event = self.stream.stepped[last];
            self.append(last, OrderOp::Record(event).into(), None);
            self.append(band, OrderOp::Wait(event).into(), None);
        }
        self.append(band, op, part);
    }

    /// Appends a step to a band's stream; of an op on the band, with the lattices that it is a band of
    /// and the size of its part.
    fn append(&mut self, band: usize, op: Op, part: Option<(&Range<u32>, Size)>) {
        let of_band = Step {
            issuer: self.step.issuer,
            stream: self.stream.bands[band],
            op,
        };
        if self.done.program.timed {
            let (op, size) = match (part, &of_band.op) {
                (Some((lattices, size)), Op::Lattices(_, op)) => {
                    (op.clone().on(lattices.clone()), size)
                }
                _ => (of_band.op.clone(), Size::new(1, 1).expect("a cell")), // nobody asks
            };
            self.done.issued.push(IssuedStep {
                device: self.engine.cut.device(band),
                step: Step { op, ..of_band },
                stream: self.step.stream,
                size,
            });
        }
        self.done.program.steps.push(of_band);
    }

    fn part(&mut self, part: &Part) -> Result<()> {
        match part.op {
            LatticeOp::Advance {
                kernel,
                generations,
                ..
            } => self.advance(part, kernel.layout, *generations),
            LatticeOp::Download { slot, what } => self.download(part, *slot, *what)?,
            LatticeOp::Upload(words) => {
                let size = part.torus.size();
                if words.len() != size.words() {
                    bail!(
                        "an upload of {} words to {:?}, which has {}",
                        words.len(),
                        LatticeId(part.lattices.start),
                        size.words()
                    );
                }
                self.on_bands(part, |band| {
                    Some(LatticeOp::Upload(words_of_band(band, words)))
                });
            }
            LatticeOp::Edit(edits) => {
                WordEdit::check_all(edits, part.torus.size())?;
                self.on_bands(part, |band| {
                    let edits = edits_of_band(band, edits);
                    (!edits.is_empty()).then_some(LatticeOp::Edit(edits))
                });
            }
            op => {
                self.on_bands(part, |_| Some(op.clone()));
            }
        }
        for known in self.known(part) {
            match part.op {
                LatticeOp::Upload(_) => known.good_for = part.torus.halo(),
                // Of a soup the halo has any cells; an edit is in one band alone; bits that are
                // unpacked may be older than the halo.
                LatticeOp::Soup(_) | LatticeOp::Edit(_) | LatticeOp::Unpack(_) => {
                    known.good_for = 0;
                }
                LatticeOp::Reduce(region) => known.region = Some(*region),
                _ => {}
            }
        }
        Ok(())
    }

    /// Appends an op for each band that has one; how many they are.
    fn on_bands(&mut self, part: &Part, op: impl Fn(Band) -> Option<LatticeOp>) -> usize {
        let mut count = 0;
        for (index, &band) in part.torus.bands.iter().enumerate() {
            if let Some(op) = op(band) {
                let op = op.on(part.torus.bands_of(index, &part.lattices));
                let of = (&part.lattices, band.own_size());
                self.push(index, op, Some(of));
                count += 1;
            }
        }
        count
    }

    fn known(&mut self, part: &Part) -> &mut [Known] {
        &mut self.done.known[part.lattices.start as usize..part.lattices.end as usize]
    }

    /// Advances bands by as many generations at a time as their halos are good for.
    fn advance(&mut self, part: &Part, layout: Layout, generations: u32) {
        let mut left = generations;
        loop {
            let now = left.min(part.torus.halo());
            if self.known(part).iter().any(|known| known.good_for < now) {
                self.exchange(part, layout);
            }
            let mut op = part.op.clone();
            if let LatticeOp::Advance { generations, .. } = &mut op {
                *generations = now;
            }
            self.on_bands(part, |_| Some(op.clone()));
            for known in self.known(part) {
                known.good_for -= now;
            }
            left -= now;
            if left == 0 {
                return;
            }
        }
    }

    /// Copies all halos anew. Each band's stream fetches its own, once the others have stepped their
    /// bands; none steps on before the others have fetched its rows.
    fn exchange(&mut self, part: &Part, layout: Layout) {
        let stream = self.stream;
        let &Part {
            torus,
            ref lattices,
            ..
        } = part;
        let bands = &torus.bands;
        let copies: Vec<_> = bands.iter().map(|band| band.halo_copies(bands)).collect();
        let copies_from = |band: usize, other: usize| {
            band != other && copies[band].iter().any(|(from, _)| *from == other)
        };
        for band in 0..bands.len() {
            let event = stream.stepped[band];
            self.push(band, OrderOp::Record(event).into(), None);
        }
        for band in 0..bands.len() {
            for other in (0..bands.len()).filter(|&other| copies_from(band, other)) {
                let event = stream.stepped[other];
                self.push(band, OrderOp::Wait(event).into(), None);
            }
            for lattice in lattices.clone().map(LatticeId) {
                for &(from, rows) in &copies[band] {
                    let copy = LatticeOp::CopyRows {
                        from: torus.band_of(from, lattice),
                        rows,
                        layout,
                    };
                    let op = copy.on(torus.bands_of(band, &lattice.as_range()));
                    let of = (&lattice.as_range(), bands[band].own_size());
                    self.push(band, op, Some(of));
                }
            }
            let event = stream.copied[band];
            self.push(band, OrderOp::Record(event).into(), None);
        }
        for band in 0..bands.len() {
            for other in (0..bands.len()).filter(|&other| copies_from(other, band)) {
                let event = stream.copied[other];
                self.push(band, OrderOp::Wait(event).into(), None);
            }
        }
        for known in self.known(part) {
            known.good_for = torus.halo();
        }
    }

    fn download(&mut self, part: &Part, slot: Slot, what: Transfer) -> Result<()> {
        let (size, first) = (part.torus.size(), LatticeId(part.lattices.start));
        let content = |known: &Known| match what {
            Transfer::Bits => Ok(Content::Rows {
                first: 0,
                count: size.height(),
            }),
            Transfer::Rows { first: row, count } => match row.checked_add(count) {
                Some(end) if count > 0 && end <= size.height() => {
                    Ok(Content::Rows { first: row, count })
                }
                _ => Err(invalid!("{first:?} of {size} has no {what:?}")),
            },
            Transfer::View => match known.region {
                Some(region) => Ok(Content::View(region)),
                None => Err(invalid!("{first:?} has no view: reduce it first")),
            },
            Transfer::Measure => Ok(Content::Measure),
            Transfer::Cells => Err(invalid!(
                "{first:?} has no i32 cells: it is in layout {:?}",
                Layout::Bits
            )),
        };
        let contents = self.known(part).iter().map(content);
        let contents: Vec<Content> = contents.collect::<Result<_, _>>()?;
        let left = self.on_bands(part, |band| {
            let what = match contents[0] {
                Content::Rows { first, count } => {
                    let RowCopy { from, count, .. } = band.own_part(first, count)?;
                    Transfer::Rows { first: from, count }
                }
                Content::View(_) | Content::Measure => what,
            };
            Some(LatticeOp::Download { slot, what })
        });
        self.done.landings.push(Landing {
            lattices: part.lattices.clone(),
            slot,
            contents,
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
