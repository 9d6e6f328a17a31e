/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes one module of the run. It opens the code, and writes rows for the addresses of the
 * run's frames. It also writes all loops of functions with samples.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/str.h"
#include "profile/attribute.h"

/* Min share of the samples of a function with stored source and assembly. */
#define HOT 0.001
/* Max instructions stored for one module. */
#define EXCERPT_MOST 100000u
/* A file is analysed when it has little code or this share of the samples. */
#define SMALL_B      (1u << 20)
#define SHARE_ENOUGH 0.002

struct module_work {
    struct as_attribution *all;
    const struct as_tally_module *from;
    struct as_catalogue_module *code;
    bool is_hot;                        /* has enough samples to be analysed at any size */
    struct as_category_module category; /* rules that apply to the module */
    uint32_t function_n;
    uint32_t *function;       /* 1 + index into all->function; last entry: code outside functions */
    uint32_t *inlined;        /* by inlined call: 0 = not handled, else 1 + as_node_fact.inlined */
    uint64_t *own;            /* running samples by function */
    size_t first_location;    /* first of its entries in all->location; their blocks follow later */
    AS_VEC(uint32_t) block;   /* of those locations, or AS_NONE */
    struct as_sort_key *spot; /* nodes by address, as recorded */
    size_t n;
    AS_VEC(struct as_catalogue_python) python;
};

/* ---- What it is ---------------------------------------------------------------------------- */

/* Returns true for a file of the distribution, which the user does not compile. */
static bool is_system(const char *path)
{
    if (strncmp(path, "/usr/local/", 11) == 0)
        return false;
    return strncmp(path, "/usr/", 5) == 0 || strncmp(path, "/lib", 4) == 0 ||
           strncmp(path, "/bin/", 5) == 0 || strncmp(path, "/sbin/", 6) == 0 || path[0] != '/';
}

bool as_attribute_is_system(const struct as_tally_module *module)
{
    return (module->kind != AS_MODULE_FILE && module->kind != AS_MODULE_PYTHON) ||
           is_system(module->path);
}

static int describe_module(struct module_work *w, struct as_module_fact *fact, struct as_error *err)
{
    const struct as_object *object = w->code->object;
    if (object) {
        const struct as_object_info *info = as_object_info(object);
        fact->has_debug = info->debug == AS_DEBUG_EMBEDDED || info->debug == AS_DEBUG_SEPARATE;
    }
    fact->no_file = w->from->kind == AS_MODULE_FILE && !object;
    fact->is_system = as_attribute_is_system(w->from);
    memcpy(fact->trouble, w->code->trouble.text, sizeof fact->trouble);
    fact->name = as_path_last(w->from->path);
    return as_catalogue_row(w->code, &fact->id, err);
}

/* ---- Its functions ------------------------------------------------------------------------- */

static int new_function(struct module_work *w, uint32_t function, struct as_error *err)
{
    struct as_catalogue_function from = {0};
    struct as_function_fact fact;
    if (function < w->function_n)
        as_catalogue_function_get(w->code, function, &from);
    fact.category = as_category_of_symbol(w->all->categories, &w->category, from.linkage_name);
    AS_TRY(as_catalogue_row_function(w->code, function, &fact.id, err));
    return as_vec_push(&w->all->function, fact) < 0 ? as_error_nomem(err, "the functions of a run")
                                                    : 0;
}

/* Sets *index to the index into all->function, and adds a new function. `function` may be
 * AS_NONE. */
static int function_of(struct module_work *w, uint32_t function, uint32_t *index,
                       struct as_error *err)
{
    uint32_t *slot = &w->function[function < w->function_n ? function : w->function_n];
    if (!*slot) {
        AS_TRY(new_function(w, function, err));
        *slot = (uint32_t)w->all->function.n;
    }
    *index = *slot - 1;
    return 0;
}

/* ---- What is inlined ----------------------------------------------------------------------- */

static int look_at_inlined(struct module_work *w, uint32_t inlined, int64_t function_id,
                           uint32_t *out, struct as_error *err);

/* Sets *out to the number of an inlined call as in as_node_fact. 0 if no rule applies to it or to
 * its enclosing calls. */
static int inlined_of(struct module_work *w, uint32_t inlined, int64_t function_id, uint32_t *out,
                      struct as_error *err)
{
    const struct as_debug *debug = &w->code->debug;
    *out = 0;
    if (inlined >= debug->inline_n || debug->inlines[inlined].parent == AS_NONE)
        return 0;
    if (!w->inlined)
        w->inlined = as_calloc(debug->inline_n, sizeof *w->inlined);
    if (!w->inlined)
        return as_error_nomem(err, w->from->path);
    if (!w->inlined[inlined]) {
        AS_TRY(look_at_inlined(w, inlined, function_id, out, err));
        w->inlined[inlined] = *out + 1;
    }
    *out = w->inlined[inlined] - 1;
    return 0;
}

