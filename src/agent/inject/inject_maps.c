/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is mapped in a process that runs: which files are there to be executed, told as their loader
 * would (none is asked, so that it may be any), and where a system call can be made.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/inject/inject_internal.h"

#define MAPPED_MOST   65536u
#define SEGMENTS_MOST 64u
#define PATH_B        1024u
#define LOOK_B        65536u

struct mapped {
    uint64_t start, end, offset;
    bool is_code, is_vdso;
    char path[PATH_B]; /* "": no file */
};

static struct mapped *mapped;
static unsigned mapped_n;

/* ---- Reading --------------------------------------------------------------------------------- */

static uint64_t hexadecimal(const char **at)
{
    uint64_t value = 0;
    for (;; (*at)++) {
        const char c = **at;
        if (c >= '0' && c <= '9')
            value = value * 16 + (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value * 16 + (uint64_t)(c - 'a') + 10;
        else
            return value;
    }
}

/* "START-END RIGHTS OFFSET DEVICE INODE PATH" */
static void parse_mapping_line(const char *at)
{
    if (mapped_n == MAPPED_MOST)
        return;
    struct mapped *it = &mapped[mapped_n++];
    it->start = hexadecimal(&at);
    at += *at == '-';
    it->end = hexadecimal(&at);
    it->is_code = *at && strnlen(at, 5) == 5 && at[3] == 'x';
    const char *offset = strnlen(at, 6) == 6 ? at + 6 : "";
    it->offset = hexadecimal(&offset);
    for (unsigned words = 0; words < 2 && *offset; words++)
        for (offset += *offset == ' '; *offset && *offset != ' '; offset++)
            ;
    while (*offset == ' ')
        offset++;
    it->is_vdso = strcmp(offset, "[vdso]") == 0;
    const size_t n = strnlen(offset, PATH_B);
    memcpy(it->path, n < PATH_B && *offset == '/' ? offset : "",
           n < PATH_B && *offset == '/' ? n + 1 : 1);
}

bool as_maps_read(pid_t pid)
{
    static char text[16384];
    char path[64] = "/proc/";
    size_t have = 0;
    memcpy(as_inject_number(path + 6, (uint64_t)pid), "/maps", 6);
    if (!mapped) {
        void *at = mmap(NULL, MAPPED_MOST * sizeof *mapped, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            return false;
        mapped = at;
    }
    mapped_n = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got; fd >= 0 && (got = read(fd, text + have, sizeof text - 1 - have)) > 0;) {
        have += (size_t)got;
        text[have] = 0;
        char *line = text;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            parse_mapping_line(line);
        }
        have -= (size_t)(line - text);
        memmove(text, line, have);
        if (have == sizeof text - 1) /* no path is as long */
            have = 0;
    }
    if (fd >= 0)
        close(fd);
    return mapped_n > 0;
}

uint64_t as_maps_end(uint64_t address)
{
    for (unsigned i = 0; i < mapped_n; i++)
        if (address - mapped[i].start < mapped[i].end - mapped[i].start)
            return mapped[i].end;
    return 0;
}

/* ---- A system call --------------------------------------------------------------------------- */

static uint64_t call_in(int memory, const struct mapped *it)
{
    static uint8_t bytes[LOOK_B];
    const uint64_t all_b = it->end - it->start, size_b = all_b < LOOK_B ? all_b : LOOK_B;
    if (!as_inject_read(memory, it->start, bytes, size_b))
        return 0;
    for (uint64_t i = 0; i + 1 < size_b; i++)
        if (bytes[i] == 0x0f && bytes[i + 1] == 0x05)
            return it->start + i;
    return 0;
}

uint64_t as_maps_call(int memory)
{
    uint64_t found = 0;
    for (unsigned vdso = 2; vdso-- > 0 && !found;) /* the kernel's own first */
        for (unsigned i = 0; i < mapped_n && !found; i++)
            if (mapped[i].is_code && mapped[i].is_vdso == vdso)
                found = call_in(memory, &mapped[i]);
    return found;
}

/* ---- Modules --------------------------------------------------------------------------------- */

static bool is_there(int memory, uint64_t at, uint64_t size_b)
{
    uint8_t byte;
    return size_b == 0 || (as_inject_read(memory, at, &byte, 1) &&
                           as_inject_read(memory, at + size_b - 1, &byte, 1));
}

/* Whether code of the file is mapped there as code: it may be data of a program that looks at it.
 */
static bool is_executed(const struct mapped *first, uint64_t at)
{
    for (unsigned i = 0; i < mapped_n; i++)
        if (at - mapped[i].start < mapped[i].end - mapped[i].start)
            return mapped[i].is_code && strcmp(mapped[i].path, first->path) == 0;
    return false;
}

/* All that is to be read or written there is as its headers say. */
static bool read_module(int memory, const struct mapped *first, struct as_bare_module *out)
{
    Elf64_Ehdr head;
    Elf64_Phdr segment[SEGMENTS_MOST];
    bool has_bias = false, has_code = false;
    if (!as_inject_read(memory, first->start, &head, sizeof head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_phentsize != sizeof *segment || head.e_phnum > SEGMENTS_MOST ||
        !as_inject_read(memory, first->start + head.e_phoff, segment,
                        head.e_phnum * sizeof *segment))
        return false;
    *out = (struct as_bare_module){.phdr = first->start + head.e_phoff, .phnum = head.e_phnum};
    for (unsigned i = 0; i < head.e_phnum && !has_bias; i++)
        if (segment[i].p_type == PT_LOAD && segment[i].p_offset == 0) {
            out->bias = first->start - segment[i].p_vaddr;
            has_bias = true;
        }
    for (unsigned i = 0; has_bias && i < head.e_phnum; i++) {
        const uint64_t at = out->bias + segment[i].p_vaddr;
        const bool is_code = segment[i].p_type == PT_LOAD && segment[i].p_flags & PF_X;
        if ((is_code || segment[i].p_type == PT_NOTE) && !is_there(memory, at, segment[i].p_filesz))
            return false;
        if (is_code && !is_executed(first, at))
            return false;
        has_code |= is_code;
    }
    return has_bias && has_code;
}

unsigned as_maps_modules(int memory, uint64_t address, void *out, size_t room_b, size_t *used_b)
{
    struct as_bare_module *module = out;
    unsigned n = 0;
    char *name = (char *)out + room_b;
    for (unsigned i = 0; i < mapped_n; i++) {
        struct as_bare_module it;
        const size_t name_b = strlen(mapped[i].path) + 1;
        if (!mapped[i].path[0] || mapped[i].offset != 0 ||
            (size_t)(name - (char *)&module[n]) < name_b + sizeof it ||
            !read_module(memory, &mapped[i], &it))
            continue;
        name -= name_b;
        memcpy(name, mapped[i].path, name_b);
        it.name = address + (uint64_t)(name - (char *)out);
        module[n++] = it;
    }
    *used_b = room_b;
    return n;
}
