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
    source: Origin::Book {
        chapter: 4,
        program: "conway_gpu.py",
    },
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
            work: PartWork::Alone(|bench| frames(bench, &BOOK, 1)),
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
            work: PartWork::Alone(|bench| frames(bench, &RIGHT, 1)),
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
    source: Origin::Book {
        chapter: 5,
        program: "conway_gpu_streams.py",
    },
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
            work: PartWork::Alone(|bench| frames(bench, &BOOK_ONE_STREAM, 4)),
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
            work: PartWork::Alone(|bench| frames(bench, &BOOK_STREAMS, 4)),
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
            work: PartWork::Alone(|bench| frames(bench, &RIGHT_STREAMS, 4)),
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

/// How a frame is issued.
struct Way {
    /// Which streams; `None` for one that all share.
    streams: Option<StreamKind>,
    memory: HostMemory,
    /// A bit per cell, not four bytes.
    bits: bool,
    /// All launches before the first copy.
    breadth: bool,
    /// The new cells are copied over the old ones.
    copy_back: bool,
    /// The host waits behind each copy to it.
    wait_each: bool,
}

const BOOK: Way = Way {
    streams: Some(StreamKind::Default),
    memory: HostMemory::Pageable,
    bits: false,
    breadth: false,
    copy_back: true,
    wait_each: true,
};

const RIGHT: Way = Way {
    streams: Some(StreamKind::NonBlocking),
    memory: HostMemory::Pinned,
    bits: true,
    breadth: true,
    copy_back: false,
    wait_each: false,
};

const BOOK_STREAMS: Way = Way {
    streams: Some(StreamKind::Blocking),
    wait_each: false,
    ..BOOK
};

const BOOK_ONE_STREAM: Way = Way {
    streams: None,
    ..BOOK_STREAMS
};

const RIGHT_STREAMS: Way = RIGHT;

impl Way {
    /// What is done for a lattice. `spare` stands for its new and old cells where they are copied.
    fn ops(&self, lattices: &BenchLattices, i: u32, spare: [BufferId; 2]) -> Vec<Op> {
        let slot = match self.memory {
            HostMemory::Pinned => BenchLattices::PINNED,
            HostMemory::Pageable => BenchLattices::PAGEABLE,
        };
        let what = if self.bits {
            Transfer::Bits
        } else {
            Transfer::Cells
        };
        let mut ops = vec![lattices.advance_one(i, 1, lattices.kernel.block())];
        if self.bits {
            ops.push(LatticeOp::Pack.on(i..i + 1));
        }
        ops.push(Op::download(i..i + 1, slot, what));
        if self.wait_each {
            ops.push(OrderOp::Synchronize(Scope::Stream).into());
        }
        if self.copy_back {
            ops.push(copy(spare[0], spare[1], BYTES));
        }
        ops
    }
}

/// Frames, each waited for as a picture that is drawn.
fn frames(bench: &mut Bench, way: &'static Way, count: usize) -> Result<Programs> {
    const WARM: usize = 20;
    let streams = match way.streams {
        Some(StreamKind::Default) => bench.streams(1, StreamKind::Default)?,
        Some(kind) => bench.streams(count, kind)?,
        None => bench.streams(1, StreamKind::NonBlocking)?,
    };
    let lattices = BenchLattices::new(bench, count, square(SIDE), kernel("global"), &streams)?;
    let mut each = Vec::new();
    for (i, &stream) in (0..).zip(&lattices.streams) {
        let spare = [bench.device_buffer(BYTES)?, bench.device_buffer(BYTES)?];
        let ops = way.ops(&lattices, i, spare).into_iter().enumerate();
        each.extend(ops.map(|(phase, op)| (phase, stream, op)));
    }
    if way.breadth {
        each.sort_by_key(|(phase, ..)| *phase);
    }
    let mut frame = Program::default();
    let mut shown: Vec<(&str, usize)> = Vec::new();
    for (step, (_, stream, op)) in each.into_iter().enumerate() {
        let label = match op {
            Op::Lattices(_, LatticeOp::Advance { .. }) => Some(LAUNCH),
            Op::Lattices(_, LatticeOp::Pack) => Some(mark!("packing its cells into bits")),
            Op::Lattices(_, LatticeOp::Download { .. }) => Some(TO_HOST),
            Op::Buffers(BufferOp::Copy { .. }) => Some(COPY_BACK),
            _ => None,
        };
        let is_new = |label: &&str| shown.iter().all(|(it, _)| it != label);
        shown.extend(label.filter(is_new).map(|label| (label, step)));
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
        if way.copy_back {
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
