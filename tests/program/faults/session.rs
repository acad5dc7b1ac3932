//! Faults of the driver in whatever a session does: each session goes on, or ends in a sentence,
//! and what it saves is, cell by cell, what its log says. Where one of two GPUs is lost, each
//! session goes on with the other.
#![allow(unsafe_code)] // the environment is set, and the driver's library is called

use super::activities::{
    ACTIVITIES, Activity, GRAPHS, LIMIT, RUN, STEP_BACK, check, generation, session, settled, size,
    stroke, wait_for,
};
use super::{ANSWERS, Answer, CALLS, fault};
use libloading::Library;
use session::SessionAction::{SetSize, StepGeneration};
use session::{DeviceChoice, SavedSession, Session, Split};
use std::ffi::CString;

/// The calls that are always refused for lack of memory here, and lost where there are lattices.
const PART: [&str; 13] = [
    "cuLaunchKernel",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyHtoD_v2",
    "cuMemcpyPeerAsync",
    "cuEventRecord",
    "cuEventQuery",
    "cuStreamWaitEvent",
    "cuMemAlloc_v2",
    "cuMemHostAlloc",
    "cuStreamBeginCapture_v2",
    "cuGraphLaunch",
    "cuGraphInstantiateWithFlags",
];

/// The fake driver in this process.
struct Driver(Library);

impl Driver {
    fn start() -> Driver {
        let path = crate::driver::library();
        // SAFETY: until the library is loaded, nothing here reads the environment but through `std`, which
        // locks it.
        unsafe {
            std::env::set_var("LIFESTREAMS_TEST_TIMEOUT_MS", "1000");
            std::env::set_var("LIFESTREAMS_LIBCUDA", &path);
            std::env::set_var("FAKE_CUDA_RECOVERS", "1");
            std::env::set_var("FAKE_CUDA_DEVICES", "2");
        }
        // SAFETY: our own library.
        Driver(unsafe { Library::new(path) }.unwrap())
    }

    /// Arms a fault, or none; whether the one before has struck.
    fn arm(&self, fault: &str) -> bool {
        let text = CString::new(fault).unwrap();
        // SAFETY: the function takes a text that it copies.
        unsafe { self.call(b"fake_cuda_arm\0", text.as_ptr()) != 0 }
    }

    /// Takes a device away, or gives all back with -1.
    fn lose(&self, device: i32) {
        // SAFETY: the function takes a number.
        unsafe { self.call(b"fake_cuda_lose\0", device) };
    }

    /// # Safety
    /// The function takes this.
    unsafe fn call<T>(&self, function: &[u8], argument: T) -> i32 {
        // SAFETY: as above.
        let function = unsafe { self.0.get::<unsafe extern "C" fn(T) -> i32>(function) };
        // SAFETY: as above.
        unsafe { function.unwrap()(argument) }
    }
}

#[test]
fn no_fault_of_the_driver_loses_or_changes_a_cell() {
    let driver = Driver::start();
    ACTIVITIES.into_iter().for_each(do_without_a_fault);
    let answers = ANSWERS
        .iter()
        .filter(|answer| [2, 700].contains(&answer.code));
    let answers: Vec<_> = answers.filter(|answer| !answer.ends_context).collect();
    let (struck, all) = strike(&driver, &PART, &answers);
    assert!(struck * 3 > all, "{struck} faults of {all} struck");
    for activity in ACTIVITIES {
        for split in [Split::Off, Split::On] {
            (0..2).for_each(|gpu| lose_one_of_two(&driver, activity, gpu, split));
        }
    }
}

/// `scripts/test faults`
#[test]
#[ignore = "takes minutes: scripts/test faults"]
fn the_whole_campaign_in_what_a_session_does() {
    let driver = Driver::start();
    strike(&driver, &CALLS, &ANSWERS.iter().collect::<Vec<_>>());
}

/// Has each of these calls answer so during each activity; how many faults struck, and of how many.
fn strike(driver: &Driver, calls: &[&str], answers: &[&Answer]) -> (usize, usize) {
    let (mut struck, mut ended, mut all) = (0, 0, 0);
    for activity in ACTIVITIES {
        for call in calls {
            let is_of_graphs = call.starts_with("cuGraph") || call.contains("Capture");
            if is_of_graphs != (activity.0 == GRAPHS) {
                continue;
            }
            for &&answer in answers {
                for after in [0, 5] {
                    let fault = fault(call, answer, after, 1);
                    let what = format!("{fault} in {}", activity.0);
                    let session = match *call {
                        "cuMemcpyPeerAsync" => session(activity, DeviceChoice::Cuda, Split::On),
                        _ => session(activity, DeviceChoice::CudaOrdinal(0), Split::Off),
                    };
                    let before = generation(&session);
                    driver.arm(&fault);
                    activity.2(&session);
                    let (saved, failed) = settled(&session);
                    all += 1;
                    struck += usize::from(driver.arm(""));
                    ended += usize::from(failed.is_some());
                    let saved = saved.unwrap_or_else(|| panic!("{what}: nothing was saved"));
                    check(&what, &saved);
                    // A call that was refused stops the run, and says so.
                    let halted = session.status().halted.is_some();
                    if activity.0 == RUN && failed.is_none() && !halted {
                        assert_eq!(saved.timeline.position.generation, before + 40, "{what}");
                    }
                }
            }
        }
    }
    println!("{all} sessions, {struck} faults struck, {ended} sessions ended by them; 0 failed");
    (struck, all)
}

/// What a session saves that has not ended, which is right.
fn unharmed(what: &str, session: &Session) -> SavedSession {
    let (saved, failed) = settled(session);
    assert_eq!(failed, None, "{what}");
    let saved = saved.expect("a running session can be saved");
    check(what, &saved);
    saved
}

/// With no fault, a session stays on its GPU and loses nothing: a recovery would hide that an
/// engine was lost for no reason.
fn do_without_a_fault(activity: Activity) {
    let session = session(activity, DeviceChoice::CudaOrdinal(0), Split::Off);
    activity.2(&session);
    let saved = unharmed(activity.0, &session);
    // The edit waits for the step, and this save waits for both. The first one may have been taken before
    // the steps back were done.
    session.act(StepGeneration);
    stroke(&session, 9);
    let again = session.saved().recv_timeout(LIMIT);
    let again = again.expect("a session that steps can be saved");
    check(activity.0, &again);
    let [before, after] = [&saved, &again].map(|it| it.timeline.position.generation);
    assert!(activity.0 == STEP_BACK || after > before, "{activity:?}");
    assert_eq!(session.status().engine.name, "cuda", "{activity:?}");
}

/// A session on two GPUs, one of which is lost for good: it does all that it was asked for on the
/// other, where its lattices can still grow.
fn lose_one_of_two(driver: &Driver, activity: Activity, gpu: i32, split: Split) {
    let what = format!("GPU {gpu} of 2 lost in {}, split: {split:?}", activity.0);
    let session = session(activity, DeviceChoice::Cuda, split);
    assert_eq!(session.status().engine.devices.len(), 2, "{what}");
    driver.lose(gpu);
    activity.2(&session);
    unharmed(&what, &session);
    session.act(SetSize(size(80, 60)));
    assert_eq!(unharmed(&what, &session).setup.size, size(80, 60), "{what}");
    wait_for("the GPU that is left", &session, |status| {
        (status.engine.name, status.engine.devices.len()) == ("cuda", 1)
    });
    driver.lose(-1);
}
