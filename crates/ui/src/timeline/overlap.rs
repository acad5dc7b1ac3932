//! How much of a timed round overlaps, what bounds it, and what keeps it from overlapping more, in
//! words.

use crate::diagnosis::{Cause, Evidence, Remedy, Verdict};
use crate::numbers::time_us;
use crate::{Action, Diagnosis, Overlap, Resource};
use lang::tr;
use session::{EngineStatus, SessionAction, Status, Streams};

/// What is said of a round over its lanes, and beside them.
#[derive(Clone, PartialEq, Debug)]
pub struct OverlapTexts {
    /// How much of a round overlaps, or why nothing does.
    pub overlap: String,
    /// What the factor means and is made of, line by line.
    pub tip: Vec<String>,
    /// The time of a round, and which statistic that is; empty until there is one.
    pub round_time: String,
    /// The first cause in one line: what it costs, and what takes it away; empty if there is none.
    pub main_cause: String,
    /// What keeps it from overlapping more, in the order in which it matters.
    pub causes: Vec<CauseTexts>,
    /// What else could, but does not or hardly does, in a sentence; empty if there is nothing.
    pub others: String,
}

/// A cause in words.
#[derive(Clone, PartialEq, Debug)]
pub struct CauseTexts {
    /// What it is.
    pub title: String,
    /// What shows it in the round; empty where the settings alone do.
    pub evidence: String,
    /// What it costs; empty where that cannot be known.
    pub cost: String,
    /// Which part of the round that is, from 0 to 1.
    pub part: Option<f32>,
    /// The key and what it does, or what to do at the next start; empty if nothing takes it away.
    pub remedy: String,
    /// What the key does, if there is one.
    pub action: Option<Action>,
}

impl OverlapTexts {
    /// Of the round that is drawn, as it was judged; `None` before there is one.
    pub fn of(diagnosis: Option<&Diagnosis>, status: &Status) -> OverlapTexts {
        let round_time = |us| tr!("time per round: {} (median)", time_us(us));
        let words = Words::of(status);
        let causes = diagnosis.iter().flat_map(|round| {
            let causes = round.causes.iter();
            causes.map(|found| words.cause(found, round))
        });
        let others = diagnosis.map_or(&[][..], |round| &round.others);
        let names = others.iter().map(|found| words.name(found.cause));
        let names: Vec<_> = names.collect();
        OverlapTexts {
            overlap: words.overlap(diagnosis),
            tip: describe(diagnosis, &status.engine),
            round_time: status.rates.round_us.map_or(String::new(), round_time),
            main_cause: diagnosis.map_or(String::new(), |it| words.main_cause(it)),
            causes: causes.collect(),
            others: if names.is_empty() {
                String::new()
            } else {
                tr!(
                    "{count} others were looked for: {names}",
                    count = names.len(),
                    names = names.join(", ")
                )
            },
        }
    }
}

/// What words depend on.
struct Words<'a> {
    status: &'a Status,
    is_cpu: bool,
}

