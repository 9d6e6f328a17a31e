/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program says of itself, as a client of the agent: names and counts in a file of the
 * process, mapped. A thread remembers its rows; the first call of a name in a thread claims one.
 */
#include "agent/shared/regions.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/agent.h"
#include "agent/shared/user.h"
#include "agent/tracer/tracer_regions.h"
#include "base/clock.h"

static bool wanted;
static struct as_regions *_Atomic own; /* of this process; NULL: none yet */
static _Atomic int making;             /* a thread makes it, or it could not be made */

/* ---- The file ----------------------------------------------------------------------------- */

static struct as_regions *make_file(void)
{
    char name[AS_AGENT_FILE_B];
    as_agent_file_name(AS_REGIONS_PREFIX, name);
    struct as_regions *it = as_agent_map_shared(name, sizeof *it);
    if (!it) {
        as_agent_process_missed(errno);
        return NULL;
    }
    it->version = AS_REGIONS_VERSION;
    it->pid = (uint32_t)as_agent.pid;
    atomic_store_explicit(&it->magic, AS_REGIONS_MAGIC, memory_order_release);
    return it;
}

/* Made with the first call, for most programs on the way to ours have none. */
static struct as_regions *own_file(void)
{
    enum { MADE = 2 };
    struct as_regions *it = atomic_load_explicit(&own, memory_order_acquire);
    int nobody = 0;
    if (it || as_agent_is_confined())
        return it;
    if (atomic_compare_exchange_strong(&making, &nobody, 1)) {
        const int saved = errno;
        atomic_store_explicit(&own, make_file(), memory_order_release);
        atomic_store(&making, MADE);
        errno = saved;
    }
    while (atomic_load(&making) != MADE)
        syscall(SYS_sched_yield);
    return atomic_load_explicit(&own, memory_order_acquire);
}

/* ---- Rows --------------------------------------------------------------------------------- */

/* In each thread: the row of each name, and 1; 0: not claimed. */
struct known_rows {
    uint16_t row[AS_REGIONS_NAMES_N];
    bool busy; /* a handler interrupted us and calls too: not counted */
};
_Static_assert(AS_REGIONS_ROWS_N < UINT16_MAX, "rows are known by 16 bits");

static uint32_t hash_name(const char *name, uint32_t kind, size_t *n)
{
    uint32_t hash = 2166136261u ^ kind; /* FNV-1a */
    for (*n = 0; name[*n] && *n < AS_REGIONS_NAME_B - 1; ++*n)
        hash = (hash ^ (uint8_t)name[*n]) * 16777619u;
    return hash ^ hash >> 15;
}

static bool is_named(const struct as_region_name *slot, const char *name, size_t n, uint32_t kind)
{
    return slot->kind == kind && memcmp(slot->text, name, n) == 0 && slot->text[n] == 0;
}

/* The slot of a name; -1: there is no room. */
static int find_name(struct as_regions *it, const char *name, uint32_t kind)
{
    size_t n;
    const uint32_t first = hash_name(name, kind, &n);
    for (uint32_t i = 0; i < AS_REGIONS_NAMES_N; i++) {
        const uint32_t at = (first + i) % AS_REGIONS_NAMES_N;
        struct as_region_name *slot = &it->name[at];
        uint32_t state = 0;
        if (atomic_compare_exchange_strong(&slot->state, &state, 1)) {
            slot->kind = kind;
            memcpy(slot->text, name, n);
            atomic_store_explicit(&slot->state, 2, memory_order_release);
            return (int)at;
        }
        while (state == 1) /* a few instructions of another thread */
            state = atomic_load_explicit(&slot->state, memory_order_acquire);
        if (is_named(slot, name, n, kind))
            return (int)at;
    }
    return -1;
}

static uint16_t claim_row(struct as_regions *it, int name)
{
    const uint32_t at = atomic_fetch_add(&it->rows, 1);
    if (at >= AS_REGIONS_ROWS_N)
        return 0;
    it->row[at].tid = (uint32_t)as_agent_self.tid;
    atomic_store_explicit(&it->row[at].name, (uint32_t)name + 1, memory_order_release);
    return (uint16_t)(at + 1);
}

