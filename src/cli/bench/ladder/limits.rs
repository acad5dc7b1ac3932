//! A device's limits, measured by kernels that do nothing else.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::cli::bench::spread;
use engine::buffer_kernels::{COPY_RATE, LOP3_PER_ITERATION, LOP3_RATE, lop3_word};
use engine::kernels::Launch;
use engine::{
    Argument, BufferId, BufferKernel, BufferLaunch, BufferOffset, BufferOp, Op, Program, StreamId,
};
use lesson::Bench;
use session::DeviceChoice;
use ui::ladder::{DeviceLimits, LeftOut};

/// Threads of a block, and blocks that fill a multiprocessor.
const BLOCK: u32 = 256;
const BLOCKS_PER_SM: u32 = 8;

/// Runs of each measurement.
const RUNS: usize = 3;

/// The limits of a device, as far as they could be measured, and why the others could not. None are
/// measured on the CPU, whose versions of these kernels are written for clarity, not for speed.
pub(in crate::cli) fn limits(device: DeviceChoice, small: bool) -> (DeviceLimits, Vec<LeftOut>) {
    let mut left_out = Vec::new();
    let mut measure = |kernel: &BufferKernel, probe: fn(&mut Probe) -> Result<f64>| {
        let rate = Probe::open(device, small).and_then(|mut opened| {
            let possible = !opened.bench.is_cpu();
            possible.then(|| probe(&mut opened)).transpose()
        });
        rate.unwrap_or_else(|error| {
            left_out.push(LeftOut {
                kernel: kernel.name.into(),
                work: None,
                why: format!("{error:#}"),
            });
            None
        })
    };
    let limits = DeviceLimits {
        lop3_per_second: measure(&LOP3_RATE, Probe::lop3),
        copied_per_second: measure(&COPY_RATE, Probe::copied),
    };
    (limits, left_out)
}

struct Probe {
    bench: Bench,
    stream: StreamId,
    /// Blocks that fill the device.
    grid: u32,
    /// How long a launch takes at least.
    least: Duration,
    small: bool,
}

impl Probe {
    fn open(device: DeviceChoice, small: bool) -> Result<Probe> {
        let mut bench = Bench::open(device)?;
        let stream = bench.stream()?;
        let grid = bench.info.sm_count * BLOCKS_PER_SM;
        let least = Duration::from_millis(if small { 1 } else { 20 });
        Ok(Probe {
            bench,
            stream,
            grid,
            least,
            small,
        })
    }

    /// Operations per second.
    fn lop3(&mut self) -> Result<f64> {
        const SEED: u32 = 7;
        let threads = self.grid * BLOCK;
        let out = self.bench.device_buffer(threads as usize * 4)?;
        let launch = |iterations: i32| {
            let arguments = vec![at(out, 0), Argument::U32(SEED), Argument::I32(iterations)];
            (&LOP3_RATE, arguments)
        };
        let mut iterations = 1i32;
        while self.seconds(launch(iterations))? < self.least.as_secs_f64() && iterations < 1 << 24 {
            iterations *= 2;
        }
        let operations = threads as f64 * f64::from(iterations) * LOP3_PER_ITERATION as f64;
        let rates = self.rates(|probe| Ok(operations / probe.seconds(launch(iterations))?))?;
        let words = self.read(out, 0, threads as usize * 4)?;
        for thread in [0, threads / 3, threads - 1] {
            if words[thread as usize] != lop3_word(thread, SEED, iterations as u32) {
                bail!("the probe of logical operations came to something else");
            }
        }
        self.bench.clear()?;
        Ok(rates)
    }

    /// Bytes per second, those read and those written.
    fn copied(&mut self) -> Result<f64> {
        let info = &self.bench.info;
        let most = if self.small { 1 << 20 } else { 1u64 << 30 };
        let bytes = most.min(info.memory.unwrap_or(most) / 8) as usize / 64 * 64;
        let piece = bytes.min(64 << 10);
        let (from, to) = (
            self.bench.device_buffer(bytes)?,
            self.bench.device_buffer(bytes)?,
        );
        // Something that shows at both ends and in the middle.
        let places = [0, (bytes - piece) / 2 / 16 * 16, bytes - piece];
        let shown = self.bench.pinned_buffer(piece)?;
        let word = |i: usize| (i as u32 + 1).wrapping_mul(0x9e37_79b9);
        self.bench.access(shown, &mut |words| {
            words.iter_mut().enumerate().for_each(|(i, w)| *w = word(i));
        })?;
        for offset in places {
            self.run(copy((shown, 0), (from, offset), piece))?;
        }
        let count = bytes as u64 / 16;
        let launch = || {
            let arguments = vec![at(from, 0), at(to, 0), Argument::U64(count)];
            (&COPY_RATE, arguments)
        };
        self.seconds(launch())?;
        let rates = self.rates(|probe| Ok(2.0 * bytes as f64 / probe.seconds(launch())?))?;
        for offset in places {
            let words = self.read(to, offset, piece)?;
            if words.iter().enumerate().any(|(i, &have)| have != word(i)) {
                bail!("the probe of copies copied something else");
            }
        }
        self.bench.clear()?;
        Ok(rates)
    }

    /// The median of several runs.
    fn rates(&mut self, mut run: impl FnMut(&mut Probe) -> Result<f64>) -> Result<f64> {
        let rates: Vec<f64> = (0..RUNS).map(|_| run(self)).collect::<Result<_>>()?;
        Ok(spread(&rates)[0])
    }

    /// How long a launch took, by events.
    fn seconds(
        &mut self,
        (kernel, arguments): (&'static BufferKernel, Vec<Argument>),
    ) -> Result<f64> {
        let launch = BufferOp::Launch(BufferLaunch {
            kernel,
            shape: Launch::in_row(self.grid, BLOCK),
            arguments,
        })
        .into();
        let ms = self.run(launch)?;
        if ms > 0.0 {
            Ok(ms / 1e3)
        } else {
            bail!(
                "internal: no time passed between the events around '{}'",
                kernel.name
            )
        }
    }

    fn read(&mut self, from: BufferId, offset: usize, bytes: usize) -> Result<Vec<u32>> {
        let host = self.bench.pinned_buffer(bytes)?;
        self.run(copy((from, offset), (host, 0), bytes))?;
        Ok(self.bench.words(host)?)
    }

    /// Runs an op. Returns its time in milliseconds.
    fn run(&mut self, op: Op) -> Result<f64> {
        let program = Program::in_stream(self.stream, [op]).with_spans();
        Ok(self.bench.run(&program)?.step_ms(0))
    }
}

fn at(buffer: BufferId, offset: usize) -> Argument {
    Argument::Buffer(BufferOffset { buffer, offset })
}

fn copy(from: (BufferId, usize), to: (BufferId, usize), bytes: usize) -> Op {
    let region = |(buffer, offset)| BufferOffset { buffer, offset };
    BufferOp::Copy {
        from: region(from),
        to: region(to),
        bytes,
    }
    .into()
}