impl Words<'_> {
    fn of(status: &Status) -> Words<'_> {
        Words {
            status,
            is_cpu: status.engine.is_cpu(),
        }
    }

    /// How much of a round overlaps, or why nothing does, in a sentence.
    fn overlap(&self, diagnosis: Option<&Diagnosis>) -> String {
        let Some(round) = diagnosis else {
            return match self.status.lab.recording {
                None => tr!("overlap: measuring …").into(),
                Some(_) => tr!("not recorded").into(),
            };
        };
        let reason = round.causes.first().map_or("", |it| self.reason(it.cause));
        match (round.verdict(), &round.overlap) {
            (Verdict::NoOverlap, _) => tr!("No overlap: {reason}", reason = reason),
            (Verdict::NoGain, _) => tr!("No gain from overlap: {reason}", reason = reason),
            (Verdict::Overlap, Some(overlap)) => self.factor(overlap),
            (Verdict::Overlap | Verdict::Measuring, _) => tr!("overlap: measuring …").into(),
        }
    }

    fn factor(&self, overlap: &Overlap) -> String {
        let by = |resource| match resource {
            Resource::Host => tr!("the host's calls"),
            Resource::CopyEngine => tr!("the copy engine"),
            Resource::Units if self.is_cpu => tr!("the CPU cores"),
            Resource::Units => tr!("the SMs"),
            Resource::Stream => tr!("the longest stream"),
        };
        let factor = format!("{:.1}", overlap.factor());
        match overlap.upper_bound() {
            Some((_, resource)) if overlap.is_at_the_bound() => tr!(
                "overlap {factor}×, all that the bottleneck allows: {}",
                by(resource),
                factor = factor
            ),
            Some((most, resource)) => tr!(
                "overlap {factor}× · at most {most}× (bottleneck: {})",
                by(resource),
                factor = factor,
                most = format_args!("{most:.1}")
            ),
            None => tr!("overlap {factor}×", factor = factor),
        }
    }

    /// A cause in a word or two.
    fn name(&self, cause: Cause) -> &'static str {
        match cause {
            Cause::OneInstance | Cause::OneStream(_) => tr!("one stream"),
            Cause::OwnStreams { .. } => tr!("shared streams"),
            Cause::Events => tr!("events of other streams"),
            Cause::Batch => tr!("one launch for all"),
            Cause::PageableCopies => tr!("pageable copies"),
            Cause::HostWaits => tr!("a waiting host"),
            Cause::IssueOrder => tr!("the order of issue"),
            Cause::Calls { .. } => tr!("the host's calls"),
            Cause::UnitsFull { .. } if self.is_cpu => tr!("busy CPU cores"),
            Cause::UnitsFull { .. } => tr!("full SMs"),
            Cause::CopyEngine { .. } => tr!("the copy engine"),
            Cause::FewQueues { .. } => tr!("few hardware queues"),
            Cause::ShortKernels { .. } => tr!("short kernels"),
            Cause::WindowDraws => tr!("drawing of the window"),
            Cause::Delayed => tr!("delays by other programs"),
            Cause::LongestStream => tr!("one long stream"),
        }
    }

    /// What keeps ops from overlapping, as the rest of a sentence.
    fn reason(&self, cause: Cause) -> &'static str {
        match cause {
            Cause::OneInstance => tr!("one lattice has one stream"),
            Cause::OneStream(Streams::Default) => {
                tr!("the default stream runs its operations one after the other")
            }
            Cause::OneStream(_) => tr!("one stream runs its operations one after the other"),
            Cause::OwnStreams { streams: 1 } => {
                tr!("your round has one stream, which runs its operations one after the other")
            }
            Cause::OwnStreams { .. } => tr!("your round has several lattices in one stream"),
            Cause::Events => tr!("operations wait for events of other streams"),
            Cause::Batch => tr!("one launch steps all lattices, then one copy runs"),
            Cause::PageableCopies => tr!("the host waits in each copy to pageable memory"),
            Cause::HostWaits => tr!("the host waits for each lattice before it issues the next"),
            Cause::IssueOrder => tr!("each lattice's copy is issued before the next launch"),
            Cause::Calls { .. } => tr!("the launches are shorter than the calls that issue them"),
            Cause::UnitsFull { .. } if self.is_cpu => tr!("the launches keep all CPU cores busy"),
            Cause::UnitsFull { .. } => tr!("the launches fill the SMs"),
            Cause::CopyEngine { .. } => tr!("the copy engine makes one copy at a time"),
            Cause::FewQueues { .. } => tr!("there are more streams than hardware queues"),
            Cause::ShortKernels { .. } => tr!("each kernel is over before the next one starts"),
            Cause::WindowDraws => tr!("the window is drawn on the same device"),
            Cause::Delayed => tr!("the round was delayed by the host or by other programs"),
            Cause::LongestStream => tr!("one stream has most of the work"),
        }
    }

    /// What shows a cause in a round; empty where its settings alone do.
    fn evidence(&self, found: &Evidence, round: &Diagnosis) -> String {
        let Some(us) = found.us else {
            return String::new();
        };
        let part = tr!(
            "{time} of {round}",
            time = time_us(us),
            round = time_us(round.round_us)
        );
        match found.cause {
            Cause::OneInstance | Cause::Batch => String::new(),
            Cause::OneStream(_) | Cause::OwnStreams { .. } => tr!(
                "operations wait for earlier ones in the same stream: {}",
                part
            ),
            Cause::Events => tr!("operations wait for events: {}", part),
            Cause::PageableCopies => tr!("the host is blocked in copies: {}", part),
            Cause::HostWaits => tr!("the host waits with work left to issue: {}", part),
            Cause::IssueOrder => tr!("other calls before the last launch: {}", part),
            Cause::Calls { calls, us } => tr!(
                "the host issues {calls} operations in {us}; the device waits: {}",
                part,
                calls = calls,
                us = time_us(us)
            ),
            Cause::UnitsFull { demand } if self.is_cpu => tr!(
                "launches ask for {demand}× the available cores: {}",
                part,
                demand = format_args!("{demand:.1}")
            ),
            Cause::UnitsFull { demand } => tr!(
                "launches ask for {demand}× the available SMs: {}",
                part,
                demand = format_args!("{demand:.1}")
            ),
            Cause::CopyEngine { copies } => tr!(
                "{copies} copies at a time wait for the copy engine: {}",
                part,
                copies = format_args!("{copies:.1}")
            ),
            Cause::FewQueues { queues, streams } => tr!(
                "operations of {streams} streams wait in {queues} queues: {}",
                part,
                streams = streams,
                queues = queues
            ),
            Cause::ShortKernels { us } => tr!(
                "a launch takes {us}; operations have been issued, but not started: {}",
                part,
                us = time_us(us)
            ),
            Cause::WindowDraws | Cause::Delayed => {
                tr!("time lost outside the round: {}", part)
            }
            Cause::LongestStream => tr!("only one stream has work left: {}", part),
        }
    }

    fn cause(&self, found: &Evidence, round: &Diagnosis) -> CauseTexts {
        let (remedy, action) = self.remedy(found.remedy);
        CauseTexts {
            title: lang::sentence_case(self.reason(found.cause)),
            evidence: self.evidence(found, round),
            cost: match (found.us, found.cost_us) {
                (_, Some(us)) => tr!("up to {} per round", time_us(us)),
                (Some(_), None) => tr!("measuring …").into(),
                (None, None) => String::new(),
            },
            part: found.cost_us.map(|us| (us / round.round_us) as f32),
            remedy,
            action,
        }
    }

    /// What takes a cause away, and the action that does so.
    fn remedy(&self, remedy: Option<Remedy>) -> (String, Option<Action>) {
        let with_key = |key: String, what: &str| tr!("{label}: {value}", label = key, value = what);
        match remedy {
            Some(Remedy::Switch(switch, at)) => {
                let setting = &self.status.setting;
                let choices = switch.choices(setting.switches, setting.context());
                let choice = choices.get(usize::from(at));
                let choice = choice.map_or("", |choice| &choice.label);
                let what = format!("{} {choice}", switch.name());
                let action = SessionAction::SetSwitch(switch, at);
                (with_key(switch.key().into(), &what), Some(action.into()))
            }
            Some(Remedy::Act(action)) => {
                let what = action.row().map_or("", |row| row.name());
                (with_key(action.key(), what), Some(action))
            }
            Some(Remedy::Option(option)) => (tr!("at the next start: {}", option), None),
            None => (String::new(), None),
        }
    }

    /// The first cause, in one line beside the verdict.
    fn main_cause(&self, round: &Diagnosis) -> String {
        let Some(first) = round.causes.first() else {
            return String::new();
        };
        let texts = self.cause(first, round);
        // Where nothing overlaps, the verdict says what it is.
        let is_said = matches!(round.verdict(), Verdict::NoOverlap | Verdict::NoGain);
        let title = Some(texts.title).filter(|_| !is_said);
        let parts = [title, Some(texts.cost), Some(texts.remedy)];
        let parts = parts.into_iter().flatten();
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        parts.join(" · ")
    }
}