static struct as_region_row *find_row(struct as_regions *it, struct known_rows *known,
                                      const char *name, uint32_t kind)
{
    const int at = find_name(it, name, kind);
    if (at >= 0 && known->row[at] == 0)
        known->row[at] = claim_row(it, at);
    if (at >= 0 && known->row[at])
        return &it->row[known->row[at] - 1];
    atomic_fetch_add(&it->lost, 1);
    return NULL;
}

/* This thread's row of a name, and its `known` busy until release_row; NULL: not counted. */
static struct as_region_row *claim_region_row(const char *name, uint32_t kind,
                                              struct known_rows **by)
{
    struct known_rows *known =
        wanted && name ? as_agent_area(&as_agent_regions, sizeof *known) : NULL;
    if (!known || known->busy)
        return NULL;
    known->busy = true;
    struct as_regions *it = own_file();
    struct as_region_row *row = it ? find_row(it, known, name, kind) : NULL;
    known->busy = row != NULL;
    *by = known;
    return row;
}

static void release_row(struct known_rows *by)
{
    atomic_signal_fence(memory_order_seq_cst);
    by->busy = false;
}

/* ---- Calls of the program ----------------------------------------------------------------- */

static void begin_region(const char *name)
{
    struct known_rows *by;
    as_tracer_region(name, true);
    struct as_region_row *row = as_agent.off ? NULL : claim_region_row(name, AS_REGION_TIMED, &by);
    if (!row)
        return;
    row->n++;
    if (row->depth++ == 0)
        row->begun_ns = as_monotonic_ns();
    release_row(by);
}

static void end_region(const char *name)
{
    struct known_rows *by;
    as_tracer_region(name, false);
    struct as_region_row *row = claim_region_row(name, AS_REGION_TIMED, &by);
    if (!row)
        return;
    if (row->depth == 0)
        row->unmatched += !as_agent.off;
    else if (--row->depth == 0)
        row->ns += as_monotonic_ns() - row->begun_ns;
    release_row(by);
}

static void count_event(const char *name, double value)
{
    struct known_rows *by;
    struct as_region_row *row = as_agent.off ? NULL : claim_region_row(name, AS_REGION_EVENT, &by);
    if (!row)
        return;
    row->least = row->n && row->least < value ? row->least : value;
    row->most = row->n && row->most > value ? row->most : value;
    row->sum += value;
    row->n++;
    release_row(by);
}

static void set_datum(const char *name, double value)
{
    struct known_rows *by;
    struct as_region_row *row = claim_region_row(name, AS_REGION_DATUM, &by);
    if (!row)
        return;
    row->sum = row->least = row->most = value;
    row->n = 1;
    release_row(by);
}

static void set_measuring(int on)
{
    as_agent.off = !on;
    if (as_agent.state == AS_AGENT_READY)
        AS_AGENT_NOTIFY(switched);
}

static int is_measured(void)
{
    return as_agent_active();
}

extern const struct as_agent_hooks assay_agent_hooks;
AS_AGENT_API const struct as_agent_hooks assay_agent_hooks = {
    AS_AGENT_HOOKS_VERSION, begin_region, end_region, count_event, set_datum,
    set_measuring,          is_measured};

/* ---- The process -------------------------------------------------------------------------- */

static bool begin_regions(void)
{
    wanted = as_agent_part(&as_agent_regions) != NULL;
    return wanted;
}

/* What it counts until its first call is the parent's. */
static void begin_regions_of_child(void)
{
    struct as_regions *parents = own;
    struct known_rows *known = parents ? as_agent_area(&as_agent_regions, sizeof *known) : NULL;
    atomic_store(&own, NULL);
    atomic_store(&making, 0);
    wanted = as_agent_active();
    if (parents && !as_agent_is_confined())
        munmap(parents, sizeof *parents);
    if (known)
        memset(known, 0, sizeof *known);
}

const struct as_agent_client as_agent_regions = {
    .name = AS_REGIONS_CLIENT, .begin = begin_regions, .forked = begin_regions_of_child};
