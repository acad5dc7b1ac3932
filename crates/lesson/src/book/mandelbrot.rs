//! The Mandelbrot set, with the host waiting after every step, and without.

use crate::prelude::*;
use engine::buffer_kernels::MANDELBROT;

const SIDE: usize = 512;
const POINTS: usize = SIDE * SIDE;
const EDGE: f32 = 2.0;
const ITERATIONS: i32 = 256;
const BOUND: f32 = 2.0;

pub(crate) const MANDELBROT_SYNC: Lesson = Lesson {
    name: "mandelbrot-sync",
    group: Group::Book,
    title: "waiting after every step, or never",
    source: Origin::Book(5, "gpu_mandelbrot_context_sync.py"),
    intro: "512 × 512 points of [-2, 2] × [-2, 2], 256 iterations of z = z² + c, bound 2. The \
            points go up, a launch, the picture comes down: the host waits behind each of the \
            three; then only behind the last.",
    question: "In one stream, order is certain anyway: how much faster is it to wait once instead of three times?",
    choices: Choices::Factors(0, &[1.0, 1.2, 2.0, 3.0]),
    parts: &[
        Part {
            title: "waiting after each step",
            code: "cudaMemcpyAsync(points, host, bytes,
               cudaMemcpyHostToDevice, stream);
cudaStreamSynchronize(stream);
mandelbrot<<<1024, 256, 0, stream>>>(points, graph);
cudaStreamSynchronize(stream);
cudaMemcpyAsync(picture, graph, bytes,
               cudaMemcpyDeviceToHost, stream);
cudaStreamSynchronize(stream);",
            work: PartWork::Programs(|bench| picture(bench, true)),
        },
        Part {
            title: "waiting once, at the end",
            code: "cudaMemcpyAsync(points, host, bytes,
               cudaMemcpyHostToDevice, stream);
mandelbrot<<<1024, 256, 0, stream>>>(points, graph);
cudaMemcpyAsync(picture, graph, bytes,
               cudaMemcpyDeviceToHost, stream);
cudaStreamSynchronize(stream);",
            work: PartWork::Programs(|bench| picture(bench, false)),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "one synchronisation instead of three",
        faster: "That is what waiting in between cost.",
        none: "Here the work takes so long that waiting in between does not show.",
        slower: "Waiting in between cost nothing here.",
    }],
    missing_on_cpu: None,
    closing: Closing::Text(
        "Within a stream, an operation starts when the one before it is done. The \
         host needs to wait only before it reads what was copied to it.",
    ),
};

/// The points, row by row from the lower edge of the imaginary axis up.
fn points() -> impl Iterator<Item = [f32; 2]> {
    let along = |i: usize| -EDGE + 2.0 * EDGE * i as f32 / (SIDE - 1) as f32;
    (0..POINTS).map(move |i| [along(i % SIDE), along(i / SIDE)])
}

/// 1 if z = z² + c stays within the bound; every operation rounded as in the kernel.
fn stays([c_re, c_im]: [f32; 2]) -> f32 {
    let (mut re, mut im) = (0.0f32, 0.0f32);
    for _ in 0..ITERATIONS {
        (re, im) = ((re * re - im * im) + c_re, (2.0 * re) * im + c_im);
        if re * re + im * im > BOUND * BOUND {
            return 0.0;
        }
    }
    1.0
}

/// The picture, made again and again.
fn picture(bench: &mut Bench, waits: bool) -> Result<Programs> {
    let stream = bench.stream()?;
    let points_host = bench.pinned_buffer(8 * POINTS)?;
    let on_device = bench.device_buffer(8 * POINTS)?;
    let graph = bench.device_buffer(4 * POINTS)?;
    let graph_host = bench.pinned_buffer(4 * POINTS)?;
    bench.access(points_host, &mut |words| {
        let numbers = points().flatten().map(f32::to_bits);
        let all = words.iter_mut().zip(numbers);
        all.for_each(|(word, bits)| *word = bits);
    })?;
    let arguments = [
        at(on_device),
        at(graph),
        Argument::I32(POINTS as i32),
        Argument::I32(ITERATIONS),
        Argument::F32(BOUND),
    ];
    let mut program = Program::default();
    for op in [
        copy(points_host, on_device, 8 * POINTS),
        call(&MANDELBROT, (POINTS / 256) as u32, 256, arguments),
        copy(graph, graph_host, 4 * POINTS),
    ] {
        program.push(stream, op);
        if waits {
            program.push(stream, OrderOp::Synchronize(Scope::Stream));
        }
    }
    let [launch, down] = if waits { [2, 4] } else { [1, 2] };
    let check = move |bench: &mut Bench, ran: &Ran, _| {
        let graph = bench.words(graph_host)?;
        let wrong = points()
            .zip(&graph)
            .filter(|&(point, &bits)| stays(point).to_bits() != bits)
            .count();
        let mut measured = Measured::default()
            .time(mark!("upload of the points"), ran.step_ms(0))
            .time(mark!("the launch"), ran.step_ms(launch))
            .time(mark!("download of the picture"), ran.step_ms(down))
            .check(
                tr!(
                    "{POINTS} points are as the CPU has them, to the last bit",
                    POINTS = POINTS
                ),
                wrong == 0,
            );
        let side = SIDE as u32;
        let names = [
            "mandelbrot",
            mark!("The Mandelbrot set: its points are dark"),
        ];
        measured.pictures = vec![LessonImage::painted(names, (side, side), |x, y| {
            let inside = graph[((side - 1 - y) * side + x) as usize] == 1f32.to_bits();
            if inside {
                [20, 22, 40]
            } else {
                [236, 232, 214]
            }
        })];
        Ok(measured)
    };
    let wall = wall(mark!("from the first call to the picture"));
    Ok(Programs::new(program, wall, check))
}
