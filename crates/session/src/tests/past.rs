//! Edits that come while rounds go on as fast as they can.

use super::*;
use engine::kernels::KERNELS;

fn copy(session: &Session, instance: usize) -> Lattice {
    let copy = session.copy(instance).recv_timeout(TIMEOUT);
    let (lattice, _) = copy.unwrap_or_else(|why| panic!("{why}: {:#?}", session.status()));
    (*lattice).clone()
}

/// Where nothing is born and nothing dies, what lives is what was drawn: at whatever speed.
#[test]
fn no_edit_is_lost_and_none_overtakes_another_while_it_runs() {
    let size = Size::new(128, 70).unwrap();
    for kernel in KERNELS.iter().filter(|kernel| kernel.supports(size)) {
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
        assert_eq!(copy(&session, 0), want, "{}", kernel.name);
        let other = soup(size, 0.4, 3, 1);
        assert_eq!(copy(&session, 1), other, "{}", kernel.name);
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
fn an_opened_pattern_starts_paused_at_its_generation_beside_the_other_lattices() {
    let size = Size::new(64, 48).unwrap();
    for opened in [size, Size::new(100, 60).unwrap()] {
        let session = Session::start(setup(2, size), || {}).unwrap();
        wait_for(&session, "rounds", |status| status.clock.generation > 3);
        let pattern = Arc::new(soup(opened, 0.3, 9, 0));
        session.open_pattern(1, pattern.clone(), 2);
        wait_for(&session, "the pattern", |status| {
            !status.clock.running && status.clock.generation == 2
        });
        assert_eq!(copy(&session, 1), *pattern);
        let other = copy(&session, 0);
        session.act(SessionAction::Undo);
        wait_for(&session, "undone", |status| status.clock.generation > 3);
        assert_eq!(copy(&session, 0).resized(opened).unwrap(), other);
    }
}
