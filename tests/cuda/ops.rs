//! Programs and their operations in short, and the right to be the only one that uses the driver.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use engine::{BufferId, BufferOffset, BufferOp, Op, Program, Slot, StreamId, Transfer, kernels};
use life::Rule;

/// Waits for the right to be the only test with an engine: engines would share the primary
/// context. Puts the tests' own driver under it.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    static ENVIRONMENT: Once = Once::new();
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: once, by the one test that runs; the others wait for the lock and read nothing.
    ENVIRONMENT.call_once(|| unsafe {
        std::env::set_var("LIFESTREAMS_LIBCUDA", crate::driver::library());
    });
    alone
}

pub(crate) fn program(steps: impl IntoIterator<Item = (StreamId, Op)>) -> Program {
    let mut program = Program::default();
    steps
        .into_iter()
        .for_each(|(stream, op)| program.push(stream, op));
    program
}

pub(crate) fn advance(kernel: &str, lattices: Range<u32>, generations: u32) -> Op {
    advance_by(kernel, lattices, Rule::LIFE, generations)
}

pub(crate) fn advance_by(kernel: &str, lattices: Range<u32>, rule: Rule, generations: u32) -> Op {
    Op::advance(kernels::find(kernel).unwrap(), lattices, rule, generations)
}

pub(crate) fn download(lattices: Range<u32>, slot: u8, what: Transfer) -> Op {
    Op::download(lattices, Slot(slot), what)
}

pub(crate) fn at(buffer: BufferId, offset: usize) -> BufferOffset {
    BufferOffset { buffer, offset }
}

pub(crate) fn copy(from: BufferOffset, to: BufferOffset, bytes: usize) -> Op {
    BufferOp::Copy { from, to, bytes }.into()
}
