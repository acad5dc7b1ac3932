// A libcuda for tests. Work is asynchronous as on a device, kernels are the real ones under the
// emulator, and what is wrong is answered as the driver answers it.
//
// Environment:
//   FAKE_CUDA_DEVICES=n         how many devices (1)
//   FAKE_CUDA_VERSION=13000     what cuDriverGetVersion says
//   FAKE_CUDA_CAPABILITY=90     compute capability
//   FAKE_CUDA_MEMORY=bytes      memory of each device (1 GiB)
//   FAKE_CUDA_HOST_MEMORY=bytes page-locked memory there is (1 GiB)
//   FAKE_CUDA_SMS=n             multiprocessors of each device (4)
//   FAKE_CUDA_LACKS=attribute   the device's attribute of this number is 0
//   FAKE_CUDA_INIT_ERROR=code   what cuInit says
//   FAKE_CUDA_FAIL_AFTER=n      the launch after n good ones ends in error 700, and with it the
//                               context: every later call says 700
//   FAKE_CUDA_RECOVERS=1        ... until the primary context is reset or retained anew
//   FAKE_CUDA_FAULT=call:code:after:count[:how]
//                               after so many good ones, so many calls of this function answer
//                               this code, and nothing else comes of them (a count of -1: all);
//                               with `lost` the context ends with it, as above; with `hangs` they
//                               answer only once another fault is armed; fake_cuda_arm does the
//                               same later
//   FAKE_CUDA_PEER_BREAKS=1     a direct copy between devices brings a wrong byte
//   FAKE_CUDA_STRUCK=file       is made once a fault has struck
//   FAKE_CUDA_DRY=1             kernels do nothing, and the log has each launch's last argument
//                               behind the kernel's name
//   FAKE_CUDA_MEET=n            a device's launches wait in their call until as many were called on
//                               each of n devices; 30 s at most, then they fail
//   FAKE_CUDA_COMPILE_US=n      PTX takes that long to compile; like NVIDIA's driver, loading PTX
//                               keeps every other call waiting meanwhile, and the linker does not
//   FAKE_CUDA_DELAY_US=n        every copy, set and launch takes that much longer
//   FAKE_CUDA_LOG=file          a line for the connections, then one for every task done
//
// Stricter than a device: which of several possible orders happens is drawn by lot, fresh memory
// is 0xCD and freed memory is never given out again, the memory behind an allocation is watched,
// a kernel's pointers must lie in its context's memory, and what a context still holds when it ends
// is counted (fake_cuda_leaked).
#include "driver.h"
#include "launch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define API extern "C" __attribute__((visibility("default"))) int
using Pointer = unsigned long long;

static long long setting(const char* name, long long otherwise)
{
    const char* text = getenv(name);
    return text && *text ? atoll(text) : otherwise;
}

static int devices() { return setting("FAKE_CUDA_DEVICES", 1); }

static thread_local std::vector<Context*> current;

// Says that a fault has struck.
static void struck()
{
    const char* path = getenv("FAKE_CUDA_STRUCK");
    FILE* file = path ? fopen(path, "w") : nullptr;
    if (file) fclose(file);
}

// The fault that is armed.
static struct {
    char name[64];
    int code;
    long after, count;
    char how[8];
    int number; // of all that were armed
} armed;

// Arms a fault, as FAKE_CUDA_FAULT says it; an empty text disarms. The lock is held.
static void arm(const char* text)
{
    const int number = armed.number + 1;
    armed = {};
    armed.number = number;
    state().done_changed.notify_all();
    if (!*text) return;
    const int parts = sscanf(text, "%63[^:]:%d:%ld:%ld:%7s", armed.name, &armed.code, &armed.after,
                             &armed.count, armed.how);
    if (parts == 4 || !strcmp(armed.how, "lost") || !strcmp(armed.how, "hangs")) return;
    fprintf(stderr, "fake driver: the fault %s is not call:code:after:count[:how]\n", text);
    abort();
}

// What the armed fault has this call answer; 0 for nothing.
static int fault(Lock& lock, const char* call)
{
    static const bool read = [] {
        const char* text = getenv("FAKE_CUDA_FAULT");
        if (text) arm(text);
        return true;
    }();
    (void)read;
    if (!armed.code || strcmp(armed.name, call) != 0) return OK;
    if (armed.after > 0) return armed.after--, OK;
    if (armed.count == 0) return OK;
    if (armed.count > 0) armed.count--;
    struck();
    const int code = armed.code, number = armed.number;
    if (!strcmp(armed.how, "lost") && !current.empty()) current.back()->error = code;
    while (!strcmp(armed.how, "hangs") && armed.number == number) state().done_changed.wait(lock);
    return code;
}

// For tests in the same process: arms a fault from now on; whether the one before has struck.
API fake_cuda_arm(const char* text)
{
    Lock lock(state().mutex);
    fault(lock, "");
    const bool has_struck = armed.code && armed.after == 0 && armed.count == 0;
    arm(text);
    return has_struck;
}

// Takes the lock and finds the thread's context; leaves with its error.
static int sm_count() { return setting("FAKE_CUDA_SMS", 4); }

#define ENTER                                                            \
    State& s = state();                                                  \
    Lock lock(s.mutex);                                                  \
    if (!s.initialized) return NOT_INITIALIZED;                          \
    TRY(fault(lock, __func__));                                          \
    if (current.empty() || !current.back() || !current.back()->alive)    \
        return INVALID_CONTEXT;                                          \
    Context* context = current.back();                                   \
    if (context->error) return context->error;                           \
    (void)s;

// The same for a function that is another one, by its own name.
#define ALIAS { ENTER (void)context; }

#define REFUSE(condition, code) do { if (condition) return code; } while (0)
#define TRY(call) do { if (const int answer_ = (call)) return answer_; } while (0)

template <class T> static bool known(T* handle)
{
    const auto found = state().live.find(handle);
    return found != state().live.end() && *found->second == typeid(T);
}

template <class T> static T* keep(T* handle)
{
    state().live[handle] = &typeid(T);
    return handle;
}

// ---- captures

static void invalidate(const CaptureRef& capture) { capture->invalid = true; }

// A call that may synchronize: no thread may make one during a global capture (mode 0), nor the
// capturing thread during a thread-local one (mode 1).
static int unsafe_call()
{
    int answer = OK;
    for (const CaptureRef& capture : state().captures) {
        const bool ours = capture->thread == std::this_thread::get_id();
        if (capture->mode != 0 && !(capture->mode == 1 && ours)) continue;
        invalidate(capture);
        answer = CAPTURE_UNSUPPORTED;
    }
    return answer;
}

static Stream* stream_of(Context* context, void* handle)
{
    if (handle == nullptr || handle == (void*)1) return context->default_stream;
    return known((Stream*)handle) ? (Stream*)handle : nullptr;
}

