/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of a process: one for each thread that does something, made at its first event, and one
 * of definitions, which all threads share behind a lock. A child of a fork begins with its own.
 */
#include "agent/tracer/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/core/agent.h"
#include "agent/core/runtime.h"
#include "agent/core/switch.h"
#include "agent/tracer/os_counters.h"
#include "agent/tracer/tracer_filter.h"
#include "agent/tracer/tracer_functions.h"
#include "agent/tracer/tracer_regions.h"
#include "agent/unwind/callers.h"
#include "base/clock.h"
#include "base/fnv.h"

static struct as_tracer_part *part; /* NULL: not wanted here */
static uint64_t begun_ns;           /* names the files of this execution */
static struct as_trace_writer definitions;
static bool definitions_failed;
static _Atomic int defining; /* a lock */
/* The child of a fork says again what its parent's numbers mean. */
static struct {
    uint32_t group;
    const char *_Atomic text;
} * known; /* AS_TRACER_NAMES_N, where something is traced */
static _Atomic uint32_t names;

/* ---- Threads ------------------------------------------------------------------------------ */

#define ASIDE_N 32768u /* words of samples that wait: more than a thousand */

/* What this thread has, once it has it. */
struct tracer_area {
    struct as_tracer_thread own, muted;
    uint64_t aside[]; /* where there are samples */
};
static AS_AGENT_LOCAL struct as_tracer_thread *own, *muted;
static AS_AGENT_LOCAL bool beginning, ended;
static AS_AGENT_LOCAL unsigned defining_here; /* this thread holds the lock, or waits for it */
static pid_t traced_pid;                      /* whose streams these are */

static struct tracer_area *get_area(void)
{
    struct tracer_area *area;
    const size_t aside_b = part->samples ? ASIDE_N * sizeof *area->aside : 0;
    return as_agent_area(&as_agent_tracer, sizeof *area + aside_b);
}

/* ---- Streams ------------------------------------------------------------------------------ */

static void stream_path(uint32_t tid, char *path)
{
    char name[AS_AGENT_FILE_B] = "";
    const char *end = name + sizeof name - 1;
    char *at = as_agent_append(name, end, AS_TRACER_DIRECTORY "/" AS_TRACE_PREFIX ".");
    at = as_agent_append_number(at, end, (uint64_t)as_agent.pid);
    at = as_agent_append(at, end, ".");
    at = as_agent_append_number(at, end, begun_ns);
    at = as_agent_append(at, end, ".");
    *as_agent_append_number(at, end, tid) = 0;
    as_agent_path(name, path);
}

/* `area` of a thread; NULL: it is the stream of definitions. */
static bool open_stream(struct as_trace_writer *w, uint32_t tid, const char *name,
                        struct tracer_area *area)
{
    char path[AS_AGENT_PAGE_B];
    stream_path(tid, path);
    const struct as_trace_writing how = {.path = path,
                                         .pid = (uint32_t)as_agent.pid,
                                         .tid = tid,
                                         .parent_tid = (uint32_t)as_agent_self.parent_tid,
                                         .clock = part->clock,
                                         .ring_n = tid ? part->ring_n : 0,
                                         .tick_hz = part->tick_hz,
                                         .budget_b = part->limited ? &part->budget_b : NULL,
                                         .name = name,
                                         .aside = area && part->samples ? area->aside : NULL,
                                         .aside_n = area && part->samples ? ASIDE_N : 0};
    const int rc = as_agent_is_confined() ? -EPERM : as_trace_writer_open(w, &how);
    if (rc < 0) {
        atomic_fetch_add(&part->streams_missed, 1);
        atomic_store(&part->missed_errno, (uint32_t)-rc);
    }
    return rc == 0;
}

static bool begin_stream(struct as_tracer_thread *t)
{
    char name[32] = {0};
    t->failed = true; /* also for events of what follows */
    if (!as_agent_is_confined())
        syscall(SYS_prctl, PR_GET_NAME, name);
    name[sizeof name - 1] = 0;
    if (open_stream(&t->writer, (uint32_t)as_agent_self.tid, name, get_area()))
        t->failed = false;
    if (!t->failed && part->burst_ticks) {
        as_trace_writer_sum(&t->writer, part->burst_ticks,
                            part->clock == AS_TRACE_TSC ? part->tick_hz : 1000000000);
        t->quiet = AS_TRACER_SUMMED;
    }
    return !t->failed;
}

