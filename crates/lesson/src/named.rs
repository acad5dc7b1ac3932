//! Parts that a script cannot say: contexts and events asked from the host, and shapes of blocks.

use std::time::Instant;

use engine::buffer_kernels::SCALE;
use engine::kernels::{self, Launch};
use engine::{
    Argument, BufferId, BufferLaunch, BufferLocation, BufferOffset, BufferOp, DeviceId, HostMemory,
    Op, OrderOp, Program, StreamSpec,
};
use lang::{mark, tr};
use life::Size;
use session::median;

use crate::bench::{Bench, DEVICE, ms_since};
use crate::file::{Named, Text};
use crate::lattices::BenchLattices;
use crate::{Experiment, Measured, Result, data};

/// A part that a function measures.
struct NamedRun<F>(F);

impl<F: FnMut(&mut Bench) -> Result<Measured>> Experiment for NamedRun<F> {
    fn sample(&mut self, bench: &mut Bench) -> Result<Measured> {
        (self.0)(bench)
    }
}

/// Puts a part in place.
pub(crate) fn prepare(named: Named, timed: Text, bench: &Bench) -> Result<Box<dyn Experiment>> {
    Ok(match named {
        Named::Event => Box::new(NamedRun(event)),
        Named::Context => Box::new(NamedRun(context)),
        Named::Balance => Box::new(NamedRun(balance)),
        Named::Occupancy => Box::new(NamedRun(occupancy)),
        Named::SlowestShape => Box::new(Shape::new(SLOWEST, timed, bench)?),
        Named::SecondShape => Box::new(Shape::new(SECOND, timed, bench)?),
        Named::FastestShape => Box::new(Shape::new(FASTEST, timed, bench)?),
    })
}

/// An array of floats on the host and on a device.
struct Floats {
    host: BufferId,
    device: BufferId,
    bytes: usize,
}

impl Floats {
    fn new(
        bench: &mut Bench,
        device: DeviceId,
        bytes: usize,
        memory: HostMemory,
    ) -> Result<Floats> {
        Ok(Floats {
            device: bench.buffer_in(device, bytes, BufferLocation::Device)?,
            host: bench.buffer_in(device, bytes, BufferLocation::Host(memory))?,
            bytes,
        })
    }

    /// Its copy up, its launch, which multiplies by 2 and divides by 2 so often, and its copy down.
    fn ops(&self, times: i32, [blocks, threads]: [u32; 2]) -> [Op; 3] {
        let [host, device] =
            [self.host, self.device].map(|buffer| BufferOffset { buffer, offset: 0 });
        let copy = |from, to| {
            BufferOp::Copy {
                from,
                to,
                bytes: self.bytes,
            }
            .into()
        };
        let launch = BufferLaunch {
            kernel: &SCALE,
            shape: Launch::in_row(blocks, threads),
            arguments: vec![
                Argument::Buffer(device),
                Argument::I32((self.bytes / 4) as i32),
                Argument::I32(times),
            ],
        };
        [
            copy(host, device),
            BufferOp::Launch(launch).into(),
            copy(device, host),
        ]
    }

    fn fill(&self, bench: &mut Bench, seed: u64) -> Result<()> {
        bench.access(self.host, &mut |words| data::fill_floats(words, seed))
    }

    /// Whether the array on the host is what `scale` makes of what it was filled with.
    fn is_scaled(&self, bench: &mut Bench, seed: u64) -> Result<bool> {
        let mut right = false;
        bench.access(self.host, &mut |words| right = data::is_scaled(words, seed))?;
        Ok(right)
    }
}

/// With the check of an array.
fn unchanged(mut measured: Measured, right: bool) -> Measured {
    let what = tr!("the array returned unchanged, except for the value that overflows by design");
    measured.check(what, right);
    measured
}

