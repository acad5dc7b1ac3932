//! The same asynchronous copy from page-locked and from pageable memory.

use crate::prelude::*;

/// Words of the array.
const WORDS: usize = 1 << 20;
const BYTES: usize = 4 * WORDS;

pub(crate) const PINNED: Lesson = Lesson {
    name: "pinned",
    group: Group::Copies,
    title: "when does the call return, when is the data there?",
    source: Origin::BestPractices("Pinned Memory"),
    intro: "4 MiB go to the device and come back by an asynchronous copy: from and to pageable \
            memory, then from and to page-locked memory.",
    question: "The same asynchronous copy from page-locked instead of pageable memory: how much faster is it?",
    choices: Choices::Factors(0, &[1.0, 1.5, 4.0, 10.0]),
    parts: &[
        Part {
            title: "pageable memory",
            code: "host = malloc(4 << 20);
cudaMemcpyAsync(device, host, 4 << 20,
               cudaMemcpyHostToDevice, stream);
cudaMemcpyAsync(host, device, 4 << 20,
               cudaMemcpyDeviceToHost, stream);
cudaStreamSynchronize(stream);",
            work: PartWork::Programs(|bench| there_and_back(bench, HostMemory::Pageable)),
        },
        Part {
            title: "page-locked memory",
            code: "cudaMallocHost(&host, 4 << 20);
cudaMemcpyAsync(device, host, 4 << 20,
               cudaMemcpyHostToDevice, stream);
cudaMemcpyAsync(host, device, 4 << 20,
               cudaMemcpyDeviceToHost, stream);
cudaStreamSynchronize(stream);",
            work: PartWork::Programs(|bench| there_and_back(bench, HostMemory::Pinned)),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "page-locked instead of pageable memory, there and back",
        faster: "The copy does not go through the driver's own memory.",
        none: "On this machine the way through the driver's own memory does not show.",
        slower: "On this machine the way through the driver's own memory was no loss.",
    }],
    missing_on_cpu: Some(Missing {
        what: "page-locked memory (all memory is the host's)",
        on_gpu: "A GPU would show that the call of a copy from page-locked memory returns before the \
                 data is there, and that pageable memory first goes through memory of the driver's. \
                 On the CPU engine both are the same memory.",
        on_cpu: Some([
            "The memory is the same, so this is noise, too: measure again.",
            "Here both are the same memory.",
        ]),
    }),
    closing: Closing::Text(
        "The system may move pageable memory while the device reads it, so the driver \
         copies it to memory of its own first. Compare in the figures when the call returns \
         and when the data is there.",
    ),
};

/// An array that goes up and comes down, each by a program of its own.
fn there_and_back(bench: &mut Bench, memory: HostMemory) -> Result<Programs> {
    let stream = bench.stream()?;
    // The CPU engine has one kind of memory. Two arrays of it may differ by where they are, which
    // would look like a difference of kinds.
    let memory = bench.pick(memory, HostMemory::Pageable);
    let device = bench.shared_buffer(0, BYTES, None)?;
    let from = bench.shared_buffer(1, BYTES, Some(memory))?;
    let to = bench.shared_buffer(2, BYTES, Some(memory))?;
    bench.fill_floats(from, 9)?;
    bench.access(to, &mut |words| words.fill(0))?;
    let ways = [copy(from, device, BYTES), copy(device, to, BYTES)];
    let figures = |runs: &[Ran]| {
        let [up, down] = runs else { unreachable!() };
        let rate = |ran: &Ran| BYTES as f64 / ran.wall_ms / 1e6;
        let both = up.wall_ms + down.wall_ms;
        Measured::of_time(mark!("there and back"), both)
            .time(mark!("upload: the call returns after"), up.call_ms)
            .time(mark!("upload: the data is there after"), up.wall_ms)
            .time(mark!("download: the call returns after"), down.call_ms)
            .time(mark!("download: the data is there after"), down.wall_ms)
            .figure(mark!("upload"), rate(up), "GB/s")
            .figure(mark!("download"), rate(down), "GB/s")
    };
    let check = move |bench: &mut Bench, _: &Ran, _| {
        let same = bench.words(to)? == bench.words(from)?;
        Ok(Measured::default().check(tr!("4 MiB returned unchanged"), same))
    };
    Ok(Programs {
        programs: ways.map(|op| Program::in_stream(stream, [op])).into(),
        shows_round: false,
        ..Programs::new(Program::default(), figures, check)
    })
}
