//! Running, pausing, going back and starting anew: what the panels show is what the
//! simulator computes.

use std::time::{Duration, Instant};

use crate::common::wait_for;
use crate::shown::{Shown, agree, computed, frames, processor_time};

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
    let mut mixed = computed(folder, &shown.start, state.generation);
    mixed[1] = computed(folder, &shown.start, 0).swap_remove(1);
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
    shown.press("shift+BackSpace", "StepRoundBack");
    shown.shows(&all, 1997);
    type_at_once("ctrl+g 7 Return", "RunTo(7)");
    shown.shows(&all, 7);
    shown.quit();
}
