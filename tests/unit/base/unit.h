/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the unit tests of base/: cmocka with the headers that it needs, and short assertions
 * over the byte sink.
 */
#ifndef AS_TESTS_UNIT_H
#define AS_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* Order matters: cmocka uses the types above without including them. */
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/out.h"
#include "base/str.h"

/* Flushes `out` and compares what `str` holds with `want`. */
static inline void expect_text(struct as_out *out, struct as_str *str, const char *want)
{
    struct as_error err;
    assert_int_equal(as_out_flush(out, &err), 0);
    assert_string_equal(as_str_z(str), want);
    as_out_fini(out);
    as_str_fini(str);
}

static inline bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

#endif
