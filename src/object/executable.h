/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of an ELF file that the kernel reads to execute it. Sections are not read, because a
 * program with damaged sections still runs.
 */
#ifndef AS_OBJECT_EXECUTABLE_H
#define AS_OBJECT_EXECUTABLE_H

#include <stdint.h>

#include "base/error.h"

struct as_executable {
    uint16_t type;     /* ET_EXEC, ET_DYN, ET_REL */
    uint64_t entry;    /* 0 = none */
    char loader[4096]; /* path of its dynamic loader (PT_INTERP); "" = none */
};

/* Reads the header of the file `fd`, without moving its file offset. Messages use `path`. Errors:
 * those of as_identify, IO, TRUNCATED, CORRUPT. */
int as_executable_read(const char *path, int fd, struct as_executable *out, struct as_error *err);

#endif
