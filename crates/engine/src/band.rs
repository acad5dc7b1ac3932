//! Bands: a torus that is cut into rows, so that several devices step it.

use crate::error::invalid;
use crate::{DeviceId, Result};
use life::Size;

/// Some rows of a torus, which a lattice of its own holds between copies of the rows above and below
/// them.
///
/// The lattice is stepped as if it were a torus itself. So a generation spoils a row of the halo at
/// each end, and after `halo` generations the halo must be copied anew from the bands that have its
/// rows ([`LatticeOp::CopyRows`](crate::LatticeOp::CopyRows)); the band's own rows are right all the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Band {
    /// The size of the torus.
    pub torus: Size,
    /// The first of the band's own rows on the torus.
    pub first: u32,
    /// How many they are; at least one.
    pub rows: u32,
    /// Rows of the halo above them, and as many below.
    pub halo: u32,
    /// The device that has them.
    pub device: DeviceId,
    /// How many bands of the torus each device has, and steps at the same time.
    pub per_device: u32,
}

/// How tori are cut into bands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// How many bands a device has, each in a stream of its own.
    pub per_device: u32,
    /// Rows of the halo at each end of a band.
    pub halo: u32,
}

impl Cut {
    /// The fastest cut for the largest tori.
    ///
    /// With two bands on a device, the blocks of one stream have the SMs while the last ones of the
    /// other's launch end: an H200 steps a torus of 32768² as two bands at 49.1 instead of 47.4 Tcell/s.
    ///
    /// A halo of h rows is stepped beside the band's own and copied every h generations. With an
    /// exchange of time e, and t for a row's generation, what that costs is least where
    /// 2 t h² = e: on two H100 (50 µs; 1.3 ns at 65536 cells) at 140 rows. Four H200, whose
    /// bands have fewer rows, are up to 3 % faster with 90 rows than with 120, and two are as fast. The
    /// number is a multiple of the four or six generations of a launch.
    pub const DEFAULT: Cut = Cut {
        per_device: 2,
        halo: 96,
    };

    /// The fastest cut of a torus for `devices` devices. Where launches are short, the exchange of twice
    /// as many bands costs more than a second stream brings.
    pub fn of(torus: Size, devices: usize) -> Cut {
        const MIN_CELLS_OF_TWO: u64 = 1 << 28; // per device
        let has_two = torus.cells() >= MIN_CELLS_OF_TWO * devices as u64;
        Cut {
            per_device: if has_two { 2 } else { 1 },
            ..Cut::DEFAULT
        }
    }

    /// The device of a band, by the band's index.
    pub(crate) fn device(self, band: usize) -> DeviceId {
        DeviceId((band / self.per_device as usize) as u16)
    }
}

/// Adjacent rows, as rows of two lattices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowCopy {
    /// The first in the lattice that they are copied from.
    pub from: u32,
    /// The first in the lattice that they are copied to.
    pub to: u32,
    /// At least one.
    pub count: u32,
}

impl Band {
    /// Cuts a torus into `cut.per_device` bands for each device, whose heights differ by at most a row;
    /// into fewer if it has fewer rows. A halo is at most as high as the torus.
    pub fn divide(torus: Size, devices: usize, cut: Cut) -> Vec<Band> {
        let height = u64::from(torus.height);
        let bands = (devices * cut.per_device as usize).min(height as usize);
        let start = |band: usize| (band as u64 * height / bands as u64) as u32;
        let band = |i| Band {
            torus,
            first: start(i),
            rows: start(i + 1) - start(i),
            halo: cut.halo.min(torus.height),
            device: cut.device(i),
            per_device: cut.per_device,
        };
        (0..bands).map(band).collect()
    }

    /// The size of the lattice: the band's own rows and both halos.
    ///
    /// # Errors
    /// There is no lattice so high.
    pub fn size(self) -> Result<Size> {
        let height = u64::from(self.rows) + 2 * u64::from(self.halo);
        let size = Size::new(self.torus.width.into(), height);
        size.map_err(|_| invalid!("a band of {} is too high", self.torus))
    }

    /// The size of the band's own rows.
    pub fn own_size(self) -> Size {
        Size::new(self.torus.width.into(), self.rows.into()).expect("a part of the torus")
    }

    /// The number that the lattice's first row has on the torus, where numbers go on around it: it is
    /// negative if that row is above row 0.
    pub(crate) fn first_of_halo(self) -> i64 {
        i64::from(self.first) - i64::from(self.halo)
    }

    /// The row of the lattice that is the band's own row `row` of the torus; `None` for a row of
    /// another band.
    pub fn own_row(self, row: u32) -> Option<u32> {
        let within = row.checked_sub(self.first)?;
        (within < self.rows).then_some(within + self.halo)
    }

    /// The parts of rows `first..first + count` of the torus that are the band's own, as rows of the
    /// lattice and as rows behind `first`.
    pub(crate) fn own_part(self, first: u32, count: u32) -> Option<RowCopy> {
        let from = first.max(self.first);
        let end = (first + count).min(self.first + self.rows);
        (from < end).then(|| RowCopy {
            from: from - self.first + self.halo,
            to: from - first,
            count: end - from,
        })
    }

    /// The rows of the halo, each with the index of the band that has it as its own.
    pub fn halo_copies(self, bands: &[Band]) -> Vec<(usize, RowCopy)> {
        let height = i64::from(self.torus.height);
        let mut copies = Vec::new();
        for start in [0, self.halo + self.rows] {
            let (mut to, end) = (start, start + self.halo);
            while to < end {
                let row = (self.first_of_halo() + i64::from(to)).rem_euclid(height) as u32;
                let band = bands.partition_point(|band| band.first + band.rows <= row);
                let owner = bands[band];
                let count = (owner.first + owner.rows - row).min(end - to);
                let from = row - owner.first + owner.halo;
                copies.push((band, RowCopy { from, to, count }));
                to += count;
            }
        }
        copies
    }
}
