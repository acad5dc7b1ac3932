// The emulator's C interface, for the fake driver and for Rust (crates/workshop/src/emulator.rs).
#pragma once
#include <stddef.h>

enum {
    EMULATOR_OK = 0,
    EMULATOR_NO_SUCH_KERNEL = 1,
    EMULATOR_DEADLOCK = 2,         // threads wait for mail that nobody sends
    EMULATOR_SHARED_OVERRUN = 3,   // a write behind the dynamic shared memory asked for
    EMULATOR_BAD_SHAPE = 4,        // a cooperative launch whose blocks are not of whole warps
    EMULATOR_BARRIER_DIVERGED = 5, // some threads of a block do not come to the barrier of others
    EMULATOR_WARP_DIVERGED = 6,    // some lanes do not come to the exchange of others
    EMULATOR_BAD_ACCESS = 7,       // memory that nobody has
    EMULATOR_BAD_INDEX = 8,        // an array's index, or another trap
    EMULATOR_BAD_DIVISION = 9,     // an integer divided by 0
    EMULATOR_TOO_LONG = 10,        // the launch has run for longer than it may
};

// In which order the threads of a block run, or blocks: whichever comes first until it waits.
enum {
    EMULATOR_ALTERNATING = 0, // threads: forward and backward in turn, by warps or all of them
    EMULATOR_FORWARD = 1,
    EMULATOR_BACKWARD = 2,
    EMULATOR_RANDOM = 3,
};

struct EmulatorLine {
    const char* file; // null: nowhere
    unsigned line;
};

// What ended a launch.
struct EmulatorFault {
    int code;
    EmulatorLine at;    // where some threads wait, or the last line known
    EmulatorLine other; // where others of the block wait; nowhere if those have finished
    unsigned arrived;   // how many wait at the first
    unsigned threads;   // of the block or warp
    unsigned thread[3], block[3];
    const void* address; // of a bad access
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
// What ended the calling thread's last launch that did not answer EMULATOR_OK.
const EmulatorFault* emulator_fault(void);
// The order of the calling thread's next launches.
void emulator_order(int threads, int blocks, unsigned seed);
// Puts a barrier behind the statement of this line in the calling thread's next launches, if the
// line is marked (EMULATOR_MARK); 0 for none.
void emulator_extra_barrier(unsigned line);
// From now on a kernel that crashes, or that runs for so many seconds, ends its launch alone.
void emulator_contain(unsigned seconds);
// Memory of so many bytes with a page before and one behind that nobody may touch; the memory ends
// at the one behind, or begins at the one before. What is over is filled with bytes
// 0xa5, and `room` gets its first byte and how many bytes it has. Null if there is no memory.
void* emulator_allocate(size_t bytes, bool at_end, void** room, size_t* room_bytes);
// Gives the memory back that has this room.
void emulator_free(void* room, size_t room_bytes);
}
