/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of an HTTP request (RFC 9112), as far as a server of one folder must understand it.
 */
#ifndef AS_SERVE_REQUEST_H
#define AS_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Longest head that is read. */
#define AS_REQUEST_MOST_B 8192

/* Characters of a key. */
#define AS_REQUEST_KEY_N 32

struct as_http_request {
    bool is_head;         /* only the head is wanted */
    struct as_view name;  /* behind the key and its slash: letters, digits, '-' and '.' */
    struct as_view query; /* behind the question mark */
};

/*
 * Reads the `n` bytes at `p`. Returns 0 when the head is not whole yet, else a status: 200, 400 (no
 * HTTP), 403 (the name of another host), 405 (another method), 431 (a longer head), 505. A path
 * without `key`, or with more than a name behind it, is 404. Name and query point into the bytes.
 * They count for 200 alone. The time it takes does not tell how much of the key was right.
 */
int as_request_read(const char *p, size_t n, const char key[AS_REQUEST_KEY_N],
                    struct as_http_request *request);

/* "OK", "Not Found", ... */
const char *as_request_reason(int status);

#endif
