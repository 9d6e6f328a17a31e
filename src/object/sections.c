/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the tables of sections and segments, assigns addresses to a relocatable file, and finds
 * the bytes at an address. A file without section headers is read by its segments. Source: System V
 * gABI, "Sections" and "Program Header".
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "object/internal.h"
#include "object/order.h"

static uint64_t align_up(uint64_t address, uint64_t align_b)
{
    return align_b > 1 ? (address + align_b - 1) & ~(align_b - 1) : address;
}

/* Assigns consecutive addresses to the loaded sections of a .o. */
static int lay_out(struct as_object *object, struct as_error *err)
{
    uint64_t at = AS_OBJECT_REL_BASE;
    for (uint32_t i = 1; i < object->section_n; i++) {
        struct as_section *section = &object->section[i];
        if (!section->alloc)
            continue;
        uint64_t from = align_up(at, object->file.shdr[i].sh_addralign);
        if (from < at || __builtin_add_overflow(from, section->size_b, &at))
            return as_error_set(err, AS_ERR_CORRUPT,
                                "%s: is corrupted: section %u (%s) of %" PRIu64
                                " bytes does not fit the address space; build or copy it again",
                                object->file.path, i, section->name, section->size_b);
        section->address = from;
    }
    return 0;
}

static bool is_exec(const struct as_section *section)
{
    return section->alloc && section->exec;
}

/* Sorts the loaded sections by address. Leaves .tbss out: it has no memory at its address, and
 * would hide the next section. */
static int index_by_address(struct as_object *object, struct as_error *err)
{
    size_t n = 0;
    struct as_keyed *keyed = as_malloc(2 * (object->section_n + 1) * sizeof *keyed);
    object->by_address = as_arena_array(&object->arena, uint32_t, object->section_n + 1);
    if (!keyed || !object->by_address) {
        as_free(keyed);
        return as_error_nomem(err, object->file.path);
    }
    for (uint32_t i = 1; i < object->section_n; i++) {
        const Elf64_Shdr *shdr = &object->file.shdr[i];
        bool tbss = (shdr->sh_flags & SHF_TLS) && shdr->sh_type == SHT_NOBITS;
        if (object->section[i].alloc && object->section[i].size_b && !tbss)
            keyed[n++] = (struct as_keyed){object->section[i].address, i};
    }
    as_order_by_key(keyed, n);
    for (size_t i = 0; i < n; i++)
        object->by_address[i] = keyed[i].index;
    object->by_address_n = n;
    as_free(keyed);
    for (size_t i = 1; i < n; i++) {
        const struct as_section *a = &object->section[object->by_address[i - 1]];
        const struct as_section *b = &object->section[object->by_address[i]];
        if (is_exec(a) && is_exec(b) && b->address - a->address < a->size_b)
            return as_error_set(err, AS_ERR_CORRUPT,
                                "%s: is corrupted: its code sections %s and %s overlap at address "
                                "0x%" PRIx64 "; build or copy it again",
                                object->file.path, a->name, b->name, b->address);
    }
    return 0;
}

static int load_segments(struct as_object *object, struct as_error *err)
{
    uint32_t n = object->file.phdr_n;
    object->segment = as_arena_array(&object->arena, struct as_segment, n + 1);
    if (!object->segment)
        return as_error_nomem(err, object->file.path);
    object->segment_n = n;
    for (uint32_t i = 0; i < n; i++) {
        const Elf64_Phdr *phdr = &object->file.phdr[i];
        object->segment[i] = (struct as_segment){
            .address = phdr->p_vaddr,
            .size_b = phdr->p_memsz,
            .file_b = phdr->p_filesz,
            .offset = phdr->p_offset,
            .type = phdr->p_type,
            .exec = phdr->p_flags & PF_X,
            .write = phdr->p_flags & PF_W,
            .read = phdr->p_flags & PF_R,
        };
    }
    return 0;
}

static uint64_t text_size(const struct as_object *object)
{
    uint64_t text_b = 0;
    for (uint32_t i = 1; i < object->section_n; i++)
        if (is_exec(&object->section[i]) && object->section[i].type != SHT_NOBITS)
            text_b += object->section[i].size_b;
    for (uint32_t i = 0; object->section_n == 0 && i < object->segment_n; i++)
        if (object->segment[i].type == PT_LOAD && object->segment[i].exec)
            text_b += object->segment[i].file_b;
    return text_b;
}

/* Marks the sections with functions that BOLT has moved; BOLT renames them. A function that it left
 * in place still has a symbol. Without a symbol table, both cannot be distinguished. */
