//! Edits of a running and of a standing session: in order, exact, none lost, and undone.

use proptest::prelude::*;

use super::*;
use engine::kernels::KERNELS;

/// A lattice as it is once everything asked for before is done.
fn copy(session: &Session, instance: usize) -> (Arc<Lattice>, u64) {
    let copy = session.copy(instance).recv_timeout(TIMEOUT);
    copy.unwrap_or_else(|why| panic!("{why}: {:#?}", session.status()))
}

fn edit(session: &Session, change: Change) -> u64 {
    session.edit(Edit {
        instance: 0,
        change,
        continues_stroke: false,
    })
}

fn draw(cells: &[[u32; 2]], alive: bool) -> Change {
    Change::Draw {
        cells: cells.into(),
        alive,
    }
}

/// One that stands still.
fn paused(kernel: &'static engine::Kernel, size: Size) -> Setup {
    Setup {
        kernel,
        rounds: Some(0),
        ..setup(2, size)
    }
}

fn changes(size: Size) -> impl Strategy<Value = Change> {
    let (width, height) = (size.width(), size.height());
    let cell = move || (0..width, 0..height).prop_map(|(x, y)| [x, y]);
    let area = move || (cell(), cell()).prop_map(|(a, b)| Area::spanned(a, b));
    let pattern = move |seed| {
        let side = |side: u32| 1..=u64::from(side);
        (side(width), side(height)).prop_map(move |(wide, high)| {
            Arc::new(soup(Size::new(wide, high).unwrap(), 0.4, seed, 9))
        })
    };
    prop_oneof![
        (prop::collection::vec(cell(), 1..20), any::<bool>())
            .prop_map(|(cells, alive)| draw(&cells, alive)),
        (any::<u64>().prop_flat_map(pattern), cell(), any::<bool>()).prop_map(
            |(pattern, at, overwrites_dead)| Change::Place {
                pattern,
                at,
                overwrites_dead
            }
        ),
        area().prop_map(Change::Clear),
        (area(), 0f64..1.0, any::<u64>()).prop_map(|(area, density, seed)| Change::Fill {
            area,
            density,
            seed
        }),
        (area(), any::<bool>()).prop_map(|(area, horizontal)| Change::Flip { area, horizontal }),
        (area(), any::<bool>()).prop_map(|(area, clockwise)| Change::Rotate { area, clockwise }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    /// Edits with generations between them, all undone, all done again; in every layout.
    #[test]
    fn what_is_edited_is_exact_and_comes_back(
        (size, edits) in (1u64..140, 1u64..40, any::<bool>()).prop_flat_map(|(width, height, whole)| {
            let width = if whole { 128 } else { width };
            let size = Size::new(width, height).unwrap();
            (Just(size), prop::collection::vec((changes(size), any::<bool>()), 1..7))
        }),
    ) {
        for kernel in KERNELS.iter().filter(|kernel| kernel.validate_size(size).is_ok()) {
            let session = Session::start(paused(kernel, size), || {}).unwrap();
            let mut now = (soup(size, 0.4, 3, 0), 0);
            // Where undo leads: before each edit, and just after it where a step followed.
            let mut trail = Vec::new();
            let mut stepped = true;
            for (change, steps) in &edits {
                if stepped {
                    trail.push(now.clone());
                }
                edit(&session, change.clone());
                now.0 = change.apply(&now.0);
                trail.push(now.clone());
                stepped = *steps;
                if stepped {
                    session.act(SessionAction::StepGeneration);
                    copy(&session, 0); // so that none of the keys is one too many
                    now = (reference::run(&now.0, Rule::LIFE, 1), now.1 + 1);
                }
            }
            if stepped {
                trail.push(now);
            }
            let check = |want: &(Lattice, u64), what: &str| {
                let (lattice, of) = copy(&session, 0);
                prop_assert_eq!((&*lattice, of), (&want.0, want.1), "{}, {}", what, kernel.name);
                Ok(())
            };
            check(trail.last().expect("there was an edit"), "edited")?;
            let generation = trail.last().map_or(0, |last| last.1);
            let untouched = reference::run(&soup(size, 0.4, 3, 1), Rule::LIFE, generation);
            prop_assert_eq!(&*copy(&session, 1).0, &untouched);
            for want in trail.iter().rev().skip(1) {
                session.act(SessionAction::Undo);
                check(want, "undone")?;
            }
            for want in trail.iter().skip(1) {
                session.act(SessionAction::Redo);
                check(want, "redone")?;
            }
        }
    }
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
                _ => draw(&[[i * 7 % 128, i * 3 % 70], [i, i % 70]], i % 3 > 0),
            };
            want = change.apply(&want);
            numbers.push(session.edit(Edit {
                instance: 0,
                change,
                continues_stroke: i % 4 > 0,
            }));
        }
        assert!(numbers.is_sorted());
        let (lattice, _) = copy(&session, 0);
        assert_eq!(*lattice, want, "{}", kernel.name);
        let (other, _) = copy(&session, 1);
        assert_eq!(*other, soup(size, 0.4, 3, 1), "{}", kernel.name);
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

#[test]
fn an_edit_of_a_standing_lattice_is_shown_and_undoing_goes_back_in_generations() {
    let size = Size::new(40, 30).unwrap();
    let kernel = kernels::find("bits").unwrap();
    let session = Session::start(paused(kernel, size), || {}).unwrap();
    let start = soup(size, 0.4, 3, 0);
    edit(&session, Change::Clear(Area::whole(size)));
    let glider = [[1, 0], [2, 1], [0, 2], [1, 2], [2, 2]];
    edit(&session, draw(&glider, true));
    for _ in 0..4 {
        session.act(SessionAction::StepGeneration);
        copy(&session, 0); // so that none of the keys is one too many
    }
    let moved = glider.map(|[x, y]| [x + 1, y + 1]);
    let want = draw(&moved, true).apply(&Lattice::new(size));
    assert_eq!(copy(&session, 0), (Arc::new(want.clone()), 4));
    let drawn = draw(&glider, true).apply(&Lattice::new(size));
    session.act(SessionAction::Undo);
    assert_eq!(copy(&session, 0), (Arc::new(drawn), 0), "just after it");
    session.act(SessionAction::Undo);
    assert_eq!(copy(&session, 0), (Arc::new(Lattice::new(size)), 0));
    session.act(SessionAction::Undo);
    assert_eq!(copy(&session, 0), (Arc::new(start.clone()), 0));
    session.act(SessionAction::Undo); // there is nothing more
    wait_for(&session, "a word of that", |status| {
        status.notice.as_deref() == Some("Nothing to undo")
    });
    for _ in 0..3 {
        session.act(SessionAction::Redo);
    }
    assert_eq!(copy(&session, 0), (Arc::new(want), 4));
    // Another edit, and what was undone is gone.
    session.act(SessionAction::Undo);
    session.act(SessionAction::Undo);
    edit(&session, draw(&[[5, 5]], true));
    session.act(SessionAction::Redo);
    let want = draw(&[[5, 5]], true).apply(&Lattice::new(size));
    assert_eq!(copy(&session, 0), (Arc::new(want), 0));
    wait_for(&session, "a word of that", |status| {
        status.notice.as_deref() == Some("Nothing to redo")
    });
}

#[test]
fn two_halves_are_edited_alike() {
    let size = Size::new(64, 33).unwrap();
    let session = Session::start(setup(4, size), || {}).unwrap();
    session.act(SessionAction::ToggleComparison);
    wait_for(&session, "comparison", |status| status.comparison.is_some());
    for i in 0..10 {
        edit(&session, draw(&[[i, i], [i + 1, i], [i + 2, i]], true));
    }
    session.act(SessionAction::Undo);
    let (one, at) = copy(&session, 0);
    session.act(SessionAction::TogglePause); // it paused for the undo
    let generation = |status: &Status| status.comparison.clone()?.differing;
    let compared = wait_for(&session, "a comparison", |status| {
        generation(status).is_some_and(|(_, of)| of > at)
    });
    assert_eq!(compared.comparison.clone().unwrap().differing.unwrap().0, 0);
    assert!(one.population() > 0);
}

/// While A and B are compared, what was drawn on one panel is undone on either.
#[test]
fn an_edit_of_either_half_is_undone_on_either() {
    let size = Size::new(64, 33).unwrap();
    let setup = Setup {
        rounds: Some(0),
        ..setup(4, size)
    };
    let session = Session::start(setup, || {}).unwrap();
    session.act(SessionAction::ToggleComparison);
    wait_for(&session, "comparison", |status| status.comparison.is_some());
    let before = copy(&session, 2);
    for (drawn, undone) in [(2, 2), (2, 0), (0, 2)] {
        for change in [
            Change::Clear(Area::whole(size)),
            Change::Flip {
                area: Area::whole(size),
                horizontal: true,
            },
        ] {
            session.edit(Edit {
                instance: drawn,
                change,
                continues_stroke: false,
            });
            assert_ne!(copy(&session, 2).0, before.0, "{drawn} and {undone}");
            session.act(SessionAction::Select(undone));
            session.act(SessionAction::Undo);
            for counterpart in [0, 2] {
                assert_eq!(copy(&session, counterpart), before, "{drawn} and {undone}");
            }
        }
    }
}

/// The way back leads across an edit: to what came behind it, then to what was before.
#[test]
fn the_way_back_crosses_an_edit() {
    let size = Size::new(40, 24).unwrap();
    let setup = paused(kernels::find("bits").unwrap(), size);
    let start = start::start_lattice(&setup.start, size, 0).unwrap();
    let session = Session::start(setup.clone(), || {}).unwrap();
    let step = |wanted: u64| {
        session.act(SessionAction::StepGeneration);
        wait_for(&session, "a step", |status| status.generation == wanted);
    };
    (1..=5).for_each(step);
    edit(&session, draw(&[[3, 4], [4, 4], [5, 4]], true));
    let (edited, _) = copy(&session, 0);
    let mut want = reference::run(&start, setup.rule, 5);
    for x in 3..6 {
        want.set(x, 4, true);
    }
    assert_eq!(*edited, want);
    (6..=9).for_each(step);
    for generation in (2..9).rev() {
        session.act(SessionAction::StepBack);
        wait_for(&session, "a step back", |status| {
            status.generation == generation
        });
        let (lattice, of) = copy(&session, 0);
        let want = match generation {
            5.. => reference::run(&edited, setup.rule, generation - 5),
            _ => reference::run(&start, setup.rule, generation),
        };
        assert_eq!((of, &*lattice), (generation, &want));
    }
}
