// Reads %globaltimer between two events, to relate block timestamps to the events' clock.
//
// Launch: one thread.
#include "../life.cuh"

extern "C" __global__ void read_clock(unsigned long long* now)
{
    *now = global_timer();
}
