//! What cannot be is said with its reason, and the calls have room, whatever the window.

use crate::view::hud::tests::{each, texts};
use engine::kernels::find;
use ui::fixtures::status;
use ui::lab::switches;
use ui::{SidePanel, ViewOptions};

#[test]
fn whatever_cannot_be_says_why_and_calls_are_seen_also_on_a_projector() {
    let mut status = status(16, life::Size::new(512, 512).unwrap());
    status.setting.kernel = find("bits").unwrap();
    let refused = switches(&status).into_iter().flat_map(|row| {
        let name = row.name;
        let positions = row.positions.into_iter();
        positions.filter_map(move |it| it.unavailable.map(|why| (name.clone(), it.label, why)))
    });
    let refused: Vec<_> = refused.collect();
    assert!(refused.len() > 1, "{refused:?}");
    let options = ViewOptions {
        side: Some(SidePanel::Lab),
        timeline: true,
        ..Default::default()
    };
    let mut said = 0;
    each(&status, &options, |frame, shapes| {
        let (layout, _) = frame.layout().unwrap();
        let Some(lab) = layout.side_rect(SidePanel::Lab) else {
            return;
        };
        said += 1;
        let lab = layout.points(lab);
        let texts: Vec<_> = texts(shapes)
            .filter(|(_, rect)| lab.contains_rect(*rect))
            .map(|(text, _)| text)
            .collect();
        let say = format!("{:?} at {}", frame.pixels, frame.scale);
        for (switch, label, why) in &refused {
            let reason = format!("{switch} {label} is unavailable: {why}");
            let name = format!("{switch} {label}");
            let is_said = |text: &&str| {
                text.contains(&reason) || text.starts_with("Unavailable") && text.contains(&name)
            };
            assert!(texts.iter().any(is_said), "{name} in {say}");
        }
        let calls = ui::lab::calls(&status);
        let calls = calls.iter();
        let seen = calls.filter(|line| texts.contains(&line.as_str())).count();
        let is_lectures = frame.pixels[0] >= 1280 && frame.scale == 1.0 && frame.pixels[1] >= 800;
        assert!(!is_lectures || seen >= 12, "{seen} lines of calls in {say}");
    });
    assert!(said > 10);
}
