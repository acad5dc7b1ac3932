//! Rounds that a user wrote, among built-in ones, edits and snapshots.

use std::collections::HashMap;

use super::*;
use crate::{OwnRound, Split};
use engine::cpu::CpuEngine;
use engine::{EventId, Op, OrderOp, Program, Scope};

/// Right rounds: one stream; a stream each; two streams; compute and copy streams; downloads in
/// another instance's stream; copies after everything, with a wait of the host.
const ROUNDS: [&str; 6] = [
    "for i in 0..N { advance(i, 0); download(i, 0); }",
    "for i in 0..N { advance(i, i); } for i in 0..N { download(i, i); }",
    "for i in 0..N { advance(i, i % 2); download(i, i % 2); }",
    "for i in 0..N { advance(i, 0); record(i, 0); wait(i, 1); download(i, 1); }",
    "for i in 0..N { advance(i, i); record(i, i); }
     for i in 0..N { let to = (i + 1) % N; wait(i, to); download(i, to); }",
    "for i in 0..N { advance(i, 2); } synchronize(2); for i in 0..N { download(i, 0); }",
];

fn own(round: usize, instances: usize) -> Option<Arc<OwnRound>> {
    let own = OwnRound::new(ROUNDS[round].into(), instances);
    assert_eq!(own.round().err(), None, "{}", ROUNDS[round]);
    Some(Arc::new(own))
}

fn in_order(order: Order, graphs: bool) -> Switches {
    Switches {
        order,
        graphs,
        ..Switches::DEFAULT
    }
}

/// How far each stream has come, as another one knows.
type Clock = HashMap<StreamId, u32>;

fn learn(clock: &mut Clock, other: &Clock) {
    for (&stream, &count) in other {
        let known = clock.entry(stream).or_default();
        *known = count.max(*known);
    }
}

/// Checks that every two ops on one lattice are ordered: by their stream, by events or by the host.
fn check_order(programs: &[Program]) {
    let mut streams: HashMap<StreamId, Clock> = HashMap::new();
    let mut events: HashMap<EventId, Clock> = HashMap::new();
    let mut host = Clock::new();
    let mut last: HashMap<u32, (StreamId, u32, &str)> = HashMap::new();
    for (at, program) in programs.iter().enumerate() {
        if program.steps.is_empty() {
            streams.values().for_each(|clock| learn(&mut host, clock));
        }
        for step in &program.steps {
            let clock = streams.entry(step.stream).or_default();
            learn(clock, &host);
            let count = clock.entry(step.stream).or_default();
            *count += 1;
            let count = *count;
            match step.op {
                Op::Order(OrderOp::Record(event)) => drop(events.insert(event, clock.clone())),
                Op::Order(OrderOp::Wait(event)) => learn(clock, &events[&event]),
                Op::Order(OrderOp::Synchronize(Scope::Stream)) => learn(&mut host, clock),
                _ => {}
            }
            for lattice in step.op.lattices() {
                let now = (step.stream, count, step.op.label());
                if let Some(before) = last.insert(lattice, now) {
                    let known = clock.get(&before.0).copied().unwrap_or(0);
                    assert!(
                        known >= before.1,
                        "program {at}: {now:?} is not behind {before:?} on lattice {lattice}"
                    );
                }
            }
        }
    }
}

#[test]
fn work_on_a_lattice_is_ordered_across_rounds_edits_and_snapshots() {
    let mut state = 5u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    let setup = Setup {
        kernel: kernel("sync-global"),
        ..setup(4)
    };
    let script = Arc::new(Script::holding_completions());
    let engine = script.open(DeviceChoice::Cpu).unwrap();
    script.record();
    let mut instances = Stepped::started_on(engine, &setup);
    let mut joined = 0;
    for step in 0..6000 {
        match random(24) {
            0 => instances.setting.own_round = own(random(6), 4),
            1 => {
                let orders = [Order::Own, Order::Breadth, Order::Own, Order::Depth];
                let order = orders[random(4)];
                let streams = [Streams::PerInstance, Streams::One];
                instances.setting.switches = Switches {
                    streams: streams[random(2)],
                    ..in_order(order, random(6) == 0)
                };
            }
            2 => {
                let edit = edit_of_word(random(40) as u32);
                instances.edit(&[random(4)], &edit).unwrap();
            }
            3 => drop(instances.issue_snapshot(random(2) as u8).unwrap()),
            4 => drop(instances.issue(Request::of(0)).unwrap()),
            6 => instances
                .set_lattices(starts(&setup, 1..2).unwrap())
                .unwrap(),
            7..14 => drop(script.release()),
            _ => {
                let request = Request {
                    timed: step % 7 == 0,
                    measured: random(4) == 0,
                    ..Request::of(1 + random(2) as u32)
                };
                instances.issue(request).unwrap();
            }
        }
        instances.poll(|_| {}).unwrap();
        if instances.is_idle() {
            script.submitted(Program::default());
        }
        let is_join = |program: &Program| {
            let only = |step: &engine::Step| {
                matches!(step.op, Op::Order(OrderOp::Record(_) | OrderOp::Wait(_)))
            };
            !program.steps.is_empty() && program.steps.iter().all(only)
        };
        if step % 500 == 499 {
            instances.finish().unwrap();
            let programs = script.record();
            check_order(&programs);
            joined += programs.iter().filter(|it| is_join(it)).count();
        }
    }
    assert!(joined > 10, "programs overlap: {joined}");
}

