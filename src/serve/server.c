/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server: one thread, and a few connections at a time with one request each. A connection
 * without progress is closed after PATIENCE_MS. If all slots are in use, the oldest connection
 * without a complete request is closed. Browsers open such connections ahead of need. A connection
 * that receives an answer stays.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "base/untrusted_open.h"
#include "serve/request.h"
#include "serve/serve.h"

#define CONNECTIONS 64
#define PATIENCE_MS 10000
#define BLOCK_B     65536

enum phase { FREE, READING, WRITING, DRAINING };

struct connection {
    enum phase phase;
    int fd, file;     /* file: -1 = none */
    int64_t since_ms; /* time of the last progress; while reading, of the start */
    uint64_t number;  /* sequence number */
    size_t in_n, out_n, out_at;
    uint64_t rest_b; /* bytes of the file or body that are not sent yet */
    char *body;      /* body of the answer; NULL = a file, or none */
    size_t body_at;
    char in[AS_REQUEST_MOST_B]; /* the request */
    char out[BLOCK_B];          /* the current block of the answer */
};

struct as_server {
    const char *path;
    int fd;
    uint16_t port;
    char key[AS_REQUEST_KEY_N + 1];
    uint64_t accepted_n;
    as_server_function *function; /* answers other names; NULL = none */
    void *context;
    struct connection at[CONNECTIONS];
};

static int64_t now_ms(void)
{
    return as_monotonic_ns() / 1000000;
}

/* ---- Opening ------------------------------------------------------------------------------ */

static int check_page(const char *path, struct as_error *err)
{
    if (access(path, R_OK) == 0)
        return 0;
    return as_error_set(err, errno == ENOENT ? AS_ERR_NOT_FOUND : AS_ERR_PERMISSION,
                        "%s: cannot be read: %s; create it with 'assay report'", path,
                        strerror(errno));
}

static int cannot_listen(uint16_t port, struct as_error *err)
{
    const int number = errno;
    const int code = number == EADDRINUSE ? AS_ERR_LIMIT
                     : number == EACCES   ? AS_ERR_PERMISSION
                                          : AS_ERR_IO;

    return as_error_set(err, code, "127.0.0.1:%u: cannot listen: %s; use another --port", port,
                        strerror(number));
}

static int listen_at(struct as_server *server, uint16_t port, struct as_error *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(port),
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t address_b = sizeof address;
    const int on = 1;

    server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server->fd < 0)
        return cannot_listen(port, err);
    setsockopt(server->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(server->fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(server->fd, SOMAXCONN) != 0 ||
        getsockname(server->fd, (struct sockaddr *)&address, &address_b) != 0)
        return cannot_listen(port, err);
    server->port = ntohs(address.sin_port);
    return 0;
}

static int make_key(struct as_server *server, struct as_error *err)
{
    unsigned char random[AS_REQUEST_KEY_N / 2];

    if (getrandom(random, sizeof random, 0) != sizeof random)
        return as_error_set(err, AS_ERR_IO, "the server: no random numbers: %s", strerror(errno));
    as_hex_encode(server->key, random, sizeof random);
    return 0;
}

int as_server_open(const char *path, uint16_t port, struct as_server **out, struct as_error *err)
{
    struct as_server *server;
    int rc;

    *out = NULL;
    if (path)
        AS_TRY(check_page(path, err));
    server = as_calloc(1, sizeof *server);
    if (!server)
        return as_error_nomem(err, "the server");
    server->path = path;
    server->fd = -1;
    rc = make_key(server, err);
    if (rc == 0)
        rc = listen_at(server, port, err);
    if (rc < 0)
        as_server_close(&server);
    *out = server;
    return rc;
}

const char *as_server_key(const struct as_server *server)
{
    return server->key;
}

uint16_t as_server_port(const struct as_server *server)
{
    return server->port;
}

void as_server_set_function(struct as_server *server, as_server_function *function, void *context)
{
    server->function = function;
    server->context = context;
}

/* ---- A connection ------------------------------------------------------------------------- */

static void end_connection(struct connection *it)
{
    if (it->file >= 0)
        close(it->file);
    if (it->phase != FREE)
        close(it->fd);
    as_free(it->body);
    it->body = NULL;
    it->phase = FREE;
    it->file = -1;
}

