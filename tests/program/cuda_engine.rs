//! The CUDA engine's host code, over a driver of the tests' own (`tests/driver`): streams,
//! events, slots, graphs and errors run for real; the kernels are the committed `.cu` files
//! compiled as C++.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use engine::kernels::KERNELS;
use life::Size;
use session::SavedSession;

use crate::common::{Ended, names, program, run, scratch};

/// The program over the fake driver, with these variables.
pub(crate) fn with_driver(folder: &Path, line: &str, variables: &[(&str, &str)]) -> Ended {
    let mut command = program(folder);
    command.env("LIFESTREAMS_LIBCUDA", crate::driver::library());
    command.env_remove("CUDA_DEVICE_MAX_CONNECTIONS");
    command.envs(variables.iter().copied());
    run(command.args(line.split_whitespace()))
}

/// What it says if it ends well.
fn succeeds_in(folder: &Path, line: &str, variables: &[(&str, &str)]) -> String {
    let ended = with_driver(folder, line, variables);
    assert_eq!(ended.code, Some(0), "{line}, {variables:?}: {ended:?}");
    ended.stdout + ended.stderr.as_str()
}

fn succeeds(line: &str, variables: &[(&str, &str)]) -> String {
    succeeds_in(scratch().path(), line, variables)
}

/// The machine's fault, in a sentence with these words.
fn fails(line: &str, variables: &[(&str, &str)], words: &[&str]) -> Ended {
    let ended = with_driver(scratch().path(), line, variables);
    ended.refuses(3, words);
    ended
}

fn saved(folder: &Path) -> Vec<String> {
    let read = |name: &String| fs::read_to_string(folder.join(name)).unwrap();
    names(folder).iter().map(read).collect()
}

/// What the fake driver logs meanwhile.
fn log_of(folder: &Path, line: &str, variables: &[(&str, &str)]) -> String {
    let log = folder.join("log");
    let _ = fs::remove_file(&log);
    let logged = [("FAKE_CUDA_LOG", log.to_str().unwrap())];
    succeeds_in(folder, line, &[&logged, variables].concat());
    fs::read_to_string(&log).unwrap()
}

#[test]
fn every_kernel_agrees_with_the_reference_on_two_devices() {
    let said = succeeds(
        "verify --small --device cuda",
        &[("FAKE_CUDA_DEVICES", "2")],
    );
    assert!(said.contains("everything agrees"), "{said}");
}

#[test]
fn both_engines_save_the_same_cells_however_rounds_are_issued() {
    let odd = Size::new(75, 41).unwrap();
    for kernel in &KERNELS {
        let size = match kernel.validate_size(odd) {
            Ok(()) => "75x41",
            Err(_) => "128x128",
        };
        let common = format!(
            "run --kernel {} --instances 5 --size {size} --rule B36/S23 -g 11 \
             --generations-per-round 3",
            kernel.name
        );
        let folder = scratch();
        let save = |how: &str, name: &str| {
            let line = format!("{common} {how} --save {name}");
            succeeds_in(folder.path(), &line, &[("FAKE_CUDA_DEVICES", "2")]);
            saved(&folder.path().join(name))
        };
        let want = save("--device cpu", "cpu");
        assert_eq!(want.len(), 5);
        let ways = [
            "",
            "--graphs on",
            "--streams one",
            "--order depth",
            "--streams one --graphs on",
        ];
        for (i, how) in ways.iter().enumerate() {
            // The second device alone, and both.
            let device = ["cuda:1", "cuda"][i % 2];
            let got = save(&format!("--device {device} {how}"), &i.to_string());
            assert!(got == want, "{} {how} differs from the CPU", kernel.name);
        }
    }
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
    let line = "run --kernel bits --instances 3 --size 64x64";
    let (short, long) = (
        "-g 12 --generations-per-round 4",
        "-g 300 --generations-per-round 100", // so that a thread per GPU issues it
    );
    for (how, streams) in [
        (format!("--device cpu {short}"), ""),
        (format!("--device cuda {short}"), "stream stream 2"),
        (
            format!("--device cuda --streams one {short}"),
            "stream shared stream",
        ),
        (format!("--device cuda {long}"), "stream stream 2"),
    ] {
        let line = format!("{line} {how}");
        succeeds_in(folder.path(), &line, &attached[2..]);
        assert!(!log.exists(), "no profiler is attached");
        succeeds_in(folder.path(), &line, &attached);
        let told = fs::read_to_string(&log).unwrap();
        fs::remove_file(&log).unwrap();
        let mut open: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut closed: HashMap<&str, usize> = HashMap::new();
        for line in told.lines() {
            match line.splitn(3, ' ').collect::<Vec<_>>()[..] {
                ["push", thread, name] => open.entry(thread).or_default().push(name),
                ["pop", thread] => {
                    let name = open.get_mut(thread).and_then(Vec::pop);
                    *closed.entry(name.expect("a range is open")).or_default() += 1;
                }
                _ => assert!(line.starts_with("stream "), "{line}"),
            }
        }
        assert!(open.values().all(Vec::is_empty), "{how}: {open:?}");
        let rounds = closed["round"]; // those that would take long are divided
        assert!(rounds >= 3, "{how}: {closed:?}");
        assert_eq!(closed["bits"], 3 * rounds, "{how}: {closed:?}");
        assert!(closed["download"] >= 2, "{how}: {closed:?}");
        assert!(told.contains(streams), "{how}: {told}");
    }
}

