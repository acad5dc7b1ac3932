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

/// The calls of a round with these settings, line by line.
pub fn calls(status: &Status) -> Vec<String> {
    let facts = &RoundFacts::of(status);
    let mut text = String::new();
    if let Some((gpus, band)) = facts.bands {
        let remarks = [
            tr!(
                "// on each of {gpus} GPUs, for each of its bands of rows, in streams of its own;",
                gpus = gpus
            ),
            tr!("// every {} generations, behind events:", band.halo),
            tr!("// cudaMemcpyPeerAsync of the rows around each band").into(),
        ];
        text += &(remarks.join("\n") + "\n\n");
    }
    text += &format!("{}\n{}", tr!("// once"), once(facts));
    let pieces = pieces(facts);
    if facts.own.is_some() {
        for (name, pieces) in [("advance", &pieces[..1]), ("download", &pieces[1..])] {
            let body = indented(&pieces.concat());
            text += &format!("auto {name} = [&](int i, cudaStream_t s) {{\n{body}}};\n");
        }
    }
    let each_round = format!("\n{}\n", tr!("// each round"));
    text += &if facts.graphs {
        begin_capture(facts)
    } else {
        each_round.clone()
    };
    text += &match &facts.own {
        Some(own) => own_calls(facts, own),
        None => pieces.iter().map(|it| for_each(facts, it)).collect(),
    };
    let i = facts.index();
    if facts.graphs {
        let origin = origin(facts);
        text += &end_capture(facts);
        text += &format!("{each_round}cudaGraphLaunch(ready, {origin});\n");
        if facts.wait == Wait::Poll {
            text += &format!("cudaEventRecord(end, {origin});\n");
        }
    }
    text += &match facts.wait {
        Wait::All => "cudaDeviceSynchronize();".into(),
        Wait::Each => String::new(),
        Wait::Poll if facts.graphs => tr!("// later, without waiting: cudaEventQuery(end)").into(),
        Wait::Poll => tr!("// later, without waiting: cudaEventQuery(done{i})"),
    };
    text.lines().map(str::to_owned).collect()
}

/// The calls of a user's round, one by one; of a long one, the first.
fn own_calls(facts: &RoundFacts, own: &Round) -> String {
    const MAX_CALLS: usize = 60;
    let made_by_script = |call: &&Call| !(facts.graphs && call.kind == CallKind::Synchronize);
    let calls: Vec<&Call> = own.calls.iter().filter(made_by_script).collect();
    let mut text: String = calls
        .iter()
        .take(MAX_CALLS)
        .map(|it| own_call(it))
        .collect();
    if calls.len() > MAX_CALLS {
        text += &tr!("// … and so on for {} instances", facts.instances);
        text += "\n";
    }
    text
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

    /// How many launches of the kernel a round has.
    fn launches(&self) -> u32 {
        self.kernel.launches(self.generations)
    }

    /// The kernel's arguments that are numbers.
    fn numbers(&self) -> String {
        let number = |parameter: &Parameter| match parameter {
            Parameter::Width => Some(self.size.width.to_string()),
            Parameter::Height => Some(self.size.height.to_string()),
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
        if self.launches() > 1 && !all.is_multiple_of(most) {
            format!("min({most}, {all} - {most} * g)")
        } else {
            most.min(all).to_string()
        }
    }

    /// The buffers that a launch of the kernel takes.
    fn buffers(&self) -> Vec<String> {
        let buffer = |parameter: &Parameter| match parameter {
            Parameter::From | Parameter::Cells => Some("cells"),
            Parameter::To => Some("next"),
            Parameter::Mail => Some("mail"),
            _ => None,
        };
        let buffers = self.kernel.parameters.iter().filter_map(buffer);
        buffers.map(|of| format!("{of}{}", self.index())).collect()
    }

    /// The name of the kernel's function for B3/S23 and the tables of other rules.
    fn symbol(&self) -> &'static str {
        self.kernel.entries[self.launch.entry]
    }

    /// Whether one launch and one copy are for all instances, which lie one behind the other.
    fn batches(&self) -> bool {
        self.streams == Streams::Batch
    }

    /// Which of the instances' buffers a call takes.
    fn index(&self) -> &'static str {
        if self.batches() { "" } else { "[i]" }
    }

    /// The lattices of a call.
    fn lattices(&self) -> u32 {
        if self.batches() {
            self.instances as u32
        } else {
            1
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

    /// The stream of instance `i`.
    fn stream(&self) -> Option<&'static str> {
        match self.streams {
            Streams::PerInstance if self.own.is_some() => Some("s"),
            Streams::PerInstance => Some("stream[i]"),
            Streams::One | Streams::Batch => Some("stream"),
            Streams::Default => None,
        }
    }
}

