//! The population graph: live cells, and births and deaths, over time:
//! [`PopulationChart`](ui::population::PopulationChart), painted; and the words on the panels
//! that say how each goes on.

mod layout;
mod paint;
mod tags;

#[cfg(test)]
mod tests;

pub(crate) use paint::paint;
pub(crate) use tags::paint as paint_tags;