static struct as_tracer_thread *own_thread(void)
{
    struct tracer_area *area = get_area();
    return area ? &area->own : NULL;
}

/* What we call meanwhile may be wrapped itself, and would need the lock. The thread to unlock. */
static struct as_tracer_thread *lock_definitions(void)
{
    struct as_tracer_thread *t = own;
    int free_one = 0;
    defining_here++;
    if (t)
        t->inside++;
    while (!atomic_compare_exchange_weak(&defining, &free_one, 1)) {
        free_one = 0;
        syscall(SYS_sched_yield);
    }
    return t;
}

static void unlock_definitions(struct as_tracer_thread *t)
{
    atomic_store_explicit(&defining, 0, memory_order_release);
    if (t)
        t->inside--;
    defining_here--;
}

static bool has_definitions(void);

/* The child of a fork may call nothing that its parent did not name. */
static void redefine_after_fork(void)
{
    if (!names || as_agent_is_confined())
        return;
    struct as_tracer_thread *locked = lock_definitions();
    has_definitions();
    unlock_definitions(locked);
}

/* Its first event. What we call meanwhile may be wrapped itself. */
static struct as_tracer_thread *begin_own(void)
{
    const int saved = errno;
    if (beginning || ended)
        return NULL;
    if (as_agent_self.maker && as_runtime_is_network(as_agent_self.maker)) {
        ended = true; /* it would seem to compute where it waits for what an MPI sends itself */
        return NULL;
    }
    beginning = true;
    struct as_tracer_thread *t = own_thread();
    if (t && !t->failed && !t->writer.head) {
        t->switches = as_switches.n;
        if (begin_stream(t))
            redefine_after_fork();
    }
    own = t;
    beginning = false;
    errno = saved;
    return t;
}

/* Has no stream: what is told to it goes nowhere. */
static struct as_tracer_thread *begin_muted(void)
{
    const int saved = errno;
    if (beginning || ended || as_agent_is_confined())
        return NULL;
    beginning = true;
    struct tracer_area *area = get_area();
    if (area) {
        area->muted.quiet = AS_TRACER_MUTED;
        area->muted.writer.clock = part->clock;
        muted = &area->muted;
    }
    beginning = false;
    errno = saved;
    return muted;
}

/* ---- Off and on --------------------------------------------------------------------------- */

/* What was switched since this thread's latest event, oldest first. Of more than are kept the
 * oldest ones are one: what is not known was off. */
static void emit_switches(struct as_tracer_thread *t)
{
    const uint32_t n = atomic_load_explicit(&as_switches.n, memory_order_acquire);
    const uint32_t first = n > AS_SWITCH_KEPT_N ? n - AS_SWITCH_KEPT_N : 0;
    uint64_t why = AS_TRACE_BY_USER;
    t->writes_switches = true;
    if (t->switches < first && (t->switches & 1)) {
        t->switches = first + !(first & 1);
    } else if (t->switches < first) {
        t->switches = first;
        if (first & 1)
            as_trace_emit(&t->writer, AS_TRACE_OFF, 0, &why, 1);
    }
    for (; t->switches < n; t->switches++) {
        const struct as_switch_time *at = &as_switches.at[t->switches % AS_SWITCH_KEPT_N];
        const bool is_on = t->switches & 1;
        why = at->why;
        as_trace_emit(&t->writer, is_on ? AS_TRACE_ON : AS_TRACE_OFF, at->tick, &why, !is_on);
    }
    t->writes_switches = false;
}

static bool is_switched_on(void)
{
    if (as_agent.off != as_switches.own_off || *as_switches.outside != as_switches.changes)
        as_switch_look();
    return !(as_switches.n & 1);
}

/* MPI's messages are counted while nothing is recorded, so that the next ones find their partners.
 */
static struct as_tracer_thread *enter_muted(uint32_t group_bit)
{
    if (group_bit != AS_TRACER_MPI || (own && own->inside))
        return NULL;
    struct as_tracer_thread *t = muted ? muted : begin_muted();
    return t && !t->inside ? t : NULL;
}

/* ---- The beginning alone ------------------------------------------------------------------- */

static _Atomic int64_t first_record_ns; /* of the process, or when MPI was ready; 0: none yet */
static _Atomic bool is_over;

