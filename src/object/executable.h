/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel looks at when it executes an ELF file: less than opening it as an object does,
 * so that a program with damaged sections, which runs, is not refused.
 */
#ifndef AS_OBJECT_EXECUTABLE_H
#define AS_OBJECT_EXECUTABLE_H

#include <stdint.h>

#include <assay/error.h>

struct as_executable {
    uint16_t type;     /* ET_EXEC, ET_DYN, ET_REL */
    uint64_t entry;    /* 0 = none */
    char loader[4096]; /* path of the dynamic loader it asks for; "" = none */
};

/* Reads from `fd` (its offset stays); `path` is for messages. Errors: those of as_identify, IO,
 * TRUNCATED. */
int as_executable_read(const char *path, int fd, struct as_executable *out,
                       struct assay_error *err);

#endif