static void join(const CaptureRef& capture, Stream* stream)
{
    stream->capture = capture;
    capture->streams.push_back(stream);
}

// What comes before a stream's next task; for the default stream `enqueue` knows more.
static std::vector<TaskRef> before(Stream* stream)
{
    std::vector<TaskRef> after{stream->tail};
    Context* context = stream->context;
    if (stream->waits_for_default()) after.push_back(context->default_stream->tail);
    return after;
}

static std::vector<Stream*>& streams()
{
    static auto& all = *new std::vector<Stream*>;
    return all;
}

// Queues work, or adds it to the capture.
static int enqueue(Lock& lock, Stream* stream, Work work, TaskRef* task = nullptr)
{
    if (stream->capture) {
        REFUSE(stream->capture->invalid, CAPTURE_INVALIDATED);
        auto& nodes = stream->capture->graph->nodes;
        nodes.emplace_back(new Node{std::move(work), stream->ordinal, stream->frontier});
        stream->frontier = {nodes.back().get()};
        return OK;
    }
    std::vector<TaskRef> after = before(stream);
    if (stream->ordinal == 0) { // it waits for every blocking stream, and they for it
        for (Stream* other : streams()) {
            if (other->context != stream->context || !other->waits_for_default()) continue;
            if (other->capture) {
                invalidate(other->capture);
                return CAPTURE_IMPLICIT;
            }
            after.push_back(other->tail);
        }
    }
    stream->tail = start(lock, stream->context, stream->ordinal, std::move(work), after, false);
    if (task) *task = stream->tail;
    return OK;
}

static int enqueue_and_wait(Lock& lock, Stream* stream, Work work)
{
    TaskRef task;
    TRY(enqueue(lock, stream, std::move(work), &task));
    wait_for(lock, task);
    return stream->context->error;
}

// ---- memory

static constexpr size_t GUARD = 256;
static constexpr unsigned char FRESH = 0xcd, FENCE = 0xfe;

// The allocation that holds all of [at, at + size), of this kind.
static Allocation* holds(uintptr_t at, size_t size, bool host)
{
    auto& memory = state().memory;
    auto found = memory.upper_bound(at);
    if (found == memory.begin()) return nullptr;
    --found;
    const bool inside = at - found->first <= found->second.size
                     && size <= found->second.size - (at - found->first);
    return inside && at < found->first + found->second.size && found->second.host == host
         ? &found->second : nullptr;
}

static int allocate(Context* context, size_t size, bool host, uintptr_t* at,
                    bool portable = false)
{
    State& s = state();
    REFUSE(size == 0 || !at, INVALID_VALUE);
    size_t& used = host ? s.host_used : s.device_used[context->device];
    const size_t all = setting(host ? "FAKE_CUDA_HOST_MEMORY" : "FAKE_CUDA_MEMORY", 1ll << 30);
    REFUSE(size > all || used > all - size, OUT_OF_MEMORY);
    void* memory = nullptr;
    REFUSE(posix_memalign(&memory, 256, size + GUARD), OUT_OF_MEMORY);
    memset(memory, FRESH, size);
    memset((char*)memory + size, FENCE, GUARD);
    used += size;
    *at = (uintptr_t)memory;
    s.memory[*at] = Allocation{size, context, host, portable};
    return OK;
}

// Frees memory, which nothing uses any more. The lock is held.
static int release_now(Context* context, uintptr_t at, bool host)
{
    State& s = state();
    auto found = s.memory.find(at);
    REFUSE(found == s.memory.end(), INVALID_VALUE);
    const size_t size = found->second.size;
    (host ? s.host_used : s.device_used[found->second.context->device]) -= size;
    s.memory.erase(found); // and kept, so that nobody gets the address again
    auto* bytes = (unsigned char*)at;
    const bool intact = std::all_of(bytes + size, bytes + size + GUARD,
                                    [](unsigned char byte) { return byte == FENCE; });
    if (!intact) {
        fprintf(stderr, "fake driver: written behind an allocation of %zu bytes\n", size);
        context->error = ILLEGAL_ADDRESS;
    }
    return context->error;
}

static int release(Lock& lock, Context* context, uintptr_t at, bool host)
{
    State& s = state();
    REFUSE(at == 0, host ? INVALID_VALUE : OK);
    auto found = s.memory.find(at);
    REFUSE(found == s.memory.end() || found->second.host != host, INVALID_VALUE);
    wait_for_all(lock, found->second.context);
    return release_now(context, at, host);
}

// Copies in stream order. Pageable memory makes the call wait, as the driver's staging does.
// Rows of `row` bytes, `pitch` bytes from one to the next on either side.
struct Rows { size_t row, count, to_pitch, from_pitch; };

static int copy_rows(Lock& lock, Stream* stream, const char* name, void* to, const void* from,
                     Rows rows, bool to_host, bool from_host, bool asynchronous)
{
    REFUSE(!stream || stream->context != current.back(), INVALID_HANDLE);
    REFUSE(rows.row == 0 || rows.count == 0, OK);
    if (rows.count > 1) REFUSE(rows.to_pitch < rows.row || rows.from_pitch < rows.row, INVALID_VALUE);
    bool pageable = false;
    struct Side { uintptr_t at; size_t pitch; bool host; };
    for (const Side side : {Side{(uintptr_t)to, rows.to_pitch, to_host},
                            Side{(uintptr_t)from, rows.from_pitch, from_host}}) {
        REFUSE(side.at == 0, INVALID_VALUE);
        const size_t size = (rows.count - 1) * side.pitch + rows.row;
        if (const Allocation* known = holds(side.at, size, side.host)) {
            const bool ours = known->context == stream->context;
            REFUSE(!side.host && !ours, INVALID_VALUE);
            pageable |= !ours && !known->portable;
            continue;
        }
        // Device memory in part or not at all; host memory that is page-locked in part only.
        REFUSE(!side.host || holds(side.at, 0, true) || holds(side.at, 0, false), INVALID_VALUE);
        pageable = true;
    }
    Work work{name, rows.row * rows.count, [=] {
        for (size_t i = 0; i < rows.count; i++)
            memmove((char*)to + i * rows.to_pitch, (const char*)from + i * rows.from_pitch, rows.row);
        return 0;
    }};
    if (!asynchronous) TRY(unsafe_call());
    if ((asynchronous && !pageable) || stream->capture)
        return enqueue(lock, stream, std::move(work));
    return enqueue_and_wait(lock, stream, std::move(work));
}

static int copy(Lock& lock, Stream* stream, const char* name, void* to, const void* from,
                size_t size, bool to_host, bool from_host, bool asynchronous)
{
    return copy_rows(lock, stream, name, to, from, Rows{size, 1, size, size}, to_host, from_host,
                     asynchronous);
}

