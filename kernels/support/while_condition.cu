// Decides on the device whether the WHILE node of a graph runs its body again.
//
// Launch: one thread, as the last node of the body. The body leaves `state[0]` different from 0 to run
// again, `most` times at most; `state[1]` counts the runs.
#include "../life.cuh"

// The driver has this function, and puts it in when it compiles the PTX (from CUDA 12.4 on).
extern "C" __device__ void cudaGraphSetConditional(u64 handle, unsigned value);

extern "C" __global__ void while_condition(u64 handle, unsigned* state, unsigned most)
{
    const unsigned runs = ++state[1];
    cudaGraphSetConditional(handle, state[0] && runs < most);
    state[0] = 0;
}
