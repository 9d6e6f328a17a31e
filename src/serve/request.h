/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the head of an HTTP request (RFC 9112), as far as a server of one report needs it. */
#ifndef AS_SERVE_REQUEST_H
#define AS_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Max size of a head. */
#define AS_REQUEST_MOST_B 8192

/* Number of characters of a key. */
#define AS_REQUEST_KEY_N 32

struct as_http_request {
    bool is_head;         /* HEAD: the body is not sent */
    struct as_view name;  /* text behind the key and its slash: letters, digits, '-' and '.' */
    struct as_view query; /* text behind the question mark */
};

/*
 * Parses the `n` bytes at `p`. Returns 0 if the head is incomplete, else a status: 200, 400 (not
 * HTTP), 403 (another host's name), 404 (wrong key or name), 405 (another method), 431 (head too
 * long), 505 (another version). `name` and `query` point into the bytes and are valid only for 200.
 * The comparison of the key takes constant time.
 */
int as_request_read(const char *p, size_t n, const char key[AS_REQUEST_KEY_N],
                    struct as_http_request *request);

/* Returns the reason phrase of a status: "OK", "Not Found", ... */
const char *as_request_reason(int status);

#endif
