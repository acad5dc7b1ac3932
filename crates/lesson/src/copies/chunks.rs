//! One large array in pieces, so that both directions of the bus and the device work at once.

use crate::bench::{call, copy_part, inside};
use crate::{
    Bench, Choices, Closing, Compare, Experiment, Group, Lesson, Measured, Missing, Origin, Part,
    PartWork, Result, data,
};
use engine::buffer_kernels::SCALE;
use engine::{Argument, BufferId, BufferOffset, BufferOp, HostMemory, Op, Program, StreamKind};
use lang::{mark, tr};

/// Pieces of the array.
pub(super) const CHUNKS: usize = 24;
/// Bytes of one.
const CHUNK: usize = 4 << 20;
const BYTES: usize = CHUNKS * CHUNK;

pub(crate) const IN_CHUNKS: Lesson = Lesson {
    name: "chunks",
    group: Group::Copies,
    title: "one large array in three streams",
    source: Origin::BestPractices("Asynchronous and Overlapping Transfers with Computation"),
    intro: "96 MiB go up, are worked on, and come down. The work is chosen so that a launch \
            takes about as long as a copy. First in one piece; then in 24 pieces that go round \
            three streams.",
    question: "Upload, launch and download take about the same time: how much faster are three streams than one?",
    choices: Choices::Factors {
        comparison: 0,
        factors: &[1.0, 2.0, 3.0, 24.0],
    },
    parts: &[
        Part {
            title: "a piece alone",
            code: "cudaMemcpyAsync(array, host, 4 << 20,
               cudaMemcpyHostToDevice, stream);
scale<<<64, 256, 0, stream>>>(array);
cudaMemcpyAsync(host, array, 4 << 20,
               cudaMemcpyDeviceToHost, stream);
cudaStreamSynchronize(stream);",
            work: PartWork::Once(alone),
        },
        Part {
            title: "the array in one piece",
            code: "cudaMemcpyAsync(array, host, 96 << 20,
               cudaMemcpyHostToDevice, stream);
scale<<<64, 256, 0, stream>>>(array);
cudaMemcpyAsync(host, array, 96 << 20,
               cudaMemcpyDeviceToHost, stream);
cudaStreamSynchronize(stream);",
            work: PartWork::Program(|bench| Pieces::prepare(bench, 1, 1)),
        },
        Part {
            title: "24 pieces in one stream",
            code: "for (int i = 0; i < 24; i++) {
    size_t at = i * CHUNK;
    cudaMemcpyAsync(array + at, host + at, bytes,
               cudaMemcpyHostToDevice, stream);
    scale<<<64, 256, 0, stream>>>(array + at);
    cudaMemcpyAsync(host + at, array + at, bytes,
               cudaMemcpyDeviceToHost, stream);
}
cudaDeviceSynchronize();",
            work: PartWork::Program(|bench| Pieces::prepare(bench, CHUNKS, 1)),
        },
        Part {
            title: "24 pieces in three streams",
            code: "for (int i = 0; i < 24; i++) {
    size_t at = i * CHUNK;
    cudaMemcpyAsync(array + at, host + at, bytes,
               cudaMemcpyHostToDevice, stream[i % 3]);
    scale<<<64, 256, 0, stream[i % 3]>>>(array + at);
    cudaMemcpyAsync(host + at, array + at, bytes,
               cudaMemcpyDeviceToHost, stream[i % 3]);
}
cudaDeviceSynchronize();",
            work: PartWork::Program(|bench| Pieces::prepare(bench, CHUNKS, 3)),
        },
    ],
    compared: &[
        Compare {
            slow: 2,
            fast: 3,
            label: "24 pieces in three streams instead of one",
            faster: "While one piece goes up, another is worked on and a third comes down: three \
                     resources, so three times is the most there can be, and the longest of the \
                     three is the bound.",
            none: "Here copies and launches were not done at the same time.",
            slower: "More streams were only more to manage here.",
        },
        Compare {
            slow: 1,
            fast: 2,
            label: "24 pieces in one stream instead of one piece",
            faster: "So smaller pieces helped here even without overlap.",
            none: "Several streams are needed: pieces alone give no gain.",
            slower: "So it takes several streams: pieces alone only take more calls.",
        },
    ],
    missing_on_cpu: Some(Missing {
        what: "copy engines (copies and launches share its threads)",
        on_gpu: "A GPU would show copies in both directions and launches at the same time: three \
                 resources, so at most 3× faster. On the CPU engine all three are work for \
                 the same cores.",
        on_cpu: None,
    }),
    closing: Closing::Text(""),
};

/// What is kept for the later parts: how often the kernel multiplies and divides.
const TIMES: &str = "times";

