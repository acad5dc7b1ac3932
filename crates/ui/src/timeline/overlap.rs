//! How much of the ops' own times overlaps, and what bounds it, in words.

use crate::numbers::time_us;
use lang::tr;
use model::{NoOverlap, Overlap, Resource, Status};

/// What is said over the lanes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OverlapTexts {
    /// How much of a round overlaps, or why nothing does.
    pub overlap: String,
    /// The time of a round, and which statistic that is; empty until there is one.
    pub round_time: String,
}

impl OverlapTexts {
    /// As of this status.
    pub fn of(status: &Status) -> OverlapTexts {
        let round_time = |us| tr!("time per round: {} (median)", time_us(us));
        OverlapTexts {
            overlap: overlap_text(status),
            round_time: status.rates.round_us.map_or(String::new(), round_time),
        }
    }
}

/// How much of a round of this session overlaps, or why nothing does, in a sentence.
fn overlap_text(status: &Status) -> String {
    let engine = status.engine.name;
    if let Some(cause) = NoOverlap::of(status) {
        return no_overlap(cause, engine).into();
    }
    let Some(overlap) = &status.lab.overlap else {
        return tr!("overlap: measuring …").into();
    };
    let by = |resource| match resource {
        Resource::Host => tr!("the host's calls"),
        Resource::CopyEngine => tr!("the copy engine"),
        Resource::Units if engine == "cpu" => tr!("the CPU cores"),
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

fn no_overlap(cause: NoOverlap, engine: &str) -> &'static str {
    match cause {
        NoOverlap::OneInstance => tr!("No overlap: one lattice has one stream"),
        NoOverlap::OneStream => {
            tr!("No overlap: one stream runs its operations one after the other")
        }
        NoOverlap::Batch => tr!("No overlap: one launch steps all lattices, then one copy runs"),
        NoOverlap::PageableCopies => {
            tr!("No overlap: the host waits in each copy to pageable memory")
        }
        NoOverlap::HostWaits => {
            tr!("No overlap: the host waits for each lattice before it issues the next")
        }
        NoOverlap::Bound(Resource::Host) => {
            tr!("No overlap: the launches are shorter than the calls that issue them")
        }
        NoOverlap::Bound(Resource::CopyEngine) => {
            tr!("No overlap: the copy engine makes one copy at a time")
        }
        NoOverlap::Bound(Resource::Units) if engine == "cpu" => {
            tr!("No overlap: each launch keeps all CPU cores busy")
        }
        NoOverlap::Bound(Resource::Units) => tr!("No overlap: each launch fills the SMs"),
        NoOverlap::Bound(Resource::Stream) => tr!("No overlap: one stream has most of the work"),
        NoOverlap::Delayed => {
            tr!("No overlap: the round was delayed by the host or by other programs")
        }
    }
}

/// What the factor means, with the times that it is made of once they are measured, line by line.
pub fn describe(overlap: Option<&Overlap>) -> Vec<String> {
    let times = overlap.map(|overlap| {
        let [alone, together] = [overlap.alone_us, overlap.round_us()].map(time_us);
        tr!(
            "one at a time: {alone} · together: {together} (medians of timed rounds)",
            alone = alone,
            together = together
        )
    });
    let title =
        tr!("Overlap: the operations' times one at a time, added up, over their time together");
    let scale = tr!("1×: one operation at a time; 4×: on average four at once");
    let below = tr!("Below 1×: the round also waits, for the host or for other programs");
    let lines = [
        Some(title.to_owned()),
        times,
        Some(scale.into()),
        Some(below.into()),
    ];
    lines.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::status;
    use engine::HostMemory;
    use life::Size;
    use model::{Bound, Order, Streams, Wait};

    fn overlap(alone_us: f64, together_us: f64, resource: Resource, us: f64) -> Overlap {
        Overlap {
            alone_us,
            together_us,
            bounds: vec![Bound { resource, us }],
        }
    }

    fn measured(overlap: Overlap) -> Status {
        let mut status = status(16, Size::new(64, 64).unwrap());
        status.lab.overlap = Some(overlap);
        status
    }

    #[test]
    fn overlap_says_what_bounds_it() {
        let say = |together_us, resource, us| {
            overlap_text(&measured(overlap(1590.0, together_us, resource, us)))
        };
        assert_eq!(
            say(163.9, Resource::Stream, 100.0),
            "overlap 9.7× · at most 15.9× (bottleneck: the longest stream)"
        );
        // Ops that take longer alone than among others cannot overlap more than is possible.
        assert_eq!(
            say(160.6, Resource::CopyEngine, 172.8),
            "overlap 9.2×, all that the bottleneck allows: the copy engine"
        );
        let mut unmeasured = status(16, Size::new(64, 64).unwrap());
        assert_eq!(overlap_text(&unmeasured), "overlap: measuring …");
        unmeasured.lattices.instances = 1;
        let one = "No overlap: one lattice has one stream";
        assert_eq!(overlap_text(&unmeasured), one);
    }

    #[test]
    fn where_nothing_overlaps_the_cause_is_said() {
        let serial = |resource, us| measured(overlap(1590.0, 1580.0, resource, us));
        let with = |change: fn(&mut Status)| {
            let mut status = serial(Resource::Host, 1500.0);
            change(&mut status);
            overlap_text(&status)
        };
        for (said, cause) in [
            (
                with(|it| it.setting.switches.streams = Streams::One),
                "one stream runs",
            ),
            (
                with(|it| it.setting.switches.streams = Streams::Default),
                "one stream runs",
            ),
            (
                with(|it| it.setting.switches.streams = Streams::Batch),
                "one launch steps all",
            ),
            (
                with(|it| it.setting.switches.host_memory = HostMemory::Pageable),
                "copy to pageable memory",
            ),
            (
                with(|it| {
                    let switches = &mut it.setting.switches;
                    (switches.wait, switches.order) = (Wait::Each, Order::Depth);
                }),
                "waits for each lattice",
            ),
            (with(|_| {}), "shorter than the calls"),
            (
                overlap_text(&serial(Resource::CopyEngine, 1500.0)),
                "the copy engine",
            ),
            (
                overlap_text(&serial(Resource::Units, 1500.0)),
                "fills the SMs",
            ),
            (
                overlap_text(&serial(Resource::Units, 60.0)),
                "delayed by the host",
            ),
            (
                with(|it| {
                    it.engine.name = "cpu";
                    it.lab.overlap = Some(overlap(105.0, 110.0, Resource::Units, 105.0));
                }),
                "keeps all CPU cores busy",
            ),
        ] {
            let is_said = said.starts_with("No overlap: ") && said.contains(cause);
            assert!(is_said, "'{cause}' in '{said}'");
        }
    }

    #[test]
    fn the_tip_says_what_the_factor_is_made_of() {
        let idle = overlap(105.0, 553.0, Resource::Units, 60.0);
        let lines = describe(Some(&idle));
        assert_eq!(
            lines[1],
            "one at a time: 105 µs · together: 553 µs (medians of timed rounds)"
        );
        assert_eq!(describe(None).len() + 1, lines.len());
    }
}
