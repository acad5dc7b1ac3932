//! The lessons' kernels and the bench's probes against the obvious, on both engines: the CPU's, and those in
//! the `.cu` files, run thread by thread by the emulator under the tests' driver.

use engine::buffer_kernels::{
    BARRIER, GRAY, LESSON_KERNELS, LOP3_RATE, MANDELBROT, PROBE_KERNELS, SCALE, SPIN,
};
use engine::{Argument, BufferKernel, BufferLocation, Layout};
use life::{Rule, reference, soup};
use workshop::words_of;

use crate::ops::{Lab, PINNED, at, call, copy, on_both, on_cpu, on_cuda, program};

use Argument::{F32, I32, U32, U64};

const SHAPES: [(u32, u32); 5] = [(1, 64), (1, 1), (3, 32), (7, 5), (40, 33)];

/// What stands before and behind every buffer, where nothing may be changed.
const GUARD: [u32; 16] = [0x9999_9999; 16];

/// Launches a kernel with buffers of these words, and with these numbers; what the buffers hold then.
fn launched(
    lab: &mut Lab,
    kernel: &'static BufferKernel,
    (grid, block): (u32, u32),
    buffers: &[&[u32]],
    numbers: &[Argument],
) -> Vec<Vec<u32>> {
    let [stream] = lab.streams();
    let (mut there, mut back, mut hosts) = (Vec::new(), Vec::new(), Vec::new());
    let mut arguments = Vec::new();
    for words in buffers {
        let guarded = [&GUARD, *words, &GUARD].concat();
        let host = lab.filled(PINNED, &guarded);
        let device = lab.buffer(BufferLocation::Device, guarded.len());
        let (from, to, bytes) = (at(host, 0), at(device, 0), 4 * guarded.len());
        there.push((stream, copy(from, to, bytes)));
        back.push((stream, copy(to, from, bytes)));
        hosts.push(host);
        arguments.push(Argument::Buffer(at(device, 4 * GUARD.len())));
    }
    arguments.extend(numbers);
    there.push((stream, call(kernel, grid, block, &arguments)));
    lab.run(&program(there.into_iter().chain(back)));
    let unguarded = |host| {
        let words = lab.words(host);
        let inner = words
            .strip_prefix(&GUARD)
            .and_then(|rest| rest.strip_suffix(&GUARD));
        inner.expect("nothing is written beside a buffer").to_vec()
    };
    hosts.into_iter().map(unguarded).collect()
}

/// What a kernel leaves in its buffers, on both engines and however it is launched.
fn leaves<const N: usize>(
    kernel: &'static BufferKernel,
    shapes: &[(u32, u32)],
    buffers: &[&[u32]],
    numbers: &[Argument],
) -> [Vec<u32>; N] {
    let left = on_both(|lab| {
        let mut each = shapes
            .iter()
            .map(|&shape| launched(lab, kernel, shape, buffers, numbers));
        let first = each.next().unwrap();
        each.for_each(|other| assert!(other == first, "{}", kernel.name));
        first
    });
    left.try_into().unwrap()
}

/// Words that look random and are the same every time.
fn words(count: u32) -> Vec<u32> {
    (1..=count)
        .map(|i| i.wrapping_mul(0x9e37_79b9).rotate_left(i))
        .collect()
}

#[test]
fn every_kernel_is_held_against_the_obvious() {
    let kernels = LESSON_KERNELS.into_iter().chain(PROBE_KERNELS);
    let names: Vec<_> = kernels.map(|kernel| kernel.name).collect();
    let tested = "scale gray mandelbrot spin meet barrier lop3_rate"; // `meet` in order.rs
    assert_eq!(names.join(" "), tested);
}

#[test]
fn scale_leaves_numbers_as_they_were_but_those_that_overflow() {
    for length in [1, 2, 63, 64, 65, 1000] {
        for times in [0, 1, 7, 50] {
            let mut numbers: Vec<f32> = words(length)
                .iter()
                .map(|&word| word as f32 / 1e6 - 1000.0)
                .collect();
            numbers[0] = f32::MIN_POSITIVE / 8.0;
            let last = numbers.len() - 1;
            numbers[last] = f32::MAX;
            let bits = |numbers: &[f32]| numbers.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
            let array = bits(&numbers);
            let given = [I32(length as i32), I32(times)];
            let [after] = leaves(&SCALE, &SHAPES, &[&array], &given);
            if times > 0 {
                numbers[last] = f32::INFINITY;
            }
            assert_eq!(after, bits(&numbers), "{length}, {times}");
        }
    }
}