template <class T>
static int set(Lock& lock, Stream* stream, Pointer at, T value, size_t count, bool asynchronous)
{
    REFUSE(!stream || stream->context != current.back(), INVALID_HANDLE);
    REFUSE(count == 0, OK);
    REFUSE(at % sizeof(T) || !holds(at, count * sizeof(T), false), INVALID_VALUE);
    if (!asynchronous) TRY(unsafe_call());
    Work work{"memset", count * sizeof(T), [=] {
        std::fill_n((T*)at, count, value);
        return 0;
    }};
    // cuMemsetD* without Async is asynchronous to the host too, in the default stream.
    return enqueue(lock, stream, std::move(work));
}

// ---- start and devices

API cuInit(unsigned flags)
{
    State& s = state();
    Lock lock(s.mutex);
    REFUSE(flags, INVALID_VALUE);
    TRY(fault(lock, __func__));
    TRY(setting("FAKE_CUDA_INIT_ERROR", 0));
    REFUSE(devices() == 0, NO_DEVICE);
    if (!s.initialized && getenv("FAKE_CUDA_LOG")) {
        s.log = fopen(getenv("FAKE_CUDA_LOG"), "a");
        const char* connections = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
        if (s.log) fprintf(s.log, "connections=%s\n", connections ? connections : "unset");
    }
    s.initialized = true;
    return OK;
}

API cuDriverGetVersion(int* version)
{
    REFUSE(!version, INVALID_VALUE);
    *version = setting("FAKE_CUDA_VERSION", 13000);
    return OK;
}

static int check_device(int device)
{
    REFUSE(!state().initialized, NOT_INITIALIZED);
    return device >= 0 && device < devices() ? OK : INVALID_DEVICE;
}

API cuDeviceGetCount(int* count)
{
    Lock lock(state().mutex);
    REFUSE(!state().initialized, NOT_INITIALIZED);
    TRY(fault(lock, __func__));
    *count = devices();
    return OK;
}

API cuDeviceGet(int* device, int ordinal)
{
    TRY(check_device(ordinal));
    *device = ordinal;
    return OK;
}

API cuDeviceGetName(char* name, int length, int device)
{
    Lock lock(state().mutex);
    TRY(check_device(device));
    TRY(fault(lock, __func__));
    snprintf(name, length, "Fake GPU %d", device);
    return OK;
}

API cuDeviceGetUuid(unsigned char* uuid, int device)
{
    TRY(check_device(device));
    memset(uuid, device + 1, 16);
    return OK;
}
API cuDeviceGetUuid_v2(unsigned char* uuid, int device) { return cuDeviceGetUuid(uuid, device); }

API cuDeviceGetPCIBusId(char* id, int length, int device)
{
    TRY(check_device(device));
    snprintf(id, length, "0000:%02X:00.0", device + 1);
    return OK;
}

API cuDeviceTotalMem_v2(size_t* bytes, int device)
{
    TRY(check_device(device));
    *bytes = setting("FAKE_CUDA_MEMORY", 1ll << 30);
    return OK;
}

API cuDeviceGetAttribute(int* value, int attribute, int device)
{
    TRY(check_device(device));
    const int capability = setting("FAKE_CUDA_CAPABILITY", 90);
    *value = 0;
    if (setting("FAKE_CUDA_LACKS", -1) == attribute) return OK;
    switch (attribute) {
    case 1: case 2: case 3: *value = 1024; break;         // threads of a block, its x and y
    case 4: *value = 64; break;                           // its z
    case 5: *value = 0x7fffffff; break;                   // a grid's x
    case 6: case 7: *value = 65535; break;                // its y and z
    case 8: *value = 48 * 1024; break;                    // shared memory a block
    case 10: *value = 32; break;                          // a warp
    case 12: *value = 65536; break;                       // registers a block
    case 13: case 36: *value = 1000000; break;            // clocks, kHz
    case 16: *value = sm_count(); break;
    case 31: case 41: *value = 1; break;                  // concurrent kernels, one address space
    case 33: *value = device + 1; break;                  // PCI bus
    case 37: *value = 256; break;                         // memory bus, bits
    case 38: *value = 4 << 20; break;                     // L2
    case 39: *value = 2048; break;                        // threads an SM
    case 40: *value = 2; break;                           // copy engines
    case 75: *value = capability / 10; break;
    case 76: *value = capability % 10; break;
    case 78: *value = 1; break;                           // stream priorities
    case 115: *value = 1; break;                          // memory pools
    case 83: case 89: *value = 1; break;                  // unified memory, and faults in it
    case 97: *value = 227 * 1024; break;                  // shared memory a block if asked for
    default: *value = 0;
    }
    return OK;
}

API cuDeviceCanAccessPeer(int* can, int device, int peer)
{
    TRY(check_device(device));
    TRY(check_device(peer));
    *can = device != peer;
    return OK;
}

// ---- contexts

static Context* make_context(int device)
{
    auto* context = keep(new Context{device});
    context->default_stream = new Stream{context, 0};
    state().contexts.push_back(context);
    return context;
}

// Whether a live handle is a T of this context.
template <class T>
static bool is_of(const std::pair<const void* const, const std::type_info*>& handle,
                  Context* context)
{
    return *handle.second == typeid(T) && ((const T*)handle.first)->context == context;
}

// How many streams, events, modules, graphs and allocations were left to contexts to end.
API fake_cuda_leaked()
{
    Lock lock(state().mutex);
    return state().leaked;
}

// How many contexts there are.
API fake_cuda_contexts()
{
    State& s = state();
    Lock lock(s.mutex);
    return std::count_if(s.contexts.begin(), s.contexts.end(), [](Context* c) { return c->alive; });
}

// The device that is lost for good; -1 for none.
static int lost = -1;

// For tests in the same process: a device is lost, with its primary context, and cannot be opened
// again before another one is named, or -1 for none.
API fake_cuda_lose(int device)
{
    State& s = state();
    Lock lock(s.mutex);
    lost = device;
    if (device >= 0 && s.primary[device]) s.primary[device]->error = ILLEGAL_ADDRESS;
    return OK;
}

static void end_context(Lock& lock, Context* context)
{
    State& s = state();
    wait_for_all(lock, context);
    context->alive = false;
    s.live.erase(context);
    for (auto at = s.live.begin(); at != s.live.end();) {
        if (!is_of<Stream>(*at, context) && !is_of<Event>(*at, context)
            && !is_of<Module>(*at, context) && !is_of<Exec>(*at, context)) {
            ++at;
            continue;
        }
        s.leaked++;
        at = s.live.erase(at);
    }
    for (auto at = s.memory.begin(); at != s.memory.end();) {
        const Allocation& gone = at->second;
        if (gone.context != context) { ++at; continue; }
        (gone.host ? s.host_used : s.device_used[context->device]) -= gone.size;
        s.leaked++;
        at = s.memory.erase(at);
    }
}

