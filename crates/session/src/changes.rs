//! What changes the cells of a session: edits by a person, and the records of its log.
//!
//! Drawing, clearing, filling and placing do not depend on the present cells. They become a list of
//! words to set ([`Change::touched`]), which is uploaded between two launches, or a whole lattice
//! if every cell is replaced ([`Change::whole`]). Flipping and rotating depend on the present
//! cells: they are computed on the host from the lattice between two rounds ([`Change::apply`]).

use crate::saved::text;
use crate::{NewCells, Setup, Start, start_cells, start_lattice};
use engine::WordEdit;
use lang::{Message, message};
use life::{Lattice, MemoryError, Rule, Size, Soup, soup};
use std::collections::BTreeSet;
use std::sync::Arc;

/// An edit, and of which instance.
#[derive(Clone, Debug)]
pub struct Edit {
    /// Whose lattice.
    pub instance: usize,
    /// What is done to it.
    pub change: Change,
    /// Whether it goes on with the edit before it, as a stroke of the pencil does: both are undone
    /// together.
    pub continues_stroke: bool,
}

/// What is done to a lattice. Whatever reaches beyond an edge goes around the torus.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Makes cells alive or dead, by column and row.
    Draw {
        /// The cells.
        #[serde(with = "text::cells")]
        cells: Arc<[[u32; 2]]>,
        /// What they become.
        alive: bool,
    },
    /// Puts a pattern on it.
    Place {
        /// The pattern.
        #[serde(with = "text::lattice")]
        pattern: Arc<Lattice>,
        /// Column and row of its top left.
        at: [u32; 2],
        /// Whether its dead cells are put there too, or only its live ones.
        #[serde(rename = "dead_too")]
        overwrites_dead: bool,
    },
    /// Makes every cell of an area dead.
    Clear(Area),
    /// Fills an area with a soup.
    Fill {
        /// Where.
        area: Area,
        /// The chance of each cell to be alive.
        density: f64,
        /// The soup's seed.
        seed: u64,
    },
    /// Makes an area its mirror image.
    Flip {
        /// Where.
        area: Area,
        /// Left becomes right, or top becomes bottom.
        #[serde(rename = "sideways")]
        horizontal: bool,
    },
    /// Turns an area by a quarter about its middle; what was there before and is no more in it
    /// becomes dead.
    #[serde(rename = "turn")]
    Rotate {
        /// Where.
        area: Area,
        /// The way that a clock goes, or the other.
        clockwise: bool,
    },
}

/// A rectangle of cells, which may go around the torus; no larger than the lattice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Area {
    /// The column of its top left.
    pub x: u32,
    /// The row.
    pub y: u32,
    /// Its sides.
    #[serde(with = "text")]
    pub size: Size,
}

impl Area {
    /// All of a lattice.
    pub const fn whole(size: Size) -> Area {
        Area { x: 0, y: 0, size }
    }

    /// The smallest that has both of these cells, neither beyond the edge.
    pub fn spanned([x, y]: [u32; 2], [to_x, to_y]: [u32; 2]) -> Area {
        let sides = [x.abs_diff(to_x) + 1, y.abs_diff(to_y) + 1];
        Area {
            x: x.min(to_x),
            y: y.min(to_y),
            size: Size::new(sides[0].into(), sides[1].into()).expect("within a lattice"),
        }
    }

    /// Whether the area contains a cell, without wrapping around the torus.
    pub fn contains(self, [x, y]: [u32; 2]) -> bool {
        let within = |at: u32, from: u32, side: u32| at >= from && at - from < side;
        within(x, self.x, self.size.width()) && within(y, self.y, self.size.height())
    }

    fn fits(self, lattice: Size) -> bool {
        let (own, all) = (self.size, lattice);
        own.width() <= all.width() && own.height() <= all.height()
    }
}

impl Change {
    /// Whether the change depends on the cells that are there.
    pub fn reads_cells(&self) -> bool {
        matches!(self, Change::Flip { .. } | Change::Rotate { .. })
    }

