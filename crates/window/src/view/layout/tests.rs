//! Nothing lies over anything else, whatever the window and whatever it is to hold.

use super::*;
use crate::view::lecture;
use ui::fixtures::lecture_screen;
use ui::theme::{Palette, distance};

const WINDOWS: [[u32; 2]; 9] = [
    [800, 500],
    [1280, 800],
    [1920, 1080],
    [3840, 2160],
    [600, 1000],
    [1000, 1000],
    [400, 250],
    [120, 90],
    [2560, 700],
];

fn with_lanes(lanes: usize) -> LayoutRequest {
    LayoutRequest {
        lanes: Some(lanes),
        toolbar: true,
        ..Default::default()
    }
}

/// What a window may be asked to hold.
fn layout_requests(count: usize) -> [LayoutRequest; 6] {
    let lab = LayoutRequest {
        side: Some(SidePanel::Lab),
        ..with_lanes(count)
    };
    [
        LayoutRequest::default(),
        with_lanes(1),
        with_lanes(count),
        lab,
        LayoutRequest {
            sm_count: Some(132),
            comparison: Some(count / 2),
            ..lab
        },
        LayoutRequest {
            side: Some(SidePanel::Ladder),
            ..with_lanes(count)
        },
    ]
}

fn each_layout(mut check: impl FnMut([u32; 2], usize, Size, WindowLayout)) {
    for window in WINDOWS {
        for scale in [1.0, 1.5, 2.0] {
            for count in [1, 2, 3, 4, 7, 16, 17, 64, 200] {
                for (w, h) in [(512, 512), (1000, 300), (300, 1000), (33, 1), (1, 4096)] {
                    let size = Size::new(w, h).unwrap();
                    for request in layout_requests(count) {
                        let layout = lay_out(window, scale, count, size, &request);
                        check(window, count, size, layout);
                    }
                }
            }
        }
    }
}

