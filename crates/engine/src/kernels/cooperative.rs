//! How `cooperative` divides lattices among the SMs of a device.
//!
//! A lattice is divided into strips of whole rows, one block each. A block also has `halo` rows above
//! and below its own, of the adjacent blocks, which are exchanged every `halo` generations. A group of
//! adjacent lanes has `rows` rows of the block, each lane `words` planar words of each row. A lattice
//! that fits a single block needs no halo.

use std::cell::Cell;
use std::cmp::Reverse;

use life::Size;

use super::launch::Launch;

/// Maximum warps of a block: the registers of an SM suffice for so many. (Where a lane has more than
/// four words, the shared memory suffices for eight.)
pub(super) const MAX_WARPS: u32 = 12;

/// Dynamic shared memory that every device has for a block, in bytes.
pub(crate) const MAX_SHARED_BYTES: u64 = 48 << 10;

/// Bytes of a `uint4`, and of a message.
const QUAD_BYTES: u32 = 16;

/// One of the kernel's variants; see `Part` in `09_cooperative.cu`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Variant {
    /// Words of a row that a lane has.
    words: u32,
    /// Rows that a lane has.
    rows: u32,
    /// Halo rows above and below the block's own; 0 if the block has the whole lattice.
    halo: u32,
    /// Whether the lanes must have each word of a row once.
    exact: bool,
}

impl Variant {
    const fn new(words: u32, rows: u32, halo: u32, exact: bool) -> Variant {
        Variant {
            words,
            rows,
            halo,
            exact,
        }
    }

    /// `uint4`s for the sums of a lane's row, or for the messages that carry it.
    const fn quads(self) -> u32 {
        self.words.div_ceil(2)
    }
}

/// The kernel's variants, in the order of [`ENTRIES`].
const VARIANTS: [Variant; 11] = [
    Variant::new(2, 4, 8, false),
    Variant::new(2, 6, 8, false),
    Variant::new(2, 6, 8, true),
    Variant::new(4, 6, 8, false),
    Variant::new(4, 12, 8, false),
    Variant::new(4, 12, 8, true),
    Variant::new(5, 4, 4, false),
    Variant::new(2, 4, 0, false),
    Variant::new(2, 16, 0, false),
    Variant::new(2, 16, 0, true),
    Variant::new(4, 12, 0, false),
];

/// The functions of the variants.
pub(super) const ENTRIES: [&str; VARIANTS.len()] = [
    "life_cooperative_2x4",
    "life_cooperative_2x6",
    "life_cooperative_2x6_exact",
    "life_cooperative_4x6",
    "life_cooperative_4x12",
    "life_cooperative_4x12_exact",
    "life_cooperative_5x4",
    "life_cooperative_2x4_alone",
    "life_cooperative_2x16_alone",
    "life_cooperative_2x16_exact_alone",
    "life_cooperative_4x12_alone",
];

/// How lattices of one size are divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Division {
    /// Index of the variant.
    entry: usize,
    /// Blocks per lattice.
    blocks: u32,
    /// Warps per block.
    warps: u32,
    /// Dynamic shared memory per block, in bytes.
    shared_bytes: u32,
    /// Words of 4 bytes for the mail between the blocks of a lattice. They must be 0 before the first
    /// launch; each launch leaves them 0.
    pub mail_words: usize,
    /// Maximum lattices of a launch, so that all its blocks run at the same time.
    pub max_lattices: u32,
    /// Lattices that are stepped at the same time.
    at_once: u32,
    /// Estimated time for a generation of that many lattices, in clock cycles.
    cycles: u64,
}

impl Division {
    /// The fastest division of `lattices` lattices of this size on a device with this many SMs, or
    /// with as many as the size needs ([`min_sm_count`]).
    ///
    /// Finding it takes some microseconds, and every launch needs it several times, so each thread
    /// keeps the last one.
    pub fn of(size: Size, lattices: u32, sm_count: u32) -> Division {
        type CachedDivision = (Size, u32, u32, Division);
        thread_local! {
            static LAST: Cell<Option<CachedDivision>> = const { Cell::new(None) };
        }
        match LAST.get() {
            Some((of, number, sms, last)) if (of, number, sms) == (size, lattices, sm_count) => {
                last
            }
            _ => {
                let division = Division::find(size, lattices, sm_count);
                LAST.set(Some((size, lattices, sm_count, division)));
                division
            }
        }
    }

