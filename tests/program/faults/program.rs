//! Driver faults while `run` and sessions without a window step lattices, eagerly and as graphs, on a GPU
//! that was asked for and on one that was found. Calls that hang meet signals.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::{ANSWERS, Answer, CALLS, fault};
use crate::common::{Ended, Running, names, program, says, scratch};
use life::{Lattice, Pattern, Rule, Size, reference, soup};
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

/// Which command works.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Work {
    Run,
    Session,
}

/// What works while a fault strikes.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Use {
    work: Work,
    graphs: bool,
    /// `cuda` or `auto`.
    device: &'static str,
}

fn uses() -> impl Iterator<Item = Use> {
    (0..8).map(|i| Use {
        work: [Work::Run, Work::Session][i / 4],
        graphs: i / 2 % 2 == 1,
        device: ["cuda", "auto"][i % 2],
    })
}

/// What one function of the driver does.
#[derive(Clone, Copy, PartialEq, Debug)]
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

/// What a fault came to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outcome {
    /// There are not so many calls.
    NotStruck,
    /// All rounds were made.
    Recovered,
    /// A sentence said why not.
    Ended,
    /// A signal ended it.
    Interrupted,
}

impl Use {
    /// On a GPU that is asked for, without graphs.
    fn of(work: Work) -> Use {
        Use {
            work,
            graphs: false,
            device: "cuda",
        }
    }

    fn command(self, folder: &Path) -> Command {
        let generations = ROUNDS * PER_ROUND;
        let graphs = if self.graphs { "on" } else { "off" };
        let work = match self.work {
            Work::Run => format!("run -g {generations} --json --save kept"),
            Work::Session => format!("--display none --rounds {ROUNDS} --session kept"),
        };
        let line = format!(
            "{work} --device {} --graphs {graphs} --instances {INSTANCES} --kernel bits \
             --streams per-instance --size {SIDE}x{SIDE} --seed 5 --density 0.4 \
             --generations-per-round {PER_ROUND}",
            self.device
        );
        let mut command = program(folder);
        command.args(line.split_whitespace());
        command
            .env("LIFESTREAMS_LIBCUDA", crate::driver::library())
            .env("FAKE_CUDA_STRUCK", folder.join("struck"));
        command
    }

    /// How it ends with this fault, these other variables of the fake driver and more arguments, and
    /// the generation that it saved.
    fn end(self, fault: &str, others: &[(&str, &str)], more: &str) -> (Ended, Option<u64>) {
        let folder = scratch();
        let mut command = self.command(folder.path());
        command.args(more.split_whitespace());
        command.env("FAKE_CUDA_FAULT", fault);
        let ended = Running::start(command.envs(others.iter().copied())).end(LIMIT);
        let saved = self.saved(folder.path()).expect("cells that are right");
        (ended, saved)
    }

    /// The generation that was saved, if any was; every cell of its newest lattices is right, from
    /// which a session goes on to it.
    fn saved(self, folder: &Path) -> Result<Option<u64>, String> {
        let file = folder.join("kept");
        if !file.exists() {
            return Ok(None);
        }
        let size = Size::new(SIDE, SIDE).unwrap();
        let (position, lattices): (_, Vec<(u64, Lattice)>) = match self.work {
            Work::Run => {
                let load = |name: &String| {
                    let pattern = Pattern::load(file.join(name)).map_err(|why| why.to_string())?;
                    let lattice = pattern.centred_in(size).map_err(|why| why.to_string())?;
                    Ok((pattern.generation(), lattice))
                };
                let files = names(&file);
                let lattices = files.iter().map(load).collect::<Result<_, String>>();
                (None, lattices?)
            }
            Work::Session => {
                let saved = SavedSession::load(&file).map_err(|why| why.to_string())?;
                let position = saved.timeline.position.generation;
                let newest = saved.timeline.copies.last().map(|newest| {
                    let of = newest.lattices().unwrap().into_iter();
                    of.map(|it| (newest.position.generation, Arc::unwrap_or_clone(it)))
                });
                (Some(position), newest.into_iter().flatten().collect())
            }
        };
        for (i, (generation, lattice)) in lattices.iter().enumerate() {
            let start = soup(size, 0.4, 5, i as u64);
            let is_right = *generation <= ROUNDS * PER_ROUND
                && *lattice == reference::run(&start, Rule::LIFE, *generation);
            if !is_right {
                return Err(format!("wrong cells are saved at generation {generation}"));
            }
        }
        Ok(position.or(lattices.first().map(|it| it.0)))
    }
}

