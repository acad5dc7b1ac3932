//! What is looked at: help, palette, menu, one panel alone, cameras, sizes.

use std::time::{Duration, Instant};

use crate::common::wait_for;
use crate::display::{Area, Picture, SCREEN};
use crate::shown::{DEAD, Shown, State, frames};

#[test]
fn help_comes_and_goes_and_escape_never_quits() {
    let (mut shown, state) = Shown::paused("--instances 4");
    shown.shows(&[0, 1, 2, 3], state.generation);
    let plain = shown.rest();
    for (open, close) in [("h", "Escape"), ("question", "F1"), ("F1", "Escape")] {
        shown.key(open);
        shown.leaves(&plain, "help");
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
        shown.returns_to(&plain, "the picture without help");
    }
    for _ in 0..3 {
        shown.key("Escape");
    }
    assert!(shown.rest() == plain);
    assert!(shown.running.runs());
    shown.quit();
}

#[test]
fn typing_in_the_help_searches_and_a_key_pressed_in_vain_says_why() {
    let (shown, state) = Shown::paused("--instances 4");
    shown.shows(&[0, 1, 2, 3], state.generation);
    let plain = shown.rest();
    shown.key("h");
    shown.leaves(&plain, "help");
    let all = shown.rest();
    for letter in ["r", "n", "k", "h"] {
        shown.key(letter);
    }
    shown.leaves(&all, "what was typed");
    shown.key("Escape");
    shown.returns_to(&plain, "the picture without help");
    for action in ["ResetPanel", "NewSeed", "NextKernel"] {
        assert_eq!(shown.log(action), [], "{action} is a key, not a letter");
    }
    shown.then(
        "q",
        "notice: Rotate the pasted pattern left: no pattern is being pasted",
    );
    shown.quit();
}

#[test]
fn a_command_is_found_by_typing_and_typing_does_nothing_else() {
    let (mut shown, state) = Shown::paused("--instances 4");
    let plain = shown.rest();
    shown.key("ctrl+k");
    shown.leaves(&plain, "the palette");
    let open = shown.rest();
    // Letters that are keys of the window too, and digits, which are in no command.
    for letter in ["k", "r", "n", "period", "space"] {
        shown.key(letter);
    }
    shown.leaves(&open, "what was typed");
    shown.key("Escape");
    shown.returns_to(&plain, "the window without it");
    shown.key("ctrl+k");
    shown.returns_to(&open, "the palette anew");
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
        shown.leaves(&plain, open);
        shown.rest();
        shown.key(close);
        // What the interface's size is now is said for some seconds.
        shown.returns_to(&plain, "the window as it was");
    }
    shown.key("ctrl+m");
    shown.leaves(&plain, "the menu");
    for key in ["Right", "Right", "Down"] {
        shown.key(key);
    }
    // The band of the HUD is a button, but not beneath the menu.
    let band = format!("mousemove --window {} 1060 36", shown.window);
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
        shown.leaves(&whole, "a closer look");
        shown.key("f");
        shown.returns_to(&whole, "the whole lattice");
    }
    for key in ["x", "i", "c"] {
        shown.key(key);
        shown.leaves(&whole, "another look");
        let back = if key == "c" { vec!["c"; 4] } else { vec![key] };
        for key in back {
            shown.key(key);
        }
        shown.returns_to(&whole, "the first look");
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
    shown.leaves(&whole, "a closer look");
    let closer = shown.rest();
    let dragged = |button: u32, from: Picture| {
        mouse(&format!(
            "mousedown {button} mousemove_relative --sync 90 40 mouseup {button}"
        ));
        shown.leaves(&from, "a move");
        shown.rest()
    };
    let moved = dragged(1, closer);
    dragged(2, moved);
    mouse("click --repeat 3 5");
    shown.key("f");
    shown.returns_to(&whole, "the whole lattice");
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
fn the_toolbar_the_lessons_buttons_and_the_menu_do_with_the_mouse_what_keys_do() {
    let (shown, state) = Shown::paused("--instances 4");
    let click = |[x, y]: [i32; 2], button: u32| {
        let line = format!("mousemove --window {} {x} {y} click {button}", shown.window);
        shown.display.xdotool(&line).expect("the mouse");
    };
    // Where the button of this number from the left stands, in a window of 1280 × 800.
    let button = |number: i32| [8 + 57 * number + 28, 22];
    let acts = |number: i32, action: &str| {
        let before = shown.log(action).len();
        click(button(number), 1);
        wait_for(action, || (shown.log(action).len() > before).then_some(()));
    };
    let plain = shown.rest();
    acts(2, "StepGeneration");
    acts(1, "StepBack");
    shown.shows(&[0, 1, 2, 3], state.generation);
    acts(0, "TogglePause");
    acts(0, "TogglePause");
    // Timeline, lab and lessons come, and go again.
    for number in [7, 8, 9] {
        let before = shown.rest();
        click(button(number), 1);
        shown.leaves(&before, "what the button shows");
        // Where the window becomes narrower beside a lesson, the buttons have no labels.
        let again = if number == 9 {
            [8 + 36 * 9 + 18, 22]
        } else {
            button(number)
        };
        shown.rest();
        click(again, 1);
        wait_for("the window without it", || {
            let same = shown.picture().rectangles(DEAD) == plain.rectangles(DEAD);
            same.then_some(())
        });
    }
    let drawing = shown.heard("notice: Pencil on");
    click(button(10), 1);
    shown.hears("notice: Pencil on", drawing);
    let before = shown.rest();
    click([500, 500], 3);
    shown.leaves(&before, "the menu");
    // Its first line has the keys; the fourth resets the panel.
    for _ in 0..3 {
        let before = shown.rest();
        shown.key("Down");
        shown.leaves(&before, "the next line");
    }
    shown.press("Return", "ResetPanel");
    shown.key("Escape");
    shown.key("Escape");
    shown.quit();
}
