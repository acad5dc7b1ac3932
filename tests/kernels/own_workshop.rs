//! One workshop checks kernels again and again, whatever became of the one before; and kernels that passed
//! step lattices of the CPU engine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use engine::Kernel;
use engine::kernels::{OwnStepError, OwnStepper};
use life::{Rule, Size, reference, soup};
use workshop::{Fault, Machine, OwnKernel, Right, Unchecked, Verdict, Workshop};

use crate::driver;
use crate::wrong_kernels::{WRONG, Wrong};

/// How long a launch may take: longer than any that ends, however busy the machine is.
const LAUNCH_LIMIT: Duration = Duration::from_secs(50);

/// The same of kernels that never end.
const ENDLESS_LAUNCH_LIMIT: Duration = Duration::from_secs(2);

/// What the next child finds in its environment.
type Environment = Arc<Mutex<Vec<(&'static str, String)>>>;

fn open(machine: Machine) -> (Workshop, Environment) {
    let library = driver::library().to_string_lossy().into_owned();
    let environment = Environment::new(Mutex::new(vec![("LIFESTREAMS_LIBCUDA", library)]));
    let given = Arc::clone(&environment);
    let child = move || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lifestreams"));
        command.args(["kernel", "serve"]);
        command.envs(
            given
                .lock()
                .unwrap()
                .iter()
                .map(|(name, value)| (*name, value)),
        );
        command
    };
    (Workshop::open(machine, child).unwrap(), environment)
}

fn rung(name: &str) -> &'static Kernel {
    workshop::rungs().find(|rung| rung.file == name).unwrap()
}

fn copy(rung: &Kernel) -> OwnKernel {
    OwnKernel::read(workshop::skeleton(rung, "mine.cu").into_bytes()).unwrap()
}

/// A copy of `01_global` that does something first.
fn global(first: &str) -> OwnKernel {
    let source = workshop::skeleton(rung("01_global"), "mine.cu");
    let functions = "extern \"C\" int access(const char*, int);\n\
                     extern \"C\" int creat(const char*, unsigned);\n\
                     extern \"C\" int puts(const char*);\n\
                     extern \"C\" void _exit(int);\n\
                     extern \"C\" __global__ void life_global(";
    let source = source.replace("extern \"C\" __global__ void life_global(", functions);
    let begins = "    const int x = blockIdx.x";
    assert_eq!(source.matches(begins).count(), 1);
    let source = source.replace(begins, &format!("    {first}\n{begins}"));
    OwnKernel::read(source.into_bytes()).unwrap()
}

fn check(workshop: &Workshop, own: &OwnKernel, limit: Duration) -> Verdict {
    workshop
        .check(own, 5, limit, &AtomicBool::new(false))
        .unwrap()
}

fn fault(workshop: &Workshop, own: &OwnKernel, limit: Duration) -> Fault {
    match check(workshop, own, limit) {
        Err(fault) => *fault,
        right => panic!("{right:?}"),
    }
}

fn passes(workshop: &Workshop) -> Right {
    match check(workshop, &copy(rung("05_bits")), LAUNCH_LIMIT) {
        Ok(right) => right,
        wrong => panic!("{wrong:?}"),
    }
}

/// Ends every process that this one has started and not waited for; how many there were.
fn end_children() -> usize {
    // Its state and its parent.
    let state = |process: &Path| {
        let stat = fs::read_to_string(process.join("stat")).ok()?;
        let (_, behind) = stat.rsplit_once(')')?;
        let mut words = behind.split_whitespace().map(str::to_owned);
        Some((words.next()?, words.next()?))
    };
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let children = processes.map(|entry| entry.path()).filter(|process| {
        state(process).is_some_and(|(state, parent)| parent == own && state != "Z")
    });
    let children: Vec<PathBuf> = children.collect();
    for child in &children {
        let number = child.file_name().unwrap();
        let killed = Command::new("kill").arg("-9").arg(number).status();
        assert!(killed.unwrap().success());
        // Its first thread ends before others do.
        let threads = || fs::read_dir(child.join("task")).map_or(0, Iterator::count);
        while threads() > 1 || state(child).is_some_and(|(state, _)| state != "Z") {
            thread::yield_now();
        }
    }
    children.len()
}