/// A launch over some bytes of the array.
fn launch(array: BufferId, bytes: std::ops::Range<usize>, times: i32) -> Op {
    let numbers = [
        inside(array, bytes.start),
        Argument::I32((bytes.len() / 4) as i32),
        Argument::I32(times),
    ];
    // A part of the device: the pieces' launches may overlap too.
    call(&SCALE, 64, 256, numbers)
}

/// Up, launch and down of one piece, each by itself; from them how much work there should be.
pub(super) fn alone(bench: &mut Bench) -> Result<Measured> {
    let stream = bench.stream()?;
    let host = bench.host_buffer(CHUNK, HostMemory::Pinned)?;
    let device = bench.device_buffer(CHUNK)?;
    let mut measure = |times: i32| -> Result<[f64; 3]> {
        bench.fill_floats(host, 3)?;
        let ops = [
            copy_part(host, device, 0..CHUNK),
            launch(device, 0..CHUNK, times),
            copy_part(device, host, 0..CHUNK),
        ];
        let program = Program::in_stream(stream, ops).with_spans();
        bench.run(&program)?;
        let ran = bench.run(&program)?;
        Ok([0, 1, 2].map(|step| ran.step_ms(step)))
    };
    const TRIED: i32 = 20;
    let [up, tried, _] = measure(TRIED)?;
    let times = (f64::from(TRIED) * up / tried.max(1e-6)).round();
    let times = times.clamp(1.0, 1000.0) as i32;
    let [up, work, down] = measure(times)?;
    let right = bench.is_scaled(host, 3)?;
    bench.keep(TIMES, times.into());
    Ok(Measured::default()
        .time(mark!("4 MiB up"), up)
        .time(mark!("time per launch"), work)
        .time(mark!("4 MiB down"), down)
        .figure(mark!("times 2 and divided by 2, times"), times.into(), "")
        .check(
            tr!("the piece returned unchanged, except for the value that overflows by design"),
            right,
        ))
}

/// The array, in pieces or in one.
pub(super) struct Pieces {
    host: BufferId,
    program: Program,
}

impl Pieces {
    /// So many pieces in so many streams, each in a place of its own on the device.
    fn prepare(bench: &mut Bench, pieces: usize, streams: usize) -> Result<Box<dyn Experiment>> {
        Pieces::in_room(bench, pieces, streams, pieces)
    }

    /// So many pieces in so many streams, where the device has room for `room` pieces.
    pub(super) fn in_room(
        bench: &mut Bench,
        pieces: usize,
        streams: usize,
        room: usize,
    ) -> Result<Box<dyn Experiment>> {
        let times = bench.kept(TIMES).unwrap_or(1.0) as i32;
        let streams = bench.streams(streams, StreamKind::NonBlocking)?;
        let host = bench.host_buffer(BYTES, HostMemory::Pinned)?;
        let size = BYTES / pieces;
        let device = bench.device_buffer(room * size)?;
        bench.fill_floats(host, 4)?;
        let mut program = Program::default();
        for piece in 0..pieces {
            let stream = streams[piece % streams.len()];
            let there = piece % room * size..(piece % room + 1) * size;
            let of = |buffer, offset| BufferOffset { buffer, offset };
            let [on_host, on_device] = [of(host, piece * size), of(device, there.start)];
            let copy = |from, to| {
                Op::Buffers(BufferOp::Copy {
                    from,
                    to,
                    bytes: size,
                })
            };
            program.push(stream, copy(on_host, on_device));
            program.push(stream, launch(device, there, times));
            program.push(stream, copy(on_device, on_host));
        }
        bench.run(&program)?;
        Ok(Box::new(Pieces { host, program }))
    }
}

impl Experiment for Pieces {
    fn sample(&mut self, bench: &mut Bench) -> Result<Measured> {
        let ms = bench.run(&self.program)?.wall_ms();
        let rate = 2.0 * BYTES as f64 / ms / 1e6;
        Ok(
            Measured::of_time(mark!("96 MiB up, worked on, and down"), ms).figure(
                mark!("both ways together"),
                rate,
                "GB/s",
            ),
        )
    }

    fn inspect(&mut self, bench: &mut Bench) -> Result<Measured> {
        bench.access(self.host, &mut |words| data::plant(words, 4))?;
        let timed = bench.run_timed(&mut self.program)?;
        let right = bench.is_scaled(self.host, 4)?;
        let mut measured = Measured::default().check(
            tr!("the array returned unchanged, except for the value that overflows by design"),
            right,
        );
        measured.trace = Some(bench.timed_round(&self.program, timed));
        Ok(measured)
    }
}