/// Two events around a long launch, asked while it runs and when it is over.
fn event(bench: &mut Bench) -> Result<Measured> {
    let stream = bench.stream()?;
    let array = Floats::new(bench, DEVICE, 400 << 20, HostMemory::Pageable)?;
    array.fill(bench, 1)?;
    let [up, launch, down] = array.ops(50, [1, 64]);
    // The module is loaded.
    bench.run(&Program::in_stream(
        stream,
        [up, array.ops(1, [64, 256])[1].clone()],
    ))?;
    bench.run(&Program::in_stream(
        stream,
        [array.ops(1, [64, 256])[0].clone()],
    ))?;

    let before = bench.engine()?.create_event(DEVICE)?;
    let behind = bench.engine()?.create_event(DEVICE)?;
    let ops = [
        OrderOp::Record(before).into(),
        launch,
        OrderOp::Record(behind).into(),
    ];
    let program = Program::in_stream(stream, ops).with_spans();
    let started = bench.start(&program)?;
    let fired = |bench: &mut Bench| -> Result<[bool; 2]> {
        let engine = bench.engine()?;
        Ok([engine.query(before)?, engine.query(behind)?])
    };
    let at_once = fired(bench)?;
    let ran = bench.finish(started)?;
    let at_last = fired(bench)?;

    bench.run(&Program::in_stream(stream, [down]))?;
    let right = array.is_scaled(bench, 1)?;
    let count = |fired: [bool; 2]| f64::from(fired.map(u8::from).iter().sum::<u8>());
    let measured = Measured::of_time(mark!("between the events"), ran.step_ms(1))
        .figure(mark!("events that had fired"), count(at_once), "")
        .figure(
            mark!("events that had fired after waiting"),
            count(at_last),
            "",
        )
        .time(mark!("the host was inside the call"), ran.call_ms);
    let mut measured = unchanged(measured, right);
    let all = at_last == [true; 2];
    measured.check(tr!("once waited for, it has started and ended"), all);
    let in_order = at_once != [false, true];
    measured.check(
        tr!("no event fires before the one in front of it"),
        in_order,
    );
    measured.trace = Some(bench.timed_round(&program, ran));
    Ok(measured)
}

/// A context made by hand, used, and destroyed.
fn context(bench: &mut Bench) -> Result<Measured> {
    let began = Instant::now();
    let context = bench.engine()?.create_context(DEVICE)?;
    let making = ms_since(began);
    let stream = bench.engine()?.create_stream(context, StreamSpec::PLAIN)?;
    let array = Floats::new(bench, context, 4 << 20, HostMemory::Pageable)?;
    let program = Program::in_stream(stream, array.ops(50, [1, 64]));
    let (mut right, mut uses) = (true, Vec::new());
    for seed in 1..=2 {
        array.fill(bench, seed)?;
        uses.push(bench.run(&program)?.wall_ms);
        right &= array.is_scaled(bench, seed)?;
    }
    let began = Instant::now();
    bench.close();
    let destroying = ms_since(began);
    let measured = Measured::default()
        .time(mark!("making it"), making)
        .time(mark!("its first work: copy, launch, copy"), uses[0])
        .time(mark!("the same work again"), uses[1])
        .time(mark!("destroying it, and the engine with it"), destroying);
    Ok(unchanged(measured, right))
}

/// Up, launch and down of a piece of 4 MiB, each by itself; from them, how often it is scaled in the time of a
/// copy.
fn balance(bench: &mut Bench) -> Result<Measured> {
    let stream = bench.stream()?;
    let array = Floats::new(bench, DEVICE, 4 << 20, HostMemory::Pinned)?;
    let mut right = true;
    let mut measure = |times: i32| -> Result<[f64; 3]> {
        let program = Program::in_stream(stream, array.ops(times, [64, 256])).with_spans();
        let mut lengths = [const { Vec::new() }; 3];
        for seed in 0..5 {
            array.fill(bench, seed)?;
            let ran = bench.run(&program)?;
            right &= array.is_scaled(bench, seed)?;
            let steps = lengths.iter_mut().enumerate();
            steps.for_each(|(step, lengths)| lengths.push(ran.step_ms(step)));
        }
        Ok(lengths.map(|lengths| median(lengths).expect("five runs")))
    };
    // A launch has a price of its own besides, so the first guess is not the last.
    let mut times = 20;
    let mut lengths = measure(times)?;
    for _ in 0..4 {
        let [up, work, _] = lengths;
        times = (f64::from(times) * up / work.max(1e-6))
            .round()
            .clamp(1.0, 1000.0) as i32;
        lengths = measure(times)?;
    }
    let [up, work, down] = lengths;
    bench.kept.insert("times", times.into());
    let measured = Measured::default()
        .time(mark!("4 MiB up"), up)
        .time(mark!("time per launch"), work)
        .time(mark!("4 MiB down"), down)
        .figure(mark!("times 2 and divided by 2, times"), times.into(), "");
    Ok(unchanged(measured, right))
}

/// What is kept for the later parts: the places of shapes in the kernel's table.
const FASTEST: &str = "fastest";
const SECOND: &str = "second";
const SLOWEST: &str = "slowest";

/// A lattice on an engine with nothing else on it.
fn lattice(bench: &mut Bench) -> Result<BenchLattices> {
    let stream = bench.stream()?;
    let kernel = kernels::find("global").expect("it is one of the kernels");
    let size = Size::new(1024, 1024).expect("there are lattices of this size");
    BenchLattices::new(bench, 1, size, kernel, &[stream])
}

