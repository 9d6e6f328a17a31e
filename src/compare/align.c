/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligns objects by rules, from the most to the least certain. A rule has a key for a fast search
 * among rows, and a test of one row. An object without a match becomes a new row, which objects of
 * later sides may match. Functions come first, since loops are matched within aligned functions.
 */
#include "compare/align.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clone_suffix.h"
#include "base/error.h"

struct align_work {
    const struct as_set *set; /* current side */
    struct as_alignment *out;
    uint32_t side;
    uint32_t *row_of; /* rows of the objects of the current side */
};

struct rule {
    enum as_aligned by;
    enum as_object_kind kind;
    int64_t moved; /* maximum distance in lines */
    bool joins;    /* one row may take several objects of a side */
    /* Returns the key of an object that is `moved` lines further down, or 0 if it has none. */
    uint64_t (*key)(const struct as_compared_object *object, uint32_t function, int64_t moved);
    bool (*test)(const struct align_work *work, const struct as_compared_object *object,
                 uint32_t function, const struct as_aligned_row *row, int64_t moved);
};

#define CLONE " [clone " /* written by as_demangle */

/* ---- Words --------------------------------------------------------------------------------- */

static uint64_t name_hash(const char *text, size_t n)
{
    uint64_t hash = n + 1;
    for (size_t i = 0; i < n; i++)
        hash = as_hash_mix(hash, (uint8_t)text[i]);
    return hash | 1;
}

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Returns true if two texts are equal or one is unknown. */
static bool may_be(const char *a, const char *b)
{
    return !a || !b || strcmp(a, b) == 0;
}

/*
 * Returns the length of the name without " [clone .isra.0]" at its end. Names of outlined parallel
 * regions keep their suffix.
 */
static size_t without_brackets_n(const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = strstr(name, CLONE); at; at = strstr(at + 1, CLONE)) {
        const struct as_view text = {at + strlen(CLONE), strcspn(at + strlen(CLONE), "]")};
        /* "f" replaces the name before the suffix. */
        char word[64] = "f";
        snprintf(word + 1, sizeof word - 1, "%.*s", (int)text.n, text.p);
        if (at > name && as_clone_original_n(as_view_of(word)) == 1)
            return (size_t)(at - name);
    }
    return n;
}

size_t as_align_name_n(const char *name)
{
    return as_clone_original_n((struct as_view){name, without_brackets_n(name)});
}

static bool is_clone(const struct as_compared_object *it)
{
    return it->name[as_align_name_n(it->name)] != '\0';
}

static const char *linkage_of(const struct as_compared_object *it)
{
    return it->linkage ? it->linkage : it->name;
}

/* ---- Functions ----------------------------------------------------------------------------- */

static uint64_t key_linkage(const struct as_compared_object *it, uint32_t function, int64_t moved)
{
    (void)function, (void)moved;
    return name_hash(linkage_of(it), strlen(linkage_of(it)));
}

/* Several static functions may share a name, so the module and the file are compared too. */
static bool test_linkage_and_file(const struct align_work *work,
                                  const struct as_compared_object *it, uint32_t function,
                                  const struct as_aligned_row *row, int64_t moved)
{
    (void)work, (void)function, (void)moved;
    return same_text(linkage_of(it), linkage_of(row->object)) &&
           same_text(it->module, row->object->module) && may_be(it->file, row->object->file);
}

static bool test_linkage(const struct align_work *work, const struct as_compared_object *it,
                         uint32_t function, const struct as_aligned_row *row, int64_t moved)
{
    (void)work, (void)function, (void)moved;
    return same_text(linkage_of(it), linkage_of(row->object)) &&
           may_be(it->file, row->object->file);
}

static uint64_t key_name(const struct as_compared_object *it, uint32_t function, int64_t moved)
{
    (void)function, (void)moved;
    return name_hash(it->name, as_align_name_n(it->name));
}

static bool same_name(const struct as_compared_object *a, const struct as_compared_object *b)
{
    const size_t n = as_align_name_n(a->name);
    return n == as_align_name_n(b->name) && memcmp(a->name, b->name, n) == 0;
}

static bool test_name(const struct align_work *work, const struct as_compared_object *it,
                      uint32_t function, const struct as_aligned_row *row, int64_t moved)
{
    (void)work, (void)function, (void)moved;
    return same_name(it, row->object) && may_be(it->file, row->object->file);
}

