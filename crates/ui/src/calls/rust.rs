//! As one writes it with `cust`, and with `cust::sys` where that has no name for it.

use std::ops::Range;

use super::{CodeGenerator, REGION, RoundFacts, RoundPart, indented, lines};
use engine::kernels::Launch;
use engine::{HostMemory, SupportKernel};
use lang::tr;
use script::{Call, CallKind};
use session::{Streams, Wait};

pub(super) struct Rust;

/// The default stream has no name in `cust`.
fn uses_default_stream(facts: &RoundFacts) -> bool {
    facts.streams == Streams::Default
}

/// A launch of a support kernel, or of the round's own kernel if there is none.
fn launch(
    facts: &RoundFacts,
    kernel: Option<SupportKernel>,
    grid: &str,
    launch: Launch,
    buffers: &[&str],
) -> Vec<String> {
    let name = kernel.map_or(facts.symbol(), |kernel| kernel.row().symbol);
    let ([x, y, _], shared) = (launch.block, launch.shared_bytes);
    if launch.cooperative {
        // `cust` has no name for it.
        let [across, down, _] = launch.grid;
        let stream = if uses_default_stream(facts) {
            "null_mut()"
        } else {
            "s.as_inner()"
        };
        return vec![
            format!("cuLaunchCooperativeKernel({name},"),
            format!("    {across}, {down}, 1, {x}, {y}, 1, {shared},"),
            format!("    {stream}, {});", args_of(kernel)),
        ];
    }
    if uses_default_stream(facts) {
        let grid = grid.trim_matches(['(', ')']);
        let ones = 3 - grid.split(", ").count().min(3);
        let grid = if grid == "grid" {
            "grid.x, grid.y, 1".to_owned()
        } else {
            format!("{grid}{}", ", 1".repeat(ones))
        };
        return vec![
            format!("cuLaunchKernel({name}, {grid},"),
            format!(
                "    {x}, {y}, 1, {shared}, null_mut(), {}, null_mut());",
                args_of(kernel)
            ),
        ];
    }
    let pointers: Vec<String> = buffers
        .iter()
        .map(|buffer| format!("{buffer}{}.as_device_ptr()", facts.index()))
        .collect();
    let width = facts.size.width();
    let numbers = match kernel {
        Some(SupportKernel::Reduce) => format!("{width}, {}, {REGION}", facts.size.height()),
        Some(_) => format!("{width}, {}", facts.height_of_all()),
        None => facts.numbers(),
    };
    vec![
        format!("unsafe {{ launch!({name}<<<{grid}, ({x}, {y}), {shared}, s>>>("),
        format!("    {},", pointers.join(", ")),
        format!("    {numbers}))? }};"),
    ]
}

/// Pointers to the arguments of a raw launch.
fn args_of(kernel: Option<SupportKernel>) -> &'static str {
    match kernel {
        Some(SupportKernel::Reduce) => "reduce[i]",
        Some(_) => "pack[i]",
        None => "life[i]",
    }
}

fn grid_of(launch: Launch) -> String {
    match launch.grid {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("({x}, {y})"),
        [x, y, z] => format!("({x}, {y}, {z})"),
    }
}

fn advance(facts: &RoundFacts) -> Vec<String> {
    let (grid, buffers) = (grid_of(facts.launch), facts.buffers());
    let mut calls = launch(facts, None, &grid, facts.launch, &buffers);
    if facts.swaps() {
        let i = facts.index();
        calls.push(format!("swap(&mut cells{i}, &mut next{i});"));
    }
    match facts.launches() {
        1 => calls,
        n => {
            let launch = if facts.counts_launches() { "g" } else { "_" };
            let mut repeated = vec![format!("for {launch} in 0..{n} {{")];
            repeated.extend(indented(calls));
            repeated.push("}".into());
            repeated
        }
    }
}

