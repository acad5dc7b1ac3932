// Runs a kernel's threads, each a fiber when it has to wait for others.
//
// A block's threads run one after another on one OS thread, and change only where CUDA C makes
// them wait: __syncthreads and the warp's exchanges. A thread that never waits costs no fiber of
// its own. The order in which threads run is turned round at every step, and every second pair of
// steps lets each warp go as far as it can before another moves: that brings out a missing barrier,
// of which one order alone would show half.
//
// The blocks of a cooperative launch run side by side, each with its barrier and its shared memory.
#include "emulator.h"
#include "launch.h"

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <ucontext.h>
#include <vector>

namespace emulator {

thread_local Place place;

namespace {

Kernel* kernels = nullptr;

enum class State : char { Ready, AtBarrier, AtExchange, Polling, Finished };

constexpr size_t STACK = 32 * 1024;

struct Fiber {
    ucontext_t start;
    jmp_buf at;
    std::unique_ptr<char[]> stack{new char[STACK]};
    unsigned thread = 0; // that it runs
    bool entered = false;
};

struct Thread {
    State state = State::Ready;
    Fiber* fiber = nullptr;
    unsigned given = 0; // to an exchange
    uint3 index, block;
};

struct Block { // or several that run side by side
    const Kernel* kernel;
    void** parameters;
    std::vector<Thread> threads;
    unsigned block_threads; // of each block
    std::vector<unsigned> exchanged; // 32 a warp
    std::vector<std::unique_ptr<Fiber>> fibers;
    std::vector<Fiber*> idle;
    std::vector<std::vector<unsigned char>> shared; // of each block
    jmp_buf scheduler;
    Fiber* running = nullptr;
    bool reversed = false;
    unsigned first = 0, count = 0; // of the threads of this pass
    unsigned turn = 0;             // how many of them it has come past

    unsigned number_of(unsigned i) const { return first + (reversed ? count - 1 - i : i); }
    bool take_next(Fiber* fiber);
    void resume(unsigned number);
    void wait_as(State state);
    int run();
    void pass(unsigned first, unsigned count);
    bool settle_exchange(unsigned warp);
    bool settle_exchanges();
    bool settle_barriers();
    bool settle_polls();
};

thread_local Block block;

constexpr unsigned char POISON = 0xa5;
constexpr size_t GUARD = 64;

// Gives a fiber whose thread has finished the next thread of this step, if that has not begun:
// so a kernel in which nothing waits runs as a plain loop.
bool Block::take_next(Fiber* fiber)
{
    if (turn + 1 >= count) return false;
    const unsigned number = number_of(turn + 1);
    Thread& next = threads[number];
    if (next.state != State::Ready || next.fiber) return false;
    turn++;
    next.fiber = fiber;
    fiber->thread = number;
    place.thread = next.index, place.block = next.block;
    return true;
}

void fiber_main()
{
    for (;;) {
        block.kernel->call(block.parameters);
        Fiber* fiber = block.running;
        block.threads[fiber->thread].state = State::Finished;
        if (block.take_next(fiber)) continue;
        block.idle.push_back(fiber);
        if (!_setjmp(fiber->at)) _longjmp(block.scheduler, 1);
    }
}

// Runs a thread until it waits or has finished.
void Block::resume(unsigned number)
{
    Thread& thread = threads[number];
    if (!thread.fiber) {
        if (idle.empty()) {
            fibers.emplace_back(new Fiber);
            idle.push_back(fibers.back().get());
        }
        thread.fiber = idle.back();
        idle.pop_back();
        thread.fiber->thread = number;
    }
    running = thread.fiber;
    place.thread = thread.index, place.block = thread.block;
    if (_setjmp(scheduler)) return;
    if (running->entered) _longjmp(running->at, 1);
    running->entered = true;
    getcontext(&running->start);
    running->start.uc_stack.ss_sp = running->stack.get();
    running->start.uc_stack.ss_size = STACK;
    running->start.uc_link = nullptr;
    makecontext(&running->start, fiber_main, 0);
    setcontext(&running->start);
}

void Block::wait_as(State state)
{
    Fiber* fiber = running;
    threads[fiber->thread].state = state;
    if (!_setjmp(fiber->at)) _longjmp(scheduler, 1);
}

// Hands out a warp's values where every living lane has given one.
bool Block::settle_exchange(unsigned warp)
{
    const size_t first = warp * 32, end = std::min(first + 32, threads.size());
    bool all = true, one = false;
    for (size_t i = first; i < end; i++) {
        one |= threads[i].state == State::AtExchange;
        all &= threads[i].state == State::AtExchange || threads[i].state == State::Finished;
    }
    if (!one || !all) return false;
    for (size_t i = first; i < end; i++) {
        if (threads[i].state != State::AtExchange) continue;
        exchanged[i] = threads[i].given;
        threads[i].state = State::Ready;
    }
    return true;
}

bool Block::settle_exchanges()
{
    bool any = false;
    for (unsigned warp = 0; warp < (threads.size() + 31) / 32; warp++) any |= settle_exchange(warp);
    return any;
}

// Opens the barrier of each block whose threads have all come to it or finished.
bool Block::settle_barriers()
{
    bool any = false;
    for (size_t first = 0; first < threads.size(); first += block_threads) {
        bool all = true, one = false;
        for (size_t i = first; i < first + block_threads; i++) {
            one |= threads[i].state == State::AtBarrier;
            all &= threads[i].state == State::AtBarrier || threads[i].state == State::Finished;
        }
        if (!one || !all) continue;
        any = true;
        for (size_t i = first; i < first + block_threads; i++)
            if (threads[i].state == State::AtBarrier) threads[i].state = State::Ready;
    }
    return any;
}

// Lets those look again whose mail had not arrived.
bool Block::settle_polls()
{
    bool any = false;
    for (Thread& thread : threads) {
        if (thread.state != State::Polling) continue;
        thread.state = State::Ready;
        any = true;
    }
    return any;
}

// Runs those of so many threads that can.
void Block::pass(unsigned from, unsigned so_many)
{
    first = from, count = so_many;
    for (turn = 0; turn < count; turn++)
        if (threads[number_of(turn)].state == State::Ready) resume(number_of(turn));
}

int Block::run()
{
    const unsigned all = threads.size(), warps = (all + 31) / 32;
    unsigned polls = 0; // in which nothing else went on
    for (unsigned step = 0;; step++) {
        reversed = step & 1;
        if (step & 2) {
            pass(0, all);
        } else {
            for (unsigned i = 0; i < warps; i++) {
                const unsigned warp = reversed ? warps - 1 - i : i;
                do pass(warp * 32, std::min(32u, all - warp * 32));
                while (settle_exchange(warp));
            }
        }
        const bool went_on = settle_exchanges() | settle_barriers();
        polls = went_on ? 0 : polls + 1;
        // Once every thread has looked again, no mail can arrive unless something else goes on.
        const bool polling = settle_polls();
        if (went_on || (polling && polls < 8)) continue;
        for (Thread& thread : threads)
            if (thread.state != State::Finished) return EMULATOR_DEADLOCK;
        return EMULATOR_OK;
    }
}

} // namespace

void barrier() { block.wait_as(State::AtBarrier); }
void poll() { block.wait_as(State::Polling); }

const unsigned* exchange(unsigned, unsigned value)
{
    const unsigned number = block.running->thread;
    block.threads[number].given = value;
    block.wait_as(State::AtExchange);
    return &block.exchanged[number / 32 * 32];
}

unsigned lane() { return block.running->thread % 32; }

void* shared() { return block.shared[block.running->thread / block.block_threads].data(); }

void add(Kernel* kernel)
{
    kernel->next = kernels;
    kernels = kernel;
}

} // namespace emulator

