//! The exercises: each asks for a round in which streams do one thing, or for a kernel. Which of them a person
//! has solved is in a file on their machine.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;
use lang::{Message, message, text, tr};
use life::{ReadError, SaveError, dated_name, read_regular_file, write_atomically};
use script::CallKind::{Advance, Download, Scale, Upload};
use script::Requirement::{
    Before, Concurrent, IssuedBefore, MaxRecords, MaxStreams, NoSynchronize,
};
use script::{CallKind, Requirement, Verdict, Work, commented};
use serde::{Deserialize, Serialize};

/// An exercise.
#[derive(Debug)]
pub struct Exercise {
    /// Its name, also that of its file.
    pub name: &'static str,
    /// What it is about; English, also the key of the translation.
    pub title: &'static str,
    /// What is to be done, a sentence each; English, also the keys of the translations.
    pub text: &'static [&'static str],
    /// What it asks for.
    pub task: Task,
    /// What is not yet that, without [`Exercise::file`]'s comments.
    pub skeleton: &'static str,
    /// What is.
    pub answer: &'static str,
}

/// What an exercise asks for.
#[derive(Debug)]
pub enum Task {
    /// A round, as a script.
    Round(RoundTask),
    /// A kernel, in CUDA C++.
    Kernel(KernelTask),
}

/// An exercise about a round.
#[derive(Debug)]
pub struct RoundTask {
    /// What its scripts work on.
    pub work: Work,
    /// The numbers of items, `N`, for which a script is checked.
    pub items: &'static [u32],
    /// What it asks for with so many items.
    pub requirements: fn(u32) -> Vec<Requirement>,
}

/// An exercise about a kernel. A kernel that solves it is right, and more.
#[derive(Debug)]
pub struct KernelTask {
    /// What its code has to use, besides being right.
    pub uses: &'static [&'static str],
    /// The rung that it has to be faster than, on a GPU, where there is one.
    pub faster_than: Option<&'static str>,
}

