/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory operands of hot loops. The code gives the stride of most. For others it names the
 * registers that the stride is made of (code/register_stride.c). Samples anywhere in the loop have
 * the values of these registers. Samples of all processes and threads count together.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "profile/accesses.h"

#define SAMPLES_LEAST 20   /* of a loop with registers */
#define STAYS_SHARE   0.75 /* of a cache: so much stays there beside what else runs */

enum { STRIDE_METRIC, LINE_USE_METRIC, SWEEP_METRIC, RATE_METRIC, SPLIT_METRIC, ACCESS_METRICS };

static const struct as_metric access_metric[ACCESS_METRICS] = {
    [STRIDE_METRIC] = {.name = "operand_stride_b",
                       .unit = "b",
                       .title = "Widest stride",
                       .meaning = "Stride of the widest walk, in bytes.",
                       .formula = "by the code, or by registers of samples",
                       .topic = "memory",
                       .position = 63},
    [LINE_USE_METRIC] = {.name = "operand_line_use_pct",
                         .unit = "%",
                         .title = "Use of lines",
                         .meaning = "Share of the loaded cache lines that is used.",
                         .formula = "100 * used / moved, over arrays",
                         .topic = "memory",
                         .position = 64,
                         .better = AS_BETTER_HIGHER},
    [SWEEP_METRIC] = {.name = "operand_sweep_b",
                      .unit = "b",
                      .title = "Memory of all walks, at least",
                      .meaning = "Size of the memory that all walks of the loop cover together.",
                      .formula = "as operand_walk_b, from the addresses of all operands",
                      .topic = "memory",
                      .position = 65},
    [RATE_METRIC] = {.name = "operand_rate_b_s",
                     .unit = "b/s",
                     .title = "Data rate, at least",
                     .meaning = "Bytes of cache lines per second that the walks of one thread "
                                "pass.",
                     .formula = "bytes of an entry / iterations of an entry * iterations a second, "
                                "from the addresses of two samples of one thread",
                     .topic = "memory",
                     .position = 66},
    [SPLIT_METRIC] = {.name = "operand_split_pct",
                      .unit = "%",
                      .title = "Vectors across lines",
                      .meaning = "Vector accesses that touch two cache lines.",
                      .formula = "100 * sampled addresses that cross a line / all, over operands",
                      .topic = "memory",
                      .position = 67,
                      .better = AS_BETTER_LOWER}};

typedef AS_VEC(struct as_register_site) site_list;

struct access_pass {
    struct as_attribution *all;
    struct as_objects *objects;
    struct as_caches caches;
    struct as_access_names names;
    struct as_loop_operands operands; /* of all loops */
    uint32_t rate_hz;
    int64_t metric[ACCESS_METRICS];
    struct as_operand_loop loop;
};

/* ---- Rows ----------------------------------------------------------------------------------- */

static const char *stride_word(const struct as_memory_stream *at, const struct as_seen_stride *seen)
{
    if (!isnan(seen->share) && seen->share < AS_STRIDE_SHARE_SURE)
        return seen->share > 0 ? "several" : "unknown";
    switch (at->stride) {
    case AS_STRIDE_ZERO:
        return "none";
    case AS_STRIDE_UNIT:
        return "unit";
    case AS_STRIDE_CONSTANT:
        return "constant";
    case AS_STRIDE_INDIRECT:
        return "indirect";
    default:
        return "unknown";
    }
}

static const char *access_word(unsigned access)
{
    const unsigned both = AS_ACCESS_READ | AS_ACCESS_WRITE;

    return (access & both) == both ? "update" : access & AS_ACCESS_WRITE ? "store" : "load";
}

static int line_of(const struct access_pass *p, uint64_t address, int64_t *line_id,
                   struct as_error *err)
{
    struct as_catalogue_place place;

    *line_id = 0;
    as_catalogue_find(p->loop.module, address, &place);
    return place.line ? as_catalogue_row_line(p->loop.module, place.file, place.line, line_id, err)
                      : 0;
}

static int reuse_of(const struct access_pass *p, size_t i, struct as_row_loop_access *row,
                    struct as_error *err)
{
    const struct as_outer_reuse *reuse = &p->loop.reuse[i];

