/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the stubs of the procedure linkage table. Every stub jumps through a slot of the global
 * offset table, and the relocation of the slot names the function. This works for lazy and non-lazy
 * tables, with and without IBT, and for indirect functions of static programs. The entries may have
 * any order. Source: AMD64 supplement, "Procedure Linkage Table".
 */
#include "object/plt.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/vec.h"
#include "object/internal.h"
#include "object/order.h"

#define STUB_STEP_B 8u /* alignment of stubs from the start of their section */

/* A slot that the loader fills with the address of a function. */
struct plt_slot {
    const char *name; /* NULL: the symbol at `resolver` gives the name */
    uint64_t resolver;
};

struct plt_search {
    struct as_object *object;
    AS_VEC(struct plt_slot) slots;
    AS_VEC(struct as_keyed) by_address; /* addresses and indices of the slots, sorted */
    AS_VEC(struct as_plt_entry) found;
    AS_VEC(uint64_t) found_resolver; /* of found[i]; 0 = the slot has a name */
};

static int collect_plt_slots(struct plt_search *s)
{
    const struct as_object *object = s->object;
    Elf64_Rela rela;
    for (size_t t = 0; t < object->relocations_n; t++) {
        for (uint64_t i = 0; as_relocation_get(&object->relocations[t], i, &rela); i++) {
            uint64_t type = ELF64_R_TYPE(rela.r_info);
            Elf64_Sym symbol;
            struct plt_slot slot = {0};
            if (type == R_X86_64_IRELATIVE)
                slot.resolver = (uint64_t)rela.r_addend;
            else if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
                continue;
            else if (!as_symtab_get(&object->dynsym, ELF64_R_SYM(rela.r_info), &symbol,
                                    &slot.name) ||
                     !slot.name[0])
                continue;
            AS_TRY(as_vec_push(&s->by_address,
                               (struct as_keyed){rela.r_offset, (uint32_t)s->slots.n}));
            AS_TRY(as_vec_push(&s->slots, slot));
        }
    }
    size_t n = s->by_address.n;
    AS_TRY(as_vec_reserve(&s->by_address, 2 * n));
    as_order_by_key(s->by_address.at, n);
    return 0;
}

static const struct plt_slot *slot_at(const struct plt_search *s, uint64_t address)
{
    size_t low = as_first_not(i, s->by_address.n, s->by_address.at[i].key < address);
    assert(low + 1 >= s->by_address.n ||
           s->by_address.at[low].key <= s->by_address.at[low + 1].key);
    if (low == s->by_address.n || s->by_address.at[low].key != address)
        return NULL;
    return &s->slots.at[s->by_address.at[low].index];
}

/*
 * Returns the slot address of a stub: [endbr64] [mov $index,%r11d] [bnd] jmp *disp(%rip). Returns 0
 * if the code at `p` is not a stub.
 */
static uint64_t stub_slot(const uint8_t *p, uint64_t n, uint64_t address)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint64_t i = 0;
    if (n >= 4 && memcmp(p, endbr64, 4) == 0)
        i = 4;
    if (n - i >= 6 && p[i] == 0x41 && p[i + 1] == 0xbb)
        i += 6;
    if (n - i >= 1 && p[i] == 0xf2)
        i++;
    if (n - i < 6 || p[i] != 0xff || p[i + 1] != 0x25)
        return 0;
    int32_t displacement;
    memcpy(&displacement, p + i + 2, sizeof displacement);
    return address + i + 6 + (uint64_t)(int64_t)displacement;
}

static int add_found(struct plt_search *s, const struct plt_slot *slot, uint64_t address,
                     uint64_t size_b)
{
    struct as_plt_entry entry = {.address = address, .size_b = size_b};
    if (slot->name) {
        size_t n = strlen(slot->name);
        char *name = as_arena_alloc(&s->object->arena, n + sizeof "@plt", 1);
        if (!name)
            return AS_ERR_NOMEM;
        memcpy(name, slot->name, n);
        memcpy(name + n, "@plt", sizeof "@plt");
        entry.name = name;
    }
    AS_TRY(as_vec_push(&s->found_resolver, slot->name ? 0 : slot->resolver));
    return as_vec_push(&s->found, entry);
}

/* Returns the size of a stub: 8 bytes for "jmp *disp(%rip); xchg %ax,%ax", 16 for all others. */
static uint64_t stub_size(const uint8_t *p, uint64_t n)
{
    bool is_short = n >= 8 && p[0] == 0xff && p[1] == 0x25 && p[6] == 0x66 && p[7] == 0x90;
    uint64_t size_b = is_short ? STUB_STEP_B : 2 * STUB_STEP_B;
    return size_b < n ? size_b : n;
}

