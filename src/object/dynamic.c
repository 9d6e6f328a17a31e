/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the dynamic section: needed libraries, names, the dynamic symbol table, relocations, and
 * the functions that run before and after main. It uses PT_DYNAMIC as the loader does, so it needs
 * no section headers.
 * Source: System V gABI, "Dynamic Section"; GNU hash and RELR as glibc reads them.
 */
#include <inttypes.h>
#include <string.h>

#include "base/vec.h"
#include "object/identify.h"
#include "object/internal.h"

/* Returns the bytes of the dynamic table, from its segment, else from its section. */
static const uint8_t *dynamic_bytes(const struct as_file *file, uint64_t *size_b)
{
    for (uint32_t i = 0; i < file->phdr_n; i++) {
        if (file->phdr[i].p_type == PT_DYNAMIC) {
            *size_b = file->phdr[i].p_filesz;
            return file->bytes + file->phdr[i].p_offset;
        }
    }
    for (uint32_t i = 1; i < file->shdr_n; i++)
        if (file->shdr[i].sh_type == SHT_DYNAMIC)
            return as_file_section_bytes(file, i, size_b);
    *size_b = 0;
    return NULL;
}

/* Returns the string at `offset` of the dynamic string table; NULL if `offset` is outside. */
static const char *dynamic_string(const struct as_object *object, uint64_t offset)
{
    uint64_t have_b;
    const char *text = (const char *)as_object_bytes(object, object->dynamic.strtab, &have_b);
    if (object->dynamic.strsz < have_b)
        have_b = object->dynamic.strsz;
    if (!text || offset >= have_b || !memchr(text + offset, 0, have_b - offset))
        return NULL;
    return text + offset;
}

static void note_entry(struct as_dynamic *dynamic, const Elf64_Dyn *dyn)
{
    uint64_t value = dyn->d_un.d_val;
    switch (dyn->d_tag) {
    case DT_STRTAB:
        dynamic->strtab = value;
        break;
    case DT_STRSZ:
        dynamic->strsz = value;
        break;
    case DT_SYMTAB:
        dynamic->symtab = value;
        break;
    case DT_HASH:
        dynamic->hash = value;
        break;
    case DT_GNU_HASH:
        dynamic->gnu_hash = value;
        break;
    case DT_PLTGOT:
        dynamic->pltgot = value;
        break;
    case DT_RELA:
        dynamic->rela = value;
        break;
    case DT_RELASZ:
        dynamic->relasz = value;
        break;
    case DT_JMPREL:
        dynamic->jmprel = value;
        break;
    case DT_PLTRELSZ:
        dynamic->pltrelsz = value;
        break;
    case DT_INIT:
        dynamic->init = value;
        break;
    case DT_FINI:
        dynamic->fini = value;
        break;
    case DT_PREINIT_ARRAY:
        dynamic->array[0] = value;
        break;
    case DT_PREINIT_ARRAYSZ:
        dynamic->array_b[0] = value;
        break;
    case DT_INIT_ARRAY:
        dynamic->array[1] = value;
        break;
    case DT_INIT_ARRAYSZ:
        dynamic->array_b[1] = value;
        break;
    case DT_FINI_ARRAY:
        dynamic->array[2] = value;
        break;
    case DT_FINI_ARRAYSZ:
        dynamic->array_b[2] = value;
        break;
    case DT_FLAGS_1:
        dynamic->flags_1 = value;
        break;
    default:
        break;
    }
}

/* Reads the names in a second walk, because the entry of the string table may be the last one. */
static int load_names(struct as_object *object, const uint8_t *p, uint64_t n, struct as_error *err)
{
    struct as_object_info *info = &object->info;
    const char *rpath = NULL;
    size_t needed_n = 0;
    Elf64_Dyn dyn;
    for (uint64_t i = 0; i < n; i++) {
        memcpy(&dyn, p + i * sizeof dyn, sizeof dyn);
        needed_n += dyn.d_tag == DT_NEEDED;
    }
    object->needed = as_arena_array(&object->arena, const char *, needed_n + 1);
    if (!object->needed)
        return as_error_nomem(err, object->file.path);
    for (uint64_t i = 0; i < n; i++) {
        memcpy(&dyn, p + i * sizeof dyn, sizeof dyn);
        const char *name = dynamic_string(object, dyn.d_un.d_val);
        if (!name)
            continue;
        if (dyn.d_tag == DT_NEEDED)
            object->needed[object->needed_n++] = name;
        else if (dyn.d_tag == DT_SONAME)
            info->soname = name;
        else if (dyn.d_tag == DT_RUNPATH)
            info->runpath = name;
        else if (dyn.d_tag == DT_RPATH)
            rpath = name;
    }
    if (!info->runpath)
        info->runpath = rpath;
    return 0;
}

