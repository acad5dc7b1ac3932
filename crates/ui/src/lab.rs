//! The calls that the present settings make for one round, as a person would write them with the
//! CUDA runtime in C++.

use crate::actions::Setting;
use engine::kernels::{Batch, Iteration, Launch, Parameter};
use engine::{Band, HostMemory, Kernel, Layout, Measure, SupportKernel, Transfer};
use lang::tr;
use life::Size;
use script::{Call, CallKind, Round};
use session::{Choice, Order, Status, Streams, Switch, Wait};
use std::ops::Range;
use std::sync::Arc;

/// The comment above the calls that every round repeats.
fn each_round() -> &'static str {
    tr!("// each round")
}

/// The part of the lattice that is reduced and the pixels of its panel, as `reduce_bits` takes them.
const REGION: &str = "x0, y0, step, px_width, px_height, stride";

/// The calls of a round with these settings, line by line.
pub fn calls(status: &Status) -> Vec<String> {
    let facts = &RoundFacts::of(status);
    let mut lines = Vec::new();
    if let Some((gpus, band)) = facts.bands {
        lines.extend([
            tr!(
                "// on each of {gpus} GPUs, for each of its bands of rows, in streams of its own;",
                gpus = gpus
            ),
            tr!("// every {} generations, behind events:", band.halo),
            tr!("// cudaMemcpyPeerAsync of the rows around each band").into(),
            String::new(),
        ]);
    }
    lines.push(tr!("// once").to_owned());
    lines.extend(once(facts));
    if facts.own.is_some() {
        let of = |part: &RoundPart| piece(facts, *part);
        let (advance, rest): (Vec<RoundPart>, _) = facts
            .loops()
            .into_iter()
            .flatten()
            .partition(|piece| *piece == RoundPart::Advance);
        let bodies = [("advance", advance), ("download", rest)];
        for (name, pieces) in bodies {
            lines.push(format!("auto {name} = [&](int i, cudaStream_t s) {{"));
            lines.extend(indented(pieces.iter().flat_map(of).collect()));
            lines.push("};".into());
        }
    }
    if facts.graphs {
        lines.extend(begin_capture(facts));
    } else {
        lines.extend([String::new(), each_round().into()]);
    }
    if let Some(own) = &facts.own {
        lines.extend(own_calls(facts, own));
    }
    for pieces in facts.loops().iter().filter(|_| facts.own.is_none()) {
        let calls = pieces.iter().flat_map(|part| piece(facts, *part));
        lines.extend(for_each(facts, calls.collect()));
    }
    if facts.graphs {
        lines.extend(end_capture(facts));
        lines.extend([String::new(), each_round().into()]);
        let origin = origin(facts);
        lines.push(format!("cudaGraphLaunch(ready, {origin});"));
        if facts.records_end() {
            lines.push(format!("cudaEventRecord(end, {origin});"));
        }
    }
    let i = facts.index();
    lines.extend(match facts.wait {
        Wait::All => Some("cudaDeviceSynchronize();".into()),
        Wait::Each => None,
        Wait::Poll if facts.graphs => {
            Some(tr!("// later, without waiting: cudaEventQuery(end)").into())
        }
        Wait::Poll => Some(tr!("// later, without waiting: cudaEventQuery(done{i})")),
    });
    lines
}

/// The calls of a user's round, one by one; of a long one, the first.
fn own_calls(facts: &RoundFacts, own: &Round) -> Vec<String> {
    const MAX_CALLS: usize = 60;
    let made_by_script = |call: &&Call| !(facts.graphs && call.kind == CallKind::Synchronize);
    let calls = own.calls.iter().filter(made_by_script);
    let mut lines: Vec<String> = calls.map(own_call).collect();
    if lines.len() > MAX_CALLS {
        lines.truncate(MAX_CALLS);
        lines.push(tr!("// … and so on for {} instances", facts.instances));
    }
    lines
}

/// What the calls depend on.
struct RoundFacts {
    instances: usize,
    /// Of a lattice, or of its largest band.
    size: Size,
    generations: u32,
    kernel: &'static Kernel,
    /// Of the kernel.
    launch: Launch,
    streams: Streams,
    host_memory: HostMemory,
    wait: Wait,
    order: Order,
    /// The user's round, if that is the order.
    own: Option<Arc<Round>>,
    graphs: bool,
    transfer: Transfer,
    /// How many GPUs have bands of each lattice, and the largest band.
    bands: Option<(usize, Band)>,
}