static void mark_replaced(struct as_object *object)
{
    static const char prefix[] = ".bolt.org.";
    for (size_t i = 0; i < object->section_n && object->info.has_symtab; i++)
        object->section[i].replaced =
            strncmp(object->section[i].name, prefix, sizeof prefix - 1) == 0;
}

int as_object_load_sections(struct as_object *object, struct as_error *err)
{
    const struct as_file *file = &object->file;
    object->section = as_arena_array(&object->arena, struct as_section, file->shdr_n + 1);
    if (!object->section)
        return as_error_nomem(err, file->path);
    object->section_n = file->shdr_n;
    for (uint32_t i = 0; i < file->shdr_n; i++) {
        const Elf64_Shdr *shdr = &file->shdr[i];
        bool alloc = i && shdr->sh_type != SHT_NULL && (shdr->sh_flags & SHF_ALLOC);
        uint64_t size_b;
        const uint8_t *data = as_file_section_bytes(file, i, &size_b);
        object->section[i] = (struct as_section){
            .name = file->section_name[i],
            .address = alloc ? shdr->sh_addr : 0,
            .size_b = i ? shdr->sh_size : 0,
            .offset = shdr->sh_offset,
            .type = shdr->sh_type,
            .alloc = alloc,
            .exec = shdr->sh_flags & SHF_EXECINSTR,
            .write = shdr->sh_flags & SHF_WRITE,
            .compressed = shdr->sh_flags & SHF_COMPRESSED,
            .data = alloc ? data : NULL,
        };
        if (shdr->sh_type == SHT_SYMTAB)
            object->info.has_symtab = true;
    }
    mark_replaced(object);
    if (file->ehdr.e_type == ET_REL)
        AS_TRY(lay_out(object, err));
    AS_TRY(index_by_address(object, err));
    AS_TRY(load_segments(object, err));
    object->info.is_stripped = !object->info.has_symtab;
    object->info.text_b = text_size(object);
    return 0;
}

uint32_t as_object_section_at(const struct as_object *object, uint64_t address)
{
    size_t low = as_first_not(i, object->by_address_n,
                              object->section[object->by_address[i]].address <= address);
    assert(low < 2 || object->section[object->by_address[low - 2]].address <=
                          object->section[object->by_address[low - 1]].address);
    if (low == 0)
        return AS_NONE;
    uint32_t i = object->by_address[low - 1];
    return address - object->section[i].address < object->section[i].size_b ? i : AS_NONE;
}

uint64_t as_object_section_address(const struct as_object *object, uint32_t index)
{
    return index < object->section_n ? object->section[index].address : 0;
}

const uint8_t *as_object_bytes(const struct as_object *object, uint64_t address, uint64_t *size_b)
{
    uint32_t i = as_object_section_at(object, address);
    if (i != AS_NONE) {
        const struct as_section *section = &object->section[i];
        uint64_t skip_b = address - section->address;
        *size_b = section->data ? section->size_b - skip_b : 0;
        return section->data ? section->data + skip_b : NULL;
    }
    for (size_t s = 0; s < object->segment_n; s++) {
        const struct as_segment *segment = &object->segment[s];
        if (segment->type == PT_LOAD && address >= segment->address &&
            address - segment->address < segment->file_b) {
            uint64_t skip_b = address - segment->address;
            *size_b = segment->file_b - skip_b;
            return object->file.bytes + segment->offset + skip_b;
        }
    }
    *size_b = 0;
    return NULL;
}

uint64_t as_object_word_at(const struct as_object *object, uint64_t address)
{
    uint64_t have_b, word = 0;
    const uint8_t *p = as_object_bytes(object, address, &have_b);
    if (p && have_b >= sizeof word)
        memcpy(&word, p, sizeof word);
    return word;
}

size_t as_object_sections(const struct as_object *object, const struct as_section **out)
{
    *out = object->section;
    return object->section_n;
}

size_t as_object_segments(const struct as_object *object, const struct as_segment **out)
{
    *out = object->segment;
    return object->segment_n;
}

bool as_object_address_of(const struct as_object *object, uint64_t offset, uint64_t *address)
{
    const struct as_segment *segment;
    size_t n = as_object_segments(object, &segment);
    for (size_t i = 0; i < n; i++) {
        if (segment[i].type != 1 /* PT_LOAD */ || offset < segment[i].offset ||
            offset - segment[i].offset >= segment[i].file_b)
            continue;
        *address = segment[i].address + (offset - segment[i].offset);
        return true;
    }
    return false;
}
