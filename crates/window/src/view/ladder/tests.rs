//! Nothing of the ladder is cut or covered, whatever the window; every rung has its place.

use crate::view::hud::tests::each_part;
use crate::view::layout::WindowLayout;
use engine::kernels::{KERNELS, find};
use life::Size;
use session::Status;
use ui::ViewOptions;
use ui::fixtures::status;
use ui::ladder::fixtures::{DEVICE, ladder};
use ui::ladder::{LadderChart, LogAxis, RateSource};

fn recorded() -> Status {
    let mut status = status(16, Size::new(1024, 1024).unwrap());
    status.engine.devices[0].name = DEVICE.into();
    status
}

fn unrecorded() -> Status {
    let mut status = status(16, Size::new(512, 512).unwrap());
    status.engine.devices[0].name = "Unknown".into();
    status.rates.reached = vec![("global", 3.2e9), ("sync-global", 2.47e11)];
    status
}

#[test]
fn every_rung_is_there_and_nothing_is_cut() {
    for mut status in [recorded(), unrecorded()] {
        let shown = LadderChart::of(&status);
        for (stepping, headline) in [(Some(2.47e11), shown.headline.as_str()), (None, "no round")] {
            status.rates.stepping = stepping;
            let options = ViewOptions {
                side: Some(ui::SidePanel::Ladder),
                timeline: true,
                ..Default::default()
            };
            let part = |layout: &WindowLayout| layout.side_rect(ui::SidePanel::Ladder);
            let mut ideas = 0;
            each_part(&status, &options, part, |frame, ours, say| {
                for kernel in &KERNELS {
                    let found = ours.iter().any(|(text, _)| *text == kernel.name);
                    assert!(found, "'{}' in {say}", kernel.name);
                }
                let is_high = frame.layout().is_some_and(|(layout, _)| {
                    let rect = part(&layout).unwrap();
                    layout.points(rect).height() > 640.0
                });
                for rung in &shown.rungs {
                    let is_there = ours.iter().any(|(text, _)| *text == rung.idea);
                    assert!(is_there || !is_high, "'{}' in {say}", rung.idea);
                    ideas += usize::from(is_there);
                }
                let led = ours.iter().any(|(text, _)| text.contains(headline));
                assert!(led, "{headline} in {say}");
            });
            assert!(ideas > 50, "{ideas}");
        }
    }
}

#[test]
fn a_rung_has_what_was_recorded_with_such_lattices_else_its_best_else_what_it_reached() {
    let status = recorded();
    let shown = LadderChart::of(&status);
    let of = |name: &str| {
        let rung = shown.rungs.iter().find(|rung| rung.name == name).unwrap();
        (rung.mark.map(|(_, source)| source), rung.possible)
    };
    let ladder = ladder();
    let [small, _] = [0, 1].map(|i| ladder.works[i]);
    assert!(ladder.rate("bits", small).is_some());
    assert_eq!(of("bits"), (Some(RateSource::Recorded), true));
    assert_eq!(of("resident"), (None, false), "it takes neither work");
    let mut large = status;
    large.lattices.instances = 1;
    large.lattices.size = Size::new(16_384, 16_384).unwrap();
    let shown = LadderChart::of(&large);
    let planar = shown.rungs.iter().find(|rung| rung.name == "planar");
    let best = ladder.rate("planar", small).unwrap().median;
    assert_eq!(planar.unwrap().mark, Some((best, RateSource::Other)));

    let shown = LadderChart::of(&unrecorded());
    let marks: Vec<_> = shown.rungs.iter().map(|rung| rung.mark).collect();
    let [.., shared, global] = marks[..] else {
        panic!("{marks:?}");
    };
    assert_eq!(global, Some((3.2e9, RateSource::Session)));
    assert_eq!(shared, None);
    assert_eq!(shown.limit, None);
}

#[test]
fn the_lead_says_the_present_kernel_and_its_part_of_the_limit() {
    let mut status = recorded();
    status.setting.kernel = find("bits").unwrap();
    status.rates.stepping = Some(6.68e12);
    let shown = LadderChart::of(&status);
    assert_eq!(shown.headline, "bits 6.68 Tcell/s, 9.4 % of the limit");
    assert!(shown.rungs.iter().filter(|rung| rung.present).count() == 1);
    assert!(shown.caption.contains("16 × 1024²"), "{}", shown.caption);
}

#[test]
fn the_axis_holds_every_rate_and_its_powers_are_even_apart() {
    let axis = LogAxis::over([4e9, 6.68e13].into_iter());
    assert_eq!(axis, LogAxis { from: 9, to: 14 });
    let ticks: Vec<_> = axis.ticks().collect();
    let texts: Vec<&str> = ticks.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["1 G", "10 G", "100 G", "1 T", "10 T", "100 T"]);
    assert!(
        ticks
            .iter()
            .zip(0..)
            .all(|((at, _), n)| (at - 0.2 * n as f32).abs() < 1e-5)
    );
    assert_eq!(
        LogAxis::over([5e9].into_iter()),
        LogAxis { from: 8, to: 10 }
    );
    assert_eq!(
        LogAxis::over(std::iter::empty()),
        LogAxis { from: 9, to: 12 }
    );
    assert!((axis.part(1e10) - 0.2).abs() < 1e-6);
}

#[test]
fn a_rung_says_what_it_is_and_where_its_mark_is_from() {
    let status = recorded();
    let shown = LadderChart::of(&status);
    let tip = |name: &str| {
        let rung = shown.rungs.iter().find(|rung| rung.name == name);
        rung.unwrap().tip()
    };
    assert!(tip("bits").starts_with(find("bits").unwrap().title));
    assert!(tip("bits").contains("cell/s, recorded"), "{}", tip("bits"));
    assert!(tip("resident").ends_with("does not support this lattice size or device"));
}