/* Only the first time of each process is wanted, and that is over. */
static bool has_enough(void)
{
    if (is_over)
        return true;
    const int64_t now_ns = as_monotonic_ns();
    int64_t since_ns = 0;
    if (atomic_compare_exchange_strong(&first_record_ns, &since_ns, now_ns))
        return false;
    is_over = now_ns - since_ns > (int64_t)part->first_ns;
    return is_over;
}

/* Where system calls are forbidden a block cannot be changed for the next. */
static bool has_room_left(const struct as_tracer_thread *t)
{
    /* Of one call, with polls before it. */
    const size_t most_b = (t->quiet ? 3 * AS_TRACE_SUMS_N : 8) * AS_TRACE_SLACK_B;
    return t->writer.limit && t->writer.at + most_b < t->writer.limit;
}

static uint32_t assign_name_number(uint32_t group, const char *text);

static uint64_t next_reading; /* of counters; by the first thread alone */

/* By the first thread, on the way to an event. */
static void read_counters(struct as_tracer_thread *t, bool is_last)
{
    if (as_agent_self.tid != as_agent.pid || as_agent_is_confined() || !t->writer.block)
        return;
    const uint64_t tick = as_trace_now(&t->writer);
    if (tick < next_reading && !is_last)
        return;
    next_reading = tick + part->counter_ticks;
    t->inside = 1; /* what we call may be wrapped */
    as_os_counters_emit(&t->writer, tick, part->counters,
                        assign_name_number); /* no filter names these */
    t->inside = 0;
}

static bool has_event_counters; /* of perf */

static void emit_event_counter(struct as_trace_writer *writer, uint64_t tick, uint32_t number,
                               uint64_t value)
{
    const uint64_t field[] = {number, as_trace_zigzag((int64_t)value)};
    as_trace_emit(writer, AS_TRACE_COUNTER, tick, field, 2);
}

static void put_event_counters(struct as_tracer_thread *t, uint64_t tick)
{
    const unsigned inside = t->inside;
    if (as_agent_is_confined())
        return;
    t->inside++;
    if (!as_event_counters_put(&t->events, &t->writer, tick, emit_event_counter))
        atomic_fetch_add(&part->counters_shared, 1);
    t->inside = inside;
}

static void count_event(struct as_trace_writer *writer)
{
    put_event_counters((struct as_tracer_thread *)writer, 0); /* its first member */
}

static void begin_event_counters(struct as_tracer_thread *t)
{
    if (as_agent_is_confined() || !t->writer.block)
        return;
    t->inside = 1; /* what we call may be wrapped */
    as_event_counters_open(&t->events, assign_name_number);
    t->writer.counted = t->events.n ? count_event : NULL;
    t->inside = 0;
}

static void end_event_counters(struct as_tracer_thread *t)
{
    if (t->writer.counted && !t->failed)
        put_event_counters(t, as_trace_now(&t->writer));
    t->writer.counted = NULL;
    if (!as_agent_is_confined())
        as_event_counters_close(&t->events);
}

static struct as_tracer_thread *enter_routine(uint32_t group_bit)
{
    if (!part || !(part->groups & group_bit) || as_agent.state != AS_AGENT_READY)
        return NULL;
    if (!is_switched_on())
        return enter_muted(group_bit);
    struct as_tracer_thread *t = own ? own : begin_own();
    if (!t || t->inside || t->failed || (muted && muted->inside) ||
        (part->first_ns && has_enough()))
        return NULL;
    if (t->switches != as_switches.n)
        emit_switches(t);
    if (as_callers_unreported)
        as_callers_report_rest(as_tracer_define_module);
    if (part->counters)
        read_counters(t, false);
    if (has_event_counters && !t->events.is_tried)
        begin_event_counters(t);
    return as_agent_is_confined() && !has_room_left(t) ? NULL : t;
}

/* ---- Samples ------------------------------------------------------------------------------ */

bool as_tracer_takes_samples(void)
{
    return part && part->samples;
}

bool as_tracer_may_define(void)
{
    return !defining_here;
}

/* In a handler, anywhere: also while the thread begins or ends, or as the child of a fork that has
 * not left its parent's streams yet. */
