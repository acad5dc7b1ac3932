//! Edits, undo, run-to and the clock together: the combinations that once went wrong.

use super::*;
use crate::log::Content;
use engine::kernels::KERNELS;

const SIZE: (u64, u64) = (40, 24);

fn standing(history_bytes: u64) -> (Session, Setup) {
    let setup = Setup {
        rounds: Some(0),
        time: TimeSettings {
            history_bytes,
            ..TimeSettings::DEFAULT
        },
        ..setup(2, Size::new(SIZE.0, SIZE.1).unwrap())
    };
    (Session::start(setup.clone(), || {}).unwrap(), setup)
}

fn clear(session: &Session, instance: usize) {
    let size = session.status().lattices.size;
    session.edit(Edit {
        instance,
        change: Change::Clear(Area::whole(size)),
        continues_stroke: false,
    });
}

fn dot(x: u32, y: u32) -> Change {
    Change::Draw {
        cells: [[x, y]].into(),
        alive: true,
    }
}

fn copy(session: &Session, instance: usize) -> (Lattice, u64) {
    let copy = session.copy(instance).recv_timeout(TIMEOUT);
    let (lattice, generation) = copy.unwrap_or_else(|why| panic!("{why}: {:#?}", session.status()));
    ((*lattice).clone(), generation)
}

/// An instance of a setup, this many generations after its start.
fn later(setup: &Setup, instance: usize, generation: u64) -> (Lattice, u64) {
    let start = simulation::start_lattice(&setup.start, setup.size, instance).unwrap();
    (reference::run(&start, setup.rule, generation), generation)
}

fn run_to(session: &Session, generation: u64) {
    session.act(SessionAction::RunTo(generation));
    wait_for(session, "a generation", |status| {
        status.clock.generation == generation && !status.clock.running
    });
}

fn says(session: &Session, sentence: &str) {
    wait_for(session, sentence, |status| {
        status.notice.as_deref() == Some(sentence)
    });
}

#[test]
fn run_to_after_undo_stands_where_it_says_and_nothing_is_cleared_again() {
    for history_bytes in [TimeSettings::DEFAULT.history_bytes, 0] {
        let (session, setup) = standing(history_bytes);
        run_to(&session, 400);
        clear(&session, 0);
        run_to(&session, 900);
        assert_eq!(copy(&session, 0), (Lattice::new(setup.size), 900));
        session.act(SessionAction::Undo);
        says(&session, "Back to generation 400, just after the last edit");
        assert_eq!(copy(&session, 0), (Lattice::new(setup.size), 400));
        session.act(SessionAction::Undo);
        says(&session, "Undone: the last edit; at generation 400");
        assert_eq!(copy(&session, 0), later(&setup, 0, 400));
        session.act(SessionAction::RunTo(100));
        says(&session, "Back to generation 100");
        for instance in 0..2 {
            assert_eq!(copy(&session, instance), later(&setup, instance, 100));
        }
        // It is not cleared again on the way forth.
        run_to(&session, 900);
        assert_eq!(copy(&session, 0), later(&setup, 0, 900));
    }
}

/// Rounds back and new seeds: what is saved is one seed with its own cells.
#[test]
fn a_new_seed_between_steps_back_is_saved_with_its_own_cells() {
    let (session, setup) = standing(TimeSettings::DEFAULT.history_bytes);
    run_to(&session, 30);
    for action in [
        SessionAction::StepRoundBack,
        SessionAction::NewSeed,
        SessionAction::NewSeed,
        SessionAction::StepRoundBack,
    ] {
        session.act(action);
    }
    let saved = session.saved().recv_timeout(TIMEOUT).unwrap();
    let Start::Soup { density, seed, .. } = saved.setup.start else {
        panic!("{:?}", saved.setup.start);
    };
    assert_eq!(seed, 5, "two after the first");
    let (position, lattices) = &saved.main.newest;
    assert_eq!(*position, saved.main.position);
    assert_eq!(position.generation, 0);
    for (i, lattice) in (0..).zip(lattices) {
        assert!(**lattice == soup(setup.size, density, seed, i), "{i}");
    }
    wait_for(&session, "its seed", |status| {
        status.lattices.seed == Some(seed)
    });
}

