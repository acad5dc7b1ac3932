//! The calls that the present settings make for one round, as a person would write them with the
//! CUDA runtime in C++ and with the crate `cust` in Rust.

mod cpp;
mod rust;

use std::ops::Range;
use std::sync::Arc;

use engine::kernels::{Batch, Iteration, Launch, Parameter};
use engine::{Band, HostMemory, Kernel, Layout, Measure, SupportKernel, Transfer};
use lang::tr;
use life::Size;
use script::{Call, CallKind, Round};
use session::{Order, Status, Streams, Wait};

use cpp::Cpp;
use rust::Rust;

/// The language that the calls are shown in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CallLanguage {
    #[default]
    /// C++.
    Cpp,
    /// Rust, with the package cust.
    Rust,
}

impl CallLanguage {
    /// Both.
    pub const ALL: [CallLanguage; 2] = [CallLanguage::Cpp, CallLanguage::Rust];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            CallLanguage::Cpp => "C++",
            CallLanguage::Rust => "Rust (cust)",
        }
    }
}

/// The comment above the calls that every round repeats.
pub fn each_round() -> &'static str {
    tr!("// each round")
}

/// The part of the lattice that is reduced and the pixels of its panel, as `reduce_bits` takes them.
const REGION: &str = "x0, y0, step, px_width, px_height, stride";

/// The calls in each language, line by line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Calls {
    cpp: Vec<String>,
    rust: Vec<String>,
}

impl Calls {
    /// Those in a language.
    pub fn of(&self, language: CallLanguage) -> &[String] {
        match language {
            CallLanguage::Cpp => &self.cpp,
            CallLanguage::Rust => &self.rust,
        }
    }
}

/// The calls of a round with these settings.
pub fn calls(status: &Status) -> Calls {
    let facts = RoundFacts::of(status);
    Calls {
        cpp: write(&Cpp, &facts),
        rust: write(&Rust, &facts),
    }
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

    /// 32-bit words that a call downloads; `None` for a view, whose size depends on its panel.
    fn words(&self) -> Option<u64> {
        match self.transfer {
            Transfer::View => None,
            Transfer::Bits => Some(self.own_words().len() as u64),
            Transfer::Rows { count, .. } => {
                Some(self.size.words_per_row() as u64 * u64::from(count))
            }
            Transfer::Cells => Some(self.size.cells()),
            Transfer::Measure => Some(Measure::WORDS as u64),
        }
        .map(|words| words * u64::from(self.lattices()))
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

/// Generates the calls in one language, as lines of code.
trait CodeGenerator {
    /// Streams and host memory.
    fn once(&self, facts: &RoundFacts) -> Vec<String>;
    /// The head of a loop over the instances.
    fn head(&self, facts: &RoundFacts) -> Vec<String>;
    /// A function of an instance and a stream, with this body.
    fn function(&self, name: &str, body: Vec<String>) -> Vec<String>;
    /// A call of a user's round.
    fn call(&self, call: &Call) -> String;
    /// A part of the round, for instance `i`.
    fn piece(&self, facts: &RoundFacts, piece: RoundPart) -> Vec<String>;
    /// Begins to capture what follows.
    fn begin_capture(&self, facts: &RoundFacts) -> Vec<String>;
    /// Ends it, and readies the graph.
    fn end_capture(&self, facts: &RoundFacts) -> Vec<String>;
    /// Replays it.
    fn replay(&self, facts: &RoundFacts) -> Vec<String>;
    /// How the host learns of the end, behind the calls.
    fn end(&self, facts: &RoundFacts) -> Vec<String>;
}

fn write(speech: &dyn CodeGenerator, facts: &RoundFacts) -> Vec<String> {
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
    lines.extend(speech.once(facts));
    if facts.own.is_some() {
        let piece = |piece: &RoundPart| speech.piece(facts, *piece);
        let (advance, rest): (Vec<RoundPart>, _) = facts
            .loops()
            .into_iter()
            .flatten()
            .partition(|piece| *piece == RoundPart::Advance);
        let bodies = [("advance", advance), ("download", rest)];
        for (name, pieces) in bodies {
            let body = pieces.iter().flat_map(piece).collect();
            lines.extend(speech.function(name, body));
        }
    }
    if facts.graphs {
        lines.extend(speech.begin_capture(facts));
    } else {
        lines.extend([String::new(), each_round().into()]);
    }
    if let Some(own) = &facts.own {
        lines.extend(own_calls(speech, facts, own));
    }
    for pieces in facts.loops().iter().filter(|_| facts.own.is_none()) {
        let calls = pieces.iter().flat_map(|&piece| speech.piece(facts, piece));
        lines.extend(for_each(speech, facts, calls.collect()));
    }
    if facts.graphs {
        lines.extend(speech.end_capture(facts));
        lines.extend([String::new(), each_round().into()]);
        lines.extend(speech.replay(facts));
    }
    lines.extend(speech.end(facts));
    lines
}

/// The calls of a user's round, one by one; of a long one, the first.
fn own_calls(speech: &dyn CodeGenerator, facts: &RoundFacts, own: &Round) -> Vec<String> {
    const MAX_CALLS: usize = 60;
    let made_by_script = |call: &&Call| !(facts.graphs && call.kind == CallKind::Synchronize);
    let calls = own.calls.iter().filter(made_by_script);
    let mut lines: Vec<String> = calls.map(|call| speech.call(call)).collect();
    if lines.len() > MAX_CALLS {
        lines.truncate(MAX_CALLS);
        lines.push(tr!("// … and so on for {} instances", facts.instances));
    }
    lines
}

/// Calls within a loop over the instances, but of a batch.
fn for_each(speech: &dyn CodeGenerator, facts: &RoundFacts, calls: Vec<String>) -> Vec<String> {
    if facts.batches() {
        return calls;
    }
    let mut lines = speech.head(facts);
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

/// Lines of a language.
fn lines<const N: usize>(lines: [&str; N]) -> Vec<String> {
    lines.map(str::to_owned).into()
}

#[cfg(test)]
mod tests;
