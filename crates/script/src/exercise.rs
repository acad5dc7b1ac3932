//! Exercises: each asks for a round in which streams do one thing, and checks that they do.

use std::fmt::Write as _;

use lang::{align_left, mark, text, tr};

use crate::{CallKind, Fault, Requirement, Round, Script, ScriptError, Work, check};

/// An exercise.
#[derive(Debug)]
pub struct Exercise {
    /// Its name, also that of its file.
    pub name: &'static str,
    /// What it is about; English, also the key of the translation.
    pub title: &'static str,
    /// What is to be done, a sentence each; English, also the keys of the translations.
    pub text: &'static [&'static str],
    /// What its scripts work on.
    pub work: Work,
    /// A round that is not yet what the exercise asks for, without [`Exercise::file`]'s comments.
    pub skeleton: &'static str,
    /// A round that is.
    pub answer: &'static str,
    /// The numbers of items, `N`, for which a script is checked.
    pub items: &'static [u32],
    /// What it asks for with so many items.
    pub requirements: fn(u32) -> Vec<Requirement>,
}

/// What the check of a script found for some number of items.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// The number of items: the first that goes wrong, or else the last that was tried.
    pub items: u32,
    /// What is wrong: nothing if it is right; or why the script makes no round.
    pub faults: Result<Vec<Fault>, ScriptError>,
    /// What the script orders for so many items, right or not; without calls if it makes no round.
    pub round: Round,
}

impl Verdict {
    /// Checks a script for so many items.
    pub fn of(source: &str, work: Work, items: u32, requirements: &[Requirement]) -> Verdict {
        let made = Script::compile(source, work).and_then(|script| script.round(items));
        let (faults, round) = match made {
            Ok(round) => (Ok(check(&round, items, work, requirements)), round),
            Err(error) => (Err(error), Round::default()),
        };
        Verdict {
            items,
            faults,
            round,
        }
    }

    /// Whether nothing is wrong.
    pub fn is_right(&self) -> bool {
        self.faults.as_ref().is_ok_and(Vec::is_empty)
    }
}

/// The exercises, in the order in which they build on one another.
pub const EXERCISES: &[Exercise] = &[
    Exercise {
        name: "overlap",
        title: mark!("Overlap copies with kernels"),
        text: &[
            mark!("Everything is in stream 0, so that every kernel waits for the copy before it."),
            mark!(
                "Use streams 0 and 1: while one copies an instance, the other runs the next kernel."
            ),
        ],
        work: Work::Lattices,
        skeleton: include_str!("../exercises/overlap/skeleton.rhai"),
        answer: include_str!("../exercises/overlap/answer.rhai"),
        items: &[2, 5, 16],
        requirements: |items| {
            let overlaps = copies_beside_next_kernels(items);
            let limits = [Requirement::MaxStreams(2), Requirement::NoSynchronize];
            limits.into_iter().chain(overlaps).collect()
        },
    },
    Exercise {
        name: "order",
        title: mark!("Depth first and breadth first"),
        text: &[
            mark!(
                "Each instance has its stream, and the host issues depth first: a kernel, its copy, the next kernel."
            ),
            mark!("Issue breadth first: all kernels, and then all copies."),
        ],
        work: Work::Lattices,
        skeleton: include_str!("../exercises/order/skeleton.rhai"),
        answer: include_str!("../exercises/order/answer.rhai"),
        items: &[2, 5, 16],
        requirements: |items| {
            let pairs = (0..items).flat_map(|i| (0..items).map(move |j| (i, j)));
            let issued = pairs.map(|(i, j)| {
                Requirement::IssuedBefore(CallKind::Advance(i), CallKind::Download(j))
            });
            let limits = [Requirement::MinStreams(items), Requirement::NoSynchronize];
            limits.into_iter().chain(issued).collect()
        },
    },
    Exercise {
        name: "race",
        title: mark!("Two streams that must not race"),
        text: &[
            mark!(
                "Stream 0 has the kernels and stream 1 the copies, but no copy waits for its kernel."
            ),
            mark!("Make each copy wait for its own kernel, by events, and for no later one."),
        ],
        work: Work::Lattices,
        skeleton: include_str!("../exercises/race/skeleton.rhai"),
        answer: include_str!("../exercises/race/answer.rhai"),
        items: &[2, 5, 16],
        requirements: |items| {
            let kernels = one_after_another(items, CallKind::Advance);
            let copies = one_after_another(items, CallKind::Download);
            let limits = [Requirement::MaxStreams(2), Requirement::NoSynchronize];
            let overlaps = copies_beside_next_kernels(items);
            limits
                .into_iter()
                .chain(kernels)
                .chain(copies)
                .chain(overlaps)
                .collect()
        },
    },
    Exercise {
        name: "diamond",
        title: mark!("A diamond of events"),
        text: &[
            mark!("N is 4, and every instance has its stream."),
            mark!(
                "Let kernel 0 run first, kernels 1 and 2 side by side after it, and kernel 3 after both."
            ),
        ],
        work: Work::Lattices,
        skeleton: include_str!("../exercises/diamond/skeleton.rhai"),
        answer: include_str!("../exercises/diamond/answer.rhai"),
        items: &[4],
        requirements: |_| {
            let kernel = CallKind::Advance;
            let edges = [(0, 1), (0, 2), (1, 3), (2, 3)];
            let edges = edges.map(|(a, b)| Requirement::Before(kernel(a), kernel(b)));
            let sides = Requirement::Concurrent(kernel(1), kernel(2));
            edges
                .into_iter()
                .chain([sides, Requirement::NoSynchronize])
                .collect()
        },
    },
    Exercise {
        name: "chunks",
        title: mark!("Three chunks of an array"),
        text: &[
            mark!(
                "An array of N chunks is uploaded, scaled and downloaded, all of it in stream 0."
            ),
            mark!(
                "Use three streams: while one chunk is uploaded, another is scaled and a third downloaded."
            ),
        ],
        work: Work::Arrays,
        skeleton: include_str!("../exercises/chunks/skeleton.rhai"),
        answer: include_str!("../exercises/chunks/answer.rhai"),
        items: &[3, 7],
        requirements: |items| {
            let overlaps = (2..items).flat_map(|chunk| {
                let upload = CallKind::Upload(chunk);
                let scale = CallKind::Scale(chunk - 1);
                let download = CallKind::Download(chunk - 2);
                [(upload, scale), (upload, download), (scale, download)]
            });
            let overlaps = overlaps.map(|(a, b)| Requirement::Concurrent(a, b));
            let limits = [Requirement::MaxStreams(3), Requirement::NoSynchronize];
            limits.into_iter().chain(overlaps).collect()
        },
    },
    Exercise {
        name: "events",
        title: mark!("As few events as possible"),
        text: &[
            mark!(
                "The kernels are in streams 0 and 1, and every copy waits for an event of its own."
            ),
            mark!(
                "Record a single event: the kernels still run in two streams side by side, and the copies one after another."
            ),
        ],
        work: Work::Lattices,
        skeleton: include_str!("../exercises/events/skeleton.rhai"),
        answer: include_str!("../exercises/events/answer.rhai"),
        items: &[2, 5, 16],
        requirements: |items| {
            let copies = one_after_another(items, CallKind::Download);
            let beside = (1..items).map(|next| {
                Requirement::Concurrent(CallKind::Advance(next - 1), CallKind::Advance(next))
            });
            let limits = [Requirement::MaxRecords(1), Requirement::NoSynchronize];
            limits.into_iter().chain(copies).chain(beside).collect()
        },
    },
];