const HANG: &str = "volatile int stop = 0; while (!stop) {}";

#[test]
fn a_workshop_goes_on_after_what_ends_its_process() {
    let (workshop, _) = open(Machine::Emulator);
    passes(&workshop);
    assert_eq!(end_children(), 1, "the one that waits for the next check");
    passes(&workshop);

    let hangs = fault(&workshop, &global(HANG), ENDLESS_LAUNCH_LIMIT);
    assert!(
        matches!(
            hangs,
            Fault::TooLong {
                seconds: 2,
                thread: Some(_)
            }
        ),
        "{hangs:?}"
    );
    passes(&workshop);

    let faults = fault(&workshop, &global("*(volatile int*)64 = 1;"), LAUNCH_LIMIT);
    let is_named = matches!(
        faults,
        Fault::OutOfBounds {
            thread: Some(_),
            ..
        }
    );
    assert!(is_named, "{faults:?}");
    passes(&workshop);

    let beyond = "if (blockIdx.x == 0 && threadIdx.x == 0) out[(size_t)width * height + 1] = 1;";
    let writes = fault(&workshop, &global(beyond), LAUNCH_LIMIT);
    let is_found = matches!(
        writes,
        Fault::WritesBeside {
            is_behind: true,
            ..
        } | Fault::OutOfBounds {
            bytes: Some(1..),
            ..
        }
    );
    assert!(is_found, "{writes:?}");
    passes(&workshop);

    assert_eq!(
        fault(&workshop, &global("_exit(0);"), LAUNCH_LIMIT),
        Fault::Crashed
    );
    passes(&workshop);

    // What a kernel prints is not taken for an answer.
    let prints = global("if (!blockIdx.x && !threadIdx.x) puts(\"{}\");");
    let verdict = check(&workshop, &prints, LAUNCH_LIMIT);
    assert!(verdict.is_ok(), "{verdict:?}");
}

#[test]
fn a_check_is_cancelled_while_its_kernel_runs() {
    let (workshop, _) = open(Machine::Emulator);
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("runs");
    let own = global(&format!("creat(\"{}\", 0600); {HANG}", mark.display()));
    let cancel = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !mark.exists() {
                thread::yield_now();
            }
            cancel.store(true, Ordering::Relaxed);
        });
        let cancelled = workshop.check(&own, 5, LAUNCH_LIMIT, &cancel);
        assert!(
            matches!(cancelled, Err(Unchecked::Cancelled)),
            "{cancelled:?}"
        );
    });
    passes(&workshop);
}

fn stepper(right: &Right) -> &dyn OwnStepper {
    let own = right.kernel.own.as_ref().unwrap();
    &**own.cpu.as_ref().expect("it was checked in the emulator")
}

#[test]
fn kernels_that_passed_step_lattices_on_several_threads() {
    let (workshop, _) = open(Machine::Emulator);
    let rules = ["B3/S23", "B36/S23", "B1357/S02468", "B0/S8"].map(|rule| rule.parse().unwrap());
    let sizes = [(128, 16), (129, 40), (300, 7), (131, 64)];
    for name in ["02_shared", "05_bits", "07_multistep", "03_sync_global"] {
        let Ok(right) = check(&workshop, &copy(rung(name)), LAUNCH_LIMIT) else {
            panic!("{name}");
        };
        assert_eq!(right.kernel.name, Kernel::OWN);
        let stepper = stepper(&right);
        for threads in 1..=4 {
            let step = |thread: usize| {
                for (number, generations) in [1, 2, 5, 9].into_iter().enumerate() {
                    let (width, height) = sizes[(thread + number) % sizes.len()];
                    let size = Size::new(width, height).unwrap();
                    let rule: Rule = rules[(thread + 2 * number) % rules.len()];
                    let start = soup(size, 0.4, thread as u64, number as u64);
                    let mut words = start.words().to_vec();
                    stepper.step(&mut words, size, rule, generations).unwrap();
                    let later = reference::run(&start, rule, generations.into());
                    assert!(
                        words == later.words(),
                        "{name}, {size}, {rule}, {generations}"
                    );
                }
            };
            thread::scope(|scope| {
                (0..threads).for_each(|thread| drop(scope.spawn(move || step(thread))));
            });
        }
    }
    // Its files may be gone; it has what it needs.
    let right = passes(&workshop);
    drop(workshop);
    let size = Size::new(64, 64).unwrap();
    let start = soup(size, 0.4, 1, 1);
    let mut words = start.words().to_vec();
    stepper(&right)
        .step(&mut words, size, Rule::LIFE, 3)
        .unwrap();
    assert!(words == reference::run(&start, Rule::LIFE, 3).words());
}

