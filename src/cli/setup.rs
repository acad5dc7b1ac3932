//! From options to a [`Setup`].

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;

use super::failure::BadArguments;
use super::options::{Common, OnOff};
use engine::kernels::{self, Iteration, KERNELS, Kernel};
use life::{Pattern, PatternError, Shelved, Size, settle};
use model::KernelChoice;
use model::{DeviceChoice, Pace, Setup, Start, Switches, TimeSettings};
use session::worlds::{MOST_GRAPH_LAUNCHES, ensure_room};

/// The side of a lattice when nothing says otherwise: so large that a block's kernel over one lasts
/// longer than the calls of a round keep the host, or it would be those that F2 measures.
pub(super) const DEFAULT_SIDE: u64 = 1024;

/// How fast the window's rounds follow one another at the start.
const ROUNDS_PER_SECOND: f64 = 60.0;

/// A kernel that takes these lattices with these switches, one that takes most first: what stands
/// until another is picked.
fn any_kernel(size: Size, switches: Switches) -> &'static Kernel {
    let [bits, global] = ["bits", "global"].map(|name| kernels::find(name).expect("a kernel"));
    let takes = |kernel: &&Kernel| kernel.admit(size).is_ok() && switches.refusal(kernel).is_none();
    let mut kernels = [bits, global].into_iter().chain(KERNELS.iter());
    kernels.find(takes).unwrap_or(bits)
}

impl Common {
    /// Refuses rounds that would be graphs of more launches than a driver digests.
    fn check_graphs(&self, kernel: &Kernel) -> Result<(), BadArguments> {
        let each = kernel.launches(self.generations_per_round);
        let launches = self.instances as u64 * u64::from(each);
        let many = launches > MOST_GRAPH_LAUNCHES && kernel.iteration != Iteration::InKernel;
        if self.switches.graphs == OnOff::On && many {
            return Err(BadArguments(format!(
                "--graphs on takes at most {MOST_GRAPH_LAUNCHES} launches a round, and this would be {launches}; use fewer --generations-per-round"
            )));
        }
        Ok(())
    }

    /// What these options describe; reads the patterns.
    pub(super) fn setup(&self) -> Result<Setup> {
        let default_size = Size::new(DEFAULT_SIDE, DEFAULT_SIDE)?;
        let patterns: Vec<Pattern> = self
            .pattern
            .iter()
            .map(|path| pattern(path))
            .collect::<Result<_, _>>()?;
        let (size, rule) = settle(&patterns, self.size, self.rule, default_size)?;
        let switches = self.switches.switches();
        let kernel = self.kernel.unwrap_or_else(|| any_kernel(size, switches));
        kernel.admit(size)?;
        if let Some(asked) = self.kernel {
            self.check_graphs(asked)?;
        }
        if let Some(why) = switches.refusal(kernel) {
            return Err(BadArguments(format!("{why}; change one of the options")).into());
        }
        // Before any lattice is made: a line of text can ask for gigabytes.
        let layout = (self.device == DeviceChoice::Cpu).then_some(kernel.layout);
        ensure_room(size, self.instances.max(patterns.len()), layout, 1)?;
        let start = if patterns.is_empty() {
            Start::Soup {
                density: self.density,
                seed: self.seed,
            }
        } else {
            let centred = |pattern: &Pattern| pattern.centred_in(size).map(Arc::new);
            Start::Lattices(patterns.iter().map(centred).collect::<Result<_, _>>()?)
        };
        Ok(Setup {
            instances: self.instances,
            size,
            rule,
            start,
            kernel,
            kernel_choice: match self.kernel {
                Some(_) => KernelChoice::Asked,
                None => KernelChoice::Open,
            },
            device: self.device,
            switches,
            generations_per_round: self.generations_per_round,
            pace: Pace::PerSecond(ROUNDS_PER_SECOND),
            rounds: None,
            time: TimeSettings::DEFAULT,
        })
    }
}

/// The pattern of this file, or the shelf's of this name where there is no such file.
fn pattern(path: &Path) -> Result<Pattern, PatternError> {
    let shelved = || path.to_str().and_then(Shelved::find);
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            shelved().map_or_else(|| Pattern::load(path), |shelved| Ok(shelved.pattern()))
        }
        _ => Pattern::load(path),
    }
}