/// What the factor means, with the times that it is made of once they are measured, line by line.
fn describe(diagnosis: Option<&Diagnosis>, engine: &EngineStatus) -> Vec<String> {
    let overlap = diagnosis.and_then(|it| it.overlap.as_ref());
    let times = overlap.map(|overlap| {
        let [alone, together] = [overlap.alone_us, overlap.round_us()].map(time_us);
        tr!(
            "one at a time: {alone} · together: {together} (the round that is drawn)",
            alone = alone,
            together = together
        )
    });
    let title =
        tr!("Overlap: the operations' times one at a time, added up, over their time together");
    let scale = tr!("1×: one operation at a time; 4×: on average four at once");
    let below = tr!("Below 1×: the round also waits, for the host or for other programs");
    let exchange = diagnosis.and_then(|it| it.exchange).map(|part| {
        tr!(
            "a GPU only copies halos, or waits for them, in {}% of the round",
            format_args!("{:.1}", 100.0 * part)
        )
    });
    let clocks = (engine.devices.len() > 1).then(|| {
        tr!(
            "The clocks of the GPUs agree to within {}, and drift apart by some µs before they are compared again",
            time_us(engine.clock_error_us)
        )
    });
    let lines = [
        Some(title.to_owned()),
        times,
        Some(scale.into()),
        Some(below.into()),
        exchange,
        clocks,
    ];
    lines.into_iter().flatten().collect()
}
