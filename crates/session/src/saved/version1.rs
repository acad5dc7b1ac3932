//! Version 1 of the file: every instance's lattice and generation, without a log.
//!
//! Its lattices become the base of a log. Instances could be at different generations; the clock is
//! that of the selected one.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::cells::Cells;
use super::{KernelName, SavedComparison, SavedSession, SavedTimeline, Settings, Text, Version};
use super::{StartFile, check_generation, check_instances};
use crate::log::{Log, Position, SessionParameters};
use lang::tr;
use life::{Lattice, Rule, Size};
use model::{DeviceChoice, Switches, TimeSettings};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(rename = "lifestreams_session")]
    _version: Version,
    size: Text<Size>,
    rule: Text<Rule>,
    kernel: KernelName,
    device: Text<DeviceChoice>,
    switches: Switches,
    generations_per_round: NonZeroU32,
    pace: Option<f64>,
    time: TimeSettings,
    running: bool,
    selected: usize,
    start: StartFile,
    /// While A and B were compared.
    #[serde(default)]
    halves: Option<ComparisonFile>,
    instances: Vec<Instance>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ComparisonFile {
    /// B's switches; A's are the session's.
    second: Switches,
    /// The instances as they were before the comparison.
    before: Vec<Instance>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Instance {
    generation: u64,
    cells: Cells,
}

impl File {
    pub(super) fn session(self) -> Result<SavedSession, String> {
        let (size, rule) = (self.size.0, self.rule.0);
        let instances = self.instances.len();
        check_instances(instances)?;
        let parameters = SessionParameters {
            size,
            instances,
            rule,
            start: self
                .start
                .start(|cells, _| checked(cells, size, rule, tr!("a lattice of its start")))?,
            counterparts: None,
            drawn: (0..instances).collect(), // it does not say which
        };
        let (main, comparison) = match self.halves {
            None => (timeline(parameters, self.instances, self.selected)?, None),
            Some(halves) => {
                let before = halves.before.len();
                if instances < 2 || before != instances {
                    return Err(tr!(
                        "before A and B it had {before} instances, and now it has {instances}",
                        before = before,
                        instances = instances
                    ));
                }
                let compared = SessionParameters {
                    counterparts: Some(instances / 2),
                    ..parameters.clone()
                };
                let comparison = SavedComparison {
                    second: halves.second,
                    timeline: timeline(compared, self.instances, self.selected)?,
                };
                let main = timeline(parameters, halves.before, self.selected)?;
                (main, Some(comparison))
            }
        };
        let settings = Settings {
            kernel: self.kernel,
            device: self.device,
            switches: self.switches,
            generations_per_round: self.generations_per_round,
            pace: self.pace,
            maximum: false,
            time: self.time,
        };
        settings.session(main, comparison, self.running, self.selected)
    }
}

/// A log that begins with these lattices.
fn timeline(
    parameters: SessionParameters,
    instances: Vec<Instance>,
    selected: usize,
) -> Result<SavedTimeline, String> {
    let clock = instances.get(selected).or(instances.first());
    let position = Position {
        records: 0,
        generation: clock.map_or(0, |instance| instance.generation),
    };
    check_generation(position.generation)?;
    let lattices = instances.into_iter().enumerate().map(|(at, instance)| {
        let what = tr!("instance {at}", at = at);
        checked(instance.cells, parameters.size, parameters.rule, &what)
    });
    let lattices = lattices.collect::<Result<Vec<_>, String>>()?;
    Ok(SavedTimeline {
        log: Log::from_snapshot(parameters, position),
        position,
        base: Some(lattices.clone()),
        newest: (position, lattices),
    })
}

fn checked(cells: Cells, size: Size, rule: Rule, what: &str) -> Result<Arc<Lattice>, String> {
    let (has, of) = (cells.lattice.size(), cells.rule);
    if has == size && of == rule {
        return Ok(cells.lattice);
    }
    Err(tr!(
        "{what} has size {has} and rule {of}, not {size} and {rule}",
        what = what,
        has = has,
        of = of,
        size = size,
        rule = rule
    ))
}
