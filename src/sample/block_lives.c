/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of memory over time; see block_lives.h. */
#include "sample/block_lives.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/search.h"

#define PRUNE_LEAST ((size_t)1 << 18)
#define LIVES_MOST  ((size_t)1 << 21)
/* Max delay of an event or sample behind other records. */
#define LATE_NS UINT64_C(2000000000)

struct as_block_process {
    uint32_t pid, parent_pid;
    uint64_t forked_ns; /* it inherited the blocks of its parent then; 0: it did not fork */
    uint64_t exec_ns;   /* time of its first exec; 0: none */
    bool needed;
    as_block_life_list life;
};

struct as_block_site {
    uint32_t pid, n;
    uint64_t first_ns; /* time of its first allocation */
    bool located, written;
    struct as_frame frame[AS_BLOCK_CALLERS_N]; /* process addresses until `located` */
};

void as_block_lives_init(struct as_block_lives *lives)
{
    *lives = (struct as_block_lives){.prune_n = PRUNE_LEAST};
    as_map_u64_init(&lives->by_pid);
    as_map_u64_init(&lives->by_key);
}

void as_block_lives_fini(struct as_block_lives *lives)
{
    as_vec_foreach (&lives->process, process)
        as_vec_fini(&process->life);
    as_vec_fini(&lives->process);
    as_vec_fini(&lives->site);
    as_map_u64_fini(&lives->by_pid);
    as_map_u64_fini(&lives->by_key);
}

/* ---- Records -------------------------------------------------------------------------------- */

static struct as_block_process *block_process_of(struct as_block_lives *lives, uint32_t pid)
{
    const uint32_t at = as_map_u64_get(&lives->by_pid, pid);

    if (at != AS_MAP_NONE)
        return &lives->process.at[at];
    if (as_map_u64_put(&lives->by_pid, pid, (uint32_t)lives->process.n) < 0 ||
        as_vec_push(&lives->process, (struct as_block_process){.pid = pid}) < 0)
        return NULL;
    return &lives->process.at[lives->process.n - 1];
}

static int block_site_of(struct as_block_lives *lives, const struct as_sample_record *record,
                         uint32_t *out)
{
    *out = record->site ? as_map_u64_get(&lives->by_key, record->site) : AS_BLOCK_SITE_NONE;
    if (!record->site || *out != AS_MAP_NONE)
        return 0;
    struct as_block_site site = {.pid = record->pid, .first_ns = record->time_ns};
    for (; site.n < record->chain_n && site.n < AS_BLOCK_CALLERS_N; site.n++)
        site.frame[site.n].address = record->chain[site.n];
    *out = (uint32_t)lives->site.n;
    AS_TRY(as_vec_push(&lives->site, site));
    return as_map_u64_put(&lives->by_key, record->site, *out);
}

int as_block_lives_add(struct as_block_lives *lives, const struct as_sample_record *record)
{
    struct as_block_process *process = block_process_of(lives, record->pid);
    struct as_block_life life = {.start = record->address,
                                 .born_ns = record->time_ns,
                                 .died_ns = UINT64_MAX,
                                 .site = AS_BLOCK_SITE_NONE,
                                 .mapped = record->mapped};

    if (!process)
        return AS_ERR_NOMEM;
    if (record->kind == AS_SAMPLE_INHERIT) {
        process->parent_pid = record->parent_pid;
        process->forked_ns = record->time_ns;
        return 0;
    }
    if (record->kind == AS_SAMPLE_ALLOCATE) {
        life.end = record->address + record->size_b;
        AS_TRY(block_site_of(lives, record, &life.site));
    }
    if (lives->n >= LIVES_MOST) {
        lives->dropped++;
        return 0;
    }
    lives->newest_ns = record->time_ns > lives->newest_ns ? record->time_ns : lives->newest_ns;
    lives->n++;
    return as_vec_push(&process->life, life);
}

