//! What keys lead to, compared with what they led to before: the programs of the rounds, the cells and the
//! status at rest, for stories by hand and of random keys. `tests/oracle/keys.txt` and `comparison.txt` have a
//! line for every step, with the step itself before the first bar. `LIFESTREAMS_RENEW=1` with a test's name
//! writes its file anew, with the steps that stand there.
//!
//! What depends on real time is left out: rounds on the way to a generation, the setting that is the
//! fastest, and which rounds are timed.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::driver::{Driver, Step};
use super::random;
use super::*;
use crate::instances::limit;
use crate::scripted_engine::Issued;
use crate::{Setting, Source};
use SessionAction::*;
use Step::{Act, Reload, Rounds};
use engine::{LatticeOp, Op, OrderOp, ReduceRegion};
use life::Shelved;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use test_support::{compare_with_stored, fingerprint};

/// Does what keys say, and writes down what that leads to.
struct Oracle {
    driver: Driver,
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
    for step in &issued.program.steps {
        let (device, spec) = issued.streams[&step.stream];
        let op = match &step.op {
            Op::Lattices(
                _,
                LatticeOp::Advance {
                    kernel,
                    rule,
                    generations,
                    block,
                },
            ) => format!("{} {rule} +{generations} {block:?}", kernel.name),
            Op::Lattices(_, LatticeOp::Download { slot, what }) => {
                let is_pinned = slot.0 < issued.slots.pinned;
                format!("{what:?}{}", if is_pinned { " pinned" } else { "" })
            }
            Op::Order(OrderOp::Record(event)) => {
                format!("record {}", number(&mut events, event.0))
            }
            Op::Order(OrderOp::Wait(event)) => format!("wait {}", number(&mut events, event.0)),
            Op::Lattices(_, op) => format!("{op:?}"),
            op => format!("{op:?}"),
        };
        let (at, kind) = (number(&mut streams, step.stream.0), spec.kind);
        let of = step.op.lattices();
        write!(text, "{}.{at} {kind:?} {op} {of:?}; ", device.0).unwrap();
    }
    (fingerprint(text.bytes()), text)
}

impl Oracle {
    fn new() -> Oracle {
        limit::set(Some(64)); // whatever rounds take
        Oracle {
            driver: Driver::new(small(1)),
            text: String::new(),
            programs: BTreeMap::new(),
        }
    }

    fn begin(&mut self, name: &str, setup: Setup) {
        let (device, split) = (setup.device, setup.split);
        writeln!(self.text, "\n{name}, {device}, {split:?}").unwrap();
        self.driver = Driver::new(setup);
        self.driver.pause();
        self.driver.script.record();
        self.look();
        self.rest("start", false);
    }

    /// A step, and what it leads to at rest. Behind `>`, it has rounds before and after it; a way has not, since
    /// how far it has led meanwhile depends on real time.
    fn press(&mut self, text: &str) {
        let (step, while_running) = match text.strip_prefix('>') {
            Some(step) => (step, true),
            None => (text, false),
        };
        let step: Step = serde_json::from_str(step).unwrap();
        let is_view = matches!(step, Step::Picture(..));
        let is_way = matches!(
            step,
            Act(StepBack | StepRoundBack | RunTo(_) | Undo | Redo) | Reload(_)
        );
        if while_running || matches!(step, Rounds(_)) {
            self.driver.step(Act(TogglePause));
        }
        if while_running {
            self.driver.step(Rounds(2));
        }
        self.driver.step(step);
        if while_running {
            self.driver.step(Rounds(4));
        }
        self.driver.pause();
        if !is_view {
            self.look();
        }
        self.rest(text, !is_way);
    }

