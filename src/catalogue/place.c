/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up addresses in a module by binary search: over blocks in analysed files, over functions in
 * other files, over names without a file.
 */
#include <assert.h>

#include "base/search.h"
#include "catalogue/internal.h"

/* ---- Lookup -------------------------------------------------------------------------------- */

bool assay_catalogue_address(const struct assay_catalogue_module *module, uint64_t recorded,
                             uint64_t *address)
{
    *address = recorded;
    if (module->kind == ASSAY_MODULE_FILE || module->kind == ASSAY_MODULE_VDSO)
        return module->object && assay_object_address_of(module->object, recorded, address);
    return true;
}

/* Returns how many of `n` items sorted by start begin at or before `address`. */
static size_t begun_at(const struct as_catalogue_entry *entry, size_t n, uint64_t address,
                       uint64_t (*start_of)(const struct as_catalogue_entry *entry, size_t i))
{
    const size_t begun = as_first_not(i, n, start_of(entry, i) <= address);
    assert(begun < 2 || start_of(entry, begun - 2) <= start_of(entry, begun - 1));
    return begun;
}

static uint64_t block_start(const struct as_catalogue_entry *entry, size_t i)
{
    assert(i < entry->by_start.n);
    return entry->module.program->block[entry->by_start.at[i]].start;
}

static uint64_t function_start(const struct as_catalogue_entry *entry, size_t i)
{
    return entry->module.function[i].start;
}

static uint64_t name_start(const struct as_catalogue_entry *entry, size_t i)
{
    assert(i < entry->name.n);
    return entry->name.at[i].start;
}

static void find_block(const struct as_catalogue_entry *entry, uint64_t address,
                       struct assay_catalogue_place *out)
{
    const size_t n = begun_at(entry, entry->by_start.n, address, block_start);
    if (n == 0)
        return;
    const uint32_t at = entry->by_start.at[n - 1];
    assert(at < entry->module.program->block_n);
    const struct assay_block *block = &entry->module.program->block[at];
    if (address - block->start >= block->size_b)
        return;
    out->block = at;
    out->loop = block->loop;
    out->function = block->body;
}

static void find_function(const struct as_catalogue_entry *entry, uint64_t address,
                          struct assay_catalogue_place *out)
{
    const size_t n = begun_at(entry, entry->module.function_n, address, function_start);
    if (n && address < entry->module.function[n - 1].end)
        out->function = (uint32_t)(n - 1);
}

static void find_name(const struct as_catalogue_entry *entry, uint64_t address,
                      struct assay_catalogue_place *out)
{
    const size_t n = begun_at(entry, entry->name.n, address, name_start);
    if (n && address < entry->name.at[n - 1].end)
        out->function = (uint32_t)(n - 1);
}

void assay_catalogue_find(const struct assay_catalogue_module *module, uint64_t address,
                          struct assay_catalogue_place *out)
{
    const struct as_catalogue_entry *entry = as_entry_of_const(module);
    *out = (struct assay_catalogue_place){ASSAY_NONE, ASSAY_NONE, ASSAY_NONE,
                                          ASSAY_NONE, 0,          ASSAY_NONE};
    if (!module->object) {
        find_name(entry, address, out);
        if (module->kind == ASSAY_MODULE_PYTHON && ASSAY_PYTHON_LINE(address)) {
            out->file = 0;
            out->line = ASSAY_PYTHON_LINE(address);
        }
        return;
    }
    if (module->program)
        find_block(entry, address, out);
    else
        find_function(entry, address, out);
    const struct assay_line *line = assay_debug_line_at(&module->debug, address);
    if (line && line->line && line->file != ASSAY_NONE) {
        out->file = line->file;
        out->line = line->line;
    }
    if (!module->debug.inline_n)
        return;
    const uint32_t inlined = assay_debug_inline_at(module->object, address);
    if (inlined != ASSAY_NONE && module->debug.inlines[inlined].parent != ASSAY_NONE)
        out->inlined = inlined;
}

uint32_t assay_catalogue_find_loop(const struct assay_catalogue_module *module, uint64_t address,
                                   uint32_t depth)
{
    const struct as_catalogue_entry *entry = as_entry_of_const(module);
    const struct assay_program *program = module->program;
    if (!program)
        return ASSAY_NONE;
    /* Several functions may have their own copy of the block at this address. */
    for (size_t n = begun_at(entry, entry->by_start.n, address, block_start); n > 0; n--) {
        const uint32_t block = entry->by_start.at[n - 1];
        if (program->block[block].start != address)
            break;
        for (uint32_t at = program->block[block].loop; at != ASSAY_NONE;
             at = program->loop[at].parent)
            if (program->loop[at].header == block && (!depth || program->loop[at].depth == depth))
                return at;
    }
    return ASSAY_NONE;
}

/* ---- Functions ----------------------------------------------------------------------------- */

static const char *origin_word(unsigned origin)
{
    static const char *const word[] = {
        [ASSAY_FUNCTION_SYMBOL] = "symbol", [ASSAY_FUNCTION_PLT] = "plt",
        [ASSAY_FUNCTION_DWARF] = "dwarf",   [ASSAY_FUNCTION_UNWIND] = "unwind",
        [ASSAY_FUNCTION_ENTRY] = "entry",
    };
    _Static_assert(sizeof word / sizeof *word == ASSAY_FUNCTION_ENTRY + 1,
                   "an entry for each of the enumeration");
    assert((unsigned)origin < sizeof word / sizeof *word);
    return word[origin];
}

static void of_function(const struct assay_catalogue_module *module, uint32_t index,
                        struct assay_catalogue_function *out)
{
    const struct assay_function *function = &module->function[index];
    out->linkage_name = function->name;
    out->start = function->start;
    out->size_b = function->end - function->start;
    out->unit = function->unit;
    out->file = function->decl_file;
    out->line = function->decl_line;
    out->known_from = origin_word(function->origin);
}

uint32_t assay_catalogue_function_n(const struct assay_catalogue_module *module)
{
    return (uint32_t)(!module->object   ? module->named
                      : module->program ? module->program->body_n
                                        : module->function_n);
}

const struct assay_inline *assay_catalogue_inlined(const struct assay_catalogue_module *module,
                                                   uint32_t inlined)
{
    const struct assay_debug *debug = &module->debug;
    const bool is_call = inlined < debug->inline_n && debug->inlines[inlined].parent != ASSAY_NONE;
    return is_call ? &debug->inlines[inlined] : NULL;
}

void assay_catalogue_function_get(const struct assay_catalogue_module *module, uint32_t function,
                                  struct assay_catalogue_function *out)
{
    *out = (struct assay_catalogue_function){.unit = ASSAY_NONE, .file = ASSAY_NONE};
    if (!module->object) {
        const struct as_catalogue_name *name = &as_entry_of_const(module)->name.at[function];
        out->linkage_name = name->name;
        out->start = name->start;
        out->size_b = name->end - name->start;
        out->known_from = module->kind == ASSAY_MODULE_ANON     ? "jit"
                          : module->kind == ASSAY_MODULE_PYTHON ? "python"
                                                                : "symbol";
        if (module->kind == ASSAY_MODULE_PYTHON && name->start >> 36) {
            out->file = 0;
            out->line = (uint32_t)(name->start >> 36);
        }
        return;
    }
    if (!module->program) {
        of_function(module, function, out);
        return;
    }
    const struct assay_body *body = &module->program->body[function];
    if (body->function != ASSAY_NONE)
        of_function(module, body->function, out);
    out->linkage_name = body->name;
    out->start = body->entry;
    out->size_b = body->size_b;
    out->known_from = origin_word(body->origin);
}
