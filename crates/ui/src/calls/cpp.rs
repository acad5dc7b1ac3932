//! As one writes it with the CUDA runtime.

use super::{CodeGenerator, REGION, RoundFacts, RoundPart, for_each, indented, lines};
use engine::kernels::Launch;
use engine::{HostMemory, SupportKernel};
use lang::tr;
use script::{Call, CallKind};
use session::{Streams, Wait};

pub(super) struct Cpp;

/// The stream of instance `i`.
fn stream(facts: &RoundFacts) -> Option<&'static str> {
    match facts.streams {
        Streams::PerInstance if facts.own.is_some() => Some("s"),
        Streams::PerInstance => Some("stream[i]"),
        Streams::One | Streams::Batch => Some("stream"),
        Streams::Default => None,
    }
}

/// As a call's last argument, where it may be left out.
fn and_stream(facts: &RoundFacts) -> String {
    stream(facts).map_or(String::new(), |stream| format!(", {stream}"))
}

fn launch(facts: &RoundFacts, name: &str, launch: Launch, arguments: &str) -> Vec<String> {
    let grid = match launch.grid {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("dim3({x}, {y})"),
        [x, y, z] => format!("dim3({x}, {y}, {z})"),
    };
    configured(facts, name, &grid, launch, &[arguments])
}

/// A launch whose blocks all run at the same time; it takes the addresses of its arguments.
fn launch_cooperatively(facts: &RoundFacts, buffers: &[String]) -> Vec<String> {
    let (name, launch) = (facts.symbol(), facts.launch);
    let ([across, down, _], [threads, ..]) = (launch.grid, launch.block);
    let (width, height) = (facts.size.width(), facts.size.height());
    let (steps, shared) = (facts.generations_of_launch(), launch.shared_bytes);
    let stream = stream(facts).unwrap_or("0");
    let buffers: Vec<String> = buffers.iter().map(|of| format!("&{of}")).collect();
    vec![
        format!("int width = {width}, height = {height}, steps = {steps};"),
        format!("void* args[] = {{{},", buffers.join(", ")),
        "    &width, &height, &rule, &steps};".into(),
        "cudaLaunchCooperativeKernel(".into(),
        format!("    (void*){name},"),
        format!("    dim3({across}, {down}), {threads}, args, {shared}, {stream});"),
    ]
}

fn configured(
    facts: &RoundFacts,
    name: &str,
    grid: &str,
    launch: Launch,
    arguments: &[&str],
) -> Vec<String> {
    let [x, y, _] = launch.block;
    let block = format!("dim3({x}, {y})");
    let rest = match (launch.shared_bytes, stream(facts)) {
        (0, None) => String::new(),
        (shared, None) => format!(", {shared}"),
        (shared, Some(stream)) => format!(", {shared}, {stream}"),
    };
    let mut lines = vec![format!("{name}<<<{grid}, {block}{rest}>>>(")];
    let ends = (1..=arguments.len()).map(|at| if at < arguments.len() { "," } else { ");" });
    let arguments = arguments.iter().zip(ends);
    lines.extend(arguments.map(|(part, end)| format!("    {part}{end}")));
    lines
}

