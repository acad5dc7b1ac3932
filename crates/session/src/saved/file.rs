//! The parts of the file, and what they must have for a session to go on from them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::cells::{Cells, DrawnCells};
use super::{FORMAT, SavedComparison, SavedSession, SavedTimeline, Settings, Text, check_format};
use crate::copies::Snapshot;
use crate::log::{Author, CellChange, Content, Log, Position, Record, SessionParameters};
use crate::{Area, Change, Setup, Start, Switches};
use lang::{Message, message};
use life::{Lattice, Rule, Size, grouped};

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    lifestreams_session: u64,
    settings: Settings,
    running: bool,
    selected: usize,
    main: TimelineFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comparison: Option<ComparisonFile>,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ComparisonFile {
    second: Switches,
    timeline: TimelineFile,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct TimelineFile {
    base: BaseFile,
    records: Vec<RecordFile>,
    position: Position,
    newest: SnapshotFile,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct BaseFile {
    position: Position,
    /// Whether its lattices are those of the start.
    is_start: bool,
    size: Text<Size>,
    instances: usize,
    rule: Text<Rule>,
    start: StartFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    counterparts: Option<usize>,
    /// Instances whose cells the user drew or opened.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    drawn: BTreeSet<usize>,
    /// Its lattices, unless it is a start or the newest ones are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lattices: Option<Vec<Cells>>,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum StartFile {
    Soup {
        density: f64,
        seed: u64,
        /// Of a soup that cannot be made.
        #[serde(default, skip_serializing)]
        symmetry: Option<String>,
    },
    Lattices(Vec<Cells>),
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct SnapshotFile {
    position: Position,
    lattices: Vec<Cells>,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordFile {
    entry: u64,
    author: Author,
    generation: u64,
    content: ContentFile,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum ContentFile {
    Start(StartFile),
    Cells { instance: usize, change: ChangeFile },
    Rule(Text<Rule>),
    Grid { size: Text<Size>, instances: usize },
}

/// A change of an instance's cells.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum ChangeFile {
    /// Back to the start in force.
    Start,
    Soup {
        density: f64,
        seed: u64,
    },
    Draw {
        cells: Text<DrawnCells>,
        alive: bool,
    },
    Place {
        pattern: Cells,
        at: [u32; 2],
        #[serde(rename = "dead_too")]
        overwrites_dead: bool,
    },
    Clear(AreaFile),
    Fill {
        area: AreaFile,
        density: f64,
        seed: u64,
    },
    Flip {
        area: AreaFile,
        #[serde(rename = "sideways")]
        horizontal: bool,
    },
    #[serde(rename = "turn")]
    Rotate {
        area: AreaFile,
        clockwise: bool,
    },
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct AreaFile {
    x: u32,
    y: u32,
    size: Text<Size>,
}

/// The part of a [`SessionParameters`] that records are checked against.
#[derive(Clone, Copy)]
struct Shape {
    size: Size,
    instances: usize,
    rule: Rule,
}

impl Shape {
    fn of(parameters: &SessionParameters) -> Shape {
        Shape {
            size: parameters.size,
            instances: parameters.instances,
            rule: parameters.rule,
        }
    }

    fn apply(&mut self, content: &Content) {
        match content {
            Content::Rule(rule) => self.rule = *rule,
            Content::Grid { size, instances } => {
                (self.size, self.instances) = (*size, *instances);
            }
            Content::Start(_) | Content::Cells { .. } => {}
        }
    }
}

impl File {
    pub(super) fn of(session: &SavedSession) -> File {
        File {
            lifestreams_session: FORMAT,
            settings: Settings::of(session),
            running: session.running,
            selected: session.selected,
            main: TimelineFile::of(&session.main),
            comparison: session.comparison.as_ref().map(|own| ComparisonFile {
                second: own.second,
                timeline: TimelineFile::of(&own.timeline),
            }),
        }
    }

    pub(super) fn session(self) -> Result<SavedSession, Message> {
        check_format(Some(self.lifestreams_session))?;
        let is_begun = !self.main.symmetric_starts().is_empty();
        let main = self.main.timeline(false)?;
        let comparison = self.comparison.map(|file| {
            let timeline = file
                .timeline
                .timeline(true)
                .map_err(|reason| message!("in the comparison of A and B: {reason}"))?;
            Ok::<_, Message>(SavedComparison {
                second: file.second,
                timeline,
            })
        });
        let comparison = comparison.transpose()?;
        let mut session = self
            .settings
            .session(main, comparison, self.running, self.selected)?;
        if is_begun {
            let newest = session.timeline().log.base();
            session.notices.push(message!(
                "Symmetric soups are not supported: the session begins with the file's lattices of generation {}",
                grouped(newest.generation)
            ));
        }
        Ok(session)
    }
}

impl TimelineFile {
    fn of(timeline: &SavedTimeline) -> TimelineFile {
        let log = &timeline.log;
        let parameters = log.base_parameters();
        let unpacked = |copy: &Snapshot| (copy.position, copy.lattices().unwrap_or_default());
        let start = || {
            let all = (0..parameters.instances).map(|i| parameters.start_lattice(i));
            (
                log.base(),
                all.collect::<Result<_, _>>().unwrap_or_default(),
            )
        };
        let (newest, lattices) = &timeline.copies.last().map_or_else(start, unpacked);
        let base = timeline.copies.first().map(unpacked);
        let base = base.filter(|_| !log.base_is_start() && log.base() != *newest);
        let all = |lattices: &[Arc<Lattice>], rule, generation| {
            let cells = |lattice| cells(lattice, rule, generation);
            lattices.iter().map(cells).collect::<Vec<_>>()
        };
        let mut shape = Shape::of(parameters);
        let records = log.records().map(|record| {
            let file = RecordFile::of(record, shape);
            shape.apply(&record.content);
            file
        });
        TimelineFile {
            records: records.collect(),
            base: BaseFile {
                position: log.base(),
                is_start: log.base_is_start(),
                size: Text(parameters.size),
                instances: parameters.instances,
                rule: Text(parameters.rule),
                start: StartFile::of(&parameters.start, parameters.rule),
                counterparts: parameters.counterparts,
                drawn: parameters.drawn.clone(),
                lattices: base.map(|(_, base)| all(&base, parameters.rule, log.base().generation)),
            },
            position: timeline.position,
            newest: SnapshotFile {
                position: *newest,
                lattices: all(
                    lattices,
                    log.parameters(newest.records).rule,
                    newest.generation,
                ),
            },
        }
    }

    /// For each start that is a soup with symmetry, how many of the file's records come before it.
    fn symmetric_starts(&self) -> Vec<usize> {
        let is_symmetric = |start: &StartFile| matches!(start, StartFile::Soup { symmetry, .. } if symmetry.is_some());
        let of_records = self.records.iter().map(|record| match &record.content {
            ContentFile::Start(start) => is_symmetric(start),
            _ => false,
        });
        let all = std::iter::once(is_symmetric(&self.base.start)).chain(of_records);
        let all = all.enumerate();
        all.filter_map(|(at, is)| is.then_some(at)).collect()
    }

    /// The log and the lattices, checked; of a comparison, or of the session itself. It begins with its
    /// newest lattices if it has a soup with symmetry, which cannot be made.
    fn timeline(self, compares: bool) -> Result<SavedTimeline, Message> {
        let symmetric_starts = self.symmetric_starts();
        let base = self.base;
        let parameters = SessionParameters {
            size: base.size.0,
            instances: base.instances,
            rule: base.rule.0,
            start: base.start.start(base.rule.0)?,
            counterparts: base.counterparts,
            drawn: base.drawn,
        };
        let counterparts = parameters.counterparts;
        let check_counterparts = |instances: usize| {
            check_instances(instances)?;
            let wanted = compares.then_some(instances / 2);
            if wanted == counterparts && wanted != Some(0) {
                return Ok(());
            }
            Err(match counterparts {
                Some(_) if !compares => message!("it has counterparts, but compares nothing"),
                Some(each) => message!(
                    "it has {instances} instances, so instance {each} is not the counterpart of instance 0"
                ),
                None => message!("it has no counterparts"),
            })
        };
        check_counterparts(parameters.instances)?;
        if let Some(last) = parameters
            .drawn
            .last()
            .filter(|&&last| last >= parameters.instances)
        {
            return Err(message!(
                "a person drew on instance {last}, but there are {}, counted from 0",
                parameters.instances
            ));
        }
        let mut shape = Shape::of(&parameters);
        let mut records = Vec::new();
        for file in self.records {
            let number = base.position.records.saturating_add(records.len() as u64);
            let record = file.record(shape).and_then(|record| {
                shape.apply(&record.content);
                check_counterparts(shape.instances)?;
                Ok(record)
            });
            records.push(record.map_err(|reason| message!("in record {number}: {reason}"))?);
        }
        let log = Log::from_parts(parameters, base.position, base.is_start, records)?;
        for position in [self.position, self.newest.position] {
            check_generation(position.generation)?;
            if !log.contains(position) {
                return Err(message!(
                    "generation {} with {} records applied is not on its log",
                    position.generation,
                    position.records
                ));
            }
        }
        let newest = self.newest.position;
        if newest > self.position {
            let (newest, position) = (newest.generation, self.position.generation);
            return Err(message!(
                "its newest lattices are of generation {}, which comes after its position, generation {}",
                newest,
                position
            ));
        }
        let lattices = |lattices: Vec<Cells>, position: Position, what| {
            let parameters = log.parameters(position.records);
            checked_lattices(lattices, Shape::of(&parameters), position.generation, &what)
        };
        let what = message!("its newest lattices");
        let newest_lattices = lattices(self.newest.lattices, newest, what)?;
        let is_newest = log.base() == newest;
        let base = match (log.base_is_start(), is_newest, base.lattices) {
            (true, _, None) => None,
            (false, true, None) => None,
            (false, false, Some(own)) => {
                Some(lattices(own, log.base(), message!("its first lattices"))?)
            }
            (false, false, None) => {
                return Err(message!("it lacks the lattices that its log begins with"));
            }
            (true, _, Some(_)) => {
                return Err(message!(
                    "its log begins with a start, and yet it has other lattices there"
                ));
            }
            (false, true, Some(_)) => {
                return Err(message!(
                    "it has the lattices that its log begins with twice"
                ));
            }
        };
        let pack = |at, lattices: &[Arc<Lattice>]| Snapshot::new(at, lattices).map_err(Message::of);
        let base = base.map(|base| pack(log.base(), &base)).transpose()?;
        let copies = base.into_iter().chain([pack(newest, &newest_lattices)?]);
        let mut timeline = SavedTimeline {
            copies: copies.collect(),
            log,
            position: self.position,
        };
        if !symmetric_starts.is_empty() {
            let first = timeline.log.base().records;
            let mut starts = symmetric_starts.iter().map(|&at| first + at as u64);
            if let Some(later) = starts.find(|at| *at > newest.records) {
                timeline.log.discard_from(later - 1);
                timeline.position = newest;
            }
            timeline.log.begin_with(newest, newest_lattices);
            timeline.copies.clear();
        }
        Ok(timeline)
    }
}

impl StartFile {
    fn of(start: &Start, rule: Rule) -> StartFile {
        match start {
            Start::Soup { density, seed } => StartFile::Soup {
                density: probability(*density),
                seed: *seed,
                symmetry: None,
            },
            Start::Lattices {
                lattices,
                generation,
            } => {
                let cells = |lattice| cells(lattice, rule, *generation);
                StartFile::Lattices(lattices.iter().map(cells).collect())
            }
        }
    }

    /// The start, whose lattices may have another size than those of the session.
    fn start(self, rule: Rule) -> Result<Start, Message> {
        let all = match self {
            StartFile::Soup { density, seed, .. } => {
                check_density(density)?;
                return Ok(Start::Soup { density, seed });
            }
            StartFile::Lattices(all) => all,
        };
        let Some(generation) = all.first().map(|first| first.generation) else {
            return Err(message!("a start has no lattice"));
        };
        check_generation(generation)?;
        let what = message!("a lattice of a start");
        let lattices = all
            .into_iter()
            .map(|cells| checked_cells(cells, rule, generation, &what));
        Ok(Start::Lattices {
            lattices: lattices.collect::<Result<_, _>>()?,
            generation,
        })
    }
}

impl RecordFile {
    fn of(record: &Record, shape: Shape) -> RecordFile {
        RecordFile {
            entry: record.entry,
            author: record.author,
            generation: record.generation,
            content: match &record.content {
                Content::Start(start) => ContentFile::Start(StartFile::of(start, shape.rule)),
                Content::Cells { instance, cells } => ContentFile::Cells {
                    instance: *instance,
                    change: ChangeFile::of(cells, shape),
                },
                Content::Rule(rule) => ContentFile::Rule(Text(*rule)),
                Content::Grid { size, instances } => ContentFile::Grid {
                    size: Text(*size),
                    instances: *instances,
                },
            },
        }
    }

    /// The record, where the lattices are like this before it.
    fn record(self, shape: Shape) -> Result<Record, Message> {
        let content = match self.content {
            ContentFile::Start(start) => Content::Start(start.start(shape.rule)?),
            ContentFile::Cells { instance, .. } if instance >= shape.instances => {
                return Err(message!(
                    "cells of instance {instance} change, but there are {}, counted from 0",
                    shape.instances
                ));
            }
            ContentFile::Cells { instance, change } => Content::Cells {
                instance,
                cells: change.change(shape)?,
            },
            ContentFile::Rule(rule) => Content::Rule(rule.0),
            ContentFile::Grid { size, instances } => {
                check_instances(instances)?;
                Content::Grid {
                    size: size.0,
                    instances,
                }
            }
        };
        Ok(Record {
            entry: self.entry,
            author: self.author,
            generation: self.generation,
            content,
        })
    }
}

impl ChangeFile {
    fn of(change: &CellChange, shape: Shape) -> ChangeFile {
        let change = match change {
            CellChange::Start => return ChangeFile::Start,
            CellChange::Soup { density, seed } => {
                return ChangeFile::Soup {
                    density: probability(*density),
                    seed: *seed,
                };
            }
            CellChange::Edit(change) => change,
        };
        let size = shape.size;
        // Edits go around the torus; in the file they begin on the lattice.
        let on_lattice = |[x, y]: [u32; 2]| [x % size.width(), y % size.height()];
        let area = |area: &Area| {
            let [x, y] = on_lattice([area.x, area.y]);
            AreaFile {
                x,
                y,
                size: Text(area.size),
            }
        };
        match change {
            Change::Draw { cells, alive } => {
                let inside = cells.iter().all(|&cell| cell == on_lattice(cell));
                let cells = if inside {
                    cells.clone()
                } else {
                    cells.iter().copied().map(on_lattice).collect()
                };
                ChangeFile::Draw {
                    cells: Text(DrawnCells(cells)),
                    alive: *alive,
                }
            }
            Change::Place {
                pattern,
                at,
                overwrites_dead,
            } if fits(pattern.size(), size) => ChangeFile::Place {
                pattern: cells(pattern, shape.rule, 0),
                at: on_lattice(*at),
                overwrites_dead: *overwrites_dead,
            },
            Change::Clear(own) if fits(own.size, size) => ChangeFile::Clear(area(own)),
            Change::Fill {
                area: own,
                density,
                seed,
            } if fits(own.size, size) => ChangeFile::Fill {
                area: area(own),
                density: probability(*density),
                seed: *seed,
            },
            Change::Flip {
                area: own,
                horizontal,
            } if fits(own.size, size) => ChangeFile::Flip {
                area: area(own),
                horizontal: *horizontal,
            },
            Change::Rotate {
                area: own,
                clockwise,
            } if fits(own.size, size) => ChangeFile::Rotate {
                area: area(own),
                clockwise: *clockwise,
            },
            // What is larger than the lattice changes nothing.
            Change::Place { .. }
            | Change::Clear(_)
            | Change::Fill { .. }
            | Change::Flip { .. }
            | Change::Rotate { .. } => ChangeFile::Draw {
                cells: Text(DrawnCells(Arc::default())),
                alive: false,
            },
        }
    }

    /// The change of a lattice that is like this.
    fn change(self, shape: Shape) -> Result<CellChange, Message> {
        let size = shape.size;
        let on_lattice = |[x, y]: [u32; 2]| {
            if x < size.width() && y < size.height() {
                return Ok(());
            }
            Err(message!("cell {x},{y} is not on a lattice of {size}"))
        };
        let has_room = |own: Size| {
            if fits(own, size) {
                return Ok(());
            }
            Err(message!(
                "an area of {own} is changed, more than a lattice of {size} has"
            ))
        };
        let area = |area: AreaFile| {
            on_lattice([area.x, area.y])?;
            has_room(area.size.0)?;
            Ok::<_, Message>(Area {
                x: area.x,
                y: area.y,
                size: area.size.0,
            })
        };
        Ok(CellChange::Edit(match self {
            ChangeFile::Start => return Ok(CellChange::Start),
            ChangeFile::Soup { density, seed } => {
                check_density(density)?;
                return Ok(CellChange::Soup { density, seed });
            }
            ChangeFile::Draw { cells, alive } => {
                let cells = cells.0.0;
                cells.iter().try_for_each(|&cell| on_lattice(cell))?;
                Change::Draw { cells, alive }
            }
            ChangeFile::Place {
                pattern,
                at,
                overwrites_dead,
            } => {
                on_lattice(at)?;
                has_room(pattern.lattice.size())?;
                Change::Place {
                    pattern: checked_cells(pattern, shape.rule, 0, &message!("a pattern"))?,
                    at,
                    overwrites_dead,
                }
            }
            ChangeFile::Clear(own) => Change::Clear(area(own)?),
            ChangeFile::Fill {
                area: own,
                density,
                seed,
            } => {
                check_density(density)?;
                Change::Fill {
                    area: area(own)?,
                    density,
                    seed,
                }
            }
            ChangeFile::Flip {
                area: own,
                horizontal,
            } => Change::Flip {
                area: area(own)?,
                horizontal,
            },
            ChangeFile::Rotate {
                area: own,
                clockwise,
            } => Change::Rotate {
                area: area(own)?,
                clockwise,
            },
        }))
    }
}

/// All lattices at a position, if they are what the log says.
fn checked_lattices(
    lattices: Vec<Cells>,
    shape: Shape,
    generation: u64,
    what: &Message,
) -> Result<Vec<Arc<Lattice>>, Message> {
    let (count, instances) = (lattices.len(), shape.instances);
    if count != instances {
        return Err(message!(
            "{what}: there are {count} for {instances} instances"
        ));
    }
    let lattices = lattices.into_iter().enumerate().map(|(at, cells)| {
        let has = cells.lattice.size();
        if has != shape.size {
            return Err(message!(
                "{what}: instance {at} has size {has}, not {size}",
                size = shape.size
            ));
        }
        let what = message!("{what}: instance {at}");
        checked_cells(cells, shape.rule, generation, &what)
    });
    lattices.collect()
}

/// The lattice, if its text has this rule and generation.
fn checked_cells(
    cells: Cells,
    rule: Rule,
    generation: u64,
    what: &Message,
) -> Result<Arc<Lattice>, Message> {
    let (of, at) = (cells.rule, cells.generation);
    if of != rule {
        return Err(message!("{what} has rule {of}, not {rule}"));
    }
    if at != generation {
        return Err(message!("{what} has generation {at}, not {generation}"));
    }
    Ok(cells.lattice)
}

fn cells(lattice: &Arc<Lattice>, rule: Rule, generation: u64) -> Cells {
    Cells {
        lattice: lattice.clone(),
        rule,
        generation,
    }
}

/// A density as [`life::soup`] understands it.
fn probability(density: f64) -> f64 {
    if density.is_nan() {
        0.0
    } else {
        density.clamp(0.0, 1.0)
    }
}

/// Checks a number of instances.
fn check_instances(instances: usize) -> Result<(), Message> {
    if (1..=Setup::MAX_INSTANCES).contains(&instances) {
        return Ok(());
    }
    Err(message!(
        "it has {instances} instances; take 1 to {most}",
        most = Setup::MAX_INSTANCES
    ))
}

/// Checks a generation.
fn check_generation(generation: u64) -> Result<(), Message> {
    if generation <= life::MAX_GENERATION {
        return Ok(());
    }
    Err(message!(
        "it has generation {generation}; take at most {most}",
        most = life::MAX_GENERATION
    ))
}

/// Checks that a density is a probability.
fn check_density(density: f64) -> Result<(), Message> {
    if (0.0..=1.0).contains(&density) {
        return Ok(());
    }
    Err(message!("it has a soup of density {density}; take 0 to 1"))
}

/// Whether a lattice of the inner size fits on one of the outer size.
fn fits(inner: Size, outer: Size) -> bool {
    inner.width() <= outer.width() && inner.height() <= outer.height()
}