struct as_tracer_thread *as_tracer_sampled(bool may_begin)
{
    struct as_tracer_thread *t = NULL;
    if (!is_switched_on())
        return NULL;
    /* A runtime's thread has none until it does something for the program. */
    may_begin &= !defining_here && !as_runtime_owns(as_agent_self.maker);
    if (as_agent.state == AS_AGENT_READY && traced_pid == as_agent.pid)
        t = own ? own : may_begin ? begin_own() : NULL;
    if (!t || t->writes_switches || t->failed)
        atomic_fetch_add(&part->samples_missed, 1);
    if (!t || t->failed || t->writes_switches || (part->first_ns && has_enough()))
        return NULL;
    if (t->switches != as_switches.n)
        emit_switches(t);
    return t;
}

/* ---- Definitions -------------------------------------------------------------------------- */

static void define_name_number(uint32_t number, uint32_t group, const char *text)
{
    const uint64_t field[] = {number, group};
    as_trace_emit_text(&definitions, AS_TRACE_NAME, as_trace_now(&definitions), field, 2, text);
}

/* Names alone may be those of two. */
static uint64_t number_of_machine(void)
{
    struct {
        struct utsname name;
        char boot[64];
    } machine = {0};
    syscall(SYS_uname, &machine.name);
    const int fd = as_agent_open("/proc/sys/kernel/random/boot_id", O_RDONLY);
    if (fd >= 0) {
        syscall(SYS_read, fd, machine.boot, sizeof machine.boot);
        syscall(SYS_close, fd);
    }
    return as_fnv_mix(as_fnv_mix(AS_FNV_BASIS, machine.name.nodename, sizeof machine.name.nodename),
                      machine.boot, sizeof machine.boot);
}

static void define_machine(void)
{
    char text[sizeof AS_TRACE_FACT_MACHINE + 16 + 1] = AS_TRACE_FACT_MACHINE;
    uint64_t number = number_of_machine();
    for (size_t i = sizeof text - 1; i-- > sizeof AS_TRACE_FACT_MACHINE; number >>= 4)
        text[i] = "0123456789abcdef"[number & 15];
    as_trace_emit_text(&definitions, AS_TRACE_FACT, as_trace_now(&definitions), NULL, 0, text);
}

static bool has_definitions(void)
{
    struct utsname machine = {0};
    if (definitions.head || definitions_failed)
        return !definitions_failed;
    syscall(SYS_uname, &machine);
    definitions_failed = !open_stream(&definitions, 0, machine.nodename, NULL);
    if (!definitions_failed)
        define_machine();
    for (uint32_t i = 1; i < AS_TRACER_NAMES_N && i <= names && !definitions_failed; i++)
        if (known[i].text)
            define_name_number(i, known[i].group, known[i].text);
    return !definitions_failed;
}

static void define_any(unsigned kind, const uint64_t *field, unsigned n, const char *text,
                       const uint64_t *list, size_t list_n)
{
    if (as_agent_is_confined())
        return;
    if (kind == AS_TRACE_WORLD) /* what it computes begins here */
        atomic_store(&first_record_ns, as_monotonic_ns());
    struct as_tracer_thread *locked = lock_definitions();
    if (has_definitions()) {
        const uint64_t now = as_trace_now(&definitions);
        if (text)
            as_trace_emit_text(&definitions, kind, now, field, n, text);
        else if (list)
            as_trace_emit_list(&definitions, kind, now, field, n, list, list_n);
        else
            as_trace_emit(&definitions, kind, now, field, n);
    }
    unlock_definitions(locked);
}

/* `text` stays where it is. */
static uint32_t assign_name_number(uint32_t group, const char *text)
{
    const uint32_t number = atomic_fetch_add(&names, 1) + 1;
    if (number >= AS_TRACER_NAMES_N || !known || as_agent_is_confined())
        return 0;
    struct as_tracer_thread *locked = lock_definitions();
    if (has_definitions())
        define_name_number(number, group, text);
    known[number].group = group;
    known[number].text = text;
    unlock_definitions(locked);
    return number;
}

static uint32_t new_name(uint32_t group, const char *text)
{
    const uint32_t bits = as_tracer_filter_bits(text);
    if (bits & AS_TRACER_LEFT_OUT)
        return bits;
    const uint32_t number = assign_name_number(group, text);
    return number ? number | bits : 0;
}

/* ---- Callers ------------------------------------------------------------------------------ */

void as_tracer_define_module(uint64_t start, uint64_t size_b, uint64_t address, const char *path)
{
    const uint64_t field[] = {start, size_b, address};
    define_any(AS_TRACE_MODULE, field, 3, path, NULL, 0);
}

