//! Host slots of whole lattices, put together from those of their bands.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::torus::{Torus, Toruses};
use super::translation::{Content, Landing};
use crate::{LatticeId, Measure, Result, Slot, Slots, SlotsSpec};

/// The slots of lattices in bands.
pub(super) struct SplitSlots {
    inner: Arc<dyn Slots>,
    toruses: Arc<Toruses>,
    /// What each slot has, or will have once the downloads into it have landed.
    contents: Mutex<HashMap<(LatticeId, Slot), Content>>,
}

/// The slots that bands need for a lattice's: a view of a band has a word for each pixel.
pub(super) fn of_bands(spec: SlotsSpec) -> SlotsSpec {
    /// Words of a view as large as any screen.
    const MAX_VIEW_WORDS: usize = 1 << 23;
    let counts = 4 * spec.picture_words.min(MAX_VIEW_WORDS);
    SlotsSpec {
        picture_words: spec.picture_words.max(counts),
        ..spec
    }
}

impl SplitSlots {
    pub(super) fn new(inner: Arc<dyn Slots>, toruses: Arc<Toruses>) -> SplitSlots {
        SplitSlots {
            inner,
            toruses,
            contents: Mutex::default(),
        }
    }

    /// Submits downloads and notes what they will bring: until that is known, nobody looks at it.
    pub(super) fn expect<T>(
        &self,
        landings: &[Landing],
        submit: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let submitted = submit()?;
        for landing in landings {
            for lattice in landing.lattices.clone().map(LatticeId) {
                contents.insert((lattice, landing.slot), landing.content);
            }
        }
        Ok(submitted)
    }

    fn content(&self, lattice: LatticeId, slot: Slot) -> Option<Content> {
        let contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        contents.get(&(lattice, slot)).copied()
    }

    /// Calls `visit` with the slots of all bands from `parts.len()` on behind `parts`, each held
    /// until it returns. Returns `false` without a call if one cannot be read.
    fn with_parts(
        &self,
        bands: &[LatticeId],
        slot: Slot,
        parts: &[&[u32]],
        visit: &mut dyn FnMut(&[&[u32]]),
    ) -> bool {
        let Some(&band) = bands.get(parts.len()) else {
            visit(parts);
            return true;
        };
        let mut all = false;
        self.inner.read(band, slot, &mut |words| {
            let parts = [parts, &[words]].concat();
            all = self.with_parts(bands, slot, &parts, visit);
        });
        all
    }
}

/// The bands of a lattice.
fn bands_of(torus: &Torus, lattice: LatticeId) -> Vec<LatticeId> {
    let band = |device| LatticeId(torus.bands_of(device, &lattice.as_range()).start);
    (0..torus.bands.len()).map(band).collect()
}

/// The words of a whole lattice's slot.
fn put_together(torus: &Torus, content: Content, parts: &[&[u32]]) -> Vec<u32> {
    match content {
        Content::Rows { first, count } => {
            let per_row = torus.size().words_per_row();
            let mut words = Vec::with_capacity(per_row * count as usize);
            let rows = torus
                .bands
                .iter()
                .filter_map(|band| band.own_part(first, count));
            for (rows, part) in rows.zip(parts) {
                words.extend_from_slice(&part[..per_row * rows.count as usize]);
            }
            words
        }
        Content::View(region) => {
            let mut alive = vec![0u64; 4 * region.words()];
            for part in parts {
                let counts = alive.iter_mut().zip(*part);
                counts.for_each(|(alive, count)| *alive += u64::from(*count));
            }
            region.bytes_of(&alive, torus.size())
        }
        Content::Measure => {
            let measures = parts.iter().map(|part| Measure::from_words(part));
            measures
                .fold(Measure::default(), Measure::plus)
                .to_words()
                .to_vec()
        }
    }
}

impl Slots for SplitSlots {
    fn read(&self, lattice: LatticeId, slot: Slot, visit: &mut dyn FnMut(&[u32])) -> bool {
        let (Some(torus), Some(content)) = (self.toruses.of(lattice), self.content(lattice, slot))
        else {
            return false;
        };
        let mut bands = bands_of(torus, lattice);
        if let Content::Rows { first, count } = content {
            // The others have brought nothing.
            let brings = |device: &usize| torus.bands[*device].own_part(first, count).is_some();
            let brought = (0..bands.len()).filter(brings).map(|device| bands[device]);
            bands = brought.collect();
        }
        let mut is_as_known = false;
        let all = self.with_parts(&bands, slot, &[], &mut |parts| {
            // Something else may have landed before all parts were held.
            is_as_known = self.content(lattice, slot) == Some(content);
            if is_as_known {
                visit(&put_together(torus, content, parts));
            }
        });
        all && is_as_known
    }

    fn is_free(&self, lattice: LatticeId, slot: Slot) -> bool {
        let torus = self.toruses.of(lattice);
        torus.is_none_or(|torus| {
            let mut bands = bands_of(torus, lattice).into_iter();
            bands.all(|band| self.inner.is_free(band, slot))
        })
    }
}
