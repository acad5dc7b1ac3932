//! Compares the CPU versions with straightforward definitions.

use super::*;
use crate::buffer_kernels::{
    ArgumentType, BARRIER, COPY_RATE, GRAY, LESSON_KERNELS, MANDELBROT, PROBE_KERNELS, SCALE, SPIN,
};
use crate::kernels::Launch;
use crate::{Argument, BufferId, BufferKernel, BufferOffset};
use life::{Rule, Size};

static NEVER: AtomicBool = AtomicBool::new(false);

fn words(words: impl IntoIterator<Item = u32>) -> Vec<AtomicU32> {
    words.into_iter().map(AtomicU32::new).collect()
}

fn read(words: &[AtomicU32]) -> Vec<u32> {
    words
        .iter()
        .map(|word| word.load(Ordering::Relaxed))
        .collect()
}

/// An argument of a call.
#[derive(Clone, Copy)]
enum Value<'a> {
    Buffer(&'a [AtomicU32]),
    Number(Argument),
}

fn run(kernel: &'static BufferKernel, block: u32, values: &[Value]) {
    let (buffer, offset) = (BufferId(0), 0);
    let arguments = values.iter().map(|value| match *value {
        Value::Buffer(_) => Argument::Buffer(BufferOffset { buffer, offset }),
        Value::Number(number) => number,
    });
    let buffers = values.iter().filter_map(|value| match *value {
        Value::Buffer(words) => Some(words),
        Value::Number(_) => None,
    });
    let call = BufferLaunch {
        kernel,
        shape: Launch::in_row(1, block),
        arguments: arguments.collect(),
    };
    super::run(&call, &buffers.collect::<Vec<_>>(), &NEVER).unwrap();
}

#[test]
fn every_kernel_of_the_table_has_a_twin() {
    let buffer = words([0; 32]);
    for kernel in LESSON_KERNELS.into_iter().chain(PROBE_KERNELS) {
        let value = |parameter: &ArgumentType| match parameter {
            ArgumentType::Buffer => Value::Buffer(&buffer),
            ArgumentType::I32 => Value::Number(Argument::I32(4)),
            ArgumentType::U32 => Value::Number(Argument::U32(1)),
            ArgumentType::U64 => Value::Number(Argument::U64(0)),
            ArgumentType::F32 => Value::Number(Argument::F32(2.0)),
        };
        let values: Vec<_> = kernel.parameters.iter().map(value).collect();
        run(kernel, 32, &values);
    }
}

#[test]
fn a_copy_ends_where_it_was_told_to() {
    let (from, to) = (words(1..=16), words([0; 16]));
    let values = [
        Value::Buffer(&from),
        Value::Buffer(&to),
        Value::Number(Argument::U64(3)),
    ];
    run(&COPY_RATE, 32, &values);
    let copied: Vec<u32> = (1..=12).chain([0; 4]).collect();
    assert_eq!(read(&to), copied);
}

#[test]
fn scale_leaves_numbers_as_they_were_and_overflow_as_it_is() {
    let mut numbers: Vec<f32> = (0..200).map(|i| (i as f32 - 77.3) * 1.7e-3).collect();
    numbers[7] = f32::MAX;
    numbers[130] = f32::MIN_POSITIVE / 8.0;
    let array = words(numbers.iter().map(|number| number.to_bits()));
    run(
        &SCALE,
        64,
        &[
            Value::Buffer(&array),
            Value::Number(Argument::I32(199)),
            Value::Number(Argument::I32(50)),
        ],
    );
    numbers[7] = f32::INFINITY;
    let after: Vec<_> = read(&array).into_iter().map(f32::from_bits).collect();
    assert_eq!(after, numbers);
}

#[test]
fn gray_is_as_defined() {
    let pixels: Vec<u32> = (0u32..64).map(|i| i.wrapping_mul(0x9e37_79b1)).collect();
    let (from, to) = (words(pixels.iter().copied()), words([0; 16]));
    run(
        &GRAY,
        128,
        &[
            Value::Buffer(&from),
            Value::Buffer(&to),
            Value::Number(Argument::I32(64)),
        ],
    );
    let bytes: Vec<u8> = read(&to).into_iter().flat_map(u32::to_le_bytes).collect();
    let expected = pixels.iter().map(|pixel| {
        let [r, g, b, _] = pixel.to_le_bytes().map(f64::from);
        ((77.0 * r + 150.0 * g + 29.0 * b) / 256.0).floor() as u8
    });
    assert!(bytes.into_iter().eq(expected));
}

