//! Functions that are newer than `cust_raw`, as CUDA 12.4 declares them. Drivers may lack them:
//! [`has`](super::has) tells.

use super::*;

macro_rules! forward_newer {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        /// Names of the functions.
        pub const FUNCTIONS: &[&str] = &[$(stringify!($name)),*];
        $(
            pub unsafe fn $name($($arg: $ty),*) -> CUresult {
                call_driver!($name($($arg: $ty),*))
            }
        )*
    };
}

forward_newer! {
    fn cuGraphConditionalHandleCreate(pHandle_out: *mut u64, hGraph: CUgraph, ctx: CUcontext, defaultLaunchValue: c_uint, flags: c_uint);
    fn cuGraphAddNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *mut ConditionalNodeParams);
    fn cuStreamBeginCaptureToGraph(hStream: CUstream, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const c_void, numDependencies: usize, mode: CUstreamCaptureMode);
}

/// `CUgraphNodeParams` of a conditional node.
#[repr(C)]
pub struct ConditionalNodeParams {
    kind: c_int,
    reserved: [c_int; 3],
    handle: u64,
    condition: c_int,
    count: c_uint,
    /// The graphs of its bodies, written by the driver.
    pub bodies: *mut CUgraph,
    context: CUcontext,
    /// What nodes of other kinds have.
    rest: [u64; 26],
}

impl ConditionalNodeParams {
    /// A node whose body runs while the value of `handle` is not 0.
    pub fn of_while(handle: u64, context: CUcontext) -> ConditionalNodeParams {
        ConditionalNodeParams {
            kind: 13, // CU_GRAPH_NODE_TYPE_CONDITIONAL
            reserved: [0; 3],
            handle,
            condition: 1, // CU_GRAPH_COND_TYPE_WHILE
            count: 1,
            bodies: std::ptr::null_mut(),
            context,
            rest: [0; 26],
        }
    }
}

const _: () = assert!(size_of::<ConditionalNodeParams>() == 256);