#[test]
fn rounds_that_stay_in_their_streams_need_no_joins() {
    for (round, joins) in [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 1)] {
        let setup = Setup {
            own_round: own(round, 4),
            ..with_switches(4, |it| it.order = Order::Own)
        };
        let script = Arc::new(Script::holding_completions());
        let engine = script.open(DeviceChoice::Cpu).unwrap();
        let mut instances = Stepped::started_on(engine, &setup);
        instances.finish().unwrap();
        instances.issue(Request::of(1)).unwrap();
        script.record();
        assert!(instances.issue(Request::of(1)).unwrap());
        let ops = |program: &Program| program.steps.len();
        let ops: Vec<usize> = script.record().iter().map(ops).collect();
        assert_eq!(ops.len(), joins + 1, "{}: {ops:?}", ROUNDS[round]);
        if round == 3 {
            assert_eq!(ops[0], 2, "one event and one wait");
        }
    }
}

#[test]
fn own_rounds_step_the_lattices_as_the_reference_does() {
    for name in ["bits", "sync-global", "planar"] {
        let setup = Setup {
            kernel: kernel(name),
            ..setup(4)
        };
        let mut instances = started(&setup);
        let mut want = later(&setup, 0);
        let mut generation = 0;
        for turn in 0..40 {
            let round = turn % ROUNDS.len();
            instances.setting.own_round = own(round, 4);
            let orders = [Order::Own, Order::Own, Order::Breadth];
            let is_capturable = round != 5; // the host waits in it
            let switches = in_order(orders[turn % 3], turn % 4 == 3 && is_capturable);
            instances.setting.switches = switches;
            let edit = edit_of_word(turn as u32);
            instances.edit(&[turn % 4], &edit).unwrap();
            let mut words = want[turn % 4].words().to_vec();
            edit[0].apply(&mut words[turn]);
            want[turn % 4] = Lattice::from_words(setup.size, words);
            for lattice in &mut want {
                *lattice = reference::run(lattice, setup.rule, 12);
            }
            instances.step(12, 2);
            generation += 12;
            assert_eq!(instances.generation(0), generation);
            assert!(instances.fetch().unwrap() == want, "{name}, turn {turn}");
        }
    }
}

#[test]
fn pictures_of_own_rounds_are_of_their_generation() {
    let setup = Setup {
        own_round: own(3, 3),
        ..with_switches(3, |it| it.order = Order::Own)
    };
    let mut instances = started(&setup);
    let slots = instances.slots().clone();
    let mut seen = 0;
    for _ in 0..200 {
        instances.issue(Request::of(1)).unwrap();
        instances.wait(Duration::from_millis(1));
        let mut arrived = Vec::new();
        instances.poll(|event| arrived.push(event)).unwrap();
        for event in arrived {
            if let Event::Pictures {
                instances: of,
                generation,
                slot,
                ..
            } = event
            {
                let want = later(&setup, generation);
                for i in of {
                    let got = read_lattice(&*slots, i, slot, setup.size).unwrap();
                    assert!(got == want[i], "instance {i} at {generation}");
                    seen += 1;
                }
            }
        }
    }
    instances.finish().unwrap();
    assert!(seen > 50);
}

#[test]
fn a_and_b_compare_an_own_round_with_breadth() {
    for sides in [
        [Order::Own, Order::Breadth],
        [Order::Breadth, Order::Own],
        [Order::Own; 2],
    ] {
        let setup = Setup {
            own_round: own(4, 6),
            ..with_switches(6, |it| it.order = sides[0])
        };
        let mut instances = started(&setup);
        instances.round(2);
        let second = instances.setting.with_switches(in_order(sides[1], false));
        let share = |setting: &Setting, lattices| setting.share(lattices, instances.picture);
        let halves = [share(&instances.setting, 0..3), share(&second, 3..6)];
        let both = [share(&instances.setting, 0..6), share(&second, 0..6)];
        for shares in [halves, both] {
            assert!(instances.ensure(&shares).unwrap());
            for turn in 0..20 {
                let request = Request::of(1);
                let issued = instances.sim.issue(&shares[turn % 2], request, |_| false);
                assert!(issued.unwrap());
                instances.finish().unwrap();
            }
        }
        assert_eq!(instances.fetch().unwrap(), later(&setup, 32), "{sides:?}");
    }
}

#[test]
fn a_timed_own_round_numbers_its_streams_as_the_script_does() {
    let setup = Setup {
        own_round: own(3, 3),
        ..with_switches(3, |it| it.order = Order::Own)
    };
    let mut instances = started(&setup);
    let names = |round: &TimedRound| -> Vec<String> {
        round.streams().iter().map(|it| it.name()).collect()
    };
    let mut rounds = Vec::new();
    let mut take = |round: TimedRound| rounds.push(round);
    let share = instances.share();
    instances.run(&share, 2, 1, Some(&mut take)).unwrap();
    for round in &rounds {
        assert_eq!(names(round), ["stream 0", "stream 1"]);
        assert_eq!(round.steps[3].stream, round.streams()[1].id);
        assert_eq!(round.dependencies().len(), 3);
    }
    assert_eq!(rounds.len(), 2);
    let mut split = setup.clone();
    split.split = Split::On;
    let two_devices = Box::new(CpuEngine::without_threads(2));
    let mut in_bands = Stepped::started_on(two_devices, &split);
    let wanted = ["GPU 0: 0", "GPU 0: 1", "GPU 1: 0", "GPU 1: 1"];
    let mut found = Vec::new();
    let mut take = |round: TimedRound| found.push(names(&round));
    let share = in_bands.share();
    in_bands.run(&share, 1, 1, Some(&mut take)).unwrap();
    assert_eq!(found, [wanted]);
    assert!(instances.calibrate(1).unwrap());
    let alone = instances
        .events()
        .into_iter()
        .find_map(|event| match event {
            Event::Calibrated(alone) => Some(alone),
            _ => None,
        });
    assert_eq!(alone.unwrap().len(), 6, "without events");
}
