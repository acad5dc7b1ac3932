//! What a log consists of: changes of the cells, and what holds of a session between them.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::saved::text;
use crate::{Change, NewCells, Setup, Start, start_cells, start_lattice};
use engine::WordEdit;
use lang::{Message, message};
use life::{Lattice, MemoryError, Rule, Size, Soup};

/// The author of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Author {
    /// The user, who can undo it.
    Person,
    /// The program, which refills dead panels.
    Program,
}

/// One change at one generation. A stroke drawn while the session runs is several records of one
/// entry.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Record {
    /// Records of the same entry are undone together.
    pub entry: u64,
    /// Its author.
    pub author: Author,
    /// The generation at which it is applied.
    pub generation: u64,
    /// The change.
    pub content: Content,
}

/// The change of a record.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Sets every lattice to a start, and the clock to the start's generation.
    Start(Start),
    /// Changes cells of one instance; while A and B are compared, of its counterpart too.
    Cells {
        /// The instance, counted from 0.
        instance: usize,
        /// The change of its cells.
        #[serde(rename = "change")]
        cells: CellChange,
    },
    /// Sets the rule.
    Rule(#[serde(with = "text")] Rule),
    /// Enlarges or reduces the lattices about their middle, or changes their number.
    Grid {
        /// The size of every lattice.
        #[serde(with = "text")]
        size: Size,
        /// Number of lattices. Added ones get their lattices of the start in force.
        instances: usize,
    },
    /// From here on A and B are compared: the second half of the lattices, B's, takes the cells of the first,
    /// A's. The last one of an odd number stays as it is, and is not stepped.
    Compare,
}

/// How the cells of an instance change.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellChange {
    /// The instance's lattice of the start in force.
    Start,
    /// A new soup.
    Soup {
        /// Probability that a cell is alive, 0 to 1.
        density: f64,
        /// The seed; each instance gets another soup of it.
        seed: u64,
    },
    /// An edit by the user: drawn, pasted, filled, flipped or turned cells.
    #[serde(untagged)]
    Edit(Change),
}

/// What is written into a lattice.
#[derive(Clone, Debug)]
pub(crate) enum CellWrite {
    /// Some of its words.
    Words(Arc<[WordEdit]>),
    /// All cells.
    Whole(NewCells),
}

/// Everything about a session at a position except its cells.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct SessionParameters {
    /// The size of every lattice.
    #[serde(with = "text")]
    pub size: Size,
    /// Number of lattices.
    pub instances: usize,
    /// The rule.
    #[serde(with = "text")]
    pub rule: Rule,
    /// The start in force.
    pub start: Start,
    /// Whether A and B are compared. A log's base is never later than the record that says so.
    #[serde(skip)]
    pub compares: bool,
    /// Instances whose cells the user drew or opened: the program never refills them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub drawn: BTreeSet<usize>,
}

impl SessionParameters {
    /// The parameters that a session begins with.
    pub fn of(setup: &Setup) -> SessionParameters {
        SessionParameters {
            size: setup.size,
            instances: setup.instances,
            rule: setup.rule,
            start: setup.start.clone(),
            compares: false,
            drawn: BTreeSet::new(),
        }
    }

    /// An instance's cells of the start in force, which is of another size if the lattices have
    /// been resized since.
    ///
    /// # Errors
    /// The host has no memory for them.
    pub fn start_cells(&self, instance: usize) -> Result<NewCells, MemoryError> {
        start_cells(&self.start, self.size, self.instances_of(instance)[0])
    }

    /// The same as a lattice on the host.
    ///
    /// # Errors
    /// The host has no memory for it.
    pub fn start_lattice(&self, instance: usize) -> Result<Arc<Lattice>, MemoryError> {
        start_lattice(&self.start, self.size, self.instances_of(instance)[0])
    }

    /// How many instances A and B have each, while they are compared.
    pub fn each(&self) -> Option<usize> {
        self.compares.then_some(self.instances / 2)
    }

    /// The instance, and its counterpart while A and B are compared: a change of one is made to both.
    pub fn instances_of(&self, instance: usize) -> Vec<usize> {
        match self.each() {
            Some(each) if instance < 2 * each => vec![instance % each, instance % each + each],
            _ => vec![instance],
        }
    }

    /// Checks what was read from a file.
    pub(crate) fn validate(&self) -> Result<(), Message> {
        let instances = self.instances;
        if !(1..=Setup::MAX_INSTANCES).contains(&instances) {
            return Err(message!(
                "it has {instances} instances; take 1 to {most}",
                most = Setup::MAX_INSTANCES
            ));
        }
        match self.drawn.last() {
            Some(last) if *last >= instances => Err(message!(
                "a person drew on instance {last}, but there are {}, counted from 0",
                instances
            )),
            _ => Ok(()),
        }
    }

