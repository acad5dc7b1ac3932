//! Rounds of a simulated device, in which one cause at a time is made on purpose.

use super::*;
use crate::fixtures;
use crate::prediction::{OpTimes, predict};
use engine::{DeviceId, Nanos, Span};
use life::Size;
use script::{Script, Work};
use session::IsolatedOp;
use session::trace::StepFacts;
use std::sync::Arc;
use test_support::compare_with_stored;

/// A device and its host; times in microseconds.
#[derive(Clone, Debug)]
struct Machine {
    instances: u32,
    call: f64,
    launch: f64,
    pack: f64,
    copy: f64,
    /// What an op takes from being ready to its start.
    latency: f64,
    /// The part of the device that a launch fills.
    share: f64,
    queues: u32,
    /// By how much ops take longer than alone.
    slower: f64,
    is_drawn_here: bool,
    /// Whether the CPU is the device.
    is_cpu: bool,
    /// Whether each op ran alone, too.
    is_measured: bool,
}

/// Where nothing keeps ops from overlapping.
const GOOD: Machine = Machine {
    instances: 8,
    call: 2.0,
    launch: 200.0,
    pack: 10.0,
    copy: 4.0,
    latency: 2.0,
    share: 0.1,
    queues: 32,
    slower: 1.0,
    is_drawn_here: false,
    is_cpu: false,
    is_measured: true,
};

/// A round under construction.
#[derive(Default)]
struct Simulation {
    steps: Vec<StepFacts>,
    spans: Vec<Span>,
    host: Vec<Span>,
    /// Until when the host is busy.
    now: f64,
    /// Until when each stream, what units and copies need, and each queue are busy.
    streams: Vec<f64>,
    units: f64,
    copies: f64,
    queues: Vec<f64>,
}

fn span(step: u32, stream: StreamId, from: f64, to: f64) -> Span {
    let [start, end] = [from, to].map(|us| Nanos((us * 1e3) as i64));
    Span {
        step,
        stream,
        start,
        end,
    }
}

impl Machine {
    /// What the device and its host make of a round with these switches.
    fn round(&self, switches: Switches) -> TimedRound {
        let batched = switches.streams == Streams::Batch;
        let groups = if batched { 1 } else { self.instances };
        let mut simulation = Simulation {
            streams: vec![0.0; self.instances as usize],
            queues: vec![0.0; self.queues as usize],
            ..Simulation::default()
        };
        let picture = [StepKind::Support, StepKind::Download, StepKind::Wait];
        let picture = picture
            .into_iter()
            .filter(|kind| *kind != StepKind::Wait || switches.wait == Wait::Each);
        match switches.order {
            Order::Depth => {
                for group in 0..groups {
                    let all = [StepKind::Launch].into_iter().chain(picture.clone());
                    all.for_each(|kind| simulation.issue(self, switches, kind, group));
                }
            }
            Order::Breadth | Order::Own => {
                (0..groups).for_each(|it| simulation.issue(self, switches, StepKind::Launch, it));
                (0..groups).for_each(|it| simulation.issue(self, switches, StepKind::Support, it));
                for group in 0..groups {
                    let rest = picture.clone().skip(1);
                    rest.for_each(|kind| simulation.issue(self, switches, kind, group));
                }
            }
        }
        let Simulation {
            steps,
            spans,
            mut host,
            ..
        } = simulation;
        if switches.graphs {
            host = vec![span(Span::WHOLE, StreamId(0), 0.0, self.call)];
        }
        TimedRound {
            steps: steps.into(),
            spans,
            host,
            replayed: switches.graphs,
            switches,
            ..TimedRound::default()
        }
    }

    /// The ops of a round, each run alone.
    fn isolated(&self, round: &TimedRound) -> Arc<[IsolatedOp]> {
        let ops = round
            .steps
            .iter()
            .filter(|facts| facts.kind != StepKind::Wait);
        let alone = |facts: &StepFacts| IsolatedOp {
            facts: *facts,
            device: DeviceId(0),
            took: Nanos((self.length(facts.kind, facts.instances) * 1e3) as i64),
            share: self.share(facts.kind, facts.instances),
        };
        ops.map(alone).collect()
    }

    fn length(&self, kind: StepKind, instances: u32) -> f64 {
        let fits = (f64::from(instances) * self.share).max(1.0);
        match kind {
            StepKind::Launch => self.launch * fits,
            StepKind::Support => self.pack,
            _ => self.copy * f64::from(instances),
        }
    }