    if (reuse->kind == AS_REUSE_NONE)
        return 0;
    row->reuse = reuse->kind == AS_REUSE_LINE ? "line" : "data";
    if (reuse->between_b > 0)
        row->reuse_b = as_known((int64_t)reuse->between_b);
    return as_catalogue_row_loop(p->loop.module, reuse->loop, &row->reuse_loop_id, err);
}

static int write_access(struct access_pass *p, size_t i, const as_address_list *address_list,
                        struct as_error *err)
{
    const struct as_memory_stream *at = &p->loop.streams.at[i];
    const uint64_t address = p->loop.module->program->code.insn[at->insn].address;
    const struct as_seen_stride *seen = &p->loop.seen[i];
    const struct as_line_use *use = &p->loop.use[i];
    const bool by_code = isnan(seen->share);
    struct as_row_loop_access row = {
        .run_id = p->all->run_id,
        .loop_id = p->loop.site->loop_id,
        .address = (int64_t)address,
        .operand = at->operand,
        .data_object_id = p->loop.object_id[i],
        .access = access_word(at->access),
        .width_b = at->width_b,
        .array = at->array,
        .stride = stride_word(at, seen),
        .stride_share = seen->share > 0 ? seen->share : (double)NAN,
        .sample_n = (int64_t)p->loop.sample_n,
        .split_share = as_split_share(&p->loop, (uint32_t)i, address_list),
        .line_used_pct = use->moved_b > 0 ? 100 * use->used_b / use->moved_b : (double)NAN};

    struct as_access_name name;
    AS_TRY(as_access_name_of(&p->names, &p->loop, i, &name, err));
    row.variable = *name.base.text ? name.base.text : NULL;
    row.member = *name.member.path ? name.member.path : NULL;
    if (name.element_b)
        row.element_b = as_known((int64_t)name.element_b);
    if (name.row_n)
        row.row_n = as_known(name.row_n);
    row.extent = *name.extent ? name.extent : NULL;
    if (*name.extent)
        row.extent_n = as_known(name.extent_n);
    if (name.dimension_n)
        row.dimension_n = as_known(name.dimension_n);
    if (by_code ? at->stride <= AS_STRIDE_CONSTANT : seen->share > 0)
        row.stride_b = as_known(seen->stride_b);
    AS_TRY(line_of(p, address, &row.line_id, err));
    AS_TRY(reuse_of(p, i, &row, err));
    return as_experiment_add_loop_access(p->all->experiment, &row, err);
}

/* Writes the metrics of a loop if every stride is known. */
static int write_metrics(const struct access_pass *p, struct as_error *err)
{
    const struct as_line_use *total = &p->loop.all_use;
    const struct as_subject loop = {
        .kind = AS_OBJECT_LOOP, .object_id = p->loop.site->loop_id, .run_id = p->all->run_id};
    int64_t widest_b = 0;

    for (size_t i = 0; i < p->loop.streams.n; i++) {
        const struct as_memory_stream *at = &p->loop.streams.at[i];

        if (at->stack)
            continue;
        if (at->stride > AS_STRIDE_CONSTANT)
            return 0;
        if (llabs(p->loop.seen[i].stride_b) > widest_b)
            widest_b = llabs(p->loop.seen[i].stride_b);
    }
    if (!(total->moved_b > 0))
        return 0;
    const double share = 100 * total->used_b / total->moved_b;
    AS_TRY(as_experiment_value(p->all->experiment, p->metric[STRIDE_METRIC], &loop,
                               as_value_derived((double)widest_b, (double)widest_b,
                                                (double)widest_b, (int64_t)p->loop.sample_n),
                               err));
    return as_experiment_value(p->all->experiment, p->metric[LINE_USE_METRIC], &loop,
                               as_value_derived(share, share, share, (int64_t)p->loop.sample_n),
                               err);
}

/* Entries [from, to) are of one object. */
static int write_object(const struct access_pass *p, const struct as_touched *from,
                        const struct as_touched *to, double all, double *touched_b,
                        struct as_error *err)
{
    unsigned access = 0;
    double weight = 0, known = 0, huge = 0; /* known: of those with known pages */
    struct as_row_loop_object row = {.run_id = p->all->run_id,
                                     .loop_id = p->loop.site->loop_id,
                                     .data_object_id = from->object.object_id};

