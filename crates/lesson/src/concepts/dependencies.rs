//! Events that streams wait for: a diamond of dependencies.

use super::default_stream::Counter;
use crate::prelude::*;

/// Words of each array.
const WORDS: usize = 1 << 16;
const BYTES: usize = 4 * WORDS;
/// How long each branch lasts beside its copy. The second is the longer one: who does not wait for it
/// reads what was there before.
const BRANCHES_NS: [u64; 2] = [1_000_000, 1_500_000];

pub(crate) const DEPENDENCIES: Lesson = Lesson {
    name: "dependencies",
    group: Group::Concepts,
    title: "streams that wait for one another's events",
    source: Origin::Guide("Events"),
    intro: "An array goes up. Two branches take 1 and 1.5 ms and make a copy of it, and both copies come \
            down: a diamond of dependencies. First in one stream; then with a stream for each branch, \
            where events say what waits for what; then the same without the events.",
    question: "Two branches of 1 and 1.5 ms between an upload and a download: how much faster are \
               two streams that are joined by events?",
    choices: Choices::Factors(0, &[1.0, 1.7, 2.5]),
    parts: &[
        Part {
            title: "one stream",
            code: "cudaMemcpyAsync(a, host, bytes,
           cudaMemcpyHostToDevice, left);
branch<<<1, 1, 0, left>>>(b, a);
branch<<<1, 1, 0, left>>>(c, a);
cudaMemcpyAsync(host_b, b, bytes,
           cudaMemcpyDeviceToHost, left);
cudaMemcpyAsync(host_c, c, bytes,
           cudaMemcpyDeviceToHost, left);",
            work: PartWork::Programs(|bench| diamond(bench, Way::OneStream)),
        },
        Part {
            title: "two streams joined by events",
            code: "cudaMemcpyAsync(a, host, bytes,
           cudaMemcpyHostToDevice, left);
cudaEventRecord(up, left);
cudaStreamWaitEvent(right, up);
branch<<<1, 1, 0, left>>>(b, a);
branch<<<1, 1, 0, right>>>(c, a);
cudaEventRecord(done, right);
cudaStreamWaitEvent(left, done);
cudaMemcpyAsync(host_b, b, bytes,
           cudaMemcpyDeviceToHost, left);
cudaMemcpyAsync(host_c, c, bytes,
           cudaMemcpyDeviceToHost, left);",
            work: PartWork::Programs(|bench| diamond(bench, Way::Events)),
        },
        Part {
            title: "two streams without events",
            code: "cudaMemcpyAsync(a, host, bytes,
           cudaMemcpyHostToDevice, left);
branch<<<1, 1, 0, left>>>(b, a);
branch<<<1, 1, 0, right>>>(c, a);
cudaMemcpyAsync(host_b, b, bytes,
           cudaMemcpyDeviceToHost, left);
cudaMemcpyAsync(host_c, c, bytes,
           cudaMemcpyDeviceToHost, left);",
            work: PartWork::Programs(|bench| diamond(bench, Way::NoEvents)),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "two streams joined by events instead of one stream",
        faster: "The branches ran side by side, each after what it depends on.",
        none: "Here the branches did not run side by side.",
        slower: "Here the branches did not run side by side, and the events cost more.",
    }],
    missing_on_cpu: None,
    closing: Closing::OfFigures(|outcome| {
        let wrong = outcome.value(2, WRONG);
        if wrong > 0.0 {
            tr!(
                "Without the events {wrong} words came down wrong: the download did not wait for the \
                 branch in the other stream. CUDA reported no error. An event orders two streams on the \
                 device; the host waits for nothing.",
                wrong = format_args!("{wrong:.0}")
            )
        } else {
            tr!("Without the events every word was right all the same, this time: that is a race which \
                 nobody has lost yet.")
                .into()
        }
    }),
};

const WRONG: &str = mark!("wrong words");

/// How the branches are ordered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    OneStream,
    Events,
    NoEvents,
}

/// An array, its two copies on the device, and what comes down of them. Each run sends numbers that were
/// not there before, to count those that come down otherwise.
fn diamond(bench: &mut Bench, way: Way) -> Result<Programs> {
    let streams = bench.streams(2, StreamKind::NonBlocking)?;
    let [left, right] = match way {
        Way::OneStream => [streams[0]; 2],
        Way::Events | Way::NoEvents => [streams[0], streams[1]],
    };
    let mut array = || -> Result<[BufferId; 2]> {
        let device = bench.device_buffer(BYTES)?;
        Ok([device, bench.pinned_buffer(BYTES)?])
    };
    let [[device, host], first, second] = [array()?, array()?, array()?];
    let engine = bench.engine()?;
    let (up, done) = (engine.create_event(DEVICE)?, engine.create_event(DEVICE)?);
    let counter = Counter::new(bench)?;
    let mut program = Program::in_stream(left, [copy(host, device, BYTES)]);
    if way == Way::Events {
        program.push(left, OrderOp::Record(up));
        program.push(right, OrderOp::Wait(up));
    }
    for ([branch, _], stream, length) in [
        (first, left, BRANCHES_NS[0]),
        (second, right, BRANCHES_NS[1]),
    ] {
        program.push(stream, counter.spin(length));
        program.push(stream, copy(device, branch, BYTES));
    }
    if way == Way::Events {
        program.push(right, OrderOp::Record(done));
        program.push(left, OrderOp::Wait(done));
    }
    for [branch, down] in [first, second] {
        program.push(left, copy(branch, down, BYTES));
    }
    let check = move |bench: &mut Bench, _: &Ran, runs: usize| {
        let mut came = bench.words(first[1])?;
        came.extend(bench.words(second[1])?);
        let wrong = came.iter().filter(|&&word| word != runs as u32).count();
        let mut measured = counter.check(bench, left, 2 * runs)?;
        measured = measured.figure(WRONG, wrong as f64, "");
        if way != Way::NoEvents {
            measured = measured.check(tr!("both arrays came down as they went up"), wrong == 0);
        }
        Ok(measured)
    };
    Ok(Programs {
        before: Box::new(move |bench, runs| {
            bench.access(host, &mut |words| words.fill(runs as u32 + 1))
        }),
        ..Programs::new(program, wall(mark!("the diamond")), check)
    })
}