/* Several clones on one side match a single function on the other side together. */
static bool test_clone(const struct align_work *work, const struct as_compared_object *it,
                       uint32_t function, const struct as_aligned_row *row, int64_t moved)
{
    (void)work, (void)function, (void)moved;
    return same_name(it, row->object) && same_text(it->module, row->object->module) &&
           may_be(it->file, row->object->file) && (is_clone(it) || is_clone(row->object));
}

static uint64_t key_file(const struct as_compared_object *it, uint32_t function, int64_t moved)
{
    (void)function;
    if (!it->file || it->line <= 0)
        return 0;
    return as_hash_mix(name_hash(it->file, strlen(it->file)), (uint64_t)(it->line + moved)) | 1;
}

static bool test_moved(const struct align_work *work, const struct as_compared_object *it,
                       uint32_t function, const struct as_aligned_row *row, int64_t moved)
{
    (void)work, (void)function;
    return same_text(it->file, row->object->file) && llabs(it->line - row->object->line) == moved;
}

/* ---- Loops --------------------------------------------------------------------------------- */

static bool same_role(const struct as_compared_object *a, const struct as_compared_object *b)
{
    return strcmp(a->role ? a->role : "main", b->role ? b->role : "main") == 0;
}

static uint64_t key_function(const struct as_compared_object *it, uint32_t function, int64_t moved)
{
    (void)it, (void)moved;
    return function == AS_INDEX_NONE ? 0 : as_hash_mix(1, function) | 1;
}

static bool test_source_and_depth(const struct align_work *work,
                                  const struct as_compared_object *it, uint32_t function,
                                  const struct as_aligned_row *row, int64_t moved)
{
    const struct as_compared_object *other = row->object;
    (void)work;
    return row->function == function && same_text(it->file, other->file) &&
           llabs(it->line - other->line) == moved && same_role(it, other) &&
           it->depth == other->depth && it->ordinal == other->ordinal;
}

static bool test_source(const struct align_work *work, const struct as_compared_object *it,
                        uint32_t function, const struct as_aligned_row *row, int64_t moved)
{
    const struct as_compared_object *other = row->object;
    (void)work;
    return row->function == function && same_text(it->file, other->file) &&
           llabs(it->line - other->line) == moved && same_role(it, other);
}

/* Compares distances in lines from the beginning of the function, each on its own side. */
static bool test_offset(const struct align_work *work, const struct as_compared_object *it,
                        uint32_t function, const struct as_aligned_row *row, int64_t moved)
{
    const struct as_compared_object *other = row->object, *there;
    (void)moved;
    if (row->function != function || function == AS_INDEX_NONE || !same_role(it, other) ||
        it->depth != other->depth || it->line <= 0 || other->line <= 0)
        return false;
    const uint32_t own = as_set_find(work->set, AS_OBJECT_FUNCTION, it->function_id);
    there = work->out->row.at[function].object;
    return own != AS_MAP_NONE && work->set->object.at[own].line > 0 && there->line > 0 &&
           work->out->row.at[function].side == row->side &&
           it->line - work->set->object.at[own].line == other->line - there->line;
}

static bool test_order(const struct align_work *work, const struct as_compared_object *it,
                       uint32_t function, const struct as_aligned_row *row, int64_t moved)
{
    const struct as_compared_object *other = row->object;
    (void)work, (void)moved;
    return row->function == function && same_role(it, other) && it->depth == other->depth &&
           it->ordinal == other->ordinal && it->sibling_n == other->sibling_n &&
           (!it->file || !other->file || same_text(it->file, other->file));
}

/* Matches a loop of the source that was inlined in different functions. */
static bool test_elsewhere(const struct align_work *work, const struct as_compared_object *it,
                           uint32_t function, const struct as_aligned_row *row, int64_t moved)
{
    (void)work, (void)function, (void)moved;
    return same_text(it->file, row->object->file) && it->line == row->object->line &&
           it->last_line == row->object->last_line && same_role(it, row->object);
}

/* ---- Rules --------------------------------------------------------------------------------- */

#define FUNCTION AS_OBJECT_FUNCTION
#define LOOP     AS_OBJECT_LOOP

