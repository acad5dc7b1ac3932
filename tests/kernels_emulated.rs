//! Every kernel, as it stands in its `.cu` file, against the definition: compiled by `g++` and run
//! thread by thread by the emulator in `tests/emulator`. No GPU is needed.
#![allow(unsafe_code)] // calls the emulator's C interface

mod driver;
mod emulator;

use emulator::{Emulator, Guarded, Numbers, parameters};
use lifestreams::engine::kernels::{self, Iteration, KERNELS, Launch};
use lifestreams::engine::{Kernel, Layout, Viewport};
use lifestreams::life::{Lattice, Rule, Size};

/// One generation by the definition, a neighbour counted as often as it is met.
fn step(before: &Lattice, rule: Rule) -> Lattice {
    let size = before.size();
    let (width, height) = (size.width(), size.height());
    let mut after = Lattice::new(size);
    for y in 0..height {
        for x in 0..width {
            let mut neighbours = 0;
            for (dx, dy) in (0..9).map(|i| (i % 3, i / 3)).filter(|at| *at != (1, 1)) {
                let near = before.get((x + width + dx - 1) % width, (y + height + dy - 1) % height);
                neighbours += u32::from(near);
            }
            after.set(x, y, rule.next(before.get(x, y), neighbours));
        }
    }
    after
}

fn ints(lattice: &Lattice) -> Vec<i32> {
    let size = lattice.size();
    let cells = (0..size.height()).flat_map(|y| (0..size.width()).map(move |x| (x, y)));
    cells.map(|(x, y)| i32::from(lattice.get(x, y))).collect()
}

fn from_ints(size: Size, cells: &[i32]) -> Lattice {
    let mut lattice = Lattice::new(size);
    for (i, cell) in cells.iter().enumerate() {
        assert!(*cell == 0 || *cell == 1, "cell {i} of {size} is {cell}");
        lattice.set(i as u32 % size.width(), i as u32 / size.width(), *cell == 1);
    }
    lattice
}

/// Steps a lattice as the host does: two buffers in turn, or one launch for all generations.
fn advance(
    emulator: &Emulator,
    kernel: &Kernel,
    block: (u32, u32),
    start: &Lattice,
    rule: Rule,
    generations: u32,
) -> Lattice {
    let size = start.size();
    let shape = kernel.launch(size, block);
    let (mut width, mut height, mut table) = (size.width(), size.height(), rule.table());
    let mut count = generations;
    match (kernel.layout, kernel.iteration) {
        (Layout::I32, Iteration::Launches) => {
            let mut buffers = [
                Guarded::new(&ints(start), -7),
                Guarded::new(&vec![-9; ints(start).len()], -7),
            ];
            for _ in 0..generations {
                let [mut from, mut to] = buffers.each_mut().map(|b| b.pointer());
                let given = parameters!(from, to, width, height, table);
                emulator.launch(kernel.symbol, shape, given);
                buffers.swap(0, 1);
            }
            buffers[1].inner();
            from_ints(size, buffers[0].inner())
        }
        (Layout::Bits, Iteration::Launches) => {
            let mut buffers = [
                Guarded::new(start.words(), 0xdead_beef),
                Guarded::new(&vec![0xffff_ffff; size.words()], 0xdead_beef),
            ];
            for _ in 0..generations {
                let [mut from, mut to] = buffers.each_mut().map(|b| b.pointer());
                let given = parameters!(from, to, width, height, table);
                emulator.launch(kernel.symbol, shape, given);
                buffers.swap(0, 1);
            }
            buffers[1].inner();
            let after = Lattice::from_words(size, buffers[0].inner().to_vec());
            assert_eq!(
                after.words(),
                buffers[0].inner(),
                "bits beyond the width are 0"
            );
            after
        }
        (Layout::I32, Iteration::InKernel) => {
            let mut a = Guarded::new(&ints(start), -7);
            let mut b = Guarded::new(&vec![-9; ints(start).len()], -7);
            let (mut a_at, mut b_at) = (a.pointer(), b.pointer());
            if kernel.name == "sync-shared" {
                let given = parameters!(a_at, width, height, table, count);
                emulator.launch(kernel.symbol, shape, given);
                return from_ints(size, a.inner());
            }
            let given = parameters!(a_at, b_at, width, height, table, count);
            emulator.launch(kernel.symbol, shape, given);
            let (even, odd) = (a.inner(), b.inner());
            from_ints(
                size,
                if generations.is_multiple_of(2) {
                    even
                } else {
                    odd
                },
            )
        }
        other => panic!("no way to launch {other:?}"),
    }
}