fn one_after_another(items: u32, kind: fn(u32) -> CallKind) -> impl Iterator<Item = Requirement> {
    (1..items).map(move |next| Requirement::Before(kind(next - 1), kind(next)))
}

fn copies_beside_next_kernels(items: u32) -> impl Iterator<Item = Requirement> {
    (1..items)
        .map(|next| Requirement::Concurrent(CallKind::Download(next - 1), CallKind::Advance(next)))
}

impl Exercise {
    /// The exercise of this name, or this number from 1.
    pub fn find(name: &str) -> Option<&'static Exercise> {
        let number = name
            .parse()
            .ok()
            .and_then(|number: usize| number.checked_sub(1));
        let numbered = number.and_then(|number| EXERCISES.get(number));
        numbered.or_else(|| EXERCISES.iter().find(|it| it.name == name))
    }

    /// The skeleton as a file that needs no other document: what is to be done stands above it, in this
    /// thread's language.
    pub fn file(&self) -> String {
        let sentences = self.text.iter().map(|it| text(it).to_owned());
        let command = format!("lifestreams exercise check {}", self.name);
        let command = tr!("To check it: {command}", command = command);
        let lines = [text(self.title).to_owned(), String::new()].into_iter();
        commented(
            lines.chain(sentences).chain([String::new(), command]),
            self.work,
        ) + self.skeleton
    }

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

/// A round that is right, as a file that needs no other document, in this thread's language.
pub fn new_round() -> String {
    let lines = [
        tr!("A round of N instances: each is advanced once and downloaded once."),
        tr!("Calls in one stream run one after another; streams run side by side."),
        "",
    ];
    let command = tr!(
        "To check it: {command}",
        command = "lifestreams round check FILE"
    );
    let lines = lines.map(str::to_owned).into_iter().chain([command]);
    commented(lines, Work::Lattices)
        + "for i in 0..N {\n    advance(i, i);\n    download(i, i);\n}\n"
}

/// Lines as comments, and below them what can be called.
fn commented(lines: impl Iterator<Item = String>, work: Work) -> String {
    let usage = work.usage();
    let widths = usage.iter().map(|(call, _)| call.len());
    let width = widths.max().unwrap_or_default();
    let usage = usage
        .iter()
        .map(|(call, meaning)| format!("{}  {}", align_left(call, width), text(meaning)));
    let mut commented = String::new();
    for line in lines.chain([String::new()]).chain(usage) {
        let _ = writeln!(commented, "{}", format!("// {line}").trim_end());
    }
    commented + "\n"
}

