/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serving one file, and answers of a function, to browsers on this machine: HTTP/1.1 at 127.0.0.1,
 * GET and HEAD below one secret path, nothing else. Knows nothing of their contents.
 */
#ifndef AS_SERVE_SERVE_H
#define AS_SERVE_SERVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct as_server;

/*
 * Listens at 127.0.0.1 for requests of the HTML file `path`, opened for each request. NULL: no
 * file, and "/KEY/" is a call of the function below. `port` 0 takes a free one. Every user of the
 * machine can connect, but only the key gives access. Errors: NOT_FOUND, PERMISSION (the file, a
 * port below 1024), LIMIT (port in use), IO (also without random numbers of the kernel), NOMEM.
 */
int as_server_open(const char *path, uint16_t port, struct as_server **out, struct as_error *err);
uint16_t as_server_port(const struct as_server *server);
/* 128 random bits in hexadecimal: the page is "/KEY/". Borrowed. */
const char *as_server_key(const struct as_server *server);

/* The answer of a function. */
struct as_answer {
    const char *type; /* of the content; a constant */
    char *body;       /* of as_malloc; the server frees it */
    size_t body_b;
    int is_page; /* HTML with a script that may ask this server */
};

/*
 * Answers "/KEY/NAME?QUERY", texts of `name_n` and `query_n` bytes without a zero: a status of
 * HTTP, and for 200 an answer. Called between other connections: it takes milliseconds.
 */
typedef int as_server_function(void *context, const char *name, size_t name_n, const char *query,
                               size_t query_n, struct as_answer *answer);
void as_server_set_function(struct as_server *server, as_server_function *function, void *context);

/*
 * Answers until the descriptor `stop` is readable (-1: for ever). A faulty request ends its
 * connection only. Ignore SIGPIPE before. Errors: IO.
 */
int as_server_run(struct as_server *server, int stop, struct as_error *err);

/* `*server` becomes NULL; NULL inside is fine. */
void as_server_close(struct as_server **server);

#endif
