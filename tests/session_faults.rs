//! Faults of the driver in whatever a session does: each session goes on, or ends in a sentence,
//! and what it saves is, cell by cell, what its log says. Where one of two GPUs is lost, each
//! session goes on with the other.
#![allow(unsafe_code)] // the environment is set before any other thread is there

#[path = "common/activities.rs"]
mod activities;
mod driver;

use std::ffi::CString;

use activities::{ACTIVITIES, Activity, act, check, prepare, session, settled, wait_for};
use libloading::Library;
use life::Size;
use model::{DeviceChoice, SessionAction};

/// The calls that a session makes, each with the codes that it answers: out of memory, and an
/// error that a context does not survive.
const FAULTS: [(&str, &[i32]); 11] = [
    ("cuLaunchKernel", &[2, 700]),
    ("cuMemcpyDtoHAsync_v2", &[2, 700]),
    ("cuMemcpyHtoDAsync_v2", &[2, 700]),
    ("cuMemcpyHtoD_v2", &[2, 700]),
    ("cuEventRecord", &[2, 700]),
    ("cuEventQuery", &[2, 700]),
    ("cuStreamWaitEvent", &[2, 700]),
    ("cuMemAlloc_v2", &[2]),
    ("cuMemHostAlloc", &[2]),
    ("cuGraphLaunch", &[2, 700]),
    ("cuGraphInstantiate_v2", &[2]),
];

/// The fake driver in this process.
struct Driver(Library);

impl Driver {
    fn start() -> Driver {
        let path = driver::library();
        // SAFETY: this program has this one test, and it has started nothing yet.
        unsafe {
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
        unsafe {
            let arm = self
                .0
                .get::<unsafe extern "C" fn(*const std::ffi::c_char) -> i32>(b"fake_cuda_arm\0");
            arm.unwrap()(text.as_ptr()) != 0
        }
    }

    /// Takes a device away, or gives all back with -1.
    fn lose(&self, device: i32) {
        // SAFETY: the function takes a number.
        unsafe {
            let lose = self
                .0
                .get::<unsafe extern "C" fn(i32) -> i32>(b"fake_cuda_lose\0");
            lose.unwrap()(device);
        }
    }
}

#[test]
fn no_fault_of_the_driver_loses_or_changes_a_cell() {
    let driver = Driver::start();
    ACTIVITIES.into_iter().for_each(do_without_a_fault);
    let (mut struck, mut ended, mut all) = (0, 0, 0);
    for activity in ACTIVITIES {
        for (call, codes) in FAULTS {
            for &code in codes {
                if call.starts_with("cuGraph") != (activity == Activity::Graphs) {
                    continue;
                }
                for after in [0, 5] {
                    let fault = format!("{call}:{code}:{after}:1");
                    let what = format!("{fault} while {activity:?}");
                    let session = session(activity, DeviceChoice::CudaOrdinal(0));
                    prepare(activity, &session);
                    let before = session.status().generation;
                    driver.arm(&fault);
                    act(activity, &session);
                    let (saved, failed) = settled(&session);
                    all += 1;
                    struck += usize::from(driver.arm(""));
                    ended += usize::from(failed.is_some());
                    let saved = saved.unwrap_or_else(|| panic!("{what}: nothing was saved"));
                    check(&what, &saved);
                    // A call that was refused stops the run, and says so.
                    let halted = session.status().halted.is_some();
                    if activity == Activity::RunTo && failed.is_none() && !halted {
                        assert_eq!(saved.main.position.generation, before + 40, "{what}");
                    }
                }
            }
        }
    }
    println!("{all} sessions, {struck} faults struck, {ended} sessions ended by them");
    assert!(struck * 3 > all, "{struck} faults of {all} struck");
    driver.arm("");
    for activity in ACTIVITIES {
        (0..2).for_each(|gpu| lose_one_of_two(&driver, activity, gpu));
    }
}

/// With no fault, a session stays on its GPU and loses nothing: a recovery would hide that an
/// engine was lost for no reason.
fn do_without_a_fault(activity: Activity) {
    let session = session(activity, DeviceChoice::CudaOrdinal(0));
    prepare(activity, &session);
    act(activity, &session);
    let (saved, failed) = settled(&session);
    assert_eq!(failed, None, "{activity:?}");
    let saved = saved.expect("a running session can be saved");
    check(&format!("{activity:?}"), &saved);
    let next = saved.main.position.generation + 1;
    session.act(SessionAction::StepGeneration);
    let status = wait_for("a step", &session, |status| {
        status.failed.is_some() || (!status.running && status.generation >= next)
    });
    assert_eq!(status.failed, None, "{activity:?}");
    assert_eq!(status.engine, "cuda", "{activity:?}: {status:?}");
}

/// A session on two GPUs, one of which is lost for good: it does all that it was asked for on the
/// other, where its lattices can still grow.
fn lose_one_of_two(driver: &Driver, activity: Activity, gpu: i32) {
    let what = format!("GPU {gpu} of 2 lost while {activity:?}");
    let session = session(activity, DeviceChoice::Cuda);
    assert_eq!(session.status().devices.len(), 2, "{what}");
    prepare(activity, &session);
    driver.lose(gpu);
    act(activity, &session);
    let (saved, failed) = settled(&session);
    assert_eq!(failed, None, "{what}");
    check(&what, &saved.expect("a running session can be saved"));
    let size = Size::new(80, 60).unwrap();
    session.grow(size, None);
    let (saved, failed) = settled(&session);
    assert_eq!(failed, None, "{what}");
    let saved = saved.expect("a running session can be saved");
    check(&what, &saved);
    assert_eq!(saved.setup.size, size, "{what}");
    wait_for("the GPU that is left", &session, |status| {
        (status.engine, status.devices.len()) == ("cuda", 1)
    });
    driver.lose(-1);
}
