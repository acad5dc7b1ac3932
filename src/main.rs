//! The program `lifestreams`.

fn main() {}