    fn share(&self, kind: StepKind, instances: u32) -> f64 {
        match kind {
            StepKind::Launch => (self.share * f64::from(instances)).min(1.0),
            StepKind::Support => 0.01,
            _ => 0.0,
        }
    }

    fn status(&self, round: &TimedRound) -> Status {
        let size = Size::new(512, 512).unwrap();
        let mut status = fixtures::status(self.instances as usize, size);
        status.engine.name = if self.is_cpu { "cpu" } else { "cuda" };
        status.engine.queues = Some(self.queues).filter(|_| !self.is_cpu);
        status.setting.switches = round.switches;
        status.lab.isolated = self.is_measured.then(|| self.isolated(round));
        status
    }
}

impl Simulation {
    fn issue(&mut self, machine: &Machine, switches: Switches, kind: StepKind, group: u32) {
        let shares = switches.streams != Streams::PerInstance;
        let stream = StreamId(if shares { 0 } else { group });
        let instances = match switches.streams {
            Streams::Batch => machine.instances,
            _ => 1,
        };
        let step = self.steps.len() as u32;
        let is_wait = kind == StepKind::Wait;
        self.steps.push(StepFacts {
            kind,
            stream,
            instance: (!is_wait).then_some(group),
            instances: if is_wait { 0 } else { instances },
            ..StepFacts::default()
        });
        let called = self.now;
        let busy = self.streams[stream.0 as usize];
        if is_wait {
            self.now = called.max(busy) + machine.call;
            self.host.push(span(step, stream, called, self.now));
            return;
        }
        let issued = if switches.graphs {
            machine.call
        } else {
            called + machine.call
        };
        let queue = stream.0 as usize % self.queues.len();
        let start = (issued + machine.latency).max(busy + 0.2);
        let start = if switches.graphs {
            start
        } else {
            start.max(self.queues[queue])
        };
        self.queues[queue] = start;
        let takes = machine.slower * machine.length(kind, instances);
        let end = match kind {
            StepKind::Launch if machine.share > 0.99 => {
                self.units = self.units.max(start) + takes;
                self.units
            }
            StepKind::Download => {
                self.copies = self.copies.max(start) + takes;
                self.copies
            }
            _ => start + takes,
        };
        // What a CPU's workers have no time for has not started.
        let start = if machine.is_cpu { end - takes } else { start };
        self.streams[stream.0 as usize] = end;
        self.spans.push(span(step, stream, start, end));
        self.now = called + machine.call;
        let blocks = kind == StepKind::Download && switches.host_memory == HostMemory::Pageable;
        if blocks {
            self.now = self.now.max(end);
        }
        self.host.push(span(step, stream, called, self.now));
    }
}

fn with(change: fn(&mut Switches)) -> Switches {
    let mut switches = Switches::DEFAULT;
    change(&mut switches);
    switches
}

/// Where ops overlap well but for this.
fn machine(change: fn(&mut Machine)) -> Machine {
    let mut machine = GOOD;
    change(&mut machine);
    machine
}

/// What is said of a round of this machine's.
fn in_words(machine: &Machine, round: &TimedRound) -> String {
    let status = machine.status(round);
    let diagnosis = Diagnosis::of(round, &status, machine.is_drawn_here).unwrap();
    let part = 100.0 * diagnosis.overlapping;
    let texts = OverlapTexts::of(Some(diagnosis), &status);
    let tip = texts.tip.join(" | ");
    let mut said = format!(
        "{part:.1} %, {}\n{tip}\n{}\n",
        texts.overlap, texts.main_cause
    );
    for it in texts.causes {
        let parts = [it.title(), it.shown_by.clone(), it.cost(), it.remedy];
        said += &format!("    {} | {:?}\n", parts.join(" | "), it.action);
    }
    said + "\n"
}

/// A round of one's own is judged by the streams and events that it uses.
fn own_rounds() -> [TimedRound; 3] {
    // In the last one each launch is in a stream of its own, and waits for an event after the one before.
    let sources = [
        "for i in 0..N { advance(i, 0); download(i, 0); }",
        "for i in 0..N { advance(i, i / 7); download(i, i / 7); }",
        "for i in 0..N { if i > 0 { wait(i - 1, i); } advance(i, i); record(i, i); }",
    ];
    let times = OpTimes {
        kernel: Nanos(200_000),
        copy: Nanos(4_000),
        share: GOOD.share,
        ..OpTimes::EQUAL
    };
    sources.map(|source| {
        let script = Script::compile(source, Work::Lattices).unwrap();
        predict(&script.round(GOOD.instances).unwrap(), &times)
    })
}

