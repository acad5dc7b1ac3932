//! The real window, on a display of its own, driven by synthetic keys: what it shows is what the
//! simulator computes, and every key does what the table says.
#![cfg(unix)]

mod common;
#[path = "common/display.rs"]
mod display;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Ended, PATIENCE, Running, lifestreams, names, program, scratch, wait_for};
use display::{Area, Display, Picture, Rgb, SCREEN};
use lifestreams::engine::kernels::{KERNELS, Kernel};
use lifestreams::life::{Lattice, Pattern, Size};

/// Dead and live cells of the first palette.
const DEAD: Rgb = [0x0C, 0x0A, 0x08];
const LIVE: Rgb = [0xFF, 0xC8, 0x57];

/// The lattices' sides in cells.
const SIDES: [u32; 2] = [60, 45];

/// The program in a window.
struct Shown {
    running: Running,
    display: Display,
    window: String,
    folder: tempfile::TempDir,
    /// What its lattices are made from.
    start: String,
}

/// What the log says after an action.
#[derive(Clone, PartialEq, Eq, Debug)]
struct State {
    running: bool,
    generation: u64,
    kernel: String,
    selected: usize,
}

impl Shown {
    /// Opens the window with lattices of [`SIDES`]; `line` are further arguments.
    fn open(line: &str) -> Shown {
        let folder = scratch();
        let display = Display::start(folder.path());
        let start = format!("--size {}x{} --device cpu {line}", SIDES[0], SIDES[1]);
        let mut command = program(folder.path());
        command.args(start.split_whitespace());
        command.env("DISPLAY", &display.name);
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
    fn paused(line: &str) -> (Shown, State) {
        let shown = Shown::open(line);
        let state = shown.press("space", "TogglePause");
        assert!(!state.running, "{state:?}");
        (shown, state)
    }

    fn focus(&self) {
        wait_for("the focus", || {
            self.display
                .xdotool(&format!("windowfocus {}", self.window))?;
            let focused = self.display.xdotool("getwindowfocus")?;
            (focused == self.window).then_some(())
        });
    }

    /// What the log says of this action, one state for each time.
    fn log(&self, action: &str) -> Vec<State> {
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
    fn press(&self, key: &str, action: &str) -> State {
        let before = self.log(action).len();
        self.key(key);
        wait_for(&format!("{action} after {key}"), || {
            let states = self.log(action);
            (states.len() > before).then(|| states.last().unwrap().clone())
        })
    }

    /// Presses a key that is the window's own.
    fn key(&self, key: &str) {
        let pressed = self.display.xdotool(&format!("key --clearmodifiers {key}"));
        assert!(pressed.is_some(), "no key {key}");
    }

    /// Steps by a key; the generation it came to.
    fn step(&self, key: &str, action: &str) -> u64 {
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

    fn picture(&self) -> Picture {
        let picture = || self.display.picture(&self.window);
        wait_for("a picture of the window", picture)
    }

    /// A picture once the window has come to rest.
    fn rest(&self) -> Picture {
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
    fn shows(&self, instances: &[usize], generation: u64) -> Vec<Area> {
        self.shows_start(&self.start.clone(), instances, generation)
    }

    #[track_caller]
    fn shows_start(&self, start: &str, instances: &[usize], generation: u64) -> Vec<Area> {
        let lattices = computed(self.folder.path(), start, generation);
        let mut last = Err("no picture".to_string());
        let until = Instant::now() + common::PATIENCE;
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

    fn end(self) -> (Ended, Display) {
        (self.running.end(common::PATIENCE), self.display)
    }

    fn quit(self) {
        self.key("ctrl+q");
        let (ended, _display) = self.end();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        says_what_was_found(&ended);
    }
}

/// The rest of a line such as `paused at generation 3, kernel bits, instance 0 selected`.
fn state(rest: &str) -> State {
    let words: Vec<&str> = rest
        .split([' ', ','])
        .filter(|word| !word.is_empty())
        .collect();
    let after = |word: &str| words[words.iter().position(|&w| w == word).unwrap() + 1];
    State {
        running: words[0] == "running",
        generation: after("generation").parse().unwrap(),
        kernel: after("kernel").to_string(),
        selected: after("instance").parse().unwrap(),
    }
}

/// How many frames were presented.
fn frames(running: &Running) -> usize {
    running.said().matches(" presented\n").count()
}

/// Beside the log, stderr is one line of what was found and is used.
#[track_caller]
fn says_what_was_found(ended: &Ended) {
    let log = ["TRACE", "DEBUG"];
    let of_log = |line: &&str| log.into_iter().any(|level| line.trim().starts_with(level));
    let lines: Vec<_> = ended.stderr.lines().filter(|line| !of_log(line)).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    for words in ["lifestreams: computing on ", "; drawing with "] {
        assert!(lines[0].contains(words), "{lines:?}");
    }
}

/// The lattices as `run` computes them.
fn computed(folder: &Path, start: &str, generation: u64) -> Vec<Lattice> {
    let into: PathBuf = folder.join("computed");
    let _ = fs::remove_dir_all(&into);
    let line = format!("run {start} --save computed --kernel bits -g {generation}");
    lifestreams(folder, &line).done();
    let size = Size::new(SIDES[0].into(), SIDES[1].into()).unwrap();
    names(&into)
        .iter()
        .map(|name| {
            Pattern::load(into.join(name))
                .unwrap()
                .centred_in(size)
                .unwrap()
        })
        .collect()
}

/// Whether every panel shows its instance's lattice, whole.
fn agree(
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
                let middle = |at: u32, start: usize, length: usize, side: u32| {
                    start + (2 * at as usize + 1) * length / (2 * side as usize)
                };
                let column = middle(x, area.x, area.width, SIDES[0]);
                let row = middle(y, area.y, area.height, SIDES[1]);
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

/// Processor time that a process has used, in seconds.
fn processor_time(id: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks: f64 = [11, 12]
        .into_iter()
        .map(|i| fields[i].parse::<f64>().unwrap())
        .sum();
    ticks / 100.0
}

#[test]
fn a_pause_holds_still_and_costs_nothing() {
    let (shown, state) = Shown::paused("--instances 4 --seed 3");
    shown.shows(&[0, 1, 2, 3], state.generation);
    let before = shown.rest();
    let (frames_before, time) = (frames(&shown.running), processor_time(shown.running.id()));
    let began = Instant::now();
    std::thread::sleep(Duration::from_millis(1500));
    assert!(
        frames(&shown.running) - frames_before <= 1,
        "nothing is drawn where nothing is new"
    );
    let used = (processor_time(shown.running.id()) - time) / began.elapsed().as_secs_f64();
    assert!(used < 0.2, "{used} of a processor is used");
    assert!(shown.picture() == before, "nothing moves");
    // And it goes on from there.
    let on = shown.press("Return", "TogglePause");
    assert!(on.running && on.generation == state.generation, "{on:?}");
    let frames_before = frames(&shown.running);
    wait_for("frames", || {
        (frames(&shown.running) > frames_before + 3).then_some(())
    });
    let again = shown.press("space", "TogglePause");
    assert!(
        !again.running && again.generation > state.generation,
        "{again:?}"
    );
    shown.shows(&[0, 1, 2, 3], again.generation);
    shown.quit();
}

#[test]
fn every_kernel_goes_on_from_the_cells_of_the_one_before() {
    let (shown, mut state) = Shown::paused("--instances 2 --seed 4 --rule B36/S23");
    assert_eq!(state.kernel, "sync-global");
    // The others are passed over.
    let size = Size::new(SIDES[0].into(), SIDES[1].into()).unwrap();
    let takes = |kernel: &&Kernel| kernel.admit(size).is_ok();
    let kernels: Vec<&Kernel> = KERNELS.iter().filter(takes).collect();
    let ways = [
        ("k", "NextKernel", 1),
        ("shift+k", "PreviousKernel", kernels.len() - 1),
    ];
    for (key, action, ahead) in ways {
        for _ in 0..=kernels.len() {
            let at = kernels
                .iter()
                .position(|kernel| kernel.name == state.kernel)
                .unwrap();
            let switched = shown.press(key, action);
            let next = kernels[(at + ahead) % kernels.len()].name;
            assert_eq!(
                switched,
                State {
                    kernel: next.into(),
                    ..state.clone()
                }
            );
            shown.shows(&[0, 1], switched.generation);
            let generation = shown.step("period", "StepGeneration");
            assert_eq!(generation, switched.generation + 1);
            shown.shows(&[0, 1], generation);
            state = State {
                generation,
                ..switched
            };
        }
    }
    shown.quit();
}

#[test]
fn kernels_are_switched_while_it_runs_and_no_cell_is_lost() {
    let shown = Shown::open("--instances 2 --seed 9 --generations-per-round 3");
    for key in ["k", "k", "k", "k", "k", "shift+k", "shift+k"] {
        let action = if key == "k" {
            "NextKernel"
        } else {
            "PreviousKernel"
        };
        let before = frames(&shown.running);
        assert!(shown.press(key, action).running);
        wait_for("frames", || {
            (frames(&shown.running) > before + 1).then_some(())
        });
    }
    let state = shown.press("space", "TogglePause");
    assert_eq!(state.generation % 3, 0);
    shown.shows(&[0, 1], state.generation);
    shown.quit();
}

#[test]
fn a_step_is_one_generation_and_a_round_is_a_round() {
    let (shown, state) = Shown::paused("--instances 2 --generations-per-round 7 --graphs on");
    let mut generation = state.generation;
    for (key, action, further) in [
        ("period", "StepGeneration", 1),
        ("period", "StepGeneration", 1),
        ("Tab", "StepRound", 7),
        ("period", "StepGeneration", 1),
        ("Tab", "StepRound", 7),
    ] {
        assert_eq!(shown.step(key, action), generation + further, "{key}");
        generation += further;
        shown.shows(&[0, 1], generation);
    }
    // A step stops a running one.
    assert!(shown.press("space", "TogglePause").running);
    let generation = shown.step("period", "StepGeneration");
    shown.shows(&[0, 1], generation);
    shown.quit();
}

#[test]
fn resets_and_a_new_seed_start_anew() {
    let (shown, state) = Shown::paused("--instances 4 --seed 11");
    assert!(state.generation > 0);
    shown.shows(&[0, 1, 2, 3], state.generation);
    shown.press("Page_Down", "SelectNext");
    assert_eq!(shown.press("Page_Down", "SelectNext").selected, 2);
    assert_eq!(shown.press("Page_Up", "SelectPrevious").selected, 1);
    let panels = shown.shows(&[0, 1, 2, 3], state.generation);
    // The selected one alone is set back.
    shown.press("r", "ResetPanel");
    let folder = shown.folder.path();
    let (now, start) = (
        computed(folder, &shown.start, state.generation),
        computed(folder, &shown.start, 0),
    );
    let mixed = [
        now[0].clone(),
        start[1].clone(),
        now[2].clone(),
        now[3].clone(),
    ];
    wait_for("one panel set back", || {
        agree(&shown.picture(), &panels, &[0, 1, 2, 3], &mixed).ok()
    });
    shown.press("shift+r", "ResetAll");
    shown.shows(&[0, 1, 2, 3], 0);
    assert_eq!(shown.step("period", "StepGeneration"), 1);
    shown.shows(&[0, 1, 2, 3], 1);
    shown.press("n", "NewSeed");
    let next = shown.start.replace("--seed 11", "--seed 12");
    shown.shows_start(&next, &[0, 1, 2, 3], 0);
    shown.quit();
}

#[test]
fn help_comes_and_goes_and_escape_never_quits() {
    let (mut shown, state) = Shown::paused("--instances 4");
    shown.shows(&[0, 1, 2, 3], state.generation);
    let plain = shown.rest();
    for (open, close) in [("h", "Escape"), ("question", "h"), ("F1", "Escape")] {
        shown.key(open);
        wait_for("help", || (shown.picture() != plain).then_some(()));
        let help = shown.rest();
        let changed = help
            .pixels
            .iter()
            .zip(&plain.pixels)
            .filter(|(a, b)| a != b)
            .count();
        assert!(
            changed > help.pixels.len() / 4,
            "{open} changes {changed} pixels"
        );
        shown.key(close);
        wait_for("the picture without help", || {
            (shown.picture() == plain).then_some(())
        });
    }
    for _ in 0..3 {
        shown.key("Escape");
    }
    assert!(shown.rest() == plain);
    assert!(shown.running.runs());
    shown.quit();
}

#[test]
fn a_command_is_found_by_typing_and_typing_does_nothing_else() {
    let (mut shown, state) = Shown::paused("--instances 4");
    let plain = shown.rest();
    shown.key("ctrl+k");
    wait_for("the palette", || (shown.picture() != plain).then_some(()));
    let open = shown.rest();
    // Letters that are keys of the window too, and digits, which are in no command.
    for letter in ["k", "r", "n", "period", "space"] {
        shown.key(letter);
    }
    wait_for("what was typed", || (shown.picture() != open).then_some(()));
    shown.key("Escape");
    wait_for("the window without it", || {
        (shown.picture() == plain).then_some(())
    });
    shown.key("ctrl+k");
    wait_for("the palette anew", || {
        (shown.picture() == open).then_some(())
    });
    for letter in ["n", "e", "x", "t", "space", "k", "e", "r"] {
        shown.key(letter);
    }
    let next = shown.press("Return", "NextKernel");
    let expected = State {
        kernel: next.kernel.clone(),
        ..state.clone()
    };
    assert_ne!(next.kernel, state.kernel, "the action was done");
    assert_eq!(next, expected, "and nothing else");
    for action in ["ResetPanel", "NewSeed", "StepGeneration"] {
        assert_eq!(shown.log(action), [], "{action} is a key, not a letter");
    }
    assert_eq!(shown.log("TogglePause").len(), 1);
    assert!(shown.running.runs());
    shown.quit();
}

#[test]
fn it_goes_back_and_to_a_generation_and_panels_show_what_was() {
    let (shown, _) = Shown::paused("--instances 4");
    let all = [0, 1, 2, 3];
    // Typed at once, as fast as the server takes it; a number it is not leaves the field open.
    let type_at_once = |keys: &str, action: &str| {
        let line = format!("key --clearmodifiers --delay 2 {keys}");
        shown.display.xdotool(&line).expect("keys");
        wait_for(action, || (shown.log(action).len() == 1).then_some(()));
    };
    let wrong_first = "colon 2 0 comma 0 period Return BackSpace 0 Return";
    type_at_once(wrong_first, "RunTo(2000)");
    shown.shows(&all, 2000);
    for generation in [1999, 1998, 1997] {
        shown.press("BackSpace", "StepBack");
        shown.shows(&all, generation);
    }
    assert_eq!(shown.step("period", "StepGeneration"), 1998);
    shown.shows(&all, 1998);
    shown.press("shift+BackSpace", "RoundBack");
    shown.shows(&all, 1997);
    type_at_once("ctrl+g 7 Return", "RunTo(7)");
    shown.shows(&all, 7);
    shown.quit();
}

#[test]
fn presentation_menu_and_a_larger_interface_come_and_go() {
    let (mut shown, state) = Shown::paused("--instances 4");
    let plain = shown.rest();
    for (open, close) in [
        ("p", "p"),
        ("p", "Escape"),
        ("ctrl+m", "Escape"),
        ("ctrl+equal", "ctrl+0"),
    ] {
        shown.key(open);
        wait_for(open, || (shown.picture() != plain).then_some(()));
        shown.rest();
        shown.key(close);
        // What the interface's size is now is said for some seconds.
        wait_for("the window as it was", || {
            (shown.picture() == plain).then_some(())
        });
    }
    shown.key("ctrl+m");
    wait_for("the menu", || (shown.picture() != plain).then_some(()));
    for key in ["Right", "Right", "Down"] {
        shown.key(key);
    }
    // The band of the HUD is a button, but not beneath the menu.
    let band = format!("mousemove --window {} 1150 36", shown.window);
    shown.display.xdotool(&band).expect("the mouse");
    shown.key("Escape");
    wait_for("no menu", || {
        let panels = shown.picture().rectangles(DEAD);
        (!panels.is_empty()).then_some(())
    });
    let before = shown.log("TogglePause").len();
    wait_for("a click on the band", || {
        shown.display.xdotool("click 1")?;
        let patience = Instant::now() + Duration::from_secs(2);
        while Instant::now() < patience && shown.log("TogglePause").len() == before {
            std::thread::sleep(Duration::from_millis(50));
        }
        (shown.log("TogglePause").len() > before).then_some(())
    });
    assert!(shown.log("TogglePause")[before].running);
    assert!(!state.running && shown.running.runs());
    shown.quit();
}

#[test]
fn a_monitor_that_is_not_there_is_an_error_that_lists_them() {
    let folder = scratch();
    let display = Display::start(folder.path());
    let mut command = program(folder.path());
    command.args(["--device", "cpu", "--size", "64x64", "--monitor", "nope"]);
    let output = command.env("DISPLAY", &display.name).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("there is no monitor 'nope'; there is: 0 ("),
        "{said}"
    );
}

#[test]
fn one_panel_alone_and_all_again() {
    let (shown, state) = Shown::paused("--instances 4");
    let all = shown.shows(&[0, 1, 2, 3], state.generation);
    assert_eq!(shown.press("Page_Up", "SelectPrevious").selected, 3);
    let plain = shown.rest();
    shown.key("e");
    let one = shown.shows(&[3], state.generation);
    assert!(one[0].width > all[0].width && one[0].height > all[0].height);
    assert_eq!(shown.press("Page_Down", "SelectNext").selected, 0);
    shown.shows(&[0], state.generation);
    let generation = shown.step("period", "StepGeneration");
    shown.shows(&[0], generation);
    shown.key("Escape");
    shown.shows(&[0, 1, 2, 3], generation);
    assert!(shown.rest() != plain);
    // The mouse does the same.
    let click = |area: Area, times: u32| {
        let (x, y) = (area.x + area.width / 2, area.y + area.height / 2);
        let line = format!(
            "mousemove --window {} {x} {y} click --repeat {times} --delay 60 1",
            shown.window
        );
        shown.display.xdotool(&line).expect("a click");
    };
    click(all[2], 1);
    wait_for("a click selects", || {
        let last = shown.log("Select(2)").last().cloned()?;
        (last.selected == 2).then_some(())
    });
    std::thread::sleep(Duration::from_millis(500)); // not the first of a double click
    // On a busy machine two clicks may be heard too far apart for a double click.
    let alone = |_: &u32| {
        click(all[1], 2);
        let until = Instant::now() + Duration::from_secs(15);
        std::iter::from_fn(|| {
            std::thread::sleep(Duration::from_millis(50));
            (Instant::now() < until).then(|| shown.picture().rectangles(DEAD).len())
        })
        .any(|panels| panels == 1)
    };
    assert!((0..5).any(|attempt| alone(&attempt)), "one panel alone");
    shown.shows(&[1], generation);
    shown.quit();
}

#[test]
fn zoom_and_fit_return_to_the_whole_lattice() {
    let (shown, state) = Shown::paused("--instances 1");
    shown.shows(&[0], state.generation);
    let whole = shown.rest();
    for keys in [
        vec!["bracketright"],
        vec!["bracketright", "bracketright", "Left", "Down"],
    ] {
        for key in keys {
            shown.key(key);
        }
        wait_for("a closer look", || (shown.picture() != whole).then_some(()));
        shown.key("f");
        wait_for("the whole lattice", || {
            (shown.picture() == whole).then_some(())
        });
    }
    for key in ["x", "i", "c"] {
        shown.key(key);
        wait_for("another look", || (shown.picture() != whole).then_some(()));
        let back = if key == "c" { vec!["c"; 4] } else { vec![key] };
        for key in back {
            shown.key(key);
        }
        wait_for("the first look", || {
            (shown.picture() == whole).then_some(())
        });
    }
    shown.quit();
}

#[test]
fn the_mouse_zooms_and_moves_what_is_seen() {
    let (shown, state) = Shown::paused("--instances 1");
    let panel = shown.shows(&[0], state.generation)[0];
    let whole = shown.rest();
    let (x, y) = (panel.x + panel.width / 3, panel.y + panel.height / 3);
    let mouse = |line: &str| shown.display.xdotool(line).expect("a mouse");
    mouse(&format!("mousemove --window {} {x} {y}", shown.window));
    mouse("click --repeat 3 4");
    wait_for("a closer look", || (shown.picture() != whole).then_some(()));
    let closer = shown.rest();
    let dragged = |button: u32, from: Picture| {
        mouse(&format!(
            "mousedown {button} mousemove_relative --sync 90 40 mouseup {button}"
        ));
        wait_for("a move", || (shown.picture() != from).then_some(()));
        shown.rest()
    };
    let moved = dragged(1, closer);
    dragged(2, moved);
    mouse("click --repeat 3 5");
    shown.key("f");
    wait_for("the whole lattice", || {
        (shown.picture() == whole).then_some(())
    });
    shown.quit();
}

#[test]
fn it_comes_back_from_being_minimised() {
    let shown = Shown::open("--instances 2");
    shown
        .display
        .xdotool(&format!("windowminimize --sync {}", shown.window))
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    shown
        .display
        .xdotool(&format!("windowmap --sync {}", shown.window))
        .unwrap();
    let before = frames(&shown.running);
    wait_for("frames", || {
        (frames(&shown.running) > before + 3).then_some(())
    });
    shown.focus();
    let state = shown.press("space", "TogglePause");
    shown.shows(&[0, 1], state.generation);
    shown.quit();
}

#[test]
fn it_follows_its_size() {
    let (shown, state) = Shown::paused("--instances 2");
    for [width, height] in [[900, 500], [640, 800], [1280, 800], [400, 300]] {
        let resize = format!("windowsize {} {width} {height}", shown.window);
        shown.display.xdotool(&resize).unwrap();
        wait_for("the new size", || {
            let picture = shown.picture();
            ([picture.width, picture.height] == [width, height]).then_some(())
        });
        let panels = shown.shows(&[0, 1], state.generation);
        let covered: usize = panels.iter().map(|area| area.width * area.height).sum();
        assert!(covered * 5 > width * height, "{width}x{height}: {panels:?}");
    }
    // As small as nobody wants it, and back.
    for [width, height] in [[160, 120], [1280, 800]] {
        let resize = format!("windowsize {} {width} {height}", shown.window);
        shown.display.xdotool(&resize).unwrap();
        wait_for("the new size", || {
            (shown.picture().width == width).then_some(())
        });
    }
    shown.shows(&[0, 1], state.generation);
    // The whole screen, and back.
    shown.key("F11");
    wait_for("the whole screen", || {
        let picture = shown.picture();
        ([picture.width, picture.height] == SCREEN.map(|side| side as usize)).then_some(())
    });
    shown.shows(&[0, 1], state.generation);
    shown.key("Escape");
    wait_for("the window", || {
        (shown.picture().width == 1280).then_some(())
    });
    shown.quit();
}

#[test]
fn its_picture_is_saved_as_it_is_seen() {
    let (shown, state) = Shown::paused("--instances 4");
    let panels = shown.shows(&[0, 1, 2, 3], state.generation);
    let seen = shown.rest();
    let pictures = || -> Vec<String> {
        let mut names = names(shown.folder.path());
        names.retain(|name| name.ends_with(".png"));
        names
    };
    for number in 1..=2 {
        shown.key("o");
        wait_for("a picture's file", || {
            (pictures().len() == number).then_some(())
        });
    }
    for name in pictures() {
        assert!(name.starts_with("lifestreams-"), "{name}");
        let file = fs::File::open(shown.folder.path().join(&name)).unwrap();
        let mut reader = png::Decoder::new(std::io::BufReader::new(file))
            .read_info()
            .unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        let picture = Picture {
            width: info.width as usize,
            height: info.height as usize,
            pixels: bytes.chunks(4).map(|p| [p[0], p[1], p[2]]).collect(),
        };
        assert_eq!((picture.width, picture.height), (1280, 800));
        for &panel in &panels {
            assert!(
                picture.cut(panel) == seen.cut(panel),
                "the panel at {panel:?}"
            );
        }
    }
    let partial: Vec<_> = names(shown.folder.path())
        .into_iter()
        .filter(|name| name.starts_with(".lifestreams"))
        .collect();
    assert!(partial.is_empty(), "{partial:?}");
    shown.quit();
}

#[test]
fn a_picture_that_cannot_be_saved_ends_nothing() {
    let (mut shown, state) = Shown::paused("--instances 1");
    shown.shows(&[0], state.generation);
    let plain = shown.rest();
    // The folder it was started in is gone.
    fs::remove_dir_all(shown.folder.path()).unwrap();
    shown.key("o");
    wait_for("a notice", || (shown.picture() != plain).then_some(()));
    assert!(shown.running.runs());
    fs::create_dir(shown.folder.path()).unwrap();
    shown.quit();
}

#[test]
fn the_window_managers_close_ends_it_with_success() {
    let shown = Shown::open("--instances 2");
    shown.key("alt+F4");
    let (ended, _display) = shown.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    says_what_was_found(&ended);
}

/// As by Ctrl+Q: the session is saved, and what was recorded is whole.
#[test]
fn a_signal_ends_it_with_everything_saved() {
    for signal in ["TERM", "INT"] {
        let shown = Shown::open("--instances 2 --session kept.json");
        shown.key("shift+o");
        wait_for("a recording", || {
            shown
                .running
                .said()
                .contains("recording lifestreams-")
                .then_some(())
        });
        let kill = Command::new("kill")
            .args(["-s", signal, &shown.running.id().to_string()])
            .status();
        assert!(kill.expect("kill").success());
        let folder = shown.folder.path().to_owned();
        let kept = shown.folder;
        let ended = shown.running.end(common::PATIENCE);
        assert_eq!(ended.code, Some(0), "{signal}: {ended:?}");
        let names = names(&folder);
        assert!(names.iter().any(|name| name == "kept.json"), "{names:?}");
        assert!(names.iter().any(|name| name.ends_with(".gif")), "{names:?}");
        drop((kept, shown.display));
    }
}

#[test]
fn quitting_in_a_long_launch_takes_no_longer() {
    let shown = Shown::open("--instances 2 --generations-per-round 60000");
    shown.key("ctrl+q");
    let told = Instant::now();
    let (ended, _display) = shown.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    // Some hundred milliseconds; a launch takes minutes.
    let took = told.elapsed();
    assert!(took < Duration::from_secs(15), "{took:?}");
}

#[test]
fn a_display_that_goes_away_ends_it_with_3_and_a_sentence() {
    for pause in [false, true] {
        let mut shown = Shown::open("--instances 2");
        if pause {
            shown.press("space", "TogglePause");
        }
        shown.display.kill();
        let (ended, _display) = shown.end();
        assert_eq!(ended.code, Some(3), "{ended:?}");
        let lines = ended.stderr.lines();
        let said: Vec<_> = lines
            .filter(|line| line.starts_with("lifestreams: "))
            .collect();
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[1].contains("the connection to the X server has broken; start again"));
        assert!(!ended.stderr.contains("panicked"), "{ended:?}");
    }
}

#[test]
fn frames_and_rounds_end_it() {
    for (line, least) in [("--frames 60", 60), ("--frames 1", 1), ("--rounds 30", 1)] {
        let folder = scratch();
        let display = Display::start(folder.path());
        let mut command = program(folder.path());
        command
            .args(line.split(' '))
            .args(["--size", "64x64", "--display", "window"]);
        command.env("DISPLAY", &display.name);
        command.env("LIFESTREAMS_LOG", "off,lifestreams=trace");
        let ended = Running::start(&mut command).end(PATIENCE);
        assert_eq!(ended.code, Some(0), "{line}: {ended:?}");
        let frames = ended.stderr.matches(" presented\n").count();
        assert!(frames >= least, "{line}: {frames} frames");
        assert!(line != "--frames 60" || frames == 60, "{frames} frames");
        if line != "--frames 1" {
            says_what_was_found(&ended);
        }
    }
}

#[test]
fn a_start_that_fails_closes_the_window_again() {
    let folder = scratch();
    let display = Display::start(folder.path());
    for (line, code, words) in [
        ("--device cuda", 3, "no NVIDIA driver is installed here"),
        (
            "--size 262144x262144 --kernel bits --instances 64 --device cpu",
            3,
            "use fewer --instances",
        ),
        ("--adapter voodoo", 2, "'voodoo'"),
    ] {
        let mut command = program(folder.path());
        command.args(line.split(' ')).env("DISPLAY", &display.name);
        command.env("LIFESTREAMS_LIBCUDA", "/nowhere/libcuda.so");
        let ended = Running::start(&mut command).end(PATIENCE);
        ended.refuses(code, &[words]);
    }
}

#[test]
fn the_labs_switches_lose_no_cell() {
    let (shown, _) = Shown::paused("--instances 2");
    for (key, action) in [
        ("F2", "NextOf(Streams)"),
        ("F5", "NextOf(Order)"),
        ("F6", "NextOf(Graphs)"),
        ("F6", "NextOf(Graphs)"),
        ("F3", "NextOf(HostMemory)"),
        ("F4", "NextOf(Wait)"),
        ("F7", "NextOf(Transfer)"),
        ("F7", "NextOf(Transfer)"),
        ("F7", "NextOf(Transfer)"), // i32
        ("F8", "NextOf(Block)"),
    ] {
        assert!(shown.press("space", "TogglePause").running);
        assert!(shown.press(key, action).running);
        let state = shown.press("space", "TogglePause");
        shown.shows(&[0, 1], state.generation);
    }
    shown.quit();
}

#[test]
fn two_halves_end_where_they_began() {
    let (shown, state) = Shown::paused("--instances 4");
    shown.press("b", "ToggleHalves");
    assert!(shown.press("space", "TogglePause").running);
    shown.press("F5", "NextOf(Order)");
    shown.press("space", "TogglePause");
    shown.press("b", "ToggleHalves");
    shown.shows(&[0, 1, 2, 3], state.generation);
    shown.quit();
}

#[test]
fn timeline_lab_and_lessons_come_and_escape_unwinds_them() {
    let (mut shown, _) = Shown::paused("--instances 4");
    let plain = shown.rest();
    for key in ["t", "F9", "shift+g", "F10"] {
        shown.key(key);
        wait_for(key, || (shown.picture() != plain).then_some(()));
        shown.key("Escape");
        wait_for("the picture without it", || {
            (shown.picture() == plain).then_some(())
        });
    }
    // The first lesson, to its last page and back.
    shown.key("F10");
    wait_for("the list", || (shown.picture() != plain).then_some(()));
    let list = shown.rest();
    shown.key("Return");
    wait_for("a page", || (shown.picture() != list).then_some(()));
    for _ in 0..2 {
        let page = shown.rest();
        shown.key("Right");
        wait_for("the next page", || (shown.picture() != page).then_some(()));
    }
    shown.key("Escape");
    wait_for("the list again", || (shown.rest() == list).then_some(()));
    shown.key("Escape");
    wait_for("no lessons", || (shown.picture() == plain).then_some(()));
    assert!(shown.running.runs());
    shown.quit();
}

/// Lattices by saved RLE: what the pencil drew, what undoing took back, and what was pasted.
#[test]
fn what_is_drawn_undone_and_pasted_is_what_is_saved() {
    let (shown, _) = Shown::paused("--instances 1 --density 0 --kernel bits");
    let panel = shown.rest().rectangles(DEAD)[0];
    let mouse = |line: &str| shown.display.xdotool(line).expect("a mouse");
    let to = |[x, y]: [u32; 2]| {
        let middle = |from: usize, length: usize, cell: u32, side: u32| {
            from + (2 * cell as usize + 1) * length / (2 * side as usize)
        };
        let x = middle(panel.x, panel.width, x, SIDES[0]);
        let y = middle(panel.y, panel.height, y, SIDES[1]);
        mouse(&format!(
            "mousemove --sync --window {} {x} {y}",
            shown.window
        ));
    };
    let drag = |from: [u32; 2], over: [u32; 2]| {
        to(from);
        mouse("mousedown 1");
        to(over);
        mouse("mouseup 1");
    };
    let said = |what: &str| shown.running.said().matches(what).count();
    let then = |key: &str, what: &str| {
        let before = said(what);
        shown.key(key);
        wait_for(what, || (said(what) > before).then_some(()));
    };
    let saved = |name: &str| {
        let path = shown.folder.path().join(name);
        let before = said("notice: saved");
        then("ctrl+s", "a path is to be typed in");
        shown.rest();
        shown.key("ctrl+a");
        mouse(&format!("type --delay 20 {}", path.display()));
        shown.key("Return");
        wait_for("a saved file", || {
            (said("notice: saved") > before).then_some(())
        });
        let pattern = Pattern::load(&path).unwrap();
        pattern.centred_in(Size::new(SIDES[0].into(), SIDES[1].into()).unwrap())
    };
    let row = |x: u32, y: u32| {
        let mut lattice = Lattice::new(Size::new(SIDES[0].into(), SIDES[1].into()).unwrap());
        (x..x + 11).for_each(|x| lattice.set(x, y, true));
        lattice
    };
    then("d", "notice: pencil on");
    drag([10, 10], [20, 10]);
    assert_eq!(saved("drawn.rle").unwrap(), row(10, 10));
    shown.press("ctrl+z", "Undo");
    assert_eq!(saved("undone.cells").unwrap().population(), 0);
    shown.press("ctrl+y", "Redo");
    // A part is copied, and placed elsewhere.
    mouse("keydown shift");
    drag([10, 10], [20, 10]);
    mouse("keyup shift");
    then("ctrl+c", "notice: copied 11x1 cells");
    then("ctrl+v", "notice: click to place it");
    to([30, 30]);
    mouse("click 1");
    shown.key("Escape"); // the selection goes
    shown.rest();
    let mut both = row(10, 10);
    (25..36).for_each(|x| both.set(x, 30, true));
    assert_eq!(saved("pasted.mc").unwrap().population(), both.population());
    assert_eq!(saved("pasted.rle").unwrap(), both);
    // What cannot be written is said, and kept for another try.
    then("ctrl+s", "a path is to be typed in");
    shown.rest();
    shown.key("ctrl+a");
    mouse("type --delay 20 /nowhere/at/all.rle");
    then("Return", "a path is to be typed in: cannot save");
    shown.rest();
    let again = shown.folder.path().join("again.rle");
    shown.key("ctrl+a");
    mouse(&format!("type --delay 20 {}", again.display()));
    then("Return", "notice: saved");
    let again = Pattern::load(&again).unwrap().centred_in(both.size());
    assert_eq!(again.unwrap(), both);
    // A broken file names its line and leaves the panel as it was; a good one replaces it.
    let broken = shown.folder.path().join("broken.rle");
    fs::write(&broken, "x = 3, y = 3\nbo$?!\n").unwrap();
    then("ctrl+o", "a path is to be typed in");
    shown.rest();
    mouse(&format!("type --delay 20 {}", broken.display()));
    then("Return", "broken.rle, line 2, column 4");
    assert_eq!(saved("still.rle").unwrap(), both);
    then("ctrl+o", "a path is to be typed in");
    shown.rest();
    let drawn = shown.folder.path().join("drawn.rle");
    mouse(&format!("type --delay 20 {}", drawn.display()));
    then("Return", "notice: opened drawn.rle");
    assert_eq!(saved("opened.rle").unwrap(), row(10, 10));
    shown.quit();
}

/// What is larger than the lattices gets larger ones for a key, and Ctrl+Z leads back.
#[test]
fn a_pattern_too_large_is_offered_a_larger_lattice() {
    let (shown, _) = Shown::paused("--instances 1 --seed 5 --kernel bits");
    let said = |what: &str| shown.running.said().matches(what).count();
    let then = |key: &str, what: &str| {
        let before = said(what);
        shown.key(key);
        wait_for(what, || (said(what) > before).then_some(()));
    };
    let typed = |path: &Path| {
        shown.rest();
        shown.key("ctrl+a");
        let line = format!("type --delay 20 {}", path.display());
        shown.display.xdotool(&line).expect("keys");
    };
    let saved = |name: &str| {
        let path = shown.folder.path().join(name);
        then("ctrl+s", "a path is to be typed in");
        typed(&path);
        then("Return", "notice: saved");
        Pattern::load(&path).unwrap()
    };
    let before = saved("before.rle");
    let wide = shown.folder.path().join("wide.rle");
    fs::write(&wide, "x = 100, y = 1, rule = B3/S23\n100o!\n").unwrap();
    then("ctrl+o", "a path is to be typed in");
    typed(&wide);
    then("Return", "larger lattices are offered: 100x45");
    shown.rest();
    then("Return", "notice: the lattices are 100x45 now");
    let after = saved("after.rle");
    let size = Size::new(100, 45).unwrap();
    assert_eq!(after.torus(), Some(size));
    let lattice = after.centred_in(size).unwrap();
    assert!((0..100).all(|x| lattice.get(x, 22)) && lattice.population() == 100);
    then("ctrl+z", "notice: the former lattices are back");
    let back = saved("back.rle");
    assert_eq!(back.torus(), before.torus());
    let cells = |pattern: &Pattern| pattern.centred_in(pattern.torus().unwrap()).unwrap();
    assert_eq!(cells(&back), cells(&before));
    shown.quit();
}
