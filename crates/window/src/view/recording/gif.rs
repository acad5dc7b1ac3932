//! GIF: each picture with 256 colours of its own, exact where it has no more.

use std::fs::File;
use std::io::{self, BufWriter};
use std::time::Duration;

use ::gif::{Encoder, EncodingError, Frame, Repeat};

use crate::view::picture_file::Image;
use lang::tr;

/// How roughly colours are chosen, from 1 to 30; pictures come fast.
const SPEED: i32 = 20;

pub(super) struct Gif {
    encoder: Encoder<BufWriter<File>>,
    /// Of a hundredth of a second, what the delays so far have left over.
    pending: Duration,
}

impl Gif {
    pub(super) fn begin(file: &File, size: [u32; 2]) -> io::Result<Gif> {
        let [width, height] = sides(size)?;
        let out = BufWriter::new(file.try_clone()?);
        let mut encoder = Encoder::new(out, width, height, &[]).map_err(broken)?;
        encoder.set_repeat(Repeat::Infinite).map_err(broken)?;
        Ok(Gif {
            encoder,
            pending: Duration::ZERO,
        })
    }

    /// Takes a picture that stands for so long.
    pub(super) fn frame(&mut self, image: &Image, lasts: Duration) -> io::Result<()> {
        let [width, height] = sides([image.width, image.height])?;
        let mut rgba = image.rgba.clone();
        let mut frame = Frame::from_rgba_speed(width, height, &mut rgba, SPEED);
        // Viewers take less than two hundredths for ten.
        let hundredths = ((lasts + self.pending).as_millis() / 10).clamp(2, 6000);
        let given = Duration::from_millis(hundredths as u64 * 10);
        self.pending = (lasts + self.pending).saturating_sub(given);
        frame.delay = hundredths as u16;
        self.encoder.write_frame(&frame).map_err(broken)
    }

    /// Finishes the file.
    pub(super) fn end(self) -> io::Result<()> {
        let out = self.encoder.into_inner().map_err(broken)?;
        out.into_inner()
            .map_err(|error| error.into_error())?
            .sync_all()
    }
}

fn sides(size: [u32; 2]) -> io::Result<[u16; 2]> {
    match size.map(u16::try_from) {
        [Ok(width), Ok(height)] => Ok([width, height]),
        _ => Err(io::Error::other(tr!(
            "a GIF has at most 65535 pixels per side"
        ))),
    }
}

fn broken(error: EncodingError) -> io::Error {
    match error {
        EncodingError::Io(error) => error,
        other => io::Error::other(other),
    }
}
