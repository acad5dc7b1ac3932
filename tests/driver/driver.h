// What the fake driver is made of: tasks, streams, events, captures, memory. driver.cpp has the
// cu* functions on top.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <vector>

using Lock = std::unique_lock<std::mutex>;

enum Result : int {
    OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100,
    INVALID_DEVICE = 101, INVALID_CONTEXT = 201, NO_BINARY = 209, INVALID_PTX = 218,
    PEER_ACCESS_UNSUPPORTED = 217, PEER_ACCESS_ALREADY_ENABLED = 704, PEER_ACCESS_NOT_ENABLED = 705,
    INVALID_HANDLE = 400, ILLEGAL_STATE = 401, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700,
    COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    LAUNCH_TIMEOUT = 702, LAUNCH_FAILED = 719, NOT_SUPPORTED = 801,
    CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901, CAPTURE_MERGE = 902,
    CAPTURE_UNMATCHED = 903, CAPTURE_UNJOINED = 904, CAPTURE_ISOLATION = 905,
    CAPTURE_IMPLICIT = 906, CAPTURED_EVENT = 907, CAPTURE_WRONG_THREAD = 908,
};

struct Context;

// What is done, and how the log calls it.
struct Work {
    std::string name;
    size_t bytes = 0;
    std::function<int()> run; // its answer becomes the context's error
};

// Work that is on its way: runs when everything it depends on is done, on any thread of a pool.
struct Task {
    Work work;
    Context* context;
    int stream;
    bool in_graph;
    uint64_t issue;
    int unmet = 0;
    bool done = false;
    int64_t start = 0, end = 0;
    std::vector<std::shared_ptr<Task>> followers;
};
using TaskRef = std::shared_ptr<Task>;

struct Node {
    Work work;
    int stream;
    std::vector<Node*> after;
};

struct Graph {
    std::vector<std::unique_ptr<Node>> nodes; // each behind what it depends on
};

struct Stream;

struct Capture {
    std::shared_ptr<Graph> graph = std::make_shared<Graph>();
    Stream* origin;
    std::vector<Stream*> streams;
    std::thread::id thread;
    int mode;
    bool invalid = false;
};
using CaptureRef = std::shared_ptr<Capture>;

struct Stream {
    Context* context;
    int ordinal; // 0 is the default stream
    unsigned flags = 0;
    int priority = 0;
    TaskRef tail;
    CaptureRef capture;
    std::vector<Node*> frontier; // while it captures: what the next node comes after

    bool waits_for_default() const { return ordinal != 0 && !(flags & 1); }
};

struct Event {
    Context* context;
    unsigned flags;
    TaskRef mark;                // the latest record; null before the first
    CaptureRef capture;          // where it was recorded last, if that was in a capture
    std::vector<Node*> frontier; // and behind what
};

struct Allocation {
    size_t size;
    Context* context;
    bool host;
    bool portable; // page-locked for every context
};

struct Context {
    int device;
    int error = 0; // sticky
    bool alive = true;
    Stream* default_stream;
    std::unordered_set<TaskRef> pending;
    std::unordered_set<Context*> peers; // whose memory it may reach
};

struct Module { Context* context; std::string text; };
struct Link { Context* context; std::string cubin; };

struct Function {
    Context* context;
    const void* kernel;
    std::string name;
    const size_t* sizes;
    const bool* pointers;
    size_t count;
    unsigned most_shared = 48 * 1024;
    bool stamped = false; // its PTX has one parameter more: a record a block
};

struct Exec {
    Context* context;
    std::shared_ptr<Graph> graph;
    TaskRef last; // of its previous launch: launches of one graph follow one another
};

// Everything; never destroyed, since the pool's threads outlive main.
struct State {
    std::mutex mutex;
    std::condition_variable ready_changed, done_changed;
    std::vector<TaskRef> ready;
    uint64_t issued = 0, random = 1;
    int threads = 0, sleeping = 0;
    bool initialized = false;
    int streams_made = 0;
    int leaked = 0; // what contexts still had in them when they ended
    long launches = 0;
    size_t device_used[64] = {}, host_used = 0;
    std::map<uintptr_t, Allocation> memory;
    // Handles and what they are of; the objects are never freed, so that none comes twice.
    std::unordered_map<const void*, const std::type_info*> live;
    std::vector<Context*> contexts;
    Context* primary[64] = {};
    int retained[64] = {};
    std::vector<CaptureRef> captures;
    FILE* log = nullptr;
};
State& state();

int64_t now_ns();
TaskRef start(Lock&, Context*, int stream, Work, const std::vector<TaskRef>& after, bool in_graph);
void wait_for(Lock&, const TaskRef&);
void wait_for_all(Lock&, Context*);
