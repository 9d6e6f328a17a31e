/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: call frame information. The input is
 *     uint8_t  how;        bit 0: no section headers, .eh_frame is found by its segment
 *     uint8_t  eh_b[2];    little endian: so many bytes are .eh_frame, the rest .debug_frame
 *     uint8_t  bytes[];
 * in an executable with its code at TEXT. Rows must keep the promises of object/object.h. Each row
 * is followed, with registers and memory of any value.
 */
#include "fuzz.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define TEXT   0x401000u
#define TEXT_B 64u
#define EH_AT  0x402000u /* where seeds, too, suppose .eh_frame */

static const char names[] = "\0.text\0.eh_frame\0.debug_frame\0.shstrtab";

struct image {
    Elf64_Ehdr ehdr;
    Elf64_Phdr phdr[3];
    Elf64_Shdr shdr[5];
    char names[sizeof names];
    uint8_t search[8]; /* .eh_frame_hdr without its table */
    uint8_t text[TEXT_B];
    uint8_t frames[];
};

static Elf64_Phdr segment(uint32_t type, uint32_t flags, uint64_t offset, uint64_t at, uint64_t n)
{
    return (Elf64_Phdr){.p_type = type,
                        .p_flags = flags,
                        .p_offset = offset,
                        .p_vaddr = at,
                        .p_paddr = at,
                        .p_filesz = n,
                        .p_memsz = n,
                        .p_align = 1};
}

static Elf64_Shdr section(uint32_t name, uint64_t flags, uint64_t at, uint64_t offset, uint64_t n)
{
    return (Elf64_Shdr){.sh_name = name,
                        .sh_type = SHT_PROGBITS,
                        .sh_flags = flags,
                        .sh_addr = at,
                        .sh_offset = offset,
                        .sh_size = n,
                        .sh_addralign = 1};
}

/* Section headers or, where there are none, the segment of the search table name the frames. */
static struct image *wrap(const uint8_t *bytes, size_t size_b, size_t eh_b, bool sections)
{
    struct image *it = calloc(1, sizeof *it + size_b);
    const uint64_t frames = offsetof(struct image, frames), text = offsetof(struct image, text);
    const uint64_t search = offsetof(struct image, search);
    const uint64_t search_at = EH_AT - (frames - search);
    const int32_t to_frames = (int32_t)(EH_AT - (search_at + 4));
    FUZZ_CHECK(it);
    it->ehdr = (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                            .e_type = ET_EXEC,
                            .e_machine = EM_X86_64,
                            .e_version = EV_CURRENT,
                            .e_entry = TEXT,
                            .e_phoff = offsetof(struct image, phdr),
                            .e_shoff = sections ? offsetof(struct image, shdr) : 0,
                            .e_ehsize = sizeof it->ehdr,
                            .e_phentsize = sizeof it->phdr[0],
                            .e_phnum = sections ? 2 : 3,
                            .e_shentsize = sizeof it->shdr[0],
                            .e_shnum = sections ? 5 : 0,
                            .e_shstrndx = sections ? 4 : 0};
    it->phdr[0] = segment(PT_LOAD, PF_R | PF_X, text, TEXT, TEXT_B);
    it->phdr[1] = segment(PT_LOAD, PF_R, frames, EH_AT, eh_b);
    it->phdr[2] = segment(PT_GNU_EH_FRAME, PF_R, search, search_at, sizeof it->search);
    it->shdr[1] = section(1, SHF_ALLOC | SHF_EXECINSTR, TEXT, text, TEXT_B);
    it->shdr[2] = section(7, SHF_ALLOC, EH_AT, frames, eh_b);
    it->shdr[3] = section(17, 0, 0, frames + eh_b, size_b - eh_b);
    it->shdr[4] = section(30, 0, 0, offsetof(struct image, names), sizeof names);
    it->shdr[4].sh_type = SHT_STRTAB;
    memcpy(it->names, names, sizeof names);
    it->search[0] = 1;
    it->search[1] = 0x1b; /* 4 bytes, relative to their place */
    it->search[2] = it->search[3] = 0xff;
    memcpy(it->search + 4, &to_frames, sizeof to_frames);
    memset(it->text, 0x90, TEXT_B);
    if (size_b)
        memcpy(it->frames, bytes, size_b);
    return it;
}

