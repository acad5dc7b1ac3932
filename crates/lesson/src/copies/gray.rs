//! Many pictures made gray: one after the other, and a stream each.

use crate::prelude::*;
use engine::buffer_kernels::GRAY;
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
    choices: Choices::Factors(0, &[1.0, 1.5, 3.0, 32.0]),
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
            work: PartWork::Programs(|bench| pictures(bench, false)),
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
            work: PartWork::Programs(|bench| pictures(bench, true)),
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

/// All pictures, in a stream each or one after the other.
fn pictures(bench: &mut Bench, in_streams: bool) -> Result<Programs> {
    let count = if in_streams { PICTURES } else { 1 };
    let streams = bench.streams(count, StreamKind::NonBlocking)?;
    let mut program = Program::default();
    let mut pictures = Vec::new();
    for picture in 0..PICTURES {
        let colored = bench.pinned_buffer(4 * PIXELS)?;
        let color = bench.device_buffer(4 * PIXELS)?;
        let gray = bench.device_buffer(PIXELS)?;
        let down = bench.pinned_buffer(PIXELS)?;
        bench.access(colored, &mut |words| {
            let mut numbers = SplitMix64(picture as u64);
            for (at, word) in words.iter_mut().enumerate() {
                *word = pixel(picture, at, numbers.draw() as u32);
            }
        })?;
        let stream = streams[picture % count];
        let arguments = [at(color), at(gray), Argument::I32(PIXELS as i32)];
        for op in [
            copy(colored, color, 4 * PIXELS),
            call(&GRAY, (PIXELS / 1024) as u32, 256, arguments),
            copy(gray, down, PIXELS),
        ] {
            program.push(stream, op);
        }
        if !in_streams {
            program.push(stream, OrderOp::Synchronize(Scope::Stream));
        }
        pictures.push((colored, down));
    }
    let check = move |bench: &mut Bench, ran: &Ran, _| {
        let (mut right, mut first) = (true, Vec::new());
        for &(colored, down) in &pictures {
            let gray = bench.words(down)?.into_iter().flat_map(u32::to_le_bytes);
            let gray: Vec<u8> = gray.collect();
            bench.access(colored, &mut |words| {
                right &= words
                    .iter()
                    .map(|&color| gray_of(color))
                    .eq(gray.iter().copied());
            })?;
            if first.is_empty() {
                first = gray;
            }
        }
        let mut measured = Measured::default()
            .time(mark!("upload of one picture"), ran.step_ms(0))
            .time(mark!("its launch"), ran.step_ms(1))
            .time(mark!("download of its gray values"), ran.step_ms(2))
            .check(tr!("every pixel of 32 pictures has its gray"), right);
        let shape = (WIDTH as u32, HEIGHT as u32);
        let names = [
            "gray",
            mark!("The first picture in gray, as the device computed it"),
        ];
        measured.pictures = vec![LessonImage::painted(names, shape, |x, y| {
            [first[y as usize * WIDTH + x as usize]; 3]
        })];
        Ok(measured)
    };
    Ok(Programs::new(program, wall(mark!("32 pictures")), check))
}
