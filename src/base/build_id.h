/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the build-id of an ELF64 file from its header, program headers and notes. The bytes come
 * from a file or from its image in memory, and are foreign. The functions are inline because the
 * agent library inside other programs uses them too. Source: System V gABI, "Note Section";
 * NT_GNU_BUILD_ID of the GNU linker.
 */
#ifndef AS_BASE_BUILD_ID_H
#define AS_BASE_BUILD_ID_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define AS_BUILD_ID_B 20u /* size of the longest build-id that the kernel reports */

/* Searches the notes in [p, p + n) for the build-id and copies at most `out_b` bytes of it to
 * `out`. Returns the full size of the build-id in bytes, or 0 if there is none. */
static inline size_t as_build_id_of_notes(const uint8_t *p, uint64_t n, uint64_t align_b,
                                          uint8_t *out, size_t out_b)
{
    while (p && n >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        memcpy(&note, p, sizeof note);
        uint64_t pad = align_b == 8 ? 7 : 3;
        uint64_t name_b = ((uint64_t)note.n_namesz + sizeof note + pad) / (pad + 1) * (pad + 1);
        uint64_t whole_b = (name_b + note.n_descsz + pad) / (pad + 1) * (pad + 1);
        if (name_b > n || note.n_descsz > n - name_b)
            return 0;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
            memcmp(p + sizeof note, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
            memcpy(out, p + name_b, note.n_descsz < out_b ? note.n_descsz : out_b);
            return note.n_descsz;
        }
        if (whole_b >= n)
            return 0;
        p += whole_b;
        n -= whole_b;
    }
    return 0;
}

/* Reads up to `n` bytes at `offset` of the file into `to`. Returns the number of bytes read. */
typedef size_t as_build_id_read(void *context, uint64_t offset, void *to, size_t n);

/* Copies the build-id of an ELF64 file to `out`. Returns its size in bytes. Returns 0 if there is
 * none or if it is longer than AS_BUILD_ID_B. `room` is a buffer for headers and notes; one page is
 * enough for usual files. */
static inline size_t as_build_id_find(as_build_id_read *read, void *context, uint8_t *room,
                                      size_t room_b, uint8_t out[AS_BUILD_ID_B])
{
    Elf64_Ehdr ehdr;
    const size_t n = read(context, 0, room, room_b);
    if (n < sizeof ehdr)
        return 0;
    memcpy(&ehdr, room, sizeof ehdr);
    if (memcmp(ehdr.e_ident, ELFMAG, SELFMAG) != 0 || ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
        ehdr.e_phentsize != sizeof(Elf64_Phdr) || ehdr.e_phoff > n)
        return 0;
    for (size_t i = 0; i < ehdr.e_phnum; i++) {
        const uint64_t at = ehdr.e_phoff + i * sizeof(Elf64_Phdr);
        Elf64_Phdr phdr;
        if (at + sizeof phdr > n)
            return 0;
        memcpy(&phdr, room + at, sizeof phdr);
        if (phdr.p_type != PT_NOTE)
            continue;
        size_t id_b = 0;
        if (phdr.p_offset < n && phdr.p_filesz <= n - phdr.p_offset) {
            id_b = as_build_id_of_notes(room + phdr.p_offset, phdr.p_filesz, phdr.p_align, out,
                                        AS_BUILD_ID_B);
        } else { /* the notes lie far behind the headers, so the buffer is filled again */
            const size_t most = phdr.p_filesz < room_b ? (size_t)phdr.p_filesz : room_b;
            const size_t got = read(context, phdr.p_offset, room, most);
            id_b = as_build_id_of_notes(room, got, phdr.p_align, out, AS_BUILD_ID_B);
            if (id_b == 0 && read(context, 0, room, n) != n)
                return 0;
        }
        if (id_b)
            return id_b <= AS_BUILD_ID_B ? id_b : 0;
    }
    return 0;
}

#endif
