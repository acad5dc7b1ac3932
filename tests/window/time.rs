//! Running, pausing, stepping, going back and starting anew: what the panels show is what the
//! simulator computes.

use std::time::{Duration, Instant};

use engine::kernels::{KERNELS, Kernel};
use life::Size;

use crate::common::wait_for;
use crate::shown::{SIDES, Shown, State, agree, computed, frames, processor_time};

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
    let takes = |kernel: &&Kernel| kernel.validate_size(size).is_ok();
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