impl CodeGenerator for Rust {
    fn once(&self, facts: &RoundFacts) -> Vec<String> {
        let new = "Stream::new(StreamFlags::NON_BLOCKING, None)?";
        let words = facts
            .words()
            .map_or("view_words".into(), |words| words.to_string());
        let host = match facts.host_memory {
            HostMemory::Pinned => format!("LockedBuffer::new(&0u32, {words})?"),
            HostMemory::Pageable => format!("vec![0u32; {words}]"),
        };
        let host = if facts.batches() {
            format!("let mut host = {host};")
        } else {
            format!("host.push({host});")
        };
        let mut once = Vec::new();
        match facts.streams {
            Streams::One | Streams::Batch => once.push(format!("let s = &{new};")),
            Streams::Default => once.extend(lines([
                tr!("// cust has no default stream: unsafe cust::sys,"),
                tr!("// where a stream of null_mut() is the default one"),
            ])),
            Streams::PerInstance => {}
        }
        let event = "Event::new(EventFlags::DEFAULT)?";
        if let Some(own) = &facts.own {
            once.push(format!("for _ in 0..{} {{", own.streams()));
            once.push("    stream.push(".into());
            once.push(format!("        {new});"));
            once.push("}".into());
            if own.events() > 0 {
                once.push(format!("for _ in 0..{} {{", own.events()));
                once.push(format!("    event.push({event});"));
                once.push("}".into());
            }
        }
        if facts.batches() {
            once.push(host);
            once.push(format!("let done = {event};"));
        } else {
            once.push(format!("for i in 0..{} {{", facts.instances));
            if facts.streams == Streams::PerInstance && facts.own.is_none() {
                once.push("    stream.push(".into());
                once.push(format!("        {new});"));
            }
            once.push(format!("    {host}"));
            once.push(if uses_default_stream(facts) {
                "    cuEventCreate(&mut done[i], 0);".into()
            } else {
                format!("    done.push({event});")
            });
            once.push("}".into());
        }
        if facts.graphs && facts.streams == Streams::PerInstance {
            once.push(format!("let origin = {new};"));
            once.push(format!("let fork = {event};"));
        }
        if facts.records_end() {
            once.push(format!("let end = {event};"));
        }
        once
    }

    fn head(&self, facts: &RoundFacts) -> Vec<String> {
        let mut head = vec![format!("for i in 0..{} {{", facts.instances)];
        if facts.streams == Streams::PerInstance {
            head.push("    let s = &stream[i];".into());
        }
        head
    }

    fn function(&self, name: &str, body: Vec<String>) -> Vec<String> {
        let head = format!("let mut {name} = |i: usize, s: &Stream| {{");
        let mut lines = vec![head];
        lines.extend(indented(body));
        lines.push("    CudaResult::Ok(())".into());
        lines.push("};".into());
        lines
    }

    fn call(&self, call: &Call) -> String {
        let stream = call.stream;
        match call.kind {
            CallKind::Advance(i) => format!("advance({i}, &stream[{stream}])?;"),
            CallKind::Download(i) => format!("download({i}, &stream[{stream}])?;"),
            CallKind::Record(event) => format!("event[{event}].record(&stream[{stream}])?;"),
            CallKind::Wait(event) => {
                format!("cuStreamWaitEvent(stream[{stream}].as_inner(), event[{event}], 0);")
            }
            CallKind::Synchronize => format!("stream[{stream}].synchronize()?;"),
            // No round of lattices has these.
            CallKind::Upload(_) | CallKind::Scale(_) => String::new(),
        }
    }