void as_block_lives_locate(struct as_block_lives *lives, uint32_t pid, const struct as_space *space,
                           uint64_t time_ns)
{
    as_vec_foreach (&lives->site, site) {
        if (site->pid != pid || site->located || site->first_ns >= time_ns)
            continue;
        for (uint32_t i = 0; i < site->n; i++) /* addresses of calls, as in call stacks */
            site->frame[i] = as_frame_of(space, site->frame[i].address - 1);
        site->located = true;
    }
}

/* ---- Lives ----------------------------------------------------------------------------------- */

/* A release comes before an allocation of the same time. */
static int by_start_and_birth(const void *a, const void *b)
{
    const struct as_block_life *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->born_ns != y->born_ns)
        return x->born_ns < y->born_ns ? -1 : 1;
    return (x->end != 0) - (y->end != 0);
}

void as_block_lives_pair(as_block_life_list *list, uint64_t gone_ns)
{
    size_t n = 0;

    if (list->n)
        qsort(list->at, list->n, sizeof *list->at, by_start_and_birth);
    for (size_t i = 0; i + 1 < list->n; i++)
        if (list->at[i].start == list->at[i + 1].start &&
            list->at[i + 1].born_ns < list->at[i].died_ns)
            list->at[i].died_ns = list->at[i + 1].born_ns;
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i].end || list->at[i].born_ns >= gone_ns)
            list->at[n++] = list->at[i];
    list->n = n;
}

int as_block_lives_exec(struct as_block_lives *lives, uint32_t pid, uint64_t time_ns)
{
    const uint32_t at = as_map_u64_get(&lives->by_pid, pid);

    if (at == AS_MAP_NONE)
        return 0;
    struct as_block_process *process = &lives->process.at[at];
    as_block_lives_pair(&process->life, 0);
    as_vec_foreach (&process->life, life)
        if (life->born_ns < time_ns && life->died_ns > time_ns)
            life->died_ns = time_ns;
    process->exec_ns = process->exec_ns ? process->exec_ns : time_ns;
    return 0;
}

/* ---- Samples --------------------------------------------------------------------------------- */

static bool has_sample(const as_draw_times *times, uint32_t pid, const struct as_block_life *life)
{
    const size_t first =
        as_first_not(i, times->n,
                     times->at[i].pid < pid ||
                         (times->at[i].pid == pid && times->at[i].time_ns < life->born_ns));

    return first < times->n && times->at[first].pid == pid &&
           times->at[first].time_ns < life->died_ns;
}

static void prune_process(struct as_block_process *process, const as_draw_times *times,
                          uint64_t gone_ns)
{
    size_t n = 0;

    as_block_lives_pair(&process->life, gone_ns);
    for (size_t i = 0; i < process->life.n; i++) {
        const struct as_block_life *life = &process->life.at[i];
        if (!life->end || life->died_ns >= gone_ns || has_sample(times, process->pid, life))
            process->life.at[n++] = *life;
    }
    process->life.n = n;
}

void as_block_lives_prune(struct as_block_lives *lives, const as_draw_times *times)
{
    const uint64_t gone_ns = lives->newest_ns > LATE_NS ? lives->newest_ns - LATE_NS : 0;

    lives->n = 0;
    as_vec_foreach (&lives->process, process) {
        prune_process(process, times, gone_ns);
        lives->n += process->life.n;
    }
    lives->prune_n = lives->n * 2 > PRUNE_LEAST ? lives->n * 2 : PRUNE_LEAST;
}

/* ---- Output --------------------------------------------------------------------------------- */