void as_server_close(struct as_server **server)
{
    if (!*server)
        return;
    for (size_t i = 0; i < CONNECTIONS; i++)
        if ((*server)->at[i].phase != FREE)
            end_connection(&(*server)->at[i]);
    if ((*server)->fd >= 0)
        close((*server)->fd);
    as_free(*server);
    *server = NULL;
}

/* Opens the file in its present state; false if it cannot be read. */
static bool open_file(struct as_server *server, struct connection *it)
{
    struct stat st;

    it->file = as_foreign_open(AT_FDCWD, server->path, AS_FOREIGN_NO_LINK, &st);
    if (it->file < 0)
        return false;
    it->rest_b = (uint64_t)st.st_size;
    return true;
}

/* Calls the answer function and keeps its body. Returns the status. */
static int call_answer_function(struct as_server *server, struct connection *it,
                                const struct as_http_request *request, struct as_answer *answer)
{
    if (!server->function)
        return 404;
    const int status = server->function(server->context, request->name.p, request->name.n,
                                        request->query.p, request->query.n, answer);
    if (status != 200) {
        as_free(answer->body);
        return status;
    }
    it->body = answer->body;
    it->body_at = 0;
    it->rest_b = answer->body_b;
    return status;
}

/* Returns true for "/KEY/" and "/KEY/report.html", if the server has a file. */
static bool is_of_file(const struct as_server *server, struct as_view name)
{
    return server->path && (name.n == 0 || as_view_equal(name, as_view_of("report.html")));
}

/* Starts the answer. A page contains its scripts and styles, so the policy forbids other
 * sources. */
static void answer_request(struct as_server *server, struct connection *it, int status,
                           const struct as_http_request *request)
{
    struct as_answer answer = {.type = "text/html; charset=utf-8"};
    const char *reason;
    uint64_t length_b;

    if (status == 200 && is_of_file(server, request->name))
        status = open_file(server, it) ? 200 : 404;
    else if (status == 200)
        status = call_answer_function(server, it, request, &answer);
    reason = as_request_reason(status);
    length_b = status == 200 ? it->rest_b : strlen(reason) + 1;
    it->out_n = (size_t)snprintf(
        it->out, sizeof it->out,
        "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %llu\r\n%s"
        "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline' blob:; "
        "worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; %s"
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
        "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\nCache-Control: no-store\r\n"
        "Connection: close\r\n\r\n",
        status, reason, status == 200 ? answer.type : "text/plain; charset=utf-8",
        (unsigned long long)length_b, status == 405 ? "Allow: GET, HEAD\r\n" : "",
        answer.is_page ? "connect-src 'self'; " : "");
    if (status != 200 && !request->is_head)
        it->out_n +=
            (size_t)snprintf(it->out + it->out_n, sizeof it->out - it->out_n, "%s\n", reason);
    if (request->is_head)
        it->rest_b = 0;
    it->since_ms = now_ms();
    it->phase = WRITING;
}

static void read_some(struct as_server *server, struct connection *it)
{
    const ssize_t n = read(it->fd, it->in + it->in_n, sizeof it->in - it->in_n);
    struct as_http_request request;
    int status;

    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            end_connection(it);
        return;
    }
    it->in_n += (size_t)n;
    status = as_request_read(it->in, it->in_n, server->key, &request);
    if (status)
        answer_request(server, it, status, &request);
}

/* Copies the next block of the body. */
static size_t copy_body(struct connection *it, size_t want)
{
    memcpy(it->out, it->body + it->body_at, want);
    it->body_at += want;
    return want;
}

/* Reads the next block of the answer; false at its end, or if the file became shorter. */
static bool fill_block(struct connection *it)
{
    const size_t want = it->rest_b < sizeof it->out ? (size_t)it->rest_b : sizeof it->out;
    const ssize_t n = want == 0  ? 0
                      : it->body ? (ssize_t)copy_body(it, want)
                                 : read(it->file, it->out, want);

    if (n <= 0)
        return false;
    it->rest_b -= (uint64_t)n;
    it->out_at = 0;
    it->out_n = (size_t)n;
    return true;
}

