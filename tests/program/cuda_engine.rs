//! The CUDA engine's host code, over a driver of the tests' own (`tests/driver`): streams,
//! events, slots, graphs and errors run for real; the kernels are the committed `.cu` files
//! compiled as C++.

use std::path::Path;
use std::process::{Command, Output};

use engine::kernels::KERNELS;
use life::Size;

/// The program over the fake driver.
fn lifestreams(arguments: &str) -> Command {
    let mut command = Command::new(crate::common::PROGRAM);
    command.args(arguments.split_whitespace());
    command.env("LIFESTREAMS_LIBCUDA", crate::driver::library());
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command
}

fn run(command: &mut Command) -> Output {
    command.output().expect("the program starts")
}

fn succeeds(command: &mut Command) -> String {
    let output = run(command);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap() + &stderr
}

/// The exit code, and the one sentence on stderr.
fn fails(command: &mut Command) -> (i32, String) {
    let output = run(command);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!stderr.contains("panicked"), "{stderr}");
    (output.status.code().expect("an exit code"), stderr)
}

fn saved(folder: &Path) -> Vec<String> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect()
}

#[test]
fn every_kernel_agrees_with_the_reference_on_one_device_and_on_two() {
    for (device, count) in [("cuda", 2), ("cuda:1", 2)] {
        let mut command = lifestreams(&format!("verify --small --device {device}"));
        let said = succeeds(command.env("FAKE_CUDA_DEVICES", count.to_string()));
        assert!(said.contains("everything agrees"), "{said}");
    }
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
        let folder = tempfile::tempdir().unwrap();
        let save = |how: &str, name: &str| {
            let to = folder.path().join(name);
            succeeds(&mut lifestreams(&format!(
                "{common} {how} --save {}",
                to.display()
            )));
            saved(&to)
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
            let got = save(&format!("--device cuda {how}"), &i.to_string());
            assert!(got == want, "{} {how} differs from the CPU", kernel.name);
        }
    }
}

/// So many launches that each GPU has a thread that issues them.
#[test]
fn several_gpus_step_as_the_cpu_does() {
    let folder = tempfile::tempdir().unwrap();
    let save = |how: &str, gpus: &str| {
        let to = folder.path().join(gpus);
        let line = format!(
            "run --kernel bits --instances 5 --size 75x41 --rule B36/S23 -g 150 \
             --generations-per-round 60 {how} --save {}",
            to.display()
        );
        succeeds(lifestreams(&line).env("FAKE_CUDA_DEVICES", gpus));
        saved(&to)
    };
    let want = save("--device cpu", "1");
    for (how, gpus) in [("", "2"), ("--streams one", "3"), ("--wait each", "4")] {
        let got = save(&format!("--device cuda {how}"), gpus);
        assert!(got == want, "{gpus} GPUs {how} differ from the CPU");
    }
}

#[test]
fn lattices_that_a_device_cannot_hold_are_refused_with_the_size_that_fits() {
    for (line, what) in [
        (
            "--size 65536x1024 --kernel bits --instances 3",
            "lattices in bits",
        ),
        ("--size 4096 --kernel planar --instances 3", "planar words"),
        (
            "--size 2048 --kernel global --instances 3",
            "4 bytes per cell",
        ),
    ] {
        let with_memory = |line: &str| {
            let mut command = lifestreams(&format!("run -g 0 --device cuda {line}"));
            command.env("FAKE_CUDA_MEMORY", (16 << 20).to_string());
            command
        };
        let (code, said) = fails(&mut with_memory(line));
        assert_eq!(code, 3, "{said}");
        assert!(said.contains("out of device memory: "), "{said}");
        assert!(said.contains(what), "{said}");
        let size = said.split("smaller --size (").nth(1).expect(&said);
        let size = size.split(' ').next().unwrap();
        let given = line.split(' ').nth(1).unwrap();
        succeeds(&mut with_memory(&line.replace(given, size)));
    }
}

