// The functions that this program and its tests reach, by cust and the engine, as cust_raw 0.11.3 declares
// them; what else cust calls is in code that the linker drops. What is missing here does not link, and
// another signature does not compile.
forward! {
    fn cuInit(Flags: c_uint);
    fn cuDriverGetVersion(driverVersion: *mut c_int);
    fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
    fn cuDeviceGetCount(count: *mut c_int);
    fn cuDeviceGetName(name: *mut c_char, len: c_int, dev: CUdevice);
    fn cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice);
    fn cuDeviceGetAttribute(pi: *mut c_int, attrib: CUdevice_attribute, dev: CUdevice);
    fn cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice);
    fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice);
    fn cuCtxCreate_v2(pctx: *mut CUcontext, flags: c_uint, dev: CUdevice);
    fn cuCtxDestroy_v2(ctx: CUcontext);
    fn cuCtxPopCurrent_v2(pctx: *mut CUcontext);
    fn cuCtxSetCurrent(ctx: CUcontext);
    fn cuCtxGetCurrent(pctx: *mut CUcontext);
    fn cuCtxSynchronize();
    fn cuCtxGetStreamPriorityRange(leastPriority: *mut c_int, greatestPriority: *mut c_int);
    fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void);
    fn cuModuleLoadDataEx(module: *mut CUmodule, image: *const c_void, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void);
    fn cuModuleUnload(hmod: CUmodule);
    fn cuModuleGetFunction(hfunc: *mut CUfunction, hmod: CUmodule, name: *const c_char);
    fn cuLinkCreate_v2(numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void, stateOut: *mut CUlinkState);
    fn cuLinkAddData_v2(state: CUlinkState, type_: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void);
    fn cuLinkComplete(state: CUlinkState, cubinOut: *mut *mut c_void, sizeOut: *mut usize);
    fn cuLinkDestroy(state: CUlinkState);
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    fn cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytesize: usize);
    fn cuMemFree_v2(dptr: CUdeviceptr);
    fn cuMemFreeHost(p: *mut c_void);
    fn cuMemHostAlloc(pp: *mut *mut c_void, bytesize: usize, Flags: c_uint);
    fn cuMemAllocAsync(dptr: *mut CUdeviceptr, bytesize: usize, hStream: CUstream);
    fn cuMemFreeAsync(dptr: CUdeviceptr, hStream: CUstream);
    fn cuDeviceGetDefaultMemPool(pool_out: *mut CUmemoryPool, dev: CUdevice);
    fn cuMemPoolSetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void);
    fn cuMemAllocManaged(dptr: *mut CUdeviceptr, bytesize: usize, flags: c_uint);
    fn cuMemAdvise(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, device: CUdevice);
    fn cuMemPrefetchAsync(devPtr: CUdeviceptr, count: usize, dstDevice: CUdevice, hStream: CUstream);
    fn cuDeviceGetPCIBusId(pciBusId: *mut c_char, len: c_int, dev: CUdevice);
    fn cuMemcpyHtoD_v2(dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize);
    fn cuMemcpyDtoH_v2(dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize);
    fn cuMemcpyHtoDAsync_v2(dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize, hStream: CUstream);
    fn cuMemcpyDtoHAsync_v2(dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream);
    fn cuMemcpyDtoDAsync_v2(dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream);
    fn cuMemcpyPeerAsync(dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize, hStream: CUstream);
    fn cuDeviceCanAccessPeer(canAccessPeer: *mut c_int, dev: CUdevice, peerDev: CUdevice);
    fn cuCtxEnablePeerAccess(peerContext: CUcontext, Flags: c_uint);
    fn cuCtxDisablePeerAccess(peerContext: CUcontext);
    fn cuMemcpy2DAsync_v2(pCopy: *const CUDA_MEMCPY2D, hStream: CUstream);
    fn cuMemsetD32_v2(dstDevice: CUdeviceptr, ui: c_uint, N: usize);
    fn cuMemsetD8Async(dstDevice: CUdeviceptr, uc: c_uchar, N: usize, hStream: CUstream);
    fn cuStreamCreateWithPriority(phStream: *mut CUstream, flags: c_uint, priority: c_int);
    fn cuStreamWaitEvent(hStream: CUstream, hEvent: CUevent, Flags: c_uint);
    fn cuStreamBeginCapture_v2(hStream: CUstream, mode: CUstreamCaptureMode);
    fn cuStreamEndCapture(hStream: CUstream, phGraph: *mut CUgraph);
    fn cuStreamSynchronize(hStream: CUstream);
    fn cuLaunchHostFunc(hStream: CUstream, fn_: CUhostFn, userData: *mut c_void);
    fn cuStreamDestroy_v2(hStream: CUstream);
    fn cuEventCreate(phEvent: *mut CUevent, Flags: c_uint);
    fn cuEventRecord(hEvent: CUevent, hStream: CUstream);
    fn cuEventRecordWithFlags(hEvent: CUevent, hStream: CUstream, flags: c_uint);
    fn cuEventQuery(hEvent: CUevent);
    fn cuEventSynchronize(hEvent: CUevent);
    fn cuEventDestroy_v2(hEvent: CUevent);
    fn cuEventElapsedTime(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent);
    fn cuFuncGetAttribute(pi: *mut c_int, attrib: CUfunction_attribute, hfunc: CUfunction);
    fn cuLaunchKernel(f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void, extra: *mut *mut c_void);
    fn cuLaunchCooperativeKernel(f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void);
    fn cuGraphInstantiateWithFlags(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, flags: c_ulonglong);
    fn cuGraphUpload(hGraphExec: CUgraphExec, hStream: CUstream);
    fn cuGraphLaunch(hGraphExec: CUgraphExec, hStream: CUstream);
    fn cuGraphExecDestroy(hGraphExec: CUgraphExec);
    fn cuGraphDestroy(hGraph: CUgraph);
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks: *mut c_int, func: CUfunction, blockSize: c_int, dynamicSMemSize: usize);
}
/// Whether this is a value of cust_raw's `CUresult` (a Rust enum: any other value would be undefined
/// behaviour).
pub(crate) fn is_known(code: u32) -> bool {
    matches!(
        code,
        0..=8 | 34 | 100..=102 | 200..=202 | 205..=224 | 300..=304 | 400..=401 | 500 | 600
            | 700..=705 | 708..=720 | 800..=809 | 900..=911 | 999
    )
}
