//! How much of the ops' own times overlaps, and what bounds it, in words.

use crate::numbers::time_us;
use lang::tr;
use model::{Overlap, Resource};

/// A sentence for what was measured on this engine, or that it is being measured.
pub fn in_words(overlap: Option<&Overlap>, engine: &str) -> String {
    let Some(overlap) = overlap else {
        return tr!("overlap: measuring …").into();
    };
    let by = |resource| match resource {
        Resource::Host => tr!("the host's calls"),
        Resource::CopyEngine => tr!("the copy engine"),
        Resource::Units if engine == "cpu" => tr!("the CPU cores"),
        Resource::Units => tr!("the SMs"),
        Resource::Stream => tr!("the longest stream"),
    };
    let factor = overlap.factor();
    if overlap.is_slower_than_alone() {
        // No times: a round that waits is no measure for others.
        return tr!("No overlap: the round measured waited, for the host or other programs").into();
    }
    match overlap.upper_bound() {
        Some((_, resource)) if overlap.is_negligible() => tr!(
            "No gain from streams here: the bottleneck is {} (overlap {factor}×)",
            by(resource),
            factor = format_args!("{factor:.2}")
        ),
        None if overlap.is_negligible() => {
            tr!(
                "No gain from streams here (overlap {factor}×)",
                factor = format_args!("{factor:.2}")
            )
        }
        Some((_, resource)) if overlap.is_at_the_bound() => tr!(
            "overlap {factor}×, all that the bottleneck allows: {}",
            by(resource),
            factor = format_args!("{factor:.1}")
        ),
        Some((most, resource)) => {
            tr!(
                "overlap {factor}× · at most {most}× (bottleneck: {})",
                by(resource),
                factor = format_args!("{factor:.1}"),
                most = format_args!("{most:.1}")
            )
        }
        None => tr!("overlap {factor}×", factor = format_args!("{factor:.1}")),
    }
}

/// What the factor means, with the times that it is made of once they are measured, line by line.
pub fn describe(overlap: Option<&Overlap>) -> Vec<String> {
    let times = overlap.map(|overlap| {
        let [alone, round] = [overlap.alone_us, overlap.round_us()].map(time_us);
        tr!(
            "operations one at a time: {alone} · a round: {round}",
            alone = alone,
            round = round
        )
    });
    let title =
        tr!("Overlap: the operations' times one at a time, added up, over the round's time");
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
    use super::{describe, in_words};
    use model::{Bound, Overlap, Resource};

    #[test]
    fn overlap_says_what_bounds_it_and_where_streams_bring_nothing() {
        let overlap = |together_us, resource, us| Overlap {
            alone_us: 1590.0,
            together_us,
            bounds: vec![Bound { resource, us }],
        };
        let say = |overlap: &Overlap| in_words(Some(overlap), "cuda");
        assert_eq!(
            say(&overlap(163.9, Resource::Stream, 100.0)),
            "overlap 9.7× · at most 15.9× (bottleneck: the longest stream)"
        );
        assert_eq!(
            say(&overlap(1580.0, Resource::CopyEngine, 1500.0)),
            "No gain from streams here: the bottleneck is the copy engine (overlap 1.01×)"
        );
        // Ops that take longer alone than among others cannot overlap more than is possible.
        assert_eq!(
            say(&overlap(160.6, Resource::CopyEngine, 172.8)),
            "overlap 9.2×, all that the bottleneck allows: the copy engine"
        );
        assert_eq!(
            say(&overlap(567.0, Resource::Stream, 1590.0)),
            "No gain from streams here: the bottleneck is the longest stream (overlap 1.00×)"
        );
        assert_eq!(in_words(None, "cuda"), "overlap: measuring …");
        let bound = overlap(1580.0, Resource::Units, 1500.0);
        let by = |engine| in_words(Some(&bound), engine);
        assert!(by("cuda").contains("the SMs") && by("cpu").contains("the CPU cores"));
    }

    #[test]
    fn a_round_that_waits_is_not_given_a_factor_of_overlap() {
        let overlap = |resource, us| Overlap {
            alone_us: 105.0,
            together_us: 553.0,
            bounds: vec![Bound { resource, us }],
        };
        let idle = overlap(Resource::Units, 60.0);
        assert_eq!(
            in_words(Some(&idle), "cpu"),
            "No overlap: the round measured waited, for the host or other programs"
        );
        let lines = describe(Some(&idle));
        assert_eq!(
            lines[1],
            "operations one at a time: 105 µs · a round: 553 µs"
        );
        assert_eq!(describe(None).len() + 1, lines.len());
    }
}
