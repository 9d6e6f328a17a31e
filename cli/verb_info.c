/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay info BIN...`: gathers what a binary is; a binary that cannot be used is said and left
 * out, the others are still shown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "info.h"

const char *as_type_word(enum as_object_type type)
{
    switch (type) {
    case AS_OBJECT_RELOCATABLE:
        return "relocatable";
    case AS_OBJECT_EXECUTABLE:
        return "executable";
    case AS_OBJECT_PIE:
        return "pie";
    case AS_OBJECT_SHARED:
        return "shared";
    }
    return NULL;
}

const char *as_debug_word(enum as_debug_kind kind)
{
    switch (kind) {
    case AS_DEBUG_NONE:
        return "none";
    case AS_DEBUG_EMBEDDED:
        return "embedded";
    case AS_DEBUG_SEPARATE:
        return "separate";
    case AS_DEBUG_MISSING:
        return "missing";
    }
    return NULL;
}

/* ---- Grouping of units ----------------------------------------------------------------- */

static int compare_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int compare_build(const struct as_unit *a, const struct as_unit *b)
{
    int order = (int)a->compiler - (int)b->compiler;

    if (!order)
        order = compare_text(a->language, b->language);
    if (!order)
        order = compare_text(a->standard, b->standard);
    if (!order)
        order = compare_text(a->compiler_version, b->compiler_version);
    if (!order)
        order = compare_text(a->flags, b->flags);
    if (!order)
        order = (int)a->dwarf_version - (int)b->dwarf_version;
    if (!order && a->compiler == AS_COMPILER_OTHER)
        order = compare_text(a->producer, b->producer);
    return order;
}

static int order_by_build(const void *a, const void *b, void *units)
{
    const struct as_unit *unit = units;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const int order = compare_build(&unit[i], &unit[k]);

    return order ? order : (i > k) - (i < k);
}

static int most_units_first(const void *a, const void *b)
{
    const struct as_unit_group *g = a, *h = b;

    return g->n != h->n ? (g->n < h->n) - (g->n > h->n) : (g->unit > h->unit) - (g->unit < h->unit);
}

static int group_units(struct as_info *info, struct as_error *err)
{
    const struct as_unit *unit = info->debug.unit;
    const size_t n = info->debug.unit_n;
    uint32_t *order = as_malloc(n * sizeof *order + 1);

    if (!order || as_vec_reserve(&info->groups, n) < 0) {
        as_free(order);
        return as_error_nomem(err, "the compilation units");
    }
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n, sizeof *order, order_by_build, (void *)unit);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare_build(&unit[order[i - 1]], &unit[order[i]]) != 0)
            info->groups.at[info->groups.n++] = (struct as_unit_group){.unit = order[i]};
        info->groups.at[info->groups.n - 1].n++;
    }
    if (info->groups.n)
        qsort(info->groups.at, info->groups.n, sizeof *info->groups.at, most_units_first);
    as_free(order);
    return 0;
}

/* ---- Code -------------------------------------------------------------------------------- */

double as_understood_percent(const struct as_code_counts *code)
{
    return code->jumps ? 100.0 * (double)(code->tables + code->calls) / (double)code->jumps : 100.0;
}

static void count_code(const struct as_program *program, struct as_code_counts *c)
{
    *c = (struct as_code_counts){.functions = program->body_n,
                                 .blocks = program->block_n,
                                 .edges = program->edge_n,
                                 .loops = program->loop_n,
                                 .jumps = program->indirect.jumps,
                                 .tables = program->indirect.tables,
                                 .calls = program->indirect.calls,
                                 .unresolved = program->indirect.unresolved};
    for (size_t i = 0; i < program->body_n; i++) {
        c->outlined += (program->body[i].bits & AS_BODY_OUTLINED) != 0;
        c->noreturn += (program->body[i].bits & AS_BODY_NORETURN) != 0;
        c->guessed += (program->body[i].bits & AS_BODY_GUESSED) != 0;
    }
    for (size_t i = 0; i < program->block_n; i++) {
        c->instructions += program->block[i].insns;
        c->unreached += (program->block[i].bits & AS_BLOCK_UNREACHED) != 0;
    }
    for (size_t i = 0; i < program->loop_n; i++) {
        c->level[program->loop[i].level]++;
        c->irreducible += (program->loop[i].bits & AS_LOOP_IRREDUCIBLE) != 0;
        c->merged += (program->loop[i].bits & AS_LOOP_MERGED) != 0;
        c->folded += (program->loop[i].bits & AS_LOOP_FOLDED) != 0;
        c->over_limit += (program->loop[i].bits & AS_LOOP_PATH_LIMIT) != 0;
    }
}

static int analyse_code(struct as_cli *cli, struct as_object *object, struct as_info *info,
                        struct as_error *err)
{
    const struct as_program_options options = {.jobs = cli->jobs, .path_limit = AS_PATH_LIMIT};
    struct as_program *program;

    AS_TRY(as_program_new(object, &options, &program, err));
    info->with_code = true;
    count_code(program, &info->code);
    as_program_free(&program);
    return 0;
}

/* ---- The verb -------------------------------------------------------------------------- */

static int collect_info(struct as_cli *cli, struct as_object *object, struct as_info *info,
                        struct as_error *err)
{
    *info = (struct as_info){.object = object, .identity = as_object_info(object)};
    AS_TRY(as_object_debug(object, AS_DEBUG_UNITS, cli->jobs, &info->debug, &info->damaged_units,
                           err));
    /* Again: loading the units may have found split or supplementary files. */
    info->identity = as_object_info(object);
    as_object_symbol_counts(object, &info->symbols);
    AS_TRY(group_units(info, err));
    return as_given(&cli->args, AS_OPTION_CODE) ? analyse_code(cli, object, info, err) : 0;
}

static int show_info(struct as_cli *cli, struct as_facts *facts, const char *path, bool first,
                     struct as_error *err)
{
    struct as_object *object = as_cli_open(cli, path);
    struct as_info info = {0};
    int rc;

    if (!object)
        return 0;
    rc = collect_info(cli, object, &info, err);
    if (rc == 0 && facts)
        as_info_facts(facts, &info);
    else if (rc == 0)
        as_info_text(cli, &info, first);
    as_vec_fini(&info.groups);
    as_object_close(&object);
    return rc;
}

int as_verb_info(struct as_cli *cli, struct as_error *err)
{
    struct as_facts facts;
    const bool text = cli->format == AS_FORMAT_TEXT;
    int rc = 0;

    if (!text) {
        as_facts_begin(&facts, cli);
        as_facts_array(&facts, "binaries");
    }
    for (size_t i = 0; i < cli->args.positional_n && rc == 0; i++)
        rc = show_info(cli, text ? NULL : &facts, cli->args.positional[i], i == 0, err);
    if (!text) {
        as_facts_close(&facts);
        as_facts_end(&facts);
    }
    return rc;
}