/* Copies the blocks of the parent to a child of a fork. */
static int inherit_blocks(struct as_block_lives *lives, struct as_block_process *process)
{
    const uint32_t at = as_map_u64_get(&lives->by_pid, process->parent_pid);
    const struct as_block_process *parent =
        process->forked_ns && at != AS_MAP_NONE ? &lives->process.at[at] : NULL;

    for (size_t i = 0; parent && parent != process && i < parent->life.n; i++) {
        struct as_block_life life = parent->life.at[i];
        if (!life.end || life.born_ns > process->forked_ns || life.died_ns <= process->forked_ns)
            continue;
        life.born_ns = process->forked_ns;
        life.died_ns = process->exec_ns ? process->exec_ns : UINT64_MAX;
        AS_TRY(as_vec_push(&process->life, life));
    }
    return 0;
}

/* Marks processes with samples, and processes with children that have samples. */
static void find_needed(struct as_block_lives *lives, const as_draw_times *times)
{
    for (size_t i = lives->process.n; i-- > 0;) {
        struct as_block_process *process = &lives->process.at[i];
        const struct as_block_life all = {.died_ns = UINT64_MAX};
        const uint32_t parent = as_map_u64_get(&lives->by_pid, process->parent_pid);
        process->needed |= has_sample(times, process->pid, &all);
        if (process->needed && process->forked_ns && parent != AS_MAP_NONE)
            lives->process.at[parent].needed = true;
    }
}

/* Writes a site: its number and its frames as MODULE:ADDRESS. */
static int write_site(struct as_block_lives *lives, const struct as_spaces *spaces, uint32_t number,
                      uint32_t pid, uint64_t time_ns, struct as_writer *writer)
{
    struct as_block_site *site = &lives->site.at[number];
    char text[64 + AS_BLOCK_CALLERS_N * 32];
    const uint32_t space = as_map_u64_get(&spaces->by_pid, site->pid);

    if (site->written)
        return 0;
    site->written = true;
    if (space != AS_MAP_NONE)
        as_block_lives_locate(lives, site->pid, &spaces->space.at[space], UINT64_MAX);
    int n = snprintf(text, sizeof text, "%" PRIu32, number);
    for (uint32_t i = 0; i < site->n && site->located; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %" PRIu32 ":%" PRIx64,
                      site->frame[i].module, site->frame[i].address);
    return as_writer_process(writer, pid, pid, time_ns, "site", text);
}

/* Writes a block: start, end, birth, death (0: none), kind, site ("-": unknown). */
static int write_life(const struct as_block_life *life, uint32_t pid, struct as_writer *writer)
{
    char text[160], site[16] = "-";

    if (life->site != AS_BLOCK_SITE_NONE)
        snprintf(site, sizeof site, "%" PRIu32, life->site);
    snprintf(text, sizeof text, "%" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %s %s",
             life->start, life->end, life->born_ns,
             life->died_ns == UINT64_MAX ? UINT64_C(0) : life->died_ns,
             life->mapped ? "mapping" : "block", site);
    return as_writer_process(writer, pid, pid, life->born_ns, "block", text);
}

static int write_lives(struct as_block_lives *lives, const struct as_block_process *process,
                       const as_draw_times *times, const struct as_spaces *spaces,
                       struct as_writer *writer)
{
    as_vec_foreach (&process->life, life) {
        if (!life->end || !has_sample(times, process->pid, life))
            continue;
        if (life->site != AS_BLOCK_SITE_NONE)
            AS_TRY(write_site(lives, spaces, life->site, process->pid, life->born_ns, writer));
        AS_TRY(write_life(life, process->pid, writer));
    }
    return 0;
}

int as_block_lives_write(struct as_block_lives *lives, const as_draw_times *times,
                         const struct as_spaces *spaces, struct as_writer *writer)
{
    char number[32];

    find_needed(lives, times);
    as_vec_foreach (&lives->process, process) {
        if (!process->needed)
            continue;
        AS_TRY(inherit_blocks(lives, process));
        as_block_lives_pair(&process->life, UINT64_MAX);
        AS_TRY(write_lives(lives, process, times, spaces, writer));
    }
    if (!lives->dropped)
        return 0;
    snprintf(number, sizeof number, "%" PRIu64, lives->dropped);
    return as_writer_info(writer, "blocks_dropped", number);
}
