//! A session that goes on with larger lattices, everything that lives in their middle.

use std::sync::Arc;

use crate::instances::ensure_room;
use crate::thread::WHOLE_SLOTS;
use crate::{Keep, Kept, Session};
use engine::Result;
use engine::kernels::{self, KERNELS, Kernel};
use life::{Lattice, MemoryError, Size};
use model::{DeviceChoice, Start};

impl Kept {
    /// The same with larger lattices: what lives is in their middle, and each goes on from the
    /// generation that it had. A kernel that does not take them gives way to one that does.
    ///
    /// # Errors
    /// This machine has no memory for them; nothing has been made then.
    pub fn larger(&self, size: Size) -> Result<Kept, MemoryError> {
        let kernel = taking(size, self.setup.kernel);
        let layout = (self.setup.device == DeviceChoice::Cpu).then_some(kernel.layout);
        // Beside the session, which goes on until the other has begun.
        ensure_room(size, self.setup.instances, layout, WHOLE_SLOTS)?;
        let grown = |lattice: &Arc<Lattice>| {
            Ok::<_, MemoryError>(Arc::new(lattice.in_the_middle_of(size)?))
        };
        let all = |lattices: &[(Arc<Lattice>, u64)]| -> Result<Vec<_>, MemoryError> {
            let lattices = lattices.iter();
            lattices
                .map(|(lattice, at)| Ok((grown(lattice)?, *at)))
                .collect()
        };
        let mut kept = self.clone();
        kept.setup.size = size;
        kept.setup.kernel = kernel;
        kept.setup.switches = kept.setup.switches.fitted_to(kept.setup.kernel);
        if let Start::Lattices { lattices, .. } = &mut kept.setup.start {
            for start in lattices {
                *start = grown(start)?;
            }
        }
        kept.lattices = all(&self.lattices)?;
        if let Some(halves) = &mut kept.halves {
            halves.before = all(&halves.before)?;
            halves.second = halves.second.fitted_to(kept.setup.kernel);
        }
        Ok(kept)
    }
}

impl Session {
    /// Another session in this one's place, that goes on from what is given and is saved where
    /// this one would be.
    ///
    /// # Errors
    /// As [`Session::start`].
    pub fn succeeded_by(&self, kept: Kept, wake: impl Fn() + Send + 'static) -> Result<Session> {
        let keep = Keep {
            path: self.kept_in.clone(),
            from: Some(kept.clone()),
        };
        Session::start_from(kept.setup, keep, wake)
    }
}

fn taking(size: Size, kernel: &'static Kernel) -> &'static Kernel {
    let takes = |kernel: &&'static Kernel| kernel.admit(size).is_ok();
    let others = kernels::find("bits").into_iter().chain(KERNELS.iter());
    let mut all = std::iter::once(kernel).chain(others);
    all.find(takes).unwrap_or(kernel)
}
