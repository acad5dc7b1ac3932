//! Pictures as PNG files, whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::view::ViewError;
use crate::view::layout::PixelRect;
use life::{SaveTarget, dated_stem, write_atomically};

/// A picture in memory.
#[derive(Clone, PartialEq)]
pub struct Image {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Red, green, blue and alpha bytes of each pixel, row by row from the top.
    pub rgba: Vec<u8>,
}

impl Image {
    /// The part of it in a rectangle; what lies outside is left away.
    pub fn cut(&self, rect: PixelRect) -> Image {
        let width = rect.width.min(self.width.saturating_sub(rect.x));
        let height = rect.height.min(self.height.saturating_sub(rect.y));
        let row = |y: u32| {
            let from = 4 * ((rect.y + y) as usize * self.width as usize + rect.x as usize);
            &self.rgba[from..from + 4 * width as usize]
        };
        Image {
            width,
            height,
            rgba: (0..height).flat_map(row).copied().collect(),
        }
    }
}

/// Writes a PNG file: what stood there before is replaced, all at once.
///
/// # Errors
/// [`ViewError::Write`].
pub fn write_png(image: &Image, path: &Path) -> Result<(), ViewError> {
    Ok(write_atomically(path, |mut out| encode(image, &mut out))?)
}

/// Writes `lifestreams-YYYYMMDD-HHMMSS.png` (the time in UTC) into a directory, with a number
/// behind it where that exists; returns its path.
///
/// # Errors
/// [`ViewError::Write`].
pub fn write_dated_png(image: &Image, directory: &Path) -> Result<PathBuf, ViewError> {
    let path = directory.join(format!("{}.png", dated_stem()));
    let (path, _) = SaveTarget::beside(path).write(|mut out| encode(image, &mut out))?;
    Ok(path)
}

/// Writes an image as PNG.
///
/// # Errors
/// An error of `out`.
pub fn encode(image: &Image, out: &mut impl Write) -> std::io::Result<()> {
    let mut encoder = png::Encoder::new(out, image.width, image.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    // As the error that it is: converting it would hide that a disk is full.
    let of_system = |error| match error {
        png::EncodingError::IoError(error) => error,
        other => other.into(),
    };
    let mut writer = encoder.write_header().map_err(of_system)?;
    writer.write_image_data(&image.rgba).map_err(of_system)?;
    writer.finish().map_err(of_system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dated_pictures_replace_none_and_an_error_of_the_file_keeps_its_kind() {
        let image = Image {
            width: 1,
            height: 1,
            rgba: vec![0; 4],
        };
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = [(); 2].map(|()| write_dated_png(&image, folder.path()).unwrap());
        assert_ne!(first, second);
        let error = encode(&image, &mut &mut [0; 9][..]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::WriteZero);
    }
}
