//! Remembers the kernels that this user has run here. A kernel in a session's file that is not among them
//! runs only after its user agrees.

use std::fs;
use std::path::PathBuf;

use directories::ProjectDirs;
use sha2::{Digest, Sha256};

/// The file that remembers a source, by its hash; `None` if the platform has no folder for it.
fn record_of(source: &str) -> Option<PathBuf> {
    let folders = ProjectDirs::from("", "", "lifestreams")?;
    let folder = folders.state_dir().unwrap_or(folders.data_local_dir());
    let hash = Sha256::digest(source);
    let name: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(folder.join("trusted-kernels").join(name))
}

/// Whether this user has run a kernel of exactly this source here.
pub fn is_trusted(source: &str) -> bool {
    record_of(source).is_some_and(|record| record.is_file())
}

/// Remembers that this user runs this kernel. Where that cannot be written, they are asked again.
pub fn trust(source: &str) {
    let write = |record: PathBuf| {
        fs::create_dir_all(record.parent()?).ok()?;
        fs::write(record, "").ok()
    };
    if record_of(source).and_then(write).is_none() {
        tracing::debug!("the kernel cannot be remembered as one that was run here");
    }
}