impl RoundFacts {
    fn of(status: &Status) -> RoundFacts {
        let (kernel, switches) = (status.setting.kernel, status.setting.switches);
        let sm_count = status
            .engine
            .devices
            .first()
            .map_or(1, |device| device.sm_count);
        let (instances, gpus) = (status.lattices.instances, status.engine.devices.len());
        let bands = status.engine.cut.and_then(|cut| {
            let bands = Band::divide(status.lattices.size, gpus, cut).into_iter();
            Some((gpus, bands.max_by_key(|band| band.rows)?))
        });
        let size = bands.and_then(|(_, band)| band.size().ok());
        let size = size.unwrap_or(status.lattices.size);
        let on_device = match bands {
            Some(_) => instances,
            None => instances.div_ceil(gpus.max(1)),
        } as u32;
        let launched = match switches.streams {
            Streams::Batch => kernel.max_batch(size, on_device, sm_count).min(on_device),
            Streams::PerInstance | Streams::One | Streams::Default => 1,
        };
        let lattices = Batch::of(launched, on_device);
        let own = status.setting.own_round.as_ref();
        let own = own.filter(|_| switches.order == Order::Own);
        let own = own.and_then(|own| own.round.as_ref().ok());
        RoundFacts {
            instances,
            size,
            generations: status.setting.generations_per_round,
            kernel,
            launch: kernel.launch(size, switches.block_of(kernel), lattices, sm_count),
            streams: switches.streams,
            host_memory: switches.host_memory,
            wait: switches.wait,
            order: switches.order,
            own: own.cloned(),
            graphs: switches.graphs && bands.is_none(),
            transfer: status.setting.transfer,
            bands,
        }
    }

    /// How many streams there are, if each instance has one or a round of the user's numbers them.
    fn stream_count(&self) -> usize {
        let own = self.own.as_ref();
        own.map_or(self.instances, |own| own.streams() as usize)
    }

    /// How many launches of the kernel a round has.
    fn launches(&self) -> u32 {
        self.kernel.launches(self.generations)
    }

    /// Whether the cells of a launch end in the other buffer.
    fn swaps(&self) -> bool {
        match self.kernel.iteration {
            _ if self.kernel.is_in_place() => false,
            Iteration::Launches | Iteration::Steps(_) => true,
            Iteration::InKernel => self.generations % 2 == 1,
        }
    }

    /// The kernel's arguments that are numbers.
    fn numbers(&self) -> String {
        let number = |parameter: &Parameter| match parameter {
            Parameter::Width => Some(self.size.width().to_string()),
            Parameter::Height => Some(self.size.height().to_string()),
            Parameter::RuleTable => Some("rule".into()),
            Parameter::Generations => Some(self.generations_of_launch()),
            _ => None,
        };
        let numbers: Vec<_> = self.kernel.parameters.iter().filter_map(number).collect();
        numbers.join(", ")
    }

    /// The argument for the number of generations, for kernels that take one.
    fn generations_of_launch(&self) -> String {
        let most = self.kernel.iteration.generations_per_launch();
        let all = self.generations;
        if self.counts_launches() {
            format!("min({most}, {all} - {most} * g)")
        } else {
            most.min(all).to_string()
        }
    }

    /// Whether an event says when a replayed graph has ended.
    fn records_end(&self) -> bool {
        self.graphs && self.wait == Wait::Poll
    }