/// Sets the lattice to its start, and says whether two generations from there are right.
fn is_right(lattice: &BenchLattices, bench: &mut Bench, block: (u32, u32)) -> Result<bool> {
    lattice.restart(bench)?;
    let advance = lattice.advance_first(2, block);
    bench.run(&Program::in_stream(lattice.streams[0], [advance]))?;
    let got = lattice.fetch(bench)?.swap_remove(0);
    Ok(got == BenchLattices::after(0, got.size(), 2))
}

/// The time of a generation in milliseconds.
fn generation(lattice: &BenchLattices, bench: &mut Bench, block: (u32, u32)) -> Result<f64> {
    let generations = bench.pick(20, 2);
    let advance = lattice.advance_first(generations, block);
    let program = Program::in_stream(lattice.streams[0], [advance]).with_spans();
    Ok(bench.run(&program)?.step_ms(0) / f64::from(generations))
}

/// How many threads a multiprocessor holds of each shape, and how long a generation takes.
fn occupancy(shared: &mut Bench) -> Result<Measured> {
    let bench = &mut shared.another();
    let lattice = lattice(bench)?;
    let blocks = lattice.kernel.blocks;
    let mut right = true;
    for &block in blocks {
        right &= is_right(&lattice, bench, block)?;
    }
    // In turn, so that all meet a clock that goes up; the first turn warms up.
    let mut times = vec![Vec::new(); blocks.len()];
    for turn in 0..6 {
        for (&block, times) in blocks.iter().zip(&mut times) {
            let ms = generation(&lattice, bench, block)?;
            if turn > 0 {
                times.push(ms);
            }
        }
    }
    let mut measured = Measured::default();
    let mut shapes = Vec::new();
    for (place, (&block, times)) in blocks.iter().zip(times).enumerate() {
        let name = format!("{}x{}", block.0, block.1);
        let ms = median(times).expect("five turns");
        measured = measured.figure(name.clone(), ms * 1e3, "µs");
        let op = lattice.advance_first(1, block);
        let mut part = 0.0;
        if let Some(found) = bench.engine()?.occupancy(DEVICE, &op)? {
            let resident = found.blocks_per_sm;
            let threads = f64::from(resident * found.block_threads);
            part = 100.0 * threads / f64::from(found.max_threads_per_sm);
            measured = measured
                .figure(
                    format!("{name}: {}", mark!("resident blocks per SM")),
                    resident.into(),
                    "",
                )
                .figure(format!("{name}: {}", mark!("occupancy")), part, "%");
        }
        shapes.push((ms, place, part));
    }
    shapes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [fastest, .., slowest] = &shapes[..] else {
        unreachable!("the kernel takes several shapes");
    };
    for (name, shape) in [(FASTEST, fastest), (SECOND, &shapes[1]), (SLOWEST, slowest)] {
        shared.kept.insert(name, shape.1 as f64);
    }
    // Where all have the same occupancy, it decides nothing.
    let is_highest = shapes.iter().all(|shape| shape.2 <= fastest.2) && slowest.2 < fastest.2;
    let mut measured = measured.figure(
        mark!("the fastest shape has the highest occupancy"),
        f64::from(u8::from(is_highest)),
        "",
    );
    let what = tr!("two generations in blocks of {} shapes", blocks.len());
    measured.check(what, right);
    Ok(measured)
}

/// A shape of the table.
struct Shape {
    bench: Bench,
    lattice: BenchLattices,
    block: (u32, u32),
    /// What the time is of.
    label: Text,
}

impl Shape {
    fn new(which: &str, label: Text, shared: &Bench) -> Result<Shape> {
        let place = shared.kept.get(which).copied().unwrap_or_default() as usize;
        let mut bench = shared.another();
        let lattice = lattice(&mut bench)?;
        Ok(Shape {
            block: lattice.kernel.blocks[place],
            bench,
            lattice,
            label,
        })
    }
}

impl Experiment for Shape {
    fn sample(&mut self, _: &mut Bench) -> Result<Measured> {
        let ms = generation(&self.lattice, &mut self.bench, self.block)?;
        Ok(Measured::of_time(self.label, ms))
    }

    fn check(&mut self) -> Result<Measured> {
        let right = is_right(&self.lattice, &mut self.bench, self.block)?;
        let mut measured = Measured::default()
            .figure("blockDim.x", self.block.0.into(), "")
            .figure("blockDim.y", self.block.1.into(), "");
        measured.check(tr!("two generations of the lattice"), right);
        Ok(measured)
    }
}