static int look_at_inlined(struct module_work *w, uint32_t inlined, int64_t function_id,
                           uint32_t *out, struct as_error *err)
{
    const struct as_inline *from = &w->code->debug.inlines[inlined];
    struct as_inlined_fact fact = {.category = AS_NONE};
    AS_TRY(inlined_of(w, from->parent, function_id, &fact.outer, err));
    *out = 0;
    if (!as_category_by_rule(w->all->categories, &w->category, from->name, &fact.category) &&
        !fact.outer)
        return 0;
    AS_TRY(as_catalogue_row_inlining(w->code, inlined, function_id, &fact.inlining_id, err));
    *out = (uint32_t)w->all->inlined.n + 1;
    return as_vec_push(&w->all->inlined, fact) < 0
               ? as_error_nomem(err, "the inlined functions of a run")
               : 0;
}

/* ---- Its addresses ------------------------------------------------------------------------- */

static int order_spots(struct module_work *w, const uint32_t *node, size_t n)
{
    w->spot = as_malloc((n + 1) * sizeof *w->spot);
    if (!w->spot)
        return AS_ERR_NOMEM;
    w->n = n;
    for (size_t i = 0; i < n; i++)
        w->spot[i] = (struct as_sort_key){w->all->tally.node.at[node[i]].address, node[i]};
    return as_sort_keys(w->spot, n);
}

static int new_location(struct module_work *w, const struct as_row_location *row, uint64_t hash,
                        uint32_t block, int64_t *id, struct as_error *err)
{
    struct as_attribution *all = w->all;
    *id = (int64_t)all->location.n + 1;
    return as_index_add(&all->location_index, hash, (uint32_t)all->location.n) < 0 ||
                   as_vec_push(&all->location, *row) < 0 || as_vec_push(&w->block, block) < 0
               ? as_error_nomem(err, "the places of a run")
               : 0;
}

/* Sets *id to the location of a row, and adds a new location. In the first run, all locations are
 * new, and they are written together at the end. */
static int location_of(struct module_work *w, struct as_row_location *row, uint32_t block,
                       int64_t *id, struct as_error *err)
{
    struct as_attribution *all = w->all;
    const uint64_t hash = as_hash_mix((uint64_t)row->module_id, (uint64_t)row->address);
    uint32_t at;
    if (all->has_locations) {
        AS_TRY(as_catalogue_row_block(w->code, block, &row->block_id, err));
        return as_experiment_add_location(all->experiment, row, id, err);
    }
    for (struct as_probe probe = as_index_probe(&all->location_index, hash);
         (at = as_index_next(&all->location_index, &probe)) != AS_INDEX_NONE;) {
        const struct as_row_location *has = &all->location.at[at];
        if (has->module_id == row->module_id && has->address == row->address) {
            *id = (int64_t)at + 1;
            return 0;
        }
    }
    return new_location(w, row, hash, block, id, err);
}

static int add_blocks(struct module_work *w, struct as_error *err)
{
    uint32_t *known = as_malloc((w->block.n + 1) * sizeof *known);
    size_t n = 0;
    if (!known)
        return as_error_nomem(err, "the places of a run");
    as_vec_foreach (&w->block, it)
        if (*it != AS_NONE)
            known[n++] = *it;
    int rc = as_catalogue_rows_blocks(w->code, known, n, err);
    as_free(known);
    for (size_t i = 0; i < w->block.n && rc == 0; i++)
        rc = as_catalogue_row_block(w->code, w->block.at[i],
                                    &w->all->location.at[w->first_location + i].block_id, err);
    return rc;
}

int as_attribute_locations(struct as_attribution *all, struct as_error *err)
{
    return as_experiment_add_new_locations(all->experiment, all->location.at, all->location.n, 1,
                                           err);
}

/* Finds the place of an address. The address of a caller is its return address minus 1. If only the
 * return address is in a function, that frame made no call. It is then a signal return, or the end
 * of a stack made by hand. */
static void find_place(const struct as_catalogue_module *code, uint64_t address,
                       struct as_catalogue_place *place)
{
    as_catalogue_find(code, address, place);
    if (place->function == AS_NONE)
        as_catalogue_find(code, address + 1, place);
}

static int attribute_spot(struct module_work *w, uint64_t recorded,
                          struct as_catalogue_place *place, struct as_node_fact *fact,
                          struct as_error *err)
{
    struct as_row_location row;
    uint64_t address = recorded;
    *place = (struct as_catalogue_place){AS_NONE, AS_NONE, AS_NONE, AS_NONE, 0, AS_NONE};
    if (as_catalogue_address(w->code, recorded, &address))
        find_place(w->code, address, place);
    AS_TRY(function_of(w, place->function, &fact->function, err));
    AS_TRY(
        inlined_of(w, place->inlined, w->all->function.at[fact->function].id, &fact->inlined, err));
    AS_TRY(as_catalogue_rows_loops(w->code, place->function, err));
    struct as_catalogue_place blockless = *place;
    blockless.block = AS_NONE;
    AS_TRY(as_catalogue_location(w->code, address, &blockless, &row, err));
    return location_of(w, &row, place->block, &fact->location_id, err);
}

