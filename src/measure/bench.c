/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads with their own memory for measurements. Large areas are kept for the next figure, because
 * their pages are mapped already.
 */
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "measure/rig.h"

#define KEPT_LEAST_B ((size_t)16 << 20)

/* ---- Kept areas ---------------------------------------------------------------------------- */

void as_bench_forget_rooms(struct as_rig *rig)
{
    for (size_t i = 0; i < AS_KEPT_ROOMS; i++)
        as_room_close(&rig->kept[i].room);
}

static bool reuse_kept_memory(struct as_rig *rig, int cpu, size_t size_b, enum as_pages pages,
                              struct as_room *room)
{
    for (size_t i = 0; i < AS_KEPT_ROOMS; i++) {
        struct as_kept_room *k = &rig->kept[i];
        if (!k->room.at || k->cpu != cpu || k->pages != pages || k->room.size_b < size_b)
            continue;
        *room = k->room;
        k->room = (struct as_room){0};
        return true;
    }
    return false;
}

/* Keeps the larger area for each CPU and kind of page. */
static void store_spare_memory(struct as_rig *rig, int cpu, enum as_pages pages,
                               struct as_room *room)
{
    struct as_kept_room *free_place = NULL;

    for (size_t i = 0; i < AS_KEPT_ROOMS; i++) {
        struct as_kept_room *k = &rig->kept[i];
        if (k->room.at && k->cpu == cpu && k->pages == pages) {
            if (k->room.size_b >= room->size_b)
                return;
            as_room_close(&k->room);
        }
        free_place = k->room.at ? free_place : k;
    }
    if (!free_place || room->size_b < KEPT_LEAST_B)
        return;
    *free_place = (struct as_kept_room){.room = *room, .pages = pages, .cpu = cpu};
    *room = (struct as_room){0};
}

static uint64_t kept_b(const struct as_rig *rig)
{
    uint64_t all_b = 0;

    for (size_t i = 0; i < AS_KEPT_ROOMS; i++)
        all_b += rig->kept[i].room.at ? rig->kept[i].room.size_b : 0;
    return all_b;
}

/* Sets the NUMA node of pages that are touched later. Returns false if the kernel refuses. */
static bool bind_room(const struct as_room *room, int node)
{
    enum { BITS = 8 * sizeof(unsigned long) };
    unsigned long mask[1024 / BITS] = {0};

    if (node < 0 || node >= 1024)
        return false;
    mask[node / BITS] = 1ul << node % BITS;
    return syscall(SYS_mbind, room->at, room->size_b, MPOL_BIND, mask, 1025ul, 0u) == 0;
}

/* Opens an area for three arrays of the max size, which is all that is ever touched at once. */
static bool open_room(struct as_rig *rig, const struct as_scope *scope, int cpu, size_t size_b,
                      enum as_pages pages, struct as_room *room)
{
    if (scope->is_bound) {
        if (!as_room_open(room, size_b, pages))
            return false;
        if (bind_room(room, scope->node))
            return true;
        as_room_close(room);
        return false;
    }
    if (reuse_kept_memory(rig, cpu, size_b, pages, room))
        return true;
    if (kept_b(rig) + size_b > 3 * rig->memory_most_b)
        as_bench_forget_rooms(rig);
    return as_room_open(room, size_b, pages);
}

/* ---- A bench --------------------------------------------------------------------------------- */

static void fill_part(struct as_crew_part *part)
{
    const double small = 0x1p-30; /* no denormals, no growth */
    double *array[] = {part->a, part->b, part->c};

    for (unsigned k = 0; k < 3; k++)
        for (size_t i = 0; (k == 0 || array[k] != array[0]) && i < part->n / sizeof small; i++)
            array[k][i] = small;
}

int as_bench_open(struct as_rig *rig, const struct as_scope *scope, size_t arrays, size_t n,
                  enum as_pages pages, struct as_bench **out, struct as_error *err)
{
    /* Arrays at a distance of a power of two share cache sets. They also look aliased to a store
     * that loads pass. So a few lines are between them. */
    const size_t apart_b = n + 3 * AS_STREAM_BLOCK_B;
    struct as_bench *bench = as_calloc(1, sizeof *bench);

    *out = bench;
    if (!bench)
        return as_error_nomem(err, "the memory of a measurement");
    bench->rig = rig;
    bench->pages = pages;
    bench->is_bound = scope->is_bound;
    for (; bench->n < scope->n; bench->n++) {
        struct as_room *room = &bench->room[bench->n];
        struct as_crew_part *part = &bench->part[bench->n];
        if (!open_room(rig, scope, scope->cpu[bench->n], arrays * apart_b, pages, room)) {
            as_bench_close(out);
            return as_error_set(err, AS_ERR_LIMIT, "measuring: no memory for arrays of %zu bytes%s",
                                n, scope->is_bound ? " on this NUMA node" : "");
        }
        uint8_t *at = room->at;
        *part = (struct as_crew_part){.cpu = scope->cpu[bench->n], .n = n, .passes = 1};
        part->a = at;
        part->b = at + (arrays > 1 ? apart_b : 0);
        part->c = at + (arrays > 2 ? 2 * apart_b : 0);
    }
    const int rc = as_crew_new(bench->part, bench->n, &bench->crew, err);
    if (rc < 0) {
        as_bench_close(out);
        return rc;
    }
    as_crew_fill(bench->crew, fill_part);
    as_room_look(&bench->room[0]);
    if (pages != AS_PAGES_SMALL && !bench->room[0].huge && bench->room[0].size_b >= 4u << 20)
        rig->small_only = true;
    return 0;
}

void as_bench_close(struct as_bench **out)
{
    struct as_bench *bench = *out;

    if (!bench)
        return;
    as_crew_free(&bench->crew);
    for (size_t i = 0; i < bench->n; i++) {
        if (!bench->is_bound)
            store_spare_memory(bench->rig, bench->part[i].cpu, bench->pages, &bench->room[i]);
        as_room_close(&bench->room[i]);
    }
    as_free(bench);
    *out = NULL;
}
