//! Loses a real CUDA context in the middle of what a session does, and says whether a cell is wrong.
//!
//!     cargo build --example context_loss
//!     target/debug/examples/context_loss ACTIVITY    the name of one, or `list`
//!
//! A kernel that traps is launched in the context that the session uses. The driver gives a process
//! no context again after that, so each activity is a process of its own.
#![allow(unsafe_code)] // one launch by hand

#[allow(dead_code)] // as much as a fault needs
#[path = "activities.rs"]
mod activities;

use activities::{ACTIVITIES, check, generation, session, settled};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use session::{DeviceChoice, Split};

const TRAP: &str =
    ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry trap_now()\n{\n trap;\n}\n";

/// Has the primary context of the first device lost.
fn lose() {
    let device = cust::device::Device::get_device(0).expect("a device");
    let context = cust::context::Context::new(device).expect("its primary context");
    cust::context::CurrentContext::set_current(&context).expect("it is current");
    let module = Module::from_ptx(TRAP, &[]).expect("the trap");
    let function = module.get_function("trap_now").expect("its kernel");
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).expect("a stream");
    // SAFETY: the kernel has no parameters and touches no memory.
    let launched = unsafe { cust::launch!(function<<<1, 1, 0, stream>>>()) };
    println!("the trap: {launched:?}, {:?}", stream.synchronize());
    // Nothing of a lost context can be given back.
    std::mem::forget((module, stream, context));
}

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(activity) = ACTIVITIES.into_iter().find(|it| it.0 == name) else {
        return ACTIVITIES.iter().for_each(|it| println!("{}", it.0));
    };
    let session = session(activity, DeviceChoice::CudaOrdinal(0), Split::Off);
    let before = generation(&session);
    let loser = std::thread::spawn(lose);
    activity.2(&session);
    loser.join().expect("the context is lost");
    // So that the session has met the loss before it is asked to rest.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let (saved, failed) = settled(&session);
    let saved = saved.expect("something is saved");
    check(&name, &saved);
    let status = session.status();
    println!(
        "{name}: from generation {before} to {} on the {}, every cell right; ended: {failed:?}; {:?}",
        saved.timeline.position.generation, status.engine.name, status.notice
    );
}
