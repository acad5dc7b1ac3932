//! APNG: a PNG whose further pictures are chunks that other viewers pass over.
//!
//! How many pictures there are stands at the front and is known only at the end, so the chunks are
//! written here; the pixels are packed by the same crate as every other PNG.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write};
use std::time::Duration;

use super::Encode;
use crate::picture_file::{Image, encode};

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

pub(super) struct Apng {
    out: BufWriter<File>,
    size: [u32; 2],
    frames: u32,
    /// Of chunks that belong to pictures, in their order.
    sequence: u32,
    /// Where the count of pictures stands.
    count_at: u64,
}

impl Apng {
    pub(super) fn begin(file: &File, size: [u32; 2]) -> io::Result<Apng> {
        let mut out = BufWriter::new(file.try_clone()?);
        out.write_all(&SIGNATURE)?;
        let [width, height] = size;
        let mut header = Vec::new();
        header.extend(width.to_be_bytes());
        header.extend(height.to_be_bytes());
        header.extend([8, 6, 0, 0, 0]); // a byte each of red, green, blue and alpha
        chunk(&mut out, b"IHDR", &[&header])?;
        let count_at = out.stream_position()?;
        count(&mut out, 0)?;
        Ok(Apng {
            out,
            size,
            frames: 0,
            sequence: 0,
            count_at,
        })
    }

    fn next(&mut self) -> [u8; 4] {
        self.sequence += 1;
        (self.sequence - 1).to_be_bytes()
    }
}

impl Encode for Apng {
    fn frame(&mut self, image: &Image, lasts: Duration) -> io::Result<()> {
        let mut control = Vec::new();
        control.extend(self.next());
        for side in self.size {
            control.extend(side.to_be_bytes());
        }
        control.extend([0; 8]); // at the top left
        let ms = lasts.as_millis().clamp(1, u16::MAX.into()) as u16;
        control.extend(ms.to_be_bytes());
        control.extend(1000u16.to_be_bytes());
        control.extend([0, 0]); // stays where it is, and replaces what was there
        chunk(&mut self.out, b"fcTL", &[&control])?;
        let mut png = Vec::new();
        encode(image, &mut png)?;
        let first = self.frames == 0;
        for data in pixels(&png) {
            if first {
                chunk(&mut self.out, b"IDAT", &[data])?;
            } else {
                let number = self.next();
                chunk(&mut self.out, b"fdAT", &[&number, data])?;
            }
        }
        self.frames += 1;
        Ok(())
    }

    fn end(mut self: Box<Self>) -> io::Result<()> {
        chunk(&mut self.out, b"IEND", &[])?;
        self.out.seek(SeekFrom::Start(self.count_at))?;
        count(&mut self.out, self.frames)?;
        self.out.flush()?;
        self.out.get_ref().sync_all()
    }
}

/// Says how many pictures there are, shown over and over.
fn count(out: &mut impl Write, frames: u32) -> io::Result<()> {
    chunk(out, b"acTL", &[&frames.to_be_bytes(), &[0; 4]])
}

fn chunk(out: &mut impl Write, name: &[u8; 4], parts: &[&[u8]]) -> io::Result<()> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    out.write_all(&(length as u32).to_be_bytes())?;
    out.write_all(name)?;
    let mut sum = crc32fast::Hasher::new();
    sum.update(name);
    for part in parts {
        out.write_all(part)?;
        sum.update(part);
    }
    out.write_all(&sum.finalize().to_be_bytes())
}

/// The packed pixels in a PNG's chunks.
fn pixels(png: &[u8]) -> Vec<&[u8]> {
    let mut rest = &png[SIGNATURE.len()..];
    let mut found = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        let (name, after) = after.split_at(4);
        let (data, after) = after.split_at(length);
        if name == b"IDAT" {
            found.push(data);
        }
        rest = &after[4..]; // past the sum
    }
    found
}