    fn find(size: Size, lattices: u32, sm_count: u32) -> Division {
        let sm_count = sm_count.max(min_sm_count(size));
        let fill = (sm_count / lattices.max(1)).max(2);
        let choices = (0..VARIANTS.len()).flat_map(|entry| {
            let min = min_blocks(size, VARIANTS[entry]);
            let max = match VARIANTS[entry].halo {
                0 => 1,
                halo => sm_count.min(size.height / halo),
            };
            let blocks = [min, min.map(|min| fill.clamp(min, max.max(min)))];
            blocks
                .into_iter()
                .flatten()
                .filter(move |blocks| *blocks <= max)
                .map(move |blocks| Division::with(size, lattices, sm_count, entry, blocks))
        });
        let by_time = |division: &Division| (division.cycles(lattices), Reverse(division.blocks));
        let fastest = choices.min_by_key(by_time);
        fastest.expect("the kernel supports the size, so a variant does")
    }

    fn with(size: Size, lattices: u32, sm_count: u32, entry: usize, blocks: u32) -> Division {
        /// Cycles of a scheduler for a word: 7.5 operations of 2 cycles, and the ends of rows.
        const EXACT_WORD: u64 = 17;
        const WORD: u64 = 21;
        /// Cycles of a generation for shuffles, shared memory and the barrier, and of an exchange of
        /// mail. All four are fitted to rates measured on an H200.
        const GENERATION: u64 = 110;
        const EXCHANGE: u64 = 1300;
        const SCHEDULERS: u32 = 4; // of an SM
        let variant = VARIANTS[entry];
        let groups = groups(size, variant, blocks);
        let across = lanes_across(size, variant);
        let warps = groups.div_ceil(32 / across);
        // With halos, the kernel uses all groups of its warps; otherwise only those it needs.
        let groups = match variant.halo {
            0 => groups,
            _ => warps * (32 / across),
        };
        let (per_sm, max_lattices) = match variant.halo {
            0 => {
                let wanted = lattices.div_ceil(sm_count);
                (wanted.clamp(1, MAX_WARPS / warps), Launch::MAX_GRID_Z)
            }
            _ => (1, (sm_count / blocks).max(1)),
        };
        let words = u64::from((warps * per_sm).div_ceil(SCHEDULERS) * variant.words * variant.rows);
        let of_words = words * if variant.exact { EXACT_WORD } else { WORD };
        let of_mail = match variant.halo {
            0 => 0,
            halo => EXCHANGE / u64::from(halo),
        };
        let quads = variant.quads() * across;
        Division {
            entry,
            blocks,
            warps,
            // The sums of two rows of each group, by turns in two places.
            shared_bytes: 4 * groups * quads * QUAD_BYTES,
            // Two mailboxes per block, by turns, each for two halos.
            mail_words: (blocks * 4 * variant.halo * quads * QUAD_BYTES / 4) as usize,
            max_lattices,
            at_once: (sm_count * per_sm / blocks).max(1),
            cycles: of_words + GENERATION + of_mail,
        }
    }

    /// Estimated time for a generation of this many lattices, in clock cycles.
    pub fn cycles(&self, lattices: u32) -> u64 {
        u64::from(lattices.div_ceil(self.at_once)) * self.cycles
    }

    /// The launch for this many adjacent lattices.
    pub(super) fn launch(&self, lattices: u32) -> Launch {
        Launch {
            grid: [self.blocks, lattices, 1],
            block: [32 * self.warps, 1, 1],
            shared_bytes: u64::from(self.shared_bytes),
            entry: self.entry,
            cooperative: self.blocks > 1,
        }
    }
}

/// The minimum number of SMs that a lattice of this size needs: a block each.
pub(super) fn min_sm_count(size: Size) -> u32 {
    let blocks = VARIANTS
        .into_iter()
        .filter_map(|variant| min_blocks(size, variant));
    blocks
        .min()
        .expect("the kernel supports the size, so a variant does")
}

/// Lanes that have a row together.
fn lanes_across(size: Size, variant: Variant) -> u32 {
    size.width.div_ceil(32).div_ceil(variant.words)
}

/// Groups of lanes of a block.
fn groups(size: Size, variant: Variant, blocks: u32) -> u32 {
    let rows = size.height.div_ceil(blocks) + 2 * variant.halo;
    rows.div_ceil(variant.rows)
}