using namespace emulator;

extern "C" const void* emulator_find(const char* symbol, const size_t** sizes,
                                     const bool** pointers, size_t* count)
{
    for (Kernel* kernel = kernels; kernel; kernel = kernel->next) {
        if (strcmp(kernel->symbol, symbol) != 0) continue;
        if (sizes) *sizes = kernel->sizes;
        if (pointers) *pointers = kernel->pointers;
        if (count) *count = kernel->count;
        return kernel;
    }
    return nullptr;
}

extern "C" int emulator_run(const void* kernel, const unsigned grid[3], const unsigned size[3],
                            unsigned shared_size, bool cooperative, void** parameters)
{
    block.kernel = static_cast<const Kernel*>(kernel);
    block.parameters = parameters;
    const unsigned count = size[0] * size[1] * size[2];
    place.grid_size = {grid[0], grid[1], grid[2]};
    place.block_size = {size[0], size[1], size[2]};
    const unsigned together = cooperative ? grid[0] : 1;
    if (together > 1 && count % 32) return EMULATOR_BAD_SHAPE;
    block.block_threads = count;
    block.threads.assign(count * together, Thread());
    block.exchanged.assign((count * together + 31) / 32 * 32, 0);
    block.shared.resize(together);
    for (unsigned z = 0; z < grid[2]; z++)
        for (unsigned y = 0; y < grid[1]; y++)
            for (unsigned x = 0; x < grid[0]; x += together) {
                for (auto& shared : block.shared) shared.assign(shared_size + GUARD, POISON);
                for (unsigned i = 0; i < count * together; i++) {
                    const unsigned of_block = i % count;
                    Thread& thread = block.threads[i] = Thread();
                    thread.index = {of_block % size[0], of_block / size[0] % size[1],
                                    of_block / size[0] / size[1]};
                    thread.block = {x + i / count, y, z};
                }
                const int answer = block.run();
                if (answer != EMULATOR_OK) {
                    // The fibers that never came back hold what they ran: start afresh.
                    block.fibers.clear();
                    block.idle.clear();
                    return answer;
                }
                for (auto& shared : block.shared)
                    for (size_t at = shared.size() - GUARD; at < shared.size(); at++)
                        if (shared[at] != POISON) return EMULATOR_SHARED_OVERRUN;
            }
    return EMULATOR_OK;
}

extern "C" int emulator_launch(const char* symbol, unsigned gx, unsigned gy, unsigned gz,
                               unsigned bx, unsigned by, unsigned bz, unsigned shared_size,
                               bool cooperative, void** parameters)
{
    const void* kernel = emulator_find(symbol, nullptr, nullptr, nullptr);
    if (!kernel) return EMULATOR_NO_SUCH_KERNEL;
    const unsigned grid[3] = {gx, gy, gz}, size[3] = {bx, by, bz};
    return emulator_run(kernel, grid, size, shared_size, cooperative, parameters);
}
