//! What keys lead to, compared with what they led to before: of 200 sequences of commands the programs of
//! the rounds, the cells and the status at rest. `tests/oracle/keys.txt` and `comparison.txt` have a line
//! for every step. `LIFESTREAMS_RENEW=1` with a test's name writes its file anew.
//!
//! What depends on real time is left out: rounds on the way to a generation, the setting that is the
//! fastest, and which rounds are timed.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::driver::{Driver, Reopen, Step};
use super::*;
use crate::command::Query;
use crate::instances::limit;
use crate::scripted_engine::Issued;
use crate::{Area, PicturePlan, Switch};
use engine::kernels::KERNELS;
use engine::{
    HostMemory, LatticeOp, Layout, Op, OrderOp, ReduceRegion, Scope, Step as ProgramStep,
    StreamKind, Transfer,
};
use life::SplitMix64;
use test_support::{compare_with_stored, fingerprint};

/// Valid rounds of a user's own for several instances, and an invalid one.
const ROUNDS: [&str; 5] = [
    "for i in 0..N { advance(i, i); } for i in 0..N { download(i, i); }",
    "for i in 0..N { advance(i, i % 2); download(i, i % 2); }",
    "for i in 0..N { advance(i, 0); record(i, 0); wait(i, 1); download(i, 1); }",
    "for i in 0..N { advance(i, 2); } synchronize(2); for i in 0..N { download(i, 0); }",
    "for i in 0..N { advance(i, 0); download(i, 1); }",
];

