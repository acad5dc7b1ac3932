//! Compares every CPU kernel with the reference, on tori of awkward sizes and with unusual rules.

use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::*;
use crate::Layout;
use crate::cpu::tests::{AWKWARD, generations_later, soup};
use crate::cpu::vector::{LANES, Lanes};
use crate::kernels::{KERNELS, SupportedSizes};
use life::Lattice;

/// Steps with a CPU kernel. Also returns whether the result is in the other buffer.
fn step_by(kernel: &Kernel, lattice: &Lattice, rule: Rule, generations: u32) -> (Lattice, bool) {
    let size = lattice.size();
    let stop = AtomicBool::new(false);
    let worker_pool = WorkerPool::new(2);
    let launch = Launch {
        size,
        rule,
        generations,
        stop: &stop,
        worker_pool: &worker_pool,
    };
    let cell = |i: u64| {
        lattice.get(
            (i % size.width() as u64) as u32,
            (i / size.width() as u64) as u32,
        )
    };
    let cells: Vec<i32> = (0..size.cells()).map(|i| cell(i).into()).collect();
    let start = cells.as_ptr();
    let mut cells = Pair {
        next: vec![-1; cells.len()],
        now: cells,
    };
    match cpu_kernel(kernel).expect(kernel.name) {
        CpuKernel::Cells(step) => {
            for _ in launch.generations() {
                step(size, rule, &cells.now, &mut cells.next);
                cells.flip();
            }
        }
        CpuKernel::CellsInKernel(run) => run(&launch, &mut cells),
        CpuKernel::Bits(step) => {
            let rows = || BitRows::new(size, "a test").unwrap();
            let mut bits = Pair {
                now: rows(),
                next: rows(),
            };
            let start = bits.now.words().as_ptr();
            bits.now.load(lattice.words());
            for _ in launch.generations() {
                step(rule, &bits.now, &mut bits.next);
                bits.flip();
            }
            let mut words = vec![u32::MAX; size.words()];
            bits.now.store(0, &mut words);
            let after = Lattice::from_words(size, words.clone());
            assert_eq!(after.words(), words, "bits beyond the width are 0");
            return (after, start != bits.now.words().as_ptr());
        }
        CpuKernel::Planar(run) => {
            let rows = || PlanarRows::new(size, "a test").unwrap();
            let mut planar = Pair {
                now: rows(),
                next: rows(),
            };
            let across = size.words_per_row();
            planar.next.vectors_mut().fill(Lanes([u32::MAX; LANES]));
            planar
                .now
                .load(|y| &lattice.words()[y * across..][..across]);
            run(&launch, &mut planar);
            let mut words = vec![u32::MAX; size.words()];
            planar
                .now
                .store(|y, row| words[y * across..][..across].copy_from_slice(row));
            // The caller cannot see which of the two buffers holds the cells.
            return (
                Lattice::from_words(size, words),
                kernel.swaps_buffers(generations),
            );
        }
    }
    let mut after = Lattice::new(size);
    for (i, &cell) in cells.now.iter().enumerate() {
        assert!(cell == 0 || cell == 1, "{cell}");
        let (x, y) = (i % size.width() as usize, i / size.width() as usize);
        after.set(x as u32, y as u32, cell == 1);
    }
    (after, start != cells.now.as_ptr())
}

fn agree(kernel: &Kernel, lattice: &Lattice, rule: Rule, generations: u32) {
    let (after, flipped) = step_by(kernel, lattice, rule, generations);
    let expected = generations_later(lattice, rule, generations);
    let what = format!(
        "{} {rule} {} after {generations}",
        kernel.name,
        lattice.size()
    );
    assert_eq!(after, expected, "{what}");
    assert_eq!(
        flipped,
        kernel.swaps_buffers(generations),
        "{what}: the buffer"
    );
}

