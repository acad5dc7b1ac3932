//! The WHILE node of a graph: its body runs again and again, without the host, while a value on the
//! device is not 0.

use cuda_loader::newer::{
    ConditionalNodeParams, cuGraphAddNode, cuGraphConditionalHandleCreate,
    cuStreamBeginCaptureToGraph,
};
use cust::sys::{self, CUstreamCaptureMode};

use super::driver::check;
use crate::Result;

/// A WHILE node, whose graph owns its body.
pub(super) struct WhileNode {
    handle: u64,
    body: sys::CUgraph,
}

impl WhileNode {
    /// Adds a node to the graph that is being captured from a stream, after what was captured so far.
    pub(super) fn add(stream: sys::CUstream, context: sys::CUcontext) -> Result<WhileNode> {
        let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        let (mut id, mut graph) = (0, std::ptr::null_mut());
        let (mut before, mut count) = (std::ptr::null(), 0);
        // SAFETY: all are valid for the write; the stream is alive.
        check("cuStreamGetCaptureInfo", unsafe {
            sys::cuStreamGetCaptureInfo_v2(
                stream,
                &mut status,
                &mut id,
                &mut graph,
                &mut before,
                &mut count,
            )
        })?;
        let mut handle = 0;
        // The value is 1 whenever the graph starts, so the body runs at least once.
        // SAFETY: `handle` is valid for the write; the graph is the one that is being captured.
        check("cuGraphConditionalHandleCreate", unsafe {
            cuGraphConditionalHandleCreate(&mut handle, graph, context, 1, 1)
        })?;
        let mut parameters = ConditionalNodeParams::of_while(handle, context);
        let mut node = std::ptr::null_mut();
        // SAFETY: `node` is valid for the write, `before` for `count` nodes; the driver writes to
        // `parameters` where it keeps the body.
        check("cuGraphAddNode", unsafe {
            cuGraphAddNode(&mut node, graph, before, count, &mut parameters)
        })?;
        // SAFETY: the node was just added to the graph. 1 is CU_STREAM_SET_CAPTURE_DEPENDENCIES.
        check("cuStreamUpdateCaptureDependencies", unsafe {
            sys::cuStreamUpdateCaptureDependencies(stream, &mut node, 1, 1)
        })?;
        // SAFETY: the driver has written the address of one graph.
        let body = unsafe { *parameters.bodies };
        Ok(WhileNode { handle, body })
    }

    /// The value that kernels set by `cudaGraphSetConditional`.
    pub(super) fn handle(&self) -> u64 {
        self.handle
    }

    /// Captures what `issue` issues to an idle stream as the body.
    pub(super) fn capture_body(
        &self,
        stream: sys::CUstream,
        issue: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let (none, mode) = (
            std::ptr::null(),
            CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED,
        );
        // SAFETY: stream and body are alive; the body has no nodes, so nothing comes before.
        check("cuStreamBeginCaptureToGraph", unsafe {
            cuStreamBeginCaptureToGraph(stream, self.body, none, std::ptr::null(), 0, mode)
        })?;
        let issued = issue();
        let mut body = std::ptr::null_mut();
        // SAFETY: `body` is valid for the write. It is the node's own, which nobody else destroys.
        let ended = check("cuStreamEndCapture", unsafe {
            sys::cuStreamEndCapture(stream, &mut body)
        });
        issued.and(ended)
    }
}
