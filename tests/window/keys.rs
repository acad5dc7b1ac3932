//! By keys: what the panels show is what the simulator computes, and every key does what the table says.

use std::fs;
use std::time::{Duration, Instant};

use crate::common::{Running, wait_for};
use crate::shown::SCREEN;
use crate::shown::{ASKS, DEAD, Shown, computed, frames};
use life::Size;

/// Processor time that a process has used, in seconds.
fn processor_time(running: &Running) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", running.id())).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: f64 = ticks.map(|field| field.parse::<f64>().unwrap()).sum();
    ticks / 100.0
}

#[test]
fn a_pause_holds_still_and_costs_nothing() {
    let (shown, state) = Shown::paused("--instances 4 --seed 3");
    shown.shows(&[0, 1, 2, 3], state.generation);
    let before = shown.rest();
    let (frames_before, time) = (frames(&shown.running), processor_time(&shown.running));
    std::thread::sleep(Duration::from_millis(1500));
    let drawn = frames(&shown.running) - frames_before;
    assert!(drawn <= 1, "nothing is drawn where nothing is new");
    let used = processor_time(&shown.running) - time;
    assert!(used < 0.3, "{used} s of 1.5 are used");
    assert!(shown.picture() == before, "nothing moves");
    // And it goes on from there, also when it comes back from being minimised.
    let on = shown.press("Return", "TogglePause");
    assert!(on.running && on.generation == state.generation, "{on:?}");
    let window = &shown.window;
    shown.mouse(&format!("windowminimize --sync {window}"));
    std::thread::sleep(Duration::from_millis(500));
    shown.mouse(&format!("windowmap --sync {window}"));
    let frames_before = frames(&shown.running);
    wait_for("frames", || {
        (frames(&shown.running) > frames_before + 3).then_some(())
    });
    shown.focus();
    let again = shown.press("space", "TogglePause");
    assert!(again.generation > state.generation, "{again:?}");
    shown.shows(&[0, 1, 2, 3], again.generation);
    shown.quit();
}

#[test]
fn time_goes_on_back_and_anew() {
    let (shown, state) = Shown::paused("--instances 4 --seed 11");
    let all = [0, 1, 2, 3];
    shown.shows(&all, state.generation);
    shown.walk(&[("Page_Down", "SelectNext: "), ("Page_Down", "SelectNext: ")]);
    assert_eq!(shown.press("Page_Up", "SelectPrevious").selected, 1);
    // The selected one alone is set back.
    shown.press("r", "ResetPanel");
    let folder = shown.folder.path();
    let mut mixed = computed(folder, &shown.start, state.generation);
    mixed[1] = computed(folder, &shown.start, 0).swap_remove(1);
    shown.agrees(&all, &mixed);
    shown.press("shift+r", "ResetAll");
    shown.shows(&all, 0);
    // Typed at once, as fast as the server takes it; a number it is not leaves the field open.
    let wrong_first = "colon 2 0 comma 0 period Return BackSpace 0 Return";
    shown.then(wrong_first, "Reached generation 2000");
    shown.shows(&all, 2000);
    for generation in [1999, 1998] {
        shown.press("BackSpace", "StepBack");
        shown.shows(&all, generation);
    }
    assert_eq!(shown.step("period", "StepGeneration"), 1999);
    shown.press("shift+BackSpace", "StepRoundBack");
    shown.shows(&all, 1998);
    shown.then("ctrl+g 7 Return", "RunTo(7)");
    shown.shows(&all, 7);
    shown.press("n", "NewSeed");
    let next = shown.start.replace("--seed 11", "--seed 12");
    shown.shows_start(&next, &all, 0);
    shown.quit();
}

#[test]
fn size_and_rule_are_changed_and_undone() {
    let (shown, state) = Shown::paused("--instances 2 --seed 5");
    let before = shown.saved("before.rle");
    // What is wrong is said, and the field stays open.
    shown.then("z 8 0 x Return 6 0 Return", "The lattices are 80x60 now");
    let larger = shown.saved("larger.rle");
    assert_eq!(larger.size(), Size::new(80, 60).unwrap());
    assert_eq!(larger, before.resized(larger.size()).unwrap());
    // Edits and larger lattices are undone in the order in which they were made, the last one first,
    // whichever panel is selected.
    shown.press("Page_Down", "SelectNext");
    shown.key("Delete");
    shown.press("Page_Up", "SelectPrevious");
    shown.then("ctrl+z", "Undone: the last edit");
    assert_eq!(shown.saved("still.rle"), larger);
    shown.then("ctrl+z", "Undone: the last edit");
    shown.shows(&[0, 1], state.generation);
    shown.then("shift+b h i g h l i f e Return", "Rule B36/S23");
    let after = shown.step("period", "StepGeneration");
    let stepped = life::reference::step(&before, "B36/S23".parse().unwrap());
    assert_eq!(shown.saved("high.rle"), stepped);
    shown.walk(&[("BackSpace", "StepBack: "), ("ctrl+z", "Undo: ")]);
    assert_eq!(shown.step("period", "StepGeneration"), after);
    shown.shows(&[0, 1], after);
    shown.then("g 7 Return", "7 generations per round");
    assert_eq!(shown.step("Tab", "StepRound"), after + 7);
    shown.shows(&[0, 1], after + 7);
    // A pattern of another rule says so, and the field for the rule has that rule typed already.
    let text = "x = 3, y = 1, rule = B36/S23\n3o!\n";
    fs::write(shown.folder.path().join("high.rle"), text).unwrap();
    shown.then("ctrl+o", ASKS);
    let offer = "its rule is B36/S23, the lattices run B3/S23; Shift+B and Enter take B36/S23";
    shown.enter_path("high.rle", offer);
    shown.then("shift+b Return", "Rule B36/S23");
    shown.quit();
}

