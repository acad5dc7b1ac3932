//! A session in a file: its lattices as they are, and everything that it goes on from.
//!
//! The file is JSON with each lattice as the text of an RLE file, so that it can be read, compared
//! and taken apart with what people have. Nothing of it is guessed: a file that is not exactly what
//! this writes is refused, with the line and column where that shows.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

use engine::kernels;
use lang::tr;
use life::{
    Lattice, MemoryError, Notes, Rle, Rule, SaveError, Sheet, Size, read_regular_file, rle, shown,
    write_atomically,
};
use model::KernelChoice;
use model::{DeviceChoice, Pace, Setup, Start, Switches, TimeSettings};

/// A session as it was between two rounds.
#[derive(Clone, Debug)]
pub struct Kept {
    /// What it was made from, with what keys have changed since.
    pub setup: Setup,
    /// Every instance's lattice and generation.
    pub lattices: Vec<(Arc<Lattice>, u64)>,
    /// A and B, while they were compared.
    pub halves: Option<KeptHalves>,
    /// Whether rounds went on by themselves.
    pub running: bool,
    /// The selected instance.
    pub selected: usize,
}

/// What there is of A and B beside the lattices; A's switches are the setup's.
#[derive(Clone, Debug)]
pub struct KeptHalves {
    /// B's.
    pub second: Switches,
    /// Every instance's lattice and generation from before, for when the halves are one again.
    pub before: Vec<(Arc<Lattice>, u64)>,
}

/// Why a session's file was not taken.
#[derive(Debug, thiserror::Error)]
#[error("{}", tr!("{path}{place}: {reason}; it was left as it is", path = .path, place = .place, reason = .reason))]
pub struct KeptError {
    /// The file.
    pub path: String,
    place: Place,
    reason: String,
    /// Whether nothing is wrong with it but that this machine has no memory for its lattices.
    pub lacks_memory: bool,
}

/// A line and a column, counted from 1, or none.
#[derive(Debug)]
struct Place(usize, usize);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place(0, _) => Ok(()),
            Place(line, column) => write!(f, ", line {line}, column {column}"),
        }
    }
}

/// The version of the format.
const VERSION: u32 = 1;

/// The longest file that is read.
const MAX_FILE_BYTES: u64 = 16 << 30;

/// The latest generation that a lattice may be at: no session that goes on from there comes to
/// the end of what is counted.
const MAX_GENERATION: u64 = 1 << 62;

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    lifestreams_session: Version,
    size: Text<Size>,
    rule: Text<Rule>,
    kernel: KernelName,
    device: Text<DeviceChoice>,
    switches: Switches,
    generations_per_round: std::num::NonZeroU32,
    /// Rounds a second, or `null` for as many as there can be.
    pace: Option<f64>,
    time: TimeSettings,
    running: bool,
    selected: usize,
    start: StartFile,
    /// While A and B were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    halves: Option<HalvesFile>,
    instances: Vec<Instance>,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct HalvesFile {
    second: Switches,
    before: Vec<Instance>,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum StartFile {
    Soup { density: f64, seed: u64 },
    Lattices(Vec<Cells>),
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Instance {
    generation: u64,
    cells: Cells,
}

/// What is written as text.
struct Text<T>(T);

impl<T: fmt::Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text<T>, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map(Text).map_err(D::Error::custom)
    }
}

struct KernelName(&'static kernels::Kernel);

impl Serialize for KernelName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.name)
    }
}

impl<'de> Deserialize<'de> for KernelName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<KernelName, D::Error> {
        let name = String::deserialize(from)?;
        let found = kernels::find(&name).map(KernelName);
        found.ok_or_else(|| D::Error::custom(format!("there is no kernel '{name}'")))
    }
}

#[derive(serde::Serialize)]
struct Version(u32);

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Version, D::Error> {
        match u32::deserialize(from)? {
            VERSION => Ok(Version(VERSION)),
            other => Err(D::Error::custom(tr!(
                "it is of format {other}, and this program reads format {VERSION}",
                other = other,
                VERSION = VERSION
            ))),
        }
    }
}

/// A lattice as the text of an RLE file; or there is no memory for it, which is no flaw of the text.
struct Cells {
    lattice: Result<Arc<Lattice>, MemoryError>,
    rule: Rule,
    /// Of a start; an instance's stands beside it too, and that is what counts.
    generation: u64,
}