    for (const struct as_touched *at = from, *next; at < to; at = next) {
        struct as_touched_sum sum;
        next = as_touched_sum(at, to, &sum);
        row.object_n = sum.object_n > row.object_n ? sum.object_n : row.object_n;
        row.touched_b = sum.touched_b > row.touched_b ? sum.touched_b : row.touched_b;
        for (; at < next; at++) {
            access |= p->loop.streams.at[at->stream].access;
            row.sample_n += (int64_t)at->n;
            weight += at->weight;
            known += at->object.huge_pct >= 0 ? at->weight : 0;
            huge += at->object.huge_pct >= 0 ? at->weight * at->object.huge_pct / 100 : 0;
        }
    }
    row.access = access_word(access);
    row.share = weight / all;
    row.huge_share = known > 0 ? huge / known : (double)NAN;
    *touched_b += (double)row.touched_b;
    return as_experiment_add_loop_object(p->all->experiment, &row, err);
}

static int write_objects(const struct access_pass *p, const as_touched_list *list,
                         double *touched_b, struct as_error *err)
{
    double all = 0;

    for (size_t i = 0; i < list->n; i++)
        all += list->at[i].weight;
    for (size_t from = 0, to; from < list->n; from = to) {
        for (to = from + 1;
             to < list->n && list->at[to].object.object_id == list->at[from].object.object_id;)
            to++;
        AS_TRY(write_object(p, list->at + from, list->at + to, all, touched_b, err));
    }
    return 0;
}

/* Writes a bound from below, if it is known. */
static int write_bound(const struct access_pass *p, int metric, double value, struct as_error *err)
{
    const struct as_subject loop = {
        .kind = AS_OBJECT_LOOP, .object_id = p->loop.site->loop_id, .run_id = p->all->run_id};

    return value > 0 ? as_experiment_value(
                           p->all->experiment, p->metric[metric], &loop,
                           as_value_derived(value, value, INFINITY, (int64_t)p->loop.sample_n), err)
                     : 0;
}

/* No walk reaches further than the objects that the loop touches. */
static int write_sweep(const struct access_pass *p, const as_address_list *address,
                       const struct as_entry *entry, double touched_b, struct as_error *err)
{
    struct as_sweep sweep;

    AS_TRY(as_sweep_of(&p->loop, &p->operands, p->rate_hz, address, &sweep, err));
    if (touched_b > 0)
        sweep.reach_b = fmin(sweep.reach_b, touched_b);
    AS_TRY(write_bound(p, SWEEP_METRIC, sweep.reach_b, err));
    return entry->iteration_n > 0
               ? write_bound(p, RATE_METRIC,
                             sweep.iteration_per_s * entry->line_b / entry->iteration_n, err)
               : 0;
}

static int write_entry(const struct access_pass *p, const struct as_entry *entry, double touched_b,
                       struct as_error *err)
{
    const bool known = entry->iteration_n > 0;
    struct as_row_loop_data row = {.run_id = p->all->run_id,
                                   .loop_id = p->loop.site->loop_id,
                                   .iteration_n = known ? entry->iteration_n : (double)NAN,
                                   .cache_n = as_known(p->caches.n)};

    if (!known && !(touched_b > 0))
        return 0;
    if (known) {
        row.entry_b = as_known((int64_t)entry->line_b);
        row.page_n = as_known((int64_t)ceil(entry->page_n));
        row.set_n = entry->set_n ? as_known(entry->set_n) : (struct as_number){0};
    }
    if (known && entry->line_b > 0 && p->caches.n)
        row.near_level = as_known(entry->near_level);
    if (touched_b > 0) {
        row.touched_b = as_known((int64_t)touched_b);
        if (p->caches.n)
            row.far_level = as_known(as_level_of(&p->caches, touched_b / STAYS_SHARE));
    }
    return as_experiment_add_loop_data(p->all->experiment, &row, err);
}

