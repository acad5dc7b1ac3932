//! One large array in pieces, so that both directions of the bus and the device work at once.

use crate::prelude::*;

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
    choices: Choices::Factors(0, &[1.0, 2.0, 3.0, 24.0]),
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
            work: PartWork::Programs(|bench| pieces(bench, 1, 1, 1)),
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
            work: PartWork::Programs(|bench| pieces(bench, CHUNKS, 1, CHUNKS)),
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
            work: PartWork::Programs(|bench| pieces(bench, CHUNKS, 3, CHUNKS)),
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

/// A part of the device: the launches of pieces may overlap too.
const SHAPE: (u32, u32) = (64, 256);

/// Up, launch and down of one piece, each by itself; from them how much work there should be.
pub(super) fn alone(bench: &mut Bench) -> Result<Measured> {
    let stream = bench.stream()?;
    let host = bench.pinned_buffer(CHUNK)?;
    let device = bench.device_buffer(CHUNK)?;
    let mut measure = |times: i32| -> Result<[f64; 3]> {
        bench.fill_floats(host, 3)?;
        let ops = scaled([host, device].map(|it| place(it, 0)), CHUNK, times, SHAPE);
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
    bench.kept.insert(TIMES, times.into());
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

/// The array, in so many pieces in so many streams, where the device has room for `room` pieces.
pub(super) fn pieces(
    bench: &mut Bench,
    pieces: usize,
    streams: usize,
    room: usize,
) -> Result<Programs> {
    let times = bench.kept.get(TIMES).copied().unwrap_or(1.0) as i32;
    let streams = bench.streams(streams, StreamKind::NonBlocking)?;
    let host = bench.pinned_buffer(BYTES)?;
    let size = BYTES / pieces;
    let device = bench.device_buffer(room * size)?;
    bench.fill_floats(host, SEED)?;
    let mut program = Program::default();
    for piece in 0..pieces {
        let places = [
            place(host, piece * size),
            place(device, piece % room * size),
        ];
        for op in scaled(places, size, times, SHAPE) {
            program.push(streams[piece % streams.len()], op);
        }
    }
    Ok(Programs::scaling(program, host, |runs| {
        let ms = runs[0].wall_ms;
        let rate = 2.0 * BYTES as f64 / ms / 1e6;
        let measured = Measured::of_time(mark!("96 MiB up, worked on, and down"), ms);
        measured.figure(mark!("both ways together"), rate, "GB/s")
    }))
}