#[test]
fn gray_weighs_red_green_and_blue() {
    for pixels in [4, 8, 100, 1000] {
        let mut colors = words(pixels);
        colors[..2].copy_from_slice(&[u32::MAX, 0]);
        let before = vec![7; pixels as usize / 4];
        let buffers: [&[u32]; 2] = [&colors, &before];
        let [input, output] = leaves(&GRAY, &SHAPES, &buffers, &[I32(pixels as i32)]);
        let weighed = |color: &u32| {
            let [red, green, blue, _] = color.to_le_bytes().map(f64::from);
            ((77.0 * red + 150.0 * green + 29.0 * blue) / 256.0).floor() as u8
        };
        let want: Vec<u8> = colors.iter().map(weighed).collect();
        assert_eq!(want[..2], [255, 0]);
        assert!(input == colors && bytemuck::cast_slice::<u32, u8>(&output) == want);
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
    // In the set: 0, -1 (period 2), -2 (its tip, |z| = 2 forever), 0.25 (the cusp), i (it ends in a
    // cycle); outside: 1, 2, 0.26, -2.01.
    let inside = [
        [0.0, 0.0],
        [-1.0, 0.0],
        [-2.0, 0.0],
        [0.25, 0.0],
        [0.0, 1.0],
    ];
    let outside = [[1.0, 0.0], [2.0, 0.0], [0.26, 0.0], [-2.01, 0.0]];
    let random = words(2 * 1991);
    let random = random
        .chunks(2)
        .map(|c| [c[0], c[1]].map(|it| it as f32 / (1 << 30) as f32 - 2.0));
    let points: Vec<[f32; 2]> = inside.into_iter().chain(outside).chain(random).collect();
    for (iterations, bound) in [(0, 2.0f32), (1, 2.0), (256, 2.0), (64, 0.75)] {
        let want: Vec<f32> = points
            .iter()
            .map(|&c| stays(c, iterations, bound))
            .collect();
        if iterations == 256 {
            assert_eq!(want[..9], [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        }
        let (c, before) = (bytemuck::cast_slice(&points), vec![7; points.len()]);
        let numbers = [I32(points.len() as i32), I32(iterations), F32(bound)];
        let [_, graph] = leaves(&MANDELBROT, &SHAPES, &[c, &before], &numbers);
        assert!(
            bytemuck::cast_slice::<u32, f32>(&graph) == want,
            "{iterations} within {bound}"
        );
    }
}

#[test]
fn a_spin_counts_itself_once() {
    assert_eq!(leaves(&SPIN, &SHAPES, &[&[40]], &[U64(10)]), [[41]]);
}

#[test]
fn with_its_barrier_every_generation_is_right_and_without_it_not() {
    for (side, threads, generations) in [
        ("1x1", 1024, 3),
        ("1x3", 1024, 3),
        ("2x2", 64, 1),
        ("5x4", 64, 0),
        ("32x32", 1024, 11),
        ("33x20", 256, 4),
        ("45x70", 96, 6),
    ] {
        let start = soup(side.parse().unwrap(), 0.4, 11, 0);
        let size = start.size();
        let (cells, other) = (
            words_of(&start, Layout::I32),
            vec![9; size.cells() as usize],
        );
        let want = words_of(
            &reference::run(&start, Rule::LIFE, generations),
            Layout::I32,
        );
        let buffers: [&[u32]; 2] = [&cells, &other];
        let [width, height] = [size.width, size.height].map(|side| I32(side as i32));
        let (rule, count) = (U32(Rule::LIFE.table()), I32(generations as i32));
        let numbers = |barrier| [width, height, rule, count, I32(barrier), U64(50)];
        let now = generations as usize % 2;
        let after: [_; 2] = leaves(&BARRIER, &[(1, threads)], &buffers, &numbers(1));
        assert!(after[now] == want, "{side}, {threads} threads");
        // It is wrong in the same way every time; but one generation only reads the start.
        let without = |lab: &mut Lab| {
            launched(lab, &BARRIER, (1, threads), &buffers, &numbers(0)).swap_remove(now)
        };
        let on_cpu = without(&mut on_cpu(1));
        if side == "32x32" {
            assert!(on_cpu != want && on_cpu == without(&mut self::on_cpu(1)));
            assert!(on_cuda(without) != want);
        }
        assert!(generations > 1 || on_cpu == want);
    }
}

#[test]
fn the_probe_of_logical_operations_does_the_same_everywhere() {
    for shape in SHAPES {
        let before = vec![0; (shape.0 * shape.1) as usize];
        for (seed, iterations) in [(0, 0), (7, 1), (0xdead_beef, 3)] {
            let given = [U32(seed), I32(iterations)];
            let [after] = leaves(&LOP3_RATE, &[shape], &[&before], &given);
            // Table 0x2d leaves neither all nothing nor all words alike.
            assert!(
                iterations == 0 || after.iter().all(|&word| word != 0),
                "{after:x?}"
            );
        }
    }
}
