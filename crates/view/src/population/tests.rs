//! Nothing of the graph is cut or covered, whatever the window; and it says what was measured.

use super::*;
use crate::fixtures::{Timed, status};
use crate::hud::tests::each_part;
use crate::layout::Layout;
use life::Size;

fn settled() -> Status {
    let mut status = status(16, Size::new(512, 512).unwrap());
    status.time.settled = (0..16)
        .map(|i| (i % 2 == 0).then_some(Settled::Repeats(600)))
        .collect();
    status
}

#[test]
fn nothing_is_cut_and_everything_is_said() {
    for (selected, of_all) in [(0, false), (1, false), (0, true)] {
        let status = Status {
            selected,
            ..settled()
        };
        let options = ViewOptions {
            side: Some(crate::SidePanel::Population),
            population_of_all: of_all,
            timeline: true,
            ..Default::default()
        };
        let part = |layout: &Layout| layout.side_rect(crate::SidePanel::Population);
        each_part(&status, &options, part, |frame, ours, say| {
            for &(text, at) in ours {
                let others = ours.iter().filter(|(other, _)| *other != text);
                for (other, there) in others {
                    assert!(
                        !there.shrink(1.0).intersects(at.shrink(1.0)),
                        "'{text}' and '{other}' in {say}"
                    );
                }
            }
            let shown = Shown::of(frame.population, &status);
            for text in [&shown.lead, &shown.said, &shown.born, &shown.died] {
                assert!(
                    ours.iter().any(|(said, _)| said == text),
                    "'{text}' in {say}"
                );
            }
        });
    }
}

#[test]
fn what_is_shown_changes_with_who_is_looked_at() {
    let (mut population, status) = (Population::default(), settled());
    let options = ViewOptions::default();
    population.update(&Timed(16), &status, &options);
    assert!(population.has_samples());
    let one = Shown::of(&population, &status);
    assert_eq!(one.title, "Population of instance 0");
    assert!(one.said.starts_with("repeats every 600"), "{}", one.said);
    let all = ViewOptions {
        population_of_all: true,
        ..options
    };
    population.update(&Timed(16), &status, &all);
    let all = Shown::of(&population, &status);
    assert_eq!(all.title, "Population of all 16");
    assert_eq!(all.said, "8 of 16 panels are still or periodic");
    assert_eq!(all.ends(), Some((12_000, 14_999)));
    assert_eq!(all.most, 100_000.0);
}

#[test]
fn births_over_several_generations_are_told_as_such() {
    assert_eq!(change("born", 1234, 1), "born 1.23 k");
    assert_eq!(change("died", 12, 1000), "died 12.0 in 1,000 generations");
}
