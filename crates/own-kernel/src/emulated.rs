//! The emulator as a machine for kernels.

use std::ffi::c_void;
use std::path::Path;

use emulator::{BlockOrder, FaultKind, KernelFault, Library, Order, ThreadOrder};
use engine::kernels::Launch;

use crate::device::{Argument, Buffer, Contents, Device, POISON};
use crate::fault::{Fault, Thread};
use crate::{Facts, OwnKernel};

/// The orders that a kernel runs in. The first two are enough to see that two threads of a block use the
/// same memory without a barrier between them, the third to see it of blocks.
const ORDERS: [Order; 4] = {
    const fn order(threads: ThreadOrder, blocks: BlockOrder) -> Order {
        Order {
            threads,
            blocks,
            seed: 7,
        }
    }
    [
        order(ThreadOrder::Forward, BlockOrder::Forward),
        order(ThreadOrder::Backward, BlockOrder::Forward),
        order(ThreadOrder::Forward, BlockOrder::Backward),
        order(ThreadOrder::Random, BlockOrder::Random),
    ]
};

/// How many of the orders leave the blocks in theirs.
const THREAD_ORDERS: usize = 2;

/// A kernel in the emulator.
pub(crate) struct Emulated {
    library: Library,
    symbol: &'static str,
    seconds: u32,
}

impl Emulated {
    /// Loads a kernel from its library, which the system keeps in memory.
    pub(crate) fn load(path: &Path, own: &OwnKernel, seconds: u32) -> Result<Emulated, Fault> {
        // SAFETY: the program linked it from a translation and the emulator. Initialisers of the user's
        // own run; this process is theirs.
        let library = unsafe { Library::open(path) }.map_err(|_| Fault::Crashed)?;
        let taken = library.parameters(own.symbol()).unwrap_or_default();
        let taken = taken.into_iter().map(|(bytes, _)| bytes);
        own.check_parameters(taken)?;
        let emulated = Emulated {
            library,
            symbol: own.symbol(),
            seconds,
        };
        emulated.library.contain(seconds);
        emulated.begin_run(0);
        Ok(emulated)
    }

    /// Limits the next launches.
    pub(crate) fn set_limit(&mut self, seconds: u32) {
        self.seconds = seconds;
        self.library.contain(seconds);
    }

    /// Puts a barrier behind the statement of a marked line in the next launches.
    pub(crate) fn set_extra_barrier(&self, line: Option<u32>) {
        self.library.set_extra_barrier(line);
    }

    fn fault(&self, fault: KernelFault, buffers: [&dyn Buffer; 2], shared_bytes: u32) -> Fault {
        let thread = Thread {
            block: fault.block,
            thread: fault.thread,
            after_line: (fault.line > 0).then_some(fault.line),
        };
        match fault.kind {
            FaultKind::BarrierDiverged => Fault::BarrierDiverged {
                line: fault.line,
                other_line: fault.other_line,
                arrived: fault.arrived,
                threads: fault.threads,
                block: fault.block,
            },
            FaultKind::WarpDiverged => Fault::WarpDiverged {
                line: fault.line,
                other_line: fault.other_line,
                arrived: fault.arrived,
                block: fault.block,
            },
            FaultKind::SharedOverrun => Fault::SharedOverrun {
                bytes: shared_bytes,
            },
            FaultKind::BadAccess => Fault::OutOfBounds {
                thread: Some(thread),
                bytes: distance(fault.address, buffers),
            },
            FaultKind::BadIndex => Fault::BadIndex { thread },
            FaultKind::BadDivision => Fault::BadDivision { thread },
            FaultKind::TooLong | FaultKind::Deadlock => Fault::TooLong {
                seconds: self.seconds,
                thread: Some(thread),
            },
            FaultKind::NoSuchKernel | FaultKind::BadShape => Fault::Crashed,
        }
    }
}

/// How far an address is from the nearer buffer, if it is near one: negative before it, 1 for the first
/// byte behind.
fn distance(address: usize, buffers: [&dyn Buffer; 2]) -> Option<i64> {
    const NEAR: i64 = 1 << 20;
    let distances = buffers.map(|buffer| {
        let begin = buffer.address() as i64;
        let end = begin + 4 * buffer.words() as i64;
        let address = address as i64;
        if address < begin {
            address - begin
        } else {
            address - end + 1
        }
    });
    let nearest = distances.into_iter().min_by_key(|distance| distance.abs());
    nearest.filter(|distance| distance.abs() < NEAR)
}

impl Device for Emulated {
    fn allocate(&self, words: usize, at_end: bool) -> Result<Box<dyn Buffer + '_>, Fault> {
        let (at, room) = self
            .library
            .allocate(words, at_end)
            .ok_or(Fault::TooMuchMemory {
                bytes: 4 * words as u64,
            })?;
        Ok(Box::new(Pages {
            library: &self.library,
            at,
            words,
            room,
        }))
    }

    fn launch(
        &self,
        shape: Launch,
        parameters: &mut [Argument],
        buffers: [&dyn Buffer; 2],
    ) -> Result<(), Fault> {
        let mut given: Vec<*mut c_void> = parameters
            .iter_mut()
            .map(|argument| std::ptr::from_mut(argument).cast())
            .collect();
        // SAFETY: the parameters have the sizes that the kernel declares (`check_parameters`), and the
        // buffers are as large as the lattices. What the kernel does beyond that is its author's doing;
        // it has this process for itself.
        let answer = unsafe { self.library.launch(self.symbol, shape, &mut given) };
        answer.map_err(|fault| self.fault(fault, buffers, shape.shared_bytes as u32))
    }

    fn sm_count(&self) -> u32 {
        132
    }

    fn runs(&self) -> usize {
        ORDERS.len()
    }

    fn begin_run(&self, number: usize) {
        self.library.set_order(ORDERS[number]);
    }

    fn reorders_blocks(&self, number: usize) -> bool {
        number >= THREAD_ORDERS
    }

    fn facts(&self) -> Result<Option<Facts>, Fault> {
        Ok(None)
    }
}

/// Memory between two pages that nobody may touch.
struct Pages<'a> {
    library: &'a Library,
    at: *mut u32,
    words: usize,
    /// All words between the pages, the buffer's among them.
    room: &'a mut [u32],
}

impl Pages<'_> {
    /// Where the buffer begins among the words between the pages.
    fn first(&self) -> usize {
        (self.at as usize - self.room.as_ptr() as usize) / 4
    }
}

impl Buffer for Pages<'_> {
    fn address(&self) -> u64 {
        self.at as u64
    }

    fn words(&self) -> usize {
        self.words
    }

    fn fill(&mut self, words: &[u32]) -> Result<(), Fault> {
        let first = self.first();
        self.room.fill(POISON);
        self.room[first..][..words.len()].copy_from_slice(words);
        Ok(())
    }

    fn read(&self) -> Result<Contents, Fault> {
        Ok(Contents::split(self.room, self.first(), self.words))
    }
}

impl Drop for Pages<'_> {
    fn drop(&mut self) {
        // SAFETY: it was allocated there, and nothing else refers to it.
        unsafe { self.library.free(self.room.as_mut_ptr(), self.room.len()) };
    }
}