/// The exercises, in the order in which they build on one another.
pub const EXERCISES: &[Exercise] = &[
    Exercise {
        name: "overlap",
        title: "Overlap copies with kernels",
        text: &[
            "Everything is in stream 0, so that every kernel waits for the copy before it.",
            "Use streams 0 and 1: while one copies an instance, the other runs the next kernel.",
        ],
        task: of_lattices(|items| {
            let overlaps = copies_beside_next_kernels(items);
            [vec![MaxStreams(2), NoSynchronize], overlaps].concat()
        }),
        skeleton: include_str!("../exercises/overlap/skeleton.rhai"),
        answer: include_str!("../exercises/overlap/answer.rhai"),
    },
    Exercise {
        name: "order",
        title: "Depth first and breadth first",
        text: &[
            "Each instance has its stream, and the host issues depth first: a kernel, its copy, the next kernel.",
            "Issue breadth first: all kernels, and then all copies.",
        ],
        task: of_lattices(|items| {
            let pairs = (0..items).flat_map(|i| (0..items).map(move |j| (i, j)));
            let others = pairs.clone().filter(|(i, j)| i < j);
            let beside = others.map(|(i, j)| Concurrent(Advance(i), Advance(j)));
            let issued = pairs.map(|(i, j)| IssuedBefore(Advance(i), Download(j)));
            [NoSynchronize]
                .into_iter()
                .chain(beside)
                .chain(issued)
                .collect()
        }),
        skeleton: include_str!("../exercises/order/skeleton.rhai"),
        answer: include_str!("../exercises/order/answer.rhai"),
    },
    Exercise {
        name: "race",
        title: "Two streams that must not race",
        text: &[
            "Stream 0 has the kernels and stream 1 the copies, but no copy waits for its kernel.",
            "Make each copy wait for its own kernel, by events, and for no later one.",
        ],
        task: of_lattices(|items| {
            let kernels = one_after_another(items, Advance);
            let copies = one_after_another(items, Download);
            let overlaps = copies_beside_next_kernels(items);
            [
                vec![MaxStreams(2), NoSynchronize],
                kernels,
                copies,
                overlaps,
            ]
            .concat()
        }),
        skeleton: include_str!("../exercises/race/skeleton.rhai"),
        answer: include_str!("../exercises/race/answer.rhai"),
    },
    Exercise {
        name: "diamond",
        title: "A diamond of events",
        text: &[
            "N is 4, and every instance has its stream.",
            "Let kernel 0 run first, kernels 1 and 2 side by side after it, and kernel 3 after both.",
        ],
        task: Task::Round(RoundTask {
            work: Work::Lattices,
            items: &[4],
            requirements: |_| {
                let edges = [(0, 1), (0, 2), (1, 3), (2, 3)];
                let edges = edges.map(|(a, b)| Before(Advance(a), Advance(b)));
                let sides = Concurrent(Advance(1), Advance(2));
                edges.into_iter().chain([sides, NoSynchronize]).collect()
            },
        }),
        skeleton: include_str!("../exercises/diamond/skeleton.rhai"),
        answer: include_str!("../exercises/diamond/answer.rhai"),
    },
    Exercise {
        name: "chunks",
        title: "Three chunks of an array",
        text: &[
            "An array of N chunks is uploaded, scaled and downloaded, all of it in stream 0.",
            "Use three streams: while one chunk is uploaded, another is scaled and a third downloaded.",
        ],
        task: Task::Round(RoundTask {
            work: Work::Arrays,
            items: &[3, 7],
            requirements: |items| {
                let overlaps = (2..items).flat_map(|chunk| {
                    let upload = Upload(chunk);
                    let scale = Scale(chunk - 1);
                    let download = Download(chunk - 2);
                    [(upload, scale), (upload, download), (scale, download)]
                });
                let overlaps = overlaps.map(|(a, b)| Concurrent(a, b));
                let limits = [MaxStreams(3), NoSynchronize];
                limits.into_iter().chain(overlaps).collect()
            },
        }),
        skeleton: include_str!("../exercises/chunks/skeleton.rhai"),
        answer: include_str!("../exercises/chunks/answer.rhai"),
    },
    Exercise {
        name: "events",
        title: "As few events as possible",
        text: &[
            "The kernels are in streams 0 and 1, and every copy waits for an event of its own.",
            "Record a single event: the kernels still run in two streams side by side, and the copies one after another.",
        ],
        task: of_lattices(|items| {
            let copies = one_after_another(items, Download);
            let beside = (1..items).map(|next| Concurrent(Advance(next - 1), Advance(next)));
            let limits = [MaxRecords(1), NoSynchronize];
            limits.into_iter().chain(copies).chain(beside).collect()
        }),
        skeleton: include_str!("../exercises/events/skeleton.rhai"),
        answer: include_str!("../exercises/events/answer.rhai"),
    },
    Exercise {
        name: "tile",
        title: "A tile in shared memory",
        text: &[
            "A block loads its cells into shared memory, and counts neighbours there.",
            "At a tile's edge the neighbours are missing: load a halo of one cell around it.",
        ],
        task: kernel(&["__shared__"], None),
        skeleton: include_str!("../exercises/tile/skeleton.cu"),
        answer: include_str!("../exercises/tile/answer.cu"),
    },
    Exercise {
        name: "barrier",
        title: "The missing barrier",
        text: &[
            "A block steps its whole lattice in shared memory, by many generations.",
            "Some threads begin the next generation too early: find where a barrier is missing.",
        ],
        task: kernel(&["__shared__"], None),
        skeleton: include_str!("../exercises/barrier/skeleton.cu"),
        answer: include_str!("../exercises/barrier/answer.cu"),
    },
    Exercise {
        name: "words",
        title: "32 cells a word",
        text: &[
            "A word holds 32 cells, and their neighbours are counted all at once, in bit planes.",
            "A word's outer cells have neighbours in the words beside it: take them from there.",
        ],
        task: kernel(&[], None),
        skeleton: include_str!("../exercises/words/skeleton.cu"),
        answer: include_str!("../exercises/words/answer.cu"),
    },
    Exercise {
        name: "climb",
        title: "Climb above 05_bits",
        text: &[
            "B3/S23 takes 15 operations for two words, one above the other, where 05_bits needs more.",
            "The kernel stores the upper word of each two: store the lower one, too, and be faster than 05_bits.",
        ],
        task: kernel(&[], Some("bits")),
        skeleton: include_str!("../exercises/climb/skeleton.cu"),
        answer: include_str!("../exercises/climb/answer.cu"),
    },
];

