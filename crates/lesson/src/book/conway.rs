//! Life a frame at a time: kernel, get, copy back; then the same in four streams.

use crate::prelude::*;
use engine::Transfer;
use session::median;

const SIDE: u64 = 128;
const BYTES: usize = 4 * (SIDE * SIDE) as usize;

pub(crate) const CONWAY: Lesson = Lesson {
    name: "conway",
    group: Group::Book,
    title: "a lattice, a kernel, and its picture on the host",
    source: Origin::Book(4, "conway_gpu.py"),
    intro: "One lattice of 128 × 128 cells. A frame is one launch, a copy of all cells to the \
            host, for which the host waits, and a copy on the device that makes the new cells \
            the old ones.",
    question: "Which of the three takes longest: the launch, the copy to the host, or the copy \
               on the device?",
    choices: Choices::Words {
        choices: &[
            "the launch",
            "the copy to the host",
            "the copy on the device",
        ],
        right: |outcome| outcome.largest(0, &[LAUNCH, TO_HOST, COPY_BACK]),
    },
    parts: &[
        Part {
            title: "as in the book",
            code: "while (running) {
    step<<<grid, block>>>(next, cells);
    cudaMemcpy(host, next, 4 * CELLS,
               cudaMemcpyDeviceToHost);
    cudaMemcpy(cells, next, 4 * CELLS,
               cudaMemcpyDeviceToDevice);
    draw(host);
}",
            work: PartWork::Alone(|bench| frames(bench, true, 1, (1, StreamKind::Default))),
        },
        Part {
            title: "corrected",
            code: "cudaMallocHost(&host, CELLS / 8);
while (running) {
    step<<<grid, block, 0, stream>>>(next, cells);
    pack<<<grid, block, 0, stream>>>(bits, next);
    cudaMemcpyAsync(host, bits, CELLS / 8,
               cudaMemcpyDeviceToHost, stream);
    std::swap(cells, next);
    cudaStreamSynchronize(stream);
    draw(host);
}",
            work: PartWork::Alone(|bench| frames(bench, false, 1, (1, StreamKind::NonBlocking))),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "page-locked memory, one bit per cell, and swapped buffers",
        faster: "One bit per cell instead of four bytes makes the copy to the host smaller, and \
                 swapping buffers replaces the copy on the device. What remains is the host's \
                 calls and the wait for each frame: one small lattice cannot fill a device.",
        none: "So the copies were not what took the time: the host's calls and waiting for \
               each frame are the same in both.",
        slower: "Packing the cells into bits takes one more launch, and on this machine the \
                 copies that it saves were cheaper.",
    }],
    missing_on_cpu: None,
    closing: Closing::Text(""),
};

pub(crate) const CONWAY_STREAMS: Lesson = Lesson {
    name: "conway-streams",
    group: Group::Book,
    title: "four lattices, four streams",
    source: Origin::Book(5, "conway_gpu_streams.py"),
    intro: "Four lattices of 128 × 128 cells, a stream each. The book issues one lattice's \
            launch, copy to the host and copy back, then the next one's. Its host memory is \
            pageable, so that each copy to the host blocks the host in the middle of it.",
    question: "How much faster is a frame of the book's program in four streams than in one?",
    choices: Choices::Factors(0, &[1.0, 2.0, 4.0]),
    parts: &[
        Part {
            title: "one stream, as in the book",
            code: "for (int i = 0; i < 4; i++) {
    step<<<grid, block, 0, stream>>>(next[i], cells[i]);
    cudaMemcpyAsync(host[i], next[i], 4 * CELLS,
               cudaMemcpyDeviceToHost, stream);
    cudaMemcpyAsync(cells[i], next[i], 4 * CELLS,
               cudaMemcpyDeviceToDevice, stream);
}
cudaDeviceSynchronize();",
            work: PartWork::Alone(|bench| frames(bench, true, 4, (1, StreamKind::NonBlocking))),
        },
        Part {
            title: "four streams, as in the book",
            code: "for (int i = 0; i < 4; i++) {
    step<<<grid, block, 0, stream[i]>>>(next[i], cells[i]);
    cudaMemcpyAsync(host[i], next[i], 4 * CELLS,
               cudaMemcpyDeviceToHost, stream[i]);
    cudaMemcpyAsync(cells[i], next[i], 4 * CELLS,
               cudaMemcpyDeviceToDevice, stream[i]);
}
cudaDeviceSynchronize();",
            work: PartWork::Alone(|bench| frames(bench, true, 4, (4, StreamKind::Blocking))),
        },
        Part {
            title: "four streams, corrected",
            code: "cudaMallocHost(&host[i], CELLS / 8);
for (int i = 0; i < 4; i++)
    step<<<grid, block, 0, stream[i]>>>(next[i], cells[i]);
for (int i = 0; i < 4; i++)
    pack<<<grid, block, 0, stream[i]>>>(bits[i], next[i]);
for (int i = 0; i < 4; i++)
    cudaMemcpyAsync(host[i], bits[i], CELLS / 8,
               cudaMemcpyDeviceToHost, stream[i]);
std::swap(cells, next);
cudaDeviceSynchronize();",
            work: PartWork::Alone(|bench| frames(bench, false, 4, (4, StreamKind::NonBlocking))),
        },
    ],
    compared: &[
        Compare {
            slow: 0,
            fast: 1,
            label: "four streams instead of one, as in the book",
            faster: "The host waits in every copy to pageable memory: only what it issues between \
                     these waits can overlap.",
            none: "The host waits in every copy to pageable memory, and has not yet issued the \
                   next stream's work by then.",
            slower: "More streams were only more to manage here.",
        },
        Compare {
            slow: 1,
            fast: 2,
            label: "page-locked memory, all launches first, nothing copied back",
            faster: "A stream only promises order: operations of several streams overlap if the \
                     host does not wait between them.",
            none: "So waiting between the operations was not the bottleneck here.",
            slower: "Packing the cells into bits takes one more launch, and on this machine the \
                     copies and waits that it saves were cheaper.",
        },
    ],
    missing_on_cpu: None,
    closing: Closing::Text(""),
};

