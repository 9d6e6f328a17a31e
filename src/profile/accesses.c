/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory operands of hot loops. The code gives the stride of most. For others it names the
 * registers that the stride is made of (code/held.c). Samples anywhere in the loop have the values
 * of these registers. Samples of all processes and threads count together.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "profile/attribute.h"

#define SAMPLES_LEAST 20  /* of a loop with registers */
#define BASES_LEAST   10  /* samples of a base */
#define SHARE_SURE    0.9 /* of the samples, from which on a stride is the loop's */

enum { STRIDE_METRIC, LINE_USE_METRIC, ACCESS_METRICS };

static const struct assay_metric access_metric[ACCESS_METRICS] = {
    [STRIDE_METRIC] = {.name = "operand_stride_b",
                       .unit = "b",
                       .title = "Widest stride",
                       .meaning = "Bytes from one access to the next, of the widest walk.",
                       .formula = "by the code, or by registers of samples",
                       .topic = "memory",
                       .position = 63},
    [LINE_USE_METRIC] = {.name = "operand_line_use_pct",
                         .unit = "%",
                         .title = "Use of lines",
                         .meaning = "Bytes used of the cache lines that come.",
                         .formula = "100 * used / moved, over arrays",
                         .topic = "memory",
                         .position = 64,
                         .better = ASSAY_BETTER_HIGHER}};

/* One instruction with samples, and the loop that it is in. */
struct held_site {
    int64_t loop_id;
    uint32_t loop;    /* of the program */
    uint64_t address; /* in the program */
    const struct as_tally_held *held;
};

typedef AS_VEC(struct held_site) site_list;

enum { REGISTERS = 16, STRIDES_MOST = 16 };

/* Strides of one operand, with the samples that have them. */
struct seen_strides {
    int64_t stride_b[STRIDES_MOST];
    uint64_t sample_n[STRIDES_MOST];
    unsigned n;
};

/* The sum of these. */
struct seen_stride {
    int64_t stride_b, shortest_b; /* of most samples; of any */
    double share;                 /* of the samples that have stride_b; NAN: the code says it */
    double known;                 /* share of the samples with a known stride */
};

struct access_pass {
    struct as_attribution *all;
    struct assay_catalogue_module *module;
    int64_t metric[ACCESS_METRICS];
    const struct held_site *site; /* of one loop */
    size_t site_n;
    uint64_t sample_n;
    struct assay_streams streams;
    struct seen_stride *seen; /* by stream */
};

/* ---- Reading -------------------------------------------------------------------------------- */

/* One "REGISTER:VALUE:SAMPLES"; false: it is none. */
static bool read_value(const char **text, uint32_t sample_n, struct as_tally_value *out)
{
    char *end;
    const unsigned long reg = strtoul(*text, &end, 10);

    if (end == *text || *end != ':' || reg >= REGISTERS)
        return false;
    out->reg = (uint8_t)reg;
    out->value = strtoull(end + 1, &end, 16);
    if (*end != ':')
        return false;
    out->n = (uint32_t)strtoul(end + 1, &end, 10);
    *text = end;
    return out->n && out->n <= sample_n;
}

int as_held_read(struct as_arena *arena, const char *text, struct as_tally_held *out)
{
    char *end;

    *out = (struct as_tally_held){0};
    out->place.module = (uint32_t)strtoul(text, &end, 10);
    out->place.address = strtoull(end, &end, 10);
    out->sample_n = (uint32_t)strtoul(end, &end, 10);
    size_t capacity = 0;
    for (const char *at = end; *at; at++)
        capacity += *at == ' ';
    struct as_tally_value *value = as_arena_array(arena, struct as_tally_value, capacity + 1);
    if (!value || !out->sample_n)
        return -1;
    for (text = end; *text == ' ' && out->values < capacity; out->values++)
        if (text++, !read_value(&text, out->sample_n, &value[out->values]))
            return -1;
    out->value = value;
    return *text ? -1 : 0;
}

/* ---- Strides -------------------------------------------------------------------------------- */

static void add_stride(struct seen_strides *out, int64_t stride_b, uint64_t n)
{
    unsigned at = 0;

    while (at < out->n && out->stride_b[at] != stride_b)
        at++;
    if (at == STRIDES_MOST)
        return;
    if (at == out->n) {
        out->stride_b[out->n++] = stride_b;
        out->sample_n[at] = 0;
    }
    out->sample_n[at] += n;
}

