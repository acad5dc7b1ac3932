//! The figures beside the panels, painted by hand: every figure has its place, so that none
//! moves when another changes. It never covers a panel.

pub(crate) mod bar;
#[cfg(test)]
mod chinese_tests;
#[cfg(test)]
mod contrast_tests;
mod parts;
pub(crate) mod presenting;
pub(crate) mod side;
pub(crate) mod style;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use parts::{
    close_button, key_hint, menu as paint_menu_sign, message_colours, side_panel,
};
pub(crate) use presenting::HEIGHT as STRIP;
pub use style::install_fonts;