const fn kernel(uses: &'static [&'static str], faster_than: Option<&'static str>) -> Task {
    Task::Kernel(KernelTask { uses, faster_than })
}

/// A round of lattices, with 2, 5 and 16 of them.
const fn of_lattices(requirements: fn(u32) -> Vec<Requirement>) -> Task {
    Task::Round(RoundTask {
        work: Work::Lattices,
        items: &[2, 5, 16],
        requirements,
    })
}

fn one_after_another(items: u32, kind: fn(u32) -> CallKind) -> Vec<Requirement> {
    let pairs = (1..items).map(|next| Before(kind(next - 1), kind(next)));
    pairs.collect()
}

fn copies_beside_next_kernels(items: u32) -> Vec<Requirement> {
    let pairs = (1..items).map(|next| Concurrent(Download(next - 1), Advance(next)));
    pairs.collect()
}

impl Exercise {
    /// The exercise of this name, or this number from 1.
    pub fn find(name: &str) -> Option<&'static Exercise> {
        let mut numbered = (1..).zip(EXERCISES);
        let found = numbered.find(|(number, it)| it.name == name || name.parse() == Ok(*number));
        found.map(|(_, exercise)| exercise)
    }

    /// The skeleton as a file that needs no other document: what is to be done stands above it, in this
    /// thread's language.
    pub fn file(&self) -> String {
        let sentences = self.text.iter().map(|it| text(it).to_owned());
        let command = format!("lifestreams exercise check {}", self.name);
        let command = tr!("To check it: {command}");
        let lines = [text(self.title).to_owned(), String::new()].into_iter();
        let lines = lines.chain(sentences).chain([String::new(), command]);
        match &self.task {
            Task::Round(task) => commented(lines, &task.work.usage()) + self.skeleton,
            Task::Kernel(_) => commented(lines, &[]) + self.skeleton,
        }
    }
}

impl RoundTask {
    /// Checks a script for every number of items of the exercise, until one goes wrong.
    pub fn check(&self, source: &str) -> Verdict {
        let check_for = |items| Verdict::of(source, self.work, items, &(self.requirements)(items));
        let mut verdict = check_for(self.items[0]);
        for items in &self.items[1..] {
            if verdict.is_right() {
                verdict = check_for(*items);
            }
        }
        verdict
    }
}

impl KernelTask {
    /// What a source has to use and does not, comments aside.
    pub fn missing(&self, source: &str) -> Option<&'static str> {
        let code = source
            .lines()
            .map(|line| line.split("//").next().unwrap_or_default());
        let code: Vec<&str> = code.collect();
        let is_used = |word: &&&'static str| code.iter().any(|line| line.contains(**word));
        self.uses.iter().find(|word| !is_used(word)).copied()
    }
}

// Which exercises are solved.

/// The longest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The names of the exercise in progress and of the solved ones. Names from other versions of the program
/// are kept.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExerciseProgress {
    current: Option<String>,
    solved: BTreeSet<String>,
}

impl ExerciseProgress {
    /// Where the file is, or would be; `None` if the platform has no folder for it.
    pub fn path() -> Option<PathBuf> {
        let folders = ProjectDirs::from("", "", "lifestreams")?;
        Some(folders.data_local_dir().join("exercises.json"))
    }

