/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up addresses in a module by binary search: over blocks in analysed files, over functions in
 * other files, over names without a file.
 */
#include <assert.h>

#include "base/search.h"
#include "catalogue/internal.h"

/* ---- Lookup -------------------------------------------------------------------------------- */

bool as_catalogue_address(const struct as_catalogue_module *module, uint64_t recorded,
                          uint64_t *address)
{
    *address = recorded;
    if (module->kind == AS_MODULE_FILE || module->kind == AS_MODULE_VDSO)
        return module->object && as_object_address_of(module->object, recorded, address);
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
                       struct as_catalogue_place *out)
{
    const size_t n = begun_at(entry, entry->by_start.n, address, block_start);
    if (n == 0)
        return;
    const uint32_t at = entry->by_start.at[n - 1];
    assert(at < entry->module.program->block_n);
    const struct as_block *block = &entry->module.program->block[at];
    if (address - block->start >= block->size_b)
        return;
    out->block = at;
    out->loop = block->loop;
    out->function = block->body;
}

static void find_function(const struct as_catalogue_entry *entry, uint64_t address,
                          struct as_catalogue_place *out)
{
    const size_t n = begun_at(entry, entry->module.function_n, address, function_start);
    if (n && address < entry->module.function[n - 1].end)
        out->function = (uint32_t)(n - 1);
}

static void find_name(const struct as_catalogue_entry *entry, uint64_t address,
                      struct as_catalogue_place *out)
{
    const size_t n = begun_at(entry, entry->name.n, address, name_start);
    if (n && address < entry->name.at[n - 1].end)
        out->function = (uint32_t)(n - 1);
}

void as_catalogue_find(const struct as_catalogue_module *module, uint64_t address,
                       struct as_catalogue_place *out)
{
    const struct as_catalogue_entry *entry = as_entry_of_const(module);
    *out = (struct as_catalogue_place){AS_NONE, AS_NONE, AS_NONE, AS_NONE, 0, AS_NONE};
    if (!module->object) {
        find_name(entry, address, out);
        if (module->kind == AS_MODULE_PYTHON && AS_PYTHON_LINE(address)) {
            out->file = 0;
            out->line = AS_PYTHON_LINE(address);
        }
        return;
    }
    if (module->program)
        find_block(entry, address, out);
    else
        find_function(entry, address, out);
    const struct as_line *line = as_debug_line_at(&module->debug, address);
    if (line && line->line && line->file != AS_NONE) {
        out->file = line->file;
        out->line = line->line;
    }
    if (!module->debug.inline_n)
        return;
    const uint32_t inlined = as_debug_inline_at(module->object, address);
    if (inlined != AS_NONE && module->debug.inlines[inlined].parent != AS_NONE)
        out->inlined = inlined;
}

uint32_t as_catalogue_find_loop(const struct as_catalogue_module *module, uint64_t address,
                                uint32_t depth)
{
    const struct as_catalogue_entry *entry = as_entry_of_const(module);
    const struct as_program *program = module->program;
    if (!program)
        return AS_NONE;
    /* Several functions may have their own copy of the block at this address. */
    for (size_t n = begun_at(entry, entry->by_start.n, address, block_start); n > 0; n--) {
        const uint32_t block = entry->by_start.at[n - 1];
        if (program->block[block].start != address)
            break;
        for (uint32_t at = program->block[block].loop; at != AS_NONE; at = program->loop[at].parent)
            if (program->loop[at].header == block && (!depth || program->loop[at].depth == depth))
                return at;
    }
    return AS_NONE;
}

/* ---- Functions ----------------------------------------------------------------------------- */

static const char *origin_word(unsigned origin)
{
    static const char *const word[] = {
        [AS_FUNCTION_SYMBOL] = "symbol", [AS_FUNCTION_PLT] = "plt",
        [AS_FUNCTION_DWARF] = "dwarf",   [AS_FUNCTION_UNWIND] = "unwind",
        [AS_FUNCTION_ENTRY] = "entry",
    };
    _Static_assert(sizeof word / sizeof *word == AS_FUNCTION_ENTRY + 1,
                   "an entry for each of the enumeration");
    assert((unsigned)origin < sizeof word / sizeof *word);
    return word[origin];
}

static void of_function(const struct as_catalogue_module *module, uint32_t index,
                        struct as_catalogue_function *out)
{
    const struct as_function *function = &module->function[index];
    out->linkage_name = function->name;
    out->start = function->start;
    out->size_b = function->end - function->start;
    out->unit = function->unit;
    out->file = function->decl_file;
    out->line = function->decl_line;
    out->known_from = origin_word(function->origin);
}

uint32_t as_catalogue_function_n(const struct as_catalogue_module *module)
{
    return (uint32_t)(!module->object   ? module->named
                      : module->program ? module->program->body_n
                                        : module->function_n);
}

const struct as_inline *as_catalogue_inlined(const struct as_catalogue_module *module,
                                             uint32_t inlined)
{
    const struct as_debug *debug = &module->debug;
    const bool is_call = inlined < debug->inline_n && debug->inlines[inlined].parent != AS_NONE;
    return is_call ? &debug->inlines[inlined] : NULL;
}

void as_catalogue_function_get(const struct as_catalogue_module *module, uint32_t function,
                               struct as_catalogue_function *out)
{
    *out = (struct as_catalogue_function){.unit = AS_NONE, .file = AS_NONE};
    if (!module->object) {
        const struct as_catalogue_name *name = &as_entry_of_const(module)->name.at[function];
        out->linkage_name = name->name;
        out->start = name->start;
        out->size_b = name->end - name->start;
        out->known_from = module->kind == AS_MODULE_ANON     ? "jit"
                          : module->kind == AS_MODULE_PYTHON ? "python"
                                                             : "symbol";
        if (module->kind == AS_MODULE_PYTHON && name->start >> 36) {
            out->file = 0;
            out->line = (uint32_t)(name->start >> 36);
        }
        return;
    }
    if (!module->program) {
        of_function(module, function, out);
        return;
    }
    const struct as_body *body = &module->program->body[function];
    if (body->function != AS_NONE)
        of_function(module, body->function, out);
    out->linkage_name = body->name;
    out->start = body->entry;
    out->size_b = body->size_b;
    out->known_from = origin_word(body->origin);
}
