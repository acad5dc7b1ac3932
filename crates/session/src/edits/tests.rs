//! Edits by their definition, cell by cell.

use proptest::prelude::*;

use super::*;

fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn what_is_placed_lies_there_and_nothing_else_changes(
        width in 1u64..140, height in 1u64..12, seed: u64, overwrites_dead: bool,
        wide in 1u64..140, high in 1u64..12, x in 0u32..300, y in 0u32..30,
    ) {
        let (wide, high) = (wide.min(width), high.min(height));
        let before = soup(size(width, height), 0.4, seed, 0);
        let pattern = Arc::new(soup(size(wide, high), 0.4, seed, 1));
        let place = Change::Place { pattern: pattern.clone(), at: [x, y], overwrites_dead };
        let (width, height) = (width as u32, height as u32);
        let mut want = before.clone();
        for (u, v) in (0..height).flat_map(|v| (0..width).map(move |u| (u, v))) {
            // Cell by cell: what lies in the pattern's place becomes what the pattern has there.
            let (i, j) = ((u + 3 * width * 100 - x) % width, (v + 3 * height * 100 - y) % height);
            let is_inside = u64::from(i) < wide && u64::from(j) < high;
            if is_inside && (overwrites_dead || pattern.get(i, j)) {
                want.set(u, v, pattern.get(i, j));
            }
        }
        prop_assert_eq!(place.apply(&before), want);
        let edits = place.touched(before.size()).unwrap();
        prop_assert!(WordEdit::check_all(&edits, before.size()).is_ok());
    }

    #[test]
    fn four_turns_and_two_flips_change_nothing(
        width in 1u64..70, height in 1u64..40, seed: u64,
        wide in 1u64..70, high in 1u64..40, x in 0u32..70, y in 0u32..40, clockwise: bool,
    ) {
        // Turned, it must fit too.
        let (wide, high) = (wide.min(width).min(height), high.min(height).min(width));
        let all = size(width, height);
        let area = Area { x: x % width as u32, y: y % height as u32, size: size(wide, high) };
        let lattice = soup(all, 0.4, seed, 0);
        let flips = [true, false].map(|horizontal| Change::Flip { area, horizontal });
        for flip in &flips {
            prop_assert_eq!(&flip.apply(&flip.apply(&lattice)), &lattice);
        }
        let part = lattice.part(area.x, area.y, area.size);
        let mut turned = part.clone();
        for _ in 0..4 {
            turned = super::turned(&turned, clockwise);
        }
        prop_assert_eq!(&turned, &part);
        let once = Change::Rotate { area, clockwise }.apply(&lattice);
        let at = super::turned_corner(area, all);
        let there = once.part(at[0], at[1], size(high, wide));
        prop_assert_eq!(there, super::turned(&part, clockwise));
    }
}

#[test]
fn a_quarter_turn_goes_the_way_of_the_clock_about_the_middle() {
    // The right end of a row becomes the lower end of a column.
    let mut lattice = Lattice::new(size(7, 7));
    lattice.set(4, 3, true);
    let (area, clockwise) = (Area::spanned([2, 3], [4, 3]), true);
    let turned = Change::Rotate { area, clockwise }.apply(&lattice);
    assert!(turned.get(3, 4) && turned.population() == 1);
}