static void write_some(struct connection *it)
{
    while (it->out_at < it->out_n || fill_block(it)) {
        const ssize_t n = send(it->fd, it->out + it->out_at, it->out_n - it->out_at, MSG_NOSIGNAL);

        if (n < 0) {
            if (errno != EAGAIN && errno != EINTR)
                end_connection(it);
            return;
        }
        it->out_at += (size_t)n;
        it->since_ms = now_ms();
    }
    /* Read and drop what the client still sends: closing now could cut the answer. */
    shutdown(it->fd, SHUT_WR);
    it->phase = DRAINING;
}

static void drain_connection(struct connection *it)
{
    const ssize_t n = read(it->fd, it->in, sizeof it->in);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        end_connection(it);
}

static void get_on(struct as_server *server, struct connection *it, short events)
{
    if (it->phase == READING)
        read_some(server, it);
    if (it->phase == WRITING && (events & (POLLIN | POLLOUT)))
        write_some(it);
    else if (it->phase == DRAINING)
        drain_connection(it);
    else if (it->phase != FREE && (events & (POLLERR | POLLNVAL)))
        end_connection(it);
}

/* ---- New connections ---------------------------------------------------------------------- */

static struct connection *oldest_of(struct as_server *server, enum phase phase)
{
    struct connection *oldest = NULL;

    for (size_t i = 0; i < CONNECTIONS; i++) {
        struct connection *it = &server->at[i];

        if (it->phase == phase && (!oldest || it->number < oldest->number))
            oldest = it;
    }
    return oldest;
}

/* Returns a free slot, or closes the oldest connection without a request. Pending input is read
 * before that. Otherwise closes the oldest connection that drains or receives an answer. */
static struct connection *place_for_one(struct as_server *server)
{
    struct connection *it;

    for (size_t i = 0; i < CONNECTIONS; i++)
        if (server->at[i].phase == FREE)
            return &server->at[i];
    while ((it = oldest_of(server, READING))) {
        read_some(server, it);
        if (it->phase == READING)
            end_connection(it);
        if (it->phase == FREE)
            return it;
    }
    it = oldest_of(server, DRAINING);
    if (!it)
        it = oldest_of(server, WRITING);
    end_connection(it);
    return it;
}

/* Accepts one connection; false if none is waiting. */
static bool accept_one(struct as_server *server)
{
    const int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct connection *it;

    if (fd < 0)
        return false;
    it = place_for_one(server);
    it->phase = READING;
    it->fd = fd;
    it->file = -1;
    it->since_ms = now_ms();
    it->number = server->accepted_n++;
    it->in_n = it->out_n = it->out_at = 0;
    it->rest_b = 0;
    return true;
}

/* Accepts waiting connections, at most CONNECTIONS, so that open ones get their turn. */
static void accept_waiting(struct as_server *server)
{
    for (size_t i = 0; i < CONNECTIONS && accept_one(server); i++)
        ;
}

/* ---- Main loop ---------------------------------------------------------------------------- */

static nfds_t watch(const struct as_server *server, int stop, struct pollfd *fds)
{
    nfds_t n = 0;

    fds[n++] = (struct pollfd){.fd = stop, .events = POLLIN};
    fds[n++] = (struct pollfd){.fd = server->fd, .events = POLLIN};
    for (size_t i = 0; i < CONNECTIONS; i++) {
        const struct connection *it = &server->at[i];

        fds[n++] = (struct pollfd){.fd = it->phase == FREE ? -1 : it->fd,
                                   .events = it->phase == WRITING ? POLLOUT : POLLIN};
    }
    return n;
}

int as_server_run(struct as_server *server, int stop, struct as_error *err)
{
    struct pollfd fds[CONNECTIONS + 2];

    for (;;) {
        const nfds_t n = watch(server, stop, fds);

        if (poll(fds, n, PATIENCE_MS) < 0) {
            if (errno == EINTR)
                continue;
            return as_error_set(err, AS_ERR_IO, "the server: waiting for browsers: %s",
                                strerror(errno));
        }
        if (stop >= 0 && fds[0].revents)
            return 0;
        for (size_t i = 0; i < CONNECTIONS; i++) {
            struct connection *it = &server->at[i];

            if (it->phase != FREE && fds[i + 2].revents)
                get_on(server, it, fds[i + 2].revents);
            if (it->phase != FREE && now_ms() - it->since_ms > PATIENCE_MS)
                end_connection(it);
        }
        if (fds[1].revents)
            accept_waiting(server);
    }
}
