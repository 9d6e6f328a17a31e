/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Promises of code/code.h that hold for every binary, checked the slow and plain way.
 */
#ifndef TESTS_CODE_CHECK_H
#define TESTS_CODE_CHECK_H

#include "code/code.h"

/*
 * NULL, or what is broken (static text; `*where` is the index of the block, edge or loop).
 * `slow_most`: bodies with more blocks are not checked for dominators by removal.
 */
const char *check_program(const struct as_program *program, uint32_t slow_most, size_t *where);

#endif