/// Each cause is made, is the only one named, and what takes it away does so: the round after that follows it.
#[test]
fn causes_made_on_purpose_are_those_that_are_stored() {
    let plain = Switches::DEFAULT;
    let depth = with(|it| it.order = Order::Depth);
    let one_stream = with(|it| it.streams = Streams::One);
    let waiting = with(|it| (it.wait, it.order) = (Wait::Each, Order::Depth));
    let pageable = with(|it| (it.host_memory, it.order) = (HostMemory::Pageable, Order::Depth));
    let short = machine(|it| {
        (it.launch, it.pack, it.copy) = (1.5, 1.0, 1.0);
        (it.latency, it.instances) = (8.0, 2);
    });
    let many_calls = machine(|it| {
        (it.call, it.launch, it.pack, it.copy) = (12.0, 8.0, 3.0, 3.0);
    });
    // A staircase of short kernels is no overlap, however long each took alone to wake an idle device.
    let staircase = machine(|it| {
        (it.launch, it.pack, it.copy) = (50.0, 10.0, 10.0);
        (it.call, it.slower) = (8.0, 0.1);
    });
    let cases = [
        ("nothing", GOOD, plain),
        ("one lattice", machine(|it| it.instances = 1), plain),
        ("one stream", GOOD, one_stream),
        (
            "the default stream",
            GOOD,
            with(|it| it.streams = Streams::Default),
        ),
        ("a batch", GOOD, with(|it| it.streams = Streams::Batch)),
        ("pageable memory", GOOD, pageable),
        ("the host waits", GOOD, waiting),
        // The last launch comes after all other lattices' calls.
        (
            "order",
            machine(|it| (it.call, it.launch) = (20.0, 400.0)),
            depth,
        ),
        ("calls", many_calls, plain),
        ("full SMs", machine(|it| it.share = 1.0), plain),
        (
            "full cores",
            machine(|it| (it.share, it.is_cpu) = (1.0, true)),
            plain,
        ),
        (
            "copies",
            machine(|it| it.copy = 150.0),
            with(|it| it.transfer = TransferChoice::Cells),
        ),
        ("one queue", machine(|it| it.queues = 1), depth),
        ("short kernels", short, with(|it| it.graphs = true)),
        (
            "a window",
            machine(|it| (it.slower, it.instances, it.is_drawn_here) = (3.0, 1, true)),
            plain,
        ),
        (
            "a delay",
            machine(|it| (it.slower, it.instances) = (3.0, 1)),
            plain,
        ),
        ("a staircase", staircase, plain),
        // What the setting makes is named before delays: without those ops would not overlap, either.
        (
            "delays in one stream",
            machine(|it| it.slower = 3.0),
            one_stream,
        ),
        (
            "long delays in one stream",
            machine(|it| it.slower = 20.0),
            one_stream,
        ),
        // Before ops were run alone, nothing is said of what a cause costs.
        (
            "one stream, not measured",
            machine(|it| it.is_measured = false),
            one_stream,
        ),
        (
            "nothing, not measured",
            machine(|it| it.is_measured = false),
            plain,
        ),
    ];
    let kernel = engine::kernels::find("sync-global").unwrap();
    let mut said = String::new();
    for (name, machine, switches) in cases {
        let round = machine.round(switches);
        said += &format!("==== {name}\n{}", in_words(&machine, &round));
        let status = machine.status(&round);
        let diagnosis = Diagnosis::of(&round, &status, false).unwrap();
        let turns = diagnosis.causes.iter().find_map(|it| match it.action {
            Some(Action::Session(SessionAction::SetSwitch(switch, at))) => Some((switch, at)),
            _ => None,
        });
        if let Some((switch, at)) = turns {
            let better = switch.choices(switches, kernel).remove(at.into());
            said += &in_words(&machine, &machine.round(better.switches));
        }
    }
    for round in own_rounds() {
        said += &format!("==== a round of one's own\n{}", in_words(&GOOD, &round));
    }
    compare_with_stored("causes.txt", &said);
}
