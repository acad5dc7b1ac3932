//! Programs for several GPUs, over the tests' own driver.

use engine::cuda::{CudaEngine, Ordinals};
use engine::{DeviceId, Engine, LatticeId, Op, StreamId, StreamSpec};
use life::Size;

use crate::ops::{Variable, advance, alone, program};

/// Lattices of each GPU, and generations of a program.
const LATTICES: u32 = 4;
const GENERATIONS: u32 = 64;

/// Opens so many GPUs, and issues a program that steps lattices on all of them, each in its stream.
fn issue(gpus: u16) {
    let _devices = Variable::set("FAKE_CUDA_DEVICES", &gpus.to_string());
    let mut engine = CudaEngine::open(Ordinals::All).unwrap();
    assert_eq!(engine.devices().len(), usize::from(gpus));
    let size = Size::new(32, 8).unwrap();
    let mut steps: Vec<(StreamId, Op)> = Vec::new();
    for gpu in 0..gpus {
        let device = DeviceId(gpu);
        engine
            .create_lattices(device, LATTICES as usize, size)
            .unwrap();
        for i in 0..LATTICES {
            let stream = engine.create_stream(device, StreamSpec::PLAIN).unwrap();
            let lattice = LatticeId(u32::from(gpu) * LATTICES + i);
            steps.push((stream, advance("bits", lattice.as_range(), GENERATIONS)));
        }
    }
    let program = program(steps);
    engine.load(&program).unwrap();
    let _meeting = Variable::set("FAKE_CUDA_MEET", &gpus.to_string());
    engine.submit(&program).unwrap();
    engine.synchronize().unwrap();
}

#[test]
fn no_gpu_waits_until_another_is_issued_its_work() {
    let _alone = alone();
    let _kernels = Variable::set("FAKE_CUDA_DRY", "1");
    // Each of a GPU's launches waits for those of the others.
    issue(3);
}
