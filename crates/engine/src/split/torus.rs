//! Which bands a lattice consists of.

use std::ops::Range;

use crate::{Band, DeviceId, LatticeId};
use life::Size;

/// All lattices of a [`SplitEngine`](super::SplitEngine), in groups that were created together.
#[derive(Clone, Default)]
pub(super) struct Toruses(Vec<Torus>);

/// Lattices of one size that were created together. The same band of each is in lattices of the inner
/// engine that follow one another.
#[derive(Clone)]
pub(super) struct Torus {
    /// The lattices.
    pub(super) lattices: Range<u32>,
    /// Its bands from the first row on; a device has adjacent ones.
    pub(super) bands: Vec<Band>,
    /// The inner engine's lattice that is the first one's first band.
    first_band: u32,
}

impl Torus {
    pub(super) fn size(&self) -> Size {
        self.bands[0].torus
    }

    /// Rows of the halo at each end of a band.
    pub(super) fn halo(&self) -> u32 {
        self.bands[0].halo
    }

    /// The inner engine's lattice that is this band of a lattice.
    pub(super) fn band_of(&self, band: usize, lattice: LatticeId) -> LatticeId {
        LatticeId(self.bands_of(band, &lattice.as_range()).start)
    }

    /// The inner engine's lattices that are this band of some of the lattices.
    pub(super) fn bands_of(&self, band: usize, lattices: &Range<u32>) -> Range<u32> {
        let count = self.lattices.len() as u32;
        let first = self.first_band + band as u32 * count;
        let place = |lattice: u32| first + (lattice - self.lattices.start);
        place(lattices.start)..place(lattices.end)
    }

    fn all_bands(&self) -> Range<u32> {
        let count = self.lattices.len() * self.bands.len();
        self.first_band..self.first_band + count as u32
    }
}

impl Toruses {
    /// Adds lattices whose bands the inner engine has created, band by band.
    pub(super) fn add(&mut self, count: usize, bands: Vec<Band>) {
        let (first, first_band) = self
            .0
            .last()
            .map_or((0, 0), |last| (last.lattices.end, last.all_bands().end));
        self.0.push(Torus {
            lattices: first..first + count as u32,
            bands,
            first_band,
        });
    }

    /// The group of a lattice, if there is such a lattice.
    pub(super) fn of(&self, lattice: LatticeId) -> Option<&Torus> {
        self.0
            .iter()
            .find(|torus| torus.lattices.contains(&lattice.0))
    }

    /// Some lattices, by group.
    pub(super) fn groups<'a>(
        &'a self,
        lattices: &'a Range<u32>,
    ) -> impl Iterator<Item = (&'a Torus, Range<u32>)> + 'a {
        self.0.iter().filter_map(|torus| {
            let start = lattices.start.max(torus.lattices.start);
            let end = lattices.end.min(torus.lattices.end);
            (start < end).then_some((torus, start..end))
        })
    }

    /// A device's first bands of lattices, those of the first one's group; `None` if it has none.
    pub(super) fn bands_on(&self, device: DeviceId, lattices: &Range<u32>) -> Option<Range<u32>> {
        let (torus, lattices) = self.groups(lattices).next()?;
        let first = torus.bands.iter().position(|band| band.device == device)?;
        Some(torus.bands_of(first, &lattices))
    }

    /// The lattice that one of the inner engine's is a band of.
    pub(super) fn lattice_of_band(&self, band: u32) -> Option<u32> {
        let torus = self.0.iter().find(|it| it.all_bands().contains(&band))?;
        let within = (band - torus.first_band) % torus.lattices.len() as u32;
        Some(torus.lattices.start + within)
    }
}
