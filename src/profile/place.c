/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening the code of modules and looking addresses up in it. An address is found by binary search
 * over blocks (analysed files), functions (others) or names (no file).
 */
#include "profile/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* A file is analysed when it has little code or this share of the samples. */
#define SMALL_B      (1u << 20)
#define SHARE_ENOUGH 0.002

/* ---- Opening ------------------------------------------------------------------------------- */

static int compare_starts(const void *a, const void *b, void *context)
{
    const struct assay_block *block = context;
    const uint64_t x = block[*(const uint32_t *)a].start, y = block[*(const uint32_t *)b].start;
    return x < y ? -1 : x > y;
}

static int order_blocks(struct as_place_code *code)
{
    const struct assay_program *program = code->program;
    AS_TRY(as_vec_reserve(&code->by_start, program->block_n));
    bool sorted = true;
    for (uint32_t i = 0; i < program->block_n; i++) {
        code->by_start.at[i] = i;
        sorted &= i == 0 || program->block[i - 1].start <= program->block[i].start;
    }
    code->by_start.n = program->block_n;
    if (!sorted)
        qsort_r(code->by_start.at, code->by_start.n, sizeof *code->by_start.at, compare_starts,
                program->block);
    return 0;
}

static int analyse(struct as_place_code *code, const struct as_place_options *options,
                   struct assay_error *err)
{
    const struct assay_program_options how = {
        .jobs = options->jobs, .path_limit = 1, .with_source = true};
    struct assay_error why = {0};
    int rc = assay_program_new(code->object, &how, &code->program, &why);
    if (rc == ASSAY_ERR_NOMEM) {
        *err = why;
        return rc;
    }
    if (rc < 0) {
        code->trouble = why;
        return 0;
    }
    code->function = code->program->function;
    code->function_n = code->program->function_n;
    code->debug = code->program->debug;
    return order_blocks(code) < 0 ? as_error_nomem(err, code->module->path) : 0;
}

static int list_functions(struct as_place_code *code, const struct as_place_options *options,
                          struct assay_error *err)
{
    struct assay_error why = {0};
    int rc = assay_object_functions(code->object, true, &code->function, &code->function_n, &why);
    if (rc == 0)
        rc = assay_object_debug(code->object, ASSAY_DEBUG_ALL, options->jobs, &code->debug, NULL,
                                &why);
    if (rc == ASSAY_ERR_NOMEM) {
        *err = why;
        return rc;
    }
    if (rc < 0)
        code->trouble = why;
    return 0;
}

int as_place_open(struct as_place_code *code, const struct as_tally_module *module,
                  const struct as_place_options *options, struct assay_error *err)
{
    *code = (struct as_place_code){.module = module};
    as_arena_init(&code->arena);
    if (module->kind == ASSAY_MODULE_KERNEL || module->kind == ASSAY_MODULE_ANON)
        return as_place_names(code, options, err);
    if (module->kind == ASSAY_MODULE_UNKNOWN)
        return 0;
    const struct assay_stream_module fact = {
        .path = module->path, .kept = module->kept, .file = module->file, .kind = module->kind};
    int rc = assay_sample_module_open(&fact, NULL, options->directory, options->open, &code->object,
                                      &code->trouble);
    if (rc == ASSAY_ERR_NOMEM && err)
        *err = code->trouble;
    if (rc < 0)
        return rc == ASSAY_ERR_NOMEM ? rc : 0;
    code->not_analysed =
        assay_object_info(code->object)->text_b > SMALL_B && options->share < SHARE_ENOUGH;
    return code->not_analysed ? list_functions(code, options, err) : analyse(code, options, err);
}

void as_place_close(struct as_place_code *code)
{
    assay_program_free(&code->program);
    assay_object_close(&code->object);
    as_vec_fini(&code->by_start);
    as_vec_fini(&code->name);
    as_arena_fini(&code->arena);
}

/* ---- Finding ------------------------------------------------------------------------------- */

