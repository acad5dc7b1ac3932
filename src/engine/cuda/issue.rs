//! From ops to driver calls.

use cust::sys;

use super::advance::{Advance, together};
use super::buffers::Buffer;
use super::calls::{Arguments, Call, Sink};
use super::gpu::Gpu;
use super::slots::CudaSlots;
use super::stamps::{StampPlace, Stamper};
use crate::engine::kernels::{Launch, Layout};
use crate::engine::{EngineError, LatticeId, Op, Result, Scope, Slot, Transfer, Viewport};
use crate::life::Size;

/// Where a lattice's cells are, as of the last op issued for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct State {
    pub(super) layout: Layout,
    pub(super) parity: u8,
    /// Which bit buffer holds the bits; in other layouts, those of the last pack.
    pub(super) bits_parity: u8,
}

impl State {
    pub(super) const NEW: State = State {
        layout: Layout::Bits,
        parity: 0,
        bits_parity: 0,
    };
}

/// A lattice's place and state.
pub(super) struct Home {
    pub(super) gpu: usize,
    pub(super) group: usize,
    pub(super) index: usize,
    pub(super) state: State,
    /// The length of its last reduced view.
    pub(super) view_words: usize,
}

/// Issues ops of one GPU, eagerly, into a capture or for another thread: the calls are the same.
pub(super) struct Issuer<'a> {
    pub(super) gpu: &'a mut Gpu,
    pub(super) homes: &'a mut [Home],
    pub(super) buffers: &'a [Option<Buffer>],
    pub(super) slots: Option<&'a CudaSlots>,
    pub(super) stream: sys::CUstream,
    /// Which GPU it is.
    pub(super) at: usize,
    /// Where the calls go.
    pub(super) sink: &'a mut Sink,
    /// The step's index, and where its kernels' stamps go, if they are stamped.
    pub(super) stamps: Option<(u32, &'a mut Stamper)>,
}

