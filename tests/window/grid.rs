//! Size and rule changed: what the panels show is what the simulator computes of such lattices, and
//! undo leads back.

use std::fs;

use crate::shown::Shown;
use life::Size;

/// Types a text and Return at once, as fast as the server takes it, behind the key that opens a field.
pub(crate) fn ask(shown: &Shown, key: &str, keys: &str, heard: &str) {
    let before = shown.heard(heard);
    let line = format!("key --clearmodifiers --delay 2 {key} {keys} Return");
    shown.display.xdotool(&line).expect("keys");
    shown.hears(heard, before);
}

#[test]
fn size_and_rule_are_changed_and_undone() {
    let (shown, state) = Shown::paused("--instances 2 --seed 5");
    let before = shown.saved("before.rle");
    // What is wrong is said, and the field stays open.
    let keys = "8 0 x Return 6 0";
    ask(&shown, "z", keys, "The lattices are 80x60 now");
    let larger = shown.saved("larger.rle");
    assert_eq!(larger.size(), Size::new(80, 60).unwrap());
    assert_eq!(larger, before.resized(larger.size()).unwrap());
    ask(&shown, "z", "3 2", "The lattices are 32x32 now");
    let smaller = shown.saved("smaller.rle");
    assert_eq!(smaller, larger.resized(smaller.size()).unwrap());
    for _ in 0..2 {
        shown.press("ctrl+z", "Undo");
    }
    shown.shows(&[0, 1], state.generation);
    ask(&shown, "shift+b", "h i g h l i f e", "Rule B36/S23");
    let after = shown.step("period", "StepGeneration");
    let stepped = life::reference::step(&before, "B36/S23".parse().unwrap());
    assert_eq!(shown.saved("high.rle"), stepped);
    shown.press("BackSpace", "StepBack");
    shown.press("ctrl+z", "Undo");
    assert_eq!(shown.step("period", "StepGeneration"), after);
    shown.shows(&[0, 1], after);
    ask(&shown, "g", "7", "7 generations per round");
    assert_eq!(shown.step("Tab", "StepRound"), after + 7);
    shown.shows(&[0, 1], after + 7);
    shown.quit();
}

/// A pattern of another rule says so, and the field for the rule has that rule typed already.
#[test]
fn a_pattern_of_another_rule_offers_it() {
    let (shown, _) = Shown::paused("--instances 1 --density 0 --kernel bits");
    let path = shown.folder.path().join("high.rle");
    fs::write(&path, "x = 3, y = 1, rule = B36/S23\n3o!\n").unwrap();
    shown.then("ctrl+o", "a path is to be typed in");
    shown.rest();
    let offer = "its rule is B36/S23, the lattices run B3/S23; Shift+B and Enter take B36/S23";
    shown.enter_path(&path, offer);
    ask(&shown, "shift+b", "", "Rule B36/S23");
    shown.then("ctrl+c", "notice: Copied");
    shown.press("ctrl+z", "Undo");
    shown.then("ctrl+v", offer);
    shown.key("Escape");
    ask(&shown, "shift+b", "", "Rule B36/S23");
    shown.quit();
}
