/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes in the program: libraries of the user's are loaded before any code is patched; each thread
 * has an area of its own and a file that can be read after the program was killed.
 */
#include "agent/patcher/prober.h"

#include <cpuid.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

enum { PAIR_RUNS = 32 };

struct as_prober as_prober;

static void *map_own(uint64_t size_b)
{
    void *at = mmap(NULL, size_b, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* ---- Functions of the user's ----------------------------------------------------------------- */

static bool find_functions(void)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_called *called = as_patch_at(plan, &plan->called);
    const char *text = as_patch_at(plan, &plan->text);
    as_prober.function = map_own((plan->called.n + 1) * sizeof *as_prober.function);
    for (uint64_t i = 0; as_prober.function && i < plan->called.n; i++) {
        void *library = AS_AGENT_REAL(dlopen)(text + called[i].library, RTLD_NOW | RTLD_LOCAL);
        void *function = library ? dlsym(library, text + called[i].function) : NULL;
        as_prober.function[i] = as_prober.keeps_state ? (as_prober_function *)function : NULL;
        as_prober.missing += as_prober.function[i] == NULL;
    }
    return as_prober.function;
}

/* Whether there is room for all that vector registers hold. */
static void look_at_processor(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return;
    as_prober_clears = (c & bit_AVX) != 0;
    as_prober.keeps_state = __get_cpuid_count(13, 0, &a, &b, &c, &d) && b <= AS_PROBER_STATE_B;
    as_prober_compacts = __get_cpuid_count(13, 1, &a, &b, &c, &d) && a & 2;
}

/* How many places of each kind the acts name. */
static void count_places(void)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_act *act = as_patch_at(plan, &plan->act);
    for (uint64_t i = 0; i < plan->act.n; i++) {
        uint64_t *n = act[i].kind == AS_PATCH_ACT_KEEPS   ? &as_prober.values
                      : act[i].kind == AS_PATCH_ACT_CALLS ? &as_prober.tallies
                                                          : &as_prober.timers;
        *n = act[i].place >= *n ? (uint64_t)act[i].place + 1 : *n;
    }
}

bool as_prober_begin(void)
{
    if (as_patcher.plan->mode != AS_PATCH_PROBE)
        return true;
    look_at_processor();
    count_places();
    return find_functions();
}

/* ---- Threads --------------------------------------------------------------------------------- */

static struct as_probed *make_probed(void)
{
    char name[AS_AGENT_FILE_B];
    const char *end = name + sizeof name - 1;
    char *at = as_agent_append(name, end, AS_PROBED_PREFIX);
    at = as_agent_append_number(at, end, (uint64_t)as_agent.pid);
    at = as_agent_append(at, end, ".");
    at = as_agent_append_number(at, end, (uint64_t)as_agent_self.tid);
    at = as_agent_append(at, end, ".");
    *as_agent_append_number(at, end, as_monotonic_ns()) = 0;
    struct as_probed *file = as_agent_map_shared(
        name, as_probed_b(as_prober.timers, as_prober.values, as_prober.tallies));
    if (!file)
        return NULL;
    file->version = AS_PATCH_VERSION;
    file->pid = (uint32_t)as_agent.pid;
    file->tid = (uint32_t)as_agent_self.tid;
    file->timers = as_prober.timers;
    file->values = as_prober.values;
    file->tallies = as_prober.tallies;
    file->no_library = as_prober.missing;
    __atomic_store_n(&file->magic, AS_PROBED_MAGIC, __ATOMIC_RELEASE);
    return file;
}

static void drop_prober(struct as_prober_area *area)
{
    munmap(area->file, as_probed_b(as_prober.timers, as_prober.values, as_prober.tallies));
    munmap(area, sizeof *area);
}

static void measure_pair(struct as_prober_area *area)
{
    for (unsigned i = 0; i < PAIR_RUNS; i++)
        as_prober_pair();
    area->file->empty_ticks = area->measure.least;
}

void as_prober_thread_begin(void)
{
    if (as_prober_self || !as_prober.function || as_agent_is_confined())
        return;
    struct as_prober_area *area = map_own(sizeof *area);
    if (area && !(area->file = make_probed())) {
        munmap(area, sizeof *area);
        area = NULL;
    }
    if (!area) {
        __atomic_fetch_add(&as_patcher.outcomes->threads_missed, 1, __ATOMIC_RELAXED);
        return;
    }
    uint8_t *file = (uint8_t *)area->file;
    area->timer = (void *)(file + as_probed_timers_at());
    area->values = (void *)(file + as_probed_values_at(as_prober.timers));
    area->tally = (void *)(file + as_probed_tallies_at(as_prober.timers, as_prober.values));
    area->error = &errno;
    as_prober_self = area;
    measure_pair(area);
}

void as_prober_thread_end(void)
{
    struct as_prober_area *area = as_prober_self;
    as_prober_self = NULL;
    if (area && !as_agent_is_confined())
        drop_prober(area);
}

/* The file is the parent's. */
void as_prober_forked(void)
{
    struct as_prober_area *area = as_prober_self;
    as_prober_self = NULL;
    if (area)
        drop_prober(area);
    if (as_agent.state == AS_AGENT_READY)
        as_prober_thread_begin();
}