impl Work {
    /// What a script can call, and what each call does; English, also the key of the translation.
    pub fn usage(self) -> Vec<(&'static str, &'static str)> {
        let of_work = match self {
            Work::Lattices => vec![
                (
                    "advance(i, stream)",
                    mark!("launches the kernel of instance i"),
                ),
                (
                    "download(i, stream)",
                    mark!("copies instance i to the host"),
                ),
            ],
            Work::Arrays => vec![
                ("upload(c, stream)", mark!("copies chunk c to the device")),
                (
                    "scale(c, stream)",
                    mark!("launches the kernel that scales chunk c"),
                ),
                ("download(c, stream)", mark!("copies chunk c to the host")),
            ],
        };
        let everywhere = [
            (
                "record(event, stream)",
                mark!("marks the work so far of a stream by an event"),
            ),
            (
                "wait(event, stream)",
                mark!("makes a stream wait for the latest record of an event"),
            ),
            (
                "synchronize(stream)",
                mark!("makes the host wait for the work so far of a stream"),
            ),
        ];
        of_work.into_iter().chain(everywhere).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lang::Language;

    #[test]
    fn every_skeleton_fails_its_check_and_every_answer_passes() {
        for exercise in EXERCISES {
            let skeleton = exercise.check(exercise.skeleton);
            let faults = skeleton.faults.as_deref();
            assert!(
                faults.is_ok_and(|it| !it.is_empty()),
                "{}: {skeleton:?}",
                exercise.name
            );
            let answer = exercise.check(exercise.answer);
            let last = exercise.items.last().copied();
            assert!(answer.is_right(), "{}: {answer:?}", exercise.name);
            assert_eq!(Some(answer.items), last);
        }
    }

    #[test]
    fn an_answer_to_one_exercise_is_none_to_the_next() {
        for pair in EXERCISES.windows(2) {
            let verdict = pair[1].check(pair[0].answer);
            assert!(!verdict.is_right(), "{} for {}", pair[0].name, pair[1].name);
        }
    }

    #[test]
    fn what_makes_it_too_easy_is_refused() {
        let fault = |name: &str, source: &str| {
            let verdict = Exercise::find(name).unwrap().check(source);
            verdict.faults.unwrap().first().map(Fault::name)
        };
        for (name, source, expected) in [
            // A stream for each instance.
            (
                "overlap",
                "for i in 0..N { advance(i, i); download(i, i); }",
                "too-many-streams",
            ),
            (
                "race",
                "for i in 0..N { advance(i, i % 2); download(i, i % 2); }",
                "not-before",
            ),
            // Every copy waits for all kernels.
            (
                "race",
                "for i in 0..N { advance(i, 0); } record(0, 0); wait(0, 1); for i in 0..N { download(i, 1); }",
                "not-concurrent",
            ),
            (
                "order",
                "for i in 0..N { advance(i, 0); } for i in 0..N { download(i, 0); }",
                "too-few-streams",
            ),
            (
                "diamond",
                "for i in 0..N { advance(i, 0); download(i, 0); }",
                "not-concurrent",
            ),
            (
                "events",
                "for i in 0..N { advance(i, 0); download(i, 0); }",
                "not-concurrent",
            ),
            (
                "events",
                "for i in 0..N { advance(i, i % 2); download(i, i % 2); }",
                "not-before",
            ),
            (
                "events",
                "for i in 0..N { advance(i, i % 2); synchronize(i % 2); download(i, 2); }",
                "synchronizes",
            ),
        ] {
            assert_eq!(fault(name, source), Some(expected), "{name}: {source}");
        }
    }

    #[test]
    fn a_file_says_what_is_to_be_done_in_both_languages_and_is_its_skeleton() {
        for exercise in EXERCISES {
            for language in [Language::English, Language::Chinese] {
                let file = lang::with(language, || exercise.file());
                let run = |source: &str| {
                    let script = Script::compile(source, exercise.work).unwrap();
                    let calls = script.round(exercise.items[0]).unwrap().calls;
                    calls
                        .iter()
                        .map(|it| (it.kind, it.stream))
                        .collect::<Vec<_>>()
                };
                assert_eq!(run(&file), run(exercise.skeleton));
                for line in file.lines() {
                    assert!(lang::columns(line) <= 120, "{line}");
                }
                assert!(
                    exercise
                        .text
                        .iter()
                        .all(|it| file.contains(lang::with(language, || text(it))))
                );
            }
        }
    }

    #[test]
    fn a_new_round_is_right() {
        for language in [Language::English, Language::Chinese] {
            let source = lang::with(language, new_round);
            for items in [1, 2, 16] {
                let round = Script::compile(&source, Work::Lattices)
                    .unwrap()
                    .round(items)
                    .unwrap();
                assert_eq!(check(&round, items, Work::Lattices, &[]), []);
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
        for unknown in ["0", "7", "", "Overlap", "-1"] {
            assert!(Exercise::find(unknown).is_none(), "{unknown}");
        }
    }
}