/// What has the keys has them alone, and Escape closes it and never quits.
#[test]
fn help_palette_menu_and_panels_come_and_go() {
    let (mut shown, state) = Shown::paused("--instances 4");
    let plain = shown.rest();
    for keys in ["h r n", "ctrl+m Right", "p", "F10 Down", "ctrl+l Down"] {
        let (open, typed) = keys.split_once(' ').unwrap_or((keys, ""));
        shown.key(open);
        shown.leaves(&plain, open);
        shown.key(format!("{typed} Escape").trim());
        shown.returns_to(&plain, &format!("the window without {open}"));
    }
    shown.key("Escape");
    shown.then("ctrl+k n e x t space k e r Return", "NextKernel: ");
    for action in ["ResetPanel", "NewSeed", "StepGeneration"] {
        assert_eq!(shown.log(action), [], "{action} is a key, not a letter");
    }
    let next = shown.log("NextKernel").pop().unwrap();
    assert!(next.kernel != state.kernel && next.generation == state.generation);
    shown.then("ctrl+l Return", "16 lattices now");
    assert!(shown.running.runs());
    shown.quit();
}

#[test]
fn one_panel_alone_and_all_again_in_a_window_of_any_size() {
    let (shown, state) = Shown::paused("--instances 4");
    let generation = state.generation;
    let all = shown.shows(&[0, 1, 2, 3], generation);
    assert_eq!(shown.press("Page_Up", "SelectPrevious").selected, 3);
    shown.key("e");
    let one = shown.shows(&[3], generation);
    assert!(one[0].width > all[0].width && one[0].height > all[0].height);
    assert_eq!(shown.press("Page_Down", "SelectNext").selected, 0);
    shown.shows(&[0], generation);
    shown.key("Escape");
    shown.shows(&[0, 1, 2, 3], generation);
    let becomes = |[width, height]: [usize; 2]| {
        wait_for("the new size", || {
            let picture = shown.picture();
            ([picture.width, picture.height] == [width, height]).then_some(())
        });
    };
    // As small as nobody wants it, and back.
    for [width, height] in [[900, 500], [640, 800], [160, 120], [1280, 800]] {
        let window = &shown.window;
        shown.mouse(&format!("windowsize {window} {width} {height}"));
        becomes([width, height]);
        if width > 160 {
            let panels = shown.shows(&[0, 1, 2, 3], generation);
            let covered: usize = panels.iter().map(|area| area.width * area.height).sum();
            assert!(covered * 5 > width * height, "{width}x{height}: {panels:?}");
        }
    }
    shown.key("F11");
    becomes(SCREEN.map(|side| side as usize));
    shown.shows(&[0, 1, 2, 3], generation);
    shown.key("Escape");
    becomes([1280, 800]);
    shown.quit();
}

/// By the mouse alone, wherever the buttons are: they have tests of their own, by their names.
#[test]
fn the_mouse_selects_zooms_moves_and_has_a_menu() {
    let (shown, state) = Shown::paused("--instances 4");
    let all = shown.shows(&[0, 1, 2, 3], state.generation);
    let click = |panel: usize, what: &str| {
        let area = all[panel];
        shown.point([area.x + area.width / 2, area.y + area.height / 2]);
        shown.mouse(&format!("click {what}"));
    };
    let before = shown.heard("Select(2): ");
    click(2, "1");
    shown.hears("Select(2): ", before);
    std::thread::sleep(Duration::from_millis(500)); // not the first of a double click
    // On a busy machine two clicks may be heard too far apart for a double click.
    let alone = (0..5).any(|_| {
        click(1, "--repeat 2 --delay 60 1");
        let until = Instant::now() + Duration::from_secs(15);
        let panels = || shown.picture().rectangles(DEAD).len();
        while Instant::now() < until && panels() != 1 {
            std::thread::sleep(Duration::from_millis(50));
        }
        panels() == 1
    });
    assert!(alone, "one panel alone");
    let whole = shown.rest();
    shown.mouse("click --repeat 3 4");
    shown.leaves(&whole, "the whole lattice");
    let before = shown.rest();
    shown.mouse("mousedown 1 mousemove_relative --sync 90 40 mouseup 1");
    shown.leaves(&before, "where it was");
    shown.key("f");
    shown.returns_to(&whole, "the whole lattice");
    click(1, "3");
    shown.leaves(&whole, "the menu");
    // Its first line has the keys; the fourth resets the panel.
    for _ in 0..3 {
        let before = shown.rest();
        shown.key("Down");
        shown.leaves(&before, "the next line");
    }
    shown.press("Return", "ResetPanel");
    shown.quit();
}
