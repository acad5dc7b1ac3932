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
        status.lab.isolated = Some(self.isolated(round));
        status
    }

    fn judge(&self, round: &TimedRound) -> Diagnosis {
        let status = self.status(round);
        let diagnosis = Diagnosis::of(round, &status, self.is_drawn_here).unwrap();
        check(&diagnosis, round, &status);
        diagnosis
    }

    fn diagnosis(&self, switches: Switches) -> Diagnosis {
        self.judge(&self.round(switches))
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

/// The part of the time in which ops of two streams are drawn at once, counted point by point.
fn drawn_overlap(round: &TimedRound) -> f64 {
    let (start, end) = round.bounds().unwrap();
    let points = 4000;
    let at = |point: i64| start.0 + (end.0 - start.0) * point / points;
    let running = |time: i64| {
        let spans = round.spans.iter();
        spans
            .filter(|span| span.start.0 <= time && time < span.end.0)
            .count()
    };
    let counts: Vec<usize> = (0..points).map(|point| running(at(point))).collect();
    let busy = counts.iter().filter(|count| **count > 0).count();
    let several = counts.iter().filter(|count| **count > 1).count();
    several as f64 / busy.max(1) as f64
}

/// Nothing that is said contradicts the settings, the drawing, or something else that is said.
fn check(diagnosis: &Diagnosis, round: &TimedRound, status: &Status) {
    let switches = round.switches;
    let said = format!("{diagnosis:?} with {switches:?}");
    let drawn = drawn_overlap(round);
    assert!(
        (drawn - diagnosis.overlapping).abs() < 0.03,
        "{drawn} drawn: {said}"
    );
    match diagnosis.verdict() {
        Verdict::NoOverlap => assert!(drawn < 0.13, "{said}"),
        Verdict::Overlap => assert!(drawn > 0.07, "{said}"),
        Verdict::NoGain | Verdict::Measuring => {}
    }
    let needs_cause = matches!(diagnosis.verdict(), Verdict::NoOverlap | Verdict::NoGain);
    assert!(!needs_cause || !diagnosis.causes.is_empty(), "{said}");
    if let Some(overlap) = &diagnosis.overlap {
        // Never more than ops run at once on average.
        let (start, end) = round.bounds().unwrap();
        let lengths: f64 = round.spans.iter().map(|span| span.length().as_us()).sum();
        let average = lengths / (end.as_us() - start.as_us());
        assert!(overlap.factor() <= average + 1e-6, "{average}: {said}");
    }
    let mut total = 0.0;
    for finding in &diagnosis.causes {
        let us = finding.us.unwrap_or(0.0);
        // Launches that come late may overlap all the same.
        if finding.cause != Cause::IssueOrder {
            total += us;
        }
        assert!(finding.cost_us.unwrap_or(0.0) <= us + 1e-6, "{said}");
        // A CPU's memory is all alike, and it has neither queues nor an engine that copies.
        let is_cpu = status.engine.is_cpu();
        let is_so = match finding.cause {
            Cause::OneInstance => round.spans.iter().all(|span| span.stream == StreamId(0)),
            Cause::SharedStream => {
                switches.order == Order::Own || switches.streams != Streams::PerInstance
            }
            Cause::Events => switches.order == Order::Own,
            Cause::Batch => switches.streams == Streams::Batch,
            Cause::PageableCopies => switches.host_memory == HostMemory::Pageable && !is_cpu,
            Cause::HostWaits => switches.wait == Wait::Each,
            Cause::IssueOrder => switches.order == Order::Depth,
            Cause::FewQueues => !is_cpu,
            Cause::CopyEngine => !is_cpu,
            _ => true,
        };
        assert!(is_so, "{:?} cannot be: {said}", finding.cause);
        if let Some(Action::Session(SessionAction::SetSwitch(switch, at))) = finding.action {
            let choice = &switch.choices(switches, status.setting.kernel)[usize::from(at)];
            assert!(
                choice.switches != switches && choice.unavailable.is_none(),
                "{said}"
            );
        }
    }
    assert!(total <= diagnosis.round_us + 1e-6, "{total} in all: {said}");
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

fn causes(diagnosis: &Diagnosis) -> Vec<Cause> {
    diagnosis.causes.iter().map(|it| it.cause).collect()
}

/// What is said of a round of this machine's.
fn in_words(machine: &Machine, round: &TimedRound) -> String {
    let texts = OverlapTexts::of(Some(machine.judge(round)), &machine.status(round));
    let OverlapTexts {
        overlap,
        tip,
        main_cause,
        causes,
        ..
    } = &texts;
    let mut said = format!("{overlap}\n{}\n{main_cause}\n", tip.join(" | "));
    for it in causes {
        let parts = [it.title(), it.shown_by.clone(), it.cost()];
        said += &format!("    {} | {}\n", parts.join(" | "), it.remedy);
    }
    said + "\n"
}

#[test]
fn where_ops_overlap_well_no_cause_is_named() {
    let diagnosis = GOOD.diagnosis(Switches::DEFAULT);
    assert_eq!(diagnosis.verdict(), Verdict::Overlap);
    assert!(
        diagnosis.overlap.as_ref().unwrap().factor() > 5.0,
        "{diagnosis:?}"
    );
    assert_eq!(causes(&diagnosis), [], "{diagnosis:?}");
}

/// A round of one's own is judged by the streams and events that it uses.
fn own_rounds() -> Vec<(Cause, TimedRound)> {
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
    let round = |source: &str| {
        let script = Script::compile(source, Work::Lattices).unwrap();
        predict(&script.round(GOOD.instances).unwrap(), &times)
    };
    let causes = [Cause::SharedStream, Cause::SharedStream, Cause::Events];
    causes.into_iter().zip(sources.map(round)).collect()
}

/// Each cause is made, is the only one named, and what takes it away does so.
#[test]
fn each_cause_made_on_purpose_is_found_and_no_other() {
    let turn = |switch, at| Some(Action::from(SessionAction::SetSwitch(switch, at)));
    let prompt = |setting| Some(Action::from(ViewAction::Prompt(setting)));
    let plain = Switches::DEFAULT;
    let depth = with(|it| it.order = Order::Depth);
    let one_stream = with(|it| it.streams = Streams::One);
    let default_stream = with(|it| it.streams = Streams::Default);
    let batch = with(|it| it.streams = Streams::Batch);
    let pageable = with(|it| (it.host_memory, it.order) = (HostMemory::Pageable, Order::Depth));
    let waiting = with(|it| (it.wait, it.order) = (Wait::Each, Order::Depth));
    let graphs = with(|it| it.graphs = true);
    let cells = with(|it| it.transfer = TransferChoice::Cells);
    let one = machine(|it| it.instances = 1);
    // The last launch comes after all other lattices' calls.
    let slow_calls = machine(|it| (it.call, it.launch) = (20.0, 400.0));
    let many_calls = machine(|it| {
        (it.call, it.launch, it.pack, it.copy) = (12.0, 8.0, 3.0, 3.0);
    });
    let full = machine(|it| it.share = 1.0);
    let full_cpu = machine(|it| (it.share, it.is_cpu) = (1.0, true));
    let large_copies = machine(|it| it.copy = 150.0);
    let one_queue = machine(|it| it.queues = 1);
    let short = machine(|it| {
        (it.launch, it.pack, it.copy) = (1.5, 1.0, 1.0);
        (it.latency, it.instances) = (8.0, 2);
    });
    let slowed = machine(|it| (it.slower, it.instances) = (3.0, 1));
    let drawn = machine(|it| (it.slower, it.instances, it.is_drawn_here) = (3.0, 1, true));
    let double = Some(SessionAction::DoubleInstances.into());
    let cases = [
        (Cause::OneInstance, one, plain, double),
        (
            Cause::SharedStream,
            GOOD,
            one_stream,
            turn(Switch::Streams, 0),
        ),
        (
            Cause::SharedStream,
            GOOD,
            default_stream,
            turn(Switch::Streams, 0),
        ),
        (Cause::Batch, GOOD, batch, turn(Switch::Streams, 0)),
        (
            Cause::PageableCopies,
            GOOD,
            pageable,
            turn(Switch::HostMemory, 0),
        ),
        (Cause::HostWaits, GOOD, waiting, turn(Switch::Wait, 0)),
        (Cause::IssueOrder, slow_calls, depth, turn(Switch::Order, 0)),
        (Cause::Calls, many_calls, plain, turn(Switch::Graphs, 1)),
        (Cause::UnitsFull, full, plain, prompt(Setting::Size)),
        (Cause::UnitsFull, full_cpu, plain, prompt(Setting::Size)),
        (
            Cause::CopyEngine,
            large_copies,
            cells,
            turn(Switch::Transfer, 0),
        ),
        (Cause::FewQueues, one_queue, depth, None),
        (
            Cause::ShortKernels,
            short,
            graphs,
            prompt(Setting::GenerationsPerRound),
        ),
        (Cause::WindowDraws, drawn, plain, None),
        (Cause::Delayed, slowed, plain, None),
    ];
    for (cause, machine, switches, action) in &cases {
        let diagnosis = machine.diagnosis(*switches);
        let mut expected = vec![*cause];
        // What delays a round is seen where an op runs by itself.
        if matches!(cause, Cause::WindowDraws | Cause::Delayed) {
            expected.insert(0, Cause::OneInstance);
        }
        assert_eq!(causes(&diagnosis), expected, "{diagnosis:?}");
        let found = diagnosis.causes.last().unwrap();
        assert_eq!(found.action, *action, "{cause:?}");
        let Some(Action::Session(SessionAction::SetSwitch(switch, at))) = found.action else {
            continue;
        };
        let kernel = engine::kernels::find("sync-global").unwrap();
        let choices = switch.choices(*switches, kernel);
        // Bits are a 32nd part of i32 cells.
        let mut machine = machine.clone();
        let copies_less = switch == Switch::Transfer;
        machine.copy /= if copies_less { 32.0 } else { 1.0 };
        let better = machine.diagnosis(choices[usize::from(at)].switches);
        let same = better.causes.iter().find(|left| left.cause == *cause);
        let left = same.and_then(|it| it.us).unwrap_or(0.0);
        assert!(
            same.is_none() || left < 0.5 * found.us.unwrap(),
            "{cause:?}: {better:?}"
        );
        if copies_less {
            continue;
        }
        // It saves no more than was said, give or take what a call and a start take.
        let saved = diagnosis.round_us - better.round_us;
        let said = found.cost_us.unwrap_or(f64::MAX);
        assert!(
            saved <= 1.05 * said + 10.0,
            "{cause:?}: {saved} saved, {said} said"
        );
    }
    let of_cases = cases.iter().map(|(_, machine, switches, _)| {
        let round = machine.round(*switches);
        in_words(machine, &round)
    });
    let mut said: String = of_cases.collect();
    for (cause, round) in own_rounds() {
        let diagnosis = GOOD.judge(&round);
        assert_eq!(causes(&diagnosis), [cause], "{diagnosis:?}");
        assert_eq!(diagnosis.causes[0].action, turn(Switch::Order, 0));
        said += &in_words(&GOOD, &round);
    }
    compare_with_stored("causes.txt", &said);
}

/// A busy machine delays rounds, but their ops would not overlap without that, either.
#[test]
fn what_the_setting_makes_is_named_before_delays() {
    for slower in [3.0, 20.0] {
        let machine = Machine { slower, ..GOOD };
        let diagnosis = machine.diagnosis(with(|it| it.streams = Streams::One));
        let expected = [Cause::SharedStream, Cause::Delayed];
        assert_eq!(causes(&diagnosis), expected, "{diagnosis:?}");
    }
}

/// Before ops were run alone, nothing is said of what a cause costs.
#[test]
fn costs_are_unknown_until_ops_ran_alone() {
    let judge = |switches| {
        let round = GOOD.round(switches);
        let mut status = GOOD.status(&round);
        status.lab.isolated = None;
        Diagnosis::of(&round, &status, false).unwrap()
    };
    let diagnosis = judge(with(|it| it.streams = Streams::One));
    assert_eq!(causes(&diagnosis), [Cause::SharedStream]);
    let cost = diagnosis.causes[0].cost_us;
    assert_eq!((cost, &diagnosis.overlap), (None, &None));
    assert_eq!(judge(Switches::DEFAULT).verdict(), Verdict::Measuring);
}

/// A staircase of short kernels is no overlap, however long each took to wake an idle device.
#[test]
fn ops_that_ran_longer_alone_do_not_make_a_staircase_overlap() {
    let machine = machine(|it| (it.launch, it.pack, it.copy, it.call) = (5.0, 1.0, 1.0, 8.0));
    let round = machine.round(Switches::DEFAULT);
    let slow = Machine {
        launch: 50.0,
        ..machine
    };
    let diagnosis = slow.judge(&round);
    assert_eq!(diagnosis.verdict(), Verdict::NoOverlap, "{diagnosis:?}");
    assert!(diagnosis.overlap.as_ref().unwrap().factor() < 1.05);
}

#[test]
fn random_settings_never_contradict_what_is_drawn() {
    let mut state = 30u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut verdicts = HashSet::new();
    for _ in 0..1000 {
        let mut pick = |values: &[f64]| values[random(values.len() as u64) as usize];
        let machine = Machine {
            instances: pick(&[1.0, 2.0, 4.0, 16.0, 40.0]) as u32,
            call: pick(&[0.5, 3.0, 20.0]),
            launch: pick(&[2.0, 10.0, 100.0, 1000.0]),
            pack: pick(&[1.0, 10.0]),
            copy: pick(&[2.0, 20.0, 300.0]),
            latency: pick(&[0.5, 4.0]),
            share: pick(&[0.01, 0.2, 1.0]),
            queues: pick(&[1.0, 8.0, 32.0]) as u32,
            slower: pick(&[1.0, 1.0, 1.5]),
            is_drawn_here: pick(&[0.0, 1.0]) > 0.0,
            is_cpu: pick(&[0.0, 0.0, 1.0]) > 0.0,
        };
        let switches = Switches {
            streams: [
                Streams::PerInstance,
                Streams::One,
                Streams::Default,
                Streams::Batch,
            ][random(4) as usize],
            host_memory: [HostMemory::Pinned, HostMemory::Pageable][random(2) as usize],
            wait: [Wait::Poll, Wait::Each][random(2) as usize],
            order: [Order::Breadth, Order::Depth][random(2) as usize],
            graphs: random(2) == 0,
            ..Switches::DEFAULT
        };
        if switches
            .incompatibility(engine::kernels::find("sync-global").unwrap())
            .is_none()
        {
            verdicts.insert(format!("{:?}", machine.diagnosis(switches).verdict()));
        }
    }
    assert_eq!(verdicts.len(), 3, "{verdicts:?}");
}
