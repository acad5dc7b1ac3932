//! A lattice and a rule that a kernel is checked with.

use std::fmt;

use engine::Kernel;
use lang::tr;
use life::{Lattice, Rule, Size, Soup};
use serde::{Deserialize, Serialize};

/// A lattice and a rule.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Case {
    /// Width of the lattice in cells.
    pub width: u32,
    /// Height of the lattice in cells.
    pub height: u32,
    /// The rule, such as `B3/S23`.
    pub rule: String,
    /// Fraction of cells alive at the start.
    pub density: f64,
    /// Seed of the soup.
    pub seed: u64,
    /// How many generations are stepped.
    pub generations: u32,
    /// How many adjacent lattices a launch steps.
    pub lattices: u32,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&tr!(
            "{rule} on {width} × {height} cells",
            rule = &self.rule,
            width = self.width,
            height = self.height
        ))
    }
}

impl Case {
    /// The size of its lattices.
    pub(crate) fn size(&self) -> Size {
        Size::new(self.width.into(), self.height.into()).expect("a case's size")
    }

    /// Its rule.
    pub(crate) fn rule(&self) -> Rule {
        self.rule.parse().expect("a case's rule")
    }

    /// The lattices that it begins with.
    pub(crate) fn starts(&self) -> Vec<Lattice> {
        let soup = |instance| Soup {
            density: self.density,
            seed: self.seed,
            instance,
        };
        let lattices = 0..u64::from(self.lattices);
        lattices
            .map(|instance| soup(instance).lattice(self.size()))
            .collect()
    }

    /// After how many generations its lattices are compared with the reference.
    pub(crate) fn compared_after(&self, rung: &Kernel) -> Vec<u32> {
        match rung.iteration {
            engine::kernels::Iteration::InKernel => {
                let mut after = vec![1, 2, self.generations];
                after.retain(|generations| *generations <= self.generations);
                after.dedup();
                after
            }
            other => {
                let each = other.generations_per_launch();
                let launches = 1..=self.generations.div_ceil(each);
                launches
                    .map(|launch| (launch * each).min(self.generations))
                    .collect()
            }
        }
    }
}
