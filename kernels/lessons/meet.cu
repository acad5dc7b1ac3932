// Launches that end only when all of them run at once: the proof that streams do overlap.
//
// Each enters by adding 1 to a counter and then waits for the others to have done so, but not for
// ever: what comes one after the other must end, too, and say so.
//
// Launch: one block of one thread, in as many streams as are wanted.
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
