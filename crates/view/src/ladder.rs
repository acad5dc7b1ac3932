//! The live ladder: every rung's rate on a log axis, where the present kernel is among them, and
//! the limit: [`LadderChart`](screen::ladder::LadderChart), painted.

mod layout;
mod paint;

#[cfg(test)]
mod tests;

pub(crate) use paint::paint;
