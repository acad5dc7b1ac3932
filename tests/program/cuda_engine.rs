//! The CUDA engine's host code, over a driver of the tests' own (`tests/driver`): streams,
//! events, slots, graphs and errors run for real; the kernels are the committed `.cu` files
//! compiled as C++.

use std::fs;
use std::path::Path;

use engine::kernels::KERNELS;
use life::Size;
use serde_json::Value;
use session::SavedSession;

use crate::common::{Ended, Row, hold, hold_with, lifestreams_with, names, scratch};

type Variable<'a> = (&'a str, &'a str);

/// These variables and the one that has the fake driver loaded.
fn on_fake<'a>(library: &'a Path, variables: &[Variable<'a>]) -> Vec<Variable<'a>> {
    let fake = ("LIFESTREAMS_LIBCUDA", library.to_str().unwrap());
    std::iter::once(fake)
        .chain(variables.iter().copied())
        .collect()
}

/// The program over the fake driver, with these variables.
pub(crate) fn with_driver(folder: &Path, line: &str, variables: &[Variable]) -> Ended {
    let library = crate::driver::library();
    lifestreams_with(folder, &on_fake(&library, variables), line)
}

/// The rows hold over the fake driver, with these variables.
#[track_caller]
fn hold_on_fake(variables: &[Variable], rows: &[Row]) {
    let library = crate::driver::library();
    hold_with(scratch(), &on_fake(&library, variables), rows);
}

/// The files that a line saves, in a folder of its own.
fn saved(folder: &Path, line: &str, variables: &[Variable]) -> Vec<String> {
    let into = folder.join("saved");
    let _ = fs::remove_dir_all(&into);
    with_driver(folder, &format!("{line} --save saved"), variables).succeeds();
    let read = |name: &String| fs::read_to_string(into.join(name)).unwrap();
    names(&into).iter().map(read).collect()
}

/// What the fake driver logs meanwhile.
fn log_of(folder: &Path, line: &str, variables: &[Variable]) -> String {
    let log = folder.join("log");
    let _ = fs::remove_file(&log);
    let logged = [("FAKE_CUDA_LOG", log.to_str().unwrap())];
    with_driver(folder, line, &[&logged, variables].concat()).succeeds();
    fs::read_to_string(&log).unwrap()
}

/// On two GPUs, in every setting of the lab and in bands. How the same cells come of many generations that
/// threads issue is below.
#[test]
fn both_engines_agree_by_the_conformance_suite() {
    let agrees = "verify --small --device cuda";
    hold_on_fake(
        &[("FAKE_CUDA_DEVICES", "2")],
        &[(agrees, 0, "everything agrees")],
    );
}

/// A profiler sees the names of rounds, operations and streams, and every range that begins also ends.
#[test]
fn a_profiler_sees_rounds_ops_and_streams_by_name() {
    let folder = scratch();
    let log = folder.path().join("ranges");
    let library = crate::driver::library();
    let attached = [
        ("NVTX_INJECTION64_PATH", library.to_str().unwrap()),
        ("FAKE_NVTX_LOG", log.to_str().unwrap()),
        ("FAKE_CUDA_DEVICES", "2"),
    ];
    for (how, streams) in [
        ("cpu -g 12 --generations-per-round 4", ""),
        (
            "cuda --streams one -g 12 --generations-per-round 4",
            "stream one stream",
        ),
        // So that a thread per GPU issues it.
        ("cuda -g 300 --generations-per-round 100", "stream stream 2"),
    ] {
        let line = format!("run --kernel bits --instances 3 --size 64x64 --device {how}");
        with_driver(folder.path(), &line, &attached).succeeds();
        let told = fs::read_to_string(&log).unwrap();
        fs::remove_file(&log).unwrap();
        let count = |start: &str, end: &str| {
            let lines = told.lines();
            lines
                .filter(|it| it.starts_with(start) && it.ends_with(end))
                .count()
        };
        assert_eq!(count("push ", ""), count("pop ", ""), "{how}");
        let rounds = count("push ", " round"); // those that would take long are divided
        assert!(rounds >= 3, "{how}: {told}");
        assert_eq!(count("push ", " bits"), 3 * rounds, "{how}");
        assert!(count("push ", " download") >= 2, "{how}");
        assert!(told.contains(streams), "{how}: {told}");
    }
}

/// Also if GPUs cannot reach each other's memory, or what they copy there arrives wrong.
#[test]
fn lattices_in_bands_are_stepped_as_whole_ones_are() {
    let folder = scratch();
    let folder = folder.path();
    let unsupported = ("FAKE_CUDA_FAULT", "cuCtxEnablePeerAccess:217:0:-1");
    let breaks = ("FAKE_CUDA_PEER_BREAKS", "1");
    for (kernel, gpus, more, is_staged) in [
        ("bits", "2", None, [true, false]),
        ("sync-shared", "3", Some(unsupported), [false, true]),
        ("planar", "4", Some(breaks), [false, true]),
    ] {
        let line = format!(
            "run --instances 2 --size 130x41 --rule B36/S23 -g 210 --kernel {kernel} --device cuda \
             --generations-per-round 200"
        );
        let variables: Vec<_> = [("FAKE_CUDA_DEVICES", gpus)]
            .into_iter()
            .chain(more)
            .collect();
        let in_bands = format!("{line} --split on");
        let log = log_of(folder, &in_bands, &variables);
        let copies = [" op=peer ", " op=peer-staged "].map(|kind| {
            // Those of a trial have 64 KiB.
            let is_copy = |line: &&str| line.contains(kind) && !line.contains("bytes=65536 ");
            log.lines().any(|line| is_copy(&line))
        });
        assert_eq!(copies, is_staged, "{kernel} on {gpus} GPUs");
        let whole = saved(folder, &format!("{line} --split off"), &variables);
        assert!(
            saved(folder, &in_bands, &variables) == whole,
            "{kernel} on {gpus} GPUs"
        );
    }
}

/// A session's file says nothing of how lattices lie on GPUs: the options do.
#[test]
fn a_session_goes_on_with_its_lattices_in_bands_or_whole() {
    let folder = scratch();
    let line = |how: &str, file: &str| {
        format!("--display none --rounds 12 --session {file} --device cuda {how}")
    };
    let go_on = |how: &str, file: &str| {
        let gpus = [("FAKE_CUDA_DEVICES", "3")];
        let log = log_of(folder.path(), &line(how, file), &gpus);
        let saved = SavedSession::load(&folder.path().join(file)).unwrap();
        (log.contains(" op=peer "), saved.timeline.copies)
    };
    let new = "--kernel bits --size 75x41 --instances 2 --generations-per-round 3 --split on";
    for (how, is_split) in [(new, true), ("", false), ("--split on", true)] {
        let (split, in_bands) = go_on(how, "bands");
        let (none, whole) = go_on(&how.replace("--split on", ""), "whole");
        assert_eq!((split, none), (is_split, false), "{how}");
        assert!(in_bands == whole, "{how}");
    }
    let ended = with_driver(folder.path(), &line("--split on", "bands"), &[]);
    ended.refuses(3, "only one GPU | lattices in bands need two");
}

#[test]
fn lattices_that_a_device_cannot_hold_are_refused_with_the_size_that_fits() {
    let memory = [("FAKE_CUDA_MEMORY", "16777216"), ("FAKE_CUDA_DEVICES", "2")];
    let folder = scratch();
    #[rustfmt::skip]
    let rows = [
        ("--size 65536x1024 --kernel bits --instances 3", "lattices in bits"),
        ("--size 2048 --kernel global --instances 3", "4 bytes per cell"),
        ("--size 4096 --kernel bits --split on", "lattices in bits"),
    ];
    for (line, what) in rows {
        let memory = &memory[..1 + usize::from(line.contains("--split on"))];
        let line = format!("run -g 0 --device cuda {line}");
        let ended = with_driver(folder.path(), &line, memory);
        ended.refuses(3, &format!("out of device memory:  | {what}"));
        let size = ended.stderr.split("smaller --size (").nth(1).unwrap();
        let size = size.split(' ').next().unwrap();
        let given = line.split(' ').nth(6).unwrap();
        with_driver(folder.path(), &line.replace(given, size), memory).succeeds();
    }
}

#[test]
fn a_batch_is_one_launch_and_one_copy() {
    let folder = scratch();
    // Two rounds, the measures that count live cells, and each lattice brought back by itself.
    let ops = |how: &str| {
        let line = format!(
            "run --device cuda --kernel resident --instances 5 --size 64x64 -g 12 \
             --generations-per-round 6 --save saved {how}"
        );
        let log = log_of(folder.path(), &line, &[]);
        ["op=life_resident ", "op=pack", "op=d2h "].map(|op| log.matches(op).count())
    };
    for (how, wanted) in [
        ("--streams per-instance", [10, 5, 10]),
        ("--streams one", [10, 1, 6]),
        ("--streams batch", [2, 1, 6]),
        ("--streams batch --graphs on", [2, 1, 6]),
    ] {
        assert_eq!(ops(how), wanted, "{how}");
    }
}

/// A kernel that iterates the generations itself counts them in an `int`.
#[test]
fn generations_beyond_an_int_are_several_launches() {
    let folder = scratch();
    let generations = i64::from(u32::MAX);
    for kernel in ["resident", "sync-global", "sync-shared"] {
        let line = format!(
            "run --device cuda --kernel {kernel} --instances 1 --size 64x64 -g {generations} \
             --generations-per-round {generations}"
        );
        let log = log_of(folder.path(), &line, &[("FAKE_CUDA_DRY", "1")]);
        let launch = format!("op=life_{}(", kernel.replace('-', "_"));
        let counts = log.split(&launch).skip(1);
        let counts = counts.map(|rest| rest.split(')').next().unwrap().parse::<i64>().unwrap());
        let counts: Vec<i64> = counts.collect();
        assert!(
            counts.iter().all(|&count| count > 0),
            "{kernel}: {counts:?}"
        );
        assert_eq!(counts.iter().sum::<i64>(), generations, "{kernel}");
    }
}

/// Whoever looks at streams has all connections, unless something else was said; whoever only
/// wants speed has the driver's own number.
#[test]
fn the_driver_starts_with_the_connections_that_are_wanted() {
    let folder = scratch();
    let four = [("CUDA_DEVICE_MAX_CONNECTIONS", "4")];
    for (line, set, wanted) in [
        ("--display none --rounds 2", &[][..], "32"),
        ("--display none --rounds 2 --connections 8", &four, "8"),
        ("run -g 2 --trace t", &[], "32"),
        ("run -g 2", &[], "unset"),
    ] {
        let few = format!("{line} --device cuda --instances 2 --size 32x32");
        let log = log_of(folder.path(), &few, set);
        let first = format!("connections={wanted}\n");
        assert!(log.starts_with(&first), "{line} {set:?}");
    }
}

/// What the driver says of itself and of its GPUs when the program starts; the faults of every later call
/// are in `tests/program/faults`.
#[test]
fn a_driver_that_cannot_be_used_is_named_and_the_cpu_takes_its_place() {
    let on_cuda = "run --device cuda --instances 1 --size 32x32 -g 1 --json";
    let on_any = "run --instances 1 --size 32x32 -g 1 --json";
    let session = "--display none --rounds 2 --instances 2 --size 32x32";
    let fault = "FAKE_CUDA_FAULT";
    let old = "compute capability 3.7, and 5.0 or newer is needed";
    #[rustfmt::skip]
    let rows = [
        (("FAKE_CUDA_VERSION", "0"), on_cuda, 3, "does not say which CUDA | reinstall it"),
        (("FAKE_CUDA_VERSION", "10020"), on_cuda, 3, "too old | update it"),
        (("FAKE_CUDA_INIT_ERROR", "100"), on_cuda, 3, "no NVIDIA GPU is visible | nvidia-smi"),
        (("FAKE_CUDA_INIT_ERROR", "803"), on_cuda, 3, "kernel module differ | reboot"),
        (("FAKE_CUDA_INIT_ERROR", "34"), on_cuda, 3, "libcuda_fake.so is the stub of a CUDA toolkit | LD_LIBRARY_PATH"),
        (("FAKE_CUDA_INIT_ERROR", "804"), on_cuda, 3, "forward-compatible library / | libcuda_fake.so; update the driver"),
        (("FAKE_CUDA_INIT_ERROR", "999"), on_cuda, 3, "libcuda_fake.so gives no reason | nvidia-modprobe"),
        // At the start, nothing is lost, and the memory is other programs'.
        ((fault, "cuDeviceGetName:719:0:-1"), on_cuda, 3, "the GPU cannot be used: cuDeviceGetName | --device cpu"),
        ((fault, "cuDeviceGetCount:2:0:-1"), on_cuda, 3, "no memory left to start (cuDeviceGetCount) | nvidia-smi lists"),
        ((fault, "cuDevicePrimaryCtxRetain:46:0:-1"), on_cuda, 3, "the GPU cannot be used"),
        ((fault, "cuDevicePrimaryCtxRetain:46:0:-1"), on_any, 0, "\"engine\":\"cpu\" | cannot be used"),
        (("FAKE_CUDA_DEVICES", "1"), "run --device cuda:7 -g 1", 3, "no CUDA device 7"),
        (("FAKE_CUDA_DEVICES", "1"), on_any, 0, "\"engine\":\"cuda\""),
        (("FAKE_CUDA_INIT_ERROR", "100"), on_any, 0, "\"engine\":\"cpu\""),
        (("FAKE_CUDA_CAPABILITY", "37"), on_cuda, 3, old),
        (("FAKE_CUDA_CAPABILITY", "37"), on_any, 0, "\"engine\":\"cpu\" | 5.0 or newer"),
        (("FAKE_CUDA_CAPABILITY", "37"), session, 0, "Computing on  | 5.0 or newer"),
        (("FAKE_CUDA_CAPABILITY", "37"), "devices", 0, "Fake GPU 0 | 5.0 or newer"),
        (("FAKE_CUDA_CAPABILITY", "50"), on_any, 0, "\"engine\":\"cuda\""),
        // A GPU that opens, and then cannot load a kernel; a context that is lost, and one that comes back.
        ((fault, "cuModuleLoadDataEx:218:0:1"), on_any, 0, "\"engine\":\"cpu\" | a PTX JIT compilation failed | ; the CPU computes instead"),
        ((fault, "cuModuleLoadDataEx:218:0:1"), session, 0, "generation 2 | ; the CPU computes instead"),
    ];
    for (variable, line, code, said) in rows {
        hold_on_fake(&[variable], &[(line, code, said)]);
    }
    let long = "--display none --rounds 200 --instances 4 --size 48x48 --kernel bits";
    for (recovers, place) in [("1", "on the GPU"), ("0", "on the CPU")] {
        let lost = [
            ("FAKE_CUDA_FAIL_AFTER", "300"),
            ("FAKE_CUDA_RECOVERS", recovers),
        ];
        let said = format!("the session continues from generation | {place}");
        hold_on_fake(&lost, &[(long, 0, &said)]);
    }
    // A stub is passed over.
    let folder = scratch();
    let make = "$ echo 'extern \"C\" int cuInit(unsigned) { return 34; }' | g++ -shared -fPIC -o stub.so -x c++ -";
    hold(&folder, &[(make, 0, "")]);
    let fake = crate::driver::library();
    for (next, code, said) in [
        (fake.to_str().unwrap(), 0, "\"engine\":\"cuda\""),
        ("/nowhere.so", 3, "stub.so is the stub of a CUDA toolkit"),
    ] {
        let libraries = format!("./stub.so:{next}");
        let variables = [("LIFESTREAMS_LIBCUDA", &*libraries)];
        hold_with(&folder, &variables, &[(on_cuda, code, said)]);
    }
}

/// `bench ladder`: every rung checked and timed, the limits, the record, and a driver that fails on the way.
#[test]
fn every_rung_is_measured_and_recorded() {
    let folder = scratch();
    let line = "bench ladder --small --device cuda --write . --json";
    let fails = [("FAKE_CUDA_FAIL_AFTER", "190"), ("FAKE_CUDA_RECOVERS", "1")];
    let said = with_driver(folder.path(), line, &fails).succeeds().stdout;
    let record = fs::read(folder.path().join("fake-gpu-0.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    assert_eq!(record, serde_json::from_str::<Value>(&said).unwrap());
    let of = |list: &str, name: &str| -> Vec<String> {
        let all = record["ladder"][list].as_array().unwrap();
        let of_it = all.iter().filter(|it| it["kernel"] == name);
        of_it.map(Value::to_string).collect()
    };
    let size = Size::new(128, 128).unwrap();
    for kernel in KERNELS.iter().filter(|kernel| kernel.supports(size)) {
        let (rates, left_out) = (
            of("rates", kernel.name),
            of("left_out", kernel.name).concat(),
        );
        // Two works.
        let is_measured = rates.len() == 2 && left_out.is_empty();
        let has_failed = left_out.contains("illegal memory access");
        let name = kernel.name;
        assert!(is_measured || has_failed, "{name}: {rates:?}, {left_out}");
    }
    assert!(of("rates", "global").is_empty() && !of("rates", "resident").is_empty());
}
