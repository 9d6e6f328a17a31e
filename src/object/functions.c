/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the list of functions from, in order of trust: symbols, PLT stubs, DWARF subprograms,
 * unwind ranges, the entry point and the initialisation arrays. A source adds a function only at an
 * address that no source before it covers.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clone_suffix.h"
#include "base/search.h"
#include "base/vec.h"
#include "object/internal.h"
#include "object/known_code.h"
#include "object/order.h"

typedef AS_VEC(struct as_function) function_vec;

static bool in_code(const struct as_object *object, uint64_t address, uint32_t section)
{
    if (section != AS_NONE)
        return object->section[section].exec && object->section[section].alloc &&
               address - object->section[section].address < object->section[section].size_b;
    for (size_t i = 0; object->section_n == 0 && i < object->segment_n; i++)
        if (object->segment[i].type == PT_LOAD && object->segment[i].exec &&
            address - object->segment[i].address < object->segment[i].file_b)
            return true;
    return false;
}

/* Returns true if code without a symbol may run at `address`. */
static bool may_run(const struct as_object *object, uint64_t address)
{
    const uint32_t section = as_object_section_at(object, address);
    return in_code(object, address, section) &&
           !(section != AS_NONE && object->section[section].replaced);
}

/* Returns the end address of the section or segment that contains `address`. */
static uint64_t code_end(const struct as_object *object, uint64_t address)
{
    uint64_t have_b;
    uint32_t section = as_object_section_at(object, address);
    if (section != AS_NONE)
        return object->section[section].address + object->section[section].size_b;
    return as_object_bytes(object, address, &have_b) ? address + have_b : address;
}

/* Returns the index of the last unwind range that starts at or before `address`; AS_NONE if
 * there is none. */
static uint32_t unwind_at(const struct as_object *object, uint64_t address)
{
    size_t low = as_first_not(i, object->unwind_n, object->unwind[i].start <= address);
    assert(low < 2 || object->unwind[low - 2].start <= object->unwind[low - 1].start); /* sorted */
    return low ? (uint32_t)(low - 1) : AS_NONE;
}

/* Returns true if a symbol without type is a function of hand-written assembly: it is global, or an
 * unwind range starts there. Names that linkers define, such as _etext, are not functions. */
static bool is_function_label(const struct as_object *object, const struct as_symbol *symbol)
{
    static const char *const places[] = {"_etext", "etext", "__etext", "__executable_start",
                                         "__ehdr_start"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(symbol->name, places[i]) == 0)
            return false;
    if (symbol->binding != AS_BIND_LOCAL)
        return true;
    uint32_t i = unwind_at(object, symbol->address);
    return i != AS_NONE && object->unwind[i].start == symbol->address;
}

static bool is_function_symbol(const struct as_object *object, const struct as_symbol *symbol)
{
    switch (symbol->kind) {
    case AS_SYMBOL_FUNCTION:
    case AS_SYMBOL_IFUNC:
    case AS_SYMBOL_PLT:
        return in_code(object, symbol->address, symbol->section);
    case AS_SYMBOL_NOTYPE:
        return in_code(object, symbol->address, symbol->section) &&
               is_function_label(object, symbol);
    default:
        return false;
    }
}

/* Returns the rank of a symbol kind for the name of a function; 0 is best. */
static int kind_rank(const struct as_symbol *symbol)
{
    return symbol->kind == AS_SYMBOL_NOTYPE ? 2 : symbol->kind == AS_SYMBOL_PLT;
}

static int binding_rank(const struct as_symbol *symbol)
{
    return symbol->binding == AS_BIND_GLOBAL ? 0 : symbol->binding == AS_BIND_WEAK ? 1 : 2;
}

static bool preferred(const struct as_symbol *a, const struct as_symbol *b)
{
    if (kind_rank(a) != kind_rank(b))
        return kind_rank(a) < kind_rank(b);
    if (binding_rank(a) != binding_rank(b))
        return binding_rank(a) < binding_rank(b);
    if (a->hidden != b->hidden)
        return b->hidden;
    size_t a_n = strlen(a->name), b_n = strlen(b->name);
    return a_n != b_n ? a_n < b_n : strcmp(a->name, b->name) < 0;
}