    /// The words that the change sets in a lattice of this size; `None` if it
    /// [reads cells](Change::reads_cells).
    pub fn touched(&self, size: Size) -> Option<Vec<WordEdit>> {
        let mut patch = Patch::new(size);
        match self {
            Change::Draw { cells, alive } => {
                cells.iter().for_each(|&[x, y]| patch.set(x, y, *alive));
            }
            Change::Place {
                pattern,
                at,
                overwrites_dead,
            } => patch.lay(pattern, *at, *overwrites_dead),
            Change::Clear(area) if area.fits(size) => {
                patch.lay(&Lattice::new(area.size), [area.x, area.y], true);
            }
            Change::Fill {
                area,
                density,
                seed,
            } if area.fits(size) => {
                let soup = soup(area.size, *density, *seed, 0);
                patch.lay(&soup, [area.x, area.y], true);
            }
            Change::Clear(_) | Change::Fill { .. } => {}
            Change::Flip { .. } | Change::Rotate { .. } => return None,
        }
        Some(patch.into_edits())
    }

    /// The new lattice, if the change sets every cell of a lattice of this size whatever the
    /// present ones are; otherwise `None`.
    pub fn whole(&self, size: Size) -> Option<Arc<Lattice>> {
        let all = |area: &Area| area.size == size;
        match self {
            Change::Place {
                pattern,
                at: [0, 0],
                overwrites_dead: true,
            } if pattern.size() == size => Some(pattern.clone()),
            Change::Clear(area) if all(area) => Some(Arc::new(Lattice::new(size))),
            Change::Fill {
                area,
                density,
                seed,
            } if *area == Area::whole(size) => Some(Arc::new(soup(size, *density, *seed, 0))),
            Change::Place { .. } | Change::Clear(_) | Change::Fill { .. } => None,
            Change::Draw { .. } | Change::Flip { .. } | Change::Rotate { .. } => None,
        }
    }

    /// The lattice after the change.
    pub fn apply(&self, lattice: &Lattice) -> Lattice {
        let mut after = lattice.clone();
        self.apply_to(&mut after);
        after
    }

    /// Applies the change to a lattice.
    pub fn apply_to(&self, lattice: &mut Lattice) {
        match self {
            Change::Flip { area, horizontal } if area.fits(lattice.size()) => {
                let part = lattice.part(area.x, area.y, area.size);
                let flipped = flipped(&part, *horizontal);
                lay(&flipped, lattice, [area.x, area.y]);
            }
            Change::Rotate { area, clockwise } if area.fits(lattice.size()) => {
                let part = lattice.part(area.x, area.y, area.size);
                let turned = turned(&part, *clockwise);
                let size = lattice.size();
                if turned.size().width() > size.width() || turned.size().height() > size.height() {
                    return; // it would meet itself
                }
                lay(&Lattice::new(area.size), lattice, [area.x, area.y]);
                lay(&turned, lattice, turned_corner(*area, size));
            }
            Change::Flip { .. } | Change::Rotate { .. } => {}
            Change::Draw { .. } | Change::Place { .. } | Change::Clear(_) | Change::Fill { .. } => {
                apply_all(self.touched(lattice.size()).unwrap_or_default(), lattice);
            }
        }
    }
}

/// Lays a part on a lattice, its dead cells too.
fn lay(part: &Lattice, lattice: &mut Lattice, at: [u32; 2]) {
    let mut patch = Patch::new(lattice.size());
    patch.lay(part, at, true);
    apply_all(patch.into_edits(), lattice);
}

fn apply_all(edits: Vec<WordEdit>, lattice: &mut Lattice) {
    let words = lattice.words_mut();
    for edit in edits {
        edit.apply(&mut words[edit.word as usize]);
    }
}

// The words that an edit touches, gathered cell by cell or row by row.

/// Words of a lattice, each with the cells that are set and what they are set to.
#[derive(Clone, Debug)]
struct Patch {
    size: Size,
    /// In the order in which they were made; one word may have several.
    edits: Vec<WordEdit>,
}

impl Patch {
    /// Nothing yet, of a lattice of this size.
    fn new(size: Size) -> Patch {
        let edits = Vec::new();
        Patch { size, edits }
    }

    /// Sets a cell, around the torus.
    fn set(&mut self, x: u32, y: u32, alive: bool) {
        let (x, y) = (x % self.size.width(), y % self.size.height());
        let word = y as usize * self.size.words_per_row() + (x / 32) as usize;
        let mask = 1 << (x % 32);
        self.edits.push(WordEdit {
            word: word as u32,
            mask,
            bits: if alive { mask } else { 0 },
        });
    }

