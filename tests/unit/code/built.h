/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared objects built at test time from a few lines of C or assembly, analysed whole; for tests
 * that ask about one loop of one function. Files stand in a directory of their own.
 */
#ifndef TEST_CODE_BUILT_H
#define TEST_CODE_BUILT_H

#include "code/code.h"

struct built {
    struct as_object *object;
    struct as_program *program;
};

/* `compiler` may hold several words; `suffix` "c" or "S". Fails the test when nothing comes. */
struct built built_new(const char *compiler, const char *flags, const char *suffix,
                       const char *text);
/* As above, and the file itself stays as `keep` in the current directory. */
struct built built_new_kept(const char *compiler, const char *flags, const char *suffix,
                            const char *text, const char *keep);
/* Analyses an existing file; false when it is not there. */
bool built_open(const char *path, struct built *out);
void built_free(struct built *built);
bool built_has(const char *compiler);

/* The n-th loop of a function, in the order of the table (outer before inner). */
uint32_t built_loop(const struct built *built, const char *function, unsigned n);
/* The one innermost loop; of several the one with most instructions. */
uint32_t built_hot(const struct built *built, const char *function);
/* Mnemonic of an instruction of the program. */
const char *built_mnemonic(const struct built *built, uint32_t insn);

#endif
