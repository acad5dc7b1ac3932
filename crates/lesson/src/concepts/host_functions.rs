//! Host work between two copies: by the thread that waits for the device, or by a function in the stream.

use std::time::Instant;

use crate::bench::{copy_between, start};
use crate::{
    Bench, Choices, Closing, Compare, Experiment, Group, Lesson, Measured, Missing, Origin, Part,
    PartWork, Ran, Result, data,
};
use engine::{
    BufferId, BufferOffset, BufferOp, HostFunction, HostMemory, Op, Program, StreamId, StreamKind,
};
use lang::{mark, tr};

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
    choices: Choices::Factors {
        comparison: 0,
        factors: &[1.0, 1.5, 2.0, 16.0],
    },
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
            work: PartWork::Program(|bench| Chunks::prepare(bench, false)),
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
            work: PartWork::Program(|bench| Chunks::prepare(bench, true)),
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

/// An array on the device, and the chunk of each stream on the host.
struct Chunks {
    device: BufferId,
    host: Vec<BufferId>,
    /// The first stream copies where the host works itself.
    streams: Vec<StreamId>,
    in_stream: bool,
    /// How often everything was inverted.
    inverted: usize,
}

impl Chunks {
    fn prepare(bench: &mut Bench, in_stream: bool) -> Result<Box<dyn Experiment>> {
        let host = (0..CHUNKS).map(|_| bench.host_buffer(CHUNK, HostMemory::Pinned));
        let mut chunks = Chunks {
            host: host.collect::<Result<_>>()?,
            device: bench.device_buffer(CHUNKS * CHUNK)?,
            streams: bench.streams(CHUNKS, StreamKind::NonBlocking)?,
            in_stream,
            inverted: 0,
        };
        for chunk in 0..CHUNKS {
            bench.fill_floats(chunks.host[chunk], chunk as u64)?;
            bench.run(&Program::in_stream(chunks.streams[0], [chunks.up(chunk)]))?;
        }
        chunks.sample(bench)?;
        Ok(Box::new(chunks))
    }

    fn on_device(&self, chunk: usize) -> BufferOffset {
        BufferOffset {
            offset: chunk * CHUNK,
            ..start(self.device)
        }
    }

    fn down(&self, chunk: usize) -> Op {
        copy_between(self.on_device(chunk), start(self.host[chunk]), CHUNK)
    }

    fn up(&self, chunk: usize) -> Op {
        copy_between(start(self.host[chunk]), self.on_device(chunk), CHUNK)
    }

    /// Everything in one program.
    fn program(&self) -> Program {
        let mut program = Program::default();
        for (chunk, &stream) in self.streams.iter().enumerate() {
            program.push(stream, self.down(chunk));
            program.push(
                stream,
                BufferOp::HostFunction(HostFunction::Invert, self.host[chunk]),
            );
            program.push(stream, self.up(chunk));
        }
        program
    }

    /// Inverts everything once. Returns what ran, as one program.
    fn invert(&mut self, bench: &mut Bench) -> Result<(Program, Ran)> {
        self.inverted += 1;
        if self.in_stream {
            let program = self.program().with_spans();
            let ran = bench.run(&program)?;
            return Ok((program, ran));
        }
        let (mut program, mut ran) = (Program::default(), Ran::default());
        for chunk in 0..CHUNKS {
            let ops = [Some(self.down(chunk)), None, Some(self.up(chunk))];
            for op in ops {
                let Some(op) = op else {
                    bench.access(self.host[chunk], &mut |words| {
                        let inverted = |word: &mut u32| *word = HostFunction::Invert.apply(*word);
                        words.iter_mut().for_each(inverted);
                    })?;
                    continue;
                };
                let copy = Program::in_stream(self.streams[0], [op]).with_spans();
                ran.append(bench.run(&copy)?, program.steps.len());
                program.steps.extend(copy.steps);
            }
        }
        Ok((program, ran))
    }
}

impl Experiment for Chunks {
    fn sample(&mut self, bench: &mut Bench) -> Result<Measured> {
        let began = Instant::now();
        let (_, ran) = self.invert(bench)?;
        let ms = began.elapsed().as_secs_f64() * 1e3;
        let busy = if self.in_stream {
            ran.call.as_secs_f64() * 1e3
        } else {
            ms
        };
        Ok(Measured::of_time(mark!("16 chunks"), ms)
            .time(mark!("the issuing thread is busy for"), busy))
    }

    fn inspect(&mut self, bench: &mut Bench) -> Result<Measured> {
        let (program, ran) = self.invert(bench)?;
        let mut right = true;
        for (chunk, seed) in (0..CHUNKS).zip(0..) {
            bench.access(self.host[chunk], &mut |words| words.fill(0))?;
            bench.run(&Program::in_stream(self.streams[0], [self.down(chunk)]))?;
            let mut want = vec![0; CHUNK / 4];
            data::fill_floats(&mut want, seed);
            if self.inverted % 2 == 1 {
                want.iter_mut().for_each(|word| *word = !*word);
            }
            right &= bench.words(self.host[chunk])? == want;
        }
        let mut measured =
            Measured::default().check(tr!("every bit on the device was inverted each time"), right);
        measured.trace = Some(bench.timed_round(&program, ran));
        Ok(measured)
    }
}
