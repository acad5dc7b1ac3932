//! Whatever is wrong with the input, the arguments or the machine: one sentence that says so and
//! what to do, the documented exit code, and nothing half written.
//!
//! 2: the input or the arguments are wrong. 3: the machine lacks something.

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use crate::common::{
    Ended, PROGRAM, command, lifestreams, lifestreams_with, names, needs, program, run, scratch,
    signal,
};

/// `run` with a pattern file of these bytes.
fn with_pattern(bytes: &[u8]) -> Ended {
    let folder = scratch();
    fs::write(folder.path().join("file.rle"), bytes).unwrap();
    let ended = lifestreams(folder.path(), "run -g 1 --pattern file.rle --save out");
    assert_eq!(names(folder.path()), ["file.rle"], "nothing is written");
    ended
}

#[test]
fn a_flaw_in_a_pattern_file_is_named_with_its_place_and_remedy() {
    #[rustfmt::skip]
    let rows = [
        ("x = 3, y = 3\n1000000000000o!", ["line 2, column 1", "a smaller pattern"]),
        ("x = 3, y = 3\n99999999999999999999999999o!", ["line 2, column 1", "a smaller pattern"]),
        ("x = 3, y = 3\nbo16777215b2o!", ["line 2, column 12", "a smaller pattern"]),
        ("x = 3, y = 3\n16777216$o!", ["line 2, column 10", "a smaller pattern"]),
        ("x = a, y = 3\no!", ["line 1, column 5", "a whole number"]),
        ("x = 3\no!", ["line 1", "lacks y"]),
        ("x = 3, x = 3, y = 3\no!", ["line 1, column 8", "x = WIDTH, y = HEIGHT"]),
        ("x = 3, y = 3\nbo$\n3oz!", ["line 3, column 3", "cells are b (dead) and o (alive)"]),
        ("x = 3, y = 3, rule = WireWorld\nA!", ["line 1", "write it as B3/S23"]),
        ("#r 345/3/6\nx = 3, y = 3\no!", ["line 1, column 4", "Generations"]),
        ("x = 3, y = 3, rule = B3/S29\no!", ["line 1", "write it as B3/S23"]),
        ("x = 3, y = 3, rule = B3/S23:P30,20\no!", ["'P30,20' is no torus", ":T100,100"]),
        ("x = 3, y = 3, rule = B3/S23:T0,20\no!", ["'T0,20' is no torus", ":T100,100"]),
        ("x = 3, y = 3, rule = B3/S23:T16777217,1\no!", ["the torus", "from 1 to 16777216"]),
        ("x = 3, y = 3, rule = B3/S23:T16777216,16777216\no!", ["the torus", "at most 2^36 cells"]),
        ("x = 9, y = 9, rule = B3/S23:T8,8\n9o!", ["9x1 cells", "use --size 18x8 --kernel auto"]),
        ("", ["it is 0 bytes long", "name a pattern file"]),
        ("\n", ["line 2, column 1", "without a header"]),
        ("#C nothing but comments\n#\n\n", ["line 4", "without a header"]),
        ("hello$2bo$3o!", ["line 1, column 1", "not an RLE pattern"]),
        ("!Name: plain text\n.O.\n..z\nOOO\n", ["line 3, column 3", "O (alive), and a comment"]),
        ("#Life 1.05\n#P 1\n***\n", ["line 2, column 5", "such as '#P -1 -1'"]),
        ("#Life 1.06\n0 0\n16777216 0\n", ["line 3, column 1", "a smaller pattern"]),
        ("[M2] (golly 3.4)\n#R B3/S23\n*$\n4 0 0 0 2\n", ["line 4, column 9", "fetch it again"]),
        ("[M2]\n1 0 1 256 0\n", ["line 2, column 7", "a cell's state must be from 0 to 255"]),
        ("[M2]\n4 0 0 0\n", ["line 2, column 8", "a node of five numbers"]),
        ("[M2]\n63 0 0 0 0\n", ["line 2, column 1", "from 1 to 62"]),
        ("[M2]\n*$\n6 1 0 0 0\n", ["line 3, column 3", "must be of level 5"]),
        ("[M2]\n*********$\n", ["line 2, column 9", "more than 8 x 8"]),
        ("[M2]\n**b$\n", ["line 2, column 3", "unknown character 'b'"]),
        ("#Life 1.06\n17\n", ["line 2, column 3", "the column and the row of a live cell"]),
        ("#Life 1.06\n0 0\n-16777300 0\n", ["line 3", "lie more than 16777216 cells apart"]),
        ("#Life 1.05\n**.a\n", ["line 2, column 4", "unknown character 'a'"]),
        ("#Life 2.0\n*\n", ["line 1, column 1", "must be '#Life 1.05' or"]),
        ("!\nO O\n", ["line 2, column 2", "unknown byte 0x20"]),
        ("\u{1b}[31mred\u{7}", ["line 1, column 1", "not an RLE pattern"]),
        ("x = 3, y = 3, rule = \u{1b}[31mred\u{7}\no!", ["line 1", "write it as B3/S23"]),
    ];
    for (text, words) in rows {
        let words = ["file.rle", words[0], words[1]];
        with_pattern(text.as_bytes()).refuses(2, &words);
    }
}

