//! lifestreams: N toroidal Game of Life lattices, each in its own CUDA stream, live in one
//! window.
//!
//! # Architecture
//!
//! Each part is a crate, and arrows point one way: `lang ← life ← engine ← model ← session ←
//! lesson`, `model ← view`, `{lesson, view} ← app ← {window, terminal}`, and this program above all.
//!
//! - [`lang`] is what people read, in their language.
//! - [`life`] is the game itself: rules, the bit-packed torus, soups, pattern files, and a step so
//!   plain that nobody doubts it.
//! - [`engine`] is the seam: work is data (ops in programs), run eagerly or prepared once and
//!   replayed, on CUDA or on the CPU. Both have the same kernels by name and give the same bits.
//! - [`model`] is what the session and the screens both speak of: actions and their keys, switches,
//!   status, pictures, measurements.
//! - [`session`] is N instances: rounds at their pace on the engine's own thread, what a person
//!   asked for, the newest complete picture of each instance.
//! - [`lesson`] asks, measures and checks what streams do: lessons as data over rounds and ops.
//! - [`view`] draws a session: panels from wgpu textures, egui beside them; the same scene in the
//!   window and off-screen.
//! - [`app`] is what window and terminal share; [`window`] and [`terminal`] turn events into
//!   actions.
//! - [`cli`] is what people type, and what has no window. Only it knows the commit that it was
//!   built from.
//!
//! A round, from the top: the session's thread makes a [`session::round`] program (every instance
//! advances and downloads once, in its own stream) and submits it; the engine's events say when
//! each download has landed; its picture is noted in [`model::Pictures`]; the window, woken,
//! uploads what is newer and draws. Nobody in the window ever waits for the engine.
//!
//! Unsafe code is denied but in `engine::cuda` (the driver's functions) and in the two small
//! crates `cuda-loader` and `platform`.

pub mod cli;