/// The parts of a round, in the order of the calls, each for instance `i`; depth first they are one.
fn pieces(facts: &RoundFacts) -> Vec<String> {
    let (width, height) = (facts.size.width, facts.size.height);
    let i = facts.index();
    let bits = match facts.kernel.layout {
        Layout::I32 | Layout::Planar => "bits",
        Layout::Bits => "cells",
    };
    let downloaded = match facts.transfer {
        Transfer::View => "view",
        Transfer::Bits => bits,
        _ => "cells",
    };
    let mut pieces = vec![advance(facts)];
    if let Some(kernel) = SupportKernel::pack(facts.kernel.layout)
        && facts.transfer != Transfer::Cells
    {
        let all = match facts.lattices() {
            1 => height.to_string(),
            n => format!("{n} * {height}"),
        };
        let shape = Launch::convert(facts.size, facts.lattices(), facts.kernel.layout);
        let arguments = format!("cells{i}, bits{i}, {width}, {all}");
        pieces.push(launch(facts, kernel.symbol, None, shape, &arguments));
    }
    if facts.transfer == Transfer::View {
        // The part of the lattice that is reduced and the pixels of its panel, as `reduce_bits` takes them.
        let arguments = format!(
            "{bits}{i}, view{i}, {width}, {height},\n    x0, y0, step, px_width, px_height, stride"
        );
        let shape = Launch::over(1, 1, Launch::SUPPORT_BLOCK);
        let symbol = SupportKernel::REDUCE.symbol;
        pieces.push(launch(facts, symbol, Some("grid"), shape, &arguments));
    }
    // The stream is a call's last argument, where it may be left out.
    let with = facts
        .stream()
        .map_or(String::new(), |stream| format!(", {stream}"));
    // Of a band, the words before its own rows are not downloaded.
    let first = match (facts.transfer, facts.own_words().start) {
        (Transfer::Bits, first @ 1..) => format!(" + {first}"),
        _ => String::new(),
    };
    pieces.push(format!(
        "cudaMemcpyAsync(host{i}, {downloaded}{i}{first}, {},\n    \
         cudaMemcpyDeviceToHost{with});\n\
         cudaEventRecord(done{i}{with});\n",
        facts.bytes()
    ));
    if facts.order.is_depth_first() {
        pieces = vec![pieces.concat()];
    }
    if let (Wait::Each, Some(last)) = (facts.wait, pieces.last_mut()) {
        let stream = facts.stream().unwrap_or("0");
        *last += &format!("cudaStreamSynchronize({stream});\n");
    }
    pieces
}

/// Calls within a loop over the instances, but of a batch.
fn for_each(facts: &RoundFacts, calls: &str) -> String {
    if facts.batches() {
        return calls.into();
    }
    repeated('i', facts.instances as u32, calls)
}

/// Calls within a loop.
fn repeated(counter: char, times: u32, calls: &str) -> String {
    let calls = indented(calls);
    format!("for (int {counter} = 0; {counter} < {times}; {counter}++) {{\n{calls}}}\n")
}

fn indented(calls: &str) -> String {
    let lines = calls.lines();
    lines.flat_map(|line| ["    ", line, "\n"]).collect()
}