/* Returns the number of symbols by the GNU hash table: the end of the last chain. */
static uint64_t gnu_hash_symbols(const struct as_object *object)
{
    uint64_t have_b;
    const uint8_t *p = as_object_bytes(object, object->dynamic.gnu_hash, &have_b);
    uint32_t head[4]; /* buckets, first symbol, bloom words, shift */
    if (!p || have_b < sizeof head)
        return 0;
    memcpy(head, p, sizeof head);
    uint64_t buckets_at = sizeof head + 8 * (uint64_t)head[2];
    uint64_t chains_at = buckets_at + 4 * (uint64_t)head[0];
    if (chains_at > have_b)
        return 0;
    uint32_t last = 0, word;
    for (uint64_t i = buckets_at; i < chains_at; i += 4) {
        memcpy(&word, p + i, sizeof word);
        last = word > last ? word : last;
    }
    if (last < head[1])
        return head[1]; /* all chains are empty: only the symbols before the hashed ones exist */
    for (uint64_t i = last;; i++) {
        uint64_t at = chains_at + 4 * (i - head[1]);
        if (at > have_b || have_b - at < 4)
            return i;
        memcpy(&word, p + at, sizeof word);
        if (word & 1)
            return i + 1;
    }
}

static uint64_t hashed_symbols(const struct as_object *object)
{
    if (!object->dynamic.hash)
        return object->dynamic.gnu_hash ? gnu_hash_symbols(object) : 0;
    uint32_t head[2] = {0}; /* buckets, chains */
    uint64_t have_b;
    const uint8_t *p = as_object_bytes(object, object->dynamic.hash, &have_b);
    if (p && have_b >= sizeof head)
        memcpy(head, p, sizeof head);
    return head[1];
}

static void find_dynsym(struct as_object *object)
{
    for (uint32_t i = 1; i < object->file.shdr_n; i++) {
        if (object->file.shdr[i].sh_type == SHT_DYNSYM) {
            object->dynsym = as_file_symtab(&object->file, i);
            return;
        }
    }
    const struct as_dynamic *dynamic = &object->dynamic;
    uint64_t have_b, text_b;
    const uint8_t *at = as_object_bytes(object, dynamic->symtab, &have_b);
    const char *text = (const char *)as_object_bytes(object, dynamic->strtab, &text_b);
    if (!dynamic->symtab || !dynamic->strtab || !at || !text)
        return;
    uint64_t n = hashed_symbols(object);
    if (n > have_b / sizeof(Elf64_Sym))
        n = have_b / sizeof(Elf64_Sym);
    if (dynamic->strsz < text_b)
        text_b = dynamic->strsz;
    while (text_b && text[text_b - 1] != '\0')
        text_b--;
    object->dynsym = (struct as_symtab){.at = at, .n = n, .text = text, .text_b = text_b};
}

static void add_relocations(struct as_object *object, const uint8_t *at, uint64_t size_b)
{
    if (at && size_b >= sizeof(Elf64_Rela) && object->relocations_n < AS_RELOCATIONS_MOST)
        object->relocations[object->relocations_n++] =
            (struct as_relocations){.at = at, .n = size_b / sizeof(Elf64_Rela)};
}

static void add_relocations_at(struct as_object *object, uint64_t address, uint64_t size_b)
{
    uint64_t have_b;
    const uint8_t *at = address ? as_object_bytes(object, address, &have_b) : NULL;
    if (at)
        add_relocations(object, at, size_b < have_b ? size_b : have_b);
}

/* Finds the relocations that the loader applies. A static program has some for its indirect
 * functions, which are found by section. */
static void find_relocations(struct as_object *object)
{
    const struct as_dynamic *dynamic = &object->dynamic;
    add_relocations_at(object, dynamic->rela, dynamic->relasz);
    add_relocations_at(object, dynamic->jmprel, dynamic->pltrelsz);
    for (uint32_t i = 1; object->relocations_n == 0 && i < object->file.shdr_n; i++) {
        uint64_t size_b;
        const uint8_t *p = as_file_section_bytes(&object->file, i, &size_b);
        if (object->section[i].alloc && object->section[i].type == SHT_RELA)
            add_relocations(object, p, size_b);
    }
}

/* One array of function addresses in memory. */
struct array {
    uint64_t address, size_b;
};

struct init_list {
    AS_VEC(struct array) arrays;
    AS_VEC(uint64_t) slots; /* values, arrays one after the other */
};

static int add_array(struct as_object *object, struct init_list *list, uint64_t address,
                     uint64_t size_b)
{
    uint64_t have_b;
    const uint8_t *p = address ? as_object_bytes(object, address, &have_b) : NULL;
    if (!p)
        return 0;
    size_b = (size_b < have_b ? size_b : have_b) & ~(uint64_t)7;
    AS_TRY(as_vec_push(&list->arrays, (struct array){address, size_b}));
    for (uint64_t i = 0; i < size_b; i += 8) {
        uint64_t value;
        memcpy(&value, p + i, sizeof value);
        AS_TRY(as_vec_push(&list->slots, value));
    }
    return 0;
}

