//! A CUDA error that the context does not survive, in the middle of a session: the engine is made
//! anew, and every lattice goes on from a checkpoint without a wrong cell.
#![allow(unsafe_code)] // the environment is set before any other thread is there

mod driver;

use std::time::{Duration, Instant};

use engine::kernels;
use life::{Lattice, Rule, Size, reference, soup};
use model::KernelChoice;
use model::{Action, DeviceChoice, Pace, Setup, Start, Switches, TimeSettings};
use session::Session;

const INSTANCES: usize = 3;

#[test]
fn every_lattice_goes_on_from_the_checkpoint() {
    // SAFETY: this program has this one test, and it has started nothing yet.
    unsafe {
        std::env::set_var("LIFESTREAMS_LIBCUDA", driver::library());
        // Launches: beyond the first checkpoints, which are a second apart.
        std::env::set_var("FAKE_CUDA_FAIL_AFTER", "700");
        std::env::set_var("FAKE_CUDA_RECOVERS", "1");
    }
    let size = Size::new(45, 37).unwrap();
    let setup = Setup {
        instances: INSTANCES,
        size,
        rule: Rule::LIFE,
        start: Start::Soup {
            density: 0.4,
            seed: 11,
        },
        kernel: kernels::find("bits").unwrap(),
        kernel_choice: KernelChoice::Asked,
        device: DeviceChoice::CudaOrdinal(0),
        switches: Switches::DEFAULT,
        generations_per_round: 1,
        pace: Pace::PerSecond(100.0),
        rounds: None,
        time: TimeSettings::DEFAULT,
    };
    let session = Session::start(setup, || {}).unwrap();
    let restored = wait_for("the engine to be made anew", || {
        session
            .status()
            .notice
            .clone()
            .filter(|notice| notice.contains("was restored"))
    });
    assert!(
        !restored.contains("from generation 0 "),
        "no checkpoint was used: {restored}"
    );
    assert!(restored.contains("on the same device"), "{restored}");

    let then = session.status().generation;
    wait_for("rounds to go on", || {
        (session.status().generation > then + 20).then_some(())
    });
    session.act(Action::TogglePause);
    wait_for("the pause", || (!session.status().running).then_some(()));
    let at = session.status().generation;

    let mut seen = [0; INSTANCES];
    let mut compared = [None; INSTANCES];
    wait_for("the last pictures", || {
        session
            .pictures()
            .visit_newer(&mut seen, &mut |instance, picture, words| {
                let start = soup(size, 0.4, 11, instance as u64);
                let want = reference::run(&start, Rule::LIFE, picture.generation);
                let got = Lattice::from_words(size, words[..size.words()].to_vec());
                assert_eq!(
                    got, want,
                    "instance {instance} at generation {}",
                    picture.generation
                );
                compared[instance] = Some(picture.generation);
            });
        compared
            .iter()
            .all(|generation| *generation == Some(at))
            .then_some(())
    });
}

fn wait_for<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ready() {
            return answer;
        }
        assert!(
            began.elapsed() < Duration::from_secs(240),
            "waited for {what} in vain"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}
