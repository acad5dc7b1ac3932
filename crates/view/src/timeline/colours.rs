//! A colour a kind of work: Okabe and Ito's, which the colour-blind can tell apart.

use egui::Color32;

use screen::timeline::Kind;

/// A kind's colour.
pub(crate) fn of_kind(kind: Kind) -> Color32 {
    let [r, g, b] = kind.colour();
    Color32::from_rgb(r, g, b)
}

/// A colour an instance, counted round and round: they differ by at least a quarter of the
/// colour cube's side, whichever cones see them, neighbours by much more.
const INSTANCES: [u32; 16] = [
    0xC0FFFF, 0xC02020, 0x2020FF, 0xE0FF20, 0x2070FF, 0xE0FF70, 0x4848C0, 0xC09820, 0x98C0FF,
    0x704870, 0xFFE0C0, 0x987048, 0x7098E0, 0xE0C048, 0x987098, 0x70C098,
];

/// How many instances have a colour of their own.
pub(crate) const INSTANCE_COLOURS: usize = INSTANCES.len();

/// An instance's colour.
pub(crate) fn of_instance(instance: usize) -> Color32 {
    hex(INSTANCES[instance % INSTANCES.len()])
}

const fn hex(rgb: u32) -> Color32 {
    Color32::from_rgb((rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use screen::timeline::KINDS;

    /// As seen, after Viénot, Brettel and Mollon (1999), in linear light: by all cones, and with
    /// those for red or for green missing.
    const SEEN: [[[f32; 3]; 3]; 3] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.1124, 0.8876, 0.0],
            [0.1124, 0.8876, 0.0],
            [0.0040, -0.0040, 1.0],
        ],
        [
            [0.2928, 0.7072, 0.0],
            [0.2928, 0.7072, 0.0],
            [-0.0223, 0.0223, 1.0],
        ],
    ];

    fn seen(colour: Color32, by: &[[f32; 3]; 3]) -> [f32; 3] {
        let linear = [colour.r(), colour.g(), colour.b()].map(|c| (f32::from(c) / 255.0).powf(2.2));
        by.map(|row| {
            let light: f32 = row.iter().zip(linear).map(|(a, b)| a * b).sum();
            light.clamp(0.0, 1.0).powf(1.0 / 2.2)
        })
    }

    #[test]
    fn instances_are_told_apart_by_everyone() {
        for by in &SEEN {
            for a in 0..INSTANCE_COLOURS {
                for b in a + 1..INSTANCE_COLOURS {
                    let [first, second] = [a, b].map(|instance| seen(of_instance(instance), by));
                    let apart = (0..3).map(|c| (first[c] - second[c]).powi(2)).sum::<f32>();
                    assert!(apart.sqrt() > 0.24, "{a} and {b}: {}", apart.sqrt());
                }
            }
        }
    }

    #[test]
    fn colours_are_told_apart_by_everyone() {
        for by in &SEEN {
            for (index, (a, _)) in KINDS.iter().enumerate() {
                for (b, _) in &KINDS[index + 1..] {
                    let [first, second] = [*a, *b].map(of_kind);
                    let (first, second) = (seen(first, by), seen(second, by));
                    let apart = (0..3).map(|c| (first[c] - second[c]).powi(2)).sum::<f32>();
                    assert!(apart.sqrt() > 0.12, "{a:?} and {b:?}: {}", apart.sqrt());
                }
            }
        }
    }
}
