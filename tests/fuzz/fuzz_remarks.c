/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are a record of a compiler, of any kind, packed or not. After 0x01 the
 * entry packs them first, so that the content is reached. The remarks read are sorted, and are
 * found.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "quality/remarks.h"

static void check_remarks(const struct as_remarks *remarks)
{
    for (size_t i = 0; i < remarks->n; i++) {
        const struct as_remark *at = &remarks->at[i];
        size_t found;

        fuzz_touch_string(at->file);
        fuzz_touch_string(at->function);
        fuzz_touch_string(at->pass);
        FUZZ_CHECK(*at->text);
        for (const char *c = at->text; *c; c++)
            FUZZ_CHECK((unsigned char)*c >= ' ' && *c != 0x7f);
        if (!*at->file)
            continue;
        found = as_remarks_find(remarks, at->file, at->line, at->line, i);
        FUZZ_CHECK(found == i);
        FUZZ_CHECK(as_remarks_find(remarks, at->file, at->line, at->line, 0) <= i);
    }
}

static uint8_t *packed(const uint8_t *bytes, size_t size_b, size_t *out_b)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size_b};
    uint8_t *out = malloc(size_b + 200);

    FUZZ_CHECK(out && deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_out = out;
    z.avail_out = (uInt)(size_b + 200);
    FUZZ_CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
    *out_b = z.total_out;
    deflateEnd(&z);
    return out;
}

static void read_twice(const uint8_t *bytes, size_t size_b)
{
    struct as_remarks *remarks;
    struct as_error err = {0};
    int rc;

    FUZZ_CHECK(as_remarks_new(&remarks, &err) == 0);
    rc = as_remarks_parse(remarks, bytes, size_b, "input", &err);
    if (rc < 0)
        fuzz_check_error(rc, &err);
    FUZZ_CHECK(rc == 0 || remarks->n == 0);
    check_remarks(remarks);
    const size_t n = remarks->n;
    /* The same again adds nothing. */
    FUZZ_CHECK(as_remarks_parse(remarks, bytes, size_b, "input", &err) == rc);
    FUZZ_CHECK(remarks->n == n);
    as_remarks_free(&remarks);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    if (size_b && bytes[0] == 1) {
        size_t packed_b;
        uint8_t *made = packed(bytes + 1, size_b - 1, &packed_b);

        read_twice(made, packed_b);
        free(made);
    } else {
        read_twice(bytes, size_b);
    }
    return 0;
}