static const struct rule rules[] = {
    {AS_ALIGNED_LINKAGE, FUNCTION, 0, false, key_linkage, test_linkage_and_file},
    {AS_ALIGNED_LINKAGE, FUNCTION, 0, false, key_linkage, test_linkage},
    {AS_ALIGNED_NAME, FUNCTION, 0, false, key_name, test_name},
    {AS_ALIGNED_NAME, FUNCTION, 0, true, key_name, test_clone},
    {AS_ALIGNED_SOURCE, FUNCTION, 0, false, key_file, test_moved},
    {AS_ALIGNED_NEAR, FUNCTION, AS_ALIGN_NEAR, false, key_file, test_moved},
    {AS_ALIGNED_SOURCE, LOOP, 0, false, key_function, test_source_and_depth},
    {AS_ALIGNED_SOURCE, LOOP, 0, false, key_function, test_source},
    {AS_ALIGNED_OFFSET, LOOP, 0, false, key_function, test_offset},
    {AS_ALIGNED_NEAR, LOOP, AS_ALIGN_NEAR, false, key_function, test_source_and_depth},
    {AS_ALIGNED_NEAR, LOOP, AS_ALIGN_NEAR, false, key_function, test_source},
    {AS_ALIGNED_ORDER, LOOP, 0, false, key_function, test_order},
    /* Loops of clones that were joined in one function. */
    {AS_ALIGNED_SOURCE, LOOP, 0, true, key_function, test_source_and_depth},
    {AS_ALIGNED_SOURCE, LOOP, 0, false, key_file, test_elsewhere},
};

/* Returns the row of the function of a loop, or AS_INDEX_NONE for a function. */
static uint32_t function_row(const struct align_work *w, const struct as_compared_object *it)
{
    const uint32_t at =
        it->kind == LOOP ? as_set_find(w->set, FUNCTION, it->function_id) : AS_MAP_NONE;
    return at == AS_MAP_NONE ? AS_INDEX_NONE : w->row_of[at];
}

/* Indexes the first `row_n` rows, which are those of earlier sides, by the key of a rule. */
static int index_rows(const struct align_work *w, const struct rule *rule, size_t row_n,
                      struct as_index *index)
{
    for (size_t i = 0; i < row_n; i++) {
        const struct as_aligned_row *row = &w->out->row.at[i];
        const uint64_t key =
            row->object->kind == rule->kind ? rule->key(row->object, row->function, 0) : 0;
        if (key && as_index_add(index, key, (uint32_t)i) < 0)
            return AS_ERR_NOMEM;
    }
    return 0;
}

/* Matches an object with a row that is `below` lines below it, or above it if negative. */
static void match(const struct align_work *w, const struct rule *rule, const struct as_index *index,
                  size_t object, int64_t below)
{
    const struct as_compared_object *it = &w->set->object.at[object];
    const uint32_t function = function_row(w, it);
    const uint64_t key = rule->key(it, function, below);
    uint32_t at;
    if (!key)
        return;
    for (struct as_probe probe = as_index_probe(index, key);
         (at = as_index_next(index, &probe)) != AS_INDEX_NONE;) {
        struct as_aligned_row *row = &w->out->row.at[at];
        const bool is_free = row->taken != w->side + 1 || rule->joins;
        if (row->object->kind != rule->kind || !is_free ||
            !rule->test(w, it, function, row, llabs(below)))
            continue;
        row->taken = w->side + 1;
        row->by = rule->by > row->by ? rule->by : row->by;
        w->row_of[object] = at;
        return;
    }
}

static void match_all(const struct align_work *w, const struct rule *rule,
                      const struct as_index *index, int64_t below)
{
    for (size_t i = 0; i < w->set->object.n; i++)
        if (w->row_of[i] == AS_INDEX_NONE && w->set->object.at[i].kind == rule->kind)
            match(w, rule, index, i, below);
}

static int apply_rule(const struct align_work *w, const struct rule *rule, size_t row_n)
{
    struct as_index index = {0};
    int rc = index_rows(w, rule, row_n, &index);
    /* Near rows come first, so that no object takes the row of a nearer one. */
    for (int64_t moved = rule->moved ? 1 : 0; rc == 0 && moved <= rule->moved; moved++) {
        match_all(w, rule, &index, moved);
        if (moved)
            match_all(w, rule, &index, -moved);
    }
    as_index_fini(&index);
    return rc;
}