const WIDTHS: [u64; 16] = [1, 2, 3, 4, 5, 8, 31, 32, 33, 34, 63, 64, 65, 96, 127, 130];
const HEIGHTS: [u64; 11] = [1, 2, 3, 4, 5, 7, 8, 9, 16, 33, 70];

/// Life, its best known relatives, the extremes, and some that look random.
fn rules(numbers: &mut Numbers) -> Vec<Rule> {
    let mut rules: Vec<Rule> = [
        "B3/S23",
        "B36/S23",
        "B0/S",
        "B/S",
        "B012345678/S012345678",
        "B1/S8",
        "B8/S0",
        "B02/S7",
    ]
    .iter()
    .map(|text| text.parse().unwrap())
    .collect();
    rules.extend((0..4).map(|_| {
        let masks = numbers.next();
        Rule::from_masks(masks as u16, (masks >> 16) as u16)
    }));
    rules
}

/// Holds a kernel against the definition over every awkward size, the rules in turn.
fn agrees(name: &str, blocks: &[(u32, u32)]) {
    let emulator = Emulator::load();
    let kernel = kernels::find(name).unwrap();
    let mut numbers = Numbers(7);
    let rules = rules(&mut numbers);
    let mut turn = 0;
    for width in WIDTHS {
        for height in HEIGHTS {
            let size = Size::new(width, height).unwrap();
            for i in 0..3 {
                let rule = if i == 0 {
                    Rule::LIFE
                } else {
                    rules[turn % rules.len()]
                };
                let block = blocks[turn % blocks.len()];
                turn += 1;
                let start = numbers.lattice(size);
                let generations = i as u32 + 1;
                let mut expected = start.clone();
                for _ in 0..generations {
                    expected = step(&expected, rule);
                }
                let got = advance(&emulator, kernel, block, &start, rule, generations);
                assert_eq!(
                    got, expected,
                    "{name}: {rule} on {size}, {generations}, {block:?}"
                );
            }
        }
    }
}

const SHAPES: [(u32, u32); 7] = [
    (32, 8),
    (32, 8),
    (16, 16),
    (7, 5),
    (1, 1),
    (128, 1),
    (3, 64),
];

#[test]
fn global_agrees() {
    agrees("global", &SHAPES);
}

#[test]
fn shared_agrees() {
    agrees("shared", &SHAPES);
}

#[test]
fn sync_global_agrees() {
    agrees(
        "sync-global",
        &[(1024, 1), (1024, 1), (32, 32), (100, 1), (1, 1)],
    );
}

#[test]
fn sync_shared_agrees() {
    agrees(
        "sync-shared",
        &[(1024, 1), (1024, 1), (32, 32), (100, 1), (1, 1)],
    );
}

#[test]
fn bits_agree() {
    agrees("bits", &SHAPES);
}

#[test]
fn every_rung_is_held_against_the_definition() {
    let tested = ["global", "shared", "sync-global", "sync-shared", "bits"];
    assert_eq!(KERNELS.each_ref().map(|kernel| kernel.name), tested);
}

#[test]
fn one_block_serves_wide_and_tall_lattices() {
    let emulator = Emulator::load();
    let mut numbers = Numbers(11);
    for (width, height) in [
        (1, 2500),
        (2500, 1),
        (1025, 3),
        (3, 1025),
        (513, 9),
        (1024, 2),
    ] {
        let size = Size::new(width, height).unwrap();
        let start = numbers.lattice(size);
        let expected = step(&step(&step(&start, Rule::LIFE), Rule::LIFE), Rule::LIFE);
        for name in ["sync-global", "sync-shared"] {
            let kernel = kernels::find(name).unwrap();
            let got = advance(&emulator, kernel, (1024, 1), &start, Rule::LIFE, 3);
            assert_eq!(got, expected, "{name} on {size}");
        }
    }
}

#[test]
fn nought_generations_change_nothing() {
    let emulator = Emulator::load();
    let start = Numbers(13).lattice(Size::new(33, 9).unwrap());
    for name in ["sync-global", "sync-shared"] {
        let kernel = kernels::find(name).unwrap();
        assert_eq!(
            advance(&emulator, kernel, (1024, 1), &start, Rule::LIFE, 0),
            start
        );
    }
}