API cuDevicePrimaryCtxRetain(Context** out, int device)
{
    State& s = state();
    Lock lock(s.mutex);
    TRY(check_device(device));
    TRY(fault(lock, __func__));
    REFUSE(device == lost, ILLEGAL_ADDRESS);
    if (!s.primary[device]) s.primary[device] = make_context(device);
    REFUSE(s.primary[device]->error, s.primary[device]->error);
    s.retained[device]++;
    *out = s.primary[device];
    return OK;
}

static void end_primary(Lock& lock, int device)
{
    State& s = state();
    Context* old = s.primary[device];
    if (!old) return;
    end_context(lock, old);
    s.primary[device] = nullptr;
    if (!old->error || setting("FAKE_CUDA_RECOVERS", 0)) return;
    s.primary[device] = make_context(device); // as lost as the old one
    s.primary[device]->error = old->error;
}

API cuDevicePrimaryCtxRelease_v2(int device)
{
    State& s = state();
    Lock lock(s.mutex);
    TRY(check_device(device));
    REFUSE(s.retained[device] == 0, INVALID_CONTEXT);
    if (--s.retained[device] == 0) end_primary(lock, device);
    return OK;
}

API cuDevicePrimaryCtxReset_v2(int device)
{
    State& s = state();
    Lock lock(s.mutex);
    TRY(check_device(device));
    end_primary(lock, device);
    return OK;
}

API cuDevicePrimaryCtxSetFlags_v2(int device, unsigned) { return check_device(device); }

API cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active)
{
    TRY(check_device(device));
    *flags = 0;
    *active = state().primary[device] != nullptr;
    return OK;
}

API cuCtxCreate_v2(Context** out, unsigned, int device)
{
    State& s = state();
    Lock lock(s.mutex);
    TRY(check_device(device));
    *out = make_context(device);
    current.push_back(*out);
    return OK;
}

API cuCtxDestroy_v2(Context* context)
{
    State& s = state();
    Lock lock(s.mutex);
    REFUSE(!known(context), INVALID_CONTEXT);
    end_context(lock, context);
    if (!current.empty() && current.back() == context) current.pop_back();
    return OK;
}

API cuCtxSetCurrent(Context* context)
{
    State& s = state();
    Lock lock(s.mutex);
    REFUSE(!s.initialized, NOT_INITIALIZED);
    TRY(fault(lock, __func__));
    REFUSE(context && !known(context), INVALID_CONTEXT);
    if (!current.empty()) current.pop_back();
    if (context) current.push_back(context);
    return OK;
}

API cuCtxGetCurrent(Context** out)
{
    REFUSE(!state().initialized, NOT_INITIALIZED);
    *out = current.empty() ? nullptr : current.back();
    return OK;
}

API cuCtxPushCurrent_v2(Context* context)
{
    State& s = state();
    Lock lock(s.mutex);
    REFUSE(!known(context), INVALID_CONTEXT);
    current.push_back(context);
    return OK;
}

API cuCtxPopCurrent_v2(Context** out)
{
    REFUSE(current.empty(), INVALID_CONTEXT);
    if (out) *out = current.back();
    current.pop_back();
    return OK;
}

API cuCtxGetDevice(int* device) { ENTER *device = context->device; return OK; }
API cuCtxGetFlags(unsigned* flags) { ENTER *flags = 0; return OK; }
API cuCtxGetApiVersion(Context*, unsigned* version) { *version = 3020; return OK; }
API cuCtxGetStreamPriorityRange(int* least, int* greatest)
{
    ENTER
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return OK;
}

API cuCtxSynchronize()
{
    ENTER
    TRY(unsafe_call());
    wait_for_all(lock, context);
    return context->error;
}

// ---- memory

API cuMemGetInfo_v2(size_t* free_bytes, size_t* all)
{
    ENTER
    *all = setting("FAKE_CUDA_MEMORY", 1ll << 30);
    *free_bytes = *all - s.device_used[context->device];
    return OK;
}

API cuMemAlloc_v2(Pointer* out, size_t size)
{
    ENTER
    TRY(unsafe_call());
    uintptr_t at = 0;
    TRY(allocate(context, size, false, &at));
    *out = at;
    return OK;
}

API cuMemFree_v2(Pointer at)
{
    ENTER
    TRY(unsafe_call());
    return release(lock, context, at, false);
}

API cuMemHostAlloc(void** out, size_t size, unsigned flags)
{
    ENTER
    TRY(unsafe_call());
    uintptr_t at = 0;
    TRY(allocate(context, size, true, &at, flags & 1));
    *out = (void*)at;
    return OK;
}
API cuMemAllocHost_v2(void** out, size_t size) { ALIAS return cuMemHostAlloc(out, size, 0); }

API cuMemFreeHost(void* at)
{
    ENTER
    TRY(unsafe_call());
    return release(lock, context, (uintptr_t)at, true);
}

API cuMemAllocAsync(Pointer* out, size_t size, void* handle)
{
    ENTER
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream || stream->context != context, INVALID_HANDLE);
    REFUSE(stream->capture, NOT_SUPPORTED); // graphs' own memory: not here
    uintptr_t at = 0;
    TRY(allocate(context, size, false, &at));
    *out = at;
    return enqueue(lock, stream, Work{"allocate", size, nullptr});
}

// What uses the memory later finds it gone.
API cuMemFreeAsync(Pointer at, void* handle)
{
    ENTER
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream || stream->context != context, INVALID_HANDLE);
    REFUSE(!s.memory.count(at) || s.memory[at].host, INVALID_VALUE);
    return enqueue(lock, stream, Work{"free", s.memory[at].size, [=] {
        Lock lock(state().mutex);
        return release_now(context, at, false);
    }});
}

// Unified memory is the device's, which the host can reach here anyway.
API cuMemAllocManaged(Pointer* out, size_t size, unsigned flags)
{
    ALIAS
    REFUSE(flags != 1, INVALID_VALUE);
    return cuMemAlloc_v2(out, size);
}

// -1 is the host.
static int check_side(Pointer at, size_t size, int side)
{
    REFUSE(!holds(at, size, false) || size == 0, INVALID_VALUE);
    return side == -1 ? OK : check_device(side);
}

API cuMemAdvise(Pointer at, size_t size, int advice, int side)
{
    ENTER
    REFUSE(advice < 1 || advice > 6, INVALID_VALUE);
    return check_side(at, size, side);
}

API cuMemPrefetchAsync(Pointer at, size_t size, int side, void* handle)
{
    ENTER
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream || stream->context != context, INVALID_HANDLE);
    TRY(check_side(at, size, side));
    return enqueue(lock, stream, Work{side == -1 ? "prefetch-host" : "prefetch", size, nullptr});
}

API cuDeviceGetDefaultMemPool(void** pool, int device)
{
    TRY(check_device(device));
    static int pools[64];
    *pool = &pools[device];
    return OK;
}

// Of what there is to set, only the release threshold.
API cuMemPoolSetAttribute(void* pool, int attribute, void*)
{
    REFUSE(!pool || attribute != 4, INVALID_VALUE);
    return OK;
}

