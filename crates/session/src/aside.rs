//! The background pool's former name.

pub(super) use crate::background::spawn as aside;
