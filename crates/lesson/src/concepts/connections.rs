//! How many queues there are between the host and the device: 8 or 32.

use std::process::{Command, Stdio};

use super::default_stream::spin;
use crate::bench::copy;
use crate::{Bench, Compare, Group, Lesson, LessonError, Measured, Part, PartWork, Result};
use engine::{HostMemory, Program, StreamKind};
use lang::{mark, tr};
use model::DeviceChoice;

const STREAMS: usize = 32;
/// Launches in each stream, one behind the other.
const DEEP: usize = 3;
const SPIN_NS: u64 = 200_000;

pub(crate) const CONNECTIONS: Lesson = Lesson {
    name: "connections",
    group: Group::Concepts,
    title: "thirty-two streams over eight connections, and over thirty-two",
    source: "CUDA_DEVICE_MAX_CONNECTIONS in the CUDA C++ Programming Guide",
    intro: "32 streams of three launches of 0.2 ms, issued one stream after the other. The \
            driver reads how many connections there are when it starts: so the program starts \
            itself twice, with 8 and with 32 of them.",
    question: "Streams that share a connection: does one wait for the other?",
    parts: &[
        Part {
            title: "8 connections",
            work: PartWork::Program(|bench| in_child(bench, 8)),
        },
        Part {
            title: "32 connections",
            work: PartWork::Program(|bench| in_child(bench, 32)),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "32 connections instead of 8",
    }],
    missing_on_cpu: Some("connections: a stream is a queue of its own"),
    closing: |outcome| {
        tr!(
            "With 32 connections instead of 8 it is {}. Where streams share one, a launch that waits for \
             the one before it holds up the streams behind it, unless the device looks further, as \
             new ones do.",
            outcome.compared(0)
        )
    },
};

/// What a child says, as one JSON object on stdout.
#[derive(serde::Serialize, serde::Deserialize)]
struct Answer {
    ms: f64,
    right: bool,
}

/// The measurement itself, in a process whose driver has started with some connections; what its
/// parent reads, as JSON.
///
/// # Errors
/// Where the engine fails.
pub fn measure(device: DeviceChoice) -> Result<String> {
    let mut bench = Bench::open(device)?;
    let streams = bench.streams(STREAMS, StreamKind::NonBlocking)?;
    let done = bench.device_buffer(4)?;
    let done_host = bench.host_buffer(4, HostMemory::Pinned)?;
    let mut program = Program::default();
    for &stream in &streams {
        for _ in 0..DEEP {
            program.push(stream, spin(done, SPIN_NS));
        }
    }
    let runs = bench.pick(11, 5);
    let ms = bench.median_ms(runs, &program)?;
    let mut down = Program::default();
    down.push(streams[0], copy(done, done_host, 4));
    bench.run(&down)?;
    let counted = bench.words(done_host)?[0] as usize;
    let right = counted == STREAMS * DEEP * (runs + 1);
    serde_json::to_string(&Answer { ms, right })
        .map_err(|error| LessonError::Child(error.to_string()))
}

fn in_child(bench: &mut Bench, connections: u32) -> Result<Measured> {
    let fail = |why: String| LessonError::Child(why);
    let program = std::env::current_exe().map_err(|error| fail(error.to_string()))?;
    let device = bench.choice().to_string();
    let output = Command::new(program)
        .args(["lesson", "connections", "--child", "--device", &device])
        .env("CUDA_DEVICE_MAX_CONNECTIONS", connections.to_string())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| fail(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(fail(format!("{}: {}", output.status, said.trim())));
    }
    let answer: Answer =
        serde_json::from_slice(&output.stdout).map_err(|error| fail(error.to_string()))?;
    Ok(
        Measured::of_time(mark!("96 launches in 32 streams"), answer.ms)
            .check(tr!("every launch was counted"), answer.right),
    )
}
