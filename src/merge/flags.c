/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Caveats of the merged run: the flags of its parts, and flags about the merge itself. Equal flags
 * of several parts become one that names the ranks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "merge/internal.h"

/* Max flags of one name and object that are written one by one. */
#define ALIKE_MOST 8
/* Max values of a fact that are listed. */
#define VALUES_MOST 4

/* ---- Flags of the parts -------------------------------------------------------------------- */

static struct as_merge_flag *find_or_add(struct as_merge *merge, const struct as_flag *flag)
{
    struct as_merge_flag it = {.kind = flag->kind, .object_id = flag->object_id};
    struct as_str key = {0};
    uint32_t at = AS_MAP_NONE;

    as_str_appendf(&key, "%s\n%d:%" PRId64 "\n%s", flag->name, (int)flag->kind, flag->object_id,
                   flag->text);
    if (!key.failed) {
        at = as_map_view_get(&merge->flag_of, as_view_of(as_str_z(&key)));
        if (at == AS_MAP_NONE)
            it.key = as_merge_keep(merge, as_str_z(&key));
    }
    as_str_fini(&key);
    if (at != AS_MAP_NONE)
        return &merge->flag.at[at];
    if (!it.key || !(it.name = as_merge_keep(merge, flag->name)) ||
        !(it.text = as_merge_keep(merge, flag->text)) || as_vec_push(&merge->flag, it) < 0 ||
        as_map_view_put(&merge->flag_of, as_view_of(it.key), (uint32_t)merge->flag.n - 1) < 0)
        return NULL;
    return &merge->flag.at[merge->flag.n - 1];
}

int as_merge_add_flag(struct as_merge *merge, const struct as_flag *flag, uint32_t part,
                      struct as_error *err)
{
    struct as_merge_flag *it = find_or_add(merge, flag);

    if (!it)
        return as_error_nomem(err, "the caveats of a run");
    it->n += flag->n;
    if (it->part.n && it->part.at[it->part.n - 1] == part)
        return 0;
    return as_vec_push(&it->part, part) < 0 ? as_error_nomem(err, "the caveats of a run") : 0;
}

static int write_flag(struct as_merge *merge, const char *name, enum as_object_kind kind,
                      int64_t object_id, int64_t n, struct as_str *text, struct as_error *err)
{
    const struct as_flag flag = {.run_id = merge->run_id,
                                 .kind = kind,
                                 .object_id = object_id,
                                 .name = name,
                                 .text = as_str_z(text),
                                 .n = n > 0 ? n : 1};
    const int rc =
        text->failed ? as_error_nomem(err, name) : as_experiment_flag(merge->to, &flag, err);

    as_str_fini(text);
    return rc;
}

/* Writes a flag as "rank 3: text". Flags of all parts, and flags of a process or thread, need no
 * rank. */
static int write_of_parts(struct as_merge *merge, const struct as_merge_flag *flag,
                          struct as_error *err)
{
    const bool is_own = flag->kind == AS_OBJECT_PROCESS || flag->kind == AS_OBJECT_THREAD;
    struct as_str text = {0};

    if (flag->part.n < merge->part.n && !is_own) {
        as_merge_append_owners(merge, &flag->part, &text);
        as_str_appendz(&text, ": ");
    }
    as_str_appendz(&text, flag->text);
    return write_flag(merge, flag->name, flag->kind, flag->object_id, flag->n, &text, err);
}

static bool is_alike(const struct as_merge_flag *a, const struct as_merge_flag *b)
{
    return a->kind == b->kind && a->object_id == b->object_id && strcmp(a->name, b->name) == 0;
}

/* Writes the flags like the one at `at`, and after it, as one. */
static int write_more(struct as_merge *merge, size_t at, struct as_error *err)
{
    const struct as_merge_flag *like = &merge->flag.at[at];
    as_merge_parts part = {0};
    struct as_str text = {0};
    int64_t n = 0;
    int rc = 0;

    for (size_t i = at; i < merge->flag.n && rc == 0; i++) {
        const struct as_merge_flag *it = &merge->flag.at[i];

        if (!is_alike(it, like))
            continue;
        n += it->n;
        as_vec_foreach (&it->part, p)
            if (rc == 0)
                rc = as_vec_push(&part, *p) < 0 ? as_error_nomem(err, like->name) : 0;
    }
    if (rc == 0) {
        as_str_appendz(&text, "the same with other numbers in ");
        as_merge_append_owners(merge, &part, &text);
        rc = write_flag(merge, like->name, like->kind, like->object_id, n, &text, err);
    }
    as_vec_fini(&part);
    return rc;
}

static int write_parts(struct as_merge *merge, struct as_error *err)
{
    for (size_t i = 0; i < merge->flag.n; i++) {
        size_t before = 0, all = 0;

        for (size_t k = 0; k < merge->flag.n; k++) {
            all += is_alike(&merge->flag.at[k], &merge->flag.at[i]);
            before += k < i && is_alike(&merge->flag.at[k], &merge->flag.at[i]);
        }
        if (before < ALIKE_MOST - 1 || all <= ALIKE_MOST)
            AS_TRY(write_of_parts(merge, &merge->flag.at[i], err));
        else if (before == ALIKE_MOST - 1)
            AS_TRY(write_more(merge, i, err));
    }
    return 0;
}

