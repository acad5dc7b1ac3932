//! CPU versions of the lesson kernels and the benchmark probes.

use crate::cpu::vector;
use crate::error::bail;
use crate::{Argument, BufferLaunch, Result, buffer_kernels};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Runs the kernel of a validated call. `buffers` are its buffer arguments, each the words from the
/// address to the buffer's end. Returns early once `stop` is set.
///
/// # Errors
///
/// For a kernel without a CPU version.
pub(in crate::cpu) fn run(
    call: &BufferLaunch,
    buffers: &[&[AtomicU32]],
    stop: &AtomicBool,
) -> Result<()> {
    let name = call.kernel.name;
    use Argument::{F32, I32, U32, U64};
    match (name, call.arguments.as_slice(), buffers) {
        ("scale", &[_, I32(length), I32(times)], [array]) => {
            scale(first(array, length), repetitions(times), stop);
        }
        ("gray", &[.., I32(length)], [pixels, gray]) => {
            to_gray(first(pixels, length), first(gray, length / 4));
        }
        ("mandelbrot", &[.., I32(length), I32(iterations), F32(bound)], [numbers, graph]) => {
            let (numbers, graph) = (first(numbers, 2 * length), first(graph, length));
            mandelbrot(numbers, graph, repetitions(iterations), bound, stop);
        }
        ("spin", &[_, U64(nanoseconds)], [done]) => {
            let (length, nap) = (Duration::from_nanos(nanoseconds), Duration::from_millis(10));
            until(Instant::now(), length, nap, stop, || false);
            done[0].fetch_add(1, Ordering::Relaxed);
        }
        ("meet", &[_, U32(wanted), U64(timeout), _], [entered, met]) => {
            let (since, timeout) = (Instant::now(), Duration::from_nanos(timeout));
            entered[0].fetch_add(1, Ordering::Relaxed);
            let all = || entered[0].load(Ordering::Relaxed) >= wanted;
            until(since, timeout, Duration::from_micros(50), stop, all);
            met[0].store(if all() { 1 } else { 2 }, Ordering::Relaxed);
        }
        (
            "barrier",
            &[
                _,
                _,
                I32(width),
                I32(height),
                U32(rule),
                I32(generations),
                I32(barrier),
                U64(_),
            ],
            [a, b],
        ) => {
            let (width, height) = (width as usize, height as usize);
            let block = Block {
                a: &a[..width * height],
                b: &b[..width * height],
                width,
                height,
                rule,
                generations: repetitions(generations),
                barrier: barrier != 0,
                warps: call.shape.block[0] as usize / 32,
            };
            block.run(stop);
        }
        ("lop3_rate", &[_, U32(seed), I32(iterations)], [out]) => {
            let threads = call.shape.grid[0] * call.shape.block[0];
            for (thread, word) in (0..threads).zip(*out) {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let value = buffer_kernels::lop3_word(thread, seed, repetitions(iterations));
                word.store(value, Ordering::Relaxed);
            }
        }
        _ => bail!("kernel {name} has no CPU version"),
    }
    Ok(())
}

/// The number of iterations of a loop up to `number`.
fn repetitions(number: i32) -> u32 {
    number.max(0) as u32
}

/// The first `count` words.
fn first(words: &[AtomicU32], count: i32) -> &[AtomicU32] {
    &words[..count as usize]
}

/// Sleeps until `done` returns true, for at most `timeout` from `since` on, checking after every
/// `nap`. For the last 200 µs it yields instead, since a sleep takes longer than requested.
fn until(
    since: Instant,
    timeout: Duration,
    nap: Duration,
    stop: &AtomicBool,
    done: impl Fn() -> bool,
) {
    const AWAKE: Duration = Duration::from_micros(200);
    while !done() && !stop.load(Ordering::Relaxed) {
        match timeout.checked_sub(since.elapsed()) {
            None | Some(Duration::ZERO) => return,
            Some(left) if left > AWAKE => thread::sleep(nap.min(left - AWAKE)),
            Some(_) => thread::yield_now(),
        }
    }
}

fn to_gray(pixels: &[AtomicU32], gray: &[AtomicU32]) {
    for (word, pixels) in gray.iter().zip(pixels.chunks_exact(4)) {
        let byte = |pixel: &AtomicU32| {
            let [r, g, b, _] = pixel.load(Ordering::Relaxed).to_le_bytes().map(u32::from);
            ((77 * r + 150 * g + 29 * b) >> 8) as u8
        };
        let bytes = std::array::from_fn(|i| byte(&pixels[i]));
        word.store(u32::from_le_bytes(bytes), Ordering::Relaxed);
    }
}

fn mandelbrot(
    numbers: &[AtomicU32],
    graph: &[AtomicU32],
    iterations: u32,
    bound: f32,
    stop: &AtomicBool,
) {
    let float = |word: &AtomicU32| f32::from_bits(word.load(Ordering::Relaxed));
    for (out, c) in graph.iter().zip(numbers.chunks_exact(2)) {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let inside = stays(float(&c[0]), float(&c[1]), iterations, bound);
        let value: f32 = if inside { 1.0 } else { 0.0 };
        out.store(value.to_bits(), Ordering::Relaxed);
    }
}

