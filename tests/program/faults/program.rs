//! Driver faults while `run` and sessions without a window step lattices, eagerly and as graphs, on a GPU
//! that was asked for and on one that was found. Calls that hang meet signals.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{ANSWERS, Answer, CALLS, fault};
use crate::common::{Ended, Running, command, names, says, scratch};
use life::{Lattice, Pattern, Rule, Size, reference, soup};
use parking_lot::Mutex;
use session::SavedSession;

const ROUNDS: u64 = 40;
const PER_ROUND: u64 = 3;
const SIDE: u64 = 48;
const INSTANCES: usize = 3;

/// What is saved where all rounds were made.
const ALL: Option<u64> = Some(ROUNDS * PER_ROUND);

/// Far longer than any of these takes, on a busy machine too.
const LIMIT: Duration = Duration::from_secs(120);

/// Which of a function's calls is the first that fails, as far as there are so many.
const AFTER: [u32; 9] = [0, 1, 2, 4, 9, 25, 60, 150, 400];

/// A failed launch, beside the functions of [`CALLS`]: the call is good, and the kernel is not.
const KERNEL: &str = "kernel";

/// Functions of [`CALLS`] that neither `run` nor a session without a window calls for a soup: they
/// belong to patterns, edits and recoveries, in which `session` has them fail.
const OF_OTHER_WORK: [&str; 9] = [
    "cuCtxGetStreamPriorityRange",
    "cuMemGetInfo_v2",
    "cuMemsetD8Async",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyHtoD_v2",
    "cuMemcpyDtoH_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpy2DAsync_v2",
    "cuMemcpyPeerAsync",
];

/// What works while a fault strikes: `run`, or a session.
#[derive(Clone, Copy, Debug)]
struct Use {
    is_run: bool,
    graphs: bool,
    /// `cuda` or `auto`.
    device: &'static str,
}

const RUN: Use = Use {
    is_run: true,
    graphs: false,
    device: "cuda",
};

const SESSION: Use = Use {
    is_run: false,
    ..RUN
};

/// What one function of the driver does.
#[derive(Clone, Copy, Debug)]
enum Misdeed {
    /// It answers so.
    Answers {
        answer: Answer,
        /// How many calls answer so; all from then on with -1.
        count: i32,
        /// Whether a context that is made anew is a good one.
        recovers: bool,
    },
    /// It never answers, and a person ends the program by this signal.
    Hangs(&'static str),
}

/// A function that does something, while something works.
#[derive(Clone, Copy, Debug)]
struct Case {
    uses: Use,
    call: &'static str,
    misdeed: Misdeed,
    /// After how many good calls, in one play each.
    afters: &'static [u32],
}

// What a fault comes to.

/// There are not so many calls.
const NOT_STRUCK: &str = "not struck";
/// All rounds were made.
const RECOVERED: &str = "recovered";
/// A sentence said why not.
const ENDED: &str = "ended";
/// A signal ended it.
const INTERRUPTED: &str = "interrupted";

impl Use {
    fn command(self, folder: &Path) -> Command {
        let generations = ROUNDS * PER_ROUND;
        let graphs = if self.graphs { "on" } else { "off" };
        let work = if self.is_run {
            format!("run -g {generations} --json --save kept")
        } else {
            format!("--display none --rounds {ROUNDS} --session kept")
        };
        let line = format!(
            "{work} --device {} --graphs {graphs} --instances {INSTANCES} --kernel bits \
             --streams per-instance --size {SIDE}x{SIDE} --seed 5 --density 0.4 \
             --generations-per-round {PER_ROUND}",
            self.device
        );
        let mut command = command(folder, &line);
        command
            .env("LIFESTREAMS_LIBCUDA", crate::driver::library())
            .env("FAKE_CUDA_STRUCK", folder.join("struck"));
        command
    }

    /// How it ends with this fault and these other variables of the fake driver, and the generation that it
    /// saved.
    fn end(self, fault: &str, others: &[(&str, &str)]) -> (Ended, Option<u64>) {
        let folder = scratch();
        let mut command = self.command(folder.path());
        command.env("FAKE_CUDA_FAULT", fault);
        let ended = Running::start(command.envs(others.iter().copied())).end(LIMIT);
        (ended, self.saved(folder.path()))
    }