#[test]
fn a_batch_is_one_launch_and_one_copy() {
    let folder = tempfile::tempdir().unwrap();
    for kernel in ["resident", "sync-global", "sync-shared"] {
        // Two rounds, the measures that count live cells, and each lattice brought back by itself.
        let ops = |how: &str| {
            let saved = folder.path().join("saved");
            let log = folder.path().join("log");
            let _ = std::fs::remove_dir_all(&saved);
            let run = format!(
                "run --device cuda --kernel {kernel} --instances 5 --size 64x64 -g 12 \
                 --generations-per-round 6 --save {} {how}",
                saved.display()
            );
            let _ = std::fs::remove_file(&log);
            succeeds(lifestreams(&run).env("FAKE_CUDA_LOG", &log));
            let log = std::fs::read_to_string(&log).unwrap();
            let count = |op: &str| log.matches(op).count();
            let launched = count(&format!("op=life_{} ", kernel.replace('-', "_")));
            (
                (launched, count("op=pack"), count("op=d2h ")),
                self::saved(&saved),
            )
        };
        let (each, lattices) = ops("--streams per-instance");
        assert_eq!(each, (10, 5, 10));
        for (how, wanted) in [
            ("--streams one", (10, 5, 10)),
            ("--streams batch", (2, 1, 6)),
            ("--streams batch --graphs on", (2, 1, 6)),
            ("--streams batch --order depth --wait each", (2, 1, 6)),
        ] {
            assert_eq!(ops(how), (wanted, lattices.clone()), "{kernel} {how}");
        }
    }
}

#[test]
fn instances_are_spread_over_all_devices() {
    let folder = tempfile::tempdir().unwrap();
    let save = |device: &str, devices: &str| {
        let to = folder.path().join(format!("{device}{devices}"));
        let arguments = format!(
            "run --device {device} --kernel bits --instances 5 --size 64x64 -g 9 --json --save {}",
            to.display()
        );
        let said = succeeds(lifestreams(&arguments).env("FAKE_CUDA_DEVICES", devices));
        (said, saved(&to))
    };
    let (_, one) = save("cpu", "1");
    let (said, three) = save("cuda", "3");
    assert!(one == three);
    assert_eq!(
        said.matches(" + ").count(),
        2,
        "three devices are named: {said}"
    );
}