impl Issuer<'_> {
    /// Issues one op; events are the caller's.
    pub(super) fn issue(&mut self, op: &Op) -> Result<()> {
        match op {
            Op::Upload { lattice, words } => self.upload(*lattice, words),
            Op::Pack(lattice) => self.pack(*lattice),
            Op::Unpack { lattice, to } => self.unpack(*lattice, *to),
            Op::Advance {
                kernel,
                lattices,
                rule,
                generations,
                block,
            } => {
                let advance = Advance {
                    kernel,
                    rule: *rule,
                    generations: *generations,
                    block: *block,
                };
                let launches = together(kernel, lattices.clone(), self.homes);
                let mut parts = launches.into_iter().zip(0..);
                parts.try_for_each(|(lattices, part)| {
                    let place = self.stamp_place(part);
                    self.advance_batch(advance, lattices, place)
                })
            }
            Op::Reduce { lattice, viewport } => self.reduce(*lattice, *viewport),
            Op::Download {
                lattice,
                slot,
                what,
            } => {
                let (from, words) = self.source(*what, *lattice)?;
                self.download(*lattice, *slot, from, words)
            }
            Op::Copy { from, to, bytes } => self.copy(*from, *to, *bytes),
            Op::Call(call) => self.launch_call(call),
            Op::Synchronize(Scope::Stream) => self.sink.give(Call::Synchronize(self.stream)),
            Op::Synchronize(Scope::Device) => self.sink.give(Call::SynchronizeContext),
            Op::Record(_) | Op::Wait(_) => Ok(()),
        }
    }

    pub(super) fn home(&self, lattice: LatticeId) -> Result<(usize, usize, State, Size)> {
        let home = self
            .homes
            .get(lattice.index())
            .filter(|home| home.gpu == self.at)
            .ok_or_else(|| no_lattice(lattice))?;
        let size = self.gpu.groups[home.group].size;
        Ok((home.group, home.index, home.state, size))
    }

    fn upload(&mut self, lattice: LatticeId, words: &[u32]) -> Result<()> {
        let (group, index, _, size) = self.home(lattice)?;
        if words.len() != size.words() {
            return Err(EngineError::BadProgram(format!(
                "{} words for {size}",
                words.len()
            )));
        }
        let to = self.gpu.groups[group].bits_at(index, 0);
        // The lengths were compared, and the program holds the words until the call is made.
        self.sink.give(Call::CopyIn {
            to,
            from: words.as_ptr().cast(),
            bytes: words.len() * 4,
            stream: self.stream,
        })?;
        self.homes[lattice.index()].state = State::NEW;
        Ok(())
    }

    fn pack(&mut self, lattice: LatticeId) -> Result<()> {
        let (group, index, state, size) = self.home(lattice)?;
        if state.layout == Layout::Bits {
            return Ok(()); // the bits are the cells
        }
        let (file, symbol) = match state.layout {
            Layout::Planar => ("pack_planar", "pack_planar"),
            Layout::I32 | Layout::Bits => ("pack", "pack_i32"),
        };
        let cells = self.gpu.groups[group].buffer_at(state.layout, index, state.parity)?;
        let bits = self.gpu.groups[group].bits_at(index, 0);
        let shape = Launch::convert(size, state.layout);
        let (width, height) = sides(size);
        let arguments = Arguments::of([&cells, &bits, &width, &height]);
        self.launch(file, symbol, shape, arguments)?;
        self.homes[lattice.index()].state.bits_parity = 0;
        Ok(())
    }

    fn unpack(&mut self, lattice: LatticeId, to: Layout) -> Result<()> {
        let (group, index, state, size) = self.home(lattice)?;
        let bits_parity = state.bits_parity;
        if to == Layout::Bits {
            let parity = bits_parity;
            self.homes[lattice.index()].state = State {
                layout: to,
                parity,
                bits_parity,
            };
            return Ok(());
        }
        let (file, symbol) = unpacked_by(to);
        let bits = self.gpu.groups[group].bits_at(index, bits_parity);
        let cells = self.gpu.groups[group].buffer_at(to, index, 0)?;
        let shape = Launch::convert(size, to);
        let (width, height) = sides(size);
        let arguments = Arguments::of([&bits, &cells, &width, &height]);
        self.launch(file, symbol, shape, arguments)?;
        self.homes[lattice.index()].state = State {
            layout: to,
            parity: 0,
            bits_parity,
        };
        Ok(())
    }

    fn reduce(&mut self, lattice: LatticeId, viewport: Viewport) -> Result<()> {
        viewport.check()?;
        let (group, index, state, size) = self.home(lattice)?;
        let bits = self.gpu.groups[group].bits_at(index, state.bits_parity);
        let pixels = self.gpu.groups[group].view_at(index, viewport.words())?;
        let (width, height) = sides(size);
        let (across, down) = (viewport.width as i32, viewport.height as i32);
        let shape = Launch::reduce(viewport);
        let (x0, y0, step) = (viewport.x0, viewport.y0, viewport.step);
        let arguments = Arguments::of([
            &bits, &pixels, &width, &height, &x0, &y0, &step, &across, &down,
        ]);
        self.launch("reduce", "reduce_bits", shape, arguments)?;
        self.homes[lattice.index()].view_words = viewport.words();
        Ok(())
    }

    /// The device address that a download reads, and how many words.
    fn source(&mut self, what: Transfer, lattice: LatticeId) -> Result<(sys::CUdeviceptr, usize)> {
        let (group, index, state, size) = self.home(lattice)?;
        let group = &mut self.gpu.groups[group];
        match what {
            Transfer::Bits => Ok((group.bits_at(index, state.bits_parity), size.words())),
            Transfer::Cells if state.layout != Layout::I32 => {
                let why = format!("{lattice:?} has no i32 cells");
                Err(EngineError::BadProgram(why))
            }
            Transfer::Cells => {
                let cells = group.buffer_at(Layout::I32, index, state.parity)?;
                Ok((cells, size.cells() as usize))
            }
            Transfer::View if self.homes[lattice.index()].view_words == 0 => {
                let why = format!("no view of {lattice:?} has been made");
                Err(EngineError::BadProgram(why))
            }
            Transfer::View => {
                let words = self.homes[lattice.index()].view_words;
                Ok((group.view_at(index, words)?, words))
            }
        }
    }

    fn download(
        &mut self,
        lattice: LatticeId,
        slot: Slot,
        from: sys::CUdeviceptr,
        words: usize,
    ) -> Result<()> {
        let slots = self
            .slots
            .ok_or_else(|| EngineError::BadProgram("there are no slots".into()))?;
        let to = slots.address(lattice, slot, words)?;
        // `address` checked that the slot holds so many words; it is bound to this download, so
        // nobody else touches it until the event behind the copy has fired. That holds for
        // pageable memory too, where the copy has landed by then or by the call's return.
        self.sink.give(Call::CopyOut {
            to: to.cast(),
            from,
            bytes: words * 4,
            stream: self.stream,
        })
    }

    fn launch(
        &mut self,
        file: &'static str,
        symbol: &'static str,
        shape: Launch,
        arguments: Arguments,
    ) -> Result<()> {
        let function = self.gpu.function(file, symbol)?;
        self.call(function, shape, arguments)
    }

    /// Where the stamps of a part of this step go, if they are wanted.
    pub(super) fn stamp_place(&mut self, part: u32) -> Option<StampPlace> {
        let (step, stamper) = self.stamps.as_mut()?;
        stamper.take(*step, part)
    }

    /// Launches a kernel, with stamps if there is a place for those of launch `index` of `count`.
    pub(super) fn launch_stamped(
        &mut self,
        file: &'static str,
        symbol: &'static str,
        shape: Launch,
        mut arguments: Arguments,
        place: Option<StampPlace>,
        (index, count): (u32, u32),
    ) -> Result<()> {
        let Some(at) = place.and_then(|place| place.of(index, count)) else {
            return self.launch(file, symbol, shape, arguments);
        };
        let function = self.gpu.stamped_function(file, symbol)?;
        arguments.push(&at);
        self.call(function, shape, arguments)
    }

    #[inline]
    pub(super) fn call(
        &mut self,
        function: sys::CUfunction,
        shape: Launch,
        arguments: Arguments,
    ) -> Result<()> {
        self.sink.give(Call::Launch {
            function,
            shape,
            arguments,
            stream: self.stream,
        })
    }
}

/// What makes a layout other than bits from them.
pub(super) fn unpacked_by(to: Layout) -> (&'static str, &'static str) {
    match to {
        Layout::Planar => ("unpack_planar", "unpack_planar"),
        Layout::I32 | Layout::Bits => ("unpack", "unpack_i32"),
    }
}

pub(super) fn sides(size: Size) -> (i32, i32) {
    (size.width() as i32, size.height() as i32)
}

pub(super) fn no_lattice(lattice: LatticeId) -> EngineError {
    EngineError::BadProgram(format!("there is no {lattice:?} on this device"))
}
