//! The program in a window on a display of its own, driven by synthetic keys and a mouse, and
//! heard through its log.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{
    Ended, Running, TIMEOUT, lifestreams, names, needs, program, scratch, signal, wait_for,
};
use life::{Lattice, Pattern, Size};

/// Dead and live cells of the first palette.
pub(crate) const DEAD: Rgb = [0x0C, 0x0A, 0x08];
pub(crate) const LIVE: Rgb = [0xFF, 0xC8, 0x57];

/// The lattices' sides in cells.
pub(crate) const SIDES: [u32; 2] = [60, 45];

/// The lattices' size.
pub(crate) fn size() -> Size {
    Size::new(SIDES[0].into(), SIDES[1].into()).unwrap()
}

/// The program in a window.
pub(crate) struct Shown {
    pub(crate) running: Running,
    pub(crate) display: Display,
    pub(crate) window: String,
    pub(crate) folder: tempfile::TempDir,
    /// What its lattices are made from.
    pub(crate) start: String,
}

/// What the log says after an action.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub(crate) running: bool,
    pub(crate) generation: u64,
    pub(crate) kernel: String,
    pub(crate) selected: usize,
}

impl Shown {
    /// Opens the window with lattices of [`SIDES`]; `line` are further arguments.
    pub(crate) fn open(line: &str) -> Shown {
        Shown::open_in(scratch(), line)
    }

    /// The same in this folder.
    pub(crate) fn open_in(folder: tempfile::TempDir, line: &str) -> Shown {
        let display = Display::start(folder.path());
        let start = format!("{line} --size {}x{} --device cpu", SIDES[0], SIDES[1]);
        let mut command = on_display(&display, folder.path(), &start);
        // Two colours, by which a picture is read, and no soup but the one at the start.
        command.args("--theme amber --colour-by state --reseed off".split(' '));
        command.env("LIFESTREAMS_LOG", "off,lifestreams=trace");
        let mut running = Running::start(&mut command);
        let window = wait_for("the window and its first frames", || {
            assert!(running.runs(), "it has ended: {}", running.said());
            let found = display.xdotool("search --onlyvisible --name ^lifestreams$")?;
            (frames(&running) > 3).then_some(found)
        });
        let shown = Shown {
            running,
            display,
            window,
            folder,
            start,
        };
        shown.focus();
        shown
    }

    /// Opens it and pauses it.
    pub(crate) fn paused(line: &str) -> (Shown, State) {
        let shown = Shown::open(line);
        let state = shown.press("space", "TogglePause");
        assert!(!state.running, "{state:?}");
        (shown, state)
    }

    pub(crate) fn focus(&self) {
        wait_for("the focus", || {
            self.display
                .xdotool(&format!("windowfocus {}", self.window))?;
            let focused = self.display.xdotool("getwindowfocus")?;
            (focused == self.window).then_some(())
        });
    }

    /// What the log says of this action, one state for each time.
    pub(crate) fn log(&self, action: &str) -> Vec<State> {
        let start = format!("DEBUG {action}: ");
        let said = self.running.said();
        let lines = said
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        lines
            .filter_map(|line| line.trim().strip_prefix(&start).map(state))
            .collect()
    }

    /// Presses a key and waits for the action that it must stand for; the state after it.
    pub(crate) fn press(&self, key: &str, action: &str) -> State {
        let before = self.log(action).len();
        self.key(key);
        wait_for(&format!("{action} after {key}"), || {
            let states = self.log(action);
            (states.len() > before).then(|| states.last().unwrap().clone())
        })
    }

    /// Presses a key that is the window's own.
    pub(crate) fn key(&self, key: &str) {
        let pressed = self.display.xdotool(&format!("key --clearmodifiers {key}"));
        assert!(pressed.is_some(), "no key {key}");
    }

    pub(crate) fn mouse(&self, line: &str) {
        self.display.xdotool(line).expect("a mouse");
    }

    /// Moves the mouse to this pixel of the window.
    pub(crate) fn point(&self, [x, y]: [usize; 2]) {
        let window = &self.window;
        self.mouse(&format!("mousemove --sync --window {window} {x} {y}"));
    }

    /// Drags the mouse along these pixels of the window.
    pub(crate) fn drag(&self, along: &[[usize; 2]]) {
        self.point(along[0]);
        self.mouse("mousedown 1");
        along[1..].iter().for_each(|&to| self.point(to));
        self.mouse("mouseup 1");
    }

