//! Time: what settles is found, and populations are those of the reference.

use super::*;
use crate::log::{CellChange, Content};
use crate::population::Sample;
use life::Shelved;

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

#[test]
fn periods_are_found_by_every_layout() {
    use Settled::{Dead, Period, Repeats, Still};
    let periods = [
        ("blinker", Period(2)),
        ("block", Still),
        ("pulsar", Period(3)),
        ("", Dead),
        ("pentadecathlon", Period(15)),
        ("queen-bee-shuttle", Period(30)),
    ];
    // Measured every tenth generation, it is known that it repeats, not with which period.
    let every_tenth = [
        ("blinker", Repeats(10)),
        ("block", Repeats(10)),
        ("pulsar", Repeats(30)),
    ];
    for (kernel, generations_per_round, wanted) in [
        ("bits", 1, &periods[..]),
        ("planar", 1, &periods),
        ("global", 1, &periods),
        ("sync-shared", 1, &periods),
        ("bits", 10, &every_tenth),
    ] {
        let (names, wanted): (Vec<_>, Vec<_>) = wanted.iter().copied().unzip();
        let setup = Setup {
            generations_per_round,
            ..of_patterns(&names, kernel)
        };
        let session = Session::start(setup, || {}).unwrap();
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
    let size = size(32);
    let mut setup = of_patterns(&["", ""], "planar");
    let density = 0.15;
    setup.start = Start::soup(density, 1);
    setup.time.stop_when_still = StopWhenStill::Never;
    setup.time.reseed = true;
    setup.pace = Pace::PerSecond(500.0);
    let rule = setup.rule;
    let session = Session::start(setup, || {}).unwrap();
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
    let copy = saved.main.copies.last().unwrap();
    let generations = copy.position.generation - at;
    let soup = soup(size, density, seed, instance as u64);
    assert!(*copy.lattice(instance).unwrap() == reference::run(&soup, rule, generations));
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
        let soups = (0..2).map(|i| soup(setup.size, 0.4, 3, i));
        let lattices = soups.map(|soup| reference::run(&soup, Rule::LIFE, generation));
        lattices.map(|it| it.population()).collect::<Vec<_>>()
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
    wait_for(&session, "no measures", |status| {
        status.clock.generation == 61 && status.panels.settled.is_empty()
    });
}
