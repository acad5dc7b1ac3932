// Busy-waits: a launch of a given duration on any device.
//
// Bound: the clock, which steps by 32 ns on an H200 and by up to a microsecond elsewhere.
//
// Launch: any grid of any block. Adds 1 to `done` once per launch.
#include "../life.cuh"

extern "C" __global__ void spin(unsigned* done, u64 nanoseconds)
{
    spin_for(nanoseconds);
    if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(done, 1);
}