    /// Lays a pattern whose top left is at this column and row; without `overwrites_dead` only its live
    /// cells. Nothing happens if it is larger than the lattice.
    fn lay(&mut self, pattern: &Lattice, [x, y]: [u32; 2], overwrites_dead: bool) {
        let (own, all) = (pattern.size(), self.size);
        if own.width() > all.width() || own.height() > all.height() {
            return;
        }
        let per_row = all.words_per_row();
        let mut row = vec![[0u32; 2]; per_row]; // mask and bits
        let (left, top) = (x % all.width(), y % all.height());
        let rows = pattern.words().chunks_exact(own.words_per_row());
        for (words, y) in rows.zip(0..) {
            row.fill([0; 2]);
            for (&bits, i) in words.iter().zip(0..) {
                let count = (own.width() - 32 * i).min(32);
                let cells = u32::MAX >> (32 - count);
                let mask = if overwrites_dead { cells } else { bits };
                if mask != 0 {
                    put(&mut row, all.width(), left, i, mask, bits);
                }
            }
            let first = ((top + y) % all.height()) as usize * per_row;
            let touched = row.iter().zip(first as u32..);
            let touched = touched.filter(|([mask, _], _)| *mask != 0);
            self.edits
                .extend(touched.map(|(&[mask, bits], word)| WordEdit { word, mask, bits }));
        }
    }

    /// As an engine takes them.
    fn into_edits(mut self) -> Vec<WordEdit> {
        self.edits.sort_by_key(|edit| edit.word); // stable: what came later stays later
        self.edits.dedup_by(|later, earlier| {
            let same = later.word == earlier.word;
            if same {
                earlier.bits = earlier.bits & !later.mask | later.bits & later.mask;
                earlier.mask |= later.mask;
            }
            same
        });
        self.edits
    }
}

/// Puts word `i` of a pattern whose first column is `left` into a row of this width, around.
fn put(row: &mut [[u32; 2]], width: u32, left: u32, i: u32, mask: u32, bits: u32) {
    let start = u64::from(left) + 32 * u64::from(i);
    let column = (start % u64::from(width)) as u32;
    let mut deposit = |word: u32, shift: u32, up: bool| {
        let shifted = |bits: u32| if up { bits << shift } else { bits >> shift };
        let [masks, cells] = &mut row[word as usize];
        *masks |= shifted(mask);
        *cells |= shifted(mask & bits);
    };
    let highest = 31 - mask.leading_zeros();
    if column + highest < width {
        deposit(column / 32, column % 32, true);
        if column % 32 + highest > 31 {
            deposit(column / 32 + 1, 32 - column % 32, false);
        }
        return;
    }
    for bit in (0..=highest).filter(|bit| mask >> bit & 1 == 1) {
        let column = (column + bit) % width;
        let [masks, cells] = &mut row[(column / 32) as usize];
        *masks |= 1 << (column % 32);
        *cells |= (bits >> bit & 1) << (column % 32);
    }
}

// Mirror images and quarter turns of a part.

/// Left and right exchanged, or top and bottom.
pub fn flipped(part: &Lattice, horizontal: bool) -> Lattice {
    let (width, height) = (part.size().width(), part.size().height());
    rearranged(part, part.size(), |x, y| {
        if horizontal {
            (width - 1 - x, y)
        } else {
            (x, height - 1 - y)
        }
    })
}

/// A quarter turn; a tall part becomes a wide one.
pub fn turned(part: &Lattice, clockwise: bool) -> Lattice {
    let (width, height) = (part.size().width(), part.size().height());
    let size = Size::new(height.into(), width.into()).expect("as many cells as before");
    rearranged(part, size, |x, y| {
        if clockwise {
            (height - 1 - y, x)
        } else {
            (y, width - 1 - x)
        }
    })
}

/// Where the top left of an area is when it has been turned about its middle.
fn turned_corner(area: Area, lattice: Size) -> [u32; 2] {
    let (width, height) = (i64::from(area.size.width()), i64::from(area.size.height()));
    let moved = (width - height).div_euclid(2);
    let around = |at: i64, side: u32| at.rem_euclid(side.into()) as u32;
    [
        around(i64::from(area.x) + moved, lattice.width()),
        around(i64::from(area.y) - moved, lattice.height()),
    ]
}