API cuMemHostGetDevicePointer_v2(Pointer* out, void* at, unsigned)
{
    ENTER
    REFUSE(!holds((uintptr_t)at, 0, true), INVALID_VALUE);
    *out = (Pointer)at;
    return OK;
}

API cuMemcpyHtoDAsync_v2(Pointer to, const void* from, size_t size, void* stream)
{
    ENTER
    return copy(lock, stream_of(context, stream), "h2d", (void*)to, from, size, false, true, true);
}
API cuMemcpyDtoHAsync_v2(void* to, Pointer from, size_t size, void* stream)
{
    ENTER
    return copy(lock, stream_of(context, stream), "d2h", to, (void*)from, size, true, false, true);
}
// Logged as direct if the source's context may reach the target's.
API cuMemcpyPeerAsync(Pointer to, Context* to_context, Pointer from, Context* from_context,
                      size_t size, void* handle)
{
    ENTER
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream || stream->context != context, INVALID_HANDLE);
    REFUSE(!known(to_context) || !known(from_context), INVALID_CONTEXT);
    for (auto [at, of] : {std::pair(to, to_context), std::pair(from, from_context)}) {
        const Allocation* known = holds(at, size, false);
        REFUSE(!known || known->context != of, INVALID_VALUE);
    }
    const bool direct = from_context->peers.count(to_context);
    const bool breaks = direct && setting("FAKE_CUDA_PEER_BREAKS", 0);
    return enqueue(lock, stream, Work{direct ? "peer" : "peer-staged", size, [=] {
        memmove((void*)to, (const void*)from, size);
        if (breaks) *(char*)to ^= 1;
        return 0;
    }});
}

API cuCtxEnablePeerAccess(Context* peer, unsigned flags)
{
    ENTER
    REFUSE(!known(peer) || flags, INVALID_VALUE);
    REFUSE(peer->device == context->device, PEER_ACCESS_UNSUPPORTED);
    return context->peers.insert(peer).second ? OK : PEER_ACCESS_ALREADY_ENABLED;
}
API cuCtxDisablePeerAccess(Context* peer)
{
    ENTER
    return context->peers.erase(peer) ? OK : PEER_ACCESS_NOT_ENABLED;
}

API cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t size, void* stream)
{
    ENTER
    return copy(lock, stream_of(context, stream), "d2d", (void*)to, (void*)from, size, false,
                false, true);
}
// As in cuda.h; of the kinds of memory, 1 is the host's and 2 the device's.
struct Copy2D {
    size_t from_x, from_y;
    int from_kind;
    const void* from_host;
    Pointer from_device;
    void* from_array;
    size_t from_pitch, to_x, to_y;
    int to_kind;
    void* to_host;
    Pointer to_device;
    void* to_array;
    size_t to_pitch, row, rows;
};

API cuMemcpy2DAsync_v2(const Copy2D* it, void* stream)
{
    ENTER
    const bool placed = it->from_x || it->from_y || it->to_x || it->to_y; // not taken up here
    REFUSE(placed || it->from_kind < 1 || it->from_kind > 2, INVALID_VALUE);
    REFUSE(it->to_kind < 1 || it->to_kind > 2, INVALID_VALUE);
    void* to = it->to_kind == 1 ? it->to_host : (void*)it->to_device;
    const void* from = it->from_kind == 1 ? it->from_host : (const void*)it->from_device;
    const char* name = it->to_kind == 1 ? "d2h" : it->from_kind == 1 ? "h2d" : "d2d";
    const Rows rows{it->row, it->rows, it->to_pitch, it->from_pitch};
    return copy_rows(lock, stream_of(context, stream), name, to, from, rows, it->to_kind == 1,
                     it->from_kind == 1, true);
}

API cuMemcpyHtoD_v2(Pointer to, const void* from, size_t size)
{
    ENTER
    return copy(lock, context->default_stream, "h2d", (void*)to, from, size, false, true, false);
}
API cuMemcpyDtoH_v2(void* to, Pointer from, size_t size)
{
    ENTER
    return copy(lock, context->default_stream, "d2h", to, (void*)from, size, true, false, false);
}
API cuMemcpyDtoD_v2(Pointer to, Pointer from, size_t size)
{
    ENTER
    return copy(lock, context->default_stream, "d2d", (void*)to, (void*)from, size, false, false,
                false);
}

API cuMemsetD8_v2(Pointer at, unsigned char value, size_t count)
{
    ENTER
    return set(lock, context->default_stream, at, value, count, false);
}
API cuMemsetD16_v2(Pointer at, unsigned short value, size_t count)
{
    ENTER
    return set(lock, context->default_stream, at, value, count, false);
}
API cuMemsetD32_v2(Pointer at, unsigned value, size_t count)
{
    ENTER
    return set(lock, context->default_stream, at, value, count, false);
}
API cuMemsetD8Async(Pointer at, unsigned char value, size_t count, void* stream)
{
    ENTER
    return set(lock, stream_of(context, stream), at, value, count, true);
}
API cuMemsetD32Async(Pointer at, unsigned value, size_t count, void* stream)
{
    ENTER
    return set(lock, stream_of(context, stream), at, value, count, true);
}

// ---- streams

API cuStreamCreateWithPriority(Stream** out, unsigned flags, int priority)
{
    ENTER
    REFUSE(flags > 1, INVALID_VALUE);
    *out = keep(new Stream{context, ++s.streams_made, flags, std::clamp(priority, -5, 0)});
    streams().push_back(*out);
    return OK;
}
API cuStreamCreate(Stream** out, unsigned flags)
{
    ALIAS
    return cuStreamCreateWithPriority(out, flags, 0);
}

API cuStreamDestroy_v2(Stream* stream)
{
    ENTER
    REFUSE(!known(stream), INVALID_HANDLE);
    if (stream->capture) invalidate(stream->capture);
    s.live.erase(stream); // what it was given goes on
    return OK;
}

API cuStreamSynchronize(void* handle)
{
    ENTER
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream, INVALID_HANDLE);
    if (stream->capture) {
        invalidate(stream->capture);
        return CAPTURE_UNSUPPORTED;
    }
    TRY(unsafe_call());
    wait_for(lock, TaskRef(stream->tail));
    return context->error;
}

API cuStreamQuery(void* handle)
{
    ENTER
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream, INVALID_HANDLE);
    if (stream->capture) {
        invalidate(stream->capture);
        return CAPTURE_UNSUPPORTED;
    }
    return stream->tail && !stream->tail->done ? NOT_READY : OK;
}

API cuStreamGetFlags(void* handle, unsigned* flags)
{
    ENTER
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream, INVALID_HANDLE);
    *flags = stream->flags;
    return OK;
}