/// Drawn while it runs: every segment is on the log, at the generation where it happened, and
/// the stroke is undone as one.
#[test]
fn drawing_while_it_runs_loses_nothing() {
    let size = Size::new(SIZE.0, SIZE.1).unwrap();
    let setup = Setup {
        pace: Pace::PerSecond(2000.0),
        ..setup(2, size)
    };
    let session = Session::start(setup.clone(), || {}).unwrap();
    let mut last = 0;
    for i in 0..60u32 {
        last = session.edit(Edit {
            instance: 0,
            change: dot(i % 40, i % 24),
            continues_stroke: i > 0,
        });
        if i % 7 == 0 {
            std::thread::sleep(Duration::from_millis(3));
        }
    }
    session.act(SessionAction::TogglePause);
    let saved = session.saved().recv_timeout(TIMEOUT).unwrap();
    assert_eq!(last, 60);
    let records: Vec<_> = saved.main.log.records().collect();
    assert_eq!(records.len(), 60);
    assert!(
        records
            .iter()
            .all(|record| record.entry == records[0].entry)
    );
    let apart = records
        .windows(2)
        .filter(|two| two[0].generation < two[1].generation);
    assert!(apart.count() > 0, "it ran meanwhile");
    let start = simulation::start_lattice(&setup.start, size, 0).unwrap();
    let (mut lattice, mut now) = ((*start).clone(), 0);
    for record in &records {
        lattice = reference::run(&lattice, setup.rule, record.generation - now);
        now = record.generation;
        let Content::Cells { cells, .. } = &record.content else {
            panic!("{record:?}");
        };
        let mut after = Arc::new(lattice);
        let parameters = saved.main.log.base_parameters();
        cells.apply(parameters, 0, &mut after).unwrap();
        lattice = (*after).clone();
    }
    let (position, lattices) = &saved.main.newest;
    lattice = reference::run(&lattice, setup.rule, position.generation - now);
    assert!(*lattices[0] == lattice);
    let first = records[0].generation;
    session.act(SessionAction::StepGeneration); // past the stroke
    session.act(SessionAction::Undo);
    session.act(SessionAction::Undo);
    says(
        &session,
        &format!("Undone: the last edit; at generation {first}"),
    );
    assert_eq!(copy(&session, 0), later(&setup, 0, first));
}

/// Space stops a long way back, and what lies ahead is met again.
#[test]
fn a_long_way_back_is_stopped_by_space() {
    let size = Size::new(1024, 512).unwrap();
    let setup = Setup {
        rounds: Some(0),
        time: TimeSettings {
            history_bytes: 0,
            ..TimeSettings::DEFAULT
        },
        ..setup(2, size)
    };
    let session = Session::start(setup, || {}).unwrap();
    run_to(&session, 3000);
    session.act(SessionAction::StepBack);
    wait_for(&session, "the way back", |status| {
        (1..2900).contains(&status.clock.generation)
    });
    session.act(SessionAction::TogglePause);
    let stopped = wait_for(&session, "a stop", |status| {
        status
            .notice
            .as_deref()
            .is_some_and(|it| it.starts_with("Stopped at generation"))
    });
    assert!(!stopped.clock.running && stopped.clock.generation < 2999);
    let at = stopped.clock.generation;
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(session.status().clock.generation, at);
}

/// Where nothing is born and nothing dies, what lives is what was drawn: at whatever speed.
#[test]
fn no_edit_is_lost_and_none_overtakes_another_while_it_runs() {
    let size = Size::new(128, 70).unwrap();
    for kernel in KERNELS
        .iter()
        .filter(|kernel| kernel.validate_size(size).is_ok())
    {
        let mut setup = setup(3, size);
        setup.rule = "B/S012345678".parse().unwrap();
        setup.kernel = kernel;
        setup.pace = Pace::Unthrottled;
        setup.generations_per_round = 3;
        let session = Session::start(setup, || {}).unwrap();
        let mut want = soup(size, 0.4, 3, 0);
        let mut numbers = Vec::new();
        for i in 0..120u32 {
            let change = match i % 12 {
                5 => Change::Clear(Area::spanned([i, 3], [i / 2, 60])),
                7 => Change::Flip {
                    area: Area::whole(size),
                    horizontal: i % 2 == 0,
                },
                _ => Change::Draw {
                    cells: [[i * 7 % 128, i * 3 % 70], [i, i % 70]].into(),
                    alive: i % 3 > 0,
                },
            };
            want = change.apply(&want);
            numbers.push(session.edit(Edit {
                instance: 0,
                change,
                continues_stroke: i % 4 > 0,
            }));
        }
        assert!(numbers.is_sorted());
        assert_eq!(copy(&session, 0).0, want, "{}", kernel.name);
        let other = soup(size, 0.4, 3, 1);
        assert_eq!(copy(&session, 1).0, other, "{}", kernel.name);
        // The window learns from its pictures that all have been done.
        let began = Instant::now();
        let (mut seen, mut shown) = (vec![0; 3], 0);
        while shown < *numbers.last().unwrap() {
            assert!(began.elapsed() < TIMEOUT, "{shown} of {numbers:?}");
            let pictures = session.pictures();
            pictures.visit_newer(&mut seen, &mut |instance, picture, words| {
                if instance == 0 {
                    shown = picture.edits;
                    if shown == *numbers.last().unwrap() {
                        assert_eq!(words, want.words(), "{}", kernel.name);
                    }
                }
            });
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
