/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The container of the DWARF entry: debug sections one after the other, each
 *     uint8_t  what;   file (main, .dwo, supplementary, .dwp) << 6 | section number of PACK_NAME
 *     uint8_t  size_b[3];  little endian
 *     uint8_t  bytes[size_b];
 * and how ELF files are made of it. The last section may be cut short; an unknown number is
 * skipped. seeds.py writes the same format.
 */
#ifndef TESTS_FUZZ_PACK_H
#define TESTS_FUZZ_PACK_H

#include <stddef.h>
#include <stdint.h>

#define PACK_FILES    4
#define PACK_SECTIONS 24
#define PACK_HEAD_B   4

struct pack_section {
    const uint8_t *bytes; /* into the container; NULL: not there */
    size_t size_b;
};

struct pack {
    struct pack_section section[PACK_FILES][PACK_SECTIONS];
};

void pack_read(const uint8_t *bytes, size_t size_b, struct pack *out);
/* An ELF file of one of the four; NULL when it has no section. The caller frees it. */
uint8_t *pack_elf(const struct pack *pack, unsigned file, size_t *size_b);

#endif