static int write_sharing(const struct access_pass *p, const as_address_list *address,
                         struct as_error *err)
{
    struct as_sharing sharing;

    AS_TRY(as_sharing_find(&p->loop, address, &sharing, err));
    if (!sharing.line_n)
        return 0;
    const struct as_row_loop_sharing row = {.run_id = p->all->run_id,
                                            .loop_id = p->loop.site->loop_id,
                                            .data_object_id = p->loop.object_id[sharing.stream],
                                            .line_n = sharing.line_n,
                                            .thread_n = sharing.thread_n,
                                            .gap_b = (int64_t)sharing.gap_b,
                                            .share = sharing.share};
    return as_experiment_add_loop_sharing(p->all->experiment, &row, err);
}

/* Objects and false sharing: what addresses say. */
static int write_touched(struct access_pass *p, const as_address_list *address, double *touched_b,
                         struct as_error *err)
{
    as_touched_list touched = {0};
    int rc = as_objects_touched(p->objects, &p->loop, address, &touched, err);

    if (rc == 0)
        rc = write_objects(p, &touched, touched_b, err);
    as_vec_fini(&touched);
    return rc < 0 ? rc : write_sharing(p, address, err);
}

/* The mean over vector operands with known addresses. */
static int write_splits(const struct access_pass *p, const as_address_list *address,
                        struct as_error *err)
{
    const struct as_subject loop = {
        .kind = AS_OBJECT_LOOP, .object_id = p->loop.site->loop_id, .run_id = p->all->run_id};
    double sum = 0;
    unsigned n = 0;

    for (uint32_t i = 0; i < p->loop.streams.n; i++) {
        const double share = as_split_share(&p->loop, i, address);
        if (p->loop.streams.at[i].stack || isnan(share))
            continue;
        sum += share;
        n++;
    }
    const double pct = n ? 100 * sum / n : 0;
    return n ? as_experiment_value(p->all->experiment, p->metric[SPLIT_METRIC], &loop,
                                   as_value_derived(pct, pct, pct, (int64_t)p->loop.sample_n), err)
             : 0;
}

static int write_accesses(struct access_pass *p, const as_address_list *address,
                          struct as_error *err)
{
    for (size_t i = 0; i < p->loop.streams.n; i++)
        if (!p->loop.streams.at[i].stack)
            AS_TRY(write_access(p, i, address, err));
    return write_splits(p, address, err);
}

static int write_loop(struct access_pass *p, struct as_error *err)
{
    as_address_list address = {0};
    double touched_b = 0;

    as_strides_see(&p->loop);
    AS_TRY(as_line_use(&p->loop.streams, p->loop.use, &p->loop.all_use, err));
    int rc = as_addresses_of(&p->loop, &address, err);
    if (rc == 0)
        rc = write_touched(p, &address, &touched_b, err);
    const struct as_entry entry = as_entry_of(&p->loop, &p->caches);
    if (rc == 0)
        rc = as_reuse_see(&p->loop, &entry, err);
    if (rc == 0)
        rc = write_sweep(p, &address, &entry, touched_b, err);
    if (rc == 0)
        rc = write_accesses(p, &address, err);
    as_vec_fini(&address);
    AS_TRY(rc);
    AS_TRY(write_entry(p, &entry, touched_b, err));
    return write_metrics(p, err);
}

/* ---- Loops ---------------------------------------------------------------------------------- */

static void release_loop(struct as_operand_loop *loop)
{
    as_free(loop->seen);
    as_free(loop->use);
    as_free(loop->object_id);
    as_free(loop->offset_b);
    as_free(loop->reuse);
    as_streams_free(&loop->streams);
}