/// A launch of so many blocks, or in a grid of this name.
fn launch(
    facts: &RoundFacts,
    name: &str,
    grid: Option<&str>,
    launch: Launch,
    arguments: &str,
) -> String {
    let grid = match (grid, launch.grid) {
        (Some(grid), _) => grid.into(),
        (None, [x, 1, 1]) => x.to_string(),
        (None, [x, y, 1]) => format!("dim3({x}, {y})"),
        (None, [x, y, z]) => format!("dim3({x}, {y}, {z})"),
    };
    let [x, y, _] = launch.block;
    let rest = match (launch.shared_bytes, facts.stream()) {
        (0, None) => String::new(),
        (shared, None) => format!(", {shared}"),
        (shared, Some(stream)) => format!(", {shared}, {stream}"),
    };
    format!("{name}<<<{grid}, dim3({x}, {y}){rest}>>>(\n    {arguments});\n")
}

/// A launch whose blocks all run at the same time; it takes the addresses of its arguments.
fn launch_cooperatively(facts: &RoundFacts) -> String {
    let ([across, down, _], [threads, ..]) = (facts.launch.grid, facts.launch.block);
    format!(
        "int width = {}, height = {}, steps = {};\n\
         void* args[] = {{&{},\n    \
         &width, &height, &rule, &steps}};\n\
         cudaLaunchCooperativeKernel(\n    \
         (void*){},\n    \
         dim3({across}, {down}), {threads}, args, {}, {});\n",
        facts.size.width,
        facts.size.height,
        facts.generations_of_launch(),
        facts.buffers().join(", &"),
        facts.symbol(),
        facts.launch.shared_bytes,
        facts.stream().unwrap_or("0")
    )
}

fn advance(facts: &RoundFacts) -> String {
    let i = facts.index();
    let mut calls = if facts.launch.cooperative {
        launch_cooperatively(facts)
    } else {
        let arguments = format!("{}, {}", facts.buffers().join(", "), facts.numbers());
        launch(facts, facts.symbol(), None, facts.launch, &arguments)
    };
    // Where the cells of a launch end in the other buffer.
    let swaps = match facts.kernel.iteration {
        _ if facts.kernel.is_in_place() => false,
        Iteration::Launches | Iteration::Steps(_) => true,
        Iteration::InKernel => facts.generations % 2 == 1,
    };
    if swaps {
        calls += &format!("std::swap(cells{i}, next{i});\n");
    }
    match facts.launches() {
        1 => calls,
        n => repeated('g', n, &calls),
    }
}

fn make_stream(stream: &str) -> String {
    format!("cudaStreamCreateWithFlags(\n    &{stream}, cudaStreamNonBlocking);\n")
}

/// Streams and host memory.
fn once(facts: &RoundFacts) -> String {
    let i = facts.index();
    let bytes = facts.bytes();
    let mut each = match facts.host_memory {
        HostMemory::Pinned => format!("cudaMallocHost(&host{i}, {bytes});\n"),
        HostMemory::Pageable => format!("host{i} = malloc({bytes});\n"),
    };
    each += &format!("cudaEventCreate(&done{i});\n");
    let mut once = match facts.streams {
        Streams::One | Streams::Batch => make_stream("stream"),
        Streams::Default => {
            tr!("// no stream is made: all goes to the default one").to_owned() + "\n"
        }
        Streams::PerInstance => String::new(),
    };
    match &facts.own {
        Some(own) => {
            once += &repeated('s', own.streams(), &make_stream("stream[s]"));
            if own.events() > 0 {
                once += &repeated('e', own.events(), "cudaEventCreate(&event[e]);");
            }
        }
        None if facts.streams == Streams::PerInstance => {
            each.insert_str(0, &make_stream("stream[i]"));
        }
        None => {}
    }
    once += &for_each(facts, &each);
    if facts.graphs && facts.streams == Streams::PerInstance {
        once += &(make_stream("origin") + "cudaEventCreate(&fork);\n");
    }
    if facts.graphs && facts.wait == Wait::Poll {
        once += "cudaEventCreate(&end);\n";
    }
    once
}

