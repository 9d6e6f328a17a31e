/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the ELF header and PT_INTERP through a file descriptor.
 * Source: System V gABI, "Program Header", "Dynamic Linking".
 */
#include "object/executable.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "object/identify.h"

static int read_loader(const char *path, int fd, const Elf64_Phdr *ph, struct as_executable *out,
                       struct as_error *err)
{
    /* The kernel rejects longer names too. */
    if (ph->p_filesz < 2 || ph->p_filesz > sizeof out->loader)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: invalid name of its dynamic loader; build or copy "
                            "it again",
                            path);
    if (pread(fd, out->loader, ph->p_filesz, (off_t)ph->p_offset) != (ssize_t)ph->p_filesz)
        return as_error_set(err, AS_ERR_TRUNCATED,
                            "%s: is truncated: it ends before the name of its dynamic loader; "
                            "build or copy it again",
                            path);
    out->loader[ph->p_filesz - 1] = 0;
    return 0;
}

int as_executable_read(const char *path, int fd, struct as_executable *out, struct as_error *err)
{
    union {
        uint8_t bytes[4096];
        Elf64_Ehdr head;
    } begin;
    memset(out, 0, sizeof *out);
    const ssize_t got = pread(fd, &begin, sizeof begin, 0);
    if (got < 0)
        return as_error_set(err, AS_ERR_IO, "%s: cannot be read: %s; check the disk it is on", path,
                            strerror(errno));
    AS_TRY(as_identify(path, begin.bytes, (uint64_t)got, err));
    if (begin.head.e_machine == AS_MACHINE_K1OM)
        return as_error_set(err, AS_ERR_ARCH,
                            "%s: is for Xeon Phi Knights Corner (K1OM) and cannot run here; use "
                            "'assay predict' or 'assay loops' to analyse its code",
                            path);
    out->type = begin.head.e_type;
    out->entry = begin.head.e_entry;
    for (unsigned i = 0; i < begin.head.e_phnum; i++) {
        Elf64_Phdr ph;
        const uint64_t at = begin.head.e_phoff + (uint64_t)i * begin.head.e_phentsize;
        if (pread(fd, &ph, sizeof ph, (off_t)at) != (ssize_t)sizeof ph)
            return as_error_set(err, AS_ERR_TRUNCATED,
                                "%s: is truncated: it ends before its program header %u; build or "
                                "copy it again",
                                path, i);
        if (ph.p_type == PT_INTERP)
            return read_loader(path, fd, &ph, out, err);
    }
    return 0;
}
