//! Many pictures made gray: one after the other, and a stream each.

use crate::bench::{at, call, copy};
use crate::{
    Bench, Choices, Closing, Compare, Experiment, Group, Lesson, LessonImage, Measured, Missing,
    Origin, Part, PartWork, Result,
};
use engine::buffer_kernels::GRAY;
use engine::{Argument, BufferId, HostMemory, OrderOp, Program, Scope, StreamKind};
use lang::{mark, tr};
use life::SplitMix64;

const PICTURES: usize = 32;
const WIDTH: usize = 1024;
const HEIGHT: usize = 768;
const PIXELS: usize = WIDTH * HEIGHT;

pub(crate) const RGB_TO_GRAY: Lesson = Lesson {
    name: "rgb-to-gray",
    group: Group::Copies,
    title: "copy in, kernel, copy out, for many pictures",
    source: Origin::Guide("Overlapping Behavior"),
    intro: "32 pictures of 1024 × 768 pixels are made gray: 3 MiB go up, a launch, 0.75 MiB \
            come down. One after the other, the host waiting for each; then all of them, a \
            stream each.",
    question: "32 pictures in a stream each, without waiting in between: how much faster?",
    choices: Choices::Factors {
        comparison: 0,
        factors: &[1.0, 1.5, 3.0, 32.0],
    },
    parts: &[
        Part {
            title: "one after the other",
            code: "for (int i = 0; i < 32; i++) {
    cudaMemcpyAsync(colour[i], in[i], 4 * PIXELS,
               cudaMemcpyHostToDevice, stream);
    gray<<<768, 256, 0, stream>>>(colour[i], grey[i]);
    cudaMemcpyAsync(out[i], grey[i], PIXELS,
               cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
}",
            work: PartWork::Program(|bench| Pictures::prepare(bench, false)),
        },
        Part {
            title: "a stream each",
            code: "for (int i = 0; i < 32; i++) {
    cudaMemcpyAsync(colour[i], in[i], 4 * PIXELS,
               cudaMemcpyHostToDevice, stream[i]);
    gray<<<768, 256, 0, stream[i]>>>(colour[i], grey[i]);
    cudaMemcpyAsync(out[i], grey[i], PIXELS,
               cudaMemcpyDeviceToHost, stream[i]);
}
cudaDeviceSynchronize();",
            work: PartWork::Program(|bench| Pictures::prepare(bench, true)),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "a stream each, and no waiting",
        faster: "The timeline shows why it is not more: the copies up queue behind each other \
                 whatever the streams; what streams bring is that launches and copies down \
                 happen meanwhile, and that the host does not wait.",
        none: "Here nothing was idle while the host waited for one picture after the other.",
        slower: "Here 32 streams cost more than the host's waiting.",
    }],
    missing_on_cpu: Some(Missing {
        what: "copy engines (copies and launches share its threads)",
        on_gpu: "A GPU would show launches and copies to the host while other pictures go up, one \
                 behind the other. On the CPU engine all of this is work for the same cores.",
        on_cpu: None,
    }),
    closing: Closing::Text(""),
};

/// One picture on its way.
struct Way {
    color_host: BufferId,
    color: BufferId,
    gray: BufferId,
    gray_host: BufferId,
}

/// The pixel of a picture, red in the lowest byte: a ball before a sky, with some noise.
fn pixel(picture: usize, at: usize, noise: u32) -> u32 {
    let (x, y) = ((at % WIDTH) as i32, (at / WIDTH) as i32);
    let ball = (x - 200 - 20 * picture as i32).pow(2) + (y - 384).pow(2) < 150 * 150;
    let [red, green, blue] = if ball {
        [230, (60 + y / 8) as u32, 40]
    } else {
        [(x / 8) as u32, (y / 4) as u32, 200]
    };
    (red + noise % 16) | (green + noise / 16 % 16) << 8 | (blue + noise / 256 % 16) << 16
}

pub(super) fn gray_of(color: u32) -> u8 {
    let [red, green, blue, _] = color.to_le_bytes().map(u32::from);
    ((77 * red + 150 * green + 29 * blue) / 256) as u8
}

/// All pictures.
struct Pictures {
    ways: Vec<Way>,
    program: Program,
}

impl Pictures {
    fn prepare(bench: &mut Bench, streams: bool) -> Result<Box<dyn Experiment>> {
        let count = if streams { PICTURES } else { 1 };
        let streams_made = bench.streams(count, StreamKind::NonBlocking)?;
        let mut ways = Vec::new();
        for picture in 0..PICTURES {
            let way = Way {
                color_host: bench.host_buffer(4 * PIXELS, HostMemory::Pinned)?,
                color: bench.device_buffer(4 * PIXELS)?,
                gray: bench.device_buffer(PIXELS)?,
                gray_host: bench.host_buffer(PIXELS, HostMemory::Pinned)?,
            };
            bench.access(way.color_host, &mut |words| {
                let mut numbers = SplitMix64(picture as u64);
                for (at, word) in words.iter_mut().enumerate() {
                    *word = pixel(picture, at, numbers.draw() as u32);
                }
            })?;
            ways.push(way);
        }
        let mut program = Program::default();
        for (i, way) in ways.iter().enumerate() {
            let stream = streams_made[i % count];
            let arguments = [at(way.color), at(way.gray), Argument::I32(PIXELS as i32)];
            for op in [
                copy(way.color_host, way.color, 4 * PIXELS),
                call(&GRAY, (PIXELS / 1024) as u32, 256, arguments),
                copy(way.gray, way.gray_host, PIXELS),
            ] {
                program.push(stream, op);
            }
            if !streams {
                program.push(stream, OrderOp::Synchronize(Scope::Stream));
            }
        }
        bench.run(&program)?;
        Ok(Box::new(Pictures { ways, program }))
    }
}

impl Experiment for Pictures {
    fn sample(&mut self, bench: &mut Bench) -> Result<Measured> {
        let ms = bench.run(&self.program)?.wall_ms();
        Ok(Measured::of_time(mark!("32 pictures"), ms))
    }

    fn inspect(&mut self, bench: &mut Bench) -> Result<Measured> {
        let timed = bench.run_timed(&mut self.program)?;
        let (mut wrong, mut first) = (0, Vec::new());
        for way in &self.ways {
            let gray = bench.words(way.gray_host)?;
            let gray: Vec<u8> = gray.iter().flat_map(|word| word.to_le_bytes()).collect();
            bench.access(way.color_host, &mut |words| {
                let pairs = words.iter().zip(&gray);
                wrong += pairs
                    .filter(|&(&color, &gray)| gray_of(color) != gray)
                    .count();
            })?;
            if first.is_empty() {
                first = gray;
            }
        }
        let mut measured = Measured::default()
            .time(mark!("upload of one picture"), timed.step_ms(0))
            .time(mark!("its launch"), timed.step_ms(1))
            .time(mark!("download of its gray values"), timed.step_ms(2))
            .check(tr!("every pixel of 32 pictures has its gray"), wrong == 0);
        let shape = (WIDTH as u32, HEIGHT as u32);
        let names = [
            "gray",
            mark!("The first picture in gray, as the device computed it"),
        ];
        measured.pictures = vec![LessonImage::painted(names, shape, |x, y| {
            [first[y as usize * WIDTH + x as usize]; 3]
        })];
        measured.trace = Some(bench.timed_round(&self.program, timed));
        Ok(measured)
    }
}