static int add_rest(const struct align_work *w, enum as_object_kind kind)
{
    for (size_t i = 0; i < w->set->object.n; i++) {
        const struct as_compared_object *it = &w->set->object.at[i];
        if (it->kind != kind || w->row_of[i] != AS_INDEX_NONE)
            continue;
        const struct as_aligned_row row = {.object = it,
                                           .function = function_row(w, it),
                                           .side = w->side,
                                           .taken = w->side + 1,
                                           .by = AS_ALIGNED_ALONE};
        if (as_vec_push(&w->out->row, row) < 0)
            return AS_ERR_NOMEM;
        w->row_of[i] = (uint32_t)(w->out->row.n - 1);
    }
    return 0;
}

static int align_kind(const struct align_work *w, enum as_object_kind kind)
{
    const size_t row_n = w->out->row.n;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].kind == kind && apply_rule(w, &rules[i], row_n) < 0)
            return AS_ERR_NOMEM;
    return add_rest(w, kind);
}

static int align_side(const struct as_set *set, uint32_t side, struct as_alignment *out)
{
    uint32_t *row_of = as_arena_array(&out->arena, uint32_t, set->object.n + 1);
    if (!row_of)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < set->object.n; i++)
        row_of[i] = AS_INDEX_NONE;
    out->row_of[side] = row_of;
    const struct align_work w = {.set = set, .out = out, .side = side, .row_of = row_of};
    if (align_kind(&w, FUNCTION) < 0 || align_kind(&w, LOOP) < 0)
        return AS_ERR_NOMEM;
    return 0;
}

/* ---- Versions of a loop -------------------------------------------------------------------- */

static int64_t last_line(const struct as_compared_object *it)
{
    return it->last_line > it->line ? it->last_line : it->line;
}

static bool share_lines(const struct as_compared_object *a, const struct as_compared_object *b)
{
    return same_text(a->file, b->file) && a->line > 0 && b->line > 0 && a->line <= last_line(b) &&
           b->line <= last_line(a);
}

/*
 * Returns the aligned row of the same source loop for a row on one side only, or AS_INDEX_NONE.
 * Compilers differ in the number of versions (vector body, peel, tail) of a source loop.
 */
static uint32_t whole_of(const struct as_alignment *it, const struct as_index *index,
                         const struct as_aligned_row *row)
{
    const uint64_t key = key_function(row->object, row->function, 0);
    uint32_t at;
    if (row->object->kind != LOOP || row->by != AS_ALIGNED_ALONE || !key)
        return AS_INDEX_NONE;
    for (struct as_probe probe = as_index_probe(index, key);
         (at = as_index_next(index, &probe)) != AS_INDEX_NONE;) {
        const struct as_aligned_row *whole = &it->row.at[at];
        if (whole->function == row->function && whole->object->depth == row->object->depth &&
            share_lines(whole->object, row->object))
            return at;
    }
    return AS_INDEX_NONE;
}

static int index_aligned_loops(const struct as_alignment *it, struct as_index *index)
{
    for (size_t i = 0; i < it->row.n; i++) {
        const struct as_aligned_row *row = &it->row.at[i];
        const uint64_t key = key_function(row->object, row->function, 0);
        if (row->object->kind == LOOP && row->by != AS_ALIGNED_ALONE && key &&
            as_index_add(index, key, (uint32_t)i) < 0)
            return AS_ERR_NOMEM;
    }
    return 0;
}

static int join_versions(const struct as_set *side, size_t n, struct as_alignment *it)
{
    struct as_index index = {0};
    const int rc = index_aligned_loops(it, &index);
    for (size_t s = 0; rc == 0 && s < n; s++) {
        for (size_t i = 0; i < side[s].object.n; i++) {
            const uint32_t at = it->row_of[s][i];
            const uint32_t whole = at == AS_INDEX_NONE ? at : whole_of(it, &index, &it->row.at[at]);
            if (whole != AS_INDEX_NONE)
                it->row_of[s][i] = whole;
        }
    }
    as_index_fini(&index);
    return rc;
}

int as_align(const struct as_set *side, size_t n, struct as_alignment *out, struct as_error *err)
{
    *out = (struct as_alignment){0};
    as_arena_init(&out->arena);
    out->row_of = as_arena_array(&out->arena, uint32_t *, n);
    int rc = out->row_of ? 0 : AS_ERR_NOMEM;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = align_side(&side[i], (uint32_t)i, out);
    if (rc == 0)
        rc = join_versions(side, n, out);
    return rc < 0 ? as_error_nomem(err, "what is compared") : 0;
}

void as_alignment_fini(struct as_alignment *alignment)
{
    as_vec_fini(&alignment->row);
    as_arena_fini(&alignment->arena);
}