bool as_place_address(const struct as_place_code *code, uint64_t recorded, uint64_t *address)
{
    *address = recorded;
    if (code->module->kind == ASSAY_MODULE_FILE || code->module->kind == ASSAY_MODULE_VDSO)
        return code->object && assay_object_address_of(code->object, recorded, address);
    return true;
}

static void find_block(const struct as_place_code *code, uint64_t address, struct as_place *out)
{
    const struct assay_program *program = code->program;
    size_t low = 0, high = code->by_start.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (program->block[code->by_start.at[middle]].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return;
    const uint32_t at = code->by_start.at[low - 1];
    const struct assay_block *block = &program->block[at];
    if (address - block->start >= block->size_b)
        return;
    out->block = at;
    out->loop = block->loop;
    out->function = block->body;
}

static void find_function(const struct as_place_code *code, uint64_t address, struct as_place *out)
{
    size_t low = 0, high = code->function_n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (code->function[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low && address < code->function[low - 1].end)
        out->function = (uint32_t)(low - 1);
}

static void find_name(const struct as_place_code *code, uint64_t address, struct as_place *out)
{
    size_t low = 0, high = code->name.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (code->name.at[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low && address < code->name.at[low - 1].end)
        out->function = (uint32_t)(low - 1);
}

void as_place_find(const struct as_place_code *code, uint64_t address, struct as_place *out)
{
    *out = (struct as_place){ASSAY_NONE, ASSAY_NONE, ASSAY_NONE, ASSAY_NONE, 0, ASSAY_NONE};
    if (!code->object) {
        find_name(code, address, out);
        return;
    }
    if (code->program)
        find_block(code, address, out);
    else
        find_function(code, address, out);
    const struct assay_line *line = assay_debug_line_at(&code->debug, address);
    if (line && line->line && line->file != ASSAY_NONE) {
        out->file = line->file;
        out->line = line->line;
    }
    if (!code->debug.inline_n)
        return;
    const uint32_t inlined = assay_debug_inline_at(code->object, address);
    if (inlined != ASSAY_NONE && code->debug.inlines[inlined].parent != ASSAY_NONE)
        out->inlined = inlined;
}

/* ---- Functions ----------------------------------------------------------------------------- */

static const char *origin_word(unsigned origin)
{
    static const char *const word[] = {
        [ASSAY_FUNCTION_SYMBOL] = "symbol", [ASSAY_FUNCTION_PLT] = "plt",
        [ASSAY_FUNCTION_DWARF] = "dwarf",   [ASSAY_FUNCTION_UNWIND] = "unwind",
        [ASSAY_FUNCTION_ENTRY] = "entry",
    };
    return word[origin];
}

static void of_function(const struct as_place_code *code, uint32_t index,
                        struct as_place_function *out)
{
    const struct assay_function *function = &code->function[index];
    out->linkage_name = function->name;
    out->start = function->start;
    out->size_b = function->end - function->start;
    out->unit = function->unit;
    out->file = function->decl_file;
    out->line = function->decl_line;
    out->known_from = origin_word(function->origin);
}

void as_place_function(const struct as_place_code *code, uint32_t function,
                       struct as_place_function *out)
{
    *out = (struct as_place_function){.unit = ASSAY_NONE, .file = ASSAY_NONE, .body = ASSAY_NONE};
    if (!code->object) {
        const struct as_name *name = &code->name.at[function];
        out->linkage_name = name->name;
        out->start = name->start;
        out->size_b = name->end - name->start;
        out->known_from = code->module->kind == ASSAY_MODULE_ANON ? "jit" : "symbol";
        return;
    }
    if (!code->program) {
        of_function(code, function, out);
        return;
    }
    const struct assay_body *body = &code->program->body[function];
    if (body->function != ASSAY_NONE)
        of_function(code, body->function, out);
    out->linkage_name = body->name;
    out->start = body->entry;
    out->size_b = body->size_b;
    out->body = function;
    out->known_from = origin_word(body->origin);
}
