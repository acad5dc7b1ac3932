//! Nothing lies over anything else and everything has its room, whatever the window and whatever it is to hold.

use std::collections::HashSet;

use super::*;
use crate::view::lecture;
use ui::fixtures::lecture_screen;
use ui::theme::{Palette, distance};

/// Windows of lectures, and others.
const LECTURES: [[u32; 2]; 5] = [
    [1024, 768],
    [1280, 720],
    [1280, 800],
    [1920, 1080],
    [3840, 2160],
];
const OTHERS: [[u32; 2]; 6] = [
    [800, 500],
    [600, 1000],
    [1000, 1000],
    [400, 250],
    [120, 90],
    [2560, 700],
];

fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

fn beside(side: Option<SidePanel>, lanes: usize) -> LayoutRequest {
    LayoutRequest {
        lanes: Some(lanes),
        toolbar: true,
        side,
        ..Default::default()
    }
}

#[test]
fn whole_lattices_are_as_large_as_any_rows_and_columns_make_them() {
    for window in LECTURES.into_iter().chain(OTHERS) {
        for count in [1, 2, 3, 4, 7, 16, 17, 64, 200] {
            for (w, h) in [(512, 512), (1000, 300), (300, 1000), (33, 1), (1, 4096)] {
                let layout = lay_out(window, 1.0, count, size(w, h), &beside(None, count));
                let area = [layout.area.width, layout.area.height].map(f64::from);
                let gap = f64::from(layout.tiling.gap);
                let aspect = (w as f64 / h as f64).clamp(1.0 / 16.0, 16.0);
                let width = |columns: usize| {
                    let rows = count.div_ceil(columns) as f64;
                    let w = (area[0] - gap * (columns as f64 + 1.0)) / columns as f64;
                    let h = (area[1] - gap * (rows + 1.0)) / rows;
                    w.min(h * aspect)
                };
                let best = (1..=count).map(width).fold(0.0, f64::max);
                let width = f64::from(layout.tiling.panel[0]);
                // Within a pixel either way; on long lattices a pixel of height is many of width. Panels
                // that are almost as large may leave fewer places empty.
                assert!(
                    width / 0.93f64.sqrt() + 1.0 + aspect >= best,
                    "{window:?} {count} of {w}x{h}: {width} < {best}"
                );
                if layout.tiling.panel.iter().all(|&side| side > 1) {
                    let rect = layout.tiling.rect(count - 1);
                    let corner = [rect.x, rect.y].map(f64::from);
                    assert_eq!(layout.tiling.place_at(corner), Some(count - 1));
                }
            }
        }
    }
}

