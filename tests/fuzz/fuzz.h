/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the fuzz entries: the entry point that libFuzzer (or replay.c) calls, and a check that
 * ends the run. Also walks that read every fact of an object and compare it with its header.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/object.h"

/* The entry; libFuzzer's name for it. Always 0: nothing is kept out of the corpus. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b);
/* Called once before the first input; only where an entry defines it (weak in replay.c). */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* An entry that defines it (weak in replay.c) says there that an input was not turned away. A kept
 * `seed-*` that is turned away tests nothing, and fails. */
extern bool fuzz_taken;

/* A broken promise of a header: says which, then aborts, which every fuzzer takes for a crash. */
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fuzz_fail(__FILE__, __LINE__, #condition);                                             \
    } while (0)
extern char fuzz_context[256]; /* what was being looked at, for that message */
_Noreturn void fuzz_fail(const char *file, int line, const char *condition);

/* Reads a byte range or a string to its end, so that the address sanitizer sees a bad one. */
void fuzz_touch(const void *bytes, size_t size_b);
void fuzz_touch_string(const char *text); /* NULL is fine */

/* An error object as every failing call must leave it: a code of the list, and a sentence. */
void fuzz_check_error(int code, const struct as_error *err);

/* Everything an opened object says: the ELF side, and the DWARF side. */
void fuzz_walk_elf(struct as_object *object);
void fuzz_walk_debug(struct as_object *object);

/* The rest of an input. */
struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

/* The next `n` bytes; NULL where there are not as many. */
static inline const uint8_t *fuzz_next(struct fuzz_input *in, size_t n)
{
    const uint8_t *at = in->at;
    if (n == 0 || n > in->left)
        return NULL;
    in->at += n;
    in->left -= n;
    return at;
}

#endif
