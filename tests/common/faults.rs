//! The faults of the campaign: which of the driver's functions answer what.
#![allow(dead_code)] // each test program uses its part

/// The functions that the program calls from the opening of a device to its end.
pub(crate) const CALLS: [&str; 40] = [
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
pub(crate) struct Answer {
    pub(crate) code: u32,
    /// Whether the context ends with it, so that every later call answers the same.
    pub(crate) ends_context: bool,
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
pub(crate) const ANSWERS: [Answer; 8] = [
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
pub(crate) fn fault(call: &str, answer: Answer, after: u32, count: i32) -> String {
    let how = if answer.ends_context { ":lost" } else { "" };
    format!("{call}:{}:{after}:{count}{how}", answer.code)
}
