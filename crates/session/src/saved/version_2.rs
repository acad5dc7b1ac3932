//! Files of version 2, which releases before this one have saved.

use std::collections::VecDeque;

use super::{FORMAT, SavedSession, Settings};
use crate::copies::{Packed, SavedTimeline, Snapshot};
use crate::log::{Log, Position, Record, SessionParameters};
use lang::{Message, message};
use life::grouped;
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct File {
    settings: Settings,
    running: bool,
    selected: usize,
    main: Timeline,
    /// A and B on a log of their own.
    comparison: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Timeline {
    base: Base,
    records: VecDeque<Record>,
    position: Position,
    newest: Snapshot,
}

#[derive(Deserialize)]
struct Base {
    position: Position,
    is_start: bool,
    #[serde(flatten)]
    parameters: SessionParameters,
    /// Its lattices, unless it is a start or the newest ones are the same.
    lattices: Option<Vec<Packed>>,
}

impl Timeline {
    /// With `is_symmetric` it begins with its newest lattices and has nothing later.
    fn timeline(self, is_symmetric: bool) -> Result<SavedTimeline, Message> {
        let (newest, base) = (self.newest, self.base);
        let mut log = Log::from_parts(base.parameters, base.position, base.is_start, self.records);
        if is_symmetric {
            let position = newest.position;
            log.discard_from(position.records);
            log.begin_with(position, newest.lattices().map_err(Message::of)?);
            return Ok(SavedTimeline {
                log,
                position,
                copies: Vec::new(),
            });
        }
        let begin = base.lattices.map(|lattices| Snapshot {
            position: base.position,
            lattices: lattices.into(),
        });
        Ok(SavedTimeline {
            log,
            position: self.position,
            copies: begin.into_iter().chain([newest]).collect(),
        })
    }
}

impl File {
    /// The session, without a comparison of A and B. Soups with symmetry cannot be made any more.
    pub(super) fn session(self, is_symmetric: bool) -> Result<SavedSession, Message> {
        let file = super::File {
            lifestreams_session: FORMAT,
            settings: self.settings,
            running: self.running,
            selected: self.selected,
            timeline: self.main.timeline(is_symmetric)?,
        };
        let mut session = file.session()?;
        if self.comparison.is_some() {
            session.notices.push(message!(
                "The comparison of A and B in this file has ended; every lattice is as it was before"
            ));
        }
        if is_symmetric {
            session.notices.push(message!(
                "Symmetric soups are not supported: the session begins with the file's lattices of generation {}",
                grouped(session.timeline.position.generation)
            ));
        }
        Ok(session)
    }
}
