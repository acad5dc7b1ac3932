//! Every kernel has a CPU version, and stops when it should. Results are compared with the reference in
//! the crate `conformance`.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::Layout;
use crate::kernels::KERNELS;

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
