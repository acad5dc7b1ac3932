//! The READMEs' tables and the kernels' headers are those of the code and of the bench's records.
//!
//! `LIFESTREAMS_RENEW=1 cargo test --test readme` writes them anew.

use std::path::Path;

#[test]
fn what_is_generated_is_the_codes_own_and_the_records() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (path, renewed) in lifestreams::cli::documents(root).unwrap() {
        let text = std::fs::read_to_string(&path).unwrap();
        if std::env::var_os("LIFESTREAMS_RENEW").is_some() {
            std::fs::write(&path, &renewed).unwrap();
            continue;
        }
        for (number, (is, should)) in text.lines().zip(renewed.lines()).enumerate() {
            assert_eq!(
                is,
                should,
                "line {} of {} is stale: LIFESTREAMS_RENEW=1 cargo test --test readme",
                number + 1,
                path.display()
            );
        }
        assert_eq!(text, renewed, "{}", path.display());
    }
}
