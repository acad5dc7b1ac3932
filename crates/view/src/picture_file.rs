//! Pictures as PNG files, whole or not at all.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::ViewError;
use crate::layout::PixelRect;
use life::{SaveError, dated_stem, write_atomically};

/// A picture in memory.
#[derive(Clone, PartialEq, Eq)]
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
    let stem = dated_stem();
    let path = directory.join(format!("{stem}.png"));
    let fail = |error| ViewError::from(SaveError::new(&path, &error));
    let file = partial(image, directory).map_err(fail)?;
    persist_beside(file, &path).map_err(fail)
}

/// Gives a file its lasting name, with a number behind it where that is taken; which one it is.
pub fn persist_beside(
    mut file: tempfile::NamedTempFile,
    wanted: &Path,
) -> std::io::Result<PathBuf> {
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().display().to_string();
    let (stem, ending) = (part(wanted.file_stem()), part(wanted.extension()));
    let mut path = wanted.to_owned();
    for number in 2.. {
        match file.persist_noclobber(&path) {
            Ok(_) => break,
            Err(taken) if taken.error.kind() == std::io::ErrorKind::AlreadyExists => {
                path = wanted.with_file_name(format!("{stem}-{number}.{ending}"));
                file = taken.file;
            }
            Err(error) => return Err(error.error),
        }
    }
    Ok(path)
}

/// Writes the picture to a temporary file in this directory.
fn partial(image: &Image, directory: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    // Readable as other files are, not for the owner alone.
    #[cfg(unix)]
    let builder = builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    let mut file = builder.prefix(".lifestreams-").tempfile_in(directory)?;
    let mut out = BufWriter::new(file.as_file_mut());
    encode(image, &mut out)?;
    out.flush()?;
    drop(out);
    Ok(file)
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
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&image.rgba)?;
    Ok(writer.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_written_whole_and_never_over_another() {
        let directory = tempfile::tempdir().unwrap();
        let image = Image {
            width: 2,
            height: 1,
            rgba: vec![1, 2, 3, 255, 4, 5, 6, 255],
        };
        let first = write_dated_png(&image, directory.path()).unwrap();
        let second = write_dated_png(&image, directory.path()).unwrap();
        assert_ne!(first, second);
        let decoder =
            png::Decoder::new(std::io::BufReader::new(std::fs::File::open(first).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut rgba = vec![0; 8];
        reader.next_frame(&mut rgba).unwrap();
        assert_eq!(rgba, image.rgba);
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            2,
            "nothing else"
        );
    }

    #[test]
    fn where_nothing_can_be_written_it_says_so() {
        let image = Image {
            width: 1,
            height: 1,
            rgba: vec![0; 4],
        };
        let error = write_png(&image, Path::new("/nonexistent/a.png")).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("cannot save /nonexistent/a.png: there is no folder"),
            "{error}"
        );
    }
}
