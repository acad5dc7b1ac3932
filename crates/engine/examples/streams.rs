//! Steps N lattices in N streams on the CPU engine and compares them with the reference.
//!
//!     cargo run --package engine --example streams
//!
//! Work is data: the program below is a list of operations, each for a stream. The same program runs on
//! CUDA, by `CudaEngine::open` in place of `CpuEngine::new`.

use std::num::NonZeroUsize;

use engine::cpu::CpuEngine;
use engine::kernels;
use engine::{
    DeviceId, Engine, LatticeId, Op, Program, Result, Slot, SlotsSpec, StreamSpec, Transfer,
};
use life::{Lattice, Rule, Size, reference, soup};

const LATTICES: usize = 4;
const GENERATIONS: u32 = 100;
const SLOT: Slot = Slot(0);

fn main() -> Result<()> {
    let size = Size::new(256, 128).expect("a size that is supported");
    let kernel = kernels::find("bits").expect("a kernel of this name");
    let soups: Vec<Lattice> = (0..LATTICES as u64)
        .map(|instance| soup(size, 0.3, 1, instance))
        .collect();

    // What the program works on: lattices, a page-locked slot on the host for each, and the streams.
    let workers = NonZeroUsize::new(LATTICES).expect("more than none");
    let mut engine = CpuEngine::new(workers);
    let device = DeviceId(0);
    engine.create_lattices(device, LATTICES, size)?;
    let slots = engine.allocate_slots(SlotsSpec {
        pinned: 1,
        picture_words: size.words(),
        ..SlotsSpec::default()
    })?;

    // Every lattice is uploaded, stepped and downloaded in its own stream.
    let mut program = Program::default();
    for (id, soup) in (0..).zip(&soups) {
        let stream = engine.create_stream(device, StreamSpec::PLAIN)?;
        let lattice = LatticeId(id);
        let of = || lattice.as_range();
        program.push(stream, Op::upload(lattice, soup.words()));
        program.push(stream, Op::advance(kernel, of(), Rule::LIFE, GENERATIONS));
        program.push(stream, Op::download(of(), SLOT, Transfer::Bits));
    }

    // The engine checks the whole program first, and returns once it is queued.
    engine.submit(&program)?;
    engine.synchronize()?;

    for (id, soup) in (0..).zip(&soups) {
        let mut words = Vec::new();
        let is_ready = slots.read(LatticeId(id), SLOT, &mut |slot| words = slot.to_vec());
        assert!(is_ready, "every download is complete");
        let stepped = Lattice::from_words(size, words);
        let expected = reference::run(soup, Rule::LIFE, GENERATIONS.into());
        assert!(stepped == expected, "lattice {id} differs");
        println!("lattice {id}: {} live cells", stepped.population());
    }
    Ok(())
}

#[test]
fn the_example_agrees_with_the_reference() {
    main().unwrap();
}