    /// The buffers that a launch of the kernel takes.
    fn buffers(&self) -> Vec<&'static str> {
        let buffer = |parameter: &Parameter| match parameter {
            Parameter::From | Parameter::Cells => Some("cells"),
            Parameter::To => Some("next"),
            Parameter::Mail => Some("mail"),
            _ => None,
        };
        self.kernel.parameters.iter().filter_map(buffer).collect()
    }

    /// The name of the kernel's function for B3/S23 and the tables of other rules.
    fn symbol(&self) -> &'static str {
        self.kernel.entries[self.launch.entry]
    }

    /// Whether a launch's arguments depend on which one of a round it is.
    fn counts_launches(&self) -> bool {
        let most = self.kernel.iteration.generations_per_launch();
        self.launches() > 1 && !self.generations.is_multiple_of(most)
    }

    /// Whether one launch and one copy are for all instances, which lie one behind the other.
    fn batches(&self) -> bool {
        self.streams == Streams::Batch
    }

    /// Which of the instances' buffers a call takes.
    fn index(&self) -> &'static str {
        if self.batches() { "" } else { "[i]" }
    }

    /// The head of a loop over the instances.
    fn each_instance(&self) -> String {
        format!("for (int i = 0; i < {}; i++) {{", self.instances)
    }

    /// The lattices of a call.
    fn lattices(&self) -> u32 {
        if self.batches() {
            self.instances as u32
        } else {
            1
        }
    }

    /// The height argument of a call: that of all its lattices together.
    fn height_of_all(&self) -> String {
        match self.lattices() {
            1 => self.size.height().to_string(),
            n => format!("{n} * {}", self.size.height()),
        }
    }

    /// The buffer that is downloaded.
    fn source(&self) -> &'static str {
        match (self.transfer, self.kernel.layout) {
            (Transfer::View, _) => "view",
            (Transfer::Bits, Layout::I32 | Layout::Planar) => "bits",
            _ => "cells",
        }
    }

    /// Where the lattice's bits are.
    fn bits(&self) -> &'static str {
        match self.kernel.layout {
            Layout::I32 | Layout::Planar => "bits",
            Layout::Bits => "cells",
        }
    }

    /// The words of a lattice; of a band, those of its own rows.
    fn own_words(&self) -> Range<usize> {
        match self.bands {
            None => 0..self.size.words(),
            Some((_, band)) => {
                let halo = self.size.words_per_row() * band.halo as usize;
                halo..self.size.words() - halo
            }
        }
    }

    /// The first word that is downloaded, where that is not a lattice's first one.
    fn first_word(&self) -> Option<usize> {
        let first = self.own_words().start;
        (self.transfer == Transfer::Bits && first > 0).then_some(first)
    }

    /// How many bytes a call downloads; those of a view depend on its panel.
    fn bytes(&self) -> String {
        let words = match self.transfer {
            Transfer::View => return "view_bytes".into(),
            Transfer::Bits => self.own_words().len() as u64,
            Transfer::Rows { count, .. } => self.size.words_per_row() as u64 * u64::from(count),
            Transfer::Cells => self.size.cells(),
            Transfer::Measure => Measure::WORDS as u64,
        };
        (4 * words * u64::from(self.lattices())).to_string()
    }

    /// The parts of a round, in the order of the calls; each inner list is one loop over the
    /// instances.
    fn loops(&self) -> Vec<Vec<RoundPart>> {
        let mut pieces = vec![RoundPart::Advance];
        if let Some(kernel) = SupportKernel::pack(self.kernel.layout)
            && self.transfer != Transfer::Cells
        {
            pieces.push(RoundPart::Pack(kernel));
        }
        if self.transfer == Transfer::View {
            pieces.push(RoundPart::Reduce);
        }
        pieces.push(RoundPart::Download);
        let mut loops = match self.order {
            Order::Depth => vec![pieces],
            Order::Breadth | Order::Own => pieces.into_iter().map(|piece| vec![piece]).collect(),
        };
        if let (Wait::Each, Some(last)) = (self.wait, loops.last_mut()) {
            last.push(RoundPart::WaitEach);
        }
        loops
    }
}

/// A part of a round, for one instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RoundPart {
    Advance,
    /// By this kernel.
    Pack(SupportKernel),
    Reduce,
    /// With the event behind it.
    Download,
    WaitEach,
}

/// Calls within a loop over the instances, but of a batch.
fn for_each(facts: &RoundFacts, calls: Vec<String>) -> Vec<String> {
    if facts.batches() {
        return calls;
    }
    let mut lines = vec![facts.each_instance()];
    lines.extend(indented(calls));
    lines.push("}".into());
    lines
}

fn indented(lines: Vec<String>) -> Vec<String> {
    lines
        .into_iter()
        .map(|line| format!("    {line}"))
        .collect()
}

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

/// Streams and host memory.
fn once(facts: &RoundFacts) -> Vec<String> {
    let make = |stream: &str| {
        vec![
            "cudaStreamCreateWithFlags(".to_owned(),
            format!("    &{stream}, cudaStreamNonBlocking);"),
        ]
    };
    let i = facts.index();
    let bytes = facts.bytes();
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
    once.extend(for_each(facts, each));
    if facts.graphs && facts.streams == Streams::PerInstance {
        once.extend(make("origin"));
        once.push("cudaEventCreate(&fork);".into());
    }
    if facts.records_end() {
        once.push("cudaEventCreate(&end);".into());
    }
    once
}

