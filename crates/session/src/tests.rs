//! A whole session on the CPU engine: what keys ask for, seen in pictures and figures.

mod findings;
mod idle;
mod own_kernel;
mod own_round;
mod past;
mod persistence;
mod recorded;
mod time;

use std::time::{Duration, Instant};

use super::*;
use crate::instances::{Sim, open_engine};
use crate::trace::{StepKind, TimedRound};
use crate::{
    AUTO_KERNEL, AbComparison, Change, DeviceChoice, KernelChoice, Order, Pace, PictureSource,
    Setting, Settled, Start, StopWhenStill, Streams, Switch, Switches, TimeSettings,
};
use engine::kernels;
use life::{Lattice, Rule, Size, reference, soup};

const TIMEOUT: Duration = Duration::from_secs(240);

fn setup(instances: usize, size: Size) -> Setup {
    let kernel = kernels::find("bits").unwrap();
    Setup {
        start: Start::soup(0.4, 3),
        pace: Pace::PerSecond(500.0),
        ..Setup::new(instances, size, kernel, DeviceChoice::Cpu)
    }
}

/// The status, once it is as wanted.
fn wait_for(session: &Session, what: &str, wanted: impl Fn(&Status) -> bool) -> Arc<Status> {
    let began = Instant::now();
    loop {
        let status = session.status();
        assert_eq!(status.failed, None);
        if wanted(&status) {
            return status;
        }
        assert!(began.elapsed() < TIMEOUT, "{what}: {status:#?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits for a notice with these words.
fn wait_for_notice(session: &Session, words: &str) {
    let has = |status: &Status| {
        status
            .notice
            .as_deref()
            .is_some_and(|it| it.contains(words))
    };
    wait_for(session, words, has);
}

/// The lattices of a session that stands still.
fn newest_lattices(session: &Session) -> Vec<Arc<Lattice>> {
    let saved = session.saved().recv_timeout(TIMEOUT).unwrap();
    let newest = saved.timeline().copies.last().unwrap();
    assert_eq!(
        newest.position.generation,
        session.status().clock.generation
    );
    newest.lattices().unwrap()
}

/// Pauses a session that runs. Returns the generation where it stands still.
fn pause(session: &Session) -> u64 {
    session.act(SessionAction::TogglePause);
    let paused = wait_for(session, "a pause", |status| !status.clock.running);
    paused.clock.generation
}

/// Every instance's picture, once all are of this generation.
fn pictures_of(session: &Session, size: Size, instances: usize, wanted: u64) -> Vec<Lattice> {
    let (mut seen, mut got) = (vec![0; instances], vec![None; instances]);
    let began = Instant::now();
    while got.iter().any(Option::is_none) {
        assert!(began.elapsed() < TIMEOUT, "no pictures of {wanted}");
        let pictures = session.pictures();
        pictures.visit_newer(&mut seen, &mut |instance, picture, words| {
            assert!(picture.generation <= wanted, "{}", picture.generation);
            if picture.generation == wanted {
                got[instance] = Some(Lattice::from_words(size, words.to_vec()));
            }
        });
        std::thread::sleep(Duration::from_millis(2));
    }
    got.into_iter().flatten().collect()
}

/// However long a round is meant to be, a save and a pause come through, with every kernel and while
/// two settings are compared; and no cell is lost.
#[test]
fn rounds_without_end_can_be_saved_and_paused() {
    let size = Size::new(128, 64).unwrap();
    for kernel in kernels::KERNELS.iter() {
        if !kernel.supports(size) {
            continue;
        }
        let endless = Setup {
            kernel,
            generations_per_round: u32::MAX,
            ..setup(2, size)
        };
        let session = Session::start(endless, || {}).unwrap();
        for compares in [false, true] {
            if compares {
                session.act(SessionAction::ToggleComparison);
            }
            wait_for(&session, kernel.name, |status| {
                status.lab.comparison.is_some() == compares
                    && status.clock.running
                    && status.clock.generation > 0
            });
            let saved = session.saved().recv_timeout(TIMEOUT).expect(kernel.name);
            let saved = saved.comparison.map_or(saved.main, |both| both.timeline);
            assert!(saved.position.generation > 0, "{}", kernel.name);
            pause(&session);
            session.act(SessionAction::TogglePause);
        }
    }
}

/// A and B are timed and compared, whatever comes between A's round and B's.
#[test]
fn two_halves_are_timed_and_compared() {
    let several = Setup {
        generations_per_round: 3,
        ..setup(5, Size::new(70, 33).unwrap())
    };
    let session = Session::start(several, || {}).unwrap();
    session.act(SessionAction::ToggleComparison);
    session.act(SessionAction::CycleSwitch(Switch::Order));
    let compared = |what: &str, so: &dyn Fn(&AbComparison) -> bool| {
        let status = wait_for(&session, what, |status| {
            status.lab.comparison.as_ref().is_some_and(so)
        });
        let comparison = status.lab.comparison.clone().unwrap();
        assert_eq!(comparison.differing.unwrap().0, 0, "cells differ");
        comparison
    };
    let comparison = compared("A and B timed and compared", &|it| {
        it.round_us.iter().all(Option::is_some) && it.differing.is_some_and(|(_, of)| of > 20)
    });
    assert_eq!(comparison.each, 2);
    let second = Switches {
        streams: Streams::One,
        order: Order::Depth,
        ..Switches::DEFAULT
    };
    assert_eq!(comparison.switches, [Switches::DEFAULT, second]);
    for action in [
        SessionAction::ResetAll,
        SessionAction::ResetPanel,
        SessionAction::NewSeed,
        SessionAction::PreviousKernel,
        SessionAction::CycleSwitch(Switch::Transfer),
        SessionAction::NextKernel,
        SessionAction::StepGeneration,
        SessionAction::TogglePause,
        SessionAction::StepRound,
        SessionAction::TogglePause,
    ] {
        session.act(action);
        std::thread::sleep(Duration::from_millis(7));
    }
    let mut seen = session.status().lab.comparison.clone().unwrap().differing;
    for _ in 0..2 {
        let again = |it: &AbComparison| it.differing.is_some() && it.differing != seen;
        seen = compared("another comparison", &again).differing;
    }
    session.act(SessionAction::ToggleComparison);
    let status = wait_for(&session, "one setting", |status| {
        status.lab.comparison.is_none()
    });
    assert_eq!(status.setting.switches, Switches::DEFAULT);
}

/// Whether each op of a round was also run alone, as the status has it.
fn ran_alone(round: &TimedRound, status: &Status) -> bool {
    let ops = round.steps.iter().filter(|it| it.kind != StepKind::Wait);
    let isolated = status.lab.isolated.as_deref().unwrap_or_default();
    !isolated.is_empty() && { ops }.all(|facts| isolated.iter().any(|alone| alone.facts == *facts))
}

/// Ops are run alone while somebody looks at what overlaps, by rounds that count as any other.
#[test]
fn ops_are_run_alone_while_overlap_is_watched() {
    let size = Size::new(512, 512).unwrap();
    let setup = Setup {
        kernel: kernels::find("sync-global").unwrap(),
        pace: Pace::Unthrottled,
        ..setup(4, size)
    };
    let session = Session::start(setup, || {}).unwrap();
    wait_for(&session, "some rounds", |status| status.rates.rounds > 3);
    assert_eq!(session.status().lab.isolated, None);
    session.watch_overlap(true);
    // With one stream, too, the round that is drawn has ops that ran alone with its own setting.
    for streams in [Streams::PerInstance, Streams::One] {
        wait_for(&session, "ops run alone", |status| {
            let trace = session.newer_trace(0);
            let round = trace.as_ref().and_then(|trace| trace.drawn());
            status.setting.switches.streams == streams
                && round.is_some_and(|round| ran_alone(round, status))
        });
        if streams == Streams::PerInstance {
            session.act(SessionAction::CycleSwitch(Switch::Streams));
        }
    }
    let generation = pause(&session);
    let want = reference::run(&soup(size, 0.4, 3, 2), Rule::LIFE, generation);
    let got = pictures_of(&session, size, 4, generation);
    assert_eq!(got[2], want, "a round run op by op is a round");
}

#[test]
fn a_kernel_is_picked_and_no_cell_is_lost_by_it() {
    let size = Size::new(128, 128).unwrap();
    let setup = Setup {
        kernel_choice: KernelChoice::Auto,
        rounds: Some(0),
        ..setup(2, size)
    };
    let session = Session::start(setup, || {}).unwrap();
    let soups: Vec<Lattice> = (0..2).map(|i| soup(size, 0.4, 3, i)).collect();
    assert_eq!(pictures_of(&session, size, 2, 0), soups);
    let picked = session.status();
    assert_eq!(picked.setting.kernel_choice, KernelChoice::Estimated);
    session.act(SessionAction::StepGeneration);
    let after: Vec<Lattice> = soups
        .iter()
        .map(|s| reference::run(s, Rule::LIFE, 1))
        .collect();
    assert_eq!(pictures_of(&session, size, 2, 1), after);
    session.act(SessionAction::NextKernel);
    let asked = wait_for(&session, "another kernel", |s| {
        s.setting.kernel != picked.setting.kernel
    });
    assert_eq!(asked.setting.kernel_choice, KernelChoice::Explicit);
}

/// At the maximum pace a round has as many generations as fit in a frame; then no cell is lost, and
/// below it a round has as many as before.
#[test]
fn the_maximum_pace_fits_rounds_into_frames() {
    let size = Size::new(64, 64).unwrap();
    let setup = Setup {
        pace: Pace::Unthrottled,
        generations_per_round: 3,
        ..setup(2, size)
    };
    let session = Session::start(setup.clone(), || {}).unwrap();
    let before = wait_for(&session, "some rounds", |status| status.rates.rounds > 5);
    assert_eq!(before.setting.generations_per_round, 3);
    session.act(SessionAction::Faster);
    wait_for(&session, "longer rounds", |status| {
        status.setting.pace == Pace::Maximum && status.setting.generations_per_round >= 64
    });
    let generation = pause(&session);
    let got = pictures_of(&session, size, 2, generation);
    let engine = open_engine(DeviceChoice::Cpu).unwrap();
    let mut instances = Sim::new(engine, &setup, 1).unwrap();
    instances.start(&mut setup.clone(), None).unwrap();
    let share = instances.all(&Setting::of(&setup), None);
    instances.run(&share, generation, 1 << 16, None).unwrap();
    assert_eq!(got, instances.fetch().unwrap());
    session.act(SessionAction::Slower);
    let after = wait_for(&session, "another pace", |status| {
        status.setting.pace == Pace::Unthrottled
    });
    assert_eq!(after.setting.generations_per_round, 3);
}

/// At the maximum pace and on the way to a generation the fastest setting steps the lattices; the chosen
/// one is saved, compared, and comes back.
#[test]
fn the_fastest_setting_stands_in_for_the_chosen_one() {
    let (size, slow) = (Size::new(128, 128).unwrap(), kernels::find("global"));
    let chosen = Setup {
        kernel: slow.unwrap(),
        switches: Switches {
            block: Some((64, 4)),
            ..Switches::DEFAULT
        },
        pace: Pace::Unthrottled,
        ..setup(2, size)
    };
    let setting = |kernel: &'static str, is_fast: bool| {
        let switches = chosen.switches;
        move |status: &Status| {
            let setting = &status.setting;
            let is_kept = setting.switches == switches || status.lab.comparison.is_some();
            match setting.chosen_kernel {
                Some(chosen) => is_fast && chosen.name == kernel,
                None => !is_fast && setting.kernel.name == kernel && is_kept,
            }
        }
    };
    let session = Session::start(chosen.clone(), || {}).unwrap();
    session.act(SessionAction::Faster);
    let fast = wait_for(&session, "the fastest", setting("global", true));
    assert_eq!(fast.setting.kernel_choice, KernelChoice::Estimated);
    wait_for_notice(&session, "takes global back");
    let saved = session.saved().recv_timeout(TIMEOUT).unwrap();
    let written = (saved.setup.kernel, saved.setup.switches, saved.setup.pace);
    assert_eq!(written, (chosen.kernel, chosen.switches, Pace::Maximum));
    for toggle in [
        SessionAction::ToggleComparison,
        SessionAction::ToggleRecorded,
    ] {
        session.act(toggle);
        wait_for(&session, "compared or recorded", setting("global", false));
        session.act(toggle);
        wait_for(&session, "the fastest again", setting("global", true));
    }
    let small = Size::new(32, 32).unwrap();
    session.act(SessionAction::SetSize(small));
    let is_fast = setting("global", true);
    wait_for(&session, "small lattices", |status| {
        status.lattices.size == small && is_fast(status)
    });
    session.act(SessionAction::SetSize(size));
    session.act(SessionAction::Slower);
    wait_for(&session, "the chosen one", setting("global", false));
    // A kernel that is chosen meanwhile stays, until the program's choice is.
    session.act(SessionAction::Faster);
    session.act(SessionAction::UseKernel(1));
    wait_for(&session, "another", setting("shared", false));
    session.act(SessionAction::UseKernel(AUTO_KERNEL));
    wait_for(&session, "the fastest", setting("shared", true));
    session.act(SessionAction::Slower);
    let generation = pause(&session);
    session.act(SessionAction::RunTo(generation + (1 << 22)));
    wait_for(&session, "a run by the fastest", setting("shared", true));
    session.act(SessionAction::TogglePause);
    let paused = wait_for(&session, "its end", setting("shared", false));
    assert!(!paused.clock.running);
    // After the last kernel comes the program's choice, and then the first one.
    session.act(SessionAction::UseKernel(0));
    session.act(SessionAction::PreviousKernel);
    wait_for(&session, "the program's choice", |status| {
        status.setting.kernel_choice == KernelChoice::Estimated
    });
    session.act(SessionAction::NextKernel);
    wait_for(&session, "the first kernel", |status| {
        status.setting.kernel == chosen.kernel
    });
    let file = SessionFile {
        from: Some(saved.clone()),
        ..SessionFile::default()
    };
    let opened = Session::start_from(saved.setup.clone(), file, || {}).unwrap();
    wait_for(&opened, "the fastest", setting("global", true));
}

/// Where no kernel is named, another one takes the place of the default where that does not take the
/// lattices, and the default comes back with their size.
#[test]
fn another_kernel_stands_in_for_the_default() {
    let default = kernels::find(crate::DEFAULT_KERNEL).unwrap();
    let (large, small) = (Size::new(4097, 4096).unwrap(), Size::new(64, 64).unwrap());
    let setup = Setup {
        kernel: default,
        kernel_choice: KernelChoice::FirstFitting,
        ..setup(1, small)
    };
    let session = Session::start(setup, || {}).unwrap();
    for (size, kernel, said) in [
        (
            large,
            "bits",
            "sync-global supports at most 16,777,216 cells",
        ),
        (small, default.name, "kernel sync-global: "),
    ] {
        session.act(SessionAction::SetSize(size));
        wait_for_notice(&session, said);
        assert_eq!(session.status().setting.kernel.name, kernel);
    }
}

/// Started so, it picks the kernel and its submission too.
#[test]
fn a_session_at_the_maximum_pace_picks_its_kernel() {
    let size = Size::new(128, 128).unwrap();
    let setup = Setup {
        pace: Pace::Maximum,
        kernel_choice: KernelChoice::AutoWithSubmission,
        ..setup(3, size)
    };
    let session = Session::start(setup, || {}).unwrap();
    let picked = wait_for(&session, "long rounds", |status| {
        status.setting.generations_per_round >= 64
    });
    assert_eq!(picked.setting.kernel_choice, KernelChoice::Estimated);
    assert_eq!(picked.setting.pace, Pace::Maximum);
}
