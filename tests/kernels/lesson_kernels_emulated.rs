//! The lessons' kernels and the bench's probes, as they stand in their `.cu` files, against the obvious: compiled by
//! `g++` and run thread by thread by the emulator (`crates/workshop`). No GPU is needed.

use std::thread;
use std::time::{Duration, Instant};

use crate::emulated::{Emulator, Guarded, Numbers, parameters};
use engine::Layout;
use engine::buffer_kernels::{LESSON_KERNELS, LOP3_CHAINS, LOP3_LINKS, lop3_word};
use engine::kernels::Launch;
use life::{Lattice, Rule, Size, reference};
use workshop::words_of;

/// A cell a word.
fn ints(lattice: &Lattice) -> Vec<u32> {
    words_of(lattice, Layout::I32)
}

/// So many blocks of so many threads.
fn shape(grid: u32, block: u32) -> Launch {
    Launch {
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        shared_bytes: 0,
        entry: 0,
        cooperative: false,
    }
}

const SHAPES: [(u32, u32); 5] = [(1, 64), (1, 1), (3, 32), (7, 5), (40, 33)];

#[test]
fn every_kernel_of_a_lesson_is_held_against_the_obvious() {
    let tested = "scale gray mandelbrot spin meet barrier";
    assert_eq!(LESSON_KERNELS.map(|kernel| kernel.name).join(" "), tested);
}

#[test]
fn scale_leaves_numbers_as_they_were_but_those_that_overflow() {
    let emulator = Emulator::load();
    let mut numbers = Numbers(3);
    for (grid, block) in SHAPES {
        for length in [1, 2, 63, 64, 65, 1000] {
            for times in [0, 1, 7, 8, 50] {
                let mut before: Vec<f32> = (0..length)
                    .map(|_| numbers.next() as f32 / 1e6 - 1000.0)
                    .collect();
                let last = before.len() - 1;
                before[last] = f32::MAX;
                let mut array = Guarded::new(&before, -7.0);
                let (mut at, mut length, mut times) = (array.pointer(), length, times);
                emulator.launch("scale", shape(grid, block), parameters!(at, length, times));
                if times > 0 {
                    before[last] = f32::INFINITY;
                }
                assert_eq!(array.inner(), before, "{grid} x {block}, {length}, {times}");
            }
        }
    }
}

#[test]
fn gray_weighs_red_green_and_blue() {
    let emulator = Emulator::load();
    let mut numbers = Numbers(5);
    for (grid, block) in SHAPES {
        for pixels in [4, 8, 100, 1000] {
            let colors: Vec<[u8; 4]> = (0..pixels)
                .map(|i| match i {
                    0 => [255; 4],
                    1 => [0; 4],
                    _ => (numbers.next() ^ numbers.next() << 16).to_le_bytes(),
                })
                .collect();
            let want: Vec<u8> = colors
                .iter()
                .map(|&[red, green, blue, _]| {
                    let weighed = 77 * u32::from(red) + 150 * u32::from(green);
                    ((weighed + 29 * u32::from(blue)) / 256) as u8
                })
                .collect();
            assert_eq!(want[..2], [255, 0]);
            let mut input = Guarded::new(&colors, [9; 4]);
            let mut output = Guarded::new(&vec![77u8; colors.len()], 99);
            let (mut from, mut to, mut pixels) = (input.pointer(), output.pointer(), pixels);
            emulator.launch("gray", shape(grid, block), parameters!(from, to, pixels));
            assert_eq!(output.inner(), want, "{grid} x {block}, {pixels}");
            assert_eq!(input.inner(), colors);
        }
    }
}

/// 1 if z = z² + c stays within `bound`, every operation rounded by itself.
fn stays([c_re, c_im]: [f32; 2], iterations: i32, bound: f32) -> f32 {
    let (mut re, mut im) = (0.0f32, 0.0f32);
    for _ in 0..iterations {
        let twice = 2.0 * re;
        let next = (re * re - im * im) + c_re;
        im = twice * im + c_im;
        re = next;
        if re * re + im * im > bound * bound {
            return 0.0;
        }
    }
    1.0
}