    /// The generation that was saved, if any was; every cell of its newest lattices is right, from
    /// which a session goes on to it.
    fn saved(self, folder: &Path) -> Option<u64> {
        let file = folder.join("kept");
        if !file.exists() {
            return None;
        }
        let size = Size::new(SIDE, SIDE).unwrap();
        let (position, lattices): (_, Vec<(u64, Lattice)>) = if self.is_run {
            let load = |name: String| {
                let pattern = Pattern::load(file.join(name)).unwrap();
                (pattern.generation(), pattern.centred_in(size).unwrap())
            };
            (None, names(&file).into_iter().map(load).collect())
        } else {
            let timeline = SavedSession::load(&file).unwrap().timeline;
            let newest = timeline.copies.last().map(|newest| {
                let of = newest.lattices().unwrap().into_iter();
                of.map(|it| (newest.position.generation, Arc::unwrap_or_clone(it)))
            });
            let position = timeline.position.generation;
            (Some(position), newest.into_iter().flatten().collect())
        };
        for (i, (generation, lattice)) in (0..).zip(&lattices) {
            let start = soup(size, 0.4, 5, i);
            assert!(*generation <= ROUNDS * PER_ROUND, "{generation}");
            let wanted = reference::run(&start, Rule::LIFE, *generation);
            assert!(*lattice == wanted, "wrong cells at generation {generation}");
        }
        position.or(lattices.first().map(|it| it.0))
    }
}

impl Case {
    fn hangs(&self) -> bool {
        matches!(self.misdeed, Misdeed::Hangs(_))
    }

    /// Has the calls after so many good ones do it, and holds what happens against the rules.
    fn play(&self, after: u32) -> &'static str {
        let folder = scratch();
        let mut command = self.uses.command(folder.path());
        let ended = match self.misdeed {
            Misdeed::Answers {
                answer,
                count,
                recovers,
            } => {
                match self.call {
                    KERNEL => command.env("FAKE_CUDA_FAIL_AFTER", after.to_string()),
                    call => command.env("FAKE_CUDA_FAULT", fault(call, answer, after, count)),
                };
                if recovers {
                    command.env("FAKE_CUDA_RECOVERS", "1");
                }
                Running::start(&mut command).end(LIMIT)
            }
            Misdeed::Hangs(signal) => {
                let fault = format!("{}:702:{after}:-1:hangs", self.call);
                command.env("LIFESTREAMS_TEST_TIMEOUT_MS", "500");
                let running = Running::start(command.env("FAKE_CUDA_FAULT", fault));
                self.interrupt(running, folder.path(), signal)
            }
        };
        let has_struck = folder.path().join("struck").exists();
        let saved = self.uses.saved(folder.path());
        assert!(says_sentences(&ended), "{ended:?}");
        if self.hangs() && has_struck {
            self.check_interrupted(saved, &ended);
            return INTERRUPTED;
        }
        if ended.code == Some(0) {
            assert_eq!(saved, ALL, "{ended:?}");
            return [NOT_STRUCK, RECOVERED][usize::from(has_struck)];
        }
        assert!(ended.code == Some(3) && has_struck, "{ended:?}");
        if self.uses.is_run {
            self.check_end_of_run(saved, &ended);
        }
        ENDED
    }

    /// Signals a program whose call hangs, as soon as a run has said so, until it ends, or lets it end where
    /// none does.
    fn interrupt(&self, mut running: Running, folder: &Path, signal: &str) -> Ended {
        let began = Instant::now();
        let mut is_told = false;
        while running.runs() && began.elapsed() < LIMIT {
            is_told |= folder.join("struck").exists()
                && (!self.uses.is_run || running.said().contains("has not finished"));
            if is_told {
                running.signal(signal);
            }
            thread::sleep(Duration::from_millis(if is_told { 300 } else { 10 }));
        }
        running.end(Duration::from_secs(1))
    }

    /// What a program says that a signal ended while a call hung.
    fn check_interrupted(&self, saved: Option<u64>, ended: &Ended) {
        let says = |words: &str| ended.stderr.contains(words);
        if self.uses.is_run {
            // The second signal ends it at once.
            let is_ended = ended.code == Some(130) && says("has not finished");
            return assert!(is_ended, "{ended:?}");
        }
        let is_said = says("the session is saved in");
        let is_ended = match ended.code {
            Some(0 | 2 | 3) => is_said,
            // Before there is a session.
            Some(130) => says("device had not finished its start"),
            _ => false,
        };
        assert!(is_ended && saved.is_some() == is_said, "{ended:?}");
        assert!(!says("the session was not saved"), "{ended:?}");
    }

