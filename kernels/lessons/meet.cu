// Launches that only end when all of them run at the same time: a proof that streams overlap.
//
// Each launch adds 1 to a counter and waits until the others have done so, with a timeout: launches
// that run one after the other must end too, and report it.
//
// Launch: one block of one thread, in `wanted` streams.
#include "../life.cuh"

extern "C" __global__ void meet(unsigned* entered, unsigned wanted, u64 most, unsigned* met)
{
    atomicAdd(entered, 1);
    __threadfence();
    const u64 began = global_timer();
    const volatile unsigned* present = entered; // read from memory every time
    bool all = *present >= wanted;
    while (!all && global_timer() - began < most) all = *present >= wanted;
    *met = all ? 1 : 2;
}
