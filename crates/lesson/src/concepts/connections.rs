//! How many queues there are between the host and the device: 8 or 32.

use std::io::{BufRead, BufReader, Error, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::default_stream::Counter;
use crate::LessonError;
use crate::prelude::*;
use session::DeviceChoice;

const STREAMS: usize = 32;
/// Launches in each stream, one behind the other.
const DEEP: usize = 3;
const SPIN_NS: u64 = 200_000;

pub(crate) const CONNECTIONS: Lesson = Lesson {
    name: "connections",
    group: Group::Concepts,
    title: "thirty-two streams over eight connections, and over thirty-two",
    source: Origin::Guide("CUDA Environment Variables"),
    intro: "32 streams of three launches of 0.2 ms, issued one stream after the other. The \
            driver reads how many connections there are when it starts: so the program starts \
            itself twice, with 8 and with 32 of them.",
    question: "32 streams over 32 connections instead of 8: how much faster?",
    choices: Choices::Factors(0, &[1.0, 2.0, 4.0]),
    parts: &[
        Part {
            title: "8 connections",
            code: "// CUDA_DEVICE_MAX_CONNECTIONS=8
for (int i = 0; i < 32; i++)
    for (int n = 0; n < 3; n++)
        spin<<<1, 1, 0, stream[i]>>>(200 * us);
cudaDeviceSynchronize();",
            work: PartWork::Programs(|bench| connected(bench, 8)),
        },
        Part {
            title: "32 connections",
            code: "// CUDA_DEVICE_MAX_CONNECTIONS=32
for (int i = 0; i < 32; i++)
    for (int n = 0; n < 3; n++)
        spin<<<1, 1, 0, stream[i]>>>(200 * us);
cudaDeviceSynchronize();",
            work: PartWork::Programs(|bench| connected(bench, 32)),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "32 connections instead of 8",
        faster: "A launch that waits for the one before it holds up the streams behind it in \
                 its connection.",
        none: "So this device looks past a launch that waits, to the streams behind it.",
        slower: "Here more connections only cost more.",
    }],
    missing_on_cpu: Some(Missing {
        what: "connections (each stream is a queue of its own)",
        on_gpu: "A GPU would show whether streams that share a connection wait for each other; new ones \
                 look further ahead in it. On the CPU engine no two streams share a queue.",
        on_cpu: None,
    }),
    closing: Closing::Text(
        "Streams that share a connection are one queue, as far as the device does not \
         look ahead.",
    ),
};

/// What a child says of a run, as one line of JSON on stdout.
#[derive(serde::Serialize, serde::Deserialize)]
struct Answer {
    ms: f64,
    /// Whether every launch so far was counted.
    right: bool,
}

impl From<Error> for LessonError {
    fn from(error: Error) -> LessonError {
        LessonError::Child(error.to_string())
    }
}

/// The measurement itself, in a process whose driver has started with some connections: for each line
/// of `requests` a run, and a line of JSON about it to `answers`.
///
/// # Errors
/// Where the engine fails, or the parent is gone.
pub fn serve(
    device: DeviceChoice,
    requests: &mut dyn BufRead,
    answers: &mut dyn Write,
) -> Result<()> {
    let mut bench = Bench::open(device)?;
    let streams = bench.streams(STREAMS, StreamKind::NonBlocking)?;
    let counter = Counter::new(&mut bench)?;
    let mut program = Program::default();
    for &stream in &streams {
        for _ in 0..DEEP {
            program.push(stream, counter.spin(SPIN_NS));
        }
    }
    bench.run(&program)?;
    let mut runs = 1;
    let mut request = String::new();
    while requests.read_line(&mut request)? > 0 {
        let ms = bench.run(&program)?.wall_ms;
        runs += 1;
        let right = counter.read(&mut bench, streams[0])? == STREAMS * DEEP * runs;
        let answer = serde_json::to_string(&Answer { ms, right }).map_err(Error::from)?;
        writeln!(answers, "{answer}")?;
        answers.flush()?;
        request.clear();
    }
    Ok(())
}

/// A process with a number of connections. It ends once its stdin is closed.
struct Connected {
    child: Child,
    answers: BufReader<ChildStdout>,
}

fn connected(bench: &mut Bench, connections: u32) -> Result<Programs> {
    let device = bench.choice.to_string();
    let mut child = Command::new(std::env::current_exe()?)
        .args(["lesson", "connections", "--child", "--device", &device])
        .env("CUDA_DEVICE_MAX_CONNECTIONS", connections.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let answers = child.stdout.take().expect("it is piped");
    let mut connected = Connected {
        answers: BufReader::new(answers),
        child,
    };
    let figures = move |_: &mut Bench, _: &[Ran]| {
        let answer = connected.ask().unwrap_or_default();
        let answer: Answer = serde_json::from_str(&answer)
            .map_err(|error| LessonError::Child(format!("{error}: {}", connected.why())))?;
        let measured = Measured::of_time(mark!("96 launches in 32 streams"), answer.ms);
        Ok(measured.check(tr!("every launch was counted"), answer.right))
    };
    Ok(Programs::measured_by(figures))
}

impl Connected {
    fn ask(&mut self) -> std::io::Result<String> {
        if let Some(requests) = &mut self.child.stdin {
            requests.write_all(b"\n")?;
        }
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(answer)
    }

    /// What the child says of its end.
    fn why(&mut self) -> String {
        self.child.stdin = None;
        let mut said = String::new();
        if let Some(errors) = &mut self.child.stderr {
            let _ = errors.read_to_string(&mut said); // then there is nothing to say
        }
        said.trim().into()
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        let _ = self.child.wait(); // it ends by itself, since that closes its stdin
    }
}