#[test]
fn a_step_that_fails_changes_nothing_and_the_next_one_works() {
    let (workshop, _) = open(Machine::Emulator);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let is_there = |path: &Path| format!("access(\"{}\", 0) == 0", path.display());
    let own = global(&format!(
        "if ({crash}) *(volatile int*)64 = 1; if ({hang}) {{ {HANG} }}",
        crash = is_there(&file("crash")),
        hang = is_there(&file("hang")),
    ));
    let Ok(right) = check(&workshop, &own, LAUNCH_LIMIT) else {
        panic!("it is right as long as there are no such files");
    };
    let size = Size::new(65, 33).unwrap();
    let start = soup(size, 0.4, 1, 1);
    let step = || {
        let mut words = start.words().to_vec();
        let answer = stepper(&right).step(&mut words, size, Rule::LIFE, 2);
        (answer, words)
    };
    let stepped = (
        Ok(()),
        reference::run(&start, Rule::LIFE, 2).words().to_vec(),
    );
    assert!(step() == stepped);
    for (name, error) in [
        ("crash", OwnStepError::Crashed),
        ("hang", OwnStepError::TooLong),
    ] {
        fs::write(file(name), "").unwrap();
        assert!(step() == (Err(error), start.words().to_vec()), "{name}");
        fs::remove_file(file(name)).unwrap();
        assert!(step() == stepped, "after {name}");
    }
    assert_eq!(end_children(), 2, "the workshop's and the stepper's");
    assert!(step() == (Err(OwnStepError::Crashed), start.words().to_vec()));
    assert!(step() == stepped);
}

#[test]
fn a_gpu_checks_kernels_and_says_what_they_need() {
    let (workshop, environment) = open(Machine::Gpu(0));
    for name in ["05_bits", "07_multistep", "04_sync_shared"] {
        let rung = rung(name);
        let verdict = check(&workshop, &copy(rung), LAUNCH_LIMIT);
        let Ok(right) = verdict else {
            panic!("{name}: {verdict:?}");
        };
        let facts = right.facts.unwrap();
        assert_eq!((facts.registers, facts.max_threads_per_sm), (32, 2048));
        let (across, down) = rung.block();
        assert_eq!(facts.block_threads, across * down);
        let own = right.kernel.own.as_ref().unwrap();
        assert!(own.gpu.is_some() && own.cpu.is_none() && right.compiler.is_some());
    }
    let wider = replaced(
        rung("01_global"),
        "unsigned rule)",
        "unsigned long long rule)",
    );
    let wrong = fault(&workshop, &wider, LAUNCH_LIMIT);
    assert!(matches!(wrong, Fault::BadParameters { .. }), "{wrong:?}");

    // What ends the context or the process, and then a check that passes.
    let after = |name, value: &str| {
        environment.lock().unwrap().push((name, value.into()));
        end_children();
        let wrong = fault(&workshop, &copy(rung("05_bits")), ENDLESS_LAUNCH_LIMIT);
        environment.lock().unwrap().pop();
        end_children();
        passes(&workshop);
        wrong
    };
    let nowhere = Fault::OutOfBounds {
        thread: None,
        bytes: None,
    };
    assert_eq!(after("FAKE_CUDA_FAIL_AFTER", "3"), nowhere);
    let endless = Fault::TooLong {
        seconds: 2,
        thread: None,
    };
    // No launch is ever done.
    assert_eq!(after("FAKE_CUDA_FAULT", "cuEventQuery:600:0:-1"), endless);
}

