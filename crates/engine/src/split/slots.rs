//! Host slots of whole lattices, put together from those of their bands.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::torus::{Torus, Toruses};
use super::translation::{Content, Landing};
use crate::{Band, LatticeId, Measure, Result, Slot, Slots};

/// The slots of lattices in bands.
pub(super) struct SplitSlots {
    pub(super) inner: Arc<dyn Slots>,
    pub(super) toruses: Arc<Toruses>,
    /// What each slot has, or will have once the downloads into it have landed.
    pub(super) contents: Mutex<HashMap<(LatticeId, Slot), Content>>,
}

impl SplitSlots {
    /// Submits downloads and notes what they bring. Meanwhile, which may be long, nobody waits: what
    /// the slots have is not known, so they cannot be read.
    pub(super) fn expect<T>(
        &self,
        landings: &[Landing],
        submit: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let expected = || landings.iter().flat_map(Landing::contents);
        let before: Vec<_> = expected()
            .filter_map(|(slot, _)| self.contents.lock().remove_entry(&slot))
            .collect();
        let submitted = submit();
        match &submitted {
            Ok(_) => self.contents.lock().extend(expected()),
            Err(_) => self.contents.lock().extend(before),
        }
        submitted
    }

    fn content(&self, lattice: LatticeId, slot: Slot) -> Option<Content> {
        self.contents.lock().get(&(lattice, slot)).copied()
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
        let brings = |band: &Band| match content {
            Content::Rows { first, count } => band.own_part(first, count).is_some(),
            Content::View(_) | Content::Measure => true,
        };
        let brought = torus.bands.iter().enumerate().filter(|(_, it)| brings(it));
        let bands: Vec<_> = brought
            .map(|(band, _)| torus.band_of(band, lattice))
            .collect();
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
            let is_free = |band| self.inner.is_free(torus.band_of(band, lattice), slot);
            (0..torus.bands.len()).all(is_free)
        })
    }
}
