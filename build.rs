//! Embeds the PTX of every kernel, and refuses one that its sources have left behind; embeds the
//! bench's records.
//!
//! Nothing is compiled here: the PTX is committed, and `scripts/build-kernels` makes it. Set
//! `LIFESTREAMS_BUILD_KERNELS=1` to have that script run first (it needs clang-16).

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use sha2::{Digest, Sha256};

/// What every kernel includes, in the order in which they are hashed.
const SHARED: [&str; 2] = ["kernels/cuda.h", "kernels/life.cuh"];
const FOLDERS: [&str; 3] = ["kernels/ladder", "kernels/support", "kernels/lessons"];
const RECORDS: &str = "assets/bench";
const ASK: &str = "LIFESTREAMS_BUILD_KERNELS";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=kernels");
    println!("cargo::rerun-if-changed={RECORDS}");
    println!("cargo::rerun-if-env-changed={ASK}");
    if let Err(error) = embed_kernels().and_then(|()| embed_records()) {
        println!("cargo::error={error}");
    }
    println!("cargo::rustc-env=LIFESTREAMS_COMMIT={}", commit());
}

fn embed_kernels() -> Result<(), Box<dyn Error>> {
    if env::var(ASK).is_ok_and(|asked| asked == "1") {
        let status = Command::new("scripts/build-kernels").status();
        if !status.is_ok_and(|status| status.success()) {
            return Err(format!("scripts/build-kernels failed, which {ASK}=1 asked for").into());
        }
    }
    let mut table = String::from(
        "/// The PTX of every kernel, by stem.\npub static PTX: &[(&str, &str)] = &[\n",
    );
    for source in sources()? {
        let ptx = source.with_extension("ptx");
        let text = fs::read_to_string(&ptx).unwrap_or_default();
        if text.split(' ').nth(2) != Some(&sources_hash(&source)?) {
            return Err(format!(
                "{} was not built from the sources that are here: run scripts/build-kernels \
                 (it needs clang-16) or restore kernels/ from git",
                ptx.display()
            )
            .into());
        }
        let stem = source
            .file_stem()
            .expect("listed by its extension")
            .to_string_lossy();
        let absolute = fs::canonicalize(&ptx)?;
        writeln!(table, "    ({stem:?}, include_str!({absolute:?})),")?;
    }
    table.push_str("];\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("ptx.rs"), table)?;
    Ok(())
}

fn embed_records() -> Result<(), Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(RECORDS)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            found.push(fs::canonicalize(path)?);
        }
    }
    found.sort();
    let mut list =
        String::from("/// The bench's records, one a device.\nstatic RECORDS: &[&str] = &[\n");
    for path in found {
        writeln!(list, "    include_str!({path:?}),")?;
    }
    list.push_str("];\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("records.rs"), list)?;
    Ok(())
}

/// Every `.cu`, sorted by folder and name.
fn sources() -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for folder in FOLDERS.iter().filter(|folder| Path::new(folder).is_dir()) {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "cu") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The comment that a file opens with is left out: figures are written into it, and no PTX
/// depends on it.
fn sources_hash(source: &Path) -> Result<String, Box<dyn Error>> {
    let mut digest = Sha256::new();
    for path in std::iter::once(source).chain(SHARED.iter().map(Path::new)) {
        let text = fs::read_to_string(path)?;
        let mut lines = text.split_inclusive('\n').peekable();
        while lines.next_if(|line| line.starts_with("//")).is_some() {}
        lines.for_each(|line| digest.update(line));
        digest.update(b"\0");
    }
    Ok(digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// The commit that is built, for the bench's records; `unknown` outside a repository.
fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    for watched in ["HEAD", "refs", "packed-refs"] {
        if let Some(path) = git(&["rev-parse", "--git-path", watched])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned())
}
