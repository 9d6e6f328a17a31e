/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One module: opens its code, and makes rows of every address at which the run's frames stand.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "profile/code_rows.h"

/* A function with this share of the samples keeps its source and assembly. */
#define HOT 0.001
/* Instructions kept of one module, at most. */
#define EXCERPT_MOST 100000u

struct spot {
    uint64_t recorded;
    uint32_t node;
};

struct work {
    struct as_attribution *all;
    struct as_place_code code;
    struct as_code_rows rows;
    struct spot *spot; /* by address */
    size_t n;
    uint64_t *own; /* running samples by function of the module */
};

/* ---- The row ------------------------------------------------------------------------------- */

static void hex_of(const uint8_t *bytes, unsigned n, char *out)
{
    out[0] = 0;
    for (unsigned i = 0; i < n; i++)
        snprintf(out + 2 * (size_t)i, 3, "%02x", bytes[i]);
}

static const char *kind_of(const struct work *w)
{
    switch (w->code.module->kind) {
    case ASSAY_MODULE_VDSO:
        return "vdso";
    case ASSAY_MODULE_KERNEL:
        return "kernel";
    case ASSAY_MODULE_ANON:
        return w->code.name.n ? "jit" : "anonymous";
    case ASSAY_MODULE_UNKNOWN:
        return "anonymous";
    default:
        break;
    }
    if (!w->code.object)
        return strstr(w->code.module->path, ".so") ? "shared" : "executable";
    const enum assay_object_type type = assay_object_info(w->code.object)->type;
    return type == ASSAY_OBJECT_EXECUTABLE || type == ASSAY_OBJECT_PIE ? "executable" : "shared";
}

/* Files of the distribution: the user does not compile them. */
static bool is_system(const char *path)
{
    if (strncmp(path, "/usr/local/", 11) == 0)
        return false;
    return strncmp(path, "/usr/", 5) == 0 || strncmp(path, "/lib", 4) == 0 ||
           strncmp(path, "/bin/", 5) == 0 || strncmp(path, "/sbin/", 6) == 0 || path[0] != '/';
}

static int add_module(struct work *w, struct as_module_fact *fact, struct assay_error *err)
{
    const struct as_tally_module *from = w->code.module;
    const struct assay_file_identity *file = &from->file;
    char id[2 * sizeof file->build_id + 1], path[4096 + 64], kept[4096 + 64];
    struct assay_row_module row = {.path = from->path, .kind = kind_of(w)};
    hex_of(file->build_id, file->build_id_b, id);
    row.build_id = file->build_id_b ? id : NULL;
    if (from->kind == ASSAY_MODULE_UNKNOWN)
        row.path = "[unknown]";
    if (from->kind == ASSAY_MODULE_ANON) {
        const struct as_tally_process *process = &w->all->tally.process.at[from->process];
        snprintf(path, sizeof path, "[generated code of process %" PRIu32 "]", process->pid);
        row.path = path;
    }
    row.name = as_path_last(row.path);
    if (w->code.object) {
        const struct assay_object_info *info = assay_object_info(w->code.object);
        row.size_b = assay_known((int64_t)info->size_b);
        fact->has_debug =
            info->debug == ASSAY_DEBUG_EMBEDDED || info->debug == ASSAY_DEBUG_SEPARATE;
        row.has_debug = assay_known(fact->has_debug);
        if (!row.build_id && info->build_id_b && info->build_id_b <= sizeof file->build_id) {
            hex_of(info->build_id, (unsigned)info->build_id_b, id);
            row.build_id = id;
        }
    }
    if (!row.build_id && file->known == ASSAY_FILE_SEEN) {
        row.inode = assay_known((int64_t)file->inode);
        row.mtime_ns = assay_known(file->mtime_ns);
        row.size_b = assay_known((int64_t)file->size_b);
    }
    if (from->kept) {
        snprintf(kept, sizeof kept, "%s/%s", as_path_last(w->all->directory), from->kept);
        row.kept_path = kept;
    }
    fact->no_file = from->kind == ASSAY_MODULE_FILE && !w->code.object;
    fact->is_system = from->kind != ASSAY_MODULE_FILE || is_system(from->path);
    fact->not_analysed = w->code.not_analysed;
    memcpy(fact->trouble, w->code.trouble.text, sizeof fact->trouble);
    fact->name = as_path_last(from->path);
    return assay_experiment_add_module(w->all->experiment, &row, &fact->id, err);
}