    /// Steps by a key; the generation it came to.
    pub(crate) fn step(&self, key: &str, action: &str) -> u64 {
        let stepped = |said: &str| -> Vec<u64> {
            let ends = said
                .lines()
                .filter_map(|line| line.split_once("stepped to generation "));
            ends.filter_map(|(_, number)| number.parse().ok()).collect()
        };
        let before = stepped(&self.running.said()).len();
        assert!(!self.press(key, action).running);
        wait_for("a step", || {
            let all = stepped(&self.running.said());
            assert!(all.len() <= before + 1, "one step a key");
            (all.len() > before).then(|| *all.last().unwrap())
        })
    }

    /// How often the log has said this.
    pub(crate) fn heard(&self, what: &str) -> usize {
        self.running.said().matches(what).count()
    }

    /// Waits until the log has said this more often.
    #[track_caller]
    pub(crate) fn hears(&self, what: &str, times: usize) {
        wait_for(what, || (self.heard(what) > times).then_some(()));
    }

    /// Presses a key and waits until the log says this.
    pub(crate) fn then(&self, key: &str, what: &str) {
        let before = self.heard(what);
        self.key(key);
        self.hears(what, before);
    }

    /// Presses the key of each row and waits until the log says what stands behind it.
    pub(crate) fn walk(&self, rows: &[(&str, &str)]) {
        rows.iter().for_each(|(key, what)| self.then(key, what));
    }

    /// Types a text and Return at once, as fast as the server takes it, behind the key that opens a field.
    pub(crate) fn ask(&self, key: &str, keys: &str, heard: &str) {
        let before = self.heard(heard);
        self.mouse(
            &format!("key --clearmodifiers --delay 2 {key} {keys} Return").replace("  ", " "),
        );
        self.hears(heard, before);
    }

    /// Presses a key behind which a path is typed.
    pub(crate) fn ask_path(&self, key: &str) {
        self.then(key, "a path is to be typed in");
        self.rest();
    }

