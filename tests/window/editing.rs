//! Lattices by saved RLE: what was drawn, undone, stepped, found in the palette, pasted, dropped.

use std::fs;
use std::path::Path;

use life::reference::step;
use life::{Lattice, Pattern, Rule, Size};

use crate::common::wait_for;
use crate::drag::Source;
use crate::grid::ask;
use crate::shown::{DEAD, LIVE, SIDES, Shown};

/// Lattices by saved RLE: what the pencil drew, what undoing took back, and what was pasted.
#[test]
fn what_is_drawn_undone_and_pasted_is_what_is_saved() {
    let (shown, _) = Shown::paused("--instances 1 --density 0 --kernel bits");
    let panel = shown.rest().rectangles(DEAD)[0];
    let to = |cell| shown.point(panel.middle(cell, SIDES));
    let drag = |from, over| shown.drag(&[from, over].map(|cell| panel.middle(cell, SIDES)));
    let row = |x: u32, y: u32| {
        let mut lattice = Lattice::new(Size::new(SIDES[0].into(), SIDES[1].into()).unwrap());
        (x..x + 11).for_each(|x| lattice.set(x, y, true));
        lattice
    };
    shown.then("d", "notice: Pencil on");
    drag([10, 10], [20, 10]);
    assert_eq!(shown.saved("drawn.rle"), row(10, 10));
    shown.press("ctrl+z", "Undo");
    assert_eq!(shown.saved("undone.cells").population(), 0);
    shown.press("ctrl+y", "Redo");
    // A generation on and back again; a command found by typing clears, and is undone.
    let next = shown.step("period", "StepGeneration");
    shown.press("BackSpace", "StepBack");
    assert_eq!(shown.saved("back.rle"), row(10, 10));
    assert_eq!(shown.step("period", "StepGeneration"), next);
    assert_eq!(shown.saved("stepped.rle"), step(&row(10, 10), Rule::LIFE));
    shown.press("BackSpace", "StepBack");
    shown.key("ctrl+k");
    shown.rest();
    shown.mouse("type --delay 20 clear");
    shown.rest();
    shown.key("Return");
    wait_for("an empty panel", || {
        let picture = shown.picture();
        let open = picture.rectangles(DEAD).is_empty();
        (!open && !picture.pixels.contains(&LIVE)).then_some(())
    });
    assert_eq!(shown.saved("cleared.rle").population(), 0);
    shown.press("ctrl+z", "Undo");
    assert_eq!(shown.saved("uncleared.rle"), row(10, 10));
    // A part is copied, flipped, rotated and placed elsewhere.
    shown.mouse("keydown shift");
    drag([10, 10], [20, 12]);
    shown.mouse("keyup shift");
    shown.then("ctrl+c", "notice: Copied 11x3 cells");
    shown.then("ctrl+v", "notice: Click to place");
    for key in ["shift+y", "shift+x", "greater"] {
        shown.key(key);
    }
    to([30, 30]);
    shown.mouse("click 1");
    shown.key("Escape"); // the selection goes
    shown.rest();
    let mut both = row(10, 10);
    (25..36).for_each(|y| both.set(29, y, true));
    assert_eq!(shown.saved("pasted.cells").population(), both.population());
    assert_eq!(shown.saved("pasted.rle"), both);
    // A part is cut, and brought back by undoing one edit.
    shown.mouse("keydown shift");
    drag([10, 10], [20, 10]);
    shown.mouse("keyup shift");
    shown.then("ctrl+x", "notice: Copied 11x1 cells");
    shown.key("Escape");
    shown.rest();
    let mut other = both.clone();
    (10..21).for_each(|x| other.set(x, 10, false));
    assert_eq!(shown.saved("cut.rle"), other);
    shown.press("ctrl+z", "Undo");
    assert_eq!(shown.saved("uncut.rle"), both);
    // What cannot be written is said, and kept for another try.
    shown.ask_path("ctrl+s");
    // The proposed name is replaced by what is typed.
    shown.type_in(Path::new("/nowhere/at/all.rle"));
    shown.then(
        "Return",
        "a path is to be typed in: cannot save /nowhere/at/all.rle",
    );
    shown.rest();
    let unwritten = shown.folder.path().join("again.mc");
    let why = "a path is to be typed in: Patterns are saved as RLE or plaintext";
    shown.enter_path(&unwritten, why);
    let again = shown.folder.path().join("again.rle");
    shown.enter_path(&again, "notice: Saved");
    let again = Pattern::load(&again).unwrap().centred_in(both.size());
    assert_eq!(again.unwrap(), both);
    // One that has no room is not placed, whatever the lattices were when it was taken.
    let all = format!("notice: Copied {}x{} cells", SIDES[0], SIDES[1]);
    shown.then("ctrl+c", &all);
    ask(&shown, "z", "8", "The lattices are 8x8 now");
    let small = shown.saved("small.rle");
    shown.then("ctrl+v", "notice: Click to place");
    to([30, 22]);
    shown.mouse("click 1");
    let why = "notice: the pattern is 20x26 cells, larger than the lattice 8x8; use --size 40x52";
    shown.hears(why, 0);
    shown.key("Escape");
    assert_eq!(shown.saved("still-small.rle"), small);
    shown.press("ctrl+z", "Undo");
    // A broken file names its line and leaves the panel as it was; a good one replaces it.
    let broken = shown.folder.path().join("broken.rle");
    fs::write(&broken, "x = 3, y = 3\nbo$?!\n").unwrap();
    shown.ask_path("ctrl+o");
    shown.type_in(&broken);
    shown.then("Return", "broken.rle, line 2, column 4");
    shown.key("Escape");
    assert_eq!(shown.saved("still.rle"), both);
    // Behind a path that failed another one is typed, and not commands.
    shown.ask_path("ctrl+o");
    shown.type_in(&broken);
    shown.then("Return", "broken.rle, line 2, column 4");
    shown.rest();
    let drawn = shown.folder.path().join("drawn.rle");
    shown.enter_path(&drawn, "notice: Opened drawn.rle");
    assert_eq!(shown.saved("opened.rle"), row(10, 10));
    shown.quit();
}