    /// Writes what holds at rest.
    fn rest(&mut self, name: &str, has_rounds: bool) {
        self.driver.turn_until_rest();
        let issued = self.driver.script.record();
        let worker = &self.driver.worker;
        let is_estimated = worker.state.pacing.pace == Pace::Maximum
            || worker.setup.kernel_choice == KernelChoice::Estimated;
        let before = worker.make_status(worker.now());
        // What was measured of rounds, and the kernel's name.
        let notice = before.notice.map(|it| it.to_string());
        let notice = notice.filter(|it| !is_estimated && !it.contains("ms per round"));
        self.driver.settle();
        let worker = &self.driver.worker;
        let status = worker.make_status(worker.now());
        let (setting, lattices, lab) = (&status.setting, &status.lattices, &status.lab);
        let (switches, time) = (setting.switches, setting.time);
        let how = if is_estimated {
            format!("fastest for {:?}", setting.chosen_kernel.map(|it| it.name))
        } else {
            format!(
                "{} {} {:?} {} {} {} {:?} {} x{}",
                setting.kernel.name,
                switches.streams,
                switches.host_memory,
                switches.wait,
                switches.order,
                switches.graphs,
                switches.block,
                switches.transfer,
                setting.generations_per_round,
            )
        };
        let recorded = lab.last_effect.as_ref();
        let recorded = recorded.filter(|it| matches!(it.source, Source::RecordedOn(_)));
        let trace = worker.publisher.trace.lock();
        let drawn = trace.drawn().filter(|_| lab.recording.is_some());
        let drawn = drawn.map(|round| (round.switches == switches, round.steps.len()));
        let at = worker.state.position;
        write!(
            self.text,
            "{name} | {}@{} {}x{} {} {how} {} {:?} {} | {} {:?} {:?} | {:?} {:?} {:?} | {:?} {:?} |",
            at.records,
            at.generation,
            lattices.instances,
            lattices.size,
            lattices.rule,
            setting.pace,
            time.stop_when_still,
            time.reseed,
            before.panels.selected,
            before.panels.settled,
            before.panels.reseeded,
            setting.own_kernel.map(|it| it.rung().name),
            setting.own_order,
            lab.isolated.as_ref().map(|all| all.len()),
            recorded.map(|it| it.in_words()),
            drawn,
        )
        .unwrap();
        drop(trace);
        for cells in self.driver.fetch() {
            write!(self.text, " {}", fingerprint(cells.words().to_vec())).unwrap();
        }
        self.text.push_str(" |");
        if has_rounds && !is_estimated {
            let is_round = |op: &Op| matches!(op, Op::Lattices(_, LatticeOp::Advance { .. }));
            let is_shown = |it: &&Issued| {
                let mut ops = it.program.steps.iter().map(|step| &step.op);
                ops.clone().any(is_round) || ops.all(|op| matches!(op, Op::Order(_)))
            };
            let issued = issued.iter().filter(|it| !it.program.steps.is_empty());
            let rounds: BTreeMap<_, _> = issued.filter(is_shown).map(program).collect();
            for number in rounds.keys() {
                write!(self.text, " {number}").unwrap();
            }
            self.programs.extend(rounds);
        }
        writeln!(self.text, " | {}", notice.unwrap_or_default()).unwrap();
    }