#[test]
fn mandelbrot_agrees_to_the_last_bit() {
    let emulator = Emulator::load();
    let mut numbers = Numbers(7);
    for (grid, block) in SHAPES {
        for (iterations, bound) in [(0, 2.0f32), (1, 2.0), (100, 2.0), (256, 2.0), (64, 0.75)] {
            let points: Vec<[f32; 2]> = (0..2000)
                .map(|_| [(); 2].map(|()| (numbers.next() % 4_000_001) as f32 / 1e6 - 2.0))
                .collect();
            let want: Vec<f32> = points
                .iter()
                .map(|&c| stays(c, iterations, bound))
                .collect();
            let mut c = Guarded::new(&points, [-7.0; 2]);
            let mut graph = Guarded::new(&vec![-1.0f32; points.len()], -9.0);
            let (mut from, mut to) = (c.pointer(), graph.pointer());
            let (mut length, mut iterations, mut bound) = (2000, iterations, bound);
            let given = parameters!(from, to, length, iterations, bound);
            emulator.launch("mandelbrot", shape(grid, block), given);
            assert_eq!(
                graph.inner(),
                want,
                "{iterations} iterations within {bound}"
            );
        }
    }
}

#[test]
fn a_spin_lasts_as_long_as_asked_and_counts_itself() {
    let emulator = Emulator::load();
    let mut done = Guarded::new(&[40u32], 9);
    let (mut at, mut nanoseconds) = (done.pointer(), 20_000_000u64);
    let began = Instant::now();
    emulator.launch("spin", shape(1, 1), parameters!(at, nanoseconds));
    assert!(began.elapsed() >= Duration::from_millis(20));
    nanoseconds = 10;
    emulator.launch("spin", shape(3, 33), parameters!(at, nanoseconds));
    assert_eq!(done.inner(), [42]);
}

#[test]
fn launches_meet_if_they_run_at_once_and_end_if_they_do_not() {
    let emulator = Emulator::load();
    let mut alone = Guarded::new(&[0u32, 0], 9);
    let mut entered = alone.pointer();
    let (mut met, mut wanted, mut most) = (entered.wrapping_add(1), 2u32, 5_000_000u64);
    let given = parameters!(entered, wanted, most, met);
    emulator.launch("meet", shape(1, 1), given);
    assert_eq!(alone.inner(), [1, 2], "the other one never came");

    let counter = std::sync::atomic::AtomicU32::new(0);
    let answers: Vec<u32> = thread::scope(|scope| {
        let meet = || {
            let mut answer = 0u32;
            let (mut entered, mut met) = (counter.as_ptr(), &raw mut answer);
            let (mut wanted, mut most) = (3u32, 60_000_000_000u64);
            let given = parameters!(entered, wanted, most, met);
            emulator.launch("meet", shape(1, 1), given);
            answer
        };
        let threads = [(); 3].map(|()| scope.spawn(meet));
        threads.map(|thread| thread.join().unwrap()).into()
    });
    assert_eq!(answers, [1, 1, 1]);
}

/// The cells after so many generations in one launch.
fn in_one_block(
    emulator: &Emulator,
    start: &Lattice,
    threads: u32,
    generations: i32,
    with_barrier: bool,
) -> Vec<u32> {
    let size = start.size();
    let mut a = Guarded::new(&ints(start), 7);
    let mut b = Guarded::new(&vec![9; size.cells() as usize], 7);
    let (mut a_at, mut b_at) = (a.pointer(), b.pointer());
    let (mut width, mut height) = (size.width(), size.height());
    let (mut rule, mut count) = (Rule::LIFE.table(), generations);
    let (mut barrier, mut delay) = (i32::from(with_barrier), 50u64);
    let given = parameters!(a_at, b_at, width, height, rule, count, barrier, delay);
    emulator.launch("barrier", shape(1, threads), given);
    let (even, odd) = (a.inner().to_vec(), b.inner().to_vec());
    if generations % 2 == 0 { even } else { odd }
}

