/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of reading: files, units, split units, line tables, inlines; and the tables of
 * object/object.h made of them. Work on units and line tables goes to several threads, each
 * result to its own place, joined in file order: the same tables whatever the number of threads.
 */
#include <assert.h>
#include <dwarf.h>
#include <stdlib.h>

#include "base/pool.h"
#include "base/search.h"
#include "object/dwarf_internal.h"

/* Units or tables a thread takes at once: they differ much in size. */
#define GRAIN 4

/* ---- Opening ------------------------------------------------------------------------------ */

bool as_dw_is_code(const struct as_dw_file *main, uint64_t address)
{
    size_t high = main->exec.n;
    if (high == 0) /* no section headers: all but the tombstones of linkers */
        return address != 0 && address < UINT64_MAX - 0x1000 && address != UINT32_MAX;
    const size_t low = as_first_not(i, high, main->exec.at[i].end <= address);
    return low < main->exec.n && address >= main->exec.at[low].start;
}

static int by_span(const void *a, const void *b)
{
    const struct as_dw_span *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

int as_dwarf_open(const struct as_dwarf_input *input, struct as_dwarf **out, struct as_error *err)
{
    struct as_dwarf *dw = as_calloc(1, sizeof *dw);
    *out = NULL;
    if (!dw)
        return as_error_nomem(err, "debug information");
    dw->in = *input;
    as_arena_init(&dw->arena);
    dw->files.arena = &dw->arena;
    dw->files.options = input->options;
    dw->main.image = (struct as_dw_image){.p = input->bytes, .n = input->size_b};
    int rc = as_dw_file_read(&dw->main, input->section_address, input->section_n);
    if (dw->main.exec.n)
        qsort(dw->main.exec.at, dw->main.exec.n, sizeof *dw->main.exec.at, by_span);
    if (rc == 0)
        rc = as_debugfile_find(dw);
    if (rc == AS_ERR_NOMEM) {
        as_dwarf_close(&dw);
        return as_error_nomem(err, "debug information");
    }
    *out = dw;
    return 0;
}

void as_dwarf_close(struct as_dwarf **dwarf)
{
    struct as_dwarf *dw = *dwarf;
    if (!dw)
        return;
    as_vec_foreach (&dw->table, it) {
        as_vec_fini(&(*it)->row);
        as_vec_fini(&(*it)->seq);
        as_free(*it);
    }
    as_vec_fini(&dw->table);
    as_vec_foreach (&dw->split, it) {
        as_dw_module_release(*it);
        as_free(*it);
    }
    as_vec_fini(&dw->split);
    as_vec_foreach (&dw->split_file, it) {
        as_dw_file_release(*it);
        as_free(*it);
    }
    as_vec_fini(&dw->split_file);
    as_dw_module_release(&dw->module);
    as_dw_module_release(&dw->alt);
    as_dw_definitions_release(&dw->definitions);
    as_dw_file_release(&dw->main);
    as_dw_file_release(&dw->separate);
    as_dw_file_release(&dw->dwz);
    as_dw_file_release(&dw->dwp);
    as_dw_files_release(&dw->files);
    as_vec_fini(&dw->unit);
    as_vec_fini(&dw->unit_dw);
    as_free(dw->line);
    as_free(dw->inlines);
    as_free(dw->range);
    as_free(dw->segment);
    as_arena_fini(&dw->arena);
    as_free(dw);
    *dwarf = NULL;
}

void as_dwarf_fill_info(const struct as_dwarf *dw, struct as_object_info *info)
{
    info->debug = dw->kind;
    info->debug_path = dw->debug_path;
    info->debug_compressed = dw->debug && dw->debug->compressed;
    info->debug_split = dw->has_split;
    info->debug_split_missing = dw->split_missing;
    info->dwp_path = dw->dwp_path;
    info->dwz_path = dw->dwz_path;
    info->dwz_missing = dw->dwz_missing;
    info->dwarf_version_min = info->dwarf_version_max = 0;
    for (size_t i = 0; i < dw->unit.n; i++) {
        uint8_t version = dw->unit.at[i].dwarf_version;
        if (i == 0 || version < info->dwarf_version_min)
            info->dwarf_version_min = version;
        if (version > info->dwarf_version_max)
            info->dwarf_version_max = version;
    }
}

const uint8_t *as_dwarf_separate_image(const struct as_dwarf *dw, size_t *size_b)
{
    *size_b = dw->separate.image.n;
    return dw->separate.image.p;
}

const uint8_t *as_dwarf_frames(const struct as_dwarf *dw, size_t *size_b)
{
    struct as_dw_bytes own = dw->main.plain.at[AS_DW_FRAME];
    struct as_dw_bytes frames = own.n ? own : dw->separate.plain.at[AS_DW_FRAME];
    *size_b = frames.n;
    return frames.p;
}

/* ---- Units -------------------------------------------------------------------------------- */

/* Index of the line table of `unit`, read or not, for units that name the same place. */
static int table_of(struct as_dwarf *dw, struct as_dw_unit *unit)
{
    struct as_dw_bytes section = unit->sec.at[AS_DW_LINE];
    if (unit->damaged || unit->line_offset == UINT64_MAX || unit->line_offset >= section.n)
        return 0;
    struct as_dw_line_table *table = as_calloc(1, sizeof *table);
    if (!table)
        return AS_ERR_NOMEM;
    *table = (struct as_dw_line_table){.section = section.p,
                                       .offset = unit->line_offset,
                                       .unit = unit,
                                       .bytes = section,
                                       .is_rows = !unit->module->skeleton};
    if (as_vec_push(&dw->table, table) < 0) {
        as_free(table);
        return AS_ERR_NOMEM;
    }
    unit->line_table = (uint32_t)dw->table.n - 1;
    return 0;
}

struct load_place {
    const uint8_t *section;
    uint64_t offset;
    struct as_dw_unit *unit;
    size_t order;
};

static int by_place(const void *a, const void *b)
{
    const struct load_place *x = a, *y = b;
    if (x->section != y->section)
        return (uintptr_t)x->section < (uintptr_t)y->section ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

typedef AS_VEC(struct load_place) place_list;

static int add_places(place_list *list, struct as_dw_module *module)
{
    as_vec_foreach (&module->unit, unit) {
        struct load_place place = {unit->sec.at[AS_DW_LINE].p, unit->line_offset, unit, list->n};
        if (unit->tag != DW_TAG_type_unit && unit->line_offset != UINT64_MAX &&
            as_vec_push(list, place) < 0)
            return AS_ERR_NOMEM;
    }
    return 0;
}

/* Units that name the same line table share it; tables are numbered in the order of units. */
static int share_tables(struct as_dwarf *dw, place_list *list)
{
    struct as_dw_unit **leader = as_calloc(list->n ? list->n : 1, sizeof *leader);
    if (!leader)
        return AS_ERR_NOMEM;
    if (list->n)
        qsort(list->at, list->n, sizeof *list->at, by_place);
    for (size_t i = 0, first = 0; i < list->n; i++) {
        if (list->at[i].section != list->at[first].section ||
            list->at[i].offset != list->at[first].offset)
            first = i;
        leader[list->at[i].order] = list->at[first].unit;
    }
    struct as_dw_unit **unit = as_calloc(list->n ? list->n : 1, sizeof *unit);
    int rc = unit ? 0 : AS_ERR_NOMEM;
    for (size_t i = 0; rc == 0 && i < list->n; i++)
        unit[list->at[i].order] = list->at[i].unit;
    for (size_t i = 0; rc == 0 && i < list->n; i++) {
        if (leader[i]->line_table == AS_NONE)
            rc = table_of(dw, leader[i]);
        unit[i]->line_table = leader[i]->line_table;
    }
    as_free(unit);
    as_free(leader);
    return rc;
}

static int make_tables(struct as_dwarf *dw)
{
    place_list list = {0};
    int rc = add_places(&list, &dw->module);
    if (rc == 0)
        rc = add_places(&list, &dw->alt);
    as_vec_foreach (&dw->split, it)
        rc = rc == 0 ? add_places(&list, *it) : rc;
    if (rc == 0)
        rc = share_tables(dw, &list);
    as_vec_fini(&list);
    as_vec_foreach (&dw->table, it) {
        if (rc == 0)
            rc = as_dw_line_header(*it, &dw->files);
        dw->damaged += (*it)->damaged;
    }
    /* A full unit without a table of its own numbers its files by the table of its skeleton. */
    as_vec_foreach (&dw->module.unit, unit) {
        if (unit->split && unit->split->line_table == AS_NONE)
            unit->split->line_table = unit->line_table;
    }
    return rc;
}

static bool is_users(const struct as_dw_unit *unit)
{
    return !unit->damaged &&
           (unit->tag == DW_TAG_compile_unit || unit->tag == DW_TAG_skeleton_unit);
}

static int add_unit(struct as_dwarf *dw, struct as_dw_unit *unit)
{
    const struct as_dw_unit *full = unit->split ? unit->split : unit;
    char *buf = NULL;
    const char *name = full->name ? full->name : unit->name ? unit->name : unit->dwo_name;
    struct as_unit out = {.producer = full->producer ? full->producer : unit->producer,
                          .dw_language = full->language ? full->language : unit->language,
                          .dwarf_version = (uint8_t)unit->version,
                          .is_split = unit->dwo_name && unit->has_dwo_id,
                          .split_missing = unit->split_missing};
    const char *const in[2] = {name ? name : "", unit->comp_dir};
    const char *mapped[2] = {0};
    for (int i = 0; i < 2; i++) {
        if (!in[i])
            continue;
        size_t most = strlen(in[i]) + 2;
        for (size_t k = 0; dw->in.options && k < dw->in.options->source_map_n; k++)
            most += strlen(dw->in.options->source_map[k].to);
        buf = as_arena_alloc(&dw->arena, most, 1);
        if (!buf)
            return AS_ERR_NOMEM;
        mapped[i] = as_source_map_apply(dw->in.options, in[i], buf, most);
    }
    out.name = mapped[0];
    out.comp_dir = mapped[1];
    AS_TRY(as_producer_parse(&dw->arena, &out));
    unit->user = (uint32_t)dw->unit.n;
    if (unit->split)
        unit->split->user = unit->user;
    if (as_vec_push(&dw->unit_dw, unit->split ? unit->split : unit) < 0)
        return AS_ERR_NOMEM;
    return as_vec_push(&dw->unit, out);
}

static int load_units(struct as_dwarf *dw)
{
    if (dw->dwz.image.p) {
        dw->alt.file = &dw->dwz;
        AS_TRY(as_dw_units_read(&dw->alt, &dw->dwz.plain));
    }
    dw->module.file = dw->debug;
    dw->module.alt = dw->dwz.image.p ? &dw->alt : NULL;
    AS_TRY(as_dw_units_read(&dw->module, &dw->debug->plain));
    dw->damaged += dw->module.damaged;
    as_vec_foreach (&dw->module.unit, unit) {
        if (!is_users(unit))
            continue;
        AS_TRY(as_dw_split_read(dw, unit));
        AS_TRY(add_unit(dw, unit));
    }
    return make_tables(dw);
}

/* ---- Lines -------------------------------------------------------------------------------- */

static int line_some(void *ctx, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    struct as_dwarf *dw = ctx;
    (void)worker;
    for (size_t i = from; i < to; i++) {
        struct as_dw_line_table *table = dw->table.at[i];
        if (table->is_rows && as_dw_line_program(table, &dw->main) < 0)
            return as_error_nomem(err, "line tables");
    }
    return 0;
}

static int load_lines(struct as_dwarf *dw, struct as_pool *pool)
{
    size_t damaged = 0;
    as_vec_foreach (&dw->table, it)
        damaged += (*it)->damaged;
    int rc = as_pool_for(pool, dw->table.n, GRAIN, line_some, dw, NULL);
    if (rc == 0)
        rc = as_dw_lines_merge(dw->table.at, dw->table.n, &dw->line, &dw->line_n);
    size_t now = 0;
    as_vec_foreach (&dw->table, it) {
        now += (*it)->damaged;
        as_vec_fini(&(*it)->row);
        as_vec_fini(&(*it)->seq);
    }
    dw->damaged += now - damaged;
    return rc;
}

/* ---- Inlines ------------------------------------------------------------------------------ */

struct inline_work {
    struct as_dwarf *dw;
    struct as_dw_inlines *part;
};

static int inline_some(void *ctx, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    struct inline_work *work = ctx;
    (void)worker;
    for (size_t i = from; i < to; i++) {
        as_dw_inlines_read(work->dw->unit_dw.at[i], work->dw->table.at, &work->dw->main,
                           &work->part[i]);
        if (work->part[i].nomem)
            return as_error_nomem(err, "inlined subroutines");
    }
    return 0;
}

/* Joins the parts in the order of units, shifting what counts from the start of a part. */
static int join_inlines(struct as_dwarf *dw, struct as_dw_inlines *part, size_t n)
{
    size_t inlines = 0, ranges = 0;
    for (size_t i = 0; i < n; i++) {
        dw->damaged += part[i].damaged;
        inlines += part[i].at.n;
        ranges += part[i].range.n;
    }
    if (inlines >= AS_NONE || ranges >= AS_NONE)
        return AS_ERR_NOMEM;
    dw->inlines = as_malloc_table(inlines + 1, sizeof *dw->inlines);
    dw->range = as_malloc_table(ranges + 1, sizeof *dw->range);
    if (!dw->inlines || !dw->range)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        uint32_t first = (uint32_t)dw->inline_n, first_range = (uint32_t)dw->range_n;
        as_vec_foreach (&part[i].at, it) {
            struct as_inline entry = *it;
            entry.first_range += first_range;
            if (entry.parent != AS_NONE)
                entry.parent += first;
            dw->inlines[dw->inline_n++] = entry;
        }
        as_vec_foreach (&part[i].range, it)
            dw->range[dw->range_n++] = (struct as_range){it->start, it->end, it->owner + first};
    }
    return as_dw_inlines_flatten(dw->range, dw->range_n, &dw->segment, &dw->segment_n);
}

static int load_inlines(struct as_dwarf *dw, struct as_pool *pool)
{
    size_t n = dw->unit_dw.n;
    struct inline_work work = {dw, as_calloc(n ? n : 1, sizeof *work.part)};
    if (!work.part)
        return AS_ERR_NOMEM;
    int rc = as_pool_for(pool, n, GRAIN, inline_some, &work, NULL);
    if (rc == 0)
        rc = join_inlines(dw, work.part, n);
    for (size_t i = 0; i < n; i++) {
        as_vec_fini(&work.part[i].at);
        as_vec_fini(&work.part[i].range);
    }
    as_free(work.part);
    return rc;
}

/* ---- Door --------------------------------------------------------------------------------- */

static int load_parts(struct as_dwarf *dw, unsigned parts, unsigned jobs)
{
    if (!dw || !dw->debug)
        return 0;
    if (dw->failed)
        return AS_ERR_NOMEM;
    int rc = 0;
    dw->failed = true; /* half-made tables are not to be added to */
    if (!dw->prepared)
        rc = load_units(dw);
    dw->prepared = true;
    unsigned missing = parts & ~dw->loaded;
    struct as_pool *pool = NULL;
    if (rc == 0 && (missing & (AS_DEBUG_LINES | AS_DEBUG_INLINES)) && jobs != 1)
        rc = as_pool_new(&pool, jobs, NULL);
    if (rc == 0 && (missing & AS_DEBUG_LINES))
        rc = load_lines(dw, pool);
    if (rc == 0 && (missing & AS_DEBUG_INLINES))
        rc = load_inlines(dw, pool);
    as_pool_free(&pool);
    if (rc == 0) {
        dw->loaded |= parts;
        dw->failed = false;
    }
    return rc;
}

int as_dwarf_load(struct as_dwarf *dw, unsigned parts, unsigned jobs, struct as_debug *out,
                  size_t *damaged_units, struct as_error *err)
{
    *out = (struct as_debug){0};
    if (load_parts(dw, parts, jobs) < 0)
        return as_error_nomem(err, "debug information");
    if (damaged_units)
        *damaged_units = dw ? dw->damaged : 0;
    if (!dw)
        return 0;
    *out = (struct as_debug){.unit = dw->unit.at,
                             .unit_n = dw->unit.n,
                             .file = dw->files.path.at,
                             .file_n = dw->files.path.n,
                             .line = dw->line,
                             .line_n = dw->line_n,
                             .inlines = dw->inlines,
                             .inline_n = dw->inline_n,
                             .range = dw->range,
                             .range_n = dw->range_n};
    return 0;
}

uint32_t as_dwarf_inline_at(const struct as_dwarf *dw, uint64_t address)
{
    size_t low = as_first_not(i, dw ? dw->segment_n : 0, dw->segment[i].start <= address);
    assert(low < 2 || dw->segment[low - 2].start <= dw->segment[low - 1].start); /* sorted */
    return low ? dw->segment[low - 1].owner : AS_NONE;
}

uint32_t as_dwarf_inline_near(const struct as_dwarf *dw, uint64_t address, size_t *near)
{
    *near = as_first_not_near(i, dw ? dw->segment_n : 0, *near, dw->segment[i].start <= address);
    return *near ? dw->segment[*near - 1].owner : AS_NONE;
}

const struct as_line *as_debug_line_at(const struct as_debug *debug, uint64_t address)
{
    size_t low = as_first_not(i, debug->line_n, debug->line[i].address <= address);
    assert(low < 2 || debug->line[low - 2].address <= debug->line[low - 1].address); /* sorted */
    if (low == 0 || (debug->line[low - 1].file == AS_NONE && debug->line[low - 1].line == 0))
        return NULL;
    return &debug->line[low - 1];
}
