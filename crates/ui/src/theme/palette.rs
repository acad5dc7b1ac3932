//! The interface's colours, by the role that each plays.
//!
//! Painters get a [`Palette`] and name roles; only this file says which colour a role has. A theme
//! sets the accent and whether the interface is dark or light ([`Theme::palette`]). Roles are plain
//! sRGB: the window turns them into egui's colours, the terminal into its own.

use super::{Rgb, Theme, hex};

/// Makes the palettes from a table: what a role is for, its name, and its colours in the dark and in the
/// light interface. Light ones are dark ones mirrored: luminance plus 0.05 about the geometric mean of black's
/// and white's, so that every contrast stays, with nearly the same hue.
macro_rules! roles {
    ($($(#[$doc:meta])+ $role:ident: $dark:literal $light:literal,)+) => {
        /// A colour for each role. `C` is the type of a colour: [`Rgb`], or that of whoever paints.
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct Palette<C = Rgb> {
            $($(#[$doc])+ pub $role: C,)+
            /// Instances' own colours; see [`Palette::instance`].
            pub instances: [C; INSTANCE_COLOURS],
        }

        impl Palette {
            /// The dark interface with the usual accent, which other dark palettes are made from.
            pub const DARK: Palette = Palette {
                $($role: hex($dark),)+
                instances: ON_DARK,
            };

            /// The light interface.
            pub const LIGHT: Palette = Palette {
                $($role: hex($light),)+
                instances: ON_LIGHT,
            };
        }

        impl<C: Copy> Palette<C> {
            /// The same palette with every colour converted.
            pub fn map<D>(&self, convert: impl Fn(C) -> D) -> Palette<D> {
                Palette {
                    $($role: convert(self.$role),)+
                    instances: self.instances.map(&convert),
                }
            }

            /// Every colour but the instances' with its role's name.
            #[cfg(test)]
            fn roles(&self) -> Vec<(&'static str, C)> {
                vec![$((stringify!($role), self.$role),)+]
            }
        }
    };
}

roles! {
    /// Background of the HUD, the toolbar and whatever is docked beside the panels.
    background: 0x121418 0xEFF0F3,
    /// Around the panels.
    surround: 0x1B1E24 0xE3E5EA,
    /// Lines that separate.
    rule: 0x2C3139 0xC9CCD2,
    /// Labels, notes and other secondary text.
    label: 0xA9B1BD 0x434446,
    /// Figures, names and other primary text.
    value: 0xF4F6F8 0x0D0D0D,
    /// Unavailable settings, comments in code and whatever else may be hard to see.
    faint: 0x7C8490 0x66686C,
    /// What calls for attention; each theme has its own.
    accent: 0xFFC23D 0x402E08,
    /// Text on the accent.
    on_accent: 0x1C1402 0xFFEDD0,
    /// Outline or text of what is under the pointer.
    highlight: 0xFFFFFF 0x000000,

    /// Text and signs that say that something runs or holds.
    running: 0x7BE3B4 0x173427,
    /// Background of `running`.
    running_background: 0x17392D 0x99D6BD,
    /// Figures, bars and words of what was recorded on another machine.
    recorded: 0xF06BC0 0x853869,
    /// Background of what has failed.
    failed: 0xC63B2B 0xE34533,
    /// Text on `failed`.
    on_failed: 0xFFFFFF 0x000000,
    /// Text on the HUD's background that says that something failed.
    failed_text: 0xF28B7D 0x6F3D36,
    /// Background of a notice.
    notice: 0x1E3A5C 0x9CC2FF,
    /// Text on `notice`.
    on_notice: 0xDCEBFF 0x191A1C,
    /// Background of a warning, whose text has the accent.
    warning: 0x332A12 0xE7D2A5,

    /// Background of buttons, tips and the chosen row: in front of the background.
    raised: 0x2A2F38 0xCBCFD6,
    /// A raised background under the pointer.
    raised_pointed: 0x373E4A 0xB5BAC4,
    /// Background of lanes, hidden tabs and unavailable settings: behind the background.
    recessed: 0x1B1E24 0xE3E5EA,
    /// Background of a lesson's questions and buttons.
    lesson_card: 0x1E2229 0xDDE1E7,
    /// Background of listed code.
    code_background: 0x0C0E11 0xF4F6F8,
    /// Background behind the word on a panel.
    tag_background: 0x0B0D0F 0xF5F6F8,
    /// Laid over selected cells, mostly transparent.
    selection_veil: 0xFFFFFF 0x000000,

    /// Background of a dialog.
    dialog: 0x1A1D23 0xE4E6EB,
    /// Around a dialog.
    dialog_edge: 0x3C434E 0xAEB3BB,
    /// Every other row of a dialog's list.
    dialog_stripe: 0x20242B 0xDBDEE4,
    /// Background of a text field.
    field: 0x0F1114 0xF2F3F5,
    /// Underline of text that an input method is composing.
    composed: 0xC0DEFF 0x20272E,
    /// Background of selected text and of the chosen line of a list.
    selected: 0x5A4412 0xD5A538,
    /// Text in a dialog that says why what was entered is refused.
    rejected: 0xFF8F00 0x6E3B00,

    /// Background of A's and B's headers in a comparison.
    comparison: 0x0F1115 0xF1F3F6,
    /// B's letter; A's has the accent.
    comparison_b: 0x3F8CD9 0x2C66A0,
    /// The limit of the ladder's axis.
    limit: 0xF07C4A 0x834124,
    /// Living cells in the population graph.
    alive: 0xF0E442 0x252304,
    /// Births in the population graph.
    born: 0x56B4E9 0x214D66,
    /// Deaths in the population graph.
    died: 0xE69F00 0x614100,

    /// Upright lines through the timeline's lanes.
    time_line: 0x3A3A3A 0xBFBFBF,
    /// Dark text on bars and letters of any bright colour.
    on_bright: 0x0E0F12 0xF4F4F6,
    /// The host inside a call.
    host_call: 0xF0E442 0x252304,
    /// The host inside a call that waits, or a stream that waits.
    waiting: 0xD55E00 0xAF4C00,
    /// A piece of work that belongs to several instances, and the legend's.
    common_work: 0xA9B1BD 0x434446,
    /// An event.
    event: 0x5C636E 0x878A8F,
}

impl<C: Copy> Palette<C> {
    /// The colour of the instance of this [number](session::Status::number_of).
    pub fn instance(&self, number: usize) -> C {
        self.instances[place(number)]
    }
}

impl Theme {
    /// The interface's colours in this theme.
    pub fn palette(&self) -> Palette {
        if self.light {
            return Palette::LIGHT;
        }
        Palette {
            accent: self.accent,
            ..Palette::DARK
        }
    }
}

// Instances' colours: the same on an instance's panel, in its lane and in the map of
// multiprocessors.
//
// Found by a search over lightness, chroma and hue in OKLCH: any two of a table differ by a ΔE_OK
// of at least 0.1 for people with all three kinds of cones and for those who lack one of them, and
// stand out from their background by a contrast of at least 3 (2.6 on light). With 16 colours little more can
// be had. Their order keeps neighbours in rows of 4 and 8 farthest apart.

/// How many colours there are; more instances share them.
pub const INSTANCE_COLOURS: usize = 16;

/// On the dark interface and on dark cells.
const ON_DARK: [Rgb; INSTANCE_COLOURS] = [
    hex(0xC7CDFC),
    hex(0xC14306),
    hex(0xA278FF),
    hex(0x7EC0B3),
    hex(0xF3C51A),
    hex(0x436EB4),
    hex(0xE8650D),
    hex(0xC0FDFE),
    hex(0x9A5968),
    hex(0xC99CFF),
    hex(0x60F1AC),
    hex(0x9628FC),
    hex(0x5099BA),
    hex(0xF5956A),
    hex(0xFEFC2C),
    hex(0xBE7876),
];

/// On the light interface.
const ON_LIGHT: [Rgb; INSTANCE_COLOURS] = [
    hex(0x9D81BD),
    hex(0xC07778),
    hex(0x713D7B),
    hex(0x09008E),
    hex(0xC24500),
    hex(0x7E5FAD),
    hex(0x992A20),
    hex(0x0C46FF),
    hex(0x440019),
    hex(0x2C0550),
    hex(0x4F83FF),
    hex(0x4B2E4A),
    hex(0x282FC2),
    hex(0x6F0E05),
    hex(0xE86516),
    hex(0x9D5869),
];

/// Where a number's colour stands in the table. After each turn the table starts two colours
/// earlier, so that in rows of 16 panels none has the colour of the one above it.
fn place(number: usize) -> usize {
    (number + 14 * (number / INSTANCE_COLOURS)) % INSTANCE_COLOURS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{contrast, distance};
    use crate::theme::{COUNT, floats, theme};

    fn apart(a: Rgb, b: Rgb) -> f32 {
        contrast(floats(a), floats(b))
    }

    #[test]
    fn light_interfaces_have_the_contrasts_of_the_dark_one() {
        for theme in (0..COUNT).map(theme).filter(|theme| theme.light) {
            let dark = Theme {
                light: false,
                ..theme
            };
            let (dark, light) = (dark.palette().roles(), theme.palette().roles());
            let both = || dark.iter().zip(&light);
            for ((a, dark_a), (_, light_a)) in both() {
                for ((b, dark_b), (_, light_b)) in both() {
                    let (dark, light) = (apart(*dark_a, *dark_b), apart(*light_a, *light_b));
                    let off = (dark / light).ln().abs();
                    assert!(off < 0.06, "{a} and {b}: {dark} and {light}");
                }
            }
        }
    }

    #[test]
    fn all_instances_are_told_apart_by_everyone() {
        for table in [ON_DARK, ON_LIGHT] {
            for a in 0..INSTANCE_COLOURS {
                for b in 0..a {
                    let apart = distance(table[a], table[b]);
                    assert!(apart >= 0.1, "{a} and {b}: {apart}");
                }
            }
        }
    }

    #[test]
    fn they_stand_out_from_what_is_around_them() {
        for theme in (0..COUNT).map(theme) {
            let palette = theme.palette();
            for number in 0..INSTANCE_COLOURS {
                for around in [palette.surround, palette.recessed, palette.background] {
                    let apart = apart(palette.instance(number), around);
                    let least = if theme.light { 2.6 } else { 3.0 };
                    assert!(apart >= least, "{}: {number}, {apart}", theme.name);
                }
            }
        }
    }
}