#[test]
fn awkward_tori_are_exact() {
    let rules = [
        "B3/S23",
        "B36/S23",
        "B0/S",
        "B0123478/S34678",
        "B1357/S02468",
        "B2/S8",
    ];
    for (i, &(width, height)) in AWKWARD.iter().enumerate() {
        let size = Size::new(width, height).unwrap();
        for kernel in KERNELS
            .iter()
            .filter(|kernel| kernel.validate_size(size).is_ok())
        {
            for (j, rule) in rules.iter().enumerate() {
                let seed = (i * rules.len() + j) as u64;
                agree(
                    kernel,
                    &soup(size, seed),
                    rule.parse().unwrap(),
                    1 + seed as u32 % 4,
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_tori_and_rules_agree(
        width in 1u64..180, height in 1u64..20, seed: u64,
        birth in 0u16..512, survival in 0u16..512, generations in 0u32..6,
    ) {
        let lattice = soup(Size::new(width, height).unwrap(), seed);
        for kernel in KERNELS.iter().filter(|kernel| kernel.validate_size(lattice.size()).is_ok()) {
            agree(kernel, &lattice, Rule::from_masks(birth, survival), generations);
            agree(kernel, &lattice, Rule::LIFE, generations);
        }
    }
    #[test]
    fn planar_words_agree_on_random_tori(
        width in 0u64..400, height in 1u64..80, seed: u64,
        birth in 0u16..512, survival in 0u16..512, generations in 0u32..14,
    ) {
        // `cooperative`, whose lattices are large, uses the CPU version of `resident`.
        let planar = |kernel: &&Kernel| kernel.layout == Layout::Planar && !kernel.cooperative;
        for kernel in KERNELS.iter().filter(planar) {
            let size = match kernel.sides {
                SupportedSizes::WidthsFrom(cells) => Size::new(u64::from(cells) + width, height),
                SupportedSizes::NearSquares(most) => {
                    let step = (width % u64::from(most / 32)).max(1);
                    let [width, height] = [seed, height].map(|less| 32 * (step + 1) - less % 32);
                    Size::new(width, height)
                }
                SupportedSizes::Any | SupportedSizes::Between { .. } => unreachable!("filtered"),
            };
            let lattice = soup(size.unwrap(), seed);
            agree(kernel, &lattice, Rule::from_masks(birth, survival), generations);
            agree(kernel, &lattice, Rule::LIFE, generations);
        }
    }
}

#[test]
fn every_kernel_has_a_twin_of_its_layout() {
    for kernel in &KERNELS {
        let layout = match cpu_kernel(kernel) {
            Some(CpuKernel::Bits(_)) => Layout::Bits,
            Some(CpuKernel::Cells(_) | CpuKernel::CellsInKernel(_)) => Layout::I32,
            Some(CpuKernel::Planar(_)) => Layout::Planar,
            None => panic!("{} has no CPU version", kernel.name),
        };
        assert_eq!(layout, kernel.layout, "{}", kernel.name);
    }
}

#[test]
fn a_launch_is_cut_short_when_the_engine_ends() {
    let (size, stop) = (Size::new(3, 3).unwrap(), AtomicBool::new(true));
    let launch = Launch {
        size,
        rule: Rule::LIFE,
        generations: u32::MAX,
        stop: &stop,
        worker_pool: &WorkerPool::new(1),
    };
    assert_eq!(launch.generations().count(), 0);
}

/// Measurements, not tests: `cargo test --release -p engine throughput -- --ignored --nocapture`.
fn cells_per_nanosecond(size: Size, mut generation: impl FnMut()) -> f64 {
    let started = std::time::Instant::now();
    let mut generations = 0;
    while started.elapsed().as_millis() < 300 {
        (0..20).for_each(|_| generation());
        generations += 20;
    }
    (generations * size.cells()) as f64 / started.elapsed().as_nanos() as f64
}

#[test]
#[ignore = "a measurement"]
fn throughput_of_bits() {
    for rule in [Rule::LIFE, "B36/S23".parse().unwrap()] {
        for side in [32, 128, 512, 2048, 8192] {
            let size = Size::new(side, side).unwrap();
            let rows = || BitRows::new(size, "a measurement").unwrap();
            let mut bits = Pair {
                now: rows(),
                next: rows(),
            };
            bits.now.load(soup(size, side).words());
            let rate = cells_per_nanosecond(size, || {
                bits::step(rule, &bits.now, &mut bits.next);
                bits.flip();
            });
            println!(
                "bits {rule} {size} {}: {rate:.1} Gcell/s",
                bits::instruction_set()
            );
        }
    }
}

#[test]
#[ignore = "a measurement"]
fn throughput_of_numbers() {
    let size = Size::new(128, 128).unwrap();
    let stop = AtomicBool::new(false);
    let launch = Launch {
        size,
        rule: Rule::LIFE,
        generations: 1,
        stop: &stop,
        worker_pool: &WorkerPool::new(1),
    };
    for kernel in &KERNELS {
        let zeros = || vec![0; size.cells() as usize];
        let mut cells = Pair {
            now: zeros(),
            next: zeros(),
        };
        let rate = match cpu_kernel(kernel) {
            Some(CpuKernel::Cells(step)) => cells_per_nanosecond(size, || {
                step(size, launch.rule, &cells.now, &mut cells.next);
            }),
            Some(CpuKernel::CellsInKernel(run)) => {
                cells_per_nanosecond(size, || run(&launch, &mut cells))
            }
            _ => continue,
        };
        println!("{} {size}: {rate:.2} Gcell/s", kernel.name);
    }
}