    /// A run that ended early could not go on, and says what is saved.
    fn check_end_of_run(&self, saved: Option<u64>, ended: &Ended) {
        assert_ne!(self.uses.device, "auto", "the CPU is left: {ended:?}");
        let has_begun = ended.stderr.contains("the run has no device left");
        let can_go_on = matches!(
            self.misdeed,
            Misdeed::Answers {
                recovers: true,
                count: 1,
                ..
            }
        );
        assert!(!(has_begun && can_go_on), "{ended:?}");
        let said = saved.map(|generation| format!("generation {generation} is saved in kept"));
        let is_said = said.is_some_and(|said| ended.stderr.contains(&said));
        assert_eq!(is_said, has_begun, "{ended:?}");
    }
}

/// Whether stderr is a few lines of words, of which none is a panic's.
fn says_sentences(ended: &Ended) -> bool {
    let inside = ["panicked", "backtrace", "internal:", ".rs:"];
    ended.stderr.lines().count() < 20 && !inside.iter().any(|word| ended.stderr.contains(word))
}

/// What a campaign came to.
#[derive(Default)]
struct Totals {
    outcomes: BTreeMap<&'static str, usize>,
    /// Functions that were struck.
    struck: BTreeSet<&'static str>,
    failures: Vec<String>,
}

/// Plays all cases, the fewer good calls first, on a few threads more than there are cores: some cases
/// wait.
#[track_caller]
fn play(cases: &[Case]) -> Totals {
    let (next, totals) = (AtomicUsize::new(0), Mutex::new(Totals::default()));
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            for &after in case.afters {
                let outcome = catch_unwind(AssertUnwindSafe(|| case.play(after)));
                let mut totals = totals.lock();
                match outcome {
                    Ok(outcome) => *totals.outcomes.entry(outcome).or_default() += 1,
                    // What is wrong was printed.
                    Err(_) => totals.failures.push(format!("{case:?}, after {after}")),
                }
                if outcome.is_ok_and(|it| it == NOT_STRUCK) {
                    break; // there are not so many calls
                }
                totals.struck.insert(case.call);
            }
        }
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        (0..2 * threads).for_each(|_| drop(scope.spawn(work)));
    });
    let totals = totals.into_inner();
    let (outcomes, struck) = (&totals.outcomes, totals.struck.len());
    println!("{outcomes:?}; {struck} functions");
    assert!(totals.failures.is_empty(), "{:#?}", totals.failures);
    totals
}

/// Everything that a function does, in every work, after each number of good calls.
fn cases(call: &'static str) -> Vec<Case> {
    let answers = match call {
        KERNEL => &ANSWERS[..1], // its own, which ends the context
        _ => &ANSWERS[..],
    };
    let uses = (0..8).map(|i| Use {
        is_run: i < 4,
        graphs: i / 2 % 2 == 1,
        device: ["cuda", "auto"][i % 2],
    });
    let mut cases = Vec::new();
    for uses in uses {
        let mut add = |misdeed, afters| {
            cases.push(Case {
                uses,
                call,
                misdeed,
                afters,
            });
        };
        for &answer in answers {
            let ends = answer.ends_context || call == KERNEL;
            for (count, recovers) in [(1, false), (-1, false), (1, true), (-1, true)] {
                if recovers != ends && !(ends && count == 1) {
                    continue; // it makes no difference
                }
                let misdeed = Misdeed::Answers {
                    answer,
                    count,
                    recovers,
                };
                add(misdeed, &AFTER[..]);
            }
        }
        if call != KERNEL && uses.device == "cuda" {
            let signal = ["INT", "TERM"][usize::from(uses.graphs)];
            add(Misdeed::Hangs(signal), &[0, 60]);
        }
    }
    cases
}

fn calls() -> impl Iterator<Item = &'static str> {
    CALLS.into_iter().chain([KERNEL])
}

/// Three cases of each function, after few and many good calls, and some that hang.
#[test]
fn a_part_of_the_campaign_of_driver_faults() {
    let part = calls().enumerate().flat_map(|(i, call)| {
        let all = cases(call).into_iter().filter(|case| !case.hangs());
        let all: Vec<Case> = all.collect();
        [&AFTER[..1], &AFTER[3..4], &AFTER[6..7]]
            .into_iter()
            .enumerate()
            .map(move |(j, afters)| Case {
                afters,
                // Steps through works, answers and how many calls answer so.
                ..all[(i * 29 + j * 67) % all.len()]
            })
    });
    let hanging = [
        ("cuLaunchKernel", 0, &[60]),
        ("cuGraphLaunch", 1, &[9]),
        ("cuModuleLoadDataEx", 1, &[0]),
        ("cuEventQuery", 2, &[60]),
        ("cuModuleLoadDataEx", 3, &[0]),
    ];
    let hanging = hanging.map(|(call, of, afters)| Case {
        afters,
        ..cases(call).into_iter().filter(Case::hangs).nth(of).unwrap()
    });
    let outcomes = play(&part.chain(hanging).collect::<Vec<_>>()).outcomes;
    assert!(outcomes[RECOVERED] > 20 && outcomes[ENDED] > 10);
    assert_eq!(outcomes[INTERRUPTED], hanging.len());
}