static unsigned find_callers(const void *return_address, const void *frame, uint64_t *out)
{
    const size_t most = part->callers < AS_TRACE_CALLERS_N ? part->callers : AS_TRACE_CALLERS_N;
    return most ? (unsigned)as_callers_find(return_address, frame, out, most,
                                            as_tracer_define_module)
                : 0;
}

static void emit_callers(struct as_tracer_thread *t, const void *return_address, const void *frame)
{
    uint64_t caller[AS_TRACE_CALLERS_N];
    const unsigned n =
        t->quiet == AS_TRACER_MUTED ? 0 : find_callers(return_address, frame, caller);
    if (n)
        as_trace_emit_list(&t->writer, AS_TRACE_CALLERS, 0, NULL, 0, caller, n);
}

uint32_t as_tracer_name_function(const char *text, uint64_t address,
                                 const struct as_unwind_module *module)
{
    const uint32_t number = new_name(AS_TRACE_OF_USER, text);
    const uint64_t field[] = {AS_TRACER_NUMBER(number), address};
    if (!number || number & AS_TRACER_LEFT_OUT || as_agent_is_confined())
        return number;
    if (module)
        as_callers_report(module, as_tracer_define_module);
    define_any(AS_TRACE_FUNCTION, field, 2, NULL, NULL, 0);
    return number;
}

static bool leaves_out_name(const char *name)
{
    return as_tracer_filter_bits(name) & AS_TRACER_LEFT_OUT;
}

static uint64_t least_of_memory(void)
{
    return part ? part->memory_min_b : 0;
}

/* ---- Memory ------------------------------------------------------------------------------- */

static void drop_scratch(struct as_tracer_thread *t)
{
    if (t->scratch)
        munmap(t->scratch, t->scratch_b);
    t->scratch = NULL;
    t->scratch_b = 0;
}