/* ---- Flags of the merge -------------------------------------------------------------------- */

static int write_own(struct as_merge *merge, const char *name, int64_t n, struct as_str *text,
                     struct as_error *err)
{
    return write_flag(merge, name, AS_OBJECT_RUN, merge->run_id, n, text, err);
}

static bool has_rank(const struct as_merge *merge, int64_t rank)
{
    as_vec_foreach (&merge->rank, it)
        if (it->rank == rank)
            return true;
    return false;
}

static int flag_missing(struct as_merge *merge, struct as_error *err)
{
    AS_VEC(int64_t) missing = {0};
    struct as_str text = {0};
    int64_t size = 0;
    int rc = 0;

    as_vec_foreach (&merge->part, it)
        size = it->size > size ? it->size : size;
    for (int64_t rank = 0; rank < size && rank < INT32_MAX && rc == 0; rank++)
        if (!has_rank(merge, rank))
            rc = as_vec_push(&missing, rank);
    if (rc < 0)
        rc = as_error_nomem(err, "the ranks");
    if (rc == 0 && missing.n) {
        as_str_appendf(&text, "the job had %" PRId64 " ranks: %s ", size,
                       missing.n == 1 ? "rank" : "ranks");
        as_merge_append_numbers(missing.at, missing.n, &text);
        as_str_appendz(&text, missing.n == 1 ? " is missing and not in any sum"
                                             : " are missing and not in any sum");
        rc = write_own(merge, "missing_ranks", (int64_t)missing.n, &text, err);
    }
    as_vec_fini(&missing);
    return rc;
}

/* Flags the offsets of the clocks: the first start on each machine, relative to the machine of
 * the first rank. */
static int flag_clocks(struct as_merge *merge, struct as_error *err)
{
    const struct as_merge_part *first = &merge->part.at[merge->order.at[0]];
    struct as_str text = {0};
    size_t told = 0;

    merge->host_n = 1;
    as_str_appendf(&text,
                   "times of different machines are related by their clocks, which NTP "
                   "synchronises to some milliseconds at best; relative to %s began",
                   first->host);
    for (size_t i = 1; i < merge->order.n; i++) {
        const struct as_merge_part *it = &merge->part.at[merge->order.at[i]];
        bool is_new = true;

        for (size_t k = 0; k < i && is_new; k++)
            is_new = strcmp(merge->part.at[merge->order.at[k]].host, it->host) != 0;
        if (!is_new)
            continue;
        merge->host_n++;
        if (told++ < VALUES_MOST)
            as_str_appendf(&text, "%s %s at %+.3f s", told > 1 ? "," : "", it->host,
                           (double)(it->start_ns - first->start_ns) / 1e9);
    }
    if (told > VALUES_MOST)
        as_str_appendf(&text, " and %zu more", told - VALUES_MOST);
    if (told)
        return write_own(merge, "clocks", (int64_t)merge->host_n, &text, err);
    as_str_fini(&text);
    return 0;
}

static int flag_difference(struct as_merge *merge, const struct as_merge_fact *fact,
                           const char *what, struct as_error *err)
{
    struct as_str text = {0};
    size_t known = 0;

    as_str_appendf(&text, "%s is not the same in all ranks: ", what);
    for (size_t i = 0; i < fact->variant.n; i++) {
        const struct as_merge_variant *it = &fact->variant.at[i];

        known += it->part.n;
        if (i >= VALUES_MOST)
            continue;
        as_str_appendf(&text, "%s'%.80s' in ", i ? ", " : "", it->text);
        as_merge_append_owners(merge, &it->part, &text);
    }
    if (fact->variant.n > VALUES_MOST)
        as_str_appendf(&text, " and %zu more", fact->variant.n - VALUES_MOST);
    if (known < merge->part.n)
        as_str_appendz(&text, ", and not set in the others");
    return write_own(merge, "ranks_differ", (int64_t)fact->variant.n, &text, err);
}

static int flag_differences(struct as_merge *merge, struct as_error *err)
{
    static const struct {
        const char *name, *what;
    } known[] = {{"run.command", "the command"},
                 {"run.event", "what was sampled by"},
                 {"run.rate_hz", "the rate of sampling"},
                 {"run.call_stacks", "the kind of call stacks"},
                 {"run.scope", "the scope of sampling"}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct as_merge_fact *fact = as_merge_fact_of(merge, known[i].name);

        if (fact && fact->variant.n > 1)
            AS_TRY(flag_difference(merge, fact, known[i].what, err));
    }
    as_vec_foreach (&merge->fact, fact)
        if (strncmp(fact->name, "env.", 4) == 0 && !as_merge_common(merge, fact->name))
            AS_TRY(flag_difference(merge, fact, fact->name + 4, err));
    return 0;
}

int as_merge_write_flags(struct as_merge *merge, struct as_error *err)
{
    AS_TRY(write_parts(merge, err));
    AS_TRY(flag_missing(merge, err));
    AS_TRY(flag_clocks(merge, err));
    return flag_differences(merge, err);
}
