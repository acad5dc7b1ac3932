//! A part of the screen, shared, with a revision that tells whether it is still the same.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// A part of the screen. Two with the same revision have the same value: whoever has painted or
/// sent one need not look at it again.
#[derive(PartialEq, Debug, Serialize, Deserialize)]
pub struct Section<T> {
    revision: u64,
    value: Arc<T>,
}

/// A revision that nothing in this process has had.
pub(crate) fn new_revision() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

impl<T> Section<T> {
    /// The number of this value; a later value has a larger one.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The value, to keep it or to change one's own copy of it.
    pub fn share(&self) -> Arc<T> {
        self.value.clone()
    }

    /// Puts a value in a section's place: the section stays as it is if it has that value.
    pub(crate) fn update(place: &mut Option<Section<T>>, value: Option<impl Into<Arc<T>>>)
    where
        T: PartialEq,
    {
        let Some(value) = value.map(Into::into) else {
            *place = None;
            return;
        };
        let is_same =
            |section: &Section<T>| Arc::ptr_eq(&section.value, &value) || section.value == value;
        if !place.as_ref().is_some_and(is_same) {
            let revision = new_revision();
            *place = Some(Section { revision, value });
        }
    }
}

impl<T> Deref for Section<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

// Derived, it would ask that the value can be copied.
impl<T> Clone for Section<T> {
    fn clone(&self) -> Section<T> {
        Section {
            revision: self.revision,
            value: self.value.clone(),
        }
    }
}