/* If two registers have several values each, the pairs are unknown. */
static void add_place(const struct assay_held_stride *stride, const struct as_tally_held *held,
                      struct seen_strides *out)
{
    uint64_t fixed = (uint64_t)stride->constant_b, least = UINT64_MAX;
    const struct as_tally_value *several = NULL;
    unsigned several_n = 0;
    int64_t factor = 0;

    for (unsigned i = 0; i < stride->n; i++) {
        const unsigned reg = assay_reg_dwarf(stride->reg[i]);
        const struct as_tally_value *first = NULL;
        unsigned n = 0;
        for (unsigned k = 0; k < held->values; k++)
            if (held->value[k].reg == reg) {
                first = n++ ? first : &held->value[k];
            }
        if (!n || (n > 1 && several))
            return;
        if (n == 1) {
            fixed += (uint64_t)stride->factor[i] * first->value;
            least = first->n < least ? first->n : least;
        } else {
            several = first;
            several_n = n;
            factor = stride->factor[i];
        }
    }
    if (!several)
        add_stride(out, (int64_t)fixed, least);
    for (unsigned k = 0; k < several_n; k++)
        add_stride(out, (int64_t)(fixed + (uint64_t)factor * several[k].value),
                   several[k].n < least ? several[k].n : least);
}

/* The strides of one operand in all samples of its loop. */
static struct seen_strides seen_of(const struct access_pass *p,
                                   const struct assay_held_stride *stride)
{
    struct seen_strides out = {0};

    for (size_t i = 0; i < p->site_n; i++)
        add_place(stride, p->site[i].held, &out);
    return out;
}

/* The stride that most samples have, the shortest, and the share of the samples that any has. */
static struct seen_stride stride_of(const struct access_pass *p,
                                    const struct assay_held_stride *stride)
{
    const struct seen_strides all = seen_of(p, stride);
    struct seen_stride out = {.known = 0, .share = 0};
    uint64_t max_n = 0;

    for (unsigned i = 0; i < all.n; i++) {
        const double share = (double)all.sample_n[i] / (double)p->sample_n;
        out.known += share;
        if (i == 0 || llabs(all.stride_b[i]) < llabs(out.shortest_b))
            out.shortest_b = all.stride_b[i];
        if (all.sample_n[i] <= max_n)
            continue;
        max_n = all.sample_n[i];
        out.stride_b = all.stride_b[i];
        out.share = share;
    }
    return out;
}

/* The value that a register holds in most samples of an instruction; NULL: in none often. */
static const struct as_tally_value *most_held(const struct as_tally_held *held, unsigned reg)
{
    const struct as_tally_value *most = NULL;

    for (unsigned i = 0; i < held->values; i++)
        if (held->value[i].reg == reg && (!most || held->value[i].n > most->n))
            most = &held->value[i];
    return most;
}

/* The stride behind a base; its share is NAN if the base differs from sample to sample. */
static struct seen_stride based_stride(const struct access_pass *p,
                                       const struct assay_based_stride *based)
{
    const unsigned reg = assay_reg_dwarf(based->reg);
    const struct as_tally_value *base = NULL;
    uint64_t all_n = 0, same_n = 0;

    for (size_t i = 0; i < p->site_n; i++) {
        if (p->site[i].address < based->first || p->site[i].address > based->last)
            continue;
        const struct as_tally_value *most = most_held(p->site[i].held, reg);
        all_n += p->site[i].held->sample_n;
        base = most && (!base || most->n > base->n) ? most : base;
    }
    for (size_t i = 0; i < p->site_n && base; i++) {
        const struct as_tally_held *held = p->site[i].held;
        if (p->site[i].address < based->first || p->site[i].address > based->last)
            continue;
        for (unsigned k = 0; k < held->values; k++)
            if (held->value[k].reg == reg && held->value[k].value == base->value)
                same_n += held->value[k].n;
    }
    const double share = all_n >= BASES_LEAST ? (double)same_n / (double)all_n : 0;
    return share < SHARE_SURE
               ? (struct seen_stride){0, 0, (double)NAN, 0}
               : (struct seen_stride){based->stride_b, based->stride_b, share, share};
}

/* Gives the streams of the loop the strides that were seen; of several the shortest, which uses
 * most of each line. */
