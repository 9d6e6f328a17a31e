/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds bodies that never return, in rounds. The first round takes known names. Each round then
 * marks bodies without a reached return or unknown jump, and with tail calls only to marked bodies.
 * The next round walks their callers again, until a round marks nothing.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "code/constants.h"
#include "code/flow.h"
#include "code/noreturn_names.h"

#define WALK_GRAIN 32
#define WALKS_MOST 8 /* max walks of one body to resolve indirect jumps */

bool as_noreturn_name(const char *name)
{
    char plain[256];
    size_t n = strcspn(name, "@");
    if (n >= sizeof plain)
        return false;
    memcpy(plain, name, n);
    plain[n] = '\0';
    const size_t names = as_noreturn_name_n;
    const size_t at = as_first_not(k, names, strcmp(as_noreturn_names[k], plain) < 0);
    assert(at + 1 >= names || strcmp(as_noreturn_names[at], as_noreturn_names[at + 1]) < 0);
    if (at < names && strcmp(as_noreturn_names[at], plain) == 0)
        return true;
    for (size_t i = 0; i < as_noreturn_pattern_n; i++) {
        const char *pattern = as_noreturn_patterns[i];
        const char *star = strchr(pattern, '*');
        size_t head = (size_t)(star - pattern), tail = strlen(star + 1);
        if (n >= head + tail && strncmp(plain, pattern, head) == 0 &&
            strcmp(plain + n - tail, star + 1) == 0)
            return true;
    }
    return false;
}

struct rounds {
    struct as_builder *b;
    struct as_walk *walk; /* per worker */
    uint32_t *again;      /* bodies to walk in this round; NULL = all */
};

static int walk_once(struct as_walk *walk, struct as_builder *b, size_t body,
                     struct as_arena *arena)
{
    AS_TRY(as_walk_body(walk, b, &b->body.at[body]));
    return as_walk_blocks(walk, arena, &b->flow[body]);
}

/*
 * Walks a body again while this resolves indirect jumps. The constants of blocks may resolve a
 * jump, and the code behind it may resolve further ones. The constants come from the blocks of the
 * previous walk.
 */
static int walk_again(struct as_walk *walk, struct as_builder *b, size_t body, unsigned worker)
{
    struct as_flow *flow = &b->flow[body];
    int rc = 0;
    for (int round = 0; round < WALKS_MOST && rc == 0; round++) {
        uint32_t before = flow->tables;
        struct as_constants constants;
        struct as_flow last = *flow;
        if (flow->jumps == flow->tables + flow->calls)
            break;
        rc = as_constants_find(b, &last, as_scratch_of(b, worker), &constants);
        walk->targets.constants = &constants;
        if (rc == 0)
            rc = walk_once(walk, b, body, &b->arena[worker]);
        walk->targets.constants = NULL;
        if (flow->tables == before)
            break;
    }
    return rc;
}

static int walk_some(void *ctx, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    const struct rounds *r = ctx;
    struct as_builder *b = r->b;
    for (size_t i = from; i < to; i++) {
        size_t body = r->again ? r->again[i] : i;
        if (walk_once(&r->walk[worker], b, body, &b->arena[worker]) < 0 ||
            walk_again(&r->walk[worker], b, body, worker) < 0)
            return as_error_nomem(err, "blocks of code");
    }
    return 0;
}

static void mark_by_name(struct as_builder *b)
{
    as_vec_foreach (&b->body, body) {
        uint32_t function = b->region.at[body->head].function;
        if (function != AS_NONE)
            body->noreturn = as_noreturn_name(b->program->function[function].name);
    }
}

static bool never_returns(const struct as_builder *b, size_t body)
{
    const struct as_flow *flow = &b->flow[body];
    if (flow->may_return || flow->entry == AS_NONE)
        return false;
    for (uint32_t i = 0; i < flow->tails; i++) {
        if (!b->body.at[flow->callee[i]].noreturn)
            return false;
    }
    return true;
}

/* Marks bodies that never return. Lists their callers in `again`, each once. Returns the number of
 * callers. */
static int64_t next_round(struct as_builder *b, bool *is_new, uint32_t *again)
{
    bool any = false;
    for (bool more = true; more;) { /* a marked body marks those that end in a tail call to it */
        more = false;
        for (size_t i = 0; i < b->body.n; i++) {
            if (b->body.at[i].noreturn || !never_returns(b, i))
                continue;
            b->body.at[i].noreturn = is_new[i] = more = any = true;
        }
    }
    int64_t n = 0;
    for (size_t i = 0; i < b->body.n && any; i++) {
        const struct as_flow *flow = &b->flow[i];
        for (uint32_t c = flow->tails; c < flow->callees; c++) {
            if (is_new[flow->callee[c]]) {
                again[n++] = (uint32_t)i;
                break;
            }
        }
    }
    memset(is_new, 0, b->body.n);
    return n;
}

/* Finds second entries: symbols inside regions, and jumps of other bodies into the
 * middle of one. */
static int find_second_entries(struct as_builder *b)
{
    for (size_t i = 0; i < b->program->function_n; i++) {
        const struct as_function *f = &b->program->function[i];
        uint32_t region = as_region_at(b, f->start);
        if (region != AS_NONE && b->region.at[region].start != f->start)
            AS_TRY(as_vec_push(&b->second_entry, f->start));
    }
    as_vec_foreach (&b->crossing, c) {
        if (b->region.at[c->from].body != b->region.at[c->to].body &&
            b->region.at[c->to].start != c->target)
            AS_TRY(as_vec_push(&b->second_entry, c->target));
    }
    b->second_entry.n = as_sort_unique(b->second_entry.at, b->second_entry.n);
    return 0;
}

static int repeat_rounds(struct rounds *r, bool *is_new, uint32_t *again, struct as_error *err)
{
    struct as_builder *b = r->b;
    AS_TRY(as_pool_for(b->pool, b->body.n, WALK_GRAIN, walk_some, r, err));
    r->again = again;
    for (;;) {
        int64_t n = next_round(b, is_new, again);
        if (n == 0)
            return 0;
        AS_TRY(as_pool_for(b->pool, (size_t)n, WALK_GRAIN, walk_some, r, err));
    }
}

static int walk_rounds(struct rounds *r, struct as_error *err)
{
    uint32_t *again = as_malloc(sizeof *again * (r->b->body.n + 1));
    bool *is_new = as_calloc(r->b->body.n + 1, sizeof *is_new);
    int rc = again && is_new ? repeat_rounds(r, is_new, again, err)
                             : as_error_nomem(err, "blocks of code");
    as_free(again);
    as_free(is_new);
    return rc;
}

int as_flows_make(struct as_builder *b, struct as_error *err)
{
    struct rounds r = {.b = b, .walk = as_calloc(b->workers, sizeof *r.walk)};
    b->flow = as_calloc(b->body.n + 1, sizeof *b->flow);
    if (!r.walk || !b->flow || find_second_entries(b) < 0) {
        as_free(r.walk);
        return as_error_nomem(err, "blocks of code");
    }
    mark_by_name(b);
    int rc = walk_rounds(&r, err);
    for (unsigned i = 0; i < b->workers; i++)
        as_walk_fini(&r.walk[i]);
    as_free(r.walk);
    return rc;
}