/* Adds one function for each address with function symbols. `end` is 0 if no symbol has a size. */
static int add_symbols(const struct as_object *object, function_vec *out)
{
    const struct as_symbol *symbol = object->symbol;
    size_t end;
    for (size_t i = 0; i < object->symbol_n; i = end) {
        size_t best = object->symbol_n;
        uint32_t aliases = 0;
        uint64_t size_b = 0;
        for (end = i; end < object->symbol_n && symbol[end].address == symbol[i].address; end++) {
            if (!is_function_symbol(object, &symbol[end]))
                continue;
            size_b = symbol[end].size_b > size_b ? symbol[end].size_b : size_b;
            if (best == object->symbol_n || preferred(&symbol[end], &symbol[best]))
                best = end;
        }
        if (best == object->symbol_n)
            continue;
        /* One name may occur twice: local in .symtab and global in .dynsym. */
        for (size_t k = i; k < end; k++)
            aliases += is_function_symbol(object, &symbol[k]) &&
                       strcmp(symbol[k].name, symbol[best].name) != 0;
        uint64_t start = symbol[best].address, limit = code_end(object, start);
        AS_TRY(as_vec_push(
            out,
            (struct as_function){
                .name = symbol[best].name,
                .start = start,
                .end = size_b == 0              ? 0
                       : size_b > limit - start ? limit
                                                : start + size_b,
                .section = symbol[best].section,
                .aliases = aliases,
                .symbol = (uint32_t)best,
                .unit = AS_NONE,
                .decl_file = AS_NONE,
                .origin = symbol[best].kind == AS_SYMBOL_PLT ? AS_FUNCTION_PLT : AS_FUNCTION_SYMBOL,
                .is_part = as_clone_is_part(as_view_of(symbol[best].name)),
            }));
    }
    return 0;
}

/* Sorts the functions by start, stable. Errors: NOMEM. */
static int sort_functions(function_vec *functions)
{
    size_t n = functions->n;
    struct as_keyed *keyed = as_malloc(2 * (n + 1) * sizeof *keyed);
    struct as_function *sorted = as_malloc((n + 1) * sizeof *sorted);
    if (!keyed || !sorted) {
        as_free(keyed);
        as_free(sorted);
        return AS_ERR_NOMEM;
    }
    for (size_t i = 0; i < n; i++)
        keyed[i] = (struct as_keyed){functions->at[i].start, (uint32_t)i};
    as_order_by_key(keyed, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = functions->at[keyed[i].index];
    as_free(keyed);
    as_free(functions->at);
    functions->at = sorted;
    functions->cap = n + 1;
    return 0;
}

/*
 * Sets the end of functions with a symbol without size. That is the end of the unwind range around
 * the start, but not after the next function. Without a range, it is the next function or the end
 * of the section.
 */
static void close_ends(const struct as_object *object, function_vec *functions)
{
    for (size_t i = 0; i < functions->n; i++) {
        struct as_function *f = &functions->at[i];
        if (f->end)
            continue;
        uint32_t u = unwind_at(object, f->start);
        f->end = code_end(object, f->start);
        if (i + 1 < functions->n && functions->at[i + 1].start < f->end)
            f->end = functions->at[i + 1].start;
        if (u != AS_NONE && object->unwind[u].end > f->start && object->unwind[u].end < f->end)
            f->end = object->unwind[u].end;
    }
}

/* A function by a source without symbols. */
struct function_candidate {
    uint64_t start, end; /* end 0: unknown */
    const char *name;    /* NULL: derived from the address */
    uint8_t origin;
};

static int add_candidate(struct as_object *object, function_vec *out,
                         const struct function_candidate *candidate)
{
    const char *name =
        candidate->name ? candidate->name : as_known_code_name(object, candidate->start);
    if (!name) {
        char buf[32];
        snprintf(buf, sizeof buf, "func_%" PRIx64, candidate->start);
        name = as_arena_strndup(&object->arena, buf, strlen(buf));
        if (!name)
            return AS_ERR_NOMEM;
    }
    uint64_t limit = code_end(object, candidate->start);
    return as_vec_push(
        out, (struct as_function){
                 .name = name,
                 .start = candidate->start,
                 .end = candidate->end < limit ? candidate->end : limit,
                 .section = as_object_section_at(object, candidate->start),
                 .symbol = AS_NONE,
                 .unit = AS_NONE,
                 .decl_file = AS_NONE,
                 .origin = candidate->origin,
                 .is_part = candidate->name && as_clone_is_part(as_view_of(candidate->name)),
             });
}

/*
 * Adds the candidates that begin in code outside of all functions. `candidates` are sorted by
 * start. The functions are sorted too, but may overlap, so the loop keeps the max of their ends.
 */
static int add_uncovered(struct as_object *object, function_vec *functions,
                         const struct function_candidate *candidates, size_t n)
{
    size_t known = functions->n, f = 0;
    uint64_t covered = 0, last = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        const struct function_candidate *c = &candidates[i];
        for (; f < known && functions->at[f].start <= c->start; f++) {
            /* A function without end covers its first byte only. */
            uint64_t end = functions->at[f].end;
            end = end ? end : functions->at[f].start + 1;
            covered = end > covered ? end : covered;
        }
        if (c->start < covered || c->start == last || !may_run(object, c->start))
            continue;
        AS_TRY(add_candidate(object, functions, c));
        last = c->start;
        covered = c->end > covered ? c->end : covered;
    }
    return functions->n > known ? sort_functions(functions) : 0;
}

