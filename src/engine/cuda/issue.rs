//! From ops to driver calls.

use std::ffi::c_void;

use cust::sys;

use super::driver::check;
use super::gpu::Gpu;
use super::slots::CudaSlots;
use crate::engine::kernels::{Iteration, Kernel, Launch, Layout};
use crate::engine::{EngineError, LatticeId, Op, Result, Slot, Transfer, Viewport};
use crate::life::{Rule, Size};

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

/// Issues ops of one GPU, eagerly or into a capture: the calls are the same.
pub(super) struct Issuer<'a> {
    pub(super) gpu: &'a mut Gpu,
    pub(super) homes: &'a mut [Home],
    pub(super) slots: Option<&'a CudaSlots>,
    pub(super) stream: sys::CUstream,
    /// Which GPU it is.
    pub(super) at: usize,
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
            } => lattices
                .clone()
                .try_for_each(|i| self.advance(kernel, LatticeId(i), *rule, *generations, *block)),
            Op::Reduce { lattice, viewport } => self.reduce(*lattice, *viewport),
            Op::Download {
                lattice,
                slot,
                what,
            } => {
                let (from, words) = self.source(*what, *lattice)?;
                self.download(*lattice, *slot, from, words)
            }
            Op::Copy { .. } | Op::Call(_) | Op::Synchronize(_) => {
                Err(EngineError::BadProgram("not built yet".into()))
            }
            Op::Record(_) | Op::Wait(_) => Ok(()),
        }
    }

    fn home(&self, lattice: LatticeId) -> Result<(usize, usize, State, Size)> {
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
        // SAFETY: the lengths were compared; the driver has read pageable memory by its return.
        check("cuMemcpyHtoDAsync", unsafe {
            sys::cuMemcpyHtoDAsync_v2(to, words.as_ptr().cast(), words.len() * 4, self.stream)
        })?;
        self.homes[lattice.index()].state = State::NEW;
        Ok(())
    }

    fn pack(&mut self, lattice: LatticeId) -> Result<()> {
        let (group, index, state, size) = self.home(lattice)?;
        if state.layout == Layout::Bits {
            return Ok(()); // the bits are the cells
        }
        let cells = self.gpu.groups[group].cells_at(index, state.parity)?;
        let bits = self.gpu.groups[group].bits_at(index, 0);
        let shape = Launch::convert(size);
        let (width, height) = sides(size);
        self.launch("pack", "pack_i32", shape, &[&cells, &bits, &width, &height])?;
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
        let bits = self.gpu.groups[group].bits_at(index, bits_parity);
        let cells = self.gpu.groups[group].cells_at(index, 0)?;
        let shape = Launch::convert(size);
        let (width, height) = sides(size);
        self.launch(
            "unpack",
            "unpack_i32",
            shape,
            &[&bits, &cells, &width, &height],
        )?;
        self.homes[lattice.index()].state = State {
            layout: to,
            parity: 0,
            bits_parity,
        };
        Ok(())
    }

    fn advance(
        &mut self,
        kernel: &'static Kernel,
        lattice: LatticeId,
        rule: Rule,
        generations: u32,
        block: (u32, u32),
    ) -> Result<()> {
        let (group, index, state, size) = self.home(lattice)?;
        kernel.admit(size)?;
        kernel.admit_block(block)?;
        if state.layout != kernel.layout {
            let have = state.layout;
            let why = format!(
                "{} needs {:?}, {lattice:?} is {have:?}",
                kernel.name, kernel.layout
            );
            return Err(EngineError::BadProgram(why));
        }
        let buffers = [0, 1].map(|parity| match kernel.layout {
            Layout::Bits => Ok(self.gpu.groups[group].bits_at(index, parity)),
            Layout::I32 => self.gpu.groups[group].cells_at(index, parity),
        });
        let [even, odd] = buffers;
        let buffers = [even?, odd?];
        let shape = kernel.launch(size, block);
        let parity = self.launch_generations(
            kernel,
            shape,
            buffers,
            state.parity,
            size,
            rule,
            generations,
        )?;
        let state = &mut self.homes[lattice.index()].state;
        state.parity = parity;
        if kernel.layout == Layout::Bits {
            state.bits_parity = parity;
        }
        Ok(())
    }

    /// Launches a kernel as often as it takes; the parity of the buffer that then holds the cells.
    fn launch_generations(
        &mut self,
        kernel: &'static Kernel,
        shape: Launch,
        buffers: [sys::CUdeviceptr; 2],
        mut parity: u8,
        size: Size,
        rule: Rule,
        generations: u32,
    ) -> Result<u8> {
        let (width, height) = sides(size);
        let rule = rule.table();
        let count = generations as i32;
        let at = |parity: u8| &buffers[usize::from(parity)];
        match kernel.iteration {
            Iteration::Launches => {
                let function = self.gpu.function(kernel.file, kernel.symbol)?;
                for _ in 0..generations {
                    let (from, to) = (at(parity), at(parity ^ 1));
                    self.call(function, shape, &[from, to, &width, &height, &rule])?;
                    parity ^= 1;
                }
                Ok(parity)
            }
            Iteration::InKernel if generations == 0 => Ok(parity),
            Iteration::InKernel => {
                let (from, to) = (at(parity), at(parity ^ 1));
                if kernel.in_place {
                    let arguments: [&dyn Argument; 5] = [from, &width, &height, &rule, &count];
                    self.launch(kernel.file, kernel.symbol, shape, &arguments)?;
                    Ok(parity)
                } else {
                    let arguments: [&dyn Argument; 6] = [from, to, &width, &height, &rule, &count];
                    self.launch(kernel.file, kernel.symbol, shape, &arguments)?;
                    Ok(parity ^ (generations & 1) as u8)
                }
            }
        }
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
        let arguments: [&dyn Argument; 9] = [
            &bits, &pixels, &width, &height, &x0, &y0, &step, &across, &down,
        ];
        self.launch("reduce", "reduce_bits", shape, &arguments)?;
        self.homes[lattice.index()].view_words = viewport.words();
        Ok(())
    }

    /// The device address that a download reads, and how many words.
    fn source(&mut self, what: Transfer, lattice: LatticeId) -> Result<(sys::CUdeviceptr, usize)> {
        let (group, index, state, size) = self.home(lattice)?;
        let group = &mut self.gpu.groups[group];
        match what {
            Transfer::Bits => Ok((group.bits_at(index, state.bits_parity), size.words())),
            Transfer::Cells => Err(EngineError::BadProgram("not built yet".into())),
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
        // SAFETY: `address` checked that the slot holds so many words; it is bound to this
        // download, so nobody else touches it until the event behind the copy has fired.
        check("cuMemcpyDtoHAsync", unsafe {
            sys::cuMemcpyDtoHAsync_v2(to.cast(), from, words * 4, self.stream)
        })
    }

    fn launch(
        &mut self,
        file: &'static str,
        symbol: &'static str,
        shape: Launch,
        arguments: &[&dyn Argument],
    ) -> Result<()> {
        let function = self.gpu.function(file, symbol)?;
        self.call(function, shape, arguments)
    }

    fn call(
        &mut self,
        function: sys::CUfunction,
        shape: Launch,
        arguments: &[&dyn Argument],
    ) -> Result<()> {
        let mut addresses = [std::ptr::null_mut(); 9];
        for (address, argument) in addresses.iter_mut().zip(arguments) {
            *address = argument.address();
        }
        // SAFETY: a kernel's row and its file are held together by tests; the driver copies the
        // arguments before it returns; all addresses are of live allocations of this context.
        check("cuLaunchKernel", unsafe {
            sys::cuLaunchKernel(
                function,
                shape.grid[0],
                shape.grid[1],
                shape.grid[2],
                shape.block[0],
                shape.block[1],
                shape.block[2],
                shape.shared_bytes as u32,
                self.stream,
                addresses.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        })
    }
}

/// A kernel argument, by address.
trait Argument {
    fn address(&self) -> *mut c_void;
}

macro_rules! arguments {
    ($($ty:ty),*) => {$(impl Argument for $ty {
        fn address(&self) -> *mut c_void {
            std::ptr::from_ref(self).cast_mut().cast()
        }
    })*};
}
arguments!(i32, u32, i64, u64);

fn sides(size: Size) -> (i32, i32) {
    (size.width() as i32, size.height() as i32)
}

pub(super) fn no_lattice(lattice: LatticeId) -> EngineError {
    EngineError::BadProgram(format!("there is no {lattice:?} on this device"))
}
