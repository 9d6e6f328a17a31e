/* SPDX-License-Identifier: Apache-2.0 */
/* Generated from data/code/noreturn.txt by tools/gen-noreturn.py. */
#ifndef AS_CODE_NORETURN_NAMES_H
#define AS_CODE_NORETURN_NAMES_H

#include <stddef.h>

extern const char *const as_noreturn_names[]; /* sorted as strcmp sorts */
extern const size_t as_noreturn_name_n;
extern const char *const as_noreturn_patterns[]; /* one `*` each */
extern const size_t as_noreturn_pattern_n;

#endif
