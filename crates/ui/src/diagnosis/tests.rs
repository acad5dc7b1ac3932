//! Rounds that are predicted, in which one cause at a time is made on purpose.

use super::*;
use crate::fixtures;
use engine::{DeviceId, Nanos, Span};
use life::Size;
use script::Work;
use session::IsolatedOp;
use session::prediction::{OpTimes, predict};
use session::trace::StepFacts;
use test_support::compare_with_stored;

/// A device and its host; times in microseconds.
#[derive(Clone)]
struct Machine {
    instances: u32,
    call: f64,
    launch: f64,
    copy: f64,
    /// What the first op of a stream takes from being ready to its start.
    latency: f64,
    /// The part of the device that a launch fills.
    share: f64,
    /// Whether all streams share a hardware queue.
    has_one_queue: bool,
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
    copy: 4.0,
    latency: 2.0,
    share: 0.1,
    has_one_queue: false,
    slower: 1.0,
    is_drawn_here: false,
    is_cpu: false,
    is_measured: true,
};

fn round_of(source: &str, instances: u32, times: &OpTimes) -> TimedRound {
    let round = script::round(source, Work::Lattices, instances);
    predict(&round.unwrap(), times)
}

impl Machine {
    /// The lattices of a launch.
    fn batch(&self, switches: Switches) -> f64 {
        match switches.streams {
            Streams::Batch => self.instances.into(),
            _ => 1.0,
        }
    }

    /// What the device and its host make of a round with these switches.
    fn round(&self, switches: Switches) -> Arc<TimedRound> {
        let batch = self.batch(switches);
        let ns = |us: f64| Nanos((1e3 * us) as i64);
        let times = OpTimes {
            kernel: ns(self.slower * self.launch * (batch * self.share).max(1.0)),
            share: (batch * self.share).min(1.0),
            copy: ns(self.slower * self.copy * batch),
            call: ns(if switches.graphs { 0.0 } else { self.call }),
        };
        let has_streams = switches.streams == Streams::PerInstance;
        // What shares a queue runs as in one stream.
        let stream = if has_streams && !self.has_one_queue {
            "i"
        } else {
            "0"
        };
        let is_pageable = switches.host_memory == HostMemory::Pageable;
        let blocks = is_pageable || switches.wait == Wait::Each;
        let wait = if blocks {
            format!("synchronize({stream});")
        } else {
            String::new()
        };
        let is_depth_first = switches.order.is_depth_first();
        let between = if is_depth_first {
            ""
        } else {
            "} for i in 0..N {"
        };
        let source = format!(
            "for i in 0..N {{ advance(i, {stream}); {between} download(i, {stream}); {wait} }}"
        );
        let mut round = round_of(&source, (f64::from(self.instances) / batch) as u32, &times);
        round.spans.retain(|span| span.end > span.start);
        for facts in Arc::get_mut(&mut round.steps).unwrap() {
            facts.instances *= batch as u32;
            if has_streams {
                facts.stream = StreamId(facts.instance.unwrap_or(facts.stream.0));
            }
            // The call for a copy to pageable memory is what waits.
            if is_pageable && facts.kind == StepKind::Wait {
                facts.kind = StepKind::Download;
            }
        }
        if switches.graphs {
            round.host.truncate(1);
            (round.host[0].step, round.host[0].end) = (Span::WHOLE, ns(self.call));
        }
        // Work that waits for SMs or the copy engine has begun, as events see it; but not behind another in its
        // queue, nor for a CPU's workers.
        let mut ends = HashMap::new();
        for span in &mut round.spans {
            let before = ends.insert(span.stream, span.end);
            let issued = round.host.get(span.step as usize).map(|call| call.end);
            if !self.is_cpu && !self.has_one_queue {
                span.start = before
                    .max(issued.filter(|_| !switches.graphs))
                    .unwrap_or(Nanos(0));
            }
        }
        let later = ns(self.latency).0 + round.host[0].end.0 * i64::from(switches.graphs);
        for span in &mut round.spans {
            span.stream = round.steps[span.step as usize].stream;
            (span.start.0, span.end.0) = (span.start.0 + later, span.end.0 + later);
        }
        (round.switches, round.replayed) = (switches, switches.graphs);
        round.into()
    }