#[test]
fn auto_takes_the_gpu_and_falls_back_to_the_cpu() {
    let arguments = "run --instances 1 --size 32x32 -g 1 --json";
    assert!(succeeds(&mut lifestreams(arguments)).contains(r#""engine":"cuda""#));
    let mut broken = lifestreams(arguments);
    assert!(succeeds(broken.env("FAKE_CUDA_INIT_ERROR", "100")).contains(r#""engine":"cpu""#));
    // A GPU that opens, and then cannot load a kernel or allocate memory.
    for (fault, words) in [
        ("cuModuleLoadDataEx:218:0:1", "a PTX JIT compilation failed"),
        (
            "cuModuleLoadDataEx:700:0:1:lost",
            "an illegal memory access",
        ),
        ("cuMemAlloc_v2:2:0:1", "out of device memory"),
        ("cuMemHostAlloc:2:0:1", "out of"),
        ("cuStreamCreateWithPriority:999:3:1:lost", "CUDA error 999"),
    ] {
        let few = "--instances 2 --size 32x32 --kernel bits";
        for (line, on_the_cpu) in [
            (format!("run {few} -g 40 --json"), r#""engine":"cpu""#),
            (format!("--display none {few} --rounds 3"), "generation 3"),
            ("lesson conway --json".into(), r#""engine":"cpu""#),
        ] {
            let said = succeeds(lifestreams(&line).env("FAKE_CUDA_FAULT", fault));
            assert!(said.contains(on_the_cpu), "{fault}, {line}: {said}");
            assert!(said.contains(words), "{fault}, {line}: {said}");
            let sentence = "; the CPU computes instead";
            assert_eq!(said.matches(sentence).count(), 1, "{fault}, {line}: {said}");
        }
    }
}

#[test]
fn a_driver_that_cannot_be_used_is_named_with_the_remedy() {
    let arguments = "run --device cuda --instances 1 --size 32x32 -g 1";
    for (variable, value, words) in [
        (
            "FAKE_CUDA_VERSION",
            "0",
            ["does not say which CUDA", "reinstall it"],
        ),
        ("FAKE_CUDA_VERSION", "10020", ["too old", "update it"]),
        (
            "FAKE_CUDA_INIT_ERROR",
            "100",
            ["no NVIDIA GPU is visible", "nvidia-smi"],
        ),
        (
            "FAKE_CUDA_INIT_ERROR",
            "803",
            ["kernel module differ", "reboot"],
        ),
        (
            "FAKE_CUDA_INIT_ERROR",
            "999",
            ["does not start", "--device cpu"],
        ),
        // At the start, nothing is lost, and the memory is other programs'.
        (
            "FAKE_CUDA_FAULT",
            "cuDeviceGetName:719:0:-1",
            ["the GPU cannot be used: cuDeviceGetName", "--device cpu"],
        ),
        (
            "FAKE_CUDA_FAULT",
            "cuDeviceGetCount:2:0:-1",
            [
                "no memory left to start (cuDeviceGetCount)",
                "nvidia-smi lists",
            ],
        ),
        (
            "FAKE_CUDA_FAULT",
            "cuDevicePrimaryCtxRetain:2:0:-1",
            ["no memory left to start", "or use --device cpu"],
        ),
        (
            "LIFESTREAMS_LIBCUDA",
            "/nonexistent.so",
            ["no NVIDIA driver is installed", "--device cpu"],
        ),
    ] {
        let (code, said) = fails(lifestreams(arguments).env(variable, value));
        assert_eq!(code, 3, "{said}");
        assert!(
            words.iter().all(|word| said.contains(word)),
            "{variable}={value}: {said}"
        );
        let wrong = ["lattice", "--instances", "CUDA 0.0"];
        assert!(!wrong.iter().any(|word| said.contains(word)), "{said}");
    }
    let (code, said) = fails(&mut lifestreams("run --device cuda:7 --instances 1 -g 1"));
    assert!(code == 3 && said.contains("no CUDA device 7"), "{said}");
}

#[test]
fn out_of_device_memory_is_a_sentence() {
    let arguments = "run --device cuda --kernel global --size 1024x1024 --instances 16 -g 1";
    let (code, said) = fails(lifestreams(arguments).env("FAKE_CUDA_MEMORY", "20000000"));
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("out of device memory") && said.contains("--kernel bits"),
        "{said}"
    );
}

#[test]
fn a_lost_context_does_not_end_the_session() {
    let arguments = "--display none --rounds 200 --instances 4 --size 48x48 --kernel bits";
    for (recovers, place) in [("1", "on the GPU"), ("0", "on the CPU")] {
        let mut command = lifestreams(arguments);
        command
            .env("FAKE_CUDA_FAIL_AFTER", "300")
            .env("FAKE_CUDA_RECOVERS", recovers);
        let said = succeeds(&mut command);
        assert!(
            said.contains("the session continues from generation"),
            "{said}"
        );
        assert!(said.contains(place), "{said}");
    }
}

/// Whoever looks at streams has all connections, unless something else was said; whoever only
/// wants speed has the driver's own number.
#[test]
fn the_driver_starts_with_the_connections_that_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let said = |arguments: &str, set: Option<&str>| {
        let log = folder.path().join("log");
        let _ = std::fs::remove_file(&log);
        let few = format!("{arguments} --device cuda --instances 2 --size 32x32");
        let mut command = lifestreams(&few);
        command
            .env("FAKE_CUDA_LOG", &log)
            .env_remove("CUDA_DEVICE_MAX_CONNECTIONS");
        if let Some(set) = set {
            command.env("CUDA_DEVICE_MAX_CONNECTIONS", set);
        }
        succeeds(&mut command);
        let log = std::fs::read_to_string(&log).unwrap();
        log.lines().next().unwrap().to_string()
    };
    let trace = format!("run -g 2 --trace {}", folder.path().join("t").display());
    assert_eq!(said("--display none --rounds 2", None), "connections=32");
    assert_eq!(
        said("--display none --rounds 2", Some("4")),
        "connections=4"
    );
    assert_eq!(
        said("--display none --rounds 2 --connections 8", Some("4")),
        "connections=8"
    );
    assert_eq!(said(&trace, None), "connections=32");
    assert_eq!(said("run -g 2", None), "connections=unset");
}

/// A kernel that iterates the generations itself counts them in an `int`.
#[test]
fn generations_beyond_an_int_are_several_launches() {
    let folder = tempfile::tempdir().unwrap();
    for kernel in ["resident", "sync-global", "sync-shared"] {
        for generations in [i64::from(u32::MAX), 1 << 31, 7] {
            let log = folder.path().join("log");
            let _ = std::fs::remove_file(&log);
            let arguments = format!(
                "run --device cuda --kernel {kernel} --instances 1 --size 64x64 -g {generations} \
                 --generations-per-round {generations}"
            );
            let mut command = lifestreams(&arguments);
            succeeds(command.env("FAKE_CUDA_LOG", &log).env("FAKE_CUDA_DRY", "1"));
            let log = std::fs::read_to_string(&log).unwrap();
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
fn an_ordinal_without_a_successor_is_refused_in_a_sentence() {
    let (code, said) = fails(&mut lifestreams(
        "run --device cuda:4294967295 --instances 1 --size 32x32 -g 1",
    ));
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("no CUDA device 4294967295"), "{said}");
}

#[test]
fn any_code_that_is_not_about_one_call_alone_ends_the_context() {
    for code in [46, 226, 999, 1234] {
        let mut command =
            lifestreams("--display none --rounds 200 --instances 2 --size 48x48 --kernel bits");
        let said = succeeds(command.env("FAKE_CUDA_FAULT", format!("cuLaunchKernel:{code}:300:1")));
        assert!(
            said.contains("the session continues from generation"),
            "{code}: {said}"
        );
        assert!(said.contains(&format!("CUDA error {code}")), "{said}");
    }
    // Before there is anything that could be lost.
    let retained = ("FAKE_CUDA_FAULT", "cuDevicePrimaryCtxRetain:46:0:-1");
    let run = |device: &str| {
        let arguments = format!("run --device {device} --instances 1 --size 32x32 -g 1 --json");
        let mut command = lifestreams(&arguments);
        command.env(retained.0, retained.1);
        command
    };
    let (code, said) = fails(&mut run("cuda"));
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("the GPU cannot be used"), "{said}");
    let said = succeeds(&mut run("auto"));
    assert!(
        said.contains(r#""engine":"cpu""#) && said.contains("cannot be used"),
        "{said}"
    );
}

#[test]
fn a_gpu_that_is_too_old_is_left_alone_or_refused() {
    let with = |arguments: &str, capability: &str| {
        let mut command = lifestreams(arguments);
        command.env("FAKE_CUDA_CAPABILITY", capability);
        command
    };
    let run =
        |device: &str| format!("run --device {device} --instances 1 --size 32x32 -g 1 --json");
    let (code, said) = fails(&mut with(&run("cuda"), "37"));
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("compute capability 3.7, and 5.0 or newer is needed"),
        "{said}"
    );
    let said = succeeds(&mut with(&run("auto"), "37"));
    assert!(
        said.contains(r#""engine":"cpu""#) && said.contains("5.0 or newer"),
        "{said}"
    );
    let said = succeeds(&mut with(&run("auto"), "50"));
    assert!(said.contains(r#""engine":"cuda""#), "{said}");
    let said = succeeds(&mut with(
        "--display none --rounds 2 --instances 1 --size 32x32",
        "37",
    ));
    assert!(said.contains("Computing on the CPU"), "{said}");
    let said = succeeds(&mut with("devices", "37"));
    assert!(
        said.contains("Fake GPU 0") && said.contains("5.0 or newer"),
        "{said}"
    );
    assert!(!said.contains("compute on Fake GPU"), "{said}");
}