#[test]
fn what_is_no_readable_file_is_named_with_its_remedy() {
    needs("mkfifo", "coreutils");
    let folder = scratch();
    let folder = folder.path();
    fs::create_dir(folder.join("folder")).unwrap();
    let made = Command::new("mkfifo")
        .arg(folder.join("fifo"))
        .status()
        .unwrap();
    assert!(made.success());
    std::os::unix::fs::symlink("nowhere", folder.join("link")).unwrap();
    std::os::unix::fs::symlink("loop", folder.join("loop")).unwrap();
    fs::write(folder.join("file"), "x = 1, y = 1\no!").unwrap();
    for (name, words) in [
        ("missing", "there is no such file; check its name"),
        ("missing/a.rle", "there is no such file; check its name"),
        ("link", "there is no such file; check its name"),
        ("loop", "try another file"),
        ("file/a.rle", "try another file"),
        ("folder", "it is a folder; name a pattern file"),
        ("fifo", "not a regular file; name a pattern file"),
        ("/dev/zero", "not a regular file; name a pattern file"),
        // Regular by its kind, but whoever reads it waits for the kernel's next message.
        ("/proc/kmsg", "it is 0 bytes long; name a pattern file"),
    ] {
        let ended = lifestreams(folder, &format!("run -g 1 --pattern {name}"));
        ended.refuses(2, &[name, words]);
    }
    // A name of nothing, as of a variable that is not set, stands for nothing.
    let mut nameless = program(folder);
    let ended = run(nameless.args(["run", "-g", "1", "--pattern", ""]));
    ended.refuses(2, &["--pattern", "a value is required"]);
}

/// The program as a user who is not root, in this folder, which that user can read.
fn as_nobody(folder: &Path) -> Command {
    if !is_root() {
        return program(folder);
    }
    needs("setpriv", "util-linux");
    // Where the program was built may be closed to others.
    let own = folder.join("program");
    fs::copy(PROGRAM, &own).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    let mut setpriv = command("setpriv", folder);
    setpriv
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(own);
    setpriv
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout == b"0\n"
}