/// A call of a user's round.
fn own_call(call: &Call) -> String {
    use CallKind::*;
    let stream = format!("stream[{}]", call.stream);
    match call.kind {
        Advance(i) => format!("advance({i}, {stream});\n"),
        Download(i) => format!("download({i}, {stream});\n"),
        Record(event) => format!("cudaEventRecord(event[{event}], {stream});\n"),
        Wait(event) => format!("cudaStreamWaitEvent({stream}, event[{event}]);\n"),
        Synchronize => format!("cudaStreamSynchronize({stream});\n"),
        // No round of lattices has these.
        Upload(_) | Scale(_) => String::new(),
    }
}

/// Begins to capture what follows.
fn begin_capture(facts: &RoundFacts) -> String {
    let origin = origin(facts);
    let mut begin = format!(
        "{}\ncudaStreamBeginCapture(\n    {origin}, cudaStreamCaptureModeRelaxed);\n",
        tr!("// once: recorded, not run")
    );
    if facts.streams == Streams::PerInstance {
        let own = facts.own.as_ref();
        let streams = own.map_or(facts.instances as u32, |own| own.streams());
        begin += "cudaEventRecord(fork, origin);\n";
        begin += &repeated('i', streams, "cudaStreamWaitEvent(stream[i], fork);");
    }
    begin
}