/// What a user does.
enum Key {
    /// A command.
    Does(Step),
    /// Rounds follow one another, this many.
    Runs(u64),
    /// A round's script.
    Round(&'static str),
    /// A file with a pattern is opened.
    Opens,
    /// One panel is drawn, or all again.
    Single,
}

/// Actions, each with its name and whether it is sent while rounds run.
type Keys = Vec<(&'static str, Key, bool)>;

/// Does what keys say, and writes down what that leads to.
struct Oracle {
    driver: Driver,
    /// Whether one panel is drawn.
    is_single: bool,
    text: String,
    /// Every program by its number.
    programs: BTreeMap<String, String>,
}

/// A program in words, with its number. Streams and events are numbered by their first use in it.
fn program(issued: &Issued) -> (String, String) {
    let (mut streams, mut events) = (Vec::new(), Vec::new());
    let number = |all: &mut Vec<u32>, id: u32| {
        let known = all.iter().position(|it| *it == id);
        known.unwrap_or_else(|| {
            all.push(id);
            all.len() - 1
        })
    };
    let mut text = String::from(if issued.is_graph { "graph: " } else { "" });
    let mut last = None;
    for ProgramStep { stream, op, issuer } in &issued.program.steps {
        assert_eq!(issuer.0, 0, "rounds are issued by one thread");
        // The host waits for a device whatever the stream is.
        let on = match (op, issued.streams[stream]) {
            (Op::Order(OrderOp::Synchronize(Scope::Device)), (device, _)) => {
                format!("gpu{}", device.0)
            }
            (_, (device, spec)) => {
                let at = number(&mut streams, stream.0);
                let kind = match spec.kind {
                    StreamKind::NonBlocking => "s",
                    StreamKind::Blocking => "blocking ",
                    StreamKind::Default => "default ",
                };
                let gpu = format!("gpu{}.", device.0);
                format!("{}{kind}{at}", if device.0 == 0 { "" } else { &gpu })
            }
        };
        if last.as_ref() != Some(&on) {
            write!(text, "[{on}] ").unwrap();
        }
        last = Some(on);
        let of = op.lattices();
        let of = match of.len() {
            0 | 1 => of.start.to_string(),
            _ => format!("{}-{}", of.start, of.end - 1),
        };
        let op = match op {
            Op::Lattices(_, LatticeOp::Upload(_)) => format!("upload {of}"),
            Op::Lattices(_, LatticeOp::Soup(_)) => format!("soup {of}"),
            Op::Lattices(_, LatticeOp::Edit(edits)) => format!("edit {of} {} words", edits.len()),
            Op::Lattices(_, LatticeOp::Pack) => format!("pack {of}"),
            Op::Lattices(_, LatticeOp::Unpack(to)) => match to {
                Layout::I32 => format!("unpack {of} i32"),
                Layout::Bits => format!("unpack {of} bits"),
                Layout::Planar => format!("unpack {of} planar"),
            },
            Op::Lattices(
                _,
                LatticeOp::Advance {
                    kernel,
                    rule,
                    generations,
                    block: (across, down),
                },
            ) => format!("{} {of} {rule} +{generations} {across}x{down}", kernel.name),
            Op::Lattices(_, LatticeOp::Reduce(region)) => {
                let ReduceRegion { width, height, .. } = region;
                format!(
                    "reduce {of} {},{} {width}x{height} by {}",
                    region.x0, region.y0, region.step
                )
            }
            Op::Lattices(_, LatticeOp::Measure) => format!("measure {of}"),
            Op::Lattices(_, LatticeOp::Download { slot, what }) => {
                let what = match what {
                    Transfer::Bits => "bits",
                    Transfer::Rows { first, count } => &format!("rows {first}+{count}"),
                    Transfer::View => "view",
                    Transfer::Cells => "cells",
                    Transfer::Measure => "measure",
                };
                let memory = match slot.0 {
                    at if at < issued.slots.pinned => "pinned",
                    at if at < issued.slots.pinned + issued.slots.pageable => "pageable",
                    _ => "others",
                };
                format!("download {of} {what} {memory}")
            }
            Op::Lattices(_, LatticeOp::CopyRows { from, rows, .. }) => {
                format!("rows {} of {} to {} of {of}", rows.from, from.0, rows.to)
            }
            Op::Order(OrderOp::Synchronize(Scope::Stream)) => "wait".into(),
            Op::Order(OrderOp::Synchronize(Scope::Device)) => "wait for all".into(),
            Op::Order(OrderOp::Record(event)) => {
                format!("record e{}", number(&mut events, event.0))
            }
            Op::Order(OrderOp::Wait(event)) => format!("wait e{}", number(&mut events, event.0)),
            Op::Buffers(_) => {
                unreachable!("no op of lattices")
            }
        };
        write!(text, "{op}; ").unwrap();
    }
    let text = text.trim_end_matches("; ").to_owned();
    (fingerprint(text.bytes()), text)
}

impl Oracle {
    fn new() -> Oracle {
        limit::set(Some(64)); // whatever rounds take
        Oracle {
            driver: Driver::new(small(1)),
            is_single: false,
            text: String::new(),
            programs: BTreeMap::new(),
        }
    }

    fn begin(&mut self, name: &str, setup: Setup) {
        let is_split = setup.split == Split::On;
        let on = if is_split {
            "split"
        } else {
            &setup.device.to_string()
        };
        writeln!(self.text, "\n{name}, {on}").unwrap();
        (self.driver, self.is_single) = (Driver::new(setup), false);
        self.driver.pause();
        self.driver.script.issued();
        self.rest("start", false);
    }

    /// Whether the setting is the fastest by an estimate, which may change.
    fn is_estimated(&self) -> bool {
        let worker = &self.driver.worker;
        worker.state.pacing.pace() == Pace::Maximum
            || worker.lattices.setup.kernel_choice == KernelChoice::Estimated
    }

    /// Runs until this many rounds more were issued, and pauses.
    fn run(&mut self, rounds: u64) {
        let driver = &mut self.driver;
        if !driver.worker.is_running() {
            driver.step(Step::Act(SessionAction::TogglePause));
        }
        let end = driver.worker.state.rounds() + rounds;
        let goes_on =
            |worker: &SessionWorker| worker.state.rounds() < end || !worker.state.queue.is_empty();
        while goes_on(&driver.worker) && driver.turn() {}
    }

    /// A step, and what it led to at rest. `while_running` has rounds before and after it.
    fn press(&mut self, name: &str, key: Key, while_running: bool) {
        if while_running {
            self.run(2);
        }
        let driver = &mut self.driver;
        let is_way = matches!(
            &key,
            Key::Does(
                Step::Act(
                    SessionAction::StepBack
                        | SessionAction::StepRoundBack
                        | SessionAction::RunTo(_)
                        | SessionAction::Undo
                        | SessionAction::Redo
                ) | Step::Reload(_)
            )
        );
        match key {
            Key::Does(step) => driver.step(step),
            Key::Runs(rounds) => self.run(rounds),
            Key::Round(source) => {
                let (query, _answer) = Query::new();
                driver
                    .worker
                    .dispatch(Command::SetOwnRound(source.into(), query));
            }
            Key::Opens => {
                let pattern = life::soup(driver.worker.lattices.setup.size, 0.5, 77, 0);
                let pattern = Command::OpenPattern(0, Arc::new(pattern), 1000);
                driver.worker.dispatch(pattern);
            }
            Key::Single => self.is_single = !self.is_single,
        }
        if while_running {
            self.run(4);
        }
        self.driver.pause();
        self.rest(name, !is_way);
    }

    /// Writes what holds at rest.
    fn rest(&mut self, name: &str, has_rounds: bool) {
        self.driver.turn_until_rest();
        self.look();
        let is_estimated = self.is_estimated();
        let status = self.driver.worker.make_status(self.driver.worker.now());
        let notice = status.notice.map(|it| it.to_string());
        // What was measured of rounds, and the kernel's name.
        let notice = notice.filter(|it| !is_estimated && !it.contains("ms per round"));
        self.driver.settle();
        let worker = &self.driver.worker;
        let is_running = worker.is_running();
        let status = worker.make_status(worker.now());
        let (setting, lattices) = (&status.setting, &status.lattices);
        let switches = setting.switches;
        let memory = match switches.host_memory {
            HostMemory::Pinned => "pinned",
            HostMemory::Pageable => "pageable",
        };
        let block = switches
            .block
            .map(|(across, down)| format!(" {across}x{down}"));
        let how = if is_estimated {
            "fastest".into()
        } else {
            format!(
                "{} {} {memory} {} {}{} {}{} x{}",
                setting.kernel.name,
                switches.streams,
                switches.wait,
                switches.order,
                if switches.graphs { " graphs" } else { "" },
                switches.transfer,
                block.unwrap_or_default(),
                setting.generations_per_round,
            )
        };
        let cells: Vec<String> = self
            .driver
            .fetch()
            .iter()
            .map(|it| fingerprint(it.words().to_vec()))
            .collect();
        let pace = match setting.pace {
            Pace::PerSecond(rounds) => format!("{rounds}/s"),
            Pace::Unthrottled => "unthrottled".into(),
            Pace::Maximum => "maximum".into(),
        };
        let issued = self.driver.script.issued().into_iter();
        let steps = |it: &Issued| {
            let mut steps = it.program.steps.iter();
            steps.any(|step| matches!(step.op, Op::Lattices(_, LatticeOp::Advance { .. })))
        };
        let rounds: BTreeMap<String, String> =
            issued.filter(steps).map(|it| program(&it)).collect();
        write!(
            self.text,
            "{name} | {} {}x{} {} {how} {pace} {}| {} |",
            status.clock.generation,
            lattices.instances,
            lattices.size,
            lattices.rule,
            if is_running { "running " } else { "" },
            cells.join(" ")
        )
        .unwrap();
        if has_rounds && !is_estimated {
            rounds
                .keys()
                .for_each(|it| write!(self.text, " {it}").unwrap());
            self.programs.extend(rounds);
        }
        writeln!(self.text, " | {}", notice.unwrap_or_default()).unwrap();
    }

    /// Asks for the pictures that go with the setting, as who draws does.
    fn look(&mut self) {
        let setup = &self.driver.worker.lattices.setup;
        let bits = 4 * (setup.size.words() * setup.instances) as u64;
        let switches = self.driver.worker.lattices.changed_setting().switches;
        let plan = PicturePlan {
            transfer: switches
                .transfer
                .transfer(bits, PicturePlan::MAX_AUTO_BITS_BYTES),
            region: ReduceRegion::of_cells(8, 4),
            only: None,
        };
        self.driver.step(Step::View(plan));
        self.driver.turn_until_rest();
    }

    /// Compares everything with the file of this name.
    fn compare(mut self, name: &str) {
        self.text.push_str("\nPrograms\n");
        for (number, program) in &self.programs {
            writeln!(self.text, "{number} {program}").unwrap();
        }
        compare_with_stored(name, self.text.trim_start());
    }
}

fn edit(random: &mut SplitMix64, setup: &Setup) -> (String, Step) {
    let instance = random.below(setup.instances as u64) as usize;
    let [wide, high] = [setup.size.width(), setup.size.height()];
    let mut cell = || {
        let [x, y] = [wide, high].map(|end| random.below(end.into()) as u32);
        [x, y]
    };
    let (at, area) = (cell(), Area::spanned(cell(), cell()));
    let cells = (0..4).map(|_| cell()).collect();
    let (kind, one, seed) = (random.below(6), random.below(2) == 0, random.draw());
    let (name, change) = match kind {
        0 => ("draw", Change::Draw { cells, alive: one }),
        1 => {
            let pattern = Arc::new(life::soup(Size::new(5, 3).unwrap(), 0.5, seed, 0));
            let overwrites_dead = one;
            (
                "place",
                Change::Place {
                    pattern,
                    at,
                    overwrites_dead,
                },
            )
        }
        2 => ("clear", Change::Clear(area)),
        3 => (
            "fill",
            Change::Fill {
                area,
                density: 0.4,
                seed,
            },
        ),
        4 => (
            "flip",
            Change::Flip {
                area,
                horizontal: one,
            },
        ),
        _ => (
            "rotate",
            Change::Rotate {
                area,
                clockwise: one,
            },
        ),
    };
    let continues_stroke = kind == 0 && random.below(3) == 0;
    let name = format!(
        "{name} in {instance}{}",
        if continues_stroke { ", going on" } else { "" }
    );
    (
        name,
        Step::Edit(Edit {
            instance,
            change,
            continues_stroke,
        }),
    )
}

/// What a key does next, in words, and whether it can come while rounds go on.
fn key(random: &mut SplitMix64, worker: &SessionWorker) -> (String, Key, bool) {
    use SessionAction::*;
    let setup = &worker.lattices.setup;
    let act = |name: &str, action| (name.to_owned(), Key::Does(Step::Act(action)), false);
    let live = |name: &str, action| (name.to_owned(), Key::Does(Step::Act(action)), true);
    let mut below = |end: u64| random.below(end);
    if worker.state.pacing.pace() == Pace::Maximum {
        return act("slower", Slower); // its rounds are as long as real time allows
    }
    match below(45) {
        0 => act("step a generation", StepGeneration),
        1 => act("step a round", StepRound),
        2 => act("back", StepBack),
        3 => act("back a round", StepRoundBack),
        4 | 5 => {
            let to = below(60);
            act(&format!("to {to}"), RunTo(to))
        }
        6 => live("reset panel", ResetPanel),
        7 => act("reset all", ResetAll),
        8 => live("new seed", NewSeed),
        9..=12 => act("undo", Undo),
        13 | 14 => act("redo", Redo),
        15 => live("next kernel", NextKernel),
        16 => live("kernel before", PreviousKernel),
        17 | 18 => {
            let at = below(KERNELS.len() as u64);
            live(&format!("kernel {at}"), UseKernel(at as u8))
        }
        19..=22 => {
            let switch = Switch::ALL[below(7) as usize];
            live(&format!("next {}", switch.name()), CycleSwitch(switch))
        }
        23..=25 => {
            let (switch, at) = (Switch::ALL[below(7) as usize], below(4));
            live(
                &format!("{} {at}", switch.name()),
                SetSwitch(switch, at as u8),
            )
        }
        26 => {
            let count = 1 + below(5);
            live(&format!("instances {count}"), SetInstances(count as u16))
        }
        27 => act("twice the instances", DoubleInstances),
        28 => act("half the instances", HalveInstances),
        29 => {
            let (wide, high) = [(96, 16), (64, 32), (33, 7), (128, 24)][below(4) as usize];
            let size = Size::new(wide, high).unwrap();
            live(&format!("size {size}"), SetSize(size))
        }
        30 => {
            let rule = ["B3/S23", "B36/S23", "B1357/S1357"][below(3) as usize];
            live(&format!("rule {rule}"), SetRule(rule.parse().unwrap()))
        }
        31 => {
            let density = 200 + below(400);
            act(&format!("density {density}"), SetDensity(density as u16))
        }
        32 => {
            let count = 1 + below(6);
            live(
                &format!("{count} a round"),
                SetGenerationsPerRound(count as u32),
            )
        }
        33 => {
            let at = below(Pace::ALL.len() as u64 - 1);
            live(&format!("pace {at}"), SetPace(at as u8))
        }
        34 => act("faster", Faster),
        35 => act("slower", Slower),
        36 => act("select next", SelectNext),
        37 => {
            let at = below(5) as usize;
            act(&format!("select {at}"), Select(at))
        }
        38 => {
            let source = ROUNDS[below(ROUNDS.len() as u64) as usize];
            (format!("round {source}"), Key::Round(source), true)
        }
        39 => ("single".into(), Key::Single, false),
        40 => (
            "reopen".into(),
            Key::Does(Step::Reload(Reopen::AtStart)),
            false,
        ),
        _ => {
            let (name, edit) = edit(random, setup);
            (name, Key::Does(edit), true)
        }
    }
}

/// A setup of a sequence. Each fourth one is as the program starts by itself, each tenth on three GPUs.
fn start(random: &mut SplitMix64, number: u64) -> Setup {
    let sizes = [(64, 32), (96, 16), (128, 24), (64, 64)];
    let (wide, high) = sizes[random.below(4) as usize];
    let is_default = number.is_multiple_of(4);
    let name = if is_default {
        crate::DEFAULT_KERNEL
    } else {
        KERNELS[random.below(8) as usize].name
    };
    let (size, kernel) = (Size::new(wide, high).unwrap(), kernels::find(name).unwrap());
    let is_split = number % 20 == 10;
    let kernel = match kernel.validate_size(size) {
        Ok(()) if !is_split => kernel,
        _ => kernels::find("bits").unwrap(),
    };
    Setup {
        start: Start::soup(0.4, number),
        kernel_choice: if is_default {
            KernelChoice::FirstFitting
        } else {
            KernelChoice::Explicit
        },
        split: if is_split { Split::On } else { Split::Auto },
        generations_per_round: 1 + random.below(3) as u32,
        ..Setup::new(
            1 + random.below(4) as usize,
            size,
            kernel,
            if number.is_multiple_of(10) {
                DeviceChoice::Cuda
            } else {
                DeviceChoice::Cpu
            },
        )
    }
}

fn sequence(oracle: &mut Oracle, number: u64, compares: bool) {
    let mut random = SplitMix64(number);
    let mut setup = start(&mut random, number);
    if compares {
        setup.instances = setup.instances.max(2);
    }
    oracle.begin(&number.to_string(), setup);
    for at in 0..11 {
        let toggles = compares && at % 4 == 1;
        let (name, key, may_run) = if toggles {
            let compare = Step::Act(SessionAction::ToggleComparison);
            ("compare".into(), Key::Does(compare), false)
        } else {
            key(&mut random, &oracle.driver.worker)
        };
        let runs = may_run && random.below(3) == 0;
        let name = if runs {
            format!("{name}, running")
        } else {
            name
        };
        oracle.press(&name, key, runs);
        let is_maximal = oracle.driver.worker.state.pacing.pace() == Pace::Maximum;
        if !runs && !is_maximal && random.below(2) == 0 {
            oracle.press("4 rounds", Key::Runs(4), false);
        }
    }
}

/// What chance has no part in.
fn by_hand(oracle: &mut Oracle) {
    use SessionAction::*;
    let act = |action| Key::Does(Step::Act(action));
    let lesson = |opens| Key::Does(Step::PauseForLesson(opens));
    let own = |rung| Key::Does(Step::OwnKernel(rung, None));
    let sequences: [(&str, Keys); 5] = [
        (
            "what is only said",
            vec![
                ("stop when still", act(NextStopWhenStill), false),
                ("stop when still", act(NextStopWhenStill), false),
                ("stop when still", act(NextStopWhenStill), false),
                ("reseed", act(ToggleReseed), false),
                ("reseed", act(ToggleReseed), false),
                ("timestamps", act(ToggleBlockTimestamps), false),
                ("4 rounds", Key::Runs(4), false),
                ("timestamps", act(ToggleBlockTimestamps), false),
                ("select previous", act(SelectPrevious), false),
                ("lesson", lesson(true), false),
                ("lesson is over", lesson(false), false),
            ],
        ),
        (
            "a pattern",
            vec![
                ("4 rounds", Key::Runs(4), false),
                ("open", Key::Opens, false),
                ("4 rounds", Key::Runs(4), false),
                ("open", Key::Opens, false),
                ("undo", act(Undo), false),
                ("undo", act(Undo), false),
                ("redo", act(Redo), false),
                ("new seed", act(NewSeed), false),
                ("reopen", Key::Does(Step::Reload(Reopen::InPlace)), false),
                ("undo", act(Undo), false),
            ],
        ),
        (
            "kernels of one's own",
            vec![
                ("own bits", own("bits"), false),
                ("4 rounds", Key::Runs(4), false),
                ("kernel 0", act(UseKernel(0)), true),
                ("kernel before", act(PreviousKernel), false),
                ("own multistep", own("multistep"), true),
                ("next graphs", act(CycleSwitch(Switch::Graphs)), true),
                ("size 33x7", act(SetSize(Size::new(33, 7).unwrap())), false),
                ("undo", act(Undo), false),
                ("4 rounds", Key::Runs(4), false),
                ("reopen", Key::Does(Step::Reload(Reopen::AtStart)), false),
                ("4 rounds", Key::Runs(4), false),
            ],
        ),
        (
            "the fastest",
            vec![
                ("auto", act(UseKernel(crate::AUTO_KERNEL)), false),
                ("kernel 4", act(UseKernel(4)), false),
                ("4 rounds", Key::Runs(4), false),
                ("maximum", act(SetPace(Pace::ALL.len() as u8 - 1)), false),
                ("3 a round", act(SetGenerationsPerRound(3)), false),
                ("slower", act(Slower), false),
                ("4 rounds", Key::Runs(4), false),
                ("to 100", act(RunTo(100)), false),
                ("4 rounds", Key::Runs(4), false),
            ],
        ),
        (
            "a stroke",
            vec![
                ("draw", Key::Does(draw(0, 3, 3)), true),
                (
                    "and on",
                    Key::Does(Step::Edit(Edit {
                        continues_stroke: true,
                        ..dot(0, 4, 3)
                    })),
                    false,
                ),
                (
                    "and on",
                    Key::Does(Step::Edit(Edit {
                        continues_stroke: true,
                        ..dot(0, 5, 3)
                    })),
                    false,
                ),
                ("undo", act(Undo), false),
                ("redo", act(Redo), false),
                ("reset panel", act(ResetPanel), false),
                ("undo", act(Undo), false),
                ("back", act(StepBack), false),
                ("undo", act(Undo), false),
                ("a generation", act(StepGeneration), false),
            ],
        ),
    ];
    for (name, keys) in sequences {
        oracle.begin(name, setup(None));
        keys.into_iter()
            .for_each(|(name, key, runs)| oracle.press(name, key, runs));
    }
}

#[test]
fn what_keys_lead_to_stays_as_it_is() {
    let mut oracle = Oracle::new();
    by_hand(&mut oracle);
    (0..165).for_each(|number| sequence(&mut oracle, number, false));
    oracle.compare("keys.txt");
}

/// In a file of its own, since what A/B begins with is to change.
#[test]
fn what_keys_lead_to_in_a_comparison_stays_as_it_is() {
    let mut oracle = Oracle::new();
    (200..230).for_each(|number| sequence(&mut oracle, number, true));
    oracle.compare("comparison.txt");
}

/// What a session from a file leads to: its cells, and those after each of these actions.
fn leads_to(text: &str, actions: &[SessionAction]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.json");
    std::fs::write(&path, text).unwrap();
    let saved = SavedSession::load(&path).unwrap();
    let mut made = worker_from(saved.setup.clone(), Some(saved));
    let mut found = Vec::new();
    for action in std::iter::once(None).chain(actions.iter().copied().map(Some)) {
        action.into_iter().for_each(|it| act(&mut made, it));
        turn_until(&mut made, "it is at rest", |worker| {
            if worker.is_running() && worker.state.moving().is_none() {
                worker.pause();
            }
            let state = &worker.state;
            let is_open = !worker.safety_copy.restore_pending && state.queue.is_empty();
            is_open && state.cells_known() && *state.mode() == Mode::Paused
        });
        let copies: Vec<_> = (0..made.0.lattices.setup.instances)
            .map(|instance| copy(&mut made.0, instance))
            .collect();
        let mut cells = generation(&made.0).to_string();
        for copy in copies {
            let mut lattice = None;
            turn_until(&mut made, "a copy", |_| {
                lattice = copy.try_recv().ok();
                lattice.is_some()
            });
            let words = lattice.unwrap().0.words().to_vec();
            write!(cells, " {}", fingerprint(words)).unwrap();
        }
        found.push(cells);
    }
    found.join(", ")
}

/// Opens the sessions of a file of `tests/oracle`, one in a line behind what it leads to. Those are files of
/// version 2: only what they lead to is ever written anew.
fn compare_sessions(name: &str, actions: &[SessionAction]) {
    let text = std::fs::read_to_string(test_support::stored(name)).unwrap();
    let lines = text.lines().map(|line| {
        let (_, session) = line.split_once('\t').unwrap();
        format!("{}\t{session}\n", leads_to(session, actions))
    });
    compare_with_stored(name, &lines.collect::<String>());
}

#[test]
fn files_of_version_2_lead_to_the_same_cells() {
    let actions = [SessionAction::Undo, SessionAction::StepGeneration];
    compare_sessions("sessions.txt", &actions);
}

/// In a file of its own: of a comparison only the main log is to be read.
#[test]
fn files_of_version_2_with_a_comparison_lead_to_the_same_cells() {
    compare_sessions("comparisons.txt", &[SessionAction::ToggleComparison]);
}