/* Returns true for the unwind range of the PLT, which covers all its stubs. */
static bool is_plt_range(const struct as_object *object, const struct as_unwind_range *range)
{
    uint32_t section = as_object_section_at(object, range->start);
    if (section != AS_NONE)
        return strncmp(object->section[section].name, ".plt", 4) == 0;
    /* push GOT+8(%rip); [bnd] jmp *GOT+16(%rip) */
    uint64_t have_b;
    const uint8_t *p = as_object_bytes(object, range->start, &have_b);
    return p && have_b >= 9 && p[0] == 0xff && p[1] == 0x35 &&
           ((p[6] == 0xff && p[7] == 0x25) || (p[6] == 0xf2 && p[7] == 0xff && p[8] == 0x25));
}

/* Returns the address of the first instruction of a range. The range of a signal return function
 * starts one byte early, because unwinders look up the return address minus 1. */
static uint64_t range_start(const struct as_object *object, const struct as_unwind_range *range)
{
    const bool early = range->signal_frame && range->end - range->start > 1 &&
                       as_known_code_name(object, range->start + 1);
    return range->start + early;
}

static void name_candidate(struct function_candidate *candidates, size_t n, uint64_t start,
                           const char *name)
{
    const size_t at = as_first_not(k, n, candidates[k].start < start);
    assert(at + 1 >= n || candidates[at].start <= candidates[at + 1].start); /* sorted */
    if (at < n && candidates[at].start == start)
        candidates[at].name = name;
}

/* Returns the start of the candidate with this name, or 0 if there is none. */
static uint64_t start_of_name(const struct function_candidate *candidates, size_t n,
                              const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (candidates[i].name && strcmp(candidates[i].name, name) == 0)
            return candidates[i].start;
    return 0;
}

/* Names the thread start function of libgomp, in which threads wait for the next region. */
static void name_thread_start(const struct as_object *object, const function_vec *functions,
                              struct function_candidate *candidates, size_t n)
{
    uint64_t create = 0, start;
    bool is_libgomp = false;
    as_vec_foreach (functions, f) {
        is_libgomp |= strcmp(f->name, "GOMP_parallel") == 0;
        if (f->origin == AS_FUNCTION_PLT && strcmp(f->name, "pthread_create@plt") == 0)
            create = f->start;
    }
    if (!is_libgomp || !create || (start = as_known_thread_start(object, create)) == 0)
        return;
    name_candidate(candidates, n, start, "gomp_thread_start");
    const uint64_t team_wait = start_of_name(candidates, n, "gomp_team_barrier_wait_end");
    const uint64_t dock = team_wait ? as_known_dock_wait(object, start, team_wait) : 0;
    if (dock)
        name_candidate(candidates, n, dock, "gomp_barrier_wait_end");
}

/* Names candidates that functions with a symbol jump to. */
static void name_by_jumps(const struct as_object *object, const function_vec *functions,
                          struct function_candidate *candidates, size_t n)
{
    as_vec_foreach (functions, f) {
        struct as_known_jump jump[AS_KNOWN_JUMPS];
        as_known_jumps(object, f->name, f->start, f->end, jump);
        for (size_t i = 0; i < AS_KNOWN_JUMPS && jump[i].address; i++)
            name_candidate(candidates, n, jump[i].address, jump[i].name);
    }
}

static int add_unwind(struct as_object *object, function_vec *functions)
{
    AS_VEC(struct function_candidate) candidates = {0};
    int rc = as_vec_reserve(&candidates, object->unwind_n);
    for (size_t i = 0; rc == 0 && i < object->unwind_n; i++) {
        const struct as_unwind_range *range = &object->unwind[i];
        if (!is_plt_range(object, range))
            candidates.at[candidates.n++] =
                (struct function_candidate){.start = range_start(object, range),
                                            .end = range->end,
                                            .origin = AS_FUNCTION_UNWIND};
    }
    if (rc == 0) {
        name_by_jumps(object, functions, candidates.at, candidates.n);
        name_thread_start(object, functions, candidates.at, candidates.n);
    }
    if (rc == 0)
        rc = add_uncovered(object, functions, candidates.at, candidates.n);
    as_vec_fini(&candidates);
    return rc;
}