static void *get_scratch(struct as_tracer_thread *t, size_t size_b)
{
    if (t->scratch_b >= size_b)
        return t->scratch;
    if (as_agent_is_confined())
        return NULL;
    drop_scratch(t);
    const size_t room_b = (size_b | (16 * AS_AGENT_PAGE_B - 1)) + 1;
    void *at = mmap(NULL, room_b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    t->scratch = at;
    t->scratch_b = room_b;
    return at;
}

/* ---- Machines ------------------------------------------------------------------------------- */

#define MEETING_LIMIT_NS INT64_C(5000000000)

/* In a trial of a second nobody is related to anybody. */
static bool find_meeting(struct as_rank_rendezvous *out)
{
    char path[AS_AGENT_PAGE_B];
    if (!part || part->meeting == AS_RENDEZVOUS_NONE || part->first_ns || as_agent_is_confined() ||
        as_agent.state != AS_AGENT_READY)
        return false;
    as_agent_path(AS_TRACER_MEETING, path);
    const long n =
        syscall(SYS_readlinkat, AT_FDCWD, path, out->directory, sizeof out->directory - 1);
    if (n <= 0 || n >= (long)sizeof out->directory - 1)
        return false;
    out->directory[n] = 0;
    out->role = part->meeting;
    out->rank = part->rank;
    out->size = part->size;
    out->machine = number_of_machine();
    out->limit_ns = MEETING_LIMIT_NS;
    return true;
}

static uint32_t wanted_groups(void)
{
    return as_agent_active() && part ? part->groups : 0;
}

extern const struct as_tracer_hooks assay_tracer_hooks;
AS_AGENT_API const struct as_tracer_hooks assay_tracer_hooks = {AS_TRACER_VERSION,
                                                                enter_routine,
                                                                new_name,
                                                                define_any,
                                                                get_scratch,
                                                                wanted_groups,
                                                                emit_callers,
                                                                find_callers,
                                                                least_of_memory,
                                                                find_meeting,
                                                                leaves_out_name,
                                                                as_tracer_function_begins,
                                                                as_tracer_function_ends};

/* ---- The process -------------------------------------------------------------------------- */

static bool begin_tracer(void)
{
    char path[AS_AGENT_PAGE_B];
    part = as_agent_part(&as_agent_tracer);
    if (part && part->version != AS_TRACER_VERSION)
        part = NULL;
    if (part && (!(known = as_agent_map(AS_TRACER_NAMES_N * sizeof *known)) ||
                 !as_tracer_functions_start()))
        part = NULL;
    begun_ns = (uint64_t)as_monotonic_ns();
    traced_pid = as_agent.pid;
    if (part) {
        as_switch_begin(part->clock);
        as_tracer_filter_begin();
        as_agent_path(AS_EVENT_COUNTERS_FILE, path);
        has_event_counters = as_event_counters_begin(path);
    }
    return part != NULL;
}

/* Threads of runtimes (progress of messages, teams of OpenMP) have a stream when they do something
 * for the program. */
static struct as_tracer_thread *threads_between(const void *maker)
{
    return as_runtime_owns(maker) ? NULL : enter_routine(AS_TRACER_PTHREAD);
}

static void emit_thread_begin(void)
{
    struct as_tracer_thread *t = threads_between(as_agent_self.maker);
    const uint64_t field[] = {(uint64_t)pthread_self(), (uint64_t)as_agent_self.parent_tid};
    if (t)
        as_trace_emit(&t->writer, AS_TRACE_THREAD_BEGIN, as_trace_now(&t->writer), field, 2);
}

static void emit_thread_create(const void *maker, const void *function)
{
    struct as_tracer_thread *t = threads_between(maker);
    const uint64_t field[] = {0, (uint64_t)(uintptr_t)function};
    if (t)
        as_trace_emit(&t->writer, AS_TRACE_THREAD_CREATE, as_trace_now(&t->writer), field, 2);
}

static void close_own_stream(void)
{
    struct as_tracer_thread *t = own_thread();
    as_tracer_functions_thread_end();
    if (own && !own->failed && part && part->counters && !(as_switches.n & 1))
        read_counters(own, true);
    ended = true;
    own = NULL;
    if (muted)
        drop_scratch(muted);
    muted = NULL;
    if (!t)
        return;
    end_event_counters(t);
    if (t->writer.head && !t->failed)
        emit_switches(t);
    as_trace_writer_close(&t->writer, AS_TRACE_CLOSED);
    drop_scratch(t);
    t->failed = true;
}

static void end_thread_stream(void)
{
    struct as_tracer_thread *t = own ? enter_routine(AS_TRACER_PTHREAD) : NULL;
    if (t && t->writer.head)
        as_trace_emit(&t->writer, AS_TRACE_THREAD_END, as_trace_now(&t->writer), NULL, 0);
    close_own_stream();
}

static void begin_child(void)
{
    struct as_tracer_thread *t = own_thread();
    own = NULL;
    if (muted)
        muted->inside = 0;
    as_switches.looking = 0;
    next_reading = 0;
    ended = false;
    beginning = true; /* nothing of what follows is the program's */
    as_callers_forget();
    as_tracer_regions_forked();
    as_tracer_functions_forked();
    if (t && !as_agent_is_confined()) {
        t->writer.counted = NULL;
        as_event_counters_close(&t->events);
        as_trace_writer_forget(&t->writer);
        t->failed = false;
        t->inside = 0;
    }
    if (!as_agent_is_confined())
        as_trace_writer_forget(&definitions);
    atomic_store(&defining, 0);
    defining_here = 0;
    definitions_failed = false;
    atomic_store(&first_record_ns, 0);
    is_over = false;
    begun_ns = (uint64_t)as_monotonic_ns();
    if (as_agent.state != AS_AGENT_READY)
        part = NULL;
    traced_pid = as_agent.pid;
    beginning = false;
}

/* What goes makes room for other code at its addresses. */
static void forget_modules(void)
{
    as_callers_forget();
    if (!as_agent_self.loading_ns)
        as_tracer_functions_forget();
}

/* Others may still write: their streams are whole as they are. */
static void end_tracer(void)
{
    close_own_stream();
    if (as_callers_unreported)
        as_callers_report_rest(as_tracer_define_module);
    struct as_tracer_thread *locked = lock_definitions();
    as_trace_writer_stamp(&definitions);
    unlock_definitions(locked);
}

const struct as_agent_client as_agent_tracer = {.name = AS_TRACER_CLIENT,
                                                .begin = begin_tracer,
                                                .thread_begin = emit_thread_begin,
                                                .thread_made = emit_thread_create,
                                                .thread_end = end_thread_stream,
                                                .modules_changed = forget_modules,
                                                .switched = as_switch_look,
                                                .forked = begin_child,
                                                .end = end_tracer};