/// Every live cell goes where `place` says.
fn rearranged(part: &Lattice, size: Size, place: impl Fn(u32, u32) -> (u32, u32)) -> Lattice {
    let mut after = Lattice::new(size);
    let rows = part.words().chunks_exact(part.size().words_per_row());
    for (row, y) in rows.zip(0..) {
        for (&word, i) in row.iter().zip(0..) {
            let mut left = word;
            while left != 0 {
                let (x, y) = place(32 * i + left.trailing_zeros(), y);
                after.set(x, y, true);
                left &= left - 1;
            }
        }
    }
    after
}

// What a log consists of: changes of the cells, and what holds of a session between them.

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
    /// The number by which pictures say that they show it; 0 for what nobody waits to see.
    #[serde(skip)]
    pub number: u64,
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
    Words(Vec<WordEdit>),
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
        Ok(Some(CellWrite::Words(words)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn size(width: u64, height: u64) -> Size {
        Size::new(width, height).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn what_is_placed_lies_there_and_nothing_else_changes(
            width in 1u64..140, height in 1u64..12, seed: u64, overwrites_dead: bool,
            wide in 1u64..140, high in 1u64..12, x in 0u32..300, y in 0u32..30,
        ) {
            let (wide, high) = (wide.min(width), high.min(height));
            let before = soup(size(width, height), 0.4, seed, 0);
            let pattern = Arc::new(soup(size(wide, high), 0.4, seed, 1));
            let place = Change::Place { pattern: pattern.clone(), at: [x, y], overwrites_dead };
            let (width, height) = (width as u32, height as u32);
            let mut want = before.clone();
            for (u, v) in (0..height).flat_map(|v| (0..width).map(move |u| (u, v))) {
                // Cell by cell: what lies in the pattern's place becomes what the pattern has there.
                let (i, j) = ((u + 3 * width * 100 - x) % width, (v + 3 * height * 100 - y) % height);
                let is_inside = u64::from(i) < wide && u64::from(j) < high;
                if is_inside && (overwrites_dead || pattern.get(i, j)) {
                    want.set(u, v, pattern.get(i, j));
                }
            }
            prop_assert_eq!(place.apply(&before), want);
            let edits = place.touched(before.size()).unwrap();
            prop_assert!(WordEdit::check_all(&edits, before.size()).is_ok());
        }

        #[test]
        fn four_turns_and_two_flips_change_nothing(
            width in 1u64..70, height in 1u64..40, seed: u64,
            wide in 1u64..70, high in 1u64..40, x in 0u32..70, y in 0u32..40, clockwise: bool,
        ) {
            // Turned, it must fit too.
            let (wide, high) = (wide.min(width).min(height), high.min(height).min(width));
            let all = size(width, height);
            let area = Area { x: x % width as u32, y: y % height as u32, size: size(wide, high) };
            let lattice = soup(all, 0.4, seed, 0);
            let flips = [true, false].map(|horizontal| Change::Flip { area, horizontal });
            for flip in &flips {
                prop_assert_eq!(&flip.apply(&flip.apply(&lattice)), &lattice);
            }
            let part = lattice.part(area.x, area.y, area.size);
            let mut turned = part.clone();
            for _ in 0..4 {
                turned = super::turned(&turned, clockwise);
            }
            prop_assert_eq!(&turned, &part);
            let once = Change::Rotate { area, clockwise }.apply(&lattice);
            let at = super::turned_corner(area, all);
            let there = once.part(at[0], at[1], size(high, wide));
            prop_assert_eq!(there, super::turned(&part, clockwise));
        }
    }

    #[test]
    fn a_quarter_turn_goes_the_way_of_the_clock_about_the_middle() {
        // The right end of a row becomes the lower end of a column.
        let mut lattice = Lattice::new(size(7, 7));
        lattice.set(4, 3, true);
        let (area, clockwise) = (Area::spanned([2, 3], [4, 3]), true);
        let turned = Change::Rotate { area, clockwise }.apply(&lattice);
        assert!(turned.get(3, 4) && turned.population() == 1);
    }
}
