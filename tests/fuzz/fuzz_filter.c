/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are a filter of a trace. It becomes rules, of which there are as many as
 * patterns, or one sentence with a place in the file; what stays in a trace stays whatever the
 * rules say. As packed rules the bytes are asked too.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/filter.h"

static void check_rules(const struct as_trace_filter *filter)
{
    const char *at = as_str_z(&filter->rules), *end = at + filter->rules.n;
    size_t n = 0;
    for (; at < end; n++) {
        FUZZ_CHECK(*at >= '0' && *at <= '0' + AS_FILTER_FOUND);
        const char *stop = memchr(at, 0, (size_t)(end - at));
        FUZZ_CHECK(stop && stop > at + 1);
        at = stop + 1;
    }
    FUZZ_CHECK(n == filter->rules_n);
}

static enum as_filter_verdict verdict(const struct as_trace_filter *filter, const char *name)
{
    return as_filter_verdict_of(as_str_z(&filter->rules), filter->rules.n, name);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct as_trace_filter filter;
    struct as_filter_kept kept = {0};
    struct as_error err = {0};
    char *copy = malloc(size_b + 1); /* of its very size: what is read beyond it is noticed */
    FUZZ_CHECK(copy);
    if (size_b)
        memcpy(copy, bytes, size_b);
    FUZZ_CHECK(as_filter_verdict_of(copy, size_b, "MPI_Send") <= AS_FILTER_FOUND);
    if (as_trace_filter_parse((struct as_view){copy, size_b}, "input", &filter, &err) == 0) {
        check_rules(&filter);
        FUZZ_CHECK(as_trace_filter_settle(&filter, &kept) == 0);
        check_rules(&filter);
        FUZZ_CHECK(verdict(&filter, "MPI_Init") == AS_FILTER_RECORDED);
        FUZZ_CHECK((verdict(&filter, "MPI_Send") == AS_FILTER_LEFT_OUT) ==
                   (verdict(&filter, "MPI_Wait") == AS_FILTER_LEFT_OUT));
    } else {
        FUZZ_CHECK(err.code == AS_ERR_NOMEM || strncmp(err.text, "input:", 6) == 0);
    }
    as_trace_filter_fini(&filter);
    as_filter_kept_fini(&kept);
    free(copy);
    return 0;
}
