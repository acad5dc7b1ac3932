//! The same asynchronous copy from page-locked and from pageable memory.

use crate::bench::{copy, median};
use crate::{Bench, Compare, Group, Lesson, Measured, Part, PartWork, Result, data};
use engine::{HostMemory, Program};
use lang::{mark, tr};

/// Words of the array.
const WORDS: usize = 1 << 20;
const BYTES: usize = 4 * WORDS;

pub(crate) const PINNED: Lesson = Lesson {
    name: "pinned",
    group: Group::Copies,
    title: "when does the call return, when is the data there?",
    source: "the tutorials' copies from page-locked memory",
    intro: "4 MiB go to the device and come back by an asynchronous copy: from and to pageable \
            memory, then from and to page-locked memory.",
    question: "Both calls are asynchronous by name: which returns before the data is there?",
    parts: &[
        Part {
            title: "pageable memory",
            work: PartWork::Program(|bench| run(bench, HostMemory::Pageable)),
        },
        Part {
            title: "page-locked memory",
            work: PartWork::Program(|bench| run(bench, HostMemory::Pinned)),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "page-locked instead of pageable memory, there and back",
    }],
    missing_on_cpu: Some("page-locked memory: all memory is the host's"),
    closing: |outcome| {
        let figures = &outcome.parts[1].figures;
        tr!(
            "From page-locked memory the whole way is {}, and its call returned after {} {} \
             of {} {}: what takes the data is not the host. Pageable memory may be moved by \
             the system meanwhile, so the driver copies it through memory of its own, and the \
             call does not return before that.",
            outcome.compared(0),
            format_args!("{:.1}", figures[1].value),
            figures[1].unit,
            format_args!("{:.1}", figures[2].value),
            figures[2].unit
        )
    },
};

fn run(bench: &mut Bench, memory: HostMemory) -> Result<Measured> {
    let stream = bench.stream()?;
    let device = bench.device_buffer(BYTES)?;
    let (from, to) = (
        bench.host_buffer(BYTES, memory)?,
        bench.host_buffer(BYTES, memory)?,
    );
    bench.access(from, &mut |words| data::fill_floats(words, 9))?;
    let ways = [copy(from, device, BYTES), copy(device, to, BYTES)].map(|op| {
        let mut program = Program::default();
        program.push(stream, op);
        program
    });
    let mut times = [(); 4].map(|()| Vec::new());
    for turn in 0..bench.pick(41, 11) {
        for (i, program) in ways.iter().enumerate() {
            let ran = bench.run(program)?;
            if turn > 0 {
                times[2 * i].push(ran.call.as_secs_f64() * 1e3);
                times[2 * i + 1].push(ran.wall_ms());
            }
        }
    }
    let [up_call, up, down_call, down] = times.map(median);
    let sent = bench.words(from)?;
    let mut same = false;
    bench.access(to, &mut |words| same = words == sent)?;
    let rate = |ms: f64| BYTES as f64 / ms / 1e6;
    Ok(Measured::of_time(mark!("there and back"), up + down)
        .time(mark!("up: the call returns after"), up_call)
        .time(mark!("up: the data is there after"), up)
        .time(mark!("down: the call returns after"), down_call)
        .time(mark!("down: the data is there after"), down)
        .figure(mark!("up"), rate(up), "GB/s")
        .figure(mark!("down"), rate(down), "GB/s")
        .check(tr!("4 MiB returned unchanged"), same))
}
