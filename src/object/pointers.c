/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds code addresses in data: entries of absolute jump tables, values of labels, tables of
 * functions. In a file that the loader relocates, they are relocations. In other files, every
 * aligned word with the value of a code address counts.
 * Source: AMD64 supplement, table 4.9; generic ABI, "Relative relocation table" (SHT_RELR).
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "object/internal.h"

#ifndef SHT_RELR
#define SHT_RELR 19
#endif

typedef AS_VEC(struct as_pointer) pointers;
typedef AS_VEC(struct as_import) imports;

static int add_pointer(const struct as_object *object, pointers *out, uint64_t at, uint64_t target)
{
    uint32_t section = as_object_section_at(object, target);
    if (section != AS_NONE ? !object->section[section].exec : target == 0)
        return 0;
    if (section == AS_NONE) { /* without sections, the segments decide */
        size_t i = 0;
        while (i < object->segment_n &&
               !(object->segment[i].exec &&
                 target - object->segment[i].address < object->segment[i].file_b))
            i++;
        if (i == object->segment_n)
            return 0;
    }
    return as_vec_push(out, (struct as_pointer){.at = at, .target = target});
}

static int add_relocations(const struct as_object *object, pointers *out, imports *foreign)
{
    Elf64_Rela rela;
    for (size_t t = 0; t < object->relocations_n; t++) {
        for (uint64_t i = 0; as_relocation_get(&object->relocations[t], i, &rela); i++) {
            uint64_t target = (uint64_t)rela.r_addend;
            Elf64_Sym symbol;
            const char *name;
            switch (ELF64_R_TYPE(rela.r_info)) {
            case R_X86_64_RELATIVE:
                break;
            case R_X86_64_64:
            case R_X86_64_GLOB_DAT:
            case R_X86_64_JUMP_SLOT:
                if (!as_symtab_get(&object->dynsym, ELF64_R_SYM(rela.r_info), &symbol, &name))
                    continue;
                if (symbol.st_shndx == SHN_UNDEF) {
                    if (name[0])
                        AS_TRY(as_vec_push(foreign, (struct as_import){rela.r_offset, name}));
                    continue;
                }
                target += symbol.st_value;
                break;
            default:
                continue;
            }
            AS_TRY(add_pointer(object, out, rela.r_offset, target));
        }
    }
    return 0;
}

/* Adds packed relative relocations. An even word is an address, an odd word a bitmap of the next 63
 * words. */
static int add_relr(const struct as_object *object, pointers *out)
{
    for (uint32_t s = 1; s < object->file.shdr_n; s++) {
        uint64_t size_b;
        const uint8_t *p = object->file.shdr[s].sh_type == SHT_RELR
                               ? as_file_section_bytes(&object->file, s, &size_b)
                               : NULL;
        uint64_t next = 0;
        for (uint64_t i = 0; p && i + 8 <= size_b; i += 8) {
            uint64_t word;
            memcpy(&word, p + i, sizeof word);
            if (!(word & 1)) {
                AS_TRY(add_pointer(object, out, word, as_object_word_at(object, word)));
                next = word + 8;
                continue;
            }
            for (unsigned bit = 1; bit < 64; bit++) {
                uint64_t at = next + 8 * (bit - 1);
                if (word >> bit & 1)
                    AS_TRY(add_pointer(object, out, at, as_object_word_at(object, at)));
            }
            next += (uint64_t)63 * 8;
        }
    }
    return 0;
}

static int add_words(const struct as_object *object, pointers *out)
{
    for (size_t s = 0; s < object->section_n; s++) {
        const struct as_section *section = &object->section[s];
        if (!section->alloc || section->exec || !section->data || section->type != SHT_PROGBITS)
            continue;
        uint64_t start = (8 - section->address % 8) % 8;
        for (uint64_t i = start; section->size_b >= 8 && i <= section->size_b - 8; i += 8) {
            uint64_t word;
            memcpy(&word, section->data + i, sizeof word);
            if (word)
                AS_TRY(add_pointer(object, out, section->address + i, word));
        }
    }
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct as_pointer *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static int by_slot(const void *a, const void *b)
{
    const struct as_import *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

int as_object_pointers(const struct as_object *object, struct as_pointers *out,
                       struct as_error *err)
{
    pointers all = {0};
    imports foreign = {0};
    *out = (struct as_pointers){0};
    int rc = add_relocations(object, &all, &foreign);
    if (rc == 0)
        rc = add_relr(object, &all);
    if (rc == 0 &&
        (object->info.type == AS_OBJECT_EXECUTABLE || object->info.type == AS_OBJECT_RELOCATABLE))
        rc = add_words(object, &all);
    if (rc < 0) {
        as_vec_fini(&all);
        as_vec_fini(&foreign);
        return as_error_nomem(err, "addresses of code in data");
    }
    if (all.n)
        qsort(all.at, all.n, sizeof *all.at, by_place);
    for (size_t i = 0; i < all.n; i++) {
        if (out->n == 0 || all.at[out->n - 1].at != all.at[i].at)
            all.at[out->n++] = all.at[i];
    }
    out->pointer = all.at;
    if (foreign.n)
        qsort(foreign.at, foreign.n, sizeof *foreign.at, by_slot);
    out->import = foreign.at;
    out->import_n = foreign.n;
    return 0;
}

void as_pointers_free(struct as_pointers *list)
{
    as_free(list->pointer);
    as_free(list->import);
    *list = (struct as_pointers){0};
}
