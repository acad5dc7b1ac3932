//! What the programs rest on: one notion a lesson.

pub(super) mod barrier;
pub(super) mod connections;
pub(super) mod default_stream;
pub(super) mod dependencies;
pub(super) mod host_functions;
pub(super) mod occupancy;
pub(super) mod priorities;
pub(super) mod rounds;
pub(super) mod speedup;
pub(super) mod stream_memory;
