//! The rungs on bits and on planar words, one thread, by Criterion: for comparing two builds.
//! What docs/measurements.md shows comes from `lifestreams bench`.

use std::num::NonZero;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use engine::cpu::CpuEngine;
use engine::kernels;
use life::{Rule, Size};
use model::KernelChoice;
use model::{DeviceChoice, Pace, Setup, Start, Switches, TimeSettings};
use session::worlds::{Worlds, start_lattice};

const GENERATIONS: u32 = 48;

fn stepping(criterion: &mut Criterion) {
    for side in [128, 512, 2048] {
        let mut group = criterion.benchmark_group(format!("{side}x{side}"));
        group.throughput(Throughput::Elements(side * side * u64::from(GENERATIONS)));
        for kernel in ["bits", "planar", "multistep"] {
            for rule in ["B3/S23", "B36/S23"] {
                let mut worlds = worlds(kernel, side, rule.parse().expect("a rule"));
                group.bench_function(format!("{kernel} {rule}"), |bencher| {
                    bencher.iter(|| worlds.run(GENERATIONS.into(), GENERATIONS, None));
                });
            }
        }
        group.finish();
    }
}

/// One lattice of random cells on an engine of one thread.
fn worlds(kernel: &str, side: u64, rule: Rule) -> Worlds {
    let start = Start::Soup {
        density: 0.3,
        seed: 1,
    };
    let setup = Setup {
        instances: 1,
        size: Size::new(side, side).expect("a size"),
        rule,
        start: start.clone(),
        kernel: kernels::find(kernel).expect("a kernel of the table"),
        kernel_choice: KernelChoice::Asked,
        device: DeviceChoice::Cpu,
        switches: Switches::DEFAULT,
        generations_per_round: 1,
        pace: Pace::Unthrottled,
        rounds: None,
        time: TimeSettings::DEFAULT,
    };
    let engine = Box::new(CpuEngine::new(NonZero::<usize>::MIN));
    let mut worlds = Worlds::new(engine, &setup, 0).expect("room for a lattice");
    let lattice = start_lattice(&start, setup.size, 0);
    worlds
        .upload(vec![(0, lattice, 0)])
        .and_then(|()| worlds.finish())
        .expect("an engine that works");
    worlds
}

criterion_group!(benches, stepping);
criterion_main!(benches);