#[test]
fn rows_beyond_a_grids_y_go_on_in_z() {
    let emulator = Emulator::load();
    let start = Numbers(17).lattice(Size::new(2, 70_000).unwrap());
    let expected = step(&start, Rule::LIFE);
    for name in ["global", "shared"] {
        let kernel = kernels::find(name).unwrap();
        assert_eq!(kernel.launch(start.size(), (2, 1)).grid[2], 2);
        let got = advance(&emulator, kernel, (2, 1), &start, Rule::LIFE, 1);
        assert!(got == expected, "{name}");
    }
}

#[test]
fn layouts_convert_both_ways() {
    let emulator = Emulator::load();
    let mut numbers = Numbers(19);
    for width in WIDTHS {
        for height in HEIGHTS {
            let size = Size::new(width, height).unwrap();
            let lattice = numbers.lattice(size);
            let (mut w, mut h) = (size.width(), size.height());
            let mut words = Guarded::new(lattice.words(), 0xdead_beef);
            let mut cells = Guarded::new(&vec![-9; size.cells() as usize], -7);
            let (mut words_at, mut cells_at) = (words.pointer(), cells.pointer());
            let shape = Launch::convert(size);
            emulator.launch("unpack_i32", shape, parameters!(words_at, cells_at, w, h));
            assert_eq!(cells.inner(), ints(&lattice), "unpack {size}");
            words.0[64..64 + size.words()].fill(0x5555_5555);
            emulator.launch("pack_i32", shape, parameters!(cells_at, words_at, w, h));
            assert_eq!(words.inner(), lattice.words(), "pack {size}");
        }
    }
}

/// [`Viewport`]'s bytes by its own words.
fn reduced(lattice: &Lattice, viewport: Viewport) -> Vec<u8> {
    let (width, height) = (
        i64::from(lattice.size().width()),
        i64::from(lattice.size().height()),
    );
    let mut bytes = Vec::new();
    for j in 0..viewport.height {
        for i in 0..viewport.width {
            let (columns, rows) = (viewport.columns(i), viewport.rows(j));
            let covered = (columns.1 - columns.0) * (rows.1 - rows.0);
            let mut alive = 0;
            for y in rows.0.max(0)..rows.1.min(height) {
                for x in columns.0.max(0)..columns.1.min(width) {
                    alive += i64::from(lattice.get(x as u32, y as u32));
                }
            }
            bytes.push(((255 * alive + covered / 2) / covered) as u8);
        }
    }
    bytes
}

#[test]
fn a_view_has_the_density_of_its_cells() {
    let emulator = Emulator::load();
    let mut numbers = Numbers(23);
    let one = Viewport::ONE;
    for (width, height) in [(1, 1), (33, 9), (64, 64), (65, 130), (200, 31), (300, 301)] {
        let lattice = numbers.lattice(Size::new(width, height).unwrap());
        let steps = [
            one / 7,
            one / 2,
            one,
            one + 1,
            3 * one / 2,
            2 * one,
            33 * one - 5,
            97 * one,
        ];
        let origins = [
            (0, 0),
            (-5 * one - 3, 7 * one / 2),
            (31 * one, -one),
            (1000 * one, 0),
        ];
        for step in steps {
            for (x0, y0) in origins {
                for (px_width, px_height) in [(4, 3), (36, 5)] {
                    let view = Viewport {
                        x0,
                        y0,
                        step,
                        width: px_width,
                        height: px_height,
                    };
                    let (mut w, mut h) = (width as u32, height as u32);
                    let mut words = Guarded::new(lattice.words(), 0xdead_beef);
                    let mut pixels = Guarded::new(&vec![77; view.words() * 4], 99u8);
                    let (mut words_at, mut pixels_at) = (words.pointer(), pixels.pointer());
                    let Viewport {
                        mut x0,
                        mut y0,
                        mut step,
                        width: mut vw,
                        height: mut vh,
                    } = view;
                    let given = parameters!(words_at, pixels_at, w, h, x0, y0, step, vw, vh);
                    emulator.launch("reduce_bits", Launch::reduce(view), given);
                    assert_eq!(
                        pixels.inner(),
                        reduced(&lattice, view),
                        "{view:?} {width}x{height}"
                    );
                }
            }
        }
    }
}
