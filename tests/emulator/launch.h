// The emulator's C interface, for the fake driver and for tests.
#pragma once
#include <stddef.h>

enum {
    EMULATOR_OK = 0,
    EMULATOR_NO_SUCH_KERNEL = 1,
    EMULATOR_DEADLOCK = 2,       // threads wait for others that wait elsewhere or are gone
    EMULATOR_SHARED_OVERRUN = 3, // a write behind the dynamic shared memory asked for
    EMULATOR_BAD_SHAPE = 4,      // a cooperative launch whose blocks are not of whole warps
};

extern "C" {
// The kernel of this name, or null; of its parameters how many, their sizes, and which are
// pointers, where there is an address to write that to.
const void* emulator_find(const char* symbol, const size_t** sizes, const bool** pointers,
                          size_t* count);
// In a cooperative launch the blocks of a row of the grid run at the same time; else one by one.
int emulator_run(const void* kernel, const unsigned grid[3], const unsigned block[3],
                 unsigned shared_size, bool cooperative, void** parameters);
int emulator_launch(const char* symbol, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                    unsigned by, unsigned bz, unsigned shared_size, bool cooperative,
                    void** parameters);
}