    /// Updates the parameters by a record.
    pub(crate) fn apply(&mut self, content: &Content) {
        match content {
            Content::Start(start) => {
                self.start = start.clone();
                self.drawn.clear();
            }
            Content::Cells { instance, cells } => {
                let drawn = matches!(cells, CellChange::Edit(_));
                for instance in self.instances_of(*instance) {
                    if drawn {
                        self.drawn.insert(instance)
                    } else {
                        self.drawn.remove(&instance)
                    };
                }
            }
            Content::Rule(rule) => self.rule = *rule,
            Content::Grid { size, instances } => {
                (self.size, self.instances) = (*size, *instances);
                self.drawn.split_off(instances);
            }
            Content::Compare => self.compares = true,
        }
    }
}

impl Record {
    /// Its memory in bytes except whole lattices, which may be shared.
    pub(crate) fn own_bytes(&self) -> u64 {
        let cells = match &self.content {
            Content::Cells {
                cells: CellChange::Edit(Change::Draw { cells, .. }),
                ..
            } => size_of_val(&cells[..]) as u64,
            _ => 0,
        };
        size_of::<Record>() as u64 + cells
    }

    /// The lattices that it shares.
    pub(crate) fn lattices(&self) -> impl Iterator<Item = &Arc<Lattice>> {
        let (start, pattern) = match &self.content {
            Content::Start(start) => (Some(start), None),
            Content::Cells {
                cells: CellChange::Edit(Change::Place { pattern, .. }),
                ..
            } => (None, Some(pattern)),
            _ => (None, None),
        };
        let start = start.into_iter().flat_map(lattices_of);
        start.chain(pattern)
    }
}

/// The lattices of a start.
pub(crate) fn lattices_of(start: &Start) -> std::slice::Iter<'_, Arc<Lattice>> {
    match start {
        Start::Soup { .. } => [].iter(),
        Start::Lattices { lattices, .. } => lattices.iter(),
    }
}

impl CellChange {
    /// All of the instance's cells after the change; `None` if they depend on the cells before.
    ///
    /// # Errors
    /// The host has no memory for it.
    pub fn whole(
        &self,
        parameters: &SessionParameters,
        instance: usize,
    ) -> Result<Option<NewCells>, MemoryError> {
        Ok(match *self {
            CellChange::Edit(ref change) => change.whole(parameters.size).map(NewCells::Lattice),
            CellChange::Start => Some(parameters.start_cells(instance)?),
            CellChange::Soup { density, seed } => Some(NewCells::Soup(Soup {
                density,
                seed,
                instance: parameters.instances_of(instance)[0] as u64,
            })),
        })
    }

    /// Applies the change to an instance's lattice.
    ///
    /// # Errors
    /// The host has no memory for it.
    pub fn apply(
        &self,
        parameters: &SessionParameters,
        instance: usize,
        lattice: &mut Arc<Lattice>,
    ) -> Result<(), MemoryError> {
        match (self, self.whole(parameters, instance)?) {
            (_, Some(whole)) => *lattice = whole.lattice(parameters.size),
            (CellChange::Edit(change), None) => change.apply_to(Arc::make_mut(lattice)),
            (CellChange::Start | CellChange::Soup { .. }, None) => {}
        }
        Ok(())
    }

    /// What it writes into an instance's lattice, whose cells are `before` if they are known.
    /// `None` if it depends on unknown cells.
    ///
    /// # Errors
    /// The host has no memory for it.
    pub(crate) fn write(
        &self,
        parameters: &SessionParameters,
        instance: usize,
        before: Option<&Arc<Lattice>>,
    ) -> Result<Option<CellWrite>, MemoryError> {
        if let Some(whole) = self.whole(parameters, instance)? {
            return Ok(Some(CellWrite::Whole(whole)));
        }
        let CellChange::Edit(change) = self else {
            return Ok(None);
        };
        let words = match (change.touched(parameters.size), before) {
            (Some(words), _) => words,
            (None, Some(before)) => WordEdit::between(before, &change.apply(before)),
            (None, None) => return Ok(None),
        };
        // An edit of a word is three words.
        if let Some(before) = before
            && 3 * words.len() > before.words().len()
            && words.len() > WordEdit::MAX_PER_COPY
        {
            let mut after = Lattice::try_copy(parameters.size, before.words())?;
            let cells = after.words_mut();
            words
                .iter()
                .for_each(|edit| edit.apply(&mut cells[edit.word as usize]));
            return Ok(Some(CellWrite::Whole(Arc::new(after).into())));
        }
        Ok(Some(CellWrite::Words(words.into())))
    }
}