/// A call of a user's round.
fn own_call(call: &Call) -> String {
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

/// A part of the round, for instance `i`.
fn piece(facts: &RoundFacts, piece: RoundPart) -> Vec<String> {
    let (width, height) = (facts.size.width(), facts.size.height());
    let i = facts.index();
    match piece {
        RoundPart::Advance => advance(facts),
        RoundPart::Pack(kernel) => {
            let all = facts.height_of_all();
            let arguments = format!("cells{i}, bits{i}, {width}, {all}");
            let shape = Launch::convert(facts.size, facts.lattices(), facts.kernel.layout);
            launch(facts, kernel.symbol, shape, &arguments)
        }
        RoundPart::Reduce => {
            let lattice = format!("{}{i}, view{i}, {width}, {height}", facts.bits());
            let shape = Launch::over(1, 1, Launch::SUPPORT_BLOCK);
            let arguments = [&*lattice, REGION];
            let symbol = SupportKernel::REDUCE.symbol;
            configured(facts, symbol, "grid", shape, &arguments)
        }
        RoundPart::Download => {
            let bytes = facts.bytes();
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

/// Begins to capture what follows.
fn begin_capture(facts: &RoundFacts) -> Vec<String> {
    let mut begin = vec![
        tr!("// once: recorded, not run").to_owned(),
        "cudaStreamBeginCapture(".into(),
    ];
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

/// Ends it, and readies the graph.
fn end_capture(facts: &RoundFacts) -> Vec<String> {
    let mut end = Vec::new();
    if facts.streams == Streams::PerInstance {
        end.push(facts.each_instance());
        end.push("    cudaStreamWaitEvent(origin, done[i]);".into());
        end.push("}".into());
    }
    end.push(format!("cudaStreamEndCapture({}, &graph);", origin(facts)));
    end.push("cudaGraphInstantiate(&ready, graph, 0);".into());
    end
}

/// The stream that a graph is captured from and launched in.
fn origin(facts: &RoundFacts) -> &'static str {
    match facts.streams {
        Streams::PerInstance => "origin",
        Streams::One | Streams::Default | Streams::Batch => "stream",
    }
}

// The lab: the session's values, every switch with its key and its positions, and the calls that
// the present ones make.

/// What the lab shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lab {
    /// Of the lattices, and of their rounds.
    pub values: [ValueRow; 2],
    /// In the order of their keys.
    pub switches: Vec<SwitchRow>,
    /// The calls of a round, line by line.
    pub calls: Vec<String>,
}

/// Values that stand in one line, each with the settings that change it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueRow {
    /// What they are of.
    pub name: &'static str,
    /// The settings that change a value, and the value in a few characters.
    pub values: Vec<(&'static [Setting], String)>,
}

/// A switch and its positions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchRow {
    /// Which one.
    pub switch: Switch,
    /// The key that takes the next position.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Its positions.
    pub positions: Vec<Choice>,
    /// The place of the present one among them.
    pub present: usize,
}

impl Lab {
    /// The switches and the calls of this status.
    pub fn of(status: &Status) -> Lab {
        Lab {
            values: values(status),
            switches: switches(status),
            calls: calls(status),
        }
    }
}

/// What the switches act on, as of this status.
fn values(status: &Status) -> [ValueRow; 2] {
    const LATTICES: [&[Setting]; 4] = [
        &[Setting::Instances],
        &[Setting::Size],
        &[Setting::Rule],
        &[Setting::Density],
    ];
    const ROUNDS: [&[Setting]; 3] = [
        &[Setting::Kernel],
        &[Setting::GenerationsPerRound],
        &[Setting::Pace],
    ];
    let in_short = |settings: &'static [Setting]| {
        let value = settings[0].value(status).unwrap_or_else(|| "–".into());
        let text = match settings[0] {
            Setting::GenerationsPerRound => tr!("{} gen", value),
            _ => value,
        };
        (settings, text)
    };
    [
        ValueRow {
            name: tr!("lattices"),
            values: LATTICES.into_iter().map(in_short).collect(),
        },
        ValueRow {
            name: tr!("round"),
            values: ROUNDS.into_iter().map(in_short).collect(),
        },
    ]
}

/// Every switch, as of this status.
pub fn switches(status: &Status) -> Vec<SwitchRow> {
    let row = |switch: Switch| {
        let choices = switch.choices(status.setting.switches, status.setting.context());
        let present = choices
            .iter()
            .position(|it| it.switches == status.setting.switches);
        SwitchRow {
            switch,
            key: switch.key().into(),
            name: switch.name().into(),
            positions: choices,
            present: present.unwrap_or(0),
        }
    };
    Switch::ALL.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests;