impl Serialize for Cells {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut text = Vec::new();
        let sheet = Sheet {
            lattice: self.lattice.as_ref().map_err(serde::ser::Error::custom)?,
            rule: self.rule,
            torus: true,
            generation: self.generation,
            notes: &Notes::default(),
        };
        rle::write_sheet(sheet, &mut text).map_err(serde::ser::Error::custom)?;
        to.serialize_str(&String::from_utf8_lossy(&text))
    }
}

impl<'de> Deserialize<'de> for Cells {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Cells, D::Error> {
        let text = String::deserialize(from)?;
        let rle = Rle::parse(text.as_bytes())
            .map_err(|error| D::Error::custom(tr!("in this lattice: {error}", error = error)))?;
        if !rle.is_plain() {
            return Err(D::Error::custom(tr!(
                "this lattice is not whole: it has no '!' at its end, or cells of several states"
            )));
        }
        let (torus, rule) = rle.torus().zip(rle.rule()).ok_or_else(|| {
            D::Error::custom(tr!(
                "this lattice lacks its torus, as in rule = B3/S23:T64,64"
            ))
        })?;
        if rle.width() > torus.width() || rle.height() > torus.height() {
            return Err(D::Error::custom(tr!(
                "this lattice is larger than its torus"
            )));
        }
        let lattice = Lattice::try_new(torus).map(|mut lattice| {
            rle.draw_into(&mut lattice, 0, 0);
            Arc::new(lattice)
        });
        Ok(Cells {
            lattice,
            rule,
            generation: rle.generation(),
        })
    }
}

impl Kept {
    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn save(&self, path: &Path) -> Result<(), SaveError> {
        let setup = &self.setup;
        let cells = |lattice: &Arc<Lattice>, generation| Cells {
            lattice: Ok(lattice.clone()),
            rule: setup.rule,
            generation,
        };
        let instance = |(lattice, generation): &(Arc<Lattice>, u64)| Instance {
            generation: *generation,
            cells: cells(lattice, *generation),
        };
        let file = File {
            lifestreams_session: Version(VERSION),
            size: Text(setup.size),
            rule: Text(setup.rule),
            kernel: KernelName(setup.kernel),
            device: Text(setup.device),
            switches: setup.switches,
            generations_per_round: setup
                .generations_per_round
                .try_into()
                .unwrap_or(std::num::NonZeroU32::MIN),
            pace: match setup.pace {
                Pace::PerSecond(rounds) => Some(rounds),
                Pace::Unthrottled => None,
            },
            time: setup.time,
            running: self.running,
            selected: self.selected,
            start: match &setup.start {
                Start::Soup { density, seed } => StartFile::Soup {
                    density: *density,
                    seed: *seed,
                },
                Start::Lattices {
                    lattices,
                    generation,
                } => {
                    let all = lattices.iter().map(|lattice| cells(lattice, *generation));
                    StartFile::Lattices(all.collect())
                }
            },
            halves: self.halves.as_ref().map(|halves| HalvesFile {
                second: halves.second,
                before: halves.before.iter().map(instance).collect(),
            }),
            instances: self.lattices.iter().map(instance).collect(),
        };
        write_atomically(path, |out| {
            serde_json::to_writer_pretty(&mut *out, &file)?;
            out.write_all(b"\n")
        })
    }

    /// Reads one.
    ///
    /// # Errors
    /// Whatever is wrong with it, and where.
    pub fn load(path: &Path) -> Result<Kept, KeptError> {
        let failed = |place, reason: String| KeptError {
            path: shown(path),
            place,
            reason,
            lacks_memory: false,
        };
        let text = read_regular_file(path, MAX_FILE_BYTES).map_err(|error| {
            let reason = tr!("it cannot be read: {error}", error = error);
            failed(Place(0, 0), reason)
        })?;
        let file: File = serde_json::from_slice(&text).map_err(|error| {
            let place = format!(" at line {} column {}", error.line(), error.column());
            let reason = error.to_string();
            let reason = reason.strip_suffix(&place).unwrap_or(&reason).to_owned();
            failed(Place(error.line(), error.column()), reason)
        })?;
        if let Some(why) = file.lacking() {
            return Err(KeptError {
                lacks_memory: true,
                ..failed(Place(0, 0), why.to_string())
            });
        }
        file.session().map_err(|reason| failed(Place(0, 0), reason))
    }
}

