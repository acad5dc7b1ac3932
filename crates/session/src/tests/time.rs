//! Time: what settles is found, populations are those of the reference, and the way back leads to
//! exactly what was.

use super::*;
use crate::log::{CellChange, Content};
use life::Shelved;
use model::population::Sample;

fn size(side: u64) -> Size {
    Size::new(side, side).unwrap()
}

/// Lattices with a pattern of the shelf each; an empty one for no name.
fn shelved(size: Size, names: &[&str]) -> Vec<Arc<Lattice>> {
    let one = |name: &&str| match Shelved::find(name) {
        Some(shelved) => shelved.pattern().centred_in(size).unwrap(),
        None => Lattice::new(size),
    };
    names.iter().map(|name| Arc::new(one(name))).collect()
}

fn of_patterns(names: &[&str], kernel: &str) -> Setup {
    Setup {
        start: Start::Lattices {
            lattices: shelved(size(32), names),
            generation: 0,
        },
        kernel: kernels::find(kernel).unwrap(),
        pace: Pace::Unthrottled,
        time: TimeSettings {
            stop_when_still: StopWhenStill::All,
            ..TimeSettings::DEFAULT
        },
        ..setup(names.len(), size(32))
    }
}

/// The newest pictures, once the session is paused and all are of these generations.
fn pictures_at(session: &Session, size: Size, wanted: &[u64]) -> Vec<Lattice> {
    let began = Instant::now();
    loop {
        let mut got = vec![None; wanted.len()];
        let mut at = vec![0; wanted.len()];
        let paused = !session.status().clock.running;
        let pictures = session.pictures();
        pictures.visit_newer(&mut vec![0; wanted.len()], &mut |i, picture, words| {
            at[i] = picture.generation;
            got[i] = Some(Lattice::from_words(size, words.to_vec()));
        });
        if paused && at == wanted && got.iter().all(Option::is_some) {
            return got.into_iter().flatten().collect();
        }
        assert!(began.elapsed() < TIMEOUT, "{at:?}, not {wanted:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The same where all are of one generation.
fn all_at(session: &Session, setup: &Setup, generation: u64) -> Vec<Lattice> {
    pictures_at(session, setup.size, &vec![generation; setup.instances])
}

fn references(setup: &Setup, generation: u64) -> Vec<Lattice> {
    (0..setup.instances)
        .map(|i| {
            let start = simulation::start_lattice(&setup.start, setup.size, i).unwrap();
            reference::run(&start, setup.rule, generation)
        })
        .collect()
}

#[test]
fn periods_are_found_by_every_layout() {
    use Settled::{Dead, Period, Still};
    // A glider is back on a torus of 32 cells after 4 * 32 generations.
    let names = [
        "blinker",
        "block",
        "pulsar",
        "",
        "glider",
        "pentadecathlon",
        "queen-bee-shuttle",
    ];
    let wanted = [
        Period(2),
        Still,
        Period(3),
        Dead,
        Period(128),
        Period(15),
        Period(30),
    ];
    for kernel in ["bits", "planar", "global", "sync-shared"] {
        let session = Session::start(of_patterns(&names, kernel), || {}).unwrap();
        let stopped = wait_for(&session, "a stop", |status| !status.clock.running);
        let found: Vec<_> = stopped.panels.settled.iter().map(|s| s.unwrap()).collect();
        assert_eq!(found, wanted, "{kernel}");
        assert_eq!(
            stopped.notice.as_deref(),
            Some("Stopped: every panel is still or periodic")
        );
        // Who goes on all the same is not stopped for the same again.
        let generation = stopped.clock.generation;
        session.act(SessionAction::TogglePause);
        wait_for(&session, "more", |status| {
            status.clock.generation > generation + 50
        });
    }
}

#[test]
fn what_was_not_looked_at_is_told_as_such() {
    let setup = Setup {
        generations_per_round: 10,
        ..of_patterns(&["blinker", "block", "pulsar"], "bits")
    };
    let session = Session::start(setup, || {}).unwrap();
    let stopped = wait_for(&session, "a stop", |status| !status.clock.running);
    let found: Vec<_> = stopped.panels.settled.iter().map(|s| s.unwrap()).collect();
    let every = |n| Settled::Repeats(n);
    assert_eq!(found, [every(10), every(10), every(30)]);
}

#[test]
fn it_stops_for_the_selected_panel_alone() {
    let mut setup = of_patterns(&["glider", "block"], "bits");
    setup.time.stop_when_still = StopWhenStill::Never;
    let session = Session::start(setup, || {}).unwrap();
    session.act(SessionAction::Select(1));
    session.act(SessionAction::NextStopWhenStill);
    let stopped = wait_for(&session, "a stop", |status| !status.clock.running);
    assert_eq!(stopped.panels.settled[1], Some(Settled::Still));
    assert_eq!(
        stopped.notice.as_deref(),
        Some("Stopped: this panel is still")
    );
}

#[test]
fn what_died_down_gets_a_soup_and_the_clock_goes_on() {
    one_gets_a_soup(size(32), 500.0, None);
}

#[test]
fn what_is_said_to_be_dull_gets_a_soup_before_it_settles() {
    one_gets_a_soup(size(256), 20.0, Some(1));
}

/// That one of two lattices of this size gets a soup at so many rounds a second, if `dull` is said to
/// be.
fn one_gets_a_soup(size: Size, rounds: f64, dull: Option<usize>) {
    let mut setup = of_patterns(&["", ""], "planar");
    setup.size = size;
    let density = 0.15;
    setup.start = Start::soup(density, 1);
    setup.time.stop_when_still = StopWhenStill::Never;
    setup.time.reseed = true;
    setup.pace = Pace::PerSecond(rounds);
    let rule = setup.rule;
    let session = Session::start(setup, || {}).unwrap();
    if let Some(dull) = dull {
        session.note_dull(dull);
    }
    let began = Instant::now();
    let (saved, at, instance, seed) = loop {
        let saved = session.saved().recv_timeout(TIMEOUT).unwrap();
        let soups = saved
            .main
            .log
            .records()
            .find_map(|record| match record.content {
                Content::Cells {
                    instance,
                    cells: CellChange::Soup { seed, .. },
                } => Some((record.generation, instance, seed)),
                _ => None,
            });
        if let Some((at, instance, seed)) = soups {
            break (saved, at, instance, seed);
        }
        assert!(began.elapsed() < TIMEOUT, "no soup came");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(seed, 2, "another than before");
    assert!(dull.is_none_or(|dull| dull == instance));
    let (position, lattices) = &saved.main.newest;
    let generations = position.generation - at;
    let soup = soup(size, density, seed, instance as u64);
    assert!(*lattices[instance] == reference::run(&soup, rule, generations));
    assert!(at > 0);
    wait_for(&session, "the clock goes on", |status| {
        status.clock.generation > at
    });
}

#[test]
fn populations_are_those_of_the_reference() {
    let setup = Setup {
        rounds: Some(0),
        ..setup(2, size(40))
    };
    let session = Session::start(setup.clone(), || {}).unwrap();
    session.watch_population(true);
    session.act(SessionAction::RunTo(60));
    assert_eq!(all_at(&session, &setup, 60), references(&setup, 60));
    let series = |of| {
        let newest = || session.newer_population(of, 0).map(|(_, series)| series);
        let there = |series: &Series| series.generation() == Some(60);
        wait_for(&session, "its population", |_| {
            newest().as_ref().is_some_and(there)
        });
        newest().filter(there).expect("it was there")
    };
    let [first, second, all] = [Some(0), Some(1), None].map(series);
    let of_reference = |generation: u64| {
        let lattices = references(&setup, generation);
        lattices.iter().map(Lattice::population).collect::<Vec<_>>()
    };
    // Rounds grow while it runs to a generation: not every one was measured.
    for (i, sample) in all.samples().iter().enumerate() {
        let wanted = of_reference(sample.to);
        let got = [&first, &second].map(|series| series.samples()[i].population() as u64);
        assert_eq!(got[..], wanted);
        assert_eq!(sample.population() as u64, wanted[0] + wanted[1]);
        assert_eq!(sample.from, sample.to);
    }
    let change = |of: &Sample| of.births() - of.deaths();
    for (before, after) in first.samples().iter().zip(&first.samples()[1..]) {
        assert_eq!(after.population() - before.population(), change(after));
    }
    // Nobody looks any more: nothing is measured.
    session.watch_population(false);
    session.act(SessionAction::StepGeneration);
    all_at(&session, &setup, 61);
    wait_for(&session, "no measures", |status| {
        status.panels.settled.is_empty()
    });
}

#[test]
fn it_runs_to_a_generation_and_no_farther() {
    let setup = Setup {
        generations_per_round: 7,
        rounds: Some(0),
        ..setup(3, size(45))
    };
    for graphs in [false, true] {
        let mut setup = setup.clone();
        setup.switches.graphs = graphs;
        let session = Session::start(setup.clone(), || {}).unwrap();
        session.act(SessionAction::RunTo(1234));
        wait_for(&session, "a word", |status| {
            status.notice.as_deref() == Some("Reached generation 1234")
        });
        assert_eq!(all_at(&session, &setup, 1234), references(&setup, 1234));
        session.act(SessionAction::RunTo(1000));
        wait_for(&session, "a word", |status| {
            status.notice.as_deref() == Some("Back to generation 1000")
        });
        assert_eq!(all_at(&session, &setup, 1000), references(&setup, 1000));
    }
}

#[test]
fn the_start_of_what_is_remembered_is_told() {
    let mut setup = Setup {
        rounds: Some(0),
        ..setup(1, size(33))
    };
    let session = Session::start(setup.clone(), || {}).unwrap();
    session.act(SessionAction::RunTo(2));
    all_at(&session, &setup, 2);
    for generation in [1, 0] {
        session.act(SessionAction::StepBack);
        all_at(&session, &setup, generation);
    }
    session.act(SessionAction::StepBack);
    wait_for(&session, "a word", |status| {
        status.notice.as_deref()
            == Some("Already at the start (generation 0); Ctrl+Z undoes the start")
    });
    assert_eq!(all_at(&session, &setup, 0), references(&setup, 0));
    // With no memory for it there is still the way from the start.
    setup.time.history_bytes = 100;
    let session = Session::start(setup.clone(), || {}).unwrap();
    session.act(SessionAction::RunTo(9));
    all_at(&session, &setup, 9);
    session.act(SessionAction::StepBack);
    assert_eq!(all_at(&session, &setup, 8), references(&setup, 8));
}

#[test]
fn a_reset_on_the_way_to_a_generation_stops_there_and_says_so() {
    let setup = of_patterns(&["blinker", "block"], "bits");
    let setup = Setup {
        rounds: Some(0),
        time: TimeSettings::DEFAULT,
        ..setup
    };
    let session = Session::start(setup.clone(), || {}).unwrap();
    session.act(SessionAction::RunTo(u64::MAX / 2));
    wait_for(&session, "some rounds", |status| {
        status.clock.generation > 10
    });
    session.act(SessionAction::ResetAll);
    let stopped = wait_for(&session, "the end of it", |status| !status.clock.running);
    let said = stopped.notice.clone().unwrap_or_else(|| "".into());
    assert!(said.starts_with("Stopped before generation"), "{said}");
    all_at(&session, &setup, 0);
}