    /// Types a path, short as a name in the program's folder, into the field that has the keys, in place of
    /// what it holds, and waits until the log says this. xdotool changes the keyboard's map to type a text:
    /// under load a letter is lost or another one comes, and then it is another path, and is typed again.
    pub(crate) fn enter_path(&self, path: &str, what: &str) {
        let before = self.heard(what);
        let said = || self.heard(what) > before;
        let began = Instant::now();
        while !said() {
            let log = self.running.said();
            assert!(began.elapsed() < TIMEOUT, "{path} is not there:\n{log}");
            self.key("ctrl+a");
            self.mouse(&format!("type --delay 20 {path}"));
            self.key("Return");
            let typed = Instant::now();
            while !said() && typed.elapsed() < TIMEOUT / 24 {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    /// The selected panel's lattice, saved to a file of this name and read.
    pub(crate) fn saved(&self, name: &str) -> Lattice {
        self.ask_path("ctrl+s");
        self.enter_path(name, "notice: Saved");
        let pattern = Pattern::load(self.folder.path().join(name)).unwrap();
        pattern
            .centred_in(pattern.torus().unwrap_or(size()))
            .unwrap()
    }

    pub(crate) fn picture(&self) -> Picture {
        let picture = || self.display.picture(&self.window);
        wait_for("a picture of the window", picture)
    }

    /// Waits until the window shows something else than this.
    #[track_caller]
    pub(crate) fn leaves(&self, picture: &Picture, what: &str) {
        wait_for(what, || (self.picture() != *picture).then_some(()));
    }

    /// Waits until the window shows this again.
    #[track_caller]
    pub(crate) fn returns_to(&self, picture: &Picture, what: &str) {
        wait_for(what, || (self.picture() == *picture).then_some(()));
    }

    /// A picture once the window has come to rest.
    pub(crate) fn rest(&self) -> Picture {
        wait_for("a window at rest", || {
            let (frames_before, first) = (frames(&self.running), self.picture());
            std::thread::sleep(Duration::from_millis(400));
            let same = frames(&self.running) == frames_before && self.picture() == first;
            same.then_some(first)
        })
    }

    /// Waits until the panels show these instances of this generation, as `run` computes them;
    /// where the panels are.
    #[track_caller]
    pub(crate) fn shows(&self, instances: &[usize], generation: u64) -> Vec<Area> {
        self.shows_start(&self.start.clone(), instances, generation)
    }

    #[track_caller]
    pub(crate) fn shows_start(
        &self,
        start: &str,
        instances: &[usize],
        generation: u64,
    ) -> Vec<Area> {
        let lattices = computed(self.folder.path(), start, generation);
        let mut last = Err("no picture".to_string());
        let until = Instant::now() + TIMEOUT;
        while Instant::now() < until {
            let picture = self.picture();
            let panels = picture.rectangles(DEAD);
            last = agree(&picture, &panels, instances, &lattices);
            if last.is_ok() {
                return panels;
            }
            std::thread::sleep(Duration::from_millis(30));
        }
        panic!("generation {generation} of instances {instances:?} is not shown: {last:?}");
    }

    pub(crate) fn end(self) -> (Ended, Display) {
        (self.running.end(TIMEOUT), self.display)
    }

    pub(crate) fn quit(self) {
        self.key("ctrl+q");
        let (ended, _display) = self.end();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        says_what_was_found(&ended);
    }
}

/// The program on a display.
pub(crate) fn on_display(display: &Display, folder: &Path, line: &str) -> Command {
    let mut command = program(folder);
    command.args(line.split_whitespace());
    command.env("DISPLAY", &display.name);
    command
}

/// The rest of a line such as `paused at generation 3, kernel bits, instance 0 selected`.
fn state(rest: &str) -> State {
    let after = |word: &str| {
        let (_, rest) = rest.split_once(&format!("{word} ")).unwrap();
        rest.split([' ', ',']).next().unwrap()
    };
    State {
        running: rest.starts_with("running"),
        generation: after("generation").parse().unwrap(),
        kernel: after("kernel").to_string(),
        selected: after("instance").parse().unwrap(),
    }
}

/// How many frames were presented.
pub(crate) fn frames(running: &Running) -> usize {
    running.said().matches(" presented\n").count()
}

/// Beside the log, stderr is one line of what was found and is used.
#[track_caller]
pub(crate) fn says_what_was_found(ended: &Ended) {
    let log = ["TRACE", "DEBUG"];
    let of_log = |line: &&str| log.into_iter().any(|level| line.trim().starts_with(level));
    let lines: Vec<_> = ended.stderr.lines().filter(|line| !of_log(line)).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    for words in ["lifestreams: computing on ", "; drawing with "] {
        assert!(lines[0].contains(words), "{lines:?}");
    }
}

/// The lattices as `run` computes them.
pub(crate) fn computed(folder: &Path, start: &str, generation: u64) -> Vec<Lattice> {
    let into: PathBuf = folder.join("computed");
    let _ = fs::remove_dir_all(&into);
    let line = format!("run {start} --save computed --kernel bits -g {generation}");
    lifestreams(folder, &line).done();
    let load = |name| Pattern::load(into.join(name)).unwrap();
    let lattices = names(&into).into_iter().map(load);
    lattices.map(|it| it.centred_in(size()).unwrap()).collect()
}

/// Pixels of the number in a panel's upper left corner, in full screen too, where it is larger.
const NUMBER: [usize; 2] = [26, 20];

/// Whether every panel shows its instance's lattice, whole, but for what its number covers.
pub(crate) fn agree(
    picture: &Picture,
    panels: &[Area],
    instances: &[usize],
    lattices: &[Lattice],
) -> Result<(), String> {
    if panels.len() != instances.len() {
        return Err(format!("{} panels: {panels:?}", panels.len()));
    }
    for (area, &instance) in panels.iter().zip(instances) {
        let lattice = &lattices[instance];
        for y in 0..SIDES[1] {
            for x in 0..SIDES[0] {
                let [column, row] = area.middle([x, y], SIDES);
                // Its number covers these.
                if column < area.x + NUMBER[0] && row < area.y + NUMBER[1] {
                    continue;
                }
                let want = if lattice.get(x, y) { LIVE } else { DEAD };
                let is = picture.at(column, row);
                if is.iter().zip(want).any(|(is, want)| is.abs_diff(want) > 2) {
                    return Err(format!("instance {instance}, cell {x}, {y}: {is:?}"));
                }
            }
        }
    }
    Ok(())
}

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
