//! Programs for several GPUs, over the tests' own driver.

use std::time::{Duration, Instant};

use engine::cuda::{CudaEngine, Ordinals};
use engine::{DeviceId, Engine, LatticeId, Op, Program, StreamId, StreamSpec};
use life::Size;

use crate::cuda_lab::Variable;
use crate::ops::{advance, alone, program};

/// Lattices of each GPU, and generations of a program.
const LATTICES: u32 = 4;
const GENERATIONS: u32 = 64;

/// Opens so many GPUs, and a program that steps lattices on all of them, each in its stream.
fn open(gpus: u16) -> (CudaEngine, Program) {
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
    (engine, program)
}

/// How long it takes to issue the program.
fn time_to_issue(gpus: u16) -> Duration {
    let (mut engine, program) = open(gpus);
    let began = Instant::now();
    engine.submit(&program).unwrap();
    let took = began.elapsed();
    engine.synchronize().unwrap();
    took
}

#[test]
fn every_gpu_is_issued_its_work_as_fast_as_if_it_were_the_only_one() {
    let _alone = alone();
    let _kernels = Variable::set("FAKE_CUDA_DRY", "1");
    let _calls = Variable::set("FAKE_CUDA_CALL_US", "300");
    // A machine that is busy with other things may hold up either, but not every time.
    let mut seen = Vec::new();
    for _ in 0..10 {
        let [one, two, three] = [1, 2, 3].map(|gpus| time_to_issue(gpus).as_secs_f64());
        // Each GPU adds as many launches as the first has.
        let speedups = [2.0 * one / two, 3.0 * one / three];
        if speedups[0] >= 1.9 && speedups[1] >= 2.8 {
            return;
        }
        seen.push(speedups);
    }
    panic!("with two and three GPUs: {seen:.2?}");
}
