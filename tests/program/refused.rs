//! Whatever is wrong with the input, the arguments or the machine: one sentence that says so and
//! what to do, the documented exit code, and nothing half written. All that a parser refuses, or that files and
//! folders cannot be, is in the tests of `life`; here is what the program makes of it.
//!
//! 1: what was checked is wrong. 2: the input or the arguments are wrong. 3: the machine lacks something.

use std::fs;
use std::path::Path;

use crate::common::{PROGRAM, command, hold, hold_with, lifestreams, names, run, scratch};

/// Files that are wrong, or wrong together, and places that cannot be written.
fn make_files(folder: &Path) {
    for (name, text) in [
        ("small.rle", "x = 3, y = 3, rule = B3/S23:T64,32\n3o!"),
        ("other-size.rle", "x = 3, y = 3, rule = B3/S23:T32,64\n3o!"),
        ("other-rule.rle", "x = 3, y = 3, rule = B36/S23\n3o!"),
        ("wide.rle", "x = 3, y = 3\n1200o!"),
        ("high.rle", "x = 3, y = 3\no1999$o!"),
        ("larger.rle", "x = 3, y = 3\n5000o4999$o!"),
        ("torus.rle", "x = 9, y = 9, rule = B3/S23:T8,8\n9o!"),
        ("letter.rle", "x = 3, y = 3\nbo$\n3oz!"),
        (
            "red.rle",
            "x = 3, y = 3, rule = \u{1b}[31mred\u{7}\tline\no!",
        ),
        ("empty.rle", ""),
        ("binary.rhai", "// \0"),
        ("own.toml", "title = \"A\"\n[[step]]\ntxt = \"?\"\n"),
        ("pulsar", "nothing"),
        ("file", "old"),
        ("linked.json", "old"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    let line = "$ mkdir -p folder/in taken/000.rle; mkfifo fifo; \
                ln -s nowhere link; ln -s loop loop; ln -s nowhere/at/all.json gone.json; \
                ln linked.json also.json; \
                truncate -s 100M long.rhai; cp long.rhai long.cu";
    lifestreams(folder, line).done();
}

#[test]
fn files_and_places_that_are_of_no_use_are_named_with_the_remedy() {
    let folder = scratch();
    let folder = folder.path();
    make_files(folder);
    let run = "run -g 1 --size 8 --device cpu";
    let pattern = "run -g 1 --device cpu --save out --pattern";
    let picture = "snapshot --size 8 --instances 1 --rounds 1 --window-size 64x64 -o";
    let session = "--display none --device cpu --session";
    let record = "--display window --device cpu --frames 1 --record";
    let text = |start: &str, end: &str| format!("{start} {end}");
    #[rustfmt::skip]
    let rows = [
        (text(pattern, "letter.rle"), "letter.rle, line 3, column 3 | cells are b (dead) and o (alive)"),
        (text(pattern, "torus.rle"), "torus.rle | 9x1 cells | use --size 18x8 --kernel auto"),
        (text(pattern, "red.rle"), "red.rle, line 1 | write it as B3/S23"),
        (text(pattern, "empty.rle"), "empty.rle | it is 0 bytes long | name a pattern file"),
        (text(pattern, "link"), "there is no such file; check its name"),
        (text(pattern, "loop"), "loop | try another file"),
        (text(pattern, "file/a.rle"), "try another file"),
        (text(pattern, "fifo"), "not a regular file; name a pattern file"),
        // Regular by its kind, but whoever reads it waits for the kernel's next message.
        (text(pattern, "/proc/kmsg"), "it is 0 bytes long; name a pattern file"),
        // A file of the shelf's name wins, whatever it is.
        (text(pattern, "pulsar"), "pulsar, line 1, column 1"),
        (text(pattern, "pulsars"), "did you mean pulsar, of the shelf?"),
        (text(pattern, "Gosper-glider-gun"), "did you mean gosper-gun, of the shelf?"),
        (text(pattern, "nowhere/glidr"), "there is no such file; check its name"),
        (text(pattern, "- --pattern -"), "read once"),
        (format!("$ echo 'bo$z' | lifestreams {pattern} -"), "the standard input, line 1, column 1"),
        (format!("$ lifestreams {pattern} ''"), "--pattern | a value is required"),
        (text(run, "--save file"), "file: it is a file, not a folder | choose another"),
        (text(run, "--save file/in"), "file | choose another"),
        (text(run, "--save /proc/nowhere"), "/proc/nowhere | choose another"),
        (text(run, "--save taken"), "taken/000.rle | it is a folder"),
        (text(run, "--trace linked.json"), "it is one of 2 hard links | cp"),
        // A file of some 70 KiB.
        ("$ ulimit -f 8; lifestreams run -g 0 --size 300 --density 0.5 --device cpu --save folder/in".into(),
         "folder/in/000.rle | choose another folder"),
        (text(picture, "nowhere/a.png"), "there is no folder nowhere | create it first"),
        (text(picture, "a.jpg"), "'a.jpg' | ends in .png"),
        (text(session, "fifo"), "fifo | it is a pipe or a device"),
        (text(session, "gone.json"), "gone.json | there is no folder"),
        (text(record, "nowhere/a.gif"), "there is no folder"),
        // Nothing is started before a recording is refused, as here where there is no display.
        (text("--display window", "--frames 3 --record a.avi"), "a.avi | must end in .gif or .png"),
        (text(record, "a.mp4"), "make a video of them with: ffmpeg -framerate 25 -i a-%04d.png"),
        ("--display none --device cpu --record c.gif".into(), "only the window has pictures"),
        ("lesson barrier --picture a.gif".into(), "'a.gif' | ends in .png"),
        ("lesson barrier --picture nowhere/a.png".into(), "there is no folder nowhere | create it first"),
        ("bench default --write nowhere/in".into(), "nowhere/in | create it first"),
        ("man file".into(), "file"),
        ("lecture check own.toml".into(), "own.toml:3:1: unknown field `txt`"),
        ("lecture check nowhere.toml".into(), "nowhere.toml cannot be read"),
        ("round new file".into(), "file exists already"),
        ("lesson new file".into(), "file exists already"),
        ("lesson check file".into(), "file:1:4: key with no value, expected `=`"),
        ("lesson pined".into(), "there is no lesson or file 'pined'; did you mean pinned?"),
        ("lesson nothing-like-it".into(), "'lifestreams lesson' lists the lessons"),
        ("round new nowhere/own.rhai".into(), "nowhere/own.rhai"),
        ("round check nowhere.rhai".into(), "nowhere.rhai"),
        ("round check folder".into(), "folder"),
        ("round check long.rhai".into(), "long.rhai cannot be read: it is more than 1 MiB long"),
        ("kernel new file".into(), "file exists already"),
        ("kernel check missing.cu --device cpu".into(), "missing.cu | cannot be read"),
        ("kernel check long.cu --device cpu".into(), "long.cu | more than 1 MiB"),
        ("kernel check small.rle --device cpu".into(), "add one, such as // from: 02_shared"),
        (text(run, "--kernel-file missing.cu"), "missing.cu | cannot be read"),
    ];
    let rows: Vec<_> = rows
        .iter()
        .map(|(line, said)| (&**line, 2, *said))
        .collect();
    hold(folder, &rows);
    let kept = ["file", "linked.json"].map(|name| fs::read_to_string(folder.join(name)).unwrap());
    assert_eq!(kept, ["old", "old"]);
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let folder = scratch();
    #[rustfmt::skip]
    hold(&folder, &[
        ("run -g 1 --size -5x5", 2, "-5 | help"),
        ("run -g 1 --transfer view", 2, "draws nothing | --transfer bits"),
        ("run -g 1 --split on --device cpu", 2, "--split on | --device cuda"),
        ("snapshot -o a.png --show blocks --graphs on", 2, "no block timestamps | --graphs off"),
        ("snapshot -o a.png --show lab,keys,ladder", 2, "--show takes one of | lab, ladder"),
        ("snapshot --size 8 --instances 1 -o a.png --adapter voodoo", 2, "'voodoo' | available: "),
        ("--display terminal", 2, "--display terminal | needs a terminal"),
        ("jump", 2, "jump | --help"),
        ("config save --frames 3", 2, "--frames applies to a single run"),
        ("exercise check", 2, "no exercise is in progress"),
    ]);
}

#[test]
fn what_does_not_fit_together_is_refused_by_every_command() {
    let folder = scratch();
    make_files(folder.path());
    #[rustfmt::skip]
    let rows = [
        ("--pattern small.rle --pattern other-size.rle", "torus of 64x32 | choose it with --size"),
        ("--pattern small.rle --pattern other-rule.rle", "B36/S23 | choose it with --rule"),
        // Size and kernel of all patterns, and both go together.
        ("--pattern wide.rle", "wide.rle is 1200x1 | use --size 2400x1024"),
        ("--pattern wide.rle --pattern high.rle --kernel auto", "wide.rle is 1200x1 | use --size 2400x4000 --kernel auto"),
        ("--pattern larger.rle", "larger.rle is 5000x5000 | use --size 10000x10000"),
        ("--pattern wide.rle --kernel resident --size 100x100", "wide.rle is 1200x1 | use --size 2400x100 --kernel bits"),
        ("--pattern small.rle --size 2x2", "small.rle is 3x1 | use --size 6x2"),
        ("--rule B3/S23:T64,32 --size 40", "--size is 40x40 | leave one of them out"),
        ("--kernel sync-shared", "'sync-shared' supports at most 24,576 cells | --kernel bits"),
        ("--kernel sync-global --size 5000x5000", "'sync-global' supports at most | --kernel bits"),
        ("--graphs on --streams default", "default stream cannot be captured | change one of the options"),
        ("--graphs on --wait each", "cannot wait inside | change one of the options"),
        ("--graphs on --host-memory pageable", "need page-locked memory | change one of the options"),
        ("--kernel bits --transfer i32", "'bits' has no i32 cells | change one of the options"),
        ("--kernel bits --streams batch", "one lattice per launch | kernels: sync-global,"),
        ("--kernel shared --block 7x3", "not 7x3 | blocks of 32x8, 32x4"),
        ("--kernel-file k.cu --kernel bits", "--kernel-file | --kernel"),
    ];
    let commands = [
        "run -g 1 --save out",
        "snapshot -o out.png",
        "--frames 1",
        "",
    ];
    for ((line, said), command) in rows.into_iter().zip(commands.into_iter().cycle()) {
        let line = format!("{command} {line}");
        hold(&folder, &[(&line, 2, said)]);
    }
}

#[test]
fn what_the_machine_lacks_is_said_with_the_remedy() {
    let folder = scratch();
    let folder = folder.path();
    #[rustfmt::skip]
    hold(folder, &[
        ("run -g 1 --device cpu --size 262144 --instances 64 --kernel bits", 3, "use fewer --instances"),
        ("--frames 1 --display none --device cpu --size 262144 --instances 16 --kernel global", 3, "--kernel bits"),
        ("snapshot -o a.png --device cpu --size 16777216x4096 --instances 64 --kernel bits", 3, "use fewer --instances"),
        ("--display window --frames 1 --device cpu", 3, "set DISPLAY or WAYLAND_DISPLAY | use --display terminal"),
        ("bench recording --small --write . --device cpu", 3, "rounds and lessons are recorded on one GPU"),
        ("$ exec lifestreams run -g 1 --size 8 >/dev/full", 3, "cannot be printed: the disk is full; "),
        ("$ exec lifestreams devices --json >/dev/full", 3, "cannot be printed: the disk is full; "),
    ]);
    // Whatever driver this machine has, this is none.
    let none = "no NVIDIA driver is installed here | --device cpu";
    let nowhere = [("LIFESTREAMS_LIBCUDA", "/nowhere/libcuda.so")];
    #[rustfmt::skip]
    hold_with(folder, &nowhere, &[
        ("run -g 1 --device cuda", 3, none),
        ("--device cuda:3 --frames 1 --display none", 3, none),
        ("snapshot -o a.png --device cuda", 3, none),
        ("--display none --rounds 1 --size 32", 0, "no NVIDIA driver is installed here | generation 1"),
    ]);
    // A library of that name that is no driver, and one that is no library; unasked for, it is gone without.
    fs::write(folder.join("text.so"), "no library").unwrap();
    for library in ["./text.so", "libc.so.6"] {
        let rows = [
            ("run -g 1 --device cuda", 3, "driver"),
            ("run -g 1 --size 8", 0, " alive"),
        ];
        hold_with(folder, &[("LIFESTREAMS_LIBCUDA", library)], &rows);
    }
    // An empty file of a library's name is one that cannot be loaded.
    for library in [
        "libEGL.so.1",
        "libEGL.so",
        "libvulkan.so.1",
        "libvulkan.so",
        "libXi.so.6",
    ] {
        fs::write(folder.join(library), "").unwrap();
    }
    let path = [
        ("LD_LIBRARY_PATH", folder.to_str().unwrap()),
        ("DISPLAY", ":987654"),
    ];
    let remedy = "no graphics driver | apt-get install libvulkan1 mesa-vulkan-drivers";
    let packages = "libXi.so.6 | cannot be loaded; apt-get install libxcursor1";
    #[rustfmt::skip]
    hold_with(folder, &path, &[
        ("snapshot --size 8 -o a.png", 3, remedy),
        ("devices", 0, "no graphics driver"),
        ("--display window --frames 1 --device cpu", 3, packages),
        ("--rounds 2 --size 32 --device cpu", 0, "libXi.so.6 | generation 2"),
    ]);
}

/// Less and less of something: it is enough, or a sentence says what is missing.
#[test]
fn a_limit_is_met_with_a_sentence_wherever_it_lies() {
    let folder = scratch();
    let folder = folder.path();
    // Root has no limit of processes, and nobody else may be let in where the program was built.
    let line = format!("$ cp {PROGRAM} own; chmod 755 .; lifestreams round new mine.rhai");
    lifestreams(folder, &line).succeeds();
    let user = "exec setpriv --reuid=61234 --regid=61234 --clear-groups ./own";
    let memory = [120, 312, 504, 760].map(|mib| mib << 10);
    let huge = "lifestreams run -g 0 --instances 1 --kernel bits --size 16384 --device cpu";
    let session = "--display none --rounds 1 --device cpu --instances 1 --kernel bits --size 8192";
    let missing = "out of host memory";
    #[rustfmt::skip]
    let rows = [
        ("-v", &memory[..], huge.into(), missing),
        ("-v", &memory, format!("{huge} --pattern gosper-gun"), missing),
        // Its text takes more memory than its lattices.
        ("-v", &memory, format!("lifestreams {session} --density 0.5 --session kept-$RANDOM"), missing),
        ("-u", &[1, 3, 99], format!("{user} run -g 1 --size 3000 --kernel bits --device cpu"), "cannot start a thread; raise"),
        ("-u", &[1, 99], format!("{user} round check mine.rhai"), "cannot start a thread; raise"),
    ];
    for (limit, values, line, said) in rows {
        let codes = values.iter().map(|value| {
            let ended = lifestreams(folder, &format!("$ ulimit {limit} {value} && {line}"));
            let is_said = ended.code == Some(3) && ended.stderr.contains(said);
            assert!(is_said || ended.code == Some(0), "{ended:?}");
            ended.code
        });
        let codes: Vec<_> = codes.collect();
        let ends = [codes.first(), codes.last()];
        assert_eq!(ends, [Some(&Some(3)), Some(&Some(0))], "{line}");
    }
}

/// A size in a line of a file takes no more than there is, and the one that is named fits.
#[test]
fn a_line_of_a_file_takes_no_more_memory_than_there_is() {
    let folder = scratch();
    let folder = folder.path();
    let text = "x = 3, y = 1, rule = B3/S23:T262144,262144\n3o!\n";
    fs::write(folder.join("huge.rle"), text).unwrap();
    let limited = "$ ulimit -v 4194304; exec lifestreams";
    let options = "--device cpu --kernel bits --pattern huge.rle";
    let said = "out of host memory | 16 lattices of 262144x262144 |  MiB are free |  fits)";
    for line in [
        "run -g 1",
        "--display none --rounds 1",
        "snapshot -o picture.png",
    ] {
        let line = format!("{limited} {line} {options}");
        hold(folder, &[(&line, 3, said)]);
    }
    let one = format!("{limited} run -g 0 --instances 1 {options}");
    let ended = lifestreams(folder, &one);
    let rest = ended.stderr.split("--size (").nth(1).expect("a size");
    let fits = rest.split(' ').next().unwrap();
    // The same of a session that was saved; it is left as it was.
    let session = format!("{limited} --display none --rounds 1 --session kept");
    let new = format!("{session} --device cpu --instances 2 --size 64 --kernel bits");
    let fits = format!("{one} --size {fits}");
    hold(folder, &[(&fits, 0, ""), (&new, 0, "")]);
    let kept = folder.join("kept");
    let text = fs::read_to_string(&kept).unwrap();
    let huge = text.replace("64x64", "262144x262144");
    let huge = huge.replace("x = 64, y = 64", "x = 262144, y = 262144");
    fs::write(&kept, &huge).unwrap();
    let said = "out of host memory | the lattices of the session would take 8192 MiB";
    hold(folder, &[(&session, 3, said)]);
    assert!(fs::read_to_string(kept).unwrap() == huge);
}

#[test]
fn what_permissions_forbid_is_said() {
    let folder = scratch();
    let line = format!(
        "$ cp {PROGRAM} own; echo >secret.rle; chmod 0 secret.rle; mkdir closed; chmod 755 . closed"
    );
    lifestreams(folder.path(), &line).done();
    #[rustfmt::skip]
    let rows = [
        ("run -g 1 --pattern secret.rle", "secret.rle | change its permissions"),
        ("run -g 1 --size 8 --save closed", "closed | choose another"),
        ("run -g 1 --size 8 --save closed/new", "closed | choose another"),
        ("snapshot --size 8 -o closed/a.png", "closed/a.png | choose another"),
    ];
    for (line, said) in rows {
        let user = "$ exec setpriv --reuid=65534 --regid=65534 --clear-groups ./own";
        hold(&folder, &[(&format!("{user} {line}"), 2, said)]);
    }
    assert!(names(&folder.path().join("closed")).is_empty());
}

#[test]
fn a_reader_that_goes_away_is_no_error_and_no_panic() {
    let folder = scratch();
    // The last one would go on for ever.
    let session = "--display none --size 8 --instances 2";
    for line in ["run -g 1 --size 8", "devices --json", "--help", session] {
        // `true` reads nothing; where stderr goes there too, nobody is left to be told anything.
        for pipe in ["|", "2>&1 |"] {
            let line = format!("$ lifestreams {line} {pipe} true; exit ${{PIPESTATUS[0]}}");
            hold(&folder, &[(&line, 0, "")]);
        }
    }
    for line in [
        "run -g 1 --pattern missing",
        "run -g 1 --kernel sync-shared",
    ] {
        for to in ["2>/dev/full", "2>&-", "2>&1 | true; exit ${PIPESTATUS[0]}"] {
            let ended = lifestreams(folder.path(), &format!("$ lifestreams {line} {to}"));
            assert_eq!(ended.code, Some(2), "{line} {to}: {ended:?}");
        }
    }
}

/// A text with which files and arguments would colour a terminal, sound its bell and forge a line.
const HOSTILE: &str = "\u{1b}[31mred\u{7}\nlifestreams: forged\tline";

/// Whatever quotes an argument, a file's text or a name; `refuses` finds escapes and further lines.
#[test]
fn nothing_from_files_or_arguments_is_obeyed_by_a_terminal() {
    let folder = scratch();
    let folder = folder.path();
    let inner = folder.join(HOSTILE);
    fs::create_dir_all(inner.join("lifestreams")).unwrap();
    let pattern = format!("#N {HOSTILE}\n#O {HOSTILE}\nx = 3, y = 3, rule = LifeHistory\nA.!")
        .replace("\nlifestreams", "\n#C lifestreams");
    fs::write(inner.join("a.rle"), pattern).unwrap();
    fs::write(inner.join("b.rle"), "x = 3, y = 3\nz!").unwrap();
    let quoted = serde_json::to_string(HOSTILE).unwrap();
    let json = format!("{{\"lifestreams_session\": 3, \"settings\": {{\"kernel\": {quoted}}}}}");
    fs::write(inner.join("s.json"), json).unwrap();
    let ends = |line: &str, code: i32| {
        let line = format!("$ H=$(printf '\\033[31mred\\a\\nlifestreams: forged\\tline'); {line}");
        let ended = run(command(folder, &line).env("XDG_CONFIG_HOME", &inner));
        assert_eq!(ended.code, Some(code), "{line}: {ended:?}");
        for text in [&ended.stderr, &ended.stdout] {
            assert!(!text.contains(['\u{1b}', '\u{7}', '\t']), "{ended:?}");
            assert!(!text.contains("\nlifestreams: forged"), "{ended:?}");
        }
    };
    let start = "lifestreams --display none --rounds 1 --device cpu";
    for word in [
        "\"--$H\"",
        "\"--rule=$H\"",
        "\"--session=$H/s.json\"",
        "\"--pattern=$H/b.rle\"",
        "\"$H\"",
    ] {
        ends(&format!("{start} {word}"), 2);
    }
    for line in [
        "lifestreams run -g 1 --pattern \"$H/a.rle\" --save \"$H/b\" --device cpu",
        "lifestreams --display none --frames 1 --size 8 --session \"$H/new.json\"",
        "lifestreams config save --instances 3",
    ] {
        ends(line, 0);
    }
    let config = inner.join("lifestreams/config.toml");
    for (text, code) in [
        (format!("{quoted} = 1"), 0),
        (format!("kernel = {quoted}"), 2),
    ] {
        fs::write(&config, text).unwrap();
        ends("lifestreams run -g 1 --size 8 --device cpu", code);
    }
}
