//! Colours of eight bits a channel.

/// An opaque sRGB colour: red, green, blue.
pub type Rgb = [u8; 3];

/// `0xRRGGBB`.
pub(super) const fn hex(colour: u32) -> Rgb {
    let [_, red, green, blue] = colour.to_be_bytes();
    [red, green, blue]
}
