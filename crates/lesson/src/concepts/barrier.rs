//! A barrier taken out: what __syncthreads is for.

use crate::prelude::*;
use engine::buffer_kernels::BARRIER;
use life::{Lattice, Rule, reference, soup};

const SIDE: u32 = 64;
const CELLS: usize = (SIDE * SIDE) as usize;
/// The one block: eight warps.
const THREADS: u32 = 256;
const GENERATIONS: i32 = 40;
/// How long odd warps are held up in every generation.
const DELAY_NS: u64 = 2_000;
/// Pixels of a cell's side.
const ZOOM: u32 = 6;

pub(crate) const BARRIER_LESSON: Lesson = Lesson {
    name: "barrier",
    group: Group::Concepts,
    title: "a barrier taken out",
    source: Origin::Book(4, "conway_gpu_syncthreads.py"),
    intro: "A lattice of 64 × 64 cells in one block of 8 warps, 40 generations in one launch; \
            odd warps are held up by 2 µs in every generation. With the barrier between two \
            generations, and without it. In the pictures wrong cells are red.",
    question: "Every thread still steps its own cells 40 times: what goes wrong without the \
               barrier?",
    choices: Choices::Words {
        choices: &[
            "nothing: each thread steps its own cells",
            "the launch fails with an error",
            "some cells are wrong",
        ],
        right: |outcome| {
            outcome.parts.get(1)?;
            Some(if outcome.value(1, WRONG) > 0.0 { 2 } else { 0 })
        },
    },
    parts: &[
        Part {
            title: "with the barrier",
            code: "for (int g = 0; g < 40; g++) {
    next(b, a);
    __syncthreads();
    swap(a, b);
}",
            work: PartWork::Once(|bench| run(bench, true)),
        },
        Part {
            title: "without it",
            code: "for (int g = 0; g < 40; g++) {
    next(b, a);
    swap(a, b);
}",
            work: PartWork::Once(|bench| run(bench, false)),
        },
    ],
    compared: &[],
    missing_on_cpu: None,
    closing: Closing::OfFigures(|outcome| {
        let wrong = outcome.value(1, WRONG);
        if wrong > 0.0 {
            tr!(
                "Without the barrier {wrong} of {CELLS} cells are wrong: warps that are ahead \
                 read cells of an older generation, and write over cells that others still need. \
                 CUDA reported no error: the launch succeeded.",
                wrong = format_args!("{wrong:.0}"),
                CELLS = CELLS
            )
        } else {
            tr!("Without the barrier every cell was right all the same, this time: the warps happened \
             to keep step. That is the worst that can happen to a program with a race.")
                .into()
        }
    }),
};

const WRONG: &str = mark!("wrong cells");

fn run(bench: &mut Bench, barrier: bool) -> Result<Measured> {
    let start = soup(square(SIDE.into()), DENSITY, SEED, 0);
    let stream = bench.stream()?;
    let [a, b] = [
        bench.device_buffer(4 * CELLS)?,
        bench.device_buffer(4 * CELLS)?,
    ];
    let host = bench.pinned_buffer(4 * CELLS)?;
    bench.access(host, &mut |words| {
        for (word, (x, y)) in words.iter_mut().zip(places()) {
            *word = start.get(x, y).into();
        }
    })?;
    let launch = call(
        &BARRIER,
        1,
        THREADS,
        [
            at(a),
            at(b),
            Argument::I32(SIDE as i32),
            Argument::I32(SIDE as i32),
            Argument::U32(Rule::LIFE.table()),
            Argument::I32(GENERATIONS),
            Argument::I32(barrier.into()),
            Argument::U64(DELAY_NS),
        ],
    );
    let ops = [
        copy(host, a, 4 * CELLS),
        copy(host, b, 4 * CELLS),
        launch,
        copy(a, host, 4 * CELLS), // an even number of generations ends in a
    ];
    let program = Program::in_stream(stream, ops).with_spans();
    let ran = bench.run(&program)?;
    let cells = bench.words(host)?;
    let want = reference::run(&start, Rule::LIFE, GENERATIONS as u64);
    let is_wrong = |x, y| cells[(y * SIDE + x) as usize] != u32::from(want.get(x, y));
    let wrong = places().filter(|&(x, y)| is_wrong(x, y)).count();

    let mut measured = Measured::default()
        .figure(WRONG, wrong as f64, "")
        .time(mark!("the launch"), ran.step_ms(2));
    if barrier {
        measured = measured.check(tr!("every cell matches the reference"), wrong == 0);
    }
    let side = SIDE * ZOOM;
    let names = if barrier {
        let caption = mark!("With the barrier: a wrong cell would be red");
        ["with the barrier", caption]
    } else {
        let caption = mark!("Without the barrier: wrong cells are red");
        ["without the barrier", caption]
    };
    measured.pictures = vec![LessonImage::painted(names, (side, side), |x, y| {
        let (x, y) = (x / ZOOM, y / ZOOM);
        color(&want, x, y, is_wrong(x, y))
    })];
    measured.trace = Some(bench.timed_round(&program, ran));
    Ok(measured)
}

fn places() -> impl Iterator<Item = (u32, u32)> {
    (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y)))
}

/// A cell that is right is light or dark; a wrong one is red, light or dark by what it should be.
fn color(want: &Lattice, x: u32, y: u32, wrong: bool) -> [u8; 3] {
    match (wrong, want.get(x, y)) {
        (false, true) => [236, 232, 214],
        (false, false) => [20, 22, 40],
        (true, true) => [230, 60, 50],
        (true, false) => [150, 30, 30],
    }
}
