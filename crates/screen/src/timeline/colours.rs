//! Which of the palette's colours a kind of work and an instance have.

use crate::theme::Palette;
use crate::timeline::BarKind;
use model::trace::StepKind;

/// An instance's colour.
pub fn of_instance<C: Copy>(instance: usize, palette: &Palette<C>) -> C {
    palette.instances[instance % palette.instances.len()]
}

impl BarKind {
    /// Its colour.
    pub fn colour<C: Copy>(self, palette: &Palette<C>) -> C {
        match self {
            BarKind::Host => palette.host_call,
            BarKind::Wait | BarKind::Step(StepKind::Wait) => palette.waiting,
            BarKind::Step(StepKind::Launch) => palette.launch,
            BarKind::Step(StepKind::Support) => palette.support,
            BarKind::Step(StepKind::Upload) => palette.upload,
            BarKind::Step(StepKind::Download) => palette.download,
            BarKind::Step(StepKind::Event) => palette.event,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::{INSTANCE_COLOURS, Rgb};
    use crate::timeline::KINDS;

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

    fn seen(colour: Rgb, by: &[[f32; 3]; 3]) -> [f32; 3] {
        let linear = colour.map(|c| (f32::from(c) / 255.0).powf(2.2));
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
                    let [first, second] =
                        [a, b].map(|instance| seen(of_instance(instance, &Palette::DARK), by));
                    let apart = (0..3).map(|c| (first[c] - second[c]).powi(2)).sum::<f32>();
                    assert!(apart.sqrt() > 0.24, "{a} and {b}: {}", apart.sqrt());
                }
            }
        }
    }

    #[test]
    fn colours_are_told_apart_by_everyone() {
        for by in &SEEN {
            for (index, (first, a)) in KINDS.iter().enumerate() {
                for (second, b) in &KINDS[index + 1..] {
                    let [first, second] =
                        [first, second].map(|kind| seen(kind.colour(&Palette::DARK), by));
                    let apart = (0..3).map(|c| (first[c] - second[c]).powi(2)).sum::<f32>();
                    assert!(apart.sqrt() > 0.12, "{a} and {b}: {}", apart.sqrt());
                }
            }
        }
    }
}