/// Without the keyboard's Shift: the tool selects once, and a click elsewhere drops what it selected.
#[test]
fn the_next_drag_selects_an_area_and_a_click_elsewhere_drops_it() {
    let (shown, _) = Shown::paused("--instances 1 --density 0 --kernel bits");
    let panel = shown.rest().rectangles(DEAD)[0];
    let to = |cell| shown.point(panel.middle(cell, SIDES));
    shown.then("shift+a", "notice: Drag over cells to select them");
    shown.drag(&[[10, 10], [20, 12]].map(|cell| panel.middle(cell, SIDES)));
    shown.then("ctrl+c", "notice: Copied 11x3 cells");
    // Within it a click keeps it, elsewhere it goes, and the tool has gone before.
    to([15, 11]);
    shown.mouse("click 1");
    shown.then("ctrl+c", "notice: Copied 11x3 cells");
    to([30, 20]);
    shown.mouse("click 1");
    let all = format!("notice: Copied {}x{} cells", SIDES[0], SIDES[1]);
    shown.then("ctrl+c", &all);
    shown.quit();
}

/// The lattice is a torus: what is seen goes on beyond its edge, and so does a stroke.
#[test]
fn a_stroke_goes_around_the_torus_where_the_panel_does() {
    let (shown, _) = Shown::paused("--instances 1 --density 0 --kernel bits");
    let panel = shown.rest().rectangles(DEAD)[0];
    let middle = panel.y + panel.height / 2;
    // The minimap tells where the panel has got to.
    let whole = shown.rest();
    shown.key("bracketright");
    shown.leaves(&whole, "a part");
    let part = shown.rest();
    shown.drag(&[
        [panel.x + panel.width / 8, middle],
        [panel.x + panel.width * 7 / 8, middle],
    ]);
    shown.leaves(&part, "another part");
    shown.then("d", "notice: Pencil on");
    let stroke = |y: usize| {
        let before = shown.rest();
        let along = [2, panel.width / 3, panel.width - 3];
        shown.drag(&along.map(|x| [panel.x + x, y]));
        shown.leaves(&before, "the stroke");
    };
    let is_seen = |y: usize| {
        let picture = shown.rest();
        let mut columns = panel.x + 2..panel.x + panel.width - 2;
        assert!(columns.all(|x| picture.at(x, y) == LIVE), "one line");
    };
    let [width, height] = SIDES;
    let goes_over_the_edge = |saved: &Lattice, y: u32| {
        let alive = |x: u32| saved.get(x % width, y);
        assert!(alive(0) && alive(width - 1), "{y}");
        // One gap, where nobody looked.
        let ends = (0..width).filter(|&x| alive(x) && !alive(x + 1)).count();
        assert_eq!(ends, 1);
    };
    let rows = |saved: &Lattice| -> Vec<u32> {
        let any = |y: &u32| (0..width).any(|x| saved.get(x, *y));
        (0..height).filter(any).collect()
    };
    stroke(middle);
    is_seen(middle);
    let saved = shown.saved("around.rle");
    let first = rows(&saved);
    assert_eq!(first.len(), 1, "{first:?}");
    goes_over_the_edge(&saved, first[0]);
    // The same through a view that is reduced on the device.
    shown.press("F7", "CycleSwitch(Transfer)");
    shown.press("F7", "CycleSwitch(Transfer)");
    is_seen(middle);
    let lower = panel.y + panel.height * 3 / 4;
    stroke(lower);
    is_seen(middle);
    is_seen(lower);
    let saved = shown.saved("view.rle");
    let both = rows(&saved);
    assert!(both.len() == 2 && both.contains(&first[0]), "{both:?}");
    both.iter().for_each(|&y| goes_over_the_edge(&saved, y));
    shown.quit();
}