fn advance(facts: &RoundFacts) -> Vec<String> {
    let numbers = facts.numbers();
    let i = facts.index();
    let buffers: Vec<_> = facts
        .buffers()
        .into_iter()
        .map(|of| format!("{of}{i}"))
        .collect();
    let arguments = format!("{}, {numbers}", buffers.join(", "));
    let mut calls = if facts.launch.cooperative {
        launch_cooperatively(facts, &buffers)
    } else {
        launch(facts, facts.symbol(), facts.launch, &arguments)
    };
    if facts.swaps() {
        calls.push(format!("std::swap(cells{i}, next{i});"));
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

impl CodeGenerator for Cpp {
    fn once(&self, facts: &RoundFacts) -> Vec<String> {
        let make = |stream: &str| {
            vec![
                "cudaStreamCreateWithFlags(".to_owned(),
                format!("    &{stream}, cudaStreamNonBlocking);"),
            ]
        };
        let i = facts.index();
        let bytes = facts
            .words()
            .map_or("view_bytes".into(), |words| (4 * words).to_string());
        let host = match facts.host_memory {
            HostMemory::Pinned => format!("cudaMallocHost(&host{i}, {bytes});"),
            HostMemory::Pageable => format!("host{i} = malloc({bytes});"),
        };
        let mut once = Vec::new();
        match facts.streams {
            Streams::One | Streams::Batch => once.extend(make("stream")),
            Streams::Default => {
                once.push(tr!("// no stream is made: all goes to the default one").into());
            }
            Streams::PerInstance => {}
        }
        if let Some(own) = &facts.own {
            once.push(format!("for (int s = 0; s < {}; s++) {{", own.streams()));
            once.extend(indented(make("stream[s]")));
            once.push("}".into());
            if own.events() > 0 {
                once.push(format!("for (int e = 0; e < {}; e++) {{", own.events()));
                once.push("    cudaEventCreate(&event[e]);".into());
                once.push("}".into());
            }
        }
        let mut each = match facts.streams {
            Streams::PerInstance if facts.own.is_some() => Vec::new(),
            Streams::PerInstance => make("stream[i]"),
            Streams::One | Streams::Default | Streams::Batch => Vec::new(),
        };
        each.push(host);
        each.push(format!("cudaEventCreate(&done{i});"));
        once.extend(for_each(self, facts, each));
        if facts.graphs && facts.streams == Streams::PerInstance {
            once.extend(make("origin"));
            once.push("cudaEventCreate(&fork);".into());
        }
        if facts.records_end() {
            once.push("cudaEventCreate(&end);".into());
        }
        once
    }

    fn head(&self, facts: &RoundFacts) -> Vec<String> {
        vec![format!("for (int i = 0; i < {}; i++) {{", facts.instances)]
    }

    fn function(&self, name: &str, body: Vec<String>) -> Vec<String> {
        let mut lines = vec![format!("auto {name} = [&](int i, cudaStream_t s) {{")];
        lines.extend(indented(body));
        lines.push("};".into());
        lines
    }

    fn call(&self, call: &Call) -> String {
        let stream = call.stream;
        match call.kind {
            CallKind::Advance(i) => format!("advance({i}, stream[{stream}]);"),
            CallKind::Download(i) => format!("download({i}, stream[{stream}]);"),
            CallKind::Record(event) => {
                format!("cudaEventRecord(event[{event}], stream[{stream}]);")
            }
            CallKind::Wait(event) => {
                format!("cudaStreamWaitEvent(stream[{stream}], event[{event}]);")
            }
            CallKind::Synchronize => format!("cudaStreamSynchronize(stream[{stream}]);"),
            // No round of lattices has these.
            CallKind::Upload(_) | CallKind::Scale(_) => String::new(),
        }
    }

    fn piece(&self, facts: &RoundFacts, piece: RoundPart) -> Vec<String> {
        let (width, height) = (facts.size.width(), facts.size.height());
        let i = facts.index();
        match piece {
            RoundPart::Advance => advance(facts),
            RoundPart::Pack(kernel) => {
                let all = facts.height_of_all();
                let arguments = format!("cells{i}, bits{i}, {width}, {all}");
                let shape = Launch::convert(facts.size, facts.lattices(), facts.kernel.layout);
                launch(facts, kernel.row().symbol, shape, &arguments)
            }
            RoundPart::Reduce => {
                let lattice = format!("{}{i}, view{i}, {width}, {height}", facts.bits());
                let shape = Launch::over(1, 1, Launch::SUPPORT_BLOCK);
                let arguments = [&*lattice, REGION];
                let symbol = SupportKernel::Reduce.row().symbol;
                configured(facts, symbol, "grid", shape, &arguments)
            }
            RoundPart::Download => {
                let bytes = facts
                    .words()
                    .map_or("view_bytes".into(), |words| (4 * words).to_string());
                let (with, source) = (and_stream(facts), facts.source());
                let first = facts.first_word();
                let behind = first.map_or(String::new(), |first| format!(" + {first}"));
                vec![
                    format!("cudaMemcpyAsync(host{i}, {source}{i}{behind}, {bytes},"),
                    format!("    cudaMemcpyDeviceToHost{with});"),
                    format!("cudaEventRecord(done{i}{with});"),
                ]
            }
            RoundPart::WaitEach => {
                let stream = stream(facts).unwrap_or("0");
                vec![format!("cudaStreamSynchronize({stream});")]
            }
        }
    }

    fn begin_capture(&self, facts: &RoundFacts) -> Vec<String> {
        let mut begin = lines([tr!("// once: recorded, not run"), "cudaStreamBeginCapture("]);
        let origin = origin(facts);
        begin.push(format!("    {origin}, cudaStreamCaptureModeRelaxed);"));
        if facts.streams == Streams::PerInstance {
            begin.push("cudaEventRecord(fork, origin);".into());
            let streams = facts.stream_count();
            begin.push(format!("for (int i = 0; i < {streams}; i++) {{"));
            begin.push("    cudaStreamWaitEvent(stream[i], fork);".into());
            begin.push("}".into());
        }
        begin
    }

    fn end_capture(&self, facts: &RoundFacts) -> Vec<String> {
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

    fn replay(&self, facts: &RoundFacts) -> Vec<String> {
        let origin = origin(facts);
        let mut replay = vec![format!("cudaGraphLaunch(ready, {origin});")];
        if facts.records_end() {
            replay.push(format!("cudaEventRecord(end, {origin});"));
        }
        replay
    }

    fn end(&self, facts: &RoundFacts) -> Vec<String> {
        match facts.wait {
            Wait::All => lines(["cudaDeviceSynchronize();"]),
            Wait::Each => Vec::new(),
            Wait::Poll if facts.graphs => {
                lines([tr!("// later, without waiting: cudaEventQuery(end)")])
            }
            Wait::Poll => {
                let i = facts.index();
                vec![tr!("// later, without waiting: cudaEventQuery(done{i})")]
            }
        }
    }
}

/// The stream that a graph is captured from and launched in.
fn origin(facts: &RoundFacts) -> &'static str {
    match facts.streams {
        Streams::PerInstance => "origin",
        Streams::One | Streams::Default | Streams::Batch => "stream",
    }
}
