//! lifestreams: N toroidal Game of Life lattices, each in its own CUDA stream, live in one
//! window.
//!
//! # Architecture
//!
//! Each part is a crate, and dependencies point one way: `{lang, life} ← engine ← session ← lesson
//! ← ui ← {terminal, window}`, and this program depends on all of them. `docs/architecture.md` names the
//! small ones besides.
//!
//! - [`lang`] is what people read, in their language.
//! - [`life`] is the game itself: rules, the bit-packed torus, soups, pattern files, and a step so
//!   plain that nobody doubts it.
//! - [`engine`] runs GPU work that is described as data (ops in programs): eagerly, or prepared
//!   once and replayed, on CUDA or on the CPU. Both engines have the same kernels and give the same
//!   bits.
//! - [`session`] steps N instances, round by round, on a thread of its own: it owns the engine,
//!   carries out the user's requests, and publishes a status and the newest complete picture of each
//!   instance.
//! - [`lesson`] asks, measures and checks what streams do: lessons as data over rounds and ops.
//! - [`ui`] is what window and terminal share: actions and their keys, the session they drive, and
//!   what is on screen, as data.
//! - [`window`] and [`terminal`] turn events into actions and paint that data; the window also
//!   off-screen.
//! - [`cli`] is the command line and the commands that need no window. Only it knows the commit
//!   that the program was built from.
//!
//! A round, from the top: the session's thread makes the program of a
//! [`Round`](session::instances::Round) (every instance advances and downloads once, in its own stream)
//! and submits it; the engine's events say when each download has landed; its picture is noted in [`session::Pictures`]; the window, woken,
//! uploads what is newer and draws. Nobody in the window ever waits for the engine.
//!
//! Unsafe code is denied but in `engine::cuda` (the driver's functions), in `workshop` (compiled
//! kernels) and in the two small crates `cuda-loader` and `platform`.

// `cli::text` prints, and escapes control characters.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod cli;