/* ---- Its addresses ------------------------------------------------------------------------- */

static int compare_spots(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;
    return x->recorded < y->recorded ? -1 : x->recorded > y->recorded;
}

static int order_spots(struct work *w, const uint32_t *node, size_t n)
{
    w->spot = as_malloc((n + 1) * sizeof *w->spot);
    if (!w->spot)
        return ASSAY_ERR_NOMEM;
    w->n = n;
    for (size_t i = 0; i < n; i++)
        w->spot[i] = (struct spot){w->all->tally.node.at[node[i]].address, node[i]};
    qsort(w->spot, n, sizeof *w->spot, compare_spots);
    return 0;
}

static int attribute_spots(struct work *w, struct assay_error *err)
{
    struct as_place place = {0};
    int64_t location = 0;
    uint32_t function = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (i == 0 || w->spot[i].recorded != w->spot[i - 1].recorded) {
            uint64_t address = w->spot[i].recorded;
            if (as_place_address(&w->code, w->spot[i].recorded, &address))
                as_place_find(&w->code, address, &place);
            else
                place = (struct as_place){ASSAY_NONE, ASSAY_NONE, ASSAY_NONE,
                                          ASSAY_NONE, 0,          ASSAY_NONE};
            AS_TRY(as_code_rows_function(&w->rows, place.function, &function, err));
            AS_TRY(as_code_rows_loops(&w->rows, place.function, err));
            AS_TRY(as_code_rows_location(&w->rows, address, &place, &location, err));
        }
        struct as_node_fact *fact = &w->all->node[w->spot[i].node];
        fact->function = function;
        fact->location_id = location;
        if (place.function != ASSAY_NONE)
            w->own[place.function] += fact->own_n;
    }
    return 0;
}

static int keep_excerpts(struct work *w, struct assay_error *err)
{
    const double least = HOT * (double)w->all->tally.running_n;
    size_t room = EXCERPT_MOST;
    for (uint32_t i = 0; i < w->rows.function_n && room; i++)
        if (w->own[i] && (double)w->own[i] >= least)
            AS_TRY(as_code_rows_excerpt(&w->rows, i, &room, err));
    return 0;
}

static int attribute_code(struct work *w, struct as_module_fact *fact, struct assay_error *err)
{
    AS_TRY(add_module(w, fact, err));
    if (as_code_rows_begin(&w->rows, w->all, &w->code, fact->id) < 0)
        return as_error_nomem(err, w->code.module->path);
    w->own = as_calloc(w->rows.function_n + 1, sizeof *w->own);
    if (!w->own)
        return as_error_nomem(err, w->code.module->path);
    AS_TRY(attribute_spots(w, err));
    return keep_excerpts(w, err);
}

int as_attribute_module(struct as_attribution *all, uint32_t module, const uint32_t *node,
                        size_t node_n, struct assay_error *err)
{
    const struct as_tally_module *from = &all->tally.module.at[module];
    struct work w = {.all = all};
    struct as_place_options how = {
        .directory = all->directory, .open = all->options->open, .jobs = all->options->jobs};
    if (all->tally.running_n)
        how.share = (double)from->n / (double)all->tally.running_n;
    if (from->kind == ASSAY_MODULE_ANON)
        how.pid = all->tally.process.at[from->process].pid;
    int rc = as_place_open(&w.code, from, &how, err);
    if (rc == 0 && order_spots(&w, node, node_n) < 0)
        rc = as_error_nomem(err, from->path);
    if (rc == 0)
        rc = attribute_code(&w, &all->module[module], err);
    all->source_n += (uint32_t)w.code.debug.file_n;
    as_code_rows_end(&w.rows);
    as_place_close(&w.code);
    as_free(w.own);
    as_free(w.spot);
    return rc;
}
