//! How bars are told apart: the hue is the instance's, how it is laid on is the kind of work's.

use crate::theme::Palette;
use crate::timeline::BarKind;
use crate::timeline::lanes::Bar;
use session::trace::StepKind;

/// How a bar is painted with its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// All over.
    Solid,
    /// All over, darker.
    Dim,
    /// Its edge alone, around a darker inside.
    Hollow,
    /// Its edge, and upright lines within.
    Fence,
    /// All over, but for a line across.
    Split,
}

impl Pattern {
    /// The part of the colour that shows where a bar is too small for its pattern, or is folded with
    /// others; the rest is what lies behind.
    pub const fn strength(self) -> f32 {
        match self {
            Pattern::Solid => 1.0,
            Pattern::Split => 0.85,
            Pattern::Fence => 0.7,
            Pattern::Hollow => 0.5,
            Pattern::Dim => 0.35,
        }
    }
}

impl BarKind {
    /// How it is painted.
    pub fn pattern(self) -> Pattern {
        match self {
            BarKind::Host | BarKind::Wait => Pattern::Solid,
            BarKind::Step(kind) => match kind {
                StepKind::Launch | StepKind::Wait | StepKind::Event => Pattern::Solid,
                StepKind::Support => Pattern::Dim,
                StepKind::Upload => Pattern::Fence,
                StepKind::Download => Pattern::Hollow,
                StepKind::DeviceCopy => Pattern::Split,
            },
        }
    }

    /// The colour of one of this kind that does the work of the instance of this number, or of
    /// several.
    pub fn colour<C: Copy>(self, number: Option<u32>, palette: &Palette<C>) -> C {
        match (self, number) {
            (BarKind::Host, _) => palette.host_call,
            (BarKind::Wait | BarKind::Step(StepKind::Wait), _) => palette.waiting,
            (BarKind::Step(StepKind::Event), _) => palette.event,
            (BarKind::Step(_), Some(number)) => palette.instance(number as usize),
            (BarKind::Step(_), None) => palette.common_work,
        }
    }
}

impl Bar {
    /// Its colour.
    pub fn colour<C: Copy>(&self, palette: &Palette<C>) -> C {
        self.kind.colour(self.number, palette)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::distance;
    use crate::timeline::KINDS;

    #[test]
    fn kinds_of_work_are_told_apart_without_hues() {
        let work = |kind: &BarKind| matches!(kind, BarKind::Step(kind) if !matches!(kind, StepKind::Event | StepKind::Wait));
        let kinds = KINDS.map(|(kind, _)| kind).into_iter().filter(work);
        let strengths: Vec<f32> = kinds.map(|kind| kind.pattern().strength()).collect();
        for (index, a) in strengths.iter().enumerate() {
            for b in &strengths[index + 1..] {
                assert!((a - b).abs() >= 0.14, "{a} and {b}");
            }
        }
    }

    #[test]
    fn what_no_instance_does_differs_from_what_it_does() {
        let palette = &Palette::DARK;
        let kinds = [BarKind::Host, BarKind::Wait, BarKind::Step(StepKind::Event)];
        let all = kinds.map(|kind| kind.colour(None, palette));
        for (index, a) in all.iter().enumerate() {
            for b in all[index + 1..].iter().chain([&palette.common_work]) {
                assert!(distance(*a, *b) >= 0.1, "{a:?} and {b:?}");
            }
        }
    }
}
