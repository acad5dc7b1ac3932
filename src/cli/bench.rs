//! `lifestreams bench`.

use anyhow::Result;

use super::options::BenchArguments;

pub(super) fn main(_: &BenchArguments) -> Result<()> {
    todo!()
}
