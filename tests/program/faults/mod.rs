//! The campaign of driver faults: functions of the driver × what they answer × which of their calls does
//! so, while `run` and sessions without a window step lattices (`program.rs`), and in the middle of
//! whatever a session does (`session.rs`). Each goes on without a wrong cell, or it ends in a sentence, and
//! soon; what it saves is right in either case.
//!
//! A part of the campaign is always run; `scripts/test faults` runs all of it, and prints totals.

mod activities;
mod program;
mod session;

/// The functions that the program calls from the opening of a device to its end.
const CALLS: [&str; 40] = [
    "cuInit",
    "cuDevicePrimaryCtxRetain",
    "cuCtxSetCurrent",
    "cuCtxGetStreamPriorityRange",
    "cuCtxSynchronize",
    "cuStreamCreateWithPriority",
    "cuStreamDestroy_v2",
    "cuStreamWaitEvent",
    "cuStreamBeginCapture_v2",
    "cuStreamEndCapture",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventRecord",
    "cuEventRecordWithFlags",
    "cuEventQuery",
    "cuEventSynchronize",
    "cuEventElapsedTime",
    "cuModuleLoadDataEx",
    "cuModuleGetFunction",
    "cuModuleUnload",
    "cuMemGetInfo_v2",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemFreeHost",
    "cuMemsetD8Async",
    "cuMemsetD32_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyHtoD_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoH_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpy2DAsync_v2",
    "cuMemcpyPeerAsync",
    "cuLaunchKernel",
    "cuGraphInstantiateWithFlags",
    "cuGraphUpload",
    "cuGraphLaunch",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
];

/// What a call answers.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Answer {
    code: u32,
    /// Whether the context ends with it, so that every later call answers the same.
    ends_context: bool,
}

const fn once(code: u32) -> Answer {
    Answer {
        code,
        ends_context: false,
    }
}

const fn lost(code: u32) -> Answer {
    Answer {
        code,
        ends_context: true,
    }
}

/// Out of memory, arguments and handles that are refused, and errors that a context does not
/// survive, whether the driver says so once or from then on.
const ANSWERS: [Answer; 8] = [
    once(1),
    once(2),
    once(400),
    once(700),
    once(999),
    lost(700),
    lost(719),
    lost(999),
];

/// How the driver is told that after so many good ones, so many calls of a function answer this.
fn fault(call: &str, answer: Answer, after: u32, count: i32) -> String {
    let how = if answer.ends_context { ":lost" } else { "" };
    format!("{call}:{}:{after}:{count}{how}", answer.code)
}