static int compare_candidates(const void *left, const void *right)
{
    const struct function_candidate *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

static int add_entries(struct as_object *object, function_vec *functions)
{
    size_t n = 0;
    struct function_candidate *at = as_calloc(object->init_function_n + 1, sizeof *at);
    if (!at)
        return AS_ERR_NOMEM;
    if (object->info.entry)
        at[n++] =
            (struct function_candidate){.start = object->info.entry, .origin = AS_FUNCTION_ENTRY};
    for (size_t i = 0; i < object->init_function_n; i++)
        at[n++] = (struct function_candidate){.start = object->init_function[i],
                                              .origin = AS_FUNCTION_ENTRY};
    qsort(at, n, sizeof *at, compare_candidates);
    int rc = add_uncovered(object, functions, at, n);
    as_free(at);
    return rc;
}

/* ---- DWARF ------------------------------------------------------------------------------ */

/* Ranges of out-of-line subprograms, sorted by start. The index is that of the subprogram. */
typedef AS_VEC(struct as_keyed) keyed_vec;

static int subprogram_ranges(const struct as_debug *debug, keyed_vec *out)
{
    for (size_t r = 0; r < debug->range_n; r++)
        if (debug->inlines[debug->range[r].owner].parent == AS_NONE &&
            debug->range[r].end > debug->range[r].start)
            AS_TRY(as_vec_push(out, (struct as_keyed){debug->range[r].start, (uint32_t)r}));
    AS_TRY(as_vec_reserve(out, 2 * out->n));
    as_order_by_key(out->at, out->n);
    return 0;
}

static int add_subprograms(struct as_object *object, function_vec *functions,
                           const struct as_debug *debug, const keyed_vec *ranges)
{
    AS_VEC(struct function_candidate) candidates = {0};
    int rc = as_vec_reserve(&candidates, ranges->n);
    for (size_t i = 0; rc == 0 && i < ranges->n; i++) {
        const struct as_range *range = &debug->range[ranges->at[i].index];
        const char *name = debug->inlines[range->owner].name;
        candidates.at[candidates.n++] =
            (struct function_candidate){.start = range->start,
                                        .end = range->end,
                                        .name = name && name[0] ? name : NULL,
                                        .origin = AS_FUNCTION_DWARF};
    }
    if (rc == 0)
        rc = add_uncovered(object, functions, candidates.at, candidates.n);
    as_vec_fini(&candidates);
    return rc;
}

/* Sets the unit and the declaration of each function. Code without a subprogram (assembly) gets the
 * line of its first instruction. */
static void add_source(function_vec *functions, const struct as_debug *debug,
                       const keyed_vec *ranges)
{
    size_t next = 0;
    for (size_t i = 0; i < functions->n; i++) {
        struct as_function *f = &functions->at[i];
        while (next < ranges->n && ranges->at[next].key <= f->start)
            next++;
        const struct as_range *range = next ? &debug->range[ranges->at[next - 1].index] : NULL;
        if (range && f->start < range->end) {
            const struct as_inline *subprogram = &debug->inlines[range->owner];
            f->unit = subprogram->unit;
            f->decl_file = subprogram->decl_file;
            f->decl_line = subprogram->decl_line;
        }
        if (f->decl_line == 0 && f->origin != AS_FUNCTION_PLT) {
            const struct as_line *line = as_debug_line_at(debug, f->start);
            if (line && line->file != AS_NONE) {
                f->decl_file = line->file;
                f->decl_line = line->line;
            }
        }
    }
}

static int merge_functions(struct as_object *object, const struct as_debug *debug,
                           function_vec *functions)
{
    keyed_vec ranges = {0};
    int rc = as_vec_reserve(functions, object->symbol_n / 2 + object->unwind_n / 8);
    if (rc == 0)
        rc = add_symbols(object, functions);
    if (rc == 0)
        rc = subprogram_ranges(debug, &ranges);
    if (rc == 0)
        rc = add_subprograms(object, functions, debug, &ranges);
    if (rc == 0)
        rc = add_unwind(object, functions);
    if (rc == 0)
        rc = add_entries(object, functions);
    if (rc == 0) {
        close_ends(object, functions);
        add_source(functions, debug, &ranges);
    }
    as_vec_fini(&ranges);
    return rc;
}

int as_object_functions(struct as_object *object, bool with_source, const struct as_function **out,
                        size_t *n, struct as_error *err)
{
    *out = NULL;
    *n = 0;
    if (!object->function_made || (with_source && !object->function_with_source)) {
        struct as_debug debug = {0};
        function_vec functions = {0};
        if (with_source)
            AS_TRY(as_object_debug(object, AS_DEBUG_ALL, 0, &debug, NULL, err));
        if (merge_functions(object, &debug, &functions) < 0) {
            as_vec_fini(&functions);
            return as_error_nomem(err, object->info.path);
        }
        as_free(object->function);
        object->function = functions.at;
        object->function_n = functions.n;
        object->function_made = true;
        object->function_with_source = with_source;
    }
    *out = object->function;
    *n = object->function_n;
    return 0;
}