impl File {
    /// What of its lattices there is no memory for.
    fn lacking(&self) -> Option<&MemoryError> {
        let starts: &[Cells] = match &self.start {
            StartFile::Lattices(all) => all,
            StartFile::Soup { .. } => &[],
        };
        let before = self.halves.iter().flat_map(|halves| &halves.before);
        let instances = self.instances.iter().chain(before);
        let all = instances.map(|instance| &instance.cells).chain(starts);
        all.filter_map(|cells| cells.lattice.as_ref().err()).next()
    }

    /// What of it must fit together.
    fn session(self) -> Result<Kept, String> {
        let (size, rule) = (self.size.0, self.rule.0);
        let lattice = |cells: Cells, what: &str| {
            let lattice = cells.lattice.map_err(|error| error.to_string())?;
            let (has, of) = (lattice.size(), cells.rule);
            match has == size && of == rule {
                true => Ok(lattice),
                false => Err(tr!(
                    "{what} is of {has} and {of}, not of {size} and {rule}",
                    what = what,
                    has = has,
                    of = of,
                    size = size,
                    rule = rule
                )),
            }
        };
        let instances = self.instances.len();
        if instances == 0 || instances > crate::MOST_KEPT {
            let most = crate::MOST_KEPT;
            return Err(tr!(
                "it has {instances} instances; take 1 to {most}",
                instances = instances,
                most = most
            ));
        }
        if self.selected >= instances {
            return Err(tr!(
                "instance {} is selected, of {instances}",
                self.selected,
                instances = instances
            ));
        }
        let (slowest, fastest) = (Pace::MIN_PER_SECOND, Pace::MAX_PER_SECOND);
        if let Some(rounds) = self.pace
            && !(slowest..=fastest).contains(&rounds)
        {
            return Err(tr!(
                "its pace is {rounds} rounds/s; take {slowest} to {fastest}",
                rounds = rounds,
                slowest = slowest,
                fastest = fastest
            ));
        }
        let most = TimeSettings::MAX_HISTORY_BYTES;
        if self.time.history_bytes > most {
            return Err(tr!(
                "its history takes {} bytes; take at most {most}",
                self.time.history_bytes,
                most = most
            ));
        }
        let all = |instances: Vec<Instance>, what: fn(usize) -> String| {
            let instances = instances.into_iter().enumerate().map(|(at, instance)| {
                let lattice = lattice(instance.cells, &what(at))?;
                match instance.generation {
                    generation @ 0..=MAX_GENERATION => Ok((lattice, generation)),
                    generation => Err(tr!(
                        "{what} is at generation {generation}; take at most {MAX_GENERATION}",
                        what = what(at),
                        generation = generation,
                        MAX_GENERATION = MAX_GENERATION
                    )),
                }
            });
            instances.collect::<Result<Vec<_>, String>>()
        };
        let lattices = all(self.instances, |at| tr!("instance {at}", at = at))?;
        let start = match self.start {
            StartFile::Soup { density, .. } if !(0.0..=1.0).contains(&density) => {
                return Err(tr!("the density of its soup is not from 0 to 1").into());
            }
            StartFile::Soup { density, seed } => Start::Soup { density, seed },
            StartFile::Lattices(all) if all.is_empty() => {
                return Err(tr!("its start has no lattice").into());
            }
            StartFile::Lattices(all) => {
                let generation = all[0].generation;
                let all = all
                    .into_iter()
                    .map(|cells| lattice(cells, tr!("a lattice of its start")));
                Start::Lattices {
                    lattices: all.collect::<Result<_, _>>()?,
                    generation,
                }
            }
        };
        let kernel = self.kernel.0;
        kernel.admit(size).map_err(|error| error.to_string())?;
        if let Some(why) = self.switches.refusal(kernel) {
            return Err(why);
        }
        let halves = self.halves.map(|halves| {
            let before = all(halves.before, |at| {
                tr!("before A and B, instance {at}", at = at)
            })?;
            if instances < 2 || before.len() != instances {
                let count = before.len();
                return Err(tr!(
                    "before A and B it had {count} instances, and has {instances}",
                    count = count,
                    instances = instances
                ));
            }
            let second = halves.second;
            second.refusal(kernel).map_or(Ok(()), Err)?;
            Ok(KeptHalves { second, before })
        });
        Ok(Kept {
            halves: halves.transpose()?,
            setup: Setup {
                instances,
                size,
                rule,
                start,
                kernel,
                kernel_choice: KernelChoice::Asked,
                device: self.device.0,
                switches: self.switches,
                generations_per_round: self.generations_per_round.get(),
                pace: self.pace.map_or(Pace::Unthrottled, Pace::PerSecond),
                rounds: None,
                time: self.time,
            },
            lattices,
            running: self.running,
            selected: self.selected,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::soup;
    use proptest::prelude::*;

    fn kept(size: Size, instances: usize, seed: u64, start: Start) -> Kept {
        let lattice = |i: usize| Arc::new(soup(size, 0.4, seed, i as u64));
        let halves = (instances > 1 && seed.is_multiple_of(3)).then(|| KeptHalves {
            second: Switches::DEFAULT,
            before: (0..instances).map(|i| (lattice(i + 9), 3)).collect(),
        });
        Kept {
            halves,
            setup: Setup {
                instances,
                size,
                rule: "B36/S23".parse().unwrap(),
                start,
                kernel: kernels::find("bits").unwrap(),
                kernel_choice: KernelChoice::Asked,
                device: DeviceChoice::CudaOrdinal(3),
                switches: Switches {
                    graphs: true,
                    ..Switches::DEFAULT
                },
                generations_per_round: 7,
                pace: Pace::PerSecond(59.94),
                rounds: None,
                time: TimeSettings::DEFAULT,
            },
            lattices: (0..instances)
                .map(|i| (lattice(i), seed / 8 + i as u64))
                .collect(),
            running: seed.is_multiple_of(2),
            selected: instances - 1,
        }
    }

    fn saved(kept: &Kept) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.json");
        kept.save(&path).unwrap();
        (folder, path)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn a_session_comes_back_as_it_was(
            (w, h) in (1u64..90, 1u64..50),
            instances in 1usize..5,
            seed in 0..u64::MAX - 9,
            density in 0.0..=1.0f64,
            lattices in any::<bool>(),
        ) {
            let size = Size::new(w, h).unwrap();
            let start = match lattices {
                true => Start::Lattices {
                    lattices: vec![Arc::new(soup(size, density, 3, 0))],
                    generation: seed % 3 * 1000,
                },
                false => Start::Soup { density, seed },
            };
            let before = kept(size, instances, seed, start);
            let (_folder, path) = saved(&before);
            let after = Kept::load(&path).unwrap();
            prop_assert_eq!(format!("{before:?}"), format!("{after:?}"));
            for (a, b) in before.lattices.iter().zip(&after.lattices) {
                prop_assert!(a.0 == b.0 && a.1 == b.1);
            }
            let parted = [&before, &after].map(|kept| kept.halves.clone().map(|it| it.before));
            prop_assert!(parted[0] == parted[1]);
        }
    }

    #[test]
    fn what_is_broken_is_named_with_its_line_and_column() {
        let size = Size::new(20, 20).unwrap();
        let start = Start::Soup {
            density: 0.3,
            seed: 1,
        };
        let (_folder, path) = saved(&kept(size, 2, 4, start));
        let text = std::fs::read_to_string(&path).unwrap();
        let line_of = |part: &str| 1 + text[..text.find(part).unwrap()].matches('\n').count();
        for (from, to, words, line) in [
            (
                "\"bits\"",
                "\"nope\"",
                "no kernel 'nope'",
                line_of("\"bits\""),
            ),
            ("\"20x20\"", "\"0x20\"", "0x20", line_of("\"20x20\"")),
            (
                "\"running\"",
                "\"runing\"",
                "unknown field `runing`",
                line_of("\"running\""),
            ),
            ("_session\": 1", "_session\": 9", "format 9", 2),
            ("o", "?", "", 0),
        ] {
            let at = if words.is_empty() {
                text.rfind('o').unwrap()
            } else {
                text.find(from).unwrap()
            };
            let broken = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
            std::fs::write(&path, &broken).unwrap();
            let error = Kept::load(&path).unwrap_err();
            let said = error.to_string();
            assert!(said.contains(words) && said.contains(", column "), "{said}");
            assert!(line == 0 || error.place.0 == line, "{line}: {said}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), broken);
        }
        std::fs::write(&path, &text[..text.len() / 2]).unwrap();
        let said = Kept::load(&path).unwrap_err().to_string();
        assert!(said.contains("EOF") && said.contains("line "), "{said}");
        let other = text.replacen(":T20,20", ":T40,40", 1);
        std::fs::write(&path, other).unwrap();
        let said = Kept::load(&path).unwrap_err().to_string();
        assert!(said.contains("instance 0 is of 40x40"), "{said}");
    }
}
