//! Kernels of a user's own by the program itself: exit codes and sentences for what cannot be checked, and
//! for what is wrong.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::common::{lifestreams, lifestreams_with, scratch};

/// A kernel with this body.
fn kernel(body: &str) -> String {
    format!(
        "// from: 01_global\n\
         #include \"life.cuh\"\n\
         extern \"C\" __global__ void life_global(const int* from, int* to, int width, int height, u32 rule)\n\
         {{\n{body}\n}}\n"
    )
}

const CHECK: &str = "kernel check mine.cu --device cpu";

#[test]
fn what_cannot_be_read_is_said_and_ends_with_2() {
    let folder = scratch();
    let path = folder.path().join("mine.cu");
    lifestreams(folder.path(), CHECK).refuses(2, &["mine.cu", "cannot be read"]);
    File::create(&path).unwrap().set_len(100 << 20).unwrap();
    lifestreams(folder.path(), CHECK).refuses(2, &["mine.cu", "more than 1 MiB"]);
    fs::write(&path, [0xff, 0xfe]).unwrap();
    lifestreams(folder.path(), CHECK).refuses(2, &["mine.cu: the source is not a text"]);
    fs::write(&path, "int x;").unwrap();
    lifestreams(folder.path(), CHECK).refuses(2, &["add one, such as // from: 02_shared"]);
    fs::write(&path, "\n// from: 99_none\n").unwrap();
    lifestreams(folder.path(), CHECK).refuses(2, &["line 2", "'99_none'", "01_global"]);
    fs::write(&path, kernel("")).unwrap();
    let ptx = format!("{CHECK} --ptx");
    lifestreams(folder.path(), &ptx).refuses(2, &["--ptx needs a GPU"]);
    lifestreams(folder.path(), "kernel new mine.cu").refuses(2, &["exists already"]);
}

#[test]
fn what_is_wrong_is_said_and_ends_with_1() {
    let folder = scratch();
    let spaced = kernel("    int x;\u{a0}// é");
    let declared =
        |text: &str| kernel("").replace("\n{", &format!("\n{{\nextern __shared__ {text} tile[];"));
    let twice = kernel("") + kernel("").replace("// from: 01_global\n", "").as_str();
    for (source, said) in [
        (
            kernel("    int x = nothing;"),
            "mine.cu: does not compile: line 5, column 13: 'nothing' was not declared",
        ),
        (
            format!("\u{feff}{spaced}"),
            "mine.cu: does not compile: line 5, column 11: the code has a space that is not a plain one (U+00A0)",
        ),
        (
            kernel("").replace('"', "“"),
            "mine.cu: does not compile: line 2, column 10: the code has the typographic quotation mark “ (U+201C)",
        ),
        (
            declared("extern __shared__ int"),
            "mine.cu: does not compile: line 5, column ",
        ),
        (
            declared("int\n#include \"../life.cuh\"\n").replace("#include \"life.cuh\"\n", ""),
            "mine.cu: does not compile: line ",
        ),
        (
            kernel("").replace("life_global", "mine"),
            "mine.cu: there is no kernel life_global",
        ),
        (twice, "life_global is defined twice, in lines 3 and 8"),
        (
            kernel("").replace("extern \"C\" ", ""),
            "line 3: life_global is not extern \"C\"",
        ),
        (
            kernel("    if (threadIdx.x < 7) __syncthreads();"),
            "threads reach __syncthreads()",
        ),
        (
            kernel("    for (volatile int i = 0; i >= 0; i = i & 1) {}"),
            "did not finish within",
        ),
        (kernel(""), "not written instead of"),
    ] {
        fs::write(folder.path().join("mine.cu"), &source).unwrap();
        // What never ends is given a second.
        let little = [("LIFESTREAMS_TEST_TIMEOUT_MS", "1000")];
        let limits: &[_] = if said.contains("finish") {
            &little
        } else {
            &[]
        };
        lifestreams_with(folder.path(), limits, CHECK).refuses(1, &[said]);
    }
}

#[test]
fn without_a_compiler_or_a_gpu_the_remedy_is_said_and_it_ends_with_3() {
    let folder = scratch();
    fs::write(folder.path().join("mine.cu"), kernel("")).unwrap();
    let cxx = folder.path().join("g++");
    let script = |text: &str| {
        fs::write(&cxx, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&cxx, Permissions::from_mode(0o755)).unwrap();
    };
    // Run from another folder than this one.
    let named = [("CXX", "./g++")];
    script("cd \"${0%/*}\" && echo > used; cd - && exec c++ \"$@\"");
    lifestreams_with(folder.path(), &named, CHECK).refuses(1, &["not written instead of"]);
    assert!(folder.path().join("used").exists());
    script("echo no assembler >&2; exit 1");
    let said = ["g++ does not compile the emulator: does not compile: no assembler; set CXX"];
    lifestreams_with(folder.path(), &named, CHECK).refuses(3, &said);
    fs::set_permissions(&cxx, Permissions::from_mode(0o644)).unwrap();
    let nothing = [("PATH", folder.path().to_str().unwrap()), ("CXX", "")];
    let with = |line| lifestreams_with(folder.path(), &nothing, line);
    with(CHECK).refuses(3, &["apt-get install g++"]);
    let no_gpu = [("LIFESTREAMS_LIBCUDA", "/nowhere/libcuda.so.1")];
    lifestreams_with(
        folder.path(),
        &no_gpu,
        "kernel check mine.cu --device cuda:0",
    )
    .refuses(3, &["NVIDIA"]);
    let ended = with("devices").succeeds();
    for said in ["  for a GPU: ", "none: apt-get install g++"] {
        assert!(ended.stdout.contains(said), "{ended:?}");
    }
}

#[test]
fn a_kernel_that_is_right_differs_from_its_rung_by_what_was_changed() {
    let folder = scratch();
    lifestreams(folder.path(), "kernel new mine.cu --from 01_global").done();
    let path = folder.path().join("mine.cu");
    let source = fs::read_to_string(&path).unwrap();
    fs::write(&path, source + "// mine\n").unwrap();
    let ended = lifestreams(folder.path(), &format!("{CHECK} --diff")).done();
    for said in [
        "--- 01_global\n+++ mine.cu\n",
        "\n+// mine\n",
        "mine.cu: right in all 60 cases",
    ] {
        assert!(ended.stdout.contains(said), "{ended:?}");
    }
    let ended = lifestreams(folder.path(), &format!("{CHECK} --json")).done();
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (&report["is_right"], &report["cases"]),
        (&true.into(), &60.into())
    );
    assert_eq!(report["checked_by"], "emulator");
    assert!(report["diff"].as_str().unwrap().ends_with("+// mine\n"));
}
