//! Which program the tests start.

/// The path of the program under test: the build that `scripts/test` names in `LIFESTREAMS_TESTED`
/// (an optimised one, as released), else the one that `cargo test` built.
pub(crate) const PROGRAM: &str = match option_env!("LIFESTREAMS_TESTED") {
    Some(shipped) => shipped,
    None => env!("CARGO_BIN_EXE_lifestreams"),
};