    fn status(&self, round: &TimedRound) -> Status {
        let size = Size::new(512, 512).unwrap();
        let mut status = fixtures::status(self.instances as usize, size);
        status.engine.name = if self.is_cpu { "cpu" } else { "cuda" };
        let queues = if self.has_one_queue { 1 } else { 32 };
        status.engine.queues = Some(queues).filter(|_| !self.is_cpu);
        status.setting.switches = round.switches;
        let share = (self.batch(round.switches) * self.share).min(1.0);
        let batch = self.batch(round.switches);
        let alone = |facts: &StepFacts| {
            let is_launch = facts.kind == StepKind::Launch;
            let launch = self.launch * (batch * self.share).max(1.0);
            let us = if is_launch { launch } else { self.copy * batch };
            IsolatedOp {
                facts: *facts,
                device: DeviceId(0),
                took: Nanos((1e3 * us) as i64),
                share: if is_launch { share } else { 0.0 },
            }
        };
        let isolated = round.steps.iter().map(alone).collect();
        status.lab.isolated = Some(isolated).filter(|_| self.is_measured);
        status
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
fn in_words(machine: &Machine, round: &Arc<TimedRound>) -> String {
    let status = machine.status(round);
    let diagnosis = Diagnosis::of(round, &status, machine.is_drawn_here).unwrap();
    let part = 100.0 * diagnosis.overlapping();
    let kernel = status.setting.kernel;
    let mut said = format!(
        "{part:.1} %, {}\n{}\n{}\n",
        overlap_in_words(Some(&diagnosis), &status).unwrap(),
        describe(Some(&diagnosis), &status).join(" | "),
        diagnosis.first_cause(kernel).unwrap_or_default()
    );
    for it in diagnosis.causes() {
        let it = diagnosis.evidence(it, kernel);
        let parts = [it.title(), it.shown_by, it.cost, it.remedy];
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
    sources.map(|source| round_of(source, GOOD.instances, &times))
}

/// Each cause is made, is the only one named, and what takes it away does so: the round after that follows it.
#[test]
fn causes_made_on_purpose_are_those_that_are_stored() {
    let plain = Switches::DEFAULT;
    let depth = with(|it| it.order = Order::Depth);
    let one_stream = with(|it| it.streams = Streams::One);
    let graph = with(|it| it.graphs = true);
    let waiting = with(|it| (it.wait, it.order) = (Wait::Each, Order::Depth));
    let pageable = with(|it| (it.host_memory, it.order) = (HostMemory::Pageable, Order::Depth));
    let short = machine(|it| {
        (it.launch, it.copy) = (1.5, 1.0);
        (it.latency, it.instances) = (8.0, 2);
    });
    let many_calls = machine(|it| {
        (it.call, it.launch, it.copy) = (12.0, 8.0, 3.0);
    });
    // A staircase of short kernels is no overlap, however long each took alone to wake an idle device.
    let staircase = machine(|it| {
        (it.launch, it.copy) = (50.0, 10.0);
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
        ("one queue", machine(|it| it.has_one_queue = true), depth),
        ("short kernels", short, graph),
        ("a long launch", machine(|it| it.call = 300.0), graph),
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
        let causes = diagnosis.causes().into_iter();
        let mut actions = causes.map(|it| diagnosis.evidence(it, kernel).action);
        let turns = actions.find_map(|it| match it {
            Some(Action::Session(SessionAction::SetSwitch(switch, at))) => Some((switch, at)),
            _ => None,
        });
        if let Some((switch, at)) = turns {
            let better = switch.choices(switches, kernel).remove(at.into());
            said += &in_words(&machine, &machine.round(better.switches));
        }
    }
    for round in own_rounds() {
        said += &format!(
            "==== a round of one's own\n{}",
            in_words(&GOOD, &round.into())
        );
    }
    compare_with_stored("causes.txt", &said);
}
