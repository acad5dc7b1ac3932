//! A display of a test's own (Xvfb with a window manager), synthetic keys, and screenshots.
#![allow(dead_code)] // not every part is of use everywhere

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::common::{needs, signal, wait_for};

/// The screen's size in pixels, large enough for the window and its frame.
pub(crate) const SCREEN: [u32; 2] = [1400, 900];

/// An X server with a window manager; both end when it is dropped.
pub(crate) struct Display {
    server: Child,
    manager: Child,
    /// What `DISPLAY` is.
    pub(crate) name: String,
}

impl Display {
    /// Starts one that nobody else has; `folder` is for the window manager's own files.
    pub(crate) fn start(folder: &Path) -> Display {
        Display::of(folder, 24, &[])
    }

    /// The same of this many bits per pixel, with further options.
    pub(crate) fn of(folder: &Path, depth: u8, options: &[&str]) -> Display {
        for (program, package) in [
            ("Xvfb", "xvfb"),
            ("openbox", "openbox"),
            ("xdotool", "xdotool"),
            ("xwd", "x11-apps"),
        ] {
            needs(program, package);
        }
        let screen = format!("{}x{}x{depth}", SCREEN[0], SCREEN[1]);
        let mut server = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                &screen,
                "-nolisten",
                "tcp",
                "-noreset",
                // No key repeats itself: on a busy machine the release of a synthetic key may come
                // so late that the server would.
                "-r",
            ])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap())
            .read_line(&mut number)
            .unwrap();
        let name = format!(":{}", number.trim());
        let _ = fs::remove_file(folder.join("managed")); // of a display before this one
        let manager = Command::new("openbox")
            .args(["--startup", "touch managed"])
            .current_dir(folder)
            .env("DISPLAY", &name)
            .env("HOME", folder)
            .env("XDG_CONFIG_HOME", folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let display = Display {
            server,
            manager,
            name,
        };
        wait_for("a window manager", || {
            folder.join("managed").exists().then_some(())
        });
        display
    }

    /// Runs xdotool; what it printed, if it succeeded.
    pub(crate) fn xdotool(&self, line: &str) -> Option<String> {
        let output = Command::new("xdotool")
            .args(line.split(' '))
            .env("DISPLAY", &self.name)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).trim().to_string();
        output.status.success().then_some(printed)
    }

    /// A picture of a window, if it can be seen.
    pub(crate) fn picture(&self, window: &str) -> Option<Picture> {
        let output = Command::new("xwd")
            .args(["-silent", "-id", window, "-display", &self.name])
            .output()
            .unwrap();
        output
            .status
            .success()
            .then(|| Picture::of_xwd(&output.stdout))
    }

    /// Stops the server: it keeps its connections and answers nobody.
    pub(crate) fn stop(&self) {
        signal(self.server.id(), "STOP");
    }

    /// Takes the server away from under everybody.
    pub(crate) fn kill(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        for child in [&mut self.manager, &mut self.server] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A colour: red, green, blue.
pub(crate) type Rgb = [u8; 3];

/// A screenshot.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<Rgb>,
}

/// A rectangle of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Area {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Area {
    /// The pixel in the middle of a cell of the lattice that it shows whole.
    pub(crate) fn middle(self, cell: [u32; 2], sides: [u32; 2]) -> [usize; 2] {
        let middle = |from: usize, length: usize, at: usize| {
            let (cell, side) = (cell[at] as usize, sides[at] as usize);
            from + (2 * cell + 1) * length / (2 * side)
        };
        [
            middle(self.x, self.width, 0),
            middle(self.y, self.height, 1),
        ]
    }
}

impl Picture {
    /// Of an X window dump of 32 bits per pixel, as every Xvfb of depth 24 gives it.
    fn of_xwd(dump: &[u8]) -> Picture {
        let field = |n: usize| u32::from_be_bytes(dump[4 * n..][..4].try_into().unwrap()) as usize;
        let (header, width, height) = (field(0), field(4), field(5));
        let (byte_order, bits_per_pixel, pitch, colours) =
            (field(7), field(11), field(12), field(19));
        assert_eq!(
            (byte_order, bits_per_pixel),
            (0, 32),
            "an unknown window dump"
        );
        let data = &dump[header + 12 * colours..];
        let pixel = |i: usize| {
            let at = i / width * pitch + i % width * 4;
            [data[at + 2], data[at + 1], data[at]]
        };
        Picture {
            width,
            height,
            pixels: (0..width * height).map(pixel).collect(),
        }
    }

    pub(crate) fn at(&self, x: usize, y: usize) -> Rgb {
        self.pixels[y * self.width + x]
    }

    /// The part of it in an area.
    pub(crate) fn cut(&self, area: Area) -> Picture {
        let rows = (area.y..area.y + area.height).flat_map(|y| {
            let start = y * self.width + area.x;
            &self.pixels[start..start + area.width]
        });
        Picture {
            width: area.width,
            height: area.height,
            pixels: rows.copied().collect(),
        }
    }

    /// The rectangles that much of this colour lies in, row by row; they are apart from one
    /// another by whole rows and columns without it.
    pub(crate) fn rectangles(&self, colour: Rgb) -> Vec<Area> {
        let (mut columns, mut rows) = (vec![0; self.width], vec![0; self.height]);
        let with_place = self.pixels.iter().enumerate();
        for (at, _) in with_place.filter(|(_, pixel)| **pixel == colour) {
            columns[at % self.width] += 1;
            rows[at / self.width] += 1;
        }
        // A letter's edge may have that colour too, but not a tenth of a column or row.
        let columns = spans(columns.into_iter().map(|count| count > self.height / 10));
        let rows = spans(rows.into_iter().map(|count| count > self.width / 10));
        let area = |&(y, height): &(usize, usize), &(x, width): &(usize, usize)| Area {
            x,
            y,
            width,
            height,
        };
        rows.iter()
            .flat_map(|row| columns.iter().map(move |column| area(row, column)))
            .collect()
    }
}

/// Where runs of `true` start and how long they are.
fn spans(flags: impl Iterator<Item = bool>) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (at, _) in flags.enumerate().filter(|(_, flag)| *flag) {
        match spans.last_mut() {
            Some((start, length)) if *start + *length == at => *length += 1,
            _ => spans.push((at, 1)),
        }
    }
    spans
}
