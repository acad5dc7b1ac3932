//! `--kernel-file`: a kernel of one's own that is wrong starts nothing.

use std::fs;
use std::path::Path;

use crate::common::{lifestreams, scratch};

/// A copy of `02_shared`, as `kernel new` writes it.
fn write_kernel(folder: &Path) {
    lifestreams(folder, "kernel new k.cu --from 02_shared").succeeds();
}

#[test]
fn a_kernel_s_file_that_is_wrong_starts_nothing() {
    let folder = scratch();
    let folder = folder.path();
    write_kernel(folder);
    let right = fs::read_to_string(folder.join("k.cu")).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("race.cu", &right.replace("__syncthreads();", ""));
    write(
        "typo.cu",
        &right.replace("__syncthreads();", "__syncthread();"),
    );
    write("bare.cu", "__global__ void life() {}");
    for (line, code, words) in [
        ("run -g 1 --kernel-file race.cu", 1, ["race.cu", "race"]),
        (
            "run -g 1 --kernel-file typo.cu",
            1,
            ["typo.cu", "__syncthread"],
        ),
        (
            "--display none --rounds 1 --kernel-file race.cu",
            1,
            ["race.cu", "race"],
        ),
        (
            "snapshot -o a.png --kernel-file typo.cu",
            1,
            ["typo.cu", "__syncthread"],
        ),
        ("run -g 1 --kernel-file bare.cu", 2, ["bare.cu", "from:"]),
        (
            "run -g 1 --kernel-file none.cu",
            2,
            ["none.cu", "cannot be read"],
        ),
        (
            "run -g 1 --kernel-file k.cu --kernel bits",
            2,
            ["--kernel-file", "--kernel"],
        ),
        (
            "run -g 1 --kernel-file k.cu --block 32x8",
            2,
            ["--kernel-file", "--block"],
        ),
    ] {
        let ended = lifestreams(
            folder,
            &format!("{line} --device cpu --instances 1 --size 64x64"),
        );
        assert_eq!(ended.code, Some(code), "{line}: {ended:?}");
        for word in words {
            assert!(ended.stderr.contains(word), "{line}: {ended:?}");
        }
    }
    assert!(!folder.join("a.png").exists());
}
