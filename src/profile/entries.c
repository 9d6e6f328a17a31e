/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory an entry of a loop touches, and which cache holds that. A sample has the counter
 * of the loop and its bound, and so the iterations that are left. Samples fall anywhere in an
 * entry: twice the mean of what is left is the length of the entry that a mean iteration is in.
 */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "profile/accesses.h"

#define LEFT_LEAST  10 /* samples with a counter */
#define LEFT_MOST   0x1p40
#define LINE_B      64.0
#define PAGE_B      4096.0
#define WALKS_MOST  64
#define FIRST_SETS  64 /* of the first cache: a way has the size of a page */
#define PAGE_CACHES 2  /* the first two: of larger ones the page chooses most sets */

/* ---- Caches ---------------------------------------------------------------------------------- */

int as_caches_read(struct as_attribution *all, struct as_caches *out, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    *out = (struct as_caches){0};
    AS_TRY(as_rows_open(all->experiment,
                        "SELECT level, max(size_b) FROM machine_place WHERE host_id = ?1 AND "
                        "kind = 'cache' AND cache IN ('data', 'both') AND level BETWEEN 1 AND 4 "
                        "GROUP BY level ORDER BY level",
                        &rows, err));
    as_rows_bind_integer(rows, 1, all->host_id);
    while ((rc = as_rows_next(rows, err)) > 0)
        if (as_rows_integer(rows, 0) == (int64_t)out->n + 1)
            out->size_b[out->n++] = (double)as_rows_integer(rows, 1);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

unsigned as_level_of(const struct as_caches *caches, double size_b)
{
    unsigned level = 0;

    while (level < caches->n && caches->size_b[level] < size_b)
        level++;
    return level + 1;
}

/* ---- Iterations ------------------------------------------------------------------------------ */

/* Iterations that are left in a sample; below 0: none of this loop's. */
static double left_in(const struct as_loop_limit *limit, const struct as_tally_draw *draw)
{
    const uint8_t reg = as_reg_dwarf(limit->reg), bound = as_reg_dwarf(limit->bound_reg);
    const uint64_t difference =
        (bound == AS_REG_NONE ? (uint64_t)limit->bound : draw->reg[bound]) - draw->reg[reg];
    const int64_t left =
        limit->width_b == 4 ? (int64_t)(int32_t)(uint32_t)difference : (int64_t)difference;

    return (double)left / (double)limit->step;
}

double as_iterations_of(const struct as_operand_loop *loop, const struct as_loop_limit *limit)
{
    double sum = 0, weight = 0;
    unsigned n = 0;

    for (size_t i = 0; i < loop->site_n && limit->step; i++) {
        const struct as_tally_registers *registers = loop->site[i].registers;
        for (uint32_t d = 0; d < registers->draws; d++) {
            const double left = left_in(limit, &registers->draw[d]);
            const double one = (double)registers->sample_n / registers->draws;
            if (!(left >= 0 && left < LEFT_MOST))
                continue;
            sum += one * left;
            weight += one;
            n++;
        }
    }
    return n >= LEFT_LEAST ? fmax(1, 2 * sum / weight) : 0;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* A walk along an array. */
struct array_walk {
    uint32_t array, stream;
    double stride_b, line_b; /* of an iteration: bytes of address, and of lines */
    uint64_t at;             /* in one sample, the same for all; 0: not known */
};

struct walk_list {
    struct array_walk at[WALKS_MOST];
    unsigned n;
};

static void list_walks(const struct as_operand_loop *loop, struct walk_list *out)
{
    out->n = 0;
    for (size_t s = 0; s < loop->streams.n && out->n < WALKS_MOST; s++) {
        const struct as_memory_stream *stream = &loop->streams.at[s];
        unsigned same = 0;
        while (same < out->n && out->at[same].array != stream->array)
            same++;
        if (same == out->n && as_stream_walks(stream))
            out->at[out->n++] = (struct array_walk){.array = stream->array,
                                                    .stream = (uint32_t)s,
                                                    .stride_b = fabs((double)stream->stride_b),
                                                    .line_b = loop->use[s].moved_b};
    }
}

/* Sets the places of the walks in the sample that has most of them. */
static void place_walks(const struct as_operand_loop *loop, struct walk_list *list)
{
    unsigned max_n = 0;

    for (size_t i = 0; i < loop->site_n; i++) {
        const struct as_register_site *site = &loop->site[i];
        uint64_t address[WALKS_MOST] = {0};
        unsigned n = 0;
        for (unsigned w = 0; w < list->n && site->registers->draws; w++)
            n += as_stream_address(loop, &loop->streams.at[list->at[w].stream], site->address,
                                   &site->registers->draw[0], &address[w]);
        if (n <= max_n)
            continue;
        max_n = n;
        for (unsigned w = 0; w < list->n; w++)
            list->at[w].at = address[w];
    }
}

/* The part of the lines of `it` that `other` touches in the same entry. */
static double shared_part(const struct array_walk *it, const struct array_walk *other,
                          double iteration_n)
{
    const double far_b = fabs((double)(int64_t)(it->at - other->at));
    const double range_b = iteration_n * it->stride_b;

    if (!it->at || !other->at || it->stride_b != other->stride_b || far_b >= range_b)
        return 0;
    const double beside_b = fmod(far_b, it->stride_b);
    if (it->stride_b > LINE_B && beside_b >= LINE_B && it->stride_b - beside_b >= LINE_B)
        return 0;
    return 1 - far_b / range_b;
}

static void add_lines(const struct walk_list *list, struct as_entry *out)
{
    for (unsigned w = 0; w < list->n; w++) {
        const struct array_walk *it = &list->at[w];
        double shared = 0;
        for (unsigned k = 0; k < w; k++)
            shared = fmax(shared, shared_part(it, &list->at[k], out->iteration_n));
        out->line_b += (1 - shared) * out->iteration_n * it->line_b;
        out->page_n += (1 - shared) * out->iteration_n * fmin(1, it->stride_b / PAGE_B);
    }
}

/*
 * Strides that are multiples of large powers of two reach few sets. The offset in a page chooses
 * among FIRST_SETS: these are all sets of the first cache. In the second the page chooses as well,
 * so each of them stands for an equal part. Takes the nearest cache that is as large as the lines
 * of the entry. Returns the number of sets if it cannot hold the lines in these; else 0.
 */
static unsigned too_few_sets(const struct array_walk *walk, const struct as_caches *caches,
                             const struct as_entry *entry)
{
    const uint64_t stride_b = (uint64_t)walk->stride_b;
    const double walk_b = entry->iteration_n * LINE_B;
    unsigned sets = FIRST_SETS;

    if (stride_b % (uint64_t)LINE_B)
        return 0;
    for (uint64_t lines = stride_b / (uint64_t)LINE_B; sets > 1 && lines % 2 == 0; lines /= 2)
        sets /= 2;
    for (unsigned k = 0; k < caches->n && k < PAGE_CACHES && sets < FIRST_SETS; k++)
        if (entry->line_b <= caches->size_b[k])
            return walk_b > caches->size_b[k] * sets / FIRST_SETS ? sets : 0;
    return 0;
}

static unsigned conflict_sets(const struct walk_list *list, const struct as_caches *caches,
                              const struct as_entry *entry)
{
    unsigned min_sets = 0;

    for (unsigned w = 0; w < list->n && caches->n; w++) {
        const unsigned sets = too_few_sets(&list->at[w], caches, entry);
        min_sets = sets && (!min_sets || sets < min_sets) ? sets : min_sets;
    }
    return min_sets;
}

struct as_entry as_entry_of(const struct as_operand_loop *loop, const struct as_caches *caches)
{
    struct as_entry out = {.iteration_n = as_iterations_of(loop, &loop->streams.limit)};
    struct walk_list list;

    if (!(out.iteration_n > 0))
        return out;
    list_walks(loop, &list);
    place_walks(loop, &list);
    add_lines(&list, &out);
    out.set_n = conflict_sets(&list, caches, &out);
    out.near_level = as_level_of(caches, out.line_b);
    if (out.set_n)
        out.near_level++;
    return out;
}
