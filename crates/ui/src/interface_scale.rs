//! How large the interface is: steps of a scale on top of what the window's size asks for.

/// Percents of the usual size.
const STEPS: [u16; 12] = [50, 60, 70, 80, 90, 100, 115, 130, 150, 175, 200, 250];
/// Where 100 stands among them.
const USUAL: i8 = 5;

/// A step of the scale; 0 is the usual size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InterfaceScale(i8);

impl InterfaceScale {
    /// The next larger one, if there is one.
    pub fn larger(self) -> Option<InterfaceScale> {
        (self.0 + USUAL + 1 < STEPS.len() as i8).then(|| InterfaceScale(self.0 + 1))
    }

    /// The next smaller one, if there is one.
    pub fn smaller(self) -> Option<InterfaceScale> {
        (self.0 + USUAL > 0).then(|| InterfaceScale(self.0 - 1))
    }

    /// In percents of the usual size.
    pub fn percent(self) -> u16 {
        STEPS[usize::try_from(self.0 + USUAL).unwrap_or_default()]
    }

    /// The factor on all lengths.
    pub fn factor(self) -> f32 {
        f32::from(self.percent()) / 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end_on_both_sides_and_go_back_the_way_they_came() {
        assert_eq!(InterfaceScale::default().percent(), 100);
        let all = |next: fn(InterfaceScale) -> Option<InterfaceScale>| {
            let zooms = std::iter::successors(Some(InterfaceScale::default()), |&zoom| next(zoom));
            zooms.map(InterfaceScale::percent).collect::<Vec<_>>()
        };
        assert_eq!(all(InterfaceScale::smaller), [100, 90, 80, 70, 60, 50]);
        assert_eq!(
            all(InterfaceScale::larger),
            [100, 115, 130, 150, 175, 200, 250]
        );
        let there = InterfaceScale::default().larger().unwrap();
        assert_eq!(there.smaller(), Some(InterfaceScale::default()));
    }
}
