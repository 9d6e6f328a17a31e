/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are a symbol name. A readable name must come back terminated and within
 * its buffer, however small that is.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static void demangle_into(const char *name, size_t buf_b)
{
    /* On the heap and exact, so that the address sanitizer sees one byte too many. */
    char *buf = malloc(buf_b);
    FUZZ_CHECK(buf);
    memset(buf, '!', buf_b);
    int length = as_demangle(name, buf, buf_b);
    FUZZ_CHECK(length >= 0 && memchr(buf, 0, buf_b));
    if ((size_t)length < buf_b)
        FUZZ_CHECK(strlen(buf) == (size_t)length);
    free(buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    char *name = malloc(size_b + 1);
    FUZZ_CHECK(name);
    if (size_b)
        memcpy(name, bytes, size_b);
    name[size_b] = 0;
    demangle_into(name, 4096);
    demangle_into(name, 24);
    demangle_into(name, 1);
    free(name);
    return 0;
}
