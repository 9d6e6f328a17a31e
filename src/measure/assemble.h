/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assembles functions at run time from lines of text, for the widest registers of this CPU. They
 * take the arguments of a C function (rdi, rsi, rdx, rcx, r8) and change only caller-saved
 * registers.
 */
#ifndef AS_MEASURE_ASSEMBLE_H
#define AS_MEASURE_ASSEMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef void as_kernel_fn(void *a, void *b, void *c, size_t n, size_t passes);

struct as_assembly {
    uint8_t code[1 << 16];
    size_t n;
    char refused[96]; /* the first line that could not be encoded */
};

/* Appends one instruction, given as text. */
void as_assembly_line(struct as_assembly *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends `n` bytes of code. `what` names them in the error if they do not fit. */
void as_assembly_bytes(struct as_assembly *a, const uint8_t *bytes, size_t n, const char *what);
/* Appends nops up to a multiple of 64 bytes. Returns the offset of the next instruction. */
size_t as_assembly_label(struct as_assembly *a);
/* Appends a jump to `label` that is taken while the last result is not zero. */
void as_assembly_jump_back(struct as_assembly *a, size_t label);

struct as_kernel {
    void *memory;
    size_t size_b;
    as_kernel_fn *run;
};

/* Ends the function and makes it executable. Errors: INTERNAL (a line), IO (no executable
 * memory). */
int as_kernel_open(const struct as_assembly *a, struct as_kernel *kernel, struct as_error *err);
void as_kernel_close(struct as_kernel *kernel);

#endif