    fn piece(&self, facts: &RoundFacts, piece: RoundPart) -> Vec<String> {
        match piece {
            RoundPart::Advance => advance(facts),
            RoundPart::Pack(kernel) => {
                let shape = Launch::convert(facts.size, facts.lattices(), facts.kernel.layout);
                let grid = grid_of(shape);
                launch(facts, Some(kernel), &grid, shape, &["cells", "bits"])
            }
            RoundPart::Reduce => {
                let shape = Launch::over(1, 1, Launch::SUPPORT_BLOCK);
                let buffers = [facts.bits(), "view"];
                launch(facts, Some(SupportKernel::Reduce), "grid", shape, &buffers)
            }
            RoundPart::Download if uses_default_stream(facts) => {
                let bytes = facts
                    .words()
                    .map_or("view_bytes".into(), |words| (4 * words).to_string());
                let (source, first) = (facts.source(), facts.first_word());
                let behind = first.map_or(String::new(), |first| format!(" + {}", 4 * first));
                vec![
                    "cuMemcpyDtoHAsync_v2(".into(),
                    format!("    host[i], {source}[i]{behind}, {bytes}, null_mut());"),
                    "cuEventRecord(done[i], null_mut());".into(),
                ]
            }
            RoundPart::Download => {
                let (i, source) = (facts.index(), facts.source());
                let Range { start, end } = facts.own_words();
                let part = facts
                    .first_word()
                    .map(|_| format!(".index({start}..{end})"));
                let part = part.unwrap_or_default();
                vec![
                    format!("unsafe {{ {source}{i}{part}.async_copy_to(&mut host{i}, s)? }};"),
                    format!("done{i}.record(s)?;"),
                ]
            }
            RoundPart::WaitEach if uses_default_stream(facts) => {
                lines(["cuStreamSynchronize(null_mut());"])
            }
            RoundPart::WaitEach => lines(["s.synchronize()?;"]),
        }
    }

    fn begin_capture(&self, facts: &RoundFacts) -> Vec<String> {
        let mut begin = lines([
            tr!("// once: recorded, not run; cust has no capture,"),
            tr!("// cust::sys has (unsafe)"),
            "cuStreamBeginCapture_v2(",
        ]);
        let origin = origin(facts);
        begin.push(format!("    {origin}, CU_STREAM_CAPTURE_MODE_RELAXED);"));
        if facts.streams == Streams::PerInstance {
            begin.push("fork.record(&origin)?;".into());
            let streams = facts.stream_count();
            begin.push(format!("for s in &stream[..{streams}] {{"));
            begin.push("    cuStreamWaitEvent(s.as_inner(), fork, 0);".into());
            begin.push("}".into());
        }
        begin
    }

    fn end_capture(&self, facts: &RoundFacts) -> Vec<String> {
        let origin = origin(facts);
        let mut end = Vec::new();
        if facts.streams == Streams::PerInstance {
            end.push(format!("for i in 0..{} {{", facts.instances));
            end.push(format!("    cuStreamWaitEvent({origin}, done[i], 0);"));
            end.push("}".into());
        }
        end.push(format!("cuStreamEndCapture({origin}, &mut graph);"));
        end.push("cuGraphInstantiateWithFlags(&mut ready, graph, 0);".into());
        end
    }

    fn replay(&self, facts: &RoundFacts) -> Vec<String> {
        let mut replay = vec![format!("cuGraphLaunch(ready, {});", origin(facts))];
        if facts.records_end() {
            let stream = match facts.streams {
                Streams::PerInstance => "&origin",
                Streams::One | Streams::Default | Streams::Batch => "s",
            };
            replay.push(format!("end.record({stream})?;"));
        }
        replay
    }

    fn end(&self, facts: &RoundFacts) -> Vec<String> {
        match facts.wait {
            Wait::All if uses_default_stream(facts) => lines(["cuCtxSynchronize();"]),
            Wait::All => lines(["CurrentContext::synchronize()?;"]),
            Wait::Each => Vec::new(),
            Wait::Poll if facts.graphs => lines([tr!("// later, without waiting: end.query()?")]),
            Wait::Poll if uses_default_stream(facts) => {
                lines([tr!("// later, without waiting: cuEventQuery(done[i])")])
            }
            Wait::Poll => {
                let i = facts.index();
                vec![tr!("// later, without waiting: done{i}.query()?")]
            }
        }
    }
}

/// The stream that a graph is captured from and launched in, as `cust::sys` wants it.
fn origin(facts: &RoundFacts) -> &'static str {
    match facts.streams {
        Streams::PerInstance => "origin.as_inner()",
        Streams::One | Streams::Default | Streams::Batch => "s.as_inner()",
    }
}
