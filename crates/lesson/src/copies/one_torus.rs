//! One torus on two GPUs: each has half of the rows, and copies the rows around them from the other.

use crate::prelude::*;
use engine::Feature;
use life::{Lattice, Size};
use session::DeviceChoice;

const SIDE: u64 = 1 << 15;
const GENERATIONS: u32 = 600;
/// Of the timed round and of the check: halos of 4 and of 30 rows are copied more than once.
const FEW_GENERATIONS: u32 = 60;

pub(crate) const ONE_TORUS: Lesson = Lesson {
    name: "one-torus",
    group: Group::Copies,
    title: "one torus, two GPUs",
    source: Origin::Guide("Peer-to-Peer Memory Copy"),
    intro: "A torus of 32768 × 32768 cells is stepped for 600 generations: first by one GPU, then by two. Each \
            of the two has half of the rows, and copies of the rows above and below them: its halos. A generation \
            spoils one row of each halo, so halos of 4 rows are copied anew every 4 generations, and halos of 30 \
            rows every 30.",
    question: "With halos of 30 rows: how much faster are two GPUs than one?",
    choices: Choices::Factors(1, &[1.0, 1.3, 1.6, 2.0]),
    parts: &[
        Part {
            title: "one GPU",
            code: "for (int g = 0; g < 600; g += 4)
    step<<<grid, 32, 0, s[0]>>>(a, b,
        32768, 32768, rule, 4);      // then swap",
            work: PartWork::Alone(|bench| stepped(bench, None)),
        },
        Part {
            title: "two GPUs, halos of 4 rows",
            code: TWO_GPUS_4,
            work: PartWork::Alone(|bench| stepped(bench, Some(4))),
        },
        Part {
            title: "two GPUs, halos of 30 rows",
            code: TWO_GPUS_30,
            work: PartWork::Alone(|bench| stepped(bench, Some(30))),
        },
    ],
    compared: &[
        Compare {
            slow: 1,
            fast: 2,
            label: "an exchange every 30 generations instead of every 4",
            faster: "An exchange costs calls, copies, and waiting for the other GPU, however few rows it brings. \
                     Larger halos need fewer exchanges, and stepping 60 rows twice is little beside 16384.",
            none: "Here, exchanges cost nothing that shows.",
            slower: "Here, the rows that both GPUs step cost more than the exchanges that they save.",
        },
        Compare {
            slow: 0,
            fast: 2,
            label: "two GPUs instead of one",
            faster: "Each GPU steps half of the rows; the exchange and the rows that both step are what is \
                     missing to 2×.",
            none: "Here, the exchange takes as much time as the second GPU saves.",
            slower: "Here, the exchange takes more time than the second GPU saves.",
        },
    ],
    missing_on_cpu: Some(Missing {
        what: "second GPU",
        on_gpu: "Two GPUs would show how much of the time the exchange takes. On the CPU engine, two contexts \
                 stand in for them: they share the same cores, so two are no faster than one.",
        on_cpu: None,
    }),
    closing: Closing::Text(
        "The kernel does not know that the torus is cut: it steps a band of rows as if that were a torus, and only \
         the halo becomes wrong.",
    ),
};

/// The code of a part with halos of so many rows.
macro_rules! two_gpus {
    ($rows:literal) => {
        concat!(
            "const int rows = ",
            $rows,
            ";    // of a halo
for (int g = 0; g < 600; g += rows) {
    for (int i : {0, 1})
        cudaEventRecord(stepped[i], s[i]);
    for (int i : {0, 1}) {
        cudaStreamWaitEvent(s[i], stepped[!i]);
        cudaMemcpyPeerAsync(above[i], i,
            last_rows[!i], !i, rows * 4096, s[i]);
        cudaMemcpyPeerAsync(below[i], i,
            first_rows[!i], !i, rows * 4096, s[i]);
        cudaEventRecord(copied[i], s[i]);
    }
    for (int i : {0, 1}) {
        cudaStreamWaitEvent(s[i], copied[!i]);
        for (int left = rows; left > 0; left -= 4)
            step<<<grid, 32, 0, s[i]>>>(a[i], b[i],
                32768, 16384 + 2 * rows, rule,
                min(left, 4));   // then swap
    }
}"
        )
    };
}

const TWO_GPUS_4: &str = two_gpus!("4");
const TWO_GPUS_30: &str = two_gpus!("30");

/// A torus on an engine with nothing else on it.
fn torus(bench: &mut Bench, size: Size) -> Result<BenchLattices> {
    let stream = bench.stream()?;
    BenchLattices::new(bench, 1, size, kernel("multistep"), &[stream], 0)
}

/// Steps the soup for a few generations; the timed round, and the cells after it.
fn step_from_start(
    torus: &BenchLattices,
    bench: &mut Bench,
) -> Result<(Program, Ran, Vec<Lattice>)> {
    torus.restart(bench)?;
    let mut program = Program::default().with_spans();
    torus.advance(&mut program, FEW_GENERATIONS);
    let ran = bench.run(&program)?;
    Ok((program, ran, torus.fetch(bench)?))
}

/// The torus in bands with halos of so many rows, or whole on one device.
fn stepped(bench: &mut Bench, halo: Option<u32>) -> Result<Programs> {
    bench.choice = bench.pick(DeviceChoice::Cuda, DeviceChoice::Cpu);
    bench.engine()?.check_feature(DEVICE, Feature::PeerCopies)?;
    // Fewer multiprocessors than any GPU for computing has are the tests'.
    let (side, generations) = if bench.is_cpu() || bench.info.sm_count < 8 {
        (512, FEW_GENERATIONS)
    } else {
        (SIDE, GENERATIONS)
    };
    if let Some(halo) = halo {
        bench.split(halo)?;
    }
    let size = square(side);
    let lattices = torus(bench, size)?;
    let mut program = Program::default();
    lattices.advance(&mut program, generations);
    let figures = move |runs: &[Ran]| {
        let ms = runs[0].wall_ms / f64::from(generations);
        let rate = size.cells() as f64 / ms / 1e6;
        Measured::of_time(GENERATION, ms).figure(mark!("cells per second"), rate, "Gcell/s")
    };
    let check = move |bench: &mut Bench, _: &Ran, _| {
        let (program, ran, lattice) = step_from_start(&lattices, bench)?;
        let mut cpu = Bench::open(DeviceChoice::Cpu)?;
        let (.., wanted) = step_from_start(&torus(&mut cpu, size)?, &mut cpu)?;
        let same = tr!(
            "{size}: after {generations} generations every cell is as one device computes it",
            size = size,
            generations = FEW_GENERATIONS
        );
        let mut measured = Measured::default().check(same, lattice == wanted);
        let round = bench.timed_round(&program, ran);
        if let Some(part) = round.exchange_share() {
            measured = measured.figure(mark!("exchange"), 100.0 * part, "%");
        }
        measured.trace = Some(round);
        Ok(measured)
    };
    Ok(Programs {
        shows_round: false,
        ..Programs::new(program, figures, check)
    })
}