#[test]
fn what_permissions_forbid_is_said() {
    let folder = scratch();
    let path = folder.path();
    let mode = |name: &str, mode| {
        fs::set_permissions(path.join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::write(path.join("secret.rle"), "x = 1, y = 1\no!").unwrap();
    mode("secret.rle", 0);
    fs::create_dir(path.join("closed")).unwrap();
    mode("closed", 0o555);
    #[rustfmt::skip]
    let rows = [
        ("run -g 1 --pattern secret.rle", ["secret.rle", "change its permissions"]),
        ("run -g 1 --size 8x8 --save closed", ["closed", "choose another"]),
        ("run -g 1 --size 8x8 --save closed/new", ["closed", "choose another"]),
        ("snapshot --size 8x8 --window-size 64x64 -o closed/a.png", ["closed/a.png", "choose another"]),
    ];
    for (line, words) in rows {
        run(as_nobody(path).args(line.split(' '))).refuses(2, &words);
        assert!(names(&path.join("closed")).is_empty());
    }
    mode("closed", 0o755);
}

#[test]
fn places_that_cannot_be_written_are_named_and_left_as_they_were() {
    let folder = scratch();
    let folder = folder.path();
    fs::write(folder.join("file"), "old").unwrap();
    fs::create_dir(folder.join("folder.png")).unwrap();
    fs::create_dir_all(folder.join("taken/000.rle")).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(folder.join("fifo.png"))
            .status()
            .unwrap()
            .success()
    );
    let before = names(folder);
    let picture = "snapshot --size 8x8 --instances 1 --rounds 1 --window-size 64x64 -o";
    #[rustfmt::skip]
    let rows = [
        ("run -g 1 --size 8x8 --save file", ["file: it is a file, not a folder", "choose another"]),
        ("run -g 1 --size 8x8 --save file/in", ["file", "choose another"]),
        ("run -g 1 --size 8x8 --save /proc/nowhere", ["/proc/nowhere", "choose another"]),
        ("run -g 1 --size 8x8 --save taken", ["taken/000.rle", "it is a folder"]),
        (&format!("{picture} nowhere/a.png"), ["there is no folder nowhere", "create it first"]),
        (&format!("{picture} folder.png"), ["it is a folder", "name a file in it"]),
        (&format!("{picture} fifo.png"), ["it is a pipe or a device", "name a regular file"]),
        (&format!("{picture} file/a.png"), ["file is not a folder", "choose another"]),
    ];
    for (line, words) in rows {
        lifestreams(folder, line).refuses(2, &words);
        assert_eq!(names(folder), before, "{line}");
    }
    assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "old");
    assert!(
        fs::metadata(folder.join("fifo.png"))
            .unwrap()
            .file_type()
            .is_fifo()
    );
    assert_eq!(names(&folder.join("taken")), ["000.rle"]);
}