static int collect_init_arrays(struct as_object *object, struct init_list *list)
{
    const struct as_dynamic *dynamic = &object->dynamic;
    for (int i = 0; i < 3; i++)
        AS_TRY(add_array(object, list, dynamic->array[i], dynamic->array_b[i]));
    for (uint32_t i = 1; !dynamic->present && i < object->section_n; i++) {
        const struct as_section *section = &object->section[i];
        if (section->alloc && (section->type == SHT_PREINIT_ARRAY ||
                               section->type == SHT_INIT_ARRAY || section->type == SHT_FINI_ARRAY))
            AS_TRY(add_array(object, list, section->address, section->size_b));
    }
    return 0;
}

/* Sets the slots of a position-independent file to the values that the loader will write. */
static void relocate_slots(const struct as_object *object, struct init_list *list)
{
    Elf64_Rela rela;
    for (size_t t = 0; t < object->relocations_n && list->slots.n; t++) {
        for (uint64_t i = 0; as_relocation_get(&object->relocations[t], i, &rela); i++) {
            uint64_t *slot = list->slots.at;
            as_vec_foreach (&list->arrays, array) {
                uint64_t skip_b = rela.r_offset - array->address;
                if (rela.r_offset >= array->address && skip_b < array->size_b) {
                    Elf64_Sym symbol = {0};
                    const char *name;
                    uint64_t type = ELF64_R_TYPE(rela.r_info);
                    if (type == R_X86_64_64)
                        as_symtab_get(&object->dynsym, ELF64_R_SYM(rela.r_info), &symbol, &name);
                    if (type == R_X86_64_RELATIVE || type == R_X86_64_64)
                        slot[skip_b / 8] = symbol.st_value + (uint64_t)rela.r_addend;
                }
                slot += array->size_b / 8;
            }
        }
    }
}

static int load_init_functions(struct as_object *object, struct as_error *err)
{
    struct init_list list = {0};
    const struct as_dynamic *dynamic = &object->dynamic;
    int rc = collect_init_arrays(object, &list);
    relocate_slots(object, &list);
    size_t n = list.slots.n + 2;
    uint64_t *out = rc < 0 ? NULL : as_arena_array(&object->arena, uint64_t, n);
    if (out) {
        n = 0;
        if (dynamic->init)
            out[n++] = dynamic->init;
        /* Old start files have empty slots with 0 or -1. */
        as_vec_foreach (&list.slots, slot)
            if (*slot && *slot != UINT64_MAX)
                out[n++] = *slot;
        if (dynamic->fini)
            out[n++] = dynamic->fini;
        object->init_function = out;
        object->init_function_n = n;
    }
    as_vec_fini(&list.arrays);
    as_vec_fini(&list.slots);
    return out ? 0 : as_error_nomem(err, object->file.path);
}

static const char *interpreter(const struct as_file *file)
{
    for (uint32_t i = 0; i < file->phdr_n; i++) {
        const Elf64_Phdr *phdr = &file->phdr[i];
        if (phdr->p_type != PT_INTERP || !phdr->p_filesz)
            continue; /* the range of a segment without bytes was not checked */
        const char *name = (const char *)file->bytes + phdr->p_offset;
        if (memchr(name, 0, phdr->p_filesz))
            return name;
    }
    return NULL;
}

static enum as_object_type type_of(const struct as_object *object)
{
    switch (object->file.ehdr.e_type) {
    case ET_REL:
        return AS_OBJECT_RELOCATABLE;
    case ET_EXEC:
        return AS_OBJECT_EXECUTABLE;
    default:
        /* Linkers before binutils 2.26 do not set the flag. libc.so has an interpreter and a name.
         */
        if ((object->dynamic.flags_1 & DF_1_PIE) ||
            (object->info.interpreter && !object->info.soname))
            return AS_OBJECT_PIE;
        return AS_OBJECT_SHARED;
    }
}

int as_object_load_dynamic(struct as_object *object, struct as_error *err)
{
    struct as_object_info *info = &object->info;
    uint64_t size_b, n = 0;
    const uint8_t *p = dynamic_bytes(&object->file, &size_b);
    Elf64_Dyn dyn;
    for (; p && n < size_b / sizeof dyn; n++) {
        memcpy(&dyn, p + n * sizeof dyn, sizeof dyn);
        if (dyn.d_tag == DT_NULL)
            break;
        note_entry(&object->dynamic, &dyn);
    }
    object->dynamic.present = n > 0;
    AS_TRY(load_names(object, p, n, err));
    find_dynsym(object);
    find_relocations(object);
    info->interpreter = interpreter(&object->file);
    info->type = type_of(object);
    info->is_k1om = object->file.ehdr.e_machine == AS_MACHINE_K1OM;
    info->is_static = (info->type == AS_OBJECT_EXECUTABLE || info->type == AS_OBJECT_PIE) &&
                      !info->interpreter && object->needed_n == 0;
    return load_init_functions(object, err);
}

size_t as_object_needed(const struct as_object *object, const char *const **names)
{
    *names = object->needed;
    return object->needed_n;
}

size_t as_object_init_functions(const struct as_object *object, const uint64_t **out)
{
    *out = object->init_function;
    return object->init_function_n;
}
