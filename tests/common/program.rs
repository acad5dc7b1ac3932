//! Which program the tests start.

/// Its path: what `cargo test` built, or what `scripts/test` says, which is the one that ships,
/// and fast.
pub(crate) const PROGRAM: &str = match option_env!("LIFESTREAMS_TESTED") {
    Some(shipped) => shipped,
    None => env!("CARGO_BIN_EXE_lifestreams"),
};