/// Whether z = z² + c, starting from 0, stays within the bound. Operations round separately and in
/// the GPU's order, where fused multiply-add is disabled for this kernel, so both give the same
/// picture.
fn stays(cr: f32, ci: f32, iterations: u32, bound: f32) -> bool {
    let (mut zr, mut zi) = (0.0f32, 0.0f32);
    for _ in 0..iterations {
        let (zr2, zi2) = (zr * zr, zi * zi);
        let re = (zr2 - zi2) + cr;
        let im = (2.0 * zr) * zi + ci;
        (zr, zi) = (re, im);
        if zr * zr + zi * zi > bound * bound {
            return false;
        }
    }
    true
}

// `barrier`: Life in one block, with or without the barrier between generations.
// On a GPU thread t has the cells t, t + threads, …. Here a warp has every `warps`-th row as a
// whole, which shows the same fault. With the barrier, no warp starts a generation before all have
// finished the previous one. Without it, and with odd warps delayed, even warps run far ahead on a
// GPU by an unpredictable amount. Here the fault is deterministic: each even warp runs all its
// generations, then each odd one. They read their neighbours' rows as of the first generation or the
// last. This order replaces the delay.

/// One launch of the kernel.
struct Block<'a> {
    /// The two buffers, which alternate as source and destination.
    a: &'a [AtomicU32],
    b: &'a [AtomicU32],
    width: usize,
    height: usize,
    /// The rule's table, as from [`Rule::table`](life::Rule::table).
    rule: u32,
    generations: u32,
    barrier: bool,
    /// Warps in the block.
    warps: usize,
}

impl Block<'_> {
    fn run(&self, stop: &AtomicBool) {
        let generations = || (0..self.generations).take_while(|_| !stop.load(Ordering::Relaxed));
        if self.barrier {
            for generation in generations() {
                (0..self.warps).for_each(|warp| self.step(generation, warp));
            }
        } else {
            let (even, odd) = ((0..self.warps).step_by(2), (1..self.warps).step_by(2));
            for warp in even.chain(odd) {
                generations().for_each(|generation| self.step(generation, warp));
            }
        }
    }

    /// Steps a warp's rows by one generation.
    fn step(&self, generation: u32, warp: usize) {
        let (from, to) = match generation % 2 {
            0 => (self.a, self.b),
            _ => (self.b, self.a),
        };
        let (width, height) = (self.width, self.height);
        for y in (warp..height).step_by(self.warps) {
            let rows = rows(from, width, height, y);
            for x in 0..width {
                let next = next_cell(rows, self.rule, x);
                to[y * width + x].store(next, Ordering::Relaxed);
            }
        }
    }
}

/// Row `y` of a lattice between its neighbours.
fn rows(cells: &[AtomicU32], width: usize, height: usize, y: usize) -> [&[AtomicU32]; 3] {
    let rows = [(y + height - 1) % height, y, (y + 1) % height];
    rows.map(|y| &cells[y * width..][..width])
}

/// The next state of cell `x` of the middle row.
fn next_cell(rows: [&[AtomicU32]; 3], rule: u32, x: usize) -> u32 {
    let width = rows[1].len();
    let columns = [(x + width - 1) % width, x, (x + 1) % width];
    let cell = |row: usize, column: usize| rows[row][columns[column]].load(Ordering::Relaxed) & 1;
    let around = (0..3).map(|row| cell(row, 0) + cell(row, 1) + cell(row, 2));
    let (alive, all) = (cell(1, 1), around.sum::<u32>());
    rule >> (9 * alive + all - alive) & 1
}

// `scale`: artificial work for the lessons on streams. GPU threads share the array; here it is
// processed sequentially, in pieces that fit registers.

/// Numbers per piece.
const PIECE: usize = 64;

/// Maximum repetitions between two checks of the stop flag.
const MAX_PER_CHECK: u32 = 1 << 16;

/// Multiplies every number by 2 and divides it by 2, `times` times.
fn scale(array: &[AtomicU32], times: u32, stop: &AtomicBool) {
    for words in array.chunks(PIECE) {
        let mut piece = [0.0; PIECE];
        for (number, word) in piece.iter_mut().zip(words) {
            *number = f32::from_bits(word.load(Ordering::Relaxed));
        }
        let mut left = times;
        while left > 0 && !stop.load(Ordering::Relaxed) {
            work(&mut piece, left.min(MAX_PER_CHECK));
            left -= left.min(MAX_PER_CHECK);
        }
        for (number, word) in piece.into_iter().zip(words) {
            word.store(number.to_bits(), Ordering::Relaxed);
        }
    }
}

// The factors are hidden from the compiler, which could otherwise remove the work. Multiplying by
// 0.5 equals dividing by 2, bit by bit.
fn work(piece: &mut [f32; PIECE], times: u32) {
    vector::vectorize(
        #[inline(always)]
        || {
            let (double, half) = (black_box(2.0f32), black_box(0.5f32));
            let mut numbers = *piece;
            for _ in 0..times {
                for number in &mut numbers {
                    *number *= double;
                    *number *= half;
                }
            }
            *piece = numbers;
        },
    );
}