/// So many launches that each GPU has a thread that issues them.
#[test]
fn instances_are_spread_over_all_gpus_and_stepped_as_the_cpu_does() {
    let folder = scratch();
    let save = |how: &str, gpus: &str| {
        let line = format!(
            "run --kernel bits --instances 5 --size 75x41 --rule B36/S23 -g 150 --json \
             --generations-per-round 60 {how} --save {gpus}"
        );
        let said = succeeds_in(folder.path(), &line, &[("FAKE_CUDA_DEVICES", gpus)]);
        (
            said.matches(" + ").count(),
            saved(&folder.path().join(gpus)),
        )
    };
    let (_, want) = save("--device cpu", "1");
    for (how, gpus, more) in [
        ("", "2", 1),
        ("--streams one", "3", 2),
        ("--wait each", "4", 3),
    ] {
        let (named, got) = save(&format!("--device cuda {how}"), gpus);
        assert!(got == want, "{gpus} GPUs {how} differ from the CPU");
        assert_eq!(named, more, "all {gpus} are named");
    }
}

/// Also if GPUs cannot reach each other's memory, or what they copy there arrives wrong.
#[test]
fn lattices_in_bands_are_stepped_as_whole_ones_are() {
    let folder = scratch();
    let unsupported = ("FAKE_CUDA_FAULT", "cuCtxEnablePeerAccess:217:0:-1");
    let breaks = ("FAKE_CUDA_PEER_BREAKS", "1");
    let run = |how: &str, name: &str, variables: &[(&str, &str)]| {
        let line = format!(
            "run --instances 2 --size 130x41 --rule B36/S23 -g 210 --json \
             --generations-per-round 200 {how} --save {name}"
        );
        let log = log_of(folder.path(), &line, variables);
        // Those of a trial have 64 KiB.
        let copies = |kind: &str| {
            let copies = log.lines().filter(|line| line.contains(kind));
            copies.filter(|line| !line.contains("bytes=65536 ")).count()
        };
        let is_staged = [" op=peer ", " op=peer-staged "].map(|kind| copies(kind) > 0);
        (is_staged, saved(&folder.path().join(name)))
    };
    for (kernel, gpus, more, copies) in [
        ("bits", "2", ("", ""), [true, false]),
        ("sync-shared", "3", unsupported, [false, true]),
        ("planar", "4", breaks, [false, true]),
        ("multistep", "8", ("", ""), [true, false]),
    ] {
        let variables = [("FAKE_CUDA_DEVICES", gpus), more];
        let variables = &variables[..1 + usize::from(!more.0.is_empty())];
        let on_gpus = |split: &str| {
            let how = format!("--kernel {kernel} --device cuda --split {split}");
            run(&how, &format!("{kernel}-{split}"), variables)
        };
        let (none, whole) = on_gpus("off");
        let (some, in_bands) = on_gpus("on");
        assert_eq!((none, some), ([false, false], copies), "{kernel} on {gpus}");
        assert!(
            in_bands == whole,
            "{kernel} on {gpus} GPUs differs in bands"
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
    let new = "--kernel bits --size 75x41 --instances 2 --generations-per-round 3";
    for (how, is_split) in [
        (format!("{new} --split on"), true),
        (String::new(), false),
        ("--split on".into(), true),
    ] {
        let (split, in_bands) = go_on(&how, "bands");
        let (none, whole) = go_on(&how.replace("--split on", ""), "whole");
        assert_eq!((split, none), (is_split, false), "{how}");
        assert!(in_bands == whole, "{how}");
    }
    for file in ["new", "bands"] {
        let ended = with_driver(folder.path(), &line("--split on", file), &[]);
        ended.refuses(3, &["only one GPU", "lattices in bands need two"]);
    }
    let on_any = with_driver(folder.path(), "run -g 1 --split on", &[]);
    on_any.refuses(2, &["--split on", "--device cuda"]);
}

#[test]
fn lattices_that_a_device_cannot_hold_are_refused_with_the_size_that_fits() {
    let memory = &[("FAKE_CUDA_MEMORY", "16777216"), ("FAKE_CUDA_DEVICES", "2")];
    #[rustfmt::skip]
    let rows = [
        ("--size 65536x1024 --kernel bits --instances 3", "lattices in bits"),
        ("--size 4096 --kernel planar --instances 3", "planar words"),
        ("--size 2048 --kernel global --instances 3", "4 bytes per cell"),
        ("--size 1024 --kernel global --instances 16", "--kernel bits"),
        ("--size 4096 --kernel bits --split on", "lattices in bits"),
    ];
    for (line, what) in rows {
        let is_split = line.contains("--split on");
        let memory = &memory[..1 + usize::from(is_split)];
        let line = format!("run -g 0 --device cuda {line}");
        let said = fails(&line, memory, &["out of device memory: ", what]).stderr;
        let size = said.split("smaller --size (").nth(1).expect(&said);
        let size = size.split(' ').next().unwrap();
        let given = line.split(' ').nth(6).unwrap();
        succeeds(&line.replace(given, size), memory);
    }
}

#[test]
fn a_batch_is_one_launch_and_one_copy() {
    let folder = scratch();
    let folder = folder.path();
    for kernel in ["resident", "sync-global", "sync-shared"] {
        // Two rounds, the measures that count live cells, and each lattice brought back by itself.
        let ops = |how: &str| {
            let _ = fs::remove_dir_all(folder.join("saved"));
            let line = format!(
                "run --device cuda --kernel {kernel} --instances 5 --size 64x64 -g 12 \
                 --generations-per-round 6 --save saved {how}"
            );
            let log = log_of(folder, &line, &[]);
            let count = |op: &str| log.matches(op).count();
            let launched = count(&format!("op=life_{} ", kernel.replace('-', "_")));
            (
                (launched, count("op=pack"), count("op=d2h ")),
                saved(&folder.join("saved")),
            )
        };
        let (each, lattices) = ops("--streams per-instance");
        assert_eq!(each, (10, 5, 10));
        for (how, wanted) in [
            ("--streams one", (10, 1, 6)),
            ("--streams batch", (2, 1, 6)),
            ("--streams batch --graphs on", (2, 1, 6)),
            ("--streams batch --order depth --wait each", (2, 1, 6)),
        ] {
            assert_eq!(ops(how), (wanted, lattices.clone()), "{kernel} {how}");
        }
    }
}

#[test]
fn auto_takes_the_gpu_and_falls_back_to_the_cpu() {
    let line = "run --instances 1 --size 32x32 -g 1 --json";
    assert!(succeeds(line, &[]).contains(r#""engine":"cuda""#));
    let said = succeeds(line, &[("FAKE_CUDA_INIT_ERROR", "100")]);
    assert!(said.contains(r#""engine":"cpu""#), "{said}");
    // A GPU that opens, and then cannot load a kernel or allocate memory.
    #[rustfmt::skip]
    let faults = [
        ("cuModuleLoadDataEx:218:0:1", "a PTX JIT compilation failed"),
        ("cuModuleLoadDataEx:700:0:1:lost", "an illegal memory access"),
        ("cuMemAlloc_v2:2:0:1", "out of device memory"),
        ("cuMemHostAlloc:2:0:1", "out of"),
        ("cuStreamCreateWithPriority:999:3:1:lost", "CUDA error 999"),
    ];
    for (fault, words) in faults {
        let few = "--instances 2 --size 32x32 --kernel bits";
        for (line, on_the_cpu) in [
            (format!("run {few} -g 40 --json"), r#""engine":"cpu""#),
            (format!("--display none {few} --rounds 3"), "generation 3"),
            ("lesson conway --json".into(), r#""engine":"cpu""#),
        ] {
            // Without the ten seconds between the windows of a lesson's comparison.
            let at_once = ("LIFESTREAMS_TEST_TIMEOUT_MS", "0");
            let mut variables = vec![("FAKE_CUDA_FAULT", fault)];
            variables.extend(line.starts_with("lesson").then_some(at_once));
            let said = succeeds(&line, &variables);
            assert!(said.contains(on_the_cpu), "{fault}, {line}: {said}");
            assert!(said.contains(words), "{fault}, {line}: {said}");
            let sentence = "; the CPU computes instead";
            assert_eq!(said.matches(sentence).count(), 1, "{fault}, {line}: {said}");
        }
    }
}

#[test]
fn a_driver_that_cannot_be_used_is_named_with_the_remedy() {
    let few = "--instances 1 --size 32x32 -g 1";
    let fault = "FAKE_CUDA_FAULT";
    #[rustfmt::skip]
    let rows = [
        ("FAKE_CUDA_VERSION", "0", ["does not say which CUDA", "reinstall it"]),
        ("FAKE_CUDA_VERSION", "10020", ["too old", "update it"]),
        ("FAKE_CUDA_INIT_ERROR", "100", ["no NVIDIA GPU is visible", "nvidia-smi"]),
        ("FAKE_CUDA_INIT_ERROR", "803", ["kernel module differ", "reboot"]),
        ("FAKE_CUDA_INIT_ERROR", "34", ["libcuda_fake.so is the stub of a CUDA toolkit", "LD_LIBRARY_PATH"]),
        ("FAKE_CUDA_INIT_ERROR", "804", ["forward-compatible library /", "libcuda_fake.so; update the driver"]),
        ("FAKE_CUDA_INIT_ERROR", "999", ["libcuda_fake.so gives no reason", "nvidia-modprobe"]),
        // At the start, nothing is lost, and the memory is other programs'.
        (fault, "cuDeviceGetName:719:0:-1", ["the GPU cannot be used: cuDeviceGetName", "--device cpu"]),
        (fault, "cuDeviceGetCount:2:0:-1", ["no memory left to start (cuDeviceGetCount)", "nvidia-smi lists"]),
        (fault, "cuDevicePrimaryCtxRetain:2:0:-1", ["no memory left to start", "or use --device cpu"]),
        ("LIFESTREAMS_LIBCUDA", "/nonexistent.so", ["no NVIDIA driver is installed", "--device cpu"]),
    ];
    for (variable, value, words) in rows {
        let line = format!("run --device cuda {few}");
        let said = fails(&line, &[(variable, value)], &words).stderr;
        let wrong = ["lattice", "--instances", "CUDA 0.0"];
        assert!(!wrong.iter().any(|word| said.contains(word)), "{said}");
    }
    // A stub is passed over.
    let folder = scratch();
    let [source, stub] = ["stub.cpp", "libcuda.stub.so"].map(|name| folder.path().join(name));
    fs::write(&source, "extern \"C\" int cuInit(unsigned) { return 34; }").unwrap();
    let mut compiler = Command::new("g++");
    compiler
        .args(["-shared", "-fPIC", "-o"])
        .args([&stub, &source]);
    assert!(compiler.status().unwrap().success());
    let line = format!("run --device cuda {few}");
    let libraries = |next: &Path| format!("{}:{}", stub.display(), next.display());
    let with_fake = libraries(&crate::driver::library());
    succeeds(&line, &[("LIFESTREAMS_LIBCUDA", &with_fake)]);
    let alone = libraries(Path::new("/nowhere.so"));
    let words = ["stub.so is the stub of a CUDA toolkit"];
    fails(&line, &[("LIFESTREAMS_LIBCUDA", &alone)], &words);
    for ordinal in ["7", "4294967295"] {
        let words = format!("no CUDA device {ordinal}");
        fails(
            &format!("run --device cuda:{ordinal} {few}"),
            &[],
            &[&words],
        );
    }
}

#[test]
fn a_lost_context_does_not_end_the_session() {
    let line = "--display none --rounds 200 --instances 4 --size 48x48 --kernel bits";
    let after = ("FAKE_CUDA_FAIL_AFTER", "300");
    for (recovers, place) in [("1", "on the GPU"), ("0", "on the CPU")] {
        let said = succeeds(line, &[after, ("FAKE_CUDA_RECOVERS", recovers)]);
        for words in ["the session continues from generation", place] {
            assert!(said.contains(words), "{said}");
        }
    }
}

/// Whoever looks at streams has all connections, unless something else was said; whoever only
/// wants speed has the driver's own number.
#[test]
fn the_driver_starts_with_the_connections_that_are_wanted() {
    let folder = scratch();
    for (line, set, wanted) in [
        ("--display none --rounds 2", None, "32"),
        ("--display none --rounds 2", Some("4"), "4"),
        ("--display none --rounds 2 --connections 8", Some("4"), "8"),
        ("run -g 2 --trace t", None, "32"),
        ("run -g 2", None, "unset"),
    ] {
        let few = format!("{line} --device cuda --instances 2 --size 32x32");
        let set: Vec<_> = set
            .map(|set| ("CUDA_DEVICE_MAX_CONNECTIONS", set))
            .into_iter()
            .collect();
        let log = log_of(folder.path(), &few, &set);
        let first = log.lines().next().unwrap();
        assert_eq!(first, format!("connections={wanted}"), "{line} {set:?}");
    }
}

/// A kernel that iterates the generations itself counts them in an `int`.
#[test]
fn generations_beyond_an_int_are_several_launches() {
    let folder = scratch();
    for kernel in ["resident", "sync-global", "sync-shared"] {
        for generations in [i64::from(u32::MAX), 1 << 31, 7] {
            let line = format!(
                "run --device cuda --kernel {kernel} --instances 1 --size 64x64 -g {generations} \
                 --generations-per-round {generations}"
            );
            let log = log_of(folder.path(), &line, &[("FAKE_CUDA_DRY", "1")]);
            let launch = format!("op=life_{}(", kernel.replace('-', "_"));
            let stepped: Vec<i64> = log
                .split(&launch)
                .skip(1)
                .map(|rest| rest[..rest.find(')').unwrap()].parse().unwrap())
                .collect();
            assert!(
                stepped.iter().all(|&count| count > 0),
                "{kernel}: {stepped:?}"
            );
            assert_eq!(stepped.iter().sum::<i64>(), generations, "{kernel}");
        }
    }
}

#[test]
fn any_code_that_is_not_about_one_call_alone_ends_the_context() {
    let line = "--display none --rounds 200 --instances 2 --size 48x48 --kernel bits";
    for code in [46, 226, 999, 1234] {
        let fault = format!("cuLaunchKernel:{code}:300:1");
        let said = succeeds(line, &[("FAKE_CUDA_FAULT", &fault)]);
        let named = format!("CUDA error {code}");
        for words in ["the session continues from generation", &named] {
            assert!(said.contains(words), "{code}: {said}");
        }
    }
    // Before there is anything that could be lost.
    let retained = &[("FAKE_CUDA_FAULT", "cuDevicePrimaryCtxRetain:46:0:-1")];
    let few = "--instances 1 --size 32x32 -g 1 --json";
    let words = "the GPU cannot be used";
    fails(&format!("run --device cuda {few}"), retained, &[words]);
    let said = succeeds(&format!("run --device auto {few}"), retained);
    for words in [r#""engine":"cpu""#, "cannot be used"] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_gpu_that_is_too_old_is_left_alone_or_refused() {
    let few = "--instances 1 --size 32x32";
    let with = |capability| [("FAKE_CUDA_CAPABILITY", capability)];
    let words = "compute capability 3.7, and 5.0 or newer is needed";
    let line = format!("run --device cuda {few} -g 1 --json");
    fails(&line, &with("37"), &[words]);
    let auto = format!("run --device auto {few} -g 1 --json");
    for (line, capability, words) in [
        (auto.as_str(), "37", [r#""engine":"cpu""#, "5.0 or newer"]),
        (&auto, "50", [r#""engine":"cuda""#; 2]),
        (
            &format!("--display none --rounds 2 {few}"),
            "37",
            ["Computing on the CPU"; 2],
        ),
        ("devices", "37", ["Fake GPU 0", "5.0 or newer"]),
    ] {
        let said = succeeds(line, &with(capability));
        for words in words {
            assert!(said.contains(words), "{line}: {said}");
        }
        assert!(!said.contains("compute on Fake GPU"), "{said}");
    }
}
