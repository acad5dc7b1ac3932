// The machine behind the fake driver: a graph of tasks and a pool of threads.
//
// A stream is no thread but an order: each of its tasks comes after the one before. Whatever has
// nothing left to wait for may run, and which of several does is drawn by lot, so that an order
// nobody asked for is an order nobody gets twice.
#include "driver.h"

State& state()
{
    static State& only = *new State;
    return only;
}

int64_t now_ns()
{
    using namespace std::chrono;
    return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

static long delay_us()
{
    static const char* text = getenv("FAKE_CUDA_DELAY_US");
    return text ? atol(text) : 0;
}

static void pool_thread();

// A task may block, so there is always a thread for what is ready, within reason. `at_hand` are
// about to look for work.
static void provide_threads(State& s, int at_hand)
{
    while ((int)s.ready.size() > s.sleeping + at_hand && s.threads < 32) {
        s.threads++;
        at_hand++;
        std::thread(pool_thread).detach();
    }
}

static void finish(State& s, const TaskRef& task)
{
    task->done = true;
    task->work.run = nullptr;
    task->context->pending.erase(task);
    for (const TaskRef& follower : task->followers) {
        if (--follower->unmet) continue;
        s.ready.push_back(follower);
        s.ready_changed.notify_one();
    }
    task->followers.clear();
    provide_threads(s, 1); // the calling one
    if (s.log) {
        fprintf(s.log, "issue=%llu stream=%d op=%s bytes=%zu start=%lld end=%lld graph=%d\n",
                (unsigned long long)task->issue, task->stream, task->work.name.c_str(),
                task->work.bytes, (long long)task->start, (long long)task->end, task->in_graph);
        fflush(s.log);
    }
    s.done_changed.notify_all();
}

static void pool_thread()
{
    State& s = state();
    Lock lock(s.mutex);
    for (;;) {
        while (s.ready.empty()) {
            s.sleeping++;
            s.ready_changed.wait(lock);
            s.sleeping--;
        }
        s.random = s.random * 6364136223846793005u + 1442695040888963407u;
        std::swap(s.ready[(s.random >> 33) % s.ready.size()], s.ready.back());
        TaskRef task = s.ready.back();
        s.ready.pop_back();
        const bool run = !task->context->error;
        lock.unlock();
        task->start = now_ns();
        if (delay_us() && task->work.run) std::this_thread::sleep_for(std::chrono::microseconds(delay_us()));
        const int answer = run && task->work.run ? task->work.run() : 0;
        task->end = now_ns();
        lock.lock();
        if (answer && !task->context->error) task->context->error = answer;
        finish(s, task);
    }
}

TaskRef start(Lock&, Context* context, int stream, Work work, const std::vector<TaskRef>& after,
              bool in_graph)
{
    State& s = state();
    TaskRef task(new Task{std::move(work), context, stream, in_graph, s.issued++});
    context->pending.insert(task);
    for (const TaskRef& before : after) {
        if (!before || before->done) continue;
        before->followers.push_back(task);
        task->unmet++;
    }
    if (task->unmet == 0) s.ready.push_back(task);
    provide_threads(s, 0);
    s.ready_changed.notify_one();
    return task;
}

void wait_for(Lock& lock, const TaskRef& task)
{
    while (task && !task->done) state().done_changed.wait(lock);
}

void wait_for_all(Lock& lock, Context* context)
{
    while (!context->pending.empty()) state().done_changed.wait(lock);
}