fn check(holds: bool, rule: &str, ended: &Ended) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(format!("{rule}: {ended:?}"))
    }
}

impl Case {
    fn hangs(&self) -> bool {
        matches!(self.misdeed, Misdeed::Hangs(_))
    }

    /// Has the calls after so many good ones do it, and holds what happens against the rules.
    fn play(&self, after: u32) -> Result<Outcome, String> {
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
                self.interrupt(running, folder.path(), signal)?
            }
        };
        let has_struck = folder.path().join("struck").exists();
        let saved = self.uses.saved(folder.path());
        let saved = saved.map_err(|why| format!("{why}: {ended:?}"))?;
        check(says_sentences(&ended), "it says sentences", &ended)?;
        if let (Misdeed::Hangs(_), true) = (self.misdeed, has_struck) {
            self.check_interrupted(saved, &ended)?;
            return Ok(Outcome::Interrupted);
        }
        match ended.code {
            Some(0) => {
                check(saved == ALL, "all rounds are saved", &ended)?;
                let recovered = [Outcome::NotStruck, Outcome::Recovered];
                Ok(recovered[usize::from(has_struck)])
            }
            Some(3) => {
                check(has_struck, "it ends for a reason", &ended)?;
                self.check_end_of_run(saved, &ended)?;
                Ok(Outcome::Ended)
            }
            _ => Err(format!("its exit code: {ended:?}")),
        }
    }

    /// Signals a program whose call hangs until it ends, or lets it end where none does.
    fn interrupt(
        &self,
        mut running: Running,
        folder: &Path,
        signal: &str,
    ) -> Result<Ended, String> {
        let until = Instant::now() + LIMIT;
        let wait = |running: &mut Running, is_over: &dyn Fn(&Running) -> bool| {
            while running.runs() && !is_over(running) && Instant::now() < until {
                thread::sleep(Duration::from_millis(10));
            }
        };
        wait(&mut running, &|_| folder.join("struck").exists());
        if self.uses.work == Work::Run {
            wait(&mut running, &|running| {
                running.said().contains("has not finished")
            });
        }
        while running.runs() && Instant::now() < until {
            running.signal(signal);
            let soon = Instant::now() + Duration::from_millis(300);
            wait(&mut running, &|_| Instant::now() >= soon);
        }
        if running.runs() {
            return Err(format!("no signal ends it; it said: {}", running.said()));
        }
        Ok(running.end(LIMIT))
    }

    /// What a program says that a signal ended while a call hung.
    fn check_interrupted(&self, saved: Option<u64>, ended: &Ended) -> Result<(), String> {
        let says = |words: &str| ended.stderr.contains(words);
        if self.uses.work == Work::Run {
            check(says("has not finished"), "it says what it waits for", ended)?;
            let is_ended = ended.code == Some(130);
            return check(is_ended, "a second signal ends it at once", ended);
        }
        let is_said = says("the session is saved in");
        let is_ended = match ended.code {
            Some(0 | 2 | 3) => is_said,
            // Before there is a session.
            Some(130) => says("device had not finished its start"),
            _ => false,
        };
        check(is_ended, "a signal ends it", ended)?;
        check(saved.is_some() == is_said, "it saves what it says", ended)?;
        let is_lost = says("the session was not saved");
        check(!is_lost, "a session that has begun is saved", ended)
    }

    /// A run that ended early could not go on, and says what is saved.
    fn check_end_of_run(&self, saved: Option<u64>, ended: &Ended) -> Result<(), String> {
        if self.uses.work == Work::Session {
            return Ok(());
        }
        check(
            self.uses.device != "auto",
            "the CPU is always left for auto",
            ended,
        )?;
        let has_begun = ended.stderr.contains("the run has no device left");
        let can_go_on = matches!(
            self.misdeed,
            Misdeed::Answers {
                recovers: true,
                count: 1,
                ..
            }
        );
        check(!(has_begun && can_go_on), "it goes on where it can", ended)?;
        let said = saved.map(|generation| format!("generation {generation} is saved in kept"));
        let is_said = said.is_some_and(|said| ended.stderr.contains(&said));
        check(is_said == has_begun, "it says what is saved", ended)
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
    outcomes: BTreeMap<Outcome, usize>,
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
                let outcome = case.play(after);
                let mut totals = totals.lock().unwrap();
                match outcome {
                    Ok(outcome) => *totals.outcomes.entry(outcome).or_default() += 1,
                    Err(ref why) => totals
                        .failures
                        .push(format!("{case:?}, after {after}: {why}")),
                }
                if outcome == Ok(Outcome::NotStruck) {
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
    let totals = totals.into_inner().unwrap();
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
    let mut cases = Vec::new();
    for uses in uses() {
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
    assert!(outcomes[&Outcome::Recovered] > 20 && outcomes[&Outcome::Ended] > 10);
    assert_eq!(outcomes[&Outcome::Interrupted], hanging.len());
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

/// What a user reads who loses a device, or all of them, in the middle of a run.
#[test]
fn a_run_goes_on_after_a_loss_or_says_what_is_saved() {
    let (launch, peer) = ("cuLaunchKernel:700:60", "cuMemcpyPeerAsync:700:9");
    let lost = "the engine was lost (cu | : an illegal memory access was encountered (CUDA error 700)); \
                the run goes on from generation 0 on ";
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
        let uses = Use {
            device,
            ..Use::of(Work::Run)
        };
        let others = [
            ("FAKE_CUDA_DEVICES", gpus),
            ("FAKE_CUDA_RECOVERS", recovers),
        ];
        let (ended, saved) = uses.end(&format!("{call}:{count}:lost"), &others, "");
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert!(says_sentences(&ended), "{ended:?}");
        says(&all, said, device);
        if said == none {
            assert_eq!((ended.code, saved), (Some(3), Some(0)), "{ended:?}");
        } else {
            assert_eq!((ended.code, saved), (Some(0), ALL), "{ended:?}");
            says(&all, lost, device);
            says(&all, "\"generations\":120 |  generations again\n", device);
        }
    }
    // From its newest copy, where there is one; a copy without memory is none, and no loss.
    for (fault, said) in [
        ("cuLaunchKernel:700:300:1:lost", "goes on from generation "),
        ("cuMemcpyDtoHAsync_v2:2:0:1", ""),
    ] {
        let soon = [
            ("FAKE_CUDA_RECOVERS", "1"),
            ("LIFESTREAMS_TEST_TIMEOUT_MS", "5"),
        ];
        let (ended, saved) = Use::of(Work::Run).end(fault, &soon, "");
        assert_eq!((ended.code, saved), (Some(0), ALL), "{ended:?}");
        says(&ended.stderr, said, fault);
        assert!(!ended.stderr.contains("from generation 0 "), "{ended:?}");
    }
}

/// Before the first generation, too.
#[test]
fn a_run_starts_on_a_device_that_is_left() {
    for call in ["cuModuleLoadDataEx", "cuMemsetD32_v2"] {
        let fault = format!("{call}:700:0:1:lost");
        let (ended, saved) = Use::of(Work::Run).end(&fault, &[("FAKE_CUDA_DEVICES", "2")], "");
        assert_eq!((ended.code, saved), (Some(0), ALL), "{ended:?}");
        assert!(ended.stderr.contains("Fake GPU 1"), "{ended:?}");
    }
}

/// Memory that is refused for a copy leaves every lattice as it was, and a person could go on; where
/// there is none, the program ends, and saves first.
#[test]
fn a_pause_that_nobody_can_end_ends_the_program() {
    let uses = Use::of(Work::Session);
    let (ended, _) = uses.end("cuMemcpyDtoHAsync_v2:2:0:1", &[], "");
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stderr.contains("out of device memory"), "{ended:?}");
}

#[test]
fn an_engine_that_never_says_what_has_ended_gives_way_to_the_cpu() {
    let (ended, saved) = Use::of(Work::Session).end("cuEventQuery:2:50:-1", &[], "");
    assert_eq!((ended.code, saved), (Some(0), ALL), "{ended:?}");
    assert!(ended.stderr.contains("on the CPU"), "{ended:?}");
}
