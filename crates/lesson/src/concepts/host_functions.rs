//! Host work between two copies: by the thread that waits for the device, or by a function in the stream.

use crate::prelude::*;

const CHUNKS: usize = 16;
/// Bytes of a chunk.
const CHUNK: usize = 4 << 20;

pub(crate) const HOST_FUNCTIONS: Lesson = Lesson {
    name: "host-functions",
    group: Group::Concepts,
    title: "host work between two copies",
    source: Origin::Guide("Host Functions (Callbacks)"),
    intro: "16 chunks of 4 MiB are copied to the host, which inverts every bit, and copied back. First the \
            host waits for each chunk and inverts it itself. Then it issues everything at once: each chunk \
            has a stream, and a host function in that stream inverts it.",
    question: "16 streams with a host function in each: how much faster?",
    choices: Choices::Factors(0, &[1.0, 1.5, 2.0, 16.0]),
    parts: &[
        Part {
            title: "the host waits for each chunk",
            code: "for (int i = 0; i < 16; i++) {
    cudaMemcpyAsync(host[i], array[i], 4 << 20,
               cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    invert(host[i]);
    cudaMemcpyAsync(array[i], host[i], 4 << 20,
               cudaMemcpyHostToDevice, stream);
}",
            work: PartWork::Programs(|bench| chunks(bench, false)),
        },
        Part {
            title: "host functions in streams",
            code: "for (int i = 0; i < 16; i++) {
    cudaMemcpyAsync(host[i], array[i], 4 << 20,
               cudaMemcpyDeviceToHost, stream[i]);
    cudaLaunchHostFunc(stream[i], invert, host[i]);
    cudaMemcpyAsync(array[i], host[i], 4 << 20,
               cudaMemcpyHostToDevice, stream[i]);
}
cudaDeviceSynchronize();",
            work: PartWork::Programs(|bench| chunks(bench, true)),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "host functions instead of waiting",
        faster: "While the host inverts one chunk, the copy engines move others.",
        none: "The host's own work takes so long here that overlapping the copies saves nothing measurable.",
        slower: "Here, 16 streams and host functions cost more than waiting.",
    }],
    missing_on_cpu: Some(Missing {
        what: "copy engines (copies and host functions share its threads)",
        on_gpu: "A GPU copies other chunks while the host works on one. On the CPU engine, the same cores do \
                 all of this.",
        on_cpu: None,
    }),
    closing: Closing::Text(
        "A host function runs on a thread of the driver once its stream reaches it. It must not call CUDA, \
         and host functions of different streams may run one after another.",
    ),
};

/// An array on the device, of which every chunk is inverted in memory of the host: by a host function in a
/// stream of the chunk's own, or by the host, between the programs of two copies.
fn chunks(bench: &mut Bench, in_stream: bool) -> Result<Programs> {
    let streams = bench.streams(CHUNKS, StreamKind::NonBlocking)?;
    let device = bench.device_buffer(CHUNKS * CHUNK)?;
    let (mut all, mut copies) = (Program::default(), Vec::new());
    let mut chunks = Vec::new();
    for (chunk, &stream) in streams.iter().enumerate() {
        let host = bench.pinned_buffer(CHUNK)?;
        let (here, there) = (place(host, 0), place(device, chunk * CHUNK));
        let down = copy_between(there, here, CHUNK);
        let up = copy_between(here, there, CHUNK);
        bench.fill_floats(host, chunk as u64)?;
        bench.run(&Program::in_stream(streams[0], [up.clone()]))?;
        let inverted = BufferOp::HostFunction(host).into();
        for op in [down.clone(), inverted, up.clone()] {
            all.push(stream, op);
        }
        let down = Program::in_stream(streams[0], [down]).with_spans();
        copies.push(down.clone());
        copies.push(Program::in_stream(streams[0], [up]).with_spans());
        chunks.push((host, down));
    }
    let hosts: Vec<BufferId> = chunks.iter().map(|(host, _)| *host).collect();
    let before = move |bench: &mut Bench, run: usize| {
        if in_stream || run.is_multiple_of(2) {
            return Ok(());
        }
        bench.access(hosts[run / 2 % CHUNKS], &mut |words| {
            let inverted = |word: &mut u32| *word = !*word;
            words.iter_mut().for_each(inverted);
        })
    };
    let figures = move |runs: &[Ran]| {
        let ms = runs.iter().map(|it| it.before_ms + it.wall_ms).sum();
        let busy = if in_stream { runs[0].call_ms } else { ms };
        Measured::of_time(mark!("16 chunks"), ms)
            .time(mark!("the issuing thread is busy for"), busy)
    };
    let check = move |bench: &mut Bench, _: &Ran, runs: usize| {
        let mut right = true;
        for (seed, (host, down)) in (0..).zip(&chunks) {
            bench.access(*host, &mut |words| words.fill(0))?;
            bench.run(down)?;
            let mut want = vec![0; CHUNK / 4];
            data::fill_floats(&mut want, seed);
            if runs % 2 == 1 {
                want.iter_mut().for_each(|word| *word = !*word);
            }
            right &= bench.words(*host)? == want;
        }
        Ok(Measured::default().check(tr!("every bit on the device was inverted each time"), right))
    };
    let all = all.with_spans();
    Ok(Programs {
        programs: if in_stream { vec![all] } else { copies },
        before: Box::new(before),
        ..Programs::new(Program::default(), figures, check)
    })
}
