//! Checks users' kernels as `lifestreams kernel check` does: wrong ones are caught, each with its sentence,
//! and the rungs pass; one workshop goes on whatever became of the kernel before. Kernels that passed step
//! lattices of the CPU engine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use engine::Kernel;
use engine::kernels::{OwnStepError, OwnStepper};
use life::{Rule, Size, reference, soup};
use parking_lot::Mutex;
use workshop::{Fault, Machine, OwnKernel, Right, Unchecked, Verdict, Workshop};

use crate::driver;

/// How long a launch may take here: longer than any that ends, however busy the machine is.
const LAUNCH_LIMIT: Duration = Duration::from_secs(120);

/// The same of kernels that never end, which only the limit stops.
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
        command.envs(given.lock().iter().cloned());
        command
    };
    let opened = Workshop::open(machine, child);
    (opened.expect("these tests need g++"), environment)
}

fn rung(name: &str) -> &'static Kernel {
    workshop::rungs().find(|rung| rung.file == name).unwrap()
}

/// A copy of a rung.
fn source(rung: &str) -> String {
    workshop::skeleton(self::rung(rung), "mine.cu")
}

/// A copy of `01_global` that does something first.
fn global(first: &str) -> String {
    let functions = "extern \"C\" int access(const char*, int);\n\
                     extern \"C\" int creat(const char*, unsigned);\n\
                     extern \"C\" __global__ void life_global(";
    let begins = "    const int x = blockIdx.x";
    source("01_global")
        .replace("extern \"C\" __global__ void life_global(", functions)
        .replace(begins, &format!("    {first}\n{begins}"))
}

fn check(workshop: &Workshop, source: String, limit: Duration) -> Verdict {
    let own = OwnKernel::read(source.into_bytes()).unwrap();
    let never = AtomicBool::new(false);
    workshop.check(&own, 5, limit, &never).unwrap()
}

fn right(workshop: &Workshop, source: String) -> Right {
    check(workshop, source, LAUNCH_LIMIT).unwrap_or_else(|wrong| panic!("{wrong:?}"))
}

/// Does something with each of some things, on two threads, each with its compiler.
fn with_workshops<T: Sync>(things: &[T], work: impl Fn(&T, &Workshop) + Sync) {
    let left = Mutex::new(things.iter());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let (workshop, _) = open(Machine::Emulator);
                let next = || left.lock().next();
                while let Some(thing) = next() {
                    work(thing, &workshop);
                }
            });
        }
    });
}

#[test]
fn wrong_kernels_are_caught_each_with_its_sentence() {
    assert!(WRONG.len() >= 40);
    let failures = Mutex::new(Vec::new());
    with_workshops(WRONG, |[rung, from, to, said], workshop| {
        let source = source(rung);
        assert_eq!(source.matches(from).count(), 1, "{rung}: {from}");
        let limit = if said.contains("did not finish") {
            ENDLESS_LAUNCH_LIMIT
        } else {
            LAUNCH_LIMIT
        };
        let found = match check(workshop, source.replace(from, to), limit) {
            Ok(_) => "right".to_owned(),
            Err(fault) => fault.to_string(),
        };
        // A missing barrier is named by its place: behind the line before it.
        let barrier = || source.find(from).unwrap() + from.find("__syncthreads").unwrap();
        let said = match said.strip_suffix("is missing after line …") {
            Some(said) => {
                let line = source[..barrier()].matches('\n').count();
                format!("{said}is missing after line {line}")
            }
            None => said.to_string(),
        };
        if !said.split('…').all(|part| found.contains(part)) {
            let failure = format!("{rung}: {from:?} -> {to:?}\n    {found}");
            failures.lock().push(failure);
        }
    });
    let failures = failures.into_inner();
    let all = failures.join("\n");
    assert!(failures.is_empty(), "{} differ:\n{all}", failures.len());
}