static int look_at_loop(struct access_pass *p, struct as_error *err)
{
    struct as_operand_loop *loop = &p->loop;

    loop->sample_n = 0;
    for (size_t i = 0; i < loop->site_n; i++)
        loop->sample_n += loop->site[i].registers->sample_n;
    if (loop->sample_n < SAMPLES_LEAST)
        return 0;
    AS_TRY(as_loop_streams(loop->module->program, loop->site->loop, &loop->streams, err));
    const size_t n = loop->streams.n + 1;
    loop->seen = as_calloc(n, sizeof *loop->seen);
    loop->use = as_calloc(n, sizeof *loop->use);
    loop->object_id = as_calloc(n, sizeof *loop->object_id);
    loop->offset_b = as_calloc(n, sizeof *loop->offset_b);
    loop->reuse = as_calloc(n, sizeof *loop->reuse);
    const int rc = loop->seen && loop->use && loop->object_id && loop->offset_b && loop->reuse
                       ? write_loop(p, err)
                       : as_error_nomem(err, "the accesses of a loop");
    release_loop(loop);
    return rc;
}

static int by_loop(const void *a, const void *b)
{
    const struct as_register_site *x = a, *y = b;

    return (x->loop_id > y->loop_id) - (x->loop_id < y->loop_id);
}

static int look_at_loops(struct access_pass *p, site_list *site, struct as_error *err)
{
    if (site->n)
        qsort(site->at, site->n, sizeof *site->at, by_loop);
    for (size_t from = 0, to; from < site->n; from = to) {
        for (to = from + 1; to < site->n && site->at[to].loop_id == site->at[from].loop_id; to++)
            ;
        p->loop.site = site->at + from;
        p->loop.site_n = to - from;
        AS_TRY(look_at_loop(p, err));
    }
    return 0;
}

/* The innermost loop of each place; places outside of loops are left out. */
static int list_sites(const struct access_pass *p, size_t from, size_t to, site_list *out,
                      struct as_error *err)
{
    for (size_t i = from; i < to; i++) {
        const struct as_tally_registers *registers = &p->all->tally.registers.at[i];
        struct as_register_site it = {.loop_id = registers->place.loop_id, .registers = registers};
        struct as_catalogue_place place;
        uint64_t address;

        if (!it.loop_id ||
            !as_catalogue_address(p->loop.module, registers->place.address, &address))
            continue;
        as_catalogue_find(p->loop.module, address, &place);
        it.loop = place.loop;
        it.address = address;
        if (it.loop != AS_NONE && as_vec_push(out, it) < 0)
            return as_error_nomem(err, "the accesses of a run");
    }
    return 0;
}

/* Places [from, to) are of one module. */
static int look_at_module(struct access_pass *p, size_t from, size_t to, struct as_error *err)
{
    const uint32_t module = p->all->tally.registers.at[from].place.module;
    site_list site = {0};
    int rc = 0;

    if (!p->all->module[module].id)
        return 0;
    AS_TRY(as_catalogue_open_row(p->all->catalogue, p->all->module[module].id, 1,
                                 AS_CATALOGUE_ANALYSED, &p->loop.module, err));
    if (p->loop.module->program)
        rc = list_sites(p, from, to, &site, err);
    if (rc == 0)
        rc = look_at_loops(p, &site, err);
    as_access_names_fini(&p->names);
    as_catalogue_close(p->all->catalogue, &p->loop.module);
    as_vec_fini(&site);
    return rc;
}

static int look_at_modules(struct access_pass *p, struct as_error *err)
{
    const size_t n = p->all->tally.registers.n;

    for (size_t from = 0, to; from < n; from = to) {
        to = as_places_end(p->all->tally.registers.at, n, sizeof *p->all->tally.registers.at, from);
        AS_TRY(look_at_module(p, from, to, err));
    }
    return 0;
}

int as_attribute_accesses(struct as_attribution *all, struct as_error *err)
{
    struct access_pass p = {.all = all};

    if (!all->tally.registers.n)
        return 0;
    for (int m = 0; m < ACCESS_METRICS; m++)
        AS_TRY(as_experiment_metric(all->experiment, &access_metric[m], &p.metric[m], err));
    AS_TRY(as_caches_read(all, &p.caches, err));
    p.rate_hz = all->tally.stream.n ? all->tally.stream.at[0].rate_hz : 0;
    int rc = as_objects_new(all, &p.objects, err);
    if (rc == 0)
        rc = as_loop_operands_new(&all->tally, &p.operands, err);
    if (rc == 0)
        rc = look_at_modules(&p, err);
    as_loop_operands_free(&p.operands);
    as_objects_free(&p.objects);
    return rc;
}
