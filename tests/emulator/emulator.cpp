// Runs a kernel's threads, each a fiber when it has to wait for others.
//
// A block's threads run one after another on one OS thread, and change only where CUDA C makes
// them wait: __syncthreads and the warp's exchanges. A thread that never waits costs no fiber of
// its own. The order in which threads run is turned round at every step, which brings out a
// missing barrier: with one order alone, half of the races would go unseen.
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

enum class State : char { Ready, AtBarrier, AtExchange, Finished };

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
    uint3 index;
};

struct Block {
    const Kernel* kernel;
    void** parameters;
    std::vector<Thread> threads;
    std::vector<unsigned> exchanged; // 32 a warp
    std::vector<std::unique_ptr<Fiber>> fibers;
    std::vector<Fiber*> idle;
    std::vector<unsigned char> shared;
    size_t shared_size = 0;
    jmp_buf scheduler;
    Fiber* running = nullptr;
    bool reversed = false;
    unsigned turn = 0; // how many threads this step has come past

    unsigned number_of(unsigned i) const { return reversed ? threads.size() - 1 - i : i; }
    bool take_next(Fiber* fiber);
    void resume(unsigned number);
    void wait_as(State state);
    int run();
    bool settle_exchanges();
    bool settle_barrier();
};

thread_local Block block;

constexpr unsigned char POISON = 0xa5;
constexpr size_t GUARD = 64;

// Gives a fiber whose thread has finished the next thread of this step, if that has not begun:
// so a kernel in which nothing waits runs as a plain loop.
bool Block::take_next(Fiber* fiber)
{
    if (turn + 1 >= threads.size()) return false;
    const unsigned number = number_of(turn + 1);
    Thread& next = threads[number];
    if (next.state != State::Ready || next.fiber) return false;
    turn++;
    next.fiber = fiber;
    fiber->thread = number;
    place.thread = next.index;
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
    place.thread = thread.index;
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
bool Block::settle_exchanges()
{
    bool any = false;
    for (size_t first = 0; first < threads.size(); first += 32) {
        const size_t end = std::min(first + 32, threads.size());
        bool all = true, one = false;
        for (size_t i = first; i < end; i++) {
            one |= threads[i].state == State::AtExchange;
            all &= threads[i].state == State::AtExchange || threads[i].state == State::Finished;
        }
        if (!one || !all) continue;
        any = true;
        for (size_t i = first; i < end; i++) {
            if (threads[i].state != State::AtExchange) continue;
            exchanged[i] = threads[i].given;
            threads[i].state = State::Ready;
        }
    }
    return any;
}

bool Block::settle_barrier()
{
    for (Thread& thread : threads)
        if (thread.state == State::AtExchange) return false;
    bool any = false;
    for (Thread& thread : threads) {
        if (thread.state != State::AtBarrier) continue;
        thread.state = State::Ready;
        any = true;
    }
    return any;
}

int Block::run()
{
    for (;;) {
        for (turn = 0; turn < threads.size(); turn++)
            if (threads[number_of(turn)].state == State::Ready) resume(number_of(turn));
        reversed = !reversed;
        if (settle_exchanges() || settle_barrier()) continue;
        for (Thread& thread : threads)
            if (thread.state != State::Finished) return EMULATOR_DEADLOCK;
        return EMULATOR_OK;
    }
}

} // namespace

void barrier() { block.wait_as(State::AtBarrier); }

const unsigned* exchange(unsigned, unsigned value)
{
    const unsigned number = block.running->thread;
    block.threads[number].given = value;
    block.wait_as(State::AtExchange);
    return &block.exchanged[number / 32 * 32];
}

unsigned lane() { return block.running->thread % 32; }

void* shared() { return block.shared.data(); }

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
                            unsigned shared_size, void** parameters)
{
    block.kernel = static_cast<const Kernel*>(kernel);
    block.parameters = parameters;
    const unsigned count = size[0] * size[1] * size[2];
    place.grid_size = {grid[0], grid[1], grid[2]};
    place.block_size = {size[0], size[1], size[2]};
    block.threads.assign(count, Thread());
    block.exchanged.assign((count + 31) / 32 * 32, 0);
    block.shared.resize(shared_size + GUARD);
    for (unsigned z = 0; z < grid[2]; z++)
        for (unsigned y = 0; y < grid[1]; y++)
            for (unsigned x = 0; x < grid[0]; x++) {
                place.block = {x, y, z};
                memset(block.shared.data(), POISON, block.shared.size());
                for (unsigned i = 0; i < count; i++) {
                    block.threads[i].state = State::Ready;
                    block.threads[i].fiber = nullptr;
                    block.threads[i].index = {
                        i % size[0], i / size[0] % size[1], i / size[0] / size[1]};
                }
                const int answer = block.run();
                if (answer != EMULATOR_OK) {
                    // The fibers that never came back hold what they ran: start afresh.
                    block.fibers.clear();
                    block.idle.clear();
                    return answer;
                }
                for (size_t i = shared_size; i < block.shared.size(); i++)
                    if (block.shared[i] != POISON) return EMULATOR_SHARED_OVERRUN;
            }
    return EMULATOR_OK;
}

extern "C" int emulator_launch(const char* symbol, unsigned gx, unsigned gy, unsigned gz,
                               unsigned bx, unsigned by, unsigned bz, unsigned shared_size,
                               void** parameters)
{
    const void* kernel = emulator_find(symbol, nullptr, nullptr, nullptr);
    if (!kernel) return EMULATOR_NO_SUCH_KERNEL;
    const unsigned grid[3] = {gx, gy, gz}, size[3] = {bx, by, bz};
    return emulator_run(kernel, grid, size, shared_size, parameters);
}
