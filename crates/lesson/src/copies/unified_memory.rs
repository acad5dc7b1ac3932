//! Unified memory: pages that migrate on demand, are copied to both sides, or are prefetched.

use std::time::Instant;

use super::gray::gray_of;
use crate::prelude::*;
use engine::PageLocation;
use engine::buffer_kernels::GRAY;

const PIXELS: usize = 32 << 20;

pub(crate) const UNIFIED_MEMORY: Lesson = Lesson {
    name: "unified-memory",
    group: Group::Copies,
    title: "one address for host and device",
    source: Origin::Guide("Unified Memory Programming"),
    intro: "A kernel reads 32 Mi pixels (128 MiB) in unified memory and converts them to gray; then the host \
            reads the same pixels. First, pages migrate on demand. Then the driver is advised that they are \
            mostly read. Last, they are prefetched to the device and back.",
    question: "The pages are prefetched to the device and back: how much faster than on demand?",
    choices: Choices::Factors(1, &[1.0, 1.5, 3.0, 10.0]),
    parts: &[
        Part {
            title: "on demand",
            code: "cudaMallocManaged(&colour, 128 << 20);
fill(colour);
gray<<<BLOCKS, 256, 0, stream>>>(colour, grey);
cudaStreamSynchronize(stream);
sum(colour);",
            work: PartWork::Programs(|bench| pixels(bench, Way::OnDemand)),
        },
        Part {
            title: "advised: mostly read",
            code: "cudaMallocManaged(&colour, 128 << 20);
fill(colour);
cudaMemAdvise(colour, 128 << 20,
           cudaMemAdviseSetReadMostly, device);
gray<<<BLOCKS, 256, 0, stream>>>(colour, grey);
cudaStreamSynchronize(stream);
sum(colour);",
            work: PartWork::Programs(|bench| pixels(bench, Way::Advised)),
        },
        Part {
            title: "prefetched",
            code: "cudaMallocManaged(&colour, 128 << 20);
fill(colour);
cudaMemPrefetchAsync(colour, 128 << 20, device, stream);
gray<<<BLOCKS, 256, 0, stream>>>(colour, grey);
cudaMemPrefetchAsync(colour, 128 << 20, host, stream);
cudaStreamSynchronize(stream);
sum(colour);",
            work: PartWork::Programs(|bench| pixels(bench, Way::Prefetched)),
        },
    ],
    compared: &[
        Compare {
            slow: 0,
            fast: 1,
            label: "advice that pages are mostly read",
            faster: "Host and device each keep a copy of a page that is mostly read, so nothing moves after the \
                     first round.",
            none: "Keeping copies on both sides saved no time here.",
            slower: "Here, the advice cost more than the migrations it avoided.",
        },
        Compare {
            slow: 0,
            fast: 2,
            label: "prefetched instead of on demand",
            faster: "A prefetch moves large blocks; on demand, the threads that touch a missing page wait for \
                     it.",
            none: "Pages migrated on demand as fast as prefetched ones here.",
            slower: "Here, prefetching all pages cost more than migrating them on demand.",
        },
    ],
    missing_on_cpu: Some(Missing {
        what: "page migration (all memory is the host's)",
        on_gpu: "A GPU would show what it costs when a kernel waits for every page that is still on the host, \
                 and how advice and prefetches avoid that.",
        on_cpu: None,
    }),
    closing: Closing::Text(
        "Unified memory saves the programmer the copies, not the transfers: pages still cross the bus. Advice \
         and prefetches tell the driver what explicit copies would have told it.",
    ),
};

/// How pages get to who reads them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    OnDemand,
    Advised,
    Prefetched,
}

/// Pixels that the device and then the host read.
fn pixels(bench: &mut Bench, way: Way) -> Result<Programs> {
    let stream = bench.stream()?;
    let color = bench.buffer_in(DEVICE, 4 * PIXELS, BufferLocation::Managed)?;
    let gray = bench.device_buffer(PIXELS)?;
    bench.access(color, &mut |words| {
        for (word, number) in words.iter_mut().zip(0u32..) {
            *word = pixel(number);
        }
    })?;
    let memory = |op| Op::Buffers(BufferOp::Memory(op));
    if way == Way::Advised {
        let advice = memory(MemoryOp::AdviseReadMostly(color));
        bench.run(&Program::in_stream(stream, [advice]))?;
    }
    let arguments = [at(color), at(gray), Argument::I32(PIXELS as i32)];
    let mut ops = vec![call(&GRAY, (PIXELS / 1024) as u32, 256, arguments)];
    if way == Way::Prefetched {
        let prefetch = |to| memory(MemoryOp::Prefetch(color, to));
        ops.insert(0, prefetch(PageLocation::Device));
        ops.push(prefetch(PageLocation::Host));
    }
    let figures = move |bench: &mut Bench, runs: &[Ran]| {
        let began = Instant::now();
        let mut sum = 0u32;
        bench.access(color, &mut |words| {
            sum = words.iter().fold(0, |sum, word| sum.wrapping_add(*word));
        })?;
        let (device, host) = (runs[0].wall_ms, ms_since(began));
        let want = (0..PIXELS as u32).fold(0u32, |sum, at| sum.wrapping_add(pixel(at)));
        let both = mark!("device and host read all pixels");
        Ok(Measured::of_time(both, device + host)
            .time(mark!("on the device"), device)
            .time(mark!("on the host"), host)
            .check(tr!("the host reads back the pixels it wrote"), sum == want))
    };
    let check = move |bench: &mut Bench, _: &Ran, _| {
        let host = bench.pinned_buffer(PIXELS)?;
        bench.run(&Program::in_stream(stream, [copy(gray, host, PIXELS)]))?;
        let gray = bench.words(host)?.into_iter().flat_map(u32::to_le_bytes);
        let right = gray.eq((0..PIXELS as u32).map(|at| gray_of(pixel(at))));
        Ok(Measured::default().check(tr!("every pixel has the right gray value"), right))
    };
    Ok(Programs {
        figures: Box::new(figures),
        ..Programs::new(
            Program::in_stream(stream, ops),
            |_| Measured::default(),
            check,
        )
    })
}

/// A pixel with all kinds of colors around it.
fn pixel(number: u32) -> u32 {
    number.wrapping_mul(0x9e37_79b1) & 0x00ff_ffff
}