API cuStreamGetPriority(void* handle, int* priority)
{
    ENTER
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream, INVALID_HANDLE);
    *priority = stream->priority;
    return OK;
}

API cuLaunchHostFunc(void* handle, void (*function)(void*), void* data)
{
    ENTER
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream, INVALID_HANDLE);
    REFUSE(!function, INVALID_VALUE);
    return enqueue(lock, stream, Work{"host", 0, [=] { function(data); return 0; }});
}

// ---- events

API cuEventCreate(Event** out, unsigned flags)
{
    ENTER
    REFUSE(flags > 7, INVALID_VALUE);
    *out = keep(new Event{context, flags, nullptr, nullptr, {}});
    return OK;
}

API cuEventDestroy_v2(Event* event)
{
    ENTER
    REFUSE(!known(event), INVALID_HANDLE);
    s.live.erase(event);
    return OK;
}

// A record that is over, for events recorded inside a running graph.
static TaskRef mark_now(Context* context)
{
    TaskRef mark(new Task{{"record", 0, nullptr}, context, 0, true, 0});
    mark->done = true;
    mark->start = mark->end = now_ns();
    return mark;
}

API cuEventRecordWithFlags(Event* event, void* handle, unsigned flags)
{
    ENTER
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream || !known(event) || event->context != stream->context, INVALID_HANDLE);
    REFUSE(flags > 1, INVALID_VALUE);
    if (!stream->capture) {
        REFUSE(flags == 1, INVALID_VALUE); // external means: in a capture
        TaskRef mark;
        TRY(enqueue(lock, stream, Work{"record", 0, nullptr}, &mark));
        event->mark = mark;
        event->capture = nullptr;
        return OK;
    }
    REFUSE(stream->capture->invalid, CAPTURE_INVALIDATED);
    if (flags == 1) {
        return enqueue(lock, stream, Work{"record", 0, [event] {
            State& s = state();
            Lock lock(s.mutex);
            event->mark = mark_now(event->context);
            return 0;
        }});
    }
    event->capture = stream->capture;
    event->frontier = stream->frontier;
    return OK;
}
API cuEventRecord(Event* event, void* stream) { ALIAS return cuEventRecordWithFlags(event, stream, 0); }

API cuStreamWaitEvent(void* handle, Event* event, unsigned flags)
{
    ENTER
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream || !known(event), INVALID_HANDLE);
    REFUSE(flags > 1, INVALID_VALUE);
    const CaptureRef theirs = event->capture;
    const bool live = theirs
        && std::count(s.captures.begin(), s.captures.end(), theirs);
    if (stream->capture && flags == 1) {
        return enqueue(lock, stream, Work{"wait", 0, [event] {
            Lock lock(state().mutex);
            wait_for(lock, event->mark);
            return 0;
        }});
    }
    if (live) {
        REFUSE(theirs->invalid, CAPTURE_INVALIDATED);
        if (stream->capture && stream->capture != theirs) {
            invalidate(stream->capture);
            invalidate(theirs);
            return CAPTURE_MERGE;
        }
        if (!stream->capture) {
            REFUSE(stream->ordinal == 0, CAPTURE_IMPLICIT);
            join(theirs, stream);
        }
        for (Node* node : event->frontier)
            if (!std::count(stream->frontier.begin(), stream->frontier.end(), node))
                stream->frontier.push_back(node);
        return OK;
    }
    if (stream->capture) { // on something outside
        invalidate(stream->capture);
        return CAPTURE_ISOLATION;
    }
    REFUSE(theirs, CAPTURED_EVENT);
    REFUSE(!event->mark, OK);
    std::vector<TaskRef> after = before(stream);
    after.push_back(event->mark);
    stream->tail = start(lock, stream->context, stream->ordinal, Work{"wait", 0, nullptr}, after,
                         false);
    return OK;
}

API cuEventQuery(Event* event)
{
    ENTER
    REFUSE(!known(event), INVALID_HANDLE);
    REFUSE(event->capture, CAPTURED_EVENT);
    return event->mark && !event->mark->done ? NOT_READY : OK;
}

API cuEventSynchronize(Event* event)
{
    ENTER
    REFUSE(!known(event), INVALID_HANDLE);
    REFUSE(event->capture, CAPTURED_EVENT);
    TRY(unsafe_call());
    wait_for(lock, TaskRef(event->mark));
    return context->error;
}

API cuEventElapsedTime(float* ms, Event* from, Event* to)
{
    ENTER
    REFUSE(!known(from) || !known(to), INVALID_HANDLE);
    REFUSE((from->flags | to->flags) & 2, INVALID_HANDLE); // made without timing
    REFUSE(!from->mark || !to->mark, INVALID_HANDLE);
    REFUSE(!from->mark->done || !to->mark->done, NOT_READY);
    *ms = (to->mark->end - from->mark->end) / 1e6f;
    return OK;
}
API cuEventElapsedTime_v2(float* ms, Event* from, Event* to)
{
    ALIAS
    return cuEventElapsedTime(ms, from, to);
}

// ---- modules and launches

// What begins a cubin of this driver; its PTX follows.
static const char CUBIN[] = "\x7f" "ELF";

static void compile()
{
    std::this_thread::sleep_for(std::chrono::microseconds(setting("FAKE_CUDA_COMPILE_US", 0)));
}

static int check_ptx(const std::string& text)
{
    REFUSE(text.find("\n.version ") == std::string::npos, INVALID_PTX);
    const size_t target = text.find("\n.target sm_");
    REFUSE(target == std::string::npos, INVALID_PTX);
    REFUSE(atoi(text.c_str() + target + 12) > setting("FAKE_CUDA_CAPABILITY", 90), NO_BINARY);
    return OK;
}

API cuModuleLoadData(Module** out, const void* image)
{
    ENTER
    REFUSE(!image, INVALID_VALUE);
    std::string text = (const char*)image;
    if (text.compare(0, strlen(CUBIN), CUBIN) == 0) text.erase(0, strlen(CUBIN));
    else {
        compile();
        TRY(check_ptx(text));
    }
    *out = keep(new Module{context, text});
    return OK;
}
API cuModuleLoadDataEx(Module** out, const void* image, unsigned, int*, void**)
{
    ALIAS
    return cuModuleLoadData(out, image);
}

API cuLinkCreate_v2(unsigned, int*, void**, Link** out)
{
    ENTER
    *out = keep(new Link{context, CUBIN});
    return OK;
}

API cuLinkAddData_v2(Link* link, int type, void* data, size_t size, const char*, unsigned, int*,
                     void**)
{
    {
        ENTER
        REFUSE(!known(link), INVALID_HANDLE);
        REFUSE(type != 1 || !data || size == 0, INVALID_VALUE); // PTX
    }
    const std::string text((const char*)data, size - 1);
    REFUSE(((const char*)data)[size - 1] != 0, INVALID_VALUE);
    compile();
    TRY(check_ptx(text));
    link->cubin += text;
    return OK;
}

