// Runs a kernel's threads, each a fiber when it has to wait for others.
//
// A block's threads run one after another on one OS thread, and change only where CUDA C makes
// them wait: __syncthreads and the warp's exchanges. A thread that never waits costs no fiber of
// its own. Threads run in one of several orders (emulator_order), since a missing barrier shows in some
// of them alone. In the usual one, the order is turned round at every step, and every second pair of
// steps lets each warp go as far as it can before another moves.
//
// A barrier opens once every thread of the block has come to it, and an exchange once every living lane
// of its mask has: those that wait elsewhere meanwhile, or have finished before a barrier, are an error.
//
// The blocks of a cooperative launch run side by side, each with its barrier and its shared memory.
#include "emulator.h"
#include "launch.h"

#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

namespace emulator {

EMULATOR_OWN Place place;
EMULATOR_OWN Line last_line;
EMULATOR_OWN unsigned extra_barrier;

namespace {

bool same(Line a, Line b) { return a.line == b.line && strcmp(a.file, b.file) == 0; }

Kernel* kernels = nullptr;

enum class State : char { Ready, AtBarrier, AtExchange, Polling, Finished };

bool contained = false; // see emulator_contain
unsigned longest = 0;   // seconds of a launch, if contained

// If contained, a page below it stays out of bounds, so that a stack that overflows is an error.
struct Stack {
    static constexpr size_t SIZE = 32 * 1024, CONTAINED = 256 * 1024, PAGE = 4096;
    size_t size = contained ? CONTAINED : SIZE;
    char* at = (char*)mmap(nullptr, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    Stack()
    {
        if (at == MAP_FAILED) abort();
        if (contained) mprotect(at, PAGE, PROT_NONE);
    }
    Stack(const Stack&) = delete;
    ~Stack() { munmap(at, size); }
};

struct Fiber {
    ucontext_t start;
    jmp_buf at;
    Stack stack;
    // By how much its stack begins lower than others', whose first bytes would all fall into the same few
    // lines of the cache.
    size_t stagger;
    unsigned thread = 0; // that it runs
    bool entered = false;

    explicit Fiber(size_t number) : stagger(number * 576 % 8192) {}
};

struct Thread {
    State state = State::Ready;
    Fiber* fiber = nullptr;
    unsigned given = 0, lanes = 0; // to an exchange, and which take part
    Line line{};                   // at which it waits
    uint3 index, block;
};

struct Order {
    int threads = EMULATOR_ALTERNATING, blocks = EMULATOR_FORWARD;
    unsigned random = 1;

    unsigned draw(unsigned below)
    {
        random = random * 1664525u + 1013904223u;
        return (random >> 8) % below;
    }
};
EMULATOR_OWN Order order;

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
    EmulatorFault fault{};
    bool reversed = false;
    unsigned first = 0, count = 0; // of the threads of this pass
    unsigned turn = 0;             // how many of them it has come past
    std::vector<unsigned> mixed;   // the numbers of a pass in a random order