#[test]
fn a_full_disk_leaves_whole_files_or_none() {
    let folder = scratch();
    fs::create_dir(folder.path().join("disk")).unwrap();
    let line = format!(
        "ulimit -f 8; {PROGRAM} run -g 0 --size 300x300 --density 0.5 --instances 4 \
         --device cpu --save disk; code=$?; ls -A disk; exit $code"
    );
    let ended = run(command("sh", folder.path()).args(["-c", &line]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    ended.says_one_sentence(&["disk/000.rle", "choose another folder"]);
    assert_eq!(ended.stdout, "");
    // 200 KiB of a disk; one file of some 70 KiB does not fit. A namespace of its own takes
    // the disk away again whatever happens.
    let line = format!(
        "mount -t tmpfs -o size=200k none disk && {PROGRAM} run -g 0 --size 300x300 --density 0.5 \
         --instances 4 --device cpu --save disk; code=$?; ls -A disk; exit $code"
    );
    let unshared = ["--map-root-user", "--mount", "sh", "-c"];
    let ended = run(command("unshare", folder.path()).args(unshared).arg(&line));
    if ended.stderr.contains("unshare:") || ended.stderr.contains("mount:") {
        return; // no namespaces here: the limit on the size of files stands in for the disk's
    }
    assert_eq!(ended.code, Some(3), "{ended:?}");
    ended.says_one_sentence(&["the disk of disk is full; free some space"]);
    let kept: Vec<_> = ended.stdout.lines().collect();
    assert!(!kept.is_empty() && kept.len() < 4, "{ended:?}");
    assert!(
        kept.iter()
            .all(|name| name.ends_with(".rle") && !name.starts_with('.')),
        "{ended:?}"
    );
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let folder = scratch();
    #[rustfmt::skip]
    let rows = [
        ("run -g 1 --rule B9/S1", ["B9/S1", "write it as B3/S23"]),
        ("run -g 1 --rule hello", ["hello", "write it as B3/S23"]),
        ("run -g 1 --rule HiLife", ["HiLife", "did you mean HighLife?"]),
        ("run -g 1 --rule B2-a/S12", ["B2-a/S12", "isotropic non-totalistic"]),
        ("run -g 1 --rule B2/S34H", ["B2/S34H", "hexagonal"]),
        ("run -g 1 --rule 345/3/6", ["345/3/6", "Generations"]),
        ("run -g 1 --kernel nope", ["nope", "auto, global, shared, sync-global"]),
        ("run -g 1 --size 0x5", ["0x5", "from 1 to 16777216"]),
        ("run -g 1 --size 5x0", ["5x0", "from 1 to 16777216"]),
        ("run -g 1 --size 5x", ["'5x'", "WIDTHxHEIGHT"]),
        ("run -g 1 --size -5x5", ["-5", "help"]),
        ("run -g 1 --size 16777217x1", ["16777217x1", "from 1 to 16777216"]),
        ("run -g 1 --size 16777216x16777216", ["too large", "at most 2^36 cells"]),
        ("run -g 1 --size 99999999999999999999x1", ["99999999999999999999", "WIDTHxHEIGHT"]),
        ("run -g 1 --instances 0", ["'0'", "from 1 to"]),
        ("run -g 1 --instances 100000", ["'100000'", "from 1 to"]),
        ("run -g 1 --instances 18446744073709551616", ["18446744073709551616", "from 1 to"]),
        ("run -g 1 --density 1.01", ["1.01", "from 0 to 1"]),
        ("run -g 1 --density NaN", ["NaN", "from 0 to 1"]),
        ("run -g 1 --density inf", ["inf", "from 0 to 1"]),
        ("run -g 1 --seed 18446744073709551616", ["18446744073709551616", "--seed"]),
        ("run -g 1 --device gpu", ["gpu", "take auto, cpu, cuda, cuda:I or recorded"]),
        ("run -g 1 --device cuda:", ["cuda:", "take auto, cpu, cuda, cuda:I or recorded"]),
        ("run -g 1 --device cuda:-1", ["cuda:-1", "take auto, cpu, cuda, cuda:I or recorded"]),
        ("run -g 1 --streams many", ["many", "per-instance"]),
        ("run -g 1 --graphs maybe", ["maybe", "on, off"]),
        ("run -g 1 --wait never", ["never", "poll, each, all"]),
        ("run -g 1 --host-memory hot", ["hot", "pinned, pageable"]),
        ("run -g 1 --transfer view", ["draws nothing", "--transfer bits"]),
        ("run -g 1 --block 32", ["'32'", "WIDTHxHEIGHT in threads"]),
        ("run -g 1 --connections 33", ["33", "from 1 to 32"]),
        ("run -g 1 --generations-per-round 0", ["'0'", "--generations-per-round"]),
        ("run -g x", ["'x'", "--generations"]),
        ("run -g 18446744073709551616", ["18446744073709551616", "--generations"]),
        ("run", ["--generations", "--help"]),
        ("snapshot", ["--output", "--help"]),
        ("snapshot -o a.png --window-size 1x1", ["1x1", "from 64 to 8192"]),
        ("snapshot -o a.png --scale 0", ["'0'", "from 0.5 to 4"]),
        ("snapshot -o a.jpg", ["'a.jpg'", "ends in .png"]),
        ("snapshot -o a.png --blocks --graphs on", ["no block timestamps", "--graphs off"]),
        ("snapshot -o a.png --lab --show keys,ladder", ["--show takes one of", "lab, ladder"]),
        ("lesson barrier --picture a.gif", ["'a.gif'", "ends in .png"]),
        ("run -g 1 --frames 3", ["--frames", "--help"]),
        ("jump", ["jump", "--help"]),
        ("--frames -1", ["'-1'", "from 1 to"]),
        ("run -g 1 --density -0.5", ["'-0.5'", "from 0 to 1"]),
        ("--speed -1", ["--speed", "did you mean '--pace'?"]),
        ("gosper-gun", ["gosper-gun", "did you mean '--pattern gosper-gun'?"]),
        ("lesson barrier --picture nowhere/a.png", ["there is no folder nowhere", "create it first"]),
        ("bench default --write nowhere/in", ["nowhere/in", "create it first"]),
    ];
    for (line, words) in rows {
        lifestreams(folder.path(), line).refuses(2, &words);
        assert_eq!(names(folder.path()), [""; 0], "{line}");
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let folder = scratch();
    let folder = folder.path();
    for (name, text) in [
        ("small.rle", "x = 3, y = 3, rule = B3/S23:T64,32\n3o!"),
        ("other-size.rle", "x = 3, y = 3, rule = B3/S23:T32,64\n3o!"),
        ("other-rule.rle", "x = 3, y = 3, rule = B36/S23\n3o!"),
        ("wide-cells.rle", "x = 3, y = 3\n1200o!"),
        ("high.rle", "x = 3, y = 3\no1999$o!"),
        ("larger.rle", "x = 3, y = 3\n5000o4999$o!"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    #[rustfmt::skip]
    let rows = [
        ("--pattern small.rle --pattern other-size.rle", ["torus of 64x32", "choose it with --size"]),
        ("--pattern small.rle --pattern other-rule.rle", ["B36/S23", "choose it with --rule"]),
        // Size and kernel of all patterns, and both go together.
        ("--pattern wide-cells.rle", ["wide-cells.rle is 1200x1", "use --size 2400x1024"]),
        (
            "--pattern wide-cells.rle --pattern high.rle --kernel auto",
            [
                "wide-cells.rle is 1200x1",
                "use --size 2400x4000 --kernel auto",
            ],
        ),
        ("--pattern larger.rle", ["larger.rle is 5000x5000", "use --size 10000x10000"]),
        (
            "--pattern wide-cells.rle --kernel resident --size 100x100",
            [
                "wide-cells.rle is 1200x1",
                "use --size 2400x100 --kernel bits",
            ],
        ),
        ("--pattern small.rle --size 2x2", ["small.rle is 3x1", "use --size 6x2"]),
        ("--rule B3/S23:T64,32 --size 40", ["--size is 40x40", "leave one of them out"]),
        ("--rule B3/S23:P64,32", ["'P64,32' is no torus", "such as :T100,100"]),
        ("--kernel sync-shared", ["'sync-shared' supports at most 24,576 cells", "--kernel bits"]),
        ("--kernel sync-global --size 5000x5000", ["'sync-global' supports at most", "--kernel bits"]),
        (
            "--graphs on --streams default",
            [
                "default stream cannot be captured",
                "change one of the options",
            ],
        ),
        ("--graphs on --wait each", ["cannot wait inside", "change one of the options"]),
        (
            "--graphs on --host-memory pageable",
            ["need page-locked memory", "change one of the options"],
        ),
        ("--kernel bits --transfer i32", ["'bits' has no i32 cells", "change one of the options"]),
        ("--kernel bits --streams batch", ["one lattice per launch", "kernels: sync-global,"]),
        ("--kernel shared --block 7x3", ["not 7x3", "blocks of 32x8, 32x4"]),
    ];
    for (line, words) in rows {
        for command in [
            "run -g 1 --save out",
            "snapshot -o out.png",
            "--frames 1",
            "",
        ] {
            lifestreams(folder, &format!("{command} {line}")).refuses(2, &words);
            assert!(
                !["out", "out.png"].iter().any(|it| folder.join(it).exists()),
                "{command} {line}"
            );
        }
    }
}

#[test]
fn lattices_beyond_the_memory_are_refused_at_once() {
    let folder = scratch();
    #[rustfmt::skip]
    let rows = [
        ("--size 262144x262144 --instances 64 --kernel bits", "use fewer --instances"),
        ("--size 262144x262144 --instances 4096 --kernel bits", "use fewer --instances"),
        ("--size 262144x262144 --instances 16 --kernel global", "--kernel bits"),
        ("--size 16777216x4096 --instances 64 --kernel bits", "use fewer --instances"),
        ("--size 4096x4096 --instances 4096 --kernel sync-global", "--kernel bits"),
        ("--size 262144x262144 --instances 64", "--kernel bits"),
    ];
    for (line, words) in rows {
        for command in ["run -g 1", "--frames 1 --display none", "snapshot -o a.png"] {
            let ended = lifestreams(folder.path(), &format!("{command} --device cpu {line}"));
            assert_eq!(ended.code, Some(3), "{command} {line}: {ended:?}");
            assert!(ended.stderr.contains(words), "{ended:?}");
            assert!(ended.took < crate::common::TIMEOUT, "{ended:?}");
        }
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_limit_on_memory_is_met_with_a_sentence_wherever_it_lies() {
    let folder = scratch();
    // 32 MiB of bits per lattice: from where nothing fits to where all but the last piece does.
    let mut refused = 0;
    for mib in (120..=760).step_by(32) {
        let line = format!(
            "ulimit -v $(({mib} * 1024)); exec {PROGRAM} run -g 0 --size 16384x16384 --instances 1 \
             --kernel bits --device cpu"
        );
        let ended = run(command("sh", folder.path()).args(["-c", &line]));
        if ended.code == Some(0) {
            continue;
        }
        refused += 1;
        ended.refuses(3, &["out of host memory", "a smaller --size"]);
    }
    assert!((3..20).contains(&refused), "{refused}");
}

#[test]
fn a_gpu_that_is_not_there_is_no_argument_but_the_machine() {
    let folder = scratch();
    // Whatever driver this machine has, this is none.
    for line in [
        "run -g 1 --device cuda",
        "run -g 1 --device cuda:3",
        "verify --device cuda",
        "--device cuda --frames 1 --display none",
        "bench default --device cuda",
        "snapshot -o a.png --device cuda",
    ] {
        let nowhere = [("LIFESTREAMS_LIBCUDA", "/nowhere/libcuda.so")];
        let ended = lifestreams_with(folder.path(), &nowhere, line);
        assert_eq!(ended.code, Some(3), "{line}: {ended:?}");
        let last = ended.stderr.lines().last().unwrap();
        assert!(
            last.contains("no NVIDIA driver is installed here"),
            "{line}: {ended:?}"
        );
        assert!(last.contains("--device cpu"), "{line}: {ended:?}");
    }
    // A library of that name that is no driver, and one that is no library.
    fs::write(folder.path().join("text.so"), "no library").unwrap();
    for library in ["./text.so", "libc.so.6"] {
        let with =
            |line| lifestreams_with(folder.path(), &[("LIFESTREAMS_LIBCUDA", library)], line);
        with("run -g 1 --device cuda").refuses(3, &["driver"]);
        // Unasked for, it is gone without.
        with("run -g 1 --size 8x8").done();
    }
}

#[test]
fn a_drawing_gpu_that_is_not_there_is_named_with_those_that_are() {
    let folder = scratch();
    let line = "snapshot --size 8x8 --instances 1 -o a.png --adapter voodoo";
    lifestreams(folder.path(), line).refuses(2, &["'voodoo'", "available: "]);
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn with_no_graphics_driver_a_picture_is_refused_with_what_to_install() {
    let folder = scratch();
    // An empty file of a library's name is one that cannot be loaded.
    for library in ["libEGL.so.1", "libEGL.so", "libvulkan.so.1", "libvulkan.so"] {
        fs::write(folder.path().join(library), "").unwrap();
    }
    let path = [("LD_LIBRARY_PATH", folder.path().to_str().unwrap())];
    let with = |line| lifestreams_with(folder.path(), &path, line);
    let remedy = "apt-get install libvulkan1 mesa-vulkan-drivers";
    for line in [
        "snapshot --size 8x8 -o a.png",
        "bench ui --json --device cpu",
    ] {
        with(line).refuses(3, &["no graphics driver", remedy]);
    }
    assert!(!folder.path().join("a.png").exists());
    // What is here is still told.
    let ended = with("devices").succeeds();
    assert!(ended.stdout.contains("no graphics driver"), "{ended:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_error_and_no_panic() {
    let folder = scratch();
    for line in [
        "run -g 1 --size 8x8",
        "run -g 1 --size 8x8 --json",
        "devices",
        "devices --json",
        "--help",
        "--version",
        "--frames 5 --display none --size 8x8 --instances 2",
    ] {
        // `true` reads nothing; where stderr goes there too, nobody is left to be told anything.
        for (pipe, heard) in [("|", true), ("2>&1 |", false)] {
            let line = format!("{{ {PROGRAM} {line}; echo $? >code; }} {pipe} true");
            let ended = run(command("sh", folder.path()).args(["-c", &line]));
            let code = fs::read_to_string(folder.path().join("code")).unwrap();
            assert_eq!(code.trim(), "0", "{line}: {ended:?}");
            assert!(!heard || !ended.stderr.contains("panicked"), "{ended:?}");
        }
    }
    for line in [
        "run -g 1 --kernel sync-shared",
        "run -g 1 --pattern missing",
        "--display window",
    ] {
        for to in ["2>/dev/full", "2>&-", "2>&1 | true"] {
            let line = format!("{{ {PROGRAM} {line}; echo $? >code; }} {to}");
            run(command("sh", folder.path()).args(["-c", &line]));
            let code = fs::read_to_string(folder.path().join("code")).unwrap();
            assert!(["2", "3"].contains(&code.trim()), "{line}: {code}");
        }
    }
}

#[test]
fn a_full_disk_behind_stdout_is_said() {
    let folder = scratch();
    for line in [
        "run -g 1 --size 8x8 --json",
        "run -g 1 --size 8x8",
        "devices --json",
    ] {
        let line = format!("exec {PROGRAM} {line} >/dev/full");
        let ended = run(command("sh", folder.path()).args(["-c", &line]));
        ended.refuses(3, &["cannot be printed: the disk is full; "]);
    }
}

#[test]
fn a_run_that_is_stopped_saves_whole_files_and_leaves_no_other_behind() {
    let folder = scratch();
    for name in ["INT", "TERM"] {
        // A shell that runs the tests in the background has its children ignore INT.
        let mut command = command("env", folder.path());
        command.args(["--default-signal=INT", PROGRAM]);
        command.args("run -g 1000000000 --size 512x512 --device cpu --save out".split(' '));
        command.env("LIFESTREAMS_LOG", "lifestreams=debug");
        let running = crate::common::Running::start(&mut command);
        running.wait_said("stepping");
        // Twice, as `timeout` sends it.
        signal(running.id(), name);
        signal(running.id(), name);
        let ended = running.end(crate::common::TIMEOUT);
        assert_eq!(ended.code, Some(130), "{ended:?}");
        let said = "lifestreams: stopped after";
        assert!(ended.stderr.contains(said), "{ended:?}");
        assert!(!ended.stderr.contains("panicked"), "{ended:?}");
        let saved: Vec<String> = (0..16).map(|i| format!("{i:03}.rle")).collect();
        assert_eq!(names(&folder.path().join("out")), saved);
        fs::remove_dir_all(folder.path().join("out")).unwrap();
    }
}

#[test]
fn where_no_more_threads_are_given_fewer_do_or_a_sentence_says_so() {
    needs("prlimit", "util-linux");
    let folder = scratch();
    lifestreams(folder.path(), "round new mine.rhai").succeeds();
    let mut refused = 0;
    for line in [
        "run -g 1 --size 3000x3000 --kernel bits --instances 2 --device cpu",
        "--rounds 3 --size 64x64 --display none --device cpu",
        "round check mine.rhai",
    ] {
        for threads in 1..=6 {
            let program = as_nobody(folder.path());
            // The limit counts all processes of a user: root has none, so that one is made up.
            let user = if is_root() { "--reuid=61234" } else { "" };
            let words = program.get_args().filter(|word| *word != "--reuid=65534");
            let mut limited = command("prlimit", folder.path());
            limited
                .arg(format!("--nproc={threads}"))
                .arg(program.get_program());
            limited.args((!user.is_empty()).then_some(user)).args(words);
            let ended = run(limited.args(line.split(' ')));
            assert!(!ended.stderr.contains("panicked"), "{ended:?}");
            if ended.code != Some(0) {
                refused += 1;
                assert_eq!(ended.code, Some(3), "{ended:?}");
                assert!(
                    ended.stderr.contains("cannot start a thread; raise"),
                    "{ended:?}"
                );
            }
        }
    }
    assert!(refused > 0);
}
