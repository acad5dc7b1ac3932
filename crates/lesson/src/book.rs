//! The programs of the book's chapter on streams, events, contexts and synchronisation: as the
//! book has them, and as they should be.

pub(super) mod context;
pub(super) mod conway;
pub(super) mod event;
pub(super) mod mandelbrot;
pub(super) mod multi_kernel;
pub(super) mod sync;
pub(super) mod threads;