#[test]
fn windows_of_a_lecture_have_room_for_everything_and_small_ones_say_for_what() {
    let lab = beside(Some(SidePanel::Lab), 16);
    let map = LayoutRequest {
        sm_count: Some(132),
        ..lab
    };
    let presented = |side| LayoutRequest {
        presentation: true,
        ..beside(side, 16)
    };
    let usual = &LECTURES[2..];
    // Windows, their scale, what is wanted, and whether there is a side panel, a timeline, a map.
    for (windows, scale, request, has) in [
        (usual, 1.0, lab, [true, true, false]),
        (usual, 1.0, map, [true, true, true]),
        (&[[700, 1100]], 1.0, lab, [true, false, false]),
        (&[[400, 250]], 1.0, lab, [false, false, false]),
        (&LECTURES, 1.0, beside(None, 16), [false, true, false]),
        (&OTHERS[..2], 1.0, beside(None, 16), [false, true, false]),
        (&LECTURES[2..3], 2.0, beside(None, 16), [false, true, false]),
        (&OTHERS[..1], 2.0, beside(None, 16), [false, false, false]),
        (&OTHERS[3..4], 1.0, beside(None, 16), [false, false, false]),
        // A race is drawn in the timeline, beside the script.
        (
            &LECTURES,
            1.0,
            presented(Some(SidePanel::Editor)),
            [true, true, false],
        ),
    ] {
        for &window in windows {
            let layout = lay_out(window, scale, 16, size(512, 512), &request);
            let found = [
                layout.side.is_some(),
                layout.timeline.is_some(),
                layout.sm_count.is_some(),
            ];
            assert_eq!(found, has, "{window:?}: {request:?}");
            assert!(layout.tiling.panel[0] > 16, "{window:?}");
        }
    }
    for window in LECTURES {
        // The lecture opens the ladder while a presentation shows the timeline, whose place it may take.
        let ladder = presented(Some(SidePanel::Ladder));
        let layout = lay_out(window, 1.0, 16, size(256, 256), &ladder);
        assert!(
            layout.side.is_some() && layout.tiling.panel[0] > 16,
            "{window:?}"
        );
        // Lanes are seen from the last row.
        let step = lecture::height(&lecture_screen());
        for (lecture, least) in [(None, 6.0), (Some(step), 3.75)] {
            let request = LayoutRequest {
                lecture,
                ..presented(None)
            };
            let layout = lay_out(window, 1.0, 16, size(1024, 1024), &request);
            let places = timeline::layout::TimelineLayout::of(&layout).unwrap();
            let [_, lanes] = places.plot.rounds(&[16])[0];
            assert!(lanes.height() / 16.0 >= least, "{window:?}");
            assert_eq!(layout.lecture.is_some(), lecture.is_some());
        }
    }
}

#[test]
fn panels_that_show_a_part_fill_their_area_and_have_colours_apart() {
    let mut seen = HashSet::new();
    for window in LECTURES {
        for count in 1..=64 {
            for lanes in [None, Some(count)] {
                let request = LayoutRequest {
                    cell_pixels: Some(4.0),
                    lanes,
                    ..LayoutRequest::default()
                };
                let layout = lay_out(window, 1.0, count, size(1024, 1024), &request);
                seen.insert((count, layout.tiling.columns));
                let pixels = |[a, b]: [u32; 2]| f64::from(a) * f64::from(b);
                let area = pixels([layout.area.width, layout.area.height]);
                let filled = count as f64 * pixels(layout.tiling.panel) / area;
                assert!(filled >= 0.85, "{count} in {window:?}: {filled:.3}");
            }
        }
    }
    for (count, columns) in seen {
        for place in 0..count {
            let beside = Some(place + 1).filter(|it| it % columns != 0);
            for other in beside
                .into_iter()
                .chain([place + columns])
                .filter(|it| *it < count)
            {
                let [a, b] = [place, other].map(|number| Palette::DARK.instance(number));
                assert!(distance(a, b) >= 0.1, "{place} and {other} of {count}");
            }
        }
    }
}

/// However closely one looks, no cell is there twice, and nothing but cells; of a very long lattice, something.
#[test]
fn a_panel_is_no_larger_than_the_torus_it_shows_and_no_smaller_than_all_of_it() {
    for (width, height) in [(100, 80), (16_384, 64), (64, 16_384)] {
        let size = size(width, height);
        let count = if width == 100 { 4 } else { 1 };
        let panel = |cell_pixels| {
            let request = LayoutRequest {
                cell_pixels,
                ..Default::default()
            };
            lay_out([1280, 800], 1.0, count, size, &request)
                .tiling
                .panel
        };
        let whole = panel(None);
        for cell_pixels in [0.0763, 0.5, 2.0, 13.0, 40.0] {
            let part = panel(Some(cell_pixels));
            let shown = ui::Camera::opening(cell_pixels).target_transform(size, part);
            for (axis, side) in [width, height].into_iter().enumerate() {
                let torus = side as f64 * shown.scale + 1.0;
                assert!(width != 100 || f64::from(part[axis]) <= torus, "{part:?}");
                let is_seen = part[axis] >= whole[axis] || cell_pixels > 2.0;
                assert!(width == 100 || is_seen, "{part:?} {whole:?}");
            }
        }
    }
}
