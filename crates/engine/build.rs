//! Embeds the source and the PTX of every kernel, the PTX packed. Fails if a PTX does not match its
//! sources.
//!
//! Nothing is compiled here: the PTX is committed, and `scripts/build-kernels` makes it. Set
//! `LIFESTREAMS_BUILD_KERNELS=1` to run that script first (it needs clang-16).

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use flate2::{Compression, write::ZlibEncoder};
use sha2::{Digest, Sha256};

/// The repository root, relative to this crate.
const ROOT: &str = "../..";
/// The headers that every kernel includes, in the order of hashing.
const HEADERS: [&str; 2] = ["kernels/cuda.h", "kernels/life.cuh"];
const FOLDERS: [&str; 3] = ["kernels/ladder", "kernels/support", "kernels/lessons"];
const REBUILD: &str = "LIFESTREAMS_BUILD_KERNELS";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={ROOT}/kernels");
    println!("cargo::rerun-if-env-changed={REBUILD}");
    if let Err(error) = embed_kernels() {
        println!("cargo::error={error}");
    }
}

fn embed_kernels() -> Result<(), Box<dyn Error>> {
    if env::var(REBUILD).is_ok_and(|asked| asked == "1") {
        let status = Command::new(format!("{ROOT}/scripts/build-kernels")).status();
        if !status.is_ok_and(|status| status.success()) {
            return Err(format!("{REBUILD}=1 was set, and scripts/build-kernels failed").into());
        }
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let sources = sources()?;
    let mut table = format!("static EMBEDDED: [Ptx; {}] = [\n", sources.len());
    for source in sources {
        let ptx = source.with_extension("ptx");
        let text = fs::read_to_string(&ptx).unwrap_or_default();
        let hash = sources_hash(&source)?;
        if text.split(' ').nth(2) != Some(&hash) {
            return Err(format!(
                "{} does not match its sources: run scripts/build-kernels (it needs clang-16) or \
                 restore kernels/ from git",
                ptx.display()
            )
            .into());
        }
        let stem = source
            .file_stem()
            .expect("listed by its extension")
            .to_string_lossy();
        let source = fs::canonicalize(&source)?;
        let packed = out.join(format!("{stem}.zlib"));
        let mut encoder = ZlibEncoder::new(fs::File::create(&packed)?, Compression::best());
        encoder.write_all(text.as_bytes())?;
        encoder.finish()?;
        writeln!(
            table,
            "Ptx {{ stem: {stem:?}, hash: {hash:?}, source: include_str!({source:?}), \
             text: LazyLock::new(|| unpacked(include_bytes!({packed:?}))) }},"
        )?;
    }
    table.push_str("];\n");
    fs::write(out.join("ptx.rs"), table)?;
    Ok(())
}

/// All `.cu` files, sorted by folder and name.
fn sources() -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for folder in FOLDERS.map(|folder| Path::new(ROOT).join(folder)) {
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

/// The SHA-256 of a kernel's sources. Excludes the comment at the start of each file, which holds
/// measured figures and does not affect the PTX. `scripts/build-kernels` computes the same.
fn sources_hash(source: &Path) -> Result<String, Box<dyn Error>> {
    let mut digest = Sha256::new();
    let headers = HEADERS.map(|header| Path::new(ROOT).join(header));
    for path in std::iter::once(source).chain(headers.iter().map(PathBuf::as_path)) {
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