#[test]
fn rungs_pass_as_kernels_of_ones_own() {
    let rungs: Vec<&Kernel> = workshop::rungs().collect();
    assert!(rungs.len() >= 7);
    with_workshops(&rungs, |rung, workshop| {
        assert_eq!(
            right(workshop, source(rung.file)).cases,
            60,
            "{}",
            rung.file
        );
    });
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
fn a_child_that_has_ended_is_started_anew_and_what_kernels_print_is_no_answer() {
    let (workshop, _) = open(Machine::Emulator);
    right(&workshop, source("05_bits"));
    assert_eq!(end_children(), 1, "the one that waits for the next check");
    right(
        &workshop,
        global("if (!blockIdx.x && !threadIdx.x) __builtin_puts(\"{}\");"),
    );
}

#[test]
fn a_check_is_cancelled_while_its_kernel_runs() {
    let (workshop, _) = open(Machine::Emulator);
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("runs");
    let own = global(&format!("creat(\"{}\", 0600); {HANG}", mark.display()));
    let own = OwnKernel::read(own.into_bytes()).unwrap();
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
    right(&workshop, source("05_bits"));
}

fn stepper(right: &Right) -> &dyn OwnStepper {
    let own = right.kernel.own.as_ref().unwrap();
    &**own.cpu.as_ref().expect("it was checked in the emulator")
}

#[test]
fn kernels_that_passed_step_lattices_on_several_threads() {
    let (workshop, _) = open(Machine::Emulator);
    let rules = ["B3/S23", "B36/S23", "B1357/S02468", "B0/S8"].map(|rule| rule.parse().unwrap());
    let sizes = ["128x16", "129x40", "300x7", "131x64"].map(|size| size.parse().unwrap());
    let names = ["02_shared", "05_bits", "07_multistep", "03_sync_global"];
    let passed = names.map(|name| right(&workshop, source(name)));
    drop(workshop); // its files may be gone; each has what it needs
    for (name, right) in names.into_iter().zip(&passed) {
        assert_eq!(right.kernel.name, Kernel::OWN);
        let stepper = stepper(right);
        for threads in 1..=4 {
            let step = |thread: usize| {
                for (number, generations) in [1, 2, 5, 9].into_iter().enumerate() {
                    let size: Size = sizes[(thread + number) % sizes.len()];
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
    let right = right(&workshop, own); // it is, as long as there are no such files
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
fn a_gpu_checks_kernels_and_says_what_they_need_or_why_it_cannot() {
    let (workshop, environment) = open(Machine::Gpu(0));
    for name in ["05_bits", "07_multistep", "04_sync_shared"] {
        let right = right(&workshop, source(name));
        let (facts, (across, down)) = (right.facts.unwrap(), rung(name).block());
        assert_eq!((facts.registers, facts.max_threads_per_sm), (32, 2048));
        assert_eq!(facts.block_threads, across * down);
        let own = right.kernel.own.as_ref().unwrap();
        assert!(own.gpu.is_some() && own.cpu.is_none() && right.compiler.is_some());
    }
    let wider = source("01_global").replace("unsigned rule)", "unsigned long long rule)");
    let wrong = check(&workshop, wider, LAUNCH_LIMIT).unwrap_err();
    assert!(matches!(*wrong, Fault::BadParameters { .. }), "{wrong:?}");

    // What ends the context or the process, and then a check that passes.
    let own = OwnKernel::read(source("05_bits").into_bytes()).unwrap();
    for (variable, value, said) in [
        (
            "FAKE_CUDA_FAIL_AFTER",
            "3",
            "Ok(Err(OutOfBounds { thread: None, bytes: None }))",
        ),
        // No launch is ever done.
        (
            "FAKE_CUDA_FAULT",
            "cuEventQuery:600:0:-1",
            "Ok(Err(TooLong { seconds: 2, thread: None }))",
        ),
        (
            "FAKE_CUDA_INIT_ERROR",
            "999",
            "the NVIDIA driver does not start: ",
        ),
    ] {
        environment.lock().push((variable, value.into()));
        end_children();
        let never = AtomicBool::new(false);
        let answer = workshop.check(&own, 5, ENDLESS_LAUNCH_LIMIT, &never);
        let found = match &answer {
            Err(refused) => refused.to_string(),
            _ => format!("{answer:?}"),
        };
        assert!(found.starts_with(said), "{found}");
        environment.lock().pop();
        end_children();
        right(&workshop, source("05_bits"));
    }
}

/// A rung's file, what is replaced in it, what takes its place, and what the check says; … stands for
/// anything.
#[rustfmt::skip]
const WRONG: &[[&str; 4]] = &[
    ["02_shared", "    __syncthreads();\n", "",
          "a race: the result depends on the order of threads; __syncthreads() is missing after line …"],
    ["02_shared", "tile_left + tx, width", "tile_left + tx + 1, width",
          "cell … is … instead of …"],
    ["02_shared", "tile_top + ty, height", "tile_top + ty - 1, height",
          "cell … is … instead of …"],
    ["02_shared", "ty < tile_height;", "ty < tile_height - 1;",
          "cell … is … instead of …"],
    ["02_shared", "    __syncthreads();\n", "    if (threadIdx.x < 16) __syncthreads();\n",
          "line …: only 128 of 256 threads reach __syncthreads(), the others have finished"],
    ["02_shared", "    __syncthreads();\n", "    if (threadIdx.y < 4) __syncthreads();\n    else\n        __syncthreads();\n",
          "line …: only 128 of 256 threads reach this __syncthreads(), others wait in line …"],
    ["02_shared", "    __syncthreads();\n", "    if (tile_left + 1 + threadIdx.x >= width) return;\n    __syncthreads();\n",
          "line …: only 8 of 256 threads reach __syncthreads(), the others have finished"],
    ["02_shared", "row[wrap(tile_left + tx, width)]", "row[tile_left + tx]",
          "thread (…) of block (…), after line …, accesses memory 121 bytes past the end of a lattice"],
    ["02_shared", "extern __shared__ int tile[];", "__shared__ int tile[32 * 8];",
          "thread (…) of block (…), after line …, uses an index beyond the end of an array"],
    ["02_shared", "tile[ty * tile_width + tx] =", "tile[ty * tile_width + tx + 64] =",
          "the kernel writes past the 1360 bytes of shared memory that a block has"],
    ["02_shared", "= threadIdx.x, middle", "= threadIdx.x + 1, middle",
          "cell … is … instead of …"],
    ["01_global", "wrap(x - 1, width)", "x - 1",
          "cell … is … instead of …"],
    ["01_global", "wrap(x + 1, width)", "x + 1",
          "cell … is … instead of …"],
    ["01_global", "wrap(y + 1, height)", "(y + 1)",
          "thread (…) of block (…), after line …, accesses memory 129 bytes past the end of a lattice"],
    ["01_global", "wrap(y - 1, height)", "(y - 1)",
          "cell … is … instead of …"],
    ["01_global", "+ here[left] + here[right]", "+ here[left] + here[x] + here[right]",
          "cell … is … instead of …"],
    ["01_global", "here[x], neighbours)", "here[x], neighbours == 8 ? 7 : neighbours)",
          "cell … is … instead of …"],
    ["01_global", "here[x], neighbours)", "here[x], neighbours & 3)",
          "cell … is … instead of …"],
    ["01_global", "    out[(size_t)y", "    if (neighbours > 0) out[(size_t)y",
          "cell … is not written instead of …"],
    ["01_global", "    out[(size_t)y", "    if (x < 0) out[(size_t)y",
          "cell … is not written instead of …"],
    ["01_global", "= next_state(rule, here[x], neighbours);", "= here[x];",
          "cell … is … instead of …"],
    ["01_global", "if (x >= width ||", "if (x >= width / 32 * 32 ||",
          "cell … is not written instead of …"],
    ["01_global", "    if (x >= width || y >= height) return;\n", "",
          "thread (…) of block (…), after line …, accesses memory 13 bytes past the end of a lattice"],
    ["01_global", "if (x >= width || y >= height)", "if (x >= width || y >= height - 1)",
          "cell … is not written instead of …"],
    ["01_global", "const int* here = in", "const int* here = out",
          "cell … is … instead of …"],
    ["01_global", "    out[(size_t)y * width + x] =", "    ((int*)in)[(size_t)y * width + x] =",
          "the kernel changed its input at cell …"],
    ["01_global", "    out[(size_t)y * width + x] =", "    ((int*)in)[(size_t)y * width + x] = out[(size_t)y * width + x] =",
          "the kernel changed its input at cell …"],
    ["01_global", "next_state(rule, here", "next_state(LIFE, here",
          "cell … is … instead of …"],
    ["01_global", "= next_state(", "= 2 * next_state(",
          "cell … is 2 instead of alive"],
    ["01_global", "const int left =", "volatile int stop = 0;\n    while (!stop) {}\n    const int left =",
          "a launch did not finish within 2 s; thread (…) of block (…), after line …, was still running"],
    ["01_global", "const int left =", "for (;;) __builtin_memset(new char[1 << 28], 1, 1 << 28);\n    const int left =",
          "the kernel used more than 1024 MiB of memory"],
    ["01_global", "here[x], neighbours)", "here[x], 1000 / neighbours)",
          "thread (…) of block (…), after line …, divides an integer by 0"],
    ["01_global", "const int left =", "((int*)(size_t)(width + 1))[x] = 1;\n    const int left =",
          "thread (…) of block (…), after line …, accesses memory that is not its own"],
    ["01_global", "const int left =", "const int left",
          "does not compile: line …: expected initializer before 'wrap'"],
    ["01_global", "= next_state(", "= state_after(",
          "does not compile: line …: 'state_after' was not declared in this scope; did you mean 'static_assert'?"],
    ["01_global", "void life_global(", "void life_local(",
          "there is no kernel life_global; define extern \"C\" __global__ void life_global(…)"],
    ["01_global", "    out[(size_t)y", "}\n\nextern \"C\" __global__ void life_global(int* out)\n{\n    out[(size_t)y",
          "life_global is defined twice, in lines 19 and 37"],
    ["01_global", "extern \"C\" __global__", "__global__",
          "line …: life_global is not extern \"C\", so it could not be found by its name"],
    ["01_global", "unsigned rule)", "unsigned long long rule)",
          "the parameters of life_global are not those of 01_global"],
    ["01_global", "const int left =", "__builtin__exit(0);\n    const int left =",
          "the process that ran the kernel ended without an answer"],
    ["01_global", "const int left =", "if (x + y == 0) out[(size_t)width * height + 1] = 1;\n    const int left =",
          "past the end of a lattice"],
    ["03_sync_global", "        __syncthreads();\n", "",
          "a race: the result depends on the order of threads; __syncthreads() is missing after line …"],
    ["03_sync_global", "generation < generations;", "generation < generations - 1;",
          "cell … is not written instead of …"],
    ["03_sync_global", "? b : a;\n", "? a : b;\n",
          "a race: the result depends on the order of threads"],
    ["03_sync_global", "    a += (size_t)blockIdx.x * width * height;\n", "",
          "cell … is … instead of …"],
    ["03_sync_global", "x < width; x += dx", "x + 1 < width; x += dx",
          "cell … is not written instead of …"],
    ["04_sync_shared", "a[i] = cells[i];\n    __syncthreads();", "a[i] = cells[i];",
          "a race: the result depends on the order of threads; __syncthreads() is missing after line …"],
    ["04_sync_shared", "        }\n        __syncthreads();\n", "        }\n",
          "a race: the result depends on the order of threads; __syncthreads() is missing after line …"],
    ["04_sync_shared", "            if (x0 < width && y0 < height) step(", "            if (x0 < width && y0 < height) __syncthreads(), step(",
          "line …: only 1 of 1024 threads reach this __syncthreads(), others wait in line …"],
    ["04_sync_shared", "in + wrap(y - 1, height) * width", "in + (y - 1) * width",
          "cell … is … instead of …"],
    ["04_sync_shared", "*b = buffers + size;", "*b = buffers + size - width;",
          "a race: the result depends on the order of threads"],
    ["05_bits", " & inside;", ";",
          "bits beyond the width are not 0 in row 0"],
    ["05_bits", "x == 0 ? end : 31;", "31;",
          "cell … is … instead of …"],
    ["05_bits", "x == words - 1 ? end : 31;", "31;",
          "cell … is … instead of …"],
    ["05_bits", "        if (y + i < height)\n", "",
          "thread (…) of block (…), after line …, accesses memory 9 bytes past the end of a lattice"],
    ["05_bits", "#define ROWS 4", "#define ROWS 3",
          "cell … is not written instead of …"],
    ["05_bits", "cells[ROWS + 2];", "cells[ROWS];",
          "thread (…) of block (…), after line …, uses an index beyond the end of an array"],
    ["06_planar", "turned(here.left, first)", "here.left",
          "cell … is … instead of …"],
    ["06_planar", "? ends.step - 1 : x - 1", "? ends.step : x - 1",
          "cell … is … instead of …"],
    ["06_planar", "const Ends ends = Ends::of(width);\n    if (x >= words || y >= height) return;", "if (x >= words || y >= height) return;\n    const Ends ends = Ends::of(width);",
          "cell … is … instead of …"],
    ["07_multistep", "#define STEPS 4", "#define STEPS 3",
          "cell … is … instead of …"],
    ["07_multistep", "__shfl_sync(~0u, row[0], lane.right)", "__shfl_sync(~0u, row[0], lane.left)",
          "cell … is … instead of …"],
    ["07_multistep", "u32 left = __shfl_sync(~0u, row[WORDS - 1], lane.left);", "u32 left = 0;\n        if (lane.left > 0) left = __shfl_sync(~0u, row[WORDS - 1], lane.left);",
          "line …: a warp's lanes exchange values, but some wait in line …"],
];
