/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are what a browser sent. The answer must be one of those there are, and
 * must not change with what comes after the head.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "serve/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    const size_t n = size_b < AS_REQUEST_MOST_B ? size_b : AS_REQUEST_MOST_B;
    char *head = malloc(n + 1); /* exact but for the byte that is tried behind */
    static const char key[AS_REQUEST_KEY_N + 1] = "0123456789abcdef0123456789abcdef";
    struct as_http_request request, again;

    FUZZ_CHECK(head);
    if (n)
        memcpy(head, bytes, n);
    const int status = as_request_read(head, n, key, &request);

    FUZZ_CHECK(status == 0 || strcmp(as_request_reason(status), "Internal Server Error") != 0);
    if (status == 200)
        FUZZ_CHECK(request.name.n <= n && request.query.n <= n);
    head[n] = 'x';
    if (status && status != 431) {
        FUZZ_CHECK(as_request_read(head, n + 1, key, &again) == status);
        FUZZ_CHECK(again.is_head == request.is_head);
    }
    free(head);
    return 0;
}