    unsigned number_of(unsigned i) const
    {
        if (order.threads == EMULATOR_RANDOM) return mixed[i];
        return first + (reversed ? count - 1 - i : i);
    }
    void mix();
    void report(int code, Line at, Line other, unsigned arrived, unsigned threads);
    bool take_next(Fiber* fiber);
    void resume(unsigned number);
    void wait_as(State state, Line line);
    int run();
    void step(unsigned number);
    void pass(unsigned first, unsigned count);
    void report_stuck();
    bool settle_exchange(unsigned warp);
    bool settle_exchanges();
    bool settle_barriers();
    bool settle_polls();
};

// The calling thread's block, which a running fiber finds without a call.
EMULATOR_OWN Block* block;

Block& own_block()
{
    static thread_local Block own;
    return own;
}

constexpr unsigned char POISON = 0xa5;
constexpr size_t GUARD = 4096;

// Gives a fiber whose thread has finished the next thread of this step, if that has not begun:
// so a kernel in which nothing waits runs as a plain loop.
bool Block::take_next(Fiber* fiber)
{
    if (turn + 1 >= count) return false;
    const unsigned number = number_of(turn + 1);
    Thread& next = threads[number];
    if (next.state != State::Ready || next.fiber || fault.code) return false;
    turn++;
    next.fiber = fiber;
    fiber->thread = number;
    place.thread = next.index, place.block = next.block;
    return true;
}

void fiber_main()
{
    for (;;) {
        block->kernel->call(block->parameters);
        Fiber* fiber = block->running;
        block->threads[fiber->thread].state = State::Finished;
        if (block->take_next(fiber)) continue;
        block->idle.push_back(fiber);
        if (!_setjmp(fiber->at)) _longjmp(block->scheduler, 1);
    }
}

// Runs a thread until it waits or has finished.
void Block::resume(unsigned number)
{
    Thread& thread = threads[number];
    if (!thread.fiber) {
        if (idle.empty()) {
            fibers.emplace_back(new Fiber(fibers.size()));
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
    running->start.uc_stack.ss_sp = running->stack.at;
    running->start.uc_stack.ss_size = running->stack.size - running->stagger;
    running->start.uc_link = nullptr;
    makecontext(&running->start, fiber_main, 0);
    setcontext(&running->start);
}

void Block::wait_as(State state, Line line)
{
    Fiber* fiber = running;
    threads[fiber->thread].state = state;
    threads[fiber->thread].line = line;
    if (!_setjmp(fiber->at)) _longjmp(scheduler, 1);
    last_line = line;
}

// Keeps what ends the launch; of several things the first.
void Block::report(int code, Line at, Line other, unsigned arrived, unsigned threads)
{
    if (fault.code) return;
    fault = {code, {at.file, at.line}, {other.file, other.line}, arrived, threads, {}, {}, nullptr};
    memcpy(fault.thread, &place.thread, sizeof fault.thread);
    memcpy(fault.block, &place.block, sizeof fault.block);
}

// Hands out values where every living lane of a mask has given one at the same place.
bool Block::settle_exchange(unsigned warp)
{
    const size_t first = warp * 32, end = first + 32 < threads.size() ? first + 32 : threads.size();
    unsigned seen = 0;
    bool any = false;
    for (size_t i = first; i < end; i++) {
        const Thread& one = threads[i];
        if (one.state != State::AtExchange || seen >> (i - first) & 1) continue;
        const unsigned lanes = one.lanes | 1u << (i - first);
        seen |= lanes;
        bool all = true;
        for (size_t j = first; j < end; j++) {
            const Thread& other = threads[j];
            if (!(lanes >> (j - first) & 1) || other.state == State::Finished) continue;
            all &= other.state == State::AtExchange && same(other.line, one.line);
        }
        if (!all) continue;
        any = true;
        for (size_t j = first; j < end; j++) {
            if (!(lanes >> (j - first) & 1) || threads[j].state != State::AtExchange) continue;
            exchanged[j] = threads[j].given;
            threads[j].state = State::Ready;
        }
    }
    return any;
}

bool Block::settle_exchanges()
{
    bool any = false;
    for (unsigned warp = 0; warp < (threads.size() + 31) / 32; warp++) any |= settle_exchange(warp);
    return any;
}

// Opens the barrier of each block whose threads have all come to it.
bool Block::settle_barriers()
{
    bool any = false;
    for (size_t first = 0; first < threads.size(); first += block_threads) {
        Line at{}, other{};
        unsigned here = 0, elsewhere = 0, finished = 0;
        for (size_t i = first; i < first + block_threads; i++) {
            const Thread& thread = threads[i];
            finished += thread.state == State::Finished;
            if (thread.state != State::AtBarrier) continue;
            if (!here) at = thread.line;
            if (same(at, thread.line)) here++;
            else other = thread.line, elsewhere++;
        }
        if (!here || here + elsewhere + finished < block_threads) continue;
        if (elsewhere || finished) {
            place.block = threads[first].block;
            report(EMULATOR_BARRIER_DIVERGED, at, other, here, block_threads);
            return false;
        }
        any = true;
        for (size_t i = first; i < first + block_threads; i++) threads[i].state = State::Ready;
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

// Draws the order of a pass.
void Block::mix()
{
    mixed.resize(count);
    for (unsigned i = 0; i < count; i++) {
        const unsigned other = order.draw(i + 1);
        mixed[i] = mixed[other];
        mixed[other] = first + i;
    }
}

// Runs those of so many threads that can.
void Block::pass(unsigned from, unsigned so_many)
{
    first = from, count = so_many;
    if (order.threads == EMULATOR_RANDOM) mix();
    for (turn = 0; turn < count && !fault.code; turn++)
        if (threads[number_of(turn)].state == State::Ready) resume(number_of(turn));
}

// Lets every thread go on, by warps that go as far as they can by themselves, or all together.
void Block::step(unsigned number)
{
    const unsigned all = threads.size(), warps = (all + 31) / 32;
    bool by_warp = !(number & 2);
    reversed = number & 1;
    if (order.threads == EMULATOR_FORWARD || order.threads == EMULATOR_BACKWARD)
        by_warp = true, reversed = order.threads == EMULATOR_BACKWARD;
    if (order.threads == EMULATOR_RANDOM) by_warp = order.draw(2), reversed = order.draw(2);
    if (!by_warp) return pass(0, all);
    const unsigned begin = order.threads == EMULATOR_RANDOM ? order.draw(warps) : 0;
    for (unsigned i = 0; i < warps; i++) {
        const unsigned at = (begin + i) % warps, warp = reversed ? warps - 1 - at : at;
        do pass(warp * 32, all - warp * 32 < 32 ? all - warp * 32 : 32);
        while (!fault.code && settle_exchange(warp));
    }
}

// Says of threads that wait for others for ever what they wait for.
void Block::report_stuck()
{
    for (size_t i = 0; i < threads.size(); i++) {
        const Thread& one = threads[i];
        if (one.state != State::AtExchange) continue;
        const size_t first = i / 32 * 32, end = first + 32 < threads.size() ? first + 32 : threads.size();
        unsigned arrived = 0;
        Line other{};
        for (size_t j = first; j < end; j++) {
            if (threads[j].state == State::Finished) continue;
            if (threads[j].state == State::AtExchange && same(threads[j].line, one.line)) arrived++;
            else if (threads[j].state != State::Ready) other = threads[j].line;
        }
        place.thread = one.index, place.block = one.block;
        return report(EMULATOR_WARP_DIVERGED, one.line, other, arrived, end - first);
    }
    for (const Thread& thread : threads)
        if (thread.state != State::Finished) return report(EMULATOR_DEADLOCK, thread.line, {}, 0, 0);
}

int Block::run()
{
    unsigned polls = 0; // in which nothing else went on
    for (unsigned number = 0;; number++) {
        step(number);
        const bool went_on = !fault.code && settle_exchanges() | settle_barriers();
        if (fault.code) return fault.code;
        polls = went_on ? 0 : polls + 1;
        // Once every thread has looked again, no mail can arrive unless something else goes on.
        const bool polling = settle_polls();
        if (went_on || (polling && polls < 8)) continue;
        report_stuck();
        return fault.code;
    }
}

// Ends the launch in which a thread crashed or lasted too long.
void end_launch(int signal, siginfo_t* information, void*)
{
    if (!block || !block->running) {
        ::signal(signal, SIG_DFL);
        raise(signal);
        return;
    }
    const int code = signal == SIGALRM  ? EMULATOR_TOO_LONG
                     : signal == SIGFPE ? EMULATOR_BAD_DIVISION
                     : signal == SIGSEGV || signal == SIGBUS ? EMULATOR_BAD_ACCESS
                                                             : EMULATOR_BAD_INDEX;
    block->report(code, last_line, {}, 0, 0);
    block->fault.address = signal == SIGSEGV || signal == SIGBUS ? information->si_addr : nullptr;
    _longjmp(block->scheduler, 1);
}

// The number of a block that comes at a turn: by random order, every `stride`th one.
struct Turns {
    unsigned count, begin = 0, stride = 1;

    explicit Turns(unsigned count) : count(count)
    {
        if (order.blocks != EMULATOR_RANDOM) return;
        const auto divisor = [](unsigned a, unsigned b) {
            while (b) {
                const unsigned rest = a % b;
                a = b, b = rest;
            }
            return a;
        };
        begin = order.draw(count);
        do stride = 1 + order.draw(count);
        while (divisor(stride, count) != 1);
    }
    unsigned at(unsigned turn) const
    {
        if (order.blocks == EMULATOR_BACKWARD) return count - 1 - turn;
        return (begin + (unsigned long long)turn * stride) % count;
    }
};

} // namespace

void barrier(Line line) { block->wait_as(State::AtBarrier, line); }
void poll() { block->wait_as(State::Polling, {"", 0}); }

const unsigned* exchange(unsigned lanes, unsigned value, Line line)
{
    const unsigned number = block->running->thread;
    block->threads[number].given = value;
    block->threads[number].lanes = lanes;
    block->wait_as(State::AtExchange, line);
    return &block->exchanged[number / 32 * 32];
}

unsigned lane() { return block->running->thread % 32; }

void* shared() { return block->shared[block->running->thread / block->block_threads].data(); }

unsigned long long nanoseconds()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ull + now.tv_nsec;
}

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

// Runs the blocks at a place of the grid: one, or those of a row together.
static int run_blocks(uint3 at, unsigned shared_size)
{
    const unsigned count = block->block_threads;
    const uint3 size = place.block_size;
    for (auto& shared : block->shared) shared.assign(shared_size + GUARD, POISON);
    for (unsigned i = 0; i < block->threads.size(); i++) {
        const unsigned of_block = i % count;
        Thread& thread = block->threads[i] = Thread();
        thread.index = {of_block % size.x, of_block / size.x % size.y, of_block / size.x / size.y};
        thread.block = {at.x + i / count, at.y, at.z};
    }
    if (block->run() == EMULATOR_OK)
        for (auto& shared : block->shared) {
            const unsigned char* guard = shared.data() + shared_size;
            if (guard[0] != POISON || memcmp(guard, guard + 1, GUARD - 1) != 0)
                block->report(EMULATOR_SHARED_OVERRUN, {}, {}, 0, shared_size);
        }
    if (block->fault.code) {
        // The fibers that never came back hold what they ran: start afresh.
        block->fibers.clear();
        block->idle.clear();
    }
    return block->fault.code;
}

extern "C" int emulator_run(const void* kernel, const unsigned grid[3], const unsigned size[3],
                            unsigned shared_size, bool cooperative, void** parameters)
{
    block = &own_block();
    block->kernel = static_cast<const Kernel*>(kernel);
    block->parameters = parameters;
    block->fault = {};
    last_line = {};
    const unsigned count = size[0] * size[1] * size[2];
    place.grid_size = {grid[0], grid[1], grid[2]};
    place.block_size = {size[0], size[1], size[2]};
    const unsigned together = cooperative ? grid[0] : 1;
    if (together > 1 && count % 32) return block->fault.code = EMULATOR_BAD_SHAPE;
    block->block_threads = count;
    block->threads.assign(count * together, Thread());
    block->exchanged.assign((count * together + 31) / 32 * 32, 0);
    block->shared.resize(together);
    if (contained) alarm(longest);
    const unsigned across = grid[0] / together;
    const Turns turns(across * grid[1] * grid[2]);
    for (unsigned turn = 0; turn < turns.count && !block->fault.code; turn++) {
        const unsigned number = turns.at(turn);
        run_blocks({number % across * together, number / across % grid[1], number / across / grid[1]},
                   shared_size);
    }
    if (contained) alarm(0);
    block->running = nullptr;
    return block->fault.code;
}

extern "C" const EmulatorFault* emulator_fault(void) { return &own_block().fault; }

extern "C" void emulator_order(int threads, int blocks, unsigned seed)
{
    order = Order();
    order.threads = threads, order.blocks = blocks, order.random = seed;
}

extern "C" void emulator_extra_barrier(unsigned line) { extra_barrier = line; }

extern "C" void emulator_contain(unsigned seconds)
{
    static char stack[64 * 1024]; // since a fiber's may be what overflowed
    stack_t alternative{};
    alternative.ss_sp = stack, alternative.ss_size = sizeof stack;
    sigaltstack(&alternative, nullptr);
    struct sigaction action{};
    action.sa_sigaction = end_launch;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGALRM})
        sigaction(signal, &action, nullptr);
    contained = true;
    longest = seconds;
}

extern "C" void* emulator_allocate(size_t bytes, bool at_end, void** room, size_t* room_bytes)
{
    constexpr size_t PAGE = Stack::PAGE, ALIGNMENT = 16;
    const size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    const size_t whole = (rounded + PAGE - 1) / PAGE * PAGE;
    char* all = (char*)mmap(nullptr, whole + 2 * PAGE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    mprotect(all, PAGE, PROT_NONE);
    mprotect(all + PAGE + whole, PAGE, PROT_NONE);
    memset(all + PAGE, POISON, whole);
    *room = all + PAGE, *room_bytes = whole;
    return all + PAGE + (at_end ? whole - rounded : 0);
}

extern "C" void emulator_free(void* room, size_t room_bytes)
{
    munmap((char*)room - Stack::PAGE, room_bytes + 2 * Stack::PAGE);
}

extern "C" int emulator_launch(const char* symbol, unsigned gx, unsigned gy, unsigned gz,
                               unsigned bx, unsigned by, unsigned bz, unsigned shared_size,
                               bool cooperative, void** parameters)
{
    const void* kernel = emulator_find(symbol, nullptr, nullptr, nullptr);
    if (!kernel) {
        own_block().fault = {};
        return own_block().fault.code = EMULATOR_NO_SUCH_KERNEL;
    }
    const unsigned grid[3] = {gx, gy, gz}, size[3] = {bx, by, bz};
    return emulator_run(kernel, grid, size, shared_size, cooperative, parameters);
}
