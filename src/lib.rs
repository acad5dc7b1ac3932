//! lifestreams: N toroidal Game of Life lattices, each in its own CUDA stream, live in one
//! window.
//!
//! # Architecture
//!
//! Arrows point one way: `life ← engine ← session ← {lesson, view} ← {app, cli}`. Nothing below
//! knows anything above it.
//!
//! - [`life`] is the game itself: rules, the bit-packed torus, soups, pattern files, and a step so
//!   plain that nobody doubts it.
//! - [`engine`] is the seam: work is data (ops in programs), run eagerly or prepared once and
//!   replayed, on CUDA or on the CPU. Both have the same kernels by name and give the same bits.
//! - [`session`] is N instances: rounds at their pace on the engine's own thread, what a person
//!   asked for, the one table of keys, the newest complete picture of each instance.
//! - [`lesson`] asks, measures and checks what streams do: lessons as data over rounds and ops.
//! - [`view`] draws a session: panels from wgpu textures, egui beside them; the same scene in the
//!   window and off-screen.
//! - [`app`] is the window: events become actions.
//! - [`cli`] is what people type, and what has no window.
//!
//! [`lang`] stands below all of them: what people read, in their language.
//!
//! A round, from the top: the session's thread makes a [`session::round`] program (every instance
//! advances and downloads once, in its own stream) and submits it; the engine's events say when
//! each download has landed; its picture is noted in [`session::Pictures`]; the window, woken,
//! uploads what is newer and draws. Nobody in the window ever waits for the engine.
//!
//! Unsafe code is denied but in `engine::cuda` (the driver's functions) and in the two small
//! crates `cuda-loader` and `platform`.
#![deny(unsafe_code)]

pub mod app;
pub mod cli;
pub mod engine;
pub mod lang;
pub mod lesson;
pub mod life;
pub mod session;
pub mod view;