#[test]
fn the_mandelbrot_set_is_where_it_should_be() {
    // In the set: 0, -1 (period 2), -2 (its tip, |z| = 2 forever), 0.25 (the cusp), i (it ends in a
    // cycle); outside: 1, 2, 0.26, -2.01.
    let numbers = [
        (0.0f32, 0.0f32, 1.0f32),
        (-1.0, 0.0, 1.0),
        (-2.0, 0.0, 1.0),
        (0.25, 0.0, 1.0),
        (0.0, 1.0, 1.0),
        (1.0, 0.0, 0.0),
        (2.0, 0.0, 0.0),
        (0.26, 0.0, 0.0),
        (-2.01, 0.0, 0.0),
    ];
    let c = words(
        numbers
            .iter()
            .flat_map(|&(re, im, _)| [re, im].map(f32::to_bits)),
    );
    let graph = words([7; 9]);
    let values = [
        Value::Buffer(&c),
        Value::Buffer(&graph),
        Value::Number(Argument::I32(9)),
        Value::Number(Argument::I32(256)),
        Value::Number(Argument::F32(2.0)),
    ];
    run(&MANDELBROT, 32, &values);
    let graph: Vec<_> = read(&graph).into_iter().map(f32::from_bits).collect();
    assert_eq!(graph, numbers.map(|(_, _, inside)| inside));
}

#[test]
fn spin_takes_its_time_and_counts() {
    let done = words([41]);
    let started = Instant::now();
    run(
        &SPIN,
        32,
        &[
            Value::Buffer(&done),
            Value::Number(Argument::U64(3_000_000)),
        ],
    );
    assert!(started.elapsed() >= Duration::from_millis(3));
    assert_eq!(read(&done), [42]);
}

/// Runs Life in one block of 1024 threads. Returns the resulting and the expected cells.
fn life(width: u64, height: u64, generations: i32, barrier: i32) -> (Vec<u32>, Vec<u32>) {
    let size = Size::new(width, height).unwrap();
    let cells = |lattice: &life::Lattice| -> Vec<u32> {
        let (width, height) = (size.width(), size.height());
        let all = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        all.map(|(x, y)| lattice.get(x, y).into()).collect()
    };
    let soup = crate::cpu::tests::soup(size, 5);
    let (a, b) = (words(cells(&soup)), words(vec![0; cells(&soup).len()]));
    let values = [
        Value::Buffer(&a),
        Value::Buffer(&b),
        Value::Number(Argument::I32(width as i32)),
        Value::Number(Argument::I32(height as i32)),
        Value::Number(Argument::U32(Rule::LIFE.table())),
        Value::Number(Argument::I32(generations)),
        Value::Number(Argument::I32(barrier)),
        Value::Number(Argument::U64(1 << 40)),
    ];
    run(&BARRIER, 1024, &values);
    let result = if generations % 2 == 0 { &a } else { &b };
    let right = crate::cpu::tests::generations_later(&soup, Rule::LIFE, generations as u32);
    (read(result), cells(&right))
}

#[test]
fn the_block_with_its_barrier_is_right() {
    for (width, height, generations) in [(32, 32, 11), (45, 70, 6), (1, 3, 3), (2, 2, 1), (5, 4, 0)]
    {
        let (is, should) = life(width, height, generations, 1);
        assert_eq!(is, should, "{width}x{height} after {generations}");
    }
}

#[test]
fn without_the_barrier_it_is_wrong_in_the_same_way_every_time() {
    let (is, should) = life(32, 32, 11, 0);
    assert_ne!(is, should);
    assert_eq!(is, life(32, 32, 11, 0).0);
    // One generation only reads the start, so it needs no barrier.
    let (is, should) = life(32, 32, 1, 0);
    assert_eq!(is, should);
}