    /// Asks for the pictures that go with the setting, as who draws does.
    fn look(&mut self) {
        self.driver.turn_until_rest();
        let setup = &self.driver.worker.setup;
        let bits = 4 * (setup.size.words() * setup.instances) as u64;
        let transfer = self.driver.worker.changed_setting().switches.transfer;
        let plan = PicturePlan {
            transfer: transfer.transfer(bits, PicturePlan::MAX_AUTO_BITS_BYTES),
            region: ReduceRegion::of_cells(8, 4),
            only: None,
        };
        self.driver.step(Step::View(plan));
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

/// Lattices with a pattern of the shelf each; an empty one for no name.
fn patterns(names: &[&str], kernel: &str) -> Setup {
    let size = Size::new(32, 32).unwrap();
    let lattice = |name: &&str| match Shelved::find(name) {
        Some(shelved) => Arc::new(shelved.pattern().centred_in(size).unwrap()),
        None => Arc::new(Lattice::new(size)),
    };
    Setup {
        size,
        instances: names.len(),
        start: Start::Lattices {
            lattices: names.iter().map(lattice).collect(),
            generation: 0,
        },
        setting: by(kernel),
        ..setup(None)
    }
}

/// The default setting with this kernel.
fn by(kernel: &str) -> Setting {
    setup(None)
        .setting
        .with_kernel(kernels::find(kernel).unwrap())
}

/// Two soups that die down at once, of which the first to die is reseeded some seconds later.
fn dying(density: f64) -> Setup {
    let mut setup = setup(None);
    setup.time.reseed = true;
    Setup {
        start: Start::soup(density, 3),
        pace: Pace::PerSecond(2.0),
        ..setup
    }
}

/// What a story begins with; a number stands for random lattices.
fn setup_of(story: &str) -> Setup {
    const SETTLING: [&str; 6] = [
        "blinker",
        "block",
        "pulsar",
        "",
        "pentadecathlon",
        "queen-bee-shuttle",
    ];
    if let Ok(number) = story.parse() {
        let mut runner = TestRunner::new(Config {
            rng_seed: RngSeed::Fixed(number),
            ..Config::default()
        });
        let setup = random::setup().new_tree(&mut runner).unwrap().current();
        return Setup {
            instances: setup.instances.max(1 + usize::from(number >= 200)), // two are compared
            time: TimeSettings::DEFAULT,
            ..setup
        };
    }
    if let Some(kernel) = story.strip_prefix("what settles by ") {
        return patterns(&SETTLING, kernel);
    }
    let choosing = |choice| Setup {
        kernel_choice: choice,
        setting: by(crate::DEFAULT_KERNEL),
        ..setup(Some(0))
    };
    let on_three = Setup {
        device: DeviceChoice::Cuda,
        size: Size::new(64, 20).unwrap(),
        instances: 5,
        ..choosing(KernelChoice::Explicit)
    };
    match story {
        "pictures" => on_three,
        "overlap in bands" => Setup {
            setting: setup(None).setting,
            split: Split::On,
            ..on_three
        },
        "a kernel in the place of the default" => choosing(KernelChoice::FirstFitting),
        "a kernel that is picked" => choosing(KernelChoice::Auto),
        "what settles, seen every tenth generation" => patterns(&SETTLING[..3], "bits"),
        "dead panels" => dying(0.01),
        "an empty start" => dying(0.0),
        "empty patterns" => Setup {
            start: patterns(&[""], "bits").start,
            ..dying(0.0)
        },
        "what is recorded" => Setup {
            device: DeviceChoice::Recorded,
            size: Size::new(1024, 1024).unwrap(),
            instances: 4,
            setting: by(crate::DEFAULT_KERNEL),
            ..setup(None)
        },
        _ => setup(None),
    }
}

/// Does what the stories of a file say, and compares what that leads to with the file.
fn retell(name: &str) {
    let text = std::fs::read_to_string(test_support::stored(name)).unwrap();
    let (stories, _) = text.split_once("\n\nPrograms\n").unwrap();
    let mut oracle = Oracle::new();
    for story in stories.split("\n\n") {
        let mut lines = story.lines();
        let title = lines.next().unwrap().rsplitn(3, ", ").nth(2).unwrap();
        oracle.begin(title, setup_of(title));
        for line in lines.skip(1) {
            oracle.press(line.split_once(" | ").unwrap().0);
        }
    }
    oracle.compare(name);
}

#[test]
fn what_keys_lead_to_stays_as_it_is() {
    retell("keys.txt");
}

#[test]
fn what_keys_lead_to_in_a_comparison_stays_as_it_is() {
    retell("comparison.txt");
}

/// What a session from a file leads to: its cells, and those after an undo and after a step.
fn leads_to(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.json");
    std::fs::write(&path, text).unwrap();
    let saved = SavedSession::load(&path).unwrap();
    let (mut worker, received) = worker_from(saved.setup.clone(), Some(saved));
    let is_at_rest = |worker: &mut SessionWorker| {
        if worker.is_running() && worker.state.moving().is_none() {
            worker.state.mode = Mode::Paused;
        }
        let state = &worker.state;
        let is_open = !worker.safety_copy.restore_pending && state.queue.is_empty();
        let is_idle = worker.engine_facts(worker.now()).engine_idle;
        is_idle && is_open && state.cells_known && state.mode == Mode::Paused
    };
    let mut found = Vec::new();
    use SessionAction::{StepGeneration, Undo};
    for action in [None, Some(Undo), Some(StepGeneration)] {
        action.into_iter().for_each(|it| act(&mut worker, it));
        let began = Instant::now();
        while !is_at_rest(&mut worker) {
            assert!(worker.run_once(&received), "it goes on");
            assert!(
                began.elapsed() < Duration::from_secs(240),
                "it comes to rest"
            );
        }
        let mut cells = generation(&worker).to_string();
        for lattice in worker.sim.as_mut().unwrap().fetch().unwrap() {
            write!(cells, " {}", fingerprint(lattice.words().to_vec())).unwrap();
        }
        found.push(cells);
    }
    found.join(", ")
}

/// Each line of a file has a session and, before it, what that leads to. Those are files of version 2: only what
/// they lead to is ever written anew. Of those with a comparison of A and B, what was before it is read.
#[test]
fn files_of_version_2_lead_to_the_same_cells() {
    for name in ["sessions.txt", "comparisons.txt"] {
        let text = std::fs::read_to_string(test_support::stored(name)).unwrap();
        let lines = text.lines().map(|line| {
            let (_, session) = line.split_once('\t').unwrap();
            format!("{}\t{session}\n", leads_to(session))
        });
        compare_with_stored(name, &lines.collect::<String>());
    }
}