#[test]
fn with_its_barrier_every_generation_is_right_and_without_it_not() {
    let emulator = Emulator::load();
    let mut numbers = Numbers(11);
    let mut wrong = 0;
    for (width, height) in [(1, 1), (2, 3), (32, 32), (33, 20), (40, 41)] {
        let start = numbers.lattice(Size::new(width, height).unwrap());
        for (threads, generations) in [(1024, 3), (256, 4), (100, 5), (64, 0)] {
            let want = ints(&reference::run(&start, Rule::LIFE, generations as u64));
            let got = in_one_block(&emulator, &start, threads, generations, true);
            assert_eq!(got, want, "{width}x{height}, {threads} threads");
            let without = in_one_block(&emulator, &start, threads, generations, false);
            wrong += without.iter().zip(&want).filter(|(a, b)| a != b).count();
        }
    }
    assert!(wrong > 0, "nobody would miss the barrier");
}

/// The probe of logical operations, written down by its definition: table 0x2d, bit by bit.
fn chained(thread: u32, seed: u32, iterations: i32) -> u32 {
    let lop3 = |words: [u32; 3]| -> u32 {
        let bits = (0..32).map(|bit| {
            let index = words
                .iter()
                .fold(0, |index, word| 2 * index + (word >> bit & 1));
            (0x2d >> index & 1) << bit
        });
        bits.sum()
    };
    let mut chains: Vec<u32> = (0..8)
        .map(|i| seed.wrapping_add(thread).wrapping_mul(2 * i + 1))
        .collect();
    for _ in 0..iterations * 16 {
        let next = (0..8).map(|i| lop3([chains[i], chains[(i + 1) % 8], chains[(i + 3) % 8]]));
        chains = next.collect();
    }
    chains.iter().fold(0, |all, word| all ^ word)
}

#[test]
fn the_lop3_probe_does_what_is_counted_of_it() {
    assert_eq!((LOP3_CHAINS, LOP3_LINKS), (8, 16));
    let emulator = Emulator::load();
    for (grid, block) in SHAPES {
        for (seed, iterations) in [(0u32, 0), (7, 1), (0xdead_beef, 3)] {
            let threads = grid * block;
            let want: Vec<u32> = (0..threads).map(|i| chained(i, seed, iterations)).collect();
            let counterparts: Vec<u32> = (0..threads)
                .map(|i| lop3_word(i, seed, iterations as u32))
                .collect();
            assert_eq!(counterparts, want, "the CPU's");
            let mut out = Guarded::new(&vec![0u32; threads as usize], 9);
            let (mut at, mut seed, mut iterations) = (out.pointer(), seed, iterations);
            let given = parameters!(at, seed, iterations);
            emulator.launch("lop3_rate", shape(grid, block), given);
            assert_eq!(out.inner(), want, "{grid} x {block}, {iterations}");
        }
    }
}

#[test]
fn the_copy_probe_copies_all_and_nothing_else() {
    let emulator = Emulator::load();
    let mut numbers = Numbers(13);
    for (grid, block) in SHAPES {
        for quads in [0u64, 1, 5, 64, 1000] {
            let words: Vec<u32> = (0..4 * 1001).map(|_| numbers.next()).collect();
            let mut from = Guarded::new(&words, 9);
            let mut to = Guarded::new(&vec![0u32; words.len()], 9);
            let (mut source, mut target, mut count) = (from.pointer(), to.pointer(), quads);
            let given = parameters!(source, target, count);
            emulator.launch("copy_rate", shape(grid, block), given);
            let (copied, rest) = to.inner().split_at(4 * quads as usize);
            assert_eq!(copied, &words[..copied.len()], "{grid} x {block}");
            assert!(rest.iter().all(|&word| word == 0));
        }
    }
}