/// The minimum number of blocks per lattice; `None` if the variant does not support the size.
fn min_blocks(size: Size, variant: Variant) -> Option<u32> {
    let across = lanes_across(size, variant);
    let fits_exactly =
        size.width.is_multiple_of(128) && (size.width / 32).is_multiple_of(variant.words);
    if !(2..=32).contains(&across) || (variant.exact && !fits_exactly) {
        return None;
    }
    let per_warp = 32 / across;
    let by_memory = MAX_SHARED_BYTES as u32 / (4 * variant.quads() * across * QUAD_BYTES);
    let max_groups = (MAX_WARPS.min(by_memory / per_warp)) * per_warp;
    let max_rows = max_groups * variant.rows;
    if variant.halo == 0 {
        // Two groups may both have a row at their border, but not more.
        let groups = groups(size, variant, 1);
        let is_even = size.height / groups + 1 >= variant.rows;
        return (groups <= max_groups && is_even).then_some(1);
    }
    let own = max_rows.checked_sub(2 * variant.halo)?;
    let blocks = size.height.div_ceil(own.max(1)).max(2);
    (own >= variant.halo && size.height / blocks >= variant.halo).then_some(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn division(lattices: u32, width: u64, height: u64, sm_count: u32) -> (Variant, Division) {
        let size = Size::new(width, height).unwrap();
        let division = Division::of(size, lattices, sm_count);
        // The one that was kept is the one that would be found.
        for lattices in [lattices, lattices + 1, lattices] {
            let kept = Division::of(size, lattices, sm_count);
            assert_eq!(kept, Division::find(size, lattices, sm_count), "{size}");
        }
        (VARIANTS[division.entry], division)
    }

    #[test]
    fn every_supported_size_is_divided_so_that_all_rows_have_a_lane() {
        let widths = [
            128, 129, 160, 161, 320, 500, 600, 1000, 1024, 1500, 2048, 2049, 3000, 4096, 5000, 5120,
        ];
        let heights = [
            16, 17, 23, 64, 100, 128, 300, 500, 600, 1000, 1024, 2048, 3000, 10_000,
        ];
        for (width, height) in widths.into_iter().flat_map(|w| heights.map(|h| (w, h))) {
            for lattices in [1, 2, 3, 16, 64, 100, 1056] {
                for sm_count in [20, 84, 132, 148] {
                    let (variant, division) = division(lattices, width, height, sm_count);
                    let case = format!("{lattices} x {width}x{height} on {sm_count}: {division:?}");
                    let lanes = 32 * division.warps;
                    assert!(division.warps <= MAX_WARPS, "{case}");
                    assert!(
                        u64::from(division.shared_bytes) <= MAX_SHARED_BYTES,
                        "{case}"
                    );
                    let size = Size::new(width, height).unwrap();
                    let across = lanes_across(size, variant);
                    assert!(across * variant.words * 32 >= width as u32, "{case}");
                    let groups = lanes / 32 * (32 / across);
                    let rows = (height as u32).div_ceil(division.blocks) + 2 * variant.halo;
                    assert!(groups * variant.rows >= rows, "{case}");
                    assert_eq!(division.blocks == 1, variant.halo == 0, "{case}");
                    assert!(
                        division.blocks <= sm_count.max(min_sm_count(size)),
                        "{case}"
                    );
                    assert!(height as u32 / division.blocks >= variant.halo, "{case}");
                }
            }
        }
    }

    /// What was fastest of all divisions when it was measured on an H200.
    #[test]
    fn the_fastest_division_is_found() {
        for (lattices, width, height, entry, blocks, warps) in [
            (16, 1024, 1024, "2x6_exact", 8, 12),
            (16, 2048, 2048, "4x12_exact", 8, 12),
            (4, 4096, 4096, "4x12_exact", 33, 12),
            (16, 1000, 1000, "2x6", 8, 12),
            (16, 1000, 600, "2x4", 8, 12),
            (1, 5000, 3000, "5x4", 132, 8),
            (64, 512, 512, "2x6_exact", 2, 12),
            (100, 500, 500, "2x16_alone", 1, 8),
            (256, 256, 256, "2x16_exact_alone", 1, 2),
        ] {
            let size = Size::new(width, height).unwrap();
            let division = Division::of(size, lattices, 132);
            let found = (ENTRIES[division.entry], division.blocks, division.warps);
            let expected = format!("life_cooperative_{entry}");
            assert_eq!(
                found,
                (expected.as_str(), blocks, warps),
                "{lattices} x {size}"
            );
        }
    }
}
