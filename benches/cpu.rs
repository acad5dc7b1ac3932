//! The rungs on bits and on planar words, one thread, by Criterion: for comparing two builds.
//! What docs/measurements.md shows comes from `lifestreams bench`.

use std::num::NonZero;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use engine::cpu::CpuEngine;
use engine::kernels;
use life::{Rule, Size};
use model::{DeviceChoice, Setup};
use simulation::instances::{Instances, starts};

const GENERATIONS: u32 = 48;

fn stepping(criterion: &mut Criterion) {
    for side in [128, 512, 2048] {
        let mut group = criterion.benchmark_group(format!("{side}x{side}"));
        group.throughput(Throughput::Elements(side * side * u64::from(GENERATIONS)));
        for kernel in ["bits", "planar", "multistep"] {
            for rule in ["B3/S23", "B36/S23"] {
                let mut instances = open_instances(kernel, side, rule.parse().expect("a rule"));
                group.bench_function(format!("{kernel} {rule}"), |bencher| {
                    bencher.iter(|| instances.run(GENERATIONS.into(), GENERATIONS, None));
                });
            }
        }
        group.finish();
    }
}

/// One lattice of random cells on an engine of one thread.
fn open_instances(kernel: &str, side: u64, rule: Rule) -> Instances {
    let size = Size::new(side, side).expect("a size");
    let kernel = kernels::find(kernel).expect("a kernel of the table");
    let setup = Setup {
        rule,
        ..Setup::new(1, size, kernel, DeviceChoice::Cpu)
    };
    let engine = Box::new(CpuEngine::new(NonZero::<usize>::MIN));
    let mut instances = Instances::new(engine, &setup, 0).expect("room for a lattice");
    let starts = starts(&setup, 0..1).expect("room for a lattice");
    instances
        .set_lattices(starts)
        .and_then(|()| instances.finish())
        .expect("an engine that works");
    instances
}

criterion_group!(benches, stepping);
criterion_main!(benches);
