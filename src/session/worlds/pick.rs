//! `--kernel auto`: the candidates are timed once, on the lattices themselves, and the fastest is
//! taken.

use std::time::{Duration, Instant};

use super::{DEPTH, Worlds};
use crate::engine::kernels::KERNELS;
use crate::engine::{EngineError, Kernel, Layout, Result};

/// How a kernel came to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum KernelChoice {
    /// Somebody named it.
    #[default]
    Asked,
    /// It is to be picked at the start; until then it is one that takes every lattice.
    Open,
    /// It was the fastest of so many that were timed on this device.
    Timed(usize),
}

/// A kernel that was timed.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// Which.
    pub kernel: &'static Kernel,
    /// Rounds a second, all instances and what they download included.
    pub rounds_per_second: f64,
}

/// How long a kernel is timed at least.
const LEAST: Duration = Duration::from_millis(20);

/// The most generations of a round that is timed: one of a slow kernel's is to be over soon.
const MOST_GENERATIONS: u32 = 64;

/// The most bytes that an `i32` a cell may take for such a kernel to be timed: beyond, bits are
/// faster on every device, and the memory is better left alone.
const MOST_CELL_BYTES: u64 = 64 << 20;

impl Worlds {
    /// Times rounds of so many generations with every kernel that can be, pictures included if
    /// there are any; the fastest comes first, and is the kernel then. The lattices go on
    /// meanwhile: upload them again.
    pub fn time_kernels(&mut self, generations: u32) -> Result<Vec<Timed>> {
        let generations = generations.min(MOST_GENERATIONS);
        let mut timed = Vec::new();
        // The upper rungs first: what is far slower than they are gets no second round.
        for kernel in KERNELS.iter().rev() {
            if !self.can_be(kernel) {
                continue;
            }
            match self.set_kernel(kernel) {
                Err(EngineError::OutOfMemory { .. }) => continue,
                set => set?,
            }
            let rounds_per_second = self.time_rounds(generations)?;
            timed.push(Timed {
                kernel,
                rounds_per_second,
            });
        }
        timed.sort_by(|a, b| b.rounds_per_second.total_cmp(&a.rounds_per_second));
        if let Some(best) = timed.first() {
            self.set_kernel(best.kernel)?;
        }
        Ok(timed)
    }

    /// Whether a kernel takes these lattices, these devices and these switches.
    fn can_be(&self, kernel: &Kernel) -> bool {
        let cells = 4 * self.size.cells().saturating_mul(self.instances() as u64);
        let too_much = kernel.layout == Layout::I32 && cells > MOST_CELL_BYTES;
        let refused = self.plan().switches.refusal(kernel).is_some();
        !too_much && !refused && self.admit(kernel).is_ok()
    }

    /// Rounds a second, behind one that loads what is needed.
    fn time_rounds(&mut self, generations: u32) -> Result<f64> {
        self.rounds_of(1, generations)?;
        let mut rounds = 1;
        loop {
            let began = Instant::now();
            self.rounds_of(rounds, generations)?;
            let took = began.elapsed();
            if took >= LEAST {
                return Ok(rounds as f64 / took.as_secs_f64());
            }
            let more = LEAST.as_secs_f64() / took.as_secs_f64().max(1e-6);
            rounds = (rounds as f64 * more.clamp(2.0, 100.0)).ceil() as u64;
        }
    }

    fn rounds_of(&mut self, rounds: u64, generations: u32) -> Result<()> {
        let mut issued = 0;
        while issued < rounds {
            if self.issue_round(generations, false, |_| false)? {
                issued += 1;
            }
            self.poll(|_| {})?;
            if self.depth() >= DEPTH {
                self.wait(Duration::from_millis(1));
            }
        }
        self.finish()
    }
}
