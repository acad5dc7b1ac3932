//! Checks users' kernels as `lifestreams kernel check` does: wrong ones are caught, each with its sentence,
//! and the rungs pass.

use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::Kernel;
use workshop::{Fault, Machine, OwnKernel, Right, Verdict, Workshop};

use crate::wrong_kernels::{WRONG, Wrong};

/// How long a launch may take here: longer than any that ends, however busy the machine is.
const LAUNCH_LIMIT: Duration = Duration::from_secs(120);

/// The same of kernels that never end, which only the limit stops.
const ENDLESS_LAUNCH_LIMIT: Duration = Duration::from_secs(2);

fn workshop() -> Workshop {
    let child = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lifestreams"));
        command.args(["kernel", "serve"]);
        command
    };
    Workshop::open(Machine::Emulator, child).expect("these tests need g++")
}

fn verdict(source: &str, workshop: &Workshop, limit: Duration) -> Verdict {
    let own = OwnKernel::read(source.as_bytes().to_vec()).unwrap();
    let cancel = AtomicBool::new(false);
    workshop.check(&own, 5, limit, &cancel).unwrap()
}

/// Does something with each of some things, on two threads, each with its compiler.
fn with_workshops<T: Sync>(things: &[T], work: impl Fn(&T, &Workshop) + Sync) {
    let left = Mutex::new(things.iter());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let workshop = workshop();
                loop {
                    let Some(thing) = left.lock().unwrap().next() else {
                        break;
                    };
                    work(thing, &workshop);
                }
            });
        }
    });
}

/// A copy of a rung with something replaced, which must be there once.
fn mutated(wrong: &Wrong) -> String {
    let rung = workshop::rungs()
        .find(|rung| rung.file == wrong.rung)
        .unwrap();
    let source = workshop::skeleton(rung, "mine.cu");
    assert_eq!(
        source.matches(wrong.from).count(),
        1,
        "{}: {}",
        wrong.rung,
        wrong.from
    );
    source.replace(wrong.from, wrong.to)
}

#[test]
fn wrong_kernels_are_caught_each_with_its_sentence() {
    assert!(WRONG.len() >= 40);
    let failures = Mutex::new(Vec::new());
    with_workshops(WRONG, |wrong, workshop| {
        let limit = if wrong.said.contains("did not finish") {
            ENDLESS_LAUNCH_LIMIT
        } else {
            LAUNCH_LIMIT
        };
        let said = match verdict(&mutated(wrong), workshop, limit) {
            Ok(_) => "right".to_owned(),
            Err(fault) => fault.to_string(),
        };
        if !wrong.said.split('…').all(|part| said.contains(part)) {
            let Wrong { rung, from, to, .. } = wrong;
            failures
                .lock()
                .unwrap()
                .push(format!("{rung}: {from:?} -> {to:?}\n    {said}"));
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(
        failures.is_empty(),
        "{} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn rungs_pass_as_kernels_of_ones_own() {
    let rungs: Vec<&Kernel> = workshop::rungs().collect();
    assert!(rungs.len() >= 7);
    with_workshops(&rungs, |rung, workshop| {
        let verdict = verdict(&workshop::skeleton(rung, "mine.cu"), workshop, LAUNCH_LIMIT);
        assert!(
            matches!(verdict, Ok(Right { cases: 60, .. })),
            "{}: {verdict:?}",
            rung.file
        );
    });
}

#[test]
fn a_missing_barrier_is_named_by_its_place() {
    // The barrier, and what is on the line behind which it was.
    let barriers = [
        ("02_shared", "    }\n    __syncthreads();\n"),
        ("03_sync_global", "        }\n        __syncthreads();\n"),
        ("04_sync_shared", "a[i] = cells[i];\n    __syncthreads();\n"),
        ("04_sync_shared", "        }\n        __syncthreads();\n"),
    ];
    with_workshops(&barriers, |(name, barrier), workshop| {
        let rung = workshop::rungs().find(|rung| rung.file == *name).unwrap();
        let source = workshop::skeleton(rung, "mine.cu");
        let at = source.find(barrier).unwrap();
        let line = source[..at].matches('\n').count() as u32 + 1;
        let without = barrier.split_inclusive('\n').next().unwrap();
        match verdict(
            &source.replacen(barrier, without, 1),
            workshop,
            LAUNCH_LIMIT,
        ) {
            Err(fault) => {
                let found =
                    matches!(*fault, Fault::Race { barrier_after: Some(it), .. } if it == line);
                assert!(found, "{name}, line {line}: {fault:?}");
            }
            right => panic!("{name}: {right:?}"),
        }
    });
}