const LAUNCH: &str = mark!("time per launch, measured by events around it");
const TO_HOST: &str = mark!("its copy to the host");
const COPY_BACK: &str = mark!("its copy back on the device");

/// Frames of lattices that take turns in streams, each waited for as a picture that is drawn. In the book,
/// a cell comes to pageable memory of the host as four bytes, for which the host waits in the default
/// stream, and the new cells are copied over the old ones. Else it comes to page-locked memory as one bit,
/// and all launches are before the first copy.
fn frames(
    bench: &mut Bench,
    is_book: bool,
    count: usize,
    (streams, kind): (usize, StreamKind),
) -> Result<Programs> {
    const WARM: usize = 20;
    let streams = bench.streams(streams, kind)?;
    let lattices = BenchLattices::new(bench, count, square(SIDE), kernel("global"), &streams, 1)?;
    let mut each = Vec::new();
    for (i, &stream) in (0..).zip(&lattices.streams) {
        let block = lattices.kernel.block();
        let mut ops = vec![(LAUNCH, lattices.advance_one(i, 1, block))];
        if is_book {
            let (slot, what) = (BenchLattices::PAGEABLE, Transfer::Cells);
            ops.push((TO_HOST, Op::download(i..i + 1, slot, what)));
            if kind == StreamKind::Default {
                ops.push(("", OrderOp::Synchronize(Scope::Stream).into()));
            }
            // It stands for the lattice's new and old cells.
            let spare = [bench.device_buffer(BYTES)?, bench.device_buffer(BYTES)?];
            ops.push((COPY_BACK, copy(spare[0], spare[1], BYTES)));
        } else {
            let packing = mark!("packing its cells into bits");
            ops.push((packing, LatticeOp::Pack.on(i..i + 1)));
            let (slot, what) = (BenchLattices::PINNED, Transfer::Bits);
            ops.push((TO_HOST, Op::download(i..i + 1, slot, what)));
        }
        let ops = ops.into_iter().enumerate();
        each.extend(ops.map(|(phase, (label, op))| (phase, stream, label, op)));
    }
    if !is_book {
        each.sort_by_key(|(phase, ..)| *phase);
    }
    let mut frame = Program::default();
    let mut shown: Vec<(&str, usize)> = Vec::new();
    for (step, (_, stream, label, op)) in each.into_iter().enumerate() {
        if !label.is_empty() && shown.iter().all(|(it, _)| *it != label) {
            shown.push((label, step));
        }
        frame.push(stream, op);
    }
    for _ in 0..WARM {
        bench.run(&frame)?;
    }
    let figures = |runs: &[Ran]| {
        let ms = median(runs.iter().map(|it| it.wall_ms)).expect("several frames");
        let measured = Measured::of_time(mark!("a frame"), ms);
        measured.figure(mark!("frames per second"), 1e3 / ms, "1/s")
    };
    let check = move |bench: &mut Bench, ran: &Ran, runs: usize| {
        let stepped = WARM + runs;
        let wrong = lattices.wrong(bench, stepped as u64)?;
        let steps = shown.iter();
        let mut measured = steps.fold(Measured::default(), |measured, &(label, step)| {
            measured.time(label, ran.step_ms(step))
        });
        let checked = tr!(
            "{lattices} × 128 × 128 cells after {} frames",
            stepped,
            lattices = count
        );
        measured = measured.check(checked, wrong == 0);
        if is_book {
            measured = measured.note(tr!(
                "this engine swaps its two buffers anyway; the copy back is made between two \
                 others of the same size"
            ));
        }
        Ok(measured)
    };
    Ok(Programs {
        repeats: bench.pick(20, 5),
        is_warm: true,
        ..Programs::new(frame, figures, check)
    })
}