static void see_strides(struct access_pass *p)
{
    for (size_t i = 0; i < p->streams.n; i++) {
        struct assay_memory_stream *at = &p->streams.at[i];
        struct seen_stride *seen = &p->seen[i];

        *seen = (struct seen_stride){at->stride_b, at->stride_b, (double)NAN, 1};
        if (at->held.n)
            *seen = stride_of(p, &at->held);
        else if (at->based.reg != ASSAY_REG_NONE)
            *seen = based_stride(p, &at->based);
        if (isnan(seen->share) || seen->known < SHARE_SURE)
            continue;
        at->stride_b = seen->share >= SHARE_SURE ? seen->stride_b : seen->shortest_b;
        at->stride = at->stride_b == 0                             ? ASSAY_STRIDE_ZERO
                     : llabs(at->stride_b) == (int64_t)at->width_b ? ASSAY_STRIDE_UNIT
                                                                   : ASSAY_STRIDE_CONSTANT;
    }
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static const char *stride_word(const struct assay_memory_stream *at, const struct seen_stride *seen)
{
    if (!isnan(seen->share) && seen->share < SHARE_SURE)
        return seen->share > 0 ? "several" : "unknown";
    switch (at->stride) {
    case ASSAY_STRIDE_ZERO:
        return "none";
    case ASSAY_STRIDE_UNIT:
        return "unit";
    case ASSAY_STRIDE_CONSTANT:
        return "constant";
    case ASSAY_STRIDE_INDIRECT:
        return "indirect";
    default:
        return "unknown";
    }
}

static const char *access_word(const struct assay_memory_stream *at)
{
    const unsigned both = ASSAY_ACCESS_READ | ASSAY_ACCESS_WRITE;

    return (at->access & both) == both       ? "update"
           : at->access & ASSAY_ACCESS_WRITE ? "store"
                                             : "load";
}

static int line_of(const struct access_pass *p, uint64_t address, int64_t *line_id,
                   struct assay_error *err)
{
    struct assay_catalogue_place place;

    *line_id = 0;
    assay_catalogue_find(p->module, address, &place);
    return place.line ? assay_catalogue_row_line(p->module, place.file, place.line, line_id, err)
                      : 0;
}

static int write_access(const struct access_pass *p, size_t i, const struct assay_line_use *use,
                        struct assay_error *err)
{
    const struct assay_memory_stream *at = &p->streams.at[i];
    const uint64_t address = p->module->program->code.insn[at->insn].address;
    const struct seen_stride *seen = &p->seen[i];
    const bool by_code = isnan(seen->share);
    struct assay_row_loop_access row = {
        .run_id = p->all->run_id,
        .loop_id = p->site->loop_id,
        .address = (int64_t)address,
        .operand = at->operand,
        .access = access_word(at),
        .width_b = at->width_b,
        .array = at->array,
        .stride = stride_word(at, seen),
        .stride_share = seen->share > 0 ? seen->share : (double)NAN,
        .sample_n = (int64_t)p->sample_n,
        .line_used_pct = use->moved_b > 0 ? 100 * use->used_b / use->moved_b : (double)NAN};

    if (by_code ? at->stride <= ASSAY_STRIDE_CONSTANT : seen->share > 0)
        row.stride_b = assay_known(seen->stride_b);
    AS_TRY(line_of(p, address, &row.line_id, err));
    return assay_experiment_add_loop_access(p->all->experiment, &row, err);
}

/* Writes the metrics of a loop if every stride is known. */
static int write_metrics(const struct access_pass *p, const struct assay_line_use *total,
                         struct assay_error *err)
{
    const struct assay_subject loop = {
        .kind = ASSAY_OBJECT_LOOP, .object_id = p->site->loop_id, .run_id = p->all->run_id};
    int64_t widest_b = 0;

    for (size_t i = 0; i < p->streams.n; i++) {
        const struct assay_memory_stream *at = &p->streams.at[i];

        if (at->stack)
            continue;
        if (at->stride > ASSAY_STRIDE_CONSTANT)
            return 0;
        if (llabs(p->seen[i].stride_b) > widest_b)
            widest_b = llabs(p->seen[i].stride_b);
    }
    if (!(total->moved_b > 0))
        return 0;
    const double share = 100 * total->used_b / total->moved_b;
    AS_TRY(assay_experiment_value(
        p->all->experiment, p->metric[STRIDE_METRIC], &loop,
        assay_derived((double)widest_b, (double)widest_b, (double)widest_b, (int64_t)p->sample_n),
        err));
    return assay_experiment_value(p->all->experiment, p->metric[LINE_USE_METRIC], &loop,
                                  assay_derived(share, share, share, (int64_t)p->sample_n), err);
}

static int write_loop(struct access_pass *p, struct assay_line_use *use, struct assay_error *err)
{
    struct assay_line_use total;

    see_strides(p);
    AS_TRY(assay_line_use(&p->streams, use, &total, err));
    for (size_t i = 0; i < p->streams.n; i++)
        if (!p->streams.at[i].stack)
            AS_TRY(write_access(p, i, &use[i], err));
    return write_metrics(p, &total, err);
}

/* ---- Loops ---------------------------------------------------------------------------------- */

static int look_at_loop(struct access_pass *p, struct assay_error *err)
{
    struct assay_line_use *use = NULL;
    int rc;

    p->sample_n = 0;
    for (size_t i = 0; i < p->site_n; i++)
        p->sample_n += p->site[i].held->sample_n;
    if (p->sample_n < SAMPLES_LEAST)
        return 0;
    AS_TRY(assay_loop_streams(p->module->program, p->site->loop, &p->streams, err));
    p->seen = as_calloc(p->streams.n + 1, sizeof *p->seen);
    use = as_calloc(p->streams.n + 1, sizeof *use);
    rc = p->seen && use ? write_loop(p, use, err) : as_error_nomem(err, "the accesses of a loop");
    as_free(p->seen);
    as_free(use);
    assay_streams_free(&p->streams);
    return rc;
}

static int by_loop(const void *a, const void *b)
{
    const struct held_site *x = a, *y = b;

    return (x->loop_id > y->loop_id) - (x->loop_id < y->loop_id);
}

static int look_at_loops(struct access_pass *p, site_list *site, struct assay_error *err)
{
    if (site->n)
        qsort(site->at, site->n, sizeof *site->at, by_loop);
    for (size_t from = 0, to; from < site->n; from = to) {
        for (to = from + 1; to < site->n && site->at[to].loop_id == site->at[from].loop_id; to++)
            ;
        p->site = site->at + from;
        p->site_n = to - from;
        AS_TRY(look_at_loop(p, err));
    }
    return 0;
}

/* The innermost loop of each place; places outside of loops are left out. */
static int list_sites(const struct access_pass *p, size_t from, size_t to, site_list *out,
                      struct assay_error *err)
{
    for (size_t i = from; i < to; i++) {
        const struct as_tally_held *held = &p->all->tally.held.at[i];
        struct held_site it = {.loop_id = held->place.loop_id, .held = held};
        struct assay_catalogue_place place;
        uint64_t address;

        if (!it.loop_id || !assay_catalogue_address(p->module, held->place.address, &address))
            continue;
        assay_catalogue_find(p->module, address, &place);
        it.loop = place.loop;
        it.address = address;
        if (it.loop != ASSAY_NONE && as_vec_push(out, it) < 0)
            return as_error_nomem(err, "the accesses of a run");
    }
    return 0;
}

/* Places [from, to) are of one module. */
static int look_at_module(struct access_pass *p, size_t from, size_t to, struct assay_error *err)
{
    const uint32_t module = p->all->tally.held.at[from].place.module;
    site_list site = {0};
    int rc = 0;

    if (!p->all->module[module].id)
        return 0;
    AS_TRY(assay_catalogue_open_row(p->all->catalogue, p->all->module[module].id, 1,
                                    ASSAY_CATALOGUE_ANALYSED, &p->module, err));
    if (p->module->program)
        rc = list_sites(p, from, to, &site, err);
    if (rc == 0)
        rc = look_at_loops(p, &site, err);
    assay_catalogue_close(p->all->catalogue, &p->module);
    as_vec_fini(&site);
    return rc;
}

int as_attribute_accesses(struct as_attribution *all, struct assay_error *err)
{
    struct access_pass p = {.all = all};
    const size_t n = all->tally.held.n;

    for (int m = 0; m < ACCESS_METRICS && n; m++)
        AS_TRY(assay_experiment_metric(all->experiment, &access_metric[m], &p.metric[m], err));
    for (size_t from = 0, to; from < n; from = to) {
        to = as_places_end(all->tally.held.at, n, sizeof *all->tally.held.at, from);
        AS_TRY(look_at_module(&p, from, to, err));
    }
    return 0;
}