static int scan(struct plt_search *s, const uint8_t *p, uint64_t n, uint64_t address)
{
    for (uint64_t at = 0; at < n; at += STUB_STEP_B) {
        uint64_t target = stub_slot(p + at, n - at, address + at);
        const struct plt_slot *slot = target ? slot_at(s, target) : NULL;
        if (slot)
            AS_TRY(add_found(s, slot, address + at, stub_size(p + at, n - at)));
    }
    return 0;
}

static int scan_object(struct plt_search *s)
{
    const struct as_object *object = s->object;
    for (uint32_t i = 1; i < object->section_n; i++) {
        const struct as_section *section = &object->section[i];
        if (section->exec && section->data &&
            (strncmp(section->name, ".plt", 4) == 0 || strncmp(section->name, ".iplt", 5) == 0))
            AS_TRY(scan(s, section->data, section->size_b, section->address));
    }
    for (size_t i = 0; object->section_n == 0 && i < object->segment_n; i++) {
        const struct as_segment *segment = &object->segment[i];
        uint64_t pad_b = -segment->address & (STUB_STEP_B - 1);
        if (segment->type == PT_LOAD && segment->exec && segment->file_b > pad_b)
            AS_TRY(scan(s, object->file.bytes + segment->offset + pad_b, segment->file_b - pad_b,
                        segment->address + pad_b));
    }
    return 0;
}

static char *resolver_name(struct plt_search *s, const char *symbol, uint64_t resolver)
{
    char buf[64];
    if (!symbol) {
        snprintf(buf, sizeof buf, "*ABS*+0x%" PRIx64 "@plt", resolver);
        return as_arena_strndup(&s->object->arena, buf, strlen(buf));
    }
    size_t n = strlen(symbol);
    char *name = as_arena_alloc(&s->object->arena, n + sizeof "@plt", 1);
    if (name) {
        memcpy(name, symbol, n);
        memcpy(name + n, "@plt", sizeof "@plt");
    }
    return name;
}

/* Returns true if `a` is the better name of a resolver. Preferred are symbols of indirect
 * functions, then global ones, then short names. */
static bool better(const struct as_symbol *a, const struct as_symbol *b)
{
    if ((a->kind == AS_SYMBOL_IFUNC) != (b->kind == AS_SYMBOL_IFUNC))
        return a->kind == AS_SYMBOL_IFUNC;
    if ((a->binding == AS_BIND_LOCAL) != (b->binding == AS_BIND_LOCAL))
        return b->binding == AS_BIND_LOCAL;
    size_t a_n = strlen(a->name), b_n = strlen(b->name);
    return a_n != b_n ? a_n < b_n : strcmp(a->name, b->name) < 0;
}

/* Gives the stubs of indirect functions the name of the symbol at their resolver. */
static int name_resolvers(struct plt_search *s, const struct as_symbol *symbols, size_t symbol_n)
{
    AS_VEC(struct as_keyed) wanted = {0};
    int rc = 0;
    for (size_t i = 0; i < s->found.n && rc == 0; i++)
        if (!s->found.at[i].name)
            rc = as_vec_push(&wanted, (struct as_keyed){s->found_resolver.at[i], (uint32_t)i});
    size_t n = wanted.n;
    const struct as_symbol **best = as_calloc(n, sizeof *best);
    if (rc == 0)
        rc = best ? as_vec_reserve(&wanted, 2 * n) : AS_ERR_NOMEM;
    if (rc == 0)
        as_order_by_key(wanted.at, n);
    for (size_t i = 0; rc == 0 && n && i < symbol_n; i++) {
        size_t low = as_first_not(at, n, wanted.at[at].key < symbols[i].address);
        for (; low < n && wanted.at[low].key == symbols[i].address; low++)
            if (!best[low] || better(&symbols[i], best[low]))
                best[low] = &symbols[i];
    }
    for (size_t i = 0; rc == 0 && i < n; i++) {
        char *name = resolver_name(s, best[i] ? best[i]->name : NULL, wanted.at[i].key);
        s->found.at[wanted.at[i].index].name = name;
        if (!name)
            rc = AS_ERR_NOMEM;
    }
    as_free(best);
    as_vec_fini(&wanted);
    return rc;
}

int as_plt_find(struct as_object *object, const struct as_symbol *symbols, size_t symbol_n,
                struct as_plt_entry **out, size_t *n)
{
    struct plt_search s = {.object = object};
    int rc = collect_plt_slots(&s);
    if (rc == 0 && s.slots.n)
        rc = scan_object(&s);
    if (rc == 0)
        rc = name_resolvers(&s, symbols, symbol_n);
    as_vec_fini(&s.slots);
    as_vec_fini(&s.by_address);
    as_vec_fini(&s.found_resolver);
    if (rc < 0)
        as_vec_fini(&s.found);
    *out = s.found.at;
    *n = s.found.n;
    return rc;
}
