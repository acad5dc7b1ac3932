// What the blocks' clock shows, asked between two events, so that stamps can be brought to the
// clock of the events.
//
// Launch: one thread.
#include "../life.cuh"

extern "C" __global__ void read_clock(unsigned long long* now)
{
    *now = global_timer();
}