/// `scripts/test faults`
#[test]
#[ignore = "takes minutes: scripts/test faults"]
fn the_whole_campaign_of_driver_faults() {
    let struck = play(&calls().flat_map(cases).collect::<Vec<_>>()).struck;
    let mut never = CALLS.to_vec();
    never.retain(|call| !struck.contains(call));
    assert_eq!(never, OF_OTHER_WORK, "never called");
}

/// What a user reads who loses a device, or all of them, in the middle of a run or before it.
#[test]
fn a_run_goes_on_after_a_loss_or_says_what_is_saved() {
    let (launch, peer) = ("cuLaunchKernel:700:60", "cuMemcpyPeerAsync:700:9");
    let lost = "the engine was lost (cu | : an illegal memory access was encountered (CUDA error 700)); \
                the run goes on from generation 0 on  | \"generations\":120 |  generations again\n";
    let none = "no device left | generation 0 is saved in kept | --device auto";
    #[rustfmt::skip]
    let rows = [
        ("cuda", "1", "1", launch, 1, "Fake GPU 0, "),
        ("cuda:0", "1", "1", launch, 1, "Fake GPU 0, "),
        ("cuda", "2", "0", launch, 1, "Fake GPU"),
        ("cuda --split on", "2", "0", peer, 1, "Fake GPU"),
        ("auto", "2", "0", launch, 1, "Fake GPU 1, "),
        ("auto", "1", "0", launch, 1, "\"engine\":\"cpu\""),
        ("auto", "2", "1", launch, -1, "\"engine\":\"cpu\""),
        ("cuda", "1", "0", launch, 1, none),
        ("cuda", "1", "1", launch, -1, none),
    ];
    for (device, gpus, recovers, call, count, said) in rows {
        let others = [
            ("FAKE_CUDA_DEVICES", gpus),
            ("FAKE_CUDA_RECOVERS", recovers),
        ];
        let uses = Use { device, ..RUN };
        let (ended, saved) = uses.end(&format!("{call}:{count}:lost"), &others);
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert!(says_sentences(&ended), "{ended:?}");
        says(&all, said, device);
        let found = (ended.code, saved);
        if said == none {
            assert_eq!(found, (Some(3), Some(0)), "{ended:?}");
        } else {
            assert_eq!(found, (Some(0), ALL), "{ended:?}");
            says(&all, lost, device);
        }
    }
    let copied = [
        ("FAKE_CUDA_RECOVERS", "1"),
        ("LIFESTREAMS_TEST_TIMEOUT_MS", "5"),
    ];
    let two = [("FAKE_CUDA_DEVICES", "2")];
    #[rustfmt::skip]
    let rows = [
        // From its newest copy, where there is one; a copy without memory is none, and no loss.
        (RUN, "cuLaunchKernel:700:300:1:lost", &copied[..], 0, "goes on from generation "),
        (RUN, "cuMemcpyDtoHAsync_v2:2:0:1", &copied, 0, ""),
        (RUN, "cuModuleLoadDataEx:700:0:1:lost", &two, 0, "Fake GPU 1"),
        (RUN, "cuMemsetD32_v2:700:0:1:lost", &two, 0, "Fake GPU 1"),
        // A copy that is refused leaves every lattice as it was, and a person could go on; without one, the
        // program ends, and saves first.
        (SESSION, "cuMemcpyDtoHAsync_v2:2:0:1", &[], 3, "out of device memory"),
        (SESSION, "cuEventQuery:2:50:-1", &[], 0, "on the CPU"),
    ];
    for (uses, fault, others, code, said) in rows {
        let (ended, saved) = uses.end(fault, others);
        assert_eq!(ended.code, Some(code), "{ended:?}");
        assert!(code != 0 || saved == ALL, "{saved:?}, {ended:?}");
        says(&ended.stderr, said, fault);
        let from_start = ended.stderr.contains("goes on from generation 0 ");
        assert!(others != copied || !from_start, "{ended:?}");
    }
}
