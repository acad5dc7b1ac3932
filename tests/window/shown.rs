//! The program in a window on a display of its own, driven by synthetic keys and a mouse, and
//! heard through its log.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{
    Ended, Running, TIMEOUT, command, lifestreams, names, scratch, signal, spawn, tool, wait_for,
};
use life::{Lattice, Pattern, Size};
use x11rb::protocol::xproto::{ConnectionExt as _, ImageFormat};
use x11rb::rust_connection::RustConnection;

/// Dead and live cells of the first palette.
pub(crate) const DEAD: Rgb = [0x0C, 0x0A, 0x08];
pub(crate) const LIVE: Rgb = [0xFF, 0xC8, 0x57];

/// What the log says once a path can be typed.
pub(crate) const ASKS: &str = "a path is to be typed in";

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
    pub(crate) window: u32,
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
        command.env("LIFESTREAMS_LOG", LOG);
        let mut running = Running::start(&mut command);
        let window = wait_for("the window and its first frames", || {
            assert!(running.runs(), "it has ended: {}", running.said());
            let found = display.xdotool("search --onlyvisible --name ^lifestreams$")?;
            (frames(&running) > 3).then(|| found.parse().unwrap())
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
            (focused == self.window.to_string()).then_some(())
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

    /// Presses these keys, one after another as fast as the server takes them. It changes no keyboard's map, as
    /// typing a text does.
    pub(crate) fn key(&self, keys: &str) {
        let pressed = self
            .display
            .xdotool(&format!("key --clearmodifiers --delay 2 {keys}"));
        assert!(pressed.is_some(), "no keys {keys}");
    }

    /// The same, and waits until the log says this.
    #[track_caller]
    pub(crate) fn then(&self, keys: &str, what: &str) {
        let before = self.heard(what);
        self.key(keys);
        self.hears(what, before);
    }

    /// The same for each row.
    #[track_caller]
    pub(crate) fn walk(&self, rows: &[(&str, &str)]) {
        rows.iter().for_each(|(keys, what)| self.then(keys, what));
    }

    /// Presses keys and waits for the action that they must stand for; the state after it.
    #[track_caller]
    pub(crate) fn press(&self, keys: &str, action: &str) -> State {
        self.then(keys, &format!("DEBUG {action}: "));
        self.log(action).pop().unwrap()
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
        let stepped = "stepped to generation ";
        let before = self.heard(stepped);
        assert!(!self.press(key, action).running);
        self.hears(stepped, before);
        let said = self.running.said();
        assert_eq!(said.matches(stepped).count(), before + 1, "one step a key");
        let (_, last) = said.rsplit_once(stepped).unwrap();
        last.lines().next().unwrap().parse().unwrap()
    }

    /// How often the log has said this, in lines that have come to their ends.
    pub(crate) fn heard(&self, what: &str) -> usize {
        let said = self.running.said();
        let (whole, _) = said.rsplit_once('\n').unwrap_or_default();
        whole.matches(what).count()
    }

    /// Waits until the log has said this more often.
    #[track_caller]
    pub(crate) fn hears(&self, what: &str, times: usize) {
        wait_for(what, || (self.heard(what) > times).then_some(()));
    }

    /// Types a path, short as a name in the program's folder, into the field that has the keys, in place of
    /// what it holds, and waits until the log says this.
    #[track_caller]
    pub(crate) fn enter_path(&self, path: &str, what: &str) {
        let name = |letter: char| match letter {
            '/' => " slash".into(),
            '.' => " period".into(),
            '-' => " minus".into(),
            letter => format!(" {letter}"),
        };
        let keys: String = path.chars().map(name).collect();
        self.then(&format!("ctrl+a{keys} Return"), what);
    }

    /// The selected panel's lattice, saved to a file of this name and read.
    pub(crate) fn saved(&self, name: &str) -> Lattice {
        self.then("ctrl+s", ASKS);
        self.enter_path(name, "notice: Saved");
        let pattern = Pattern::load(self.folder.path().join(name)).unwrap();
        pattern
            .centred_in(pattern.torus().unwrap_or(size()))
            .unwrap()
    }

    pub(crate) fn picture(&self) -> Picture {
        let picture = || self.display.picture(self.window);
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

    /// A picture once nothing has been drawn for a while.
    pub(crate) fn rest(&self) -> Picture {
        let (mut last, mut since) = (0, Instant::now());
        wait_for("a window at rest", || {
            let drawn = frames(&self.running);
            if std::mem::replace(&mut last, drawn) != drawn {
                since = Instant::now();
            }
            (since.elapsed() > Duration::from_millis(300)).then_some(())
        });
        self.picture()
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
        self.agrees(instances, &lattices)
    }

    /// Waits until the panels show these instances of these lattices; where the panels are.
    #[track_caller]
    pub(crate) fn agrees(&self, instances: &[usize], lattices: &[Lattice]) -> Vec<Area> {
        let mut last = Err(String::new());
        let until = Instant::now() + TIMEOUT;
        while last.is_err() {
            assert!(
                Instant::now() < until,
                "instances {instances:?} are not shown: {last:?}"
            );
            last = agree(&self.picture(), instances, lattices);
        }
        last.unwrap()
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

/// All that the program's own crates log.
pub(crate) const LOG: &str = "off,engine=trace,lesson=trace,life=trace,lifestreams=trace,\
                              session=trace,ui=trace,window=trace,workshop=trace";

/// The program on a display.
pub(crate) fn on_display(display: &Display, folder: &Path, line: &str) -> Command {
    let mut command = command(folder, line);
    command.env("DISPLAY", &display.name);
    command
}

/// The rest of a line such as `paused at generation 3, kernel bits, instance 0 selected`.
fn state(rest: &str) -> State {
    let words: Vec<_> = rest.split([' ', ',']).collect();
    let after = |word: &str| words[words.iter().position(|it| *it == word).unwrap() + 1];
    State {
        running: words[0] == "running",
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
    let log = ["TRACE", "DEBUG", "INFO"];
    let of_log = |line: &&str| log.into_iter().any(|level| line.trim().starts_with(level));
    let lines: Vec<_> = ended.stderr.lines().filter(|line| !of_log(line)).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    for words in ["lifestreams: computing on ", "; drawing with "] {
        assert!(lines[0].contains(words), "{lines:?}");
    }
}

/// The lattices as `run` computes them.
pub(crate) fn computed(folder: &Path, start: &str, generation: u64) -> Vec<Lattice> {
    let into = folder.join("computed");
    let _ = fs::remove_dir_all(&into);
    let line = format!("run {start} --save computed --kernel bits -g {generation}");
    lifestreams(folder, &line).done();
    let load = |name| Pattern::load(into.join(name)).unwrap();
    let lattices = names(&into).into_iter().map(load);
    lattices.map(|it| it.centred_in(size()).unwrap()).collect()
}

/// Pixels of the number in a panel's upper left corner, in full screen too, where it is larger.
const NUMBER: [usize; 2] = [26, 20];

/// Where the panels are, if every one shows its instance's lattice, whole, but for what its number covers.
fn agree(
    picture: &Picture,
    instances: &[usize],
    lattices: &[Lattice],
) -> Result<Vec<Area>, String> {
    let panels = picture.rectangles(DEAD);
    if panels.len() != instances.len() {
        return Err(format!("{} panels: {panels:?}", panels.len()));
    }
    for (area, &instance) in panels.iter().zip(instances) {
        let lattice = &lattices[instance];
        for (x, y) in (0..SIDES[1]).flat_map(|y| (0..SIDES[0]).map(move |x| (x, y))) {
            let [column, row] = area.middle([x, y], SIDES);
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
    Ok(panels)
}

/// The screen's size in pixels, large enough for the window and its frame.
pub(crate) const SCREEN: [u32; 2] = [1400, 900];

/// An X server with a window manager; both end when it is dropped.
pub(crate) struct Display {
    server: Child,
    manager: Child,
    /// What `DISPLAY` is.
    pub(crate) name: String,
    pub(crate) x: RustConnection,
    pub(crate) root: u32,
}

impl Display {
    /// Starts one that nobody else has; `folder` is for the window manager's own files.
    pub(crate) fn start(folder: &Path) -> Display {
        Display::of(folder, 24, &[])
    }

    /// The same of this many bits per pixel, with further options.
    pub(crate) fn of(folder: &Path, depth: u8, options: &[&str]) -> Display {
        let [width, height] = SCREEN;
        // No key repeats itself: on a busy machine the release of a synthetic key may come so late that the
        // server would.
        let line =
            format!("-displayfd 1 -screen 0 {width}x{height}x{depth} -nolisten tcp -noreset -r");
        let mut server = Command::new("Xvfb");
        server.args(line.split(' ')).args(options);
        let mut server = spawn(server.stdout(Stdio::piped()).stderr(Stdio::null()));
        let mut number = String::new();
        let mut printed = BufReader::new(server.stdout.take().unwrap());
        printed.read_line(&mut number).unwrap();
        let name = format!(":{}", number.trim());
        let (x, screen) = x11rb::connect(Some(&name)).unwrap();
        let root = x11rb::connection::Connection::setup(&x).roots[screen].root;
        let _ = fs::remove_file(folder.join("managed")); // of a display before this one
        let mut manager = tool("openbox", folder);
        manager.args(["--startup", "touch managed"]);
        manager.env("DISPLAY", &name).env("HOME", folder);
        let manager = spawn(manager.stderr(Stdio::null()));
        wait_for("a window manager", || {
            folder.join("managed").exists().then_some(())
        });
        Display {
            server,
            manager,
            name,
            x,
            root,
        }
    }

    /// Runs xdotool; what it printed, if it succeeded.
    pub(crate) fn xdotool(&self, line: &str) -> Option<String> {
        let mut xdotool = Command::new("xdotool");
        xdotool.args(line.split(' ')).env("DISPLAY", &self.name);
        let output = xdotool.output().expect("xdotool");
        let printed = String::from_utf8_lossy(&output.stdout).trim().to_string();
        output.status.success().then_some(printed)
    }

    /// A picture of a window, if it can be seen.
    pub(crate) fn picture(&self, window: u32) -> Option<Picture> {
        let sides = self.x.get_geometry(window).unwrap().reply().ok()?;
        let (width, height) = (sides.width, sides.height);
        let format = ImageFormat::Z_PIXMAP;
        let image = self.x.get_image(format, window, 0, 0, width, height, !0);
        let image = image.unwrap().reply().ok()?;
        // 32 bits per pixel, as every Xvfb of depth 24 gives it.
        let pixels = image.data.chunks(4).map(|it| [it[2], it[1], it[0]]);
        Some(Picture {
            width: width.into(),
            height: height.into(),
            pixels: pixels.collect(),
        })
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
    pub(crate) fn at(&self, x: usize, y: usize) -> Rgb {
        self.pixels[y * self.width + x]
    }

    /// The part of it in an area.
    pub(crate) fn cut(&self, area: Area) -> Vec<&[Rgb]> {
        let rows = self
            .pixels
            .chunks(self.width)
            .skip(area.y)
            .take(area.height);
        rows.map(|row| &row[area.x..][..area.width]).collect()
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
        let (columns, rows) = (
            spans(&columns, self.height / 10),
            spans(&rows, self.width / 10),
        );
        let area = |&(y, height), &(x, width)| Area {
            x,
            y,
            width,
            height,
        };
        let areas = rows
            .iter()
            .flat_map(|row| columns.iter().map(move |column| area(row, column)));
        areas.collect()
    }
}

/// Where runs of counts above this one start and how long they are.
fn spans(counts: &[usize], least: usize) -> Vec<(usize, usize)> {
    let mut start = 0;
    let mut spans = Vec::new();
    for run in counts.chunk_by(|a, b| (*a > least) == (*b > least)) {
        if run[0] > least {
            spans.push((start, run.len()));
        }
        start += run.len();
    }
    spans
}
