/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one module: finds its file with as_sample_module_open, then reads its functions and
 * lines, or analyses all its code. The kernel and generated code have names only.
 */
#include "base/alloc.h"
#include "base/sort.h"
#include "catalogue/internal.h"

/* ---- Reading ------------------------------------------------------------------------------- */

static int sort_starts(struct as_catalogue_entry *entry, const struct as_program *program)
{
    struct as_sort_key *key = as_malloc((program->block_n + 1) * sizeof *key);
    if (!key)
        return AS_ERR_NOMEM;
    for (uint32_t i = 0; i < program->block_n; i++)
        key[i] = (struct as_sort_key){program->block[i].start, i};
    const int rc = as_sort_keys(key, program->block_n);
    for (uint32_t i = 0; i < program->block_n; i++)
        entry->by_start.at[i] = key[i].at;
    as_free(key);
    return rc;
}

static int order_blocks(struct as_catalogue_entry *entry)
{
    const struct as_program *program = entry->module.program;
    AS_TRY(as_vec_reserve(&entry->by_start, program->block_n));
    bool sorted = true;
    for (uint32_t i = 0; i < program->block_n; i++) {
        entry->by_start.at[i] = i;
        sorted &= i == 0 || program->block[i - 1].start <= program->block[i].start;
    }
    entry->by_start.n = program->block_n;
    return sorted ? 0 : sort_starts(entry, program);
}

static int set_module_program(struct as_catalogue_entry *entry, struct as_error *err)
{
    struct as_catalogue_module *module = &entry->module;
    module->function = module->program->function;
    module->function_n = module->program->function_n;
    module->debug = module->program->debug;
    return order_blocks(entry) < 0 ? as_error_nomem(err, module->path) : 0;
}

static int analyse_code(struct as_catalogue_entry *entry, struct as_error *err)
{
    struct as_catalogue_module *module = &entry->module;
    const struct as_program_options how = {
        .jobs = entry->catalogue->jobs, .path_limit = AS_PATH_LIMIT, .with_source = true};
    struct as_error why = {0};
    const int rc = as_program_new(module->object, &how, &module->program, &why);
    if (rc == AS_ERR_NOMEM)
        return as_error_set(err, rc, "%s", why.text);
    if (rc < 0) {
        module->trouble = why;
        return 0;
    }
    return set_module_program(entry, err);
}

static int list_functions(struct as_catalogue_entry *entry, struct as_error *err)
{
    struct as_catalogue_module *module = &entry->module;
    struct as_error why = {0};
    int rc =
        as_object_functions(module->object, true, &module->function, &module->function_n, &why);
    if (rc == 0)
        rc = as_object_debug(module->object, AS_DEBUG_ALL, entry->catalogue->jobs, &module->debug,
                             NULL, &why);
    if (rc == AS_ERR_NOMEM)
        return as_error_set(err, rc, "%s", why.text);
    if (rc < 0)
        module->trouble = why;
    return 0;
}

int as_entry_load(struct as_catalogue_entry *entry, struct as_error *err)
{
    struct as_catalogue_module *module = &entry->module;
    const struct as_catalogue_request *request = &entry->request;
    entry->is_adopted = false;
    *module = (struct as_catalogue_module){.path = request->file.path, .kind = request->file.kind};
    as_arena_init(&entry->arena);
    if (module->kind == AS_MODULE_KERNEL || module->kind == AS_MODULE_ANON)
        return as_entry_names(entry, err);
    if (module->kind == AS_MODULE_PYTHON)
        return as_entry_pythons(entry, err);
    if (module->kind == AS_MODULE_UNKNOWN)
        return 0;
    const int rc = as_sample_module_open(&request->file, NULL, request->directory,
                                         entry->catalogue->open, &module->object, &module->trouble);
    if (rc == AS_ERR_NOMEM)
        return as_error_set(err, rc, "%s", module->trouble.text);
    if (rc < 0)
        return 0;
    const bool is_small = as_object_info(module->object)->text_b <= request->small_b;
    return request->depth == AS_CATALOGUE_ANALYSED || is_small ? analyse_code(entry, err)
                                                               : list_functions(entry, err);
}

int as_entry_adopt(struct as_catalogue_entry *entry, struct as_object *object,
                   struct as_program *program, struct as_error *err)
{
    entry->is_adopted = true;
    entry->module = (struct as_catalogue_module){.path = entry->request.file.path,
                                                 .kind = AS_MODULE_FILE,
                                                 .object = object,
                                                 .program = program};
    as_arena_init(&entry->arena);
    return set_module_program(entry, err);
}

void as_entry_unload(struct as_catalogue_entry *entry)
{
    as_rows_fini(entry);
    if (!entry->is_adopted) {
        as_program_free(&entry->module.program);
        as_object_close(&entry->module.object);
    }
    as_vec_fini(&entry->by_start);
    as_vec_fini(&entry->name);
    as_arena_fini(&entry->arena);
    entry->module = (struct as_catalogue_module){0};
}

/* ---- Size ---------------------------------------------------------------------------------- */

static uint64_t program_size_b(const struct as_program *program)
{
    return program->code.n * sizeof *program->code.insn +
           program->code.wide_n * sizeof *program->code.wide +
           program->body_n * sizeof *program->body + program->block_n * sizeof *program->block +
           2 * program->edge_n * sizeof *program->succ + program->loop_n * sizeof *program->loop +
           program->loop_block_n * sizeof *program->loop_block +
           program->loop_source_n * sizeof *program->loop_source;
}

/* Returns the bytes of the block order and of all ids, as if all rows were added. */
static uint64_t ids_size_b(const struct as_program *program)
{
    return (program->body_n + program->loop_n + program->block_n + program->edge_n) *
               sizeof(int64_t) +
           program->block_n * sizeof(uint32_t);
}

uint64_t as_entry_size_b(const struct as_catalogue_entry *entry)
{
    const struct as_catalogue_module *module = &entry->module;
    const struct as_debug *debug = &module->debug;
    uint64_t size_b =
        sizeof *entry + entry->name.n * sizeof *entry->name.at +
        module->function_n * sizeof *module->function + debug->unit_n * sizeof *debug->unit +
        debug->file_n * sizeof *debug->file + debug->line_n * sizeof *debug->line +
        debug->inline_n * sizeof *debug->inlines + debug->range_n * sizeof *debug->range;
    if (module->program)
        size_b += program_size_b(module->program) + ids_size_b(module->program);
    return size_b;
}