static int attribute_spots(struct module_work *w, struct as_error *err)
{
    struct as_catalogue_place place = {0};
    struct as_node_fact known = {0};
    for (size_t i = 0; i < w->n; i++) {
        if (i == 0 || w->spot[i].key != w->spot[i - 1].key)
            AS_TRY(attribute_spot(w, w->spot[i].key, &place, &known, err));
        struct as_node_fact *fact = &w->all->node[w->spot[i].at];
        fact->function = known.function;
        fact->inlined = known.inlined;
        fact->location_id = known.location_id;
        if (place.function != AS_NONE)
            w->own[place.function] += fact->own_n;
    }
    return 0;
}

static int store_hot_excerpts(struct module_work *w, struct as_error *err)
{
    const double least = HOT * (double)w->all->tally.running_n;
    size_t room = EXCERPT_MOST;
    for (size_t i = 0; i < w->n && w->from->kind == AS_MODULE_PYTHON; i++)
        if ((double)w->all->node[w->spot[i].at].own_n >= least)
            AS_TRY(as_catalogue_rows_source(w->code, 0, AS_PYTHON_LINE(w->spot[i].key), err));
    for (uint32_t i = 0; i < w->function_n && room; i++)
        if (w->own[i] && (double)w->own[i] >= least)
            AS_TRY(as_catalogue_rows_excerpt(w->code, i, &room, err));
    return 0;
}

static int attribute_code(struct module_work *w, struct as_module_fact *fact, struct as_error *err)
{
    as_category_module(w->all->categories, w->from->kind, w->from->path, &w->category);
    w->function_n = as_catalogue_function_n(w->code);
    w->function = as_calloc(w->function_n + 1, sizeof *w->function);
    w->own = as_calloc(w->function_n + 1, sizeof *w->own);
    if (!w->function || !w->own)
        return as_error_nomem(err, w->from->path);
    AS_TRY(describe_module(w, fact, err));
    AS_TRY(attribute_spots(w, err));
    AS_TRY(add_blocks(w, err));
    return store_hot_excerpts(w, err);
}

/* ---- All ----------------------------------------------------------------------------------- */

static struct as_catalogue_request request_for(const struct as_attribution *all,
                                               const struct as_tally_module *from)
{
    struct as_catalogue_request request = {
        .file = {.path = from->path, .kept = from->kept, .file = from->file, .kind = from->kind},
        .directory = all->directory};
    if (all->tally.running_n)
        request.share = (double)from->n / (double)all->tally.running_n;
    if (from->kind == AS_MODULE_ANON)
        request.pid = all->tally.process.at[from->process].pid;
    return request;
}

static int collect_python_code(struct module_work *w)
{
    const uint32_t module = (uint32_t)(w->from - w->all->tally.module.at);
    as_vec_foreach (&w->all->tally.python, it) {
        const struct as_catalogue_python python = {it->address, it->name};
        if (it->module == module)
            AS_TRY(as_vec_push(&w->python, python));
    }
    return 0;
}

static int open_code(struct module_work *w, struct as_error *err)
{
    struct as_catalogue *catalogue = w->all->catalogue;
    struct as_catalogue_request request = request_for(w->all, w->from);
    if (w->from->kind == AS_MODULE_PYTHON && collect_python_code(w) < 0)
        return as_error_nomem(err, w->from->path);
    request.python = w->python.at;
    request.python_n = w->python.n;
    request.depth = request.share >= SHARE_ENOUGH ? AS_CATALOGUE_ANALYSED : AS_CATALOGUE_LISTED;
    request.small_b = SMALL_B;
    return as_catalogue_open(catalogue, &request, &w->code, err);
}

int as_attribute_open(struct as_attribution *all, uint32_t module, struct as_catalogue_module **out,
                      struct as_error *err)
{
    assert(module < all->tally.module.n);
    struct as_catalogue_request request = request_for(all, &all->tally.module.at[module]);
    request.depth = AS_CATALOGUE_LISTED;
    request.small_b = SMALL_B;
    return as_catalogue_open(all->catalogue, &request, out, err);
}

int as_attribute_module(struct as_attribution *all, uint32_t module, const uint32_t *node,
                        size_t node_n, struct as_error *err)
{
    struct module_work w = {
        .all = all, .from = &all->tally.module.at[module], .first_location = all->location.n};
    int rc = open_code(&w, err);
    if (rc == 0 && order_spots(&w, node, node_n) < 0)
        rc = as_error_nomem(err, w.from->path);
    if (rc == 0)
        rc = attribute_code(&w, &all->module[module], err);
    as_catalogue_close(all->catalogue, &w.code);
    as_free(w.function);
    as_free(w.own);
    as_free(w.inlined);
    as_free(w.spot);
    as_vec_fini(&w.block);
    as_vec_fini(&w.python);
    return rc;
}