/* A word of any kind for every address but a few. */
static bool read_word(void *context, uint64_t address, uint64_t *word)
{
    uint64_t *reads = context;
    *word = address * 0x9e3779b97f4a7c15u;
    (*reads)++;
    return address % 16 != 15;
}

static void touch_expression(const struct as_object *object, const struct as_unwind_row *row,
                             int32_t value)
{
    size_t n;
    const uint8_t *bytes = as_object_unwind_expression(object, row, value, &n);
    if (bytes)
        fuzz_touch(bytes, n);
}

static void check_rules(const struct as_object *object, const struct as_unwind_row *row)
{
    for (unsigned i = 0; i < row->rule_n; i++) {
        const struct as_unwind_rule *rule = &row->rule[i];
        FUZZ_CHECK(rule->reg < AS_UNWIND_REGISTERS && (i == 0 || rule[-1].reg < rule->reg));
        FUZZ_CHECK(rule->kind <= AS_RULE_VAL_EXPRESSION);
        if (rule->kind == AS_RULE_REGISTER)
            FUZZ_CHECK(rule->value >= 0 && rule->value < AS_UNWIND_REGISTERS);
        if (rule->kind >= AS_RULE_EXPRESSION)
            touch_expression(object, row, rule->value);
    }
    if (row->cfa_kind == AS_CFA_EXPRESSION)
        touch_expression(object, row, row->cfa_value);
}

static void follow(const struct as_object *object, const struct as_unwind_row *row, uint64_t pc)
{
    struct as_unwind_frame frame = {.known = (1u << AS_UNWIND_REGISTERS) - 1};
    uint64_t reads = 0;
    for (unsigned i = 0; i < AS_UNWIND_REGISTERS; i++)
        frame.reg[i] = 0x7ffc0000 + 8 * i;
    frame.reg[AS_UNWIND_RA] = pc;
    const struct as_unwind_frame before = frame;
    enum as_unwind_result result = as_object_unwind_step(object, row, 0, &frame, read_word, &reads);
    FUZZ_CHECK(result <= AS_UNWIND_DAMAGED);
    FUZZ_CHECK(result == AS_UNWIND_CALLER || memcmp(&before, &frame, sizeof frame) == 0);
    FUZZ_CHECK(result != AS_UNWIND_CALLER || frame.known >> AS_UNWIND_RA & 1);
}

static void ask(struct as_object *object, uint64_t address)
{
    const struct as_unwind_row *row;
    struct as_error err = {0};
    FUZZ_CHECK(as_object_unwind_row(object, address, &row, &err) == 0);
    if (!row)
        return;
    FUZZ_CHECK(row->start <= address && address - row->start < row->size_b);
    FUZZ_CHECK(row->cfa_kind <= AS_CFA_EXPRESSION && row->rule_n <= AS_UNWIND_REGISTERS);
    FUZZ_CHECK(row->cfa_kind != AS_CFA_REGISTER || row->cfa_register < AS_UNWIND_REGISTERS);
    check_rules(object, row);
    follow(object, row, address);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct as_object *object = NULL;
    struct as_error err = {0};
    if (size_b < 3)
        return 0;
    const size_t said = (size_t)bytes[1] | (size_t)bytes[2] << 8, left = size_b - 3;
    const size_t eh_b = said < left ? said : left;
    struct image *image = wrap(bytes + 3, left, eh_b, !(bytes[0] & 1));
    int rc = as_object_open_memory((const uint8_t *)image, sizeof *image + left, "fuzzed", NULL,
                                   &object, &err);
    if (rc < 0) {
        fuzz_check_error(rc, &err);
    } else {
        const struct as_unwind_range *range;
        const size_t n = as_object_unwind_ranges(object, &range);
        for (size_t i = 0; i < n && i < 16; i++) {
            FUZZ_CHECK(range[i].start <= range[i].end);
            ask(object, range[i].start);
            ask(object, range[i].end - 1);
        }
        for (uint64_t at = TEXT - 1; at < TEXT + TEXT_B + 1; at++)
            ask(object, at);
        ask(object, 0);
        ask(object, UINT64_MAX);
    }
    as_object_close(&object);
    free(image);
    return 0;
}