    /// Reads the file; no progress if there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged.
    pub fn read(path: &Path) -> Result<ExerciseProgress, Message> {
        match read_regular_file(path, MAX_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|_| message!("it is damaged")),
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                Ok(ExerciseProgress::default())
            }
            Err(error) => Err(Message::of(error)),
        }
    }

    /// Changes the file, whatever other processes note there meanwhile, and makes its folder. A damaged file
    /// gets another name, which is returned with the changed progress.
    ///
    /// # Errors
    /// The folder or the file cannot be written; an existing file is unchanged.
    pub fn update(
        path: &Path,
        change: impl FnOnce(&mut ExerciseProgress),
    ) -> Result<(ExerciseProgress, Option<PathBuf>), SaveError> {
        let failed = |error| SaveError::new(path, &error);
        let folder = path.parent().unwrap_or(path);
        fs::create_dir_all(folder).map_err(failed)?;
        let lock = File::open(folder);
        // Not every system locks folders. It lasts until the end of this function.
        let _ = lock.as_ref().map(File::lock);
        let mut kept = None;
        let mut progress = ExerciseProgress::read(path).or_else(|_| {
            let beside = path.with_file_name(dated_name(path, "json"));
            fs::rename(path, &beside).map_err(failed)?;
            kept = Some(beside);
            Ok(ExerciseProgress::default())
        })?;
        change(&mut progress);
        write_atomically(path, |file| {
            serde_json::to_writer(&mut *file, &progress)?;
            writeln!(file)
        })?;
        Ok((progress, kept))
    }

    /// The exercise in progress.
    pub fn current(&self) -> Option<&'static Exercise> {
        let current = self.current.as_deref()?;
        EXERCISES.iter().find(|it| it.name == current)
    }

    /// Makes this exercise the one in progress.
    pub fn start(&mut self, exercise: &Exercise) {
        self.current = Some(exercise.name.to_owned());
    }

    /// Notes that this exercise is solved.
    pub fn solve(&mut self, exercise: &Exercise) {
        self.solved.insert(exercise.name.to_owned());
    }

    /// Whether this exercise is solved.
    pub fn is_solved(&self, exercise: &Exercise) -> bool {
        self.solved.contains(exercise.name)
    }

    /// The first unsolved exercise after the one in progress; those before it come last, and then itself.
    pub fn next(&self) -> Option<&'static Exercise> {
        let current = self.current().map(|it| it.name);
        let after = EXERCISES.iter().position(|it| Some(it.name) == current);
        let (before, after) = EXERCISES.split_at(after.map_or(0, |at| at + 1));
        after.iter().chain(before).find(|it| !self.is_solved(it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lang::Language;

    /// The exercises about rounds.
    fn rounds() -> impl Iterator<Item = (&'static Exercise, &'static RoundTask)> {
        EXERCISES.iter().filter_map(|it| match &it.task {
            Task::Round(task) => Some((it, task)),
            Task::Kernel(_) => None,
        })
    }

    #[test]
    fn every_skeleton_fails_its_check_and_every_answer_passes() {
        for (exercise, task) in rounds() {
            let (name, skeleton) = (exercise.name, task.check(exercise.skeleton));
            let faults = skeleton.faults.as_deref();
            assert!(
                faults.is_ok_and(|it| !it.is_empty()),
                "{name}: {skeleton:?}"
            );
            let answer = task.check(exercise.answer);
            assert!(answer.is_right(), "{name}: {answer:?}");
            assert_eq!(Some(&answer.items), task.items.last());
        }
    }

    #[test]
    fn an_answer_to_one_exercise_is_none_to_the_next() {
        for ((before, _), (exercise, task)) in rounds().zip(rounds().skip(1)) {
            let verdict = task.check(before.answer);
            assert!(!verdict.is_right(), "{} for {}", before.name, exercise.name);
        }
    }

    #[test]
    fn what_makes_it_too_easy_is_refused() {
        let both = "for i in 0..N { advance(i, 0); download(i, 0); }";
        let in_turns = "for i in 0..N { advance(i, i % 2); download(i, i % 2); }";
        let kernels_first = "for i in 0..N { advance(i, 0); } for i in 0..N { download(i, 0); }";
        for (name, source, expected) in [
            // A stream for each instance.
            (
                "overlap",
                "for i in 0..N { advance(i, i); download(i, i); }",
                "too-many-streams",
            ),
            ("race", in_turns, "not-before"),
            // Every copy waits for all kernels.
            (
                "race",
                "for i in 0..N { advance(i, 0); } record(0, 0); wait(0, 1); for i in 0..N { download(i, 1); }",
                "not-concurrent",
            ),
            ("order", kernels_first, "not-concurrent"),
            ("diamond", both, "not-concurrent"),
            ("events", both, "not-concurrent"),
            ("events", in_turns, "not-before"),
            (
                "events",
                "for i in 0..N { advance(i, i % 2); synchronize(i % 2); download(i, 2); }",
                "synchronizes",
            ),
        ] {
            let (_, task) = rounds().find(|(it, _)| it.name == name).unwrap();
            let faults = task.check(source).faults.unwrap();
            assert_eq!(faults[0].name, expected, "{name}: {source}");
        }
    }

    #[test]
    fn a_file_says_what_is_to_be_done_in_both_languages_and_is_its_skeleton() {
        for exercise in EXERCISES {
            for language in [Language::English, Language::Chinese] {
                let file = test_support::with(language, || exercise.file());
                assert!(file.ends_with(exercise.skeleton));
                if let Task::Round(task) = &exercise.task {
                    let round = script::round(&file, task.work, task.items[0]);
                    assert!(!round.unwrap().calls.is_empty());
                }
                for line in file.lines() {
                    assert!(lang::columns(line) <= 120, "{line}");
                }
                let unwrapped = file.replace("\n//    ", " ");
                let says = |it| unwrapped.contains(test_support::with(language, || text(it)));
                assert!(exercise.text.iter().all(|it| says(it)));
            }
        }
    }

    #[test]
    fn an_exercise_is_found_by_name_and_number() {
        for (number, exercise) in (1..).zip(EXERCISES) {
            for name in [exercise.name.to_owned(), number.to_string()] {
                assert_eq!(Exercise::find(&name).map(|it| it.name), Some(exercise.name));
            }
        }
        for unknown in ["0", "11", "", "Overlap", "-1"] {
            assert!(Exercise::find(unknown).is_none(), "{unknown}");
        }
    }

    #[test]
    fn progress_is_what_all_have_written_and_a_damaged_file_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("not/yet/exercises.json");
        let read = || ExerciseProgress::read(&path);
        let update = |change: &dyn Fn(&mut ExerciseProgress)| {
            ExerciseProgress::update(&path, change).unwrap()
        };
        assert_eq!(read().unwrap(), ExerciseProgress::default());
        let updated = update(&|progress| {
            progress.start(&EXERCISES[2]);
            progress.solve(&EXERCISES[0]);
        });
        assert_eq!(updated, (read().unwrap(), None));
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\"current\":\"race\",\"solved\":[\"overlap\"]}\n");
        for damaged in [
            "",
            "{",
            "\0\0",
            "{\"current\": 3}",
            "{\"solved\": null}",
            "{\"other\": 1}",
        ] {
            fs::write(&path, damaged).unwrap();
            assert!(read().is_err(), "{damaged}");
            let (progress, kept) = update(&|_| ());
            assert_eq!(progress, ExerciseProgress::default());
            assert_eq!(fs::read_to_string(kept.unwrap()).unwrap(), damaged);
        }
        std::thread::scope(|scope| {
            for exercise in EXERCISES {
                scope.spawn(|| update(&|progress| progress.solve(exercise)));
            }
        });
        let next = || read().unwrap().next().map(|it| it.name);
        assert_eq!(next(), None);
        fs::write(&path, "{\"solved\":[\"of-another-version\"]}").unwrap();
        assert_eq!(next(), Some("overlap"));
        assert!(ExerciseProgress::read(folder.path()).is_err());
    }

    #[test]
    fn the_next_exercise_is_the_first_unsolved_one_behind_the_one_in_progress() {
        let mut progress = ExerciseProgress::default();
        let next = |progress: &ExerciseProgress| progress.next().map(|it| it.name);
        assert_eq!(next(&progress), Some("overlap"));
        progress.start(&EXERCISES[0]);
        assert_eq!(next(&progress), Some("order"));
        progress.start(EXERCISES.last().unwrap());
        assert_eq!(next(&progress), Some("overlap"));
        let but_one = EXERCISES.iter().filter(|it| it.name != "events");
        but_one.for_each(|it| progress.solve(it));
        assert_eq!(next(&progress), Some("events"));
        progress.solve(&EXERCISES[5]);
        assert_eq!(next(&progress), None);
    }
}