fn meet(a: PixelRect, b: PixelRect) -> bool {
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

#[test]
fn panels_and_what_is_said_of_them_stand_apart_in_what_is_left_of_the_window() {
    each_layout(|window, count, size, layout| {
        let headers = layout.comparison.map(|comparison| {
            let [a, b] = session::Side::ALL.map(|side| comparison.header(side));
            [comparison.band, a, b]
        });
        let mut all: Vec<_> = headers.into_iter().flatten().collect();
        // Where there are more panels than pixels, they cannot all be seen.
        if layout.tiling.panel.iter().all(|&side| side > 1) {
            let comparison = layout.comparison.map_or(0, |_| count / 2);
            let places = [
                0,
                count / 2,
                count - 1,
                comparison,
                comparison.saturating_sub(1),
            ];
            let mut places = places.to_vec();
            places.sort_unstable();
            places.dedup();
            let places = places.into_iter().map(|place| layout.tiling.rect(place));
            all.extend(places.filter(|rect| rect.width > 0));
        }
        let area = layout.area;
        for (index, &a) in all.iter().enumerate() {
            let say = format!("{window:?} {count} of {size}: {a:?} in {layout:?}");
            let [right, bottom] = [a.x + a.width, a.y + a.height];
            assert!(a.x >= area.x && a.y >= area.y, "{say}");
            assert!(
                right <= area.x + area.width && bottom <= area.y + area.height,
                "{say}"
            );
            for &b in &all[index + 1..] {
                assert!(!meet(a, b), "{b:?} over {say}");
            }
        }
    });
}

#[test]
fn the_lanes_of_a_presentation_are_seen_from_the_last_row() {
    let step = lecture::height(&lecture_screen());
    for window in [
        [1024, 768],
        [1280, 720],
        [1280, 800],
        [1920, 1080],
        [3840, 2160],
    ] {
        for (lecture, least) in [(None, 6.0), (Some(step), 3.75)] {
            let request = LayoutRequest {
                presentation: true,
                lecture,
                ..with_lanes(16)
            };
            let size = Size::new(1024, 1024).unwrap();
            let layout = lay_out(window, 1.0, 16, size, &request);
            let places = timeline::layout::TimelineLayout::of(&layout).unwrap();
            let lane = places.lanes.height() / 16.0;
            assert!(lane >= least, "{window:?}: {lane}");
            assert_eq!(layout.lecture.is_some(), lecture.is_some());
        }
    }
}

#[test]
fn the_timeline_takes_less_than_half_and_the_map_less_than_two_thirds() {
    each_layout(|window, _, _, layout| {
        let Some(timeline) = layout.timeline else {
            return;
        };
        // Where type is large for the window, lanes would be too thin in half of it.
        let is_low = (window[1] as f32) < 640.0 * layout.pixels_per_point;
        let most = if layout.sm_count.is_some() || is_low {
            0.66
        } else {
            0.5
        };
        assert!(
            f64::from(timeline.height) < most * f64::from(window[1]),
            "{layout:?}"
        );
    });
}

#[test]
fn panels_of_a_and_b_are_alike_and_one_left_over_has_no_place() {
    let size = Size::new(128, 128).unwrap();
    let request = LayoutRequest {
        comparison: Some(8),
        ..Default::default()
    };
    for window in [[1280, 800], [700, 1100], [2560, 700]] {
        let layout = lay_out(window, 1.0, 17, size, &request);
        let (tiling, comparison) = (layout.tiling, layout.comparison.unwrap());
        for place in 0..8 {
            let (a, b) = (tiling.rect(place), tiling.rect(place + 8));
            assert_eq!([a.width, a.height], [b.width, b.height]);
            let [first, second] = session::Side::ALL.map(|side| comparison.header(side));
            assert_eq!(
                [b.x - a.x, b.y - a.y],
                [second.x - first.x, second.y - first.y]
            );
            let middle = [f64::from(b.x) + 1.0, f64::from(b.y) + 1.0];
            assert_eq!(tiling.place_at(middle), Some(place + 8));
        }
        assert_eq!(tiling.rect(16), PixelRect::default());
    }
}

#[test]
fn the_windows_of_a_lecture_have_lab_and_timeline_together() {
    let size = Size::new(512, 512).unwrap();
    let request = LayoutRequest {
        side: Some(SidePanel::Lab),
        ..with_lanes(16)
    };
    for window in [[1280, 800], [1920, 1080], [3840, 2160]] {
        let layout = lay_out(window, 1.0, 16, size, &request);
        assert!(layout.side.is_some() && layout.timeline.is_some());
        assert!(layout.tiling.panel[0] > 80, "{layout:?}");
        let with_map = LayoutRequest {
            sm_count: Some(132),
            ..request
        };
        let layout = lay_out(window, 1.0, 16, size, &with_map);
        assert!(layout.timeline.is_some() && layout.sm_count == Some(132));
    }
    let lab = |window| lay_out(window, 1.0, 16, size, &request).side_rect(SidePanel::Lab);
    assert!(lab([800, 500]).is_some() && lab([700, 1100]).is_some());
    assert_eq!(lab([400, 250]), None);
}

/// The lecture opens the ladder while a presentation shows the timeline, whose place it may take.
#[test]
fn a_presentation_has_room_for_what_stands_beside_the_panels() {
    let request = LayoutRequest {
        presentation: true,
        side: Some(SidePanel::Ladder),
        lanes: Some(16),
        ..LayoutRequest::default()
    };
    let size = Size::new(256, 256).unwrap();
    for window in [
        [1024, 768],
        [1264, 736],
        [1280, 720],
        [1280, 800],
        [1920, 1080],
    ] {
        let layout = lay_out(window, 1.0, 16, size, &request);
        assert!(layout.side.is_some(), "{window:?}");
        assert!(layout.tiling.panel[0] > 16, "{window:?}");
        // A race is drawn in the timeline, beside the script.
        let editor = LayoutRequest {
            side: Some(SidePanel::Editor),
            ..request
        };
        let layout = lay_out(window, 1.0, 16, size, &editor);
        assert!(layout.side.is_some() && layout.timeline.is_some());
        assert!(layout.tiling.panel[0] > 16, "{window:?}");
    }
}

#[test]
fn windows_of_a_lecture_have_a_timeline_and_small_ones_none() {
    let size = Size::new(512, 512).unwrap();
    let timeline = |window, scale| lay_out(window, scale, 16, size, &with_lanes(16)).timeline;
    for window in [
        [800, 500],
        [1280, 800],
        [1920, 1080],
        [3840, 2160],
        [600, 1000],
    ] {
        assert!(timeline(window, 1.0).is_some(), "{window:?}");
    }
    assert!(timeline([1280, 800], 2.0).is_some());
    assert_eq!(timeline([800, 500], 2.0), None);
    assert_eq!(timeline([400, 250], 1.0), None);
}

#[test]
fn whole_lattices_are_as_large_as_any_rows_and_columns_make_them() {
    each_layout(|window, count, size, layout| {
        if layout.comparison.is_some() {
            return;
        }
        let area = [layout.area.width, layout.area.height].map(f64::from);
        let gap = f64::from(layout.tiling.gap);
        let aspect = f64::from(size.width()) / f64::from(size.height());
        let aspect = aspect.clamp(1.0 / 16.0, 16.0);
        let best = (1..=count)
            .map(|columns| {
                let rows = count.div_ceil(columns) as f64;
                let w = (area[0] - gap * (columns as f64 + 1.0)) / columns as f64;
                let h = (area[1] - gap * (rows + 1.0)) / rows;
                w.min(h * aspect)
            })
            .fold(0.0, f64::max);
        let width = f64::from(layout.tiling.panel[0]);
        // Within a pixel either way; on long lattices a pixel of height is many of width. Panels
        // that are almost as large may leave fewer places empty.
        assert!(
            width / 0.93f64.sqrt() + 1.0 + aspect >= best,
            "{window:?} {count} of {size}: {width} < {best}"
        );
    });
}

/// How much of what a layout leaves to its panels they fill.
fn filled(window: [u32; 2], count: usize, request: &LayoutRequest) -> f64 {
    let size = Size::new(1024, 1024).unwrap();
    let layout = lay_out(window, 1.0, count, size, request);
    let pixels = |[width, height]: [u32; 2]| f64::from(width) * f64::from(height);
    count as f64 * pixels(layout.tiling.panel) / pixels([layout.area.width, layout.area.height])
}

/// The windows of lectures, with and without timeline and lab, for 1 to 64 panels that show this
/// many pixels per cell.
fn each_lecture(cell_pixels: Option<f64>, mut check: impl FnMut([u32; 2], usize, &LayoutRequest)) {
    for window in [[1024, 768], [1280, 800], [1920, 1080], [3840, 2160]] {
        for count in 1..=64 {
            for lanes in [None, Some(count)] {
                for side in [None, Some(SidePanel::Lab)] {
                    let request = LayoutRequest {
                        toolbar: true,
                        cell_pixels,
                        lanes,
                        side,
                        ..Default::default()
                    };
                    check(window, count, &request);
                }
            }
        }
    }
}

#[test]
fn panels_that_show_a_part_fill_their_area() {
    let mut least = [1.0f64, 1.0];
    each_lecture(Some(4.0), |window, count, request| {
        let filled = filled(window, count, request);
        let is_power = count.is_power_of_two();
        let wanted = if is_power { 0.92 } else { 0.85 };
        assert!(
            filled >= wanted,
            "{count} in {window:?}: {filled:.3}, {request:?}"
        );
        least[usize::from(is_power)] = least[usize::from(is_power)].min(filled);
    });
    println!("at least {:.3}, of powers of two {:.3}", least[0], least[1]);
}

#[test]
fn panels_side_by_side_have_colours_that_everyone_tells_apart() {
    for cell_pixels in [None, Some(4.0)] {
        each_lecture(cell_pixels, |window, count, request| {
            let size = Size::new(1024, 1024).unwrap();
            let columns = lay_out(window, 1.0, count, size, request).tiling.columns;
            for place in 0..count {
                let beside = Some(place + 1).filter(|it| it % columns != 0);
                let below = Some(place + columns);
                for other in [beside, below]
                    .into_iter()
                    .flatten()
                    .filter(|it| *it < count)
                {
                    let [a, b] = [place, other].map(|number| Palette::DARK.instance(number));
                    let apart = distance(a, b);
                    assert!(apart >= 0.1, "{place} and {other} of {count}: {apart}");
                }
            }
        });
    }
}

#[test]
fn panels_are_tiled_anew_when_the_timeline_opens() {
    let size = Size::new(1024, 1024).unwrap();
    for window in [[1280, 800], [1920, 1080], [3840, 2160]] {
        let columns = |lanes| {
            let request = LayoutRequest {
                lanes,
                toolbar: true,
                cell_pixels: Some(2.0),
                ..Default::default()
            };
            lay_out(window, 1.0, 16, size, &request).tiling.columns
        };
        assert_eq!([columns(None), columns(Some(16))], [4, 8], "{window:?}");
    }
}

#[test]
fn a_part_of_a_very_long_lattice_is_still_seen() {
    for sides in [(16_384, 64), (64, 16_384)] {
        let size = Size::new(sides.0, sides.1).unwrap();
        let panel = |cell_pixels| {
            let request = LayoutRequest {
                cell_pixels,
                ..Default::default()
            };
            lay_out([1280, 800], 1.0, 1, size, &request).tiling.panel
        };
        let whole = panel(None);
        for cell_pixels in [0.0763, 0.1, 0.5, 2.0] {
            let part = panel(Some(cell_pixels));
            assert!(
                part[0] >= whole[0] && part[1] >= whole[1],
                "{part:?} {whole:?}"
            );
        }
    }
}

/// However closely one looks, no cell is there twice, and nothing but cells.
#[test]
fn a_panel_is_no_larger_than_the_torus_it_shows() {
    let size = Size::new(100, 80).unwrap();
    for cell_pixels in 1..=40 {
        let request = LayoutRequest {
            cell_pixels: Some(cell_pixels.into()),
            ..Default::default()
        };
        let layout = lay_out([1280, 800], 1.0, 4, size, &request);
        let [width, height] = layout.tiling.panel;
        let camera = ui::Camera::opening(cell_pixels.into());
        let shown = camera.target_transform(size, [width, height]);
        let torus = [100.0, 80.0].map(|side| side * shown.scale);
        assert!(f64::from(width) <= torus[0] + 1.0, "{cell_pixels}: {width}");
        assert!(
            f64::from(height) <= torus[1] + 1.0,
            "{cell_pixels}: {height}"
        );
    }
}

#[test]
fn a_point_in_a_panel_finds_it_and_a_gap_finds_none() {
    let size = Size::new(512, 512).unwrap();
    let tiling = lay_out([1280, 800], 1.0, 16, size, &LayoutRequest::default()).tiling;
    for place in 0..16 {
        let rect = tiling.rect(place);
        let corner = [f64::from(rect.x), f64::from(rect.y)];
        assert_eq!(tiling.place_at(corner), Some(place));
        assert_eq!(tiling.place_at([corner[0] - 1.0, corner[1]]), None);
    }
}
