/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the symbol table, sorted by address, from .symtab, .dynsym and names of PLT stubs. The
 * .symtab may be in the separate debug file. Version suffixes are removed. Names without a suffix
 * point into the mapped files. Source: System V gABI, "Symbol Table".
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/vec.h"
#include "object/internal.h"
#include "object/order.h"
#include "object/plt.h"

/* Max symbols before an address that are searched for the one that contains it. */
enum { DATA_TRIES = 4 };

/* Symbols gathered before they are sorted. */
struct symbol_collection {
    struct as_object *object;
    AS_VEC(struct as_symbol) symbols;
    bool out_of_memory;
};

static uint8_t kind_of(const Elf64_Sym *symbol)
{
    switch (ELF64_ST_TYPE(symbol->st_info)) {
    case STT_FUNC:
        return AS_SYMBOL_FUNCTION;
    case STT_GNU_IFUNC:
        return AS_SYMBOL_IFUNC;
    case STT_OBJECT:
        return AS_SYMBOL_OBJECT;
    case STT_TLS:
        return AS_SYMBOL_TLS;
    case STT_NOTYPE:
        return AS_SYMBOL_NOTYPE;
    default:
        return AS_SYMBOL_OTHER;
    }
}

static uint8_t binding_of(const Elf64_Sym *symbol)
{
    switch (ELF64_ST_BIND(symbol->st_info)) {
    case STB_LOCAL:
        return AS_BIND_LOCAL;
    case STB_WEAK:
        return AS_BIND_WEAK;
    default: /* also STB_GNU_UNIQUE */
        return AS_BIND_GLOBAL;
    }
}

/* Returns the name without its version: "memcpy" for "memcpy@@GLIBC_2.14". */
static const char *without_version(struct symbol_collection *g, const char *name)
{
    const char *at = strchr(name, '@');
    if (!at || at == name)
        return name;
    const char *copy = as_arena_strndup(&g->object->arena, name, (size_t)(at - name));
    g->out_of_memory |= !copy;
    return copy;
}

/* Sets *section to the section of a symbol. Returns false if the symbol is not defined. */
static bool section_of(const struct symbol_collection *g, const struct as_symtab *table,
                       uint64_t index, const Elf64_Sym *symbol, bool foreign, uint32_t *section)
{
    uint32_t i = symbol->st_shndx;
    *section = AS_NONE;
    if (i == SHN_XINDEX && index < table->more_n)
        memcpy(&i, table->more + index * sizeof i, sizeof i);
    else if (i == SHN_ABS)
        return true;
    else if (i == SHN_UNDEF || i >= SHN_LORESERVE)
        return false; /* a SHN_COMMON symbol has no address yet */
    if (foreign || g->object->section_n == 0)
        *section = as_object_section_at(g->object, symbol->st_value);
    else if (i < g->object->section_n)
        *section = i;
    return true;
}

/* Adds the defined symbols of a table. `foreign`: the table is in the separate debug file, which
 * has other section indices. Errors: NOMEM. */
static int collect_symbols(struct symbol_collection *g, const struct as_symtab *table, bool dynamic,
                           bool foreign)
{
    struct as_object *object = g->object;
    bool relocatable = object->file.ehdr.e_type == ET_REL;
    size_t undefined = 0;
    Elf64_Sym symbol;
    const char *name;
    AS_TRY(as_vec_reserve(&g->symbols, g->symbols.n + table->n));
    for (uint64_t i = 1; as_symtab_get(table, i, &symbol, &name); i++) {
        unsigned type = ELF64_ST_TYPE(symbol.st_info);
        uint32_t section;
        if (!name[0] || type == STT_FILE || type == STT_SECTION)
            continue;
        undefined += symbol.st_shndx == SHN_UNDEF;
        if (!section_of(g, table, i, &symbol, foreign, &section))
            continue;
        if (relocatable && section != AS_NONE && type != STT_TLS)
            symbol.st_value += object->section[section].address;
        unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
        assert(g->symbols.at);
        g->symbols.at[g->symbols.n++] = (struct as_symbol){
            .name = dynamic ? name : without_version(g, name),
            .address = symbol.st_value,
            .size_b = symbol.st_size,
            .section = section,
            .kind = kind_of(&symbol),
            .binding = binding_of(&symbol),
            .dynamic = dynamic,
            .hidden = visibility == STV_HIDDEN || visibility == STV_INTERNAL,
        };
    }
    if (!dynamic || object->counts.symtab == 0)
        object->counts.undefined = undefined;
    return g->out_of_memory ? AS_ERR_NOMEM : 0;
}

static int collect_symtabs(struct symbol_collection *g)
{
    struct as_object *object = g->object;
    const struct as_file *files[] = {&object->file, &object->debug_file};
    for (size_t f = 0; f < 2; f++) {
        for (uint32_t i = 1; i < files[f]->shdr_n; i++) {
            if (files[f]->shdr[i].sh_type != SHT_SYMTAB)
                continue;
            struct as_symtab table = as_file_symtab(files[f], i);
            object->info.has_symtab = true;
            object->counts.symtab = table.n ? table.n - 1 : 0;
            return collect_symbols(g, &table, false, f == 1);
        }
    }
    return 0;
}

