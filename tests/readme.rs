//! The README's tables are those of the code and of the bench's records.
//!
//! `LIFESTREAMS_RENEW=1 cargo test --test readme` writes them anew.

use std::path::Path;

#[test]
fn the_tables_are_the_codes_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let renewed = lifestreams::cli::readme(&readme, &root.join("assets/bench")).unwrap();
    if std::env::var_os("LIFESTREAMS_RENEW").is_some() {
        std::fs::write(&path, &renewed).unwrap();
        return;
    }
    for (number, (is, should)) in readme.lines().zip(renewed.lines()).enumerate() {
        assert_eq!(
            is,
            should,
            "line {} is stale: LIFESTREAMS_RENEW=1 cargo test --test readme",
            number + 1
        );
    }
    assert_eq!(readme.lines().count(), renewed.lines().count());
}