#[test]
fn a_gpu_that_cannot_be_used_is_said() {
    let (workshop, environment) = open(Machine::Gpu(0));
    environment
        .lock()
        .unwrap()
        .push(("FAKE_CUDA_INIT_ERROR", "999".into()));
    end_children();
    let (own, cancel) = (copy(rung("05_bits")), AtomicBool::new(false));
    let refused = workshop.check(&own, 5, LAUNCH_LIMIT, &cancel).unwrap_err();
    let said = "the NVIDIA driver does not start: ";
    assert!(refused.to_string().starts_with(said), "{refused}");
}

/// A copy of a rung with something replaced.
fn replaced(rung: &Kernel, from: &str, to: &str) -> OwnKernel {
    let source = workshop::skeleton(rung, "mine.cu").replace(from, to);
    OwnKernel::read(source.into_bytes()).unwrap()
}

#[test]
#[ignore = "needs a GPU and a compiler for it"]
fn a_real_gpu_checks_kernels() {
    let child = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lifestreams"));
        command.args(["kernel", "serve"]);
        command
    };
    let began = Instant::now();
    let workshop = Workshop::open(Machine::Gpu(0), child).unwrap();
    let endless = Duration::from_secs(1);
    let timed = |own: &OwnKernel, limit| {
        let began = Instant::now();
        (check(&workshop, own, limit), began.elapsed())
    };
    passes(&workshop);
    println!("opened, and checked 05_bits, in {:?}", began.elapsed());
    for rung in workshop::rungs() {
        let (verdict, took) = timed(&copy(rung), LAUNCH_LIMIT);
        let Ok(right) = verdict else {
            panic!("{}: {verdict:?}", rung.file);
        };
        println!("{}: {} cases in {took:?}", rung.file, right.cases);
        println!(
            "    {:?}, {:?}",
            right.facts.unwrap(),
            right.compiler.unwrap()
        );
    }
    for wrong in WRONG {
        let rung = rung(wrong.rung);
        let (verdict, took) = timed(&replaced(rung, wrong.from, wrong.to), endless);
        // Some are right on a GPU of today, such as those that read a little beyond their memory.
        let said = match verdict {
            Ok(_) => "RIGHT".into(),
            Err(fault) => fault.to_string(),
        };
        let Wrong { rung, from, to, .. } = wrong;
        println!("{rung}: {from:?} -> {to:?}\n    {said} ({took:?})");
    }
    let first_line = "    const int x = blockIdx.x";
    let does = |what: &str| {
        replaced(
            rung("01_global"),
            first_line,
            &format!("{what}\n{first_line}"),
        )
    };
    let hangs = fault(&workshop, &does(HANG), endless);
    let is_said = matches!(hangs, Fault::TooLong { seconds: 1, .. });
    assert!(is_said, "{hangs:?}");
    passes(&workshop);
    let faults = fault(&workshop, &does("*(volatile int*)64 = 1;"), LAUNCH_LIMIT);
    assert!(matches!(faults, Fault::OutOfBounds { .. }), "{faults:?}");
    passes(&workshop);
    for (place, is_behind) in [("(size_t)width * height + 1", true), ("-(size_t)1", false)] {
        let writes = fault(
            &workshop,
            &does(&format!("out[{place}] = 1;")),
            LAUNCH_LIMIT,
        );
        let is_found =
            matches!(writes, Fault::WritesBeside { is_behind: it, .. } if it == is_behind);
        assert!(is_found, "{writes:?}");
        passes(&workshop);
    }
}
