//! As one writes it with the CUDA runtime.

use super::{Facts, Piece, Speech, indented, lines};
use crate::engine::HostMemory;
use crate::engine::kernels::Launch;
use crate::session::{Streams, Wait};

pub(super) struct Cpp;

/// The stream of instance `i`.
fn stream(facts: &Facts) -> Option<&'static str> {
    match facts.streams {
        Streams::PerInstance => Some("stream[i]"),
        Streams::One => Some("stream"),
        Streams::Default => None,
    }
}

/// As a call's last argument, where it may be left out.
fn and_stream(facts: &Facts) -> String {
    stream(facts).map_or(String::new(), |stream| format!(", {stream}"))
}

fn launch(facts: &Facts, name: &str, launch: Launch, arguments: &str) -> Vec<String> {
    let grid = match launch.grid {
        [1, 1, 1] => "1".into(),
        [x, y, 1] => format!("dim3({x}, {y})"),
        [x, y, z] => format!("dim3({x}, {y}, {z})"),
    };
    configured(facts, name, &grid, launch, arguments)
}

fn configured(
    facts: &Facts,
    name: &str,
    grid: &str,
    launch: Launch,
    arguments: &str,
) -> Vec<String> {
    let [x, y, _] = launch.block;
    let block = format!("dim3({x}, {y})");
    let rest = match (launch.shared_bytes, stream(facts)) {
        (0, None) => String::new(),
        (shared, None) => format!(", {shared}"),
        (shared, Some(stream)) => format!(", {shared}, {stream}"),
    };
    vec![
        format!("{name}<<<{grid}, {block}{rest}>>>("),
        format!("    {arguments});"),
    ]
}

fn advance(facts: &Facts) -> Vec<String> {
    let numbers = facts.numbers();
    let arguments = if facts.batches() {
        format!("cells[0], {numbers}") // the others lie behind
    } else if facts.kernel.in_place {
        format!("cells[i], {numbers}")
    } else {
        format!("cells[i], next[i], {numbers}")
    };
    let mut calls = launch(facts, facts.kernel.symbol, facts.launch, &arguments);
    if facts.swaps() {
        calls.push("std::swap(cells[i], next[i]);".into());
    }
    match facts.launches() {
        1 => calls,
        n => {
            let mut repeated = vec![format!("for (int g = 0; g < {n}; g++) {{")];
            repeated.extend(indented(calls));
            repeated.push("}".into());
            repeated
        }
    }
}

impl Speech for Cpp {
    fn once(&self, facts: &Facts) -> Vec<String> {
        let make = |stream: &str| {
            vec![
                "cudaStreamCreateWithFlags(".to_owned(),
                format!("    &{stream}, cudaStreamNonBlocking);"),
            ]
        };
        let bytes = facts
            .words()
            .map_or("view_bytes".into(), |words| (4 * words).to_string());
        let host = match facts.host_memory {
            HostMemory::Pinned => format!("cudaMallocHost(&host[i], {bytes});"),
            HostMemory::Pageable => format!("host[i] = malloc({bytes});"),
        };
        let mut once = Vec::new();
        match facts.streams {
            Streams::One => once.extend(make("stream")),
            Streams::Default => {
                once.push("// no stream is made: all goes to the default one".into());
            }
            Streams::PerInstance => {}
        }
        once.extend(self.head(facts));
        if facts.streams == Streams::PerInstance {
            once.extend(indented(make("stream[i]")));
        }
        once.push(format!("    {host}"));
        once.push("}".into());
        once
    }

    fn head(&self, facts: &Facts) -> Vec<String> {
        vec![format!("for (int i = 0; i < {}; i++) {{", facts.instances)]
    }

    fn piece(&self, facts: &Facts, piece: Piece) -> Vec<String> {
        let (width, height) = (facts.size.width(), facts.size.height());
        match piece {
            Piece::Advance => advance(facts),
            Piece::Pack => {
                let arguments = format!("cells[i], bits[i], {width}, {height}");
                let shape = Launch::convert(facts.size, facts.kernel.layout);
                launch(facts, facts.packs(), shape, &arguments)
            }
            Piece::Reduce => {
                let arguments = format!("{}[i], view[i], {width}, {height}, …", facts.bits());
                let shape = Launch::over(1, 1, Launch::SUPPORT_BLOCK);
                configured(facts, "reduce_bits", "grid", shape, &arguments)
            }
            Piece::Download => {
                let bytes = facts
                    .words()
                    .map_or("view_bytes".into(), |words| (4 * words).to_string());
                let with = and_stream(facts);
                vec![
                    format!("cudaMemcpyAsync(host[i], {}[i], {bytes},", facts.source()),
                    format!("    cudaMemcpyDeviceToHost{with});"),
                    format!("cudaEventRecord(done[i]{with});"),
                ]
            }
            Piece::WaitEach => {
                let stream = stream(facts).unwrap_or("0");
                vec![format!("cudaStreamSynchronize({stream});")]
            }
        }
    }

    fn begin_capture(&self, facts: &Facts) -> Vec<String> {
        let mut begin = lines(["// once: recorded, not run", "cudaStreamBeginCapture("]);
        let origin = origin(facts);
        begin.push(format!("    {origin}, cudaStreamCaptureModeRelaxed);"));
        if facts.streams == Streams::PerInstance {
            begin.push("cudaEventRecord(fork, origin);".into());
            begin.extend(self.head(facts));
            begin.push("    cudaStreamWaitEvent(stream[i], fork);".into());
            begin.push("}".into());
        }
        begin
    }

    fn end_capture(&self, facts: &Facts) -> Vec<String> {
        let mut end = Vec::new();
        if facts.streams == Streams::PerInstance {
            end.extend(self.head(facts));
            end.push("    cudaStreamWaitEvent(origin, done[i]);".into());
            end.push("}".into());
        }
        end.push(format!("cudaStreamEndCapture({}, &graph);", origin(facts)));
        end.push("cudaGraphInstantiate(&ready, graph, 0);".into());
        end
    }

    fn replay(&self, facts: &Facts) -> Vec<String> {
        vec![format!("cudaGraphLaunch(ready, {});", origin(facts))]
    }

    fn end(&self, facts: &Facts) -> Vec<String> {
        match facts.wait {
            Wait::All => lines(["cudaDeviceSynchronize();"]),
            Wait::Each => Vec::new(),
            Wait::Poll if facts.graphs => lines(["// later, without waiting: cudaEventQuery(end)"]),
            Wait::Poll => lines(["// later, without waiting: cudaEventQuery(done[i])"]),
        }
    }
}

/// The stream that a graph is captured from and launched in.
fn origin(facts: &Facts) -> &'static str {
    match facts.streams {
        Streams::PerInstance => "origin",
        Streams::One | Streams::Default => "stream",
    }
}