/* Returns the rank of a binding: 0 global, 1 weak, 2 local. */
static int binding_rank(const struct as_symbol *symbol)
{
    return symbol->binding == AS_BIND_GLOBAL ? 0 : symbol->binding == AS_BIND_WEAK ? 1 : 2;
}

/* Compares two symbols at one address. */
static int compare_symbols(const void *left, const void *right)
{
    const struct as_symbol *a = left, *b = right;
    if (a->size_b != b->size_b)
        return a->size_b > b->size_b ? -1 : 1;
    if (binding_rank(a) != binding_rank(b))
        return binding_rank(a) - binding_rank(b);
    int order = strcmp(a->name, b->name);
    return order ? order : a->dynamic - b->dynamic;
}

/* Returns true if both are one symbol, from two tables or with two versions. */
static bool same_symbol(const struct as_symbol *a, const struct as_symbol *b)
{
    return a->address == b->address && a->size_b == b->size_b && a->kind == b->kind &&
           binding_rank(a) == binding_rank(b) && strcmp(a->name, b->name) == 0;
}

static int store_sorted_symbols(struct symbol_collection *g)
{
    struct as_object *object = g->object;
    size_t n = g->symbols.n;
    struct as_keyed *keyed = as_malloc(2 * (n + 1) * sizeof *keyed);
    struct as_symbol *out =
        as_arena_alloc(&object->arena, (n + 1) * sizeof *out, _Alignof(struct as_symbol));
    if (!keyed || !out) {
        as_free(keyed);
        return AS_ERR_NOMEM;
    }
    for (size_t i = 0; i < n; i++)
        keyed[i] = (struct as_keyed){g->symbols.at[i].address, (uint32_t)i};
    as_order_by_key(keyed, n);
    for (size_t i = 0; i < n; i++)
        out[i] = g->symbols.at[keyed[i].index];
    as_free(keyed);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && out[end].address == out[i].address;)
            end++;
        if (end - i > 1)
            qsort(out + i, end - i, sizeof *out, compare_symbols);
    }
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || !same_symbol(&out[kept - 1], &out[i]))
            out[kept++] = out[i];
    object->symbol = out;
    object->symbol_n = kept;
    return 0;
}

static void count_symbols(struct as_object *object)
{
    for (size_t i = 0; i < object->symbol_n; i++) {
        switch (object->symbol[i].kind) {
        case AS_SYMBOL_FUNCTION:
        case AS_SYMBOL_IFUNC:
            object->counts.functions++;
            break;
        case AS_SYMBOL_OBJECT:
            object->counts.objects++;
            break;
        case AS_SYMBOL_PLT:
            object->counts.plt++;
            break;
        default:
            break;
        }
    }
}

static int collect_plt_symbols(struct symbol_collection *g)
{
    struct as_plt_entry *entry;
    size_t n;
    /* In a static program, the symbols collected so far give the names of resolvers. */
    AS_TRY(as_plt_find(g->object, g->symbols.at, g->symbols.n, &entry, &n));
    int rc = as_vec_reserve(&g->symbols, g->symbols.n + n);
    for (size_t i = 0; rc == 0 && i < n; i++)
        g->symbols.at[g->symbols.n++] = (struct as_symbol){
            .name = entry[i].name,
            .address = entry[i].address,
            .size_b = entry[i].size_b,
            .section = as_object_section_at(g->object, entry[i].address),
            .kind = AS_SYMBOL_PLT,
            .binding = AS_BIND_LOCAL,
        };
    as_free(entry);
    return rc;
}

int as_object_load_symbols(struct as_object *object, struct as_error *err)
{
    struct symbol_collection g = {.object = object};
    int rc = collect_symtabs(&g);
    object->counts.dynsym = object->dynsym.n ? object->dynsym.n - 1 : 0;
    if (rc == 0)
        rc = collect_symbols(&g, &object->dynsym, true, false);
    if (rc == 0)
        rc = collect_plt_symbols(&g);
    if (rc == 0)
        rc = store_sorted_symbols(&g);
    as_vec_fini(&g.symbols);
    if (rc < 0)
        return as_error_nomem(err, object->file.path);
    count_symbols(object);
    return 0;
}

size_t as_object_symbols(const struct as_object *object, const struct as_symbol **out)
{
    *out = object->symbol;
    return object->symbol_n;
}

uint32_t as_object_data_symbol(const struct as_object *object, uint64_t address)
{
    const struct as_symbol *symbol = object->symbol;
    size_t at = as_first_not(k, object->symbol_n, symbol[k].address <= address);
    assert(at < 2 || symbol[at - 2].address <= symbol[at - 1].address); /* symbols ascend */
    for (unsigned tries = 0; at-- > 0 && tries < DATA_TRIES; tries++) {
        if (symbol[at].kind == AS_SYMBOL_OBJECT && address - symbol[at].address < symbol[at].size_b)
            return (uint32_t)at;
    }
    return AS_NONE;
}

void as_object_symbol_counts(const struct as_object *object, struct as_symbol_counts *counts)
{
    *counts = object->counts;
}
