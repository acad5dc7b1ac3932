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

    /// The red, green and blue bytes of a pixel.
    ///
    /// # Panics
    /// If it lies outside.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let at = 4 * (y as usize * self.width as usize + x as usize);
        [self.rgba[at], self.rgba[at + 1], self.rgba[at + 2]]
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
    fn a_picture_is_written_whole_and_never_over_another_or_it_says_why_not() {
        let directory = tempfile::tempdir().unwrap();
        let image = Image {
            width: 2,
            height: 1,
            rgba: vec![1, 2, 3, 255, 4, 5, 6, 255],
        };
        let [first, second] = [(); 2].map(|()| write_dated_png(&image, directory.path()).unwrap());
        assert_ne!(first, second);
        let file = std::io::BufReader::new(std::fs::File::open(first).unwrap());
        let mut rgba = vec![0; 8];
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        reader.next_frame(&mut rgba).unwrap();
        assert_eq!(rgba, image.rgba);
        let names = std::fs::read_dir(directory.path()).unwrap();
        assert_eq!(names.count(), 2, "nothing else");
        let error = write_png(&image, Path::new("/nonexistent/a.png")).unwrap_err();
        let said = error.to_string();
        assert!(
            said.starts_with("cannot save /nonexistent/a.png: there is no folder"),
            "{said}"
        );
    }

    #[test]
    fn a_full_disk_is_said_to_be_full() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let image = Image {
            width: 1,
            height: 1,
            rgba: vec![0; 4],
        };
        let error = encode(&image, &mut Full).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    }
}