/// Without a desktop's portal there is a field for the path; a drop needs neither.
#[test]
fn what_is_dropped_comes_to_the_selected_panel_and_a_broken_file_changes_nothing() {
    let (shown, _) = Shown::paused("--instances 2 --density 0 --kernel bits");
    assert_eq!(shown.press("Page_Down", "SelectNext").selected, 1);
    shown.step("period", "StepGeneration");
    let window = shown.window.parse().unwrap();
    let drop = |name: &str, text: &str, what: &str| {
        let path = shown.folder.path().join(name);
        fs::write(&path, text).unwrap();
        let before = shown.heard(what);
        let source = Source::new(&shown.display.name, &[&path]);
        assert!(source.drop_on(window), "{name} is taken");
        shown.hears(what, before);
    };
    let glider = "x = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n";
    drop(
        "a glider, grün.rle",
        glider,
        "notice: Opened a glider, grün.rle",
    );
    let wanted = Pattern::from_text("glider", glider).unwrap();
    let size = Size::new(SIDES[0].into(), SIDES[1].into()).unwrap();
    let wanted = wanted.centred_in(size).unwrap();
    assert_eq!(shown.saved("dropped.rle"), wanted);
    assert_eq!(shown.step("period", "StepGeneration"), 1, "from 0 on");
    shown.press("BackSpace", "StepBack");
    drop(
        "broken.cells",
        "!Name: broken\n.O.\n..%\n",
        "broken.cells, line 3, column 3",
    );
    assert_eq!(shown.saved("as-it-was.rle"), wanted);
    drop(
        "wide.rle",
        "x = 999, y = 1\n999o!\n",
        "wide.rle is 999x1 cells, larger than the lattice 60x45; use --size 1998x45",
    );
    assert_eq!(shown.saved("still.rle"), wanted);
    shown.press("Page_Up", "SelectPrevious");
    assert_eq!(shown.saved("other.rle").population(), 0);
    shown.quit();
}

/// Edits and larger lattices are undone in the order in which they were made, the last one first,
/// whichever panel is selected.
#[test]
fn an_edit_and_then_the_larger_lattices_before_it_are_undone() {
    let (shown, _) = Shown::paused("--instances 2 --seed 5 --kernel bits");
    let former = shown.saved("former.rle");
    ask(&shown, "z", "8 0 x 6 0", "The lattices are 80x60 now");
    let grown = shown.saved("grown.rle");
    assert_eq!(grown, former.resized(Size::new(80, 60).unwrap()).unwrap());
    shown.press("Page_Down", "SelectNext");
    shown.key("Delete");
    shown.press("Page_Up", "SelectPrevious");
    // This is about the edit of the other panel, and the next one about the lattices.
    shown.then("ctrl+z", "Undone: the last edit");
    assert_eq!(shown.saved("still.rle"), grown);
    shown.then("ctrl+z", "Undone: the last edit");
    assert_eq!(shown.saved("back.rle"), former);
    shown.then("ctrl+y", "Redone: at generation");
    assert_eq!(shown.saved("again.rle"), grown);
    shown.quit();
}
