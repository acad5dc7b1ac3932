//! Nothing of the graph is cut or covered, whatever the window; and it says what was measured.

use crate::view::hud::tests::each_part;
use crate::view::layout::WindowLayout;
use life::Size;
use session::{Settled, Status};
use ui::fixtures::{Timed, status};
use ui::{Population, PopulationChart, ViewOptions};

fn settled() -> Status {
    let mut status = status(16, Size::new(512, 512).unwrap());
    status.panels.settled = (0..16)
        .map(|i| (i % 2 == 0).then_some(Settled::Repeats(600)))
        .collect();
    status
}

#[test]
fn nothing_is_cut_and_everything_is_said() {
    for (selected, of_all) in [(0, false), (1, false), (0, true)] {
        let mut status = settled();
        status.panels.selected = selected;
        let options = ViewOptions {
            side: Some(ui::SidePanel::Population),
            population_of_all: of_all,
            timeline: true,
            ..Default::default()
        };
        let part = |layout: &WindowLayout| layout.side_rect(ui::SidePanel::Population);
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
            let shown = PopulationChart::of(frame.sources.population, &status);
            for text in [&shown.headline, &shown.caption, &shown.born, &shown.died] {
                assert!(
                    ours.iter().any(|(caption, _)| caption == text),
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
    let one = PopulationChart::of(&population, &status);
    assert_eq!(one.title, "Population of instance 0");
    assert!(
        one.caption.starts_with("repeats every 600"),
        "{}",
        one.caption
    );
    let all = ViewOptions {
        population_of_all: true,
        ..options
    };
    population.update(&Timed(16), &status, &all);
    let all = PopulationChart::of(&population, &status);
    assert_eq!(all.title, "Population of all 16");
    assert_eq!(all.caption, "8 of 16 panels are still or periodic");
    assert_eq!(all.ends(), Some((12_000, 14_999)));
    assert_eq!(all.y_max, 100_000.0);
}
