//! The live ladder: every rung's idea and its rate on a log axis, where the present kernel is among
//! them, and the limit: [`LadderChart`](ui::ladder::LadderChart), painted; and in its place a
//! rung's source.

mod layout;
mod paint;
mod source;

#[cfg(test)]
mod tests;

pub(crate) use paint::paint;
pub(crate) use source::show as show_source;