// The cubin is the link's until it is destroyed.
API cuLinkComplete(Link* link, void** cubin, size_t* size)
{
    ENTER
    REFUSE(!known(link), INVALID_HANDLE);
    *cubin = link->cubin.data();
    *size = link->cubin.size();
    return OK;
}

API cuLinkDestroy(Link* link)
{
    ENTER
    REFUSE(!known(link), INVALID_HANDLE);
    s.live.erase(link);
    delete link;
    return OK;
}

API cuModuleUnload(Module* module)
{
    ENTER
    REFUSE(!known(module), INVALID_HANDLE);
    s.live.erase(module);
    return OK;
}

API cuModuleGetFunction(Function** out, Module* module, const char* name)
{
    ENTER
    REFUSE(!known(module), INVALID_HANDLE);
    const std::string entry = std::string(".visible .entry ") + name + "(";
    REFUSE(module->text.find(entry) == std::string::npos, NOT_FOUND);
    auto* function = new Function{context, nullptr, name, nullptr, nullptr, 0};
    function->kernel =
        emulator_find(name, &function->sizes, &function->pointers, &function->count);
    REFUSE(!function->kernel, NOT_FOUND);
    const size_t from = module->text.find(entry);
    const std::string given = module->text.substr(from, module->text.find("\n)", from) - from);
    size_t parameters = 0;
    for (size_t at = 0; (at = given.find(".param ", at)) != std::string::npos; at++) parameters++;
    function->stamped = parameters == function->count + 1;
    REFUSE(!function->stamped && parameters != function->count, INVALID_PTX);
    *out = keep(function);
    return OK;
}

API cuFuncSetAttribute(Function* function, int attribute, int value)
{
    ENTER
    REFUSE(!known(function), INVALID_HANDLE);
    if (attribute != 8) return OK; // the most dynamic shared memory
    REFUSE(value < 0 || value > 227 * 1024, INVALID_VALUE);
    function->most_shared = value;
    return OK;
}

API cuFuncGetAttribute(int* value, int attribute, Function* function)
{
    ENTER
    REFUSE(!known(function), INVALID_HANDLE);
    *value = attribute == 0 ? 1024 : attribute == 4 ? 32 : attribute == 8 ? function->most_shared : 0;
    return OK;
}

API cuFuncSetCacheConfig(Function*, int) { return OK; }

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* function, int threads,
                                                size_t)
{
    ENTER
    REFUSE(!known(function) || function->context != context, INVALID_HANDLE);
    REFUSE(threads < 1 || threads > 1024, INVALID_VALUE);
    *blocks = std::min(32, 2048 / threads);
    return OK;
}

// Block timestamps, as an instrumented kernel records them. The emulator runs blocks
// one after the other, so that each has its share of the time; multiprocessors are made up.
struct StampRecord { uint64_t start, end; uint32_t unit, unused[3]; };

static void write_timestamps(StampRecord* records, size_t blocks, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < blocks; i++) {
        StampRecord& record = records[i];
        record.start = start + (end - start) * i / blocks;
        record.unit = i % 4;
        record.end = std::max<uint64_t>(record.end, start + (end - start) * (i + 1) / blocks);
    }
}

static int enqueue_launch(Lock& lock, Context* context, bool cooperative, Function* function, unsigned gx,
                  unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                  void* handle, void** parameters)
{
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream || !known(function), INVALID_HANDLE);
    REFUSE(stream->context != context || function->context != context, INVALID_HANDLE);
    REFUSE(!gx || !gy || !gz || gx > 0x7fffffff || gy > 65535 || gz > 65535, INVALID_VALUE);
    REFUSE(!bx || !by || !bz || bx > 1024 || by > 1024 || bz > 64, INVALID_VALUE);
    REFUSE(bx * by * bz > 1024 || shared > function->most_shared, INVALID_VALUE);
    REFUSE(function->count && !parameters, INVALID_VALUE);
    std::vector<std::vector<char>> values;
    for (size_t i = 0; i < function->count; i++) {
        REFUSE(!parameters[i], INVALID_VALUE);
        const char* from = (const char*)parameters[i];
        values.emplace_back(from, from + function->sizes[i]);
    }
    StampRecord* records = nullptr;
    const size_t blocks = (size_t)gx * gy * gz;
    if (function->stamped) memcpy(&records, parameters[function->count], sizeof records);
    // An address of this context, or of page-locked memory.
    const auto within = [context](uintptr_t at, size_t size) {
        const Allocation* known = holds(at, size, false);
        return known ? known->context == context : holds(at, size, true) != nullptr;
    };
    auto run = [=]() mutable {
        {
            State& s = state();
            Lock lock(s.mutex);
            const long most = setting("FAKE_CUDA_FAIL_AFTER", -1);
            if (most >= 0 && s.launches++ == most) {
                struck();
                return (int)ILLEGAL_ADDRESS;
            }
            for (size_t i = 0; i < function->count; i++) {
                uintptr_t at = 0;
                if (!function->pointers[i]) continue;
                memcpy(&at, values[i].data(), sizeof at);
                if (within(at, 1)) continue;
                fprintf(stderr, "fake driver: %s: parameter %zu points nowhere\n",
                        function->name.c_str(), i);
                return (int)ILLEGAL_ADDRESS;
            }
            if (function->stamped && !within((uintptr_t)records, blocks * sizeof *records)) {
                fprintf(stderr, "fake driver: %s: no room for its block timestamps\n",
                        function->name.c_str());
                return (int)ILLEGAL_ADDRESS;
            }
        }
        const uint64_t began = now_ns();
        std::vector<void*> given;
        for (auto& value : values) given.push_back(value.data());
        const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
        const int answer = emulator_run(function->kernel, grid, block, shared, cooperative, given.data());
        if (function->stamped) write_timestamps(records, blocks, began, now_ns());
        if (answer == EMULATOR_OK) return (int)OK;
        const bool waits = answer == EMULATOR_DEADLOCK || answer == EMULATOR_BARRIER_DIVERGED
                           || answer == EMULATOR_WARP_DIVERGED;
        fprintf(stderr, "fake driver: %s: emulator says %d (launch.h)\n", function->name.c_str(),
                answer);
        return (int)(waits ? LAUNCH_TIMEOUT : ILLEGAL_ADDRESS);
    };
    if (setting("FAKE_CUDA_DRY", 0)) {
        int last = 0;
        if (function->count) memcpy(&last, values.back().data(), sizeof last);
        const std::string name = function->name + "(" + std::to_string(last) + ")";
        return enqueue(lock, stream, Work{name, 0, nullptr});
    }
    return enqueue(lock, stream, Work{function->name, 0, run});
}