/// Ends it, and readies the graph.
fn end_capture(facts: &RoundFacts) -> String {
    let mut end = String::new();
    if facts.streams == Streams::PerInstance {
        end = for_each(facts, "cudaStreamWaitEvent(origin, done[i]);");
    }
    let origin = origin(facts);
    end += &format!("cudaStreamEndCapture({origin}, &graph);\n");
    end + "cudaGraphInstantiate(&ready, graph, 0);\n"
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
#[derive(Clone, PartialEq, Debug)]
pub struct Lab {
    /// Those of the lattices, and of their rounds.
    pub values: [(&'static str, Vec<Value>); 2],
    /// In the order of their keys.
    pub switches: Vec<SwitchRow>,
    /// The calls of a round, line by line.
    pub calls: Vec<String>,
}

/// The settings that change a value, and the value in a few characters.
pub type Value = (&'static [Setting], String);

/// A switch and its positions.
#[derive(Clone, PartialEq, Debug)]
pub struct SwitchRow {
    /// Which one.
    pub switch: Switch,
    /// Its positions.
    pub positions: Vec<Choice>,
    /// The place of the present one among them.
    pub present: usize,
}

impl Lab {
    /// The switches and the calls of this status.
    pub fn of(status: &Status) -> Lab {
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
        Lab {
            // What the switches act on.
            values: [
                (tr!("lattices"), LATTICES.map(in_short).into()),
                (tr!("round"), ROUNDS.map(in_short).into()),
            ],
            switches: switches(status),
            calls: calls(status),
        }
    }
}

/// Every switch, as of this status.
pub fn switches(status: &Status) -> Vec<SwitchRow> {
    let row = |switch: Switch| {
        let setting = &status.setting;
        SwitchRow {
            switch,
            positions: switch.choices(setting.switches, setting.context()),
            present: switch.position(setting.switches, setting.kernel),
        }
    };
    Switch::ALL.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::status;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use engine::kernels::KERNELS;
    use session::{Switch, Switches};

    /// What a program has around the calls: the runtime's interface, the kernels, and the variables
    /// that hold what was allocated before, for each instance or for a batch.
    const AROUND_CALLS: &str = r#"
#include <cstddef>
#include <cstdlib>
#include <utility>

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
enum cudaError_t { cudaSuccess };
enum cudaMemcpyKind { cudaMemcpyDeviceToHost };
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed };
const unsigned cudaStreamNonBlocking = 1;
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0);
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
cudaError_t cudaMallocHost(void**, size_t);
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaLaunchCooperativeKernel(
    const void*, dim3, dim3, void**, size_t = 0, cudaStream_t = 0);
int min(int, int);

struct Launch {
    Launch(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
};
void pack_i32(Launch, unsigned*, unsigned*, int, int);
void pack_planar(Launch, unsigned*, unsigned*, int, int);
void reduce_bits(Launch, unsigned*, unsigned char*, int, int, long long, long long, long long,
    int, int, unsigned long long);

extern unsigned rule;
extern dim3 grid;
extern long long x0, y0, step;
extern int px_width, px_height;
extern unsigned long long stride;
extern size_t view_bytes;
extern cudaStream_t origin;
extern cudaEvent_t fork, end;
extern cudaGraph_t graph;
extern cudaGraphExec_t ready;
"#;

    /// A function around a program's calls, with the kernels that it launches.
    fn function_around(status: &Status, number: usize) -> String {
        let batches = status.setting.switches.streams == Streams::Batch;
        let of = |name: &str| {
            if batches {
                name.into()
            } else {
                format!("{name}[200]")
            }
        };
        let buffers = ["cells", "next", "mail", "bits"].map(of).join(", *");
        let [view, host, done] = ["view", "host", "done"].map(of);
        let stream = match status.setting.switches.streams {
            Streams::PerInstance => "stream[200]",
            Streams::One | Streams::Default | Streams::Batch => "stream",
        };
        // g++ knows no launches: what stands between the angles becomes an argument.
        let calls = calls(status).join("\n");
        let calls = calls.replace("<<<", "(Launch(").replace(">>>(", "), ");
        format!(
            "void calls_{number}() {{
        unsigned *{buffers};
        unsigned char *{view};
        void *{host};
        cudaStream_t {stream};
        cudaEvent_t {done};
    {calls}
    }}
    "
        )
    }

    /// Declares a kernel as its launches call it.
    fn declaration(kernel: &engine::Kernel, symbol: &str) -> String {
        let cpp_type = |parameter: &Parameter| match parameter {
            Parameter::From | Parameter::To | Parameter::Cells => "unsigned*",
            Parameter::Mail => "void*",
            Parameter::RuleTable => "unsigned",
            _ => "int",
        };
        let launch = (!kernel.cooperative).then_some("Launch").into_iter();
        let types = launch.chain(kernel.parameters.iter().map(cpp_type));
        let types: Vec<_> = types.collect();
        format!("void {symbol}({});\n", types.join(", "))
    }

    #[test]
    fn the_calls_in_cpp_compile_and_are_narrow() {
        let mut programs = std::collections::BTreeSet::new();
        let mut text = AROUND_CALLS.to_owned();
        let mut functions = String::new();
        for kernel in KERNELS.iter() {
            for entry in kernel.entries {
                text += &declaration(kernel, entry);
            }
            let sizes = [128, 512, 4096].map(|side| Size::new(side, side).unwrap());
            let takes = |size: &Size| kernel.supports(*size);
            let size = sizes.into_iter().rfind(takes).unwrap();
            let mut statuses = Vec::new();
            for first in Switch::ALL {
                for one in first.choices(Switches::DEFAULT, kernel) {
                    for second in Switch::ALL {
                        statuses.extend(second.choices(one.switches, kernel));
                    }
                }
            }
            let possible = statuses.into_iter().filter(|it| it.unavailable.is_none());
            for switches in possible.map(|choice| choice.switches) {
                for transfer in [Transfer::Bits, Transfer::View, Transfer::Cells] {
                    for generations in [1, 6, 100] {
                        let mut status = status(200, size);
                        (status.setting.kernel, status.setting.switches) = (kernel, switches);
                        (
                            status.setting.transfer,
                            status.setting.generations_per_round,
                        ) = (transfer, generations);
                        let calls = calls(&status);
                        // Of a generation, a narrow lab shows every line whole.
                        let is_narrow = calls.iter().all(|line| line.chars().count() <= 68);
                        assert!(is_narrow || generations > 1, "{calls:#?}");
                        if programs.insert(calls) {
                            functions += &function_around(&status, programs.len());
                        }
                    }
                }
            }
        }
        assert!(programs.len() > 1000, "{}", programs.len());
        text += &functions;
        let mut compiler = Command::new("g++")
            .args([
                "-std=c++17",
                "-x",
                "c++",
                "-fsyntax-only",
                "-fmax-errors=3",
                "-",
            ])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("this test needs the package g++");
        let write = compiler.stdin.take().unwrap().write_all(text.as_bytes());
        let output = compiler.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(write.is_ok() && output.status.success(), "{errors}");
    }
}