// Whether as many launches were called on each of these devices, with this one, before too long.
static bool meet(int count)
{
    static std::mutex mutex;
    static std::condition_variable called;
    static std::vector<int> launches(64);
    if (count <= 0 || current.empty() || !current.back()) return true;
    Lock lock(mutex);
    const int own = ++launches[current.back()->device];
    called.notify_all();
    return called.wait_for(lock, std::chrono::seconds(30), [&] {
        return std::all_of(launches.begin(), launches.begin() + count,
                           [&](int others) { return others >= own; });
    });
}

API cuLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned shared, void* handle, void** parameters,
                   void** extra)
{
    REFUSE(!meet(setting("FAKE_CUDA_MEET", 0)), LAUNCH_TIMEOUT);
    ENTER
    REFUSE(extra, NOT_SUPPORTED);
    return enqueue_launch(lock, context, false, function, gx, gy, gz, bx, by, bz, shared, handle, parameters);
}

// All blocks run at the same time here if each has an SM of its own.
API cuLaunchCooperativeKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, unsigned bz, unsigned shared, void* handle,
                              void** parameters)
{
    ENTER
    REFUSE((size_t)gx * gy * gz > (size_t)sm_count(), COOPERATIVE_LAUNCH_TOO_LARGE);
    return enqueue_launch(lock, context, true, function, gx, gy, gz, bx, by, bz, shared, handle, parameters);
}

// ---- captures and graphs

API cuStreamBeginCapture_v2(void* handle, int mode)
{
    ENTER
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream, INVALID_HANDLE);
    REFUSE(stream->ordinal == 0, CAPTURE_UNSUPPORTED);
    REFUSE(stream->capture, ILLEGAL_STATE);
    REFUSE(mode < 0 || mode > 2, INVALID_VALUE);
    CaptureRef capture(new Capture);
    capture->origin = stream;
    capture->thread = std::this_thread::get_id();
    capture->mode = mode;
    stream->frontier.clear();
    join(capture, stream);
    s.captures.push_back(capture);
    return OK;
}

// Whether everything that was captured comes before the origin's end.
static bool joined(const Capture& capture)
{
    std::unordered_set<const Node*> seen;
    std::vector<Node*> next = capture.origin->frontier;
    while (!next.empty()) {
        Node* node = next.back();
        next.pop_back();
        if (!seen.insert(node).second) continue;
        next.insert(next.end(), node->after.begin(), node->after.end());
    }
    return std::all_of(capture.streams.begin(), capture.streams.end(), [&](Stream* stream) {
        return std::all_of(stream->frontier.begin(), stream->frontier.end(),
                           [&](Node* node) { return seen.count(node) != 0; });
    });
}

API cuStreamEndCapture(void* handle, std::shared_ptr<Graph>** out)
{
    ENTER
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream, INVALID_HANDLE);
    *out = nullptr;
    const CaptureRef capture = stream->capture;
    REFUSE(!capture, ILLEGAL_STATE);
    REFUSE(capture->origin != stream, CAPTURE_UNMATCHED);
    REFUSE(capture->mode != 2 && capture->thread != std::this_thread::get_id(),
           CAPTURE_WRONG_THREAD);
    const bool complete = joined(*capture);
    for (Stream* member : capture->streams) {
        member->capture = nullptr;
        member->frontier.clear();
    }
    s.captures.erase(std::find(s.captures.begin(), s.captures.end(), capture));
    REFUSE(capture->invalid, CAPTURE_INVALIDATED);
    REFUSE(!complete, CAPTURE_UNJOINED);
    *out = keep(new std::shared_ptr<Graph>(capture->graph));
    return OK;
}

API cuStreamIsCapturing(void* handle, int* status)
{
    ENTER
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream, INVALID_HANDLE);
    *status = !stream->capture ? 0 : stream->capture->invalid ? 2 : 1;
    return OK;
}

API cuThreadExchangeStreamCaptureMode(int* mode)
{
    static thread_local int mine = 0;
    std::swap(mine, *mode);
    return OK;
}

API cuGraphInstantiateWithFlags(Exec** out, std::shared_ptr<Graph>* graph, unsigned long long)
{
    ENTER
    REFUSE(!known(graph), INVALID_HANDLE);
    *out = keep(new Exec{context, *graph, nullptr});
    return OK;
}
API cuGraphInstantiate_v2(Exec** out, std::shared_ptr<Graph>* graph, void**, char*, size_t)
{
    ALIAS
    return cuGraphInstantiateWithFlags(out, graph, 0);
}

API cuGraphUpload(Exec* exec, void* handle)
{
    ENTER
    REFUSE(!known(exec) || !stream_of(context, handle), INVALID_HANDLE);
    return OK;
}

API cuGraphLaunch(Exec* exec, void* handle)
{
    ENTER
    Stream* stream = stream_of(context, handle);
    REFUSE(!stream || !known(exec) || exec->context != context, INVALID_HANDLE);
    if (stream->capture) {
        invalidate(stream->capture);
        return CAPTURE_UNSUPPORTED; // child graphs: not here
    }
    TaskRef begin;
    TRY(enqueue(lock, stream, Work{"graph", 0, nullptr}, &begin));
    std::map<const Node*, TaskRef> tasks;
    std::vector<TaskRef> all{begin};
    for (const auto& node : exec->graph->nodes) {
        std::vector<TaskRef> after{begin, exec->last};
        for (Node* before : node->after) after.push_back(tasks[before]);
        tasks[node.get()] = start(lock, context, node->stream, node->work, after, true);
        all.push_back(tasks[node.get()]);
    }
    stream->tail = start(lock, context, stream->ordinal, Work{"graph-end", 0, nullptr}, all, false);
    exec->last = stream->tail;
    return OK;
}

API cuGraphGetNodes(std::shared_ptr<Graph>* graph, void**, size_t* count)
{
    ENTER
    REFUSE(!known(graph), INVALID_HANDLE);
    *count = (*graph)->nodes.size();
    return OK;
}

API cuGraphDestroy(std::shared_ptr<Graph>* graph)
{
    ENTER
    REFUSE(!known(graph), INVALID_HANDLE);
    s.live.erase(graph);
    return OK;
}

API cuGraphExecDestroy(Exec* exec)
{
    ENTER
    REFUSE(!known(exec), INVALID_HANDLE);
    s.live.erase(exec); // a launch under way goes on
    return OK;
}

// ---- errors

struct Words { int code; const char *name, *text; };
static const Words WORDS[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE",
     "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "system has unsupported display driver / cuda driver combination"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "operation would result in a merge of separate capture sequences"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not ended in the same stream as it began"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {907, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
};

static int words(int code, const char** out, const char* Words::*which)
{
    for (const Words& entry : WORDS) {
        if (entry.code != code) continue;
        *out = entry.*which;
        return OK;
    }
    *out = nullptr;
    return INVALID_VALUE;
}
API cuGetErrorString(int code, const char** out) { return words(code, out, &Words::text); }
API cuGetErrorName(int code, const char** out) { return words(code, out, &Words::name); }
